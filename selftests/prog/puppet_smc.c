// SPDX-License-Identifier: GPL-2.0-only
/*
 * The puppet peer: LLC, CDC, data. Everything that arrives is checked against
 * the rules for a peer, also what the script does not look at: see monitor().
 */
#include "puppet.h"
#include "pattern.h"

enum { T_RX = 5000 };

void rx_queue_init(struct rxqueue *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

void rx_put(struct rxqueue *q, struct link *from, const u8 *buf, u32 len)
{
	struct rxmsg *m = calloc(1, sizeof(*m));

	m->from = from;
	m->len = min_t(u32, len, RX_LEN);
	memcpy(m->buf, buf, m->len);
	*q->tail = m;
	q->tail = &m->next;
}

struct rxmsg *rx_take(struct rxqueue *q)
{
	struct rxmsg *m = q->head;

	if (!m)
		return NULL;
	q->head = m->next;
	if (!q->head)
		q->tail = &q->head;
	return m;
}

/* --- fields ------------------------------------------------------------- */

#define LLC(kind_, name_, member_) FIELD(struct smcr_llc, kind_, name_, member_)

static const struct field confirm_link_fields[] = {
	LLC(F_BOOL, "reply", reply),
	LLC(F_HEX, "mac", confirm_link.mac),
	LLC(F_HEX, "gid", confirm_link.gid),
	LLC(F_NUM, "qpn", confirm_link.qpn),
	LLC(F_NUM, "link", confirm_link.link_num),
	LLC(F_NUM, "user_id", confirm_link.user_id),
	LLC(F_NUM, "max_links", confirm_link.max_links),
	LLC(F_BOOL, "no_eye", confirm_link.no_eye_catcher),
	{ 0 },
};

static const struct field add_link_fields[] = {
	LLC(F_BOOL, "reply", reply),
	LLC(F_BOOL, "rejected", add_link.rejected),
	LLC(F_NUM, "reason", add_link.reject_reason),
	LLC(F_HEX, "mac", add_link.mac),
	LLC(F_HEX, "gid", add_link.gid),
	LLC(F_NUM, "qpn", add_link.qpn),
	LLC(F_NUM, "link", add_link.link_num),
	LLC(F_NUM, "mtu", add_link.mtu),
	LLC(F_NUM, "psn", add_link.psn),
	{ 0 },
};

static const struct field add_link_cont_fields[] = {
	LLC(F_BOOL, "reply", reply),
	LLC(F_NUM, "link", add_link_cont.link_num),
	LLC(F_NUM, "n", add_link_cont.n_rtokens),
	LLC(F_NUM, "ref1", add_link_cont.pair[0].ref_rkey),
	LLC(F_NUM, "rkey1", add_link_cont.pair[0].new_rkey),
	LLC(F_NUM, "va1", add_link_cont.pair[0].new_va),
	LLC(F_NUM, "ref2", add_link_cont.pair[1].ref_rkey),
	LLC(F_NUM, "rkey2", add_link_cont.pair[1].new_rkey),
	LLC(F_NUM, "va2", add_link_cont.pair[1].new_va),
	{ 0 },
};

static const struct field delete_link_fields[] = {
	LLC(F_BOOL, "reply", reply),
	LLC(F_BOOL, "all", delete_link.all),
	LLC(F_BOOL, "orderly", delete_link.orderly),
	LLC(F_NUM, "link", delete_link.link_num),
	LLC(F_NUM, "reason", delete_link.reason),
	{ 0 },
};

static const struct field confirm_rkey_fields[] = {
	LLC(F_BOOL, "reply", reply),
	LLC(F_BOOL, "negative", confirm_rkey.negative),
	LLC(F_BOOL, "retry", confirm_rkey.retry),
	LLC(F_NUM, "n", confirm_rkey.n_other),
	LLC(F_NUM, "rkey", confirm_rkey.rkey),
	LLC(F_NUM, "va", confirm_rkey.va),
	LLC(F_NUM, "link1", confirm_rkey.other[0].link_num),
	LLC(F_NUM, "rkey1", confirm_rkey.other[0].rkey),
	LLC(F_NUM, "va1", confirm_rkey.other[0].va),
	LLC(F_NUM, "link2", confirm_rkey.other[1].link_num),
	LLC(F_NUM, "rkey2", confirm_rkey.other[1].rkey),
	LLC(F_NUM, "va2", confirm_rkey.other[1].va),
	{ 0 },
};

static const struct field confirm_rkey_cont_fields[] = {
	LLC(F_BOOL, "reply", reply),
	LLC(F_BOOL, "negative", confirm_rkey_cont.negative),
	LLC(F_NUM, "n", confirm_rkey_cont.n_left),
	LLC(F_NUM, "link1", confirm_rkey_cont.other[0].link_num),
	LLC(F_NUM, "rkey1", confirm_rkey_cont.other[0].rkey),
	LLC(F_NUM, "va1", confirm_rkey_cont.other[0].va),
	LLC(F_NUM, "link2", confirm_rkey_cont.other[1].link_num),
	LLC(F_NUM, "rkey2", confirm_rkey_cont.other[1].rkey),
	LLC(F_NUM, "va2", confirm_rkey_cont.other[1].va),
	LLC(F_NUM, "link3", confirm_rkey_cont.other[2].link_num),
	LLC(F_NUM, "rkey3", confirm_rkey_cont.other[2].rkey),
	LLC(F_NUM, "va3", confirm_rkey_cont.other[2].va),
	{ 0 },
};

static const struct field delete_rkey_fields[] = {
	LLC(F_BOOL, "reply", reply),
	LLC(F_BOOL, "negative", delete_rkey.negative),
	LLC(F_NUM, "n", delete_rkey.count),
	LLC(F_NUM, "mask", delete_rkey.error_mask),
	LLC(F_NUM, "rkey1", delete_rkey.rkey[0]),
	LLC(F_NUM, "rkey2", delete_rkey.rkey[1]),
	LLC(F_NUM, "rkey3", delete_rkey.rkey[2]),
	{ 0 },
};

static const struct field test_link_fields[] = {
	LLC(F_BOOL, "reply", reply),
	LLC(F_HEX, "data", test_link.data),
	{ 0 },
};

static const struct {
	const char *name;
	u8 type;
	const struct field *fields;
} llc_types[] = {
	{ "confirm_link", SMCR_LLC_CONFIRM_LINK, confirm_link_fields },
	{ "add_link", SMCR_LLC_ADD_LINK, add_link_fields },
	{ "add_link_cont", SMCR_LLC_ADD_LINK_CONT, add_link_cont_fields },
	{ "delete_link", SMCR_LLC_DELETE_LINK, delete_link_fields },
	{ "confirm_rkey", SMCR_LLC_CONFIRM_RKEY, confirm_rkey_fields },
	{ "confirm_rkey_cont", SMCR_LLC_CONFIRM_RKEY_CONT,
	  confirm_rkey_cont_fields },
	{ "delete_rkey", SMCR_LLC_DELETE_RKEY, delete_rkey_fields },
	{ "test_link", SMCR_LLC_TEST_LINK, test_link_fields },
};

static const struct field cdc_fields[] = {
	FIELD(struct smcr_cdc, F_NUM, "seq", seq),
	FIELD(struct smcr_cdc, F_NUM, "token", token),
	FIELD(struct smcr_cdc, F_NUM, "prod_wrap", prod.wrap),
	FIELD(struct smcr_cdc, F_NUM, "prod", prod.count),
	FIELD(struct smcr_cdc, F_NUM, "cons_wrap", cons.wrap),
	FIELD(struct smcr_cdc, F_NUM, "cons", cons.count),
	FIELD(struct smcr_cdc, F_NUM, "pflags", pflags),
	FIELD(struct smcr_cdc, F_NUM, "cflags", cflags),
	{ 0 },
};

static const char flag_letters[] = "BPURF...DCA";

/* "B,D": producer flags in the low byte, connection flags in the next */
static u16 parse_flags(const char *s)
{
	u16 out = 0;

	for (; *s; s++) {
		const char *at;

		if (*s == ',' || *s == '-' || *s == '0')
			continue;
		at = strchr(flag_letters, *s);
		if (!at || *s == '.')
			bad("flag '%c'?", *s);
		out |= (u16)(at - flag_letters < 8 ?
			     0x80 >> (at - flag_letters) :
			     0x8000 >> (at - flag_letters - 8));
	}
	return out;
}

static const char *flag_text(const struct smcr_cdc *c)
{
	static char out[16];
	char *p = out;
	int i;

	for (i = 0; i < 5; i++)
		if (c->pflags & 0x80 >> i)
			*p++ = flag_letters[i];
	for (i = 0; i < 3; i++)
		if (c->cflags & 0x80 >> i)
			*p++ = flag_letters[8 + i];
	if (p == out)
		*p++ = '-';
	*p = 0;
	return out;
}

/* --- what arrives ------------------------------------------------------- */

/*
 * Once both elements and the use of eye catchers are known, so is the geometry
 * of the rings. CDCs that came before are checked then.
 */
void conn_rings(struct conn *c)
{
	struct rxmsg *m;

	if (c->ringed || !c->have_peer || !c->index)
		return;
	c->rx_ring.base = c->tx_ring.base = c->link->base;
	c->rx_ring.size = smcr_bsize_bytes(c->bsize & 7);
	c->tx_ring.size = smcr_bsize_bytes(c->peer.bsize & 7);
	c->ringed = true;
	while ((m = rx_take(&c->early))) {
		smc_arrived(m->from, m->buf, m->len);
		free(m);
	}
}

static unsigned int links_of(const struct link *l)
{
	unsigned int i, n = 0;

	for (i = 0; i < MAX_LINKS && links[i]; i++)
		n += links[i]->qp && links[i]->group == l->group;
	return n;
}

/* F: the peer sends on another link from now on (FO-07, FO-08, CDC-47) */
static void moved(struct conn *c, struct link *l, const struct smcr_cdc *cdc)
{
	if (links_of(l) < 2 && (!c->rx_link || c->rx_link == l))
		offence("CDC: F with only one link");
	if (smcr_seq_after(cdc->seq, c->rx_seq))
		offence("CDC: F says that %u came, but the last one was %u",
			cdc->seq, c->rx_seq);
	c->rx_link = l;
	c->replay = true;
	c->replay_from = cdc->seq;
}

/*
 * Rules for each CDC of a peer, in any script: CDC-08, CDC-12, CDC-14, CDC-16,
 * CDC-36, CDC-44, CDC-46, FO-06, FO-08, FO-10, RMB-26, reserved bits.
 */
static void monitor(struct conn *c, struct link *l, const struct smcr_cdc *cdc,
		    const u8 *buf)
{
	struct smcr_pos prod = c->rx_prod;
	int rc;

	if (!smcr_bytes_zero(buf + 8, 2) || !smcr_bytes_zero(buf + 16, 2) ||
	    (buf[24] & 0x07) || (buf[25] & 0x1f) ||
	    !smcr_bytes_zero(buf + 26, 18))
		offence("CDC: reserved bits are set: %s", hex(buf, 44));
	if (cdc->pflags & SMCR_CDC_F) {
		moved(c, l, cdc);
		return;
	}
	if (c->rx_link && c->rx_link != l)
		offence("CDC: from link %s to %s without F", c->rx_link->name,
			l->name);
	c->rx_link = l;
	if (c->replay && !smcr_seq_after(cdc->seq, c->rx_seq)) {
		if (!smcr_seq_after(cdc->seq, c->replay_from))
			offence("CDC: %u again, which was said to have come",
				cdc->seq);
		return;
	}
	/* a repetition may be in fewer messages, with new numbers */
	if (!c->replay && cdc->seq != (u16)(c->rx_seq + 1))
		offence("CDC: sequence %u follows %u", cdc->seq, c->rx_seq);
	c->replay = false;
	if (c->rx_cflags & (SMCR_CDC_C | SMCR_CDC_A))
		offence("CDC after the peer's C or A");
	if ((c->rx_cflags & SMCR_CDC_D) && !(cdc->cflags & SMCR_CDC_D))
		offence("CDC: D was taken back");
	if ((c->rx_cflags & SMCR_CDC_D) &&
	    (cdc->prod.count != c->last.prod.count ||
	     cdc->prod.wrap != c->last.prod.wrap))
		offence("CDC: data after D");

	rc = smcr_pos_apply(&c->rx_ring, &prod, cdc->prod,
			    c->rx_announced + smcr_ring_cap(&c->rx_ring));
	if (rc < 0)
		offence("CDC: producer %u/%u cannot be after %u/%u, announced %llu",
			cdc->prod.count, cdc->prod.wrap, c->rx_prod.off,
			c->rx_prod.wrap, c->rx_announced);
	else
		c->rx_prod = prod;
	if (rc > 0 && c->rx_urg > c->rx_announced)
		offence("CDC: data behind an urgent byte that was not consumed");
	if ((cdc->pflags & SMCR_CDC_U) && !(cdc->pflags & SMCR_CDC_P))
		offence("CDC: U without P");
	if (cdc->pflags & SMCR_CDC_U)
		c->rx_urg = c->rx_prod.abs;
	rc = smcr_pos_apply(&c->tx_ring, &c->tx_cons, cdc->cons,
			    c->tx_prod.abs);
	if (rc < 0)
		offence("CDC: consumer %u/%u cannot be after %u/%u of %llu",
			cdc->cons.count, cdc->cons.wrap, c->tx_cons.off,
			c->tx_cons.wrap, c->tx_prod.abs);
	c->rx_seq = cdc->seq;
	c->rx_cflags |= cdc->cflags;
	c->rx_pflags = cdc->pflags;
}

static void cdc_arrived(struct link *l, const u8 *buf, u32 len)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_cdc cdc;
	struct conn *c = NULL;
	int i;

	if (smcr_cdc_decode(buf, len, &cdc, &why)) {
		offence("CDC is malformed: %s", smcr_reason_text(why));
		return;
	}
	for (i = 0; i < MAX_CONNS && conns[i]; i++)
		if (conns[i]->index && conns[i]->token == cdc.token &&
		    conns[i]->link && conns[i]->link->group == l->group)
			c = conns[i];
	if (!c) {
		offence("CDC for token 0x%08x, which is none of ours",
			cdc.token);
		return;
	}
	conn_rings(c);
	if (!c->ringed) {
		rx_put(&c->early, l, buf, len);
		return;
	}
	say("[%s] link %s: < cdc seq=%u prod=%u/%u cons=%u/%u %s", c->name, l->name, cdc.seq,
	    cdc.prod.count, cdc.prod.wrap, cdc.cons.count, cdc.cons.wrap,
	    flag_text(&cdc));
	/* the peer sent it before it moved to another link: ignored */
	if (c->rx_link && c->rx_link != l && !(cdc.pflags & SMCR_CDC_F) &&
	    !smcr_seq_after(cdc.seq, c->rx_seq)) {
		say("[%s] late on the link before", c->name);
		return;
	}
	monitor(c, l, &cdc, buf);
	c->last = cdc;
	c->n_cdc++;
	rx_put(&c->cdc, l, buf, len);
}

