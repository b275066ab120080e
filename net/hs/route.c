// SPDX-License-Identifier: GPL-2.0-only
/* Route, subnets and peer host of a TCP connection, RFC 7609 3.5.1.2, A.2.2 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/if_inet6.h>
#include <net/ip6_route.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/route.h>
#include <net/xfrm.h>
#include "core/lgr_plan.h"
#include "lgr/lgr_find.h"
#include "conn/smcr_sock.h"
#include "hs/route.h"

/**
 * smcr_route_is_v4() - does a connection run over IPv4? (CLC-23)
 * @tcp: TCP socket
 *
 * Return: true for IPv4, IPv4-mapped included.
 */
bool smcr_route_is_v4(const struct sock *tcp)
{
	if (tcp->sk_family == AF_INET)
		return true;
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_addr_v4mapped(&tcp->sk_v6_daddr);
#else
	return false;
#endif
}

/* Does IPsec apply to a route? DST_XFRM_QUEUE: packets wait for the keys. */
bool smcr_route_dst_ipsec(const struct dst_entry *dst)
{
	return dst_xfrm(dst) || (dst->flags & DST_XFRM_QUEUE);
}

/**
 * smcr_route_ipsec() - does IPsec apply to a connection? (SEC-05)
 * @tcp: TCP socket
 *
 * Return: true if a policy of the socket or of its route applies.
 */
bool smcr_route_ipsec(struct sock *tcp)
{
	bool ipsec = false;
#ifdef CONFIG_XFRM
	struct dst_entry *dst;

	rcu_read_lock();
	dst = rcu_dereference(tcp->sk_dst_cache);
	ipsec = rcu_access_pointer(tcp->sk_policy[0]) ||
		rcu_access_pointer(tcp->sk_policy[1]) ||
		(dst && smcr_route_dst_ipsec(dst));
	rcu_read_unlock();
#endif
	return ipsec;
}

/**
 * smcr_route_dst_gateway() - do packets for a route's destination go to a router?
 * @dst: route of IPv4 or IPv6
 *
 * Return: true if they do, so that the destination is in no attached subnet (SEC-02).
 */
bool smcr_route_dst_gateway(const struct dst_entry *dst)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (dst->ops->family == AF_INET6)
		return container_of(dst, struct rt6_info, dst)->rt6i_flags &
		       RTF_GATEWAY;
#endif
	return container_of(dst, struct rtable, dst)->rt_uses_gateway;
}

/**
 * smcr_route_offlink() - is the peer of a connection behind a router?
 * @tcp: established TCP socket
 *
 * The subnet in a Proposal is only its sender's claim, so the route decides.
 *
 * Return: true if the route has a gateway, or if there is no route.
 */
bool smcr_route_offlink(struct sock *tcp)
{
	const struct dst_entry *dst;
	bool off;

	rcu_read_lock();
	dst = rcu_dereference(tcp->sk_dst_cache);
	off = !dst || smcr_route_dst_gateway(dst);
	rcu_read_unlock();
	return off;
}

/**
 * smcr_route_onlink4() - is an address in a subnet of a route's interface?
 * @dst: route to @daddr, without a gateway
 * @daddr: address
 *
 * Return: true if so, or if it is an own address.
 */
bool smcr_route_onlink4(const struct dst_entry *dst, __be32 daddr)
{
	const struct net_device *ndev;
	const struct in_ifaddr *ifa;
	struct in_device *in;
	bool found;

	rcu_read_lock();
	ndev = READ_ONCE(dst->dev);
	found = ndev->flags & IFF_LOOPBACK;
	in = __in_dev_get_rcu(ndev);
	if (in) {
		in_dev_for_each_ifa_rcu(ifa, in)
			found |= inet_ifa_match(daddr, ifa);
	}
	rcu_read_unlock();
	return found;
}

#if IS_ENABLED(CONFIG_IPV6)
/**
 * smcr_route_onlink6() - is an address in a prefix of a route's interface?
 * @dst: route to @daddr, without a gateway
 * @daddr: address
 *
 * Return: true if the route is that of a prefix, if @daddr is in the prefix of
 * an own address, or if @daddr is an own address.
 */
bool smcr_route_onlink6(const struct dst_entry *dst,
			const struct in6_addr *daddr)
{
	const struct rt6_info *rt = container_of(dst, struct rt6_info, dst);
	const struct fib6_info *from;
	struct net_device *ndev;
	bool found;

	rcu_read_lock();
	ndev = READ_ONCE(dst->dev);
	from = rcu_dereference(rt->from);
	found = ndev->flags & IFF_LOOPBACK || rt->rt6i_flags & RTF_LOCAL ||
		(from && from->fib6_dst.plen && from->fib6_dst.plen < 128) ||
		ipv6_chk_prefix(daddr, ndev);
	rcu_read_unlock();
	return found;
}
#endif

