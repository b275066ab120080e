/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link-group planning: decisions about handshakes and links that depend on
 * nothing but their parameters (RFC 7609 2.2, 3.5, C.4).
 */
#ifndef _SMCR_CORE_LGR_PLAN_H
#define _SMCR_CORE_LGR_PLAN_H

#include "clc.h"
#include "dialect.h"
#include "env.h"
#include "lgr_roles.h"
#include "llc.h"

/* The client's view of an Accept (CLC-34, reading I-10) */
enum smcr_accept_class {
	SMCR_ACCEPT_FIRST,	/* F=1: new link group */
	SMCR_ACCEPT_REUSE,	/* F=0, and a link matches */
	SMCR_ACCEPT_OUT_OF_SYNC,/* F=0, and no link matches: Decline with S */
};

/* What identifies a link for CLC (LG-02) */
struct smcr_link_id {
	const u8 *peer_id;
	struct smcr_end peer;
};

bool smcr_link_matches(const struct smcr_dialect *d,
		       const struct smcr_link_id *link,
		       const struct smcr_clc_accept *msg);
enum smcr_accept_class smcr_accept_classify(const struct smcr_clc_accept *msg,
					    bool known);
u8 smcr_max_links(u8 server, u8 client);
u32 smcr_spread(const u32 n[SMCR_SLOTS], u16 carry, u32 more[SMCR_SLOTS]);
u8 smcr_min_mtu(u8 a, u8 b);
bool smcr_subnet4_matches(const u8 net[4], u8 plen, const u8 own_addr[4],
			  u8 own_plen);
bool smcr_prefix6_matches(const struct smcr_clc_prefix *prefix,
			  const u8 own_addr[16], u8 own_plen);

#endif /* _SMCR_CORE_LGR_PLAN_H */
