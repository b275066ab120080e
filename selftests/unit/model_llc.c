// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model client and a model server of one link group run random LLC exchanges
 * over links whose messages overtake those of other links. They judge every
 * message with smcr_llc_classify() and do what it says. Both are conforming, so
 * no message may ever be found out of place, and every exchange must come to
 * its end. What the kernel shell does is here as short as it can be.
 */
#include "msgs.h"

#include "llc_seq.h"
#include "slots.h"

enum { CLIENT, SERVER, DEPTH = 64 };

static const struct smcr_llc no_msg;

/* One link; the message queues are named after the side that they lead to */
struct link {
	bool up[2];
	u8 late[2][16];		/* replies to abandoned requests, by type */
	bool test[2];		/* own TEST LINK unanswered */
	u8 q[2][DEPTH][SMCR_WR_LEN];
	u32 head[2], n[2];
};

struct held {
	u8 link;
	struct smcr_llc msg;
};

struct side {
	struct smcr_llc_seq seq;
	u8 me, peer;
	u8 carrier;		/* link that carries the running exchange */
	u8 subject;		/* link that is added or deleted */
	u8 tell;		/* RTokens left to tell */
	struct smcr_rtoken_count announced;
	struct held held[DEPTH];
	u32 n_held;
	u32 want_rkey;
	u32 want_add;		/* server */
	u8 notice;		/* client: link that it asked to delete */
	u8 notice_via;
};

static struct link links[256];
static struct side sides[2];
static struct smcr_link_nums nums;
static u32 done[16], refused, crossed, timeouts;
static const char *failure;

static void fail(const char *why)
{
	if (!failure)
		failure = why;
}

static void send(struct side *s, u8 num, const struct smcr_llc *m)
{
	struct link *l = &links[num];

	if (!l->up[s->me])
		fail("sends on a link that is not there");
	if (!l->up[s->peer])
		return;		/* the queue pair at the other end is gone */
	if (l->n[s->peer] == DEPTH)
		abort();
	smcr_llc_encode(m, SMCR_LLC_RFC, l->q[s->peer][(l->head[s->peer] +
					  l->n[s->peer]++) % DEPTH]);
}

static void answer(struct side *s, u8 num, const struct smcr_llc *m)
{
	struct smcr_llc r = *m;

	r.reply = true;
	send(s, num, &r);
}

/* A random link of this side that is neither @not nor being set up; or 0 */
static u8 pick(const struct side *s, u8 not)
{
	u8 can[256];
	u32 i, n = 0;

	for (i = 1; i < 256; i++)
		if (links[i].up[s->me] && i != not && i != s->notice &&
		    !(s->seq.xchg == SMCR_XCHG_ADD_LINK && i == s->subject))
			can[n++] = (u8)i;
	return n ? can[rnd(n)] : 0;
}

static u32 n_links(const struct side *s)
{
	u32 i, n = 0;

	for (i = 1; i < 256; i++)
		n += links[i].up[s->me];
	return n;
}

static void xchg_start(struct side *s, u8 xchg, u8 carrier, u8 awaits,
		       bool reply)
{
	s->seq.xchg = xchg;
	s->seq.awaits = awaits;
	s->seq.awaits_reply = reply;
	s->carrier = carrier;
}

static void xchg_end(struct side *s)
{
	done[s->seq.xchg]++;
	xchg_start(s, SMCR_XCHG_NONE, 0, 0, false);
}

/* The own RKEY exchange gives way to one of the server's */
static void rkey_abandon(struct side *s)
{
	if (s->seq.xchg != SMCR_XCHG_RKEY)
		return;
	if (links[s->carrier].up[s->me])
		links[s->carrier].late[s->me][s->seq.awaits]++;
	s->want_rkey++;
	crossed++;
	xchg_start(s, SMCR_XCHG_NONE, 0, 0, false);
}

