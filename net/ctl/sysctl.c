// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/sys/net/smcr/, one set per network namespace, by the list in knobs.h.
 * Documentation/sysctl.rst explains every knob.
 */
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include "ctl/sysctl.h"

struct smcr_knob {
	const char *name;
	size_t off;
	int min;
	int max;
	int max_ns;		/* @max outside of init_net; 0: same as @max */
};

static const struct smcr_knob smcr_knobs[] = {
#define X(member, attr, def, lo, hi, hi_ns) \
	{ #member, offsetof(struct smcr_knobs, member), (lo), (hi), (hi_ns) },
	SMCR_KNOBS(X)
#undef X
};

/* Add max_mem and, in init_net, max_mem_host. Return: the next free index */
static size_t smcr_sysctl_mem(struct smcr_net *sn, struct ctl_table *table,
			      size_t i)
{
	table[i].procname = "max_mem";
	table[i].data = &sn->knobs.max_mem;
	table[i].maxlen = sizeof(int);
	table[i].mode = 0644;
	table[i].proc_handler = proc_dointvec_minmax;
	table[i].extra1 = SYSCTL_ZERO;
	table[i++].extra2 = &sn->mem_cap;
	if (!net_eq(sn->net, &init_net))
		return i;
	table[i].procname = "max_mem_host";
	table[i].data = &smcr_max_mem_host;
	table[i].maxlen = sizeof(int);
	table[i].mode = 0644;
	table[i].proc_handler = proc_dointvec_minmax;
	table[i++].extra1 = SYSCTL_ZERO;
	return i;
}

/**
 * smcr_sysctl_register() - create the knobs of a namespace
 * @sn: namespace; its knobs have their defaults
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smcr_sysctl_register(struct smcr_net *sn)
{
	struct ctl_table *table;
	size_t i;

	/* three are added below; older kernels need an empty entry at the end */
	table = kcalloc(ARRAY_SIZE(smcr_knobs) + 4, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(smcr_knobs); i++) {
		const struct smcr_knob *knob = &smcr_knobs[i];

		table[i].procname = knob->name;
		table[i].data = (char *)&sn->knobs + knob->off;
		table[i].maxlen = sizeof(int);
		table[i].mode = 0644;
		table[i].proc_handler = proc_dointvec_minmax;
		table[i].extra1 = (void *)&knob->min;
		table[i].extra2 = (void *)&knob->max;
		if (knob->max_ns && !net_eq(sn->net, &init_net))
			table[i].extra2 = (void *)&knob->max_ns;
	}
	i = smcr_sysctl_mem(sn, table, i);
	table[i].procname = "excluded_ports";
	table[i].data = &sn->excluded_ports;
	table[i].maxlen = SMCR_PORTS;
	table[i].mode = 0644;
	table[i].proc_handler = proc_do_large_bitmap;
	i++;
	sn->sysctl_hdr = smcr_compat_register_net_sysctl(sn->net, "net/smcr",
							 table, i);
	if (!sn->sysctl_hdr) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * smcr_sysctl_unregister() - remove the knobs of a namespace
 * @sn: namespace
 *
 * Context: process, may sleep.
 */
void smcr_sysctl_unregister(struct smcr_net *sn)
{
	const struct ctl_table *table = sn->sysctl_hdr->ctl_table_arg;

	unregister_net_sysctl_table(sn->sysctl_hdr);
	kfree(table);
}
