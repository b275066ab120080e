// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inner TCP socket: its owner, its pending input, its end. Its callbacks are in
 * sock/sock_tcp.c.
 */
#include <linux/skmsg.h>
#include <net/tcp.h>
#include "conn/smcr_sock.h"

/* True if a BPF program uses sk_user_data, which otherwise points to the AF_SMC socket */
bool smcr_tcp_has_bpf(const struct sock *tsk)
{
	return (uintptr_t)rcu_access_pointer(__sk_user_data(tsk)) &
	       (SK_USER_DATA_PSOCK | SK_USER_DATA_BPF);
}

/*
 * Does sk_user_data still point to @ssk? It does until a BPF program uses it for the first
 * time. The caller has the callback lock.
 */
bool smcr_tcp_is_ours(const struct smcr_sock *ssk)
{
	return __locked_read_sk_user_data_with_flags(ssk->tcp->sk, 0) == ssk;
}

/**
 * smcr_tcp_taken() - does a BPF program use the TCP connection already?
 * @ssk: socket whose callbacks were set on its inner socket
 *
 * A sockops program can put a passive connection into a sockmap as soon as it is
 * established. Other programs then redirect its data, so the connection has to stay TCP.
 *
 * Context: any.
 */
bool smcr_tcp_taken(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;
	bool taken;

	read_lock_bh(&tsk->sk_callback_lock);
	taken = !smcr_tcp_is_ours(ssk);
	read_unlock_bh(&tsk->sk_callback_lock);
	return taken;
}

/**
 * smcr_tcp_peer() - address of the TCP peer
 * @tsk: connected inner socket
 * @addr: set to the peer's address, IPv4-mapped for IPv4
 */
void smcr_tcp_peer(const struct sock *tsk, struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (tsk->sk_family == AF_INET6) {
		*addr = tsk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(tsk)->inet_daddr, addr);
}

/**
 * smcr_tcp_owner() - AF_SMC socket of an inner socket
 * @tsk: inner socket or child of one, sk_callback_lock held for reading
 *
 * Return: AF_SMC socket; NULL: @tsk is a listener's child that is not accepted
 * yet, or was unhooked just now.
 */
struct smcr_sock *smcr_tcp_owner(const struct sock *tsk)
{
	struct socket *tcp;

	lockdep_assert_held(&tsk->sk_callback_lock);

	if (!smcr_tcp_has_bpf(tsk) &&
	    rcu_access_pointer(__sk_user_data(tsk)))
		return __locked_read_sk_user_data_with_flags(tsk, 0);
	/* a BPF program uses sk_user_data, or has used it: the inode has the owner, too */
	tcp = tsk->sk_socket;
	return tcp ? SOCK_INODE(tcp)->i_private : NULL;
}

/**
 * smcr_tcp_has_news() - is there something to receive?
 * @tsk: inner socket
 *
 * Return: true if there are data or an error, or if nothing will come any more.
 */
bool smcr_tcp_has_news(const struct sock *tsk)
{
	return !skb_queue_empty_lockless(&tsk->sk_receive_queue) ||
	       (READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN) ||
	       READ_ONCE(tsk->sk_err) || READ_ONCE(tsk->sk_state) == TCP_CLOSE;
}

/* Set inode and user. Callback lock held, or socket not yet published */
static void tcp_set_owner(struct socket *tcp, const struct inode *inode,
			  kuid_t uid, kgid_t gid)
{
	struct sock *tsk = tcp->sk;

	SOCK_INODE(tcp)->i_ino = inode ? inode->i_ino : 0;
	SOCK_INODE(tcp)->i_uid = uid;
	SOCK_INODE(tcp)->i_gid = gid;
	sk_set_socket(tsk, tcp);	/* some kernels copy i_ino to the sock */
	WRITE_ONCE(tsk->sk_uid, uid);
}

/**
 * smcr_tcp_own() - give the inner socket the file and user of the AF_SMC socket
 * @ssk: socket
 * @sock: its BSD socket
 *
 * Packet filters use the file, routing rules the user, diag interfaces the user
 * and the inode. Called in socket(), where there is no file yet, and again before
 * TCP can send something for the application for the first time.
 *
 * Context: process; @sock cannot be released meanwhile.
 */
void smcr_tcp_own(struct smcr_sock *ssk, struct socket *sock)
{
	const struct inode *inode = SOCK_INODE(sock);
	struct socket *tcp = ssk->tcp;

	write_lock_bh(&tcp->sk->sk_callback_lock);
	tcp_set_owner(tcp, inode, inode->i_uid, inode->i_gid);
	tcp->file = sock->file;
	write_unlock_bh(&tcp->sk->sk_callback_lock);
}

/**
 * smcr_tcp_own_child() - give a child the user of its listener
 * @child: child, not yet published
 * @lsk: its listener
 *
 * As on TCP, the child has neither file nor inode before accept().
 */
void smcr_tcp_own_child(struct smcr_sock *child, const struct smcr_sock *lsk)
{
	const struct inode *inode = SOCK_INODE(lsk->tcp);

	tcp_set_owner(child->tcp, NULL, inode->i_uid, inode->i_gid);
	child->sk.sk_uid = inode->i_uid;
	security_sk_clone(&lsk->sk, &child->sk);
}

/**
 * smcr_tcp_disown() - detach the inner socket from the application's file
 * @ssk: socket that is being closed, and whose inner socket stays
 *
 * The user stays, as with TCP's orphans.
 *
 * Context: process; takes the inner socket's lock, under which TCP itself uses
 * the file.
 */
void smcr_tcp_disown(struct smcr_sock *ssk)
{
	struct socket *tcp = ssk->tcp;
	struct sock *tsk = tcp->sk;

	lock_sock(tsk);
	write_lock_bh(&tsk->sk_callback_lock);
	tcp->file = NULL;
	tcp_set_owner(tcp, NULL, SOCK_INODE(tcp)->i_uid,
		      SOCK_INODE(tcp)->i_gid);
	write_unlock_bh(&tsk->sk_callback_lock);
	release_sock(tsk);
}

/**
 * smcr_tcp_fin() - orderly end of the TCP connection
 * @ssk: socket whose SMC-R connection has ended
 *
 * Context: process.
 */
void smcr_tcp_fin(struct smcr_sock *ssk)
{
	kernel_sock_shutdown(ssk->tcp, SHUT_RDWR);
}

/**
 * smcr_tcp_reset() - end the TCP connection with RST
 * @ssk: socket
 *
 * The inner socket keeps its addresses, for display and getsockname().
 *
 * Context: process.
 */
void smcr_tcp_reset(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;

	if (READ_ONCE(tsk->sk_state) != TCP_CLOSE)
		tcp_abort(tsk, ECONNRESET);
}
