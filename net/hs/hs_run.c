// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execution of a handshake's steps, and its end: SMC-R, TCP or failure.
 */
#include <linux/slab.h>
#include <net/tcp.h>
#include "core/hs_turn.h"
#include "base/memcg.h"
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr.h"
#include "lgr/lgr_end.h"
#include "conn/keepalive.h"
#include "hs/hs.h"
#include "hs/hs_impl.h"
#include "hs/route.h"

/* Log a Decline, with the text of its diagnosis code */
static void hs_log_decline(const struct smcr_sock *ssk,
			   enum smcr_reason why)
{
	const struct sock *tsk = ssk->tcp->sk;
	u16 lport = inet_sk(tsk)->inet_num;
	u16 rport = ntohs(inet_sk(tsk)->inet_dport);

	if (smcr_route_is_v4(tsk))
		net_info_ratelimited("declined %pI4:%u, local port %u, diagnosis 0x%08x: %s\n",
				     &inet_sk(tsk)->inet_daddr, rport, lport,
				     smcr_reason_wire(why),
				     smcr_reason_text(why));
#if IS_ENABLED(CONFIG_IPV6)
	else
		net_info_ratelimited("declined [%pI6c]:%u, local port %u, diagnosis 0x%08x: %s\n",
				     &tsk->sk_v6_daddr, rport, lport,
				     smcr_reason_wire(why),
				     smcr_reason_text(why));
#endif
}

/*
 * Step: a first contact has failed after the Confirm, when both sides may
 * decline. A peer that has declined takes what it receives next for application
 * data. So if the peer's Decline has arrived, we send none. If ours is sent
 * first, smcr_tcp_await_decline() drops the peer's. If CONFIRM LINK or its
 * reply was not delivered, both sides may be about to decline. Then the client
 * waits for the server's Decline, because the server's timers began first.
 */
static enum smcr_hs_res hs_crossed(struct smcr_hs *hs)
{
	if (smcr_hs_tcp_news(hs))
		return smcr_hs_goto_instead(hs);
	return smcr_hs_expired(hs) ? SMCR_HS_DECLINE : SMCR_HS_WAIT;
}

/* Call steps until one of them waits or ends the handshake */
static enum smcr_hs_res hs_steps(struct smcr_hs *hs)
{
	enum smcr_hs_res res;
	bool wait;

	do {
		if (smcr_hs_stopped(hs->ssk))
			return smcr_hs_aborted(hs);
		res = hs->step(hs);
		if (res == SMCR_HS_DECLINE && hs->cross == SMCR_HS_CROSS_MAY) {
			hs->cross = SMCR_HS_CROSS_WAITED;
			wait = hs->ssk->is_client &&
			       hs->why == SMCR_R_CONFIRM_LINK_FAIL;
			res = smcr_hs_goto(hs, hs_crossed,
					   wait ? SMCR_HS_CROSS_MS : 0);
		}
	} while (res == SMCR_HS_NEXT);
	return res;
}

/* Put the groups that the handshake waits for, but not its own, hs->lgr */
static void hs_leave_groups(struct smcr_hs *hs)
{
	smcr_hs_unwatch(hs);
	if (hs->forming)
		smcr_lgr_put(hs->forming);
	hs->forming = NULL;
}

/*
 * End the group of a failed handshake in first contact. If the handshake was
 * aborted after first contact had succeeded, the group stays: it works, and
 * other connections may use it.
 */
static void hs_kill(struct smcr_hs *hs)
{
	u32 reason = hs->why == SMCR_R_LLC_LINK_DATA ? SMCR_DEL_PROTOCOL :
						       SMCR_DEL_INACTIVE;

	if (!hs->lgr || !hs->first)
		return;
	/*
	 * As long as a Decline may follow, no DELETE LINK is sent: the Decline
	 * announces the end of the group. See smcr_lgr_announce_end().
	 */
	if (hs->why == SMCR_R_NEG_ABORTED)
		smcr_lgr_kill_forming(hs->lgr, hs->why, reason);
	else
		smcr_lgr_kill(hs->lgr, hs->why, reason);
}

