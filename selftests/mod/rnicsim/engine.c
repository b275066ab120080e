// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine: transmission of posted work requests, their execution at the
 * peer, answers and completions. The timer of a queue pair runs it, in softirq,
 * under the lock of the queue pair. The sender's engine does the receiver's
 * part, too, under both locks. Posting only queues requests and starts the
 * timer.
 */
#include <linux/log2.h>
#include <rdma/ib_addr.h>
#include "rnicsim.h"

#define RS_STEPS	64		/* in one run of a queue pair's timer */
#define RS_PSN_MASK	0xffffff
#define RS_SMC_MSG	44		/* bytes of an LLC or CDC message */
#define RS_SMC_CDC	0xfe		/* type of CDC messages */
#define RS_HEADERS	58		/* of a packet, without Ethernet */

/* Result of sending a message, or the next part of it */
enum verdict {
	V_DONE,		/* all of it has arrived */
	V_MORE,		/* part of it has arrived */
	V_LOST,		/* no answer */
	V_RNR,
	V_REQUEST,	/* NAK: invalid request */
	V_ACCESS,	/* NAK: remote access error */
	V_OP,		/* NAK: remote operational error */
	V_LOCAL,	/* the sender's own memory cannot be read or written */
	V_GONE,		/* the sender's state has changed meanwhile */
};

u8 __percpu *rs_scratch;

/* Buffer of this processor, usable as long as interrupts are off */
static u8 *scratch(void)
{
	lockdep_assert_irqs_disabled();
	return this_cpu_ptr(rs_scratch);
}

/* Time */

static ktime_t one_way(struct rs_dev *dev, ktime_t from)
{
	u32 spread = rs_get(dev, RS_K_SPREAD);

	return ktime_add_ns(from, (u64)rs_get(dev, RS_K_LATENCY) +
			    (spread ? rs_random(dev, spread + 1) : 0));
}

static u64 wire_ns(const struct rs_dev *dev, u32 len)
{
	u32 mbps = rs_get(dev, RS_K_BANDWIDTH);

	return mbps ? div_u64((u64)len * 8 * 1000, mbps) : 0;
}

/* Table 45 of the specification, in units of 10 us */
static u64 rnr_ns(u8 code)
{
	static const u16 units[32] = {
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
		384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
		16384, 24576, 32768, 49152,
	};

	return (code & 31 ? units[code & 31] : 65536) * 10 * NSEC_PER_USEC;
}

static bool wr_is_local(enum ib_wr_opcode op)
{
	return op == IB_WR_REG_MR || op == IB_WR_LOCAL_INV;
}

static bool wr_is_write(enum ib_wr_opcode op)
{
	return op == IB_WR_RDMA_WRITE || op == IB_WR_RDMA_WRITE_WITH_IMM;
}

static u32 next_part(const struct rs_qp *qp, const struct rs_swqe *w)
{
	u32 left = w->len - w->sent, part;

	if (!wr_is_write(w->op))
		return w->len;
	part = min(left, rs_get(qp->dev, RS_K_PIECE));
	/* a single part becomes two, so that tx_mid is passed between them */
	if (part == w->len && part > 1 && rs_fault_armed(qp->dev, RS_F_TX_MID))
		part /= 2;
	return part;
}

/* Set the time of the first step of the request at sq_next */
static void tx_plan(struct rs_qp *qp, ktime_t now)
{
	const struct rs_swqe *w = rs_swqe_at(qp, qp->sq_next);
	ktime_t t = w->posted;

	if (!wr_is_local(w->op))
		t = ktime_add_ns(one_way(qp->dev, t),
				 wire_ns(qp->dev, next_part(qp, w)));
	qp->tx_at = ktime_after(t, now) ? t : now;
}

static ktime_t earlier(ktime_t a, ktime_t b)
{
	return ktime_before(a, b) ? a : b;
}

static bool tx_pending(const struct rs_qp *qp)
{
	return qp->state == IB_QPS_RTS && !qp->stopped &&
	       qp->sq_next != qp->sq_head;
}

static bool outstanding(const struct rs_qp *qp)
{
	return qp->sq_tail != qp->sq_head || qp->rq_tail != qp->rq_head;
}

static ktime_t qp_next_time(const struct rs_qp *qp)
{
	ktime_t t = KTIME_MAX;

	if (qp->events)
		return 0;
	if (qp->state == IB_QPS_ERR)
		return outstanding(qp) ? qp->flush_at : t;
	if (!list_empty(&qp->bag))
		t = qp->bag_at;
	if (qp->sq_tail != qp->sq_next)
		t = earlier(t, rs_swqe_at(qp, qp->sq_tail)->ack_at);
	if (tx_pending(qp))
		t = earlier(t, qp->tx_at);
	return t;
}

/**
 * rs_qp_kick() - start the timer of a queue pair for what is due next
 * @qp: queue pair
 *
 * Context: its lock.
 */
void rs_qp_kick(struct rs_qp *qp)
{
	ktime_t t;

	lockdep_assert_held(&qp->lock);
	if (qp->dead || (rs_get(qp->dev, RS_K_PAUSED) && !qp->events))
		return;
	t = qp_next_time(qp);
	if (t != KTIME_MAX)
		hrtimer_start(&qp->timer, t, HRTIMER_MODE_ABS_SOFT);
}

