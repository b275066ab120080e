// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of socket options for the inner socket and for a listener's children.
 * Core code stores many options without calling this module. They are copied
 * before TCP is used. Options that may change after that are copied in mode TCP
 * before each forwarded call.
 */
#include <linux/tcp.h>
#include <net/tcp.h>
#include "sock/sock_impl.h"

/**
 * struct smcr_value - a member of struct sock, or a flag, that is copied
 * @size: size of the member; 0: a flag
 * @own: a listener's child does not inherit it
 * @off: offset of the member
 * @flag: enum sock_flags, if @size is 0
 * @push: copies it to the inner socket; NULL if storing the value is enough
 *
 * Adding one: a row in that table below whose comment states when its rows are copied.
 * Children inherit the rows of all tables, except those with @own.
 */
struct smcr_value {
	u8 size;
	bool own;
	u16 off;
	u16 flag;
	void (*push)(struct smcr_sock *ssk);
};

/* Check that copy_member() can copy a member of this size */
#define COPY_SIZE(n_)							\
	((n_) + BUILD_BUG_ON_ZERO((n_) != 1 && (n_) != 2 && (n_) != 4 && (n_) != 8))

#define MEMBER(member_, ...) {						\
	.size = COPY_SIZE(sizeof_field(struct sock, member_)),		\
	.off = offsetof(struct sock, member_),				\
	__VA_ARGS__							\
}

#define FLAG(flag_, ...) { .flag = SOCK_##flag_, __VA_ARGS__ }

static void push_sndbuf(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;

	if (ssk->sk.sk_userlocks & SOCK_SNDBUF_LOCK) {
		tsk->sk_userlocks |= SOCK_SNDBUF_LOCK;
		WRITE_ONCE(tsk->sk_sndbuf, ssk->sk.sk_sndbuf);
	}
}

static void push_rcvbuf(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;

	if (ssk->sk.sk_userlocks & SOCK_RCVBUF_LOCK) {
		tsk->sk_userlocks |= SOCK_RCVBUF_LOCK;
		WRITE_ONCE(tsk->sk_rcvbuf, ssk->sk.sk_rcvbuf);
	}
}

/* TCP sets sk_bound_dev_if, too (link-local, VRF): push the application's changes only */
static void push_if(struct smcr_sock *ssk)
{
	int dev_if = ssk->sk.sk_bound_dev_if;

	if (ssk->pushed_if == dev_if)
		return;
	ssk->pushed_if = dev_if;
	WRITE_ONCE(ssk->tcp->sk->sk_bound_dev_if, dev_if);
	sk_dst_reset(ssk->tcp->sk);
}

/* TCP sets sk_mark, too (tcp_fwmark_accept): push the application's changes only */
static void push_mark(struct smcr_sock *ssk)
{
	u32 mark = ssk->sk.sk_mark;

	if (ssk->pushed_mark == mark)
		return;
	ssk->pushed_mark = mark;
	WRITE_ONCE(ssk->tcp->sk->sk_mark, mark);
	sk_dst_reset(ssk->tcp->sk);
}

/* IP_TOS sets TCP's priority, too: push SO_PRIORITY only if it is not 0 */
static void push_priority(struct smcr_sock *ssk)
{
	if (ssk->sk.sk_priority)
		WRITE_ONCE(ssk->tcp->sk->sk_priority, ssk->sk.sk_priority);
}

static void push_int(struct smcr_sock *ssk, int opt, int val)
{
	sock_setsockopt(ssk->tcp, SOL_SOCKET, opt, KERNEL_SOCKPTR(&val),
			sizeof(val));
}

/* Use sock_setsockopt(), as it also enables timestamps system-wide */
static void push_timestamps(struct smcr_sock *ssk)
{
	const struct sock *sk = &ssk->sk, *tsk = ssk->tcp->sk;
	bool fresh = sock_flag(sk, SOCK_TSTAMP_NEW);
	bool ns = sock_flag(sk, SOCK_RCVTSTAMPNS);
	bool on = sock_flag(sk, SOCK_RCVTSTAMP);

	if (on != sock_flag(tsk, SOCK_RCVTSTAMP) ||
	    ns != sock_flag(tsk, SOCK_RCVTSTAMPNS) ||
	    (on && fresh != sock_flag(tsk, SOCK_TSTAMP_NEW))) {
		if (ns)
			push_int(ssk, fresh ? SO_TIMESTAMPNS_NEW :
					      SO_TIMESTAMPNS_OLD, on);
		else
			push_int(ssk, fresh ? SO_TIMESTAMP_NEW :
					      SO_TIMESTAMP_OLD, on);
	}
	if (READ_ONCE(sk->sk_tsflags) != READ_ONCE(tsk->sk_tsflags)) {
		struct so_timestamping ts = {
			.flags = READ_ONCE(sk->sk_tsflags),
			.bind_phc = READ_ONCE(sk->sk_bind_phc),
		};

		sock_setsockopt(ssk->tcp, SOL_SOCKET, fresh ?
				SO_TIMESTAMPING_NEW : SO_TIMESTAMPING_OLD,
				KERNEL_SOCKPTR(&ts), sizeof(ts));
	}
}

