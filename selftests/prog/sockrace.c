// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of calls by several threads on one socket.
 *
 *	sockrace server PORT		echoes every byte
 *	sockrace undo HOST PORT ROUNDS	connect() by one thread, shutdown() and
 *					connect(AF_UNSPEC) by another, on sockets
 *					that listened, block, or do not block
 *	sockrace lowat HOST PORT	poll() sleeps below SO_RCVLOWAT until that
 *					is lowered to what has arrived
 *
 * What the calls return depends on their order, so "undo" expects little: that
 * every call returns, that the socket either works or fails with an error, and
 * that a socket without an SMC-R connection can be disconnected and connected
 * again as if it were new. The debug kernel checks the rest.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC	43
#endif

enum { HANG = 20, TRIES = 40 };

static struct sockaddr_in peer = { .sin_family = AF_INET };
static int slow = 1;

static int complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "sockrace: ");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	return 1;
}

static void on_alarm(int sig)
{
	static const char text[] = "sockrace: a call hangs\n";

	(void)sig;
	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static int new_socket(void)
{
	struct timeval tv = { .tv_sec = 5 * slow };
	int fd = socket(AF_SMC, SOCK_STREAM, 0);

	if (fd < 0) {
		complain("socket: %m");
		exit(1);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	return fd;
}

static int go(int fd)
{
	return connect(fd, (struct sockaddr *)&peer, sizeof(peer));
}

static int dissolve(int fd)
{
	struct sockaddr any = { .sa_family = AF_UNSPEC };

	return connect(fd, &any, sizeof(any));
}

static void set_nonblock(int fd, int on)
{
	int fl = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? fl | O_NONBLOCK : fl & ~O_NONBLOCK);
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg;
	char c;

	while (recv(fd, &c, 1, 0) == 1 && send(fd, &c, 1, MSG_NOSIGNAL) == 1)
		;
	close(fd);
	return NULL;
}

static int server(const char *port)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd, on = 1, lfd = new_socket();
	struct timeval never = { 0 };
	pthread_t thread;

	any.sin_port = htons((unsigned short)atoi(port));
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(lfd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never));
	if (bind(lfd, (struct sockaddr *)&any, sizeof(any)) ||
	    listen(lfd, 1024))
		return complain("listen: %m");
	for (;;) {
		fd = accept(lfd, NULL, NULL);
		if (fd < 0)
			return complain("accept: %m");
		if (pthread_create(&thread, NULL, serve, (void *)(long)fd))
			return complain("thread");
		pthread_detach(thread);
	}
}

enum kind { LISTENED, FRESH, NONBLOCK, NR_KINDS };

static struct {
	pthread_barrier_t start;
	enum kind kind;
	int fd;
	unsigned int delay;	/* us */
	int unspec;
	int connected;		/* last result of connector() */
} race;

/* Calls connect() until the socket is connected, or often enough */
static void *connector(void *arg)
{
	int i;

	(void)arg;
	pthread_barrier_wait(&race.start);
	race.connected = 0;
	for (i = 0; i < TRIES; i++) {
		race.connected = !go(race.fd) || errno == EISCONN;
		if (race.connected && race.kind != LISTENED)
			break;
		if (race.kind != FRESH)
			usleep(100);
	}
	return NULL;
}

static void *undoer(void *arg)
{
	int i;

	(void)arg;
	pthread_barrier_wait(&race.start);
	for (i = 0; i < 3; i++) {
		if (race.delay)
			usleep(race.delay);
		if (race.unspec)
			dissolve(race.fd);
		else
			shutdown(race.fd, i ? SHUT_RDWR : SHUT_RD);
	}
	return NULL;
}

/* One byte there and back */
static int works(int fd)
{
	char c = 'x';

	errno = 0;	/* the end of data is no error */
	return send(fd, &c, 1, MSG_NOSIGNAL) == 1 && recv(fd, &c, 1, 0) == 1;
}

