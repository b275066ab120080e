// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of rnicsim against its documentation, by verbs and without smcr: both
 * ends of each connection are in this program.
 *
 *	rnictest DEV0 DEV1[@NETNS]
 *
 * NETNS: file of the network namespace that DEV1 is seen in, if not in this one.
 * Their netdevs have IPv4 addresses of one subnet and reach each other. TAP on
 * standard output. At the end DEV1 is removed. Exit status 1 if a check failed.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

enum { LEN = 64 * 1024, WRS = 12, MS = 1000000, RW = IBV_ACCESS_LOCAL_WRITE |
	IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

struct side {
	const char *name;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	union ibv_gid gid;
	int gid_index;
};

static struct side a, b;
static int n_checks, n_failed;
/* Separate memory, as DMA_API_DEBUG reports memory that is mapped twice */
static uint8_t spare[3][4096] __attribute__((aligned(4096)));

/* Tuned by a test before pair_up() */
static struct {
	int timeout, retry, rnr_retry, rnr_timer, access, dest, psn;
	enum ibv_mtu mtu;
} par;

static bool check(bool ok, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", ok ? "" : "not ", ++n_checks);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	n_failed += !ok;
	return ok;
}

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void nap(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&ts, NULL);
}

/* Write to a knob or fault: 0 or errno */
static int set(const struct side *s, const char *file, const char *val)
{
	char path[256];
	int fd, rc = 0;

	snprintf(path, sizeof(path), "/sys/kernel/debug/rnicsim/%s/%s", s->name,
		 file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return errno;
	if (write(fd, val, strlen(val)) < 0)
		rc = errno;
	close(fd);
	return rc;
}

static unsigned long get(const struct side *s, const char *file, const char *key)
{
	char path[256], line[256];
	unsigned long val = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/rnicsim/%s/%s", s->name,
		 file);
	f = fopen(path, "r");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		const char *at = key ? strstr(line, key) : line;

		if (at) {
			val = strtoul(at + (key ? strlen(key) : 0), NULL, 0);
			break;
		}
	}
	fclose(f);
	return val;
}

static void must(const struct side *s, const char *file, const char *val)
{
	errno = set(s, file, val);
	if (errno)
		die(file);
}

/* The GID of an IPv4 address; its index changes when the table is renewed */
static int find_gid(struct side *s)
{
	struct ibv_gid_entry e;
	int i;

	for (i = 0; i < 64; i++) {
		if (ibv_query_gid_ex(s->ctx, 1, i, &e, 0) ||
		    e.gid.global.subnet_prefix ||
		    (be64toh(e.gid.global.interface_id) >> 32) != 0xffff ||
		    (e.gid_type != IBV_GID_TYPE_ROCE_V2 &&
		     get(s, "gid_types", NULL) != 1))
			continue;
		s->gid = e.gid;
		s->gid_index = i;
		return 0;
	}
	return -1;
}

static int open_side(struct side *s, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	s->name = name;
	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			break;
	if (!list || !list[i])
		return -1;
	s->ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!s->ctx)
		die("ibv_open_device");
	s->pd = ibv_alloc_pd(s->ctx);
	s->cq = ibv_create_cq(s->ctx, 256, NULL, NULL, 0);
	if (!s->pd || !s->cq || posix_memalign((void **)&s->buf, 4096, LEN) ||
	    find_gid(s))
		die("PD, CQ, memory or GID");
	memset(s->buf, 0, LEN);
	s->mr = ibv_reg_mr(s->pd, s->buf, LEN, RW);
	if (!s->mr)
		die("ibv_reg_mr");
	fcntl(s->ctx->async_fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static struct ibv_qp *new_qp(struct side *s, int wr, int send_sge, int recv_sge)
{
	struct ibv_qp_init_attr init = {
		.send_cq = s->cq, .recv_cq = s->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = wr, .max_recv_wr = wr,
			 .max_send_sge = send_sge, .max_recv_sge = recv_sge },
	};

	return ibv_create_qp(s->pd, &init);
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				    .qp_access_flags = par.access };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static struct ibv_qp_attr rtr_attr(const struct side *s, const struct side *to)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = par.mtu,
		.dest_qp_num = to->qp->qp_num + par.dest, .rq_psn = 100,
		.max_dest_rd_atomic = 1, .min_rnr_timer = par.rnr_timer,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = to->gid, .hop_limit = 64,
				      .sgid_index = s->gid_index } },
	};

	return attr;
}

enum { RTR = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER };

static int to_rtr(struct side *s, const struct side *to)
{
	struct ibv_qp_attr attr = rtr_attr(s, to);

	return ibv_modify_qp(s->qp, &attr, RTR);
}

static int to_rts(struct side *s)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = par.timeout,
		.retry_cnt = par.retry, .rnr_retry = par.rnr_retry,
		.sq_psn = 100 + par.psn, .max_rd_atomic = 1,
	};

	return ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void usual(void)
{
	par.timeout = 8;	/* 1 ms */
	par.retry = 3;
	par.rnr_retry = 0;
	par.rnr_timer = 14;	/* 1 ms */
	par.access = RW;
	par.dest = 0;
	par.psn = 0;
	par.mtu = IBV_MTU_1024;
}

static void drain(struct side *s)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(s->cq, 1, &wc) > 0)
		;
}

/* A new pair of queue pairs in RTS, as in par, which is reset then */
static void pair_up(void)
{
	if (a.qp)
		ibv_destroy_qp(a.qp);
	if (b.qp)
		ibv_destroy_qp(b.qp);
	a.qp = new_qp(&a, WRS, 3, 2);
	b.qp = new_qp(&b, WRS, 3, 2);
	if (!a.qp || !b.qp || to_init(a.qp) || to_init(b.qp) ||
	    to_rtr(&a, &b) || to_rtr(&b, &a) || to_rts(&a) || to_rts(&b))
		die("queue pairs");
	drain(&a);
	drain(&b);
	usual();
}

static int recv_at(struct side *s, uint64_t id, uint32_t off, uint32_t len,
		   uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)s->buf + off, len, lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_recv(s->qp, &wr, &bad);
}

static int recv1(struct side *s, uint64_t id)
{
	return recv_at(s, id, 32768, 4096, s->mr->lkey);
}

struct req {
	uint64_t id;
	enum ibv_wr_opcode op;
	uint32_t len, lkey, rkey, off;
	uint64_t raddr;
	bool quiet;
};

