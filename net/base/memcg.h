/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose memory it is: the memory cgroup that a socket belongs to since socket(),
 * or that its listener does. NULL is the root cgroup, which nothing is charged to.
 */
#ifndef _SMCR_MEMCG_H
#define _SMCR_MEMCG_H

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <net/sock.h>

/* Valid as long as the socket is; released with it */
static inline struct mem_cgroup *smcr_sk_memcg(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	return sk->sk_memcg;
#else
	return NULL;
#endif
}

/* The caller has a reference already; mem_cgroup_put() gives the new one back */
static inline struct mem_cgroup *smcr_memcg_get(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	if (memcg)
		css_get(&memcg->css);
#endif
	return memcg;
}

/* A worker made @child, which so belongs to nobody: it is who @lsk is */
static inline void smcr_sk_memcg_inherit(struct sock *child,
					 const struct sock *lsk)
{
#ifdef CONFIG_MEMCG
	if (!child->sk_memcg)
		child->sk_memcg = smcr_memcg_get(lsk->sk_memcg);
#endif
}

#endif /* _SMCR_MEMCG_H */