/* Netdev that owns the local address. RCU read side. */
static struct net_device *route_own_dev(struct sock *tcp)
{
	struct net *net = sock_net(tcp);

	if (smcr_route_is_v4(tcp))
		return __ip_dev_find(net, inet_sk(tcp)->inet_rcv_saddr, false);
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_dev_find(net, &tcp->sk_v6_rcv_saddr, NULL);
#else
	return NULL;
#endif
}

/* Netdev of the route, or else of the local address. RCU read side. */
static struct net_device *route_dev(struct sock *tcp)
{
	struct dst_entry *dst = rcu_dereference(tcp->sk_dst_cache);

	if (dst && dst->dev && !(dst->dev->flags & IFF_LOOPBACK))
		return dst->dev;
	return route_own_dev(tcp);
}

/**
 * smcr_route_local() - RDMA port for the outgoing interface of a connection
 * @tcp: established TCP socket
 * @pid: filled, with a device reference
 *
 * Return: 0 or -ENODEV.
 */
int smcr_route_local(struct sock *tcp, struct smcr_port_id *pid)
{
	bool v4 = smcr_route_is_v4(tcp);
	const void *addr = &inet_sk(tcp)->inet_rcv_saddr;
	struct net_device *ndev;
	int rc;

#if IS_ENABLED(CONFIG_IPV6)
	if (!v4)
		addr = &tcp->sk_v6_rcv_saddr;
#endif
	rcu_read_lock();
	ndev = route_dev(tcp);
	if (ndev)
		dev_hold(ndev);
	rcu_read_unlock();
	if (!ndev)	/* no cached route, and the local address was removed */
		return -ENODEV;
	rc = smcr_dev_find(sock_net(tcp), ndev, v4 ? AF_INET : AF_INET6, addr,
			   pid);
	dev_put(ndev);
	return rc;
}

/* Get the peer's link-layer address from @ndev's neighbours. RCU read side. */
static void route_neigh(struct net_device *ndev, const struct sock *tcp,
			struct smcr_peer *peer)
{
	struct neighbour *n = NULL;

	if (smcr_route_is_v4(tcp))
		n = __ipv4_neigh_lookup(ndev,
					(__force u32)inet_sk(tcp)->inet_daddr);
#if IS_ENABLED(CONFIG_IPV6)
	else
		n = __ipv6_neigh_lookup(ndev, &tcp->sk_v6_daddr);
#endif
	if (!n)
		return;
	/* NOARP: the link-layer address did not come from the peer */
	if (READ_ONCE(n->nud_state) & NUD_VALID & ~NUD_NOARP) {
		neigh_ha_snapshot(peer->hw, n, ndev);
		peer->near = is_valid_ether_addr(peer->hw);
	}
	neigh_release(n);
}

/**
 * smcr_route_peer() - identify the host at the other end of a connection
 * @tcp: established TCP socket
 * @peer: addr, hw, here and near are set
 *
 * Two IP addresses whose neighbours have the same link-layer address belong to
 * one host. The link-layer address comes from ARP or NDP, not from a CLC
 * message: a host that can forge ARP or NDP can take the IP address as well. A
 * peer behind a gateway has no link-layer address here.
 *
 * Context: process.
 */
void smcr_route_peer(struct sock *tcp, struct smcr_peer *peer)
{
	const struct dst_entry *dst;
	struct net_device *ndev;

	smcr_tcp_peer(tcp, &peer->addr);
	eth_zero_addr(peer->hw);
	eth_zero_addr(peer->here);
	rcu_read_lock();
	dst = rcu_dereference(tcp->sk_dst_cache);
	peer->near = dst && dst->dev && dst->dev->flags & IFF_LOOPBACK;
	if (!peer->near) {
		ndev = route_dev(tcp);
		if (ndev && ndev->addr_len == ETH_ALEN &&
		    !(dst && smcr_route_dst_gateway(dst)))
			route_neigh(ndev, tcp, peer);
		/*
		 * The peer's ARP or NDP finds the link-layer address of the
		 * netdev that has our IP address. The route may use another.
		 */
		ndev = route_own_dev(tcp);
		if (ndev && ndev->addr_len == ETH_ALEN)
			memcpy(peer->here, ndev->dev_addr, ETH_ALEN);
	}
	rcu_read_unlock();
}

static int route_subnet4(struct net_device *ndev, __be32 saddr,
			 struct smcr_clc_proposal *p)
{
	struct in_device *in = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa, *best = NULL;
	__be32 net;

