/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections: the SMC-R half of a socket.
 *
 * A connection is part of its socket (struct smcr_sock) and shares its
 * reference count. It exists from smcr_conn_open() until it is released, and
 * conn->lgr is not NULL during that time.
 *
 * Words of the files in this directory:
 * - A CDC or a flag is owed if it is due to the peer and not posted yet. The flags of CDC
 *   are B, P, U, R, F, D, C and A (RFC 7609 A.4).
 * - T_CLOSE and T_ABORT are timers that the close machine (core/close.h) starts, with
 *   the times net.smcr.t_close and net.smcr.t_abort.
 * - A link carries connections while they may send over it: smcr_link_carries(). A link
 *   that was stopped or has drained is silent, as no post of a connection is pending
 *   there: smcr_link_silent().
 * - Lent send buffers: see @lent of struct smcr_conn_snd. A lost link that binds a
 *   connection: see struct smcr_conn_bound.
 * - The turn of a handshake is its ownership by the thread that runs it: core/hs_turn.h.
 * - A lock at the end of a description, behind a semicolon, guards the member or structure.
 */
#ifndef _SMCR_CONN_H
#define _SMCR_CONN_H

#include <linux/rhashtable.h>
#include "core/cdc.h"
#include "core/clc.h"
#include "core/close.h"
#include "core/cursor.h"
#include "core/failover.h"
#include "core/lgr_roles.h"
#include "core/urgent.h"
#include "core/window.h"
#include "base/base.h"
#include "rdma/buf.h"
#include "lgr/lgr_conns.h"
#include "lgr/rmb.h"

/**
 * struct smcr_conn_own - the own element; socket lock, or the turn of a handshake
 * @elem: the element; elem.rmb is NULL while only unread data are kept, see @pin_len
 * @buf: buffer that the element is in
 * @pin_off: offset in @buf of the unread data that smcr_buf_pin() keeps
 * @pin_len: length of these data; 0: no data are kept
 * @clc_sent: an Accept or Confirm that names the element was sent
 *
 * The receipt of CDC messages reads this structure under conn->lock only. That is safe: the
 * element is set before a lookup can find the connection, and it is released after
 * conn->lgr was cleared under conn->lock.
 */
struct smcr_conn_own {
	struct smcr_elem elem;
	struct smcr_buf *buf;
	u32 pin_off, pin_len;
	bool clc_sent;
};

/**
 * struct smcr_conn_relem - the peer's element; socket lock, or the turn of a handshake
 * @rtoken: RToken of the peer's RMB, index in lgr->rtok.all->tab; -1: none
 * @index: number of the element in the peer's RMB
 */
struct smcr_conn_relem {
	int rtoken;
	u8 index;
};

/**
 * struct smcr_conn_ka - keepalive, times in jiffies; lgr->lock
 * @since: when the socket entered mode SMC; not read while @idle is 0
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
 * @ring: geometry of the own element
 * @prod: end of the data that the peer has announced; they are synced for the CPU
 * @cons: end of the data that the application has read. Apart from a purge (@purged) only
 *	the reader moves @cons, so the reader may read it under the socket lock alone
 * @ackable: consumer position for the next CDC: @cons, or the end of urgent bytes after
 *	@cons that the reader will skip
 * @urg: urgent data; urg.state is written before prod.abs, see smcr_conn_urgent()
 * @acked: value of ackable.abs when the last CDC was sent
 * @update_at: used after the peer's C has come: jiffies when the next window update is due,
 *	see smcr_rx_peer_closed()
 * @seq: sequence number of the last CDC processed, the RFC's SR
 * @blocked: the last CDC processed has B
 * @asks: the last CDC processed has R
 * @redo: a CDC with F has come, so the peer's producer cursor may be behind @prod
 * @beyond: a CDC with A has come, and its producer cursor was not applied, so the peer may have
 *	written beyond @prod
 * @redo_at: jiffies when the last CDC with F came
 * @redo_num: number of the link that the last CDC with F came on
 * @purged: unread data were dropped; rx_copy() reads @purged without the lock
 * @lost: a purge dropped unread data, or came before the peer's D or C, so the end of the
 *	data is not orderly: rx_ended()
 * @rest: the close machine is in CLOSED, but unread data are left
 * @bytes: bytes received, for display
 */
