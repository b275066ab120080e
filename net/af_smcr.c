// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address family AF_SMC: life of a socket, from socket() to the last reference,
 * and the table of its operations.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include "sock.h"
#include "trace.h"

/* Set when the protos are there; see smcr_af_init() */
static bool smcr_af_ready;

/*
 * What outlives the socket: the last reference may be put in softirq, but the
 * inner socket can only be released in process context.
 */
struct smcr_reaper {
	struct work_struct work;
	struct socket *tcp;
};

/**
 * smcr_sock_get() - take a reference where none is held
 * @ssk: socket whose memory is safe (callback lock, RCU, list lock)
 *
 * Return: false when the socket is on its way out.
 */
bool smcr_sock_get(struct smcr_sock *ssk)
{
	return refcount_inc_not_zero(&ssk->sk.sk_refcnt);
}

static void smcr_sock_delist(struct smcr_sock *ssk, bool all)
{
	struct smcr_net *sn = ssk->sn;

	spin_lock_bh(&sn->sk_lock);
	if (ssk->counted)
		sn->n_socks--;
	ssk->counted = false;
	if (all)
		smcr_ids_del(&sn->socks, &ssk->net_node);
	spin_unlock_bh(&sn->sk_lock);
}

/**
 * smcr_sock_uncount() - the application has closed it, its connection goes on
 * @ssk: socket
 *
 * Dumps show it until the last reference is put. Context: any. Idempotent.
 */
void smcr_sock_uncount(struct smcr_sock *ssk)
{
	smcr_sock_delist(ssk, false);
}

/**
 * smcr_sock_unlist() - a socket that dumps do not show any more
 * @ssk: socket
 *
 * Context: any. Idempotent.
 */
void smcr_sock_unlist(struct smcr_sock *ssk)
{
	smcr_sock_delist(ssk, true);
}

/* The number that core code and tools expect in sk_state */
static int smcr_mode_state(struct smcr_sock *ssk, enum smcr_mode mode)
{
	switch (mode) {
	case SMCR_MODE_LISTEN:
		return TCP_LISTEN;
	case SMCR_MODE_NEG:
		return ssk->is_client ? TCP_SYN_SENT : TCP_SYN_RECV;
	case SMCR_MODE_SMC:
		/* it may have been aborted the moment it was activated */
		return ssk->sk.sk_shutdown == SHUTDOWN_MASK ? TCP_CLOSE :
							      TCP_ESTABLISHED;
	case SMCR_MODE_TCP:
		return READ_ONCE(ssk->tcp->sk->sk_state);
	default:
		return TCP_CLOSE;
	}
}

/**
 * smcr_sock_set_mode() - the one place that changes a socket's mode
 * @ssk: socket, socket lock held or not yet known to anybody
 * @mode: new mode
 *
 * Wakes everybody who sleeps on the socket. What happened on TCP before the
 * change is the caller's to look at: smcr_tcp_check().
 */
void smcr_sock_set_mode(struct smcr_sock *ssk, enum smcr_mode mode)
{
	struct sock *sk = &ssk->sk;

	trace_smcr_mode(sk, ssk->mode, mode);
	if (mode == SMCR_MODE_SMC)	/* see smcr_set_rcvlowat() */
		sk->sk_rcvlowat = min_t(u32, sk->sk_rcvlowat,
					smcr_conn_max_lowat(&ssk->conn));
	/* conn->lock: the connection writes sk_state, too */
	spin_lock_bh(&ssk->conn.lock);
	WRITE_ONCE(sk->sk_state, smcr_mode_state(ssk, mode));
	WRITE_ONCE(ssk->mode, mode);
	spin_unlock_bh(&ssk->conn.lock);
	smp_mb();	/* mode before the look at TCP; TCP writes, then calls back */
	sk->sk_state_change(sk);
}

static void smcr_reap_work(struct work_struct *work)
{
	struct smcr_reaper *reaper = container_of(work, struct smcr_reaper,
						  work);

	sock_release(reaper->tcp);
	kfree(reaper);
}

