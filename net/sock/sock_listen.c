// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listeners and their children, from TCP's accept queue to accept(). A worker
 * (accept_work, queued by smcr_listener_kick()) takes children from TCP. Each
 * child runs a handshake of its own; when that is over, accept() returns it.
 *
 * A child is on hs_q, then on accept_q. The queue owns the child's first
 * reference, and the child owns one on its listener. The thread that takes the
 * child off the queue, under accept_lock, takes over both.
 */
#include <linux/sched/signal.h>
#include <net/tcp.h>
#include "base/memcg.h"
#include "base/race.h"
#include "base/trace.h"
#include "hs/hs.h"
#include "hs/route.h"
#include "hs/tcpopt.h"
#include "sock/sock_impl.h"

#define SMCR_DEFER_MAX	0x7fff		/* seconds */

/*
 * May a child be taken from TCP? The limit is that of TCP's queue. Children in
 * a handshake count, too (MISC-21), but for half of the backlog at most: the
 * other half is left for children that wait for accept().
 */
static bool listener_has_room(const struct smcr_sock *lsk)
{
	unsigned int max = READ_ONCE(lsk->sk.sk_max_ack_backlog);

	return READ_ONCE(lsk->n_accept_q) +
	       min(READ_ONCE(lsk->n_hs_q), max / 2) <= max;
}

/**
 * smcr_listener_busy() - do handshakes fill their half of the backlog?
 * @lsk: listener that got a SYN with the SMC-R option
 * @own: 1 if TCP counts the SYN's own request already, 0 if not
 *
 * If they do, the SYN is answered as plain TCP. All requests and children in
 * TCP's queues count, as each may begin a handshake when the worker takes it.
 *
 * Context: any up to softirq; no lock of the inner socket is needed.
 * Return: true if they do, which is counted (SMCR_CNT_LISTEN_HALF).
 */
bool smcr_listener_busy(const struct smcr_sock *lsk, unsigned int own)
{
	const struct sock *tsk = lsk->tcp->sk;
	unsigned int n = READ_ONCE(lsk->n_hs_q) +
			 READ_ONCE(tsk->sk_ack_backlog) +
			 inet_csk_reqsk_queue_len(tsk);

	if (n <= READ_ONCE(lsk->sk.sk_max_ack_backlog) / 2 + own)
		return false;
	smcr_count(lsk->sn, SMCR_CNT_LISTEN_HALF);
	return true;
}

static bool listener_tcp_pending(const struct smcr_sock *lsk)
{
	const struct inet_connection_sock *icsk = inet_csk(lsk->tcp->sk);

	return !reqsk_queue_empty(&icsk->icsk_accept_queue);
}

/**
 * smcr_listener_kick() - queue the work that takes children from TCP
 * @lsk: listener
 *
 * Context: any up to softirq.
 */
void smcr_listener_kick(struct smcr_sock *lsk)
{
	if (READ_ONCE(lsk->mode) != SMCR_MODE_LISTEN || !smcr_sock_get(lsk))
		return;
	if (!queue_work(smcr_sock_wq, &lsk->accept_work))
		sock_put(&lsk->sk);
}

static void listeners_kick_net(struct smcr_net *sn)
{
	struct smcr_id *node;
	unsigned int n = 0;
	u64 after = 0;

	spin_lock_bh(&sn->sk_lock);
	while ((node = smcr_ids_after(&sn->socks, after))) {
		after = node->id;
		smcr_listener_kick(container_of(node, struct smcr_sock,
						net_node));
		if (++n % 256)
			continue;
		spin_unlock_bh(&sn->sk_lock);
		cond_resched();
		spin_lock_bh(&sn->sk_lock);
	}
	spin_unlock_bh(&sn->sk_lock);
}

/**
 * smcr_listeners_kick() - let all listeners check whether to offer SMC-R
 *
 * Called when a device has arrived. A listener that found no device at its last
 * connections has withdrawn its offer. Without this call it would check again
 * only after the SYN of the next connection was answered without SMC-R (T-15).
 *
 * Context: process, sleeps. Not called by handlers of RDMA events, as the RDMA
 * core calls some of these with net_rwsem held.
 */
