// SPDX-License-Identifier: GPL-2.0-only
/*
 * Differences between the kernels that one source is built for: out-of-line
 * parts of compat.h.
 */
#include <linux/socket.h>
#include <linux/sysctl.h>
#include <linux/uio.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/net_namespace.h>

struct ctl_table_header *
smcr_compat_register_net_sysctl(struct net *net, const char *path,
				struct ctl_table *table, size_t n)
{
#ifdef HAVE_REGISTER_NET_SYSCTL_SZ
	return register_net_sysctl_sz(net, path, table, n);
#else
	return register_net_sysctl(net, path, table);
#endif
}

/*
 * Up to 6.17 the lookups have the hash table as a parameter. Since 6.1 a
 * namespace may have a hash table of its own.
 */
#ifdef HAVE_INET_LOOKUP_HASHINFO
#define smcr_lookup(fn, net, ...) \
	fn(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#else
#define smcr_lookup(fn, net, ...) fn(net, __VA_ARGS__)
#endif

struct sock *smcr_compat_inet_lookup(struct net *net, __be32 saddr,
				     __be16 sport, __be32 daddr, u16 dport,
				     int dif, int sdif)
{
	return smcr_lookup(__inet_lookup_established, net, saddr, sport, daddr,
			   dport, dif, sdif);
}

#if IS_ENABLED(CONFIG_IPV6)
struct sock *smcr_compat_inet6_lookup(struct net *net,
				      const struct in6_addr *saddr,
				      __be16 sport,
				      const struct in6_addr *daddr, u16 dport,
				      int dif, int sdif)
{
	return smcr_lookup(__inet6_lookup_established, net, saddr, sport,
			   daddr, dport, dif, sdif);
}
#endif

bool smcr_compat_page_follows(const struct msghdr *msg)
{
#ifdef MSG_SENDPAGE_NOTLAST
	/* user space may set the flag, but its memory is never a kvec */
	return (msg->msg_flags & MSG_SENDPAGE_NOTLAST) &&
	       iov_iter_is_kvec(&msg->msg_iter);
#else
	return false;
#endif
}

void smcr_compat_splice_eof(struct socket *sock)
{
#ifdef HAVE_SPLICE_EOF
	const struct proto_ops *ops = READ_ONCE(sock->ops);

	if (ops->splice_eof)
		ops->splice_eof(sock);
#endif
}