struct smcr_conn_rx {
	struct_group(zero,	/* zeroed for each new connection of the socket */
		struct smcr_pos prod;
		struct smcr_pos cons;
		struct smcr_pos ackable;
		struct smcr_urg_rx urg;
		u64 acked;
		u16 seq;
		bool blocked;
		bool asks;
		bool redo;
		bool beyond;
		bool purged;
		bool lost;
		bool rest;
	);
	struct smcr_ring ring;
	unsigned long update_at;
	unsigned long redo_at;
	u8 redo_num;
	u64 bytes;
};

/**
 * struct smcr_cdc_reorder - wait for a CDC that is missing, as a CDC with F shows; conn->lock
 * @wait: the awaited CDC has not come yet; later CDC messages are deferred
 * @seq: sequence number of the awaited CDC
 * @link_num: number of the link that F came on. F is the peer's first message on that
 *	link, so the awaited CDC can only come on another link
 * @until: jiffies when the wait ends at the latest
 * @have: @cdc is valid
 * @cdc: the newest of the deferred CDC messages
 * @timer: next check whether the awaited CDC may still come; has a reference on the socket
 *	while it is armed
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
 * @buf: the buffer, which the first send allocates
 * @old: the previous buffer, which tx_grow() has replaced; kept until no WRITE reads it
 * @size: bytes of @buf
 * @max: bytes that the buffer may grow to
 * @grow_at: jiffies before which tx_grow() makes no attempt, as the last one has failed
 * @in: offset in @buf of the next byte to queue
 * @lent: both buffers are on the reclaim list of a link that the connection has left, see
 *	smcr_conn_leave_link(); conn->lock
 * @old_end: bytes of the stream before this position are in @old
 *
 * Functions that post WRITEs use @buf, @old, @size and @old_end under conn->lock only. So
 * once there is something to post, a change of these members needs the socket lock and
 * conn->lock. Both buffers are mapped for the device of conn->link: a move maps them for
 * the new device before it changes the link. If the connection leaves a link while
 * tx_new_buf() allocates a buffer for that link's device, the buffer is not used.
 * Lent buffers may be freed with the link. But their pages are pinned, and stay until
 * conn_unlend(), as the owner of the socket lock may be copying to them. Their data are
 * not sent, and no more are queued.
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
 * @acked: position that the last send completion covers: no WRITE reads bytes before it
 * @queued: bytes put into the send buffer so far; grows only under the socket lock and
 *	conn->lock
 * @done: bytes whose WRITE has completed, or that the peer has read
 * @src: offset in snd.buf of the next unsent byte
 * @ring: geometry of the peer's element
 * @prod: end of what was written to the peer's element; prod.abs = bytes sent
 * @cons: consumer position that the peer has announced
 * @urg: urgent data
 * @signalled: prod.abs of the last signalled post
 * @token: the peer's alert token
 * @rkey: RKey of the peer's RMB on conn->link: smcr_conn_resolve_rtoken()
 * @va: address of the peer's element on conn->link; ring.base is not added
 * @seq: sequence number of the last CDC sent
 * @pends: number of pending signalled posts
 * @blocked: B in the last CDC sent
 * @ctrl: a CDC is owed, even if there are no data to send with it
 * @dead: set by SMCR_ACT_NO_TX and smcr_conn_discard(): nothing is posted any more
 * @nodelay: TCP_NODELAY
 * @more: the last send had MSG_MORE: its data wait for more data
 * @flush: the last queued byte needs a completion: smcr_tx_flush()
 * @dropped: unsent data were dropped, and no more data are queued
 * @attempt: changes with each connection of the socket, so that late completions of an
 *	earlier connection have another number
 * @owed: the action SMCR_ACT_SEND_* whose CDC is owed; 0: none
 * @sq_wait: entry in link->waiters, the FIFO of connections that wait for room in the send
 *	queue. It is changed under the link's lock (link->lock). list_empty() is true if the
 *	connection is not in the FIFO, and may be called under conn->lock alone
 * @bytes: bytes sent, for display
 * @timeout: TCP_USER_TIMEOUT in jiffies; 0: none
 * @watched: @timeout is measured from @since on, as data or a completion wait for the peer
 * @taken: sum of @done and prod.abs at @since; if the sum has grown, the peer takes data
 * @since: jiffies when the measurement of @timeout began
 * @timer: TCP_USER_TIMEOUT; has a reference on the socket while it is armed
 */
