// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access of the device to memory by DMA address. With mappings of its own (the
 * kernel has DMA operations, knob shadow) the device sees a copy of every
 * buffer, in an address space of its own, as behind an IOMMU and without
 * coherent caches: a buffer that was not synced is stale, and an access that is
 * not mapped, or not for this direction, is a DMA fault. Otherwise DMA
 * addresses are the kernel's (or a bounce buffer's, with swiotlb=force).
 */
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include "rnicsim.h"

static void dma_fault(struct rs_dev *dev, u64 addr, u32 len, bool write)
{
	rs_count(dev, dma_faults);
	dev_err_ratelimited(&dev->pdev->dev, "DMA fault: %s of %u bytes at %#llx\n",
			    write ? "write" : "read", len, addr);
}

static int dma_limits(struct device *dev)
{
	dma_set_max_seg_size(dev, UINT_MAX);
	return dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
}

static bool direct_io(struct rs_dev *dev, u64 addr, u8 *buf, u32 len,
		      bool write)
{
	phys_addr_t phys;
	u32 n;
	u8 *p;

	for (; len; len -= n, buf += n, addr += n) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(addr));
		phys = dma_to_phys(&dev->pdev->dev, addr);
		if (!pfn_valid(PHYS_PFN(phys))) {
			dma_fault(dev, addr, n, write);
			return false;
		}
		p = phys_to_virt(phys);
		if (write)
			memcpy(p, buf, n);
		else
			memcpy(buf, p, n);
	}
	return true;
}

#ifdef RS_DMA_OPS

#define RS_IOVA_FIRST	BIT_ULL(32)

/* A mapping; only the bytes of its buffers change while it is in dev->maps */
struct rs_map {
	struct rb_node node;
	u64 iova;
	size_t size;
	enum dma_data_direction dir;
	u8 *cpu;
	u8 *shadow;	/* what the device sees; @cpu for user memory */
};

static bool to_device(enum dma_data_direction dir)
{
	return dir == DMA_TO_DEVICE || dir == DMA_BIDIRECTIONAL;
}

static bool from_device(enum dma_data_direction dir)
{
	return dir == DMA_FROM_DEVICE || dir == DMA_BIDIRECTIONAL;
}

static struct rs_dev *dev_of(struct device *dev)
{
	return dev_get_drvdata(dev);
}

/* A mapping that overlaps @len bytes from @addr on, or NULL */
static struct rs_map *map_find(struct rs_dev *dev, u64 addr, u64 len)
{
	struct rb_node *node = dev->maps.rb_node;
	struct rs_map *map;

	lockdep_assert_held(&dev->dma_lock);
	while (node) {
		map = rb_entry(node, struct rs_map, node);
		if (addr + len <= map->iova)
			node = node->rb_left;
		else if (addr >= map->iova + map->size)
			node = node->rb_right;
		else
			return map;
	}
	return NULL;
}

static bool map_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct rs_map, node)->iova <
	       rb_entry(b, struct rs_map, node)->iova;
}

static void map_free(struct rs_map *map)
{
	if (map->shadow != map->cpu)
		free_pages_exact(map->shadow, map->size);
	kfree(map);
}

static bool map_refused(struct rs_dev *dev)
{
	return rs_fault_verb(dev, RS_F_DMA_MAP, NULL, -ENOMEM);
}

static dma_addr_t map_new(struct rs_dev *dev, phys_addr_t phys, size_t size,
			  enum dma_data_direction dir)
{
	bool user = READ_ONCE(dev->umem_task) == current && !in_interrupt();
	struct rs_map *map;
	unsigned long flags;

	map = size ? kzalloc(sizeof(*map), GFP_ATOMIC | __GFP_NOWARN) : NULL;
	if (!map)
		return DMA_MAPPING_ERROR;
	map->size = size;
	map->dir = dir;
	map->cpu = phys_to_virt(phys);
	map->shadow = user ? map->cpu :
		      alloc_pages_exact(size, GFP_ATOMIC | __GFP_NOWARN);
	if (!map->shadow) {
		kfree(map);
		return DMA_MAPPING_ERROR;
	}
	if (!user)
		memcpy(map->shadow, map->cpu, size);

	write_lock_irqsave(&dev->dma_lock, flags);
	map->iova = dev->next_iova + offset_in_page(phys);
	/* an unmapped page, so that no access runs into the next mapping */
	dev->next_iova += PAGE_ALIGN(offset_in_page(phys) + size) + PAGE_SIZE;
	rb_add(&map->node, &dev->maps, map_less);
	write_unlock_irqrestore(&dev->dma_lock, flags);
	return map->iova;
}

