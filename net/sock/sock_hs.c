// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for a handshake, aborting it, and resetting the socket afterwards.
 * The steps of the handshake itself are in hs/.
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
 * Returns early on a signal or after @timeo: the caller checks the mode,
 * signals and the time left.
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

/* Disconnect the inner socket; TCP sends RST if it was connected */
static void smcr_tcp_disconnect(struct smcr_sock *ssk)
{
	struct sockaddr any = { .sa_family = AF_UNSPEC };
	struct socket *tcp = ssk->tcp;

	READ_ONCE(tcp->ops)->connect(tcp, (SMCR_SOCKADDR *)&any, sizeof(any),
				     O_NONBLOCK);
	xchg(&tcp->sk->sk_err, 0);
}

/**
 * smcr_hs_abort() - abort a handshake; the socket stays in use
 * @ssk: socket in mode HANDSHAKE, socket lock held; dropped while waiting
 *
 * A handshake that no thread runs ends in this call; one that a worker runs
 * ends at its next step. Afterwards the mode is DEAD, with two exceptions: the
 * handshake ended before it was aborted, or another thread has changed the mode
 * while the lock was dropped.
 *
 * Return: 0; -ERESTARTSYS after a signal, and then the handshake ends later.
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
 * smcr_sock_to_init() - set mode INIT and disconnect the inner socket
 * @ssk: socket without a running handshake, an SMC-R connection or children;
 *	socket lock held
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
	WRITE_ONCE(ssk->is_client, false);
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
 * smcr_sock_reset() - return to mode INIT, for another connect() or listen()
 * @ssk: socket, socket lock held
 *
 * sk_err is kept. A socket in mode HANDSHAKE, SMC or LISTEN is not reset:
 * another thread may have set such a mode while the lock was dropped.
 *
 * Return: true if the socket was reset, and so is unconnected.
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
 * smcr_tcp_state_sync() - copy the socket_state of the inner socket
 * @sock: socket, socket lock held; ignored unless in mode TCP
 *
 * If TCP is unconnected (failed connect, shutdown in SYN-SENT) the mode becomes
 * INIT, so that the next connect() may offer SMC-R again.
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
