/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA devices: arrival, removal, ports. Search for the device, port and GID of
 * a connection by the route of its TCP connection.
 */
#ifndef _SMCR_DEV_H
#define _SMCR_DEV_H

#include <rdma/ib_verbs.h>
#include <linux/netdevice.h>
#include "base/base.h"

/**
 * struct smcr_dev_port - state of a port
 * @gid_end: one more than the index of the last valid entry of the GID table;
 *	smcr_dev.gid_scan, READ_ONCE()
 * @max_mtu: maximum MTU of the port, verbs enumeration; immutable
 * @flags: SMCR_PORT_*, atomic bit operations
 */
struct smcr_dev_port {
	int gid_end;
	u8 max_mtu;
	unsigned long flags;
};

enum {
	SMCR_PORT_CHECK,	/* event_work has to call @port_changed */
};

/* Name of a device, to be passed by value */
struct smcr_dev_name {
	char s[IB_DEVICE_NAME_MAX];
};

/**
 * struct smcr_dev - one RDMA device with at least one RoCE port
 * @ibdev: device of the RDMA core; valid while a reference is held, or in the
 *	RCU section in which this structure was found on the list
 * @id: number that no other device has or has had; immutable
 * @name_lock: guards @name; BH, innermost
 * @name: name in the RDMA core, see smcr_dev_name(); @name_lock
 * @node: member of the device list; RCU, changed under the list's mutex
 * @refs: references of the list, links, link groups, struct smcr_port_id and
 *	dumps; smcr_dev_put() of the last one completes @gone
 * @removed: the device is being removed, and searches skip it; set once,
 *	READ_ONCE()
 * @failed: 1: IB_EVENT_DEVICE_FATAL has come, and no port has become active
 *	since; READ_ONCE/WRITE_ONCE and xchg(). It is an int, as not every
 *	processor has an instruction for xchg() of a byte
 * @recovered: 1: a port of a failed device has become active, and @event_work
 *	has to call @arrived of struct smcr_dev_ops; xchg()
 * @gone: completed when the last reference is put; dev_remove() waits for this,
 *	as long as link groups need to leave the device
 * @max_sge: maximum number of SGEs that this module uses in a send WR
 * @max_inline: inline bytes that this module requests for a QP
 * @max_mr_pages: maximum number of pages of one fast-registration MR
 * @event_handler: registered from add to remove
 * @event_work: reports events by struct smcr_dev_ops, on smcr_wq
 * @gid_scan: serializes scans of GID tables, each with the write of gid_end
 * @port: ports by number, from 1
 */
struct smcr_dev {
	struct ib_device *ibdev;
	unsigned int id;
	spinlock_t name_lock;		/* see @name_lock */
	struct smcr_dev_name name;
	struct list_head node;
	refcount_t refs;
	bool removed;
	int failed, recovered;
	struct completion gone;
	u32 max_sge;
	u32 max_inline;
	u32 max_mr_pages;
	struct ib_event_handler event_handler;
	struct work_struct event_work;
	struct mutex gid_scan;		/* see @gid_scan */
	struct smcr_dev_port port[];
};

/**
 * struct smcr_port_id - local end of a link: device, port, GID
 * @dev: device, with a reference while the structure is in use
 * @port: port number, from 1
 * @sgid_index: index of @gid in the port's table
 * @gid: source GID
 * @mac: MAC of the netdev behind @gid
 * @vlan: VLAN ID, or SMCR_NO_VLAN
 * @mtu: RoCE MTU of the netdev behind @gid, verbs enumeration
 */
struct smcr_port_id {
	struct smcr_dev *dev;
	u8 port;
	u16 sgid_index;
	union ib_gid gid;
	u8 mac[ETH_ALEN];
	u16 vlan;
	u8 mtu;
};

#define SMCR_NO_VLAN	0xffff
#define SMCR_MAX_SGE	18	/* of a send WR: 64 KiB of single pages, unaligned */

/**
 * struct smcr_dev_ops - callbacks of devices into higher floors (wire.c)
 * @arrived: a device was added, or a device that had failed works again
 * @port_changed: port @port of @dev has changed: links on it are to be checked
 * @removed: @dev is being removed, and its users are to put their references;
 *	called again and again until no reference is left
 * @shutdown: the system goes down; returns after two seconds at most
 *
 * All are called in process context, outside of handlers of RDMA events, and
 * may sleep. @dev is not freed during the call.
 */
struct smcr_dev_ops {
	void (*arrived)(void);
	void (*port_changed)(struct smcr_dev *dev, u8 port);
	void (*removed)(struct smcr_dev *dev);
	void (*shutdown)(void);
};

/* Set before smcr_dev_init(), by net/wire.c */
extern const struct smcr_dev_ops *smcr_dev_owner_ops;

struct rdma_restrack_entry;

int smcr_dev_init(void);
void smcr_dev_exit(void);
struct smcr_dev_name smcr_dev_name(struct smcr_dev *dev);
void smcr_dev_hold(struct smcr_dev *dev);
void smcr_dev_put(struct smcr_dev *dev);
int smcr_dev_find(struct net *net, struct net_device *ndev, int family,
		  const void *laddr, struct smcr_port_id *out);
bool smcr_dev_exists(struct net *net, struct net_device *ndev);
int smcr_dev_lan(struct net *net, const struct smcr_port_id *at,
		 struct smcr_port_id *out, int max);
void smcr_dev_keeps(const struct ib_device *ibdev,
		    struct rdma_restrack_entry *res);
bool smcr_dev_pid_ok(const struct smcr_port_id *pid);
void smcr_local_peer_id(const struct smcr_net *sn, u8 id[8]);
u16 smcr_peer_instance(void);
void smcr_peer_id_init(void);
bool smcr_dev_any(const struct net *net);
int smcr_dev_for_each(struct net *net,
		      int (*fn)(struct smcr_dev *dev, void *arg), void *arg);

#endif /* _SMCR_DEV_H */
