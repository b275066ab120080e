// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link groups: creation, lookup, the connections and peer elements in them,
 * and their end (RFC 7609 2.2, 3.5.4).
 */
#include <linux/delay.h>
#include <linux/random.h>
#include "conn.h"
#include "core/lgr_plan.h"
#include "kllc.h"
#include "lgr.h"
#include "pernet.h"
#include "sock.h"
#include "trace.h"

/* Length of the reclaim list: send buffers that a WRITE may still read */
#define SMCR_RECLAIM_MAX	64

/* One address may have this part of the first contacts that may be under way */
#define SMCR_FIRST_SHARE	4

/*
 * The removal of a device or a namespace waits for its groups, but no longer
 * than this: a peer that is alive has acknowledged and answered DELETE LINK
 * before.
 */
#define SMCR_T_HURRY_DEV	1000	/* ms */
#define SMCR_T_HURRY_NET	300

static atomic_t smcr_lgr_ids = ATOMIC_INIT(0);

static void smcr_lgr_end_work(struct work_struct *work);
static void smcr_lgr_free_work(struct work_struct *work);
static void smcr_lgr_idle_work(struct work_struct *work);
static void smcr_lgr_free_reclaim(struct smcr_lgr *lgr);

static const struct rhashtable_params smcr_conn_params = {
	.key_len = sizeof_field(struct smcr_conn, token),
	.key_offset = offsetof(struct smcr_conn, token),
	.head_offset = offsetof(struct smcr_conn, token_node),
	.automatic_shrinking = true,
};

/* How long the end of a group waits for the peer, at most */
static unsigned long smcr_lgr_end_time(const struct smcr_lgr *lgr)
{
	return msecs_to_jiffies(min(READ_ONCE(lgr->sn->knobs.t_llc),
				    SMCR_T_LLC_DEFAULT));
}

/*
 * The only writer of lgr->st, which begins as FORMING. Returns false if the
 * group was DEAD already.
 */
static bool smcr_lgr_set_state_locked(struct smcr_lgr *lgr, u8 st,
				      enum smcr_reason why)
{
	u8 old = lgr->st;

	lockdep_assert_held(&lgr->lock);
	if (old == SMCR_LGR_ST_DEAD)
		return false;
	if (st == SMCR_LGR_ST_DEAD)
		lgr->end_due = jiffies + smcr_lgr_end_time(lgr);
	else
		lgr->tell_end = true;
	lgr->why = why;
	smp_store_release(&lgr->st, st);	/* pairs with smcr_lgr_state() */
	trace_smcr_lgr(lgr->id, lgr->server, old, st, why);
	wake_up_all(&lgr->wait);
	return true;
}

static bool smcr_lgr_set_state(struct smcr_lgr *lgr, u8 st,
			       enum smcr_reason why)
{
	bool ok;

	spin_lock_bh(&lgr->lock);
	ok = smcr_lgr_set_state_locked(lgr, st, why);
	spin_unlock_bh(&lgr->lock);
	return ok;
}

void smcr_lgr_hold(struct smcr_lgr *lgr)
{
	refcount_inc(&lgr->refs);
}

void smcr_lgr_put(struct smcr_lgr *lgr)
{
	if (refcount_dec_and_test(&lgr->refs))
		queue_work(smcr_end_wq, &lgr->free_work);
}

static void smcr_lgr_uncount(struct smcr_net *sn)
{
	spin_lock_bh(&sn->lgr_lock);
	if (!--sn->lgr_count)
		wake_up_all(&sn->lgr_wait);
	spin_unlock_bh(&sn->lgr_lock);
}

/* Everything of a group that nobody refers to any more. Process context. */
static void smcr_lgr_free_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(work, struct smcr_lgr, free_work);
	struct smcr_net *sn = lgr->sn;

	if (lgr->link)
		smcr_link_stop(lgr->link);
	smcr_llc_stop(lgr);
	smcr_lgr_free_reclaim(lgr);
	smcr_rmb_free_all(lgr);
	if (lgr->link)
		smcr_link_free(lgr->link);
	if (lgr->pd && !lgr->mr_leaked)
		ib_dealloc_pd(lgr->pd);
	smcr_dev_put(lgr->pid.dev);
	rhashtable_destroy(&lgr->conns);
	xa_destroy(&lgr->relems);
	smcr_count(sn, SMCR_CNT_LGR_FREED);

	smcr_lgr_uncount(sn);
	kfree(lgr);
}

/* To be called by who has set DEAD: counts it and starts end_work */
static void smcr_lgr_killed(struct smcr_lgr *lgr, enum smcr_reason why,
			    u32 del_reason)
{
	/* in first contact a Decline says it, which DELETE LINK would forestall */
	lgr->del.reason = lgr->tell_end || lgr->del_asked ? del_reason : 0;
	if (!lgr->del_asked) {
		lgr->del.all = true;
		lgr->del.orderly = del_reason == SMCR_DEL_OPERATOR ||
				   del_reason == SMCR_DEL_INACTIVE;
	}
	smcr_hit(lgr->sn, why, lgr->id, 0);
	smcr_lgr_hold(lgr);	/* until SMCR_LGR_END_RELEASE is done */
	queue_delayed_work(smcr_end_wq, &lgr->end_work, 0);
}

/* ACTIVE to DEAD if there is no connection; a new one finds out in add_conn */
static bool smcr_lgr_end_idle(struct smcr_lgr *lgr, enum smcr_reason why)
{
	bool end;

	spin_lock_bh(&lgr->lock);
	end = lgr->st == SMCR_LGR_ST_ACTIVE && !lgr->n_conns &&
	      smcr_lgr_set_state_locked(lgr, SMCR_LGR_ST_DEAD, why);
	spin_unlock_bh(&lgr->lock);
	return end;
}

