// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of unsent data: their amount (TCP_NOTSENT_LOWAT), and the time for which the peer
 * may take nothing (TCP_USER_TIMEOUT).
 *
 * Data that were written into the peer's element count as sent, like acknowledged ones
 * on TCP, whether the peer's application has read them or not.
 */
#include <net/tcp.h>
#include "conn/conn.h"
#include "conn/conn_impl.h"
#include "conn/smcr_sock.h"
#include "conn/tx_impl.h"

/* Unsent bytes; 0 if prod.abs, which is read without a lock, is newer than queued */
static s64 tx_unsent(const struct smcr_conn *conn)
{
	return max_t(s64, smcr_conn_unsent(conn), 0);
}

/* TCP_NOTSENT_LOWAT. UINT_MAX: no limit, which is the default of TCP's sysctl */
static u32 tx_lowat(const struct smcr_conn *conn)
{
	return tcp_notsent_lowat(tcp_sk(smcr_conn_sock(conn)->tcp->sk));
}

/**
 * smcr_tx_allowance() - bytes that TCP_NOTSENT_LOWAT allows to be queued
 * @conn: connection; exact under the socket lock only
 *
 * Context: any.
 * Return: bytes, 0: none for now.
 */
u32 smcr_tx_allowance(const struct smcr_conn *conn)
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

/**
 * smcr_tx_roomy() - is there enough room to wake a sleeping writer?
 * @conn: connection
 *
 * There is if a third of the send buffer is free, and less than half of
 * TCP_NOTSENT_LOWAT is unsent, as on TCP.
 *
 * Context: any.
 * Return: true if there is.
 */
bool smcr_tx_roomy(const struct smcr_conn *conn)
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
	 * the room is written before NOSPACE is read. Pairs with smcr_tx_wait(): without
	 * the barriers a writer may sleep on
	 */
	smp_mb();
	if (test_bit(SMCR_SK_NOSPACE, &ssk->flags) && smcr_tx_roomy(conn)) {
		clear_bit(SMCR_SK_NOSPACE, &ssk->flags);
		ssk->sk.sk_write_space(&ssk->sk);
	}
}

/* Does something wait for room at the peer, or for a completion? */
static bool tx_waits(const struct smcr_conn *conn)
{
	return conn->tx.pends || smcr_conn_unsent(conn);
}

static void tx_arm(struct smcr_conn *conn)
{
	sk_reset_timer(&smcr_conn_sock(conn)->sk, &conn->tx.timer,
		       conn->tx.since + conn->tx.timeout);
}

static void tx_watch(struct smcr_conn *conn)
{
	u64 taken = conn->tx.done + conn->tx.prod.abs;

	if (!tx_waits(conn)) {
		conn->tx.watched = false;
		return;
	}
	if (conn->tx.watched && conn->tx.taken == taken)
		return;
	conn->tx.watched = true;
	conn->tx.taken = taken;
	conn->tx.since = jiffies;
	/* a running timer is not put off: on expiry smcr_tx_stalled() checks tx.since */
	if (!timer_pending(&conn->tx.timer))
		tx_arm(conn);
}

/**
 * smcr_tx_pushed() - watch the limits, as smcr_tx_push() has sent what it could
 * @conn: connection, conn->lock held
 */
void smcr_tx_pushed(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (unlikely(conn->tx.timeout))
		tx_watch(conn);
	/*
	 * without TCP_NOTSENT_LOWAT writers wait for room in the buffer only, which comes
	 * with completions and the peer's cursor, and not with a post
	 */
	if (unlikely(tx_lowat(conn) != UINT_MAX))
		smcr_tx_space(conn);
}

/**
 * smcr_tx_stalled() - is TCP_USER_TIMEOUT over?
 * @conn: connection, conn->lock held
 *
 * If it is not, and something waits for the peer, the timer is armed again.
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
	tx_watch(conn);
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
		tx_watch(conn);
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
