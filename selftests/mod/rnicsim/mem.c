// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions and their keys. Every access of the device to memory is
 * checked here: key, protection domain, state, access flags and range.
 */
#include <linux/slab.h>
#include <rdma/iter.h>
#include "rnicsim.h"

#define RS_ACCESS_ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND)

static bool mr_covers(const struct rs_mr *mr, u64 addr, u64 len)
{
	return mr->dma || (addr >= mr->iova && len <= mr->length &&
			   addr - mr->iova <= mr->length - len);
}

/* Is it a local access of a kernel user, to any memory that is mapped? */
static bool is_local_lkey(const struct rs_dev *dev, const struct ib_pd *pd,
			  u32 key, int access)
{
	return key == RS_LOCAL_LKEY && !pd->uobject &&
	       !(access & ~IB_ACCESS_LOCAL_WRITE) &&
	       rs_get(dev, RS_K_LOCAL_LKEY);
}

/* The region of a key, read-locked, or NULL if the access is not allowed */
static struct rs_mr *mr_get(struct rs_dev *dev, const struct ib_pd *pd,
			    u32 key, u64 addr, u64 len, int access)
{
	struct rs_mr *mr = xa_load(&dev->mrs, key >> 8);

	lockdep_assert_held(&rs_lock);
	if (!mr || mr->ib.pd != pd)
		return NULL;
	read_lock(&mr->lock);
	if (mr->key == key && mr->valid && (mr->access & access) == access &&
	    mr_covers(mr, addr, len))
		return mr;
	read_unlock(&mr->lock);
	return NULL;
}

/**
 * rs_mr_check() - may a range be accessed with a key?
 * @dev: device
 * @pd: protection domain of the queue pair
 * @key: lkey or rkey
 * @addr: start
 * @len: bytes, not 0
 * @access: 0 for a local read, IB_ACCESS_LOCAL_WRITE, IB_ACCESS_REMOTE_*
 *
 * Context: rs_lock.
 */
bool rs_mr_check(struct rs_dev *dev, const struct ib_pd *pd, u32 key, u64 addr,
		 u64 len, int access)
{
	struct rs_mr *mr;

	if (is_local_lkey(dev, pd, key, access))
		return true;
	mr = mr_get(dev, pd, key, addr, len, access);
	if (mr)
		read_unlock(&mr->lock);
	return mr;
}

static bool pages_io(struct rs_dev *dev, const struct rs_mr *mr, u64 addr,
		     u8 *buf, u32 len, bool write)
{
	u64 off = addr - mr->iova + (mr->iova & (mr->page_size - 1));
	u32 in, n;

	for (; len; len -= n, buf += n, off += n) {
		in = off & (mr->page_size - 1);
		n = min(len, mr->page_size - in);
		if (div_u64(off, mr->page_size) >= mr->n_pages ||
		    !rs_dma_io(dev, mr->pages[div_u64(off, mr->page_size)] + in,
			       buf, n, write))
			return false;
	}
	return true;
}

/**
 * rs_mr_io() - copy from or to a region
 * @dev: device
 * @pd: protection domain of the queue pair
 * @key: lkey or rkey
 * @addr: start
 * @buf: destination of a read, source of a write
 * @len: bytes
 * @access: as in rs_mr_check()
 *
 * Context: rs_lock.
 * Return: false if it is not allowed, or the DMA address is not mapped.
 */
