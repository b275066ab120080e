// SPDX-License-Identifier: GPL-2.0-only
/*
 * Applications of a world, and the model of what each may see. One loop runs
 * all of them, but those that block have two threads each. Only one of all
 * these runs at a time (turn), except in calls that wait. Each application sees
 *
 * - bytes in order, every one checked: its value follows from connection,
 *   direction and position;
 * - the end of data only after all bytes that the peer sent before its end;
 * - an error only with a cause: the peer's abort, its close() with data unread
 *   or for longer than t_close, or a disturbance of one of the two cards; and
 *   nothing but errors afterwards;
 * - what epoll has announced, and an announcement of each event;
 * - an end in time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "pattern.h"
#include "simworld.h"

#ifndef AF_SMC
#define AF_SMC 43
#endif

#define PERIOD	(1u << 24)	/* of pattern_byte() */
#define MOST	(1u << 18)	/* bytes of one call */
#define HASTE	20		/* how much faster time passes on the loopback */
#define LATER	(300000 * MS)	/* a disturbed TCP connection may take so much longer */
#define STILL	5000		/* ms in which an awaited event has to come */
#define SOON	1000		/* the same of connect(), accept(); T_LLC_FIRST would end them */
#define WAKE	2000		/* epoll: a thread has ended */
#define READ_EV	(EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP)
#define WRITE_EV (EPOLLOUT | EPOLLERR | EPOLLHUP)

enum state { NEW, CONNECTING, OPEN, GONE };

struct end {
	const struct conn_plan *c;
	const struct side_plan *p;
	struct end *peer;
	int id, side, host, fd;
	enum state state;
	u32 ev;			/* asked of epoll */
	enum io io;
	u32 ready;		/* IO_EDGE: events from epoll, until EAGAIN */
	int threads;		/* IO_BLOCK: that run */
	bool patient;		/* not over SMC-R: TCP's times apply */
	int wi, ri;		/* step */
	u32 wdone, rdone;	/* bytes of it */
	u64 wwait, rwait;	/* pause until */
	u64 tx, rx;
	u64 tx_most;		/* tx and what a send() under way may have sent */
	bool shut, eof, dead, aborted, closed, rdwr;
	bool early;		/* closed while it was still connecting */
	bool brief;		/* MSG_WAITALL returned less: no more data may come */
	bool in_send;		/* another thread is in send() */
	bool owed;		/* send() must fail: recv() returned 0 without a FIN */
	bool wdead;		/* send() failed; what arrived before can still be read */
	u64 began, opened, closed_at;
	const char *waits;	/* the event of this end that is awaited, see awaited() */
	u64 moved, sum;		/* time of the last progress, less held; bytes until then */
	u32 lport;
	struct rnd r, urgent;
	u32 spins;
	u64 spin_time;
};

static struct end ends[MAX_CONNS][2];
static int listeners[MAX_LISTEN];
static struct world *world;
static int ep = -1, wake = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static u64 t0, cur, due_all;
static u64 held;			/* time for which close() has blocked the loop */
static unsigned char *table;
static __thread unsigned char *in;	/* for recv() */
int app_hurt, app_smc, app_tcp, app_want_smc, app_want_tcp;
u64 app_bytes;
bool app_lost, app_early, native;

static u64 clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec) * (native ? HASTE : 1);
}

/* The clock is a system call in a guest: it is read once for each round of the loop. */
u64 now(void)
{
	return cur;
}

static u64 tick(void)
{
	return cur = clock_ns() - t0;
}

static u64 base_of(const struct end *e)
{
	return (u64)(e->id * 2 + e->side + 1) * 0x9e3779b1;
}

static const unsigned char *pattern(const struct end *from, u64 pos)
{
	return table + ((base_of(from) + pos) & (PERIOD - 1));
}

static bool bad(const struct end *e, const char *what, long val, int err)
{
	return fail("connection %d %s: %s (%ld, %s); tx %llu rx %llu, peer tx %llu rx %llu%s%s%s%s",
		    e->id,
		    e->side ? "server" : "client", what, val, err ? strerrorname_np(err) : "-",
		    (unsigned long long)e->tx, (unsigned long long)e->rx,
		    (unsigned long long)e->peer->tx,
		    (unsigned long long)e->peer->rx, e->peer->shut ? ", peer shut" : "",
		    e->peer->closed ? ", peer closed" : "", e->peer->aborted ? ", peer aborted" :
			    "", e->shut ? ", shut" : "");
}

/* Has a disturbance of @kinds met it, as far as is known? */
static bool befell(const struct end *e, u32 kinds)
{
	const struct conn_plan *c = e->c;
	/* when connect() was called */
	u64 since = ends[e->id][0].began;

	if (c->probe)
		return false;
	if (world->lan)
		return conn_tainted(world, e->id, kinds, since);
	return tainted(world, c->client, c->plane, kinds, since) ||
	       tainted(world, c->server, c->plane, kinds, since);
}

static bool hurt_by(const struct end *e, u32 kinds)
{
	see_faults(world);
	return befell(e, kinds);
}

static bool disturbed(const struct end *e)
{
	return hurt_by(e, ANYTHING);
}

enum call { SOCKET, CONNECT, SEND, RECV };

/* Is there keepalive on a link that it may share? All connections of the link get the error. */
static bool kept_alive(const struct end *e)
{
	int i, host = e->c->client, peer = e->c->server;

	for (i = 0; i < world->n_conn; i++) {
		const struct conn_plan *c = &world->conn[i];

		if (!c->off && ((c->client == host && c->server == peer) ||
				(c->client == peer && c->server == host)) &&
		    (c->side[0].opt.keepalive || c->side[1].opt.keepalive))
			return true;
	}
	return false;
}

