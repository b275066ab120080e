// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receipt of CDC messages: each is checked as a whole, then applied (RFC 7609 4.3, 4.7).
 */
#include <net/tcp.h>
#include "base/race.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "lgr/rmb.h"
#include "conn/conn.h"
#include "conn/conn_impl.h"
#include "conn/smcr_sock.h"

/*
 * Apply D, C and A of a CDC, in the order in which the peer would send them one
 * by one. All data that precede the flags are readable already: the caller has applied
 * the producer cursor, and still holds conn->lock. rx_idle() takes that lock, so a
 * reader that sees one of the flags sees these data, too.
 */
void smcr_conn_rx_flags(struct smcr_conn *conn, u8 cflags)
{
	lockdep_assert_held(&conn->lock);

	if ((cflags & SMCR_CDC_D) && !conn->fsm.rx_done)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_RX_DONE, SMCR_R_NONE);
	if ((cflags & SMCR_CDC_C) && !conn->fsm.rx_closed) {
		smcr_rx_peer_closed(conn);
		smcr_conn_event_locked(conn, SMCR_CONN_EV_RX_CLOSED,
				       SMCR_R_NONE);
	}
	if ((cflags & SMCR_CDC_A) && !conn->fsm.rx_abort)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_RX_ABORT,
				       SMCR_R_PEER_ABORT);
	if (cflags & (SMCR_CDC_C | SMCR_CDC_A) && conn->lgr)
		smcr_lgr_wake_claims(conn->lgr);
}

/*
 * Passed instead of the entry of a device if the CDC was deferred: conn_rx_defer() has
 * synced its data already
 */
#define SMCR_RX_SYNCED	(-1)

/*
 * Sync for the CPU what device @d has written from @from to @to. This must not wait until
 * the application reads these bytes: by then the peer may have moved the connection to
 * another device, whose bounce buffer has older bytes at this place, and device @d may be
 * gone. conn->lock held.
 */
static void conn_rx_sync(struct smcr_conn *conn, int d,
			 const struct smcr_pos *from,
			 const struct smcr_pos *to)
{
	u32 begin = conn->own.elem.off + conn->rx.ring.base;
	u32 len = (u32)(to->abs - from->abs);
	u32 off = from->off, run;

	lockdep_assert_held(&conn->lock);
	if (d == SMCR_RX_SYNCED)
		return;
	run = min(len, smcr_ring_cap(&conn->rx.ring) - off);
	smcr_buf_sync_cpu(conn->own.buf, d, begin + off, run);
	smcr_buf_sync_cpu(conn->own.buf, d, begin, len - run);
}

/*
 * Check and apply the cursors of a CDC as a whole: nothing of an impossible
 * message takes effect (CDC-19, SEC-11). Returns the reason of a violation.
 *
 * A peer that has moved the connection to another link writes again, to the same places,
 * the data whose WRITEs had no completion. By RFC 7609 4.6.2 it announces them all at once.
 * But a peer with net/smc, the SMC-R of the mainline kernel, sets its producer cursor back,
 * and advances it again from there in messages with new sequence numbers. So the peer's
 * cursor may be behind rx.prod, which then stays as it is.
 */
static enum smcr_reason conn_apply(struct smcr_conn *conn,
				   const struct smcr_cdc *cdc, int d,
				   int *rx, int *freed, int *urg)
{
	struct smcr_pos prod = conn->rx.prod, cons = conn->tx.cons;
	const struct smcr_ring *rx_ring = &conn->rx.ring;
	bool behind = false;

	*rx = smcr_pos_apply(rx_ring, &prod, cdc->prod,
			     conn->rx.acked + smcr_ring_cap(rx_ring));
	if (*rx == -EPROTO && conn->rx.redo &&
	    smcr_pos_behind(rx_ring, &prod, cdc->prod)) {
		*rx = 0;	/* no new data, and no new urgent mark */
		behind = true;
	}
	if (*rx < 0)
		return *rx == -ERANGE ? SMCR_R_CDC_CURSOR : SMCR_R_CDC_PROD;
	if (*rx && conn->fsm.rx_done)
		return SMCR_R_CDC_DATA_AFTER_DONE;

	*freed = 0;
	if (conn->active) {
		*freed = smcr_pos_apply(&conn->tx.ring, &cons, cdc->cons,
					conn->tx.prod.abs);
		if (*freed < 0)
			return *freed == -ERANGE ? SMCR_R_CDC_CURSOR :
						   SMCR_R_CDC_CONS;
	} else if (cdc->cons.wrap || cdc->cons.count != rx_ring->base) {
		/* nothing was sent to the peer yet */
		return SMCR_R_CDC_CONS;
	}
	if (cdc->cflags & SMCR_CDC_A) {
		/*
		 * A peer that has moved repeats A, but not the data that were lost, so
		 * the bytes up to its cursor may be undefined. They must not become
		 * readable: a reader takes no lock, and could copy them before the
		 * abort takes effect.
		 */
		prod = conn->rx.prod;
		*rx = 0;
		behind = true;
		conn->rx.beyond = true;
	}
	*urg = behind ? 0 : smcr_urg_rx_flags(&conn->rx.urg, cdc->pflags,
					      prod.abs, conn->rx.ackable.abs);
	if (*urg < 0)
		return SMCR_R_CDC_URGENT;
	if (*rx)
		conn_rx_sync(conn, d, &conn->rx.prod, &prod);
	conn->rx.prod.off = prod.off;
	conn->rx.prod.wrap = prod.wrap;
	/*
	 * The read of the CDC and the write of the urgent state come before the write of
	 * prod.abs. Pairs with smcr_conn_readable(): without the barriers a reader that
	 * sees the new prod.abs might read data older than the CDC, or miss an urgent
	 * mark in them.
	 */
	smp_mb();
	WRITE_ONCE(conn->rx.prod.abs, prod.abs);
	conn->tx.cons = cons;
	smcr_urg_tx_acked(&conn->tx.urg, cons.abs);
	return SMCR_R_NONE;
}

