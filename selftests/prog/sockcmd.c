// SPDX-License-Identifier: GPL-2.0-only
/*
 * sockcmd: carries out socket calls given as arguments and prints one line for
 * each, e.g. "connect: ETIMEDOUT". Made for test cases that look at one call
 * at a time; a call that does not return in time is interrupted and reported
 * as TIMEOUT.
 *
 *	sockcmd [-t SECONDS] CALL[:ARG...][=EXPECTED] ...
 *
 *	socket[:smc|smc6|tcp|tcp6]	into the current slot (default smc)
 *	slot:N				choose the slot, 0..511
 *	accept:N			accept from slot N into the current one
 *	bind:ADDR:PORT  listen:PORT[:BACKLOG]  connect:ADDR:PORT
 *	disconnect			connect(AF_UNSPEC)
 *	send:N  recv:N			all N bytes of the test stream, checked
 *	write:N				one call, result is what it took
 *	fill				send until it would block (non-blocking)
 *	recvsome:N  peek:N		one call
 *	sendtext:TEXT  recvtext:N  recvhex:N	(they print what came)
 *	oob:TEXT
 *	shut:rd|wr|rdwr  close  linger:SECONDS (0 = abort)
 *	sndbuf:N  rcvbuf:N  nodelay:0|1
 *	keepalive:IDLE[:INTVL[:CNT]]	seconds, 0 = off; INTVL is IDLE if not given
 *	keepidle			prints TCP_KEEPIDLE
 *	md5:ADDR  ao:ADDR		sign segments from and to this peer
 *	ipsec				a policy of this socket: it sends in ESP only
 *	ulp:NAME  repair  zcrecv  zcsend  sockmap  sockhash  mmap
 *					what would work inside of TCP's data path
 *	block  nonblock  poll:MS	poll prints the events, e.g. IN,RDHUP
 *	pollfor:EVENTS:MS		wait until one of these events is there
 *	soerror  inq  outq
 *	limit:SECONDS			for the calls that follow, times $SLOW
 *	sleep:MS  start  elapsed:MIN:MAX (ms)
 *	mark:NAME  await:NAME		files in $CASEDIR, see case.sh
 *
 * Results: "ok", a number of bytes, "eof", an errno name, WRONG-DATA. What is
 * expected when nothing is said: success, all the bytes. Several results are
 * possible as A|B; "=any" takes all. Exit status 1 if something was different.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/sockios.h>
#include <linux/xfrm.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "pattern.h"

#ifndef AF_SMC
#define AF_SMC 43
#endif

enum { N_SLOTS = 512, CHUNK = 65536 };

static struct slot {
	int fd;
	int family;		/* of its addresses */
	unsigned long long sent, rcvd;
} slots[N_SLOTS], *s = slots;

static char result[256];
static int slow = 1, limit = 10;
static volatile sig_atomic_t late;
static long long watch;
static unsigned char buf[CHUNK];

