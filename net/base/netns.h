/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per network namespace state: knobs, counters, sockets, link groups.
 */
#ifndef _SMCR_NETNS_H
#define _SMCR_NETNS_H

#include <linux/bitops.h>
#include <linux/hashtable.h>
#include <net/net_namespace.h>
#include "base/base.h"
#include "base/ids.h"
#include "base/knobs.h"
#include "base/stats.h"

#define SMCR_PORTS	65536		/* TCP ports */

struct smcr_net {
	struct net *net;		/* immutable */
	u16 instance;			/* in the peer ID; immutable */
	struct smcr_knobs knobs;
	unsigned long *excluded_ports;	/* SMCR_PORTS bits; the sysctl alone writes */
	struct smcr_stats __percpu *stats;
	struct ctl_table_header *sysctl_hdr;

	/* taken with BH off; guards the four members below */
	spinlock_t sk_lock ____cacheline_aligned_in_smp;
	struct smcr_ids socks;		/* smcr_sock.net_node */
	unsigned int n_socks;		/* not closed by the application yet */
	struct list_head orphans;	/* smcr_conn.end.orphan, the oldest first */
	unsigned int n_orphans;

	/* taken with BH off; guards lgr_list and membership in it */
	spinlock_t lgr_lock ____cacheline_aligned_in_smp;
	struct list_head lgr_list;	/* smcr_lgr.net.node */
	struct smcr_ids lgrs;		/* the same by number: smcr_lgr.net.id; lgr_lock */
	DECLARE_HASHTABLE(lgr_hash, 7);	/* smcr_lgr.net.hash, by peer ID */
	struct list_head lgr_forming;	/* smcr_lgr.net.form; lgr_lock */
	struct list_head lgr_idle;	/* smcr_lgr.net.idle; lgr_lock */
	unsigned int lgr_count;		/* groups not freed yet; lgr_lock */
	wait_queue_head_t lgr_wait;	/* woken when lgr_count becomes 0 */

	/* counters, changed with each handshake or buffer, without a lock */
	atomic_t n_handshakes ____cacheline_aligned_in_smp;	/* handshakes under way */
	atomic_t n_first;		/* those that may form a group; servers only */
	atomic_long_t mem;		/* bytes of buffers; buf.c */
	int mem_cap;			/* KiB, maximum of max_mem; immutable */
};

/* Maximum KiB of all namespaces' buffers; knob of init_net only. READ_ONCE */
extern int smcr_max_mem_host;

/* A timer knob in jiffies */
#define smcr_knob_jiffies(sn, knob) \
	msecs_to_jiffies(READ_ONCE((sn)->knobs.knob))

/**
 * smcr_policy_allows() - may this service use SMC-R? (SEC-04)
 * @sn: namespace
 * @port: TCP port that the server listens on, host byte order
 *
 * Context: any.
 * Return: false if everything or this port is excluded.
 */
static inline bool smcr_policy_allows(const struct smcr_net *sn, u16 port)
{
	if (!READ_ONCE(sn->knobs.enabled))
		return false;
	/* the sysctl writes whole words, so the bit is the old or the new one */
	return !data_race(test_bit(port, sn->excluded_ports));
}

extern unsigned int smcr_net_id;

struct smcr_net *smcr_net(const struct net *net);

#endif /* _SMCR_NETNS_H */
