// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sweep of every fault of rnicsim at every step of a link group's and a
 * connection's life, on either side. The expected outcome of each combination
 * follows from the tables in simsweep_tab.c.
 *
 *	simsweep STEP [PATTERN]		all combinations of a step, or those that match
 *	simsweep STEP N%M		about every M-th of a step; N = 0..M-1 together
 *					are all
 *	simsweep -x PATTERN ...		without those that match
 *	simsweep -l			names of all
 *
 * Exit status: 0, 1 a combination failed, 4 there was none to run.
 *
 * The network namespaces h1 (client) and h2 (server) have a card eth0 and eth1
 * each, with the addresses of random worlds; all else is made here, anew for
 * each combination. The fault is on eth0; a connection over eth1 must not be
 * disturbed. See Documentation/testing-simulation.rst.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <libmnl/libmnl.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "pattern.h"
#include "simsweep.h"

#ifndef AF_SMC
#define AF_SMC 43
#endif

#define STRING(x)	STRING_(x)
#define STRING_(x)	#x
#define CLIENT		1		/* hosts */
#define SERVER		2
#define MOST		(1u << 16)	/* bytes of one call */
#define SOME		2000u		/* bytes that any path takes at once */
#define EXCHANGE	20000u
#define LOTS		300000u		/* more than rings and windows hold */
#define LONG		(200 * 1000u)	/* ms: longer than all that may happen */

/* --- log and verdict --- */

static char why[512];
static bool verbose;

void say(const char *fmt, ...)
{
	va_list ap;

	if (!verbose)
		return;
	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

bool fail(const char *fmt, ...)
{
	va_list ap;

	if (!why[0]) {
		va_start(ap, fmt);
		vsnprintf(why, sizeof(why), fmt, ap);
		va_end(ap);
	}
	return false;
}

u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

static void nap(u32 ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000l };

	nanosleep(&ts, NULL);
}

/* --- connections, with both ends --- */

enum { BY, X, Z, W, LATER, CONNS };	/* bystander, observed, new, helper, afterwards */

struct end {
	int fd;			/* -1: not open */
	bool open, was_open, reads, shut, shut_done, eof, closed;
	int err;
	u64 tx, goal, rx;
	u64 open_at, err_at;
	u32 port;		/* of its own */
	u64 base;		/* of its pattern */
	int mode;
};

static struct end ends[CONNS][2];	/* 0: client, 1: server */
static int listener[2];			/* by plane */
static u64 armed_at;

static int plane_of(int c)
{
	return c == BY;
}

static void address(struct sockaddr_in *a, int host, int plane, u32 port)
{
	char text[32];

	memset(a, 0, sizeof(*a));
	a->sin_family = AF_INET;
	a->sin_port = htons((uint16_t)port);
	snprintf(text, sizeof(text), "10.77.%d.%d", plane, host);
	inet_pton(AF_INET, text, &a->sin_addr);
}

static int smc_socket(int host)
{
	enter(host);
	return socket(AF_SMC, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static bool listen_on(int plane)
{
	struct sockaddr_in a;
	int one = 1, fd = smc_socket(SERVER);

	address(&a, SERVER, plane, 5000u + (u32)plane);
	listener[plane] = fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (void *)&a, sizeof(a)) || listen(fd, 64))
		return fail("cannot listen: %m");
	return true;
}

static void trouble(struct end *e, int err)
{
	e->err = err;
	e->err_at = now();
	e->open = false;
}

static void got_open(struct end *e)
{
	e->open = true;
	e->was_open = true;
	e->open_at = now();
}

static void dial(int c)
{
	struct end *e = &ends[c][0];
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	memset(ends[c], 0, sizeof(ends[c]));
	ends[c][1].fd = -1;
	ends[c][0].base = (u64)c * 2 * 7919;
	ends[c][1].base = ((u64)c * 2 + 1) * 7919;
	ends[c][0].reads = true;
	ends[c][1].reads = true;
	e->fd = smc_socket(CLIENT);
	address(&a, SERVER, plane_of(c), 5000u + (u32)plane_of(c));
	if (!connect(e->fd, (void *)&a, sizeof(a)))
		got_open(e);
	else if (errno != EINPROGRESS)
		trouble(e, errno);
	if (!getsockname(e->fd, (void *)&a, &len))
		e->port = ntohs(a.sin_port);
}

static void take(int plane)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int c, fd;

	enter(SERVER);
	fd = accept4(listener[plane], (void *)&a, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	for (c = 0; c < CONNS; c++) {
		struct end *e = &ends[c][1];

		if (ends[c][0].port != ntohs(a.sin_port) || plane_of(c) != plane || e->was_open)
			continue;
		e->fd = fd;
		e->port = 5000u + (u32)plane;
		got_open(e);
		return;
	}
	close(fd);
	fail("a connection from port %d that nobody made", ntohs(a.sin_port));
}

static void end_close(struct end *e, bool abort)
{
	struct linger l = { 1, 0 };

	if (e->fd < 0)
		return;
	if (abort)
		setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(e->fd);
	e->fd = -1;
	e->open = false;
	e->closed = true;
}

