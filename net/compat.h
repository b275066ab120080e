/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that one source is built for.
 *
 * Included in front of every file by Kbuild (-include). The code is written for
 * the newest API, which this file provides on older kernels. Only this file and
 * compat.c may use HAVE_*. These macros are defined in net/gen/features.h,
 * which is included before this file. Kbuild makes it by compiling the probes
 * in scripts/kfeat with the kernel's own flags. Kernel versions are not
 * compared, because distributions backport API changes.
 *
 * Every entry names the release that brought the new API: when that release is
 * the oldest supported one, the entry can be removed.
 */
#ifndef _SMCR_COMPAT_H
#define _SMCR_COMPAT_H

#include <linux/types.h>

struct ctl_table;
struct ctl_table_header;
struct in6_addr;
struct msghdr;
struct net;
struct sock;
struct socket;

/*
 * 6.19: address arguments of proto_ops.bind, .connect, kernel_bind() and
 * kernel_connect() point to struct sockaddr_unsized. The last line declares the
 * structure that the macro names. That is enough for prototypes with pointers
 * to it.
 */
#ifdef HAVE_SOCKADDR_UNSIZED
#define SMCR_SOCKADDR	struct sockaddr_unsized
#else
#define SMCR_SOCKADDR	struct sockaddr
#endif
SMCR_SOCKADDR;

/*
 * 6.10: proto_ops.accept takes a struct proto_accept_arg. This defines the
 * static function @op for the table, around the common
 * int @fn(struct socket *sock, struct socket *newsock, int flags, bool kern).
 */
#ifdef HAVE_PROTO_ACCEPT_ARG
#define SMCR_DEFINE_ACCEPT(op, fn)					\
static int op(struct socket *sock, struct socket *newsock,		\
	      struct proto_accept_arg *arg)				\
{									\
	return fn(sock, newsock, arg->flags, arg->kern);		\
}
#else
#define SMCR_DEFINE_ACCEPT(op, fn)					\
static int op(struct socket *sock, struct socket *newsock, int flags,	\
	      bool kern)						\
{									\
	return fn(sock, newsock, flags, kern);				\
}
#endif

/*
 * 6.6: register_net_sysctl_sz(). @table has @n entries and an empty one behind
 * them, which the older function needs to find the end.
 */
struct ctl_table_header *
smcr_compat_register_net_sysctl(struct net *net, const char *path,
				struct ctl_table *table, size_t n);

/*
 * 6.18: the lookups find the hash table by the namespace. The addresses are as
 * in a received packet: @saddr and @sport are the peer's.
 */
struct sock *smcr_compat_inet_lookup(struct net *net, __be32 saddr,
				     __be16 sport, __be32 daddr, u16 dport,
				     int dif, int sdif);
struct sock *smcr_compat_inet6_lookup(struct net *net,
				      const struct in6_addr *saddr,
				      __be16 sport,
				      const struct in6_addr *daddr, u16 dport,
				      int dif, int sdif);

/*
 * 6.6: with a flag of the socket, SOL_SOCKET options are passed to
 * proto_ops.setsockopt. Core code of older kernels applies these options to
 * struct sock without calling the module: see smcr_sockopt_push().
 */
#ifdef HAVE_SOCK_CUSTOM_SOCKOPT
#define SMCR_CUSTOM_SOCKOPT	1
#define smcr_compat_custom_sockopt(sock)				\
	set_bit(SOCK_CUSTOM_SOCKOPT, &(sock)->flags)
#else
#define SMCR_CUSTOM_SOCKOPT	0
#define smcr_compat_custom_sockopt(sock)	((void)(sock))
#endif

/*
 * 6.5: sendfile() and splice() send all pages of a pipe at once. In older
 * kernels they send page by page. Return: true if another page follows the page
 * in @msg.
 */
bool smcr_compat_page_follows(const struct msghdr *msg);

/*
 * 6.5: proto_ops.splice_eof. If a file is shorter than the length passed to
 * sendfile(), core code calls this operation at its end. Data sent with
 * MSG_MORE are then not held back any longer. SMCR_SPLICE_EOF: the operation
 * exists. The function below calls the operation of @sock.
 */
#ifdef HAVE_SPLICE_EOF
#define SMCR_SPLICE_EOF	1
#else
#define SMCR_SPLICE_EOF	0
#endif
void smcr_compat_splice_eof(struct socket *sock);

#endif /* _SMCR_COMPAT_H */
