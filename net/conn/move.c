// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failover: the move of a connection to another link of its group (RFC 7609 4.6).
 *
 * When a link has failed, its queue pair is stopped first: then it is known what has
 * certainly arrived. After that, each connection of the link moves by itself, under its
 * socket lock, as its send buffer has to be mapped for the new link's device. Until its
 * move, the connection posts nothing. CDC messages and flags that are owed (due, but not
 * posted yet) are sent after the move. A connection in a handshake has no send buffer, and
 * its handshake moves it.
 *
 * A link that was stopped or has drained is silent, as no post of a connection is pending
 * there: smcr_link_silent(). A link carries connections while they may send over it:
 * smcr_link_carries(). As long as the network may still deliver WRITEs of a lost link, the
 * link binds connections that have left it: it limits what they may write (struct
 * smcr_conn_bound). Send buffers are lent (snd.lent) if they were left to a link that may
 * still read them.
 */
#include "base/netns.h"
#include "base/race.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "lgr/lgr_view.h"
#include "conn/conn.h"
#include "conn/conn_impl.h"
#include "conn/smcr_sock.h"
#include "conn/tx_impl.h"

/*
 * The link that a connection has to leave, with a reference. NULL: there is none, or
 * conn->active differs from @active. While posts are pending on the link, the connection
 * does not leave it yet. When these posts have ended, smcr_conn_move_all() (FO-03) or
 * smcr_conn_tx_done() queues the move.
 */
static struct smcr_link *move_from(struct smcr_conn *conn, bool active)
{
	struct smcr_link *link = NULL;

	spin_lock_bh(&conn->lock);
	if (conn->link && conn->active == active &&
	    (smcr_link_silent(conn->link) ||
	     conn->mv.leave == SMCR_MV_LEAVES)) {
		link = conn->link;
		smcr_link_hold(link);
	}
	spin_unlock_bh(&conn->lock);
	return link;
}

/* Map the send buffers for the device of @to. The socket lock keeps them from changing. */
static int move_map(struct smcr_conn *conn, const struct smcr_link *to)
{
	int rc = 0;

	if (conn->snd.lent)
		return 0;
	if (conn->snd.buf)
		rc = smcr_buf_map(conn->snd.buf, to->mem.d, to->mem.ibdev);
	if (!rc && conn->snd.old)
		rc = smcr_buf_map(conn->snd.old, to->mem.d, to->mem.ibdev);
	return rc;
}

static void move_unmap(struct smcr_conn *conn, const struct smcr_link *from,
		       const struct smcr_link *stay)
{
	if (conn->snd.lent || from->mem.d == stay->mem.d)
		return;
	smcr_buf_unmap(conn->snd.buf, from->mem.d);
	smcr_buf_unmap(conn->snd.old, from->mem.d);
}

/*
 * Bind the connection: it writes nothing from position @at on. The network may still deliver
 * WRITEs of the lost link @num, which would overwrite newer data there. The limit ends after
 * SMCR_HELD_UP, or when that link is deleted: then the peer accepts nothing over it.
 */
static void move_bind(struct smcr_conn *conn, u64 at, u8 num)
{
	lockdep_assert_held(&conn->lock);
	if (at == U64_MAX)
		return;
	/* after the loss of two links the deletion of one does not end the limit */
	WRITE_ONCE(conn->bound.num, conn->bound.at == U64_MAX ? num : 0);
	conn->bound.at = min(conn->bound.at, at);
	sk_reset_timer(&smcr_conn_sock(conn)->sk, &conn->bound.timer,
		       jiffies + SMCR_HELD_UP);
}

/* Unbind: the peer accepts nothing over the lost link any more. conn->lock held. */
static void move_unbind(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->bound.at == U64_MAX)
		return;
	conn->bound.at = U64_MAX;
	WRITE_ONCE(conn->bound.num, 0);
	sk_stop_timer(&smcr_conn_sock(conn)->sk, &conn->bound.timer);
	smcr_tx_push(conn);
}

