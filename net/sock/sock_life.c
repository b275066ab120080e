// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation and destruction of sockets, for socket() and for listeners.
 */
#include <linux/sock_diag.h>
#include "base/netns.h"
#include "hs/hs.h"
#include "sock/sock_impl.h"

/*
 * Releases the inner socket after the last reference on the AF_SMC socket was
 * put in softirq, as an inner socket can only be released in process context.
 * smcr_sock_put() does without.
 */
struct smcr_reaper {
	struct work_struct work;
	struct socket *tcp;
};

static void reap_work(struct work_struct *work)
{
	struct smcr_reaper *reaper = container_of(work, struct smcr_reaper,
						  work);

	sock_release(reaper->tcp);
	kfree(reaper);
}

/* Called in softirq, a grace period after the last reference was put */
static void sock_destruct(struct sock *sk)
{
	struct smcr_sock *ssk = smcr_sk(sk);
	struct smcr_reaper *reaper = ssk->reaper;

	smcr_sock_unlist(ssk);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
	if (!ssk->tcp) {
		kfree(reaper);
		return;
	}
	smcr_tcp_unhook(ssk);
	reaper->tcp = ssk->tcp;
	queue_work(smcr_wq, &reaper->work);
}

/**
 * smcr_sock_put() - put a reference in process context
 * @ssk: socket
 *
 * If this is the last reference, the inner socket is released now, without a
 * work that does that after a grace period.
 *
 * Context: process, sleeps; no locks held.
 */
void smcr_sock_put(struct smcr_sock *ssk)
{
	struct socket *tcp = ssk->tcp;
	struct sock *sk = &ssk->sk;

	if (refcount_read(&sk->sk_refcnt) == 1 && tcp) {
		/* now no dump and no callback takes another reference */
		smcr_sock_unlist(ssk);
		smcr_tcp_unhook(ssk);
		if (refcount_read(&sk->sk_refcnt) == 1) {
			/*
			 * The count is read before the socket is freed. Pairs
			 * with sock_put() of the other references.
			 */
			smp_acquire__after_ctrl_dep();
			ssk->tcp = NULL;
			sock_release(tcp);
		}
	}
	sock_put(sk);
}

static void sock_init(struct smcr_sock *ssk, struct smcr_net *sn)
{
	ssk->sn = sn;
	ssk->mode = SMCR_MODE_INIT;
	ssk->pushed_cpu = -1;
	smcr_conn_init(&ssk->conn);
	INIT_WORK(&ssk->hs_work, smcr_hs_work);
	timer_setup(&ssk->hs_timer, smcr_hs_timer, 0);
	spin_lock_init(&ssk->accept_lock);
	INIT_LIST_HEAD(&ssk->accept_q);
	INIT_LIST_HEAD(&ssk->hs_q);
	INIT_LIST_HEAD(&ssk->accept_node);
}

/* Set the buffer sizes to net.smcr.rmem and wmem, doubled as by SO_RCVBUF, SO_SNDBUF */
static void sock_init_bufs(struct sock *sk, const struct smcr_net *sn)
{
	int rmem = READ_ONCE(sn->knobs.rmem);
	int wmem = READ_ONCE(sn->knobs.wmem);

	sk->sk_rcvbuf = min(rmem, INT_MAX / 2) * 2;
	sk->sk_sndbuf = min(wmem, INT_MAX / 2) * 2;
}

/* Take SO_COOKIE from the inner socket: ss, tcp_diag and BPF programs use its cookie */
static void sock_take_cookie(struct sock *sk, struct sock *tsk)
{
	u32 half[2];

	sock_diag_save_cookie(tsk, half);
	atomic64_set(&sk->sk_cookie, half[0] | (u64)half[1] << 32);
}

/**
 * smcr_sock_alloc() - new socket around an inner TCP socket
 * @net: namespace
 * @sock: BSD socket, NULL for a listener's child
 * @tcp: inner socket, owned by the new socket on success
 * @prot: slab and operations
 * @protocol: SMCR_PROTO_V4 or SMCR_PROTO_V6
 * @kern: kernel socket, which does not hold its namespace
 *
 * The caller initializes accept_work and hooks the inner socket
 * (smcr_tcp_hook()).
 *
 * Return: socket in mode INIT, in sn->socks, with one reference; NULL if memory
 * is lacking, and then the caller still owns @tcp.
 */
struct smcr_sock *smcr_sock_alloc(struct net *net, struct socket *sock,
				  struct socket *tcp, struct proto *prot,
				  int protocol, int kern)
{
	struct smcr_net *sn = smcr_net(net);
	struct smcr_reaper *reaper;
	struct smcr_sock *ssk;
	struct sock *sk;

	reaper = kzalloc(sizeof(*reaper), GFP_KERNEL);
	if (!reaper)
		return NULL;
	INIT_WORK(&reaper->work, reap_work);
	sk = sk_alloc(net, AF_SMC, GFP_KERNEL, prot, kern);
	if (!sk) {
		kfree(reaper);
		return NULL;
	}
	sock_init_data(sock, sk);
	sk->sk_type = SOCK_STREAM;
	sk->sk_protocol = protocol;
	sk->sk_destruct = sock_destruct;
	sock_take_cookie(sk, tcp->sk);
	sock_set_flag(sk, SOCK_RCU_FREE);
	sock_prot_inuse_add(net, sk->sk_prot, 1);

	ssk = smcr_sk(sk);
	sock_init(ssk, sn);
	sock_init_bufs(sk, sn);
	ssk->tcp = tcp;
	ssk->reaper = reaper;
	spin_lock_bh(&sn->sk_lock);
	smcr_ids_add(&sn->socks, &ssk->net_node);
	WRITE_ONCE(sn->n_socks, sn->n_socks + 1);
	ssk->counted = true;
	spin_unlock_bh(&sn->sk_lock);
	return ssk;
}