static int post(struct side *s, const struct side *to, struct req r)
{
	struct ibv_sge sge = { (uintptr_t)s->buf + r.off, r.len,
			       r.lkey ? r.lkey : s->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = r.id, .opcode = r.op, .sg_list = &sge,
		.num_sge = r.len ? 1 : 0, .imm_data = 77,
		.send_flags = r.quiet ? 0 : IBV_SEND_SIGNALED,
		.wr.rdma = { r.raddr ? r.raddr : (uintptr_t)to->buf,
			     r.rkey ? r.rkey : to->mr->rkey },
	};
	struct ibv_send_wr *bad;

	return ibv_post_send(s->qp, &wr, &bad);
}

/* The next completion within 2 s; its status, or -1 */
static int next_wc(struct side *s, struct ibv_wc *wc)
{
	uint64_t end = now_ns() + 2000ull * MS;

	while (now_ns() < end) {
		if (ibv_poll_cq(s->cq, 1, wc) == 1)
			return wc->status;
		nap(200000);
	}
	wc->wr_id = 0;
	return -1;
}

static int next(struct side *s)
{
	struct ibv_wc wc;

	return next_wc(s, &wc);
}

static bool silent(struct side *s, uint64_t ns)
{
	struct ibv_wc wc;

	nap(ns);
	return !ibv_poll_cq(s->cq, 1, &wc);
}

static enum ibv_qp_state state(struct side *s)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(s->qp, &attr, IBV_QP_STATE, &init) ? IBV_QPS_UNKNOWN :
								attr.qp_state;
}

static int event(struct side *s)
{
	struct pollfd p = { .fd = s->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;
	int type;

	if (poll(&p, 1, 1000) != 1 || ibv_get_async_event(s->ctx, &ev))
		return -1;
	type = ev.event_type;
	ibv_ack_async_event(&ev);
	return type;
}

static void no_events(struct side *s)
{
	struct ibv_async_event ev;

	while (!ibv_get_async_event(s->ctx, &ev))
		ibv_ack_async_event(&ev);
}

static void limits(void)
{
	int wr = get(&a, "max_qp_wr", NULL), sge = get(&a, "max_send_sge", NULL);
	int rsge = get(&a, "max_recv_sge", NULL);
	struct ibv_qp *qp = new_qp(&a, wr, sge, rsge);
	struct ibv_port_attr port = { 0 };

	check(qp, "a queue pair with all that the device has");
	if (qp)
		ibv_destroy_qp(qp);
	check(!new_qp(&a, wr + 1, 1, 1) && errno == EINVAL, "a request too many");
	check(!new_qp(&a, 1, sge + 1, 1) && errno == EINVAL, "a send SGE too many");
	check(!new_qp(&a, 1, 1, rsge + 1) && errno == EINVAL, "a receive SGE too many");
	check(!ibv_create_cq(a.ctx, 1 << 20, NULL, NULL, 0), "a queue too large");
	check(!ibv_create_cq(a.ctx, 8, NULL, NULL, get(&a, "vectors", NULL)),
	      "a vector that is not there");
	pair_up();
	ibv_query_port(a.ctx, 1, &port);
	check(port.max_msg_sz == 1 << 20, "messages of %u bytes at most",
	      port.max_msg_sz);
	check(post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_RDMA_READ,
					 .len = port.max_msg_sz + 1 }) == EINVAL,
	      "a byte too many");
}

static void knobs(void)
{
	static const struct {
		const char *name, *bad;
	} wrong[] = {
		{ "mtu", "255" }, { "mtu", "8192" }, { "mtu", "1500" },
		{ "latency", "1000000001" }, { "latency", "-1" },
		{ "latency", "soon" }, { "piece", "0" }, { "piece", "4097" },
		{ "order", "3" }, { "paused", "2" }, { "seed", "4294967296" },
		{ "fault/post_send", "1 never" }, { "fault/post_send", "p1000001" },
		{ "fault/post_send", "1x0" }, { "fault/post_send", "x" },
		{ "fault/post_send", "1 fail 99999" },
		{ "fault/post_send", "1 fail 5 6" },
	};
	unsigned long before, i;
	int rc;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		before = get(&a, wrong[i].name, NULL);
		rc = set(&a, wrong[i].name, wrong[i].bad);
		check((rc == EINVAL || rc == ERANGE) &&
		      get(&a, wrong[i].name, NULL) == before,
		      "%s does not take %s", wrong[i].name, wrong[i].bad);
	}
	check(set(&a, "max_send_sge", "5"), "max_send_sge cannot be written");
	check(!set(&a, "latency", "2000") && get(&a, "latency", NULL) == 2000,
	      "latency can");
	must(&a, "latency", "1000");
	must(&a, "bandwidth", "0");
	must(&b, "bandwidth", "0");
}

static int try_rtr(int what)
{
	struct ibv_qp_attr attr = rtr_attr(&a, &b);
	int mask = RTR;

	switch (what) {
	case 0: attr.path_mtu = 0; break;
	case 1: attr.path_mtu = 6; break;
	case 2: attr.dest_qp_num = 1 << 24; break;
	case 3: attr.min_rnr_timer = 32; break;
	case 4: attr.max_dest_rd_atomic = 17; break;
	case 5: attr.ah_attr.grh.sgid_index = 60; break;
	case 6: attr.ah_attr.port_num = 2; break;
	case 7: mask &= ~IBV_QP_DEST_QPN; break;
	case 8: attr.ah_attr.is_global = 0; break;
	}
	return ibv_modify_qp(a.qp, &attr, mask);
}

static void states(void)
{
	int i;

	a.qp = new_qp(&a, WRS, 3, 2);
	b.qp = new_qp(&b, WRS, 3, 2);
	if (!a.qp || !b.qp)
		die("queue pair");
	check(recv1(&a, 1), "no receive in RESET");
	check(post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_SEND, .len = 8 }), "no send in RESET");
	check(try_rtr(-1), "not from RESET to RTR");
	check(!to_init(a.qp) && state(&a) == IBV_QPS_INIT, "RESET to INIT");
	check(to_rts(&a), "not from INIT to RTS");
	check(!recv1(&a, 1), "a receive in INIT");
	check(post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_SEND, .len = 8 }), "no send in INIT");
	for (i = 0; i <= 8; i++)
		check(try_rtr(i) && state(&a) == IBV_QPS_INIT,
		      "INIT to RTR, wrong attribute %d", i);
	check(!try_rtr(-1) && state(&a) == IBV_QPS_RTR, "INIT to RTR");
	check(post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_SEND, .len = 8 }), "no send in RTR");
	par.timeout = 32;
	check(to_rts(&a), "no timeout of 32");
	usual();
	par.retry = 8;
	check(to_rts(&a), "no retry count of 8");
	usual();
	check(!to_rts(&a) && state(&a) == IBV_QPS_RTS, "RTR to RTS");
}

