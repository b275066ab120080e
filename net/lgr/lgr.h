/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link groups: RFC 7609 2.2, 3.5.
 *
 * Lifetime: smcr_lgr_get_server()/_create() return a reference. The namespace's list (until
 * lgr_release()), every connection, every handshake that uses the group, and each
 * queued work have one, too. The last put queues the teardown (QP, MRs, PD, memory), which
 * always runs in process context.
 *
 * llc.work, "the group's work", runs the state machine of core/lgr_fsm.h. Names in capitals
 * are its events (SMCR_LGR_EV_*) and actions (SMCR_LGR_DO_*), or group states
 * (SMCR_LGR_ST_*). A link is live while it carries data: its slot is set in lgr->live.
 */
#ifndef _SMCR_LGR_H
#define _SMCR_LGR_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/rhashtable.h>
#include <linux/xarray.h>
#include "core/alloc.h"
#include "core/clc.h"
#include "core/dialect.h"
#include "core/lgr_fsm.h"
#include "core/lgr_roles.h"
#include "core/link_test.h"
#include "core/llc.h"
#include "base/base.h"
#include "base/ids.h"
#include "rdma/link.h"
#include "lgr/lgr_view.h"
#include "lgr/rmb.h"

/* Addresses that have denied a group: declined it as "out of sync", smcr_lgr_suspect() */
#define SMCR_DENIED_MAX	4

/**
 * struct smcr_peer - the host at the other end of a link (LG-02)
 * @id: peer ID, from CLC
 * @mac: MAC of its RNIC, from CLC
 * @hw: link-layer address of @addr in this host's neighbour tables
 * @here: link-layer address of this host's interface that has the own IP address
 * @near: @hw is valid, or @addr is an own address
 * @addr: address of the TCP connection
 *
 * The peer ID alone does not identify a host: another host can claim it, and a peer can
 * have several RNICs.
 */
struct smcr_peer {
	u8 id[8];
	u8 mac[6];
	u8 hw[6];
	u8 here[6];
	bool near;
	struct in6_addr addr;
};

#define SMCR_RTOKEN_HASH_BITS	8

/**
 * struct smcr_rtoken - RToken of an RMB of the peer
 * @on: RKey and address of the RMB on the link of each slot, and the next RToken of
 *	the chain in smcr_rtokens
 * @known: slots for which the peer has announced the RToken, bits
 * @used: connections that write to the RMB
 * @size: bytes of an element, from the CLC message of the first connection; valid
 *	while @used is not 0
 * @confirmed: the peer has confirmed the RToken and not withdrawn it; one that is not
 *	confirmed is freed with its last connection
 * @begun: CONFIRM RKEY is under way: smcr_lgr_begin_rtoken()
 */
struct smcr_rtoken {
	struct {
		u32 rkey;
		u8 next;
		u64 va;
	} on[SMCR_SLOTS];
	u16 known;
	u16 used;
	u32 size;
	bool confirmed;
	bool begun;
};

/**
 * struct smcr_rtokens - RTokens of the peer; lgr->lock
 * @taken: entries of @tab that are in use, bits
 * @head: hash chains, for the link in each slot by the RKey on that link: index in @tab
 *	of the first entry + 1, or 0
 * @tab: RTokens by index
 */
struct smcr_rtokens {
	DECLARE_BITMAP(taken, SMCR_RMBS_MAX);
	u8 head[SMCR_SLOTS][1 << SMCR_RTOKEN_HASH_BITS];
	struct smcr_rtoken tab[SMCR_RMBS_MAX];
};

/**
 * struct smcr_lgr_dev - a device that links of a group are on
 * @dev: with a reference; NULL: the entry is free
 * @pd: protection domain of the group on @dev
 * @n_links: number of links on @dev
 * @keep_pd: the device has not destroyed an MR or a queue pair in @pd, which is
 *	therefore never freed
 * @late: the removal of the device has found this entry, but no link on the device in any
 *	slot; only the removal writes it until @dev changes; no lock
 */
struct smcr_lgr_dev {
	struct smcr_dev *dev;
	struct ib_pd *pd;
	unsigned int n_links;
	bool keep_pd;
	bool late;
};

