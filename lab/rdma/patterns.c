// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workloads of ../prog/patterns.h over verbs: put is RDMA WRITE, get is RDMA
 * READ, a flag is the immediate data of a WRITE. The server registers its memory
 * once for each worker, so that each has its own capability. The memory of workers
 * is not accessible remotely, and flags to them have no data.
 */
#include "../prog/patterns.h"
#include "rdma.h"

#define FLAGS 32			/* receive requests: more than flags can be in flight */
#define BYE 0xffffffff

struct link {
	struct rd_conn *c;
	struct rd_mem mem;
	uint64_t posted, done;		/* number of work requests */
	uint64_t flags;			/* number of flags received */
};

static struct rdma_cm_id *listener;
static void *area;
static size_t area_size;

static void start(const char *role, const char *host, const char *port)
{
	static struct rd_option none[] = { { } };
	const char *argv[] = { "patterns", role, host, port, "wait=60", NULL }, **a = argv;
	int n = 5;

	if (!host) {
		argv[2] = port;
		argv[3] = argv[4];
		argv[4] = NULL;
		n = 4;
	}
	rd_start(n, (char **)a, "", none, false);
}

static struct link *equip(struct rd_conn *c, int access)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		rd_fail_errno("memory");
	l->c = c;
	l->mem.buf = area;
	l->mem.len = area_size;
	l->mem.mr = ibv_reg_mr(c->pd, area, area_size, access);
	if (!l->mem.mr)
		rd_fail_errno("ibv_reg_mr");
	for (uint64_t i = 0; i < FLAGS; i++)
		rd_recv(c, i, NULL, 0, 0);
	return l;
}

/* Waits for all work requests: their memory may be used afterwards */
static void settle(struct link *l)
{
	while (l->done < l->posted)
		rd_done(l->c, &l->c->send, l->done++);
}

static void put(struct link *l, size_t off, size_t len)
{
	rd_write(l->c, l->posted++, &l->mem, off, len, off);
}

static void put_flag(struct link *l, size_t off, size_t len, uint32_t flag)
{
	/* on one connection it arrives after the data of earlier puts */
	rd_write_imm(l->c, l->posted++, len ? &l->mem : NULL, off, len, off, flag);
	settle(l);
}

static void get(struct link *l, size_t off, size_t len)
{
	rd_read(l->c, l->posted++, &l->mem, off, len, off);
	settle(l);
}

static uint32_t await(struct link *l)
{
	struct ibv_wc wc = rd_done(l->c, &l->c->recv, l->flags);

	if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || !(wc.wc_flags & IBV_WC_WITH_IMM))
		rd_fail("flag", "something else came");
	rd_recv(l->c, l->flags++ + FLAGS, NULL, 0, 0);
	return be32toh(wc.imm_data);
}

static void carrier_listen(char **args, void *mem, size_t size)
{
	const char *port = port_of(args[0]);

	start("server", NULL, port);
	area = mem;
	area_size = size;
	listener = rd_listen(port);
}

static struct link *carrier_accept(void)
{
	struct rd_conn *c = rd_request(listener, NULL);
	struct link *l = equip(c, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	struct rd_cap cap = rd_cap_of(&l->mem);

	rd_accept(c, &cap);
	return l;
}

static struct link *carrier_connect(char **args, void *mem, size_t size)
{
	const char *host = args[0], *port = port_of(args[1]);
	struct rd_conn *c;
	struct link *l;

	start("client", host, port);
	area = mem;
	area_size = size;
	c = rd_open(host, port, NULL);
	l = equip(c, IBV_ACCESS_LOCAL_WRITE);
	rd_connect(c, NULL);
	return l;
}

/*
 * A side that disconnects no longer acknowledges what it has received. So the worker
 * sends BYE when it is done, and waits until the server disconnects; it does not wait
 * for the completion of BYE.
 */
static void carrier_close(struct link *l)
{
	if (!rd.server) {
		rd_write_imm(l->c, l->posted++, NULL, 0, 0, 0, BYE);
		rd_wait_gone(l->c);
	} else if (await(l) != BYE) {
		rd_fail("last flag", "the worker says something else");
	}
	rd_quiet(l->c);
	ibv_dereg_mr(l->mem.mr);
	rd_close(l->c);
	free(l);
}

static const char *carrier_name(void)
{
	return "verbs";
}

static void option(int o)
{
	(void)o;
}

int main(int argc, char **argv)
{
	static const struct syntax syntax = { "PORT", "HOST PORT", "", option, "" };

	return patterns_main(argc, argv, &syntax);
}
