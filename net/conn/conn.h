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

/**
 * struct smcr_conn_own - the own element; socket lock, or the turn of the handshake
 * @elem: the element; without an RMB when @pin_len says what is left of it
 * @buf: what it is in
 * @pin_off: smcr_buf_pin() of it, where
 * @pin_len: ... how much, 0: nothing is kept
 * @clc_sent: the peer was told of it, in Accept or Confirm
 *
 * CDC messages look at it under conn->lock: it is there before the connection can be
 * looked up, and goes when conn->lgr does not name a group any more.
 */
struct smcr_conn_own {
	struct smcr_elem elem;
	struct smcr_buf *buf;
	u32 pin_off, pin_len;
	bool clc_sent;
};

/**
 * struct smcr_conn_relem - the peer's element; socket lock, or the turn of the handshake
 * @rtoken: index in lgr->rtok.all->tab, -1 none
 * @index: element of that RMB
 */
struct smcr_conn_relem {
	int rtoken;
	u8 index;
};

/**
 * struct smcr_conn_ka - keepalive, jiffies; lgr->lock
 * @since: begin of mode SMC; nobody looks while @idle is 0
 * @idle: TCP_KEEPIDLE, 0 = no keepalive
 * @intvl: TCP_KEEPINTVL
 * @cnt: TCP_KEEPCNT
 */
struct smcr_conn_ka {
	unsigned long since;
	int idle;
	int intvl;
	int cnt;
};

/**
 * struct smcr_conn_rx - the receive side; conn->lock
 * @ring: the own element
 * @prod: the peer has written up to here, and it is synced
 * @cons: the application has read; its reader alone moves it, and with the socket
 *	lock may look at it without the other; but see @purged
 * @ackable: ... and has not read yet, but will skip
 * @urg: state: before prod.abs; smcr_conn_urgent()
 * @acked: ackable.abs in the last CDC sent
 * @tell_at: jiffies; smcr_rx_peer_closed()
 * @seq: last processed (SR)
 * @blocked: B of the last CDC
 * @asks: R, P or U of the last CDC
 * @redo: F has come: the peer's cursor may be behind
 * @redo_at: ... the last one, jiffies
 * @redo_num: ... number of its link
 * @purged: unread data were dropped; a reader that copies looks without the lock
 * @lost: a purge dropped data, or the end of them
 * @rest: closed, but unread data were left
 * @bytes: received, for display
 */
struct smcr_conn_rx {
	struct smcr_ring ring;
	struct_group(zero,	/* for each connection of a socket */
		struct smcr_pos prod;
		struct smcr_pos cons;
		struct smcr_pos ackable;
		struct smcr_urg_rx urg;
		u64 acked;
		u16 seq;
		bool blocked;
		bool asks;
		bool redo;
		bool purged;
		bool lost;
		bool rest;
	);
	unsigned long tell_at;
	unsigned long redo_at;
	u8 redo_num;
	u64 bytes;
};

/**
 * struct smcr_cdc_reorder - F came before what it speaks of; conn->lock
 * @wait: and that is waited for
 * @seq: its number
 * @link_num: link on which F came: no link before it has the message
 * @until: ... at most, jiffies
 * @have: there is a CDC that came since
 * @cdc: ... the last one
 * @timer: until the next look; a reference on the socket while it runs
 */
struct smcr_cdc_reorder {
	bool wait;
	u16 seq;
	u8 link_num;
	unsigned long until;
	bool have;
	struct smcr_cdc cdc;
	struct timer_list timer;
};

/**
 * struct smcr_conn_snd - the send buffer; socket lock
 * @buf: allocated by the first send
 * @old: the one before, see smcr_tx_grow()
 * @size: of @buf
 * @max: what it may grow to
 * @grow_at: ... from then on, jiffies; it has failed before
 * @in: offset in @buf of the next byte
 * @lent: the link that was left has them: smcr_conn_leave_link(); conn->lock
 * @old_end: bytes before it are in @old
 *
 * Who posts looks at @buf, @old, @size and @old_end under conn->lock, so they change
 * under both once there is something to post. Both buffers are mapped for the device of
 * conn->link: who gives the connection another link maps them for its device before;
 * smcr_tx_new_buf() may be at one for the old. When they are lent only their pages stay,
 * for the owner of the socket lock: data are neither sent nor queued any more.
 */
struct smcr_conn_snd {
	struct smcr_buf *buf;
	struct smcr_buf *old;
	u32 size;
	u32 max;
	unsigned long grow_at;
	u32 in;
	bool lent;
	u64 old_end;
};

