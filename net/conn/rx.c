// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive path: from the own element to the application, and the window updates that
 * follow (RFC 7609 4.5.1, 4.7).
 */
#include <linux/sched/signal.h>
#include <net/tcp.h>
#include "base/netns.h"
#include "base/race.h"
#include "conn/conn.h"
#include "conn/smcr_sock.h"

/*
 * Copy @len readable bytes that start @skip bytes after the consumer position. Returns
 * bytes copied, 0 if they were purged meanwhile, or -EFAULT. The copy takes no lock, as
 * these bytes are outside of the window that the peer may write to. If the peer writes there
 * against the rules, it only spoils its own data.
 */
static int rx_copy(struct smcr_conn *conn, struct msghdr *msg, u32 skip,
		   u32 len)
{
	u32 begin = conn->own.elem.off + conn->rx.ring.base;
	u32 cap = smcr_ring_cap(&conn->rx.ring);
	u32 off = READ_ONCE(conn->rx.cons.off) + skip;
	const struct smcr_buf *buf = conn->own.buf;
	u32 done = 0, run, at;

	/*
	 * cons is read before purged. Pairs with smcr_conn_purge_rx(), which sets purged,
	 * then cons to the end of the data: without the barriers the copy could begin at
	 * that end
	 */
	smp_rmb();
	if (READ_ONCE(conn->rx.purged))
		return 0;
	smcr_race(smcr_conn_sock(conn)->sn->net, "rx-copy");
	if (off >= cap)
		off %= cap;
	while (done < len) {
		u32 n = min(len - done, cap - off);
		const void *src;
		size_t got;

		at = begin + off;
		src = smcr_buf_at(buf, at, n, &run);
		got = smcr_buf_copy_out(src, run, &msg->msg_iter);
		done += got;
		if (got < run)
			break;
		off += run;
		if (off == cap)
			off = 0;
	}
	/*
	 * The bytes are read before purged. Pairs with smcr_conn_purge_rx(), after which
	 * the peer may overwrite them: without the barriers newer bytes could be returned.
	 */
	smp_rmb();
	if (READ_ONCE(conn->rx.purged))
		return 0;
	return done || !len ? done : -EFAULT;
}

/**
 * smcr_rx_settle() - update rx.ackable after the reader or the mark has moved
 * @conn: connection, conn->lock held
 *
 * If the reader is at the mark, the urgent byte is announced to the peer as consumed,
 * except with SO_OOBINLINE.
 */
void smcr_rx_settle(struct smcr_conn *conn)
{
	bool inlined = sock_flag(&smcr_conn_sock(conn)->sk, SOCK_URGINLINE);

	lockdep_assert_held(&conn->lock);

	if (conn->rx.ackable.abs < conn->rx.cons.abs)
		smcr_pos_set(&conn->rx.ackable, &conn->rx.cons);
	if (unlikely(smcr_urg_rx_settle(&conn->rx.urg, conn->rx.cons.abs,
					conn->rx.ackable.abs, inlined)))
		smcr_pos_add(&conn->rx.ring, &conn->rx.ackable, 1);
}

/**
 * smcr_rx_peer_closed() - set the time of the next window update after the peer's C
 * @conn: connection, conn->lock held
 *
 * When the peer has sent C, and our consumer cursor does not move until the peer's
 * T_CLOSE expires, the peer aborts the connection (CONN-21). So while data are
 * unread, an update is due from time to time. The peer's T_CLOSE is not known: the
 * interval is short enough for our own value and the usual values.
 */
void smcr_rx_peer_closed(struct smcr_conn *conn)
{
	int t_close = READ_ONCE(smcr_conn_sock(conn)->sn->knobs.t_close);

	lockdep_assert_held(&conn->lock);
	conn->rx.update_at = jiffies + msecs_to_jiffies(min(t_close / 4, 1000));
}

/*
 * Is an update due to a peer that has sent C and waits? The window rules demand no
 * update, as the peer writes nothing more. When the application has read the last
 * byte, no update is due either: the application finds the end of the data, and our
 * own C follows when the application closes.
 */
static bool rx_closer_waits(struct smcr_conn *conn)
{
	if (likely(!conn->fsm.rx_closed) || !smcr_conn_readable(conn) ||
	    conn->rx.ackable.abs == conn->rx.acked ||
	    time_before(jiffies, conn->rx.update_at))
		return false;
	smcr_rx_peer_closed(conn);
	return true;
}

