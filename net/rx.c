// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receiving: from the element, where the peer wrote, to the application, and
 * the window updates that follow (RFC 7609 4.5.1, 4.7).
 */
#include <linux/sched/signal.h>
#include <net/tcp.h>
#include "conn.h"
#include "sock.h"
#include "trace.h"

/**
 * smcr_rx_window() - tell the peer what was consumed, if it is due
 * @conn: connection, conn->lock held
 */
void smcr_rx_window(struct smcr_conn *conn)
{
	struct smcr_rx_window win = {
		.cap = smcr_ring_cap(&conn->rx_ring),
		.prod_abs = conn->rx_prod.abs,
		.cons_abs = conn->rx_cons.abs,
		.told_abs = conn->rx_told,
		.peer_blocked = conn->peer_blocked,
		.peer_asks = conn->peer_asks,
	};

	lockdep_assert_held(&conn->lock);

	if (!smcr_rx_update_due(&win))
		return;
	conn->tx_ctrl = true;
	smcr_tx_push(conn);
}

/*
 * Copy @len readable bytes that start @skip bytes behind the consumer. The
 * window keeps the peer from writing there; a peer that does all the same
 * only spoils its own data.
 */
static int smcr_rx_copy(struct smcr_conn *conn, struct msghdr *msg, u32 skip,
			u32 len)
{
	u32 cap = smcr_ring_cap(&conn->rx_ring);
	u32 off = conn->rx_cons.off + skip;
	u32 done = 0, run, at;

	if (off >= cap)
		off -= cap;
	while (done < len) {
		u32 n = min(len - done, cap - off);
		const void *src;
		size_t got;

		at = conn->elem.off + conn->rx_ring.base + off;
		src = smcr_buf_at(conn->elem.rmb->buf, at, n, &run);
		smcr_buf_sync_cpu(conn->elem.rmb->buf, at, run);
		got = copy_to_iter(src, run, &msg->msg_iter);
		done += got;
		if (got < run)
			return done ? done : -EFAULT;
		off += run;
		if (off == cap)
			off = 0;
	}
	return done;
}

static void smcr_rx_consume(struct smcr_conn *conn, u32 n)
{
	spin_lock_bh(&conn->lock);
	if (!conn->purged && conn->lgr) {
		smcr_pos_add(&conn->rx_ring, &conn->rx_cons, n);
		smcr_rx_window(conn);
	}
	spin_unlock_bh(&conn->lock);
}

/* The peer ended in good order; nothing before the end was lost */
static bool smcr_rx_ended(const struct smcr_conn *conn)
{
	if (!READ_ONCE(conn->fsm.rx_done) && !READ_ONCE(conn->fsm.rx_closed))
		return false;
	smp_rmb();	/* an abort that loses data may follow the end */
	return !READ_ONCE(conn->rx_lost);
}

/*
 * Nothing was to be read: 1 wait, 0 end of data, or the error. As
 * tcp_recvmsg(), but for the lock: data may have come meanwhile.
 */
static int smcr_rx_idle(struct smcr_sock *ssk, size_t copied, long timeo)
{
	struct sock *sk = &ssk->sk;

	if (copied) {
		if (sk->sk_err || sk->sk_state == TCP_CLOSE ||
		    (sk->sk_shutdown & RCV_SHUTDOWN) || !timeo ||
		    signal_pending(current))
			return 0;
		return 1;
	}
	if (smcr_rx_ended(&ssk->conn))	/* before any error */
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN || sk->sk_state == TCP_CLOSE)
		return 0;
	if (!timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(timeo);
	return 1;
}

static void smcr_rx_wait(struct smcr_sock *ssk, long *timeo, u64 more_than)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &ssk->sk;

	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sk_wait_event(sk, timeo,
		      smcr_conn_readable(&ssk->conn) > more_than ||
		      READ_ONCE(sk->sk_err) ||
		      (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
		      READ_ONCE(sk->sk_state) == TCP_CLOSE, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
}

/* TCP_INQ: how much is left, as tcp_recvmsg() tells */
static void smcr_rx_inq(struct smcr_sock *ssk, struct msghdr *msg)
{
	int inq = min_t(u64, smcr_conn_readable(&ssk->conn), INT_MAX);

	if (tcp_sk(ssk->tcp->sk)->recvmsg_inq)
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(inq), &inq);
}

/**
 * smcr_rx_recvmsg() - hand data to the application
 * @ssk: socket in mode SMC, socket lock held
 * @msg: message
 * @len: bytes wanted
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_DONTWAIT, MSG_TRUNC as on TCP
 *
 * Return: bytes, 0 at the end of data, or a negative errno.
 */
int smcr_rx_recvmsg(struct smcr_sock *ssk, struct msghdr *msg, size_t len,
		    int flags)
{
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;
	size_t copied = 0, target;
	long timeo;
	int n, rc = 0;

	target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	while (copied < len) {
		u32 skip = flags & MSG_PEEK ? copied : 0;
		u64 avail = smcr_conn_readable(conn);

		if (avail > skip) {
			n = min_t(u64, avail - skip, len - copied);
			if (!(flags & MSG_TRUNC))
				n = smcr_rx_copy(conn, msg, skip, n);
			if (n < 0) {
				rc = n;
				break;
			}
			copied += n;
			if (!(flags & MSG_PEEK))
				smcr_rx_consume(conn, n);
			continue;
		}
		if (copied >= target)
			break;
		rc = smcr_rx_idle(ssk, copied, timeo);
		/* the end may have come just now, and data before it */
		if (!rc && smcr_conn_readable(conn) > skip)
			continue;
		if (rc <= 0)
			break;
		smcr_rx_wait(ssk, &timeo, skip);
	}
	if (!copied && rc < 0)
		return rc;
	smcr_rx_inq(ssk, msg);
	return copied;
}
