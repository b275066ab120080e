// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rendezvous, client side: Proposal, Accept, Confirm, and in first contact
 * CONFIRM LINK and the settling of the second link (RFC 7609 3.5.1, 3.5.2).
 */
#include "core/lgr_plan.h"
#include "hs.h"
#include "kllc.h"
#include "route.h"
#include "tcpopt.h"

/* Facts that need no peer. Nothing is reserved yet (CLC-17, T-08). */
static enum smcr_hs_res smcr_clnt_propose(struct smcr_hs *hs)
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
	if (smcr_route_proposal(tcp, &p)) {
		hs->why = SMCR_R_SUBNET;
		return SMCR_HS_DECLINE;
	}
	p.version = SMCR_CLC_VERSION;
	smcr_local_peer_id(hs->ssk->sn, p.peer_id);
	memcpy(p.gid, hs->pid.gid.raw, sizeof(p.gid));
	memcpy(p.mac, hs->pid.mac, sizeof(p.mac));
	if (smcr_clc_send_proposal(hs->ssk, &p)) {
		hs->why = SMCR_R_CLC_EOF;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
	return SMCR_HS_NEXT;
}

/* The group that the Accept starts or names */
static enum smcr_hs_res smcr_clnt_group(struct smcr_hs *hs,
					const struct smcr_clc_accept *acc)
{
	unsigned long left = smcr_knob_jiffies(hs->ssk->sn, t_clc);
	struct smcr_lgr *known;
	struct smcr_peer peer;

	known = smcr_lgr_find_client(hs->ssk->sn, acc, &hs->pid,
				     acc->first_contact ? 0 : left,
				     smcr_clc_aborted, hs->ssk);
	if (!known && smcr_clc_aborted(hs->ssk))
		return smcr_hs_aborted(hs);
	switch (smcr_accept_classify(acc, known)) {
	case SMCR_ACCEPT_REUSE:
		hs->lgr = known;
		return SMCR_HS_NEXT;
	case SMCR_ACCEPT_OUT_OF_SYNC:
		hs->why = SMCR_R_OUT_OF_SYNC;
		return SMCR_HS_DECLINE;
	case SMCR_ACCEPT_FIRST:
		break;
	}
	if (known) {	/* has the server forgotten that link? (I-10) */
		smcr_llc_verify(known);
		smcr_lgr_put(known);
	}
	hs->first = true;
	memcpy(peer.id, acc->peer_id, sizeof(peer.id));
	memcpy(peer.mac, acc->mac, sizeof(peer.mac));
	hs->lgr = smcr_lgr_create(hs->ssk->sn, false, &peer, &hs->pid,
				  &hs->why);
	if (!hs->lgr)
		return SMCR_HS_DECLINE;
	if (smcr_link_to_rtr(hs->lgr->link, acc->gid, acc->mac, acc->qpn,
			     acc->psn, smcr_min_mtu(acc->mtu, hs->pid.mtu))) {
		hs->why = SMCR_R_QP_FAIL;
		return SMCR_HS_DECLINE;
	}
	return SMCR_HS_NEXT;
}