/* Link @num is deleted: unbind if that link alone binds the connection. conn->lock held. */
void smcr_conn_unbind_from(struct smcr_conn *conn, u8 num)
{
	lockdep_assert_held(&conn->lock);
	if (num && conn->bound.num == num)
		move_unbind(conn);
}

/*
 * Unbind although the lost link is not deleted yet: no packet is older than
 * SMCR_HELD_UP.
 */
void smcr_conn_unbind_late(struct timer_list *timer)
{
	struct smcr_conn *conn = container_of(timer, struct smcr_conn,
					      bound.timer);

	spin_lock_bh(&conn->lock);
	/* nothing is due if the timer was armed again while this run waited for the lock */
	if (!timer_pending(timer))
		move_unbind(conn);
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}

/*
 * Change the link from @from to @to. Data that have certainly arrived are not written again,
 * all others are. If the send buffers are lent, no data are written: the connection only
 * sends a CDC with the flag A. conn->lock held.
 */
static void move_switch(struct smcr_conn *conn, struct smcr_link *from,
			struct smcr_link *to)
{
	const struct smcr_fo_facts facts = {
		.seq = conn->tx.seq,
		.closed = (conn->fsm.tx_closed || conn->fsm.tx_abort) &&
			  !conn->tx.owed,
		.aborted = conn->fsm.tx_abort || conn->snd.lent,
		.drained = READ_ONCE(conn->link->drained),
		.behind = conn->mv.redo,
		.prod = conn->tx.prod,
		.cons = conn->tx.cons,
	};
	struct smcr_fo_plan plan;

	lockdep_assert_held(&conn->lock);

	conn->mv.unsure = false;
	conn->mv.lost = false;
	conn->mv.leave = SMCR_MV_STAYS;
	smcr_conn_set_link(conn, to);
	/*
	 * An active connection without an element of the peer sends nothing: it has only
	 * unread data left. A connection in a handshake has no such element yet, but will
	 * send.
	 */
	if (conn->relem.rtoken < 0 && conn->active)
		return;
	smcr_fo_plan(&conn->mv.fo, &conn->tx.ring, &facts, &plan);
	conn->mv.validate = plan.validate;
	conn->mv.valid_seq = plan.seq;
	conn->mv.redo = plan.redo;
	conn->mv.again = plan.prod;
	conn->tx.signalled = conn->mv.fo.abs;
	move_bind(conn, plan.bound, READ_ONCE(from->num));
	trace_smcr_move(conn->member.token, READ_ONCE(to->num), plan.seq,
			conn->tx.prod.abs - plan.prod.abs);
}

/*
 * As move_switch(). Returns false, and does nothing, if the connection may write data, but
 * the peer has announced no RToken of its RMB on @to. conn->lock held.
 */
static bool move_locked(struct smcr_conn *conn, struct smcr_link *from,
			struct smcr_link *to)
{
	lockdep_assert_held(&conn->lock);

	if (conn->relem.rtoken >= 0 && !conn->snd.lent &&
	    smcr_conn_resolve_rtoken(conn, to))
		return false;
	move_switch(conn, from, to);
	return true;
}

/*
 * Do what smcr_conn_move_all() has missed. It may have run for @to before the connection was
 * on @to: then the connection has to move again. It may also have run for the deletion of
 * @from before @from bound the connection: then the connection has to be unbound.
 */
static void move_check(struct smcr_conn *conn, const struct smcr_link *from,
		       const struct smcr_link *to)
{
	/*
	 * conn->link and conn->bound are written before the state of the links is read.
	 * Pairs with smcr_conn_move_all(): without the barriers each side may miss what
	 * the other has written, and the connection neither moves nor is unbound
	 */
	smp_mb();
	if (!smcr_link_carries(to))
		smcr_conn_want_move(conn);
	if (READ_ONCE(from->deleted)) {
		spin_lock_bh(&conn->lock);
		smcr_conn_unbind_from(conn, READ_ONCE(from->num));
		spin_unlock_bh(&conn->lock);
	}
}

