// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of a handshake that client and server share (RFC 7609 3.5, C).
 */
#include <net/tcp.h>
#include "core/hs_turn.h"
#include "lgr/lgr.h"
#include "lgr/lgr_find.h"
#include "lgr/lgr_run.h"
#include "lgr/rmb.h"
#include "hs/hs.h"
#include "hs/hs_impl.h"

/**
 * smcr_hs_goto() - go to the next step
 * @hs: handshake
 * @step: the next step
 * @ms: how long that step may wait
 *
 * Return: SMCR_HS_NEXT.
 */
enum smcr_hs_res smcr_hs_goto(struct smcr_hs *hs,
			      enum smcr_hs_res (*step)(struct smcr_hs *hs),
			      unsigned int ms)
{
	hs->step = step;
	WRITE_ONCE(hs->claims, false);
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
	return smcr_bsize_for(want);
}

/**
 * smcr_hs_fill_accept() - fill an Accept or Confirm with our values
 * @hs: handshake with an open connection
 * @type: SMCR_CLC_ACCEPT or SMCR_CLC_CONFIRM
 * @m: filled
 */
void smcr_hs_fill_accept(struct smcr_hs *hs, u8 type,
			 struct smcr_clc_accept *m)
{
	struct smcr_conn *conn = &hs->ssk->conn;
	const struct smcr_link *link = conn->link;

	memset(m, 0, sizeof(*m));
	m->type = type;
	m->first_contact = type == SMCR_CLC_ACCEPT && hs->first;
	smcr_local_peer_id(hs->ssk->sn, m->peer_id);
	memcpy(m->gid, link->pid.gid.raw, sizeof(m->gid));
	memcpy(m->mac, link->pid.mac, sizeof(m->mac));
	m->qpn = link->qpn;
	m->rkey = smcr_rmb_rkey(conn->own.elem.rmb, link);
	m->index = conn->own.elem.index;
	m->token = conn->member.token;
	m->bsize = conn->own.elem.rmb->bsize;
	m->mtu = link->pid.mtu;
	m->va = smcr_rmb_va(conn->own.elem.rmb, link);
	/*
	 * On reuse the peer has the PSN already, so the PSN is not sent: it
	 * would allow a host that reads the TCP connection to forge RDMA
	 * packets.
	 */
	m->psn = hs->first ? link->psn : 0;
}

/**
 * smcr_hs_set_peer() - take the peer's element from its Accept or Confirm
 * @hs: handshake with an open connection
 * @m: Accept or Confirm, checked
 * @on: link that @m names; NULL: the link of the connection
 *
 * The peer may give this connection the element of another one, which has ended at the
 * peer. The peer reports this end by C or A over RDMA. CLC comes over TCP, and may arrive
 * first. Then the step waits for C or A, at most SMCR_HS_CLAIM_MS after smcr_hs_goto().
 *
 * Context: process.
 * Return: SMCR_HS_NEXT; SMCR_HS_WAIT, the step has to call this function again;
 * SMCR_HS_DECLINE with @hs->why set.
 */
enum smcr_hs_res smcr_hs_set_peer(struct smcr_hs *hs,
				  const struct smcr_clc_accept *m,
				  struct smcr_link *on)
{
	int rc;

	for (;;) {
		rc = smcr_conn_set_peer(&hs->ssk->conn, m, on);
		if (rc != -EBUSY || smcr_hs_expired(hs) ||
		    smcr_lgr_state(hs->lgr) == SMCR_LGR_ST_DEAD)
			break;
		if (hs->claims && hs->watched == hs->lgr)
			return SMCR_HS_WAIT;
		/* C or A may have come before the watch began: try again */
		WRITE_ONCE(hs->claims, true);
		smcr_hs_watch(hs, hs->lgr);
	}
	switch (rc) {
	case 0:
		return SMCR_HS_NEXT;
	case -ENOENT:
		hs->why = SMCR_R_RKEY_UNKNOWN;
		break;
	case -EBUSY:
		hs->why = SMCR_R_RMBE_IN_USE;
		break;
	default:
		hs->why = SMCR_R_RMB_LIMIT;
	}
	return SMCR_HS_DECLINE;
}

