// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections: opening and discarding them in the handshake, the one place
 * that feeds the close machine, and the work that follows from it (RFC 7609
 * 3.5.2, 4.8).
 */
#include <linux/random.h>
#include <net/tcp.h>
#include "conn.h"
#include "kllc.h"
#include "memcg.h"
#include "sock.h"
#include "trace.h"

static void smcr_conn_work(struct work_struct *work);
static void smcr_conn_timer(struct work_struct *work);

/**
 * smcr_conn_init() - prepare the connection part of a new socket
 * @conn: zeroed
 */
void smcr_conn_init(struct smcr_conn *conn)
{
	spin_lock_init(&conn->lock);
	INIT_LIST_HEAD(&conn->lgr_node);
	INIT_LIST_HEAD(&conn->sq_wait);
	INIT_WORK(&conn->work, smcr_conn_work);
	INIT_DELAYED_WORK(&conn->timer, smcr_conn_timer);
	conn->rtoken = -1;
}

static struct smcr_net *smcr_conn_net(const struct smcr_conn *conn)
{
	return smcr_conn_sock(conn)->sn;
}

/* Every queued work holds a reference on the socket */
static void smcr_conn_queue_work(struct smcr_conn *conn)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	sock_hold(sk);
	if (!queue_work(smcr_sock_wq, &conn->work))
		sock_put(sk);
}

static void smcr_conn_start_timer(struct smcr_conn *conn, bool abort)
{
	const struct smcr_knobs *knobs = &smcr_conn_net(conn)->knobs;
	int ms = abort ? READ_ONCE(knobs->t_abort) : READ_ONCE(knobs->t_close);
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	lockdep_assert_held(&conn->lock);
	conn->timer_abort = abort;
	conn->timer_end = jiffies + msecs_to_jiffies(ms);
	sock_hold(sk);
	if (mod_delayed_work(smcr_wq, &conn->timer, msecs_to_jiffies(ms)))
		sock_put(sk);	/* it was armed and had its reference */
}

static void smcr_conn_stop_timer(struct smcr_conn *conn)
{
	if (cancel_delayed_work(&conn->timer))
		sock_put(&smcr_conn_sock(conn)->sk);
}

/*
 * As new in @lgr: an earlier connect() on this socket may have ended in TCP.
 * The token comes with the group: softirq that still has the old one in its
 * hands must not find both together.
 */
static void smcr_conn_reset(struct smcr_conn *conn, struct smcr_lgr *lgr)
{
	static const struct smcr_pos start;

	spin_lock_bh(&conn->lock);
	conn->lgr = lgr;
	conn->link = lgr->link;
	conn->token = 0;
	conn->rx_buf = conn->elem.rmb->buf;
	conn->rx_ring.size = conn->elem.size;
	conn->rx_ring.base = lgr->base;
	conn->active = false;
	conn->purged = false;
	conn->tx_dropped = false;
	conn->rest = false;
	conn->fin_seen = false;
	conn->clc_sent = false;
	conn->early_cflags = 0;
	conn->early_bad = SMCR_R_NONE;
	conn->early_conflict = false;
	conn->rx_lost = false;
	conn->rx_prod = start;
	conn->rx_cons = start;
	conn->rx_announced = 0;
	conn->rx_seq = 0;
	conn->peer_blocked = false;
	conn->peer_asks = false;
	conn->tx_queued = 0;
	conn->tx_done = 0;
	conn->sndbuf_size = 0;
	conn->grow_at = jiffies;
	conn->tx_src = 0;
	conn->tx_in = 0;
	conn->tx_old_end = 0;
	conn->tx_acked = 0;
	conn->tx_prod = start;
	conn->tx_cons = start;
	conn->tx_signalled = 0;
	conn->tx_seq = 0;
	conn->tx_owed = 0;
	conn->tx_blocked = false;
	conn->tx_ctrl = false;
	conn->tx_dead = false;
	conn->tx_flush = false;
	conn->tx_unsure = false;
	conn->todo = 0;
	conn->why = SMCR_R_NONE;
	smcr_close_init(&conn->fsm);
	spin_unlock_bh(&conn->lock);
	/* not tx_pends: a late completion of the old attempt still counts down */
}

