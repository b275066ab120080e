// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rendezvous: steps that both roles share, and its end (RFC 7609 3.5, C).
 */
#include <linux/delay.h>
#include <net/tcp.h>
#include "core/lgr_plan.h"
#include "hs.h"
#include "keepalive.h"
#include "kllc.h"
#include "route.h"
#include "trace.h"

/* A client's patience for the server's Decline before it sends its own */
#define SMCR_HS_CROSS_MS	200

u8 smcr_hs_bsize(const struct smcr_sock *ssk)
{
	u32 want = READ_ONCE(ssk->sn->knobs.rmem);

	if (ssk->sk.sk_userlocks & SOCK_RCVBUF_LOCK)
		want = ssk->sk.sk_rcvbuf / 2;	/* the kernel doubled it */
	return smcr_bsize_for(want, 0);
}

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
	/* known to the peer already; for anybody else it is a key to the QP */
	m->psn = hs->first ? link->psn : 0;
}

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

enum smcr_hs_res smcr_hs_clc_error(struct smcr_hs *hs, int rc)
{
	hs->err = rc == -ECANCELED ? ECONNABORTED : -rc;
	return SMCR_HS_FAILED;
}

enum smcr_hs_res smcr_hs_aborted(struct smcr_hs *hs)
{
	hs->why = SMCR_R_NEG_ABORTED;
	return smcr_hs_clc_error(hs, -ECANCELED);
}

enum smcr_hs_res smcr_hs_declined(struct smcr_hs *hs,
				  const struct smcr_clc_decline *d)
{
	hs->ssk->peer_diag = d->diagnosis;
	hs->why = SMCR_R_PEER_DECLINED;
	net_info_ratelimited("smcr: peer %*phN declined, diagnosis 0x%08x%s\n",
			     (int)sizeof(d->peer_id), d->peer_id, d->diagnosis,
			     d->out_of_sync ? ", out of sync" : "");
	/* it does not know the group that we named (CLC-36) */
	if (d->out_of_sync && hs->lgr && !hs->first)
		smcr_lgr_doubt(hs->lgr);
	return SMCR_HS_DECLINED;
}

/* Something arrived on TCP while LLC was due: a Decline or the end */
static enum smcr_hs_res smcr_hs_tcp_instead(struct smcr_hs *hs)
{
	struct smcr_clc_msg clc;
	int rc;

	rc = smcr_clc_recv(hs->ssk, SMCR_CLC_DECLINE, hs->deadline, &clc,
			   &hs->why);
	if (rc)
		return smcr_hs_clc_error(hs, rc);
	return smcr_hs_declined(hs, &clc.decline);
}

enum smcr_hs_res smcr_hs_llc_wait(struct smcr_hs *hs, struct smcr_llc *msg)
{
	struct smcr_net *sn = hs->ssk->sn;
	int rc;

	rc = smcr_llc_wait(hs->lgr, msg, READ_ONCE(sn->knobs.t_llc_first),
			   smcr_clc_pending, hs->ssk);
	switch (rc) {
	case 0:
		return SMCR_HS_NEXT;
	case -EINTR:
		hs->deadline = jiffies + smcr_knob_jiffies(sn, t_clc);
		return smcr_hs_tcp_instead(hs);
	case -ETIMEDOUT:
		smcr_count(sn, SMCR_CNT_T_LLC_FIRST);
		hs->why = SMCR_R_LLC_TIMEOUT;
		hs->err = ETIMEDOUT;
		return SMCR_HS_FAILED;
	default:
		hs->link_lost = true;
		hs->why = hs->lgr->why;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
}

enum smcr_hs_res smcr_hs_llc_send(struct smcr_hs *hs,
				  const struct smcr_llc *msg,
				  enum smcr_reason why)
{
	int rc = smcr_llc_send_stop(hs->lgr, msg, smcr_hs_sent_ms(hs),
				    smcr_clc_pending, hs->ssk);

	if (rc == -ECANCELED) {	/* a Decline, or TCP has ended (CLC-59) */
		hs->deadline = jiffies + smcr_knob_jiffies(hs->ssk->sn, t_clc);
		return smcr_hs_tcp_instead(hs);
	}
	/* not heard in time, but answered: it did arrive */
	if (rc && !smcr_llc_answered(hs->lgr))
		return smcr_hs_link_failed(hs, why);
	return SMCR_HS_NEXT;
}

enum smcr_hs_res smcr_hs_link_failed(struct smcr_hs *hs, enum smcr_reason why)
{
	const struct smcr_lgr *lgr = hs->lgr;

