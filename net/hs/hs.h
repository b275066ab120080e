/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The handshake of a socket: CLC over TCP and, in first contact, LLC over the
 * new link (RFC 7609 3.5). A handshake consists of steps. No step sleeps until
 * the peer answers: a step that cannot go on returns SMCR_HS_WAIT. It is called
 * again after an event, or when its wait has expired. While a step waits, no
 * thread runs the handshake.
 *
 * Code that reports such an event kicks the handshake (smcr_hs_kick()), and a
 * worker runs the step. The thread that runs or ends a handshake has the turn,
 * which means that it owns the handshake (core/hs_turn.h). T_CLC and T_LLC are
 * the times net.smcr.t_clc and net.smcr.t_llc.
 */
#ifndef _SMCR_HS_H
#define _SMCR_HS_H

#include "lgr/lgr_find.h"
#include "lgr/rmb.h"
#include "hs/kclc.h"

/* Result of a step; all but NEXT and WAIT end the handshake */
enum smcr_hs_res {
	SMCR_HS_NEXT,		/* call hs->step */
	SMCR_HS_WAIT,		/* call the same step after a kick or at hs->until */
	SMCR_HS_DECLINE,	/* send a Decline, go on with TCP */
	SMCR_HS_DECLINED,	/* the peer has declined, go on with TCP */
	SMCR_HS_TCP,		/* go on with TCP: CLC was not begun */
	SMCR_HS_NO_TCP,		/* TCP's connect() failed */
	SMCR_HS_FAILED,		/* connection is lost: reset TCP */
	SMCR_HS_DONE,
};

/*
 * The peer may give a new connection the element of one that has ended there.
 * This limits the wait for the CDC flag, C or A, that reports this end. The flag
 * is under way over RDMA: unless it is lost, it takes no longer than CLC.
 */
#define SMCR_HS_CLAIM_MS	1000

/* Can a Decline of ours cross one of the peer? */
enum smcr_hs_cross {
	SMCR_HS_CROSS_NOT,	/* it cannot: only one side may decline */
	SMCR_HS_CROSS_MAY,	/* first contact, after the Confirm: it may */
	SMCR_HS_CROSS_WAITED,	/* as MAY, and the step hs_crossed() has begun */
};

/**
 * struct smcr_hs - a handshake; the thread that has the turn owns it
 * @ssk: socket
 * @step: function to call next
 * @until: jiffies at which the wait of @step ends, if @timed
 * @timed: the wait of @step has a time limit
 * @fresh: no step has done more than wait: a client's TCP is not established, a
 *	server has received no Proposal
 * @pid: own RDMA port; holds a device reference while pid.dev is set
 * @lgr: link group, a reference
 * @forming: group whose first contact has to end before this handshake goes on,
 *	a reference; smcr_hs_woken() reads the pointer without the turn
 * @watched: group whose wait queue has @watch, a reference
 * @watch: wait-queue entry in @watched; its function is smcr_hs_woken()
 * @claims: the step waits for C or A on the connection that had the peer's
 *	element before (smcr_hs_set_peer()); smcr_hs_woken() reads this flag
 *	without the turn
 * @peer: server: the peer, from the Proposal
 * @acc: client: the Accept; server: the Confirm
 * @rmb_req: requests of this handshake to smcr_rmb_work() for new RMBs of the
 *	group, see smcr_rmb_get_elem()
 * @rmb_wait: server: SMCR_RMB_WAIT was added to @until
 * @first: first contact
 * @first_admitted: server: this handshake is counted in sn->n_first
 * @cross: whether a Decline of ours can cross the peer's
 * @over: no step follows; hs_finish() is due, which needs the socket lock
 * @res: result of the last step
 * @why: reason of a fallback or failure
 * @err: positive errno for the application when the connection is lost
 */
struct smcr_hs {
	struct smcr_sock *ssk;
	enum smcr_hs_res (*step)(struct smcr_hs *hs);
	unsigned long until;
	bool timed;
	bool fresh;
	struct smcr_port_id pid;
	struct smcr_lgr *lgr;
	struct smcr_lgr *forming;
	struct smcr_lgr *watched;
	wait_queue_entry_t watch;
	bool claims;
	struct smcr_peer peer;
	struct smcr_clc_accept acc;
	struct smcr_rmb_req rmb_req;
	bool rmb_wait;
	bool first;
	bool first_admitted;
	enum smcr_hs_cross cross;
	bool over;
	enum smcr_hs_res res;
	enum smcr_reason why;
	int err;
};

