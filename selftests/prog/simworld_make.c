// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generation of a world from a seed. All random numbers are drawn before the
 * world runs, each part from a stream of its own, so that one part can be left
 * out without a change of the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "simworld.h"

const char * const dist_names[D_KINDS] = {
	[D_KNOB] = "knob", [D_SYSCTL] = "sysctl", [D_CABLE] = "cable", [D_ADMIN] = "link",
	[D_ADDR] = "address",
	[D_DEVICE] = "device", [D_PAUSE] = "pause", [D_FAULT] = "fault", [D_LGRDEL] = "lgr-del",
	[D_SLAB] = "memory", [D_PATH] = "path", [D_PORT] = "port",
};

const char * const end_names[] = {
	[END_EOF] = "eof", [END_CLOSE] = "close", [END_RDWR] = "shut-rdwr", [END_AT] = "close-at",
	[END_ABORT] = "abort",
};

const char * const io_names[] = {
	[IO_LEVEL] = "level", [IO_EDGE] = "edge", [IO_BLOCK] = "block",
};

u64 rnd(struct rnd *r)
{
	u64 z = r->s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

u32 below(struct rnd *r, u32 n)
{
	return (u32)((rnd(r) >> 32) * n >> 32);
}

u32 between(struct rnd *r, u32 lo, u32 hi)
{
	return lo + below(r, hi - lo + 1);
}

bool one_in(struct rnd *r, u32 n)
{
	return !below(r, n);
}

u32 about(struct rnd *r, u32 lo, u32 hi)
{
	u32 top = lo ? lo : 1;

	while (top < hi && !one_in(r, 4))
		top = top > hi / 4 ? hi : top * 4;
	return between(r, lo, top);
}

struct rnd stream(u64 seed, u32 what)
{
	struct rnd r = { seed * 0xd1342543de82ef95ull + what };

	rnd(&r);
	return r;
}

struct setting *set(struct world *w, int host, int plane, const char *name, u32 val)
{
	struct setting *s = &w->set[w->n_set];

	if (w->n_set == MAX_SET)
		return NULL;
	w->n_set++;
	s->piece = w->pieces++;
	s->host = host;
	s->plane = plane;
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->val, sizeof(s->val), "%u", val);
	return s;
}

/* Knobs of a device */
static const struct knob {
	const char *name;
	u32 lo, hi;
	bool run;		/* can be changed at any time, without an effect on data */
	bool limit;
} knobs[] = {
	{ "vectors", 1, 4, false, false },
	{ "max_send_sge", 3, 32, false, false },
	{ "max_recv_sge", 1, 32, false, false },
	{ "max_inline", 0, 512, false, false },
	{ "page_list", 64, 1024, false, true },
	{ "local_lkey", 0, 1, false, false },
	{ "max_qp_wr", 64, 4096, false, true },
	{ "shadow", 0, 1, false, false },
	{ "max_qp", 1, 6, false, true },
	{ "max_mr", 1, 12, false, true },
	{ "mtu", 8, 12, false, false },	/* a power of two; no device has another one all at once */
	{ "latency", 0, 2000000, true, false },
	{ "spread", 0, 1000000, true, false },
	{ "bandwidth", 100, 100000, true, false },
	{ "piece", 1, 4096, true, false },
	{ "order", 0, 2, true, false },
	{ "cq_delay", 0, 300000, true, false },
	{ "cq_spread", 0, 200000, true, false },
	{ "cq_count", 0, 64, true, false },
};

static u32 knob_value(struct rnd *r, const struct knob *k)
{
	u32 v = k->hi - k->lo < 8 ? between(r, k->lo, k->hi) : about(r, k->lo, k->hi);

	if (!strcmp(k->name, "mtu"))
		return 1u << v;
	if (!strcmp(k->name, "piece") && v < 64 && !one_in(r, 4))
		return 64 + v;	/* byte by byte is slow */
	return v;
}

