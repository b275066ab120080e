// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: sockets and their connections. */
#include <linux/sock_diag.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/tcp_states.h>
#include "base/base.h"
#include "base/netns.h"
#include "lgr/lgr.h"
#include "conn/conn.h"
#include "conn/smcr_sock.h"
#include "ctl/nl.h"

/* The numbers in the netlink interface are those of the module's enums */
#define X(name, nl, word) \
	static_assert((int)SMCR_NL_MODE_##nl == (int)SMCR_MODE_##name);
SMCR_MODES(X)
#undef X
#define X(name, word) \
	static_assert((int)SMCR_NL_CONN_##name == (int)SMCR_CONN_ST_##name);
SMCR_CONN_STATES(X)
#undef X
static_assert((int)SMCR_NL_TCP_NEW_SYN_RECV == (int)TCP_NEW_SYN_RECV);
static_assert((int)SMCR_NL_SHUTDOWN_RECV == RCV_SHUTDOWN);
static_assert((int)SMCR_NL_SHUTDOWN_SEND == SEND_SHUTDOWN);

/* Number of sockets on which a dump has references at a time */
#define SMCR_NL_BATCH	32

/* References on a socket and its inner socket; ssk NULL: socket is being freed */
struct smcr_nl_sock {
	u64 id;
	struct smcr_sock *ssk;
	struct sock *tcp;
};

/* Fill @s. The caller holds sk_lock, so @ssk, which is listed, and its inner socket exist. */
static void nl_hold_sock(struct smcr_nl_sock *s, struct smcr_sock *ssk)
{
	lockdep_assert_held(&ssk->sn->sk_lock);

	*s = (struct smcr_nl_sock){ .id = ssk->net_node.id };
	if (!smcr_sock_get(ssk))
		return;
	s->ssk = ssk;
	s->tcp = ssk->tcp->sk;
	sock_hold(s->tcp);
}

static int nl_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, SMCR_A_CONN_PAD);
}

/*
 * Addresses of the TCP connection. They are read without the socket lock, as in
 * every diag interface of the kernel. inet_sport is used because, unlike
 * inet_num, it stays set after the port was released.
 */
static int nl_put_addrs(struct sk_buff *skb, const struct sock *tcp)
{
	const struct inet_sock *inet = inet_sk(tcp);

	if (nla_put_u32(skb, SMCR_A_CONN_FAMILY, tcp->sk_family) ||
	    nla_put_u16(skb, SMCR_A_CONN_LOCAL_PORT, ntohs(inet->inet_sport)) ||
	    nla_put_u16(skb, SMCR_A_CONN_PEER_PORT, ntohs(inet->inet_dport)))
		return -EMSGSIZE;
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6) {
		if (nla_put_in6_addr(skb, SMCR_A_CONN_LOCAL_ADDR,
				     &tcp->sk_v6_rcv_saddr) ||
		    nla_put_in6_addr(skb, SMCR_A_CONN_PEER_ADDR,
				     &tcp->sk_v6_daddr))
			return -EMSGSIZE;
		return 0;
	}
#endif
	if (nla_put_in_addr(skb, SMCR_A_CONN_LOCAL_ADDR,
			    inet->inet_rcv_saddr) ||
	    nla_put_in_addr(skb, SMCR_A_CONN_PEER_ADDR, inet->inet_daddr))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_owner(struct sk_buff *skb, struct netlink_callback *cb,
			struct sock *sk)
{
	struct user_namespace *ns = sk_user_ns(NETLINK_CB(cb->skb).sk);
	u32 shutdown = READ_ONCE(sk->sk_shutdown) & SHUTDOWN_MASK;
	int bound = READ_ONCE(sk->sk_bound_dev_if);
	u32 cookie[2];