/**
 * struct smcr_lgr_member - a connection in its group; embedded in the connection
 * @token: alert token, by which CDC names the connection
 * @node: in lgr->conns.tab
 * @lgr_node: in lgr->conns.list, which also has the place markers of
 *	smcr_lgr_each_conn(); lgr->lock
 */
struct smcr_lgr_member {
	u32 token;
	struct rhash_head node;
	struct list_head lgr_node;
};

/**
 * struct smcr_keepalive - TEST LINK that the keepalive of a link's connections needs
 * @left: jiffies until a connection needs TEST LINK; 0: now; LONG_MAX: no connection does
 * @intvl: TCP_KEEPINTVL of that connection in jiffies; 0 while @left is not 0
 * @cnt: TCP_KEEPCNT of that connection
 */
struct smcr_keepalive {
	long left;
	long intvl;
	int cnt;
};

/**
 * struct smcr_nics - RNICs of one side, for core/lgr_roles.h
 * @nic: by number: .mac, and in .used @clock at the last request for the number; 0: free
 * @clock: counts the requests for numbers
 */
struct smcr_nics {
	struct {
		u8 mac[ETH_ALEN];
		u32 used;
	} nic[SMCR_NICS_MAX];
	u32 clock;
};

/* Events of groups and links that are reported to netlink: X(NAME), as there */
#define SMCR_LGR_CHANGES(X) \
	X(GROUP_FORMING) \
	X(GROUP_ACTIVE) \
	X(GROUP_ENDED) \
	X(LINK_ADDING) \
	X(LINK_ACTIVE) \
	X(LINK_LEAVING) \
	X(LINK_FAILED) \
	X(LINK_DELETED)

enum smcr_lgr_change {
#define X(name) SMCR_CHANGE_##name,
	SMCR_LGR_CHANGES(X)
#undef X
};

/**
 * struct smcr_lgr_ops - callbacks of link groups into the floors above
 * @lose_conns: the group has ended: its connections end and leave it. Process
 *	context, may sleep
 * @move_conns: @link was stopped or drained, and the group has another link: the
 *	connections move there. If @link is deleted, connections that have left it may
 *	write without the limit of struct smcr_conn_bound again. Process context
 * @link_stays: @link, drained before or new, is the only one in use: connections that
 *	wait for a link use it. Process context
 * @spread_conns: of the link in each slot, @more[slot] connections move to another link.
 *	Process context
 * @late_conns: a device of @lgr is being removed, and no link there is in use any more. But
 *	connections that have not moved yet keep the device: they move or end. Process context
 * @agreed: first contact: @lgr->terms.base is settled. Process context
 * @link_gone: @link was stopped or drained: connections stop waiting for room in its send
 *	queue. Process context
 * @keepalive_due: sets @ka to the TEST LINK that connections of @link need. Process
 *	context
 * @event: reports @what of @lgr, or of its @link if that is not NULL, and the reason.
 *	Any context up to softirq; @lgr->lock and @sn->lgr_lock may be held
 */
struct smcr_lgr_ops {
	void (*lose_conns)(struct smcr_lgr *lgr);
	void (*move_conns)(struct smcr_link *link);
	void (*link_stays)(struct smcr_link *link);
	void (*spread_conns)(struct smcr_lgr *lgr, u32 more[SMCR_SLOTS]);
	void (*late_conns)(struct smcr_lgr *lgr);
	void (*agreed)(struct smcr_lgr *lgr);
	void (*link_gone)(struct smcr_link *link);
	void (*keepalive_due)(struct smcr_link *link, struct smcr_keepalive *ka);
	void (*event)(struct smcr_lgr *lgr, struct smcr_link *link,
		      enum smcr_lgr_change what, enum smcr_reason why);
};

/* Set before the first group is made, by net/wire.c */
extern const struct smcr_lgr_ops *smcr_lgr_owner_ops;

/* Bits of smcr_llc_run.pending: an event of a slot. Events of the whole group have slot 0 */
#define SMCR_PENDING(ev_, slot_)	((ev_) * SMCR_SLOTS + (slot_))
#define NR_SMCR_PENDING			(NR_SMCR_LGR_EV * SMCR_SLOTS)