struct smcr_conn_tx {
	struct_group(zero,	/* zeroed for each new connection of the socket */
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

/* Progress of a connection that leaves a working link: smcr_conn_spread() */
enum smcr_mv_leave {
	SMCR_MV_STAYS,
	SMCR_MV_STOPS,		/* only the post of smcr_tx_barrier() is still due */
	SMCR_MV_WAITS,		/* the barrier is pending */
	SMCR_MV_LEAVES,		/* the barrier has completed: all data have arrived */
};

/**
 * struct smcr_conn_mv - state of a move to another link, see move.c; conn->lock
 * @fo: failover point: what has certainly arrived
 * @validate: a CDC with F is owed
 * @valid_seq: sequence number of the CDC with F
 * @redo: data after @fo, if any, and a CDC with the current state are owed again
 * @lost: a signalled post has failed with the link
 * @unsure: a post returned an error, but some of its WRITEs may be pending
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
 * struct smcr_conn_bound - limit of writes after the loss of a link; conn->lock
 * @at: no byte is written from this position on: see struct smcr_fo_plan; U64_MAX: no
 *	limit
 * @num: number of the lost link; 0: none, or more than one; written with WRITE_ONCE()
 * @gone: number of the lost link that was deleted, argument of SMCR_CONN_TODO_UNBIND; no
 *	lock, READ_ONCE()
 * @timer: ends the limit at the latest; has a reference on the socket while it is armed
 *
 * A lost link binds the connections that have left it: the network may still deliver WRITEs
 * of that link, so these connections do not write yet what such a WRITE could overwrite.
 */
struct smcr_conn_bound {
	u64 at;
	u8 num;
	u8 gone;
	struct timer_list timer;
};

/**
 * struct smcr_conn_preactive - what has come before activation; conn->lock
 * @cflags: D, C and A that have come
 * @bad: reason of a violation by the peer
 * @conflict: the peer has given its element to another connection
 */
struct smcr_conn_preactive {
	u8 cflags;
	enum smcr_reason bad;
	bool conflict;
};

/**
 * struct smcr_conn_end - the end of a connection; conn->lock
 * @todo: SMCR_CONN_TODO_*, what @work has to do; atomic bit operations
 * @work: smcr_conn_work(); has a reference on the socket while it is queued
 * @timer: T_CLOSE or T_ABORT; has a reference on the socket while it is armed
 * @due: jiffies when @timer expires; a run of @timer before that is stale
 * @taken: tx.cons.abs when @timer was started
 * @abort: @timer is T_ABORT, else T_CLOSE
 * @fin_seen: TCP's FIN came before the peer's D, C or A, and started T_CLOSE
 * @orphan: entry in sn->orphans; sn->sk_lock
 * @why: reason of an abnormal end
 */
struct smcr_conn_end {
	unsigned long todo;
	struct work_struct work;
	struct timer_list timer;
	unsigned long due;
	u64 taken;
	bool abort;
	bool fin_seen;
	struct list_head orphan;
	enum smcr_reason why;
};

/**
 * struct smcr_conn - one connection
 * @lgr: link group; set by smcr_conn_open(), cleared under @lock by the release; read
 *	under @lock, RCU or a reference
 * @link: the link that the connection is attached to and sends over. NULL in three cases:
 *	@lgr is NULL; the handshake has failed (smcr_conn_leave_early()); the connection is
 *	lost, and no other link of the group carries connections
 *	(smcr_conn_leave_device()). The link is valid only while @lock
 *	is held: no other lock and no RCU keeps it. To use it for longer, take a reference
 *	under @lock. The pointer may be compared without a lock; read and written under
 *	@lock
 * @member: entry in @lgr; lgr->lock. But @lock guards member.token, the own alert token
 * @own: own element; socket lock
 * @relem: the peer's element; socket lock
 * @ka: keepalive; lgr->lock
 * @active: the handshake is complete; set once for a connection, WRITE_ONCE() under @lock
 * @lock: BH. Order: socket lock > conn lock > link lock. Socket callbacks that only
 *	wake (sk_data_ready, sk_write_space, sk_error_report) may be called under it
 * @fsm: the close machine; @lock
 * @rx: receive side; @lock
 * @reorder: wait for a CDC that may still come on another link; @lock
 * @snd: send buffer; socket lock
 * @tx: send side; @lock
 * @mv: failover; @lock
 * @bound: limit of what is written after a move; @lock
 * @preactive: what came before @active; @lock
 * @end: end of the connection; @lock
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
	SMCR_CONN_TODO_MOVE,	/* the link has failed, drains, or can be used again */
	SMCR_CONN_TODO_SPREAD,	/* another link has fewer connections */
	SMCR_CONN_TODO_UNBIND,	/* the link bound.gone is deleted */
	SMCR_CONN_TODO_LATE,	/* the move is overdue: the removal of a device waits */
	SMCR_CONN_TODO_RST,
	SMCR_CONN_TODO_RELEASE,
	SMCR_CONN_TODO_ELEM,	/* last part of RELEASE, after all data were read */
};

/**
 * struct smcr_conn_ops - callbacks into net/hs/ and net/sock/
 * @undefer: called when data, the end of the data or an error have come for @child, which
 *	TCP_DEFER_ACCEPT holds back. Any context up to softirq; the connection's lock may be
 *	held
 * @link_lost: called when the link of @ssk's handshake may have failed or may drain. On a
 *	server, also called when its group has ended. The caller holds a reference. Process
 *	context
 * @put: put a reference on @ssk, and release its inner socket at once if that was the last
 *	one. Process context, sleeps
 */
struct smcr_conn_ops {
	void (*undefer)(struct smcr_sock *child);
	void (*link_lost)(struct smcr_sock *ssk);
	void (*put)(struct smcr_sock *ssk);
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
 * Number of readable bytes (0 when a violation ended the connection). Bytes that the caller
 * reads from the element after this call are at least as new as the producer position that
 * is read here: see conn_apply().
 */
static inline u64 smcr_conn_readable(const struct smcr_conn *conn)
{
	u64 cons = READ_ONCE(conn->rx.cons.abs);
	u64 prod;

	smp_rmb();	/* cons is read before prod: otherwise prod might be behind cons */
	prod = READ_ONCE(conn->rx.prod.abs);
	smp_rmb();	/* prod is read before the data up to it: see conn_apply() */
	return prod - cons;
}

/*
 * True if the reader must check for an urgent mark. After a call of smcr_conn_readable(),
 * the result covers every mark in the bytes that were counted there, as conn_apply() writes
 * urg.state before the producer position.
 */
static inline bool smcr_conn_urgent(const struct smcr_conn *conn)
{
	return unlikely(READ_ONCE(conn->rx.urg.state) != SMCR_URG_NONE ||
			READ_ONCE(conn->rx.ackable.abs) !=
				READ_ONCE(conn->rx.cons.abs));
}

/*
 * Upper bound of SO_RCVLOWAT: half of the ring, as with TCP. A peer that avoids silly
 * windows (SMCR_TX_SWS_MIN) may leave a part of the ring empty. A reader that waits until
 * that part is filled would wait for ever.
 */
static inline u32 smcr_conn_max_lowat(const struct smcr_conn *conn)
{
	return max(smcr_ring_cap(&conn->rx.ring) / 2, 1U);
}

/* Bytes from the application for which no WRITE was posted yet */
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

/* Will a send that does not fit try to get a larger buffer? See tx_grow() */
static inline bool smcr_conn_may_grow(const struct smcr_conn *conn)
{
	return READ_ONCE(conn->snd.size) < READ_ONCE(conn->snd.max) &&
	       time_after_eq(jiffies, READ_ONCE(conn->snd.grow_at));
}

/* tx.c */
void smcr_tx_push(struct smcr_conn *conn);
bool smcr_tx_outstanding(const struct smcr_conn *conn);
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
/* tx_send.c */
int smcr_tx_sendmsg(struct smcr_sock *ssk, struct msghdr *msg, size_t len);
bool smcr_tx_sparse(const struct smcr_conn *conn);
/* tx_timeout.c */
void smcr_tx_limits_changed(struct smcr_conn *conn);
/* rx.c */
int smcr_rx_recvmsg(struct smcr_sock *ssk, struct msghdr *msg, size_t len,
		    int flags);
void smcr_rx_settle(struct smcr_conn *conn);
bool smcr_rx_asked(const struct smcr_conn *conn);
void smcr_rx_window(struct smcr_conn *conn);
void smcr_rx_peer_closed(struct smcr_conn *conn);
/* rx_urgent.c */
void smcr_rx_urg_news(struct smcr_conn *conn, int ev);
int smcr_rx_recv_urg(struct smcr_sock *ssk, struct msghdr *msg, size_t len,
		     int flags);
__poll_t smcr_rx_poll(struct smcr_sock *ssk);
u64 smcr_rx_inq(struct smcr_sock *ssk);
bool smcr_rx_at_mark(struct smcr_conn *conn);

#endif /* _SMCR_CONN_H */
