// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handshake, client side: Proposal, Accept, Confirm, and in first contact
 * the outcome of LLC on the new link (RFC 7609 3.5.1, 3.5.2).
 *
 * The steps, each of which may have to wait:
 *
 *	smcr_clnt_begin		wait for TCP, send the Proposal
 *	clnt_accept		wait for the Accept, or a Decline
 *	clnt_group		find the group that the Accept names, which
 *				another handshake may still be forming; or
 *				create one
 *	clnt_join		get an element, perhaps of a new RMB
 *	clnt_confirm		take the server's element, send the Confirm
 *	smcr_hs_settle		first contact: wait for LLC on the new link
 */
#include "core/lgr_plan.h"
#include "lgr/lgr.h"
#include "lgr/lgr_find.h"
#include "lgr/llc_test.h"
#include "hs/hs.h"
#include "hs/route.h"
#include "hs/tcpopt.h"

static enum smcr_hs_res clnt_accept(struct smcr_hs *hs);
static enum smcr_hs_res clnt_group(struct smcr_hs *hs);
static enum smcr_hs_res clnt_join(struct smcr_hs *hs);

/*
 * Take a reference on the device of the Proposal again, if the route still leads to it. If
 * the device was removed after the Proposal, and has come back with another GID, decline: the
 * server has the old GID.
 */
static enum smcr_hs_res clnt_get_back(struct smcr_hs *hs)
{
	struct smcr_port_id pid;

	hs->why = SMCR_R_DEVICE_GONE;
	if (smcr_route_local(hs->ssk->tcp->sk, &pid))
		return SMCR_HS_DECLINE;
	if (memcmp(&pid.gid, &hs->pid.gid, sizeof(pid.gid)) ||
	    memcmp(pid.mac, hs->pid.mac, sizeof(pid.mac)) ||
	    pid.port != hs->pid.port || pid.vlan != hs->pid.vlan) {
		smcr_dev_put(pid.dev);
		return SMCR_HS_DECLINE;
	}
	hs->pid = pid;
	return SMCR_HS_NEXT;
}

/*
 * Make the checks that need no message of the peer, then send the Proposal.
 * No RDMA resource is reserved yet (CLC-17, T-08).
 */
static enum smcr_hs_res clnt_propose(struct smcr_hs *hs)
{
	struct sock *tcp = hs->ssk->tcp->sk;
	struct smcr_clc_proposal p = {};

	if (smcr_route_ipsec(tcp)) {
		hs->why = SMCR_R_IPSEC;
		return SMCR_HS_DECLINE;
	}
	if (smcr_route_local(tcp, &hs->pid)) {
		hs->why = SMCR_R_NO_DEVICE;
		return SMCR_HS_DECLINE;
	}
	/*
	 * Check this again: since the check in connect() a BPF program may have
	 * changed the address (T-15).
	 */
	if (smcr_route_offlink(tcp) || smcr_route_proposal(tcp, &p)) {
		hs->why = SMCR_R_SUBNET;
		return SMCR_HS_DECLINE;
	}
	p.version = SMCR_CLC_VERSION;
	smcr_local_peer_id(hs->ssk->sn, p.peer_id);
	memcpy(p.gid, hs->pid.gid.raw, sizeof(p.gid));
	memcpy(p.mac, hs->pid.mac, sizeof(p.mac));
	/* put the device: its removal must not wait for the server's answer */
	smcr_hs_leave_device(hs);
	if (smcr_clc_send_proposal(hs->ssk, &p)) {
		hs->why = SMCR_R_CLC_EOF;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
	return SMCR_HS_NEXT;
}

/**
 * smcr_clnt_begin() - first step of a connecting socket
 * @hs: handshake of a client; TCP need not be established yet
 *
 * T_CLC begins when TCP is established, not when a worker runs this step.
 *
 * Return: what comes next.
 */
enum smcr_hs_res smcr_clnt_begin(struct smcr_hs *hs)
{
	struct smcr_sock *ssk = hs->ssk;
	u8 state = READ_ONCE(ssk->tcp->sk->sk_state);
	unsigned long up = READ_ONCE(ssk->hs_up);
	enum smcr_hs_res res;