/*
 * May the connection leave @from? True if none of its posts is pending there. A silent link
 * can be used again at any time (smcr_link_stay()), and then the connection posts there under
 * conn->lock. So the caller keeps that lock from this check until it has changed the link.
 */
static bool move_may(const struct smcr_conn *conn, const struct smcr_link *from)
{
	lockdep_assert_held(&conn->lock);
	return conn->mv.leave == SMCR_MV_LEAVES || smcr_link_silent(from);
}

/*
 * May the device of @from still read data that the connection has sent? Then the send
 * buffers have to stay with @from.
 */
static bool move_tied(const struct smcr_conn *conn, const struct smcr_link *from)
{
	lockdep_assert_held(&conn->lock);
	return READ_ONCE(from->may_read) && conn->snd.buf && !conn->snd.lent &&
	       conn->mv.leave != SMCR_MV_LEAVES;
}

/*
 * Move from @from to @to if *@why is SMCR_R_NONE. Returns false if the connection was not
 * moved. Then *@why is the reason, or SMCR_R_NONE if the connection is not on @from any
 * more, or @from is used again.
 */
static bool move_to(struct smcr_conn *conn, struct smcr_link *from,
		    struct smcr_link *to, enum smcr_reason *why)
{
	bool queued = false, moved = false;

	spin_lock_bh(&conn->lock);
	if (!conn->lgr || conn->link != from || !move_may(conn, from)) {
		*why = SMCR_R_NONE;
	} else if (move_tied(conn, from)) {
		*why = SMCR_R_LINK_DEVICE;
	} else if (*why == SMCR_R_NONE) {
		queued = smcr_link_cancel_wait(from, &conn->tx.sq_wait);
		moved = move_locked(conn, from, to);
		if (moved)
			smcr_tx_push(conn);
		else
			*why = SMCR_R_MOVE_RKEY;
	}
	spin_unlock_bh(&conn->lock);
	if (queued)
		sock_put(&smcr_conn_sock(conn)->sk);
	return moved;
}

/* Put a send buffer on the link's reclaim list. Its pages stay until conn_unlend() */
static void move_lend(struct smcr_link *link, struct smcr_buf *buf)
{
	if (!buf)
		return;
	smcr_buf_pin(buf, 0, buf->size);
	smcr_link_lend_buf(link, buf);
}

/**
 * smcr_conn_leave_link() - leave a link, and lend it the send buffers
 * @conn: connection, conn->lock held; it sends no data any more
 * @to: link that carries connections; CDC messages that are still due are sent over it.
 *	NULL: there is no such link
 *
 * Return: what smcr_conn_left() needs.
 */
struct smcr_conn_left smcr_conn_leave_link(struct smcr_conn *conn,
					   struct smcr_link *to)
{
	struct smcr_conn_left left = { .from = conn->link, .to = to };

	lockdep_assert_held(&conn->lock);

	left.queued = smcr_link_cancel_wait(left.from, &conn->tx.sq_wait);
	if (!conn->snd.lent) {
		move_lend(left.from, conn->snd.buf);
		move_lend(left.from, conn->snd.old);
		conn->snd.lent = true;
	}
	if (to)
		move_switch(conn, left.from, to);
	else
		smcr_conn_set_link(conn, NULL);
	return left;
}

/**
 * smcr_conn_left() - finish smcr_conn_leave_link() or smcr_conn_no_move()
 * @conn: connection, without its lock
 * @left: what that function has returned; its references are put
 *
 * Context: process, sleeps.
 */
void smcr_conn_left(struct smcr_conn *conn, const struct smcr_conn_left *left)
{
	if (left->queued)
		sock_put(&smcr_conn_sock(conn)->sk);
	if (left->from && left->to)
		move_check(conn, left->from, left->to);
	if (left->from)
		smcr_link_detach(left->from);
	smcr_link_put(left->to);
}

