/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections: the SMC-R half of a socket.
 *
 * A connection is part of its socket (struct smcr_sock) and shares its
 * reference count. It is alive from smcr_conn_open() until the close machine
 * releases it; conn->lgr is non-NULL just as long.
 */
#ifndef _SMCR_CONN_H
#define _SMCR_CONN_H

#include <linux/rhashtable.h>
#include "base/base.h"
#include "rdma/buf.h"
#include "lgr/lgr.h"
#include "core/cdc.h"
#include "core/close.h"
#include "core/cursor.h"
#include "core/failover.h"
#include "core/urgent.h"
#include "core/window.h"

/*
 * struct smcr_conn - one connection
 *
 * @lock: BH. Guards everything below it unless stated otherwise. Order:
 *	socket lock > conn lock > link lock. Socket callbacks that only wake
 *	(sk_data_ready, sk_write_space, sk_error_report) may be called under it.
 */
struct smcr_conn {
	/* set by smcr_conn_open(), cleared by release; read under RCU or ref */
	struct smcr_lgr *lgr;
	/*
	 * What it sends over, counted there; NULL without lgr. Read and written
	 * under conn->lock, which is what keeps it: no other lock and no RCU does.
	 * Who needs it longer takes a reference. Comparing needs no lock.
	 */
	struct smcr_link *link;
	struct smcr_member member;	/* in lgr: own alert token, list */
	struct smcr_elem elem;		/* own element */
	struct smcr_buf *rx_buf;	/* ... is in it; socket lock */
	u32 keep_off, keep_len;		/* smcr_buf_keep() of it; socket lock */
	int rtoken;			/* index in lgr->rtokens, -1 none */
	u8 peer_index;
	bool active;			/* handshake complete: WRITE_ONCE once */
	/* keepalive, jiffies; lgr->lock */
	unsigned long ka_since;		/* begin of mode SMC */
	int ka_idle;			/* TCP_KEEPIDLE, 0 = no keepalive */
	int ka_intvl;
	int ka_cnt;

	spinlock_t lock;		/* BH; guards the rest */
	struct smcr_close fsm;

	/* receive side */
	struct smcr_ring rx_ring;
	struct smcr_pos rx_prod;	/* peer has written up to here, and it is synced */
	struct smcr_pos rx_cons;	/* application has read; also socket lock */
	struct smcr_pos rx_told;	/* ... and has not read yet, but will skip */
	struct smcr_urg_rx rx_urg;	/* state: before rx_prod.abs; smcr_conn_urgent() */
	u64 rx_announced;		/* rx_told.abs in the last CDC sent */
	unsigned long rx_tell_at;	/* jiffies; smcr_rx_peer_closed() */
	u16 rx_seq;			/* last processed (SR) */
	bool peer_blocked;		/* B of the last CDC */
	bool peer_asks;			/* R, P or U of the last CDC */
	bool rx_wait;			/* F came before what it speaks of: rx_wait_seq */
	u16 rx_wait_seq;
	bool rx_held;			/* the last CDC since, rx_later */
	struct smcr_cdc rx_later;
	struct timer_list rx_wait_timer;	/* a reference on the socket while it runs */