/**
 * struct smcr_conn_tx - what is sent; conn->lock
 * @acked: send completion: nothing reads these bytes any more
 * @queued: bytes put into the send buffer so far; grows under the socket lock, too
 * @done: bytes whose write completed, or that the peer has read
 * @src: offset in snd.buf of the next unsent byte
 * @ring: the peer's element
 * @prod: written there; .abs = bytes sent
 * @cons: the peer has consumed
 * @urg: urgent data
 * @signalled: prod.abs of the last signalled post
 * @token: the peer's alert token
 * @rkey: of the element on conn->link: smcr_conn_resolve_rtoken()
 * @va: ... its address there, base not included
 * @seq: last sent
 * @pends: signalled posts outstanding
 * @blocked: B in the last CDC sent
 * @ctrl: a CDC without data is owed
 * @dead: NO_TX: post nothing
 * @nodelay: TCP_NODELAY
 * @more: MSG_MORE: the last send goes on
 * @flush: somebody waits for @done to catch up
 * @dropped: unsent data were dropped: queue no more
 * @attempt: counts the socket's connections: a post of an earlier one completes late
 * @owed: SMCR_ACT_SEND_* not posted yet
 * @sq_wait: link->waiters; empty = not waiting; link->lock, but list_empty() under conn->lock
 * @bytes: sent, for display
 * @timeout: TCP_USER_TIMEOUT in jiffies, 0 none
 * @watched: something waits for the peer
 * @taken: ... @done and prod.abs when that began
 * @since: ... jiffies
 * @timer: ... for how long; a reference on the socket while it runs
 */
struct smcr_conn_tx {
	struct_group(zero,	/* for each connection of a socket */
		u64 acked;
		u64 queued;
		u64 done;
		struct smcr_pos prod;
		struct smcr_pos cons;
		struct smcr_urg_tx urg;
		u64 signalled;
		u32 src;
		u32 owed;
		u16 seq;
		bool blocked;
		bool ctrl;
		bool dead;
		bool flush;
		bool dropped;
	);
	struct smcr_ring ring;
	u32 token;
	u32 rkey;
	u64 va;
	u32 pends;
	bool nodelay;
	bool more;
	u8 attempt;
	struct list_head sq_wait;
	u64 bytes;
	unsigned long timeout;
	bool watched;
	u64 taken;
	unsigned long since;
	struct timer_list timer;
};

/* How far a connection is that leaves a link which works: smcr_conn_spread() */
enum smcr_mv_leave {
	SMCR_MV_STAYS,
	SMCR_MV_STOPS,		/* nothing more is posted, and the barrier is owed */
	SMCR_MV_WAITS,		/* ... is on its way */
	SMCR_MV_LEAVES,		/* ... has completed: all has arrived */
};

/**
 * struct smcr_conn_mv - what it takes to go on over another link, move.c; conn->lock
 * @fo: what has certainly arrived
 * @validate: a CDC with F is owed
 * @valid_seq: ... its number
 * @redo: ... and what came after it has to be told again
 * @lost: a signalled post has failed with the link
 * @unsure: a post failed: some of it may be under way
 * @leave: enum smcr_mv_leave
 * @again: data from here to tx.prod are written again
 */
struct smcr_conn_mv {
	struct smcr_fo fo;
	bool validate;
	u16 valid_seq;
	bool redo;
	bool lost;
	bool unsure;
	u8 leave;
	struct smcr_pos again;
};

/**
 * struct smcr_conn_bound - what a link that is lost may still write; conn->lock
 * @at: no byte is written from here on: see struct smcr_fo_plan; U64_MAX
 * @num: number of the link, 0: of more than one; written with WRITE_ONCE()
 * @gone: of the link that is deleted, with TODO_UNBIND; without the lock, READ_ONCE()
 * @timer: for how long; a reference on the socket while it runs
 */
struct smcr_conn_bound {
	u64 at;
	u8 num;
	u8 gone;
	struct timer_list timer;
};

/**
 * struct smcr_conn_preactive - what came before activation; conn->lock
 * @cflags: D, C, A
 * @bad: a violation
 * @conflict: the element was lost
 */
struct smcr_conn_preactive {
	u8 cflags;
	enum smcr_reason bad;
	bool conflict;
};

