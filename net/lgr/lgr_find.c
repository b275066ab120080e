// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link-group lookup and creation. RFC 7609 2.2, 3.5.3. Limits on the number of groups and
 * first contacts.
 *
 * An address *denies* a group by a Decline "out of sync". The group is not offered to that
 * address again: see smcr_lgr_suspect().
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include "core/lgr_plan.h"
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "lgr/lgr_find.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_run.h"
#include "lgr/llc_test.h"
#include "lgr/rmb.h"

/* One address may have max_first_contacts / SMCR_FIRST_SHARE of all first contacts */
#define SMCR_FIRST_SHARE	4

static atomic_t smcr_lgr_ids = ATOMIC_INIT(0);

/* End the group that has been idle for longest; false: there is none */
static bool lgr_evict(struct smcr_net *sn)
{
	struct smcr_lgr *lgr, *next;

	lockdep_assert_held(&sn->lgr_lock);
	list_for_each_entry_safe(lgr, next, &sn->lgr_idle, net.idle) {
		/* FORMING groups are left alone: max_first_contacts bounds their number */
		if (smcr_lgr_state(lgr) == SMCR_LGR_ST_FORMING)
			continue;
		list_del_init(&lgr->net.idle);
		/* the group has ended, or a connection has come just now */
		if (!smcr_lgr_end_idle(lgr, SMCR_R_LGR_LIMIT))
			continue;
		smcr_lgr_post_end(lgr, SMCR_R_LGR_LIMIT, SMCR_DEL_INACTIVE);
		return true;
	}
	return false;
}

/*
 * Count a new group if there is room for it (SEC-13). If the limit is reached, evict an
 * idle group first. Evicted groups take a while to be freed, so the total may be twice
 * max_lgrs.
 */
static bool lgr_admit(struct smcr_net *sn)
{
	unsigned int max = READ_ONCE(sn->knobs.max_lgrs);
	bool ok;

	spin_lock_bh(&sn->lgr_lock);
	ok = sn->lgr_count < max ||
	     (sn->lgr_count < 2 * max && lgr_evict(sn));
	if (ok)
		WRITE_ONCE(sn->lgr_count, sn->lgr_count + 1);
	spin_unlock_bh(&sn->lgr_lock);
	return ok;
}

/* smcr_buf_params.over: a dead group needs no memory, so smcr_buf_alloc() gives up */
static bool lgr_over(const void *lgr)
{
	return smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD;
}

static struct smcr_lgr *lgr_alloc(struct smcr_net *sn, bool server,
				  const struct smcr_peer *peer,
				  const struct smcr_port_id *pid,
				  enum smcr_reason *why)
{
	struct smcr_lgr *lgr;
	int i;