bool rs_mr_io(struct rs_dev *dev, const struct ib_pd *pd, u32 key, u64 addr,
	      void *buf, u32 len, int access)
{
	bool write = access & (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	struct rs_mr *mr;
	bool ok;

	if (!len)
		return true;
	if (is_local_lkey(dev, pd, key, access))
		return rs_dma_io(dev, addr, buf, len, write);
	mr = mr_get(dev, pd, key, addr, len, access);
	if (!mr)
		return false;
	ok = mr->dma ? rs_dma_io(dev, addr, buf, len, write) :
		       pages_io(dev, mr, addr, buf, len, write);
	read_unlock(&mr->lock);
	return ok;
}

/**
 * rs_sge_len() - bytes of a list of SGEs
 * @sge: list
 * @n: its length
 */
u64 rs_sge_len(const struct ib_sge *sge, u32 n)
{
	u64 len = 0;

	while (n--)
		len += sge++->length;
	return len;
}

/**
 * rs_sge_io() - copy from or to a list of SGEs
 * @dev: device
 * @pd: protection domain of the queue pair
 * @sge: list
 * @n: its length
 * @off: start, in bytes of the list
 * @buf: destination of a read, source of a write
 * @len: bytes, inside the list
 * @access: as in rs_mr_check()
 *
 * Context: rs_lock.
 */
bool rs_sge_io(struct rs_dev *dev, const struct ib_pd *pd,
	       const struct ib_sge *sge, u32 n, u32 off, void *buf, u32 len,
	       int access)
{
	u32 run;

	for (; n && len; n--, sge++) {
		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		run = min(len, sge->length - off);
		if (!rs_mr_io(dev, pd, sge->lkey, sge->addr + off, buf, run,
			      access))
			return false;
		off = 0;
		buf += run;
		len -= run;
	}
	return !len;
}

static bool reg_ok(const struct rs_mr *mr, const struct rs_swqe *w)
{
	u64 in = w->iova & (w->page_size - 1);

	return mr->fast && !mr->valid && !(w->access & ~RS_ACCESS_ALL) &&
	       (!(w->access & IB_ACCESS_REMOTE_WRITE) ||
		(w->access & IB_ACCESS_LOCAL_WRITE)) &&
	       w->length && w->length <= (u64)mr->n_pages * w->page_size - in &&
	       w->iova + w->length > w->iova;
}

static bool mr_invalidate(struct rs_mr *mr, u32 key)
{
	bool ok = mr->fast && mr->valid && mr->key == key;

	if (ok)
		WRITE_ONCE(mr->valid, false);
	return ok;
}

static bool mr_register(struct rs_mr *mr, const struct rs_swqe *w)
{
	if (!reg_ok(mr, w))
		return false;
	mr->key = w->rkey;
	mr->access = w->access;
	mr->iova = w->iova;
	mr->length = w->length;
	mr->page_size = w->page_size;
	WRITE_ONCE(mr->valid, true);
	return true;
}

/**
 * rs_mr_fast() - execute REG_MR or LOCAL_INV
 * @qp: queue pair it was posted to
 * @w: request
 * @later: set to the milliseconds by which a fault delays it, if one does; or
 *	NULL
 *
 * Context: rs_lock, and the lock of @qp.
 * Return: status of its completion.
 */
enum ib_wc_status rs_mr_fast(struct rs_qp *qp, const struct rs_swqe *w,
			     u32 *later)
{
	struct rs_mr *mr = xa_load(&qp->dev->mrs, w->rkey >> 8);
	enum rs_action action = RS_A_NONE;
	u32 arg;
	bool ok;

	lockdep_assert_held(&rs_lock);
	if (!mr || mr->ib.pd != qp->ib.pd)
		return IB_WC_MW_BIND_ERR;
	if (w->op == IB_WR_REG_MR)
		action = rs_fault(qp->dev, RS_F_REG_MR, qp, &arg);
	if (action == RS_A_FAIL)
		return arg ?: IB_WC_MW_BIND_ERR;
	if (action == RS_A_DELAY && later)
		*later = arg;
	write_lock(&mr->lock);
	ok = w->op == IB_WR_REG_MR ? mr_register(mr, w) :
				     mr_invalidate(mr, w->rkey);
	write_unlock(&mr->lock);
	return ok ? IB_WC_SUCCESS : IB_WC_MW_BIND_ERR;
}

/* Creation and end */

static void mr_free(struct rs_mr *mr)
{
	kvfree(mr->pages);
	kfree(mr);
}

static struct rs_mr *mr_new(struct ib_pd *pd, u32 max_pages)
{
	struct rs_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return NULL;
	rwlock_init(&mr->lock);
	mr->ib.pd = pd;
	mr->ib.device = pd->device;
	mr->max_pages = max_pages;
	if (max_pages) {
		mr->pages = kvcalloc(max_pages, sizeof(*mr->pages), GFP_KERNEL);
		if (!mr->pages) {
			kfree(mr);
			return NULL;
		}
	}
	return mr;
}

/* Enter a region in the table: valid at once, unless for fast registration */
static int mr_enter(struct rs_dev *dev, struct rs_mr *mr)
{
	int rc;

	if (atomic_inc_return(&dev->n_mrs) > rs_get(dev, RS_K_MAX_MR)) {
		atomic_dec(&dev->n_mrs);
		return -ENOMEM;
	}
	mr->valid = !mr->fast;
	/* index 0 is RS_LOCAL_LKEY's */
	rc = xa_alloc_cyclic(&dev->mrs, &mr->idx, NULL,
			     XA_LIMIT(1, (1 << 24) - 1), &dev->next_mr,
			     GFP_KERNEL);
	if (rc < 0) {
		atomic_dec(&dev->n_mrs);
		return rc;
	}
	mr->key = mr->idx << 8;
	mr->ib.lkey = mr->key;
	mr->ib.rkey = mr->key;
	/* the entry is reserved, so that this needs no memory */
	xa_store(&dev->mrs, mr->idx, mr, GFP_KERNEL);
	return 0;
}

static struct ib_mr *mr_publish(struct rs_dev *dev, struct rs_mr *mr)
{
	int rc = mr_enter(dev, mr);

	if (rc) {
		mr_free(mr);
		return ERR_PTR(rc);
	}
	return &mr->ib;
}

struct ib_mr *rs_get_dma_mr(struct ib_pd *pd, int access)
{
	struct rs_dev *dev = to_rs_dev(pd->device);
	struct rs_mr *mr;
	int rc;

	might_sleep();
	rc = rs_fault_verb(dev, RS_F_ALLOC_MR, NULL, -ENOMEM);
	if (rc)
		return ERR_PTR(rc);
	mr = mr_new(pd, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->dma = true;
	mr->access = access;
	return mr_publish(dev, mr);
}

struct ib_mr *rs_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max)
{
	struct rs_dev *dev = to_rs_dev(pd->device);
	struct rs_mr *mr;
	int rc;

	might_sleep();
	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max || max > rs_get(dev, RS_K_PAGE_LIST))
		return ERR_PTR(-EINVAL);
	rc = rs_fault_verb(dev, RS_F_ALLOC_MR, NULL, -ENOMEM);
	if (rc)
		return ERR_PTR(rc);
	mr = mr_new(pd, max);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->fast = true;
	return mr_publish(dev, mr);
}

