// SPDX-License-Identifier: GPL-2.0-only
/*
 * RMBs of a link group: memory and registration (RFC 7609 2.1, 3.5.5.2). See rmb.h.
 *
 * An RMB is *linked* while it is in lgr->rmbs.list. Elements are given out of linked RMBs
 * only. An RMB is linked and unlinked, and its elements are taken and put, under
 * lgr->rmbs.mutex. After first contact, only smcr_rmb_work() adds and frees RMBs. So
 * smcr_rmb_work() may release the mutex without losing the RMB that it works on. For the
 * same reason, at most one own CONFIRM RKEY or DELETE RKEY is under way (LLC-15).
 */
#include <linux/bits.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include "core/clc.h"
#include "base/memcg.h"
#include "base/netns.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "lgr/rmb.h"
#include "lgr/rmb_impl.h"

/* Geometry */

static u32 rmb_bytes_max(const struct smcr_lgr *lgr)
{
	return READ_ONCE(lgr->rmbs.max);
}

static unsigned int class_count(struct smcr_lgr *lgr, u8 bsize)
{
	unsigned int n = 0;
	struct list_head *pos;

	lockdep_assert_held(&lgr->rmbs.mutex);
	list_for_each(pos, &lgr->rmbs.list[bsize])
		n++;
	return n;
}

/* Number of elements of the next RMB of a class: twice as large as the one before it */
u32 smcr_rmb_elems_wanted(struct smcr_lgr *lgr, u8 bsize)
{
	u32 size = smcr_bsize_bytes(bsize);
	u32 bytes = max(SMCR_RMB_FIRST, SMCR_RMB_FIRST_ELEMS * size);

	bytes <<= min(class_count(lgr, bsize), 8U);
	return clamp(min(bytes, rmb_bytes_max(lgr)) / size, 1U,
		     (u32)SMCR_ELEMS_MAX);
}

/* Are few elements of a class free? False for a class without elements */
bool smcr_rmb_class_low(struct smcr_lgr *lgr, u8 bsize)
{
	lockdep_assert_held(&lgr->rmbs.mutex);
	return lgr->rmbs.n_free[bsize] * SMCR_RMB_LOW <
	       lgr->rmbs.n_elems[bsize];
}

bool smcr_rmb_limit_reached(const struct smcr_lgr *lgr)
{
	unsigned int max = READ_ONCE(lgr->sn->knobs.max_rmbs_per_lgr);

	return READ_ONCE(lgr->rmbs.n) >=
	       min_t(unsigned int, max, SMCR_RMBS_MAX);
}

/* Size code of the largest element that fits into an RMB; at most @bsize */
u8 smcr_rmb_bsize_cap(const struct smcr_lgr *lgr, u8 bsize)
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
 * The result may be out of date when the caller uses it: smcr_rmb_get_elem() decides.
 *
 * Context: any.
 * Return: false if no element of that size is free and the group has all the
 * RMBs that it may have.
 */
bool smcr_rmb_has_room(const struct smcr_lgr *lgr, u8 bsize)
{
	return READ_ONCE(lgr->rmbs.n_free[smcr_rmb_bsize_cap(lgr, bsize)]) ||
	       !smcr_rmb_limit_reached(lgr);
}

/* Add @n, which may be negative, to the number of free elements of a class */
void smcr_rmb_class_add_free(struct smcr_lgr *lgr, u8 bsize, int n)
{
	lockdep_assert_held(&lgr->rmbs.mutex);
	WRITE_ONCE(lgr->rmbs.n_free[bsize], lgr->rmbs.n_free[bsize] + n);
}

bool smcr_rmb_newest(const struct smcr_rmb *rmb)
{
	return list_is_last(&rmb->node, &rmb->lgr->rmbs.list[rmb->bsize]);
}

/* Is first contact under way? Then a new RMB is registered later, and announced by CLC */
bool smcr_lgr_forming(const struct smcr_lgr *lgr)
{
	return smcr_lgr_state(lgr) == SMCR_LGR_ST_FORMING;
}

/* Housekeeping */

bool smcr_lgr_dead(const struct smcr_lgr *lgr)
{
	return smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD;
}

/*
 * Queue rmbs.work. The caller has a reference on the group, the queued work gets another
 * one. Handshakes wait for rmbs.work, and rmbs.work waits for the peer's replies to CONFIRM
 * RKEY and DELETE RKEY, which llc.work processes on smcr_wq. So rmbs.work has a workqueue of
 * its own, smcr_rmb_wq.
 */
