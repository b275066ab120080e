// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two peers that run net/core/close.c against each other, RFC 7609 4.8: with
 * data, windows, CDC messages under way, completions that come late, TCP
 * resets, timers, the loss of all links and the death of a peer. First all
 * orders of events, with few bytes; then random orders with more of everything;
 * then the combinations that Part D of the conformance catalogue and its entry
 * CONN-39 name.
 *
 * A side does what the kernel shell does. Of a CDC it processes the cursors,
 * then D, C and A. The CDC that the machine orders is posted when the send
 * queue has room, with all flags of that moment. Data that arrive after close()
 * are dropped; before own C is sent they count as consumed.
 */
#include "ktap.h"
#include "close_life.h"

enum {
	QUEUE = 3,		/* CDCs under way, and posts not yet completed */
	MAX_STATES = 2500000,
	HASH_SIZE = 1 << 23,
	STORM_EVENTS = 3000000,
	MATRIX_RUNS = 300,
};

/* D, C, A of a message */
enum {
	MSG_D = 1,
	MSG_C = 2,
	MSG_A = 4,
};

struct msg {
	u8 data;		/* bytes announced */
	u8 credit;		/* bytes consumed, by the consumer cursor */
	u8 flags;
};

struct side {
	struct close_life l;
	u8 left;		/* bytes the application has still to write */
	u8 unsent;
	u8 unread;
	u8 credit;		/* free bytes known in the peer's element */
	u8 owe;			/* bytes read that were not announced to the peer */
	u8 pend;		/* posts not completed */
	bool owed;		/* D, C or A is to be posted */
	bool final_posted;	/* C or A was posted */
	bool rst;		/* a TCP reset is on its way to this side */
	bool dead;
	u8 n;			/* messages to the peer under way */
	struct msg q[QUEUE];

	/* for the scripts; not part of the explored state */
	u32 got;		/* bytes the application has read */
	int err;
};

struct pair {
	struct side s[2];
	u8 faults;		/* that may still happen */
	bool nolink;		/* the link group is gone */
	bool unsafe;		/* may end without the peer's C or A: RMB-23 */
};

struct rules {
	const char *name;
	u8 writes;		/* bytes per application */
	u8 window;
	u8 faults;		/* maximum */
	u32 may_fail;		/* faults that happen, bits of enum move */
	bool polite;		/* close only when there is nothing to lose */
	bool linger;		/* an abort may follow a close (SO_LINGER) */
};

/* What can happen next; each on either side */
enum move {
	/* progress without applications and faults */
	POST,
	DELIVER,
	COMPLETE,
	TCP_RST,
	LINKS_GONE,
	NR_PROGRESS,
	/* applications */
	WRITE = NR_PROGRESS,
	READ,
	SHUT_WR,
	CLOSE,
	ABORT,
	/* timers and faults */
	TIMER,
	RST_FAULT,
	LGR_FAULT,
	DIE_FAULT,
	VIOLATION_FAULT,
	CONFLICT_FAULT,
	NR_MOVES
};

#define ALL_FAULTS	(BIT(TIMER) | BIT(RST_FAULT) | BIT(LGR_FAULT) | \
			 BIT(DIE_FAULT) | BIT(VIOLATION_FAULT) | \
			 BIT(CONFLICT_FAULT))

static const char * const move_names[NR_MOVES] = {
	"post", "deliver", "complete", "tcp-rst", "links-gone", "write", "read",
	"shutdown-write", "close", "abort", "timer", "fault-rst", "fault-links",
	"fault-death", "fault-violation", "fault-conflict",
};

static const struct rules *rules;
static const char *wrong;	/* first property that did not hold */

#define MUST(cond, text) do {						\
	if (!(cond) && !wrong)						\
		wrong = text;						\
} while (0)

static void pair_init(struct pair *p)
{
	int i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < 2; i++) {
		close_life_init(&p->s[i].l);
		p->s[i].left = rules->writes;
		p->s[i].credit = rules->window;
	}
	p->faults = rules->faults;
}

static bool closed(const struct side *s)
{
	return s->l.c.st == SMCR_CONN_ST_CLOSED;
}

static bool data_under_way(const struct side *s)
{
	int i;

	for (i = 0; i < s->n; i++)
		if (s->q[i].data)
			return true;
	return false;
}

static void check_release(const struct pair *p, const struct side *peer,
			  enum smcr_conn_ev ev)
{
	if (ev == SMCR_CONN_EV_TIMER || ev == SMCR_CONN_EV_LGR_LOST ||
	    ev == SMCR_CONN_EV_CONFLICT || p->unsafe)
		return;
	MUST(!smcr_close_may_tx(&peer->l.c),
	     "RMB-22: element released, peer may still write");
	MUST(!data_under_way(peer), "RMB-22: element released, writes to come");
}

