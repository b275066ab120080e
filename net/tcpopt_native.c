// SPDX-License-Identifier: GPL-2.0-only
/*
 * The TCP option by the kernel's own means: CONFIG_SMC put the code into TCP,
 * whoever implements AF_SMC turns it on. TCP then sends the option for sockets
 * with tcp_sock.syn_smc, and clears that member when the other side's SYN or
 * SYN-ACK had no option; it sends none with SYN cookies.
 */
#include <linux/jump_label.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "tcpopt.h"

/**
 * smcr_tcpopt_init() - let TCP know the option
 *
 * Counted and not just enabled: if the in-tree module is loaded, which we are
 * about to find out, the key has to stay as it is.
 *
 * Context: process, may sleep.
 * Return: 0.
 */
int smcr_tcpopt_init(void)
{
	static_branch_inc(&tcp_have_smc);
	return 0;
}

/**
 * smcr_tcpopt_exit() - undo smcr_tcpopt_init()
 *
 * Context: process, may sleep.
 */
void smcr_tcpopt_exit(void)
{
	static_branch_dec(&tcp_have_smc);
}

/**
 * smcr_tcpopt_net_init() - prepare a namespace
 * @net: namespace
 *
 * Return: 0.
 */
int smcr_tcpopt_net_init(struct net *net)
{
	return 0;
}

/**
 * smcr_tcpopt_net_exit() - undo smcr_tcpopt_net_init()
 * @net: namespace
 */
void smcr_tcpopt_net_exit(struct net *net)
{
}

void smcr_tcpopt_offer(struct sock *tcp, bool on)
{
	WRITE_ONCE(tcp_sk(tcp)->syn_smc, on);
}

bool smcr_tcpopt_agreed(struct sock *tcp)
{
	return READ_ONCE(tcp_sk(tcp)->syn_smc);
}

const char *smcr_tcpopt_backend(void)
{
	return "native";
}