static void send_some(struct end *e)
{
	static unsigned char out[MOST];
	u64 left = e->goal - e->tx;
	size_t n = left > MOST ? MOST : left;
	ssize_t rc;

	pattern_fill(out, e->base + e->tx, n);
	rc = send(e->fd, out, n, MSG_NOSIGNAL);
	if (rc > 0)
		e->tx += (u64)rc;
	else if (errno != EAGAIN)
		trouble(e, errno);
}

static void recv_some(struct end *e, const struct end *peer)
{
	static unsigned char in[MOST];
	ssize_t rc = recv(e->fd, in, MOST, 0);

	if (rc < 0) {
		if (errno != EAGAIN)
			trouble(e, errno);
		return;
	}
	if (!rc) {
		e->eof = true;
		if (!peer->shut_done && !peer->closed)
			fail("end of data that the peer has not said");
		else if (e->rx != peer->tx)
			fail("end of data after %llu of %llu bytes", (unsigned long long)e->rx,
			     (unsigned long long)peer->tx);
		return;
	}
	if (e->rx + (u64)rc > peer->tx)
		fail("more data than were sent");
	else if (pattern_diff(in, peer->base + e->rx, (unsigned long)rc) >= 0)
		fail("data differ at %llu", (unsigned long long)e->rx);
	e->rx += (u64)rc;
}

static void drive(struct end *e, const struct end *peer, int ev)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (e->fd < 0 || e->err)
		return;
	if (!e->open) {
		if (!(ev & (POLLOUT | POLLERR | POLLHUP)))
			return;
		getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err) {
			trouble(e, err);
			return;
		}
		got_open(e);
	}
	/* what has arrived comes before any error */
	if (e->reads && !e->eof && ev & (POLLIN | POLLERR | POLLHUP))
		recv_some(e, peer);
	if (!e->err && e->tx < e->goal && ev & (POLLOUT | POLLERR | POLLHUP))
		send_some(e);
	if (!e->err && e->shut && !e->shut_done && e->tx == e->goal) {
		if (shutdown(e->fd, SHUT_WR))
			say("shutdown: %m");
		e->shut_done = true;
	}
}

static short wants(const struct end *e)
{
	if (!e->open)
		return POLLOUT;
	return (short)((e->reads && !e->eof ? POLLIN : 0) | (e->tx < e->goal ? POLLOUT : 0));
}

/* Run until @done; false when @ms are over, or after a failure */
static bool pump(bool (*done)(void), u32 ms)
{
	u64 until = now() + ms * MS;
	struct pollfd p[CONNS * 2 + 2];
	struct end *who[CONNS * 2];
	int c, i, n, wait = 1;
	u64 t;

	while (!why[0]) {
		/* errors and shutdown do not depend on poll() */
		for (n = 0, c = 0; c < CONNS; c++) {
			for (i = 0; i < 2; i++) {
				struct end *e = &ends[c][i];

				drive(e, &ends[c][!i], 0);
				if (e->fd < 0 || e->err)
					continue;
				p[n] = (struct pollfd){ e->fd, wants(e), 0 };
				if (!p[n].events)
					continue;	/* an error would be polled for ever */
				who[n++] = e;
			}
		}
		if (done && done())
			return true;
		t = now();
		if (t >= until)
			return !done;
		for (i = 0; i < 2; i++)
			p[n + i] = (struct pollfd){ listener[i], POLLIN, 0 };
		if (poll(p, (nfds_t)n + 2, wait) > 0) {
			wait = 1;
			for (i = 0; i < n; i++)
				if (p[i].revents)
					drive(who[i], &ends[(who[i] - ends[0]) / 2]
							   [!((who[i] - ends[0]) % 2)],
					      p[i].revents);
			for (i = 0; i < 2; i++)
				if (p[n + i].revents)
					take(i);
		} else if (wait < 64) {
			wait *= 2;	/* @done may depend on no socket */
		}
	}
	return false;
}

/* Is @c open at both ends, or in error? */
static bool is_set_up(int c)
{
	return (ends[c][0].open && ends[c][1].open) || ends[c][0].err || ends[c][1].err;
}

static bool is_through(int c)
{
	int i;

	if (!is_set_up(c))
		return false;
	for (i = 0; i < 2; i++)
		if (!ends[c][i].err && ends[c][i].rx < ends[c][!i].goal)
			return ends[c][!i].err;
	return true;
}

static bool is_over(int c)
{
	const struct end *e = ends[c];

	if (!e[0].was_open && !e[0].err)
		return false;
	if (!e[1].was_open)
		return e[0].err;	/* never accepted: the client needs an error */
	return (e[0].eof || e[0].err || e[0].closed) && (e[1].eof || e[1].err || e[1].closed);
}

#define COND(name, c)								\
	static bool c##_##name(void) { return is_##name(c); }
COND(set_up, BY)
COND(through, BY)
COND(over, BY)
COND(set_up, X)
COND(through, X)
COND(over, X)
COND(set_up, Z)
COND(through, Z)
COND(over, Z)
COND(set_up, W)
COND(through, W)
COND(over, W)
COND(through, LATER)
COND(over, LATER)

