// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls on a socket by mode: send, receive, poll, shutdown, ioctl, addresses.
 * In mode TCP (fallback) calls are forwarded to the inner socket. Calls that may
 * block are forwarded without the socket lock.
 */
#include <linux/sched/signal.h>
#include <linux/sockios.h>
#include <asm/ioctls.h>
#include <net/busy_poll.h>
#include "base/race.h"
#include "hs/hs.h"
#include "sock/sock_impl.h"

static const struct proto_ops *tcp_ops(const struct smcr_sock *ssk)
{
	return READ_ONCE(ssk->tcp->ops);	/* IPV6_ADDRFORM changes them */
}

/*
 * Is the connection over? It may be, although unread data are left. A
 * connection that the peer has closed is half-closed until the application
 * closes it, too.
 */
static bool conn_over(const struct smcr_sock *ssk)
{
	switch (READ_ONCE(ssk->conn.fsm.st)) {
	case SMCR_CONN_ST_CLOSED:
		return READ_ONCE(ssk->sk.sk_state) == TCP_CLOSE;
	case SMCR_CONN_ST_PEER_ABORT_WAIT:
	case SMCR_CONN_ST_PROCESS_ABORT:
		return true;
	default:
		return false;
	}
}

/*
 * Wait for the end of a handshake, before which nothing can be sent or
 * received. Socket lock held; dropped while waiting. Return: 0 if there is no
 * handshake any more, -EAGAIN after @timeo, or the errno of a signal.
 */
static int wait_decided(struct smcr_sock *ssk, long timeo)
{
	sock_owned_by_me(&ssk->sk);

	if (ssk->mode != SMCR_MODE_HANDSHAKE)
		return 0;
	if (!timeo)
		return -EAGAIN;
	timeo = smcr_hs_wait(ssk, timeo);
	if (ssk->mode != SMCR_MODE_HANDSHAKE)
		return 0;
	return signal_pending(current) ? sock_intr_errno(timeo) : -EAGAIN;
}

/*
 * True in mode TCP: the call is forwarded without the socket lock. The call may
 * still wait for TCP's lock when connect(AF_UNSPEC) ends mode TCP. So
 * SMCR_SK_FORWARDED records that there was such a call: this socket offers no
 * SMC-R any more, see connect_check().
 */
static bool tcp_forwards(struct smcr_sock *ssk)
{
	if (READ_ONCE(ssk->mode) != SMCR_MODE_TCP)
		return false;
	if (test_bit(SMCR_SK_FORWARDED, &ssk->flags))
		return true;
	set_bit(SMCR_SK_FORWARDED, &ssk->flags);
	/*
	 * pairs with smcr_sock_set_mode(): either connect_check(), after a
	 * change of the mode, sees the bit, or this thread sees the new mode
	 */
	smp_mb__after_atomic();
	return READ_ONCE(ssk->mode) == SMCR_MODE_TCP;
}

static int smcr_tcp_sendmsg(struct smcr_sock *ssk, struct msghdr *msg,
			    size_t len)
{
	int rc;

	smcr_sockopt_sync(ssk);
	smcr_tcp_err_enter(ssk);
	/*
	 * TCP may find no room. The bit is set before TCP checks: without the
	 * bit the own socket would send no SIGIO when there is room again.
	 */
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, &ssk->sk);
	smcr_race(ssk->sn->net, "tcp-forward");
	rc = tcp_ops(ssk)->sendmsg(ssk->tcp, msg, len);
	smcr_tcp_err_leave(ssk);
	return rc;
}

/* MSG_FASTOPEN connects and sends in one call, over plain TCP (T-14) */
static int sendmsg_fastopen(struct socket *sock, struct msghdr *msg,
			    size_t len)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	int rc;

	lock_sock(sock->sk);
	if (ssk->mode == SMCR_MODE_INIT && sock->state == SS_UNCONNECTED) {
		smcr_tcp_own(ssk, sock);
		smcr_fallback_early(ssk, SMCR_R_FASTOPEN);
	}
	rc = tcp_forwards(ssk) ? 0 : -EISCONN;
	release_sock(sock->sk);
	if (rc)
		return rc;
	rc = smcr_tcp_sendmsg(ssk, msg, len);
	lock_sock(sock->sk);
	if (sock->state != SS_CONNECTED)
		smcr_tcp_state_sync(sock);
	release_sock(sock->sk);
	return rc;
}

/* Check control messages, as tcp_sendmsg() does; SMC-R ignores valid ones */
static int check_cmsg(const struct smcr_sock *ssk, struct msghdr *msg)
{
	struct sock *tsk = ssk->tcp->sk;
	struct sockcm_cookie sockc;

	sockcm_init(&sockc, tsk);
	return sock_cmsg_send(tsk, msg, &sockc) ? -EINVAL : 0;
}

