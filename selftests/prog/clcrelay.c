// SPDX-License-Identifier: GPL-2.0-only
/*
 * Relay of the TCP connection between a client and a server, with a fault of
 * the n-th CLC message of a type (RFC 7609 A.2). RDMA does not pass through it.
 *
 *	clcrelay PORT SERVER SERVER_PORT [TYPE:N:ACTION[:ARG]]...
 *
 * TYPE: proposal, accept, confirm, decline, any. ACTION:
 *	drop		it does not arrive; what follows does
 *	twice		it arrives twice
 *	delay:MS	it, and what follows in its direction, arrives later
 *	corrupt:BYTE	that byte is inverted
 *	short:BYTES	only so many bytes of it arrive
 *	reset		both connections are reset instead
 *
 * Both connections carry the SYN option if the client's does (smcr_synopt.ko).
 * From the first byte that is no CLC message on, all data of a direction are
 * passed on unchanged. Each message is printed, with its fault.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SYNOPT = 0x5e00, MAX_FAULTS = 16, HDR = 8, LONGEST = 1024 };

static const char * const types[] = { "any", "proposal", "accept", "confirm", "decline" };

static struct fault {
	unsigned int type, n, arg;
	char action[16];
} faults[MAX_FAULTS];
static int n_faults;

/* Messages so far, by type, of all connections */
static unsigned int *seen;

static void die(const char *what)
{
	fprintf(stderr, "clcrelay: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void parse(char *text)
{
	static const char * const actions[] = { "drop", "twice", "delay", "corrupt", "short", "reset" };
	struct fault *f = &faults[n_faults++];
	char type[16] = "";
	unsigned int i;

	if (n_faults > MAX_FAULTS ||
	    sscanf(text, "%15[a-z]:%u:%15[a-z]:%u", type, &f->n, f->action, &f->arg) < 3)
		die(text);
	for (i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(f->action, actions[i]))
			break;
	if (i == sizeof(actions) / sizeof(*actions))
		die(text);
	for (f->type = 0; f->type < sizeof(types) / sizeof(*types); f->type++)
		if (!strcmp(types[f->type], type))
			return;
	die(text);
}

/* The fault of this message, or NULL */
static const struct fault *fault_of(unsigned int type)
{
	unsigned int any = __atomic_add_fetch(&seen[0], 1, __ATOMIC_SEQ_CST);
	unsigned int own = __atomic_add_fetch(&seen[type], 1, __ATOMIC_SEQ_CST);
	int i;

	for (i = 0; i < n_faults; i++)
		if ((faults[i].type == type && faults[i].n == own) ||
		    (!faults[i].type && faults[i].n == any))
			return &faults[i];
	return NULL;
}

static void reset_both(int from, int to)
{
	struct linger now = { 1, 0 };

	setsockopt(from, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	setsockopt(to, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	kill(0, SIGTERM);	/* both directions' processes */
	_exit(0);
}

static void put(int from, int to, const uint8_t *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = send(to, buf + done, len - done, MSG_NOSIGNAL);
		if (n < 0)
			reset_both(from, to);
		done += (size_t)n;
	}
}

/* Receive exactly @len bytes, less at the end of data */
static size_t take(int from, int to, uint8_t *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = recv(from, buf + done, len - done, 0);
		if (n < 0)
			reset_both(from, to);
		if (!n)
			break;
		done += (size_t)n;
	}
	return done;
}

static void message(int from, int to, uint8_t *buf, size_t len)
{
	const struct fault *f = fault_of(buf[4]);
	struct timespec ts;

	printf("%s of %zu bytes%s%s\n", types[buf[4]], len, f ? ": " : "", f ? f->action : "");
	if (!f) {
		put(from, to, buf, len);
		return;
	}
	if (!strcmp(f->action, "drop"))
		return;
	if (!strcmp(f->action, "reset"))
		reset_both(from, to);
	if (!strcmp(f->action, "corrupt"))
		buf[f->arg % len] ^= 0xff;
	if (!strcmp(f->action, "short") && f->arg < len)
		len = f->arg;
	if (!strcmp(f->action, "twice"))
		put(from, to, buf, len);
	if (!strcmp(f->action, "delay")) {
		ts.tv_sec = f->arg / 1000;
		ts.tv_nsec = f->arg % 1000 * 1000000L;
		nanosleep(&ts, NULL);
	}
	put(from, to, buf, len);
}

/* One direction of a connection */
static void pass(int from, int to)
{
	static const uint8_t eye[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };
	uint8_t buf[65536];
	size_t n, len;
	ssize_t got;

	for (;;) {
		/* a message begins with its eye catcher, data may end at any byte */
		for (n = 0; n < HDR && (n == 0 || !memcmp(buf, eye, n < 4 ? n : 4)); n++)
			if (!take(from, to, buf + n, 1))
				break;
		len = n == HDR ? (size_t)(buf[5] << 8 | buf[6]) : 0;
		if (n < HDR || memcmp(buf, eye, 4) || buf[4] < 1 || buf[4] > 4 || len <= HDR || len > LONGEST)
			break;
		n += take(from, to, buf + n, len - HDR);
		if (n < len)
			break;
		message(from, to, buf, len);
	}
	put(from, to, buf, n);
	while ((got = recv(from, buf, sizeof(buf), 0)) > 0)
		put(from, to, buf, (size_t)got);
	if (got < 0)
		reset_both(from, to);
	shutdown(to, SHUT_WR);
}

static int new_socket(bool offer)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (offer && setsockopt(fd, IPPROTO_IP, SYNOPT, &on, sizeof(on)))
		die("no SYN option (is smcr_synopt loaded?)");
	return fd;
}

static void serve(int fd, const struct sockaddr_in *server)
{
	int both = 0, on = 1, to;
	socklen_t len = sizeof(both);

	setpgid(0, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	getsockopt(fd, IPPROTO_IP, SYNOPT, &both, &len);
	to = new_socket(both);
	if (connect(to, (const struct sockaddr *)server, sizeof(*server)))
		reset_both(fd, to);
	if (fork())
		pass(fd, to);
	else
		pass(to, fd);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in own = { .sin_family = AF_INET }, server = own;
	int lfd, fd, i;

	if (argc < 4) {
		fprintf(stderr, "usage: clcrelay PORT SERVER SERVER_PORT [TYPE:N:ACTION[:ARG]]...\n");
		return 2;
	}
	own.sin_port = htons((uint16_t)atoi(argv[1]));
	server.sin_port = htons((uint16_t)atoi(argv[3]));
	if (inet_pton(AF_INET, argv[2], &server.sin_addr) != 1)
		die(argv[2]);
	for (i = 4; i < argc; i++)
		parse(argv[i]);
	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		die("mmap");
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGCHLD, SIG_IGN);
	lfd = new_socket(true);
	if (bind(lfd, (struct sockaddr *)&own, sizeof(own)) || listen(lfd, 64))
		die("listen");
	while ((fd = accept(lfd, NULL, NULL)) >= 0) {
		if (!fork()) {
			close(lfd);
			serve(fd, &server);
		}
		close(fd);
	}
	die("accept");
}
