// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending: from the application into the send buffer, from there by RDMA
 * WRITE into the peer's element, announced by a CDC in the same post
 * (RFC 7609 4.7).
 */
#include <linux/sched/signal.h>
#include "conn.h"
#include "sock.h"
#include "trace.h"

/* Bytes of a post, and what has to fit beside a larger one; see smcr_tx_part() */
#define SMCR_TX_POST		(64 * 1024)
#define SMCR_TX_BESIDE		(256 * 1024)

/*
 * Less than this waits while a signalled post is under way, and so grows into
 * a post that is worth its completion; a request on an idle wire never waits.
 */
#define SMCR_TX_HOLD		(16 * 1024)

/* First send buffer, and when to try again to get more; see smcr_tx_grow() */
#define SMCR_TX_FIRST		SMCR_BUF_SMALL
#define SMCR_TX_REGROW		HZ

static void smcr_tx_done(struct smcr_tx_pend *pend, bool ok);

/* Cursors and flags of the next CDC, with the producer at @prod */
static void smcr_tx_fill(const struct smcr_conn *conn,
			 const struct smcr_pos *prod, bool blocked,
			 struct smcr_cdc *cdc)
{
	cdc->seq = conn->tx_seq + 1;
	cdc->token = conn->peer_token;
	cdc->prod = smcr_pos_cursor(&conn->tx_ring, prod);
	cdc->cons = smcr_pos_cursor(&conn->rx_ring, &conn->rx_cons);
	cdc->pflags = blocked ? SMCR_CDC_B : 0;
	cdc->cflags = (conn->fsm.tx_done ? SMCR_CDC_D : 0) |
		      (conn->fsm.tx_closed ? SMCR_CDC_C : 0) |
		      (conn->fsm.tx_abort ? SMCR_CDC_A : 0);
}

/*
 * Post @n_w writes and the CDC behind them; account for it when that went
 * through. @signal: the completion is wanted. Returns as smcr_link_post().
 */
static int smcr_tx_post(struct smcr_conn *conn, struct ib_rdma_wr *w, int n_w,
			const struct smcr_pos *prod, bool blocked, bool signal)
{
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	struct smcr_cdc cdc;
	u8 msg[SMCR_WR_LEN];
	int rc;

	lockdep_assert_held(&conn->lock);

	smcr_tx_fill(conn, prod, blocked, &cdc);
	smcr_cdc_encode(&cdc, msg);
	if (signal)
		sock_hold(&ssk->sk);
	rc = smcr_link_post(conn->link, w, n_w, msg,
			    signal ? smcr_tx_done : NULL, conn, prod->abs,
			    cdc.cflags, &conn->sq_wait);
	if (rc) {
		if (signal)
			sock_put(&ssk->sk);
		/* it may have failed behind the first writes of several */
		if (rc != -EAGAIN)
			conn->tx_unsure = true;
		return rc;
	}
	trace_smcr_cdc(true, cdc.token, &cdc);
	smcr_count(ssk->sn, SMCR_CNT_CDC_TX);
	if (signal) {
		conn->tx_pends++;
		conn->tx_signalled = prod->abs;
		/* one in the midst of the data does not tell of their end */
		if (prod->abs == conn->tx_queued)
			conn->tx_flush = false;
	}
	conn->tx_seq = cdc.seq;
	conn->tx_prod = *prod;
	conn->tx_blocked = blocked;
	conn->rx_announced = conn->rx_cons.abs;
	conn->tx_ctrl = false;
	return 0;
}

/* No room in the send queue: in line until there is. False: try again. */
static bool smcr_tx_wait_room(struct smcr_conn *conn)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	sock_hold(sk);
	if (smcr_link_wait_room(conn->link, &conn->sq_wait)) {
		smcr_count(smcr_conn_sock(conn)->sn, SMCR_CNT_TX_SQ_FULL);
		return true;
	}
	sock_put(sk);
	return false;
}

/* The buffer that the next unsent byte is in: see smcr_tx_grow() */
static struct smcr_buf *smcr_tx_src_buf(const struct smcr_conn *conn)
{
	return conn->tx_prod.abs < conn->tx_old_end ? conn->sndbuf_old :
						      conn->sndbuf;
}

/* SGEs of [src, src+len) of the ring @buf, which may wrap */
static int smcr_tx_sges(struct smcr_conn *conn, const struct smcr_buf *buf,
			u32 src, u32 len, struct ib_sge *sge)
{
	u32 first = min(len, buf->size - src);
	int n;

	n = smcr_buf_sges(buf, conn->lgr->pd, src, first, sge, SMCR_MAX_SGE);
	if (first < len)
		n += smcr_buf_sges(buf, conn->lgr->pd, 0, len - first,
				   sge + n, SMCR_MAX_SGE - n);
	return n;
}

