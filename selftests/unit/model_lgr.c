// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server and a client of one link group, each with the state machine of
 * net/core/lgr_fsm*.c, joined by links that keep the order of their own messages
 * only. All that can happen next is an event: a message arrives, a queue pair
 * is made or cannot be, a link breaks, one side requests something. Small
 * worlds are explored exhaustively: all orders of all events. Larger ones at
 * random.
 *
 * A timer expires only when nothing else can happen: T_LLC is long compared
 * with a message. In the end both sides must be at rest, agree on their links,
 * and have each other's RTokens on all of them. A link without a fault may not
 * fail, nor may a group end while it has a link that works, even one that is to
 * be deleted in order.
 */
#include "msgs.h"

#include "clc.h"
#include "lgr_fsm.h"

enum { CLIENT, SERVER, Q = 6, PHYS = 11, SENTS = 6, EVENTS = 160 };

/* Actions that the caller has to do for a link; one at a time, in this order */
enum { JOB_MAKE = 1, JOB_UP = 2, JOB_MOVE = 4, JOB_STOP = 8 };

/* States are hashed in words of this size */
#define __aligned8 __attribute__((aligned(8)))

/* A link: two queue pairs, and the messages on their way to each of them */
struct phys {
	u8 num;
	bool used;
	bool broken;
	bool hurt;		/* hit by a fault, or by a disorderly deletion */
	bool qp[2];		/* exists, and is not in error */
	bool made[2];
	bool lost[2];		/* a message that this side has sent is lost */
	u8 slot[2];
	u8 n[2];
	u8 know[2];		/* RMBs of the peer with an RToken here, bits */
	struct wire {
		struct smcr_llc msg;
		u8 report, about;
	} q[2][Q] __aligned8;
};

struct side {
	struct smcr_lgr_fsm f;
	u8 phys[SMCR_SLOTS];	/* link in each slot, 0xff: none */
	u8 jobs[SMCR_SLOTS];
	struct smcr_llc_add_link offer[SMCR_SLOTS];
	bool preparing;
	u16 prepared;
	u32 timers;		/* armed, bits */
	u32 slow;		/* armed for longer than T_LLC, bits */
	u8 nics;
	u8 rmbs;		/* published, bits */
	u8 rmbs_old;		/* published at any time, bits */
	u8 rmb_want;		/* number of the one that is published, or deleted */
	bool rmb_del;
	u8 rmbs_going;		/* DELETE RKEY is under way, or to be repeated */
	u8 make_try;
	bool make_again;
	u8 tell, told;		/* RMBs to announce, announced, on the new link */
	u8 wants_rkey;		/* CONFIRM RKEYs that are left to request */
	u8 again_rkey;		/* RMBs refused for now, requested again later */
	u8 wants_rdel;		/* DELETE RKEYs that are left to request */
	bool again_rdel;
	u8 n_sent;
	struct { u8 report, slot; } sent[SENTS];
	bool dead, released, settled, failed_first;
	u8 res;
	u16 live;		/* slots */
	bool failed;		/* the machine has failed an active link */
	u8 pending_rmb;
	u16 pending_on;		/* links named so far, by phys */
} __aligned8;

/* Faults and requests that may still happen in a world */
struct budget {
	u8 breaks;		/* links that break, for both sides */
	u8 downs;		/* links that fail at one side */
	u8 no;			/* verbs that fail */
	u8 dels[2];		/* orderly deletions */
	u8 dels_now[2];		/* disorderly deletions */
	u8 links[2];		/* WANT_LINK: another link may be possible */
	u8 retries;
	u8 ends;
	u8 early;		/* timers that expire without need */
	bool via;		/* RKEY exchanges over the youngest link, too */
	bool slow;		/* the server delays orderly deletions */
};

struct world {
	struct side s[2];
	struct phys p[PHYS];
	struct budget b __aligned8;
	bool hurt;		/* a link was hit, see struct phys, or as .hurried */
	bool hurried;		/* a timer expired early, or the group was ended */
} __aligned8;

static const char *failure;
static u64 seen_states;
static u16 sound;	/* links that were sound before the event */
static u16 alive;	/* those, and such as are being deleted in order, but work */
static u8 max_acts, max_msgs;

static void wrong(const char *what)
{
	if (!failure)
		failure = what;
}

/* The caller of one side */

static u8 new_phys(struct world *w)
{
	u8 i;

	for (i = 0; i < PHYS; i++)
		if (!w->p[i].used)
			return i;
	return 0xff;
}

static void drop_queue(struct phys *p, u8 to)
{
	if (p->n[to])
		p->lost[!to] = true;
	p->n[to] = 0;
}

static bool reaches(const struct phys *p, u8 from)
{
	return p->used && !p->broken && p->qp[from] && p->qp[!from];
}

static u8 bits(u16 v)
{
	u8 n = 0;

	for (; v; v &= v - 1)
		n++;
	return n;
}

/* Fill in what the caller adds to a message of the machine: addresses, keys */
static void fill(struct world *w, u8 me, u8 slot, struct smcr_llc *m)
{
	struct side *s = &w->s[me];
	u8 i, j, k, n;

	switch (m->type) {
	case SMCR_LLC_ADD_LINK:
		if (m->reply && m->add_link.rejected)
			break;
		m->add_link.mtu = 3;
		if (!m->add_link.link_num)	/* notice */
			break;
		i = smcr_lgr_slot_of(&s->f, m->add_link.link_num);
		if (i == SMCR_NO_SLOT) {
			wrong("offers a link that is not there");
			break;
		}
		m->add_link.qpn = s->phys[i] + 1;
		m->add_link.gid[0] = s->f.slot[i].own;
		m->add_link.gid[15] = 1;
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		/* RTokens, in the order of their RMBs */
		n = min_t(u8, m->add_link_cont.n_rtokens, 2);
		for (i = 0, j = 0; i < 8 && j < n; i++)
			if ((s->tell & ~s->told) & (1 << i)) {
				m->add_link_cont.pair[j++].ref_rkey = i + 1;
				s->told |= 1 << i;
			}
		if (j < n)
			wrong("announces RTokens that it does not have");
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		if (m->reply)
			break;
		m->confirm_rkey.rkey = s->rmb_want + 1;
		for (i = 0, j = 0; i < SMCR_SLOTS && j < 2; i++)
			if (i != slot &&
			    s->f.slot[i].st == SMCR_SLOT_ACTIVE) {
				if (j < m->confirm_rkey.n_other)
					m->confirm_rkey.other[j].link_num =
						s->f.slot[i].num;
				j++;
			}
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		if (m->reply)
			break;
		for (i = 0, n = 0; i < SMCR_SLOTS; i++)
			n += i != slot &&
			     s->f.slot[i].st == SMCR_SLOT_ACTIVE;
		n -= m->confirm_rkey_cont.n_left;	/* sent already */
		for (i = 0, j = 0, k = 0; i < SMCR_SLOTS; i++)
			if (i != slot && s->f.slot[i].st == SMCR_SLOT_ACTIVE &&
			    ++j > n && k < 3)
				m->confirm_rkey_cont.other[k++].link_num =
					s->f.slot[i].num;
		break;
	case SMCR_LLC_DELETE_RKEY:
		if (m->reply)
			break;
		m->delete_rkey.count = 1;
		m->delete_rkey.rkey[0] = s->rmb_want + 1;
		break;
	}
}