static void link_remove(struct side *s, u8 num)
{
	struct link *l = &links[num];
	u32 i, n = 0;

	l->up[s->me] = false;
	l->n[s->me] = 0;
	l->test[s->me] = false;
	memset(l->late[s->me], 0, sizeof(l->late[s->me]));
	/* LLC-91: queued messages go with their link */
	for (i = 0; i < s->n_held; i++)
		if (s->held[i].link != num)
			s->held[n++] = s->held[i];
	s->n_held = n;
	if (s->seq.xchg == SMCR_XCHG_RKEY && s->carrier == num) {
		s->want_rkey++;
		xchg_start(s, SMCR_XCHG_NONE, 0, 0, false);
	}
	if (s->me == SERVER)
		smcr_link_num_put(&nums, num);
}

/* Server */

static void delete_start(struct side *s, u8 num)
{
	struct smcr_llc m = no_msg;
	u8 via = pick(s, num);

	if (!via)
		return;
	m.type = SMCR_LLC_DELETE_LINK;
	m.delete_link.link_num = num;
	m.delete_link.reason = SMCR_DEL_LOST_PATH;
	xchg_start(s, SMCR_XCHG_DELETE_LINK, via, m.type, true);
	s->subject = num;
	send(s, via, &m);
}

static void add_start(struct side *s)
{
	struct smcr_llc m = no_msg;
	u8 via = pick(s, 0);

	s->want_add--;
	if (n_links(s) >= 5)
		return;
	m.type = SMCR_LLC_ADD_LINK;
	rnd_gid(m.add_link.gid);
	m.add_link.qpn = 1;
	m.add_link.mtu = 3;
	s->subject = smcr_link_num_get(&nums);
	m.add_link.link_num = s->subject;
	s->tell = (u8)rnd(6);
	s->announced = (struct smcr_rtoken_count){ 0 };
	xchg_start(s, SMCR_XCHG_ADD_LINK, via, m.type, true);
	send(s, via, &m);
}

static void cont(struct side *s, bool reply)
{
	struct smcr_llc m = no_msg;

	m.type = SMCR_LLC_ADD_LINK_CONT;
	m.reply = reply;
	m.add_link_cont.link_num = s->subject;
	m.add_link_cont.n_rtokens = s->tell;
	m.add_link_cont.pair[0].new_va = 1;
	m.add_link_cont.pair[1].new_va = 1;
	s->tell = s->tell > 2 ? s->tell - 2 : 0;
	send(s, s->carrier, &m);
}

static void confirm_link(struct side *s, bool reply)
{
	struct smcr_llc m = no_msg;

	m.type = SMCR_LLC_CONFIRM_LINK;
	m.reply = reply;
	m.confirm_link.link_num = s->subject;
	send(s, s->subject, &m);
}

/* Either */

static bool late_outstanding(const struct side *s)
{
	u32 i;

	for (i = 1; i < 256; i++)
		if (links[i].late[s->me][SMCR_LLC_CONFIRM_RKEY] ||
		    links[i].late[s->me][SMCR_LLC_DELETE_RKEY])
			return true;
	return false;
}

static void rkey_start(struct side *s)
{
	struct smcr_llc m = no_msg;
	u8 via = pick(s, 0);

	/* an answer that is still to come could be taken for the new one */
	if (!via || late_outstanding(s))
		return;
	s->want_rkey--;
	m.type = rnd_bool() ? SMCR_LLC_CONFIRM_RKEY : SMCR_LLC_DELETE_RKEY;
	if (m.type == SMCR_LLC_DELETE_RKEY)
		m.delete_rkey.count = 1;
	xchg_start(s, SMCR_XCHG_RKEY, via, m.type, true);
	send(s, via, &m);
}

/* Client */

static void notice(struct side *s, u8 num)
{
	struct smcr_llc m = no_msg;
	u8 via = pick(s, num);

	if (!via)
		return;
	m.type = SMCR_LLC_DELETE_LINK;
	m.delete_link.link_num = num;
	m.delete_link.reason = SMCR_DEL_LOST_PATH;
	s->notice = num;
	s->notice_via = via;
	send(s, via, &m);
}