static void act(struct pair *p, int i, enum smcr_conn_ev ev,
		const struct smcr_close_out *out)
{
	struct side *s = &p->s[i], *peer = &p->s[!i];
	u32 acts = out->actions;

	if (acts & SMCR_ACT_PURGE)
		s->unread = 0;
	if (acts & (SMCR_ACT_PURGE | SMCR_ACT_DROP_TX))
		s->unsent = 0;
	if (acts & CLOSE_SENDS)
		s->owed = true;
	if (acts & SMCR_ACT_EOF)
		MUST(!peer->unsent && !data_under_way(peer),
		     "end of data before the data");
	if (acts & SMCR_ACT_ERROR) {
		MUST(!rules->polite, "error in a polite exchange");
		s->err = out->err;
	}
	if (acts & SMCR_ACT_TCP_RST) {
		MUST(!rules->polite, "TCP reset in a polite exchange");
		peer->rst = !peer->dead && !peer->l.tcp_ended;
	}
	if (acts & SMCR_ACT_TCP_FIN)
		MUST(peer->l.c.tx_closed, "CONN-03: FIN before the peer's C");
	if (acts & SMCR_ACT_RELEASE)
		check_release(p, peer, ev);
	if ((acts & SMCR_ACT_NO_TX) || p->nolink)
		s->owed = false;
	if (closed(s)) {
		/* not looked at any more; cleared, for fewer states */
		s->pend = 0;
		s->left = 0;
		s->credit = 0;
		s->owe = 0;
		s->rst = false;
		/* after the peer's C there may still be a reader */
		MUST(!s->unread || (s->l.c.rx_closed && !s->l.c.app_closed),
		     "data left, but nobody to read them");
	}
	if (!smcr_close_may_send(&s->l.c))
		s->left = 0;
}

/* The states that the sides went through, for the scripts */
static char path[2][200];

static void feed(struct pair *p, int i, enum smcr_conn_ev ev,
		 enum smcr_reason why)
{
	struct side *s = &p->s[i];
	struct smcr_close_facts facts = {
		.unread = s->unread,
		.unsent = s->unsent,
		.undrained = s->unsent || s->pend,
	};
	bool kept = !s->l.c.app_closed && !s->l.c.rx_abort &&
		    (s->l.c.rx_closed || ev == SMCR_CONN_EV_RX_CLOSED) &&
		    ev != SMCR_CONN_EV_APP_CLOSE &&
		    ev != SMCR_CONN_EV_APP_ABORT &&
		    ev != SMCR_CONN_EV_RX_ABORT;
	u8 st = s->l.c.st, unread = s->unread;
	struct smcr_close_out out;
	const char *text;
	size_t len;

	text = close_life_step(&s->l, ev, &facts, why, &out);
	MUST(!text, text);
	if (s->l.c.st != st) {
		len = strlen(path[i]);
		snprintf(path[i] + len, sizeof(path[i]) - len, " %s",
			 smcr_conn_st_name(s->l.c.st));
	}
	act(p, i, ev, &out);
	MUST(!kept || s->unread == unread,
	     "data from before the peer's C were lost");
}

static bool can_post(const struct pair *p, const struct side *s)
{
	if (p->nolink || s->dead || s->n == QUEUE || s->pend == QUEUE)
		return false;
	return s->owed || (smcr_close_may_tx(&s->l.c) &&
			   (s->owe || (s->unsent && s->credit)));
}

static void post(struct pair *p, int i)
{
	struct side *s = &p->s[i], *peer = &p->s[!i];
	struct msg m = { .credit = s->owe };

	MUST(!s->final_posted, "CDC-44: CDC after C or A");
	m.flags = (s->l.c.tx_done ? MSG_D : 0) |
		  (s->l.c.tx_closed ? MSG_C : 0) |
		  (s->l.c.tx_abort ? MSG_A : 0);
	s->final_posted = m.flags & (MSG_C | MSG_A);
	if (s->unsent) {
		m.data = min(s->unsent, s->credit);
		MUST(!m.data || !m.flags, "RMB-26: data with D, C or A");
		MUST(!m.data || !closed(peer) || p->unsafe,
		     "RMB-22: write into a released element");
	}
	s->unsent -= m.data;
	s->credit -= m.data;
	s->owe = 0;
	s->owed = false;
	if (!closed(s))
		s->pend++;
	if (!peer->dead)
		s->q[s->n++] = m;
}

static void deliver_data(struct pair *p, int i, u8 data)
{
	struct side *s = &p->s[i];

	if (!data)
		return;
	MUST(!s->l.c.rx_done, "CDC-43: data after D");
	if (s->l.c.app_closed) {
		MUST(!rules->polite, "data lost in a polite exchange");
		if (smcr_close_may_tx(&s->l.c))
			s->owe += data;
	} else {
		s->unread += data;
	}
}