static u32 smcr_tx_hold(const struct smcr_conn *conn)
{
	return min_t(u32, SMCR_TX_HOLD, conn->sndbuf_size / 2);
}

/*
 * Bytes of one post. Each costs both hosts some packets and wake-ups, but the
 * peer shall read one while others arrive: only a large ring gets larger ones.
 */
static u32 smcr_tx_part(const struct smcr_conn *conn)
{
	u32 whole = min(smcr_ring_cap(&conn->tx_ring), conn->sndbuf_size);

	return max_t(u32, SMCR_TX_POST + SMCR_TX_BESIDE, whole) -
	       SMCR_TX_BESIDE;
}

/* What waits for more of it while a completion is still to come */
static u32 smcr_tx_gather(const struct smcr_conn *conn)
{
	if (conn->tx_more)
		return min_t(u32, SMCR_TX_POST, conn->sndbuf_size / 2);
	return conn->tx_nodelay ? 0 : smcr_tx_hold(conn);
}

static u32 smcr_tx_post_max(const struct smcr_conn *conn)
{
	u64 prod = conn->tx_prod.abs;
	u32 max;

	/* one chunk for an unaligned start, one for the wrap of the ring */
	max = min_t(u32, smcr_tx_part(conn),
		    smcr_buf_max_span(smcr_tx_src_buf(conn),
				      conn->link->pid.dev->max_sge - 1));
	return prod < conn->tx_old_end ? min_t(u64, max,
					       conn->tx_old_end - prod) : max;
}

/* One plan: up to two writes and their CDC in one post */
static int smcr_tx_post_data(struct smcr_conn *conn,
			     const struct smcr_tx_plan *plan, u64 unsent)
{
	struct smcr_buf *buf = smcr_tx_src_buf(conn);
	struct ib_sge sge[2][SMCR_MAX_SGE];
	struct smcr_pos prod = conn->tx_prod;
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	u32 src = conn->tx_src;
	struct ib_rdma_wr w[2];
	bool signal;
	int i, rc;

	for (i = 0; i < plan->n_seg; i++) {
		const struct smcr_tx_seg *seg = &plan->seg[i];

		memset(&w[i], 0, sizeof(w[i]));
		w[i].wr.opcode = IB_WR_RDMA_WRITE;
		w[i].wr.sg_list = sge[i];
		w[i].wr.num_sge = smcr_tx_sges(conn, buf, src, seg->len,
					       sge[i]);
		w[i].remote_addr = conn->peer_va + seg->dst;
		w[i].rkey = conn->peer_rkey;
		src += seg->len;
		if (src >= buf->size)
			src -= buf->size;
	}
	smcr_pos_add(&conn->tx_ring, &prod, plan->len);

	/*
	 * A completion for every stretch that may be held back behind it, or
	 * when somebody waits for the end.
	 */
	signal = (plan->len == unsent && conn->tx_flush) || plan->blocked ||
		 prod.abs - conn->tx_signalled >= smcr_tx_hold(conn) / 2;
	rc = smcr_tx_post(conn, w, plan->n_seg, &prod, plan->blocked, signal);
	if (rc)
		return rc;

	for (i = 0; i < plan->n_seg; i++)
		trace_smcr_write(conn->peer_token, w[i].remote_addr,
				 plan->seg[i].len);
	conn->tx_src = prod.abs == conn->tx_old_end ? 0 : src;
	conn->tx_bytes += plan->len;
	smcr_count_add(ssk->sn, SMCR_CNT_WRITE_TX, plan->n_seg);
	smcr_count_add(ssk->sn, SMCR_CNT_BYTES_TX, plan->len);
	if (plan->blocked)
		smcr_count(ssk->sn, SMCR_CNT_TX_WINDOW_FULL);
	return 0;
}

/* Data that may go; errno of smcr_link_post() when something stopped us */
static int smcr_tx_data(struct smcr_conn *conn)
{
	struct smcr_tx_plan plan;
	u64 unsent;
	int rc;

	while ((unsent = smcr_conn_unsent(conn)) > 0) {
		/* smcr_tx_done() looks again */
		if (conn->tx_pends && !conn->tx_flush &&
		    unsent < smcr_tx_gather(conn))
			return 0;
		smcr_tx_plan(&conn->tx_ring, &conn->tx_prod, conn->tx_cons.abs,
			     unsent, smcr_tx_post_max(conn), &plan);
		if (!plan.len) {
			/* the peer has to know that we wait (CDC-33) */
			if (!conn->tx_blocked)
				return smcr_tx_post(conn, NULL, 0,
						    &conn->tx_prod, true,
						    false);
			return 0;
		}
		rc = smcr_tx_post_data(conn, &plan, unsent);
		if (rc)
			return rc;
	}
	return 0;
}