static const struct {
	bool (*set_up)(void), (*through)(void), (*over)(void);
} cond[CONNS] = {
	[BY] = { BY_set_up, BY_through, BY_over },
	[X] = { X_set_up, X_through, X_over },
	[Z] = { Z_set_up, Z_through, Z_over },
	[W] = { W_set_up, W_through, W_over },
	[LATER] = { NULL, LATER_through, LATER_over },
};

static void both(int c, u64 bytes)
{
	int i;

	for (i = 0; i < 2; i++) {
		ends[c][i].reads = true;
		ends[c][i].goal += bytes;
	}
}

static void note_mode(int c)
{
	u32 port = 5000u + (u32)plane_of(c);

	if (!ends[c][0].open || !ends[c][1].open)
		return;
	ends[c][0].mode = conn_mode(CLIENT, ends[c][0].port, SERVER, port);
	ends[c][1].mode = conn_mode(SERVER, port, CLIENT, ends[c][0].port);
}

static const char *err_name(int err)
{
	return err ? strerrorname_np(err) : "-";
}

/* A connection that has to work, and that has exchanged data */
static bool connect_well(int c)
{
	dial(c);
	both(c, SOME);
	if (!pump(cond[c].through, 20000) || ends[c][0].err || ends[c][1].err)
		return fail("connection %d does not come up: %s %s", c, err_name(ends[c][0].err),
			    err_name(ends[c][1].err));
	note_mode(c);
	return true;
}

static bool over_smc(int c)
{
	return ends[c][0].mode == SMCR_NL_MODE_SMC_R && ends[c][1].mode == SMCR_NL_MODE_SMC_R;
}

static void wind_up(int c)
{
	int i;

	for (i = 0; i < 2; i++) {
		ends[c][i].reads = true;
		ends[c][i].shut = true;
	}
	if (ends[c][0].port)
		pump(cond[c].over, LONG);
}

static void close_both(int c)
{
	end_close(&ends[c][0], false);
	end_close(&ends[c][1], false);
}

/* --- counters --- */

static struct counters before[3], after[3];

static void snapshot(struct counters *c)
{
	int h;

	for (h = CLIENT; h <= SERVER; h++)
		if (counters(h, &c[h]))
			fail("counters of host %d", h);
}

static u64 delta(int host, const char *name)
{
	return counter(&after[host], name) - counter(&before[host], name);
}

static bool both_count(const char *name)
{
	snapshot(after);
	return delta(CLIENT, name) && delta(SERVER, name);
}

/* --- steps: preparation, and action while the fault is set --- */

static bool idle_x(void)
{
	return connect_well(X);
}

static bool no_prelude(void)
{
	return true;
}

static void act_first(void)
{
	dial(X);
	pump(X_set_up, LONG);
}

static bool both_through(void)
{
	return is_through(X) && is_set_up(Z);
}

static void act_reuse(void)
{
	both(X, SOME);
	dial(Z);
	pump(both_through, LONG);
}

static void act_data(void)
{
	both(X, LOTS);
	pump(X_through, LONG);
}

static bool fill_windows(void)
{
	if (!connect_well(X))
		return false;
	ends[X][0].reads = false;
	ends[X][1].reads = false;
	ends[X][0].goal += 2 * LOTS;
	ends[X][1].goal += 2 * LOTS;
	pump(NULL, 1000);
	if (ends[X][0].tx == ends[X][0].goal || ends[X][1].tx == ends[X][1].goal)
		return fail("the windows are not full");
	return true;
}

static void act_window(void)
{
	both(X, 0);
	pump(X_through, LONG);
}

static bool is_freed(void)
{
	struct census c;
	int h;

	for (h = CLIENT; h <= SERVER; h++)
		if (census(h, &c) || c.sockets != (h == SERVER ? 3 : 1))
			return false;	/* the bystander, and two listeners */
	return true;
}

static bool server_ends(void)
{
	return ends[X][1].eof || ends[X][1].err;
}

static void act_close(void)
{
	ends[X][1].reads = true;
	ends[X][0].goal += SOME;
	while (ends[X][0].tx < ends[X][0].goal && !ends[X][0].err)
		send_some(&ends[X][0]);
	end_close(&ends[X][0], false);
	pump(server_ends, LONG);
	end_close(&ends[X][1], false);
	if (!pump(is_freed, LONG))
		fail("the connection stays after both have closed it");
}

static void act_abort(void)
{
	ends[X][1].reads = true;
	end_close(&ends[X][0], true);
	pump(server_ends, LONG);
	end_close(&ends[X][1], false);
	if (!pump(is_freed, LONG))
		fail("the connection stays after an abort");
}

static void max_rmbs(const char *val)
{
	sysctl_set(CLIENT, "max_rmbs_per_lgr", val);
	sysctl_set(SERVER, "max_rmbs_per_lgr", val);
}

/* All elements of the only RMB are in use */
static bool full_rmb(void)
{
	max_rmbs("1");
	return connect_well(X) && connect_well(W);
}

static bool rmb_settled(void)
{
	return is_set_up(Z) && is_through(X) && (ends[X][0].err || ends[Z][0].err ||
		both_count("rmb-created"));
}

