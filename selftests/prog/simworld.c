// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run of worlds one after the other: simworld [-t] [-d] [-l FOLDER] < LINES,
 * each line a seed and the pieces of its world to leave out ("17 3,4,9").
 * Writes a line for each; ends with the first that fails, as it may leave
 * anything behind. -t: the log of every world, not only of one that failed; -d:
 * the kernel can let allocations fail; -p: only print the number of pieces of
 * each; -n: the applications alone, over TCP on the loopback of this host, in
 * real time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "simworld.h"

static char *text;
static size_t used, room;
static u64 hash;
static char why[512];
static struct world world;
static bool debug;
static char hits[16384];		/* what happened, as " KIND:WHAT=N" */
static int live = -1;		/* the log of every world, written as it happens */

void say(const char *fmt, ...)
{
	char line[512];
	size_t n, i;
	u64 t = now();
	va_list ap;

	n = (size_t)snprintf(line, sizeof(line), "%10llu.%06llu ", (unsigned long long)(t / MS),
			     (unsigned long long)(t % MS));
	va_start(ap, fmt);
	n += (size_t)vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	for (i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)line[i]) * 0x100000001b3ull;
	if (used + n > room) {
		room = room ? room * 2 : 1 << 20;
		text = realloc(text, room);
		if (!text)
			abort();
	}
	if (live >= 0 && write(live, line, n) < 0)
		abort();
	memcpy(text + used, line, n);
	used += n;
}

bool fail(const char *fmt, ...)
{
	va_list ap;

	if (why[0])
		return false;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	say("FAILED: %s", why);
	return false;
}

bool failed(void)
{
	return why[0];
}

void hit(const char *kind, const char *what, u64 n)
{
	size_t len = strlen(hits);

	if (n)
		snprintf(hits + len, sizeof(hits) - len, " %s:%s=%llu", kind, what,
			 (unsigned long long)n);
}

/* --- disturbances --- */

bool touches(const struct dist *d, int host, int plane)
{
	if (d->off || !d->phase || d->kind < D_CALM || d->refused)
		return false;
	if (d->kind == D_SLAB)
		return true;
	if (d->kind == D_FAULT && !d->happened)
		return false;
	if (d->kind == D_PATH && d->peer == host && d->pplane == plane)
		return true;
	return d->host == host && (d->kind == D_LGRDEL || d->plane == plane);
}

/* Overlapping disturbances may undo each other's end: they are over at undo_dists() only. */
static bool alone(const struct world *w, const struct dist *d)
{
	int i;

	for (i = 0; i < w->n_dist; i++) {
		const struct dist *o = &w->dist[i];

		if (o != d && !o->off && o->kind >= D_CALM && o->kind != D_LGRDEL &&
		    (o->kind == D_SLAB || (o->host == d->host && o->plane == d->plane)) &&
		    o->start <= d->start + (u64)d->len && d->start <= o->start + (u64)o->len)
			return false;
	}
	return true;
}

/* Was @d over at @when, and noticed by all hosts? A dead link is noticed by TEST LINK. */
bool is_past(const struct world *w, const struct dist *d, u64 when)
{
	u64 noticed = (w->t_testlink + w->t_llc) * 9ull / 8 + SLACK;

	if (!d->until || (d->kind != D_LGRDEL && (w->no_test || !alone(w, d))))
		return false;
	return d->until + noticed * MS <= when;
}

/* Has a disturbance of @kinds met that card that a connection made at @since could notice? */
bool tainted(const struct world *w, int host, int plane, u32 kinds, u64 since)
{
	int i;

	for (i = 0; i < w->n_dist; i++) {
		const struct dist *d = &w->dist[i];
		u32 kind = BIT(d->kind);

		if (d->kind == D_FAULT && !strcmp(d->name, "dma_map"))
			kind |= NO_MAPPING;
		if (d->kind == D_FAULT && d->broken)
			kind |= GOES;
		if (kinds & kind && touches(d, host, plane) && !is_past(w, d, since))
			return true;
	}
	return false;
}