/* Chosen as the module does, by the eye catchers in CONFIRM LINK */
static enum smcr_llc_form llc_form(const struct link *l)
{
	return l->base ? SMCR_LLC_RFC : SMCR_LLC_PADDED;
}

static bool probing;		/* link_rx_down() discards replies */

static void auto_reply(struct link *l, struct smcr_llc *m)
{
	u8 out[SMCR_WR_LEN];

	m->reply = true;
	smcr_llc_encode(m, llc_form(l), out);
	ib_send(l, out, SMCR_WR_LEN, false);
}

/* Record RKey and address of the peer's RMB @id on link @l */
static void rmb_add(struct link *l, u32 id, u32 rkey, u64 va)
{
	if (l->n_rmbs == SMCR_RMBS_MAX) {
		offence("more than %d RMBs", SMCR_RMBS_MAX);
		return;
	}
	l->rmbs[l->n_rmbs].id = id;
	l->rmbs[l->n_rmbs].rkey = rkey;
	l->rmbs[l->n_rmbs++].va = va;
}

u32 rmb_learn(struct link *l, u32 rkey, u64 va)
{
	static u32 last;

	rmb_add(l, ++last, rkey, va);
	return last;
}

u32 rmb_find(const struct link *l, u32 rkey)
{
	unsigned int i;

	for (i = 0; i < l->n_rmbs; i++)
		if (l->rmbs[i].rkey == rkey)
			return l->rmbs[i].id;
	return 0;
}