static int smc_sendmsg(struct smcr_sock *ssk, struct msghdr *msg,
		       size_t len)
{
	struct sock *sk = &ssk->sk;

	if (unlikely(msg->msg_controllen) && check_cmsg(ssk, msg))
		return -EINVAL;
	if (READ_ONCE(sk->sk_err) ||
	    (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN))
		return -EPIPE;
	return smcr_tx_sendmsg(ssk, msg, len);
}

/**
 * smcr_sendmsg() - proto_ops.sendmsg
 * @sock: socket
 * @msg: message
 * @len: bytes
 *
 * Return: as on TCP: bytes, or -EPIPE with SIGPIPE, or another errno.
 */
int smcr_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct smcr_sock *ssk = smcr_sk(sk);
	int rc;

	if (unlikely(msg->msg_flags & MSG_FASTOPEN))
		return sendmsg_fastopen(sock, msg, len);
	if (tcp_forwards(ssk))
		return smcr_tcp_sendmsg(ssk, msg, len);

	lock_sock(sk);
	rc = wait_decided(ssk, sock_sndtimeo(sk, msg->msg_flags &
						      MSG_DONTWAIT));
	if (rc)
		goto out;
	switch (ssk->mode) {
	case SMCR_MODE_SMC:
		rc = smc_sendmsg(ssk, msg, len);
		break;
	case SMCR_MODE_TCP:
		tcp_forwards(ssk);
		release_sock(sk);
		return smcr_tcp_sendmsg(ssk, msg, len);
	default:		/* sk_stream_error() prefers sk_err */
		rc = -EPIPE;
		break;
	}
	if (rc < 0)
		rc = sk_stream_error(sk, msg->msg_flags, rc);
out:
	release_sock(sk);
	return rc;
}

static int smcr_tcp_recvmsg(struct smcr_sock *ssk, struct msghdr *msg,
			    size_t len, int flags)
{
	int rc;

	smcr_sockopt_sync(ssk);
	smcr_tcp_err_enter(ssk);
	smcr_tcp_settle(ssk);
	rc = tcp_ops(ssk)->recvmsg(ssk->tcp, msg, len, flags);
	smcr_tcp_err_leave(ssk);
	return rc;
}

/* recvmsg() without a connection: the order of the checks is tcp_recvmsg()'s */
static int recv_closed(struct sock *sk)
{
	if (sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	if (sk->sk_err)
		return sock_error(sk);
	return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

/**
 * smcr_splice_eof() - proto_ops.splice_eof
 * @sock: socket
 *
 * The source of sendfile() or splice() ended before the requested count. The
 * last data were sent with MSG_MORE, and are held back: send them now.
 */
void smcr_splice_eof(struct socket *sock)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);

	switch (READ_ONCE(ssk->mode)) {
	case SMCR_MODE_TCP:
		smcr_compat_splice_eof(ssk->tcp);
		break;
	case SMCR_MODE_SMC:
		smcr_tx_end_more(&ssk->conn);
		break;
	default:
		break;
	}
}

/**
 * smcr_recvmsg() - proto_ops.recvmsg
 * @sock: socket
 * @msg: message
 * @len: bytes wanted
 * @flags: MSG_*
 *
 * Return: as on TCP: bytes, 0 at the end of data, or a negative errno.
 */
int smcr_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		 int flags)
{
	struct sock *sk = sock->sk;
	struct smcr_sock *ssk = smcr_sk(sk);
	int rc;

	if (tcp_forwards(ssk))
		return smcr_tcp_recvmsg(ssk, msg, len, flags);
	if (flags & MSG_ERRQUEUE)	/* that queue is always empty */
		return -EAGAIN;

	lock_sock(sk);
	/* MSG_OOB does not wait for the end of the handshake */
	rc = ssk->mode == SMCR_MODE_HANDSHAKE && (flags & MSG_OOB) ? -EINVAL :
	     wait_decided(ssk, sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
	if (rc)
		goto out;
	switch (ssk->mode) {
	case SMCR_MODE_SMC:
		rc = flags & MSG_OOB ?
		     smcr_rx_recv_urg(ssk, msg, len, flags) :
		     smcr_rx_recvmsg(ssk, msg, len, flags);
		break;
	case SMCR_MODE_TCP:
		tcp_forwards(ssk);
		release_sock(sk);
		return smcr_tcp_recvmsg(ssk, msg, len, flags);
	default:
		rc = (flags & MSG_OOB) && sk->sk_state != TCP_LISTEN ?
		     -EINVAL : recv_closed(sk);
		break;
	}
out:
	release_sock(sk);
	return rc;
}

/*
 * True if the next send would fail at once, or allocate the send buffer. In all
 * other cases less than half of TCP_NOTSENT_LOWAT must be unsent, as on TCP. One
 * more condition must hold: a third of the send buffer is free, or the next send
 * can enlarge the buffer, or a sixteenth is free and no thread waits for room
 * (NOSPACE). If a sixteenth were never enough, a program that polls before each
 * send would sleep until a third is free.
 */
static bool is_writable(const struct smcr_sock *ssk)
{
	const struct smcr_conn *conn = &ssk->conn;
	u32 room;

	if (READ_ONCE(ssk->mode) != SMCR_MODE_SMC || !READ_ONCE(conn->snd.buf) ||
	    !smcr_close_may_send(&conn->fsm))
		return true;
	if (!smcr_tx_sparse(conn))
		return false;
	room = smcr_conn_wspace(conn);
	return room >= READ_ONCE(conn->snd.size) / 3 || smcr_conn_may_grow(conn) ||
	       (room >= READ_ONCE(conn->snd.size) / 16 &&
		!test_bit(SMCR_SK_NOSPACE, &ssk->flags));
}

static __poll_t poll_out(struct smcr_sock *ssk, u8 shutdown)
{
	struct sock *sk = &ssk->sk;

	if ((shutdown & SEND_SHUTDOWN) || is_writable(ssk))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SMCR_SK_NOSPACE, &ssk->flags);
	/*
	 * The bit is set before room is checked. Pairs with smcr_tx_space(),
	 * which reads the bit after room was made. Without the barrier poll()
	 * could miss the room and get no wake-up.
	 */
	smp_mb__after_atomic();
	return is_writable(ssk) ? EPOLLOUT | EPOLLWRNORM : 0;
}

