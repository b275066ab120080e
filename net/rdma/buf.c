// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of equally sized chunks, DMA-mapped chunk by chunk. See buf.h.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "base/netns.h"
#include "rdma/buf.h"
#include "rdma/dev.h"

/*
 * A buffer of large chunks needs few SGEs and few entries of an MR. Large
 * chunks are allocated without direct reclaim: above memory.high, reclaim would
 * throttle a worker for seconds, and all connections of the link group would
 * wait for this worker. Single pages are allocated with reclaim, but never
 * invoke the OOM killer: the caller can do with a smaller buffer (RMB-11) or
 * with TCP.
 */
#define SMCR_CHUNK_ORDER	3
#define SMCR_GFP		(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN)
#define SMCR_GFP_PAGE		(SMCR_GFP | __GFP_RETRY_MAYFAIL)
#define SMCR_GFP_CHUNK		((SMCR_GFP | __GFP_COMP) & ~__GFP_DIRECT_RECLAIM)

/*
 * Time limit for the allocation of a buffer that is not a send buffer. Such a
 * buffer is allocated by a worker, and other connections wait for this worker.
 * If throttling or reclaim of the memory cgroup takes longer than this limit,
 * the allocation fails, and the caller tries a smaller buffer.
 */
#define SMCR_RECLAIM_TIME	HZ

/* Bytes of the buffers of all namespaces */
static atomic_long_t buf_host_mem = ATOMIC_LONG_INIT(0);

static long buf_bytes(const struct smcr_buf *buf)
{
	return (long)buf->n_chunks << buf->chunk_shift;
}

static void buf_uncharge(struct smcr_net *sn, long bytes)
{
	atomic_long_sub(bytes, &sn->mem);
	atomic_long_sub(bytes, &buf_host_mem);
}

/*
 * Add @bytes to @sum, and return true, if the result is at most @max. Otherwise
 * @sum never changes, even for a moment: two callers that added first and then
 * checked could both be refused, although one of the amounts fits.
 */
static bool buf_add(atomic_long_t *sum, long bytes, long max)
{
	long old = atomic_long_read(sum);

	do {
		if (old > max - bytes)
			return false;
	} while (!atomic_long_try_cmpxchg(sum, &old, old + bytes));
	return true;
}

/* False: a limit would be exceeded. With @must the limits do not apply */
static bool buf_charge(struct smcr_net *sn, long bytes, bool must)
{
	long max_host = (long)READ_ONCE(smcr_max_mem_host) << 10;
	long max = (long)READ_ONCE(sn->knobs.max_mem) << 10;

	if (buf_add(&sn->mem, bytes, must ? LONG_MAX : max)) {
		if (buf_add(&buf_host_mem, bytes, must ? LONG_MAX : max_host))
			return true;
		atomic_long_sub(bytes, &sn->mem);
	}
	smcr_count(sn, SMCR_CNT_MEM_REFUSED);
	return false;
}

/**
 * smcr_buf_mem() - memory in use
 * @sn: namespace, NULL for all of them
 *
 * Context: any.
 * Return: bytes of all buffers and of the ranges that are pinned.
 */
long smcr_buf_mem(struct smcr_net *sn)
{
	return atomic_long_read(sn ? &sn->mem : &buf_host_mem);
}

static u32 chunk_size(const struct smcr_buf *buf)
{
	return 1U << buf->chunk_shift;
}

/*
 * Error after a page could not be allocated: -EDQUOT (the memory cgroup is
 * full) if a page that is not charged to it can be allocated; else -ENOMEM.
 */
static int no_page_error(void)
{
	struct page *page = alloc_page(SMCR_GFP_PAGE);

	if (!page)
		return -ENOMEM;
	__free_page(page);
	return -EDQUOT;
}

static int chunk_alloc(struct smcr_buf *buf, void **chunk)
{
	unsigned int order = buf->chunk_shift - PAGE_SHIFT;
	struct page *page;

	/* a compound page: smcr_buf_pin() needs only one reference on it */
	page = alloc_pages((order ? SMCR_GFP_CHUNK : SMCR_GFP_PAGE) |
			   __GFP_ACCOUNT, order);
	if (!page)
		return order ? -ENOMEM : no_page_error();
	*chunk = page_address(page);
	return 0;
}