/* The group that was without a connection for longest ends; true if it did */
static bool smcr_lgr_evict(struct smcr_net *sn)
{
	struct smcr_lgr *lgr, *oldest = NULL;

	lockdep_assert_held(&sn->lgr_lock);
	list_for_each_entry(lgr, &sn->lgr_list, net_node) {
		if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE ||
		    READ_ONCE(lgr->n_conns))
			continue;
		if (!oldest || time_before(READ_ONCE(lgr->idle_since),
					   READ_ONCE(oldest->idle_since)))
			oldest = lgr;
	}
	/* it may have got a connection just now */
	if (!oldest || !smcr_lgr_end_idle(oldest, SMCR_R_LGR_LIMIT))
		return false;
	/* inactivity is for servers to say (LG-38) */
	smcr_lgr_killed(oldest, SMCR_R_LGR_LIMIT, oldest->server ?
			SMCR_DEL_INACTIVE : SMCR_DEL_OPERATOR);
	return true;
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
		sn->lgr_count++;
	spin_unlock_bh(&sn->lgr_lock);
	return ok;
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
	lgr->sn = sn;
	lgr->server = server;
	lgr->id = atomic_inc_return(&smcr_lgr_ids);
	lgr->peer = *peer;
	lgr->pid = *pid;
	lgr->eye_wanted = READ_ONCE(sn->knobs.eye_catcher);
	lgr->base = lgr->eye_wanted ? SMCR_RMBE_EYE_LEN : 0;
	lgr->max_links = SMCR_LINKS_MIN;
	refcount_set(&lgr->refs, 1);
	spin_lock_init(&lgr->lock);
	init_waitqueue_head(&lgr->wait);
	INIT_LIST_HEAD(&lgr->net_node);
	INIT_LIST_HEAD(&lgr->form_node);
	RB_CLEAR_NODE(&lgr->net_id.rb);
	INIT_LIST_HEAD(&lgr->conn_list);
	/* taken with bottom halves off, so an allocation below it has to know */
	xa_init_flags(&lgr->relems, XA_FLAGS_LOCK_BH);
	mutex_init(&lgr->rmb_mutex);
	for (i = 0; i < ARRAY_SIZE(lgr->rmbs); i++)
		INIT_LIST_HEAD(&lgr->rmbs[i]);
	lgr->rmb_pause = jiffies;
	INIT_DELAYED_WORK(&lgr->rmb_work, smcr_rmb_work);
	INIT_DELAYED_WORK(&lgr->idle_work, smcr_lgr_idle_work);
	INIT_DELAYED_WORK(&lgr->end_work, smcr_lgr_end_work);
	INIT_WORK(&lgr->free_work, smcr_lgr_free_work);
	smcr_llc_init(lgr);
	if (rhashtable_init(&lgr->conns, &smcr_conn_params))
		goto err_lgr;
	smcr_dev_hold(pid->dev);
	smcr_count(sn, SMCR_CNT_LGR_CREATED);
	return lgr;

err_lgr:
	kfree(lgr);
err_count:
	smcr_lgr_uncount(sn);
	return NULL;
}

/* PD, QP and receive queue of a new group */
static int smcr_lgr_setup(struct smcr_lgr *lgr, enum smcr_reason *why)
{
	struct smcr_link *link;

	*why = SMCR_R_DEVICE_GONE;
	if (READ_ONCE(lgr->pid.dev->removed))
		return -ENODEV;

	*why = SMCR_R_QP_FAIL;
	lgr->pd = ib_alloc_pd(lgr->pid.dev->ibdev, 0);
	if (IS_ERR(lgr->pd)) {
		int rc = PTR_ERR(lgr->pd);

		lgr->pd = NULL;
		return rc;
	}
	link = smcr_link_create(lgr, &smcr_link_ops, &lgr->pid, lgr->pd);
	if (IS_ERR(link)) {
		if (PTR_ERR(link) == -ENOBUFS)
			*why = SMCR_R_MEM_LIMIT;
		if (PTR_ERR(link) == -EDQUOT)
			*why = SMCR_R_MEMCG_LIMIT;
		return PTR_ERR(link);
	}
	link->user_id = get_random_u32();
	link->num = smcr_link_num_get(&lgr->nums);
	/* a server's group is known already */
	smp_store_release(&lgr->link, link);
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
	list_add_tail(&lgr->net_node, &sn->lgr_list);
	if (lgr->server)
		list_add_tail(&lgr->form_node, &sn->lgr_forming);
	smcr_ids_add(&sn->lgrs, &lgr->net_id);
	hash_add(sn->lgr_hash, &lgr->hash_node, smcr_peer_hash(lgr->peer.id));
}

/*
 * By ID and RNIC: the one that it prefers, or the one that it took. Not by GID: a
 * host names another one of the same RNIC when TCP is IPv6, and its group is as
 * good for that.
 */
static bool smcr_lgr_same_peer(const struct smcr_lgr *lgr, bool server,
			       const struct smcr_peer *peer,
			       const struct smcr_port_id *pid)
{
	return lgr->server == server &&
	       !memcmp(lgr->peer.id, peer->id, sizeof(peer->id)) &&
	       (!memcmp(lgr->peer.mac, peer->mac, sizeof(peer->mac)) ||
		!memcmp(lgr->confirmed_mac, peer->mac, sizeof(peer->mac))) &&
	       lgr->pid.vlan == pid->vlan && lgr->pid.dev == pid->dev &&
	       lgr->pid.port == pid->port;
}

static bool smcr_lgr_has_room(const struct smcr_lgr *lgr, u8 bsize)
{
	int max = READ_ONCE(lgr->sn->knobs.max_conns_per_lgr);

	return (!max || READ_ONCE(lgr->n_conns) < max) &&
	       smcr_rmb_has_room(lgr, bsize);
}

static bool smcr_lgr_denied_by(const struct smcr_lgr *lgr,
			       const struct in6_addr *addr)
{
	int i;

	for (i = 0; i < lgr->n_denied; i++)
		if (ipv6_addr_equal(&lgr->denied[i], addr))
			return true;
	return false;
}

/*
 * Usable group of a peer, or one that is being formed. *@full: no RMB can be
 * added to one that would do otherwise. Anybody can form a group in the name of
 * this peer: the one that this address has formed is preferred, and one that it
 * has denied is not for it. A host with several addresses has one group.
 */
