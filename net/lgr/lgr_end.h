/* SPDX-License-Identifier: GPL-2.0-only */
/* End of link groups, RFC 7609 3.5.4. */
#ifndef _SMCR_LGR_END_H
#define _SMCR_LGR_END_H

#include "core/llc.h"
#include "base/base.h"

/**
 * struct smcr_lgr_end - the end of the group; lgr->lock
 * @due: jiffies at which a dead group is released at the latest
 * @announce: DELETE LINK announces the end to the peer; does not change after DEAD
 * @released: @work has begun
 * @links: first contact does not use the links any more, so the release puts them
 * @kept: the group was released, but its links were not put, as first contact may use them
 * @met: the peer's end of the first link was known when the links were put
 * @work: releases the group; owns a reference on the group from DEAD until the release is
 *	done
 * @free_work: frees the group, queued by the last put
 * @del: DELETE LINK for the whole group; set by the caller that has set DEAD, before it
 *	posts WANT_END
 */
struct smcr_lgr_end {
	unsigned long due;
	bool announce;
	bool released;
	bool links;
	bool kept;
	bool met;
	struct delayed_work work;
	struct work_struct free_work;
	struct smcr_llc_delete_link del;
};

void smcr_lgr_first_over(struct smcr_lgr *lgr);
void smcr_lgr_kill_net_start(struct smcr_net *sn);
void smcr_lgr_kill_net(struct smcr_net *sn);
void smcr_lgr_kill_all(void);
void smcr_lgr_shutdown(void);

#endif /* _SMCR_LGR_END_H */
