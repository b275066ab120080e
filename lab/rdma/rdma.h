/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common functions of the RDMA programs: arguments, a reliable connection by
 * rdma_cm, memory and its capability, work requests, completions.
 *
 * Two rules hold for every function:
 *
 *  - It ends: each wait has a limit, which is `wait=SECONDS` of the command line
 *    unless noted otherwise. Waits sleep on the file descriptors of the CM and of the
 *    completion channels. A program that spins on a CQ takes the processor
 *    away from soft RoCE, which then has nothing to complete.
 *  - Unless a return value for errors is described, it returns only after
 *    success. After an error the program ends with one line on stderr, "program:
 *    what: why", and exit status 1.
 *
 * Exit status: 0 all checks hold, 1 an error or a failed check, 2 a wrong command
 * line, 4 this machine has no RDMA (kselftest's number for "skipped").
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
 * --help and the usage line are made of @about and @options. All programs have
 * `wait`. The table ends with an entry without a name; a value of the command
 * line replaces .value.
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
/* Ends the program (4) on a machine without an RDMA device. rd_listen() and rd_open() call it first. */
void rd_need_device(void);

/*
 * End the program with "program: what: why" and exit status 1 (rd_fail_errno() with
 * strerror(errno)), or with "program: why" and 4 (rd_skip()) or 2 (rd_wrong()).
 */
void rd_fail(const char *what, const char *why, ...) RD_PRINTF(2, 3) RD_NORETURN;
void rd_fail_errno(const char *what) RD_NORETURN;
void rd_skip(const char *why, ...) RD_PRINTF(1, 2) RD_NORETURN;
void rd_wrong(const char *why, ...) RD_PRINTF(1, 2) RD_NORETURN;	/* the command line */

/*
 * Checks, which do not end the program: they print "ok TEXT" or "not ok TEXT", and
 * return true if the check holds. rd_result() returns the exit status: 0, or 1
 * after a "not ok" or without any check.
 */
bool rd_check(bool good, const char *text, ...) RD_PRINTF(2, 3);
bool rd_equal(const char *text, uint64_t got, uint64_t want);
int rd_result(void);

/* Monotonic time in milliseconds */
int64_t rd_now(void);
void rd_nap(int ms);

/* ---- memory and capabilities -------------------------------------------- */

/* Registered memory: zeroed, in separate pages */
struct rd_mem {
	uint8_t *buf;
	size_t len;
	struct ibv_mr *mr;
};

/* @access: IBV_ACCESS_*. REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well. */
struct rd_mem rd_memory(struct ibv_pd *pd, size_t len, int access);
void rd_free(struct rd_mem *mem);

/*
 * A capability: a peer that has it may access these bytes as the registration
 * permits. InfiniBand and RoCE have no message for it: it is payload of the
 * programs. Here it is sent in the private data of the CM's messages as 16 bytes:
 * be64 address, be32 rkey, be32 length. Length 0: none.
 */
struct rd_cap {
	uint64_t addr;
	uint32_t rkey;
	uint32_t length;
};

#define RD_CAP_BYTES 16

/* Capability for all of a registration */
struct rd_cap rd_cap_of(const struct rd_mem *mem);
void rd_cap_pack(uint8_t to[RD_CAP_BYTES], const struct rd_cap *cap);
struct rd_cap rd_cap_unpack(const uint8_t from[RD_CAP_BYTES]);

/* ---- connections -------------------------------------------------------- */

/* A completion queue with its own completion channel */
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
	struct rd_cap peer;		/* the capability that the peer sent with the connection */
	bool gone;			/* the peer has disconnected */
	bool own_pd;
	uint8_t depth, resources, rnr_retry, rnr_timer;
};

struct rd_conf {
	unsigned int send_wr, recv_wr;	/* depth of the queues; a device may give more */
	unsigned int inline_bytes;	/* for IBV_SEND_INLINE */
	/*
	 * Retries of the PEER's sender when there is no receive request here;
	 * 7: without limit. It is sent to the peer in the CM's message: each side
	 * sets the limit for the other's sender.
	 */
	uint8_t rnr_retry;
	/*
	 * Time until such a retry, an IBTA code; 12: 0.64 ms, 20: 10.24 ms. It is
	 * set when the QP is in RTS; an RNR NAK just before that has 655 ms.
	 */
	uint8_t rnr_timer;
	struct ibv_pd *pd;		/* NULL: one per connection */
};

extern const struct rd_conf rd_defaults;	/* 64, 64, 0, 7, 12, NULL */