/* Which faults have happened by now */
void see_faults(struct world *w)
{
	int i;

	for (i = 0; i < w->n_dist; i++) {
		struct dist *d = &w->dist[i];
		u32 n;

		if (d->off || d->kind != D_FAULT || d->phase != 1 || d->happened || d->refused)
			continue;
		n = dev_fired(d->host, d->plane, d->name);
		/* a device that is made again counts from 0; a removed one has no count */
		d->happened = n > d->fired || (n && n < d->fired) ||
			(strstr(d->val, " remove") && !dev_there(d->host, d->plane));
		if (n < d->fired)
			d->fired = n;
	}
}

u64 next_dist(const struct world *w)
{
	u64 next = ~0ull, t;
	int i;

	for (i = 0; i < w->n_dist; i++) {
		const struct dist *d = &w->dist[i];

		if (d->off || d->phase == 2)
			continue;
		t = (d->start + (d->phase ? (u64)d->len : 0)) * MS;
		if (t < next)
			next = t;
	}
	return next;
}

/* Do allocations fail at the moment? What cannot be done now is done by undo_dists(). */
static bool no_memory(const struct world *w)
{
	int i;

	for (i = 0; i < w->n_dist; i++)
		if (w->dist[i].kind == D_SLAB && w->dist[i].phase == 1)
			return true;
	return false;
}

static bool make_device(const struct world *w, int h, int p)
{
	int i, rc;

	if (!w->device[h][p] || dev_there(h, p))
		return true;
	for (i = 0; i < w->n_set; i++) {
		const struct setting *s = &w->set[i];

		if (s->off || s->host != h || s->plane != p)
			continue;
		rc = dev_knob(0, 0, s->name, s->val);
		if (rc && !no_memory(w))
			return fail("cannot build: knob %s=%s: %s", s->name, s->val,
				    strerrorname_np(-rc));
	}
	rc = dev_add(h, p);
	if (rc && !no_memory(w))
		return fail("cannot build: device s%d%d: %s", h, p, strerrorname_np(-rc));
	return true;
}

static char unused[HOSTS + 1][PLANES][128];	/* resources of an unused device */

/* Without sockets and groups a device has the resources that it had when it was made */
static bool none_left(const struct world *w)
{
	char used[sizeof(unused[0][0])];
	int h, p;

	for (h = 1; h <= w->hosts; h++) {
		for (p = 0; p < w->planes; p++) {
			if (!dev_there(h, p))
				continue;
			dev_resources(h, p, used, sizeof(used));
			if (strcmp(used, unused[h][p]))
				return fail("device s%d%d is left with %s; when it was made %s",
					    h, p, used, unused[h][p]);
		}
	}
	return true;
}

static void reset_params(const struct world *w, int h, int p);

static bool make_device_reset(const struct world *w, int h, int p)
{
	bool ok = make_device(w, h, p);

	reset_params(w, h, p);
	return ok;
}

/* Defaults of rnicsim's parameters and of the sysctls that were changed */
static struct def {
	char name[24], val[64];
	int host;
} defs[512];
static int n_defs;

static void read_param(const char *name, char *val, size_t size)
{
	char path[96];
	int fd;
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/sys/module/rnicsim/parameters/%s", name);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, val, size - 1);
		close(fd);
	}
	val[n > 0 ? n - (val[n - 1] == '\n') : 0] = '\0';
}

/* A value before the first world; @host 0: a parameter of rnicsim */
static const char *usual(int host, const char *name)
{
	int i;

	for (i = 0; i < n_defs; i++)
		if (defs[i].host == host && !strcmp(defs[i].name, name))
			return defs[i].val;
	if (n_defs == 512)
		abort();
	snprintf(defs[i].name, sizeof(defs[i].name), "%s", name);
	defs[i].host = host;
	if (host)
		sysctl_get(host, name, defs[i].val, sizeof(defs[i].val));
	else
		read_param(name, defs[i].val, sizeof(defs[i].val));
	n_defs++;
	return defs[i].val;
}

