// SPDX-License-Identifier: GPL-2.0-only
/*
 * connect(): the check whether to offer SMC-R, TCP's connect, the wait for the
 * result. If SMC-R is offered, TCP's connect does not block, and smcr_hs_wait()
 * waits for TCP and the handshake. The errors are those of TCP.
 */
#include <linux/bpf-cgroup.h>
#include <linux/sched/signal.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/tcp.h>
#include "hs/hs.h"
#include "hs/route.h"
#include "hs/tcpopt.h"
#include "sock/sock_impl.h"

/* Check the route. The device is looked up again once TCP is established. */
static enum smcr_reason connect_dst(struct smcr_sock *ssk,
				    struct dst_entry *dst)
{
	struct sock *tsk = ssk->tcp->sk;
	bool found;

	if (smcr_route_dst_ipsec(dst) || smcr_route_ipsec(tsk))
		return SMCR_R_IPSEC;
	/* RCU keeps a netdev that is being unregistered; the route has no reference on it */
	rcu_read_lock();
	found = smcr_dev_exists(sock_net(tsk), READ_ONCE(dst->dev));
	rcu_read_unlock();
	if (!found)
		return SMCR_R_NO_DEVICE;
	if (smcr_route_dst_gateway(dst))
		return SMCR_R_SUBNET;
	return SMCR_R_NONE;
}

static enum smcr_reason connect_route4(struct smcr_sock *ssk,
				       __be32 daddr, __be16 dport)
{
	struct sock *tsk = ssk->tcp->sk;
	struct flowi4 fl4 = {};
	enum smcr_reason why;
	struct rtable *rt;

	ip_route_connect_init(&fl4, daddr, inet_sk(tsk)->inet_saddr,
			      READ_ONCE(tsk->sk_bound_dev_if), IPPROTO_TCP,
			      inet_sk(tsk)->inet_sport, dport, tsk);
	rt = ip_route_output_flow(sock_net(tsk), &fl4, tsk);
	if (IS_ERR(rt))		/* TCP's connect will return the error */
		return SMCR_R_NO_DEVICE;
	why = connect_dst(ssk, &rt->dst);
	if (why == SMCR_R_NONE && !smcr_route_onlink4(&rt->dst, daddr))
		why = SMCR_R_SUBNET;
	ip_rt_put(rt);
	return why;
}

#if IS_ENABLED(CONFIG_IPV6)
static enum smcr_reason connect_route6(struct smcr_sock *ssk,
				       const struct sockaddr_in6 *sin6)
{
	struct sock *tsk = ssk->tcp->sk;
	struct flowi6 fl6 = {
		.flowi6_oif = READ_ONCE(tsk->sk_bound_dev_if) ?:
			      sin6->sin6_scope_id,
		.flowi6_mark = READ_ONCE(tsk->sk_mark),
		.flowi6_proto = IPPROTO_TCP,
		.flowi6_uid = tsk->sk_uid,
		.flowlabel = ip6_make_flowinfo(READ_ONCE(inet6_sk(tsk)->tclass),
					       0),
		.daddr = sin6->sin6_addr,
		.saddr = inet6_sk(tsk)->saddr,
		.fl6_dport = sin6->sin6_port,
		.fl6_sport = inet_sk(tsk)->inet_sport,
	};
	enum smcr_reason why;
	struct dst_entry *dst;

	if (ipv6_addr_any(&fl6.daddr))		/* connects to ::1, as in BSD */
		return SMCR_R_NO_DEVICE;
	dst = ip6_dst_lookup_flow(sock_net(tsk), tsk, &fl6, NULL);
	if (IS_ERR(dst))
		return SMCR_R_NO_DEVICE;
	why = connect_dst(ssk, dst);
	if (why == SMCR_R_NONE && !smcr_route_onlink6(dst, &sin6->sin6_addr))
		why = SMCR_R_SUBNET;
	dst_release(dst);
	return why;
}
#endif

/* An address whose family or length TCP will refuse yields NO_DEVICE */
static enum smcr_reason connect_route(struct smcr_sock *ssk,
				      const void *addr, int alen)
{
	const struct sockaddr_in *sin = addr;

	/* a BPF program may still change the address: the handshake checks the route */
	if (BPF_CGROUP_PRE_CONNECT_ENABLED(ssk->tcp->sk) &&
	    smcr_dev_any(sock_net(&ssk->sk)))
		return SMCR_R_NONE;
	if (ssk->sk.sk_protocol == SMCR_PROTO_V4) {
		if (alen < (int)sizeof(*sin) || sin->sin_family != AF_INET)
			return SMCR_R_NO_DEVICE;
		return connect_route4(ssk, sin->sin_addr.s_addr,
				      sin->sin_port);
	}
#if IS_ENABLED(CONFIG_IPV6)
	if (alen >= SIN6_LEN_RFC2133 && sin->sin_family == AF_INET6) {
		struct sockaddr_in6 sin6 = {};

		memcpy(&sin6, addr, min_t(size_t, alen, sizeof(sin6)));
		if (ipv6_addr_v4mapped(&sin6.sin6_addr))
			return connect_route4(ssk,
					      sin6.sin6_addr.s6_addr32[3],
					      sin6.sin6_port);
		return connect_route6(ssk, &sin6);
	}
#endif
	return SMCR_R_NO_DEVICE;
}

