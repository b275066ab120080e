// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of a queue pair: RESET, INIT, RTR, RTS, ERR, and RESET again. For
 * each: the state that the device reports, refused transitions, refused posts.
 * In ERR all requests are flushed. One machine is enough: the two queue pairs
 * of the connection are on the same device.
 *
 * A deviation from the InfiniBand Architecture fails, unless it is a known
 * weakness of soft RoCE: that is printed as an exception with a name, and the
 * caller compares the names.
 */
#include <errno.h>
#include "rdma.h"

static const char about[] =
	"Takes a queue pair through its states, and shows for each what is refused;\n"
	"in ERR all requests come back. Needs no peer.";

static struct rd_option options[] = {
	{ "device", "", "the RDMA device; without: the first one" },
	{ "kernel", "0", "1: compare each state with what `rdma resource show qp` says" },
	{ "strict", "0", "1: exceptions fail" },
	{ }
};

enum { DEPTH = 16, FLUSHED = 8, SURPLUS = 50 /* ms */, LIMIT = 1000, PAGE = 4096, SOFT_ROCE_VENDOR = 0xffffff };

struct end {
	struct ibv_qp *qp;
	struct rd_cq send, recv;
};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct rd_mem mem;
static struct ibv_port_attr port;
static union ibv_gid gid;
static int gid_index;
static bool soft;

/* A rule of the architecture holds, or it is a known exception of soft RoCE, or the check fails. */
static void rule(bool holds, const char *exception, const char *text)
{
	if (!holds && soft && !rd_number("strict", 0, 1))
		printf("exception %s: not so here: %s\n", exception, text);
	else
		rd_check(holds, "%s", text);
}

static void open_device(void)
{
	struct ibv_device **list, **d;
	const char *name = rd_option("device");
	struct ibv_gid_entry e;
	struct ibv_device_attr a;

	rd_need_device();
	list = ibv_get_device_list(NULL);
	d = list;
	while (*d && *name && strcmp(ibv_get_device_name(*d), name))
		d++;
	if (!*d)
		rd_skip("this machine has no RDMA device '%s'", name);
	ctx = ibv_open_device(*d);
	ibv_free_device_list(list);
	if (!ctx || ibv_query_device(ctx, &a) || ibv_query_port(ctx, 1, &port))
		rd_fail_errno(name);
	soft = a.vendor_id == SOFT_ROCE_VENDOR;
	for (gid_index = 0; gid_index < port.gid_tbl_len; gid_index++)
		if (!ibv_query_gid_ex(ctx, 1, (uint32_t)gid_index, &e, 0) && e.gid_type == IBV_GID_TYPE_ROCE_V2)
			break;
	if (gid_index == port.gid_tbl_len)
		rd_skip("%s has no RoCEv2 GID", ibv_get_device_name(ctx->device));
	gid = e.gid;
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		rd_fail_errno("ibv_alloc_pd");
	mem = rd_memory(pd, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	printf("%s: vendor 0x%06x%s, GID %d\n", ibv_get_device_name(ctx->device), a.vendor_id,
	       soft ? " (soft RoCE)" : "", gid_index);
}

static void make(struct end *e)
{
	struct ibv_qp_init_attr qa = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	rd_make_cq(ctx, &e->send, 4 * DEPTH);
	rd_make_cq(ctx, &e->recv, 4 * DEPTH);
	qa.send_cq = e->send.cq;
	qa.recv_cq = e->recv.cq;
	e->qp = ibv_create_qp(pd, &qa);
	if (!e->qp)
		rd_fail_errno("ibv_create_qp");
}

static void destroy(struct end *e)
{
	if (ibv_destroy_qp(e->qp))
		rd_fail_errno("ibv_destroy_qp");
	rd_free_cq(&e->send);
	rd_free_cq(&e->recv);
}

/* The transition to @state, with all attributes that it needs. Returns 0 or an errno. */
static int go(struct end *e, enum ibv_qp_state state, const struct end *peer)
{
	struct ibv_qp_attr a = { .qp_state = state };
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT) {
		a.port_num = 1;
		a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	} else if (state == IBV_QPS_RTR) {
		a.path_mtu = port.active_mtu;
		a.dest_qp_num = peer->qp->qp_num;
		a.max_dest_rd_atomic = 1;
		a.min_rnr_timer = 12;
		a.ah_attr.is_global = 1;
		a.ah_attr.grh.dgid = gid;
		a.ah_attr.grh.sgid_index = (uint8_t)gid_index;
		a.ah_attr.grh.hop_limit = 64;
		a.ah_attr.port_num = 1;
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER;
	} else if (state == IBV_QPS_RTS) {
		a.timeout = 17;
		a.retry_cnt = 7;
		a.rnr_retry = 7;
		a.max_rd_atomic = 1;
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
	}
	errno = 0;
	return ibv_modify_qp(e->qp, &a, mask);
}