static void act_confirm(void)
{
	max_rmbs("255");
	dial(Z);
	if (!pump(rmb_settled, 20000))
		pump(Z_set_up, LONG);
	/* the answers to CONFIRM RKEY of both sides */
	pump(NULL, 100);
}

static bool rmb_is_there(void)
{
	return both_count("rmb-created");
}

/* The first RMB is idle and about to be freed, the second one is in use */
static bool idle_rmb(void)
{
	if (!connect_well(Z))
		return false;
	snapshot(before);
	if (!connect_well(W))
		return false;
	if (!pump(rmb_is_there, 5000))
		return fail("there is no second RMB");
	if (!connect_well(X))
		return false;
	wind_up(Z);
	wind_up(W);
	close_both(Z);
	close_both(W);
	memset(ends[Z], 0, sizeof(ends[Z]));
	memset(ends[W], 0, sizeof(ends[W]));
	ends[Z][0].fd = ends[Z][1].fd = ends[W][0].fd = ends[W][1].fd = -1;
	pump(NULL, 100);
	return true;
}

static bool rmb_is_gone(void)
{
	return ends[X][0].err || ends[X][1].err || both_count("rmb-freed");
}

static void act_delete(void)
{
	pump(rmb_is_gone, 20000);
	pump(NULL, 100);
}

static bool both_heard(void)
{
	return ends[X][0].err && ends[X][1].err;
}

/* Long enough for two TEST LINKs, or for one without a reply and the failure */
static void act_test(void)
{
	pump(both_heard, 12000);
}

static bool close_x(void)
{
	if (!connect_well(X))
		return false;
	wind_up(X);
	close_both(X);
	if (!pump(is_freed, 5000))
		return fail("the connection stays");
	/* the last message of the close is on its way */
	return pump(NULL, 100);
}

static bool group_is_gone(void)
{
	struct census c;
	int h;

	for (h = CLIENT; h <= SERVER; h++)
		if (census(h, &c) || c.lgrs != 1)
			return false;
	return both_count("lgr-freed");
}

static void act_end(void)
{
	if (!pump(group_is_gone, 30000))
		fail("the link group does not end");
}

static const struct {
	bool (*before)(void);
	void (*act)(void);
} what[NR_STEPS] = {
	[S_FIRST] = { no_prelude, act_first },
	[S_SETTLE] = { no_prelude, act_first },
	[S_REUSE] = { idle_x, act_reuse },
	[S_DATA] = { idle_x, act_data },
	[S_WINDOW] = { fill_windows, act_window },
	[S_CLOSE] = { idle_x, act_close },
	[S_ABORT] = { idle_x, act_abort },
	[S_CONFIRM] = { full_rmb, act_confirm },
	[S_DELETE] = { idle_rmb, act_delete },
	[S_TEST] = { idle_x, act_test },
	[S_END] = { close_x, act_end },
};

/* --- devices --- */

static bool fault_counts(int host, const char *point, u64 *passes, u64 *fired)
{
	unsigned long long p, f;
	char path[96];
	FILE *in;
	int n;

	snprintf(path, sizeof(path), "/sys/kernel/debug/rnicsim/s%d0/fault/%s", host, point);
	in = fopen(path, "r");
	if (!in)
		return false;
	n = fscanf(in, "next %*u times %*u ppm %*u action %*s arg %*u passes %llu fired %llu",
		   &p, &f);
	fclose(in);
	*passes = p;
	*fired = f;
	return n == 2;
}

static int resource_cb(const struct nlmsghdr *nlh, void *arg)
{
	u32 *sum = arg;
	struct nlattr *a, *e, *v;

	mnl_attr_for_each(a, nlh, 0) {
		if (mnl_attr_get_type(a) != RDMA_NLDEV_ATTR_RES_SUMMARY)
			continue;
		mnl_attr_for_each_nested(e, a)
			mnl_attr_for_each_nested(v, e)
				if (mnl_attr_get_type(v) ==
				    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR)
					*sum += (u32)mnl_attr_get_u64(v);
	}
	return MNL_CB_OK;
}

/* Queue pairs, completion queues, domains, regions of all devices of a host */
static u32 resources(int host)
{
	static struct mnl_socket *nl[3];
	char buf[1 << 14];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	u32 sum = 0;
	int n;

	enter(host);
	if (!nl[host]) {
		nl[host] = mnl_socket_open(NETLINK_RDMA);
		if (!nl[host] || mnl_socket_bind(nl[host], 0, MNL_SOCKET_AUTOPID) < 0)
			return ~0u;
	}
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = 1;
	if (mnl_socket_sendto(nl[host], nlh, nlh->nlmsg_len) < 0)
		return ~0u;
	do {
		n = (int)mnl_socket_recvfrom(nl[host], buf, sizeof(buf));
		if (n < 0)
			return ~0u;
		n = mnl_cb_run(buf, (size_t)n, 1, 0, resource_cb, &sum);
	} while (n > 0);
	return n < 0 ? ~0u : sum;
}

static u32 usual_resources[3];

