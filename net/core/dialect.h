/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dialects: the differences between versions of the protocol after the
 * handshake. These are the length and the encoding of messages, the offset of
 * the data in an element, and the identity of one end of a link. A group has
 * one dialect. No other code depends on the version.
 *
 * Adding one: a struct smcr_dialect; its CLC messages and what they negotiate
 * in clc.c, kclc.c, hs_client.c and hs_server.c; the choice of a group's
 * dialect in lgr_alloc(). A message longer than SMCR_MSG_MAX needs longer
 * receive buffers (SMCR_RX_LEN). If a CDC is not SMCR_WR_LEN bytes long, tx.c
 * and conn_cdc.c have to use link->msg_len.
 */
#ifndef _SMCR_CORE_DIALECT_H
#define _SMCR_CORE_DIALECT_H

#include "env.h"
#include "llc.h"
#include "proto.h"

/* Room for a message of any dialect */
enum { SMCR_MSG_MAX = 64 };

/**
 * struct smcr_end - one end of a link, as messages name it
 * @mac: MAC address of the port
 * @gid: GID
 * @qpn: queue pair number
 */
struct smcr_end {
	const u8 *mac;
	const u8 *gid;
	u32 qpn;
};

/**
 * struct smcr_dialect - one version of the protocol
 * @version: for display and logs only, no code depends on it
 * @msg_len: length of each CDC and LLC message in bytes; links have a copy
 * @eye_len: offset of the data in an element with an eye catcher; 0: the
 *	dialect has no eye catchers
 * @eye: the eye catcher, big endian in the element
 * @llc_form: returns the form of LLC on the links of a group, for the result of
 *	smcr_dialect_base()
 * @decode: smcr_llc_decode()
 * @encode: smcr_llc_encode()
 * @same_rnic: do two MACs name one RNIC?
 * @same_end: do two descriptions name one end of one link?
 */
struct smcr_dialect {
	u8 version;
	u8 msg_len;
	u8 eye_len;
	u32 eye;
	enum smcr_llc_form (*llc_form)(u32 base);
	int (*decode)(const u8 *buf, size_t len, enum smcr_llc_form form,
		      struct smcr_llc *out, enum smcr_reason *why);
	void (*encode)(const struct smcr_llc *in, enum smcr_llc_form form,
		       u8 *buf);
	bool (*same_rnic)(const u8 a[6], const u8 b[6]);
	bool (*same_end)(const struct smcr_end *a, const struct smcr_end *b);
};

extern const struct smcr_dialect smcr_dialect_v1;

/**
 * smcr_dialect_base() - offset of the data in the elements of a group
 * @d: dialect of the group
 * @own: this side requires eye catchers
 * @peer: the peer requires eye catchers; false before its CONFIRM LINK has come
 *
 * Elements have eye catchers if at least one side requires them (RMB-14).
 *
 * Return: bytes from the start of an element.
 */
static inline u32 smcr_dialect_base(const struct smcr_dialect *d, bool own,
				    bool peer)
{
	return own || peer ? d->eye_len : 0;
}

#endif /* _SMCR_CORE_DIALECT_H */