static void reset_params(const struct world *w, int h, int p)
{
	int i;

	for (i = 0; i < w->n_set; i++)
		if (w->set[i].host == h && w->set[i].plane == p && !w->set[i].off)
			dev_knob(0, 0, w->set[i].name, usual(0, w->set[i].name));
}

/* How often it happened, by point and action */
static void count_fault(const struct dist *d)
{
	u32 n = dev_fired(d->host, d->plane, d->name);
	const char *action = strchr(d->val, ' ');
	char what[64];

	if (n >= d->fired)
		n -= d->fired;
	/* a removed device has no count */
	if (!dev_there(d->host, d->plane) && strstr(d->val, " remove"))
		n = 1;
	action = action ? action + 1 : "fail";
	snprintf(what, sizeof(what), "%s/%.*s", d->name, (int)strcspn(action, " "), action);
	hit("fault", what, n);
}

/* D_PATH: @how is "+", ">" or "-" */
static int path_cut(const struct dist *d, const char *how)
{
	char val[32];

	dev_name(val + snprintf(val, sizeof(val), "%s", how), d->peer, d->pplane);
	return dev_knob(d->host, d->plane, "cut", val);
}

static void put_back(struct world *w, struct dist *d)
{
	u32 n = 0;
	int rc = 0;

	switch (d->kind) {
	case D_CABLE:
		rc = link_up(d->host, d->plane, true, true);
		break;
	case D_ADMIN:
		rc = link_up(d->host, d->plane, false, true);
		/* a netdev that goes down loses its IPv6 addresses */
		addr_change(d->host, d->plane, 10, true);
		break;
	case D_ADDR:
		rc = addr_change(d->host, d->plane, d->family, true);
		break;
	case D_PAUSE:
		rc = dev_knob(d->host, d->plane, "paused", "0");
		break;
	case D_FAULT:
		count_fault(d);
		rc = dev_fault(d->host, d->plane, d->name, "0");
		if (!d->broken || !d->happened)
			break;
		if (w->lan)
			lan_befalls(w, d);
		dev_del(d->host, d->plane);
		rc = 0;
		/* fall through */
	case D_DEVICE:
		make_device_reset(w, d->host, d->plane);
		break;
	case D_PATH:
		rc = path_cut(d, "-");
		break;
	case D_PORT:
		rc = dev_knob(d->host, d->plane, "act", "port_active");
		break;
	case D_SLAB:
		rc = mem_fail(d->name, "0", &n);
		if (rc)
			fail("%s cannot be ended: %s", d->name, strerrorname_np(-rc));
		hit("memory", d->name, n);
		d->refused = !n;
		break;
	default:
		break;
	}
	say("%s %d/%d over: %s", dist_names[d->kind], d->host, d->plane, rc ? strerrorname_np(-rc) :
	    "0");
}

static void befall(struct world *w, struct dist *d)
{
	int rc = 0, alive = app_alive(d->host, d->plane);
	u32 n;

	if (w->lan)
		lan_befalls(w, d);
	switch (d->kind) {
	case D_KNOB:
		rc = dev_knob(d->host, d->plane, d->name, d->val);
		break;
	case D_SYSCTL:
		usual(d->host, d->name);
		rc = sysctl_set(d->host, d->name, d->val);
		break;
	case D_CABLE:
		rc = link_up(d->host, d->plane, true, false);
		break;
	case D_ADMIN:
		rc = link_up(d->host, d->plane, false, false);
		break;
	case D_ADDR:
		rc = addr_change(d->host, d->plane, d->family, false);
		break;
	case D_DEVICE:
		rc = dev_del(d->host, d->plane);
		break;
	case D_PAUSE:
		rc = dev_knob(d->host, d->plane, "paused", "1");
		break;
	case D_FAULT:
		d->fired = dev_fired(d->host, d->plane, d->name);
		rc = dev_fault(d->host, d->plane, d->name, d->val);
		break;
	case D_LGRDEL:
		rc = lgr_delete_all(d->host);
		break;
	case D_PATH:
		rc = path_cut(d, d->name);
		break;
	case D_PORT:
		rc = dev_knob(d->host, d->plane, "act", "port_err");
		break;
	case D_SLAB:
		rc = mem_fail(d->name, d->val, &n);
		if (rc)
			fail("cannot build: %s: %s", d->name, strerrorname_np(-rc));
		break;
	default:
		break;
	}
	say("%s %d/%d %s %s: %s", dist_names[d->kind], d->host, d->plane, d->name, d->val,
	    rc < 0 ? strerrorname_np(-rc) : "0");
	if (rc >= 0)
		hit(alive ? "live" : "idle", dist_names[d->kind], 1);
	d->refused = rc == -ENOENT || rc == -ENODEV || rc == -EADDRNOTAVAIL || rc == -ESRCH ||
		(d->kind == D_LGRDEL && !rc);
	if (d->kind == D_LGRDEL)
		d->until = now();
	/* a device that does not exist has no knobs; any other error is one of this program */
	if (rc < 0 && !no_memory(w) && !d->refused)
		fail("cannot build: %s %s %s: %s", dist_names[d->kind], d->name, d->val,
		     strerrorname_np(-rc));
}

