// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA devices: arrival and removal, port events, the local peer ID (RFC 7609
 * 2.2, A.2.1).
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/reboot.h>
#include <rdma/ib_cache.h>
#include "core/byteio.h"
#include "base/netns.h"
#include "base/race.h"
#include "rdma/dev.h"
#include "rdma/dev_impl.h"

const struct smcr_dev_ops *smcr_dev_owner_ops __ro_after_init;

/* Maximum size of an RMB, even if the device can register more at once */
#define SMCR_RMB_BYTES_MAX	(4U << 20)
#define SMCR_INLINE_WANTED	64

static DEFINE_MUTEX(smcr_dev_mutex);	/* held by writers of smcr_devs, and by dumps */
LIST_HEAD(smcr_devs);			/* smcr_dev.node; RCU readers */
static unsigned int dev_ids;	/* the last one; smcr_dev_mutex */

static atomic_t smcr_instances;	/* set to a random value at module load */
static u64 smcr_spare_mac;		/* random, set once at module load */
static atomic64_t smcr_rnic_mac = ATOMIC64_INIT(0);	/* cmpxchg from 0, once */

static struct ib_client smcr_ib_client;

/* Local peer ID */

/*
 * Make @mac a part of the peer ID until the module is unloaded, unless another
 * MAC already is (CLC-06).
 */
void smcr_peer_id_offer(const u8 mac[ETH_ALEN])
{
	atomic64_cmpxchg(&smcr_rnic_mac, 0, ether_addr_to_u64(mac));
}

/**
 * smcr_local_peer_id() - peer ID of a namespace, RFC 7609 A.2.1
 * @sn: namespace; each one is a TCP/IP stack of its own
 * @id: filled: instance number, MAC of an RNIC
 *
 * From the arrival of the first device on, the ID stays the same until the
 * module is unloaded, even if that device is removed. Before that, the ID has a
 * random MAC. It is then sent only in a Decline, as all other messages need a
 * device.
 *
 * Context: any.
 */
void smcr_local_peer_id(const struct smcr_net *sn, u8 id[8])
{
	u64 mac = atomic64_read(&smcr_rnic_mac);

	smcr_put_be16(id, sn->instance);
	u64_to_ether_addr(mac ?: smcr_spare_mac, id + 2);
}

/**
 * smcr_peer_instance() - instance number for a new namespace's peer ID
 *
 * Each number is the previous one plus 1, so the last 65536 namespaces have
 * different numbers.
 *
 * Context: any.
 * Return: number.
 */
u16 smcr_peer_instance(void)
{
	return (u16)atomic_inc_return(&smcr_instances);
}

/**
 * smcr_peer_id_init() - choose the random parts of peer IDs
 *
 * Called before the first namespace is set up.
 */
void __init smcr_peer_id_init(void)
{
	u8 mac[ETH_ALEN];

	atomic_set(&smcr_instances, get_random_u16());
	eth_random_addr(mac);
	smcr_spare_mac = ether_addr_to_u64(mac);
}

/* References */

/**
 * smcr_dev_hold() - take a reference on a device
 * @dev: device that the caller has a reference on
 *
 * Context: any.
 */
void smcr_dev_hold(struct smcr_dev *dev)
{
	refcount_inc(&dev->refs);
}

/**
 * smcr_dev_put() - put a reference on a device
 * @dev: device; may be freed on return
 *
 * Context: any.
 */
void smcr_dev_put(struct smcr_dev *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		complete(&dev->gone);
}

/* Names */

static void dev_take_name(struct smcr_dev *dev)
{
	spin_lock_bh(&dev->name_lock);
	strscpy(dev->name.s, dev_name(&dev->ibdev->dev), sizeof(dev->name.s));
	spin_unlock_bh(&dev->name_lock);
}

/**
 * smcr_dev_keeps() - rename the owner of an object that is never freed
 * @ibdev: device
 * @res: the object's entry in the RDMA core's list of objects
 *
 * This list shows the name of the module that has created the object. That name is freed
 * with the module. The name of the device takes its place.
 *
 * Context: any.
 */
void smcr_dev_keeps(const struct ib_device *ibdev,
		    struct rdma_restrack_entry *res)
{
	WRITE_ONCE(res->kern_name, ibdev->name);
}

