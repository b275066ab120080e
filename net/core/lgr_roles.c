// SPDX-License-Identifier: GPL-2.0-only
/* Symmetric and asymmetric links. See lgr_roles.h. */
#include "env.h"
#include "lgr_roles.h"

static bool shares(struct smcr_nic_pair a, struct smcr_nic_pair b)
{
	return a.own == b.own || a.peer == b.peer;
}

static bool same(struct smcr_nic_pair a, struct smcr_nic_pair b)
{
	return a.own == b.own && a.peer == b.peer;
}

/**
 * smcr_roles() - the role of each link
 * @links: links of a group, the oldest first
 * @role: filled with the enum smcr_link_role of each link
 *
 * Roles are assigned from the oldest link on: a link that shares an RNIC with
 * an older symmetric link is not symmetric (RFC 7609 2.2.1). A role may change
 * when other links are deleted.
 */
void smcr_roles(const struct smcr_pairs *links, u8 role[SMCR_SLOTS])
{
	u8 i, j;

	for (i = 0; i < links->n; i++) {
		role[i] = SMCR_ROLE_SYM;
		for (j = 0; j < i; j++) {
			if (same(links->pair[i], links->pair[j]))
				role[i] = SMCR_ROLE_PARALLEL;
			else if (role[j] == SMCR_ROLE_SYM &&
				 role[i] == SMCR_ROLE_SYM &&
				 shares(links->pair[i], links->pair[j]))
				role[i] = SMCR_ROLE_ASYM;
		}
	}
	if (links->n == 1)
		role[0] = SMCR_ROLE_SINGLE;
}

static u8 count(const struct smcr_pairs *links, enum smcr_link_role want)
{
	u8 role[SMCR_SLOTS];
	u8 i, n = 0;

	smcr_roles(links, role);
	for (i = 0; i < links->n; i++)
		n += role[i] == want;
	return n;
}

/* Number of links that count toward the maximum; a single link does (LG-12) */
static u8 count_sym(const struct smcr_pairs *links)
{
	return links->n == 1 ? 1 : count(links, SMCR_ROLE_SYM);
}

/*
 * true if a symmetric link, or the only link, uses RNIC @nic. If @own is true,
 * @nic is an RNIC of this side, else of the peer.
 */
static bool sym_uses(const struct smcr_pairs *links, u8 nic, bool own)
{
	u8 role[SMCR_SLOTS];
	u8 i;

	smcr_roles(links, role);
	for (i = 0; i < links->n; i++) {
		if (role[i] != SMCR_ROLE_SYM && role[i] != SMCR_ROLE_SINGLE)
			continue;
		if (nic == (own ? links->pair[i].own : links->pair[i].peer))
			return true;
	}
	return false;
}

/* true if any link uses RNIC @nic of this side */
static bool any_uses(const struct smcr_pairs *links, u8 nic)
{
	u8 i;

	for (i = 0; i < links->n; i++)
		if (links->pair[i].own == nic)
			return true;
	return false;
}

static bool is_parallel(const struct smcr_pairs *links,
			struct smcr_nic_pair pair)
{
	u8 i;

	for (i = 0; i < links->n; i++)
		if (same(links->pair[i], pair))
			return true;
	return false;
}

/**
 * smcr_role_of_new() - the role that another link would have
 * @links: links of the group
 * @pair: the RNICs that the new link would join
 *
 * Return: the role. It is SYM, too, if the new link shares an RNIC only with an
 * asymmetric link; then the new link replaces the asymmetric one (LG-33).
 */
enum smcr_link_role smcr_role_of_new(const struct smcr_pairs *links,
				     struct smcr_nic_pair pair)
{
	if (is_parallel(links, pair))
		return SMCR_ROLE_PARALLEL;
	if (!links->n)
		return SMCR_ROLE_SINGLE;
	if (sym_uses(links, pair.own, true) || sym_uses(links, pair.peer, false))
		return SMCR_ROLE_ASYM;
	return SMCR_ROLE_SYM;
}

/*
 * An asymmetric link is added only if the group has exactly one link, so there
 * is never a second asymmetric one (LG-12).
 */
static bool asym_wanted(const struct smcr_pairs *links)
{
	return links->n == 1;
}

/**
 * smcr_roles_full() - does the group have its maximum of symmetric links?
 * @links: links of the group
 * @max_links: negotiated maximum of symmetric links
 */
bool smcr_roles_full(const struct smcr_pairs *links, u8 max_links)
{
	return count_sym(links) >= max_links;
}

