// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send path: from the send buffer by RDMA WRITE into the peer's element, announced
 * by a CDC in the same post (RFC 7609 4.7).
 */
#include "base/race.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "conn/smcr_sock.h"
#include "conn/tx_impl.h"

/*
 * Maximum number of CDC messages between the failover point (FO-04) and the next signalled
 * CDC: only completions advance the failover point. After a move the sequence numbers of the
 * failover point and of the newest CDC are compared, so they must be less than 32768 apart.
 */
#define SMCR_TX_TELL		4096

/*
 * Maximum number of posts of data in one smcr_tx_push(), during which the peer's messages
 * wait for conn->lock. The limit is rarely reached: at most six posts fill a ring, if the
 * send buffer is not in many pieces. With two WRITEs and a CDC each, SMCR_TX_TURN posts are
 * 48 work requests, fewer than a link posts in a row without a signalled one
 * (link_needs_signal()). The last post is signalled, and its completion calls
 * smcr_tx_push() again.
 */
#define SMCR_TX_TURN		16

/* Fill the next CDC with cursors and flags; the producer position is @prod */
static void tx_fill(const struct smcr_conn *conn,
		    const struct smcr_pos *prod, bool blocked,
		    struct smcr_cdc *cdc)
{
	cdc->seq = conn->tx.seq + 1;
	cdc->token = conn->tx.token;
	cdc->prod = smcr_pos_cursor(&conn->tx.ring, prod);
	cdc->cons = smcr_pos_cursor(&conn->rx.ring, &conn->rx.ackable);
	cdc->pflags = (blocked ? SMCR_CDC_B : 0) |
		      smcr_urg_tx_flags(&conn->tx.urg, prod->abs);
	cdc->cflags = (conn->fsm.tx_done ? SMCR_CDC_D : 0) |
		      (conn->fsm.tx_closed ? SMCR_CDC_C : 0) |
		      (conn->fsm.tx_abort ? SMCR_CDC_A : 0);
}

/* Post on the link. @signal: a completion follows, which has a reference on the socket */
int smcr_tx_link_post(struct smcr_conn *conn, struct ib_rdma_wr *w, int n_w,
		      const u8 *msg, bool signal, u64 mark, u32 flags)
{
	const struct smcr_post post = {
		.w = w,
		.n_w = n_w,
		.msg = msg,
		.done = signal ? smcr_conn_tx_done : NULL,
		.arg = conn,
		.mark = mark,
		.flags = flags,
		.waiter = &conn->tx.sq_wait,
	};
	struct sock *sk = &smcr_conn_sock(conn)->sk;
	int rc;

	if (signal)
		sock_hold(sk);
	rc = smcr_link_post(conn->link, &post);
	if (!signal)
		return rc;
	if (rc)
		sock_put(sk);
	else
		WRITE_ONCE(conn->tx.pends, conn->tx.pends + 1);
	return rc;
}

/*
 * Post @n_w writes and the CDC behind them, and account for them on success.
 * @signal: a completion follows. Returns as smcr_link_post().
 */
int smcr_tx_post(struct smcr_conn *conn, struct ib_rdma_wr *w, int n_w,
		 const struct smcr_pos *prod, bool blocked, bool signal)
{
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	struct smcr_cdc cdc;
	u8 msg[SMCR_WR_LEN];
	int rc;

	lockdep_assert_held(&conn->lock);

	/*
	 * a connection that sends only window updates has no other signalled post, so its
	 * failover point, the last CDC that has certainly arrived, would fall behind
	 */
	if (!conn->tx.pends &&
	    (u16)(conn->tx.seq - conn->mv.fo.seq) >= SMCR_TX_TELL)
		signal = true;
	tx_fill(conn, prod, blocked, &cdc);
	smcr_cdc_encode(&cdc, msg);
	rc = smcr_tx_link_post(conn, w, n_w, msg, signal, prod->abs,
			       smcr_tx_pend_flags(conn, cdc.cflags, cdc.seq));
	if (rc) {
		/* some of the writes may have been posted */
		if (rc != -EAGAIN)
			conn->mv.unsure = true;
		return rc;
	}
	trace_smcr_cdc(true, cdc.token, &cdc);
	smcr_count(ssk->sn, SMCR_CNT_CDC_TX);
	if (signal) {
		conn->tx.signalled = prod->abs;
		/* this is the completion of the last byte, which a flush needs */
		if (prod->abs == conn->tx.queued)
			conn->tx.flush = false;
	}
	conn->tx.seq = cdc.seq;
	smcr_pos_set(&conn->tx.prod, prod);
	conn->tx.blocked = blocked;
	conn->rx.acked = conn->rx.ackable.abs;
	smcr_urg_tx_sent(&conn->tx.urg, prod->abs, conn->tx.cons.abs);
	conn->tx.ctrl = false;
	return 0;
}

