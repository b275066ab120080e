// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a connection: opened or discarded in the handshake, released when the
 * close machine has ended it (RFC 7609 3.5.2).
 */
#include <linux/random.h>
#include <net/tcp.h>
#include "base/memcg.h"
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "lgr/rmb.h"
#include "conn/conn.h"
#include "conn/conn_impl.h"
#include "conn/smcr_sock.h"

/**
 * smcr_conn_init() - prepare the connection part of a new socket
 * @conn: zeroed
 */
void smcr_conn_init(struct smcr_conn *conn)
{
	spin_lock_init(&conn->lock);
	INIT_LIST_HEAD(&conn->member.lgr_node);
	INIT_LIST_HEAD(&conn->tx.sq_wait);
	INIT_LIST_HEAD(&conn->end.orphan);
	INIT_WORK(&conn->end.work, smcr_conn_work);
	timer_setup(&conn->reorder.timer, smcr_conn_rx_wait_over, 0);
	timer_setup(&conn->bound.timer, smcr_conn_unbind_late, 0);
	timer_setup(&conn->tx.timer, smcr_conn_user_timer, 0);
	timer_setup(&conn->end.timer, smcr_conn_timer, 0);
	conn->relem.rtoken = -1;
}

static void conn_reset_snd(struct smcr_conn_snd *snd)
{
	snd->size = 0;
	snd->in = 0;
	snd->lent = false;
	snd->old_end = 0;
	snd->grow_at = jiffies;
}

/*
 * Reset the connection for @lgr, as an earlier connect() on this socket may have ended in
 * TCP. The group changes and the token is cleared under one hold of conn->lock: a softirq
 * that has looked up the earlier connection must not find its token with the new group.
 */
static void conn_reset(struct smcr_conn *conn, struct smcr_lgr *lgr,
		       struct smcr_link *link)
{
	spin_lock_bh(&conn->lock);
	conn->lgr = lgr;
	smcr_conn_set_link(conn, link);
	conn->member.token = 0;
	conn->own.buf = conn->own.elem.rmb->buf;
	conn->own.clc_sent = false;
	conn->active = false;
	memset(&conn->rx.zero, 0, sizeof(conn->rx.zero));
	conn->rx.ring.size = conn->own.elem.size;
	conn->rx.ring.base = lgr->terms.base;
	conn->reorder.wait = false;
	conn->reorder.have = false;
	conn_reset_snd(&conn->snd);
	/* tx.pends stays: late completions of an earlier attempt still decrement it */
	memset(&conn->tx.zero, 0, sizeof(conn->tx.zero));
	conn->tx.attempt++;
	conn->mv = (struct smcr_conn_mv){ };
	conn->bound.at = U64_MAX;
	conn->bound.num = 0;
	conn->preactive = (struct smcr_conn_preactive){ };
	conn->end.fin_seen = false;
	conn->end.todo = 0;
	conn->end.why = SMCR_R_NONE;
	smcr_close_init(&conn->fsm);
	spin_unlock_bh(&conn->lock);
}

/* SO_SNDBUF if it is set (sk_sndbuf is twice its value), else net.smcr.wmem */
static u32 conn_sndbuf_size(const struct smcr_sock *ssk)
{
	u32 want = READ_ONCE(ssk->sn->knobs.wmem);

	if (ssk->sk.sk_userlocks & SOCK_SNDBUF_LOCK)
		want = ssk->sk.sk_sndbuf / 2;
	return PAGE_ALIGN(max_t(u32, want, SMCR_RMBE_MIN));
}

/**
 * smcr_conn_open() - give a socket a connection in a link group
 * @ssk: socket in a handshake
 * @lgr: link group
 * @on: client: the Accept, which names the link; NULL: any link of the group
 * @bsize: wanted element size code
 * @req: the caller's requests to smcr_rmb_work() for new RMBs, zeroed before the first call.
 *	On -EINPROGRESS an RMB is being added: the next call needs the same requests
 * @why: reason on failure
 *
 * On success the connection holds a reference on @lgr, its link and the socket.
 * These are put by smcr_conn_discard(), or by the release that the close machine
 * orders. CDC may arrive from now on (CLC-44, CLC-45), but nothing can be sent
 * before smcr_conn_set_peer() and smcr_conn_activate().
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno with *why set.
 */
