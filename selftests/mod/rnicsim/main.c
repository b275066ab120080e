// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices and their ports. "rdma link add NAME type rnicsim netdev NETDEV"
 * makes a device; "rdma link delete" removes it, as does the end of its netdev
 * or of the module.
 */
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/stringhash.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/rdma_netlink.h>
#include "rnicsim.h"

DEFINE_RWLOCK(rs_lock);
LIST_HEAD(rs_devs);

static DEFINE_MUTEX(link_mutex);	/* one device is made at a time */

/* Sections in which the engines read what rs_lock guards */

static atomic_t n_fatal = ATOMIC_INIT(0);	/* devices with @fatal */

/**
 * rs_begin() - begin to look up devices, queue pairs and regions
 *
 * Context: any.
 * Return: argument of rs_end().
 */
unsigned long rs_begin(void)
{
	unsigned long flags;

	read_lock_irqsave(&rs_lock, flags);
	return flags;
}

/**
 * rs_fatal() - request DEVICE_FATAL
 * @dev: device
 *
 * rs_settle() does it, when no queue pair is locked.
 *
 * Context: rs_lock.
 */
void rs_fatal(struct rs_dev *dev)
{
	if (!xchg(&dev->fatal, 1))
		atomic_inc(&n_fatal);
}

static void dev_fatal(struct rs_dev *dev)
{
	struct rs_qp *qp;
	unsigned long i;

	xa_for_each(&dev->qps, i, qp) {
		spin_lock(&qp->lock);
		rs_qp_to_err(qp, 0);
		spin_unlock(&qp->lock);
	}
	rs_event(dev, IB_EVENT_DEVICE_FATAL);
}

/**
 * rs_settle() - do each DEVICE_FATAL that is pending, no queue pair is locked
 *
 * Context: rs_lock, between rs_begin() and rs_end().
 */
void rs_settle(void)
{
	struct rs_dev *dev;

	if (!atomic_read(&n_fatal))
		return;
	list_for_each_entry(dev, &rs_devs, node) {
		if (!xchg(&dev->fatal, 0))
			continue;
		atomic_dec(&n_fatal);
		dev_fatal(dev);
	}
}

/**
 * rs_end() - end what rs_begin() began
 * @flags: what rs_begin() returned
 *
 * Context: as at rs_begin(), no queue pair is locked.
 */
void rs_end(unsigned long flags)
{
	rs_settle();
	read_unlock_irqrestore(&rs_lock, flags);
}

/* Ports */

static bool port_up(const struct rs_dev *dev)
{
	return !READ_ONCE(dev->down) && netif_running(dev->ndev) &&
	       netif_carrier_ok(dev->ndev);
}

/**
 * rs_port_live() - can packets leave and arrive?
 * @dev: device
 *
 * Context: any.
 */
bool rs_port_live(const struct rs_dev *dev)
{
	return port_up(dev) && !rs_get(dev, RS_K_PAUSED);
}

/**
 * rs_event() - report an event to the clients of a device
 * @dev: device
 * @event: event of the port or of the device
 *
 * Context: any.
 */
void rs_event(struct rs_dev *dev, enum ib_event_type event)
{
	struct ib_event ev = {
		.device = &dev->ib,
		.event = event,
		.element.port_num = 1,
	};

	ib_dispatch_event(&ev);
}

/**
 * rs_port_check() - report to the clients if the port went up or down
 * @dev: device
 *
 * Context: any.
 */