static const struct sysctl {
	const char *name;
	u32 lo, hi;
	bool limit;
} sysctls[] = {
	{ "rmem", 16384, 524288, false },
	{ "wmem", 16384, 1048576, false },
	{ "eye_catcher", 0, 1, false },
	{ "t_lgr_idle", 1000, 100000, false },
	{ "t_close", 2000, 60000, false },
	{ "t_abort", 1000, 10000, false },
	{ "t_testlink", 0, 30000, false },
	{ "t_rmb_free", 100, 60000, false },
	{ "t_llc", 1000, 8000, false },
	{ "keepalive_floor", 0, 60000, false },
	{ "max_conns_per_lgr", 1, 8, true },
	{ "max_rmbs_per_lgr", 1, 4, true },
	{ "max_lgrs", 1, 4, true },
	{ "max_handshakes", 1, 8, true },
	{ "max_first_contacts", 1, 4, true },
	{ "max_mem", 64, 4096, true },
};

/* Can its listener run out of room? */
bool crowded(const struct world *w, const struct conn_plan *c)
{
	return c->listener >= 0 && w->listen[c->listener].backlog < 8;
}

/* May a limit of its two hosts, their devices or its listener make a connection TCP? */
bool limited(const struct world *w, const struct conn_plan *c)
{
	size_t k;
	int i;

	if (crowded(w, c))
		return true;
	for (i = 0; i < w->n_set; i++) {
		const struct setting *s = &w->set[i];

		if (s->off || (s->host != c->client && s->host != c->server))
			continue;
		for (k = 0; s->plane < 0 && k < ARRAY_SIZE(sysctls); k++)
			if (sysctls[k].limit && !strcmp(sysctls[k].name, s->name))
				return true;
		for (k = 0; s->plane == c->plane && k < ARRAY_SIZE(knobs); k++)
			if (knobs[k].limit && !strcmp(knobs[k].name, s->name))
				return true;
	}
	return false;
}

/* Unlike soft RoCE: few SGEs, nothing inline, placement in parts and out of order */
static void gen_hard(struct world *w, struct rnd *r, int h, int p)
{
	set(w, h, p, "order", between(r, 1, 2));
	set(w, h, p, "piece", 64 + about(r, 1, 2048));
	if (one_in(r, 2))
		set(w, h, p, "max_send_sge", between(r, 3, 4));
	if (one_in(r, 2))
		set(w, h, p, "max_inline", 0);
	if (one_in(r, 2))
		set(w, h, p, "cq_delay", about(r, 1, 300000));
	if (one_in(r, 2))
		set(w, h, p, "bandwidth", between(r, 200, 2000));
	/* several parts wait for placement only if they arrive faster than they are placed */
	set(w, h, p, "latency", about(r, 20000, 1000000));
}

static void gen_settings(struct world *w)
{
	struct rnd r = stream(w->seed, 2);
	bool v1, hard;
	int h, p, n;

	if (one_in(&r, 6))
		return;		/* all defaults */
	hard = one_in(&r, 3);
	w->limits = !w->crowd && one_in(&r, 4);
	/*
	 * RoCEv1 and RoCEv2 do not interoperate, and SMC-R does not announce the type of a GID: so
	 * either all hosts have v1 only, or none has.
	 */
	v1 = one_in(&r, 4);
	for (h = 1; h <= w->hosts; h++)
		for (p = 0; p < w->planes; p++)
			if (v1)
				set(w, h, p, "gid_types", 1);
			else if (one_in(&r, 3))
				set(w, h, p, "gid_types", 2);
	for (h = 1; h <= w->hosts; h++) {
		/* with long retries of the adapter TEST LINK notices a loss first */
		if (one_in(&r, 3))
			set(w, h, -1, "qp_timeout", between(&r, 14, 22));
		for (n = (int)below(&r, 5); n; n--) {
			const struct sysctl *s = &sysctls[below(&r, ARRAY_SIZE(sysctls))];
			u32 v = s->hi - s->lo < 8 ? between(&r, s->lo, s->hi) : about(&r, s->lo,
										      s->hi);

			if (!s->limit || w->limits)
				set(w, h, -1, s->name, v);
		}
		for (p = 0; p < w->planes; p++) {
			if (hard)
				gen_hard(w, &r, h, p);
			for (n = (int)below(&r, 6); n; n--) {
				const struct knob *k = &knobs[below(&r, ARRAY_SIZE(knobs))];
				u32 v = knob_value(&r, k);

				if (!k->limit || w->limits)
					set(w, h, p, k->name, v);
			}
		}
	}
}

