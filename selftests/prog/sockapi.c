// SPDX-License-Identifier: GPL-2.0-only
/*
 * Socket calls in lock-step on two hosts, every call with its result. Run once
 * with TCP and once with SMC-R; the transcripts are to be the same.
 *
 *	sockapi server tcp|smc CTLPORT
 *	sockapi client tcp|smc HOST CTLPORT [4|6|map|dual] < SCRIPT
 *
 * The client reads the script and executes the lines that begin with C; those
 * with S go to the server over the control connection (always plain TCP), so
 * there is one order of events and one transcript.
 *
 *	== NAME			a scenario: everything is closed, ports are new
 *	C OP ARG...		on the client; S: on the server
 *	C&N OP ARG...		in a thread of its own; `C wait N [MS]` has the result
 *	-C OP ARG...		not in the transcript
 *
 * Sockets have names of one letter. Data are a pattern by position, checked
 * by the receiver. {Sx} and {Cx} are the bytes sent so far on that socket.
 *
 * 4: IPv4; 6: IPv6; map: IPv6 sockets, mapped addresses; dual: IPv6 server,
 * IPv4 client.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pattern.h"
#include "sockapi.h"

struct slot slots[N_SLOT];
struct async asyncs[N_ASYNC];
int family = 4;
bool mapped;
char peer_host[64];
int base_port;
pid_t child;
volatile sig_atomic_t sigs[65];
__thread unsigned char *iobuf;
static bool smc;

void say(struct op_out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->text + o->len, sizeof(o->text) - o->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->len += (size_t)n < sizeof(o->text) - o->len ?
			  (size_t)n : sizeof(o->text) - o->len - 1;
}

void say_result(struct op_out *o, long rc, int err)
{
	if (rc < 0)
		say(o, "= -1 %s", strerrorname_np(err) ? strerrorname_np(err) : "?");
	else
		say(o, "= %ld", rc);
}

unsigned char *buffer(void)
{
	if (!iobuf)
		iobuf = malloc(BUF);
	return iobuf;
}

void say_flags(struct op_out *o, const struct name *n, long v)
{
	const char *sep = "";

	for (; n->name; n++)
		if (v & n->value & 0xffff) {
			say(o, "%s%s", sep, n->name);
			sep = "|";
		}
	if (!*sep)
		say(o, "0");
}

struct slot *slot(const char *name)
{
	return &slots[name[0] & (N_SLOT - 1)];
}

int address(struct sockaddr_storage *ss, const char *host, int port)
{
	return (int)sock_address(ss, family == 6 ? AF_INET6 : AF_INET, host, port);
}

void say_address(struct op_out *o, const struct sockaddr_storage *ss,
			socklen_t len)
{
	const struct sockaddr_in6 *s6 = (const void *)ss;
	const struct sockaddr_in *s4 = (const void *)ss;
	char text[80] = "?";
	int port = 0;

	if (ss->ss_family == AF_INET) {
		inet_ntop(AF_INET, &s4->sin_addr, text, sizeof(text));
		port = ntohs(s4->sin_port);
	} else if (ss->ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &s6->sin6_addr, text, sizeof(text));
		port = ntohs(s6->sin6_port);
	}
	if (port >= base_port && port < base_port + 8)
		say(o, " %s port base+%d", text, port - base_port);
	else
		say(o, " %s port %s", text, port ? "other" : "0");
	say(o, " family %d len %u", ss->ss_family, len);
}

int open_socket(struct slot *s)
{
	s->fd = try_stream(smc, family == 6 ? AF_INET6 : AF_INET);
	s->tx = s->rx = 0;
	return s->fd;
}

void say_data(struct op_out *o, struct slot *s, const unsigned char *p,
		     long rc, bool consume)
{
	long bad;

	if (rc <= 0)
		return;
	bad = pattern_diff(p, s->rx, (unsigned long)rc);
	if (bad >= 0)
		say(o, " WRONG DATA at %ld", bad);
	if (consume)
		s->rx += (uint64_t)rc;
}

const char *arg(const struct call *c, int i)
{
	return i < c->n ? c->a[i] : NULL;
}

long num(const struct call *c, int i, long dflt)
{
	return i < c->n ? strtol(c->a[i], NULL, 0) : dflt;
}

void run_op(struct call *c)
{
	static const struct op *const families[] = {
		ops_conn, ops_data, ops_event, ops_option, ops_flow,
	};
	const struct op *op;
	size_t i;

	for (i = 0; c->n && i < sizeof(families) / sizeof(*families); i++)
		for (op = families[i]; op->name; op++)
			if (!strcmp(op->name, c->a[0])) {
				op->fn(c);
				return;
			}
	unknown("operation", c->n ? c->a[0] : "", c->n ? strlen(c->a[0]) : 0);
}

static void run_text(const char *text, struct op_out *o)
{
	char copy[512], *save, *w;
	struct call c = { .o = o };

	snprintf(copy, sizeof(copy), "%s", text);
	for (w = strtok_r(copy, " \n", &save); w && c.n < MAXARG;
	     w = strtok_r(NULL, " \n", &save))
		c.a[c.n++] = w;
	run_op(&c);
}

static void *async_main(void *p)
{
	struct async *as = p;

	run_text(as->line, &as->out);
	__atomic_store_n(&as->done, true, __ATOMIC_RELEASE);
	free(iobuf);
	return NULL;
}

/* Close all sockets of the last scenario, by RST, and end its threads */
static void scenario(int number)
{
	struct linger l = { 1, 0 };
	int i;

	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		child = 0;
	}
	for (i = 0; i < N_SLOT; i++) {
		if (slots[i].fd < 0)
			continue;
		setsockopt(slots[i].fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		shutdown(slots[i].fd, SHUT_RDWR);
		close(slots[i].fd);
		slots[i] = (struct slot){ .fd = -1 };
	}
	for (i = 0; i < N_ASYNC; i++)
		if (asyncs[i].used) {
			/* a signal ends what shutdown() did not */
			while (!__atomic_load_n(&asyncs[i].done, __ATOMIC_ACQUIRE)) {
				pthread_kill(asyncs[i].thread, SIGUSR1);
				usleep(10000);
			}
			pthread_join(asyncs[i].thread, NULL);
			asyncs[i].used = false;
		}
	base_port = 10000 + 8 * number;
	for (i = 0; i < 65; i++)
		sigs[i] = 0;
}

