/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CLC codec, RFC 7609 A.2. Values are in host byte order; byte strings (peer
 * ID, GID, MAC, prefixes) as on the wire.
 */
#ifndef _SMCR_CORE_CLC_H
#define _SMCR_CORE_CLC_H

#include "env.h"
#include "proto.h"
#include "reason.h"

struct smcr_clc_hdr {
	u8 type;		/* enum smcr_clc_type */
	u8 version;
	bool flag;		/* F of Accept, S of Decline */
	u16 len;		/* whole message, both eye catchers included */
};

struct smcr_clc_prefix {
	u8 addr[16];
	u8 plen;		/* 0..128 */
};

struct smcr_clc_proposal {
	u8 version;		/* as the peer announced it, >= 1 */
	u8 peer_id[8];
	u8 gid[16];
	u8 mac[6];
	u8 ipv4_net[4];		/* network number; zero on IPv6 */
	u8 ipv4_plen;		/* 0..32 */
	u8 n_prefix;		/* 0 on IPv4; 1..8 on IPv6 (0: no match) */
	struct smcr_clc_prefix prefix[SMCR_CLC_MAX_PREFIX];
};

/* Accept and Confirm share their layout */
struct smcr_clc_accept {
	u8 type;		/* SMCR_CLC_ACCEPT or SMCR_CLC_CONFIRM */
	bool first_contact;	/* Accept only */
	u8 peer_id[8];
	u8 gid[16];
	u8 mac[6];
	u32 qpn;		/* 24 bit */
	u32 rkey;
	u8 index;		/* 1..255 */
	u32 token;		/* opaque to the receiver */
	u8 bsize;		/* not range-checked: see smcr_bsize_ok() */
	u8 mtu;			/* not range-checked: see smcr_mtu_ok() */
	u64 va;			/* start of the RMB, not of the element */
	u32 psn;		/* 24 bit */
};

struct smcr_clc_decline {
	bool out_of_sync;
	u8 peer_id[8];
	u32 diagnosis;		/* its meaning depends on the sender */
};

int smcr_clc_decode_hdr(const u8 *buf, size_t len, struct smcr_clc_hdr *out,
			enum smcr_reason *why);
int smcr_clc_decode_proposal(const u8 *buf, size_t len,
			     struct smcr_clc_proposal *out,
			     enum smcr_reason *why);
int smcr_clc_decode_accept(const u8 *buf, size_t len,
			   struct smcr_clc_accept *out, enum smcr_reason *why);
int smcr_clc_decode_decline(const u8 *buf, size_t len,
			    struct smcr_clc_decline *out,
			    enum smcr_reason *why);

int smcr_clc_encode_proposal(const struct smcr_clc_proposal *in, u8 *buf,
			     size_t len);
int smcr_clc_encode_accept(const struct smcr_clc_accept *in, u8 *buf,
			   size_t len);
int smcr_clc_encode_decline(const struct smcr_clc_decline *in, u8 *buf,
			    size_t len);

/*
 * A reserved MTU or Bsize causes a Decline; other wrong values cause a reset
 * (CLC-10).
 */
static inline bool smcr_mtu_ok(u8 mtu)
{
	return mtu >= SMCR_MTU_MIN && mtu <= SMCR_MTU_MAX;
}

static inline bool smcr_bsize_ok(u8 bsize)
{
	return bsize <= SMCR_BSIZE_MAX;
}

/* Element length in bytes, eye catcher included (A.2.3); for a valid @bsize */
static inline u32 smcr_bsize_bytes(u8 bsize)
{
	return (u32)SMCR_RMBE_MIN << bsize;
}

u8 smcr_bsize_for(u32 rcvbuf);

#endif /* _SMCR_CORE_CLC_H */