/**
 * smcr_dev_name() - name of a device
 * @dev: device that the caller has a reference on
 *
 * The RDMA core frees a name when the device is renamed, and udev renames a
 * device as soon as it is added. So the function returns a copy. To compare
 * devices, use @dev->id.
 *
 * Context: any up to softirq.
 * Return: the name.
 */
struct smcr_dev_name smcr_dev_name(struct smcr_dev *dev)
{
	struct smcr_dev_name name;

	spin_lock_bh(&dev->name_lock);
	name = dev->name;
	spin_unlock_bh(&dev->name_lock);
	return name;
}

/*
 * The RDMA core runs one call of dev_rename() at a time. While it runs, the
 * core does not call dev_remove().
 */
static void dev_rename(struct ib_device *ibdev, void *client_data)
{
	if (client_data)
		dev_take_name(client_data);
}

/* Devices and ports that can be used */

bool smcr_dev_usable(const struct smcr_dev *dev, const struct net *net)
{
	return !READ_ONCE(dev->removed) && !READ_ONCE(dev->failed) &&
	       rdma_dev_access_netns(dev->ibdev, net);
}

bool smcr_dev_port_active(const struct smcr_dev *dev, u32 port)
{
	enum ib_port_state state;

	return !ib_get_cached_port_state(dev->ibdev, port, &state) &&
	       state == IB_PORT_ACTIVE;
}

/**
 * smcr_dev_pid_ok() - do device, port, GID and MAC of a local end still exist?
 * @pid: from smcr_dev_find() or smcr_dev_lan(); the caller holds @pid->dev
 *
 * A queue pair is bound to the index of its GID in the table. So a GID that was
 * removed and has come back at another index is treated as gone.
 *
 * Context: process or softirq, does not sleep.
 * Return: true if a link with the local end @pid can work.
 */
bool smcr_dev_pid_ok(const struct smcr_port_id *pid)
{
	const struct smcr_dev *dev = pid->dev;
	const struct ib_gid_attr *attr;
	u8 mac[ETH_ALEN];
	bool ok;

	if (READ_ONCE(dev->removed) || READ_ONCE(dev->failed) ||
	    !smcr_dev_port_active(dev, pid->port))
		return false;
	attr = rdma_get_gid_attr(dev->ibdev, pid->port, pid->sgid_index);
	if (IS_ERR(attr))
		return false;
	/* the MAC cannot be read if there is no netdev behind the GID */
	ok = !memcmp(&attr->gid, &pid->gid, sizeof(pid->gid)) &&
	     !rdma_read_gid_l2_fields(attr, NULL, mac) &&
	     ether_addr_equal_unaligned(mac, pid->mac);
	rdma_put_gid_attr(attr);
	return ok;
}

/**
 * smcr_dev_any() - is there an RDMA device for a namespace?
 * @net: namespace
 *
 * Context: any, does not sleep.
 * Return: true if there is one that is usable.
 */
