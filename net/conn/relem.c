// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ties between connections and their group: elements of the peer's RMBs, first
 * contact, the end of the group.
 */
#include <net/ipv6.h>
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "lgr/rmb.h"
#include "lgr/rtoken.h"
#include "conn/conn.h"
#include "conn/smcr_sock.h"

/*
 * Abort @conn in @lgr: the peer has given another connection the element that @conn writes
 * into (RMB-24). The caller has a reference. Before smcr_conn_activate() the conflict is
 * only recorded, as the close machine gets no event yet. Context: any up to softirq.
 */
static void conn_conflict(struct smcr_conn *conn, const struct smcr_lgr *lgr)
{
	spin_lock_bh(&conn->lock);
	if (conn->lgr != lgr)	/* @conn was released since the lookup */
		;
	else if (conn->active)
		smcr_conn_event_locked(conn, SMCR_CONN_EV_CONFLICT,
				       SMCR_R_RMBE_CONFLICT);
	else
		conn->preactive.conflict = true;
	spin_unlock_bh(&conn->lock);
}

static unsigned long relem_key(int rtoken, u8 index)
{
	return (unsigned long)rtoken << 8 | index;
}

/*
 * True if @conn has ended and its last message is posted, so that the peer may give the
 * element to another connection. It is possible that @conn is not released yet, because
 * its work waits for the socket lock or for a completion. If @conn has sent A, the peer's
 * C or A does not matter: @conn writes no data any more, and has none to lose. Context:
 * any up to softirq.
 */
static bool conn_has_ended(struct smcr_conn *conn,
			   const struct smcr_lgr *lgr)
{
	bool ended;

	spin_lock_bh(&conn->lock);
	ended = conn->lgr != lgr ||
		(conn->active && !conn->tx.owed &&
		 (conn->fsm.tx_abort || smcr_close_both_sent(&conn->fsm)));
	spin_unlock_bh(&conn->lock);
	return ended;
}

/*
 * Store @conn as owner of @key, for which memory is reserved. *@old: the previous owner,
 * with a reference; NULL: none, or its last reference was put just now. If the previous
 * owner has not ended, @conn gets the element only if the TCP peer of @conn has the address
 * with which the group was formed (J-08). Otherwise -EBUSY is returned.
 */
static int relem_store(struct smcr_lgr *lgr, unsigned long key,
		       struct smcr_conn *conn, struct smcr_conn **old)
{
	struct xarray *relems = &lgr->rtok.relems;
	struct smcr_conn *owner;
	struct in6_addr addr;
	int rc = -EBUSY;

	*old = NULL;
	smcr_tcp_peer(smcr_conn_sock(conn)->tcp->sk, &addr);
	rcu_read_lock();
	owner = xa_load(relems, key);
	if (owner && !ipv6_addr_equal(&addr, &lgr->peer.addr) &&
	    !conn_has_ended(owner, lgr))
		goto out;
	xa_lock_bh(relems);
	*old = xa_load(relems, key);
	if (!*old || *old == owner ||
	    ipv6_addr_equal(&addr, &lgr->peer.addr))
		rc = xa_err(__xa_store(relems, key, conn, GFP_ATOMIC));
	xa_unlock_bh(relems);
out:
	/* RCU keeps the memory of *old, also when its last reference was put */
	if (rc || (*old &&
		   !refcount_inc_not_zero(&smcr_conn_sock(*old)->sk.sk_refcnt)))
		*old = NULL;
	rcu_read_unlock();
	return rc;
}

/**
 * smcr_conn_claim_relem() - claim an element of the peer's RMB
 * @conn: new owner, in its group
 * @link: link that CLC has named
 * @rkey: RKey of the RMB there
 * @va: address of the RMB there
 * @index: element
 * @size: bytes of an element
 *
 * Another live connection that still has the element loses it: the peer, which owns the
 * RMB, has given the element to @conn (RMB-24). But another host can relay the peer's CLC
 * messages, and name any element in them. So an Accept or Confirm from an address other
 * than the one with which the group was formed takes no element from a connection that
 * has not ended (J-08).
 *
 * Context: process.
 * Return: index of the RToken; -ENOMEM; an error of smcr_lgr_use_rtoken(); or -EBUSY: the
 * element is in use, and the group was formed with another address than that of @conn's TCP
 * peer. The peer's C or A for the owner of the element may still come, and then wakes
 * lgr->wait.
 */