/* D, C or A that is owed; signalled, so that the element can be let go */
static int smcr_tx_owed(struct smcr_conn *conn)
{
	int rc = smcr_tx_post(conn, NULL, 0, &conn->tx_prod, false, true);

	if (!rc)
		conn->tx_owed = 0;
	return rc;
}

/* Is a completion wanted that no post under way will bring? */
static bool smcr_tx_needs_flush(const struct smcr_conn *conn)
{
	return conn->tx_flush && !conn->tx_pends && !smcr_conn_unsent(conn) &&
	       conn->tx_done != conn->tx_prod.abs;
}

static int smcr_tx_try(struct smcr_conn *conn)
{
	bool flush;
	int rc;

	if (conn->tx_owed)
		return smcr_tx_owed(conn);
	if (!smcr_close_may_tx(&conn->fsm))
		return 0;
	rc = smcr_tx_data(conn);
	flush = smcr_tx_needs_flush(conn);
	if (!rc && (conn->tx_ctrl || flush)) {
		rc = smcr_tx_post(conn, NULL, 0, &conn->tx_prod,
				  conn->tx_blocked, flush);
		if (!rc)
			smcr_count(smcr_conn_sock(conn)->sn,
				   SMCR_CNT_CDC_TX_WINDOW);
	}
	return rc;
}

/**
 * smcr_tx_push() - send what may be sent now
 * @conn: connection, conn->lock held
 *
 * Order: an owed close flag, data, a cursor update that no data carried.
 * Whatever finds no room waits in the link's line. Any context.
 */
void smcr_tx_push(struct smcr_conn *conn)
{
	int rc;

	lockdep_assert_held(&conn->lock);

	if (!conn->lgr || !conn->active || conn->tx_dead ||
	    !list_empty_careful(&conn->sq_wait))
		return;
	do {
		rc = smcr_tx_try(conn);
	} while (rc == -EAGAIN && !smcr_tx_wait_room(conn));
	if (rc && rc != -EAGAIN) {	/* the link is gone, and so is the flag */
		conn->tx_owed = 0;
		if (!conn->tx_pends)
			smcr_conn_tx_idle(conn);
	}
}

/**
 * smcr_tx_flag() - send D, C or A
 * @conn: connection, conn->lock held; the machine has set the flag already
 * @action: SMCR_ACT_SEND_*
 */
void smcr_tx_flag(struct smcr_conn *conn, u32 action)
{
	lockdep_assert_held(&conn->lock);

	conn->tx_owed = action;
	smcr_tx_push(conn);
}

/* There may be more room in the send buffer by now: who waits for it? */
static void smcr_tx_space(struct smcr_conn *conn)
{
	struct smcr_sock *ssk = smcr_conn_sock(conn);

	/* publish the space, then test NOSPACE; pairs with smcr_tx_wait() */
	smp_mb();
	if (test_bit(SMCR_SK_NOSPACE, &ssk->flags) &&
	    smcr_conn_wspace(conn) >= conn->sndbuf_size / 3) {
		clear_bit(SMCR_SK_NOSPACE, &ssk->flags);
		ssk->sk.sk_write_space(&ssk->sk);
	}
}

/**
 * smcr_tx_reclaim() - everything up to @mark has been delivered
 * @conn: connection, conn->lock held
 * @mark: absolute position; a completion says so, or the peer's consumer cursor
 *
 * Context: any.
 */
void smcr_tx_reclaim(struct smcr_conn *conn, u64 mark)
{
	lockdep_assert_held(&conn->lock);

	if (mark <= conn->tx_done)
		return;
	WRITE_ONCE(conn->tx_done, mark);
	if (conn->tx_done == conn->tx_queued &&
	    (conn->fsm.want_done || conn->fsm.want_closed))
		smcr_conn_event_locked(conn, SMCR_CONN_EV_DRAINED,
				       SMCR_R_NONE);
	smcr_tx_space(conn);
}

/**
 * smcr_tx_set_nodelay() - small data wait for nothing (CDC-22)
 * @conn: connection, with or without a link group
 * @on: TCP_NODELAY
 *
 * Context: any.
 */
void smcr_tx_set_nodelay(struct smcr_conn *conn, bool on)
{
	spin_lock_bh(&conn->lock);
	conn->tx_nodelay = on;
	smcr_tx_push(conn);
	spin_unlock_bh(&conn->lock);
}

