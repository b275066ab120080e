// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the close machine (core/close.h), which only this file feeds, and the
 * execution of its actions (RFC 7609 4.8).
 */
#include <net/tcp.h>
#include "base/race.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "lgr/llc_test.h"
#include "conn/conn.h"
#include "conn/conn_impl.h"
#include "conn/smcr_sock.h"
#include "conn/tx_impl.h"

/* The error for the application, the same as on TCP */
static int conn_errno(const struct smcr_conn *conn,
		      const struct smcr_close_out *out)
{
	int err = out->err;

	if (out->why == SMCR_R_KEEPALIVE || out->why == SMCR_R_USER_TIMEOUT)
		err = ETIMEDOUT;
	else if (err == ECONNRESET && conn->fsm.rx_done && !conn->fsm.tx_done)
		err = EPIPE;	/* as tcp_reset() in CLOSE-WAIT */
	return err;
}

/* PURGE, DROP_TX and NO_TX: drop data, unread or unsent. conn->lock held */
static void conn_act_drop(struct smcr_conn *conn, u32 acts)
{
	lockdep_assert_held(&conn->lock);

	if (acts & SMCR_ACT_PURGE) {
		/* data are lost, so a later D or C must not be reported as EOF */
		if (conn->rx.cons.abs != conn->rx.prod.abs ||
		    !(conn->fsm.rx_done || conn->fsm.rx_closed))
			conn->rx.lost = true;
		smcr_conn_purge_rx(conn);
	}
	if (acts & (SMCR_ACT_PURGE | SMCR_ACT_DROP_TX)) {
		conn->tx.dropped = true;
		WRITE_ONCE(conn->tx.queued, conn->tx.prod.abs);
	}
	if (acts & SMCR_ACT_NO_TX) {
		conn->tx.dead = true;
		smcr_tx_give_up(conn);
	}
}

/* EOF and ERROR: report the end to the application. conn->lock held */
static void conn_act_report(struct smcr_conn *conn,
			    const struct smcr_close_out *out)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	lockdep_assert_held(&conn->lock);

	if (out->actions & SMCR_ACT_EOF) {
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
		sk->sk_state_change(sk);
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
	}
	if (out->actions & SMCR_ACT_ERROR) {
		WRITE_ONCE(sk->sk_err, conn_errno(conn, out));
		/*
		 * sk_err is written before shutdown and state. Pairs with
		 * poll_own(): without the barriers poll() may report the end
		 * without the error
		 */
		smp_wmb();
		WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
		WRITE_ONCE(sk->sk_state, TCP_CLOSE);
		sk_error_report(sk);
		sk->sk_state_change(sk);
	}
	if (out->actions & (SMCR_ACT_EOF | SMCR_ACT_ERROR))
		smcr_child_end_wait(smcr_conn_sock(conn));
}

/*
 * TCP_FIN, TCP_RST and RELEASE, which sleep: leave them to smcr_conn_work(). conn->lock held
 */
static void conn_act_later(struct smcr_conn *conn, u32 acts)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	lockdep_assert_held(&conn->lock);

	if (!(acts & (SMCR_ACT_TCP_FIN | SMCR_ACT_TCP_RST | SMCR_ACT_RELEASE)))
		return;
	if (acts & SMCR_ACT_TCP_FIN)
		set_bit(SMCR_CONN_TODO_FIN, &conn->end.todo);
	if (acts & SMCR_ACT_TCP_RST)
		set_bit(SMCR_CONN_TODO_RST, &conn->end.todo);
	if (acts & SMCR_ACT_RELEASE) {
		/*
		 * While data are unread, the connection stays in the group. There it
		 * gets LGR_LOST when the group ends (conn_rest_event()), and it moves
		 * when its link fails, as there may still be something to send.
		 */
		conn->rx.rest = smcr_conn_readable(conn);
		set_bit(SMCR_CONN_TODO_RELEASE, &conn->end.todo);
		/* an application that has not closed may still read data that precede C */
		if (conn->fsm.app_closed && sk->sk_state != TCP_CLOSE) {
			WRITE_ONCE(sk->sk_state, TCP_CLOSE);
			sk->sk_state_change(sk);	/* wakes a lingering close() */
		}
	}
	/* FIN and RELEASE wait for the last completion: smcr_conn_tx_idle() queues the work */
	if (!conn->tx.pends || (acts & SMCR_ACT_TCP_RST))
		smcr_conn_queue_work(conn);
}