/* SO_SNDBUF if set (the kernel doubled it), else net.smcr.wmem */
static u32 smcr_conn_sndbuf_size(const struct smcr_sock *ssk)
{
	u32 want = READ_ONCE(ssk->sn->knobs.wmem);

	if (ssk->sk.sk_userlocks & SOCK_SNDBUF_LOCK)
		want = ssk->sk.sk_sndbuf / 2;
	return PAGE_ALIGN(max_t(u32, want, SMCR_RMBE_MIN));
}

/**
 * smcr_conn_open() - give a socket a connection in a link group
 * @ssk: socket in negotiation
 * @lgr: link group
 * @bsize: wanted element size code
 * @req: the caller's requests so far, for the next try after -EINPROGRESS
 * @why: reason on failure
 *
 * On success the connection holds a reference on @lgr and on the socket; both
 * end with smcr_conn_discard() or with the release that the close machine
 * orders. CDC may arrive from now on (CLC-44, CLC-45), but nothing can be sent
 * before smcr_conn_set_peer() and smcr_conn_activate().
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno with *why set.
 */
int smcr_conn_open(struct smcr_sock *ssk, struct smcr_lgr *lgr, u8 bsize,
		   struct smcr_rmb_req *req, enum smcr_reason *why)
{
	struct smcr_conn *conn = &ssk->conn;
	int rc;

	if (WARN_ON_ONCE(conn->lgr)) {	/* a live connection stays what it is */
		*why = SMCR_R_NO_MEMORY;
		return -EBUSY;
	}
	rc = smcr_rmb_get_elem(lgr, bsize, smcr_sk_memcg(&ssk->sk),
			       &conn->elem, req, why);
	if (rc)
		return rc;

	smcr_lgr_hold(lgr);
	sock_hold(&ssk->sk);
	conn->sndbuf_max = smcr_conn_sndbuf_size(ssk);
	smcr_conn_reset(conn, lgr);

	do {
		spin_lock_bh(&conn->lock);
		conn->token = get_random_u32();
		spin_unlock_bh(&conn->lock);
		rc = conn->token ? smcr_lgr_add_conn(lgr, conn) : -EEXIST;
	} while (rc == -EEXIST);
	if (rc) {
		*why = rc == -ENOTCONN ? SMCR_R_NO_LINK : SMCR_R_NO_MEMORY;
		spin_lock_bh(&conn->lock);
		conn->lgr = NULL;
		conn->link = NULL;
		spin_unlock_bh(&conn->lock);
		smcr_rmb_put_elem(&conn->elem, false);
		smcr_lgr_put(lgr);
		sock_put(&ssk->sk);
		return rc;
	}
	smcr_count(ssk->sn, SMCR_CNT_CONN_CREATED);
	return 0;
}

/**
 * smcr_conn_set_peer() - what the peer's Accept or Confirm says of its side
 * @conn: open connection
 * @m: decoded message, enumerations already checked
 *
 * Return: 0; -ENOENT its RMB is not known on the link; -ENOSPC too many RTokens;
 * -ENOMEM.
 */
int smcr_conn_set_peer(struct smcr_conn *conn, const struct smcr_clc_accept *m)
{
	u32 size = smcr_bsize_bytes(m->bsize);
	int rtoken;

	rtoken = smcr_lgr_claim_relem(conn->lgr, conn, m->rkey, m->va,
				      m->index);
	if (rtoken < 0)
		return rtoken;

	spin_lock_bh(&conn->lock);
	conn->rtoken = rtoken;
	conn->peer_index = m->index;
	conn->peer_token = m->token;
	conn->peer_rkey = m->rkey;
	conn->peer_va = m->va + (u64)(m->index - 1) * size;
	conn->tx_ring.size = size;
	conn->tx_ring.base = conn->lgr->base;
	spin_unlock_bh(&conn->lock);
	return 0;
}

/*
 * Peer flags in the order in which they would have happened. Readers see them
 * with the data before them: smcr_rx_idle() takes the lock.
 */
