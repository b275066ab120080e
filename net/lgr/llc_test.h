/* SPDX-License-Identifier: GPL-2.0-only */
/* TEST LINK: when a link of a group is tested, RFC 7609 4.5.3. */
#ifndef _SMCR_LLC_TEST_H
#define _SMCR_LLC_TEST_H

#include "base/base.h"

/**
 * struct smcr_keepalive - TEST LINK that the keepalive of a link's connections needs
 * @left: jiffies until a connection needs TEST LINK; 0: now; LONG_MAX: no connection does
 * @intvl: TCP_KEEPINTVL of that connection in jiffies; 0 while @left is not 0
 * @cnt: TCP_KEEPCNT of that connection
 */
struct smcr_keepalive {
	long left;
	long intvl;
	int cnt;
};

/**
 * struct smcr_lgr_test - when links are tested; no lock: xchg(), READ_ONCE()
 * @work: sends TEST LINK; owns a reference on the group while queued
 * @soon: test links after SMCR_LLC_TEST_SOON, as a close waits for completions
 * @now: test links now, as the peer may have lost them
 * @no_reuse: the group gets no new connections until TEST LINK is answered
 */
struct smcr_lgr_test {
	struct delayed_work work;
	int soon;
	int now;
	bool no_reuse;
};

void smcr_llc_start(struct smcr_lgr *lgr);
void smcr_llc_test_soon(struct smcr_lgr *lgr);
void smcr_llc_test_now(struct smcr_lgr *lgr);
void smcr_llc_test_update(struct smcr_lgr *lgr);

#endif /* _SMCR_LLC_TEST_H */
