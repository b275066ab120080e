/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structures and functions of rnicsim, a test RNIC. Documentation/rnicsim.rst
 * describes what it models.
 *
 * Locks, outer before inner. All but the mutex are taken with interrupts off,
 * because a caller of a verb may have them off:
 *	link_mutex	main.c; serializes the creation of devices
 *	rs_lock		read: by the engines, which run in parallel; written: to
 *			change what they look up, see below
 *	rs_qp.lock	a queue pair; of two, the one with the lower address
 *			first, see pair_lock()
 *	rs_cq.lock	a completion queue
 *	rs_mr.lock	a region; read: memory that it covers is accessed
 *	rs_dev.dma_lock	the shadow mappings of a device; read: one is accessed
 *	rs_dev.lock	random numbers and fault points of a device
 *
 * Lifetimes: queue pairs, regions and devices are looked up under rs_lock only.
 * An object that is destroyed is removed from its table, then rs_lock is
 * written, then the object's timer is cancelled. No engine uses it after that.
 */
#ifndef _RNICSIM_H
#define _RNICSIM_H

#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/prandom.h>
#include <linux/smp.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include "compat.h"
#include "faults.h"
#include "knobs.h"

#define RS_PIECE_MAX	4096		/* bytes that are copied at once */
#define RS_BAG_MAX	256		/* pieces that are not yet visible */
#define RS_LOCAL_LKEY	0x01		/* all DMA memory, kernel users only */
#define RS_MAX_CQE	65536
#define RS_MAX_MSG	BIT(20)		/* bytes; SENDs and READs are copied in one go */
#define RS_CUTS		8		/* devices that one can be cut from */
#define RS_RING_START	(-5U)		/* first index of a ring: wraps early */

#if defined(CONFIG_ARCH_HAS_DMA_OPS) || defined(CONFIG_DMA_OPS)
#define RS_DMA_OPS	1
#endif

extern rwlock_t rs_lock;
extern struct list_head rs_devs;	/* rs_dev.node, rs_lock */

/* An entry of the GID table as the RDMA core wrote it; rs_lock */
struct rs_gid {
	bool valid;
	u8 type;			/* enum ib_gid_type */
	u8 mac[ETH_ALEN];
	u16 vlan;			/* 0xffff: none */
	union ib_gid gid;
};

/* Private data of a device's file in debugfs: of knob or fault point @i */
struct rs_file {
	struct rs_dev *dev;
	unsigned int i;
};

/* Counters in the file "stats". X(name) */
#define RS_STATS(X)							\
	X(sends) X(writes) X(reads) X(local_ops) X(bytes) X(pieces)	\
	X(rnr_naks) X(retries) X(access_errors) X(request_errors)	\
	X(dma_faults) X(completions) X(interrupts) X(elsewhere) X(cq_overruns)

struct rs_stats {
#define X(name) atomic64_t name;
	RS_STATS(X)
#undef X
};

/**
 * struct rs_dev - a device with one port
 * @ib: RDMA core's part
 * @pdev: the device whose DMA mappings are used
 * @ndev: netdev, with a reference
 * @ndev_tracker: tracker of the reference on @ndev
 * @node: entry in rs_devs; rs_lock
 * @name: name from its creation
 * @down: PORT_ERR was injected
 * @port_up: last port state that was reported to clients
 * @fatal: DEVICE_FATAL is pending, see rs_settle()
 * @lock: guards @rnd and @fault
 * @qps: queue pairs by number
 * @next_qpn: for xa_alloc_cyclic(); begins at another number on each device
 * @mrs: regions by index
 * @next_mr: for xa_alloc_cyclic(); begins at another index on each device
 * @n_qps: number of queue pairs
 * @n_cqs: number of completion queues
 * @n_mrs: number of regions
 * @gids: GID table of @gid_len entries; rs_lock
 * @gid_len: its length
 * @knob: values of RS_KNOBS; WRITE_ONCE
 * @rnd: random numbers; @lock
 * @fault: fault points; @lock
 * @cut: '+' and the name of a device, if nothing arrives in either direction,
 *	or '>' and the name, if nothing arrives there; '\0' if free; rs_lock
 * @stats: counters
 * @dma_lock: guards @maps and the shadows
 * @maps: mappings by address, see dma.c
 * @next_iova: address of the next mapping; dma_lock
 * @umem_task: task that maps user memory, which has no shadow; written under
 *	@umem_mutex
 * @umem_mutex: serializes the mapping of user memory
 * @gid_work: renews the default GIDs, see RS_A_GID_CHANGE
 * @dir: folder in debugfs
 * @knob_file: private data of the files of knobs
 * @fault_file: private data of the files of fault points
 */
