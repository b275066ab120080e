// SPDX-License-Identifier: GPL-2.0-only
/* until 6.17: the socket lookups have an argument for the hash table */
#include <net/inet_hashtables.h>

struct sock *probe(struct net *net, struct inet_hashinfo *hash);
struct sock *probe(struct net *net, struct inet_hashinfo *hash)
{
	return __inet_lookup_established(net, hash, 0, 0, 0, 0, 0, 0);
}