	/* send side */
	/*
	 * Mapped for the device of conn->link. Who gives the connection another
	 * link maps both for its device before; smcr_tx_new_buf() may be at one
	 * for the old.
	 */
	struct smcr_buf *sndbuf;	/* allocated by the first send */
	struct smcr_buf *sndbuf_old;	/* the one before, see smcr_tx_grow() */
	u32 sndbuf_size;		/* of sndbuf; socket lock writes */
	u32 sndbuf_max;			/* what it may grow to */
	unsigned long grow_at;		/* ... from then on, jiffies; it has failed before */
	u32 tx_in;			/* offset in sndbuf of the next byte; socket lock */
	u64 tx_old_end;			/* bytes before it are in sndbuf_old */
	u64 tx_acked;			/* send completion: nothing reads them any more */
	u64 tx_queued;			/* bytes put into sndbuf so far; socket lock writes */
	u64 tx_done;			/* bytes whose write completed */
	u32 tx_src;			/* offset in sndbuf of the next unsent byte */
	struct smcr_ring tx_ring;	/* the peer's element */
	struct smcr_pos tx_prod;	/* written there; .abs = bytes sent */
	struct smcr_pos tx_cons;	/* peer has consumed */
	struct smcr_urg_tx tx_urg;
	u64 tx_signalled;		/* tx_prod.abs of the last signalled post */
	u32 peer_token;
	u32 peer_rkey;			/* on conn->link: smcr_conn_aim() */
	u64 peer_va;			/* ... of the element, base not included */
	u16 tx_seq;			/* last sent */
	u32 tx_pends;			/* signalled posts outstanding */
	bool tx_blocked;		/* B in the last CDC sent */
	bool tx_ctrl;			/* a CDC without data is owed */
	bool tx_dead;			/* NO_TX: post nothing */
	bool tx_nodelay;		/* TCP_NODELAY */
	bool tx_more;			/* MSG_MORE: the last send goes on */
	bool tx_flush;			/* somebody waits for tx_done to catch up */
	bool tx_unsure;			/* a post failed: some of it may be under way */
	struct smcr_fo fo;		/* what has certainly arrived */
	bool tx_validate;		/* a CDC with F is owed, of number tx_valid_seq */
	u16 tx_valid_seq;
	bool tx_redo;			/* ... and what came after it has to be told again */
	bool tx_lost;			/* a signalled post has failed with the link */
	struct smcr_pos tx_again;	/* data from here to tx_prod are written again */
	u32 tx_owed;			/* SMCR_ACT_SEND_* not posted yet */
	bool purged;			/* unread data were dropped */
	bool tx_dropped;		/* unsent data were: queue no more */
	bool rest;			/* closed, but unread data were left */
	bool fin_seen;			/* TCP FIN came too early, timer runs */
	bool clc_sent;			/* Accept or Confirm was sent */
	u8 early_cflags;		/* D, C, A that came before activation */
	enum smcr_reason early_bad;	/* violation before activation */
	bool early_conflict;		/* element lost before activation */
	bool rx_lost;			/* a purge dropped data, or the end of them */
	struct list_head sq_wait;	/* link->waiters; empty = not waiting */

	/* deferred actions, carried out by smcr_conn_work() */
	unsigned long todo;		/* SMCR_CONN_TODO_*, atomic bit ops */
	struct work_struct work;
	struct delayed_work timer;	/* T_CLOSE or T_ABORT */
	unsigned long timer_end;	/* jiffies; an earlier run is stale */
	bool timer_abort;		/* T_ABORT runs, else T_CLOSE */
	enum smcr_reason why;		/* reason of an abnormal end */

	/* statistics for display, racy */
	u64 rx_bytes, tx_bytes;
};

enum {
	SMCR_CONN_TODO_FIN,
	SMCR_CONN_TODO_MOVE,	/* the link has failed */
	SMCR_CONN_TODO_RST,
	SMCR_CONN_TODO_RELEASE,
	SMCR_CONN_TODO_ELEM,	/* the rest of RELEASE, when all was read */
};

/**
 * struct smcr_conn_ops - what connections have to tell those above
 * @undefer: data, their end, or an error for @child, which TCP_DEFER_ACCEPT keeps
 *	back. Any context up to softirq; the connection's lock may be held
 * @lgr_lost: the group of @ssk, a server's socket in negotiation, has ended; the
 *	caller holds a reference. Process context
 * @tx_done: completion of a signalled post, see struct smcr_tx_pend; here
 *	because it may feed the close machine, which sends
 */
struct smcr_conn_ops {
	void (*undefer)(struct smcr_sock *child);
	void (*lgr_lost)(struct smcr_sock *ssk);
	void (*tx_done)(struct smcr_tx_pend *pend, bool ok);
};

/* Set before the first socket is made, by net/wire.c */
extern const struct smcr_conn_ops *smcr_conn_above;

void smcr_conn_init(struct smcr_conn *conn);
int smcr_conn_open(struct smcr_sock *ssk, struct smcr_lgr *lgr,
		   const struct smcr_clc_accept *on, u8 bsize,
		   struct smcr_rmb_req *req, enum smcr_reason *why);
int smcr_conn_set_peer(struct smcr_conn *conn, const struct smcr_clc_accept *m,
		       struct smcr_link *on);
void smcr_conn_activate(struct smcr_conn *conn);
void smcr_conn_discard(struct smcr_conn *conn);
void smcr_conn_event(struct smcr_conn *conn, enum smcr_conn_ev ev,
		     enum smcr_reason why);
void smcr_conn_event_locked(struct smcr_conn *conn, enum smcr_conn_ev ev,
			    enum smcr_reason why);
