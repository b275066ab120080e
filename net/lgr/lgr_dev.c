// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices of a link group, each with a protection domain for the queue pairs and the
 * memory regions of the RMBs there.
 */
#include "lgr/lgr.h"
#include "lgr/lgr_dev.h"
#include "lgr/lgr_impl.h"
#include "lgr/rmb_impl.h"

/* Index of the entry of @dev; if there is none, of a free entry; -ENOSPC if none is free */
static int lgr_dev_find(const struct smcr_lgr *lgr, const struct smcr_dev *dev)
{
	int d, free = -ENOSPC;

	lockdep_assert_held(&lgr->rmbs.mutex);
	for (d = 0; d < SMCR_DEVS_MAX; d++) {
		if (lgr->rmbs.devs[d].dev == dev)
			return d;
		if (!lgr->rmbs.devs[d].dev && free < 0)
			free = d;
	}
	return free;
}

/*
 * Limit the size of new RMBs to what @dev can register, too. Each RMB is registered on the
 * devices of all links. If a new RMB did not fit one of these devices, it would be given
 * up, and the connection that needs it would fail.
 */
static int lgr_dev_begin(struct smcr_lgr *lgr, struct smcr_lgr_dev *ld,
			 struct smcr_dev *dev)
{
	struct ib_pd *pd = ib_alloc_pd(dev->ibdev, 0);

	lockdep_assert_held(&lgr->rmbs.mutex);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	smcr_dev_hold(dev);
	WRITE_ONCE(lgr->rmbs.max,
		   min_t(u32, lgr->rmbs.max, dev->max_mr_pages << PAGE_SHIFT));
	ld->pd = pd;
	ld->keep_pd = false;
	WRITE_ONCE(ld->late, false);
	WRITE_ONCE(ld->dev, dev);
	return 0;
}

/**
 * smcr_lgr_dev_get() - get the entry of a device for a new link
 * @lgr: group
 * @dev: device; the entry has a reference
 *
 * Context: process, sleeps.
 * Return: index in lgr->rmbs.devs, with a protection domain, valid until
 * smcr_lgr_dev_put(); -ENOSPC, or what ib_alloc_pd() returned.
 */
int smcr_lgr_dev_get(struct smcr_lgr *lgr, struct smcr_dev *dev)
{
	int d, rc = 0;

	mutex_lock(&lgr->rmbs.mutex);
	d = lgr_dev_find(lgr, dev);
	if (d >= 0 && !lgr->rmbs.devs[d].dev)
		rc = lgr_dev_begin(lgr, &lgr->rmbs.devs[d], dev);
	if (d >= 0 && !rc)
		lgr->rmbs.devs[d].n_links++;
	mutex_unlock(&lgr->rmbs.mutex);
	return rc ?: d;
}

/**
 * smcr_lgr_dev_put() - put the entry of a device after a link there was freed
 * @lgr: group
 * @d: index in lgr->rmbs.devs
 * @orphan: the device has failed to destroy a queue pair of the link. The protection
 *	domain of that queue pair must not be freed
 *
 * If the link was the last one on the device, the protection domain there is freed, and so
 * are the memory regions and mappings that RMBs have for the device.
 *
 * Context: process, sleeps. Called as @freed of struct smcr_link_ops.
 */
void smcr_lgr_dev_put(struct smcr_lgr *lgr, u8 d, bool orphan)
{
	struct smcr_lgr_dev *ld = &lgr->rmbs.devs[d];

	mutex_lock(&lgr->rmbs.mutex);
	ld->keep_pd |= orphan;
	if (!--ld->n_links) {
		smcr_rmb_leave_dev(lgr, d);
		if (!ld->keep_pd)
			ib_dealloc_pd(ld->pd);
		smcr_dev_put(ld->dev);
		WRITE_ONCE(ld->dev, NULL);
		ld->pd = NULL;
	}
	mutex_unlock(&lgr->rmbs.mutex);
}

/**
 * smcr_lgr_dev_late() - is a device kept although no link is in use there?
 * @lgr: group
 * @dev: device that is being removed
 *
 * Called when no link on the device is in a slot. A link that has left its slot may still
 * have references. As long as it has, the device keeps its entry in lgr->rmbs.devs.
 *
 * Context: any; one caller at a time for a device.
 * Return: true if this call and an earlier one have found such an entry. The first call
 * that finds it returns false: connections that are moving at that time usually put their
 * references on the link before the next call. dev_wait_gone() calls once a second.
 */
bool smcr_lgr_dev_late(struct smcr_lgr *lgr, const struct smcr_dev *dev)
{
	bool late = false;
	int d;

	for (d = 0; d < SMCR_DEVS_MAX; d++) {
		struct smcr_lgr_dev *ld = &lgr->rmbs.devs[d];

		if (READ_ONCE(ld->dev) != dev)
			continue;
		late = READ_ONCE(ld->late);
		WRITE_ONCE(ld->late, true);
	}
	return late;
}

/**
 * smcr_lgr_slots_on() - which links of a group are on a device?
 * @lgr: group
 * @dev: device
 * @port: port of the device; 0: any
 *
 * Context: any.
 * Return: their slots, bits.
 */
unsigned long smcr_lgr_slots_on(struct smcr_lgr *lgr,
				const struct smcr_dev *dev, u8 port)
{
	const struct smcr_link *link;
	unsigned long on = 0;
	int i;

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS; i++) {
		link = lgr->slot[i].link;
		if (link && link->pid.dev == dev &&
		    (!port || link->pid.port == port))
			on |= BIT(i);
	}
	spin_unlock_bh(&lgr->lock);
	return on;
}

/**
 * smcr_lgr_is_on_name() - is a link of a group on a device of this name?
 * @lgr: group
 * @name: name of the device
 *
 * Context: any.
 * Return: true if so.
 */
bool smcr_lgr_is_on_name(struct smcr_lgr *lgr, const char *name)
{
	const struct smcr_link *link;
	bool on = false;
	int i;

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS && !on; i++) {
		link = lgr->slot[i].link;
		on = link && !strcmp(name,
				     smcr_dev_name(link->pid.dev).s);
	}
	spin_unlock_bh(&lgr->lock);
	return on;
}
