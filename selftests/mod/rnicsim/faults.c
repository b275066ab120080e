// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault points: their settings, and the actions that are the same at every
 * point.
 *
 * A fault is set by writing "WHEN [ACTION [ARG]]" to its file; WHEN is
 *	N	at the N-th pass from now, once
 *	N+	at the N-th pass and at every one after it
 *	NxM	at the N-th pass and the M - 1 after it
 *	pP	at each pass with a probability of P millionths
 *	0	never
 * ACTION is one of RS_ACTIONS, "fail" if it is left out; ARG is the errno or
 * the completion status of "fail", the time of "delay", the byte of "corrupt".
 *
 * The file "act" takes an action that needs no queue pair, and does it at once.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include "rnicsim.h"

static const char * const action_names[] = {
#define X(id, name, text) #name,
	RS_ACTIONS(X)
#undef X
};

/* Do an action that is the same at every point; false if the caller has to */
static bool act(struct rs_dev *dev, enum rs_action action, struct rs_qp *qp)
{
	bool up;

	switch (action) {
	case RS_A_NONE:
		break;
	case RS_A_QP_ERR:
		if (qp)
			rs_qp_to_err(qp, 0);
		break;
	case RS_A_QP_FATAL:
		if (qp)
			rs_qp_to_err(qp, BIT(IB_EVENT_QP_FATAL));
		break;
	case RS_A_MUTE:
		if (qp)
			qp->mute = true;
		break;
	case RS_A_PAUSE:
		WRITE_ONCE(dev->knob[RS_K_PAUSED], 1);
		break;
	case RS_A_PORT_ERR:
		WRITE_ONCE(dev->down, true);
		WRITE_ONCE(dev->port_up, false);
		rs_event(dev, IB_EVENT_PORT_ERR);
		break;
	case RS_A_PORT_ACTIVE:
		WRITE_ONCE(dev->down, false);
		up = netif_running(dev->ndev) && netif_carrier_ok(dev->ndev);
		WRITE_ONCE(dev->port_up, up);
		if (up)
			rs_event(dev, IB_EVENT_PORT_ACTIVE);
		break;
	case RS_A_GID_CHANGE:
		if (ib_device_try_get(&dev->ib)) {
			schedule_work(&dev->gid_work);
			ib_device_put(&dev->ib);
		}
		break;
	case RS_A_DEVICE_FATAL:
		/* the others later, when @qp is not locked any more */
		if (qp)
			rs_qp_to_err(qp, 0);
		rs_fatal(dev);
		break;
	case RS_A_REMOVE:
		rs_remove(dev);
		break;
	default:
		return false;
	}
	return true;
}

static bool due(struct rs_dev *dev, struct rs_fault_set *f)
{
	lockdep_assert_held(&dev->lock);
	f->passes++;
	if (f->ppm)
		return rs_random_locked(dev, 1000000) < f->ppm;
	if (!f->next || --f->next)
		return false;
	if (f->times != U32_MAX)
		f->times--;
	if (f->times)
		f->next = 1;
	return true;
}

/**
 * rs_fault() - pass a fault point
 * @dev: device
 * @pt: point
 * @qp: queue pair, or NULL
 * @arg: filled with the argument of the setting, 0 if there is none; or NULL
 *
 * Actions that do not depend on the point are done here: afterwards the state
 * of @qp may have changed.
 *
 * Context: rs_lock, and the lock of @qp.
 * Return: RS_A_FAIL and later: for the caller to do; RS_A_NONE: go on.
 */
enum rs_action rs_fault(struct rs_dev *dev, enum rs_fault_pt pt,
			struct rs_qp *qp, u32 *arg)
{
	struct rs_fault_set *f = &dev->fault[pt];
	enum rs_action action;
	unsigned long flags;
	bool now;

	lockdep_assert_held(&rs_lock);
	spin_lock_irqsave(&dev->lock, flags);
	action = f->action;
	if (arg)
		*arg = f->arg;
	now = due(dev, f);
	if (now)
		f->fired++;
	spin_unlock_irqrestore(&dev->lock, flags);
	if (!now)
		return RS_A_NONE;
	return act(dev, action, qp) ? RS_A_NONE : action;
}

