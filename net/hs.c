// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handshake: the machine that runs its steps, those that both roles share,
 * and its end (RFC 7609 3.5, C). The states are in core/hs_turn.c; this file is
 * the only one that changes them.
 */
#include <linux/slab.h>
#include <net/tcp.h>
#include "core/hs_turn.h"
#include "core/lgr_plan.h"
#include "hs.h"
#include "keepalive.h"
#include "kllc.h"
#include "memcg.h"
#include "route.h"

/* A client waits this long for the server's Decline before it sends its own */
#define SMCR_HS_CROSS_MS	200

/* ssk->hs_sent */
enum { SMCR_HS_SENT_NOT, SMCR_HS_SENT_OK, SMCR_HS_SENT_BAD };

/* The one place that changes a handshake's state */
static enum smcr_turn_act smcr_hs_turn(struct smcr_sock *ssk,
				       enum smcr_turn_ev ev)
{
	u32 old = READ_ONCE(ssk->hs_turn);
	struct smcr_turn_step next;

	/* a full barrier also when the word stays: see smcr_hs_kick() */
	do {
		next = smcr_turn_next(old, ev);
	} while (!try_cmpxchg(&ssk->hs_turn, &old, next.word));
	WARN_ON_ONCE(next.act == SMCR_TURN_BUG);
	return next.act;
}

static bool smcr_hs_stopped(const struct smcr_sock *ssk)
{
	return READ_ONCE(ssk->hs_turn) & SMCR_TURN_STOP;
}

/**
 * smcr_hs_kick() - something happened that a handshake may wait for
 * @ssk: socket; a reference or something else keeps its memory
 *
 * What is written before is seen by the step that runs next. Too many kicks do
 * no harm: every step looks for what it waits for.
 * Context: any.
 */
void smcr_hs_kick(struct smcr_sock *ssk)
{
	if (smcr_hs_turn(ssk, SMCR_TURN_EV_KICK) != SMCR_TURN_QUEUE ||
	    !smcr_sock_get(ssk))
		return;
	/* one that came too late for a stopped handshake may still be queued */
	if (!queue_work(ssk->is_client ? smcr_hs_wq : smcr_srv_wq,
			&ssk->hs_work))
		sock_put(&ssk->sk);
}

static void smcr_hs_arm(struct smcr_sock *ssk, unsigned long until)
{
	long left = until - jiffies;

	sock_hold(&ssk->sk);
	if (mod_delayed_work(smcr_wq, &ssk->hs_timer, max(left, 0L)))
		sock_put(&ssk->sk);	/* it was armed and had its reference */
}

/**
 * smcr_hs_timer() - the wait of a handshake is over
 * @work: hs_timer of a socket; holds a reference
 *
 * After the handshake: the end of a deferred accept().
 */
void smcr_hs_timer(struct work_struct *work)
{
	struct smcr_sock *ssk = container_of(to_delayed_work(work),
					     struct smcr_sock, hs_timer);

	smcr_hs_kick(ssk);
	smcr_child_defer_end(ssk);
	sock_put(&ssk->sk);
}

/* Wake-up on the wait queue of a group; its lock is held */
static int smcr_hs_woken(wait_queue_entry_t *watch, unsigned int mode,
			 int sync, void *key)
{
	struct smcr_hs *hs = container_of(watch, struct smcr_hs, watch);

	lockdep_assert_held(&hs->watched->wait.lock);

	/* waiting for another first contact: only its end matters, not its steps */
	if (READ_ONCE(hs->forming) != hs->watched ||
	    READ_ONCE(hs->watched->st) != SMCR_LGR_ST_FORMING)
		smcr_hs_kick(hs->ssk);
	return 0;
}

/**
 * smcr_hs_unwatch() - end smcr_hs_watch()
 * @hs: handshake, watching or not
 */
void smcr_hs_unwatch(struct smcr_hs *hs)
{
	if (!hs->watched)
		return;
	remove_wait_queue(&hs->watched->wait, &hs->watch);
	smcr_lgr_put(hs->watched);
	hs->watched = NULL;
}

/**
 * smcr_hs_watch() - be kicked when something happens in a group
 * @hs: handshake
 * @lgr: group: its state changes, an LLC answer or an RMB comes
 *
 * A reference on @lgr is held until smcr_hs_unwatch() or the next watch.
 */
void smcr_hs_watch(struct smcr_hs *hs, struct smcr_lgr *lgr)
{
	if (hs->watched == lgr)
		return;
	smcr_hs_unwatch(hs);
	smcr_lgr_hold(lgr);
	hs->watched = lgr;
	add_wait_queue(&lgr->wait, &hs->watch);
}

