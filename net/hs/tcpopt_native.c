// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP option by the kernel's own code in TCP (CONFIG_SMC). The module that
 * implements AF_SMC turns that code on. TCP then sends the option for sockets
 * whose tcp_sock.syn_smc is set, and clears this member if the other side's SYN
 * or SYN-ACK had no option. With SYN cookies TCP does not send the option.
 *
 * The kernel's code does not cover simultaneous open (T-17). There the socket
 * that called connect() sends a SYN-ACK with the option, and takes the peer's
 * SYN for the answer to its own SYN. If the peer gets only the SYN-ACK, it
 * takes the role of a client and sends a Proposal. So a netfilter hook drops
 * such a SYN-ACK.
 */
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "conn/smcr_sock.h"
#include "hs/hs.h"
#include "hs/tcpopt.h"

/**
 * smcr_tcpopt_init() - turn on the option in TCP
 *
 * The static key is incremented, not just enabled. If the in-tree module is
 * loaded, it has incremented the key as well, and smcr_tcpopt_exit() must not
 * undo this. Only the registration of AF_SMC, which comes later, detects that
 * module.
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

/*
 * Simultaneous open: a client's socket answers a SYN. Its first SYN-ACK is
 * dropped, as if it were lost. Later copies of the SYN-ACK have no option, and
 * the option does not count as agreed. The option is not blanked in the packet,
 * because TCP-AO signs options. syn_smc shares a word with other bits. It may
 * be written here, as TCP transmits with the socket locked.
 */
static unsigned int tcpopt_out(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct sock *sk = skb->sk;
	struct smcr_sock *ssk;
	bool crossed;

	if (!sk || READ_ONCE(sk->sk_state) != TCP_SYN_RECV ||
	    !sk_is_tcp(sk) || !tcp_sk(sk)->syn_smc)
		return NF_ACCEPT;

	read_lock_bh(&sk->sk_callback_lock);
	ssk = smcr_tcp_owner(sk);
	/* if not crossed, @sk is a child that TCP Fast Open made early */
	crossed = ssk && READ_ONCE(ssk->is_client);
	if (crossed)
		WRITE_ONCE(ssk->opt_crossed, true);
	read_unlock_bh(&sk->sk_callback_lock);
	if (!crossed)
		return NF_ACCEPT;
	tcp_sk(sk)->syn_smc = 0;
	return NF_DROP;
}

static const struct nf_hook_ops smcr_tcpopt_hooks[] = {
	{
		.hook		= tcpopt_out,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_FIRST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= tcpopt_out,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_FIRST,
	},
#endif
};

/* Guards smcr_net.tcpopt_hooked; taken with a socket's lock held */
static DEFINE_MUTEX(smcr_tcpopt_mutex);

int smcr_tcpopt_net_init(struct net *net)
{
	return 0;
}

/**
 * smcr_tcpopt_client() - hook into a namespace, once
 * @net: namespace, on which a socket has a reference
 *
 * The hook is called for every packet that is sent, so it is not installed in
 * namespaces without clients.
 *
 * Context: process, may sleep.
 * Return: 0 or -errno.
 */
int smcr_tcpopt_client(struct net *net)
{
	struct smcr_net *sn = smcr_net(net);
	int rc = 0;

	if (READ_ONCE(sn->tcpopt_hooked))
		return 0;
	mutex_lock(&smcr_tcpopt_mutex);
	if (!sn->tcpopt_hooked)
		rc = nf_register_net_hooks(net, smcr_tcpopt_hooks,
					   ARRAY_SIZE(smcr_tcpopt_hooks));
	if (!rc)
		WRITE_ONCE(sn->tcpopt_hooked, true);
	mutex_unlock(&smcr_tcpopt_mutex);
	return rc;
}

/**
 * smcr_tcpopt_net_exit() - undo smcr_tcpopt_client()
 * @net: namespace
 *
 * Context: process, may sleep. A hook may still run until an RCU grace period
 * has passed.
 */
void smcr_tcpopt_net_exit(struct net *net)
{
	if (!smcr_net(net)->tcpopt_hooked)
		return;
	nf_unregister_net_hooks(net, smcr_tcpopt_hooks,
				ARRAY_SIZE(smcr_tcpopt_hooks));
}

/*
 * TCP calls this function for every SYN with the option. If the result is true,
 * the SYN counts as one without the option. A listener withdraws its offer in
 * this way. syn_smc would also apply to retransmitted SYN-ACKs and to children,
 * which must keep the earlier answer.
 */
static bool tcpopt_paused(const struct sock *sk)
{
	rwlock_t *lock = &((struct sock *)sk)->sk_callback_lock;
	const struct smcr_sock *ssk;
	bool paused;

	/* the lock keeps the AF_SMC socket from being freed */
	read_lock_bh(lock);
	ssk = smcr_tcp_owner(sk);
	paused = !ssk || READ_ONCE(ssk->opt_paused) ||
		 smcr_hs_owner_ops->listener_busy(ssk, 0);
	read_unlock_bh(lock);
	return paused;
}

static void tcpopt_set(struct sock *tcp, bool on, bool paused)
{
	struct tcp_sock *tp = tcp_sk(tcp);
	struct smcr_sock *ssk;

	sock_owned_by_me(tcp);

	read_lock_bh(&tcp->sk_callback_lock);
	ssk = smcr_tcp_owner(tcp);
	if (ssk)
		WRITE_ONCE(ssk->opt_paused, paused);
	read_unlock_bh(&tcp->sk_callback_lock);
	/* never set to NULL again: TCP reads the pointer twice, unlocked */
	if (on)
		tp->smc_hs_congested = tcpopt_paused;
	tp->syn_smc = on;
}

void smcr_tcpopt_offer(struct sock *tcp, bool on)
{
	lock_sock(tcp);
	if (tcp->sk_state == TCP_LISTEN)
		tcpopt_set(tcp, true, !on);
	else
		tcpopt_set(tcp, on, false);
	release_sock(tcp);
}

void smcr_tcpopt_listen(struct sock *tcp)
{
	lock_sock(tcp);
	tcpopt_set(tcp, true, true);
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
