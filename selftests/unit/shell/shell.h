/* SPDX-License-Identifier: GPL-2.0-only */
/* Common declarations of the files of model_conn.c, which describes them. */
#ifndef _SMCR_UNIT_SHELL_H
#define _SMCR_UNIT_SHELL_H

#include "conn/conn.h"
#include "conn/smcr_sock.h"
#include "base/netns.h"

/* fiber.c: coroutines on stacks of their own */
struct fiber;
struct fiber *fiber_new(void (*fn)(void));
void fiber_enter(struct fiber *f);	/* from the scheduler */
void fiber_leave(struct fiber *f);	/* back to it */
void fiber_forget(struct fiber *f);	/* the next fiber_enter() begins anew */

/* kernel.c */
void kernel_start(u64 seed, unsigned int gap);
void kernel_end(void);
bool kernel_run(void);			/* until nothing is left to do */
const char *kernel_waits(void);
u32 pick(u32 n);			/* 0 .. n - 1, by the run's seed */
bool chance(u32 n);			/* true once in n times */
void later(unsigned long ms, void (*fn)(void *arg, int n), void *arg, int n);
void task_start(const char *name, void (*fn)(void *arg, int n), void *arg, int n);
void wait_until(unsigned long ms);	/* sleeps */
struct smcr_sock *task_sock(void);
void task_set_sock(struct smcr_sock *ssk);
unsigned int task_posts(void);
unsigned int kmem_left(const char **who);
extern unsigned long steps;
extern bool kernel_ending;

/**
 * struct plan - order of steps: the first candidate, but for some turns
 * @of: number of candidates at each step
 * @n: number of steps so far
 * @next: the next entry of @turn to be used
 * @n_turns: entries of @turn in use
 * @turn: steps, .at, at which another candidate, .take, is chosen
 */
struct plan {
	u8 of[4096];
	unsigned int n, next, n_turns;
	struct turn {
		unsigned int at, take;
	} turn[3];
};

extern struct plan *plan;		/* NULL: by chance */

/* rdma.c */
struct wire;
void rdma_start(void);
bool rdma_end(void);
unsigned int rdma_ready(void);		/* number of steps that the wire can do */
void rdma_step(unsigned int i);
bool rdma_is_ack(unsigned int i);
void rdma_connect(struct ib_qp *a, struct ib_qp *b);
void rdma_break(struct ib_qp *from);	/* what @from sends is lost from now on */
bool rdma_broken(const struct ib_qp *qp);
void rdma_stay(struct ib_qp *qp);	/* a drained one is used again */
void rdma_fail(struct ib_qp *qp);	/* error of the device */
void rdma_mr(int host, int d, struct ib_mr *mr, struct smcr_buf *buf);

/* group.c: hosts, and what replaces the group's state machine */
enum { HOSTS = 2, DEVS = 3, ELEMS_MAX = 8, LINKS_MAX = 4 };

struct elem_state {
	enum { ELEM_FREE, ELEM_BUSY, ELEM_QUARANTINE } st;
	struct smcr_sock *owner;
	unsigned long since;
};

struct host {
	int no;
	struct smcr_net sn;
	struct net *net;
	struct smcr_lgr *lgr;
	struct smcr_rmb *rmb;
	struct smcr_buf *rmb_buf;
	struct ib_device ibdev[DEVS];
	struct smcr_dev *dev[DEVS];
	struct ib_pd pd[DEVS];
	struct elem_state elem[ELEMS_MAX];
	int rtoken;			/* of the peer's RMB */
	bool lost;			/* the group is dead, group_lost() has run */
};

struct world {
	struct host host[HOSTS];
	u32 elem_size, n_elems;
	u32 base;
	u32 sndbuf, first_sndbuf;
	u8 n_links;			/* maximum at a time */
	u8 breaks;			/* failures of links that are left */
	u16 pace;			/* ms between two of these, about */
	u8 slow_ack, slow_cq, slow_work; /* such a step is taken once in so many times */
	u8 held;			/* one of so many packets arrives after its link; 0: none */
	u16 slow_llc;			/* ms from a failure to its report to the peer, at most */
	u8 late_cq;			/* one of so many handlers runs much later; 0: none */
	u8 tries;			/* handshakes that may find no element */
	bool orderly;			/* links are also deleted in order */
	bool may_die;			/* the last link may fail, too */
	u8 n_conns;			/* connections that are still to be made */
	u8 aborts;			/* of 16 ends, so many are aborts */
	bool urgent;
	u16 spreads;			/* times that connections move for balance */
	bool stays;			/* a link that drains may be used again */
	bool short_mem;			/* a buffer cannot be mapped for one device */
	u8 no_mem;			/* one of so many maps of send buffers fails; 0: none */
	bool keeps;			/* a device may fail to flush and to destroy a queue pair */
	bool turns;			/* a ring takes many posts, which fit the send queue */
	u32 stream;			/* bytes, in one direction only; 0: random */
	u32 deaths;			/* groups that ended */
	u32 moves, made, reads, conflicts, full, held_came, others, spread, stayed, lost, kept;
	u32 most_posts;			/* by one smcr_tx_push() */
};

extern struct world w;
void group_start(void);
void group_end(void);
void group_break(void *arg, int n);
void group_fail(struct smcr_link *link);
void group_spread(void *arg, int n);
int group_carries(const struct smcr_net *sn);
struct host *host_of(const struct smcr_lgr *lgr);
struct elem_state *elem_at(const void *addr, u32 len);
struct pair;
const struct pair *pair_of(const struct smcr_sock *ssk);

/* apps.c: connections and their programs */
void apps_start(void);
void apps_check(void);			/* at the end of a run */
void apps_end(void);
void apps_lost(u32 token);
void apps_came(u32 token, const void *by, u8 pflags, u8 cflags);
u8 byte_of(const struct smcr_sock *to, u64 pos);
void sock_free(struct sock *sk);

/* rtokens.c, idle.c, reuse.c */
void rtokens_run(void *arg, int n);
void idle_run(void *arg, int n);
void reuse_run(void *arg, int n);

#endif /* _SMCR_UNIT_SHELL_H */
