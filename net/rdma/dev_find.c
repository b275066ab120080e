// SPDX-License-Identifier: GPL-2.0-only
/*
 * Search for device, port and GID by the netdev of a TCP route, and for other
 * RNICs on the same LAN (RFC 7609 2.2, 3.5.1, 5.1).
 *
 * The search runs on the connect path. It reads only the netdev and the caches
 * of the RDMA core. It never queries a device, as a query takes the RTNL lock
 * on soft RoCE, and needs a firmware command on other devices.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/rculist.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "rdma/dev.h"
#include "rdma/dev_impl.h"

struct dev_search {
	struct net *net;
	struct net_device *ndev;	/* netdev of the route, or one below */
	u16 vlan;			/* VLAN that the GID has to be in */
	bool v4;
	const union ib_gid *want;	/* GID of the local address, or NULL */
	struct smcr_port_id *out;	/* result; NULL: only set @found */
	int rank;			/* rank of the GID in @out */
	bool found;
};

static int vlan_of_lower(struct net_device *lower,
			 struct netdev_nested_priv *priv)
{
	u16 *vlan = priv->data;

	if (!is_vlan_dev(lower))
		return 0;
	*vlan = vlan_dev_vlan_id(lower);
	return 1;
}

/* VLAN of a netdev, by the same rules as in rdma_read_gid_l2_fields() */
static u16 vlan_of(struct net_device *ndev)
{
	u16 vlan = SMCR_NO_VLAN;
	struct netdev_nested_priv priv = { .data = &vlan };

	if (!vlan_of_lower(ndev, &priv))
		netdev_walk_all_lower_dev_rcu(ndev, vlan_of_lower, &priv);
	return vlan;
}

static bool gid_is_roce(const struct ib_gid_attr *attr)
{
	return attr->gid_type == IB_GID_TYPE_ROCE ||
	       attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
}

/*
 * Is @ndev the netdev behind a GID? The caller holds RCU, as the netdev may be
 * detached from the GID at any time.
 */
static bool gid_on(const struct ib_gid_attr *attr,
		   const struct net_device *ndev)
{
	const struct net_device *on = rdma_read_gid_attr_ndev_rcu(attr);

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "no RCU lock");

	return !IS_ERR(on) && on == ndev;
}

/* Rank of a GID that is not the local address; 1 is the worst */
static int gid_rank(const struct ib_gid_attr *attr, bool v4)
{
	const struct in6_addr *addr = (const struct in6_addr *)attr->gid.raw;
	int rank = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP ? 2 : 1;

	if (ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return rank;
	return rank + (ipv6_addr_v4mapped(addr) == v4 ? 4 : 2);
}

/*
 * RoCE MTU of a netdev, at most @max, calculated as in the RDMA CM; 0: the MTU
 * of the netdev is too small. The port's active_mtu is not used, as it may be
 * that of another netdev.
 */
static u8 mtu_on(const struct net_device *ndev, u8 max)
{
	return min_t(u8, iboe_get_mtu(READ_ONCE(ndev->mtu)), max);
}

/*
 * Put the GID @attr into @s->out if the MTU of @s->ndev is large enough and the
 * VLAN of the GID is @s->vlan. The reference of an earlier result is put.
 */
static void search_take(struct dev_search *s, struct smcr_dev *dev,
			const struct ib_gid_attr *attr, int rank)
{
	struct smcr_port_id *out = s->out;
	struct smcr_port_id pid = { };

	pid.mtu = mtu_on(s->ndev, dev->port[attr->port_num].max_mtu);
	if (!pid.mtu || rdma_read_gid_l2_fields(attr, &pid.vlan, pid.mac) ||
	    pid.vlan != s->vlan)
		return;
	if (!out) {
		s->found = true;
		return;
	}
	if (!refcount_inc_not_zero(&dev->refs))
		return;
	if (s->found)
		smcr_dev_put(out->dev);
	pid.dev = dev;
	pid.port = attr->port_num;
	pid.sgid_index = attr->index;
	pid.gid = attr->gid;
	*out = pid;
	s->rank = rank;
	s->found = true;
}

static void search_exact(struct dev_search *s, struct smcr_dev *dev, u32 port)
{
	static const enum ib_gid_type types[] = {
		IB_GID_TYPE_ROCE_UDP_ENCAP, IB_GID_TYPE_ROCE,
	};
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < ARRAY_SIZE(types) && !s->found; i++) {
		attr = rdma_find_gid_by_port(dev->ibdev, s->want, types[i],
					     port, s->ndev);
		if (IS_ERR(attr))
			continue;
		search_take(s, dev, attr, INT_MAX);
		rdma_put_gid_attr(attr);
	}
}