/* Wait in the FIFO for room in the send queue. False: not waiting; the caller posts again. */
static bool tx_wait_room(struct smcr_conn *conn)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	smcr_race_atomic(smcr_conn_sock(conn)->sn->net, "tx-wait");
	sock_hold(sk);
	if (smcr_link_wait_room(conn->link, &conn->tx.sq_wait)) {
		smcr_count(smcr_conn_sock(conn)->sn, SMCR_CNT_TX_SQ_FULL);
		return true;
	}
	sock_put(sk);
	return false;
}

/* The buffer that byte @pos of the stream is in: see tx_grow() */
struct smcr_buf *smcr_tx_buf_at(const struct smcr_conn *conn, u64 pos)
{
	return pos < conn->snd.old_end ? conn->snd.old : conn->snd.buf;
}

/* SGEs of the bytes [src, src+len) of the ring @buf; this range may wrap */
static int tx_sges(struct smcr_conn *conn, const struct smcr_buf *buf,
		   u32 src, u32 len, struct ib_sge *sge)
{
	const struct smcr_link *link = conn->link;
	u32 first = min(len, buf->size - src);
	int n;

	n = smcr_buf_sges(buf, link->mem.d, link->lkey, src, first, sge,
			  SMCR_MAX_SGE);
	if (first < len)
		n += smcr_buf_sges(buf, link->mem.d, link->lkey, 0, len - first,
				   sge + n, SMCR_MAX_SGE - n);
	return n;
}

/* Maximum number of bytes of one post from @pos on, by its SGEs */
u32 smcr_tx_span(const struct smcr_conn *conn, u64 pos)
{
	u32 max;

	/* one SGE is for a wrap; smcr_buf_max_span() keeps another for a start in mid-chunk */
	max = smcr_buf_max_span(smcr_tx_buf_at(conn, pos),
				conn->link->pid.dev->max_sge - 1);
	return pos < conn->snd.old_end ?
	       min_t(u64, max, conn->snd.old_end - pos) : max;
}

/* Set up the writes of a plan from offset @src of @buf; returns the next offset */
u32 smcr_tx_writes(struct smcr_conn *conn, const struct smcr_tx_plan *plan,
		   const struct smcr_buf *buf, u32 src, struct ib_rdma_wr w[2],
		   struct ib_sge sge[2][SMCR_MAX_SGE])
{
	int i;

	for (i = 0; i < plan->n_seg; i++) {
		const struct smcr_tx_seg *seg = &plan->seg[i];

		memset(&w[i], 0, sizeof(w[i]));
		w[i].wr.opcode = IB_WR_RDMA_WRITE;
		w[i].wr.sg_list = sge[i];
		w[i].wr.num_sge = tx_sges(conn, buf, src, seg->len,
					  sge[i]);
		w[i].remote_addr = conn->tx.va + seg->dst;
		w[i].rkey = conn->tx.rkey;
		src += seg->len;
		if (src >= buf->size)
			src -= buf->size;
	}
	return src;
}

/*
 * Post a plan: up to two writes and their CDC at once. A kernel that clears the stack would
 * clear all of @sge and @w, of which a post uses a small part.
 */
