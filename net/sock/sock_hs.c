// SPDX-License-Identifier: GPL-2.0-only
/*
 * A handshake, as those see it who wait for its end or want none: waiting,
 * giving up, starting anew.
 */
#include <linux/sched/signal.h>
#include "hs/hs.h"
#include "hs/tcpopt.h"
#include "sock/sock_impl.h"

/**
 * smcr_hs_wait() - wait for the end of a handshake
 * @ssk: socket, socket lock held; dropped while waiting
 * @timeo: jiffies
 *
 * Interruptible. The caller looks at the mode, at signals and at the rest.
 *
 * Return: rest of @timeo.
 */
long smcr_hs_wait(struct smcr_sock *ssk, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &ssk->sk;

	sock_owned_by_me(sk);

	add_wait_queue(sk_sleep(sk), &wait);
	while (ssk->mode == SMCR_MODE_HANDSHAKE) {
		release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(sk);
		if (signal_pending(current) || !timeo)
			break;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return timeo;
}

/* The inner socket as new, RST to the peer if there was a connection */
static void smcr_tcp_disconnect(struct smcr_sock *ssk)
{
	struct sockaddr any = { .sa_family = AF_UNSPEC };
	struct socket *tcp = ssk->tcp;

	READ_ONCE(tcp->ops)->connect(tcp, (SMCR_SOCKADDR *)&any, sizeof(any),
				     O_NONBLOCK);
	xchg(&tcp->sk->sk_err, 0);
}

/**
 * smcr_hs_abort() - give up a handshake, the socket lives on
 * @ssk: socket in mode HANDSHAKE, socket lock held; dropped meanwhile
 *
 * A handshake that waits ends here and now; one that a worker is at, when that
 * has come to its next step. Afterwards the mode is not HANDSHAKE: DEAD, or what was
 * reached before, or what another thread made of it.
 *
 * Return: 0, or -ERESTARTSYS when a signal came; the handshake ends nevertheless.
 */
int smcr_hs_abort(struct smcr_sock *ssk)
{
	sock_owned_by_me(&ssk->sk);

	if (smcr_hs_stop(ssk))
		return 0;
	smcr_hs_wait(ssk, MAX_SCHEDULE_TIMEOUT);
	return ssk->mode == SMCR_MODE_HANDSHAKE ? -ERESTARTSYS : 0;
}

/**
 * smcr_sock_to_init() - mode INIT, the inner socket as new
 * @ssk: socket in no mode that owns something; socket lock held
 *
 * Context: process.
 */
void smcr_sock_to_init(struct smcr_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	sock_owned_by_me(sk);

	smcr_sock_set_mode(ssk, SMCR_MODE_INIT);
	smcr_tcp_disconnect(ssk);
	smcr_tcpopt_offer(ssk->tcp->sk, false);
	smcr_hs_drop(ssk);
	ssk->is_client = false;
	ssk->offered = false;
	ssk->opt_crossed = false;
	ssk->fallback_why = SMCR_R_NONE;
	ssk->peer_diag = 0;
	clear_bit(SMCR_SK_TCP_ERR, &ssk->flags);
	clear_bit(SMCR_SK_TCP_URG, &ssk->flags);
	clear_bit(SMCR_SK_COUNTED, &ssk->flags);
	clear_bit(SMCR_SK_CROSSED, &ssk->flags);
	WRITE_ONCE(sk->sk_shutdown, 0);
}

/**
 * smcr_sock_reset() - back to mode INIT, for another connect() or listen()
 * @ssk: socket, socket lock held
 *
 * sk_err stays. What another thread has made of the socket while the lock was
 * dropped is left alone.
 *
 * Return: true if the socket was reset; only then it is unconnected.
 */
bool smcr_sock_reset(struct smcr_sock *ssk)
{
	sock_owned_by_me(&ssk->sk);

	switch (ssk->mode) {
	case SMCR_MODE_HANDSHAKE:
	case SMCR_MODE_SMC:
	case SMCR_MODE_LISTEN:
		return false;
	default:
		smcr_sock_to_init(ssk);
		return true;
	}
}

/**
 * smcr_tcp_state_sync() - take over the inner socket's socket state
 * @sock: socket in mode TCP, socket lock held
 *
 * TCP gave up (failed connect, shutdown in SYN-SENT): the next connect() may
 * negotiate again.
 */
void smcr_tcp_state_sync(struct socket *sock)
{
	struct smcr_sock *ssk = smcr_sk(sock->sk);

	sock_owned_by_me(sock->sk);

	if (ssk->mode != SMCR_MODE_TCP)
		return;
	sock->state = ssk->tcp->state;
	if (sock->state == SS_UNCONNECTED)
		smcr_sock_to_init(ssk);
}