static void smcr_conn_rx_flags(struct smcr_conn *conn, u8 cflags)
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

/**
 * smcr_conn_activate() - the handshake is complete
 * @conn: open connection with its peer set
 *
 * What arrived before (data, end flags) takes effect now (CLC-44).
 */
void smcr_conn_activate(struct smcr_conn *conn)
{
	const struct sock *tsk = smcr_conn_sock(conn)->tcp->sk;

	spin_lock_bh(&conn->lock);
	smcr_count_add(smcr_conn_net(conn), SMCR_CNT_BYTES_RX,
		       conn->rx_prod.abs);
	/* a listener's children have it from TCP */
	conn->tx_nodelay = tcp_sk(tsk)->nonagle & TCP_NAGLE_OFF;
	WRITE_ONCE(conn->active, true);
	if (conn->early_conflict)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_CONFLICT,
				       SMCR_R_RMBE_CONFLICT);
	else if (conn->early_bad)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
				       conn->early_bad);
	else if (conn->early_cflags)
		smcr_conn_rx_flags(conn, conn->early_cflags);
	/* the group may have died before there was a state to tell it to */
	if (smcr_lgr_state(conn->lgr) == SMCR_LGR_ST_DEAD)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_LGR_LOST,
				       conn->lgr->why);
	smcr_tx_push(conn);	/* nothing that was owed before is forgotten */
	spin_unlock_bh(&conn->lock);
}

/**
 * smcr_conn_conflict() - the peer gave our element of its RMB away (RMB-24)
 * @conn: connection that held it; a reference is held
 * @lgr: group in which it did
 *
 * Before activation only activation itself may start the close machine.
 * Context: any up to softirq.
 */
void smcr_conn_conflict(struct smcr_conn *conn, const struct smcr_lgr *lgr)
{
	spin_lock_bh(&conn->lock);
	if (conn->lgr != lgr)	/* it has let go of the element meanwhile */
		;
	else if (conn->active)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_CONFLICT,
				       SMCR_R_RMBE_CONFLICT);
	else
		conn->early_conflict = true;
	spin_unlock_bh(&conn->lock);
}

/* Unread data are dropped. conn->lock held; a reader may be at it */
static void smcr_conn_purge_rx(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	WRITE_ONCE(conn->purged, true);
	smp_wmb();	/* pairs with smcr_rx_copy(): not from the new place on */
	conn->rx_cons = conn->rx_prod;
}

/*
 * What sending needs goes: place in line, RToken, send buffers. The machine is
 * in CLOSED or was never started, so that nothing is posted any more.
 */
static void smcr_conn_release_tx(struct smcr_conn *conn)
{
	struct smcr_lgr *lgr = conn->lgr;
	struct smcr_buf *sndbuf, *old;

	if (!lgr)
		return;
	spin_lock_bh(&conn->lock);
	sndbuf = conn->sndbuf;
	old = conn->sndbuf_old;
	conn->sndbuf = NULL;
	conn->sndbuf_old = NULL;
	spin_unlock_bh(&conn->lock);

	if (smcr_link_cancel_wait(conn->link, &conn->sq_wait))
		sock_put(&smcr_conn_sock(conn)->sk);
	smcr_lgr_drop_relem(lgr, conn);
	/* an RDMA WRITE may still be reading: then they stay until the QP ends */
	if (conn->tx_signalled == conn->tx_prod.abs && !conn->tx_unsure) {
		smcr_buf_free(sndbuf);
		smcr_buf_free(old);
	} else {
		smcr_lgr_keep_buf(lgr, sndbuf);
		smcr_lgr_keep_buf(lgr, old);
	}
}

/*
 * The group has ended and the application still reads: what the unread data are
 * in leaves the group, which gives out no elements any more. False if they were
 * purged just now.
 */