void smcr_conn_tcp_fin(struct smcr_conn *conn);
void smcr_conn_rest_read(struct smcr_conn *conn);
void smcr_conn_tx_idle(struct smcr_conn *conn);
void smcr_conn_queue_work(struct smcr_conn *conn);
void smcr_conn_rx_cdc(struct smcr_link *link, const u8 *buf);
/* move.c */
void smcr_conn_move(struct smcr_conn *conn);
void smcr_conn_want_move(struct smcr_conn *conn);
void smcr_conn_move_all(struct smcr_link *link);
/* relem.c */
int smcr_conn_claim_relem(struct smcr_conn *conn, const struct smcr_link *link,
			  u32 rkey, u64 va, u8 index);
void smcr_conn_drop_relem(struct smcr_conn *conn);
void smcr_conn_agreed(struct smcr_lgr *lgr);
void smcr_conn_lose_all(struct smcr_lgr *lgr);

/*
 * Readable bytes (0 when a violation ended the connection). What is read from
 * the element afterwards is as new as the producer; smcr_conn_apply() has the
 * other half.
 */
static inline u64 smcr_conn_readable(const struct smcr_conn *conn)
{
	u64 cons = READ_ONCE(conn->rx_cons.abs);
	u64 prod;

	smp_rmb();	/* cons first: it never passes a later prod */
	prod = READ_ONCE(conn->rx_prod.abs);
	smp_rmb();	/* prod, then the data that it announces */
	return prod - cons;
}

/*
 * Has the reader to mind urgent data? Asked after smcr_conn_readable(), it knows
 * of a mark in what that has found: smcr_conn_apply() writes the state first.
 */
static inline bool smcr_conn_urgent(const struct smcr_conn *conn)
{
	return unlikely(READ_ONCE(conn->rx_urg.state) != SMCR_URG_NONE ||
			READ_ONCE(conn->rx_told.abs) !=
				READ_ONCE(conn->rx_cons.abs));
}

/*
 * Upper bound of SO_RCVLOWAT, half of the ring as with TCP: a peer that avoids
 * silly windows need not fill the ring, see SMCR_TX_SWS_MIN.
 */
static inline u32 smcr_conn_max_lowat(const struct smcr_conn *conn)
{
	return max(smcr_ring_cap(&conn->rx_ring) / 2, 1U);
}

/* Bytes accepted from the application that no write was posted for */
static inline u64 smcr_conn_unsent(const struct smcr_conn *conn)
{
	return READ_ONCE(conn->tx_queued) - READ_ONCE(conn->tx_prod.abs);
}

/* Room in the send buffer */
static inline u32 smcr_conn_wspace(const struct smcr_conn *conn)
{
	return conn->sndbuf_size -
	       (u32)(READ_ONCE(conn->tx_queued) - READ_ONCE(conn->tx_done));
}

/* Will a send that does not fit try to get a larger buffer? smcr_tx_grow() */
static inline bool smcr_conn_may_grow(const struct smcr_conn *conn)
{
	return READ_ONCE(conn->sndbuf_size) < conn->sndbuf_max &&
	       time_after_eq(jiffies, READ_ONCE(conn->grow_at));
}

/* tx.c */
void smcr_tx_push(struct smcr_conn *conn);
bool smcr_tx_unsaid(const struct smcr_conn *conn);
void smcr_tx_give_up(struct smcr_conn *conn);
void smcr_tx_reclaim(struct smcr_conn *conn, u64 mark);
void smcr_tx_done(struct smcr_tx_pend *pend, bool ok);
void smcr_tx_set_nodelay(struct smcr_conn *conn, bool on);
void smcr_tx_flush(struct smcr_conn *conn);
void smcr_tx_room(struct smcr_link *link);
void smcr_tx_link_gone(struct smcr_link *link);
void smcr_tx_flag(struct smcr_conn *conn, u32 action);
int smcr_tx_sendmsg(struct smcr_sock *ssk, struct msghdr *msg, size_t len);
/* rx.c */
int smcr_rx_recvmsg(struct smcr_sock *ssk, struct msghdr *msg, size_t len,
		    int flags);
void smcr_rx_window(struct smcr_conn *conn);
void smcr_rx_peer_closed(struct smcr_conn *conn);
/* rx_urgent.c */
void smcr_rx_urg_news(struct smcr_conn *conn, int ev);
void smcr_rx_settle(struct smcr_conn *conn);
int smcr_rx_recv_urg(struct smcr_sock *ssk, struct msghdr *msg, size_t len,
		     int flags);
__poll_t smcr_rx_poll(struct smcr_sock *ssk);
u64 smcr_rx_inq(struct smcr_sock *ssk);
bool smcr_rx_at_mark(struct smcr_conn *conn);

#endif /* _SMCR_CONN_H */
