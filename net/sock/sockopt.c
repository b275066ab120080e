// SPDX-License-Identifier: GPL-2.0-only
/*
 * Socket options. SOL_SOCKET options are kept in our own struct sock, from
 * which core code answers getsockopt(); what TCP must know of them gets to the
 * inner socket at once where the kernel lets us see setsockopt(SOL_SOCKET)
 * (smcr_compat_custom_sockopt()), and in any case by smcr_sockopt_push() and
 * _sync(). Everything else belongs to TCP, with the exceptions named below.
 */
#include <linux/errqueue.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "conn/keepalive.h"
#include "hs/hs.h"
#include "sock/sock_impl.h"

enum smcr_opt_rule {
	SMCR_OPT_BOTH,		/* default: own socket, then the inner one */
	SMCR_OPT_OWN,		/* own socket only */
	SMCR_OPT_CORK,		/* own; the inner one in mode TCP, where it */
				/* cannot hold back CLC messages */
	SMCR_OPT_TCP,		/* inner socket only */
	SMCR_OPT_INT,		/* inner socket, and means something here, too */
	SMCR_OPT_REFUSE,	/* works inside TCP's data path (SEC-07) */
	SMCR_OPT_CBPF,		/* smcr_filter_reuseport() */
	SMCR_OPT_FILTER,	/* smcr_filter_set() */
	SMCR_OPT_FASTOPEN,	/* before connect() or listen(); excludes SMC-R */
};

struct smcr_opt {
	int name;
	enum smcr_opt_rule rule;
};

static const struct smcr_opt smcr_socket_opts[] = {
	{ SO_LINGER,			SMCR_OPT_OWN },	/* smcr_release() */
	{ SO_PASSCRED,			SMCR_OPT_OWN },
	{ SO_PASSSEC,			SMCR_OPT_OWN },
	{ SO_KEEPALIVE,			SMCR_OPT_OWN },	/* smcr_keepalive() */
	{ SO_RCVLOWAT,			SMCR_OPT_OWN },	/* smcr_set_rcvlowat() */
	{ SO_RCVTIMEO_OLD,		SMCR_OPT_OWN },	/* smcr_sockopt_sync() */
	{ SO_RCVTIMEO_NEW,		SMCR_OPT_OWN },
	{ SO_SNDTIMEO_OLD,		SMCR_OPT_OWN },
	{ SO_SNDTIMEO_NEW,		SMCR_OPT_OWN },
	/* core code knows it for AF_INET and AF_INET6 only; value mirrored */
	{ SO_REUSEPORT,			SMCR_OPT_TCP },
	{ SO_ATTACH_REUSEPORT_CBPF,	SMCR_OPT_CBPF },
	{ SO_ATTACH_REUSEPORT_EBPF,	SMCR_OPT_TCP },
	{ SO_DETACH_REUSEPORT_BPF,	SMCR_OPT_TCP },
	{ SO_ATTACH_FILTER,		SMCR_OPT_FILTER },
	{ SO_ATTACH_BPF,		SMCR_OPT_FILTER },
	{ SO_DETACH_FILTER,		SMCR_OPT_FILTER },
	{ SO_CNX_ADVICE,		SMCR_OPT_TCP },
	{ SO_RESERVE_MEM,		SMCR_OPT_TCP },
	{ SO_ZEROCOPY,			SMCR_OPT_REFUSE },
	{ SO_PEEK_OFF,			SMCR_OPT_REFUSE },
};