static void on_alarm(int sig)
{
	(void)sig;
	late = 1;
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void bad(const char *what)
{
	fprintf(stderr, "sockcmd: %s\n", what);
	exit(2);
}

/* Result of a call that returned @rc; true if it failed */
static int outcome(long rc)
{
	if (rc >= 0) {
		snprintf(result, sizeof(result), "ok");
		return 0;
	}
	if (errno == EINTR && late)
		snprintf(result, sizeof(result), "TIMEOUT");
	else
		snprintf(result, sizeof(result), "%s", strerrorname_np(errno));
	return 1;
}

/* Some bytes and then an error */
static void partly(unsigned long done)
{
	char e[32];

	snprintf(e, sizeof(e), "%.30s", result);
	snprintf(result, sizeof(result), "%lu+%s", done, e);
}

static void number(long n)
{
	snprintf(result, sizeof(result), "%ld", n);
}

static void do_socket(const char *kind)
{
	int smc = !kind || !strncmp(kind, "smc", 3);
	int v6 = kind && kind[3] == '6';

	s->family = v6 ? AF_INET6 : AF_INET;
	s->fd = socket(smc ? AF_SMC : s->family, SOCK_STREAM, smc ? v6 : 0);
	s->sent = s->rcvd = 0;
	if (!outcome(s->fd)) {
		int on = 1;

		setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	}
}

static socklen_t address(struct sockaddr_storage *ss, const char *addr,
			 const char *port)
{
	struct sockaddr_in6 *a6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *a4 = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (s->family == AF_INET6) {
		a6->sin6_family = AF_INET6;
		a6->sin6_port = htons((unsigned short)atoi(port));
		if (*addr && inet_pton(AF_INET6, addr, &a6->sin6_addr) != 1)
			bad(addr);
		return sizeof(*a6);
	}
	a4->sin_family = AF_INET;
	a4->sin_port = htons((unsigned short)atoi(port));
	if (*addr && inet_pton(AF_INET, addr, &a4->sin_addr) != 1)
		bad(addr);
	return sizeof(*a4);
}

static void do_addr(const char *call, char *arg)
{
	char *port = arg ? strrchr(arg, ':') : NULL;
	struct sockaddr_storage ss;
	socklen_t len;

	if (!port)
		bad("ADDR:PORT is missing");
	*port++ = 0;
	len = address(&ss, arg, port);
	if (*call == 'b')
		outcome(bind(s->fd, (struct sockaddr *)&ss, len));
	else
		outcome(connect(s->fd, (struct sockaddr *)&ss, len));
}

static void do_disconnect(void)
{
	struct sockaddr any = { .sa_family = AF_UNSPEC };

	outcome(connect(s->fd, &any, sizeof(any)));
}

static void do_listen(char *arg)
{
	char *backlog = arg ? strchr(arg, ':') : NULL;
	struct sockaddr_storage ss;
	socklen_t len;

	if (!arg)
		bad("listen:PORT");
	if (backlog)
		*backlog++ = 0;
	len = address(&ss, "", arg);
	if (outcome(bind(s->fd, (struct sockaddr *)&ss, len)))
		return;
	outcome(listen(s->fd, backlog ? atoi(backlog) : 64));
}

static void do_accept(int from)
{
	s->fd = accept(slots[from].fd, NULL, NULL);
	s->family = slots[from].family;
	s->sent = s->rcvd = 0;
	outcome(s->fd);
}

static void do_send(unsigned long n)
{
	unsigned long done = 0;

	while (done < n) {
		unsigned long len = n - done < CHUNK ? n - done : CHUNK;
		ssize_t rc;

		pattern_fill(buf, s->sent, len);
		rc = send(s->fd, buf, len, MSG_NOSIGNAL);
		if (rc < 0) {
			outcome(rc);
			if (done) {
				partly(done);
			}
			return;
		}
		done += (unsigned long)rc;
		s->sent += (unsigned long)rc;
	}
	number((long)done);
}

static void do_write(unsigned long n)
{
	unsigned char *p = malloc(n);
	ssize_t rc;

	pattern_fill(p, s->sent, n);
	rc = send(s->fd, p, n, MSG_NOSIGNAL);
	free(p);
	if (outcome(rc))
		return;
	s->sent += (unsigned long)rc;
	number(rc);
}

static void do_fill(void)
{
	unsigned long done = 0;
	ssize_t rc;

	for (;;) {
		pattern_fill(buf, s->sent, CHUNK);
		rc = send(s->fd, buf, CHUNK, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (rc < 0)
			break;
		s->sent += (unsigned long)rc;
		done += (unsigned long)rc;
	}
	if (errno != EAGAIN)
		outcome(rc);
	else
		number((long)done);
}

static void do_recv(unsigned long n, int flags, int once)
{
	unsigned long done = 0;

	while (done < n) {
		unsigned long len = n - done < CHUNK ? n - done : CHUNK;
		ssize_t rc = recv(s->fd, buf, len, flags);

		if (rc < 0) {
			outcome(rc);
			if (done) {
				partly(done);
			}
			return;
		}
		if (!rc) {
			if (done)
				snprintf(result, sizeof(result), "%lu+eof",
					 done);
			else
				snprintf(result, sizeof(result), "eof");
			return;
		}
		if (pattern_diff(buf, s->rcvd, (unsigned long)rc) >= 0) {
			snprintf(result, sizeof(result), "WRONG-DATA");
			return;
		}
		done += (unsigned long)rc;
		if (!(flags & MSG_PEEK))
			s->rcvd += (unsigned long)rc;
		if (once)
			break;
	}
	number((long)done);
}

static void do_recvtext(unsigned long n, int hex)
{
	unsigned long done = 0, i;

	if (n > 100)
		bad("recvtext: at most 100");
	while (done < n) {
		ssize_t rc = recv(s->fd, buf + done, n - done, 0);

		if (rc < 0) {
			outcome(rc);
			return;
		}
		if (!rc)
			break;
		done += (unsigned long)rc;
	}
	if (!done)
		snprintf(result, sizeof(result), "eof");
	else if (!hex)
		snprintf(result, sizeof(result), "%.*s", (int)done, buf);
	else
		for (i = 0; i < done; i++)
			snprintf(result + 2 * i, 3, "%02x", buf[i]);
}

static const struct {
	const char *name;
	short bit;
} events[] = {
	{ "IN", POLLIN }, { "PRI", POLLPRI }, { "OUT", POLLOUT },
	{ "ERR", POLLERR }, { "HUP", POLLHUP }, { "RDHUP", POLLRDHUP },
};

static void do_poll(const char *want, int ms)
{
	struct pollfd p = { .fd = s->fd,
			    .events = POLLIN | POLLPRI | POLLOUT | POLLRDHUP };
	size_t i, n = 0;

	if (want) {
		p.events = 0;
		for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
			if (strstr(want, events[i].name))
				p.events |= events[i].bit;
	}
	if (poll(&p, 1, ms) < 0) {
		outcome(-1);
		return;
	}
	snprintf(result, sizeof(result), "none");
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (p.revents & events[i].bit)
			n += (size_t)snprintf(result + n, sizeof(result) - n,
					      "%s%s", n ? "," : "",
					      events[i].name);
}

static void do_mark(const char *name)
{
	char path[512], tmp[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/mark.%s",
		 getenv("CASEDIR") ?: ".", name);
	snprintf(tmp, sizeof(tmp), "%s.tmp%d", path, (int)getpid());
	f = fopen(tmp, "w");
	if (!f || fputc('\n', f) == EOF || fclose(f))
		bad(tmp);
	outcome(rename(tmp, path));
}

/* As in case.sh: a mark is there when it is not empty */
static void do_await(const char *name)
{
	struct stat st;
	char path[512];

	snprintf(path, sizeof(path), "%s/mark.%s",
		 getenv("CASEDIR") ?: ".", name);
	while (stat(path, &st) || !st.st_size) {
		if (late) {
			snprintf(result, sizeof(result), "TIMEOUT");
			return;
		}
		usleep(20000);
	}
	snprintf(result, sizeof(result), "ok");
}

static void option(int level, int opt, int value)
{
	outcome(setsockopt(s->fd, level, opt, &value, sizeof(value)));
}

static void do_keepalive(const char *arg)
{
	int idle = 0, intvl = 0, cnt = 0, n;

	n = arg ? sscanf(arg, "%d:%d:%d", &idle, &intvl, &cnt) : 0;
	if (n < 1)
		bad("keepalive:IDLE[:INTVL[:CNT]]");
	option(SOL_SOCKET, SO_KEEPALIVE, idle != 0);
	if (!idle)
		return;
	option(IPPROTO_TCP, TCP_KEEPIDLE, idle);
	option(IPPROTO_TCP, TCP_KEEPINTVL, n > 1 ? intvl : idle);
	if (n > 2)
		option(IPPROTO_TCP, TCP_KEEPCNT, cnt);
}

/* TCP_AO_ADD_KEY of Linux 6.7 */
struct ao_key {
	struct sockaddr_storage addr;
	char alg_name[64];
	int ifindex;
	unsigned int flags;
	unsigned short reserved;
	unsigned char prefix, sndid, rcvid, maclen, keyflags, keylen, key[80];
} __attribute__((aligned(8)));

static void do_sign(const char *call, const char *addr)
{
	struct tcp_md5sig md5 = { .tcpm_keylen = 6, .tcpm_key = "secret" };
	struct ao_key ao = {
		.alg_name = "hmac(sha1)", .sndid = 1, .rcvid = 1,
		.keylen = 6, .key = "secret",
	};

	if (!addr)
		bad("the peer's address is missing");
	address(&md5.tcpm_addr, addr, "0");
	address(&ao.addr, addr, "0");
	ao.prefix = s->family == AF_INET6 ? 128 : 32;
	if (*call == 'm')
		outcome(setsockopt(s->fd, IPPROTO_TCP, TCP_MD5SIG, &md5,
				   sizeof(md5)));
	else
		outcome(setsockopt(s->fd, IPPROTO_TCP, 38, &ao, sizeof(ao)));
}

/* IPv4, transport mode; the host has the keys */
static void do_ipsec(void)
{
	struct {
		struct xfrm_userpolicy_info info;
		struct xfrm_user_tmpl tmpl;
	} pol = {
		.info = {
			.sel.family = AF_INET, .dir = XFRM_POLICY_OUT,
			.lft = { XFRM_INF, XFRM_INF, XFRM_INF, XFRM_INF },
		},
		.tmpl = {
			.id.proto = IPPROTO_ESP, .family = AF_INET, .reqid = 1,
			.aalgos = ~0U, .ealgos = ~0U, .calgos = ~0U,
		},
	};

	outcome(setsockopt(s->fd, IPPROTO_IP, IP_XFRM_POLICY, &pol,
			   sizeof(pol)));
}

/* Into a map from which BPF programs would take over its data */
static void do_sockmap(unsigned int type)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = 4, .value_size = 4,
		.max_entries = 1,
	};
	int map, key = 0;

	map = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (map < 0) {
		snprintf(result, sizeof(result), "nomap");
		return;
	}
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (unsigned int)map;
	attr.key = (unsigned long)&key;
	attr.value = (unsigned long)&s->fd;
	outcome((int)syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr,
			     sizeof(attr)));
	close(map);
}