static void do_send(struct world *w, u8 me, const struct smcr_lgr_act *a,
		    const struct smcr_llc *msg)
{
	struct side *s = &w->s[me];
	u8 n = s->phys[a->slot];
	struct smcr_llc m = *msg;
	struct phys *p;

	if (n == 0xff) {
		wrong("sends on a link that is not there");
		return;
	}
	p = &w->p[n];
	fill(w, me, a->slot, &m);
	if (!reaches(p, me)) {
		p->lost[me] = true;
		return;
	}
	if (p->n[!me] == Q)
		abort();
	p->q[!me][p->n[!me]++] = (struct wire){ m, a->report, a->about };
}

static void do_make(struct world *w, u8 me, const struct smcr_lgr_act *a,
		    const struct smcr_llc *m)
{
	struct side *s = &w->s[me];
	u8 slot = a->slot;

	s->jobs[slot] |= JOB_MAKE;
	s->told = 0;
	s->make_try = a->n;
	s->make_again = a->again;
	if (me == CLIENT) {
		s->offer[slot] = m->add_link;
		s->phys[slot] = (u8)(m->add_link.qpn - 1);
	} else {
		s->phys[slot] = 0xff;
	}
}

static void qp_gone(struct world *w, u8 me, u8 slot)
{
	u8 n = w->s[me].phys[slot];

	if (n == 0xff)
		return;
	/* messages to the peer that are on their way still arrive */
	w->p[n].qp[me] = false;
	drop_queue(&w->p[n], me);
}

static void learn_rmb(struct world *w, u8 me, const struct smcr_lgr_act *a,
		      const struct smcr_llc *m)
{
	struct side *s = &w->s[me];
	const struct smcr_llc_rkey_entry *e;
	u8 i, n, slot;

	if (m->type == SMCR_LLC_CONFIRM_RKEY) {
		s->pending_rmb = (u8)m->confirm_rkey.rkey;
		s->pending_on = 1 << s->phys[a->slot];
		e = m->confirm_rkey.other;
		n = min_t(u8, m->confirm_rkey.n_other, 2);
	} else {
		e = m->confirm_rkey_cont.other;
		n = min_t(u8, m->confirm_rkey_cont.n_left, 3);
	}
	for (i = 0; i < n; i++) {
		slot = smcr_lgr_slot_of(&s->f, e[i].link_num);
		if (slot != SMCR_NO_SLOT)
			s->pending_on |= 1 << s->phys[slot];
	}
	if (!a->last)
		return;
	for (i = 0; i < PHYS; i++)
		if (s->pending_on & (1 << i))
			w->p[i].know[me] |= 1 << (s->pending_rmb - 1);
}

static void learn(struct world *w, u8 me, u8 slot, const struct smcr_llc *m)
{
	u8 i, n = min_t(u8, m->add_link_cont.n_rtokens, 2);

	for (i = 0; i < n; i++)
		w->p[w->s[me].phys[slot]].know[me] |=
			1 << (m->add_link_cont.pair[i].ref_rkey - 1);
}

/* An RMB of the peer was deleted: forget its RTokens on all links */
static void forget(struct world *w, u8 me, const struct smcr_llc *m)
{
	u8 i;

	for (i = 0; i < PHYS; i++)
		w->p[i].know[me] &= ~(1 << (m->delete_rkey.rkey[0] - 1));
}

static void rkey_done(struct side *s, u8 res)
{
	u8 rmb = 1 << s->rmb_want;

	if (s->rmb_del) {
		if (res == SMCR_RKEY_OK) {
			s->rmbs &= ~rmb;
			s->rmbs_going &= ~rmb;
		} else {
			s->again_rdel = true;
		}
	} else if (res == SMCR_RKEY_OK) {
		s->rmbs |= rmb;
	} else if (res == SMCR_RKEY_AGAIN) {
		s->again_rkey |= rmb;
	}
}

static void hurt(struct world *w, u8 me, u8 slot)
{
	u8 n = w->s[me].phys[slot];

	w->hurt = true;
	if (n != 0xff)
		w->p[n].hurt = true;
}

/*
 * Is it a link without a fault that both ends use and want to keep? With
 * @going: or that an end wants to delete in order, and that is not agreed on
 * yet.
 */
static bool is_sound(const struct world *w, const struct phys *p, bool going)
{
	u8 i;

	if (p->hurt || !reaches(p, CLIENT))
		return false;
	for (i = 0; i < 2; i++) {
		const struct side *s = &w->s[i];
		const struct smcr_fsm_link *slot = &s->f.slot[p->slot[i]];

		if (s->phys[p->slot[i]] != p - w->p)
			return false;
		if (!slot->notice_sent && !slot->del && slot->st == SMCR_SLOT_ACTIVE)
			continue;
		if (!going || !slot->del_orderly ||
		    (slot->st != SMCR_SLOT_ACTIVE && slot->st != SMCR_SLOT_LEAVING))
			return false;
	}
	return true;
}

static u16 sound_links(const struct world *w, bool going)
{
	u16 links = 0;
	u8 i;

	for (i = 0; i < PHYS && !w->hurried; i++)
		links |= is_sound(w, &w->p[i], going) << i;
	return links;
}

/* DO_FAIL: of the links that carry data, only one with a fault may fail */
static void act_fail(struct world *w, u8 me, u8 slot)
{
	struct side *s = &w->s[me];

	if (s->live & (1 << slot)) {
		s->failed = true;
		if (sound & (1 << s->phys[slot]))
			wrong("a link failed, and nothing had befallen it");
	}
	qp_gone(w, me, slot);
}

/*
 * DO_DEAD: a group with a link that works may not end. No side of this model
 * requests the deletion of its only link, and a request from the time when
 * there was another link does not end the group when that one fails.
 */
static void act_dead(struct world *w, u8 me, const struct smcr_lgr_act *a)
{
	w->s[me].dead = true;
	if (alive && a->why != SMCR_R_LGR_DELETED)
		wrong("a group ended that had a sound link");
}

