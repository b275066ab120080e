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
 * by whoever receives. {Sx} and {Cx} are the bytes sent so far on that socket.
 *
 * 4: IPv4; 6: IPv6; map: IPv6 sockets, mapped addresses; dual: IPv6 server,
 * IPv4 client.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "pattern.h"

#ifndef AF_SMC
#define AF_SMC		43
#endif
#define N_SLOT		128
#define N_ASYNC		10
#define MAXARG		16
#define BUF		(4 << 20)

struct slot {
	int fd;			/* -1: none */
	uint64_t tx, rx;	/* position in the stream */
};

struct op_out {
	char text[2048];
	size_t len;
	bool made;		/* a connection was made by this side's connect() */
};

struct async {
	pthread_t thread;
	bool used, done;
	char line[512];
	struct op_out out;
};

static struct slot slots[N_SLOT];
static struct async asyncs[N_ASYNC];
static bool smc;
static int family = 4;			/* of this side's sockets: 4 or 6 */
static bool mapped;			/* client: v6 socket, v4 peer */
static char peer_host[64];
static int base_port;
static pid_t child;			/* of the fork ops */
static int child_pipe = -1;
static volatile sig_atomic_t sigs[65];
static __thread unsigned char *iobuf;

static void say(struct op_out *o, const char *fmt, ...)
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

static void say_result(struct op_out *o, long rc, int err)
{
	if (rc < 0)
		say(o, "= -1 %s", strerrorname_np(err) ? strerrorname_np(err) : "?");
	else
		say(o, "= %ld", rc);
}

