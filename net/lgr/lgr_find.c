// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which group a connection is in: one of the peer that there is, or a new one.
 * RFC 7609 2.2, 3.5.3; limits, and what makes a group not to be offered.
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include "core/lgr_plan.h"
#include "lgr/lgr_run.h"
#include "lgr/lgr.h"
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr_impl.h"

/* One address may have this part of the first contacts that may be under way */
#define SMCR_FIRST_SHARE	4

static atomic_t smcr_lgr_ids = ATOMIC_INIT(0);

/* The group that was without a connection for longest ends; true if it did */
static bool smcr_lgr_evict(struct smcr_net *sn)
{
	struct smcr_lgr *lgr, *next;

	lockdep_assert_held(&sn->lgr_lock);
	list_for_each_entry_safe(lgr, next, &sn->lgr_idle, net.idle) {
		/* of these there are max_first_contacts */
		if (smcr_lgr_state(lgr) == SMCR_LGR_ST_FORMING)
			continue;
		list_del_init(&lgr->net.idle);
		/* it has ended, or a connection has come just now */
		if (!smcr_lgr_end_idle(lgr, SMCR_R_LGR_LIMIT))
			continue;
		/* inactivity is for servers to say (LG-38) */
		smcr_lgr_post_end(lgr, SMCR_R_LGR_LIMIT, lgr->server ?
				  SMCR_DEL_INACTIVE : SMCR_DEL_OPERATOR);
		return true;
	}
	return false;
}

/*
 * Room for another group (SEC-13), if need be in place of an idle one? Evicted
 * groups take a while to be freed, so the total may reach 2 x max_lgrs.
 */
static bool smcr_lgr_admit(struct smcr_net *sn)
{
	unsigned int max = READ_ONCE(sn->knobs.max_lgrs);
	bool ok;

	spin_lock_bh(&sn->lgr_lock);
	ok = sn->lgr_count < max ||
	     (sn->lgr_count < 2 * max && smcr_lgr_evict(sn));
	if (ok)
		WRITE_ONCE(sn->lgr_count, sn->lgr_count + 1);
	spin_unlock_bh(&sn->lgr_lock);
	return ok;
}

/* smcr_buf_params.over: what is worth no effort any more */
static bool smcr_lgr_over(const void *lgr)
{
	return smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD;
}

static struct smcr_lgr *smcr_lgr_alloc(struct smcr_net *sn, bool server,
				       const struct smcr_peer *peer,
				       const struct smcr_port_id *pid,
				       enum smcr_reason *why)
{
	struct smcr_lgr *lgr;
	int i;