void rs_port_check(struct rs_dev *dev)
{
	int up = port_up(dev);

	if (up != xchg(&dev->port_up, up))
		rs_event(dev, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

/*
 * The RDMA core reports GID_CHANGE itself when its table changes, and does not
 * forward a driver's. It renews the default GIDs on NETDEV_CHANGEADDR, whether
 * the netdev's MAC has changed or not.
 */
static void gid_work(struct work_struct *work)
{
	struct rs_dev *dev = container_of(work, struct rs_dev, gid_work);

	rtnl_lock();
	if (dev->ndev->reg_state == NETREG_REGISTERED)
		call_netdevice_notifiers(NETDEV_CHANGEADDR, dev->ndev);
	rtnl_unlock();
}

/**
 * rs_remove() - remove a device, as if it were pulled out
 * @dev: device
 *
 * Context: any.
 */
void rs_remove(struct rs_dev *dev)
{
	/* no reference: it is being unregistered already */
	if (!ib_device_try_get(&dev->ib))
		return;
	ib_unregister_device_queued(&dev->ib);
	ib_device_put(&dev->ib);
}

/* The device of a netdev, with a reference of the RDMA core, or NULL */
static struct rs_dev *dev_of(const struct net_device *ndev)
{
	struct rs_dev *dev, *found = NULL;
	unsigned long flags;

	flags = rs_begin();
	list_for_each_entry(dev, &rs_devs, node) {
		if (dev->ndev == ndev && ib_device_try_get(&dev->ib)) {
			found = dev;
			break;
		}
	}
	rs_end(flags);
	return found;
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *arg)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(arg);
	struct rs_dev *dev = dev_of(ndev);

	if (!dev)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		if (!RS_CORE_PORT_EVENTS)
			rs_port_check(dev);
		break;
	case NETDEV_UNREGISTER:
		ib_unregister_device_queued(&dev->ib);
		break;
	default:
		break;
	}
	ib_device_put(&dev->ib);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

/* Devices */

static int dev_new_parent(struct rs_dev *dev)
{
	static int id;
	struct platform_device *pdev;

	lockdep_assert_held(&link_mutex);
	pdev = platform_device_register_simple("rnicsim", id++, NULL, 0);
	dev->pdev = pdev;
	return PTR_ERR_OR_ZERO(pdev);
}

static void dev_guid(struct rs_dev *dev)
{
	u8 mac[ETH_ALEN];

	ether_addr_copy(mac, dev->ndev->dev_addr);
	addrconf_addr_eui48((u8 *)&dev->ib.node_guid, mac);
}

static void dev_describe(struct rs_dev *dev)
{
	struct ib_device *ib = &dev->ib;

	ib->node_type = RDMA_NODE_IB_CA;
	strscpy(ib->node_desc, "rnicsim", sizeof(ib->node_desc));
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = rs_get(dev, RS_K_VECTORS);
	ib->local_dma_lkey = RS_LOCAL_LKEY;
	ib->dev.parent = &dev->pdev->dev;
	ib->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
			       BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
			       BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ) |
			       BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	dev_guid(dev);
	ib_set_device_ops(ib, &rs_dev_ops);
}

/* Also called for a device that dev_make() could not finish */
static void rs_dealloc_driver(struct ib_device *ib)
{
	struct rs_dev *dev = to_rs_dev(ib);
	unsigned long flags;

	rs_debugfs_del(dev);
	cancel_work_sync(&dev->gid_work);
	rs_mr_release(dev);
	write_lock_irqsave(&rs_lock, flags);
	list_del(&dev->node);
	if (dev->fatal)
		atomic_dec(&n_fatal);
	write_unlock_irqrestore(&rs_lock, flags);
	xa_destroy(&dev->qps);
	xa_destroy(&dev->mrs);
	rs_dma_exit(dev);
	kvfree(dev->gids);
	platform_device_unregister(dev->pdev);
	netdev_put(dev->ndev, &dev->ndev_tracker);
}

static const struct ib_device_ops dealloc_ops = {
	.dealloc_driver = rs_dealloc_driver,
};

static int dev_init(struct rs_dev *dev, const char *name,
		    struct net_device *ndev)
{
	u32 hash = full_name_hash(NULL, name, strlen(name));
	unsigned long flags;
	int rc;

