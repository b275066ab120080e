/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small kernel in user space, put in front of the real files of the shell with
 * -include; the kernel's own headers are empty files beside it. Only what these files
 * use is here. Time is virtual, every thread, work, timer and softirq is a task of
 * kernel.c, and each point() is a place where another task may run.
 */
#ifndef _SMCR_UNIT_KERNEL_H
#define _SMCR_UNIT_KERNEL_H

#include "shim/env.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Types and words of the compiler */
typedef u16 __be16;
typedef u32 __be32;
typedef unsigned int __poll_t;
typedef int gfp_t;
typedef struct { unsigned int val; } kuid_t;
typedef struct { unsigned int val; } kgid_t;
typedef long long ssize64;

#define U16_MAX		((u16)~0U)
#define U32_MAX		((u32)~0U)
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define __uninitialized
#define __rcu
#define __user
#define __percpu
#define __ro_after_init
#define ____cacheline_aligned_in_smp
#define fallthrough	__attribute__((__fallthrough__))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define sizeof_field(t, f)	sizeof(((t *)0)->f)
#define struct_size(p, m, n)	(sizeof(*(p)) + (n) * sizeof((p)->m[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define min3(a, b, c) ({						\
	size_t a_ = (a), b_ = (b), c_ = (c), ab_ = a_ < b_ ? a_ : b_;	\
	ab_ < c_ ? ab_ : c_;						\
})
#define DECLARE_BITMAP(name, bits) \
	unsigned long name[DIV_ROUND_UP(bits, 8 * sizeof(long))]
#define PAGE_SIZE	4096UL
#define PAGE_ALIGN(x)	(((x) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))
#define _RET_IP_	0

/* bad() reports a failure and ends the run, say() prints what happens */
void bad(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
extern bool talk;
extern unsigned int point_left;
/* Its arguments have no points: a run is the same with and without V=1 */
#define tell(...) do {							\
	unsigned int left_ = point_left;				\
									\
	if (unlikely(talk)) {						\
		point_left = UINT_MAX;					\
		say(__VA_ARGS__);					\
		point_left = left_;					\
	}								\
} while (0)

#define WARN_ON_ONCE(c) ({						\
	bool c_ = (c);							\
	if (c_)								\
		bad("warning in %s: %s", __func__, #c);			\
	c_;								\
})
/* without the arguments: formats of printk() are not those of printf() */
#define net_info_ratelimited(fmt, ...)	tell("%s", fmt)
#define net_dbg_ratelimited(fmt, ...)	tell("%s", fmt)
#define net_warn_ratelimited(fmt, ...)	tell("%s", fmt)

/* Tasks and the points between them */
struct task;
extern struct task *current_task;
extern unsigned int point_left;
void point_now(void);

static inline void point(void)
{
	if (unlikely(!--point_left))
		point_now();
}

void might_sleep(void);
#define cond_resched()		point()
#define local_bh_disable()	((void)0)
#define local_bh_enable()	((void)0)

/* Memory order: tasks are sequentially consistent, and switch at points */
#define struct_group(NAME, MEMBERS...) \
	union { struct { MEMBERS }; struct { MEMBERS } NAME; }
#define READ_ONCE(x)	({ point(); *(const volatile __typeof__(x) *)&(x); })
#define data_race(x)	(x)
#define WRITE_ONCE(x, v) do {						\
	point();							\
	*(volatile __typeof__(x) *)&(x) = (v);				\
	point();							\
} while (0)
#define smp_mb()		point()
#define smp_rmb()		point()
#define smp_wmb()		point()
#define smp_mb__after_atomic()	point()
#define smp_mb__before_atomic()	point()
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define xchg(p, v) ({							\
	__typeof__(*(p)) x_;						\
									\
	point();							\
	x_ = *(p);							\
	*(p) = (v);							\
	x_;								\
})

typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t;
typedef struct { int counter; } refcount_t;

#define ATOMIC_OP(name, expr)						\
static inline int name(int i, atomic_t *v)				\
{									\
	point();							\
	return expr;							\
}
ATOMIC_OP(atomic_add_return, v->counter += i)
#undef ATOMIC_OP
#define atomic_read(v)			READ_ONCE((v)->counter)
#define atomic_set(v, i)		((v)->counter = (i))
#define atomic_add(i, v)		((void)atomic_add_return(i, v))
#define atomic_inc(v)			((void)atomic_add_return(1, v))
#define atomic_dec(v)			((void)atomic_add_return(-1, v))
#define atomic_inc_return(v)		atomic_add_return(1, v)
#define atomic_dec_and_test(v)		(!atomic_add_return(-1, v))