void smcr_rmb_work_arm(struct smcr_lgr *lgr, unsigned long delay)
{
	bool queued;

	smcr_lgr_hold(lgr);
	if (delay)
		queued = queue_delayed_work(smcr_rmb_wq, &lgr->rmbs.work, delay);
	else
		queued = !mod_delayed_work(smcr_rmb_wq, &lgr->rmbs.work, 0);
	/* lgr_release() cancels the work; if it has done so already, cancel here */
	if (!queued ||
	    (smcr_lgr_dead(lgr) && cancel_delayed_work(&lgr->rmbs.work)))
		smcr_lgr_put(lgr);
}

unsigned long smcr_rmb_quarantine(const struct smcr_lgr *lgr)
{
	return msecs_to_jiffies(max(READ_ONCE(lgr->sn->knobs.t_abort), 1));
}

unsigned long smcr_rmb_idle_time(const struct smcr_lgr *lgr)
{
	return msecs_to_jiffies(max(READ_ONCE(lgr->sn->knobs.t_rmb_free), 1));
}

/* Life of an RMB */

/* Is @rc a lack of memory, or a limit on it, so that a smaller RMB may succeed? */
bool smcr_rmb_short(long rc)
{
	return rc == -ENOMEM || rc == -ENOBUFS || rc == -EDQUOT;
}

static int rmb_map(struct smcr_rmb *rmb, u8 d)
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
		sg_set_page(sg, virt_to_page(buf->chunk[i]), len, 0);
		sg_dma_address(sg) = smcr_buf_dma(buf, d, i);
		sg_dma_len(sg) = len;
		left -= len;
	}
	/*
	 * The page size is not that of the chunks: some drivers (erdma,
	 * vmw_pvrdma) register pages of 4 KiB whatever is asked for, and do not
	 * say so. The peer would then write to other elements.
	 */
	n = ib_map_mr_sg(rmb->mr[d], sgt.sgl, buf->n_chunks, NULL, PAGE_SIZE);
	sg_free_table(&sgt);
	if (n < 0)
		return n;
	return n == buf->n_chunks ? 0 : -EINVAL;
}

/*
 * Random page-aligned address that is announced to the peer for an RMB. The DMA address is
 * not announced, as it is a kernel address on soft RoCE (SEC-12).
 */
static u64 rmb_random_va(void)
{
	return get_random_u64() & GENMASK_ULL(62, PAGE_SHIFT);
}

/*
 * Deregister an MR, before its memory is freed (SEC-08). The caller ensures that no REG_MR
 * of the MR is under way. When smcr_rmb_register() has failed, its REG_MR can still be under
 * way, so the RMB stays until the QP is destroyed.
 */
void smcr_rmb_drop_mr(struct smcr_rmb *rmb, u8 d)
{
	struct smcr_lgr *lgr = rmb->lgr;
	struct ib_mr *mr = rmb->mr[d];

	if (!mr)
		return;
	rmb->mr[d] = NULL;
	clear_bit(d, &rmb->registered);
	if (!ib_dereg_mr(mr))
		return;
	/* the device may still let the peer write to the memory: never free it */
	pr_warn_ratelimited("link group %u: device %s keeps %u bytes registered, they are lost\n",
			    lgr->id,
			    smcr_dev_name(lgr->rmbs.devs[d].dev).s,
			    rmb->buf->size);
	smcr_dev_keeps(mr->device, &mr->res);
	smcr_dev_keeps(mr->device, &mr->pd->res);
	lgr->rmbs.devs[d].keep_pd = true;
	rmb->leaked = true;
}

/*
 * Allocate an MR on the device of @link, and map the RMB there; the MR is not registered
 * yet. The caller has a reference on @link.
 */
static int rmb_alloc_mr(struct smcr_rmb *rmb, const struct smcr_link *link)
{
	u8 d = link->mem.d;
	struct ib_mr *mr;
	int rc;

	rc = smcr_buf_map(rmb->buf, d, link->mem.ibdev);
	if (rc)
		return rc;
	mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG,
			 DIV_ROUND_UP(rmb->buf->size, PAGE_SIZE));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	rmb->mr[d] = mr;
	rc = rmb_map(rmb, d);
	if (rc) {
		smcr_rmb_drop_mr(rmb, d);
		return rc;
	}
	/* choose RKey and address now: they are announced before REG_MR makes them valid */
	ib_update_fast_reg_key(mr, (u8)get_random_u32());
	mr->iova = rmb_random_va();
	return 0;
}

