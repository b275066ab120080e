// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters: adding to them and reading their sums.
 */
#include <linux/bug.h>
#include <linux/percpu.h>
#include "base/netns.h"
#include "base/trace.h"

static const char * const smcr_counter_names[] = {
#define X(name, kebab) [SMCR_CNT_##name] = kebab,
	SMCR_COUNTERS(X)
#undef X
};

/**
 * smcr_count_add() - add to a counter
 * @sn: namespace
 * @c: counter
 * @n: how much
 *
 * Context: any.
 */
void smcr_count_add(struct smcr_net *sn, enum smcr_counter c, u64 n)
{
	this_cpu_add(sn->stats->cnt[c], n);
}

/**
 * smcr_count_reason() - count a reason once
 * @sn: namespace
 * @why: reason; a number outside the enum is a bug of the caller and not
 *	counted
 *
 * Context: any.
 */
void smcr_count_reason(struct smcr_net *sn, enum smcr_reason why)
{
	if (WARN_ON_ONCE((unsigned int)why >= NR_SMCR_REASON))
		return;
	this_cpu_inc(sn->stats->reason[why]);
}

/**
 * smcr_report_reason() - count and trace a reason
 * @sn: namespace
 * @why: reason
 * @lgr_id: link group concerned, 0 = none
 * @token: own alert token of the connection concerned, 0 = none
 *
 * Context: any.
 */
void smcr_report_reason(struct smcr_net *sn, enum smcr_reason why, u32 lgr_id, u32 token)
{
	smcr_count_reason(sn, why);
	trace_smcr_reason(why, lgr_id, token);
}

/**
 * smcr_stats_read() - sum over the CPUs
 * @sn: namespace
 * @out: sums
 *
 * Other CPUs go on counting during the call, so the sums are not a snapshot.
 * They are for display only: no code depends on them.
 *
 * Context: process; @out is too large for the stack.
 */
void smcr_stats_read(struct smcr_net *sn, struct smcr_stats *out)
{
	unsigned int i;
	int cpu;

	memset(out, 0, sizeof(*out));
	for_each_possible_cpu(cpu) {
		const struct smcr_stats *s = per_cpu_ptr(sn->stats, cpu);

		for (i = 0; i < NR_SMCR_COUNTER; i++)
			out->cnt[i] += READ_ONCE(s->cnt[i]);
		for (i = 0; i < NR_SMCR_REASON; i++)
			out->reason[i] += READ_ONCE(s->reason[i]);
	}
}

/**
 * smcr_counter_name() - stable name of a counter, as in netlink and JSON
 * @c: enum smcr_counter
 *
 * Return: static string, "unknown" for a number outside the enum.
 */
const char *smcr_counter_name(unsigned int c)
{
	return c < NR_SMCR_COUNTER ? smcr_counter_names[c] : "unknown";
}