/**
 * smcr_tx_flush() - somebody waits until everything is delivered
 * @conn: connection, conn->lock held
 *
 * Makes sure that a completion will tell.
 */
void smcr_tx_flush(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	conn->tx_flush = true;
	smcr_tx_push(conn);
}

/* Completion of a signalled post; softirq or process, see link_poll_ctx() */
static void smcr_tx_done(struct smcr_tx_pend *pend, bool ok)
{
	struct smcr_conn *conn = pend->arg;

	spin_lock_bh(&conn->lock);
	conn->tx_pends--;
	if (ok) {
		WRITE_ONCE(conn->tx_acked, pend->mark);
		smcr_tx_reclaim(conn, pend->mark);
	}
	if (pend->flags & SMCR_CDC_A)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_TX_ABORT_DONE,
				       SMCR_R_NONE);
	if (conn->tx_flush || smcr_conn_unsent(conn))
		smcr_tx_push(conn);
	if (!conn->tx_pends)
		smcr_conn_tx_idle(conn);
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}

/**
 * smcr_tx_room() - the send queue has room again
 * @link: link
 *
 * Context: softirq, no locks held.
 */
void smcr_tx_room(struct smcr_link *link)
{
	struct list_head *node;

	while ((node = smcr_link_next_waiter(link))) {
		struct smcr_conn *conn = container_of(node, struct smcr_conn,
						      sq_wait);

		spin_lock_bh(&conn->lock);
		smcr_tx_push(conn);
		spin_unlock_bh(&conn->lock);
		sock_put(&smcr_conn_sock(conn)->sk);
	}
}

/**
 * smcr_tx_link_gone() - nobody in line will ever get room
 * @link: stopped link
 *
 * What they owed cannot be sent any more; a release may have waited for it.
 * Context: process.
 */
void smcr_tx_link_gone(struct smcr_link *link)
{
	struct smcr_conn *conn;

	for (;;) {
		spin_lock_bh(&link->lock);
		conn = list_first_entry_or_null(&link->waiters,
						struct smcr_conn, sq_wait);
		if (conn)
			list_del_init(&conn->sq_wait);
		spin_unlock_bh(&link->lock);
		if (!conn)
			return;
		spin_lock_bh(&conn->lock);
		conn->tx_owed = 0;
		smcr_conn_tx_idle(conn);
		spin_unlock_bh(&conn->lock);
		sock_put(&smcr_conn_sock(conn)->sk);
	}
}

static int smcr_tx_alloc(struct smcr_conn *conn, size_t len)
{
	u32 size = conn->sndbuf_max;
	struct smcr_buf *buf;

	if (conn->sndbuf || !conn->lgr)
		return 0;
	if (len <= SMCR_TX_FIRST)
		size = min_t(u32, size, SMCR_TX_FIRST);
	buf = smcr_buf_alloc(conn->lgr, size, DMA_TO_DEVICE);
	if (IS_ERR(buf) && size > SMCR_TX_FIRST) {
		size = SMCR_TX_FIRST;
		buf = smcr_buf_alloc(conn->lgr, size, DMA_TO_DEVICE);
	}
	if (IS_ERR(buf))	/* what TCP says */
		return PTR_ERR(buf) == -EDQUOT ? -ENOMEM : PTR_ERR(buf);
	WRITE_ONCE(conn->sndbuf_size, size);
	WRITE_ONCE(conn->sndbuf, buf);
	return 0;
}

/*
 * The buffer that smcr_tx_grow() took out of use, once no WRITE reads it: a
 * completion says so. The peer's word would not do, it may lie.
 */
static void smcr_tx_free_old(struct smcr_conn *conn)
{
	struct smcr_buf *old = NULL;

	spin_lock_bh(&conn->lock);
	if (conn->tx_acked >= conn->tx_old_end) {
		old = conn->sndbuf_old;
		conn->sndbuf_old = NULL;
	}
	spin_unlock_bh(&conn->lock);
	smcr_buf_free(old);
}

/*
 * The first buffer is small when the first message is. The first that does not
 * fit gets all of SO_SNDBUF: it goes there, what is in the old buffer is sent
 * from there. False when that cannot be now or has been. Until it has been,
 * poll() says that there is room, or who asks before each send stays with the
 * small one.
 */