static void rmb_destroy(struct smcr_rmb *rmb)
{
	u8 d;

	for (d = 0; d < SMCR_DEVS_MAX; d++)
		smcr_rmb_drop_mr(rmb, d);
	if (!rmb->leaked)
		smcr_buf_free(rmb->buf);
	kvfree(rmb);
}

/*
 * Create an RMB of @n elements, in no list yet; -ENOMEM, -ENOBUFS, -EDQUOT or -EIO. The RMB
 * has an MR on the device of @link; MRs on other devices follow later. When the last link on
 * a device is freed, smcr_rmb_leave_dev() drops the MRs there, but only those of RMBs in a
 * list. So the caller keeps its reference on @link until it has put the RMB into a list.
 * rmbs.next_id needs no lock: until the end of first contact only first contact creates
 * RMBs, and after it only rmbs.work.
 */
struct smcr_rmb *smcr_rmb_create(struct smcr_lgr *lgr,
				 const struct smcr_link *link, u8 bsize, u32 n)
{
	struct smcr_rmb *rmb;
	int rc;

	rmb = kvzalloc(struct_size(rmb, held_since, n), GFP_KERNEL);
	if (!rmb)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&rmb->node);
	rmb->lgr = lgr;
	rmb->bsize = bsize;
	rmb->idle_since = jiffies;
	smcr_elems_init(&rmb->elems, n);

	rmb->buf = smcr_buf_alloc(&link->mem, n * smcr_bsize_bytes(bsize),
				  DMA_BIDIRECTIONAL);
	rc = PTR_ERR_OR_ZERO(rmb->buf);
	if (rc)
		rmb->buf = NULL;
	else
		rc = rmb_alloc_mr(rmb, link);
	if (rc) {
		rmb_destroy(rmb);
		return ERR_PTR(smcr_rmb_short(rc) ? rc : -EIO);
	}
	rmb->id = ++lgr->rmbs.next_id;
	smcr_count(lgr->sn, SMCR_CNT_RMB_CREATED);
	trace_smcr_rmb(lgr->id, rmb->id, "create", bsize);
	return rmb;
}

/* Link an RMB: put it into lgr->rmbs.list, so that its elements are given out */
void smcr_rmb_link(struct smcr_lgr *lgr, struct smcr_rmb *rmb)
{
	lockdep_assert_held(&lgr->rmbs.mutex);
	list_move_tail(&rmb->node, &lgr->rmbs.list[rmb->bsize]);
	rmb->off = false;
	WRITE_ONCE(rmb->announced, true);
	WRITE_ONCE(lgr->rmbs.n, lgr->rmbs.n + 1);
	lgr->rmbs.n_elems[rmb->bsize] += rmb->elems.n;
	smcr_rmb_class_add_free(lgr, rmb->bsize, rmb->elems.n_free);
}

/* Free an RMB that is in no list, or in lgr->rmbs.off. lgr->rmbs.mutex held */
void smcr_rmb_free_locked(struct smcr_rmb *rmb)
{
	lockdep_assert_held(&rmb->lgr->rmbs.mutex);
	list_del(&rmb->node);
	smcr_count(rmb->lgr->sn, SMCR_CNT_RMB_FREED);
	trace_smcr_rmb(rmb->lgr->id, rmb->id, "free", rmb->bsize);
	rmb_destroy(rmb);
}

static void rmbs_leave_dev(struct list_head *rmbs, u8 d,
			   struct smcr_buf_map **maps)
{
	struct smcr_buf_map *lost = NULL;
	struct smcr_rmb *rmb;

	list_for_each_entry(rmb, rmbs, node) {
		smcr_rmb_drop_mr(rmb, d);
		/* memory that a device keeps registered is neither unmapped nor used again */
		smcr_buf_unmap_begin(rmb->buf, d, rmb->leaked ? &lost : maps);
	}
}