static void deliver(struct pair *p, int i)
{
	struct side *s = &p->s[i], *peer = &p->s[!i];
	struct msg m = peer->q[0];

	peer->n--;
	memmove(peer->q, peer->q + 1, peer->n * sizeof(m));
	memset(peer->q + peer->n, 0, sizeof(m));
	if (closed(s))
		return;		/* stale token */
	MUST(!s->l.c.rx_closed && !s->l.c.rx_abort,
	     "CDC-44: CDC from a peer that sent C or A");
	if (smcr_close_may_rx(&s->l.c)) {
		s->credit += m.credit;
		deliver_data(p, i, m.data);
	}
	if (m.flags & MSG_D && !s->l.c.rx_done)
		feed(p, i, SMCR_CONN_EV_RX_DONE, SMCR_R_NONE);
	if (m.flags & MSG_C && !s->l.c.rx_closed)
		feed(p, i, SMCR_CONN_EV_RX_CLOSED, SMCR_R_NONE);
	if (m.flags & MSG_A && !s->l.c.rx_abort)
		feed(p, i, SMCR_CONN_EV_RX_ABORT, SMCR_R_PEER_ABORT);
}

static void complete(struct pair *p, int i)
{
	struct side *s = &p->s[i];

	s->pend--;
	if (s->pend || s->unsent)
		return;
	if (s->l.c.tx_abort && s->final_posted)
		feed(p, i, SMCR_CONN_EV_TX_ABORT_DONE, SMCR_R_NONE);
	else if (s->l.c.want_done || s->l.c.want_closed)
		feed(p, i, SMCR_CONN_EV_DRAINED, SMCR_R_NONE);
}

/* All bytes that the peer will ever send have been read */
static bool nothing_to_lose(const struct pair *p, int i)
{
	const struct side *peer = &p->s[!i];

	return !p->s[i].unread && !peer->left && !peer->unsent &&
	       !data_under_way(peer);
}

static bool may_fail(const struct pair *p, enum move move)
{
	return (rules->may_fail & BIT(move)) && (move == TIMER || p->faults);
}

static bool enabled(const struct pair *p, int i, enum move move)
{
	const struct side *s = &p->s[i], *peer = &p->s[!i];
	bool open = !closed(s);

	if (s->dead)
		return false;
	switch (move) {
	case POST:
		return can_post(p, s);
	case DELIVER:
		return peer->n && !p->nolink;
	case COMPLETE:
		return s->pend && !p->nolink && !peer->dead;
	case TCP_RST:
		return s->rst;
	case LINKS_GONE:
		return p->nolink && open;
	case WRITE:
		return s->left && smcr_close_may_send(&s->l.c) &&
		       s->unsent < 2;
	case READ:
		return s->unread;
	case SHUT_WR:
		return smcr_close_may_tx(&s->l.c) && !s->l.c.app_closed &&
		       !s->l.c.tx_done && !s->l.c.want_done;
	case CLOSE:
		return open && !s->l.c.app_closed &&
		       (!rules->polite || nothing_to_lose(p, i));
	case ABORT:
		return open && !rules->polite &&
		       (rules->linger || !s->l.c.app_closed) &&
		       !s->l.c.tcp_rst && !s->l.c.tx_abort;
	case TIMER:
		return s->l.timer && may_fail(p, move);
	case RST_FAULT:
		return open && !s->rst && may_fail(p, move);
	case LGR_FAULT:
		return !i && !p->nolink && may_fail(p, move);
	case DIE_FAULT:
	case VIOLATION_FAULT:
		return open && may_fail(p, move);
	case CONFLICT_FAULT:	/* elements are reused once they are read */
		return open && may_fail(p, move) &&
		       ((closed(peer) && !peer->unread) || peer->dead);
	default:
		return false;
	}
}

static void drop_queue(struct side *s)
{
	s->n = 0;
	memset(s->q, 0, sizeof(s->q));
}

static void fail(struct pair *p, int i, enum move move)
{
	p->faults -= move != TIMER;
	p->unsafe |= move != RST_FAULT && move != VIOLATION_FAULT;
	switch (move) {
	case TIMER:
		feed(p, i, SMCR_CONN_EV_TIMER, SMCR_R_NONE);
		break;
	case RST_FAULT:
		p->s[i].rst = true;
		break;
	case LGR_FAULT:
		p->nolink = true;
		for (i = 0; i < 2; i++) {
			drop_queue(&p->s[i]);
			p->s[i].owed = false;
		}
		break;
	case DIE_FAULT:
		p->s[i].dead = true;
		drop_queue(&p->s[!i]);
		break;
	case VIOLATION_FAULT:
		feed(p, i, SMCR_CONN_EV_VIOLATION, SMCR_R_CDC_CURSOR);
		break;
	default:
		feed(p, i, SMCR_CONN_EV_CONFLICT, SMCR_R_NONE);
	}
}

static void make(struct pair *p, int i, enum move move)
{
	struct side *s = &p->s[i];

	switch (move) {
	case POST:
		post(p, i);
		break;
	case DELIVER:
		deliver(p, i);
		break;
	case COMPLETE:
		complete(p, i);
		break;
	case TCP_RST:
		s->rst = false;
		feed(p, i, SMCR_CONN_EV_TCP_RESET, SMCR_R_NONE);
		break;
	case LINKS_GONE:
		feed(p, i, SMCR_CONN_EV_LGR_LOST, SMCR_R_LGR_DELETED);
		break;
	case WRITE:
		s->left--;
		s->unsent++;
		break;
	case READ:
		s->unread--;
		s->got++;
		if (smcr_close_may_tx(&s->l.c))
			s->owe++;
		break;
	case SHUT_WR:
		feed(p, i, SMCR_CONN_EV_APP_SHUT_WR, SMCR_R_NONE);
		break;
	case CLOSE:
		feed(p, i, SMCR_CONN_EV_APP_CLOSE, SMCR_R_NONE);
		break;
	case ABORT:
		feed(p, i, SMCR_CONN_EV_APP_ABORT, SMCR_R_NONE);
		break;
	default:
		fail(p, i, move);
	}
}

