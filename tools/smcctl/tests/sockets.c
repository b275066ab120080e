// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for tests of the preload library: creates sockets and prints family,
 * protocol and flags as the program sees them.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void show(const char *name, int domain, int type, int protocol)
{
	int fd, dom = -1, proto = -1, fl, cloexec;
	socklen_t len = sizeof(int);

	errno = 0;
	fd = socket(domain, type, protocol);
	if (fd < 0) {
		printf("%s: %s\n", name, strerror(errno));
		return;
	}
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &dom, &len);
	len = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &proto, &len);
	fl = fcntl(fd, F_GETFL);
	cloexec = fcntl(fd, F_GETFD);
	printf("%s: domain %d protocol %d nonblock %d cloexec %d errno %d\n",
	       name, dom, proto, !!(fl & O_NONBLOCK), !!(cloexec & FD_CLOEXEC),
	       errno);
	close(fd);
}

int main(void)
{
	show("tcp4", AF_INET, SOCK_STREAM, 0);
	show("tcp6", AF_INET6, SOCK_STREAM, IPPROTO_TCP);
	show("flags", AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	show("udp", AF_INET, SOCK_DGRAM, 0);
	show("mptcp", AF_INET, SOCK_STREAM, 262);
	show("unix", AF_UNIX, SOCK_STREAM, 0);
	return 0;
}
