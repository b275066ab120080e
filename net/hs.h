/* SPDX-License-Identifier: GPL-2.0-only */
/* Steps of the rendezvous that both roles share. */
#ifndef _SMCR_HS_H
#define _SMCR_HS_H

#include "kclc.h"
#include "lgr.h"

/**
 * struct smcr_hs - one rendezvous, its worker's own
 * @ssk: socket
 * @pid: own port; a device reference while pid.dev is set
 * @lgr: link group, a reference
 * @forming: server: group whose first contact comes before ours, a reference
 * @peer: server: from the Proposal
 * @wish: server: RMB that is waited for
 * @delay: server: ms to the next look at @forming or @wish
 * @first: first contact
 * @accepted: server: the Accept was sent
 * @link_lost: smcr_hs_llc_wait() ended with the group
 * @deadline: jiffies, end of a wait for a CLC message (T_CLC); client, and
 *	Decline instead of LLC; server: end of the wait for @forming or @wish
 * @why: reason of a fallback or failure
 * @err: positive errno for the application when the connection is lost
 */
struct smcr_hs {
	struct smcr_sock *ssk;
	struct smcr_port_id pid;
	struct smcr_lgr *lgr;
	struct smcr_lgr *forming;
	struct smcr_peer peer;
	struct smcr_rmb_wish wish;
	unsigned int delay;
	bool first;
	bool accepted;
	bool link_lost;
	unsigned long deadline;
	enum smcr_reason why;
	int err;
};

/* What a rendezvous step says; everything but NEXT ends the rendezvous */
enum smcr_hs_res {
	SMCR_HS_NEXT,
	SMCR_HS_DECLINE,	/* tell the peer, go on with TCP */
	SMCR_HS_DECLINED,	/* the peer said so, go on with TCP */
	SMCR_HS_TCP,		/* TCP without a word (nothing was negotiated) */
	SMCR_HS_FAILED,		/* connection is lost: reset TCP */
	SMCR_HS_DONE,
	SMCR_HS_WAIT,		/* not yet the end: again after hs->delay */
};

/* Own values for Accept or Confirm */
void smcr_hs_fill_accept(struct smcr_hs *hs, u8 type,
			 struct smcr_clc_accept *m);

/* Wanted element size: SO_RCVBUF if set, else net.smcr.rmem (RMB-08) */
u8 smcr_hs_bsize(const struct smcr_sock *ssk);

/* Reserved MTU or Bsize in the peer's message (CLC-10) */
enum smcr_hs_res smcr_hs_check_enums(struct smcr_hs *hs,
				     const struct smcr_clc_accept *m,
				     bool check_mtu);

/* Result of smcr_clc_recv() when it was not 0 */
enum smcr_hs_res smcr_hs_clc_error(struct smcr_hs *hs, int rc);

/* The negotiation was given up meanwhile */
enum smcr_hs_res smcr_hs_aborted(struct smcr_hs *hs);

/* A Decline came (CLC-52, CLC-36) */
enum smcr_hs_res smcr_hs_declined(struct smcr_hs *hs,
				  const struct smcr_clc_decline *d);

/*
 * The peer's T_LLC_FIRST runs while we wait for the adapter's word that our
 * message arrived. Half of it, so that a Decline is there in time (LLC-11).
 */
static inline unsigned int smcr_hs_sent_ms(const struct smcr_hs *hs)
{
	return READ_ONCE(hs->ssk->sn->knobs.t_llc_first) / 2;
}

/*
 * Wait for an LLC message of first contact; a Decline on TCP ends it
 * (CLC-59). @type, @reply: as smcr_llc_expect(), which was called before.
 */
enum smcr_hs_res smcr_hs_llc_wait(struct smcr_hs *hs, struct smcr_llc *msg);

/*
 * Sends one and waits for the adapter's word. TCP that has something to say is
 * heard meanwhile; @why: what a link that did not carry it is called.
 */
enum smcr_hs_res smcr_hs_llc_send(struct smcr_hs *hs,
				  const struct smcr_llc *msg,
				  enum smcr_reason why);

/*
 * The link of a first contact could not be brought up or sent on: Decline
 * (CLC-57, CLC-63), unless it is the peer's word that ended it. Then TCP is
 * reset (SEC-10), whether or not that word came before our completion did.
 */
enum smcr_hs_res smcr_hs_link_failed(struct smcr_hs *hs, enum smcr_reason why);

/* Own CONFIRM LINK values */
void smcr_hs_fill_confirm_link(struct smcr_lgr *lgr, bool reply,
			       struct smcr_llc *msg);
/* Do the peer's values match what CLC announced? (LLC-21, LLC-22) */
bool smcr_hs_confirm_link_ok(const struct smcr_lgr *lgr,
			     const struct smcr_llc_confirm_link *cl);
/* LG-10 and the eye-catcher announcement, both sides' CONFIRM LINK known */
void smcr_hs_settle_link(struct smcr_hs *hs,
			 const struct smcr_llc_confirm_link *peer);

/* The end of a rendezvous, whatever it is */
void smcr_hs_finish(struct smcr_hs *hs, enum smcr_hs_res res);

#endif /* _SMCR_HS_H */