void smcr_listeners_kick(void)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		listeners_kick_net(smcr_net(net));
	up_read(&net_rwsem);
}

/* Reason not to offer SMC-R, or NONE. The device is chosen later (T-15). */
static enum smcr_reason listener_check(struct smcr_sock *lsk)
{
	if (!smcr_policy_allows(lsk->sn, inet_sk(lsk->tcp->sk)->inet_num))
		return SMCR_R_POLICY;
	if (test_bit(SMCR_SK_FASTOPEN, &lsk->flags))
		return SMCR_R_FASTOPEN;
	if (smcr_route_ipsec(lsk->tcp->sk))
		return SMCR_R_IPSEC;
	if (!smcr_dev_any(sock_net(&lsk->sk)))
		return SMCR_R_NO_DEVICE;
	return SMCR_R_NONE;
}

/*
 * Offer SMC-R, or withdraw the offer. Called for each batch of children and
 * each new device: the last device may have gone, and a knob may have changed.
 */
static void listener_offer(struct smcr_sock *lsk)
{
	enum smcr_reason why = listener_check(lsk);
	bool offer = why == SMCR_R_NONE;

	WRITE_ONCE(lsk->fallback_why, why);
	if (lsk->offered == offer)
		return;
	lsk->offered = offer;
	smcr_tcpopt_offer(lsk->tcp->sk, offer);
}

/* Take @child off its queue; the caller takes over the queue's reference, and @child's on @lsk */
static void child_unlink(struct smcr_sock *lsk, struct smcr_sock *child)
{
	lockdep_assert_held(&lsk->accept_lock);

	list_del_init(&child->accept_node);
	if (test_bit(SMCR_SK_READY, &child->flags))
		WRITE_ONCE(lsk->n_accept_q, lsk->n_accept_q - 1);
	else
		WRITE_ONCE(lsk->n_hs_q, lsk->n_hs_q - 1);
	WRITE_ONCE(child->listener, NULL);
}

static bool child_has_news(const struct smcr_sock *child)
{
	if (child->mode == SMCR_MODE_TCP)
		return smcr_tcp_has_news(child->tcp->sk);
	return smcr_conn_readable(&child->conn) ||
	       (child->sk.sk_shutdown & RCV_SHUTDOWN) || child->sk.sk_err;
}

/**
 * smcr_child_undefer() - TCP_DEFER_ACCEPT: end the wait of a child for data
 * @child: deferred child, see child_defer()
 *
 * hs_work queues the child for accept().
 *
 * Context: any up to softirq; the connection's lock may be held.
 */
void smcr_child_undefer(struct smcr_sock *child)
{
	if (!smcr_sock_get(child))
		return;
	if (!queue_work(smcr_srv_wq, &child->hs_work))
		sock_put(&child->sk);	/* was queued already, with its own reference */
}

/*
 * TCP_DEFER_ACCEPT: TCP takes the client's Proposal for the first data, so the
 * wait for the application's data begins here. Data, their end, an error or the
 * timer moves the child from hs_q to accept_q. Return: true if the child waits.
 */
static bool child_defer(const struct smcr_sock *lsk, struct smcr_sock *child)
{
	int secs = min(READ_ONCE(lsk->defer_accept), SMCR_DEFER_MAX);
	bool news;

	/* if there was no handshake, TCP has waited for data already */
	if (secs <= 0 || !child->hs)
		return false;
	sk_reset_timer(&child->sk, &child->hs_timer, jiffies + secs * HZ);
	/* mode SMC: receipt has this lock, too. It finds the flag, or we find the data */
	spin_lock_bh(&child->conn.lock);
	set_bit(SMCR_SK_DEFERRED, &child->flags);
	/*
	 * Mode TCP: the flag is set before data are checked, and TCP queues
	 * data before it calls back. So either the check finds the data, or
	 * smcr_child_end_wait() in the callback finds the flag.
	 */
	smp_mb__after_atomic();
	news = child_has_news(child);
	spin_unlock_bh(&child->conn.lock);
	if (news)
		smcr_child_undefer(child);
	return true;
}