/* Wake readers for @len new bytes, or drop these bytes after close(). conn->lock held */
static void conn_rx_data(struct smcr_conn *conn, u32 len)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	lockdep_assert_held(&conn->lock);

	smcr_count_add(smcr_conn_net(conn), SMCR_CNT_BYTES_RX, len);
	smcr_child_end_wait(smcr_conn_sock(conn));
	if (!conn->fsm.app_closed) {
		if (smcr_conn_readable(conn) >= READ_ONCE(sk->sk_rcvlowat))
			sk->sk_data_ready(sk);
		return;
	}
	/*
	 * The application has closed and does not read. But while own data are still to be
	 * delivered, the room of the dropped bytes is announced: otherwise two such sides
	 * would wait for each other. After shutdown() without close() no room is announced
	 * here: a recv() may still be copying older bytes, and the peer would overwrite them.
	 */
	smcr_race_atomic(smcr_conn_net(conn)->net, "rx-drop");
	smcr_conn_purge_rx(conn);
	if (conn->fsm.want_closed && sock_flag(sk, SOCK_DEAD))
		smcr_rx_window(conn);
}

/*
 * Has the peer consumed enough since the last start of T_CLOSE, so that T_CLOSE starts
 * anew? (CONN-21)
 */
static bool conn_took_enough(const struct smcr_conn *conn)
{
	u64 taken = conn->tx.cons.abs - conn->end.taken;

	return taken >= smcr_ring_cap(&conn->tx.ring) / 8 ||
	       conn->tx.cons.abs == conn->tx.queued;
}

static void conn_rx_invalid(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	conn->reorder.wait = false;
	if (!conn->active)
		conn->preactive.bad = SMCR_R_CDC_VALIDATION;
	else
		smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
				       SMCR_R_CDC_VALIDATION);
}

/* Sequence number of the last CDC that has come, processed or deferred */
static u16 conn_rx_last(const struct smcr_conn *conn)
{
	if (conn->reorder.wait && conn->reorder.have)
		return conn->reorder.cdc.seq;
	return conn->rx.seq;
}

/* Interval of the checks whether the awaited CDC may still come, and longest wait for it */
#define SMCR_RX_LOOK	msecs_to_jiffies(50)
#define SMCR_RX_WAIT	HZ

/*
 * Wait for the CDC with the sequence number @seq. The peer has moved, and its CDC with F
 * names that number, but the CDC that first had it was not processed here (FO-08). That one
 * may still be in the completion queue of another link, as each link has its own. When all
 * other links have stopped, their queues are empty, so the awaited CDC was lost. CDC
 * messages that come during the wait are deferred. Only the newest of them is kept; it
 * takes over the urgent mark of an earlier one that has the same producer cursor.
 */
static void conn_rx_wait(struct smcr_conn *conn, u16 seq, u8 link_num)
{
	lockdep_assert_held(&conn->lock);
	if (!conn->reorder.wait)
		conn->reorder.have = false;
	else if (!smcr_seq_after(seq, conn->reorder.seq))
		return;
	/* no CDC was awaited yet; or @seq is newer, as the peer has moved once more */
	conn->reorder.wait = true;
	conn->reorder.seq = seq;
	conn->reorder.link_num = link_num;
	if (!smcr_lgr_other_receives(conn->lgr, link_num)) {
		conn_rx_invalid(conn);
		return;
	}
	conn->reorder.until = jiffies + SMCR_RX_WAIT;
	sk_reset_timer(&smcr_conn_sock(conn)->sk, &conn->reorder.timer,
		       jiffies + SMCR_RX_LOOK);
}

