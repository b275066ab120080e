// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters, the wire between them, and buffers with their DMA addresses. A
 * request is posted, arrives packet by packet, is acknowledged, and completes,
 * in separate steps, and the link may fail between any two of them. The memory
 * of a request is read when a packet arrives, not when the request is posted.
 */
#include "rdma/link_impl.h"
#include "shell.h"

enum { WRS = 64, PACKET = 16, MSG = 64, MRS = 64, BIG_SHIFT = 13, SMALL_SHIFT = 5 };

struct wr {
	enum ib_wr_opcode opcode;
	struct ib_cqe *cqe;
	bool signaled;
	struct ib_sge sge[SMCR_MAX_SGE];
	int n_sge;
	u32 len, done;
	u8 msg[MSG];			/* of inline data */
	bool inlined;
	u64 remote;
	u32 rkey;
	const struct pair *pair;	/* connection of the data */
};

/* A packet that a switch delays, with the data as they were when it was sent */
struct held {
	struct wr wr;
	u32 len;
	u8 data[PACKET];
};

struct ib_qp {
	struct ib_qp *next, *peer;
	struct smcr_link *link;
	struct ib_cq *cq;
	enum { QP_INIT, QP_RTS, QP_ERR, QP_GONE } st;
	bool broken;			/* nothing that it sends arrives */
	bool mute;			/* its device does not flush */
	bool kept;			/* its device does not destroy it either */
	bool drained;			/* a WRITE of no bytes was posted, the last post */
	bool watched;			/* a retry timer runs */
	u32 progress, watched_at;
	u32 head, sent, acked;
	struct wr wr[WRS];
	struct held held;
	struct ib_recv_wr rq[WRS * 2];
	u32 rq_head, rq_tail;
};

struct chunk {
	struct smcr_buf *buf;
	const struct pair *pair;
	void *block;
};

static struct {
	u32 rkey;
	u64 iova;
	int host, d;
	struct smcr_buf *buf;
} mrs[MRS];

struct ib_cq *all_cqs;
static int n_mrs;
static struct ib_qp *all_qps;
static const struct smcr_buf *refused;	/* the buffer whose last map failed */
static struct {
	struct ib_qp *qp;
	bool ack;
} ready[64];

/* Buffers */
static struct chunk *chunk_of(const struct smcr_buf *buf, const void *at)
{
	uintptr_t size = (uintptr_t)1 << buf->chunk_shift;

	return (struct chunk *)((uintptr_t)at & ~(2 * size - 1));
}

struct smcr_buf *smcr_buf_alloc(const struct smcr_buf_params *who, u32 size,
				enum dma_data_direction dir)
{
	struct smcr_sock *ssk = task_sock();
	int shift = ssk ? SMALL_SHIFT : BIG_SHIFT;
	u32 n = DIV_ROUND_UP(size, 1U << shift), i;
	uintptr_t at, step = (uintptr_t)2 << shift;
	struct smcr_buf *buf;
	struct chunk *c;
	u8 *block;

	might_sleep();
	buf = kmem(struct_size(buf, chunk, n), __func__);
	block = kmem((n + 1) * step, __func__);
	at = ((uintptr_t)block + step - 1) & ~(step - 1);
	buf->sn = who->sn;
	buf->dir = dir;
	buf->size = size;
	buf->chunk_shift = shift;
	buf->n_chunks = n;
	refcount_set(&buf->refs, 1);
	for (i = 0; i < n; i++, at += step) {
		c = (struct chunk *)at;
		c->buf = buf;
		c->pair = ssk ? pair_of(ssk) : NULL;
		c->block = block;
		buf->chunk[i] = (u8 *)at + step / 2;
	}
	while (smcr_buf_map(buf, who->d, who->ibdev))
		;
	return buf;
}

static void buf_put(struct smcr_buf *buf)
{
	if (refused == buf)
		refused = NULL;
	if (!refcount_dec_and_test(&buf->refs))
		return;
	kfree(chunk_of(buf, buf->chunk[0])->block);
	kfree(buf);
}

void smcr_buf_free(struct smcr_buf *buf)
{
	int d;

	if (!buf)
		return;
	for (d = 0; d < SMCR_DEVS_MAX; d++)
		smcr_buf_unmap(buf, d);
	buf_put(buf);
}