static bool smcr_tx_grow(struct smcr_conn *conn)
{
	struct smcr_buf *buf;

	if (!smcr_conn_may_grow(conn) || !conn->lgr)
		return false;
	buf = smcr_buf_alloc(conn->lgr, conn->sndbuf_max, DMA_TO_DEVICE);
	if (IS_ERR(buf)) {	/* not again for every send */
		WRITE_ONCE(conn->grow_at, jiffies + SMCR_TX_REGROW);
		return false;
	}
	spin_lock_bh(&conn->lock);
	conn->sndbuf_old = conn->sndbuf;
	conn->tx_old_end = conn->tx_queued;
	if (!smcr_conn_unsent(conn))
		conn->tx_src = 0;
	conn->tx_in = 0;
	WRITE_ONCE(conn->sndbuf, buf);
	WRITE_ONCE(conn->sndbuf_size, conn->sndbuf_max);
	smcr_tx_space(conn);
	spin_unlock_bh(&conn->lock);
	return true;
}

/* Copy into the ring behind what is queued; bytes copied or -EFAULT */
static int smcr_tx_copy(struct smcr_conn *conn, struct msghdr *msg, u32 len)
{
	u32 off = conn->tx_in, done = 0, run;

	while (done < len) {
		void *at = smcr_buf_at(conn->sndbuf, off,
				       min(len - done,
					   conn->sndbuf_size - off), &run);
		size_t n = copy_from_iter(at, run, &msg->msg_iter);

		done += n;
		off += n;
		if (off == conn->sndbuf_size)
			off = 0;
		if (n < run)
			break;
	}
	conn->tx_in = off;
	return done ?: -EFAULT;
}

/* Nothing is held back for what cannot come before room is made */
static void smcr_tx_push_more(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->tx_more = false;
	smcr_tx_push(conn);
	spin_unlock_bh(&conn->lock);
}

/* 0 when there is room; else the error that ends the send */
static int smcr_tx_wait(struct smcr_sock *ssk, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;

	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		set_bit(SMCR_SK_NOSPACE, &ssk->flags);
		smp_mb__after_atomic();	/* pairs with smcr_tx_space(): no lost wake-up */
		if (sk->sk_err || (sk->sk_shutdown & SEND_SHUTDOWN) ||
		    !smcr_close_may_send(&conn->fsm) ||
		    smcr_conn_wspace(conn))
			break;
		if (!*timeo || signal_pending(current))
			break;
		sk_wait_event(sk, timeo,
			      READ_ONCE(sk->sk_err) ||
			      (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN) ||
			      !smcr_close_may_send(&conn->fsm) ||
			      smcr_conn_wspace(conn) >=
					conn->sndbuf_size / 3, &wait);
	}
	remove_wait_queue(sk_sleep(sk), &wait);

	if (sk->sk_err || (sk->sk_shutdown & SEND_SHUTDOWN) ||
	    !smcr_close_may_send(&conn->fsm))
		return -EPIPE;
	if (smcr_conn_wspace(conn))
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

	sock_owned_by_me(sk);

	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	while (msg_data_left(msg)) {
		if (sk->sk_err || (sk->sk_shutdown & SEND_SHUTDOWN) ||
		    !smcr_close_may_send(&conn->fsm)) {
			rc = -EPIPE;
			break;
		}
		rc = smcr_tx_alloc(conn, msg_data_left(msg));
		if (rc)
			break;
		if (unlikely(conn->sndbuf_old))
			smcr_tx_free_old(conn);
		n = min_t(size_t, smcr_conn_wspace(conn), msg_data_left(msg));
		if (n < msg_data_left(msg) && smcr_tx_grow(conn))
			continue;
		if (!n) {
			sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
			smcr_tx_push_more(conn);
			rc = smcr_tx_wait(ssk, &timeo);
			if (rc)
				break;
			continue;
		}
		/* the first bytes do not wait for the copying of many */
		n = smcr_tx_copy(conn, msg,
				 min_t(u32, n, READ_ONCE(conn->tx_pends) ?
					       smcr_tx_part(conn) :
					       SMCR_TX_POST));
		if (n < 0) {
			rc = n;
			break;
		}
		spin_lock_bh(&conn->lock);
		if (!conn->tx_dropped) {
			WRITE_ONCE(conn->tx_queued, conn->tx_queued + n);
			conn->tx_more = msg->msg_flags & MSG_MORE;
			if (!conn->tx_pends || !smcr_compat_page_follows(msg) ||
			    smcr_conn_unsent(conn) >= SMCR_TX_POST)
				smcr_tx_push(conn);
		}
		spin_unlock_bh(&conn->lock);
		copied += n;
	}
	if (copied)
		return copied;
	if (rc == -EPIPE) {
		/* in one step of the machine the error comes after the state */
		spin_lock_bh(&conn->lock);
		if (sk->sk_err)
			rc = sock_error(sk);
		spin_unlock_bh(&conn->lock);
	}
	return rc;
}
