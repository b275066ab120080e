// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs of a device that fail or wait, by parameters:
 *
 *	dereg=N		ib_dereg_mr() fails N times. Unloading deregisters these
 *			regions, and frees their protection domains if nothing
 *			else is in them
 *	destroy=N	ib_destroy_qp() fails N times. Unloading destroys these
 *			queue pairs
 *	post=N		the Nth chain of several send requests is posted up to its
 *			first request, an RDMA WRITE, and fails behind it
 *	hold_create=1	ib_create_qp() returns when it is 0 again
 *	hold_err=1	ib_modify_qp() to ERR does nothing before it is 0 again
 *	no_err=1	ib_modify_qp() to ERR reports success and does nothing.
 *			Unloading moves the queue pairs of destroy=N to ERR, so
 *			what is outstanding on them completes then
 *	held		number of calls that wait for one of these two now
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/irq_poll.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "by_name.h"

/* Limit of a wait, if the test does not end it */
#define HOLD_MAX	(30 * HZ)

static char *dev = "rxe0";
module_param(dev, charp, 0444);
static int dereg;
module_param(dereg, int, 0644);
static int destroy;
module_param(destroy, int, 0644);
static bool hold_create;
module_param(hold_create, bool, 0644);
static bool hold_err;
module_param(hold_err, bool, 0644);
static bool no_err;
module_param(no_err, bool, 0644);

static atomic_t post = ATOMIC_INIT(0);
static atomic_t held = ATOMIC_INIT(0);

static int count_set(const char *val, const struct kernel_param *kp)
{
	int n, rc = kstrtoint(val, 0, &n);

	if (!rc)
		atomic_set(kp->arg, n);
	return rc;
}

static int count_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read((atomic_t *)kp->arg));
}

static const struct kernel_param_ops count_ops = {
	.set = count_set,
	.get = count_get,
};

module_param_cb(post, &count_ops, &post, 0644);
module_param_cb(held, &count_ops, &held, 0444);

static DEFINE_MUTEX(lock);	/* the four below, dereg and destroy */
static struct ib_mr *kept[64];
static unsigned int n_kept;
static struct ib_qp *kept_qp[8];
static unsigned int n_kept_qp;

static struct ib_device *ibdev;
static struct ib_device_ops real;

static void hold(const bool *on)
{
	unsigned long end = jiffies + HOLD_MAX;

	atomic_inc(&held);
	while (READ_ONCE(*on) && time_before(jiffies, end))
		msleep(20);
	atomic_dec(&held);
}

static int verbsfail_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	bool refused;

	mutex_lock(&lock);
	refused = dereg > 0 && n_kept < ARRAY_SIZE(kept);
	if (refused) {
		dereg--;
		kept[n_kept++] = mr;
	}
	mutex_unlock(&lock);
	return refused ? -EBUSY : real.dereg_mr(mr, udata);
}

static int verbsfail_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	bool refused;

	mutex_lock(&lock);
	refused = destroy > 0 && n_kept_qp < ARRAY_SIZE(kept_qp);
	if (refused) {
		destroy--;
		kept_qp[n_kept_qp++] = qp;
	}
	mutex_unlock(&lock);
	return refused ? -EBUSY : real.destroy_qp(qp, udata);
}

static int verbsfail_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			       const struct ib_send_wr **bad)
{
	struct ib_rdma_wr head;
	int rc;

	if (!wr->next || wr->opcode != IB_WR_RDMA_WRITE ||
	    atomic_dec_if_positive(&post) != 0)
		return real.post_send(qp, wr, bad);
	head = *rdma_wr(wr);
	head.wr.next = NULL;
	rc = real.post_send(qp, &head.wr, bad);
	*bad = rc ? wr : wr->next;
	return rc ?: -ENOMEM;
}

static int verbsfail_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			       struct ib_udata *udata)
{
	if (READ_ONCE(hold_create))
		hold(&hold_create);
	return real.create_qp(qp, attr, udata);
}

static int verbsfail_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr,
			       int mask, struct ib_udata *udata)
{
	bool err = (mask & IB_QP_STATE) && attr->qp_state == IB_QPS_ERR;

	if (err && READ_ONCE(hold_err))
		hold(&hold_err);
	if (err && READ_ONCE(no_err))
		return 0;
	return real.modify_qp(qp, attr, mask, udata);
}

static int __init verbsfail_init(void)
{
	ibdev = device_by_name(dev);
	if (!ibdev)
		return -ENODEV;
	real = ibdev->ops;
	WRITE_ONCE(ibdev->ops.dereg_mr, verbsfail_dereg_mr);
	WRITE_ONCE(ibdev->ops.destroy_qp, verbsfail_destroy_qp);
	WRITE_ONCE(ibdev->ops.post_send, verbsfail_post_send);
	WRITE_ONCE(ibdev->ops.create_qp, verbsfail_create_qp);
	WRITE_ONCE(ibdev->ops.modify_qp, verbsfail_modify_qp);
	return 0;
}

/*
 * Destroy a queue pair that was kept. The module that has created it does not look at its
 * completions any more, so ib_free_cq() would wait for ever.
 */
static void end_kept(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_cq *cq = qp->send_cq;
	struct ib_pd *pd = qp->pd;

	ib_modify_qp(qp, &attr, IB_QP_STATE);
	msleep(100);	/* what it flushes completes meanwhile */
	if (ib_destroy_qp(qp))
		return;
	if (cq->poll_ctx == IB_POLL_SOFTIRQ) {
		set_bit(IRQ_POLL_F_DISABLE, &cq->iop.state);
		irq_poll_enable(&cq->iop);
	} else {
		clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&cq->work));
	}
	ib_free_cq(cq);
	if (!atomic_read(&pd->usecnt))
		ib_dealloc_pd(pd);
}

static void __exit verbsfail_exit(void)
{
	WRITE_ONCE(ibdev->ops.dereg_mr, real.dereg_mr);
	WRITE_ONCE(ibdev->ops.destroy_qp, real.destroy_qp);
	WRITE_ONCE(ibdev->ops.post_send, real.post_send);
	WRITE_ONCE(ibdev->ops.create_qp, real.create_qp);
	WRITE_ONCE(ibdev->ops.modify_qp, real.modify_qp);
	hold_create = false;
	hold_err = false;
	while (atomic_read(&held))
		msleep(20);
	while (n_kept_qp)
		end_kept(kept_qp[--n_kept_qp]);
	while (n_kept) {
		struct ib_mr *mr = kept[--n_kept];
		struct ib_pd *pd = mr->pd;

		if (!ib_dereg_mr(mr) && !atomic_read(&pd->usecnt))
			ib_dealloc_pd(pd);
	}
	ib_device_put(ibdev);
}

module_init(verbsfail_init);
module_exit(verbsfail_exit);
MODULE_DESCRIPTION("Verbs that fail or take their time, for tests");
MODULE_LICENSE("GPL");