/*
 * Defer @cdc until the awaited CDC has come. The data of @cdc are synced now, as its link
 * may be gone by then. A part of these bytes may belong to the awaited CDC, and may have
 * come by another device. conn_apply() syncs that part again when it processes the awaited
 * CDC.
 */
static void conn_rx_defer(struct smcr_conn *conn, const struct smcr_cdc *cdc,
			  int d)
{
	const struct smcr_cdc *last = &conn->reorder.cdc;
	u64 most = conn->rx.acked + smcr_ring_cap(&conn->rx.ring);
	struct smcr_pos from = conn->rx.prod, prod;
	u8 marks = 0;

	lockdep_assert_held(&conn->lock);
	/* drop @cdc if it is older than the deferred one: its link was slower */
	if (conn->reorder.have && !smcr_seq_after(cdc->seq, last->seq))
		return;
	/* the data of the previously deferred CDC are synced already */
	if (conn->reorder.have)
		smcr_pos_apply(&conn->rx.ring, &from, last->prod, most);
	prod = from;
	if (smcr_pos_apply(&conn->rx.ring, &prod, cdc->prod, most) > 0)
		conn_rx_sync(conn, d, &from, &prod);
	/* U marks the byte before the producer cursor: with the same cursor, keep U */
	if (conn->reorder.have && last->prod.count == cdc->prod.count &&
	    last->prod.wrap == cdc->prod.wrap)
		marks = last->pflags & SMCR_CDC_U;
	conn->reorder.cdc = *cdc;
	conn->reorder.cdc.pflags |= marks;
	conn->reorder.have = true;
}

/* The awaited CDC has not come: wait longer if it may still come, else data were lost */
void smcr_conn_rx_wait_over(struct timer_list *timer)
{
	struct smcr_conn *conn = container_of(timer, struct smcr_conn,
					      reorder.timer);

	spin_lock_bh(&conn->lock);
	/* nothing is due if the timer was armed again while this run waited for the lock */
	if (conn->reorder.wait && conn->lgr && !timer_pending(timer)) {
		if (time_before(jiffies, conn->reorder.until) &&
		    smcr_lgr_other_receives(conn->lgr, conn->reorder.link_num))
			sk_reset_timer(&smcr_conn_sock(conn)->sk, timer,
				       jiffies + SMCR_RX_LOOK);
		else
			conn_rx_invalid(conn);
	}
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}

/*
 * Process one CDC of a known connection. It came by device @d, on the link with the number
 * @link_num (used with F only). conn->lock held.
 */
static void conn_rx_locked(struct smcr_conn *conn,
			   const struct smcr_cdc *cdc, int d, u8 link_num)
{
	struct smcr_net *sn = smcr_conn_net(conn);
	enum smcr_reason why;
	int rx, freed, urg;

	lockdep_assert_held(&conn->lock);

	if (cdc->pflags & SMCR_CDC_F) {		/* FO-08: no other field counts */
		conn->rx.redo = true;
		conn->rx.redo_at = jiffies;
		conn->rx.redo_num = link_num;
		if (!smcr_fo_valid(cdc->seq, conn_rx_last(conn)))
			conn_rx_wait(conn, cdc->seq, link_num);
		return;
	}
	if (conn->reorder.wait && smcr_seq_after(cdc->seq, conn->reorder.seq)) {
		conn_rx_defer(conn, cdc, d);
		return;
	}
	if (!smcr_seq_after(cdc->seq, conn->rx.seq)) {
		smcr_report_reason(sn, SMCR_R_CDC_OLD, conn->lgr->id, conn->member.token);
		return;
	}
	if (conn->fsm.rx_closed || conn->fsm.rx_abort) {
		smcr_report_reason(sn, SMCR_R_CDC_AFTER_CLOSE, conn->lgr->id,
				   conn->member.token);
		return;
	}
	if (!smcr_close_may_rx(&conn->fsm)) {
		/* after our A only the peer's C or A counts */
		conn->rx.seq = cdc->seq;
		smcr_conn_rx_flags(conn, cdc->cflags);
		return;
	}

	why = conn_apply(conn, cdc, d, &rx, &freed, &urg);
	if (why == SMCR_R_NONE && conn->rx.ring.base && d != SMCR_RX_SYNCED &&
	    !smcr_rmb_eye_ok(&conn->own.elem, d)) {
		why = SMCR_R_RMBE_EYE_CATCHER;
		/*
		 * Logged under conn->lock, in softirq: only here are the element and its
		 * link known. net_ratelimit() admits ten messages in five seconds. For an
		 * active connection there is only one, as the violation ends it.
		 */
		net_info_ratelimited("link group %u, peer %*phN: eye catcher of element %u of RMB 0x%x was overwritten, token %08x\n",
				     conn->lgr->id,
				     (int)sizeof(conn->lgr->peer.id),
				     conn->lgr->peer.id, conn->own.elem.index,
				     conn->link ? smcr_rmb_rkey(conn->own.elem.rmb,
								conn->link) : 0,
				     conn->member.token);
	}
	if (why != SMCR_R_NONE) {
		if (conn->active)
			smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
					       why);
		else
			conn->preactive.bad = why;
		return;
	}

	conn->rx.seq = cdc->seq;
	conn->rx.blocked = cdc->pflags & SMCR_CDC_B;
	conn->rx.asks = cdc->pflags & SMCR_CDC_R;
	conn->rx.bytes += rx;
	if (unlikely(urg))
		smcr_rx_urg_news(conn, urg);
	if (!conn->active) {
		conn->preactive.cflags |= cdc->cflags;
		return;
	}
	if (rx)
		conn_rx_data(conn, rx);
	/*
	 * send a CDC if the peer waits for our consumer cursor, and the cursor has moved
	 * (CDC-26, CDC-27, CDC-37)
	 */
	if ((smcr_rx_asked(conn) || conn->rx.blocked) &&
	    conn->rx.acked != conn->rx.ackable.abs)
		conn->tx.ctrl = true;
	/* the cursor in a CDC with A also covers data that the peer has dropped (CONN-27) */
	if (freed && !(cdc->cflags & SMCR_CDC_A)) {
		if (conn->fsm.app_closed && smcr_conn_closing(conn) &&
		    conn_took_enough(conn))
			smcr_conn_start_timer(conn, false);
		if (smcr_tx_reclaim(conn, conn->tx.cons.abs))
			smcr_conn_drained(conn);
	}
	/* once C or A has come, waiting data are not written any more (CONN-14) */
	if ((freed || conn->tx.ctrl) &&
	    !(cdc->cflags & (SMCR_CDC_C | SMCR_CDC_A)))
		smcr_tx_push(conn);
	if (cdc->cflags)
		smcr_conn_rx_flags(conn, cdc->cflags);
}

