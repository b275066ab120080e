// SPDX-License-Identifier: GPL-2.0-only
/*
 * WRITE with immediate data: 32 bits that the receiver gets with a WRITE, in a
 * completion. Each takes one receive request, whose buffer it does not use.
 * Three connections:
 *
 *  counted   three of them (short, empty, of several packets), with a plain WRITE
 *            after each, take three of four requests
 *  refused   no request, and the server allows no retry: an error
 *  patient   no request at first, retried without limit: it waits and succeeds
 */
#include <arpa/inet.h>
#include "rdma.h"

static const char about[] =
	"WRITE with immediate data: value, length and number of completions at the\n"
	"receiver, and what happens when it has no receive request.";

static struct rd_option options[] = {
	{ "hold", "300", "client: connection 'patient': milliseconds without a receive request" },
	{ }
};

enum { SIZE = 65536, POSTED = 4, LONG = 10000, GUARD = 0x5a };

static const struct message {
	uint32_t len, imm;
} messages[] = {
	{ 18, 0x01020304 },
	{ 0, 0xfffffffe },
	{ LONG, 0x80000001 },
};

enum { MESSAGES = sizeof(messages) / sizeof(*messages) };

static const char *const names[] = { "counted", "refused", "patient" };

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 31 + 1);
}

static bool filled(const uint8_t *p, size_t len, int value)
{
	while (len--)
		if (*p++ != value)
			return false;
	return true;
}

/* Takes and checks the completion of a WRITE with immediate data */
static void receive(struct rd_conn *c, uint64_t id, const struct message *m)
{
	struct ibv_wc wc = rd_done(c, &c->recv, id);

	printf("server: request %d is taken: immediate 0x%08x, byte_len %u\n", (int)id, ntohl(wc.imm_data),
	       wc.byte_len);
	rd_check(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.wc_flags & IBV_WC_WITH_IMM,
		 "the opcode is RECV_RDMA_WITH_IMM, with the flag WITH_IMM");
	rd_check(ntohl(wc.imm_data) == m->imm, "the immediate is 0x%08x", m->imm);
	rd_equal("byte_len is the length of the WRITE", wc.byte_len, m->len);
}

static void serve_counted(struct rd_conn *c, const struct rd_mem *mem, struct rd_mem *bufs)
{
	struct ibv_wc wc;
	int flushed = 0, other = 0;

	for (int i = 0; i < MESSAGES; i++)
		receive(c, (uint64_t)i, &messages[i]);
	rd_check(!rd_next(c, &c->recv, &wc, -1), "no other request was taken while the client was here");
	for (int i = 0; i < LONG; i++)
		if (mem->buf[i] != byte_at((size_t)i))
			other++;
	rd_equal("bytes of the memory that differ from what was written", (uint64_t)other, 0);
	rd_check(filled(bufs->buf, bufs->len, GUARD), "the buffers of the receive requests were not touched");
	/* unused requests are flushed when the queue pair enters ERR */
	rd_quiet(c);
	while (rd_next(NULL, &c->recv, &wc, 500)) {
		if (wc.status == IBV_WC_WR_FLUSH_ERR)
			flushed++;
	}
	rd_equal("requests that come back unused", (uint64_t)flushed, POSTED - MESSAGES);
}

/* Waits until the client sets a byte of its own memory to 1; polls that by READ */
static void await_word(struct rd_conn *c, const struct rd_mem *bufs)
{
	int64_t until = rd_now() + rd.wait;
	const volatile uint8_t *word = bufs->buf;

	do {
		if (rd_now() > until)
			rd_fail("the client's word", "not there within %d s", rd.wait / 1000);
		rd_nap(10);
		rd_read(c, 1, bufs, 0, 1, 0);
		rd_done(c, &c->send, 1);
	} while (*word != 1);
}