static void data(void)
{
	struct ibv_sge sge[3] = {
		{ (uintptr_t)a.buf, 10, a.mr->lkey },
		{ (uintptr_t)a.buf + 100, 20, a.mr->lkey },
		{ (uintptr_t)a.buf + 200, 5000, a.mr->lkey },
	};
	struct ibv_send_wr wr = {
		.wr_id = 7, .sg_list = sge, .num_sge = 3,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)b.buf + 5, b.mr->rkey },
	}, *bad;
	struct ibv_wc wc;
	int i;

	pair_up();
	for (i = 0; i < LEN; i++)
		a.buf[i] = i * 7 + i / 256;
	recv1(&b, 5);
	post(&a, &b, (struct req){ .id = 6, .op = IBV_WR_SEND, .len = 3000 });
	check(next_wc(&b, &wc) == IBV_WC_SUCCESS && wc.wr_id == 5 &&
	      wc.byte_len == 3000 && wc.opcode == IBV_WC_RECV &&
	      !memcmp(b.buf + 32768, a.buf, 3000), "SEND");
	check(next_wc(&a, &wc) == IBV_WC_SUCCESS && wc.wr_id == 6, "is acknowledged");

	ibv_post_send(a.qp, &wr, &bad);
	check(next(&a) == IBV_WC_SUCCESS && !memcmp(b.buf + 5, a.buf, 10) &&
	      !memcmp(b.buf + 15, a.buf + 100, 20) &&
	      !memcmp(b.buf + 35, a.buf + 200, 5000) && !b.buf[4] &&
	      !b.buf[5035], "WRITE of three SGEs");
	check(silent(&b, 0), "is not noticed by the receiver");

	post(&a, &b, (struct req){ .id = 8, .op = IBV_WR_RDMA_WRITE, .len = 64,
				   .quiet = true });
	check(silent(&a, 5 * MS), "nothing of an unsignalled one");
	recv1(&b, 9);
	post(&a, &b, (struct req){ .id = 10, .op = IBV_WR_RDMA_WRITE_WITH_IMM, .len = 64 });
	check(next_wc(&b, &wc) == IBV_WC_SUCCESS && wc.imm_data == 77 &&
	      wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 64,
	      "WRITE with immediate data takes a receive");
	check(next(&a) == IBV_WC_SUCCESS, "and is acknowledged");
	memset(a.buf + 1000, 0, 100);
	post(&a, &b, (struct req){ .id = 11, .op = IBV_WR_RDMA_READ, .len = 100,
				   .off = 1000, .raddr = (uintptr_t)b.buf + 35 });
	check(next(&a) == IBV_WC_SUCCESS && !memcmp(a.buf + 1000, b.buf + 35, 100),
	      "READ");
	post(&a, &b, (struct req){ .id = 12, .op = IBV_WR_RDMA_WRITE, .len = 0 });
	check(next(&a) == IBV_WC_SUCCESS, "WRITE of nothing");
}

static void full(void)
{
	struct ibv_wc wc;
	int i;

	pair_up();
	for (i = 0; i < WRS; i++)
		if (post(&a, &b, (struct req){ .id = i, .op = IBV_WR_RDMA_WRITE,
					       .len = 8, .quiet = i < WRS - 1 }))
			break;
	check(i == WRS, "%d requests fit", i);
	nap(5 * MS);
	check(post(&a, &b, (struct req){ .id = 99, .op = IBV_WR_RDMA_WRITE, .len = 8 }) == ENOMEM,
	      "one more does not, not even when all are done");
	check(next_wc(&a, &wc) == IBV_WC_SUCCESS && wc.wr_id == WRS - 1,
	      "the completion is polled");
	check(!post(&a, &b, (struct req){ .id = 99, .op = IBV_WR_RDMA_WRITE, .len = 8 }) &&
	      next(&a) == IBV_WC_SUCCESS, "then it does");
	for (i = 0; !recv1(&b, i) && i < 100; i++)
		;
	check(i == WRS, "%d receives fit", i);
}

/* Rings whose size is no power of two, after they have wrapped */
static void rings(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;
	int i;

	pair_up();
	must(&a, "paused", "1");
	for (i = 0; i < WRS; i++) {
		post(&a, &b, (struct req){ .id = 100 + i, .op = IBV_WR_RDMA_WRITE,
					   .len = 8 });
		recv1(&a, 200 + i);
	}
	must(&a, "paused", "0");
	for (i = 0; i < WRS; i++)
		if (next_wc(&a, &wc) != IBV_WC_SUCCESS ||
		    wc.wr_id != 100u + i)
			break;
	check(i == WRS, "%d requests complete in order", i);
	ibv_modify_qp(a.qp, &attr, IBV_QP_STATE);
	for (i = 0; i < WRS; i++)
		if (next_wc(&a, &wc) != IBV_WC_WR_FLUSH_ERR ||
		    wc.wr_id != 200u + i)
			break;
	check(i == WRS, "%d receives do", i);
}