struct rs_dev {
	struct ib_device ib;
	struct platform_device *pdev;
	struct net_device *ndev;
	netdevice_tracker ndev_tracker;
	struct list_head node;
	char name[IB_DEVICE_NAME_MAX];
	bool down;
	int port_up;
	int fatal;

	struct xarray qps;
	u32 next_qpn;
	struct xarray mrs;
	u32 next_mr;
	atomic_t n_qps;
	atomic_t n_cqs;
	atomic_t n_mrs;

	struct rs_gid *gids;
	u32 gid_len;

	u32 knob[RS_KNOBS_N];
	spinlock_t lock;	/* see above */
	struct rnd_state rnd;
	struct rs_fault_set fault[RS_FAULTS_N];
	char cut[RS_CUTS][IB_DEVICE_NAME_MAX + 1];
	struct rs_stats stats;

	rwlock_t dma_lock;	/* see above */
	struct rb_root maps;
	u64 next_iova;
	struct task_struct *umem_task;
	struct mutex umem_mutex;	/* umem_task */

	struct work_struct gid_work;
	struct dentry *dir;
	struct rs_file knob_file[RS_KNOBS_N];
	struct rs_file fault_file[RS_FAULTS_N];
};

struct rs_ucontext {
	struct ib_ucontext ib;
};

struct rs_pd {
	struct ib_pd ib;
};

/* A completion, and the queue whose entries are free when it is polled */
struct rs_cqe {
	struct ib_wc wc;
	struct rs_qp *qp;
	bool send;
	u32 done;	/* sq_free or rq_free after it */
};

/**
 * struct rs_cq - completion queue
 * @ib: RDMA core's part
 * @lock: guards everything but @timer and @csd
 * @ring: @mask + 1 completions
 * @mask: mask of the indices, a power of two less 1, so that they may wrap
 * @size: completions that fit, at most @mask + 1
 * @head: the next to be filled, free-running
 * @tail: the next to be polled, free-running
 * @armed: 0, IB_CQ_SOLICITED or IB_CQ_NEXT_COMP
 * @raised: an interrupt is pending in @timer
 * @n_since: completions since @raised was set
 * @dead: being destroyed
 * @timer: raises the interrupt
 * @csd: raises the interrupt on another processor, see RS_K_CQ_CPU
 * @ringing: @csd is queued or runs
 */
struct rs_cq {
	struct ib_cq ib;
	spinlock_t lock;	/* see above */
	struct rs_cqe *ring;
	u32 mask;
	u32 size;
	u32 head;
	u32 tail;
	u8 armed;
	bool raised;
	u32 n_since;
	bool dead;
	struct hrtimer timer;
	call_single_data_t csd;
	int ringing;
};

/**
 * struct rs_mr - memory region
 * @ib: RDMA core's part
 * @lock: guards what REG_MR writes once it is in dev->mrs: @key, @valid, @access,
 *	@iova, @length, @page_size
 * @idx: index in dev->mrs
 * @key: lkey and rkey: index << 8 | variant
 * @valid: the key may be used
 * @dma: addresses are DMA addresses, everything is in range
 * @fast: made by alloc_mr()
 * @kept: a fault has refused to deregister it
 * @access: IB_ACCESS_*
 * @iova: address of the first byte
 * @length: bytes
 * @page_size: bytes of each of @pages
 * @max_pages: pages that fit in @pages
 * @n_pages: pages in use
 * @pages: DMA addresses
 * @umem: user memory behind it, or NULL
 */
struct rs_mr {
	struct ib_mr ib;
	rwlock_t lock;	/* see above */
	u32 idx;
	u32 key;
	bool valid;
	bool dma;
	bool fast;
	bool kept;
	int access;
	u64 iova;
	u64 length;
	u32 page_size;
	u32 max_pages;
	u32 n_pages;
	u64 *pages;
	struct ib_umem *umem;
};

/* A send work request */
struct rs_swqe {
	u64 wr_id;
	enum ib_wr_opcode op;
	int flags;
	u32 len;
	u32 n_sge;
	struct ib_sge *sge;		/* room for cap.max_send_sge */
	u8 *inl;			/* room for cap.max_inline_data */
	u64 raddr;
	u32 rkey;			/* or the key of LOCAL_INV, REG_MR */
	__be32 imm;
	int access;			/* REG_MR, and the three below */
	u64 iova;
	u64 length;
	u32 page_size;
	ktime_t posted;
	/* the engine's part */
	bool begun;
	bool delivered;			/* the peer has it, unacknowledged */
	bool vanishes;			/* a fault: acknowledged, but it does not arrive */
	bool twice;			/* a fault: it arrives twice */
	u32 flip;			/* a fault: this byte is inverted, from 1; 0 none */
	u32 sent;			/* bytes placed or in the peer's bag */
	u32 psn;
	ktime_t ack_at;
	enum ib_wc_status status;
};