/*
 * Carry out the actions of the close machine. conn->lock held. Returns the event that the
 * caller feeds next; NR_SMCR_CONN_EV: none.
 */
static enum smcr_conn_ev conn_act(struct smcr_conn *conn,
				  const struct smcr_close_out *out)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;
	struct smcr_net *sn = smcr_conn_net(conn);
	enum smcr_conn_ev next = NR_SMCR_CONN_EV;
	u32 acts = out->actions;

	lockdep_assert_held(&conn->lock);

	conn_act_drop(conn, acts);
	if (acts & SMCR_ACT_SEND) {
		smcr_tx_flag(conn, acts & SMCR_ACT_SEND);
		if ((acts & SMCR_ACT_SEND_ABORT) &&
		    (!conn->link || !smcr_link_up(conn->link)))
			next = SMCR_CONN_EV_TX_ABORT_DONE;
	}
	if (acts & SMCR_ACT_SEND_ABORT)
		sk->sk_state_change(sk);	/* wakes a lingering close() */
	conn_act_report(conn, out);
	if (acts & SMCR_ACT_STOP_TIMER)
		smcr_conn_stop_timer(conn);
	if (acts & SMCR_ACT_CLOSE_TIMER)
		smcr_conn_start_timer(conn, false);
	if (acts & SMCR_ACT_ABORT_TIMER)
		smcr_conn_start_timer(conn, true);
	if (out->why != SMCR_R_NONE && conn->end.why == SMCR_R_NONE) {
		conn->end.why = out->why;
		smcr_report_reason(sn, out->why, conn->lgr->id, conn->member.token);
		smcr_count(sn, SMCR_CNT_CONN_ABORTED);
	}
	conn_act_later(conn, acts);
	return next;
}

/* Process an event that comes in CLOSED while unread data are left */
static void conn_rest_event(struct smcr_conn *conn, enum smcr_conn_ev ev)
{
	switch (ev) {
	case SMCR_CONN_EV_APP_CLOSE:
	case SMCR_CONN_EV_APP_ABORT:
		smcr_conn_purge_rx(conn);
		fallthrough;
	case SMCR_CONN_EV_LGR_LOST:
		smcr_conn_queue_work(conn);
		break;
	default:
		break;
	}
}

/**
 * smcr_conn_event_locked() - feed the close machine
 * @conn: connection, conn->lock held
 * @ev: what happened
 * @why: reason, or SMCR_R_NONE for the one in the machine's table
 *
 * This function alone changes the machine's state after smcr_conn_open() has set it up.
 * Actions that sleep are left to smcr_conn_work().
 *
 * Context: any up to softirq.
 */
void smcr_conn_event_locked(struct smcr_conn *conn, enum smcr_conn_ev ev,
			    enum smcr_reason why)
{
	struct smcr_close_facts facts;
	struct smcr_close_out out;

	lockdep_assert_held(&conn->lock);

	/* the peer has ended the group, and then reset TCP: LGR_LOST stands for both */
	if (ev == SMCR_CONN_EV_TCP_RESET && conn->lgr &&
	    smcr_lgr_state(conn->lgr) == SMCR_LGR_ST_DEAD) {
		ev = SMCR_CONN_EV_LGR_LOST;
		why = conn->lgr->why;
	}
	/* in CLOSED, with unread data, the machine has an action for CONFLICT only */
	if (conn->rx.rest && ev != SMCR_CONN_EV_CONFLICT) {
		conn_rest_event(conn, ev);
		return;
	}
	while (ev != NR_SMCR_CONN_EV && conn->lgr) {
		u8 old = conn->fsm.st;

		facts.unread = conn->rx.prod.abs != conn->rx.cons.abs;
		facts.unsent = smcr_conn_unsent(conn) > 0;
		facts.undrained = conn->tx.done != conn->tx.queued;
		smcr_close_step(&conn->fsm, ev, &facts, why, &out);
		trace_smcr_conn_state(conn->member.token, old, ev, conn->fsm.st,
				      out.actions);
		ev = conn_act(conn, &out);
		why = SMCR_R_NONE;
	}
	if (conn->lgr && (conn->fsm.want_done || conn->fsm.want_closed)) {
		smcr_tx_flush(conn);
		smcr_llc_test_soon(conn->lgr);
	}
}