/* A completion queue for seven gets eight */
static void overrun(void)
{
	struct ibv_qp_init_attr init = {
		.recv_cq = a.cq, .qp_type = IBV_QPT_RC,
		.cap = { WRS, WRS, 1, 1, 0 },
	};
	struct ibv_cq *small = ibv_create_cq(a.ctx, 7, NULL, NULL, 0), *cq = a.cq;
	struct ibv_wc wc;
	int i;

	pair_up();
	ibv_destroy_qp(a.qp);
	init.send_cq = small;
	a.qp = ibv_create_qp(a.pd, &init);
	ibv_destroy_qp(b.qp);
	b.qp = new_qp(&b, WRS, 3, 2);
	no_events(&a);
	if (!small || !a.qp || !b.qp || to_init(a.qp) || to_init(b.qp) ||
	    to_rtr(&a, &b) || to_rtr(&b, &a) || to_rts(&a) || to_rts(&b))
		die("queue pairs");
	for (i = 1; i <= 8; i++)
		post(&a, &b, (struct req){ .id = i, .op = IBV_WR_RDMA_WRITE,
					   .len = 8 });
	check(event(&a) == IBV_EVENT_QP_FATAL && state(&a) == IBV_QPS_ERR,
	      "a completion too many is the end");
	a.cq = small;
	for (i = 1; i <= 7; i++)
		if (next_wc(&a, &wc) != IBV_WC_SUCCESS ||
		    wc.wr_id != (uint64_t)i)
			break;
	check(i == 8 && silent(&a, 3 * MS), "those before it are there, in order");
	a.cq = cq;
	ibv_destroy_qp(a.qp);
	a.qp = NULL;
	check(!ibv_destroy_cq(small), "the queue goes");
}

/*
 * @r fails at the sender with @want, and its queue pair is in ERR then; so is
 * the receiver's, whose completion is @want_b, if that is not negative
 */
static void fails(const char *what, struct req r, int want, int want_b)
{
	int st = -1;

	if (want_b >= 0)
		recv1(&b, 1);
	r.id = 50;
	if (!post(&a, &b, r))
		st = next(&a);
	check(st == want, "%s: %s", what, ibv_wc_status_str(st));
	check(state(&a) == IBV_QPS_ERR, "%s: the sender is in ERR", what);
	if (want_b >= 0)
		check(next(&b) == want_b && state(&b) == IBV_QPS_ERR,
		      "%s: so is the receiver", what);
	no_events(&a);
	no_events(&b);
}

static void keys(void)
{
	struct ibv_mr *ro = ibv_reg_mr(b.pd, spare[0], 4096,
				       IBV_ACCESS_LOCAL_WRITE);
	struct ibv_pd *pd = ibv_alloc_pd(b.ctx);
	struct ibv_mr *other = ibv_reg_mr(pd, spare[1], 4096, RW);
	struct req w = { .op = IBV_WR_RDMA_WRITE, .len = 64 }, r;
	const int flush = IBV_WC_WR_FLUSH_ERR, denied = IBV_WC_REM_ACCESS_ERR;

	r = w;
	r.rkey = b.mr->rkey ^ 1;
	pair_up();
	fails("wrong variant of a key", r, denied, flush);
	r.rkey = b.mr->rkey + 0x5500;
	pair_up();
	fails("key of nothing", r, denied, flush);
	r = w;
	r.raddr = (uintptr_t)b.buf + LEN - 63;
	pair_up();
	fails("a byte behind the end", r, denied, flush);
	r.raddr = (uintptr_t)b.buf - 1;
	pair_up();
	fails("a byte before the start", r, denied, flush);
	r = w;
	r.rkey = ro->rkey;
	r.raddr = (uintptr_t)spare[0];
	pair_up();
	fails("no remote access", r, denied, flush);
	r.rkey = other->rkey;
	r.raddr = (uintptr_t)spare[1];
	pair_up();
	fails("another protection domain", r, denied, flush);
	ibv_dereg_mr(other);
	pair_up();
	fails("deregistered", r, denied, flush);
	par.access = IBV_ACCESS_LOCAL_WRITE;
	pair_up();
	fails("queue pair without remote access", w, denied, flush);
	r = w;
	r.lkey = a.mr->lkey ^ 1;
	pair_up();
	fails("wrong local key", r, IBV_WC_LOC_PROT_ERR, -1);
	check(state(&b) == IBV_QPS_RTS, "the receiver knows nothing of that");
	r = (struct req){ .op = IBV_WR_SEND, .len = 4097 };
	pair_up();
	fails("more than the receive takes", r, IBV_WC_REM_INV_REQ_ERR,
	      IBV_WC_LOC_LEN_ERR);
	pair_up();
	recv_at(&b, 1, 0, 64, b.mr->lkey ^ 1);
	r.len = 64;
	fails("wrong local key of a receive", r, IBV_WC_REM_OP_ERR,
	      IBV_WC_LOC_PROT_ERR);
	ibv_dereg_mr(ro);
	ibv_dealloc_pd(pd);
}

static void rnr(void)
{
	const struct req s = { .id = 1, .op = IBV_WR_SEND, .len = 64 };
	uint64_t t;

	pair_up();
	fails("no receive, no retry", s, IBV_WC_RNR_RETRY_EXC_ERR, -1);
	par.rnr_retry = 4;
	par.rnr_timer = 20;	/* 10.24 ms */
	pair_up();
	t = now_ns();
	fails("no receive, four retries", s, IBV_WC_RNR_RETRY_EXC_ERR, -1);
	t = now_ns() - t;
	check(t > 4 * 10.24 * MS && t < 1000ull * MS,
	      "of 10.24 ms each: %.2f ms", (double)t / MS);
	par.rnr_retry = 7;
	pair_up();
	post(&a, &b, s);
	check(silent(&a, 50 * MS), "no receive, retries for ever");
	recv1(&b, 1);
	check(next(&b) == IBV_WC_SUCCESS && next(&a) == IBV_WC_SUCCESS,
	      "until there is one");
}

static void retries(void)
{
	const struct req w = { .id = 1, .op = IBV_WR_RDMA_WRITE, .len = 64 };
	uint64_t t;

	par.timeout = 12;	/* 16.8 ms */
	par.dest = 100000;
	pair_up();
	t = now_ns();
	fails("no such queue pair", w, IBV_WC_RETRY_EXC_ERR, -1);
	t = now_ns() - t;
	check(t > 3 * 16.7 * MS && t < 1000ull * MS,
	      "after three timeouts of 16.8 ms: %.2f ms", (double)t / MS);
	par.psn = 5;
	pair_up();
	fails("another PSN", w, IBV_WC_RETRY_EXC_ERR, -1);
	pair_up();
	must(&b, "paused", "1");
	fails("the peer stands still", w, IBV_WC_RETRY_EXC_ERR, -1);
	must(&b, "paused", "0");
	pair_up();
	must(&b, "fabric", "1");
	fails("another fabric", w, IBV_WC_RETRY_EXC_ERR, -1);
	must(&b, "fabric", "0");
	pair_up();
	must(&a, "paused", "1");
	post(&a, &b, w);
	check(silent(&a, 50 * MS), "an engine that stands still says nothing");
	must(&a, "paused", "0");
	check(next(&a) == IBV_WC_SUCCESS, "and goes on");
}