bool smcr_dev_any(const struct net *net)
{
	const struct smcr_dev *dev;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &smcr_devs, node) {
		found = smcr_dev_usable(dev, net);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

/*
 * First device on the list that @net has access to and whose number is above
 * @after, with a reference; NULL: none.
 */
static struct smcr_dev *dev_next(struct net *net, unsigned int after)
{
	struct smcr_dev *dev, *next = NULL;

	mutex_lock(&smcr_dev_mutex);
	list_for_each_entry(dev, &smcr_devs, node) {
		if (dev->id <= after ||
		    !rdma_dev_access_netns(dev->ibdev, net))
			continue;
		next = dev;
		smcr_dev_hold(next);
		break;
	}
	mutex_unlock(&smcr_dev_mutex);
	return next;
}

/**
 * smcr_dev_for_each() - visit every device of a namespace (netlink dumps)
 * @net: namespace
 * @fn: called with a reference on the device; non-zero ends the visit
 * @arg: argument of @fn
 *
 * Context: process, sleeps. @fn may sleep. Devices may be added or removed
 * during the visit.
 * Return: 0, or the result of @fn that ended the visit.
 */
int smcr_dev_for_each(struct net *net,
		      int (*fn)(struct smcr_dev *dev, void *arg), void *arg)
{
	unsigned int after = 0;		/* numbers begin with 1 */
	struct smcr_dev *dev;
	int rc = 0;

	while (!rc && (dev = dev_next(net, after))) {
		after = dev->id;
		rc = fn(dev, arg);
		smcr_dev_put(dev);
	}
	return rc;
}

/* Events */

/*
 * Find the end of the used part of a GID table. The table may have a thousand
 * entries, of which only a few at the beginning are in use. Searches in
 * dev_find.c stop at this end. Otherwise a search that finds nothing, as for a
 * route without an RDMA device, would read whole tables. Scans are serialized:
 * the scan that begins last has seen all changes, and writes its result last.
 */
static void port_scan_gids(struct smcr_dev *dev, u32 port)
{
	int len = dev->ibdev->port_data[port].immutable.gid_tbl_len;
	const struct ib_gid_attr *attr;
	u8 mac[ETH_ALEN];
	int i, end = 0;

	mutex_lock(&dev->gid_scan);
	for (i = 0; i < len; i++) {
		attr = rdma_get_gid_attr(dev->ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		if (!rdma_read_gid_l2_fields(attr, NULL, mac))
			smcr_peer_id_offer(mac);
		rdma_put_gid_attr(attr);
		end = i + 1;
	}
	smcr_race(NULL, "gid-scan");
	WRITE_ONCE(dev->port[port].gid_end, end);
	mutex_unlock(&dev->gid_scan);
}

static void dev_event_work(struct work_struct *work)
{
	struct smcr_dev *dev = container_of(work, struct smcr_dev, event_work);
	u32 port;

	rdma_for_each_port(dev->ibdev, port) {
		if (test_and_clear_bit(SMCR_PORT_CHECK, &dev->port[port].flags))
			smcr_dev_owner_ops->port_changed(dev, port);
	}
	if (xchg(&dev->recovered, 0))
		smcr_dev_owner_ops->arrived();
}

static void port_check(struct smcr_dev *dev, u32 port)
{
	if (!rdma_is_port_valid(dev->ibdev, port) ||
	    !rdma_protocol_roce(dev->ibdev, port))
		return;
	set_bit(SMCR_PORT_CHECK, &dev->port[port].flags);
	queue_work(smcr_wq, &dev->event_work);
}

static void dev_fatal(struct smcr_dev *dev)
{
	u32 port;

	WRITE_ONCE(dev->failed, 1);
	rdma_for_each_port(dev->ibdev, port)
		port_check(dev, port);
}

/* Process context: the RDMA core calls it with its event semaphore held */
static void dev_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct smcr_dev *dev = container_of(handler, struct smcr_dev,
					    event_handler);
	u32 port = event->element.port_num;

	switch (event->event) {
	case IB_EVENT_DEVICE_FATAL:
		dev_fatal(dev);
		break;
	case IB_EVENT_GID_CHANGE:
		if (rdma_is_port_valid(dev->ibdev, port) &&
		    rdma_protocol_roce(dev->ibdev, port))
			port_scan_gids(dev, port);
		port_check(dev, port);
		break;
	case IB_EVENT_PORT_ACTIVE:
		if (xchg(&dev->failed, 0)) {
			xchg(&dev->recovered, 1);
			queue_work(smcr_wq, &dev->event_work);
		}
		fallthrough;
	case IB_EVENT_PORT_ERR:
		port_check(dev, port);
		break;
	default:
		break;
	}
}

/* Arrival and removal */

static bool dev_suitable(struct ib_device *ibdev)
{
	u32 port;

	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    ibdev->attrs.max_fast_reg_page_list_len <
	    DIV_ROUND_UP(SMCR_RMBE_MIN, PAGE_SIZE) ||
	    ibdev->attrs.max_send_sge < 3)
		return false;
	rdma_for_each_port(ibdev, port)
		if (rdma_protocol_roce(ibdev, port))
			return true;
	return false;
}

static void port_init(struct smcr_dev *dev, u32 port)
{
	struct ib_port_attr attr;

	if (ib_query_port(dev->ibdev, port, &attr))
		dev->port[port].max_mtu = IB_MTU_4096;
	else
		dev->port[port].max_mtu = attr.max_mtu;
	port_scan_gids(dev, port);
}

static struct smcr_dev *dev_alloc(struct ib_device *ibdev)
{
	struct smcr_dev *dev;