/*
 * Each move before NR_PROGRESS makes this number smaller, so that they come to
 * an end. Sends and resets yet to be ordered weigh more than what they lead to,
 * bytes more than the room that is to be announced when they are dropped.
 */
static u32 unrest(const struct pair *p)
{
	u32 sum = 0;
	int i, k;

	for (i = 0; i < 2; i++) {
		const struct side *s = &p->s[i];
		const struct smcr_close *c = &s->l.c;
		bool last = c->tx_closed || c->tx_abort;

		for (k = 0; k < s->n; k++)
			sum += 35 * s->q[k].data;

		sum += 100 * (!closed(s) + !s->l.tcp_ended + !last +
			      !(last || c->tx_done)) +
		       70 * s->unsent + 30 * (s->owe + s->owed) +
		       10 * s->rst + 8 * s->n + 2 * s->pend;
	}
	return sum;
}

/* Number of moves that led to a state at rest */
static unsigned int n_rest;

static void check_rest_side(const struct pair *p, int i)
{
	const struct side *s = &p->s[i], *peer = &p->s[!i];
	const struct smcr_close *c = &s->l.c;
	bool aborting = c->st == SMCR_CONN_ST_PEER_ABORT_WAIT ||
			c->st == SMCR_CONN_ST_PROCESS_ABORT;
	bool waits = !closed(s) && (aborting || c->app_closed);

	if (s->dead)
		return;
	MUST(!closed(s) || !s->l.timer, "timer after Closed");
	if (!p->unsafe) {
		MUST(!aborting, "abort does not end by itself");
		MUST(!waits || !peer->l.c.app_closed,
		     "both closed, but the connection is not");
		return;
	}
	if (!waits || s->l.timer)
		return;
	/*
	 * ProcessAbort: own A is not posted or completed, as the peer is dead
	 */
	MUST(peer->dead && (s->pend || s->owed), "waits without a timer");
}

static bool any_enabled(const struct pair *p, int from, int to)
{
	int i, move;

	for (i = 0; i < 2; i++)
		for (move = from; move < to; move++)
			if (enabled(p, i, move))
				return true;
	return false;
}

static bool at_rest(const struct pair *p)
{
	return !any_enabled(p, 0, NR_PROGRESS);
}

static bool over(const struct pair *p)
{
	return (closed(&p->s[0]) || p->s[0].dead) &&
	       (closed(&p->s[1]) || p->s[1].dead);
}

static void check_pair(const struct pair *p)
{
	int i;

	if (!at_rest(p))
		return;
	n_rest++;
	for (i = 0; i < 2; i++)
		check_rest_side(p, i);
	MUST(p->unsafe || over(p) || any_enabled(p, NR_PROGRESS, TIMER),
	     "dead end");
}

static void make_checked(struct pair *p, int i, enum move move)
{
	u32 before = unrest(p);

	make(p, i, move);
	MUST(move >= NR_PROGRESS || unrest(p) < before,
	     "goes on by itself for ever");
	check_pair(p);
}

static void print_pair(const struct pair *p)
{
	int i, k;

	for (i = 0; i < 2; i++) {
		const struct side *s = &p->s[i];
		const struct smcr_close *c = &s->l.c;

		printf("#   %c %s tx %d%d%d rx %d%d%d app %d want %d%d", "AB"[i],
		       smcr_conn_st_name(c->st), c->tx_done, c->tx_closed,
		       c->tx_abort, c->rx_done, c->rx_closed, c->rx_abort,
		       c->app_closed, c->want_done, c->want_closed);
		printf("; left %u unsent %u unread %u credit %u pend %u",
		       s->left, s->unsent, s->unread, s->credit, s->pend);
		printf("%s%s%s; sent:", s->owed ? " owed" : "",
		       s->rst ? " rst" : "", s->dead ? " dead" : "");
		for (k = 0; k < s->n; k++)
			printf(" %u/%u/%x", s->q[k].data, s->q[k].credit,
			       s->q[k].flags);
		printf("\n");
	}
}

/* All orders of events: states are stored packed, and found by hash */
struct packed {
	u64 w[2];
};

static struct {
	struct packed *state;
	u32 *parent;
	u8 *move;		/* move << 1 | side */
	u32 *hash;		/* index + 1 */
	u32 n;
} space;

static u64 pack_bits(u64 w, u32 val, int bits)
{
	if (val >> bits)
		abort();
	return w << bits | val;
}