static void client_add(struct side *s, u8 num, const struct smcr_llc *m)
{
	struct smcr_llc r = *m;

	rkey_abandon(s);
	if (rnd(3) == 0) {
		r.add_link.rejected = true;
		answer(s, num, &r);
		return;
	}
	s->subject = m->add_link.link_num;
	s->tell = (u8)rnd(6);
	s->announced = (struct smcr_rtoken_count){ 0 };
	if (links[s->subject].up[CLIENT])
		fail("link number in use");
	memset(&links[s->subject], 0, sizeof(links[0]));
	links[s->subject].up[CLIENT] = true;
	answer(s, num, &r);
	xchg_start(s, SMCR_XCHG_ADD_LINK, num, SMCR_LLC_ADD_LINK_CONT, false);
}

static void client_delete(struct side *s, u8 num, const struct smcr_llc *m)
{
	u8 n = m->delete_link.link_num;
	struct smcr_llc r = *m;

	rkey_abandon(s);
	if (s->seq.xchg == SMCR_XCHG_ADD_LINK) {
		/* the server gave up */
		link_remove(s, s->subject);
		xchg_end(s);
	}
	if (!links[n].up[CLIENT])
		r.delete_link.reason = SMCR_DEL_UNKNOWN_LINK;
	answer(s, num, &r);
	if (links[n].up[CLIENT])
		link_remove(s, n);
	if (s->notice == n)
		s->notice = 0;
	else if (s->notice && s->notice_via == n)
		notice(s, s->notice);
}

static void do_request(struct side *s, u8 num, const struct smcr_llc *m)
{
	struct smcr_llc r = *m;

	switch (m->type) {
	case SMCR_LLC_ADD_LINK:
		if (s->me == CLIENT)
			client_add(s, num, m);
		else
			s->want_add++;
		return;
	case SMCR_LLC_DELETE_LINK:
		if (s->me == CLIENT) {
			client_delete(s, num, m);
		} else if (links[m->delete_link.link_num].up[SERVER]) {
			delete_start(s, m->delete_link.link_num);
		} else {
			r.delete_link.reason = SMCR_DEL_UNKNOWN_LINK;
			answer(s, num, &r);
		}
		return;
	default:
		answer(s, num, m);
	}
}

static void advance(struct side *s, u8 num, const struct smcr_llc *m)
{
	switch (m->type) {
	case SMCR_LLC_TEST_LINK:
		links[num].test[s->me] = false;
		return;
	case SMCR_LLC_ADD_LINK:
		if (m->add_link.rejected) {
			smcr_link_num_put(&nums, s->subject);
			xchg_end(s);
			return;
		}
		links[s->subject].up[SERVER] = true;
		cont(s, false);
		s->seq.awaits = SMCR_LLC_ADD_LINK_CONT;
		return;
	case SMCR_LLC_ADD_LINK_CONT:
		if (smcr_rtoken_count_step(&s->announced,
					   m->add_link_cont.n_rtokens))
			fail("RToken counts");
		if (s->me == CLIENT) {
			cont(s, true);
			if (!s->tell && !s->announced.left)
				s->seq.awaits = SMCR_LLC_CONFIRM_LINK;
		} else if (s->tell || s->announced.left) {
			cont(s, false);
		} else {
			confirm_link(s, false);
			s->seq.awaits = SMCR_LLC_CONFIRM_LINK;
		}
		return;
	case SMCR_LLC_CONFIRM_LINK:
		if (num != s->subject)
			fail("CONFIRM LINK on another link");
		if (s->me == CLIENT)
			confirm_link(s, true);
		xchg_end(s);
		return;
	case SMCR_LLC_DELETE_LINK:
		if (s->me == CLIENT && !m->reply) {
			client_delete(s, num, m);
		} else if (s->me == CLIENT) {
			/* to be matched by number: I-20 */
			if (m->delete_link.link_num == s->notice)
				fail("unknown link, but it is there");
		} else {
			if (m->delete_link.link_num != s->subject)
				fail("DELETE LINK reply for another link");
			link_remove(s, s->subject);
			xchg_end(s);
		}
		return;
	case SMCR_LLC_CONFIRM_RKEY:
		if (m->confirm_rkey.negative) {
			refused++;
			s->want_rkey++;
		}
		xchg_end(s);
		return;
	case SMCR_LLC_DELETE_RKEY:
		xchg_end(s);
		return;
	}
}

