/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct smcr_sock: an AF_SMC socket.
 *
 * It owns an inner TCP socket for its whole life. Its mode (SMCR_MODES in
 * base/states.h) is changed by smcr_sock_set_mode() only. sk->sk_state keeps TCP's
 * numbers for core code that reads it.
 */
#ifndef _SMCR_SOCK_H
#define _SMCR_SOCK_H

#include <linux/net.h>
#include <net/sock.h>
#include "base/base.h"
#include "base/netns.h"
#include "rdma/dev.h"
#include "conn/conn.h"

/* protocol argument of socket(AF_SMC, ...) */
enum { SMCR_PROTO_V4 = 0, SMCR_PROTO_V6 = 1 };

struct smcr_hs;
struct smcr_reaper;

/* Callbacks of a TCP socket */
struct smcr_tcp_calls {
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

/*
 * An AF_SMC socket.
 *
 * Members are guarded by the socket lock unless stated. The inner socket's lock nests
 * inside the socket lock.
 *
 * The inner socket (tcp) is valid as long as the socket is in sn->socks: under sk_lock a
 * reference on tcp can be taken. release() removes the socket from that list, and then
 * closes tcp. But if a thread runs the handshake, or the mode is SMC, the socket stays in
 * the list until the last reference on it is put, and then the reaper closes tcp.
 *
 * Memory is freed after an RCU grace period (SOCK_RCU_FREE).
 */
struct smcr_sock {
	struct sock sk;			/* must be first */
	struct smcr_net *sn;		/* immutable */
	struct socket *tcp;
	struct smcr_reaper *reaper;	/* releases tcp in process context */
	u8 mode;			/* enum smcr_mode; READ_ONCE outside the lock */
	bool is_client;			/* constant in a handshake; READ_ONCE outside the lock */
	bool offered;			/* SMC-R is offered in the TCP option */
	bool opt_sent, opt_seen;	/* tcpopt_nf.c: the option was on own SYN, on SYN-ACK */
	bool opt_paused;		/* tcpopt_*.c: listener, no option for new SYNs */
	bool opt_crossed;		/* tcpopt_*.c: client, simultaneous open */
	enum smcr_reason fallback_why;	/* valid in mode TCP */
	u32 peer_diag;			/* diagnosis of the peer's Decline */
	u8 crossed_id[8];		/* peer ID for SMCR_SK_CROSSED; inner socket's lock */
	struct smcr_id net_node;	/* entry in sn->socks; sn->sk_lock */
	bool counted;			/* in sn->n_socks; sn->sk_lock */
	struct smcr_conn conn;

	/* handshake; hs.c */
	struct smcr_hs *hs;		/* of the thread that has the turn, see hs_turn */
	u32 hs_turn;			/* core/hs_turn.h; smcr_hs_turn() only */
	struct work_struct hs_work;
	struct timer_list hs_timer;	/* ends a wait, also that of a deferred accept() */
	u8 hs_want;			/* enum smcr_clc_type or SMCR_HS_WANT_* */
	unsigned long hs_up;		/* client: jiffies when TCP was established; 0: not yet */

	/* listener */
	struct work_struct accept_work;
	spinlock_t accept_lock;		/* BH; guards accept_q, hs_q and their lengths */
	struct list_head accept_q;	/* ready children; list_empty() without the lock */
	struct list_head hs_q;		/* children in a handshake */
	unsigned int n_accept_q;
	unsigned int n_hs_q;

	/* child of a listener */
	struct smcr_sock *listener;	/* reference held while queued; listener's accept_lock */
	struct list_head accept_node;

	struct smcr_tcp_calls tcp_calls;	/* the inner socket's own callbacks */