static int rmb_by_id(const struct link *l, u32 id)
{
	unsigned int i;

	for (i = 0; i < l->n_rmbs; i++)
		if (l->rmbs[i].id == id)
			return (int)i;
	return -1;
}

void rmb_forget(struct link *l, u32 rkey)
{
	u32 id = rmb_find(l, rkey);
	int i, k;

	for (i = 0; id && i < MAX_LINKS && links[i]; i++) {
		if (links[i]->group != l->group)
			continue;
		k = rmb_by_id(links[i], id);
		if (k >= 0)
			links[i]->rmbs[k] = links[i]->rmbs[--links[i]->n_rmbs];
	}
}

static struct link *link_by_num(const struct link *l, u8 num)
{
	int i;

	for (i = 0; i < MAX_LINKS && links[i]; i++)
		if (links[i]->group == l->group && links[i]->qp &&
		    links[i]->num == num)
			return links[i];
	return NULL;
}

/* The @n-th link that CONFIRM RKEY has to name beside its own one */
static struct link *other_link(const struct link *l, unsigned int n)
{
	int i;

	for (i = 0; i < MAX_LINKS && links[i]; i++)
		if (links[i] != l && links[i]->group == l->group &&
		    links[i]->confirmed && !links[i]->dead && !n--)
			return links[i];
	return NULL;
}

/* Entries for other links in CONFIRM RKEY or CONTINUATION (LLC-62, LLC-64) */
static void rmb_others(struct link *l, const struct smcr_llc_rkey_entry *e,
		       unsigned int n, bool last)
{
	struct link *o;
	unsigned int i;

	for (i = 0; i < n; i++) {
		o = link_by_num(l, e[i].link_num);
		if (!o || o == l)
			offence("CONFIRM RKEY for link number %u", e[i].link_num);
		else
			rmb_add(o, l->asked_id, e[i].rkey, e[i].va);
	}
	for (i = 0; last && (o = other_link(l, i)); i++)
		if (!o->failing && rmb_by_id(o, l->asked_id) < 0)
			offence("CONFIRM RKEY lacks link %s", o->name);
}

/* Key, on the current link, of the peer's RMB that the connection writes to */
static void peer_key(u32 *rkey, u64 *va)
{
	int k = rmb_by_id(lnk, conn->rmb_id);

	*rkey = conn->peer.rkey;
	*va = conn->peer.va;
	if (!conn->rmb_id || (k < 0 && rmb_find(lnk, *rkey)))
		return;
	if (k < 0) {
		/* withdrawn, or never announced: the key that CLC named */
		if (links_of(lnk) > 1)
			say("link %s: no key of this RMB", lnk->name);
		return;
	}
	*rkey = lnk->rmbs[k].rkey;
	*va = lnk->rmbs[k].va;
}

/*
 * CLC names only RMBs that are announced (LLC-55, CLC-32, CLC-41) and not
 * withdrawn.
 */
void rmb_check(const struct smcr_clc_accept *a)
{
	const struct link *l = NULL;
	unsigned int i;

	for (i = 0; i < MAX_LINKS && links[i]; i++)
		if (links[i]->qp && links[i]->peer_qpn == a->qpn &&
		    !memcmp(links[i]->peer_gid, a->gid, 16))
			l = links[i];
	for (i = 0; l && i < l->n_rmbs; i++)
		if (l->rmbs[i].rkey == a->rkey && l->rmbs[i].va == a->va)
			return;
	if (l)
		offence("CLC names RKey 0x%x, which was not confirmed",
			a->rkey);
}

