/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internal interfaces between lgr_run.c, lgr_exec.c, lgr_rkey.c, link_work.c, llc_send.c
 * and llc_test.c.
 */
#ifndef _SMCR_LGR_RUN_IMPL_H
#define _SMCR_LGR_RUN_IMPL_H

#include "lgr/lgr.h"
#include "lgr/lgr_run.h"

/*
 * Maximum number of messages in llc.queue, where a conforming peer has a few at most, and
 * in llc.late
 */
#define SMCR_LLC_QUEUE_MAX	32

/* Delay before messages that found no room in the send queue are posted again */
#define SMCR_LLC_RETRY		msecs_to_jiffies(20)

/* A message that waits for the state machine, or for room in the send queue */
struct smcr_llc_item {
	struct list_head node;
	u8 slot;
	u8 report;
	u8 about;
	struct smcr_llc msg;
};

/*
 * The link in a slot, or NULL. Only for llc.work, which needs no reference: while it runs,
 * no other context takes a link off its slot. Another context may place a link there. That
 * link is complete: pairs with smcr_lgr_place_link().
 */
static inline struct smcr_link *smcr_slot_link(const struct smcr_lgr_link *slot)
{
	return READ_ONCE(slot->link);
}

/* lgr_run.c */
void smcr_lgr_publish_settled(struct smcr_lgr *lgr, enum smcr_first_res res,
			      enum smcr_reason why);

/* lgr_exec.c */
void smcr_lgr_exec(struct smcr_lgr *lgr);
void smcr_lgr_read_facts(struct smcr_lgr *lgr, struct smcr_lgr_ev *ev);

/* llc_send.c */
int smcr_llc_post(struct smcr_lgr *lgr, struct smcr_link *link,
		  const struct smcr_llc *msg, u8 report, u8 about);
void smcr_llc_send(struct smcr_lgr *lgr, u8 slot, const struct smcr_llc *msg,
		   u8 report, u8 about);
bool smcr_llc_send_late(struct smcr_lgr *lgr);
void smcr_llc_fail(struct smcr_lgr *lgr, u8 slot, enum smcr_reason why);

/* llc_test.c */
void smcr_llc_got_test(struct smcr_lgr *lgr, u8 slot,
		       const struct smcr_llc *msg);
void smcr_llc_test_work(struct work_struct *work);

/* lgr_rkey.c */
void smcr_lgr_rkey_done(struct smcr_lgr *lgr, u8 res);
void smcr_lgr_rkey_prepare(struct smcr_lgr *lgr);

/* link_work.c */
void smcr_slot_init(struct smcr_lgr *lgr);
u8 smcr_lgr_own_nic(struct smcr_lgr *lgr, const u8 mac[ETH_ALEN]);
u8 smcr_lgr_peer_nic(struct smcr_lgr *lgr, const u8 mac[ETH_ALEN]);
void smcr_slot_stopped(struct smcr_lgr *lgr, u8 slot);
void smcr_slot_link_stop(struct smcr_link *link);
void smcr_slot_off(struct smcr_lgr *lgr, u8 slot);
void smcr_slots_end(struct smcr_lgr *lgr);
void smcr_lgr_link_queue(struct smcr_lgr *lgr, u8 slot, enum smcr_lgr_do action);

#endif /* _SMCR_LGR_RUN_IMPL_H */