static void child_to_queue(struct smcr_sock *child, bool may_defer)
{
	struct smcr_sock *lsk;

	rcu_read_lock();
	lsk = READ_ONCE(child->listener);
	if (!lsk)
		goto out;
	spin_lock_bh(&lsk->accept_lock);
	if (child->listener == lsk &&
	    !(may_defer && child_defer(lsk, child)) &&
	    !test_and_set_bit(SMCR_SK_READY, &child->flags)) {
		list_move_tail(&child->accept_node, &lsk->accept_q);
		WRITE_ONCE(lsk->n_hs_q, lsk->n_hs_q - 1);
		WRITE_ONCE(lsk->n_accept_q, lsk->n_accept_q + 1);
		lsk->sk.sk_data_ready(&lsk->sk);
	}
	spin_unlock_bh(&lsk->accept_lock);
out:
	rcu_read_unlock();
}

/**
 * smcr_child_ready() - queue a child for accept() when its handshake is over
 * @child: child in mode SMC or TCP
 *
 * Moves the child to accept_q, unless it is there already or the listener is
 * gone. With TCP_DEFER_ACCEPT, the child is moved when its wait for data has
 * ended. A second call has no effect.
 *
 * Context: process.
 */
void smcr_child_ready(struct smcr_sock *child)
{
	child_to_queue(child, true);
}

/* Reset a child that accept() has not returned; put the queue's reference */
static void child_drop(struct smcr_sock *child)
{
	smcr_sock_unlist(child);
	sock_orphan(&child->sk);
	switch (READ_ONCE(child->mode)) {
	case SMCR_MODE_SMC:
		smcr_conn_event(&child->conn, SMCR_CONN_EV_APP_ABORT,
				SMCR_R_LOCAL_ABORT);
		break;
	case SMCR_MODE_TCP:
		smcr_tcp_reset(child);
		break;
	default:
		break;
	}
	sock_put(&child->sk);
}

/**
 * smcr_child_failed() - drop a child whose handshake has failed
 * @child: child in mode DEAD; the caller holds a reference
 *
 * accept() does not report the failure. Idempotent.
 *
 * Context: process.
 */
void smcr_child_failed(struct smcr_sock *child)
{
	struct smcr_sock *lsk;
	bool queued = false;

	rcu_read_lock();
	lsk = READ_ONCE(child->listener);
	if (lsk) {
		spin_lock_bh(&lsk->accept_lock);
		queued = child->listener == lsk;
		if (queued)
			child_unlink(lsk, child);
		spin_unlock_bh(&lsk->accept_lock);
	}
	rcu_read_unlock();
	if (!queued)
		return;
	child_drop(child);
	smcr_listener_kick(lsk);
	sock_put(&lsk->sk);
}

/**
 * smcr_child_defer_end() - queue a deferred child for accept()
 * @child: socket; does nothing unless it is a deferred child
 *
 * Context: any up to softirq: hs_timer, or hs_work after smcr_child_undefer().
 */
void smcr_child_defer_end(struct smcr_sock *child)
{
	if (!test_and_clear_bit(SMCR_SK_DEFERRED, &child->flags))
		return;
	sk_stop_timer(&child->sk, &child->hs_timer);
	child_to_queue(child, false);
}

static void child_enqueue(struct smcr_sock *lsk, struct smcr_sock *child)
{
	spin_lock_bh(&lsk->accept_lock);
	list_add_tail(&child->accept_node, &lsk->hs_q);
	WRITE_ONCE(lsk->n_hs_q, lsk->n_hs_q + 1);
	spin_unlock_bh(&lsk->accept_lock);
}

/*
 * Both sides offered SMC-R: begin a handshake, which waits for the Proposal. The child is first
 * queued, as the end of the handshake takes it off hs_q. Then it is hooked: smcr_tcp_taken()
 * returns true for an inner socket without our callbacks, as for one in a sockmap.
 */
static void child_begin_hs(struct smcr_sock *lsk, struct smcr_sock *child)
{
	lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
	child_enqueue(lsk, child);
	smcr_sock_set_mode(child, SMCR_MODE_HANDSHAKE);
	smcr_tcp_hook(child, lsk);
	smcr_hs_begin(child);
	smcr_race(lsk->sn->net, "child-begin");
	smcr_tcp_check(child);	/* the Proposal may have come before the hook */
	release_sock(&child->sk);	/* now it may be closed, with its inner socket */
	smcr_race(lsk->sn->net, "child-begun");
}