static bool make_devices(void)
{
	int h, p, rc;

	for (h = CLIENT; h <= SERVER; h++) {
		for (p = 0; p < 2; p++) {
			if (dev_there(h, p))
				continue;
			rc = dev_add(h, p);
			if (rc)
				return fail("device s%d%d: %s", h, p, strerrorname_np(-rc));
		}
	}
	return true;
}

/* --- a combination --- */

static const char * const sides[] = { "", "client", "server" };
static int faulty;	/* host */

static bool is_removed(void)
{
	return !dev_there(faulty, 0);
}

static const char *fault_name(const struct fault *f)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s=%s%s", f->point, f->arg ? "" : f->action,
		 strchr(f->when, '+') ? "+" : "");
	if (f->arg)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%d", f->arg);
	return name;
}

/* The outcome for a connection that is over */
static enum outcome outcome_of(int c)
{
	const struct end *e = ends[c];

	if (!is_over(c))
		return O_HANGS;
	if (!e[0].was_open)
		return O_FAILED;
	if (!e[1].was_open)
		return O_HALF;
	if (e[0].err || e[1].err)
		return O_RESET;
	return over_smc(c) ? O_SMC : O_TCP;
}

/* When the last end got its error, ms after the fault was set */
static u32 heard_after(int c)
{
	u64 t = 0;
	int i;

	for (i = 0; i < 2; i++)
		if (ends[c][i].err && ends[c][i].err_at > t)
			t = ends[c][i].err_at;
	return t > armed_at ? (u32)((t - armed_at) / MS) : 0;
}

/* When the last end was open, or had an error, ms after the fault was set */
static u32 up_after(int c)
{
	u64 at, t = 0;
	int i;

	for (i = 0; i < 2; i++) {
		at = ends[c][i].was_open ? ends[c][i].open_at : ends[c][i].err_at;
		if (at > t)
			t = at;
	}
	return t > armed_at ? (u32)((t - armed_at) / MS) : 0;
}

static const char * const outcome_names[] = { OUTCOMES };

static bool known_err(int err)
{
	return !err || err == ECONNRESET || err == EPIPE || err == ETIMEDOUT || err == ECONNABORTED;
}

static void judge(int c, const struct expect *x, u32 allowed, const char *name)
{
	enum outcome o = outcome_of(c);

	if (!(allowed & (1u << o)))
		fail("%s: %s (%s, %s; %llu/%llu, %llu/%llu bytes)", name, outcome_names[o],
		     err_name(ends[c][0].err), err_name(ends[c][1].err),
		     (unsigned long long)ends[c][1].rx, (unsigned long long)ends[c][0].tx,
		     (unsigned long long)ends[c][0].rx, (unsigned long long)ends[c][1].tx);
	if (!known_err(ends[c][0].err) || !known_err(ends[c][1].err))
		fail("%s: %s, %s", name, err_name(ends[c][0].err), err_name(ends[c][1].err));
	if (up_after(c) > x->up)
		fail("%s: open, or in error, after %u ms, not %u", name, up_after(c), x->up);
	if (heard_after(c) > x->ms)
		fail("%s: heard of after %u ms, not %u", name, heard_after(c), x->ms);
}

/* The reasons that a host has counted since the fault was set */
static const char *reasons(int host)
{
	static char text[2][256];
	char *p = text[host - 1], *end = p + sizeof(text[0]);
	int i;

	*p = '\0';
	for (i = 0; i < after[host].n && p < end - 40; i++)
		if (after[host].val[i] != before[host].val[i] && is_reason(after[host].name[i]))
			p += sprintf(p, "%s%s", p == text[host - 1] ? "" : " ",
				     after[host].name[i]);
	return *text[host - 1] ? text[host - 1] : "-";
}

/*
 * Has one of these reasons been counted, on either side or on the one named
 * before it (SIDE:REASON)? @declined: on a side that has sent a Decline
 */
static bool counted(const char *list, bool declined)
{
	char word[48], *reason;
	int h, n;

	for (; sscanf(list, "%47s%n", word, &n) == 1; list += n) {
		reason = strchr(word, ':');
		if (reason)
			*reason++ = '\0';
		for (h = CLIENT; h <= SERVER; h++)
			if ((!reason || !strcmp(word, sides[h])) &&
			    (!declined || delta(h, "clc-tx-decline")) &&
			    delta(h, reason ? reason : word))
				return true;
	}
	return false;
}

/*
 * A host whose own CONFIRM LINK is complete declines only if its ADD LINK
 * fails, which a server sends (CLC-57, CLC-58, I-36). On reuse no host declines
 * after its Accept or Confirm (CLC-56).
 */
static void declines(enum sweep_step s, u32 mute)
{
	static const char * const last[] = { "", "clc-tx-confirm", "clc-tx-accept" };
	int h;

	for (h = CLIENT; h <= SERVER && s != S_FIRST && s != S_SETTLE; h++)
		if (delta(h, "clc-tx-decline") && delta(h, last[h]) &&
		    !delta(SERVER, "lgr-created"))
			fail("the %s declines (%s) after %s", sides[h], reasons(h), last[h]);
	for (h = CLIENT; h <= SERVER; h++)
		if (mute & 1u << h && delta(h, "clc-tx-decline") &&
		    !(h == SERVER && delta(h, "add-link-fail")))
			fail("the %s declines (%s), and must not", sides[h], reasons(h));
}

