// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program under attack: what happens to its connections does not matter, as
 * long as it goes on. Everything is non-blocking, and a connection is given up
 * after a while, in whatever state it is.
 *
 *	victim server PORT SECONDS
 *	victim client HOST PORT SECONDS
 *
 * Exit status 1 only if a call fails in a way that no peer can cause.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC	43
#endif

enum { N_SERVER = 64, N_CLIENT = 2, LIFE_SERVER = 400, LIFE_CLIENT = 1500 };

static struct peer {
	int fd;
	long long born;
	unsigned int moves;
} peers[N_SERVER];

static unsigned long n_made, n_failed, n_in, n_out;
static volatile sig_atomic_t stop;
static struct sockaddr_in to;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void drop(struct peer *p)
{
	/* sometimes with a reset, sometimes with data unread */
	if (rand() % 4 == 0) {
		struct linger l = { 1, 0 };

		setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	} else if (rand() % 4 == 0) {
		shutdown(p->fd, rand() % 3);
	}
	if (close(p->fd) && errno == EBADF)
		die("close");
	p->fd = -1;
}

static void serve(struct peer *p, short events)
{
	char buf[4096];
	ssize_t n;

	n = recv(p->fd, buf, 1 + (size_t)rand() % sizeof(buf), 0);
	if (n > 0)
		n_in += (unsigned long)n;
	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		n_failed += n < 0;
		drop(p);
		return;
	}
	if (events & POLLOUT || rand() % 2) {
		n = send(p->fd, buf, (size_t)rand() % sizeof(buf), 0);
		if (n > 0)
			n_out += (unsigned long)n;
	}
	if (++p->moves > 20 || rand() % 16 == 0)
		drop(p);
}

static void adopt(int fd)
{
	int i;

	n_made++;
	for (i = 0; i < N_SERVER; i++) {
		if (peers[i].fd >= 0)
			continue;
		peers[i].fd = fd;
		peers[i].born = now_ms();
		peers[i].moves = 0;
		return;
	}
	close(fd);
}

static void call_one(void)
{
	int fd = socket(AF_SMC, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("socket");
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) &&
	    errno != EINPROGRESS) {
		close(fd);
		return;
	}
	adopt(fd);
}

static int listen_on(int port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons((unsigned short)port),
	};
	int fd = socket(AF_SMC, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, N_SERVER))
		die("listen");
	return fd;
}

int main(int argc, char **argv)
{
	struct pollfd fds[N_SERVER + 1];
	bool server = argc == 4 && !strcmp(argv[1], "server");
	int lfd = -1, i, n;
	long long end;

	if (!server && (argc != 5 || strcmp(argv[1], "client"))) {
		fprintf(stderr, "usage: victim server PORT SECONDS | client HOST PORT SECONDS\n");
		return 2;
	}
	signal(SIGTERM, on_term);
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < N_SERVER; i++)
		peers[i].fd = -1;
	if (server) {
		lfd = listen_on(atoi(argv[2]));
	} else {
		to.sin_family = AF_INET;
		to.sin_port = htons((unsigned short)atoi(argv[3]));
		if (inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
			die(argv[2]);
	}
	end = now_ms() + atoi(argv[argc - 1]) * 1000LL;
	while (!stop && now_ms() < end) {
		for (i = n = 0; i < N_SERVER; i++)
			n += peers[i].fd >= 0;
		for (; !server && n < N_CLIENT; n++)
			call_one();
		for (i = 0; i < N_SERVER; i++) {
			fds[i].fd = peers[i].fd;
			fds[i].events = (short)(POLLIN | (rand() % 8 ? 0 :
							  POLLOUT));
		}
		fds[N_SERVER].fd = lfd;
		fds[N_SERVER].events = POLLIN;
		if (poll(fds, N_SERVER + 1, 20) < 0 && errno != EINTR)
			die("poll");
		if (lfd >= 0 && fds[N_SERVER].revents) {
			i = accept4(lfd, NULL, NULL, SOCK_NONBLOCK);
			if (i >= 0)
				adopt(i);
		}
		for (i = 0; i < N_SERVER; i++) {
			struct peer *p = &peers[i];

			if (p->fd < 0 || fds[i].fd != p->fd)
				continue;
			if (now_ms() - p->born >
			    (server ? LIFE_SERVER : LIFE_CLIENT))
				drop(p);
			else if (fds[i].revents)
				serve(p, fds[i].revents);
		}
	}
	printf("%lu connections, %lu ended by an error; %lu bytes in, %lu out\n",
	       n_made, n_failed, n_in, n_out);
	return 0;
}