/**
 * struct smcr_lgr_link - a link of the group's state machine
 * @lgr: group
 * @link: the link or NULL; set before MADE or FIRST is posted, cleared by llc.work when the
 *	link is stopped, or has failed with its device; written under lgr->lock
 * @old: link that was cleared from @link, to be put; llc.work stores it, @work takes it, by
 *	xchg()
 * @moving: MOVE is under way; llc.work
 * @drains: MOVE does not stop the link before what is under way on it has arrived;
 *	written by llc.work
 * @move_no: number of the last MOVE; written by llc.work before the action is queued
 * @moved_no: number of the last MOVE that was carried out; written by @work before it
 *	reports
 * @leave_at: if the device of @link is being removed: jiffies when @link fails if it still
 *	exists, else 0; written by smcr_lgr_kill_dev(), and by llc.work after STOP
 * @pairs: RNICs of the links that the group has; written by llc.work before MAKE
 * @carrier: slot of the link that carries the exchange; written by llc.work before MAKE
 * @nic: number of the own RNIC that @link is on; written by @work before it reports
 * @peer_nic: client: number of the peer's RNIC; written by llc.work before MAKE
 * @try: server: argument of smcr_roles_offer(); written by llc.work before MAKE
 * @again: server: argument of smcr_roles_offer(); written by llc.work before MAKE
 * @peer: the peer's end, from ADD LINK; written by llc.work, client: before MAKE, server:
 *	before UP
 * @tok: own RTokens on @link, each with the RMB's RKey on the link that carries the
 *	exchange; written by @work before it reports
 * @n_tok: number of @tok; written by @work before it reports
 * @probe: queue pair that is only offered, in place of @link: slot_make_probe(); @work
 * @probe_psn: PSN of @probe; @work
 * @work: carries out @actions, always on smcr_end_wq, as on two queues it could run
 *	twice at a time; owns a reference on the group while queued
 * @actions: actions queued for @work, bits by enum smcr_lgr_do; a queued MAKE is one of the
 *	smcr_making_max that may be under way; atomic
 * @in_line: in making_line, while smcr_making_max others are under way and MAKE waits; the
 *	list owns a reference on the group; making_lock
 * @ok: outcome of the last action; written by @work before it reports
 * @why: reason of a failed action; written by @work before it reports
 * @down: the failure of @link is reported; lgr->lock
 * @down_why: reason of that failure; lgr->lock
 * @test: TEST LINK of the link; llc.lock
 */
struct smcr_lgr_link {
	struct smcr_lgr *lgr;
	struct smcr_link *link;
	struct smcr_link *old;
	bool moving;
	bool drains;
	u32 move_no;
	u32 moved_no;
	unsigned long leave_at;
	struct smcr_pairs pairs;
	u8 carrier;
	u8 nic, peer_nic;
	u8 try;
	bool again;
	struct smcr_llc_add_link peer;
	struct smcr_llc_rtoken_pair *tok;
	u8 n_tok;
	struct ib_qp *probe;
	u32 probe_psn;
	struct work_struct work;
	unsigned long actions;
	struct list_head in_line;
	bool ok;
	enum smcr_reason why;
	bool down;
	enum smcr_reason down_why;
	struct smcr_link_test test;
};

/**
 * struct smcr_llc_rkey - the own CONFIRM RKEY or DELETE RKEY exchange; llc.lock
 * @rmb: the RMB; NULL: no caller waits for an exchange
 * @del: DELETE RKEY, not CONFIRM RKEY
 * @on: RKey and address that are announced to the peer, by slot
 * @named: slots of which @on is valid, bits: on other links the RMB has no RKey
 * @prepare: PREPARE was ordered: the caller is to register the RMB and to set @on
 * @ok: outcome of the registration
 * @why: reason of a failed registration
 * @done: @res is valid
 * @res: outcome of the exchange, enum smcr_rkey_res
 */
struct smcr_llc_rkey {
	struct smcr_rmb *rmb;
	bool del;
	struct {
		u32 rkey;
		u64 va;
	} on[SMCR_SLOTS];
	u16 named;
	bool prepare;
	bool ok;
	enum smcr_reason why;
	bool done;
	u8 res;
};