static bool smcr_conn_keep_rest(struct smcr_conn *conn)
{
	u32 off = conn->rx_cons.off, len = (u32)smcr_conn_readable(conn);
	u32 cap = smcr_ring_cap(&conn->rx_ring);

	lockdep_assert_held(&conn->lock);

	if (!len)
		return false;
	if (len > cap - off) {	/* they wrap */
		off = 0;
		len = cap;
	}
	conn->keep_off = conn->elem.off + conn->rx_ring.base + off;
	conn->keep_len = len;
	smcr_buf_keep(conn->rx_buf, conn->keep_off, conn->keep_len);
	return true;
}

static void smcr_conn_unkeep_rest(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->rest = false;
	spin_unlock_bh(&conn->lock);
	smcr_buf_unkeep(conn->rx_buf, conn->keep_off, conn->keep_len);
	conn->keep_len = 0;
}

/*
 * Element and references go. @keep: what is unread stays for the reader, which
 * takes a group that gives out no elements any more; else what a CDC brought
 * since the caller looked is dropped. The socket lock is held if sk is live.
 */
static void smcr_conn_release_rx(struct smcr_conn *conn, bool quarantine,
				 bool keep)
{
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	struct smcr_lgr *lgr = conn->lgr;
	bool rest;

	if (!lgr)
		return;
	clear_bit(SMCR_CONN_TODO_ELEM, &conn->todo);
	smcr_lgr_del_conn(lgr, conn);
	/* softirq sees no connection any more before the element goes */
	spin_lock_bh(&conn->lock);
	if (!keep && smcr_conn_readable(conn))
		smcr_conn_purge_rx(conn);
	rest = smcr_conn_keep_rest(conn);
	conn->rest = rest;
	conn->lgr = NULL;
	conn->link = NULL;
	spin_unlock_bh(&conn->lock);

	if (rest)
		conn->elem.rmb = NULL;
	else
		smcr_rmb_put_elem(&conn->elem, quarantine);
	smcr_count(ssk->sn, SMCR_CNT_CONN_FREED);
	smcr_lgr_put(lgr);
	sock_put(&ssk->sk);
}

/* When all was read; who reads or closes, or ends the group, comes back here */
static void smcr_conn_release_read(struct smcr_conn *conn, bool quarantine)
{
	bool dead = conn->lgr && smcr_lgr_state(conn->lgr) == SMCR_LGR_ST_DEAD;

	if (dead || !smcr_conn_readable(conn))
		smcr_conn_release_rx(conn, quarantine, dead);
}

/**
 * smcr_conn_discard() - undo smcr_conn_open() before activation
 * @conn: open or not
 *
 * On return no work or timer of the connection is left, and none will come. The
 * socket lock keeps away one that became active early and is ending by itself.
 *
 * Context: process, sleeps; socket lock held, which neither of them waits for.
 */
void smcr_conn_discard(struct smcr_conn *conn)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	sock_owned_by_me(sk);

	spin_lock_bh(&conn->lock);
	smcr_conn_purge_rx(conn);
	conn->rest = false;
	spin_unlock_bh(&conn->lock);
	if (conn->lgr) {
		smcr_conn_release_tx(conn);
		smcr_conn_release_rx(conn, conn->clc_sent, false);
	}
	if (conn->keep_len)
		smcr_conn_unkeep_rest(conn);

	/* what it ordered is not for the socket's next connection */
	spin_lock_bh(&conn->lock);
	conn->todo = 0;
	spin_unlock_bh(&conn->lock);
	if (cancel_work_sync(&conn->work))
		sock_put(sk);
	clear_bit(SMCR_SK_CONN_WORK, &smcr_conn_sock(conn)->flags);
	if (cancel_delayed_work_sync(&conn->timer))
		sock_put(sk);
}

/**
 * smcr_conn_rest_read() - the application has read what there was
 * @conn: closed connection with conn->rest, conn->lock held
 */
void smcr_conn_rest_read(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (!smcr_conn_readable(conn))
		smcr_conn_queue_work(conn);
}

/* The error for the application, as TCP would have it */
static int smcr_conn_errno(const struct smcr_conn *conn,
			   const struct smcr_close_out *out)
{
	int err = out->err;

	if (out->why == SMCR_R_KEEPALIVE)
		err = ETIMEDOUT;
	else if (err == ECONNRESET && conn->fsm.rx_done && !conn->fsm.tx_done)
		err = EPIPE;	/* as tcp_reset() in CLOSE-WAIT */
	return err;
}

