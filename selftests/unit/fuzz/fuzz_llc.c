// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes into the LLC decoder; what it accepts must encode and decode. */
#include "fuzz.h"

#include "llc.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	enum smcr_reason why = SMCR_R_NONE;
	u8 buf[SMCR_WR_LEN], same[SMCR_WR_LEN];
	struct smcr_llc m, again;
	int rc;

	rc = smcr_llc_decode(data, len, &m, &why);
	if (rc) {
		MUST(why != SMCR_R_NONE);
		MUST((rc == -ENOMSG) == (why == SMCR_R_LLC_OPTIONAL));
		return 0;
	}
	MUST(len == SMCR_WR_LEN && m.type == data[0]);
	smcr_llc_encode(&m, buf);
	MUST(!smcr_llc_decode(buf, sizeof(buf), &again, &why));
	MUST(!memcmp(&m, &again, sizeof(m)));
	smcr_llc_encode(&again, same);
	MUST(!memcmp(buf, same, sizeof(buf)));
	return 0;
}
