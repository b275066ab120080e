// SPDX-License-Identifier: GPL-2.0-only
/* Link-group planning, RFC 7609 2.2, 3.5, C.4. See lgr_plan.h. */
#include "env.h"
#include "lgr_plan.h"

/**
 * smcr_link_matches() - does an Accept or Confirm name this link? (LG-02)
 * @d: dialect of the group
 * @link: peer's side of the link
 * @msg: decoded message
 *
 * Return: true if @msg has the peer ID and the end of @link.
 */
bool smcr_link_matches(const struct smcr_dialect *d,
		       const struct smcr_link_id *link,
		       const struct smcr_clc_accept *msg)
{
	const struct smcr_end named = { msg->mac, msg->gid, msg->qpn };

	return !memcmp(link->peer_id, msg->peer_id, sizeof(msg->peer_id)) &&
	       d->same_end(&link->peer, &named);
}

/**
 * smcr_accept_classify() - what an Accept starts
 * @msg: decoded Accept
 * @known: true if a live link of a client-role group matches @msg
 *
 * Return: class of the Accept.
 */
enum smcr_accept_class smcr_accept_classify(const struct smcr_clc_accept *msg,
					    bool known)
{
	if (msg->first_contact)
		return SMCR_ACCEPT_FIRST;
	return known ? SMCR_ACCEPT_REUSE : SMCR_ACCEPT_OUT_OF_SYNC;
}

/**
 * smcr_max_links() - negotiated maximum number of links (LG-10, I-15)
 * @server: the server's value, 2..8; another value is clamped to that range
 * @client: the client's value; 0: the client has not sent one
 *
 * Return: 2..8.
 */
u8 smcr_max_links(u8 server, u8 client)
{
	server = clamp_t(u8, server, SMCR_LINKS_MIN, SMCR_LINKS_MAX);
	if (!client)
		return server;
	return min_t(u8, server, max_t(u8, client, SMCR_LINKS_MIN));
}

/**
 * smcr_spread() - connections to move off each link for an even load (LG-47)
 * @n: number of connections of each slot's link
 * @carry: links that carry data, bits of slots; other links do not count
 * @more: filled with the number of connections to move off each slot's link
 *
 * No more connections move than necessary. If the connections cannot be divided
 * evenly, some links keep one more than others.
 *
 * Return: sum of @more.
 */
u32 smcr_spread(const u32 n[SMCR_SLOTS], u16 carry, u32 more[SMCR_SLOTS])
{
	u32 links = 0, rest = 0, all = 0, share, keep;
	int i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		more[i] = 0;
		if (!(carry & BIT(i)))
			continue;
		links++;
		rest += n[i];
	}
	if (!links)
		return 0;
	share = rest / links;
	rest %= links;
	for (i = 0; i < SMCR_SLOTS; i++) {
		if (!(carry & BIT(i)) || n[i] <= share)
			continue;
		keep = share;
		if (rest) {
			keep++;
			rest--;
		}
		more[i] = n[i] - keep;
		all += more[i];
	}
	return all;
}

/**
 * smcr_min_mtu() - effective QP MTU (CLC-38)
 * @a: own enumeration value
 * @b: the peer's
 *
 * Return: the smaller.
 */
u8 smcr_min_mtu(u8 a, u8 b)
{
	return min(a, b);
}

/* true if the first @plen bits of both byte strings are equal */
static bool prefix_equal(const u8 *a, const u8 *b, u8 plen)
{
	u8 bits = plen % 8;
	u8 bytes = plen / 8;

	if (memcmp(a, b, bytes))
		return false;
	return !bits || !((a[bytes] ^ b[bytes]) >> (8 - bits));
}

/**
 * smcr_subnet4_matches() - is the proposed IPv4 subnet one of ours? (CLC-25)
 * @net: network number from the Proposal
 * @plen: mask length from the Proposal; 0 stands for no subnet
 * @own_addr: address of an own interface
 * @own_plen: mask length of @own_addr
 *
 * Return: true if network number and mask length are equal.
 */
bool smcr_subnet4_matches(const u8 net[4], u8 plen, const u8 own_addr[4],
			  u8 own_plen)
{
	return plen && plen <= 32 && plen == own_plen &&
	       prefix_equal(net, own_addr, plen);
}

/**
 * smcr_prefix6_matches() - is a proposed IPv6 prefix one of ours? (CLC-26)
 * @prefix: prefix from the Proposal; length 0 stands for none
 * @own_addr: address of an own interface
 * @own_plen: prefix length of @own_addr
 *
 * Return: true if prefix and prefix length are equal.
 */
bool smcr_prefix6_matches(const struct smcr_clc_prefix *prefix,
			  const u8 own_addr[16], u8 own_plen)
{
	return prefix->plen && prefix->plen <= 128 &&
	       prefix->plen == own_plen &&
	       prefix_equal(prefix->addr, own_addr, own_plen);
}