/**
 * smcr_rx_asked() - does the peer wait for the consumer cursor, whatever its window is?
 * @conn: connection, conn->lock held
 */
bool smcr_rx_asked(const struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	return conn->rx.asks ||
	       smcr_urg_rx_owed(&conn->rx.urg, conn->rx.acked,
				conn->rx.ackable.abs);
}

/**
 * smcr_rx_window() - send a window update if one is due
 * @conn: connection, conn->lock held
 */
void smcr_rx_window(struct smcr_conn *conn)
{
	struct smcr_rx_window win = {
		.cap = smcr_ring_cap(&conn->rx.ring),
		.prod_abs = conn->rx.prod.abs,
		.cons_abs = conn->rx.ackable.abs,
		.announced_abs = conn->rx.acked,
		.peer_blocked = conn->rx.blocked,
		.peer_asks = smcr_rx_asked(conn),
	};

	lockdep_assert_held(&conn->lock);

	if (!smcr_rx_update_due(&win) && !rx_closer_waits(conn))
		return;
	conn->tx.ctrl = true;
	smcr_tx_push(conn);
}

static void rx_consume(struct smcr_conn *conn, u32 n)
{
	spin_lock_bh(&conn->lock);
	if (!conn->rx.purged) {
		smcr_pos_add(&conn->rx.ring, &conn->rx.cons, n);
		smcr_rx_settle(conn);
		smcr_rx_window(conn);
	}
	spin_unlock_bh(&conn->lock);
}

/*
 * As rx_consume(), but up to position @to. smcr_pos_add() can add at most one ring, and
 * there may be one byte more to skip: an urgent byte at the mark is announced to the peer as
 * consumed before the reader skips it, so the peer may write a further byte.
 */
static void rx_jump(struct smcr_conn *conn, const struct smcr_pos *to)
{
	spin_lock_bh(&conn->lock);
	if (!conn->rx.purged) {
		smcr_pos_set(&conn->rx.cons, to);
		smcr_rx_settle(conn);
		smcr_rx_window(conn);
	}
	spin_unlock_bh(&conn->lock);
}

/* Bytes up to the next mark, for a read or peek @skip bytes after the consumer position */
static u64 rx_run(struct smcr_conn *conn, u64 skip)
{
	u64 run;

	if (!smcr_conn_urgent(conn))
		return U64_MAX;
	spin_lock_bh(&conn->lock);
	run = smcr_urg_rx_run(&conn->rx.urg, conn->rx.cons.abs + skip,
			      conn->rx.ackable.abs);
	spin_unlock_bh(&conn->lock);
	return run;
}

/*
 * Skip the urgent bytes at the position of a read or peek, where rx_run() is 0.
 * tcp_recvmsg() does so, too, if it has copied nothing yet. Only with SO_OOBINLINE an urgent
 * byte is in the stream. It is copied from urg->byte, as the peer may have overwritten its
 * place. @hole: bytes that a peek has skipped. Returns bytes put into @msg, or -EFAULT.
 */
static int rx_pass(struct smcr_conn *conn, struct msghdr *msg, int flags,
		   u32 *hole)
{
	bool inlined = sock_flag(&smcr_conn_sock(conn)->sk, SOCK_URGINLINE);
	struct smcr_urg_rx *urg = &conn->rx.urg;
	struct smcr_pos end;
	u64 pos;
	u8 byte;

	spin_lock_bh(&conn->lock);
	/*
	 * If SO_OOBINLINE was switched off, announce the urgent byte as consumed now. Before
	 * the announcement, the peer writes nothing behind this byte. Without it, a peek would
	 * wait for ever.
	 */
	smcr_rx_settle(conn);
	smcr_rx_window(conn);
	pos = conn->rx.cons.abs + *hole;
	end = conn->rx.ackable;
	if (smcr_urg_rx_run(urg, pos, end.abs)) {	/* data were purged just now */
		spin_unlock_bh(&conn->lock);
		return 0;
	}
	if (end.abs <= pos)
		smcr_pos_add(&conn->rx.ring, &end, 1);
	byte = urg->byte;
	inlined = inlined && smcr_urg_rx_marked(urg) &&
		  urg->mark + 1 == end.abs;
	spin_unlock_bh(&conn->lock);

	if (inlined && !(flags & MSG_TRUNC) &&
	    copy_to_iter(&byte, 1, &msg->msg_iter) != 1)
		return -EFAULT;
	if (flags & MSG_PEEK)
		*hole += (u32)(end.abs - pos) - inlined;
	else
		rx_jump(conn, &end);
	return inlined;
}