/**
 * rs_kick_all() - start the timers of all queue pairs of a device
 * @dev: device
 *
 * Context: rs_lock.
 */
void rs_kick_all(struct rs_dev *dev)
{
	struct rs_qp *qp;
	unsigned long i;

	lockdep_assert_held(&rs_lock);
	xa_for_each(&dev->qps, i, qp) {
		spin_lock(&qp->lock);
		rs_qp_kick(qp);
		spin_unlock(&qp->lock);
	}
}

/* Placement */

static void piece_free(struct rs_qp *qp, struct rs_piece *piece)
{
	list_del(&piece->node);
	qp->bag_n--;
	kfree(piece);
}

static void piece_place(struct rs_qp *qp, struct rs_piece *piece)
{
	/* fails, without effect, if the region was deregistered meanwhile */
	if (rs_mr_io(qp->dev, qp->ib.pd, piece->rkey, piece->addr, piece->data,
		     piece->len, IB_ACCESS_REMOTE_WRITE))
		rs_count(qp->dev, pieces);
	piece_free(qp, piece);
}

static struct rs_piece *bag_first(struct rs_qp *qp)
{
	return list_first_entry(&qp->bag, struct rs_piece, node);
}

static void bag_place_all(struct rs_qp *qp)
{
	while (!list_empty(&qp->bag))
		piece_place(qp, bag_first(qp));
}

/* The connection has ended: any of the pieces under way may still arrive */
static void bag_end(struct rs_qp *qp, bool place)
{
	while (!list_empty(&qp->bag)) {
		if (place && rs_random(qp->dev, 2))
			piece_place(qp, bag_first(qp));
		else
			piece_free(qp, bag_first(qp));
	}
}

static void bag_plan(struct rs_qp *qp, ktime_t now)
{
	u32 most = 2 * rs_get(qp->dev, RS_K_LATENCY) + 2;

	qp->bag_at = ktime_add_ns(now, rs_random(qp->dev, most));
}

/* The piece of the bag that a new one is inserted before */
static struct list_head *bag_where(struct rs_qp *qp)
{
	struct list_head *at = &qp->bag;
	u32 n;

	if (rs_get(qp->dev, RS_K_ORDER) == RS_REVERSED)
		return qp->bag.next;
	for (n = rs_random(qp->dev, qp->bag_n + 1); n; n--)
		at = at->prev;
	return at;
}

/* Without memory for it a piece is placed at once: one of the orders */
static void bag_add(struct rs_qp *qp, u32 rkey, u64 addr, u32 len, ktime_t now)
{
	struct rs_piece *piece;

	piece = kmalloc(struct_size(piece, data, len), GFP_ATOMIC | __GFP_NOWARN);
	if (!piece) {
		rs_mr_io(qp->dev, qp->ib.pd, rkey, addr, scratch(), len,
			 IB_ACCESS_REMOTE_WRITE);
		return;
	}
	piece->rkey = rkey;
	piece->addr = addr;
	piece->len = len;
	memcpy(piece->data, scratch(), len);
	/* the length of the bag bounds the loop in bag_where() */
	if (qp->bag_n == RS_BAG_MAX)
		piece_place(qp, bag_first(qp));
	if (!qp->bag_n++)
		bag_plan(qp, now);
	list_add_tail(&piece->node, bag_where(qp));
	rs_qp_kick(qp);
}

/* State */

/**
 * rs_qp_to_err() - a queue pair goes to ERR
 * @qp: queue pair, in any state
 * @events: bits of IB_EVENT_* that are reported to its owner
 *
 * Outstanding requests are flushed later.
 *
 * Context: its lock.
 */
void rs_qp_to_err(struct rs_qp *qp, u32 events)
{
	lockdep_assert_held(&qp->lock);
	if (qp->dead || qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET)
		return;
	qp->state = IB_QPS_ERR;
	qp->events |= events;
	qp->flush_at = one_way(qp->dev, ktime_get());
	bag_end(qp, true);
	rs_qp_kick(qp);
}

/**
 * rs_rings_start() - empty the rings of a queue pair
 * @qp: queue pair, which is not in use, or under its lock
 */
void rs_rings_start(struct rs_qp *qp)
{
	WRITE_ONCE(qp->sq_free, RS_RING_START);
	qp->sq_tail = RS_RING_START;
	qp->sq_next = RS_RING_START;
	qp->sq_head = RS_RING_START;
	WRITE_ONCE(qp->rq_free, RS_RING_START);
	qp->rq_tail = RS_RING_START;
	qp->rq_head = RS_RING_START;
}

/**
 * rs_qp_reset() - a queue pair goes to RESET
 * @qp: queue pair
 *
 * Context: its lock.
 */
void rs_qp_reset(struct rs_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	qp->state = IB_QPS_RESET;
	qp->resets++;
	qp->mute = false;
	qp->stopped = false;
	qp->events = 0;
	bag_end(qp, false);
	rs_cq_clean(qp->ib.send_cq, qp);
	rs_cq_clean(qp->ib.recv_cq, qp);
	rs_rings_start(qp);
}

/* Completions */

