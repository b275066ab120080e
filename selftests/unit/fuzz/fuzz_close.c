// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target of the connection state machine, RFC 7609 4.8: any events in any
 * order, with any facts. Two bytes are one event: the low half of the first is
 * the event, the high half the facts, the second is the caller's reason.
 */
#include "fuzz.h"
#include "close_life.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_in in = { data, len };
	struct smcr_close_out out;
	struct close_life l;

	close_life_init(&l);
	while (in.left) {
		u8 what = fuzz_u8(&in);
		struct smcr_close_facts facts = {
			.unread = what & 0x10,
			.unsent = what & 0x20,
			.undrained = what & 0x60,	/* unsent is undrained */
		};

		MUST(!close_life_step(&l, (what & 0xf) % NR_SMCR_CONN_EV,
				      &facts, fuzz_u8(&in) % NR_SMCR_REASON,
				      &out));
	}
	return 0;
}
