// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address family AF_SMC: socket(), close(), and the table of operations.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include "hs/hs.h"
#include "sock/sock_impl.h"

static const struct proto_ops smcr_ops;
static struct proto smcr_proto, smcr_proto6;

/* Set when the protos are registered; see smcr_af_init() */
static bool smcr_af_ready;

/*
 * Close the inner socket, which no other thread may be using. It keeps its file
 * and user until TCP has released it, so that packet filters that match these
 * let the FIN through. tcp->file is cleared before sock_release(), which does
 * not free the memory of a socket that has a file.
 */
static void tcp_drop(struct smcr_sock *ssk)
{
	struct socket *tcp = ssk->tcp;

	smcr_tcp_unhook(ssk);
	ssk->tcp = NULL;
	READ_ONCE(tcp->ops)->release(tcp);	/* detaches tcp->sk */
	tcp->file = NULL;
	sock_release(tcp);
}

static int smcr_create(struct net *net, struct socket *sock, int protocol,
		       int kern)
{
	struct smcr_sock *ssk;
	struct socket *tcp;
	int rc;

	/* pairs with smcr_af_init(): no socket is created before the protos are registered */
	if (!smp_load_acquire(&smcr_af_ready))
		return -EAFNOSUPPORT;
	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCR_PROTO_V4 && protocol != SMCR_PROTO_V6)
		return -EPROTONOSUPPORT;

	/*
	 * LSM label, cgroup and namespace of the inner socket are those of the
	 * application (SEC-14)
	 */
	rc = __sock_create(net, protocol == SMCR_PROTO_V6 ? AF_INET6 : AF_INET,
			   SOCK_STREAM, IPPROTO_TCP, &tcp, kern);
	if (rc)
		return rc;
	ssk = smcr_sock_alloc(net, sock, tcp, protocol == SMCR_PROTO_V6 ?
			      &smcr_proto6 : &smcr_proto, protocol, kern);
	if (!ssk) {
		sock_release(tcp);
		return -ENOBUFS;
	}
	INIT_WORK(&ssk->accept_work, smcr_accept_work);
	smcr_tcp_own(ssk, sock);
	smcr_tcp_hook(ssk, NULL);
	sock->state = SS_UNCONNECTED;
	sock->ops = &smcr_ops;
	smcr_compat_custom_sockopt(sock);
	return 0;
}

/*
 * May SO_LINGER's wait end (CONN-36)? It may if the connection has ended or is
 * aborted, or if all data and our CDC with C (connection closed) are delivered.
 */
static bool close_is_through(struct smcr_sock *ssk)
{
	struct smcr_conn *conn = &ssk->conn;
	bool through;

	spin_lock_bh(&conn->lock);
	through = conn->fsm.st == SMCR_CONN_ST_CLOSED || conn->fsm.tx_abort ||
		  (conn->fsm.tx_closed && !smcr_tx_outstanding(conn));
	spin_unlock_bh(&conn->lock);
	return through;
}