/* The cost of a world is its calls: few connections make many of them. */
static void gen_steps(struct world *w, struct rnd *r, struct step *st, int *n, u32 most, bool slow)
{
	u32 calls = one_in(r, 8) ? 300 : 40;
	int i;

	*n = (int)below(r, MAX_STEPS + 1);
	for (i = 0; i < *n; i++) {
		st[i].piece = w->pieces++;
		st[i].bytes = about(r, 1, most);
		st[i].chunk = about(r, 1, 256 << 10);
		if (st[i].bytes / st[i].chunk > calls)
			st[i].chunk = st[i].bytes / calls;
		if (slow && one_in(r, 3)) {
			st[i].pause = about(r, 1, 2000);
			if (st[i].bytes / st[i].chunk > 20)
				st[i].chunk = st[i].bytes / 20;
		}
	}
}

void gen_opts(struct rnd *r, struct opts *o)
{
	memset(o, 0, sizeof(*o));
	o->linger = -1;
	if (one_in(r, 3))
		o->sndbuf = (int)about(r, 4096, 1 << 20);
	if (one_in(r, 3))
		o->rcvbuf = (int)about(r, 4096, 512 << 10);
	o->nodelay = one_in(r, 3);
	o->cork = one_in(r, 8);
	o->keepalive = one_in(r, 8) ? (int)between(r, 1, 20) : 0;
	o->lowat = one_in(r, 6) ? (int)about(r, 2, 65536) : 0;
	o->more = one_in(r, 8);
	o->waitall = one_in(r, 6);
}

/*
 * Bulk: large messages from a send buffer whose size is no multiple of its chunks; or small ones
 * one behind the other, and a reader that asks for more than has come while the next is placed.
 */
static void gen_bulk(struct world *w, struct rnd *r, struct side_plan *from, struct side_plan *to)
{
	bool large = one_in(r, 2);
	struct step *st = &from->w[0];
	u32 size = large ? between(r, 64 << 10, 256 << 10) : between(r, 3000, 16 << 10);

	from->nw = 1;
	st->piece = w->pieces++;
	st->bytes = between(r, 256 << 10, 768 << 10);
	st->chunk = size;
	st->pause = 0;
	if (large) {
		from->opt.sndbuf = (int)between(r, 100000, 210000);
	} else {
		from->opt.nodelay = 1;
		from->opt.sndbuf = 0;
	}
	from->opt.cork = 0;
	to->opt.rcvbuf = 0;
	to->opt.lowat = 0;
	to->noread = false;
	to->nr = 1;
	st = &to->r[0];
	st->piece = w->pieces++;
	st->bytes = between(r, 128 << 10, 256 << 10);
	st->chunk = size / 2 + below(r, size * 3);
	st->pause = large && one_in(r, 4) ? about(r, 1, 20) : 0;
}

/* A wire that is slower than the placement of arrived data, which is out of order */
static void gen_bulk_knobs(struct world *w, struct rnd *r)
{
	int h, p;

	for (h = 1; h <= w->hosts; h++) {
		for (p = 0; p < w->planes; p++) {
			set(w, h, p, "order", between(r, 1, 2));
			set(w, h, p, "piece", between(r, 200, 1500));
			set(w, h, p, "latency", between(r, 4000, 40000));
			set(w, h, p, "bandwidth", between(r, 300, 2000));
			if (!one_in(r, 3))
				set(w, h, p, "max_send_sge", 3);
			if (one_in(r, 2))
				set(w, h, p, "cq_delay", between(r, 20000, 200000));
		}
	}
}

/*
 * Connections that wait for the send queue of one link: all send at once. Large messages, each with
 * a completion; or small ones, most without, and none after them for a while.
 */