	unsigned long flags;		/* SMCR_SK_*, atomic bit ops */
	int tcp_err;			/* valid with SMCR_SK_TCP_ERR: the error that was copied */
	u32 urg_seq;			/* TCP's urg_seq signalled last; inner socket's lock */
	int pushed_if;			/* SO_BINDTODEVICE as the inner socket has it */
	u32 pushed_mark;		/* SO_MARK of the inner socket: smcr_sockopt_push() */
	int pushed_cpu;			/* SO_INCOMING_CPU, as pushed or learned from TCP */
	const void *pushed_filter;	/* SO_ATTACH_FILTER; inner socket's lock */
	bool corked;			/* TCP_CORK */
	int defer_accept;		/* listener: TCP_DEFER_ACCEPT, seconds */
	int keepidle;			/* TCP_KEEPIDLE in jiffies, 0: as the inner socket's */
};

/* hs_want: what a handshake waits for on TCP, apart from CLC messages */
enum {
	SMCR_HS_WANT_NOTHING	= 0,
	SMCR_HS_WANT_TCP	= 0x80,	/* TCP's connect() succeeds or fails */
	SMCR_HS_WANT_NEWS	= 0x81,	/* data, FIN or an error, while LLC is awaited */
};

enum {
	SMCR_SK_NOSPACE,	/* a writer or poller waits for room */
	SMCR_SK_TCP_FIN,	/* FIN seen while SMC-R is active */
	SMCR_SK_TCP_ERR,	/* sk_err is a copy of the inner socket's */
	SMCR_SK_TCP_URG,	/* urg_seq is valid */
	SMCR_SK_COUNTED,	/* this fallback was counted */
	SMCR_SK_APP_CLOSED,	/* the close machine got APP_CLOSE */
	SMCR_SK_FASTOPEN,	/* application asked for TCP Fast Open */
	SMCR_SK_FORWARDED,	/* calls went to TCP without the socket lock */
	SMCR_SK_READY,		/* child is in accept_q, not hs_q; accept_lock */
	SMCR_SK_CONN_WORK,	/* conn.end.work waits for the owner of the socket lock */
	SMCR_SK_HS_WORK,	/* hs_work waits for the owner of the socket lock */
	SMCR_SK_ACCEPT_WORK,	/* accept_work waits for the owner of the socket lock */
	SMCR_SK_DEFERRED,	/* child stays in hs_q: TCP_DEFER_ACCEPT */
	SMCR_SK_CROSSED,	/* the peer's Decline may cross our own; inner socket's lock */
};

static inline struct smcr_sock *smcr_sk(const struct sock *sk)
{
	return (struct smcr_sock *)sk;
}

static inline struct smcr_sock *smcr_conn_sock(const struct smcr_conn *conn)
{
	return container_of(conn, struct smcr_sock, conn);
}

/* smcr_sock.c */
void smcr_sock_set_mode(struct smcr_sock *ssk, enum smcr_mode mode);
bool smcr_sock_get(struct smcr_sock *ssk);
void smcr_sock_uncount(struct smcr_sock *ssk);
void smcr_sock_unlist(struct smcr_sock *ssk);
bool smcr_sock_trylock(struct smcr_sock *ssk, int flag);
/* inner.c */
bool smcr_tcp_has_bpf(const struct sock *tsk);
bool smcr_tcp_is_ours(const struct smcr_sock *ssk);
bool smcr_tcp_taken(struct smcr_sock *ssk);
struct smcr_sock *smcr_tcp_owner(const struct sock *tsk);
bool smcr_tcp_has_news(const struct sock *tsk);
void smcr_tcp_peer(const struct sock *tsk, struct in6_addr *addr);
void smcr_tcp_own(struct smcr_sock *ssk, struct socket *sock);
void smcr_tcp_own_child(struct smcr_sock *child, const struct smcr_sock *lsk);
void smcr_tcp_disown(struct smcr_sock *ssk);
void smcr_tcp_fin(struct smcr_sock *ssk);
void smcr_tcp_reset(struct smcr_sock *ssk);

/*
 * End the wait of TCP_DEFER_ACCEPT: @child has data, their end, or an error. Any
 * context.
 */
static inline void smcr_child_end_wait(struct smcr_sock *child)
{
	if (unlikely(test_bit(SMCR_SK_DEFERRED, &child->flags)))
		smcr_conn_owner_ops->undefer(child);
}

#endif /* _SMCR_SOCK_H */
