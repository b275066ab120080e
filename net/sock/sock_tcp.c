// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callbacks of the inner TCP socket, and what each does by mode.
 *
 * An inner socket that has these callbacks is hooked (smcr_tcp_hook()). TCP
 * calls them with the inner socket locked or its spin lock held, mostly in
 * softirq. A sockmap, or code that adds to the error queue, may call them
 * without these locks. The callbacks hold sk_callback_lock for reading, and
 * smcr_tcp_unhook() takes it for writing. So the owner of the inner socket, the
 * AF_SMC socket, is not freed while a callback runs. Callers of
 * smcr_sock_set_mode() call smcr_tcp_check() afterwards, for events that came
 * before the mode was set.
 */
#include <linux/skmsg.h>
#include <net/tcp.h>
#include "base/race.h"
#include "hs/hs.h"
#include "hs/tcpopt.h"
#include "sock/sock_impl.h"

/* Mode SMC: TCP must be idle until the connection ends (CONN-34, CONN-35) */
static void smc_event(struct smcr_sock *ssk, struct sock *tsk)
{
	/* unless TCP has ended, an error in sk_err is from ICMP (IP_RECVERR): ignore it */
	if (READ_ONCE(tsk->sk_state) == TCP_CLOSE) {
		smcr_conn_event(&ssk->conn, SMCR_CONN_EV_TCP_RESET,
				SMCR_R_TCP_RESET);
		return;
	}
	/* tcp_inq() does not count the next byte while it is urgent */
	if (tcp_inq(tsk) > 0 || READ_ONCE(tcp_sk(tsk)->urg_data))
		smcr_conn_event(&ssk->conn, SMCR_CONN_EV_VIOLATION,
				SMCR_R_TCP_DATA);
	if (sock_flag(tsk, SOCK_DONE) &&
	    !test_and_set_bit(SMCR_SK_TCP_FIN, &ssk->flags))
		smcr_conn_tcp_fin(&ssk->conn);
}

/* Mode TCP: copy the error to sk_err, where core code looks for it */
static void tcp_copy_err(struct smcr_sock *ssk, const struct sock *tsk)
{
	int err = READ_ONCE(tsk->sk_err);

	if (!err || (test_bit(SMCR_SK_TCP_ERR, &ssk->flags) &&
		     READ_ONCE(ssk->tcp_err) == err))
		return;
	WRITE_ONCE(ssk->tcp_err, err);
	WRITE_ONCE(ssk->sk.sk_err, err);
	/*
	 * sk_err of both sockets is written before the bit is set. Pairs with
	 * smcr_tcp_err_enter(), which reads the bit and then the own socket's
	 * sk_err, and with smcr_tcp_err_leave(), which reads the bit and then
	 * the inner socket's. If they saw the bit with an older sk_err of 0,
	 * they would take the error as reported, and clear it in the other
	 * socket before it is reported.
	 */
	smp_wmb();
	set_bit(SMCR_SK_TCP_ERR, &ssk->flags);
}

/**
 * smcr_tcp_err_enter() - clear a reported error before a forwarded call
 * @ssk: socket in mode TCP
 *
 * The inner socket's error is copied to the own socket's sk_err, which core
 * code (SO_ERROR) reads. When one of the sockets has reported the error, this
 * function or smcr_tcp_err_leave() clears it in the other one, so that it is
 * reported once.
 */
void smcr_tcp_err_enter(struct smcr_sock *ssk)
{
	if (!test_bit(SMCR_SK_TCP_ERR, &ssk->flags))
		return;
	smp_rmb();	/* pairs with tcp_copy_err() */
	/* SO_ERROR has taken the copy: clear the original, too */
	if (!READ_ONCE(ssk->sk.sk_err) &&
	    test_and_clear_bit(SMCR_SK_TCP_ERR, &ssk->flags))
		cmpxchg(&ssk->tcp->sk->sk_err, ssk->tcp_err, 0);
}

/**
 * smcr_tcp_err_leave() - clear a reported error after a forwarded call
 * @ssk: socket in mode TCP
 */
void smcr_tcp_err_leave(struct smcr_sock *ssk)
{
	if (!test_bit(SMCR_SK_TCP_ERR, &ssk->flags))
		return;
	smp_rmb();	/* pairs with tcp_copy_err() */
	/* the call has taken the original: clear the copy, too */
	if (!READ_ONCE(ssk->tcp->sk->sk_err) &&
	    test_and_clear_bit(SMCR_SK_TCP_ERR, &ssk->flags))
		cmpxchg(&ssk->sk.sk_err, ssk->tcp_err, 0);
}

