// SPDX-License-Identifier: GPL-2.0-only
/*
 * Worlds of links, seeds "L17": hosts with one to four cards each, all on one LAN, so
 * that a link group has several links; and the model of failover (RFC 7609 4.6).
 *
 * As long as a group has one undisturbed link, disturbances of the others are no cause
 * for an error: established connections go on, with every byte, after the time in which
 * a lost link is noticed. Both hosts are asked for their links before each disturbance;
 * a link is undisturbed if both hosts have it, in RTS, and no disturbance has met it
 * before. When none is left all connections may end, in the time that other worlds allow.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "simworld.h"

#define FOREVER		60000	/* ms: longer than any connection */

/*
 * Kinds that end links only; the others from D_CALM on may end groups, whatever links
 * these have left. D_PAUSE is one of the others: an adapter that stands still does not
 * complete its work requests, so a client's reply to DELETE LINK comes later than T_LLC.
 */
#define ONLY_LINKS	(BIT(D_PATH) | BIT(D_FAULT) | BIT(D_DEVICE) | BIT(D_PORT) | BIT(D_CABLE) | \
			 BIT(D_ADMIN) | BIT(D_ADDR))

/* --- a world from a seed --- */

static void gen_hosts(struct world *w)
{
	static const unsigned char shapes[][2] = {
		{ 2, 2 }, { 2, 2 }, { 2, 1 }, { 1, 2 }, { 4, 2 }, { 2, 4 }, { 4, 4 }, { 3, 3 }, { 3, 2 },
	};
	struct rnd r = stream(w->seed, 1);
	u32 i = below(&r, ARRAY_SIZE(shapes));
	int h, p;

	w->lan = true;
	w->hosts = one_in(&r, 4) ? 3 : 2;
	w->unordered = one_in(&r, 5);
	for (h = 1; h <= w->hosts; h++) {
		w->cards[h] = h <= 2 ? shapes[i][h - 1] : (int)between(&r, 1, PLANES);
		if (one_in(&r, 8))
			w->cards[h] = (int)between(&r, 1, PLANES);
		if (w->cards[h] > w->planes)
			w->planes = w->cards[h];
		for (p = 0; p < w->cards[h]; p++)
			w->device[h][p] = true;
	}
}

static void gen_card(struct world *w, struct rnd *r, int h, int p)
{
	if (one_in(r, 2))
		set(w, h, p, "latency", about(r, 1000, 2000000));
	if (one_in(r, 2))
		set(w, h, p, "bandwidth", between(r, 200, 10000));
	if (one_in(r, 3))
		set(w, h, p, "max_inline", 0);
	if (one_in(r, 3))
		set(w, h, p, "max_send_sge", between(r, 3, 16));
	if (one_in(r, 4))
		set(w, h, p, "local_lkey", 0);
	if (one_in(r, 4))
		set(w, h, p, "cq_delay", about(r, 1, 300000));
	if (!w->unordered)
		return;
	set(w, h, p, "order", between(r, 1, 2));
	set(w, h, p, "piece", 64 + about(r, 1, 2048));
}

static void gen_knobs(struct world *w)
{
	struct rnd r = stream(w->seed, 2);
	int h, p;

	for (h = 1; h <= w->hosts; h++) {
		set(w, h, -1, "max_links", one_in(&r, 3) ? between(&r, 1, 8) : between(&r, 2, 4));
		set(w, h, -1, "t_link_retry", between(&r, 1000, 5000));
		set(w, h, -1, "t_testlink", between(&r, 500, 8000));
		set(w, h, -1, "t_llc", between(&r, 1000, 4000));
		if (one_in(&r, 2))
			set(w, h, -1, "qp_timeout", between(&r, 13, 17));
		if (one_in(&r, 3))
			set(w, h, -1, "rmem", about(&r, 16384, 524288));
		if (one_in(&r, 3))
			set(w, h, -1, "wmem", about(&r, 16384, 1048576));
		if (one_in(&r, 4))
			set(w, h, -1, "t_rmb_free", about(&r, 100, 60000));
		if (one_in(&r, 4))
			set(w, h, -1, "t_lgr_idle", about(&r, 1000, 100000));
		if (one_in(&r, 6))
			set(w, h, -1, "eye_catcher", 1);
		for (p = 0; p < w->cards[h]; p++)
			gen_card(w, &r, h, p);
	}
}

