// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections, and the programs at both ends. Each direction of a connection
 * has a stream of its own, so that a reader can check each byte by its
 * position.
 */
#include "lgr/lgr.h"
#include "lgr/rmb.h"
#include "lgr/rtoken.h"
#include "shell.h"

enum { PAIRS = 64, RECORD = 4096 };

/* A connection, with its two sockets */
struct pair {
	int no;
	struct end {
		struct pair *pair;
		int side;
		struct smcr_sock *ssk;	/* no reference; NULL: freed */
		u32 token;		/* of its connection */
		const void *came_by;	/* queue pair that its last message arrived by */
		const void *ended_by;	/* queue pair that C or A arrived by */
		bool heard_c;		/* C has arrived */
		u64 wrote, read;	/* bytes */
		u64 tried;		/* bytes that sends were called with */
		u32 want;		/* bytes to be written */
		bool inlined;		/* SO_OOBINLINE */
		bool knows;		/* reads the peer's .want bytes, not to the end */
		bool wrote_all;		/* .want bytes were written */
		bool aborted;		/* by this program */
		bool eof;
		int err;
		int threads;
		bool closed;
		u8 mark[RECORD / 8];	/* urgent bytes */
		u64 oob_from, oob_to;	/* one of these may be urgent, of a partial send */
		struct tcp_sock tcp;
		struct socket sock;
	} end[2];
	bool excused;			/* it may lose data: an abort, a dead group */
	bool no_tcp;			/* no FIN or RST of TCP arrives any more */
	bool made;
};

static struct pair pairs[PAIRS];
static int n_pairs, n_open;

static struct end *end_of(const struct smcr_sock *ssk)
{
	return container_of(ssk->tcp, struct end, sock);
}

const struct pair *pair_of(const struct smcr_sock *ssk)
{
	return end_of(ssk)->pair;
}

static struct end *other(struct end *e)
{
	return &e->pair->end[!e->side];
}

/* Byte @pos of what @e writes */
static u8 stream(const struct end *e, u64 pos)
{
	u64 z = (pos + 1) * 0x9e3779b97f4a7c15ULL ^ (u64)(e->pair->no * 2 + e->side + 1) << 40;

	z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9ULL;
	/* neighbours differ, so that a reader can tell them apart */
	return (z >> 40 & ~3ULL) | (pos & 3);
}

static bool marked(const struct end *e, u64 pos)
{
	return (pos >= e->oob_from && pos < e->oob_to) ||
	       (pos < RECORD && e->mark[pos / 8] >> pos % 8 & 1);
}

/* FIN or RST of TCP arrives; holds the socket, as a callback of TCP does */
static void tcp_comes(void *arg, int reset)
{
	struct end *e = arg;
	struct smcr_sock *ssk;

	rcu_read_lock();
	ssk = e->ssk;
	if (ssk && !smcr_sock_get(ssk))
		ssk = NULL;
	rcu_read_unlock();
	if (!ssk)
		return;
	if (reset)
		smcr_conn_event(&ssk->conn, SMCR_CONN_EV_TCP_RESET, SMCR_R_NONE);
	else
		smcr_conn_tcp_fin(&ssk->conn);
	sock_put(&ssk->sk);
}

/*
 * A message for @token arrives; the first on another link is F (FO-07), and C or A is the
 * last (CDC-44)
 */
void apps_came(u32 token, const void *by, u8 pflags, u8 cflags)
{
	struct end *e;
	int i;

	for (i = 0; i < 2 * n_pairs; i++) {
		e = &pairs[i / 2].end[i % 2];
		if (e->token != token)
			continue;
		if (e->came_by && e->came_by != by && !(pflags & SMCR_CDC_F))
			bad("connection %d, side %d: what comes first over another link is not F",
			    e->pair->no, e->side);
		if (e->ended_by == by)
			bad("connection %d, side %d: a message after C or A", e->pair->no, e->side);
		if (cflags & (SMCR_CDC_C | SMCR_CDC_A))
			e->ended_by = by;
		e->came_by = by;
		e->heard_c |= cflags & SMCR_CDC_C;
	}
}