static u32 unpack_bits(u64 *w, int bits)
{
	u32 val = *w & (BIT(bits) - 1);

	*w >>= bits;
	return val;
}

static u64 pack_side(const struct pair *p, int i)
{
	const struct side *s = &p->s[i];
	const struct smcr_close *c = &s->l.c;
	u64 w = 0;
	int k;

	for (k = 0; k < QUEUE; k++) {
		w = pack_bits(w, s->q[k].data, 2);
		w = pack_bits(w, s->q[k].credit, 2);
		w = pack_bits(w, s->q[k].flags, 3);
	}
	w = pack_bits(w, s->n, 2);
	w = pack_bits(w, s->left, 2);
	w = pack_bits(w, s->unsent, 2);
	w = pack_bits(w, s->unread, 2);
	w = pack_bits(w, s->credit, 2);
	w = pack_bits(w, s->owe, 2);
	w = pack_bits(w, s->pend, 2);
	w = pack_bits(w, s->owed | s->final_posted << 1 | s->rst << 2 |
		      s->dead << 3, 4);
	w = pack_bits(w, s->l.tcp_ended | s->l.failed << 1 | s->l.timer << 2,
		      3);
	w = pack_bits(w, c->tx_done | c->tx_closed << 1 | c->tx_abort << 2 |
		      c->rx_done << 3 | c->rx_closed << 4 | c->rx_abort << 5 |
		      c->app_closed << 6 | c->want_done << 7 |
		      c->want_closed << 8 | c->tcp_rst << 9, 10);
	w = pack_bits(w, c->st, 4);
	return pack_bits(w, p->faults | p->nolink << 2 | p->unsafe << 3, 4);
}

static void unpack_side(struct pair *p, int i, u64 w)
{
	struct side *s = &p->s[i];
	struct smcr_close *c = &s->l.c;
	u32 b;
	int k;

	b = unpack_bits(&w, 4);
	p->faults = b & 3;
	p->nolink = b & 4;
	p->unsafe = b & 8;
	c->st = unpack_bits(&w, 4);
	b = unpack_bits(&w, 10);
	c->tx_done = b & BIT(0);
	c->tx_closed = b & BIT(1);
	c->tx_abort = b & BIT(2);
	c->rx_done = b & BIT(3);
	c->rx_closed = b & BIT(4);
	c->rx_abort = b & BIT(5);
	c->app_closed = b & BIT(6);
	c->want_done = b & BIT(7);
	c->want_closed = b & BIT(8);
	c->tcp_rst = b & BIT(9);
	b = unpack_bits(&w, 3);
	s->l.tcp_ended = b & BIT(0);
	s->l.failed = b & BIT(1);
	s->l.timer = b & BIT(2);
	b = unpack_bits(&w, 4);
	s->owed = b & BIT(0);
	s->final_posted = b & BIT(1);
	s->rst = b & BIT(2);
	s->dead = b & BIT(3);
	s->pend = unpack_bits(&w, 2);
	s->owe = unpack_bits(&w, 2);
	s->credit = unpack_bits(&w, 2);
	s->unread = unpack_bits(&w, 2);
	s->unsent = unpack_bits(&w, 2);
	s->left = unpack_bits(&w, 2);
	s->n = unpack_bits(&w, 2);
	for (k = QUEUE - 1; k >= 0; k--) {
		s->q[k].flags = unpack_bits(&w, 3);
		s->q[k].credit = unpack_bits(&w, 2);
		s->q[k].data = unpack_bits(&w, 2);
	}
	s->got = 0;
	s->err = 0;
}

/* The two sides are alike: of a state and its mirror image only one is kept */
static struct packed pack(const struct pair *p)
{
	u64 a = pack_side(p, 0), b = pack_side(p, 1);

	return a < b ? (struct packed){ { a, b } } : (struct packed){ { b, a } };
}

static void unpack(struct pair *p, const struct packed *k)
{
	unpack_side(p, 0, k->w[0]);
	unpack_side(p, 1, k->w[1]);
}

static void space_add(const struct pair *p, u32 parent, u8 move)
{
	struct packed k = pack(p);
	u64 h = (k.w[0] * 0x9e3779b97f4a7c15ULL ^ k.w[1]) *
		0xbf58476d1ce4e5b9ULL;
	u32 at;

	for (at = (h ^ h >> 32) % HASH_SIZE; space.hash[at];
	     at = (at + 1) % HASH_SIZE)
		if (!memcmp(&space.state[space.hash[at] - 1], &k, sizeof(k)))
			return;
	if (space.n == MAX_STATES) {
		printf("# more than %u states\n", space.n);
		exit(1);
	}
	space.state[space.n] = k;
	space.parent[space.n] = parent;
	space.move[space.n] = move;
	space.hash[at] = ++space.n;
}

static void space_alloc(void)
{
	space.state = malloc(MAX_STATES * sizeof(*space.state));
	space.parent = malloc(MAX_STATES * sizeof(*space.parent));
	space.move = malloc(MAX_STATES);
	space.hash = calloc(HASH_SIZE, sizeof(*space.hash));
	if (!space.state || !space.parent || !space.move || !space.hash)
		abort();
	space.n = 0;
}