	*why = SMCR_R_LGR_LIMIT;
	if (!lgr_admit(sn))
		return NULL;
	*why = SMCR_R_NO_MEMORY;
	lgr = kzalloc(sizeof(*lgr), GFP_KERNEL);
	if (!lgr)
		goto err_count;
	lgr->rtok.all = kvzalloc(sizeof(*lgr->rtok.all), GFP_KERNEL);
	if (!lgr->rtok.all)
		goto err_lgr;
	lgr->sn = sn;
	lgr->server = server;
	lgr->id = atomic_inc_return(&smcr_lgr_ids);
	lgr->dialect = &smcr_dialect_v1;
	lgr->peer = *peer;
	lgr->vlan = pid->vlan;
	lgr->origin.port = pid->port;
	lgr->origin.dev_id = pid->dev->id;
	strscpy(lgr->origin.on, smcr_dev_name(pid->dev).s,
		sizeof(lgr->origin.on));
	lgr->rmbs.max = pid->dev->max_mr_pages << PAGE_SHIFT;
	lgr->mem = (struct smcr_buf_params) {
		.sn = sn,
		.over = lgr_over,
		.arg = lgr,
	};
	lgr->eye_wanted = READ_ONCE(sn->knobs.eye_catcher);
	lgr->terms.base = smcr_dialect_base(lgr->dialect, lgr->eye_wanted,
					    false);
	lgr->single = READ_ONCE(sn->knobs.max_links) == 1;
	lgr->terms.max_links = max(READ_ONCE(sn->knobs.max_links),
				   SMCR_LINKS_MIN);
	refcount_set(&lgr->refs, 1);
	spin_lock_init(&lgr->lock);
	init_waitqueue_head(&lgr->wait);
	INIT_LIST_HEAD(&lgr->net.node);
	INIT_LIST_HEAD(&lgr->net.form);
	INIT_LIST_HEAD(&lgr->net.idle);
	RB_CLEAR_NODE(&lgr->net.id.rb);
	/* with this flag the xarray disables BH, too, when it retakes xa_lock */
	xa_init_flags(&lgr->rtok.relems, XA_FLAGS_LOCK_BH);
	mutex_init(&lgr->rmbs.mutex);
	for (i = 0; i < ARRAY_SIZE(lgr->rmbs.list); i++)
		INIT_LIST_HEAD(&lgr->rmbs.list[i]);
	INIT_LIST_HEAD(&lgr->rmbs.off);
	lgr->rmbs.pause = jiffies;
	INIT_DELAYED_WORK(&lgr->rmbs.work, smcr_rmb_work);
	INIT_DELAYED_WORK(&lgr->conns.idle_work, smcr_lgr_idle_work);
	INIT_DELAYED_WORK(&lgr->end.work, smcr_lgr_end_work);
	INIT_WORK(&lgr->end.free_work, smcr_lgr_free_work);
	smcr_lgr_run_init(lgr);
	if (smcr_lgr_init_conns(lgr))
		goto err_lgr;
	smcr_count(sn, SMCR_CNT_LGR_CREATED);
	return lgr;

err_lgr:
	kvfree(lgr->rtok.all);
	kfree(lgr);
err_count:
	smcr_lgr_uncount(sn);
	return NULL;
}

/* Set up PD, QP and receive queue of a new group */
static int lgr_setup(struct smcr_lgr *lgr, const struct smcr_port_id *pid,
		     enum smcr_reason *why)
{
	struct smcr_link_params owner = {
		.lgr = lgr,
		.lgr_id = lgr->id,
		.peer_id = lgr->peer.id,
		.msg_len = lgr->dialect->msg_len,
		.mem = &lgr->mem,
	};
	struct smcr_link *link;
	int d;

	*why = SMCR_R_DEVICE_GONE;
	if (READ_ONCE(pid->dev->removed))
		return -ENODEV;

	*why = SMCR_R_QP_FAIL;
	d = smcr_lgr_dev_get(lgr, pid->dev);
	if (d < 0)
		return d;
	owner.d = d;
	link = smcr_link_create(&owner, pid, lgr->rmbs.devs[d].pd);
	if (IS_ERR(link)) {
		if (PTR_ERR(link) == -ENOBUFS)
			*why = SMCR_R_MEM_LIMIT;
		if (PTR_ERR(link) == -EDQUOT)
			*why = SMCR_R_MEMCG_LIMIT;
		return PTR_ERR(link);
	}
	link->user_id = get_random_u32();
	/*
	 * A server's group is listed before its link exists. So other threads may find the
	 * group now, and must not find an incomplete link. Completions do not come before
	 * the link is connected.
	 */
	smp_store_release(&lgr->link, link);
	smcr_lgr_place_link(link);
	*why = SMCR_R_NONE;
	return 0;
}

static u64 peer_hash(const u8 peer_id[8])
{
	u64 hash;

	memcpy(&hash, peer_id, sizeof(hash));
	return hash;
}

/*
 * List a FORMING group; the list gets its own reference. The caller checks the device
 * afterwards: if the removal of the device has begun before this call, it may have missed
 * the group.
 */
static void lgr_publish(struct smcr_lgr *lgr)
{
	struct smcr_net *sn = lgr->sn;

	lockdep_assert_held(&sn->lgr_lock);
	smcr_lgr_hold(lgr);
	list_add_tail(&lgr->net.node, &sn->lgr_list);
	if (lgr->server)
		list_add_tail(&lgr->net.form, &sn->lgr_forming);
	smcr_ids_add(&sn->lgrs, &lgr->net.id);
	hash_add(sn->lgr_hash, &lgr->net.hash, peer_hash(lgr->peer.id));
	smcr_lgr_owner_ops->event(lgr, NULL, SMCR_CHANGE_GROUP_FORMING,
				  SMCR_R_NONE);
}