/**
 * smcr_hs_goto() - go to the next step
 * @hs: handshake
 * @step: the next step
 * @ms: how long it may wait
 *
 * Return: SMCR_HS_NEXT.
 */
enum smcr_hs_res smcr_hs_goto(struct smcr_hs *hs,
			      enum smcr_hs_res (*step)(struct smcr_hs *hs),
			      unsigned int ms)
{
	hs->step = step;
	hs->timed = true;
	hs->until = jiffies + msecs_to_jiffies(ms);
	return SMCR_HS_NEXT;
}

/**
 * smcr_hs_bsize() - wanted element size (RMB-08)
 * @ssk: socket
 *
 * Return: size code for SO_RCVBUF if that was set, else for net.smcr.rmem.
 */
u8 smcr_hs_bsize(const struct smcr_sock *ssk)
{
	u32 want = READ_ONCE(ssk->sn->knobs.rmem);

	if (ssk->sk.sk_userlocks & SOCK_RCVBUF_LOCK)
		want = ssk->sk.sk_rcvbuf / 2;	/* the kernel doubled it */
	return smcr_bsize_for(want, 0);
}

/**
 * smcr_hs_fill_accept() - own values for Accept or Confirm
 * @hs: handshake with an open connection
 * @type: SMCR_CLC_ACCEPT or SMCR_CLC_CONFIRM
 * @m: filled
 */
void smcr_hs_fill_accept(struct smcr_hs *hs, u8 type,
			 struct smcr_clc_accept *m)
{
	struct smcr_conn *conn = &hs->ssk->conn;
	struct smcr_link *link = hs->lgr->link;

	memset(m, 0, sizeof(*m));
	m->type = type;
	m->first_contact = type == SMCR_CLC_ACCEPT && hs->first;
	smcr_local_peer_id(hs->ssk->sn, m->peer_id);
	memcpy(m->gid, link->pid.gid.raw, sizeof(m->gid));
	memcpy(m->mac, link->pid.mac, sizeof(m->mac));
	m->qpn = link->qpn;
	m->rkey = conn->elem.rmb->mr->rkey;
	m->index = conn->elem.index;
	m->token = conn->token;
	m->bsize = conn->elem.rmb->bsize;
	m->mtu = link->pid.mtu;
	m->va = conn->elem.rmb->va;
	/* in a reuse the peer knows it; it would help others to forge packets */
	m->psn = hs->first ? link->psn : 0;
}

/**
 * smcr_hs_set_peer() - take the peer's element from its Accept or Confirm
 * @hs: handshake with an open connection
 * @m: Accept or Confirm, checked
 *
 * Context: process.
 * Return: 0, or a negative errno with @hs->why set.
 */
int smcr_hs_set_peer(struct smcr_hs *hs, const struct smcr_clc_accept *m)
{
	int rc = smcr_conn_set_peer(&hs->ssk->conn, m);

	if (rc)
		hs->why = rc == -ENOENT ? SMCR_R_RKEY_UNKNOWN :
					  SMCR_R_RMB_LIMIT;
	return rc;
}

/**
 * smcr_hs_check_enums() - reserved MTU or Bsize in the peer's message? (CLC-10)
 * @hs: handshake
 * @m: Accept or Confirm
 * @check_mtu: the MTU counts: first contact
 *
 * Return: SMCR_HS_NEXT, or SMCR_HS_DECLINE with @hs->why set.
 */
enum smcr_hs_res smcr_hs_check_enums(struct smcr_hs *hs,
				     const struct smcr_clc_accept *m,
				     bool check_mtu)
{
	if (check_mtu && !smcr_mtu_ok(m->mtu)) {
		hs->why = SMCR_R_BAD_MTU;
		return SMCR_HS_DECLINE;
	}
	if (!smcr_bsize_ok(m->bsize)) {
		hs->why = SMCR_R_BAD_BSIZE;
		return SMCR_HS_DECLINE;
	}
	return SMCR_HS_NEXT;
}

/* Result of smcr_clc_recv() when it was not 0 */
static enum smcr_hs_res smcr_hs_clc_error(struct smcr_hs *hs, int rc)
{
	hs->err = -rc;
	return SMCR_HS_FAILED;
}

/* Nobody wants the connection any more */
static enum smcr_hs_res smcr_hs_aborted(struct smcr_hs *hs)
{
	hs->why = SMCR_R_NEG_ABORTED;
	/* as tcp_disconnect(), while there is nothing but TCP */
	hs->err = hs->fresh && hs->ssk->is_client ? ECONNRESET : ECONNABORTED;
	return SMCR_HS_FAILED;
}

