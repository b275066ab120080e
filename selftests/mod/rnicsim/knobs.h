/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Knobs. Each is a module parameter, the default of the next device, and a
 * file in debugfs/rnicsim/<device>/. Those that the RDMA core reads once, when
 * a device is registered, are read-only there (LINK); the others can be changed
 * at any time (RUN).
 */
#ifndef _RNICSIM_KNOBS_H
#define _RNICSIM_KNOBS_H

#define RS_LINK	0
#define RS_RUN	1

/* X(NAME, name, default, least, most, when, description) */
#define RS_KNOBS(X)							\
	X(GID_TYPES, gid_types, 3, 1, 3, RS_LINK,			\
	  "GIDs: 1 RoCEv1, 2 RoCEv2, 3 both")				\
	X(GID_LEN, gid_len, 64, 4, 1024, RS_LINK,			\
	  "entries of the GID table")					\
	X(VECTORS, vectors, 4, 1, 64, RS_LINK,				\
	  "completion vectors")						\
	X(MAX_QP, max_qp, 4096, 1, 65536, RS_LINK,			\
	  "queue pairs of the device")					\
	X(MAX_CQ, max_cq, 4096, 1, 65536, RS_LINK,			\
	  "completion queues of the device")				\
	X(MAX_MR, max_mr, 65536, 1, 1 << 20, RS_LINK,			\
	  "memory regions of the device")				\
	X(MAX_QP_WR, max_qp_wr, 4096, 16, 32768, RS_LINK,		\
	  "work requests of a queue")					\
	X(MAX_SEND_SGE, max_send_sge, 16, 3, 32, RS_LINK,		\
	  "SGEs of a work request")					\
	X(MAX_RECV_SGE, max_recv_sge, 16, 1, 32, RS_LINK,		\
	  "SGEs of a receive")						\
	X(MAX_INLINE, max_inline, 256, 0, 512, RS_LINK,			\
	  "bytes of inline data")					\
	X(PAGE_LIST, page_list, 512, 1, 65536, RS_LINK,			\
	  "pages of a fast registration")				\
	X(LOCAL_LKEY, local_lkey, 1, 0, 1, RS_LINK,			\
	  "one key for all DMA memory, else an MR per domain")		\
	X(SHADOW, shadow, 1, 0, 1, RS_LINK,				\
	  "the device sees copies that dma_sync brings up to date")	\
	X(MTU, mtu, 4096, 256, 4096, RS_RUN,				\
	  "largest path MTU, a power of two")				\
	X(LATENCY, latency, 1000, 0, 1000000000, RS_RUN,		\
	  "nanoseconds of one way")					\
	X(SPREAD, spread, 0, 0, 1000000000, RS_RUN,			\
	  "nanoseconds that one way may take longer")			\
	X(BANDWIDTH, bandwidth, 0, 0, 1000000, RS_RUN,			\
	  "megabits per second, 0 any")					\
	X(PIECE, piece, 4096, 1, 4096, RS_RUN,				\
	  "largest part of a WRITE that is placed at once, bytes")	\
	X(ORDER, order, 0, 0, 2, RS_RUN,				\
	  "placement of WRITEs: 0 in order, 1 reversed, 2 random")	\
	X(CQ_DELAY, cq_delay, 0, 0, 1000000000, RS_RUN,			\
	  "nanoseconds from a completion to its interrupt")		\
	X(CQ_SPREAD, cq_spread, 0, 0, 1000000000, RS_RUN,		\
	  "nanoseconds that it may take longer")			\
	X(CQ_COUNT, cq_count, 0, 0, 65536, RS_RUN,			\
	  "completions that do not wait for cq_delay, 0 any number does") \
	X(CQ_CPU, cq_cpu, 0, 0, 1025, RS_RUN,				\
	  "processor of interrupts: 0 any, 1 another one, N + 2 number N") \
	X(CQ_ARM, cq_arm, 0, 0, 100000000, RS_RUN,			\
	  "nanoseconds that a request for the next interrupt takes")	\
	X(FABRIC, fabric, 0, 0, 65535, RS_RUN,				\
	  "only devices of the same number reach each other")		\
	X(PAUSED, paused, 0, 0, 1, RS_RUN,				\
	  "1: the engine stands still")					\
	X(SEED, seed, 1, 0, U32_MAX, RS_RUN,				\
	  "start of the device's random numbers")

enum rs_knob {
#define X(id, name, def, least, most, when, text) RS_K_##id,
	RS_KNOBS(X)
#undef X
	RS_KNOBS_N
};

/* Processors of interrupts, RS_K_CQ_CPU */
enum rs_cpu {
	RS_CPU_ANY,		/* the one that its timer is on */
	RS_CPU_OTHER,		/* not that one */
	RS_CPU_FIXED,		/* and above: processor 0 and above */
};

/* Placement of WRITEs, RS_K_ORDER */
enum rs_order {
	RS_IN_ORDER,
	RS_REVERSED,
	RS_RANDOM,
};

#endif /* _RNICSIM_KNOBS_H */
