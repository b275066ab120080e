// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was sent has been delivered.
 */
#include "conn/conn.h"
#include "conn/sock.h"
#include "conn/tx_impl.h"

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

	if (mark <= conn->tx.done)
		return;
	WRITE_ONCE(conn->tx.done, mark);
	if (conn->tx.done == conn->tx.queued &&
	    (conn->fsm.want_done || conn->fsm.want_closed))
		smcr_conn_event_locked(conn, SMCR_CONN_EV_DRAINED,
				       SMCR_R_NONE);
	smcr_tx_space(conn);
}

/**
 * smcr_tx_done() - completion of a signalled post
 * @pend: of smcr_link_post()
 * @ok: it went through
 *
 * Context: softirq, or process on a software device.
 */
void smcr_tx_done(struct smcr_tx_pend *pend, bool ok)
{
	struct smcr_conn *conn = pend->arg;

	spin_lock_bh(&conn->lock);
	conn->tx.pends--;
	/* not of an earlier connection of the socket */
	if (!ok && pend->link == conn->link)
		conn->mv.lost = true;
	if (ok) {
		if (pend->link == conn->link)
			smcr_fo_done(&conn->mv.fo, pend->flags >> 16, pend->mark);
		WRITE_ONCE(conn->tx.acked, pend->mark);
		smcr_tx_reclaim(conn, pend->mark);
	}
	if (pend->flags & SMCR_CDC_A)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_TX_ABORT_DONE,
				       SMCR_R_NONE);
	if (conn->tx.flush || smcr_conn_unsent(conn))
		smcr_tx_push(conn);
	if (!conn->tx.pends)
		smcr_conn_tx_idle(conn);
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}
