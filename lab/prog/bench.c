// SPDX-License-Identifier: GPL-2.0
/*
 * Benchmark and demonstration of stream sockets, with the same calls for all
 * families: TCP, or AF_SMC of whichever module provides it.
 *
 *	bench [-s] [-B BYTES] [-t] server PORT [WORKERS]
 *	bench [-s] [-B BYTES] [-N NAME] HOST PORT bulk SECONDS SIZE
 *	bench ...             HOST PORT poll SECONDS SIZE	bulk, with poll() before each write
 *	bench ...             HOST PORT nagle SECONDS SIZE	bulk, without TCP_NODELAY
 *	bench ...             HOST PORT rtt SECONDS SIZE
 *	bench ...             HOST PORT epoll SECONDS SIZE	rtt, with epoll_wait() before each read
 *	bench ...             HOST PORT many SECONDS SIZE	rtt, on 64 connections at once
 *	bench ...             HOST PORT conn SECONDS PARALLEL
 *	bench ...             HOST PORT idle CONNECTIONS	goes on at each byte on stdin
 *	bench ...             HOST PORT burst CONNECTIONS BYTES	idle, then BYTES there and back on each
 *	bench ...             HOST PORT quit
 *	bench [-s] recv PORT FILE
 *	bench [-s] [-w BYTES] send HOST PORT FILE
 *
 * -s is AF_SMC instead of AF_INET; -B sets both buffer sizes; with -t the server
 * touches all its memory before it listens; with -N connection number I of "many"
 * is made in the network namespace NAME with I behind it; with -w the file is
 * sent with write() of so many bytes, else with sendfile(). A measurement
 * prints one line of JSON, with the number of connections that it made: the
 * caller must check that all of them were of the family's protocol.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "exact.h"
#include "load.h"

#ifndef AF_SMC
#define AF_SMC 43
#endif
#define MAX_SIZE (4u << 20)
#define MAX_READ (256u << 10)
#define PIECE (64u << 10)

/* The first bytes of a connection: its purpose */
struct request {
	uint8_t op;			/* b, r, c, i, x (drop the idle ones), e, q */
	uint8_t pad[3];
	uint32_t size;			/* rtt: bytes per message; burst: bytes each way; big endian */
};

/* Message of the server after a bulk transfer */
struct report {
	uint64_t bytes;			/* big endian, both */
	uint64_t busy;			/* load of the server's CPUs, permille */
};