static void do_bypass(const char *call, const char *arg)
{
	struct tcp_zerocopy_receive zc = { .address = 0 };
	socklen_t len = sizeof(zc);
	void *p;

	if (!strcmp(call, "ulp")) {
		outcome(setsockopt(s->fd, IPPROTO_TCP, TCP_ULP, arg,
				   (socklen_t)strlen(arg)));
	} else if (!strcmp(call, "repair")) {
		option(IPPROTO_TCP, TCP_REPAIR, 1);
	} else if (!strcmp(call, "zcrecv")) {
		outcome(getsockopt(s->fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE,
				   &zc, &len));
	} else if (!strcmp(call, "zcsend")) {
		option(SOL_SOCKET, SO_ZEROCOPY, 1);
	} else if (!strcmp(call, "mmap")) {
		p = mmap(NULL, 65536, PROT_READ, MAP_SHARED, s->fd, 0);
		outcome(p == MAP_FAILED ? -1 : 0);
	} else {
		do_sockmap(!strcmp(call, "sockmap") ? BPF_MAP_TYPE_SOCKMAP :
			   BPF_MAP_TYPE_SOCKHASH);
	}
}

static void do_elapsed(char *arg)
{
	char *max = arg ? strchr(arg, ':') : NULL;
	long long t = now_ms() - watch;

	if (!max)
		bad("elapsed:MIN:MAX");
	if (t >= atoi(arg) && t <= (long long)atoi(max + 1) * slow)
		snprintf(result, sizeof(result), "ok");
	else
		number((long)t);
}

