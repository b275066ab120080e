// SPDX-License-Identifier: GPL-2.0-only
/* Common functions of the RDMA programs; rdma.h describes each. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "rdma.h"

struct rd_args rd = { .wait = 10000 };
const struct rd_conf rd_defaults = { .send_wr = 64, .recv_wr = 64, .rnr_retry = 7, .rnr_timer = 12 };

static struct rd_option *table;
static int checks, bad;

/* ---- messages and checks -------------------------------------------------- */

static void complain(const char *what, const char *why, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "%s: %s%s", program_invocation_short_name, what, *what ? ": " : "");
	vfprintf(stderr, why, args);
	fputc('\n', stderr);
}

void rd_fail(const char *what, const char *why, ...)
{
	va_list args;

	va_start(args, why);
	complain(what, why, args);
	exit(RD_FAILED);
}

void rd_fail_errno(const char *what)
{
	rd_fail(what, "%s", strerror(errno));
}

void rd_skip(const char *why, ...)
{
	va_list args;

	va_start(args, why);
	complain("", why, args);
	exit(RD_SKIP);
}

void rd_wrong(const char *why, ...)
{
	va_list args;

	va_start(args, why);
	complain("", why, args);
	exit(RD_USAGE);
}

bool rd_check(bool good, const char *text, ...)
{
	va_list args;

	checks++;
	bad += !good;
	fputs(good ? "ok " : "not ok ", stdout);
	va_start(args, text);
	vprintf(text, args);
	va_end(args);
	putchar('\n');
	return good;
}

bool rd_equal(const char *text, uint64_t got, uint64_t want)
{
	if (got == want)
		return rd_check(true, "%s (%llu)", text, (unsigned long long)got);
	return rd_check(false, "%s: %llu, expected %llu", text, (unsigned long long)got, (unsigned long long)want);
}

int rd_result(void)
{
	return checks && !bad ? RD_OK : RD_FAILED;
}

int64_t rd_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void rd_nap(int ms)
{
	poll(NULL, 0, ms);
}

/* ---- the command line ----------------------------------------------------- */

