/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A random world: hosts, their settings, their applications and disturbances,
 * all from one seed. See Documentation/testing-simulation.rst.
 *
 * simworld_make.c	makes a world from a seed
 * simworld_lan.c	makes worlds of links, and models failover
 * simworld_host.c	hosts: namespaces, devices, addresses, sysctls, netlink
 * simworld_app.c	applications, and the model of what they may see
 * simworld.c		runs worlds one after the other, with their disturbances
 */
#ifndef _SIMWORLD_H
#define _SIMWORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOSTS		4		/* of the guest, numbered from 1 */
#define PLANES		4		/* networks, each host has a card in each */
#define MAX_CONNS	48
#define MAX_LISTEN	8
#define MAX_STEPS	4
#define MAX_DIST	12
#define LINKS		(1ull << 63)	/* seeds of worlds of links, "L17" */
#define MAX_GROUPS	32		/* of a host */
#define MAX_ENDS	128
#define MAX_SET		192
#define MAX_PIECES	1024
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MS		1000000ull	/* times are ns */
#define SLACK		10000		/* ms, beyond the documented times */

typedef uint64_t u64;
typedef uint32_t u32;

/* --- random numbers: splitmix64, one stream for each purpose --- */
struct rnd {
	u64 s;
};

u64 rnd(struct rnd *r);
u32 below(struct rnd *r, u32 n);
u32 between(struct rnd *r, u32 lo, u32 hi);
bool one_in(struct rnd *r, u32 n);
u32 about(struct rnd *r, u32 lo, u32 hi);	/* of any order of magnitude */

/* --- the world --- */
enum how_to_end {
	END_EOF,	/* shutdown(WR) after sending, close() after the peer's EOF */
	END_CLOSE,	/* close() after sending, whatever is unread */
	END_RDWR,	/* shutdown(RDWR) after sending, then close() */
	END_AT,		/* close() at a time */
	END_ABORT,	/* SO_LINGER 0 and close() at a time */
};

struct step {
	bool off;		/* left out */
	int piece;
	u32 bytes, chunk, pause;	/* ms after each chunk */
	u32 at;			/* ms, of sending: not before that */
};

enum io {
	IO_LEVEL,	/* level-triggered epoll */
	IO_EDGE,	/* edge-triggered epoll: wake-ups are not repeated */
	IO_BLOCK,	/* two threads that wait in send() and recv() */
};

struct opts {
	int sndbuf, rcvbuf, nodelay, cork, lowat, keepalive, linger, more, waitall;
	int oob;		/* one send in so many is urgent; 0 none */
};

struct side_plan {
	struct step w[MAX_STEPS], r[MAX_STEPS];
	int nw, nr;
	bool noread;
	enum io io;
	enum how_to_end end;
	u32 end_ms;
	struct opts opt;
	u64 rnd;
};

struct conn_plan {
	int piece;
	bool off;
	bool probe;		/* made at the end, after all disturbances */
	int client, listener;	/* host; index, -1: no listener */
	int server, plane, family;	/* server's card, and the client's, but for a LAN */
	int cplane;
	u32 port;
	u32 start;		/* ms */
	struct side_plan side[2];	/* client, server */
};

struct listen_plan {
	int host, plane, family, backlog;
	u32 port;
	int sndbuf, rcvbuf;
};

enum dist_kind {
	D_KNOB,		/* below D_CALM: no application may notice it */
	D_SYSCTL,
	D_CALM,		/* from here on: not in a calm world */
	D_CABLE = D_CALM,
	D_ADMIN,
	D_ADDR,
	D_DEVICE,
	D_PAUSE,
	D_FAULT,
	D_LGRDEL,
	D_SLAB,
	/* in worlds of links only */
	D_PATH,		/* two cards are cut from each other, or one way, silently */
	D_PORT,		/* the port of an RNIC */
	D_KINDS
};

#define PAIR(a, b)	(1u << (((a) < (b) ? (a) : (b)) * 4 - 4 + ((a) < (b) ? (b) : (a)) - 1))


struct dist {
	int piece;
	bool off;
	enum dist_kind kind;
	int host, plane, family;
	u32 start, len;		/* ms */
	char name[32], val[64];
	bool broken;		/* the device has to be made again afterwards */
	int phase;		/* 0 before, 1 meanwhile, 2 over */
	bool refused;		/* there was nothing to disturb */
	bool happened;		/* of a fault: at least once */
	u64 until;		/* over since then, but perhaps not noticed yet */
	u32 fired;		/* of a fault: its count before it was set */
	/* worlds of links: */
	int peer, pplane;	/* D_PATH: the other card */
	bool loses;		/* acknowledged data, or more than links of the card */
	u64 met;		/* connections open at both ends when it began */
	u32 dooms;		/* pairs of hosts of which a group may end by it, PAIR() */
};

/* A sysctl of a host, or a knob of one of its devices */
struct setting {
	int piece;
	bool off;
	int host, plane;	/* plane -1: sysctl */
	char name[24], val[16];
};

struct world {
	u64 seed;
	int hosts, planes;
	bool lan;		/* a world of links: all cards on one LAN */
	int cards[HOSTS + 1];	/* with lan: of each host; else planes */
	bool unordered;		/* with lan: acknowledged before it is placed */
	bool calm;		/* no disturbance from D_CALM on */
	bool urgent;		/* some send urgent data, and all read them in line */
	u32 crowd;		/* ms: when many connections of a link begin to send */
	bool limits;		/* a limit may make connections TCP */
	bool device[HOSTS + 1][PLANES];
	struct listen_plan listen[MAX_LISTEN];
	int n_listen;
	struct conn_plan conn[MAX_CONNS];
	int n_conn;
	struct dist dist[MAX_DIST];
	int n_dist;
	struct setting set[MAX_SET];
	int n_set;
	int pieces;
	/* the longest of all hosts, ms */
	u32 t_close, t_abort, t_llc, t_llc_first, t_clc, t_lgr_idle, t_testlink;
	/* the shortest of all hosts at any time, ms */
	u32 t_close_min, t_abort_min, t_rmb_free_min, t_lgr_idle_min;
	bool no_test;		/* a host does not test its links */
	u32 lingers;		/* seconds that close() may block, in all */
};

