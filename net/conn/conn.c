// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection helpers: queued work, close timer, purge of unread data, current link.
 */
#include <net/tcp.h>
#include "lgr/lgr.h"
#include "lgr/rtoken.h"
#include "conn/conn.h"
#include "conn/conn_impl.h"
#include "conn/smcr_sock.h"

const struct smcr_conn_ops *smcr_conn_owner_ops __ro_after_init;

/* Every queued work holds a reference on the socket */
void smcr_conn_queue_work(struct smcr_conn *conn)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	sock_hold(sk);
	if (!queue_work(smcr_sock_wq, &conn->end.work))
		sock_put(sk);
}

void smcr_conn_start_timer(struct smcr_conn *conn, bool abort)
{
	const struct smcr_knobs *knobs = &smcr_conn_net(conn)->knobs;
	int ms = abort ? READ_ONCE(knobs->t_abort) : READ_ONCE(knobs->t_close);

	lockdep_assert_held(&conn->lock);
	conn->end.abort = abort;
	conn->end.taken = conn->tx.cons.abs;
	conn->end.due = jiffies + msecs_to_jiffies(ms);
	sk_reset_timer(&smcr_conn_sock(conn)->sk, &conn->end.timer,
		       conn->end.due);
}

void smcr_conn_stop_timer(struct smcr_conn *conn)
{
	sk_stop_timer(&smcr_conn_sock(conn)->sk, &conn->end.timer);
}

/*
 * Drop unread data. The next CDC announces their room to the peer. conn->lock held. A
 * reader that is copying them finds rx.purged set, and does not return them.
 */
void smcr_conn_purge_rx(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	WRITE_ONCE(conn->rx.purged, true);
	/*
	 * purged is written before the positions. Pairs with both barriers of
	 * rx_copy(): without them a reader may return bytes that the peer is free
	 * to overwrite
	 */
	smp_wmb();
	smcr_pos_set(&conn->rx.cons, &conn->rx.prod);
	smcr_pos_set(&conn->rx.ackable, &conn->rx.prod);
	smcr_urg_rx_lost(&conn->rx.urg);
}

/**
 * smcr_conn_rest_read() - release the element if all unread data were read
 * @conn: closed connection with conn->rx.rest, conn->lock held
 */
void smcr_conn_rest_read(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (!smcr_conn_readable(conn))
		smcr_conn_queue_work(conn);
}

/* Is a FIN on TCP regular by now? It is after the peer's D, too: the peer may half-close TCP */
bool smcr_conn_ended(const struct smcr_conn *conn)
{
	return conn->fsm.rx_done || conn->fsm.rx_closed ||
	       conn->fsm.rx_abort || conn->fsm.tx_closed ||
	       conn->fsm.tx_abort || conn->fsm.st == SMCR_CONN_ST_CLOSED;
}

/**
 * smcr_conn_tx_idle() - the last signalled send has completed
 * @conn: connection, conn->lock held
 *
 * The release, or a lingering close(), may have waited for this completion.
 *
 * Context: softirq, or process on a software device.
 */
void smcr_conn_tx_idle(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (test_bit(SMCR_CONN_TODO_RELEASE, &conn->end.todo))
		smcr_conn_queue_work(conn);
	if (conn->fsm.tx_closed) {	/* wakes a lingering close() */
		struct sock *sk = &smcr_conn_sock(conn)->sk;

		sk->sk_state_change(sk);
	}
}

/*
 * Attach the connection to @link, or to none. conn->lock held. Returns the previous link,
 * from which the caller detaches the connection after it has dropped the lock.
 */
struct smcr_link *smcr_conn_set_link(struct smcr_conn *conn,
				     struct smcr_link *link)
{
	struct smcr_link *old = conn->link;

	lockdep_assert_held(&conn->lock);
	if (link)
		smcr_link_attach(link);
	WRITE_ONCE(conn->link, link);	/* it is compared without the lock elsewhere */
	return old;
}

/*
 * Take RKey and address of the peer's element on @link from the RToken that the peer has
 * announced for the link's slot. If the peer has announced none, nothing changes, and an
 * errno is returned.
 */
int smcr_conn_resolve_rtoken(struct smcr_conn *conn, const struct smcr_link *link)
{
	u64 va;
	int rc;

	lockdep_assert_held(&conn->lock);
	rc = smcr_lgr_rtoken_on(conn->lgr, conn->relem.rtoken, link->slot,
				&conn->tx.rkey, &va);
	if (!rc)
		conn->tx.va = va + (u64)(conn->relem.index - 1) *
				     conn->tx.ring.size;
	return rc;
}

/*
 * May packets still arrive that the peer has sent before its last move? They may during
 * SMCR_HELD_UP after that move. But when all links except the one that the peer has moved to
 * have stopped, no such packets arrive any more: the peer has left one of these links.
 */
static bool conn_may_come(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->rx.redo && conn->lgr &&
	       time_before(jiffies, conn->rx.redo_at + SMCR_HELD_UP) &&
	       smcr_lgr_other_receives(conn->lgr, conn->rx.redo_num);
}

/*
 * Carry out moves, and the actions of the close machine that sleep. The socket lock keeps
 * a reader or writer out of the element and the send buffer while they are released.
 */
void smcr_conn_work(struct work_struct *work)
{
	struct smcr_conn *conn = container_of(work, struct smcr_conn, end.work);
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	struct sock *sk = &ssk->sk;
	bool orderly, idle;

	if (!smcr_sock_trylock(ssk, SMCR_SK_CONN_WORK)) {
		smcr_conn_leave_device(conn);
		goto out;
	}
	clear_bit(SMCR_CONN_TODO_LATE, &conn->end.todo);
	if (test_and_clear_bit(SMCR_CONN_TODO_RST, &conn->end.todo))
		smcr_tcp_reset(ssk);

	if (test_and_clear_bit(SMCR_CONN_TODO_MOVE, &conn->end.todo))
		smcr_conn_move(conn);
	if (test_and_clear_bit(SMCR_CONN_TODO_SPREAD, &conn->end.todo))
		smcr_conn_spread(conn);

	spin_lock_bh(&conn->lock);
	if (test_and_clear_bit(SMCR_CONN_TODO_UNBIND, &conn->end.todo))
		smcr_conn_unbind_from(conn, READ_ONCE(conn->bound.gone));
	idle = !smcr_tx_outstanding(conn);
	orderly = smcr_close_both_sent(&conn->fsm) &&
		  !conn_may_come(conn);
	spin_unlock_bh(&conn->lock);

	/*
	 * FIN and RELEASE have to follow our C, which may still wait for room in the
	 * send queue (CONN-03). The last completion queues this work again.
	 */
	if (idle && test_and_clear_bit(SMCR_CONN_TODO_FIN, &conn->end.todo))
		smcr_tcp_fin(ssk);
	if (idle &&
	    test_and_clear_bit(SMCR_CONN_TODO_RELEASE, &conn->end.todo)) {
		smcr_conn_stop_timer(conn);
		smcr_conn_release_tx(conn);
		sk_stop_timer(sk, &conn->bound.timer);
		set_bit(SMCR_CONN_TODO_ELEM, &conn->end.todo);
	}
	if (test_bit(SMCR_CONN_TODO_ELEM, &conn->end.todo))
		smcr_conn_release_read(conn, !orderly);
	else if (conn->own.pin_len && !smcr_conn_readable(conn))
		smcr_conn_unkeep_rest(conn);
	release_sock(sk);
out:
	smcr_conn_owner_ops->put(ssk);
}