/* Not before own C arrived (CONN-03), unless that was lost with the group */
void smcr_tcp_fin(struct smcr_sock *ssk)
{
	if (!other(end_of(ssk))->heard_c && !w.deaths)
		bad("connection %d, side %d: TCP ends before C", end_of(ssk)->pair->no,
		    end_of(ssk)->side);
	if (!end_of(ssk)->pair->no_tcp)
		later(pick(50), tcp_comes, other(end_of(ssk)), 0);
}

void smcr_tcp_reset(struct smcr_sock *ssk)
{
	if (!end_of(ssk)->pair->no_tcp)
		later(pick(50), tcp_comes, other(end_of(ssk)), 1);
}

/*
 * A connection cannot move, whether its group lives or not. The peer may not
 * look at TCP: A has to reach it.
 */
void apps_lost(u32 token)
{
	int i, k;

	for (i = 0; i < n_pairs; i++) {
		for (k = 0; k < 2; k++) {
			struct end *e = &pairs[i].end[k];

			if (!e->ssk || e->ssk->conn.member.token != token)
				continue;
			e->aborted = true;
			e->pair->no_tcp = true;
			w.lost++;
		}
	}
}

/* The address of both hosts, that of the group */
void smcr_tcp_peer(const struct sock *tsk, struct in6_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
}

bool smcr_compat_page_follows(const struct msghdr *msg)
{
	return chance(4);
}

/* The last reference on a socket is gone: nothing may be left in it */
void sock_free(struct sock *sk)
{
	struct smcr_sock *ssk = smcr_sk(sk);
	struct smcr_conn *conn = &ssk->conn;

	if (conn->lgr || conn->link)
		bad("a socket ends with a connection");
	if (conn->snd.buf || conn->snd.old || conn->own.elem.rmb || conn->own.pin_len)
		bad("a socket ends with memory");
	if (conn->end.work.pending || conn->end.timer.pending ||
	    conn->reorder.timer.pending ||
	    conn->bound.timer.pending)
		bad("a socket ends with a timer");
	end_of(ssk)->ssk = NULL;
	kfree(ssk);
}

static struct smcr_sock *sock_new(struct end *e)
{
	struct smcr_sock *ssk = kmem(sizeof(*ssk), __func__);
	struct sock *sk = &ssk->sk;

	spin_lock_init(&sk->sk_lock.slock);
	refcount_set(&sk->sk_refcnt, 1);
	sk->sk_rcvlowat = 1;
	sk->sk_sndtimeo = LONG_MAX;
	sk->sk_rcvtimeo = LONG_MAX;
	sk->sk_state_change = sock_wake;
	sk->sk_data_ready = sock_wake;
	sk->sk_write_space = sock_wake;
	if (e->inlined)
		sock_set_flag(sk, SOCK_URGINLINE);
	e->sock.sk = &e->tcp.sk;
	e->tcp.nonagle = chance(2) ? TCP_NAGLE_OFF : 0;
	ssk->tcp = &e->sock;
	ssk->sn = &w.host[e->side].sn;
	ssk->is_client = !e->side;
	ssk->mode = SMCR_MODE_HANDSHAKE;
	smcr_conn_init(&ssk->conn);
	e->ssk = ssk;
	return ssk;
}

