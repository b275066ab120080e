// SPDX-License-Identifier: GPL-2.0-only
/*
 * sockcmd: carries out socket calls given as arguments and prints one line for
 * each, e.g. "connect: ETIMEDOUT". Made for test cases that look at one call
 * at a time; a call that does not return in time is interrupted and reported
 * as TIMEOUT.
 *
 *	sockcmd [-a] [-t SECONDS] CALL[:ARG...][=EXPECTED] ...
 *
 *	socket[:smc|smc6|tcp|tcp6]	into the current slot (default smc)
 *	slot:N				choose the slot, 0..1023
 *	accept:N			accept from slot N into the current one
 *	bind:ADDR:PORT  listen:PORT[:BACKLOG]  connect:ADDR:PORT
 *	disconnect			connect(AF_UNSPEC)
 *	send:N  recv:N			all N bytes of the test stream, checked
 *	write:N				one call, result is what it took
 *	fill				send until it would block (non-blocking)
 *	recvsome:N  peek:N		one call
 *	sendtext:TEXT  recvtext:N  recvhex:N	(they print what came)
 *	oob:TEXT  sendoob:N		MSG_OOB, one call; the last byte is urgent
 *	recvoob				prints the urgent byte
 *	atmark  own  urg		SIOCATMARK; SIGURG to this process; has it come since?
 *	skip:N				bytes of the test stream that will not be received
 *	shut:rd|wr|rdwr  close  linger:SECONDS (0 = abort)
 *	set:OPTION:VALUE		an option by the names of sockwords.c, e.g. TCP_MAXSEG
 *	sndbuf:N  rcvbuf:N  nodelay:0|1	short for some of them
 *	keepalive:IDLE[:INTVL[:CNT]]	seconds, 0 = off; INTVL is IDLE if not given
 *	keepidle			prints TCP_KEEPIDLE
 *	md5:ADDR  ao:ADDR		sign segments from and to this peer
 *	ipsec[:in]			a policy of this socket: it sends in ESP only, or receives in ESP if the peer sends so
 *	ulp:NAME  repair  zcrecv  zcsend  sockmap  sockhash  mmap
 *					features that work inside of TCP's data path
 *	block  nonblock  poll:MS	poll prints the events, e.g. IN,RDHUP
 *	pollfor:EVENTS:MS		wait until one of these events is there
 *	soerror  inq  outq
 *	limit:SECONDS			for the calls that follow, times $SLOW
 *	sleep:MS  start  elapsed:MIN:MAX (ms)
 *	mark:NAME  await:NAME		files in $CASEDIR, see case.sh
 *
 * With -a there are marks of each accepted connection: accepted.PORT, by the
 * peer's port, when accept() has returned, and taken.PORT at its first byte.
 * accept() returns connections in the order in which their handshakes end; a
 * peer that needs an order waits for these marks.
 *
 * Results: "ok", a number of bytes, "eof", an errno name, WRONG-DATA. Expected
 * by default: success, all the bytes. Several results are possible as A|B;
 * "=any" takes all. Exit status 1 if a result was not expected.
 */
#include <ctype.h>
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
#include <unistd.h>
#include "pattern.h"
#include "sockwords.h"

enum { N_SLOTS = 1024, CHUNK = 65536 };

static struct slot {
	int fd;
	int family;		/* of its addresses */
	unsigned long long sent, rcvd;
	int port;		/* of the peer with -a, else 0 */
} slots[N_SLOTS], *s = slots;

/* One call: its name, the text behind the colon, and that as a number */
struct call {
	const char *name;
	char *arg;
	unsigned long n;
};

static char result[256];
static int slow = 1, limit = 10, tell;
static volatile sig_atomic_t late;
static sigset_t urg;
static double watch;
static unsigned char buf[CHUNK];