void generate(struct world *w, u64 seed, bool debug);
void describe(const struct world *w);
void leave_out(struct world *w, const bool *drop);
bool crowded(const struct world *w, const struct conn_plan *c);
bool limited(const struct world *w, const struct conn_plan *c);
u32 time_of(const struct world *w, int host, const char *name);
void times(struct world *w);

/* Parts of the making of all worlds */
struct rnd stream(u64 seed, u32 what);
struct setting *set(struct world *w, int host, int plane, const char *name, u32 val);
void gen_opts(struct rnd *r, struct opts *o);
void gen_fault(struct rnd *r, struct dist *d);
void gen_probes(struct world *w);
void generate_lan(struct world *w, bool debug);

/* The card of an end; @side: 0 client, 1 server */
static inline int card(const struct conn_plan *c, int side)
{
	return side ? c->plane : c->cplane;
}

extern const char * const dist_names[];
extern const char * const end_names[];
extern const char * const io_names[];

/* --- hosts --- */
void hosts_open(void);
void hosts_lan(bool lan);
void card_addr(char *text, size_t size, int family, int plane, int host);
int host_of(int last_byte);
void enter(int host);
int put_file(const char *path, const char *val);
bool kernel_is_well(void);		/* else fail() */
void race_seed(u32 seed);
int sysctl_set(int host, const char *name, const char *val);
bool sysctl_get(int host, const char *name, char *val, size_t size);
void dev_name(char *name, int host, int plane);
int dev_add(int host, int plane);
int dev_del(int host, int plane);
bool dev_there(int host, int plane);
int dev_knob(int host, int plane, const char *name, const char *val);
int dev_fault(int host, int plane, const char *point, const char *val);
u32 dev_fired(int host, int plane, const char *point);
int mem_fail(const char *what, const char *probability, u32 *failed);
int link_up(int host, int plane, bool wire, bool up);
int addr_change(int host, int plane, int family, bool add);
int lgr_delete_all(int host);
void lgr_dump(int host);
int lgr_servers(int host);

/* One end of a link, and one of a link group */
struct link_end {
	int host, plane;	/* its card */
	u32 lgr, num, state;
	u32 id, peer_id;	/* user IDs, swapped at the other end */
};

int link_ends(int host, struct link_end *e, int max);

struct group {
	int host;
	u32 id, conns, max_links;
	bool active, server;
};

int groups(int host, struct group *g, int max);
void dev_resources(int host, int plane, char *text, size_t size);

struct census {
	u32 sockets, lgrs, handshakes;
	u64 mem;
};

int census(int host, struct census *c);

#define MAX_COUNTERS	128
struct counters {
	char name[MAX_COUNTERS][32];
	u64 val[MAX_COUNTERS];
	int n, reasons;		/* reasons begin there, behind the counters */
};

int counters(int host, struct counters *c);
u64 counter(const struct counters *c, const char *name);
int conn_mode(int host, u32 lport, int peer, u32 rport);	/* SMCR_NL_MODE_*, -1 none */
void conn_dump(int host);

/* --- applications --- */
void app_begin(struct world *w);
bool app_run(struct world *w);		/* false: failed */
void app_end(void);
u64 now(void);
u64 earliest(u64 t, u64 other);
extern int app_smc, app_tcp;
extern int app_hurt;			/* errors that a disturbance excuses */
extern u64 app_bytes;
/* a connection was closed in a handshake that others may have waited for */
extern bool app_early;
/* TCP on this host's loopback: a test of the model itself */
extern bool native;
extern bool app_lost;			/* bytes may have been lost */
extern int app_want_smc, app_want_tcp;
void run_until(struct world *w, u64 t);
int app_alive(int host, int plane);	/* open ends of connections there */

/* --- log and verdict --- */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* false */
bool failed(void);
void hit(const char *kind, const char *what, u64 n);

/* --- disturbances --- */
#define BIT(kind)	(1u << (kind))
#define ANYTHING	(~0u)
#define NO_MAPPING	BIT(D_KINDS)	/* D_FAULT of dma_map */
#define GOES		BIT(D_KINDS + 1)	/* D_FAULT that is broken */
/* These can lose packets of TCP, the others do not */
#define TCP_TOO		(BIT(D_CABLE) | BIT(D_ADMIN) | BIT(D_ADDR) | BIT(D_SLAB))
bool tainted(const struct world *w, int host, int plane, u32 kinds, u64 since);
bool touches(const struct dist *d, int host, int plane);
bool is_past(const struct world *w, const struct dist *d, u64 when);
/* worlds of links */
bool conn_tainted(const struct world *w, int conn, u32 kinds, u64 since);
u64 slowed(const struct world *w, int conn, u64 moved);
u64 detection(const struct world *w, const struct conn_plan *c);
void lan_begin(void);
void lan_abrupt(const struct conn_plan *c);
void lan_opened(const struct conn_plan *c);
void lan_befalls(struct world *w, struct dist *d);
bool links_agree(struct world *w);
u64 app_met(void);
void see_faults(struct world *w);
u64 next_dist(const struct world *w);
bool do_dists(struct world *w);
void undo_dists(struct world *w);

#endif /* _SIMWORLD_H */
