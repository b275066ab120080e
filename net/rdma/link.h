/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Links: one RC queue pair and its completion queue each, RFC 7609 section 2.
 *
 * A link is independent of connections and LLC: it posts what its callers pass,
 * and delivers the messages that arrive through struct smcr_link_ops.
 *
 * A link *carries* connections as long as they may send over it: it is in RTS
 * and does not drain (smcr_link_carries()). It *drains* from smcr_link_drain()
 * on: connections cannot post on it any more. It is *silent* when nothing that
 * connections have posted on it is pending (smcr_link_silent()).
 *
 * If the send queue has no *room* for the largest post of a connection,
 * connections wait in a FIFO. A connection that is taken off the FIFO has the
 * *turn*: of all connections, only this one may make the next post.
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
	SMCR_RQ_DEPTH		= 512,	/* receive WRs: twice as many as a
					 * peer with this module has send WRs
					 */
	SMCR_RQ_BATCH		= 16,	/* receives reposted together */
	SMCR_CTRL_RESERVE	= 16,	/* send WRs that only LLC may use */
	SMCR_POST_MAX		= 8,	/* send WRs of one smcr_link_post() */
	SMCR_RX_LEN		= 64,	/* receive buffer; longer SENDs fail */
};

/**
 * struct smcr_tx_pend - one signalled work request
 * @cqe: completion entry
 * @link: the link
 * @done: called once, before the entry is used again; @ok is false if the WR
 *	  failed, was flushed, or never completed. Softirq, or process context
 *	  on a software device; no lock is held, except that smcr_link_stop()
 *	  holds link->verbs
 * @arg: pointer that the poster passes to @done (e.g. the connection, with a
 *	reference)
 * @mark: number that the poster passes to @done (e.g. a position in the stream)
 * @flags: flags that the poster passes to @done
 * @posted: value of link->posted after this WR. When this WR is complete, all
 *	WRs that were posted before it are complete, too
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
 * @n_w: number of requests in @w, less than SMCR_POST_MAX
 * @msg: link->msg_len bytes to SEND after the WRITEs, copied; NULL: no SEND,
 *	and @n_w is not 0
 * @done: called at completion of the last request; NULL: the last request is
 *	signalled only if the send queue could not be reclaimed otherwise
 * @arg: for @done, passed in struct smcr_tx_pend
 * @mark: for @done, passed in struct smcr_tx_pend
 * @flags: for @done, passed in struct smcr_tx_pend
 * @waiter: the connection's entry for link->waiters; NULL for LLC, which never
 *	waits there and may use the last SMCR_CTRL_RESERVE WRs of the send queue
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
 * struct smcr_link_ops - callbacks into the owner of the link
 * @rx_cdc: a CDC message of @link->msg_len bytes has arrived, which is not
 *	decoded yet; @buf is valid during the call
 * @rx_llc: an LLC message of @link->msg_len bytes has arrived, which is not
 *	decoded yet; @buf is valid during the call
 * @down: the link has failed; any context up to softirq; called once at most,
 *	and not if smcr_link_stop() has begun before the failure
 * @room: send WRs have become free while connections wait for them
 * @freed: a link of @lgr on the device with entry @d was freed; @orphan: the
 *	link's memory is kept, as the device has not destroyed a queue pair.
 *	Process context, may sleep. Called once for each smcr_link_create(): at
 *	the end of the link, or when that function fails
 *
 * @rx_cdc, @rx_llc and @room are called in softirq, or in process context on a
 * software device, and one at a time for each link.
 */
struct smcr_link_ops {
	void (*rx_cdc)(struct smcr_link *link, const u8 *buf);
	void (*rx_llc)(struct smcr_link *link, const u8 *buf);
	void (*down)(struct smcr_link *link, enum smcr_reason why);
	void (*room)(struct smcr_link *link);
	void (*freed)(struct smcr_lgr *lgr, u8 d, bool orphan);
};

/* Set by net/wire.c before the first link is created */
extern const struct smcr_link_ops *smcr_link_owner_ops;