static void act(struct world *w, u8 me, const struct smcr_lgr_act *a,
		const struct smcr_llc *m)
{
	struct side *s = &w->s[me];

	switch (a->type) {
	case SMCR_LGR_DO_SEND:
		do_send(w, me, a, m);
		break;
	case SMCR_LGR_DO_MAKE:
		do_make(w, me, a, m);
		break;
	case SMCR_LGR_DO_UP:
		s->jobs[a->slot] |= JOB_UP;
		break;
	case SMCR_LGR_DO_MOVE:
		s->jobs[a->slot] |= JOB_MOVE;
		s->live &= ~(1 << a->slot);
		break;
	case SMCR_LGR_DO_STAY:
		if (!s->dead)
			s->live |= 1 << a->slot;
		break;
	case SMCR_LGR_DO_STOP:
		if (s->live & (1 << a->slot))
			wrong("stops a link whose connections were not moved");
		s->jobs[a->slot] |= JOB_STOP;
		break;
	case SMCR_LGR_DO_FAIL:
		act_fail(w, me, a->slot);
		break;
	case SMCR_LGR_DO_LIVE:
		if (!s->dead)
			s->live |= 1 << a->slot;
		break;
	case SMCR_LGR_DO_ARM:
		s->timers |= 1U << a->timer;
		s->slow &= ~(1U << a->timer);
		if (a->span == SMCR_SPAN_NOTICE)
			s->slow |= 1U << a->timer;
		break;
	case SMCR_LGR_DO_DISARM:
		s->timers &= ~(1U << a->timer);
		break;
	case SMCR_LGR_DO_PREPARE:
		if (s->preparing)
			wrong("prepares twice");
		s->preparing = true;
		break;
	case SMCR_LGR_DO_RKEY_DONE:
		rkey_done(s, a->res);
		break;
	case SMCR_LGR_DO_LEARN:
		learn(w, me, a->slot, m);
		break;
	case SMCR_LGR_DO_LEARN_RMB:
		learn_rmb(w, me, a, m);
		break;
	case SMCR_LGR_DO_FORGET_RMB:
		forget(w, me, m);
		break;
	case SMCR_LGR_DO_SETTLED:
		if (s->settled)
			wrong("settled twice");
		s->settled = true;
		s->res = a->res;
		break;
	case SMCR_LGR_DO_DEAD:
		act_dead(w, me, a);
		break;
	case SMCR_LGR_DO_RELEASE:
		if (s->released)
			wrong("released twice");
		s->released = true;
		break;
	}
}

static void release(struct world *w, u8 me)
{
	struct side *s = &w->s[me];
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		qp_gone(w, me, i);
		s->jobs[i] = 0;
	}
	s->live = 0;
	s->timers = 0;
	s->preparing = false;
	s->n_sent = 0;
}

static struct smcr_lgr_out out;

static void step(struct world *w, u8 me, const struct smcr_lgr_ev *ev)
{
	struct side *s = &w->s[me];
	struct smcr_lgr_out o;
	u8 i;

	if (s->released)
		return;
	sound = sound_links(w, false);
	alive = sound_links(w, true);
	smcr_lgr_fsm_step(&s->f, ev, &out);
	o = out;
	if (o.n > max_acts)
		max_acts = o.n;
	if (o.n_msg > max_msgs)
		max_msgs = o.n_msg;
	if (o.n == SMCR_LGR_ACTS || o.n_msg == SMCR_LGR_MSGS)
		wrong("too many actions");
	for (i = 0; i < o.n; i++)
		act(w, me, &o.act[i], &o.msg[o.act[i].msg]);
	/* first contact failed: the caller ends the group without a message */
	if (s->settled && s->res != SMCR_FIRST_OK && !s->failed_first) {
		struct smcr_lgr_ev end = { .type = SMCR_LGR_EV_WANT_END };

		s->failed_first = true;
		s->dead = true;
		step(w, me, &end);
	}
	if (s->released)
		release(w, me);
}

/* Events */

enum ev_kind {
	E_DELIVER, E_SENT, E_JOB, E_JOB_NO, E_PREPARED, E_RKEY,
	E_BREAK, E_DOWN, E_DEL, E_LINK, E_END, E_EARLY,
	E_DEL_NOW, E_RDEL,
	/* only when none of the above can happen */
	E_NOTICED, E_TIMER, E_RETRY, E_AGAIN, E_AGAIN_RDEL,
};

struct event {
	u8 kind, side, n;
};

static u8 lowest(u8 jobs)
{
	return jobs & (u8)-jobs;
}

/*
 * Does the server delay an orderly deletion that the client has requested? It
 * may last longer than any timer, as long as the server's end of the link works
 * (I-53) and none of its links has failed.
 */
static bool defers(const struct world *w, u32 side, u8 slot)
{
	const struct side *s = &w->s[side];
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (s->f.slot[i].st == SMCR_SLOT_FAILED)
			return false;
	return w->b.slow && side == SERVER && lowest(s->jobs[slot]) == JOB_MOVE &&
	       s->f.slot[slot].wanted && s->f.slot[slot].st == SMCR_SLOT_LEAVING;
}

/* The end of such delays, but not for a link whose other end has failed */
static u32 list_deferred(const struct world *w, struct event *e)
{
	u32 n = 0;
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (defers(w, SERVER, i) &&
		    reaches(&w->p[w->s[SERVER].phys[i]], SERVER))
			e[n++] = (struct event){ E_JOB, SERVER, i };
	return n;
}

static u32 list_events(const struct world *w, struct event *e)
{
	u32 n = 0, i, side;

	for (side = 0; side < 2; side++) {
		const struct side *s = &w->s[side];

		for (i = 0; i < PHYS; i++)
			if (w->p[i].n[side])
				e[n++] = (struct event){ E_DELIVER, side, i };
		if (s->released)
			continue;
		if (s->n_sent)
			e[n++] = (struct event){ E_SENT, side, 0 };
		for (i = 0; i < SMCR_SLOTS; i++) {
			if (!s->jobs[i] || defers(w, side, i))
				continue;
			e[n++] = (struct event){ E_JOB, side, i };
			if (w->b.no && lowest(s->jobs[i]) <= JOB_UP)
				e[n++] = (struct event){ E_JOB_NO, side, i };
		}
		if (s->preparing) {
			e[n++] = (struct event){ E_PREPARED, side,
						 SMCR_NO_SLOT };
			for (i = SMCR_SLOTS; i-- && w->b.via; )
				if (s->live & (1 << i)) {
					e[n++] = (struct event){ E_PREPARED,
								 side, i };
					break;
				}
		}
		if (s->wants_rkey && s->f.rkey == SMCR_RKEY_NONE &&
		    s->settled && !s->dead)
			e[n++] = (struct event){ E_RKEY, side, 0 };
		/* the oldest one: it is on every link, and unused */
		if (s->wants_rdel && s->rmbs && !s->rmbs_going &&
		    s->f.rkey == SMCR_RKEY_NONE && s->settled && !s->dead)
			e[n++] = (struct event){ E_RDEL, side, 0 };
		if (w->b.links[side] && s->settled && !s->dead)
			e[n++] = (struct event){ E_LINK, side, 0 };
		for (i = 0; i < SMCR_SLOTS && s->settled && !s->dead; i++) {
			if (!(s->live & (1 << i)))
				continue;
			if (w->b.dels[side])
				e[n++] = (struct event){ E_DEL, side, i };
			if (w->b.dels_now[side])
				e[n++] = (struct event){ E_DEL_NOW, side, i };
			if (w->b.downs && w->p[s->phys[i]].qp[side])
				e[n++] = (struct event){ E_DOWN, side, i };
		}
		if (w->b.ends && s->settled && !s->dead)
			e[n++] = (struct event){ E_END, side, 0 };
		for (i = 0; i < NR_SMCR_LGR_TIMER && w->b.early; i++)
			if (i != SMCR_LGR_T_RETRY && (s->timers & (1U << i)))
				e[n++] = (struct event){ E_EARLY, side, i };
	}
	for (i = 0; i < PHYS && w->b.breaks; i++)
		if (reaches(&w->p[i], CLIENT))
			e[n++] = (struct event){ E_BREAK, 0, i };
	/* a message that is lost, and TEST LINK, show that a link has failed */
	for (side = 0; side < 2; side++) {
		const struct side *s = &w->s[side];

		for (i = 0; i < SMCR_SLOTS; i++) {
			const struct phys *p = &w->p[s->phys[i] % PHYS];

			if (s->released || s->phys[i] == 0xff ||
			    !p->qp[side] || reaches(p, side))
				continue;
			if (p->lost[side] || p->broken)
				e[n++] = (struct event){ E_NOTICED, side, i };
		}
	}
	return n;
}