/* If the awaited CDC was processed, process the deferred one */
static void conn_rx_go_on(struct smcr_conn *conn)
{
	const struct smcr_cdc later = conn->reorder.cdc;

	lockdep_assert_held(&conn->lock);
	if (!smcr_fo_valid(conn->reorder.seq, conn->rx.seq))
		return;
	conn->reorder.wait = false;
	sk_stop_timer(&smcr_conn_sock(conn)->sk, &conn->reorder.timer);
	if (conn->reorder.have && conn->lgr)
		conn_rx_locked(conn, &later, SMCR_RX_SYNCED, 0);
}

/* The connection with @token. The caller's RCU read side keeps it (SOCK_RCU_FREE) */
static struct smcr_conn *conn_find(struct smcr_lgr *lgr, u32 token)
{
	struct smcr_lgr_member *member = smcr_lgr_find_conn(lgr, token);

	return member ? container_of(member, struct smcr_conn, member) : NULL;
}

/**
 * smcr_conn_rx_cdc() - process a CDC message that has arrived on a link
 * @link: link; the token is looked up in the link's group only (CDC-05)
 * @buf: SMCR_WR_LEN bytes
 *
 * Context: softirq, or process on a software device.
 */
void smcr_conn_rx_cdc(struct smcr_link *link, const u8 *buf)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_lgr *lgr = link->lgr;
	struct smcr_conn *conn;
	struct smcr_cdc cdc;

	if (smcr_cdc_decode(buf, SMCR_WR_LEN, &cdc, &why)) {
		smcr_link_fail(link, why);
		return;
	}
	smcr_count(lgr->sn, SMCR_CNT_CDC_RX);
	trace_smcr_cdc(false, cdc.token, &cdc);
	smcr_race_atomic(lgr->sn->net, "rx-cdc");
	rcu_read_lock();
	conn = conn_find(lgr, cdc.token);
	if (!conn) {
		rcu_read_unlock();
		smcr_report_reason(lgr->sn, SMCR_R_CDC_TOKEN, lgr->id, cdc.token);
		return;
	}
	spin_lock_bh(&conn->lock);
	/*
	 * Since the lookup, another connection may have been opened on the socket. A
	 * connection in the group has a reference on the socket, which is not put before
	 * conn->lgr was cleared under this lock.
	 */
	if (conn->lgr == lgr && conn->member.token == cdc.token) {
		sk_incoming_cpu_update(&smcr_conn_sock(conn)->sk);
		conn_rx_locked(conn, &cdc, link->mem.d,
			       READ_ONCE(link->num));
		if (unlikely(conn->reorder.wait))
			conn_rx_go_on(conn);
	}
	spin_unlock_bh(&conn->lock);
	rcu_read_unlock();
}