/**
 * struct smcr_link_params - arguments of smcr_link_create()
 * @lgr: link group, the owner of the link
 * @lgr_id: number of the group
 * @slot: index of the link in the group
 * @d: entry of the link's device (buf.h)
 * @peer_id: peer ID of the group's peer
 * @msg_len: bytes of each message on the link, SMCR_RX_LEN at most
 * @mem: arguments for the buffers of the link and its connections; ibdev and d
 *	are not used
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

/**
 * struct smcr_link - a link
 * @lgr: link group, the owner; immutable
 * @sn: namespace; immutable
 * @lgr_id: number of the group; immutable
 * @slot: index in the group; immutable
 * @peer_id: peer ID of the group's peer; immutable
 * @pid: device, with a reference, port and GID; immutable
 * @pd: protection domain of the group on the device; immutable
 * @lkey: local_dma_lkey of @pd; immutable
 * @mem: arguments for the buffers of the link and its connections; immutable
 * @cq: completion queue; immutable until smcr_link_stop()
 * @qp: queue pair; immutable until smcr_link_stop()
 * @qpn: number of @qp, also after its destruction; immutable
 * @psn: own initial PSN; immutable
 * @num: link number, which the server chooses, 0: not known; written by the
 *	owner, READ_ONCE()
 * @user_id: own link user ID; set by the owner before other threads can find
 *	the link
 * @peer_user_id: peer's link user ID; written by the owner, READ_ONCE()
 * @llc_form: enum smcr_llc_form, not known before CONFIRM LINK; written by the
 *	owner, READ_ONCE()
 * @msg_len: bytes of each message, from struct smcr_dialect; immutable
 * @max_inline: inline bytes that the QP supports; immutable
 * @peer_gid: peer's GID; set once, see smcr_link_met()
 * @peer_mac: peer's MAC; set once, see smcr_link_met()
 * @peer_qpn: peer's QP number, 0: not known; set once by smcr_link_to_rtr(),
 *	after @peer_gid, @peer_mac, @peer_psn and @mtu; read by smcr_link_met()
 * @peer_psn: peer's initial PSN; set once, see smcr_link_met()
 * @mtu: effective MTU, verbs enumeration; set once, see smcr_link_met()
 * @verbs: serializes modify and destroy of the QP; mutex, taken before @lock
 * @qp_err: the move of the QP to ERR was requested from the device; @verbs
 * @stopped: smcr_link_stop() has ended all traffic; written under @verbs, see
 *	smcr_link_silent()
 * @may_read: the device may still read what a WRITE sends, as it has neither
 *	destroyed @qp nor completed all send WRs; written under @verbs before
 *	@stopped, READ_ONCE() after smcr_link_silent()
 * @orphan: the device has failed to destroy @qp or a QP of
 *	smcr_link_probe_qp(); written under @verbs, read by the last
 *	smcr_link_put()
 * @probe_cq: completion queue of the QPs of smcr_link_probe_qp(), or NULL. They
 *	do not use @cq, as they may outlive smcr_link_stop(). The last
 *	smcr_link_put() frees @probe_cq; @verbs
 * @st: enum smcr_link_st; written by smcr_link_set_state() under @lock,
 *	READ_ONCE()
 * @down_reported: @down of struct smcr_link_ops was called, or must not be
 *	called any more; @lock
 * @why: reason of the failure; written under @lock, READ_ONCE()
 * @draining: connections cannot post on the link any more; set by
 *	smcr_link_drain(), cleared by smcr_link_stay(); written under @lock,
 *	READ_ONCE()
 * @drained: @draining is set, and what connections have sent has arrived; set
 *	by smcr_link_drain() before the connections move, cleared by
 *	smcr_link_stay(); the owner makes one such call at a time, READ_ONCE()
 * @lost_at: jiffies when the link failed, stopped or began to drain; 0: none of
 *	these; written under @lock, READ_ONCE()
 * @deleted: the peer has agreed to the deletion of the link, or the link was
 *	given up while it was being added; set once by the owner, READ_ONCE()
 * @pends: SMCR_SQ_DEPTH entries for signalled requests; immutable
 * @rx_wrs: SMCR_RQ_DEPTH receives; immutable
 * @rx_buf: buffer of @rx_wrs; immutable
 * @tx_buf: messages by WR number; NULL: messages are sent inline; immutable
 * @unsignalled_cqe: completion entry of unsignalled WRs, which complete only
 *	with an error
 * @drain_wait: smcr_link_stop() waits here until @n_pend and @n_rx are 0
 * @refs: see smcr_link_hold()
 * @n_conns: attached connections, each with a reference: smcr_link_attach()
 * @n_came: connections that have moved to this link; written by the owner,
 *	READ_ONCE()
 * @n_left: connections that have moved to other links; written by the owner,
 *	READ_ONCE()
 * @lock: BH; nests inside a connection's lock. ib_post_send() and
 *	ib_post_recv() are called with @lock held, so that @posted follows the
 *	order of the send queue, and nothing is posted in ERR
 * @posted: number of send WRs posted so far; @lock
 * @completed: number of send WRs that are known to be completed, @posted at
 *	most; @lock
 * @unsignalled: number of send WRs posted since the last signalled one; @lock
 * @pend_head: number of signalled WRs posted so far. Modulo SMCR_SQ_DEPTH it is
 *	the index in @pends for the next post; written under @lock, READ_ONCE()
 * @pend_tail: number of signalled WRs completed so far. Modulo SMCR_SQ_DEPTH it
 *	is the index in @pends of the next completion. Completion handlers, of
 *	which one runs at a time, write it under @lock; after the last handler,
 *	smcr_link_stop() writes it
 * @waiters: FIFO of connections that wait for room, by smcr_conn.tx.sq_wait;
 *	@lock
 * @turn: entry of the connection that has the turn, or NULL; @lock
 * @reclaim: buffers that a WRITE may still read: smcr_link_reclaim_buf(); @lock
 * @n_reclaim: number of buffers in @reclaim that smcr_link_reclaim_buf() has put there
 * @n_pend: signalled WRs outstanding; smcr_link_stop() waits for them
 * @last_tx: jiffies when a signalled WR last completed, or when one was last
 *	posted while no other was outstanding; racy by design
 * @tx_writes: RDMA WRITEs posted; @lock
 * @tx_bytes: bytes of the RDMA WRITEs posted; @lock
 * @tx_sends: SENDs posted; @lock
 * @rq_tail: number of receives completed so far. Modulo SMCR_RQ_DEPTH it is the
 *	index in @rx_wrs of the next completion; completion handlers only
 * @rq_missing: number of receives before @rq_tail that are not reposted yet;
 *	written by completion handlers, READ_ONCE()
 * @n_rx: receives outstanding; smcr_link_stop() waits for them
 * @last_rx: jiffies of the last message; racy by design
 * @rx_sends: messages received; written by completion handlers, READ_ONCE()
 */