static void gen_crowd(struct world *w, struct rnd *r, struct side_plan *s, bool small)
{
	struct step *st = &s->w[0];

	s->nw = 1;
	st->piece = w->pieces++;
	st->at = w->crowd;
	st->chunk = small ? between(r, 60, 300) : between(r, 8 << 10, 12 << 10);
	st->bytes = st->chunk * between(r, 12, 24);
	st->pause = 0;
	if (small) {
		s->nw = 2;
		st[1] = *st;
		st[1].piece = w->pieces++;
		st[1].at = w->crowd + 8000;
	}
	s->opt.rcvbuf = 0;
	s->opt.sndbuf = 0;
	s->opt.nodelay = 1;
	s->opt.cork = 0;
	s->opt.more = 0;
	s->end_ms += w->crowd;
}

static void gen_side(struct world *w, struct rnd *r, struct side_plan *s, u32 most, bool tame)
{
	bool slow = one_in(r, 3);

	s->rnd = rnd(r);
	gen_steps(w, r, s->w, &s->nw, most, one_in(r, 4));
	gen_steps(w, r, s->r, &s->nr, most, slow);
	gen_opts(r, &s->opt);
	if (!tame && one_in(r, 24)) {
		s->opt.linger = (int)between(r, 1, 2);
		w->lingers += (u32)s->opt.linger;
	}
	s->end_ms = about(r, 0, 8000);
	if (tame || !one_in(r, 3))
		s->end = END_EOF;
	else
		s->end = between(r, END_CLOSE, END_ABORT);
	s->noread = !tame && one_in(r, 16);
	if (s->noread && s->end == END_EOF)
		s->end = END_AT;
	if (one_in(r, 3))
		s->io = IO_EDGE;
	else if (s->end == END_EOF && !s->noread && one_in(r, 4))
		s->io = IO_BLOCK;
}

static void gen_conns(struct world *w)
{
	struct rnd r = stream(w->seed, 3);
	bool tame = one_in(&r, 3);	/* no application ends abruptly */
	u32 most = one_in(&r, 6) ? 2 << 20 : 96 << 10;
	u32 span = about(&r, 1, 4000);
	bool bulk, small;
	int i, n;

	w->n_listen = (int)between(&r, 1, w->hosts + 1);
	for (i = 0; i < w->n_listen; i++) {
		struct listen_plan *l = &w->listen[i];

		l->host = i < w->hosts ? i + 1 : (int)between(&r, 1, w->hosts);
		l->plane = (int)below(&r, w->planes);
		l->family = one_in(&r, 2) ? AF_INET6 : AF_INET;
		l->port = 5000 + i;
		l->backlog = !w->crowd && one_in(&r, 8) ? (int)between(&r, 1, 4) : 128;
		if (l->backlog < 8)
			w->limits = true;
		l->sndbuf = one_in(&r, 4) ? (int)about(&r, 4096, 1 << 20) : 0;
		l->rcvbuf = one_in(&r, 4) ? (int)about(&r, 4096, 512 << 10) : 0;
	}
	bulk = !w->crowd && one_in(&r, 3);
	if (bulk)
		gen_bulk_knobs(w, &r);
	n = (int)(one_in(&r, 8) ? between(&r, 8, 32) : between(&r, 1, 8));
	small = one_in(&r, 2);
	if (w->crowd) {
		n = (int)between(&r, 12, 24);
		span = 20;
		w->listen[0].rcvbuf = 0;
		for (i = 0; i < w->hosts * w->planes; i++) {
			set(w, i / w->planes + 1, i % w->planes, "latency",
			    between(&r, 300000, 2000000));
			set(w, i / w->planes + 1, i % w->planes, "bandwidth",
			    between(&r, 500, 2000));
		}
	}
	for (i = 0; i < n; i++) {
		struct conn_plan *c = &w->conn[w->n_conn++];
		struct listen_plan *l;

		c->piece = w->pieces++;
		c->listener = w->crowd ? 0 : (int)below(&r, w->n_listen);
		l = &w->listen[c->listener];
		c->server = l->host;
		c->plane = l->plane;
		c->cplane = l->plane;
		c->family = l->family;
		c->port = l->port;
		do
			c->client = (int)between(&r, 1, w->hosts);
		while (c->client == c->server);
		if (w->crowd)
			c->client = c->server % w->hosts + 1;
		if (!tame && !w->crowd && one_in(&r, 24)) {
			c->listener = -1;
			c->port = 4999;
		}
		c->start = w->crowd ? i ? 10 + below(&r, span) : 0 : below(&r, span);
		gen_side(w, &r, &c->side[0], most, tame);
		gen_side(w, &r, &c->side[1], most, tame);
		if (bulk && !one_in(&r, 3)) {
			int from = (int)below(&r, 2);

			gen_bulk(w, &r, &c->side[from], &c->side[!from]);
		}
		if (w->crowd) {
			gen_crowd(w, &r, &c->side[0], small);
			if (one_in(&r, 2))
				gen_crowd(w, &r, &c->side[1], small);
		}
		/* an accepted socket has the listener's */
		c->side[1].opt.sndbuf = 0;
		c->side[1].opt.rcvbuf = 0;
	}
}

