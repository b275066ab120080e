// SPDX-License-Identifier: GPL-2.0-only
/*
 * RMBs of a link group: memory, registration, elements (RFC 7609 2.1, 4.1 to
 * 4.4, 3.5.5.2.1 and 3.5.5.2.2). See rmb.h.
 *
 * An RMB is linked and its elements are used only under lgr->rmb_mutex. From
 * the end of first contact on smcr_rmb_work() alone adds and frees them. It may
 * therefore drop the mutex without losing the RMB it looks at, and there are
 * never two CONFIRM RKEY or DELETE RKEY of ours under way (LLC-15).
 */
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include "core/byteio.h"
#include "core/clc.h"
#include "kllc.h"
#include "lgr.h"
#include "memcg.h"
#include "pernet.h"
#include "rmb.h"
#include "trace.h"

#define SMCR_RMB_ACCESS		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define SMCR_RMB_FIRST		(256U << 10)	/* first RMB of a class ... */
#define SMCR_RMB_FIRST_ELEMS	2		/* ... but so many elements */
#define SMCR_RMB_LOW		8		/* prepare when under 1/8 is free */
#define SMCR_RMB_EYE		0xd9d4c2c5U	/* "RMBE" in EBCDIC, our choice */

#define RMB_NEVER		MAX_JIFFY_OFFSET

/* Geometry */

static u32 rmb_bytes_max(const struct smcr_lgr *lgr)
{
	return lgr->pid.dev->max_mr_pages << PAGE_SHIFT;
}

/* Number of RMBs of a class */
static unsigned int class_count(struct smcr_lgr *lgr, u8 bsize)
{
	unsigned int n = 0;
	struct list_head *pos;

	lockdep_assert_held(&lgr->rmb_mutex);
	list_for_each(pos, &lgr->rmbs[bsize])
		n++;
	return n;
}

/* Elements of the next RMB of a class: each one is twice the one before */
static u32 rmb_elems_wanted(struct smcr_lgr *lgr, u8 bsize)
{
	u32 size = smcr_bsize_bytes(bsize);
	u32 bytes = max(SMCR_RMB_FIRST, SMCR_RMB_FIRST_ELEMS * size);

	bytes <<= min(class_count(lgr, bsize), 8U);
	return clamp(min(bytes, rmb_bytes_max(lgr)) / size, 1U,
		     (u32)SMCR_ELEMS_MAX);
}

/* Few elements of a class are free, and there are some at all */
static bool class_low(struct smcr_lgr *lgr, u8 bsize)
{
	u32 n = 0, n_free = 0;
	struct smcr_rmb *rmb;

	lockdep_assert_held(&lgr->rmb_mutex);
	list_for_each_entry(rmb, &lgr->rmbs[bsize], node) {
		n += rmb->elems.n;
		n_free += rmb->elems.n_free;
	}
	return n_free * SMCR_RMB_LOW < n;
}

static bool rmb_limit_reached(const struct smcr_lgr *lgr)
{
	unsigned int max = READ_ONCE(lgr->sn->knobs.max_rmbs_per_lgr);

	return READ_ONCE(lgr->n_rmbs) >=
	       min_t(unsigned int, max, SMCR_RMBS_MAX);
}

/* What an element is at most as large as */
static u8 bsize_cap(const struct smcr_lgr *lgr, u8 bsize)
{
	bsize = min_t(u8, bsize, SMCR_BSIZE_MAX);
	while (bsize && smcr_bsize_bytes(bsize) > rmb_bytes_max(lgr))
		bsize--;
	return bsize;
}

/**
 * smcr_rmb_has_room() - can a group take another connection?
 * @lgr: group
 * @bsize: wanted element size code
 *
 * What it says may be out of date at once: smcr_rmb_get_elem() knows.
 *
 * Context: any.
 * Return: false if no element of that size is free and the group has all the
 * RMBs that it may have.
 */
bool smcr_rmb_has_room(const struct smcr_lgr *lgr, u8 bsize)
{
	return READ_ONCE(lgr->n_free[bsize_cap(lgr, bsize)]) ||
	       !rmb_limit_reached(lgr);
}

/* Free elements come to a class, or leave it */
static void class_add_free(struct smcr_lgr *lgr, u8 bsize, int n)
{
	lockdep_assert_held(&lgr->rmb_mutex);
	WRITE_ONCE(lgr->n_free[bsize], lgr->n_free[bsize] + n);
}

