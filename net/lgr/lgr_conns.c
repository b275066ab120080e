// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections of a link group: table by alert token, list, idle time.
 */
#include "lgr/lgr.h"
#include "base/netns.h"
#include "lgr/lgr_impl.h"

/* The last connection has ended: the server starts T_LGR_IDLE (LG-39) */
static void smcr_lgr_arm_idle(struct smcr_lgr *lgr)
{
	int ms = READ_ONCE(lgr->sn->knobs.t_lgr_idle);

	if (!lgr->server || smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		return;
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_wq, &lgr->conns.idle_work,
			     msecs_to_jiffies(ms)) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->conns.idle_work)))
		smcr_lgr_put(lgr);
}

/*
 * The last connection has ended: the group goes to the end of the list from which
 * smcr_lgr_evict() takes the first. Or the first connection has come: off that list. Of
 * two callers at a time the later one reads the final conns.n.
 */
static void smcr_lgr_note_idle(struct smcr_lgr *lgr)
{
	struct smcr_net *sn = lgr->sn;

	spin_lock_bh(&sn->lgr_lock);
	/* not if the group is released: it is in no list any more */
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
 * smcr_lgr_init_conns() - empty table and list of connections for a new group
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
 * smcr_lgr_find_conn() - connection of a token
 * @lgr: group on whose link the token came
 * @token: alert token
 *
 * Context: RCU read side, which keeps the memory of what is returned.
 * Return: NULL if no connection has the token.
 */
struct smcr_lgr_member *smcr_lgr_find_conn(struct smcr_lgr *lgr, u32 token)
{
	return rhashtable_lookup(&lgr->conns.tab, &token, smcr_member_params);
}

/*
 * The lock of a bucket is a bit in the pointer to its first entry, which its holder reads
 * plainly while another processor tries to set the bit that is set already. That race
 * belongs to rhashtable.h, whose code is inline.
 */
static int member_insert(struct smcr_lgr *lgr, struct smcr_lgr_member *conn)
{
	/* a bucket's lock, see above */
	return data_race(rhashtable_lookup_insert_fast(&lgr->conns.tab,
						       &conn->node,
						       smcr_member_params));
}

static void member_remove(struct smcr_lgr *lgr, struct smcr_lgr_member *conn)
{
	/* a bucket's lock, see above */
	data_race(rhashtable_remove_fast(&lgr->conns.tab, &conn->node,
					 smcr_member_params));
}

/**
 * smcr_lgr_add_conn() - publish a connection under its token
 * @lgr: group
 * @conn: connection, token chosen
 *
 * Return: 0; -EEXIST token taken, choose another; -ENOTCONN group is dead;
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
		smcr_lgr_note_idle(lgr);
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
		smcr_lgr_note_idle(lgr);
		smcr_lgr_arm_idle(lgr);
	}
}

/* Connections that are visited before the group's lock is released in between */
#define SMCR_CONNS_BATCH	256

/**
 * smcr_lgr_each_conn() - visit the connections of a group
 * @lgr: group
 * @fn: called for each with lgr->lock held; those that come or go meanwhile are
 *	visited or not
 * @arg: passed on
 *
 * There may be 65,025, and softirqs of other connections wait for the lock: it is
 * released in between. An entry with token 0, which no connection has, marks the place.
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
 * smcr_lgr_first_conn() - a connection of a group
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