/*
 * Copy TCP's sk_incoming_cpu to the own socket, from which core code answers
 * SO_INCOMING_CPU. pushed_cpu keeps push_cpu() from copying the value back to
 * the inner socket.
 */
static void tcp_copy_cpu(struct smcr_sock *ssk, const struct sock *tsk)
{
	int cpu = READ_ONCE(tsk->sk_incoming_cpu);

	if (likely(READ_ONCE(ssk->sk.sk_incoming_cpu) == cpu))
		return;
	WRITE_ONCE(ssk->pushed_cpu, cpu);
	WRITE_ONCE(ssk->sk.sk_incoming_cpu, cpu);
}

/* Mode TCP, state change: wake the own socket's waiters as TCP wakes its own */
static void tcp_mirror_state(struct smcr_sock *ssk, struct sock *tsk)
{
	int state = READ_ONCE(tsk->sk_state);
	struct sock *sk = &ssk->sk;

	tcp_copy_err(ssk, tsk);
	tcp_copy_cpu(ssk, tsk);
	WRITE_ONCE(sk->sk_state, state);
	if (state == TCP_ESTABLISHED)
		smcr_fallback_count(ssk);
	sk->sk_state_change(sk);

	if (state == TCP_ESTABLISHED)
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	else if (READ_ONCE(tsk->sk_shutdown) == SHUTDOWN_MASK ||
		 state == TCP_CLOSE)
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_HUP);
	else if (READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN)
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

/*
 * Urgent data in mode TCP: TCP itself sends SIGURG to the owner of the file,
 * which both sockets share. SIGIO is sent here, as its receivers are listed in
 * the own socket.
 */
static void tcp_mirror_urg(struct smcr_sock *ssk, const struct sock *tsk)
{
	const struct tcp_sock *tp = tcp_sk(tsk);

	if (likely(!(READ_ONCE(tp->urg_data) & TCP_URG_VALID)))
		return;
	if (test_and_set_bit(SMCR_SK_TCP_URG, &ssk->flags) &&
	    ssk->urg_seq == READ_ONCE(tp->urg_seq))
		return;
	ssk->urg_seq = READ_ONCE(tp->urg_seq);
	sk_wake_async(&ssk->sk, SOCK_WAKE_URG, POLL_PRI);
}

static void on_state_change(struct smcr_sock *ssk, struct sock *tsk)
{
	switch (READ_ONCE(ssk->mode)) {
	case SMCR_MODE_LISTEN:	/* stopped from outside (ss -K): end accept() */
		if (READ_ONCE(tsk->sk_state) != TCP_LISTEN)
			ssk->sk.sk_state_change(&ssk->sk);
		break;
	case SMCR_MODE_HANDSHAKE:
		if (!((1 << READ_ONCE(tsk->sk_state)) &
		      (TCPF_SYN_SENT | TCPF_SYN_RECV)))
			smcr_tcpopt_connected(tsk);
		smcr_hs_tcp_event(ssk);
		break;
	case SMCR_MODE_SMC:
		smc_event(ssk, tsk);
		break;
	case SMCR_MODE_TCP:
		tcp_mirror_state(ssk, tsk);
		smcr_child_end_wait(ssk);
		break;
	default:
		break;
	}
}

static void on_data_ready(struct smcr_sock *ssk, struct sock *tsk)
{
	switch (READ_ONCE(ssk->mode)) {
	case SMCR_MODE_LISTEN:
		smcr_listener_kick(ssk);
		break;
	case SMCR_MODE_HANDSHAKE:
		tcp_copy_cpu(ssk, tsk);
		/*
		 * A sockmap calls without TCP's lock: then do not read the
		 * receive queue.
		 */
		if (smcr_tcp_is_ours(ssk))
			smcr_hs_tcp_event(ssk);
		else
			smcr_hs_kick(ssk);
		break;
	case SMCR_MODE_SMC:
		smc_event(ssk, tsk);
		break;
	case SMCR_MODE_TCP:
		tcp_copy_cpu(ssk, tsk);
		tcp_mirror_urg(ssk, tsk);
		ssk->sk.sk_data_ready(&ssk->sk);
		smcr_child_end_wait(ssk);
		break;
	default:
		break;
	}
}

/*
 * Also called without TCP's lock, when a packet (such as a timestamp) is put on
 * the error queue. So the receive queue must not be read here.
 */