static void space_free(void)
{
	free(space.state);
	free(space.parent);
	free(space.move);
	free(space.hash);
}

/* Print the path to state @at; the sides may swap on it, see pack() */
static void print_way(u32 at)
{
	struct pair p;
	u32 way[64];
	int n = 0;

	for (; n < 64; at = space.parent[at]) {
		way[n++] = at;
		if (!at)
			break;
	}
	while (n--) {
		u8 move = space.move[way[n]];

		if (way[n])
			printf("# %c %s\n", "AB"[move & 1],
			       move_names[move >> 1]);
		unpack(&p, &space.state[way[n]]);
		print_pair(&p);
	}
}

/* All moves from state @at */
static bool expand(u32 at, u32 *n_moves)
{
	struct pair from, p;
	int i, move;

	unpack(&from, &space.state[at]);
	for (i = 0; i < 2; i++)
		for (move = 0; move < NR_MOVES; move++) {
			if (!enabled(&from, i, move))
				continue;
			p = from;
			make_checked(&p, i, move);
			++*n_moves;
			if (wrong) {
				print_way(at);
				printf("# %c %s\n", "AB"[i], move_names[move]);
				print_pair(&p);
				return false;
			}
			space_add(&p, at, move << 1 | i);
		}
	return true;
}

static void explore(const struct rules *r)
{
	u32 at, n_moves = 0;
	struct pair p;

	rules = r;
	wrong = NULL;
	n_rest = 0;
	space_alloc();
	pair_init(&p);
	space_add(&p, 0, 0);
	for (at = 0; at < space.n; at++)
		if (!expand(at, &n_moves))
			break;
	printf("# %s: %u states, %u moves, %u of them to rest\n",
	       r->name, space.n, n_moves, n_rest);
	KTAP_CHECK(!wrong, 0, "%s", wrong);
	space_free();
}

/* A close with nothing to lose causes no error, and no byte is lost */
TEST(close_model__polite)
{
	static const struct rules all[] = {
		{ .name = "window 2", .writes = 2, .window = 2, .polite = true },
		{ .name = "window 1", .writes = 2, .window = 1, .polite = true },
	};

	explore(&all[0]);
	explore(&all[1]);
}

TEST(close_model__free)
{
	static const struct rules all[] = {
		{ .name = "window 2", .writes = 2, .window = 2 },
		{ .name = "window 1", .writes = 2, .window = 1, .linger = true },
	};

	explore(&all[0]);
	explore(&all[1]);
}

TEST(close_model__faults)
{
	static const struct rules all[] = {
		{ .name = "one fault", .writes = 1, .window = 1, .faults = 1,
		  .may_fail = ALL_FAULTS, .linger = true },
		{ .name = "death, window full", .writes = 2, .window = 1,
		  .faults = 1, .may_fail = BIT(DIE_FAULT) },
	};

	explore(&all[0]);
	explore(&all[1]);
}

static bool pick(const struct pair *p, u32 moves, int *side, enum move *move)
{
	u8 found[2 * NR_MOVES];
	u32 i, n = 0;

	for (i = 0; i < 2 * NR_MOVES; i++)
		if ((moves & BIT(i / 2)) && enabled(p, i & 1, i / 2))
			found[n++] = i;
	if (!n)
		return false;
	i = found[rnd(n)];
	*side = i & 1;
	*move = i / 2;
	return true;
}

#define PROGRESS	(BIT(NR_PROGRESS) - 1)

/* Both applications read and close, everything arrives; then timers expire */
static u32 finish(struct pair *p)
{
	u32 n = 0;
	enum move move;
	int i;

	p->s[0].left = 0;
	p->s[1].left = 0;
	while (!wrong) {
		if (pick(p, PROGRESS, &i, &move) ||
		    pick(p, BIT(READ) | BIT(CLOSE), &i, &move)) {
			make_checked(p, i, move);
			n++;
			continue;
		}
		if (over(p))
			break;
		for (i = 0; i < 2; i++)
			if (p->s[i].l.timer && !p->s[i].dead)
				break;
		MUST(p->unsafe, "needs a timer to end");
		if (i < 2) {
			feed(p, i, SMCR_CONN_EV_TIMER, SMCR_R_NONE);
		} else {
			MUST(p->s[0].dead || p->s[1].dead, "does not end");
			fail(p, 0, LGR_FAULT);
		}
	}
	return n;
}

