// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendmsg(): from the application into the send buffer, and the wait for room there.
 * TCP_NOTSENT_LOWAT limits this room.
 */
#include <linux/sched/signal.h>
#include <net/tcp.h>
#include "conn/conn.h"
#include "conn/smcr_sock.h"
#include "conn/tx_impl.h"

/* Bytes of the first send buffer, and pause between attempts to grow: tx_grow() */
#define SMCR_TX_FIRST		SMCR_BUF_SMALL
#define SMCR_TX_REGROW		HZ

/*
 * Get the link for whose device the send buffers are mapped. It is returned with a reference,
 * as the connection may leave it at any time. NULL: the connection has no link, or the
 * buffers are on the reclaim list of a link that the connection has left (@lent in conn.h).
 */
static struct smcr_link *tx_link_get(struct smcr_conn *conn)
{
	struct smcr_link *link;

	spin_lock_bh(&conn->lock);
	link = conn->snd.lent ? NULL : conn->link;
	if (link)
		smcr_link_hold(link);
	spin_unlock_bh(&conn->lock);
	return link;
}

/* Data go into @buf from now on. conn->lock held. */
static void tx_use_buf(struct smcr_conn *conn, struct smcr_buf *buf, u32 size)
{
	bool grows = conn->snd.buf;

	lockdep_assert_held(&conn->lock);
	if (grows) {
		conn->snd.old = conn->snd.buf;
		conn->snd.old_end = conn->tx.queued;
		if (!smcr_conn_unsent(conn))
			conn->tx.src = 0;
		conn->snd.in = 0;
	}
	WRITE_ONCE(conn->snd.buf, buf);
	WRITE_ONCE(conn->snd.size, size);
	if (grows)
		smcr_tx_space(conn);
}

/*
 * Allocate a send buffer for the device of the connection's link. If the connection leaves
 * the link during the allocation, the buffer is freed. The reference on the link, which keeps
 * the device, is put after that.
 */
static int tx_new_buf(struct smcr_conn *conn, u32 size)
{
	struct smcr_link *link = tx_link_get(conn);
	struct smcr_buf *buf;
	int rc = -ENOTCONN;

	if (!link)
		return rc;
	buf = smcr_buf_alloc(&link->mem, size, DMA_TO_DEVICE);
	if (IS_ERR(buf)) {
		rc = PTR_ERR(buf);
		goto out;
	}
	spin_lock_bh(&conn->lock);
	/* if lent is set, the connection has left @link and has come back to it */
	if (conn->link == link && !conn->snd.lent) {
		tx_use_buf(conn, buf, size);
		rc = 0;
	}
	spin_unlock_bh(&conn->lock);
	if (rc)
		smcr_buf_free(buf);
out:
	smcr_link_put(link);
	return rc;
}

static int tx_alloc(struct smcr_conn *conn, size_t len)
{
	u32 size = conn->snd.max;
	int rc;

	if (conn->snd.buf || !conn->lgr)
		return 0;
	if (len <= SMCR_TX_FIRST)
		size = min_t(u32, size, SMCR_TX_FIRST);
	rc = tx_new_buf(conn, size);
	if (rc && rc != -ENOTCONN && size > SMCR_TX_FIRST)
		rc = tx_new_buf(conn, SMCR_TX_FIRST);
	if (rc == -ENOTCONN)	/* the connection was lost just now */
		return -EPIPE;
	return rc == -EDQUOT ? -ENOMEM : rc;	/* EDQUOT: memory cgroup is full */
}

/*
 * Free the buffer that tx_grow() has replaced, once no WRITE reads it any more. Only
 * a completion proves that; the peer's consumer cursor does not, as it may be false.
 */
static void tx_free_old(struct smcr_conn *conn)
{
	struct smcr_link *link = tx_link_get(conn);
	struct smcr_buf *old = NULL;

	spin_lock_bh(&conn->lock);
	if (!conn->snd.lent && conn->tx.acked >= conn->snd.old_end) {
		old = conn->snd.old;
		conn->snd.old = NULL;
	}
	spin_unlock_bh(&conn->lock);
	smcr_buf_free(old);
	smcr_link_put(link);	/* it keeps the device until the buffer is freed */
}

/*
 * The first buffer is small if the first message is small. When a message does not fit, a
 * second buffer is allocated, which has the full size of SO_SNDBUF. The message is queued
 * in the new buffer, and data in the old buffer are sent from there. False if the buffer
 * has its full size already, or cannot grow now. As long as the buffer may grow, poll()
 * reports room: otherwise a program that polls before each send would never offer a
 * message that does not fit, and would keep the small buffer.
 */