bool do_dists(struct world *w)
{
	u64 t = now();
	int i;

	for (i = 0; i < w->n_dist; i++) {
		struct dist *d = &w->dist[i];

		if (d->off)
			continue;
		if (!d->phase && t >= d->start * MS) {
			see_faults(w);
			befall(w, d);
			d->phase = 1;
		}
		if (d->phase == 1 && t >= (d->start + (u64)d->len) * MS) {
			see_faults(w);
			put_back(w, d);
			d->phase = 2;
			if (!d->until)
				d->until = now();
		}
	}
	return !failed();
}

/* Undo all: disturbances that overlap may have undone each other's end */
void undo_dists(struct world *w)
{
	int i;

	for (i = 0; i < w->n_dist; i++) {
		struct dist *d = &w->dist[i];

		if (d->off || !d->phase || d->kind < D_CALM)
			continue;
		if (d->kind == D_PATH)
			path_cut(d, "-");
		if (d->kind == D_PORT)
			dev_knob(d->host, d->plane, "act", "port_active");
		link_up(d->host, d->plane, true, true);
		link_up(d->host, d->plane, false, true);
		addr_change(d->host, d->plane, AF_INET, true);
		addr_change(d->host, d->plane, AF_INET6, true);
		make_device_reset(w, d->host, d->plane);
	}
}

/* --- a world from its beginning to its end --- */

static struct counters before[HOSTS + 1];

static bool build(struct world *w)
{
	int h, p, i, rc;

	for (i = 0; i < w->n_set; i++) {
		struct setting *s = &w->set[i];

		usual(s->plane < 0 ? s->host : 0, s->name);
		if (s->off || s->plane >= 0)
			continue;
		rc = sysctl_set(s->host, s->name, s->val);
		if (rc)
			return fail("cannot build: %s=%s: %s", s->name, s->val,
				    strerrorname_np(-rc));
	}
	for (h = 1; h <= w->hosts; h++) {
		for (p = 0; p < w->planes; p++) {
			if (!make_device_reset(w, h, p))
				return false;
			if (w->device[h][p])
				dev_resources(h, p, unused[h][p], sizeof(unused[h][p]));
		}
	}
	return true;
}

static void tear_down(struct world *w)
{
	int h, p, i;

	for (h = 1; h <= HOSTS; h++)
		for (p = 0; p < PLANES; p++)
			if (dev_there(h, p))
				dev_del(h, p);
	/*
	 * A card without an address has sent ARP requests with the address of another card of its
	 * host: what neighbours have learned from them is dropped as the netdevs go down.
	 */
	for (h = 1; w->lan && h <= w->hosts; h++) {
		for (p = 0; p < w->planes; p++) {
			link_up(h, p, false, false);
			link_up(h, p, false, true);
			addr_change(h, p, AF_INET6, true);
		}
	}
	for (i = 0; i < w->n_set; i++)
		if (w->set[i].plane < 0)
			sysctl_set(w->set[i].host, w->set[i].name, usual(w->set[i].host,
									 w->set[i].name));
	for (i = 0; i < w->n_dist; i++)
		if (w->dist[i].kind == D_SYSCTL)
			sysctl_set(w->dist[i].host, w->dist[i].name, usual(w->dist[i].host,
									   w->dist[i].name));
}