/* Drop the MRs and mappings of all RMBs on device @d, whose last link was freed */
void smcr_rmb_leave_dev(struct smcr_lgr *lgr, u8 d)
{
	struct smcr_buf_map *maps = NULL;
	int i;

	lockdep_assert_held(&lgr->rmbs.mutex);
	for (i = 0; i <= SMCR_BSIZE_MAX; i++)
		rmbs_leave_dev(&lgr->rmbs.list[i], d, &maps);
	rmbs_leave_dev(&lgr->rmbs.off, d, &maps);
	smcr_buf_unmap_end(maps);
}

/*
 * Register an RMB on the device of a link in RTS, if it is not registered there yet. After
 * an error other than -ENOMEM, REG_MR may be under way until the link is stopped. Context:
 * process, sleeps.
 */
int smcr_rmb_register(struct smcr_rmb *rmb, struct smcr_link *link)
{
	struct smcr_lgr *lgr = rmb->lgr;
	u8 d = link->mem.d;
	int rc;

	if (smcr_rmb_registered(rmb, link))
		return 0;
	if (!rmb->mr[d] && rmb_alloc_mr(rmb, link))
		return -ENOMEM;
	rc = smcr_link_reg_mr(link, rmb->mr[d], SMCR_RMB_ACCESS);
	if (rc)
		return rc;
	set_bit(d, &rmb->registered);
	trace_smcr_rmb(lgr->id, rmb->id, "register", rmb->bsize);
	return 0;
}

/* The next announced RMB after @rmb, or the first one if @rmb is NULL; NULL: none */
static struct smcr_rmb *rmb_next_announced(struct smcr_lgr *lgr, struct smcr_rmb *rmb)
{
	struct list_head *list = rmb && rmb->off ? &lgr->rmbs.off :
				 &lgr->rmbs.list[rmb ? rmb->bsize : 0];
	struct list_head *pos = rmb ? rmb->node.next : list->next;

	lockdep_assert_held(&lgr->rmbs.mutex);
	for (;;) {
		if (pos == list && list == &lgr->rmbs.off)
			return NULL;
		if (pos == list) {
			list = list == &lgr->rmbs.list[SMCR_BSIZE_MAX] ?
			       &lgr->rmbs.off : list + 1;
			pos = list->next;
			continue;
		}
		rmb = list_entry(pos, struct smcr_rmb, node);
		/*
		 * An RMB in rmbs.off may be announced, too: its CONFIRM RKEY has succeeded, and
		 * rmb_publish() is about to link it.
		 */
		if (READ_ONCE(rmb->announced))
			return rmb;
		pos = pos->next;
	}
}

/*
 * Find an announced RMB that is not registered on the link's device or, if @registered is
 * false, that has no MR there. NULL: there is none.
 */
static struct smcr_rmb *rmb_lacking(struct smcr_lgr *lgr,
				    const struct smcr_link *link,
				    bool registered)
{
	struct smcr_rmb *rmb = NULL;

	while ((rmb = rmb_next_announced(lgr, rmb)))
		if (registered ? !smcr_rmb_registered(rmb, link) :
				 !rmb->mr[link->mem.d])
			break;
	return rmb;
}

/**
 * smcr_rmb_register_all() - register RMBs that were created before the link was up
 * @lgr: group
 * @link: link in RTS
 *
 * lgr->rmbs.mutex is released after each RMB, so that a connection that needs an element
 * does not wait until all RMBs are registered.
 *
 * Context: process, sleeps.
 * Return: 0, or what smcr_link_reg_mr() returned.
 */
int smcr_rmb_register_all(struct smcr_lgr *lgr, struct smcr_link *link)
{
	struct smcr_rmb *rmb;
	int rc = 0;

	do {
		mutex_lock(&lgr->rmbs.mutex);
		rmb = rmb_lacking(lgr, link, true);
		if (rmb)
			rc = smcr_rmb_register(rmb, link);
		mutex_unlock(&lgr->rmbs.mutex);
	} while (rmb && !rc);
	return rc;
}

/* Allocate the missing MRs on the link's device; the mutex is released after each MR */
static int rmb_alloc_mrs(struct smcr_lgr *lgr, const struct smcr_link *link)
{
	struct smcr_rmb *rmb;
	int rc = 0;

	do {
		mutex_lock(&lgr->rmbs.mutex);
		rmb = rmb_lacking(lgr, link, false);
		if (rmb)
			rc = rmb_alloc_mr(rmb, link);
		mutex_unlock(&lgr->rmbs.mutex);
	} while (rmb && !rc);
	return rc;
}

