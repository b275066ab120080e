/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LLC codec, RFC 7609 A.3. Every message is 44 bytes long.
 */
#ifndef _SMCR_CORE_LLC_H
#define _SMCR_CORE_LLC_H

#include "env.h"
#include "proto.h"
#include "reason.h"

struct smcr_llc_confirm_link {
	u8 mac[6];
	u8 gid[16];
	u32 qpn;
	u8 link_num;
	u32 user_id;
	u8 max_links;		/* 0 = not given (client only) */
	bool no_eye_catcher;	/* the sender's RMBEs have no eye catcher; low
				 * two bits of the flags; used by Linux and
				 * z/OS, not in RFC 7609
				 */
};

struct smcr_llc_add_link {
	bool rejected;		/* Z, only with reply */
	u8 reject_reason;	/* enum smcr_add_link_reject, only with Z */
	u8 mac[6];
	u8 gid[16];
	u32 qpn;
	u8 link_num;
	u8 mtu;			/* not range-checked: see smcr_mtu_ok() */
	u32 psn;
};

struct smcr_llc_rtoken_pair {
	u32 ref_rkey;		/* the RMB's RKey on the carrying link */
	u32 new_rkey;
	u64 new_va;
};

struct smcr_llc_add_link_cont {
	u8 link_num;
	u8 n_rtokens;		/* still to send, including those here */
	struct smcr_llc_rtoken_pair pair[2];
};

struct smcr_llc_delete_link {
	bool all;		/* A */
	bool orderly;		/* O */
	u8 link_num;
	u32 reason;		/* enum smcr_del_link_reason */
};

struct smcr_llc_rkey_entry {
	u8 link_num;
	u32 rkey;
	u64 va;
};

struct smcr_llc_confirm_rkey {
	bool negative;		/* Z */
	bool retry;		/* C */
	u8 n_other;		/* other-link entries in the whole exchange */
	u32 rkey;		/* on the carrying link */
	u64 va;
	struct smcr_llc_rkey_entry other[2];
};

struct smcr_llc_confirm_rkey_cont {
	bool negative;
	u8 n_left;		/* entries still to send, including those here */
	struct smcr_llc_rkey_entry other[3];
};

struct smcr_llc_delete_rkey {
	bool negative;
	u8 count;		/* 1..8 */
	u8 error_mask;		/* 0x80: the first RKey */
	u32 rkey[8];
};

struct smcr_llc_test_link {
	u8 data[16];
};

struct smcr_llc {
	u8 type;		/* enum smcr_llc_type */
	bool reply;		/* R */
	union {
		struct smcr_llc_confirm_link confirm_link;
		struct smcr_llc_add_link add_link;
		struct smcr_llc_add_link_cont add_link_cont;
		struct smcr_llc_delete_link delete_link;
		struct smcr_llc_confirm_rkey confirm_rkey;
		struct smcr_llc_confirm_rkey_cont confirm_rkey_cont;
		struct smcr_llc_delete_rkey delete_rkey;
		struct smcr_llc_test_link test_link;
	};
};

/*
 * Where the fields of ADD LINK are. Deployed peers (Linux, z/OS) have two
 * reserved bytes between MAC and GID, which are not in Figure 31 of RFC 7609
 * (I-41). The message itself does not show which form it has: see
 * smcr_llc_form().
 */
enum smcr_llc_form {
	SMCR_LLC_RFC,
	SMCR_LLC_PADDED,
};

/**
 * smcr_llc_form() - form of ADD LINK on a link, from both CONFIRM LINK messages
 * @no_eye_catcher: both sides have set this flag, as deployed peers do; it is
 *	not in RFC 7609
 */
static inline enum smcr_llc_form smcr_llc_form(bool no_eye_catcher)
{
	return no_eye_catcher ? SMCR_LLC_PADDED : SMCR_LLC_RFC;
}

/* Count of the RTokens in ADD LINK CONTINUATION, one direction (LLC-38..40) */
struct smcr_rtoken_count {
	bool started;
	u8 left;
};

int smcr_rtoken_count_step(struct smcr_rtoken_count *c, u8 n_rtokens);

int smcr_llc_decode(const u8 *buf, size_t len, enum smcr_llc_form form,
		    struct smcr_llc *out, enum smcr_reason *why);
void smcr_llc_encode(const struct smcr_llc *in, enum smcr_llc_form form,
		     u8 buf[SMCR_WR_LEN]);

/* true if the received message is a CDC */
static inline bool smcr_wr_is_cdc(const u8 *buf)
{
	return buf[0] == SMCR_CDC_TYPE;
}

#endif /* _SMCR_CORE_LLC_H */