static struct rd_option *find(const char *name, size_t len)
{
	for (struct rd_option *o = table; o && o->name; o++)
		if (strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	return NULL;
}

const char *rd_option(const char *name)
{
	struct rd_option *o = find(name, strlen(name));

	if (!o)
		rd_fail(name, "the program does not know this option of its own");
	return o->value;
}

static uint64_t number(const char *name, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long n;
	int shift = 0;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (*end == 'k' || *end == 'K')
		shift = 10;
	else if (*end == 'm' || *end == 'M')
		shift = 20;
	else if (*end == 'g' || *end == 'G')
		shift = 30;
	if (*text < '0' || *text > '9' || errno || end[!!shift] || n > UINT64_MAX >> shift ||
	    n << shift < min || n << shift > max)
		rd_wrong("%s=%s: a number from %llu to %llu is needed", name, text, (unsigned long long)min,
			 (unsigned long long)max);
	return n << shift;
}

/* Only decimal digits: 010 in octal would be another port. */
static uint16_t port_of(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long n = strtoul(text, NULL, 10);

	if (!digits || text[digits] || n < 1 || n > 65535)
		rd_wrong("port: %s is not 1 to 65535", *text ? text : "''");
	return (uint16_t)n;
}

uint64_t rd_number(const char *name, uint64_t min, uint64_t max)
{
	return number(name, rd_option(name), min, max);
}

static void help(const char *about, bool one_sided)
{
	const char *p = program_invocation_short_name;

	if (one_sided)
		printf("usage: %s [KEY=VALUE...]\n", p);
	else
		printf("usage: %s server PORT [KEY=VALUE...]\n       %s client HOST PORT [KEY=VALUE...]\n", p, p);
	printf("\n%s\n\n", about);
	for (struct rd_option *o = table; o && o->name; o++)
		printf("  %s=%s\n\t%s\n", o->name, o->value, o->what);
	printf("  wait=10\n\tlimit of every single wait, in seconds\n\n");
	printf("Exit status: 0 as it should be, 1 not so, 2 wrong command line, 4 no RDMA device.\n");
}

void rd_need_device(void)
{
	struct ibv_device **list;
	int n = 0;

	/* checked first: without a device, the library would print a line of its own */
	list = ibv_get_device_list(&n);
	if (!list || !n)
		rd_skip("this machine has no RDMA device (rdma link add rxe0 type rxe netdev eth0)");
	ibv_free_device_list(list);
}

void rd_start(int argc, char **argv, const char *about, struct rd_option *options, bool one_sided)
{
	const char *eq;
	int i = 1;

	table = options;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int j = 1; j < argc; j++) {
		if (!strcmp(argv[j], "--help") || !strcmp(argv[j], "-h")) {
			help(about, one_sided);
			exit(RD_OK);
		}
	}
	if (!one_sided) {
		rd.server = argc > 1 && !strcmp(argv[1], "server");
		if (rd.server && argc > 2)
			i = 3;
		else if (argc > 3 && !strcmp(argv[1], "client"))
			i = 4;
		else
			rd_wrong("'server PORT' or 'client HOST PORT' is needed (--help)");
		rd.host = rd.server ? NULL : argv[2];
		rd.port = argv[i - 1];
		if (rd.host && !*rd.host)
			rd_wrong("HOST is empty (--help)");
		port_of(rd.port);
	}
	for (; i < argc; i++) {
		struct rd_option *o;

		eq = strchr(argv[i], '=');
		if (!eq)
			rd_wrong("'%s' is not KEY=VALUE (--help)", argv[i]);
		if (!strncmp(argv[i], "wait=", 5)) {
			rd.wait = (int)number("wait", eq + 1, 1, 100000) * 1000;
			continue;
		}
		o = find(argv[i], (size_t)(eq - argv[i]));
		if (!o)
			rd_wrong("there is no option '%.*s' (--help)", (int)(eq - argv[i]), argv[i]);
		o->value = eq + 1;
	}
}

/* ---- memory ---------------------------------------------------------------- */

struct rd_mem rd_memory(struct ibv_pd *pd, size_t len, int access)
{
	struct rd_mem m = { .len = len };

	m.buf = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m.buf == MAP_FAILED)
		rd_fail_errno("memory");
	m.mr = ibv_reg_mr(pd, m.buf, len, access);
	if (!m.mr)
		rd_fail_errno("ibv_reg_mr");
	return m;
}

void rd_free(struct rd_mem *mem)
{
	if (mem->mr && ibv_dereg_mr(mem->mr))
		rd_fail_errno("ibv_dereg_mr");
	if (mem->buf)
		munmap(mem->buf, mem->len);
	memset(mem, 0, sizeof(*mem));
}

struct rd_cap rd_cap_of(const struct rd_mem *mem)
{
	return (struct rd_cap){ .addr = (uintptr_t)mem->buf, .rkey = mem->mr->rkey, .length = (uint32_t)mem->len };
}

void rd_cap_pack(uint8_t to[RD_CAP_BYTES], const struct rd_cap *cap)
{
	uint64_t addr = htobe64(cap->addr);
	uint32_t rkey = htobe32(cap->rkey), length = htobe32(cap->length);

	memcpy(to, &addr, 8);
	memcpy(to + 8, &rkey, 4);
	memcpy(to + 12, &length, 4);
}

struct rd_cap rd_cap_unpack(const uint8_t from[RD_CAP_BYTES])
{
	uint64_t addr;
	uint32_t rkey, length;

	memcpy(&addr, from, 8);
	memcpy(&rkey, from + 8, 4);
	memcpy(&length, from + 12, 4);
	return (struct rd_cap){ .addr = be64toh(addr), .rkey = be32toh(rkey), .length = be32toh(length) };
}