/* Bytes of regions that a device did not deregister; also in the log */
static u64 lost_mem;

/* Nothing may be left; if @lost, an RMB that was not deregistered must be */
static bool left_behind(bool lost)
{
	struct census c[3] = { };
	bool deleted = false;
	u64 until = now() + 60000 * MS;
	int h;

	for (;;) {
		for (h = CLIENT; h <= SERVER; h++)
			if (census(h, &c[h]))
				return fail("no census of host %d", h);
		if (!c[1].sockets && !c[2].sockets && !c[1].handshakes && !c[2].handshakes) {
			if (!deleted) {
				lgr_delete_all(CLIENT);
				lgr_delete_all(SERVER);
				deleted = true;
			}
			if (!c[1].lgrs && !c[2].lgrs)
				break;
		}
		if (now() > until)
			return fail("left: %u, %u sockets, %u, %u handshakes, %u, %u groups",
				    c[1].sockets, c[2].sockets, c[1].handshakes, c[2].handshakes,
				    c[1].lgrs, c[2].lgrs);
		nap(deleted ? 20 : 100);
	}
	/* memory is freed with the last reference */
	for (until = now() + 10000 * MS; now() < until; nap(50))
		if (!census(CLIENT, &c[1]) && !census(SERVER, &c[2]) &&
		    c[1].mem + c[2].mem == lost_mem &&
		    resources(CLIENT) == usual_resources[CLIENT] &&
		    resources(SERVER) == usual_resources[SERVER])
			return !lost || fail("no memory was given up");
	if (lost && c[1].mem + c[2].mem > lost_mem) {
		lost_mem = c[1].mem + c[2].mem;
		return true;
	}
	return fail("left behind: %llu and %llu bytes, %u and %u RDMA resources",
		    (unsigned long long)c[1].mem, (unsigned long long)c[2].mem,
		    resources(CLIENT) - usual_resources[CLIENT],
		    resources(SERVER) - usual_resources[SERVER]);
}

static void pairs(void)
{
	static const char * const names[][2] = {
		{ "conn-created", "conn-freed" }, { "lgr-created", "lgr-freed" },
		{ "rmb-created", "rmb-freed" },
	};
	size_t i;
	int h;

	snapshot(after);
	for (h = CLIENT; h <= SERVER; h++)
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (counter(&after[h], names[i][0]) != counter(&after[h], names[i][1]))
				fail("host %d: %s %llu, %s %llu", h, names[i][0],
				     (unsigned long long)counter(&after[h], names[i][0]),
				     names[i][1],
				     (unsigned long long)counter(&after[h], names[i][1]));
}

static void knobs(enum sweep_step s)
{
	int h;

	for (h = CLIENT; h <= SERVER; h++) {
		sysctl_set(h, "t_testlink", STRING(T_TESTLINK));
		sysctl_set(h, "t_lgr_idle", s == S_END ? "1000" : "600000");
		sysctl_set(h, "t_rmb_free", s == S_DELETE ? STRING(T_RMB_FREE) : "60000");
		sysctl_set(h, "max_rmbs_per_lgr", "255");
		/* a group's first RMB has two of the larger elements */
		sysctl_set(h, "rmem", s == S_CONFIRM || s == S_DELETE ? "262144" : "65536");
	}
}

static void later(int host, const struct fault *f)
{
	static struct counters mid[3];

	/* until the other side's group has ended, too */
	if (f && f->kind != K_CALM)
		pump(NULL, 15000);
	if (f && f->off) {
		snapshot(mid);
		dial(LATER);
		both(LATER, EXCHANGE);
		if (!pump(LATER_through, 60000) || ends[LATER][0].err || ends[LATER][1].err) {
			fail("no connection while the device cannot be used: %s %s",
			     err_name(ends[LATER][0].err), err_name(ends[LATER][1].err));
			return;
		}
		note_mode(LATER);
		if (over_smc(LATER))
			fail("a connection over a device that cannot be used");
		wind_up(LATER);
		close_both(LATER);
		pump(NULL, 100);
	}
	if (f && f->off == OFF_GONE) {
		make_devices();
	} else if (f && f->off == OFF_PORT) {
		dev_del(host, 0);
		make_devices();
	} else if (f && f->off == OFF_PAUSED) {
		dev_knob(host, 0, "paused", "0");
	}
	dial(LATER);
	both(LATER, EXCHANGE);
	if (!pump(LATER_through, 60000) || ends[LATER][0].err || ends[LATER][1].err) {
		fail("a connection afterwards: %s %s", err_name(ends[LATER][0].err),
		     err_name(ends[LATER][1].err));
		return;
	}
	note_mode(LATER);
	if (!over_smc(LATER))
		fail("a connection afterwards does not use SMC-R (%s; %s)", reasons(CLIENT),
		     reasons(SERVER));
	wind_up(LATER);
	close_both(LATER);
}

