// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: link groups, their links and their RMBs. */
#include <linux/capability.h>
#include <linux/etherdevice.h>
#include "base/base.h"
#include "base/netns.h"
#include "rdma/link.h"
#include "lgr/lgr.h"
#include "lgr/lgr_balance.h"
#include "lgr/lgr_view.h"
#include "lgr/rmb.h"
#include "ctl/nl.h"

/* The numbers in the netlink interface are those of the module's enums */
#define X(name, word) \
	static_assert((int)SMCR_NL_LGR_##name == (int)SMCR_LGR_ST_##name);
SMCR_LGR_STATES(X)
#undef X
#define X(name, nl, word) \
	static_assert((int)SMCR_NL_LINK_##nl == (int)SMCR_LINK_ST_##name);
SMCR_LINK_STATES(X)
#undef X
#define X(name, word) \
	static_assert((int)SMCR_NL_LINK_STATUS_##name == (int)SMCR_SLOT_##name);
SMCR_SLOT_STATES(X)
#undef X
static_assert((int)SMCR_NL_LINK_ROLE_SINGLE == (int)SMCR_ROLE_SINGLE &&
	      (int)SMCR_NL_LINK_ROLE_SYMMETRIC == (int)SMCR_ROLE_SYM &&
	      (int)SMCR_NL_LINK_ROLE_ASYMMETRIC == (int)SMCR_ROLE_ASYM &&
	      (int)SMCR_NL_LINK_ROLE_PARALLEL == (int)SMCR_ROLE_PARALLEL);
static_assert((int)SMCR_NL_REDUNDANCY_NONE == (int)SMCR_REDUNDANCY_NONE &&
	      (int)SMCR_NL_REDUNDANCY_ASYMMETRIC == (int)SMCR_REDUNDANCY_ASYM &&
	      (int)SMCR_NL_REDUNDANCY_SYMMETRIC == (int)SMCR_REDUNDANCY_SYM);

/* Get a reference on the next group of the dump; NULL at the end */
static struct smcr_lgr *nl_lgr_next(struct netlink_callback *cb)
{
	struct smcr_net *sn = smcr_nl_net(cb);
	struct smcr_nl_pos *pos = smcr_nl_pos(cb);
	struct smcr_lgr *lgr = NULL;
	struct smcr_id *node;

	spin_lock_bh(&sn->lgr_lock);
	smcr_nl_look(sn, cb);
	if (!pos->begun)
		pos->end = sn->lgrs.last;
	pos->begun = true;
	node = smcr_ids_after(&sn->lgrs, pos->after);
	if (node && node->id <= pos->end) {
		lgr = container_of(node, struct smcr_lgr, net.id);
		smcr_lgr_hold(lgr);	/* the list has a reference */
	}
	spin_unlock_bh(&sn->lgr_lock);
	return lgr;
}

static struct smcr_lgr *nl_lgr_by_id(struct smcr_net *sn, u32 id)
{
	struct smcr_lgr *lgr, *found = NULL;

	spin_lock_bh(&sn->lgr_lock);
	list_for_each_entry(lgr, &sn->lgr_list, net.node) {
		if (lgr->id != id)
			continue;
		smcr_lgr_hold(lgr);
		found = lgr;
		break;
	}
	spin_unlock_bh(&sn->lgr_lock);
	return found;
}

/*
 * Function that dumps a group, or the objects in it. If the objects take several
 * messages, the function sets pos->sub after each message, so that the next call
 * continues there. Return: 0 or -errno; -EMSGSIZE: another buffer is needed.
 */
typedef int (*smcr_nl_lgr_fn)(struct sk_buff *skb, struct netlink_callback *cb,
			      struct smcr_lgr *lgr);

static int nl_lgr_walk(struct sk_buff *skb, struct netlink_callback *cb,
		       smcr_nl_lgr_fn show)
{
	const unsigned long allowed = BIT(SMCR_A_LGR_ID) | BIT(SMCR_A_DEV_NAME);
	struct nlattr *attrs[SMCR_A_DEV_NAME + 1];
	struct smcr_nl_pos *pos = smcr_nl_pos(cb);
	struct smcr_lgr *lgr;
	int rc;

	rc = smcr_nl_filter(cb, allowed, attrs);
	while (!rc) {
		lgr = nl_lgr_next(cb);
		if (!lgr)
			break;
		if (smcr_nl_lgr_wanted(attrs, lgr))
			rc = show(skb, cb, lgr);
		if (!rc) {
			pos->after = lgr->net.id.id;
			pos->sub = 0;
		}
		smcr_lgr_put(lgr);
		cond_resched();
	}
	return smcr_nl_result(skb, rc);
}

/* Attributes that identify a group; @st: state of the group. Any context */
int smcr_nl_put_lgr_id(struct sk_buff *skb, const struct smcr_lgr *lgr, u8 st)
{
	if (nla_put_u32(skb, SMCR_A_LGR_LGR_ID, lgr->id) ||
	    nla_put_u32(skb, SMCR_A_LGR_ROLE,
			lgr->server ? SMCR_NL_ROLE_SERVER :
				      SMCR_NL_ROLE_CLIENT) ||
	    nla_put_u32(skb, SMCR_A_LGR_STATE, st) ||
	    nla_put(skb, SMCR_A_LGR_PEER_ID, sizeof(lgr->peer.id),
		    lgr->peer.id) ||
	    (lgr->vlan != SMCR_NO_VLAN &&
	     nla_put_u16(skb, SMCR_A_LGR_VLAN, lgr->vlan)) ||
	    nla_put_string(skb, SMCR_A_LGR_DEV_NAME, lgr->origin.on) ||
	    nla_put_u32(skb, SMCR_A_LGR_PORT, lgr->origin.port))
		return -EMSGSIZE;
	return 0;
}

/* Record of a deleted link */
static int nl_put_past(struct sk_buff *skb, const struct smcr_link_record *past)
{
	u64 ago = jiffies_to_msecs(jiffies - past->since);
	struct nlattr *nest;

	nest = nla_nest_start(skb, SMCR_A_LGR_PAST);
	if (!nest ||
	    nla_put_u32(skb, SMCR_A_PAST_LINK_NUM, past->num) ||
	    nla_put_u32(skb, SMCR_A_PAST_ROLE, past->role) ||
	    nla_put_string(skb, SMCR_A_PAST_DEV_NAME, past->dev) ||
	    nla_put_u32(skb, SMCR_A_PAST_PORT, past->port) ||
	    nla_put(skb, SMCR_A_PAST_GID, sizeof(past->gid), &past->gid) ||
	    nla_put(skb, SMCR_A_PAST_PEER_GID, sizeof(past->peer_gid),
		    past->peer_gid) ||
	    nla_put_u64_64bit(skb, SMCR_A_PAST_TX_WRITES, past->writes,
			      SMCR_A_PAST_PAD) ||
	    nla_put_u64_64bit(skb, SMCR_A_PAST_TX_BYTES, past->bytes,
			      SMCR_A_PAST_PAD) ||
	    nla_put_u32(skb, SMCR_A_PAST_MOVED_IN, past->n_came) ||
	    nla_put_u32(skb, SMCR_A_PAST_MOVED_OUT, past->n_left) ||
	    (past->why != SMCR_R_NONE &&
	     (nla_put_string(skb, SMCR_A_PAST_REASON_NAME,
			     smcr_reason_name(past->why)) ||
	      nla_put_string(skb, SMCR_A_PAST_REASON_TEXT,
			     smcr_reason_text(past->why)))) ||
	    nla_put_u64_64bit(skb, SMCR_A_PAST_AGO_MS, ago, SMCR_A_PAST_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Redundancy, number of links, moves, and records of deleted links */
static int nl_put_shown(struct sk_buff *skb, struct smcr_lgr *lgr)
{
	const struct smcr_lgr_view *s = &lgr->view;
	unsigned int i, n = s->n_records;

	lockdep_assert_held(&lgr->lock);
	if (nla_put_u8(skb, SMCR_A_LGR_REDUNDANT,
		       s->redundancy == SMCR_REDUNDANCY_SYM) ||
	    nla_put_u32(skb, SMCR_A_LGR_LINKS, s->n_links) ||
	    nla_put_u32(skb, SMCR_A_LGR_REDUNDANCY, s->redundancy) ||
	    nla_put_u64_64bit(skb, SMCR_A_LGR_MOVED, s->n_moved,
			      SMCR_A_LGR_PAD) ||
	    nla_put_u32(skb, SMCR_A_LGR_WAITING, smcr_lgr_waiting(lgr)))
		return -EMSGSIZE;
	for (i = n > SMCR_LINK_RECORDS_MAX ? n - SMCR_LINK_RECORDS_MAX : 0; i < n; i++)
		if (nl_put_past(skb, &s->records[i % SMCR_LINK_RECORDS_MAX]))
			return -EMSGSIZE;
	return 0;
}

static int nl_put_lgr(struct sk_buff *skb, struct smcr_lgr *lgr)
{
	int rc;

	enum smcr_reason why;
	unsigned int n_conns;
	u8 st;

	spin_lock_bh(&lgr->lock);
	st = lgr->st;
	why = lgr->why;
	n_conns = lgr->conns.n;
	spin_unlock_bh(&lgr->lock);

	if (smcr_nl_put_lgr_id(skb, lgr, st) ||
	    nla_put_u32(skb, SMCR_A_LGR_CONNS, n_conns) ||
	    nla_put_u32(skb, SMCR_A_LGR_RMBS, READ_ONCE(lgr->rmbs.n)) ||
	    nla_put_u32(skb, SMCR_A_LGR_EYE_CATCHER,
			READ_ONCE(lgr->terms.base) ? SMCR_NL_EYE_RFC : SMCR_NL_EYE_NONE) ||
	    nla_put_u32(skb, SMCR_A_LGR_MAX_LINKS,
			READ_ONCE(lgr->terms.max_links)))
		return -EMSGSIZE;
	spin_lock_bh(&lgr->lock);
	rc = nl_put_shown(skb, lgr);
	spin_unlock_bh(&lgr->lock);
	if (rc)
		return rc;
	if (why == SMCR_R_NONE)
		return 0;
	if (nla_put_string(skb, SMCR_A_LGR_REASON_NAME,
			   smcr_reason_name(why)) ||
	    nla_put_string(skb, SMCR_A_LGR_REASON_TEXT, smcr_reason_text(why)))
		return -EMSGSIZE;
	return 0;
}

static int nl_show_lgr(struct sk_buff *skb, struct netlink_callback *cb,
		       struct smcr_lgr *lgr)
{
	struct smcr_nl_msg msg;
	int rc;

	rc = smcr_nl_open(&msg, skb, cb, SMCR_CMD_LGR_GET, SMCR_A_LGR);
	if (rc)
		return rc;
	return smcr_nl_close(&msg, nl_put_lgr(skb, lgr));
}

int smcr_nl_lgr_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return nl_lgr_walk(skb, cb, nl_show_lgr);
}

/*
 * Attributes that identify a link, without the link number, which the caller
 * adds; @st: state of the link. Any context
 */
int smcr_nl_put_link_id(struct sk_buff *skb, const struct smcr_lgr *lgr,
			const struct smcr_link *link, u8 st)
{
	const struct smcr_port_id *pid = &link->pid;

	if (nla_put_u32(skb, SMCR_A_LINK_LGR_ID, lgr->id) ||
	    nla_put_u32(skb, SMCR_A_LINK_STATE, st) ||
	    nla_put_string(skb, SMCR_A_LINK_DEV_NAME,
			   smcr_dev_name(pid->dev).s) ||
	    nla_put_u32(skb, SMCR_A_LINK_PORT, pid->port) ||
	    nla_put(skb, SMCR_A_LINK_GID, sizeof(pid->gid), &pid->gid) ||
	    nla_put(skb, SMCR_A_LINK_MAC, sizeof(pid->mac), pid->mac))
		return -EMSGSIZE;
	return 0;
}

/* The peer's end of the link, as the peer has announced it; zeros: not known */
static int nl_put_link_peer(struct sk_buff *skb,
			    const struct smcr_link *link, bool admin)
{
	static const u8 none[sizeof(link->peer_gid)];
	u32 user = READ_ONCE(link->peer_user_id);
	bool met = smcr_link_met(link);

	if (nla_put(skb, SMCR_A_LINK_PEER_GID, sizeof(link->peer_gid),
		    met ? link->peer_gid : none) ||
	    nla_put(skb, SMCR_A_LINK_PEER_MAC, sizeof(link->peer_mac),
		    met ? link->peer_mac : none) ||
	    (admin &&
	     (nla_put_u32(skb, SMCR_A_LINK_PEER_QPN, met ? link->peer_qpn : 0) ||
	      nla_put_u32(skb, SMCR_A_LINK_PEER_USER_ID, user) ||
	      nla_put_u32(skb, SMCR_A_LINK_PEER_PSN,
			  met ? link->peer_psn : 0))) ||
	    nla_put_u32(skb, SMCR_A_LINK_MTU,
			ib_mtu_enum_to_int((enum ib_mtu)(met ? link->mtu : 0))))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_link_flow(struct sk_buff *skb, struct smcr_link *link)
{
	u64 idle = jiffies_to_msecs(jiffies - READ_ONCE(link->last_rx));
	u64 writes, bytes, sends;
	u32 used, missing;

	spin_lock_bh(&link->lock);
	used = link->posted - link->completed;
	missing = READ_ONCE(link->rq_missing);
	writes = link->tx_writes;
	bytes = link->tx_bytes;
	sends = link->tx_sends;
	spin_unlock_bh(&link->lock);

	if (nla_put_u32(skb, SMCR_A_LINK_SQ_USED, used) ||
	    nla_put_u32(skb, SMCR_A_LINK_SQ_DEPTH, SMCR_SQ_DEPTH) ||
	    nla_put_u32(skb, SMCR_A_LINK_RQ_MISSING, missing) ||
	    nla_put_u64_64bit(skb, SMCR_A_LINK_IDLE_MS, idle,
			      SMCR_A_LINK_PAD) ||
	    nla_put_u64_64bit(skb, SMCR_A_LINK_TX_WRITES, writes,
			      SMCR_A_LINK_PAD) ||
	    nla_put_u64_64bit(skb, SMCR_A_LINK_TX_BYTES, bytes,
			      SMCR_A_LINK_PAD) ||
	    nla_put_u64_64bit(skb, SMCR_A_LINK_TX_SENDS, sends,
			      SMCR_A_LINK_PAD) ||
	    nla_put_u64_64bit(skb, SMCR_A_LINK_RX_SENDS,
			      READ_ONCE(link->rx_sends), SMCR_A_LINK_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Status and role (LG-53), connections, reason of the failure */
static int nl_put_link_role(struct sk_buff *skb, struct smcr_lgr *lgr,
			    const struct smcr_link *link)
{
	enum smcr_reason why = READ_ONCE(link->why);
	u8 role, status;

	status = smcr_lgr_link_status(lgr, link, &role);
	if (nla_put_u32(skb, SMCR_A_LINK_STATUS, status) ||
	    (role != SMCR_ROLE_UNKNOWN &&
	     nla_put_u32(skb, SMCR_A_LINK_ROLE, role)) ||
	    nla_put_u32(skb, SMCR_A_LINK_CONNS, atomic_read(&link->n_conns)) ||
	    nla_put_u32(skb, SMCR_A_LINK_MOVED_IN, READ_ONCE(link->n_came)) ||
	    nla_put_u32(skb, SMCR_A_LINK_MOVED_OUT, READ_ONCE(link->n_left)))
		return -EMSGSIZE;
	if (why == SMCR_R_NONE)
		return 0;
	if (nla_put_string(skb, SMCR_A_LINK_REASON_NAME,
			   smcr_reason_name(why)) ||
	    nla_put_string(skb, SMCR_A_LINK_REASON_TEXT, smcr_reason_text(why)))
		return -EMSGSIZE;
	return 0;
}

/*
 * Queue pair numbers, PSNs and user IDs are for administrators only: with them,
 * packets of the link can be forged.
 */
static int smcr_nl_put_link(struct sk_buff *skb, struct smcr_lgr *lgr,
			    struct smcr_link *link, u32 qpn, bool admin)
{
	u8 st = READ_ONCE(link->st);

	if (smcr_nl_put_link_id(skb, lgr, link, st) ||
	    nla_put_u32(skb, SMCR_A_LINK_LINK_NUM, READ_ONCE(link->num)) ||
	    (admin && qpn && nla_put_u32(skb, SMCR_A_LINK_QPN, qpn)) ||
	    (admin && nla_put_u32(skb, SMCR_A_LINK_PSN, link->psn)) ||
	    (admin && nla_put_u32(skb, SMCR_A_LINK_USER_ID, link->user_id)) ||
	    nla_put_u32(skb, SMCR_A_LINK_MAX_INLINE, link->max_inline) ||
	    nl_put_link_role(skb, lgr, link))
		return -EMSGSIZE;
	if ((st == SMCR_LINK_ST_RTR || st == SMCR_LINK_ST_RTS) &&
	    nl_put_link_peer(skb, link, admin))
		return -EMSGSIZE;
	return nl_put_link_flow(skb, link);
}

static int nl_show_link(struct sk_buff *skb, struct netlink_callback *cb,
			struct smcr_lgr *lgr, struct smcr_link *link)
{
	bool admin = netlink_capable(cb->skb, CAP_NET_ADMIN);
	struct smcr_nl_msg msg;
	u32 qpn;
	int rc;

	/*
	 * A stopped link has no QP. The wait for the mutex is killable, as
	 * smcr_link_stop() may hold it for seconds, until the device has
	 * flushed all work requests.
	 */
	rc = mutex_lock_killable(&link->verbs);
	if (rc)
		return rc;
	qpn = link->stopped ? 0 : link->qp->qp_num;
	mutex_unlock(&link->verbs);

	rc = smcr_nl_open(&msg, skb, cb, SMCR_CMD_LINK_GET, SMCR_A_LINK);
	if (rc)
		return rc;
	return smcr_nl_close(&msg, smcr_nl_put_link(skb, lgr, link, qpn,
						   admin));
}

static int nl_show_links(struct sk_buff *skb, struct netlink_callback *cb,
			 struct smcr_lgr *lgr)
{
	struct smcr_nl_pos *pos = smcr_nl_pos(cb);
	struct smcr_link *link;
	int rc = 0;
	u8 i;

	for (i = pos->sub; i < SMCR_SLOTS && !rc; i++) {
		link = smcr_lgr_link_get(lgr, i);
		if (link)
			rc = nl_show_link(skb, cb, lgr, link);
		smcr_link_put(link);
		if (!rc)
			pos->sub = i + 1;
	}
	return rc;
}

int smcr_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return nl_lgr_walk(skb, cb, nl_show_links);
}

static int nl_put_elems(struct sk_buff *skb, const struct smcr_elems *e)
{
	u32 n[] = {
		[SMCR_ELEM_FREE]	= 0,
		[SMCR_ELEM_BUSY]	= 0,
		[SMCR_ELEM_QUARANTINE]	= 0,
	};
	unsigned int i;

	for (i = 0; i < e->n; i++)
		if (e->state[i] < ARRAY_SIZE(n))
			n[e->state[i]]++;
	if (nla_put_u32(skb, SMCR_A_RMB_ELEMENTS, e->n) ||
	    nla_put_u32(skb, SMCR_A_RMB_USED, n[SMCR_ELEM_BUSY]) ||
	    nla_put_u32(skb, SMCR_A_RMB_FREE, n[SMCR_ELEM_FREE]) ||
	    nla_put_u32(skb, SMCR_A_RMB_QUARANTINED, n[SMCR_ELEM_QUARANTINE]))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_rmb(struct sk_buff *skb, const struct smcr_rmb *rmb,
		      bool admin)
{
	u64 idle = jiffies_to_msecs(jiffies - rmb->idle_since);
	/* a device with a registered MR; MRs are freed only under rmbs.mutex */
	unsigned int d = find_first_bit(&rmb->registered, SMCR_DEVS_MAX);
	bool registered = d < SMCR_DEVS_MAX;

	lockdep_assert_held(&rmb->lgr->rmbs.mutex);

	if (nla_put_u32(skb, SMCR_A_RMB_LGR_ID, rmb->lgr->id) ||
	    nla_put_u32(skb, SMCR_A_RMB_RMB_ID, rmb->id) ||
	    nla_put_u32(skb, SMCR_A_RMB_BSIZE, rmb->bsize) ||
	    nla_put_u32(skb, SMCR_A_RMB_ELEMENT_SIZE,
			SMCR_RMBE_MIN << rmb->bsize) ||
	    nl_put_elems(skb, &rmb->elems) ||
	    nla_put_u32(skb, SMCR_A_RMB_SIZE, rmb->buf->size) ||
	    nla_put_u8(skb, SMCR_A_RMB_REGISTERED, registered))
		return -EMSGSIZE;
	if (smcr_elems_idle(&rmb->elems) &&
	    nla_put_u64_64bit(skb, SMCR_A_RMB_IDLE_MS, idle, SMCR_A_RMB_PAD))
		return -EMSGSIZE;
	if (!admin || !registered)
		return 0;
	if (nla_put_u32(skb, SMCR_A_RMB_RKEY, rmb->mr[d]->rkey) ||
	    nla_put_u64_64bit(skb, SMCR_A_RMB_VA, rmb->mr[d]->iova,
			      SMCR_A_RMB_PAD))
		return -EMSGSIZE;
	return 0;
}

static int nl_show_rmb(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct smcr_rmb *rmb)
{
	bool admin = netlink_capable(cb->skb, CAP_NET_ADMIN);
	struct smcr_nl_msg msg;
	int rc;

	rc = smcr_nl_open(&msg, skb, cb, SMCR_CMD_RMB_GET, SMCR_A_RMB);
	if (rc)
		return rc;
	return smcr_nl_close(&msg, nl_put_rmb(skb, rmb, admin));
}

/* Position of an RMB in a dump. Unlike rmb->id, it grows along rmbs.list[] */
static u64 nl_rmb_place(const struct smcr_rmb *rmb)
{
	return (u64)(rmb->bsize + 1) << 32 | rmb->id;
}

static int nl_show_rmbs(struct sk_buff *skb, struct netlink_callback *cb,
			struct smcr_lgr *lgr)
{
	struct smcr_nl_pos *pos = smcr_nl_pos(cb);
	struct smcr_rmb *rmb;
	int rc;
	int i;

	/* a thread that registers memory may hold the mutex for seconds */
	rc = mutex_lock_killable(&lgr->rmbs.mutex);
	for (i = 0; !rc && i <= SMCR_BSIZE_MAX; i++) {
		list_for_each_entry(rmb, &lgr->rmbs.list[i], node) {
			if (nl_rmb_place(rmb) <= pos->sub)
				continue;
			rc = nl_show_rmb(skb, cb, rmb);
			if (rc)
				break;
			pos->sub = nl_rmb_place(rmb);
		}
	}
	if (rc != -EINTR)
		mutex_unlock(&lgr->rmbs.mutex);
	return rc;
}

int smcr_nl_rmb_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return nl_lgr_walk(skb, cb, nl_show_rmbs);
}

/* The group that a request names, with a reference; NULL: no such group */
static struct smcr_lgr *nl_lgr_named(struct genl_info *info,
				     const struct nlattr *attr)
{
	struct smcr_net *sn = smcr_net(genl_info_net(info));
	struct smcr_lgr *lgr = nl_lgr_by_id(sn, nla_get_u32(attr));

	if (!lgr)
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "no link group has this lgr-id");
	return lgr;
}

int smcr_nl_lgr_balance_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SMCR_A_LGR_ID];
	struct smcr_lgr *lgr;

	if (!attr) {
		smcr_lgr_balance_all(smcr_net(genl_info_net(info)));
		return 0;
	}
	lgr = nl_lgr_named(info, attr);
	if (!lgr)
		return -ENOENT;
	smcr_lgr_balance(lgr);
	smcr_lgr_put(lgr);
	return 0;
}

int smcr_nl_lgr_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SMCR_A_LGR_ID];
	struct smcr_lgr *lgr;

	if (!attr) {
		GENL_SET_ERR_MSG(info, "the link group's lgr-id is missing");
		return -EINVAL;
	}
	lgr = nl_lgr_named(info, attr);
	if (!lgr)
		return -ENOENT;
	smcr_lgr_kill(lgr, SMCR_R_LGR_SHUTDOWN, SMCR_DEL_OPERATOR);
	smcr_lgr_put(lgr);
	return 0;
}