/**
 * struct smcr_llc_run - the state machine of a group, its input and its timers
 * @lock: BH; guards @queue, @len, @rkey, slot[].test
 * @fsm: state machine; @work only
 * @out: actions that follow from the last event; @work only
 * @queue: messages that have arrived; @lock
 * @len: number of messages in @queue; @lock
 * @late: messages that wait for room in the send queue; @work only
 * @n_late: number of messages in @late; @work only
 * @pending: pending events, bits by SMCR_PENDING(); atomic
 * @rkey_slots: slots that the own CONFIRM RKEY names beside the one it is sent on; @work only
 * @n_rkey_slots: number of @rkey_slots; @work only
 * @learning: index of the RToken that the peer's CONFIRM RKEY is about, or negative;
 *	@work only
 * @armed: timers that run, bits; @work only
 * @due: when each timer of @armed expires, jiffies; @work only
 * @over: @work does nothing more; written once, by smcr_lgr_run_stop()
 * @first_no: number of the last message that reports FIRST_SENT; written by @work
 * @sent_no: number of the last such message that was delivered; written before FIRST_SENT
 * @settled: how first contact has ended, enum smcr_first_res + 1; 0: it has not;
 *	written once, after @settled_why
 * @settled_why: reason if first contact has failed; written once
 * @rkey: the own RKEY exchange; @lock
 * @work: runs the state machine, no other context does; owns a reference on the group
 *	while queued
 */
struct smcr_llc_run {
	spinlock_t lock;	/* BH; queue, rkey, TEST LINK */
	struct smcr_lgr_fsm fsm;
	struct smcr_lgr_out out;
	struct list_head queue;
	unsigned int len;
	struct list_head late;
	unsigned int n_late;
	DECLARE_BITMAP(pending, NR_SMCR_PENDING);
	u8 rkey_slots[SMCR_SLOTS];
	u8 n_rkey_slots;
	int learning;
	u32 armed;
	unsigned long due[NR_SMCR_LGR_TIMER];
	bool over;
	u32 first_no;
	u32 sent_no;
	u8 settled;
	enum smcr_reason settled_why;
	struct smcr_llc_rkey rkey;
	struct delayed_work work;
};

/**
 * struct smcr_lgr_net - the group in its namespace; sn->lgr_lock
 * @node: in sn->lgr_list
 * @id: in sn->lgrs
 * @hash: in sn->lgr_hash
 * @form: server: in sn->lgr_forming, until a search of that list finds that the first
 *	contact of the group is over
 * @idle: in sn->lgr_idle, from the end of the last connection until another one comes;
 *	the group that is idle for longest is first
 * @denied: addresses that have denied the group, the last one first
 * @n_denied: number of @denied
 */
struct smcr_lgr_net {
	struct list_head node;
	struct smcr_id id;
	struct hlist_node hash;
	struct list_head form;
	struct list_head idle;
	struct in6_addr denied[SMCR_DENIED_MAX];
	u8 n_denied;
};

/**
 * struct smcr_lgr_origin - device and port of a group's first link; immutable
 * @dev_id: ID of the device
 * @port: port number
 * @on: name of the device when the group was created, for display
 */
struct smcr_lgr_origin {
	unsigned int dev_id;
	u8 port;
	char on[IB_DEVICE_NAME_MAX];
};

/**
 * struct smcr_lgr_terms - what first contact settles; written by llc.work until ACTIVE
 * @max_links: maximum number of links
 * @base: data offset in elements: 0, or 4 with eye catchers
 */
struct smcr_lgr_terms {
	u8 max_links;
	u32 base;
};

/**
 * struct smcr_lgr_nics - numbers of RNICs; lgr->lock
 * @own: RNICs of this host
 * @peer: RNICs of the peer
 */
struct smcr_lgr_nics {
	struct smcr_nics own, peer;
};

/**
 * struct smcr_lgr_conns - the connections; lgr->lock
 * @tab: by alert token; RCU readers
 * @n: number of connections; READ_ONCE without the lock
 * @list: smcr_lgr_member.lgr_node
 * @ka_min: jiffies for which a link is idle before any connection needs a keepalive probe;
 *	0: no connection needs any; READ_ONCE without the lock
 * @idle_work: ends the group after T_LGR_IDLE; owns a reference on the group while
 *	queued
 */
struct smcr_lgr_conns {
	struct rhashtable tab;
	unsigned int n;
	struct list_head list;
	int ka_min;
	struct delayed_work idle_work;
};

/**
 * struct smcr_lgr_rtok - memory of the peer; lgr->lock
 * @all: its RTokens
 * @relems: the smcr_conn of each element in use, index RToken << 8 | element; the
 *	xarray's own lock
 */