/**
 * smcr_hs_clc() - receive the CLC message that is due
 * @hs: handshake
 * @want: enum smcr_clc_type
 * @clc: the message, or a Decline
 *
 * Return: SMCR_HS_NEXT with @clc filled; SMCR_HS_WAIT it has not come yet; else
 * how the handshake ends.
 */
enum smcr_hs_res smcr_hs_clc(struct smcr_hs *hs, u8 want,
			     struct smcr_clc_msg *clc)
{
	struct smcr_sock *ssk = hs->ssk;
	struct sock *tsk = ssk->tcp->sk;
	bool due;
	int rc;

	/* TCP's lock: from here on its callbacks know what is waited for */
	lock_sock(tsk);
	WRITE_ONCE(ssk->hs_want, want);
	due = smcr_hs_clc_due(ssk);
	release_sock(tsk);
	if (!due && !smcr_hs_expired(hs))
		return SMCR_HS_WAIT;
	WRITE_ONCE(ssk->hs_want, SMCR_HS_WANT_NOTHING);
	rc = smcr_clc_recv(ssk, want, clc, &hs->why);
	return rc ? smcr_hs_clc_error(hs, rc) : SMCR_HS_NEXT;
}

/**
 * smcr_hs_declined() - the peer's Decline has come (CLC-52, CLC-36)
 * @hs: handshake
 * @d: Decline
 *
 * Return: SMCR_HS_DECLINED.
 */
enum smcr_hs_res smcr_hs_declined(struct smcr_hs *hs,
				  const struct smcr_clc_decline *d)
{
	hs->why = SMCR_R_PEER_DECLINED;
	smcr_clc_note_decline(hs->ssk, d);
	/* it does not know the group that we named (CLC-36) */
	if (d->out_of_sync && hs->lgr && !hs->first)
		smcr_lgr_doubt(hs->lgr, hs->lgr->server ? &hs->peer.addr : NULL);
	return SMCR_HS_DECLINED;
}

/* The group in which first contact runs has ended */
static enum smcr_hs_res smcr_hs_lgr_died(struct smcr_hs *hs)
{
	hs->why = hs->lgr->why;
	hs->err = ECONNRESET;
	return SMCR_HS_FAILED;
}

/* Something arrived on TCP while LLC was due: a Decline or the end */
static enum smcr_hs_res smcr_hs_tcp_instead(struct smcr_hs *hs)
{
	enum smcr_hs_res res;
	struct smcr_clc_msg clc;

	res = smcr_hs_clc(hs, SMCR_CLC_DECLINE, &clc);
	if (res == SMCR_HS_NEXT)
		return smcr_hs_declined(hs, &clc.decline);
	/* a peer that does not end its message keeps no group and no device */
	if (res == SMCR_HS_WAIT && hs->lgr &&
	    smcr_lgr_state(hs->lgr) == SMCR_LGR_ST_DEAD)
		return smcr_hs_lgr_died(hs);
	return res;
}

static enum smcr_hs_res smcr_hs_goto_instead(struct smcr_hs *hs)
{
	return smcr_hs_goto(hs, smcr_hs_tcp_instead,
			    READ_ONCE(hs->ssk->sn->knobs.t_clc));
}

/* Has anything arrived on TCP? If not, TCP's callback kicks when it does. */
static bool smcr_hs_tcp_news(struct smcr_hs *hs)
{
	WRITE_ONCE(hs->ssk->hs_want, SMCR_HS_WANT_NEWS);
	smp_mb();	/* pairs with TCP, which queues and then calls back */
	return smcr_tcp_has_news(hs->ssk->tcp->sk);
}

/* Send completion of an LLC message; softirq. @pend->arg holds a reference. */
static void smcr_hs_llc_sent(struct smcr_tx_pend *pend, bool ok)
{
	struct smcr_sock *ssk = pend->arg;

	/* not of an earlier handshake of the socket */
	if (READ_ONCE(ssk->hs_send_no) == pend->mark) {
		WRITE_ONCE(ssk->hs_sent, ok ? SMCR_HS_SENT_OK :
					      SMCR_HS_SENT_BAD);
		smcr_hs_kick(ssk);
	}
	sock_put(&ssk->sk);
}

/**
 * smcr_hs_llc_send() - post an LLC message of first contact
 * @hs: handshake
 * @msg: message
 * @why: reason of the Decline if the message cannot be sent
 * @step: next step, which gets the answer with smcr_hs_llc()
 *
 * The peer's T_LLC_FIRST runs while we wait for the send completion: that wait
 * ends after half of it, so that a Decline is not too late (LLC-11).
 *
 * Return: what comes next.
 */
