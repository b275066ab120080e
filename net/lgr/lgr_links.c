// SPDX-License-Identifier: GPL-2.0-only
/*
 * The links of a group, made, brought up and stopped as its state machine says.
 * Verbs sleep, so each link has a work of its own for that, which reports.
 */
#include <linux/random.h>
#include "lgr/llc.h"
#include "base/netns.h"
#include "lgr/llc_impl.h"
#include "lgr/lgr_impl.h"

/* A queue pair for the offer of a link that the client will refuse (LG-18) */
static void slot_make(struct smcr_lgr *lgr, struct smcr_slot *slot)
{
	struct ib_qp *qp;

	slot->why = SMCR_R_QP_FAIL;
	slot->ok = false;
	if (!lgr->server)
		return;
	qp = smcr_link_probe_qp(lgr->link);
	if (IS_ERR(qp))
		return;
	slot->probe = qp;
	slot->probe_psn = get_random_u32() & 0xffffff;
	slot->ok = true;
}

/* The first link: to RTS, memory registered on it (LLC-20) */
static void slot_up(struct smcr_lgr *lgr, struct smcr_slot *slot)
{
	slot->ok = false;
	slot->why = SMCR_R_QP_FAIL;
	if (!slot->link || smcr_link_to_rts(slot->link))
		return;
	slot->why = SMCR_R_MR_FAIL;
	slot->ok = !smcr_rmb_register_all(lgr);
}

static void link_stop(struct smcr_link *link)
{
	if (smcr_link_stop(link))
		smcr_lgr_above->event(link->lgr, link, SMCR_CHANGE_LINK_DELETED,
				      SMCR_R_NONE);
}

static void slot_stop(struct smcr_slot *slot)
{
	if (slot->probe)
		ib_destroy_qp(slot->probe);
	slot->probe = NULL;
	if (slot->link)
		link_stop(slot->link);
}

static void slot_work(struct work_struct *work)
{
	struct smcr_slot *slot = container_of(work, struct smcr_slot, work);
	struct smcr_lgr *lgr = slot->lgr;
	unsigned int i = slot - lgr->slot;

	if (test_and_clear_bit(SMCR_JOB_MAKE, &slot->jobs)) {
		slot_make(lgr, slot);
		smcr_llc_news(lgr, SMCR_NEWS_MADE + i);
	}
	if (test_and_clear_bit(SMCR_JOB_UP, &slot->jobs)) {
		slot_up(lgr, slot);
		smcr_llc_news(lgr, SMCR_NEWS_UP + i);
	}
	if (test_and_clear_bit(SMCR_JOB_MOVE, &slot->jobs))
		smcr_llc_news(lgr, SMCR_NEWS_MOVED + i);
	if (test_and_clear_bit(SMCR_JOB_STOP, &slot->jobs)) {
		slot_stop(slot);
		smcr_llc_news(lgr, SMCR_NEWS_STOPPED + i);
	}
	smcr_lgr_put(lgr);
}

void smcr_slot_init(struct smcr_lgr *lgr)
{
	int i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		lgr->slot[i].lgr = lgr;
		INIT_WORK(&lgr->slot[i].work, slot_work);
	}
}

/**
 * smcr_slot_do() - something is to be done to a link
 * @lgr: group
 * @slot: which
 * @job: what; reported by smcr_llc_news()
 *
 * Context: the group's work.
 */
void smcr_slot_do(struct smcr_lgr *lgr, u8 slot, enum smcr_slot_job job)
{
	set_bit(job, &lgr->slot[slot].jobs);
	smcr_lgr_hold(lgr);
	if (!queue_work(smcr_end_wq, &lgr->slot[slot].work))
		smcr_lgr_put(lgr);
}

/**
 * smcr_links_stop() - end of all traffic of a group
 * @lgr: dead group
 *
 * Context: process, sleeps.
 */
void smcr_links_stop(struct smcr_lgr *lgr)
{
	struct smcr_link *link;
	int i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		link = lgr->slot[i].link;
		if (!link)
			continue;
		link_stop(link);
		smcr_lgr_above->link_gone(link);
	}
}

/**
 * smcr_links_free() - free the links of a group
 * @lgr: group that nobody refers to any more; links not stopped yet are
 *
 * Context: process, sleeps.
 */
void smcr_links_free(struct smcr_lgr *lgr)
{
	int i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (lgr->slot[i].probe)
			ib_destroy_qp(lgr->slot[i].probe);
	for (i = 0; i < SMCR_SLOTS; i++) {
		if (lgr->slot[i].link)
			smcr_lgr_dev_put(lgr, lgr->slot[i].link->mem.d);
		smcr_link_put(lgr->slot[i].link);
	}
}
