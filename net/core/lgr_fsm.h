/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State machine of a link group: how LLC adds, deletes and replaces its links,
 * RFC 7609 2.2, 3.5.1.5, 3.5.1.6, 3.5.4, 3.5.5 and C.7.1 (items LG and LLC, and
 * part E, of Documentation/rfc7609-conformance.md).
 *
 * The machine turns an event into actions. It has no clock, no addresses and no
 * keys. The caller carries the actions out in their order and reports their
 * outcome as further events. The caller passes the events of a group one after
 * the other.
 *
 * Messages are those of core/llc.h. Before the caller sends one, it fills in
 * the fields that the machine does not have (addresses, keys). When a message
 * has arrived, the caller checks what the machine cannot check, and passes the
 * result in struct smcr_lgr_facts. TEST LINK is not part of the machine: see
 * link_test.h.
 *
 * A step is a state of the exchange that changes the group. The carrier is the
 * link that carries the messages of this exchange. The subject is the link that
 * these messages are about. An offer is the server's ADD LINK. A notice is a
 * request of the client: ADD LINK announces that another link may be possible,
 * DELETE LINK asks the server to delete a link. A link stays if its deletion is
 * taken back. An own message or exchange is one that this side sends or begins.
 * Documentation/llc.rst describes steps and timers.
 */
#ifndef _SMCR_CORE_LGR_FSM_H
#define _SMCR_CORE_LGR_FSM_H

#include "alloc.h"
#include "env.h"
#include "lgr_roles.h"
#include "llc.h"
#include "reason.h"

/* States of a link; X(NAME, "name") */
#define SMCR_SLOT_STATES(X)						\
	X(FREE,		"free")						\
	/* its queue pair is being made */				\
	X(MAKING,	"making")					\
	/* ADD LINK, RTokens and CONFIRM LINK are exchanged for it */	\
	X(ADDING,	"adding")					\
	/* it carries data; in this state only */			\
	X(ACTIVE,	"active")					\
	/* its connections move to other links; then it is deleted */	\
	X(LEAVING,	"leaving")					\
	/* cannot be used; the peer has not agreed to its deletion yet */ \
	X(FAILED,	"failed")					\
	/* deleted; its queue pair is being destroyed */		\
	X(GONE,		"gone")

enum smcr_slot_st {
#define X(name, word) SMCR_SLOT_##name,
	SMCR_SLOT_STATES(X)
#undef X
	NR_SMCR_SLOT_ST
};

/*
 * Steps of the exchange that changes the group. At most one such exchange is
 * under way (LLC-15). S_: step of the server, C_: step of the client.
 *
 *	X(NAME, column of the collision tables in lgr_fsm_verdict.c, "name")
 */
#define SMCR_LGR_STEPS(X)						\
	X(IDLE,			NONE,	"idle")				\
	/* first contact: the first link */				\
	X(S_FIRST_MAKE,		ADD,	"first-make")			\
	X(S_FIRST_UP,		ADD,	"first-up")			\
	X(S_FIRST_CONFIRM,	ADD,	"first-confirm")		\
	X(C_FIRST_CONFIRM,	ADD,	"first-confirm")		\
	X(C_FIRST_UP,		ADD,	"first-up")			\
	X(C_FIRST_ADD,		ADD,	"first-add")			\
	/* ADD LINK .. CONFIRM LINK, of first contact or later */	\
	X(S_ADD_MAKE,		ADD,	"add-make")			\
	X(S_ADD_REPLY,		ADD,	"add-reply")			\
	X(S_ADD_TOKENS,		ADD,	"add-tokens")			\
	X(S_ADD_UP,		ADD,	"add-up")			\
	X(S_ADD_CONFIRM,	ADD,	"add-confirm")			\
	X(C_ADD_MAKE,		ADD,	"add-make")			\
	X(C_ADD_TOKENS,		ADD,	"add-tokens")			\
	X(C_ADD_CONFIRM,	ADD,	"add-confirm")			\
	X(C_ADD_UP,		ADD,	"add-up")			\
	/* first contact: the second link has failed; DELETE LINK is due */ \
	X(C_ADD_LOST,		ADD,	"add-lost")			\
	/* DELETE LINK of one link */					\
	X(S_DEL_MOVE,		DEL,	"delete-move")			\
	X(S_DEL_REPLY,		DEL,	"delete-reply")			\
	X(C_DEL_MOVE,		DEL,	"delete-move")			\
	/* the end of the group */					\
	X(END_SENT,		END,	"end-sent")			\
	X(END_ANSWER,		END,	"end-answer")			\
	X(OVER,			END,	"over")