/**
 * smcr_conn_no_move() - end a connection that cannot move to any other link
 * @conn: connection, conn->lock held; no post of it is pending
 * @why: reason
 *
 * If the group has a link that carries connections, a CDC with A is sent over that link.
 * The CDC needs no RToken and no send buffer. Without A, a peer that ignores the reset of
 * TCP would go on to write into the element when another connection has it (RMB-22). In two
 * cases the connection is not ended: its own link is used again, or no link carries
 * connections now and one of them may be used again later (smcr_tx_parked()).
 *
 * Return: what smcr_conn_left() needs.
 */
struct smcr_conn_left smcr_conn_no_move(struct smcr_conn *conn,
					enum smcr_reason why)
{
	struct smcr_conn_left left = {
		.to = smcr_lgr_another_link(conn->lgr, 0),
	};

	lockdep_assert_held(&conn->lock);

	/* a link is used again, or may be soon: smcr_conn_stay_all() follows */
	if (left.to == conn->link || (!left.to && smcr_tx_parked(conn)))
		return left;
	if (!conn->snd.lent)
		smcr_count(smcr_conn_net(conn), SMCR_CNT_MOVE_FAILED);
	if (!left.to) {
		left.lost = true;
		smcr_conn_event_locked(conn, SMCR_CONN_EV_LGR_LOST, why);
		smcr_tx_give_up(conn);
		return left;
	}
	left = smcr_conn_leave_link(conn, left.to);
	/* as after a reset of TCP, send A, and wait for the peer's A or C */
	smcr_conn_event_locked(conn, SMCR_CONN_EV_TCP_RESET, why);
	smcr_tx_push(conn);
	return left;
}

/* No link is suitable: end the connection if it is still on @from */
static void move_failed(struct smcr_conn *conn, const struct smcr_link *from,
			enum smcr_reason why)
{
	struct smcr_conn_left left = { };

	spin_lock_bh(&conn->lock);
	if (conn->lgr && conn->link == from && move_may(conn, from))
		left = smcr_conn_no_move(conn, why);
	spin_unlock_bh(&conn->lock);
	smcr_conn_left(conn, &left);
}

/* Counter for the time since @from was lost; the time is 0 if @from is used again */
static enum smcr_counter move_time(const struct smcr_link *from)
{
	unsigned long lost_at = READ_ONCE(from->lost_at);
	unsigned long time = lost_at ? jiffies - lost_at : 0;

	if (time < msecs_to_jiffies(10))
		return SMCR_CNT_MOVED_10MS;
	if (time < msecs_to_jiffies(100))
		return SMCR_CNT_MOVED_100MS;
	return time < HZ ? SMCR_CNT_MOVED_1S : SMCR_CNT_MOVED_LATER;
}

static void move_count(struct smcr_conn *conn, const struct smcr_link *from,
		       bool other)
{
	struct smcr_net *sn = smcr_conn_net(conn);

	smcr_count(sn, SMCR_CNT_CONN_MOVED);
	smcr_count(sn, move_time(from));
	if (other)
		smcr_count(sn, SMCR_CNT_MOVE_OTHER);
}

/* Map the send buffers for @to, and move there. The caller has a reference on @to */
static bool move_try(struct smcr_conn *conn, struct smcr_link *from,
		     struct smcr_link *to, enum smcr_reason *why)
{
	struct smcr_lgr *lgr = conn->lgr;
	bool moved;

	*why = move_map(conn, to) ? SMCR_R_MOVE_MEMORY : SMCR_R_NONE;
	smcr_race(smcr_conn_net(conn)->net, "conn-move");
	moved = move_to(conn, from, to, why);
	move_unmap(conn, moved ? from : to, moved ? to : from);
	if (moved) {
		smcr_lgr_moved(lgr, from, to);
		move_check(conn, from, to);
		smcr_link_detach(from);
	}
	return moved;
}

/*
 * Move from a link that works to one that has fewer connections, now that all data have
 * arrived. If there is no such link any more, or the move fails, the connection stays.
 */
static void move_spread(struct smcr_conn *conn, struct smcr_link *from)
{
	struct smcr_link *to = smcr_lgr_lighter_link(conn->lgr, from);
	enum smcr_reason why;

	if (to && move_try(conn, from, to, &why))
		smcr_count(smcr_conn_net(conn), SMCR_CNT_CONN_BALANCED);
	smcr_link_put(to);
	spin_lock_bh(&conn->lock);
	if (conn->lgr && conn->link == from) {
		conn->mv.leave = SMCR_MV_STAYS;
		smcr_tx_push(conn);
	}
	spin_unlock_bh(&conn->lock);
}

