/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CDC codec, RFC 7609 A.4 (Figure 41).
 */
#ifndef _SMCR_CORE_CDC_H
#define _SMCR_CORE_CDC_H

#include "cursor.h"
#include "env.h"
#include "proto.h"
#include "reason.h"

struct smcr_cdc {
	u16 seq;
	u32 token;		/* the receiver's alert token */
	struct smcr_cursor prod;
	struct smcr_cursor cons;
	u8 pflags;		/* SMCR_CDC_B | P | U | R | F; no other bits */
	u8 cflags;		/* SMCR_CDC_D | C | A; no other bits */
};

int smcr_cdc_decode(const u8 *buf, size_t len, struct smcr_cdc *out,
		    enum smcr_reason *why);
void smcr_cdc_encode(const struct smcr_cdc *in, u8 buf[SMCR_WR_LEN]);

#endif /* _SMCR_CORE_CDC_H */