/* Mapping of entry @d; the caller ensures that the entry does not change */
static struct smcr_buf_map *map_of(const struct smcr_buf *buf, u8 d)
{
	return rcu_dereference_protected(buf->map[d], true);
}

/*
 * Unmap the first @n chunks of a mapping that is not in use, and free the
 * mapping. The chunks are not synced. What the device wrote was synced when the
 * peer announced it. A sync here could copy old data from the device's bounce
 * buffers over data that another device has written since.
 */
static void map_free(const struct smcr_buf *buf, struct smcr_buf_map *map, u32 n)
{
	while (n-- && !ib_uses_virt_dma(map->ibdev))
		dma_unmap_page_attrs(map->ibdev->dma_device, map->dma[n],
				     chunk_size(buf), buf->dir,
				     DMA_ATTR_SKIP_CPU_SYNC);
	kvfree(map);
}

/*
 * Map a chunk for one more device. If the chunk is already mapped for another
 * device, the new mapping has DMA_ATTR_SKIP_CPU_SYNC, and the chunk is synced
 * afterwards. Without this attribute, dma-debug reports the second mapping of
 * the same cache lines as a mistake.
 */
static u64 map_chunk(const struct smcr_buf *buf, struct ib_device *ibdev,
		     void *chunk)
{
	struct page *page = virt_to_page(chunk);
	u64 dma;

	if (!buf->n_map || ib_uses_virt_dma(ibdev))
		return ib_dma_map_page(ibdev, page, 0, chunk_size(buf),
				       buf->dir);
	dma = dma_map_page_attrs(ibdev->dma_device, page, 0, chunk_size(buf),
				 buf->dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (!ib_dma_mapping_error(ibdev, dma))
		ib_dma_sync_single_for_device(ibdev, dma, chunk_size(buf),
					      buf->dir);
	return dma;
}

/*
 * Has a mapping to be synced? Not if the device is coherent and uses no bounce
 * buffer for it. dma-debug checks the syncs, so with it each mapping is synced.
 */
static bool map_needs_sync(const struct smcr_buf *buf,
			   const struct smcr_buf_map *map)
{
	u32 i;

	if (ib_uses_virt_dma(map->ibdev))
		return false;
	if (IS_ENABLED(CONFIG_DMA_API_DEBUG))
		return true;
	for (i = 0; i < buf->n_chunks; i++)
		if (dma_need_sync(map->ibdev->dma_device, map->dma[i]))
			return true;
	return false;
}

/**
 * smcr_buf_map() - map a buffer for one more device
 * @buf: buffer; no concurrent call maps it, or unmaps the same entry
 * @d: entry of the device
 * @ibdev: device, which outlives the mapping
 *
 * Afterwards smcr_buf_sync_dev() syncs for that device, too.
 *
 * Context: process, may sleep.
 * Return: 0, also if @d was mapped already; -ENOMEM.
 */
int smcr_buf_map(struct smcr_buf *buf, u8 d, struct ib_device *ibdev)
{
	struct smcr_buf_map *map;
	u32 i;

	if (map_of(buf, d))
		return 0;
	map = kvmalloc(struct_size(map, dma, buf->n_chunks), GFP_KERNEL);
	if (!map)
		return -ENOMEM;
	map->ibdev = ibdev;
	map->buf = buf;
	for (i = 0; i < buf->n_chunks; i++) {
		map->dma[i] = map_chunk(buf, ibdev, buf->chunk[i]);
		if (ib_dma_mapping_error(ibdev, map->dma[i])) {
			map_free(buf, map, i);
			return -ENOMEM;
		}
	}
	if (map_needs_sync(buf, map))
		WRITE_ONCE(buf->sync, true);
	WRITE_ONCE(buf->n_map, max_t(u8, buf->n_map, d + 1));
	rcu_assign_pointer(buf->map[d], map);
	return 0;
}

/**
 * smcr_buf_unmap_begin() - take the mapping for one device off a buffer
 * @buf: buffer; no concurrent call maps or unmaps the same entry. The buffer
 *	must not be freed before smcr_buf_unmap_end() has returned
 * @d: entry of the device, mapped or not; the device does not use the buffer
 *	any more
 * @list: list that the mapping is put on, for smcr_buf_unmap_end()
 *
 * Context: any.
 */
void smcr_buf_unmap_begin(struct smcr_buf *buf, u8 d,
			  struct smcr_buf_map **list)
{
	struct smcr_buf_map *map = map_of(buf, d);

	if (!map)
		return;
	RCU_INIT_POINTER(buf->map[d], NULL);
	map->next = *list;
	*list = map;
}

/**
 * smcr_buf_unmap_end() - free the mappings that smcr_buf_unmap_begin() took off
 * @list: mappings, or NULL
 *
 * Context: process, sleeps for an RCU grace period, as smcr_buf_sync_cpu() or
 * smcr_buf_sync_dev() may be using the mappings.
 */
void smcr_buf_unmap_end(struct smcr_buf_map *list)
{
	struct smcr_buf_map *map;

	if (!list)
		return;
	synchronize_rcu();
	while ((map = list)) {
		list = map->next;
		map_free(map->buf, map, map->buf->n_chunks);
	}
}

/**
 * smcr_buf_unmap() - unmap a send buffer for one device
 * @buf: buffer, or NULL; no other thread uses it, so no grace period is needed
 * @d: entry of the device, mapped or not
 *
 * Context: process.
 */
void smcr_buf_unmap(struct smcr_buf *buf, u8 d)
{
	struct smcr_buf_map *map = NULL;

	if (buf)
		smcr_buf_unmap_begin(buf, d, &map);
	if (map)
		map_free(buf, map, buf->n_chunks);
}

static void buf_put(struct smcr_buf *buf)
{
	if (refcount_dec_and_test(&buf->refs))
		kvfree(buf);
}

static void buf_free_chunks(struct smcr_buf *buf)
{
	u32 i;

	for (i = 0; i < buf->n_map; i++)
		if (map_of(buf, i))
			map_free(buf, map_of(buf, i), buf->n_chunks);
	for (i = 0; i < buf->n_chunks; i++)
		free_pages((unsigned long)buf->chunk[i],
			   buf->chunk_shift - PAGE_SHIFT);
	buf_put(buf);
}

static struct smcr_buf *buf_alloc_order(const struct smcr_buf_params *who,
					u32 size, enum dma_data_direction dir,
					unsigned int order)
{
	bool must = dir == DMA_TO_DEVICE && size <= SMCR_BUF_SMALL;
	u32 n = DIV_ROUND_UP(size, PAGE_SIZE << order);
	unsigned long end = jiffies + SMCR_RECLAIM_TIME;
	struct smcr_buf *buf;
	int rc = -ENOMEM;

	if (!n || n > U16_MAX)
		return ERR_PTR(-ENOMEM);
	if (!buf_charge(who->sn, (long)n << (PAGE_SHIFT + order), must))
		return ERR_PTR(-ENOBUFS);
	/*
	 * The structure is not charged to a memory cgroup, as the charge might
	 * make a worker wait. It takes less than 1 % of @size, which is 16 KiB
	 * or more.
	 */
	buf = kvzalloc(struct_size(buf, chunk, n), GFP_KERNEL);
	if (!buf)
		goto err;
	buf->sn = who->sn;
	buf->dir = dir;
	buf->size = size;
	buf->chunk_shift = PAGE_SHIFT + order;
	refcount_set(&buf->refs, 1);
	while (buf->n_chunks < n) {
		if (!order && dir != DMA_TO_DEVICE &&
		    (time_after(jiffies, end) || who->over(who->arg)))
			rc = -ENOMEM;
		else
			rc = chunk_alloc(buf, &buf->chunk[buf->n_chunks]);
		if (rc)
			goto err_chunks;
		buf->n_chunks++;
	}
	rc = smcr_buf_map(buf, who->d, who->ibdev);
	if (rc)
		goto err_chunks;
	return buf;

err_chunks:
	buf_free_chunks(buf);
err:
	buf_uncharge(who->sn, (long)n << (PAGE_SHIFT + order));
	return ERR_PTR(rc);
}

/**
 * smcr_buf_alloc() - allocate, zero and map a buffer
 * @who: namespace and first device
 * @size: bytes, at most 65535 pages
 * @dir: DMA_TO_DEVICE for send buffers, DMA_FROM_DEVICE for receives,
 *	 DMA_BIDIRECTIONAL for RMBs, where the CPU writes zeros and eye
 *	 catchers
 *
 * A chunk has 32 KiB, or less in a small buffer. If such chunks cannot be
 * allocated without direct reclaim, the chunks are single pages. The memory is
 * charged to the caller's memory cgroup, in a worker to the one that
 * set_active_memcg() has set (Documentation/sockets.rst). It counts against the
 * limits max_mem of the namespace and max_mem_host. A small send buffer
 * (SMCR_BUF_SMALL) is allocated even beyond them, as a connection needs one.
 *
 * Context: process, may sleep.
 * Return: buffer, which smcr_buf_free() frees, or ERR_PTR(): -ENOMEM, also if
 * @who->over() returned true; -EDQUOT: the memory cgroup is full; -ENOBUFS: a
 * limit of the namespace or of the host would be exceeded.
 */
struct smcr_buf *smcr_buf_alloc(const struct smcr_buf_params *who, u32 size,
				enum dma_data_direction dir)
{
	unsigned int order = min_t(unsigned int, SMCR_CHUNK_ORDER,
				   get_order(size));
	struct smcr_buf *buf;

	buf = buf_alloc_order(who, size, dir, order);
	if (IS_ERR(buf) && PTR_ERR(buf) == -ENOMEM && order)
		buf = buf_alloc_order(who, size, dir, 0);
	return buf;
}

/**
 * smcr_buf_free() - unmap and free a buffer
 * @buf: buffer that no device uses any more, or NULL
 *
 * The CPU can still read ranges that smcr_buf_pin() has pinned.
 *
 * Context: process, may sleep.
 */
void smcr_buf_free(struct smcr_buf *buf)
{
	if (!buf)
		return;
	buf_uncharge(buf->sn, buf_bytes(buf));
	buf_free_chunks(buf);
}

/**
 * smcr_buf_pin() - keep a range of a buffer readable
 * @buf: buffer
 * @off: start
 * @len: bytes, not 0; no device writes there any more, and the range is synced
 *
 * The CPU can read the range until smcr_buf_unpin(), even after smcr_buf_free()
 * and the removal of the device. smcr_buf_free() frees the mappings, so the
 * range must not be synced after that. This function allocates nothing, so it
 * cannot fail. The caller keeps the namespace alive until smcr_buf_unpin().
 *
 * Context: any.
 */
void smcr_buf_pin(struct smcr_buf *buf, u32 off, u32 len)
{
	u32 i = off >> buf->chunk_shift;

	buf_charge(buf->sn, len, true);
	refcount_inc(&buf->refs);
	for (; i <= (off + len - 1) >> buf->chunk_shift; i++)
		get_page(virt_to_page(buf->chunk[i]));
}

/**
 * smcr_buf_unpin() - undo smcr_buf_pin()
 * @buf: buffer, freed or not
 * @off: start, as for smcr_buf_pin()
 * @len: bytes, as for smcr_buf_pin()
 *
 * Context: process, may sleep.
 */
void smcr_buf_unpin(struct smcr_buf *buf, u32 off, u32 len)
{
	u32 i = off >> buf->chunk_shift;

	for (; i <= (off + len - 1) >> buf->chunk_shift; i++)
		put_page(virt_to_page(buf->chunk[i]));
	buf_uncharge(buf->sn, len);
	buf_put(buf);
}

/* DMA address of byte @off. *@run is set as in smcr_buf_at(). */
static u64 buf_dma_at(const struct smcr_buf *buf,
		      const struct smcr_buf_map *map, u32 off, u32 len, u32 *run)
{
	u32 in = off & (chunk_size(buf) - 1);

	*run = min(len, chunk_size(buf) - in);
	return map->dma[off >> buf->chunk_shift] + in;
}

static void map_sync_cpu(const struct smcr_buf *buf,
			 const struct smcr_buf_map *map, u32 off, u32 len)
{
	u32 run;

	for (; len; off += run, len -= run) {
		u64 dma = buf_dma_at(buf, map, off, len, &run);

		ib_dma_sync_single_for_cpu(map->ibdev, dma, run, buf->dir);
	}
}

static void map_sync_dev(const struct smcr_buf *buf,
			 const struct smcr_buf_map *map, u32 off, u32 len)
{
	u32 run;

	for (; len; off += run, len -= run) {
		u64 dma = buf_dma_at(buf, map, off, len, &run);

		ib_dma_sync_single_for_device(map->ibdev, dma, run, buf->dir);
	}
}

/**
 * smcr_buf_sync_cpu() - sync a range before the CPU accesses it
 * @buf: buffer
 * @d: entry of the device that has written to the range, as bounce buffers of
 *	other devices may have old data. If @d is not mapped, nothing is synced
 * @off: start
 * @len: bytes
 *
 * Context: any.
 */
void smcr_buf_sync_cpu(const struct smcr_buf *buf, u8 d, u32 off, u32 len)
{
	const struct smcr_buf_map *map;

	if (!READ_ONCE(buf->sync))
		return;
	rcu_read_lock();
	map = rcu_dereference(buf->map[d]);
	if (likely(map))
		map_sync_cpu(buf, map, off, len);
	rcu_read_unlock();
}

/**
 * smcr_buf_sync_dev() - sync a range for all devices after access by the CPU
 * @buf: buffer
 * @off: start
 * @len: bytes
 *
 * Context: any.
 */
void smcr_buf_sync_dev(const struct smcr_buf *buf, u32 off, u32 len)
{
	const struct smcr_buf_map *map;
	u8 d;

	if (!READ_ONCE(buf->sync))
		return;
	rcu_read_lock();
	for (d = 0; d < READ_ONCE(buf->n_map); d++) {
		map = rcu_dereference(buf->map[d]);
		if (likely(map))
			map_sync_dev(buf, map, off, len);
	}
	rcu_read_unlock();
}

/**
 * smcr_buf_zero() - clear a range of a buffer
 * @buf: buffer, DMA_TO_DEVICE or DMA_BIDIRECTIONAL
 * @off: start
 * @len: bytes
 *
 * Context: any, but half a megabyte takes a while.
 */
void smcr_buf_zero(struct smcr_buf *buf, u32 off, u32 len)
{
	u32 at, run;
	u8 d;

	/*
	 * The DMA API demands a sync before the CPU writes. The order of the
	 * devices does not matter, as all of the range is overwritten below.
	 */
	for (d = 0; d < READ_ONCE(buf->n_map); d++)
		smcr_buf_sync_cpu(buf, d, off, len);
	for (at = off; at < off + len; at += run) {
		void *p = smcr_buf_at(buf, at, off + len - at, &run);

		memset(p, 0, run);
	}
	smcr_buf_sync_dev(buf, off, len);
}

#ifdef SMCR_RACE
/**
 * smcr_buf_check_zero() - warn if a range is not zero, in test builds only
 * @buf: buffer, DMA_BIDIRECTIONAL
 * @off: start
 * @len: bytes
 *
 * The range is synced for each device, as bounce buffers may have other bytes.
 *
 * Context: any.
 */
void smcr_buf_check_zero(struct smcr_buf *buf, u32 off, u32 len)
{
	u32 at, run;
	void *p;
	u8 d;

	for (d = 0; d < READ_ONCE(buf->n_map); d++) {
		smcr_buf_sync_cpu(buf, d, off, len);
		for (at = off; at < off + len; at += run) {
			p = smcr_buf_at(buf, at, off + len - at, &run);
			WARN_ONCE(memchr_inv(p, 0, run),
				  "smcr: bytes that the peer did not announce\n");
		}
	}
}
#endif

/**
 * smcr_buf_sges() - SGEs for [off, off+len)
 * @buf: buffer
 * @d: entry of the device that reads them; @buf is mapped for it
 * @lkey: local_dma_lkey of the protection domain on that device
 * @off: start
 * @len: bytes
 * @sge: filled
 * @max: size of @sge
 *
 * The range is synced for that device. Adjacent DMA addresses share an SGE.
 *
 * Context: any.
 * Return: number of SGEs; -ENOSPC if @max is too small, a bug of the caller:
 * see smcr_buf_max_span().
 */
int smcr_buf_sges(const struct smcr_buf *buf, u8 d, u32 lkey, u32 off, u32 len,
		  struct ib_sge *sge, int max)
{
	const struct smcr_buf_map *map = map_of(buf, d);
	int n = 0;
	u32 run;

	if (READ_ONCE(buf->sync))
		map_sync_dev(buf, map, off, len);
	for (; len; off += run, len -= run) {
		u64 dma = buf_dma_at(buf, map, off, len, &run);

		if (n && sge[n - 1].addr + sge[n - 1].length == dma) {
			sge[n - 1].length += run;
			continue;
		}
		if (WARN_ON_ONCE(n == max))
			return -ENOSPC;
		sge[n].addr = dma;
		sge[n].length = run;
		sge[n].lkey = lkey;
		n++;
	}
	return n;
}