/* Set the fault; in the second half of first contact for one message later */
static void arm(enum sweep_step s, int host, const struct fault *f)
{
	char val[64];
	int rc;

	snprintf(val, sizeof(val), "%s %s %d",
		 s == S_SETTLE && !strcmp(f->when, "1") ? "2" : f->when, f->action, f->arg);
	if (!f->arg)
		val[strlen(val) - 2] = '\0';
	rc = dev_fault(host, 0, f->point, val);
	if (rc)
		fail("fault %s: %s", val, strerrorname_np(-rc));
}

static u64 passed[NR_STEPS][3][64];	/* by the run without a fault */
static u32 n_out[NR_OUTCOMES], n_combinations, n_hit, n_not_reached, n_failed;

static void run(enum sweep_step s, int host, const struct fault *f, const char *name)
{
	struct expect x;
	u64 passes[2] = { }, fired[2] = { };
	u32 hear = 0;
	char text[256] = "-";
	const char *list;
	int c, i, h;

	why[0] = '\0';
	x = expect(s, host, f, name);
	memset(ends, 0, sizeof(ends));
	for (c = 0; c < CONNS; c++)
		ends[c][0].fd = ends[c][1].fd = -1;
	knobs(s);
	if (!make_devices() || !listen_on(0) ||
	    !listen_on(1) || !connect_well(BY))
		goto out;
	if (!over_smc(BY))
		fail("the other connection does not use SMC-R");
	if (!what[s].before() || (ends[X][0].port && !over_smc(X))) {
		fail("the connection does not use SMC-R");
		goto out;
	}
	snapshot(before);
	armed_at = now();
	for (h = CLIENT; h <= SERVER && !f; h++)
		for (i = 0; i < n_points; i++)
			fault_counts(h, points[i], &passed[s][h][i], &fired[0]);
	if (f) {
		fault_counts(host, f->point, &passes[0], &fired[0]);
		arm(s, host, f);
	}
	what[s].act();
	faulty = host;
	if (f && f->off == OFF_GONE)
		pump(is_removed, 5000);
	if (f) {
		/* a removed device has no counters */
		if (!fault_counts(host, f->point, &passes[1], &fired[1]) && f->off == OFF_GONE)
			fired[1] = fired[0] + 1;
		if (!f->stays)
			dev_fault(host, 0, f->point, "0");
	} else {
		for (h = CLIENT; h <= SERVER; h++)
			for (i = 0; i < n_points; i++) {
				fault_counts(h, points[i], &passes[1], &fired[1]);
				passed[s][h][i] = passes[1] - passed[s][h][i];
			}
	}
	note_mode(X);
	note_mode(Z);
	for (c = X; c <= W; c++)
		if (ends[c][0].port && !ends[c][0].closed) {
			both(c, EXCHANGE);
			wind_up(c);
		}
	if (f && f->stays)
		dev_fault(host, 0, f->point, "0");
	snapshot(after);
	if (f && fired[1] == fired[0])
		fail("the fault was not hit");
	if (s != S_END) {
		judge(X, &x, x.x, "connection");
		hear = heard_after(X);
		n_out[outcome_of(X)] += f && fired[1] > fired[0];
		snprintf(text, sizeof(text), "%s", outcome_names[outcome_of(X)]);
	} else {
		n_out[O_ENDED] += f && fired[1] > fired[0];
		snprintf(text, sizeof(text), "%s", outcome_names[O_ENDED]);
	}
	if (ends[Z][0].port && s != S_DELETE) {
		judge(Z, &x, x.z, "new connection");
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", new one: %s",
			 outcome_names[outcome_of(Z)]);
	}
	declines(s, f && (s == S_FIRST || s == S_SETTLE) ? mute_hosts(host, name) : 0);
	list = f ? decline_reasons(s, host, f, name) : NULL;
	if (list && outcome_of(X) == O_TCP && !counted(list, true))
		fail("declined: %s; %s; expected %s", reasons(CLIENT), reasons(SERVER), list);
	/* after the data of a close the link may fail without an effect */
	if (x.why && (s == S_END || outcome_of(X) != O_SMC) && !counted(x.why, false))
		fail("reason: %s; %s; expected %s", reasons(CLIENT), reasons(SERVER), x.why);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ", up %u ms, %u ms (%s; %s)",
		 ends[Z][0].port ? up_after(Z) : up_after(X), hear, reasons(CLIENT), reasons(SERVER));
	for (c = X; c <= W; c++)
		close_both(c);
	later(host, f);
	both(BY, EXCHANGE);
	if (!pump(BY_through, 20000) || ends[BY][0].err || ends[BY][1].err)
		fail("the other connection: %s %s", err_name(ends[BY][0].err),
		     err_name(ends[BY][1].err));
	wind_up(BY);
	if (outcome_of(BY) != O_SMC)
		fail("the other connection: %s", outcome_names[outcome_of(BY)]);