	*why = SMCR_R_LGR_LIMIT;
	if (!smcr_lgr_admit(sn))
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
		.over = smcr_lgr_over,
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
	/* taken with bottom halves off, so an allocation below it has to know */
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
	smcr_llc_init(lgr);
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

/* PD, QP and receive queue of a new group */
static int smcr_lgr_setup(struct smcr_lgr *lgr, const struct smcr_port_id *pid,
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
	/* a server's group is known already; the link calls back later */
	smp_store_release(&lgr->link, link);
	smcr_lgr_place_link(link);
	*why = SMCR_R_NONE;
	return 0;
}

static u64 smcr_peer_hash(const u8 peer_id[8])
{
	u64 hash;

	memcpy(&hash, peer_id, sizeof(hash));
	return hash;
}

/*
 * List a FORMING group, with a reference of the list's own. The caller checks
 * the device afterwards: it may have begun to go away before the group was seen.
 */
static void smcr_lgr_publish(struct smcr_lgr *lgr)
{
	struct smcr_net *sn = lgr->sn;

	lockdep_assert_held(&sn->lgr_lock);
	smcr_lgr_hold(lgr);
	list_add_tail(&lgr->net.node, &sn->lgr_list);
	if (lgr->server)
		list_add_tail(&lgr->net.form, &sn->lgr_forming);
	smcr_ids_add(&sn->lgrs, &lgr->net.id);
	hash_add(sn->lgr_hash, &lgr->net.hash, smcr_peer_hash(lgr->peer.id));
	smcr_lgr_owner_ops->event(lgr, NULL, SMCR_CHANGE_GROUP_FORMING,
				  SMCR_R_NONE);
}

/*
 * The RNICs of both sides that a connection would prefer: is the group on them? Not
 * by GID: a host names another one of the same RNIC when TCP is IPv6, and its group
 * is as good for that. A client may have confirmed with another RNIC than the one
 * it proposes. The RNIC where it was formed counts although its link has failed: its
 * others carry what the path there does not.
 */
static bool smcr_lgr_on_rnics(struct smcr_lgr *lgr,
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
 * @peer: peer, its address and neighbour are filled
 *
 * ID, MAC and the names of links in CLC messages can be those of others. So what
 * counts is the address that formed the group, its neighbour, and the RNICs that the
 * host has named in this group. A host with several addresses has one group.
 *
 * The peer asks the same about this host: a server does not offer the group at an
 * interface where the peer would not know it again.
 *
 * Context: any; no lock of the group.
 * Return: true if it is.
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

static bool smcr_lgr_same_peer(struct smcr_lgr *lgr, bool server,
			       const struct smcr_peer *peer,
			       const struct smcr_port_id *pid)
{
	lockdep_assert_held(&lgr->sn->lgr_lock);
	return lgr->server == server && lgr->vlan == pid->vlan &&
	       !memcmp(lgr->peer.id, peer->id, sizeof(peer->id)) &&
	       smcr_lgr_on_rnics(lgr, peer, pid);
}

static bool smcr_lgr_has_room(const struct smcr_lgr *lgr, u8 bsize)
{
	int max = READ_ONCE(lgr->sn->knobs.max_conns_per_lgr);

	return (!max || READ_ONCE(lgr->conns.n) < max) &&
	       smcr_rmb_has_room(lgr, bsize);
}

static bool smcr_lgr_denied_by(const struct smcr_lgr *lgr,
			       const struct in6_addr *addr)
{
	int i;

	for (i = 0; i < lgr->net.n_denied; i++)
		if (ipv6_addr_equal(&lgr->net.denied[i], addr))
			return true;
	return false;
}

/*
 * Usable group of a peer, or one that is being formed. *@full: no RMB can be
 * added to one that would do otherwise. Anybody can form a group in the name of
 * this peer: the one that this address has formed is preferred, one of another host
 * is not for it, nor one that it has denied.
 */
static struct smcr_lgr *smcr_lgr_lookup(struct smcr_net *sn,
					const struct smcr_peer *peer,
					const struct smcr_port_id *pid,
					u8 bsize, bool *full)
{
	struct smcr_lgr *lgr, *forming = NULL, *others = NULL;

	lockdep_assert_held(&sn->lgr_lock);
	hash_for_each_possible(sn->lgr_hash, lgr, net.hash,
			       smcr_peer_hash(peer->id)) {
		bool own = ipv6_addr_equal(&lgr->peer.addr, &peer->addr);
		u8 st = smcr_lgr_state(lgr);

		if (!smcr_lgr_same_peer(lgr, true, peer, pid) ||
		    !smcr_lgr_with_host(lgr, peer))
			continue;
		if (st == SMCR_LGR_ST_FORMING && own)
			forming = lgr;
		if (st != SMCR_LGR_ST_ACTIVE ||
		    READ_ONCE(lgr->test.no_reuse) || !READ_ONCE(lgr->live) ||
		    smcr_lgr_denied_by(lgr, &peer->addr))
			continue;
		if (!smcr_lgr_has_room(lgr, bsize)) {
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
 * A host has any number of IPv6 addresses in its /64, and one of IPv4. Other hosts of
 * that /64 are told apart by their link-layer addresses.
 */
static bool smcr_lgr_share_of(const struct smcr_peer *a,
			      const struct smcr_peer *b)
{
	if (ipv6_addr_v4mapped(&a->addr) || ipv6_addr_v4mapped(&b->addr))
		return ipv6_addr_equal(&a->addr, &b->addr);
	return ipv6_prefix_equal(&a->addr, &b->addr, 64) &&
	       (!a->near || !b->near || ether_addr_equal(a->hw, b->hw));
}

/*
 * May @peer begin one more first contact? Peer IDs can be made up, and from one
 * host must not take all that there may be. There are no more of them than
 * max_first_contacts; those that are over leave the list here.
 */
static bool smcr_lgr_share_left(struct smcr_net *sn,
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
			left -= smcr_lgr_share_of(peer, &lgr->peer);
	}
	return left > 0;
}

/*
 * May the caller try first contact itself after another one with this peer has
 * failed? Only if the cause was that one's TCP connection, not the path.
 */
static bool smcr_lgr_may_retry(struct smcr_lgr *lgr)
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
 * A group for @req: ACTIVE, or *@fresh, which is listed now. Or NULL with a reason; @req->forming is
 * then one to wait for, if it is not NULL. *@fresh is NULL or a new group, with a reference.
 */
static struct smcr_lgr *smcr_lgr_try_server(struct smcr_net *sn,
					    struct smcr_lgr_request *req,
					    struct smcr_lgr **fresh)
{
	bool full = false, may;
	struct smcr_lgr *lgr;

	for (;;) {
		spin_lock_bh(&sn->lgr_lock);
		lgr = smcr_lgr_lookup(sn, req->peer, req->pid, req->bsize, &full);
		may = !lgr && req->may_first &&
		      smcr_lgr_share_left(sn, req->peer);
		if (lgr)
			smcr_lgr_hold(lgr);
		else if (*fresh && may)
			smcr_lgr_publish(*fresh);
		spin_unlock_bh(&sn->lgr_lock);

		if (lgr)
			break;
		if (!may) {
			req->why = SMCR_R_FIRST_LIMIT;
			return NULL;
		}
		if (*fresh)
			return *fresh;
		*fresh = smcr_lgr_alloc(sn, true, req->peer, req->pid, &req->why);
		if (!*fresh) {
			if (full && req->why == SMCR_R_LGR_LIMIT)
				req->why = SMCR_R_RMB_LIMIT;
			return NULL;
		}
	}
	if (smcr_lgr_state(lgr) == SMCR_LGR_ST_ACTIVE)
		return lgr;
	req->forming = lgr;	/* or it has died just now: next time */
	req->why = SMCR_R_LGR_BUSY;
	return NULL;
}

/**
 * smcr_lgr_get_server() - group for a Proposal (CLC-24, CLC-69)
 * @sn: namespace
 * @req: what is wanted, and the outcome
 *
 * First contacts are serialised per peer and the address that it comes from,
 * never globally: the first one that lists a FORMING group runs it, the others come back
 * when that has ended. They do not sleep meanwhile: a peer could make it last
 * and send any number of Proposals.
 *
 * A group that has all the RMBs it may have, and no free element of the size,
 * gets a parallel one beside it (RFC 7609 3.5.3).
 *
 * Context: process, sleeps.
 * Return: group with a reference: ACTIVE with room for a connection, or FORMING
 * and @req->first true; NULL with @req->why.
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
		retry = smcr_lgr_may_retry(before);
		smcr_lgr_put(before);
		req->forming = NULL;
		if (!retry)
			return NULL;
	}
	lgr = smcr_lgr_try_server(sn, req, &fresh);
	if (!fresh || lgr != fresh) {
		if (fresh)
			smcr_lgr_put(fresh);
		return lgr;
	}
	if (smcr_lgr_setup(fresh, req->pid, &req->why)) {
		smcr_lgr_kill(fresh, req->why, 0);
		smcr_lgr_put(fresh);
		return NULL;
	}
	smcr_race(sn->net, "lgr-listed");
	/* removal of the device, or an event of the port, may have missed it */
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
 * Return: group with a reference, listed unless it has ended already, with PD and a QP in
 * INIT; or NULL.
 */
struct smcr_lgr *smcr_lgr_create(struct smcr_net *sn,
				 const struct smcr_peer *peer,
				 const struct smcr_port_id *pid,
				 enum smcr_reason *why)
{
	struct smcr_lgr *lgr;
	bool released;

	lgr = smcr_lgr_alloc(sn, false, peer, pid, why);
	if (!lgr)
		return NULL;
	if (smcr_lgr_setup(lgr, pid, why)) {
		smcr_lgr_put(lgr);
		return NULL;
	}
	smcr_race(sn->net, "lgr-create");
	spin_lock_bh(&sn->lgr_lock);
	/* nothing takes a group off the list that was released before, as its link failed */
	spin_lock(&lgr->lock);
	released = lgr->end.released;
	spin_unlock(&lgr->lock);
	if (!released)
		smcr_lgr_publish(lgr);
	spin_unlock_bh(&sn->lgr_lock);
	if (!smcr_dev_pid_ok(pid))
		smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, 0);
	return lgr;
}

static bool smcr_lgr_names_link(struct smcr_lgr *lgr,
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
 * @peer: TCP peer, its address and neighbour are filled
 *
 * Another host can have formed a group that names the same link: the one with
 * @peer is preferred.
 *
 * Return: group with a reference, not DEAD when it was looked up; FORMING: the
 * caller comes back when its first contact is settled. NULL: out of sync.
 */
struct smcr_lgr *smcr_lgr_find_client(struct smcr_net *sn,
				      const struct smcr_clc_accept *acc,
				      const struct smcr_port_id *pid,
				      const struct smcr_peer *peer)
{
	struct smcr_lgr *lgr, *found = NULL;

	spin_lock_bh(&sn->lgr_lock);
	hash_for_each_possible(sn->lgr_hash, lgr, net.hash,
			       smcr_peer_hash(acc->peer_id)) {
		if (!lgr->server && lgr->vlan == pid->vlan &&
		    smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD &&
		    smcr_lgr_names_link(lgr, acc)) {
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

/* A group that is not offered to @addr any more; true if @addr has formed it */
static bool smcr_lgr_denies(struct smcr_lgr *lgr, const struct in6_addr *addr)
{
	bool own, known;

	spin_lock_bh(&lgr->sn->lgr_lock);
	own = ipv6_addr_equal(&lgr->peer.addr, addr);
	known = smcr_lgr_denied_by(lgr, addr);
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
 * smcr_lgr_suspect() - the peer, or who claims to be it, denies the group
 * @lgr: group; the caller has a reference
 * @addr: where the Decline came from, if it came to a server, else NULL
 *
 * RFC 7609 has a peer that receives "out of sync" clean up (CLC-36). But the
 * message came on one TCP connection, which proves nothing about its sender, and
 * the group has connections of others. So the group is not offered to that
 * address again, and TEST LINK verifies the link. If the address is the one that
 * formed the group, nobody else is offered it until TEST LINK is answered. A
 * peer that has lost the link does not answer, and the group ends, after T_LLC
 * at most.
 *
 * Context: any.
 */
void smcr_lgr_suspect(struct smcr_lgr *lgr, const struct in6_addr *addr)
{
	smcr_report_reason(lgr->sn, SMCR_R_OUT_OF_SYNC, lgr->id, 0);
	if (addr && smcr_lgr_denies(lgr, addr))
		WRITE_ONCE(lgr->test.no_reuse, true);
	smcr_llc_test_now(lgr);
}