static struct smcr_lgr *smcr_lgr_lookup(struct smcr_net *sn,
					const struct smcr_peer *peer,
					const struct smcr_port_id *pid,
					u8 bsize, bool *full)
{
	struct smcr_lgr *lgr, *forming = NULL, *others = NULL;

	lockdep_assert_held(&sn->lgr_lock);
	hash_for_each_possible(sn->lgr_hash, lgr, hash_node,
			       smcr_peer_hash(peer->id)) {
		bool own = ipv6_addr_equal(&lgr->peer.addr, &peer->addr);
		u8 st = smcr_lgr_state(lgr);

		if (!smcr_lgr_same_peer(lgr, true, peer, pid))
			continue;
		if (st == SMCR_LGR_ST_FORMING && own)
			forming = lgr;
		if (st != SMCR_LGR_ST_ACTIVE ||
		    READ_ONCE(lgr->no_reuse) || !smcr_link_up(lgr->link) ||
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
 * May @addr begin one more first contact? Peer IDs can be made up, and from one
 * address must not take all that there may be. There are no more of them than
 * max_first_contacts; those that are over leave the list here.
 */
static bool smcr_lgr_share_left(struct smcr_net *sn,
				const struct in6_addr *addr)
{
	int left = max(READ_ONCE(sn->knobs.max_first_contacts) /
		       SMCR_FIRST_SHARE, 1);
	struct smcr_lgr *lgr, *next;

	lockdep_assert_held(&sn->lgr_lock);
	list_for_each_entry_safe(lgr, next, &sn->lgr_forming, form_node) {
		if (smcr_lgr_state(lgr) != SMCR_LGR_ST_FORMING)
			list_del_init(&lgr->form_node);
		else
			left -= ipv6_addr_equal(&lgr->peer.addr, addr);
	}
	return left > 0;
}

/*
 * May the caller try first contact itself after another one with this peer has
 * failed? Only if the cause was that one's TCP connection, not the path.
 */
static bool smcr_lgr_may_retry(const struct smcr_lgr *lgr)
{
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD)
		return true;
	switch (lgr->why) {
	case SMCR_R_CLC_EOF:
	case SMCR_R_NEG_ABORTED:
	case SMCR_R_PEER_DECLINED:
		return !lgr->link || !lgr->link->peer_qpn;
	default:
		return false;
	}
}

/**
 * smcr_lgr_get_server() - group for a Proposal (CLC-24, CLC-69)
 * @sn: namespace
 * @peer: from the Proposal
 * @pid: own port in the peer's subnet
 * @bsize: wanted element size code; a group without room for such an element is
 *	passed over
 * @forming: group whose first contact the caller has waited for, or NULL; on
 *	return NULL, or one to wait for before the next try, with a reference
 * @may_first: the caller may run first contact, if its address has a share left
 * @first: set when the caller has to run first contact
 * @why: reason when NULL is returned
 *
 * First contacts are serialised per peer and the address that it comes from,
 * never globally: who lists a FORMING group first runs it, the others come back
 * when that has ended. They do not sleep meanwhile: a peer could make it last
 * and send any number of Proposals.
 *
 * A group that has all the RMBs it may have, and no free element of the size,
 * gets a parallel one beside it (RFC 7609 3.5.3).
 *
 * Context: process, sleeps.
 * Return: group with a reference: ACTIVE with room for a connection, or FORMING
 * and *@first true; NULL with *@why.
 */
struct smcr_lgr *smcr_lgr_get_server(struct smcr_net *sn,
				     const struct smcr_peer *peer,
				     const struct smcr_port_id *pid, u8 bsize,
				     struct smcr_lgr **forming, bool may_first,
				     bool *first, enum smcr_reason *why)
{
	struct smcr_lgr *lgr = *forming, *fresh = NULL;
	bool full = false, may;
	int rc;

	*first = false;
	if (lgr) {
		if (smcr_lgr_state(lgr) == SMCR_LGR_ST_FORMING)
			goto busy;
		rc = smcr_lgr_may_retry(lgr);
		smcr_lgr_put(lgr);
		*forming = NULL;
		if (!rc)
			goto busy;
	}
	for (;;) {
		spin_lock_bh(&sn->lgr_lock);
		lgr = smcr_lgr_lookup(sn, peer, pid, bsize, &full);
		may = !lgr && may_first && smcr_lgr_share_left(sn, &peer->addr);
		if (lgr)
			smcr_lgr_hold(lgr);
		else if (fresh && may)
			smcr_lgr_publish(fresh);
		spin_unlock_bh(&sn->lgr_lock);

		if (fresh && may)
			break;
		if (!lgr && !may) {
			if (fresh)
				smcr_lgr_put(fresh);
			*why = SMCR_R_FIRST_LIMIT;
			return NULL;
		}
		if (!lgr) {
			fresh = smcr_lgr_alloc(sn, true, peer, pid, why);
			if (fresh)
				continue;
			if (full && *why == SMCR_R_LGR_LIMIT)
				*why = SMCR_R_RMB_LIMIT;
			return NULL;
		}
		if (smcr_lgr_state(lgr) == SMCR_LGR_ST_ACTIVE) {
			if (fresh)
				smcr_lgr_put(fresh);
			return lgr;
		}
		if (fresh)
			smcr_lgr_put(fresh);
		*forming = lgr;		/* or it has died just now: next time */
		goto busy;
	}

	rc = smcr_lgr_setup(fresh, why);
	if (rc) {
		smcr_lgr_kill(fresh, *why, 0);
		smcr_lgr_put(fresh);
		return NULL;
	}
	/* removal of the device, or an event of the port, may have missed us */
	if (!smcr_dev_pid_ok(pid))
		smcr_lgr_kill(fresh, SMCR_R_LINK_DEVICE, 0);
	*first = true;
	return fresh;

busy:
	*why = SMCR_R_LGR_BUSY;
	return NULL;
}

/**
 * smcr_lgr_create() - client: new FORMING group for an Accept with F=1
 * @sn: namespace
 * @server: own role
 * @peer: from the Accept
 * @pid: own port
 * @why: reason on failure
 *
 * Context: process, sleeps.
 * Return: group with a reference, listed, with PD and a QP in INIT; or NULL.
 */
struct smcr_lgr *smcr_lgr_create(struct smcr_net *sn, bool server,
				 const struct smcr_peer *peer,
				 const struct smcr_port_id *pid,
				 enum smcr_reason *why)
{
	struct smcr_lgr *lgr;

	lgr = smcr_lgr_alloc(sn, server, peer, pid, why);
	if (!lgr)
		return NULL;
	if (smcr_lgr_setup(lgr, why)) {
		smcr_lgr_set_state(lgr, SMCR_LGR_ST_DEAD, *why);
		smcr_lgr_put(lgr);
		return NULL;
	}
	spin_lock_bh(&sn->lgr_lock);
	smcr_lgr_publish(lgr);
	spin_unlock_bh(&sn->lgr_lock);
	if (!smcr_dev_pid_ok(pid))
		smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, 0);
	return lgr;
}

static bool smcr_lgr_names_link(const struct smcr_lgr *lgr,
				const struct smcr_clc_accept *acc)
{
	struct smcr_link_id id;

	memcpy(id.peer_id, lgr->peer.id, sizeof(id.peer_id));
	memcpy(id.peer_gid, lgr->link->peer_gid, sizeof(id.peer_gid));
	memcpy(id.peer_mac, lgr->link->peer_mac, sizeof(id.peer_mac));
	id.peer_qpn = lgr->link->peer_qpn;
	return smcr_link_matches(&id, acc);
}

/**
 * smcr_lgr_find_client() - group whose link an Accept names (CLC-34)
 * @sn: namespace
 * @acc: Accept
 * @pid: own port of the connection
 *
 * Return: group with a reference, not DEAD when it was looked up; FORMING: the
 * caller comes back when its first contact is settled. NULL: out of sync.
 */
struct smcr_lgr *smcr_lgr_find_client(struct smcr_net *sn,
				      const struct smcr_clc_accept *acc,
				      const struct smcr_port_id *pid)
{
	struct smcr_lgr *lgr, *found = NULL;

	spin_lock_bh(&sn->lgr_lock);
	hash_for_each_possible(sn->lgr_hash, lgr, hash_node,
			       smcr_peer_hash(acc->peer_id)) {
		if (!lgr->server && lgr->pid.vlan == pid->vlan &&
		    smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD &&
		    smcr_lgr_names_link(lgr, acc)) {
			smcr_lgr_hold(lgr);
			found = lgr;
			break;
		}
	}
	spin_unlock_bh(&sn->lgr_lock);
	return found;
}

/* Last connection gone: the server starts T_LGR_IDLE (LG-39) */
static void smcr_lgr_arm_idle(struct smcr_lgr *lgr)
{
	int ms = READ_ONCE(lgr->sn->knobs.t_lgr_idle);

	if (!lgr->server || smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		return;
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_wq, &lgr->idle_work, msecs_to_jiffies(ms)) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->idle_work)))
		smcr_lgr_put(lgr);
}

