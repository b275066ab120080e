// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target of the CLC decoders; what they accept must encode and decode. */
#include "fuzz.h"

#include "clc.h"

enum { BIG = SMCR_CLC_MAX_LEN };

static void proposal(const u8 *data, size_t len)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_clc_proposal p, again;
	u8 buf[BIG];
	int rc;

	if (smcr_clc_decode_proposal(data, len, &p, &why)) {
		MUST(why != SMCR_R_NONE);
		return;
	}
	MUST(p.version >= 1 && p.n_prefix <= SMCR_CLC_MAX_PREFIX);
	rc = smcr_clc_encode_proposal(&p, buf, sizeof(buf));
	MUST(rc > 0 && (size_t)rc <= len);
	MUST(!smcr_clc_decode_proposal(buf, rc, &again, &why));
	MUST(!memcmp(&p, &again, sizeof(p)));
}

static void accept_or_confirm(const u8 *data, size_t len)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_clc_accept a, again;
	u8 buf[BIG];

	if (smcr_clc_decode_accept(data, len, &a, &why)) {
		MUST(why != SMCR_R_NONE);
		return;
	}
	MUST(a.index && a.qpn && a.qpn < 1 << 24 && a.psn < 1 << 24);
	MUST(smcr_clc_encode_accept(&a, buf, sizeof(buf)) == (int)len);
	MUST(!smcr_clc_decode_accept(buf, len, &again, &why));
	MUST(!memcmp(&a, &again, sizeof(a)));
}

static void decline(const u8 *data, size_t len)
{
	struct smcr_clc_decline d, again;
	enum smcr_reason why = SMCR_R_NONE;
	u8 buf[BIG];

	if (smcr_clc_decode_decline(data, len, &d, &why)) {
		MUST(why != SMCR_R_NONE);
		return;
	}
	MUST(smcr_clc_encode_decline(&d, buf, sizeof(buf)) == (int)len);
	MUST(!smcr_clc_decode_decline(buf, len, &again, &why));
	MUST(!memcmp(&d, &again, sizeof(d)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_clc_hdr hdr;

	if (smcr_clc_decode_hdr(data, len, &hdr, &why))
		MUST(why != SMCR_R_NONE);
	else
		MUST(hdr.len >= SMCR_CLC_DECLINE_LEN && hdr.len <= BIG);
	proposal(data, len);
	accept_or_confirm(data, len);
	decline(data, len);
	return 0;
}
