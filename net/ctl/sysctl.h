/* SPDX-License-Identifier: GPL-2.0-only */
/* The knobs of a network namespace as files. */
#ifndef _SMCR_SYSCTL_H
#define _SMCR_SYSCTL_H

#include "base/netns.h"

int smcr_sysctl_register(struct smcr_net *sn);
void smcr_sysctl_unregister(struct smcr_net *sn);

#endif /* _SMCR_SYSCTL_H */
