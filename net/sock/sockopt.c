// SPDX-License-Identifier: GPL-2.0-only
/*
 * setsockopt(), getsockopt(), and the table of options with code of their own.
 *
 * SOL_SOCKET options are kept in the own (AF_SMC) socket, from which core code
 * answers getsockopt(). Where the kernel passes setsockopt(SOL_SOCKET) to this
 * module (smcr_compat_custom_sockopt()), an option that TCP needs is set on the
 * inner socket at once. Where the kernel does not, sockopt_copy.c copies such an
 * option before TCP is used. On all kernels, an option that is for TCP in mode
 * TCP (fallback) only, such as SO_RCVTIMEO, is copied in that mode. Options of
 * other levels are kept in the inner socket, with the exceptions in smcr_opts.
 */
#include <linux/bpf.h>
#include <linux/errqueue.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "conn/keepalive.h"
#include "hs/hs.h"
#include "sock/sock_impl.h"

static int opt_int(sockptr_t val, unsigned int len, int *out)
{
	if (len < sizeof(*out))
		return -EINVAL;
	return copy_from_sockptr(out, val, sizeof(*out)) ? -EFAULT : 0;
}

/* Default of SOL_SOCKET: set the option on the own socket, then on the inner one */
static int set_both(struct socket *sock, int opt, sockptr_t val,
		    unsigned int len)
{
	return sock_setsockopt(sock, SOL_SOCKET, opt, val, len) ?:
	       smcr_tcp_setsockopt(smcr_sk(sock->sk), SOL_SOCKET, opt, val, len);
}

/* Own socket only */
static int set_own(struct socket *sock, int opt, sockptr_t val,
		   unsigned int len)
{
	return sock_setsockopt(sock, SOL_SOCKET, opt, val, len);
}

/* Inner socket only */
static int set_inner(struct socket *sock, int opt, sockptr_t val,
		     unsigned int len)
{
	return smcr_tcp_setsockopt(smcr_sk(sock->sk), SOL_SOCKET, opt, val, len);
}

/*
 * Core code refuses SO_REUSEPORT for families other than AF_INET and AF_INET6:
 * set it on the inner socket, and copy the value.
 */
static int set_reuseport(struct socket *sock, int opt, sockptr_t val,
			 unsigned int len)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	int rc = set_inner(sock, opt, val, len);

	/* a bit-field: core code writes the bits beside it with this lock held */
	lock_sock(&ssk->sk);
	ssk->sk.sk_reuseport = ssk->tcp->sk->sk_reuseport;
	release_sock(&ssk->sk);
	return rc;
}

static int set_cbpf(struct socket *sock, int opt, sockptr_t val,
		    unsigned int len)
{
	return smcr_filter_reuseport(smcr_sk(sock->sk), val, len);
}

/* Refuse an option that acts inside TCP's data path (SEC-07) */
static int refuse(struct socket *sock, int opt, sockptr_t val, unsigned int len)
{
	return -EOPNOTSUPP;
}

/* TCP gets the option in mode TCP only, as it would hold back CLC messages */
static int set_cork(struct socket *sock, int opt, sockptr_t val, unsigned int len)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	int on, rc;

	rc = opt_int(val, len, &on);
	if (rc)
		return rc;
	lock_sock(&ssk->sk);
	ssk->corked = on;
	if (ssk->mode == SMCR_MODE_TCP)
		tcp_sock_set_cork(ssk->tcp->sk, on);
	release_sock(&ssk->sk);
	return 0;
}

/* Fast Open sends data on the SYN, which excludes SMC-R (T-14) */
static int set_fastopen(struct socket *sock, int opt, sockptr_t val,
			unsigned int len)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	int on, rc = -EINVAL;

	lock_sock(&ssk->sk);
	if (ssk->mode != SMCR_MODE_INIT)
		goto out;
	rc = smcr_tcp_setsockopt(ssk, SOL_TCP, opt, val, len);
	if (rc || opt == TCP_FASTOPEN_KEY)	/* a key enables nothing */
		goto out;
	rc = opt_int(val, len, &on);
	if (!rc && on)
		set_bit(SMCR_SK_FASTOPEN, &ssk->flags);
	else if (!rc)
		clear_bit(SMCR_SK_FASTOPEN, &ssk->flags);
out:
	release_sock(&ssk->sk);
	return rc;
}