static int tx_post_data(struct smcr_conn *conn,
			const struct smcr_tx_plan *plan, bool signal)
{
	struct smcr_buf *buf = smcr_tx_buf_at(conn, conn->tx.prod.abs);
	struct ib_sge sge[2][SMCR_MAX_SGE] __uninitialized;
	struct smcr_pos prod = conn->tx.prod;
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	struct ib_rdma_wr w[2] __uninitialized;
	int i, rc;
	u32 src;

	src = smcr_tx_writes(conn, plan, buf, conn->tx.src, w, sge);
	smcr_pos_add(&conn->tx.ring, &prod, plan->len);

	rc = smcr_tx_post(conn, w, plan->n_seg, &prod, plan->blocked, signal);
	if (rc)
		return rc;

	for (i = 0; i < plan->n_seg; i++)
		trace_smcr_write(conn->tx.token, w[i].remote_addr,
				 plan->seg[i].len);
	conn->tx.src = prod.abs == conn->snd.old_end ? 0 : src;
	conn->tx.bytes += plan->len;
	smcr_count_add(ssk->sn, SMCR_CNT_WRITE_TX, plan->n_seg);
	smcr_count_add(ssk->sn, SMCR_CNT_BYTES_TX, plan->len);
	if (plan->blocked)
		smcr_count(ssk->sn, SMCR_CNT_TX_WINDOW_FULL);
	return 0;
}

/* Is something to be sent again after a move? See move.c */
static bool tx_behind(const struct smcr_conn *conn)
{
	return conn->mv.validate || conn->mv.redo;
}

/* Bytes of @unsent that urgent data and struct smcr_conn_bound allow to be written */
static u64 tx_may(const struct smcr_conn *conn, u64 unsent)
{
	u64 may = smcr_urg_tx_may(&conn->tx.urg, conn->tx.prod.abs, unsent);

	if (unlikely(conn->bound.at != U64_MAX))
		may = min(may, conn->bound.at -
			       min(conn->bound.at, conn->tx.prod.abs));
	return may;
}

/* @last: see SMCR_TX_TURN */
static void tx_facts(const struct smcr_conn *conn, bool last,
		     struct smcr_tx_facts *facts)
{
	u64 unsent = smcr_conn_unsent(conn);

	facts->size = conn->snd.size;
	facts->unsent = unsent;
	facts->may = tx_may(conn, unsent);
	facts->unsignalled = conn->tx.prod.abs - conn->tx.signalled;
	facts->max = smcr_tx_span(conn, conn->tx.prod.abs);
	facts->pending = conn->tx.pends;
	facts->urgent = conn->tx.urg.end;
	facts->flush = conn->tx.flush;
	facts->more = conn->tx.more;
	facts->nodelay = conn->tx.nodelay;
	facts->last = last;
}

/*
 * Post the data that may be written now, in at most @left posts (see SMCR_TX_TURN).
 * Returns as smcr_link_post().
 */
static int smcr_tx_data(struct smcr_conn *conn, int *left)
{
	const struct smcr_urg_tx *urg = &conn->tx.urg;
	struct smcr_tx_facts facts;
	struct smcr_tx_plan plan;
	enum smcr_tx_do next;
	int rc;

	/*
	 * The last byte posted has become urgent, and U is still due for it. If urg->announced
	 * is 0 after the post, the peer has consumed that byte already, and data are posted at
	 * once.
	 */
	if (unlikely(urg->end == conn->tx.prod.abs) &&
	    smcr_urg_tx_due(urg, conn->tx.prod.abs)) {
		rc = smcr_tx_post(conn, NULL, 0, &conn->tx.prod,
				  conn->tx.blocked, false);
		if (rc || urg->announced)
			return rc;
	}
	for (; *left && smcr_conn_unsent(conn) > 0; --*left) {
		tx_facts(conn, *left == 1, &facts);
		/*
		 * SMCR_TX_HOLD: smcr_conn_tx_done() calls smcr_tx_push() again, or it follows
		 * when the urgent byte is consumed, or by move_unbind()
		 */
		next = smcr_tx_next(&facts, &conn->tx.ring, &conn->tx.prod,
				    conn->tx.cons.abs, &plan);
		if (next == SMCR_TX_HOLD)
			return 0;
		if (next == SMCR_TX_BLOCKED) {
			if (!conn->tx.blocked ||
			    smcr_urg_tx_due(urg, conn->tx.prod.abs))
				return smcr_tx_post(conn, NULL, 0,
						    &conn->tx.prod, true,
						    false);
			return 0;
		}
		rc = tx_post_data(conn, &plan, next == SMCR_TX_WRITE_SIGNAL);
		if (rc)
			return rc;
	}
	return 0;
}