/* The last of a program's threads closes */
static void end_close(struct end *e, bool abort)
{
	struct smcr_sock *ssk = e->ssk;
	struct smcr_conn *conn = &ssk->conn;

	lock_sock(&ssk->sk);
	if (conn->lgr && (smcr_conn_readable(conn) || smcr_conn_unsent(conn)))
		e->aborted = true;	/* that is an abort, too */
	if (abort || !e->wrote_all || !e->eof)
		e->aborted = true;
	tell("connection %d, side %d: close%s", e->pair->no, e->side,
	     abort ? ", linger 0" : "");
	spin_lock_bh(&conn->lock);
	ssk->sk.sk_shutdown = SHUTDOWN_MASK;
	spin_unlock_bh(&conn->lock);
	sock_set_flag(&ssk->sk, SOCK_DEAD);
	if (abort)
		smcr_conn_event(conn, SMCR_CONN_EV_APP_ABORT, SMCR_R_LOCAL_ABORT);
	else if (!test_and_set_bit(SMCR_SK_APP_CLOSED, &ssk->flags))
		smcr_conn_event(conn, SMCR_CONN_EV_APP_CLOSE, SMCR_R_NONE);
	release_sock(&ssk->sk);
	e->closed = true;
	n_open--;
	sock_put(&ssk->sk);
}

/* shutdown(), as in sock/sock_io.c */
static void shut(struct end *e, int how)
{
	struct smcr_sock *ssk = e->ssk;
	struct sock *sk = &ssk->sk;

	lock_sock(sk);
	spin_lock_bh(&ssk->conn.lock);
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	spin_unlock_bh(&ssk->conn.lock);
	if (how != SHUTDOWN_MASK)
		smcr_conn_event(&ssk->conn, SMCR_CONN_EV_APP_SHUT_WR, SMCR_R_NONE);
	else if (!test_and_set_bit(SMCR_SK_APP_CLOSED, &ssk->flags))
		smcr_conn_event(&ssk->conn, SMCR_CONN_EV_APP_CLOSE, SMCR_R_NONE);
	sk->sk_state_change(sk);
	release_sock(sk);
}

static void thread_ends(struct end *e)
{
	if (!--e->threads)
		end_close(e, false);
}

static int send_some(struct end *e, u32 n, bool urgent)
{
	struct smcr_sock *ssk = e->ssk;
	struct msghdr msg = { };
	u8 data[256];
	int rc;
	u32 i;

	n = min_t(u32, n, sizeof(data));
	for (i = 0; i < n; i++)
		data[i] = stream(e, e->wrote + i);
	msg.msg_iter.at = data;
	msg.msg_iter.left = n;
	if (urgent) {
		msg.msg_flags |= MSG_OOB;
		e->oob_from = e->wrote;
		e->oob_to = e->wrote + n;
		if (e->wrote + n <= RECORD)
			e->mark[(e->wrote + n - 1) / 8] |= 1 << (e->wrote + n - 1) % 8;
	}
	if (chance(6))
		msg.msg_flags |= MSG_MORE;
	e->tried = e->wrote + n;
	lock_sock(&ssk->sk);
	rc = smcr_tx_sendmsg(ssk, &msg, n);
	release_sock(&ssk->sk);
	if (rc > 0)
		e->wrote += rc;
	if (urgent && (rc <= 0 || (u32)rc == n))
		e->oob_to = 0;
	return rc;
}

/* The thread that writes; it may give up before it has written all */
static void writer(void *arg, int give_up)
{
	struct end *e = arg;
	int rc = 1;

	task_set_sock(e->ssk);
	while (rc > 0 && e->wrote < e->want) {
		if (give_up && !--give_up)
			break;
		rc = send_some(e, min_t(u32, 1 + pick(chance(3) ? 200 : 40),
					e->want - (u32)e->wrote),
			       w.urgent && chance(4));
		if (rc > 0 && !w.stream && chance(4))
			wait_until(pick(30));
	}
	if (rc <= 0) {
		e->err = rc;
		tell("connection %d, side %d: error %d of a write", e->pair->no, e->side, rc);
	}
	e->wrote_all = e->wrote == e->want;
	if (rc > 0 && e->wrote != e->want)
		shut(e, SHUTDOWN_MASK);
	else if (e->wrote_all && !e->knows)
		shut(e, SEND_SHUTDOWN);
	thread_ends(e);
}