/*
 * Carry out what the machine ordered. conn->lock held; things that sleep are
 * left to smcr_conn_work(). Returns an event that follows at once, or
 * NR_SMCR_CONN_EV.
 */
static enum smcr_conn_ev smcr_conn_act(struct smcr_conn *conn,
				       const struct smcr_close_out *out)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;
	struct smcr_net *sn = smcr_conn_net(conn);
	enum smcr_conn_ev next = NR_SMCR_CONN_EV;
	u32 acts = out->actions;
	bool work = false;

	lockdep_assert_held(&conn->lock);

	if (acts & SMCR_ACT_PURGE) {
		/* data were dropped: a later D or C must not look like EOF */
		if (conn->rx_cons.abs != conn->rx_prod.abs ||
		    !(conn->fsm.rx_done || conn->fsm.rx_closed))
			conn->rx_lost = true;
		smcr_conn_purge_rx(conn);
	}
	if (acts & (SMCR_ACT_PURGE | SMCR_ACT_DROP_TX)) {
		conn->tx_dropped = true;
		WRITE_ONCE(conn->tx_queued, conn->tx_prod.abs);
	}
	if (acts & SMCR_ACT_NO_TX) {
		conn->tx_dead = true;
		conn->tx_owed = 0;
	}
	if (acts & SMCR_ACT_SEND) {
		smcr_tx_flag(conn, acts & SMCR_ACT_SEND);
		if (!smcr_link_up(conn->link) && (acts & SMCR_ACT_SEND_ABORT))
			next = SMCR_CONN_EV_TX_ABORT_DONE;
	}
	if (acts & SMCR_ACT_SEND_ABORT)
		sk->sk_state_change(sk);	/* a lingering close() */
	if (acts & SMCR_ACT_EOF) {
		sk->sk_shutdown |= RCV_SHUTDOWN;
		sk->sk_state_change(sk);
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
	}
	if (acts & SMCR_ACT_ERROR) {
		WRITE_ONCE(sk->sk_err, smcr_conn_errno(conn, out));
		smp_wmb();	/* pairs with smcr_poll_own() */
		sk->sk_shutdown |= SHUTDOWN_MASK;
		sk->sk_state = TCP_CLOSE;
		sk_error_report(sk);
		sk->sk_state_change(sk);
	}
	if (acts & (SMCR_ACT_EOF | SMCR_ACT_ERROR))
		smcr_child_news(smcr_conn_sock(conn));
	if (acts & SMCR_ACT_STOP_TIMER)
		smcr_conn_stop_timer(conn);
	if (acts & SMCR_ACT_CLOSE_TIMER)
		smcr_conn_start_timer(conn, false);
	if (acts & SMCR_ACT_ABORT_TIMER)
		smcr_conn_start_timer(conn, true);
	if (out->why != SMCR_R_NONE && conn->why == SMCR_R_NONE) {
		conn->why = out->why;
		smcr_hit(sn, out->why, conn->lgr->id, conn->token);
		smcr_count(sn, SMCR_CNT_CONN_ABORTED);
	}
	if (acts & SMCR_ACT_TCP_FIN) {
		set_bit(SMCR_CONN_TODO_FIN, &conn->todo);
		work = true;
	}
	if (acts & SMCR_ACT_TCP_RST) {
		set_bit(SMCR_CONN_TODO_RST, &conn->todo);
		work = true;
	}
	if (acts & SMCR_ACT_RELEASE) {
		/* a reader may be left, and has to hear of the group's end */
		conn->rest = smcr_conn_readable(conn);
		if (!conn->rest)
			smcr_lgr_del_conn(conn->lgr, conn);
		set_bit(SMCR_CONN_TODO_RELEASE, &conn->todo);
		/* who reads on finds an orderly end: the peer's C */
		if (conn->fsm.app_closed && sk->sk_state != TCP_CLOSE) {
			WRITE_ONCE(sk->sk_state, TCP_CLOSE);
			sk->sk_state_change(sk);	/* a lingering close() */
		}
		work = true;
	}
	if (work)
		smcr_conn_queue_work(conn);
	return next;
}

