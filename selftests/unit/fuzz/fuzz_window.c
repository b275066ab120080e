// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target of cursors and windows: a connection with a hostile peer. Its
 * cursors and flags, and the calls of the application, come from the input.
 * Whatever they are, no access may be outside of the rings.
 */
#include "fuzz.h"

#include "cursor.h"
#include "window.h"

static void must_be_pos(const struct smcr_ring *ring,
			const struct smcr_pos *pos)
{
	u32 cap = smcr_ring_cap(ring);
	struct smcr_cursor cur = smcr_pos_cursor(ring, pos);

	MUST(pos->off == pos->abs % cap);
	MUST(pos->wrap == (u16)(pos->abs / cap));
	MUST(cur.count >= ring->base && cur.count < ring->size);
}

static void start_at(const struct smcr_ring *ring, struct smcr_pos *pos,
		     u64 abs)
{
	u32 cap = smcr_ring_cap(ring);

	pos->abs = abs;
	pos->off = (u32)(abs % cap);
	pos->wrap = (u16)(abs / cap);
}

static struct smcr_ring geometry(struct fuzz_in *in)
{
	u8 kind = fuzz_u8(in);
	struct smcr_ring ring = { .base = kind & 1 ? 4 : 0 };

	ring.size = kind & 2 ? 16384U << (kind >> 2) % 6 :
			       ring.base + 1 + (kind >> 2);
	return ring;
}

static void must_be_plan(const struct smcr_ring *ring,
			 const struct smcr_pos *prod, u64 cons_abs,
			 const struct smcr_tx_plan *plan)
{
	u64 used = prod->abs - cons_abs;
	u32 sum = 0, i;

	MUST(plan->n_seg <= 2);
	MUST(plan->len <= smcr_ring_cap(ring) - used);
	for (i = 0; i < plan->n_seg; i++) {
		MUST(plan->seg[i].len);
		MUST(plan->seg[i].dst >= ring->base);
		MUST(plan->seg[i].dst < ring->size);
		MUST(plan->seg[i].len <= ring->size - plan->seg[i].dst);
		sum += plan->seg[i].len;
	}
	MUST(sum == plan->len);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_in in = { data, len };
	struct smcr_ring tx = geometry(&in), rx = geometry(&in);
	struct smcr_pos prod, peer_cons, peer_prod, cons;
	struct smcr_rx_window win = { .cap = smcr_ring_cap(&rx) };
	struct smcr_tx_plan plan;
	u64 unsent = 0;

	start_at(&tx, &prod, (u64)fuzz_u16(&in) << (fuzz_u8(&in) & 31));
	peer_cons = prod;
	start_at(&rx, &peer_prod, (u64)fuzz_u16(&in) << (fuzz_u8(&in) & 31));
	cons = peer_prod;
	win.announced_abs = cons.abs;

	while (in.left) {
		u8 op = fuzz_u8(&in);
		struct smcr_cursor cur;
		struct smcr_pos was;
		u32 n;
		int rc;

		switch (op % 6) {
		case 0:
			unsent += fuzz_u16(&in);
			break;
		case 1:
			smcr_tx_plan(&tx, &prod, peer_cons.abs, unsent,
				     op & 0x80 ? ~0U : fuzz_u16(&in), &plan);
			must_be_plan(&tx, &prod, peer_cons.abs, &plan);
			smcr_pos_add(&tx, &prod, plan.len);
			unsent -= plan.len;
			break;
		case 2:
		case 3:
			/* a cursor near the last one, or any */
			cur = smcr_pos_cursor(op % 6 == 2 ? &rx : &tx,
					      op % 6 == 2 ? &peer_prod :
							    &peer_cons);
			cur.wrap = op & 0x80 ? fuzz_u16(&in) :
					       cur.wrap + (op >> 3 & 1);
			cur.count = op & 0x40 ? fuzz_u32(&in) :
						cur.count + fuzz_u16(&in);
			was = op % 6 == 2 ? peer_prod : peer_cons;
			if (op % 6 == 2)
				rc = smcr_pos_apply(&rx, &peer_prod, cur,
						    cons.abs + win.cap);
			else
				rc = smcr_pos_apply(&tx, &peer_cons, cur,
						    prod.abs);
			if (rc < 0)
				MUST(!memcmp(&was, op % 6 == 2 ? &peer_prod :
					     &peer_cons, sizeof(was)));
			break;
		case 4:
			n = (u32)(peer_prod.abs - cons.abs);
			n = n < fuzz_u16(&in) ? n : n / (1 + (op >> 3));
			smcr_pos_add(&rx, &cons, n);
			break;
		case 5:
			win.prod_abs = peer_prod.abs;
			win.cons_abs = cons.abs;
			win.peer_blocked = op & 0x80;
			win.peer_asks = op & 0x40;
			if (smcr_rx_update_due(&win)) {
				MUST(win.announced_abs != cons.abs);
				win.announced_abs = cons.abs;
			}
			break;
		}
		must_be_pos(&tx, &prod);
		must_be_pos(&tx, &peer_cons);
		must_be_pos(&rx, &peer_prod);
		must_be_pos(&rx, &cons);
		MUST(prod.abs - peer_cons.abs <= smcr_ring_cap(&tx));
		MUST(peer_prod.abs - cons.abs <= win.cap);
		MUST(cons.abs - win.announced_abs <= (1ULL << 62));
	}
	return 0;
}
