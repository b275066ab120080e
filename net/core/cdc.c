// SPDX-License-Identifier: GPL-2.0-only
/* CDC codec, RFC 7609 A.4. See cdc.h. */
#include "byteio.h"
#include "cdc.h"
#include "env.h"

/* Offsets of the fields, conformance catalogue A.16 */
enum {
	OFF_TYPE	= 0,
	OFF_LENGTH	= 1,
	OFF_SEQ		= 2,
	OFF_TOKEN	= 4,
	OFF_PROD_WRAP	= 10,
	OFF_PROD	= 12,
	OFF_CONS_WRAP	= 18,
	OFF_CONS	= 20,
	OFF_PFLAGS	= 24,
	OFF_CFLAGS	= 25,

	PFLAGS = SMCR_CDC_B | SMCR_CDC_P | SMCR_CDC_U | SMCR_CDC_R | SMCR_CDC_F,
	CFLAGS = SMCR_CDC_D | SMCR_CDC_C | SMCR_CDC_A,
};

/**
 * smcr_cdc_decode() - decode a CDC message received on a link
 * @buf: bytes of the SEND
 * @len: number of bytes that arrived
 * @out: filled on success, untouched on error
 * @why: reason, set on error
 *
 * In a failover validation message (F) only sequence number and token have a
 * meaning. All other fields and flags of @out are zero, whatever the peer sent
 * (CDC-47).
 *
 * Return: 0 or -EPROTO.
 */
int smcr_cdc_decode(const u8 *buf, size_t len, struct smcr_cdc *out,
		    enum smcr_reason *why)
{
	if (len != SMCR_WR_LEN) {
		*why = SMCR_R_LLC_LENGTH;
		return -EPROTO;
	}
	if (buf[OFF_TYPE] != SMCR_CDC_TYPE) {
		*why = SMCR_R_LLC_OPCODE;
		return -EPROTO;
	}
	if (buf[OFF_LENGTH] != SMCR_WR_LEN) {
		*why = SMCR_R_LLC_LENGTH;
		return -EPROTO;
	}

	memset(out, 0, sizeof(*out));
	out->seq = smcr_get_be16(buf + OFF_SEQ);
	out->token = smcr_get_be32(buf + OFF_TOKEN);
	if (buf[OFF_PFLAGS] & SMCR_CDC_F) {
		out->pflags = SMCR_CDC_F;
		return 0;
	}
	out->prod.wrap = smcr_get_be16(buf + OFF_PROD_WRAP);
	out->prod.count = smcr_get_be32(buf + OFF_PROD);
	out->cons.wrap = smcr_get_be16(buf + OFF_CONS_WRAP);
	out->cons.count = smcr_get_be32(buf + OFF_CONS);
	out->pflags = buf[OFF_PFLAGS] & PFLAGS;
	out->cflags = buf[OFF_CFLAGS] & CFLAGS;
	return 0;
}

/**
 * smcr_cdc_encode() - encode a CDC message
 * @in: message; with SMCR_CDC_F only @in->seq and @in->token are used
 * @buf: wholly written
 */
void smcr_cdc_encode(const struct smcr_cdc *in, u8 buf[SMCR_WR_LEN])
{
	memset(buf, 0, SMCR_WR_LEN);
	buf[OFF_TYPE] = SMCR_CDC_TYPE;
	buf[OFF_LENGTH] = SMCR_WR_LEN;
	smcr_put_be16(buf + OFF_SEQ, in->seq);
	smcr_put_be32(buf + OFF_TOKEN, in->token);
	if (in->pflags & SMCR_CDC_F) {
		buf[OFF_PFLAGS] = SMCR_CDC_F;
		return;
	}
	smcr_put_be16(buf + OFF_PROD_WRAP, in->prod.wrap);
	smcr_put_be32(buf + OFF_PROD, in->prod.count);
	smcr_put_be16(buf + OFF_CONS_WRAP, in->cons.wrap);
	smcr_put_be32(buf + OFF_CONS, in->cons.count);
	buf[OFF_PFLAGS] = in->pflags & PFLAGS;
	buf[OFF_CFLAGS] = in->cflags & CFLAGS;
}