/*
 * Set the option on TCP, then on the SMC-R connection. The value is read once,
 * as another thread may change it.
 */
static int set_tcp_int(struct socket *sock, int opt, sockptr_t val,
		       unsigned int len)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	int rc, v;

	rc = opt_int(val, len, &v);
	if (!rc)
		rc = smcr_tcp_setsockopt(ssk, SOL_TCP, opt, KERNEL_SOCKPTR(&v),
					 sizeof(v));
	if (rc)
		return rc;
	lock_sock(&ssk->sk);
	if (opt == TCP_DEFER_ACCEPT) {
		ssk->defer_accept = v;
	} else if (opt == TCP_NODELAY) {
		smcr_tx_set_nodelay(&ssk->conn, v);
	} else if (opt == TCP_USER_TIMEOUT || opt == TCP_NOTSENT_LOWAT) {
		smcr_tx_limits_changed(&ssk->conn);
	} else if (ssk->mode == SMCR_MODE_SMC) {
		if (opt == TCP_KEEPIDLE)
			smcr_keepalive_floor(ssk, v * HZ);
		smcr_keepalive_changed(ssk);
	}
	release_sock(&ssk->sk);
	return 0;
}

static int get_int(int value, char __user *val, int __user *len)
{
	int n;

	if (get_user(n, len))
		return -EFAULT;
	if (n < 0)
		return -EINVAL;
	n = min_t(int, n, sizeof(value));
	if (put_user(n, len) || copy_to_user(val, &value, n))
		return -EFAULT;
	return 0;
}

/*
 * TCP_INFO of a listener: tcpi_unacked counts both accept queues. TCP reports
 * only its own accept queue, which the worker empties.
 */
static int put_waiting(const struct smcr_sock *lsk, char __user *val,
		       int __user *len)
{
	u32 n = READ_ONCE(lsk->n_accept_q) +
		READ_ONCE(lsk->tcp->sk->sk_ack_backlog);
	int size;

	if (get_user(size, len))
		return -EFAULT;
	if (size < (int)offsetofend(struct tcp_info, tcpi_unacked))
		return 0;
	val += offsetof(struct tcp_info, tcpi_unacked);
	return copy_to_user(val, &n, sizeof(n)) ? -EFAULT : 0;
}

static int get_cork(struct smcr_sock *ssk, int opt, char __user *val,
		    int __user *len)
{
	return get_int(READ_ONCE(ssk->corked), val, len);
}

static int get_keepidle(struct smcr_sock *ssk, int opt, char __user *val,
			int __user *len)
{
	int idle = READ_ONCE(ssk->keepidle);

	if (idle)
		return get_int(idle / HZ, val, len);
	return smcr_tcp_getsockopt(ssk, SOL_TCP, opt, val, len);
}

static int get_info(struct smcr_sock *ssk, int opt, char __user *val,
		    int __user *len)
{
	int rc = smcr_tcp_getsockopt(ssk, SOL_TCP, opt, val, len);

	if (!rc && READ_ONCE(ssk->mode) == SMCR_MODE_LISTEN)
		rc = put_waiting(ssk, val, len);
	return rc;
}

static int get_none(struct smcr_sock *ssk, int opt, char __user *val,
		    int __user *len)
{
	return -EOPNOTSUPP;
}

/**
 * struct smcr_opt - a socket option that needs code of its own
 * @level: SOL_SOCKET or SOL_TCP
 * @name: option
 * @set: setsockopt(). NULL: as for an option without a row, that is set_both()
 *	for SOL_SOCKET, and the inner socket's setsockopt() for other levels
 * @get: getsockopt(). NULL: the inner socket's. Core code answers SOL_SOCKET.
 *
 * Adding one: a row here; for a value that TCP or a listener's child must have, too, a row
 * of sockopt_copy.c; the line of Documentation/sockets.rst that names it (scripts/docs-tables
 * looks for it); its word in selftests/prog/sockwords.c; a test in
 * selftests/cases/api/options.api. As getsockopt(SOL_SOCKET) reads the own socket, it cannot
 * show that TCP has the value: the test has to observe what TCP does.
 */
struct smcr_opt {
	int level;
	int name;
	int (*set)(struct socket *sock, int opt, sockptr_t val,
		   unsigned int len);
	int (*get)(struct smcr_sock *ssk, int opt, char __user *val,
		   int __user *len);
};