static const struct smcr_opt smcr_tcp_opts[] = {
	{ TCP_DEFER_ACCEPT,		SMCR_OPT_INT },
	{ TCP_NODELAY,			SMCR_OPT_INT },
	{ TCP_KEEPIDLE,			SMCR_OPT_INT },
	{ TCP_KEEPINTVL,		SMCR_OPT_INT },
	{ TCP_KEEPCNT,			SMCR_OPT_INT },
	{ TCP_USER_TIMEOUT,		SMCR_OPT_INT },
	{ TCP_NOTSENT_LOWAT,		SMCR_OPT_INT },
	{ TCP_CORK,			SMCR_OPT_CORK },
	{ TCP_ULP,			SMCR_OPT_REFUSE },
	{ TCP_ZEROCOPY_RECEIVE,		SMCR_OPT_REFUSE },
	{ TCP_REPAIR,			SMCR_OPT_REFUSE },
	{ TCP_REPAIR_QUEUE,		SMCR_OPT_REFUSE },
	{ TCP_REPAIR_OPTIONS,		SMCR_OPT_REFUSE },
	{ TCP_REPAIR_WINDOW,		SMCR_OPT_REFUSE },
	{ TCP_QUEUE_SEQ,		SMCR_OPT_REFUSE },
	{ TCP_FASTOPEN,			SMCR_OPT_FASTOPEN },
	{ TCP_FASTOPEN_CONNECT,		SMCR_OPT_FASTOPEN },
	{ TCP_FASTOPEN_KEY,		SMCR_OPT_FASTOPEN },
	{ TCP_FASTOPEN_NO_COOKIE,	SMCR_OPT_FASTOPEN },
};

static enum smcr_opt_rule smcr_opt_find(const struct smcr_opt *opts, size_t n,
					int name, enum smcr_opt_rule other)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (opts[i].name == name)
			return opts[i].rule;
	return other;
}

static int smcr_opt_int(sockptr_t val, unsigned int len, int *out)
{
	if (len < sizeof(*out))
		return -EINVAL;
	return copy_from_sockptr(out, val, sizeof(*out)) ? -EFAULT : 0;
}

static int smcr_setsockopt_socket(struct socket *sock, int opt, sockptr_t val,
				  unsigned int len)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	enum smcr_opt_rule rule;
	int rc = 0;

	rule = smcr_opt_find(smcr_socket_opts, ARRAY_SIZE(smcr_socket_opts),
			     opt, SMCR_OPT_BOTH);
	if (rule == SMCR_OPT_REFUSE)
		return -EOPNOTSUPP;
	if (rule == SMCR_OPT_CBPF)
		return smcr_filter_reuseport(ssk, val, len);
	if (rule == SMCR_OPT_FILTER)
		return smcr_filter_set(sock, opt, val, len);
	if (rule != SMCR_OPT_TCP)
		rc = sock_setsockopt(sock, SOL_SOCKET, opt, val, len);
	if (rc || rule == SMCR_OPT_OWN)
		return rc;
	rc = smcr_tcp_setsockopt(ssk, SOL_SOCKET, opt, val, len);
	if (opt == SO_REUSEPORT)
		ssk->sk.sk_reuseport = ssk->tcp->sk->sk_reuseport;
	return rc;
}

static int smcr_set_cork(struct smcr_sock *ssk, sockptr_t val, unsigned int len)
{
	int on, rc;

	rc = smcr_opt_int(val, len, &on);
	if (rc)
		return rc;
	lock_sock(&ssk->sk);
	ssk->corked = on;
	if (ssk->mode == SMCR_MODE_TCP)
		tcp_sock_set_cork(ssk->tcp->sk, on);
	release_sock(&ssk->sk);
	return 0;
}

/* Fast Open puts data on the SYN: either that or SMC-R (T-14) */
static int smcr_set_fastopen(struct smcr_sock *ssk, int opt, sockptr_t val,
			     unsigned int len)
{
	int on, rc = -EINVAL;

	lock_sock(&ssk->sk);
	if (ssk->mode != SMCR_MODE_INIT)
		goto out;
	rc = smcr_tcp_setsockopt(ssk, SOL_TCP, opt, val, len);
	if (rc || opt == TCP_FASTOPEN_KEY)	/* a key asks for nothing */
		goto out;
	rc = smcr_opt_int(val, len, &on);
	if (!rc && on)
		set_bit(SMCR_SK_FASTOPEN, &ssk->flags);
	else if (!rc)
		clear_bit(SMCR_SK_FASTOPEN, &ssk->flags);
out:
	release_sock(&ssk->sk);
	return rc;
}

/*
 * For TCP, and then for the SMC-R connection. The value is looked at once:
 * another thread may write there.
 */