int smcr_conn_open(struct smcr_sock *ssk, struct smcr_lgr *lgr,
		   const struct smcr_clc_accept *on, u8 bsize,
		   struct smcr_rmb_req *req, enum smcr_reason *why)
{
	struct smcr_conn *conn = &ssk->conn;
	struct smcr_link *link;
	int rc;

	if (WARN_ON_ONCE(conn->lgr)) {	/* an open connection must not be reset */
		*why = SMCR_R_NO_MEMORY;
		return -EBUSY;
	}
	rc = smcr_rmb_get_elem(lgr, bsize, smcr_sk_memcg(&ssk->sk),
			       &conn->own.elem, req, why);
	if (rc)
		return rc;
	link = smcr_lgr_conn_link(lgr, on);
	/* in first contact (the link has no number yet) the RMB is registered later */
	if (!link || (READ_ONCE(link->num) &&
		      !smcr_rmb_rkey(conn->own.elem.rmb, link))) {
		*why = SMCR_R_NO_LINK;
		smcr_link_put(link);
		smcr_rmb_put_elem(&conn->own.elem, 0, false);
		return -ENOTCONN;
	}

	smcr_lgr_hold(lgr);
	sock_hold(&ssk->sk);
	conn->snd.max = conn_sndbuf_size(ssk);
	conn_reset(conn, lgr, link);
	smcr_link_put(link);
	smcr_race(lgr->sn->net, "conn-open");

	do {
		spin_lock_bh(&conn->lock);
		conn->member.token = get_random_u32();
		spin_unlock_bh(&conn->lock);
		rc = conn->member.token ? smcr_lgr_add_conn(lgr, &conn->member) : -EEXIST;
	} while (rc == -EEXIST);
	if (rc) {
		*why = rc == -ENOTCONN ? SMCR_R_NO_LINK : SMCR_R_NO_MEMORY;
		spin_lock_bh(&conn->lock);
		conn->lgr = NULL;
		link = smcr_conn_set_link(conn, NULL);
		spin_unlock_bh(&conn->lock);
		smcr_rmb_put_elem(&conn->own.elem, 0, false);
		smcr_link_detach(link);
		smcr_lgr_put(lgr);
		sock_put(&ssk->sk);
		return rc;
	}
	smcr_count(ssk->sn, SMCR_CNT_CONN_CREATED);
	return 0;
}

/**
 * smcr_conn_set_peer() - take the peer's element and token from its Accept or Confirm
 * @conn: open connection
 * @m: decoded message, enumerations already checked
 * @on: link that @m names; NULL: the one that the connection is on
 *
 * Return: 0; -ENOENT the peer's RMB is not known on the link, or has elements of
 * another size; -EBUSY the element is in use, see smcr_conn_claim_relem(); -ENOSPC too
 * many RTokens; -ENOMEM.
 */
int smcr_conn_set_peer(struct smcr_conn *conn, const struct smcr_clc_accept *m,
		       struct smcr_link *on)
{
	struct smcr_link *link;
	int rtoken, rc;

	spin_lock_bh(&conn->lock);
	link = on ?: conn->link;
	smcr_link_hold(link);
	spin_unlock_bh(&conn->lock);
	rtoken = smcr_conn_claim_relem(conn, link, m->rkey, m->va, m->index,
				       smcr_bsize_bytes(m->bsize));
	smcr_link_put(link);
	if (rtoken < 0)
		return rtoken;

	spin_lock_bh(&conn->lock);
	conn->relem.rtoken = rtoken;
	conn->relem.index = m->index;
	conn->tx.token = m->token;
	conn->tx.ring.size = smcr_bsize_bytes(m->bsize);
	conn->tx.ring.base = conn->lgr->terms.base;
	rc = smcr_conn_resolve_rtoken(conn, conn->link);
	/* the link is lost: the move after activation resolves the RToken (FO-23) */
	if (rc && smcr_lgr_state(conn->lgr) == SMCR_LGR_ST_ACTIVE &&
	    !smcr_link_carries(conn->link))
		rc = 0;
	spin_unlock_bh(&conn->lock);
	return rc;
}

/**
 * smcr_conn_activate() - start a connection, as its handshake is complete
 * @conn: open connection with its peer set
 *
 * Data and D, C and A that have arrived before this call take effect now (CLC-44).
 */
