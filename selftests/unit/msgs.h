/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Golden vectors by name, and random messages that a peer could send. All of a
 * structure that is not set is zero, padding included, as the decoders leave
 * it: whole structures can be compared with EXPECT_MEM().
 */
#ifndef _SMCR_UNIT_MSGS_H
#define _SMCR_UNIT_MSGS_H

#include "ktap.h"
#include "vectors.h"

#include "cdc.h"
#include "clc.h"
#include "llc.h"

/* The vector whose name starts with @prefix */
static inline const struct vector *vector(const char *prefix)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		if (!strncmp(vectors[i].name, prefix, strlen(prefix)))
			return &vectors[i];
	KTAP_CHECK(0, 1, "there is no \"%s...\"", prefix);
	return NULL;
}

static inline void flip(u8 *buf, size_t bit)
{
	buf[bit / 8] ^= 0x80 >> bit % 8;
}

static inline void rnd_gid(u8 gid[16])
{
	rnd_bytes(gid, 16);
	gid[0] |= 0x80;		/* not zero */
}

static inline u32 rnd_u24(void)
{
	return rnd(1 << 24);
}

/* A number of @bits, often the smallest or the largest */
static inline u32 rnd_edgy(u32 bits)
{
	u32 top = bits == 32 ? 0xffffffff : (1U << bits) - 1;

	switch (rnd(4)) {
	case 0:
		return 0;
	case 1:
		return top;
	default:
		return (u32)rnd64() & top;
	}
}

static inline void rnd_proposal(struct smcr_clc_proposal *p)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	p->version = (u8)rnd_in(1, 15);
	rnd_bytes(p->peer_id, sizeof(p->peer_id));
	rnd_gid(p->gid);
	rnd_bytes(p->mac, sizeof(p->mac));
	if (rnd_bool()) {
		rnd_bytes(p->ipv4_net, sizeof(p->ipv4_net));
		p->ipv4_plen = (u8)rnd_in(0, 32);
		return;
	}
	p->n_prefix = (u8)rnd_in(1, 8);
	for (i = 0; i < p->n_prefix; i++) {
		rnd_bytes(p->prefix[i].addr, 16);
		p->prefix[i].plen = (u8)rnd_in(0, 128);
	}
}

static inline void rnd_accept(struct smcr_clc_accept *a)
{
	memset(a, 0, sizeof(*a));
	a->type = rnd_bool() ? SMCR_CLC_ACCEPT : SMCR_CLC_CONFIRM;
	a->first_contact = a->type == SMCR_CLC_ACCEPT && rnd_bool();
	rnd_bytes(a->peer_id, sizeof(a->peer_id));
	rnd_gid(a->gid);
	rnd_bytes(a->mac, sizeof(a->mac));
	a->qpn = rnd_edgy(24);
	a->qpn += !a->qpn;
	a->rkey = rnd_edgy(32);
	a->index = (u8)rnd_in(1, 255);
	a->token = rnd_edgy(32);
	a->bsize = (u8)rnd(16);
	a->mtu = (u8)rnd(16);
	a->va = rnd64();
	a->psn = rnd_edgy(24);
}

static inline void rnd_decline(struct smcr_clc_decline *d)
{
	memset(d, 0, sizeof(*d));
	d->out_of_sync = rnd_bool();
	rnd_bytes(d->peer_id, sizeof(d->peer_id));
	d->diagnosis = rnd_edgy(32);
}

static inline void rnd_entries(struct smcr_llc_rkey_entry *e, u32 n)
{
	for (; n--; e++) {
		e->link_num = (u8)rnd_in(1, 255);
		e->rkey = rnd_edgy(32);
		e->va = rnd64();
	}
}

#define X(name, num, word) SMCR_LLC_##name,
static const u8 llc_types[] = {
	SMCR_LLC_TYPES(X)
};

#undef X

