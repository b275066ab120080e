/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory cgroup and BPF cgroup of a socket, and their inheritance from a
 * listener. The memory cgroup NULL is the root cgroup, which nothing is charged
 * to.
 */
#ifndef _SMCR_MEMCG_H
#define _SMCR_MEMCG_H

#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <net/sock.h>

/* Memory cgroup of a socket; the socket's own reference keeps it valid */
static inline struct mem_cgroup *smcr_sk_memcg(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	return sk->sk_memcg;
#else
	return NULL;
#endif
}

/* Take a reference besides that of the caller; mem_cgroup_put() puts it */
static inline struct mem_cgroup *smcr_memcg_get(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	if (memcg)
		css_get(&memcg->css);
#endif
	return memcg;
}

/*
 * Replace the cgroup that sk_alloc() has taken for @child (in a worker: the
 * root cgroup) by that of @lsk. The cgroup decides which BPF programs run for
 * setsockopt() and getsockopt(). The references are taken here as in
 * cgroup_sk_clone(), which is not exported.
 */
static inline void smcr_sk_cgrp_data_inherit(struct sock *child, struct sock *lsk)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	struct cgroup *old = sock_cgroup_ptr(&child->sk_cgrp_data);
	struct cgroup *cgrp = sock_cgroup_ptr(&lsk->sk_cgrp_data);

	cgroup_get(cgrp);
	cgroup_bpf_get(cgrp);
	child->sk_cgrp_data = lsk->sk_cgrp_data;
	cgroup_bpf_put(old);
	cgroup_put(old);
#endif
}

/* Give @child, which a worker has made, the cgroups of its listener @lsk */
static inline void smcr_sk_cgroup_inherit(struct sock *child, struct sock *lsk)
{
	smcr_sk_cgrp_data_inherit(child, lsk);
#ifdef CONFIG_MEMCG
	if (!child->sk_memcg)
		child->sk_memcg = smcr_memcg_get(lsk->sk_memcg);
#endif
}

#endif /* _SMCR_MEMCG_H */