struct smcr_link {
	/* read for each message, written rarely */
	struct smcr_lgr *lgr;
	struct smcr_net *sn;
	u32 lgr_id;
	u8 slot;
	u8 peer_id[8];
	struct smcr_port_id pid;
	struct ib_pd *pd;
	u32 lkey;
	struct smcr_buf_params mem;
	struct ib_cq *cq;
	struct ib_qp *qp;
	u32 qpn;
	u32 psn;
	u8 num;
	u32 user_id;
	u32 peer_user_id;
	u8 llc_form;
	u8 msg_len;
	u32 max_inline;

	u8 peer_gid[16];
	u8 peer_mac[6];
	u32 peer_qpn;
	u32 peer_psn;
	u8 mtu;

	struct mutex verbs;		/* see @verbs */
	bool qp_err;
	bool stopped;
	bool may_read;
	bool orphan;
	struct ib_cq *probe_cq;

	u8 st;
	bool down_reported;
	enum smcr_reason why;
	bool draining;
	bool drained;
	unsigned long lost_at;
	bool deleted;

	struct smcr_tx_pend *pends;
	struct smcr_rx_wr *rx_wrs;
	struct smcr_buf *rx_buf;
	struct smcr_buf *tx_buf;
	struct ib_cqe unsignalled_cqe;
	wait_queue_head_t drain_wait;

	/* written as connections come and go */
	refcount_t refs ____cacheline_aligned_in_smp;
	atomic_t n_conns;
	u32 n_came, n_left;

	/* written by senders and their completions; see @lock */
	spinlock_t lock ____cacheline_aligned_in_smp;
	u32 posted;
	u32 completed;
	u32 unsignalled;
	u32 pend_head;
	u32 pend_tail;
	struct list_head waiters;
	const struct list_head *turn;
	struct smcr_buf *reclaim;
	atomic_t n_reclaim;
	atomic_t n_pend;
	unsigned long last_tx;
	u64 tx_writes, tx_bytes, tx_sends;

	/* written as messages arrive, by completion handlers */
	u32 rq_tail ____cacheline_aligned_in_smp;
	u32 rq_missing;
	atomic_t n_rx;
	unsigned long last_rx;
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
void smcr_link_lend_buf(struct smcr_link *link, struct smcr_buf *buf);
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

/*
 * Is the peer's end known? If so, peer_gid, peer_mac, peer_qpn, peer_psn and
 * mtu are set. Any context.
 */
static inline bool smcr_link_met(const struct smcr_link *link)
{
	/*
	 * Pairs with smp_store_release() in smcr_link_to_rtr(): without the
	 * acquire, the caller could read peer_gid, peer_mac, peer_psn or mtu
	 * from before they were set.
	 */
	return smp_load_acquire(&link->peer_qpn);
}

/* True if no post of a connection is pending on the link. Any context */
static inline bool smcr_link_silent(const struct smcr_link *link)
{
	/*
	 * Pairs with smp_store_release() in smcr_link_stop(): without the
	 * acquire, the caller could read may_read from before the stop.
	 */
	return smp_load_acquire(&link->stopped) || READ_ONCE(link->drained);
}

/* May connections send over the link? Any context */
static inline bool smcr_link_carries(const struct smcr_link *link)
{
	return smcr_link_up(link) && !READ_ONCE(link->draining);
}

bool smcr_link_stuck(const struct smcr_link *link, unsigned long time);
#endif /* _SMCR_LINK_H */