enum smcr_hs_res smcr_hs_llc_send(struct smcr_hs *hs,
				  const struct smcr_llc *msg,
				  enum smcr_reason why,
				  enum smcr_hs_res (*step)(struct smcr_hs *hs))
{
	struct smcr_sock *ssk = hs->ssk;
	int rc;

	smcr_hs_watch(hs, hs->lgr);
	WRITE_ONCE(ssk->hs_sent, SMCR_HS_SENT_NOT);
	WRITE_ONCE(ssk->hs_send_no, ssk->hs_send_no + 1);
	hs->sending = true;
	hs->send_why = why;
	sock_hold(&ssk->sk);
	rc = smcr_llc_post(hs->lgr, msg, smcr_hs_llc_sent, ssk,
			   ssk->hs_send_no);
	if (rc) {
		sock_put(&ssk->sk);
		return smcr_hs_link_failed(hs, why);
	}
	return smcr_hs_goto(hs, step,
			    READ_ONCE(ssk->sn->knobs.t_llc_first) / 2);
}

static enum smcr_hs_res smcr_hs_llc_timeout(struct smcr_hs *hs)
{
	if (hs->sending)
		return smcr_hs_link_failed(hs, hs->send_why);
	smcr_count(hs->ssk->sn, SMCR_CNT_T_LLC_FIRST);
	hs->why = SMCR_R_LLC_TIMEOUT;
	hs->err = ETIMEDOUT;
	return SMCR_HS_FAILED;
}

/**
 * smcr_hs_llc() - receive the LLC message that smcr_llc_expect() announced
 * @hs: handshake
 * @msg: the message
 * @got: set if @msg is filled
 *
 * A Decline on TCP, or its end, ends the wait (CLC-59).
 *
 * Return: SMCR_HS_NEXT with @msg, or, without, because another step has been
 * chosen; SMCR_HS_WAIT; else how the handshake ends.
 */
enum smcr_hs_res smcr_hs_llc(struct smcr_hs *hs, struct smcr_llc *msg,
			     bool *got)
{
	struct smcr_sock *ssk = hs->ssk;
	int rc;

	*got = false;
	if (hs->sending && READ_ONCE(ssk->hs_sent) == SMCR_HS_SENT_OK) {
		hs->sending = false;
		hs->until = jiffies + smcr_knob_jiffies(ssk->sn, t_llc_first);
	}
	rc = smcr_llc_wait(hs->lgr, msg, 0);
	if (!rc) {	/* then our message did arrive, too */
		hs->sending = false;
		*got = true;
		return SMCR_HS_NEXT;
	}
	if (hs->sending && READ_ONCE(ssk->hs_sent) == SMCR_HS_SENT_BAD)
		return smcr_hs_link_failed(hs, hs->send_why);
	if (rc == -ENOTCONN && !hs->sending)
		return smcr_hs_lgr_died(hs);
	if (smcr_hs_tcp_news(hs))	/* a Decline, or TCP has ended (CLC-59) */
		return smcr_hs_goto_instead(hs);
	return smcr_hs_expired(hs) ? smcr_hs_llc_timeout(hs) : SMCR_HS_WAIT;
}

/**
 * smcr_hs_link_failed() - the link of a first contact cannot be used
 * @hs: handshake
 * @why: what failed
 *
 * Decline (CLC-57, CLC-63), unless a message of the peer ended the link: then
 * TCP is reset (SEC-10), whether or not that message came before our send
 * completion.
 *
 * Return: SMCR_HS_DECLINE or SMCR_HS_FAILED, with @hs->why set.
 */
enum smcr_hs_res smcr_hs_link_failed(struct smcr_hs *hs, enum smcr_reason why)
{
	const struct smcr_lgr *lgr = hs->lgr;

	hs->why = why;
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD)
		return SMCR_HS_DECLINE;
	switch (lgr->why) {
	case SMCR_R_LINK_ERROR:
	case SMCR_R_LINK_DEVICE:
	case SMCR_R_LGR_SHUTDOWN:
		return SMCR_HS_DECLINE;
	default:
		return smcr_hs_lgr_died(hs);
	}
}

/**
 * smcr_hs_wire_why() - what a Decline says after a group has ended
 * @lost: why it ended; some of these reasons have no code on the wire (CLC-54)
 *
 * Return: a reason that has one.
 */
