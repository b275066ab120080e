/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LLC exchange sequencing, RFC 7609 3.5.5.3 and C.7.1 (conformance catalogue,
 * Part E): what to do with a message that arrives while an exchange runs.
 */
#ifndef _SMCR_CORE_LLC_SEQ_H
#define _SMCR_CORE_LLC_SEQ_H

#include "env.h"
#include "llc.h"

/* Exchange that is under way in a link group, as this side sees it */
enum smcr_llc_xchg {
	SMCR_XCHG_NONE,
	SMCR_XCHG_FIRST_CONTACT,	/* CONFIRM LINK of link 1 .. ADD LINK settled */
	SMCR_XCHG_ADD_LINK,		/* ADD LINK .. CONFIRM LINK, later links */
	SMCR_XCHG_DELETE_LINK,		/* server DELETE LINK of one link */
	SMCR_XCHG_RKEY,			/* own CONFIRM RKEY or DELETE RKEY */
	NR_SMCR_XCHG
};

enum smcr_llc_verdict {
	SMCR_LLC_DO,		/* process it now */
	SMCR_LLC_ANSWER,	/* it is a reply, or the step, the exchange waits for */
	SMCR_LLC_QUEUE,		/* keep until the exchange has ended */
	SMCR_LLC_REFUSE,	/* CONFIRM RKEY: reply with Z and C */
	SMCR_LLC_IGNORE,	/* drop silently */
	SMCR_LLC_FAIL,		/* out of place: link failure (LLC-08) */
};

struct smcr_llc_seq {
	bool server;		/* own role */
	u8 xchg;		/* enum smcr_llc_xchg */
	u8 awaits;		/* enum smcr_llc_type that the exchange waits for, 0 none */
	bool awaits_reply;	/* it waits for the reply form */
	bool test_pending;	/* an own TEST LINK is unanswered */
};

enum smcr_llc_verdict smcr_llc_classify(const struct smcr_llc_seq *seq,
					const struct smcr_llc *msg,
					bool late_ok);

/* ADD LINK CONTINUATION bookkeeping (LLC-38..40), one direction */
struct smcr_rtoken_count {
	bool started;
	u8 left;
};

int smcr_rtoken_count_step(struct smcr_rtoken_count *c, u8 n_rtokens);

#endif /* _SMCR_CORE_LLC_SEQ_H */