enum smcr_lgr_step {
#define X(name, column, word) SMCR_LGR_##name,
	SMCR_LGR_STEPS(X)
#undef X
	NR_SMCR_LGR_STEP
};

/* State of the own RKEY exchange, which runs beside the steps above */
enum smcr_rkey_st {
	SMCR_RKEY_NONE,
	SMCR_RKEY_WANTED,	/* begins when no other exchange is under way */
	SMCR_RKEY_PREPARE,	/* the caller carries out DO_PREPARE */
	SMCR_RKEY_SENT,		/* a reply is due */
};

/* Outcome of an own RKEY exchange */
enum smcr_rkey_res {
	SMCR_RKEY_OK,
	SMCR_RKEY_REFUSED,	/* not to be repeated without a new reason */
	/*
	 * To be repeated later. The cause: the peer has refused for now; other
	 * exchanges took too long; the carrier has failed; or a link was added,
	 * was deleted or stays.
	 */
	SMCR_RKEY_AGAIN,
	SMCR_RKEY_FAILED,	/* the RMB could not be registered */
};

/* How first contact ends */
enum smcr_first_res {
	SMCR_FIRST_OK,
	SMCR_FIRST_DECLINE,	/* by a Decline to the peer */
	SMCR_FIRST_RESET,	/* by a reset: too late for a Decline */
};

/* Timers, and what each of them waits for */
enum smcr_lgr_timer {
	SMCR_LGR_T_STEP,	/* the message that the step waits for */
	SMCR_LGR_T_RKEY,	/* start of an own RKEY exchange, then its reply */
	SMCR_LGR_T_RETRY,	/* the next attempt to add a link (LG-27, LLC-43, LLC-44) */
	SMCR_LGR_T_END,		/* delivery of smcr_lgr_fsm.end, then its answer */
	/*
	 * One timer for each slot: SMCR_LGR_T_NOTICE + slot. Client: the
	 * server's DELETE LINK, after a disorderly notice (LLC-51, I-53).
	 * Server: a notice of the client, see lf_client_wait().
	 */
	SMCR_LGR_T_NOTICE,
	NR_SMCR_LGR_TIMER	= SMCR_LGR_T_NOTICE + SMCR_SLOTS,
};

/* Time after which a timer expires; the caller has the values */
enum smcr_lgr_span {
	SMCR_SPAN_LLC,		/* T_LLC */
	SMCR_SPAN_NOTICE,	/* 2 T_LLC: another exchange may come first */
	SMCR_SPAN_FIRST,	/* T_LLC_FIRST */
	SMCR_SPAN_FIRST_SEND,	/* half of T_LLC_FIRST: delivery of an own message */
	/* T_LINK_RETRY, times 2 to the power of smcr_lgr_act.n */
	SMCR_SPAN_RETRY,
	SMCR_SPAN_PAUSE,	/* a second */
};

/*
 * What the caller has found out about a message. Each member but nic reports an
 * error; zero: there is none.
 */
struct smcr_lgr_facts {
	bool link_data;		/* CONFIRM LINK: addresses or QPN not as announced */
	bool echo;		/* reply to CONFIRM RKEY: not the request's RKey */
	bool full;		/* CONFIRM RKEY: no room for another RToken */
	u8 rkey_mask;		/* DELETE RKEY: bits of RKeys unknown or in use */
	u8 nic;			/* ADD LINK: number of the peer's RNIC */
};