out:
	for (c = 0; c < CONNS; c++)
		close_both(c);
	for (i = 0; i < 2; i++) {
		close(listener[i]);
		listener[i] = -1;
	}
	left_behind(f && !strcmp(f->point, "dereg_mr") && !strcmp(f->action, "fail"));
	kernel_is_well();
	pairs();
	/* each combination begins with fresh devices */
	dev_del(CLIENT, 0);
	dev_del(SERVER, 0);
	n_failed += !!why[0];
	printf("%s %s: %s%s%s%s%s\n", why[0] ? "not ok" : "ok", name, why,
	       why[0] ? "; " : "", text, x.because ? " -- " : "", x.because ? x.because : "");
}

static int point_index(const char *point)
{
	int i;

	for (i = 0; i < n_points; i++)
		if (!strcmp(points[i], point))
			return i;
	abort();
}

static const char *combination(enum sweep_step s, int host, const struct fault *f)
{
	static char name[96];

	if (f)
		snprintf(name, sizeof(name), "%s/%s/%s", step_names[s], sides[host],
			 fault_name(f));
	else
		snprintf(name, sizeof(name), "%s/none", step_names[s]);
	return name;
}

static const char *without;	/* pattern of -x */

static bool chosen(const char *pattern, const char *name)
{
	u32 hash = 2166136261u;
	unsigned int n, m;
	char end;

	if (without && !fnmatch(without, name, FNM_EXTMATCH))
		return false;
	if (sscanf(pattern, "%u%%%u%c", &n, &m, &end) != 2 || !m)
		return !fnmatch(pattern, name, FNM_EXTMATCH);
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	/* the low bits depend on the last letters only */
	return (hash >> 8) % m == n % m;
}

static u32 n_chosen(enum sweep_step s, const char *pattern)
{
	u32 n = chosen(pattern, combination(s, 0, NULL));
	int h, i;

	for (h = CLIENT; h <= SERVER; h++)
		for (i = 0; i < n_faults; i++)
			n += chosen(pattern, combination(s, h, &faults[i]));
	return n;
}

/* tx_mid is passed only while its fault is set */
static u64 passed_by(enum sweep_step s, int host, const struct fault *f)
{
	return passed[s][host][point_index(strcmp(f->point, "tx_mid") ? f->point : "tx_write")];
}

static void one_of(enum sweep_step s, int host, const struct fault *f)
{
	const char *name = combination(s, host, f), *because;

	n_combinations++;
	if (passed_by(s, host, f) >= (s == S_SETTLE ? 2 : 1)) {
		n_hit++;
		run(s, host, f, name);
		return;
	}
	n_not_reached++;
	because = not_reached(s, host, f);
	if (because) {
		printf("# %s: not reached: %s\n", name, because);
	} else {
		n_failed++;
		printf("not ok %s: not reached\n", name);
	}
}

static void all_of(enum sweep_step s, const char *pattern)
{
	int h, i;

	run(s, CLIENT, NULL, combination(s, 0, NULL));
	for (h = CLIENT; h <= SERVER; h++) {
		printf("# %s passes", sides[h]);
		for (i = 0; i < n_points; i++)
			if (passed[s][h][i])
				printf(" %s %llu", points[i], (unsigned long long)passed[s][h][i]);
		printf("\n");
	}
	for (h = CLIENT; h <= SERVER; h++)
		for (i = 0; i < n_faults; i++)
			if (chosen(pattern, combination(s, h, &faults[i])))
				one_of(s, h, &faults[i]);
}

int main(int argc, char **argv)
{
	const char *pattern = "*";
	int i, s = -1, opt;

	setlinebuf(stdout);
	tables();
	while ((opt = getopt(argc, argv, "lvx:")) != -1) {
		if (opt == 'v')
			verbose = true;
		if (opt == 'x')
			without = optarg;
		if (opt == 'l') {
			for (s = 0; s < NR_STEPS; s++)
				for (i = 0; i < n_faults; i++)
					printf("%s/client/%s\n%s/server/%s\n", step_names[s],
					       fault_name(&faults[i]), step_names[s],
					       fault_name(&faults[i]));
			return 0;
		}
	}
	for (i = 0; optind < argc && i < NR_STEPS; i++)
		if (!strcmp(step_names[i], argv[optind]))
			s = i;
	if (s < 0) {
		fprintf(stderr, "usage: simsweep [-v] [-x PATTERN] STEP [PATTERN], simsweep -l\n");
		return 2;
	}
	if (optind + 1 < argc && argv[optind + 1][0])
		pattern = argv[optind + 1];
	if (!n_chosen((enum sweep_step)s, pattern)) {
		printf("# nothing of %s is \"%s\"\n", step_names[s], pattern);
		return 4;
	}
	hosts_open();
	usual_resources[CLIENT] = resources(CLIENT);
	usual_resources[SERVER] = resources(SERVER);
	if (make_devices()) {
		usual_resources[CLIENT] = resources(CLIENT);
		usual_resources[SERVER] = resources(SERVER);
	}
	all_of((enum sweep_step)s, pattern);
	printf("# %s: %u combinations, %u hit, %u not reached", step_names[s], n_combinations,
	       n_hit, n_not_reached);
	for (i = 0; i < NR_OUTCOMES; i++)
		if (n_out[i])
			printf(", %s %u", outcome_names[i], n_out[i]);
	printf(", %u failed\n", n_failed);
	return n_failed != 0;
}