/* Check the socket when the threads have ended */
static int look(unsigned int *live)
{
	int rc, err = 0;
	socklen_t len = sizeof(err);

	set_nonblock(race.fd, 0);
	if (works(race.fd)) {
		++*live;
		return 0;
	}
	if (errno == EAGAIN)
		return complain("neither alive nor dead");
	/* only an SMC-R connection cannot be dissolved */
	if (dissolve(race.fd))
		return errno == EOPNOTSUPP ? 0 : complain("dissolve: %m");
	getsockopt(race.fd, SOL_SOCKET, SO_ERROR, &err, &len);
	rc = go(race.fd);
	if (rc)
		return complain("not as new: %m");
	return works(race.fd) ? 0 : complain("new connection: %m");
}

static int undo(unsigned int rounds)
{
	unsigned int r, live = 0, bad = 0;
	struct sockaddr_in any = { .sin_family = AF_INET };
	pthread_t thread[3];
	int i;

	for (r = 0; r < rounds && bad < 10; r++) {
		alarm((unsigned int)(HANG * slow));
		race.kind = r % NR_KINDS;
		race.unspec = r / NR_KINDS % 2;
		race.delay = (unsigned int)rand() % 4 ?
			     (unsigned int)rand() % 3000 : 0;
		race.fd = new_socket();
		if (race.kind == LISTENED &&
		    (bind(race.fd, (struct sockaddr *)&any, sizeof(any)) ||
		     listen(race.fd, 10)))
			return complain("listen: %m");
		set_nonblock(race.fd, race.kind != FRESH);
		pthread_barrier_init(&race.start, NULL, 3);
		pthread_create(&thread[0], NULL, connector, NULL);
		pthread_create(&thread[1], NULL, undoer, NULL);
		pthread_create(&thread[2], NULL, r / 2 % 4 ? undoer : connector,
			       NULL);
		for (i = 0; i < 3; i++)
			pthread_join(thread[i], NULL);
		pthread_barrier_destroy(&race.start);
		if (look(&live)) {
			complain("round %u: kind %d unspec %d delay %u", r,
				 race.kind, race.unspec, race.delay);
			bad++;
		}
		close(race.fd);
	}
	alarm(0);
	printf("%u rounds, %u connections lived through it, %u bad\n", r, live,
	       bad);
	return bad != 0;
}

static void *lower(void *arg)
{
	int fd = (int)(long)arg, one = 1;

	usleep(300000);
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
	return NULL;
}

static int lowat(void)
{
	struct pollfd p = { .events = POLLIN };
	int much = 1000;
	pthread_t thread;
	char c = 'x';

	alarm((unsigned int)(HANG * slow));
	p.fd = new_socket();
	if (go(p.fd))
		return complain("connect: %m");
	setsockopt(p.fd, SOL_SOCKET, SO_RCVLOWAT, &much, sizeof(much));
	if (send(p.fd, &c, 1, 0) != 1)
		return complain("send: %m");
	if (poll(&p, 1, 300))
		return complain("one byte is enough for 1000");
	pthread_create(&thread, NULL, lower, (void *)(long)p.fd);
	if (poll(&p, 1, 5000 * slow) != 1)
		return complain("poll() sleeps on");
	pthread_join(thread, NULL);
	return recv(p.fd, &c, 1, MSG_DONTWAIT) == 1 ? 0 : complain("recv: %m");
}

int main(int argc, char **argv)
{
	const char *env = getenv("SLOW");

	slow = env && atoi(env) > 0 ? atoi(env) : 1;
	signal(SIGALRM, on_alarm);
	if (argc == 3 && !strcmp(argv[1], "server"))
		return server(argv[2]);
	if (argc >= 4) {
		if (inet_pton(AF_INET, argv[2], &peer.sin_addr) != 1)
			return complain("'%s' is no address", argv[2]);
		peer.sin_port = htons((unsigned short)atoi(argv[3]));
	}
	if (argc == 5 && !strcmp(argv[1], "undo"))
		return undo((unsigned int)atoi(argv[4]));
	if (argc == 4 && !strcmp(argv[1], "lowat"))
		return lowat();
	fprintf(stderr, "usage: sockrace server PORT | undo HOST PORT ROUNDS | lowat HOST PORT\n");
	return 2;
}