static void on_error(struct smcr_sock *ssk, struct sock *tsk)
{
	switch (READ_ONCE(ssk->mode)) {
	case SMCR_MODE_HANDSHAKE:
		if (READ_ONCE(tsk->sk_err))
			smcr_hs_kick(ssk);
		break;
	case SMCR_MODE_SMC:
		if (READ_ONCE(tsk->sk_state) == TCP_CLOSE)
			smc_event(ssk, tsk);
		break;
	case SMCR_MODE_LISTEN:	/* the only error is the end of listening */
	case SMCR_MODE_TCP:
		tcp_copy_err(ssk, tsk);
		sk_error_report(&ssk->sk);
		break;
	default:
		break;
	}
}

/* The owner is not freed before tcp_unlock_owner() */
static struct smcr_sock *tcp_lock_owner(struct sock *tsk)
	__acquires(&tsk->sk_callback_lock)
{
	read_lock_bh(&tsk->sk_callback_lock);
	return smcr_tcp_owner(tsk);
}

static void tcp_unlock_owner(struct sock *tsk)
	__releases(&tsk->sk_callback_lock)
{
	read_unlock_bh(&tsk->sk_callback_lock);
}

static void tcp_state_change(struct sock *tsk)
{
	struct smcr_sock *ssk = tcp_lock_owner(tsk);

	if (ssk) {
		ssk->tcp_calls.state_change(tsk);
		on_state_change(ssk, tsk);
	}
	tcp_unlock_owner(tsk);
}

static void smcr_tcp_data_ready(struct sock *tsk)
{
	struct smcr_sock *ssk = tcp_lock_owner(tsk);

	/* a sockmap calls without TCP's lock: then do not read the receive queue */
	if (ssk && unlikely(test_bit(SMCR_SK_CROSSED, &ssk->flags)) &&
	    smcr_tcp_is_ours(ssk) && smcr_clc_drop_crossed(ssk) &&
	    !smcr_tcp_has_news(tsk))
		ssk = NULL;	/* only a Decline that crossed ours: no wake-up */
	if (ssk) {
		ssk->tcp_calls.data_ready(tsk);
		on_data_ready(ssk, tsk);
	}
	tcp_unlock_owner(tsk);
}

/* TCP clears SOCK_NOSPACE when it wakes writers. Wake the own socket's only then. */
static void tcp_write_space(struct sock *tsk)
{
	struct smcr_sock *ssk = tcp_lock_owner(tsk);

	if (ssk) {
		ssk->tcp_calls.write_space(tsk);
		if (READ_ONCE(ssk->mode) == SMCR_MODE_TCP && tsk->sk_socket &&
		    !test_bit(SOCK_NOSPACE, &tsk->sk_socket->flags))
			ssk->sk.sk_write_space(&ssk->sk);
	}
	tcp_unlock_owner(tsk);
}

static void tcp_error_report(struct sock *tsk)
{
	struct smcr_sock *ssk = tcp_lock_owner(tsk);

	if (ssk) {
		ssk->tcp_calls.error_report(tsk);
		on_error(ssk, tsk);
	}
	tcp_unlock_owner(tsk);
}

static const struct smcr_tcp_calls smcr_tcp_ours = {
	.state_change	= tcp_state_change,
	.data_ready	= smcr_tcp_data_ready,
	.write_space	= tcp_write_space,
	.error_report	= tcp_error_report,
};

static void tcp_get_calls(const struct sock *tsk,
			  struct smcr_tcp_calls *calls)
{
	calls->state_change = tsk->sk_state_change;
	calls->data_ready = tsk->sk_data_ready;
	calls->write_space = tsk->sk_write_space;
	calls->error_report = tsk->sk_error_report;
}

static void tcp_set_calls(struct sock *tsk,
			  const struct smcr_tcp_calls *calls)
{
	WRITE_ONCE(tsk->sk_state_change, calls->state_change);
	WRITE_ONCE(tsk->sk_data_ready, calls->data_ready);
	WRITE_ONCE(tsk->sk_write_space, calls->write_space);
	WRITE_ONCE(tsk->sk_error_report, calls->error_report);
}

/*
 * Replace each callback of @from by that of @to, also in a psock, which saves
 * the callbacks that it has replaced.
 */