/* May a call on a disturbed connection fail with @err? */
static bool errno_fits(const struct end *e, int err, enum call call)
{
	switch (err) {
	case ENOMEM:
	case ENOBUFS:	/* the first send() has to map its buffer, but lives on: do_send() */
		return hurt_by(e, BIT(D_SLAB));
	case ECONNRESET:
	case ECONNABORTED:	/* RFC 7609 4.8.2: the server's Decline after the client has begun */
	case EPIPE:	/* not only of send(): a reset behind the FIN, as in TCP's CLOSE-WAIT */
		return call != SOCKET;
	case ETIMEDOUT:	/* in connect() the peer's LLC message, too */
		return call == CONNECT || (call != SOCKET && (hurt_by(e, TCP_TOO) || kept_alive(e)));
	case EHOSTUNREACH:
	case ENETUNREACH:
		return call != SOCKET && hurt_by(e, TCP_TOO);
	case ENFILE:	/* the socket layer's error for ENOMEM */
		return call == SOCKET && hurt_by(e, BIT(D_SLAB));
	case EADDRNOTAVAIL:
		return call == CONNECT && hurt_by(e, TCP_TOO);
	default:
		return false;
	}
}

/* May a call of @e fail with @err? */
static bool cause(const struct end *e, int err, enum call call)
{
	const struct end *o = e->peer;

	if (disturbed(e)) {
		app_hurt++;
		return errno_fits(e, err, call);
	}
	/* a full listener drops connections, which clients may take for established at first */
	if (o->state == NEW && crowded(world, e->c) &&
	    (err == ECONNRESET || err == EPIPE || (err == ETIMEDOUT && call == CONNECT)))
		return true;
	if (err != ECONNRESET && err != EPIPE)
		return false;
	if (o->aborted || o->dead || o->wdead)
		return true;
	if (!o->closed)
		return false;
	/* the peer was closed in the handshake: CLC messages were sent to a closed socket */
	if (e->side && o->early)
		return true;
	return call == SEND || e->tx_most > o->rx || now() - o->closed_at >= world->t_close_min * MS;
}

static void ask_epoll(struct end *e, u32 ev)
{
	struct epoll_event ee = { .events = ev, .data.u32 = (u32)(e->id * 2 + e->side) };

	if (ev == e->ev)
		return;
	/* without memory for it: tried again the next time */
	if (!epoll_ctl(ep, !e->ev ? EPOLL_CTL_ADD : ev ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, e->fd, &ee))
		e->ev = ev;
}

static void note_close(struct end *e)
{
	if (e->closed)
		return;
	e->closed = true;
	e->closed_at = now();
	if (e->aborted || e->peer->tx_most > e->rx || e->peer->state == NEW)
		app_lost = true;
	if (e->p->end != END_EOF)
		lan_abrupt(e->c);
}

static void shut_down(struct end *e)
{
	struct linger l = { 1, 0 };

	e->early = e->state == CONNECTING;
	if (e->p->end == END_ABORT && !e->dead) {
		e->aborted = true;
		setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	}
	/* a connection drops its data when it fails */
	if (e->dead || e->wdead || e->peer->dead || e->peer->wdead)
		app_lost = true;
	note_close(e);
	if (e->peer->state == NEW)
		app_early = true;
	ask_epoll(e, 0);
	close(e->fd);
	if (e->p->opt.linger > 0) {
		held -= now();
		held += tick();
	}
	say("c%d%c close%s", e->id, "cs"[e->side], e->aborted ? " abort" : "");
	e->fd = -1;
	e->state = GONE;
}

static void setopt(int fd, int level, int name, int val)
{
	if (setsockopt(fd, level, name, &val, sizeof(val)))
		say("setsockopt %d %d: %s", level, name, strerrorname_np(errno));
}

static void set_options(int fd, const struct opts *o)
{
	if (world->urgent)
		setopt(fd, SOL_SOCKET, SO_OOBINLINE, 1);
	if (o->nodelay)
		setopt(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (o->cork)
		setopt(fd, IPPROTO_TCP, TCP_CORK, 1);
	if (o->sndbuf)
		setopt(fd, SOL_SOCKET, SO_SNDBUF, o->sndbuf);
	if (o->rcvbuf)
		setopt(fd, SOL_SOCKET, SO_RCVBUF, o->rcvbuf);
	if (o->lowat)
		setopt(fd, SOL_SOCKET, SO_RCVLOWAT, o->lowat);
	if (o->keepalive) {
		setopt(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
		setopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, o->keepalive);
		setopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, o->keepalive);
	}
	if (o->linger >= 0) {
		struct linger l = { 1, o->linger };

		setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	}
}

static socklen_t address(struct sockaddr_storage *ss, int family, int plane, int host, u32 port)
{
	char text[64];

	if (native)
		family = AF_INET;
	card_addr(text, sizeof(text), family, plane, host);
	if (native)
		snprintf(text, sizeof(text), "127.77.%d.%d", plane, host);
	memset(ss, 0, sizeof(*ss));
	ss->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		struct sockaddr_in *a = (void *)ss;

		inet_pton(AF_INET, text, &a->sin_addr);
		a->sin_port = htons((uint16_t)port);
		return sizeof(*a);
	}
	struct sockaddr_in6 *b = (void *)ss;

	inet_pton(AF_INET6, text, &b->sin6_addr);
	b->sin6_port = htons((uint16_t)port);
	return sizeof(*b);
}