/*
 * Rank of a timer, of which the lowest expires first. A server that changes the
 * group delays its reply to an RKEY request: what it waits for itself ends long
 * before the client's T_RKEY expires. A server that goes on waiting for the
 * client does so for longer than the timers of the client's notices run.
 */
static u8 patience(const struct side *s, u32 timer)
{
	if (timer == SMCR_LGR_T_STEP && s->slow & (1U << timer))
		return 2;
	return timer >= SMCR_LGR_T_NOTICE ||
	       (timer == SMCR_LGR_T_RKEY && s->f.rkey == SMCR_RKEY_SENT &&
		s->f.step != SMCR_LGR_IDLE);
}

static u32 list_timers(const struct world *w, struct event *e, u8 how_patient)
{
	u32 n = 0, i, side;

	for (side = 0; side < 2; side++)
		for (i = 0; i < NR_SMCR_LGR_TIMER; i++)
			if (w->s[side].timers & (1U << i) &&
			    i != SMCR_LGR_T_RETRY && !w->s[side].released &&
			    patience(&w->s[side], i) == how_patient)
				e[n++] = (struct event){ E_TIMER, (u8)side, (u8)i };
	return n;
}

static u32 list_late(const struct world *w, struct event *e)
{
	u32 n, i, side;

	n = list_timers(w, e, 0);

	for (side = 0; side < 2; side++) {
		const struct side *s = &w->s[side];

		for (i = 0; i < SMCR_SLOTS; i++) {
			const struct phys *p = &w->p[s->phys[i] % PHYS];

			if (s->released || s->phys[i] == 0xff ||
			    !p->qp[side] || reaches(p, side) ||
			    s->f.slot[i].st != SMCR_SLOT_ACTIVE)
				continue;
			e[n++] = (struct event){ E_NOTICED, side, i };
		}
		if (s->again_rkey && s->f.rkey == SMCR_RKEY_NONE &&
		    s->settled && !s->dead)
			e[n++] = (struct event){ E_AGAIN, side, 0 };
		if (s->again_rdel && s->f.rkey == SMCR_RKEY_NONE &&
		    s->settled && !s->dead)
			e[n++] = (struct event){ E_AGAIN_RDEL, side, 0 };
		for (i = 0; i < NR_SMCR_LGR_TIMER; i++) {
			if (!(s->timers & (1U << i)))
				continue;
			if (i == SMCR_LGR_T_RETRY && w->b.retries)
				e[n++] = (struct event){ E_RETRY, side, i };
		}
	}
	return n ?: list_timers(w, e, 1) ?: list_timers(w, e, 2) ?:
	       list_deferred(w, e);
}

static void deliver(struct world *w, u8 me, u8 n)
{
	struct phys *p = &w->p[n];
	struct wire wire = p->q[me][0];
	struct side *from = &w->s[!me];
	struct smcr_lgr_ev ev = { .type = SMCR_LGR_EV_MSG };

	memmove(&p->q[me][0], &p->q[me][1], --p->n[me] * sizeof(wire));
	memset(&p->q[me][p->n[me]], 0, sizeof(wire));
	if (wire.report != SMCR_LGR_NO_REPORT && !from->released) {
		if (from->n_sent == SENTS)
			abort();
		from->sent[from->n_sent].report = wire.report;
		from->sent[from->n_sent++].slot = wire.about;
	}
	ev.slot = p->slot[me];
	ev.msg = wire.msg;
	if (wire.msg.type == SMCR_LLC_ADD_LINK)
		ev.facts.nic = wire.msg.add_link.gid[0];
	step(w, me, &ev);
}