struct rs_rwqe {
	u64 wr_id;
	u32 n_sge;
	struct ib_sge *sge;		/* room for cap.max_recv_sge */
};

/* Part of a WRITE that has arrived and is not visible yet */
struct rs_piece {
	struct list_head node;
	u32 rkey;
	u64 addr;
	u32 len;
	u8 data[];
};

/**
 * struct rs_qp - RC queue pair
 * @ib: RDMA core's part
 * @dev: its device
 * @lock: guards everything but @sq_free and @rq_free
 * @state: enum ib_qp_state
 * @attr: attributes of modify_qp()
 * @cap: as granted
 * @sig_all: every send is signalled
 * @dead: being destroyed
 * @mute: sends and receives nothing until it is reset, see RS_A_MUTE
 * @stopped: a send has failed, its error completion is pending
 * @resets: number of transitions to RESET
 * @events: bits of IB_EVENT_* that are pending
 * @sgid_index: entry of the local GID table
 * @dgid: GID of the peer
 * @dmac: MAC of the peer
 * @sq: send queue; its indices are free-running, with
 *	@sq_free <= @sq_tail <= @sq_next <= @sq_head
 * @sq_mask: mask of the indices, as in struct rs_cq; cap.max_send_wr fit
 * @sq_free: oldest request whose entry is in use, as its completion was not
 *	polled; written with smp_store_release() under the lock of the
 *	completion queue, read with smp_load_acquire()
 * @sq_tail: oldest request that is not complete
 * @sq_next: next request to be sent
 * @sq_head: index of the next request that is posted
 * @rq: receive queue
 * @rq_mask: mask of the indices, as in struct rs_cq; cap.max_recv_wr fit
 * @rq_free: oldest receive whose entry is in use; written and read as @sq_free
 * @rq_tail: next receive to be filled by a message
 * @rq_head: index of the next receive that is posted
 * @sges: memory of all SGEs
 * @inl: memory of all inline data
 * @sq_psn: PSN of the next message that is sent
 * @rq_psn: PSN that is expected of the next message that arrives
 * @retry: retries left until IB_WC_RETRY_EXC_ERR
 * @rnr_retry: retries left until IB_WC_RNR_RETRY_EXC_ERR
 * @tx_at: time of the next step of sq[sq_next]
 * @flush_at: time to flush, in ERR
 * @bag: pieces that have arrived and are not placed yet
 * @bag_n: number of pieces in @bag
 * @bag_at: time to place the next piece
 * @timer: runs the engine of the queue pair
 */
struct rs_qp {
	struct ib_qp ib;
	struct rs_dev *dev;
	spinlock_t lock;	/* see above */
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct ib_qp_cap cap;
	bool sig_all;
	bool dead;
	bool mute;
	bool stopped;
	u32 resets;
	u32 events;

	u32 sgid_index;
	union ib_gid dgid;
	u8 dmac[ETH_ALEN];

	struct rs_swqe *sq;
	u32 sq_mask;
	u32 sq_free;
	u32 sq_tail;
	u32 sq_next;
	u32 sq_head;
	struct rs_rwqe *rq;
	u32 rq_mask;
	u32 rq_free;
	u32 rq_tail;
	u32 rq_head;
	struct ib_sge *sges;
	u8 *inl;

	u32 sq_psn;
	u32 rq_psn;
	u32 retry;
	u32 rnr_retry;
	ktime_t tx_at;
	ktime_t flush_at;
	struct list_head bag;
	u32 bag_n;
	ktime_t bag_at;
	struct hrtimer timer;
};

static inline struct rs_dev *to_rs_dev(struct ib_device *ib)
{
	return container_of(ib, struct rs_dev, ib);
}

static inline struct rs_cq *to_rs_cq(struct ib_cq *ib)
{
	return container_of(ib, struct rs_cq, ib);
}

static inline struct rs_qp *to_rs_qp(struct ib_qp *ib)
{
	return container_of(ib, struct rs_qp, ib);
}

