// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rendezvous, server side (RFC 7609 3.5.1, 3.5.2).
 */
#include <linux/random.h>
#include <linux/slab.h>
#include "core/lgr_plan.h"
#include "hs.h"
#include "kllc.h"
#include "route.h"

/*
 * The client hears something in time, whatever happens: Linux gives a server
 * six seconds for its Accept or Decline.
 */
#define SMCR_FORMING_WAIT	msecs_to_jiffies(3000)

/* More for an RMB that is not confirmed: the link fails first */
#define SMCR_RMB_WAIT		msecs_to_jiffies(2000)

/*
 * No worker sleeps for what a peer can make last. Each look comes after twice
 * the time of the last one: few of them, and none much later than it might.
 */
static enum smcr_hs_res smcr_srv_later(struct smcr_hs *hs, unsigned long end)
{
	long left = end - jiffies;

	if (left <= 0)
		return SMCR_HS_DECLINE;
	hs->delay = max(min(2 * hs->delay, jiffies_to_msecs(left)), 5U);
	return SMCR_HS_WAIT;
}

/* Group for the client; another first contact of the same peer comes before */
static enum smcr_hs_res smcr_srv_group(struct smcr_hs *hs)
{
	bool waited = hs->forming;

	hs->lgr = smcr_lgr_get_server(hs->ssk->sn, &hs->peer, &hs->pid,
				      &hs->forming, &hs->first, &hs->why);
	if (hs->lgr) {
		if (waited)
			hs->delay = 0;	/* an RMB is another thing to wait for */
		return SMCR_HS_NEXT;
	}
	return hs->forming ? smcr_srv_later(hs, hs->deadline) :
			     SMCR_HS_DECLINE;
}

/* A group, and in it a connection */
static enum smcr_hs_res smcr_srv_join(struct smcr_hs *hs)
{
	enum smcr_hs_res res;
	int tries, rc;

	if (smcr_clc_aborted(hs->ssk))
		return smcr_hs_aborted(hs);
	/* a group may end between its lookup and its use: once more, then */
	for (tries = 0; tries < 3; tries++) {
		res = smcr_srv_group(hs);
		if (res != SMCR_HS_NEXT)
			return res;
		rc = smcr_conn_open(hs->ssk, hs->lgr, smcr_hs_bsize(hs->ssk),
				    &hs->wish, &hs->why);
		if (!rc)
			return SMCR_HS_NEXT;
		if (hs->first || (rc != -EINPROGRESS &&
				  hs->why != SMCR_R_NO_LINK))
			break;
		smcr_lgr_put(hs->lgr);
		hs->lgr = NULL;
		if (rc == -EINPROGRESS)
			return smcr_srv_later(hs, hs->deadline +
					      SMCR_RMB_WAIT);
	}
	return SMCR_HS_DECLINE;
}