/* True if the message is handled without the script */
static bool llc_auto(struct link *l, struct smcr_llc *m)
{
	int i;

	switch (m->type) {
	case SMCR_LLC_TEST_LINK:
		if (m->reply)
			return probing;
		memcpy(l->last_test, m->test_link.data, 16);
		if (!knobs.auto_test)
			return false;
		say("link %s: TEST LINK answered", l->name);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		if (m->reply)
			return false;
		l->asked = *m;
		if (!knobs.auto_rkey)
			return false;
		say("link %s: CONFIRM RKEY 0x%x answered", l->name,
		    m->confirm_rkey.rkey);
		l->asked_id = rmb_learn(l, m->confirm_rkey.rkey, m->confirm_rkey.va);
		rmb_others(l, m->confirm_rkey.other,
			   min_t(u8, m->confirm_rkey.n_other, 2),
			   m->confirm_rkey.n_other <= 2);
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		if (m->reply || !knobs.auto_rkey)
			return false;
		say("link %s: CONFIRM RKEY CONTINUATION answered", l->name);
		rmb_others(l, m->confirm_rkey_cont.other,
			   min_t(u8, m->confirm_rkey_cont.n_left, 3),
			   m->confirm_rkey_cont.n_left <= 3);
		break;
	case SMCR_LLC_DELETE_RKEY:
		for (i = 0; !m->reply && i < m->delete_rkey.count; i++)
			rmb_forget(l, m->delete_rkey.rkey[i]);
		return false;
	default:
		return false;
	}
	auto_reply(l, m);
	return true;
}

static void llc_arrived(struct link *l, const u8 *buf, u32 len)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct link *o = NULL;
	struct smcr_llc m;

	if (!smcr_llc_decode(buf, len, llc_form(l), &m, &why)) {
		if (llc_auto(l, &m))
			return;
		if (m.type == SMCR_LLC_DELETE_LINK && !m.reply)
			o = link_by_num(l, m.delete_link.link_num);
	}
	if (o)	/* CONFIRM RKEY does not name it any more */
		o->confirmed = false;
	say("link %s: < llc %s", l->name, hex(buf, len));
	rx_put(&l->llc, l, buf, len);
}

void smc_arrived(struct link *l, const u8 *buf, u32 len)
{
	if (len != SMCR_WR_LEN) {
		offence("a SEND of %u bytes: %s", len, hex(buf, len));
		return;
	}
	/*
	 * Soft RoCE delivers a message once more into every receive that is left if
	 * the queue pair goes to error while it is being delivered.
	 */
	if (l->dead && !memcmp(l->last_rx, buf, SMCR_WR_LEN)) {
		say("link %s: the same once more", l->name);
		return;
	}
	memcpy(l->last_rx, buf, SMCR_WR_LEN);
	if (smcr_wr_is_cdc(buf))
		cdc_arrived(l, buf, len);
	else
		llc_arrived(l, buf, len);
}

static bool has_rx(void *arg)
{
	return ((struct rxqueue *)arg)->head;
}

/* --- sending ------------------------------------------------------------ */

static void send_wire(const struct wire *w)
{
	int rc;

	if (w->gone)
		lnk->failing = true;
	rc = ib_send(lnk, w->buf, (u32)w->len, !w->nowait);
	if (w->nowait || w->any)
		return;
	if (w->gone && rc == IBV_WC_RETRY_EXC_ERR)
		return;
	if (w->err && rc == IBV_WC_SUCCESS)
		fail("the peer took it");
	if (!w->err && rc != IBV_WC_SUCCESS)
		fail("%s", ibv_wc_status_str((enum ibv_wc_status)rc));
}

void send_raw(int argc, char **argv)
{
	struct wire w = { .len = 0 };
	int from = 1;

	if (argc < 1)
		bad("tx send HEX|len=N");
	if (!strncmp(argv[0], "len=", 4)) {
		w.len = (int)parse_num(argv[0] + 4);
		if (w.len > SEND_MAX)
			bad("at most %d", SEND_MAX);
		pattern_fill(w.buf, 0, (unsigned long)w.len);
	} else {
		w.len = parse_hex(argv[0], w.buf, SEND_MAX);
	}
	wire_apply(&w, argc - from, argv + from);
	send_wire(&w);
}

/* The server numbers the links of a group, and never reuses a number */
static u8 next_num(const struct link *l)
{
	static u8 last[MAX_LINKS + 1];
	int i;

	for (i = 0; i < MAX_LINKS && links[i]; i++)
		if (links[i]->group == l->group && links[i]->num > last[l->group])
			last[l->group] = links[i]->num;
	return ++last[l->group];
}

static void entry_of(struct smcr_llc_rkey_entry *e, const struct link *l)
{
	e->link_num = l->num;
	e->rkey = l->nic->rmb_mr->rkey;
	e->va = (u64)(uintptr_t)me.rmb;
}

/* For about=: values of @l for ADD LINK, its CONTINUATION and DELETE LINK */
static void llc_about(struct smcr_llc *m, struct link *l)
{
	struct smcr_llc_add_link *al = &m->add_link;
	struct smcr_llc_add_link_cont *ac = &m->add_link_cont;
	int i;

	if (l->group != lnk->group)
		bad("link %s is of another group", l->name);
	switch (m->type) {
	case SMCR_LLC_ADD_LINK:
		if (!l->num && !m->reply)
			l->num = next_num(l);
		memcpy(al->mac, l->nic->mac, 6);
		memcpy(al->gid, l->nic->gid, 16);
		al->rejected = false;
		al->reject_reason = 0;
		al->qpn = l->qpn;
		al->link_num = l->num;
		al->mtu = l->nic->mtu;
		al->psn = l->psn;
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		if (!l->nic->rmb_mr)
			bad("qp create first");
		ac->link_num = l->num;
		ac->n_rtokens = (u8)(me.n_rmbs - l->told);
		for (i = 0; i < 2 && l->told < me.n_rmbs; i++, l->told++) {
			ac->pair[i].ref_rkey = nic->mrs[l->told]->rkey;
			ac->pair[i].new_rkey = l->nic->mrs[l->told]->rkey;
			ac->pair[i].new_va = (u64)(uintptr_t)me.rmb;
		}
		break;
	case SMCR_LLC_DELETE_LINK:
		m->delete_link.link_num = l->num;
		break;
	default:
		bad("about=");
	}
}