/* Has the peer ended in order, with D or C, and were no data before that lost? */
static bool rx_ended(const struct smcr_conn *conn)
{
	return (conn->fsm.rx_done || conn->fsm.rx_closed) && !conn->rx.lost;
}

/*
 * Decide how a read that has found no more than @skip readable bytes goes on, as in
 * tcp_recvmsg(). Returns 1: wait, or data have come; 0: the read ends, with the bytes that
 * it has copied or at the end of data; or the error. Under conn->lock a step of the close
 * machine is visible only as a whole: the end of the data with the data before it, a purge
 * with its error.
 */
static int rx_idle(struct smcr_sock *ssk, size_t copied, long timeo,
		   u32 skip)
{
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;
	bool shut;
	int rc;

	/*
	 * Nothing has ended: wait, without conn->lock. smcr_rx_wait() ends at once if that
	 * changes. Otherwise the lock is needed, see above.
	 */
	if (!copied && timeo && !READ_ONCE(sk->sk_err) &&
	    !(READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) &&
	    READ_ONCE(sk->sk_state) != TCP_CLOSE && !signal_pending(current))
		return 1;
	spin_lock_bh(&conn->lock);
	if (unlikely(conn->rx.rest))
		smcr_conn_rest_read(conn);
	shut = sk->sk_state == TCP_CLOSE || (sk->sk_shutdown & RCV_SHUTDOWN);
	if (smcr_conn_readable(conn) > skip)	/* data came just now */
		rc = 1;
	else if (copied)
		rc = !shut && !sk->sk_err && timeo && !signal_pending(current);
	else if (rx_ended(conn))		/* has precedence over an error */
		rc = 0;
	else if (sk->sk_err)
		rc = sock_error(sk);
	else if (shut)
		rc = 0;
	else if (!timeo)
		rc = -EAGAIN;
	else
		rc = signal_pending(current) ? sock_intr_errno(timeo) : 1;
	spin_unlock_bh(&conn->lock);
	return rc;
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

/*
 * Report TCP_INQ, the bytes that are left, as tcp_recvmsg() does. At the end of data the
 * value is 1: a program with edge-triggered epoll then reads once more, and finds the end.
 */
static void rx_put_inq(struct smcr_sock *ssk, struct msghdr *msg)
{
	const bool cmsg = tcp_sk(ssk->tcp->sk)->recvmsg_inq;
	struct smcr_conn *conn = &ssk->conn;
	int inq;

	if (!cmsg && !msg->msg_get_inq)
		return;
	spin_lock_bh(&conn->lock);	/* the last data and their end become visible together */
	inq = min_t(u64, smcr_conn_readable(conn), INT_MAX);
	if (!inq && (conn->fsm.rx_done || conn->fsm.rx_closed))
		inq = 1;
	spin_unlock_bh(&conn->lock);
	msg->msg_inq = inq;
	if (cmsg)
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
	u32 hole = 0;
	long timeo;
	int n, rc = 0;

	sock_owned_by_me(sk);

	target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	do {	/* if @len is 0, one pass reports an error, or waits */
		u32 skip = flags & MSG_PEEK ? copied + hole : 0;
		u64 avail = smcr_conn_readable(conn);
		u64 run = rx_run(conn, skip);

		/* at a mark the read ends if it has copied data already, or on a signal */
		if (unlikely(!run)) {
			if (copied || !len)
				break;
			if (signal_pending(current)) {
				rc = timeo ? sock_intr_errno(timeo) : -EAGAIN;
				break;
			}
			rc = rx_pass(conn, msg, flags, &hole);
			if (rc < 0)
				break;
			copied += rc;
			continue;
		}
		if (avail > skip) {
			n = min3(avail - skip, run, (u64)(len - copied));
			if (!(flags & MSG_TRUNC))
				n = rx_copy(conn, msg, skip, n);
			if (n < 0) {
				rc = n;
				break;
			}
			copied += n;
			if (n && !(flags & MSG_PEEK))
				rx_consume(conn, n);
			continue;
		}
		if (copied >= target)
			break;
		rc = rx_idle(ssk, copied, timeo, skip);
		if (rc <= 0)
			break;
		smcr_rx_wait(ssk, &timeo, skip);
	} while (copied < len);
	if (!copied && rc < 0)
		return rc;
	rx_put_inq(ssk, msg);
	return copied;
}