static void child_plain(struct smcr_sock *lsk, struct smcr_sock *child)
{
	enum smcr_reason why = READ_ONCE(lsk->fallback_why);

	if (why == SMCR_R_NONE)
		why = SMCR_R_PEER_NO_SMC;
	child_enqueue(lsk, child);
	smcr_tcp_hook(child, lsk);
	smcr_fallback(child, why);
}

/* Create a child. The queue owns the first reference, this function a second one */
static void child_new(struct smcr_sock *lsk, struct socket *tcp)
{
	bool agreed = smcr_tcpopt_agreed(tcp->sk);
	struct smcr_sock *child;

	child = smcr_sock_alloc(sock_net(&lsk->sk), NULL, tcp,
				lsk->sk.sk_prot_creator, lsk->sk.sk_protocol,
				!lsk->sk.sk_net_refcnt);
	if (!child || (agreed && smcr_hs_new(child))) {
		smcr_report_reason(lsk->sn, SMCR_R_NO_MEMORY, 0, 0);
		sock_no_linger(tcp->sk);
		if (child) {
			smcr_sock_unlist(child);
			sock_put(&child->sk);	/* releases tcp, too */
		} else {
			sock_release(tcp);
		}
		return;
	}
	INIT_WORK(&child->accept_work, smcr_accept_work);
	sock_hold(&child->sk);
	sock_hold(&lsk->sk);
	child->listener = lsk;
	smcr_tcp_own_child(child, lsk);
	smcr_sk_cgroup_inherit(&child->sk, &lsk->sk);
	smcr_sockopt_inherit(child, lsk);
	if (agreed)
		child_begin_hs(lsk, child);
	else
		child_plain(lsk, child);
	sock_put(&child->sk);
}

/*
 * accept_work takes the inner socket's lock only under the listener's socket
 * lock. A thread that may keep the inner socket's lock during a page fault has
 * the socket lock as well (tcp_alone()). The work does not wait for the page
 * fault, as it only tries the socket lock: if that is taken, the work is queued
 * again when it is released. Return: false if the socket lock is taken.
 */
static bool listener_trylock(struct smcr_sock *lsk)
{
	return smcr_sock_trylock(lsk, SMCR_SK_ACCEPT_WORK);
}

/* Take one child from TCP's queue. Return: false if the work has to end. */
static bool accept_one(struct smcr_sock *lsk)
{
	struct socket *tcp;
	int rc;

	if (!listener_has_room(lsk)) {
		if (listener_tcp_pending(lsk))
			smcr_count(lsk->sn, SMCR_CNT_BACKLOG_FULL);
		return false;
	}
	if (!listener_trylock(lsk))
		return false;
	rc = kernel_accept(lsk->tcp, &tcp, O_NONBLOCK);
	release_sock(&lsk->sk);
	switch (rc) {
	case 0:
		child_new(lsk, tcp);
		return true;
	case -ECONNABORTED:
		return true;
	case -EAGAIN:
	case -EINVAL:
		return false;
	default:	/* no memory: the child stays in TCP's queue; retry */
		schedule_timeout_uninterruptible(HZ / 10);
		smcr_listener_kick(lsk);
		return false;
	}
}

/**
 * smcr_accept_work() - take children from TCP
 * @work: accept_work of a listener; holds a reference
 *
 * Uses the inner socket in mode LISTEN only. smcr_listener_stop() changes the
 * mode, and then waits for this work, with the listener's socket lock held.
 */
void smcr_accept_work(struct work_struct *work)
{
	struct smcr_sock *lsk = container_of(work, struct smcr_sock,
					     accept_work);
	struct mem_cgroup *old;

	/* a kick during smcr_listener_stop() may have queued the work again */
	if (READ_ONCE(lsk->mode) != SMCR_MODE_LISTEN ||
	    !listener_trylock(lsk))
		goto out;
	listener_offer(lsk);
	release_sock(&lsk->sk);
	/* children are charged to the listener's memory cgroup (SEC-14) */
	old = set_active_memcg(smcr_sk_memcg(&lsk->sk));
	while (READ_ONCE(lsk->mode) == SMCR_MODE_LISTEN &&
	       accept_one(lsk))
		cond_resched();
	set_active_memcg(old);
out:
	sock_put(&lsk->sk);
}