/* Messages for some seconds, or bulk without pauses */
static void gen_stream(struct world *w, struct rnd *r, struct step *st, int *n)
{
	bool bulk = one_in(r, 4);
	int i;

	*n = (int)between(r, !one_in(r, 6), MAX_STEPS);
	for (i = 0; i < *n; i++) {
		st[i].piece = w->pieces++;
		st[i].bytes = about(r, 2000, bulk ? 1 << 20 : 200 << 10);
		st[i].chunk = bulk ? between(r, 4 << 10, 64 << 10) :
				     st[i].bytes / between(r, 2, 24) + 1;
		st[i].pause = bulk && one_in(r, 2) ? 0 : about(r, 5, 500);
		if (one_in(r, 4))
			st[i].at = below(r, 8000);
	}
}

static void gen_end(struct world *w, struct rnd *r, struct side_plan *s, bool tame)
{
	s->rnd = rnd(r);
	gen_stream(w, r, s->w, &s->nw);
	if (one_in(r, 4))
		gen_stream(w, r, s->r, &s->nr);
	gen_opts(r, &s->opt);
	s->end_ms = about(r, 10, 12000);
	s->end = tame || !one_in(r, 4) ? END_EOF : between(r, END_CLOSE, END_ABORT);
	if (one_in(r, 3))
		s->io = IO_EDGE;
	else if (s->end == END_EOF && one_in(r, 4))
		s->io = IO_BLOCK;
}

/* Both ends; an accepted socket has the listener's buffers */
static void gen_ends(struct world *w, struct rnd *r, struct conn_plan *c, bool tame)
{
	gen_end(w, r, &c->side[0], tame);
	gen_end(w, r, &c->side[1], tame);
	c->side[1].opt.sndbuf = 0;
	c->side[1].opt.rcvbuf = 0;
}

static void gen_talk(struct world *w)
{
	struct rnd r = stream(w->seed, 3);
	bool tame = !one_in(&r, 3);
	u32 span = about(&r, 1, 4000);
	int i, n = (int)(one_in(&r, 6) ? between(&r, 8, 24) : between(&r, 2, 8));

	w->n_listen = (int)between(&r, 1, w->hosts + 1);
	for (i = 0; i < w->n_listen; i++) {
		struct listen_plan *l = &w->listen[i];

		l->host = i < w->hosts ? i + 1 : (int)between(&r, 1, w->hosts);
		l->plane = (int)below(&r, (u32)w->cards[l->host]);
		l->family = one_in(&r, 2) ? AF_INET6 : AF_INET;
		l->port = 5000 + (u32)i;
		l->backlog = 128;
	}
	for (i = 0; i < n; i++) {
		struct conn_plan *c = &w->conn[w->n_conn++];
		struct listen_plan *l;

		c->piece = w->pieces++;
		c->listener = (int)below(&r, (u32)w->n_listen);
		l = &w->listen[c->listener];
		c->server = l->host;
		c->plane = l->plane;
		c->family = l->family;
		c->port = l->port;
		do
			c->client = (int)between(&r, 1, w->hosts);
		while (c->client == c->server);
		c->cplane = (int)below(&r, (u32)w->cards[c->client]);
		c->start = below(&r, span);
		gen_ends(w, &r, c, tame);
	}
}