/* Move from a link that is stopped or drained to the first suitable link */
static void move_off(struct smcr_conn *conn, struct smcr_link *from)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_link *to;
	bool moved = false;
	u16 tried = 0;

	do {
		to = smcr_lgr_another_link(conn->lgr, tried);
		/* the connection's own link is used again: smcr_conn_stay_all() follows */
		if (to == from) {
			smcr_link_put(to);
			return;
		}
		if (!to)
			break;
		moved = move_try(conn, from, to, &why);
		if (moved)
			move_count(conn, from, tried);
		tried |= BIT(to->slot);
		smcr_link_put(to);
	} while (!moved && why != SMCR_R_NONE);
	if (!moved && why != SMCR_R_NONE)
		move_failed(conn, from, why);
}

/* There is no link to leave, or only the handshake may move the connection */
static void move_not(struct smcr_conn *conn)
{
	bool early;

	spin_lock_bh(&conn->lock);
	early = conn->link && !conn->active;
	/* if the link is used again, post what has waited */
	smcr_tx_push(conn);
	spin_unlock_bh(&conn->lock);
	if (early)
		smcr_conn_owner_ops->link_lost(smcr_conn_sock(conn));
}

/**
 * smcr_conn_move() - move a connection to another link
 * @conn: connection; the caller has the socket lock
 *
 * The connection stays if its link is in use, or is the group's last link. Another link is
 * suitable if the send buffer can be mapped for its device, and the peer has announced an
 * RToken on it. If the group has other links, but none of them is suitable, the connection
 * is aborted. If the connection is not active yet, its handshake is kicked, and moves it by
 * smcr_conn_move_early().
 *
 * Context: process, sleeps.
 */
void smcr_conn_move(struct smcr_conn *conn)
{
	struct smcr_link *from = move_from(conn, true);

	if (!from) {
		move_not(conn);
		return;
	}
	if (!smcr_link_silent(from))
		move_spread(conn, from);
	/* @from may have failed by now: then leave it in this call */
	if (smcr_link_silent(from) && READ_ONCE(conn->link) == from)
		move_off(conn, from);
	smcr_link_put(from);
}

/**
 * smcr_conn_move_early() - move a connection in a handshake to another link
 * @conn: connection in an ACTIVE group, before smcr_conn_set_peer(); the caller has the
 *	turn of its handshake (core/hs_turn.h)
 *
 * Without this the removal of the link's device would wait for a message of the peer. The
 * connection has sent nothing yet, but CLC may have named the old link to the peer, so the
 * connection's first CDC has F (FO-23). The connection stays if its link is in use, or if
 * no other link is in use.
 *
 * Context: process, sleeps.
 */
void smcr_conn_move_early(struct smcr_conn *conn)
{
	struct smcr_link *from = move_from(conn, false);

	if (from)
		move_off(conn, from);
	smcr_link_put(from);
}

static void move_any(struct smcr_lgr_member *member, void *arg)
{
	smcr_conn_want_move(container_of(member, struct smcr_conn, member));
}

/**
 * smcr_conn_stay_all() - resume the connections of a group that had no usable link
 * @link: link that can be used now
 *
 * Connections on @link go on. If another link cannot be used any more, its connections move.
 *
 * Context: process, sleeps.
 */
void smcr_conn_stay_all(struct smcr_link *link)
{
	/* the state of the link is written before conn->link is read: move_check() */
	smp_mb();
	smcr_lgr_each_conn(link->lgr, move_any, NULL);
}

/**
 * smcr_conn_spread() - begin the move to a link that has fewer connections
 * @conn: connection; the caller has the socket lock
 *
 * As on a link that drains, the connection sends nothing more until all that it has sent
 * has arrived. Then smcr_conn_move() follows.
 *
 * Context: process.
 */
