/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A link: one RC queue pair and its completion queue, RFC 7609 section 2.
 *
 * The link knows nothing about connections or LLC: it posts what it is given
 * and hands over what arrives through struct smcr_link_ops.
 */
#ifndef _SMCR_LINK_H
#define _SMCR_LINK_H

#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "base/base.h"
#include "rdma/buf.h"
#include "rdma/dev.h"

enum {
	SMCR_SQ_DEPTH		= 256,	/* send WRs */
	SMCR_RQ_DEPTH		= 512,	/* receive WRs: twice what a peer of
					 * ours can have outstanding
					 */
	SMCR_RQ_BATCH		= 16,	/* replenished together */
	SMCR_CTRL_RESERVE	= 16,	/* send WRs that data leave to LLC */
	SMCR_POST_MAX		= 8,	/* send WRs of one smcr_link_post() */
	SMCR_RX_LEN		= 64,	/* receive buffer: longer SENDs fail */
};

/**
 * struct smcr_tx_pend - one signalled work request
 * @cqe: completion entry
 * @link: the link
 * @done: called once, before the entry is recycled, with no lock held but
 *	  link->verbs when the link is stopped; softirq, or process context on a
 *	  software device. @ok is false when the WR failed, was flushed, or never
 *	  completed
 * @arg: owner's pointer (e.g. the connection, with a reference)
 * @mark: owner's number (e.g. send buffer position)
 * @flags: owner's flags
 * @posted: link->posted after this WR; completing it completes all before
 */
struct smcr_tx_pend {
	struct ib_cqe cqe;
	struct smcr_link *link;
	void (*done)(struct smcr_tx_pend *pend, bool ok);
	void *arg;
	u64 mark;
	u32 flags;
	u32 posted;
};

/**
 * struct smcr_post - arguments of smcr_link_post()
 * @w: RDMA WRITE requests, set up except for chaining, flags and cqe; NULL if @n_w is 0
 * @n_w: their number, less than SMCR_POST_MAX
 * @msg: link->msg_len bytes to SEND after them, copied; NULL: none, @n_w is not 0
 * @done: called at completion; NULL: the SEND is signalled only if the send queue
 *	has to be reclaimed
 * @arg: for @done, in struct smcr_tx_pend
 * @mark: for @done, likewise
 * @flags: for @done, likewise
 * @waiter: the connection's place in line; NULL for control messages, which do not wait
 *	in line and may use the last SMCR_CTRL_RESERVE requests
 */
struct smcr_post {
	struct ib_rdma_wr *w;
	int n_w;
	const u8 *msg;
	void (*done)(struct smcr_tx_pend *pend, bool ok);
	void *arg;
	u64 mark;
	u32 flags;
	const struct list_head *waiter;
};

/**
 * struct smcr_link_ops - the way up
 * @rx_cdc: a CDC message arrived, @link->msg_len bytes, not yet decoded; @buf is
 *	valid during the call
 * @rx_llc: an LLC message, likewise
 * @down: the link failed; any context up to softirq; called exactly once
 * @room: send WRs became free while somebody waited for them
 * @freed: a link of @lgr is gone, which was on device entry @d; @orphan: its queue
 *	pair is still there. Process context, sleeps. Once for every
 *	smcr_link_create(), also for one that fails
 *
 * @rx_cdc, @rx_llc and @room: softirq, or process context on a software device;
 * one at a time for each link.
 */
struct smcr_link_ops {
	void (*rx_cdc)(struct smcr_link *link, const u8 *buf);
	void (*rx_llc)(struct smcr_link *link, const u8 *buf);
	void (*down)(struct smcr_link *link, enum smcr_reason why);
	void (*room)(struct smcr_link *link);
	void (*freed)(struct smcr_lgr *lgr, u8 d, bool orphan);
};

/* Set before the first link is made, by net/wire.c */
extern const struct smcr_link_ops *smcr_link_owner_ops;

/**
 * struct smcr_link_params - whom a link is for
 * @lgr: its link group, for those above
 * @lgr_id: number of the group
 * @slot: its index in the group
 * @d: its device's entry there
 * @peer_id: whom it leads to
 * @msg_len: bytes of each message on it, SMCR_RX_LEN at most
 * @mem: its buffers; those of its connections are the same way
 */
