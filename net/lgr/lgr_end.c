// SPDX-License-Identifier: GPL-2.0-only
/*
 * End of link groups: release of connections, links and memory (RFC 7609 3.5.4), and the
 * end of all groups of a namespace or of the module.
 */
#include <linux/delay.h>
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr.h"
#include "lgr/lgr_end.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_run.h"
#include "lgr/rmb.h"

/*
 * When a namespace ends, its groups are released after this time at the latest: a peer that
 * is alive has acknowledged and answered DELETE LINK by then.
 */
#define SMCR_T_HURRY_NET	300	/* ms */

void smcr_lgr_uncount(struct smcr_net *sn)
{
	spin_lock_bh(&sn->lgr_lock);
	WRITE_ONCE(sn->lgr_count, sn->lgr_count - 1);
	if (!sn->lgr_count)
		wake_up_all(&sn->lgr_wait);
	spin_unlock_bh(&sn->lgr_lock);
}

/* Free a group after its last reference was put. Process context. */
void smcr_lgr_free_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(work, struct smcr_lgr, end.free_work);
	struct smcr_net *sn = lgr->sn;

	smcr_links_stop(lgr);
	smcr_lgr_run_stop(lgr);
	smcr_lgr_run_free(lgr);
	smcr_rmb_free_all(lgr);
	smcr_links_free(lgr);
	rhashtable_destroy(&lgr->conns.tab);
	xa_destroy(&lgr->rtok.relems);
	smcr_count(sn, SMCR_CNT_LGR_FREED);

	smcr_lgr_uncount(sn);
	kvfree(lgr->rtok.all);
	kfree(lgr);
}

void smcr_lgr_idle_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, conns.idle_work);

	if (smcr_lgr_end_idle(lgr, SMCR_R_LGR_IDLE)) {
		smcr_count(lgr->sn, SMCR_CNT_T_LGR_IDLE);
		smcr_lgr_post_end(lgr, SMCR_R_LGR_IDLE, SMCR_DEL_INACTIVE);
	}
	smcr_lgr_put(lgr);
}

/*
 * Release a dead group: end its connections, links and works, and take it off all lists.
 * Does not wait for the peer
 */
static void lgr_release(struct smcr_lgr *lgr)
{
	struct smcr_net *sn = lgr->sn;
	bool listed, off;

	smcr_lgr_owner_ops->lose_conns(lgr);
	smcr_links_stop(lgr);
	smcr_lgr_work_end(lgr, &lgr->rmbs.work);
	if (cancel_delayed_work(&lgr->conns.idle_work))
		smcr_lgr_put(lgr);
	smcr_race(lgr->sn->net, "lgr-release");
	smcr_lgr_run_stop(lgr);
	/* since the first call, a link may have been made, or taken off its slot */
	smcr_links_stop(lgr);
	spin_lock_bh(&lgr->lock);
	off = lgr->end.links;
	lgr->end.kept = !off;
	spin_unlock_bh(&lgr->lock);
	if (off)
		smcr_links_off(lgr);

	spin_lock_bh(&sn->lgr_lock);
	listed = !list_empty(&lgr->net.node);
	list_del_init(&lgr->net.node);
	list_del_init(&lgr->net.form);
	list_del_init(&lgr->net.idle);
	smcr_ids_del(&sn->lgrs, &lgr->net.id);
	hash_del(&lgr->net.hash);
	spin_unlock_bh(&sn->lgr_lock);
	if (listed)
		smcr_lgr_put(lgr);
	smcr_lgr_put(lgr);
}

/**
 * smcr_lgr_first_over() - first contact does not use the links of a group any more
 * @lgr: group, with a reference
 *
 * If a group ends before it is ACTIVE, its release does not put the links, as first
 * contact may still use them. After this call the release puts them. If the group was
 * released before this call, this function puts them.
 *
 * The handshake calls this function before it waits for its socket lock. A thread may hold
 * that lock for ever, and the links must not keep their devices that long.
 *
 * Context: process, sleeps.
 */
void smcr_lgr_first_over(struct smcr_lgr *lgr)
{
	bool kept;

	spin_lock_bh(&lgr->lock);
	lgr->end.links = true;
	kept = lgr->end.kept;
	lgr->end.kept = false;
	spin_unlock_bh(&lgr->lock);
	if (kept)
		smcr_links_off(lgr);
}

/* Runs once: when the state machine has ordered RELEASE, or at lgr->end.due */
void smcr_lgr_end_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, end.work);

	spin_lock_bh(&lgr->lock);
	lgr->end.released = true;
	spin_unlock_bh(&lgr->lock);
	cancel_delayed_work(&lgr->end.work);
	lgr_release(lgr);
}

static bool lgr_net_idle(struct smcr_net *sn)
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
 *
 * There may be 65,535 groups. Each one is looked up separately, so that no lock is held
 * while all of them are visited.
 *
 * Context: process, sleeps.
 */
void smcr_lgr_kill_net_start(struct smcr_net *sn)
{
	struct smcr_lgr *lgr;
	u64 after = 0;

	while ((lgr = smcr_lgr_next(sn, after))) {
		after = lgr->net.id.id;
		smcr_lgr_kill(lgr, SMCR_R_LGR_SHUTDOWN, SMCR_DEL_OPERATOR);
		smcr_lgr_release_in(lgr, msecs_to_jiffies(SMCR_T_HURRY_NET));
		smcr_lgr_put(lgr);
		cond_resched();
	}
}

/**
 * smcr_lgr_kill_net() - end of a namespace or of the module
 * @sn: namespace; no new group can be started any more
 *
 * Returns when every group is freed. As no socket is left, this function waits only for the
 * release of the groups, and for the teardown of their links.
 *
 * Context: process, sleeps.
 */
void smcr_lgr_kill_net(struct smcr_net *sn)
{
	smcr_lgr_kill_net_start(sn);
	while (!wait_event_timeout(sn->lgr_wait, lgr_net_idle(sn),
				   30 * HZ))
		pr_warn("still waiting for link groups to end\n");
}

/**
 * smcr_lgr_kill_all() - end of the module: all groups of all namespaces
 *
 * Does not wait for the end of the groups: smcr_dev_exit() and smcr_pernet_exit() wait.
 *
 * Context: process.
 */
void smcr_lgr_kill_all(void)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		smcr_lgr_kill_net_start(smcr_net(net));
	up_read(&net_rwsem);
}

static bool lgr_any(void)
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
 * smcr_lgr_shutdown() - end all groups, as the system goes down (LG-43)
 *
 * DELETE LINK announces the end to the peers.
 *
 * Context: process, sleeps, two seconds at most.
 */
void smcr_lgr_shutdown(void)
{
	unsigned long end = jiffies + 2 * HZ;

	smcr_lgr_kill_all();
	while (lgr_any() && time_before(jiffies, end))
		msleep(20);
}