static int family = AF_INET;
static int bufsize;
static size_t write_size;
static bool touch;
static const char *netns;	/* -N */
static struct sockaddr_in peer;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Writes all bytes, or ends the program */
static void put(int fd, const void *buf, size_t n)
{
	while (n) {
		ssize_t r = write(fd, buf, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			err(1, "write");
		buf = (const char *)buf + r;
		n -= r;
	}
}

static void get(int fd, void *buf, size_t n)
{
	while (n) {
		ssize_t r = read(fd, buf, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			err(1, "read");
		if (!r)
			errx(1, "connection ended early");
		buf = (char *)buf + r;
		n -= r;
	}
}

/* Reads or writes all bytes. False on an error, after which the server continues. */
static bool try_io(int fd, void *buf, size_t n, bool out)
{
	while (n) {
		ssize_t r = out ? write(fd, buf, n) : read(fd, buf, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			warn("%s", out ? "write" : "read");
		if (r <= 0)
			return false;
		buf = (char *)buf + r;
		n -= r;
	}
	return true;
}

/* try_io() of any number of bytes, in calls of PIECE bytes */
static bool try_many(int fd, char *buf, uint32_t n, bool out)
{
	uint32_t part;

	for (; n; n -= part) {
		part = n < PIECE ? n : PIECE;
		if (!try_io(fd, buf, part, out))
			return false;
	}
	return true;
}

static int new_socket(void)
{
	int one = 1, s = socket(family, SOCK_STREAM, 0);

	if (s < 0)
		err(1, "socket(%s)", family == AF_SMC ? "AF_SMC" : "AF_INET");
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (bufsize && (setsockopt(s, SOL_SOCKET, SO_SNDBUF, &bufsize, sizeof(bufsize)) ||
			setsockopt(s, SOL_SOCKET, SO_RCVBUF, &bufsize, sizeof(bufsize))))
		err(1, "setsockopt");
	return s;
}

static int listen_on(const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int s = new_socket();

	if (bind(s, (struct sockaddr *)&a, sizeof(a)) || listen(s, 1024))
		err(1, "port %s", port);
	return s;
}

static int accept_one(int s)
{
	int one = 1, c;

	do
		c = accept(s, NULL, NULL);
	while (c < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (c < 0)
		err(1, "accept");
	setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return c;
}

static int connect_to_peer(void)
{
	int s = new_socket();

	if (connect(s, (struct sockaddr *)&peer, sizeof(peer)))
		err(1, "connect");
	return s;
}

/* ------------------------------------------------------------------ server */

static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static int *held, nheld;

static void hold(int c)
{
	pthread_mutex_lock(&held_lock);
	held = realloc(held, (nheld + 1) * sizeof(*held));
	if (!held)
		err(1, "memory");
	held[nheld++] = c;
	pthread_mutex_unlock(&held_lock);
}

static void drop_held(void)
{
	pthread_mutex_lock(&held_lock);
	while (nheld)
		close(held[--nheld]);
	pthread_mutex_unlock(&held_lock);
}

static void serve(int c, char *buf)
{
	struct request q;
	struct load l;
	struct report r = { 0 };
	uint32_t size;
	ssize_t n;

	if (!try_io(c, &q, sizeof(q), false))
		goto out;
	size = ntohl(q.size);
	switch (q.op) {
	case 'b':
		l = load();
		while ((n = read(c, buf, MAX_SIZE)) > 0)
			r.bytes += n;
		if (n < 0) {
			warn("read");
			break;
		}
		r.busy = htobe64(busy(l) * 1000);
		r.bytes = htobe64(r.bytes);
		try_io(c, &r, sizeof(r), true);
		break;
	case 'r':
		if (!size || size > MAX_SIZE)
			break;
		while (try_io(c, buf, size, false) && try_io(c, buf, size, true))
			;
		break;
	case 'c':
		try_io(c, &q, 1, true);
		/* The client closes first. */
		while (read(c, buf, 1) > 0)
			;
		break;
	case 'i':
		try_io(c, &q, 1, true);
		hold(c);
		return;
	case 'e':
		try_io(c, &q, 1, true);
		while (size && try_many(c, buf, size, false) && try_many(c, buf, size, true))
			;
		break;
	case 'x':
		drop_held();
		try_io(c, &q, 1, true);
		break;
	case 'q':
		try_io(c, &q, 1, true);
		while (read(c, buf, 1) > 0)
			;
		close(c);
		exit(0);
	default:
		warnx("unknown request");
	}
out:
	close(c);
}

static int listener;

static void *worker(void *buf)
{
	if (!buf)
		buf = malloc(MAX_SIZE);
	if (!buf)
		err(1, "memory");
	for (;;)
		serve(accept_one(listener), buf);
	return NULL;
}

static void start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	pthread_attr_t a;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 128 << 10);
	errno = pthread_create(t, &a, fn, arg);
	if (errno)
		err(1, "thread");
}

static void server(const char *port, int workers)
{
	char *all = NULL;
	pthread_t t;

	if (touch) {
		all = malloc((size_t)workers * MAX_SIZE);
		if (!all)
			err(1, "memory");
		memset(all, 0x5a, (size_t)workers * MAX_SIZE);
	}
	listener = listen_on(port);
	while (--workers > 0)
		start(&t, worker, all ? all + (size_t)workers * MAX_SIZE : NULL);
	worker(all);
}

/* ------------------------------------------------------------------ client */

static int begin(char op, uint32_t size)
{
	struct request q = { .op = op, .size = htonl(size) };
	int s = connect_to_peer();

	put(s, &q, sizeof(q));
	return s;
}

/* As put(), on a non-blocking socket, with poll() before each write */
static void put_polled(int fd, const char *buf, size_t n)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (n) {
		ssize_t r;

		if (poll(&p, 1, -1) < 0)
			err(1, "poll");
		r = write(fd, buf, n);
		if (r < 0 && errno != EAGAIN)
			err(1, "write");
		if (r > 0) {
			buf += r;
			n -= r;
		}
	}
}

static void nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK))
		err(1, "fcntl");
}