static u32 port_of(const struct sockaddr_storage *ss)
{
	return ntohs(ss->ss_family == AF_INET ? ((const struct sockaddr_in *)ss)->sin_port :
			((const struct sockaddr_in6 *)ss)->sin6_port);
}

static int smc_socket(int host, int plane, int family)
{
	char name[16];
	int fd;

	if (native)
		return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	enter(host);
	fd = socket(AF_SMC, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, family == AF_INET6);
	if (fd < 0 || !world->lan)
		return fd;
	/* a route to that subnet leads over any card */
	snprintf(name, sizeof(name), "eth%d", plane);
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)))
		fail("cannot build: socket on %s: %s", name, strerrorname_np(errno));
	return fd;
}

static void start_threads(struct end *e);

static bool start_listener(int i)
{
	const struct listen_plan *l = &world->listen[i];
	struct sockaddr_storage ss;
	socklen_t len = address(&ss, l->family, l->plane, l->host, l->port);
	struct epoll_event ee = { .events = EPOLLIN, .data.u32 = 1000u + (u32)i };
	int fd = smc_socket(l->host, l->plane, l->family), one = 1;

	listeners[i] = fd;
	if (fd < 0)
		return fail("listener %d: socket: %s", i, strerrorname_np(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (world->urgent)
		setopt(fd, SOL_SOCKET, SO_OOBINLINE, 1);
	if (l->sndbuf)
		setopt(fd, SOL_SOCKET, SO_SNDBUF, l->sndbuf);
	if (l->rcvbuf)
		setopt(fd, SOL_SOCKET, SO_RCVBUF, l->rcvbuf);
	if (bind(fd, (void *)&ss, len) || listen(fd, l->backlog))
		return fail("listener %d: %s", i, strerrorname_np(errno));
	return !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ee);
}

static int mode_of(const struct end *e)
{
	const struct end *o = e->peer;

	return e->side ? conn_mode(e->host, e->c->port, o->host, o->lport) :
			 conn_mode(e->host, e->lport, o->host, e->c->port);
}

/* After all disturbances nothing keeps a connection from SMC-R. */
static bool needs_smc(const struct conn_plan *c)
{
	/* without TEST LINK only the next connection notices a link that is dead at one host */
	return c->probe && !world->no_test && !limited(world, c) &&
	       world->device[c->client][c->cplane] && world->device[c->server][c->plane];
}

static bool opened(struct end *e)
{
	e->state = OPEN;
	e->opened = now();
	if (!e->side)
		lan_opened(e->c);
	if (!native && needs_smc(e->c)) {
		int mode = mode_of(e);

		if (mode != SMCR_NL_MODE_SMC_R) {
			conn_dump(e->host);
			return bad(e, "does not use SMC-R though all is well again", mode, 0);
		}
	}
	if (e->io == IO_BLOCK)
		start_threads(e);
	return true;
}

/* socket() has failed, which it may only for want of memory */
static bool no_socket(struct end *e, int err)
{
	e->dead = true;
	e->closed = true;
	e->state = GONE;
	return cause(e, err, SOCKET) || bad(e, "socket", -1, err);
}

static bool start_conn(struct end *e)
{
	const struct conn_plan *c = e->c;
	struct sockaddr_storage ss;
	socklen_t len = address(&ss, c->family, c->plane, c->server, c->port);
	int rc, err;

	e->fd = smc_socket(c->client, c->cplane, c->family);
	if (e->fd < 0)
		return no_socket(e, errno);
	set_options(e->fd, &e->p->opt);
	if (native) {
		struct sockaddr_storage from;

		address(&from, c->family, c->cplane, c->client, 0);
		if (bind(e->fd, (void *)&from, len))
			return bad(e, "bind", -1, errno);
	}
	e->began = now();
	rc = connect(e->fd, (void *)&ss, len);
	err = rc ? errno : 0;
	len = sizeof(ss);
	if (!getsockname(e->fd, (void *)&ss, &len))
		e->lport = port_of(&ss);
	say("c%d connect from %d:%u to %d: %s", e->id, c->client, e->lport, c->server, err ?
	    strerrorname_np(err) : "0");
	e->opened = now();
	if (!rc)
		return opened(e);
	if (err == EINPROGRESS) {
		e->state = CONNECTING;
		return true;
	}
	e->dead = true;
	if (!cause(e, err, CONNECT) && !(c->listener < 0 && err == ECONNREFUSED))
		return bad(e, "connect", rc, err);
	shut_down(e);
	return true;
}

static bool connected(struct end *e)
{
	int err = 0;
	socklen_t len = sizeof(err);

	getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	say("c%d connected: %s", e->id, err ? strerrorname_np(err) : "0");
	if (!err) {
		if (e->c->listener < 0)
			return bad(e, "connected to nobody", 0, 0);
		return opened(e);
	}
	e->dead = true;
	if (!cause(e, err, CONNECT) && !(e->c->listener < 0 && err == ECONNREFUSED))
		return bad(e, "connect", -1, err);
	shut_down(e);
	return true;
}

static bool accept_some(int i)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	const struct listen_plan *l = &world->listen[i];
	struct end *who = NULL;
	int fd, k, host;
	u32 port;

	if (!native)
		enter(l->host);
	fd = accept4(listeners[i], (void *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		say("l%d accept: %s", i, strerrorname_np(errno));
		/* the connection that epoll announced may be gone */
		return errno == ECONNABORTED || errno == EAGAIN ||
		       ((errno == ENOMEM || errno == ENOBUFS || errno == ENFILE) &&
			tainted(world, l->host, l->plane, BIT(D_SLAB), now())) ||
		       fail("listener %d: accept: %s", i, strerrorname_np(errno));
	}
	port = port_of(&ss);
	host = host_of(ss.ss_family == AF_INET ?
		       ((unsigned char *)&((struct sockaddr_in *)&ss)->sin_addr)[3] :
		       ((struct sockaddr_in6 *)&ss)->sin6_addr.s6_addr[15]);
	/* an earlier connection that is gone may have had the same port */
	for (k = 0; k < world->n_conn; k++) {
		struct end *e = &ends[k][1];

		if (e->state == NEW && e->peer->lport == port && e->c->client == host &&
		    e->c->listener == i &&
		    (!who || who->peer->opened < e->peer->opened))
			who = e;
	}
	if (who) {
		who->fd = fd;
		set_options(fd, &who->p->opt);
		say("c%d accepted", who->id);
		return opened(who);
	}
	close(fd);
	return fail("listener %d: accepted a connection from %d:%u that nobody made", i, host,
		    port);
}

static const struct step *step(const struct step *st, int n, int *i, u32 *done)
{
	for (; *i < n; ++*i, *done = 0)
		if (!st[*i].off && *done < st[*i].bytes)
			return &st[*i];
	return NULL;
}

/* @n more bytes of the step are done; true: a chunk is, which may take many calls */
static bool chunks(const struct step *st, u32 *done, u32 n)
{
	u32 chunk = st->chunk ? st->chunk : 1, before = *done / chunk;

	*done += n;
	return *done / chunk != before || *done >= st->bytes;
}

static const struct step *w_step(struct end *e)
{
	const struct step *st = step(e->p->w, e->p->nw, &e->wi, &e->wdone);

	if (st && !e->wdone && e->wwait < st->at * MS)
		e->wwait = st->at * MS;
	return st;
}

static bool w_wants(struct end *e)
{
	return !e->shut && !e->wdead && !e->rdwr && w_step(e) && now() >= e->wwait;
}

static bool r_wants(struct end *e)
{
	return !e->eof && !e->rdwr && !e->p->noread && now() >= e->rwait;
}

static void no_more_to_send(struct end *e)
{
	int how;

	if (e->shut || e->rdwr || w_step(e))
		return;
	switch (e->p->end) {
	case END_CLOSE:
		shut_down(e);
		return;
	case END_RDWR:
		how = SHUT_RDWR;
		e->rdwr = true;
		note_close(e);
		break;
	default:
		how = SHUT_WR;
	}
	e->shut = true;
	if (shutdown(e->fd, how))
		say("c%d%c shutdown %d: %s", e->id, "cs"[e->side], how, strerrorname_np(errno));
	else
		say("c%d%c shutdown %d", e->id, "cs"[e->side], how);
}

/* True if epoll announces again and again, at the same time, what the call does not find */
static bool spun(struct end *e, const char *what)
{
	u64 t = now();

	if (t != e->spin_time) {
		e->spin_time = t;
		e->spins = 0;
	}
	if (++e->spins < 20)
		return false;
	bad(e, what, e->spins, EAGAIN);
	return true;
}

/* After a call; true: the end was closed meanwhile, the result does not matter */
static bool blocked(const struct end *e, bool let_go)
{
	int err = errno;

	if (let_go) {
		pthread_mutex_lock(&turn);
		tick();
	}
	errno = err;
	return e->state == GONE;
}

static bool do_send(struct end *e, u32 ev)
{
	const struct step *st = w_step(e);
	u32 n, left = st->bytes - e->wdone;
	bool let_go = e->threads;
	int err, fd = e->fd, more;
	ssize_t rc;

	n = st->chunk > left ? left : st->chunk;
	if (n > MOST)
		n = MOST;
	if (!n)
		n = left;
	more = e->p->opt.more && one_in(&e->r, 2) ? MSG_MORE : 0;
	if (e->p->opt.oob && one_in(&e->urgent, (u32)e->p->opt.oob))
		more |= MSG_OOB;
	e->tx_most = e->tx + n;
	e->in_send = let_go;
	if (let_go)
		pthread_mutex_unlock(&turn);
	rc = send(fd, pattern(e, e->tx), n, MSG_NOSIGNAL | more);
	if (blocked(e, let_go))
		return true;
	e->in_send = false;
	err = rc < 0 ? errno : 0;
	if (e->owed && !err)
		return bad(e, "recv() said that data end, send() gave no error", rc, 0);
	if (err && !let_go)
		e->tx_most = e->tx;
	say("c%d%c send %u%s: %zd %s", e->id, "cs"[e->side], n, more & MSG_OOB ? " urgent" : "", rc,
	    err ? strerrorname_np(err) : "");
	if (err == EAGAIN) {
		e->ready &= ~WRITE_EV;
		if (e->threads)
			return bad(e, "send does not block", rc, err);
		return !(ev & EPOLLOUT) || !spun(e, "epoll says that it can send, and it cannot");
	}
	if (err == ENOMEM && hurt_by(e, BIT(D_SLAB) | NO_MAPPING)) {	/* the connection goes on */
		app_hurt++;
		e->wwait = now() + 20 * MS;
		return true;
	}
	if (err) {
		e->wdead = true;
		return cause(e, err, SEND) || bad(e, "send", rc, err);
	}
	if (!rc || rc > n)
		return bad(e, "send", rc, 0);
	e->tx += (u64)rc;
	e->tx_most = e->tx;
	e->spins = 0;
	if (chunks(st, &e->wdone, (u32)rc) && st->pause)
		e->wwait = now() + st->pause * MS;
	return true;
}

static bool do_recv(struct end *e, u32 ev)
{
	const struct step *st = step(e->p->r, e->p->nr, &e->ri, &e->rdone);
	u32 n = st ? st->chunk ? st->chunk : 1 : 1 << 16;
	struct end *o = e->peer;
	bool let_go = e->threads;
	int err, fd = e->fd;
	ssize_t rc;
	long at;

	if (n > MOST)
		n = MOST;
	if (!in)
		in = malloc(MOST);
	if (let_go)
		pthread_mutex_unlock(&turn);
	rc = recv(fd, in, n, e->p->opt.waitall ? MSG_WAITALL : 0);
	if (blocked(e, let_go))
		return true;
	err = rc < 0 ? errno : 0;
	say("c%d%c recv %u: %zd %s", e->id, "cs"[e->side], n, rc, err ? strerrorname_np(err) : "");
	if (err == EAGAIN) {
		e->ready &= ~READ_EV;
		if (e->threads)
			return bad(e, "recv does not block", rc, err);
		return !(ev & EPOLLIN) || !spun(e, "epoll says that it can receive, and it cannot");
	}
	if (err) {
		e->dead = true;
		return cause(e, err, RECV) || bad(e, "recv", rc, err);
	}
	if (e->dead && rc)
		return bad(e, "recv after an error", rc, 0);
	if (rc > n)
		return bad(e, "recv", rc, 0);
	if (e->brief && rc)
		return bad(e, "recv did not wait for all", rc, 0);
	/* MSG_WAITALL returns less only at the end, or at an urgent byte */
	e->brief = let_go && e->p->opt.waitall && rc < n && !o->p->opt.oob;
	if (!rc) {
		/*
		 * The peer's data and its end may have come before its abort; or the other thread
		 * here has shut both directions while this one was in recv().
		 */
		if (!e->rdwr && (e->rx != o->tx || !(o->shut || (o->closed && !o->aborted)))) {
			/* send() has returned the error or, if it waits, is about to: as in TCP */
			if ((!e->wdead && !e->in_send) || !cause(e, ECONNRESET, RECV))
				return bad(e, "end of data", rc, 0);
			e->owed = !e->wdead;
			e->dead = e->owed;
			if (e->owed)
				return true;
		}
		e->eof = true;
		return true;
	}
	if (e->rx + (u64)rc > o->tx_most)
		return bad(e, "more data than were sent", rc, 0);
	if (memcmp(in, pattern(o, e->rx), (size_t)rc)) {
		for (at = 0; in[at] == pattern(o, e->rx)[at]; at++)
			;
		return bad(e, "data differ at", at, 0);
	}
	e->rx += (u64)rc;
	app_bytes += (u64)rc;
	e->spins = 0;
	if (st && chunks(st, &e->rdone, (u32)rc) && st->pause)
		e->rwait = now() + st->pause * MS;
	return true;
}

static void nap_until(u64 t)
{
	while (tick() < t) {
		u64 ns = (t - now()) / (native ? HASTE : 1);
		struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

		pthread_mutex_unlock(&turn);
		nanosleep(&ts, NULL);
		pthread_mutex_lock(&turn);
	}
}

static void thread_ends(struct end *e)
{
	u64 one = 1;

	if (!--e->threads)
		say("c%d%c its threads have ended", e->id, "cs"[e->side]);
	if (write(wake, &one, sizeof(one)) < 0)
		abort();
}

static void *writer(void *arg)
{
	struct end *e = arg;

	pthread_mutex_lock(&turn);
	while (e->state == OPEN && !e->wdead && !e->dead && w_step(e)) {
		nap_until(e->wwait);
		if (e->state != OPEN || !do_send(e, 0))
			break;
	}
	if (e->state == OPEN && !e->wdead && !e->dead && !failed())
		no_more_to_send(e);
	thread_ends(e);
	pthread_mutex_unlock(&turn);
	return NULL;
}

static void *reader(void *arg)
{
	struct end *e = arg;

	pthread_mutex_lock(&turn);
	while (e->state == OPEN && !e->eof && !e->dead) {
		nap_until(e->rwait);
		if (e->state != OPEN || !do_recv(e, 0))
			break;
	}
	free(in);
	thread_ends(e);
	pthread_mutex_unlock(&turn);
	return NULL;
}

static void set_blocking(int fd, bool on)
{
	int fl = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? fl & ~O_NONBLOCK : fl | O_NONBLOCK);
}