static inline void rnd_add_link(struct smcr_llc_add_link *a, bool reply)
{
	a->rejected = reply && rnd_bool();
	if (a->rejected) {
		a->reject_reason = (u8)rnd(16);
		a->link_num = (u8)rnd(256);
		return;
	}
	rnd_bytes(a->mac, sizeof(a->mac));
	rnd_gid(a->gid);
	a->mtu = (u8)rnd(16);
	if (!reply && rnd_bool())
		return;		/* client's notice */
	a->qpn = rnd_edgy(24);
	a->qpn += !a->qpn;
	a->link_num = (u8)rnd_in(1, 255);
	a->psn = rnd_edgy(24);
}

static inline void rnd_llc(struct smcr_llc *m, u8 type)
{
	struct smcr_llc_confirm_link *cl = &m->confirm_link;
	struct smcr_llc_add_link_cont *ac = &m->add_link_cont;
	struct smcr_llc_delete_link *dl = &m->delete_link;
	struct smcr_llc_confirm_rkey *cr = &m->confirm_rkey;
	struct smcr_llc_confirm_rkey_cont *cc = &m->confirm_rkey_cont;
	struct smcr_llc_delete_rkey *dr = &m->delete_rkey;
	u32 i;

	memset(m, 0, sizeof(*m));
	m->type = type;
	m->reply = rnd_bool();

	switch (type) {
	case SMCR_LLC_CONFIRM_LINK:
		rnd_bytes(cl->mac, sizeof(cl->mac));
		rnd_gid(cl->gid);
		cl->qpn = rnd_edgy(24);
		cl->link_num = (u8)rnd_in(1, 255);
		cl->user_id = rnd_edgy(32);
		cl->max_links = (u8)rnd(256);
		cl->no_eye_catcher = rnd_bool();
		break;
	case SMCR_LLC_ADD_LINK:
		rnd_add_link(&m->add_link, m->reply);
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		ac->link_num = (u8)rnd_in(1, 255);
		ac->n_rtokens = (u8)rnd(rnd_bool() ? 4 : 256);
		for (i = 0; i < 2 && i < ac->n_rtokens; i++) {
			ac->pair[i].ref_rkey = rnd_edgy(32);
			ac->pair[i].new_rkey = rnd_edgy(32);
			ac->pair[i].new_va = rnd64() | 1;
		}
		break;
	case SMCR_LLC_DELETE_LINK:
		dl->all = rnd_bool();
		dl->orderly = rnd_bool();
		dl->link_num = dl->all ? 0 : (u8)rnd(256);
		dl->reason = rnd_edgy(32);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		cr->negative = m->reply && rnd_bool();
		cr->retry = cr->negative && rnd_bool();
		cr->n_other = (u8)rnd_in(0, 8);
		cr->rkey = rnd_edgy(32);
		cr->va = rnd64();
		rnd_entries(cr->other, min_t(u32, cr->n_other, 2));
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		cc->negative = m->reply && rnd_bool();
		cc->n_left = (u8)rnd_in(1, 6);
		rnd_entries(cc->other, min_t(u32, cc->n_left, 3));
		break;
	case SMCR_LLC_DELETE_RKEY:
		dr->negative = m->reply && rnd_bool();
		dr->count = (u8)rnd_in(1, 8);
		if (dr->negative)
			dr->error_mask = (u8)(rnd(256) & 0xff << (8 - dr->count));
		for (i = 0; i < dr->count; i++)
			dr->rkey[i] = rnd_edgy(32);
		break;
	case SMCR_LLC_TEST_LINK:
		rnd_bytes(m->test_link.data, sizeof(m->test_link.data));
		break;
	default:
		KTAP_CHECK(0, 1, "no random messages of type %u", type);
	}
}

static inline void rnd_cdc(struct smcr_cdc *c)
{
	memset(c, 0, sizeof(*c));
	c->seq = (u16)rnd_edgy(16);
	c->token = rnd_edgy(32);
	if (!rnd(8)) {
		c->pflags = SMCR_CDC_F;
		return;
	}
	c->prod.wrap = (u16)rnd_edgy(16);
	c->prod.count = rnd_edgy(32);
	c->cons.wrap = (u16)rnd_edgy(16);
	c->cons.count = rnd_edgy(32);
	c->pflags = (u8)(rnd(16) << 4);
	c->cflags = (u8)(rnd(8) << 5);
}

#endif /* _SMCR_UNIT_MSGS_H */
