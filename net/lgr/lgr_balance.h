/* SPDX-License-Identifier: GPL-2.0-only */
/* Even distribution of connections over the links of a group. */
#ifndef _SMCR_LGR_BALANCE_H
#define _SMCR_LGR_BALANCE_H

#include "base/base.h"

void smcr_lgr_balance(struct smcr_lgr *lgr);
void smcr_lgr_balance_all(struct smcr_net *sn);

#endif /* _SMCR_LGR_BALANCE_H */