static enum ib_wc_opcode wc_opcode(enum ib_wr_opcode op)
{
	switch (op) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

/* Add a completion, after its fault point; false if it is an error */
static bool add_cqe(struct rs_qp *qp, struct rs_cqe *cqe, enum rs_fault_pt pt,
		    struct ib_cq *cq, bool solicited)
{
	u32 arg;

	switch (rs_fault(qp->dev, pt, qp, &arg)) {
	case RS_A_FAIL:
		cqe->wc.status = arg ?: IB_WC_GENERAL_ERR;
		break;
	case RS_A_DROP:
		return true;
	case RS_A_TWICE:
		rs_cq_add(cq, cqe, solicited);
		break;
	default:
		break;
	}
	rs_cq_add(cq, cqe, solicited);
	return cqe->wc.status == IB_WC_SUCCESS;
}

/* Complete the oldest send; an error takes the queue pair to ERR */
static void sq_complete(struct rs_qp *qp, enum ib_wc_status status)
{
	const struct rs_swqe *w = rs_swqe_at(qp, qp->sq_tail);
	struct rs_cqe cqe = {
		.wc.wr_id = w->wr_id,
		.wc.status = status,
		.wc.opcode = wc_opcode(w->op),
		.wc.byte_len = w->len,
		.wc.qp = &qp->ib,
		.wc.port_num = 1,
		.qp = qp,
		.send = true,
		.done = ++qp->sq_tail,
	};

	if (qp->sq_tail - 1 == qp->sq_next)
		qp->sq_next++;
	if (status == IB_WC_WR_FLUSH_ERR) {
		rs_cq_add(qp->ib.send_cq, &cqe, false);
	} else if (status != IB_WC_SUCCESS) {
		rs_cq_add(qp->ib.send_cq, &cqe, false);
		rs_qp_to_err(qp, 0);
	} else if (qp->sig_all || (w->flags & IB_SEND_SIGNALED)) {
		if (!add_cqe(qp, &cqe, RS_F_WC_SEND, qp->ib.send_cq, false))
			rs_qp_to_err(qp, 0);
	}
}

/*
 * Complete the oldest receive; false if it is an error, which takes the queue
 * pair to ERR. @w NULL: it is flushed, in ERR
 */
static bool rq_complete(struct rs_qp *qp, const struct rs_qp *from,
			const struct rs_swqe *w, enum ib_wc_status status)
{
	const struct rs_rwqe *r = rs_rwqe_at(qp, qp->rq_tail);
	struct rs_cqe cqe = {
		.wc.wr_id = r->wr_id,
		.wc.status = status,
		.wc.opcode = IB_WC_RECV,
		.wc.qp = &qp->ib,
		.wc.port_num = 1,
		.qp = qp,
		.done = ++qp->rq_tail,
	};
	bool ok;

	if (!w) {
		rs_cq_add(qp->ib.recv_cq, &cqe, false);
		return false;
	}
	cqe.wc.byte_len = w->len;
	cqe.wc.src_qp = from->ib.qp_num;
	if (wr_is_write(w->op))
		cqe.wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
	if (w->op == IB_WR_SEND_WITH_IMM || wr_is_write(w->op)) {
		cqe.wc.wc_flags = IB_WC_WITH_IMM;
		cqe.wc.ex.imm_data = w->imm;
	} else if (w->op == IB_WR_SEND_WITH_INV) {
		cqe.wc.wc_flags = IB_WC_WITH_INVALIDATE;
		cqe.wc.ex.invalidate_rkey = w->rkey;
	}
	ok = add_cqe(qp, &cqe, RS_F_WC_RECV, qp->ib.recv_cq,
		     w->flags & IB_SEND_SOLICITED);
	if (!ok)
		rs_qp_to_err(qp, 0);
	return ok;
}

static void qp_flush(struct rs_qp *qp)
{
	while (qp->sq_tail != qp->sq_head)
		sq_complete(qp, IB_WC_WR_FLUSH_ERR);
	while (qp->rq_tail != qp->rq_head)
		rq_complete(qp, NULL, NULL, IB_WC_WR_FLUSH_ERR);
}

/* The peer */

static bool fits_wire(const struct rs_qp *qp, const struct rs_dev *dev, u32 len)
{
	u32 mtu = ib_mtu_enum_to_int(qp->attr.path_mtu);

	return min(len, mtu) + RS_HEADERS <= READ_ONCE(dev->ndev->mtu) ||
	       iboe_get_mtu(READ_ONCE(dev->ndev->mtu)) >= qp->attr.path_mtu;
}

static bool gid_leads_to(const struct rs_qp *qp, const struct rs_gid *own,
			 const struct rs_gid *gid)
{
	return gid->valid && gid->type == own->type && gid->vlan == own->vlan &&
	       !memcmp(&gid->gid, &qp->dgid, sizeof(gid->gid)) &&
	       ether_addr_equal(gid->mac, qp->dmac);
}

/* Is @qp, whose GID is @own, what @peer is connected to? */
static bool peer_knows(const struct rs_qp *peer, const struct rs_qp *qp,
		       const struct rs_gid *own)
{
	return !peer->dead && !peer->mute &&
	       (peer->state == IB_QPS_RTR || peer->state == IB_QPS_RTS) &&
	       peer->attr.dest_qp_num == qp->ib.qp_num &&
	       gid_leads_to(qp, own, &peer->dev->gids[peer->sgid_index]) &&
	       !memcmp(&peer->dgid, &own->gid, sizeof(own->gid)) &&
	       ether_addr_equal(peer->dmac, own->mac);
}

/*
 * The queue pair with the number that @qp sends to, whatever it is connected
 * to; NULL if no message gets there, or, with @delivered, if no answer gets
 * back
 */
static struct rs_qp *peer_find(const struct rs_qp *qp, u32 len, bool delivered)
{
	const struct rs_gid *own = &qp->dev->gids[qp->sgid_index];
	struct rs_dev *dev;
	u32 i;

