// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections of a link group: table by alert token, list, idle time.
 */
#include "base/netns.h"
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"

/* The last connection has ended: the server starts T_LGR_IDLE (LG-39) */
static void lgr_arm_idle(struct smcr_lgr *lgr)
{
	int ms = READ_ONCE(lgr->sn->knobs.t_lgr_idle);

	if (!lgr->server || smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		return;
	smcr_lgr_hold(lgr);
	/* lgr_release() cancels the work; if it has done so already, cancel here */
	if (mod_delayed_work(smcr_wq, &lgr->conns.idle_work,
			     msecs_to_jiffies(ms)) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->conns.idle_work)))
		smcr_lgr_put(lgr);
}

/*
 * If the group has no connection, put it at the end of sn->lgr_idle; else take it off that
 * list. lgr_evict() ends the first group of the list. This function is called when the
 * last connection has ended, and when the first one has come. If two threads call it at a
 * time, the one that gets sn->lgr_lock last reads the final conns.n.
 */
static void lgr_note_idle(struct smcr_lgr *lgr)
{
	struct smcr_net *sn = lgr->sn;

	spin_lock_bh(&sn->lgr_lock);
	/* a released group is in no list of the namespace, and is not added to one again */
	if (READ_ONCE(lgr->conns.n))
		list_del_init(&lgr->net.idle);
	else if (!list_empty(&lgr->net.node))
		list_move_tail(&lgr->net.idle, &sn->lgr_idle);
	spin_unlock_bh(&sn->lgr_lock);
}

static const struct rhashtable_params smcr_member_params = {
	.key_len = sizeof_field(struct smcr_lgr_member, token),
	.key_offset = offsetof(struct smcr_lgr_member, token),
	.head_offset = offsetof(struct smcr_lgr_member, node),
	.automatic_shrinking = true,
};

/**
 * smcr_lgr_init_conns() - set up the table and the list of connections of a new group
 * @lgr: group
 *
 * Return: 0 or -errno.
 */
int smcr_lgr_init_conns(struct smcr_lgr *lgr)
{
	INIT_LIST_HEAD(&lgr->conns.list);
	return rhashtable_init(&lgr->conns.tab, &smcr_member_params);
}

/**
 * smcr_lgr_find_conn() - find a connection by its token
 * @lgr: group of the link that the token came on
 * @token: alert token
 *
 * Context: in an RCU read-side section, which keeps the memory of the connection.
 * Return: NULL if no connection has the token.
 */
struct smcr_lgr_member *smcr_lgr_find_conn(struct smcr_lgr *lgr, u32 token)
{
	return rhashtable_lookup(&lgr->conns.tab, &token, smcr_member_params);
}

/*
 * Why data_race(): the lock of a hash bucket is a bit in the pointer to its first entry.
 * The holder of the lock reads the pointer without READ_ONCE() while another processor
 * tries to set that bit. This race is in inline code of rhashtable.h, not here.
 */
static int member_insert(struct smcr_lgr *lgr, struct smcr_lgr_member *conn)
{
	/* lock bit of a bucket, see above */
	return data_race(rhashtable_lookup_insert_fast(&lgr->conns.tab,
						       &conn->node,
						       smcr_member_params));
}

static void member_remove(struct smcr_lgr *lgr, struct smcr_lgr_member *conn)
{
	/* lock bit of a bucket, see member_insert() */
	data_race(rhashtable_remove_fast(&lgr->conns.tab, &conn->node,
					 smcr_member_params));
}

/**
 * smcr_lgr_add_conn() - publish a connection under its token
 * @lgr: group
 * @conn: connection whose token is chosen
 *
 * Return: 0; -EEXIST the token is in use, choose another one; -ENOTCONN the group is dead;
 * -ENOMEM.
 */
int smcr_lgr_add_conn(struct smcr_lgr *lgr, struct smcr_lgr_member *conn)
{
	bool first = false;
	int rc;

	rc = member_insert(lgr, conn);
	if (rc)
		return rc == -EEXIST ? rc : -ENOMEM;

	spin_lock_bh(&lgr->lock);
	if (lgr->st == SMCR_LGR_ST_DEAD) {
		rc = -ENOTCONN;
	} else {
		list_add_tail(&conn->lgr_node, &lgr->conns.list);
		first = !lgr->conns.n;
		WRITE_ONCE(lgr->conns.n, lgr->conns.n + 1);
	}
	spin_unlock_bh(&lgr->lock);
	if (rc)
		member_remove(lgr, conn);
	else if (first)
		lgr_note_idle(lgr);
	return rc;
}