struct smcr_link_params {
	struct smcr_lgr *lgr;
	u32 lgr_id;
	u8 slot;
	u8 d;
	const u8 *peer_id;
	u8 msg_len;
	const struct smcr_buf_params *mem;
};

/*
 * struct smcr_link - a link
 *
 * Immutable after smcr_link_create(): owner, its number and peer, slot, pid, pd,
 * lkey, mem, cq, qp, psn, the arrays. peer_* are set once by smcr_link_to_rtr();
 * a reader that may be earlier asks smcr_link_met().
 *
 * @refs: see smcr_link_hold()
 * @n_conns: connections that send over it, each with a reference
 * @n_came, @n_left: connections that came from other links, and left for others;
 *	the owner's
 * @verbs: serialises what is done to the QP as a whole: modify, destroy;
 *	outside of @lock, sleeps
 * @qp_err: the device was told to move the QP to ERR; @verbs
 * @stopped: QP and CQ are gone; written under @verbs, read with READ_ONCE
 * @orphan: one is not, or a probe is not: the device has refused; written under @verbs,
 *	read at the end
 * @probe_cq: of smcr_link_probe_qp(), or NULL; @verbs. Not @cq, so that a probe
 *	may outlive smcr_link_stop(); ends with the last smcr_link_put()
 * @lock: BH; nests inside a connection's lock. Guards @st to @drained and what
 *	follows it, up to @n_reclaim. ib_post_send and ib_post_recv are called
 *	under it, so that @posted follows the order of the send queue and nothing
 *	is posted after ERR.
 * @st: enum smcr_link_st; written by smcr_link_set_state() under @lock, read with
 *	READ_ONCE
 * @rq_tail, @rq_missing: of all slots in their order, the one that completes
 *	next, and the number of those before it that are to be reposted; completion
 *	handlers only, which never run side by side on one CQ
 * @pend_tail: likewise, of @pends; written under @lock
 * @draining: connections send no more over it: smcr_link_drain(), smcr_link_stay()
 * @drained: ... and what they have sent has arrived; set before they move
 * @lost_at: it has failed, or connections began to leave it, jiffies; 0: not yet;
 *	lock, READ_ONCE()
 * @deleted: the peer has agreed that it is; written once, by the owner
 * @reclaim, @n_reclaim: buffers that a WRITE may still read: smcr_link_reclaim_buf()
 * @n_pend, @n_rx: what smcr_link_stop() waits for
 */
struct smcr_link {
	/* read for each message, written rarely */
	struct smcr_lgr *lgr;		/* owner */
	struct smcr_net *sn;
	u32 lgr_id;
	u8 slot;			/* index in the group */
	u8 peer_id[8];
	struct smcr_port_id pid;	/* device reference held */
	struct ib_pd *pd;		/* the group's */
	u32 lkey;			/* local_dma_lkey of pd */
	struct smcr_buf_params mem;	/* buffers that this link sends from */
	struct ib_cq *cq;
	struct ib_qp *qp;
	u32 qpn;			/* outlives the QP */
	u32 psn;			/* own initial PSN */
	u8 num;				/* link number, server's choice */
	u32 user_id;			/* own link user ID */
	u32 peer_user_id;
	u8 llc_form;			/* enum smcr_llc_form; with CONFIRM LINK */
	u8 msg_len;			/* of each message, the dialect's */
	u32 max_inline;			/* what the QP offers */

	u8 peer_gid[16];
	u8 peer_mac[6];
	u32 peer_qpn;
	u32 peer_psn;
	u8 mtu;				/* effective, enum */

	struct mutex verbs;		/* QP as a whole, see above */
	bool qp_err;
	bool stopped;
	bool orphan;
	struct ib_cq *probe_cq;

	u8 st;				/* the next five: lock */
	bool down_reported;
	enum smcr_reason why;		/* of its failure */
	bool draining;
	bool drained;
	unsigned long lost_at;
	bool deleted;			/* no lock: READ_ONCE() */

