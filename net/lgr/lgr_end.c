// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a group. DELETE LINK and the peer's answer, connections, memory
 * (RFC 7609 3.5.4); and who makes groups end: devices, namespaces, the module.
 */
#include <linux/delay.h>
#include "lgr/llc.h"
#include "lgr/lgr.h"
#include "base/netns.h"
#include "lgr/lgr_impl.h"

/*
 * The removal of a device or a namespace waits for its groups, but no longer
 * than this: a peer that is alive has acknowledged and answered DELETE LINK
 * before.
 */
#define SMCR_T_HURRY_DEV	1000	/* ms */
#define SMCR_T_HURRY_NET	300

static void smcr_lgr_free_reclaim(struct smcr_lgr *lgr);

void smcr_lgr_uncount(struct smcr_net *sn)
{
	spin_lock_bh(&sn->lgr_lock);
	if (!--sn->lgr_count)
		wake_up_all(&sn->lgr_wait);
	spin_unlock_bh(&sn->lgr_lock);
}

/* Everything of a group that nobody refers to any more. Process context. */
void smcr_lgr_free_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(work, struct smcr_lgr, free_work);
	struct smcr_net *sn = lgr->sn;

	smcr_links_stop(lgr);
	smcr_llc_stop(lgr);
	smcr_lgr_free_reclaim(lgr);
	smcr_rmb_free_all(lgr);
	smcr_links_free(lgr);
	smcr_dev_put(lgr->pid.dev);
	rhashtable_destroy(&lgr->conns);
	xa_destroy(&lgr->relems);
	smcr_count(sn, SMCR_CNT_LGR_FREED);

	smcr_lgr_uncount(sn);
	kvfree(lgr->rtokens);
	kfree(lgr);
}

void smcr_lgr_idle_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, idle_work);

	if (smcr_lgr_end_idle(lgr, SMCR_R_LGR_IDLE)) {
		smcr_count(lgr->sn, SMCR_CNT_T_LGR_IDLE);
		smcr_lgr_killed(lgr, SMCR_R_LGR_IDLE, SMCR_DEL_INACTIVE);
	}
	smcr_lgr_put(lgr);
}

static void smcr_lgr_free_reclaim(struct smcr_lgr *lgr)
{
	struct smcr_buf *buf;

	while ((buf = lgr->reclaim)) {
		lgr->reclaim = buf->reclaim_next;
		smcr_buf_free(buf);
	}
}

/* Nothing here waits for the peer */
static void smcr_lgr_release(struct smcr_lgr *lgr)
{
	struct smcr_net *sn = lgr->sn;
	bool listed;

	smcr_lgr_above->lose_conns(lgr);
	smcr_links_stop(lgr);
	if (cancel_delayed_work_sync(&lgr->rmb_work))
		smcr_lgr_put(lgr);
	if (cancel_delayed_work(&lgr->idle_work))
		smcr_lgr_put(lgr);
	smcr_llc_stop(lgr);

	spin_lock_bh(&sn->lgr_lock);
	listed = !list_empty(&lgr->net_node);
	list_del_init(&lgr->net_node);
	list_del_init(&lgr->form_node);
	smcr_ids_del(&sn->lgrs, &lgr->net_id);
	hash_del(&lgr->hash_node);
	spin_unlock_bh(&sn->lgr_lock);
	if (listed)
		smcr_lgr_put(lgr);
	smcr_lgr_put(lgr);
}

/* Once: when the machine says so, or when the time is over */
void smcr_lgr_end_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, end_work);

	spin_lock_bh(&lgr->lock);
	lgr->released = true;
	spin_unlock_bh(&lgr->lock);
	cancel_delayed_work(&lgr->end_work);
	smcr_lgr_release(lgr);
}

/* Bound the end of a dead group to @ms from now */
static void smcr_lgr_hurry(struct smcr_lgr *lgr, unsigned int ms)
{
	smcr_lgr_release_in(lgr, msecs_to_jiffies(ms));
}

static bool smcr_lgr_net_idle(struct smcr_net *sn)
{
	bool idle;

	spin_lock_bh(&sn->lgr_lock);
	idle = !sn->lgr_count;
	spin_unlock_bh(&sn->lgr_lock);
	return idle;
}

/**
 * smcr_lgr_kill_net_start() - end all groups of a namespace, do not wait
 * @sn: namespace; no new group can be started any more
 */
