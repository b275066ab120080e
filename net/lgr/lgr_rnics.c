// SPDX-License-Identifier: GPL-2.0-only
/*
 * RNICs that come and go: devices, ports, GIDs. Links follow them, and with its last
 * link a group ends (RFC 7609 2.3, 3.5.5.1; LG-28, FO-22, MISC-16).
 */
#include <linux/slab.h>
#include "lgr/lgr_run.h"
#include "lgr/lgr.h"
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr_impl.h"

/*
 * The removal of a device waits for its links, but no longer than this: a peer that
 * is alive has acknowledged and answered DELETE LINK before.
 */
#define SMCR_T_HURRY_DEV	HZ

/* Does a link of the group start at this RNIC? lgr->lock held */
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
 * An RNIC on the LAN of the group that no link is on: true with a reference in *@pid.
 * Context: process.
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

/* A group that gets another RNIC: the server adds a link, the client tells (LG-31) */
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
 * The next namespace that is not on its way out, with a reference; that of @net, NULL
 * at the beginning, ends. A namespace stays in the list while it has references.
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
 * @fn for every group of every namespace that is not on its way out: that one ends its
 * groups itself. @fn sleeps, for a link's last reference as long as its RMBs take, and
 * the lock of the namespaces is one that RTNL may wait for: it is not held.
 * Context: process, sleeps.
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
 * Its connections have somewhere to go if the links in @slots do; in first contact
 * that is about the first link
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

/* The device of a link goes: orderly, as long as it still works */
static void slot_leave_dev(struct smcr_lgr *lgr, unsigned int i)
{
	struct smcr_lgr_link *slot = &lgr->slot[i];
	struct smcr_link *link;
	unsigned long at = READ_ONCE(slot->leave_at);

	if (at && time_before(jiffies, at))
		return;
	/* one of first contact is not in use yet */
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
		/* the event of a port, or the removal of the device */
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
 * smcr_lgr_kill_dev() - an RDMA device goes away
 * @dev: device; smcr_dev_put() of the last link wakes the caller's wait
 *
 * Its queue pairs still work, as far as the device does: links there are deleted
 * orderly, then they fail. Groups that have no other link end: the peers are told.
 *
 * Context: process. To be called again, every now and then, until all are gone.
 */
void smcr_lgr_kill_dev(struct smcr_dev *dev)
{
	lgr_for_each(lgr_leave_dev, dev, 0);
}

/* A link whose GID is not there any more has failed */
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
 * smcr_lgr_port_event() - a port changed: links without a usable GID have failed
 * @dev: device
 * @port: port number
 *
 * A port or a GID that has come may serve groups that have no link there.
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
 * smcr_lgr_dev_arrived() - there is another device, or one that works again
 *
 * Context: process, sleeps.
 */
void smcr_lgr_dev_arrived(void)
{
	lgr_for_each(lgr_dev_arrived, NULL, 0);
}