void smcr_conn_spread(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	if (conn->link && conn->active && !conn->tx.dead &&
	    conn->relem.rtoken >= 0 && conn->mv.leave == SMCR_MV_STAYS &&
	    smcr_link_carries(conn->link)) {
		conn->mv.leave = SMCR_MV_STOPS;
		smcr_tx_push(conn);
	}
	spin_unlock_bh(&conn->lock);
}

/* Queue a move. A lock or a reference of the caller keeps the socket. */
void smcr_conn_want_move(struct smcr_conn *conn)
{
	set_bit(SMCR_CONN_TODO_MOVE, &conn->end.todo);
	smcr_conn_queue_work(conn);
}

static void move_if_on(struct smcr_lgr_member *member, void *arg)
{
	struct smcr_conn *conn = container_of(member, struct smcr_conn, member);
	const struct smcr_link *link = arg;
	u8 num = READ_ONCE(link->num);

	if (READ_ONCE(conn->link) == link)
		smcr_conn_want_move(conn);
	if (num && READ_ONCE(link->deleted) &&
	    READ_ONCE(conn->bound.num) == num) {
		/* the work compares bound.num, which may change until then, with bound.gone */
		WRITE_ONCE(conn->bound.gone, num);
		set_bit(SMCR_CONN_TODO_UNBIND, &conn->end.todo);
		smcr_conn_queue_work(conn);
	}
}

static void move_is_late(struct smcr_lgr_member *member, void *arg)
{
	struct smcr_conn *conn = container_of(member, struct smcr_conn, member);

	/* the work moves the connection if it gets the socket lock; else LATE aborts it */
	set_bit(SMCR_CONN_TODO_MOVE, &conn->end.todo);
	set_bit(SMCR_CONN_TODO_LATE, &conn->end.todo);
	smcr_conn_queue_work(conn);
}

/**
 * smcr_conn_late_all() - end overdue moves for which the removal of a device waits
 * @lgr: group that has a link on another device
 *
 * If a thread has the socket lock of a connection, the connection cannot move and is aborted.
 *
 * Context: process, sleeps.
 */
void smcr_conn_late_all(struct smcr_lgr *lgr)
{
	smcr_lgr_each_conn(lgr, move_is_late, NULL);
}

/**
 * smcr_conn_move_all() - move the connections of a link
 * @link: silent link; its group has another one
 *
 * If @link is deleted, connections that it binds are unbound: struct smcr_conn_bound.
 *
 * Context: process, sleeps.
 */
void smcr_conn_move_all(struct smcr_link *link)
{
	/* the state of the link is written before conn->link is read: move_check() */
	smp_mb();
	smcr_lgr_each_conn(link->lgr, move_if_on, link);
}

/* Argument of spread_if_on(): how many connections are to leave the link of each slot */
struct spread {
	struct smcr_lgr *lgr;
	u32 *more;
};

static void spread_if_on(struct smcr_lgr_member *member, void *arg)
{
	struct smcr_conn *conn = container_of(member, struct smcr_conn, member);
	const struct smcr_link *link = READ_ONCE(conn->link);
	struct spread *s = arg;
	int i;

	lockdep_assert_held(&s->lgr->lock);
	for (i = 0; i < SMCR_SLOTS; i++) {
		if (!s->more[i] || s->lgr->slot[i].link != link ||
		    !READ_ONCE(conn->active))
			continue;
		s->more[i]--;
		set_bit(SMCR_CONN_TODO_SPREAD, &conn->end.todo);
		smcr_conn_queue_work(conn);
	}
}

/**
 * smcr_conn_spread_all() - move connections off links that have more than their share
 * @lgr: group
 * @more: in: how many connections leave the link of each slot; out: how many of them were
 *	not found
 *
 * Context: process, sleeps.
 */
void smcr_conn_spread_all(struct smcr_lgr *lgr, u32 more[SMCR_SLOTS])
{
	struct spread s = { .lgr = lgr, .more = more };

	smcr_lgr_each_conn(lgr, spread_if_on, &s);
}