/* Check that what was read is what the other side has written there */
static void check_read(struct end *e, const u8 *data, u32 n)
{
	const struct end *from = other(e);
	u32 i;

	for (i = 0; i < n; i++, e->read++) {
		/* an urgent byte is out of the stream, unless the program has it inline */
		while (!e->inlined && marked(from, e->read) &&
		       data[i] != stream(from, e->read))
			e->read++;
		if (e->read >= from->tried)
			bad("connection %d, side %d: byte %llu, of %llu", e->pair->no, e->side,
			    e->read, from->tried);
		if (data[i] != stream(from, e->read))
			bad("connection %d, side %d: byte %llu is wrong", e->pair->no, e->side,
			    e->read);
	}
}

static void recv_urg(struct end *e)
{
	struct smcr_sock *ssk = e->ssk;
	struct msghdr msg = { };
	u8 byte;

	msg.msg_iter.at = &byte;
	msg.msg_iter.left = 1;
	lock_sock(&ssk->sk);
	smcr_rx_recv_urg(ssk, &msg, 1, 0);
	release_sock(&ssk->sk);
}

static int recv_some(struct end *e, u32 n)
{
	struct smcr_sock *ssk = e->ssk;
	struct msghdr msg = { };
	u8 data[256];
	int rc;

	n = min_t(u32, n, sizeof(data));
	msg.msg_iter.at = data;
	msg.msg_iter.left = n;
	lock_sock(&ssk->sk);
	rc = smcr_rx_recvmsg(ssk, &msg, n, 0);
	release_sock(&ssk->sk);
	if (rc > 0) {
		check_read(e, data, rc);
		w.reads++;
	}
	return rc;
}

/*
 * Did @e abort? Also before apps_lost(), which runs when conn->lock is dropped
 */
static bool said_a(const struct end *e)
{
	return e->aborted || (e->ssk && e->ssk->conn.fsm.tx_abort);
}

static void reader(void *arg, int give_up)
{
	struct end *e = arg;
	struct end *from = other(e);
	int rc = 1;

	task_set_sock(e->ssk);
	while (rc > 0) {
		if (give_up && !--give_up) {
			shut(e, SHUTDOWN_MASK);
			break;
		}
		if (e->knows && e->read >= from->want) {
			e->eof = true;
			break;
		}
		rc = recv_some(e, 1 + pick(w.stream ? 3 : chance(2) ? 200 : 20));
		if (w.urgent && chance(3))
			recv_urg(e);
		if (rc > 0 && !w.stream && chance(3))
			wait_until(pick(40));
		/* its own link fails near the end */
		if (w.stream && w.breaks && e->read + 5000 > w.stream) {
			w.breaks = 0;
			group_fail(e->ssk->conn.link);
		}
	}
	if (!rc) {
		e->eof = true;
		while (!e->inlined && e->read < from->wrote && marked(from, e->read))
			e->read++;
		tell("connection %d, side %d: end at %llu of %u", e->pair->no, e->side, e->read,
		     from->want);
		/* the other thread of this program may have taken the error */
		if (e->read != from->wrote && !said_a(from) && !e->aborted && !w.deaths)
			bad("connection %d, side %d: end at %llu, %llu were written",
			    e->pair->no, e->side, e->read, from->wrote);
	}
	if (rc < 0) {
		e->err = rc;
		tell("connection %d, side %d: error %d", e->pair->no, e->side, rc);
	}
	thread_ends(e);
}

/* A program that writes what there is room for, then closes or aborts */
static void aborter(void *arg, int n)
{
	struct end *e = arg;
	u32 some;

	task_set_sock(e->ssk);
	while (e->wrote < e->want) {
		some = min_t(u32, 60, e->want - (u32)e->wrote);
		if (e->wrote && some > smcr_conn_wspace(&e->ssk->conn))
			break;
		if (send_some(e, some, false) <= 0)
			break;
	}
	wait_until(chance(2) ? 0 : pick(n));
	end_close(e, chance(2));
}