static void start_threads(struct end *e)
{
	void *(*const run[])(void *) = { writer, reader };
	pthread_attr_t attr;
	pthread_t t;
	int i, n, rc;

	ask_epoll(e, 0);
	set_blocking(e->fd, true);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 17);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (i = 0; i < 2; i++) {
		e->threads++;
		/* may fail while allocations do */
		n = 0;
		do {
			rc = pthread_create(&t, &attr, run[i], e);
		} while (rc && n++ < 100 && hurt_by(e, BIT(D_SLAB)));
		if (!rc)
			continue;
		e->threads--;
		/* without both threads the loop does their work */
		if (i || !disturbed(e))
			bad(e, "thread", 0, rc);
		e->io = IO_LEVEL;
		set_blocking(e->fd, false);
		break;
	}
	pthread_attr_destroy(&attr);
}

static bool at_time(const struct end *e)
{
	return e->p->end == END_AT || e->p->end == END_ABORT;
}

static u64 end_time(const struct end *e)
{
	if (e->rdwr)
		return e->closed_at + e->p->end_ms % 128 * MS;
	return at_time(e) ? e->opened + e->p->end_ms * MS : ~0ull;
}

/* Do what is due; @ev: events from epoll */
static bool drive(struct end *e, u32 ev)
{
	if (e->state == CONNECTING && ev & (EPOLLOUT | EPOLLERR | EPOLLHUP) && !connected(e))
		return false;
	if (e->state != GONE && e->state != NEW && now() >= end_time(e)) {
		shut_down(e);
		return true;
	}
	if (e->state != OPEN || e->threads)
		return true;
	if (e->io == IO_BLOCK) {	/* both threads have ended */
		e->io = IO_LEVEL;
		set_blocking(e->fd, false);
	}
	if (ev & READ_EV && r_wants(e) && !do_recv(e, ev))
		return false;
	if (!e->dead && ev & WRITE_EV && w_wants(e) && !do_send(e, ev))
		return false;
	if (e->dead) {
		/* each call fails from now on */
		unsigned char byte = 0;
		ssize_t rc = recv(e->fd, &byte, 1, 0);

		if (rc > 0 || (rc && !cause(e, errno, RECV)))
			return bad(e, "recv after an error", rc, rc < 0 ? errno : 0);
		rc = send(e->fd, &byte, 1, MSG_NOSIGNAL);
		if (rc >= 0 || (errno != EPIPE && !cause(e, errno, SEND)))
			return bad(e, "send after an error", rc, rc < 0 ? errno : 0);
		shut_down(e);
		return true;
	}
	if (e->wdead) {
		ssize_t rc = send(e->fd, "", 1, MSG_NOSIGNAL);

		if (rc >= 0 || (errno != EPIPE && !cause(e, errno, SEND)))
			return bad(e, "send after an error", rc, rc < 0 ? errno : 0);
		if (e->eof || e->p->noread || e->rdwr)
			shut_down(e);
		return true;
	}
	no_more_to_send(e);
	if (e->state == OPEN && e->eof && e->shut && !at_time(e) && !e->rdwr)
		shut_down(e);
	return true;
}

