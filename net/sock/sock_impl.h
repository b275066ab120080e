/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the socket family, for its own files and for net/main.c and
 * net/wire.c.
 *
 * In the comments of these files the own socket is the AF_SMC socket, as
 * opposed to its inner TCP socket. Modes are those of SMCR_MODES in
 * base/states.h; mode TCP is fallback.
 */
#ifndef _SMCR_SOCK_FAMILY_H
#define _SMCR_SOCK_FAMILY_H

#include <linux/net.h>
#include "conn/smcr_sock.h"

/* sock_tcp.c */
void smcr_tcp_hook(struct smcr_sock *ssk, const struct smcr_sock *from);
void smcr_tcp_unhook(struct smcr_sock *ssk);
void smcr_tcp_err_enter(struct smcr_sock *ssk);
void smcr_tcp_err_leave(struct smcr_sock *ssk);
void smcr_tcp_check(struct smcr_sock *ssk);
void smcr_tcp_begin(struct smcr_sock *ssk);

/* sock_life.c */
void smcr_sock_put(struct smcr_sock *ssk);
struct smcr_sock *smcr_sock_alloc(struct net *net, struct socket *sock,
				  struct socket *tcp, struct proto *prot,
				  int protocol, int kern);

/* sock_hs.c */
long smcr_hs_wait(struct smcr_sock *ssk, long timeo);
int smcr_hs_abort(struct smcr_sock *ssk);
void smcr_sock_to_init(struct smcr_sock *ssk);
bool smcr_sock_reset(struct smcr_sock *ssk);
void smcr_tcp_state_sync(struct socket *sock);

/* sockopt.c */
int smcr_setsockopt(struct socket *sock, int level, int opt, sockptr_t val,
		    unsigned int len);
int smcr_getsockopt(struct socket *sock, int level, int opt, char __user *val,
		    int __user *len);
int smcr_set_rcvlowat(struct sock *sk, int val);
void smcr_keepalive(struct sock *sk, int on);

/* sockopt_copy.c */
void smcr_sockopt_push(struct smcr_sock *ssk);
void smcr_sockopt_sync(struct smcr_sock *ssk);
void smcr_sockopt_inherit(struct smcr_sock *child, const struct smcr_sock *from);
void smcr_sockopt_to_tcp(struct smcr_sock *ssk);

/* sockopt_tcp.c */
int smcr_tcp_setsockopt(struct smcr_sock *ssk, int level, int opt,
			sockptr_t val, unsigned int len);
int smcr_tcp_getsockopt(struct smcr_sock *ssk, int level, int opt,
			char __user *val, int __user *len);

/* filter.c */
int smcr_filter_reuseport(struct smcr_sock *ssk, sockptr_t val, unsigned int len);
int smcr_filter_set(struct socket *sock, int opt, sockptr_t val,
		    unsigned int len);
void smcr_filter_push(struct smcr_sock *ssk);
void smcr_filter_inherit(struct smcr_sock *child, const struct smcr_sock *from);

/* sock_listen.c */
void smcr_accept_work(struct work_struct *work);
void smcr_child_defer_end(struct smcr_sock *child);
int smcr_listen(struct socket *sock, int backlog);
int smcr_do_accept(struct socket *sock, struct socket *newsock, int flags, bool kern);
void smcr_listener_kick(struct smcr_sock *lsk);
void smcr_listeners_kick(void);
bool smcr_listener_busy(const struct smcr_sock *lsk, unsigned int own);
void smcr_child_ready(struct smcr_sock *child);
void smcr_child_failed(struct smcr_sock *child);
void smcr_child_undefer(struct smcr_sock *child);
void smcr_listener_stop(struct smcr_sock *lsk);
void smcr_listener_undo(struct socket *sock);

/* sock_connect.c */
int smcr_connect(struct socket *sock, SMCR_SOCKADDR *addr, int alen, int flags);

/* sock_io.c */
int smcr_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
void smcr_splice_eof(struct socket *sock);
int smcr_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
__poll_t smcr_poll(struct file *file, struct socket *sock, poll_table *wait);
int smcr_shutdown(struct socket *sock, int how);
int smcr_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
int smcr_getname(struct socket *sock, struct sockaddr *addr, int peer);

/* af_smcr.c */
int smcr_af_init(void);
void smcr_af_exit(void);

#endif /* _SMCR_SOCK_FAMILY_H */
