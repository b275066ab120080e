// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bulk transfer with every byte checked, in one direction or both at once.
 *
 *	xfer server PORT [WORD=VALUE...]
 *	xfer client HOST PORT [WORD=VALUE...]
 *
 *	fam=smc|tcp	socket family (smc)
 *	send=N recv=N	bytes of this side; k, m and g multiply. The other side
 *			needs the reverse.
 *	wchunk=A[:B]	bytes per send call, at random between A and B (64k)
 *	rchunk=A[:B]	bytes per receive call
 *	conns=N		connections, one after the other (1)
 *	par=N		of them at a time (1)
 *	sndbuf= rcvbuf=	set before connect and listen
 *	rdelay=MS	the receiver waits before it starts
 *	pause=MS	after every receive call
 *	wpause=MS	after every send call
 *	until=PATH	send until that file exists, in spite of `send`, `recv`
 *	gaps=PATH	write a line to it for each receive call that waits 5 ms
 *			longer than `wpause`: its end and its length, ms
 *	spin=1		receive calls do not wait
 *	poll=1		send calls do not wait either: poll() comes before each
 *	idle=MS		give up when nothing moves for so long (20000)
 *	seed=N		seed of the random chunk sizes
 *	half=0		do not end with shutdown(WR); the receiver counts
 *	endless=1	go on until an error or the end of data: exit status 0
 *
 * With XFER_IN_TURN in the environment one connection is made after the other, also
 * those that then run at the same time.
 *
 * Prints one line with bytes, rate and how often it slept; a wrong byte, a short stream or silence
 * is exit status 1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

static struct {
	bool smc, half, endless, spin, poll;
	uint64_t send, recv;
	unsigned int wmin, wmax, rmin, rmax, conns, par, idle, rdelay, pause, wpause;
	int sndbuf, rcvbuf;
	unsigned int seed;
	const char *until;
	FILE *gaps;
} opt = {
	.smc = true, .half = true, .wmin = 65536, .wmax = 65536, .rmin = 65536,
	.rmax = 65536, .conns = 1, .par = 1, .idle = 20000, .seed = 1,
};

struct stream {
	int fd;
	unsigned int seed;
	int rc;
	uint64_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int next_conn, failed;
static uint64_t total_sent, total_received;
static struct sockaddr_storage peer;
static socklen_t peer_len;
static int listener = -1;

static uint64_t number(const char *s, char **end)
{
	uint64_t v = strtoull(s, end, 0);

	switch (**end) {
	case 'g':
		v <<= 10;
		/* fallthrough */
	case 'm':
		v <<= 10;
		/* fallthrough */
	case 'k':
		v <<= 10;
		(*end)++;
	}
	return v;
}

static void range(const char *s, unsigned int *lo, unsigned int *hi)
{
	char *end;

	*lo = *hi = (unsigned int)number(s, &end);
	if (*end == ':')
		*hi = (unsigned int)number(end + 1, &end);
}

static int options(int argc, char **argv)
{
	for (; argc; argc--, argv++) {
		char *eq = strchr(*argv, '='), *end;
		const char *v = eq ? eq + 1 : "";
		uint64_t n = number(v, &end);

		if (!eq)
			return complain("'%s' has no value", *argv);
		*eq = 0;
		if (!strcmp(*argv, "fam"))
			opt.smc = !strcmp(v, "smc");
		else if (!strcmp(*argv, "send"))
			opt.send = n;
		else if (!strcmp(*argv, "recv"))
			opt.recv = n;
		else if (!strcmp(*argv, "wchunk"))
			range(v, &opt.wmin, &opt.wmax);
		else if (!strcmp(*argv, "rchunk"))
			range(v, &opt.rmin, &opt.rmax);
		else if (!strcmp(*argv, "conns"))
			opt.conns = (unsigned int)n;
		else if (!strcmp(*argv, "par"))
			opt.par = (unsigned int)n;
		else if (!strcmp(*argv, "sndbuf"))
			opt.sndbuf = (int)n;
		else if (!strcmp(*argv, "rcvbuf"))
			opt.rcvbuf = (int)n;
		else if (!strcmp(*argv, "rdelay"))
			opt.rdelay = (unsigned int)n;
		else if (!strcmp(*argv, "pause"))
			opt.pause = (unsigned int)n;
		else if (!strcmp(*argv, "wpause"))
			opt.wpause = (unsigned int)n;
		else if (!strcmp(*argv, "until"))
			opt.until = v;
		else if (!strcmp(*argv, "gaps"))
			opt.gaps = fopen(v, "w");
		else if (!strcmp(*argv, "idle"))
			opt.idle = (unsigned int)n;
		else if (!strcmp(*argv, "seed"))
			opt.seed = (unsigned int)n;
		else if (!strcmp(*argv, "half"))
			opt.half = n;
		else if (!strcmp(*argv, "spin"))
			opt.spin = n;
		else if (!strcmp(*argv, "poll"))
			opt.poll = n;
		else if (!strcmp(*argv, "endless"))
			opt.endless = n;
		else
			return complain("'%s' is unknown", *argv);
	}
	if (opt.endless || opt.until)
		opt.send = opt.recv = UINT64_MAX;
	return 0;
}

static unsigned int draw(unsigned int *seed, unsigned int lo, unsigned int hi)
{
	return lo == hi ? lo : lo + (unsigned int)rand_r(seed) % (hi - lo + 1);
}

static int open_socket(int family)
{
	int fd = open_stream(opt.smc, family);

	if (opt.sndbuf)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &opt.sndbuf, sizeof(int));
	if (opt.rcvbuf)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &opt.rcvbuf, sizeof(int));
	return fd;
}

