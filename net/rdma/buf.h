/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers that devices read or write. A buffer is a list of equally sized
 * chunks of pages. Each chunk is DMA-mapped on its own, once for each device of
 * a link group that uses the buffer. RMBs are registered (rmb.h). All other
 * buffers are used with the PD's local_dma_lkey.
 *
 * The entry of a device (@d) is its index in the group's table of devices,
 * smcr_lgr.rmbs.devs. It is also the index of the mapping in smcr_buf.map.
 */
#ifndef _SMCR_BUF_H
#define _SMCR_BUF_H

#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/uio.h>
#include <rdma/ib_verbs.h>
#include "base/base.h"

/* Maximum number of devices that the links of a group use at a time */
#define SMCR_DEVS_MAX	8

/**
 * struct smcr_buf_map - mapping of a buffer for one device
 * @ibdev: device; immutable
 * @buf: buffer; immutable
 * @next: next in the list that smcr_buf_unmap_begin() puts mappings on; only
 *	the caller of that function uses it
 * @dma: DMA address of each chunk; immutable once published in smcr_buf.map
 */
struct smcr_buf_map {
	struct ib_device *ibdev;
	struct smcr_buf *buf;
	struct smcr_buf_map *next;
	u64 dma[];
};

/**
 * struct smcr_buf - a buffer of chunks; a member is immutable unless stated
 * @map: mapping for each device, by the device's entry; readers use RCU. The
 *	owner of the buffer makes one call of smcr_buf_map() at a time, and
 *	never maps and unmaps one entry at the same time
 * @n_map: one more than the highest entry that was ever mapped; written by
 *	smcr_buf_map(), READ_ONCE()
 * @sync: the buffer has to be synced, as one of its mappings is not coherent or
 *	has bounce buffers; written by smcr_buf_map(), READ_ONCE()
 * @sn: namespace whose max_mem the memory of the buffer counts against
 * @dir: DMA direction
 * @size: bytes
 * @chunk_shift: log2 of the chunk size
 * @n_chunks: number of chunks
 * @chunk: kernel address of each chunk
 * @refs: references on this structure: one of the owner until smcr_buf_free(),
 *	and one for each smcr_buf_pin() until smcr_buf_unpin()
 * @reclaim_next: next in the reclaim list of a link (smcr_link.reclaim);
 *	smcr_link.lock
 */
struct smcr_buf {
	struct smcr_buf_map __rcu *map[SMCR_DEVS_MAX];
	u8 n_map;
	bool sync;
	struct smcr_net *sn;
	enum dma_data_direction dir;
	u32 size;
	u8 chunk_shift;
	u16 n_chunks;
	refcount_t refs;
	struct smcr_buf *reclaim_next;
	void *chunk[];
};

/* A send buffer of at most this size is allocated even beyond max_mem */
#define SMCR_BUF_SMALL	(16 * 1024)

/**
 * struct smcr_buf_params - arguments of smcr_buf_alloc()
 * @sn: namespace whose max_mem the memory of the buffer counts against
 * @ibdev: first device that the buffer is mapped for; it outlives the mapping
 * @d: entry of @ibdev
 * @over: returns true if the buffer is not needed any more, so that its
 *	allocation fails; smcr_buf_alloc() calls it before each single page, but
 *	never for a send buffer
 * @arg: argument of @over
 */
struct smcr_buf_params {
	struct smcr_net *sn;
	struct ib_device *ibdev;
	u8 d;
	bool (*over)(const void *arg);
	const void *arg;
};

struct smcr_buf *smcr_buf_alloc(const struct smcr_buf_params *who, u32 size,
				enum dma_data_direction dir);
void smcr_buf_free(struct smcr_buf *buf);
int smcr_buf_map(struct smcr_buf *buf, u8 d, struct ib_device *ibdev);
void smcr_buf_unmap(struct smcr_buf *buf, u8 d);
void smcr_buf_unmap_begin(struct smcr_buf *buf, u8 d,
			  struct smcr_buf_map **list);
void smcr_buf_unmap_end(struct smcr_buf_map *list);

long smcr_buf_mem(struct smcr_net *sn);

void smcr_buf_pin(struct smcr_buf *buf, u32 off, u32 len);
void smcr_buf_unpin(struct smcr_buf *buf, u32 off, u32 len);

/*
 * Kernel address of byte @off. *@run is set to the number of bytes that are
 * contiguous from there on, at most @len.
 */
static inline void *smcr_buf_at(const struct smcr_buf *buf, u32 off, u32 len,
				u32 *run)
{
	u32 in = off & ((1U << buf->chunk_shift) - 1);

	*run = min(len, (1U << buf->chunk_shift) - in);
	return (char *)buf->chunk[off >> buf->chunk_shift] + in;
}

/*
 * Copy @len bytes, contiguous from @p on, out of a buffer or into it. The copy
 * of a page is cheaper than copy_to_iter(), which first looks if the memory is a
 * slab object. Over many pages copy_to_iter() is cheaper. In Linux 6.1, an
 * iterator may be a pipe (splice()), which would get the page itself.
 */
static inline size_t smcr_buf_copy_out(const void *p, size_t len,
				       struct iov_iter *to)
{
	if (len > PAGE_SIZE || !user_backed_iter(to))
		return copy_to_iter(p, len, to);
	return copy_page_to_iter(virt_to_page(p), offset_in_page(p), len, to);
}

static inline size_t smcr_buf_copy_in(void *p, size_t len,
				      struct iov_iter *from)
{
	if (len > PAGE_SIZE)
		return copy_from_iter(p, len, from);
	return copy_page_from_iter(virt_to_page(p), offset_in_page(p), len,
				   from);
}

/* DMA address of chunk @i for entry @d, which is mapped and stays so */
static inline u64 smcr_buf_dma(const struct smcr_buf *buf, u8 d, u32 i)
{
	return rcu_dereference_protected(buf->map[d], true)->dma[i];
}

void smcr_buf_zero(struct smcr_buf *buf, u32 off, u32 len);
#ifdef SMCR_RACE
void smcr_buf_check_zero(struct smcr_buf *buf, u32 off, u32 len);
#else
static inline void smcr_buf_check_zero(struct smcr_buf *buf, u32 off, u32 len)
{
}
#endif

int smcr_buf_sges(const struct smcr_buf *buf, u8 d, u32 lkey, u32 off, u32 len,
		  struct ib_sge *sge, int max);

/* Length of a range that fits @max SGEs at any offset in the buffer */
static inline u32 smcr_buf_max_span(const struct smcr_buf *buf, int max)
{
	return (u32)(max - 1) << buf->chunk_shift;
}

void smcr_buf_sync_cpu(const struct smcr_buf *buf, u8 d, u32 off, u32 len);
void smcr_buf_sync_dev(const struct smcr_buf *buf, u32 off, u32 len);

#endif /* _SMCR_BUF_H */