static void make(struct world *w, u8 me, u8 slot, bool ok)
{
	struct side *s = &w->s[me];
	struct smcr_lgr_ev ev = { .type = SMCR_LGR_EV_MADE, .slot = slot };
	struct smcr_pairs pairs;
	u8 nic[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

	smcr_lgr_pairs(&s->f, &pairs, NULL);
	/* in first contact the first link counts before it is active */
	if (s->f.first && !pairs.n) {
		pairs.n = 1;
		pairs.pair[0].own = s->f.slot[0].own;
		pairs.pair[0].peer = s->f.slot[0].peer;
	}
	if (me == SERVER)
		ev.nic = smcr_roles_offer(&pairs, s->f.max_links, nic, s->nics,
					  s->make_try, s->make_again);
	else
		ev.nic = smcr_roles_answer(&pairs, s->f.max_links,
					   s->offer[slot].gid[0], nic, s->nics);
	ev.ok = ok && ev.nic != SMCR_NO_NIC;
	/* not those that the peer may have forgotten when the RTokens arrive */
	if (s->f.slot[slot].st == SMCR_SLOT_MAKING)
		s->tell = s->rmbs & ~s->rmbs_going;
	ev.n = bits(s->tell);
	ev.why = SMCR_R_QP_FAIL;
	if (ev.ok && me == SERVER) {
		u8 n = new_phys(w);

		if (n == 0xff)
			abort();
		memset(&w->p[n], 0, sizeof(w->p[n]));
		w->p[n].used = true;
		s->phys[slot] = n;
	}
	if (ev.ok) {
		struct phys *p = &w->p[s->phys[slot]];

		p->qp[me] = true;
		p->made[me] = true;
		p->slot[me] = slot;
	} else {
		s->phys[slot] = 0xff;
	}
	step(w, me, &ev);
}

/* Another link may take the entry when it is in no slot of either side */
static void unused(struct world *w, u8 me, u8 slot)
{
	u8 n = w->s[me].phys[slot], i;
	bool held = false;

	w->s[me].phys[slot] = 0xff;
	if (n == 0xff)
		return;
	for (i = 0; i < SMCR_SLOTS; i++)
		held |= w->s[me].phys[i] == n || w->s[!me].phys[i] == n;
	w->p[n].used = held;
}

static void job(struct world *w, u8 me, u8 slot, bool ok)
{
	struct side *s = &w->s[me];
	u8 what = lowest(s->jobs[slot]);
	struct smcr_lgr_ev ev = { .slot = slot, .ok = ok,
				  .why = SMCR_R_QP_FAIL };

	s->jobs[slot] &= ~what;
	switch (what) {
	case JOB_MAKE:
		make(w, me, slot, ok);
		return;
	case JOB_UP:
		ev.type = SMCR_LGR_EV_UP;
		/* the link may have failed meanwhile */
		if (s->phys[slot] == 0xff || !w->p[s->phys[slot]].qp[me])
			ev.ok = false;
		break;
	case JOB_MOVE:
		ev.type = SMCR_LGR_EV_MOVED;
		break;
	default:
		ev.type = SMCR_LGR_EV_STOPPED;
		qp_gone(w, me, slot);
		unused(w, me, slot);
	}
	step(w, me, &ev);
}

static void down(struct world *w, u8 me, u8 slot)
{
	struct smcr_lgr_ev ev = { .type = SMCR_LGR_EV_LINK_DOWN, .slot = slot,
				  .why = SMCR_R_LINK_ERROR };

	hurt(w, me, slot);
	qp_gone(w, me, slot);
	step(w, me, &ev);
}

static void apply(struct world *w, const struct event *e)
{
	struct side *s = &w->s[e->side];
	struct smcr_lgr_ev ev = { .ok = true };
	u8 i;

	switch (e->kind) {
	case E_DELIVER:
		deliver(w, e->side, e->n);
		break;
	case E_SENT:
		ev.type = s->sent[0].report;
		ev.slot = s->sent[0].slot;
		memmove(&s->sent[0], &s->sent[1],
			--s->n_sent * sizeof(s->sent[0]));
		memset(&s->sent[s->n_sent], 0, sizeof(s->sent[0]));
		step(w, e->side, &ev);
		break;
	case E_JOB:
		job(w, e->side, e->n, true);
		break;
	case E_JOB_NO:
		w->b.no--;
		hurt(w, e->side, e->n);
		job(w, e->side, e->n, false);
		break;
	case E_PREPARED:
		s->preparing = false;
		ev.type = SMCR_LGR_EV_RKEY_READY;
		ev.slot = e->n;
		step(w, e->side, &ev);
		break;
	case E_RDEL:
		s->wants_rdel--;
		for (i = 0; !(s->rmbs & (1 << i)); i++)
			;
		s->rmbs_going |= 1 << i;
		/* fallthrough */
	case E_AGAIN_RDEL:
		s->again_rdel = false;
		for (i = 0; !(s->rmbs_going & (1 << i)); i++)
			;
		s->rmb_want = i;
		s->rmb_del = true;
		ev.type = SMCR_LGR_EV_WANT_RKEY;
		step(w, e->side, &ev);
		break;
	case E_AGAIN:
	case E_RKEY:
		if (e->kind == E_RKEY)
			s->wants_rkey--;
		/* an RMB that was refused, or one with a new number */
		for (i = 0; e->kind == E_RKEY ?
			    (s->rmbs | s->again_rkey | s->rmbs_old) & (1 << i) :
			    !(s->again_rkey & (1 << i)); i++)
			;
		s->again_rkey &= ~(1 << i);
		s->rmbs_old |= 1 << i;
		s->rmb_want = i;
		s->rmb_del = false;
		ev.type = SMCR_LGR_EV_WANT_RKEY;
		ev.ok = false;
		step(w, e->side, &ev);
		break;
	case E_BREAK:
		w->b.breaks--;
		w->hurt = true;
		w->p[e->n].hurt = true;
		w->p[e->n].broken = true;
		drop_queue(&w->p[e->n], 0);
		drop_queue(&w->p[e->n], 1);
		break;
	case E_DOWN:
		w->b.downs--;
		down(w, e->side, e->n);
		break;
	case E_NOTICED:
		down(w, e->side, e->n);
		break;
	case E_DEL_NOW:
	case E_DEL:
		ev.orderly = e->kind == E_DEL;
		if (ev.orderly)
			w->b.dels[e->side]--;
		else
			w->b.dels_now[e->side]--;
		if (!ev.orderly)
			hurt(w, e->side, e->n);
		ev.type = SMCR_LGR_EV_WANT_DEL;
		ev.slot = e->n;
		ev.del_reason = SMCR_DEL_OPERATOR;
		step(w, e->side, &ev);
		break;
	case E_LINK:
		w->b.links[e->side]--;
		ev.type = SMCR_LGR_EV_WANT_LINK;
		step(w, e->side, &ev);
		break;
	case E_END:
		w->b.ends--;
		w->hurt = true;
		w->hurried = true;
		s->dead = true;
		ev.type = SMCR_LGR_EV_WANT_END;
		ev.msg.type = SMCR_LLC_DELETE_LINK;
		ev.msg.delete_link.all = true;
		ev.msg.delete_link.orderly = true;
		ev.msg.delete_link.reason = SMCR_DEL_OPERATOR;
		step(w, e->side, &ev);
		break;
	case E_EARLY:
		w->b.early--;
		w->hurt = true;
		w->hurried = true;
		s->timers &= ~(1U << e->n);
		ev.type = SMCR_LGR_EV_TIMER;
		ev.timer = e->n;
		step(w, e->side, &ev);
		break;
	case E_RETRY:
		w->b.retries--;
		/* fallthrough */
	case E_TIMER:
		s->timers &= ~(1U << e->n);
		ev.type = SMCR_LGR_EV_TIMER;
		ev.timer = e->n;
		step(w, e->side, &ev);
		break;
	}
}

/* Checks */

static void check_always(const struct world *w)
{
	if (w->hurt)
		return;
	if (w->s[0].failed || w->s[1].failed)
		wrong("a link failed, and nothing had befallen any");
	if (w->s[0].dead || w->s[1].dead)
		wrong("a group died, and nothing had befallen it");
}

static void check_rest(const struct world *w)
{
	const struct side *c = &w->s[CLIENT], *s = &w->s[SERVER];
	u8 i, j;

	if (c->released || s->released) {
		if (!c->released || !s->released)
			wrong("only one side has ended");
		return;
	}
	if (c->f.step || s->f.step)
		wrong("a step is left for ever");
	if (c->f.rkey || s->f.rkey)
		wrong("an RKEY exchange is left for ever");
	if (!c->settled || !s->settled)
		wrong("first contact is not settled");
	for (i = 0; i < SMCR_SLOTS; i++) {
		if (s->f.slot[i].st != SMCR_SLOT_FREE &&
		    s->f.slot[i].st != SMCR_SLOT_ACTIVE)
			wrong("server: a link is left half way");
		if (c->f.slot[i].st != SMCR_SLOT_FREE &&
		    c->f.slot[i].st != SMCR_SLOT_ACTIVE)
			wrong("client: a link is left half way");
		if (s->f.slot[i].st != SMCR_SLOT_ACTIVE)
			continue;
		j = smcr_lgr_slot_of(&c->f, s->f.slot[i].num);
		if (j == SMCR_NO_SLOT || s->phys[i] != c->phys[j]) {
			wrong("server has a link that the client has not");
			continue;
		}
		if (w->p[s->phys[i]].know[SERVER] != c->rmbs ||
		    w->p[s->phys[i]].know[CLIENT] != s->rmbs)
			wrong("an RMB is not known on a link");
	}
	for (j = 0; j < SMCR_SLOTS; j++)
		if (c->f.slot[j].st == SMCR_SLOT_ACTIVE &&
		    smcr_lgr_slot_of(&s->f, c->f.slot[j].num) == SMCR_NO_SLOT)
			wrong("client has a link that the server has not");
}

static void world_links(struct world *w, u8 srv_nics, u8 clt_nics, u8 max_links)
{
	struct smcr_lgr_ev ev = { .type = SMCR_LGR_EV_FIRST };
	u8 i;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < 2; i++) {
		smcr_lgr_fsm_init(&w->s[i].f, i == SERVER,
				  i == SERVER ? max_links : 8);
		memset(w->s[i].phys, 0xff, sizeof(w->s[i].phys));
		w->s[i].phys[0] = 0;
		w->s[i].rmbs = 1;
		w->s[i].rmbs_old = 1;
		w->p[0].know[i] = 1;
		w->p[0].qp[i] = true;
		w->p[0].made[i] = true;
	}
	w->p[0].used = true;
	w->s[SERVER].nics = srv_nics;
	w->s[CLIENT].nics = clt_nics;
	step(w, CLIENT, &ev);
	step(w, SERVER, &ev);
}