TEST(close_model__storm)
{
	struct rules r = { .name = "storm", .linger = true };
	u32 n = 0, lives = 0, n_faults = 0, moves, k;
	struct pair p, before;
	enum move move;
	int i;

	rules = &r;
	wrong = NULL;
	while (n < STORM_EVENTS && !wrong) {
		r.writes = rnd(30);
		r.window = rnd_in(1, 5);
		r.faults = rnd_bool() ? rnd(4) : 0;
		r.may_fail = r.faults ? rnd(BIT(NR_MOVES)) & ALL_FAULTS : 0;
		r.polite = !r.faults && rnd_bool();
		pair_init(&p);
		before = p;
		path[0][0] = 0;
		path[1][0] = 0;
		for (k = rnd(200); k && !wrong; k--, n++) {
			moves = BIT(NR_MOVES) - 1;
			/* seldom, so that some connections last */
			if (rnd(8))
				moves &= ~(BIT(SHUT_WR) | BIT(CLOSE) |
					   BIT(ABORT) | ALL_FAULTS);
			if (!pick(&p, moves, &i, &move) &&
			    !pick(&p, BIT(NR_MOVES) - 1, &i, &move))
				break;
			before = p;
			make_checked(&p, i, move);
			n_faults += move > ABORT;
		}
		if (wrong) {
			print_pair(&before);
			printf("# %c %s\n", "AB"[i], move_names[move]);
		} else {
			n += finish(&p);
		}
		lives++;
	}
	if (wrong)
		print_pair(&p);
	KTAP_CHECK(!wrong, 0, "connection %u: %s;%s /%s", lives, wrong,
		   path[0], path[1]);
	EXPECT_LE(STORM_EVENTS, n);
	printf("# %u events, %u connections, %u faults\n", n, lives, n_faults);
}

static void settle(struct pair *p)
{
	int i, move;

again:
	for (move = 0; move < NR_PROGRESS; move++)
		for (i = 0; i < 2; i++)
			if (enabled(p, i, move)) {
				make_checked(p, i, move);
				goto again;
			}
}

static void must_make(struct pair *p, int i, enum move move)
{
	KTAP_CHECK(enabled(p, i, move), 1, "%c cannot %s", "LP"[i],
		   move_names[move]);
	make_checked(p, i, move);
}

/*
 * @script: L or P, then moves of that side; '.': all that is on its way arrives
 */
static void play(struct pair *p, const char *script)
{
	static const char letters[] = "wrscaxtpdk";
	static const enum move moves[] = {
		WRITE, READ, SHUT_WR, CLOSE, ABORT, DIE_FAULT, TIMER, POST,
		DELIVER, COMPLETE,
	};
	int i = 0;

	for (; *script; script++) {
		if (*script == 'L' || *script == 'P')
			i = *script == 'P';
		else if (*script == '.')
			settle(p);
		else
			must_make(p, i, moves[strchr(letters, *script) -
					      letters]);
	}
}

/* "Combination check" of Part D, row by row */
TEST(close_model__combinations)
{
	static const struct rules r = {
		.name = "script", .writes = 3, .window = 1, .faults = 1,
		.may_fail = BIT(DIE_FAULT) | BIT(TIMER),
	};
	static const struct {
		const char *script;
		const char *local;
		const char *peer;
	} rows[] = {
		{ "Lc.Pc.",
		  " PeerCloseWait1 Closed", " AppCloseWait1 Closed" },
		{ "Lc.Ps.Pc.",
		  " PeerCloseWait1 PeerCloseWait2 Closed",
		  " AppCloseWait1 AppCloseWait2 Closed" },
		{ "Ls.Pc.Lc.",
		  " PeerCloseWait1 AppFinCloseWait Closed",
		  " AppCloseWait1 PeerFinCloseWait Closed" },
		{ "Ls.Ps.Lc.Pc.",
		  " PeerCloseWait1 PeerCloseWait2 Closed",
		  " AppCloseWait1 AppCloseWait2 Closed" },
		{ "Ls.Ps.Pc.Lc.",
		  " PeerCloseWait1 PeerCloseWait2 AppFinCloseWait Closed",
		  " AppCloseWait1 AppCloseWait2 PeerFinCloseWait Closed" },
		{ "Lspkcp.Pc.",
		  " PeerCloseWait1 Closed", " AppCloseWait1 Closed" },
		{ "LcPc.",
		  " PeerCloseWait1 Closed", " PeerCloseWait1 Closed" },
		{ "LsPs.LcPc.",
		  " PeerCloseWait1 PeerCloseWait2 Closed",
		  " PeerCloseWait1 PeerCloseWait2 Closed" },
		{ "Pw.Lc.",
		  " PeerAbortWait Closed", " ProcessAbort Closed" },
		/* the peer has received C: it need not wait (I-28) */
		{ "Pwpw.LrcpPd.",
		  " PeerCloseWait1 Closed", " Closed" },
		{ "LaPa.",
		  " PeerAbortWait Closed", " PeerAbortWait Closed" },
		{ "Lc.PxLt",
		  " PeerCloseWait1 Closed", " AppCloseWait1" },
		{ "LaPxLt",
		  " PeerAbortWait Closed", "" },
		/* pending closes */
		{ "LwscPc.",
		  " AppCloseWait1 Closed", " PeerCloseWait1 Closed" },
		/*
		 * data that arrive meanwhile are dropped, even if P never reads
		 */
		{ "Lw.w.cPw.w.r.r.c.",
		  " PeerCloseWait1 Closed", " AppCloseWait1 Closed" },
		{ "Lw.w.cPw.Lt.",
		  " PeerAbortWait Closed", " ProcessAbort Closed" },
		/* two closes with full windows do not wait for each other */
		{ "LwwPwwLpPpLcPc.",
		  " PeerCloseWait1 Closed", " AppCloseWait1 Closed" },
		/* the peer reads the data in time, or never */
		{ "Lw.w.cPr.Pr.c.",
		  " PeerCloseWait1 Closed", " AppCloseWait1 Closed" },
		{ "Lw.w.cLt.",
		  " PeerAbortWait Closed", " ProcessAbort Closed" },
		{ "Lw.w.cPxLt",
		  " PeerAbortWait", "" },
		/* a read after the peer has ended still gets everything */
		{ "Lw.c.Lt.Pr",
		  " PeerCloseWait1 Closed", " AppCloseWait1 Closed" },
		{ "Ps.Lw.c.Lt.Pr",
		  " AppCloseWait1 PeerFinCloseWait Closed",
		  " PeerCloseWait1 AppFinCloseWait Closed" },
		/* also when own data cannot be sent any more */
		{ "Lw.Pw.w.LrcpPdPr.", " PeerCloseWait1 Closed", " Closed" },
	};
	struct pair p;
	unsigned int i;

	rules = &r;
	wrong = NULL;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		pair_init(&p);
		path[0][0] = 0;
		path[1][0] = 0;
		play(&p, rows[i].script);
		KTAP_CHECK(!wrong, 0, "%s: %s", rows[i].script, wrong);
		KTAP_CHECK(!strcmp(path[0], rows[i].local) &&
			   !strcmp(path[1], rows[i].peer), 0,
			   "%s:%s /%s, not%s /%s", rows[i].script, path[0],
			   path[1], rows[i].local, rows[i].peer);
	}
}