/**
 * struct smcr_conn_end - what closing leaves to be done; conn->lock
 * @todo: SMCR_CONN_TODO_*, atomic bit operations, for @work
 * @work: smcr_conn_work(); a reference on the socket while it is queued
 * @timer: T_CLOSE or T_ABORT; a reference on the socket while it is armed
 * @due: jiffies when it ends; an earlier run is stale
 * @taken: tx.cons.abs when it began
 * @abort: T_ABORT runs, else T_CLOSE
 * @fin_seen: TCP's FIN came too early, the timer runs
 * @orphan: in sn->orphans; sn->sk_lock
 * @why: reason of an abnormal end
 */
struct smcr_conn_end {
	unsigned long todo;
	struct work_struct work;
	struct delayed_work timer;
	unsigned long due;
	u64 taken;
	bool abort;
	bool fin_seen;
	struct list_head orphan;
	enum smcr_reason why;
};

/**
 * struct smcr_conn - one connection
 * @lgr: set by smcr_conn_open(), cleared by release under @lock; read under @lock, RCU
 *	or a reference
 * @link: what it sends over, counted there; NULL without @lgr, or when it is lost, has
 *	left the device, and no link carries: smcr_conn_leave_device(). Read and written under
 *	@lock, which is what keeps it: no other lock and no RCU does. Who needs it
 *	longer takes a reference. Comparing needs no lock
 * @member: in @lgr: own alert token, list; lgr->lock, the token @lock
 * @own: socket lock
 * @relem: socket lock
 * @ka: lgr->lock
 * @active: the handshake is complete: WRITE_ONCE once under @lock
 * @lock: BH. Order: socket lock > conn lock > link lock. Socket callbacks that only
 *	wake (sk_data_ready, sk_write_space, sk_error_report) may be called under it
 * @fsm: the close machine; @lock
 * @rx: receive side; @lock
 * @reorder: receive side, while a CDC is waited for; @lock
 * @snd: send buffer; socket lock
 * @tx: send side; @lock
 * @mv: failover of it; @lock
 * @bound: ... until the old link is deleted; @lock
 * @preactive: what came before @active; @lock
 * @end: @lock
 */
struct smcr_conn {
	struct smcr_lgr *lgr;
	struct smcr_link *link;
	struct smcr_lgr_member member;
	struct smcr_conn_own own;
	struct smcr_conn_relem relem;
	bool active;
	struct smcr_conn_ka ka;

	spinlock_t lock;	/* see above */
	struct smcr_close fsm;
	struct smcr_conn_rx rx;
	struct smcr_cdc_reorder reorder;
	struct smcr_conn_snd snd;
	struct smcr_conn_tx tx;
	struct smcr_conn_mv mv;
	struct smcr_conn_bound bound;
	struct smcr_conn_preactive preactive;
	struct smcr_conn_end end;
};

enum {
	SMCR_CONN_TODO_FIN,
	SMCR_CONN_TODO_MOVE,	/* the link has failed, or is left */
	SMCR_CONN_TODO_SPREAD,	/* another link has fewer connections */
	SMCR_CONN_TODO_UNBIND,	/* ... and one that failed before is deleted */
	SMCR_CONN_TODO_LATE,	/* it was to move: its device waits for that */
	SMCR_CONN_TODO_RST,
	SMCR_CONN_TODO_RELEASE,
	SMCR_CONN_TODO_ELEM,	/* the rest of RELEASE, when all was read */
};

/**
 * struct smcr_conn_ops - what connections have to tell those above
 * @undefer: data, their end, or an error for @child, which TCP_DEFER_ACCEPT keeps
 *	back. Any context up to softirq; the connection's lock may be held
 * @link_lost: @ssk is in a handshake, and its link may carry nothing any more; or its
 *	group has ended, a server's. The caller holds a reference. Process context
 */
struct smcr_conn_ops {
	void (*undefer)(struct smcr_sock *child);
	void (*link_lost)(struct smcr_sock *ssk);
};

/* Set before the first socket is made, by net/wire.c */
extern const struct smcr_conn_ops *smcr_conn_owner_ops;

void smcr_conn_init(struct smcr_conn *conn);
int smcr_conn_open(struct smcr_sock *ssk, struct smcr_lgr *lgr,
		   const struct smcr_clc_accept *on, u8 bsize,
		   struct smcr_rmb_req *req, enum smcr_reason *why);
int smcr_conn_set_peer(struct smcr_conn *conn, const struct smcr_clc_accept *m,
		       struct smcr_link *on);
void smcr_conn_activate(struct smcr_conn *conn);
bool smcr_conn_leave_early(struct smcr_conn *conn);
void smcr_conn_discard(struct smcr_conn *conn);
void smcr_conn_event(struct smcr_conn *conn, enum smcr_conn_ev ev,
		     enum smcr_reason why);