enum smcr_reason smcr_hs_wire_why(enum smcr_reason lost)
{
	if (smcr_reason_wire(lost))
		return lost;
	return lost == SMCR_R_LINK_DEVICE ? SMCR_R_DEVICE_GONE :
					    SMCR_R_NO_LINK;
}

/**
 * smcr_hs_open_failed() - the group took no connection
 * @hs: handshake, with @hs->why set
 *
 * Return: SMCR_HS_DECLINE, or what smcr_hs_link_failed() has for the end of the
 * group of a first contact; @hs->why says why it has ended.
 */
enum smcr_hs_res smcr_hs_open_failed(struct smcr_hs *hs)
{
	if (hs->first && hs->why == SMCR_R_NO_LINK &&
	    smcr_lgr_state(hs->lgr) == SMCR_LGR_ST_DEAD)
		return smcr_hs_link_failed(hs, smcr_hs_wire_why(hs->lgr->why));
	return SMCR_HS_DECLINE;
}

/**
 * smcr_hs_fill_confirm_link() - own values for CONFIRM LINK
 * @lgr: group
 * @reply: the reply form
 * @msg: filled
 */
void smcr_hs_fill_confirm_link(struct smcr_lgr *lgr, bool reply,
			       struct smcr_llc *msg)
{
	struct smcr_llc_confirm_link *cl = &msg->confirm_link;
	struct smcr_link *link = lgr->link;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMCR_LLC_CONFIRM_LINK;
	msg->reply = reply;
	memcpy(cl->mac, link->pid.mac, sizeof(cl->mac));
	memcpy(cl->gid, link->pid.gid.raw, sizeof(cl->gid));
	cl->qpn = link->qpn;
	cl->link_num = link->num;
	cl->user_id = link->user_id;
	cl->max_links = lgr->max_links;
	cl->no_eye_catcher = !lgr->eye_wanted;
}

/**
 * smcr_hs_confirm_link_ok() - check the peer's CONFIRM LINK (LLC-21, LLC-22)
 * @lgr: group
 * @cl: the peer's values
 *
 * Return: true if they are what CLC announced.
 */
bool smcr_hs_confirm_link_ok(const struct smcr_lgr *lgr,
			     const struct smcr_llc_confirm_link *cl)
{
	const struct smcr_link *link = lgr->link;

	return !memcmp(cl->mac, link->peer_mac, sizeof(cl->mac)) &&
	       !memcmp(cl->gid, link->peer_gid, sizeof(cl->gid)) &&
	       cl->qpn == link->peer_qpn;
}

/**
 * smcr_hs_settle_link() - both sides' CONFIRM LINK are known
 * @hs: handshake
 * @peer: the peer's values
 *
 * Settles the number of links (LG-10), eye catchers and the form of ADD LINK.
 */
void smcr_hs_settle_link(struct smcr_hs *hs,
			 const struct smcr_llc_confirm_link *peer)
{
	struct smcr_conn *conn = &hs->ssk->conn;
	struct smcr_lgr *lgr = hs->lgr;
	bool plain = peer->no_eye_catcher && !lgr->eye_wanted;

	lgr->link->peer_user_id = peer->user_id;
	lgr->max_links = lgr->server ?
		smcr_max_links(lgr->max_links, peer->max_links) :
		smcr_max_links(peer->max_links ?: SMCR_LINKS_MIN,
			       lgr->max_links);
	lgr->base = plain ? 0 : SMCR_RMBE_EYE_LEN;
	lgr->link->llc_form = smcr_llc_form(plain);

	if (plain)
		smcr_rmb_clear_eye(&conn->elem);
	/* the peer's first data may be here before we activate */
	spin_lock_bh(&conn->lock);
	conn->rx_ring.base = lgr->base;
	conn->tx_ring.base = lgr->base;
	spin_unlock_bh(&conn->lock);
}

/* What the peer sees as a diagnosis code, as a text */
static void smcr_hs_log_decline(const struct smcr_sock *ssk,
				enum smcr_reason why)
{
	const struct sock *tsk = ssk->tcp->sk;
	u16 lport = inet_sk(tsk)->inet_num;
	u16 rport = ntohs(inet_sk(tsk)->inet_dport);

	if (smcr_route_is_v4(tsk))
		net_info_ratelimited("smcr: declined %pI4:%u, local port %u, diagnosis 0x%08x: %s\n",
				     &inet_sk(tsk)->inet_daddr, rport, lport,
				     smcr_reason_wire(why),
				     smcr_reason_text(why));
#if IS_ENABLED(CONFIG_IPV6)
	else
		net_info_ratelimited("smcr: declined [%pI6c]:%u, local port %u, diagnosis 0x%08x: %s\n",
				     &tsk->sk_v6_daddr, rport, lport,
				     smcr_reason_wire(why),
				     smcr_reason_text(why));
#endif
}