static void want(struct end *e)
{
	u32 ev = 0;

	if (e->io == IO_EDGE)
		ev = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
	else if (e->state == CONNECTING)
		ev = EPOLLOUT;
	else if (e->threads)
		ev = 0;
	else if (e->state == OPEN)
		ev = (r_wants(e) ? EPOLLIN : 0) | (w_wants(e) ? EPOLLOUT : 0);
	if (e->state != GONE && e->state != NEW)
		ask_epoll(e, ev);
}

static u64 pauses(const struct side_plan *s)
{
	u64 t = 0;
	int i;

	for (i = 0; i < s->nw; i++)
		if (!s->w[i].off)
			t += (s->w[i].bytes / (s->w[i].chunk + 1) + 2) *
				(s->w[i].pause + 12ull) + s->w[i].at;
	for (i = 0; i < s->nr; i++)
		if (!s->r[i].off)
			t += (s->r[i].bytes / (s->r[i].chunk + 1) + 2) * (s->r[i].pause + 12ull);
	return t + s->end_ms;
}

/* TCP with a small send buffer waits for a delayed ACK of each 4 KiB: ms */
static u64 dribbles(const struct side_plan *s)
{
	u64 bytes = 0;
	int i;

	if (!s->opt.sndbuf || s->opt.sndbuf > 16384)
		return 0;
	for (i = 0; i < s->nw; i++)
		bytes += s->w[i].off ? 0 : s->w[i].bytes;
	return bytes / 4096 * 250;
}

