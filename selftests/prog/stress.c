// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many connections of random size that end in random ways.
 *
 *	stress server PORT [WORD=VALUE...]
 *	stress client HOST PORT [WORD=VALUE...]
 *
 *	fam=smc|tcp	socket family (smc)
 *	conns=N		connections of the client in all (100); the server ends
 *			after `conns` connections, or never with 0
 *	par=N		connections at a time (1); of the server: its threads
 *	max=N		most bytes in one direction (20000)
 *	ends=LETTERS	ways to end, drawn at random: c close by the client
 *			first, s by the server first, h half-close, b both at
 *			once, r reset by the client, R reset by the server,
 *			u close with unread data (chsbrRu)
 *	gate=PATH	the client first opens all `conns` connections, waits
 *			until PATH.use exists, uses each once, waits until
 *			PATH.close exists, then closes
 *	seed=N
 *	idle=MS		an operation that takes longer has hung (30000)
 *
 * The first 16 bytes that the client sends are the plan of the connection, from
 * which both sides derive what they must see. Exit status 1 if they see
 * anything else.
 *
 * An abort by one side (r, R) drops what the other one has not read yet
 * (RFC 7609 4.8.2, as TCP's RST may). A client that aborts without receiving
 * data first cannot infer that the plan was read: the server may see the reset
 * instead of the plan. Such losses are counted; "unseen" of the server must not
 * be more than "unanswered" of the client.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "pattern.h"
#include "stream.h"

#define CHUNK	8192

struct plan {
	uint32_t up, down;	/* bytes from and to the client */
	uint32_t end;		/* letter */
	uint32_t number;
};

static struct {
	bool smc;
	unsigned int conns, par, max, seed, idle;
	const char *ends, *gate;
} opt = {
	.smc = true, .conns = 100, .par = 1, .max = 20000, .seed = 1,
	.idle = 30000, .ends = "chsbrRu",
};

static struct sockaddr_storage peer;
static socklen_t peer_len;
static int listener = -1;
static unsigned int next_conn, failed, by_end[128];
/*
 * Resets instead of the plan; resets amid the data; aborts of a client that
 * receives no data
 */
static unsigned int unseen, dropped, unanswered;

/* 0 or an errno */
static int put(int fd, uint32_t n)
{
	unsigned char buf[CHUNK];
	uint32_t pos = 0;

	while (pos < n) {
		uint32_t step = n - pos < CHUNK ? n - pos : CHUNK;
		ssize_t rc;

		pattern_fill(buf, pos, step);
		rc = send(fd, buf, step, MSG_NOSIGNAL);
		if (rc <= 0)
			return errno;
		pos += (uint32_t)rc;
	}
	return 0;
}

/* Receive @n bytes: 0, an errno, -1 for the end of data, -2 for wrong bytes */
static int take(int fd, uint32_t n)
{
	unsigned char buf[CHUNK];
	uint32_t pos = 0;

	while (pos < n) {
		ssize_t rc = recv(fd, buf, n - pos < CHUNK ? n - pos : CHUNK, 0);

		if (rc <= 0)
			return rc ? errno : -1;
		if (pattern_diff(buf, pos, (unsigned long)rc) >= 0)
			return -2;
		pos += (uint32_t)rc;
	}
	return 0;
}

/* What follows the last byte: -1 the end of data, an errno, or -3 more data */
static int rest(int fd)
{
	char c;
	ssize_t rc = recv(fd, &c, 1, 0);

	return rc < 0 ? errno : rc ? -3 : -1;
}

static void end_reset(int fd)
{
	struct linger l = { 1, 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

static bool is_reset(int rc)
{
	return rc == ECONNRESET || rc == ECONNABORTED || rc == EPIPE;
}

struct put_arg {
	int fd;
	uint32_t n;
	int rc;
};

static void *put_thread(void *p)
{
	struct put_arg *a = p;

	a->rc = put(a->fd, a->n);
	/* the peer waits for the rest, and this side may wait for the peer */
	if (a->rc && !is_reset(a->rc))
		shutdown(a->fd, SHUT_RDWR);
	return NULL;
}

/* Both directions at once; 0 if all bytes were sent and received */
static int both_ways(int fd, uint32_t out, uint32_t in, int *sent, int *got)
{
	struct put_arg a = { fd, out, 0 };
	pthread_attr_t attr;
	pthread_t t;

	/* what fits into the buffers needs no thread */
	if (out <= 16000 || !in) {
		a.rc = put(fd, out);
		*got = a.rc ? 0 : take(fd, in);
	} else {
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 65536);
		if (pthread_create(&t, &attr, put_thread, &a))
			return complain("no thread");
		*got = take(fd, in);
		pthread_join(t, NULL);
		pthread_attr_destroy(&attr);
	}
	*sent = a.rc;
	return a.rc || *got;
}

/* End the connection as planned, or check what the other side's end causes */
static int finish(int fd, const struct plan *p, bool client)
{
	bool first;
	int rc = 0;

	switch (p->end) {
	case 'h':		/* the client half-closes, the server follows */
		if (client) {
			if (shutdown(fd, SHUT_WR))
				return complain("%u: shutdown: %m", p->number);
			rc = rest(fd);
		} else {
			rc = rest(fd);
			shutdown(fd, SHUT_WR);
		}
		return rc == -1 ? 0 : complain("%u %c: rest %d", p->number, p->end, rc);
	case 'b':
		return 0;
	case 'r':
	case 'R':
		first = client == (p->end == 'r');
		break;
	case 'u':		/* the server leaves a byte of the client unread */
		if (client && put(fd, 1))
			return complain("%u u: send: %m", p->number);
		first = !client;
		break;
	default:
		first = client == (p->end == 'c');
		break;
	}
	if (first) {
		if (p->end == 'r' || p->end == 'R')
			end_reset(fd);
		if (p->end == 'u') {
			struct pollfd pf = { fd, POLLIN, 0 };

			if (poll(&pf, 1, (int)opt.idle) != 1)
				return complain("%u u: no byte", p->number);
		}
		return 0;
	}
	rc = rest(fd);
	if (strchr("rRu", (int)p->end))
		return is_reset(rc) ? 0 :
		       complain("%u %c: no reset but %d", p->number, p->end, rc);
	return rc == -1 ? 0 : complain("%u %c: no end but %d", p->number, p->end, rc);
}

static int exchange(int fd, const struct plan *p, bool client)
{
	int sent = 0, got = 0;

	if (both_ways(fd, client ? p->up : p->down, client ? p->down : p->up,
		      &sent, &got)) {
		/* a reset drops what is not read yet */
		if (p->end == (client ? 'R' : 'r') && (!sent || is_reset(sent)) &&
		    (!got || is_reset(got))) {
			__atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
			return 0;
		}
		return complain("%u %c: send %d receive %d", p->number, p->end, sent, got);
	}
	return finish(fd, p, client);
}

static int send_plan(int fd, const struct plan *p)
{
	ssize_t rc = send(fd, p, sizeof(*p), MSG_NOSIGNAL);

	return rc == sizeof(*p) ? 0 : complain("%u: plan: %zd %m", p->number, rc);
}

/* 0; 1 for a reset instead of the plan (counted in unseen); 2 for all else */
static int recv_plan(int fd, struct plan *p)
{
	ssize_t rc = recv(fd, p, sizeof(*p), MSG_WAITALL);

	if (rc == sizeof(*p))
		return 0;
	if (rc < 0 && is_reset(errno)) {
		__atomic_fetch_add(&unseen, 1, __ATOMIC_RELAXED);
		return 1;
	}
	complain("plan: %zd %m", rc);
	return 2;
}

static struct plan draw(unsigned int number)
{
	unsigned int seed = opt.seed * 7919 + number;
	struct plan p = { .number = number };

	rand_r(&seed);
	p.up = (uint32_t)rand_r(&seed) % (opt.max + 1);
	p.down = (uint32_t)rand_r(&seed) % (opt.max + 1);
	p.end = (uint32_t)opt.ends[(unsigned int)rand_r(&seed) % strlen(opt.ends)];
	return p;
}

static void *server_thread(void *arg)
{
	(void)arg;
	for (;;) {
		struct plan p;
		int fd, rc;

		if (opt.conns && __atomic_fetch_add(&next_conn, 1, __ATOMIC_RELAXED) >= opt.conns)
			return NULL;
		fd = accept(listener, NULL, NULL);
		if (fd < 0) {
			complain("accept: %m");
			__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
			continue;
		}
		set_timeouts(fd, opt.idle);
		rc = recv_plan(fd, &p);
		if (!rc)
			rc = exchange(fd, &p, false) ? 2 : 0;
		if (rc > 1)
			__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
		close(fd);
	}
}

static int client_connect(void)
{
	int fd = try_stream(opt.smc, peer.ss_family);

	if (fd < 0) {
		complain("socket: %m");
		return -1;
	}
	set_timeouts(fd, opt.idle);
	if (!connect(fd, (void *)&peer, peer_len))
		return fd;
	complain("connect: %m");
	close(fd);
	return -1;
}

static void *client_thread(void *arg)
{
	(void)arg;
	for (;;) {
		unsigned int n = __atomic_fetch_add(&next_conn, 1, __ATOMIC_RELAXED);
		struct plan p = draw(n);
		int fd, rc = 1;

		if (n >= opt.conns)
			return NULL;
		fd = client_connect();
		if (fd >= 0)
			rc = send_plan(fd, &p);
		if (!rc)
			rc = exchange(fd, &p, true);
		if (rc)
			__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&by_end[p.end & 127], 1, __ATOMIC_RELAXED);
		if (p.end == 'r' && !p.down)
			__atomic_fetch_add(&unanswered, 1, __ATOMIC_RELAXED);
		if (fd >= 0)
			close(fd);
	}
}

static int await_gate(const char *which)
{
	unsigned int ms;
	char path[512];

	snprintf(path, sizeof(path), "%s.%s", opt.gate, which);
	for (ms = 0; access(path, F_OK); ms += 20) {
		if (ms > opt.idle)
			return complain("nobody made %s", path);
		usleep(20000);
	}
	return 0;
}

/* For gate=: all connections at once. A case measures at "open" and "used". */
static void *hold_all(void *arg)
{
	int *fds = calloc(opt.conns, sizeof(int));
	unsigned int i, bad = 0;

	(void)arg;
	for (i = 0; i < opt.conns; i++) {
		fds[i] = client_connect();
		bad += fds[i] < 0;
	}
	printf("open %u\n", opt.conns - bad);
	fflush(stdout);
	bad += (unsigned int)await_gate("use");
	for (i = 0; i < opt.conns; i++) {
		struct plan p = { .up = 100, .down = 100, .end = 'c', .number = i };

		if (fds[i] < 0)
			continue;
		if (send_plan(fds[i], &p) || exchange(fds[i], &p, true))
			bad++;
	}
	printf("used %u\n", opt.conns - bad);
	fflush(stdout);
	bad += (unsigned int)await_gate("close");
	for (i = 0; i < opt.conns; i++)
		close(fds[i]);
	failed = bad;
	return NULL;
}

static int options(int argc, char **argv)
{
	for (; argc; argc--, argv++) {
		char *eq = strchr(*argv, '=');
		unsigned int n;

		if (!eq)
			return complain("'%s' has no value", *argv);
		*eq++ = 0;
		n = (unsigned int)strtoul(eq, NULL, 0);
		if (!strcmp(*argv, "fam"))
			opt.smc = !strcmp(eq, "smc");
		else if (!strcmp(*argv, "conns"))
			opt.conns = n;
		else if (!strcmp(*argv, "par"))
			opt.par = n;
		else if (!strcmp(*argv, "max"))
			opt.max = n;
		else if (!strcmp(*argv, "ends"))
			opt.ends = eq;
		else if (!strcmp(*argv, "gate"))
			opt.gate = eq;
		else if (!strcmp(*argv, "seed"))
			opt.seed = n;
		else if (!strcmp(*argv, "idle"))
			opt.idle = n;
		else
			return complain("'%s' is unknown", *argv);
	}
	return 0;
}

static int open_listener(const char *port)
{
	listener = open_stream(opt.smc, AF_INET6);
	return listen_on(listener, port);
}

int main(int argc, char **argv)
{
	bool server = argc >= 3 && !strcmp(argv[1], "server");
	struct rlimit files = { 65536, 65536 };
	unsigned int i;
	double seconds;

	if (!server && (argc < 4 || strcmp(argv[1], "client"))) {
		fprintf(stderr, "usage: stress server PORT [WORD=VALUE...]\n"
				"       stress client HOST PORT [WORD=VALUE...]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	if (options(argc - (server ? 3 : 4), argv + (server ? 3 : 4)))
		return 2;
	if (server ? open_listener(argv[2]) :
		     resolve(argv[2], argv[3], &peer, &peer_len))
		return 1;
	if (!server && opt.gate)
		seconds = run_threads(1, hold_all);
	else
		seconds = run_threads(opt.par, server ? server_thread : client_thread);
	if (seconds < 0)
		return 1;
	printf("%s: %u connections in %.2f s, %.0f /s, %u failed;",
	       failed ? "FAILED" : "OK", opt.conns, seconds, opt.conns / seconds, failed);
	for (i = 0; i < 128; i++)
		if (by_end[i])
			printf(" %c %u", (int)i, by_end[i]);
	if (server)
		printf(" unseen %u dropped %u", unseen, dropped);
	else
		printf(" unanswered %u", unanswered);
	printf("\n");
	return failed ? 1 : 0;
}