/* One line without its side: "OP ..." or "&N OP ..." */
static void run_line(char *line, struct op_out *o)
{
	int n;

	o->len = 0;
	o->text[0] = 0;
	o->made = false;
	alarm(40);	/* no line of a script takes so long: a call hangs */
	if (line[0] == '&') {
		struct async *as = &asyncs[line[1] - '0'];

		*as = (struct async){ .used = true };
		snprintf(as->line, sizeof(as->line), "%s", line + 3);
		pthread_create(&as->thread, NULL, async_main, as);
		say(o, "(started)");
	} else if (sscanf(line, "== %d", &n) == 1) {
		scenario(n);
	} else {
		run_text(line, o);
	}
	alarm(0);
}

static void on_signal(int no)
{
	sigs[no]++;
}

static void set_signal(int no, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(no, &sa, NULL);
}

/* {Sa}: bytes that the server has sent on its socket a */
static uint64_t remote_tx(FILE *in, FILE *out, char name)
{
	char reply[64];

	fprintf(out, "tx %c\n", name);
	fflush(out);
	return fgets(reply, sizeof(reply), in) ? strtoull(reply, NULL, 10) : 0;
}

static void substitute(char *line, size_t size, FILE *in, FILE *out)
{
	char *p, rest[512];
	uint64_t v;

	while ((p = strchr(line, '{')) && p[3] == '}') {
		v = p[1] == 'C' ? slots[p[2] & 127].tx : remote_tx(in, out, p[2]);
		snprintf(rest, sizeof(rest), "%s", p + 4);
		snprintf(p, size - (size_t)(p - line), "%llu%s",
			 (unsigned long long)v, rest);
	}
}