void smcr_conn_activate(struct smcr_conn *conn)
{
	const struct sock *tsk = smcr_conn_sock(conn)->tcp->sk;

	spin_lock_bh(&conn->lock);
	smcr_count_add(smcr_conn_net(conn), SMCR_CNT_BYTES_RX,
		       conn->rx.prod.abs);
	/* the inner socket of a listener's child has inherited TCP_NODELAY */
	conn->tx.nodelay = tcp_sk(tsk)->nonagle & TCP_NAGLE_OFF;
	smcr_tx_set_timeout(conn);
	WRITE_ONCE(conn->active, true);
	if (conn->rx.urg.state != SMCR_URG_NONE)
		smcr_rx_urg_news(conn, SMCR_URG_EV_NEWS);
	if (conn->preactive.conflict)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_CONFLICT,
				       SMCR_R_RMBE_CONFLICT);
	else if (conn->preactive.bad)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
				       conn->preactive.bad);
	else if (conn->preactive.cflags)
		smcr_conn_rx_flags(conn, conn->preactive.cflags);
	/* an urgent byte at the mark counts as consumed although no read has passed it */
	smcr_rx_window(conn);
	/* if the group ended before activation, the close machine got no event */
	if (smcr_lgr_state(conn->lgr) == SMCR_LGR_ST_DEAD)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_LGR_LOST,
				       conn->lgr->why);
	smcr_tx_push(conn);	/* sends what became due before activation */
	if (conn->lgr && !smcr_link_carries(conn->link))
		smcr_conn_want_move(conn);
	spin_unlock_bh(&conn->lock);
}

/* Maximum number of send buffers of ended connections on a link's reclaim list */
#define SMCR_RECLAIM_MAX	64

/* Keep send buffers until the queue pair is destroyed: an RDMA WRITE may still read them */
static void conn_keep_bufs(struct smcr_conn *conn, struct smcr_link *link,
			   struct smcr_buf *sndbuf, struct smcr_buf *old)
{
	if (READ_ONCE(link->may_read)) {
		smcr_link_lend_buf(link, sndbuf);
		smcr_link_lend_buf(link, old);
		return;
	}
	smcr_link_reclaim_buf(link, sndbuf);
	/*
	 * More than SMCR_RECLAIM_MAX connections end with pending WRITEs only if the peer
	 * repeatedly gives elements in use to other connections (RMB-24). Such a peer does not
	 * conform.
	 */
	if (smcr_link_reclaim_buf(link, old) > SMCR_RECLAIM_MAX)
		smcr_lgr_kill(conn->lgr, SMCR_R_RMBE_CONFLICT,
			      SMCR_DEL_PROTOCOL);
}

/* Unpin a send buffer that smcr_conn_leave_link() has put on the link's reclaim list */
static void conn_unlend(struct smcr_buf *buf)
{
	if (buf)
		smcr_buf_unpin(buf, 0, buf->size);
}

/*
 * Release what the connection needs for sending: its entry in the FIFO for room in the
 * send queue, the RToken, the send buffers. Nothing is posted any more, as the close machine
 * is in CLOSED or was never started, or tx.dead is set.
 */
void smcr_conn_release_tx(struct smcr_conn *conn)
{
	struct smcr_buf *sndbuf, *old;
	struct smcr_link *link;
	bool queued = false, lent;

	if (!conn->lgr)
		return;
	spin_lock_bh(&conn->lock);
	link = conn->link;
	lent = conn->snd.lent;
	sndbuf = conn->snd.buf;
	old = conn->snd.old;
	conn->snd.buf = NULL;
	conn->snd.old = NULL;
	smcr_tx_unwatch(conn);
	if (link) {
		smcr_link_hold(link);	/* smcr_conn_leave_device() may detach from it */
		queued = smcr_link_cancel_wait(link, &conn->tx.sq_wait);
	}
	spin_unlock_bh(&conn->lock);

	if (queued)
		sock_put(&smcr_conn_sock(conn)->sk);
	smcr_conn_drop_relem(conn);
	if (!link || lent) {
		conn_unlend(sndbuf);
		conn_unlend(old);
	} else if ((smcr_link_silent(link) ||
		    (conn->tx.signalled == conn->tx.prod.abs &&
		     !conn->mv.unsure)) && !READ_ONCE(link->may_read)) {
		smcr_buf_free(sndbuf);
		smcr_buf_free(old);
	} else {
		conn_keep_bufs(conn, link, sndbuf, old);
	}
	smcr_link_put(link);
}

