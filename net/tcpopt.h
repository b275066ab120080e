/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How SMC-R capability is announced and seen on the TCP handshake (RFC 7609
 * 3.1, A.1). Two back-ends behind one interface, chosen at build time:
 * tcpopt_native.c uses the kernel's own support (CONFIG_SMC), tcpopt_nf.c adds
 * and reads the option in netfilter hooks.
 */
#ifndef _SMCR_TCPOPT_H
#define _SMCR_TCPOPT_H

#include "base.h"

int smcr_tcpopt_init(void);
void smcr_tcpopt_exit(void);
int smcr_tcpopt_net_init(struct net *net);
void smcr_tcpopt_net_exit(struct net *net);

/**
 * smcr_tcpopt_offer() - put the option on this socket's SYN / SYN-ACKs
 * @tcp: inner socket, before connect() or listen()
 * @on: true to offer
 */
void smcr_tcpopt_offer(struct sock *tcp, bool on);

/**
 * smcr_tcpopt_agreed() - both SYN and SYN-ACK carried the option
 * @tcp: established inner socket (client's own, or a listener's child)
 */
bool smcr_tcpopt_agreed(struct sock *tcp);

/* The back-end's name for smcctl: "native" or "netfilter" */
const char *smcr_tcpopt_backend(void);

#endif /* _SMCR_TCPOPT_H */