static void must_go(struct end *e, enum ibv_qp_state state, const struct end *peer)
{
	int rc = go(e, state, peer);

	if (rc)
		rd_fail(rd_state_name(state), "%s", strerror(rc));
}

static int post_send(struct end *e, uint64_t id, enum ibv_wr_opcode op)
{
	struct ibv_send_wr *bad, wr = { .wr_id = id, .opcode = op, .send_flags = IBV_SEND_SIGNALED };

	/* without bytes, no key is checked */
	return ibv_post_send(e->qp, &wr, &bad);
}

static int post_recv(struct end *e, uint64_t id)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = id };

	return ibv_post_recv(e->qp, &wr, &bad);
}

/* Number of completions with @status within @ms, up to @want; all others are counted in @others. */
static int count(struct rd_cq *q, enum ibv_wc_status status, int want, int ms, int *others)
{
	int64_t until = rd_now() + ms;
	struct ibv_wc wc;
	int n = 0;

	*others = 0;
	while (n < want && rd_next(NULL, q, &wc, (int)(until > rd_now() ? until - rd_now() : 0))) {
		if (wc.status == status)
			n++;
		else
			++*others;
	}
	return n;
}

/*
 * Number of the requests @first to @first + @want - 1 that are completed with @status before @until. All other
 * completions are counted in @others: other numbers, repeated ones, another status, and any after the last one.
 */
static int collect(struct rd_cq *q, enum ibv_wc_status status, uint64_t first, int want, int64_t until, int *others)
{
	uint64_t seen = 0;
	struct ibv_wc wc;
	int n = 0;

	*others = 0;
	while (*others < DEPTH) {
		int64_t left = n < want ? until - rd_now() : SURPLUS;

		if (left < 0 || !rd_next(NULL, q, &wc, (int)left))
			break;
		if (wc.status != status || wc.wr_id < first || wc.wr_id >= first + (uint64_t)want ||
		    seen & 1ull << (wc.wr_id - first)) {
			++*others;
		} else {
			seen |= 1ull << (wc.wr_id - first);
			n++;
		}
	}
	return n;
}

/* Compares with the state in the kernel's resource tracking, which lists queue pairs by port: none before INIT. */
static void kernel_says(const struct end *e, enum ibv_qp_state state, bool listed)
{
	char cmd[128], line[256], *p, *end;
	FILE *f;

	if (!rd_number("kernel", 0, 1))
		return;
	snprintf(cmd, sizeof(cmd), "rdma resource show qp link %s/1 lqpn %u", ibv_get_device_name(ctx->device),
		 e->qp->qp_num);
	f = popen(cmd, "r");
	if (!f)
		rd_fail_errno(cmd);
	if (!fgets(line, sizeof(line), f))
		*line = 0;
	pclose(f);
	p = strstr(line, " state ");
	p = p ? p + 7 : line;
	end = strchr(p, ' ');
	if (end)
		*end = 0;
	if (listed)
		rd_check(!strcmp(p, rd_state_name(state)), "and so does the kernel's table: %s", p);
	else
		rd_check(!*p, "it has no port yet, so the kernel's table does not list it: %s", *p ? p : "-");
}

static void is(struct end *e, enum ibv_qp_state state, bool listed)
{
	printf("-- %s\n", rd_state_name(state));
	rd_check(rd_state(e->qp) == state, "the device says %s", rd_state_name(state));
	kernel_says(e, state, listed);
}

static const char *result(int rc)
{
	return !rc ? "accepted" : strerrorname_np(rc) ? strerrorname_np(rc) : "another error";
}

