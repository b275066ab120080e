// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/sys/net/smcr/, one set per network namespace. Documentation/sysctl.rst
 * explains every knob; a knob has its default in pernet.c and its range here.
 */
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include "core/clc.h"
#include "pernet.h"

#define SMCR_MS_MIN	100
#define SMCR_MS_MINUTE	(60 * 1000)
#define SMCR_MS_MAX	(60 * 60 * 1000)
#define SMCR_MS_DAY	(24 * 60 * 60 * 1000)

struct smcr_knob {
	const char *name;
	size_t off;
	int min;
	int max;
	int max_ns;		/* outside of the initial namespace; 0 = @max */
};

#define SMCR_KNOB(member, lo, hi) { \
	.name	= #member, \
	.off	= offsetof(struct smcr_knobs, member), \
	.min	= (lo), \
	.max	= (hi), \
}

/*
 * Resources that all namespaces share: the time of workers, queue pairs, and
 * unsettled handshakes. Outside of the initial namespace these knobs can only be
 * lowered: root there is not root of the host.
 */
#define SMCR_KNOB_SHARED(member, lo, hi, hi_ns) { \
	.name	= #member, \
	.off	= offsetof(struct smcr_knobs, member), \
	.min	= (lo), \
	.max	= (hi), \
	.max_ns	= (hi_ns), \
}

static const struct smcr_knob smcr_knobs[] = {
	SMCR_KNOB(enabled, 0, 1),
	SMCR_KNOB(rmem, SMCR_RMBE_MIN, SMCR_RMBE_MIN << SMCR_BSIZE_MAX),
	SMCR_KNOB(wmem, SMCR_RMBE_MIN, 4 * 1024 * 1024),
	SMCR_KNOB(eye_catcher, 0, 1),
	SMCR_KNOB_SHARED(max_lgrs, 1, 65535, SMCR_MAX_LGRS_DEFAULT),
	SMCR_KNOB(max_conns_per_lgr, 0, 65535),
	SMCR_KNOB(max_rmbs_per_lgr, 1, SMCR_RMBS_MAX),
	SMCR_KNOB_SHARED(max_handshakes, 1, 1 << 20,
			 SMCR_MAX_HANDSHAKES_DEFAULT),
	SMCR_KNOB_SHARED(max_first_contacts, 1, 65535,
			 SMCR_MAX_FIRST_DEFAULT),
	SMCR_KNOB_SHARED(t_clc, SMCR_MS_MIN, SMCR_MS_MAX, SMCR_MS_MINUTE),
	SMCR_KNOB_SHARED(t_llc_first, SMCR_MS_MIN, SMCR_MS_MAX, SMCR_MS_MINUTE),
	SMCR_KNOB_SHARED(t_llc, SMCR_MS_MIN, SMCR_MS_MAX, SMCR_MS_MINUTE),
	SMCR_KNOB(t_lgr_idle, SMCR_MS_MIN, SMCR_MS_DAY),
	SMCR_KNOB(t_close, SMCR_MS_MIN, SMCR_MS_MAX),
	SMCR_KNOB(t_abort, SMCR_MS_MIN, SMCR_MS_MAX),
	SMCR_KNOB(t_testlink, 0, SMCR_MS_DAY),
	SMCR_KNOB(t_rmb_free, SMCR_MS_MIN, SMCR_MS_DAY),
	/* 4.096 us << n; 0 would mean to wait for ever */
	SMCR_KNOB(qp_timeout, 8, 22),
	/* TCP_KEEPIDLE ends at 32767 s */
	SMCR_KNOB(keepalive_floor, 0, 32767 * 1000),
};

/* The memory of a namespace, and of all; the next free index */
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
 * @sn: namespace, with defaults in place
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smcr_sysctl_register(struct smcr_net *sn)
{
	struct ctl_table *table;
	size_t i;

	/* The special ones; older kernels want an empty entry at the end */
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