/* The CM of InfiniBand delivers the whole field, padded with zeros. */
static struct rd_cap cap_in(const struct rdma_conn_param *param)
{
	if (!param->private_data || param->private_data_len < RD_CAP_BYTES)
		return (struct rd_cap){ 0 };
	return rd_cap_unpack(param->private_data);
}

/* ---- events of the connection manager -------------------------------------- */

static struct rdma_event_channel *event_channel(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	if (!ch && (errno == ENODEV || errno == ENOENT))
		rd_skip("this kernel has no RDMA connection manager (modprobe rdma_ucm)");
	if (!ch)
		rd_fail_errno("rdma_create_event_channel");
	if (fcntl(ch->fd, F_SETFL, fcntl(ch->fd, F_GETFL) | O_NONBLOCK))
		rd_fail_errno("event channel");
	return ch;
}

/* The next event before @until, to be acknowledged by the caller; NULL if there is none */
static struct rdma_cm_event *event(struct rdma_event_channel *ch, int64_t until)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	struct rdma_cm_event *e;
	int64_t left;

	for (;;) {
		if (!rdma_get_cm_event(ch, &e))
			return e;
		if (errno != EAGAIN && errno != EINTR)
			rd_fail_errno("rdma_get_cm_event");
		left = until - rd_now();
		if (left < 0)
			return NULL;
		poll(&p, 1, (int)left + 1);
	}
}

/* The route to an address may use an interface without RDMA, such as lo for an own address. */
static void no_way(const char *host, int error)
{
	if (error == ENODEV)
		rd_fail("", "no RDMA device on the way to %s; use the card's address", host);
	rd_fail(host, "%s", strerror(error));
}

static struct rdma_cm_event *expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, const char *what)
{
	struct rdma_cm_event *e = event(ch, rd_now() + rd.wait);

	if (!e)
		rd_fail(what, "no answer within %d s", rd.wait / 1000);
	if (e->event == type)
		return e;
	if (e->event == RDMA_CM_EVENT_ADDR_ERROR && e->status < 0)
		no_way(what, -e->status);
	/* 8: invalid service ID, of which the port is a part */
	if (e->event == RDMA_CM_EVENT_REJECTED && e->status == 8)
		rd_fail(what, "rejected: nobody listens on this port (reason 8)");
	if (e->event == RDMA_CM_EVENT_REJECTED)
		rd_fail(what, "rejected (reason %d)", e->status);
	rd_fail(what, "%s, %s", rdma_event_str(e->event), e->status < 0 ? strerror(-e->status) : "no more is known");
}