/*
 * Is the group on both RNICs that a new connection prefers, that of @pid and that of
 * @peer? GIDs are not compared: a host names one GID of an RNIC for IPv4 and another one
 * for IPv6, and the group serves both. The RNICs of all live links count, since the RNIC
 * in a client's Confirm may differ from the one that it proposes. The RNIC where the group
 * was formed counts even if the link there has failed: other links carry the connections
 * then.
 */
static bool lgr_on_rnics(struct smcr_lgr *lgr,
			 const struct smcr_peer *peer,
			 const struct smcr_port_id *pid)
{
	bool theirs = lgr->dialect->same_rnic(lgr->peer.mac, peer->mac);
	bool ours = lgr->origin.port == pid->port &&
		    lgr->origin.dev_id == pid->dev->id;
	unsigned long live = READ_ONCE(lgr->live);
	const struct smcr_link *link;
	unsigned int i;

	spin_lock(&lgr->lock);
	for_each_set_bit(i, &live, SMCR_SLOTS) {
		link = lgr->slot[i].link;
		if (!link)
			continue;
		theirs |= smcr_link_met(link) &&
			  lgr->dialect->same_rnic(link->peer_mac, peer->mac);
		ours |= link->pid.dev == pid->dev &&
			link->pid.port == pid->port;
	}
	spin_unlock(&lgr->lock);
	return ours && theirs;
}

/**
 * smcr_lgr_with_host() - is a TCP peer the host that a group was formed with?
 * @lgr: group
 * @peer: TCP peer; its @addr, @hw, @here and @near are set
 *
 * The sender of a CLC message can claim the peer ID, MAC and link of another host. So the
 * IP address and the link-layer address of the TCP peer are compared with those that
 * formed the group. The link-layer address is also compared with the RNICs that the peer
 * has named in this group. So a host with several IP addresses has one group.
 *
 * The peer checks this host in the same way. So a server does not offer the group on an
 * interface where the peer would not recognise this host.
 *
 * Context: any; the caller does not hold lgr->lock.
 * Return: true if it is that host.
 */
bool smcr_lgr_with_host(struct smcr_lgr *lgr, const struct smcr_peer *peer)
{
	bool theirs = lgr->peer.near && ether_addr_equal(lgr->peer.hw, peer->hw);
	bool ours = !lgr->server ||
		    ether_addr_equal(lgr->peer.here, peer->here);
	unsigned long live = READ_ONCE(lgr->live);
	const struct smcr_link *link;
	unsigned int i;

	spin_lock_bh(&lgr->lock);
	for_each_set_bit(i, &live, SMCR_SLOTS) {
		link = lgr->slot[i].link;
		if (!link)
			continue;
		theirs |= smcr_link_met(link) &&
			  ether_addr_equal(link->peer_mac, peer->hw);
		ours |= ether_addr_equal(link->pid.mac, peer->here);
	}
	spin_unlock_bh(&lgr->lock);
	theirs &= peer->near;
	return ours && (theirs || ipv6_addr_equal(&lgr->peer.addr, &peer->addr));
}

static bool lgr_same_peer(struct smcr_lgr *lgr, bool server,
			  const struct smcr_peer *peer,
			  const struct smcr_port_id *pid)
{
	lockdep_assert_held(&lgr->sn->lgr_lock);
	return lgr->server == server && lgr->vlan == pid->vlan &&
	       !memcmp(lgr->peer.id, peer->id, sizeof(peer->id)) &&
	       lgr_on_rnics(lgr, peer, pid);
}

static bool lgr_has_room(const struct smcr_lgr *lgr, u8 bsize)
{
	int max = READ_ONCE(lgr->sn->knobs.max_conns_per_lgr);

	return (!max || READ_ONCE(lgr->conns.n) < max) &&
	       smcr_rmb_has_room(lgr, bsize);
}

static bool lgr_denied_by(const struct smcr_lgr *lgr,
			  const struct in6_addr *addr)
{
	int i;

	for (i = 0; i < lgr->net.n_denied; i++)
		if (ipv6_addr_equal(&lgr->net.denied[i], addr))
			return true;
	return false;
}

/*
 * Find a usable group of a peer; if there is none, one that is being formed. *@full is set
 * if a group was passed over because it has no free element for @bsize and has reached its
 * limit of RMBs.
 *
 * Any host can form a group with the ID of this peer. So a group of another host is not
 * used, and neither is a group that this address has denied. The group that this address
 * has formed is preferred.
 */