static void *sender(void *arg)
{
	struct stream *s = arg;
	unsigned char *buf = malloc(opt.wmax ? opt.wmax : 1);

	while (s->bytes < opt.send && !(opt.until && !access(opt.until, F_OK))) {
		size_t n = draw(&s->seed, opt.wmin, opt.wmax);
		ssize_t rc;

		if (n > opt.send - s->bytes)
			n = opt.send - s->bytes;
		pattern_fill(buf, s->bytes, n);
		if (opt.poll) {
			struct pollfd p = { .fd = s->fd, .events = POLLOUT };

			if (poll(&p, 1, (int)opt.idle) <= 0) {
				s->rc = complain("no room after %llu bytes",
						 (unsigned long long)s->bytes);
				break;
			}
		}
		rc = send(s->fd, buf, n, MSG_NOSIGNAL | (opt.poll ? MSG_DONTWAIT : 0));
		if (rc < 0 && opt.poll && errno == EAGAIN)
			continue;
		if (rc <= 0) {
			s->rc = opt.endless && errno != EAGAIN ? 0 :
				complain("send after %llu bytes: %m",
					 (unsigned long long)s->bytes);
			break;
		}
		s->bytes += (uint64_t)rc;
		if (opt.wpause)
			usleep(opt.wpause * 1000);
	}
	if (opt.half)
		shutdown(s->fd, SHUT_WR);
	free(buf);
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* For gaps=: a receive call that began at @since has returned */
static void note_gap(uint64_t since)
{
	uint64_t t = now_ms();

	if (opt.gaps && t > since + opt.wpause + 5)
		fprintf(opt.gaps, "%llu %llu\n", (unsigned long long)t,
			(unsigned long long)(t - since));
}

static void *receiver(void *arg)
{
	struct stream *s = arg;
	unsigned char *buf = malloc(opt.rmax ? opt.rmax : 1);
	ssize_t rc = 1;

	usleep(opt.rdelay * 1000);
	while (opt.half || s->bytes < opt.recv) {
		size_t n = draw(&s->seed, opt.rmin, opt.rmax);
		uint64_t since = opt.gaps ? now_ms() : 0;
		long bad;

		rc = recv(s->fd, buf, n, opt.spin ? MSG_DONTWAIT : 0);
		if (opt.spin && rc < 0 && errno == EAGAIN)
			continue;
		note_gap(since);
		if (rc <= 0)
			break;
		bad = pattern_diff(buf, s->bytes, (size_t)rc);
		if (bad >= 0) {
			s->rc = complain("byte %llu is wrong",
					 (unsigned long long)s->bytes + (unsigned long)bad);
			break;
		}
		s->bytes += (uint64_t)rc;
		if (opt.pause)
			usleep(opt.pause * 1000);
	}
	if (opt.endless) {
		if (rc < 0 && errno == EAGAIN)
			s->rc = complain("nothing came for %u ms", opt.idle);
	} else if (rc < 0) {
		s->rc = complain("recv after %llu bytes: %m", (unsigned long long)s->bytes);
	} else if (!s->rc && !opt.until && s->bytes != opt.recv) {
		s->rc = complain("%llu bytes, expected %llu", (unsigned long long)s->bytes,
				 (unsigned long long)opt.recv);
	}
	free(buf);
	return NULL;
}

static int one(int fd, unsigned int seed)
{
	struct stream tx = { .fd = fd, .seed = seed }, rx = { .fd = fd, .seed = seed + 77 };
	pthread_t t;

	set_timeouts(fd, opt.idle);
	pthread_create(&t, NULL, sender, &tx);
	receiver(&rx);
	if (opt.endless)
		shutdown(fd, SHUT_RDWR);
	pthread_join(t, NULL);
	if (close(fd))
		tx.rc = complain("close: %m");
	pthread_mutex_lock(&lock);
	total_sent += tx.bytes;
	total_received += rx.bytes;
	pthread_mutex_unlock(&lock);
	return tx.rc || rx.rc;
}

static int connected(void)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	bool in_turn = getenv("XFER_IN_TURN");
	int rc, fd = open_socket(peer.ss_family);

	if (in_turn)
		pthread_mutex_lock(&turn);
	rc = connect(fd, (void *)&peer, peer_len);
	if (in_turn)
		pthread_mutex_unlock(&turn);
	if (!rc)
		return fd;
	close(fd);
	return -1;
}