static void world_init(struct world *w, u8 srv_nics, u8 clt_nics)
{
	world_links(w, srv_nics, clt_nics, 8);
}

/* Exploration */

enum { SEEN = 1 << 24, DEPTH = 400 };

static u64 *seen;

static u64 hash_more(u64 h, const void *what, size_t size)
{
	const u64 *p = what;

	for (size /= 8; size; size--, p++) {
		h = (h ^ *p) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	return h;
}

/* Queues are hashed as far as they are filled: the rest is zero */
static u64 hash_of(const struct world *w)
{
	u64 h = hash_more(0x9e3779b97f4a7c15ULL, w->s, sizeof(w->s));
	u8 i, side;

	for (i = 0; i < PHYS; i++) {
		h = hash_more(h, &w->p[i], offsetof(struct phys, q));
		for (side = 0; side < 2; side++)
			h = hash_more(h, w->p[i].q[side], w->p[i].n[side] *
				      sizeof(w->p[i].q[side][0]));
	}
	h = hash_more(h, &w->b, sizeof(*w) - offsetof(struct world, b));
	return h ? h : 1;
}

/* true if the state is new */
static bool note(const struct world *w)
{
	u64 h = hash_of(w);
	u64 i = h % SEEN;

	for (; seen[i]; i = (i + 1) % SEEN)
		if (seen[i] == h)
			return false;
	if (++seen_states > SEEN - SEEN / 4)
		return false;
	seen[i] = h;
	return true;
}

static struct event path[DEPTH];
static u32 path_n;

static void tell_side(const struct side *s, const char *name)
{
	static const char *const states[] = {
#define X(name, word) word,
		SMCR_SLOT_STATES(X)
#undef X
	};
	u8 i;

	printf("# %s: step %u carrier %u subject %u rkey %u", name, s->f.step,
	       s->f.carrier, s->f.subject, s->f.rkey);
	for (i = 0; i < SMCR_SLOTS; i++)
		if (s->f.slot[i].st != SMCR_SLOT_FREE)
			printf(", %u: link %u %s%s%s%s jobs %u", i,
			       s->f.slot[i].num, states[s->f.slot[i].st],
			       s->f.slot[i].del ? " del" : "",
			       s->f.slot[i].notice_sent ? " noticed" : "",
			       s->f.slot[i].answering ? " answering" : "",
			       s->jobs[i]);
	printf("\n");
}

static void tell_path(const struct world *w)
{
	static const char *const names[] = {
		"deliver", "sent", "job", "job-no", "prepared", "rkey",
		"break", "down", "del", "link", "end", "early", "del-now", "rdel",
		"noticed", "timer", "retry", "again", "again-rdel",
	};
	u32 i;

	printf("# %s, after:\n#", failure);
	for (i = 0; i < path_n; i++)
		printf(" %s-%c%u", names[path[i].kind],
		       path[i].side == SERVER ? 'S' : 'C', path[i].n);
	printf("\n");
	tell_side(&w->s[SERVER], "server");
	tell_side(&w->s[CLIENT], "client");
}

static void explore(const struct world *w)
{
	struct event e[EVENTS];
	struct world next;
	u32 n, i;

	check_always(w);
	n = list_events(w, e);
	if (!n)
		n = list_late(w, e);
	if (!n)
		check_rest(w);
	if (failure) {
		tell_path(w);
		return;
	}
	for (i = 0; i < n && !failure; i++) {
		next = *w;
		if (path_n == DEPTH) {
			wrong("it goes on for ever");
			tell_path(w);
			return;
		}
		path[path_n++] = e[i];
		apply(&next, &e[i]);
		if (note(&next))
			explore(&next);
		path_n--;
	}
}

static void run(const char *name, struct world *w)
{
	failure = NULL;
	path_n = 0;
	seen_states = 0;
	seen = calloc(SEEN, sizeof(*seen));
	if (!seen)
		abort();
	explore(w);
	free(seen);
	printf("# %s: %llu states%s\n", name, seen_states,
	       seen_states > SEEN - SEEN / 4 ? ", not all" : "");
	EXPECT_TRUE(!failure);
}

/* Random events until none is possible */
static void storm(struct world *w)
{
	struct event e[EVENTS];
	u32 n, i;

	failure = NULL;
	for (path_n = 0; ; ) {
		check_always(w);
		n = list_events(w, e);
		if (!n)
			n = list_late(w, e);
		if (!n)
			check_rest(w);
		if (failure || !n)
			break;
		i = rnd(n);
		if (path_n < DEPTH)
			path[path_n++] = e[i];
		else
			wrong("it goes on for ever");
		apply(w, &e[i]);
	}
	if (failure)
		tell_path(w);
}

TEST(model_lgr__first_contact)
{
	struct world w;
	u8 s, c;

	for (s = 1; s <= 3; s++)
		for (c = 1; c <= 3; c++) {
			world_init(&w, s, c);
			run("first contact", &w);
		}
}

TEST(model_lgr__first_contact_broken)
{
	struct world w;

	world_init(&w, 2, 2);
	w.b.breaks = 1;
	run("first contact, a link breaks", &w);
	world_init(&w, 2, 2);
	w.b.no = 1;
	run("first contact, a verb fails", &w);
}

/* The server wants one link only: the offer makes none, and no other follows */
TEST(model_lgr__one_link_only)
{
	struct world w;
	u8 c;

	for (c = 1; c <= 2; c++) {
		world_links(&w, 1, c, 1);
		w.s[0].wants_rkey = 1;
		w.s[1].wants_rkey = 1;
		w.b.links[0] = 1;
		w.b.links[1] = 1;
		w.b.retries = 1;
		run("one link only", &w);
		world_links(&w, 1, c, 1);
		w.b.breaks = 1;
		w.b.no = 1;
		run("one link only, something fails", &w);
	}
}

/* A world at rest, with as many links as the RNICs allow, asymmetric or not */
static void settle(struct world *w, u8 s, u8 c)
{
	struct event e[EVENTS];
	u8 n = min(s, c);

	if (n == 1 && s + c > 2)
		n = 2;
	world_init(w, s, c);
	while (list_events(w, e))
		apply(w, &e[0]);
	EXPECT_TRUE(w->s[0].settled && w->s[1].settled);
	EXPECT_EQ(bits(w->s[0].live), n);
	EXPECT_EQ(bits(w->s[1].live), n);
}

TEST(model_lgr__rkeys_cross)
{
	struct world w;

	covers("LG-03");
	settle(&w, 1, 1);
	w.s[0].wants_rkey = 2;
	w.s[1].wants_rkey = 2;
	run("RKEYs of both, one link", &w);
	settle(&w, 2, 2);
	w.s[0].wants_rkey = 2;
	w.s[1].wants_rkey = 2;
	run("RKEYs of both, two links", &w);
	settle(&w, 4, 4);
	w.s[0].wants_rkey = 1;
	w.s[1].wants_rkey = 1;
	run("RKEYs of both, four links", &w);
}

TEST(model_lgr__add_crosses)
{
	struct world w;

	covers("FO-15");
	settle(&w, 1, 1);
	w.s[0].nics = 2;
	w.s[1].nics = 2;
	w.b.links[0] = 1;
	w.b.links[1] = 1;
	w.s[0].wants_rkey = 1;
	run("ADD LINK and the client's RKEY", &w);
	settle(&w, 1, 2);
	w.s[SERVER].nics = 2;
	w.b.links[SERVER] = 1;
	w.s[0].wants_rkey = 1;
	w.s[1].wants_rkey = 1;
	run("an asymmetric link is replaced", &w);
	settle(&w, 2, 1);
	w.s[CLIENT].nics = 2;
	w.b.links[CLIENT] = 1;
	w.b.breaks = 1;
	run("the other one, and a link breaks", &w);
}

TEST(model_lgr__delete_crosses)
{
	struct world w;

	covers("LG-05");
	settle(&w, 2, 2);
	w.b.dels[CLIENT] = 1;
	w.s[0].wants_rkey = 1;
	w.s[1].wants_rkey = 1;
	run("the client deletes a link", &w);
	settle(&w, 2, 2);
	w.b.dels[SERVER] = 1;
	w.s[0].wants_rkey = 1;
	w.s[1].wants_rkey = 1;
	run("the server deletes a link", &w);
}

TEST(model_lgr__links_break)
{
	struct world w;

	settle(&w, 2, 2);
	w.b.breaks = 1;
	w.b.retries = 1;
	w.s[0].wants_rkey = 1;
	run("one of two links breaks", &w);
	settle(&w, 2, 2);
	w.b.downs = 2;
	run("sides give up links", &w);
	settle(&w, 3, 3);
	w.b.breaks = 2;
	run("two of three links break", &w);
}

TEST(model_lgr__early_timers)
{
	struct world w;

	world_init(&w, 2, 2);
	w.b.early = 1;
	run("first contact, a timer too early", &w);
	settle(&w, 2, 2);
	w.s[0].wants_rkey = 1;
	w.s[1].wants_rkey = 1;
	w.b.dels[CLIENT] = 1;
	w.b.early = 1;
	run("a timer too early", &w);
	settle(&w, 3, 3);
	w.b.breaks = 1;
	w.b.early = 1;
	run("a link breaks, a timer too early", &w);
}

TEST(model_lgr__the_end)
{
	struct world w;

	settle(&w, 2, 2);
	w.b.ends = 1;
	w.b.breaks = 1;
	run("the group ends, and a link breaks", &w);
	settle(&w, 2, 2);
	w.b.ends = 2;
	w.b.dels[CLIENT] = 1;
	run("both end it", &w);
}

/*
 * Both sides begin exchanges at the same time, in all orders: notices, orderly
 * and disorderly deletions of any link, new RMBs and old ones, over any link.
 */
static void both(struct world *w, u8 links)
{
	settle(w, links, links);
	w->s[CLIENT].nics++;
	w->s[SERVER].nics++;
}

TEST(model_lgr__both_rkeys)
{
	struct world w;

	settle(&w, 2, 2);
	w.b.via = true;
	w.s[CLIENT].wants_rkey = 1;
	w.s[SERVER].wants_rkey = 1;
	w.s[CLIENT].wants_rdel = 1;
	w.s[SERVER].wants_rdel = 1;
	run("RMBs come and go at both", &w);
	w.b.breaks = 1;
	run("RMBs come and go at both, a link breaks", &w);
	both(&w, 2);
	w.b.via = true;
	w.b.links[SERVER] = 1;
	w.s[CLIENT].wants_rkey = 1;
	w.s[CLIENT].wants_rdel = 1;
	w.s[SERVER].wants_rdel = 1;
	run("RMBs come and go, and a link is added", &w);
}

TEST(model_lgr__both_delete)
{
	struct event e[EVENTS];
	struct world w;

	covers("LLC-54");
	settle(&w, 3, 3);
	w.b.dels[CLIENT] = 1;
	w.b.dels[SERVER] = 1;
	w.s[CLIENT].wants_rkey = 1;
	run("both delete a link of three", &w);
	settle(&w, 3, 3);
	w.b.dels_now[CLIENT] = 1;
	w.b.dels[SERVER] = 1;
	w.s[SERVER].wants_rdel = 1;
	run("both delete a link of three, the client at once", &w);
	settle(&w, 3, 3);
	w.b.dels[CLIENT] = 2;
	w.b.dels_now[SERVER] = 1;
	run("the client deletes two links of three, the server one", &w);
	settle(&w, 3, 3);
	w.b.dels[CLIENT] = 1;
	w.b.dels_now[SERVER] = 1;
	w.b.breaks = 1;
	run("both delete a link of three, and one breaks", &w);
	both(&w, 2);
	w.b.links[SERVER] = 1;
	while (w.s[SERVER].f.step != SMCR_LGR_S_ADD_REPLY && list_events(&w, e))
		apply(&w, &e[0]);
	w.b.dels[CLIENT] = 1;
	w.b.dels[SERVER] = 1;
	apply(&w, &(struct event){ E_DEL, CLIENT, 0 });
	apply(&w, &(struct event){ E_DEL, SERVER, 0 });
	w.s[CLIENT].wants_rdel = 1;
	run("both delete the link over which another is added", &w);
}

TEST(model_lgr__both_change)
{
	struct world w;

	both(&w, 2);
	w.b.links[CLIENT] = 1;
	w.b.dels[SERVER] = 1;
	w.s[CLIENT].wants_rkey = 1;
	w.s[SERVER].wants_rkey = 1;
	run("the client's notice, the server deletes a link", &w);
	both(&w, 2);
	w.b.links[SERVER] = 1;
	w.b.dels[CLIENT] = 1;
	w.s[CLIENT].wants_rdel = 1;
	run("the server adds a link, the client deletes one", &w);
	both(&w, 2);
	w.b.links[SERVER] = 1;
	w.b.dels_now[CLIENT] = 1;
	w.s[SERVER].wants_rkey = 1;
	run("the server adds a link, the client deletes one at once", &w);
	settle(&w, 2, 2);
	w.b.dels[CLIENT] = 1;
	w.b.breaks = 1;
	run("the client deletes a link, and one breaks", &w);
}

/* The server delays the orderly deletions that the client requests */
TEST(model_lgr__server_defers)
{
	struct world w;

	covers("LG-38");
	settle(&w, 2, 2);
	w.b.slow = true;
	w.b.dels[CLIENT] = 1;
	w.s[CLIENT].wants_rkey = 1;
	run("the server deletes a link later", &w);
	settle(&w, 3, 3);
	w.b.slow = true;
	w.b.dels[CLIENT] = 2;
	run("the server deletes two links of three later", &w);
	settle(&w, 2, 2);
	w.b.slow = true;
	w.b.dels[CLIENT] = 1;
	w.b.downs = 1;
	run("the server deletes a link later, a side gives one up", &w);
	settle(&w, 3, 3);
	w.b.slow = true;
	w.b.dels[CLIENT] = 1;
	w.b.breaks = 1;
	run("the server deletes a link of three later, one breaks", &w);
}

/* A link is to be deleted in order, and the only other one fails: it stays */
TEST(model_lgr__the_last_one_stays)
{
	struct world w;
	u8 side;

	covers("FO-24 LG-38");
	for (side = 0; side < 2; side++) {
		settle(&w, 2, 2);
		w.b.dels[side] = 1;
		w.b.breaks = 1;
		w.s[CLIENT].wants_rkey = 1;
		run("a link is deleted, one breaks, and an RKEY", &w);
		settle(&w, 2, 2);
		w.b.dels[side] = 1;
		w.b.downs = 1;
		w.s[SERVER].wants_rkey = 1;
		run("a link is deleted, a side gives one up, and an RKEY", &w);
		settle(&w, 2, 2);
		w.b.dels[side] = 1;
		w.b.downs = 1;
		w.s[CLIENT].wants_rdel = 1;
		run("a link is deleted, a side gives one up, and DELETE RKEY", &w);
		settle(&w, 3, 3);
		w.b.dels[side] = 1;
		w.b.breaks = 2;
		run("a link of three is deleted, and two break", &w);
	}
	settle(&w, 3, 3);
	w.b.dels[CLIENT] = 1;
	w.b.downs = 2;
	run("the client deletes a link of three, and two are given up", &w);
	settle(&w, 3, 3);
	w.b.dels[CLIENT] = 2;
	w.b.downs = 1;
	run("the client deletes two links of three, and a side gives one up", &w);
	settle(&w, 3, 3);
	w.b.dels[CLIENT] = 2;
	w.b.breaks = 1;
	run("the client deletes two links of three, and one breaks", &w);
	settle(&w, 2, 2);
	w.b.dels[CLIENT] = 1;
	w.b.dels[SERVER] = 1;
	w.b.breaks = 1;
	w.b.retries = 1;
	run("both delete a link of two, and one breaks", &w);
	settle(&w, 2, 2);
	w.b.dels[CLIENT] = 1;
	w.b.dels[SERVER] = 1;
	w.b.downs = 1;
	w.s[CLIENT].wants_rdel = 1;
	run("both delete a link of two, and a side gives one up", &w);
}

/* The maximum of links, CONFIRM RKEY in three messages */
TEST(model_lgr__eight_links)
{
	struct world w;

	covers("LLC-57");
	settle(&w, 8, 8);
	w.s[CLIENT].wants_rkey = 1;
	w.s[SERVER].wants_rkey = 1;
	run("RKEYs of both, eight links", &w);
	settle(&w, 8, 8);
	w.b.links[CLIENT] = 1;
	w.b.links[SERVER] = 1;
	run("no ninth link", &w);
	settle(&w, 8, 8);
	w.b.dels[CLIENT] = 1;
	w.b.dels[SERVER] = 1;
	run("both delete a link of eight", &w);
	settle(&w, 8, 8);
	w.s[CLIENT].wants_rkey = 1;
	w.b.breaks = 1;
	run("RKEY, and a link of eight breaks", &w);
	settle(&w, 7, 8);
	w.s[SERVER].nics = 8;
	w.b.links[SERVER] = 1;
	w.b.breaks = 1;
	run("an eighth link is added, and one breaks", &w);
}

/* One RNIC here, two there: the second link is asymmetric */
TEST(model_lgr__asymmetric)
{
	struct world w;
	u8 one;

	for (one = 0; one < 2; one++) {
		world_init(&w, one ? 1 : 2, one ? 2 : 1);
		w.b.breaks = 1;
		run("first contact, asymmetric, a link breaks", &w);
		settle(&w, one ? 1 : 2, one ? 2 : 1);
		w.b.breaks = 1;
		w.b.retries = 1;
		w.s[CLIENT].wants_rkey = 1;
		w.s[SERVER].wants_rdel = 1;
		run("an asymmetric link or the other breaks, and returns", &w);
		settle(&w, one ? 1 : 2, one ? 2 : 1);
		w.s[one ? SERVER : CLIENT].nics = 2;
		w.b.links[one ? SERVER : CLIENT] = 1;
		w.b.dels[CLIENT] = 1;
		w.s[SERVER].wants_rkey = 1;
		run("it is replaced, and the client deletes a link", &w);
		settle(&w, one ? 1 : 2, one ? 2 : 1);
		w.b.dels[SERVER] = 1;
		w.b.links[CLIENT] = 1;
		w.s[CLIENT].wants_rdel = 1;
		run("the server deletes one, the client has a notice", &w);
	}
}

TEST(model_lgr__storms)
{
	struct world w;
	u32 i;

	for (i = 0; i < 50000; i++) {
		world_init(&w, (u8)rnd_in(1, 4), (u8)rnd_in(1, 4));
		w.s[0].wants_rkey = (u8)rnd(3);
		w.s[1].wants_rkey = (u8)rnd(3);
		/* one deletion at most: two may be of all links */
		w.b.dels[rnd(2)] = (u8)rnd(2);
		w.s[0].wants_rdel = (u8)rnd(2);
		w.s[1].wants_rdel = (u8)rnd(2);
		w.b.via = rnd_bool();
		w.b.links[0] = (u8)rnd(3);
		w.b.links[1] = (u8)rnd(3);
		w.b.retries = (u8)rnd(4);
		if (rnd_bool()) {
			w.b.breaks = (u8)rnd(4);
			w.b.downs = (u8)rnd(3);
			w.b.no = (u8)rnd(4);
			w.b.ends = !rnd(8);
			w.b.early = !rnd(4);
			w.b.dels_now[rnd(2)] = !rnd(4);
		}
		storm(&w);
		if (failure)
			break;
	}
	EXPECT_TRUE(!failure);
	printf("# at most %u actions, %u messages\n", max_acts, max_msgs);
}