static void smcr_lgr_idle_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, idle_work);

	if (smcr_lgr_end_idle(lgr, SMCR_R_LGR_IDLE)) {
		smcr_count(lgr->sn, SMCR_CNT_T_LGR_IDLE);
		smcr_lgr_killed(lgr, SMCR_R_LGR_IDLE, SMCR_DEL_INACTIVE);
	}
	smcr_lgr_put(lgr);
}

/* A group that is not offered to @addr any more; true if @addr has formed it */
static bool smcr_lgr_denies(struct smcr_lgr *lgr, const struct in6_addr *addr)
{
	bool own, known;

	spin_lock_bh(&lgr->sn->lgr_lock);
	own = ipv6_addr_equal(&lgr->peer.addr, addr);
	known = smcr_lgr_denied_by(lgr, addr);
	if (!known) {
		lgr->n_denied = min(lgr->n_denied + 1, SMCR_DENIED_MAX);
		memmove(&lgr->denied[1], &lgr->denied[0],
			(lgr->n_denied - 1) * sizeof(lgr->denied[0]));
		lgr->denied[0] = *addr;
	}
	spin_unlock_bh(&lgr->sn->lgr_lock);
	return own;
}

/**
 * smcr_lgr_doubt() - the peer, or who claims to be it, denies the group
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
void smcr_lgr_doubt(struct smcr_lgr *lgr, const struct in6_addr *addr)
{
	smcr_hit(lgr->sn, SMCR_R_OUT_OF_SYNC, lgr->id, 0);
	if (addr && smcr_lgr_denies(lgr, addr))
		WRITE_ONCE(lgr->no_reuse, true);
	smcr_llc_verify(lgr);
}

/**
 * smcr_lgr_trust() - the other end of the link has answered TEST LINK
 * @lgr: group
 *
 * The "out of sync" was forged or wrong, and the group is usable again. It has
 * kept new connections out for one round trip; each forged message costs that.
 *
 * Context: any.
 */
void smcr_lgr_trust(struct smcr_lgr *lgr)
{
	if (READ_ONCE(lgr->no_reuse))
		WRITE_ONCE(lgr->no_reuse, false);
}

/**
 * smcr_lgr_activate() - first contact is settled (LG-52)
 * @lgr: FORMING group
 *
 * smcr_lgr_kick_rmb_work() comes when the last message of first contact is on
 * its way: CONFIRM RKEY must not overtake that.
 */
void smcr_lgr_activate(struct smcr_lgr *lgr)
{
	/* a client may confirm with another RNIC than it proposed */
	spin_lock_bh(&lgr->sn->lgr_lock);
	memcpy(lgr->confirmed_mac, lgr->link->peer_mac, ETH_ALEN);
	spin_unlock_bh(&lgr->sn->lgr_lock);
	if (!smcr_lgr_set_state(lgr, SMCR_LGR_ST_ACTIVE, SMCR_R_NONE))
		return;
	smcr_llc_start(lgr);
	net_info_ratelimited("smcr: link group %u is not redundant (one link)\n",
			     lgr->id);
}