static void on_alarm(int sig)
{
	(void)sig;
	late = 1;
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

static void do_socket(struct call *c)
{
	const char *kind = c->arg;
	int smc = !kind || !strncmp(kind, "smc", 3);
	int v6 = kind && kind[3] == '6';

	s->family = v6 ? AF_INET6 : AF_INET;
	s->fd = try_stream(smc, s->family);
	s->sent = s->rcvd = 0;
	if (!outcome(s->fd)) {
		int on = 1;

		setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	}
}

static void do_addr(struct call *c)
{
	char *arg = c->arg, *port = arg ? strrchr(arg, ':') : NULL;
	struct sockaddr_storage ss;
	socklen_t len;

	if (!port)
		bad("ADDR:PORT is missing");
	*port++ = 0;
	len = sock_address(&ss, s->family, *arg ? arg : NULL, atoi(port));
	if (*c->name == 'b')
		outcome(bind(s->fd, (struct sockaddr *)&ss, len));
	else
		outcome(connect(s->fd, (struct sockaddr *)&ss, len));
}

static void do_disconnect(struct call *c)
{
	struct sockaddr any = { .sa_family = AF_UNSPEC };

	(void)c;
	outcome(connect(s->fd, &any, sizeof(any)));
}

static void do_listen(struct call *c)
{
	char *arg = c->arg, *backlog = arg ? strchr(arg, ':') : NULL;
	struct sockaddr_storage ss;
	socklen_t len;

	if (!arg)
		bad("listen:PORT");
	if (backlog)
		*backlog++ = 0;
	len = sock_address(&ss, s->family, NULL, atoi(arg));
	if (outcome(bind(s->fd, (struct sockaddr *)&ss, len)))
		return;
	outcome(listen(s->fd, backlog ? atoi(backlog) : 64));
}

static void put_mark(const char *name)
{
	char path[512], tmp[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/mark.%s", getenv("CASEDIR") ?: ".", name);
	snprintf(tmp, sizeof(tmp), "%s.tmp%d", path, (int)getpid());
	f = fopen(tmp, "w");
	if (!f || fputc('\n', f) == EOF || fclose(f) || rename(tmp, path))
		bad(tmp);
}

/* Mark for a peer that waits for it, see the top */
static void tell_peer(const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%d", what, s->port);
	put_mark(name);
}

static void do_accept(struct call *c)
{
	unsigned long from = c->n < N_SLOTS ? c->n : 0;
	struct sockaddr_in6 a;	/* the port of either family is there */
	socklen_t len = sizeof(a);

	s->fd = accept(slots[from].fd, NULL, NULL);
	s->family = slots[from].family;
	s->sent = s->rcvd = 0;
	s->port = 0;
	if (outcome(s->fd) || !tell || getpeername(s->fd, (struct sockaddr *)&a, &len))
		return;
	s->port = ntohs(a.sin6_port);
	tell_peer("accepted");
}

/* @n more bytes were received */
static void took(unsigned long n)
{
	if (!s->rcvd && s->port)
		tell_peer("taken");
	s->rcvd += n;
}

static void do_send(struct call *c)
{
	unsigned long n = c->n, done = 0;

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

static void do_write(struct call *c)
{
	unsigned long n = c->n;
	unsigned char *p = malloc(n);
	ssize_t rc;

	pattern_fill(p, s->sent, n);
	rc = send(s->fd, p, n, MSG_NOSIGNAL | (*c->name == 's' ? MSG_OOB : 0));
	free(p);
	if (outcome(rc))
		return;
	s->sent += (unsigned long)rc;
	number(rc);
}

static void do_fill(struct call *c)
{
	unsigned long done = 0;
	ssize_t rc;

	(void)c;
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

static void do_recv(struct call *c)
{
	int flags = *c->name == 'p' ? MSG_PEEK : 0, once = strcmp(c->name, "recv");
	unsigned long n = c->n, done = 0;

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
			took((unsigned long)rc);
		if (once)
			break;
	}
	number((long)done);
}

static void do_recvtext(struct call *c)
{
	unsigned long n = c->n, done = 0, i;
	int hex = c->name[4] == 'h';

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

/* poll:MS  pollfor:EVENTS:MS */
static void do_poll(struct call *c)
{
	struct pollfd p = { .fd = s->fd,
			    .events = POLLIN | POLLPRI | POLLOUT | POLLRDHUP };
	char *ms = NULL, *x;
	const struct name *e;
	size_t n = 0;

	if (c->name[4]) {
		ms = c->arg ? strrchr(c->arg, ':') : NULL;
		if (!ms)
			bad("pollfor:EVENTS:MS");
		*ms++ = 0;
		p.events = (short)flags_of(poll_events, c->arg);
	}
	if (poll(&p, 1, ms ? atoi(ms) * slow : (int)c->n) < 0) {
		outcome(-1);
		return;
	}
	snprintf(result, sizeof(result), "none");
	for (e = poll_events; e->name; e++)
		if (p.revents & e->value)
			n += (size_t)snprintf(result + n, sizeof(result) - n,
					      "%s%s", n ? "," : "", e->name);
	for (x = result; n && *x; x++)
		*x = (char)toupper(*x);
}

static void do_mark(struct call *c)
{
	put_mark(c->arg);
	outcome(0);
}

/* As in case.sh: a mark is there when it is not empty */
static void do_await(struct call *c)
{
	struct stat st;
	char path[512];

	snprintf(path, sizeof(path), "%s/mark.%s",
		 getenv("CASEDIR") ?: ".", c->arg);
	while (stat(path, &st) || !st.st_size) {
		if (late) {
			snprintf(result, sizeof(result), "TIMEOUT");
			return;
		}
		usleep(20000);
	}
	snprintf(result, sizeof(result), "ok");
}

static void set_option(const char *option, const char *value)
{
	outcome(option_set(s->fd, option_of(option), value, -1));
}

static void do_keepalive(struct call *c)
{
	char *arg = c->arg, *intvl = arg ? strchr(arg, ':') : NULL, *cnt;

	if (!arg)
		bad("keepalive:IDLE[:INTVL[:CNT]]");
	if (intvl)
		*intvl++ = 0;
	cnt = intvl ? strchr(intvl, ':') : NULL;
	if (cnt)
		*cnt++ = 0;
	set_option("KEEPALIVE", atoi(arg) ? "1" : "0");
	if (!atoi(arg))
		return;
	set_option("TCP_KEEPIDLE", arg);
	set_option("TCP_KEEPINTVL", intvl ? intvl : arg);
	if (cnt)
		set_option("TCP_KEEPCNT", cnt);
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

static void do_sign(struct call *c)
{
	const char *addr = c->arg;
	struct tcp_md5sig md5 = { .tcpm_keylen = 6, .tcpm_key = "secret" };
	struct ao_key ao = {
		.alg_name = "hmac(sha1)", .sndid = 1, .rcvid = 1,
		.keylen = 6, .key = "secret",
	};

	if (!addr)
		bad("the peer's address is missing");
	sock_address(&ao.addr, s->family, addr, 0);
	md5.tcpm_addr = ao.addr;
	ao.prefix = s->family == AF_INET6 ? 128 : 32;
	if (*c->name == 'm')
		outcome(setsockopt(s->fd, IPPROTO_TCP, TCP_MD5SIG, &md5,
				   sizeof(md5)));
	else
		outcome(setsockopt(s->fd, IPPROTO_TCP, 38, &ao, sizeof(ao)));
}

/* IPv4, transport mode; the host has the keys */
static void do_ipsec(struct call *c)
{
	bool in = c->arg && !strcmp(c->arg, "in");
	struct {
		struct xfrm_userpolicy_info info;
		struct xfrm_user_tmpl tmpl;
	} pol = {
		.info = {
			.sel.family = AF_INET,
			.dir = in ? XFRM_POLICY_IN : XFRM_POLICY_OUT,
			.lft = { XFRM_INF, XFRM_INF, XFRM_INF, XFRM_INF },
		},
		.tmpl = {
			.id.proto = IPPROTO_ESP, .family = AF_INET, .reqid = 1,
			.aalgos = ~0U, .ealgos = ~0U, .calgos = ~0U,
			.optional = in,
		},
	};

	outcome(setsockopt(s->fd, IPPROTO_IP, IP_XFRM_POLICY, &pol,
			   sizeof(pol)));
}

/* Into a map whose BPF programs would handle the socket's data */
static void do_sockmap(struct call *c)
{
	union bpf_attr attr = {
		.map_type = !strcmp(c->name, "sockmap") ? BPF_MAP_TYPE_SOCKMAP : BPF_MAP_TYPE_SOCKHASH,
		 .key_size = 4, .value_size = 4,
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

static void do_zcrecv(struct call *c)
{
	struct tcp_zerocopy_receive zc = { .address = 0 };
	socklen_t len = sizeof(zc);

	(void)c;
	outcome(getsockopt(s->fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &zc, &len));
}

static void do_mmap(struct call *c)
{
	void *p = mmap(NULL, 65536, PROT_READ, MAP_SHARED, s->fd, 0);

	(void)c;
	outcome(p == MAP_FAILED ? -1 : 0);
}

static void do_elapsed(struct call *c)
{
	char *arg = c->arg, *max = arg ? strchr(arg, ':') : NULL;
	long long t = (long long)(now_ms() - watch);

	if (!max)
		bad("elapsed:MIN:MAX");
	if (t >= atoi(arg) && t <= (long long)atoi(max + 1) * slow)
		snprintf(result, sizeof(result), "ok");
	else
		number((long)t);
}

static void do_slot(struct call *c)
{
	if (c->n >= N_SLOTS)
		bad("slot 0..511");
	s = &slots[c->n];
	outcome(0);
}

static void do_text(struct call *c)
{
	outcome(send(s->fd, c->arg, strlen(c->arg), MSG_NOSIGNAL |
		     (*c->name == 'o' ? MSG_OOB : 0)));
}

static void do_recvoob(struct call *c)
{
	char byte;

	(void)c;
	if (!outcome(recv(s->fd, &byte, 1, MSG_OOB)))
		snprintf(result, sizeof(result), "%c", byte);
}

/* Blocked: SIGURG interrupts no call, and several pending ones are one */
static void do_own(struct call *c)
{
	(void)c;
	sigemptyset(&urg);
	sigaddset(&urg, SIGURG);
	sigprocmask(SIG_BLOCK, &urg, NULL);
	outcome(fcntl(s->fd, F_SETOWN, getpid()));
}

static void do_urg(struct call *c)
{
	struct timespec none = { };

	(void)c;
	number(sigtimedwait(&urg, NULL, &none) == SIGURG);
}

static void do_skip(struct call *c)
{
	s->rcvd += c->n;
	outcome(0);
}

static void do_shut(struct call *c)
{
	outcome(shutdown(s->fd, (int)by_name(hows, c->arg, strlen(c->arg))));
}

static void do_close(struct call *c)
{
	(void)c;
	outcome(close(s->fd));
	s->fd = -1;
}

/* 0: abort */
static void do_linger(struct call *c)
{
	char value[32];

	snprintf(value, sizeof(value), "1,%lu", c->n);
	set_option("LINGER", value);
}

/* set:OPTION:VALUE */
static void do_set(struct call *c)
{
	char *value = c->arg ? strchr(c->arg, ':') : NULL;

	if (!value)
		bad("set:OPTION:VALUE");
	*value++ = 0;
	set_option(c->arg, value);
}

static void do_keepidle(struct call *c)
{
	socklen_t len = sizeof(int);
	int v;

	(void)c;
	if (!outcome(getsockopt(s->fd, IPPROTO_TCP, TCP_KEEPIDLE, &v, &len)))
		number(v);
}

static void do_soerror(struct call *c)
{
	socklen_t len = sizeof(int);
	int v;

	(void)c;
	if (!outcome(getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &v, &len)) && v)
		snprintf(result, sizeof(result), "%s", strerrorname_np(v));
}

static void do_block(struct call *c)
{
	int v = fcntl(s->fd, F_GETFL);

	outcome(fcntl(s->fd, F_SETFL, *c->name == 'b' ? v & ~O_NONBLOCK : v | O_NONBLOCK));
}

static void do_queue(struct call *c)
{
	int v;

	if (!outcome(ioctl(s->fd, *c->name == 'i' ? SIOCINQ :
				  *c->name == 'a' ? SIOCATMARK : SIOCOUTQ, &v)))
		number(v);
}

static void do_limit(struct call *c)
{
	limit = (int)c->n;
	outcome(0);
}

static void do_sleep(struct call *c)
{
	usleep((useconds_t)c->n * 1000);
	outcome(0);
}

static void do_start(struct call *c)
{
	(void)c;
	watch = now_ms();
	outcome(0);
}

/* What is expected by default */
enum want { OK, ALL, ANY };

static const struct {
	const char *name;
	void (*fn)(struct call *c);
	enum want want;
	const char *option;	/* instead of fn: the option to set */
	const char *value;	/* the option's default value */
} calls[] = {
	{ "socket", .fn = do_socket }, { "slot", .fn = do_slot }, { "accept", .fn = do_accept },
	{ "bind", .fn = do_addr }, { "connect", .fn = do_addr },
	{ "disconnect", .fn = do_disconnect }, { "listen", .fn = do_listen },
	{ "send", .fn = do_send, .want = ALL }, { "write", .fn = do_write, .want = ALL },
	{ "fill", .fn = do_fill, .want = ANY }, { "recv", .fn = do_recv, .want = ALL },
	{ "recvsome", .fn = do_recv, .want = ANY }, { "peek", .fn = do_recv, .want = ANY },
	{ "sendoob", .fn = do_write, .want = ALL }, { "recvoob", .fn = do_recvoob, .want = ANY },
	{ "own", .fn = do_own }, { "urg", .fn = do_urg, .want = ANY }, { "skip", .fn = do_skip },
	{ "atmark", .fn = do_queue, .want = ANY },
	{ "sendtext", .fn = do_text }, { "oob", .fn = do_text },
	{ "recvtext", .fn = do_recvtext, .want = ANY },
	{ "recvhex", .fn = do_recvtext, .want = ANY }, { "shut", .fn = do_shut },
	{ "close", .fn = do_close }, { "linger", .fn = do_linger }, { "set", .fn = do_set },
	{ "sndbuf", .option = "SNDBUF" }, { "rcvbuf", .option = "RCVBUF" },
	{ "nodelay", .option = "TCP_NODELAY" }, { "ulp", .option = "TCP_ULP" },
	{ "repair", .option = "TCP_REPAIR", .value = "1" },
	{ "zcsend", .option = "ZEROCOPY", .value = "1" }, { "keepalive", .fn = do_keepalive },
	{ "keepidle", .fn = do_keepidle, .want = ANY }, { "md5", .fn = do_sign },
	{ "ao", .fn = do_sign }, { "ipsec", .fn = do_ipsec }, { "zcrecv", .fn = do_zcrecv },
	{ "mmap", .fn = do_mmap }, { "sockmap", .fn = do_sockmap },
	{ "sockhash", .fn = do_sockmap }, { "block", .fn = do_block },
	{ "nonblock", .fn = do_block }, { "poll", .fn = do_poll, .want = ANY },
	{ "pollfor", .fn = do_poll, .want = ANY }, { "soerror", .fn = do_soerror },
	{ "inq", .fn = do_queue, .want = ANY }, { "outq", .fn = do_queue, .want = ANY },
	{ "limit", .fn = do_limit }, { "sleep", .fn = do_sleep }, { "start", .fn = do_start },
	{ "elapsed", .fn = do_elapsed }, { "mark", .fn = do_mark }, { "await", .fn = do_await },
};

/* Return: the result that is expected by default */
static enum want run(struct call *c)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(calls[i].name, c->name))
			continue;
		if (calls[i].fn)
			calls[i].fn(c);
		else if (c->arg || calls[i].value)
			set_option(calls[i].option, c->arg ? c->arg : calls[i].value);
		else
			bad("a value is missing");
		return calls[i].want;
	}
	unknown("call", c->name, strlen(c->name));
	return OK;
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
	char *want = strrchr(word, '='), *arg, shown[128];
	static const char *const wants[] = { [OK] = "ok", [ANY] = "any" };
	struct sigaction sa = { .sa_handler = on_alarm };
	struct call call;
	enum want kind;

	if (want)
		*want++ = 0;
	snprintf(shown, sizeof(shown), "%s", word);
	arg = strchr(word, ':');
	if (arg)
		*arg++ = 0;
	call = (struct call){ word, arg ? strdup(arg) : NULL, arg ? strtoul(arg, NULL, 0) : 0 };

	late = 0;
	sigaction(SIGALRM, &sa, NULL);		/* no SA_RESTART */
	alarm((unsigned int)(limit * slow));
	kind = run(&call);
	alarm(0);
	if (!want)
		want = kind == ALL ? arg : (char *)wants[kind];
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
		if (!strcmp(argv[i], "-a")) {
			tell = 1;
			continue;
		}
		rc |= step(argv[i]);
	}
	return rc;
}
