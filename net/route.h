/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the IP side knows: netdev, addresses and subnets of a TCP connection
 * (RFC 7609 3.5.1.2, A.2.2).
 */
#ifndef _SMCR_ROUTE_H
#define _SMCR_ROUTE_H

#include "base.h"
#include "dev.h"
#include "core/clc.h"

/**
 * smcr_route_local() - RDMA port for the outgoing interface of a connection
 * @tcp: established TCP socket
 * @pid: filled, with a device reference
 *
 * Return: 0 or -ENODEV.
 */
int smcr_route_local(struct sock *tcp, struct smcr_port_id *pid);

/**
 * smcr_route_proposal() - subnet or prefixes of the outgoing interface
 * @tcp: established TCP socket
 * @p: the IPv4 or the IPv6 part is filled (CLC-18, CLC-19, I-35); IPv6
 *	prefixes are those of addresses and of the peer's on-link route
 *
 * Return: 0, or -ENETUNREACH when the interface has none.
 */
int smcr_route_proposal(struct sock *tcp, struct smcr_clc_proposal *p);

/**
 * smcr_route_match() - RDMA port in a subnet that the Proposal names
 * @tcp: established TCP socket (server side)
 * @p: Proposal
 * @pid: filled on success, with a device reference (CLC-25..CLC-27)
 * @why: SUBNET or NO_DEVICE
 *
 * Return: 0 or -ENODEV.
 */
int smcr_route_match(struct sock *tcp, const struct smcr_clc_proposal *p,
		     struct smcr_port_id *pid, enum smcr_reason *why);

/* true if the connection runs over IPv4 (IPv4-mapped included, CLC-23) */
bool smcr_route_is_v4(const struct sock *tcp);

/* true if IPsec applies to the connection (SEC-05); of a route, to its packets */
bool smcr_route_ipsec(struct sock *tcp);
bool smcr_route_dst_ipsec(const struct dst_entry *dst);

#endif /* _SMCR_ROUTE_H */