	if (qp->mute || !own->valid || !rs_port_live(qp->dev) ||
	    !fits_wire(qp, qp->dev, len))
		return NULL;
	list_for_each_entry(dev, &rs_devs, node) {
		if (!rs_port_live(dev) || !fits_wire(qp, dev, len) ||
		    (delivered ? rs_is_cut(dev, qp->dev) :
				 rs_is_cut(qp->dev, dev)) ||
		    rs_get(dev, RS_K_FABRIC) !=
		    rs_get(qp->dev, RS_K_FABRIC))
			continue;
		for (i = 0; i < dev->gid_len; i++)
			if (gid_leads_to(qp, own, &dev->gids[i]))
				return xa_load(&dev->qps, qp->attr.dest_qp_num);
	}
	return NULL;
}

/*
 * Take the lock of the peer as well, the lower address first. False if the lock
 * of @qp was dropped for that, and @qp was destroyed, reset or left RTS
 * meanwhile; both locks are held nevertheless.
 */
static bool pair_lock(struct rs_qp *qp, struct rs_qp *peer)
{
	u32 resets = qp->resets;

	if (peer == qp || (peer < qp && spin_trylock(&peer->lock)))
		return true;
	if (peer < qp) {
		spin_unlock(&qp->lock);
		spin_lock(&peer->lock);
		spin_lock_nested(&qp->lock, SINGLE_DEPTH_NESTING);
		return !qp->dead && qp->resets == resets &&
		       qp->state == IB_QPS_RTS;
	}
	spin_lock_nested(&peer->lock, SINGLE_DEPTH_NESTING);
	return true;
}

static void pair_unlock(struct rs_qp *qp, struct rs_qp *peer)
{
	if (peer != qp)
		spin_unlock(&peer->lock);
}

/*
 * V_DONE: @peer is the queue pair that @qp is connected to, locked; V_LOST:
 * there is none; V_GONE: the state of @qp has changed, no peer is locked
 */
static enum verdict peer_of(struct rs_qp *qp, u32 len, bool delivered,
			    struct rs_qp **peer)
{
	struct rs_qp *p = peer_find(qp, len, delivered);
	enum verdict v = V_LOST;

	*peer = NULL;
	if (!p)
		return V_LOST;
	if (!pair_lock(qp, p))
		v = V_GONE;
	else if (peer_knows(p, qp, &qp->dev->gids[qp->sgid_index]))
		v = V_DONE;
	if (v == V_DONE)
		*peer = p;
	else
		pair_unlock(qp, p);
	return v;
}

/* Copy @len bytes of the message, from @off on, to scratch() */
static bool tx_read(struct rs_qp *qp, const struct rs_swqe *w, u32 off, u32 len)
{
	if (w->flags & IB_SEND_INLINE) {
		memcpy(scratch(), w->inl + off, len);
		return true;
	}
	return rs_sge_io(qp->dev, qp->ib.pd, w->sge, w->n_sge, off, scratch(),
			 len, 0);
}

static enum verdict rx_error(struct rs_qp *peer, enum ib_event_type event,
			     enum verdict v)
{
	if (v == V_ACCESS)
		rs_count(peer->dev, access_errors);
	else
		rs_count(peer->dev, request_errors);
	rs_qp_to_err(peer, BIT(event));
	return v;
}

static enum verdict rx_send_data(struct rs_qp *peer, struct rs_qp *qp,
				 const struct rs_swqe *w)
{
	const struct rs_rwqe *r = rs_rwqe_at(peer, peer->rq_tail);
	u32 off, n;

	if (w->len > rs_sge_len(r->sge, r->n_sge)) {
		rq_complete(peer, qp, w, IB_WC_LOC_LEN_ERR);
		return rx_error(peer, IB_EVENT_QP_REQ_ERR, V_REQUEST);
	}
	for (off = 0; off < w->len; off += n) {
		n = min_t(u32, w->len - off, RS_PIECE_MAX);
		if (!tx_read(qp, w, off, n))
			return V_LOCAL;
		if (w->flip > off && w->flip <= off + n)
			scratch()[w->flip - off - 1] ^= 0xff;
		if (!rs_sge_io(peer->dev, peer->ib.pd, r->sge, r->n_sge, off,
			       scratch(), n, IB_ACCESS_LOCAL_WRITE)) {
			rq_complete(peer, qp, w, IB_WC_LOC_PROT_ERR);
			return V_OP;
		}
	}
	return V_DONE;
}

/* A message that uses a receive: all that was written before is placed first */
static enum verdict rx_receive(struct rs_qp *peer, struct rs_qp *qp,
			       const struct rs_swqe *w)
{
	enum verdict v = V_DONE;

	if (rs_fault(peer->dev, RS_F_RX_SEND, peer, NULL) == RS_A_FAIL ||
	    peer->rq_tail == peer->rq_head)
		return V_RNR;
	if (peer->state == IB_QPS_ERR || peer->mute)
		return V_LOST;
	bag_place_all(peer);
	if (!wr_is_write(w->op))
		v = rx_send_data(peer, qp, w);
	if (v == V_DONE && w->op == IB_WR_SEND_WITH_INV) {
		const struct rs_swqe inv = {
			.op = IB_WR_LOCAL_INV,
			.rkey = w->rkey,
		};

		if (rs_mr_fast(peer, &inv, NULL) != IB_WC_SUCCESS)
			return rx_error(peer, IB_EVENT_QP_ACCESS_ERR, V_ACCESS);
	}
	if (v == V_DONE && !rq_complete(peer, qp, w, IB_WC_SUCCESS))
		v = V_OP;
	if (peer->state == IB_QPS_RTR)
		peer->events |= BIT(IB_EVENT_COMM_EST);
	rs_qp_kick(peer);
	return v;
}

static bool rx_allowed(struct rs_qp *peer, const struct rs_swqe *w, int access)
{
	return (peer->attr.qp_access_flags & access) &&
	       (!w->len || rs_mr_check(peer->dev, peer->ib.pd, w->rkey,
				       w->raddr, w->len, access));
}

/* The next part of a WRITE */
static enum verdict rx_write(struct rs_qp *peer, struct rs_qp *qp,
			     struct rs_swqe *w, ktime_t now)
{
	u32 n = next_part(qp, w);