/* Processes pending events of an established connection */
static void look(struct rd_conn *c)
{
	struct rdma_cm_event *e;

	while ((e = event(c->id->channel, 0))) {
		if (e->event == RDMA_CM_EVENT_DISCONNECTED || e->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			c->gone = true;
		rdma_ack_cm_event(e);
	}
}

/* ---- connections ------------------------------------------------------------ */

void rd_make_cq(struct ibv_context *context, struct rd_cq *q, unsigned int depth)
{
	q->armed = false;
	q->channel = ibv_create_comp_channel(context);
	if (!q->channel)
		rd_fail_errno("ibv_create_comp_channel");
	if (fcntl(q->channel->fd, F_SETFL, fcntl(q->channel->fd, F_GETFL) | O_NONBLOCK))
		rd_fail_errno("completion channel");
	q->cq = ibv_create_cq(context, (int)depth + 1, NULL, q->channel, 0);
	if (!q->cq)
		rd_fail_errno("ibv_create_cq");
}

void rd_free_cq(struct rd_cq *q)
{
	ibv_destroy_cq(q->cq);
	ibv_destroy_comp_channel(q->channel);
}

static struct rd_conn *equip(struct rdma_cm_id *id, const struct rd_conf *conf)
{
	struct ibv_qp_init_attr qa = { .qp_type = IBV_QPT_RC, .sq_sig_all = 0 };
	struct rd_conn *c = calloc(1, sizeof(*c));
	struct ibv_device_attr dev;

	if (!c)
		rd_fail_errno("memory");
	if (!conf)
		conf = &rd_defaults;
	c->id = id;
	id->context = c;
	c->rnr_retry = conf->rnr_retry;
	c->rnr_timer = conf->rnr_timer;
	if (ibv_query_device(id->verbs, &dev))
		rd_fail_errno("ibv_query_device");
	c->depth = dev.max_qp_init_rd_atom < 16 ? (uint8_t)dev.max_qp_init_rd_atom : 16;
	c->resources = dev.max_qp_rd_atom < 16 ? (uint8_t)dev.max_qp_rd_atom : 16;
	c->own_pd = !conf->pd;
	c->pd = conf->pd ? conf->pd : ibv_alloc_pd(id->verbs);
	if (!c->pd)
		rd_fail_errno("ibv_alloc_pd");
	rd_make_cq(id->verbs, &c->send, conf->send_wr);
	rd_make_cq(id->verbs, &c->recv, conf->recv_wr);
	qa.send_cq = c->send.cq;
	qa.recv_cq = c->recv.cq;
	qa.cap.max_send_wr = conf->send_wr;
	qa.cap.max_recv_wr = conf->recv_wr;
	qa.cap.max_send_sge = 1;
	qa.cap.max_recv_sge = 1;
	qa.cap.max_inline_data = conf->inline_bytes;
	if (rdma_create_qp(id, c->pd, &qa))
		rd_fail_errno("rdma_create_qp");
	c->qp = id->qp;
	return c;
}

struct rdma_cm_id *rd_listen(const char *port)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port_of(port)) };
	struct rdma_cm_id *id;

	rd_need_device();
	if (rdma_create_id(event_channel(), &id, NULL, RDMA_PS_TCP))
		rd_fail_errno("rdma_create_id");
	if (rdma_bind_addr(id, (struct sockaddr *)&any) || rdma_listen(id, 8)) {
		/* The errors of rdma_cm if another listener to all addresses has the port */
		if (errno == EADDRNOTAVAIL || errno == EADDRINUSE)
			rd_fail("listen", "port %u is in use", ntohs(any.sin6_port));
		rd_fail_errno("listen");
	}
	return id;
}

void rd_unlisten(struct rdma_cm_id *listener)
{
	struct rdma_event_channel *ch = listener->channel;

	rdma_destroy_id(listener);
	rdma_destroy_event_channel(ch);
}

struct rd_conn *rd_request(struct rdma_cm_id *listener, const struct rd_conf *conf)
{
	struct rdma_cm_event *e = expect(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, "waiting for a client");
	struct rdma_conn_param asked = e->param.conn;
	struct rdma_cm_id *id = e->id;
	struct rd_cap peer = cap_in(&e->param.conn);
	struct rd_conn *c;

	rdma_ack_cm_event(e);
	/* a separate event channel for this connection */
	if (rdma_migrate_id(id, event_channel()))
		rd_fail_errno("rdma_migrate_id");
	c = equip(id, conf);
	c->peer = peer;
	if (asked.initiator_depth < c->resources)
		c->resources = asked.initiator_depth;
	if (asked.responder_resources < c->depth)
		c->depth = asked.responder_resources;
	return c;
}

static struct rdma_conn_param conn_param(const struct rd_conn *c, uint8_t *private, const struct rd_cap *give)
{
	struct rdma_conn_param p = {
		.responder_resources = c->resources,
		.initiator_depth = c->depth,
		.retry_count = 7,
		.rnr_retry_count = c->rnr_retry,
	};

	if (give) {
		rd_cap_pack(private, give);
		p.private_data = private;
		p.private_data_len = RD_CAP_BYTES;
	}
	return p;
}

