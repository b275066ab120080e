// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scheduling of handshakes: the state word (core/hs_turn.c), and the events
 * that kick a handshake, from a timer, TCP or the wait queue of a group.
 */
#include <net/tcp.h>
#include "core/hs_turn.h"
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "hs/hs.h"
#include "hs/hs_impl.h"

const struct smcr_hs_ops *smcr_hs_owner_ops __ro_after_init;

/* The one place that changes a handshake's state */
enum smcr_turn_act smcr_hs_turn(struct smcr_sock *ssk, enum smcr_turn_ev ev)
{
	u32 old = READ_ONCE(ssk->hs_turn);
	struct smcr_turn_step next;

	/* a full barrier, even if the word stays the same: see smcr_hs_kick() */
	do {
		next = smcr_turn_next(old, ev);
	} while (!try_cmpxchg(&ssk->hs_turn, &old, next.word));
	WARN_ON_ONCE(next.act == SMCR_TURN_BUG);
	return next.act;
}

bool smcr_hs_stopped(const struct smcr_sock *ssk)
{
	return READ_ONCE(ssk->hs_turn) & SMCR_TURN_STOP;
}

/**
 * smcr_hs_kick() - queue a handshake after an event that it may wait for
 * @ssk: socket; a reference or a lock of the caller keeps its memory
 *
 * The step that runs next sees what was written before the kick. Needless kicks
 * do no harm: each step checks the condition that it waits for.
 * Context: any.
 */
void smcr_hs_kick(struct smcr_sock *ssk)
{
	if (smcr_hs_turn(ssk, SMCR_TURN_EV_KICK) != SMCR_TURN_QUEUE ||
	    !smcr_sock_get(ssk))
		return;
	/* the work of an earlier, stopped handshake may still be queued */
	if (!queue_work(READ_ONCE(ssk->is_client) ? smcr_hs_wq : smcr_srv_wq,
			&ssk->hs_work))
		sock_put(&ssk->sk);
}

void smcr_hs_arm(struct smcr_sock *ssk, unsigned long until)
{
	sk_reset_timer(&ssk->sk, &ssk->hs_timer, until);
}

/**
 * smcr_hs_timer() - the wait of a handshake has expired
 * @timer: hs_timer of a socket; holds a reference
 *
 * After the handshake the same timer ends the delay of TCP_DEFER_ACCEPT.
 *
 * Context: softirq.
 */
void smcr_hs_timer(struct timer_list *timer)
{
	struct smcr_sock *ssk = container_of(timer, struct smcr_sock, hs_timer);

	smcr_hs_kick(ssk);
	smcr_hs_owner_ops->child_defer_end(ssk);
	sock_put(&ssk->sk);
}

/* Wake-up on the wait queue of a group; the queue's lock is held */
int smcr_hs_woken(wait_queue_entry_t *watch, unsigned int mode, int sync,
		  void *key)
{
	struct smcr_hs *hs = container_of(watch, struct smcr_hs, watch);

	lockdep_assert_held(&hs->watched->wait.lock);

	if (key == SMCR_LGR_WAKE_CLAIMS && !READ_ONCE(hs->claims))
		return 0;
	/* no kick while another handshake still forms the group */
	if (READ_ONCE(hs->forming) != hs->watched ||
	    READ_ONCE(hs->watched->st) != SMCR_LGR_ST_FORMING)
		smcr_hs_kick(hs->ssk);
	return 0;
}

/**
 * smcr_hs_unwatch() - end smcr_hs_watch()
 * @hs: handshake, watching or not
 */
void smcr_hs_unwatch(struct smcr_hs *hs)
{
	if (!hs->watched)
		return;
	remove_wait_queue(&hs->watched->wait, &hs->watch);
	smcr_lgr_put(hs->watched);
	hs->watched = NULL;
}

/**
 * smcr_hs_watch() - let the wake-ups of a group kick a handshake
 * @hs: handshake
 * @lgr: group; a new state, an LLC outcome, a new RMB, or the peer's C or A on a
 *	connection wakes its waiters
 *
 * A reference on @lgr is held until smcr_hs_unwatch() or the next watch.
 */
void smcr_hs_watch(struct smcr_hs *hs, struct smcr_lgr *lgr)
{
	if (hs->watched == lgr)
		return;
	smcr_hs_unwatch(hs);
	smcr_lgr_hold(lgr);
	hs->watched = lgr;
	add_wait_queue(&lgr->wait, &hs->watch);
}

/**
 * smcr_hs_tcp_event() - handle an event of TCP in mode HANDSHAKE
 * @ssk: socket, inner socket locked
 *
 * The handshake is kicked only when what it waits for is complete. So a peer
 * that sends nothing, or only a part of a message, occupies no worker.
 *
 * Context: any up to softirq.
 */
void smcr_hs_tcp_event(struct smcr_sock *ssk)
{
	const struct sock *tsk = ssk->tcp->sk;
	bool kick;

	switch (READ_ONCE(ssk->hs_want)) {
	case SMCR_HS_WANT_NOTHING:
		return;
	case SMCR_HS_WANT_TCP:
		kick = !((1 << READ_ONCE(tsk->sk_state)) &
			 (TCPF_SYN_SENT | TCPF_SYN_RECV));
		/* T_CLC begins now, not when a worker runs the step (CLC-14) */
		if (kick && !ssk->hs_up)
			WRITE_ONCE(ssk->hs_up, jiffies ?: 1);
		break;
	case SMCR_HS_WANT_NEWS:
		kick = smcr_tcp_has_news(tsk);
		break;
	default:
		kick = smcr_hs_clc_due(ssk);
	}
	if (kick)
		smcr_hs_kick(ssk);
}