/* What is left to happen in CLOSED when there is still something to read */
static void smcr_conn_rest_event(struct smcr_conn *conn, enum smcr_conn_ev ev)
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
 * @why: reason, or SMCR_R_NONE for the event's natural one
 *
 * The only writer of the machine's state once smcr_conn_open() has set it up.
 * What sleeps is left to smcr_conn_work().
 *
 * Context: any up to softirq.
 */
void smcr_conn_event_locked(struct smcr_conn *conn, enum smcr_conn_ev ev,
			    enum smcr_reason why)
{
	struct smcr_close_facts facts;
	struct smcr_close_out out;

	lockdep_assert_held(&conn->lock);

	/* the peer ended the group, then TCP: one event, not two */
	if (ev == SMCR_CONN_EV_TCP_RESET && conn->lgr &&
	    smcr_lgr_state(conn->lgr) == SMCR_LGR_ST_DEAD) {
		ev = SMCR_CONN_EV_LGR_LOST;
		why = conn->lgr->why;
	}
	if (conn->rest) {	/* the machine is through, the reader is not */
		smcr_conn_rest_event(conn, ev);
		return;
	}
	while (ev != NR_SMCR_CONN_EV && conn->lgr) {
		u8 old = conn->fsm.st;

		facts.unread = conn->rx_prod.abs != conn->rx_cons.abs;
		facts.unsent = smcr_conn_unsent(conn) > 0;
		facts.undrained = conn->tx_done != conn->tx_queued;
		smcr_close_step(&conn->fsm, ev, &facts, why, &out);
		trace_smcr_conn_state(conn->token, old, ev, conn->fsm.st,
				      out.actions);
		ev = smcr_conn_act(conn, &out);
		why = SMCR_R_NONE;
	}
	if (conn->lgr && (conn->fsm.want_done || conn->fsm.want_closed)) {
		smcr_tx_flush(conn);
		smcr_llc_probe(conn->lgr);
	}
}

/**
 * smcr_conn_event() - feed the close machine
 * @conn: connection; caller holds a reference on the socket, not conn->lock
 * @ev: event
 * @why: reason, or SMCR_R_NONE for the event's natural one
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

/* FIN on TCP needs no more explanation; after D it is a half-close, too */
static bool smcr_conn_ended(const struct smcr_conn *conn)
{
	return conn->fsm.rx_done || conn->fsm.rx_closed ||
	       conn->fsm.rx_abort || conn->fsm.tx_closed ||
	       conn->fsm.tx_abort || conn->fsm.st == SMCR_CONN_ST_CLOSED;
}

/**
 * smcr_conn_tcp_fin() - FIN on TCP while SMC-R is up (CONN-34)
 * @conn: connection
 *
 * Not the end of the data: the peer's D, C or A gets T_CLOSE to arrive.
 */
void smcr_conn_tcp_fin(struct smcr_conn *conn)
{
	spin_lock_bh(&conn->lock);
	if (conn->lgr && !conn->fin_seen && !smcr_conn_ended(conn)) {
		conn->fin_seen = true;
		smcr_conn_start_timer(conn, false);
	}
	spin_unlock_bh(&conn->lock);
}