static inline void refcount_set(refcount_t *r, int n)
{
	r->counter = n;
}

static inline int refcount_read(const refcount_t *r)
{
	return r->counter;
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	point();
	if (r->counter)
		r->counter++;
	return r->counter;
}

static inline void refcount_inc(refcount_t *r)
{
	if (!refcount_inc_not_zero(r))
		bad("a reference on what is gone");
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	point();
	if (r->counter <= 0)
		bad("one reference put too many");
	return !--r->counter;
}

#define BITS_PER_LONG	(8 * sizeof(long))

static inline bool test_bit(unsigned int n, const unsigned long *p)
{
	point();
	return p[n / BITS_PER_LONG] >> n % BITS_PER_LONG & 1;
}

static inline bool test_and_set_bit(unsigned int n, unsigned long *p)
{
	bool was = test_bit(n, p);

	p[n / BITS_PER_LONG] |= 1UL << n % BITS_PER_LONG;
	return was;
}

static inline bool test_and_clear_bit(unsigned int n, unsigned long *p)
{
	bool was = test_bit(n, p);

	p[n / BITS_PER_LONG] &= ~(1UL << n % BITS_PER_LONG);
	return was;
}

static inline unsigned int find_first_zero_bit(const unsigned long *p, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!(p[i / BITS_PER_LONG] >> i % BITS_PER_LONG & 1))
			break;
	return i;
}

#define bitmap_full(p, n)	(find_first_zero_bit(p, n) == (n))
#define __set_bit(n, p)		set_bit(n, p)
#define __clear_bit(n, p)	clear_bit(n, p)
#define hash_32(v, bits)	((u32)(v) * 0x61C88647U >> (32 - (bits)))
#define set_bit(n, p)	((void)test_and_set_bit(n, p))
#define clear_bit(n, p)	((void)test_and_clear_bit(n, p))

/* Time */
#define HZ	1000
extern unsigned long jiffies;
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define msecs_to_jiffies(ms)	((unsigned long)(ms))
void usleep_range(unsigned long lo, unsigned long hi);

/* Errors in pointers */
#define MAX_ERRNO	4095
#define ERR_PTR(e)	((void *)(long)(e))
#define PTR_ERR(p)	((long)(p))
#define IS_ERR(p)	((unsigned long)(p) >= (unsigned long)-MAX_ERRNO)
#define IS_ERR_OR_NULL(p) (!(p) || IS_ERR(p))
#define ERR_CAST(p)	((void *)(p))
#define PTR_ERR_OR_ZERO(p) (IS_ERR(p) ? PTR_ERR(p) : 0)

/* Memory: all blocks are listed, so that a leak is found after the run */
enum { GFP_KERNEL, GFP_ATOMIC };
void *kmem(size_t size, const char *who);
void kfree(const void *p);
#define kzalloc(n, gfp)		kmem(n, __func__)
#define kcalloc(n, s, gfp)	kmem((size_t)(n) * (s), __func__)
#define kvcalloc(n, s, gfp)	kmem((size_t)(n) * (s), __func__)
#define kvfree(p)		kfree(p)

/* Lists */
struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define INIT_LIST_HEAD(l)	((l)->next = (l)->prev = (l))
#define list_empty(l)		(READ_ONCE((l)->next) == (l))
#define list_entry(p, t, m)	container_of(p, t, m)
#define list_first_entry(h, t, m) list_entry((h)->next, t, m)
#define list_first_entry_or_null(l, t, m) \
	(list_empty(l) ? NULL : list_entry((l)->next, t, m))
#define list_for_each_entry(pos, l, m)					\
	for (pos = list_entry((l)->next, __typeof__(*pos), m);		\
	     &pos->m != (l); pos = list_entry(pos->m.next, __typeof__(*pos), m))

#define list_for_each_entry_continue(pos, l, m)				\
	for (pos = list_entry(pos->m.next, __typeof__(*pos), m);	\
	     &pos->m != (l); pos = list_entry(pos->m.next, __typeof__(*pos), m))

static inline void list_add(struct list_head *n, struct list_head *at)
{
	n->next = at->next;
	n->prev = at;
	at->next->prev = n;
	at->next = n;
}

static inline void list_add_tail(struct list_head *n, struct list_head *at)
{
	list_add(n, at->prev);
}

static inline void list_del_init(struct list_head *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	INIT_LIST_HEAD(n);
}