/**
 * smcr_lgr_keep_buf() - keep a send buffer until the group's QP is gone
 * @lgr: group
 * @buf: buffer or NULL
 */
void smcr_lgr_keep_buf(struct smcr_lgr *lgr, struct smcr_buf *buf)
{
	bool many;

	if (!buf)
		return;
	spin_lock_bh(&lgr->lock);
	buf->reclaim_next = lgr->reclaim;
	lgr->reclaim = buf;
	many = ++lgr->n_reclaim > SMCR_RECLAIM_MAX;
	spin_unlock_bh(&lgr->lock);
	/* no conforming peer gives elements away again and again */
	if (many)
		smcr_lgr_kill(lgr, SMCR_R_RMBE_CONFLICT, SMCR_DEL_PROTOCOL);
}

static void smcr_lgr_free_reclaim(struct smcr_lgr *lgr)
{
	struct smcr_buf *buf;

	while ((buf = lgr->reclaim)) {
		lgr->reclaim = buf->reclaim_next;
		smcr_buf_free(buf);
	}
}

/**
 * smcr_lgr_kick_rmb_work() - let the RMB housekeeping run
 * @lgr: group; any context
 */
void smcr_lgr_kick_rmb_work(struct smcr_lgr *lgr)
{
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_rmb_wq, &lgr->rmb_work, 0))
		smcr_lgr_put(lgr);
}

/**
 * smcr_lgr_kill() - end of a group
 * @lgr: group; the caller's reference stays its own
 * @why: reason; only the first caller's counts
 * @del_reason: enum smcr_del_link_reason of the DELETE LINK, 0 sends none, nor
 *	does a group in first contact before smcr_lgr_tell_end()
 *
 * Context: any up to softirq.
 */
void smcr_lgr_kill(struct smcr_lgr *lgr, enum smcr_reason why, u32 del_reason)
{
	if (!smcr_lgr_set_state(lgr, SMCR_LGR_ST_DEAD, why))
		return;
	smcr_lgr_killed(lgr, why, del_reason);
}

/**
 * smcr_lgr_tell_end() - no Decline can end this first contact any more
 * @lgr: FORMING group whose peer may have it ACTIVE
 *
 * From now on DELETE LINK tells the end. Without it the peer would notice by the
 * retries of its queue pair only.
 *
 * Context: any up to softirq.
 */