/* @what: bulk, poll or nagle */
static void bulk(const char *what, double secs, uint32_t size, char *buf)
{
	bool polled = !strcmp(what, "poll");
	uint64_t sent = 0;
	struct report r;
	struct load l;
	double t0, t, idle;
	int s = begin('b', 0), off = 0;

	if (polled)
		nonblock(s, true);
	if (!strcmp(what, "nagle") && setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off)))
		err(1, "TCP_NODELAY");
	l = load();
	idle = exact_begin();
	t0 = now();
	while (now() - t0 < secs) {
		if (polled)
			put_polled(s, buf, size);
		else
			put(s, buf, size);
		sent += size;
	}
	if (polled)
		nonblock(s, false);
	if (shutdown(s, SHUT_WR))
		err(1, "shutdown");
	/* The time ends when the other program has read all data, not when they are queued. */
	get(s, &r, sizeof(r));
	t = now() - t0;
	idle = exact_end(idle);
	if (be64toh(r.bytes) != sent)
		errx(1, "sent %llu, arrived %llu", (unsigned long long)sent,
		     (unsigned long long)be64toh(r.bytes));
	close(s);
	printf("{\"what\": \"%s\", \"size\": %u, \"seconds\": %.7f, \"bytes\": %llu, \"mbs\": %.3f, "
	       "\"conns\": 1, \"busy\": %.3f, \"peer_busy\": %.3f, \"idle\": %.7f}\n", what, size, t,
	       (unsigned long long)sent, sent / t / 1e6, busy(l), be64toh(r.busy) / 1e3, idle);
}

static int cmp(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* As get(), on a non-blocking socket that is in the epoll set @ep */
static void get_polled(int ep, int fd, char *buf, size_t n)
{
	struct epoll_event e;

	while (n) {
		ssize_t r;

		if (epoll_wait(ep, &e, 1, -1) < 0 && errno != EINTR)
			err(1, "epoll_wait");
		r = read(fd, buf, n);
		if (!r)
			errx(1, "connection ended early");
		if (r < 0 && errno != EAGAIN)
			err(1, "read");
		if (r > 0) {
			buf += r;
			n -= r;
		}
	}
}

/* A message there and back. @ep: an epoll set, or -1 */
static void exchange(int s, int ep, char *buf, uint32_t size)
{
	if (ep < 0) {
		put(s, buf, size);
		get(s, buf, size);
	} else {
		put_polled(s, buf, size);
		get_polled(ep, s, buf, size);
	}
}

static int epoll_of(int s)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = s };
	int ep = epoll_create1(0);

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, s, &e))
		err(1, "epoll");
	nonblock(s, true);
	return ep;
}