static inline void list_del(struct list_head *n)
{
	list_del_init(n);
}

static inline void list_move(struct list_head *n, struct list_head *at)
{
	list_del_init(n);
	list_add(n, at);
}

static inline void list_move_tail(struct list_head *n, struct list_head *at)
{
	list_del_init(n);
	list_add_tail(n, at);
}

/* Trees of the numbers of namespaces and of groups, which are not used here */
struct rb_node {
	struct rb_node *rb_left, *rb_right;
};

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT			((struct rb_root){ NULL })
#define RB_EMPTY_NODE(n)	true
#define RB_CLEAR_NODE(n)	((void)0)
#define rb_link_node(n, p, l)	((void)(p))
#define rb_insert_color(n, r)	((void)0)
#define rb_erase(n, r)		((void)0)
#define rb_next(n)		((struct rb_node *)NULL)
#define rb_entry(p, t, m)	container_of(p, t, m)
#define rb_entry_safe(p, t, m)	((p) ? container_of(p, t, m) : NULL)

/* Locks: owner and order are checked */
struct lock {
	struct task *owner;
	const char *name;
	bool sleeps;
};

typedef struct lock spinlock_t;
typedef struct lock rwlock_t;
struct mutex {
	struct lock l;
};

void lock_take(struct lock *l, bool sleeps);
void lock_drop(struct lock *l);
void lock_held(const struct lock *l, const char *what, const char *fn);
#define spin_lock_init(l)	(*(l) = (struct lock){ NULL, #l, false })
#define mutex_init(m)		((m)->l = (struct lock){ NULL, #m, true })
#define spin_lock_bh(l)		lock_take(l, false)
#define spin_unlock_bh(l)	lock_drop(l)
#define mutex_lock(m)		lock_take(&(m)->l, true)
#define mutex_unlock(m)		lock_drop(&(m)->l)
#define read_lock(l)		((void)(l))
#define read_unlock(l)		((void)(l))
#define mutex_acquire(...)	((void)0)
#define lockdep_assert_held(x)						\
	lock_held((const struct lock *)(x), #x, __func__)

/* RCU: a task in a read side keeps the memory of sockets, see sock_put() */
void rcu_read_lock(void);
void rcu_read_unlock(void);
#define rcu_dereference_protected(p, c)	(p)
#define rcu_assign_pointer(p, v)	WRITE_ONCE(p, v)
#define RCU_INIT_POINTER(p, v)		((p) = (v))

/* Waiting */
typedef struct wait_queue_head {
	u32 seq;
	int sleepers;
} wait_queue_head_t;

void wait_seq(const u32 *seq, u32 old, unsigned long deadline, const char *why);
#define init_waitqueue_head(q)	memset(q, 0, sizeof(*(q)))
#define wq_has_sleeper(q)	({ point(); (q)->sleepers > 0; })
#define waitqueue_active(q)	wq_has_sleeper(q)
#define wake_up(q)		({ point(); (q)->seq++; })
#define wake_up_all(q)		wake_up(q)
#define __wake_up(q, mode, nr, key)	wake_up(q)
#define wait_event_timeout(q, cond, time) ({				\
	unsigned long end_ = jiffies + (time);				\
	bool ok_;							\
	u32 seq_;							\
									\
	might_sleep();							\
	(q).sleepers++;							\
	for (;;) {							\
		seq_ = (q).seq;						\
		point();						\
		ok_ = (cond);						\
		if (ok_ || time_after_eq(jiffies, end_))		\
			break;						\
		wait_seq(&(q).seq, seq_, end_, #cond);			\
	}								\
	(q).sleepers--;							\
	ok_;								\
})

struct completion {
	u32 done;
};

#define init_completion(c)	((c)->done = 0)
#define complete(c)		({ point(); (c)->done++; })
static inline bool wait_for_completion_timeout(struct completion *c, unsigned long time)
{
	unsigned long end = jiffies + time;

	might_sleep();
	while (!c->done && time_before(jiffies, end))
		wait_seq(&c->done, 0, end, "completion");
	return c->done;
}

/* Works and timers */
struct workqueue_struct;
struct work_struct {
	void (*func)(struct work_struct *work);
	unsigned long data;		/* of a completion queue only */
	bool pending;
	struct list_head node;
};

struct timer_list {
	void (*func)(struct timer_list *timer);
	bool pending;
	unsigned long expires;
	struct list_head node;
};

struct delayed_work {
	struct work_struct work;
	struct timer_list timer;
};

