// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handshake, server side (RFC 7609 3.5.1, 3.5.2).
 *
 * The steps, each of which may have to wait:
 *
 *	smcr_srv_begin		wait for the Proposal
 *	srv_join		find a group, which another handshake of this
 *				peer may be forming, or form one; get an
 *				element, perhaps of a new RMB; send the Accept
 *	srv_confirm		wait for the Confirm
 *	srv_peer		take the client's element
 *	smcr_hs_settle		first contact: wait for LLC on the new link
 */
#include "core/lgr_plan.h"
#include "lgr/lgr.h"
#include "lgr/lgr_find.h"
#include "hs/hs.h"
#include "hs/route.h"

static enum smcr_hs_res srv_join(struct smcr_hs *hs);
static enum smcr_hs_res srv_confirm(struct smcr_hs *hs);

/*
 * Limit of the wait for the end of another first contact of this peer. The sum
 * of this limit and SMCR_RMB_WAIT is shorter than the six seconds that net/smc,
 * the SMC-R of the mainline kernel, waits for Accept or Decline.
 */
#define SMCR_FORMING_WAIT	3000	/* ms */

/*
 * Added to SMCR_FORMING_WAIT if a new RMB is awaited. The sum is longer than
 * T_LLC (4 s by default): if CONFIRM RKEY is not answered, the link fails
 * before the wait ends.
 */
#define SMCR_RMB_WAIT		2000	/* ms */

/* May one more first contact begin? Each costs a queue pair and an RMB */
static bool srv_slot(struct smcr_hs *hs)
{
	struct smcr_net *sn = hs->ssk->sn;

	hs->first_admitted = atomic_inc_return(&sn->n_first) <=
		   READ_ONCE(sn->knobs.max_first_contacts);
	if (!hs->first_admitted)
		atomic_dec(&sn->n_first);
	return hs->first_admitted;
}

/* Find or form a group. Return: WAIT while another first contact of this peer runs. */
static enum smcr_hs_res srv_group(struct smcr_hs *hs)
{
	struct smcr_lgr_request req = {
		.peer = &hs->peer,
		.pid = &hs->pid,
		.bsize = smcr_hs_bsize(hs->ssk),
		.forming = hs->forming,
	};

	for (;;) {
		req.may_first = srv_slot(hs);
		hs->lgr = smcr_lgr_get_server(hs->ssk->sn, &req);
		hs->first = req.first;
		if (!hs->first && hs->first_admitted) {
			atomic_dec(&hs->ssk->sn->n_first);
			hs->first_admitted = false;
		}
		WRITE_ONCE(hs->forming, req.forming);
		if (hs->lgr)
			return SMCR_HS_NEXT;
		hs->why = req.why;
		if (!req.forming || smcr_hs_expired(hs))
			return SMCR_HS_DECLINE;
		if (hs->watched == req.forming)
			return SMCR_HS_WAIT;
		/* that first contact may have ended before the watch began: try again */
		smcr_hs_watch(hs, req.forming);
	}
}

/* Wait for a new RMB. The step looks the group up again when it is called next. */
static enum smcr_hs_res srv_await_rmb(struct smcr_hs *hs)
{
	bool watched = hs->watched == hs->lgr;

	smcr_hs_watch(hs, hs->lgr);
	smcr_lgr_put(hs->lgr);
	hs->lgr = NULL;
	if (!hs->rmb_wait)
		hs->until += msecs_to_jiffies(SMCR_RMB_WAIT);
	hs->rmb_wait = true;
	if (!watched)	/* the RMB may have come before the watch began: try again */
		return SMCR_HS_NEXT;
	if (smcr_hs_expired(hs))
		return SMCR_HS_DECLINE;
	return SMCR_HS_WAIT;
}

/* Find or form a group, and open a connection in it */
static enum smcr_hs_res srv_open(struct smcr_hs *hs)
{
	enum smcr_hs_res res;
	int tries, rc;

	/* a group may end, or fill up, between its lookup and its use */
	for (tries = 0; tries < 3; tries++) {
		res = srv_group(hs);
		if (res != SMCR_HS_NEXT)
			return res;
		rc = smcr_conn_open(hs->ssk, hs->lgr, NULL,
				    smcr_hs_bsize(hs->ssk),
				    &hs->rmb_req, &hs->why);
		if (!rc)
			return SMCR_HS_DONE;
		if (rc == -EINPROGRESS && !hs->first)
			return srv_await_rmb(hs);
		if (hs->first || (hs->why != SMCR_R_NO_LINK &&
				  hs->why != SMCR_R_RMB_LIMIT))
			break;
		smcr_lgr_put(hs->lgr);
		hs->lgr = NULL;
	}
	return smcr_hs_open_failed(hs);
}

