// SPDX-License-Identifier: GPL-2.0
/*
 * Benchmark of raw verbs, with the measurements of bench.c: the upper limit.
 * Waits for completion events, as a kernel module and as bench's blocking
 * calls do; perftest needs a processor clock that User-Mode Linux does not have.
 *
 *	verbs DEVICE server PORT
 *	verbs DEVICE HOST PORT bulk SECONDS SIZE	RDMA WRITE
 *	verbs DEVICE HOST PORT rtt SECONDS SIZE		RDMA WRITE with immediate, both ways
 *	verbs DEVICE HOST PORT chain SECONDS SIZE	RDMA WRITE and a SEND in one post, both ways
 *
 * chain is what version 1 of SMC-R can do at best: its messages are RDMA WRITEs, and
 * a SEND of 44 bytes that tells of them.
 */
#include <arpa/inet.h>
#include <err.h>
#include <infiniband/verbs.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "exact.h"

#define DEPTH 64
#define MAX_SIZE (1u << 20)
#define NOTICE 44		/* bytes of a SEND */
#define SLOT 64			/* of a receive buffer */
#define CHAIN_DEPTH 256		/* of the send queue, and how many of its WRs there are until one */
#define CHAIN_SIGNAL 64		/* is signalled; both as in smcr */

/* Exchanged over TCP; not converted, as both sides are on the same architecture */
struct hello {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t qpn, rkey, size;
	uint8_t rtt;
};

static struct ibv_context *ctx;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr, *notice_mr;
static char *buf;
static char *notices;			/* DEPTH receive buffers, and what is sent */
static bool chained;			/* this connection has chains */
static bool inlined;			/* the SEND carries its bytes itself */
static struct hello me, peer;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void transfer(int s, void *p, size_t n, bool out)
{
	if ((out ? send(s, p, n, 0) : recv(s, p, n, MSG_WAITALL)) != (ssize_t)n)
		err(1, "control connection");
}

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr qa = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	size_t room = (DEPTH + 1) * SLOT;
	struct ibv_pd *pd;

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			ctx = ibv_open_device(*list);
	if (!ctx)
		errx(1, "no RDMA device %s", name);
	buf = aligned_alloc(4096, MAX_SIZE);
	pd = ibv_alloc_pd(ctx);
	channel = ibv_create_comp_channel(ctx);
	notices = aligned_alloc(4096, (room + 4095) & ~4095UL);
	if (!buf || !notices || !pd || !channel)
		errx(1, "%s: no resources", name);
	memset(buf, 0x5a, MAX_SIZE);
	memset(notices, 0, room);
	mr = ibv_reg_mr(pd, buf, MAX_SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	notice_mr = ibv_reg_mr(pd, notices, room, IBV_ACCESS_LOCAL_WRITE);
	cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, channel, 0);
	qa.send_cq = cq;
	qa.recv_cq = cq;
	if (chained) {
		qa.cap.max_send_wr = CHAIN_DEPTH;
		qa.cap.max_inline_data = NOTICE;
		qp = ibv_create_qp(pd, &qa);
		inlined = qp;
		qa.cap.max_inline_data = 0;
	}
	if (!qp)
		qp = ibv_create_qp(pd, &qa);
	if (!mr || !notice_mr || !cq || !qp)
		errx(1, "%s: no resources", name);
	me.addr = (uintptr_t)buf;
	me.rkey = mr->rkey;
	me.qpn = qp->qp_num;
}

/* Index of the GID that contains this end's IPv4 address */
static int gid_of(int s)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	if (getsockname(s, (struct sockaddr *)&a, &len))
		err(1, "getsockname");
	for (int i = 0; i < 64 && !ibv_query_gid(ctx, 1, i, &me.gid); i++)
		if (!memcmp(me.gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) &&
		    !memcmp(me.gid.raw + 12, &a.sin_addr, 4))
			return i;
	errx(1, "no GID for this address");
}

