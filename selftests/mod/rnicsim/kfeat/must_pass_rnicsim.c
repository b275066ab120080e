// SPDX-License-Identifier: GPL-2.0-only
/* Canary: compiles on every kernel. All headers that the probes include. */
#include <linux/dma-map-ops.h>
#include <linux/hrtimer.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
