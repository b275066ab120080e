/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection between two model peers, made of the core only: ring positions,
 * send plans, window updates and the CDC codec. A few lines replace the locks,
 * queues and work requests of the kernel shell, so that the protocol itself can
 * be tested: it must carry every byte, and a writer must not go on waiting when
 * the reader has made space.
 *
 * The wire is an ordered queue of RDMA writes and CDC messages for each
 * direction; a test delivers its items at any time. The bytes of a stream
 * follow from their position, so no copy of them has to be kept.
 */
#ifndef _SMCR_UNIT_MODEL_H
#define _SMCR_UNIT_MODEL_H

#include "ktap.h"

#include "cdc.h"
#include "urgent.h"
#include "window.h"

/* Rules that a test may break, to check that it detects that */
enum {
	BREAK_LATE_B	= 1 << 0,	/* CDC-33: B only together with data */
	BREAK_B_UPDATE	= 1 << 1,	/* CDC-26: B changes nothing */
	BREAK_B_ARRIVAL	= 1 << 2,	/* no update when a B arrives */
	BREAK_HALF_CDC	= 1 << 3,	/* CDC-18: cursor ahead of the writes */
};

struct item {
	bool is_cdc;
	u32 dst;		/* RDMA write */
	u32 len;
	u64 abs;		/* position of the data in the stream */
	u8 cdc[SMCR_WR_LEN];
};

enum { WIRE_MAX = 1024 };

struct wire {
	struct item item[WIRE_MAX];
	u32 head, n;
};

struct peer {
	const char *name;
	u32 breaks;		/* BREAK_* */
	struct wire *out;
	u64 stream;		/* seed of the bytes that this side sends */

	/* sending: the peer's element */
	struct smcr_ring tx;
	struct smcr_pos prod;
	struct smcr_pos peer_cons;
	u64 written;		/* by the application */
	struct smcr_urg_tx urg_tx;
	bool b_sent;		/* B in the last CDC */
	u16 seq;
	u32 n_cdc;

	/* receiving: the own element */
	struct smcr_ring rx;
	u8 *mem;
	u64 peer_stream;
	struct smcr_pos peer_prod;
	struct smcr_pos cons;
	struct smcr_pos ackable;	/* ahead of @cons at an urgent byte */
	u64 announced;		/* consumer position in the last CDC */
	bool inlined;		/* SO_OOBINLINE */
	bool peer_b;
	bool peer_asks;
	struct smcr_urg_rx urg;
	u32 n_news;		/* number of SIGURG */
	u32 n_kept;		/* urgent bytes that @ackable has passed */
	u16 peer_seq;
	u32 n_dup;

	/* trace of what was sent, or NULL */
	char *trace;
	size_t trace_len;
};

static inline u8 stream_byte(u64 stream, u64 abs)
{
	u64 z = (stream ^ abs >> 3) * 0x9e3779b97f4a7c15ULL;

	return (u8)((z ^ z >> 29) >> (abs & 7) * 7);
}

static inline struct item *wire_add(struct wire *w)
{
	if (w->n == WIRE_MAX)
		abort();
	return &w->item[(w->head + w->n++) % WIRE_MAX];
}

static inline struct item *wire_take(struct wire *w)
{
	struct item *item = &w->item[w->head];

	w->head = (w->head + 1) % WIRE_MAX;
	w->n--;
	return item;
}

static inline void peer_trace(struct peer *p, const char *fmt, u32 a, u32 b)
{
	if (p->trace)
		p->trace_len += snprintf(p->trace + p->trace_len, 40, fmt, a, b);
}

static inline u64 peer_unsent(const struct peer *p)
{
	return p->written - p->prod.abs;
}

static inline u32 peer_unread(const struct peer *p)
{
	return (u32)(p->peer_prod.abs - p->cons.abs);
}

static inline void peer_init(struct peer *p, const char *name, u64 stream,
			     struct smcr_ring rx)
{
	memset(p, 0, sizeof(*p));
	p->name = name;
	p->stream = stream;
	p->rx = rx;
	p->mem = malloc(rx.size);
	p->out = calloc(1, sizeof(*p->out));
	if (!p->mem || !p->out)
		abort();
	memset(p->mem, 0xec, rx.base);
	memset(p->mem + rx.base, 0, smcr_ring_cap(&rx));
}

