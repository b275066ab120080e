/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that rnicsim is built for. HAVE_* come from
 * gen/features.h, which the probes in kfeat/ make; only this file uses them.
 */
#ifndef _RNICSIM_COMPAT_H
#define _RNICSIM_COMPAT_H

#include <linux/hrtimer.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

/* 6.13: hrtimer_setup() */
static inline void rs_hrtimer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifdef HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	timer->function = fn;
#endif
}

/* 6.11: create_cq() gets all attributes */
#ifdef HAVE_CREATE_CQ_BUNDLE
#define RS_CREATE_CQ_LAST	struct uverbs_attr_bundle *
#else
#define RS_CREATE_CQ_LAST	struct ib_udata *
#endif

/* 7.1: a second verb creates queues for user space, and is mandatory */
#ifdef HAVE_CREATE_USER_CQ
#define RS_CREATE_USER_CQ	.create_user_cq = rs_create_cq,
#else
#define RS_CREATE_USER_CQ
#endif

/* 6.17: reg_user_mr() gets a handle for DMA hints */
#ifdef HAVE_REG_USER_MR_DMAH
#define RS_DMAH_ARG	struct ib_dmah *dmah,
#else
#define RS_DMAH_ARG
#endif

/* 7.2: ib_umem_get() has become ib_umem_get_va() */
static inline struct ib_umem *rs_umem_get(struct ib_device *ib,
					  unsigned long addr, size_t size,
					  int access)
{
#ifdef HAVE_UMEM_GET_VA
	return ib_umem_get_va(ib, addr, size, access);
#else
	return ib_umem_get(ib, addr, size, access);
#endif
}

/* 6.14: the core notifies clients when the netdev of a port goes up or down */
#ifdef HAVE_PORT_STATE_EVENT
#define RS_CORE_PORT_EVENTS	1
#else
#define RS_CORE_PORT_EVENTS	0
#endif

/* 6.19: dma_map_ops map physical addresses, not pages */
#ifdef HAVE_DMA_MAP_PHYS
#define RS_MAP_PHYS	1
#endif

#endif /* _RNICSIM_COMPAT_H */