/*
 * Fill @tok, which has room for @max entries, for smcr_rmb_tokens(). Returns the number of
 * entries, or -EAGAIN.
 */
static int rmb_list_tokens(struct smcr_lgr *lgr, struct smcr_link *link,
			   u8 carrier, struct smcr_llc_rtoken_pair *tok, int max)
{
	struct smcr_rmb *rmb = NULL;
	int n = 0;

	while ((rmb = rmb_next_announced(lgr, rmb))) {
		/* the RMB was added after rmb_alloc_mrs(), or has no RKey on the carrying link */
		if (!rmb->mr[link->mem.d] || !rmb->mr[carrier] || n == max)
			return -EAGAIN;
		tok[n].ref_rkey = rmb->mr[carrier]->rkey;
		tok[n].new_rkey = smcr_rmb_rkey(rmb, link);
		tok[n++].new_va = smcr_rmb_va(rmb, link);
	}
	return n;
}

/**
 * smcr_rmb_tokens() - own RTokens for a new link
 * @lgr: group
 * @link: the new link; an MR is made on its device for every RMB that has none there
 * @carrier: index in lgr->rmbs.devs for the link that carries ADD LINK. The RKeys on that
 *	link name the RMBs to the peer
 * @tok: set to an array, to be freed with kvfree(), or to NULL
 *
 * Context: process, sleeps.
 * Return: number of RTokens; -ENOMEM; -EAGAIN an RMB lacks an MR on one of the two devices;
 * or what the device returned.
 */
int smcr_rmb_tokens(struct smcr_lgr *lgr, struct smcr_link *link, u8 carrier,
		    struct smcr_llc_rtoken_pair **tok)
{
	int rc, max;

	*tok = NULL;
	rc = rmb_alloc_mrs(lgr, link);
	if (rc)
		return rc;
	mutex_lock(&lgr->rmbs.mutex);
	max = lgr->rmbs.n + 1;
	*tok = kvcalloc(max, sizeof(**tok), GFP_KERNEL);
	rc = *tok ? rmb_list_tokens(lgr, link, carrier, *tok, max) : -ENOMEM;
	mutex_unlock(&lgr->rmbs.mutex);
	if (rc < 0) {
		kvfree(*tok);
		*tok = NULL;
	}
	return rc;
}

/**
 * smcr_rmb_free_all() - free the RMBs of a group that ends
 * @lgr: group that has no QP and no connection any more; its rmbs.work is not
 *	 queued, and will not be queued again
 *
 * Context: process, sleeps.
 */
void smcr_rmb_free_all(struct smcr_lgr *lgr)
{
	struct smcr_rmb *rmb, *tmp;
	int i;

	mutex_lock(&lgr->rmbs.mutex);
	for (i = 0; i <= SMCR_BSIZE_MAX; i++) {
		list_splice_init(&lgr->rmbs.list[i], &lgr->rmbs.off);
		mem_cgroup_put(lgr->rmbs.want[i].payer);
		mem_cgroup_put(lgr->rmbs.want[i].full);
		memset(&lgr->rmbs.want[i], 0, sizeof(lgr->rmbs.want[i]));
	}
	list_for_each_entry_safe(rmb, tmp, &lgr->rmbs.off, node)
		smcr_rmb_free_locked(rmb);
	WRITE_ONCE(lgr->rmbs.n, 0);
	mutex_unlock(&lgr->rmbs.mutex);
}

/* Elements */

/* The newest RMB with a free element, so that older RMBs become idle and can be freed */
struct smcr_rmb *smcr_rmb_with_room(struct smcr_lgr *lgr, u8 bsize)
{
	struct smcr_rmb *rmb;

	lockdep_assert_held(&lgr->rmbs.mutex);
	list_for_each_entry_reverse(rmb, &lgr->rmbs.list[bsize], node)
		if (rmb->elems.n_free)
			return rmb;
	return NULL;
}

/* Create an RMB of @n elements, or a smaller one if memory is short (RMB-11) */
struct smcr_rmb *smcr_rmb_create_some(struct smcr_lgr *lgr,
				      const struct smcr_link *link, u8 bsize,
				      u32 n)
{
	struct smcr_rmb *rmb;

	do {
		rmb = smcr_rmb_create(lgr, link, bsize, n);
		n /= 2;
	} while (IS_ERR(rmb) && smcr_rmb_short(PTR_ERR(rmb)) && n);
	return rmb;
}