static void run(const char *call, char *arg)
{
	unsigned long n = arg ? strtoul(arg, NULL, 0) : 0;
	struct linger lin = { .l_onoff = 1, .l_linger = (int)n };
	int v = 0;

	if (!strcmp(call, "socket")) {
		do_socket(arg);
	} else if (!strcmp(call, "slot")) {
		if (n >= N_SLOTS)
			bad("slot 0..511");
		s = &slots[n];
		outcome(0);
	} else if (!strcmp(call, "accept")) {
		do_accept((int)n);
	} else if (!strcmp(call, "bind") || !strcmp(call, "connect")) {
		do_addr(call, arg);
	} else if (!strcmp(call, "disconnect")) {
		do_disconnect();
	} else if (!strcmp(call, "listen")) {
		do_listen(arg);
	} else if (!strcmp(call, "send")) {
		do_send(n);
	} else if (!strcmp(call, "write")) {
		do_write(n);
	} else if (!strcmp(call, "fill")) {
		do_fill();
	} else if (!strcmp(call, "recv")) {
		do_recv(n, 0, 0);
	} else if (!strcmp(call, "recvsome")) {
		do_recv(n, 0, 1);
	} else if (!strcmp(call, "peek")) {
		do_recv(n, MSG_PEEK, 1);
	} else if (!strcmp(call, "sendtext")) {
		outcome(send(s->fd, arg, strlen(arg), MSG_NOSIGNAL));
	} else if (!strcmp(call, "oob")) {
		outcome(send(s->fd, arg, strlen(arg), MSG_NOSIGNAL | MSG_OOB));
	} else if (!strcmp(call, "recvtext") || !strcmp(call, "recvhex")) {
		do_recvtext(n, call[4] == 'h');
	} else if (!strcmp(call, "shut")) {
		outcome(shutdown(s->fd, !strcmp(arg, "rd") ? SHUT_RD :
				 !strcmp(arg, "wr") ? SHUT_WR : SHUT_RDWR));
	} else if (!strcmp(call, "close")) {
		outcome(close(s->fd));
		s->fd = -1;
	} else if (!strcmp(call, "linger")) {
		outcome(setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &lin,
				   sizeof(lin)));
	} else if (!strcmp(call, "sndbuf")) {
		option(SOL_SOCKET, SO_SNDBUF, (int)n);
	} else if (!strcmp(call, "rcvbuf")) {
		option(SOL_SOCKET, SO_RCVBUF, (int)n);
	} else if (!strcmp(call, "nodelay")) {
		option(IPPROTO_TCP, TCP_NODELAY, (int)n);
	} else if (!strcmp(call, "keepalive")) {
		do_keepalive(arg);
	} else if (!strcmp(call, "keepidle")) {
		socklen_t len = sizeof(v);

		if (!outcome(getsockopt(s->fd, IPPROTO_TCP, TCP_KEEPIDLE, &v,
					&len)))
			number(v);
	} else if (!strcmp(call, "md5") || !strcmp(call, "ao")) {
		do_sign(call, arg);
	} else if (!strcmp(call, "ipsec")) {
		do_ipsec();
	} else if (!strcmp(call, "ulp") || !strcmp(call, "repair") ||
		   !strcmp(call, "zcrecv") || !strcmp(call, "zcsend") ||
		   !strcmp(call, "mmap") || !strcmp(call, "sockmap") ||
		   !strcmp(call, "sockhash")) {
		do_bypass(call, arg);
	} else if (!strcmp(call, "block") || !strcmp(call, "nonblock")) {
		v = fcntl(s->fd, F_GETFL);
		outcome(fcntl(s->fd, F_SETFL, *call == 'b' ? v & ~O_NONBLOCK :
			      v | O_NONBLOCK));
	} else if (!strcmp(call, "poll")) {
		do_poll(NULL, (int)n);
	} else if (!strcmp(call, "pollfor")) {
		char *ms = arg ? strrchr(arg, ':') : NULL;

		if (!ms)
			bad("pollfor:EVENTS:MS");
		*ms++ = 0;
		do_poll(arg, atoi(ms) * slow);
	} else if (!strcmp(call, "soerror")) {
		socklen_t len = sizeof(v);

		if (!outcome(getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &v, &len)) &&
		    v)
			snprintf(result, sizeof(result), "%s",
				 strerrorname_np(v));
	} else if (!strcmp(call, "inq")) {
		if (!outcome(ioctl(s->fd, SIOCINQ, &v)))
			number(v);
	} else if (!strcmp(call, "outq")) {
		if (!outcome(ioctl(s->fd, SIOCOUTQ, &v)))
			number(v);
	} else if (!strcmp(call, "limit")) {
		limit = (int)n;
		outcome(0);
	} else if (!strcmp(call, "sleep")) {
		usleep((useconds_t)n * 1000);
		outcome(0);
	} else if (!strcmp(call, "start")) {
		watch = now_ms();
		outcome(0);
	} else if (!strcmp(call, "elapsed")) {
		do_elapsed(arg);
	} else if (!strcmp(call, "mark")) {
		do_mark(arg);
	} else if (!strcmp(call, "await")) {
		do_await(arg);
	} else {
		bad(call);
	}
}