/* @what: rtt or epoll */
static void rtt(const char *what, double secs, uint32_t size, char *buf)
{
	enum { MAX = 1 << 20 };
	float *us = malloc(MAX * sizeof(*us));
	double t0, t, last, idle;
	struct load l;
	int n = 0, s = begin('r', size), ep = !strcmp(what, "epoll") ? epoll_of(s) : -1;

	if (!us)
		err(1, "memory");
	/* Not measured: in the first exchanges the other program may still be starting. */
	for (int i = 0; i < 3; i++)
		exchange(s, ep, buf, size);
	l = load();
	idle = exact_begin();
	t0 = last = now();
	do {
		exchange(s, ep, buf, size);
		t = now();
		us[n++] = (t - last) * 1e6;
		last = t;
	} while (t - t0 < secs && n < MAX);
	t -= t0;
	idle = exact_end(idle);
	close(s);
	if (ep >= 0)
		close(ep);
	qsort(us, n, sizeof(*us), cmp);
	printf("{\"what\": \"%s\", \"size\": %u, \"seconds\": %.7f, \"n\": %d, \"us\": %.2f, "
	       "\"median\": %.2f, \"p99\": %.2f, \"max\": %.2f, \"conns\": 1, \"busy\": %.3f, \"idle\": %.7f}\n",
	       what, size, t, n, t / n * 1e6, us[n / 2], us[(int)(n * .99)], us[n - 1], busy(l), idle);
}

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
}

/* begin() in the namespace number @i of -N */
static int begin_in(int i, char op, uint32_t size)
{
	char path[256];
	int s;

	if (!netns)
		return begin(op, size);
	snprintf(path, sizeof(path), "/run/netns/%s%d", netns, i);
	enter(path);
	s = begin(op, size);
	enter("/proc/1/ns/net");
	return s;
}

/* A message on each of 64 connections, then the answers */
static void many(double secs, uint32_t size, char *buf)
{
	enum { CONNS = 64 };
	int s[CONNS], rounds = -3;	/* the first ones are not measured, see rtt() */
	double t0 = 0, t, idle = 0;
	struct load l = { 0 };

	for (int i = 0; i < CONNS; i++)
		s[i] = begin_in(i, 'r', size);
	do {
		if (!rounds) {
			l = load();
			idle = exact_begin();
			t0 = now();
		}
		for (int i = 0; i < CONNS; i++)
			put(s[i], buf, size);
		for (int i = 0; i < CONNS; i++)
			get(s[i], buf, size);
		t = now() - t0;
	} while (++rounds <= 0 || t < secs);
	idle = exact_end(idle);
	for (int i = 0; i < CONNS; i++)
		close(s[i]);
	printf("{\"what\": \"many\", \"size\": %u, \"seconds\": %.7f, \"n\": %d, \"us\": %.2f, "
	       "\"conns\": %d, \"busy\": %.3f, \"idle\": %.7f}\n",
	       size, t, rounds * CONNS, t / (rounds * CONNS) * 1e6, CONNS, busy(l), idle);
}

static atomic_long made;
static double stop_at;

static void *connector(void *arg)
{
	char c;

	do {
		int s = begin('c', 0);

		get(s, &c, 1);
		close(s);
		made++;
	} while (now() < stop_at);
	return arg;
}

static void conn(double secs, int parallel)
{
	pthread_t t[1024];
	double t0, idle;
	struct load l = load();

	if (parallel < 1 || parallel > 1024)
		errx(1, "parallel: 1..1024");
	idle = exact_begin();
	t0 = now();
	stop_at = t0 + secs;
	for (int i = 0; i < parallel; i++)
		start(&t[i], connector, NULL);
	for (int i = 0; i < parallel; i++)
		pthread_join(t[i], NULL);
	t0 = now() - t0;
	idle = exact_end(idle);
	printf("{\"what\": \"conn\", \"size\": %d, \"seconds\": %.7f, \"per_s\": %.2f, \"conns\": %ld, "
	       "\"busy\": %.3f, \"idle\": %.7f}\n", parallel, t0, made / t0, (long)made, busy(l), idle);
}

/* The caller measures the memory now. False if it does not want more. */
static bool measured(const char *what, int n)
{
	char c;

	printf("{\"what\": \"%s\", \"size\": %d, \"conns\": %d}\n", what, n, n + 1);
	fflush(stdout);
	return read(0, &c, 1) > 0;
}