static bool rmb_newest(const struct smcr_rmb *rmb)
{
	return list_is_last(&rmb->node, &rmb->lgr->rmbs[rmb->bsize]);
}

/* First contact: there is no link to register on or to tell the peer over */
static bool lgr_forming(const struct smcr_lgr *lgr)
{
	return smcr_lgr_state(lgr) == SMCR_LGR_ST_FORMING;
}

/* Housekeeping */

static bool lgr_dead(const struct smcr_lgr *lgr)
{
	return smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD;
}

/*
 * The caller has a reference on the group, the queued work gets another one.
 * A queue of its own: the work waits for the peer's answer to CONFIRM RKEY and
 * DELETE RKEY, which smcr_wq delivers, and negotiations wait for the work.
 */
static void rmb_work_arm(struct smcr_lgr *lgr, unsigned long delay)
{
	bool queued;

	smcr_lgr_hold(lgr);
	if (delay)
		queued = queue_delayed_work(smcr_rmb_wq, &lgr->rmb_work, delay);
	else
		queued = !mod_delayed_work(smcr_rmb_wq, &lgr->rmb_work, 0);
	/* smcr_lgr_kill() cancels; do it here if that came too early for us */
	if (!queued ||
	    (lgr_dead(lgr) && cancel_delayed_work(&lgr->rmb_work)))
		smcr_lgr_put(lgr);
}

static unsigned long quarantine_jiffies(const struct smcr_lgr *lgr)
{
	return msecs_to_jiffies(max(READ_ONCE(lgr->sn->knobs.t_abort), 1));
}

static unsigned long idle_jiffies(const struct smcr_lgr *lgr)
{
	return msecs_to_jiffies(max(READ_ONCE(lgr->sn->knobs.t_rmb_free), 1));
}

/* Life of an RMB */

/* Less might be had: the system is out of memory, or a limit is near */
static bool rmb_short(long rc)
{
	return rc == -ENOMEM || rc == -ENOBUFS || rc == -EDQUOT;
}

static int rmb_map(struct smcr_rmb *rmb)
{
	const struct smcr_buf *buf = rmb->buf;
	u32 i, len, left = buf->size;
	struct scatterlist *sg;
	struct sg_table sgt;
	int n;

	if (sg_alloc_table(&sgt, buf->n_chunks, GFP_KERNEL))
		return -ENOMEM;
	for_each_sg(sgt.sgl, sg, buf->n_chunks, i) {
		len = min(left, 1U << buf->chunk_shift);
		sg_set_page(sg, virt_to_page(buf->chunk[i].addr), len, 0);
		sg_dma_address(sg) = buf->chunk[i].dma;
		sg_dma_len(sg) = len;
		left -= len;
	}
	n = ib_map_mr_sg(rmb->mr, sgt.sgl, buf->n_chunks, NULL, PAGE_SIZE);
	sg_free_table(&sgt);
	if (n < 0)
		return n;
	return n == buf->n_chunks ? 0 : -EINVAL;
}

/*
 * Where the RMB starts in the peer's eyes is free to choose, page by page. The
 * DMA address, on soft RoCE a kernel address, is none of its business (SEC-12).
 */
static u64 rmb_random_va(void)
{
	return get_random_u64() & GENMASK_ULL(62, PAGE_SHIFT);
}

static int rmb_alloc_mr(struct smcr_rmb *rmb, struct ib_pd *pd)
{
	struct ib_mr *mr;
	int rc;

	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG,
			 DIV_ROUND_UP(rmb->buf->size, PAGE_SIZE));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	rmb->mr = mr;
	rc = rmb_map(rmb);
	if (rc)
		return rc;
	/* both go to the peer before REG_MR makes them valid */
	ib_update_fast_reg_key(mr, (u8)get_random_u32());
	mr->iova = rmb_random_va();
	rmb->va = mr->iova;
	return 0;
}

/*
 * The MR goes before the memory does (SEC-08). No REG_MR of it may be on its
 * way: an RMB whose registration went wrong stays until the QP is gone.
 */
static void rmb_destroy(struct smcr_rmb *rmb)
{
	if (rmb->mr && ib_dereg_mr(rmb->mr)) {
		/* the device may still let the peer write there: never free it */
		pr_warn_ratelimited("smcr: link group %u: device %s keeps %u bytes registered, they are lost\n",
				    rmb->lgr->id,
				    dev_name(&rmb->lgr->pid.dev->ibdev->dev),
				    rmb->buf->size);
		rmb->lgr->mr_leaked = true;
	} else {
		smcr_buf_free(rmb->buf);
	}
	kvfree(rmb);
}