struct smcr_lgr_rtok {
	struct smcr_rtokens *all;
	struct xarray relems;
};

/**
 * struct smcr_lgr_rmbs - own memory; @mutex
 * @mutex: held while an MR is registered for a new link, too
 * @list: RMBs by class, which is the element size code
 * @off: RMBs that @work is adding or withdrawing, or could not withdraw: their elements
 *	are not given out
 * @n: number of RMBs; READ_ONCE without the mutex
 * @n_free: free elements by class; READ_ONCE without the mutex
 * @next_id: ID of the RMB that was created last
 * @want: requests to @work, by class
 * @devs: devices by smcr_buf_params.d; an entry stays until the last link on its device is
 *	freed, so a reference on such a link is enough to read the entry without the mutex
 * @pause: jiffies before which no RMB is added ahead of need
 * @max: maximum size of an RMB in bytes, as the first link's device can map; immutable
 * @work: adds RMBs, frees idle ones, ends quarantines; owns a reference on the group
 *	while queued
 */
struct smcr_lgr_rmbs {
	struct mutex mutex;	/* RMBs, their elements, devices */
	struct list_head list[SMCR_BSIZE_MAX + 1];
	struct list_head off;
	unsigned int n;
	unsigned int n_free[SMCR_BSIZE_MAX + 1];
	u32 next_id;
	struct smcr_rmb_want want[SMCR_BSIZE_MAX + 1];
	struct smcr_lgr_dev devs[SMCR_DEVS_MAX];
	unsigned long pause;
	u32 max;
	struct delayed_work work;
};

/**
 * struct smcr_lgr_test - when links are tested; no lock: xchg(), READ_ONCE()
 * @work: sends TEST LINK; owns a reference on the group while queued
 * @soon: a close waits for completions: test soon
 * @now: the peer may have lost the link: test now
 * @no_reuse: no new connection until TEST LINK is answered
 */
struct smcr_lgr_test {
	struct delayed_work work;
	int soon;
	int now;
	bool no_reuse;
};

/**
 * struct smcr_lgr_end - the end of the group; lgr->lock
 * @due: jiffies, when a dead group is released at the latest
 * @tell: DELETE LINK announces the end to the peer; final when DEAD
 * @released: @work has begun
 * @links: no first contact relies on the links: the release puts them
 * @kept: the group is released, but not its links: first contact relies on them
 * @met: when the links were put, the peer's end of the first one was known
 * @work: releases the group; owns a reference from DEAD on until it has done so
 * @free_work: frees the group, queued by the last put
 * @del: DELETE LINK for the whole group; set by the caller that has set DEAD, before it
 *	posts WANT_END
 */
struct smcr_lgr_end {
	unsigned long due;
	bool tell;
	bool released;
	bool links;
	bool kept;
	bool met;
	struct delayed_work work;
	struct work_struct free_work;
	struct smcr_llc_delete_link del;
};

/**
 * struct smcr_lgr - a link group
 * @sn: namespace; immutable
 * @net: its place in the namespace; sn->lgr_lock
 * @refs: references
 * @server: the role of this host; immutable
 * @id: for display; immutable
 * @dialect: version of the protocol, core/dialect.h; immutable
 * @peer: the peer, from the Proposal or the Accept; immutable
 * @vlan: VLAN ID; immutable
 * @single: net.smcr.max_links is 1: no second link; immutable
 * @eye_wanted: net.smcr.eye_catcher when it was made; immutable
 * @origin: device and port of the first link; immutable
 * @mem: parameters of its buffers; the device comes with a link; immutable
 * @terms: what first contact settles; written by llc.work until ACTIVE, then immutable
 * @link: the first link, as long as it is there; first contact relies on it; @lock
 * @live: slots of the links that carry data, bits; atomic
 * @spare: slots of links that drain, and that STAY can make live again, bits; a slot
 *	moves between @live and @spare under @lock
 * @nics: numbers of RNICs; @lock
 * @lock: BH; nests inside sn->lgr_lock, never the other way
 * @st: enum smcr_lgr_st; written under @lock, by lgr_set_state_locked() only;
 *	read under @lock or by smcr_lgr_state()
 * @why: reason of DEAD; read under @lock, or after smcr_lgr_state() returned DEAD
 * @wait: woken when @st changes, or an own LLC exchange or attempt to add an RMB ends
 * @conns: connections; @lock
 * @rtok: memory of the peer; @lock
 * @rmbs: own memory; rmbs.mutex
 * @llc: state machine; llc.work, and llc.lock for what other contexts use
 * @slot: links; see struct smcr_lgr_link
 * @view: links as netlink and the log show them; @lock
 * @test: when links are tested; no lock
 * @end: the end of the group; @lock
 */