/* rdma_cm leaves the code 0, which means 655 ms. */
static void set_rnr_timer(struct rd_conn *c)
{
	struct ibv_qp_attr a = { .min_rnr_timer = c->rnr_timer };

	if (ibv_modify_qp(c->qp, &a, IBV_QP_MIN_RNR_TIMER))
		rd_fail("RNR timer", "%s", strerror(errno));
}

void rd_accept(struct rd_conn *c, const struct rd_cap *give)
{
	uint8_t private[RD_CAP_BYTES];
	struct rdma_conn_param p = conn_param(c, private, give);

	if (rdma_accept(c->id, &p))
		rd_fail_errno("rdma_accept");
	set_rnr_timer(c);
	rdma_ack_cm_event(expect(c->id->channel, RDMA_CM_EVENT_ESTABLISHED, "accept"));
}

struct rd_conn *rd_open(const char *host, const char *port, const struct rd_conf *conf)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *ai;
	struct rdma_cm_id *id;
	int rc;

	rd_need_device();
	rc = getaddrinfo(host, port, &hints, &ai);
	if (rc)
		rd_fail(host, "%s", gai_strerror(rc));
	if (rdma_create_id(event_channel(), &id, NULL, RDMA_PS_TCP))
		rd_fail_errno("rdma_create_id");
	if (rdma_resolve_addr(id, NULL, ai->ai_addr, rd.wait))
		no_way(host, errno);
	rdma_ack_cm_event(expect(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED, host));
	freeaddrinfo(ai);
	if (rdma_resolve_route(id, rd.wait))
		no_way(host, errno);
	rdma_ack_cm_event(expect(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, host));
	return equip(id, conf);
}

void rd_connect(struct rd_conn *c, const struct rd_cap *give)
{
	uint8_t private[RD_CAP_BYTES];
	struct rdma_conn_param p = conn_param(c, private, give);
	struct rdma_cm_event *e;

	if (rdma_connect(c->id, &p))
		rd_fail_errno("rdma_connect");
	e = expect(c->id->channel, RDMA_CM_EVENT_ESTABLISHED, "connect");
	c->peer = cap_in(&e->param.conn);
	rdma_ack_cm_event(e);
	set_rnr_timer(c);
}

static bool wait_gone(struct rd_conn *c, int ms)
{
	int64_t until = rd_now() + ms;
	struct pollfd p = { .fd = c->id->channel->fd, .events = POLLIN };

	for (look(c); !c->gone && rd_now() < until; look(c))
		poll(&p, 1, (int)(until - rd_now()) + 1);
	return c->gone;
}

void rd_wait_gone(struct rd_conn *c)
{
	if (!wait_gone(c, rd.wait))
		rd_fail("waiting for the peer's end", "nothing within %d s", rd.wait / 1000);
}

void rd_quiet(struct rd_conn *c)
{
	if (!rdma_disconnect(c->id))
		wait_gone(c, rd.wait < 2000 ? rd.wait : 2000);
}

void rd_close(struct rd_conn *c)
{
	struct rdma_event_channel *ch = c->id->channel;

	rd_quiet(c);
	rdma_destroy_qp(c->id);
	rd_free_cq(&c->send);
	rd_free_cq(&c->recv);
	rdma_destroy_id(c->id);
	rdma_destroy_event_channel(ch);
	if (c->own_pd && ibv_dealloc_pd(c->pd))
		rd_fail("ibv_dealloc_pd", "memory of this connection is still registered");
	free(c);
}

enum ibv_qp_state rd_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	if (ibv_query_qp(qp, &a, IBV_QP_STATE, &init))
		rd_fail_errno("ibv_query_qp");
	return a.qp_state;
}

bool rd_reaches(struct ibv_qp *qp, enum ibv_qp_state state)
{
	int64_t until = rd_now() + rd.wait;

	while (rd_state(qp) != state) {
		if (rd_now() > until)
			return false;
		rd_nap(5);
	}
	return true;
}