/* No timer may have expired in a world that is younger than the timer's time. */
static bool none_early(const struct world *w)
{
	const struct {
		const char *name;
		u32 ms;
	} timers[] = {
		{ "timer-close", w->t_close_min }, { "timer-abort", w->t_abort_min },
		{ "timer-rmb-free", w->t_rmb_free_min }, { "timer-lgr-idle", w->t_lgr_idle_min },
	};
	static struct counters c;
	u64 ms = now() / MS;
	size_t i;
	int h;

	for (h = 1; h <= w->hosts; h++) {
		if (counters(h, &c))
			return fail("counters of host %d", h);
		for (i = 0; i < ARRAY_SIZE(timers); i++)
			if (ms < timers[i].ms &&
			    counter(&c, timers[i].name) != counter(&before[h], timers[i].name))
				return fail("host %d: %s after less than %llu of %u ms", h,
					    timers[i].name, (unsigned long long)ms + 1,
					    timers[i].ms);
	}
	return true;
}

/* Objects left on a host when its connections are over, and until when they may be */
struct rest {
	struct census c;
	u64 sockets, servers;	/* ~0: not until the sockets are gone */
};

static bool socket_left(const struct rest *r)
{
	return r->c.sockets || r->c.handshakes;
}

/* The kernel's timers may be late, the longer ones by an eighth of their time: ns */
static u64 at_most(u32 ms)
{
	return (ms + ms / 8ull) * MS;
}

static bool serves(const struct world *w, int host)
{
	int i;

	for (i = 0; i < w->n_conn; i++)
		if (!w->conn[i].off && w->conn[i].server == host)
			return true;
	return false;
}

static bool groups_left(const struct world *w, int h, const char *what, bool deleted)
{
	int i;

	for (i = 1; i <= w->hosts; i++)
		lgr_dump(i);
	return fail("host %d: %slink groups are left%s", h, what, deleted ? " after their deletion" :
		    "");
}

/*
 * All that connections leave behind is freed in the times that the documentation names
 * and that each host has set: sockets, then groups at the server, then at its clients.
 */
static bool settle(struct world *w)
{
	static const u32 steps[] = { 0, 1, 10, 100, 500 };	/* ms, then every 1 s or 5 s */
	static struct rest rest[HOSTS + 1];
	const u64 begin = now(), never = ~0ull, llc = (2 * w->t_llc + 20000ull) * MS;
	const u32 unasked = w->no_test ? w->t_lgr_idle : w->t_testlink;
	struct rnd rnd = { w->seed };
	bool del = one_in(&rnd, 2), deleted = false;
	u64 clients = never, next;
	size_t i;
	int h;

	for (h = 1; h <= w->hosts; h++) {
		rest[h].sockets = begin + at_most(time_of(w, h, "t_close")) +
			at_most(time_of(w, h, "t_abort")) + (2 * w->t_llc + w->t_llc_first +
							     15000ull) * MS;
		rest[h].servers = never;
	}
	for (i = 0;; i++) {
		bool sockets = false, groups = false;

		if (!none_early(w))
			return false;
		for (h = 1; h <= w->hosts; h++) {
			struct rest *r = &rest[h];
			int rc = census(h, &r->c);

			if (rc)
				return fail("census of host %d: %s", h, strerrorname_np(-rc));
			if (socket_left(r) && now() > r->sockets) {
				conn_dump(h);
				return fail("host %d: %u sockets and %u handshakes are left", h,
					    r->c.sockets, r->c.handshakes);
			}
			if (!socket_left(r) && r->servers == never)
				r->servers = now() + at_most(time_of(w, h, "t_lgr_idle")) + llc;
			sockets = sockets || socket_left(r);
			groups = groups || r->c.lgrs;
		}
		if (!sockets && !groups)
			break;
		if (!sockets && clients == never) {
			/* a client notices by TEST LINK that its server has lost the group */
			for (h = 1, clients = 0; h <= w->hosts; h++)
				if (serves(w, h) && rest[h].servers > clients)
					clients = rest[h].servers;
			clients += at_most(unasked);
		}
		/* without TEST LINK a client keeps a group that its server has lost: delete it */
		if (w->no_test && now() > clients)
			del = true;
		if (!sockets && del && !deleted) {
			deleted = true;
			for (h = 1; h <= w->hosts; h++)
				say("link groups of host %d deleted: %d", h, lgr_delete_all(h));
			clients = now() + llc;
			for (h = 1; h <= w->hosts; h++)
				rest[h].servers = clients;
		}
		next = now() + (i < ARRAY_SIZE(steps) ? steps[i] + 1 : sockets ? 1000 : 5000) * MS;
		for (h = 1; h <= w->hosts; h++) {
			struct rest *r = &rest[h];

			if (r->c.lgrs && now() > r->servers && lgr_servers(h))
				return groups_left(w, h, "the server's ", deleted);
			if (r->c.lgrs && now() > clients)
				return groups_left(w, h, "", deleted);
			if (r->servers >= now())
				next = earliest(next, r->servers + MS);
		}
		run_until(w, next);
	}
	for (h = 1; h <= w->hosts; h++)
		if (rest[h].c.mem)
			return fail("host %d: %llu bytes are in use by nobody", h,
				    (unsigned long long)rest[h].c.mem);
	return true;
}