void smcr_lgr_tell_end(struct smcr_lgr *lgr)
{
	spin_lock_bh(&lgr->lock);
	if (lgr->st != SMCR_LGR_ST_DEAD)
		lgr->tell_end = true;
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_kill_asked() - the peer wants the only link, or the group, to end
 * @lgr: group
 * @why: reason
 * @req: the peer's DELETE LINK: a server answers with one of its own, a client
 *	with the reply to it
 *
 * Context: any up to softirq.
 */
void smcr_lgr_kill_asked(struct smcr_lgr *lgr, enum smcr_reason why,
			 const struct smcr_llc_delete_link *req)
{
	if (!smcr_lgr_set_state(lgr, SMCR_LGR_ST_DEAD, why))
		return;
	lgr->del = *req;
	lgr->del_asked = true;
	smcr_lgr_killed(lgr, why, lgr->server ? req->reason ?: SMCR_DEL_OPERATOR :
						req->reason);
}

/* One connection of the list with a reference, so that no lock is held on it */
static struct smcr_conn *smcr_lgr_first_conn(struct smcr_lgr *lgr)
{
	struct smcr_conn *conn;

	spin_lock_bh(&lgr->lock);
	conn = list_first_entry_or_null(&lgr->conn_list, struct smcr_conn,
					lgr_node);
	if (conn)
		sock_hold(&smcr_conn_sock(conn)->sk);
	spin_unlock_bh(&lgr->lock);
	return conn;
}

static void smcr_lgr_lose_conns(struct smcr_lgr *lgr)
{
	struct smcr_conn *conn;

	while ((conn = smcr_lgr_first_conn(lgr))) {
		struct smcr_sock *ssk = smcr_conn_sock(conn);
		bool child = false;

		spin_lock_bh(&conn->lock);
		/* a client may have given it up, and be in another group */
		if (conn->lgr == lgr) {
			/* in negotiation it has no state: its worker finds out */
			if (conn->active)
				smcr_conn_event_locked(conn,
						       SMCR_CONN_EV_LGR_LOST,
						       lgr->why);
			else
				child = !ssk->is_client;
			smcr_lgr_del_conn(lgr, conn);
		}
		spin_unlock_bh(&conn->lock);
		if (child)
			smcr_child_lgr_lost(ssk);
		sock_put(&ssk->sk);
		cond_resched();
	}
}

/**
 * smcr_lgr_end_kick() - what the end of a group waits for may have come
 * @lgr: group; not yet released, as long as its link can call back
 *
 * Context: any up to softirq.
 */
void smcr_lgr_end_kick(struct smcr_lgr *lgr)
{
	spin_lock_bh(&lgr->lock);
	if (lgr->end == SMCR_LGR_END_SENT)
		mod_delayed_work(smcr_end_wq, &lgr->end_work, 0);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_del_heard() - the peer's answer to our DELETE LINK has come
 * @lgr: dead group
 *
 * Context: any up to softirq.
 */
void smcr_lgr_del_heard(struct smcr_lgr *lgr)
{
	WRITE_ONCE(lgr->del_heard, true);
	smcr_lgr_end_kick(lgr);
}

/* No callback comes when a full send queue has room: DELETE LINK is tried again */
#define SMCR_LGR_RETRY	msecs_to_jiffies(20)

/* Completion of DELETE LINK, softirq; the latest comes from smcr_link_stop() */
static void smcr_lgr_del_sent(struct smcr_tx_pend *pend, bool ok)
{
	struct smcr_lgr *lgr = pend->arg;

	/* the answer may be waited for, unless it cannot come any more */
	if (!ok)
		WRITE_ONCE(lgr->del_heard, true);
	WRITE_ONCE(lgr->del_sent, true);
	smcr_lgr_end_kick(lgr);
}

/* 0; -EAGAIN the send queue is full; else no message is due, or no link is up */
static int smcr_lgr_send_del(struct smcr_lgr *lgr)
{
	struct smcr_llc msg = {
		.type = SMCR_LLC_DELETE_LINK,
		.reply = lgr->del_asked && !lgr->server,
		.delete_link = lgr->del,
	};

	if (!lgr->del.reason && !msg.reply)
		return -ENODATA;
	if (!lgr->link || !smcr_link_up(lgr->link))
		return -ENOTCONN;
	return smcr_llc_post(lgr, &msg, smcr_lgr_del_sent, lgr, 0);
}

/*
 * Wait for the send completion of DELETE LINK, then for the peer's message, if
 * one follows: a server gets a reply about a single link (LG-35), a client that
 * asked for an orderly end gets the server's own DELETE LINK (LG-41). A client
 * whose link is about to fail need not wait (LG-37), and its own reply has no
 * answer.
 */
static bool smcr_lgr_del_done(const struct smcr_lgr *lgr)
{
	bool answered = lgr->server ? !lgr->del.all :
				      lgr->del.orderly && !lgr->del_asked;

	return READ_ONCE(lgr->del_heard) || !smcr_link_up(lgr->link) ||
	       (READ_ONCE(lgr->del_sent) && !answered);
}

/*
 * One step towards the release. Returns jiffies until the next one, 0: there is
 * nothing to wait for any more.
 */
static unsigned long smcr_lgr_end_step(struct smcr_lgr *lgr)
{
	u8 end = lgr->end;
	long left;
	int rc;

	if (end == SMCR_LGR_END_SEND) {
		rc = smcr_lgr_send_del(lgr);
		if (rc != -EAGAIN)
			end = rc ? SMCR_LGR_END_RELEASE : SMCR_LGR_END_SENT;
		/*
		 * If we initiate the end, DELETE LINK goes before the TCP
		 * resets; if the peer asked for it, there is no need to wait.
		 */
		if (lgr->del_asked)
			smcr_lgr_lose_conns(lgr);
	}
	spin_lock_bh(&lgr->lock);
	left = lgr->end_due - jiffies;
	if (left <= 0 || (end == SMCR_LGR_END_SENT && smcr_lgr_del_done(lgr)))
		end = SMCR_LGR_END_RELEASE;
	lgr->end = end;
	spin_unlock_bh(&lgr->lock);
	if (end == SMCR_LGR_END_RELEASE)
		return 0;
	return end == SMCR_LGR_END_SEND ? min_t(long, left, SMCR_LGR_RETRY) :
					  left;
}

/*
 * Nothing here waits for the peer. smcr_lgr_end_kick() has queued the work for
 * the last time before SMCR_LGR_END_RELEASE was set.
 */
static void smcr_lgr_release(struct smcr_lgr *lgr)
{
	struct smcr_net *sn = lgr->sn;
	bool listed;

	cancel_delayed_work(&lgr->end_work);
	smcr_lgr_lose_conns(lgr);
	if (lgr->link) {
		smcr_link_stop(lgr->link);
		smcr_tx_link_gone(lgr->link);
	}
	if (cancel_delayed_work_sync(&lgr->rmb_work))
		smcr_lgr_put(lgr);
	if (cancel_delayed_work(&lgr->idle_work))
		smcr_lgr_put(lgr);
	smcr_llc_stop(lgr);

	spin_lock_bh(&sn->lgr_lock);
	listed = !list_empty(&lgr->net_node);
	list_del_init(&lgr->net_node);
	list_del_init(&lgr->form_node);
	smcr_ids_del(&sn->lgrs, &lgr->net_id);
	hash_del(&lgr->hash_node);
	spin_unlock_bh(&sn->lgr_lock);
	if (listed)
		smcr_lgr_put(lgr);
	smcr_lgr_put(lgr);
}

/*
 * The end of a group as a state machine, so that no peer holds a worker: posts
 * DELETE LINK, comes back when something has happened or the time is over.
 */
static void smcr_lgr_end_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, end_work);
	unsigned long next = smcr_lgr_end_step(lgr);

	/* a kick that came meanwhile has queued it already, for now */
	if (next)
		queue_delayed_work(smcr_end_wq, &lgr->end_work, next);
	else
		smcr_lgr_release(lgr);
}

/* Bound the end of a dead group to @ms from now */
static void smcr_lgr_hurry(struct smcr_lgr *lgr, unsigned int ms)
{
	unsigned long delay = msecs_to_jiffies(ms);

	spin_lock_bh(&lgr->lock);
	if (lgr->st == SMCR_LGR_ST_DEAD &&
	    time_before(jiffies + delay, lgr->end_due)) {
		lgr->end_due = jiffies + delay;
		/* it looks at the new time */
		if (lgr->end == SMCR_LGR_END_SENT)
			mod_delayed_work(smcr_end_wq, &lgr->end_work, 0);
	}
	spin_unlock_bh(&lgr->lock);
}

static bool smcr_lgr_net_idle(struct smcr_net *sn)
{
	bool idle;

	spin_lock_bh(&sn->lgr_lock);
	idle = !sn->lgr_count;
	spin_unlock_bh(&sn->lgr_lock);
	return idle;
}

/**
 * smcr_lgr_kill_net_start() - end all groups of a namespace, do not wait
 * @sn: namespace; no new group can be started any more
 */
void smcr_lgr_kill_net_start(struct smcr_net *sn)
{
	struct smcr_lgr *lgr;

	spin_lock_bh(&sn->lgr_lock);
	list_for_each_entry(lgr, &sn->lgr_list, net_node) {
		smcr_lgr_kill(lgr, SMCR_R_LGR_SHUTDOWN, SMCR_DEL_OPERATOR);
		smcr_lgr_hurry(lgr, SMCR_T_HURRY_NET);
	}
	spin_unlock_bh(&sn->lgr_lock);
}

/**
 * smcr_lgr_kill_net() - end of a namespace or of the module
 * @sn: namespace; no new group can be started any more
 *
 * Returns when every group is freed; that is bounded by the teardown of the
 * links. Context: process, sleeps.
 */