#define SYN_RETRIES	130000	/* ms: all of TCP's, while a full listener drops them */

static u64 deadline(const struct end *e)
{
	const struct conn_plan *c = e->c;
	u64 t = 8000 + world->lingers * 1000 + pauses(&c->side[0]) * 2 + pauses(&c->side[1]) * 2 +
		dribbles(&c->side[0]) + dribbles(&c->side[1]) + due_all;
	u64 at = ends[e->id][0].opened + t * MS;
	int i;

	if (world->limits)
		at += 40000 * MS;
	if (crowded(world, c))
		at += SYN_RETRIES * MS;
	if (!world->lan && !befell(e, ANYTHING))
		return at;
	for (i = 0; i < world->n_dist; i++) {
		u64 over = (world->dist[i].start + (u64)world->dist[i].len + t) * MS;

		if (world->dist[i].off)
			continue;
		if (over > at)
			at = over;
		/* the end of each can make another link fail */
		if (world->lan)
			at += detection(world, c);
	}
	if (e->patient || world->no_test)
		return at + LATER;
	/* the time in which a silent link is noticed: keepalive.rst */
	return at + (world->t_testlink + world->t_llc + SLACK) * MS;
}

/*
 * Check the deadline. In fallback the peer's reset may be lost with packets of
 * TCP, and the connection then waits for ever, as TCP does; a handshake waits for
 * TCP's retransmissions. Disturbances of an RNIC lose no packets of TCP.
 */
static bool late(struct end *e)
{
	int mode;

	see_faults(world);
	if (now() < deadline(e))
		return true;
	if (e->state == NEW) {
		e->state = GONE;
		return true;
	}
	if (native)
		return bad(e, "hangs", 0, 0);
	mode = mode_of(e);
	if (befell(e, mode == SMCR_NL_MODE_TCP ? TCP_TOO : ANYTHING) && !e->patient &&
	    !world->no_test && mode != SMCR_NL_MODE_SMC_R) {
		e->patient = true;
		return true;
	}
	if (befell(e, TCP_TOO) && mode == SMCR_NL_MODE_TCP && e->peer->state == GONE) {
		say("c%d%c gives up", e->id, "cs"[e->side]);
		e->dead = true;
		/* wakes threads that wait in a call */
		if (e->threads)
			shutdown(e->fd, SHUT_RDWR);
		shut_down(e);
		return true;
	}
	conn_dump(e->host);
	conn_dump(e->peer->host);
	say("mode %d", mode);
	return bad(e, e->state == CONNECTING ? "connect hangs" : "hangs", (long)(e->wi * 10 +
										 e->ri), 0);
}