static const struct {
	const char *point, *val;	/* val is what follows the number */
	bool broken;
} faults[] = {
	{ "create_cq", "fail", false }, { "create_qp", "fail", false },
	{ "to_init", "fail", false }, { "to_rtr", "fail", false },
	{ "to_rts", "fail", false }, { "alloc_mr", "fail", false },
	/* not dereg_mr: smcr never frees memory that the device may still write to */
	{ "map_mr", "fail", false }, { "wc_send", "qp_fatal", false },
	{ "dma_map", "fail", false }, { "post_send", "fail", false },
	{ "post_recv", "fail", false }, { "reg_mr", "fail", false },
	{ "alloc_pd", "fail", false }, { "to_err", "fail", false },
	{ "tx_write", "fail", false }, { "tx_write", "qp_err", false },
	{ "tx_write", "mute", false }, { "tx_write", "qp_fatal", false },
	{ "tx_mid", "fail", false }, { "tx_mid", "mute", false },
	{ "tx_mid", "qp_err", false }, { "tx_mid", "remove", true },
	{ "tx_send", "fail", false }, { "tx_send", "mute", false },
	{ "tx_send", "qp_err", false }, { "tx_send", "remove", true },
	{ "rx_send", "fail", false }, { "rx_send", "qp_err", false },
	{ "rx_send", "mute", false }, { "tx_ack", "drop", false },
	{ "tx_ack", "mute", false }, { "wc_send", "fail", false },
	{ "wc_send", "device_fatal", true }, { "wc_recv", "fail", false },
	{ "wc_recv", "qp_fatal", false }, { "post_send", "port_err", true },
	{ "post_send", "gid_change", false }, { "wc_recv", "port_err", true },
	{ "create_qp", "remove", true }, { "to_rts", "remove", true },
	{ "alloc_mr", "remove", true }, { "wc_send", "remove", true },
	{ "destroy_qp", "remove", true },
};

/* Points that are passed a few times for each link, and not with every message */
static bool is_rare(const char *point)
{
	return strncmp(point, "tx_", 3) && strncmp(point, "rx_", 3) && strncmp(point, "wc_", 3) &&
		strncmp(point, "post_", 5);
}

void gen_fault(struct rnd *r, struct dist *d)
{
	u32 i = below(r, ARRAY_SIZE(faults));
	u32 n = is_rare(faults[i].point) ? about(r, 1, 6) : about(r, 1, 40);

	snprintf(d->name, sizeof(d->name), "%s", faults[i].point);
	if (one_in(r, 8))
		snprintf(d->val, sizeof(d->val), "%u+ %s", n, faults[i].val);
	else if (one_in(r, 4))
		snprintf(d->val, sizeof(d->val), "p%u %s",
			 is_rare(faults[i].point) ? between(r, 100000, 500000) :
						    about(r, 1000, 200000), faults[i].val);
	else
		snprintf(d->val, sizeof(d->val), "%u %s", n, faults[i].val);
	d->broken = faults[i].broken;
}

static void gen_dist(struct rnd *r, struct world *w, struct dist *d, enum dist_kind least,
		     enum dist_kind most)
{
	const struct knob *k;
	const struct sysctl *s;