/* Transitions that must be refused, although all attributes that they need are given */
static void refuses(struct end *e, enum ibv_qp_state now, const struct end *peer, const enum ibv_qp_state *to, int n)
{
	for (int i = 0; i < n; i++) {
		int rc = go(e, to[i], peer);

		rd_check(rc == EINVAL, "%s to %s is refused: %s", rd_state_name(now), rd_state_name(to[i]),
			 result(rc));
		rd_check(rd_state(e->qp) == now, "and the state is still %s", rd_state_name(now));
	}
}

#define REFUSES(e, now, peer, ...) do { \
	const enum ibv_qp_state to[] = { __VA_ARGS__ }; \
	refuses(e, now, peer, to, (int)(sizeof(to) / sizeof(*to))); \
} while (0)

/*
 * Posts in the states before RTS, on a separate queue pair: a request that was
 * posted in the wrong state may be executed later.
 */
static void posts(void)
{
	struct end e, peer;
	int rc, n, others;

	make(&e);
	make(&peer);
	printf("-- posts in RESET, INIT, RTR\n");
	rc = post_recv(&e, 1);
	printf("RESET: receive request: %s\n", result(rc));
	rd_check(rc == EINVAL, "RESET: a receive request is refused with EINVAL");
	rc = post_send(&e, 1, IBV_WR_RDMA_WRITE);
	printf("RESET: send request: %s\n", result(rc));
	rd_check(rc == EINVAL, "RESET: a send request is refused with EINVAL");
	must_go(&e, IBV_QPS_INIT, &peer);
	rc = post_recv(&e, 2);
	printf("INIT: receive request: %s\n", result(rc));
	rd_check(!rc, "INIT: a receive request is accepted");
	rc = post_send(&e, 2, IBV_WR_RDMA_WRITE);
	printf("INIT: send request: %s\n", result(rc));
	rd_check(rc == EINVAL, "INIT: a send request is refused with EINVAL");
	must_go(&e, IBV_QPS_RTR, &peer);
	rc = post_recv(&e, 3);
	printf("RTR: receive request: %s\n", result(rc));
	rd_check(!rc, "RTR: a receive request is accepted");
	rc = post_send(&e, 3, IBV_WR_RDMA_WRITE);
	printf("RTR: send request: %s\n", result(rc));
	rd_check(rc == EINVAL, "RTR: a send request is refused with EINVAL");
	must_go(&e, IBV_QPS_RTS, &peer);
	must_go(&peer, IBV_QPS_INIT, &e);
	must_go(&peer, IBV_QPS_RTR, &e);
	must_go(&peer, IBV_QPS_RTS, &e);
	rd_check(!post_send(&e, 4, IBV_WR_RDMA_WRITE), "RTS: a send request is accepted");
	n = count(&e.send, IBV_WC_SUCCESS, DEPTH, 500, &others);
	rd_check(n > 0 && !others, "and completes");
	rule(n == 1, "refused-send-kept", "what was refused is never done");
	if (n > 1)
		printf("   %d requests were done, one was accepted\n", n);
	/* two receive requests were accepted; a third completion would be that of RESET */
	for (int i = 0; i < 3; i++)
		post_send(&peer, (uint64_t)i, IBV_WR_SEND);
	n = count(&e.recv, IBV_WC_SUCCESS, 3, 300, &others);
	rd_check(n >= 2 && !others, "receive requests of INIT and RTR are used");
	rd_check(n == 2, "and only they");
	destroy(&e);
	destroy(&peer);
}