static int counts(const char *call)
{
	return !strcmp(call, "send") || !strcmp(call, "recv") ||
	       !strcmp(call, "write");
}

static int prints(const char *call)
{
	return !strncmp(call, "poll", 4) || !strcmp(call, "recvtext") ||
	       !strcmp(call, "recvhex") || !strcmp(call, "inq") || !strcmp(call, "outq") ||
	       !strcmp(call, "recvsome") || !strcmp(call, "fill") ||
	       !strcmp(call, "keepidle") || !strcmp(call, "peek");
}

/* @want is A|B|C */
static int one_of(const char *want, const char *have)
{
	size_t len;

	if (!strcmp(want, "any"))
		return 1;
	for (; *want; want += len + (want[len] == '|')) {
		len = strcspn(want, "|");
		if (strlen(have) == len && !memcmp(want, have, len))
			return 1;
	}
	return 0;
}

static int step(char *word)
{
	char *want = strrchr(word, '='), *arg, call[32], shown[128];
	struct sigaction sa = { .sa_handler = on_alarm };

	if (want)
		*want++ = 0;
	snprintf(shown, sizeof(shown), "%s", word);
	arg = strchr(word, ':');
	if (arg)
		*arg++ = 0;
	snprintf(call, sizeof(call), "%s", word);
	if (!want)
		want = counts(call) ? arg : prints(call) ? "any" : "ok";

	late = 0;
	sigaction(SIGALRM, &sa, NULL);		/* no SA_RESTART */
	alarm((unsigned int)(limit * slow));
	run(call, arg ? strdup(arg) : NULL);
	alarm(0);
	if (one_of(want, result)) {
		printf("%s: %s\n", shown, result);
		return 0;
	}
	printf("%s: %s, expected %s\n", shown, result, want);
	return 1;
}

int main(int argc, char **argv)
{
	const char *env = getenv("SLOW");
	int i, rc = 0;

	if (env && atoi(env) > 0)
		slow = atoi(env);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < N_SLOTS; i++)
		slots[i].fd = -1;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-t") && i + 1 < argc) {
			limit = atoi(argv[++i]);
			continue;
		}
		rc |= step(argv[i]);
	}
	return rc;
}