	d->piece = w->pieces++;
	d->kind = between(r, least, most);
	if (least == D_CALM && one_in(r, 2))
		d->kind = D_FAULT;
	d->host = (int)between(r, 1, w->hosts);
	d->plane = (int)below(r, w->planes);
	d->family = one_in(r, 2) ? AF_INET : AF_INET6;
	d->start = about(r, 0, 6000);
	d->len = about(r, 1, 20000);
	if (least == D_CALM && w->n_conn && !one_in(r, 4)) {
		/* while one of the connections is open */
		const struct conn_plan *c = &w->conn[below(r, (u32)w->n_conn)];

		d->host = one_in(r, 2) ? c->client : c->server;
		d->plane = c->plane;
		d->family = c->family;
		d->start = c->start + (one_in(r, 2) ? 0 : about(r, 0, 1000));
		/* most have ended when they have sent all, after some milliseconds */
		if (!one_in(r, 3))
			d->start = c->start + below(r, 12);
		if (w->crowd && one_in(r, 2))
			d->start = w->crowd + below(r, 8);
	}
	if (d->kind == D_KNOB) {
		do
			k = &knobs[below(r, ARRAY_SIZE(knobs))];
		while (!k->run);
		snprintf(d->name, sizeof(d->name), "%s", k->name);
		snprintf(d->val, sizeof(d->val), "%u", knob_value(r, k));
	} else if (d->kind == D_SYSCTL) {
		/* those that change no open connection; see sysctls[] */
		static const char * const names[] = { "rmem", "wmem", "eye_catcher", "t_rmb_free",
			"max_conns_per_lgr" };
		const char *name = names[below(r, 5)];

		for (s = sysctls; strcmp(s->name, name); s++)
			;
		snprintf(d->name, sizeof(d->name), "%s", name);
		snprintf(d->val, sizeof(d->val), "%u", about(r, s->lo, s->hi));
	} else if (d->kind == D_FAULT) {
		gen_fault(r, d);
		/* before links are created */
		if (is_rare(d->name) && one_in(r, 2))
			d->start = 0;
		if (d->len < 100)
			d->len += 100;
	} else if (d->kind == D_SLAB) {
		bool pages = one_in(r, 2);
		u32 percent = pages ? between(r, 10, 100) : between(r, 1, 4);

		snprintf(d->name, sizeof(d->name), "%s", pages ? "fail_page_alloc" : "failslab");
		snprintf(d->val, sizeof(d->val), "%u", percent);
	}
}

static void gen_dists(struct world *w, bool debug)
{
	struct rnd r = stream(w->seed, 4);
	int n;

	w->calm = one_in(&r, 3);
	for (n = (int)below(&r, 4); n; n--)
		gen_dist(&r, w, &w->dist[w->n_dist++], D_KNOB, D_CALM - 1);
	if (w->calm)
		return;
	for (n = (int)about(&r, 1, 6); n; n--)
		gen_dist(&r, w, &w->dist[w->n_dist++], D_CALM, debug ? D_SLAB : D_SLAB - 1);
}

/* After all disturbances every pair of hosts that had a connection makes another one. */
void gen_probes(struct world *w)
{
	int i, n = w->n_conn;
	bool seen[HOSTS + 1][MAX_LISTEN] = { };

	for (i = 0; i < n && w->n_conn < MAX_CONNS; i++) {
		struct conn_plan *of = &w->conn[i], *c = &w->conn[w->n_conn];
		int side;

		if (of->listener < 0 || seen[of->client][of->listener])
			continue;
		seen[of->client][of->listener] = true;
		*c = *of;
		w->n_conn++;
		c->probe = true;
		c->piece = w->pieces++;
		for (side = 0; side < 2; side++) {
			struct side_plan *s = &c->side[side];

			memset(s, 0, sizeof(*s));
			s->opt.linger = -1;
			s->nw = 1;
			s->w[0] = (struct step){ .piece = -1, .bytes = 3000, .chunk = 3000 };
			s->rnd = i;
		}
	}
}

static const struct {
	const char *name;
	u32 ms;
} defaults[] = {
	{ "t_close", 60000 }, { "t_abort", 10000 }, { "t_llc", 4000 }, { "t_lgr_idle", 600000 },
	{ "t_testlink", 30000 }, { "t_rmb_free", 60000 }, { "t_link_retry", 60000 },
	{ "qp_timeout", 15 },	/* no ms */
};