/**
 * smcr_conn_event() - feed the close machine
 * @conn: connection; caller holds a reference on the socket, not conn->lock
 * @ev: event
 * @why: reason, or SMCR_R_NONE for the one in the machine's table
 *
 * Context: any up to softirq.
 */
void smcr_conn_event(struct smcr_conn *conn, enum smcr_conn_ev ev,
		     enum smcr_reason why)
{
	spin_lock_bh(&conn->lock);
	smcr_conn_event_locked(conn, ev, why);
	spin_unlock_bh(&conn->lock);
}

/**
 * smcr_conn_drained() - feed the close machine DRAINED if that is due
 * @conn: connection, conn->lock held; smcr_tx_reclaim() has brought tx up to date
 *
 * The machine may send in response, and for that all of the send state has to be up to
 * date. smcr_tx_reclaim() updates only a part of it, so it does not feed this event: its
 * callers call this function after the whole update.
 */
void smcr_conn_drained(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (conn->tx.done == conn->tx.queued &&
	    (conn->fsm.want_done || conn->fsm.want_closed))
		smcr_conn_event_locked(conn, SMCR_CONN_EV_DRAINED,
				       SMCR_R_NONE);
}

/**
 * smcr_conn_tx_done() - process the completion of a signalled post
 * @pend: entry of the post, from the link
 * @ok: the post succeeded
 *
 * First this function updates the send state. Then it feeds the close machine, and posts
 * what has waited for the completion.
 *
 * Context: softirq, or process on a software device.
 */
void smcr_conn_tx_done(struct smcr_tx_pend *pend, bool ok)
{
	struct smcr_conn *conn = pend->arg;

	spin_lock_bh(&conn->lock);
	if (smcr_tx_completed(conn, pend, ok))
		smcr_conn_drained(conn);
	if ((pend->flags & SMCR_CDC_A) && smcr_tx_pend_ours(conn, pend))
		smcr_conn_event_locked(conn, SMCR_CONN_EV_TX_ABORT_DONE,
				       SMCR_R_NONE);
	if (unlikely(conn->mv.leave == SMCR_MV_LEAVES)) {
		set_bit(SMCR_CONN_TODO_MOVE, &conn->end.todo);
		smcr_conn_queue_work(conn);
	}
	if (conn->tx.flush || smcr_conn_unsent(conn) || conn->mv.redo)
		smcr_tx_push(conn);
	if (!conn->tx.pends)
		smcr_conn_tx_idle(conn);
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}

/**
 * smcr_conn_tcp_fin() - process a FIN on TCP while SMC-R is up (CONN-34)
 * @conn: connection
 *
 * FIN is not the end of the data: the peer's D, C or A may still come until T_CLOSE
 * expires.
 */
void smcr_conn_tcp_fin(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	if (conn->lgr && !conn->end.fin_seen && !smcr_conn_ended(conn)) {
		conn->end.fin_seen = true;
		smcr_conn_start_timer(conn, false);
	}
	spin_unlock_bh(&conn->lock);
}

void smcr_conn_timer(struct timer_list *timer)
{
	struct smcr_conn *conn = container_of(timer, struct smcr_conn,
					      end.timer);
	struct smcr_net *sn = smcr_conn_net(conn);

	smcr_race_atomic(sn->net, "conn-timer");
	spin_lock_bh(&conn->lock);
	/*
	 * nothing is due if the timer was armed again, or the connection has ended, while
	 * this run waited for the lock
	 */
	if (!conn->lgr || conn->fsm.st == SMCR_CONN_ST_CLOSED ||
	    time_before(jiffies, conn->end.due))
		goto out;
	if (conn->end.fin_seen && !smcr_conn_ended(conn)) {
		smcr_count(sn, SMCR_CNT_T_CLOSE);
		smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
				       SMCR_R_TCP_FIN);
	} else if (conn->end.abort) {
		smcr_count(sn, SMCR_CNT_T_ABORT);
		smcr_conn_event_locked(conn, SMCR_CONN_EV_TIMER,
				       SMCR_R_ABORT_TIMEOUT);
	} else if (conn->fsm.want_closed || conn->fsm.tx_closed) {
		smcr_count(sn, SMCR_CNT_T_CLOSE);
		smcr_conn_event_locked(conn, SMCR_CONN_EV_TIMER,
				       SMCR_R_CLOSE_TIMEOUT);
	}