const char *rd_state_name(enum ibv_qp_state state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return (unsigned int)state < 7 ? names[state] : "unknown";
}

/* ---- work ------------------------------------------------------------------- */

int rd_post(struct rd_conn *c, const struct rd_wr *wr)
{
	struct ibv_sge sge = { .length = (uint32_t)wr->len };
	struct ibv_send_wr *first_bad, s = {
		.wr_id = wr->id,
		.opcode = wr->op,
		.sg_list = &sge,
		.num_sge = wr->mem && wr->len,
		.send_flags = (wr->silent ? 0 : IBV_SEND_SIGNALED) | (wr->inlined ? IBV_SEND_INLINE : 0),
		.imm_data = htonl(wr->imm),
	};

	if (wr->mem) {
		sge.addr = (uintptr_t)wr->mem->buf + wr->off;
		sge.lkey = wr->mem->mr ? wr->mem->mr->lkey : 0;
	}
	if (wr->op == IBV_WR_ATOMIC_CMP_AND_SWP || wr->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		s.wr.atomic.remote_addr = wr->to.addr + wr->to_off;
		s.wr.atomic.rkey = wr->to.rkey;
		s.wr.atomic.compare_add = wr->add;
		s.wr.atomic.swap = wr->swap;
	} else {
		s.wr.rdma.remote_addr = wr->to.addr + wr->to_off;
		s.wr.rdma.rkey = wr->to.rkey;
	}
	return ibv_post_send(c->qp, &s, &first_bad);
}

int rd_post_recv(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len)
{
	struct ibv_sge sge = { .length = (uint32_t)len };
	struct ibv_recv_wr *first_bad, r = { .wr_id = id, .sg_list = &sge, .num_sge = mem && len };

	if (mem) {
		sge.addr = (uintptr_t)mem->buf + off;
		sge.lkey = mem->mr->lkey;
	}
	return ibv_post_recv(c->qp, &r, &first_bad);
}

static void must_post(struct rd_conn *c, const struct rd_wr *wr)
{
	int rc = rd_post(c, wr);

	if (rc)
		rd_fail("ibv_post_send", "%s", strerror(rc));
}

void rd_write(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t to_off)
{
	struct rd_wr wr = {
		.id = id, .op = IBV_WR_RDMA_WRITE, .mem = mem, .off = off, .len = len, .to = c->peer,
		.to_off = to_off,
	};

	must_post(c, &wr);
}

void rd_write_imm(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t to_off,
		  uint32_t imm)
{
	struct rd_wr wr = {
		.id = id, .op = IBV_WR_RDMA_WRITE_WITH_IMM, .mem = mem, .off = off, .len = len,
		.to = c->peer, .to_off = to_off, .imm = imm,
	};

	must_post(c, &wr);
}

void rd_read(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t from_off)
{
	struct rd_wr wr = {
		.id = id, .op = IBV_WR_RDMA_READ, .mem = mem, .off = off, .len = len, .to = c->peer,
		.to_off = from_off,
	};

	must_post(c, &wr);
}

void rd_send(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len)
{
	struct rd_wr wr = { .id = id, .op = IBV_WR_SEND, .mem = mem, .off = off, .len = len };

	must_post(c, &wr);
}

void rd_recv(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len)
{
	int rc = rd_post_recv(c, id, mem, off, len);

	if (rc)
		rd_fail("ibv_post_recv", "%s", strerror(rc));
}

void rd_fetch_add(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, uint64_t to_off, uint64_t add)
{
	struct rd_wr wr = {
		.id = id, .op = IBV_WR_ATOMIC_FETCH_AND_ADD, .mem = mem, .off = off, .len = 8,
		.to = c->peer, .to_off = to_off, .add = add,
	};

	must_post(c, &wr);
}

