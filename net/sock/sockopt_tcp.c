// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of the inner socket. TCP copies many of them from and to user space
 * under its lock, and a page fault may take as long as user space likes. All
 * sockets share the workers, so no worker may wait for a page fault.
 *
 * Values of setsockopt() are therefore copied before TCP is called. Results of
 * getsockopt() cannot be copied afterwards, as TCP writes them to user space
 * only. So where TCP may write results under its lock, the caller holds the
 * lock of the own (AF_SMC) socket as well. Workers do not wait for that lock:
 * they only try it (smcr_sock_trylock()).
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "sock/sock_impl.h"

/* Longer values are left to tcp_set_long(), except for SOL_TCP */
#define SMCR_OPT_COPY_MAX	(64U << 10)

static const struct {
	int level;
	int first, last;
} smcr_results_unlocked[] = {
	{ SOL_TCP,	TCP_NODELAY,		TCP_USER_TIMEOUT },
	{ SOL_TCP,	TCP_FASTOPEN,		TCP_SAVE_SYN },
	{ SOL_TCP,	TCP_FASTOPEN_CONNECT,	TCP_FASTOPEN_NO_COOKIE },
	{ SOL_TCP,	TCP_INQ,		TCP_TX_DELAY },
	{ SOL_IP,	IP_TOS,			IP_MSFILTER - 1 },
	{ SOL_IP,	IP_MULTICAST_ALL,	95 },	/* from 64: netfilter */
	{ SOL_IPV6,	IPV6_ADDRFORM,		IPV6_2292RTHDR },
	{ SOL_IPV6,	IPV6_CHECKSUM,		MCAST_JOIN_GROUP - 1 },
	{ SOL_IPV6,	IPV6_RECVPKTINFO,	IPV6_RECVHOPOPTS },
	{ SOL_IPV6,	IPV6_RECVRTHDR,		IPV6_RECVRTHDR },
	{ SOL_IPV6,	IPV6_RECVDSTOPTS,	IPV6_RECVDSTOPTS },
	{ SOL_IPV6,	IPV6_RECVPATHMTU,	95 },
};

/* True for a result that TCP certainly copies without its lock */
static bool result_unlocked(int level, int opt)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(smcr_results_unlocked); i++)
		if (level == smcr_results_unlocked[i].level &&
		    opt >= smcr_results_unlocked[i].first &&
		    opt <= smcr_results_unlocked[i].last)
			return true;
	return false;
}

/*
 * Called before TCP reads or writes user memory under its own lock. Waits for
 * the end of a handshake, which needs that lock, and takes the socket lock. In
 * mode TCP the socket lock is needed, too: the socket may listen next, and then
 * accept_work needs TCP's lock. Return: 0 with the socket locked, or
 * -ERESTARTSYS after a signal.
 */
static int tcp_alone(struct smcr_sock *ssk)
{
	lock_sock(&ssk->sk);
	if (ssk->mode == SMCR_MODE_HANDSHAKE) {
		smcr_hs_wait(ssk, MAX_SCHEDULE_TIMEOUT);
		if (ssk->mode == SMCR_MODE_HANDSHAKE) {
			release_sock(&ssk->sk);
			return -ERESTARTSYS;
		}
	}
	return 0;
}

static int tcp_forward(struct smcr_sock *ssk, int level, int opt,
		       sockptr_t val, unsigned int len)
{
	if (level == SOL_SOCKET)
		return sock_setsockopt(ssk->tcp, level, opt, val, len);
	return READ_ONCE(ssk->tcp->ops)->setsockopt(ssk->tcp, level, opt, val,
						    len);
}

/* Set a value that is too long to copy, as of netfilter's tables, multicast sources */
static int tcp_set_long(struct smcr_sock *ssk, int level, int opt,
			sockptr_t val, unsigned int len)
{
	int rc;

	rc = tcp_alone(ssk);
	if (rc)
		return rc;
	rc = tcp_forward(ssk, level, opt, val, len);
	release_sock(&ssk->sk);
	return rc;
}

/* Copy back the flow label that TCP chose; as in TCP, a fault is no error */
static void opt_copy_back(int level, int opt, sockptr_t val,
			  const void *copy, unsigned int len)
{
	const struct in6_flowlabel_req *req = copy;

	if (level == SOL_IPV6 && opt == IPV6_FLOWLABEL_MGR && len >= sizeof(*req))
		copy_to_sockptr_offset(val, offsetof(typeof(*req), flr_label),
				       &req->flr_label, sizeof(req->flr_label));
}

/**
 * smcr_tcp_setsockopt() - set an option of the inner socket
 * @ssk: socket; the caller may hold the socket lock if @level is SOL_TCP
 * @level: SOL_*
 * @opt: option whose value has no pointer to memory that TCP reads under its lock
 * @val: value
 * @len: its length
 *
 * Context: process, sleeps.
 * Return: as setsockopt().
 */
int smcr_tcp_setsockopt(struct smcr_sock *ssk, int level, int opt,
			sockptr_t val, unsigned int len)
{
	void *copy;
	int rc;

	if (sockptr_is_null(val) || !len || val.is_kernel)
		return tcp_forward(ssk, level, opt, val, len);
	if (len > SMCR_OPT_COPY_MAX && level != SOL_TCP)
		return tcp_set_long(ssk, level, opt, val, len);
	/* no option of SOL_TCP has a longer value */
	len = min(len, SMCR_OPT_COPY_MAX);
	copy = memdup_sockptr(val, len);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	rc = tcp_forward(ssk, level, opt, KERNEL_SOCKPTR(copy), len);
	if (!rc)
		opt_copy_back(level, opt, val, copy, len);
	kfree(copy);
	return rc;
}

/**
 * smcr_tcp_getsockopt() - get an option of the inner socket
 * @ssk: socket
 * @level: any but SOL_SOCKET
 * @opt: option
 * @val: result
 * @len: size of @val; set to the size of the result
 *
 * Context: process, sleeps.
 * Return: as getsockopt().
 */
int smcr_tcp_getsockopt(struct smcr_sock *ssk, int level, int opt,
			char __user *val, int __user *len)
{
	struct sock *tsk = ssk->tcp->sk;
	bool locked = !result_unlocked(level, opt);
	int rc;

	rc = locked ? tcp_alone(ssk) : 0;
	if (rc)
		return rc;
	/* do not use proto_ops: which of its members are set varies by kernel */
	rc = READ_ONCE(tsk->sk_prot)->getsockopt(tsk, level, opt, val, len);
	if (locked)
		release_sock(&ssk->sk);
	return rc;
}