/*
 * Events, with the members of struct smcr_lgr_ev that are set. The caller
 * passes pending events in this order; MSG and TIMER are never pending.
 */
#define SMCR_LGR_EVENTS(X)						\
	/* a message has arrived: slot, msg, facts */			\
	X(MSG,		"msg")						\
	/* a timer has expired: timer */				\
	X(TIMER,	"timer")					\
	/* first contact: the link in slot 0 exists; nic, peer_nic */	\
	X(FIRST,	"first")					\
	/* first contact: the latest own message was delivered */	\
	X(FIRST_SENT,	"first-sent")					\
	/* an own exchange is wanted: DELETE RKEY if .ok, else CONFIRM RKEY */ \
	X(WANT_RKEY,	"want-rkey")					\
	/* an RNIC was added on this side: another link may be possible */ \
	X(WANT_LINK,	"want-link")					\
	/* this side has found that a link failed: slot, why */		\
	X(LINK_DOWN,	"down")						\
	/* outcome of DO_MAKE: slot, ok, why; n: own RTokens; nic: own RNIC */ \
	X(MADE,		"made")						\
	/* outcome of DO_UP: slot, ok, why */				\
	X(UP,		"up")						\
	/* outcome of DO_MOVE: slot; nothing uses the link any more */	\
	X(MOVED,	"moved")					\
	/* the client's reply to DELETE LINK of slot was delivered */	\
	X(ANSWER_SENT,	"answer-sent")					\
	/* DELETE LINK that ends the group was delivered over slot */	\
	X(END_SENT,	"end-sent")					\
	/* outcome of DO_STOP: slot */					\
	X(STOPPED,	"stopped")					\
	/* a link is to be deleted: slot, del_reason, orderly */	\
	X(WANT_DEL,	"want-del")					\
	/* outcome of DO_PREPARE: ok, why, slot to send on. If DO_PREPARE has */ \
	/* made a link fail, LINK_DOWN of that link comes before this event */ \
	X(RKEY_READY,	"rkey-ready")					\
	/* the group ends: why; msg.delete_link, sent if its reason is not 0 */ \
	X(WANT_END,	"want-end")

enum smcr_lgr_evt {
#define X(name, word) SMCR_LGR_EV_##name,
	SMCR_LGR_EVENTS(X)
#undef X
	NR_SMCR_LGR_EV
};

/* Value of smcr_lgr_act.report: no event reports the send completion */
enum { SMCR_LGR_NO_REPORT = SMCR_LGR_EV_MSG };

struct smcr_lgr_ev {
	u8 type;		/* enum smcr_lgr_evt */
	u8 slot;
	u8 timer;		/* enum smcr_lgr_timer */
	u8 n;
	u8 nic, peer_nic;
	bool ok;
	bool orderly;
	enum smcr_reason why;
	u32 del_reason;
	struct smcr_lgr_facts facts;
	struct smcr_llc msg;
};