	switch (state) {
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		return SMCR_HS_WAIT;
	case TCP_ESTABLISHED:
	case TCP_CLOSE_WAIT:
		break;
	default:
		return SMCR_HS_NO_TCP;
	}
	hs->fresh = false;
	if (!ssk->offered) {	/* the reason was recorded by connect() */
		hs->why = ssk->fallback_why;
		return SMCR_HS_TCP;
	}
	if (!smcr_tcpopt_agreed(ssk->tcp->sk)) {
		hs->why = READ_ONCE(ssk->opt_crossed) ?
			  SMCR_R_SIMULTANEOUS_OPEN : SMCR_R_PEER_NO_SMC;
		return SMCR_HS_TCP;
	}
	res = clnt_propose(hs);
	if (res != SMCR_HS_NEXT)
		return res;
	hs->step = clnt_accept;
	hs->timed = true;
	hs->until = (up ?: jiffies) + smcr_knob_jiffies(ssk->sn, t_clc);
	return SMCR_HS_NEXT;
}

static enum smcr_hs_res clnt_accept(struct smcr_hs *hs)
{
	struct smcr_clc_msg clc;
	enum smcr_hs_res res;

	res = smcr_hs_clc(hs, SMCR_CLC_ACCEPT, &clc);
	if (res != SMCR_HS_NEXT)
		return res;
	if (clc.hdr.type == SMCR_CLC_DECLINE)
		return smcr_hs_declined(hs, &clc.decline);
	res = smcr_hs_check_enums(hs, &clc.accept, clc.accept.first_contact);
	if (res == SMCR_HS_NEXT)
		res = clnt_get_back(hs);
	if (res != SMCR_HS_NEXT)
		return res;
	hs->acc = clc.accept;
	return smcr_hs_goto(hs, clnt_group,
			    READ_ONCE(hs->ssk->sn->knobs.t_clc));
}

static enum smcr_hs_res clnt_goto_join(struct smcr_hs *hs)
{
	unsigned int ms = READ_ONCE(hs->ssk->sn->knobs.t_llc);

	/*
	 * This wait is longer than T_LLC. If the CONFIRM RKEY of a new RMB is
	 * not answered, the link fails after T_LLC, before this wait expires.
	 */
	return smcr_hs_goto(hs, clnt_join, ms + ms / 4);
}

static enum smcr_hs_res clnt_first(struct smcr_hs *hs)
{
	const struct smcr_clc_accept *acc = &hs->acc;
	struct smcr_peer peer = {};

	hs->first = true;
	memcpy(peer.id, acc->peer_id, sizeof(peer.id));
	memcpy(peer.mac, acc->mac, sizeof(peer.mac));
	smcr_route_peer(hs->ssk->tcp->sk, &peer);
	hs->lgr = smcr_lgr_create(hs->ssk->sn, &peer, &hs->pid,
				  &hs->why);
	if (!hs->lgr)
		return SMCR_HS_DECLINE;
	if (smcr_link_to_rtr(hs->lgr->link, acc->gid, acc->mac, acc->qpn,
			     acc->psn, smcr_min_mtu(acc->mtu, hs->pid.mtu)))
		return smcr_hs_link_failed(hs, SMCR_R_QP_FAIL);
	return clnt_goto_join(hs);
}

/*
 * On reuse, wait until first contact of the group that the Accept names has
 * ended; on first contact, do not. Return: false if the step has to wait.
 */
static bool clnt_formed(struct smcr_hs *hs, struct smcr_lgr *lgr)
{
	if (hs->acc.first_contact || smcr_lgr_state(lgr) != SMCR_LGR_ST_FORMING)
		return true;
	WRITE_ONCE(hs->forming, lgr);
	smcr_hs_watch(hs, lgr);
	return smcr_lgr_state(lgr) != SMCR_LGR_ST_FORMING ||
	       smcr_hs_expired(hs);
}

/* Can the link that the Accept names be used? */
static bool clnt_link_up(struct smcr_hs *hs, struct smcr_lgr *lgr)
{
	struct smcr_link *link = smcr_lgr_conn_link(lgr, &hs->acc);

	if (link)
		smcr_link_put(link);
	return link;
}

/* Step: find the group that the Accept names, or create one */
static enum smcr_hs_res clnt_group(struct smcr_hs *hs)
{
	struct smcr_lgr *known = hs->forming;
	struct smcr_peer peer;
	bool lost = false;