/* As map_find(), and removes it from dev->maps */
static struct rs_map *map_take(struct rs_dev *dev, u64 addr, u64 len)
{
	unsigned long flags;
	struct rs_map *map;

	write_lock_irqsave(&dev->dma_lock, flags);
	map = map_find(dev, addr, len);
	if (map)
		rb_erase(&map->node, &dev->maps);
	write_unlock_irqrestore(&dev->dma_lock, flags);
	return map;
}

static void map_del(struct rs_dev *dev, dma_addr_t addr, size_t size,
		    enum dma_data_direction dir, unsigned long attrs)
{
	struct rs_map *map = map_take(dev, addr, 1);

	if (!map || addr != map->iova || size != map->size || dir != map->dir)
		dev_err_ratelimited(&dev->pdev->dev, "unmap of %zu bytes at %#llx, direction %d: so they are not mapped\n",
				    size, (u64)addr, dir);
	if (!map)
		return;
	if (map->shadow != map->cpu && from_device(map->dir) &&
	    !(attrs & DMA_ATTR_SKIP_CPU_SYNC))
		memcpy(map->cpu, map->shadow, map->size);
	map_free(map);
}

static void map_sync(struct device *d, dma_addr_t addr, size_t size,
		     enum dma_data_direction dir, bool cpu)
{
	struct rs_dev *dev = dev_of(d);
	unsigned long flags;
	struct rs_map *map;
	size_t off;

	read_lock_irqsave(&dev->dma_lock, flags);
	map = map_find(dev, addr, 1);
	off = map ? addr - map->iova : 0;
	if (!map || size > map->size - off ||
	    (dir != map->dir && map->dir != DMA_BIDIRECTIONAL)) {
		dev_err_ratelimited(d, "sync of %zu bytes at %#llx, direction %d: so they are not mapped\n",
				    size, (u64)addr, dir);
	} else if (map->shadow == map->cpu) {
		/* user memory is coherent */
	} else if (cpu) {
		if (from_device(dir))
			memcpy(map->cpu + off, map->shadow + off, size);
	} else if (to_device(dir)) {
		memcpy(map->shadow + off, map->cpu + off, size);
	}
	read_unlock_irqrestore(&dev->dma_lock, flags);
}

static void rs_sync_for_cpu(struct device *d, dma_addr_t addr, size_t size,
			    enum dma_data_direction dir)
{
	map_sync(d, addr, size, dir, true);
}

static void rs_sync_for_device(struct device *d, dma_addr_t addr, size_t size,
			       enum dma_data_direction dir)
{
	map_sync(d, addr, size, dir, false);
}

static void rs_sync_sg_for_cpu(struct device *d, struct scatterlist *sgl, int n,
			       enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, n, i)
		map_sync(d, sg_dma_address(sg), sg_dma_len(sg), dir, true);
}

static void rs_sync_sg_for_device(struct device *d, struct scatterlist *sgl,
				  int n, enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, n, i)
		map_sync(d, sg_dma_address(sg), sg_dma_len(sg), dir, false);
}

static void rs_unmap_sg(struct device *d, struct scatterlist *sgl, int n,
			enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, n, i)
		map_del(dev_of(d), sg_dma_address(sg), sg_dma_len(sg), dir,
			attrs);
}

static int rs_map_sg(struct device *d, struct scatterlist *sgl, int n,
		     enum dma_data_direction dir, unsigned long attrs)
{
	struct rs_dev *dev = dev_of(d);
	struct scatterlist *sg;
	int i;

	if (map_refused(dev))
		return -ENOMEM;
	for_each_sg(sgl, sg, n, i) {
		sg_dma_address(sg) = map_new(dev, sg_phys(sg), sg->length, dir);
		if (sg_dma_address(sg) == DMA_MAPPING_ERROR) {
			rs_unmap_sg(d, sgl, i, dir,
				    attrs | DMA_ATTR_SKIP_CPU_SYNC);
			return -ENOMEM;
		}
		sg_dma_len(sg) = sg->length;
	}
	return n;
}

static dma_addr_t map_one(struct device *d, phys_addr_t phys, size_t size,
			  enum dma_data_direction dir)
{
	struct rs_dev *dev = dev_of(d);

	return map_refused(dev) ? DMA_MAPPING_ERROR :
				  map_new(dev, phys, size, dir);
}

