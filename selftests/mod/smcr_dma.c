// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wrong uses of DMA mappings by a driver, one at a time, by parameters:
 *
 *	dev=NAME	the RDMA device
 *	what=right	nothing is wrong
 *	what=size, what=dir, what=start
 *			unmapped with another size, direction or start
 *	what=sync_size, what=sync_dir
 *			synced with a byte more than was mapped, another direction
 *	what=kept	a region of one page, whose mapping begins inside that page, is
 *			deregistered; if that fails, all of it is left as it is
 */
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include "by_name.h"

static char *dev = "rxe0";
module_param(dev, charp, 0444);
static char *what = "right";
module_param(what, charp, 0444);

enum { LEN = 512, IN_PAGE = 128 };

static u8 *page;

static bool is(const char *name)
{
	return !strcmp(what, name);
}

/* Map, sync both ways, sync a part, unmap: right, or wrong as @what demands */
static int once(struct ib_device *ib, enum dma_data_direction dir)
{
	enum dma_data_direction other = dir == DMA_TO_DEVICE ? DMA_FROM_DEVICE :
							      DMA_TO_DEVICE;
	enum dma_data_direction sync = is("sync_dir") ? other : dir;
	size_t len = LEN + is("sync_size"), move = is("start") ? 16 : 0;
	u64 addr = ib_dma_map_single(ib, page + IN_PAGE, LEN, dir);

	if (ib_dma_mapping_error(ib, addr))
		return -ENOMEM;
	ib_dma_sync_single_for_cpu(ib, addr, len, sync);
	ib_dma_sync_single_for_device(ib, addr, len, sync);
	ib_dma_sync_single_for_cpu(ib, addr + 8, 8, dir);
	ib_dma_unmap_single(ib, addr + move, LEN - move - is("size"),
			    is("dir") ? other : dir);
	return 0;
}

static int kept(struct ib_device *ib)
{
	struct scatterlist sg;
	struct ib_pd *pd;
	struct ib_mr *mr;
	int rc = -ENOMEM;

	pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(mr))
		goto err_pd;
	sg_init_one(&sg, page + IN_PAGE, LEN);
	if (ib_dma_map_sg(ib, &sg, 1, DMA_FROM_DEVICE) != 1)
		goto err_mr;
	rc = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	if (ib_dereg_mr(mr))
		return rc == 1 ? 0 : -EIO;
	ib_dma_unmap_sg(ib, &sg, 1, DMA_FROM_DEVICE);
	ib_dealloc_pd(pd);
	return -EEXIST;		/* the region was deregistered */

err_mr:
	ib_dereg_mr(mr);
err_pd:
	ib_dealloc_pd(pd);
	return rc;
}

static int __init dma_init(void)
{
	struct ib_device *ib;
	int rc;

	page = (u8 *)get_zeroed_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	ib = device_by_name(dev);
	if (!ib) {
		rc = -ENODEV;
		goto err;
	}
	if (is("kept")) {
		rc = kept(ib);
	} else {
		rc = once(ib, DMA_TO_DEVICE);
		if (!rc)
			rc = once(ib, DMA_FROM_DEVICE);
	}
	ib_device_put(ib);
	if (!rc)
		return 0;
err:
	free_page((unsigned long)page);
	return rc;
}

static void __exit dma_exit(void)
{
	free_page((unsigned long)page);
}

module_init(dma_init);
module_exit(dma_exit);
MODULE_DESCRIPTION("DMA mappings that are used wrongly, for tests");
MODULE_LICENSE("GPL");