static void push_pacing(struct smcr_sock *ssk)
{
	unsigned long rate = READ_ONCE(ssk->sk.sk_max_pacing_rate);
	struct sock *tsk = ssk->tcp->sk;

	if (rate == READ_ONCE(tsk->sk_max_pacing_rate))
		return;
	if (rate != ~0UL)
		cmpxchg(&tsk->sk_pacing_status, SK_PACING_NONE,
			SK_PACING_NEEDED);
	WRITE_ONCE(tsk->sk_max_pacing_rate, rate);
	WRITE_ONCE(tsk->sk_pacing_rate, min(READ_ONCE(tsk->sk_pacing_rate), rate));
}

static void push_cpu(struct smcr_sock *ssk)
{
	int cpu = READ_ONCE(ssk->sk.sk_incoming_cpu);

	if (cpu < 0 || cpu == READ_ONCE(ssk->pushed_cpu))
		return;
	WRITE_ONCE(ssk->pushed_cpu, cpu);
	WRITE_ONCE(ssk->tcp->sk->sk_incoming_cpu, cpu);
}

/* Copied to TCP in mode TCP, before each forwarded call */
static const struct smcr_value smcr_live[] = {
	MEMBER(sk_rcvtimeo),
	MEMBER(sk_sndtimeo),
	FLAG(URGINLINE),
};

/*
 * Copied to TCP before TCP is used, and in mode TCP before each forwarded call,
 * on kernels that store these options without calling this module.
 */
static const struct smcr_value smcr_silent[] = {
	MEMBER(sk_tsflags, .push = push_timestamps),
	MEMBER(sk_max_pacing_rate, .push = push_pacing),
	MEMBER(sk_incoming_cpu, .push = push_cpu, .own = true),
#ifdef CONFIG_NET_RX_BUSY_POLL
	MEMBER(sk_ll_usec),
	MEMBER(sk_prefer_busy_poll),
	MEMBER(sk_busy_poll_budget),
#endif
};

/* Copied to TCP before TCP is used, on the same kernels as smcr_silent */
static const struct smcr_value smcr_before[] = {
	MEMBER(sk_sndbuf, .push = push_sndbuf),
	MEMBER(sk_rcvbuf, .push = push_rcvbuf),
	MEMBER(sk_bound_dev_if, .push = push_if),
	MEMBER(sk_mark, .push = push_mark),
	MEMBER(sk_priority, .push = push_priority, .own = true),
	FLAG(URGINLINE),
	FLAG(LOCALROUTE),
	FLAG(BROADCAST),
	FLAG(DBG),
};

/*
 * Copied to a child only. Timestamps are copied as flags, not by push_timestamps(): the
 * child's inner socket keeps timestamps enabled system-wide.
 */
static const struct smcr_value smcr_child[] = {
	MEMBER(sk_rcvlowat),
	MEMBER(sk_lingertime),
	FLAG(RCVTSTAMP),
	FLAG(RCVTSTAMPNS),
	FLAG(TSTAMP_NEW),
	FLAG(LINGER),
	FLAG(KEEPOPEN),
};

/* Copy a member, without a lock; written only if it differs */
static void copy_member(struct sock *to, const struct sock *from,
			const struct smcr_value *v)
{
	const void *src = (const char *)from + v->off;
	void *dst = (char *)to + v->off;

#define COPY(type_) do {						\
	type_ value = READ_ONCE(*(const type_ *)src);			\
									\
	if (READ_ONCE(*(type_ *)dst) != value)				\
		WRITE_ONCE(*(type_ *)dst, value);			\
} while (0)
	switch (v->size) {
	case sizeof(u8):
		COPY(u8);
		break;
	case sizeof(u16):
		COPY(u16);
		break;
	case sizeof(u32):
		COPY(u32);
		break;
	case sizeof(u64):
		COPY(u64);
		break;
	}
#undef COPY
}