static void llc_defaults(struct smcr_llc *m)
{
	struct smcr_llc_confirm_link *cl = &m->confirm_link;
	struct smcr_llc_add_link *al = &m->add_link;
	struct link *o;
	unsigned int n;
	int i;

	switch (m->type) {
	case SMCR_LLC_CONFIRM_LINK:
		if (!lnk->num)
			lnk->num = knobs.link_num;
		memcpy(cl->mac, nic->mac, 6);
		memcpy(cl->gid, nic->gid, 16);
		cl->qpn = lnk->qpn;
		cl->link_num = lnk->num;
		cl->user_id = lnk->user_id;
		cl->max_links = knobs.max_links;
		cl->no_eye_catcher = lnk->no_eye;
		break;
	case SMCR_LLC_ADD_LINK:
		al->link_num = (u8)(lnk->num + 1);
		if (m->reply) {		/* as of a peer with one RNIC */
			al->rejected = true;
			al->reject_reason = SMCR_ADD_LINK_NO_ALT_PATH;
			break;
		}
		memcpy(al->mac, nic->mac, 6);
		memcpy(al->gid, nic->gid, 16);
		al->qpn = lnk->qpn + 100;
		al->mtu = nic->mtu;
		al->psn = (u32)rand() & 0xffffff;
		break;
	case SMCR_LLC_DELETE_LINK:
		m->delete_link.link_num = lnk->num;
		m->delete_link.reason = SMCR_DEL_LOST_PATH;
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		if (m->reply) {		/* an echo */
			m->confirm_rkey = lnk->asked.confirm_rkey;
			break;
		}
		m->confirm_rkey.rkey = nic->rmb_mr->rkey;
		m->confirm_rkey.va = (u64)(uintptr_t)me.rmb;
		for (n = 0; (o = other_link(lnk, n)); n++)
			if (n < 2)
				entry_of(&m->confirm_rkey.other[n], o);
		m->confirm_rkey.n_other = (u8)n;
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		for (n = 0; (o = other_link(lnk, n + 2)); n++)
			if (n < 3)
				entry_of(&m->confirm_rkey_cont.other[n], o);
		m->confirm_rkey_cont.n_left = (u8)n;
		break;
	case SMCR_LLC_DELETE_RKEY:
		m->delete_rkey.count = 1;
		m->delete_rkey.rkey[0] = nic->rmb_mr->rkey;
		break;
	case SMCR_LLC_TEST_LINK:
		memcpy(m->test_link.data, lnk->last_test, 16);
		for (i = 0; !m->reply && i < 16; i++)
			m->test_link.data[i] = (u8)rand();
		break;
	}
}

static int llc_type(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(llc_types); i++)
		if (!strcmp(llc_types[i].name, name))
			return (int)i;
	bad("LLC type '%s'?", name);
}

void llc_tx(int argc, char **argv)
{
	struct wire w = { .len = SMCR_WR_LEN };
	static char used[] = "";
	struct smcr_llc m = { 0 };
	struct link *o;
	int t, i;

	if (argc < 1)
		bad("tx llc TYPE");
	t = llc_type(argv[0]);
	m.type = llc_types[t].type;
	/* the defaults depend on whether it is a reply */
	for (i = 1; i < argc; i++)
		if (!strncmp(argv[i], "reply=", 6))
			m.reply = parse_num(argv[i] + 6) != 0;
	llc_defaults(&m);
	for (i = 1; i < argc; i++) {
		if (strncmp(argv[i], "about=", 6))
			continue;
		llc_about(&m, link_find(argv[i] + 6));
		argv[i] = used;
	}
	for (i = 1; i < argc; i++)
		if (field_set(llc_types[t].fields, &m, argv[i]))
			argv[i] = used;
	if (m.type == SMCR_LLC_CONFIRM_RKEY && m.reply &&
	    !m.confirm_rkey.negative) {
		lnk->asked_id = rmb_learn(lnk, m.confirm_rkey.rkey,
					  m.confirm_rkey.va);
		rmb_others(lnk, m.confirm_rkey.other,
			   min_t(u8, m.confirm_rkey.n_other, 2), false);
	}
	if (m.type == SMCR_LLC_CONFIRM_LINK && m.reply)
		lnk->confirmed = true;
	if (m.type == SMCR_LLC_DELETE_LINK && !m.reply &&
	    !m.delete_link.orderly) {
		o = link_by_num(lnk, m.delete_link.link_num);
		if (o)
			o->failing = true;
	}
	smcr_llc_encode(&m, llc_form(lnk), w.buf);
	wire_apply(&w, argc - 1, argv + 1);
	send_wire(&w);
}

/* False if an argument does not fit, see check_text. @cdc: NULL for LLC */
static bool fits(const struct field *fields, const void *obj, const u8 *buf,
		 int argc, char **argv, const struct smcr_cdc *cdc)
{
	u16 have = cdc ? (u16)(cdc->pflags | cdc->cflags << 8) : 0;
	int i;

	for (i = 0; i < argc; i++) {
		enum check c = CHECK_NONE;

		if (cdc && !strncmp(argv[i], "flags=", 6))
			c = have == parse_flags(argv[i] + 6) ? CHECK_OK :
							       CHECK_MISS;
		else if (cdc && !strncmp(argv[i], "has=", 4))
			c = (have & parse_flags(argv[i] + 4)) ==
			    parse_flags(argv[i] + 4) ? CHECK_OK : CHECK_MISS;
		else if (cdc && !strncmp(argv[i], "hasnot=", 7))
			c = have & parse_flags(argv[i] + 7) ? CHECK_MISS :
							      CHECK_OK;
		if (c == CHECK_MISS)
			snprintf(check_text, sizeof(check_text),
				 "flags are %s", flag_text(cdc));
		if (c == CHECK_NONE)
			c = field_check(fields, obj, argv[i]);
		if (c == CHECK_NONE)
			c = wire_check(buf, SMCR_WR_LEN, argv[i]);
		if (c == CHECK_NONE)
			bad("'%s': no such field", argv[i]);
		if (c == CHECK_MISS)
			return false;
	}
	return true;
}

/* For about=: keep what the message announces of link @l */
static void got_about(const struct smcr_llc *m, struct link *l)
{
	const struct smcr_llc_add_link_cont *ac = &m->add_link_cont;
	const struct smcr_llc_add_link *al = &m->add_link;
	u8 num = 0;
	u32 id;
	int i;

	switch (m->type) {
	case SMCR_LLC_ADD_LINK:
		num = al->link_num;
		if (al->rejected)
			break;
		if (!l->num)
			l->num = num;
		memcpy(l->peer_mac, al->mac, 6);
		memcpy(l->peer_gid, al->gid, 16);
		l->peer_qpn = al->qpn;
		l->peer_psn = al->psn;
		l->peer_mtu = al->mtu;
		l->n_rmbs = 0;
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		num = ac->link_num;
		for (i = 0; i < min_t(u8, ac->n_rtokens, 2); i++) {
			id = rmb_find(lnk, ac->pair[i].ref_rkey);
			if (id)
				rmb_add(l, id, ac->pair[i].new_rkey,
					ac->pair[i].new_va);
			else
				offence("no RMB has RKey 0x%x on link %s",
					ac->pair[i].ref_rkey, lnk->name);
		}
		break;
	case SMCR_LLC_DELETE_LINK:
		num = m->delete_link.link_num;
		break;
	default:
		bad("about=");
	}
	if (num != l->num)
		fail("it is about link number %u, not %u", num, l->num);
}

static void got_llc(const struct smcr_llc *m)
{
	const struct smcr_llc_confirm_link *cl = &m->confirm_link;

	if (m->type != SMCR_LLC_CONFIRM_LINK)
		return;
	if (memcmp(cl->mac, lnk->peer_mac, 6) ||
	    memcmp(cl->gid, lnk->peer_gid, 16) || cl->qpn != lnk->peer_qpn)
		offence("CONFIRM LINK differs from what CLC announced");
	if (m->reply && cl->link_num != lnk->num)
		offence("link number %u was not echoed", lnk->num);
	if (cl->max_links < SMCR_LINKS_MIN || cl->max_links > SMCR_LINKS_MAX)
		offence("CONFIRM LINK with at most %u links", cl->max_links);
	if (m->reply && cl->max_links > knobs.max_links)
		offence("client wants more links than the server");
	lnk->num = cl->link_num;
	lnk->confirmed |= m->reply;
	lnk->max_links = cl->max_links;
	lnk->peer_no_eye = cl->no_eye_catcher;
	lnk->base = lnk->no_eye && cl->no_eye_catcher ? 0 : SMCR_RMBE_EYE_LEN;
}

