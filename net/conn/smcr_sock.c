// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mode, lists, lock and references of a socket.
 */
#include <net/tcp.h>
#include "base/netns.h"
#include "base/trace.h"
#include "conn/smcr_sock.h"

/**
 * smcr_sock_get() - take a reference without having one
 * @ssk: socket whose memory the caller keeps by the callback lock, RCU or the list lock
 *
 * Return: false when the last reference was put.
 */
bool smcr_sock_get(struct smcr_sock *ssk)
{
	return refcount_inc_not_zero(&ssk->sk.sk_refcnt);
}

static void sock_delist(struct smcr_sock *ssk, bool all)
{
	struct smcr_net *sn = ssk->sn;

	spin_lock_bh(&sn->sk_lock);
	if (ssk->counted)
		WRITE_ONCE(sn->n_socks, sn->n_socks - 1);
	ssk->counted = false;
	if (all)
		smcr_ids_del(&sn->socks, &ssk->net_node);
	spin_unlock_bh(&sn->sk_lock);
}

/**
 * smcr_sock_uncount() - remove a socket from the count of its namespace
 * @ssk: socket that the application has closed while its connection goes on
 *
 * Dumps show the socket until its last reference is put. Context: any. Idempotent.
 */
void smcr_sock_uncount(struct smcr_sock *ssk)
{
	sock_delist(ssk, false);
}

/**
 * smcr_sock_unlist() - hide a socket from dumps
 * @ssk: socket
 *
 * Context: any. Idempotent.
 */
void smcr_sock_unlist(struct smcr_sock *ssk)
{
	sock_delist(ssk, true);
}

/* The number that core code and tools expect in sk_state */
static int mode_state(struct smcr_sock *ssk, enum smcr_mode mode)
{
	switch (mode) {
	case SMCR_MODE_LISTEN:
		return TCP_LISTEN;
	case SMCR_MODE_HANDSHAKE:
		return READ_ONCE(ssk->is_client) ? TCP_SYN_SENT : TCP_SYN_RECV;
	case SMCR_MODE_SMC:
		/* the connection may have been aborted as soon as it was activated */
		return ssk->sk.sk_shutdown == SHUTDOWN_MASK ? TCP_CLOSE :
							      TCP_ESTABLISHED;
	case SMCR_MODE_TCP:
		return READ_ONCE(ssk->tcp->sk->sk_state);
	default:
		return TCP_CLOSE;
	}
}

/**
 * smcr_sock_set_mode() - change the mode of a socket
 * @ssk: socket, socket lock held or not yet published
 * @mode: new mode
 *
 * This function alone writes the mode. It wakes all sleepers of the socket. The caller
 * then checks what has happened on TCP before the change: smcr_tcp_check().
 */
void smcr_sock_set_mode(struct smcr_sock *ssk, enum smcr_mode mode)
{
	struct sock *sk = &ssk->sk;

	trace_smcr_mode(sk, ssk->mode, mode);
	/* under conn->lock the connection writes sk_state, and reads sk_rcvlowat */
	spin_lock_bh(&ssk->conn.lock);
	if (mode == SMCR_MODE_SMC)	/* see smcr_set_rcvlowat() */
		WRITE_ONCE(sk->sk_rcvlowat,
			   min_t(u32, sk->sk_rcvlowat,
				 smcr_conn_max_lowat(&ssk->conn)));
	WRITE_ONCE(sk->sk_state, mode_state(ssk, mode));
	WRITE_ONCE(ssk->mode, mode);
	spin_unlock_bh(&ssk->conn.lock);
	/*
	 * The mode is written before smcr_tcp_check() reads TCP's state. TCP writes its
	 * state before its callback reads the mode. Without the barrier both may miss an
	 * event on TCP.
	 */
	smp_mb();
	sk->sk_state_change(sk);
}

/**
 * smcr_sock_trylock() - lock_sock() that does not wait
 * @ssk: socket
 * @flag: SMCR_SK_CONN_WORK, SMCR_SK_HS_WORK or SMCR_SK_ACCEPT_WORK
 *
 * The owner of the lock may be copying from or to memory that user space provides late, or
 * never. Works that wait for thousands of such owners would occupy all workers.
 *
 * Context: process.
 * Return: false if the lock is taken; its owner queues the work that @flag names when
 * it releases the lock: sock_release_cb().
 */
bool smcr_sock_trylock(struct smcr_sock *ssk, int flag)
{
	struct sock *sk = &ssk->sk;
	bool got;

	spin_lock_bh(&sk->sk_lock.slock);
	got = !sock_owned_by_user_nocheck(sk);
	if (got)
		sk->sk_lock.owned = 1;
	else
		set_bit(flag, &ssk->flags);
	spin_unlock_bh(&sk->sk_lock.slock);
	if (got)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return got;
}
