// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latches and random delays for tests, by the module parameters "race" and
 * "race_seed". A latch is a named place in the code where threads wait as long
 * as the latch is closed. Writing NAME to "race" closes a latch for the threads
 * that work for the writer's network namespace, writing -NAME opens it. Reading
 * "race" lists the latches of the reader's namespace, each with the number of
 * threads that wait there.
 *
 * If "race_seed" is not 0, threads are also delayed in one of eight passes
 * through such a place, whether or not its latch is closed. The seed, the place
 * and the number of passes so far decide which passes are delayed, and for how
 * long. So a simulation in virtual time runs the same way again with the same
 * seed.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/moduleparam.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/wait.h>
#include <net/net_namespace.h>
#include "base/race.h"

#define LATCHES		8
#define LATCH_NAME	24

/* Limits of a wait, if the test does not open the latch */
#define LATCH_SLEEP	(30 * HZ)
#define LATCH_SPIN	(5 * USEC_PER_SEC)
#define LATCH_STEP	10	/* us */

/* A random delay is shorter than these, in us */
#define DELAY_SLEEP	2048
#define DELAY_SPIN	64

/**
 * struct latch - one place where threads wait
 * @net: namespace of the writer, never dereferenced; latch_lock
 * @name: name of the place; latch_lock
 * @closed: threads wait; latch_lock, READ_ONCE() by those that wait
 * @held: number of threads that wait; the entry is not reused before it is 0;
 *	latch_lock
 */
struct latch {
	const struct net *net;
	char name[LATCH_NAME];
	bool closed;
	unsigned int held;
};

static DEFINE_SPINLOCK(latch_lock);	/* irqs off: a latch can be in any context */
static struct latch latches[LATCHES];
static unsigned int n_closed;		/* latch_lock; READ_ONCE() without it */
static DECLARE_WAIT_QUEUE_HEAD(latch_wait);

/* @net NULL: any latch of that name, for a thread that works for no namespace */
static struct latch *latch_find(const struct net *net, const char *name)
{
	int i;

	lockdep_assert_held(&latch_lock);
	for (i = 0; i < LATCHES; i++)
		if ((latches[i].closed || latches[i].held) &&
		    (!net || latches[i].net == net) &&
		    !strcmp(latches[i].name, name))
			return &latches[i];
	return NULL;
}

/* The latch to wait at, or NULL; @alone: NULL also if another thread waits there */
static struct latch *latch_enter(const struct net *net, const char *name,
				 bool alone)
{
	struct latch *latch;
	unsigned long flags;

	if (!READ_ONCE(n_closed))
		return NULL;
	spin_lock_irqsave(&latch_lock, flags);
	latch = latch_find(net, name);
	if (latch && latch->closed && !(alone && latch->held))
		latch->held++;
	else
		latch = NULL;
	spin_unlock_irqrestore(&latch_lock, flags);
	return latch;
}

static void latch_leave(struct latch *latch, bool in_time)
{
	unsigned long flags;

	if (!in_time)
		pr_warn("latch %s is not opened\n", latch->name);
	spin_lock_irqsave(&latch_lock, flags);
	latch->held--;
	spin_unlock_irqrestore(&latch_lock, flags);
}

static unsigned int race_seed;		/* READ_ONCE(); 0: no delays */
static atomic_t race_passes;		/* since the seed was written */

/* Delay of this pass in us: below @most, 0 for seven passes of eight */
static unsigned int delay_of(const char *name, unsigned int most)
{
	unsigned int seed = READ_ONCE(race_seed), h;

	if (!seed)
		return 0;
	h = jhash(name, strlen(name),
		  jhash_1word(atomic_inc_return(&race_passes), seed));
	return h & 7 ? 0 : (h >> 3) % most;
}

/**
 * smcr_race() - wait as long as a latch is closed, 30 s at most
 * @net: namespace that the thread works for, or NULL
 * @name: name of the latch
 *
 * Context: process, sleeps.
 */