/* Actions; .name: a member of struct smcr_lgr_act */
#define SMCR_LGR_ACTIONS(X)						\
	/* send out->msg[.msg], about link .about, over .slot; .report: event of its delivery */ \
	X(SEND,		"send")						\
	/* make a queue pair in .slot; client: for the offer in out->msg[.msg]; */ \
	/* server: .n attempts have failed; .again: since the last one */ \
	/* began, no RNIC was added on either side */			\
	X(MAKE,		"make")						\
	/* server: connect .slot to the client's end in out->msg[.msg] */ \
	X(CONNECT,	"connect")					\
	/* bring the link in .slot to RTS, register the RMBs on it */	\
	X(UP,		"up")						\
	/* the link in .slot may carry data */				\
	X(LIVE,		"live")						\
	/* move the connections off .slot; .orderly: after all that they have */ \
	/* sent is delivered; .answers: the reply to DELETE LINK will go over */ \
	/* .slot, so .slot has to work until then */			\
	X(MOVE,		"move")						\
	/* use the link in .slot, which was LEAVING, again */		\
	X(STAY,		"stay")						\
	/* .slot has failed (.why), do not use it; comes before MOVE or STOP */ \
	X(FAIL,		"fail")						\
	/* destroy the queue pair of .slot */				\
	X(STOP,		"stop")						\
	/* ARM: start .timer for .span; DISARM: stop .timer */		\
	X(ARM,		"arm")						\
	X(DISARM,	"disarm")					\
	/* collect the RKeys of the RMB of the own RKEY exchange; for */ \
	/* CONFIRM RKEY, first register the RMB on all links */		\
	X(PREPARE,	"prepare")					\
	/* the own RKEY exchange is over: .res */			\
	X(RKEY_DONE,	"rkey-done")					\
	/* store the RTokens in out->msg[.msg], received on .about, for the new link .slot */ \
	X(LEARN,	"learn")					\
	/* store the RTokens of one RMB, in out->msg[.msg]; .last: no more follow */ \
	X(LEARN_RMB,	"learn-rmb")					\
	/* drop the RTokens of the RMBs that out->msg[.msg] names */	\
	X(FORGET_RMB,	"forget-rmb")					\
	/* take user ID and, in first contact, number of links and eye */ \
	/* catchers from the peer's CONFIRM LINK in out->msg[.msg] */	\
	X(AGREED,	"agreed")					\
	/* first contact: no Decline can follow any more */		\
	X(NO_RETURN,	"no-return")					\
	/* first contact is over: .res, .why */				\
	X(SETTLED,	"settled")					\
	/* the group is dead: .why */					\
	X(DEAD,		"dead")						\
	/* the connections of the group are lost */			\
	X(LOSE,		"lose")						\
	/* no message is left to be sent: release the group */		\
	X(RELEASE,	"release")

enum smcr_lgr_do {
#define X(name, word) SMCR_LGR_DO_##name,
	SMCR_LGR_ACTIONS(X)
#undef X
	NR_SMCR_LGR_DO
};

struct smcr_lgr_act {
	u8 type;		/* enum smcr_lgr_do */
	u8 slot;
	u8 msg;			/* index in smcr_lgr_out.msg */
	u8 report;		/* enum smcr_lgr_evt, or SMCR_LGR_NO_REPORT */
	u8 about;
	u8 timer;
	u8 span;		/* enum smcr_lgr_span */
	u8 n;
	u8 res;
	bool orderly;
	bool answers;
	bool last;
	bool again;
	enum smcr_reason why;
};

/* Sizes of struct smcr_lgr_out. The tests check that no event yields more. */
enum { SMCR_LGR_ACTS = 48, SMCR_LGR_MSGS = 24 };

struct smcr_lgr_out {
	u8 n, n_msg;
	struct smcr_lgr_act act[SMCR_LGR_ACTS];
	struct smcr_llc msg[SMCR_LGR_MSGS];
};