/* @slot: the receive buffer of a chain */
static void post_recv(uint64_t slot)
{
	struct ibv_sge sge = { .addr = (uintptr_t)notices + slot * SLOT, .length = SLOT, .lkey = notice_mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = slot, .sg_list = &sge, .num_sge = chained };

	if (ibv_post_recv(qp, &wr, &bad))
		errx(1, "ibv_post_recv");
}

/* @last: the last message of a measurement, which has immediate data 1 */
static void post_write(uint32_t size, bool immediate, bool last)
{
	struct ibv_sge sge = { .addr = (uintptr_t)buf, .length = size, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(last),
		.wr.rdma = { .remote_addr = peer.addr, .rkey = peer.rkey },
	};

	if (ibv_post_send(qp, &wr, &bad))
		errx(1, "ibv_post_send");
}

/* Returns true if there will be a completion. @last: as in post_write() */
static bool post_chain(uint32_t size, bool last)
{
	static int unsignalled;
	char *notice = notices + DEPTH * SLOT;
	struct ibv_sge from = { .addr = (uintptr_t)buf, .length = size, .lkey = mr->lkey };
	struct ibv_sge of = { .addr = (uintptr_t)notice, .length = NOTICE, .lkey = notice_mr->lkey };
	struct ibv_send_wr *bad, send = {
		.sg_list = &of,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = inlined ? IBV_SEND_INLINE : 0,
	}, wr = {
		.next = &send,
		.sg_list = &from,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = peer.addr, .rkey = peer.rkey },
	};

	unsignalled += 2;
	if (unsignalled >= CHAIN_SIGNAL || last) {
		send.send_flags |= IBV_SEND_SIGNALED;
		unsignalled = 0;
	}
	*notice = last;
	if (ibv_post_send(qp, &wr, &bad))
		errx(1, "ibv_post_send");
	return !unsignalled;
}

static void connect_qp(int s, int gid)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_port_attr port;
	char c = 0;

	if (ibv_query_port(ctx, 1, &port))
		errx(1, "ibv_query_port");
	if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		errx(1, "INIT");
	for (int i = 0; i < DEPTH; i++)
		post_recv(i);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = port.active_mtu;
	a.dest_qp_num = peer.qpn;
	a.max_dest_rd_atomic = 1;
	a.min_rnr_timer = 5;
	a.ah_attr.is_global = 1;
	a.ah_attr.grh.dgid = peer.gid;
	a.ah_attr.grh.sgid_index = gid;
	a.ah_attr.grh.hop_limit = 64;
	a.ah_attr.port_num = 1;
	if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		errx(1, "RTR");
	a.qp_state = IBV_QPS_RTS;
	a.timeout = 17;
	a.retry_cnt = 6;
	a.rnr_retry = 7;
	a.max_rd_atomic = 1;
	if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		errx(1, "RTS");
	/* neither side may send before the other can receive */
	transfer(s, &c, 1, true);
	transfer(s, &c, 1, false);
}

static int sends, recvs;		/* completions that no caller has waited for yet */
static uint64_t slots[DEPTH];		/* whose completions these receives are, in turn */
static unsigned int slots_in, slots_out;
static bool ended;

/* Waits for at least one completion, and counts all that are available */
static void reap(void)
{
	struct ibv_wc wc[16];
	bool armed = false;
	struct ibv_cq *q;
	void *unused;
	int n;

	for (;;) {
		n = ibv_poll_cq(cq, 16, wc);
		if (n < 0)
			errx(1, "ibv_poll_cq");
		for (int i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS)
				errx(1, "completion: %s", ibv_wc_status_str(wc[i].status));
			if (wc[i].opcode & IBV_WC_RECV) {
				recvs++;
				slots[slots_in++ % DEPTH] = wc[i].wr_id;
				ended = chained ? notices[wc[i].wr_id * SLOT] : wc[i].imm_data == htonl(1);
			} else {
				sends++;
			}
		}
		if (n)
			return;
		if (armed) {
			if (ibv_get_cq_event(channel, &q, &unused))
				err(1, "ibv_get_cq_event");
			ibv_ack_cq_events(q, 1);
			armed = false;
			continue;
		}
		/* Poll once more: a completion before the request gives no event. */
		if (ibv_req_notify_cq(cq, 0))
			errx(1, "ibv_req_notify_cq");
		armed = true;
	}
}