static const struct {
	const char *point, *val;
	u32 most;		/* of the number of the pass */
	bool broken, loses;
} faults[] = {
	/* of a queue pair */
	{ "tx_write", "qp_err", 200, false, false }, { "tx_send", "qp_err", 200, false, false },
	{ "tx_mid", "qp_err", 200, false, false }, { "rx_send", "qp_err", 200, false, false },
	{ "tx_send", "qp_fatal", 200, false, false }, { "wc_send", "qp_fatal", 50, false, false },
	{ "tx_write", "mute", 200, false, false }, { "tx_send", "mute", 200, false, false },
	{ "tx_ack", "mute", 200, false, false }, { "rx_send", "mute", 200, false, false },
	{ "tx_mid", "mute", 200, false, false }, { "wc_send", "fail", 50, false, false },
	{ "rx_send", "fail", 200, false, false }, { "tx_ack", "drop", 200, false, false },
	{ "tx_mid", "fail", 200, false, false }, { "post_send", "fail", 200, false, false },
	{ "post_recv", "fail", 200, false, false }, { "to_err", "fail", 2, false, false },
	/* of the creation of links and RMBs */
	{ "create_qp", "fail", 3, false, false }, { "create_cq", "fail", 3, false, false },
	{ "to_init", "fail", 3, false, false }, { "to_rtr", "fail", 3, false, false },
	{ "to_rts", "fail", 3, false, false }, { "alloc_pd", "fail", 2, false, false },
	{ "alloc_mr", "fail", 4, false, false }, { "map_mr", "fail", 4, false, false },
	{ "reg_mr", "fail", 4, false, false },
	/* acknowledged data are lost; a buffer cannot be mapped for any link */
	{ "wc_recv", "fail", 200, false, true }, { "wc_recv", "qp_fatal", 200, false, true },
	{ "dma_map", "fail", 40, false, true },
	/* of the device */
	{ "tx_send", "remove", 200, true, false }, { "to_rts", "remove", 3, true, false },
	{ "create_qp", "remove", 3, true, false }, { "destroy_qp", "remove", 3, true, false },
	{ "alloc_mr", "remove", 4, true, false }, { "wc_send", "device_fatal", 50, true, false },
	{ "post_send", "port_err", 200, true, false }, { "post_send", "gid_change", 200, false, false },
};

/* Of LLC. A CDC is neither lost nor corrupted: RC delivers each, unchanged. */
static const char * const messages[] = {
	"msg_confirm_link", "msg_confirm_link_reply", "msg_add_link", "msg_add_link_reply",
	"msg_add_link_cont", "msg_add_link_cont_reply", "msg_delete_link", "msg_delete_link_reply",
	"msg_confirm_rkey", "msg_confirm_rkey_reply", "msg_test_link", "msg_test_link_reply",
	"msg_confirm_rkey_cont", "msg_confirm_rkey_cont_reply", "msg_delete_rkey",
	"msg_delete_rkey_reply",
};

static void gen_message(struct rnd *r, struct dist *d)
{
	u32 i = below(r, ARRAY_SIZE(messages) + 2), n = between(r, 1, 3);
	char what[32];

	if (i >= ARRAY_SIZE(messages)) {
		snprintf(d->name, sizeof(d->name), "msg_cdc");
		n = about(r, 1, 200);
		if (one_in(r, 2))
			snprintf(what, sizeof(what), "twice");
		else
			snprintf(what, sizeof(what), "delay %u", about(r, 1, 3000));
	} else {
		snprintf(d->name, sizeof(d->name), "%s", messages[i]);
		switch (below(r, 5)) {
		case 0:
			snprintf(what, sizeof(what), "twice");
			break;
		case 1:
			snprintf(what, sizeof(what), "delay %u", about(r, 1, 8000) / 2);
			break;
		case 2:
			/* flags and numbers; not keys or addresses, where WRITEs hit anything */
			snprintf(what, sizeof(what), "corrupt %u", below(r, 4));
			d->loses = true;
			break;
		default:
			snprintf(what, sizeof(what), "drop");
		}
	}
	snprintf(d->val, sizeof(d->val), one_in(r, 6) ? "%u+ %s" : "%u %s", n, what);
}

static void gen_lan_fault(struct world *w, struct rnd *r, struct dist *d)
{
	u32 i = below(r, ARRAY_SIZE(faults)), n;

	if (one_in(r, 3)) {
		gen_message(r, d);
		return;
	}
	if (i >= ARRAY_SIZE(faults) - 8 && !one_in(r, 3))
		i = below(r, ARRAY_SIZE(faults) - 8);
	n = about(r, 1, faults[i].most);
	snprintf(d->name, sizeof(d->name), "%s", faults[i].point);
	if (one_in(r, 8))
		snprintf(d->val, sizeof(d->val), "%u+ %s", n, faults[i].val);
	else
		snprintf(d->val, sizeof(d->val), "%u %s", n, faults[i].val);
	d->broken = faults[i].broken;
	d->loses = faults[i].loses || w->unordered;
}