void llc_rx(int argc, char **argv, bool skip)
{
	u64 end = now_ms() + take_time(&argc, argv, T_RX);
	enum smcr_reason why;
	struct link *about = NULL;
	struct smcr_llc m;
	struct rxmsg *msg;
	char text[1024];
	int t, rc, i;
	bool ok;

	if (argc < 1)
		bad("rx llc TYPE");
	t = llc_type(argv[0]);
	for (i = 1; i < argc; i++) {
		if (strncmp(argv[i], "about=", 6))
			continue;
		about = link_find(argv[i] + 6);
		memmove(argv + i, argv + i + 1,
			(size_t)(--argc - i) * sizeof(*argv));
		break;
	}
	for (;;) {
		if (!pump(end, -1, has_rx, &lnk->llc))
			fail("no %s came%s", argv[0],
			     lnk->dead ? " (the link is dead)" : "");
		msg = rx_take(&lnk->llc);
		why = SMCR_R_NONE;
		rc = smcr_llc_decode(msg->buf, msg->len, llc_form(lnk), &m, &why);
		if (rc)
			fail("malformed LLC message: %s: %s",
			     smcr_reason_text(why), hex(msg->buf, msg->len));
		ok = m.type == llc_types[t].type;
		if (!ok)
			snprintf(check_text, sizeof(check_text),
				 "LLC type %u came", m.type);
		else
			ok = fits(llc_types[t].fields, &m, msg->buf, argc - 1,
				  argv + 1, NULL);
		free(msg);
		if (ok)
			break;
		if (!skip)
			fail("%s: %s", argv[0], check_text);
	}
	field_show(llc_types[t].fields, &m, text, sizeof(text));
	say("got%s", text);
	got_llc(&m);
	if (about)
		got_about(&m, about);
}

/* --- CDC ---------------------------------------------------------------- */

static void need_conn(void)
{
	conn_rings(conn);
	if (!conn->ringed)
		bad("the connection is not complete");
}

static void cdc_send(struct smcr_cdc *cdc, struct wire *w, u64 announced)
{
	struct conn *c = conn;

	/* before it is posted: the answer may come before the completion */
	if (!w->skip) {
		if (smcr_seq_after(cdc->seq, c->tx_seq))
			c->tx_seq = cdc->seq;
		c->tx_cflags |= cdc->cflags;
		c->rx_announced = announced;
	}
	if (!w->nowait && !w->any && !w->err) {
		send_wire(w);
		if (!w->skip)
			c->tx_ss = c->tx_seq;
		return;
	}
	send_wire(w);
}

static void cdc_fill(struct smcr_cdc *cdc)
{
	cdc->seq = (u16)(conn->tx_seq + 1);
	cdc->token = conn->peer.token;
	cdc->prod = smcr_pos_cursor(&conn->tx_ring, &conn->tx_prod);
	cdc->cons = smcr_pos_cursor(&conn->rx_ring, &conn->rx_cons);
	cdc->pflags = 0;
	cdc->cflags = conn->tx_cflags;
}

void cdc_tx(int argc, char **argv)
{
	struct wire w = { .len = SMCR_WR_LEN };
	static char used[] = "";
	struct smcr_cdc cdc;
	int i;

	need_conn();
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "advance=", 8)) {
			smcr_pos_add(&conn->tx_ring, &conn->tx_prod,
				     (u32)parse_num(argv[i] + 8));
			argv[i] = used;
		}
	}
	cdc_fill(&cdc);
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "flags=", 6)) {
			u16 f = parse_flags(argv[i] + 6);

			cdc.pflags = (u8)f;
			cdc.cflags = (u8)(f >> 8);
			argv[i] = used;
			/* F has the number of an earlier CDC */
			w.skip |= (cdc.pflags & SMCR_CDC_F) != 0;
		} else if (field_set(cdc_fields, &cdc, argv[i])) {
			argv[i] = used;
		}
	}
	smcr_cdc_encode(&cdc, w.buf);
	wire_apply(&w, argc, argv);
	cdc_send(&cdc, &w, conn->rx_cons.abs);
}

void cdc_rx(int argc, char **argv, bool skip)
{
	u64 end = now_ms() + take_time(&argc, argv, T_RX);
	enum smcr_reason why;
	struct smcr_cdc cdc;
	struct rxmsg *msg;
	bool ok;

	need_conn();
	for (;;) {
		if (!pump(end, -1, has_rx, &conn->cdc))
			fail("no %sCDC came%s%s", skip ? "such " : "",
			     skip ? ", the last one: flags " : "",
			     skip ? flag_text(&conn->last) : "");
		msg = rx_take(&conn->cdc);
		smcr_cdc_decode(msg->buf, msg->len, &cdc, &why);
		ok = fits(cdc_fields, &cdc, msg->buf, argc, argv, &cdc);
		free(msg);
		if (ok)
			return;
		if (!skip)
			fail("CDC %u: %s", cdc.seq, check_text);
	}
}

/* --- no message, dead link ----------------------------------------------- */

struct none {
	bool tcp, link;
	char what[600];
};

static bool something(void *arg)
{
	struct none *n = arg;
	int i;

	if (n->tcp && tcp_readable(conn)) {
		snprintf(n->what, sizeof(n->what), "TCP has something");
		return true;
	}
	for (i = 0; n->link && i < MAX_LINKS && links[i]; i++) {
		if (links[i]->llc.head) {
			snprintf(n->what, sizeof(n->what), "LLC %s",
				 hex(links[i]->llc.head->buf, SMCR_WR_LEN));
			return true;
		}
	}
	for (i = 0; n->link && i < MAX_CONNS && conns[i]; i++) {
		if (conns[i]->cdc.head) {
			snprintf(n->what, sizeof(n->what),
				 "CDC for connection %s: %s", conns[i]->name,
				 hex(conns[i]->cdc.head->buf, SMCR_WR_LEN));
			return true;
		}
	}
	return false;
}

void rx_none(int argc, char **argv)
{
	struct none n = { .tcp = true, .link = true };
	u64 ms;

	if (argc < 1 || !parse_time(argv[0], &ms))
		bad("rx none TIME [tcp|link]");
	if (argc > 1 && !strcmp(argv[1], "tcp"))
		n.link = false;
	else if (argc > 1)
		n.tcp = false;
	if (conn->fd < 0)
		n.tcp = false;
	if (pump(now_ms() + ms, n.tcp ? conn->fd : -1, something, &n)) {
		something(&n);
		fail("there should be silence: %s", n.what);
	}
}