static void server(void)
{
	struct rdma_cm_id *listener = rd_listen(rd.port);

	for (int k = 0; k < 3; k++) {
		struct rd_conf conf = rd_defaults;
		struct rd_mem mem, bufs;
		struct rd_conn *c;
		struct rd_cap cap;

		conf.rnr_retry = k == 1 ? 0 : 7;
		conf.rnr_timer = 20;
		c = rd_request(listener, &conf);
		mem = rd_memory(c->pd, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		bufs = rd_memory(c->pd, 4096, IBV_ACCESS_LOCAL_WRITE);
		memset(bufs.buf, GUARD, bufs.len);
		cap = rd_cap_of(&mem);
		for (int i = 0; i < POSTED && k == 0; i++)
			rd_recv(c, (uint64_t)i, &bufs, (size_t)i * 64, 64);
		printf("server: connection '%s', %d receive requests\n", names[k], k ? 0 : POSTED);
		rd_accept(c, &cap);
		if (k == 0) {
			serve_counted(c, &mem, &bufs);
		} else if (k == 1) {
			rd_wait_gone(c);
			rd_check(filled(mem.buf, SIZE, 0), "the refused WRITE has changed nothing");
		} else {
			/* The client waits for this: before rd_accept() returns, the RNR timer may be rdma_cm's. */
			rd_send(c, 3, NULL, 0, 0);
			rd_done(c, &c->send, 3);
			await_word(c, &bufs);
			rd_check(filled(mem.buf, SIZE, 0), "without a request nothing was written");
			rd_recv(c, 0, &bufs, 64, 64);
			receive(c, 0, &messages[0]);
			rd_wait_gone(c);
		}
		rd_quiet(c);
		rd_free(&mem);
		rd_free(&bufs);
		rd_close(c);
	}
	rd_unlisten(listener);
}

static void send_counted(struct rd_conn *c, const struct rd_mem *tx)
{
	for (int i = 0; i < MESSAGES; i++) {
		const struct message *m = &messages[i];

		rd_write_imm(c, (uint64_t)i, tx, 0, m->len, 0, m->imm);
		rd_done(c, &c->send, (uint64_t)i);
		printf("client: WRITE with immediate 0x%08x, %u bytes: complete\n", m->imm, m->len);
		/* a plain WRITE takes no request: the server counts them */
		rd_write(c, 50, tx, 0, 64, 0);
		rd_done(c, &c->send, 50);
	}
	rd_check(true, "all completed");
}

static void client(int hold)
{
	for (int k = 0; k < 3; k++) {
		struct rd_conn *c = rd_open(rd.host, rd.port, NULL);
		struct rd_mem tx = rd_memory(c->pd, SIZE, 0);
		struct rd_mem word = rd_memory(c->pd, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
		struct rd_cap cap = rd_cap_of(&word);
		struct ibv_wc wc;

		for (size_t i = 0; i < SIZE; i++)
			tx.buf[i] = byte_at(i);
		rd_recv(c, 3, NULL, 0, 0);
		rd_connect(c, &cap);
		printf("client: connection '%s'\n", names[k]);
		if (k == 0) {
			send_counted(c, &tx);
		} else if (k == 1) {
			rd_write_imm(c, 7, &tx, 0, 18, 0, 1);
			rd_ends(c, &c->send, 7, IBV_WC_RNR_RETRY_EXC_ERR, "no receive request, no repetition");
			rd_check(rd_reaches(c->qp, IBV_QPS_ERR), "the queue pair is in ERR");
		} else {
			rd_done(c, &c->recv, 3);
			rd_write_imm(c, 7, &tx, 0, messages[0].len, 0, messages[0].imm);
			rd_check(!rd_next(c, &c->send, &wc, hold), "incomplete after %d ms without a request", hold);
			*(volatile uint8_t *)word.buf = 1;
			rd_ends(c, &c->send, 7, IBV_WC_SUCCESS, "the server posts a request");
		}
		rd_quiet(c);
		rd_free(&tx);
		rd_free(&word);
		rd_close(c);
	}
}

int main(int argc, char **argv)
{
	int hold;

	rd_start(argc, argv, about, options, false);
	hold = (int)rd_number("hold", 1, 60000);
	if (rd.server)
		server();
	else
		client(hold);
	return rd_result();
}