/*
 * An RMB that is not linked yet, of @n elements; or -ENOMEM, -ENOBUFS, -EDQUOT or
 * -EIO. First contact's worker is over when the work begins with it: @next_rmb_id
 * needs no lock.
 */
static struct smcr_rmb *rmb_create(struct smcr_lgr *lgr, u8 bsize, u32 n)
{
	struct smcr_rmb *rmb;
	int rc = -ENOMEM;

	rmb = kvzalloc(struct_size(rmb, held_since, n), GFP_KERNEL);
	if (!rmb)
		return ERR_PTR(rc);
	rmb->lgr = lgr;
	rmb->bsize = bsize;
	rmb->idle_since = jiffies;
	smcr_elems_init(&rmb->elems, n);

	rmb->buf = smcr_buf_alloc(lgr, n * smcr_bsize_bytes(bsize),
				  DMA_BIDIRECTIONAL);
	rc = PTR_ERR_OR_ZERO(rmb->buf);
	if (rc)
		rmb->buf = NULL;
	else
		rc = rmb_alloc_mr(rmb, lgr->pd);
	if (rc) {
		rmb_destroy(rmb);
		return ERR_PTR(rmb_short(rc) ? rc : -EIO);
	}
	rmb->id = ++lgr->next_rmb_id;
	smcr_count(lgr->sn, SMCR_CNT_RMB_CREATED);
	trace_smcr_rmb(lgr->id, rmb->id, "create", bsize);
	return rmb;
}

static void rmb_link(struct smcr_lgr *lgr, struct smcr_rmb *rmb)
{
	lockdep_assert_held(&lgr->rmb_mutex);
	list_add_tail(&rmb->node, &lgr->rmbs[rmb->bsize]);
	WRITE_ONCE(lgr->n_rmbs, lgr->n_rmbs + 1);
	class_add_free(lgr, rmb->bsize, rmb->elems.n_free);
}

static void rmb_free(struct smcr_rmb *rmb)
{
	smcr_count(rmb->lgr->sn, SMCR_CNT_RMB_FREED);
	trace_smcr_rmb(rmb->lgr->id, rmb->id, "free", rmb->bsize);
	rmb_destroy(rmb);
}

/* After an error other than -ENOMEM it has to live as long as the link */
static int rmb_register(struct smcr_rmb *rmb)
{
	struct smcr_lgr *lgr = rmb->lgr;
	int rc;

	if (rmb->registered)
		return 0;
	rc = smcr_link_reg_mr(lgr->link, rmb->mr, SMCR_RMB_ACCESS);
	if (rc)
		return rc;
	rmb->registered = true;
	trace_smcr_rmb(lgr->id, rmb->id, "register", rmb->bsize);
	return 0;
}

/**
 * smcr_rmb_register_all() - register what was created before the link was up
 * @lgr: group whose link is in RTS
 *
 * Context: process, sleeps.
 * Return: 0, or what smcr_link_reg_mr() said.
 */
int smcr_rmb_register_all(struct smcr_lgr *lgr)
{
	struct smcr_rmb *rmb;
	int i, rc = 0;

	mutex_lock(&lgr->rmb_mutex);
	for (i = 0; i <= SMCR_BSIZE_MAX && !rc; i++) {
		list_for_each_entry(rmb, &lgr->rmbs[i], node) {
			rc = rmb_register(rmb);
			if (rc)
				break;
		}
	}
	mutex_unlock(&lgr->rmb_mutex);
	return rc;
}

/**
 * smcr_rmb_free_all() - free the RMBs of a group that ends
 * @lgr: group without a QP and without connections; its rmb_work is not
 *	 queued and never will be
 *
 * Context: process, sleeps.
 */
void smcr_rmb_free_all(struct smcr_lgr *lgr)
{
	struct smcr_rmb *rmb, *tmp;
	int i;

	mutex_lock(&lgr->rmb_mutex);
	for (i = 0; i <= SMCR_BSIZE_MAX; i++) {
		list_for_each_entry_safe(rmb, tmp, &lgr->rmbs[i], node) {
			list_del(&rmb->node);
			WRITE_ONCE(lgr->n_rmbs, lgr->n_rmbs - 1);
			rmb_free(rmb);
		}
		mem_cgroup_put(lgr->rmb_want[i].payer);
		mem_cgroup_put(lgr->rmb_want[i].full);
		memset(&lgr->rmb_want[i], 0, sizeof(lgr->rmb_want[i]));
	}
	mutex_unlock(&lgr->rmb_mutex);
}