static int mr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct rs_mr *mr = to_rs_mr(ibmr);

	if (mr->n_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->n_pages++] = addr;
	return 0;
}

int rs_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int n,
		 unsigned int *off)
{
	struct rs_mr *mr = to_rs_mr(ibmr);
	int rc;

	rc = rs_fault_verb(to_rs_dev(ibmr->device), RS_F_MAP_MR, NULL, -ENOMEM);
	if (rc)
		return rc;
	/* the list of a valid region belongs to the device */
	if (!mr->fast || READ_ONCE(mr->valid) ||
	    !is_power_of_2(ibmr->page_size))
		return -EINVAL;
	mr->n_pages = 0;
	return ib_sg_to_pages(ibmr, sg, n, off, mr_set_page);
}

static void mr_end(struct rs_dev *dev, struct rs_mr *mr)
{
	unsigned long flags;

	xa_erase(&dev->mrs, mr->idx);
	/* no engine uses it after this */
	write_lock_irqsave(&rs_lock, flags);
	mr->valid = false;
	write_unlock_irqrestore(&rs_lock, flags);
	ib_umem_release(mr->umem);
	atomic_dec(&dev->n_mrs);
	mr_free(mr);
}

int rs_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct rs_dev *dev = to_rs_dev(ibmr->device);
	struct rs_mr *mr = to_rs_mr(ibmr);
	int rc = 0;

	might_sleep();
	/* a domain's own region: the RDMA core frees the domain in any case */
	if (!mr->dma)
		rc = rs_fault_verb(dev, RS_F_DEREG_MR, NULL, -EBUSY);
	if (rc) {
		mr->kept = true;
		return rc;
	}
	mr_end(dev, mr);
	return 0;
}

/**
 * rs_mr_release() - free the regions that a fault did not let be deregistered
 * @dev: device that is not in use any more
 *
 * Their domains and mappings are freed, too: the owner of such a region could
 * neither free the domain, for which the RDMA core would warn, nor unmap the
 * memory.
 *
 * Context: process.
 */
void rs_mr_release(struct rs_dev *dev)
{
	struct rs_mr *mr;
	unsigned long i;
	struct ib_pd *pd;
	u32 n;

	xa_for_each(&dev->mrs, i, mr) {
		if (!mr->kept)
			continue;
		for (n = 0; mr->fast && n < mr->n_pages; n++)
			rs_dma_drop(dev, mr->pages[n], mr->ib.page_size);
		pd = mr->ib.pd;
		mr_end(dev, mr);
		if (atomic_dec_and_test(&pd->usecnt))
			ib_dealloc_pd(pd);
	}
}

static struct ib_umem *umem_get(struct rs_dev *dev, u64 start, u64 length,
				int access)
{
	struct ib_umem *umem;

	mutex_lock(&dev->umem_mutex);
	WRITE_ONCE(dev->umem_task, current);
	umem = rs_umem_get(&dev->ib, start, length, access);
	WRITE_ONCE(dev->umem_task, NULL);
	mutex_unlock(&dev->umem_mutex);
	return umem;
}

struct ib_mr *rs_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			     u64 iova, int access, RS_DMAH_ARG
			     struct ib_udata *udata)
{
	struct rs_dev *dev = to_rs_dev(pd->device);
	struct ib_block_iter iter;
	struct ib_umem *umem;
	struct rs_mr *mr;
	int rc;

	might_sleep();
	if ((start ^ iova) & ~PAGE_MASK)
		return ERR_PTR(-EINVAL);
	rc = rs_fault_verb(dev, RS_F_ALLOC_MR, NULL, -ENOMEM);
	if (rc)
		return ERR_PTR(rc);
	umem = umem_get(dev, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = mr_new(pd, ib_umem_num_pages(umem));
	if (!mr) {
		ib_umem_release(umem);
		return ERR_PTR(-ENOMEM);
	}
	rdma_umem_for_each_dma_block(umem, &iter, PAGE_SIZE)
		mr_set_page(&mr->ib, rdma_block_iter_dma_address(&iter));
	mr->umem = umem;
	mr->access = access;
	mr->iova = iova;
	mr->length = length;
	mr->page_size = PAGE_SIZE;
	rc = mr_enter(dev, mr);
	if (rc) {
		ib_umem_release(umem);
		mr_free(mr);
		return ERR_PTR(rc);
	}
	return &mr->ib;
}