static bool tx_grow(struct smcr_conn *conn)
{
	if (!smcr_conn_may_grow(conn) || !conn->lgr)
		return false;
	if (tx_new_buf(conn, conn->snd.max)) {	/* pause before the next attempt */
		WRITE_ONCE(conn->snd.grow_at, jiffies + SMCR_TX_REGROW);
		return false;
	}
	return true;
}

/* Copy into the send buffer behind the queued data; returns bytes copied, or -EFAULT */
static int tx_copy(struct smcr_conn *conn, struct msghdr *msg, u32 len)
{
	u32 off = conn->snd.in, done = 0, run;

	while (done < len) {
		void *at = smcr_buf_at(conn->snd.buf, off,
				       min(len - done,
					   conn->snd.size - off), &run);
		size_t n = smcr_buf_copy_in(at, run, &msg->msg_iter);

		done += n;
		off += n;
		if (off == conn->snd.size)
			off = 0;
		if (n < run)
			break;
	}
	conn->snd.in = off;
	return done ?: -EFAULT;
}

/* Post data that MSG_MORE holds back: no more data can follow until there is room */
static void tx_push_more(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->tx.more = false;
	smcr_tx_push(conn);
	spin_unlock_bh(&conn->lock);
}

/*
 * Make the last queued byte the urgent byte. This is done when the send ends. So the bytes
 * that were queued before a wait for room are sent as ordinary bytes.
 */
static void tx_urgent(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (!conn->tx.dropped)
		smcr_urg_tx_queue(&conn->tx.urg, conn->tx.queued);
}

/* A send with MSG_OOB ends before all its bytes are queued: make the last queued one urgent */
static void tx_urgent_part(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	tx_urgent(conn);
	smcr_tx_push(conn);
	spin_unlock_bh(&conn->lock);
}

/*
 * Unsent bytes. Data that were written into the peer's element are regarded as sent,
 * whether the peer's application has read them or not: TCP regards acknowledged data so. Both
 * positions are read without a lock: if prod.abs is newer than queued, the result is 0.
 */
static s64 tx_unsent(const struct smcr_conn *conn)
{
	return max_t(s64, smcr_conn_unsent(conn), 0);
}

/* TCP_NOTSENT_LOWAT. UINT_MAX: no limit, which is the default of TCP's sysctl */
static u32 tx_lowat(const struct smcr_conn *conn)
{
	return tcp_notsent_lowat(tcp_sk(smcr_conn_sock(conn)->tcp->sk));
}

/* Bytes that TCP_NOTSENT_LOWAT allows to be queued, exact under the socket lock only */
static u32 tx_allowance(const struct smcr_conn *conn)
{
	s64 unsent = tx_unsent(conn);
	u32 lowat = tx_lowat(conn);

	return unsent < lowat ? lowat - unsent : 0;
}

/**
 * smcr_tx_sparse() - is less than half of TCP_NOTSENT_LOWAT unsent?
 * @conn: connection
 *
 * If not, poll() reports no room, as on TCP.
 *
 * Context: any.
 * Return: true if so.
 */
bool smcr_tx_sparse(const struct smcr_conn *conn)
{
	return tx_unsent(conn) << 1 < tx_lowat(conn);
}

/*
 * Is there enough room to wake a sleeping writer? As on TCP, the answer is yes if a third of
 * the send buffer is free, and less than half of TCP_NOTSENT_LOWAT is unsent.
 */
static bool tx_roomy(const struct smcr_conn *conn)
{
	return smcr_conn_wspace(conn) >= READ_ONCE(conn->snd.size) / 3 &&
	       smcr_tx_sparse(conn);
}

/**
 * smcr_tx_space() - wake writers that wait for room, if there is enough by now
 * @conn: connection
 *
 * Context: any.
 */
void smcr_tx_space(struct smcr_conn *conn)
{
	struct smcr_sock *ssk = smcr_conn_sock(conn);

	/*
	 * The room is written before NOSPACE is read. Pairs with smcr_tx_wait() and with
	 * poll_out(): without the barriers a writer may sleep although there is room.
	 */
	smp_mb();
	if (test_bit(SMCR_SK_NOSPACE, &ssk->flags) && tx_roomy(conn)) {
		clear_bit(SMCR_SK_NOSPACE, &ssk->flags);
		ssk->sk.sk_write_space(&ssk->sk);
	}
}

/**
 * smcr_tx_pushed() - apply the limits of unsent data after smcr_tx_push()
 * @conn: connection, conn->lock held
 */