int smcr_buf_map(struct smcr_buf *buf, u8 d, struct ib_device *ibdev)
{
	struct smcr_buf_map *map;
	u32 i;

	might_sleep();
	if (buf->map[d])
		return 0;
	/* a send buffer, whether there is another link or not */
	if (w.no_mem && buf->chunk_shift == SMALL_SHIFT && chance(w.no_mem))
		return -ENOMEM;
	/* not twice in a row, and only if there is another link */
	if (w.short_mem && !refused && group_carries(buf->sn) > 2 && chance(3)) {
		refused = buf;
		return -ENOMEM;
	}
	if (refused == buf)
		refused = NULL;
	map = kmem(struct_size(map, dma, buf->n_chunks), __func__);
	map->ibdev = ibdev;
	map->buf = buf;
	for (i = 0; i < buf->n_chunks; i++)
		map->dma[i] = (u64)(uintptr_t)buf->chunk[i] | (u64)(d + 1) << 56;
	point();
	buf->n_map = max_t(u8, buf->n_map, d + 1);
	buf->map[d] = map;
	point();
	return 0;
}

/* The memory at a DMA address of device @d */
static u8 *dma_at(u64 addr, int d)
{
	if ((int)(addr >> 56) != d + 1)
		bad("an address of device %d on device %d", (int)(addr >> 56) - 1, d);
	return (u8 *)(uintptr_t)(addr & ~(0xffULL << 56));
}

/* The header of a chunk, which is small, of a send buffer */
static struct chunk *small_chunk(const u8 *at)
{
	return (struct chunk *)((uintptr_t)at & ~(((uintptr_t)2 << SMALL_SHIFT) - 1));
}

/* Does a queue pair that was not destroyed send again from a buffer? */
static void kept_check(const struct smcr_buf *buf, u8 d)
{
	const struct ib_qp *qp;
	const struct wr *wr;
	u32 at;
	int i;

	for (qp = all_qps; qp; qp = qp->next) {
		if (!qp->kept || qp->link->mem.d != d || qp->link->sn != buf->sn)
			continue;
		for (at = qp->acked; at != qp->head; at++) {
			wr = &qp->wr[at % WRS];
			for (i = 0; wr->pair && i < wr->n_sge; i++)
				if (small_chunk(dma_at(wr->sge[i].addr, d))->buf == buf)
					bad("the device may still read from a buffer that is unmapped");
		}
	}
}

void smcr_buf_unmap(struct smcr_buf *buf, u8 d)
{
	struct smcr_buf_map *map = buf ? buf->map[d] : NULL;

	if (!map)
		return;
	kept_check(buf, d);
	buf->map[d] = NULL;
	point();
	kfree(map);
}

void smcr_buf_pin(struct smcr_buf *buf, u32 off, u32 len)
{
	refcount_inc(&buf->refs);
}

void smcr_buf_unpin(struct smcr_buf *buf, u32 off, u32 len)
{
	buf_put(buf);
}

void smcr_buf_sync_cpu(const struct smcr_buf *buf, u8 d, u32 off, u32 len)
{
	point();
}

void smcr_buf_sync_dev(const struct smcr_buf *buf, u32 off, u32 len)
{
	point();
}

void smcr_buf_zero(struct smcr_buf *buf, u32 off, u32 len)
{
	u32 at, run;
	void *p;

	for (at = off; at < off + len; at += run) {
		p = smcr_buf_at(buf, at, off + len - at, &run);
		memset(p, 0, run);
		point();
	}
}

int smcr_buf_sges(const struct smcr_buf *buf, u8 d, u32 lkey, u32 off, u32 len,
		  struct ib_sge *sge, int max)
{
	const struct smcr_buf_map *map = buf->map[d];
	u32 in, run;
	int n = 0;

	if (!map)
		bad("a buffer that is not mapped for the device of its link");
	for (; len; off += run, len -= run) {
		in = off & ((1U << buf->chunk_shift) - 1);
		run = min(len, (1U << buf->chunk_shift) - in);
		if (n == max)
			bad("more pieces than a request takes");
		sge[n].addr = map->dma[off >> buf->chunk_shift] + in;
		sge[n].length = run;
		sge[n++].lkey = lkey;
	}
	return n;
}

/* Completion queues */
static void cq_add(struct ib_cq *cq, struct ib_cqe *cqe, enum ib_wc_status st,
		   enum ib_wc_opcode opcode, u32 len)
{
	if (!cq)
		return;
	if (cq->n == cq->room)
		bad("a completion queue is full");
	if (!cq->n)
		cq->not_before = jiffies + (w.late_cq && chance(w.late_cq) ? pick(700) : 0);
	cq->wc[cq->n++] = (struct ib_wc){ cqe, st, opcode, len };
}