static bool sums(struct world *w, const struct counters *a, const struct counters *b)
{
	static const char * const pairs[][2] = {
		{ "conn-created", "conn-freed" }, { "lgr-created", "lgr-freed" }, { "rmb-created",
		"rmb-freed" },
	};
	u64 tx = 0, rx = 0, sf = 0, ss = 0, down = 0;
	size_t i;
	int h, k;

#define DELTA(name)	(counter(&b[h], name) - counter(&a[h], name))
	for (h = 1; h <= w->hosts; h++) {
		for (i = 0; i < ARRAY_SIZE(pairs); i++)
			if (DELTA(pairs[i][0]) != DELTA(pairs[i][1]))
				return fail("host %d: %s %llu, %s %llu", h,
					    pairs[i][0], (unsigned long long)DELTA(pairs[i][0]),
					    pairs[i][1], (unsigned long long)DELTA(pairs[i][1]));
		tx += DELTA("bytes-tx");
		rx += DELTA("bytes-rx");
		sf += DELTA("server-fallbacks");
		ss += DELTA("server-first-contacts") + DELTA("server-reuses");
		down += DELTA("link-down");
		for (k = 0; k < b[h].n; k++) {
			u64 n = b[h].val[k] - a[h].val[k];

			if (!n)
				continue;
			say("host %d: %s %llu", h, b[h].name[k], (unsigned long long)n);
			hit(k < b[h].reasons ? "counter" : "reason", b[h].name[k], n);
		}
	}
	app_smc = (int)ss;
	app_tcp = (int)sf;
	if (!w->calm)
		return true;
	if (down)
		return fail("%llu links went down in a calm world", (unsigned long long)down);
	if (!app_lost && tx != rx)
		return fail("%llu bytes were sent and %llu received", (unsigned long long)tx,
			    (unsigned long long)rx);
	if (w->limits || app_early)
		return true;
	if ((int)ss < app_want_smc)
		return fail("%llu connections use SMC-R, %d should", (unsigned long long)ss,
			    app_want_smc);
	return true;
}

/* The name of a world in selftests/sim */
static const char *seed_name(u64 seed)
{
	static char name[32];

	snprintf(name, sizeof(name), "%s%llu", seed & LINKS ? "L" : "",
		 (unsigned long long)(seed & ~LINKS));
	return name;
}

static void to_kmsg(const char *what, u64 seed)
{
	char line[64];

	snprintf(line, sizeof(line), "smcr-case %s seed-%s\n", what, seed_name(seed));
	put_file("/dev/kmsg", line);
}