struct smcr_lgr {
	struct smcr_net *sn;
	struct smcr_lgr_net net;
	refcount_t refs;
	bool server;
	u32 id;
	const struct smcr_dialect *dialect;
	struct smcr_peer peer;
	u16 vlan;
	bool single;
	bool eye_wanted;
	struct smcr_lgr_origin origin;
	struct smcr_buf_params mem;
	struct smcr_link *link;
	unsigned long live;
	unsigned long spare;
	struct smcr_lgr_nics nics;
	struct smcr_lgr_terms terms;

	spinlock_t lock;	/* BH; see above */
	u8 st;
	enum smcr_reason why;
	wait_queue_head_t wait;
	struct smcr_lgr_conns conns;
	struct smcr_lgr_rtok rtok;

	struct smcr_lgr_rmbs rmbs;

	struct smcr_llc_run llc;
	struct smcr_lgr_link slot[SMCR_SLOTS];
	struct smcr_lgr_view view;

	struct smcr_lgr_test test;
	struct smcr_lgr_end end;
};

/**
 * struct smcr_lgr_request - arguments and results of smcr_lgr_get_server()
 * @peer: from the Proposal
 * @pid: own port in the peer's subnet
 * @bsize: wanted element size code; a group without room for such an element is
 *	passed over
 * @may_first: the caller may run first contact, if its address may: SMCR_FIRST_SHARE
 * @forming: in: group whose first contact the caller has waited for, or NULL; out: one
 *	to wait for before the next try, with a reference, or NULL
 * @first: out: the caller has to run first contact
 * @why: out: reason when there is no group
 */
struct smcr_lgr_request {
	const struct smcr_peer *peer;
	const struct smcr_port_id *pid;
	u8 bsize;
	bool may_first;
	struct smcr_lgr *forming;
	bool first;
	enum smcr_reason why;
};

struct smcr_lgr *smcr_lgr_get_server(struct smcr_net *sn,
				     struct smcr_lgr_request *req);
struct smcr_lgr *smcr_lgr_find_client(struct smcr_net *sn,
				      const struct smcr_clc_accept *acc,
				      const struct smcr_port_id *pid,
				      const struct smcr_peer *peer);
struct smcr_lgr *smcr_lgr_create(struct smcr_net *sn,
				 const struct smcr_peer *peer,
				 const struct smcr_port_id *pid,
				 enum smcr_reason *why);
void smcr_lgr_link_down(struct smcr_link *link, enum smcr_reason why);
void smcr_lgr_kill(struct smcr_lgr *lgr, enum smcr_reason why, u32 del_reason);
void smcr_lgr_first_over(struct smcr_lgr *lgr);
void smcr_lgr_tell_end(struct smcr_lgr *lgr);
bool smcr_lgr_with_host(struct smcr_lgr *lgr, const struct smcr_peer *peer);
void smcr_lgr_suspect(struct smcr_lgr *lgr, const struct in6_addr *addr);
void smcr_lgr_clear_suspect(struct smcr_lgr *lgr);
void smcr_lgr_post(struct smcr_lgr *lgr, enum smcr_lgr_evt ev, u8 slot);
void smcr_lgr_queue_run(struct smcr_lgr *lgr);
void smcr_lgr_hold(struct smcr_lgr *lgr);
void smcr_lgr_put(struct smcr_lgr *lgr);
void smcr_lgr_kill_net_start(struct smcr_net *sn);
void smcr_lgr_kill_net(struct smcr_net *sn);
void smcr_lgr_kill_all(void);
void smcr_lgr_shutdown(void);
void smcr_lgr_kill_dev(struct smcr_dev *dev);
void smcr_lgr_port_event(struct smcr_dev *dev, u8 port);
void smcr_lgr_dev_arrived(void);
bool smcr_lgr_dev_late(struct smcr_lgr *lgr, const struct smcr_dev *dev);
unsigned long smcr_lgr_slots_on(struct smcr_lgr *lgr,
				const struct smcr_dev *dev, u8 port);