/*
 * The event that is awaited and has to come soon, or NULL: connect() and accept();
 * progress of bytes if this end wants to send, or has sent, and its peer wants to
 * read; and the end of data when all of them were read.
 */
static const char *awaited(struct end *e)
{
	struct end *o = e->peer;

	if (native || e->wdead || e->dead || o->dead)
		return NULL;
	if (!e->side && e->state == CONNECTING)
		return "connect() does not end";
	if (!e->side && e->state == OPEN && o->state == NEW)
		return "accept() does not come";
	if (o->state != OPEN || !r_wants(o) || o->wdead)
		return NULL;
	if (e->tx == o->rx && (e->shut || (e->closed && !e->aborted)))
		return "no end of data comes from";
	if (e->state != OPEN)
		return NULL;
	if (w_wants(e) || (e->tx > o->rx && !e->p->opt.cork && !e->p->opt.more && !o->p->opt.lowat &&
			   !o->p->opt.waitall))
		return "nothing moves of what it sends";
	return NULL;
}

static u64 still_until(const struct end *e)
{
	u64 since = e->moved + held;

	/* a link that is lost has to be noticed first */
	if (world->lan)
		since = slowed(world, e->id, since);
	return since + (e->peer->state == OPEN ? STILL : SOON) * MS;
}

/* An event that is awaited for longer than that is a lost wake-up */
static bool still(struct end *e)
{
	u64 sum = e->tx + e->peer->rx;
	const char *was = e->waits;
	int mode;

	e->waits = awaited(e);
	if (!e->waits || e->waits != was || sum != e->sum) {
		e->sum = sum;
		e->moved = now() - held;
		return true;
	}
	if (now() < still_until(e))
		return true;
	e->moved = now() - held;
	if (disturbed(e))
		return true;
	if (e->peer->state != OPEN)
		return crowded(world, e->c) || bad(e, e->waits, 0, 0);
	/* TCP has other times */
	mode = mode_of(e->peer);
	return mode == SMCR_NL_MODE_TCP || bad(e, e->waits, mode, 0);
}

/* IO_EDGE: it wants to use an event that epoll has reported before */
static bool edge_wants(struct end *e)
{
	return e->io == IO_EDGE && e->state == OPEN &&
	       ((e->ready & READ_EV && r_wants(e)) || (e->ready & WRITE_EV && w_wants(e)));
}

u64 earliest(u64 t, u64 other)
{
	return other < t ? other : t;
}

/* The time when something is due next; ~0: never */
static u64 next_time(bool probes)
{
	u64 next = ~0ull, t = now();
	int i, side;

	for (i = 0; i < world->n_conn; i++) {
		for (side = 0; side < 2; side++) {
			struct end *e = &ends[i][side];

			if (e->c->off || e->c->probe != probes)
				continue;
			if (e->state == NEW && !side)
				next = earliest(next, e->c->start * MS);
			if (e->waits)
				next = earliest(next, still_until(e));
			if (e->state == NEW || e->state == GONE)
				continue;
			next = earliest(next, end_time(e));
			next = earliest(next, deadline(e));
			if (e->threads)
				continue;
			if (edge_wants(e))
				return t;
			if (e->wwait > t)
				next = earliest(next, e->wwait);
			if (e->rwait > t)
				next = earliest(next, e->rwait);
		}
	}
	return next;
}

static bool all_done(bool probes)
{
	int i;

	for (i = 0; i < world->n_conn; i++) {
		struct end *c = &ends[i][0], *s = &ends[i][1];

		if (c->c->off || c->c->probe != probes)
			continue;
		if (c->state != GONE || (s->state != GONE && s->state != NEW))
			return false;
		/* a connection that was not accepted yet may still come */
		if (s->state == NEW && c->opened && c->c->listener >= 0 && !c->dead &&
		    !c->aborted && now() < c->closed_at + held + 3000 * MS)
			return false;
	}
	return true;
}

static bool look(bool probes)
{
	u64 t = now();
	int i, side;

	for (i = 0; i < world->n_conn; i++) {
		for (side = 0; side < 2; side++) {
			struct end *e = &ends[i][side];

			if (e->c->off || e->c->probe != probes)
				continue;
			if (e->state == NEW && !side && t >= e->c->start * MS && !start_conn(e))
				return false;
			/* the deadline does not depend on events */
			if ((e->state == CONNECTING || e->state == OPEN) && t >= deadline(e) &&
			    !late(e))
				return false;
			do {
				if (!drive(e, e->ready))
					return false;
			} while (edge_wants(e));
			want(e);
			if (!still(e))
				return false;
		}
	}
	return true;
}