static enum smcr_hs_res smcr_clnt_confirm(struct smcr_hs *hs,
					  const struct smcr_clc_accept *acc)
{
	struct smcr_conn *conn = &hs->ssk->conn;
	struct smcr_clc_accept m;

	if (smcr_conn_open(hs->ssk, hs->lgr, smcr_hs_bsize(hs->ssk), NULL,
			   &hs->why))
		return hs->why == SMCR_R_NEG_ABORTED ? smcr_hs_aborted(hs) :
						       SMCR_HS_DECLINE;
	if (smcr_conn_set_peer(conn, acc)) {
		hs->why = SMCR_R_RMB_LIMIT;
		return SMCR_HS_DECLINE;
	}
	if (hs->first)
		smcr_llc_expect(hs->lgr, SMCR_XCHG_FIRST_CONTACT,
				SMCR_LLC_CONFIRM_LINK, false);
	/* the server may write as soon as it has read this (CLC-45) */
	conn->told_peer = true;
	smcr_hs_fill_accept(hs, SMCR_CLC_CONFIRM, &m);
	if (!hs->first)
		smcr_conn_activate(conn);	/* it may end in there */
	if (smcr_clc_send_accept(hs->ssk, &m)) {
		hs->why = SMCR_R_CLC_EOF;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
	return SMCR_HS_NEXT;
}

/* CONFIRM LINK came: QP to RTS, memory registered, reply (LLC-20) */
static enum smcr_hs_res smcr_clnt_link(struct smcr_hs *hs)
{
	struct smcr_lgr *lgr = hs->lgr;
	enum smcr_hs_res res;
	struct smcr_llc msg;

	res = smcr_hs_llc_wait(hs, &msg);
	/* nothing was said on the link: when it is gone, TCP still can be had */
	if (res == SMCR_HS_FAILED && hs->link_lost)
		return smcr_hs_link_failed(hs, SMCR_R_CONFIRM_LINK_FAIL);
	if (res != SMCR_HS_NEXT)
		return res;
	if (!smcr_hs_confirm_link_ok(lgr, &msg.confirm_link) ||
	    !msg.confirm_link.link_num) {
		hs->why = SMCR_R_BAD_LINK_DATA;
		return SMCR_HS_DECLINE;
	}
	lgr->link->num = msg.confirm_link.link_num;
	smcr_hs_settle_link(hs, &msg.confirm_link);
	if (smcr_link_to_rts(lgr->link))
		return smcr_hs_link_failed(hs, SMCR_R_QP_FAIL);
	if (smcr_rmb_register_all(lgr))
		return smcr_hs_link_failed(hs, SMCR_R_MR_FAIL);
	smcr_llc_expect(lgr, SMCR_XCHG_FIRST_CONTACT, SMCR_LLC_ADD_LINK,
			false);
	smcr_hs_fill_confirm_link(lgr, true, &msg);
	return smcr_hs_llc_send(hs, &msg, SMCR_R_CONFIRM_LINK_FAIL);
}

/* The server's attempt at a second link: none here (LG-20) */
static enum smcr_hs_res smcr_clnt_settle(struct smcr_hs *hs)
{
	struct smcr_lgr *lgr = hs->lgr;
	enum smcr_hs_res res;
	struct smcr_llc msg, no;

	res = smcr_hs_llc_wait(hs, &msg);
	if (res != SMCR_HS_NEXT)
		return res;
	smcr_llc_done(lgr);
	/*
	 * The server may name this group in its next Accept as soon as it has
	 * read the reply.
	 */
	smcr_lgr_activate(lgr);
	smcr_llc_reject_add_link(lgr, &msg.add_link, &no);
	smcr_conn_activate(&hs->ssk->conn);
	if (smcr_llc_send(lgr, &no, 0)) {
		hs->why = SMCR_R_ADD_LINK_FAIL;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
	return SMCR_HS_DONE;
}

static enum smcr_hs_res smcr_clnt_run(struct smcr_hs *hs)
{
	struct smcr_clc_msg clc;
	enum smcr_hs_res res;
	int rc;

	if (!hs->ssk->offered) {	/* the reason was recorded by connect() */
		hs->why = hs->ssk->fallback_why;
		return SMCR_HS_TCP;
	}
	if (!smcr_tcpopt_agreed(hs->ssk->tcp->sk)) {
		hs->why = READ_ONCE(hs->ssk->opt_crossed) ?
			  SMCR_R_SIMULTANEOUS_OPEN : SMCR_R_PEER_NO_SMC;
		return SMCR_HS_TCP;
	}
	res = smcr_clnt_propose(hs);
	if (res != SMCR_HS_NEXT)
		return res;

	rc = smcr_clc_recv(hs->ssk, SMCR_CLC_ACCEPT, hs->deadline, &clc,
			   &hs->why);
	if (rc)
		return smcr_hs_clc_error(hs, rc);
	if (clc.hdr.type == SMCR_CLC_DECLINE)
		return smcr_hs_declined(hs, &clc.decline);
	res = smcr_hs_check_enums(hs, &clc.accept, clc.accept.first_contact);
	if (res == SMCR_HS_NEXT)
		res = smcr_clnt_group(hs, &clc.accept);
	if (res == SMCR_HS_NEXT)
		res = smcr_clnt_confirm(hs, &clc.accept);
	if (res != SMCR_HS_NEXT)
		return res;
	if (!hs->first)
		return SMCR_HS_DONE;
	res = smcr_clnt_link(hs);
	if (res != SMCR_HS_NEXT)
		return res;
	return smcr_clnt_settle(hs);
}

/**
 * smcr_hs_client() - rendezvous of a connecting socket
 * @ssk: socket in mode NEG, TCP established, reference held
 *
 * Context: process (smcr_hs_wq), sleeps, bounded by T_CLC and T_LLC_FIRST.
 */
void smcr_hs_client(struct smcr_sock *ssk)
{
	struct smcr_hs hs = {
		.ssk = ssk,
		.deadline = jiffies + smcr_knob_jiffies(ssk->sn, t_clc),
	};
	enum smcr_hs_res res = smcr_clnt_run(&hs);

	if (res == SMCR_HS_DONE)
		smcr_count(ssk->sn, hs.first ? SMCR_CNT_CLNT_FIRST :
					       SMCR_CNT_CLNT_REUSE);
	smcr_hs_finish(&hs, res);
}