/* @bytes: on each connection, there and back, before the memory is measured once more; or 0 */
static void idle(int n, uint32_t bytes, char *buf)
{
	int *s = calloc(n + 1, sizeof(*s));
	char c;

	if (!s)
		err(1, "memory");
	/*
	 * The caller measures the memory after the first connection and after the
	 * last: the difference is that of n connections alone.
	 */
	for (int i = 0; i <= n; i++) {
		s[i] = begin(bytes ? 'e' : 'i', bytes);
		get(s[i], &c, 1);
		if (i && i < n)
			continue;
		if (!measured("idle", i))
			goto out;
	}
	for (int i = 1; i <= n && bytes; i++)
		if (!try_many(s[i], buf, bytes, true) || !try_many(s[i], buf, bytes, false))
			errx(1, "connection ended early");
	if (bytes)
		measured("burst", n);
out:
	for (int i = 0; i <= n; i++)
		if (s[i])
			close(s[i]);
	if (bytes)
		return;
	n = begin('x', 0);
	get(n, &c, 1);
	close(n);
}

/* ------------------------------------------------------------------- files */

/*
 * Transfer of a file: its length in 8 bytes; the receiver returns the length when it
 * has memory for it; the bytes of the file; the receiver returns the length again.
 * Files are mapped, so that the measured time has no file I/O. Both sides print
 * bytes and seconds periodically, and at the end the busy time of the machine.
 */

static void progress(uint64_t done, double t, double *last, bool always)
{
	if (!always && t - *last < .25)
		return;
	*last = t;
	printf("%llu %.3f\n", (unsigned long long)done, t);
	fflush(stdout);
}

static char *map(const char *path, int fd, size_t len, int prot)
{
	char *p = mmap(NULL, len, prot, MAP_SHARED | MAP_POPULATE, fd, 0);

	if (p == MAP_FAILED)
		err(1, "%s", path);
	return p;
}

static void recv_file(const char *port, const char *path)
{
	uint64_t len, size, done = 0;
	double t0, last = 0;
	int l = listen_on(port), s, fd;
	char *to, c;
	struct load l0;

	puts("listening");
	fflush(stdout);
	s = accept_one(l);
	close(l);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	if (fd < 0)
		err(1, "%s", path);
	get(s, &len, sizeof(len));
	size = be64toh(len);
	if (ftruncate(fd, size))
		err(1, "%s", path);
	/* Fails if the file system is full; without it, a store to the mapping gets SIGBUS. */
	errno = posix_fallocate(fd, 0, size);
	if (errno)
		err(1, "%s", path);
	to = map(path, fd, size, PROT_READ | PROT_WRITE);
	put(s, &len, sizeof(len));
	l0 = load();
	t0 = now();
	while (done < size) {
		ssize_t n = read(s, to + done, size - done < MAX_READ ? size - done : MAX_READ);

		if (n < 0)
			err(1, "read");
		if (!n)
			errx(1, "connection ended early");
		done += n;
		progress(done, now() - t0, &last, false);
	}
	put(s, &len, sizeof(len));
	printf("cpu %.2f\n", busy_seconds(l0));
	progress(done, now() - t0, &last, true);
	while (read(s, &c, 1) > 0)
		;
	close(s);
	if (munmap(to, size) || close(fd))
		err(1, "%s", path);
}

static void send_file(const char *path)
{
	int fd = open(path, O_RDONLY), s = connect_to_peer();
	double t0, t, last = 0;
	uint64_t len, back;
	char *from = NULL;
	struct stat st;
	struct load l0;
	off_t done = 0;

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	if (!st.st_size)
		errx(1, "%s is empty", path);
	if (write_size)
		from = map(path, fd, st.st_size, PROT_READ);
	len = htobe64(st.st_size);
	put(s, &len, sizeof(len));
	get(s, &back, sizeof(back));
	l0 = load();
	t0 = now();
	while (done < st.st_size) {
		size_t n = st.st_size - done;

		if (write_size) {
			n = n < write_size ? n : write_size;
			put(s, from + done, n);
			done += n;
		} else {
			ssize_t r = sendfile(s, fd, &done, 1 << 20);

			if (r < 0)
				err(1, "sendfile");
			if (!r)
				errx(1, "%s became shorter", path);
		}
		progress(done, now() - t0, &last, false);
	}
	get(s, &back, sizeof(back));
	if (back != len)
		errx(1, "the receiver wants another length");
	t = now() - t0;
	printf("cpu %.2f\n", busy_seconds(l0));
	progress(done, t, &last, true);
	close(s);
}

