// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who runs a handshake, and what wakes it: one word with one table
 * (core/hs_turn.c), a timer, TCP, the wait queue of a group.
 */
#include <net/tcp.h>
#include "core/hs_turn.h"
#include "hs/hs.h"
#include "hs/hs_impl.h"

const struct smcr_hs_ops *smcr_hs_owner_ops __ro_after_init;

/* The one place that changes a handshake's state */
enum smcr_turn_act smcr_hs_turn(struct smcr_sock *ssk, enum smcr_turn_ev ev)
{
	u32 old = READ_ONCE(ssk->hs_turn);
	struct smcr_turn_step next;

	/* a full barrier also when the word stays: see smcr_hs_kick() */
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
 * smcr_hs_kick() - something happened that a handshake may wait for
 * @ssk: socket; a reference or something else keeps its memory
 *
 * What is written before is seen by the step that runs next. Too many kicks do
 * no harm: every step looks for what it waits for.
 * Context: any.
 */
void smcr_hs_kick(struct smcr_sock *ssk)
{
	if (smcr_hs_turn(ssk, SMCR_TURN_EV_KICK) != SMCR_TURN_QUEUE ||
	    !smcr_sock_get(ssk))
		return;
	/* one that came too late for a stopped handshake may still be queued */
	if (!queue_work(ssk->is_client ? smcr_hs_wq : smcr_srv_wq,
			&ssk->hs_work))
		sock_put(&ssk->sk);
}

void smcr_hs_arm(struct smcr_sock *ssk, unsigned long until)
{
	long left = until - jiffies;

	sock_hold(&ssk->sk);
	if (mod_delayed_work(smcr_wq, &ssk->hs_timer, max(left, 0L)))
		sock_put(&ssk->sk);	/* it was armed and had its reference */
}

/**
 * smcr_hs_timer() - the wait of a handshake is over
 * @work: hs_timer of a socket; holds a reference
 *
 * After the handshake: the end of a deferred accept().
 */
void smcr_hs_timer(struct work_struct *work)
{
	struct smcr_sock *ssk = container_of(to_delayed_work(work),
					     struct smcr_sock, hs_timer);

	smcr_hs_kick(ssk);
	smcr_hs_owner_ops->child_defer_end(ssk);
	sock_put(&ssk->sk);
}

/* Wake-up on the wait queue of a group; its lock is held */
int smcr_hs_woken(wait_queue_entry_t *watch, unsigned int mode, int sync,
		  void *key)
{
	struct smcr_hs *hs = container_of(watch, struct smcr_hs, watch);

	lockdep_assert_held(&hs->watched->wait.lock);

	/* waiting for another first contact: only its end matters, not its steps */
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
 * smcr_hs_watch() - be kicked when something happens in a group
 * @hs: handshake
 * @lgr: group: its state changes, an LLC answer or an RMB comes
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
 * smcr_hs_tcp_event() - something happened on TCP in mode HANDSHAKE
 * @ssk: socket, inner socket locked
 *
 * The handshake is kicked only when what it waits for is complete: a peer that
 * says nothing, or not all of it, costs a timer but no worker.
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
		/* T_CLC begins, whenever a worker has time (CLC-14) */
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