static inline void peers_connect(struct peer *a, struct peer *b)
{
	a->tx = b->rx;
	b->tx = a->rx;
	a->peer_stream = b->stream;
	b->peer_stream = a->stream;
}

static inline void peer_exit(struct peer *p)
{
	free(p->mem);
	free(p->out);
}

static inline void peer_send_cdc(struct peer *p)
{
	struct smcr_tx_plan plan;
	struct smcr_cdc cdc;
	struct item *item;

	/* max 0: plans no data, but reports whether the window is closed */
	smcr_tx_plan(&p->tx, &p->prod, p->peer_cons.abs,
		     smcr_urg_tx_may(&p->urg_tx, p->prod.abs, peer_unsent(p)),
		     0, &plan);

	memset(&cdc, 0, sizeof(cdc));
	cdc.seq = ++p->seq;
	cdc.token = 0xcafe;
	cdc.prod = smcr_pos_cursor(&p->tx, &p->prod);
	cdc.cons = smcr_pos_cursor(&p->rx, &p->ackable);
	if (plan.blocked)
		cdc.pflags |= SMCR_CDC_B;
	cdc.pflags |= smcr_urg_tx_flags(&p->urg_tx, p->prod.abs);

	smcr_urg_tx_sent(&p->urg_tx, p->prod.abs, p->peer_cons.abs);
	p->announced = p->ackable.abs;
	p->b_sent = plan.blocked;
	p->n_cdc++;
	item = wire_add(p->out);
	item->is_cdc = true;
	smcr_cdc_encode(&cdc, item->cdc);
	peer_trace(p, "C %u/%u", cdc.prod.count, cdc.prod.wrap);
	peer_trace(p, " %u/%u", cdc.cons.count, cdc.cons.wrap);
	peer_trace(p, cdc.pflags ? " %02x\n" : "\n", cdc.pflags, 0);
}

/* Send up to @max bytes; false if there is nothing (more) to do */
static inline bool peer_push(struct peer *p, u32 max)
{
	u64 unsent = smcr_urg_tx_may(&p->urg_tx, p->prod.abs, peer_unsent(p));
	struct smcr_tx_plan plan;
	u8 i;

	smcr_tx_plan(&p->tx, &p->prod, p->peer_cons.abs, unsent, max, &plan);
	if (!plan.len) {
		/* CDC-33, CDC-39 */
		if ((plan.blocked && !p->b_sent &&
		     !(p->breaks & BREAK_LATE_B)) ||
		    smcr_urg_tx_due(&p->urg_tx, p->prod.abs)) {
			peer_send_cdc(p);
			return true;
		}
		return false;
	}

	for (i = 0; i < plan.n_seg; i++) {
		struct item *item = wire_add(p->out);

		item->is_cdc = false;
		item->dst = plan.seg[i].dst;
		item->len = plan.seg[i].len;
		item->abs = p->prod.abs;
		smcr_pos_add(&p->tx, &p->prod, item->len);
		peer_trace(p, "W %u+%u\n", item->dst, item->len);
		if (p->breaks & BREAK_HALF_CDC && !i && plan.n_seg == 2) {
			struct smcr_pos was = p->prod;

			smcr_pos_add(&p->tx, &p->prod, plan.seg[1].len);
			peer_send_cdc(p);
			p->prod = was;
		}
	}
	peer_send_cdc(p);
	return true;
}

/* The application writes; @urgent: the last byte is */
static inline void peer_write(struct peer *p, u32 n, bool urgent)
{
	p->written += n;
	if (urgent)
		smcr_urg_tx_queue(&p->urg_tx, p->written);
}

/* Announce the consumer position if an update is due */
static inline bool peer_update(struct peer *p)
{
	struct smcr_rx_window win = {
		.cap = smcr_ring_cap(&p->rx),
		.prod_abs = p->peer_prod.abs,
		.cons_abs = p->ackable.abs,
		.announced_abs = p->announced,
		.peer_blocked = p->peer_b && !(p->breaks & BREAK_B_UPDATE),
		.peer_asks = p->peer_asks ||
			     smcr_urg_rx_owed(&p->urg, p->announced,
					      p->ackable.abs),
	};

	if (!smcr_rx_update_due(&win))
		return false;
	peer_send_cdc(p);
	return true;
}