/**
 * struct smcr_hs_ops - calls from the handshake into the socket family
 * @tcp_check: handle the present state of @ssk's inner socket as its callbacks
 *	do. Process context; takes the inner socket's lock
 * @tcp_begin: put @ssk into mode TCP after a handshake and copy the state of
 *	its inner socket. Process context; takes the inner socket's lock
 * @to_tcp: copy options to @ssk's inner socket before @ssk enters mode TCP.
 *	Socket lock held, or @ssk not yet published
 * @child_ready: the handshake of a listener's child has ended in mode SMC or
 *	TCP. Process context
 * @child_failed: the handshake of a listener's child has failed; the caller
 *	holds a reference. Process context
 * @child_defer_end: if TCP_DEFER_ACCEPT delays the accept() of @child, end this
 *	delay: hs_timer has expired, or data have come. Any context up to softirq
 * @listener_busy: true if too many children of listener @lsk are in a handshake:
 *	a SYN that offers SMC-R is then answered as plain TCP. @own: 1 if TCP
 *	counts the request of this SYN already, else 0. Any context up to softirq
 */
struct smcr_hs_ops {
	void (*tcp_check)(struct smcr_sock *ssk);
	void (*tcp_begin)(struct smcr_sock *ssk);
	void (*to_tcp)(struct smcr_sock *ssk);
	void (*child_ready)(struct smcr_sock *child);
	void (*child_failed)(struct smcr_sock *child);
	void (*child_defer_end)(struct smcr_sock *child);
	bool (*listener_busy)(const struct smcr_sock *lsk, unsigned int own);
};

/* Set before the first socket is made, by net/wire.c */
extern const struct smcr_hs_ops *smcr_hs_owner_ops;

/* hs_sched.c, hs_run.c */
int smcr_hs_new(struct smcr_sock *ssk);
void smcr_hs_begin(struct smcr_sock *ssk);
void smcr_hs_drop(struct smcr_sock *ssk);
void smcr_hs_kick(struct smcr_sock *ssk);
bool smcr_hs_stop(struct smcr_sock *ssk);
void smcr_hs_work(struct work_struct *work);
void smcr_hs_timer(struct timer_list *timer);
void smcr_hs_tcp_event(struct smcr_sock *ssk);

/* fallback.c */
void smcr_fallback(struct smcr_sock *ssk, enum smcr_reason why);
void smcr_fallback_early(struct smcr_sock *ssk, enum smcr_reason why);
void smcr_fallback_count(struct smcr_sock *ssk);

enum smcr_hs_res smcr_clnt_begin(struct smcr_hs *hs);
enum smcr_hs_res smcr_srv_begin(struct smcr_hs *hs);
enum smcr_hs_res smcr_hs_goto(struct smcr_hs *hs,
			      enum smcr_hs_res (*step)(struct smcr_hs *hs),
			      unsigned int ms);
/* Is the wait of the current step over? */
static inline bool smcr_hs_expired(const struct smcr_hs *hs)
{
	return time_after_eq(jiffies, hs->until);
}

enum smcr_hs_res smcr_hs_clc(struct smcr_hs *hs, u8 want,
			     struct smcr_clc_msg *clc);
void smcr_hs_watch(struct smcr_hs *hs, struct smcr_lgr *lgr);
void smcr_hs_unwatch(struct smcr_hs *hs);
enum smcr_hs_res smcr_hs_set_peer(struct smcr_hs *hs,
				  const struct smcr_clc_accept *m,
				  struct smcr_link *on);
void smcr_hs_fill_accept(struct smcr_hs *hs, u8 type,
			 struct smcr_clc_accept *m);
u8 smcr_hs_bsize(const struct smcr_sock *ssk);
enum smcr_hs_res smcr_hs_check_enums(struct smcr_hs *hs,
				     const struct smcr_clc_accept *m,
				     bool check_mtu);
enum smcr_hs_res smcr_hs_declined(struct smcr_hs *hs,
				  const struct smcr_clc_decline *d);
void smcr_hs_first(struct smcr_hs *hs);
enum smcr_hs_res smcr_hs_settle(struct smcr_hs *hs);
void smcr_hs_leave_device(struct smcr_hs *hs);
enum smcr_hs_res smcr_hs_link_failed(struct smcr_hs *hs, enum smcr_reason why);
enum smcr_reason smcr_hs_wire_why(enum smcr_reason lost);
enum smcr_hs_res smcr_hs_open_failed(struct smcr_hs *hs);

#endif /* _SMCR_HS_H */
