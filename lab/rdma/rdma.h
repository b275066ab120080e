/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the RDMA programs of this folder have in common: arguments, a reliable
 * connection by rdma_cm, memory and its capability, work requests, completions.
 *
 * Two promises hold for every call:
 *
 *  - It ends: each wait has a limit, `wait=SECONDS` of the command line unless
 *    said otherwise. Waits sleep on the file descriptors of the CM and of the
 *    completion channels. A program that spins on a CQ takes the processor
 *    away from soft RoCE, which then has nothing to complete.
 *  - Unless it says what it returns in case of an error, it returns only after
 *    success. Otherwise the program ends with one line on stderr, "program:
 *    what: why", and exit status 1.
 *
 * Exit status: 0 all is as it should be, 1 it is not, 2 the command line is
 * wrong, 4 this machine has no RDMA (kselftest's number for "skipped").
 */
#ifndef _SELFTESTS_RDMA_H
#define _SELFTESTS_RDMA_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RD_PRINTF(f, a)	__attribute__((format(printf, f, a)))
#define RD_NORETURN	__attribute__((noreturn))

enum { RD_OK = 0, RD_FAILED = 1, RD_USAGE = 2, RD_SKIP = 4 };

/* ---- the command line ---------------------------------------------------
 *
 *	PROGRAM server PORT [KEY=VALUE...]
 *	PROGRAM client HOST PORT [KEY=VALUE...]
 *	PROGRAM [KEY=VALUE...]			with one_sided
 *
 * --help and the usage line are made of @about and @options. `wait` is
 * everybody's. The table ends with an entry without a name; what was given
 * replaces .value there.
 */
struct rd_option {
	const char *name;
	const char *value;		/* the default */
	const char *what;		/* one line for --help */
};

struct rd_args {
	bool server;
	const char *host, *port;	/* NULL when one-sided; host: NULL in a server. The port is checked */
	int wait;			/* milliseconds */
};

extern struct rd_args rd;

/*
 * Reads the command line into `rd` and the table. Output is line buffered from
 * here on. Ends the program for --help (0) and a wrong command line (2).
 */
void rd_start(int argc, char **argv, const char *about, struct rd_option *options, bool one_sided);
/* An option as text; as a number (suffix k, m, g: powers of 1024) within the limits, else exit status 2. */
const char *rd_option(const char *name);
uint64_t rd_number(const char *name, uint64_t min, uint64_t max);
/* Ends the program (4) on a machine without any RDMA device. rd_listen and rd_open begin with it. */
void rd_need_device(void);

/* "program: what: why" and exit status 1; _errno adds strerror(errno). */
void rd_fail(const char *what, const char *why, ...) RD_PRINTF(2, 3) RD_NORETURN;
void rd_fail_errno(const char *what) RD_NORETURN;
void rd_skip(const char *why, ...) RD_PRINTF(1, 2) RD_NORETURN;
void rd_wrong(const char *why, ...) RD_PRINTF(1, 2) RD_NORETURN;	/* the command line */

/*
 * Checks that do not end the program: they print "ok TEXT" or "not ok TEXT",
 * and return whether it held. rd_result() is the exit status of a program
 * that ends here: 0, or 1 after any "not ok" and when nothing was checked.
 */
bool rd_check(bool good, const char *text, ...) RD_PRINTF(2, 3);
bool rd_equal(const char *text, uint64_t got, uint64_t want);
int rd_result(void);

/* Milliseconds of a clock that only goes forward. */
int64_t rd_now(void);
void rd_nap(int ms);

/* ---- memory and capabilities -------------------------------------------- */

/* Registered memory: zeroed, on pages of its own. */
struct rd_mem {
	uint8_t *buf;
	size_t len;
	struct ibv_mr *mr;
};

/* @access: IBV_ACCESS_*. Remote writing and atomics need IBV_ACCESS_LOCAL_WRITE as well. */
struct rd_mem rd_memory(struct ibv_pd *pd, size_t len, int access);
void rd_free(struct rd_mem *mem);

/*
 * Who holds a capability may do what the registration allows with these bytes.
 * Nothing in InfiniBand or RoCE carries it from peer to peer: it is the
 * programs' own payload. Here it travels in the private data of the CM's
 * messages as 16 bytes: be64 address, be32 rkey, be32 length. Length 0: none.
 */
struct rd_cap {
	uint64_t addr;
	uint32_t rkey;
	uint32_t length;
};

#define RD_CAP_BYTES 16

/* For all of a registration. */
struct rd_cap rd_cap_of(const struct rd_mem *mem);
void rd_cap_pack(uint8_t to[RD_CAP_BYTES], const struct rd_cap *cap);
struct rd_cap rd_cap_unpack(const uint8_t from[RD_CAP_BYTES]);

/* ---- connections -------------------------------------------------------- */

/* A completion queue with a channel of its own. */
struct rd_cq {
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	bool armed;
};

struct rd_conn {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;		/* own, or rd_conf.pd */
	struct ibv_qp *qp;
	struct rd_cq send, recv;
	struct rd_cap peer;		/* what the peer gave with the connection */
	bool gone;			/* the peer has disconnected */
	bool own_pd;
	uint8_t depth, resources, rnr_retry, rnr_timer;
};

struct rd_conf {
	unsigned int send_wr, recv_wr;	/* depth of the queues; a device may give more */
	unsigned int inline_bytes;	/* for IBV_SEND_INLINE */
	/*
	 * How often the PEER's sender tries again when there is no receive
	 * request here; 7: for ever. It goes to the peer in the CM's message:
	 * each side rules over the other's sender.
	 */
	uint8_t rnr_retry;
	/*
	 * And after which time: an IBTA code; 12: 0.64 ms, 20: 10.24 ms. It is
	 * set once the QP is in RTS; an RNR NAK just before that asks for 655 ms.
	 */
	uint8_t rnr_timer;
	struct ibv_pd *pd;		/* NULL: one per connection */
};

extern const struct rd_conf rd_defaults;	/* 64, 64, 0, 7, 12, NULL */

/* Listens on every address, IPv4 and IPv6. Ports are decimal digits, 1 to 65535, else exit status 2. */
struct rdma_cm_id *rd_listen(const char *port);
void rd_unlisten(struct rdma_cm_id *listener);

/*
 * Server, first step: waits for a request; then PD, CQs and QP exist, the QP
 * is in INIT: register memory and post receives now, then nothing can come too
 * early. .peer is already what the client gave. @conf NULL: rd_defaults.
 */
struct rd_conn *rd_request(struct rdma_cm_id *listener, const struct rd_conf *conf);
/* Client, first step: address and route are known, the QP is in INIT. */
struct rd_conn *rd_open(const char *host, const char *port, const struct rd_conf *conf);

/*
 * Second step, one for each side: the connection is established, the QP is in
 * RTS. @give goes to the peer (NULL: nothing); the client finds in .peer what
 * the server gave.
 */
void rd_accept(struct rd_conn *c, const struct rd_cap *give);
void rd_connect(struct rd_conn *c, const struct rd_cap *give);

/* Until the peer has disconnected. */
void rd_wait_gone(struct rd_conn *c);
/*
 * Disconnects, waits (briefly) for the peer to know, and releases everything
 * but memory and a PD from rd_conf. A PD of its own is released as well: memory
 * in it has to be freed before, by rd_free() after rd_quiet().
 */
void rd_close(struct rd_conn *c);
/* Only the disconnection: afterwards the QP is in ERR, and nothing touches memory. */
void rd_quiet(struct rd_conn *c);

/* As the device says, by ibv_query_qp. */
enum ibv_qp_state rd_state(struct ibv_qp *qp);
/* Whether it comes to this state: a completion with an error may be seen shortly before ERR. */
bool rd_reaches(struct ibv_qp *qp, enum ibv_qp_state state);
const char *rd_state_name(enum ibv_qp_state state);

/* ---- work ---------------------------------------------------------------- */

struct rd_wr {
	uint64_t id;
	enum ibv_wr_opcode op;
	const struct rd_mem *mem;	/* local bytes; NULL: no bytes */
	size_t off, len;
	struct rd_cap to;		/* remote: READ, WRITE, atomics */
	uint64_t to_off;		/* beyond .to.addr; not checked against .to.length */
	uint32_t imm;			/* host order */
	uint64_t add;			/* FETCH_AND_ADD; CMP_AND_SWP: what is compared with */
	uint64_t swap;			/* CMP_AND_SWP: the new value */
	bool silent;			/* no completion unless it fails */
	bool inlined;			/* copy the bytes now: mem may be changed at once and needs no registration */
};

/* 0, or what ibv_post_send/recv returned: ENOMEM when the queue is full. One doorbell each. */
int rd_post(struct rd_conn *c, const struct rd_wr *wr);
int rd_post_recv(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len);

/* The usual ones: all signaled; they end the program if they cannot be posted. Remote is what .peer describes. */
void rd_write(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t to_off);
void rd_write_imm(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t to_off,
		  uint32_t imm);
void rd_read(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t from_off);
void rd_send(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len);
void rd_recv(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len);
/* The old value comes to @off: 8 bytes, in host order. */
void rd_fetch_add(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, uint64_t to_off, uint64_t add);
void rd_compare_swap(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, uint64_t to_off,
		     uint64_t compare, uint64_t swap);

/* For queue pairs without rdma_cm. */
void rd_make_cq(struct ibv_context *context, struct rd_cq *q, unsigned int depth);
void rd_free_cq(struct rd_cq *q);

/*
 * The next completion of &c->send or &c->recv, of any status, within @ms (-1:
 * rd.wait). False when there is none by then, or within a second after the
 * peer has disconnected. Of a failed one only wr_id, status and qp_num mean
 * anything. @c NULL: a queue without a connection.
 */
bool rd_next(struct rd_conn *c, struct rd_cq *q, struct ibv_wc *wc, int ms);
/* The next completion, which must be @id's and a success. */
struct ibv_wc rd_done(struct rd_conn *c, struct rd_cq *q, uint64_t id);
/* The next completion, which must be @id's, with this status: printed and counted as a check. */
bool rd_ends(struct rd_conn *c, struct rd_cq *q, uint64_t id, enum ibv_wc_status status, const char *text);

#endif /* _SELFTESTS_RDMA_H */
