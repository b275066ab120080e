// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages whose fault never ends, as with userfaultfd, which UML does not have: a
 * thread that touches a mapped page of /proc/smcr_page waits until it is
 * killed.
 *
 *	waiting		number of threads that wait now
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/wait.h>

static atomic_t waiting = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(never);

static int waiting_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&waiting));
}

static const struct kernel_param_ops waiting_ops = {
	.get = waiting_get,
};

module_param_cb(waiting, &waiting_ops, NULL, 0444);

/*
 * Waits without mmap_lock, so that other threads can change the address space
 */
static vm_fault_t page_fault(struct vm_fault *vmf)
{
	if (!fault_flag_allow_retry_first(vmf->flags))
		return VM_FAULT_SIGBUS;
	mmap_read_unlock(vmf->vma->vm_mm);
	atomic_inc(&waiting);
	wait_event_killable(never, false);
	atomic_dec(&waiting);
	return VM_FAULT_RETRY;
}

static const struct vm_operations_struct page_vm_ops = {
	.fault = page_fault,
};

static int page_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &page_vm_ops;
	return 0;
}

static const struct proc_ops page_ops = {
	.proc_mmap = page_mmap,
};

static int __init page_init(void)
{
	return proc_create("smcr_page", 0666, NULL, &page_ops) ? 0 : -ENOMEM;
}

static void __exit page_exit(void)
{
	remove_proc_entry("smcr_page", NULL);
}

module_init(page_init);
module_exit(page_exit);
MODULE_DESCRIPTION("pages that never come");
MODULE_LICENSE("GPL");
