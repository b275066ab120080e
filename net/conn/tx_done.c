// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of sent data, by completions and the peer's cursor. The functions here only
 * update the send state. Their callers then feed the close machine, by smcr_conn_drained():
 * the machine may send, and for that all of the send state has to be up to date.
 */
#include "conn/conn.h"
#include "conn/smcr_sock.h"
#include "conn/tx_impl.h"

/**
 * smcr_tx_reclaim() - reclaim the send buffer up to a position that was delivered
 * @conn: connection, conn->lock held
 * @mark: absolute position, from a completion or the peer's consumer cursor
 *
 * Context: any.
 * Return: true if @mark is beyond all positions reclaimed before.
 */
bool smcr_tx_reclaim(struct smcr_conn *conn, u64 mark)
{
	lockdep_assert_held(&conn->lock);

	if (mark <= conn->tx.done)
		return false;
	WRITE_ONCE(conn->tx.done, mark);
	smcr_tx_space(conn);
	return true;
}

/**
 * smcr_tx_completed() - account for the completion of a signalled post
 * @conn: connection, conn->lock held
 * @pend: entry of the post, from the link
 * @ok: the post succeeded
 *
 * Context: any.
 * Return: as smcr_tx_reclaim().
 */
bool smcr_tx_completed(struct smcr_conn *conn, const struct smcr_tx_pend *pend,
		       bool ok)
{
	lockdep_assert_held(&conn->lock);

	WRITE_ONCE(conn->tx.pends, conn->tx.pends - 1);
	if (!smcr_tx_pend_ours(conn, pend))
		return false;
	if (!ok) {
		if (pend->link == conn->link)
			conn->mv.lost = true;
		return false;
	}
	if (pend->link == conn->link)
		smcr_fo_done(&conn->mv.fo, pend->flags >> 16, pend->mark);
	if ((pend->flags & SMCR_TX_BARRIER) && pend->link == conn->link &&
	    conn->mv.leave == SMCR_MV_WAITS)
		conn->mv.leave = SMCR_MV_LEAVES;
	WRITE_ONCE(conn->tx.acked, pend->mark);
	conn->tx.watched = false;	/* each completion is progress */
	return smcr_tx_reclaim(conn, pend->mark);
}
