// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: events of link groups and links, multicast in the group's namespace.
 */
#include <net/genetlink.h>
#include "base/base.h"
#include "base/netns.h"
#include "rdma/link.h"
#include "lgr/lgr.h"
#include "ctl/nl.h"

/* The numbers in the netlink interface are those of the module's enums */
#define X(name) (int)SMCR_NL_EVENT_##name == (int)SMCR_CHANGE_##name &&
static_assert(SMCR_LGR_CHANGES(X) true);
#undef X

/* The family is registered, so events may be sent; readers use RCU */
static bool smcr_nl_events_on;

/* Bytes for an event, which takes less than 400 unless names are long */
#define SMCR_NL_EVENT_SIZE	1024

/**
 * smcr_nl_event_start() - enable events
 *
 * Called after the family was registered.
 */
void __init smcr_nl_event_start(void)
{
	WRITE_ONCE(smcr_nl_events_on, true);
}

/**
 * smcr_nl_event_stop() - disable events
 *
 * Called before the family is unregistered. On return no event is being sent.
 *
 * Context: process, sleeps.
 */
void smcr_nl_event_stop(void)
{
	WRITE_ONCE(smcr_nl_events_on, false);
	synchronize_rcu();
}

static int nl_put_kind(struct sk_buff *skb, enum smcr_lgr_change what,
		       enum smcr_reason why)
{
	struct nlattr *nest = nla_nest_start(skb, SMCR_A_EVENT);

	if (!nest || nla_put_u32(skb, SMCR_A_EVENT_KIND, what))
		return -EMSGSIZE;
	if (why != SMCR_R_NONE &&
	    (nla_put_string(skb, SMCR_A_EVENT_REASON_NAME,
			    smcr_reason_name(why)) ||
	     nla_put_string(skb, SMCR_A_EVENT_REASON_TEXT,
			    smcr_reason_text(why))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int nl_put_group(struct sk_buff *skb, const struct smcr_lgr *lgr)
{
	struct nlattr *nest = nla_nest_start(skb, SMCR_A_LGR);

	if (!nest || smcr_nl_put_lgr_id(skb, lgr, smcr_lgr_state(lgr)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The link's number and the peer's GID are left out until they are known */
static int nl_put_link(struct sk_buff *skb, const struct smcr_lgr *lgr,
		       const struct smcr_link *link)
{
	struct nlattr *nest = nla_nest_start(skb, SMCR_A_LINK);
	u8 num = READ_ONCE(link->num);

	if (!nest ||
	    smcr_nl_put_link_id(skb, lgr, link, READ_ONCE(link->st)) ||
	    (num && nla_put_u32(skb, SMCR_A_LINK_LINK_NUM, num)) ||
	    (smcr_link_met(link) &&
	     nla_put(skb, SMCR_A_LINK_PEER_GID, sizeof(link->peer_gid),
		     link->peer_gid)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int nl_event_send(const struct smcr_lgr *lgr,
			 const struct smcr_link *link,
			 enum smcr_lgr_change what, enum smcr_reason why)
{
	struct sk_buff *skb = genlmsg_new(SMCR_NL_EVENT_SIZE, GFP_ATOMIC);
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put(skb, 0, 0, smcr_nl_fam, 0, SMCR_CMD_EVENT_NTF);
	if (!hdr || nl_put_group(skb, lgr) ||
	    (link && nl_put_link(skb, lgr, link)) ||
	    nl_put_kind(skb, what, why)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	/* a listener whose socket has no room gets ENOBUFS */
	genlmsg_multicast_netns(smcr_nl_fam, lgr->sn->net, skb, 0,
				SMCR_NL_GROUP_EVENTS, GFP_ATOMIC);
	return 0;
}

/**
 * smcr_nl_event() - send an event of a group or of a link
 * @lgr: group
 * @link: link of @lgr, or NULL
 * @what: event
 * @why: reason or SMCR_R_NONE
 *
 * A listener whose socket has no room gets ENOBUFS. If there is no memory for
 * the message, every listener gets ENOBUFS. Without listeners no message is
 * built.
 *
 * Context: any up to softirq. Called as @event of struct smcr_lgr_ops.
 */
void smcr_nl_event(struct smcr_lgr *lgr, struct smcr_link *link,
		   enum smcr_lgr_change what, enum smcr_reason why)
{
	struct net *net = lgr->sn->net;

	rcu_read_lock();
	if (READ_ONCE(smcr_nl_events_on) &&
	    genl_has_listeners(smcr_nl_fam, net, SMCR_NL_GROUP_EVENTS) &&
	    nl_event_send(lgr, link, what, why))
		genl_set_err(smcr_nl_fam, net, 0, SMCR_NL_GROUP_EVENTS,
			     -ENOBUFS);
	rcu_read_unlock();
}