static void error_state(struct end *e, struct end *peer)
{
	/* separate numbers, so that a late completion is not taken for that of a later request */
	enum { EARLY = 0, LATE_RECV = 100, LATE_SEND = 200 };
	int64_t since;
	int n, others;

	/* sends without a receive request at the peer wait, because rnr_retry is 7 */
	for (int i = 0; i < FLUSHED; i++)
		if (post_recv(e, EARLY + (uint64_t)i) || post_send(e, EARLY + (uint64_t)i, IBV_WR_SEND))
			rd_fail("RTS", "a request was not accepted");
	rd_check(!count(&e->send, IBV_WC_SUCCESS, 1, 100, &others) && !others &&
		 !count(&e->recv, IBV_WC_SUCCESS, 1, 0, &others) && !others,
		 "%d send and %d receive requests wait", FLUSHED, FLUSHED);
	since = rd_now();
	must_go(e, IBV_QPS_ERR, peer);
	n = collect(&e->send, IBV_WC_WR_FLUSH_ERR, EARLY, FLUSHED, since + LIMIT, &others);
	rd_check(n == FLUSHED && !others,
		 "%d of %d send requests come back flushed, each once, within 1 s of ERR, %d otherwise",
		 n, FLUSHED, others);
	n = collect(&e->recv, IBV_WC_WR_FLUSH_ERR, EARLY, FLUSHED, since + LIMIT, &others);
	rd_check(n == FLUSHED && !others,
		 "%d of %d receive requests come back flushed, each once, within 1 s of ERR, %d otherwise",
		 n, FLUSHED, others);
	is(e, IBV_QPS_ERR, true);

	since = rd_now();
	for (int i = 0; i < FLUSHED; i++)
		if (post_recv(e, LATE_RECV + (uint64_t)i))
			rd_fail("ERR", "a receive request was not accepted");
	n = collect(&e->recv, IBV_WC_WR_FLUSH_ERR, LATE_RECV, FLUSHED, since + LIMIT, &others);
	rule(n == FLUSHED && !others, "recv-in-err-kept", "receive requests posted in ERR are accepted and come back");
	if (n != FLUSHED)
		printf("   %d of %d came back, %d otherwise\n", n, FLUSHED, others);
	others = 0;
	since = rd_now();
	for (int i = 0; i < FLUSHED; i++)
		others += post_send(e, LATE_SEND + (uint64_t)i, IBV_WR_SEND) != 0;
	rd_check(!others, "send requests posted in ERR are accepted, all but %d", others);
	n = collect(&e->send, IBV_WC_WR_FLUSH_ERR, LATE_SEND, FLUSHED, since + LIMIT, &others);
	rd_check(n == FLUSHED && !others, "and %d of %d come back, %d otherwise", n, FLUSHED, others);
	REFUSES(e, IBV_QPS_ERR, peer, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS);
}

static void exchange(struct end *e, struct end *peer)
{
	int n, others;

	rd_check(!post_recv(peer, 1) && !post_send(e, 1, IBV_WR_SEND), "RTS: both requests are accepted");
	n = collect(&e->send, IBV_WC_SUCCESS, 1, 1, rd_now() + rd.wait, &others);
	rd_check(n == 1 && !others, "the SEND completes");
	n = collect(&peer->recv, IBV_WC_SUCCESS, 1, 1, rd_now() + rd.wait, &others);
	rd_check(n == 1 && !others, "and so does the peer's receive request");
}

int main(int argc, char **argv)
{
	struct end e, peer;

	rd_start(argc, argv, about, options, true);
	rd_number("kernel", 0, 1);
	rd_number("strict", 0, 1);
	open_device();
	make(&e);
	make(&peer);
	is(&e, IBV_QPS_RESET, false);
	REFUSES(&e, IBV_QPS_RESET, &peer, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD);
	must_go(&e, IBV_QPS_INIT, &peer);
	is(&e, IBV_QPS_INIT, true);
	REFUSES(&e, IBV_QPS_INIT, &peer, IBV_QPS_RTS, IBV_QPS_SQD);
	must_go(&e, IBV_QPS_RTR, &peer);
	is(&e, IBV_QPS_RTR, true);
	REFUSES(&e, IBV_QPS_RTR, &peer, IBV_QPS_INIT, IBV_QPS_SQD);
	must_go(&e, IBV_QPS_RTS, &peer);
	is(&e, IBV_QPS_RTS, true);
	REFUSES(&e, IBV_QPS_RTS, &peer, IBV_QPS_INIT, IBV_QPS_RTR);

	must_go(&peer, IBV_QPS_INIT, &e);
	must_go(&peer, IBV_QPS_RTR, &e);
	must_go(&peer, IBV_QPS_RTS, &e);
	exchange(&e, &peer);
	error_state(&e, &peer);

	must_go(&e, IBV_QPS_RESET, &peer);
	is(&e, IBV_QPS_RESET, true);
	/* after RESET, the queue pairs can be connected again */
	must_go(&peer, IBV_QPS_RESET, &e);
	for (enum ibv_qp_state s = IBV_QPS_INIT; s <= IBV_QPS_RTS; s++) {
		must_go(&e, s, &peer);
		must_go(&peer, s, &e);
	}
	exchange(&e, &peer);
	destroy(&e);
	destroy(&peer);
	posts();
	rd_free(&mem);
	return rd_result();
}