#ifdef RS_MAP_PHYS
static dma_addr_t rs_map_phys(struct device *d, phys_addr_t phys, size_t size,
			      enum dma_data_direction dir, unsigned long attrs)
{
	return map_one(d, phys, size, dir);
}
#else
static dma_addr_t rs_map_page(struct device *d, struct page *page,
			      unsigned long off, size_t size,
			      enum dma_data_direction dir, unsigned long attrs)
{
	return map_one(d, page_to_phys(page) + off, size, dir);
}
#endif

static void rs_unmap(struct device *d, dma_addr_t addr, size_t size,
		     enum dma_data_direction dir, unsigned long attrs)
{
	map_del(dev_of(d), addr, size, dir, attrs);
}

static const struct dma_map_ops shadow_ops = {
#ifdef RS_MAP_PHYS
	.map_phys = rs_map_phys,
	.unmap_phys = rs_unmap,
#else
	.map_page = rs_map_page,
	.unmap_page = rs_unmap,
#endif
	.map_sg = rs_map_sg,
	.unmap_sg = rs_unmap_sg,
	.sync_single_for_cpu = rs_sync_for_cpu,
	.sync_single_for_device = rs_sync_for_device,
	.sync_sg_for_cpu = rs_sync_sg_for_cpu,
	.sync_sg_for_device = rs_sync_sg_for_device,
};

static bool shadow_io(struct rs_dev *dev, u64 addr, void *buf, u32 len,
		      bool write)
{
	const struct rs_map *map;
	unsigned long flags;
	size_t off;
	bool ok;

	read_lock_irqsave(&dev->dma_lock, flags);
	map = map_find(dev, addr, 1);
	off = map ? addr - map->iova : 0;
	ok = map && len <= map->size - off &&
	     (write ? from_device(map->dir) : to_device(map->dir));
	if (!ok)
		dma_fault(dev, addr, len, write);
	else if (write)
		memcpy(map->shadow + off, buf, len);
	else
		memcpy(buf, map->shadow + off, len);
	read_unlock_irqrestore(&dev->dma_lock, flags);
	return ok;
}

int rs_dma_init(struct rs_dev *dev)
{
	dev->maps = RB_ROOT;
	dev->next_iova = RS_IOVA_FIRST;
	dev_set_drvdata(&dev->pdev->dev, dev);
	if (rs_get(dev, RS_K_SHADOW))
		set_dma_ops(&dev->pdev->dev, &shadow_ops);
	/*
	 * after set_dma_ops(): the mask's setter decides if syncs are skipped
	 */
	return dma_limits(&dev->pdev->dev);
}

/**
 * rs_dma_drop() - free mappings that their owner cannot unmap
 * @dev: device
 * @addr: start of a range
 * @len: bytes of the range; each mapping that overlaps it is freed
 *
 * Context: any.
 */
void rs_dma_drop(struct rs_dev *dev, u64 addr, u64 len)
{
	struct rs_map *map;

	while ((map = map_take(dev, addr, len)))
		map_free(map);
}

/* A mapping that is left is a bug of the module that mapped it */
void rs_dma_exit(struct rs_dev *dev)
{
	struct rs_map *map, *next;

	rbtree_postorder_for_each_entry_safe(map, next, &dev->maps, node) {
		dev_err(&dev->pdev->dev, "%zu bytes at %#llx are still mapped\n",
			map->size, map->iova);
		map_free(map);
	}
}

/**
 * rs_dma_io() - the device reads or writes memory
 * @dev: device
 * @addr: DMA address
 * @buf: destination of a read, source of a write
 * @len: bytes
 * @write: the device writes
 *
 * Context: rs_lock.
 * Return: false if it is not mapped, or not for this direction.
 */
bool rs_dma_io(struct rs_dev *dev, u64 addr, void *buf, u32 len, bool write)
{
	if (rs_get(dev, RS_K_SHADOW))
		return shadow_io(dev, addr, buf, len, write);
	return direct_io(dev, addr, buf, len, write);
}

#else /* !RS_DMA_OPS */

int rs_dma_init(struct rs_dev *dev)
{
	dev->knob[RS_K_SHADOW] = 0;
	return dma_limits(&dev->pdev->dev);
}

void rs_dma_drop(struct rs_dev *dev, u64 addr, u64 len)
{
}

void rs_dma_exit(struct rs_dev *dev)
{
}

bool rs_dma_io(struct rs_dev *dev, u64 addr, void *buf, u32 len, bool write)
{
	return direct_io(dev, addr, buf, len, write);
}

#endif /* RS_DMA_OPS */
