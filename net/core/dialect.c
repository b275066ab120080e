// SPDX-License-Identifier: GPL-2.0-only
/* Dialect of version 1, which is RFC 7609. See dialect.h. */
#include "dialect.h"
#include "env.h"

static_assert((int)SMCR_WR_LEN <= (int)SMCR_MSG_MAX);

static enum smcr_llc_form v1_llc_form(u32 base)
{
	return smcr_llc_form(!base);
}

static bool v1_same_rnic(const u8 a[6], const u8 b[6])
{
	return !memcmp(a, b, 6);
}

/*
 * LG-02, LLC-21: a host may use the same GID, or the same QPN, on several
 * ports. So GID, QPN and MAC have to be equal.
 */
static bool v1_same_end(const struct smcr_end *a, const struct smcr_end *b)
{
	return a->qpn == b->qpn && !memcmp(a->gid, b->gid, 16) &&
	       v1_same_rnic(a->mac, b->mac);
}

const struct smcr_dialect smcr_dialect_v1 = {
	.version = 1,
	.msg_len = SMCR_WR_LEN,
	.eye_len = SMCR_RMBE_EYE_LEN,
	.eye = 0xd9d4c2c5,	/* "RMBE" in EBCDIC, our choice */
	.llc_form = v1_llc_form,
	.decode = smcr_llc_decode,
	.encode = smcr_llc_encode,
	.same_rnic = v1_same_rnic,
	.same_end = v1_same_end,
};