static void start_programs(struct end *e)
{
	u32 mode = pick(16);
	int give_up = 0;

	if (mode < w.aborts) {
		e->aborted = true;
		if (mode & 1) {
			task_start("aborter", aborter, e, 1 + pick(60));
			return;
		}
		give_up = 1 + pick(6);
	}
	e->threads = 2;
	task_start("writer", writer, e, give_up);
	task_start("reader", reader, e, give_up);
}

/* The handshake */
static bool open_end(struct end *e, struct smcr_rmb_req *req)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_sock *ssk = e->ssk;
	int rc;

	task_set_sock(ssk);
	rc = smcr_conn_open(ssk, w.host[e->side].lgr, NULL, 0, req, &why);
	if (!rc) {
		ssk->conn.snd.max = w.sndbuf;
		e->token = ssk->conn.member.token;
	}
	return !rc;
}

static bool set_peer(struct end *e)
{
	struct smcr_sock *from = other(e)->ssk;
	struct smcr_clc_accept acc = { };
	struct smcr_link *on;
	bool ok;

	if (!from)	/* it has ended since */
		return false;
	acc.index = from->conn.own.elem.index;
	acc.token = from->conn.member.token;
	task_set_sock(e->ssk);
	spin_lock_bh(&e->ssk->conn.lock);
	on = e->ssk->conn.link;
	if (on)
		smcr_link_hold(on);
	spin_unlock_bh(&e->ssk->conn.lock);
	if (!on)
		return false;
	/* as in CLC: with the RToken of a link that both hosts have */
	ok = !smcr_lgr_rtoken_on(w.host[e->side].lgr, w.host[e->side].rtoken, on->slot, &acc.rkey,
				 &acc.va);
	ok = ok && acc.index && !smcr_conn_set_peer(&e->ssk->conn, &acc, on);
	smcr_link_put(on);
	return ok;
}

static void activate(struct end *e)
{
	struct smcr_sock *ssk = e->ssk;

	smcr_conn_activate(&ssk->conn);
	smcr_sock_set_mode(ssk, SMCR_MODE_SMC);
	n_open++;
	start_programs(e);
}

static void give_up_on(struct end *e)
{
	struct smcr_sock *ssk = e->ssk;

	lock_sock(&ssk->sk);
	ssk->conn.own.clc_sent = true;
	smcr_conn_discard(&ssk->conn);
	release_sock(&ssk->sk);
	sock_put(&ssk->sk);
}

static void opener(void *arg, int n);

static void handshake(void *arg, int n)
{
	struct smcr_rmb_req req[2] = { };
	struct pair *p = arg;
	struct end *clnt = &p->end[0], *srv = &p->end[1];
	bool ok[2] = { false, false };
	int i;

	for (i = 0; i < 2; i++)
		sock_new(&p->end[i]);
	lock_sock(&srv->ssk->sk);
	ok[1] = open_end(srv, &req[1]);
	release_sock(&srv->ssk->sk);
	lock_sock(&clnt->ssk->sk);
	ok[0] = ok[1] && open_end(clnt, &req[0]);
	ok[0] = ok[0] && set_peer(clnt);
	if (ok[0])
		activate(clnt);
	release_sock(&clnt->ssk->sk);
	if (!ok[0]) {
		if (w.tries) {
			w.tries--;
			w.n_conns++;
			later(1 + pick(20), opener, NULL, 0);
		}
		give_up_on(clnt);
		give_up_on(srv);
		return;
	}
	/* its link may fail before the Confirm arrives */
	if (chance(4))
		wait_until(pick(60));
	smcr_conn_move_early(&srv->ssk->conn);
	lock_sock(&srv->ssk->sk);
	ok[1] = set_peer(srv);
	if (ok[1])
		activate(srv);
	release_sock(&srv->ssk->sk);
	p->made = ok[1];
	w.made += ok[1];
	if (!ok[1]) {
		p->excused = true;
		srv->aborted = true;
		give_up_on(srv);
		later(pick(50), tcp_comes, clnt, 1);
	}
	tell("connection %d: tokens %08x, %08x", p->no, clnt->ssk ? clnt->ssk->conn.member.token : 0,
	     srv->ssk ? srv->ssk->conn.member.token : 0);
}