/* CONN-39: what the side @who does, with these data on their way */
struct cell {
	int who;
	enum move what;		/* SHUT_WR, CLOSE or ABORT */
	bool out;		/* @who has written, the peer has not read */
	bool in;		/* the peer has written, @who has not read */
	bool full;		/* written is more than the window takes */
};

static void set_up(struct pair *p, const struct cell *c)
{
	int i, k;

	pair_init(p);
	for (i = 0; i < 2; i++) {
		bool writes = i == c->who ? c->out : c->in;

		for (k = 0; writes && k < (c->full ? 4 : 2); k++) {
			must_make(p, i, WRITE);
			settle(p);
		}
		p->s[i].left = 0;
	}
}

/* A step of an application that only reads, and closes at the end of data */
static bool app_goes_on(struct pair *p, int i)
{
	struct side *s = &p->s[i];
	const struct smcr_close *c = &s->l.c;

	if (enabled(p, i, READ)) {
		make_checked(p, i, READ);
		return true;
	}
	/* after the end of data, or an error */
	if (enabled(p, i, CLOSE) && (c->rx_done || c->rx_closed || s->err)) {
		make_checked(p, i, CLOSE);
		return true;
	}
	return false;
}

static void run_cell(const struct cell *c)
{
	bool reset = c->what == ABORT || (c->what == CLOSE && c->in);
	struct side *who, *peer;
	struct pair p;
	enum move move;
	int i;

	set_up(&p, c);
	who = &p.s[c->who];
	peer = &p.s[!c->who];
	must_make(&p, c->who, c->what);
	do {
		i = rnd(2);
		if (rnd_bool() || !app_goes_on(&p, i))
			if (pick(&p, PROGRESS, &i, &move))
				make_checked(&p, i, move);
	} while (!wrong && !(at_rest(&p) && !app_goes_on(&p, 0) &&
			     !app_goes_on(&p, 1)));

	/* as on TCP: an abort, or a close with unread data, resets the peer */
	EXPECT_TRUE(over(&p));
	EXPECT_EQ(who->err, 0);
	EXPECT_EQ(peer->err, reset ? ECONNRESET : 0);
	EXPECT_EQ(who->l.c.tcp_rst, reset);
	if (!reset) {
		EXPECT_FALSE(peer->l.c.tcp_rst);
		EXPECT_EQ(peer->got, !c->out ? 0 : c->full ? 4 : 2);
		EXPECT_EQ(who->got, !c->in ? 0 : c->full ? 4 : 2);
	}
	KTAP_CHECK(!wrong, 0, "%s by %s, out %d in %d full %d: %s",
		   move_names[c->what], c->who ? "server" : "client", c->out,
		   c->in, c->full, wrong);
}

TEST(close_model__matrix)
{
	static const struct rules r = {
		.name = "matrix", .writes = 4, .window = 2,
	};
	u32 i, k;

	rules = &r;
	wrong = NULL;
	for (i = 0; i < 48; i++)
		for (k = 0; k < MATRIX_RUNS && !ktap.n_fail; k++) {
			const struct cell c = {
				.who = i & 1,
				.what = SHUT_WR + i / 16,
				.out = i & 2,
				.in = i & 4,
				.full = i & 8,
			};

			run_cell(&c);
		}
	printf("# %u cells, %u runs of each\n", i, MATRIX_RUNS);
}
