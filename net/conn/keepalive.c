// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keepalive: the options of the sockets, and when a link is to be tested for them.
 * TEST LINK is sent, and its outcome judged, in lgr/llc_test.c.
 */
#include <linux/tcp.h>
#include <net/tcp.h>
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "lgr/llc_test.h"
#include "conn/keepalive.h"
#include "conn/smcr_sock.h"

/**
 * smcr_keepalive_floor() - limit the probes of the idle TCP connection (KA-08)
 * @ssk: socket in mode SMC, socket lock held
 * @idle: TCP_KEEPIDLE as the application wants it, jiffies
 *
 * TCP_KEEPIDLE of the inner socket is at least net.smcr.keepalive_floor. TEST LINK and
 * getsockopt() use the application's value, which ssk->keepidle stores if it is less than
 * the floor.
 */
void smcr_keepalive_floor(struct smcr_sock *ssk, int idle)
{
	int floor = DIV_ROUND_UP(READ_ONCE(ssk->sn->knobs.keepalive_floor),
				 1000);
	struct sock *tsk = ssk->tcp->sk;

	sock_owned_by_me(&ssk->sk);

	if (idle >= floor * HZ) {
		WRITE_ONCE(ssk->keepidle, 0);
		return;
	}
	WRITE_ONCE(ssk->keepidle, idle);
	tcp_sock_set_keepidle(tsk, floor);
}

/**
 * smcr_keepalive_changed() - apply SO_KEEPALIVE, TCP_KEEPIDLE, _INTVL and _CNT
 * @ssk: socket in mode SMC, socket lock held
 *
 * The timer of the group is changed only for a connection with an idle time shorter
 * than that of all others, so many connections with the same options are cheap.
 */
void smcr_keepalive_changed(struct smcr_sock *ssk)
{
	const struct tcp_sock *tp = tcp_sk(ssk->tcp->sk);
	struct smcr_conn *conn = &ssk->conn;
	struct smcr_lgr *lgr = conn->lgr;
	bool sooner;
	int idle = 0;

	sock_owned_by_me(&ssk->sk);

	if (!lgr)
		return;
	if (sock_flag(ssk->tcp->sk, SOCK_KEEPOPEN))
		idle = max(READ_ONCE(ssk->keepidle) ?: keepalive_time_when(tp),
			   1);

	spin_lock_bh(&lgr->lock);
	conn->ka.idle = idle;
	conn->ka.intvl = max(keepalive_intvl_when(tp), 1);
	conn->ka.cnt = max(keepalive_probes(tp), 1);
	sooner = idle && (!lgr->conns.ka_min || idle < lgr->conns.ka_min);
	if (sooner)
		WRITE_ONCE(lgr->conns.ka_min, idle);
	spin_unlock_bh(&lgr->lock);
	if (sooner)
		smcr_llc_test_update(lgr);
}

/**
 * smcr_keepalive_start() - start keepalive of a connection over SMC-R
 * @ssk: socket that has just entered mode SMC, socket lock held
 */
void smcr_keepalive_start(struct smcr_sock *ssk)
{
	sock_owned_by_me(&ssk->sk);

	/* the idle time begins now, even if the link was idle before */
	ssk->conn.ka.since = jiffies;
	smcr_keepalive_floor(ssk, keepalive_time_when(tcp_sk(ssk->tcp->sk)));
	smcr_keepalive_changed(ssk);
}

/*
 * Time of the last activity on a link, by any of its connections. Keepalive tests the
 * link: an active link needs no test, and on an idle link all connections are idle, too. So
 * a link records its last activity, and a connection only its start (ka.since).
 */
static unsigned long keepalive_active(const struct smcr_link *link)
{
	unsigned long rx = READ_ONCE(link->last_rx);
	unsigned long tx = READ_ONCE(link->last_tx);

	return time_after(rx, tx) ? rx : tx;
}

/* Arguments and result of keepalive_ask() */
struct smcr_keepalive_look {
	const struct smcr_link *link;
	struct smcr_keepalive *ka;
	unsigned long now, active;
	int shortest;
};

static void keepalive_ask(struct smcr_lgr_member *member, void *arg)
{
	const struct smcr_conn *conn = container_of(member, struct smcr_conn,
						    member);
	struct smcr_keepalive_look *look = arg;
	struct smcr_keepalive *ka = look->ka;
	unsigned long idle_from = look->active;
	long left;

	if (!conn->ka.idle)
		return;
	if (conn->ka.idle < look->shortest)
		look->shortest = conn->ka.idle;
	if (READ_ONCE(conn->link) != look->link)
		return;
	if (time_after(conn->ka.since, idle_from))
		idle_from = conn->ka.since;
	left = max((long)(idle_from + conn->ka.idle - look->now), 0L);
	if (left >= ka->left)
		return;
	ka->left = left;
	ka->intvl = left ? 0 : conn->ka.intvl;
	ka->cnt = conn->ka.cnt;
}

/**
 * smcr_keepalive_due() - when is the next TEST LINK due for a connection?
 * @link: link of an ACTIVE group; only the connections on it count
 * @ka: result
 *
 * The connections of the group are visited only if the link was idle for the shortest of
 * their TCP_KEEPIDLE times. For an active link the call costs a comparison.
 *
 * Context: process, sleeps.
 */
void smcr_keepalive_due(struct smcr_link *link, struct smcr_keepalive *ka)
{
	struct smcr_lgr *lgr = link->lgr;
	struct smcr_keepalive_look look = {
		.link = link,
		.ka = ka,
		.now = jiffies,
		.active = keepalive_active(link),
		.shortest = INT_MAX,
	};
	int shortest = READ_ONCE(lgr->conns.ka_min);

	ka->left = LONG_MAX;
	ka->intvl = 0;
	ka->cnt = 0;
	if (!shortest)
		return;
	ka->left = (long)(look.active + shortest - look.now);
	if (ka->left > 0)
		return;

	ka->left = LONG_MAX;
	/*
	 * The visit may miss an idle time that is set during the visit. But as ka_min is
	 * INT_MAX then, smcr_keepalive_changed() stores such an idle time in ka_min.
	 */
	spin_lock_bh(&lgr->lock);
	WRITE_ONCE(lgr->conns.ka_min, INT_MAX);
	spin_unlock_bh(&lgr->lock);
	smcr_lgr_each_conn(lgr, keepalive_ask, &look);
	spin_lock_bh(&lgr->lock);
	shortest = min(lgr->conns.ka_min, look.shortest);
	WRITE_ONCE(lgr->conns.ka_min, shortest == INT_MAX ? 0 : shortest);
	spin_unlock_bh(&lgr->lock);
}