/* After the last reference and a grace period; softirq */
static void smcr_sock_destruct(struct sock *sk)
{
	struct smcr_sock *ssk = smcr_sk(sk);
	struct smcr_reaper *reaper = ssk->reaper;

	smcr_sock_unlist(ssk);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
	if (!ssk->tcp) {
		kfree(reaper);
		return;
	}
	smcr_tcp_unhook(ssk);
	reaper->tcp = ssk->tcp;
	queue_work(smcr_wq, &reaper->work);
}

/*
 * Close the inner socket here and now; nobody else may be using it. It has its
 * owner up to the end, so that rules for owners let the FIN through. With a
 * file, sock_release() would leave its memory to that.
 */
static void smcr_tcp_drop(struct smcr_sock *ssk)
{
	struct socket *tcp = ssk->tcp;

	smcr_tcp_unhook(ssk);
	ssk->tcp = NULL;
	READ_ONCE(tcp->ops)->release(tcp);	/* detaches tcp->sk */
	tcp->file = NULL;
	sock_release(tcp);
}

static void smcr_sock_init(struct smcr_sock *ssk, struct smcr_net *sn)
{
	ssk->sn = sn;
	ssk->mode = SMCR_MODE_INIT;
	ssk->pushed_cpu = -1;
	smcr_conn_init(&ssk->conn);
	INIT_WORK(&ssk->hs_work, smcr_hs_work);
	INIT_DELAYED_WORK(&ssk->hs_timer, smcr_hs_timer);
	INIT_WORK(&ssk->accept_work, smcr_accept_work);
	spin_lock_init(&ssk->accept_lock);
	INIT_LIST_HEAD(&ssk->accept_q);
	INIT_LIST_HEAD(&ssk->neg_q);
	INIT_LIST_HEAD(&ssk->accept_node);
}

/* As if the sysctls had been set with SO_RCVBUF and SO_SNDBUF, which double */
static void smcr_sock_init_bufs(struct sock *sk, const struct smcr_net *sn)
{
	int rmem = READ_ONCE(sn->knobs.rmem);
	int wmem = READ_ONCE(sn->knobs.wmem);

	sk->sk_rcvbuf = min(rmem, INT_MAX / 2) * 2;
	sk->sk_sndbuf = min(wmem, INT_MAX / 2) * 2;
}

/**
 * smcr_sock_alloc() - new socket around an inner TCP socket
 * @net: namespace
 * @sock: BSD socket, NULL for a listener's child
 * @tcp: inner socket, owned by the new socket on success
 * @protocol: SMCR_PROTO_V4 or SMCR_PROTO_V6
 * @kern: kernel socket, which does not hold its namespace
 *
 * The inner socket is not hooked yet.
 *
 * Return: mode INIT, listed, one reference; NULL without memory.
 */
struct smcr_sock *smcr_sock_alloc(struct net *net, struct socket *sock,
				  struct socket *tcp, int protocol, int kern)
{
	struct smcr_net *sn = smcr_net(net);
	struct smcr_reaper *reaper;
	struct smcr_sock *ssk;
	struct sock *sk;

	reaper = kzalloc(sizeof(*reaper), GFP_KERNEL);
	if (!reaper)
		return NULL;
	INIT_WORK(&reaper->work, smcr_reap_work);
	sk = sk_alloc(net, AF_SMC, GFP_KERNEL, protocol == SMCR_PROTO_V6 ?
		      &smcr_proto6 : &smcr_proto, kern);
	if (!sk) {
		kfree(reaper);
		return NULL;
	}
	sock_init_data(sock, sk);
	sk->sk_type = SOCK_STREAM;
	sk->sk_protocol = protocol;
	sk->sk_destruct = smcr_sock_destruct;
	sock_set_flag(sk, SOCK_RCU_FREE);
	sock_prot_inuse_add(net, sk->sk_prot, 1);

	ssk = smcr_sk(sk);
	smcr_sock_init(ssk, sn);
	smcr_sock_init_bufs(sk, sn);
	ssk->tcp = tcp;
	ssk->reaper = reaper;
	spin_lock_bh(&sn->sk_lock);
	smcr_ids_add(&sn->socks, &ssk->net_node);
	sn->n_socks++;
	ssk->counted = true;
	spin_unlock_bh(&sn->sk_lock);
	return ssk;
}