/* Until no handler runs but for those that request the next interrupt */
void irq_poll_disable(struct irq_poll *iop)
{
	struct ib_cq *cq = container_of(iop, struct ib_cq, iop);

	might_sleep();
	while (cq->poller)
		wait_seq(&cq->seq, cq->seq, jiffies + 1000, "a handler of completions");
	iop->state = BIT(IRQ_POLL_F_SCHED);
}

void irq_poll_enable(struct irq_poll *iop)
{
	clear_bit(IRQ_POLL_F_SCHED, &iop->state);
}

void ib_free_cq(struct ib_cq *cq)
{
	struct ib_cq **at;
	struct ib_qp *qp;

	irq_poll_disable(&cq->iop);
	if (cq->arming)
		bad("a completion queue is freed while its handler requests an interrupt");
	for (at = &all_cqs; *at != cq; at = &(*at)->next)
		;
	*at = cq->next;
	for (qp = all_qps; qp; qp = qp->next)
		if (qp->cq == cq)
			qp->cq = NULL;
	kfree(cq->wc);
	kfree(cq);
}

/* Queue pairs */
static bool qp_stuck(const struct ib_qp *qp)
{
	return qp->st == QP_RTS && qp->acked != qp->head &&
	       (qp->broken || !qp->peer || qp->peer->st != QP_RTS || qp->peer->broken);
}

static void qp_retried(void *arg, int n);

/* Start the retry timer of a stuck queue pair; progress restarts it */
static void qp_watch(struct ib_qp *qp)
{
	if (!qp || qp->watched || !qp_stuck(qp))
		return;
	qp->watched = true;
	qp->watched_at = qp->progress;
	later(100 + pick(1200), qp_retried, qp, 0);
}

static const u8 *wr_from(const struct ib_qp *qp, const struct wr *wr, u32 off, u32 *run);
static u8 *wr_to(const struct ib_qp *qp, const struct wr *wr, u32 off, u32 len, u32 *run);

/* The packet arrives late, if the peer's queue pair still takes it */
static void held_arrives(void *arg, int n)
{
	struct ib_qp *qp = arg;
	u32 run;
	u8 *to;

	if (!qp->peer || qp->peer->st != QP_RTS)
		return;
	to = wr_to(qp, &qp->held.wr, qp->held.wr.done, qp->held.len, &run);
	tell("link %u: %u bytes come late", qp->link->num, min(run, qp->held.len));
	memcpy(to, qp->held.data, min(run, qp->held.len));
	w.held_came++;
}

/* A packet on its way may arrive after its sender's queue pair has failed */
static void hold_packet(struct ib_qp *qp)
{
	const struct wr *wr = &qp->wr[qp->sent % WRS];
	const u8 *from;
	u32 run;

	if (!w.held || qp->sent == qp->head || wr->opcode != IB_WR_RDMA_WRITE || !wr->len ||
	    !chance(w.held))
		return;
	from = wr_from(qp, wr, wr->done, &run);
	qp->held.wr = *wr;
	qp->held.len = min_t(u32, PACKET, run);
	memcpy(qp->held.data, from, qp->held.len);
	later(pick(chance(2) ? 900 : 60), held_arrives, qp, 0);
}

static void qp_end(struct ib_qp *qp, enum ib_wc_status first)
{
	enum ib_wc_status st = first;
	struct wr *wr;

	if (qp->st >= QP_ERR)
		return;
	if (qp->st == QP_RTS)
		hold_packet(qp);
	qp->st = QP_ERR;
	qp_watch(qp->peer);
	if (qp->mute)
		return;
	for (; qp->acked != qp->head; qp->acked++) {
		wr = &qp->wr[qp->acked % WRS];
		cq_add(qp->cq, wr->cqe, st, IB_WC_SEND, 0);
		st = IB_WC_WR_FLUSH_ERR;
	}
	qp->sent = qp->head;
	for (; qp->rq_tail != qp->rq_head; qp->rq_tail++)
		cq_add(qp->cq, qp->rq[qp->rq_tail % ARRAY_SIZE(qp->rq)].wr_cqe,
		       IB_WC_WR_FLUSH_ERR, IB_WC_RECV, 0);
}

