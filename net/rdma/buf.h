/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers that devices read or write: lists of equally sized chunks of pages,
 * DMA-mapped one by one through ib_dma_*, separately for each device of a link
 * group. Send buffers are used with the PD's local_dma_lkey, RMBs are
 * registered (rmb.h).
 *
 * The entry of a device (@d) is its index in the group's table of devices,
 * smcr_lgr.rmbs.devs, and in smcr_buf.map.
 */
#ifndef _SMCR_BUF_H
#define _SMCR_BUF_H

#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "base/base.h"

/* Maximum number of devices that the links of a group are on at a time */
#define SMCR_DEVS_MAX	8

/**
 * struct smcr_buf_map - mapping for one device; immutable once published
 * @ibdev: device
 * @buf: buffer
 * @next: next in the list of mappings that smcr_buf_unmap_begin() has taken off
 *	their buffers; used by its caller only
 * @dma: DMA address of each chunk
 */
struct smcr_buf_map {
	struct ib_device *ibdev;
	struct smcr_buf *buf;
	struct smcr_buf_map *next;
	u64 dma[];
};

/**
 * struct smcr_buf - a buffer of chunks; a member is immutable unless stated
 * @map: mapping for each device, by the device's entry. Readers use RCU. The
 *	owner of the buffer makes one call of smcr_buf_map() at a time, and
 *	none while another call unmaps the same entry
 * @n_map: one more than the highest entry that was ever in use; written by
 *	smcr_buf_map(), READ_ONCE()
 * @sync: the buffer was mapped for a device that uses DMA addresses, so it has
 *	to be synced; written by smcr_buf_map(), READ_ONCE()
 * @sn: namespace that its memory counts against
 * @dir: DMA direction
 * @size: bytes
 * @chunk_shift: log2 of the chunk size
 * @n_chunks: number of chunks
 * @chunk: kernel address of each chunk
 * @refs: references: the owner's until smcr_buf_free(), and one for each
 *	smcr_buf_pin()
 * @reclaim_next: next in smcr_link.reclaim, the list of buffers that an RDMA
 *	WRITE may still read; smcr_link.lock
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

/* Send buffers of up to this many bytes are allocated beyond max_mem, too */
#define SMCR_BUF_SMALL	(16 * 1024)

/**
 * struct smcr_buf_params - arguments of smcr_buf_alloc()
 * @sn: namespace that the memory counts against
 * @ibdev: first device that the buffer is mapped for; it outlives the mapping
 * @d: entry of @ibdev
 * @over: returns true if the buffer is not needed any more, so that its
 *	allocation is given up; called before each single page, in the context
 *	of smcr_buf_alloc(), but not for a send buffer
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

/* Kernel address of byte @off; *@run = contiguous bytes there, at most @len */
static inline void *smcr_buf_at(const struct smcr_buf *buf, u32 off, u32 len,
				u32 *run)
{
	u32 in = off & ((1U << buf->chunk_shift) - 1);

	*run = min(len, (1U << buf->chunk_shift) - in);
	return (char *)buf->chunk[off >> buf->chunk_shift] + in;
}

/* DMA address of chunk @i on a device that the buffer stays mapped for */
static inline u64 smcr_buf_dma(const struct smcr_buf *buf, u8 d, u32 i)
{
	return rcu_dereference_protected(buf->map[d], true)->dma[i];
}

void smcr_buf_zero(struct smcr_buf *buf, u32 off, u32 len);

int smcr_buf_sges(const struct smcr_buf *buf, u8 d, u32 lkey, u32 off, u32 len,
		  struct ib_sge *sge, int max);

/* Length of a range that fits @max SGEs wherever it starts */
static inline u32 smcr_buf_max_span(const struct smcr_buf *buf, int max)
{
	return (u32)(max - 1) << buf->chunk_shift;
}

void smcr_buf_sync_cpu(const struct smcr_buf *buf, u8 d, u32 off, u32 len);
void smcr_buf_sync_dev(const struct smcr_buf *buf, u32 off, u32 len);

#endif /* _SMCR_BUF_H */
