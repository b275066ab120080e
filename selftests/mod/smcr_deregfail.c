// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes ib_dereg_mr() of a device fail as often as the parameter "fail" says. On
 * unloading what was refused is deregistered after all, and its protection
 * domain goes when nothing else is in it.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

static char *dev = "rxe0";
module_param(dev, charp, 0444);
static int fail;
module_param(fail, int, 0644);

static DEFINE_MUTEX(lock);	/* the two below, and fail */
static struct ib_mr *kept[64];
static unsigned int n_kept;

static struct ib_device *ibdev;
static int (*real_dereg)(struct ib_mr *mr, struct ib_udata *udata);

static int failing_dereg(struct ib_mr *mr, struct ib_udata *udata)
{
	bool refused;

	mutex_lock(&lock);
	refused = fail > 0 && n_kept < ARRAY_SIZE(kept);
	if (refused) {
		fail--;
		kept[n_kept++] = mr;
	}
	mutex_unlock(&lock);
	return refused ? -EBUSY : real_dereg(mr, udata);
}

static int __init deregfail_init(void)
{
	ibdev = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	if (!ibdev)
		return -ENODEV;
	real_dereg = ibdev->ops.dereg_mr;
	WRITE_ONCE(ibdev->ops.dereg_mr, failing_dereg);
	return 0;
}

static void __exit deregfail_exit(void)
{
	WRITE_ONCE(ibdev->ops.dereg_mr, real_dereg);
	while (n_kept) {
		struct ib_mr *mr = kept[--n_kept];
		struct ib_pd *pd = mr->pd;

		if (!ib_dereg_mr(mr) && !atomic_read(&pd->usecnt))
			ib_dealloc_pd(pd);
	}
	ib_device_put(ibdev);
}

module_init(deregfail_init);
module_exit(deregfail_exit);
MODULE_DESCRIPTION("Failures of ib_dereg_mr() for tests");
MODULE_LICENSE("GPL");
