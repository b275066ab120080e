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
#include "sock.h"
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

/*
 * TCP asks this for every SYN with the option; true = as if it had none. That
 * is how a listener changes its answer: syn_smc also decides about SYN-ACKs
 * sent again and about children, which must not change their mind.
 */
static bool smcr_tcpopt_paused(const struct sock *sk)
{
	rwlock_t *lock = &((struct sock *)sk)->sk_callback_lock;
	const struct smcr_sock *ssk;
	bool paused;

	/* Keeps the socket behind sk_user_data from going away */
	read_lock_bh(lock);
	ssk = __locked_read_sk_user_data_with_flags(sk, 0);
	paused = !ssk || READ_ONCE(ssk->opt_paused);
	read_unlock_bh(lock);
	return paused;
}

/* Inner socket's lock held */
static void smcr_tcpopt_set(struct sock *tcp, bool on, bool paused)
{
	struct tcp_sock *tp = tcp_sk(tcp);
	struct smcr_sock *ssk;

	read_lock_bh(&tcp->sk_callback_lock);
	ssk = __locked_read_sk_user_data_with_flags(tcp, 0);
	if (ssk)
		WRITE_ONCE(ssk->opt_paused, paused);
	read_unlock_bh(&tcp->sk_callback_lock);
	/* TCP reads the pointer twice, without a lock: never NULL again */
	if (on)
		tp->smc_hs_congested = smcr_tcpopt_paused;
	tp->syn_smc = on;
}

void smcr_tcpopt_offer(struct sock *tcp, bool on)
{
	lock_sock(tcp);
	if (tcp->sk_state == TCP_LISTEN)
		smcr_tcpopt_set(tcp, true, !on);
	else
		smcr_tcpopt_set(tcp, on, false);
	release_sock(tcp);
}

void smcr_tcpopt_listen(struct sock *tcp)
{
	lock_sock(tcp);
	smcr_tcpopt_set(tcp, true, true);
	release_sock(tcp);
}

bool smcr_tcpopt_agreed(struct sock *tcp)
{
	return READ_ONCE(tcp_sk(tcp)->syn_smc);
}

const char *smcr_tcpopt_backend(void)
{
	return "native";
}