static enum smcr_hs_res smcr_srv_proposal(struct smcr_hs *hs,
					  const struct smcr_clc_proposal *p)
{
	struct smcr_net *sn = hs->ssk->sn;
	struct sock *tcp = hs->ssk->tcp->sk;

	/* the part for the other address family is filled (CLC-22) */
	if (smcr_route_is_v4(tcp) == !!p->n_prefix) {
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
	if (smcr_route_match(tcp, p, &hs->pid, &hs->why))
		return SMCR_HS_DECLINE;

	memcpy(hs->peer.id, p->peer_id, sizeof(hs->peer.id));
	memcpy(hs->peer.mac, p->mac, sizeof(hs->peer.mac));
	hs->deadline = jiffies + min(smcr_knob_jiffies(sn, t_clc),
				     SMCR_FORMING_WAIT);
	return smcr_srv_join(hs);
}

static enum smcr_hs_res smcr_srv_accept(struct smcr_hs *hs)
{
	struct smcr_clc_accept m;

	smcr_hs_fill_accept(hs, SMCR_CLC_ACCEPT, &m);
	hs->ssk->conn.told_peer = true;
	hs->accepted = true;
	if (smcr_clc_send_accept(hs->ssk, &m)) {
		hs->why = SMCR_R_CLC_EOF;
		hs->err = ECONNRESET;
		return SMCR_HS_FAILED;
	}
	return SMCR_HS_NEXT;
}

/* Past the server's point of no return on reuse: RST, never Decline (CLC-56) */
static enum smcr_hs_res smcr_srv_lost(struct smcr_hs *hs, enum smcr_reason why)
{
	hs->why = why;
	hs->err = ECONNRESET;
	return SMCR_HS_FAILED;
}

static bool smcr_srv_names_link(const struct smcr_lgr *lgr,
				const struct smcr_clc_accept *conf)
{
	const struct smcr_link *link = lgr->link;

	return smcr_link_up(link) && conf->qpn == link->peer_qpn &&
	       !memcmp(conf->gid, link->peer_gid, sizeof(conf->gid)) &&
	       !memcmp(conf->mac, link->peer_mac, sizeof(conf->mac));
}

static enum smcr_hs_res smcr_srv_confirm(struct smcr_hs *hs,
					 const struct smcr_clc_accept *conf)
{
	struct smcr_conn *conn = &hs->ssk->conn;
	enum smcr_hs_res res;

	if (memcmp(conf->peer_id, hs->lgr->peer.id, sizeof(conf->peer_id)))
		return smcr_srv_lost(hs, SMCR_R_CLC_PEER_ID);
	res = smcr_hs_check_enums(hs, conf, hs->first);
	if (res != SMCR_HS_NEXT)
		return hs->first ? res : smcr_srv_lost(hs, hs->why);
	if (!hs->first && !smcr_srv_names_link(hs->lgr, conf))
		return smcr_srv_lost(hs, SMCR_R_CLC_LINK);
	if (smcr_conn_set_peer(conn, conf)) {
		hs->why = SMCR_R_RMB_LIMIT;
		return hs->first ? SMCR_HS_DECLINE :
				   smcr_srv_lost(hs, hs->why);
	}
	return SMCR_HS_NEXT;
}

/* First contact: QP to RTS, CONFIRM LINK over the new link (CLC-47) */
static enum smcr_hs_res smcr_srv_link(struct smcr_hs *hs,
				      const struct smcr_clc_accept *conf)
{
	struct smcr_lgr *lgr = hs->lgr;
	enum smcr_hs_res res;
	struct smcr_llc msg;

	if (smcr_link_to_rtr(lgr->link, conf->gid, conf->mac, conf->qpn,
			     conf->psn, smcr_min_mtu(conf->mtu, hs->pid.mtu)) ||
	    smcr_link_to_rts(lgr->link))
		return smcr_hs_link_failed(hs, SMCR_R_QP_FAIL);
	if (smcr_rmb_register_all(lgr))
		return smcr_hs_link_failed(hs, SMCR_R_MR_FAIL);

	smcr_llc_expect(lgr, SMCR_XCHG_FIRST_CONTACT, SMCR_LLC_CONFIRM_LINK,
			true);
	smcr_hs_fill_confirm_link(lgr, false, &msg);
	res = smcr_hs_llc_send(hs, &msg, SMCR_R_CONFIRM_LINK_FAIL);
	if (res == SMCR_HS_NEXT)
		res = smcr_hs_llc_wait(hs, &msg);
	if (res != SMCR_HS_NEXT)
		return res;
	if (!smcr_hs_confirm_link_ok(lgr, &msg.confirm_link) ||
	    msg.confirm_link.link_num != lgr->link->num)
		return smcr_srv_lost(hs, SMCR_R_LLC_LINK_DATA);	/* LLC-22 */
	smcr_hs_settle_link(hs, &msg.confirm_link);
	return SMCR_HS_NEXT;
}

static void smcr_srv_fill_add_link(struct smcr_lgr *lgr, struct ib_qp *qp,
				   u8 num, struct smcr_llc *msg)
{
	struct smcr_llc_add_link *al = &msg->add_link;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMCR_LLC_ADD_LINK;
	memcpy(al->mac, lgr->link->pid.mac, sizeof(al->mac));
	memcpy(al->gid, lgr->link->pid.gid.raw, sizeof(al->gid));
	al->qpn = qp->qp_num;
	al->link_num = num;
	al->mtu = lgr->link->pid.mtu;
	al->psn = get_random_u32() & 0xffffff;
}

/* The client wants the second link: not yet, in the proper way (LG-25) */
static enum smcr_hs_res smcr_srv_withdraw(struct smcr_hs *hs, u8 num)
{
	struct smcr_llc msg = {
		.type = SMCR_LLC_DELETE_LINK,
		.delete_link = {
			.orderly = true,
			.link_num = num,
			.reason = SMCR_DEL_LOST_PATH,
		},
	};

	enum smcr_hs_res res;

	smcr_llc_expect(hs->lgr, SMCR_XCHG_FIRST_CONTACT, SMCR_LLC_DELETE_LINK,
			true);
	if (smcr_llc_send(hs->lgr, &msg, 0))
		return smcr_srv_lost(hs, SMCR_R_ADD_LINK_FAIL);
	res = smcr_hs_llc_wait(hs, &msg);
	/* a reply is to what it names (I-20) */
	if (res == SMCR_HS_NEXT && msg.delete_link.link_num != num)
		res = smcr_srv_lost(hs, SMCR_R_LLC_LINK_DATA);
	return res;
}

/* The client's answer to the offer of link @num (LLC-22, LLC-29) */
static bool smcr_srv_add_link_ok(const struct smcr_llc_add_link *al, u8 num)
{
	/* in a refusal nothing else matters (I-49) */
	return al->rejected || (al->link_num == num && smcr_mtu_ok(al->mtu));
}

/* The attempt at a second link that the RFC demands (LG-18, LLC-34) */
static enum smcr_hs_res smcr_srv_add_link(struct smcr_hs *hs, struct ib_qp *qp)
{
	struct smcr_lgr *lgr = hs->lgr;
	enum smcr_hs_res res;
	struct smcr_llc msg;
	u8 num;

	num = smcr_link_num_get(&lgr->nums);
	smcr_llc_expect(lgr, SMCR_XCHG_FIRST_CONTACT, SMCR_LLC_ADD_LINK, true);
	smcr_srv_fill_add_link(lgr, qp, num, &msg);
	res = smcr_hs_llc_send(hs, &msg, SMCR_R_ADD_LINK_FAIL);
	if (res == SMCR_HS_NEXT) {
		res = smcr_hs_llc_wait(hs, &msg);
		/* past the point of no return: a Decline is too late */
		if (res == SMCR_HS_NEXT &&
		    !smcr_srv_add_link_ok(&msg.add_link, num))
			res = smcr_srv_lost(hs, SMCR_R_LLC_LINK_DATA);
		else if (res == SMCR_HS_NEXT && !msg.add_link.rejected)
			res = smcr_srv_withdraw(hs, num);
	}
	smcr_link_num_put(&lgr->nums, num);
	return res;
}

static enum smcr_hs_res smcr_srv_first(struct smcr_hs *hs,
				       const struct smcr_clc_accept *conf)
{
	enum smcr_hs_res res;
	struct ib_qp *qp;

	/* what can fail here does so while there is a way back (CLC-57) */
	qp = smcr_link_probe_qp(hs->lgr->link);
	if (IS_ERR(qp)) {
		hs->why = SMCR_R_QP_FAIL;
		return SMCR_HS_DECLINE;
	}
	res = smcr_srv_link(hs, conf);
	if (res == SMCR_HS_NEXT)
		res = smcr_srv_add_link(hs, qp);
	ib_destroy_qp(qp);
	if (res != SMCR_HS_NEXT)
		return res;
	smcr_llc_done(hs->lgr);
	smcr_lgr_activate(hs->lgr);
	return SMCR_HS_NEXT;
}

/* Proposal */
static enum smcr_hs_res smcr_srv_begin(struct smcr_hs *hs)
{
	struct smcr_clc_msg clc;
	int rc;

	rc = smcr_clc_recv(hs->ssk, SMCR_CLC_PROPOSAL, jiffies, &clc, &hs->why);
	if (rc)
		return smcr_hs_clc_error(hs, rc);
	if (clc.hdr.type == SMCR_CLC_DECLINE)
		return smcr_hs_declined(hs, &clc.decline);
	if (clc.too_new) {
		hs->why = SMCR_R_CLC_VERSION;
		return SMCR_HS_DECLINE;
	}
	return smcr_srv_proposal(hs, &clc.proposal);
}

/*
 * The group has ended, and the client owes us its Confirm, which is when it can
 * be told (CLC-51): hold nothing until then that the end of the device waits for.
 */
static void smcr_srv_let_go(struct smcr_hs *hs)
{
	hs->why = hs->lgr->why;
	smcr_conn_discard(&hs->ssk->conn);
	smcr_lgr_put(hs->lgr);
	hs->lgr = NULL;
	smcr_dev_put(hs->pid.dev);
	hs->pid.dev = NULL;
}

/* Confirm, and first contact */
static enum smcr_hs_res smcr_srv_end(struct smcr_hs *hs)
{
	struct smcr_clc_msg clc;
	enum smcr_hs_res res;
	int rc;

	rc = smcr_clc_recv(hs->ssk, SMCR_CLC_CONFIRM, jiffies, &clc, &hs->why);
	if (rc)
		return smcr_hs_clc_error(hs, rc);
	if (clc.hdr.type == SMCR_CLC_DECLINE)
		return smcr_hs_declined(hs, &clc.decline);
	if (!hs->lgr)
		return hs->first ? SMCR_HS_DECLINE : smcr_srv_lost(hs, hs->why);
	res = smcr_srv_confirm(hs, &clc.accept);
	if (res == SMCR_HS_NEXT && hs->first)
		res = smcr_srv_first(hs, &clc.accept);
	if (res != SMCR_HS_NEXT)
		return res;
	smcr_conn_activate(&hs->ssk->conn);
	return SMCR_HS_DONE;
}

/**
 * smcr_hs_lgr_lost() - has the link group ended that the rendezvous holds?
 * @ssk: child whose rendezvous is ours
 *
 * Context: any.
 */
bool smcr_hs_lgr_lost(const struct smcr_sock *ssk)
{
	const struct smcr_lgr *lgr = ssk->hs->lgr;

	return lgr && READ_ONCE(lgr->st) == SMCR_LGR_ST_DEAD;
}

/**
 * smcr_hs_server() - rendezvous of an accepted connection
 * @ssk: child in mode NEG, reference held
 *
 * To be called when the client's next message is there, or its time is over, or
 * when it said to come back: nothing in here waits for a CLC message, nor for
 * another rendezvous.
 *
 * Context: process (smcr_srv_wq), sleeps, bounded by T_CLC and T_LLC_FIRST.
 * Return: -1 at the end; 0 if the client's Confirm is due; else the ms after which
 * to call again.
 */
int smcr_hs_server(struct smcr_sock *ssk)
{
	struct smcr_hs *hs = ssk->hs;
	enum smcr_hs_res res;

	if (hs && hs->accepted) {
		if (smcr_hs_lgr_lost(ssk)) {
			smcr_srv_let_go(hs);
			return 0;
		}
		res = smcr_srv_end(hs);
	} else if (hs) {
		res = smcr_srv_join(hs);
	} else {
		hs = kzalloc(sizeof(*hs), GFP_KERNEL);
		if (!hs) {
			smcr_hs_fail(ssk, ENOMEM, SMCR_R_NO_MEMORY);
			return -1;
		}
		hs->ssk = ssk;
		res = smcr_srv_begin(hs);
		ssk->hs = hs;
	}
	if (res == SMCR_HS_WAIT)
		return hs->delay;
	if (res == SMCR_HS_NEXT) {
		res = smcr_srv_accept(hs);
		if (res == SMCR_HS_NEXT)
			return 0;
	}
	if (res == SMCR_HS_DONE)
		smcr_count(ssk->sn, hs->first ? SMCR_CNT_SRV_FIRST :
						SMCR_CNT_SRV_REUSE);
	ssk->hs = NULL;
	smcr_hs_finish(hs, res);
	kfree(hs);
	return -1;
}
