// SPDX-License-Identifier: GPL-2.0-only
/*
 * CDC messages of the peer: checked as a whole, then applied (RFC 7609 4.3, 4.7).
 */
#include <net/tcp.h>
#include "conn/conn.h"
#include "conn/sock.h"
#include "base/trace.h"
#include "conn/conn_impl.h"

/*
 * Peer flags in the order in which they would have happened. Readers see them
 * with the data before them: smcr_rx_idle() takes the lock.
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
}

/* The bytes that a CDC announces have been seen to; no device is asked for them */
#define SMCR_RX_SYNCED	(-1)

/*
 * What device @d has written from @from to @to becomes what the CPU sees. Not when somebody
 * reads it: by then the peer may write by another device, whose copy of these bytes
 * is old, and @d may be gone. conn->lock held.
 */
static void smcr_conn_rx_sync(struct smcr_conn *conn, int d,
			      const struct smcr_pos *from,
			      const struct smcr_pos *to)
{
	u32 begin = conn->elem.off + conn->rx_ring.base;
	u32 len = (u32)(to->abs - from->abs);
	u32 off = from->off, run;

	lockdep_assert_held(&conn->lock);
	if (d == SMCR_RX_SYNCED)
		return;
	run = min(len, smcr_ring_cap(&conn->rx_ring) - off);
	smcr_buf_sync_cpu(conn->rx_buf, d, begin + off, run);
	smcr_buf_sync_cpu(conn->rx_buf, d, begin, len - run);
}

/*
 * Check and apply the cursors of a CDC as a whole: nothing of an impossible
 * message takes effect (CDC-19, SEC-11). Returns the reason of a violation.
 */
static enum smcr_reason smcr_conn_apply(struct smcr_conn *conn,
					const struct smcr_cdc *cdc, int d,
					int *rx, int *freed, int *urg)
{
	struct smcr_pos prod = conn->rx_prod, cons = conn->tx_cons;
	const struct smcr_ring *rx_ring = &conn->rx_ring;

	*rx = smcr_pos_apply(rx_ring, &prod, cdc->prod,
			     conn->rx_announced + smcr_ring_cap(rx_ring));
	if (*rx < 0)
		return *rx == -ERANGE ? SMCR_R_CDC_CURSOR : SMCR_R_CDC_PROD;
	if (*rx && conn->fsm.rx_done)
		return SMCR_R_CDC_DATA_AFTER_DONE;

	*freed = 0;
	if (conn->active) {
		*freed = smcr_pos_apply(&conn->tx_ring, &cons, cdc->cons,
					conn->tx_prod.abs);
		if (*freed < 0)
			return *freed == -ERANGE ? SMCR_R_CDC_CURSOR :
						   SMCR_R_CDC_CONS;
	} else if (cdc->cons.wrap || cdc->cons.count != rx_ring->base) {
		/* nothing was sent to it yet */
		return SMCR_R_CDC_CONS;
	}
	*urg = smcr_urg_rx_flags(&conn->rx_urg, cdc->pflags, prod.abs,
				 conn->rx_told.abs);
	if (*urg < 0)
		return SMCR_R_CDC_URGENT;
	if (*rx)
		smcr_conn_rx_sync(conn, d, &conn->rx_prod, &prod);
	conn->rx_prod.off = prod.off;
	conn->rx_prod.wrap = prod.wrap;
	smp_mb();	/* the CDC was seen, then the data; smcr_conn_readable() */
	WRITE_ONCE(conn->rx_prod.abs, prod.abs);
	conn->tx_cons = cons;
	smcr_urg_tx_acked(&conn->tx_urg, cons.abs);
	return SMCR_R_NONE;
}

/* New bytes in the element, conn->lock held */
static void smcr_conn_rx_data(struct smcr_conn *conn, u32 len)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	lockdep_assert_held(&conn->lock);

	smcr_count_add(smcr_conn_net(conn), SMCR_CNT_BYTES_RX, len);
	smcr_child_news(smcr_conn_sock(conn));
	if (!conn->fsm.app_closed) {
		if (smcr_conn_readable(conn) >= READ_ONCE(sk->sk_rcvlowat))
			sk->sk_data_ready(sk);
		return;
	}
	/*
	 * Nobody will read it. It makes room all the same while own data wait
	 * for their drain, or two such sides would wait for each other. Not yet
	 * after shutdown() alone: a recv() may be copying what was there.
	 */
	smcr_conn_purge_rx(conn);
	if (conn->fsm.want_closed && sock_flag(sk, SOCK_DEAD))
		smcr_rx_window(conn);
}

