/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How SMC-R capability is announced and seen on the TCP handshake (RFC 7609
 * 3.1, A.1). Two back-ends behind one interface, chosen at build time:
 * tcpopt_native.c uses the kernel's own support (CONFIG_SMC), tcpopt_nf.c adds
 * and reads the option in netfilter hooks.
 */
#ifndef _SMCR_TCPOPT_H
#define _SMCR_TCPOPT_H

#include "base/base.h"

int smcr_tcpopt_init(void);
void smcr_tcpopt_exit(void);
int smcr_tcpopt_net_init(struct net *net);
void smcr_tcpopt_net_exit(struct net *net);

/*
 * Before the first client of a namespace offers anything; 0 or -errno. Process
 * context, may sleep.
 */
int smcr_tcpopt_client(struct net *net);

/**
 * smcr_tcpopt_offer() - put the option on this socket's SYN / SYN-ACKs
 * @tcp: hooked inner socket: a client's before connect(), a listener's before
 *	listen() or later
 * @on: true to offer
 *
 * A listener's answer may change at any time. Connections that are being made
 * meanwhile keep the one that they got, in their SYN-ACKs and for
 * smcr_tcpopt_agreed(), if smcr_tcpopt_listen() came before listen().
 *
 * Context: process, may sleep; takes the inner socket's lock.
 */
void smcr_tcpopt_offer(struct sock *tcp, bool on);

/**
 * smcr_tcpopt_listen() - prepare a listener, which offers nothing yet
 * @tcp: hooked inner socket, before listen(); smcr_tcpopt_offer() with false
 *	undoes it if listen() fails
 *
 * Context: process, may sleep; takes the inner socket's lock.
 */
void smcr_tcpopt_listen(struct sock *tcp);

/**
 * smcr_tcpopt_agreed() - both SYN and SYN-ACK carried the option
 * @tcp: established inner socket (client's own, or a listener's child)
 */
bool smcr_tcpopt_agreed(struct sock *tcp);

/* The back-end's name for smcctl: "native" or "netfilter" */
const char *smcr_tcpopt_backend(void);

#endif /* _SMCR_TCPOPT_H */