/**
 * rs_fault_lost() - rs_fault() at a point where something can only get lost
 * @dev: device
 * @pt: point
 * @qp: queue pair, or NULL
 *
 * Context: rs_lock, and the lock of @qp.
 */
bool rs_fault_lost(struct rs_dev *dev, enum rs_fault_pt pt, struct rs_qp *qp)
{
	enum rs_action action = rs_fault(dev, pt, qp, NULL);

	return action == RS_A_FAIL || action == RS_A_DROP;
}

/**
 * rs_fault_armed() - may a fault happen at a point?
 * @dev: device
 * @pt: point
 *
 * Context: any.
 */
bool rs_fault_armed(const struct rs_dev *dev, enum rs_fault_pt pt)
{
	return READ_ONCE(dev->fault[pt].next) || READ_ONCE(dev->fault[pt].ppm);
}

/**
 * rs_fault_verb() - rs_fault() for a verb
 * @dev: device
 * @pt: point
 * @qp: queue pair, or NULL
 * @usual: errno of RS_A_FAIL without an argument
 *
 * RS_A_DELAY sleeps here, except at the points that may not sleep. So does
 * RS_A_REMOVE: the RDMA core's removal has begun when the verb returns.
 *
 * Context: any, without rs_lock.
 * Return: 0 or what the verb has to return.
 */
int rs_fault_verb(struct rs_dev *dev, enum rs_fault_pt pt, struct rs_qp *qp,
		  int usual)
{
	enum rs_action action;
	unsigned long flags;
	u32 arg;

	flags = rs_begin();
	if (qp)
		spin_lock(&qp->lock);
	action = rs_fault(dev, pt, qp, &arg);
	if (qp)
		spin_unlock(&qp->lock);
	rs_end(flags);
	if (action == RS_A_REMOVE)
		arg = 20;
	if ((action == RS_A_DELAY || action == RS_A_REMOVE) &&
	    pt != RS_F_DMA_MAP && pt != RS_F_MAP_MR)
		msleep(arg);
	if (action != RS_A_FAIL)
		return 0;
	return arg && usual ? -(int)arg : usual;
}

/* Files */

static int parse_when(const char *when, struct rs_fault_set *f)
{
	char end;

	if (when[0] == 'p')
		return kstrtou32(when + 1, 10, &f->ppm) || f->ppm > 1000000 ?
		       -EINVAL : 0;
	f->times = 1;
	if (!kstrtou32(when, 10, &f->next))
		return 0;
	if (sscanf(when, "%ux%u%c", &f->next, &f->times, &end) == 2)
		return f->next && f->times ? 0 : -EINVAL;
	f->times = U32_MAX;
	if (sscanf(when, "%u%c%c", &f->next, &end, &end) == 2 && end == '+')
		return f->next ? 0 : -EINVAL;
	return -EINVAL;
}

static int parse(char *text, struct rs_fault_set *f)
{
	char *when, *action, *arg;
	int rc;

	text = strim(text);
	when = strsep(&text, " ");
	action = strsep(&text, " ");
	arg = strsep(&text, " ");
	if (!when || text)
		return -EINVAL;
	rc = parse_when(when, f);
	if (rc)
		return rc;
	f->action = RS_A_FAIL;
	if (action) {
		rc = match_string(action_names, RS_ACTIONS_N, action);
		if (rc < 0)
			return -EINVAL;
		f->action = rc;
	}
	if (arg && (kstrtou32(arg, 10, &f->arg) || f->arg > MAX_ERRNO))
		return -EINVAL;
	return 0;
}

static ssize_t fault_write(struct file *f, const char __user *buf, size_t len,
			   loff_t *pos)
{
	const struct rs_file *file = file_inode(f)->i_private;
	struct rs_fault_set *to = &file->dev->fault[file->i];
	struct rs_fault_set set = { };
	unsigned long flags;
	char text[64];
	int rc;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	rc = parse(text, &set);
	if (rc)
		return rc;
	spin_lock_irqsave(&file->dev->lock, flags);
	set.passes = to->passes;
	set.fired = to->fired;
	*to = set;
	spin_unlock_irqrestore(&file->dev->lock, flags);
	return len;
}