void smcr_race(const struct net *net, const char *name)
{
	unsigned int us = delay_of(name, DELAY_SLEEP);
	struct latch *latch;

	might_sleep();
	if (us)
		fsleep(us);
	latch = latch_enter(net, name, false);
	if (latch)
		latch_leave(latch,
			    wait_event_timeout(latch_wait,
					       !READ_ONCE(latch->closed),
					       LATCH_SLEEP));
}

/**
 * smcr_race_atomic() - wait as long as a latch is closed
 * @net: namespace that the thread works for, or NULL
 * @name: name of the latch
 *
 * If the thread can sleep, this function is smcr_race(). Otherwise the thread
 * spins, 5 s at most, until another processor opens the latch. Only one thread
 * spins at each latch.
 *
 * Context: any; a caller that holds spinlocks has bottom halves off.
 */
void smcr_race_atomic(const struct net *net, const char *name)
{
	struct latch *latch;
	unsigned int us;

	if (!in_interrupt() && !irqs_disabled()) {
		smcr_race(net, name);
		return;
	}
	us = delay_of(name, DELAY_SPIN);
	if (us)
		udelay(us);
	latch = latch_enter(net, name, true);
	if (!latch)
		return;
	for (us = 0; us < LATCH_SPIN && READ_ONCE(latch->closed);
	     us += LATCH_STEP)
		udelay(LATCH_STEP);
	latch_leave(latch, us < LATCH_SPIN);
}

static int latch_close(const struct net *net, const char *name)
{
	int i;

	if (strlen(name) >= LATCH_NAME)
		return -ENAMETOOLONG;
	for (i = 0; i < LATCHES; i++) {
		if (latches[i].closed || latches[i].held)
			continue;
		strscpy(latches[i].name, name, LATCH_NAME);
		latches[i].net = net;
		latches[i].closed = true;
		return 0;
	}
	return -ENOSPC;
}

static int race_set(const char *val, const struct kernel_param *kp)
{
	const struct net *net = current->nsproxy->net_ns;
	char text[LATCH_NAME + 2];
	bool open = *val == '-';
	struct latch *latch;
	const char *name;
	int rc = 0;

	if (strscpy(text, val + open, sizeof(text)) < 0)
		return -ENAMETOOLONG;
	name = strim(text);
	spin_lock_irq(&latch_lock);
	latch = latch_find(net, name);
	if (open == !(latch && latch->closed))
		rc = -EINVAL;	/* it is open or closed already */
	else if (latch)
		WRITE_ONCE(latch->closed, !open);
	else
		rc = latch_close(net, name);
	if (!rc)
		WRITE_ONCE(n_closed, open ? n_closed - 1 : n_closed + 1);
	spin_unlock_irq(&latch_lock);
	wake_up_all(&latch_wait);
	return rc;
}

static int race_get(char *buf, const struct kernel_param *kp)
{
	const struct net *net = current->nsproxy->net_ns;
	int i, n = 0;

	spin_lock_irq(&latch_lock);
	for (i = 0; i < LATCHES; i++)
		if (latches[i].net == net &&
		    (latches[i].closed || latches[i].held))
			n += sysfs_emit_at(buf, n, "%s %u\n", latches[i].name,
					   latches[i].held);
	spin_unlock_irq(&latch_lock);
	return n;
}

static const struct kernel_param_ops race_ops = {
	.set = race_set,
	.get = race_get,
};

module_param_cb(race, &race_ops, NULL, 0600);
MODULE_PARM_DESC(race, "for tests: NAME closes a latch, -NAME opens it");

static int seed_set(const char *val, const struct kernel_param *kp)
{
	unsigned int seed;
	int rc = kstrtouint(val, 0, &seed);

	if (rc)
		return rc;
	atomic_set(&race_passes, 0);
	WRITE_ONCE(race_seed, seed);
	return 0;
}

static const struct kernel_param_ops seed_ops = {
	.set = seed_set,
	.get = param_get_uint,
};

module_param_cb(race_seed, &seed_ops, &race_seed, 0600);
MODULE_PARM_DESC(race_seed, "for tests: random delays where latches are, 0 for none");