bool smcr_lgr_is_on_name(struct smcr_lgr *lgr, const char *name);
void smcr_lgr_balance(struct smcr_lgr *lgr);
void smcr_lgr_balance_all(struct smcr_net *sn);
void smcr_lgr_moved(struct smcr_lgr *lgr, struct smcr_link *from,
		    struct smcr_link *to);
u32 smcr_lgr_waiting(const struct smcr_lgr *lgr);
u8 smcr_lgr_link_status(struct smcr_lgr *lgr, const struct smcr_link *link,
			u8 *role);
void smcr_lgr_dev_put(struct smcr_lgr *lgr, u8 d, bool orphan);
int smcr_lgr_init_conns(struct smcr_lgr *lgr);
int smcr_lgr_add_conn(struct smcr_lgr *lgr, struct smcr_lgr_member *conn);
void smcr_lgr_each_conn(struct smcr_lgr *lgr,
			void (*fn)(struct smcr_lgr_member *conn, void *arg), void *arg);
struct smcr_lgr_member *smcr_lgr_first_conn(struct smcr_lgr *lgr);
void smcr_lgr_del_conn(struct smcr_lgr *lgr, struct smcr_lgr_member *conn);
struct smcr_lgr_member *smcr_lgr_find_conn(struct smcr_lgr *lgr, u32 token);
int smcr_lgr_use_rtoken(struct smcr_lgr *lgr, const struct smcr_link *link,
			u32 rkey, u64 va, u32 size);
int smcr_lgr_rtoken_on(struct smcr_lgr *lgr, int rtoken, u8 slot, u32 *rkey,
		       u64 *va);
void smcr_lgr_unuse_rtoken(struct smcr_lgr *lgr, int rtoken);
bool smcr_lgr_rtoken_fits(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va);
int smcr_lgr_begin_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va);
void smcr_lgr_end_rtoken(struct smcr_lgr *lgr, int rtoken, bool ok);
void smcr_lgr_tell_rtoken(struct smcr_lgr *lgr, int rtoken, u8 slot, u32 rkey,
			  u64 va);
int smcr_lgr_find_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey);
void smcr_lgr_forget_slot(struct smcr_lgr *lgr, u8 slot);
struct smcr_link *smcr_lgr_link_get(struct smcr_lgr *lgr, u8 slot);
bool smcr_lgr_other_hears(struct smcr_lgr *lgr, u8 num);
struct smcr_link *smcr_lgr_conn_link(struct smcr_lgr *lgr,
				     const struct smcr_clc_accept *on);
struct smcr_link *smcr_lgr_another_link(struct smcr_lgr *lgr, u16 not);
struct smcr_link *smcr_lgr_lighter_link(struct smcr_lgr *lgr,
					const struct smcr_link *from);
struct smcr_link *smcr_lgr_named_link(struct smcr_lgr *lgr,
				      const struct smcr_clc_accept *conf);
bool smcr_lgr_rtoken_known(struct smcr_lgr *lgr, u8 slot, u32 rkey,
			   bool unused);
void smcr_lgr_del_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey);
void smcr_lgr_kick_rmb_work(struct smcr_lgr *lgr);

/* Slots of links that carry data (@live), or could again (@spare); up to softirq */
static inline unsigned long smcr_lgr_linked(struct smcr_lgr *lgr)
{
	unsigned long slots;

	spin_lock_bh(&lgr->lock);
	slots = READ_ONCE(lgr->live) | lgr->spare;
	spin_unlock_bh(&lgr->lock);
	return slots;
}

/**
 * smcr_lgr_state() - state of a group, without its lock
 * @lgr: link group
 *
 * After DEAD was read, @lgr->why is its reason.
 *
 * Context: any.
 * Return: enum smcr_lgr_st.
 */
static inline u8 smcr_lgr_state(const struct smcr_lgr *lgr)
{
	/* pairs with smp_store_release() in lgr_set_state_locked() */
	return smp_load_acquire(&lgr->st);
}

#endif /* _SMCR_LGR_H */