	sock_diag_save_cookie(sk, cookie);
	if (nl_put_u64(skb, SMCR_A_CONN_INODE, sock_i_ino(sk)) ||
	    nl_put_u64(skb, SMCR_A_CONN_COOKIE,
		       (u64)cookie[1] << 32 | cookie[0]) ||
	    nla_put_u32(skb, SMCR_A_CONN_UID,
			from_kuid_munged(ns, READ_ONCE(sk->sk_uid))) ||
	    (bound && nla_put_u32(skb, SMCR_A_CONN_BOUND_IFINDEX, bound)) ||
	    nla_put_u32(skb, SMCR_A_CONN_SHUTDOWN, shutdown))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_why(struct sk_buff *skb, enum smcr_reason why, u32 diag)
{
	u32 wire = smcr_reason_wire(why);

	if (diag && nla_put_u32(skb, SMCR_A_CONN_PEER_DIAGNOSIS, diag))
		return -EMSGSIZE;
	if (why == SMCR_R_NONE)
		return 0;
	if (nla_put_u32(skb, SMCR_A_CONN_REASON, why) ||
	    nla_put_string(skb, SMCR_A_CONN_REASON_NAME,
			   smcr_reason_name(why)) ||
	    nla_put_string(skb, SMCR_A_CONN_REASON_TEXT,
			   smcr_reason_text(why)) ||
	    (wire && nla_put_u32(skb, SMCR_A_CONN_REASON_DIAGNOSIS, wire)))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_queues(struct sk_buff *skb, struct smcr_sock *ssk)
{
	unsigned int ready, neg;

	spin_lock_bh(&ssk->accept_lock);
	ready = ssk->n_accept_q;
	neg = ssk->n_hs_q;
	spin_unlock_bh(&ssk->accept_lock);

	if (nla_put_u32(skb, SMCR_A_CONN_ACCEPT_QUEUE, ready) ||
	    nla_put_u32(skb, SMCR_A_CONN_ACCEPT_QUEUE_MAX,
			READ_ONCE(ssk->sk.sk_max_ack_backlog)) ||
	    nla_put_u32(skb, SMCR_A_CONN_NEGOTIATING, neg))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_cursor(struct sk_buff *skb, int attr,
			 const struct smcr_ring *ring,
			 const struct smcr_pos *pos)
{
	struct smcr_cursor cur = smcr_pos_cursor(ring, pos);
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SMCR_A_CURSOR_WRAP, cur.wrap) ||
	    nla_put_u32(skb, SMCR_A_CURSOR_COUNT, cur.count) ||
	    nla_put_u64_64bit(skb, SMCR_A_CURSOR_BYTES, pos->abs,
			      SMCR_A_CURSOR_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u32 smcr_nl_conn_flags(const struct smcr_conn *conn)
{
	const struct smcr_close *fsm = &conn->fsm;
	const struct {
		bool set;
		u32 flag;
	} map[] = {
		{ conn->tx.blocked, SMCR_NL_CONN_FLAG_TX_BLOCKED },
		{ conn->rx.blocked, SMCR_NL_CONN_FLAG_PEER_BLOCKED },
		{ conn->rx.asks, SMCR_NL_CONN_FLAG_PEER_ASKS },
		{ conn->tx.ctrl, SMCR_NL_CONN_FLAG_CTRL_OWED },
		{ !list_empty(&conn->tx.sq_wait), SMCR_NL_CONN_FLAG_SQ_WAIT },
		{ conn->tx.dead, SMCR_NL_CONN_FLAG_NO_TX },
		{ smcr_conn_sock(conn)->corked, SMCR_NL_CONN_FLAG_CORKED },
		{ fsm->tx_done, SMCR_NL_CONN_FLAG_SENT_DONE },
		{ fsm->tx_closed, SMCR_NL_CONN_FLAG_SENT_CLOSED },
		{ fsm->tx_abort, SMCR_NL_CONN_FLAG_SENT_ABORT },
		{ fsm->rx_done, SMCR_NL_CONN_FLAG_PEER_DONE },
		{ fsm->rx_closed, SMCR_NL_CONN_FLAG_PEER_CLOSED },
		{ fsm->rx_abort, SMCR_NL_CONN_FLAG_PEER_ABORT },
		{ fsm->app_closed, SMCR_NL_CONN_FLAG_APP_CLOSED },
	};
	u32 flags = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(map); i++)
		if (map[i].set)
			flags |= map[i].flag;
	return flags;
}

static int nl_put_flow(struct sk_buff *skb, const struct smcr_conn *conn)
{
	lockdep_assert_held(&conn->lock);

	if (nl_put_cursor(skb, SMCR_A_CONN_RX_PROD, &conn->rx.ring,
			  &conn->rx.prod) ||
	    nl_put_cursor(skb, SMCR_A_CONN_RX_CONS, &conn->rx.ring,
			  &conn->rx.cons) ||
	    nl_put_cursor(skb, SMCR_A_CONN_TX_PROD, &conn->tx.ring,
			  &conn->tx.prod) ||
	    nl_put_cursor(skb, SMCR_A_CONN_TX_CONS, &conn->tx.ring,
			  &conn->tx.cons) ||
	    nla_put_u32(skb, SMCR_A_CONN_RX_SEQ, conn->rx.seq) ||
	    nla_put_u32(skb, SMCR_A_CONN_TX_SEQ, conn->tx.seq) ||
	    nl_put_u64(skb, SMCR_A_CONN_UNREAD,
		       smcr_conn_readable(conn)) ||
	    nl_put_u64(skb, SMCR_A_CONN_UNSENT, smcr_conn_unsent(conn)) ||
	    nl_put_u64(skb, SMCR_A_CONN_QUEUED,
		       READ_ONCE(conn->tx.queued) - conn->tx.done) ||
	    nl_put_u64(skb, SMCR_A_CONN_UNCONSUMED,
		       conn->tx.prod.abs - conn->tx.cons.abs) ||
	    nla_put_u32(skb, SMCR_A_CONN_FLAGS, smcr_nl_conn_flags(conn)))
		return -EMSGSIZE;
	return 0;
}

/*
 * Group, link and elements of a connection. The caller holds conn->lock, under
 * which conn->lgr and conn->link are cleared. Alert tokens are for
 * administrators only, as a token is all that is needed to forge a CDC.
 */
static int nl_put_place(struct sk_buff *skb, const struct smcr_conn *conn,
			bool admin)
{
	const struct smcr_link *link = conn->link;

	lockdep_assert_held(&conn->lock);

	if (link &&	/* NULL: the connection has lost its link, and ends */
	    (nla_put_string(skb, SMCR_A_CONN_DEV_NAME,
			    smcr_dev_name(link->pid.dev).s) ||
	     nla_put_u32(skb, SMCR_A_CONN_LINK_NUM, READ_ONCE(link->num))))
		return -EMSGSIZE;
	if (nla_put_u32(skb, SMCR_A_CONN_LGR_ID, conn->lgr->id) ||
	    (admin && nla_put_u32(skb, SMCR_A_CONN_TOKEN, conn->member.token)) ||
	    nla_put_u32(skb, SMCR_A_CONN_SNDBUF_SIZE, conn->snd.size) ||
	    nla_put_u32(skb, SMCR_A_CONN_RMBE_SIZE, conn->own.elem.size) ||
	    nla_put_u32(skb, SMCR_A_CONN_RMBE_INDEX, conn->own.elem.index))
		return -EMSGSIZE;
	if (!conn->active)	/* the peer's side is not known yet */
		return 0;
	if ((admin && nla_put_u32(skb, SMCR_A_CONN_PEER_TOKEN, conn->tx.token)) ||
	    nla_put_u32(skb, SMCR_A_CONN_PEER_RMBE_SIZE, conn->tx.ring.size) ||
	    nla_put_u32(skb, SMCR_A_CONN_PEER_RMBE_INDEX, conn->relem.index))
		return -EMSGSIZE;
	return nl_put_flow(skb, conn);
}

static int nl_put_conn(struct sk_buff *skb, const struct smcr_conn *conn,
		       bool admin)
{
	lockdep_assert_held(&conn->lock);

	/* no state before activation; after the end, the last state is kept */
	if (conn->active &&
	    (nla_put_u32(skb, SMCR_A_CONN_STATE, conn->fsm.st) ||
	     nl_put_u64(skb, SMCR_A_CONN_RX_BYTES, conn->rx.bytes) ||
	     nl_put_u64(skb, SMCR_A_CONN_TX_BYTES, conn->tx.bytes)))
		return -EMSGSIZE;
	return conn->lgr ? nl_put_place(skb, conn, admin) : 0;
}

static bool nl_port_wanted(const struct nlattr *port,
			   const struct sock *tcp)
{
	const struct inet_sock *inet = inet_sk(tcp);
	__be16 wanted;

	if (!port)
		return true;
	wanted = htons(nla_get_u16(port));
	return inet->inet_sport == wanted || inet->inet_dport == wanted;
}

static bool nl_conn_wanted(struct nlattr **attrs,
			   const struct smcr_conn *conn)
{
	struct nlattr *state = attrs[SMCR_A_STATE];

	lockdep_assert_held(&conn->lock);

	if (state && (!conn->active || conn->fsm.st != nla_get_u32(state)))
		return false;
	return smcr_nl_lgr_wanted(attrs, conn->lgr);
}

static int nl_put_sock(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct smcr_nl_sock *s, u8 mode)
{
	struct smcr_sock *ssk = s->ssk;
	enum smcr_reason why;

	if (nla_put_u32(skb, SMCR_A_CONN_MODE, mode) ||
	    nla_put_u32(skb, SMCR_A_CONN_TCP_STATE,
			READ_ONCE(s->tcp->sk_state)) ||
	    nl_put_addrs(skb, s->tcp) ||
	    nl_put_owner(skb, cb, &ssk->sk))
		return -EMSGSIZE;
	if (mode == SMCR_MODE_LISTEN)
		return nl_put_queues(skb, ssk);
	if (mode == SMCR_MODE_INIT)
		return 0;
	why = mode == SMCR_MODE_TCP ? READ_ONCE(ssk->fallback_why) :
				      READ_ONCE(ssk->conn.end.why);
	if (nla_put_u32(skb, SMCR_A_CONN_ROLE,
			READ_ONCE(ssk->is_client) ? SMCR_NL_ROLE_CLIENT :
						    SMCR_NL_ROLE_SERVER))
		return -EMSGSIZE;
	return nl_put_why(skb, why, READ_ONCE(ssk->peer_diag));
}

/* Dump a socket. Return: 0, also if it was filtered out; -EMSGSIZE: no room */
static int nl_dump_sock(struct sk_buff *skb, struct netlink_callback *cb,
			struct nlattr **attrs,
			const struct smcr_nl_sock *s)
{
	bool admin = netlink_capable(cb->skb, CAP_NET_ADMIN);
	struct smcr_conn *conn = &s->ssk->conn;
	u8 mode = READ_ONCE(s->ssk->mode);
	struct smcr_nl_msg msg;
	int rc;

	if (attrs[SMCR_A_MODE] && mode != nla_get_u32(attrs[SMCR_A_MODE]))
		return 0;
	if (!nl_port_wanted(attrs[SMCR_A_PORT], s->tcp))
		return 0;
	rc = smcr_nl_open(&msg, skb, cb, SMCR_CMD_CONN_GET, SMCR_A_CONN);
	if (rc)
		return rc;
	rc = nl_put_sock(skb, cb, s, mode);

	/* nothing is allocated under the lock: the skb has its memory already */
	spin_lock_bh(&conn->lock);
	if (!nl_conn_wanted(attrs, conn))
		rc = -ENOENT;
	else if (!rc && mode != SMCR_MODE_INIT && mode != SMCR_MODE_LISTEN)
		rc = nl_put_conn(skb, conn, admin);
	spin_unlock_bh(&conn->lock);

	rc = smcr_nl_close(&msg, rc);
	return rc == -ENOENT ? 0 : rc;
}

/* Get references on the next sockets, SMCR_NL_BATCH at most. Return: how many */
static unsigned int nl_hold_socks(struct netlink_callback *cb,
				  struct smcr_nl_sock *batch)
{
	struct smcr_net *sn = smcr_nl_net(cb);
	struct smcr_nl_pos *pos = smcr_nl_pos(cb);
	struct smcr_id *node;
	unsigned int n = 0;

	spin_lock_bh(&sn->sk_lock);
	smcr_nl_look(sn, cb);
	if (!pos->begun)
		pos->end = sn->socks.last;
	pos->begun = true;
	for (node = smcr_ids_after(&sn->socks, pos->after);
	     node && node->id <= pos->end && n < SMCR_NL_BATCH;
	     node = smcr_ids_next(node))
		nl_hold_sock(&batch[n++], container_of(node,
						       struct smcr_sock,
						       net_node));
	spin_unlock_bh(&sn->sk_lock);
	return n;
}

/* Dump a batch and put its references */
static int nl_dump_batch(struct sk_buff *skb, struct netlink_callback *cb,
			 struct nlattr **attrs,
			 const struct smcr_nl_sock *batch, unsigned int n)
{
	struct smcr_nl_pos *pos = smcr_nl_pos(cb);
	unsigned int i;
	int rc = 0;

	for (i = 0; i < n; i++) {
		if (!rc && batch[i].ssk)
			rc = nl_dump_sock(skb, cb, attrs, &batch[i]);
		if (!rc)
			pos->after = batch[i].id;
		if (batch[i].ssk) {
			sock_put(batch[i].tcp);
			sock_put(&batch[i].ssk->sk);
		}
	}
	cond_resched();
	return rc;
}

/*
 * The dump includes sockets that the application has closed, as long as the
 * close machine (core/close.c) keeps them.
 */
int smcr_nl_conn_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const unsigned long allowed = BIT(SMCR_A_MODE) | BIT(SMCR_A_STATE) |
				      BIT(SMCR_A_PORT) | BIT(SMCR_A_LGR_ID) |
				      BIT(SMCR_A_DEV_NAME);
	struct nlattr *attrs[SMCR_A_DEV_NAME + 1];
	struct smcr_nl_sock batch[SMCR_NL_BATCH];
	unsigned int n;
	int rc;

	rc = smcr_nl_filter(cb, allowed, attrs);
	if (rc)
		return rc;
	do {
		n = nl_hold_socks(cb, batch);
		rc = nl_dump_batch(skb, cb, attrs, batch, n);
	} while (!rc && n == SMCR_NL_BATCH);
	return smcr_nl_result(skb, rc);
}