static void qp_retried(void *arg, int n)
{
	struct ib_qp *qp = arg;

	qp->watched = false;
	if (!qp_stuck(qp))
		return;
	if (qp->progress != qp->watched_at) {
		qp_watch(qp);
		return;
	}
	tell("queue pair of link %u gives up", qp->link->num);
	qp_end(qp, IB_WC_RETRY_EXC_ERR);
}

void rdma_connect(struct ib_qp *a, struct ib_qp *b)
{
	a->peer = b;
	b->peer = a;
	a->st = QP_RTS;
	b->st = QP_RTS;
}

void rdma_break(struct ib_qp *qp)
{
	qp->broken = true;
	qp_watch(qp);
	qp_watch(qp->peer);
}

bool rdma_broken(const struct ib_qp *qp)
{
	return qp->st != QP_RTS || qp->broken || qp->peer->st != QP_RTS || qp->peer->broken;
}

void rdma_stay(struct ib_qp *qp)
{
	qp->drained = false;
}

void rdma_fail(struct ib_qp *qp)
{
	qp->mute = chance(w.keeps ? 2 : 8);
	qp_end(qp, IB_WC_RETRY_EXC_ERR);
}

int smcr_link_create_qp(struct smcr_link *link)
{
	struct ib_cq *cq = kmem(sizeof(*cq), __func__);
	struct ib_qp *qp = kmem(sizeof(*qp), __func__);

	cq->cq_context = link;
	cq->room = WRS * 4;
	cq->wc = kmem(cq->room * sizeof(*cq->wc), __func__);
	cq->next = all_cqs;
	all_cqs = cq;
	link->cq = cq;
	qp->link = link;
	qp->cq = cq;
	qp->next = all_qps;
	all_qps = qp;
	link->qp = qp;
	link->max_inline = chance(2) ? 64 : 0;
	return 0;
}

int smcr_link_to_init(struct smcr_link *link)
{
	return smcr_link_advance(link, SMCR_LINK_ST_INIT);
}

void smcr_link_modify_err(struct smcr_link *link)
{
	lockdep_assert_held(&link->verbs);
	spin_lock_bh(&link->lock);
	smcr_link_set_state(link, SMCR_LINK_ST_ERR, SMCR_R_NONE);
	link->down_reported = true;
	spin_unlock_bh(&link->lock);

	if (link->qp_err || !link->qp)
		return;
	link->qp_err = true;
	qp_end(link->qp, IB_WC_WR_FLUSH_ERR);
}

void smcr_link_keep(struct smcr_link *link, struct ib_qp *qp)
{
	lockdep_assert_held(&link->verbs);
	link->orphan = true;
}

int ib_destroy_qp(struct ib_qp *qp)
{
	point();
	if (qp->mute && w.keeps) {
		qp->kept = true;
		return -EBUSY;
	}
	qp->st = QP_GONE;
	qp->cq = NULL;
	qp_watch(qp->peer);
	return 0;
}

static void wr_fill(struct ib_qp *qp, struct wr *wr, const struct ib_send_wr *from)
{
	int i;

	memset(wr, 0, offsetof(struct wr, sge));
	wr->opcode = from->opcode;
	wr->cqe = from->wr_cqe;
	wr->signaled = from->send_flags & IB_SEND_SIGNALED;
	wr->n_sge = from->num_sge;
	wr->len = 0;
	wr->done = 0;
	wr->pair = NULL;
	wr->inlined = from->send_flags & IB_SEND_INLINE;
	for (i = 0; i < wr->n_sge; i++) {
		wr->sge[i] = from->sg_list[i];
		wr->len += wr->sge[i].length;
	}
	if (wr->inlined)
		memcpy(wr->msg, (void *)(uintptr_t)wr->sge[0].addr, wr->len);
	if (wr->opcode != IB_WR_RDMA_WRITE || !wr->len)
		return;
	wr->remote = container_of(from, struct ib_rdma_wr, wr)->remote_addr;
	wr->rkey = container_of(from, struct ib_rdma_wr, wr)->rkey;
	wr->pair = small_chunk(dma_at(wr->sge[0].addr, qp->link->mem.d))->pair;
}