/* One world in eleven has random delays, none of selftests/regress-seeds */
static bool has_delays(u64 seed)
{
	return !native && (seed & ~LINKS) % 11 == 7;
}

static bool run(struct world *w, u64 seed, u64 *virt)
{
	static struct counters after[HOSTS + 1];
	bool delays = has_delays(seed), ok;
	int h;

	app_begin(w);
	hosts_lan(w->lan);
	lan_begin();
	describe(w);
	if (native) {
		w->n_dist = 0;
		w->limits = true;
		ok = app_run(w);
		app_end();
		*virt = now();
		return ok;
	}
	ok = build(w);
	for (h = 1; ok && h <= w->hosts; h++)
		ok = !counters(h, &before[h]) || fail("counters of host %d", h);
	if (delays) {
		say("random delays in the module");
		race_seed((u32)seed | 1);
	}
	ok = ok && app_run(w);
	app_end();
	ok = ok && settle(w) && none_left(w);
	for (h = 1; ok && h <= w->hosts; h++)
		ok = !counters(h, &after[h]) || fail("counters of host %d", h);
	ok = ok && sums(w, before, after);
	tear_down(w);
	if (delays)
		race_seed(0);
	ok = kernel_is_well() && ok;
	*virt = now();
	return ok && !failed();
}

static void path_of(char *path, size_t size, const char *folder, u64 seed)
{
	snprintf(path, size, "%s/log-%s", folder, seed_name(seed));
}

static void save(const char *folder, u64 seed)
{
	char path[256];
	FILE *f;

	path_of(path, sizeof(path), folder, seed);
	f = fopen(path, "w");
	if (!f)
		return;
	fwrite(text, 1, used, f);
	fclose(f);
}

int main(int argc, char **argv)
{
	bool trace = false, print = false, drop[MAX_PIECES];
	const char *folder = ".";
	char line[8192];
	int opt;

	while ((opt = getopt(argc, argv, "tdpnl:")) != -1) {
		switch (opt) {
		case 't':
			trace = true;
			break;
		case 'd':
			debug = true;
			break;
		case 'p':
			print = true;
			break;
		case 'n':
			native = true;
			break;
		case 'l':
			folder = optarg;
			break;
		default:
			fprintf(stderr,
				"usage: simworld [-t] [-d] [-p] [-n] [-l FOLDER] < LINES\n");
			return 2;
		}
	}
	setlinebuf(stdout);
	if (!print && !native)
		hosts_open();
	while (fgets(line, sizeof(line), stdin)) {
		bool links = line[0] == 'L';
		char *p;
		u64 seed = strtoull(line + links, &p, 10), virt = 0;
		bool ok;

		if (links)
			seed |= LINKS;
		memset(drop, 0, sizeof(drop));
		while (*p == ' ' || *p == ',') {
			unsigned long n = strtoul(p + 1, &p, 10);

			if (n < MAX_PIECES)
				drop[n] = true;
		}
		used = 0;
		hash = 0xcbf29ce484222325ull;
		why[0] = '\0';
		hits[0] = '\0';
		generate(&world, seed, debug);
		if (print) {
			printf("%s %d\n", seed_name(seed), world.pieces);
			continue;
		}
		leave_out(&world, drop);
		if (!native)
			to_kmsg("BEGIN", seed);
		if (trace) {
			char path[256];

			path_of(path, sizeof(path), folder, seed);
			if (live >= 0)
				close(live);
			live = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		}
		printf("run %s\n", seed_name(seed));
		ok = run(&world, seed, &virt);
		if (!native)
			to_kmsg("END", seed);
		if (!ok && !trace)
			save(folder, seed);
		if (hits[0])
			printf("hits%s\n", hits);
		printf("%s %s %016llx %llu %d %d %d %llu %d %s\n", ok ? "ok" : "not ok",
		       seed_name(seed),
		       (unsigned long long)hash, (unsigned long long)(virt / MS), world.pieces,
		       app_smc, app_tcp,
		       (unsigned long long)app_bytes, app_hurt, why);
		if (!ok)
			return 1;
	}
	return 0;
}