/* Elements */

/* The newest first, so that older RMBs drain and can be freed */
static struct smcr_rmb *rmb_with_room(struct smcr_lgr *lgr, u8 bsize)
{
	struct smcr_rmb *rmb;

	lockdep_assert_held(&lgr->rmb_mutex);
	list_for_each_entry_reverse(rmb, &lgr->rmbs[bsize], node)
		if (rmb->elems.n_free)
			return rmb;
	return NULL;
}

/* An RMB of the class, smaller when memory is short (RMB-11) */
static struct smcr_rmb *rmb_create_some(struct smcr_lgr *lgr, u8 bsize, u32 n)
{
	struct smcr_rmb *rmb;

	do {
		rmb = rmb_create(lgr, bsize, n);
		n /= 2;
	} while (IS_ERR(rmb) && rmb_short(PTR_ERR(rmb)) && n);
	return rmb;
}

/* The first RMB of a group that is being formed: CLC tells the peer of it */
static int rmb_add_first(struct smcr_lgr *lgr, u8 bsize)
{
	struct smcr_rmb *rmb;

	if (rmb_limit_reached(lgr))
		return -ENOSPC;
	rmb = rmb_create_some(lgr, bsize, rmb_elems_wanted(lgr, bsize));
	if (IS_ERR(rmb))
		return PTR_ERR(rmb);
	rmb_link(lgr, rmb);
	return 0;
}

/*
 * Who pays for the next RMB of a class: who asks first, unless there was no room
 * for the last one there. So that others need not wait for a full memory cgroup.
 */
static void rmb_set_payer(struct smcr_lgr *lgr, u8 bsize,
			  struct mem_cgroup *memcg)
{
	struct smcr_rmb_want *want = &lgr->rmb_want[bsize];

	lockdep_assert_held(&lgr->rmb_mutex);
	if (want->payer == memcg ||
	    (want->wanted && (!want->full || want->payer != want->full)))
		return;
	mem_cgroup_put(want->payer);
	want->payer = smcr_memcg_get(memcg);
}

/* What the last attempt came to, for who is charged to @memcg; 0: ask again */
static int rmb_verdict(const struct smcr_rmb_want *want,
		       const struct mem_cgroup *memcg)
{
	return want->rc == -EDQUOT && want->full != memcg ? 0 : want->rc;
}

/*
 * Ask rmb_work for another RMB of the class: -EINPROGRESS until an attempt that
 * began after the request is over. The caller arms the work.
 */
static int rmb_request(struct smcr_lgr *lgr, u8 bsize,
		       struct mem_cgroup *memcg, struct smcr_rmb_req *req)
{
	struct smcr_rmb_want *want = &lgr->rmb_want[bsize];
	u32 mine = req->tries[bsize];

	lockdep_assert_held(&lgr->rmb_mutex);
	if (rmb_limit_reached(lgr))
		return -ENOSPC;
	if (mine && (s32)(want->tries - mine) >= 0) {
		req->tries[bsize] = 0;
		if (rmb_verdict(want, memcg))
			return want->rc;
		mine = 0;	/* others took it all, or had no room for it */
	}
	if (!mine) {
		smcr_count(lgr->sn, SMCR_CNT_RMB_WAITS);
		req->tries[bsize] = want->tries + 1 ?: 1;
		rmb_set_payer(lgr, bsize, memcg);
		want->wanted = true;
	}
	return -EINPROGRESS;
}

static void rmb_take(struct smcr_rmb *rmb, struct smcr_elem *elem)
{
	lockdep_assert_held(&rmb->lgr->rmb_mutex);
	elem->rmb = rmb;
	elem->index = smcr_elems_get(&rmb->elems);
	class_add_free(rmb->lgr, rmb->bsize, -1);
	elem->size = smcr_bsize_bytes(rmb->bsize);
	elem->off = (elem->index - 1) * elem->size;
}

static int rmb_get_of_class(struct smcr_lgr *lgr, u8 bsize,
			    struct mem_cgroup *memcg, struct smcr_elem *elem,
			    struct smcr_rmb_req *req)
{
	struct smcr_rmb *rmb;
	int rc = 0;