/*
 * A first contact is given up after the Confirm, when both sides may decline. A
 * peer that has done so takes what comes next for application data, so its
 * Decline ends the handshake, if it is here; smcr_tcp_await_decline() is for the
 * other direction. If CONFIRM LINK or its reply was not delivered, perhaps in both
 * directions, the client waits for the server's, whose timers began first.
 */
static enum smcr_hs_res smcr_hs_crossed(struct smcr_hs *hs)
{
	if (smcr_hs_tcp_news(hs))
		return smcr_hs_goto_instead(hs);
	return smcr_hs_expired(hs) ? SMCR_HS_DECLINE : SMCR_HS_WAIT;
}

/* Steps until one of them waits or ends the handshake */
static enum smcr_hs_res smcr_hs_steps(struct smcr_hs *hs)
{
	enum smcr_hs_res res;
	bool wait;

	do {
		if (smcr_hs_stopped(hs->ssk))
			return smcr_hs_aborted(hs);
		res = hs->step(hs);
		if (res == SMCR_HS_DECLINE && hs->cross == SMCR_HS_CROSS_MAY) {
			hs->cross = SMCR_HS_CROSS_WAITED;
			wait = hs->ssk->is_client &&
			       hs->why == SMCR_R_CONFIRM_LINK_FAIL;
			res = smcr_hs_goto(hs, smcr_hs_crossed,
					   wait ? SMCR_HS_CROSS_MS : 0);
		}
	} while (res == SMCR_HS_NEXT);
	return res;
}

/* The connection and, in first contact, the whole group are given up */
static void smcr_hs_undo(struct smcr_hs *hs)
{
	smcr_conn_discard(&hs->ssk->conn);
	if (hs->lgr && hs->first) {
		smcr_llc_done(hs->lgr);
		/* a server may be past the point of no return */
		smcr_lgr_kill(hs->lgr, hs->why,
			      hs->why == SMCR_R_LLC_LINK_DATA ?
			      SMCR_DEL_PROTOCOL : SMCR_DEL_INACTIVE);
	}
}

/* What the handshake holds, but for its memory */
static void smcr_hs_release(struct smcr_hs *hs)
{
	smcr_hs_unwatch(hs);
	if (hs->probe)
		ib_destroy_qp(hs->probe);
	if (hs->probe_num)
		smcr_link_num_put(&hs->lgr->nums, hs->probe_num);
	if (hs->lgr)
		smcr_lgr_put(hs->lgr);
	if (hs->forming)
		smcr_lgr_put(hs->forming);
	if (hs->pid.dev)
		smcr_dev_put(hs->pid.dev);
	if (hs->slot)
		atomic_dec(&hs->ssk->sn->n_first);
}

/* The connection runs over SMC-R */
static void smcr_hs_done(struct smcr_hs *hs)
{
	struct smcr_sock *ssk = hs->ssk;

	if (ssk->is_client)
		smcr_count(ssk->sn, hs->first ? SMCR_CNT_CLNT_FIRST :
						SMCR_CNT_CLNT_REUSE);
	else
		smcr_count(ssk->sn, hs->first ? SMCR_CNT_SRV_FIRST :
						SMCR_CNT_SRV_REUSE);
	smcr_sock_set_mode(ssk, SMCR_MODE_SMC);
	smcr_keepalive_start(ssk);
	/* from now on the callbacks take what TCP does for events of SMC-R */
	smcr_tcp_check(ssk);
	if (!ssk->is_client)
		smcr_child_ready(ssk);
	else
		sk_wake_async(&ssk->sk, SOCK_WAKE_IO, POLL_OUT); /* as TCP */
}

/* The connection is lost */
static void smcr_hs_fail(struct smcr_hs *hs)
{
	struct smcr_sock *ssk = hs->ssk;
	struct sock *sk = &ssk->sk;

	/* given up before any message: no negotiation has failed */
	if (!hs->fresh || hs->why != SMCR_R_NEG_ABORTED)
		smcr_count(ssk->sn, SMCR_CNT_HS_FAILED);
	if (!hs->fresh || !ssk->is_client)
		smcr_hit(ssk->sn, hs->why, 0, 0);
	WRITE_ONCE(sk->sk_err, hs->err ?: ECONNRESET);
	sk->sk_shutdown = SHUTDOWN_MASK;
	smcr_sock_set_mode(ssk, SMCR_MODE_DEAD);
	smcr_tcp_reset(ssk);
	if (ssk->is_client)
		sk_error_report(sk);
}

