// SPDX-License-Identifier: GPL-2.0-only
/*
 * One of each operation of a reliable connection, in the order SEND, SEND with
 * immediate, WRITE, READ, COMPARE AND SWAP, FETCH AND ADD. Meant for captures:
 * each operation waits for the one before.
 */
#include <arpa/inet.h>
#include "rdma.h"

static const char about[] =
	"One of each operation of a reliable connection, each checked on both sides:\n"
	"for captures.";

static struct rd_option options[] = {
	{ "size", "10000", "bytes of SEND, WRITE and READ, the same on both sides; above the path MTU\n"
	  "\tthey take several packets" },
	{ }
};

enum { PAGE = 4096, MAX = 1 << 20, IMM = 0x0a0b0c0d };

static const uint64_t first = 0x1111111111111111, second = 0x2222222222222222;

/* Three consecutive areas: for SEND, for WRITE, and a word for the atomics */
static size_t size, area;

static uint8_t byte_at(int what, size_t i)
{
	return (uint8_t)(what * 50 + i * 7 + (i >> 8));
}

static void fill(uint8_t *p, int what)
{
	for (size_t i = 0; i < size; i++)
		p[i] = byte_at(what, i);
}

static bool holds(const uint8_t *p, int what)
{
	for (size_t i = 0; i < size; i++)
		if (p[i] != byte_at(what, i))
			return false;
	return true;
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static void server(void)
{
	struct rdma_cm_id *listener = rd_listen(rd.port);
	struct rd_conn *c = rd_request(listener, NULL);
	struct rd_mem mem = rd_memory(c->pd, 2 * area + PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	struct rd_cap cap = rd_cap_of(&mem);
	struct ibv_wc wc;

	memcpy(mem.buf + 2 * area, &first, 8);
	rd_recv(c, 1, &mem, 0, size);
	rd_recv(c, 2, NULL, 0, 0);
	rd_recv(c, 3, NULL, 0, 0);
	rd_accept(c, &cap);

	wc = rd_done(c, &c->recv, 1);
	printf("server: SEND has come: %u bytes\n", wc.byte_len);
	rd_check(wc.opcode == IBV_WC_RECV && !(wc.wc_flags & IBV_WC_WITH_IMM), "its completion is a RECV");
	rd_equal("its length", wc.byte_len, size);
	rd_check(holds(mem.buf, 1), "its bytes");

	wc = rd_done(c, &c->recv, 2);
	printf("server: SEND with immediate 0x%08x has come\n", ntohl(wc.imm_data));
	rd_check(wc.opcode == IBV_WC_RECV && wc.wc_flags & IBV_WC_WITH_IMM && !wc.byte_len &&
		 ntohl(wc.imm_data) == IMM, "a RECV of no bytes with this immediate");

	/* WRITE, READ and the atomics have no completion here; a SEND follows them. */
	rd_done(c, &c->recv, 3);
	rd_check(holds(mem.buf + area, 2), "the bytes of the WRITE");
	rd_equal("the word after COMPARE AND SWAP twice and FETCH AND ADD", word_at(mem.buf + 2 * area), second + 5);
	rd_check(!rd_next(c, &c->recv, &wc, 0), "three completions, and no more");
	rd_wait_gone(c);
	rd_quiet(c);
	rd_free(&mem);
	rd_close(c);
	rd_unlisten(listener);
}

static void client(void)
{
	struct rd_conn *c = rd_open(rd.host, rd.port, NULL);
	struct rd_mem mem = rd_memory(c->pd, 3 * area, IBV_ACCESS_LOCAL_WRITE);
	uint8_t *old = mem.buf + 2 * area;
	struct ibv_wc wc;

	rd_connect(c, NULL);
	fill(mem.buf, 1);
	rd_send(c, 1, &mem, 0, size);
	wc = rd_done(c, &c->send, 1);
	rd_check(wc.opcode == IBV_WC_SEND, "SEND of %zu bytes", size);

	if (rd_post(c, &(struct rd_wr){ .id = 2, .op = IBV_WR_SEND_WITH_IMM, .imm = IMM }))
		rd_fail("ibv_post_send", "SEND with immediate");
	wc = rd_done(c, &c->send, 2);
	rd_check(wc.opcode == IBV_WC_SEND, "SEND with immediate, of no bytes");

	fill(mem.buf, 2);
	rd_write(c, 3, &mem, 0, size, area);
	wc = rd_done(c, &c->send, 3);
	rd_check(wc.opcode == IBV_WC_RDMA_WRITE, "WRITE of %zu bytes", size);

	rd_read(c, 4, &mem, area, size, area);
	wc = rd_done(c, &c->send, 4);
	rd_check(wc.opcode == IBV_WC_RDMA_READ && holds(mem.buf + area, 2), "READ of the same bytes");
	rd_equal("byte_len of a READ", wc.byte_len, size);

	rd_compare_swap(c, 5, &mem, 2 * area, 2 * area, first, second);
	wc = rd_done(c, &c->send, 5);
	rd_check(wc.opcode == IBV_WC_COMP_SWAP && word_at(old) == first, "COMPARE AND SWAP gives the old value");

	rd_compare_swap(c, 6, &mem, 2 * area, 2 * area, first, 99);
	wc = rd_done(c, &c->send, 6);
	rd_check(word_at(old) == second, "once more: another value, which stays");

	rd_fetch_add(c, 7, &mem, 2 * area, 2 * area, 5);
	wc = rd_done(c, &c->send, 7);
	rd_check(wc.opcode == IBV_WC_FETCH_ADD && word_at(old) == second, "FETCH AND ADD gives the old value");

	rd_send(c, 8, NULL, 0, 0);
	rd_done(c, &c->send, 8);
	rd_quiet(c);
	rd_free(&mem);
	rd_close(c);
}

int main(int argc, char **argv)
{
	rd_start(argc, argv, about, options, false);
	size = rd_number("size", 1, MAX);
	area = (size + PAGE - 1) / PAGE * PAGE;
	if (rd.server)
		server();
	else
		client();
	return rd_result();
}