	dev = kzalloc(struct_size(dev, port, rdma_end_port(ibdev) + 1),
		      GFP_KERNEL);
	if (!dev)
		return NULL;
	dev->ibdev = ibdev;
	spin_lock_init(&dev->name_lock);
	dev_take_name(dev);
	refcount_set(&dev->refs, 1);
	init_completion(&dev->gone);
	mutex_init(&dev->gid_scan);
	INIT_WORK(&dev->event_work, dev_event_work);
	dev->max_sge = min_t(u32, SMCR_MAX_SGE, ibdev->attrs.max_send_sge);
	dev->max_inline = SMCR_INLINE_WANTED;
	dev->max_mr_pages = min_t(u32, SMCR_RMB_BYTES_MAX / PAGE_SIZE,
				  ibdev->attrs.max_fast_reg_page_list_len);
	return dev;
}

static int smcr_dev_add(struct ib_device *ibdev)
{
	struct smcr_dev *dev;
	u32 port;

	if (!dev_suitable(ibdev))
		return -EOPNOTSUPP;
	dev = dev_alloc(ibdev);
	if (!dev)
		return -ENOMEM;

	/* before the scan: each GID that the scan misses causes an event */
	INIT_IB_EVENT_HANDLER(&dev->event_handler, ibdev, dev_event);
	ib_register_event_handler(&dev->event_handler);
	rdma_for_each_port(ibdev, port)
		if (rdma_protocol_roce(ibdev, port))
			port_init(dev, port);
	ib_set_client_data(ibdev, &smcr_ib_client, dev);

	mutex_lock(&smcr_dev_mutex);
	dev->id = ++dev_ids;	/* dev_next() needs the order of the list */
	list_add_tail_rcu(&dev->node, &smcr_devs);
	mutex_unlock(&smcr_dev_mutex);
	smcr_dev_owner_ops->arrived();
	return 0;
}

/*
 * Wait until the last reference is put. Link groups have references. Each call
 * of removed() makes all listed groups leave the device or end. A group that
 * is added to the list during one call is found by the next. All other
 * references are held for a limited time: by handshakes, by the choice of an
 * RNIC for a link, and by dumps.
 */
static void dev_wait_gone(struct smcr_dev *dev)
{
	unsigned int rounds = 0;

	do {
		smcr_dev_owner_ops->removed(dev);
		if (++rounds == 60)
			pr_warn("device %s is still in use\n",
				smcr_dev_name(dev).s);
	} while (!wait_for_completion_timeout(&dev->gone, HZ));
}

static void dev_remove(struct ib_device *ibdev, void *client_data)
{
	struct smcr_dev *dev = client_data;

	if (!dev)
		return;
	WRITE_ONCE(dev->removed, true);
	mutex_lock(&smcr_dev_mutex);
	list_del_rcu(&dev->node);
	mutex_unlock(&smcr_dev_mutex);

	ib_unregister_event_handler(&dev->event_handler);
	cancel_work_sync(&dev->event_work);
	/* searches use the device in an RCU section, without a reference */
	synchronize_rcu();

	smcr_dev_put(dev);
	dev_wait_gone(dev);
	kfree(dev);
}

static struct ib_client smcr_ib_client = {
	.name = "smcr",
	.add = smcr_dev_add,
	.remove = dev_remove,
	.rename = dev_rename,
};

/*
 * Best effort: an error must not keep the system from going down. No test
 * covers this call (LG-43), as the virtual machines of the tests power off
 * after the last test.
 */
static int dev_reboot(struct notifier_block *nb, unsigned long event, void *arg)
{
	smcr_dev_owner_ops->shutdown();
	return NOTIFY_DONE;
}

static struct notifier_block dev_reboot_nb = {
	.notifier_call = dev_reboot,
};

/**
 * smcr_dev_init() - register with the RDMA core and for reboots
 *
 * Context: process, sleeps. smcr_wq exists.
 * Return: 0 or a negative errno.
 */
int __init smcr_dev_init(void)
{
	int rc;

	rc = ib_register_client(&smcr_ib_client);
	if (rc)
		return rc;
	rc = register_reboot_notifier(&dev_reboot_nb);
	if (rc)
		ib_unregister_client(&smcr_ib_client);
	return rc;
}

/**
 * smcr_dev_exit() - undo smcr_dev_init()
 *
 * Ends the link groups on all devices, and waits until no group uses a device
 * any more.
 *
 * Context: process, sleeps.
 */
void smcr_dev_exit(void)
{
	unregister_reboot_notifier(&dev_reboot_nb);
	ib_unregister_client(&smcr_ib_client);
}