/* Two GIDs of the same address and of different types */
static void gid_entry(void)
{
	const struct req w = { .id = 1, .op = IBV_WR_RDMA_WRITE, .len = 64 };
	struct ibv_gid_entry e;
	int i, own = b.gid_index;

	if (get(&b, "gid_types", NULL) != 3)
		return;
	for (i = 0; i < 64; i++)
		if (!ibv_query_gid_ex(b.ctx, 1, i, &e, 0) &&
		    e.gid_type == IBV_GID_TYPE_ROCE_V1 &&
		    !memcmp(&e.gid, &b.gid, sizeof(b.gid)))
			break;
	check(i < 64, "an entry of RoCEv1 beside that of RoCEv2");
	b.gid_index = i;
	pair_up();
	fails("the peer's entry is of another type", w, IBV_WC_RETRY_EXC_ERR, -1);
	b.gid_index = own;
	pair_up();
	post(&a, &b, w);
	check(next(&a) == IBV_WC_SUCCESS, "and of the same");
}

static void flush(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;
	int i;

	pair_up();
	must(&a, "paused", "1");
	for (i = 1; i <= 4; i++)
		post(&a, &b, (struct req){ .id = i, .op = IBV_WR_RDMA_WRITE,
					   .len = 8, .quiet = i & 1 });
	recv1(&a, 5);
	check(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), "RTS to ERR");
	must(&a, "paused", "0");
	for (i = 1; i <= 5; i++)
		if (next_wc(&a, &wc) != IBV_WC_WR_FLUSH_ERR ||
		    wc.wr_id != (uint64_t)i)
			break;
	check(i == 6, "everything is flushed in order, also what is unsignalled");
	check(!post(&a, &b, (struct req){ .id = 6, .op = IBV_WR_SEND, .len = 8 }) &&
	      next(&a) == IBV_WC_WR_FLUSH_ERR, "and so is what is posted in ERR");
	check(to_rtr(&a, &b), "not from ERR to RTR");
}

/* In ERR, posts are flushed even if more come faster than the latency */
static void flush_posts(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;
	int i, n = 0;

	pair_up();
	must(&a, "latency", "20000000");
	ibv_modify_qp(a.qp, &attr, IBV_QP_STATE);
	for (i = 0; i < 10; i++) {
		recv1(&a, i);
		nap(5 * MS);
		n += ibv_poll_cq(a.cq, 1, &wc);
	}
	check(n, "what was posted in ERR is flushed while more is posted");
	must(&a, "latency", "1000");
}

/* Look at the receiver's memory until the WRITE is complete */
static void placement(void)
{
	static const char * const orders[] = { "0", "1", "2" };
	bool partly, first, last, wrong;
	int order, i;

	for (order = 0; order < 3; order++) {
		pair_up();
		must(&b, "order", orders[order]);
		must(&a, "piece", "64");
		must(&b, "latency", "1000000");
		memset(b.buf, 0, LEN);
		memset(a.buf, 0xee, 1024);
		post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_RDMA_WRITE,
					   .len = 1024 });
		partly = wrong = false;
		for (i = 0; i < 2000; i++) {
			last = *(volatile uint8_t *)(b.buf + 1023);
			first = *(volatile uint8_t *)b.buf;
			partly |= first != last;
			wrong |= order == 1 ? first && !last : last && !first;
			if (first && last && order != 2)
				break;
			nap(20000);
		}
		check(order ? partly : !partly, "order %d: %s", order,
		      partly ? "was seen in part" : "appeared at once");
		if (order < 2)
			check(!wrong, "order %d: and in that order", order);
		/* again: whatever the order is, all of it is there with the SEND */
		drain(&a);
		memset(a.buf, 0x77, 32768);
		recv1(&b, 2);
		post(&a, &b, (struct req){ .id = 3, .op = IBV_WR_RDMA_WRITE,
					   .len = 32768, .quiet = true });
		post(&a, &b, (struct req){ .id = 4, .op = IBV_WR_SEND, .len = 8 });
		wrong = next(&b) != IBV_WC_SUCCESS ||
			memcmp(a.buf, b.buf, 32768);
		check(!wrong, "order %d: all is visible with the SEND", order);
		must(&b, "order", "0");
		must(&b, "latency", "1000");
		must(&a, "piece", "4096");
	}
}

static void fault_verbs(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	must(&a, "fault/query_port", "1");
	check(ibv_query_port(a.ctx, 1, &port) == EIO &&
	      !ibv_query_port(a.ctx, 1, &port), "query_port, once");
	must(&a, "fault/alloc_pd", "2");
	pd = ibv_alloc_pd(a.ctx);
	check(pd && !ibv_alloc_pd(a.ctx) && errno == ENOMEM,
	      "alloc_pd: the second from now fails");
	ibv_dealloc_pd(pd);
	must(&a, "fault/create_cq", "1");
	check(!ibv_create_cq(a.ctx, 8, NULL, NULL, 0), "create_cq");
	must(&a, "fault/create_qp", "1 fail 5");
	check(!new_qp(&a, 1, 1, 1) && errno == EIO, "create_qp, with EIO");
	must(&a, "fault/alloc_mr", "1x2");
	check(!ibv_reg_mr(a.pd, spare[2], 4096, RW) &&
	      !ibv_reg_mr(a.pd, spare[2], 4096, RW), "alloc_mr, twice");
	mr = ibv_reg_mr(a.pd, spare[2], 4096, RW);
	check(mr, "and not thrice");
	must(&a, "fault/dereg_mr", "1");
	check(ibv_dereg_mr(mr) && !ibv_dereg_mr(mr), "dereg_mr");
	pair_up();
	must(&a, "fault/to_err", "1+");
	check(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) &&
	      ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) &&
	      state(&a) == IBV_QPS_RTS, "to_err, always");
	must(&a, "fault/to_err", "0");
	check(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), "and no more");
}

