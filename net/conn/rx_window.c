// SPDX-License-Identifier: GPL-2.0-only
/*
 * Window updates: when consumption is announced to the peer (RFC 7609 4.5.1).
 */
#include "conn/conn.h"
#include "conn/smcr_sock.h"

/**
 * smcr_rx_peer_closed() - set the time of the next window update after the peer's C
 * @conn: connection, conn->lock held
 *
 * When the peer has sent C, and our consumer cursor does not move until the peer's
 * T_CLOSE expires, the peer aborts the connection (CONN-21). So while data are
 * unread, an update is due from time to time. The peer's T_CLOSE is not known; the
 * interval fits our own value and the usual ones.
 */
void smcr_rx_peer_closed(struct smcr_conn *conn)
{
	int t_close = READ_ONCE(smcr_conn_sock(conn)->sn->knobs.t_close);

	lockdep_assert_held(&conn->lock);
	conn->rx.tell_at = jiffies + msecs_to_jiffies(min(t_close / 4, 1000));
}

/*
 * Is an update due to a peer that has sent C and waits? The window rules demand
 * none, as the peer writes nothing more. Nor is one due when the application has
 * read the last byte: it then finds the end of the data, and our own C follows when
 * it closes.
 */
static bool rx_closer_waits(struct smcr_conn *conn)
{
	if (likely(!conn->fsm.rx_closed) || !smcr_conn_readable(conn) ||
	    conn->rx.ackable.abs == conn->rx.acked ||
	    time_before(jiffies, conn->rx.tell_at))
		return false;
	smcr_rx_peer_closed(conn);
	return true;
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
		.peer_asks = conn->rx.asks ||
			     smcr_urg_rx_owed(&conn->rx.urg, conn->rx.acked,
					      conn->rx.ackable.abs),
	};

	lockdep_assert_held(&conn->lock);

	if (!smcr_rx_update_due(&win) && !rx_closer_waits(conn))
		return;
	conn->tx.ctrl = true;
	smcr_tx_push(conn);
}