static void search_best(struct dev_search *s, struct smcr_dev *dev, u32 port)
{
	int i, rank, end = READ_ONCE(dev->port[port].gid_end);
	const struct ib_gid_attr *attr;

	for (i = 0; i < end && (s->out || !s->found); i++) {
		attr = rdma_get_gid_attr(dev->ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		rank = gid_rank(attr, s->v4);
		if (rank > s->rank && gid_is_roce(attr) &&
		    gid_on(attr, s->ndev))
			search_take(s, dev, attr, rank);
		rdma_put_gid_attr(attr);
	}
}

/* Call @step for every active RoCE port. The caller holds RCU */
static void search_ports(struct dev_search *s,
			 void (*step)(struct dev_search *s,
				      struct smcr_dev *dev, u32 port))
{
	struct smcr_dev *dev;
	u32 port;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "no RCU lock");

	list_for_each_entry_rcu(dev, &smcr_devs, node) {
		if (!smcr_dev_usable(dev, s->net))
			continue;
		rdma_for_each_port(dev->ibdev, port) {
			if (rdma_protocol_roce(dev->ibdev, port) &&
			    smcr_dev_port_active(dev, port))
				step(s, dev, port);
		}
	}
}

static int search_ndev(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	struct dev_search *s = priv->data;

	s->ndev = ndev;
	if (s->want)
		search_ports(s, search_exact);
	if (!s->found)
		search_ports(s, search_best);
	return s->found;
}

static void search_run(struct dev_search *s, struct net_device *ndev)
{
	struct netdev_nested_priv priv = { .data = s };

	rcu_read_lock();
	s->vlan = vlan_of(ndev);
	if (!search_ndev(ndev, &priv))
		netdev_walk_all_lower_dev_rcu(ndev, search_ndev, &priv);
	rcu_read_unlock();
}

static void addr_to_gid(int family, const void *addr, union ib_gid *gid)
{
	__be32 v4;

	if (family == AF_INET) {
		memcpy(&v4, addr, sizeof(v4));
		ipv6_addr_set_v4mapped(v4, (struct in6_addr *)gid->raw);
	} else {
		memcpy(gid->raw, addr, sizeof(gid->raw));
	}
}

/**
 * smcr_dev_find() - RDMA device, port and GID for a TCP connection
 * @net: network namespace of the socket
 * @ndev: netdev of the route (may be VLAN, bond, macvlan, ...)
 * @family: AF_INET or AF_INET6 (IPv4-mapped counts as AF_INET)
 * @laddr: local address (4 or 16 bytes), preferred as GID; NULL for none
 * @out: filled on success, with a reference on @out->dev for the caller
 *
 * GIDs are taken in this order: a GID equal to @laddr on @ndev; any GID of the
 * family on @ndev; any other RoCE GID on @ndev; then the same on the netdevs
 * below @ndev. Among GIDs of one kind, RoCEv2 comes before RoCEv1. Link-local
 * GIDs come last. The port must be active, and the GID must be in the VLAN of
 * @ndev (LG-16). Devices that @net has no access to are never used.
 *
 * Context: process or softirq, does not sleep.
 * Return: 0; -ENODEV, and @out holds no reference.
 */
int smcr_dev_find(struct net *net, struct net_device *ndev, int family,
		  const void *laddr, struct smcr_port_id *out)
{
	struct dev_search s = { .net = net, .out = out };
	union ib_gid want;

	if (laddr) {
		addr_to_gid(family, laddr, &want);
		s.want = &want;
	}
	s.v4 = family == AF_INET ||
	       (laddr && ipv6_addr_v4mapped((struct in6_addr *)want.raw));

	search_run(&s, ndev);
	if (!s.found)
		return -ENODEV;
	smcr_peer_id_offer(out->mac);
	return 0;
}

/**
 * smcr_dev_exists() - is there an RDMA device for a netdev?
 * @net: network namespace of the socket
 * @ndev: netdev of the route
 *
 * Context: process or softirq, does not sleep.
 * Return: true if smcr_dev_find() would find one.
 */
bool smcr_dev_exists(struct net *net, struct net_device *ndev)
{
	struct dev_search s = { .net = net };

	if (list_empty(&smcr_devs))
		return false;
	search_run(&s, ndev);
	return s.found;
}

/* Other RNICs on the same LAN */

struct lan_search {
	const struct smcr_port_id *at;
	const struct net *net;		/* of @at's netdev; NULL: no netdev */
	bool v1;			/* the GID of @at is a RoCEv1 GID */
	__be32 v4_mask;			/* IPv4 subnet mask of @at; 0: none */
	struct smcr_port_id *out;
	int n, max;
};