void smcr_conn_event_locked(struct smcr_conn *conn, enum smcr_conn_ev ev,
			    enum smcr_reason why);
void smcr_conn_tcp_fin(struct smcr_conn *conn);
void smcr_conn_orphan(struct smcr_conn *conn);
void smcr_conn_rest_read(struct smcr_conn *conn);
void smcr_conn_tx_idle(struct smcr_conn *conn);
void smcr_conn_tx_done(struct smcr_tx_pend *pend, bool ok);
void smcr_conn_queue_work(struct smcr_conn *conn);
void smcr_conn_rx_cdc(struct smcr_link *link, const u8 *buf);
/* move.c */
void smcr_conn_move(struct smcr_conn *conn);
void smcr_conn_move_early(struct smcr_conn *conn);
void smcr_conn_want_move(struct smcr_conn *conn);
void smcr_conn_move_all(struct smcr_link *link);
void smcr_conn_stay_all(struct smcr_link *link);
void smcr_conn_spread(struct smcr_conn *conn);
void smcr_conn_spread_all(struct smcr_lgr *lgr, u32 more[SMCR_SLOTS]);
void smcr_conn_late_all(struct smcr_lgr *lgr);
/* relem.c */
int smcr_conn_claim_relem(struct smcr_conn *conn, const struct smcr_link *link,
			  u32 rkey, u64 va, u8 index, u32 size);
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
	u64 cons = READ_ONCE(conn->rx.cons.abs);
	u64 prod;

	smp_rmb();	/* cons first: it never passes a later prod */
	prod = READ_ONCE(conn->rx.prod.abs);
	smp_rmb();	/* prod, then the data that it announces */
	return prod - cons;
}

/*
 * Has the reader to mind urgent data? Asked after smcr_conn_readable(), it knows
 * of a mark in what that has found: smcr_conn_apply() writes the state first.
 */
static inline bool smcr_conn_urgent(const struct smcr_conn *conn)
{
	return unlikely(READ_ONCE(conn->rx.urg.state) != SMCR_URG_NONE ||
			READ_ONCE(conn->rx.ackable.abs) !=
				READ_ONCE(conn->rx.cons.abs));
}

/*
 * Upper bound of SO_RCVLOWAT, half of the ring as with TCP: a peer that avoids
 * silly windows need not fill the ring, see SMCR_TX_SWS_MIN.
 */
static inline u32 smcr_conn_max_lowat(const struct smcr_conn *conn)
{
	return max(smcr_ring_cap(&conn->rx.ring) / 2, 1U);
}

/* Bytes accepted from the application that no write was posted for */
static inline u64 smcr_conn_unsent(const struct smcr_conn *conn)
{
	return READ_ONCE(conn->tx.queued) - READ_ONCE(conn->tx.prod.abs);
}

/* Room in the send buffer */
static inline u32 smcr_conn_wspace(const struct smcr_conn *conn)
{
	return READ_ONCE(conn->snd.size) -
	       (u32)(READ_ONCE(conn->tx.queued) - READ_ONCE(conn->tx.done));
}

/* Will a send that does not fit try to get a larger buffer? smcr_tx_grow() */
static inline bool smcr_conn_may_grow(const struct smcr_conn *conn)
{
	return READ_ONCE(conn->snd.size) < READ_ONCE(conn->snd.max) &&
	       time_after_eq(jiffies, READ_ONCE(conn->snd.grow_at));
}

/* tx.c */
void smcr_tx_push(struct smcr_conn *conn);
bool smcr_tx_unsaid(const struct smcr_conn *conn);
void smcr_tx_give_up(struct smcr_conn *conn);
bool smcr_tx_reclaim(struct smcr_conn *conn, u64 mark);
bool smcr_tx_completed(struct smcr_conn *conn, const struct smcr_tx_pend *pend,
		       bool ok);
void smcr_tx_set_nodelay(struct smcr_conn *conn, bool on);
void smcr_tx_end_more(struct smcr_conn *conn);
void smcr_tx_flush(struct smcr_conn *conn);
void smcr_tx_room(struct smcr_link *link);
void smcr_tx_link_gone(struct smcr_link *link);
void smcr_tx_flag(struct smcr_conn *conn, u32 action);
int smcr_tx_sendmsg(struct smcr_sock *ssk, struct msghdr *msg, size_t len);
/* tx_limit.c */
u32 smcr_tx_allowance(const struct smcr_conn *conn);
bool smcr_tx_sparse(const struct smcr_conn *conn);
void smcr_tx_limits_changed(struct smcr_conn *conn);
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