int ib_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad_wr)
{
	u32 posts = task_posts();

	lockdep_assert_held(&qp->link->lock);
	/* SMCR_TX_TURN, and some posts without data */
	w.most_posts = max(w.most_posts, posts);
	if (posts > 20)
		bad("%u posts by one smcr_tx_push()", posts);
	for (; wr; wr = wr->next) {
		if (qp->st == QP_GONE)
			bad("a post on a queue pair that is gone");
		if (qp->head - qp->acked >= WRS)
			bad("a send queue is full");
		if (qp->drained)
			bad("a connection sends over a link that it has to leave");
		qp->drained = wr->opcode == IB_WR_RDMA_WRITE && !wr->num_sge && qp->link->draining;
		wr_fill(qp, &qp->wr[qp->head % WRS], wr);
		if (qp->st == QP_ERR) {
			qp->head++;
			if (!qp->mute) {
				cq_add(qp->cq, wr->wr_cqe, IB_WC_WR_FLUSH_ERR, IB_WC_SEND, 0);
				qp->acked = qp->sent = qp->head;
			}
			continue;
		}
		qp->head++;
	}
	qp_watch(qp);
	return 0;
}

int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		 const struct ib_recv_wr **bad_wr)
{
	for (; wr; wr = wr->next) {
		if (qp->st == QP_ERR && !qp->mute) {
			cq_add(qp->cq, wr->wr_cqe, IB_WC_WR_FLUSH_ERR, IB_WC_RECV, 0);
			continue;
		}
		if (qp->rq_head - qp->rq_tail >= ARRAY_SIZE(qp->rq))
			bad("a receive queue is full");
		qp->rq[qp->rq_head++ % ARRAY_SIZE(qp->rq)] = *wr;
	}
	return 0;
}

/* The wire */
static bool may_arrive(const struct ib_qp *qp)
{
	const struct wr *wr = &qp->wr[qp->sent % WRS];

	return qp->st == QP_RTS && !qp->broken && qp->sent != qp->head && qp->peer &&
	       qp->peer->st == QP_RTS &&
	       (wr->opcode != IB_WR_SEND || qp->peer->rq_tail != qp->peer->rq_head);
}

static bool may_ack(const struct ib_qp *qp)
{
	return qp->st == QP_RTS && qp->acked != qp->sent && !qp->broken &&
	       !qp->peer->broken;
}

unsigned int rdma_ready(void)
{
	struct ib_qp *qp;
	unsigned int n = 0;

	for (qp = all_qps; qp && n < ARRAY_SIZE(ready) - 1; qp = qp->next) {
		if (may_arrive(qp)) {
			ready[n].qp = qp;
			ready[n++].ack = false;
		}
		if (may_ack(qp)) {
			ready[n].qp = qp;
			ready[n++].ack = true;
		}
	}
	return n;
}

/* Source of byte @off of a request, and how many follow it there */
static const u8 *wr_from(const struct ib_qp *qp, const struct wr *wr, u32 off, u32 *run)
{
	int d = qp->link->mem.d, i;
	const u8 *at;

	if (wr->inlined) {
		*run = wr->len - off;
		return wr->msg + off;
	}
	for (i = 0; off >= wr->sge[i].length; i++)
		off -= wr->sge[i].length;
	*run = wr->sge[i].length - off;
	at = dma_at(wr->sge[i].addr, d);
	if (wr->pair && !small_chunk(at)->buf->map[d])
		bad("link %u reads from a buffer that is not mapped for it", qp->link->num);
	return at + off;
}

static u8 *wr_to(const struct ib_qp *qp, const struct wr *wr, u32 off, u32 len, u32 *run)
{
	struct elem_state *e;
	int i;
	u64 to = wr->remote + off;
	u8 *at;

	for (i = 0; i < n_mrs && mrs[i].rkey != wr->rkey; i++)
		;
	if (i == n_mrs)
		bad("link %u: an RKey that nothing has", qp->link->num);
	if (mrs[i].d != qp->peer->link->mem.d)
		bad("link %u: an RKey of another device", qp->link->num);
	if (to < mrs[i].iova || to + len > mrs[i].iova + mrs[i].buf->size)
		bad("link %u: a write beyond the RMB", qp->link->num);
	to -= mrs[i].iova;
	if (to % w.elem_size < w.base)
		bad("link %u: a write to the eye catcher", qp->link->num);
	at = smcr_buf_at(mrs[i].buf, to, len, run);
	*run = min_t(u32, *run, w.elem_size - to % w.elem_size);
	e = &w.host[mrs[i].host].elem[to / w.elem_size];
	if (e->st == ELEM_FREE)
		bad("link %u: a write into element %d, which is free", qp->link->num,
		    (int)(to / w.elem_size));
	if (e->st == ELEM_BUSY && pair_of(e->owner) != wr->pair)
		bad("link %u: a write into element %d, which is another connection's",
		    qp->link->num, (int)(to / w.elem_size));
	return at;
}