static bool link_dead(void *arg)
{
	return ((struct link *)arg)->dead;
}

void link_rx_down(int argc, char **argv)
{
	u64 end = now_ms() + take_time(&argc, argv, 2 * T_RX);
	struct smcr_llc m = { .type = SMCR_LLC_TEST_LINK };
	u8 buf[SMCR_WR_LEN];

	probing = true;
	while (!lnk->dead) {
		smcr_llc_encode(&m, llc_form(lnk), buf);
		ib_send(lnk, buf, SMCR_WR_LEN, true);
		pump(now_ms() + 100, -1, link_dead, lnk);
		if (!lnk->dead && now_ms() > end)
			fail("the link is alive");
	}
	probing = false;
}

/* --- data ---------------------------------------------------------------- */

static u64 elem_va(void)
{
	u32 rkey;
	u64 va;

	peer_key(&rkey, &va);
	return va + (u64)(conn->peer.index - 1) *
	       smcr_bsize_bytes(conn->peer.bsize & 7);
}

static u32 elem_rkey(void)
{
	u32 rkey;
	u64 va;

	peer_key(&rkey, &va);
	return rkey;
}

struct range {
	u64 off, len, pos, rkey, va;
	int byte;
	bool has_pos, err, any, imm;
};

static void parse_range(struct range *r, int argc, char **argv)
{
	u8 b;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "off=", 4))
			r->off = parse_num(argv[i] + 4);
		else if (!strncmp(argv[i], "len=", 4))
			r->len = parse_num(argv[i] + 4);
		else if (!strncmp(argv[i], "pos=", 4))
			r->pos = parse_num(argv[i] + 4), r->has_pos = true;
		else if (!strncmp(argv[i], "rkey=", 5))
			r->rkey = parse_num(argv[i] + 5);
		else if (!strncmp(argv[i], "va=", 3))
			r->va = parse_num(argv[i] + 3);
		else if (!strncmp(argv[i], "byte=", 5))
			parse_hex(argv[i] + 5, &b, 1), r->byte = b;
		else if (!strcmp(argv[i], "expect=err"))
			r->err = true;
		else if (!strcmp(argv[i], "expect=any"))
			r->any = true;
		else if (!strcmp(argv[i], "imm"))
			r->imm = true;
		else
			bad("'%s'?", argv[i]);
	}
}

static void check_wc(const struct range *r, int rc)
{
	if (rc != IBV_WC_SUCCESS)
		say("%s", ibv_wc_status_str((enum ibv_wc_status)rc));
	if (r->any)
		return;
	if (r->err && rc == IBV_WC_SUCCESS)
		fail("the peer's memory took it");
	if (!r->err && rc != IBV_WC_SUCCESS)
		fail("%s", ibv_wc_status_str((enum ibv_wc_status)rc));
}

static u8 scratch[TX_LEN];

void cmd_write(int argc, char **argv)
{
	struct range r = { .byte = -1, .rkey = elem_rkey() };

	r.va = elem_va();
	parse_range(&r, argc, argv);
	if (!r.len || r.len > TX_LEN)
		bad("len=1..%d", TX_LEN);
	if (!r.has_pos)		/* stream position, in this lap of the ring */
		r.pos = conn->tx_prod.abs - conn->tx_prod.off + r.off -
			conn->tx_ring.base;
	if (r.byte >= 0)
		memset(scratch, r.byte, r.len);
	else
		pattern_fill(scratch, r.pos, r.len);
	check_wc(&r, ib_write(lnk, scratch, (u32)r.len, r.va + r.off,
			      (u32)r.rkey, r.imm, true));
}

void cmd_read(int argc, char **argv)
{
	struct range r = { .byte = -1, .rkey = elem_rkey(), .len = 16 };

	r.va = elem_va();
	parse_range(&r, argc, argv);
	check_wc(&r, ib_read(lnk, scratch, (u32)r.len, r.va + r.off,
			     (u32)r.rkey));
}

static bool window_moved(void *arg)
{
	struct smcr_tx_plan plan;

	smcr_tx_plan(&conn->tx_ring, &conn->tx_prod, conn->tx_cons.abs,
		     *(u64 *)arg, TX_LEN / 2, &plan);
	return plan.len || lnk->dead ||
	       (conn->rx_cflags & (SMCR_CDC_A | SMCR_CDC_C));
}

/* As a peer sends: WRITE (two at the end of the ring), CDC; waits for window */
void data_tx(int argc, char **argv)
{
	u64 end = now_ms() + take_time(&argc, argv, 4 * T_RX), left, done = 0;
	const char *text = NULL;
	bool quiet = false, sent_b = false;
	u16 flags = 0;
	int i;

	need_conn();
	if (argc < 1)
		bad("tx data TEXT|len=N");
	if (!strncmp(argv[0], "len=", 4)) {
		left = parse_num(argv[0] + 4);
	} else {
		text = argv[0];
		left = strlen(text);
	}
	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "flags=", 6))
			flags = parse_flags(argv[i] + 6);
		else if (!strcmp(argv[i], "quiet"))
			quiet = true;
		else
			bad("'%s'?", argv[i]);
	}
	while (left) {
		struct wire w = { .len = SMCR_WR_LEN };
		struct smcr_tx_plan plan;
		struct smcr_cdc cdc;
		int s;

		smcr_tx_plan(&conn->tx_ring, &conn->tx_prod, conn->tx_cons.abs,
			     left, TX_LEN / 2, &plan);
		if (!plan.len) {
			/* announce that this side waits (CDC-33) */
			if (!sent_b && !quiet) {
				cdc_fill(&cdc);
				cdc.pflags = SMCR_CDC_B;
				smcr_cdc_encode(&cdc, w.buf);
				cdc_send(&cdc, &w, conn->rx_cons.abs);
				sent_b = true;
			}
			if (!pump(end, -1, window_moved, &left) || lnk->dead)
				fail("the window stays closed, %llu bytes left",
				     left);
			if (conn->rx_cflags & (SMCR_CDC_A | SMCR_CDC_C))
				fail("the peer has closed");
			continue;
		}
		for (s = 0; s < plan.n_seg; s++) {
			u32 n = plan.seg[s].len;
			int rc;

			if (text)
				memcpy(scratch, text + done, n);
			else
				pattern_fill(scratch, conn->tx_prod.abs +
					     (s ? plan.seg[0].len : 0), n);
			rc = ib_write(lnk, scratch, n,
				      elem_va() + plan.seg[s].dst,
				      elem_rkey(), false, true);
			if (rc)
				fail("write: %s", ibv_wc_status_str(
					     (enum ibv_wc_status)rc));
			done += n;
		}
		smcr_pos_add(&conn->tx_ring, &conn->tx_prod, plan.len);
		left -= plan.len;
		if (quiet)
			continue;
		cdc_fill(&cdc);
		cdc.pflags = (u8)(flags | (plan.blocked ? SMCR_CDC_B : 0));
		cdc.cflags |= (u8)(flags >> 8);
		smcr_cdc_encode(&cdc, w.buf);
		cdc_send(&cdc, &w, conn->rx_cons.abs);
		sent_b = plan.blocked;
	}
}

