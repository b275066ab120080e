/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link groups: RFC 7609 2.2, 3.5.
 *
 * Lifetime: smcr_lgr_get_server() and smcr_lgr_create() return a reference. The
 * namespace's list (until lgr_release()), every connection, every handshake that uses the
 * group, and each queued work have one, too. The last put queues the teardown (QP, MRs,
 * PD, memory), which always runs in process context.
 *
 * llc.work, "the group's work", runs the state machine of core/lgr_fsm.h. In comments,
 * names in capitals are its events (SMCR_LGR_EV_*), its actions (SMCR_LGR_DO_*), or states
 * of a group (SMCR_LGR_ST_*). A link is live while it carries data: its slot is set in
 * lgr->live.
 */
#ifndef _SMCR_LGR_H
#define _SMCR_LGR_H

#include <linux/if_ether.h>
#include "core/clc.h"
#include "core/dialect.h"
#include "core/lgr_fsm.h"
#include "core/lgr_roles.h"
#include "core/link_test.h"
#include "core/llc.h"
#include "base/base.h"
#include "rdma/link.h"
#include "lgr/lgr_conns.h"
#include "lgr/lgr_end.h"
#include "lgr/lgr_find.h"
#include "lgr/lgr_run.h"
#include "lgr/lgr_view.h"
#include "lgr/llc_test.h"
#include "lgr/rmb.h"
#include "lgr/rtoken.h"

/**
 * struct smcr_nics - numbers of the RNICs of one side, as core/lgr_roles.h uses them
 * @nic: RNICs by number. .mac: MAC of the RNIC. .used: value of @clock when the number was
 *	last requested; 0: the number is free
 * @clock: number of requests so far, for any of the numbers
 */
struct smcr_nics {
	struct {
		u8 mac[ETH_ALEN];
		u32 used;
	} nic[SMCR_NICS_MAX];
	u32 clock;
};

/* Events that are reported to netlink: X(NAME); in netlink the name is SMCR_NL_EVENT_NAME */
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
 * @lose_conns: @lgr has ended: its connections end and leave it. Process context, may
 *	sleep
 * @move_conns: @link was stopped or drained: its connections move to another link of the
 *	group, if there is one. A lost link limits the writes of connections that have left
 *	it (struct smcr_conn_bound): if @link is deleted, its limit ends. Process context
 * @link_stays: @link, which was drained or is new, is the only link in use: connections
 *	that wait for a usable link go on. Process context
 * @spread_conns: connections move to other links. For each slot, @more[slot] is the number
 *	of connections that leave the link there. Process context
 * @late_conns: a device of @lgr is being removed, and no link on it is in use any more.
 *	But connections that have not moved yet have references that keep the device. They
 *	move or end. Process context
 * @agreed: first contact has settled @lgr->terms.base: the first connection places its data
 *	accordingly. Process context
 * @link_gone: @link was stopped or drained: connections stop waiting for room in its send
 *	queue. Process context
 * @keepalive_due: fills in @ka: when the keepalive of connections of @link needs the next
 *	TEST LINK. Process context
 * @event: reports the change @what of @link or, if @link is NULL, of @lgr, with the reason
 *	@why. Any context up to softirq; @lgr->lock and @lgr->sn->lgr_lock may be held
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

/* Set by net/wire.c before the first group is made */
extern const struct smcr_lgr_ops *smcr_lgr_owner_ops;