static void tcp_swap_calls(struct sock *tsk,
			   const struct smcr_tcp_calls *from,
			   const struct smcr_tcp_calls *to)
{
	struct sk_psock *psock;

	lockdep_assert_held(&tsk->sk_callback_lock);
	if (tsk->sk_state_change == from->state_change)
		WRITE_ONCE(tsk->sk_state_change, to->state_change);
	if (tsk->sk_data_ready == from->data_ready)
		WRITE_ONCE(tsk->sk_data_ready, to->data_ready);
	if (tsk->sk_write_space == from->write_space)
		WRITE_ONCE(tsk->sk_write_space, to->write_space);
	if (tsk->sk_error_report == from->error_report)
		WRITE_ONCE(tsk->sk_error_report, to->error_report);
	rcu_read_lock();
	psock = sk_psock(tsk);
	if (psock && psock->saved_data_ready == from->data_ready)
		psock->saved_data_ready = to->data_ready;
	if (psock && psock->saved_write_space == from->write_space)
		psock->saved_write_space = to->write_space;
	rcu_read_unlock();
}

/**
 * smcr_tcp_hook() - install our callbacks on the inner socket
 * @ssk: socket
 * @from: listener whose child @ssk is, or NULL; the caller holds a reference
 *
 * Takes no reference: smcr_tcp_unhook() removes the callbacks, at the latest
 * when the socket is destroyed. Events before this call are not reported:
 * smcr_tcp_check() handles them. Children of the inner socket do not inherit
 * its owner, @ssk. If a BPF program uses sk_user_data, the owner is stored only
 * in i_private of the inode.
 */
void smcr_tcp_hook(struct smcr_sock *ssk, const struct smcr_sock *from)
{
	struct sock *tsk = ssk->tcp->sk;

	write_lock_bh(&tsk->sk_callback_lock);
	SOCK_INODE(ssk->tcp)->i_private = ssk;
	/*
	 * A child may have inherited our callbacks. Then TCP's own callbacks
	 * are those that @from has saved.
	 */
	if (smcr_tcp_has_bpf(tsk)) {
		if (from)
			ssk->tcp_calls = from->tcp_calls;
		tcp_swap_calls(tsk, &ssk->tcp_calls, &smcr_tcp_ours);
		goto out;
	}
	if (tsk->sk_data_ready == smcr_tcp_data_ready && from)
		ssk->tcp_calls = from->tcp_calls;
	else
		tcp_get_calls(tsk, &ssk->tcp_calls);
	tcp_set_calls(tsk, &smcr_tcp_ours);
	__rcu_assign_sk_user_data_with_flags(tsk, ssk, SK_USER_DATA_NOCOPY);
out:
	write_unlock_bh(&tsk->sk_callback_lock);
}

/**
 * smcr_tcp_unhook() - restore the inner socket's callbacks
 * @ssk: socket
 *
 * On return no callback uses @ssk any more. Idempotent.
 *
 * Context: any up to softirq, but not from a callback.
 */
void smcr_tcp_unhook(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;

	smcr_tcpopt_connected(tsk);
	write_lock_bh(&tsk->sk_callback_lock);
	if (smcr_tcp_owner(tsk) == ssk) {
		if (smcr_tcp_is_ours(ssk))
			rcu_assign_sk_user_data(tsk, NULL);
		tcp_swap_calls(tsk, &smcr_tcp_ours, &ssk->tcp_calls);
		SOCK_INODE(ssk->tcp)->i_private = NULL;
	}
	write_unlock_bh(&tsk->sk_callback_lock);
}

/**
 * smcr_tcp_begin() - enter mode TCP after a handshake
 * @ssk: hooked socket, socket lock held or not yet visible to other threads
 *
 * Takes the inner socket's lock before it sets the mode. Once the mode is TCP,
 * a forwarded call may keep that lock as long as user space likes, and the
 * worker that runs this function must not wait for that call.
 *
 * Context: process; takes the inner socket's lock.
 */
void smcr_tcp_begin(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;

	lock_sock(tsk);
	smcr_sock_set_mode(ssk, SMCR_MODE_TCP);
	smcr_race(ssk->sn->net, "tcp-begin");
	tcp_mirror_state(ssk, tsk);
	release_sock(tsk);
}

/**
 * smcr_tcp_check() - handle the inner socket's state as its callbacks do
 * @ssk: hooked socket
 *
 * Context: process; takes the inner socket's lock.
 */
void smcr_tcp_check(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;

	lock_sock(tsk);
	switch (ssk->mode) {
	case SMCR_MODE_HANDSHAKE:
		smcr_hs_tcp_event(ssk);
		break;
	case SMCR_MODE_SMC:
		smc_event(ssk, tsk);
		break;
	default:
		break;
	}
	release_sock(tsk);
}