/* The value of a sysctl of @host, ms */
u32 time_of(const struct world *w, int host, const char *name)
{
	u32 ms = 0;
	size_t k;
	int i;

	for (k = 0; k < ARRAY_SIZE(defaults); k++)
		if (!strcmp(defaults[k].name, name))
			ms = defaults[k].ms;
	for (i = 0; i < w->n_set; i++) {
		const struct setting *s = &w->set[i];

		if (!s->off && s->plane < 0 && s->host == host && !strcmp(s->name, name))
			ms = (u32)strtoul(s->val, NULL, 10);
	}
	return ms;
}

/* Set the longest and the shortest times of all hosts */
void times(struct world *w)
{
	static const struct {
		const char *name;
		size_t most, least;
	} t[] = {
		{ "t_close", offsetof(struct world, t_close), offsetof(struct world, t_close_min) },
		{ "t_abort", offsetof(struct world, t_abort), offsetof(struct world, t_abort_min) },
		{ "t_lgr_idle", offsetof(struct world, t_lgr_idle),
		  offsetof(struct world, t_lgr_idle_min) },
		{ "t_rmb_free", 0, offsetof(struct world, t_rmb_free_min) },
		{ "t_llc", offsetof(struct world, t_llc), 0 },
		{ "t_testlink", offsetof(struct world, t_testlink), 0 },
	};
	size_t k;
	int h, i;

	w->no_test = false;
	w->t_clc = 10000;
	w->t_llc_first = 10000;
	for (k = 0; k < ARRAY_SIZE(t); k++) {
		u32 most = 0, least = ~0u;

		for (h = 1; h <= w->hosts; h++) {
			u32 v = time_of(w, h, t[k].name);

			most = v > most ? v : most;
			least = v < least ? v : least;
		}
		for (i = 0; i < w->n_dist; i++) {
			const struct dist *d = &w->dist[i];
			u32 v = (u32)strtoul(d->val, NULL, 10);

			if (!d->off && d->kind == D_SYSCTL && !strcmp(d->name, t[k].name))
				least = v < least ? v : least;
		}
		if (t[k].most)
			*(u32 *)((char *)w + t[k].most) = most;
		if (t[k].least)
			*(u32 *)((char *)w + t[k].least) = least;
	}
	for (h = 1; h <= w->hosts; h++)
		if (!time_of(w, h, "t_testlink"))
			w->no_test = true;
}

/* Urgent data, from a stream of their own: all else of a world is as without them */
static void gen_urgent(struct world *w)
{
	struct rnd r = stream(w->seed, 5);
	int i, side;

	w->urgent = one_in(&r, 4);
	for (i = 0; w->urgent && i < w->n_conn; i++)
		for (side = 0; side < 2; side++)
			if (one_in(&r, 2))
				w->conn[i].side[side].opt.oob = (int)between(&r, 1, 10);
}

void generate(struct world *w, u64 seed, bool debug)
{
	struct rnd r = stream(seed, 1);
	int h, p;

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	if (seed & LINKS) {
		generate_lan(w, debug);
		gen_urgent(w);
		times(w);
		return;
	}
	w->hosts = one_in(&r, 2) ? 2 : (int)between(&r, 2, HOSTS);
	w->planes = one_in(&r, 2) ? 1 : (int)between(&r, 1, PLANES);
	for (h = 1; h <= w->hosts; h++)
		for (p = 0; p < w->planes; p++)
			w->device[h][p] = !one_in(&r, 16);
	if (one_in(&r, 6)) {
		w->crowd = between(&r, 40, 60);
		memset(w->device, true, sizeof(w->device));
	}
	gen_settings(w);
	gen_conns(w);
	gen_dists(w, debug);
	gen_probes(w);
	gen_urgent(w);
	times(w);
}