/**
 * struct smcr_lgr_link - a link of the group's state machine
 * @lgr: group
 * @link: the link or NULL; set before MADE or FIRST is posted. llc.work sets @link to NULL
 *	when the link was stopped. If the link's device is being removed, llc.work does so
 *	earlier: when the link is in state FAILED or GONE of the state machine. The release
 *	of the group sets @link to NULL, too. Written under lgr->lock
 * @old: link that llc.work has taken off @link, until it is stopped and put; lgr->lock
 * @moving: MOVE is under way; llc.work
 * @drains: MOVE drains the link, and stops it only if draining fails. If false, MOVE stops
 *	the link at once; written by llc.work
 * @move_no: number of the last MOVE; written by llc.work before that MOVE is queued
 * @moved_no: number of the last MOVE that was carried out; written by @work before it
 *	posts MOVED
 * @leave_at: set when the device of @link is being removed: if @link is still in this slot
 *	at this time (jiffies), it fails. 0: no such time; written by smcr_lgr_kill_dev(),
 *	and by llc.work after STOP
 * @pairs: RNICs of the active links of the group; written by llc.work before MAKE
 * @carrier: slot of the link that carries the ADD LINK exchange; written by llc.work
 *	before MAKE
 * @nic: number of the own RNIC that @link is on; written by @work before it posts MADE
 * @peer_nic: client: number of the peer's RNIC; written by llc.work before MAKE
 * @try: server: argument of smcr_roles_offer(); written by llc.work before MAKE
 * @again: server: argument of smcr_roles_offer(); written by llc.work before MAKE
 * @peer: the peer's end of @link, from ADD LINK; written by llc.work, at the client before
 *	MAKE, at the server before UP
 * @tok: own RTokens on @link, each with the RMB's RKey on the link in @carrier; written by
 *	@work before it posts MADE
 * @n_tok: number of @tok; written by @work before it posts MADE
 * @probe: queue pair that a server names in ADD LINK although it wants no second link:
 *	slot_make_probe(). While it exists, @link is NULL; @work
 * @probe_psn: PSN of @probe; @work
 * @work: carries out @actions. It is always queued on smcr_end_wq: on two queues it could
 *	run twice at a time. Owns a reference on the group while queued
 * @actions: actions queued for @work, bits by enum smcr_lgr_do; atomic. At most
 *	smcr_making_max MAKEs of all groups are queued or under way
 * @in_line: entry in making_line, where MAKE waits while smcr_making_max others are queued
 *	or under way; the list owns a reference on the group; making_lock
 * @ok: outcome of the last MAKE or UP; written by @work before it posts MADE or UP
 * @why: reason if @ok is false; written by @work before it posts MADE or UP
 * @down: the failure of @link was reported; lgr->lock
 * @down_why: reason that LINK_DOWN of @link has; lgr->lock
 * @test: state of TEST LINK; llc.lock
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
 * @base: offset of the data in elements: 0, or 4 with eye catchers
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
 * struct smcr_lgr - a link group
 * @sn: namespace; immutable
 * @net: its place in the namespace; sn->lgr_lock
 * @refs: references
 * @server: this host is the server; immutable
 * @id: for display; immutable
 * @dialect: version of the protocol, core/dialect.h; immutable
 * @peer: the peer, from the Proposal or the Accept; immutable
 * @vlan: VLAN ID; immutable
 * @single: net.smcr.max_links was 1 when the group was created: only one link is wanted;
 *	immutable
 * @eye_wanted: net.smcr.eye_catcher when the group was created; immutable
 * @origin: device and port of the first link; immutable
 * @mem: parameters of its buffers, without a device; each link has a copy with its own
 *	device; immutable
 * @terms: what first contact settles; written by llc.work until ACTIVE, then immutable
 * @link: the first link, which first contact uses; NULL after the link has left its slot;
 *	@lock
 * @live: slots of the links that carry data, bits; atomic
 * @spare: slots of links that drain, and that STAY can make live again, bits; a slot
 *	moves between @live and @spare under @lock
 * @nics: numbers of RNICs; @lock
 * @lock: BH; nests inside sn->lgr_lock, never the other way
 * @st: enum smcr_lgr_st; written under @lock, by lgr_set_state_locked() only;
 *	read under @lock or by smcr_lgr_state()
 * @why: reason of DEAD; read under @lock, or after smcr_lgr_state() returned DEAD
 * @wait: woken when @st changes, first contact is settled, the state machine orders PREPARE
 *	for an own RKEY exchange, such an exchange ends, or an attempt to add an RMB ends;
 *	see also smcr_lgr_wake_claims()
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

void smcr_lgr_link_down(struct smcr_link *link, enum smcr_reason why);
void smcr_lgr_kill(struct smcr_lgr *lgr, enum smcr_reason why, u32 del_reason);
void smcr_lgr_kill_forming(struct smcr_lgr *lgr, enum smcr_reason why,
			   u32 del_reason);
void smcr_lgr_announce_end(struct smcr_lgr *lgr);
void smcr_lgr_clear_suspect(struct smcr_lgr *lgr);
void smcr_lgr_hold(struct smcr_lgr *lgr);
void smcr_lgr_put(struct smcr_lgr *lgr);
struct smcr_link *smcr_lgr_link_get(struct smcr_lgr *lgr, u8 slot);
bool smcr_lgr_other_receives(struct smcr_lgr *lgr, u8 num);
struct smcr_link *smcr_lgr_conn_link(struct smcr_lgr *lgr,
				     const struct smcr_clc_accept *on);
struct smcr_link *smcr_lgr_another_link(struct smcr_lgr *lgr, u16 not);
struct smcr_link *smcr_lgr_lighter_link(struct smcr_lgr *lgr,
					const struct smcr_link *from);
struct smcr_link *smcr_lgr_named_link(struct smcr_lgr *lgr,
				      const struct smcr_clc_accept *conf);

/*
 * Slots of links that carry data (lgr->live) or may do so again (lgr->spare), bits. Any
 * context up to softirq
 */
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
 * After this function has returned DEAD, @lgr->why is the reason of DEAD.
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