#define work_data_bits(w)	(&(w)->data)
enum { WORK_STRUCT_PENDING_BIT };
#define INIT_WORK(w, f)		(*(w) = (struct work_struct){ .func = (f) })
#define INIT_DELAYED_WORK(w, f) \
	(*(w) = (struct delayed_work){ .work.func = (f), .timer.func = delayed_work_timer })
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define timer_setup(t, f, flags) (*(t) = (struct timer_list){ .func = (f) })
#define timer_pending(t)	({ point(); (t)->pending; })
void delayed_work_timer(struct timer_list *timer);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *dw,
		      unsigned long delay);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dw,
			unsigned long delay);
bool cancel_delayed_work(struct delayed_work *dw);
bool cancel_work_sync(struct work_struct *work);
#define flush_work(work)	cancel_work_sync(work)
bool mod_timer(struct timer_list *timer, unsigned long expires);
bool timer_del(struct timer_list *timer);
bool timer_del_sync(struct timer_list *timer);

/* Tables */
struct rhash_head {
	struct rhash_head *next;
};

struct rhashtable {
	struct rhash_head *first;
};

struct rhashtable_params {
	u16 key_len, key_offset, head_offset;
	bool automatic_shrinking;
};

static inline int rhashtable_init(struct rhashtable *t, const struct rhashtable_params *p)
{
	t->first = NULL;
	return 0;
}

void *rhashtable_lookup(struct rhashtable *t, const void *key,
			const struct rhashtable_params p);
int rhashtable_lookup_insert_fast(struct rhashtable *t, struct rhash_head *n,
				  const struct rhashtable_params p);
int rhashtable_remove_fast(struct rhashtable *t, struct rhash_head *n,
			   const struct rhashtable_params p);

struct xarray {
	struct lock l;
	struct {
		unsigned long key;
		void *val;
	} e[32];
	int n;
};

void **xa_at(struct xarray *xa, unsigned long key);
void *xa_swap(struct xarray *xa, unsigned long key, bool any, void *old, void *val);
#define xa_lock_bh(xa)		((xa)->l.name = "xa_lock", lock_take(&(xa)->l, false))
#define xa_unlock_bh(xa)	lock_drop(&(xa)->l)
#define xa_reserve_bh(xa, key, gfp)	(xa_at(xa, key), point(), 0)
#define xa_err(p)			0
#define xa_load(xa, key)		(*xa_at(xa, key))
#define __xa_store(xa, key, v, gfp)	xchg(xa_at(xa, key), (void *)(v))
#define xa_store_bh(xa, key, v, gfp)	xa_swap(xa, key, true, NULL, v)
#define xa_cmpxchg_bh(xa, key, old, v, gfp) xa_swap(xa, key, false, old, v)

/* Sockets */
struct sock;
struct in6_addr { u8 s6_addr[16]; };
#define ipv6_addr_equal(a, b)	(!memcmp(a, b, sizeof(struct in6_addr)))
struct net;
struct net_device;
struct ctl_table_header;
struct mem_cgroup;
struct inode;
struct iov_iter {
	u8 *at;
	size_t left;
};

struct msghdr {
	unsigned int msg_flags;
	struct iov_iter msg_iter;
	bool msg_get_inq;
	int msg_inq;
};

struct socket {
	struct sock *sk;
};

struct wait_queue_entry {
	u32 woken;
	struct wait_queue_entry *next;
};

struct sock {
	struct {
		spinlock_t slock;
		int owned;
		struct task *by;
		u32 seq;
		int dep_map;
	} sk_lock;
	refcount_t sk_refcnt;
	int sk_err;
	u8 sk_shutdown, sk_state;
	u8 sk_userlocks;
	int sk_sndbuf, sk_rcvbuf, sk_rcvlowat;
	long sk_sndtimeo, sk_rcvtimeo;
	unsigned long sk_flags;
	rwlock_t sk_callback_lock;
	struct wait_queue_entry *waiters;
	void (*sk_state_change)(struct sock *sk);
	void (*sk_data_ready)(struct sock *sk);
	void (*sk_write_space)(struct sock *sk);
	struct mem_cgroup *sk_memcg;
};

struct tcp_sock {
	struct sock sk;
	int nonagle;
	unsigned int notsent_lowat;	/* 0 is none */
	unsigned int icsk_user_timeout;
	bool recvmsg_inq;
};

enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT, TCP_SYN_RECV, TCP_CLOSE = 7, TCP_LISTEN = 10 };
enum { RCV_SHUTDOWN = 1, SEND_SHUTDOWN = 2, SHUTDOWN_MASK = 3 };
enum { SOCK_DEAD, SOCK_LINGER, SOCK_URGINLINE, SOCK_KEEPOPEN };
enum { SOCKWQ_ASYNC_NOSPACE, SOCKWQ_ASYNC_WAITDATA };
enum { TCP_NAGLE_OFF = 1, SOCK_SNDBUF_LOCK = 1 };
enum { MSG_OOB = 1, MSG_PEEK = 2, MSG_TRUNC = 0x20, MSG_DONTWAIT = 0x40,
       MSG_WAITALL = 0x100, MSG_MORE = 0x8000 };
enum { EPOLLIN = 1, EPOLLPRI = 2, EPOLLRDNORM = 0x40 };

#define ETH_ALEN		6
#define tcp_sk(s)		((struct tcp_sock *)(s))
#define inet_csk(s)		tcp_sk(s)
#define tcp_notsent_lowat(tp)	((tp)->notsent_lowat ?: UINT_MAX)
#define sock_flag(s, f)		((s)->sk_flags >> (f) & 1)
#define sock_set_flag(s, f)	((s)->sk_flags |= 1UL << (f))
#define sk_set_bit(n, s)	((void)(s))
#define sk_clear_bit(n, s)	((void)(s))
#define sk_wake_async(s, a, b)	((void)(s))
#define sk_send_sigurg(s)	((void)(s))
#define sk_error_report(s)	sock_wake(s)
#define sk_incoming_cpu_update(s) ((void)(s))
#define sk_sleep(s)		(s)
#define signal_pending(t)	false
#define current			NULL
#define sock_intr_errno(t)	(-EINTR)
#define sock_sndtimeo(s, nb)	((nb) ? 0 : (s)->sk_sndtimeo)
#define sock_rcvtimeo(s, nb)	((nb) ? 0 : (s)->sk_rcvtimeo)
#define put_cmsg(...)		((void)0)
#define sock_owned_by_me(s)						\
	do {								\
		if ((s)->sk_lock.by != current_task)			\
			bad("%s without the socket lock", __func__);	\
	} while (0)
#define sock_owned_by_user_nocheck(s)	((s)->sk_lock.owned)
#define msg_data_left(m)	((m)->msg_iter.left)
#define woken_wake_function	NULL
#define DEFINE_WAIT_FUNC(w, f)	struct wait_queue_entry w = { 0, NULL }
#define div_u64_rem(n, d, r)	((void)(*(r) = (u32)((n) % (d))))

static inline int sock_error(struct sock *sk)
{
	return -xchg(&sk->sk_err, 0);
}

static inline int sock_rcvlowat(const struct sock *sk, int all, int len)
{
	int v = all ? len : min(sk->sk_rcvlowat, len);

	return v ?: 1;
}

static inline void sk_stop_timer(struct sock *sk, struct timer_list *timer);
static inline void sk_stop_timer_sync(struct sock *sk, struct timer_list *timer);
static inline void sk_reset_timer(struct sock *sk, struct timer_list *timer,
				  unsigned long expires);
void sock_wake(struct sock *sk);
void sock_hold(struct sock *sk);
void sock_put(struct sock *sk);
void lock_sock(struct sock *sk);
void release_sock(struct sock *sk);
void add_wait_queue(struct sock *sk, struct wait_queue_entry *w);
void remove_wait_queue(struct sock *sk, struct wait_queue_entry *w);
void wait_woken(struct wait_queue_entry *w, long *timeo);
size_t copy_from_iter(void *to, size_t n, struct iov_iter *it);
size_t copy_to_iter(const void *from, size_t n, struct iov_iter *it);
/* memory in pages: any address is a page, and its offset there is 0 */
#define virt_to_page(p)				(p)
#define offset_in_page(p)			0
#define user_backed_iter(it)			true
#define copy_page_to_iter(page, off, n, it)	copy_to_iter(page, n, it)
#define copy_page_from_iter(page, off, n, it)	copy_from_iter(page, n, it)
int memcpy_to_msg(struct msghdr *msg, const void *from, int n);
u32 get_random_u32(void);

#define sk_wait_event(sk, timeo, cond, wait) ({				\
	bool ok_;							\
									\
	release_sock(sk);						\
	ok_ = (cond);							\
	if (!ok_)							\
		wait_woken(wait, timeo);				\
	lock_sock(sk);							\
	ok_ = (cond);							\
	ok_;								\
})