static struct smcr_lgr *lgr_lookup(struct smcr_net *sn,
				   const struct smcr_peer *peer,
				   const struct smcr_port_id *pid,
				   u8 bsize, bool *full)
{
	struct smcr_lgr *lgr, *forming = NULL, *others = NULL;

	lockdep_assert_held(&sn->lgr_lock);
	hash_for_each_possible(sn->lgr_hash, lgr, net.hash,
			       peer_hash(peer->id)) {
		bool own = ipv6_addr_equal(&lgr->peer.addr, &peer->addr);
		u8 st = smcr_lgr_state(lgr);

		if (!lgr_same_peer(lgr, true, peer, pid) ||
		    !smcr_lgr_with_host(lgr, peer))
			continue;
		if (st == SMCR_LGR_ST_FORMING && own)
			forming = lgr;
		if (st != SMCR_LGR_ST_ACTIVE ||
		    READ_ONCE(lgr->test.no_reuse) || !READ_ONCE(lgr->live) ||
		    lgr_denied_by(lgr, &peer->addr))
			continue;
		if (!lgr_has_room(lgr, bsize)) {
			*full |= !smcr_rmb_has_room(lgr, bsize);
			continue;
		}
		if (own)
			return lgr;
		others = lgr;
	}
	return others ?: forming;
}

/*
 * Do two peers use one share of the first contacts (SMCR_FIRST_SHARE)? A host is taken to
 * have one IPv4 address, and any number of IPv6 addresses in its /64. Hosts of one /64 are
 * distinguished by their link-layer addresses.
 */
static bool lgr_share_of(const struct smcr_peer *a,
			 const struct smcr_peer *b)
{
	if (ipv6_addr_v4mapped(&a->addr) || ipv6_addr_v4mapped(&b->addr))
		return ipv6_addr_equal(&a->addr, &b->addr);
	return ipv6_prefix_equal(&a->addr, &b->addr, 64) &&
	       (!a->near || !b->near || ether_addr_equal(a->hw, b->hw));
}

/*
 * May @peer begin one more first contact? A host can make up any number of peer IDs, and
 * must not use up all first contacts with them. max_first_contacts bounds the length of
 * sn->lgr_forming; groups whose first contact is over are removed from that list here.
 */
static bool lgr_share_left(struct smcr_net *sn,
			   const struct smcr_peer *peer)
{
	int left = max(READ_ONCE(sn->knobs.max_first_contacts) /
		       SMCR_FIRST_SHARE, 1);
	struct smcr_lgr *lgr, *next;

	lockdep_assert_held(&sn->lgr_lock);
	list_for_each_entry_safe(lgr, next, &sn->lgr_forming, net.form) {
		if (smcr_lgr_state(lgr) != SMCR_LGR_ST_FORMING)
			list_del_init(&lgr->net.form);
		else
			left -= lgr_share_of(peer, &lgr->peer);
	}
	return left > 0;
}

/*
 * The caller has waited for the first contact of @lgr. May it run first contact itself
 * now? It may if the first contact of @lgr has not failed. If it has failed, the caller may
 * only if the RDMA path was not the cause. That is so if an event on TCP (end of TCP, abort,
 * Decline) ended that first contact, and the peer's end of the first link was not known yet.
 */
static bool lgr_may_retry(struct smcr_lgr *lgr)
{
	const struct smcr_link *link;
	bool began;

	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD)
		return true;
	switch (lgr->why) {
	case SMCR_R_CLC_EOF:
	case SMCR_R_NEG_ABORTED:
	case SMCR_R_PEER_DECLINED:
		spin_lock_bh(&lgr->lock);
		link = lgr->slot[0].link;
		began = link ? smcr_link_met(link) : lgr->end.met;
		spin_unlock_bh(&lgr->lock);
		return !began;
	default:
		return false;
	}
}

/*
 * Return a group for @req: an ACTIVE one, or the new one in *@fresh, which is then listed.
 * NULL: there is none, for the reason @req->why; if @req->forming is set, the caller waits
 * for that group. If a new group was made, *@fresh is set to it, with a reference, even if
 * it was not listed.
 */
