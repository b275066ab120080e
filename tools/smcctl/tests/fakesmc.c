// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fake kernel with AF_SMC: preloaded behind the library under test. The sockets are
 * TCP's; family and protocol of the request are stored. Prints each request on
 * stderr. FAKESMC=0: the kernel has no AF_SMC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define AF_SMC_NUMBER	43
#define MAX_FD		64

typedef int (*socket_fn)(int domain, int type, int protocol);
typedef int (*getsockopt_fn)(int fd, int level, int name, void *value,
			     socklen_t *len);

static int smc[MAX_FD];		/* protocol + 1 */

int socket(int domain, int type, int protocol)
{
	socket_fn real = (socket_fn)(uintptr_t)dlsym(RTLD_NEXT, "socket");
	const char *have = getenv("FAKESMC");
	int fd;

	fprintf(stderr, "asked for %d, %#x, %d\n", domain, type, protocol);
	if (domain != AF_SMC_NUMBER) {
		fd = real(domain, type, protocol);
		if (fd >= 0 && fd < MAX_FD)
			smc[fd] = 0;
		return fd;
	}
	if (have && !strcmp(have, "0")) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	fd = real(protocol ? AF_INET6 : AF_INET, type, 0);
	if (fd >= 0 && fd < MAX_FD)
		smc[fd] = protocol + 1;
	return fd;
}

int getsockopt(int fd, int level, int name, void *restrict value,
	       socklen_t *restrict len)
{
	getsockopt_fn real =
		(getsockopt_fn)(uintptr_t)dlsym(RTLD_NEXT, "getsockopt");
	int rc = real(fd, level, name, value, len);

	if (rc || level != SOL_SOCKET || fd < 0 || fd >= MAX_FD || !smc[fd])
		return rc;
	if (name == SO_DOMAIN)
		*(int *)value = AF_SMC_NUMBER;
	else if (name == SO_PROTOCOL)
		*(int *)value = smc[fd] - 1;
	return 0;
}