static int control(const char *host, const char *port, bool server)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_INET,
				  .ai_flags = server ? AI_PASSIVE : 0 }, *ai;
	int fd, one = 1, i;

	if (getaddrinfo(host, port, &hints, &ai))
		exit(2);
	fd = socket(ai->ai_family, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (server) {
		if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1))
			exit(2);
		fd = accept(fd, NULL, NULL);
	} else {
		for (i = 0; connect(fd, ai->ai_addr, ai->ai_addrlen); i++) {
			if (i == 100)
				exit(2);
			usleep(100000);
		}
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int server_main(const char *port)
{
	int fd = control(NULL, port, true);
	FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
	static struct op_out o;
	char line[512];

	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "family %d", &family) == 1 ||
		    sscanf(line, "host %63s", peer_host) == 1)
			continue;
		if (!strncmp(line, "tx ", 3)) {
			fprintf(out, "%llu\n", (unsigned long long)
				slots[line[3] & 127].tx);
		} else {
			run_line(line, &o);
			fprintf(out, "%s\n", o.text);
		}
		fflush(out);
	}
	scenario(0);
	return 0;
}

/* The peer's address of family @fam, from the IPv4 address of the lab */
static void addresses(FILE *out, int fd, const char *host, const char *fam)
{
	struct sockaddr_in me = { };
	socklen_t len = sizeof(me);
	char mine[64];
	unsigned int net, id;

	getsockname(fd, (void *)&me, &len);
	inet_ntop(AF_INET, &me.sin_addr, mine, sizeof(mine));
	snprintf(peer_host, sizeof(peer_host), "%s", host);
	if (!strcmp(fam, "6")) {
		family = 6;
		if (sscanf(host, "10.77.%u.%u", &net, &id) == 2)
			snprintf(peer_host, sizeof(peer_host), "fd77:%x::%x", net, id);
		if (sscanf(mine, "10.77.%u.%u", &net, &id) == 2)
			snprintf(mine, sizeof(mine), "fd77:%x::%x", net, id);
	} else if (!strcmp(fam, "map")) {
		family = 6;
		mapped = true;
	}
	fprintf(out, "family %d\nhost %s\n", strcmp(fam, "4") ? 6 : 4, mine);
}

static int client_main(const char *host, const char *port, const char *fam)
{
	int fd = control(host, port, false), number = 0, side, made = 0;
	FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
	static struct op_out o;
	char line[512], reply[2100];
	bool quiet;
	char *p;

	addresses(out, fd, host, fam);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		for (p = line; isspace((unsigned char)*p); p++)
			;
		if (!*p || *p == '#')
			continue;
		if (!strncmp(p, "== ", 3)) {
			number++;
			printf("%s\n", p);
			fflush(stdout);
			fprintf(out, "== %d\n", number);
			fflush(out);
			if (!fgets(reply, sizeof(reply), in))
				return 3;
			scenario(number);
			continue;
		}
		quiet = *p == '-';
		p += quiet;
		side = *p++;
		while (*p == ' ')
			p++;
		if (side == 'S') {
			if (!quiet)
				printf("S %s ", p);
			fflush(stdout);
			substitute(p, sizeof(line) - (size_t)(p - line), in, out);
			fprintf(out, "%s\n", p);
			fflush(out);
			if (!fgets(reply, sizeof(reply), in))
				return 3;
			if (!quiet)
				fputs(reply, stdout);
			continue;
		}
		if (!quiet)
			printf("C %s ", p);
		fflush(stdout);
		substitute(p, sizeof(line) - (size_t)(p - line), in, out);
		run_line(p, &o);
		made += o.made;
		if (!quiet)
			printf("%s\n", o.text);
	}
	scenario(0);
	fprintf(stderr, "made %d\n", made);
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 0; i < N_SLOT; i++)
		slots[i].fd = -1;
	set_signal(SIGUSR1, 0);
	set_signal(SIGUSR2, SA_RESTART);
	set_signal(SIGIO, SA_RESTART);
	set_signal(SIGURG, SA_RESTART);
	set_signal(SIGPIPE, SA_RESTART);
	setvbuf(stdout, NULL, _IOLBF, 0);
	smc = argc > 2 && !strcmp(argv[2], "smc");
	if (argc == 4 && !strcmp(argv[1], "server"))
		return server_main(argv[3]);
	if (argc >= 5 && !strcmp(argv[1], "client"))
		return client_main(argv[3], argv[4], argc > 5 ? argv[5] : "4");
	fprintf(stderr, "usage: sockapi server tcp|smc CTLPORT\n"
			"       sockapi client tcp|smc HOST CTLPORT [4|6|map|dual] < SCRIPT\n");
	return 2;
}
