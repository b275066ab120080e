// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target of the CDC decoder; what it accepts must encode and decode. */
#include "fuzz.h"

#include "cdc.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_cdc cdc, again;
	u8 buf[SMCR_WR_LEN];

	if (smcr_cdc_decode(data, len, &cdc, &why)) {
		MUST(why != SMCR_R_NONE);
		return 0;
	}
	MUST(len == SMCR_WR_LEN);
	if (cdc.pflags & SMCR_CDC_F)
		MUST(cdc.pflags == SMCR_CDC_F && !cdc.cflags);
	smcr_cdc_encode(&cdc, buf);
	MUST(!smcr_cdc_decode(buf, sizeof(buf), &again, &why));
	MUST(!memcmp(&cdc, &again, sizeof(cdc)));
	return 0;
}