void smcr_lgr_kill_net(struct smcr_net *sn)
{
	smcr_lgr_kill_net_start(sn);
	while (!wait_event_timeout(sn->lgr_wait, smcr_lgr_net_idle(sn),
				   30 * HZ))
		pr_warn("smcr: still waiting for link groups to end\n");
}

/**
 * smcr_lgr_kill_all() - end of the module: all groups of all namespaces
 *
 * The waits are in smcr_dev_exit() and smcr_pernet_exit(). Context: process.
 */
void smcr_lgr_kill_all(void)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		smcr_lgr_kill_net_start(smcr_net(net));
	up_read(&net_rwsem);
}

static bool smcr_lgr_any(void)
{
	struct net *net;
	bool any = false;

	down_read(&net_rwsem);
	for_each_net(net)
		any = any || !list_empty(&smcr_net(net)->lgr_list);
	up_read(&net_rwsem);
	return any;
}

/**
 * smcr_lgr_shutdown() - the system goes down: peers are told (LG-43)
 *
 * Context: process, sleeps, two seconds at most.
 */
void smcr_lgr_shutdown(void)
{
	unsigned long end = jiffies + 2 * HZ;

	smcr_lgr_kill_all();
	while (smcr_lgr_any() && time_before(jiffies, end))
		msleep(20);
}

static void smcr_lgr_kill_dev_net(struct smcr_net *sn, struct smcr_dev *dev)
{
	struct smcr_lgr *lgr;

	spin_lock_bh(&sn->lgr_lock);
	list_for_each_entry(lgr, &sn->lgr_list, net_node) {
		if (lgr->pid.dev != dev)
			continue;
		smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, SMCR_DEL_LOST_PATH);
		smcr_lgr_hurry(lgr, SMCR_T_HURRY_DEV);
	}
	spin_unlock_bh(&sn->lgr_lock);
}

/**
 * smcr_lgr_kill_dev() - an RDMA device goes away
 * @dev: device; smcr_dev_put() of the last group wakes the caller's wait
 *
 * Its queue pairs still work, as far as the device does: the peers are told.
 *
 * Context: process.
 */
void smcr_lgr_kill_dev(struct smcr_dev *dev)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		smcr_lgr_kill_dev_net(smcr_net(net), dev);
	up_read(&net_rwsem);
}

/* Next group on @dev/@port behind the group number @after; reference taken */
static struct smcr_lgr *smcr_lgr_next_on(struct smcr_net *sn,
					 struct smcr_dev *dev, u8 port,
					 u32 after)
{
	struct smcr_lgr *lgr, *found = NULL;

	spin_lock_bh(&sn->lgr_lock);
	list_for_each_entry(lgr, &sn->lgr_list, net_node) {
		if (lgr->pid.dev == dev && lgr->pid.port == port &&
		    lgr->id > after && (!found || lgr->id < found->id))
			found = lgr;
	}
	if (found)
		smcr_lgr_hold(found);
	spin_unlock_bh(&sn->lgr_lock);
	return found;
}

/**
 * smcr_lgr_port_event() - a port changed: groups without a usable GID end
 * @dev: device
 * @port: port number
 *
 * Context: process, sleeps.
 */
void smcr_lgr_port_event(struct smcr_dev *dev, u8 port)
{
	struct smcr_lgr *lgr;
	struct net *net;
	u32 after;

	down_read(&net_rwsem);
	for_each_net(net) {
		after = 0;
		while ((lgr = smcr_lgr_next_on(smcr_net(net), dev, port,
					       after))) {
			after = lgr->id;
			if (!smcr_dev_pid_ok(&lgr->pid))
				smcr_lgr_kill(lgr, SMCR_R_LINK_DEVICE, 0);
			smcr_lgr_put(lgr);
		}
	}
	up_read(&net_rwsem);
}

/**
 * smcr_lgr_add_conn() - publish a connection under its token
 * @lgr: group
 * @conn: connection, token chosen
 *
 * Return: 0; -EEXIST token taken, choose another; -ENOTCONN group is dead;
 * -ENOMEM.
 */
int smcr_lgr_add_conn(struct smcr_lgr *lgr, struct smcr_conn *conn)
{
	int rc;

	rc = rhashtable_lookup_insert_fast(&lgr->conns, &conn->token_node,
					   smcr_conn_params);
	if (rc)
		return rc == -EEXIST ? rc : -ENOMEM;

	spin_lock_bh(&lgr->lock);
	if (lgr->st == SMCR_LGR_ST_DEAD) {
		rc = -ENOTCONN;
	} else {
		list_add_tail(&conn->lgr_node, &lgr->conn_list);
		lgr->n_conns++;
	}
	spin_unlock_bh(&lgr->lock);
	if (rc)
		rhashtable_remove_fast(&lgr->conns, &conn->token_node,
				       smcr_conn_params);
	return rc;
}

/**
 * smcr_lgr_del_conn() - the token means nothing any more
 * @lgr: group
 * @conn: connection; not listed is fine
 *
 * Context: any up to softirq; the connection's lock may be held.
 */
void smcr_lgr_del_conn(struct smcr_lgr *lgr, struct smcr_conn *conn)
{
	bool last = false, listed;

	spin_lock_bh(&lgr->lock);
	listed = !list_empty(&conn->lgr_node);
	if (listed) {
		list_del_init(&conn->lgr_node);
		last = !--lgr->n_conns;
		if (last)
			WRITE_ONCE(lgr->idle_since, jiffies);
	}
	spin_unlock_bh(&lgr->lock);
	if (!listed)
		return;
	rhashtable_remove_fast(&lgr->conns, &conn->token_node,
			       smcr_conn_params);
	if (last)
		smcr_lgr_arm_idle(lgr);
}

/**
 * smcr_lgr_find_conn() - connection of a token, with a reference
 * @lgr: group on whose link the token came
 * @token: alert token
 *
 * The socket's memory is freed after a grace period (SOCK_RCU_FREE).
 */