	for (;;) {
		/* the RMBs of a dead group may not be registered */
		if (lgr_dead(lgr))
			return -ENOTCONN;
		rmb = rmb_with_room(lgr, bsize);
		if (rmb)
			break;
		if (rc)
			return rc;
		if (!lgr_forming(lgr))
			return req->short_of & BIT(bsize) ? req->rc :
			       rmb_request(lgr, bsize, memcg, req);
		rc = rmb_add_first(lgr, bsize);
	}
	rmb_take(rmb, elem);
	return 0;
}

static int rmb_get(struct smcr_lgr *lgr, u8 bsize, struct mem_cgroup *memcg,
		   struct smcr_elem *elem, struct smcr_rmb_req *req)
{
	int rc;

	lockdep_assert_held(&lgr->rmb_mutex);
	bsize = bsize_cap(lgr, bsize);
	do {
		rc = rmb_get_of_class(lgr, bsize, memcg, elem, req);
		if (rmb_short(rc)) {	/* next time, too */
			req->short_of |= BIT(bsize);
			req->rc = rc;
		}
	} while (rmb_short(rc) && bsize--);
	return rc;
}

static enum smcr_reason rmb_reason(int rc)
{
	switch (rc) {
	case -ENOMEM:
		return SMCR_R_NO_MEMORY;
	case -ENOBUFS:
		return SMCR_R_MEM_LIMIT;
	case -EDQUOT:
		return SMCR_R_MEMCG_LIMIT;
	case -ENOSPC:
		return SMCR_R_RMB_LIMIT;
	case -EREMOTEIO:
		return SMCR_R_RKEY_REFUSED;
	case -ENOTCONN:
		return SMCR_R_NO_LINK;
	case -ETIMEDOUT:
	case -EAGAIN:
	case -EINPROGRESS:
		return SMCR_R_LGR_BUSY;
	default:
		return SMCR_R_MR_FAIL;
	}
}

static u8 *elem_eye(const struct smcr_elem *elem)
{
	u32 run;

	return smcr_buf_at(elem->rmb->buf, elem->off, SMCR_RMBE_EYE_LEN, &run);
}

static bool elem_eye_ok(const struct smcr_elem *elem)
{
	smcr_buf_sync_cpu(elem->rmb->buf, elem->off, SMCR_RMBE_EYE_LEN);
	return smcr_get_be32(elem_eye(elem)) == SMCR_RMB_EYE;
}

/* Before the index is announced: the owner does not write afterwards (RMB-16) */
static void rmb_set_eye(const struct smcr_elem *elem)
{
	smcr_put_be32(elem_eye(elem), SMCR_RMB_EYE);
	smcr_buf_sync_dev(elem->rmb->buf, elem->off, SMCR_RMBE_EYE_LEN);
}

/**
 * smcr_rmb_get_elem() - element for a new connection
 * @lgr: group with a link; the caller has a reference
 * @bsize: wanted element size code
 * @memcg: whom a new RMB is charged to; a reference of the caller's
 * @elem: filled on success: busy, zeroed, eye catcher set if the group uses them
 *	or may still come to
 * @req: the caller's requests so far
 * @why: reason on failure
 *
 * Takes a free element, or one of a new RMB; smaller sizes are tried when memory
 * is short (RMB-11). In an active group every RMB that gives out elements is
 * registered and known to the peer (LLC-55); if none has room, smcr_rmb_work()
 * adds one and the caller comes back. In first contact smcr_rmb_register_all()
 * follows later, and CLC announces the RMB.
 *
 * Context: process, sleeps for memory, not for the peer.
 * Return: 0; -EINPROGRESS a new RMB is on its way: come back when lgr->wait is
 * woken; -ENOMEM, -ENOBUFS memory limit, -EDQUOT that of @memcg, -ENOSPC RMB limit,
 * -ENOTCONN the group has ended, -EREMOTEIO the peer does not want the RMB, -EAGAIN
 * it did not say in time, -EIO.
 */
int smcr_rmb_get_elem(struct smcr_lgr *lgr, u8 bsize, struct mem_cgroup *memcg,
		      struct smcr_elem *elem, struct smcr_rmb_req *req,
		      enum smcr_reason *why)
{
	bool low;
	int rc;

	if (req->lgr_id != lgr->id) {	/* that was another group */
		memset(req, 0, sizeof(*req));
		req->lgr_id = lgr->id;
	}

	mutex_lock(&lgr->rmb_mutex);
	rc = rmb_get(lgr, bsize, memcg, elem, req);
	low = !rc && class_low(lgr, elem->rmb->bsize) &&
	      !rmb_limit_reached(lgr);
	if (low)
		rmb_set_payer(lgr, elem->rmb->bsize, memcg);
	mutex_unlock(&lgr->rmb_mutex);