	if (!rx_allowed(peer, w, IB_ACCESS_REMOTE_WRITE))
		return rx_error(peer, IB_EVENT_QP_ACCESS_ERR, V_ACCESS);
	if (!tx_read(qp, w, w->sent, n))
		return V_LOCAL;
	if (!n) {
		/* nothing to place */
	} else if (rs_get(peer->dev, RS_K_ORDER) != RS_IN_ORDER) {
		bag_add(peer, w->rkey, w->raddr + w->sent, n, now);
	} else {
		/* earlier pieces are in the bag if the knob was just changed */
		bag_place_all(peer);
		if (!rs_mr_io(peer->dev, peer->ib.pd, w->rkey,
			      w->raddr + w->sent, scratch(), n,
			      IB_ACCESS_REMOTE_WRITE))
			return V_OP;
		rs_count(peer->dev, pieces);
	}
	w->sent += n;
	if (w->sent < w->len)
		return V_MORE;
	if (w->op == IB_WR_RDMA_WRITE_WITH_IMM)
		return rx_receive(peer, qp, w);
	return V_DONE;
}

static enum verdict rx_read(struct rs_qp *peer, struct rs_qp *qp,
			    struct rs_swqe *w)
{
	u32 off, n;

	if (!peer->attr.max_dest_rd_atomic || !qp->attr.max_rd_atomic)
		return rx_error(peer, IB_EVENT_QP_REQ_ERR, V_REQUEST);
	if (!rx_allowed(peer, w, IB_ACCESS_REMOTE_READ))
		return rx_error(peer, IB_EVENT_QP_ACCESS_ERR, V_ACCESS);
	bag_place_all(peer);
	for (off = 0; off < w->len; off += n) {
		n = min_t(u32, w->len - off, RS_PIECE_MAX);
		if (!rs_mr_io(peer->dev, peer->ib.pd, w->rkey, w->raddr + off,
			      scratch(), n, IB_ACCESS_REMOTE_READ))
			return V_OP;
		if (!rs_sge_io(qp->dev, qp->ib.pd, w->sge, w->n_sge, off,
			       scratch(), n, IB_ACCESS_LOCAL_WRITE))
			return V_LOCAL;
	}
	return V_DONE;
}

/* The sender's side of a step */

static u32 n_packets(const struct rs_qp *qp, const struct rs_swqe *w)
{
	u32 mtu = ib_mtu_enum_to_int(qp->attr.path_mtu);

	return max(DIV_ROUND_UP(w->len, mtu), 1U);
}

static void tx_fail(struct rs_qp *qp, struct rs_swqe *w,
		    enum ib_wc_status status, ktime_t at)
{
	w->status = status;
	w->ack_at = at;
	qp->sq_next++;
	qp->stopped = true;
}

static void tx_lost(struct rs_qp *qp, struct rs_swqe *w, ktime_t now)
{
	if (!qp->attr.timeout) {
		qp->tx_at = KTIME_MAX;	/* waits for ever */
	} else if (!qp->retry) {
		tx_fail(qp, w, IB_WC_RETRY_EXC_ERR, now);
	} else {
		qp->retry--;
		rs_count(qp->dev, retries);
		qp->tx_at = ktime_add_ns(now, 4096ULL << qp->attr.timeout);
	}
}

static void tx_rnr(struct rs_qp *qp, const struct rs_qp *peer,
		   struct rs_swqe *w, ktime_t now)
{
	rs_count(qp->dev, rnr_naks);
	if (!qp->rnr_retry) {
		tx_fail(qp, w, IB_WC_RNR_RETRY_EXC_ERR, one_way(qp->dev, now));
		return;
	}
	if (qp->rnr_retry < 7)
		qp->rnr_retry--;
	qp->tx_at = ktime_add_ns(one_way(qp->dev, now),
				 rnr_ns(peer->attr.min_rnr_timer));
}

/* The peer has the whole message: does its acknowledgment arrive? */
static void tx_acked(struct rs_qp *qp, const struct rs_qp *peer,
		     struct rs_swqe *w, ktime_t now)
{
	if (rs_fault_lost(qp->dev, RS_F_TX_ACK, qp) || qp->mute ||
	    rs_is_cut(peer->dev, qp->dev)) {
		tx_lost(qp, w, now);
		return;
	}
	w->ack_at = one_way(qp->dev, now);
	qp->retry = qp->attr.retry_cnt;
	qp->rnr_retry = qp->attr.rnr_retry;
	qp->sq_next++;
	if (qp->sq_next != qp->sq_head)
		tx_plan(qp, now);
}

static void tx_delivered(struct rs_qp *qp, struct rs_qp *peer,
			 struct rs_swqe *w)
{
	u32 n = n_packets(qp, w);