/*
 * Release the device of a lost connection without the socket lock. A thread may have that
 * lock for ever, if it copies from or to a page that user space never provides. The send
 * buffers are put on the link's reclaim list, but their pages are kept for the thread. Then
 * the connection is detached from the link. If it is attached to another link instead, it
 * sends a CDC with A, the flag of an abnormal close, over that link. After that, the
 * connection holds nothing but memory that belongs to the group. This memory is released
 * under the socket lock.
 *
 * So conn->link may change although a thread has the socket lock: the thread reads
 * conn->link under conn->lock.
 */
void smcr_conn_leave_device(struct smcr_conn *conn)
{
	struct smcr_conn_left left = { };
	struct smcr_lgr *lgr;
	bool late;

	spin_lock_bh(&conn->lock);
	lgr = conn->lgr;
	/* the move is overdue, as the link's device is being removed */
	late = test_and_clear_bit(SMCR_CONN_TODO_LATE, &conn->end.todo) &&
	       conn->link && smcr_link_silent(conn->link) &&
	       READ_ONCE(conn->link->pid.dev->removed);
	if (late && conn->active)
		left = smcr_conn_no_move(conn, SMCR_R_LINK_DEVICE);
	if (!left.to && conn->link && conn->active &&
	    conn->fsm.st == SMCR_CONN_ST_CLOSED &&
	    (left.lost || smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD))
		left = smcr_conn_leave_link(conn, NULL);
	if (left.from || left.to)
		smcr_lgr_hold(lgr);	/* a close() may put the connection's reference */
	spin_unlock_bh(&conn->lock);
	if (!left.from && !left.to)
		return;
	smcr_conn_left(conn, &left);
	smcr_lgr_put(lgr);
}

/*
 * Pin the part of the element that has unread data, as the group has ended and the
 * application may still read them. The element is not given back: the group gives out no
 * elements any more. False if there are no unread data.
 */
static bool conn_keep_rest(struct smcr_conn *conn)
{
	u32 off = conn->rx.ackable.off, len;
	u32 cap = smcr_ring_cap(&conn->rx.ring);

	lockdep_assert_held(&conn->lock);

	/*
	 * Start at ackable, as no byte from cons to ackable is read from the element: these are
	 * urgent bytes, which the reader skips or gets from rx.urg.
	 */
	len = (u32)(conn->rx.prod.abs - conn->rx.ackable.abs);
	if (!len)
		return false;
	if (len > cap - off) {	/* the data wrap */
		off = 0;
		len = cap;
	}
	conn->own.pin_off = conn->own.elem.off + conn->rx.ring.base + off;
	conn->own.pin_len = len;
	smcr_buf_pin(conn->own.buf, conn->own.pin_off, conn->own.pin_len);
	return true;
}

void smcr_conn_unkeep_rest(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->rx.rest = false;
	spin_unlock_bh(&conn->lock);
	smcr_buf_unpin(conn->own.buf, conn->own.pin_off, conn->own.pin_len);
	conn->own.pin_len = 0;
}

/*
 * Number of bytes, from the start of the own element, that the peer may have written. If both
 * sides have sent C, and nothing else has ended the connection, the peer has announced all of
 * them. After any other end the peer may have written anywhere. This is also assumed, as a
 * precaution, if the peer has moved the connection.
 */
static u32 conn_written(const struct smcr_conn *conn)
{
	u32 size = conn->own.elem.size;

	lockdep_assert_held(&conn->lock);
	if (!conn->fsm.rx_closed || !conn->fsm.tx_closed ||
	    conn->end.why != SMCR_R_NONE || conn->rx.beyond ||
	    conn->rx.redo)
		return size;
	return min_t(u64, conn->rx.ring.base + conn->rx.prod.abs, size);
}

/*
 * Release the element and the references. @keep: unread data stay for the reader, which is
 * possible only in a dead group. Without @keep, unread data are dropped: a CDC may have
 * brought some since the caller's check. The socket lock is held if the socket is still in
 * use.
 */