static void *worker(void *arg)
{
	(void)arg;
	for (;;) {
		unsigned int n = __atomic_fetch_add(&next_conn, 1, __ATOMIC_RELAXED);
		int fd;

		if (n >= opt.conns)
			return NULL;
		fd = listener >= 0 ? accept(listener, NULL, NULL) : connected();
		if (fd < 0 && opt.endless)
			continue;	/* the other side has ended already */
		if (fd < 0)
			complain("%s: %m", listener >= 0 ? "accept" : "connect");
		if (fd < 0 || one(fd, opt.seed + n))
			__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
	}
}

static int open_listener(const char *port)
{
	listener = open_socket(AF_INET6);
	if (opt.endless)
		set_timeouts(listener, opt.idle);
	return listen_on(listener, port);
}

int main(int argc, char **argv)
{
	bool server = argc >= 3 && !strcmp(argv[1], "server");
	struct rusage usage;
	double seconds;

	if (!server && (argc < 4 || strcmp(argv[1], "client"))) {
		fprintf(stderr, "usage: xfer server PORT [WORD=VALUE...]\n"
				"       xfer client HOST PORT [WORD=VALUE...]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (options(argc - (server ? 3 : 4), argv + (server ? 3 : 4)))
		return 2;
	if (server ? open_listener(argv[2]) :
		     resolve(argv[2], argv[3], &peer, &peer_len))
		return 1;
	seconds = run_threads(opt.par, worker);
	if (seconds < 0)
		return 1;
	if (opt.gaps && fclose(opt.gaps))
		return complain("%m");
	getrusage(RUSAGE_SELF, &usage);
	printf("%s: sent %llu received %llu in %.2f s, %.1f MB/s, %u of %u failed, %ld sleeps\n",
	       failed ? "FAILED" : "OK", (unsigned long long)total_sent,
	       (unsigned long long)total_received, seconds,
	       (double)(total_sent + total_received) / seconds / 1e6, failed, opt.conns,
	       usage.ru_nvcsw);
	return failed ? 1 : 0;
}