/* A disturbance of a card of one of a connection's hosts, most often while it is open */
static void gen_loss(struct world *w, struct rnd *r, struct dist *d)
{
	static const enum dist_kind rare[] = {
		D_PAUSE, D_PAUSE, D_DEVICE, D_DEVICE, D_PORT, D_PORT, D_CABLE, D_ADMIN, D_ADDR, D_ADDR,
		D_LGRDEL,
	};
	const struct conn_plan *c = &w->conn[below(r, (u32)w->n_conn)];
	int side = (int)below(r, 2);

	d->piece = w->pieces++;
	d->family = one_in(r, 2) ? AF_INET : AF_INET6;
	d->host = side ? c->server : c->client;
	d->peer = side ? c->client : c->server;
	d->plane = card(c, side);
	d->pplane = card(c, !side);
	if (one_in(r, 2))
		d->plane = (int)below(r, (u32)w->cards[d->host]);
	if (one_in(r, 2))
		d->pplane = (int)below(r, (u32)w->cards[d->peer]);
	d->start = c->start + (one_in(r, 3) ? below(r, 20) : about(r, 10, 10000));
	d->len = one_in(r, 4) ? FOREVER : about(r, 1, 20000);
	switch (below(r, 10)) {
	case 0 ... 3:
		d->kind = D_PATH;
		snprintf(d->name, sizeof(d->name), one_in(r, 3) ? ">" : "+");
		break;
	case 4 ... 6:
		d->kind = D_FAULT;
		gen_lan_fault(w, r, d);
		d->len += 2000;
		/* most LLC messages are sent when links are created and deleted */
		if (!strncmp(d->name, "msg_", 4) && strcmp(d->name, "msg_cdc"))
			d->start = one_in(r, 2) ? 0 : d->start / 8;
		break;
	default:
		d->kind = rare[below(r, ARRAY_SIZE(rare))];
	}
}

static void gen_losses(struct world *w, bool debug)
{
	struct rnd r = stream(w->seed, 4);
	int n;

	w->calm = one_in(&r, 8);
	if (w->calm)
		return;
	for (n = (int)about(&r, 1, 8); n; n--)
		gen_loss(w, &r, &w->dist[w->n_dist++]);
	if (debug && one_in(&r, 12)) {
		struct dist *d = &w->dist[w->n_dist++];

		d->piece = w->pieces++;
		d->kind = D_SLAB;
		d->host = 1;
		d->start = about(&r, 1, 8000);
		d->len = about(&r, 1, 5000);
		snprintf(d->name, sizeof(d->name), "failslab");
		snprintf(d->val, sizeof(d->val), "%u", between(&r, 1, 4));
	}
}

/*
 * In a third of these worlds connections end abruptly while links are lost, and others connect to
 * the same listener at once, so that elements are reused while connections move.
 */
static void gen_given_on(struct world *w)
{
	struct rnd r = stream(w->seed, 6);
	int i, k, n = w->n_conn;

	if (w->calm || !one_in(&r, 3))
		return;
	for (i = 0; i < w->n_dist; i++) {
		const struct dist *d = &w->dist[i];

		for (k = 0; k < n && d->kind != D_SLAB; k++) {
			struct conn_plan *c = &w->conn[k];
			struct side_plan *s = &c->side[below(&r, 2)];
			u32 at = d->start + about(&r, 1, 3000);

			if ((c->client != d->host && c->server != d->host) || at <= c->start ||
			    !one_in(&r, 2))
				continue;
			s->end = between(&r, END_CLOSE, END_ABORT);
			s->end_ms = at - c->start;
			if (s->io == IO_BLOCK)
				s->io = IO_EDGE;
			if (w->n_conn == MAX_CONNS / 2)
				continue;
			w->conn[w->n_conn] = *c;
			c = &w->conn[w->n_conn++];
			c->piece = w->pieces++;
			c->start = at + about(&r, 1, 1000);
			gen_ends(w, &r, c, false);
		}
	}
}