static void conn_release_rx(struct smcr_conn *conn, bool quarantine,
			    bool keep)
{
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	struct smcr_lgr *lgr = conn->lgr;
	struct smcr_link *link;
	u32 written;
	bool rest;

	if (!lgr)
		return;
	clear_bit(SMCR_CONN_TODO_ELEM, &conn->end.todo);
	smcr_lgr_del_conn(lgr, &conn->member);
	/* clear conn->lgr first, so that softirqs read NULL before the element is released */
	spin_lock_bh(&conn->lock);
	if (!keep && smcr_conn_readable(conn))
		smcr_conn_purge_rx(conn);
	rest = conn_keep_rest(conn);
	conn->rx.rest = rest;
	written = conn_written(conn);
	conn->lgr = NULL;
	link = smcr_conn_set_link(conn, NULL);
	spin_unlock_bh(&conn->lock);

	if (rest)
		conn->own.elem.rmb = NULL;
	else
		smcr_rmb_put_elem(&conn->own.elem, written, quarantine);
	smcr_count(ssk->sn, SMCR_CNT_CONN_FREED);
	if (sock_flag(&ssk->sk, SOCK_DEAD))
		smcr_conn_unorphan(conn);
	if (link)		/* the connection was not detached before */
		smcr_link_detach(link);
	smcr_lgr_put(lgr);
	sock_put(&ssk->sk);
}

/*
 * Release the element if all data were read, or the group is dead. Otherwise a later read,
 * close() or end of the group queues the work that calls this function again.
 */
void smcr_conn_release_read(struct smcr_conn *conn, bool quarantine)
{
	bool dead = conn->lgr && smcr_lgr_state(conn->lgr) == SMCR_LGR_ST_DEAD;

	if (dead || !smcr_conn_readable(conn))
		conn_release_rx(conn, quarantine, dead);
}

/**
 * smcr_conn_leave_early() - detach a connection whose handshake has failed
 * @conn: open or not
 *
 * Without this the removal of the link's device would wait for smcr_conn_discard(), which
 * needs the socket lock.
 *
 * Context: process, sleeps.
 * Return: false, and nothing is done, if the connection is active.
 */
bool smcr_conn_leave_early(struct smcr_conn *conn)
{
	struct smcr_link *link = NULL;
	bool active;

	spin_lock_bh(&conn->lock);
	/* without a group, conn->active is left over from an earlier attempt */
	active = conn->lgr && conn->active;
	if (!active)
		link = smcr_conn_set_link(conn, NULL);
	spin_unlock_bh(&conn->lock);
	if (link)
		smcr_link_detach(link);
	return !active;
}

/**
 * smcr_conn_discard() - undo smcr_conn_open() after a failed handshake
 * @conn: open or not
 *
 * On return no work or timer of the connection is queued, and none will be. A client
 * activates its connection before it sends the Confirm. If sending fails, the close machine
 * may have queued the connection's work by then. The socket lock keeps that work from
 * releasing the connection at the same time.
 *
 * Context: process, sleeps; socket lock held. No deadlock: the work only tries to take
 * that lock, and the timers do not take it.
 */
void smcr_conn_discard(struct smcr_conn *conn)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	sock_owned_by_me(sk);

	spin_lock_bh(&conn->lock);
	/* a message of the peer could make an active connection write or wait for room again */
	conn->tx.dead = true;
	smcr_conn_purge_rx(conn);
	conn->rx.rest = false;
	spin_unlock_bh(&conn->lock);
	if (conn->lgr) {
		smcr_conn_release_tx(conn);
		conn_release_rx(conn, conn->own.clc_sent, false);
	}
	if (conn->own.pin_len)
		smcr_conn_unkeep_rest(conn);

	/* the socket's next connection must not carry out actions of this one */
	spin_lock_bh(&conn->lock);
	WRITE_ONCE(conn->end.todo, 0);
	spin_unlock_bh(&conn->lock);
	sk_stop_timer(sk, &conn->reorder.timer);
	sk_stop_timer(sk, &conn->bound.timer);
	sk_stop_timer_sync(sk, &conn->end.timer);
	if (cancel_work_sync(&conn->end.work))
		sock_put(sk);
	clear_bit(SMCR_SK_CONN_WORK, &smcr_conn_sock(conn)->flags);
}