/* TCP's connect() failed: no negotiation, nothing to count */
static void smcr_hs_no_tcp(struct smcr_hs *hs)
{
	struct sock *sk = &hs->ssk->sk;

	WRITE_ONCE(sk->sk_err,
		   -sock_error(hs->ssk->tcp->sk) ?: ECONNABORTED);
	sk->sk_shutdown = SHUTDOWN_MASK;
	smcr_sock_set_mode(hs->ssk, SMCR_MODE_DEAD);
	sk_error_report(sk);
}

/* The owner went away while the handshake was running (CONN-38) */
static void smcr_hs_unwanted(struct smcr_sock *ssk)
{
	switch (READ_ONCE(ssk->mode)) {
	case SMCR_MODE_SMC:
		smcr_conn_event(&ssk->conn, SMCR_CONN_EV_APP_ABORT,
				SMCR_R_NEG_ABORTED);
		break;
	case SMCR_MODE_TCP:
		smcr_tcp_reset(ssk);
		break;
	default:
		break;
	}
}

/*
 * The end: the mode is settled and the state ENDED before the socket lock is
 * dropped. Who has that lock and sees another mode than NEG need not wait for
 * any thread.
 */
static void smcr_hs_finish(struct smcr_hs *hs)
{
	struct smcr_sock *ssk = hs->ssk;
	enum smcr_hs_res res = hs->res;

	/* accept() may have use for it; it takes no lock of ours */
	if (cancel_delayed_work_sync(&ssk->hs_timer))
		sock_put(&ssk->sk);
	WRITE_ONCE(ssk->hs_want, SMCR_HS_WANT_NOTHING);
	if (res != SMCR_HS_DONE)
		smcr_hs_undo(hs);
	if (res == SMCR_HS_DECLINE) {
		smcr_hs_log_decline(ssk, hs->why);
		if (smcr_clc_send_decline(ssk, hs->why)) {
			hs->err = ECONNRESET;
			res = SMCR_HS_FAILED;
		} else if (hs->cross != SMCR_HS_CROSS_NOT) {
			smcr_tcp_await_decline(ssk, ssk->is_client ?
					       hs->acc.peer_id : hs->peer.id);
		}
	}
	smcr_hs_release(hs);
	if (!ssk->is_client)
		atomic_dec(&ssk->sn->n_handshakes);

	switch (res) {
	case SMCR_HS_DONE:
		smcr_hs_done(hs);
		break;
	case SMCR_HS_FAILED:
		smcr_hs_fail(hs);
		break;
	case SMCR_HS_NO_TCP:
		smcr_hs_no_tcp(hs);
		break;
	default:
		smcr_fallback(ssk, hs->why);
	}
	ssk->hs = NULL;
	if (smcr_hs_turn(ssk, SMCR_TURN_EV_END) == SMCR_TURN_UNWANTED)
		smcr_hs_unwanted(ssk);
	kfree(hs);
}

/* With the turn, without the socket lock; the caller holds a reference */
static void smcr_hs_run(struct smcr_sock *ssk)
{
	struct smcr_hs *hs = ssk->hs;
	struct mem_cgroup *old;

	do {
		if (!hs->over) {
			/* who owns the socket pays for a group's first buffers */
			old = set_active_memcg(smcr_sk_memcg(&ssk->sk));
			hs->res = smcr_hs_steps(hs);
			set_active_memcg(old);
			hs->over = hs->res != SMCR_HS_WAIT;
		}
		if (hs->over && smcr_sock_trylock(ssk, SMCR_SK_HS_WORK)) {
			smcr_hs_finish(hs);
			release_sock(&ssk->sk);
			if (!ssk->is_client &&
			    READ_ONCE(ssk->mode) == SMCR_MODE_DEAD)
				smcr_child_failed(ssk);
			return;
		}
		/* else its owner kicks: smcr_sock_release_cb() */
		if (!hs->over && hs->timed)
			smcr_hs_arm(ssk, hs->until);
	} while (smcr_hs_turn(ssk, SMCR_TURN_EV_PARK) == SMCR_TURN_OURS);
}

/**
 * smcr_hs_work() - the turn of a handshake
 * @work: hs_work of a socket; holds a reference
 *
 * Context: process. Sleeps for memory, verbs and TCP, not for the peer, nor for
 * a lock that is held while user memory is copied.
 */