static inline struct rs_mr *to_rs_mr(struct ib_mr *ib)
{
	return container_of(ib, struct rs_mr, ib);
}

static inline u32 rs_get(const struct rs_dev *dev, enum rs_knob k)
{
	return READ_ONCE(dev->knob[k]);
}

/* Increment a counter of RS_STATS */
#define rs_count(dev, what)	atomic64_inc(&(dev)->stats.what)

static inline struct rs_swqe *rs_swqe_at(const struct rs_qp *qp, u32 i)
{
	return &qp->sq[i & qp->sq_mask];
}

static inline struct rs_rwqe *rs_rwqe_at(const struct rs_qp *qp, u32 i)
{
	return &qp->rq[i & qp->rq_mask];
}

/* main.c */
bool rs_port_live(const struct rs_dev *dev);
void rs_port_check(struct rs_dev *dev);
void rs_event(struct rs_dev *dev, enum ib_event_type event);
void rs_remove(struct rs_dev *dev);
unsigned long rs_begin(void);
void rs_fatal(struct rs_dev *dev);
void rs_settle(void);
void rs_end(unsigned long flags);

/* verbs.c */
extern const struct ib_device_ops rs_dev_ops;

/* engine.c */
extern u8 __percpu *rs_scratch;		/* RS_PIECE_MAX bytes, interrupts off */
int rs_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad);
int rs_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		 const struct ib_recv_wr **bad);
enum hrtimer_restart rs_qp_timer(struct hrtimer *timer);
void rs_qp_kick(struct rs_qp *qp);
void rs_qp_to_err(struct rs_qp *qp, u32 events);
void rs_rings_start(struct rs_qp *qp);
void rs_qp_reset(struct rs_qp *qp);
void rs_kick_all(struct rs_dev *dev);

/* cq.c */
int rs_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		 RS_CREATE_CQ_LAST unused);
int rs_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int rs_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int rs_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void rs_cq_add(struct ib_cq *ibcq, const struct rs_cqe *cqe, bool solicited);
void rs_cq_clean(struct ib_cq *ibcq, struct rs_qp *qp);

/* mem.c */
struct ib_mr *rs_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *rs_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max);
int rs_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int n,
		 unsigned int *off);
int rs_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
void rs_mr_release(struct rs_dev *dev);
struct ib_mr *rs_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			     u64 iova, int access, RS_DMAH_ARG
			     struct ib_udata *udata);
enum ib_wc_status rs_mr_fast(struct rs_qp *qp, const struct rs_swqe *w,
			     u32 *later);
bool rs_mr_check(struct rs_dev *dev, const struct ib_pd *pd, u32 key, u64 addr,
		 u64 len, int access);
bool rs_mr_io(struct rs_dev *dev, const struct ib_pd *pd, u32 key, u64 addr,
	      void *buf, u32 len, int access);
bool rs_sge_io(struct rs_dev *dev, const struct ib_pd *pd,
	       const struct ib_sge *sge, u32 n, u32 off, void *buf, u32 len,
	       int access);
u64 rs_sge_len(const struct ib_sge *sge, u32 n);

/* dma.c */
int rs_dma_init(struct rs_dev *dev);
void rs_dma_drop(struct rs_dev *dev, u64 addr, u64 len);
void rs_dma_exit(struct rs_dev *dev);
bool rs_dma_io(struct rs_dev *dev, u64 addr, void *buf, u32 len, bool write);

/* knobs.c */
extern u32 rs_knob_defaults[RS_KNOBS_N];
u32 rs_random_locked(struct rs_dev *dev, u32 below);
u32 rs_random(struct rs_dev *dev, u32 below);
void rs_debugfs_add(struct rs_dev *dev);
void rs_debugfs_del(struct rs_dev *dev);
void rs_debugfs_init(void);
void rs_debugfs_exit(void);

/* faults.c */
extern const struct file_operations rs_fault_fops;
extern const struct file_operations rs_act_fops;
extern const struct file_operations rs_cut_fops;
bool rs_is_cut(const struct rs_dev *from, const struct rs_dev *to);
enum rs_action rs_fault(struct rs_dev *dev, enum rs_fault_pt pt,
			struct rs_qp *qp, u32 *arg);
bool rs_fault_lost(struct rs_dev *dev, enum rs_fault_pt pt, struct rs_qp *qp);
bool rs_fault_armed(const struct rs_dev *dev, enum rs_fault_pt pt);
int rs_fault_verb(struct rs_dev *dev, enum rs_fault_pt pt, struct rs_qp *qp,
		  int usual);

#endif /* _RNICSIM_H */