static unsigned char *buffer(void)
{
	if (!iobuf)
		iobuf = malloc(BUF);
	return iobuf;
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* --- names and numbers --- */

struct name {
	const char *name;
	long value;
};

static const struct name msg_flags[] = {
	{ "peek", MSG_PEEK }, { "waitall", MSG_WAITALL },
	{ "dontwait", MSG_DONTWAIT }, { "trunc", MSG_TRUNC },
	{ "more", MSG_MORE }, { "nosignal", MSG_NOSIGNAL }, { "oob", MSG_OOB },
	{ "errqueue", MSG_ERRQUEUE }, { }
};

static const struct name poll_events[] = {
	{ "in", POLLIN }, { "pri", POLLPRI }, { "out", POLLOUT },
	{ "err", POLLERR }, { "hup", POLLHUP }, { "nval", POLLNVAL },
	{ "rdhup", POLLRDHUP }, { }
};

static const struct name epoll_flags[] = {
	{ "in", EPOLLIN }, { "pri", EPOLLPRI }, { "out", EPOLLOUT },
	{ "err", EPOLLERR }, { "hup", EPOLLHUP }, { "rdhup", EPOLLRDHUP },
	{ "et", (long)EPOLLET }, { "oneshot", EPOLLONESHOT },
	{ "exclusive", EPOLLEXCLUSIVE }, { }
};

static const struct name signal_names[] = {
	{ "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "IO", SIGIO },
	{ "PIPE", SIGPIPE }, { "URG", SIGURG }, { }
};

static const struct name hows[] = {
	{ "rd", SHUT_RD }, { "wr", SHUT_WR }, { "rdwr", SHUT_RDWR },
	{ "bad", 77 }, { }
};

enum kind { INT, TIMEVAL, LINGER, STRING };

static const struct option_name {
	const char *name;
	int level, opt;
	enum kind kind;
} option_names[] = {
#define SOL(n, k)	{ #n, SOL_SOCKET, SO_##n, k }
#define TCPO(n, k)	{ "TCP_" #n, IPPROTO_TCP, TCP_##n, k }
	SOL(ERROR, INT), SOL(TYPE, INT), SOL(PROTOCOL, INT), SOL(DOMAIN, INT),
	SOL(ACCEPTCONN, INT), SOL(REUSEADDR, INT), SOL(REUSEPORT, INT),
	SOL(KEEPALIVE, INT), SOL(SNDBUF, INT), SOL(RCVBUF, INT),
	SOL(SNDBUFFORCE, INT), SOL(RCVBUFFORCE, INT),
	SOL(RCVLOWAT, INT), SOL(SNDLOWAT, INT), SOL(OOBINLINE, INT),
	SOL(PRIORITY, INT), SOL(MARK, INT), SOL(DONTROUTE, INT),
	SOL(BROADCAST, INT), SOL(BINDTODEVICE, STRING), SOL(LINGER, LINGER),
	SOL(RCVTIMEO, TIMEVAL), SOL(SNDTIMEO, TIMEVAL), SOL(TIMESTAMP, INT),
	SOL(INCOMING_CPU, INT), SOL(BUSY_POLL, INT), SOL(ZEROCOPY, INT),
	SOL(PEEK_OFF, INT), SOL(NO_CHECK, INT), SOL(PASSCRED, INT),
	SOL(INCOMING_NAPI_ID, INT), SOL(MAX_PACING_RATE, INT),
	SOL(LOCK_FILTER, INT), SOL(NOFCS, INT), SOL(RXQ_OVFL, INT),
	TCPO(NODELAY, INT), TCPO(MAXSEG, INT), TCPO(CORK, INT),
	TCPO(KEEPIDLE, INT), TCPO(KEEPINTVL, INT), TCPO(KEEPCNT, INT),
	TCPO(SYNCNT, INT), TCPO(LINGER2, INT), TCPO(DEFER_ACCEPT, INT),
	TCPO(WINDOW_CLAMP, INT), TCPO(QUICKACK, INT),
	TCPO(CONGESTION, STRING), TCPO(USER_TIMEOUT, INT),
	TCPO(FASTOPEN, INT), TCPO(FASTOPEN_CONNECT, INT),
	TCPO(NOTSENT_LOWAT, INT), TCPO(SAVE_SYN, INT), TCPO(ULP, STRING),
	TCPO(REPAIR, INT), TCPO(THIN_LINEAR_TIMEOUTS, INT), TCPO(INQ, INT),
	{ "TCP_TX_DELAY", IPPROTO_TCP, 37, INT },
	{ "TCP_777", IPPROTO_TCP, 777, INT },
	{ "SO_777", SOL_SOCKET, 777, INT },
	{ "LEVEL_777", 777, 1, INT },
	{ "IP_TOS", IPPROTO_IP, IP_TOS, INT },
	{ "IP_TTL", IPPROTO_IP, IP_TTL, INT },
	{ "IP_MTU_DISCOVER", IPPROTO_IP, IP_MTU_DISCOVER, INT },
	{ "IP_MTU", IPPROTO_IP, IP_MTU, INT },
	{ "IP_FREEBIND", IPPROTO_IP, IP_FREEBIND, INT },
	{ "IP_TRANSPARENT", IPPROTO_IP, IP_TRANSPARENT, INT },
	{ "IP_BIND_ADDRESS_NO_PORT", IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, INT },
	{ "IP_RECVERR", IPPROTO_IP, IP_RECVERR, INT },
	{ "IP_777", IPPROTO_IP, 777, INT },
	{ "IPV6_V6ONLY", IPPROTO_IPV6, IPV6_V6ONLY, INT },
	{ "IPV6_TCLASS", IPPROTO_IPV6, IPV6_TCLASS, INT },
	{ "IPV6_UNICAST_HOPS", IPPROTO_IPV6, IPV6_UNICAST_HOPS, INT },
	{ "IPV6_MTU_DISCOVER", IPPROTO_IPV6, IPV6_MTU_DISCOVER, INT },
	{ "IPV6_ADDRFORM", IPPROTO_IPV6, IPV6_ADDRFORM, INT },
};

static long by_name(const struct name *n, const char *s, size_t len)
{
	for (; n->name; n++)
		if (strlen(n->name) == len && !strncmp(n->name, s, len))
			return n->value;
	fprintf(stderr, "sockapi: '%.*s' is unknown\n", (int)len, s);
	exit(2);
}

/* a|b|c */
static long flags_of(const struct name *n, const char *s)
{
	long v = 0;

	while (s && *s && *s != '-' && *s != '0') {
		size_t len = strcspn(s, "|");

		v |= by_name(n, s, len);
		s += len + (s[len] == '|');
	}
	return v;
}

static void say_flags(struct op_out *o, const struct name *n, long v)
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

static struct slot *slot(const char *name)
{
	return &slots[name[0] & (N_SLOT - 1)];
}

/* --- addresses --- */

static int address(struct sockaddr_storage *ss, int fam, const char *host,
		   int port)
{
	struct sockaddr_in6 *s6 = (void *)ss;
	struct sockaddr_in *s4 = (void *)ss;
	char text[80];

	memset(ss, 0, sizeof(*ss));
	if (fam == 4) {
		s4->sin_family = AF_INET;
		s4->sin_port = htons(port);
		inet_pton(AF_INET, host ? host : "0.0.0.0", &s4->sin_addr);
		return sizeof(*s4);
	}
	s6->sin6_family = AF_INET6;
	s6->sin6_port = htons(port);
	if (host && !strchr(host, ':')) {
		snprintf(text, sizeof(text), "::ffff:%s", host);
		host = text;
	}
	inet_pton(AF_INET6, host ? host : "::", &s6->sin6_addr);
	return sizeof(*s6);
}

static void say_address(struct op_out *o, const struct sockaddr_storage *ss,
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

static int open_socket(struct slot *s)
{
	s->fd = smc ? socket(AF_SMC, SOCK_STREAM, family == 6) :
		      socket(family == 6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	s->tx = s->rx = 0;
	return s->fd;
}

/* --- one operation; a[0] is its name --- */

struct call {
	int n;
	char *a[MAXARG];
	struct op_out *o;
};

static const char *arg(const struct call *c, int i)
{
	return i < c->n ? c->a[i] : NULL;
}

static long num(const struct call *c, int i, long dflt)
{
	return i < c->n ? strtol(c->a[i], NULL, 0) : dflt;
}

static void op_socket(struct call *c)
{
	long rc = open_socket(slot(c->a[1]));

	say_result(c->o, rc < 0 ? rc : 0, errno);
}

static void op_serve(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	struct sockaddr_storage ss;
	int one = 1, len;
	long rc;

	if (s->fd < 0)
		open_socket(s);
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	len = address(&ss, family, NULL, base_port + (int)num(c, 2, 0));
	rc = bind(s->fd, (void *)&ss, len);
	if (!rc)
		rc = listen(s->fd, (int)num(c, 3, 16));
	say_result(c->o, rc, errno);
}

/* bind NAME OFFSET [any|peer|short|badfamily] */
static void op_bind(struct call *c)
{
	const char *how = arg(c, 3);
	struct sockaddr_storage ss;
	int len;
	long rc;

	len = address(&ss, family, how && !strcmp(how, "peer") ? peer_host : NULL,
		      num(c, 2, 0) < 0 ? 0 : base_port + (int)num(c, 2, 0));
	if (how && !strcmp(how, "short"))
		len = 3;
	if (how && !strcmp(how, "badfamily"))
		ss.ss_family = AF_UNIX;
	rc = bind(slot(c->a[1])->fd, (void *)&ss, len);
	say_result(c->o, rc, errno);
}

static void op_listen(struct call *c)
{
	long rc = listen(slot(c->a[1])->fd, (int)num(c, 2, 16));

	say_result(c->o, rc, errno);
}

static int peer_address(struct call *c, struct sockaddr_storage *ss)
{
	const char *how = arg(c, 3);
	int len;

	len = address(ss, family, how && !strcmp(how, "self") ?
		      (family == 6 ? "::1" : "127.0.0.1") :
		      how && !strcmp(how, "none") ?
		      (family == 6 && !mapped ? "fd77::77:1" : "10.77.0.77") : peer_host,
		      base_port + (int)num(c, 2, 0));
	if (how && !strcmp(how, "short"))
		len = 3;
	if (how && !strcmp(how, "badfamily"))
		ss->ss_family = AF_UNIX;
	if (how && !strcmp(how, "unspec"))
		ss->ss_family = AF_UNSPEC;
	return len;
}

/* connect NAME [OFFSET [self|none|short|badfamily|unspec]] */
static void op_connect(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	struct sockaddr_storage ss;
	long rc;
	int len;

	if (s->fd < 0)
		open_socket(s);
	len = peer_address(c, &ss);
	rc = connect(s->fd, (void *)&ss, len);
	say_result(c->o, rc, errno);
	c->o->made = !rc && ss.ss_family != AF_UNSPEC;
}

/* accept LISTENER NAME [nonblock] */
static void op_accept(struct call *c)
{
	struct slot *n = slot(c->a[2]);
	struct sockaddr_storage ss = { };
	socklen_t len = sizeof(ss);
	long rc;

	rc = accept4(slot(c->a[1])->fd, (void *)&ss, &len,
		     arg(c, 3) ? SOCK_NONBLOCK : 0);
	say_result(c->o, rc < 0 ? rc : 0, errno);
	if (rc < 0)
		return;
	*n = (struct slot){ .fd = (int)rc };
	say_address(c->o, &ss, len);
}

static void say_data(struct op_out *o, struct slot *s, const unsigned char *p,
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

/* SIGPIPE of this call */
static void say_pipe(struct op_out *o, int before)
{
	if (sigs[SIGPIPE] != before)
		say(o, " +SIGPIPE");
}

/* send NAME BYTES [FLAGS] */
static void op_send(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	int before = sigs[SIGPIPE];
	long n = num(c, 2, 1), rc;

	pattern_fill(buffer(), s->tx, (unsigned long)n);
	rc = send(s->fd, iobuf, (size_t)n, (int)flags_of(msg_flags, arg(c, 3)));
	say_result(c->o, rc, errno);
	say_pipe(c->o, before);
	if (rc > 0)
		s->tx += (uint64_t)rc;
}

/* sendto NAME BYTES: with an address on a connected socket */
static void op_sendto(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	struct sockaddr_storage ss;
	long n = num(c, 2, 1), rc;
	int len = address(&ss, family, peer_host, base_port);

	pattern_fill(buffer(), s->tx, (unsigned long)n);
	rc = sendto(s->fd, iobuf, (size_t)n, MSG_NOSIGNAL, (void *)&ss, len);
	say_result(c->o, rc, errno);
	if (rc > 0)
		s->tx += (uint64_t)rc;
}

static void op_recv(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	int flags = (int)flags_of(msg_flags, arg(c, 3));
	long n = num(c, 2, 1), rc;

	memset(buffer(), 0, (size_t)n);
	rc = recv(s->fd, iobuf, (size_t)n, flags);
	say_result(c->o, rc, errno);
	if (flags & MSG_TRUNC) {
		if (rc > 0 && !(flags & MSG_PEEK))
			s->rx += (uint64_t)rc;
	} else {
		say_data(c->o, s, iobuf, rc, !(flags & MSG_PEEK));
	}
}

/* recvfrom NAME BYTES: which address comes back */
static void op_recvfrom(struct call *c)
{
	struct sockaddr_storage ss = { };
	socklen_t len = sizeof(ss);
	struct slot *s = slot(c->a[1]);
	long rc;

	rc = recvfrom(s->fd, buffer(), (size_t)num(c, 2, 1), 0, (void *)&ss, &len);
	say_result(c->o, rc, errno);
	say(c->o, " address length %u", len);
	say_data(c->o, s, iobuf, rc, true);
}

/* recvmsg NAME BYTES [FLAGS]: msg_flags and ancillary data */
static void op_recvmsg(struct call *c)
{
	char control[256];
	struct iovec iov = { buffer(), (size_t)num(c, 2, 1) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct slot *s = slot(c->a[1]);
	struct cmsghdr *cm;
	long rc;

	rc = recvmsg(s->fd, &m, (int)flags_of(msg_flags, arg(c, 3)));
	say_result(c->o, rc, errno);
	if (rc >= 0) {
		say(c->o, " flags %x", m.msg_flags);
		for (cm = CMSG_FIRSTHDR(&m); cm; cm = CMSG_NXTHDR(&m, cm)) {
			int v = 0;

			memcpy(&v, CMSG_DATA(cm), sizeof(v));
			if (cm->cmsg_level == IPPROTO_TCP)
				say(c->o, " cmsg TCP/%d %d", cm->cmsg_type, v);
			else
				say(c->o, " cmsg %d/%d", cm->cmsg_level, cm->cmsg_type);
		}
	}
	say_data(c->o, s, iobuf, rc, true);
}

/* writev/readv/sendmsg NAME LEN...: one call, one piece of memory per LEN */
static void op_vector(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	bool out = c->a[0][0] != 'r', msg = c->a[0][0] == 's';
	struct iovec iov[MAXARG];
	struct msghdr m = { .msg_iov = iov };
	int before = sigs[SIGPIPE], i, n = 0;
	size_t at = 0;
	long rc;

	buffer();
	for (i = 2; i < c->n; i++) {
		iov[n].iov_base = iobuf + at;
		iov[n].iov_len = (size_t)num(c, i, 0);
		at += iov[n++].iov_len;
	}
	m.msg_iovlen = (size_t)n;
	if (out)
		pattern_fill(iobuf, s->tx, at);
	rc = msg ? sendmsg(s->fd, &m, 0) :
	     out ? writev(s->fd, iov, n) : readv(s->fd, iov, n);
	say_result(c->o, rc, errno);
	if (out && rc > 0)
		s->tx += (uint64_t)rc;
	if (!out)
		say_data(c->o, s, iobuf, rc, true);
	say_pipe(c->o, before);
}

/* badmem NAME send|recv|sendpart|recvpart: memory that is not there */
static void op_badmem(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool part = strstr(c->a[2], "part");
	size_t ok = part ? 100 : 0;
	long rc;

	munmap(p + page, page);
	if (c->a[2][0] == 's') {
		pattern_fill(p + page - ok, s->tx, ok);
		rc = send(s->fd, p + page - ok, ok + 50, MSG_DONTWAIT);
	} else {
		rc = recv(s->fd, p + page - ok, ok + 50, MSG_DONTWAIT);
	}
	say_result(c->o, rc, errno);
	munmap(p, page);
}

static int pattern_file(struct slot *s, long n)
{
	char name[] = "/tmp/sockapi-XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	pattern_fill(buffer(), s->tx, (unsigned long)n);
	if (write(fd, iobuf, (size_t)n) != n)
		exit(2);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* sendfile NAME BYTES: as often as it takes */
static void op_sendfile(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long n = num(c, 2, 1), sent = 0, rc = 0;
	int before = sigs[SIGPIPE];
	int fd = pattern_file(s, n);

	while (sent < n) {
		rc = sendfile(s->fd, fd, NULL, (size_t)(n - sent));
		if (rc <= 0)
			break;
		sent += rc;
	}
	say_result(c->o, rc < 0 ? rc : sent, errno);
	say_pipe(c->o, before);
	s->tx += (uint64_t)sent;
	close(fd);
}

/* spliceout NAME BYTES: pipe to socket */
static void op_spliceout(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long n = num(c, 2, 1), sent = 0, rc;
	int p[2];

	if (pipe(p))
		exit(2);
	while (sent < n) {
		long step = n - sent < 16384 ? n - sent : 16384;

		pattern_fill(buffer(), s->tx, (unsigned long)step);
		if (write(p[1], iobuf, (size_t)step) != step)
			exit(2);
		rc = splice(p[0], NULL, s->fd, NULL, (size_t)step,
			    sent + step < n ? SPLICE_F_MORE : 0);
		if (rc != step) {
			say(c->o, "step ");
			say_result(c->o, rc, errno);
			break;
		}
		s->tx += (uint64_t)rc;
		sent += rc;
	}
	say(c->o, "= %ld", sent);
	close(p[0]);
	close(p[1]);
}

/* splicein NAME BYTES [nonblock]: socket to pipe; until that many or the end */
static void op_splicein(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long n = num(c, 2, 1), got = 0, rc = 0, r;
	int p[2];

	if (pipe(p))
		exit(2);
	while (got < n) {
		rc = splice(s->fd, NULL, p[1], NULL, (size_t)(n - got),
			    arg(c, 3) ? SPLICE_F_NONBLOCK : 0);
		if (rc <= 0)
			break;
		r = read(p[0], buffer(), (size_t)rc);
		say_data(c->o, s, iobuf, r, true);
		if (r != rc)
			say(c->o, "pipe has %ld of %ld ", r, rc);
		got += rc;
	}
	if (rc < 0)
		say_result(c->o, rc, errno);
	say(c->o, rc < 0 ? " after %ld" : "= %ld", got);
	close(p[0]);
	close(p[1]);
}

static void op_close(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long rc = close(s->fd);

	say_result(c->o, rc, errno);
	s->fd = -1;
}

static void op_shutdown(struct call *c)
{
	long rc = shutdown(slot(c->a[1])->fd,
			   (int)by_name(hows, c->a[2], strlen(c->a[2])));

	say_result(c->o, rc, errno);
}

/* poll NAME EVENTS MS */
static void op_poll(struct call *c)
{
	struct pollfd p = {
		.fd = slot(c->a[1])->fd,
		.events = (short)flags_of(poll_events, c->a[2]),
	};
	long rc = poll(&p, 1, (int)num(c, 3, 0));

	say_result(c->o, rc, errno);
	if (rc > 0) {
		say(c->o, " ");
		say_flags(c->o, poll_events, p.revents);
	}
}

/* settled NAME: what poll() says of everything, once it has stopped changing */
static void op_settled(struct call *c)
{
	struct pollfd p = {
		.fd = slot(c->a[1])->fd,
		.events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP,
	};
	short last = -1;
	int same = 0;

	while (same < 4) {
		poll(&p, 1, 0);
		same = p.revents == last ? same + 1 : 0;
		last = p.revents;
		usleep(20000);
	}
	say(c->o, "= ");
	say_flags(c->o, poll_events, last);
}

/* select NAME rwx MS */
static void op_select(struct call *c)
{
	struct timeval tv = { num(c, 3, 0) / 1000, num(c, 3, 0) % 1000 * 1000 };
	int fd = slot(c->a[1])->fd;
	fd_set f[3];
	long rc;
	int i;

	for (i = 0; i < 3; i++) {
		FD_ZERO(&f[i]);
		if (strchr(c->a[2], "rwx"[i]))
			FD_SET(fd, &f[i]);
	}
	rc = select(fd + 1, &f[0], &f[1], &f[2], &tv);
	say_result(c->o, rc, errno);
	for (i = 0; i < 3 && rc > 0; i++)
		if (FD_ISSET(fd, &f[i]))
			say(c->o, " %c", "rwx"[i]);
}

static void op_epoll(struct call *c)
{
	slot(c->a[1])->fd = epoll_create1(0);
	say(c->o, "= 0");
}

/* epadd|epmod|epdel EPOLL NAME [EVENTS] */
static void op_epctl(struct call *c)
{
	struct epoll_event ev = {
		.events = (uint32_t)flags_of(epoll_flags, arg(c, 3)),
		.data.u32 = (uint32_t)c->a[2][0],
	};
	int op = c->a[0][2] == 'a' ? EPOLL_CTL_ADD :
		 c->a[0][2] == 'm' ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	long rc = epoll_ctl(slot(c->a[1])->fd, op, slot(c->a[2])->fd, &ev);

	say_result(c->o, rc, errno);
}

static int by_slot(const void *a, const void *b)
{
	const struct epoll_event *x = a, *y = b;

	return (int)x->data.u32 - (int)y->data.u32;
}

/* epwait EPOLL MS */
static void op_epwait(struct call *c)
{
	struct epoll_event ev[16];
	long rc = epoll_wait(slot(c->a[1])->fd, ev, 16, (int)num(c, 2, 0));
	int i;

	say_result(c->o, rc, errno);
	if (rc > 0)
		qsort(ev, (size_t)rc, sizeof(*ev), by_slot);
	for (i = 0; i < rc; i++) {
		say(c->o, " %c:", ev[i].data.u32);
		say_flags(c->o, epoll_flags, (long)ev[i].events & 0xffff);
	}
}

static const struct option_name *option_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(option_names) / sizeof(*option_names); i++)
		if (!strcmp(option_names[i].name, name))
			return &option_names[i];
	fprintf(stderr, "sockapi: option '%s' is unknown\n", name);
	exit(2);
}

/* set NAME OPTION VALUE [LENGTH]; linger: onoff,seconds; times in ms */
static void op_set(struct call *c)
{
	const struct option_name *o = option_of(c->a[2]);
	long v = num(c, 3, 0);
	struct timeval tv = { v / 1000, v % 1000 * 1000 };
	struct linger l = { 0 };
	int i = (int)v;
	void *p = &i;
	socklen_t len = sizeof(i);
	long rc;

	if (o->kind == TIMEVAL) {
		p = &tv;
		len = sizeof(tv);
	} else if (o->kind == LINGER) {
		sscanf(c->a[3], "%d,%d", &l.l_onoff, &l.l_linger);
		p = &l;
		len = sizeof(l);
	} else if (o->kind == STRING) {
		p = c->a[3];
		len = (socklen_t)strlen(p);
	}
	if (c->n > 4)
		len = (socklen_t)num(c, 4, 0);
	rc = setsockopt(slot(c->a[1])->fd, o->level, o->opt, p, len);
	say_result(c->o, rc, errno);
}

static void op_get(struct call *c)
{
	const struct option_name *o = option_of(c->a[2]);
	union {
		int i;
		struct timeval tv;
		struct linger l;
		char s[64];
	} u = { .s = "" };
	socklen_t len = o->kind == INT ? sizeof(u.i) : o->kind == TIMEVAL ?
			sizeof(u.tv) : o->kind == LINGER ? sizeof(u.l) : sizeof(u.s);
	long rc;

	if (c->n > 3)
		len = (socklen_t)num(c, 3, 0);
	rc = getsockopt(slot(c->a[1])->fd, o->level, o->opt, &u, &len);
	say_result(c->o, rc, errno);
	if (rc)
		return;
	if (o->kind == TIMEVAL)
		say(c->o, " %ld ms", u.tv.tv_sec * 1000 + u.tv.tv_usec / 1000);
	else if (o->kind == LINGER)
		say(c->o, " %d,%d", u.l.l_onoff, u.l.l_linger);
	else if (o->kind == STRING)
		say(c->o, " '%.*s'", (int)len, u.s);
	else if (o->opt == SO_ERROR && o->level == SOL_SOCKET)
		say(c->o, " %s", u.i ? strerrorname_np(u.i) : "0");
	else
		say(c->o, " %d", u.i);
	say(c->o, " len %u", len);
}

/* info NAME: the state of TCP_INFO */
static void op_info(struct call *c)
{
	struct tcp_info ti = { };
	socklen_t len = sizeof(ti);
	long rc = getsockopt(slot(c->a[1])->fd, IPPROTO_TCP, TCP_INFO, &ti, &len);

	say_result(c->o, rc, errno);
	if (!rc)
		say(c->o, " state %u", ti.tcpi_state);
}

static void op_name(struct call *c)
{
	struct sockaddr_storage ss = { };
	socklen_t len = sizeof(ss);
	long rc;

	rc = (c->a[0][0] == 'n' ? getsockname : getpeername)
		(slot(c->a[1])->fd, (void *)&ss, &len);
	say_result(c->o, rc, errno);
	if (!rc)
		say_address(c->o, &ss, len);
}

static void op_block(struct call *c)
{
	int fd = slot(c->a[1])->fd, fl = fcntl(fd, F_GETFL);

	fl = c->a[0][0] == 'n' ? fl | O_NONBLOCK : fl & ~O_NONBLOCK;
	say(c->o, "= %d", fcntl(fd, F_SETFL, fl));
}

static void op_ioctl(struct call *c)
{
	unsigned long cmd = !strcmp(c->a[0], "inq") ? SIOCINQ :
			    !strcmp(c->a[0], "outq") ? SIOCOUTQ :
			    !strcmp(c->a[0], "outqnsd") ? SIOCOUTQNSD :
			    !strcmp(c->a[0], "atmark") ? SIOCATMARK : 0x1234;
	int v = -1;
	long rc = ioctl(slot(c->a[1])->fd, cmd, &v);

	say_result(c->o, rc, errno);
	if (!rc)
		say(c->o, " %d", v);
}

/* inqwait NAME N: until SIOCINQ is N */
static void op_qwait(struct call *c)
{
	unsigned long cmd = c->a[0][0] == 'i' ? SIOCINQ : SIOCOUTQ;
	int v = -1, fd = slot(c->a[1])->fd, want = (int)num(c, 2, 0);
	double end = now_ms() + 5000;

	while (!ioctl(fd, cmd, &v) && v != want && now_ms() < end)
		usleep(5000);
	say(c->o, "= %d", v);
}

/* fill NAME [CHUNK]: send without blocking until there is no room for long */
static void op_fill(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	size_t n = (size_t)num(c, 2, 8192);
	long rc = 0, total = 0;
	int full = 0;

	/* TCP's window probes and late ACKs make room once more */
	while (full < 10) {
		pattern_fill(buffer(), s->tx, n);
		rc = send(s->fd, iobuf, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (rc < 0 && errno != EAGAIN)
			break;
		if (rc < 0) {
			full++;
			usleep(40000);
			continue;
		}
		full = 0;
		s->tx += (uint64_t)rc;
		total += rc;
	}
	say(c->o, total > 0 ? "= some, then " : "= nothing, then ");
	say_result(c->o, rc, errno);
}

/* drain NAME BYTES|- [MS]: receive to the end; are these all? */
static void op_drain(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	uint64_t want = strtoull(c->a[2], NULL, 0);
	struct timeval tv = { num(c, 3, 10000) / 1000, 0 };
	long rc;

	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	do {
		rc = recv(s->fd, buffer(), 65536, 0);
		say_data(c->o, s, iobuf, rc, true);
	} while (rc > 0);
	say(c->o, "%s, then ", c->a[2][0] == '-' ? "some" : s->rx == want ? "all" : s->rx > want ? "TOO MUCH" :
	    s->rx ? "part" : "nothing");
	say_result(c->o, rc, errno);
}

/* take NAME BYTES: receive exactly that many */
static void op_take(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	uint64_t want = strtoull(c->a[2], NULL, 0);
	long rc = 1;

	while (want && rc > 0) {
		rc = recv(s->fd, buffer(), want < 65536 ? want : 65536, 0);
		say_data(c->o, s, iobuf, rc, true);
		if (rc > 0)
			want -= (uint64_t)rc;
	}
	if (want)
		say_result(c->o, rc, errno);
	else
		say(c->o, "= all");
}

/* put NAME BYTES [CHUNK]: send all of it */
static void op_put(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long n = num(c, 2, 1), chunk = num(c, 3, 65536), rc = 1;

	while (n && rc > 0) {
		long step = n < chunk ? n : chunk;

		pattern_fill(buffer(), s->tx, (unsigned long)step);
		rc = send(s->fd, iobuf, (size_t)step, MSG_NOSIGNAL);
		if (rc > 0) {
			n -= rc;
			s->tx += (uint64_t)rc;
		}
	}
	if (n)
		say_result(c->o, rc, errno);
	else
		say(c->o, "= all");
}

/* dup NAME NEW */
static void op_dup(struct call *c)
{
	struct slot *s = slot(c->a[1]), *n = slot(c->a[2]);

	*n = *s;
	n->fd = dup(s->fd);
	say_result(c->o, n->fd < 0 ? -1 : 0, errno);
}

/* passfd NAME NEW: through a UNIX socket; the old one is closed meanwhile */
static void op_passfd(struct call *c)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = { };
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = u.space, .msg_controllen = sizeof(u.space),
	};
	struct slot *s = slot(c->a[1]), *n = slot(c->a[2]);
	struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
	int sp[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sp))
		exit(2);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &s->fd, sizeof(int));
	sendmsg(sp[0], &m, 0);
	close(s->fd);
	s->fd = -1;
	recvmsg(sp[1], &m, 0);
	*n = *s;
	cm = CMSG_FIRSTHDR(&m);
	if (cm)
		memcpy(&n->fd, CMSG_DATA(cm), sizeof(int));
	say(c->o, cm ? "= 0" : "= nothing arrived");
	close(sp[0]);
	close(sp[1]);
}

/* forkhold: a child with all sockets, until forkend */
static void op_forkhold(struct call *c)
{
	int p[2];
	char x;

	if (pipe(p))
		exit(2);
	child = fork();
	if (!child) {
		close(p[1]);
		_exit(read(p[0], &x, 1) < 0);
	}
	close(p[0]);
	child_pipe = p[1];
	say(c->o, "= 0");
}

static void op_forkend(struct call *c)
{
	close(child_pipe);
	child_pipe = -1;
	waitpid(child, NULL, 0);
	child = 0;
	say(c->o, "= 0");
}

/* forkdo OP ...: in a child, which then exits */
static void run_op(struct call *c);

static void op_forkdo(struct call *c)
{
	struct call sub = { .n = c->n - 1, .o = c->o };
	int p[2], i;
	long n;

	for (i = 1; i < c->n; i++)
		sub.a[i - 1] = c->a[i];
	if (pipe(p))
		exit(2);
	child = fork();
	if (!child) {
		c->o->len = 0;
		run_op(&sub);
		_exit(write(p[1], c->o->text, c->o->len) < 0);
	}
	close(p[1]);
	while ((n = read(p[0], c->o->text + c->o->len,
			 sizeof(c->o->text) - c->o->len - 1)) > 0)
		c->o->len += (size_t)n;
	c->o->text[c->o->len] = 0;
	close(p[0]);
	waitpid(child, NULL, 0);
	child = 0;
	/* what it sent or received is one stream with ours */
	if (!strcmp(c->a[1], "send"))
		slot(c->a[2])->tx += (uint64_t)num(c, 3, 0);
	if (!strcmp(c->a[1], "recv"))
		slot(c->a[2])->rx += (uint64_t)num(c, 3, 0);
}

/* async NAME: SIGIO to us */
static void op_async(struct call *c)
{
	int fd = slot(c->a[1])->fd;

	fcntl(fd, F_SETOWN, getpid());
	sigs[SIGIO] = 0;
	say(c->o, "= %d", fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC));
}

/* signal NAME [MS]: was it there since we last asked? */
static void op_signal(struct call *c)
{
	long no = by_name(signal_names, c->a[1], strlen(c->a[1]));
	double end = now_ms() + (double)num(c, 2, 0);

	while (!sigs[no] && now_ms() < end)
		usleep(5000);
	/* no more to come */
	usleep(30000);
	say(c->o, "%s", sigs[no] ? "yes" : "no");
	sigs[no] = 0;
}

/* tkill N NAME: signal to the thread of C&N */
static void op_tkill(struct call *c)
{
	usleep(100000);
	pthread_kill(asyncs[num(c, 1, 0)].thread,
		     (int)by_name(signal_names, c->a[2], strlen(c->a[2])));
	say(c->o, "= 0");
}

static void op_sleep(struct call *c)
{
	usleep((useconds_t)num(c, 1, 0) * 1000);
	say(c->o, "= 0");
}

/*
 * uring recv|send|accept|connect|poll|shutdown|close NAME ARG [MS]
 * One request, one completion.
 */
static void op_uring(struct call *c)
{
	struct __kernel_timespec ts = { num(c, 4, 5000) / 1000,
					num(c, 4, 5000) % 1000 * 1000000 };
	struct slot *s = slot(c->a[2]);
	struct sockaddr_storage ss;
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	size_t n = (size_t)num(c, 3, 0);
	int rc, len;
	char op = c->a[1][0];

	rc = io_uring_queue_init(4, &ring, 0);
	if (rc < 0) {
		say(c->o, "io_uring_queue_init %s", strerrorname_np(-rc));
		return;
	}
	sqe = io_uring_get_sqe(&ring);
	switch (op) {
	case 'r':
		io_uring_prep_recv(sqe, s->fd, buffer(), n, 0);
		break;
	case 's':
		if (c->a[1][1] == 'h') {
			io_uring_prep_shutdown(sqe, s->fd, SHUT_WR);
			break;
		}
		pattern_fill(buffer(), s->tx, n);
		io_uring_prep_send(sqe, s->fd, iobuf, n, MSG_NOSIGNAL);
		break;
	case 'a':
		io_uring_prep_accept(sqe, s->fd, NULL, NULL, 0);
		break;
	case 'p':
		io_uring_prep_poll_add(sqe, s->fd,
				       (unsigned int)flags_of(poll_events, c->a[3]));
		break;
	default:
		if (s->fd < 0)
			open_socket(s);
		len = address(&ss, family, peer_host, base_port + (int)n);
		io_uring_prep_connect(sqe, s->fd, (void *)&ss, len);
		break;
	}
	io_uring_submit(&ring);
	rc = io_uring_wait_cqe_timeout(&ring, &cqe, &ts);
	if (rc < 0) {
		say(c->o, "no completion: %s", strerrorname_np(-rc));
	} else if (op == 'p' && cqe->res > 0) {
		say(c->o, "= ");
		say_flags(c->o, poll_events, cqe->res);
	} else if (op == 'a' && cqe->res >= 0) {
		*slot(c->a[3]) = (struct slot){ .fd = cqe->res };
		say(c->o, "= 0");
	} else {
		say_result(c->o, cqe->res < 0 ? -1 : cqe->res, -cqe->res);
		if (op == 'r')
			say_data(c->o, s, iobuf, cqe->res, true);
		if (op == 's' && cqe->res > 0 && c->a[1][1] != 'h')
			s->tx += (uint64_t)cqe->res;
		c->o->made = op == 'c' && !cqe->res;
	}
	io_uring_queue_exit(&ring);
}

/* timed LOW HIGH OP ...: did it take between LOW and HIGH ms? */
static void op_timed(struct call *c)
{
	struct call sub = { .n = c->n - 3, .o = c->o };
	double start = now_ms(), took;
	int i;

	for (i = 3; i < c->n; i++)
		sub.a[i - 3] = c->a[i];
	run_op(&sub);
	took = now_ms() - start;
	if (took < (double)num(c, 1, 0))
		say(c->o, " too early");
	if (took > (double)num(c, 2, 0))
		say(c->o, " too late");
}

static void op_wait(struct call *c)
{
	struct async *as = &asyncs[num(c, 1, 0)];
	double end = now_ms() + (double)num(c, 2, 10000);

	while (!__atomic_load_n(&as->done, __ATOMIC_ACQUIRE) && now_ms() < end)
		usleep(3000);
	if (!__atomic_load_n(&as->done, __ATOMIC_ACQUIRE)) {
		say(c->o, "blocks");
		return;
	}
	pthread_join(as->thread, NULL);
	as->used = false;
	say(c->o, "%s: %s", as->line, as->out.text);
	c->o->made = as->out.made;
}

static const struct {
	const char *name;
	void (*fn)(struct call *c);
} ops[] = {
	{ "socket", op_socket }, { "serve", op_serve }, { "bind", op_bind },
	{ "listen", op_listen }, { "connect", op_connect },
	{ "accept", op_accept }, { "send", op_send }, { "sendto", op_sendto },
	{ "recv", op_recv }, { "recvfrom", op_recvfrom },
	{ "recvmsg", op_recvmsg }, { "writev", op_vector },
	{ "readv", op_vector }, { "sendmsg", op_vector },
	{ "badmem", op_badmem }, { "sendfile", op_sendfile },
	{ "spliceout", op_spliceout }, { "splicein", op_splicein },
	{ "close", op_close }, { "shutdown", op_shutdown }, { "poll", op_poll },
	{ "settled", op_settled }, { "select", op_select },
	{ "epoll", op_epoll }, { "epadd", op_epctl }, { "epmod", op_epctl },
	{ "epdel", op_epctl }, { "epwait", op_epwait }, { "set", op_set },
	{ "get", op_get }, { "info", op_info }, { "name", op_name },
	{ "peer", op_name }, { "nonblock", op_block }, { "block", op_block },
	{ "inq", op_ioctl }, { "outq", op_ioctl }, { "outqnsd", op_ioctl },
	{ "atmark", op_ioctl }, { "badioctl", op_ioctl },
	{ "inqwait", op_qwait }, { "outqwait", op_qwait },
	{ "fill", op_fill }, { "drain", op_drain }, { "take", op_take },
	{ "put", op_put }, { "dup", op_dup }, { "passfd", op_passfd },
	{ "forkhold", op_forkhold }, { "forkend", op_forkend },
	{ "forkdo", op_forkdo }, { "async", op_async },
	{ "signal", op_signal }, { "tkill", op_tkill }, { "sleep", op_sleep },
	{ "uring", op_uring }, { "timed", op_timed }, { "wait", op_wait },
};

static void run_op(struct call *c)
{
	size_t i;

	for (i = 0; c->n && i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(ops[i].name, c->a[0])) {
			ops[i].fn(c);
			return;
		}
	fprintf(stderr, "sockapi: no operation '%s'\n", c->n ? c->a[0] : "");
	exit(2);
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

/* Everything of the last scenario goes; RST, so that nothing is left over */
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
	alarm(40);	/* nothing in a script takes so long: it hangs */
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

/* {Sa}: bytes sent on a of that side */
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

/* The peer's address of the family, from the IPv4 address of the lab */
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