/* -------------------------------------------------------------------- main */

static void usage(void)
{
	fputs("usage: bench [-s] [-B BYTES] [-t] server PORT [WORKERS]\n"
	      "       bench [-s] [-B BYTES] [-N NAME] HOST PORT bulk|poll|nagle|rtt|epoll|many SECONDS SIZE |\n"
	      "                             conn SECONDS PARALLEL | idle CONNECTIONS | burst CONNECTIONS BYTES | quit\n"
	      "       bench [-s] [-w BYTES] recv PORT FILE | send HOST PORT FILE\n", stderr);
	exit(2);
}

static void set_peer(const char *host, const char *port)
{
	peer.sin_family = AF_INET;
	peer.sin_port = htons(atoi(port));
	if (inet_pton(AF_INET, host, &peer.sin_addr) != 1)
		errx(1, "%s is no IPv4 address", host);
}

int main(int argc, char **argv)
{
	int o, n = 0;
	uint32_t size;
	double secs;
	char *buf, c;

	/* '+': options are in front, and a later argument is never one */
	while ((o = getopt(argc, argv, "+sB:N:tw:")) != -1) {
		if (o == 's')
			family = AF_SMC;
		else if (o == 'B')
			bufsize = atoi(optarg);
		else if (o == 'N')
			netns = optarg;
		else if (o == 't')
			touch = true;
		else if (o == 'w')
			write_size = strtoul(optarg, NULL, 0);
		else
			usage();
	}
	argv += optind;
	argc -= optind;
	signal(SIGPIPE, SIG_IGN);
	if (argc >= 2 && !strcmp(argv[0], "server")) {
		n = argc > 2 ? atoi(argv[2]) : 1;
		server(argv[1], n > 0 ? n : 1);
	} else if (argc == 3 && !strcmp(argv[0], "recv")) {
		recv_file(argv[1], argv[2]);
		return 0;
	} else if (argc == 4 && !strcmp(argv[0], "send")) {
		set_peer(argv[1], argv[2]);
		send_file(argv[3]);
		return 0;
	}
	if (argc < 3)
		usage();
	set_peer(argv[0], argv[1]);
	secs = argc > 3 ? atof(argv[3]) : 0;
	size = argc > 4 ? atoi(argv[4]) : 0;
	buf = calloc(1, MAX_SIZE);
	if (!buf)
		err(1, "memory");
	if (size <= MAX_SIZE)
		memset(buf, 0x5a, size);
	if ((!strcmp(argv[2], "bulk") || !strcmp(argv[2], "poll") || !strcmp(argv[2], "nagle")) && argc == 5 && size && size <= MAX_SIZE) {
		bulk(argv[2], secs, size, buf);
	} else if ((!strcmp(argv[2], "rtt") || !strcmp(argv[2], "epoll")) && argc == 5 && size && size <= MAX_SIZE) {
		rtt(argv[2], secs, size, buf);
	} else if (!strcmp(argv[2], "many") && argc == 5 && size && size <= MAX_SIZE) {
		many(secs, size, buf);
	} else if (!strcmp(argv[2], "conn") && argc == 5) {
		conn(secs, size);
	} else if (!strcmp(argv[2], "idle") && argc == 4) {
		idle(atoi(argv[3]), 0, buf);
	} else if (!strcmp(argv[2], "burst") && argc == 5 && size) {
		idle(atoi(argv[3]), size, buf);
	} else if (!strcmp(argv[2], "quit") && argc == 3) {
		n = begin('q', 0);
		get(n, &c, 1);
		close(n);
	} else {
		usage();
	}
	return 0;
}