/* Modes INIT, SMC, DEAD: the same result as from tcp_poll() */
static __poll_t poll_own(struct smcr_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	u8 shutdown = READ_ONCE(sk->sk_shutdown);
	__poll_t mask = 0;

	if (shutdown == SHUTDOWN_MASK || READ_ONCE(sk->sk_state) == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (READ_ONCE(ssk->mode) == SMCR_MODE_SMC)
		mask |= smcr_rx_poll(ssk);
	mask |= poll_out(ssk, shutdown);
	/*
	 * sk_err is read after shutdown and state. Pairs with conn_act(): without the barriers
	 * poll() may report the end without the error.
	 */
	smp_rmb();
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	return mask;
}

static __poll_t poll_tcp(struct file *file, struct smcr_sock *ssk)
{
	__poll_t mask;

	smcr_tcp_err_enter(ssk);
	smcr_tcp_settle(ssk);
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, &ssk->sk);
	/*
	 * There is no poll table, as waiters are on the own socket. TCP sets
	 * SOCK_NOSPACE without a poll table, too.
	 */
	mask = tcp_ops(ssk)->poll(file, ssk->tcp, NULL);
	if (READ_ONCE(ssk->sk.sk_err))
		mask |= EPOLLERR;
	return mask;
}

/**
 * smcr_poll() - proto_ops.poll
 * @file: file
 * @sock: socket
 * @wait: poll table
 *
 * In all modes waiters are on this socket and not on the inner one, as epoll
 * registers once, before the mode is decided.
 *
 * Return: as tcp_poll(); nothing while a handshake runs (CLC-01).
 */
__poll_t smcr_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);

	sock_poll_wait(file, sock, wait);
	switch (READ_ONCE(ssk->mode)) {
	case SMCR_MODE_HANDSHAKE:
		return 0;
	case SMCR_MODE_LISTEN:
		/* TCP was stopped from outside (ss -K): report its state */
		if (READ_ONCE(ssk->tcp->sk->sk_state) != TCP_LISTEN)
			return poll_tcp(file, ssk);
		return list_empty(&ssk->accept_q) ?
			0 : EPOLLIN | EPOLLRDNORM;
	case SMCR_MODE_TCP:
		return poll_tcp(file, ssk);
	default:
		return poll_own(ssk);
	}
}

/* Mode SMC; socket lock held. shutdown(RD) sends nothing (CONN-04). */
static int shutdown_smc(struct smcr_sock *ssk, int how)
{
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;
	bool over;

	sock_owned_by_me(sk);

	/* conn->lock: the connection sets bits of sk_shutdown, too */
	spin_lock_bh(&conn->lock);
	over = conn_over(ssk) ||
	       (conn->fsm.tx_done && (conn->fsm.rx_done || conn->fsm.rx_closed));
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	spin_unlock_bh(&conn->lock);

	if (how == SHUTDOWN_MASK) {
		if (!test_and_set_bit(SMCR_SK_APP_CLOSED, &ssk->flags))
			smcr_conn_event(conn, SMCR_CONN_EV_APP_CLOSE,
					SMCR_R_NONE);
	} else if (how & SEND_SHUTDOWN) {
		smcr_conn_event(conn, SMCR_CONN_EV_APP_SHUT_WR, SMCR_R_NONE);
	}
	return over ? -ENOTCONN : 0;
}