/*
 * The handshake is over, but hs_finish() needs the socket lock, which a
 * thread may hold for ever. So the references that the removal of a device
 * waits for are put here, without that lock. If the handshake has failed
 * although its connection is active, the connection stays on its link: an
 * active connection leaves a lost device by itself, and the group goes on.
 * smcr_lgr_first_over() is called after success, too: another thread may have
 * set the group to DEAD just before first contact would have set it to ACTIVE.
 * A group that was never ACTIVE keeps its links until this call.
 */
static void hs_leave_links(struct smcr_hs *hs)
{
	hs_leave_groups(hs);
	smcr_hs_leave_device(hs);
	if (hs->res != SMCR_HS_DONE && smcr_conn_leave_early(&hs->ssk->conn))
		hs_kill(hs);
	if (hs->lgr && hs->first)
		smcr_lgr_first_over(hs->lgr);
}

/* Put all references of the handshake; its memory stays */
static void hs_release(struct smcr_hs *hs)
{
	hs_leave_groups(hs);
	if (hs->lgr)
		smcr_lgr_put(hs->lgr);
	smcr_hs_leave_device(hs);
	if (hs->first_admitted)
		atomic_dec(&hs->ssk->sn->n_first);
}

/* The connection runs over SMC-R */
static void hs_done(struct smcr_hs *hs)
{
	struct smcr_sock *ssk = hs->ssk;

	if (ssk->is_client)
		smcr_count(ssk->sn, hs->first ? SMCR_CNT_CLNT_FIRST :
						SMCR_CNT_CLNT_REUSE);
	else
		smcr_count(ssk->sn, hs->first ? SMCR_CNT_SRV_FIRST :
						SMCR_CNT_SRV_REUSE);
	smcr_sock_set_mode(ssk, SMCR_MODE_SMC);
	smcr_keepalive_start(ssk);
	/* from now on TCP's events go to core/close.c: pass it those that came before */
	smcr_hs_owner_ops->tcp_check(ssk);
	if (!ssk->is_client)
		smcr_hs_owner_ops->child_ready(ssk);
	else
		/* connect() has succeeded: send SIGIO, as TCP does */
		sk_wake_async(&ssk->sk, SOCK_WAKE_IO, POLL_OUT);
}

/* The handshake has failed, and the connection is lost */
static void hs_fail(struct smcr_hs *hs)
{
	struct smcr_sock *ssk = hs->ssk;
	struct sock *sk = &ssk->sk;

	/* a handshake that was aborted before any CLC message does not count as failed */
	if (!hs->fresh || hs->why != SMCR_R_NEG_ABORTED)
		smcr_count(ssk->sn, SMCR_CNT_HS_FAILED);
	if (!hs->fresh || !ssk->is_client)
		smcr_report_reason(ssk->sn, hs->why, 0, 0);
	WRITE_ONCE(sk->sk_err, hs->err ?: ECONNRESET);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	smcr_sock_set_mode(ssk, SMCR_MODE_DEAD);
	smcr_tcp_reset(ssk);
	if (ssk->is_client)
		sk_error_report(sk);
}

/* TCP's connect() failed: no handshake, nothing to count */
static void hs_no_tcp(struct smcr_hs *hs)
{
	struct sock *sk = &hs->ssk->sk;

	WRITE_ONCE(sk->sk_err,
		   -sock_error(hs->ssk->tcp->sk) ?: ECONNABORTED);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	smcr_sock_set_mode(hs->ssk, SMCR_MODE_DEAD);
	sk_error_report(sk);
}

/* smcr_hs_stop() was called before the end: abort the connection (CONN-38) */
static void hs_unwanted(struct smcr_sock *ssk)
{
	if (READ_ONCE(ssk->mode) == SMCR_MODE_SMC)
		smcr_conn_event(&ssk->conn, SMCR_CONN_EV_APP_ABORT,
				SMCR_R_NEG_ABORTED);
}