static int smcr_create(struct net *net, struct socket *sock, int protocol,
		       int kern)
{
	struct smcr_sock *ssk;
	struct socket *tcp;
	int rc;

	if (!smp_load_acquire(&smcr_af_ready))	/* pairs with smcr_af_init() */
		return -EAFNOSUPPORT;
	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCR_PROTO_V4 && protocol != SMCR_PROTO_V6)
		return -EPROTONOSUPPORT;

	/* as if the application had made it: LSM, cgroup, namespace (SEC-14) */
	rc = __sock_create(net, protocol == SMCR_PROTO_V6 ? AF_INET6 : AF_INET,
			   SOCK_STREAM, IPPROTO_TCP, &tcp, kern);
	if (rc)
		return rc;
	ssk = smcr_sock_alloc(net, sock, tcp, protocol, kern);
	if (!ssk) {
		sock_release(tcp);
		return -ENOBUFS;
	}
	smcr_tcp_own(ssk, sock);
	smcr_tcp_hook(ssk, NULL);
	sock->state = SS_UNCONNECTED;
	sock->ops = &smcr_ops;
	smcr_compat_custom_sockopt(sock);
	return 0;
}

/* What SO_LINGER waits for (CONN-36): everything, our C included, delivered */
static bool smcr_close_is_through(const struct smcr_sock *ssk)
{
	const struct smcr_conn *conn = &ssk->conn;

	return READ_ONCE(conn->fsm.st) == SMCR_CONN_ST_CLOSED ||
	       READ_ONCE(conn->fsm.tx_abort) ||
	       (READ_ONCE(conn->fsm.tx_closed) && !READ_ONCE(conn->tx_owed) &&
		!READ_ONCE(conn->tx_pends));
}

static void smcr_linger(struct smcr_sock *ssk, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &ssk->sk;

	add_wait_queue(sk_sleep(sk), &wait);
	while (timeo && !signal_pending(current)) {
		if (sk_wait_event(sk, &timeo, smcr_close_is_through(ssk),
				  &wait))
			break;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
}

/* Socket lock held; dropped while lingering. The connection goes on alone. */
static void smcr_release_smc(struct smcr_sock *ssk)
{
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;

	sock_owned_by_me(sk);

	spin_lock_bh(&conn->lock);
	sk->sk_shutdown = SHUTDOWN_MASK;
	spin_unlock_bh(&conn->lock);
	if (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime) {
		smcr_conn_event(conn, SMCR_CONN_EV_APP_ABORT,
				SMCR_R_LOCAL_ABORT);
		return;
	}
	if (!test_and_set_bit(SMCR_SK_APP_CLOSED, &ssk->flags))
		smcr_conn_event(conn, SMCR_CONN_EV_APP_CLOSE, SMCR_R_NONE);
	/* a process that exits never lingers */
	if (sock_flag(sk, SOCK_LINGER) && !(current->flags & PF_EXITING))
		smcr_linger(ssk, sk->sk_lingertime);
}

/* The inner socket is closed with the application's linger setting */
static void smcr_release_tcp(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;
	struct sock *sk = &ssk->sk;

	smcr_tcp_settle(ssk);	/* data that nobody has read would reset TCP */
	if (sock_flag(sk, SOCK_LINGER)) {
		lock_sock(tsk);
		sock_set_flag(tsk, SOCK_LINGER);
		WRITE_ONCE(tsk->sk_lingertime, sk->sk_lingertime);
		release_sock(tsk);
	}
	smcr_tcp_drop(ssk);
}

static int smcr_release(struct socket *sock)
{
	struct smcr_sock *ssk;
	struct sock *sk = sock->sk;
	bool own = true;	/* the inner socket is closed here */

	if (!sk)
		return 0;
	ssk = smcr_sk(sk);
	smcr_sock_uncount(ssk);

	lock_sock(sk);
	if (ssk->mode == SMCR_MODE_LISTEN)
		smcr_listener_stop(ssk);
	/* the inner socket is the handshake's, if a worker is at that (CONN-38) */
	if (ssk->mode == SMCR_MODE_NEG)
		own = smcr_hs_stop(ssk);
	if (ssk->mode == SMCR_MODE_SMC) {
		own = false;
		smcr_release_smc(ssk);
	}
	if (own)
		smcr_sock_unlist(ssk);
	else
		smcr_tcp_disown(ssk);
	sock_orphan(sk);
	sock->sk = NULL;
	release_sock(sk);

	if (own) {
		flush_work(&ssk->conn.work);
		smcr_release_tcp(ssk);
	}
	sock_put(sk);
	return 0;
}

static int smcr_bind(struct socket *sock, SMCR_SOCKADDR *addr, int alen)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	int rc;

	lock_sock(sock->sk);
	if (ssk->mode == SMCR_MODE_INIT) {
		smcr_tcp_own(ssk, sock);
		smcr_sockopt_push(ssk);
	}
	/* the checks of the family are TCP's */
	rc = READ_ONCE(ssk->tcp->ops)->bind(ssk->tcp, addr, alen);
	release_sock(sock->sk);
	return rc;
}

