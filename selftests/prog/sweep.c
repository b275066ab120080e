// SPDX-License-Identifier: GPL-2.0-only
/*
 * Echo of messages of every size around that of the window: none may take much
 * longer than its neighbours.
 *
 *	sweep server PORT
 *	sweep client HOST PORT FROM TO STEP ROUNDS LIMIT_MS [PREFIX]
 *
 * Prints size, median and maximum in us. Exit status 1 when half of the rounds
 * took more than LIMIT_MS, or one ten times that. With PREFIX the first so many
 * bytes have a send() of their own.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "pattern.h"

#ifndef AF_SMC
#define AF_SMC	43
#endif

static unsigned char *buf;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void put(int fd, const void *p, size_t n)
{
	while (n) {
		ssize_t rc = send(fd, p, n, MSG_NOSIGNAL);

		if (rc <= 0)
			die("sweep: send");
		p = (const char *)p + rc;
		n -= (size_t)rc;
	}
}

/* 0 at the end of data */
static size_t take(int fd, void *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t rc = recv(fd, (char *)p + got, n - got, 0);

		if (rc < 0)
			die("sweep: recv");
		if (!rc)
			break;
		got += (size_t)rc;
	}
	return got;
}

static int serve(const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int s = socket(AF_SMC, SOCK_STREAM, 0), on = 1, fd;
	uint32_t n;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s, (void *)&a, sizeof(a)) || listen(s, 5))
		die("sweep: listen");
	fd = accept(s, NULL, NULL);
	if (fd < 0)
		die("sweep: accept");
	while (take(fd, &n, sizeof(n)) == sizeof(n)) {
		if (take(fd, buf, n) != n)
			return 1;
		put(fd, buf, n);
	}
	return 0;
}

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int ask(char **a, uint32_t prefix)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(a[1])) };
	uint32_t lo = (uint32_t)atoi(a[2]), hi = (uint32_t)atoi(a[3]), step = (uint32_t)atoi(a[4]), n;
	int rounds = atoi(a[5]), i, stall, bad = 0, fd = socket(AF_SMC, SOCK_STREAM, 0);
	double limit = atof(a[6]) * 1e3, took[rounds], start;
	struct timeval tv = { 20, 0 };

	inet_pton(AF_INET, a[0], &to.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (connect(fd, (void *)&to, sizeof(to)))
		die("sweep: connect");
	for (n = lo; n <= hi; n += step) {
		for (i = 0; i < rounds; i++) {
			pattern_fill(buf, n, n);
			start = now_us();
			put(fd, &n, sizeof(n));
			if (prefix)
				put(fd, buf, prefix);
			put(fd, buf + prefix, n - prefix);
			if (take(fd, buf, n) != n) {
				fprintf(stderr, "sweep: %u: end of data\n", n);
				return 1;
			}
			took[i] = now_us() - start;
			if (pattern_diff(buf, n, n) >= 0) {
				fprintf(stderr, "sweep: %u: wrong data\n", n);
				return 1;
			}
		}
		qsort(took, (size_t)rounds, sizeof(*took), by_value);
		/* a size that stalls does it most of the time; a busy machine does not */
		stall = took[rounds / 2] > limit || took[rounds - 1] > 10 * limit;
		printf("%u %.0f %.0f%s\n", n, took[rounds / 2], took[rounds - 1],
		       stall ? " STALL" : "");
		bad |= stall;
	}
	close(fd);
	return bad;
}

int main(int argc, char **argv)
{
	buf = malloc(64 << 20);
	if (argc == 3 && !strcmp(argv[1], "server"))
		return serve(argv[2]);
	if (argc >= 9 && !strcmp(argv[1], "client"))
		return ask(argv + 2, argc > 9 ? (uint32_t)atoi(argv[9]) : 0);
	fprintf(stderr, "usage: sweep server PORT | client HOST PORT FROM TO STEP ROUNDS LIMIT_MS [PREFIX]\n");
	return 2;
}