/* shutdown() has aborted a handshake: disconnect, as TCP does in SYN-SENT */
static int shutdown_undo(struct socket *sock)
{
	if (smcr_sock_reset(smcr_sk(sock->sk)))
		sock->state = SS_UNCONNECTED;
	return 0;
}

static int shutdown_listen(struct socket *sock, int how)
{
	if (how & RCV_SHUTDOWN)
		smcr_listener_undo(sock);
	return 0;
}

static int shutdown_tcp(struct socket *sock, int how)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);
	int rc;

	rc = tcp_ops(ssk)->shutdown(ssk->tcp, how - 1);
	if (sock->state != SS_CONNECTED)
		smcr_tcp_state_sync(sock);
	return rc;
}

static int shutdown_locked(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct smcr_sock *ssk = smcr_sk(sk);

	if (ssk->mode == SMCR_MODE_HANDSHAKE) {
		int rc = smcr_hs_abort(ssk);

		if (rc)
			return rc;
		if (ssk->mode == SMCR_MODE_DEAD)
			return shutdown_undo(sock);
	}
	switch (ssk->mode) {
	case SMCR_MODE_SMC:
		return shutdown_smc(ssk, how);
	case SMCR_MODE_TCP:
		return shutdown_tcp(sock, how);
	case SMCR_MODE_LISTEN:
		return shutdown_listen(sock, how);
	default:
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
		return -ENOTCONN;
	}
}

/**
 * smcr_shutdown() - proto_ops.shutdown
 * @sock: socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * Return: as inet_shutdown().
 */
int smcr_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	int rc;

	how++;		/* SHUT_* to *_SHUTDOWN */
	if ((how & ~SHUTDOWN_MASK) || !how)
		return -EINVAL;
	lock_sock(sk);
	rc = shutdown_locked(sock, how);
	sk->sk_state_change(sk);	/* wakes poll() */
	release_sock(sk);
	return rc;
}

/* SIOCINQ, SIOCOUTQ, SIOCOUTQNSD and SIOCATMARK; 0 unless in mode SMC */
static int ioctl_value(struct smcr_sock *ssk, unsigned int cmd)
{
	struct smcr_conn *conn = &ssk->conn;
	u64 n;

	if (READ_ONCE(ssk->mode) != SMCR_MODE_SMC)
		return 0;
	switch (cmd) {
	case SIOCINQ:
		n = smcr_rx_inq(ssk);
		break;
	case SIOCOUTQ:		/* not yet acknowledged by the peer's adapter */
		n = READ_ONCE(conn->tx.queued) - READ_ONCE(conn->tx.done);
		if (n) {	/* programs wait for 0: get a completion soon */
			spin_lock_bh(&conn->lock);
			smcr_tx_flush(conn);
			spin_unlock_bh(&conn->lock);
		}
		break;
	case SIOCOUTQNSD:
		n = smcr_conn_unsent(conn);
		break;
	default:		/* SIOCATMARK */
		return smcr_rx_at_mark(conn);
	}
	/*
	 * n is the difference of two positions, which are read without the
	 * lock. Between the two reads, the subtracted position may advance
	 * beyond the value read of the other one. Then n has wrapped.
	 */
	return n <= INT_MAX ? n : 0;
}

/**
 * smcr_ioctl() - proto_ops.ioctl
 * @sock: socket
 * @cmd: command
 * @arg: its argument
 *
 * Return: 0 or a negative errno, as on TCP.
 */
int smcr_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);

	if (READ_ONCE(ssk->mode) == SMCR_MODE_TCP) {
		smcr_tcp_settle(ssk);
		return tcp_ops(ssk)->ioctl(ssk->tcp, cmd, arg);
	}
	switch (cmd) {
	case SIOCINQ:
	case SIOCOUTQ:
	case SIOCOUTQNSD:
		if (READ_ONCE(ssk->mode) == SMCR_MODE_LISTEN)
			return -EINVAL;
		fallthrough;
	case SIOCATMARK:
		return put_user(ioctl_value(ssk, cmd),
				(int __user *)arg);
	default:
		return tcp_ops(ssk)->ioctl(ssk->tcp, cmd, arg);
	}
}

/**
 * smcr_getname() - proto_ops.getname
 * @sock: socket
 * @addr: result
 * @peer: 0: own address; 1: the peer's; 2: the peer's, connected or not
 *
 * Returns TCP's addresses (MISC-02). Programs call getpeername() in order to
 * check whether connect() has succeeded, so it fails during a handshake.
 *
 * Return: length of the address or a negative errno.
 */
int smcr_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);

	if (peer == 1 && READ_ONCE(ssk->mode) == SMCR_MODE_HANDSHAKE)
		return -ENOTCONN;
	return tcp_ops(ssk)->getname(ssk->tcp, addr, peer);
}