/* Destination port; 0 for an address that TCP will refuse */
static u16 connect_port(const void *addr, int alen)
{
	const struct sockaddr_in *sin = addr;

	/* struct sockaddr_in6 has the port in the same place */
	if (alen < (int)offsetofend(struct sockaddr_in, sin_port))
		return 0;
	return ntohs(sin->sin_port);
}

/* Reason not to offer SMC-R, or NONE (T-14, T-15, SEC-04, SEC-05) */
static enum smcr_reason connect_check(struct smcr_sock *ssk,
				      const void *addr, int alen)
{
	if (!smcr_policy_allows(ssk->sn, connect_port(addr, alen)))
		return SMCR_R_POLICY;
	if (test_bit(SMCR_SK_FASTOPEN, &ssk->flags))
		return SMCR_R_FASTOPEN;
	/*
	 * A call that was forwarded to TCP before connect(AF_UNSPEC) may get
	 * TCP's lock only now, and sleep in a page fault while it holds the
	 * lock: a handshake would have to wait for that call.
	 */
	if (test_bit(SMCR_SK_FORWARDED, &ssk->flags))
		return SMCR_R_SOCKET_REUSED;
	return connect_route(ssk, addr, alen);
}

/* Offer SMC-R, start TCP's connect. Return: 0 if in progress, or TCP's errno. */
static int connect_offer(struct smcr_sock *ssk, SMCR_SOCKADDR *addr,
			 int alen)
{
	struct socket *tcp = ssk->tcp;
	int rc;

	smcr_tcpopt_offer(tcp->sk, true);
	ssk->offered = true;
	WRITE_ONCE(ssk->is_client, true);
	smcr_sock_set_mode(ssk, SMCR_MODE_HANDSHAKE);
	rc = smcr_tcpopt_connect(tcp, addr, alen);
	if (rc && rc != -EINPROGRESS) {
		smcr_sock_to_init(ssk);
		return rc;
	}
	smcr_hs_begin(ssk);
	smcr_tcp_check(ssk);	/* events before smcr_hs_begin() were ignored */
	return 0;
}

/* Result of connect(), as at the end of inet_stream_connect() */
static int connect_result(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smcr_sock *ssk = smcr_sk(sk);
	int rc;

	switch (ssk->mode) {
	case SMCR_MODE_TCP:
		ssk->tcp->state = SS_CONNECTED;
		fallthrough;
	case SMCR_MODE_SMC:
		if (READ_ONCE(sk->sk_state) != TCP_CLOSE) {
			sock->state = SS_CONNECTED;
			return 0;
		}
		break;
	default:
		break;
	}
	rc = sock_error(sk) ?: -ECONNABORTED;
	if (ssk->mode == SMCR_MODE_SMC) {
		sock->state = SS_DISCONNECTING;	/* cannot be used again */
		return rc;
	}
	if (smcr_sock_reset(ssk))
		sock->state = SS_UNCONNECTED;
	return rc;
}

/*
 * Wait for the end of the handshake, if it has not ended yet, and return the
 * result of connect(). @rc is returned if the handshake does not end in the
 * time that the caller may wait. Socket lock held; dropped while waiting.
 */
static int connect_wait(struct socket *sock, int flags, int rc)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	long timeo = sock_sndtimeo(sock->sk, flags & O_NONBLOCK);

	sock_owned_by_me(sock->sk);

	if (ssk->mode == SMCR_MODE_HANDSHAKE) {
		if (!timeo)
			return rc;
		timeo = smcr_hs_wait(ssk, timeo);
		if (ssk->mode == SMCR_MODE_HANDSHAKE)	/* still in progress */
			return timeo ? sock_intr_errno(timeo) : rc;
	}
	return connect_result(sock);
}

/* Mode TCP: every connect() is forwarded. The socket lock is dropped for the call. */
static int connect_tcp(struct socket *sock, SMCR_SOCKADDR *addr, int alen,
		       int flags)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	struct socket *tcp = ssk->tcp;
	int rc;

	release_sock(sock->sk);		/* TCP's connect may block */
	smcr_tcp_err_enter(ssk);
	rc = READ_ONCE(tcp->ops)->connect(tcp, addr, alen, flags);
	smcr_tcp_err_leave(ssk);
	lock_sock(sock->sk);
	smcr_tcp_state_sync(sock);
	return rc;
}