static void receive(struct side *s, u8 num, const struct smcr_llc *m)
{
	struct link *l = &links[num];
	struct smcr_llc_seq seq = s->seq;
	struct smcr_llc r = *m;

	/* LLC-54 */
	if (s->me == CLIENT && s->notice == num && !m->reply &&
	    m->type != SMCR_LLC_TEST_LINK)
		return;
	seq.test_pending = l->test[s->me];
	if (!seq.awaits && s->notice) {
		seq.awaits = SMCR_LLC_DELETE_LINK;
		seq.awaits_reply = false;
	}

	switch (smcr_llc_classify(&seq, m, l->late[s->me][m->type & 15])) {
	case SMCR_LLC_DO:
		do_request(s, num, m);
		break;
	case SMCR_LLC_ANSWER:
		/* I-20: an answer to what was abandoned may look like one */
		if (m->reply && m->type != SMCR_LLC_TEST_LINK &&
		    l->late[s->me][m->type])
			fail("a late reply was taken for an answer");
		advance(s, num, m);
		break;
	case SMCR_LLC_QUEUE:
		s->held[s->n_held].link = num;
		s->held[s->n_held++].msg = *m;
		break;
	case SMCR_LLC_REFUSE:
		r.confirm_rkey.negative = true;
		r.confirm_rkey.retry = true;
		answer(s, num, &r);
		break;
	case SMCR_LLC_IGNORE:
		if (m->reply && l->late[s->me][m->type])
			l->late[s->me][m->type]--;
		break;
	case SMCR_LLC_FAIL:
		fail(s->me == CLIENT ? "client: out of place" :
				       "server: out of place");
		if (failure)
			printf("# type %u reply %d in exchange %u awaiting %u\n",
			       m->type, m->reply, seq.xchg, seq.awaits);
		break;
	}
}

/* What was queued, when nothing runs any more */
static bool resume(struct side *s)
{
	struct held h;

	if (s->seq.xchg != SMCR_XCHG_NONE || !s->n_held)
		return false;
	h = s->held[0];
	memmove(s->held, s->held + 1, --s->n_held * sizeof(s->held[0]));
	receive(s, h.link, &h.msg);
	return true;
}

/* Take one message off a random wire; false if all are empty */
static bool deliver(void)
{
	u32 i, side, n = 0, can[512];
	enum smcr_reason why;
	struct smcr_llc m;
	struct link *l;

	for (i = 1; i < 256; i++)
		for (side = 0; side < 2; side++)
			if (links[i].n[side])
				can[n++] = i * 2 + side;
	if (!n)
		return false;
	i = can[rnd(n)];
	side = i & 1;
	l = &links[i / 2];
	if (smcr_llc_decode(l->q[side][l->head[side]], SMCR_WR_LEN, SMCR_LLC_RFC, &m, &why))
		fail("does not decode");
	l->head[side] = (l->head[side] + 1) % DEPTH;
	l->n[side]--;
	receive(&sides[side], (u8)(i / 2), &m);
	return true;
}

/* Something new, if this side is free to start it */
static void act(struct side *s)
{
	struct smcr_llc m = no_msg;
	u8 via = pick(s, 0);

	if (!via)
		return;
	switch (rnd(6)) {
	case 0:
		if (links[via].test[s->me])
			return;
		m.type = SMCR_LLC_TEST_LINK;
		links[via].test[s->me] = true;
		send(s, via, &m);
		return;
	case 1:
		s->want_rkey += s->want_rkey < 3;
		return;
	case 2:
		if (s->me == SERVER) {
			s->want_add = 1;
			return;
		}
		m.type = SMCR_LLC_ADD_LINK;
		rnd_gid(m.add_link.gid);
		send(s, via, &m);
		return;
	case 3:
		if (n_links(s) < 2)
			return;
		if (s->me == SERVER) {
			if (s->seq.xchg == SMCR_XCHG_NONE)
				delete_start(s, via);
		} else if (!s->notice && via != s->carrier) {
			notice(s, via);
		}
		return;
	}
}

