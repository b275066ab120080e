// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limits of a capability. The server registers part of the second of three
 * pages and gives the capability to the client; a pattern guards the memory around
 * it. On the first connection the client uses it as permitted. On each of six
 * further connections it does not: the WRITE must fail with a remote access error,
 * change nothing, and put the server's queue pair into ERR.
 */
#include <sys/mman.h>
#include "rdma.h"

static const char about[] =
	"WRITEs that the capability allows, and six that it does not: each of those\n"
	"fails with a remote access error and changes no byte.";

static struct rd_option options[] = {
	{ "allow", "0", "server: let number 2 to 6 be allowed all the same, to see the checks fail" },
	{ }
};

enum { PAGE = 4096, LEN = 1000, OFF = PAGE + 200, ALL = 3 * PAGE, GUARD = 0xa5, BYTES = 16 };
enum { RIGHT, WRONG_RKEY, BEFORE, BEYOND, READ_ONLY, OTHER_PD, REVOKED, CASES };

static const char *const names[CASES] = {
	[RIGHT] = "as allowed, the first and the last byte",
	[WRONG_RKEY] = "another rkey",
	[BEFORE] = "from the byte in front of it",
	[BEYOND] = "to the byte behind it",
	[READ_ONLY] = "registered without REMOTE_WRITE",
	[OTHER_PD] = "registered in another protection domain",
	[REVOKED] = "no longer registered",
};

static bool guarded(const uint8_t *p, int written)
{
	for (int i = 0; i < ALL; i++) {
		bool mine = written && ((i >= OFF && i < OFF + BYTES) ||
					(i >= OFF + LEN - BYTES && i < OFF + LEN));

		if (p[i] != (mine ? i & 0x7f : GUARD))
			return false;
	}
	return true;
}

static void serve(struct rdma_cm_id *listener, int k, bool allow)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	struct rd_conn *c = rd_request(listener, NULL);
	struct rd_mem word = rd_memory(c->pd, PAGE, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_pd *other = ibv_alloc_pd(c->id->verbs);
	uint8_t *all = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rd_mem mem = { .buf = all + OFF, .len = LEN };
	struct rd_cap cap;
	struct ibv_wc wc;

	if (all == MAP_FAILED || !other)
		rd_fail_errno("resources");
	memset(all, GUARD, ALL);
	if (k != READ_ONLY || allow)
		access |= IBV_ACCESS_REMOTE_WRITE;
	if (allow) {
		mem.buf = all;
		mem.len = ALL;
	}
	mem.mr = ibv_reg_mr(k == OTHER_PD && !allow ? other : c->pd, mem.buf, mem.len, access);
	if (!mem.mr)
		rd_fail_errno("ibv_reg_mr");
	cap = rd_cap_of(&mem);
	cap.addr = (uintptr_t)all + OFF;
	cap.length = LEN;
	rd_recv(c, 1, &word, 0, 8);
	printf("server: connection %d, %s\n", k, names[k]);
	rd_accept(c, &cap);
	if (k == REVOKED) {
		/* valid until now; the client's SEND shows that it has used it */
		rd_done(c, &c->recv, 1);
		rd_check(guarded(all, 1), "the capability was good before");
		if (!allow) {
			if (ibv_dereg_mr(mem.mr))
				rd_fail_errno("ibv_dereg_mr");
			mem.mr = NULL;
		}
		rd_send(c, 2, &word, 0, 8);
		/* of any status: flushed, if the client's next WRITE ends this queue pair before the acknowledgment */
		if (!rd_next(c, &c->send, &wc, -1))
			rd_fail("send queue", "the word has no completion");
	}
	if (k != RIGHT)
		rd_check(rd_reaches(c->qp, IBV_QPS_ERR), "the server's queue pair is in ERR");
	rd_wait_gone(c);
	/* so it is not the disconnection that leads to ERR */
	if (k == RIGHT)
		rd_check(rd_state(c->qp) == IBV_QPS_RTS, "the server's queue pair is still in RTS");
	rd_quiet(c);
	rd_check(guarded(all, k == RIGHT || k == REVOKED), "%s: memory is as it should be, guards included", names[k]);
	if (mem.mr && ibv_dereg_mr(mem.mr))
		rd_fail_errno("ibv_dereg_mr");
	munmap(all, ALL);
	ibv_dealloc_pd(other);
	rd_free(&word);
	rd_close(c);
}

static void write_ends(struct rd_conn *c, int k, const struct rd_mem *tx)
{
	uint64_t to_off = 0;

	if (k == BEFORE)
		to_off = (uint64_t)-1;
	if (k == BEYOND)
		to_off = LEN - BYTES + 1;
	if (k == WRONG_RKEY)
		c->peer.rkey ^= 1;
	/* 0xff is in no pattern: guarded() detects it if it arrives */
	rd_write(c, 9, tx, 0, BYTES, to_off);
	rd_ends(c, &c->send, 9, IBV_WC_REM_ACCESS_ERR, names[k]);
	rd_check(rd_reaches(c->qp, IBV_QPS_ERR), "the client's queue pair is in ERR");
}

static void ask(struct rd_conn *c, int k)
{
	struct rd_mem tx = rd_memory(c->pd, ALL, 0);
	struct rd_mem word = rd_memory(c->pd, PAGE, IBV_ACCESS_LOCAL_WRITE);

	memset(tx.buf, 0xff, BYTES);
	for (int i = OFF; i < OFF + LEN; i++)
		tx.buf[i] = i & 0x7f;
	rd_recv(c, 1, &word, 0, 8);
	rd_connect(c, NULL);
	printf("client: connection %d, %s\n", k, names[k]);
	rd_equal("length of the capability", c->peer.length, LEN);
	if (k == RIGHT || k == REVOKED) {
		rd_write(c, 3, &tx, OFF, BYTES, 0);
		rd_ends(c, &c->send, 3, IBV_WC_SUCCESS, "its first bytes");
		rd_write(c, 4, &tx, OFF + LEN - BYTES, BYTES, LEN - BYTES);
		rd_ends(c, &c->send, 4, IBV_WC_SUCCESS, "its last bytes");
	}
	if (k == REVOKED) {
		rd_send(c, 5, &word, 0, 8);
		rd_done(c, &c->send, 5);
		rd_done(c, &c->recv, 1);
	}
	if (k != RIGHT)
		write_ends(c, k, &tx);
	rd_quiet(c);
	rd_free(&tx);
	rd_free(&word);
	rd_close(c);
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener = NULL;
	int allow;

	rd_start(argc, argv, about, options, false);
	allow = (int)rd_number("allow", 0, CASES - 1);
	if (rd.server)
		listener = rd_listen(rd.port);
	for (int k = 0; k < CASES; k++) {
		if (rd.server) {
			serve(listener, k, allow && allow == k);
			continue;
		}
		ask(rd_open(rd.host, rd.port, NULL), k);
	}
	if (listener)
		rd_unlisten(listener);
	return rd_result();
}