#ifdef CONFIG_COMPAT
static int smcr_compat_ioctl(struct socket *sock, unsigned int cmd,
			     unsigned long arg)
{
	struct socket *tcp = smcr_sk(sock->sk)->tcp;
	const struct proto_ops *ops = READ_ONCE(tcp->ops);

	return ops->compat_ioctl ? ops->compat_ioctl(tcp, cmd, arg) :
				   -ENOIOCTLCMD;
}
#endif

SMCR_DEFINE_ACCEPT(smcr_accept, smcr_do_accept)

/* No splice_read, sendpage, read_sock, peek offset: core code's own ways do */
const struct proto_ops smcr_ops = {
	.family		= AF_SMC,
	.owner		= THIS_MODULE,
	.release	= smcr_release,
	.bind		= smcr_bind,
	.connect	= smcr_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= smcr_accept,
	.getname	= smcr_getname,
	.poll		= smcr_poll,
	.ioctl		= smcr_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl	= smcr_compat_ioctl,
#endif
	.gettstamp	= sock_gettstamp,
	.listen		= smcr_listen,
	.shutdown	= smcr_shutdown,
	.setsockopt	= smcr_setsockopt,
	.getsockopt	= smcr_getsockopt,
	.sendmsg	= smcr_sendmsg,
	.recvmsg	= smcr_recvmsg,
	.mmap		= sock_no_mmap,
	.set_rcvlowat	= smcr_set_rcvlowat,
};

struct proto smcr_proto = {
	.name		= "SMC",
	.owner		= THIS_MODULE,
	.keepalive	= smcr_keepalive,
	.release_cb	= smcr_sock_release_cb,
	.obj_size	= sizeof(struct smcr_sock),
};

struct proto smcr_proto6 = {
	.name		= "SMC6",
	.owner		= THIS_MODULE,
	.keepalive	= smcr_keepalive,
	.release_cb	= smcr_sock_release_cb,
	.obj_size	= sizeof(struct smcr_sock),
};

static const struct net_proto_family smcr_family = {
	.family		= AF_SMC,
	.owner		= THIS_MODULE,
	.create		= smcr_create,
};

/**
 * smcr_af_init() - sockets can be made from now on
 *
 * The family comes first: when the in-tree module owns it, that one has protos
 * and slabs of the same names, too.
 *
 * Return: 0, -EEXIST when AF_SMC is taken, or another negative errno.
 */
int smcr_af_init(void)
{
	int rc;

	rc = sock_register(&smcr_family);
	if (rc)
		return rc;
	rc = proto_register(&smcr_proto, 1);
	if (rc)
		goto err_family;
	rc = proto_register(&smcr_proto6, 1);
	if (rc)
		goto err_proto;
	smp_store_release(&smcr_af_ready, true);	/* pairs with smcr_create() */
	return 0;

err_proto:
	proto_unregister(&smcr_proto);
err_family:
	sock_unregister(AF_SMC);
	return rc;
}

/**
 * smcr_af_exit() - no socket can be made any more
 *
 * There are none: each holds the module. What the last ones left behind (RCU
 * callbacks, inner sockets to release) is waited for.
 */
void smcr_af_exit(void)
{
	sock_unregister(AF_SMC);
	rcu_barrier();
	flush_workqueue(smcr_wq);
	proto_unregister(&smcr_proto6);
	proto_unregister(&smcr_proto);
}
