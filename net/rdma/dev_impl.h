/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of devices. */
#ifndef _SMCR_DEV_IMPL_H
#define _SMCR_DEV_IMPL_H

#include "rdma/dev.h"

/* dev.c */
extern struct list_head smcr_devs;	/* smcr_dev.node; RCU readers */

void smcr_peer_id_offer(const u8 mac[ETH_ALEN]);
bool smcr_dev_usable(const struct smcr_dev *dev, const struct net *net);
bool smcr_dev_port_active(const struct smcr_dev *dev, u32 port);

#endif /* _SMCR_DEV_IMPL_H */