/* A delay at each verb with a fault point: the verb takes longer and works */
static void fault_delay(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	static const char *const what[] = {
		"alloc_pd", "alloc_mr", "dereg_mr", "create_qp", "destroy_qp", "to_err",
	};
	uint64_t from;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	unsigned int i;
	char fault[32];
	int rc;

	for (i = 0; i < sizeof(what) / sizeof(*what); i++) {
		pair_up();
		snprintf(fault, sizeof(fault), "fault/%s", what[i]);
		must(&a, fault, "1 delay 40");
		from = now_ns();
		pd = ibv_alloc_pd(a.ctx);
		mr = ibv_reg_mr(a.pd, spare[2], 4096, RW);
		rc = !pd || !mr || ibv_dealloc_pd(pd) || ibv_dereg_mr(mr) ||
		     ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) ||
		     ibv_destroy_qp(a.qp);
		a.qp = new_qp(&a, 1, 1, 1);
		check(!rc && a.qp && now_ns() - from >= 20 * MS, "%s takes 40 ms, or a few ticks less", what[i]);
	}
}

static void fault_post(void)
{
	struct ibv_sge sge = { (uintptr_t)a.buf, 8, a.mr->lkey };
	struct ibv_send_wr wr[3], *bad = NULL;
	struct ibv_wc wc;
	int i;

	pair_up();
	for (i = 0; i < 3; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .next = i < 2 ? &wr[i + 1] : NULL,
			.sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)b.buf, b.mr->rkey },
		};
	must(&a, "fault/post_send", "2");
	check(ibv_post_send(a.qp, wr, &bad) == ENOMEM && bad == &wr[1],
	      "post_send fails in the midst of a chain");
	check(next_wc(&a, &wc) == IBV_WC_SUCCESS && !wc.wr_id &&
	      silent(&a, 3 * MS), "what came before is sent, no more");
	must(&a, "fault/post_recv", "1");
	check(recv1(&a, 1) == ENOMEM && !recv1(&a, 1), "post_recv");
}

static void fault_wire(void)
{
	const struct req w = { .id = 1, .op = IBV_WR_RDMA_WRITE, .len = 4096 };
	const struct req s = { .id = 2, .op = IBV_WR_SEND, .len = 64 };
	unsigned long sends;
	struct ibv_wc wc;
	uint8_t first, end;

	pair_up();
	must(&a, "fault/wc_send", "1 fail 9");
	fails("wc_send with status 9", w, 9, -1);
	pair_up();
	must(&a, "fault/wc_send", "1 drop");
	post(&a, &b, w);
	check(silent(&a, 10 * MS) && !post(&a, &b, s) && !recv1(&b, 1),
	      "a completion is lost");
	pair_up();
	must(&a, "fault/wc_send", "1 twice");
	post(&a, &b, w);
	check(!next(&a) && !next(&a) && silent(&a, 3 * MS), "or doubled");
	pair_up();
	must(&b, "fault/wc_recv", "1 fail");
	recv1(&b, 1);
	fails("wc_recv", s, IBV_WC_REM_OP_ERR, IBV_WC_GENERAL_ERR);

	pair_up();
	memset(b.buf, 0, LEN);
	memset(a.buf, 0xcc, LEN);
	must(&a, "fault/tx_mid", "1");
	fails("cut in the midst of a WRITE", w, IBV_WC_RETRY_EXC_ERR, -1);
	first = b.buf[0];
	end = b.buf[4095];
	check(first == 0xcc && !end, "one part of it is there");
	must(&a, "fault/tx_mid", "0");
	pair_up();
	memset(b.buf, 0, LEN);
	must(&a, "fault/tx_send", "1");
	recv1(&b, 1);
	post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_RDMA_WRITE, .len = 4096, .quiet = true });
	fails("cut after the WRITE", s, IBV_WC_RETRY_EXC_ERR, -1);
	check(b.buf[4095] == 0xcc && silent(&b, MS), "the WRITE is there, no SEND");

	pair_up();
	must(&b, "fault/rx_send", "1+");
	recv1(&b, 1);
	fails("receiver not ready for ever", s, IBV_WC_RNR_RETRY_EXC_ERR, -1);
	must(&b, "fault/rx_send", "0");
	pair_up();
	sends = get(&a, "stats", "sends ");
	must(&a, "fault/tx_ack", "1x2");
	recv1(&b, 1);
	recv1(&b, 2);
	post(&a, &b, s);
	check(next_wc(&a, &wc) == IBV_WC_SUCCESS && next(&b) == IBV_WC_SUCCESS &&
	      silent(&b, 3 * MS) && get(&a, "stats", "sends ") == sends + 1,
	      "two lost acknowledgments, one message");
	pair_up();
	must(&a, "fault/tx_ack", "1x9 twice");
	post(&a, &b, w);
	check(next(&a) == IBV_WC_SUCCESS, "no acknowledgment is doubled, nor lost");
	must(&a, "fault/tx_ack", "0");
	pair_up();
	must(&a, "fault/tx_write", "1 drop");
	post(&a, &b, w);
	check(next(&a) == IBV_WC_SUCCESS, "a lost packet is sent again");
	pair_up();
	must(&a, "fault/tx_write", "1 mute");
	fails("muted", w, IBV_WC_RETRY_EXC_ERR, -1);
}

/* A message of SMC-R from a to b, its type and fourth byte; b has two receives */
static void message(const char *fault, const char *what, int type, int flags)
{
	pair_up();
	must(&a, fault, what);
	memset(b.buf + 32768, 0, 128);
	memset(a.buf, 0xcc, 44);
	a.buf[0] = type;
	a.buf[3] = flags;
	recv_at(&b, 1, 32768, 44, b.mr->lkey);
	recv_at(&b, 2, 32768 + 64, 44, b.mr->lkey);
	post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_SEND, .len = 44 });
}