	struct smcr_tx_pend *pends;	/* SMCR_SQ_DEPTH of them */
	struct smcr_rx_wr *rx_wrs;	/* SMCR_RQ_DEPTH of them */
	struct smcr_buf *rx_buf;
	struct smcr_buf *tx_buf;	/* slots by WR number, when no inline */
	struct ib_cqe unsignalled_cqe;	/* flushes of unsignalled WRs */
	wait_queue_head_t drain_wait;

	/* written as connections come and go */
	refcount_t refs ____cacheline_aligned_in_smp;
	atomic_t n_conns;
	u32 n_came, n_left;

	/* written by senders and their completions */
	/* down to n_reclaim, see above */
	spinlock_t lock ____cacheline_aligned_in_smp;
	u32 posted;			/* send WRs posted so far */
	u32 completed;			/* ... known to be completed */
	u32 unsignalled;		/* since the last signalled one */
	u32 pend_head;			/* signalled WRs posted so far */
	u32 pend_tail;			/* ... completed; see above */
	struct list_head waiters;	/* smcr_conn.tx.sq_wait, FIFO */
	const struct list_head *turn;	/* taken off there, posts next */
	struct smcr_buf *reclaim;
	unsigned int n_reclaim;
	atomic_t n_pend;		/* signalled WRs outstanding */
	unsigned long last_tx;		/* jiffies, racy by design: of the last completion, or
					 * of the first signalled WR after a pause
					 */
	u64 tx_writes, tx_bytes, tx_sends;	/* lock */

	/* written as messages come in, by the softirq of the queue */
	u32 rq_tail ____cacheline_aligned_in_smp;	/* receives completed so far */
	u32 rq_missing;
	atomic_t n_rx;			/* receives outstanding */
	unsigned long last_rx;		/* jiffies; racy by design */
	u64 rx_sends;
};

struct smcr_link *smcr_link_create(const struct smcr_link_params *owner,
				   const struct smcr_port_id *pid,
				   struct ib_pd *pd);
int smcr_link_to_rtr(struct smcr_link *link, const u8 gid[16],
		     const u8 mac[6], u32 qpn, u32 psn, u8 mtu);
int smcr_link_to_rts(struct smcr_link *link);
void smcr_link_fail(struct smcr_link *link, enum smcr_reason why);
bool smcr_link_stop(struct smcr_link *link);
bool smcr_link_drain(struct smcr_link *link, unsigned long time);
bool smcr_link_stay(struct smcr_link *link);
void smcr_link_hold(struct smcr_link *link);
void smcr_link_put(struct smcr_link *link);
void smcr_link_attach(struct smcr_link *link);
void smcr_link_detach(struct smcr_link *link);
unsigned int smcr_link_reclaim_buf(struct smcr_link *link, struct smcr_buf *buf);
struct ib_qp *smcr_link_probe_qp(struct smcr_link *link);
void smcr_link_probe_end(struct ib_qp *qp);
int smcr_link_post(struct smcr_link *link, const struct smcr_post *post);
bool smcr_link_wait_room(struct smcr_link *link, struct list_head *node);
bool smcr_link_cancel_wait(struct smcr_link *link, struct list_head *node);
struct list_head *smcr_link_next_waiter(struct smcr_link *link);
int smcr_link_reg_mr(struct smcr_link *link, struct ib_mr *mr, int access);

static inline bool smcr_link_up(const struct smcr_link *link)
{
	return READ_ONCE(link->st) == SMCR_LINK_ST_RTS;
}

/* Is the peer's end known? Then peer_* are there as a whole. Any context */
static inline bool smcr_link_met(const struct smcr_link *link)
{
	/* pairs with smcr_link_to_rtr() */
	return smp_load_acquire(&link->peer_qpn);
}

/* Nothing that connections have sent over it is under way any more. Any context */
static inline bool smcr_link_silent(const struct smcr_link *link)
{
	return READ_ONCE(link->stopped) || READ_ONCE(link->drained);
}

/* Does it carry data, and will it? Any context */
static inline bool smcr_link_carries(const struct smcr_link *link)
{
	return smcr_link_up(link) && !READ_ONCE(link->draining);
}

bool smcr_link_stuck(const struct smcr_link *link, unsigned long time);
#endif /* _SMCR_LINK_H */