void generate_lan(struct world *w, bool debug)
{
	gen_hosts(w);
	gen_knobs(w);
	gen_talk(w);
	gen_losses(w, debug);
	gen_given_on(w);
	gen_probes(w);
}

/* --- which links are left --- */

/* Known links, by the user ID of their end at the first of the two hosts */
static struct {
	u32 id;
	bool hurt;
} known[4096];
static int n_known;

/* Times of the last disturbance of a host, and of the last abrupt end of a connection after it */
static u64 befell[HOSTS + 1], given[HOSTS + 1][HOSTS + 1], n_abrupt, n_after;

void lan_begin(void)
{
	n_known = 0;
	memset(befell, 0, sizeof(befell));
	memset(given, 0, sizeof(given));
	n_abrupt = 0;
	n_after = 0;
}

void lan_abrupt(const struct conn_plan *c)
{
	u64 since = befell[c->client] > befell[c->server] ? befell[c->client] : befell[c->server];

	if (!since || now() - since > 3000 * MS)
		return;
	given[c->client][c->server] = now();
	n_abrupt++;
}

void lan_opened(const struct conn_plan *c)
{
	u64 at = given[c->client][c->server];

	if (at && now() - at < 1500 * MS)
		n_after++;
}

/* All links and groups of the hosts at the moment */
static struct {
	struct link_end end[MAX_ENDS];
	int peer[MAX_ENDS];	/* index of the other end, -1 if there is none in RTS */
	int n_end;
	struct group group[MAX_GROUPS * HOSTS];
	int n_group;
} seen;

static bool look_around(const struct world *w)
{
	int h, i, j, rc;

	seen.n_end = 0;
	seen.n_group = 0;
	for (h = 1; h <= w->hosts; h++) {
		rc = link_ends(h, seen.end + seen.n_end, MAX_ENDS - seen.n_end);
		if (rc < 0)
			return fail("links of host %d: %s", h, strerrorname_np(-rc));
		seen.n_end += rc;
		rc = groups(h, seen.group + seen.n_group, MAX_GROUPS);
		if (rc < 0)
			return fail("link groups of host %d: %s", h, strerrorname_np(-rc));
		seen.n_group += rc;
	}
	for (i = 0; i < seen.n_end; i++)
		seen.peer[i] = -1;
	for (i = 0; i < seen.n_end; i++) {
		for (j = i + 1; j < seen.n_end; j++) {
			const struct link_end *a = &seen.end[i], *b = &seen.end[j];

			if (a->state != SMCR_NL_LINK_RTS || b->state != SMCR_NL_LINK_RTS ||
			    a->id != b->peer_id || b->id != a->peer_id)
				continue;
			seen.peer[i] = j;
			seen.peer[j] = i;
		}
	}
	return true;
}

static const struct group *group_of(const struct link_end *e)
{
	int i;

	for (i = 0; i < seen.n_group; i++)
		if (seen.group[i].host == e->host && seen.group[i].id == e->lgr)
			return &seen.group[i];
	return NULL;
}

/* Does @d disturb that link? A fault may, at some time. */
static bool aims(const struct dist *d, const struct link_end *a, const struct link_end *b)
{
	if (d->kind < D_CALM)
		return false;
	if (d->kind == D_SLAB)
		return true;
	if (d->kind == D_LGRDEL)
		return d->host == a->host || d->host == b->host;
	if (d->kind == D_PATH && (d->host == b->host || d->peer == a->host)) {
		const struct link_end *c = a;

		a = b;
		b = c;
	}
	if (d->kind == D_PATH)
		return d->host == a->host && d->plane == a->plane && d->peer == b->host &&
		       d->pplane == b->plane;
	return (d->host == a->host && d->plane == a->plane) ||
	       (d->host == b->host && d->plane == b->plane);
}