/* Stop the handshake of a child that was just taken off its queue */
static void child_abort(struct smcr_sock *child)
{
	lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
	smcr_hs_stop(child);
	release_sock(&child->sk);
	sk_stop_timer(&child->sk, &child->hs_timer);	/* it was deferred */
}

/*
 * Take the first child off a queue. The caller takes over the queue's
 * reference. NULL if the queue is empty.
 */
static struct smcr_sock *listener_pop(struct smcr_sock *lsk,
				      struct list_head *queue)
{
	struct smcr_sock *child;

	spin_lock_bh(&lsk->accept_lock);
	child = list_first_entry_or_null(queue, struct smcr_sock, accept_node);
	if (child)
		child_unlink(lsk, child);
	spin_unlock_bh(&lsk->accept_lock);
	if (child)
		sock_put(&lsk->sk);
	return child;
}

#define SMCR_DRAIN_TRIES	100

/*
 * Children in TCP's queue have inherited our callbacks. With SO_REUSEPORT, TCP
 * may move them to another listener when the inner one is closed, and there
 * they must not have these callbacks. After smcr_tcp_unhook() new children
 * inherit TCP's own callbacks. Children that are in the queue are reset here.
 */
static void listener_drain(struct smcr_sock *lsk)
{
	struct sock *tsk = lsk->tcp->sk;
	struct socket *tcp;
	int rc, tries = 0;
	u32 n;

	smcr_tcp_unhook(lsk);
	/* wait for a softirq that is copying our callbacks to a child */
	if (rcu_access_pointer(tsk->sk_reuseport_cb))
		synchronize_rcu();
	n = READ_ONCE(tsk->sk_ack_backlog);
	while (n) {
		rc = kernel_accept(lsk->tcp, &tcp, O_NONBLOCK);
		if (!rc) {
			sock_no_linger(tcp->sk);
			sock_release(tcp);
			n--;
			continue;
		}
		if (rc == -EAGAIN || rc == -EINVAL)	/* no more */
			break;
		if (++tries == SMCR_DRAIN_TRIES)
			break;
		schedule_timeout_uninterruptible(1);	/* no memory: retry */
	}
}

/**
 * smcr_listener_stop() - end a listener and abort all its children
 * @lsk: listener, socket lock held
 *
 * The mode is INIT afterwards; the inner socket is not hooked any more and
 * listens until the caller closes or disconnects it. Waits for accept_work, but
 * not for handshakes: if a worker runs a handshake, it ends at its next step.
 *
 * Context: process, sleeps.
 */
void smcr_listener_stop(struct smcr_sock *lsk)
{
	struct smcr_sock *child;

	sock_owned_by_me(&lsk->sk);

	smcr_sock_set_mode(lsk, SMCR_MODE_INIT);
	/* no deadlock: the work only tries this lock; that of its child is nested */
	if (cancel_work_sync(&lsk->accept_work))
		sock_put(&lsk->sk);
	listener_drain(lsk);
	while ((child = listener_pop(lsk, &lsk->hs_q))) {
		child_abort(child);
		child_drop(child);
	}
	while ((child = listener_pop(lsk, &lsk->accept_q)))
		child_drop(child);
}

/**
 * smcr_listener_undo() - shutdown() or connect(AF_UNSPEC) of a listener
 * @sock: listener, socket lock held
 *
 * Afterwards the socket is unconnected, as if it had never listened.
 */
void smcr_listener_undo(struct socket *sock)
{
	struct smcr_sock *lsk = smcr_sk(sock->sk);

	sock_owned_by_me(sock->sk);

	smcr_listener_stop(lsk);
	if (smcr_sock_reset(lsk))
		sock->state = SS_UNCONNECTED;
	smcr_tcp_hook(lsk, NULL);
}