/**
 * struct smcr_fsm_link - one link of a group
 * @st: enum smcr_slot_st
 * @num: link number; 0: none
 * @was: link number before the link became GONE
 * @own: own RNIC
 * @peer: RNIC of the peer
 * @age: set when the link becomes active, greater than that of all older links
 * @notice_sent: client: a notice that asks to delete this link was sent
 * @skipped: client: after that notice, a request on this link was ignored and
 *	not kept (LLC-54), so the link cannot stay
 * @answering: client: the link is GONE, and is stopped when the reply to DELETE
 *	LINK is delivered
 * @asked_on: client, while the connections of this link move: links over which
 *	DELETE LINK of this link came, as bits of slots
 * @via: slot of the link that carried the notice about this link or, with
 *	@answering, the reply to DELETE LINK
 * @timed: T_NOTICE of this link runs; client: after a disorderly notice (I-53);
 *	server: see lf_client_wait()
 * @waits: client: how often T_NOTICE was started again
 * @del: this link is to be deleted, with @del_reason and @del_orderly
 * @wanted: server: @del is set, and the client has asked for the deletion
 * @unnoticed: server: if this link stays although the client has asked to
 *	delete it, the number of lost links whose loss the client may not have
 *	noticed yet, see srv_del_silent()
 * @del_orderly: the deletion is orderly
 * @del_reason: reason code of DELETE LINK
 * @later: an orderly deletion of this link that this side has ordered was taken
 *	back; it is ordered again when another link is added
 * @stays: server: how often a notice of the client has made this link stay
 *	since the last time that a link was added
 * @del_sent: server: DELETE LINK of this link was sent, and not answered yet
 * @rkey_may_cross: server: the client may have sent CONFIRM RKEY before its
 *	reply to CONFIRM LINK of this link, see links_missing()
 * @ignore_replies: types, as bits, of replies to abandoned requests that may
 *	still come on this link; one reply of each type is ignored
 * @owed: server: types in @ignore_replies whose requests the client still has to
 *	answer. If this link stays, the answers to them come before the replies to
 *	later requests
 * @sure: server: types in @ignore_replies whose replies do come before those to
 *	later requests, because this link has stayed
 */
struct smcr_fsm_link {
	u8 st;
	u8 num;
	u8 was;
	u8 own, peer;
	u64 age;
	bool notice_sent;
	bool skipped;
	bool answering;
	u16 asked_on;
	u8 via;
	bool timed;
	u8 waits;
	bool del;
	bool wanted;
	u8 unnoticed;
	bool del_orderly;
	u32 del_reason;
	bool later;
	u8 stays;
	bool del_sent;
	bool rkey_may_cross;
	u16 ignore_replies;
	u16 owed;
	u16 sure;
};

/*
 * Client: a request that came on a link after the notice about that link was
 * sent, see lf_ignored()
 */
struct smcr_lgr_kept {
	u8 slot;
	struct smcr_lgr_facts facts;
	struct smcr_llc msg;
};

/*
 * Maximum of kept requests: the server has one exchange of each kind under way,
 * and may have abandoned some earlier ones
 */
enum { SMCR_LGR_KEPT = 4 };