/* The link with its first end at @i: has a disturbance met it? */
static bool *hurt(const struct world *w, int i)
{
	const struct link_end *a = &seen.end[i], *b = &seen.end[seen.peer[i]];
	static bool yes;
	int k;

	for (k = 0; k < n_known; k++)
		if (known[k].id == a->id)
			return &known[k].hurt;
	if (n_known == ARRAY_SIZE(known)) {
		yes = true;
		return &yes;
	}
	known[n_known].id = a->id;
	known[n_known].hurt = false;
	for (k = 0; k < w->n_dist; k++) {
		const struct dist *d = &w->dist[k];

		if (!d->off && d->phase == 1 && !d->refused && aims(d, a, b))
			known[n_known].hurt = true;
	}
	return &known[n_known++].hurt;
}

static u32 pairs_of(const struct world *w, int host)
{
	u32 pairs = 0;
	int h;

	for (h = 1; h <= w->hosts; h++)
		if (h != host)
			pairs |= PAIR(host, h);
	return pairs;
}

static int bits(u64 x)
{
	return __builtin_popcountll(x);
}

/* Just before @d: which groups may end by it, as no undisturbed link is left? */
void lan_befalls(struct world *w, struct dist *d)
{
	u32 pairs = d->peer && d->kind == D_PATH ? PAIR(d->host, d->peer) : pairs_of(w, d->host);
	bool left[MAX_GROUPS * HOSTS] = { };
	int i;

	if (d->kind < D_CALM || !look_around(w))
		return;
	befell[d->host] = now();
	if (!d->phase)
		d->met = app_met();
	for (i = 0; i < seen.n_end; i++) {
		const struct link_end *a = &seen.end[i];
		const struct group *ga = group_of(a);
		bool *is;

		if (seen.peer[i] < 0)
			continue;
		is = hurt(w, i < seen.peer[i] ? i : seen.peer[i]);
		if (aims(d, a, &seen.end[seen.peer[i]]))
			*is = true;
		if (!*is && ga && ga->active)
			left[ga - seen.group] = true;
	}
	for (i = 0; i < seen.n_group; i++)
		if (seen.group[i].conns && !left[i])
			d->dooms |= pairs_of(w, seen.group[i].host);
	if (d->loses || !(BIT(d->kind) & ONLY_LINKS))
		d->dooms |= d->kind == D_SLAB ? ~0u : pairs;
	hit(d->dooms & pairs ? "doomed" : "spared", d->kind == D_FAULT ? d->name : dist_names[d->kind],
	    (u64)bits(d->met));
	say("%s %d/%d: %d ends of links, %d connections, may end groups of pairs %#x",
	    dist_names[d->kind], d->host, d->plane, seen.n_end, bits(d->met), d->dooms & pairs);
}

static bool between_both(const struct dist *d, const struct conn_plan *c)
{
	if (d->kind == D_SLAB)
		return true;
	if (d->kind == D_PATH)
		return PAIR(d->host, d->peer) == PAIR(c->client, c->server);
	return d->host == c->client || d->host == c->server;
}

/*
 * Has a disturbance of @kinds met connection @conn, made at @since, that may end it? TCP's
 * packets use the cards of its own addresses only.
 */
bool conn_tainted(const struct world *w, int conn, u32 kinds, u64 since)
{
	const struct conn_plan *c = &w->conn[conn];
	int i;

	for (i = 0; i < w->n_dist; i++) {
		const struct dist *d = &w->dist[i];
		u32 kind = BIT(d->kind);

		if (d->off || !d->phase || d->kind < D_CALM || d->refused ||
		    (d->kind == D_FAULT && !d->happened) || !between_both(d, c))
			continue;
		if (d->kind == D_FAULT && !strcmp(d->name, "dma_map"))
			kind |= NO_MAPPING;
		if (d->kind == D_FAULT && d->broken)
			kind |= GOES;
		if (!(kinds & kind) || is_past(w, d, since))
			continue;
		/* a handshake may fail with the link that its connection was to have */
		if (!(d->met >> conn & 1) || d->dooms & PAIR(c->client, c->server) ||
		    (kind & TCP_TOO && (touches(d, c->client, c->cplane) ||
					touches(d, c->server, c->plane))))
			return true;
	}
	return false;
}

