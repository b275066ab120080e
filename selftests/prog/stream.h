/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets, addresses and threads for programs that open many connections. */
#ifndef _STREAM_H
#define _STREAM_H

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#ifndef AF_SMC
#define AF_SMC	43
#endif

/* Always 1, for `return complain(...)` */
static inline int complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	return 1;
}

/* @family is that of the addresses */
static inline int try_stream(bool smc, int family)
{
	return smc ? socket(AF_SMC, SOCK_STREAM, family == AF_INET6) :
		     socket(family, SOCK_STREAM, 0);
}

static inline int open_stream(bool smc, int family)
{
	int fd = try_stream(smc, family);

	if (fd < 0) {
		complain("socket: %m");
		exit(1);
	}
	return fd;
}

static inline void set_timeouts(int fd, unsigned int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

/* The port that @text is in decimal digits, 0 if it is none */
static inline uint16_t port_number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && n <= 65535 ? (uint16_t)n : 0;
}

static inline int resolve(const char *host, const char *port,
			  struct sockaddr_storage *addr, socklen_t *len)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST }, *ai;

	if (!port_number(port))
		return complain("port %s: not a number from 1 to 65535", port);
	if (getaddrinfo(host, port, &hints, &ai))
		return complain("'%s' is no address", host);
	memcpy(addr, ai->ai_addr, ai->ai_addrlen);
	*len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return 0;
}

/* @fd takes IPv6 addresses */
static inline int listen_on(int fd, const char *port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(port_number(port)) };
	int on = 1;

	if (!a.sin6_port)
		return complain("port %s: not a number from 1 to 65535", port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (void *)&a, sizeof(a)) || listen(fd, 4096))
		return complain("port %s: %m", port);
	return 0;
}

/*
 * Run @n threads to their end. Return: the seconds that they took, negative if
 * a thread could not be created.
 */
static inline double run_threads(unsigned int n, void *(*fn)(void *))
{
	pthread_t *t = calloc(n, sizeof(*t));
	struct timespec a, b;
	pthread_attr_t attr;
	unsigned int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < n; i++) {
		if (pthread_create(&t[i], &attr, fn, NULL)) {
			complain("no thread %u", i);
			return -1;
		}
	}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	free(t);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

#endif /* _STREAM_H */
