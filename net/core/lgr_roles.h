/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symmetric and asymmetric links of a group, RFC 7609 2.2.1, 3.5.1.6,
 * 3.5.5.1.1: which RNIC the server offers, which one the client answers with.
 */
#ifndef _SMCR_CORE_LGR_ROLES_H
#define _SMCR_CORE_LGR_ROLES_H

#include "env.h"
#include "proto.h"

enum {
	/*
	 * Links that a group can have at a time: eight symmetric ones, one
	 * asymmetric one, and some whose queue pairs are still being destroyed.
	 */
	SMCR_SLOTS	= 12,
	SMCR_NO_SLOT	= 0xff,
	SMCR_NO_NIC	= 0xff,
	SMCR_NICS_MAX	= 16,	/* RNICs of one side that a group can number */
};

/*
 * The two RNICs that a link joins, as numbers. The caller numbers the RNICs of
 * each side separately.
 */
struct smcr_nic_pair {
	u8 own;
	u8 peer;
};

/* The active links of a group, the oldest first */
struct smcr_pairs {
	u8 n;
	struct smcr_nic_pair pair[SMCR_SLOTS];
};

enum smcr_link_role {
	SMCR_ROLE_SINGLE,	/* the only link of the group */
	SMCR_ROLE_SYM,		/* shares no RNIC with an older symmetric link */
	SMCR_ROLE_ASYM,		/* shares an RNIC with an older symmetric link */
	SMCR_ROLE_PARALLEL,	/* both RNICs are those of another link */
};

void smcr_roles(const struct smcr_pairs *links, u8 role[SMCR_SLOTS]);
enum smcr_link_role smcr_role_of_new(const struct smcr_pairs *links,
				     struct smcr_nic_pair pair);
bool smcr_roles_full(const struct smcr_pairs *links, u8 max_links);
bool smcr_role_allowed(const struct smcr_pairs *links, u8 max_links,
		       struct smcr_nic_pair pair);
bool smcr_roles_redundant(const struct smcr_pairs *links);
u8 smcr_roles_replaced(const struct smcr_pairs *links);
u8 smcr_roles_offer(const struct smcr_pairs *links, u8 max_links,
		    const u8 *nic, u8 n_nic, u8 try, bool again);
u8 smcr_roles_answer(const struct smcr_pairs *links, u8 max_links, u8 offered,
		     const u8 *nic, u8 n_nic);

#endif /* _SMCR_CORE_LGR_ROLES_H */