out:
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}

/**
 * smcr_conn_closing() - does T_CLOSE limit the peer's time to consume data after close()?
 * @conn: connection, conn->lock held
 *
 * The result is false for the T_CLOSE that a premature FIN has started
 * (smcr_conn_tcp_fin()), and for a timer after an abnormal end.
 *
 * Return: true after close(), until the connection ends abnormally.
 */
bool smcr_conn_closing(const struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	return (conn->fsm.want_closed || conn->fsm.tx_closed) &&
	       conn->end.why == SMCR_R_NONE &&
	       (!conn->end.fin_seen || smcr_conn_ended(conn));
}

static void conn_unorphan_locked(struct smcr_net *sn,
				 struct smcr_conn *conn)
{
	lockdep_assert_held(&sn->sk_lock);

	if (list_empty(&conn->end.orphan))
		return;
	list_del_init(&conn->end.orphan);
	sn->n_orphans--;
}

/**
 * smcr_conn_unorphan() - take a connection off the list of orphans
 * @conn: connection that is being released; orphan or not
 */
void smcr_conn_unorphan(struct smcr_conn *conn)
{
	struct smcr_net *sn = smcr_conn_net(conn);

	spin_lock_bh(&sn->sk_lock);
	conn_unorphan_locked(sn, conn);
	spin_unlock_bh(&sn->sk_lock);
}

/**
 * smcr_conn_orphan() - list a connection that goes on after close() as an orphan
 * @conn: connection of a socket without an application
 *
 * If there are more than max_orphans, the oldest one is aborted. An orphan that ends in
 * order leaves the list soon, so the oldest orphan has a peer that consumes little.
 *
 * Context: process; socket lock held, so that the connection is not released meanwhile.
 */
void smcr_conn_orphan(struct smcr_conn *conn)
{
	struct smcr_net *sn = smcr_conn_net(conn);
	struct smcr_conn *old = NULL;
	bool goes_on;

	sock_owned_by_me(&smcr_conn_sock(conn)->sk);

	spin_lock_bh(&conn->lock);
	goes_on = conn->lgr && smcr_conn_closing(conn);
	spin_unlock_bh(&conn->lock);
	if (!goes_on)
		return;

	spin_lock_bh(&sn->sk_lock);
	list_add_tail(&conn->end.orphan, &sn->orphans);
	if (++sn->n_orphans > READ_ONCE(sn->knobs.max_orphans)) {
		old = list_first_entry(&sn->orphans, struct smcr_conn,
				       end.orphan);
		/* an orphan is in a group, and so has a reference on the socket */
		sock_hold(&smcr_conn_sock(old)->sk);
		conn_unorphan_locked(sn, old);
	}
	spin_unlock_bh(&sn->sk_lock);
	if (!old)
		return;
	spin_lock_bh(&old->lock);
	if (old->lgr && smcr_conn_closing(old))
		smcr_conn_event_locked(old, SMCR_CONN_EV_TIMER, SMCR_R_ORPHANS);
	spin_unlock_bh(&old->lock);
	sock_put(&smcr_conn_sock(old)->sk);
}

/**
 * smcr_conn_user_timer() - abort the connection if TCP_USER_TIMEOUT is over
 * @timer: tx.timer; its reference on the socket is put
 */
void smcr_conn_user_timer(struct timer_list *timer)
{
	struct smcr_conn *conn = container_of(timer, struct smcr_conn,
					      tx.timer);

	spin_lock_bh(&conn->lock);
	if (smcr_tx_stalled(conn))
		smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
				       SMCR_R_USER_TIMEOUT);
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}