static void smcr_conn_timer(struct work_struct *work)
{
	struct smcr_conn *conn = container_of(to_delayed_work(work),
					      struct smcr_conn, timer);
	struct smcr_net *sn = smcr_conn_net(conn);

	spin_lock_bh(&conn->lock);
	/* armed again, or over, while this run waited for the lock: not its time */
	if (!conn->lgr || conn->fsm.st == SMCR_CONN_ST_CLOSED ||
	    time_before(jiffies, conn->timer_end))
		goto out;
	if (conn->fin_seen && !smcr_conn_ended(conn)) {
		smcr_count(sn, SMCR_CNT_T_CLOSE);
		smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
				       SMCR_R_TCP_FIN);
	} else if (conn->timer_abort) {
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
 * smcr_sock_trylock() - lock_sock() that does not wait
 * @ssk: socket
 * @flag: SMCR_SK_CONN_WORK or SMCR_SK_HS_WORK
 *
 * The owner may be copying from or to memory that user space provides when it
 * likes; thousands of such threads must not take up all the workers.
 *
 * Context: process.
 * Return: false if somebody has the lock, who then starts what @flag names on
 * the way out: smcr_sock_release_cb().
 */
bool smcr_sock_trylock(struct smcr_sock *ssk, int flag)
{
	struct sock *sk = &ssk->sk;
	bool got;

	spin_lock_bh(&sk->sk_lock.slock);
	got = !sock_owned_by_user_nocheck(sk);
	if (got)
		sk->sk_lock.owned = 1;
	else
		set_bit(flag, &ssk->flags);
	spin_unlock_bh(&sk->sk_lock.slock);
	if (got)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return got;
}

/**
 * smcr_sock_release_cb() - proto.release_cb: the socket lock is being given up
 * @sk: socket, its spin lock held
 */
void smcr_sock_release_cb(struct sock *sk)
{
	struct smcr_sock *ssk = smcr_sk(sk);

	lockdep_assert_held(&sk->sk_lock.slock);

	if (test_and_clear_bit(SMCR_SK_CONN_WORK, &ssk->flags))
		smcr_conn_queue_work(&ssk->conn);
	if (test_and_clear_bit(SMCR_SK_HS_WORK, &ssk->flags))
		smcr_hs_kick(ssk);
}

/*
 * The sleeping half of the machine's actions. The socket lock keeps a reader
 * or writer out of the element and the send buffer while they are released.
 */
static void smcr_conn_work(struct work_struct *work)
{
	struct smcr_conn *conn = container_of(work, struct smcr_conn, work);
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	struct sock *sk = &ssk->sk;
	bool orderly, idle;

	if (!smcr_sock_trylock(ssk, SMCR_SK_CONN_WORK))
		goto out;
	if (test_and_clear_bit(SMCR_CONN_TODO_RST, &conn->todo))
		smcr_tcp_reset(ssk);

	spin_lock_bh(&conn->lock);
	idle = !conn->tx_pends && !conn->tx_owed;
	/* both have said C or A: nobody writes any more (RMB-22) */
	orderly = (conn->fsm.tx_closed || conn->fsm.tx_abort) &&
		  (conn->fsm.rx_closed || conn->fsm.rx_abort);
	spin_unlock_bh(&conn->lock);

	/*
	 * FIN comes with RELEASE and after our C, which may still be in line for
	 * the send queue (CONN-03). The last completion queues this work again.
	 */
	if (idle && test_and_clear_bit(SMCR_CONN_TODO_FIN, &conn->todo))
		smcr_tcp_fin(ssk);
	if (idle && test_and_clear_bit(SMCR_CONN_TODO_RELEASE, &conn->todo)) {
		smcr_conn_stop_timer(conn);
		smcr_conn_release_tx(conn);
		set_bit(SMCR_CONN_TODO_ELEM, &conn->todo);
	}
	if (test_bit(SMCR_CONN_TODO_ELEM, &conn->todo))
		smcr_conn_release_read(conn, !orderly);
	else if (conn->keep_len && !smcr_conn_readable(conn))
		smcr_conn_unkeep_rest(conn);
	release_sock(sk);
out:
	sock_put(sk);
}

/**
 * smcr_conn_tx_idle() - the last signalled send has completed
 * @conn: connection, conn->lock held
 *
 * The release, or a lingering close(), may have waited for it.
 *
 * Context: softirq, or process on a software device.
 */
void smcr_conn_tx_idle(struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (test_bit(SMCR_CONN_TODO_RELEASE, &conn->todo))
		smcr_conn_queue_work(conn);
	if (conn->fsm.tx_closed) {	/* a lingering close() */
		struct sock *sk = &smcr_conn_sock(conn)->sk;

		sk->sk_state_change(sk);
	}
}

/*
 * Check and apply the cursors of a CDC as a whole: nothing of an impossible
 * message takes effect (CDC-19, SEC-11). Returns the reason of a violation.
 */
static enum smcr_reason smcr_conn_apply(struct smcr_conn *conn,
					const struct smcr_cdc *cdc, int *rx,
					int *freed)
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
	conn->rx_prod.off = prod.off;
	conn->rx_prod.wrap = prod.wrap;
	smp_mb();	/* the CDC was seen, then the data; smcr_conn_readable() */
	WRITE_ONCE(conn->rx_prod.abs, prod.abs);
	conn->tx_cons = cons;
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

/* One CDC of a known connection, conn->lock held */
static void smcr_conn_rx_locked(struct smcr_conn *conn,
				const struct smcr_cdc *cdc)
{
	struct smcr_net *sn = smcr_conn_net(conn);
	enum smcr_reason why;
	int rx, freed;

	lockdep_assert_held(&conn->lock);

	if (cdc->pflags & SMCR_CDC_F) {		/* FO-08: no other field counts */
		if (!smcr_seq_after(cdc->seq, conn->rx_seq))
			return;
		if (!conn->active)
			conn->early_bad = SMCR_R_CDC_VALIDATION;
		else
			smcr_conn_event_locked(conn, SMCR_CONN_EV_VIOLATION,
					       SMCR_R_CDC_VALIDATION);
		return;
	}
	if (!smcr_seq_after(cdc->seq, conn->rx_seq)) {
		smcr_hit(sn, SMCR_R_CDC_OLD, conn->lgr->id, conn->token);
		return;
	}
	if (conn->fsm.rx_closed || conn->fsm.rx_abort) {
		smcr_hit(sn, SMCR_R_CDC_AFTER_CLOSE, conn->lgr->id,
			 conn->token);
		return;
	}
	if (!smcr_close_may_rx(&conn->fsm)) {
		/* after our A only the peer's C or A counts */
		conn->rx_seq = cdc->seq;
		smcr_conn_rx_flags(conn, cdc->cflags);
		return;
	}

	why = smcr_conn_apply(conn, cdc, &rx, &freed);
	if (why == SMCR_R_NONE && conn->rx_ring.base &&
	    !smcr_rmb_eye_ok(&conn->elem)) {
		why = SMCR_R_RMBE_EYE_CATCHER;
		net_info_ratelimited("smcr: link group %u, peer %*phN: eye catcher of element %u of RMB 0x%x was overwritten, token %08x\n",
				     conn->lgr->id,
				     (int)sizeof(conn->lgr->peer.id),
				     conn->lgr->peer.id, conn->elem.index,
				     conn->elem.rmb->mr->rkey, conn->token);
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
	if (!conn->active) {
		conn->early_cflags |= cdc->cflags;
		return;
	}
	if (rx)
		smcr_conn_rx_data(conn, rx);
	/* it waits for space or the cursor, which has moved (CDC-26, CDC-27) */
	if ((conn->peer_asks || conn->peer_blocked) &&
	    conn->rx_announced != conn->rx_cons.abs)
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

/**
 * smcr_conn_rx_cdc() - a CDC message arrived on a link of the group
 * @lgr: the group; its tokens are the only ones that count (CDC-05)
 * @cdc: decoded message
 *
 * Context: softirq, or process on a software device.
 */
void smcr_conn_rx_cdc(struct smcr_lgr *lgr, const struct smcr_cdc *cdc)
{
	struct smcr_conn *conn;

	smcr_count(lgr->sn, SMCR_CNT_CDC_RX);
	trace_smcr_cdc(false, cdc->token, cdc);
	conn = smcr_lgr_find_conn(lgr, cdc->token);
	if (!conn) {
		smcr_hit(lgr->sn, SMCR_R_CDC_TOKEN, lgr->id, cdc->token);
		return;
	}
	spin_lock_bh(&conn->lock);
	/* the socket may have a connection that was opened since the lookup */
	if (conn->lgr == lgr && conn->token == cdc->token)
		smcr_conn_rx_locked(conn, cdc);
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}