/**
 * struct smcr_lgr_fsm - state of the machine of one link group
 * @server: this side is the server
 * @max_links: maximum of symmetric links: this side's, later the negotiated one
 * @single: this side wants one link only
 * @first: first contact is not over
 * @sending: first contact: the latest own message has not been delivered yet
 * @ending: the group is dead; only messages that end it may still be sent
 * @step: enum smcr_lgr_step
 * @carrier: slot of the link that carries the messages of the step
 * @subject: slot of the link that the step is about
 * @tokens_left: number of own RTokens that are still to be sent
 * @peer_tokens: count of the RTokens that the peer sends
 * @ages: age of the next link that becomes active
 * @want_link: server: an attempt to add a link is due; client: ADD LINK, as a
 *	notice, is due
 * @asked_link: server: a notice ADD LINK came while the queue pair of an
 *	attempt was being made. If the attempt fails, the notice counts as one
 *	that came after the attempt.
 * @cause: an RNIC was added, on either side, since the last attempt to add a
 *	link began
 * @cause_tried: the attempt under way was begun with @cause set
 * @backoff_reset: server: a notice ADD LINK has reset @tries; false again when
 *	a link is added, or when T_RETRY expires without @paused
 * @tries: number of failed attempts to add a link, see lf_retry()
 * @retrying: T_RETRY runs
 * @paused: server: a notice was repeated, and T_RETRY runs for SMCR_SPAN_PAUSE
 * @rkey: enum smcr_rkey_st
 * @rkey_passed: the own RKEY exchange is wanted, and has waited for another
 *	exchange
 * @rkey_waits: how often T_RKEY has expired in the own exchange; 0 again when
 *	its first message is sent
 * @rkey_del: the own exchange is DELETE RKEY
 * @rkey_stale: since DO_PREPARE of the own exchange, a link was offered, or a
 *	leaving link stays
 * @rkey_lost: since DO_PREPARE of the own exchange, a link was deleted
 * @rkey_preparing: the caller carries out DO_PREPARE; the exchange may have
 *	ended meanwhile
 * @rkey_via: slot of the link that carries the own exchange
 * @rkey_type: type of the last message of the own exchange that was sent
 * @rkey_left: number of entries still to be sent in CONTINUATIONs of the own
 *	CONFIRM RKEY
 * @peer_rkey: number of entries still to come in CONTINUATIONs of the peer's
 *	CONFIRM RKEY; 0: no CONFIRM RKEY of the peer is under way
 * @peer_via: slot of the link that carries the peer's CONFIRM RKEY
 * @peer_named: links that the peer's CONFIRM RKEY has named so far, as bits of
 *	slots
 * @failed_pending: links, as bits of slots, for which lf_fail() was called and
 *	link_down() is still to be called
 * @gone: numbers of the links that were deleted last; 0: none
 * @gone_at: index in @gone of the number that is replaced next
 * @deferred_via: slot of the link that @deferred came on; SMCR_NO_SLOT: nothing
 *	is deferred
 * @n_kept: number of requests in @kept
 * @end_tried: links over which @end was sent, as bits of slots
 * @end_reply: @end is sent as a reply
 * @end: the message that ends the group
 * @deferred: a DELETE RKEY of the peer that waits for the end of the step (LLC-90)
 * @kept: client: ignored requests, the oldest first; a request is processed if
 *	its link stays
 * @nums: link numbers
 * @slot: links
 *
 * The caller serialises all access, by a lock or by a single thread.
 */
struct smcr_lgr_fsm {
	bool server;
	u8 max_links;
	bool single;
	bool first;
	bool sending;
	bool ending;
	u8 step;
	u8 carrier, subject;
	u8 tokens_left;
	struct smcr_rtoken_count peer_tokens;
	u64 ages;
	bool want_link;
	bool asked_link;
	bool cause;
	bool cause_tried;
	bool backoff_reset;
	u8 tries;
	bool retrying;
	bool paused;
	u8 rkey;
	bool rkey_passed;
	u8 rkey_waits;
	bool rkey_del;
	bool rkey_stale;
	bool rkey_lost;
	bool rkey_preparing;
	u8 rkey_via;
	u8 rkey_type;
	u8 rkey_left;
	u8 peer_rkey;
	u8 peer_via;
	u16 peer_named;
	u16 failed_pending;
	u8 gone[SMCR_SLOTS];
	u8 gone_at;
	u8 deferred_via;
	u8 n_kept;
	u16 end_tried;
	bool end_reply;
	struct smcr_llc_delete_link end;
	struct smcr_llc deferred;
	struct smcr_lgr_kept kept[SMCR_LGR_KEPT];
	struct smcr_link_nums nums;
	struct smcr_fsm_link slot[SMCR_SLOTS];
};

void smcr_lgr_fsm_init(struct smcr_lgr_fsm *f, bool server, u8 max_links);
void smcr_lgr_fsm_step(struct smcr_lgr_fsm *f, const struct smcr_lgr_ev *ev,
		       struct smcr_lgr_out *out);
u8 smcr_lgr_slot_of(const struct smcr_lgr_fsm *f, u8 num);
u8 smcr_lgr_send_slot(const struct smcr_lgr_fsm *f);
void smcr_lgr_pairs(const struct smcr_lgr_fsm *f, struct smcr_pairs *pairs,
		    u8 slot[SMCR_SLOTS]);

#endif /* _SMCR_CORE_LGR_FSM_H */
