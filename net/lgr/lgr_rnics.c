// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrival and removal of RNICs: devices, ports, GIDs. Links are added and deleted
 * accordingly, and a group ends with its last link (RFC 7609 2.3, 3.5.5.1; LG-28, FO-22,
 * MISC-16).
 */
#include <linux/slab.h>
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr.h"
#include "lgr/lgr_dev.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_rnics.h"
#include "lgr/lgr_run.h"

/*
 * The removal of a device waits until its links are deleted, but no longer than this: a
 * peer that is alive has acknowledged and answered DELETE LINK by then.
 */
#define SMCR_T_HURRY_DEV	HZ

/* Is a link of the group in use on the own RNIC with this MAC? lgr->lock held */
static bool lgr_uses_mac(const struct smcr_lgr *lgr, const u8 mac[ETH_ALEN])
{
	const struct smcr_link *link;
	int i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS; i++) {
		link = lgr->slot[i].link;
		if (link && READ_ONCE(link->st) != SMCR_LINK_ST_ERR &&
		    !READ_ONCE(link->draining) &&
		    lgr->dialect->same_rnic(link->pid.mac, mac))
			return true;
	}
	return false;
}

/*
 * Find an RNIC on the LAN of the group that no link is on. True if there is one: it is in
 * *@pid, with a reference on its device. Context: process.
 */
bool smcr_lgr_new_nic(struct smcr_lgr *lgr, struct smcr_port_id *pid)
{
	struct smcr_link *link = smcr_lgr_conn_link(lgr, NULL);
	struct smcr_port_id *lan;
	bool found = false, taken;
	int i, n = 0;

	lan = kcalloc(SMCR_LAN_MAX, sizeof(*lan), GFP_KERNEL);
	if (lan && link)
		n = smcr_dev_lan(lgr->sn->net, &link->pid, lan, SMCR_LAN_MAX);
	for (i = 0; i < n; i++) {
		spin_lock_bh(&lgr->lock);
		taken = found || lgr_uses_mac(lgr, lan[i].mac);
		spin_unlock_bh(&lgr->lock);
		if (taken) {
			smcr_dev_put(lan[i].dev);
			continue;
		}
		*pid = lan[i];
		found = true;
	}
	kfree(lan);
	smcr_link_put(link);
	return found;
}

/* If another RNIC can be used, a server adds a link, a client sends its notice (LG-31) */
static void lgr_offer_nic(struct smcr_lgr *lgr)
{
	struct smcr_port_id pid;

	if (lgr->single || smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE ||
	    !smcr_lgr_new_nic(lgr, &pid))
		return;
	smcr_dev_put(pid.dev);
	smcr_lgr_post(lgr, SMCR_LGR_EV_WANT_LINK, 0);
}

/*
 * The next namespace after @net, or the first one if @net is NULL, with a reference.
 * Namespaces that are being destroyed are left out. The caller's reference on @net, which
 * has kept @net in the list, is put.
 */
static struct net *lgr_next_net(struct net *net)
{
	struct net *next = NULL, *pos;

	down_read(&net_rwsem);
	pos = net ?: list_entry(&net_namespace_list, struct net, list);
	list_for_each_entry_continue(pos, &net_namespace_list, list) {
		next = maybe_get_net(pos);
		if (next)
			break;
	}
	up_read(&net_rwsem);
	if (net)
		put_net(net);
	return next;
}

/*
 * Call @fn for every group of every namespace. A namespace that is being destroyed is left
 * out, as it ends its groups itself. net_rwsem is not held while @fn runs: a holder of
 * RTNL may wait for net_rwsem, and @fn may sleep for long, because RMBs are deregistered
 * when @fn puts the last reference on a link. Context: process, sleeps.
 */
static void lgr_for_each(void (*fn)(struct smcr_lgr *lgr, struct smcr_dev *dev,
				    u8 port),
			 struct smcr_dev *dev, u8 port)
{
	struct net *net = NULL;
	struct smcr_lgr *lgr;
	u64 after;

	while ((net = lgr_next_net(net))) {
		after = 0;
		while ((lgr = smcr_lgr_next(smcr_net(net), after))) {
			after = lgr->net.id.id;
			smcr_race(lgr->sn->net, "lgr-each");
			fn(lgr, dev, port);
			smcr_lgr_put(lgr);
			cond_resched();
		}
	}
}

/*
 * Is another link left for the connections if the links in @slots are lost? In first
 * contact only the first link counts.
 */