static const struct smcr_opt smcr_opts[] = {
	{ SOL_SOCKET, SO_LINGER,		set_own },	/* smcr_release() */
	{ SOL_SOCKET, SO_PASSCRED,		set_own },
	{ SOL_SOCKET, SO_PASSSEC,		set_own },
	{ SOL_SOCKET, SO_KEEPALIVE,		set_own },	/* smcr_keepalive() */
	{ SOL_SOCKET, SO_RCVLOWAT,		set_own },	/* smcr_set_rcvlowat() */
	{ SOL_SOCKET, SO_RCVTIMEO_OLD,		set_own },	/* smcr_sockopt_sync() */
	{ SOL_SOCKET, SO_RCVTIMEO_NEW,		set_own },
	{ SOL_SOCKET, SO_SNDTIMEO_OLD,		set_own },
	{ SOL_SOCKET, SO_SNDTIMEO_NEW,		set_own },
	{ SOL_SOCKET, SO_REUSEPORT,		set_reuseport },
	{ SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF,	set_cbpf },
	{ SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF,	set_inner },
	{ SOL_SOCKET, SO_DETACH_REUSEPORT_BPF,	set_inner },
	{ SOL_SOCKET, SO_ATTACH_FILTER,		smcr_filter_set },
	{ SOL_SOCKET, SO_ATTACH_BPF,		smcr_filter_set },
	{ SOL_SOCKET, SO_DETACH_FILTER,		smcr_filter_set },
	{ SOL_SOCKET, SO_CNX_ADVICE,		set_inner },
	{ SOL_SOCKET, SO_RESERVE_MEM,		set_inner },
	{ SOL_SOCKET, SO_ZEROCOPY,		refuse },
	{ SOL_SOCKET, SO_PEEK_OFF,		refuse },
	{ SOL_TCP, TCP_DEFER_ACCEPT,		set_tcp_int },
	{ SOL_TCP, TCP_NODELAY,			set_tcp_int },
	{ SOL_TCP, TCP_KEEPIDLE,		set_tcp_int,	get_keepidle },
	{ SOL_TCP, TCP_KEEPINTVL,		set_tcp_int },
	{ SOL_TCP, TCP_KEEPCNT,			set_tcp_int },
	{ SOL_TCP, TCP_USER_TIMEOUT,		set_tcp_int },
	{ SOL_TCP, TCP_NOTSENT_LOWAT,		set_tcp_int },
	{ SOL_TCP, TCP_CORK,			set_cork,	get_cork },
	{ SOL_TCP, TCP_INFO,			NULL,		get_info },
	{ SOL_TCP, TCP_ULP,			refuse },	/* getsockopt(): TCP has no ULP */
	{ SOL_TCP, TCP_ZEROCOPY_RECEIVE,	refuse,		get_none },
	{ SOL_TCP, TCP_REPAIR,			refuse,		get_none },
	{ SOL_TCP, TCP_REPAIR_QUEUE,		refuse,		get_none },
	{ SOL_TCP, TCP_REPAIR_OPTIONS,		refuse,		get_none },
	{ SOL_TCP, TCP_REPAIR_WINDOW,		refuse,		get_none },
	{ SOL_TCP, TCP_QUEUE_SEQ,		refuse,		get_none },
	{ SOL_TCP, TCP_FASTOPEN,		set_fastopen },
	{ SOL_TCP, TCP_FASTOPEN_CONNECT,	set_fastopen },
	{ SOL_TCP, TCP_FASTOPEN_KEY,		set_fastopen },
	{ SOL_TCP, TCP_FASTOPEN_NO_COOKIE,	set_fastopen },
};

static const struct smcr_opt *opt_find(int level, int name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(smcr_opts); i++)
		if (smcr_opts[i].level == level && smcr_opts[i].name == name)
			return &smcr_opts[i];
	return NULL;
}

/**
 * smcr_setsockopt() - proto_ops.setsockopt
 * @sock: socket
 * @level: SOL_*
 * @opt: option
 * @val: value
 * @len: its length
 *
 * Return: 0 or a negative errno; -EOPNOTSUPP for options that would bypass
 * SMC-R.
 */