	if (!in)
		return -ENETUNREACH;
	in_dev_for_each_ifa_rcu(ifa, in) {
		if (ifa->ifa_local == saddr) {
			best = ifa;
			break;
		}
		if (!best && inet_ifa_match(saddr, ifa))
			best = ifa;
	}
	if (!best)
		return -ENETUNREACH;
	net = best->ifa_address & best->ifa_mask;
	memcpy(p->ipv4_net, &net, sizeof(p->ipv4_net));
	p->ipv4_plen = best->ifa_prefixlen;
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool route_has_prefix(const struct smcr_clc_proposal *p,
			     const struct in6_addr *prefix, u8 plen)
{
	int i;

	for (i = 0; i < p->n_prefix; i++)
		if (p->prefix[i].plen == plen &&
		    !memcmp(p->prefix[i].addr, prefix, sizeof(*prefix)))
			return true;
	return false;
}

/*
 * Prefix of the on-link route by which @ndev reaches the peer. The prefix
 * length of an own address may not be that of the subnet: DHCPv6 assigns /128,
 * and the router advertises the on-link prefix (RFC 5942). RCU read side.
 */
static bool route_onlink(struct net_device *ndev, struct sock *tcp,
			 struct smcr_clc_prefix *onlink)
{
	const struct fib6_info *from;
	struct rt6_info *rt;
	bool found = false;

	rt = rt6_lookup(sock_net(tcp), &tcp->sk_v6_daddr, NULL, ndev->ifindex,
			NULL, RT6_LOOKUP_F_IFACE);
	if (!rt)
		return false;
	from = rcu_dereference(rt->from);
	if (from && rt->dst.dev == ndev && from->fib6_dst.plen &&
	    from->fib6_dst.plen < 128 &&
	    !(rt->rt6i_flags & (RTF_GATEWAY | RTF_REJECT | RTF_LOCAL |
				RTF_ANYCAST))) {
		memcpy(onlink->addr, &from->fib6_dst.addr,
		       sizeof(onlink->addr));
		onlink->plen = from->fib6_dst.plen;
		found = true;
	}
	ip6_rt_put(rt);
	return found;
}

/*
 * Fill in the prefix of the route to the peer, and those of our addresses.
 * Link-local addresses count for a link-local connection only. A /128 does not
 * count, as a single address is no subnet.
 */
static int route_prefixes(struct net_device *ndev, struct sock *tcp,
			  struct smcr_clc_proposal *p)
{
	struct inet6_dev *in6 = __in6_dev_get(ndev);
	bool ll = ipv6_addr_type(&tcp->sk_v6_rcv_saddr) & IPV6_ADDR_LINKLOCAL;
	const struct inet6_ifaddr *ifa;
	struct in6_addr net;

	if (!in6)
		return -ENETUNREACH;
	if (route_onlink(ndev, tcp, &p->prefix[0]))
		p->n_prefix = 1;
	list_for_each_entry_rcu(ifa, &in6->addr_list, if_list) {
		bool is_ll = ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL;

		if (p->n_prefix == SMCR_CLC_MAX_PREFIX)
			break;
		if ((is_ll && !ll) || ifa->prefix_len == 128)
			continue;
		ipv6_addr_prefix(&net, &ifa->addr, ifa->prefix_len);
		if (route_has_prefix(p, &net, ifa->prefix_len))
			continue;
		memcpy(p->prefix[p->n_prefix].addr, &net, sizeof(net));
		p->prefix[p->n_prefix++].plen = ifa->prefix_len;
	}
	return p->n_prefix ? 0 : -ENETUNREACH;
}
#endif

/**
 * smcr_route_proposal() - subnet or prefixes of the outgoing interface
 * @tcp: established TCP socket
 * @p: the IPv4 or the IPv6 part is filled (CLC-18, CLC-19, I-35); IPv6
 *	prefixes are those of own addresses and of the on-link route to the peer
 *
 * Return: 0, or -ENETUNREACH when the interface has none.
 */
int smcr_route_proposal(struct sock *tcp, struct smcr_clc_proposal *p)
{
	struct net_device *ndev;
	int rc = -ENETUNREACH;

	rcu_read_lock();
	ndev = route_dev(tcp);
	if (ndev && smcr_route_is_v4(tcp))
		rc = route_subnet4(ndev, inet_sk(tcp)->inet_rcv_saddr, p);
#if IS_ENABLED(CONFIG_IPV6)
	else if (ndev)
		rc = route_prefixes(ndev, tcp, p);
#endif
	rcu_read_unlock();
	return rc;
}

/* Copy an address of @ndev that is in the proposed subnet to @addr. RCU read side. */
static bool route_match4(struct net_device *ndev,
			 const struct smcr_clc_proposal *p, u8 addr[16])
{
	struct in_device *in = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in || p->n_prefix)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in) {
		if (smcr_subnet4_matches(p->ipv4_net, p->ipv4_plen,
					 (const u8 *)&ifa->ifa_local,
					 ifa->ifa_prefixlen)) {
			memcpy(addr, &ifa->ifa_local, sizeof(ifa->ifa_local));
			return true;
		}
	}
	return false;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool route_proposed(const struct smcr_clc_proposal *p,
			   const struct in6_addr *own, u8 plen)
{
	int i;

	for (i = 0; i < p->n_prefix; i++)
		if (smcr_prefix6_matches(&p->prefix[i], own->s6_addr, plen))
			return true;
	return false;
}
#endif