struct data_wait {
	u64 abs;
};

static bool data_there(void *arg)
{
	return conn->rx_prod.abs >= ((struct data_wait *)arg)->abs;
}

/* A byte range of the own ring, at most the capacity */
static void ring_copy(const struct smcr_ring *ring, const struct smcr_pos *from,
		      u8 *out, u32 len)
{
	u32 cap = smcr_ring_cap(ring), first = min_t(u32, len, cap - from->off);
	const u8 *e = my_elem(conn);

	memcpy(out, e + ring->base + from->off, first);
	memcpy(out + first, e + ring->base, len - first);
}

/*
 * What was announced must be in memory already (CDC-04, CDC-18). With
 * "consume" it is consumed on the way, as more than a ring full needs.
 */
void data_rx(int argc, char **argv)
{
	u64 end = now_ms() + take_time(&argc, argv, 2 * T_RX), left, start;
	const char *text = NULL;
	bool keep = false, eat = false;
	u32 cap;
	int i;

	need_conn();
	if (argc < 1)
		bad("rx data TEXT|len=N");
	if (!strncmp(argv[0], "len=", 4)) {
		left = parse_num(argv[0] + 4);
	} else {
		text = argv[0];
		left = strlen(text);
	}
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "keep"))
			keep = true;	/* leave the CDCs to rx cdc */
		else if (!strcmp(argv[i], "consume"))
			eat = true;
		else
			bad("'%s'?", argv[i]);
	}
	cap = smcr_ring_cap(&conn->rx_ring);
	start = conn->rx_seen.abs;
	while (left) {
		u32 n = (u32)min_t(u64, left, eat ? cap / 4 : cap);
		struct data_wait w = { conn->rx_seen.abs + n };
		struct rxmsg *m;

		if (!pump(end, -1, data_there, &w))
			fail("only %llu of %llu bytes were announced",
			     conn->rx_prod.abs - start,
			     left + conn->rx_seen.abs - start);
		ring_copy(&conn->rx_ring, &conn->rx_seen, scratch, n);
		if (text ? memcmp(scratch, text, n) :
			   pattern_diff(scratch, conn->rx_seen.abs, n) >= 0)
			fail("wrong data at %llu + %ld: %s", conn->rx_seen.abs,
			     text ? 0 : pattern_diff(scratch,
						     conn->rx_seen.abs, n),
			     hex(scratch, min_t(u32, n, 64)));
		smcr_pos_add(&conn->rx_ring, &conn->rx_seen, n);
		left -= n;
		/* CDCs with connection flags stay */
		while (!keep && conn->cdc.head && !conn->cdc.head->buf[25]) {
			m = rx_take(&conn->cdc);
			free(m);
		}
		if (eat) {
			struct wire out = { .len = SMCR_WR_LEN };
			struct smcr_cdc cdc;

			conn->rx_cons = conn->rx_seen;
			cdc_fill(&cdc);
			smcr_cdc_encode(&cdc, out.buf);
			cdc_send(&cdc, &out, conn->rx_cons.abs);
		}
	}
}

/* After a link failure: write again what was not acknowledged */
void cmd_again(int argc, char **argv)
{
	u32 cap, n, off, part;
	u64 left;

	need_conn();
	if (argc < 1)
		bad("again N");
	cap = smcr_ring_cap(&conn->tx_ring);
	left = parse_num(argv[0]);
	if (left > conn->tx_prod.abs || left > cap)
		bad("so many were not sent, or are not in the ring any more");
	n = (u32)left;
	off = (conn->tx_prod.off + cap - n) % cap;
	while (n) {
		int rc;

		part = min_t(u32, n, cap - off);
		pattern_fill(scratch, conn->tx_prod.abs - n, part);
		rc = ib_write(lnk, scratch, part,
			      elem_va() + conn->tx_ring.base + off, elem_rkey(),
			      false, true);
		if (rc)
			fail("write: %s", ibv_wc_status_str((enum ibv_wc_status)rc));
		n -= part;
		off = 0;
	}
}

void cmd_consume(int argc, char **argv)
{
	struct wire w = { .len = SMCR_WR_LEN };
	struct smcr_cdc cdc;

	need_conn();
	if (argc < 1)
		bad("consume N");
	smcr_pos_add(&conn->rx_ring, &conn->rx_cons, (u32)parse_num(argv[0]));
	if (argc > 1 && !strcmp(argv[1], "quiet"))
		return;
	cdc_fill(&cdc);
	smcr_cdc_encode(&cdc, w.buf);
	cdc_send(&cdc, &w, conn->rx_cons.abs);
}

/* The range may reach into the elements behind the own one */
static u8 *range_of(const struct range *r)
{
	u8 *p = my_elem(conn) + r->off;

	if (p + r->len > me.rmb + (size_t)me.elem_size * N_ELEMS)
		bad("beyond the RMB");
	return p;
}

void cmd_fill(int argc, char **argv)
{
	struct range r = { .byte = 0xee };

	ib_memory();
	parse_range(&r, argc, argv);
	if (!r.len && r.off < me.elem_size)
		r.len = me.elem_size - r.off;
	memset(range_of(&r), r.byte, r.len);
}

void cmd_check(int argc, char **argv)
{
	struct range r = { .byte = 0xee };
	const u8 *p;
	u64 i;

	if (argc < 1)
		bad("check untouched|cdcs|cdc");
	if (!strcmp(argv[0], "untouched")) {
		parse_range(&r, argc - 1, argv + 1);
		if (!r.len)
			r.len = me.elem_size - r.off;
		p = range_of(&r);
		for (i = 0; i < r.len; i++)
			if (p[i] != r.byte)
				fail("byte %llu of the element is %02x",
				     r.off + i, p[i]);
	} else if (!strcmp(argv[0], "cdcs") && argc > 1) {
		if (conn->n_cdc != parse_num(argv[1]))
			fail("%u CDCs came", conn->n_cdc);
	} else if (!strcmp(argv[0], "offences") && argc > 1) {
		static int before;

		pump(now_ms() + 1, -1, NULL, NULL);
		i = (u64)(noted - before);
		before = noted;
		if (i != parse_num(argv[1]))
			fail("%llu offences", i);
	} else if (!strcmp(argv[0], "rx_link") && argc > 1) {
		if (conn->rx_link != link_find(argv[1]))
			fail("it is link %s", conn->rx_link ?
			     conn->rx_link->name : "none yet");
	} else if (!strcmp(argv[0], "cdc")) {
		u8 buf[SMCR_WR_LEN];

		smcr_cdc_encode(&conn->last, buf);
		if (!fits(cdc_fields, &conn->last, buf, argc - 1, argv + 1,
			  &conn->last))
			fail("the last CDC: %s", check_text);
	} else {
		bad("check %s?", argv[0]);
	}
}
