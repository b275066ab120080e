// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops threads of smcr at one point, so that a test decides what happens
 * meanwhile. Until the parameter is 0 again:
 *
 *	llc=TYPE	replies of this LLC type wait before they are posted; for
 *			those that are sent in process context, without locks
 *	held		number of threads that wait now
 *
 * Up to 6.12 probes of tracepoints run with preemption disabled, and nothing
 * else forbids them to sleep: hold() enables it. No probe is unregistered while
 * it sleeps: unloading waits.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/tracepoint.h>

/* Limit of a wait, if the test does not end it */
#define HOLD_MAX	(30 * HZ)

static unsigned long llc;
module_param(llc, ulong, 0644);

static atomic_t held = ATOMIC_INIT(0);

static int held_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&held));
}

static const struct kernel_param_ops held_ops = {
	.get = held_get,
};

module_param_cb(held, &held_ops, NULL, 0444);

static void hold(void)
{
	unsigned long end = jiffies + HOLD_MAX;
	bool pinned = preempt_count();

	atomic_inc(&held);
	if (pinned)
		preempt_enable();
	while (READ_ONCE(llc) && time_before(jiffies, end))
		msleep(20);
	if (pinned)
		preempt_disable();
	atomic_dec(&held);
}

static void hold_llc(void *data, bool tx, u32 lgr_id, u8 type, bool reply)
{
	if (tx && reply && type == READ_ONCE(llc))
		hold();
}

/* The tracepoints of smcr come and go with its module */
static int module_news(struct notifier_block *nb, unsigned long event,
		       void *data)
{
	struct tp_module *tm = data;
	struct tracepoint *tp;
	unsigned int i;

	for (i = 0; i < tm->mod->num_tracepoints; i++) {
		tp = tracepoint_ptr_deref(&tm->mod->tracepoints_ptrs[i]);
		if (strcmp(tp->name, "smcr_llc"))
			continue;
		if (event == MODULE_STATE_COMING)
			tracepoint_probe_register(tp, hold_llc, NULL);
		else
			tracepoint_probe_unregister(tp, hold_llc, NULL);
	}
	return NOTIFY_OK;
}

static struct notifier_block news = {
	.notifier_call = module_news,
};

static int __init smcr_hold_init(void)
{
	return register_tracepoint_module_notifier(&news);
}

static void __exit smcr_hold_exit(void)
{
	llc = 0;
	while (atomic_read(&held))
		msleep(20);
	unregister_tracepoint_module_notifier(&news);
	tracepoint_synchronize_unregister();
}

module_init(smcr_hold_init);
module_exit(smcr_hold_exit);
MODULE_DESCRIPTION("Holds threads of smcr, for tests");
MODULE_LICENSE("GPL");