/**
 * smcr_hs_check_enums() - reserved MTU or Bsize in the peer's message? (CLC-10)
 * @hs: handshake
 * @m: Accept or Confirm
 * @check_mtu: true in first contact: check the MTU, too
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

/* The handshake fails with an error of smcr_clc_recv() */
static enum smcr_hs_res hs_clc_error(struct smcr_hs *hs, int rc)
{
	hs->err = -rc;
	return SMCR_HS_FAILED;
}

/* The handshake was stopped: its connection is not wanted any more */
enum smcr_hs_res smcr_hs_aborted(struct smcr_hs *hs)
{
	hs->why = SMCR_R_NEG_ABORTED;
	/* a client whose TCP is in SYN_SENT gets ECONNRESET, as from tcp_disconnect() */
	hs->err = hs->fresh && hs->ssk->is_client ? ECONNRESET : ECONNABORTED;
	return SMCR_HS_FAILED;
}

/**
 * smcr_hs_clc() - receive the CLC message that is due
 * @hs: handshake
 * @want: enum smcr_clc_type
 * @clc: the message, or a Decline
 *
 * Return: SMCR_HS_NEXT with @clc filled; SMCR_HS_WAIT if the message has not
 * come yet; else how the handshake ends.
 */
enum smcr_hs_res smcr_hs_clc(struct smcr_hs *hs, u8 want,
			     struct smcr_clc_msg *clc)
{
	struct smcr_sock *ssk = hs->ssk;
	struct sock *tsk = ssk->tcp->sk;
	bool due;
	int rc;

	/*
	 * TCP's lock is held from the setting of hs_want to the check. So a
	 * message that has arrived is found by the check. If it arrives later,
	 * TCP's callback finds hs_want set.
	 */
	lock_sock(tsk);
	WRITE_ONCE(ssk->hs_want, want);
	due = smcr_hs_clc_due(ssk);
	release_sock(tsk);
	if (!due && !smcr_hs_expired(hs))
		return SMCR_HS_WAIT;
	WRITE_ONCE(ssk->hs_want, SMCR_HS_WANT_NOTHING);
	rc = smcr_clc_recv(ssk, want, clc, &hs->why);
	return rc ? hs_clc_error(hs, rc) : SMCR_HS_NEXT;
}

/**
 * smcr_hs_declined() - handle the peer's Decline (CLC-52, CLC-36)
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
	/* the peer does not have the group that we named (CLC-36) */
	if (d->out_of_sync && hs->lgr && !hs->first)
		smcr_lgr_suspect(hs->lgr, hs->lgr->server ? &hs->peer.addr : NULL);
	return SMCR_HS_DECLINED;
}

/* The group in which first contact runs has ended */
static enum smcr_hs_res hs_lgr_died(struct smcr_hs *hs)
{
	hs->why = hs->lgr->why;
	hs->err = ECONNRESET;
	return SMCR_HS_FAILED;
}

/* Step: receive the Decline or the end of TCP that came instead of LLC */
static enum smcr_hs_res hs_tcp_instead(struct smcr_hs *hs)
{
	enum smcr_hs_res res;
	struct smcr_clc_msg clc;

	res = smcr_hs_clc(hs, SMCR_CLC_DECLINE, &clc);
	if (res == SMCR_HS_NEXT)
		return smcr_hs_declined(hs, &clc.decline);
	/* the wait for the rest of a message must not keep a dead group and its device */
	if (res == SMCR_HS_WAIT && hs->lgr &&
	    smcr_lgr_state(hs->lgr) == SMCR_LGR_ST_DEAD)
		return hs_lgr_died(hs);
	return res;
}

enum smcr_hs_res smcr_hs_goto_instead(struct smcr_hs *hs)
{
	return smcr_hs_goto(hs, hs_tcp_instead,
			    READ_ONCE(hs->ssk->sn->knobs.t_clc));
}

/*
 * Has anything arrived on TCP? If not, a callback of TCP kicks the handshake
 * when something arrives.
 */
bool smcr_hs_tcp_news(struct smcr_hs *hs)
{
	WRITE_ONCE(hs->ssk->hs_want, SMCR_HS_WANT_NEWS);
	/*
	 * hs_want is written before the receive queue is read. Pairs with TCP,
	 * which queues data before its callback reads hs_want. Without the
	 * barrier both may miss the other's write: this function the data, and
	 * the callback hs_want. Then no kick would follow.
	 */
	smp_mb();
	return smcr_tcp_has_news(hs->ssk->tcp->sk);
}