struct smcr_conn *smcr_lgr_find_conn(struct smcr_lgr *lgr, u32 token)
{
	struct smcr_conn *conn;

	rcu_read_lock();
	conn = rhashtable_lookup(&lgr->conns, &token, smcr_conn_params);
	if (conn && !refcount_inc_not_zero(&smcr_conn_sock(conn)->sk.sk_refcnt))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/* Index of an RToken that the peer has confirmed, or, with @add, does so now */
static int smcr_lgr_rtoken(struct smcr_lgr *lgr, u32 rkey, u64 va, bool add)
{
	int i, free = -ENOSPC;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMCR_RMBS_MAX; i++) {
		struct smcr_rtoken *rt = &lgr->rtokens[i];

		if (rt->valid && rt->rkey == rkey && rt->va == va) {
			rt->confirmed |= add;
			return rt->confirmed ? i : -ENOENT;
		}
		if (!rt->valid && free < 0)
			free = i;
	}
	if (!add)
		return -ENOENT;
	if (free >= 0)
		lgr->rtokens[free] = (struct smcr_rtoken) {
			.rkey = rkey,
			.va = va,
			.valid = true,
			.confirmed = true,
		};
	return free;
}

/**
 * smcr_lgr_add_rtoken() - CONFIRM RKEY: the peer has a new RMB
 * @lgr: group
 * @rkey: key on the group's link
 * @va: address
 *
 * Return: index or -ENOSPC.
 */
int smcr_lgr_add_rtoken(struct smcr_lgr *lgr, u32 rkey, u64 va)
{
	int i;

	spin_lock_bh(&lgr->lock);
	i = smcr_lgr_rtoken(lgr, rkey, va, true);
	spin_unlock_bh(&lgr->lock);
	return i;
}

/**
 * smcr_lgr_del_rtoken() - DELETE RKEY: the peer withdraws an RMB
 * @lgr: group
 * @rkey: key on the group's link
 *
 * Return: 0; -ENOENT unknown; -EBUSY connections write there (RMB-25).
 */
int smcr_lgr_del_rtoken(struct smcr_lgr *lgr, u32 rkey)
{
	int i, rc = -ENOENT;

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_RMBS_MAX; i++) {
		struct smcr_rtoken *rt = &lgr->rtokens[i];

		if (!rt->valid || rt->rkey != rkey)
			continue;
		if (!rt->confirmed && rt->used) {	/* withdrawn before */
			rc = -EBUSY;
			continue;
		}
		/* a connection's end may be on its way: forgotten with it */
		rc = rt->used ? -EBUSY : 0;
		rt->valid = rt->used;
		rt->confirmed = false;
		break;
	}
	spin_unlock_bh(&lgr->lock);
	return rc;
}

static unsigned long smcr_relem_key(int rtoken, u8 index)
{
	return (unsigned long)rtoken << 8 | index;
}

/* One that was withdrawn is forgotten with its last user */
static void smcr_lgr_unuse_rtoken(struct smcr_lgr *lgr, int rtoken)
{
	struct smcr_rtoken *rt = &lgr->rtokens[rtoken];

	spin_lock_bh(&lgr->lock);
	if (!--rt->used && !rt->confirmed)
		rt->valid = false;
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_claim_relem() - the peer gave @conn an element of its RMB
 * @lgr: group
 * @conn: new owner
 * @rkey: RKey of the RMB
 * @va: address of the RMB
 * @index: element
 *
 * First contact makes the RMB known. Later ones have to be confirmed on the link
 * before CLC names them (RFC 7609 3.5.5.2.1): what a CLC message says may come
 * from anybody, and a write with an RKey that does not exist ends the link with
 * the connections of all.
 *
 * Another live connection that still holds the element loses it: the peer,
 * its owner, says that it is free (RMB-24).
 *
 * Context: process.
 * Return: index of the RToken; -ENOENT it was not confirmed; -ENOSPC; -ENOMEM.
 */
int smcr_lgr_claim_relem(struct smcr_lgr *lgr, struct smcr_conn *conn,
			 u32 rkey, u64 va, u8 index)
{
	struct smcr_conn *old;
	unsigned long key;
	int rt, rc;

	spin_lock_bh(&lgr->lock);
	rt = smcr_lgr_rtoken(lgr, rkey, va, lgr->st == SMCR_LGR_ST_FORMING);
	if (rt >= 0)
		lgr->rtokens[rt].used++;
	spin_unlock_bh(&lgr->lock);
	if (rt < 0)
		return rt;
	key = smcr_relem_key(rt, index);

	/* memory first, so that the swap itself can be done under RCU */
	rc = xa_reserve_bh(&lgr->relems, key, GFP_KERNEL);
	if (rc) {
		smcr_lgr_unuse_rtoken(lgr, rt);
		return rc;
	}
	rcu_read_lock();
	old = xa_store_bh(&lgr->relems, key, conn, GFP_ATOMIC);
	/* an old owner may have let go meanwhile, and its memory went with it */
	rc = xa_err(old);
	if (rc || (old &&
		   !refcount_inc_not_zero(&smcr_conn_sock(old)->sk.sk_refcnt)))
		old = NULL;
	rcu_read_unlock();
	if (rc) {
		smcr_lgr_unuse_rtoken(lgr, rt);
		return rc;
	}
	if (old) {
		smcr_conn_conflict(old, lgr);
		sock_put(&smcr_conn_sock(old)->sk);
	}
	return rt;
}

/**
 * smcr_lgr_drop_relem() - @conn does not write to its peer element any more
 * @lgr: group
 * @conn: connection
 */
void smcr_lgr_drop_relem(struct smcr_lgr *lgr, struct smcr_conn *conn)
{
	if (conn->rtoken < 0)
		return;
	/* a newer owner keeps what it got */
	xa_cmpxchg_bh(&lgr->relems, smcr_relem_key(conn->rtoken,
						   conn->peer_index),
		      conn, NULL, GFP_ATOMIC);
	smcr_lgr_unuse_rtoken(lgr, conn->rtoken);
	conn->rtoken = -1;
}