/* Faults of messages by their type */
static void fault_messages(void)
{
	const struct req other = { .id = 2, .op = IBV_WR_SEND, .len = 44, .off = 64 };
	const uint8_t *got = b.buf + 32768;
	static const struct {
		const char *name;
		int type, flags;
	} types[] = {
		{ "msg_cdc", 0xfe, 0x80 }, { "msg_confirm_link", 1, 0 }, { "msg_confirm_link_reply", 1, 0x80 },
		{ "msg_add_link", 2, 0x7f }, { "msg_add_link_cont_reply", 3, 0xff }, { "msg_delete_link", 4, 0 },
		{ "msg_confirm_rkey", 6, 0 }, { "msg_test_link_reply", 7, 0x80 }, { "msg_confirm_rkey_cont", 8, 0 },
		{ "msg_delete_rkey", 9, 0 }, { "msg_any", 5, 0 },
	};
	unsigned int i;
	uint64_t t;
	char path[64];

	memset(a.buf + 64, 0xdd, 44);
	for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
		snprintf(path, sizeof(path), "fault/%s", types[i].name);
		message(path, "1 drop", types[i].type, types[i].flags);
		check(next(&a) == IBV_WC_SUCCESS && silent(&b, 3 * MS),
		      "%s: lost, and acknowledged", types[i].name);
		post(&a, &b, other);
		check(next(&b) == IBV_WC_SUCCESS && got[0] == 0xdd,
		      "%s: the next one takes its place", types[i].name);
	}
	message("fault/msg_test_link", "1 drop", 7, 0x80);
	check(next(&b) == IBV_WC_SUCCESS, "a reply is no request");
	must(&a, "fault/msg_test_link", "0");
	message("fault/msg_cdc", "2 drop", 0xfe, 0);
	check(next(&b) == IBV_WC_SUCCESS, "the first one arrives");
	post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_SEND, .len = 44 });
	check(silent(&b, 3 * MS), "the second one does not");
	message("fault/msg_cdc", "1 twice", 0xfe, 0);
	check(next(&b) == IBV_WC_SUCCESS && next(&b) == IBV_WC_SUCCESS &&
	      !memcmp(got, got + 64, 44) && next(&a) == IBV_WC_SUCCESS &&
	      silent(&a, MS), "twice, sent once");
	message("fault/msg_cdc", "1 corrupt 5", 0xfe, 0);
	check(next(&b) == IBV_WC_SUCCESS && got[5] == 0x33 && got[4] == 0xcc &&
	      got[6] == 0xcc && a.buf[5] == 0xcc, "one byte is another");
	t = now_ns();
	message("fault/msg_cdc", "1 delay 50", 0xfe, 0);
	post(&a, &b, other);
	check(silent(&b, 40 * MS) && next(&b) == IBV_WC_SUCCESS && got[0] == 0xfe &&
	      next(&b) == IBV_WC_SUCCESS && got[64] == 0xdd,
	      "it is late, and what is behind it");
	t = now_ns() - t;
	check(t >= 50ull * MS, "as said: %llu ms", (unsigned long long)t / MS);
	message("fault/msg_any", "1 qp_err", 5, 0);
	check(next(&a) == IBV_WC_WR_FLUSH_ERR && silent(&b, MS), "actions of all points");
	message("fault/msg_any", "1", 5, 0);
	check(next(&a) == IBV_WC_RETRY_EXC_ERR && silent(&b, MS), "fail: cut before it");
	message("fault/msg_any", "0", 5, 0);
	check(next(&b) == IBV_WC_SUCCESS, "or nothing");
	/* neither length nor operation of a message */
	pair_up();
	must(&a, "fault/msg_any", "1 drop");
	recv1(&b, 1);
	post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_SEND, .len = 43 });
	check(next(&b) == IBV_WC_SUCCESS, "43 bytes are no message");
	must(&a, "fault/msg_any", "0");
}

/* Cut paths between devices, and actions that are done at once */
static void cuts(void)
{
	const struct req w = { .id = 1, .op = IBV_WR_RDMA_WRITE, .len = 64 };
	struct ibv_port_attr port;
	char name[80];

	check(set(&a, "cut", "x") == EINVAL && set(&a, "cut", "+") == EINVAL &&
	      set(&a, "cut", "-nobody") == ENOENT, "cuts that are none");
	pair_up();
	must(&a, "cut", "+nobody");
	post(&a, &b, w);
	check(next(&a) == IBV_WC_SUCCESS, "another's way is cut");
	snprintf(name, sizeof(name), "+%s", b.name);
	must(&a, "cut", name);
	fails("the way is cut", w, IBV_WC_RETRY_EXC_ERR, -1);
	pair_up();
	check(!post(&b, &a, w) && next(&b) == IBV_WC_RETRY_EXC_ERR, "in both directions");
	check(!ibv_query_port(a.ctx, 1, &port) && port.state == IBV_PORT_ACTIVE,
	      "the ports do not know");
	pair_up();
	post(&a, &b, w);
	nap(MS / 2);
	name[0] = '-';
	must(&a, "cut", name);
	check(next(&a) == IBV_WC_SUCCESS, "mended in time: sent again");
	name[0] = '>';
	must(&a, "cut", name);
	fails("one way is cut", w, IBV_WC_RETRY_EXC_ERR, -1);
	pair_up();
	recv1(&a, 1);
	check(!post(&b, &a, (struct req){ .id = 1, .op = IBV_WR_SEND, .len = 64 }) &&
	      next(&a) == IBV_WC_SUCCESS && next(&b) == IBV_WC_RETRY_EXC_ERR,
	      "the other way is not, but no acknowledgment comes back");
	must(&a, "cut", "0");

	check(set(&a, "act", "mute") == EINVAL && set(&a, "act", "drop") == EINVAL &&
	      set(&a, "act", "x") == EINVAL, "what cannot be done at once");
	no_events(&a);
	must(&a, "act", "port_err");
	check(event(&a) == IBV_EVENT_PORT_ERR && !ibv_query_port(a.ctx, 1, &port) &&
	      port.state == IBV_PORT_DOWN, "port down at once");
	must(&a, "act", "port_active");
	check(event(&a) == IBV_EVENT_PORT_ACTIVE, "and up");
}

/* A WRITE with a fault of its interrupt: has there been an interrupt? */
static bool interrupted(struct ibv_comp_channel *ch, const char *fault)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;
	bool told;

	must(&a, "fault/interrupt", fault);
	ibv_req_notify_cq(a.cq, 0);
	post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_RDMA_WRITE, .len = 8 });
	told = poll(&p, 1, 100) == 1 && !ibv_get_cq_event(ch, &cq, &ctx);
	if (told)
		ibv_ack_cq_events(cq, 1);
	check(next(&a) == IBV_WC_SUCCESS, "interrupt, %s: the completion", fault);
	return told;
}