static inline void peer_settle(struct peer *p)
{
	if (p->ackable.abs < p->cons.abs)
		p->ackable = p->cons;
	if (smcr_urg_rx_settle(&p->urg, p->cons.abs, p->ackable.abs, p->inlined)) {
		smcr_pos_add(&p->rx, &p->ackable, 1);
		p->n_kept++;
	}
}

/* The application reads and compares; false if the data are wrong */
static inline bool peer_read(struct peer *p, u32 n)
{
	bool ok = true;
	u32 i;

	for (i = 0; i < n; i++) {
		u32 off = (p->cons.off + i) % smcr_ring_cap(&p->rx);

		/* passed already: the peer may have overwritten it */
		if (p->cons.abs + i < p->ackable.abs) {
			if (p->urg.state == SMCR_URG_PRESENT &&
			    p->urg.mark == p->cons.abs + i)
				ok &= p->urg.byte ==
				      stream_byte(p->peer_stream, p->urg.mark);
			continue;
		}
		ok &= p->mem[p->rx.base + off] ==
		      stream_byte(p->peer_stream, p->cons.abs + i);
		/* a byte is delivered once */
		p->mem[p->rx.base + off] = (u8)~p->mem[p->rx.base + off];
	}
	for (i = n; i > smcr_ring_cap(&p->rx); i -= smcr_ring_cap(&p->rx))
		smcr_pos_add(&p->rx, &p->cons, smcr_ring_cap(&p->rx));
	smcr_pos_add(&p->rx, &p->cons, i);
	peer_settle(p);
	peer_update(p);
	return ok;
}

/* An item of the wire arrives; false if it breaks a rule */
static inline bool peer_deliver(struct peer *p, const struct item *item,
				const struct peer *from)
{
	enum smcr_reason why;
	struct smcr_cdc cdc;
	int ev;
	u32 i;

	if (!item->is_cdc) {
		if (item->dst < p->rx.base || item->dst >= p->rx.size ||
		    item->len > p->rx.size - item->dst)
			return false;
		for (i = 0; i < item->len; i++)
			p->mem[item->dst + i] = stream_byte(from->stream,
							    item->abs + i);
		return true;
	}

	if (smcr_cdc_decode(item->cdc, SMCR_WR_LEN, &cdc, &why) ||
	    cdc.token != 0xcafe)
		return false;
	if (!smcr_seq_after(cdc.seq, p->peer_seq)) {
		p->n_dup++;
		return true;
	}
	p->peer_seq = cdc.seq;
	if (smcr_pos_apply(&p->rx, &p->peer_prod, cdc.prod,
			   p->ackable.abs + smcr_ring_cap(&p->rx)) < 0 ||
	    smcr_pos_apply(&p->tx, &p->peer_cons, cdc.cons, p->prod.abs) < 0)
		return false;
	p->peer_b = cdc.pflags & SMCR_CDC_B;
	p->peer_asks = cdc.pflags & SMCR_CDC_R;
	smcr_urg_tx_acked(&p->urg_tx, p->peer_cons.abs);
	ev = smcr_urg_rx_flags(&p->urg, cdc.pflags, p->peer_prod.abs,
			       p->ackable.abs);
	if (ev < 0)
		return false;
	p->n_news += !!(ev & SMCR_URG_EV_NEWS);
	if (ev & SMCR_URG_EV_BYTE) {
		i = p->peer_prod.off ?: smcr_ring_cap(&p->rx);
		p->urg.byte = p->mem[p->rx.base + i - 1];
		/* I-39: the cursor is one behind the byte, which has arrived */
		if (p->urg.byte != stream_byte(from->stream, p->urg.mark))
			return false;
	}
	peer_settle(p);
	/*
	 * What was consumed and not announced is announced now only if the peer
	 * asks for it; the thresholds apply when something is consumed (Figure
	 * 18: one update, not two).
	 */
	if ((p->peer_b || p->peer_asks ||
	     smcr_urg_rx_owed(&p->urg, p->announced, p->ackable.abs)) &&
	    !(p->breaks & BREAK_B_ARRIVAL))
		peer_update(p);
	return true;
}

#endif /* _SMCR_UNIT_MODEL_H */