static int smcr_set_tcp_int(struct smcr_sock *ssk, int opt, sockptr_t val,
			    unsigned int len)
{
	int rc, v;

	rc = smcr_opt_int(val, len, &v);
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

static int smcr_setsockopt_tcp(struct smcr_sock *ssk, int opt, sockptr_t val,
			       unsigned int len)
{
	switch (smcr_opt_find(smcr_tcp_opts, ARRAY_SIZE(smcr_tcp_opts), opt,
			      SMCR_OPT_TCP)) {
	case SMCR_OPT_REFUSE:
		return -EOPNOTSUPP;
	case SMCR_OPT_CORK:
		return smcr_set_cork(ssk, val, len);
	case SMCR_OPT_FASTOPEN:
		return smcr_set_fastopen(ssk, opt, val, len);
	case SMCR_OPT_INT:
		return smcr_set_tcp_int(ssk, opt, val, len);
	default:
		return smcr_tcp_setsockopt(ssk, SOL_TCP, opt, val, len);
	}
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
	struct smcr_sock *ssk = smcr_sk(sock->sk);

	switch (level) {
	case SOL_SOCKET:
		return smcr_setsockopt_socket(sock, opt, val, len);
	case SOL_TCP:
		return smcr_setsockopt_tcp(ssk, opt, val, len);
	default:
		return smcr_tcp_setsockopt(ssk, level, opt, val, len);
	}
}

static int smcr_get_int(int value, char __user *val, int __user *len)
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

/* TCP_INFO of a listener: TCP counts what is in its own queue, which is emptied */
static int smcr_put_waiting(const struct smcr_sock *lsk, char __user *val,
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

/**
 * smcr_getsockopt() - proto_ops.getsockopt
 * @sock: socket
 * @level: any but SOL_SOCKET, which core code answers
 * @opt: option
 * @val: result
 * @len: size of @val, then of the result
 *
 * Return: 0 or a negative errno.
 */
int smcr_getsockopt(struct socket *sock, int level, int opt, char __user *val,
		    int __user *len)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	int idle, rc;

	if (level == SOL_TCP) {
		switch (smcr_opt_find(smcr_tcp_opts, ARRAY_SIZE(smcr_tcp_opts),
				      opt, SMCR_OPT_TCP)) {
		case SMCR_OPT_REFUSE:
			if (opt == TCP_ULP)	/* TCP says that there is none */
				break;
			return -EOPNOTSUPP;
		case SMCR_OPT_CORK:
			return smcr_get_int(READ_ONCE(ssk->corked), val, len);
		default:
			break;
		}
		idle = READ_ONCE(ssk->keepidle);
		if (opt == TCP_KEEPIDLE && idle)
			return smcr_get_int(idle / HZ, val, len);
	}
	rc = smcr_tcp_getsockopt(ssk, level, opt, val, len);
	if (!rc && level == SOL_TCP && opt == TCP_INFO &&
	    READ_ONCE(ssk->mode) == SMCR_MODE_LISTEN)
		rc = smcr_put_waiting(ssk, val, len);
	return rc;
}

/**
 * smcr_set_rcvlowat() - proto_ops.set_rcvlowat
 * @sk: socket, locked
 * @val: SO_RCVLOWAT
 *
 * No more than smcr_conn_max_lowat(), else readers would wait for ever; before
 * there is an element smcr_sock_set_mode() sees to that. TCP learns it in mode TCP
 * only: it would have to wake us for every byte of a CLC message.
 *
 * Return: 0.
 */
int smcr_set_rcvlowat(struct sock *sk, int val)
{
	struct smcr_sock *ssk = smcr_sk(sk);
	struct sock *tsk = ssk->tcp->sk;
	bool enough;

	if (ssk->mode == SMCR_MODE_SMC)
		val = min_t(u32, val, smcr_conn_max_lowat(&ssk->conn));
	/* data that come now see the new value, or are seen here */
	spin_lock_bh(&ssk->conn.lock);
	WRITE_ONCE(sk->sk_rcvlowat, val ? : 1);
	enough = smcr_conn_readable(&ssk->conn) >= sk->sk_rcvlowat;
	spin_unlock_bh(&ssk->conn.lock);
	/* as tcp_set_rcvlowat(): what is there may be enough by now */
	if (ssk->mode == SMCR_MODE_SMC && enough)
		sk->sk_data_ready(sk);
	if (ssk->mode == SMCR_MODE_TCP) {
		lock_sock(tsk);
		READ_ONCE(ssk->tcp->ops)->set_rcvlowat(tsk, val);
		release_sock(tsk);
	}
	return 0;
}

/**
 * smcr_keepalive() - proto.keepalive
 * @sk: socket, locked
 * @on: SO_KEEPALIVE
 *
 * The TCP connection is kept alive in every mode, and in mode SMC the link is.
 */
void smcr_keepalive(struct sock *sk, int on)
{
	struct smcr_sock *ssk = smcr_sk(sk);
	struct sock *tsk = ssk->tcp->sk;

	lock_sock(tsk);
	READ_ONCE(tsk->sk_prot)->keepalive(tsk, on);
	sock_valbool_flag(tsk, SOCK_KEEPOPEN, on);
	release_sock(tsk);
	if (ssk->mode == SMCR_MODE_SMC)
		smcr_keepalive_changed(ssk);
}

static void smcr_push_flag(struct sock *tsk, const struct sock *sk,
			   enum sock_flags flag)
{
	if (sock_flag(tsk, flag) != sock_flag(sk, flag))
		sock_valbool_flag(tsk, flag, sock_flag(sk, flag));
}

/* Options that may change at any time and that TCP looks at when it is called */
static void smcr_push_live(struct sock *tsk, const struct sock *sk)
{
	if (READ_ONCE(tsk->sk_rcvtimeo) != READ_ONCE(sk->sk_rcvtimeo))
		WRITE_ONCE(tsk->sk_rcvtimeo, READ_ONCE(sk->sk_rcvtimeo));
	if (READ_ONCE(tsk->sk_sndtimeo) != READ_ONCE(sk->sk_sndtimeo))
		WRITE_ONCE(tsk->sk_sndtimeo, READ_ONCE(sk->sk_sndtimeo));
	if (unlikely(sock_flag(tsk, SOCK_URGINLINE) !=
		     sock_flag(sk, SOCK_URGINLINE))) {
		lock_sock(tsk);
		smcr_push_flag(tsk, sk, SOCK_URGINLINE);
		release_sock(tsk);
	}
}

static void smcr_push_int(struct smcr_sock *ssk, int opt, int val)
{
	sock_setsockopt(ssk->tcp, SOL_SOCKET, opt, KERNEL_SOCKPTR(&val),
			sizeof(val));
}

/* By way of setsockopt(): it turns the machine's timestamps on and off */
static void smcr_push_timestamps(struct smcr_sock *ssk)
{
	const struct sock *sk = &ssk->sk, *tsk = ssk->tcp->sk;
	bool fresh = sock_flag(sk, SOCK_TSTAMP_NEW);
	bool ns = sock_flag(sk, SOCK_RCVTSTAMPNS);
	bool on = sock_flag(sk, SOCK_RCVTSTAMP);

	if (on != sock_flag(tsk, SOCK_RCVTSTAMP) ||
	    ns != sock_flag(tsk, SOCK_RCVTSTAMPNS) ||
	    (on && fresh != sock_flag(tsk, SOCK_TSTAMP_NEW))) {
		if (ns)
			smcr_push_int(ssk, fresh ? SO_TIMESTAMPNS_NEW :
						   SO_TIMESTAMPNS_OLD, on);
		else
			smcr_push_int(ssk, fresh ? SO_TIMESTAMP_NEW :
						   SO_TIMESTAMP_OLD, on);
	}
	if (READ_ONCE(sk->sk_tsflags) != READ_ONCE(tsk->sk_tsflags)) {
		struct so_timestamping ts = {
			.flags = READ_ONCE(sk->sk_tsflags),
			.bind_phc = READ_ONCE(sk->sk_bind_phc),
		};

		sock_setsockopt(ssk->tcp, SOL_SOCKET, fresh ?
				SO_TIMESTAMPING_NEW : SO_TIMESTAMPING_OLD,
				KERNEL_SOCKPTR(&ts), sizeof(ts));
	}
}

static void smcr_push_pacing(struct sock *tsk, const struct sock *sk)
{
	unsigned long rate = READ_ONCE(sk->sk_max_pacing_rate);

	if (rate == READ_ONCE(tsk->sk_max_pacing_rate))
		return;
	if (rate != ~0UL)
		cmpxchg(&tsk->sk_pacing_status, SK_PACING_NONE,
			SK_PACING_NEEDED);
	WRITE_ONCE(tsk->sk_max_pacing_rate, rate);
	WRITE_ONCE(tsk->sk_pacing_rate, min(READ_ONCE(tsk->sk_pacing_rate), rate));
}

/*
 * Options that core code sets without calling us, and which may change while TCP is
 * in use. No lock is needed where both are equal.
 */
static void smcr_push_silent(struct smcr_sock *ssk)
{
	const struct sock *sk = &ssk->sk;
	struct sock *tsk = ssk->tcp->sk;
	int cpu = READ_ONCE(sk->sk_incoming_cpu);

	smcr_filter_push(ssk);
	smcr_push_timestamps(ssk);
	smcr_push_pacing(tsk, sk);
	if (cpu >= 0 && cpu != READ_ONCE(ssk->pushed_cpu)) {
		WRITE_ONCE(ssk->pushed_cpu, cpu);
		WRITE_ONCE(tsk->sk_incoming_cpu, cpu);
	}
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(tsk->sk_ll_usec, READ_ONCE(sk->sk_ll_usec));
	WRITE_ONCE(tsk->sk_prefer_busy_poll, READ_ONCE(sk->sk_prefer_busy_poll));
	WRITE_ONCE(tsk->sk_busy_poll_budget, READ_ONCE(sk->sk_busy_poll_budget));
#endif
}

/**
 * smcr_sockopt_sync() - before a forwarded call in mode TCP
 * @ssk: socket
 *
 * Context: process; may take the inner socket's lock.
 */
void smcr_sockopt_sync(struct smcr_sock *ssk)
{
	smcr_push_live(ssk->tcp->sk, &ssk->sk);
	if (!SMCR_CUSTOM_SOCKOPT)
		smcr_push_silent(ssk);
}

/**
 * smcr_sockopt_push() - before bind(), connect(), listen() and fallback
 * @ssk: socket, socket lock held or not yet known to anybody
 *
 * Where core code applied SOL_SOCKET options without telling us; elsewhere both
 * sides agree already. Timeouts wait for mode TCP.
 *
 * Context: process; takes the inner socket's lock.
 */
void smcr_sockopt_push(struct smcr_sock *ssk)
{
	const struct sock *sk = &ssk->sk;
	struct sock *tsk = ssk->tcp->sk;

	if (SMCR_CUSTOM_SOCKOPT)
		return;
	lock_sock(tsk);
	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK) {
		tsk->sk_userlocks |= SOCK_SNDBUF_LOCK;
		WRITE_ONCE(tsk->sk_sndbuf, sk->sk_sndbuf);
	}
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK) {
		tsk->sk_userlocks |= SOCK_RCVBUF_LOCK;
		WRITE_ONCE(tsk->sk_rcvbuf, sk->sk_rcvbuf);
	}
	/* TCP chooses its own, too: link-local addresses, VRFs, tcp_fwmark_accept */
	if (ssk->pushed_if != sk->sk_bound_dev_if) {
		ssk->pushed_if = sk->sk_bound_dev_if;
		WRITE_ONCE(tsk->sk_bound_dev_if, sk->sk_bound_dev_if);
		sk_dst_reset(tsk);
	}
	if (ssk->pushed_mark != sk->sk_mark) {
		ssk->pushed_mark = sk->sk_mark;
		WRITE_ONCE(tsk->sk_mark, sk->sk_mark);
		sk_dst_reset(tsk);
	}
	tsk->sk_reuse = sk->sk_reuse;
	tsk->sk_reuseport = sk->sk_reuseport;
	if (sk->sk_priority)	/* IP_TOS sets it, too */
		WRITE_ONCE(tsk->sk_priority, sk->sk_priority);
	smcr_push_flag(tsk, sk, SOCK_URGINLINE);
	smcr_push_flag(tsk, sk, SOCK_LOCALROUTE);
	smcr_push_flag(tsk, sk, SOCK_BROADCAST);
	smcr_push_flag(tsk, sk, SOCK_DBG);
	release_sock(tsk);
	smcr_push_silent(ssk);
}

