// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limit of the time for which the peer may take nothing of what is sent (TCP_USER_TIMEOUT)
 */
#include <net/inet_connection_sock.h>
#include "conn/conn.h"
#include "conn/conn_impl.h"
#include "conn/smcr_sock.h"
#include "conn/tx_impl.h"

/* Do data wait for room at the peer, or is a completion pending? */
static bool tx_waits(const struct smcr_conn *conn)
{
	return conn->tx.pends || smcr_conn_unsent(conn);
}

static void tx_arm(struct smcr_conn *conn)
{
	sk_reset_timer(&smcr_conn_sock(conn)->sk, &conn->tx.timer,
		       conn->tx.since + conn->tx.timeout);
}

/**
 * smcr_tx_watch() - begin to measure the time, anew if the peer has taken data
 * @conn: connection with a timeout, conn->lock held
 */
void smcr_tx_watch(struct smcr_conn *conn)
{
	u64 taken = conn->tx.done + conn->tx.prod.abs;

	lockdep_assert_held(&conn->lock);

	if (!tx_waits(conn)) {
		conn->tx.watched = false;
		return;
	}
	if (conn->tx.watched && conn->tx.taken == taken)
		return;
	conn->tx.watched = true;
	conn->tx.taken = taken;
	conn->tx.since = jiffies;
	/* an armed timer keeps its time: on expiry smcr_tx_stalled() checks tx.since */
	if (!timer_pending(&conn->tx.timer))
		tx_arm(conn);
}

/**
 * smcr_tx_stalled() - is TCP_USER_TIMEOUT over?
 * @conn: connection, conn->lock held
 *
 * If it is not, and data or a completion wait for the peer, the timer is armed again.
 *
 * Context: any; tx.timer has run out.
 * Return: true if the peer has taken nothing for that time.
 */
bool smcr_tx_stalled(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	/* nothing is due if the timer was armed again while its run waited for the lock */
	if (!conn->lgr || !conn->tx.timeout || timer_pending(&conn->tx.timer))
		return false;
	smcr_tx_watch(conn);
	if (!conn->tx.watched || timer_pending(&conn->tx.timer))
		return false;
	if (time_after_eq(jiffies, conn->tx.since + conn->tx.timeout))
		return true;
	tx_arm(conn);
	return false;
}

/**
 * smcr_tx_unwatch() - stop the timer of TCP_USER_TIMEOUT
 * @conn: connection, conn->lock held
 */
void smcr_tx_unwatch(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	conn->tx.watched = false;
	sk_stop_timer(&smcr_conn_sock(conn)->sk, &conn->tx.timer);
}

/**
 * smcr_tx_set_timeout() - take TCP_USER_TIMEOUT from the inner socket
 * @conn: active connection, conn->lock held
 *
 * For data that wait already, the time begins anew.
 */
void smcr_tx_set_timeout(struct smcr_conn *conn)
{
	const struct sock *tsk = smcr_conn_sock(conn)->tcp->sk;
	u32 ms = READ_ONCE(inet_csk(tsk)->icsk_user_timeout);

	lockdep_assert_held(&conn->lock);

	conn->tx.timeout = ms ? max(msecs_to_jiffies(ms), 1UL) : 0;
	smcr_tx_unwatch(conn);
	if (conn->tx.timeout)
		smcr_tx_watch(conn);
}

/**
 * smcr_tx_limits_changed() - TCP_USER_TIMEOUT or TCP_NOTSENT_LOWAT was set
 * @conn: connection, with or without a link group
 *
 * Context: any.
 */
void smcr_tx_limits_changed(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	if (conn->lgr && conn->active) {
		smcr_tx_set_timeout(conn);
		smcr_tx_space(conn);
	}
	spin_unlock_bh(&conn->lock);
}