	strscpy(dev->name, name, sizeof(dev->name));
	memcpy(dev->knob, rs_knob_defaults, sizeof(dev->knob));
	prandom_seed_state(&dev->rnd, rs_get(dev, RS_K_SEED));
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC);
	/* a key or number that is used with a wrong device must not be valid there */
	dev->next_qpn = hash & 0xfff;
	dev->next_mr = hash >> 20;
	spin_lock_init(&dev->lock);
	rwlock_init(&dev->dma_lock);
	mutex_init(&dev->umem_mutex);
	INIT_WORK(&dev->gid_work, gid_work);

	dev->gid_len = rs_get(dev, RS_K_GID_LEN);
	dev->gids = kvcalloc(dev->gid_len, sizeof(*dev->gids), GFP_KERNEL);
	if (!dev->gids)
		return -ENOMEM;
	rc = dev_new_parent(dev);
	if (rc)
		goto err;
	rc = rs_dma_init(dev);
	if (rc)
		goto err_parent;
	dev->ndev = ndev;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	dev->port_up = port_up(dev);
	dev_describe(dev);
	ib_set_device_ops(&dev->ib, &dealloc_ops);
	rs_debugfs_add(dev);

	write_lock_irqsave(&rs_lock, flags);
	list_add_tail(&dev->node, &rs_devs);
	write_unlock_irqrestore(&rs_lock, flags);
	return 0;

err_parent:
	platform_device_unregister(dev->pdev);
err:
	kvfree(dev->gids);
	return rc;
}

static int dev_make(const char *name, struct net_device *ndev)
{
	struct rs_dev *dev;
	int rc;

	dev = ib_alloc_device(rs_dev, ib);
	if (!dev)
		return -ENOMEM;
	/* invisible in others with "rdma system set netns exclusive" */
	write_pnet(&dev->ib.coredev.rdma_net, dev_net(ndev));
	rc = dev_init(dev, name, ndev);
	if (!rc)
		rc = ib_device_set_netdev(&dev->ib, ndev, 1);
	if (!rc)
		rc = ib_register_device(&dev->ib, name, &dev->pdev->dev);
	if (rc)
		ib_dealloc_device(&dev->ib);
	return rc;
}

/* Two devices of one netdev would have the same GIDs */
static int dev_conflict(const char *name, const struct net_device *ndev)
{
	const struct rs_dev *dev;
	unsigned long flags;
	int rc = 0;

	flags = rs_begin();
	list_for_each_entry(dev, &rs_devs, node)
		if (dev->ndev == ndev || !strcmp(dev->name, name))
			rc = -EEXIST;
	rs_end(flags);
	return rc;
}

static int rs_newlink(const char *name, struct net_device *ndev)
{
	int rc;

	if (ndev->type != ARPHRD_ETHER || ndev->addr_len != ETH_ALEN)
		return -EINVAL;
	mutex_lock(&link_mutex);
	rc = dev_conflict(name, ndev);
	if (!rc)
		rc = dev_make(name, ndev);
	mutex_unlock(&link_mutex);
	return rc;
}

static struct rdma_link_ops link_ops = {
	.type = "rnicsim",
	.newlink = rs_newlink,
};

static int __init rs_init(void)
{
	int rc;

	rs_scratch = __alloc_percpu(RS_PIECE_MAX, sizeof(u64));
	if (!rs_scratch)
		return -ENOMEM;
	rs_debugfs_init();
	rc = register_netdevice_notifier(&netdev_nb);
	if (rc) {
		rs_debugfs_exit();
		free_percpu(rs_scratch);
		return rc;
	}
	rdma_link_register(&link_ops);
	return 0;
}

static void __exit rs_exit(void)
{
	rdma_link_unregister(&link_ops);
	ib_unregister_driver(RDMA_DRIVER_HFI1);
	unregister_netdevice_notifier(&netdev_nb);
	rs_debugfs_exit();
	free_percpu(rs_scratch);
}

module_init(rs_init);
module_exit(rs_exit);
MODULE_DESCRIPTION("A test RNIC without wires");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("rnicsim");