static inline void sk_reset_timer(struct sock *sk, struct timer_list *timer,
				  unsigned long expires)
{
	if (!mod_timer(timer, expires))
		sock_hold(sk);
}

static inline void sk_stop_timer(struct sock *sk, struct timer_list *timer)
{
	if (timer_del(timer))
		sock_put(sk);
}

static inline void sk_stop_timer_sync(struct sock *sk, struct timer_list *timer)
{
	if (timer_del_sync(timer))
		sock_put(sk);
}

/* Verbs, as far as a link uses them: rdma.c */
enum { IB_DEVICE_NAME_MAX = 64 };
enum dma_data_direction { DMA_BIDIRECTIONAL, DMA_TO_DEVICE, DMA_FROM_DEVICE };
enum ib_wc_status { IB_WC_SUCCESS, IB_WC_RETRY_EXC_ERR, IB_WC_WR_FLUSH_ERR };
enum ib_wc_opcode { IB_WC_SEND, IB_WC_RECV };
enum ib_wr_opcode { IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_REG_MR };
enum { IB_SEND_SIGNALED = 1, IB_SEND_SOLICITED = 2, IB_SEND_INLINE = 4 };

union ib_gid {
	u8 raw[16];
};

struct ib_event_handler {
	int unused;
};

struct ib_device {
	const char *name;
};

struct ib_pd {
	u32 local_dma_lkey;
};

struct ib_mr {
	u32 rkey;
	u64 iova;
};

struct ib_cq;
struct ib_wc;
struct ib_cqe {
	void (*done)(struct ib_cq *cq, struct ib_wc *wc);
};

struct ib_wc {
	struct ib_cqe *wr_cqe;
	enum ib_wc_status status;
	enum ib_wc_opcode opcode;
	u32 byte_len;
};

struct ib_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

struct ib_send_wr {
	struct ib_send_wr *next;
	struct ib_cqe *wr_cqe;
	struct ib_sge *sg_list;
	int num_sge;
	enum ib_wr_opcode opcode;
	int send_flags;
};

struct ib_rdma_wr {
	struct ib_send_wr wr;
	u64 remote_addr;
	u32 rkey;
};

struct ib_reg_wr {
	struct ib_send_wr wr;
	struct ib_mr *mr;
	u32 key;
	int access;
};

struct ib_recv_wr {
	struct ib_recv_wr *next;
	struct ib_cqe *wr_cqe;
	struct ib_sge *sg_list;
	int num_sge;
};

struct ib_qp;
enum { IRQ_POLL_F_SCHED, IRQ_POLL_F_DISABLE };

struct irq_poll {
	unsigned long state;
};

enum ib_poll_context { IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE };

struct ib_cq {
	void *cq_context;
	enum ib_poll_context poll_ctx;
	struct irq_poll iop;
	struct work_struct work;	/* all queues here are IB_POLL_SOFTIRQ */
	struct ib_wc *wc;
	unsigned int n, room;
	struct task *poller;
	unsigned int arming;		/* handlers that request the next interrupt */
	unsigned long not_before;	/* time of the next handler: a busy processor */
	u32 seq;
	struct ib_cq *next;
};

int ib_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad_wr);
int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		 const struct ib_recv_wr **bad_wr);
int ib_destroy_qp(struct ib_qp *qp);
void ib_free_cq(struct ib_cq *cq);
void irq_poll_disable(struct irq_poll *iop);
void irq_poll_enable(struct irq_poll *iop);
void synchronize_rcu(void);
#define ib_wc_status_msg(s)	"error"

bool smcr_compat_page_follows(const struct msghdr *msg);

/*
 * Small worlds: queues and buffers that are full after a few messages, and
 * elements that are read in a few steps. Names that the headers of the module
 * define have the module's value in these headers, and the value below in its
 * code.
 */
#include "core/clc.h"
#include "rdma/link.h"
u32 small_bsize_bytes(u8 code);
#define smcr_bsize_bytes	small_bsize_bytes
extern u32 small_sq;		/* a power of two, from 8 to 64 */
#define SMCR_SQ_DEPTH		small_sq
#define SMCR_RQ_DEPTH		64
#define SMCR_RQ_BATCH		8
#define SMCR_CTRL_RESERVE	1
#define SMCR_POST_MAX		4
#undef SMCR_BUF_SMALL
#define SMCR_BUF_SMALL		(small_sndbuf())
u32 small_sndbuf(void);

#endif /* _SMCR_UNIT_KERNEL_H */