/* Processors of interrupts: one that does not exist, another one, any */
static void interrupt_cpus(struct ibv_comp_channel *ch)
{
	unsigned long before = get(&a, "stats", "elsewhere ");
	int i, n = 8;

	check(set(&a, "cq_cpu", "1026") == ERANGE, "no processor has that number");
	must(&a, "cq_cpu", "1025");
	check(interrupted(ch, "0") && get(&a, "stats", "elsewhere ") == before,
	      "an interrupt for a processor that is not there comes here");
	must(&a, "cq_cpu", "1");
	for (i = 0; i < n; i++)
		check(interrupted(ch, "0"), "an interrupt of another processor");
	check(get(&a, "stats", "elsewhere ") - before == (sysconf(_SC_NPROCESSORS_ONLN) > 1 ? (unsigned long)n : 0),
	      "which is another one, if there is one");
	must(&a, "cq_cpu", "0");
}

/* A request for the next interrupt takes as long as the knob says */
static void interrupt_request(void)
{
	uint64_t before;

	must(&a, "cq_arm", "20500000");
	before = now_ns();
	ibv_req_notify_cq(a.cq, 0);
	check(now_ns() - before >= 20500000, "a request for an interrupt takes its time");
	must(&a, "cq_arm", "0");
}

static void fault_interrupt(void)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(a.ctx);
	struct ibv_cq *cq = a.cq;

	a.cq = ch ? ibv_create_cq(a.ctx, 8, NULL, ch, 0) : NULL;
	if (!a.cq)
		die("completion channel");
	pair_up();
	check(interrupted(ch, "0"), "an interrupt");
	check(!interrupted(ch, "1 fail"), "fail loses it");
	check(!interrupted(ch, "1 drop"), "so does drop");
	check(interrupted(ch, "1 twice"), "twice does nothing");
	interrupt_cpus(ch);
	interrupt_request();
	ibv_destroy_qp(a.qp);
	a.qp = NULL;
	ibv_destroy_cq(a.cq);
	ibv_destroy_comp_channel(ch);
	a.cq = cq;
}

static void fault_events(void)
{
	const struct req w = { .id = 1, .op = IBV_WR_RDMA_WRITE, .len = 64 };
	struct ibv_port_attr port;

	no_events(&a);
	no_events(&b);
	pair_up();
	must(&a, "fault/tx_write", "1 qp_fatal");
	fails("queue pair to ERR", w, IBV_WC_WR_FLUSH_ERR, -1);
	pair_up();
	must(&a, "fault/tx_write", "1 qp_fatal");
	post(&a, &b, w);
	check(event(&a) == IBV_EVENT_QP_FATAL, "with QP_FATAL");
	pair_up();
	must(&a, "fault/tx_write", "1 qp_err");
	fails("or without", w, IBV_WC_WR_FLUSH_ERR, -1);
	pair_up();
	post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_RDMA_WRITE, .len = 64,
				   .rkey = 0x7700 });
	check(event(&b) == IBV_EVENT_QP_ACCESS_ERR, "QP_ACCESS_ERR for a wrong key");
	pair_up();
	must(&a, "fault/tx_write", "1 port_err");
	fails("port down", w, IBV_WC_RETRY_EXC_ERR, -1);
	check(!ibv_query_port(a.ctx, 1, &port) && port.state == IBV_PORT_DOWN,
	      "the port says so");
	must(&a, "fault/create_qp", "1 port_active");
	pair_up();
	check(event(&a) == IBV_EVENT_PORT_ACTIVE, "port up again");
	must(&a, "fault/alloc_pd", "1 gid_change");
	ibv_dealloc_pd(ibv_alloc_pd(a.ctx));
	check(event(&a) == IBV_EVENT_GID_CHANGE, "GID_CHANGE");
	nap(200 * MS);
	no_events(&a);
	if (find_gid(&a))
		die("GID");
	pair_up();
	must(&a, "fault/tx_write", "1 device_fatal");
	post(&a, &b, w);
	check(event(&a) == IBV_EVENT_DEVICE_FATAL && state(&a) == IBV_QPS_ERR,
	      "DEVICE_FATAL");
}

/* 64 posts, one in eight fails: which ones, as bits */
static uint64_t pattern(const char *seed)
{
	uint64_t bits = 0;
	int i;

	pair_up();
	must(&a, "seed", seed);
	must(&a, "fault/post_recv", "p125000");
	for (i = 0; i < 64; i++) {
		bits |= (uint64_t)(recv1(&a, i) != 0) << i;
		if (i % 8 == 7) {
			must(&a, "fault/post_recv", "0");
			pair_up();
			must(&a, "fault/post_recv", "p125000");
		}
	}
	must(&a, "fault/post_recv", "0");
	return bits;
}

static void replay(void)
{
	uint64_t one = pattern("5"), two = pattern("5"), other = pattern("6");

	check(one && one == two, "the same seed, the same faults: %#llx",
	      (unsigned long long)one);
	check(one != other, "another seed, others: %#llx",
	      (unsigned long long)other);
}

static void removal(void)
{
	pair_up();
	recv1(&b, 1);
	must(&b, "fault/rx_send", "1 remove");
	post(&a, &b, (struct req){ .id = 1, .op = IBV_WR_SEND, .len = 64 });
	check(event(&b) == IBV_EVENT_DEVICE_FATAL, "the device is pulled out");
	check(next(&a) >= 0, "the peer's request is done");
	check(recv1(&b, 2), "nothing works there any more");
	nap(200 * MS);
	check(set(&b, "latency", "1000") == ENOENT, "it is gone");
}

/* Enter another namespace, with the sysfs and debugfs that are read there */
static void enter(const char *netns)
{
	int fd = open(netns, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || unshare(CLONE_NEWNS) || setns(fd, CLONE_NEWNET) ||
	    mount("", "/", NULL, MS_SLAVE | MS_REC, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL) ||
	    mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL))
		die(netns);
	close(fd);
}

int main(int argc, char **argv)
{
	static void (* const tests[])(void) = {
		limits, knobs, states, data, full, rings, overrun, keys, rnr, retries, gid_entry, flush, flush_posts,
		placement, fault_verbs, fault_delay, fault_post, fault_wire, fault_messages, cuts, fault_interrupt, fault_events,
		replay, removal,
	};
	unsigned int i;
	char *at;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		die("usage: rnictest DEV0 DEV1");
	usual();
	at = strchr(argv[2], '@');
	if (at)
		*at++ = 0;
	if (open_side(&a, argv[1]))
		die(argv[1]);
	if (at)
		enter(at);
	if (open_side(&b, argv[2]))
		die(argv[2]);
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tests[i]();
	printf("1..%d\n", n_checks);
	return n_failed != 0;
}
