// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latency of AF_SMC connections, one after the other, whose server echoes five
 * bytes.
 *
 *	latency PORT			the server, until it is killed
 *	latency HOST PORT N		the client
 *
 * The client makes N connections (connect, echo, close), then N echoes on one that
 * stays open, and prints, in microseconds,
 *
 *	connect MEDIAN MAX echo MEDIAN MAX
 */
#include <poll.h>
#include <unistd.h>
#include "stream.h"

enum { MAX_FDS = 64 };

static long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000L + ts.tv_nsec / 1000;
}

static int server(const char *port)
{
	struct pollfd fds[MAX_FDS] = { { .fd = open_stream(true, AF_INET6),
					 .events = POLLIN } };
	char buf[64];
	int i, n = 1;

	if (listen_on(fds[0].fd, port))
		return 1;
	while (poll(fds, (nfds_t)n, -1) > 0) {
		for (i = n - 1; i; i--) {
			ssize_t len;

			if (!fds[i].revents)
				continue;
			len = recv(fds[i].fd, buf, sizeof(buf), MSG_DONTWAIT);
			if (len > 0 && send(fds[i].fd, buf, (size_t)len,
					    MSG_NOSIGNAL) == len)
				continue;
			if (len < 0 && errno == EAGAIN)
				continue;
			close(fds[i].fd);
			fds[i] = fds[--n];
		}
		if (!fds[0].revents || n == MAX_FDS)
			continue;
		fds[n].fd = accept(fds[0].fd, NULL, NULL);
		fds[n].events = POLLIN;
		fds[n].revents = 0;
		n += fds[n].fd >= 0;
	}
	return complain("poll: %m");
}

static int echo(int fd)
{
	char buf[5] = "hello";
	size_t got = 0;

	if (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) != sizeof(buf))
		return complain("send: %m");
	while (got < sizeof(buf)) {
		ssize_t n = recv(fd, buf + got, sizeof(buf) - got, 0);

		if (n <= 0)
			return complain("recv: %s", n ? strerror(errno) : "end");
		got += (size_t)n;
	}
	return 0;
}

static int cmp(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static void show(const char *what, long *us, int n)
{
	qsort(us, (size_t)n, sizeof(*us), cmp);
	printf("%s %ld %ld", what, us[n / 2], us[n - 1]);
}

static int client(const char *host, const char *port, int n)
{
	long *conns = calloc((size_t)n, sizeof(long));
	long *echoes = calloc((size_t)n, sizeof(long));
	struct sockaddr_storage peer;
	socklen_t len = 0;
	int fd = -1, i;
	long t;

	if (resolve(host, port, &peer, &len))
		return 2;
	for (i = 0; i <= n; i++) {
		t = now_us();
		fd = open_stream(true, peer.ss_family);
		set_timeouts(fd, 30000);
		if (connect(fd, (void *)&peer, len))
			return complain("connect %d: %m", i);
		if (echo(fd))
			return 1;
		if (i == n)
			break;
		conns[i] = now_us() - t;
		close(fd);
	}
	for (i = 0; i < n; i++) {
		t = now_us();
		if (echo(fd))
			return 1;
		echoes[i] = now_us() - t;
	}
	show("connect", conns, n);
	show(" echo", echoes, n);
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return server(argv[1]);
	if (argc == 4 && atoi(argv[3]) > 0)
		return client(argv[1], argv[2], atoi(argv[3]));
	fprintf(stderr, "usage: latency PORT | latency HOST PORT N\n");
	return 2;
}