static void smcr_linger(struct smcr_sock *ssk, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &ssk->sk;

	add_wait_queue(sk_sleep(sk), &wait);
	while (timeo && !signal_pending(current)) {
		if (sk_wait_event(sk, &timeo, close_is_through(ssk),
				  &wait))
			break;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
}

/*
 * close() in mode SMC. Socket lock held; dropped while lingering. The close
 * machine (core/close.c) ends the connection, perhaps after close() has
 * returned.
 */
static void release_smc(struct smcr_sock *ssk)
{
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;

	sock_owned_by_me(sk);

	spin_lock_bh(&conn->lock);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	spin_unlock_bh(&conn->lock);
	if (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime) {
		smcr_conn_event(conn, SMCR_CONN_EV_APP_ABORT,
				SMCR_R_LOCAL_ABORT);
		return;
	}
	if (!test_and_set_bit(SMCR_SK_APP_CLOSED, &ssk->flags))
		smcr_conn_event(conn, SMCR_CONN_EV_APP_CLOSE, SMCR_R_NONE);
	/* a process that exits never lingers, as in inet_release() */
	if (sock_flag(sk, SOCK_LINGER) && !(current->flags & PF_EXITING))
		smcr_linger(ssk, sk->sk_lingertime);
}

/* Close the inner socket, with the application's linger setting */
static void release_tcp(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;
	struct sock *sk = &ssk->sk;

	smcr_tcp_settle(ssk);	/* an unread Decline would make TCP send RST */
	if (sock_flag(sk, SOCK_LINGER)) {
		lock_sock(tsk);
		sock_set_flag(tsk, SOCK_LINGER);
		WRITE_ONCE(tsk->sk_lingertime, sk->sk_lingertime);
		release_sock(tsk);
	}
	tcp_drop(ssk);
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
	/*
	 * a handshake that a worker runs still uses the inner socket (CONN-38)
	 */
	if (ssk->mode == SMCR_MODE_HANDSHAKE)
		own = smcr_hs_stop(ssk);
	if (ssk->mode == SMCR_MODE_SMC) {
		own = false;
		release_smc(ssk);
	}
	if (own)
		smcr_sock_unlist(ssk);
	else
		smcr_tcp_disown(ssk);
	sock_orphan(sk);
	if (ssk->mode == SMCR_MODE_SMC)
		smcr_conn_orphan(&ssk->conn);
	sock->sk = NULL;
	release_sock(sk);

	if (own) {
		flush_work(&ssk->conn.end.work);
		release_tcp(ssk);
	}
	smcr_sock_put(ssk);
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
	/* TCP checks the address family */
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

/*
 * Without splice_read, sendpage, read_sock and set_peek_off core code uses
 * recvmsg and sendmsg instead, or refuses the call.
 */
static const struct proto_ops smcr_ops = {
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
#if SMCR_SPLICE_EOF
	.splice_eof	= smcr_splice_eof,
#endif
};

/*
 * proto.release_cb: queue the work items that found the socket lock taken
 * (smcr_sock_trylock()). The spin lock of the socket lock is held.
 */
static void sock_release_cb(struct sock *sk)
{
	struct smcr_sock *ssk = smcr_sk(sk);

	lockdep_assert_held(&sk->sk_lock.slock);

	if (test_and_clear_bit(SMCR_SK_CONN_WORK, &ssk->flags))
		smcr_conn_queue_work(&ssk->conn);
	if (test_and_clear_bit(SMCR_SK_HS_WORK, &ssk->flags))
		smcr_hs_kick(ssk);
	if (test_and_clear_bit(SMCR_SK_ACCEPT_WORK, &ssk->flags))
		smcr_listener_kick(ssk);
}

static struct proto smcr_proto = {
	.name		= "SMC",
	.owner		= THIS_MODULE,
	.keepalive	= smcr_keepalive,
	.release_cb	= sock_release_cb,
	.obj_size	= sizeof(struct smcr_sock),
};

static struct proto smcr_proto6 = {
	.name		= "SMC6",
	.owner		= THIS_MODULE,
	.keepalive	= smcr_keepalive,
	.release_cb	= sock_release_cb,
	.obj_size	= sizeof(struct smcr_sock),
};

static const struct net_proto_family smcr_family = {
	.family		= AF_SMC,
	.owner		= THIS_MODULE,
	.create		= smcr_create,
};

/**
 * smcr_af_init() - register the address family and its protos
 *
 * The family is registered first, which fails with -EEXIST if the in-tree
 * module owns it. In that case no protos and slabs may be created, as those of
 * that module have the same names.
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
	/* the protos are written before the flag; pairs with smcr_create() */
	smp_store_release(&smcr_af_ready, true);
	return 0;

err_proto:
	proto_unregister(&smcr_proto);
err_family:
	sock_unregister(AF_SMC);
	return rc;
}

/**
 * smcr_af_exit() - unregister the address family and its protos
 *
 * No socket exists, as each holds a reference on the module. Waits until the
 * RCU callbacks of the last sockets have run, and their inner sockets are
 * released.
 *
 * Context: process, sleeps.
 */
void smcr_af_exit(void)
{
	sock_unregister(AF_SMC);
	rcu_barrier();
	flush_workqueue(smcr_wq);
	proto_unregister(&smcr_proto6);
	proto_unregister(&smcr_proto);
}
