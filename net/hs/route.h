/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netdev, addresses and subnets of a TCP connection (RFC 7609 3.5.1.2, A.2.2).
 */
#ifndef _SMCR_ROUTE_H
#define _SMCR_ROUTE_H

#include "core/clc.h"
#include "base/base.h"
#include "rdma/dev.h"
#include "lgr/lgr_find.h"

int smcr_route_local(struct sock *tcp, struct smcr_port_id *pid);

int smcr_route_proposal(struct sock *tcp, struct smcr_clc_proposal *p);

int smcr_route_match(struct sock *tcp, const struct smcr_clc_proposal *p,
		     struct smcr_port_id *pid, enum smcr_reason *why);

void smcr_route_peer(struct sock *tcp, struct smcr_peer *peer);

bool smcr_route_is_v4(const struct sock *tcp);

bool smcr_route_ipsec(struct sock *tcp);
bool smcr_route_dst_ipsec(const struct dst_entry *dst);
bool smcr_route_dst_gateway(const struct dst_entry *dst);
bool smcr_route_offlink(struct sock *tcp);
bool smcr_route_onlink4(const struct dst_entry *dst, __be32 daddr);
bool smcr_route_onlink6(const struct dst_entry *dst,
			const struct in6_addr *daddr);

#endif /* _SMCR_ROUTE_H */