/**
 * smcr_role_allowed() - may a link be added?
 * @links: links of the group
 * @max_links: negotiated maximum of symmetric links
 * @pair: the RNICs that the new link would join
 *
 * Return: false if the link would be a parallel one (LG-08), a symmetric one
 * above the maximum (LG-11), or an asymmetric one in a group that has more than
 * one link (LG-12).
 */
bool smcr_role_allowed(const struct smcr_pairs *links, u8 max_links,
		       struct smcr_nic_pair pair)
{
	switch (smcr_role_of_new(links, pair)) {
	case SMCR_ROLE_SINGLE:
		return true;
	case SMCR_ROLE_SYM:
		return !smcr_roles_full(links, max_links);
	case SMCR_ROLE_ASYM:
		return asym_wanted(links);
	default:
		return false;
	}
}

/**
 * smcr_roles_redundant() - can the group survive the loss of any one RNIC?
 * @links: links of the group
 *
 * Return: true if there are two symmetric links. If the second link is
 * asymmetric, the group does not survive the loss of the RNIC that both links
 * share (LG-53).
 */
bool smcr_roles_redundant(const struct smcr_pairs *links)
{
	return count(links, SMCR_ROLE_SYM) > 1;
}

/**
 * smcr_roles_replaced() - the asymmetric link that is not needed any more
 * @links: links of the group
 *
 * Return: index of the asymmetric link of a group that has two symmetric ones
 * (LG-33), or SMCR_NO_SLOT.
 */
u8 smcr_roles_replaced(const struct smcr_pairs *links)
{
	u8 role[SMCR_SLOTS];
	u8 i;

	if (!smcr_roles_redundant(links))
		return SMCR_NO_SLOT;
	smcr_roles(links, role);
	for (i = 0; i < links->n; i++)
		if (role[i] == SMCR_ROLE_ASYM)
			return i;
	return SMCR_NO_SLOT;
}

/**
 * smcr_roles_offer() - the server's RNIC for another link (LG-18)
 * @links: links of the group
 * @max_links: negotiated maximum of symmetric links
 * @nic: RNICs of the server on the group's LAN
 * @n_nic: number of entries in @nic
 * @try: number of failed attempts before this one
 * @again: since the last attempt no RNIC was added on either side
 *
 * A server's RNIC that only an asymmetric link uses counts as unused: a second
 * link on that RNIC is symmetric if the client can use another RNIC for it.
 * With @again the client has no other RNIC. Then the new link would be
 * asymmetric, too, so the RNIC counts as used.
 *
 * Return: an RNIC that no symmetric link uses, another one with each attempt.
 * If there is none, and the group has one link only, the RNIC of that link: the
 * new link will be asymmetric. In all other cases SMCR_NO_NIC.
 */
u8 smcr_roles_offer(const struct smcr_pairs *links, u8 max_links,
		    const u8 *nic, u8 n_nic, u8 try, bool again)
{
	u8 free[SMCR_NICS_MAX];
	u8 i, n = 0;

	if (smcr_roles_full(links, max_links))
		return SMCR_NO_NIC;
	for (i = 0; i < n_nic && n < ARRAY_SIZE(free); i++)
		if (!sym_uses(links, nic[i], true) &&
		    !(again && any_uses(links, nic[i])))
			free[n++] = nic[i];
	if (n)
		return free[try % n];
	return asym_wanted(links) ? links->pair[0].own : SMCR_NO_NIC;
}

/**
 * smcr_roles_answer() - the client's RNIC for the link that the server offers
 * @links: links of the group, as the client sees them
 * @max_links: negotiated maximum of symmetric links
 * @offered: the server's RNIC
 * @nic: RNICs of the client on the group's LAN
 * @n_nic: number of entries in @nic
 *
 * RFC 7609 3.5.1.6.1 (LG-20, LG-21), and for further links 3.5.5.1.1.
 *
 * Return: RNIC for the client's end of the link; SMCR_NO_NIC: there is none, so
 * the client rejects the offer ("no alternate path").
 */
u8 smcr_roles_answer(const struct smcr_pairs *links, u8 max_links, u8 offered,
		     const u8 *nic, u8 n_nic)
{
	struct smcr_nic_pair pair = { .peer = offered };
	u8 i;

	for (i = 0; i < n_nic; i++) {
		pair.own = nic[i];
		if (!sym_uses(links, nic[i], true) &&
		    smcr_role_allowed(links, max_links, pair))
			return nic[i];
	}
	if (!asym_wanted(links))
		return SMCR_NO_NIC;
	pair.own = links->pair[0].own;
	return smcr_role_allowed(links, max_links, pair) ? pair.own :
							   SMCR_NO_NIC;
}