	if (rc == -EINPROGRESS)
		rmb_work_arm(lgr, 0);
	if (rc) {
		*why = rmb_reason(rc);
		return rc;
	}
	if (low && smcr_link_up(lgr->link))
		rmb_work_arm(lgr, 0);
	/* in first contact the peer has not said yet whether it needs one */
	if (lgr->base || lgr_forming(lgr))
		rmb_set_eye(elem);
	return 0;
}

/**
 * smcr_rmb_put_elem() - the connection is over
 * @elem: element; @elem->rmb is NULL afterwards. Nothing happens if it is now
 * @quarantine: the peer did not confirm the end: it may still write, so the
 *	element is kept back for T_ABORT (RMB-22, RMB-23) and cleared then
 *
 * Context: process, sleeps; the caller has a reference on the group.
 */
void smcr_rmb_put_elem(struct smcr_elem *elem, bool quarantine)
{
	struct smcr_rmb *rmb = elem->rmb;
	struct smcr_lgr *lgr;
	bool idle;

	if (!rmb)
		return;
	lgr = rmb->lgr;
	/* no lock: a busy element is its connection's */
	if (!quarantine)
		smcr_buf_zero(rmb->buf, elem->off, elem->size);

	mutex_lock(&lgr->rmb_mutex);
	smcr_elems_put(&rmb->elems, elem->index, quarantine);
	if (quarantine) {
		rmb->held_since[elem->index - 1] = jiffies;
	} else {
		rmb->idle_since = jiffies;
		class_add_free(lgr, rmb->bsize, 1);
	}
	idle = smcr_elems_idle(&rmb->elems) && !rmb_newest(rmb);
	mutex_unlock(&lgr->rmb_mutex);

	elem->rmb = NULL;
	if (quarantine)
		rmb_work_arm(lgr, quarantine_jiffies(lgr));
	else if (idle)
		rmb_work_arm(lgr, idle_jiffies(lgr));
}

/**
 * smcr_rmb_clear_eye() - the peer takes the element for data from the first byte
 * @elem: element of a first contact, before the peer may write
 *
 * What a peer that may not yet has written there stays.
 *
 * Context: process.
 */
void smcr_rmb_clear_eye(const struct smcr_elem *elem)
{
	if (elem_eye_ok(elem))
		smcr_buf_zero(elem->rmb->buf, elem->off, SMCR_RMBE_EYE_LEN);
}

/**
 * smcr_rmb_eye_ok() - is the eye catcher intact? (RMB-14)
 * @elem: element
 *
 * Context: any.
 * Return: false if the peer has overwritten it.
 */
bool smcr_rmb_eye_ok(const struct smcr_elem *elem)
{
	smcr_count(elem->rmb->lgr->sn, SMCR_CNT_EYE_CHECKS);
	return elem_eye_ok(elem);
}

/* The work */

/* Jiffies from now until @since + @wait, 0 if that is past */
static unsigned long time_left(unsigned long since, unsigned long wait)
{
	unsigned long end = since + wait;

	return time_after(end, jiffies) ? end - jiffies : 0;
}

/*
 * Release what was in quarantine long enough. rmb_mutex is dropped while the
 * elements are cleared; nobody else touches one that is in quarantine.
 * Returns the time until the next one is due.
 */
static unsigned long rmb_end_quarantine(struct smcr_rmb *rmb)
{
	DECLARE_BITMAP(due, SMCR_ELEMS_MAX) = { };
	u32 size = smcr_bsize_bytes(rmb->bsize);
	struct smcr_lgr *lgr = rmb->lgr;
	unsigned long left, next = RMB_NEVER;
	unsigned int i;

	lockdep_assert_held(&lgr->rmb_mutex);
	for (i = 0; i < rmb->elems.n; i++) {
		if (rmb->elems.state[i] != SMCR_ELEM_QUARANTINE)
			continue;
		left = time_left(rmb->held_since[i], quarantine_jiffies(lgr));
		if (left)
			next = min(next, left);
		else
			__set_bit(i, due);
	}
	if (bitmap_empty(due, SMCR_ELEMS_MAX))
		return next;

	mutex_unlock(&lgr->rmb_mutex);
	for_each_set_bit(i, due, SMCR_ELEMS_MAX)
		smcr_buf_zero(rmb->buf, i * size, size);
	mutex_lock(&lgr->rmb_mutex);
	for_each_set_bit(i, due, SMCR_ELEMS_MAX)
		smcr_elems_release(&rmb->elems, i + 1);
	class_add_free(lgr, rmb->bsize, bitmap_weight(due, SMCR_ELEMS_MAX));
	rmb->idle_since = jiffies;
	return next;
}