static bool hs_falls_back(enum smcr_hs_res res)
{
	return res == SMCR_HS_DECLINE || res == SMCR_HS_DECLINED ||
	       res == SMCR_HS_TCP;
}

/*
 * End the handshake. Called with the socket lock: before it is released, the
 * mode is settled and the state (core/hs_turn.h) is ENDED. So if the next owner
 * of the lock finds another mode than HANDSHAKE, it need not wait for this thread.
 */
static void hs_finish(struct smcr_hs *hs)
{
	struct smcr_sock *ssk = hs->ssk;
	enum smcr_hs_res res;

	/*
	 * A stopped handshake does not enter mode TCP. In that mode a call that
	 * is forwarded to TCP may hold TCP's lock for ever, and TCP cannot be
	 * reset without that lock.
	 */
	if (hs_falls_back(hs->res) && smcr_hs_stopped(ssk))
		hs->res = smcr_hs_aborted(hs);
	res = hs->res;

	/*
	 * End the handshake's use of the timer: child_defer() may use the timer
	 * afterwards. No deadlock: the timer takes no lock that is held here.
	 */
	sk_stop_timer_sync(&ssk->sk, &ssk->hs_timer);
	WRITE_ONCE(ssk->hs_want, SMCR_HS_WANT_NOTHING);
	if (res != SMCR_HS_DONE) {
		smcr_conn_discard(&ssk->conn);
		hs_kill(hs);
	}
	if (res == SMCR_HS_DECLINE) {
		hs_log_decline(ssk, hs->why);
		if (smcr_clc_send_decline(ssk, hs->why)) {
			hs->err = ECONNRESET;
			res = SMCR_HS_FAILED;
		} else if (hs->cross != SMCR_HS_CROSS_NOT) {
			smcr_tcp_await_decline(ssk, ssk->is_client ?
					       hs->acc.peer_id : hs->peer.id);
		}
	}
	hs_release(hs);
	if (!ssk->is_client)
		atomic_dec(&ssk->sn->n_handshakes);

	switch (res) {
	case SMCR_HS_DONE:
		hs_done(hs);
		break;
	case SMCR_HS_FAILED:
		hs_fail(hs);
		break;
	case SMCR_HS_NO_TCP:
		hs_no_tcp(hs);
		break;
	default:
		smcr_fallback(ssk, hs->why);
	}
	ssk->hs = NULL;
	if (smcr_hs_turn(ssk, SMCR_TURN_EV_END) == SMCR_TURN_UNWANTED)
		hs_unwanted(ssk);
	kfree(hs);
}

/* Called with the turn and a reference, without the socket lock */
static void smcr_hs_run(struct smcr_sock *ssk)
{
	struct smcr_hs *hs = ssk->hs;
	struct mem_cgroup *old;
	bool child_dead;

	do {
		if (!hs->over) {
			/* charge the first buffers to the socket's memory cgroup */
			old = set_active_memcg(smcr_sk_memcg(&ssk->sk));
			hs->res = hs_steps(hs);
			set_active_memcg(old);
			hs->over = hs->res != SMCR_HS_WAIT;
			if (hs->over)
				hs_leave_links(hs);
		}
		if (hs->over)
			smcr_race(ssk->sn->net, "hs-over");
		if (hs->over && smcr_sock_trylock(ssk, SMCR_SK_HS_WORK)) {
			hs_finish(hs);
			/* read the mode now: after release_sock() a client may connect anew */
			child_dead = !ssk->is_client &&
				     ssk->mode == SMCR_MODE_DEAD;
			release_sock(&ssk->sk);
			if (child_dead)
				smcr_hs_owner_ops->child_failed(ssk);
			return;
		}
		/* if the socket lock is taken, sock_release_cb() kicks the handshake */
		if (!hs->over && hs->timed)
			smcr_hs_arm(ssk, hs->until);
	} while (smcr_hs_turn(ssk, SMCR_TURN_EV_PARK) == SMCR_TURN_OURS);
}