void leave_out(struct world *w, const bool *drop)
{
	int i, side, k;

	for (i = 0; i < w->n_conn; i++) {
		w->conn[i].off = drop[w->conn[i].piece];
		for (side = 0; side < 2; side++) {
			struct side_plan *s = &w->conn[i].side[side];

			for (k = 0; k < s->nw; k++)
				s->w[k].off = s->w[k].piece >= 0 && drop[s->w[k].piece];
			for (k = 0; k < s->nr; k++)
				s->r[k].off = s->r[k].piece >= 0 && drop[s->r[k].piece];
		}
	}
	for (i = 0; i < w->n_dist; i++)
		w->dist[i].off = drop[w->dist[i].piece];
	for (i = 0; i < w->n_set; i++)
		w->set[i].off = drop[w->set[i].piece];
	times(w);
}

static void describe_side(const struct side_plan *s, const char *who)
{
	int k;

	say("  %s: %s end %s%s end_ms %u sndbuf %d rcvbuf %d nodelay %d cork %d lowat %d keepalive %d linger %d more %d waitall %d oob %d",
	    who, io_names[s->io], end_names[s->end], s->noread ? " noread" : "", s->end_ms,
	    s->opt.sndbuf, s->opt.rcvbuf, s->opt.nodelay,
	    s->opt.cork, s->opt.lowat, s->opt.keepalive, s->opt.linger, s->opt.more, s->opt.waitall,
	    s->opt.oob);
	for (k = 0; k < s->nw; k++)
		if (!s->w[k].off)
			say("    piece %d: send %u by %u pause %u from %u ms on", s->w[k].piece,
			    s->w[k].bytes, s->w[k].chunk, s->w[k].pause, s->w[k].at);
	for (k = 0; k < s->nr; k++)
		if (!s->r[k].off)
			say("    piece %d: recv %u by %u pause %u", s->r[k].piece, s->r[k].bytes,
			    s->r[k].chunk, s->r[k].pause);
}

void describe(const struct world *w)
{
	int i, h, p;

	say("world %s%llu: %d hosts, %d networks, %s%s, %d pieces", w->lan ? "L" : "",
	    (unsigned long long)(w->seed & ~LINKS), w->hosts, w->lan ? 1 : w->planes,
	    w->calm ? "calm" : "disturbed", w->limits ? ", limits" : "", w->pieces);
	for (h = 1; h <= w->hosts; h++)
		for (p = 0; p < w->planes; p++)
			if (!w->device[h][p] && !(w->lan && p >= w->cards[h]))
				say("host %d has no device on %d", h, p);
	for (h = 1; w->lan && h <= w->hosts; h++)
		say("host %d: %d cards", h, w->cards[h]);
	for (i = 0; i < w->n_set; i++)
		if (!w->set[i].off)
			say("piece %d: host %d plane %d %s=%s", w->set[i].piece, w->set[i].host,
			    w->set[i].plane,
			    w->set[i].name, w->set[i].val);
	for (i = 0; i < w->n_listen; i++)
		say("listener %d: host %d plane %d family %d backlog %d sndbuf %d rcvbuf %d", i,
		    w->listen[i].host,
		    w->listen[i].plane, w->listen[i].family == AF_INET ? 4 : 6,
			    w->listen[i].backlog, w->listen[i].sndbuf,
		    w->listen[i].rcvbuf);
	for (i = 0; i < w->n_conn; i++) {
		const struct conn_plan *c = &w->conn[i];

		if (c->off)
			continue;
		say("piece %d: connection %d%s: host %d plane %d to listener %d (host %d plane %d) at %u ms",
		    c->piece, i, c->probe ? " (probe)" : "", c->client, c->cplane, c->listener,
		    c->server, c->plane, c->start);
		if (c->probe)
			continue;
		describe_side(&c->side[0], "client");
		describe_side(&c->side[1], "server");
	}
	for (i = 0; i < w->n_dist; i++) {
		const struct dist *d = &w->dist[i];

		if (!d->off && d->kind == D_PATH)
			say("piece %d: path %d/%d %s %d/%d at %u ms for %u ms", d->piece, d->host,
			    d->plane, d->name, d->peer, d->pplane, d->start, d->len);
		else if (!d->off)
			say("piece %d: %s host %d plane %d at %u ms for %u ms %s %s", d->piece,
			    dist_names[d->kind], d->host,
			    d->plane, d->start, d->len, d->name, d->val);
	}
}