	w->delivered = true;
	qp->sq_psn = (qp->sq_psn + n) & RS_PSN_MASK;
	peer->rq_psn = (peer->rq_psn + n) & RS_PSN_MASK;
	atomic64_add(w->len, &qp->dev->stats.bytes);
	if (wr_is_write(w->op))
		rs_count(qp->dev, writes);
	else if (w->op == IB_WR_RDMA_READ)
		rs_count(qp->dev, reads);
	else
		rs_count(qp->dev, sends);
}

static void tx_local(struct rs_qp *qp, struct rs_swqe *w, ktime_t now)
{
	u32 later = 0;
	enum ib_wc_status status = rs_mr_fast(qp, w, &later);

	rs_count(qp->dev, local_ops);
	if (status != IB_WC_SUCCESS) {
		tx_fail(qp, w, status, now);
		return;
	}
	w->ack_at = ktime_add_ms(now, later);
	qp->sq_next++;
	if (qp->sq_next != qp->sq_head)
		tx_plan(qp, now);
}

/* The fault point of a packet that leaves, and whether it leaves */
static enum verdict tx_fault(struct rs_qp *qp, const struct rs_swqe *w)
{
	enum rs_fault_pt pt = !wr_is_write(w->op) ? RS_F_TX_SEND :
			      w->sent ? RS_F_TX_MID : RS_F_TX_WRITE;

	switch (rs_fault(qp->dev, pt, qp, NULL)) {
	case RS_A_FAIL:
		qp->mute = true;
		return V_LOST;
	case RS_A_DROP:
		return V_LOST;
	default:
		break;
	}
	if (qp->state != IB_QPS_RTS)
		return V_GONE;
	return qp->mute || !rs_port_live(qp->dev) ? V_LOST : V_DONE;
}

/* The fault point of a message by its type, or RS_FAULTS_N */
static enum rs_fault_pt msg_point(u8 type, bool reply)
{
	static const struct {
		enum rs_fault_pt pt;
		const char *name;
		u8 type;
		bool reply;
	} points[] = {
#define X(id, name, type, reply) { RS_F_##id, #name, type, reply },
		RS_MSGS(X)
#undef X
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		if (points[i].type != type || points[i].reply != reply)
			continue;
		pr_debug("%s\n", points[i].name);
		return points[i].pt;
	}
	return RS_FAULTS_N;
}

/*
 * The fault points of a message that leaves for the first time. Returns when it
 * leaves: @now, or the end of a delay.
 */
static ktime_t msg_fault(struct rs_qp *qp, struct rs_swqe *w, ktime_t now)
{
	const u8 *msg = scratch();
	enum rs_fault_pt pt;
	enum rs_action action;
	u32 arg;

	if (w->op != IB_WR_SEND || w->len != RS_SMC_MSG || !tx_read(qp, w, 0, RS_SMC_MSG))
		return now;
	pt = msg_point(msg[0], msg[0] != RS_SMC_CDC && msg[3] & 0x80);
	action = rs_fault(qp->dev, RS_F_MSG_ANY, qp, &arg);
	if (pt != RS_FAULTS_N && action == RS_A_NONE)
		action = rs_fault(qp->dev, pt, qp, &arg);
	switch (action) {
	case RS_A_FAIL:
		qp->mute = true;
		break;
	case RS_A_DROP:
		w->vanishes = true;
		break;
	case RS_A_TWICE:
		w->twice = true;
		break;
	case RS_A_CORRUPT:
		w->flip = arg % RS_SMC_MSG + 1;
		break;
	case RS_A_DELAY:
		return ktime_add_ms(now, arg);
	default:
		break;
	}
	return now;
}

static enum verdict tx_message(struct rs_qp *qp, struct rs_qp *peer,
			       struct rs_swqe *w, ktime_t now)
{
	enum verdict v;