static void start_wanted(struct side *s)
{
	/* LLC-15: one at a time; what waits in the queue goes first */
	if (s->seq.xchg != SMCR_XCHG_NONE || s->n_held)
		return;
	if (s->want_add)
		add_start(s);
	else if (s->want_rkey)
		rkey_start(s);
}

/*
 * Nothing is on the wires. The server may wait in vain, on a link that the
 * client asked to delete: the timer fails that link (LLC-33, LLC-50, LLC-63).
 */
static bool timer(void)
{
	struct side *c = &sides[CLIENT], *s = &sides[SERVER];
	u8 num = s->carrier;

	if (s->seq.xchg == SMCR_XCHG_NONE || !c->notice || num != c->notice)
		return false;
	timeouts++;
	if (s->seq.xchg == SMCR_XCHG_RKEY)
		s->want_rkey++;
	if (s->seq.xchg == SMCR_XCHG_ADD_LINK)
		smcr_link_num_put(&nums, s->subject);
	if (s->seq.xchg == SMCR_XCHG_DELETE_LINK && s->subject == num)
		fail("DELETE LINK over the link itself");
	xchg_start(s, SMCR_XCHG_NONE, 0, 0, false);
	delete_start(s, num);
	return true;
}

static void group_init(void)
{
	u32 i;

	memset(links, 0, sizeof(links));
	memset(sides, 0, sizeof(sides));
	memset(&nums, 0, sizeof(nums));
	for (i = 0; i < 2; i++) {
		sides[i].me = (u8)i;
		sides[i].peer = !i;
		sides[i].seq.server = i == SERVER;
	}
	for (i = rnd_in(1, 3); i; i--) {
		struct link *l = &links[smcr_link_num_get(&nums)];

		l->up[CLIENT] = true;
		l->up[SERVER] = true;
	}
	failure = NULL;
}

static void drain(void)
{
	u32 i;

	for (i = 0; i < 10000 && !failure; i++) {
		resume(&sides[CLIENT]);
		resume(&sides[SERVER]);
		start_wanted(&sides[CLIENT]);
		start_wanted(&sides[SERVER]);
		if (!deliver() && !timer() && !sides[0].n_held &&
		    !sides[1].n_held && !sides[0].want_rkey &&
		    !sides[1].want_rkey && !sides[SERVER].want_add)
			return;
	}
	fail("does not come to rest");
}

static void group_check(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		if (sides[i].seq.xchg != SMCR_XCHG_NONE)
			fail("an exchange hangs");
		if (sides[i].n_held)
			fail("a message is held for ever");
	}
	if (sides[CLIENT].notice && n_links(&sides[SERVER]) > 1)
		fail("a notice was forgotten");
	for (i = 1; i < 256; i++)
		if (links[i].up[CLIENT] != links[i].up[SERVER])
			fail("link sets differ");
}

TEST(model_llc__conforming_peers)
{
	u32 round, i;

	for (round = 0; round < 1500; round++) {
		group_init();
		for (i = 0; i < 300 && !failure; i++) {
			struct side *s = &sides[rnd(2)];

			switch (rnd(8)) {
			case 0:
				act(s);
				break;
			case 1:
				start_wanted(s);
				break;
			case 2:
				resume(s);
				break;
			default:
				deliver();
			}
		}
		drain();
		if (!failure)
			group_check();
		KTAP_CHECK(!failure, 1, "round %u: %s", round, failure);
	}

	/* it was worth something only if all of this has happened */
	EXPECT_TRUE(done[SMCR_XCHG_ADD_LINK] > 100);
	EXPECT_TRUE(done[SMCR_XCHG_DELETE_LINK] > 100);
	EXPECT_TRUE(done[SMCR_XCHG_RKEY] > 100);
	EXPECT_TRUE(refused > 10);
	EXPECT_TRUE(crossed > 10);
	EXPECT_TRUE(timeouts > 0);
	printf("# %u times ADD LINK, %u DELETE LINK, %u RKEY exchanges\n",
	       done[SMCR_XCHG_ADD_LINK], done[SMCR_XCHG_DELETE_LINK],
	       done[SMCR_XCHG_RKEY]);
	printf("# %u refused, %u crossed, %u timeouts\n", refused, crossed,
	       timeouts);
}