/**
 * smcr_listen() - proto_ops.listen
 * @sock: socket
 * @backlog: limit of the accept queue, at most net.core.somaxconn
 *
 * Return: as inet_listen().
 */
int smcr_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	struct smcr_sock *ssk = smcr_sk(sk);
	enum smcr_mode old;
	int rc = -EINVAL;

	lock_sock(sk);
	old = ssk->mode;
	if (sock->state != SS_UNCONNECTED ||
	    (old != SMCR_MODE_INIT && old != SMCR_MODE_LISTEN))
		goto out;
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	if (old == SMCR_MODE_INIT) {
		smcr_tcp_own(ssk, sock);
		smcr_sockopt_push(ssk);
		/* before the first SYN can come in */
		smcr_tcpopt_listen(ssk->tcp->sk);
		listener_offer(ssk);
		smcr_sock_set_mode(ssk, SMCR_MODE_LISTEN);
	}
	rc = READ_ONCE(ssk->tcp->ops)->listen(ssk->tcp, backlog);
	if (rc && old == SMCR_MODE_INIT) {
		smcr_sock_set_mode(ssk, old);
		/* smcr_listeners_kick() may have queued accept_work */
		if (cancel_work_sync(&ssk->accept_work))
			sock_put(sk);
		smcr_tcpopt_offer(ssk->tcp->sk, false);
		ssk->offered = false;
	}
	smcr_listener_kick(ssk);	/* a larger backlog has more room */
out:
	release_sock(sk);
	return rc;
}

/* Take a ready child; the caller owns its reference. NULL: there is none. */
static struct smcr_sock *accept_dequeue(struct smcr_sock *lsk)
{
	struct smcr_sock *child = NULL;

	if (!list_empty(&lsk->accept_q))
		child = listener_pop(lsk, &lsk->accept_q);
	if (child && listener_tcp_pending(lsk))
		smcr_listener_kick(lsk);
	return child;
}

static bool is_listening(const struct smcr_sock *lsk)
{
	return READ_ONCE(lsk->mode) == SMCR_MODE_LISTEN &&
	       READ_ONCE(lsk->tcp->sk->sk_state) == TCP_LISTEN;
}

/* As in inet_csk_wait_for_connect(), one sleeper is woken for each child */
static struct smcr_sock *accept_wait(struct smcr_sock *lsk, long timeo,
				     int *err)
{
	struct smcr_sock *child = NULL;
	struct sock *sk = &lsk->sk;
	DEFINE_WAIT(wait);

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait,
					  TASK_INTERRUPTIBLE);
		if (list_empty(&lsk->accept_q) &&
		    is_listening(lsk))
			timeo = schedule_timeout(timeo);
		__set_current_state(TASK_RUNNING);
		child = accept_dequeue(lsk);
		if (child)
			break;
		*err = -EINVAL;
		if (!is_listening(lsk))
			break;
		*err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		*err = -EAGAIN;
		if (!timeo)
			break;
	}
	finish_wait(sk_sleep(sk), &wait);
	return child;
}

/**
 * smcr_do_accept() - proto_ops.accept
 * @sock: listener
 * @newsock: BSD socket for the child
 * @flags: O_NONBLOCK
 * @kern: unused: the child is a kernel socket if its listener is
 *
 * Return: as inet_accept().
 */
int smcr_do_accept(struct socket *sock, struct socket *newsock, int flags,
		   bool kern)
{
	struct smcr_sock *lsk = smcr_sk(sock->sk);
	struct smcr_sock *child;
	int err = -EAGAIN;
	long timeo;

	if (!is_listening(lsk))
		return -EINVAL;
	child = accept_dequeue(lsk);
	timeo = sock_rcvtimeo(sock->sk, flags & O_NONBLOCK);
	if (!child && timeo)
		child = accept_wait(lsk, timeo, &err);
	if (!child)
		return err;

	lock_sock(&child->sk);
	sock_graft(&child->sk, newsock);
	smcr_tcp_own(child, newsock);
	release_sock(&child->sk);
	smcr_compat_custom_sockopt(newsock);
	newsock->ops = sock->ops;
	newsock->state = SS_CONNECTED;
	return 0;
}