	if (w->psn != peer->rq_psn)
		return V_LOST;
	if (w->len > ib_mtu_enum_to_int(peer->attr.path_mtu) &&
	    qp->attr.path_mtu > peer->attr.path_mtu)
		return rx_error(peer, IB_EVENT_QP_REQ_ERR, V_REQUEST);
	if (wr_is_write(w->op)) {
		/* all of it is placed, only a receive was missing */
		if (w->op == IB_WR_RDMA_WRITE_WITH_IMM && w->len &&
		    w->sent == w->len)
			return rx_receive(peer, qp, w);
		return rx_write(peer, qp, w, now);
	}
	if (w->op == IB_WR_RDMA_READ)
		return rx_read(peer, qp, w);
	if (w->vanishes)
		return V_DONE;
	v = rx_receive(peer, qp, w);
	/* the second one needs a receive, too, and may find none */
	if (v == V_DONE && w->twice)
		rx_receive(peer, qp, w);
	return v;
}

/* One step of the request at sq_next */
static void tx_step(struct rs_qp *qp, ktime_t now)
{
	struct rs_swqe *w = rs_swqe_at(qp, qp->sq_next);
	struct rs_qp *peer = NULL;
	enum verdict v;

	if (wr_is_local(w->op)) {
		tx_local(qp, w, now);
		return;
	}
	if (!w->begun) {
		w->begun = true;
		w->psn = qp->sq_psn;
		qp->tx_at = msg_fault(qp, w, now);
		if (qp->state != IB_QPS_RTS || ktime_after(qp->tx_at, now))
			return;
	}
	v = w->delivered ? V_DONE : tx_fault(qp, w);
	if (v == V_GONE)
		return;
	if (v == V_DONE)
		v = peer_of(qp, w->len, w->delivered, &peer);
	if (v == V_GONE)
		return;
	if (peer && !w->delivered)
		v = tx_message(qp, peer, w, now);
	switch (v) {
	case V_DONE:
		if (!w->delivered)
			tx_delivered(qp, peer, w);
		tx_acked(qp, peer, w, now);
		break;
	case V_MORE:
		qp->tx_at = ktime_add_ns(now, wire_ns(qp->dev,
						      next_part(qp, w)));
		break;
	case V_RNR:
		tx_rnr(qp, peer, w, now);
		break;
	case V_LOCAL:
		tx_fail(qp, w, IB_WC_LOC_PROT_ERR, now);
		break;
	case V_REQUEST:
		tx_fail(qp, w, IB_WC_REM_INV_REQ_ERR, one_way(qp->dev, now));
		break;
	case V_ACCESS:
		tx_fail(qp, w, IB_WC_REM_ACCESS_ERR, one_way(qp->dev, now));
		break;
	case V_OP:
		rs_qp_to_err(peer, 0);
		tx_fail(qp, w, IB_WC_REM_OP_ERR, one_way(qp->dev, now));
		break;
	default:
		tx_lost(qp, w, now);
		break;
	}
	if (peer)
		pair_unlock(qp, peer);
}

/* Do one thing that is due; false if nothing more is due */
static bool qp_step(struct rs_qp *qp, ktime_t now)
{
	const struct rs_swqe *w;

	if (qp->dead || ktime_after(qp_next_time(qp), now))
		return false;
	if (qp->state == IB_QPS_ERR) {
		qp_flush(qp);
		return false;
	}
	if (!list_empty(&qp->bag) && !ktime_after(qp->bag_at, now)) {
		piece_place(qp, bag_first(qp));
		bag_plan(qp, now);
		return true;
	}
	w = rs_swqe_at(qp, qp->sq_tail);
	if (qp->sq_tail != qp->sq_next && !ktime_after(w->ack_at, now)) {
		sq_complete(qp, w->status);
		return true;
	}
	if (!tx_pending(qp) || ktime_after(qp->tx_at, now))
		return false;
	tx_step(qp, now);
	return true;
}

static void qp_tell(struct rs_qp *qp, u32 events)
{
	struct ib_event ev = {
		.device = qp->ib.device,
		.element.qp = &qp->ib,
	};

	for (; events; events &= events - 1) {
		ev.event = ilog2(events & -events);
		if (qp->ib.event_handler)
			qp->ib.event_handler(&ev, qp->ib.qp_context);
	}
}

enum hrtimer_restart rs_qp_timer(struct hrtimer *timer)
{
	struct rs_qp *qp = container_of(timer, struct rs_qp, timer);
	ktime_t now = ktime_get();
	unsigned long flags;
	u32 events;
	int i;

	flags = rs_begin();
	spin_lock(&qp->lock);
	events = qp->events;
	qp->events = 0;
	for (i = 0; i < RS_STEPS && !rs_get(qp->dev, RS_K_PAUSED); i++)
		if (!qp_step(qp, now))
			break;
	spin_unlock(&qp->lock);
	/* a DEVICE_FATAL, before the timer is started: it changes the state */
	rs_settle();
	spin_lock(&qp->lock);
	rs_qp_kick(qp);
	spin_unlock(&qp->lock);
	rs_end(flags);

