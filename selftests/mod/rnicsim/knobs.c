// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knobs as module parameters and as files, counters, random numbers.
 */
#include <linux/debugfs.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include "rnicsim.h"

struct knob_def {
	enum rs_knob k;
	u32 least;
	u32 most;
	bool run;
};

#define X(id, name, def, least, most, when, text)			\
static const struct knob_def knob_##name = {				\
	RS_K_##id, least, most, (when) == RS_RUN			\
};
RS_KNOBS(X)
#undef X

static const struct knob_def * const knob_defs[RS_KNOBS_N] = {
#define X(id, name, def, least, most, when, text) [RS_K_##id] = &knob_##name,
	RS_KNOBS(X)
#undef X
};

/* Module parameters: the knobs of the next device */
u32 rs_knob_defaults[RS_KNOBS_N] = {
#define X(id, name, def, least, most, when, text) [RS_K_##id] = (def),
	RS_KNOBS(X)
#undef X
};

static struct dentry *root;

static int knob_parse(const struct knob_def *def, const char *text, u32 *val)
{
	int rc = kstrtou32(text, 0, val);

	if (rc)
		return rc;
	if (*val < def->least || *val > def->most)
		return -ERANGE;
	return def->k == RS_K_MTU && !is_power_of_2(*val) ? -EINVAL : 0;
}

static int param_set(const char *text, const struct kernel_param *kp)
{
	const struct knob_def *def = kp->arg;
	u32 val;
	int rc = knob_parse(def, text, &val);

	if (!rc)
		WRITE_ONCE(rs_knob_defaults[def->k], val);
	return rc;
}

static int param_get(char *text, const struct kernel_param *kp)
{
	const struct knob_def *def = kp->arg;

	return sysfs_emit(text, "%u\n", READ_ONCE(rs_knob_defaults[def->k]));
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get,
};

#define X(id, name, def, least, most, when, text)			\
module_param_cb(name, &param_ops, (void *)&knob_##name, 0644);		\
MODULE_PARM_DESC(name, text " (" #least ".." #most ", " #def ")");
RS_KNOBS(X)
#undef X

/**
 * rs_random_locked() - a random number
 * @dev: device
 * @below: upper bound, exclusive; 0 is 2^32
 *
 * Context: rs_dev.lock.
 */
u32 rs_random_locked(struct rs_dev *dev, u32 below)
{
	u32 rnd;

	lockdep_assert_held(&dev->lock);
	rnd = prandom_u32_state(&dev->rnd);
	return below ? ((u64)rnd * below) >> 32 : rnd;
}

/**
 * rs_random() - rs_random_locked() with its lock
 * @dev: device
 * @below: upper bound, exclusive; 0 is 2^32
 *
 * Context: any.
 */
u32 rs_random(struct rs_dev *dev, u32 below)
{
	unsigned long flags;
	u32 rnd;

	spin_lock_irqsave(&dev->lock, flags);
	rnd = rs_random_locked(dev, below);
	spin_unlock_irqrestore(&dev->lock, flags);
	return rnd;
}

/* Files */

static int knob_show(struct seq_file *seq, void *v)
{
	const struct rs_file *file = seq->private;

	seq_printf(seq, "%u\n", READ_ONCE(file->dev->knob[file->i]));
	return 0;
}

static int knob_open(struct inode *inode, struct file *file)
{
	return single_open(file, knob_show, inode->i_private);
}

static void knob_turn(struct rs_dev *dev, enum rs_knob k, u32 val)
{
	unsigned long flags;

	flags = rs_begin();
	spin_lock(&dev->lock);
	WRITE_ONCE(dev->knob[k], val);
	if (k == RS_K_SEED)
		prandom_seed_state(&dev->rnd, val);
	spin_unlock(&dev->lock);
	if (k == RS_K_PAUSED && !val)
		rs_kick_all(dev);
	rs_end(flags);
}

static ssize_t knob_write(struct file *f, const char __user *buf, size_t len,
			  loff_t *pos)
{
	const struct rs_file *file = file_inode(f)->i_private;
	char text[16];
	u32 val;
	int rc;

	/* root can open a read-only file for writing */
	if (!knob_defs[file->i]->run)
		return -EPERM;
	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	rc = knob_parse(knob_defs[file->i], text, &val);
	if (rc)
		return rc;
	knob_turn(file->dev, file->i, val);
	return len;
}

static const struct file_operations knob_fops = {
	.owner = THIS_MODULE,
	.open = knob_open,
	.read = seq_read,
	.write = knob_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int stats_show(struct seq_file *seq, void *v)
{
	struct rs_dev *dev = seq->private;

#define X(name) seq_printf(seq, #name " %llu\n",			\
			   (u64)atomic64_read(&dev->stats.name));
	RS_STATS(X)
#undef X
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

void rs_debugfs_add(struct rs_dev *dev)
{
	static const char * const knob_names[] = {
#define X(id, name, def, least, most, when, text) #name,
		RS_KNOBS(X)
#undef X
	};
	static const char * const fault_names[] = {
#define X(id, name, text) #name,
		RS_FAULTS(X)
#undef X
		"msg_any",
#define X(id, name, type, reply) #name,
		RS_MSGS(X)
#undef X
	};
	struct dentry *faults;
	unsigned int i;

	dev->dir = debugfs_create_dir(dev->name, root);
	for (i = 0; i < RS_KNOBS_N; i++) {
		dev->knob_file[i] = (struct rs_file){ dev, i };
		debugfs_create_file(knob_names[i],
				    knob_defs[i]->run ? 0600 : 0400, dev->dir,
				    &dev->knob_file[i], &knob_fops);
	}
	debugfs_create_file("stats", 0400, dev->dir, dev, &stats_fops);
	debugfs_create_file("act", 0200, dev->dir, dev, &rs_act_fops);
	debugfs_create_file("cut", 0600, dev->dir, dev, &rs_cut_fops);
	faults = debugfs_create_dir("fault", dev->dir);
	for (i = 0; i < RS_FAULTS_N; i++) {
		dev->fault_file[i] = (struct rs_file){ dev, i };
		debugfs_create_file(fault_names[i], 0600, faults,
				    &dev->fault_file[i], &rs_fault_fops);
	}
}

void rs_debugfs_del(struct rs_dev *dev)
{
	debugfs_remove_recursive(dev->dir);
}

void rs_debugfs_init(void)
{
	root = debugfs_create_dir("rnicsim", NULL);
}

void rs_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
