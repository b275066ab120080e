/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of the work that runs a group's state machine (core/lgr_fsm.h): its data,
 * events, messages, first contact. Only that work sends LLC messages, except TEST LINK.
 */
#ifndef _SMCR_LGR_RUN_H
#define _SMCR_LGR_RUN_H

#include "core/lgr_fsm.h"
#include "base/base.h"
#include "lgr/lgr_rkey.h"

/* Bits of smcr_llc_run.pending: an event of a slot. Events of the whole group have slot 0 */
#define SMCR_PENDING(ev_, slot_)	((ev_) * SMCR_SLOTS + (slot_))
#define NR_SMCR_PENDING			(NR_SMCR_LGR_EV * SMCR_SLOTS)

/**
 * struct smcr_llc_run - the state machine of a group, its input and its timers
 * @lock: BH; guards @queue, @len, @rkey, slot[].test
 * @fsm: state machine; @work only
 * @out: actions that follow from the last event; @work only
 * @queue: messages that have arrived; @lock
 * @len: number of messages in @queue; @lock
 * @late: messages that wait for room in the send queue; @work only
 * @n_late: number of messages in @late; @work only
 * @pending: pending events, bits by SMCR_PENDING(); atomic
 * @rkey_slots: slots of the links that the own CONFIRM RKEY names beside its carrier;
 *	@work only
 * @n_rkey_slots: number of @rkey_slots; @work only
 * @learning: index of the RToken that the peer's CONFIRM RKEY is about, or negative;
 *	@work only
 * @armed: timers that run, bits; @work only
 * @due: when each timer of @armed expires, jiffies; @work only
 * @over: @work does nothing more; written once, by smcr_lgr_run_stop()
 * @first_no: number of the last message that was posted with FIRST_SENT as its report;
 *	written by @work
 * @sent_no: number of the last message whose delivery FIRST_SENT reports; written before
 *	FIRST_SENT is posted
 * @settled: how first contact has ended, enum smcr_first_res + 1; 0: it has not;
 *	written once, after @settled_why
 * @settled_why: reason if first contact has failed; written once
 * @rkey: the own RKEY exchange; @lock
 * @work: runs the state machine, which no other context runs; owns a reference on the
 *	group while queued
 */
struct smcr_llc_run {
	spinlock_t lock;	/* BH; queue, rkey, TEST LINK */
	struct smcr_lgr_fsm fsm;
	struct smcr_lgr_out out;
	struct list_head queue;
	unsigned int len;
	struct list_head late;
	unsigned int n_late;
	DECLARE_BITMAP(pending, NR_SMCR_PENDING);
	u8 rkey_slots[SMCR_SLOTS];
	u8 n_rkey_slots;
	int learning;
	u32 armed;
	unsigned long due[NR_SMCR_LGR_TIMER];
	bool over;
	u32 first_no;
	u32 sent_no;
	u8 settled;
	enum smcr_reason settled_why;
	struct smcr_llc_rkey rkey;
	struct delayed_work work;
};

void smcr_lgr_run_init(struct smcr_lgr *lgr);
void smcr_lgr_run_stop(struct smcr_lgr *lgr);
void smcr_lgr_run_free(struct smcr_lgr *lgr);
void smcr_lgr_post(struct smcr_lgr *lgr, enum smcr_lgr_evt ev, u8 slot);
void smcr_lgr_queue_run(struct smcr_lgr *lgr);
void smcr_lgr_post_first(struct smcr_lgr *lgr);
bool smcr_lgr_settled(const struct smcr_lgr *lgr, enum smcr_first_res *res,
		      enum smcr_reason *why);
void smcr_llc_rx(struct smcr_link *link, const u8 *buf);

#endif /* _SMCR_LGR_RUN_H */