/* Subnet mask of an IPv4 address; 0: @ndev does not have this address */
static __be32 lan_mask(const struct net_device *ndev, __be32 addr)
{
	const struct in_device *in = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;
	__be32 mask = 0;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "no RCU lock");

	if (in) {
		in_dev_for_each_ifa_rcu(ifa, in)
			if (ifa->ifa_local == addr)
				mask = ifa->ifa_mask;
	}
	return mask;
}

/* Find GID type, namespace and subnet of @at */
static void lan_begin(struct lan_search *s)
{
	const struct smcr_port_id *at = s->at;
	const struct ib_gid_attr *attr;
	struct net_device *ndev;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "no RCU lock");

	attr = rdma_get_gid_attr(at->dev->ibdev, at->port, at->sgid_index);
	if (IS_ERR(attr))
		return;
	s->v1 = attr->gid_type == IB_GID_TYPE_ROCE;
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev)) {
		s->net = dev_net(ndev);
		s->v4_mask = lan_mask(ndev,
				      ((const struct in6_addr *)at->gid.raw)->s6_addr32[3]);
	}
	rdma_put_gid_attr(attr);
}

/*
 * Is a GID on the LAN of @s->at? IPv4: in the same subnet. IPv6: in the same
 * /64, which is one and the same for all link-local GIDs.
 */
static bool lan_has(const struct lan_search *s, const union ib_gid *gid)
{
	const struct in6_addr *own = (const struct in6_addr *)s->at->gid.raw;
	const struct in6_addr *addr = (const struct in6_addr *)gid->raw;

	if (ipv6_addr_v4mapped(own))
		return ipv6_addr_v4mapped(addr) && s->v4_mask &&
		       !((own->s6_addr32[3] ^ addr->s6_addr32[3]) & s->v4_mask);
	return !ipv6_addr_v4mapped(addr) &&
	       own->s6_addr32[0] == addr->s6_addr32[0] &&
	       own->s6_addr32[1] == addr->s6_addr32[1];
}

/* Add a port with its first GID that is on the LAN, if it has one */
static void lan_port(struct lan_search *s, struct smcr_dev *dev, u32 port)
{
	int i, end = READ_ONCE(dev->port[port].gid_end);
	struct smcr_port_id pid = { .dev = dev, .port = port };
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	bool ok = false;

	for (i = 0; i < end && !ok; i++) {
		attr = rdma_get_gid_attr(dev->ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		ndev = rdma_read_gid_attr_ndev_rcu(attr);
		/* by default, every namespace has access to all RDMA devices */
		if (!IS_ERR(ndev) && s->net && net_eq(dev_net(ndev), s->net) &&
		    attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    lan_has(s, &attr->gid) &&
		    !rdma_read_gid_l2_fields(attr, &pid.vlan, pid.mac) &&
		    pid.vlan == s->at->vlan) {
			pid.mtu = mtu_on(ndev, dev->port[port].max_mtu);
			pid.gid = attr->gid;
			pid.sgid_index = attr->index;
			ok = pid.mtu;
		}
		rdma_put_gid_attr(attr);
	}
	if (ok && refcount_inc_not_zero(&dev->refs))
		s->out[s->n++] = pid;
}

/**
 * smcr_dev_lan() - find the RNICs on the LAN of a given RNIC (LG-16)
 * @net: network namespace
 * @at: given RNIC, which is found, too; the caller holds @at->dev
 * @out: filled with active ports, each with a GID in the VLAN and the subnet of
 *	@at, and with a reference on its device
 * @max: size of @out
 *
 * Only RoCEv2 GIDs are found, as it is not known how peers react to a RoCEv1
 * GID. If @at has a RoCEv1 GID, only @at is found. RNICs of other namespaces
 * are never found, even if their address is in the same subnet.
 *
 * Context: process or softirq, does not sleep.
 * Return: number of entries of @out.
 */
int smcr_dev_lan(struct net *net, const struct smcr_port_id *at,
		 struct smcr_port_id *out, int max)
{
	struct lan_search s = { .at = at, .out = out, .max = max };
	struct smcr_dev *dev;
	u32 port;

	rcu_read_lock();
	lan_begin(&s);
	if (s.v1 && max && refcount_inc_not_zero(&at->dev->refs))
		out[s.n++] = *at;
	list_for_each_entry_rcu(dev, &smcr_devs, node) {
		if (!smcr_dev_usable(dev, net))
			continue;
		rdma_for_each_port(dev->ibdev, port) {
			if (!s.v1 && s.n < max && rdma_protocol_roce(dev->ibdev, port) &&
			    smcr_dev_port_active(dev, port))
				lan_port(&s, dev, port);
		}
	}
	rcu_read_unlock();
	return s.n;
}