/* Post an owed D, C or A. It is signalled, as the release waits for the completion. */
static int tx_owed(struct smcr_conn *conn)
{
	int rc = smcr_tx_post(conn, NULL, 0, &conn->tx.prod, false, true);

	if (!rc)
		WRITE_ONCE(conn->tx.owed, 0);
	return rc;
}

/* Does a flush need a completion that no pending post will bring? */
static bool tx_needs_flush(const struct smcr_conn *conn)
{
	return conn->tx.flush && !conn->tx.pends && !smcr_conn_unsent(conn) &&
	       conn->tx.done != conn->tx.prod.abs;
}

/* One attempt of smcr_tx_push(). -EBUSY: a completion or move_unbind() makes the next one */
static int tx_try(struct smcr_conn *conn, int *left)
{
	bool flush;
	int rc;

	if (unlikely(!smcr_link_carries(conn->link)))
		return -ENOTCONN;
	if (unlikely(tx_behind(conn))) {
		rc = smcr_tx_catch_up(conn, left);
		if (rc)
			return rc;
	}
	if (unlikely(conn->mv.leave != SMCR_MV_STAYS))
		return smcr_tx_barrier(conn);
	if (conn->tx.owed)
		return tx_owed(conn);
	if (!smcr_close_may_tx(&conn->fsm))
		return 0;
	rc = smcr_tx_data(conn, left);
	flush = tx_needs_flush(conn);
	if (!rc && (conn->tx.ctrl || flush)) {
		rc = smcr_tx_post(conn, NULL, 0, &conn->tx.prod,
				  conn->tx.blocked, flush);
		if (!rc)
			smcr_count(smcr_conn_sock(conn)->sn,
				   SMCR_CNT_CDC_TX_WINDOW);
	}
	return rc;
}

/**
 * smcr_tx_parked() - does a connection whose link has failed wait for its move?
 * @conn: connection, conn->lock held
 *
 * Return: true while the group has a link in use, or one that may be used again.
 */
bool smcr_tx_parked(const struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	return smcr_lgr_state(conn->lgr) == SMCR_LGR_ST_ACTIVE &&
	       smcr_lgr_linked(conn->lgr);
}

/**
 * smcr_tx_outstanding() - is there something that the peer may not have received yet?
 * @conn: connection, conn->lock held
 *
 * Return: true while a completion is pending, a flag is owed, or what was lost with a
 * link has not been sent again over another.
 */
bool smcr_tx_outstanding(const struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (conn->tx.pends)
		return true;
	if (conn->tx.dead)
		return false;
	return conn->tx.owed || tx_behind(conn) ||
	       (conn->mv.lost && conn->lgr && smcr_tx_parked(conn));
}

/**
 * smcr_tx_give_up() - drop what is owed, as nothing can be sent any more
 * @conn: connection, conn->lock held
 *
 * A release or a lingering close() that waits for it does not wait any longer.
 */
void smcr_tx_give_up(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	WRITE_ONCE(conn->tx.owed, 0);
	conn->mv.validate = false;
	conn->mv.redo = false;
	conn->mv.lost = false;
	if (!conn->tx.pends)
		smcr_conn_tx_idle(conn);
}

