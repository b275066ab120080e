// SPDX-License-Identifier: GPL-2.0-only
/*
 * libsmcr-preload.so: a library that turns the TCP sockets of an unmodified program
 * into AF_SMC sockets. Set LD_PRELOAD, or use "smcctl run".
 *
 * Only socket() needs to be changed: addresses are AF_INET and AF_INET6 on
 * AF_SMC sockets as well. SO_DOMAIN and SO_PROTOCOL have the values of a TCP socket,
 * because some programs read them.
 *
 * SMCR_PRELOAD_VERBOSE=1: a message on stderr when SMC-R is not available.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#ifndef AF_SMC
#define AF_SMC	43
#endif

#define EXPORT	__attribute__((visibility("default")))

/* Flags in the type argument */
#define TYPE_FLAGS	(SOCK_NONBLOCK | SOCK_CLOEXEC)

/* Pause after EAFNOSUPPORT: with each attempt the kernel tries to load a module */
#define RETRY_SECONDS	1

typedef int (*socket_fn)(int domain, int type, int protocol);
typedef int (*getsockopt_fn)(int fd, int level, int name, void *value,
			     socklen_t *len);

static socket_fn real_socket(void)
{
	static _Atomic socket_fn cached;
	socket_fn fn = atomic_load(&cached);

	if (!fn) {
		fn = (socket_fn)(uintptr_t)dlsym(RTLD_NEXT, "socket");
		atomic_store(&cached, fn);
	}
	return fn;
}

static getsockopt_fn real_getsockopt(void)
{
	static _Atomic getsockopt_fn cached;
	getsockopt_fn fn = atomic_load(&cached);

	if (!fn) {
		fn = (getsockopt_fn)(uintptr_t)dlsym(RTLD_NEXT, "getsockopt");
		atomic_store(&cached, fn);
	}
	return fn;
}

static bool is_tcp(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type & ~TYPE_FLAGS) == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP);
}

static long now(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts))
		return 0;
	return (long)ts.tv_sec;
}

/* Printed once per process */
static void say_unavailable(int err)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *verbose = getenv("SMCR_PRELOAD_VERBOSE");

	if (!verbose || strcmp(verbose, "1") || atomic_flag_test_and_set(&said))
		return;
	fprintf(stderr,
		"libsmcr-preload: SMC-R is not available (%s), using TCP\n",
		strerror(err));
}

/* An AF_SMC socket, or -1 if none can be created */
static int smc_socket(int domain, int type)
{
	static atomic_long retry_at;
	long retry = atomic_load(&retry_at);
	int fd;

	if (retry && now() < retry)
		return -1;
	fd = real_socket()(AF_SMC, type, domain == AF_INET6 ? 1 : 0);
	if (fd >= 0) {
		if (retry)
			atomic_store(&retry_at, 0);
		return fd;
	}
	if (errno == EAFNOSUPPORT)
		atomic_store(&retry_at, now() + RETRY_SECONDS + 1);
	if (errno != EMFILE && errno != ENFILE)
		say_unavailable(errno);
	return -1;
}

EXPORT int socket(int domain, int type, int protocol)
{
	int saved = errno;
	int fd;

	if (!real_socket()) {
		errno = ENOSYS;
		return -1;
	}
	if (is_tcp(domain, type, protocol)) {
		fd = smc_socket(domain, type);
		errno = saved;
		if (fd >= 0)
			return fd;
	}
	return real_socket()(domain, type, protocol);
}

/* Value of an int option of SOL_SOCKET, or -1 */
static int socket_int(int fd, int name)
{
	socklen_t len = sizeof(int);
	int saved = errno;
	int value;

	if (real_getsockopt()(fd, SOL_SOCKET, name, &value, &len) ||
	    len != sizeof(value))
		value = -1;
	errno = saved;
	return value;
}

/* Value of SO_DOMAIN or SO_PROTOCOL of the TCP socket that the program requested */
static int tcp_answer(int fd, int name)
{
	if (name == SO_PROTOCOL)
		return IPPROTO_TCP;
	return socket_int(fd, SO_PROTOCOL) == 1 ? AF_INET6 : AF_INET;
}

EXPORT int getsockopt(int fd, int level, int name, void *restrict value,
		      socklen_t *restrict len)
{
	int answer;
	int rc;

	if (!real_getsockopt()) {
		errno = ENOSYS;
		return -1;
	}
	rc = real_getsockopt()(fd, level, name, value, len);
	if (rc || level != SOL_SOCKET ||
	    (name != SO_DOMAIN && name != SO_PROTOCOL) ||
	    socket_int(fd, SO_DOMAIN) != AF_SMC)
		return rc;
	answer = tcp_answer(fd, name);
	memcpy(value, &answer, *len < sizeof(answer) ? *len : sizeof(answer));
	return 0;
}