static struct smcr_lgr *lgr_try_server(struct smcr_net *sn,
				       struct smcr_lgr_request *req,
				       struct smcr_lgr **fresh)
{
	bool full = false, may;
	struct smcr_lgr *lgr;

	for (;;) {
		spin_lock_bh(&sn->lgr_lock);
		lgr = lgr_lookup(sn, req->peer, req->pid, req->bsize, &full);
		may = !lgr && req->may_first &&
		      lgr_share_left(sn, req->peer);
		if (lgr)
			smcr_lgr_hold(lgr);
		else if (*fresh && may)
			lgr_publish(*fresh);
		spin_unlock_bh(&sn->lgr_lock);

		if (lgr)
			break;
		if (!may) {
			req->why = SMCR_R_FIRST_LIMIT;
			return NULL;
		}
		if (*fresh)
			return *fresh;
		*fresh = lgr_alloc(sn, true, req->peer, req->pid, &req->why);
		if (!*fresh) {
			if (full && req->why == SMCR_R_LGR_LIMIT)
				req->why = SMCR_R_RMB_LIMIT;
			return NULL;
		}
	}
	if (smcr_lgr_state(lgr) == SMCR_LGR_ST_ACTIVE)
		return lgr;
	req->forming = lgr;	/* if it is DEAD by now, the next call finds that */
	req->why = SMCR_R_LGR_BUSY;
	return NULL;
}

/**
 * smcr_lgr_get_server() - group for a Proposal (CLC-24, CLC-69)
 * @sn: namespace
 * @req: arguments and results
 *
 * First contacts are serialised for each peer and address, not globally. The first caller
 * lists a FORMING group, and runs first contact. Other callers get NULL, and call again
 * when that first contact has ended. This function does not sleep until then, as a peer
 * could prolong first contact and send any number of Proposals.
 *
 * If a group has no free element of the size, and has reached its limit of RMBs, a parallel
 * group is formed (RFC 7609 3.5.3).
 *
 * Context: process, sleeps.
 * Return: group with a reference: it is ACTIVE and has room for a connection, or it is
 * FORMING and @req->first is true. NULL: none, for the reason @req->why.
 */
struct smcr_lgr *smcr_lgr_get_server(struct smcr_net *sn,
				     struct smcr_lgr_request *req)
{
	struct smcr_lgr *before = req->forming, *fresh = NULL, *lgr;
	bool retry;

	req->first = false;
	if (before) {
		req->why = SMCR_R_LGR_BUSY;
		if (smcr_lgr_state(before) == SMCR_LGR_ST_FORMING)
			return NULL;
		retry = lgr_may_retry(before);
		smcr_lgr_put(before);
		req->forming = NULL;
		if (!retry)
			return NULL;
	}
	lgr = lgr_try_server(sn, req, &fresh);
	if (!fresh || lgr != fresh) {
		/*
		 * While @fresh was being allocated, another group was listed, or the
		 * address of the peer used up its share of the first contacts.
		 */
		if (fresh)
			smcr_lgr_put(fresh);
		return lgr;
	}
	if (lgr_setup(fresh, req->pid, &req->why)) {
		smcr_lgr_kill(fresh, req->why, 0);
		smcr_lgr_put(fresh);
		return NULL;
	}
	smcr_race(sn->net, "lgr-listed");
	/* the removal of the device, or an event of the port, may have missed the group */
	if (!smcr_dev_pid_ok(req->pid))
		smcr_lgr_kill(fresh, SMCR_R_LINK_DEVICE, 0);
	req->first = true;
	return fresh;
}

/**
 * smcr_lgr_create() - client: new FORMING group for an Accept with F=1
 * @sn: namespace
 * @peer: from the Accept
 * @pid: own port
 * @why: reason on failure
 *
 * Context: process, sleeps.
 * Return: group with a reference, with PD and a QP in INIT. It is listed, except if its
 * link has failed already and the group was released. NULL: failure.
 */
struct smcr_lgr *smcr_lgr_create(struct smcr_net *sn,
				 const struct smcr_peer *peer,
				 const struct smcr_port_id *pid,
				 enum smcr_reason *why)
{
	struct smcr_lgr *lgr;
	bool released;

