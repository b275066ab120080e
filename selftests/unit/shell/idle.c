// SPDX-License-Identifier: GPL-2.0-only
/* Idle time of a server's group (net/lgr/lgr_conns.c, LG-39). */
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "shell.h"

static struct smcr_net sn;
static unsigned int overs;
static unsigned long gone_at;

/*
 * The idle time has expired. A connection may have been added meanwhile; if
 * not, none was removed for the whole time
 */
static void over(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work), struct smcr_lgr,
					    conns.idle_work);

	overs++;
	if (!lgr->conns.n && time_before(jiffies, gone_at + sn.knobs.t_lgr_idle))
		bad("idle for %lu of %d ms", jiffies - gone_at, sn.knobs.t_lgr_idle);
	smcr_lgr_put(lgr);
}

/**
 * idle_run() - task that adds and removes connections, two at a time at most
 * @arg: not used
 * @n: number of connections
 */
void idle_run(void *arg, int n)
{
	struct smcr_lgr *lgr = kmem(sizeof(*lgr), __func__);
	struct smcr_lgr_member conn[2] = { };
	bool in[2] = { };
	int i;

	overs = 0;
	sn.knobs.t_lgr_idle = 20 + pick(60);
	lgr->sn = &sn;
	lgr->server = true;
	lgr->st = SMCR_LGR_ST_ACTIVE;
	refcount_set(&lgr->refs, 1);
	spin_lock_init(&lgr->lock);
	spin_lock_init(&sn.lgr_lock);
	INIT_LIST_HEAD(&sn.lgr_idle);
	INIT_LIST_HEAD(&lgr->net.idle);
	lgr->net.node.next = &sn.lgr_idle;	/* the group is listed */
	smcr_lgr_init_conns(lgr);
	INIT_DELAYED_WORK(&lgr->conns.idle_work, over);
	for (; n || in[0] || in[1]; n -= !!n) {
		i = pick(2);
		if (in[i]) {
			overs = 0;
			gone_at = jiffies;
			smcr_lgr_del_conn(lgr, &conn[i]);
		} else if (n) {
			conn[i].token = n;
			INIT_LIST_HEAD(&conn[i].lgr_node);
			if (smcr_lgr_add_conn(lgr, &conn[i]))
				bad("a connection cannot be added");
			if (!list_empty(&sn.lgr_idle))
				bad("a group with a connection is among those that are idle");
		} else {
			continue;
		}
		in[i] = !in[i];
		wait_until(pick(50));
	}
	wait_until(100);
	if (lgr->net.idle.next != &sn.lgr_idle || sn.lgr_idle.next != &lgr->net.idle)
		bad("it is not among those that are idle");
	if (overs != 1 || refcount_read(&lgr->refs) != 1)
		bad("its time was over %u times, %d references are left", overs,
		    refcount_read(&lgr->refs));
	kfree(lgr);
}