static void wait_recv(void)
{
	while (!recvs)
		reap();
	recvs--;
	post_recv(slots[slots_out++ % DEPTH]);
}

static void wait_send(void)
{
	while (!sends)
		reap();
	sends--;
}

static void bulk(double secs, uint32_t size)
{
	double idle = exact_begin(), t0 = now(), t;
	uint64_t n = 0;
	int out = 0;

	while (now() - t0 < secs) {
		while (out < DEPTH) {
			post_write(size, false, false);
			out++;
		}
		wait_send();
		out--;
		n++;
	}
	while (out) {
		wait_send();
		out--;
		n++;
	}
	t = now() - t0;
	printf("{\"what\": \"bulk\", \"size\": %u, \"seconds\": %.7f, \"bytes\": %llu, \"mbs\": %.3f, \"idle\": %.7f}\n",
	       size, t, (unsigned long long)n * size, n * size / t / 1e6, exact_end(idle));
}

/* One message; if it is the @first of a round trip, the answer; and the completion, if there is one */
static void message(uint32_t size, bool first)
{
	bool signalled = true;

	if (chained)
		signalled = post_chain(size, false);
	else
		post_write(size, true, false);
	if (first)
		wait_recv();
	if (signalled)
		wait_send();
}

static void echo(uint32_t size)
{
	wait_recv();
	message(size, false);
}

static void rtt(double secs, uint32_t size)
{
	double t0 = 0, t = 0, idle = 0;
	long n = -3;			/* the first ones are not measured */

	do {
		if (!n) {
			idle = exact_begin();
			t0 = now();
		}
		message(size, true);
		n++;
		t = now();
	} while (n < 1 || t - t0 < secs);
	t -= t0;
	idle = exact_end(idle);
	printf("{\"what\": \"%s\", \"size\": %u, \"seconds\": %.7f, \"n\": %ld, \"us\": %.2f, \"inline\": %d, \"idle\": %.7f}\n",
	       chained ? "chain" : "rtt", size, t, n, t / n * 1e6, inlined, idle);
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	bool server = argc == 4 && !strcmp(argv[2], "server");
	int one = 1, s, l, gid;
	char c = 0;

	if (!server && argc != 7)
		errx(2, "usage: verbs DEVICE server PORT | verbs DEVICE HOST PORT bulk|rtt|chain SECONDS SIZE");
	a.sin_port = htons(atoi(argv[3]));
	s = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (server) {
		l = s;
		if (bind(l, (struct sockaddr *)&a, sizeof(a)) || listen(l, 1))
			err(1, "port %s", argv[3]);
		s = accept(l, NULL, NULL);
	} else {
		inet_pton(AF_INET, argv[2], &a.sin_addr);
		if (connect(s, (struct sockaddr *)&a, sizeof(a)))
			err(1, "connect");
		chained = !strcmp(argv[4], "chain");
		me.rtt = chained || !strcmp(argv[4], "rtt");
		me.size = atoi(argv[6]);
		if (!me.size || me.size > MAX_SIZE)
			errx(2, "size");
	}
	/* The server creates its queue pair when it knows whether there will be chains. */
	transfer(s, &chained, sizeof(chained), !server);
	open_device(argv[1]);
	gid = gid_of(s);
	transfer(s, &me, sizeof(me), true);
	transfer(s, &peer, sizeof(peer), false);
	connect_qp(s, gid);
	if (server && peer.rtt) {
		while (!ended || recvs)
			echo(peer.size);
	} else if (!server) {
		(me.rtt ? rtt : bulk)(atof(argv[5]), me.size);
		if (me.rtt) {
			if (chained)
				post_chain(me.size, true);
			else
				post_write(me.size, true, true);
			wait_recv();
		}
	}
	/* neither side ends before the other has received everything */
	transfer(s, &c, 1, true);
	transfer(s, &c, 1, false);
	return 0;
}