/* Makes a new connection, if elements may be free, and runs again soon */
static void opener(void *arg, int n)
{
	struct pair *p;
	int i;

	if (!w.n_conns || w.deaths || n_pairs == PAIRS || kernel_ending)
		return;
	if (n_open < 2 * (int)w.n_elems) {
		w.n_conns--;
		p = &pairs[n_pairs];
		memset(p, 0, sizeof(*p));
		p->no = n_pairs++;
		for (i = 0; i < 2; i++) {
			p->end[i].pair = p;
			p->end[i].side = i;
			p->end[i].want = pick(4) ? pick(w.held ? 3000 : 600) : 0;
			if (w.stream)
				p->end[i].want = i ? w.stream : 0;
			p->end[i].inlined = chance(2);
			p->end[i].knows = !w.urgent && chance(3);
		}
		task_start("handshake", handshake, p, 0);
	}
	later(1 + pick(chance(4) ? 60 : 2), opener, NULL, 0);
}

static void link_lost(struct smcr_sock *ssk)
{
}

static void undefer(struct smcr_sock *child)
{
}

static void put(struct smcr_sock *ssk)
{
	sock_put(&ssk->sk);
}

static const struct smcr_conn_ops conn_ops = {
	.undefer = undefer,
	.link_lost = link_lost,
	.put = put,
};

void apps_start(void)
{
	smcr_conn_owner_ops = &conn_ops;
	n_pairs = 0;
	n_open = 0;
	later(5, opener, NULL, 0);
}

static void check_end(struct end *e)
{
	struct smcr_conn *conn;

	if (e->ssk) {
		conn = &e->ssk->conn;
		bad("connection %d, side %d: not released: %s, refs %d, todo %lx, pends %u, owed %x, validate %d, redo %d, lost %d, dead %d, waits%s",
		    e->pair->no, e->side, smcr_conn_st_name(conn->fsm.st),
		    refcount_read(&e->ssk->sk.sk_refcnt), conn->end.todo, conn->tx.pends,
		    conn->tx.owed, conn->mv.validate, conn->mv.redo, conn->mv.lost,
		    conn->tx.dead, kernel_waits());
	}
	if (!e->pair->made || e->pair->excused || w.deaths)
		return;
	if (e->aborted || other(e)->aborted)
		return;
	if (e->err || !e->eof)
		bad("connection %d, side %d: error %d though nothing was harmed", e->pair->no,
		    e->side, e->err);
	if (e->read != other(e)->want)
		bad("connection %d, side %d: %llu of %u bytes", e->pair->no, e->side, e->read,
		    other(e)->want);
}

/* A task that runs when nothing else is left to do */
static void check_all(void *arg, int n)
{
	int i, k;

	for (i = 0; i < n_pairs; i++)
		for (k = 0; k < 2; k++)
			if (pairs[i].end[k].pair)
				check_end(&pairs[i].end[k]);
	for (i = 0; i < HOSTS; i++)
		if (w.host[i].lgr->conns.n)
			bad("host %d: a group with %u connections", i, w.host[i].lgr->conns.n);
	if (*kernel_waits() && strcmp(kernel_waits(), " check(?)"))
		bad("left:%s", kernel_waits());
}

void apps_check(void)
{
	task_start("check", check_all, NULL, 0);
	kernel_run();
}