/**
 * smcr_tx_push() - send what may be sent now
 * @conn: connection, conn->lock held
 *
 * After a move, what has to be sent again comes first (smcr_tx_catch_up()). Then comes one
 * of these: the barrier, to leave a working link; or an owed D, C or A; or data, followed by
 * a CDC if the data posts did not cover the cursor or a flush. Without room in the send queue
 * the connection waits in the link's FIFO; after SMCR_TX_TURN posts, for a completion.
 *
 * Context: any.
 */
void smcr_tx_push(struct smcr_conn *conn)
{
	int left = SMCR_TX_TURN;
	int rc;

	lockdep_assert_held(&conn->lock);

	if (!conn->link || !conn->active || conn->tx.dead ||
	    !list_empty(&conn->tx.sq_wait))
		return;
	do {
		rc = tx_try(conn, &left);
	} while (rc == -EAGAIN && !tx_wait_room(conn));
	/* no link is left, and none will come: what is owed cannot be sent */
	if (rc && rc != -EAGAIN && rc != -EBUSY && !smcr_tx_parked(conn))
		smcr_tx_give_up(conn);
	smcr_tx_pushed(conn);
}

/**
 * smcr_tx_flag() - send D, C or A
 * @conn: connection, conn->lock held; the machine has set the flag already
 * @action: SMCR_ACT_SEND_*
 */
void smcr_tx_flag(struct smcr_conn *conn, u32 action)
{
	lockdep_assert_held(&conn->lock);

	WRITE_ONCE(conn->tx.owed, action);
	smcr_tx_push(conn);
}

/**
 * smcr_tx_set_nodelay() - set whether small data wait for more (CDC-22)
 * @conn: connection, with or without a link group
 * @on: TCP_NODELAY
 *
 * Context: any.
 */
void smcr_tx_set_nodelay(struct smcr_conn *conn, bool on)
{
	spin_lock_bh(&conn->lock);
	conn->tx.nodelay = on;
	smcr_tx_push(conn);
	spin_unlock_bh(&conn->lock);
}

/**
 * smcr_tx_end_more() - post what was held back for MSG_MORE
 * @conn: connection, with or without a link group
 *
 * Context: any.
 */
void smcr_tx_end_more(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->tx.more = false;
	smcr_tx_push(conn);
	spin_unlock_bh(&conn->lock);
}

/**
 * smcr_tx_flush() - make sure that a completion reports the delivery of all data
 * @conn: connection, conn->lock held
 */
void smcr_tx_flush(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	conn->tx.flush = true;
	smcr_tx_push(conn);
}

/**
 * smcr_tx_room() - post for connections in the FIFO, as the send queue has room
 * @link: link
 *
 * Context: softirq, no locks held.
 */
void smcr_tx_room(struct smcr_link *link)
{
	struct list_head *node;

	while ((node = smcr_link_next_waiter(link))) {
		struct smcr_conn *conn = container_of(node, struct smcr_conn,
						      tx.sq_wait);

		spin_lock_bh(&conn->lock);
		smcr_tx_push(conn);
		spin_unlock_bh(&conn->lock);
		sock_put(&smcr_conn_sock(conn)->sk);
	}
}

/**
 * smcr_tx_link_gone() - empty the FIFO of connections that wait for room on a link
 * @link: stopped link
 *
 * A connection that can move keeps what it owes, for the new link. All others drop what
 * they owe, as their release may wait for that to be sent.
 *
 * Context: process.
 */
void smcr_tx_link_gone(struct smcr_link *link)
{
	struct smcr_conn *conn;

	for (;;) {
		spin_lock_bh(&link->lock);
		conn = list_first_entry_or_null(&link->waiters,
						struct smcr_conn, tx.sq_wait);
		if (conn)
			list_del_init(&conn->tx.sq_wait);
		spin_unlock_bh(&link->lock);
		if (!conn)
			return;
		spin_lock_bh(&conn->lock);
		if (!conn->lgr || !smcr_tx_parked(conn))
			smcr_tx_give_up(conn);
		spin_unlock_bh(&conn->lock);
		sock_put(&smcr_conn_sock(conn)->sk);
	}
}