int smcr_conn_claim_relem(struct smcr_conn *conn, const struct smcr_link *link,
			  u32 rkey, u64 va, u8 index, u32 size)
{
	struct smcr_lgr *lgr = conn->lgr;
	struct smcr_conn *old;
	unsigned long key;
	int rt, rc;

	rt = smcr_lgr_use_rtoken(lgr, link, rkey, va, size);
	if (rt < 0)
		return rt;
	key = relem_key(rt, index);

	/* reserve the memory, as relem_store() is under RCU and cannot sleep */
	rc = xa_reserve_bh(&lgr->rtok.relems, key, GFP_KERNEL);
	if (!rc)
		rc = relem_store(lgr, key, conn, &old);
	if (rc) {
		smcr_lgr_unuse_rtoken(lgr, rt);
		return rc;
	}
	if (old) {
		conn_conflict(old, lgr);
		sock_put(&smcr_conn_sock(old)->sk);
	}
	return rt;
}

/**
 * smcr_conn_drop_relem() - give up the peer's element
 * @conn: connection, in its group
 */
void smcr_conn_drop_relem(struct smcr_conn *conn)
{
	struct smcr_lgr *lgr = conn->lgr;

	if (conn->relem.rtoken < 0)
		return;
	/* a newer owner keeps the element */
	xa_cmpxchg_bh(&lgr->rtok.relems,
		      relem_key(conn->relem.rtoken, conn->relem.index),
		      conn, NULL, GFP_ATOMIC);
	smcr_lgr_unuse_rtoken(lgr, conn->relem.rtoken);
	conn->relem.rtoken = -1;
}

/* The first connection of a group, with a reference; NULL: none */
static struct smcr_conn *conn_first(struct smcr_lgr *lgr)
{
	struct smcr_conn *conn = NULL;
	struct smcr_lgr_member *first;

	spin_lock_bh(&lgr->lock);
	first = smcr_lgr_first_conn(lgr);
	if (first) {
		conn = container_of(first, struct smcr_conn, member);
		sock_hold(&smcr_conn_sock(conn)->sk);
	}
	spin_unlock_bh(&lgr->lock);
	return conn;
}

/**
 * smcr_conn_agreed() - set up the first connection with or without eye catchers
 * @lgr: FORMING group; first contact has settled lgr->terms.base
 *
 * Context: process.
 */
void smcr_conn_agreed(struct smcr_lgr *lgr)
{
	struct smcr_conn *conn = conn_first(lgr);

	if (!conn)
		return;
	spin_lock_bh(&conn->lock);
	/* not in smcr_conn_activate(): the peer's first data may arrive before that */
	if (conn->lgr == lgr && !conn->active) {
		if (!lgr->terms.base)
			smcr_rmb_clear_eye(&conn->own.elem);
		/* the peer has announced data before it was agreed where data begin */
		if (conn->rx.ring.base != lgr->terms.base &&
		    conn->rx.prod.abs)
			conn->preactive.bad = SMCR_R_CDC_PROD;
		conn->rx.ring.base = lgr->terms.base;
		conn->tx.ring.base = lgr->terms.base;
	}
	spin_unlock_bh(&conn->lock);
	sock_put(&smcr_conn_sock(conn)->sk);
}

/* End a connection, as its group has ended. Puts the caller's reference on the socket */
static void conn_lose(struct smcr_conn *conn, struct smcr_lgr *lgr,
		      enum smcr_reason why)
{
	struct smcr_sock *ssk = smcr_conn_sock(conn);
	bool child = false;

	spin_lock_bh(&conn->lock);
	/*
	 * The connection may have been released since conn_first(). A client's socket may
	 * even have connected again, in another group.
	 */
	if (conn->lgr == lgr) {
		/*
		 * Before activation the close machine gets no event; the handshake ends
		 * the connection. A client's handshake watches lgr->wait. A server's
		 * handshake that waits for the Confirm does not, so link_lost() kicks it.
		 */
		if (conn->active)
			smcr_conn_event_locked(conn, SMCR_CONN_EV_LGR_LOST,
					       why);
		else
			child = !ssk->is_client;
		/*
		 * The close machine may be in CLOSED already, and a run of the work may have
		 * found the socket lock taken, so that the connection is still on its link.
		 * As the group is DEAD now, the next run leaves the device without that
		 * lock: smcr_conn_leave_device().
		 */
		if (!child)
			smcr_conn_queue_work(conn);
		smcr_tx_give_up(conn);
		smcr_lgr_del_conn(lgr, &conn->member);
	}
	spin_unlock_bh(&conn->lock);
	if (child)
		smcr_conn_owner_ops->link_lost(ssk);
	sock_put(&ssk->sk);
	cond_resched();
}

/**
 * smcr_conn_lose_all() - end the connections of a group that has ended
 * @lgr: dead group
 *
 * Context: process, sleeps.
 */
void smcr_conn_lose_all(struct smcr_lgr *lgr)
{
	struct smcr_conn *conn;

	while ((conn = conn_first(lgr)))
		conn_lose(conn, lgr, lgr->why);
}