/* connect(AF_UNSPEC): as on TCP, but refused for an SMC-R connection */
static int smcr_disconnect(struct socket *sock)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);

	if (ssk->mode == SMCR_MODE_HANDSHAKE) {
		int rc = smcr_hs_abort(ssk);

		if (rc)
			return rc;
	}
	if (ssk->mode == SMCR_MODE_LISTEN) {
		smcr_listener_undo(sock);
		return 0;
	}
	if (ssk->mode == SMCR_MODE_SMC)
		return -EOPNOTSUPP;
	if (smcr_sock_reset(ssk))
		sock->state = SS_UNCONNECTED;
	return 0;
}

static int connect_new(struct socket *sock, SMCR_SOCKADDR *addr, int alen,
		       int flags)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	enum smcr_reason why;
	int rc;

	WRITE_ONCE(ssk->sk.sk_err, 0);	/* as tcp_connect_init() does */
	smcr_tcp_own(ssk, sock);
	smcr_sockopt_push(ssk);
	why = connect_check(ssk, addr, alen);
	if (why == SMCR_R_NONE && smcr_hs_new(ssk))
		why = SMCR_R_NO_MEMORY;
	if (why != SMCR_R_NONE) {
		smcr_fallback_early(ssk, why);
		return connect_tcp(sock, addr, alen, flags);
	}
	rc = connect_offer(ssk, addr, alen);
	if (rc)
		return rc;
	sock->state = SS_CONNECTING;
	return connect_wait(sock, flags, -EINPROGRESS);
}

enum smcr_connect_do {
	SMCR_CONNECT_EINVAL,
	SMCR_CONNECT_EISCONN,
	SMCR_CONNECT_NEW,	/* the first call */
	SMCR_CONNECT_WAIT,	/* wait for the handshake, or take its result */
	SMCR_CONNECT_TCP,	/* forward to TCP, which checks the state itself */
};

/*
 * Action of connect() by socket state and mode. A socket is UNCONNECTED in
 * another mode than INIT if another thread is connecting it, if MSG_FASTOPEN
 * has set mode TCP, or if it listens. It is CONNECTING in mode SMC or DEAD if
 * an earlier connect() did not wait for the result: then this call returns it.
 * A state without a row is EINVAL.
 */
static const u8 smcr_connect_table[][NR_SMCR_MODE] = {
	[SS_UNCONNECTED] = {
		[SMCR_MODE_INIT]	= SMCR_CONNECT_NEW,
		[SMCR_MODE_LISTEN]	= SMCR_CONNECT_EISCONN,
		[SMCR_MODE_HANDSHAKE]		= SMCR_CONNECT_EISCONN,
		[SMCR_MODE_SMC]		= SMCR_CONNECT_EISCONN,
		[SMCR_MODE_TCP]		= SMCR_CONNECT_TCP,
		[SMCR_MODE_DEAD]	= SMCR_CONNECT_EISCONN,
	},
	[SS_CONNECTING] = {
		[SMCR_MODE_INIT]	= SMCR_CONNECT_WAIT,
		[SMCR_MODE_LISTEN]	= SMCR_CONNECT_WAIT,
		[SMCR_MODE_HANDSHAKE]		= SMCR_CONNECT_WAIT,
		[SMCR_MODE_SMC]		= SMCR_CONNECT_WAIT,
		[SMCR_MODE_TCP]		= SMCR_CONNECT_TCP,
		[SMCR_MODE_DEAD]	= SMCR_CONNECT_WAIT,
	},
	[SS_CONNECTED] = {
		[0 ... NR_SMCR_MODE - 1] = SMCR_CONNECT_EISCONN,
	},
};

static int connect_locked(struct socket *sock, SMCR_SOCKADDR *addr,
			  int alen, int flags)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	u8 what = SMCR_CONNECT_EINVAL;

	if (addr->sa_family == AF_UNSPEC)
		return smcr_disconnect(sock);
	if (sock->state < ARRAY_SIZE(smcr_connect_table))
		what = smcr_connect_table[sock->state][ssk->mode];
	switch (what) {
	case SMCR_CONNECT_EISCONN:
		return -EISCONN;
	case SMCR_CONNECT_NEW:
		return connect_new(sock, addr, alen, flags);
	case SMCR_CONNECT_WAIT:
		return connect_wait(sock, flags, -EALREADY);
	case SMCR_CONNECT_TCP:
		return connect_tcp(sock, addr, alen, flags);
	default:
		return -EINVAL;
	}
}

/**
 * smcr_connect() - proto_ops.connect
 * @sock: socket
 * @addr: peer, or AF_UNSPEC to disconnect
 * @alen: length of @addr
 * @flags: O_NONBLOCK
 *
 * Return: as inet_stream_connect(); -EOPNOTSUPP for AF_UNSPEC while SMC-R is
 * in use.
 */
int smcr_connect(struct socket *sock, SMCR_SOCKADDR *addr, int alen, int flags)
{
	int rc;

	if (alen < (int)sizeof(addr->sa_family))
		return -EINVAL;
	lock_sock(sock->sk);
	rc = connect_locked(sock, addr, alen, flags);
	release_sock(sock->sk);
	return rc;
}