/*
 * Does T_CLOSE run, for a peer that reads what we wrote before the close? A FIN
 * has its own time, and so has what follows from a reset.
 */
static bool smcr_conn_closing(const struct smcr_conn *conn)
{
	return (conn->fsm.want_closed || conn->fsm.tx_closed) &&
	       conn->why == SMCR_R_NONE &&
	       (!conn->fin_seen || smcr_conn_ended(conn));
}

/*
 * The peer has moved, and says that we have received what we have not (FO-08). Each
 * link has a completion queue of its own: the message may be on its way to us. What
 * comes later is kept meanwhile; only the last of it counts, but for a mark.
 */
#define SMCR_RX_WAIT	msecs_to_jiffies(100)

static void smcr_conn_rx_wait(struct smcr_conn *conn, u16 seq)
{
	lockdep_assert_held(&conn->lock);
	if (!conn->rx_wait)
		conn->rx_held = false;
	else if (!smcr_seq_after(seq, conn->rx_wait_seq))
		return;
	/* it may have moved once more meanwhile, and says more */
	conn->rx_wait = true;
	conn->rx_wait_seq = seq;
	sk_reset_timer(&smcr_conn_sock(conn)->sk, &conn->rx_wait_timer,
		       jiffies + SMCR_RX_WAIT);
}

static void smcr_conn_rx_invalid(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	conn->rx_wait = false;
	if (!conn->active)
		conn->early_bad = SMCR_R_CDC_VALIDATION;
	else
		smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
				       SMCR_R_CDC_VALIDATION);
}

/*
 * Its data are seen to now, as its link may be gone later. Those among them that the
 * message on its way announces came by another device: they will be seen to again.
 */
static void smcr_conn_rx_hold(struct smcr_conn *conn, const struct smcr_cdc *cdc,
			      int d)
{
	u8 marks = conn->rx_held ? conn->rx_later.pflags & SMCR_CDC_U : 0;
	u64 most = conn->rx_announced + smcr_ring_cap(&conn->rx_ring);
	struct smcr_pos from = conn->rx_prod, prod;

	lockdep_assert_held(&conn->lock);
	/* over yet another link, which was slower */
	if (conn->rx_held && !smcr_seq_after(cdc->seq, conn->rx_later.seq))
		return;
	/* what was kept before has been seen to */
	if (conn->rx_held)
		smcr_pos_apply(&conn->rx_ring, &from, conn->rx_later.prod, most);
	prod = from;
	if (smcr_pos_apply(&conn->rx_ring, &prod, cdc->prod, most) > 0)
		smcr_conn_rx_sync(conn, d, &from, &prod);
	conn->rx_later = *cdc;
	conn->rx_later.pflags |= marks;
	conn->rx_held = true;
}

/* It has not come: data were lost */
void smcr_conn_rx_wait_over(struct timer_list *timer)
{
	struct smcr_conn *conn = container_of(timer, struct smcr_conn,
					      rx_wait_timer);

	spin_lock_bh(&conn->lock);
	/* not if it was armed again while this run waited for the lock */
	if (conn->rx_wait && conn->lgr && !timer_pending(timer))
		smcr_conn_rx_invalid(conn);
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}

