// SPDX-License-Identifier: GPL-2.0-only
/* The words of sockapi and sockcmd: flags, events, options, addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include "sockwords.h"

const struct name msg_flags[] = {
	{ "peek", MSG_PEEK }, { "waitall", MSG_WAITALL },
	{ "dontwait", MSG_DONTWAIT }, { "trunc", MSG_TRUNC },
	{ "more", MSG_MORE }, { "nosignal", MSG_NOSIGNAL }, { "oob", MSG_OOB },
	{ "errqueue", MSG_ERRQUEUE }, { "fastopen", MSG_FASTOPEN }, { }
};

const struct name poll_events[] = {
	{ "in", POLLIN }, { "pri", POLLPRI }, { "out", POLLOUT },
	{ "err", POLLERR }, { "hup", POLLHUP }, { "nval", POLLNVAL },
	{ "rdhup", POLLRDHUP }, { }
};

const struct name epoll_flags[] = {
	{ "in", EPOLLIN }, { "pri", EPOLLPRI }, { "out", EPOLLOUT },
	{ "err", EPOLLERR }, { "hup", EPOLLHUP }, { "rdhup", EPOLLRDHUP },
	{ "et", (long)EPOLLET }, { "oneshot", EPOLLONESHOT },
	{ "exclusive", EPOLLEXCLUSIVE }, { }
};

const struct name signal_names[] = {
	{ "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "IO", SIGIO },
	{ "PIPE", SIGPIPE }, { "URG", SIGURG }, { }
};

const struct name hows[] = {
	{ "rd", SHUT_RD }, { "wr", SHUT_WR }, { "rdwr", SHUT_RDWR },
	{ "bad", 77 }, { }
};

static const struct option_name option_names[] = {
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
	SOL(INCOMING_NAPI_ID, INT), SOL(MAX_PACING_RATE, INT), SOL(RESERVE_MEM, INT),
	SOL(LOCK_FILTER, INT), SOL(ATTACH_FILTER, FILTER), SOL(DETACH_FILTER, INT), SOL(NOFCS, INT), SOL(RXQ_OVFL, INT),
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
	{ "IPV6_FLOWLABEL_MGR", IPPROTO_IPV6, 32, LABEL },
};

void unknown(const char *what, const char *word, size_t len)
{
	fprintf(stderr, "%s: %s '%.*s' is unknown\n", program_invocation_short_name, what, (int)len, word);
	exit(2);
}

long by_name(const struct name *n, const char *s, size_t len)
{
	for (; n->name; n++)
		if (strlen(n->name) == len && !strncasecmp(n->name, s, len))
			return n->value;
	unknown("word", s, len);
	return 0;
}

/* a|b|c or a,b,c */
long flags_of(const struct name *n, const char *s)
{
	long v = 0;

	while (s && *s && *s != '-' && *s != '0') {
		size_t len = strcspn(s, "|,");

		v |= by_name(n, s, len);
		s += len + !!s[len];
	}
	return v;
}

const struct option_name *option_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(option_names) / sizeof(*option_names); i++)
		if (!strcmp(option_names[i].name, name))
			return &option_names[i];
	unknown("option", name, strlen(name));
	return NULL;
}

/*
 * An exclusive flow label with any number, which setsockopt() writes back to
 * the value; else EBADMSG. If the value's memory is read-only ("ro") the call
 * succeeds without writing it.
 */
static int flow_label(int fd, const struct option_name *o, const char *text)
{
	struct {		/* struct in6_flowlabel_req */
		struct in6_addr dst;
		uint32_t label;
		uint8_t action, share;
		uint16_t flags, expires, linger;
		uint32_t pad;
	} *req;
	bool ro = text && !strcmp(text, "ro");
	int rc, err;

	req = mmap(NULL, sizeof(*req), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (req == MAP_FAILED)
		return -1;
	req->dst.s6_addr[15] = 1;	/* ::1 */
	req->share = 1;			/* IPV6_FL_S_EXCL */
	req->flags = 1;			/* IPV6_FL_F_CREATE; the action 0 is IPV6_FL_A_GET */
	if (ro)
		mprotect(req, sizeof(*req), PROT_READ);
	rc = setsockopt(fd, o->level, o->opt, req, sizeof(*req));
	err = errno;
	if (!rc && !req->label != ro) {
		rc = -1;
		err = EBADMSG;
	}
	munmap(req, sizeof(*req));
	errno = err;
	return rc;
}

/* A program of one instruction: all packets pass */
static int filter_pass(int fd, int opt)
{
	struct sock_filter ret = { 6, 0, 0, 0x40000 };
	struct sock_fprog prog = { 1, &ret };

	return setsockopt(fd, SOL_SOCKET, opt, &prog, sizeof(prog));
}

/*
 * @text: a number; onoff,seconds of LINGER; ms of a time. @len: length to pass
 * instead of the value's, or -1.
 */
int option_set(int fd, const struct option_name *o, const char *text, long len)
{
	long v = text ? strtol(text, NULL, 0) : 0;
	struct timeval tv = { v / 1000, v % 1000 * 1000 };
	struct linger l = { 0 };
	int i = (int)v;
	const void *p = &i;
	socklen_t size = sizeof(i);

	if (o->kind == FILTER)
		return filter_pass(fd, o->opt);
	if (o->kind == LABEL)
		return flow_label(fd, o, text);
	if (o->kind == TIMEVAL) {
		p = &tv;
		size = sizeof(tv);
	} else if (o->kind == LINGER) {
		sscanf(text, "%d,%d", &l.l_onoff, &l.l_linger);
		p = &l;
		size = sizeof(l);
	} else if (o->kind == STRING) {
		p = text;
		size = (socklen_t)strlen(text);
	}
	return setsockopt(fd, o->level, o->opt, p, len < 0 ? size : (socklen_t)len);
}

/* @host: NULL is any; an IPv4 address becomes a mapped one for AF_INET6. */
socklen_t sock_address(struct sockaddr_storage *ss, int family, const char *host, int port)
{
	struct sockaddr_in6 *s6 = (void *)ss;
	struct sockaddr_in *s4 = (void *)ss;
	char text[80];

	memset(ss, 0, sizeof(*ss));
	if (family == AF_INET) {
		s4->sin_family = AF_INET;
		s4->sin_port = htons((uint16_t)port);
		if (host && inet_pton(AF_INET, host, &s4->sin_addr) != 1)
			unknown("address", host, strlen(host));
		return sizeof(*s4);
	}
	s6->sin6_family = AF_INET6;
	s6->sin6_port = htons((uint16_t)port);
	if (host && !strchr(host, ':')) {
		snprintf(text, sizeof(text), "::ffff:%s", host);
		host = text;
	}
	if (host && inet_pton(AF_INET6, host, &s6->sin6_addr) != 1)
		unknown("address", host, strlen(host));
	return sizeof(*s6);
}

double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}
