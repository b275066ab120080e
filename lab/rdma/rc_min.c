// SPDX-License-Identifier: GPL-2.0-only
/*
 * A minimal RDMA program: the server registers 4 KiB and sends address and rkey when
 * it accepts the connection; the client WRITEs to the memory and READs it back. No
 * code of the server runs for either.
 */
#include <inttypes.h>
#include "rdma.h"

static const char about[] =
	"The server registers memory and gives its capability (address, rkey) to the\n"
	"client, which WRITEs a text into it and READs it back.";

static struct rd_option options[] = {
	{ "text", "client-wrote-this", "what the client writes, with a zero byte behind it; the same on both sides" },
	{ }
};

enum { SIZE = 4096, WRITE = 1, READ = 2 };

static void server(void)
{
	struct rdma_cm_id *listener = rd_listen(rd.port);
	struct rd_conn *c = rd_request(listener, NULL);
	struct rd_mem mem = rd_memory(c->pd, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				      IBV_ACCESS_REMOTE_READ);
	struct rd_cap cap = rd_cap_of(&mem);
	struct ibv_wc wc;
	const char *text = rd_option("text");

	printf("server: %u bytes at 0x%" PRIx64 ", rkey 0x%x, go to the client in private data\n", cap.length,
	       cap.addr, cap.rkey);
	rd_accept(c, &cap);
	rd_wait_gone(c);
	printf("server: the client has gone; the memory holds '%.64s'\n", (char *)mem.buf);
	rd_check(!strcmp((char *)mem.buf, text), "the text has come into the memory");
	/* one-sided operations have no completion at the server */
	rd_check(!rd_next(c, &c->send, &wc, 0) && !rd_next(c, &c->recv, &wc, 0), "and no completion told of it");
	rd_free(&mem);
	rd_close(c);
	rd_unlisten(listener);
}

static void client(void)
{
	struct rd_conn *c = rd_open(rd.host, rd.port, NULL);
	struct rd_mem tx = rd_memory(c->pd, SIZE, 0);
	struct rd_mem rx = rd_memory(c->pd, SIZE, IBV_ACCESS_LOCAL_WRITE);
	size_t len = (size_t)snprintf((char *)tx.buf, SIZE, "%s", rd_option("text")) + 1;
	struct ibv_wc wc;

	if (len > SIZE)
		rd_wrong("text: at most %d bytes", SIZE - 1);
	rd_connect(c, NULL);
	printf("client: connected, queue pair %u; the server gives %u bytes at 0x%" PRIx64 ", rkey 0x%x\n",
	       c->qp->qp_num, c->peer.length, c->peer.addr, c->peer.rkey);
	rd_equal("length of the capability", c->peer.length, SIZE);

	rd_write(c, WRITE, &tx, 0, len, 0);
	wc = rd_done(c, &c->send, WRITE);
	printf("client: WRITE of %zu bytes is complete: status %d, %s\n", len, wc.status, ibv_wc_status_str(wc.status));
	rd_check(wc.opcode == IBV_WC_RDMA_WRITE, "the completion is that of a WRITE");

	rd_read(c, READ, &rx, 0, SIZE, 0);
	wc = rd_done(c, &c->send, READ);
	printf("client: READ of %d bytes is complete: status %d, %s: '%.64s'\n", SIZE, wc.status,
	       ibv_wc_status_str(wc.status), (char *)rx.buf);
	rd_check(wc.opcode == IBV_WC_RDMA_READ, "the completion is that of a READ");
	rd_check(!memcmp(tx.buf, rx.buf, SIZE), "what was read is what was written, and zeros behind it");
	rd_free(&tx);
	rd_free(&rx);
	rd_close(c);
}

int main(int argc, char **argv)
{
	rd_start(argc, argv, about, options, false);
	if (rd.server)
		server();
	else
		client();
	return rd_result();
}