	lgr = lgr_alloc(sn, false, peer, pid, why);
	if (!lgr)
		return NULL;
	if (lgr_setup(lgr, pid, why)) {
		smcr_lgr_put(lgr);
		return NULL;
	}
	smcr_race(sn->net, "lgr-create");
	spin_lock_bh(&sn->lgr_lock);
	/*
	 * If the link has failed, the group may be released already. A release takes the
	 * group off the list, so if it were listed after that it would stay there.
	 */
	spin_lock(&lgr->lock);
	released = lgr->end.released;
	spin_unlock(&lgr->lock);
	if (!released)
		lgr_publish(lgr);
	spin_unlock_bh(&sn->lgr_lock);
	if (!smcr_dev_pid_ok(pid))
		smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, 0);
	return lgr;
}

static bool lgr_names_link(struct smcr_lgr *lgr,
			   const struct smcr_clc_accept *acc)
{
	bool found;

	spin_lock(&lgr->lock);
	found = smcr_lgr_link_of(lgr, acc);
	spin_unlock(&lgr->lock);
	return found;
}

/**
 * smcr_lgr_find_client() - group whose link an Accept names (CLC-34)
 * @sn: namespace
 * @acc: Accept
 * @pid: own port of the connection
 * @peer: TCP peer; its @addr, @hw, @here and @near are set
 *
 * Another host can have formed a group with a link of the same identity. So the group that
 * was formed with @peer is preferred.
 *
 * Return: group with a reference, which was not DEAD at the lookup. If the group is
 * FORMING, and the Accept reuses it, the caller waits until first contact is settled.
 * NULL: there is no such group. Then an Accept that reuses a group is out of sync.
 */
struct smcr_lgr *smcr_lgr_find_client(struct smcr_net *sn,
				      const struct smcr_clc_accept *acc,
				      const struct smcr_port_id *pid,
				      const struct smcr_peer *peer)
{
	struct smcr_lgr *lgr, *found = NULL;

	spin_lock_bh(&sn->lgr_lock);
	hash_for_each_possible(sn->lgr_hash, lgr, net.hash,
			       peer_hash(acc->peer_id)) {
		if (!lgr->server && lgr->vlan == pid->vlan &&
		    smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD &&
		    lgr_names_link(lgr, acc)) {
			found = lgr;
			if (smcr_lgr_with_host(lgr, peer))
				break;
		}
	}
	if (found)
		smcr_lgr_hold(found);
	spin_unlock_bh(&sn->lgr_lock);
	return found;
}

/* Record that @addr has denied the group. Returns true if @addr has formed the group */
static bool lgr_denies(struct smcr_lgr *lgr, const struct in6_addr *addr)
{
	bool own, known;

	spin_lock_bh(&lgr->sn->lgr_lock);
	own = ipv6_addr_equal(&lgr->peer.addr, addr);
	known = lgr_denied_by(lgr, addr);
	if (!known) {
		lgr->net.n_denied = min(lgr->net.n_denied + 1, SMCR_DENIED_MAX);
		memmove(&lgr->net.denied[1], &lgr->net.denied[0],
			(lgr->net.n_denied - 1) * sizeof(lgr->net.denied[0]));
		lgr->net.denied[0] = *addr;
	}
	spin_unlock_bh(&lgr->sn->lgr_lock);
	return own;
}

/**
 * smcr_lgr_suspect() - "out of sync" was received: verify the links of a group
 * @lgr: group; the caller has a reference
 * @addr: address that the Decline came from; NULL if this host is the client
 *
 * RFC 7609 requires a host that receives "out of sync" to clean up (CLC-36). But the
 * message came on one TCP connection, which does not prove that the sender is the peer of
 * the group. And the group has other connections. So the group is not offered to that
 * address again, and TEST LINK verifies the links. If that address has formed the group,
 * the group is not offered to any other address either until TEST LINK is answered. If the
 * peer has lost the links, it does not answer, and the group ends after T_LLC at most.
 *
 * Context: any.
 */
void smcr_lgr_suspect(struct smcr_lgr *lgr, const struct in6_addr *addr)
{
	smcr_report_reason(lgr->sn, SMCR_R_OUT_OF_SYNC, lgr->id, 0);
	if (addr && lgr_denies(lgr, addr))
		WRITE_ONCE(lgr->test.no_reuse, true);
	smcr_llc_test_now(lgr);
}
