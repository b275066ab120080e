// SPDX-License-Identifier: GPL-2.0-only
#include <rdma/ib_verbs.h>

void probe(struct ib_device *ib, struct net_device *ndev);
void probe(struct ib_device *ib, struct net_device *ndev)
{
	ib_dispatch_port_state_event(ib, ndev);
}