static void arrive_write(struct ib_qp *qp, struct wr *wr)
{
	u32 n = min_t(u32, wr->len - wr->done, PACKET * (1 + pick(3))), run, room;
	const u8 *from;
	u8 *to;

	while (n) {
		from = wr_from(qp, wr, wr->done, &run);
		run = min(run, n);
		to = wr_to(qp, wr, wr->done, run, &room);
		run = min(run, room);
		memcpy(to, from, run);
		wr->done += run;
		n -= run;
	}
}

static void arrive_send(struct ib_qp *qp, struct wr *wr)
{
	struct ib_qp *peer = qp->peer;
	struct ib_recv_wr *r = &peer->rq[peer->rq_tail++ % ARRAY_SIZE(peer->rq)];
	u8 *to = dma_at(r->sg_list[0].addr, peer->link->mem.d);
	enum smcr_reason why;
	struct smcr_cdc cdc;
	u32 run;

	memcpy(to, wr_from(qp, wr, 0, &run), wr->len);
	wr->done = wr->len;
	if (!smcr_cdc_decode(to, wr->len, &cdc, &why))
		apps_came(cdc.token, qp, cdc.pflags, cdc.cflags);
	cq_add(peer->cq, r->wr_cqe, IB_WC_SUCCESS, IB_WC_RECV, wr->len);
}

static void arrive(struct ib_qp *qp)
{
	struct wr *wr = &qp->wr[qp->sent % WRS];

	if (wr->opcode == IB_WR_SEND)
		arrive_send(qp, wr);
	else if (wr->opcode == IB_WR_RDMA_WRITE && wr->len)
		arrive_write(qp, wr);
	if (wr->done == wr->len)
		qp->sent++;
	qp->progress++;
}

static void ack(struct ib_qp *qp)
{
	u32 last = qp->acked + 1 + pick(qp->sent - qp->acked);
	struct wr *wr;

	for (; qp->acked != last; qp->acked++) {
		wr = &qp->wr[qp->acked % WRS];
		if (wr->signaled)
			cq_add(qp->cq, wr->cqe, IB_WC_SUCCESS, IB_WC_SEND, 0);
	}
	qp->progress++;
}

void rdma_step(unsigned int i)
{
	if (ready[i].ack)
		ack(ready[i].qp);
	else
		arrive(ready[i].qp);
}

bool rdma_is_ack(unsigned int i)
{
	return ready[i].ack;
}

void rdma_mr(int host, int d, struct ib_mr *mr, struct smcr_buf *buf)
{
	mr->rkey = get_random_u32();
	mr->iova = (u64)get_random_u32() << 12;
	if (n_mrs == MRS)
		bad("too many RMBs");
	mrs[n_mrs].rkey = mr->rkey;
	mrs[n_mrs].iova = mr->iova;
	mrs[n_mrs].host = host;
	mrs[n_mrs].d = d;
	mrs[n_mrs++].buf = buf;
}

void rdma_start(void)
{
	all_cqs = NULL;
	all_qps = NULL;
	n_mrs = 0;
	refused = NULL;
}

/* Free what the module has given up with a queue pair. False: it still handles completions */
static bool kept_free(struct ib_qp *qp)
{
	struct smcr_link *link = qp->link;
	bool ok = !link->cq->poller && !link->cq->arming && link->cq->iop.state;
	struct smcr_buf *buf;

	qp->kept = false;
	while ((buf = link->reclaim)) {
		link->reclaim = buf->reclaim_next;
		smcr_buf_free(buf);
	}
	smcr_buf_free(link->rx_buf);
	smcr_buf_free(link->tx_buf);
	kfree(link->rx_wrs);
	kfree(link->pends);
	ib_free_cq(link->cq);
	kfree(link);
	w.kept++;
	return ok;
}

/*
 * Queue pairs are freed here, as timers use them until the end of the run. False: the module
 * handles completions of one that it has given up.
 */
bool rdma_end(void)
{
	struct ib_qp *qp;
	bool ok = true;

	for (qp = all_qps; qp; qp = qp->next)
		if (qp->kept && !kept_free(qp))
			ok = false;
	while ((qp = all_qps)) {
		all_qps = qp->next;
		kfree(qp);
	}
	return ok;
}