static bool route_is_ll(const struct sock *tcp)
{
#if IS_ENABLED(CONFIG_IPV6)
	return !smcr_route_is_v4(tcp) &&
	       ipv6_addr_type(&tcp->sk_v6_rcv_saddr) & IPV6_ADDR_LINKLOCAL;
#else
	return false;
#endif
}

/* fe80::/64 is on every link: it counts for a link-local connection only */
static bool route_match6(struct net_device *ndev, struct sock *tcp,
			 const struct smcr_clc_proposal *p, u8 addr[16])
{
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *in6 = __in6_dev_get(ndev);
	struct smcr_clc_prefix onlink = {};
	const struct inet6_ifaddr *ifa;
	bool ll = route_is_ll(tcp);

	if (!in6)
		return false;
	route_onlink(ndev, tcp, &onlink);
	list_for_each_entry_rcu(ifa, &in6->addr_list, if_list) {
		u8 plen = ifa->prefix_len;

		if (!ll && ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL)
			continue;
		/* a /128 in the on-link prefix: use that prefix's length */
		if (plen == 128 && smcr_prefix6_matches(&onlink,
							ifa->addr.s6_addr,
							onlink.plen))
			plen = onlink.plen;
		if (route_proposed(p, &ifa->addr, plen)) {
			memcpy(addr, &ifa->addr, sizeof(ifa->addr));
			return true;
		}
	}
#endif
	return false;
}

static bool route_match_dev(struct net_device *ndev, struct sock *tcp,
			    bool v4, const struct smcr_clc_proposal *p,
			    u8 addr[16])
{
	return v4 ? route_match4(ndev, p, addr) :
		    route_match6(ndev, tcp, p, addr);
}

/*
 * Get the @nth netdev in a proposed subnet, with a reference. The netdev of the
 * route, if it is in a proposed subnet, is number 0. As routing may be
 * asymmetric, any other interface in the subnet will do.
 */
static struct net_device *route_nth(struct sock *tcp, int nth, bool v4,
				    const struct smcr_clc_proposal *p,
				    u8 addr[16])
{
	struct net_device *ndev, *route, *found = NULL;
	bool ll = route_is_ll(tcp);
	int i = 0;

	rcu_read_lock();
	route = route_dev(tcp);
	if (route && route_match_dev(route, tcp, v4, p, addr) &&
	    i++ == nth) {
		found = route;
		goto out;
	}
	if (ll)		/* a link-local address is valid on the link of @route only */
		goto out;
	for_each_netdev_rcu(sock_net(tcp), ndev) {
		if (ndev != route &&
		    route_match_dev(ndev, tcp, v4, p, addr) &&
		    i++ == nth) {
			found = ndev;
			break;
		}
	}
out:
	if (found)
		dev_hold(found);
	rcu_read_unlock();
	return found;
}

/**
 * smcr_route_match() - RDMA port in a subnet that the Proposal names
 * @tcp: established TCP socket (server side)
 * @p: Proposal
 * @pid: filled on success, with a device reference (CLC-25..CLC-27)
 * @why: reason on failure: SUBNET or NO_DEVICE
 *
 * Return: 0 or -ENODEV.
 */
int smcr_route_match(struct sock *tcp, const struct smcr_clc_proposal *p,
		     struct smcr_port_id *pid, enum smcr_reason *why)
{
	bool v4 = smcr_route_is_v4(tcp);
	struct net_device *ndev;
	int nth, rc = -ENODEV;
	u8 addr[16];

	*why = SMCR_R_SUBNET;
	for (nth = 0; rc; nth++) {
		ndev = route_nth(tcp, nth, v4, p, addr);
		if (!ndev)
			break;
		*why = SMCR_R_NO_DEVICE;	/* the subnet has a netdev */
		rc = smcr_dev_find(sock_net(tcp), ndev, v4 ? AF_INET : AF_INET6,
				   addr, pid);
		dev_put(ndev);
	}
	return rc;
}
