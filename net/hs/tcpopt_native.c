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
 * takes the role of a client and sends a Proposal. So such a SYN-ACK is dropped:
 * while a client connects, its socket has its own function to transmit. Other
 * sockets are not affected.
 */
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/tcp.h>
#include <net/inet_common.h>
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

/**
 * struct tcpopt_af - operations of an address family, with tcpopt_xmit()
 * @ops: copy of @orig with another queue_xmit()
 * @orig: TCP's operations; NULL: the entry is free. Set once, after @ops
 */
struct tcpopt_af {
	struct inet_connection_sock_af_ops ops;
	const struct inet_connection_sock_af_ops *orig;
};

/* TCP has operations for IPv4, IPv6 and mapped addresses; tcpopt_mutex */
static struct tcpopt_af tcpopt_afs[3];

/* Guards the setup of tcpopt_afs; taken with an inner socket's lock held */
static DEFINE_MUTEX(tcpopt_mutex);

/*
 * Is @sk, which answers a SYN, the socket of a client? If not, it is a child
 * that TCP Fast Open made early.
 */
static bool tcpopt_crossed(struct sock *sk)
{
	struct smcr_sock *ssk;
	bool crossed;

	read_lock_bh(&sk->sk_callback_lock);
	ssk = smcr_tcp_owner(sk);
	crossed = ssk && READ_ONCE(ssk->is_client);
	if (crossed)
		WRITE_ONCE(ssk->opt_crossed, true);
	read_unlock_bh(&sk->sk_callback_lock);
	return crossed;
}

/*
 * Transmit a packet of a client that connects. Simultaneous open: the client's
 * socket answers a SYN. Its first SYN-ACK is dropped, as if it were lost. Later
 * copies of the SYN-ACK have no option, and the option does not count as
 * agreed. The option is not blanked in the packet, because TCP-AO signs
 * options. syn_smc shares a word with other bits. It may be written here, as
 * TCP transmits with the socket locked.
 */
static int tcpopt_xmit(struct sock *sk, struct sk_buff *skb, struct flowi *fl)
{
	const struct inet_connection_sock_af_ops *ops;

	ops = READ_ONCE(inet_csk(sk)->icsk_af_ops);
	/* if they are TCP's, smcr_tcpopt_connected() has just restored them */
	if (ops->queue_xmit == tcpopt_xmit)
		ops = container_of(ops, struct tcpopt_af, ops)->orig;
	if (unlikely(READ_ONCE(sk->sk_state) == TCP_SYN_RECV) &&
	    tcp_sk(sk)->syn_smc && tcpopt_crossed(sk)) {
		tcp_sk(sk)->syn_smc = 0;
		kfree_skb(skb);
		return -EPERM;	/* as if a packet filter had dropped it */
	}
	return ops->queue_xmit(sk, skb, fl);
}

/* The copy of @orig with tcpopt_xmit(), or NULL */
static const struct inet_connection_sock_af_ops *
tcpopt_ops(const struct inet_connection_sock_af_ops *orig)
{
	const struct inet_connection_sock_af_ops *ops = NULL;
	struct tcpopt_af *af = tcpopt_afs;

	mutex_lock(&tcpopt_mutex);
	while (af < tcpopt_afs + ARRAY_SIZE(tcpopt_afs) && af->orig &&
	       af->orig != orig)
		af++;
	if (!WARN_ON_ONCE(af == tcpopt_afs + ARRAY_SIZE(tcpopt_afs))) {
		if (!af->orig) {
			af->ops = *orig;
			af->ops.queue_xmit = tcpopt_xmit;
			af->orig = orig;
		}
		ops = &af->ops;
	}
	mutex_unlock(&tcpopt_mutex);
	return ops;
}

/*
 * The SYN is sent before tcpopt_xmit() is in place, but the peer's SYN is
 * processed afterwards, as the inner socket is locked in between. TCP itself
 * sets the operations in connect() to a mapped address.
 */
int smcr_tcpopt_connect(struct socket *tcp, SMCR_SOCKADDR *addr, int alen)
{
	const struct inet_connection_sock_af_ops *ops;
	struct sock *sk = tcp->sk;
	int rc;

	lock_sock(sk);
	rc = __inet_stream_connect(tcp, addr, alen, O_NONBLOCK, 0);
	if (sk->sk_state == TCP_SYN_SENT) {
		ops = tcpopt_ops(inet_csk(sk)->icsk_af_ops);
		if (ops)
			/*
			 * The copy is written before the pointer to it. Pairs
			 * with the dependent reads of tcp_setsockopt() and
			 * tcp_getsockopt(), which take no lock.
			 */
			smp_store_release(&inet_csk(sk)->icsk_af_ops, ops);
	}
	release_sock(sk);
	return rc;
}

void smcr_tcpopt_connected(struct sock *tcp)
{
	const struct inet_connection_sock_af_ops *ops;

	ops = READ_ONCE(inet_csk(tcp)->icsk_af_ops);
	if (ops->queue_xmit == tcpopt_xmit)
		WRITE_ONCE(inet_csk(tcp)->icsk_af_ops,
			   container_of(ops, struct tcpopt_af, ops)->orig);
}

int smcr_tcpopt_net_init(struct net *net)
{
	return 0;
}

void smcr_tcpopt_net_exit(struct net *net)
{
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

	smcr_tcpopt_connected(tcp);	/* an earlier connect() may have failed */
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