void smcr_tx_pushed(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (unlikely(conn->tx.timeout))
		smcr_tx_watch(conn);
	/*
	 * Without TCP_NOTSENT_LOWAT writers wait for room in the buffer only. Completions and
	 * the peer's cursor make such room, posts do not.
	 */
	if (unlikely(tx_lowat(conn) != UINT_MAX))
		smcr_tx_space(conn);
}

/* Bytes of @len that may be queued now */
static u32 tx_room_for(const struct smcr_conn *conn, size_t len)
{
	return min3((size_t)smcr_conn_wspace(conn),
		    (size_t)tx_allowance(conn), len);
}

/*
 * True if no send takes data any more. The result may change although the caller has the
 * socket lock, as the close machine runs under conn->lock only.
 */
static bool tx_over(const struct smcr_sock *ssk)
{
	return READ_ONCE(ssk->sk.sk_err) ||
	       (READ_ONCE(ssk->sk.sk_shutdown) & SEND_SHUTDOWN) ||
	       !smcr_close_may_send(&ssk->conn.fsm);
}

/* Wait for room. Returns 0 when there is room, else the error that ends the send */
static int smcr_tx_wait(struct smcr_sock *ssk, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;

	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		set_bit(SMCR_SK_NOSPACE, &ssk->flags);
		smp_mb__after_atomic();	/* pairs with smcr_tx_space(): no lost wake-up */
		if (tx_over(ssk) || tx_room_for(conn, 1))
			break;
		if (!*timeo || signal_pending(current))
			break;
		sk_wait_event(sk, timeo,
			      tx_over(ssk) || tx_roomy(conn), &wait);
	}
	remove_wait_queue(sk_sleep(sk), &wait);

	if (tx_over(ssk))
		return -EPIPE;
	if (tx_room_for(conn, 1))
		return 0;
	return *timeo ? sock_intr_errno(*timeo) : -EAGAIN;
}

/**
 * smcr_tx_sendmsg() - queue and send application data
 * @ssk: socket in mode SMC, socket lock held
 * @msg: message
 * @len: bytes
 *
 * Returns once the data are in the send buffer (CDC-21).
 *
 * Return: bytes taken, or a negative errno (-EPIPE: the caller raises SIGPIPE).
 */
int smcr_tx_sendmsg(struct smcr_sock *ssk, struct msghdr *msg, size_t len)
{
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;
	size_t copied = 0;
	long timeo;
	int n, rc = 0;
	u32 part;

	sock_owned_by_me(sk);

	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	while (msg_data_left(msg)) {
		if (tx_over(ssk)) {
			rc = -EPIPE;
			break;
		}
		rc = tx_alloc(conn, msg_data_left(msg));
		if (rc)
			break;
		if (unlikely(conn->snd.old))
			tx_free_old(conn);
		if (smcr_conn_wspace(conn) < msg_data_left(msg) &&
		    tx_grow(conn))
			continue;
		n = tx_room_for(conn, msg_data_left(msg));
		if (!n) {
			sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
			tx_push_more(conn);
			rc = smcr_tx_wait(ssk, &timeo);
			if (rc)
				break;
			continue;
		}
		/* with no post pending, copy less, so that the first bytes are posted soon */
		part = SMCR_TX_POST;
		if (READ_ONCE(conn->tx.pends))
			part = smcr_tx_part(smcr_ring_cap(&conn->tx.ring),
					    conn->snd.size);
		n = tx_copy(conn, msg, min_t(u32, n, part));
		if (n < 0) {
			rc = n;
			break;
		}
		spin_lock_bh(&conn->lock);
		if (!conn->tx.dropped) {
			WRITE_ONCE(conn->tx.queued, conn->tx.queued + n);
			conn->tx.more = msg->msg_flags & MSG_MORE;
			if (unlikely(msg->msg_flags & MSG_OOB) &&
			    !msg_data_left(msg))
				tx_urgent(conn);
			if (!conn->tx.pends || !smcr_compat_page_follows(msg) ||
			    smcr_conn_unsent(conn) >= SMCR_TX_POST)
				smcr_tx_push(conn);
		}
		spin_unlock_bh(&conn->lock);
		copied += n;
	}
	if (copied) {
		if (unlikely(msg->msg_flags & MSG_OOB) && msg_data_left(msg))
			tx_urgent_part(conn);
		return copied;
	}
	if (rc == -EPIPE) {
		/*
		 * tx_over() may have read the new state of the close machine before the
		 * same step of the machine has set sk_err. The step ends before conn->lock
		 * can be taken here.
		 */
		spin_lock_bh(&conn->lock);
		if (sk->sk_err)
			rc = sock_error(sk);
		spin_unlock_bh(&conn->lock);
	}
	return rc;
}
