// SPDX-License-Identifier: GPL-2.0-only
/* RTokens of a peer: lgr/rtoken.c, compared with a list that is searched. */
#include "lgr/lgr.h"
#include "lgr/rtoken.h"
#include "shell/shell.h"

struct ref {
	bool taken, confirmed;
	u16 used, known;
	u32 rkey[SMCR_SLOTS];
	u64 va[SMCR_SLOTS];
};

static struct ref ref[SMCR_RMBS_MAX];
static struct smcr_link links[SMCR_SLOTS];
static int begun;		/* index of a CONFIRM RKEY whose last message is due, or -1 */

static bool is(const struct ref *r, u8 slot, u32 rkey)
{
	return r->taken && r->known & BIT(slot) && r->rkey[slot] == rkey;
}

static void tell_ref(struct ref *r, u8 slot, u32 rkey, u64 va)
{
	r->known |= BIT(slot);
	r->rkey[slot] = rkey;
	r->va[slot] = va;
}

static int find_at(u8 slot, u32 rkey, u64 va)
{
	int i;

	for (i = 0; i < SMCR_RMBS_MAX; i++)
		if (is(&ref[i], slot, rkey) && ref[i].va[slot] == va)
			return i;
	return -ENOENT;
}

static bool any(u8 slot, u32 rkey)
{
	int i;

	for (i = 0; i < SMCR_RMBS_MAX; i++)
		if (ref[i].confirmed && is(&ref[i], slot, rkey))
			return true;
	return false;
}

static bool full(void)
{
	int i;

	for (i = 0; i < SMCR_RMBS_MAX; i++)
		if (!ref[i].taken)
			return false;
	return true;
}

#define same(what, got, want) do {					\
	if ((got) != (want))						\
		bad("%s: %d for %d", what, (int)(got), (int)(want));	\
} while (0)

static void keep(struct ref *r)
{
	r->taken = r->confirmed || r->used || r - ref == begun;
}

/* The last message of a CONFIRM RKEY; not @ok: it is missing */
static void end(struct smcr_lgr *lgr, bool ok)
{
	int i = begun;

	if (i < 0)
		return;
	begun = -1;
	smcr_lgr_end_rtoken(lgr, i, ok);
	ref[i].confirmed |= ok;
	keep(&ref[i]);
}

/* CONFIRM RKEY; calls before its last message may be about the same RMB */
static void add(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va)
{
	int at, i;

	end(lgr, !chance(4));
	at = find_at(slot, rkey, va);
	same("fits", smcr_lgr_rtoken_fits(lgr, slot, rkey, va), at >= 0 || !full());
	i = smcr_lgr_begin_rtoken(lgr, slot, rkey, va);
	if (at < 0 && full()) {
		same("no room", i, -ENOSPC);
		return;
	}
	if (at >= 0)
		same("known", i, at);
	else if (i < 0 || ref[i].taken)
		bad("index %d is not free", i);
	else
		same("begun", smcr_lgr_use_rtoken(lgr, &links[slot], rkey, va, 64), -ENOENT);
	if (at < 0)
		ref[i] = (struct ref){ .taken = true };
	tell_ref(&ref[i], slot, rkey, va);
	begun = i;
	if (chance(2))
		end(lgr, !chance(4));
}

static void find(struct smcr_lgr *lgr, u8 slot, u32 rkey, bool withdraw)
{
	int i = smcr_lgr_find_rtoken(lgr, slot, rkey);

	same("found", i >= 0, any(slot, rkey));
	same("known", smcr_lgr_rtoken_known(lgr, slot, rkey, false), i >= 0);
	if (i >= 0 && !(ref[i].confirmed && is(&ref[i], slot, rkey)))
		bad("found another one");
	if (i >= 0)
		same("unused", smcr_lgr_rtoken_known(lgr, slot, rkey, true), !ref[i].used);
	if (!withdraw)
		return;
	smcr_lgr_del_rtoken(lgr, slot, rkey);
	if (i < 0)
		return;
	ref[i].confirmed = false;
	keep(&ref[i]);
}

static void use(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va)
{
	int at = find_at(slot, rkey, va);

	if (at >= 0 && !ref[at].confirmed)
		at = -ENOENT;
	same("used", smcr_lgr_use_rtoken(lgr, &links[slot], rkey, va, 64), at);
	if (at >= 0)
		ref[at].used++;
}

static void other(struct smcr_lgr *lgr, struct ref *r, u8 slot, u32 rkey, u64 va)
{
	u32 key;
	u64 addr;
	int rc = smcr_lgr_rtoken_on(lgr, r - ref, slot, &key, &addr);

	if (!r->taken)
		return;
	same("on", rc, r->known & BIT(slot) ? 0 : -ENOENT);
	if (!rc && (key != r->rkey[slot] || addr != r->va[slot]))
		bad("it is another one on the link");
	/* one RMB per key and address, as with a correct peer */
	if (find_at(slot, rkey, va) < 0 && chance(2)) {
		smcr_lgr_record_rtoken(lgr, r - ref, slot, rkey, va);
		tell_ref(r, slot, rkey, va);
	} else if (r->used) {
		smcr_lgr_unuse_rtoken(lgr, r - ref);
		r->used--;
		keep(r);
	}
}

static void forget(struct smcr_lgr *lgr, u8 slot)
{
	int i;

	smcr_lgr_forget_slot(lgr, slot);
	for (i = 0; i < SMCR_RMBS_MAX; i++)
		ref[i].known &= ~BIT(slot);
}

/**
 * rtokens_run() - task that makes random calls in random order
 * @arg: not used
 * @n: number of calls
 */
void rtokens_run(void *arg, int n)
{
	struct smcr_lgr *lgr = kmem(sizeof(*lgr), __func__);
	u32 keys = 4 + pick(chance(2) ? 500 : 20);
	u8 slot, slots = 1 + pick(3);

	memset(ref, 0, sizeof(ref));
	begun = -1;
	spin_lock_init(&lgr->lock);
	lgr->st = SMCR_LGR_ST_ACTIVE;
	lgr->rtok.all = kmem(sizeof(*lgr->rtok.all), __func__);
	for (slot = 0; slot < SMCR_SLOTS; slot++) {
		links[slot].slot = slot;
		lgr->slot[slot].link = &links[slot];
	}
	while (n--) {
		u32 rkey = pick(keys) * 0x101;
		u64 va = 0x1000 * (1 + pick(2));

		slot = pick(slots);
		switch (pick(chance(30) ? 7 : 6)) {
		case 0:
		case 1:
			add(lgr, slot, rkey, va);
			break;
		case 2:
		case 3:
			find(lgr, slot, rkey, chance(keys > 100 ? 4 : 1));
			break;
		case 4:
			use(lgr, slot, rkey, va);
			break;
		case 5:
			other(lgr, &ref[pick(SMCR_RMBS_MAX)], slot, rkey, va);
			break;
		default:
			forget(lgr, slot);
		}
	}
	kfree(lgr->rtok.all);
	kfree(lgr);
}
