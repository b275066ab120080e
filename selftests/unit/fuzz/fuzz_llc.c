// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target of the LLC decoder; what it accepts must encode and decode. */
#include "fuzz.h"

#include "llc.h"

static void one(const u8 *data, size_t len, enum smcr_llc_form form)
{
	enum smcr_reason why = SMCR_R_NONE;
	u8 buf[SMCR_WR_LEN], same[SMCR_WR_LEN];
	struct smcr_llc m, again;
	int rc;

	rc = smcr_llc_decode(data, len, form, &m, &why);
	if (rc) {
		MUST(why != SMCR_R_NONE);
		MUST((rc == -ENOMSG) == (why == SMCR_R_LLC_OPTIONAL));
		return;
	}
	MUST(len == SMCR_WR_LEN && m.type == data[0]);
	smcr_llc_encode(&m, form, buf);
	MUST(!smcr_llc_decode(buf, sizeof(buf), form, &again, &why));
	MUST(!memcmp(&m, &again, sizeof(m)));
	smcr_llc_encode(&again, form, same);
	MUST(!memcmp(buf, same, sizeof(buf)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	one(data, len, SMCR_LLC_RFC);
	one(data, len, SMCR_LLC_PADDED);
	return 0;
}
