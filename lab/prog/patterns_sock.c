// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads of patterns.h over a stream socket: AF_SMC, or TCP with -t.
 * Messages are big endian.
 */
#include <endian.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "patterns.h"
#include "patterns_message.h"
#include "stream.h"

enum { PATIENCE = 60000 };		/* milliseconds, for every single wait */

struct link {
	int fd;
};

static bool tcp;
static int listener;

static void all_out(int fd, const void *buf, size_t n)
{
	while (n) {
		ssize_t r = send(fd, buf, n, MSG_NOSIGNAL);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			err(1, "send");
		buf = (const char *)buf + r;
		n -= (size_t)r;
	}
}

static void all_in(int fd, void *buf, size_t n)
{
	while (n) {
		ssize_t r = recv(fd, buf, n, 0);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			err(1, "recv");
		if (!r)
			errx(1, "the other side has gone");
		buf = (char *)buf + r;
		n -= (size_t)r;
	}
}

static void say(struct link *l, uint32_t op, size_t off, size_t len, uint32_t flag)
{
	struct message m = { .op = htobe32(op), .flag = htobe32(flag), .off = htobe64(off), .len = htobe64(len) };

	all_out(l->fd, &m, sizeof(m));
	if (has_data(op))
		all_out(l->fd, at(off), len);
}

static struct message hear(struct link *l)
{
	struct message m;

	all_in(l->fd, &m, sizeof(m));
	m.op = be32toh(m.op);
	m.flag = be32toh(m.flag);
	m.off = be64toh(m.off);
	m.len = be64toh(m.len);
	within_memory(&m);
	if (has_data(m.op))
		all_in(l->fd, at(m.off), m.len);
	return m;
}

static struct link *new_link(int fd)
{
	struct link *l = malloc(sizeof(*l));
	int on = 1;

	if (!l)
		err(1, "memory");
	l->fd = fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	set_timeouts(fd, PATIENCE);
	return l;
}

static void carrier_listen(char **args, void *mem, size_t size)
{
	(void)mem;
	(void)size;
	listener = open_stream(!tcp, AF_INET6);
	if (listen_on(listener, port_of(args[0])))
		exit(1);
}

static struct link *carrier_accept(void)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	int fd = poll(&p, 1, PATIENCE);

	if (!fd)
		errx(1, "no worker within %d s", PATIENCE / 1000);
	if (fd > 0)
		fd = accept(listener, NULL, NULL);
	if (fd < 0)
		err(1, "accept");
	return new_link(fd);
}

static struct link *carrier_connect(char **args, void *mem, size_t size)
{
	struct sockaddr_storage a;
	socklen_t len = 0;
	int fd;

	(void)mem;
	(void)size;
	if (resolve(args[0], port_of(args[1]), &a, &len))
		exit(2);
	fd = open_stream(!tcp, a.ss_family);
	set_timeouts(fd, PATIENCE);
	if (connect(fd, (void *)&a, len))
		err(1, "connect");
	return new_link(fd);
}

static void carrier_close(struct link *l)
{
	if (close(l->fd))
		err(1, "close");
	free(l);
}

static const char *carrier_name(void)
{
	return tcp ? "tcp" : "smc";
}

static void option(int o)
{
	tcp = o == 't';
}

int main(int argc, char **argv)
{
	static const struct syntax syntax = { "PORT", "HOST PORT", "t", option, "-t  TCP instead of AF_SMC" };

	return patterns_main(argc, argv, &syntax);
}