/* One CDC of a known connection, which came by device @d. conn->lock held */
static void smcr_conn_rx_locked(struct smcr_conn *conn,
				const struct smcr_cdc *cdc, int d)
{
	struct smcr_net *sn = smcr_conn_net(conn);
	enum smcr_reason why;
	int rx, freed, urg;

	lockdep_assert_held(&conn->lock);

	if (cdc->pflags & SMCR_CDC_F) {		/* FO-08: no other field counts */
		if (!smcr_fo_valid(cdc->seq, conn->rx_seq))
			smcr_conn_rx_wait(conn, cdc->seq);
		return;
	}
	if (conn->rx_wait && smcr_seq_after(cdc->seq, conn->rx_wait_seq)) {
		smcr_conn_rx_hold(conn, cdc, d);
		return;
	}
	if (!smcr_seq_after(cdc->seq, conn->rx_seq)) {
		smcr_hit(sn, SMCR_R_CDC_OLD, conn->lgr->id, conn->member.token);
		return;
	}
	if (conn->fsm.rx_closed || conn->fsm.rx_abort) {
		smcr_hit(sn, SMCR_R_CDC_AFTER_CLOSE, conn->lgr->id,
			 conn->member.token);
		return;
	}
	if (!smcr_close_may_rx(&conn->fsm)) {
		/* after our A only the peer's C or A counts */
		conn->rx_seq = cdc->seq;
		smcr_conn_rx_flags(conn, cdc->cflags);
		return;
	}

	why = smcr_conn_apply(conn, cdc, d, &rx, &freed, &urg);
	if (why == SMCR_R_NONE && conn->rx_ring.base && d != SMCR_RX_SYNCED &&
	    !smcr_rmb_eye_ok(&conn->elem, d)) {
		why = SMCR_R_RMBE_EYE_CATCHER;
		net_info_ratelimited("smcr: link group %u, peer %*phN: eye catcher of element %u of RMB 0x%x was overwritten, token %08x\n",
				     conn->lgr->id,
				     (int)sizeof(conn->lgr->peer.id),
				     conn->lgr->peer.id, conn->elem.index,
				     smcr_rmb_rkey(conn->elem.rmb, conn->link),
				     conn->member.token);
	}
	if (why != SMCR_R_NONE) {
		if (conn->active)
			smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
					       why);
		else
			conn->early_bad = why;
		return;
	}

	conn->rx_seq = cdc->seq;
	conn->peer_blocked = cdc->pflags & SMCR_CDC_B;
	conn->peer_asks = smcr_cdc_asks(cdc->pflags);
	conn->rx_bytes += rx;
	if (unlikely(urg))
		smcr_rx_urg_news(conn, urg);
	if (!conn->active) {
		conn->early_cflags |= cdc->cflags;
		return;
	}
	if (rx)
		smcr_conn_rx_data(conn, rx);
	/* it waits for space or the cursor, which has moved (CDC-26, CDC-27) */
	if ((conn->peer_asks || conn->peer_blocked) &&
	    conn->rx_announced != conn->rx_told.abs)
		conn->tx_ctrl = true;
	if (freed) {
		if (conn->fsm.app_closed && smcr_conn_closing(conn))
			smcr_conn_start_timer(conn, false);
		smcr_tx_reclaim(conn, conn->tx_cons.abs);
	}
	if (freed || conn->tx_ctrl)
		smcr_tx_push(conn);
	if (cdc->cflags)
		smcr_conn_rx_flags(conn, cdc->cflags);
}

/* What was waited for may have come: then what has been kept counts */
static void smcr_conn_rx_go_on(struct smcr_conn *conn)
{
	const struct smcr_cdc later = conn->rx_later;

	lockdep_assert_held(&conn->lock);
	if (!smcr_fo_valid(conn->rx_wait_seq, conn->rx_seq))
		return;
	conn->rx_wait = false;
	sk_stop_timer(&smcr_conn_sock(conn)->sk, &conn->rx_wait_timer);
	if (conn->rx_held && conn->lgr)
		smcr_conn_rx_locked(conn, &later, SMCR_RX_SYNCED);
}

/* Connection of a token, with a reference; its memory waits for RCU (SOCK_RCU_FREE) */
static struct smcr_conn *smcr_conn_find(struct smcr_lgr *lgr, u32 token)
{
	struct smcr_conn *conn = NULL;
	struct smcr_member *member;

	rcu_read_lock();
	member = smcr_lgr_find_conn(lgr, token);
	if (member)
		conn = container_of(member, struct smcr_conn, member);
	if (conn && !refcount_inc_not_zero(&smcr_conn_sock(conn)->sk.sk_refcnt))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/**
 * smcr_conn_rx_cdc() - a CDC message arrived on a link
 * @link: link; the tokens of its group are the only ones that count (CDC-05)
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
	conn = smcr_conn_find(lgr, cdc.token);
	if (!conn) {
		smcr_hit(lgr->sn, SMCR_R_CDC_TOKEN, lgr->id, cdc.token);
		return;
	}
	spin_lock_bh(&conn->lock);
	/* the socket may have a connection that was opened since the lookup */
	if (conn->lgr == lgr && conn->member.token == cdc.token) {
		smcr_conn_rx_locked(conn, &cdc, link->mem.d);
		if (unlikely(conn->rx_wait))
			smcr_conn_rx_go_on(conn);
	}
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}