static enum smcr_hs_res srv_proposal(struct smcr_hs *hs,
				     const struct smcr_clc_proposal *p)
{
	struct smcr_net *sn = hs->ssk->sn;
	struct sock *tcp = hs->ssk->tcp->sk;

	/* fail if the Proposal has the subnet of the other address family (CLC-22) */
	if (smcr_route_is_v4(tcp) ? p->n_prefix :
				    !p->n_prefix && p->ipv4_plen) {
		hs->why = SMCR_R_CLC_PREFIX;
		hs->err = EPROTO;
		return SMCR_HS_FAILED;
	}
	hs->why = SMCR_R_POLICY;
	if (!smcr_policy_allows(sn, inet_sk(tcp)->inet_num))
		return SMCR_HS_DECLINE;
	hs->why = SMCR_R_IPSEC;
	if (smcr_route_ipsec(tcp))
		return SMCR_HS_DECLINE;
	hs->why = SMCR_R_LGR_LIMIT;
	if (atomic_read(&sn->n_handshakes) > READ_ONCE(sn->knobs.max_handshakes))
		return SMCR_HS_DECLINE;
	hs->why = SMCR_R_SUBNET;
	if (smcr_route_offlink(tcp))
		return SMCR_HS_DECLINE;
	if (smcr_route_match(tcp, p, &hs->pid, &hs->why))
		return SMCR_HS_DECLINE;

	memcpy(hs->peer.id, p->peer_id, sizeof(hs->peer.id));
	memcpy(hs->peer.mac, p->mac, sizeof(hs->peer.mac));
	smcr_route_peer(tcp, &hs->peer);
	return smcr_hs_goto(hs, srv_join,
			    min(READ_ONCE(sn->knobs.t_clc), SMCR_FORMING_WAIT));
}

static enum smcr_hs_res srv_accept(struct smcr_hs *hs)
{
	struct smcr_clc_accept m;

	smcr_hs_unwatch(hs);
	/*
	 * The removal of the device must not wait for the client's answer. On
	 * reuse the device can be put, as the group has references of its own.
	 */
	if (!hs->first)
		smcr_hs_leave_device(hs);
	smcr_hs_fill_accept(hs, SMCR_CLC_ACCEPT, &m);
	hs->ssk->conn.own.clc_sent = true;
	if (smcr_clc_send_accept(hs->ssk, &m)) {
		hs->why = SMCR_R_CLC_EOF;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
	return smcr_hs_goto(hs, srv_confirm,
			    READ_ONCE(hs->ssk->sn->knobs.t_clc));
}

static enum smcr_hs_res srv_join(struct smcr_hs *hs)
{
	enum smcr_hs_res res = srv_open(hs);

	return res == SMCR_HS_DONE ? srv_accept(hs) : res;
}

/*
 * End the handshake with RST. On reuse the Accept is the server's point of no
 * return: after it no Decline is sent (CLC-56).
 */
static enum smcr_hs_res srv_lost(struct smcr_hs *hs, enum smcr_reason why)
{
	hs->why = why;
	hs->err = ECONNRESET;
	return SMCR_HS_FAILED;
}

/* First contact: connect the link, then send CONFIRM LINK over it (CLC-47) */
static enum smcr_hs_res srv_first(struct smcr_hs *hs)
{
	const struct smcr_clc_accept *conf = &hs->acc;

	if (smcr_link_to_rtr(hs->lgr->link, conf->gid, conf->mac, conf->qpn,
			     conf->psn, smcr_min_mtu(conf->mtu, hs->pid.mtu)))
		return smcr_hs_link_failed(hs, SMCR_R_QP_FAIL);
	smcr_hs_first(hs);
	return smcr_hs_goto(hs, smcr_hs_settle, 0);
}

static enum smcr_hs_res srv_done(struct smcr_hs *hs)
{
	smcr_conn_activate(&hs->ssk->conn);
	return SMCR_HS_DONE;
}

/*
 * Step: take the client's element. The Confirm may name any link of the group:
 * the client need not write on the link that the server writes on (CLC-42). If
 * the server's link has failed since the Accept, the connection moves like
 * others (FO-23). If the link that the Confirm names was deleted, the handshake
 * fails.
 */
static enum smcr_hs_res srv_peer(struct smcr_hs *hs)
{
	const struct smcr_clc_accept *conf = &hs->acc;
	struct smcr_link *on = NULL;
	enum smcr_hs_res res;

