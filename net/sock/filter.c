// SPDX-License-Identifier: GPL-2.0-only
/*
 * Socket filters. They run on packets, so the inner socket needs them. To
 * attach a filter, core code locks the socket and then reads the program from
 * user space, where a page fault may take long. Workers wait for the lock of an
 * inner socket, but not for that of an own (AF_SMC) socket (sockopt_tcp.c). So
 * a filter is first attached to the own socket. Then this file attaches it to
 * the inner socket. SO_LOCK_FILTER of the own socket decides whether the filter
 * may be changed.
 */
#include <linux/filter.h>
#include <net/sock_reuseport.h>
#include "sock/sock_impl.h"

/**
 * smcr_filter_reuseport() - SO_ATTACH_REUSEPORT_CBPF
 * @ssk: socket
 * @val: value; points to instructions, which are copied before TCP's lock is
 *	taken (sockopt_tcp.c)
 * @len: its length
 *
 * Return: 0 or a negative errno.
 */
int smcr_filter_reuseport(struct smcr_sock *ssk, sockptr_t val, unsigned int len)
{
	struct sock *tsk = ssk->tcp->sk;
	struct sock_fprog fprog;
	struct bpf_prog *prog;
	int rc;

	rc = copy_bpf_fprog_from_user(&fprog, val, len) ?:
	     bpf_prog_create_from_user(&prog, &fprog, NULL, false);
	if (rc)
		return rc;
	lock_sock(tsk);
	rc = sock_flag(tsk, SOCK_FILTER_LOCKED) ? -EPERM :
						  reuseport_attach_prog(tsk, prog);
	release_sock(tsk);
	if (rc)
		bpf_prog_destroy(prog);
	return rc;
}

/* Take a reference on @sk's filter. NULL if it has none, or just lost it. */
static struct sk_filter *filter_get(const struct sock *sk)
{
	struct sk_filter *fp;

	rcu_read_lock();
	fp = rcu_dereference(sk->sk_filter);
	if (fp && !refcount_inc_not_zero(&fp->refcnt))
		fp = NULL;
	rcu_read_unlock();
	return fp;
}

/* Attach @fp, or NULL, to @sk, which has no filter. Takes over the reference on @fp. */
static void filter_put_on(struct sock *sk, struct sk_filter *fp)
{
	if (fp)			/* sk_detach_filter() uncharges this */
		atomic_add(bpf_prog_size(fp->prog->len), &sk->sk_omem_alloc);
	rcu_assign_pointer(sk->sk_filter, fp);
}

/**
 * smcr_filter_push() - attach the own socket's filter to the inner socket
 * @ssk: socket
 *
 * After the own socket got its filter, and before this call, another thread may
 * have set SO_LOCK_FILTER of both sockets. The filter is older than this lock,
 * and so not forbidden. As sk_detach_filter() does nothing while the inner
 * socket's flag is set, the flag is cleared first.
 *
 * Context: process; may take the inner socket's lock.
 */
void smcr_filter_push(struct smcr_sock *ssk)
{
	const struct sock *sk = &ssk->sk;
	struct sock *tsk = ssk->tcp->sk;
	struct sk_filter *fp;

	if (rcu_access_pointer(sk->sk_filter) == READ_ONCE(ssk->pushed_filter) &&
	    sock_flag(sk, SOCK_FILTER_LOCKED) <=
	    sock_flag(tsk, SOCK_FILTER_LOCKED))
		return;
	lock_sock(tsk);
	fp = filter_get(sk);
	sock_reset_flag(tsk, SOCK_FILTER_LOCKED);
	sk_detach_filter(tsk);
	filter_put_on(tsk, fp);
	WRITE_ONCE(ssk->pushed_filter, fp);
	sock_valbool_flag(tsk, SOCK_FILTER_LOCKED,
			  sock_flag(sk, SOCK_FILTER_LOCKED));
	release_sock(tsk);
}

/**
 * smcr_filter_set() - SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_DETACH_FILTER
 * @sock: socket
 * @opt: one of these
 * @val: value
 * @len: its length
 *
 * Return: 0 or a negative errno.
 */
int smcr_filter_set(struct socket *sock, int opt, sockptr_t val,
		    unsigned int len)
{
	int rc = sock_setsockopt(sock, SOL_SOCKET, opt, val, len);

	if (!rc)
		smcr_filter_push(smcr_sk(sock->sk));
	return rc;
}

/**
 * smcr_filter_inherit() - give a child the filter of its inner socket
 * @child: child, not yet visible to other threads
 * @from: its listener
 *
 * The inner socket has inherited the filter from the inner listener.
 */
void smcr_filter_inherit(struct smcr_sock *child, const struct smcr_sock *from)
{
	struct sock *tsk = child->tcp->sk;
	struct sk_filter *fp = filter_get(tsk);

	filter_put_on(&child->sk, fp);
	child->pushed_filter = fp;
	sock_valbool_flag(&child->sk, SOCK_FILTER_LOCKED,
			  sock_flag(&from->sk, SOCK_FILTER_LOCKED) ||
			  sock_flag(tsk, SOCK_FILTER_LOCKED));
}