/**
 * smcr_hs_work() - run a handshake that is due
 * @work: hs_work of a socket; holds a reference
 *
 * After the handshake smcr_child_undefer() queues the same work.
 *
 * Context: process. Sleeps for memory, verbs and TCP. Does not wait for the
 * peer, or for a lock that is held while user memory is copied.
 */
void smcr_hs_work(struct work_struct *work)
{
	struct smcr_sock *ssk = container_of(work, struct smcr_sock, hs_work);

	smcr_race(ssk->sn->net, "hs-work");
	if (smcr_hs_turn(ssk, SMCR_TURN_EV_RUN) == SMCR_TURN_OURS)
		smcr_hs_run(ssk);
	else
		smcr_hs_owner_ops->child_defer_end(ssk);
	sock_put(&ssk->sk);
}

/**
 * smcr_hs_stop() - stop a handshake whose result is not wanted any more
 * @ssk: socket, socket lock held
 *
 * If no thread runs the handshake, the handshake ends in this call.
 *
 * Return: true if the handshake has ended; false if another thread will end it
 * soon and undo its result.
 */
bool smcr_hs_stop(struct smcr_sock *ssk)
{
	struct smcr_hs *hs;

	sock_owned_by_me(&ssk->sk);

	switch (smcr_hs_turn(ssk, SMCR_TURN_EV_STOP)) {
	case SMCR_TURN_OURS:
		hs = ssk->hs;
		if (!hs->over) {
			hs->res = smcr_hs_aborted(hs);
			hs_leave_links(hs);
		}
		hs_finish(hs);
		return true;
	case SMCR_TURN_LATER:
		return false;
	default:
		return true;
	}
}

/**
 * smcr_hs_new() - allocate a handshake
 * @ssk: socket without one
 *
 * Return: 0 or -ENOMEM.
 */
int smcr_hs_new(struct smcr_sock *ssk)
{
	struct smcr_hs *hs = kzalloc(sizeof(*hs), GFP_KERNEL);

	if (!hs)
		return -ENOMEM;
	hs->ssk = ssk;
	hs->fresh = true;
	init_waitqueue_func_entry(&hs->watch, smcr_hs_woken);
	ssk->hs = hs;
	return 0;
}

/**
 * smcr_hs_drop() - free a handshake that has not begun, if any; the state becomes IDLE
 * @ssk: socket, socket lock held, or not yet published; not in mode HANDSHAKE
 */
void smcr_hs_drop(struct smcr_sock *ssk)
{
	if (smcr_hs_turn(ssk, SMCR_TURN_EV_RESET) == SMCR_TURN_BUG)
		return;
	kfree(ssk->hs);
	ssk->hs = NULL;
}

/**
 * smcr_hs_begin() - begin the handshake that smcr_hs_new() has allocated
 * @ssk: socket in mode HANDSHAKE, socket lock held
 *
 * A client's handshake waits for TCP, a server's for the Proposal (CLC-13).
 * Events of TCP before this call are ignored, so the caller calls
 * smcr_tcp_check() afterwards.
 */
void smcr_hs_begin(struct smcr_sock *ssk)
{
	struct smcr_hs *hs = ssk->hs;
	unsigned long until;
	bool timed;

	sock_owned_by_me(&ssk->sk);

	ssk->hs_up = 0;
	if (ssk->is_client) {
		hs->step = smcr_clnt_begin;
		WRITE_ONCE(ssk->hs_want, SMCR_HS_WANT_TCP);
	} else {
		smcr_hs_goto(hs, smcr_srv_begin,
			     READ_ONCE(ssk->sn->knobs.t_clc));
		WRITE_ONCE(ssk->hs_want, SMCR_CLC_PROPOSAL);
		atomic_inc(&ssk->sn->n_handshakes);
	}
	timed = hs->timed;
	until = hs->until;
	smcr_hs_turn(ssk, SMCR_TURN_EV_BEGIN);
	/*
	 * The timer is armed after BEGIN, as a kick before BEGIN is lost. An
	 * event of TCP may run the handshake before the timer is armed, but
	 * cannot end it: that needs the socket lock.
	 */
	if (timed)
		smcr_hs_arm(ssk, until);
}