/**
 * smcr_hs_first() - begin the LLC part of first contact
 * @hs: handshake whose link is ready to receive
 *
 * From now on the group's state machine decides how first contact ends;
 * smcr_hs_settle() waits for the outcome.
 */
void smcr_hs_first(struct smcr_hs *hs)
{
	smcr_hs_watch(hs, hs->lgr);
	smcr_lgr_post_first(hs->lgr);
}

/**
 * smcr_hs_settle() - step: wait for the outcome of first contact
 * @hs: handshake after smcr_hs_first()
 *
 * The timers of the group's state machine limit the wait. A Decline on TCP, or
 * the end of TCP, ends the wait (CLC-59).
 *
 * Return: what comes next.
 */
enum smcr_hs_res smcr_hs_settle(struct smcr_hs *hs)
{
	enum smcr_first_res res;
	enum smcr_reason why;

	hs->timed = false;
	if (!smcr_lgr_settled(hs->lgr, &res, &why))
		return smcr_hs_tcp_news(hs) ? smcr_hs_goto_instead(hs) :
					      SMCR_HS_WAIT;
	switch (res) {
	case SMCR_FIRST_OK:
		smcr_hs_unwatch(hs);
		smcr_conn_activate(&hs->ssk->conn);
		return SMCR_HS_DONE;
	case SMCR_FIRST_DECLINE:
		hs->why = why;
		return SMCR_HS_DECLINE;
	default:
		hs->why = why;
		hs->err = why == SMCR_R_LLC_TIMEOUT ? ETIMEDOUT : ECONNRESET;
		return SMCR_HS_FAILED;
	}
}

/**
 * smcr_hs_leave_device() - put the device of a handshake
 * @hs: handshake; a client may take the device again: clnt_get_back()
 */
void smcr_hs_leave_device(struct smcr_hs *hs)
{
	if (hs->pid.dev)
		smcr_dev_put(hs->pid.dev);
	hs->pid.dev = NULL;
}

/**
 * smcr_hs_link_failed() - the link of a first contact cannot be used
 * @hs: handshake
 * @why: what failed; replaced by DEVICE_GONE if the device was removed
 *
 * A Decline is sent (CLC-57, CLC-63) if the group has not ended, or if it was
 * ended by an error of its link, by the loss of its device, or by a shutdown
 * here. If the group was ended by anything else, such as a message of the peer,
 * TCP is reset (SEC-10).
 *
 * Return: SMCR_HS_DECLINE or SMCR_HS_FAILED, with @hs->why set.
 */
enum smcr_hs_res smcr_hs_link_failed(struct smcr_hs *hs, enum smcr_reason why)
{
	const struct smcr_lgr *lgr = hs->lgr;

	hs->why = READ_ONCE(hs->pid.dev->removed) ? SMCR_R_DEVICE_GONE : why;
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD)
		return SMCR_HS_DECLINE;
	switch (lgr->why) {
	case SMCR_R_LINK_ERROR:
	case SMCR_R_LINK_DEVICE:
	case SMCR_R_LGR_SHUTDOWN:
		return SMCR_HS_DECLINE;
	default:
		return hs_lgr_died(hs);
	}
}

/**
 * smcr_hs_wire_why() - reason of a Decline after a group has ended
 * @lost: why the group ended
 *
 * Some reasons have no code on the wire (CLC-54), which a Decline needs.
 *
 * Return: @lost if it has such a code, else a reason that has one.
 */
enum smcr_reason smcr_hs_wire_why(enum smcr_reason lost)
{
	if (smcr_reason_wire(lost))
		return lost;
	return lost == SMCR_R_LINK_DEVICE ? SMCR_R_DEVICE_GONE :
					    SMCR_R_NO_LINK;
}

/**
 * smcr_hs_open_failed() - how a handshake ends when smcr_conn_open() has failed
 * @hs: handshake, with @hs->why set
 *
 * Return: if smcr_conn_open() failed because the group of a first contact has
 * ended, the result of smcr_hs_link_failed(), which sets @hs->why; in all other
 * cases SMCR_HS_DECLINE.
 */
enum smcr_hs_res smcr_hs_open_failed(struct smcr_hs *hs)
{
	if (hs->first && hs->why == SMCR_R_NO_LINK &&
	    smcr_lgr_state(hs->lgr) == SMCR_LGR_ST_DEAD)
		return smcr_hs_link_failed(hs, smcr_hs_wire_why(hs->lgr->why));
	return SMCR_HS_DECLINE;
}