/* The time in which both ends of a link notice its loss: ns */
u64 detection(const struct world *w, const struct conn_plan *c)
{
	const int host[] = { c->client, c->server };
	u64 most = 0;
	int i;

	for (i = 0; i < 2; i++) {
		u64 ask = (time_of(w, host[i], "t_testlink") + time_of(w, host[i], "t_llc")) * 9ull /
			8 * MS;
		u64 give_up = 7 * (4096ull << time_of(w, host[i], "qp_timeout"));

		most = ask > most ? ask : most;
		most = give_up > most ? give_up : most;
	}
	return most + 2000 * MS;
}

/* Nothing has moved on connection @conn since @since: until when may a lost link be the cause? */
u64 slowed(const struct world *w, int conn, u64 since)
{
	const struct conn_plan *c = &w->conn[conn];
	u64 at, wait = detection(w, c);
	int i;

	for (i = 0; i < w->n_dist; i++) {
		const struct dist *d = &w->dist[i];

		if (d->off || !d->phase || d->kind < D_CALM || d->refused || !between_both(d, c))
			continue;
		at = d->start * MS;
		/* it can happen at any time */
		if (d->kind == D_FAULT || d->kind == D_SLAB)
			at = d->phase == 1 ? now() : d->until;
		/* a device that is made again at the end of the disturbance */
		else if (d->broken && d->phase == 2)
			at = d->until;
		if (at + wait > since)
			since = at + wait;
	}
	return since;
}

/* --- the end --- */

/* The difference between the hosts, or NULL */
static const char *differ(const struct world *w, char *text, size_t size)
{
	int links[MAX_GROUPS * HOSTS] = { }, i;

	if (!look_around(w))
		return "no answer";
	for (i = 0; i < seen.n_end; i++) {
		const struct link_end *a = &seen.end[i], *b;
		const struct group *ga = group_of(a), *gb;

		if (seen.peer[i] < 0) {
			snprintf(text, size, "link %u of group %u at host %d, state %u, has no other end",
				 a->num, a->lgr, a->host, a->state);
			return text;
		}
		b = &seen.end[seen.peer[i]];
		gb = group_of(b);
		if (!ga || !gb || !ga->active || !gb->active || ga->server == gb->server ||
		    a->num != b->num || ga->max_links != gb->max_links) {
			snprintf(text, size, "link %u of group %u at host %d is %u of %u at host %d", a->num,
				 a->lgr, a->host, b->num, b->lgr, b->host);
			return text;
		}
		if (ga->conns != gb->conns) {
			snprintf(text, size, "group %u of host %d has %u connections, %u of host %d has %u",
				 a->lgr, a->host, ga->conns, b->lgr, b->host, gb->conns);
			return text;
		}
		links[ga - seen.group]++;
		/* there must be another link where there can be one */
		if (w->cards[a->host] + w->cards[b->host] > 2 &&
		    time_of(w, a->host, "max_links") > 1 && time_of(w, b->host, "max_links") > 1)
			links[ga - seen.group] |= 1 << 16;
	}
	for (i = 0; i < seen.n_group; i++) {
		const struct group *g = &seen.group[i];

		if (!links[i] || (links[i] >> 16 && (links[i] & 0xffff) < 2)) {
			snprintf(text, size, "group %u of host %d has %d links, max_links %u", g->id, g->host,
				 links[i] & 0xffff, g->max_links);
			return text;
		}
	}
	return NULL;
}

/*
 * After the last disturbance, with idle connections: both hosts have the same links in the
 * same groups, and the groups are redundant after the server's next attempt (t_link_retry).
 */
bool links_agree(struct world *w)
{
	u64 until = now(), most = 0;
	const char *why;
	char text[160];
	int h;

	hit("given-on", "abrupt-ends", n_abrupt);
	hit("given-on", "connections-after", n_after);
	for (h = 1; h <= w->hosts; h++) {
		u64 ms = time_of(w, h, "t_link_retry") * 18ull + time_of(w, h, "t_testlink") * 2 +
			time_of(w, h, "t_llc") * 4 + SLACK;

		most = ms > most ? ms : most;
	}
	until += most * MS;
	while ((why = differ(w, text, sizeof(text))) && now() < until && !failed())
		run_until(w, now() + 500 * MS);
	say("both agree%s%s", why ? " not: " : "", why ? why : "");
	return !why || fail("hosts do not agree: %s", why);
}