static unsigned long rmbs_end_quarantine(struct smcr_lgr *lgr)
{
	unsigned long next = RMB_NEVER;
	struct smcr_rmb *rmb;
	int i;

	mutex_lock(&lgr->rmb_mutex);
	for (i = 0; i <= SMCR_BSIZE_MAX; i++)
		list_for_each_entry(rmb, &lgr->rmbs[i], node)
			next = min(next, rmb_end_quarantine(rmb));
	mutex_unlock(&lgr->rmb_mutex);
	return next;
}

/*
 * An RMB that was idle for long, unlinked; never the newest of its class, which
 * the next connection will want. *@next: when another one may be due.
 */
static struct smcr_rmb *rmb_take_idle(struct smcr_lgr *lgr,
				      unsigned long *next)
{
	struct smcr_rmb *rmb;
	unsigned long left;
	int i;

	lockdep_assert_held(&lgr->rmb_mutex);
	for (i = 0; i <= SMCR_BSIZE_MAX; i++) {
		list_for_each_entry(rmb, &lgr->rmbs[i], node) {
			if (!smcr_elems_idle(&rmb->elems) || rmb_newest(rmb))
				continue;
			left = time_left(rmb->idle_since, idle_jiffies(lgr));
			*next = min(*next, left);
			if (left)
				continue;
			list_del_init(&rmb->node);
			class_add_free(lgr, i, -(int)rmb->elems.n_free);
			return rmb;
		}
	}
	return NULL;
}

/* The peer forgets the RKey first (LLC-66) */
static int rmb_withdraw(struct smcr_rmb *rmb)
{
	smcr_count(rmb->lgr->sn, SMCR_CNT_T_RMB_FREE);
	trace_smcr_rmb(rmb->lgr->id, rmb->id, "withdraw", rmb->bsize);
	return smcr_llc_delete_rkey(rmb->lgr, rmb->mr->rkey);
}

/* One idle RMB; false when there is none or the peer did not agree */
static bool rmb_free_idle(struct smcr_lgr *lgr, unsigned long *next)
{
	struct smcr_rmb *rmb;
	int rc;

	mutex_lock(&lgr->rmb_mutex);
	rmb = rmb_take_idle(lgr, next);
	mutex_unlock(&lgr->rmb_mutex);
	if (!rmb)
		return false;

	rc = rmb_withdraw(rmb);

	mutex_lock(&lgr->rmb_mutex);
	if (rc) {
		rmb->idle_since = jiffies;
		list_add(&rmb->node, &lgr->rmbs[rmb->bsize]);
		class_add_free(lgr, rmb->bsize, rmb->elems.n_free);
	} else {
		WRITE_ONCE(lgr->n_rmbs, lgr->n_rmbs - 1);
	}
	mutex_unlock(&lgr->rmb_mutex);
	if (rc) {
		*next = max_t(unsigned long, idle_jiffies(lgr), HZ);
		return false;
	}
	rmb_free(rmb);
	return true;
}

/* Somebody waits: the work has been queued again */
static bool rmbs_wanted(const struct smcr_lgr *lgr)
{
	int i;

	for (i = 0; i <= SMCR_BSIZE_MAX; i++)
		if (READ_ONCE(lgr->rmb_want[i].wanted))
			return true;
	return false;
}

static unsigned long rmbs_free_idle(struct smcr_lgr *lgr)
{
	unsigned long next;

	do {
		next = RMB_NEVER;
	} while (!lgr_dead(lgr) && !rmbs_wanted(lgr) &&
		 rmb_free_idle(lgr, &next));
	return next;
}

/*
 * Registered, and the peer knows its RToken (LLC-55). An RMB that the peer does
 * not want is gone; whoever needs one next asks again (LLC-60).
 */