void smcr_lgr_kill_net_start(struct smcr_net *sn)
{
	struct smcr_lgr *lgr;

	spin_lock_bh(&sn->lgr_lock);
	list_for_each_entry(lgr, &sn->lgr_list, net_node) {
		smcr_lgr_kill(lgr, SMCR_R_LGR_SHUTDOWN, SMCR_DEL_OPERATOR);
		smcr_lgr_hurry(lgr, SMCR_T_HURRY_NET);
	}
	spin_unlock_bh(&sn->lgr_lock);
}

/**
 * smcr_lgr_kill_net() - end of a namespace or of the module
 * @sn: namespace; no new group can be started any more
 *
 * Returns when every group is freed; that is bounded by the teardown of the
 * links. Context: process, sleeps.
 */
void smcr_lgr_kill_net(struct smcr_net *sn)
{
	smcr_lgr_kill_net_start(sn);
	while (!wait_event_timeout(sn->lgr_wait, smcr_lgr_net_idle(sn),
				   30 * HZ))
		pr_warn("smcr: still waiting for link groups to end\n");
}

/**
 * smcr_lgr_kill_all() - end of the module: all groups of all namespaces
 *
 * The waits are in smcr_dev_exit() and smcr_pernet_exit(). Context: process.
 */
void smcr_lgr_kill_all(void)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		smcr_lgr_kill_net_start(smcr_net(net));
	up_read(&net_rwsem);
}

static bool smcr_lgr_any(void)
{
	struct net *net;
	bool any = false;

	down_read(&net_rwsem);
	for_each_net(net)
		any = any || !list_empty(&smcr_net(net)->lgr_list);
	up_read(&net_rwsem);
	return any;
}

/**
 * smcr_lgr_shutdown() - the system goes down: peers are told (LG-43)
 *
 * Context: process, sleeps, two seconds at most.
 */
void smcr_lgr_shutdown(void)
{
	unsigned long end = jiffies + 2 * HZ;

	smcr_lgr_kill_all();
	while (smcr_lgr_any() && time_before(jiffies, end))
		msleep(20);
}

static void smcr_lgr_kill_dev_net(struct smcr_net *sn, struct smcr_dev *dev)
{
	struct smcr_lgr *lgr;

	spin_lock_bh(&sn->lgr_lock);
	list_for_each_entry(lgr, &sn->lgr_list, net_node) {
		if (lgr->pid.dev != dev)
			continue;
		smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, SMCR_DEL_LOST_PATH);
		smcr_lgr_hurry(lgr, SMCR_T_HURRY_DEV);
	}
	spin_unlock_bh(&sn->lgr_lock);
}

/**
 * smcr_lgr_kill_dev() - an RDMA device goes away
 * @dev: device; smcr_dev_put() of the last group wakes the caller's wait
 *
 * Its queue pairs still work, as far as the device does: the peers are told.
 *
 * Context: process.
 */
void smcr_lgr_kill_dev(struct smcr_dev *dev)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		smcr_lgr_kill_dev_net(smcr_net(net), dev);
	up_read(&net_rwsem);
}

/* Next group on @dev/@port behind the group number @after; reference taken */
static struct smcr_lgr *smcr_lgr_next_on(struct smcr_net *sn,
					 struct smcr_dev *dev, u8 port,
					 u32 after)
{
	struct smcr_lgr *lgr, *found = NULL;

	spin_lock_bh(&sn->lgr_lock);
	list_for_each_entry(lgr, &sn->lgr_list, net_node) {
		if (lgr->pid.dev == dev && lgr->pid.port == port &&
		    lgr->id > after && (!found || lgr->id < found->id))
			found = lgr;
	}
	if (found)
		smcr_lgr_hold(found);
	spin_unlock_bh(&sn->lgr_lock);
	return found;
}

/**
 * smcr_lgr_port_event() - a port changed: groups without a usable GID end
 * @dev: device
 * @port: port number
 *
 * Context: process, sleeps.
 */
void smcr_lgr_port_event(struct smcr_dev *dev, u8 port)
{
	struct smcr_lgr *lgr;
	struct net *net;
	u32 after;

	down_read(&net_rwsem);
	for_each_net(net) {
		after = 0;
		while ((lgr = smcr_lgr_next_on(smcr_net(net), dev, port,
					       after))) {
			after = lgr->id;
			if (!smcr_dev_pid_ok(&lgr->pid))
				smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, 0);
			smcr_lgr_put(lgr);
		}
	}
	up_read(&net_rwsem);
}
