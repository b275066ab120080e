// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handshake: what the steps of both roles have in common (RFC 7609 3.5, C).
 */
#include <net/tcp.h>
#include "core/hs_turn.h"
#include "core/lgr_plan.h"
#include "hs/hs.h"
#include "lgr/kllc.h"
#include "hs/hs_impl.h"

/* ssk->hs_sent */
enum { SMCR_HS_SENT_NOT, SMCR_HS_SENT_OK, SMCR_HS_SENT_BAD };

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
	m->token = conn->member.token;
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
enum smcr_hs_res smcr_hs_aborted(struct smcr_hs *hs)
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

enum smcr_hs_res smcr_hs_goto_instead(struct smcr_hs *hs)
{
	return smcr_hs_goto(hs, smcr_hs_tcp_instead,
			    READ_ONCE(hs->ssk->sn->knobs.t_clc));
}

/* Has anything arrived on TCP? If not, TCP's callback kicks when it does. */
bool smcr_hs_tcp_news(struct smcr_hs *hs)
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