/**
 * smcr_sockopt_to_tcp() - give the inner socket what was kept from it
 * @ssk: socket that goes on as TCP
 *
 * Context: process; takes the inner socket's lock.
 */
void smcr_sockopt_to_tcp(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;
	struct sock *sk = &ssk->sk;

	smcr_sockopt_push(ssk);
	smcr_push_live(tsk, sk);
	if (sk->sk_rcvlowat != 1) {
		lock_sock(tsk);
		READ_ONCE(ssk->tcp->ops)->set_rcvlowat(tsk, sk->sk_rcvlowat);
		release_sock(tsk);
	}
	if (ssk->corked)
		tcp_sock_set_cork(tsk, true);
}

static void smcr_inherit_flag(struct sock *sk, const struct sock *from,
			      enum sock_flags flag)
{
	sock_valbool_flag(sk, flag, sock_flag(from, flag));
}

/**
 * smcr_sockopt_inherit() - options of a listener's child
 * @child: child, not yet known to anybody
 * @from: its listener
 *
 * The inner socket has inherited its own from the inner listener.
 */
void smcr_sockopt_inherit(struct smcr_sock *child, const struct smcr_sock *from)
{
	const u8 locks = SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK;
	const struct sock *lsk = &from->sk;
	struct sock *sk = &child->sk;

	sk->sk_userlocks |= lsk->sk_userlocks & locks;
	sk->sk_rcvbuf = READ_ONCE(lsk->sk_rcvbuf);
	sk->sk_sndbuf = READ_ONCE(lsk->sk_sndbuf);
	sk->sk_rcvlowat = READ_ONCE(lsk->sk_rcvlowat);
	sk->sk_rcvtimeo = READ_ONCE(lsk->sk_rcvtimeo);
	sk->sk_sndtimeo = READ_ONCE(lsk->sk_sndtimeo);
	sk->sk_lingertime = READ_ONCE(lsk->sk_lingertime);
	sk->sk_mark = READ_ONCE(lsk->sk_mark);
	sk->sk_bound_dev_if = READ_ONCE(lsk->sk_bound_dev_if);
	sk->sk_reuse = lsk->sk_reuse;
	sk->sk_reuseport = lsk->sk_reuseport;
	sk->sk_max_pacing_rate = READ_ONCE(lsk->sk_max_pacing_rate);
	sk->sk_tsflags = READ_ONCE(lsk->sk_tsflags);
#ifdef CONFIG_NET_RX_BUSY_POLL
	sk->sk_ll_usec = READ_ONCE(lsk->sk_ll_usec);
	sk->sk_prefer_busy_poll = READ_ONCE(lsk->sk_prefer_busy_poll);
	sk->sk_busy_poll_budget = READ_ONCE(lsk->sk_busy_poll_budget);
#endif
	/* what they turn on in the machine is the inner socket's */
	smcr_inherit_flag(sk, lsk, SOCK_RCVTSTAMP);
	smcr_inherit_flag(sk, lsk, SOCK_RCVTSTAMPNS);
	smcr_inherit_flag(sk, lsk, SOCK_TSTAMP_NEW);
	smcr_inherit_flag(sk, lsk, SOCK_LINGER);
	smcr_inherit_flag(sk, lsk, SOCK_KEEPOPEN);
	smcr_inherit_flag(sk, lsk, SOCK_URGINLINE);
	smcr_inherit_flag(sk, lsk, SOCK_LOCALROUTE);
	smcr_inherit_flag(sk, lsk, SOCK_BROADCAST);
	smcr_inherit_flag(sk, lsk, SOCK_DBG);
	smcr_filter_inherit(child, from);
	child->corked = from->corked;
	child->pushed_if = sk->sk_bound_dev_if;
	child->pushed_mark = sk->sk_mark;
}