	if (memcmp(conf->peer_id, hs->lgr->peer.id, sizeof(conf->peer_id)))
		return srv_lost(hs, SMCR_R_CLC_PEER_ID);
	res = smcr_hs_check_enums(hs, conf, hs->first);
	if (res != SMCR_HS_NEXT)
		return hs->first ? res : srv_lost(hs, hs->why);
	if (!hs->first) {
		on = smcr_lgr_named_link(hs->lgr, conf);
		if (!on)
			return srv_lost(hs, SMCR_R_CLC_LINK);
	}
	res = smcr_hs_set_peer(hs, conf, on);
	smcr_link_put(on);
	if (res == SMCR_HS_DECLINE && !hs->first)
		return srv_lost(hs, hs->why);
	if (res != SMCR_HS_NEXT)
		return res;
	return hs->first ? srv_first(hs) : srv_done(hs);
}

/**
 * smcr_srv_begin() - first step of an accepted connection
 * @hs: handshake of a child in mode HANDSHAKE
 *
 * Return: what comes next.
 */
enum smcr_hs_res smcr_srv_begin(struct smcr_hs *hs)
{
	struct smcr_clc_msg clc;
	enum smcr_hs_res res;

	res = smcr_hs_clc(hs, SMCR_CLC_PROPOSAL, &clc);
	if (res != SMCR_HS_WAIT)
		hs->fresh = false;
	if (res != SMCR_HS_NEXT)
		return res;
	if (clc.hdr.type == SMCR_CLC_DECLINE)
		return smcr_hs_declined(hs, &clc.decline);
	if (clc.too_new) {
		hs->why = SMCR_R_CLC_VERSION;
		return SMCR_HS_DECLINE;
	}
	if (smcr_tcp_taken(hs->ssk)) {
		hs->why = SMCR_R_SOCKMAP;
		return SMCR_HS_DECLINE;
	}
	return srv_proposal(hs, &clc.proposal);
}

/*
 * The group has ended before the Confirm came. A Decline can be sent only after
 * the Confirm (CLC-51). But the removal of the device must not wait for the
 * Confirm: put the references that the removal waits for.
 */
static void srv_let_go(struct smcr_hs *hs)
{
	struct sock *sk = &hs->ssk->sk;

	hs->why = hs->lgr->why;
	/* no application has this socket yet: the wait for its lock is short */
	lock_sock(sk);
	smcr_conn_discard(&hs->ssk->conn);
	release_sock(sk);
	smcr_lgr_put(hs->lgr);
	hs->lgr = NULL;
	smcr_hs_leave_device(hs);
}

/*
 * Step: wait for the Confirm. The removal of a device must not wait for it. So
 * the end of the group and the loss of the link kick the handshake, too. If the
 * group has ended, the handshake puts it at once. If a link of a reused group
 * is lost, the connection moves to another link at once.
 */
static enum smcr_hs_res srv_confirm(struct smcr_hs *hs)
{
	enum smcr_reason lost = hs->lgr ? SMCR_R_NONE : hs->why;
	struct smcr_clc_msg clc;
	enum smcr_hs_res res;

	if (hs->lgr && smcr_lgr_state(hs->lgr) == SMCR_LGR_ST_DEAD) {
		srv_let_go(hs);
		lost = hs->why;
	} else if (hs->lgr && !hs->first) {
		smcr_conn_move_early(&hs->ssk->conn);
	}
	res = smcr_hs_clc(hs, SMCR_CLC_CONFIRM, &clc);
	if (res != SMCR_HS_NEXT)
		return res;
	if (clc.hdr.type == SMCR_CLC_DECLINE)
		return smcr_hs_declined(hs, &clc.decline);
	if (hs->first)
		hs->cross = SMCR_HS_CROSS_MAY;
	if (!hs->lgr) {
		hs->why = smcr_hs_wire_why(lost);
		return hs->first ? SMCR_HS_DECLINE : srv_lost(hs, lost);
	}
	hs->acc = clc.accept;
	return smcr_hs_goto(hs, srv_peer, SMCR_HS_CLAIM_MS);
}
