/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrival and removal of RNICs, for link groups. */
#ifndef _SMCR_LGR_RNICS_H
#define _SMCR_LGR_RNICS_H

#include "base/base.h"

void smcr_lgr_kill_dev(struct smcr_dev *dev);
void smcr_lgr_port_event(struct smcr_dev *dev, u8 port);
void smcr_lgr_dev_arrived(void);

#endif /* _SMCR_LGR_RNICS_H */
