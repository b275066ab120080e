/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface to the TCP option that announces SMC-R (RFC 7609 3.1, A.1). It has
 * two back-ends, chosen at build time: tcpopt_native.c uses the kernel's own
 * support (CONFIG_SMC), tcpopt_nf.c adds and reads the option in netfilter
 * hooks.
 */
#ifndef _SMCR_TCPOPT_H
#define _SMCR_TCPOPT_H

#include "base/base.h"

int smcr_tcpopt_init(void);
void smcr_tcpopt_exit(void);

/**
 * smcr_tcpopt_net_init() - prepare a namespace
 * @net: namespace
 *
 * Context: process, may sleep.
 * Return: 0 or -errno.
 */
int smcr_tcpopt_net_init(struct net *net);

/**
 * smcr_tcpopt_net_exit() - undo smcr_tcpopt_net_init()
 * @net: namespace
 *
 * Context: process, may sleep. Code of the back-end may still run until an RCU
 * grace period has passed.
 */
void smcr_tcpopt_net_exit(struct net *net);

/**
 * smcr_tcpopt_offer() - put the option on this socket's SYN / SYN-ACKs
 * @tcp: inner socket with our callbacks (smcr_tcp_hook()): a client's before
 *	connect(), a listener's before listen() or later
 * @on: true to offer
 *
 * For a listener, @on may change at any time. If smcr_tcpopt_listen() was
 * called before listen(), the change does not apply to a connection whose SYN
 * was answered before: all copies of its SYN-ACK and smcr_tcpopt_agreed() keep
 * the earlier answer.
 *
 * Context: process, may sleep; takes the inner socket's lock.
 */
void smcr_tcpopt_offer(struct sock *tcp, bool on);

/**
 * smcr_tcpopt_listen() - prepare a listener, which offers nothing yet
 * @tcp: inner socket with our callbacks, before listen(); if listen() fails,
 *	smcr_tcpopt_offer() with false undoes this call
 *
 * Context: process, may sleep; takes the inner socket's lock.
 */
void smcr_tcpopt_listen(struct sock *tcp);

/**
 * smcr_tcpopt_connect() - start the connect() of a client that offers SMC-R
 * @tcp: inner socket with our callbacks, after smcr_tcpopt_offer()
 * @addr: address of the server
 * @alen: its length
 *
 * Context: process, may sleep; takes the inner socket's lock.
 * Return: as connect() with O_NONBLOCK.
 */
int smcr_tcpopt_connect(struct socket *tcp, SMCR_SOCKADDR *addr, int alen);

/**
 * smcr_tcpopt_connected() - undo what smcr_tcpopt_connect() has set
 * @tcp: inner socket that does not connect any more
 *
 * Called when the connection is established or has failed, and before the inner
 * socket is released. Idempotent.
 *
 * Context: any up to softirq; inner socket locked, or no longer in use.
 */
void smcr_tcpopt_connected(struct sock *tcp);

/**
 * smcr_tcpopt_agreed() - did both SYN and SYN-ACK carry the option?
 * @tcp: established inner socket (client's own, or a listener's child)
 *
 * Return: true if both did.
 */
bool smcr_tcpopt_agreed(struct sock *tcp);

/* The back-end's name for smcctl: "native" or "netfilter" */
const char *smcr_tcpopt_backend(void);

#endif /* _SMCR_TCPOPT_H */