/**
 * smcr_lgr_del_conn() - remove a connection, so that its token is not found any more
 * @lgr: group
 * @conn: connection; nothing happens if it is not listed
 *
 * Context: any up to softirq; the connection's lock may be held.
 */
void smcr_lgr_del_conn(struct smcr_lgr *lgr, struct smcr_lgr_member *conn)
{
	bool last = false, listed;

	spin_lock_bh(&lgr->lock);
	listed = !list_empty(&conn->lgr_node);
	if (listed) {
		list_del_init(&conn->lgr_node);
		WRITE_ONCE(lgr->conns.n, lgr->conns.n - 1);
		last = !lgr->conns.n;
	}
	spin_unlock_bh(&lgr->lock);
	if (!listed)
		return;
	member_remove(lgr, conn);
	if (last) {
		lgr_note_idle(lgr);
		lgr_arm_idle(lgr);
	}
}

/* Connections that smcr_lgr_each_conn() visits before it releases the lock for a moment */
#define SMCR_CONNS_BATCH	256

/**
 * smcr_lgr_each_conn() - visit the connections of a group
 * @lgr: group
 * @fn: called for each connection with lgr->lock held; a connection that is added or
 *	removed during the visit may be visited or not
 * @arg: argument of @fn
 *
 * A group may have 65,025 connections, and softirqs wait for its lock. So the lock is
 * released after every SMCR_CONNS_BATCH connections. While it is released, an entry with
 * token 0, which no connection has, marks the place in the list.
 *
 * Context: process, sleeps.
 */
void smcr_lgr_each_conn(struct smcr_lgr *lgr,
			void (*fn)(struct smcr_lgr_member *conn, void *arg), void *arg)
{
	struct smcr_lgr_member place = { .token = 0 }, *conn;
	unsigned int n;

	spin_lock_bh(&lgr->lock);
	list_add(&place.lgr_node, &lgr->conns.list);
	do {
		n = 0;
		conn = &place;
		list_for_each_entry_continue(conn, &lgr->conns.list, lgr_node) {
			if (conn->token)
				fn(conn, arg);
			if (++n == SMCR_CONNS_BATCH)
				break;
		}
		if (n == SMCR_CONNS_BATCH) {
			list_move(&place.lgr_node, &conn->lgr_node);
			spin_unlock_bh(&lgr->lock);
			cond_resched();
			spin_lock_bh(&lgr->lock);
		}
	} while (n == SMCR_CONNS_BATCH);
	list_del(&place.lgr_node);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_first_conn() - the first connection of a group
 * @lgr: group, lgr->lock held
 *
 * Return: NULL if there is none.
 */
struct smcr_lgr_member *smcr_lgr_first_conn(struct smcr_lgr *lgr)
{
	struct smcr_lgr_member *conn;

	lockdep_assert_held(&lgr->lock);

	list_for_each_entry(conn, &lgr->conns.list, lgr_node)
		if (conn->token)	/* see smcr_lgr_each_conn() */
			return conn;
	return NULL;
}

/**
 * smcr_lgr_wake_claims() - wake handshakes, as a connection has ended at the peer
 * @lgr: group
 *
 * The key keeps smcr_hs_woken() from kicking handshakes that do not wait for the peer's
 * element of such a connection.
 *
 * A handshake adds itself to lgr->wait, then checks under the connection's lock whether
 * the connection has ended. The caller has recorded the end under that lock, and still has
 * the lock. So even without a barrier, this function finds the handshake, or the handshake
 * finds the end.
 *
 * Context: any up to softirq.
 */
void smcr_lgr_wake_claims(struct smcr_lgr *lgr)
{
	/* no barrier: the caller's lock orders this, see above */
	if (waitqueue_active(&lgr->wait))
		__wake_up(&lgr->wait, TASK_NORMAL, 0, SMCR_LGR_WAKE_CLAIMS);
}