/* Copy a flag. For a change, takes the inner socket's lock, unless @locked. */
static void push_flag(struct sock *tsk, const struct sock *sk,
		      enum sock_flags flag, bool locked)
{
	if (likely(sock_flag(tsk, flag) == sock_flag(sk, flag)))
		return;
	if (!locked)
		lock_sock(tsk);
	sock_valbool_flag(tsk, flag, sock_flag(sk, flag));
	if (!locked)
		release_sock(tsk);
}

static void push_values(struct smcr_sock *ssk, const struct smcr_value *v,
			size_t n, bool locked)
{
	for (; n; n--, v++) {
		if (v->push)
			v->push(ssk);
		else if (v->size)
			copy_member(ssk->tcp->sk, &ssk->sk, v);
		else
			push_flag(ssk->tcp->sk, &ssk->sk, v->flag, locked);
	}
}

static void inherit_values(struct sock *sk, const struct sock *lsk,
			   const struct smcr_value *v, size_t n)
{
	for (; n; n--, v++) {
		if (v->own)
			continue;
		if (v->size)
			copy_member(sk, lsk, v);
		else
			sock_valbool_flag(sk, v->flag, sock_flag(lsk, v->flag));
	}
}

/**
 * smcr_sockopt_sync() - copy options to TCP before a forwarded call
 * @ssk: socket in mode TCP
 *
 * Context: process; may take the inner socket's lock.
 */
void smcr_sockopt_sync(struct smcr_sock *ssk)
{
	push_values(ssk, smcr_live, ARRAY_SIZE(smcr_live), false);
	if (SMCR_CUSTOM_SOCKOPT)
		return;
	smcr_filter_push(ssk);
	push_values(ssk, smcr_silent, ARRAY_SIZE(smcr_silent), false);
}

/**
 * smcr_sockopt_push() - copy options to the inner socket before TCP is used
 * @ssk: socket, socket lock held or not yet visible to other threads
 *
 * Called by bind(), connect(), listen() and at a fallback. Does nothing on
 * kernels whose core code passes SOL_SOCKET options to this module, as there
 * both sockets have the same values. Timeouts are copied in mode TCP only.
 *
 * Context: process; takes the inner socket's lock.
 */
void smcr_sockopt_push(struct smcr_sock *ssk)
{
	const struct sock *sk = &ssk->sk;
	struct sock *tsk = ssk->tcp->sk;

	if (SMCR_CUSTOM_SOCKOPT)
		return;
	lock_sock(tsk);
	push_values(ssk, smcr_before, ARRAY_SIZE(smcr_before), true);
	tsk->sk_reuse = sk->sk_reuse;
	tsk->sk_reuseport = sk->sk_reuseport;
	release_sock(tsk);
	smcr_filter_push(ssk);
	push_values(ssk, smcr_silent, ARRAY_SIZE(smcr_silent), false);
}

/**
 * smcr_sockopt_to_tcp() - copy all options to the inner socket at a fallback
 * @ssk: socket that enters mode TCP; socket lock held, or not yet visible to
 *	other threads
 *
 * Context: process; takes the inner socket's lock.
 */
void smcr_sockopt_to_tcp(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;
	struct sock *sk = &ssk->sk;

	smcr_sockopt_push(ssk);
	push_values(ssk, smcr_live, ARRAY_SIZE(smcr_live), false);
	if (sk->sk_rcvlowat != 1) {
		lock_sock(tsk);
		READ_ONCE(ssk->tcp->ops)->set_rcvlowat(tsk, sk->sk_rcvlowat);
		release_sock(tsk);
	}
	if (ssk->corked)
		tcp_sock_set_cork(tsk, true);
}

/**
 * smcr_sockopt_inherit() - options of a listener's child
 * @child: child, not yet visible to other threads
 * @from: its listener
 *
 * The inner socket has inherited its options from the inner listener.
 */
void smcr_sockopt_inherit(struct smcr_sock *child, const struct smcr_sock *from)
{
	const u8 locks = SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK;
	const struct sock *lsk = &from->sk;
	struct sock *sk = &child->sk;

	inherit_values(sk, lsk, smcr_live, ARRAY_SIZE(smcr_live));
	inherit_values(sk, lsk, smcr_silent, ARRAY_SIZE(smcr_silent));
	inherit_values(sk, lsk, smcr_before, ARRAY_SIZE(smcr_before));
	inherit_values(sk, lsk, smcr_child, ARRAY_SIZE(smcr_child));
	sk->sk_userlocks |= lsk->sk_userlocks & locks;
	sk->sk_reuse = lsk->sk_reuse;
	sk->sk_reuseport = lsk->sk_reuseport;
	smcr_filter_inherit(child, from);
	child->corked = from->corked;
	child->pushed_if = sk->sk_bound_dev_if;
	child->pushed_mark = sk->sk_mark;
}