static int fault_show(struct seq_file *seq, void *v)
{
	const struct rs_file *file = seq->private;
	struct rs_fault_set f;
	unsigned long flags;

	spin_lock_irqsave(&file->dev->lock, flags);
	f = file->dev->fault[file->i];
	spin_unlock_irqrestore(&file->dev->lock, flags);
	seq_printf(seq, "next %u times %u ppm %u action %s arg %u passes %llu fired %llu\n",
		   f.next, f.times, f.ppm, action_names[f.action], f.arg,
		   f.passes, f.fired);
	return 0;
}

static int fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, fault_show, inode->i_private);
}

static ssize_t act_write(struct file *f, const char __user *buf, size_t len,
			 loff_t *pos)
{
	struct rs_dev *dev = file_inode(f)->i_private;
	unsigned long flags;
	char text[16];
	int action;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	action = match_string(action_names, RS_ACTIONS_N, strim(text));
	if (action < RS_A_PAUSE || action > RS_A_REMOVE)
		return -EINVAL;
	flags = rs_begin();
	act(dev, action, NULL);
	rs_end(flags);
	return len;
}

const struct file_operations rs_act_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = act_write,
	.llseek = noop_llseek,
};

/* Cuts */

static bool has_cut(const struct rs_dev *dev, char way, const struct rs_dev *to)
{
	int i;

	for (i = 0; i < RS_CUTS; i++)
		if (dev->cut[i][0] == way &&
		    !strcmp(dev->cut[i] + 1, to->name))
			return true;
	return false;
}

/**
 * rs_is_cut() - is the way from one device to another cut?
 * @from: device that sends
 * @to: device that would receive it
 *
 * Context: rs_lock.
 */
bool rs_is_cut(const struct rs_dev *from, const struct rs_dev *to)
{
	return has_cut(from, '+', to) || has_cut(to, '+', from) ||
	       has_cut(from, '>', to);
}

/* "+NAME" cuts both ways, ">NAME" the way to it, "-NAME" mends it, "0" all */
static int cut_change(struct rs_dev *dev, const char *text)
{
	int i;

	if (!strcmp(text, "0")) {
		memset(dev->cut, 0, sizeof(dev->cut));
		return 0;
	}
	if (!strchr("+>-", text[0]) || !text[0] || !text[1])
		return -EINVAL;
	for (i = 0; i < RS_CUTS; i++) {
		if (!dev->cut[i][0] || strcmp(dev->cut[i] + 1, text + 1))
			continue;
		dev->cut[i][0] = text[0] == '-' ? '\0' : text[0];
		return 0;
	}
	if (text[0] == '-')
		return -ENOENT;
	for (i = 0; i < RS_CUTS; i++) {
		if (dev->cut[i][0])
			continue;
		strscpy(dev->cut[i], text, sizeof(dev->cut[i]));
		return 0;
	}
	return -ENOSPC;
}

static ssize_t cut_write(struct file *f, const char __user *buf, size_t len,
			 loff_t *pos)
{
	struct rs_dev *dev = file_inode(f)->i_private;
	char text[IB_DEVICE_NAME_MAX + 1];
	unsigned long flags;
	int rc;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	write_lock_irqsave(&rs_lock, flags);
	rc = cut_change(dev, strim(text));
	write_unlock_irqrestore(&rs_lock, flags);
	return rc ?: len;
}

static int cut_show(struct seq_file *seq, void *v)
{
	struct rs_dev *dev = seq->private;
	unsigned long flags;
	int i;

	flags = rs_begin();
	for (i = 0; i < RS_CUTS; i++)
		if (dev->cut[i][0])
			seq_printf(seq, "%s\n", dev->cut[i]);
	rs_end(flags);
	return 0;
}

static int cut_open(struct inode *inode, struct file *file)
{
	return single_open(file, cut_show, inode->i_private);
}

const struct file_operations rs_cut_fops = {
	.owner = THIS_MODULE,
	.open = cut_open,
	.read = seq_read,
	.write = cut_write,
	.llseek = seq_lseek,
	.release = single_release,
};

const struct file_operations rs_fault_fops = {
	.owner = THIS_MODULE,
	.open = fault_open,
	.read = seq_read,
	.write = fault_write,
	.llseek = seq_lseek,
	.release = single_release,
};
