/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RFC 7609 constants. Every protocol number of the module is defined here,
 * once. Message types also have the names that traces print: X(NAME, number,
 * "name").
 */
#ifndef _SMCR_CORE_PROTO_H
#define _SMCR_CORE_PROTO_H

#include "env.h"

/* The TCP option, RFC 7609 A.1 (Figure 24) */
enum smcr_tcpopt {
	SMCR_TCPOPT_KIND	= 254,	/* shared experimental kind, RFC 6994 */
	SMCR_TCPOPT_LEN		= 6,
};

#define SMCR_EYE_CATCHER	0xe2d4c3d9U	/* "SMCR" in EBCDIC, also the ExID */

/* CLC messages, RFC 7609 A.2 */
#define SMCR_CLC_TYPES(X) \
	X(PROPOSAL,	1, "proposal") \
	X(ACCEPT,	2, "accept") \
	X(CONFIRM,	3, "confirm") \
	X(DECLINE,	4, "decline")

enum smcr_clc_type {
#define X(name, num, word) SMCR_CLC_##name = (num),
	SMCR_CLC_TYPES(X)
#undef X
};

enum {
	SMCR_CLC_VERSION	= 1,
	SMCR_CLC_HDR_LEN	= 8,	/* eye catcher, type, length, version/flag */
	SMCR_CLC_PROPOSAL_MIN	= 52,
	SMCR_CLC_ACCEPT_LEN	= 68,	/* Accept and Confirm */
	SMCR_CLC_DECLINE_LEN	= 28,
	SMCR_CLC_DECLINE2_LEN	= 44,	/* version 2, only received */
	SMCR_CLC_MAX_PREFIX	= 8,
	SMCR_CLC_PREFIX_LEN	= 17,
	/*
	 * Longest CLC message that is accepted. Own messages are shorter, but
	 * Proposals of later versions are longer, and have to be answered, too.
	 */
	SMCR_CLC_MAX_LEN	= 1024,
};

/* LLC and CDC messages, RFC 7609 A.3 and A.4: always 44 bytes */
enum { SMCR_WR_LEN = 44 };

/* Adding one: see codecs[] in llc.c */
#define SMCR_LLC_TYPES(X) \
	X(CONFIRM_LINK,		0x01, "confirm-link") \
	X(ADD_LINK,		0x02, "add-link") \
	X(ADD_LINK_CONT,	0x03, "add-link-cont") \
	X(DELETE_LINK,		0x04, "delete-link") \
	X(CONFIRM_RKEY,		0x06, "confirm-rkey") \
	X(TEST_LINK,		0x07, "test-link") \
	X(CONFIRM_RKEY_CONT,	0x08, "confirm-rkey-cont") \
	X(DELETE_RKEY,		0x09, "delete-rkey")

enum smcr_llc_type {
#define X(name, num, word) SMCR_LLC_##name = (num),
	SMCR_LLC_TYPES(X)
#undef X
};

enum { SMCR_CDC_TYPE = 0xfe };

/* ADD LINK reject reasons, RFC 7609 A.3.2 */
enum smcr_add_link_reject {
	SMCR_ADD_LINK_NO_ALT_PATH	= 1,
	SMCR_ADD_LINK_BAD_MTU		= 2,
};

/* DELETE LINK reason codes, RFC 7609 A.3.4 */
enum smcr_del_link_reason {
	SMCR_DEL_LOST_PATH		= 0x00010000,
	SMCR_DEL_OPERATOR		= 0x00020000,
	SMCR_DEL_INACTIVE		= 0x00030000,
	SMCR_DEL_PROTOCOL		= 0x00040000,
	SMCR_DEL_ASYMMETRIC		= 0x00050000,
	SMCR_DEL_UNKNOWN_LINK		= 0x00100000,	/* reply only */
};

/* CDC producer flags (byte 24) and connection state flags (byte 25), A.4 */
#define SMCR_CDC_PFLAGS(X)						\
	X(B, 0x80)	/* writer blocked */				\
	X(P, 0x40)	/* urgent data pending */			\
	X(U, 0x20)	/* urgent data present */			\
	X(R, 0x10)	/* consumer cursor update requested */		\
	X(F, 0x08)	/* failover validation */

#define SMCR_CDC_CFLAGS(X)						\
	X(D, 0x80)	/* sending done */				\
	X(C, 0x40)	/* connection closed */				\
	X(A, 0x20)	/* abnormal close */

enum {
#define X(name, bit) SMCR_CDC_##name = (bit),
	SMCR_CDC_PFLAGS(X)
	SMCR_CDC_CFLAGS(X)
#undef X
};

/* QP MTU enumeration, A.2.3: the same numbers as the verbs' enum ib_mtu */
enum { SMCR_MTU_MIN = 1, SMCR_MTU_MAX = 5 };

/* Limits, RFC 7609 2.1, 2.2.2, A.2.3 */
enum {
	SMCR_BSIZE_MAX		= 5,	/* 512 KiB */
	SMCR_RMBE_MIN		= 16384,
	SMCR_RMBS_MAX		= 255,	/* per peer and link group */
	SMCR_ELEMS_MAX		= 255,	/* per RMB; index 1..255 */
	SMCR_LINKS_MIN		= 2,	/* negotiable range of max links */
	SMCR_LINKS_MAX		= 8,
	SMCR_RMBE_EYE_LEN	= 4,	/* if elements have one */
};

#endif /* _SMCR_CORE_PROTO_H */