	smcr_route_peer(hs->ssk->tcp->sk, &peer);
	if (!known)
		known = smcr_lgr_find_client(hs->ssk->sn, &hs->acc, &hs->pid,
					     &peer);
	if (known && !clnt_formed(hs, known))
		return SMCR_HS_WAIT;
	smcr_hs_unwatch(hs);
	WRITE_ONCE(hs->forming, NULL);
	if (known && (READ_ONCE(known->st) != SMCR_LGR_ST_ACTIVE ||
		      !clnt_link_up(hs, known))) {
		/*
		 * If the named link is lost, but the group has others, decline
		 * with NO_LINK, not as "out of sync": the server detects the
		 * loss of the link itself.
		 */
		lost = !hs->acc.first_contact && READ_ONCE(known->live);
		smcr_lgr_put(known);
		known = NULL;
	}
	if (lost) {
		hs->why = SMCR_R_NO_LINK;
		return SMCR_HS_DECLINE;
	}
	switch (smcr_accept_classify(&hs->acc, known)) {
	case SMCR_ACCEPT_REUSE:
		hs->lgr = known;
		/* another host may have relayed the Accept (J-09) */
		if (smcr_lgr_with_host(known, &peer))
			return clnt_goto_join(hs);
		hs->why = SMCR_R_OTHER_HOST;
		return SMCR_HS_DECLINE;
	case SMCR_ACCEPT_OUT_OF_SYNC:
		hs->why = SMCR_R_OUT_OF_SYNC;
		return SMCR_HS_DECLINE;
	case SMCR_ACCEPT_FIRST:
		break;
	}
	if (known) {	/* probe the old link: the server may have lost it (I-10) */
		smcr_llc_test_now(known);
		smcr_lgr_put(known);
	}
	return clnt_first(hs);
}

/* Open a connection in the group. Return: WAIT while a new RMB is being added. */
static enum smcr_hs_res clnt_open(struct smcr_hs *hs)
{
	int rc;

	for (;;) {
		rc = smcr_conn_open(hs->ssk, hs->lgr, hs->first ? NULL :
				    &hs->acc, smcr_hs_bsize(hs->ssk),
				    &hs->rmb_req, &hs->why);
		if (!rc)
			return SMCR_HS_NEXT;
		if (rc != -EINPROGRESS || smcr_hs_expired(hs))
			return smcr_hs_open_failed(hs);
		if (hs->watched == hs->lgr)
			return SMCR_HS_WAIT;
		/* the RMB may have come before the watch began: try again */
		smcr_hs_watch(hs, hs->lgr);
	}
}

static enum smcr_hs_res clnt_confirm(struct smcr_hs *hs)
{
	struct smcr_conn *conn = &hs->ssk->conn;
	struct smcr_clc_accept m;
	enum smcr_hs_res res;

	res = smcr_hs_set_peer(hs, &hs->acc, NULL);
	if (res != SMCR_HS_NEXT)
		return res;
	if (hs->first)
		smcr_hs_first(hs);
	/* the server may write to our element after the Confirm (CLC-45) */
	conn->own.clc_sent = true;
	smcr_hs_fill_accept(hs, SMCR_CLC_CONFIRM, &m);
	if (!hs->first)
		/*
		 * This ends the connection at once if CDC flags of its end
		 * have come, or if the group has ended.
		 */
		smcr_conn_activate(conn);
	if (smcr_clc_send_accept(hs->ssk, &m)) {
		hs->why = SMCR_R_CLC_EOF;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
	if (!hs->first)
		return SMCR_HS_DONE;
	hs->cross = SMCR_HS_CROSS_MAY;
	return smcr_hs_goto(hs, smcr_hs_settle, 0);
}

static enum smcr_hs_res clnt_join(struct smcr_hs *hs)
{
	enum smcr_hs_res res = clnt_open(hs);

	return res == SMCR_HS_NEXT ?
	       smcr_hs_goto(hs, clnt_confirm, SMCR_HS_CLAIM_MS) : res;
}