/* Listens on every address, IPv4 and IPv6. Ports are decimal digits, 1 to 65535, else exit status 2. */
struct rdma_cm_id *rd_listen(const char *port);
void rd_unlisten(struct rdma_cm_id *listener);

/*
 * Server, first step: waits for a request and creates PD, CQs and QP, which is in
 * INIT. If memory is registered and receives are posted now, nothing can arrive too
 * early. .peer has the client's capability already. @conf NULL: rd_defaults.
 */
struct rd_conn *rd_request(struct rdma_cm_id *listener, const struct rd_conf *conf);
/* Client, first step: resolves address and route and creates the QP, which is in INIT. */
struct rd_conn *rd_open(const char *host, const char *port, const struct rd_conf *conf);

/*
 * Second step, one function for each side: establishes the connection; the QP is in
 * RTS. @give is sent to the peer (NULL: nothing); the client has the server's
 * capability in .peer.
 */
void rd_accept(struct rd_conn *c, const struct rd_cap *give);
void rd_connect(struct rd_conn *c, const struct rd_cap *give);

/* Waits until the peer has disconnected. */
void rd_wait_gone(struct rd_conn *c);
/*
 * Disconnects, waits up to 2 s for the peer's confirmation, and releases everything
 * but memory and a PD from rd_conf. The connection's own PD is released as well:
 * memory in it must be freed before, by rd_free() after rd_quiet().
 */
void rd_close(struct rd_conn *c);
/* Disconnects only: afterwards the QP is in ERR, and the device does not access memory. */
void rd_quiet(struct rd_conn *c);

/* The state that the device reports, by ibv_query_qp(). */
enum ibv_qp_state rd_state(struct ibv_qp *qp);
/* Waits for a state: a completion with an error may come shortly before ERR. False: not in time. */
bool rd_reaches(struct ibv_qp *qp, enum ibv_qp_state state);
const char *rd_state_name(enum ibv_qp_state state);

/* ---- work ---------------------------------------------------------------- */

struct rd_wr {
	uint64_t id;
	enum ibv_wr_opcode op;
	const struct rd_mem *mem;	/* local bytes; NULL: no bytes */
	size_t off, len;
	struct rd_cap to;		/* remote: READ, WRITE, atomics */
	uint64_t to_off;		/* added to .to.addr; not checked against .to.length */
	uint32_t imm;			/* host order */
	uint64_t add;			/* FETCH_AND_ADD; CMP_AND_SWP: the value to compare with */
	uint64_t swap;			/* CMP_AND_SWP: the new value */
	bool silent;			/* no completion unless it fails */
	bool inlined;			/* the post copies the bytes: mem may be changed and needs no registration */
};

/* 0, or the error of ibv_post_send/recv: ENOMEM if the queue is full. One doorbell each. */
int rd_post(struct rd_conn *c, const struct rd_wr *wr);
int rd_post_recv(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len);

/* All signaled; an error of the post ends the program. The remote memory is that of .peer. */
void rd_write(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t to_off);
void rd_write_imm(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t to_off,
		  uint32_t imm);
void rd_read(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len, uint64_t from_off);
void rd_send(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len);
void rd_recv(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, size_t len);
/* The old value is stored at @off: 8 bytes, in host order. */
void rd_fetch_add(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, uint64_t to_off, uint64_t add);
void rd_compare_swap(struct rd_conn *c, uint64_t id, const struct rd_mem *mem, size_t off, uint64_t to_off,
		     uint64_t compare, uint64_t swap);

/* For queue pairs without rdma_cm. */
void rd_make_cq(struct ibv_context *context, struct rd_cq *q, unsigned int depth);
void rd_free_cq(struct rd_cq *q);

/*
 * The next completion of &c->send or &c->recv, of any status, within @ms (-1:
 * rd.wait). False if there is none until then, or within a second after the
 * peer has disconnected. Of a failed one only wr_id, status and qp_num are
 * valid. @c NULL: a queue without a connection.
 */
bool rd_next(struct rd_conn *c, struct rd_cq *q, struct ibv_wc *wc, int ms);
/* The next completion, which must be @id's and a success. */
struct ibv_wc rd_done(struct rd_conn *c, struct rd_cq *q, uint64_t id);
/* The next completion, which must be @id's, with this status: printed and counted as a check. */
bool rd_ends(struct rd_conn *c, struct rd_cq *q, uint64_t id, enum ibv_wc_status status, const char *text);

#endif /* _SELFTESTS_RDMA_H */