static bool loop(bool probes, u64 until)
{
	struct epoll_event ev[32];
	u64 t, next;
	int n, i;

	tick();
	while (!failed()) {
		if (!do_dists(world) || !look(probes))
			return false;
		t = now();
		if (t >= until)
			return true;
		if (until == ~0ull && all_done(probes) && next_dist(world) == ~0ull)
			return true;
		next = earliest(earliest(next_time(probes), next_dist(world)), until);
		if (next == ~0ull)
			next = t + 1000 * MS;
		n = next <= t ? 0 : (int)((next - t) / MS / (native ? HASTE : 1) + 1);
		pthread_mutex_unlock(&turn);
		n = epoll_wait(ep, ev, 32, n);
		pthread_mutex_lock(&turn);
		tick();
		for (i = 0; i < n; i++) {
			u32 d = ev[i].data.u32;
			struct end *e;

			if (d == WAKE) {
				u64 count;

				if (read(wake, &count, sizeof(count)) < 0)
					abort();
				continue;
			}
			if (d >= 1000) {
				if (!accept_some((int)d - 1000))
					return false;
				continue;
			}
			e = &ends[d / 2][d % 2];
			if (e->io == IO_EDGE)
				e->ready |= ev[i].events;
			if (!drive(e, ev[i].events))
				return false;
		}
	}
	return false;
}

void run_until(struct world *w, u64 t)
{
	(void)w;
	nap_until(t);
}

/* The connections that are open at both ends, over SMC-R: a bit each */
u64 app_met(void)
{
	u64 met = 0;
	int i;

	for (i = 0; i < world->n_conn; i++)
		if (!world->conn[i].off && ends[i][0].state == OPEN && ends[i][1].state == OPEN &&
		    mode_of(&ends[i][1]) == SMCR_NL_MODE_SMC_R)
			met |= 1ull << i;
	return met;
}

int app_alive(int host, int plane)
{
	int i, n = 0;

	for (i = 0; i < world->n_conn; i++) {
		const struct conn_plan *c = &world->conn[i];

		if (c->off || (c->client != host && c->server != host) ||
		    (!world->lan && c->plane != plane))
			continue;
		n += (ends[i][0].state == OPEN) + (ends[i][1].state == OPEN);
	}
	return n;
}

void app_begin(struct world *w)
{
	struct epoll_event ee = { .events = EPOLLIN, .data.u32 = WAKE };
	int i, side;

	if (!table) {
		table = malloc(PERIOD + MOST);
		pattern_fill(table, 0, PERIOD + MOST);
	}
	if (!world)
		pthread_mutex_lock(&turn);
	world = w;
	t0 = clock_ns();
	cur = 0;
	app_hurt = 0;
	app_smc = 0;
	app_tcp = 0;
	app_want_smc = 0;
	app_want_tcp = 0;
	app_bytes = 0;
	app_lost = false;
	app_early = false;
	held = 0;
	due_all = 0;
	memset(ends, 0, sizeof(ends));
	ep = epoll_create1(EPOLL_CLOEXEC);
	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	epoll_ctl(ep, EPOLL_CTL_ADD, wake, &ee);
	for (i = 0; i < MAX_LISTEN; i++)
		listeners[i] = -1;
	for (i = 0; i < w->n_conn; i++) {
		for (side = 0; side < 2; side++) {
			struct end *e = &ends[i][side];
			int k;

			e->c = &w->conn[i];
			e->p = &e->c->side[side];
			e->peer = &ends[i][!side];
			e->id = i;
			e->side = side;
			e->host = side ? e->c->server : e->c->client;
			e->fd = -1;
			e->r.s = e->p->rnd;
			e->urgent = stream(e->p->rnd, 1);
			e->io = e->p->io;
			/* at 100 Mbit/s, and by 16 KiB in each round trip */
			for (k = 0; k < e->p->nw; k++)
				if (!e->p->w[k].off)
					due_all += e->p->w[k].bytes / 5000 +
						e->p->w[k].bytes / 8192 * 14;
		}
	}
}

static bool count(struct world *w)
{
	int i;

	for (i = 0; i < w->n_conn; i++) {
		struct end *c = &ends[i][0], *s = &ends[i][1];

		if (c->c->off || c->c->listener < 0)
			continue;
		if (s->opened && w->device[c->c->client][c->c->cplane] &&
		    w->device[c->c->server][c->c->plane])
			app_want_smc++;
		else
			app_want_tcp++;
		if (s->state == NEW && c->state == GONE && !c->dead && !c->aborted &&
		    !disturbed(c) && c->p->end == END_EOF)
			return bad(c, "never accepted", 0, 0);
	}
	return true;
}

bool app_run(struct world *w)
{
	int i;

	for (i = 0; i < w->n_listen; i++)
		if (!start_listener(i))
			return false;
	if (!loop(false, ~0ull))
		return false;
	undo_dists(w);
	if (failed())
		return false;
	if (!w->calm) {
		u64 t = now() / MS + w->t_testlink + w->t_llc + w->t_llc_first + 20000;

		say("all is well again");
		for (i = 0; i < w->n_conn; i++)
			if (w->conn[i].probe)
				w->conn[i].start = (u32)t;
		/* a removal waits for smcr and may end only now: make the device again */
		if (!loop(true, (t - 15000) * MS))
			return false;
		undo_dists(w);
		if (failed() || !loop(true, ~0ull))
			return false;
		if (w->lan && !links_agree(w))
			return false;
	} else {
		for (i = 0; i < w->n_conn; i++)
			if (w->conn[i].probe)
				w->conn[i].off = true;
	}
	return count(w);
}

void app_end(void)
{
	int i, side;

	for (i = 0; i < MAX_LISTEN; i++) {
		if (listeners[i] >= 0)
			close(listeners[i]);
		listeners[i] = -1;
	}
	for (i = 0; i < world->n_conn; i++)
		for (side = 0; side < 2; side++)
			if (ends[i][side].fd >= 0)
				close(ends[i][side].fd);
	close(wake);
	close(ep);
}