void smcr_hs_work(struct work_struct *work)
{
	struct smcr_sock *ssk = container_of(work, struct smcr_sock, hs_work);

	if (smcr_hs_turn(ssk, SMCR_TURN_EV_RUN) == SMCR_TURN_OURS)
		smcr_hs_run(ssk);
	sock_put(&ssk->sk);
}

/**
 * smcr_hs_stop() - nobody wants the handshake any more
 * @ssk: socket, socket lock held
 *
 * One that no thread is at ends here and now.
 *
 * Return: true if it has ended; false if another thread will end it soon and
 * undo its result.
 */
bool smcr_hs_stop(struct smcr_sock *ssk)
{
	struct smcr_hs *hs;

	sock_owned_by_me(&ssk->sk);

	switch (smcr_hs_turn(ssk, SMCR_TURN_EV_STOP)) {
	case SMCR_TURN_OURS:
		hs = ssk->hs;
		if (!hs->over)
			hs->res = smcr_hs_aborted(hs);
		smcr_hs_finish(hs);
		return true;
	case SMCR_TURN_LATER:
		return false;
	default:
		return true;
	}
}

/**
 * smcr_hs_new() - memory for a handshake
 * @ssk: socket without one
 *
 * Return: 0 or -ENOMEM.
 */
int smcr_hs_new(struct smcr_sock *ssk)
{
	struct smcr_hs *hs = kzalloc(sizeof(*hs), GFP_KERNEL);

	if (!hs)
		return -ENOMEM;
	hs->ssk = ssk;
	hs->fresh = true;
	init_waitqueue_func_entry(&hs->watch, smcr_hs_woken);
	ssk->hs = hs;
	return 0;
}

/**
 * smcr_hs_drop() - the socket has no handshake, or none any more
 * @ssk: socket, socket lock held or not yet known to anybody; not in mode NEG
 */
void smcr_hs_drop(struct smcr_sock *ssk)
{
	if (smcr_hs_turn(ssk, SMCR_TURN_EV_RESET) == SMCR_TURN_BUG)
		return;
	kfree(ssk->hs);
	ssk->hs = NULL;
}

/**
 * smcr_hs_begin() - the handshake of smcr_hs_new() begins
 * @ssk: socket in mode NEG, socket lock held or not yet known to anybody
 *
 * A client's waits for TCP, a server's for the Proposal (CLC-13). The caller
 * looks at TCP afterwards: smcr_tcp_check().
 */
void smcr_hs_begin(struct smcr_sock *ssk)
{
	struct smcr_hs *hs = ssk->hs;
	unsigned long until;
	bool timed;

	ssk->hs_up = 0;
	if (ssk->is_client) {
		hs->step = smcr_clnt_begin;
		WRITE_ONCE(ssk->hs_want, SMCR_HS_WANT_TCP);
	} else {
		smcr_hs_goto(hs, smcr_srv_begin,
			     READ_ONCE(ssk->sn->knobs.t_clc));
		WRITE_ONCE(ssk->hs_want, SMCR_CLC_PROPOSAL);
		atomic_inc(&ssk->sn->n_handshakes);
	}
	timed = hs->timed;
	until = hs->until;
	smcr_hs_turn(ssk, SMCR_TURN_EV_BEGIN);
	/* a timer that is over before BEGIN would be lost; no TCP event is due yet */
	if (timed)
		smcr_hs_arm(ssk, until);
}

/**
 * smcr_hs_tcp_event() - something happened on TCP in mode NEG
 * @ssk: socket, inner socket locked
 *
 * The handshake is kicked only when what it waits for is complete: a peer that
 * says nothing, or not all of it, costs a timer but no worker.
 *
 * Context: any up to softirq.
 */
void smcr_hs_tcp_event(struct smcr_sock *ssk)
{
	const struct sock *tsk = ssk->tcp->sk;
	bool kick;

	switch (READ_ONCE(ssk->hs_want)) {
	case SMCR_HS_WANT_NOTHING:
		return;
	case SMCR_HS_WANT_TCP:
		kick = !((1 << READ_ONCE(tsk->sk_state)) &
			 (TCPF_SYN_SENT | TCPF_SYN_RECV));
		/* T_CLC begins, whenever a worker has time (CLC-14) */
		if (kick && !ssk->hs_up)
			WRITE_ONCE(ssk->hs_up, jiffies ?: 1);
		break;
	case SMCR_HS_WANT_NEWS:
		kick = smcr_tcp_has_news(tsk);
		break;
	default:
		kick = smcr_hs_clc_due(ssk);
	}
	if (kick)
		smcr_hs_kick(ssk);
}