void rd_compare_swap(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, uint64_t to_off,
		     uint64_t compare, uint64_t swap)
{
	struct rd_wr wr = {
		.id = id, .op = IBV_WR_ATOMIC_CMP_AND_SWP, .mem = mem, .off = off, .len = 8,
		.to = c->peer, .to_off = to_off, .add = compare, .swap = swap,
	};

	must_post(c, &wr);
}

/* ---- completions ------------------------------------------------------------ */

static void drain(struct rd_cq *q)
{
	struct ibv_cq *cq;
	void *context;

	while (!ibv_get_cq_event(q->channel, &cq, &context)) {
		ibv_ack_cq_events(cq, 1);
		q->armed = false;
	}
	if (errno != EAGAIN && errno != EINTR)
		rd_fail_errno("ibv_get_cq_event");
}

#define GRACE 1000	/* milliseconds */

bool rd_next(struct rd_conn *c, struct rd_cq *q, struct ibv_wc *wc, int ms)
{
	int64_t until = rd_now() + (ms < 0 ? rd.wait : ms);
	struct pollfd p[2] = { { .fd = q->channel->fd, .events = POLLIN },
			       { .fd = c ? c->id->channel->fd : -1, .events = POLLIN } };
	bool last = false, gone = false;
	int n;

	for (;;) {
		n = ibv_poll_cq(q->cq, 1, wc);
		if (n < 0)
			rd_fail("ibv_poll_cq", "%d", n);
		if (n)
			return true;
		if (!q->armed) {
			/* Poll once more: a completion before the request gives no event. */
			if (ibv_req_notify_cq(q->cq, 0))
				rd_fail_errno("ibv_req_notify_cq");
			q->armed = true;
			continue;
		}
		if (last)
			return false;
		if (c && c->gone && !gone) {
			/* The CM's event may overtake completions of earlier requests. */
			gone = true;
			if (until > rd_now() + GRACE)
				until = rd_now() + GRACE;
		}
		if (rd_now() < until)
			poll(p, 2, (int)(until - rd_now()) + 1);
		drain(q);
		if (c)
			look(c);
		last = rd_now() >= until;
	}
}

static const char *queue_name(const struct rd_conn *c, const struct rd_cq *q)
{
	return q == &c->send ? "send queue" : "receive queue";
}

static struct ibv_wc must_next(struct rd_conn *c, struct rd_cq *q, uint64_t id)
{
	struct ibv_wc wc;

	if (rd_next(c, q, &wc, -1))
		return wc;
	if (c->gone)
		rd_fail(queue_name(c, q), "the peer has disconnected, request %llu is not complete",
			(unsigned long long)id);
	rd_fail(queue_name(c, q), "no completion of request %llu within %d s", (unsigned long long)id, rd.wait / 1000);
}

struct ibv_wc rd_done(struct rd_conn *c, struct rd_cq *q, uint64_t id)
{
	struct ibv_wc wc = must_next(c, q, id);

	if (wc.status != IBV_WC_SUCCESS)
		rd_fail(queue_name(c, q), "request %llu: %s", (unsigned long long)wc.wr_id,
			ibv_wc_status_str(wc.status));
	if (wc.wr_id != id)
		rd_fail(queue_name(c, q), "request %llu is complete, but %llu is next", (unsigned long long)wc.wr_id,
			(unsigned long long)id);
	return wc;
}

bool rd_ends(struct rd_conn *c, struct rd_cq *q, uint64_t id, enum ibv_wc_status status, const char *text)
{
	struct ibv_wc wc = must_next(c, q, id);

	if (wc.wr_id == id && wc.status == status)
		return rd_check(true, "%s: %s", text, ibv_wc_status_str(status));
	return rd_check(false, "%s: request %llu ended with '%s', expected %llu and '%s'", text,
			(unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), (unsigned long long)id,
			ibv_wc_status_str(status));
}