	hs->why = why;
	if (READ_ONCE(lgr->st) != SMCR_LGR_ST_DEAD)
		return SMCR_HS_DECLINE;
	switch (lgr->why) {
	case SMCR_R_LINK_ERROR:
	case SMCR_R_LINK_DEVICE:
	case SMCR_R_LGR_SHUTDOWN:
		return SMCR_HS_DECLINE;
	default:
		hs->why = lgr->why;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
}

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
	cl->no_eye_catcher = !READ_ONCE(lgr->sn->knobs.eye_catcher);
}

bool smcr_hs_confirm_link_ok(const struct smcr_lgr *lgr,
			     const struct smcr_llc_confirm_link *cl)
{
	const struct smcr_link *link = lgr->link;

	return !memcmp(cl->mac, link->peer_mac, sizeof(cl->mac)) &&
	       !memcmp(cl->gid, link->peer_gid, sizeof(cl->gid)) &&
	       cl->qpn == link->peer_qpn;
}

void smcr_hs_settle_link(struct smcr_hs *hs,
			 const struct smcr_llc_confirm_link *peer)
{
	struct smcr_conn *conn = &hs->ssk->conn;
	struct smcr_lgr *lgr = hs->lgr;
	bool plain = peer->no_eye_catcher &&
		     !READ_ONCE(lgr->sn->knobs.eye_catcher);

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

/**
 * smcr_hs_done() - the connection runs over SMC-R
 * @ssk: socket whose connection is active
 *
 * What TCP did in the meantime is looked at once more: from now on the
 * callbacks treat it as events of the SMC-R connection.
 */
void smcr_hs_done(struct smcr_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	lock_sock(sk);
	smcr_sock_set_mode(ssk, SMCR_MODE_SMC);
	smcr_keepalive_start(ssk);
	release_sock(sk);
	smcr_tcp_check(ssk);
	if (!ssk->is_client)
		smcr_child_ready(ssk);
}

/**
 * smcr_hs_fail() - the connection is lost
 * @ssk: socket in negotiation
 * @err: positive errno for the application
 * @why: reason
 */
void smcr_hs_fail(struct smcr_sock *ssk, int err, enum smcr_reason why)
{
	struct sock *sk = &ssk->sk;

	smcr_count(ssk->sn, SMCR_CNT_HS_FAILED);
	smcr_hit(ssk->sn, why, 0, 0);
	lock_sock(sk);
	WRITE_ONCE(sk->sk_err, err);
	sk->sk_shutdown = SHUTDOWN_MASK;
	smcr_sock_set_mode(ssk, SMCR_MODE_DEAD);
	smcr_tcp_reset(ssk);
	release_sock(sk);
	if (ssk->is_client)
		sk_error_report(sk);
	else
		smcr_child_failed(ssk);
}

/* What the peer logs as a diagnosis from our ID, in words */
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

/* The connection and, in first contact, the whole group are given up */
static void smcr_hs_undo(struct smcr_hs *hs)
{
	smcr_conn_discard(&hs->ssk->conn);
	if (!hs->lgr)
		return;
	if (hs->first) {
		smcr_llc_done(hs->lgr);
		smcr_lgr_kill(hs->lgr, hs->why, 0);
	}
}

/*
 * CONFIRM LINK or its reply did not get through, and perhaps the peer's did not
 * either: it declines as well, and of two Declines that cross on TCP each is
 * data to the other side. The server's timers began first: its client leaves it
 * a while.
 */
static enum smcr_hs_res smcr_hs_crossed(struct smcr_hs *hs)
{
	unsigned long end = jiffies;

	if (hs->ssk->is_client)
		end += msecs_to_jiffies(SMCR_HS_CROSS_MS);
	while (!smcr_clc_pending(hs->ssk)) {
		if (time_after_eq(jiffies, end))
			return SMCR_HS_DECLINE;
		msleep(20);
	}
	hs->deadline = jiffies + smcr_knob_jiffies(hs->ssk->sn, t_clc);
	return smcr_hs_tcp_instead(hs);
}

/**
 * smcr_hs_finish() - the end of a rendezvous
 * @hs: rendezvous
 * @res: how it ended
 *
 * Context: process, sleeps. The socket may be gone afterwards unless the
 * caller holds a reference.
 */
void smcr_hs_finish(struct smcr_hs *hs, enum smcr_hs_res res)
{
	struct smcr_sock *ssk = hs->ssk;

	if (res == SMCR_HS_DECLINE && hs->why == SMCR_R_CONFIRM_LINK_FAIL)
		res = smcr_hs_crossed(hs);
	if (res != SMCR_HS_DONE)
		smcr_hs_undo(hs);
	if (res == SMCR_HS_DECLINE) {
		smcr_hs_log_decline(ssk, hs->why);
		if (smcr_clc_send_decline(ssk, hs->why)) {
			hs->err = ECONNRESET;
			res = SMCR_HS_FAILED;
		}
	}
	if (hs->lgr)
		smcr_lgr_put(hs->lgr);
	if (hs->forming)
		smcr_lgr_put(hs->forming);
	if (hs->pid.dev)
		smcr_dev_put(hs->pid.dev);

	switch (res) {
	case SMCR_HS_DONE:
		smcr_hs_done(ssk);
		break;
	case SMCR_HS_FAILED:
		smcr_hs_fail(ssk, hs->err ?: ECONNRESET, hs->why);
		break;
	default:
		smcr_fallback(ssk, hs->why);
	}
}