static int rmb_publish(struct smcr_lgr *lgr, struct smcr_rmb *rmb)
{
	int rc;

	rc = rmb_register(rmb);
	if (rc && rc != -ENOMEM) {	/* the link has failed: keep the MR */
		mutex_lock(&lgr->rmb_mutex);
		rmb_link(lgr, rmb);
		mutex_unlock(&lgr->rmb_mutex);
		return rc;
	}
	if (!rc)
		rc = smcr_llc_confirm_rkey(lgr, rmb->mr->rkey, rmb->va);
	if (rc) {
		rmb_free(rmb);
		return rc;
	}
	trace_smcr_rmb(lgr->id, rmb->id, "confirm", rmb->bsize);
	mutex_lock(&lgr->rmb_mutex);
	rmb_link(lgr, rmb);
	mutex_unlock(&lgr->rmb_mutex);
	return 0;
}

static int rmb_build(struct smcr_lgr *lgr, u8 bsize, u32 n, bool wanted)
{
	struct smcr_rmb *rmb;

	/* ahead of need memory is not worth much effort */
	rmb = wanted ? rmb_create_some(lgr, bsize, n) :
		       rmb_create(lgr, bsize, n);
	return IS_ERR(rmb) ? PTR_ERR(rmb) : rmb_publish(lgr, rmb);
}

/* How many elements the next RMB of a class shall have; 0: none is needed */
static u32 rmb_due(struct smcr_lgr *lgr, u8 bsize, bool wanted)
{
	lockdep_assert_held(&lgr->rmb_mutex);
	if (rmb_limit_reached(lgr))
		return 0;
	if (wanted ? !!rmb_with_room(lgr, bsize) :
		     !class_low(lgr, bsize) ||
		     time_before(jiffies, lgr->rmb_pause))
		return 0;
	return rmb_elems_wanted(lgr, bsize);
}

/*
 * The next RMB of a class, if somebody waits for it or before somebody has to
 * (RMB-10).
 */
static void rmb_prepare(struct smcr_lgr *lgr, u8 bsize)
{
	struct smcr_rmb_want *want = &lgr->rmb_want[bsize];
	struct mem_cgroup *memcg, *old;
	bool wanted;
	int rc = 0;
	u32 n;

	mutex_lock(&lgr->rmb_mutex);
	wanted = want->wanted;
	memcg = smcr_memcg_get(want->payer);
	n = rmb_due(lgr, bsize, wanted);
	if (!n && wanted && rmb_limit_reached(lgr))
		rc = -ENOSPC;
	mutex_unlock(&lgr->rmb_mutex);
	if (!n && !wanted)
		goto out;
	if (n) {
		old = set_active_memcg(memcg);
		rc = rmb_build(lgr, bsize, n, wanted);
		set_active_memcg(old);
	}

	mutex_lock(&lgr->rmb_mutex);
	/* a success says nothing of what had no room */
	if (rc == -EDQUOT)
		swap(want->full, memcg);
	if (rc == -EREMOTEIO || rc == -EAGAIN || rmb_short(rc))
		lgr->rmb_pause = jiffies + idle_jiffies(lgr);
	/* who came while one was tried ahead of need gets a try of its own */
	if (wanted || !rc) {
		WRITE_ONCE(want->wanted, false);
		mem_cgroup_put(want->payer);	/* who asks next names one */
		want->payer = NULL;
		want->rc = rc;
		WRITE_ONCE(want->tries, want->tries + 1);
	}
	mutex_unlock(&lgr->rmb_mutex);
	wake_up_all(&lgr->wait);
out:
	mem_cgroup_put(memcg);
}

static void rmbs_prepare(struct smcr_lgr *lgr)
{
	u8 i;

	if (lgr_forming(lgr))
		return;
	for (i = 0; i <= SMCR_BSIZE_MAX && smcr_link_up(lgr->link); i++)
		rmb_prepare(lgr, i);
}

/**
 * smcr_rmb_work() - housekeeping of a group's RMBs
 * @work: lgr->rmb_work, which owns a reference on the group
 *
 * Runs again by itself while an element is in quarantine or an RMB is on its
 * way to be freed, at least every T_ABORT: whoever starts a quarantine finds
 * the work queued and need not shorten its delay.
 */
void smcr_rmb_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, rmb_work);
	unsigned long next = RMB_NEVER;

	if (!lgr_dead(lgr)) {
		rmbs_prepare(lgr);
		next = rmbs_end_quarantine(lgr);
		next = min(next, rmbs_free_idle(lgr));
	}
	if (next != RMB_NEVER && !lgr_dead(lgr))
		rmb_work_arm(lgr, clamp(next, max(HZ / 10, 1UL),
					max(quarantine_jiffies(lgr), HZ / 10)));
	smcr_lgr_put(lgr);
}