int smcr_setsockopt(struct socket *sock, int level, int opt, sockptr_t val,
		    unsigned int len)
{
	const struct smcr_opt *row = opt_find(level, opt);

	if (row && row->set)
		return row->set(sock, opt, val, len);
	if (level == SOL_SOCKET)
		return set_both(sock, opt, val, len);
	return smcr_tcp_setsockopt(smcr_sk(sock->sk), level, opt, val, len);
}

/**
 * smcr_getsockopt() - proto_ops.getsockopt
 * @sock: socket
 * @level: any but SOL_SOCKET, which core code answers
 * @opt: option
 * @val: result
 * @len: size of @val; set to the size of the result
 *
 * Return: 0 or a negative errno.
 */
int smcr_getsockopt(struct socket *sock, int level, int opt, char __user *val,
		    int __user *len)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	const struct smcr_opt *row = opt_find(level, opt);

	if (row && row->get)
		return row->get(ssk, opt, val, len);
	return smcr_tcp_getsockopt(ssk, level, opt, val, len);
}

/*
 * Set an option of the inner socket under its lock. The caller may be a BPF
 * program that sets an option of the own socket, and must not sleep. Return:
 * false if another thread has the lock while a BPF program calls.
 */
static bool tcp_set(struct socket *tcp, void (*set)(struct socket *tcp, int val), int val)
{
	struct sock *tsk = tcp->sk;
	bool set_now;

	if (!has_current_bpf_ctx()) {
		lock_sock(tsk);
		set(tcp, val);
		release_sock(tsk);
		return true;
	}
	spin_lock_bh(&tsk->sk_lock.slock);
	set_now = !sock_owned_by_user(tsk);
	if (set_now)
		set(tcp, val);
	spin_unlock_bh(&tsk->sk_lock.slock);
	return set_now;
}

static void tcp_rcvlowat(struct socket *tcp, int val)
{
	READ_ONCE(tcp->ops)->set_rcvlowat(tcp->sk, val);
}

static void tcp_keepalive(struct socket *tcp, int on)
{
	READ_ONCE(tcp->sk->sk_prot)->keepalive(tcp->sk, on);
	sock_valbool_flag(tcp->sk, SOCK_KEEPOPEN, on);
}

/**
 * smcr_set_rcvlowat() - proto_ops.set_rcvlowat
 * @sk: socket, locked
 * @val: SO_RCVLOWAT
 *
 * In mode SMC the value is at most smcr_conn_max_lowat(), as readers would wait
 * for ever with a larger one. smcr_sock_set_mode() limits a value that was set
 * before that mode. TCP gets the value in mode TCP only, as the handshake needs
 * a callback for every byte of a CLC message.
 *
 * Return: 0; -EBUSY if a BPF program calls while another thread has TCP's lock.
 */
int smcr_set_rcvlowat(struct sock *sk, int val)
{
	struct smcr_sock *ssk = smcr_sk(sk);
	bool enough;

	/* set TCP's value first: if its lock is taken, nothing changes */
	if (ssk->mode == SMCR_MODE_TCP && !tcp_set(ssk->tcp, tcp_rcvlowat, val))
		return -EBUSY;
	if (ssk->mode == SMCR_MODE_SMC)
		val = min_t(u32, val, smcr_conn_max_lowat(&ssk->conn));
	/*
	 * No wake-up is lost under conn->lock: data that arrive now are
	 * compared with the new value either below or in conn_rx_data().
	 */
	spin_lock_bh(&ssk->conn.lock);
	WRITE_ONCE(sk->sk_rcvlowat, val ? : 1);
	enough = smcr_conn_readable(&ssk->conn) >= sk->sk_rcvlowat;
	spin_unlock_bh(&ssk->conn.lock);
	/* as tcp_set_rcvlowat() does: the unread data may be enough by now */
	if (ssk->mode == SMCR_MODE_SMC && enough)
		sk->sk_data_ready(sk);
	return 0;
}

/**
 * smcr_keepalive() - proto.keepalive
 * @sk: socket, locked
 * @on: SO_KEEPALIVE
 *
 * Keepalive applies to the TCP connection in every mode, in mode SMC to the
 * link as well. TCP's setting does not change if a BPF program calls while
 * another thread has TCP's lock.
 */
void smcr_keepalive(struct sock *sk, int on)
{
	struct smcr_sock *ssk = smcr_sk(sk);

	tcp_set(ssk->tcp, tcp_keepalive, on);
	if (ssk->mode == SMCR_MODE_SMC)
		smcr_keepalive_changed(ssk);
}