	qp_tell(qp, events);
	return HRTIMER_NORESTART;
}

/* Posting */

/* In ERR a new request does not delay the flush of earlier ones */
static void flush_plan(struct rs_qp *qp, ktime_t now)
{
	if (qp->state == IB_QPS_ERR && !outstanding(qp))
		qp->flush_at = one_way(qp->dev, now);
}

static int swqe_fill_data(struct rs_qp *qp, struct rs_swqe *w,
			  const struct ib_send_wr *wr)
{
	u64 len = rs_sge_len(wr->sg_list, wr->num_sge);
	u32 off = 0;
	int i;

	if (len > RS_MAX_MSG)
		return -EINVAL;
	w->len = len;
	if (!(wr->send_flags & IB_SEND_INLINE)) {
		w->n_sge = wr->num_sge;
		memcpy(w->sge, wr->sg_list, wr->num_sge * sizeof(*w->sge));
		return 0;
	}
	/* the addresses of a user space program are not valid here */
	if (len > qp->cap.max_inline_data || qp->ib.uobject ||
	    wr->opcode == IB_WR_RDMA_READ)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		memcpy(w->inl + off, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		off += wr->sg_list[i].length;
	}
	return 0;
}

static int swqe_fill_op(struct rs_swqe *w, const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
		return 0;
	case IB_WR_SEND_WITH_IMM:
		w->imm = wr->ex.imm_data;
		return 0;
	case IB_WR_SEND_WITH_INV:
		w->rkey = wr->ex.invalidate_rkey;
		return 0;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		w->imm = wr->ex.imm_data;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
		w->raddr = rdma_wr(wr)->remote_addr;
		w->rkey = rdma_wr(wr)->rkey;
		return 0;
	case IB_WR_LOCAL_INV:
		w->rkey = wr->ex.invalidate_rkey;
		return wr->num_sge ? -EINVAL : 0;
	case IB_WR_REG_MR:
		w->rkey = reg_wr(wr)->key;
		w->access = reg_wr(wr)->access;
		w->iova = reg_wr(wr)->mr->iova;
		w->length = reg_wr(wr)->mr->length;
		w->page_size = reg_wr(wr)->mr->page_size;
		return wr->num_sge ? -EINVAL : 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int post_send_one(struct rs_qp *qp, const struct ib_send_wr *wr,
			 ktime_t now)
{
	struct rs_swqe *w = rs_swqe_at(qp, qp->sq_head);
	struct ib_sge *sge = w->sge;
	u8 *inl = w->inl;
	int rc;

	memset(w, 0, sizeof(*w));
	w->sge = sge;
	w->inl = inl;
	w->wr_id = wr->wr_id;
	w->op = wr->opcode;
	w->flags = wr->send_flags;
	w->posted = now;
	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_send_sge)
		return -EINVAL;
	rc = swqe_fill_op(w, wr);
	if (!rc)
		rc = swqe_fill_data(qp, w, wr);
	if (rc)
		return rc;
	if (qp->sq_next == qp->sq_head++)
		tx_plan(qp, now);
	return 0;
}

/* An entry is free again when its completion or a later one was polled */
static int post_send_ok(struct rs_qp *qp)
{
	u32 arg;

	if (rs_fault(qp->dev, RS_F_POST_SEND, qp, &arg) == RS_A_FAIL)
		return arg ? -(int)arg : -ENOMEM;
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR)
		return -EINVAL;
	/* with smp_store_release() in rs_poll_cq() */
	return qp->sq_head - smp_load_acquire(&qp->sq_free) <
	       qp->cap.max_send_wr ? 0 : -ENOMEM;
}

int rs_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad)
{
	struct rs_qp *qp = to_rs_qp(ibqp);
	ktime_t now = ktime_get();
	unsigned long flags;
	int rc = 0;

	flags = rs_begin();
	spin_lock(&qp->lock);
	flush_plan(qp, now);
	for (; wr; wr = wr->next) {
		rc = post_send_ok(qp);
		if (!rc)
			rc = post_send_one(qp, wr, now);
		if (rc)
			break;
	}
	rs_qp_kick(qp);
	spin_unlock(&qp->lock);
	rs_end(flags);
	if (rc)
		*bad = wr;
	return rc;
}

static int post_recv_one(struct rs_qp *qp, const struct ib_recv_wr *wr)
{
	struct rs_rwqe *r;
	u32 arg;

	if (rs_fault(qp->dev, RS_F_POST_RECV, qp, &arg) == RS_A_FAIL)
		return arg ? -(int)arg : -ENOMEM;
	if (qp->state == IB_QPS_RESET || wr->num_sge < 0 ||
	    wr->num_sge > qp->cap.max_recv_sge)
		return -EINVAL;
	/* with smp_store_release() in rs_poll_cq() */
	if (qp->rq_head - smp_load_acquire(&qp->rq_free) >=
	    qp->cap.max_recv_wr)
		return -ENOMEM;
	r = rs_rwqe_at(qp, qp->rq_head++);
	r->wr_id = wr->wr_id;
	r->n_sge = wr->num_sge;
	memcpy(r->sge, wr->sg_list, wr->num_sge * sizeof(*r->sge));
	return 0;
}

int rs_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		 const struct ib_recv_wr **bad)
{
	struct rs_qp *qp = to_rs_qp(ibqp);
	unsigned long flags;
	int rc = 0;

	flags = rs_begin();
	spin_lock(&qp->lock);
	flush_plan(qp, ktime_get());
	for (; wr; wr = wr->next) {
		rc = post_recv_one(qp, wr);
		if (rc)
			break;
	}
	rs_qp_kick(qp);
	spin_unlock(&qp->lock);
	rs_end(flags);
	if (rc)
		*bad = wr;
	return rc;
}