static bool lgr_can_lose(struct smcr_lgr *lgr, unsigned long slots)
{
	switch (smcr_lgr_state(lgr)) {
	case SMCR_LGR_ST_FORMING:
		return !(slots & BIT(0));
	case SMCR_LGR_ST_ACTIVE:
		return smcr_lgr_linked(lgr) & ~slots;
	default:
		return false;
	}
}

/*
 * The device of a link is being removed. The first call has the state machine delete the
 * link. A call after SMCR_T_HURRY_DEV fails the link, if it is not deleted yet.
 */
static void slot_leave_dev(struct smcr_lgr *lgr, unsigned int i)
{
	struct smcr_lgr_link *slot = &lgr->slot[i];
	struct smcr_link *link;
	unsigned long at = READ_ONCE(slot->leave_at);

	if (at && time_before(jiffies, at))
		return;
	/* a link of first contact is not in use yet, and fails at once */
	if (!at && smcr_lgr_state(lgr) == SMCR_LGR_ST_ACTIVE) {
		WRITE_ONCE(slot->leave_at, (jiffies + SMCR_T_HURRY_DEV) ?: 1);
		smcr_lgr_post(lgr, SMCR_LGR_EV_WANT_DEL, i);
		return;
	}
	link = smcr_lgr_link_get(lgr, i);
	if (link)
		smcr_link_fail(link, SMCR_R_LINK_DEVICE);
	smcr_link_put(link);
}

static void lgr_leave_dev(struct smcr_lgr *lgr, struct smcr_dev *dev, u8 port)
{
	unsigned long on = smcr_lgr_slots_on(lgr, dev, port);
	unsigned int i;

	if (!on) {
		/* port 0: removal of the device, not an event of a port */
		if (!port && smcr_lgr_dev_late(lgr, dev))
			smcr_lgr_owner_ops->late_conns(lgr);
		return;
	}
	if (!lgr_can_lose(lgr, on)) {
		smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, SMCR_DEL_LOST_PATH);
		smcr_lgr_release_in(lgr, SMCR_T_HURRY_DEV);
		return;
	}
	for_each_set_bit(i, &on, SMCR_SLOTS)
		slot_leave_dev(lgr, i);
}

/**
 * smcr_lgr_kill_dev() - delete all links on an RDMA device that is being removed
 * @dev: device; when no reference on it is left, smcr_dev_put() ends the wait of the
 *	caller
 *
 * The device may still work, so its links are deleted orderly; a link that still exists
 * after SMCR_T_HURRY_DEV fails. Groups that have no other link end, which DELETE LINK
 * announces to the peers.
 *
 * Context: process. To be called again, periodically, until the device is not used any
 * more.
 */
void smcr_lgr_kill_dev(struct smcr_dev *dev)
{
	lgr_for_each(lgr_leave_dev, dev, 0);
}

/*
 * Fail a link whose device, port or GID cannot be used any more. If @last is set, the group
 * cannot go on without this link, so the group ends.
 */
static void slot_check(struct smcr_lgr *lgr, unsigned int i, bool last)
{
	struct smcr_link *link = smcr_lgr_link_get(lgr, i);

	if (!link)
		return;
	if (!smcr_dev_pid_ok(&link->pid)) {
		if (last)
			smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, 0);
		else
			smcr_link_fail(link, SMCR_R_LINK_DEVICE);
	}
	smcr_link_put(link);
}

static void lgr_check_port(struct smcr_lgr *lgr, struct smcr_dev *dev, u8 port)
{
	unsigned long on = smcr_lgr_slots_on(lgr, dev, port);
	unsigned int i;

	for_each_set_bit(i, &on, SMCR_SLOTS)
		slot_check(lgr, i, !lgr_can_lose(lgr, BIT(i)));
	lgr_offer_nic(lgr);
}

/**
 * smcr_lgr_port_event() - a port changed: fail links without a usable GID
 * @dev: device
 * @port: port number
 *
 * Groups that have no link on the port may add one, since the port or the GID may be new.
 *
 * Context: process, sleeps.
 */
void smcr_lgr_port_event(struct smcr_dev *dev, u8 port)
{
	lgr_for_each(lgr_check_port, dev, port);
}

static void lgr_dev_arrived(struct smcr_lgr *lgr, struct smcr_dev *dev, u8 port)
{
	lgr_offer_nic(lgr);
}

/**
 * smcr_lgr_dev_arrived() - a device was added, or works again: groups may use it
 *
 * Context: process, sleeps.
 */
void smcr_lgr_dev_arrived(void)
{
	lgr_for_each(lgr_dev_arrived, NULL, 0);
}
