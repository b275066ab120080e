/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LLC in the kernel: receiving, answering, and the waits of first contact.
 */
#ifndef _SMCR_KLLC_H
#define _SMCR_KLLC_H

#include "base.h"
#include "lgr.h"

extern const struct smcr_link_ops smcr_link_ops;

void smcr_llc_init(struct smcr_lgr *lgr);
void smcr_llc_start(struct smcr_lgr *lgr);	/* TEST LINK on an idle link */
void smcr_llc_probe(struct smcr_lgr *lgr);	/* soon, if it is silent */
void smcr_llc_verify(struct smcr_lgr *lgr);	/* TEST LINK now */
void smcr_llc_look(struct smcr_lgr *lgr);	/* is it due? */
void smcr_llc_stop(struct smcr_lgr *lgr);	/* process context, sleeps */

int smcr_llc_send(struct smcr_lgr *lgr, const struct smcr_llc *msg);
/* Does not wait: @done is called once after 0, see struct smcr_tx_pend */
int smcr_llc_post(struct smcr_lgr *lgr, const struct smcr_llc *msg,
		  void (*done)(struct smcr_tx_pend *pend, bool ok), void *arg,
		  u64 mark);

/*
 * smcr_llc_expect() - arm an exchange before its request is sent
 * @xchg: enum smcr_llc_xchg
 * @type: enum smcr_llc_type awaited; @reply: its reply form
 */
void smcr_llc_expect(struct smcr_lgr *lgr, u8 xchg, u8 type, bool reply);

bool smcr_llc_answered(const struct smcr_lgr *lgr);	/* ... has arrived */

/* @ms: 0 only looks */
int smcr_llc_wait(struct smcr_lgr *lgr, struct smcr_llc *out, unsigned int ms);

/*
 * smcr_llc_confirm_rkey() - tell the peer of a new RMB and wait for its reply
 * @rkey: key on the group's link; @va: address there
 *
 * Context: process, sleeps up to T_LLC. Return: 0 when the peer knows the RMB;
 * -EREMOTEIO it does not want it; -EAGAIN not now, several times.
 */
int smcr_llc_confirm_rkey(struct smcr_lgr *lgr, u32 rkey, u64 va);

/*
 * smcr_llc_delete_rkey() - withdraw an RMB from the peer and wait for its reply
 * @rkey: key on the group's link
 *
 * Context: process, sleeps up to T_LLC. Return: 0 when the peer has forgotten
 * the key (also when it never knew it), else the RMB must be kept.
 */
int smcr_llc_delete_rkey(struct smcr_lgr *lgr, u32 rkey);

/* Negative reply of a client whose group has one link and wants no more */
void smcr_llc_reject_add_link(struct smcr_lgr *lgr,
			      const struct smcr_llc_add_link *req,
			      struct smcr_llc *no);

/* No exchange any more; a late answer of @type is ignored */
void smcr_llc_done(struct smcr_lgr *lgr);

#endif /* _SMCR_KLLC_H */
