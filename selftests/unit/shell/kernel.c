// SPDX-License-Identifier: GPL-2.0-only
/*
 * The small kernel: a scheduler, with which all that happens in a run follows
 * from its seed. Each task runs as on a processor of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include "shell.h"

enum { TASKS = 192 };

struct task {
	struct fiber *fiber;
	char name[24];
	bool used;
	void (*fn)(void *arg, int n);
	void *arg;
	int n;
	struct work_struct *work;	/* work that it runs; only compared */
	struct smcr_sock *ssk;
	struct lock *spins;		/* lock that it waits for */
	const u32 *seq;			/* sleeps until this differs from .old */
	u32 old;
	unsigned long deadline;
	bool timed;
	const char *why;
	struct lock *holds[8];
	int n_holds, n_spins;
	unsigned int n_posts;		/* see task_posts() */
	int rcu;
	unsigned long reader;		/* a handler of completions: grace periods before it began */
};

struct due {
	unsigned long when;
	void (*fn)(void *arg, int n);
	void *arg;
	int n;
};

struct kmem_head {
	struct kmem_head *next, *prev;
	const char *who;
	size_t size;
	u64 pad[2];
};

struct workqueue_struct *smcr_wq, *smcr_sock_wq;
struct task *current_task;
unsigned int point_left;
unsigned long jiffies;
unsigned long steps;
bool talk, kernel_ending;

extern struct ib_cq *all_cqs;
struct plan *plan;
static struct task tasks[TASKS];
static struct list_head works, timers;
static struct due dues[128];
static int n_dues;
static u64 rnd_state;
static unsigned int gap_mean;
static struct kmem_head blocks = { .next = &blocks, .prev = &blocks };
static struct sock *dead_socks[64];
static int n_dead;
static jmp_buf gone;		/* out of the scheduler, after a failure */
static bool in_run;
static char trouble[512];

/* Order of locks: [a][b] if b was taken while a was held */
static const char *lock_names[16];
static bool lock_order[16][16];

/* splitmix64, one for all of a run */
static u64 next_rnd(void)
{
	u64 z = rnd_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

u32 pick(u32 n)
{
	return (u32)((next_rnd() >> 32) * n >> 32);
}

bool chance(u32 n)
{
	return !pick(n);
}

u32 get_random_u32(void)
{
	return (u32)next_rnd();
}

void say(const char *fmt, ...)
{
	va_list ap;

	if (!talk)
		return;
	printf("# %6lu %-12s ", jiffies & 0xffffff, current_task ? current_task->name : "-");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

void bad(const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(trouble, sizeof(trouble), "%s: %s", current_task ? current_task->name : "run",
		 text);
	tell("BAD: %s", text);
	if (!in_run) {
		printf("# outside of a run: %s\n", trouble);
		abort();
	}
	if (current_task)
		fiber_leave(current_task->fiber);
	longjmp(gone, 1);
}

/* Memory */
void *kmem(size_t size, const char *who)
{
	struct kmem_head *h = calloc(1, sizeof(*h) + size);

	if (!h)
		abort();
	h->who = who;
	h->size = size;
	h->next = blocks.next;
	h->prev = &blocks;
	h->next->prev = h;
	blocks.next = h;
	return h + 1;
}

static bool within(const void *at, const void *p, size_t size)
{
	return (uintptr_t)at - (uintptr_t)p < size;
}

void kfree(const void *p)
{
	struct kmem_head *h = (struct kmem_head *)p - 1;
	struct task *t;

	if (!p)
		return;
	for (t = tasks; t < tasks + TASKS; t++)
		if (t->used && (within(t->spins, p, h->size) || within(t->seq, p, h->size)))
			bad("%s is freed, and %s waits for it: %s", h->who, t->name,
			    t->spins ? t->spins->name : t->why);
	h->next->prev = h->prev;
	h->prev->next = h->next;
	free(h);
}

unsigned int kmem_left(const char **who)
{
	struct kmem_head *h;
	unsigned int n = 0;

	for (h = blocks.next; h != &blocks; h = h->next, n++)
		*who = h->who;
	return n;
}

/* Tasks */
static void task_main(void)
{
	for (;;) {
		struct task *t = current_task;

		t->fn(t->arg, t->n);
		if (t->n_holds)
			bad("ends with %s held", t->holds[0]->name);
		if (t->rcu)
			bad("ends in a read side of RCU");
		t->used = false;
		fiber_leave(t->fiber);
	}
}

static struct task *task_new(const char *name)
{
	struct task *t = tasks;
	struct fiber *f;

	while (t < tasks + TASKS && t->used)
		t++;
	if (t == tasks + TASKS)
		bad("too many tasks");
	f = t->fiber ?: fiber_new(task_main);
	memset(t, 0, sizeof(*t));
	t->fiber = f;
	t->used = true;
	snprintf(t->name, sizeof(t->name), "%s", name);
	return t;
}

void task_start(const char *name, void (*fn)(void *arg, int n), void *arg, int n)
{
	struct task *t = task_new(name);

	t->fn = fn;
	t->arg = arg;
	t->n = n;
}

struct smcr_sock *task_sock(void)
{
	return current_task ? current_task->ssk : NULL;
}

void task_set_sock(struct smcr_sock *ssk)
{
	current_task->ssk = ssk;
}

static void draw_gap(void)
{
	point_left = 1 + pick(2 * gap_mean);
}

/* Let other tasks run, also without a reason to wait */
static void yield(void)
{
	if (!current_task)
		return;
	fiber_leave(current_task->fiber);
}

void point_now(void)
{
	draw_gap();
	yield();
}

void might_sleep(void)
{
	if (!current_task)
		return;
	if (current_task->n_spins)
		bad("sleeps with %s held", current_task->holds[0]->name);
	if (current_task->rcu)
		bad("sleeps in a read side of RCU");
	point();
}

static void sleep_seq(const u32 *seq, u32 old, unsigned long deadline, bool timed,
		      const char *why)
{
	struct task *t = current_task;

	if (!t)
		bad("sleeps in the scheduler: %s", why);
	might_sleep();
	t->seq = seq;
	t->old = old;
	t->deadline = deadline;
	t->timed = timed;
	t->why = why;
	yield();
	t->seq = NULL;
	t->timed = false;
	t->why = NULL;
}

void wait_seq(const u32 *seq, u32 old, unsigned long deadline, const char *why)
{
	sleep_seq(seq, old, deadline, true, why);
}

void wait_until(unsigned long ms)
{
	static const u32 never;
	unsigned long end = jiffies + ms;

	while (time_before(jiffies, end))
		sleep_seq(&never, 0, end, true, "time");
}

void usleep_range(unsigned long lo, unsigned long hi)
{
	wait_until(1);
}

/* Locks */
static int lock_class(const char *name)
{
	int i;

	for (i = 0; i < 16 && lock_names[i]; i++)
		if (!strcmp(lock_names[i], name))
			return i;
	if (i == 16)
		bad("too many kinds of locks");
	lock_names[i] = name;
	return i;
}

static void lock_check_order(const struct lock *l)
{
	int i, a, b = lock_class(l->name);

	for (i = 0; i < current_task->n_holds; i++) {
		a = lock_class(current_task->holds[i]->name);
		if (a != b && lock_order[b][a])
			bad("%s under %s, and the other way round", l->name,
			    current_task->holds[i]->name);
		if (a == b)
			bad("two of %s at once", l->name);
		lock_order[a][b] = true;
	}
}

void lock_take(struct lock *l, bool sleeps)
{
	struct task *t = current_task;

	if (!l->name)
		bad("a lock without a beginning");
	if (!t) {		/* the scheduler itself, before or after all tasks */
		if (l->owner)
			bad("the scheduler waits for %s", l->name);
		return;
	}
	if (sleeps)
		might_sleep();
	point();
	if (l->owner == t)
		bad("%s taken twice", l->name);
	lock_check_order(l);
	while (l->owner) {
		t->spins = l;
		yield();
		t->spins = NULL;
	}
	l->owner = t;
	t->holds[t->n_holds++] = l;
	t->n_spins += !sleeps;
}

/* Count a post of this task; in smcr_tx_push() lock_held() begins at 0 */
unsigned int task_posts(void)
{
	return current_task ? ++current_task->n_posts : 0;
}

void lock_drop(struct lock *l)
{
	struct task *t = current_task;
	int i;

	if (!t)
		return;
	if (l->owner != t)
		bad("%s let go by another", l->name);
	l->owner = NULL;
	for (i = 0; t->holds[i] != l; i++)
		;
	for (t->n_holds--; i < t->n_holds; i++)
		t->holds[i] = t->holds[i + 1];
	t->n_spins -= !l->sleeps;
	point();
}

void lock_held(const struct lock *l, const char *what, const char *fn)
{
	if (current_task && l->owner != current_task)
		bad("%s without %s", fn, what);
	if (current_task && !strcmp(fn, "smcr_tx_push"))
		current_task->n_posts = 0;
}

void rcu_read_lock(void)
{
	if (current_task)
		current_task->rcu++;
}

void rcu_read_unlock(void)
{
	if (current_task)
		current_task->rcu--;
	point();
}

/* Works and timers */
bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	point();
	if (work->pending)
		return false;
	work->pending = true;
	list_add_tail(&work->node, &works);
	return true;
}

static bool work_off(struct work_struct *work)
{
	if (!work->pending)
		return false;
	work->pending = false;
	list_del_init(&work->node);
	return true;
}

static struct task *work_runs(const struct work_struct *work)
{
	struct task *t;

	for (t = tasks; t < tasks + TASKS; t++)
		if (t->used && t->work == work)
			return t;
	return NULL;
}

static void work_wait(const struct work_struct *work)
{
	might_sleep();
	while (work_runs(work) && work_runs(work) != current_task)
		wait_until(1);
}

bool cancel_work_sync(struct work_struct *work)
{
	bool was;

	point();
	was = work_off(work);
	work_wait(work);
	return was;
}

bool mod_timer(struct timer_list *timer, unsigned long expires)
{
	bool was;

	point();
	was = timer->pending;
	timer->expires = expires;
	timer->pending = true;
	if (!was)
		list_add_tail(&timer->node, &timers);
	return was;
}

bool timer_del(struct timer_list *timer)
{
	point();
	if (!timer->pending)
		return false;
	timer->pending = false;
	list_del_init(&timer->node);
	return true;
}

void delayed_work_timer(struct timer_list *timer)
{
	queue_work(NULL, &container_of(timer, struct delayed_work, timer)->work);
}

bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *dw,
		      unsigned long delay)
{
	bool was;

	point();
	was = work_off(&dw->work) | timer_del(&dw->timer);
	if (delay)
		mod_timer(&dw->timer, jiffies + delay);
	else
		queue_work(wq, &dw->work);
	return was;
}

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dw,
			unsigned long delay)
{
	point();
	return !dw->work.pending && !dw->timer.pending &&
	       !mod_delayed_work(wq, dw, delay);
}

bool cancel_delayed_work(struct delayed_work *dw)
{
	point();
	return work_off(&dw->work) | timer_del(&dw->timer);
}

/* In place of the one in net/base/wq.c */
unsigned int smcr_work_end(struct delayed_work *work)
{
	unsigned int n = cancel_delayed_work(work);

	work_wait(&work->work);
	return n;
}

void later(unsigned long ms, void (*fn)(void *arg, int n), void *arg, int n)
{
	if (n_dues == ARRAY_SIZE(dues))
		bad("too much that is due");
	dues[n_dues++] = (struct due){ jiffies + ms, fn, arg, n };
}

/* Tables */
void *rhashtable_lookup(struct rhashtable *t, const void *key,
			const struct rhashtable_params p)
{
	struct rhash_head *n;
	u8 *o;

	point();
	for (n = t->first; n; n = n->next) {
		o = (u8 *)n - p.head_offset;
		if (!memcmp(o + p.key_offset, key, p.key_len))
			return o;
	}
	return NULL;
}

int rhashtable_lookup_insert_fast(struct rhashtable *t, struct rhash_head *n,
				  const struct rhashtable_params p)
{
	u8 *o = (u8 *)n - p.head_offset;

	if (rhashtable_lookup(t, o + p.key_offset, p))
		return -EEXIST;
	n->next = t->first;
	t->first = n;
	point();
	return 0;
}

int rhashtable_remove_fast(struct rhashtable *t, struct rhash_head *n,
			   const struct rhashtable_params p)
{
	struct rhash_head **at = &t->first;

	while (*at && *at != n)
		at = &(*at)->next;
	if (!*at)
		return -ENOENT;
	*at = n->next;
	point();
	return 0;
}

void **xa_at(struct xarray *xa, unsigned long key)
{
	int i;

	for (i = 0; i < xa->n && xa->e[i].key != key; i++)
		;
	if (i == (int)ARRAY_SIZE(xa->e))
		bad("too many elements");
	if (i == xa->n)
		xa->n++;
	xa->e[i].key = key;
	return &xa->e[i].val;
}

void *xa_swap(struct xarray *xa, unsigned long key, bool any, void *old, void *val)
{
	void **at, *was;

	xa_lock_bh(xa);
	at = xa_at(xa, key);
	was = *at;
	if (any || was == old)
		*at = val;
	xa_unlock_bh(xa);
	return was;
}

/* Sockets */
void sock_wake(struct sock *sk)
{
	struct wait_queue_entry *e;

	point();
	for (e = sk->waiters; e; e = e->next)
		e->woken = 1;
}

void add_wait_queue(struct sock *sk, struct wait_queue_entry *e)
{
	e->next = sk->waiters;
	sk->waiters = e;
	point();
}

void remove_wait_queue(struct sock *sk, struct wait_queue_entry *e)
{
	struct wait_queue_entry **at = &sk->waiters;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	point();
}

void wait_woken(struct wait_queue_entry *e, long *timeo)
{
	if (!e->woken)
		sleep_seq(&e->woken, 0, jiffies + *timeo, *timeo != LONG_MAX, "a program");
	e->woken = 0;
}

void sock_hold(struct sock *sk)
{
	refcount_inc(&sk->sk_refcnt);
}

/* The memory is freed when no task is in a read side of RCU any more */
void sock_put(struct sock *sk)
{
	if (!refcount_dec_and_test(&sk->sk_refcnt))
		return;
	if (n_dead == ARRAY_SIZE(dead_socks))
		bad("too many sockets wait for RCU");
	dead_socks[n_dead++] = sk;
}

static void reap(void)
{
	struct task *t;

	if (!n_dead)
		return;
	for (t = tasks; t < tasks + TASKS; t++)
		if (t->used && t->rcu)
			return;
	while (n_dead)
		sock_free(dead_socks[--n_dead]);
}

void lock_sock(struct sock *sk)
{
	might_sleep();
	if (sk->sk_lock.by == current_task)
		bad("a socket lock taken twice");
	spin_lock_bh(&sk->sk_lock.slock);
	while (sk->sk_lock.owned) {
		u32 seq = sk->sk_lock.seq;

		spin_unlock_bh(&sk->sk_lock.slock);
		sleep_seq(&sk->sk_lock.seq, seq, 0, false, "a socket lock");
		spin_lock_bh(&sk->sk_lock.slock);
	}
	sk->sk_lock.owned = 1;
	sk->sk_lock.by = current_task;
	spin_unlock_bh(&sk->sk_lock.slock);
}

void release_sock(struct sock *sk)
{
	struct smcr_sock *ssk = smcr_sk(sk);

	spin_lock_bh(&sk->sk_lock.slock);
	if (test_and_clear_bit(SMCR_SK_CONN_WORK, &ssk->flags))
		smcr_conn_queue_work(&ssk->conn);
	sk->sk_lock.owned = 0;
	sk->sk_lock.by = NULL;
	sk->sk_lock.seq++;
	spin_unlock_bh(&sk->sk_lock.slock);
}

size_t copy_from_iter(void *to, size_t n, struct iov_iter *it)
{
	size_t i;

	for (i = 0; i < n; i++) {
		((u8 *)to)[i] = *it->at++;
		if (i % 8 == 7)
			point();
	}
	it->left -= n;
	return n;
}

size_t copy_to_iter(const void *from, size_t n, struct iov_iter *it)
{
	size_t i;

	for (i = 0; i < n; i++) {
		*it->at++ = ((const u8 *)from)[i];
		if (i % 8 == 7)
			point();
	}
	it->left -= n;
	return n;
}

int memcpy_to_msg(struct msghdr *msg, const void *from, int n)
{
	return copy_to_iter(from, n, &msg->msg_iter) == (size_t)n ? 0 : -EFAULT;
}

/* Works, timers and handlers of completions, each as a task of its own */
static void do_work(void *arg, int n)
{
	struct work_struct *work = arg;

	work->func(work);
}

static void do_timer(void *arg, int n)
{
	struct timer_list *timer = arg;

	timer->func(timer);
}

static bool timer_runs(const struct timer_list *timer)
{
	struct task *t;

	for (t = tasks; t < tasks + TASKS; t++)
		if (t->used && t->fn == do_timer && t->arg == timer)
			return true;
	return false;
}

bool timer_del_sync(struct timer_list *timer)
{
	bool was = timer_del(timer);

	might_sleep();
	while (timer_runs(timer))
		wait_until(1);
	return was;
}

/* Only handlers of completions are waited for, the softirqs of the module's readers */
static unsigned long graces = 1;
static u32 readers_ended;

void synchronize_rcu(void)
{
	unsigned long grace = graces++;
	struct task *t = tasks;

	might_sleep();
	while (t < tasks + TASKS) {
		if (!t->used || !t->reader || t->reader > grace) {
			t++;
			continue;
		}
		wait_seq(&readers_ended, readers_ended, jiffies + 1000, "a grace period");
		t = tasks;
	}
}

static void do_poll(void *arg, int n)
{
	struct ib_cq *cq = arg;
	struct ib_wc wc;

	for (; cq->n && n; n--) {
		wc = cq->wc[0];
		memmove(cq->wc, cq->wc + 1, --cq->n * sizeof(wc));
		wc.wr_cqe->done(cq, &wc);
	}
	/* as the RDMA core: another task may own the queue while this one requests an interrupt */
	cq->arming++;
	cq->poller = NULL;
	cq->seq++;
	point();
	cq->arming--;
	current_task->reader = 0;
	readers_ended++;
}

/* A candidate: what may happen next */
struct cand {
	enum { C_TASK, C_WORK, C_TIMER, C_DUE, C_CQ, C_WIRE } kind;
	void *p;
	int i;
};

static struct cand cands[TASKS + 256];
static int n_cands;

static void add_cand(int kind, void *p, int i)
{
	if (n_cands < (int)ARRAY_SIZE(cands))
		cands[n_cands++] = (struct cand){ kind, p, i };
}

static bool task_may(const struct task *t)
{
	if (t->spins)
		return !t->spins->owner;
	if (!t->seq)
		return true;
	return *t->seq != t->old || (t->timed && time_after_eq(jiffies, t->deadline));
}

static void collect(void)
{
	struct work_struct *work;
	struct timer_list *timer;
	struct ib_cq *cq;
	struct task *t;
	int i, n;

	n_cands = 0;
	for (t = tasks; t < tasks + TASKS; t++)
		if (t->used && task_may(t))
			add_cand(C_TASK, t, 0);
	list_for_each_entry(work, &works, node)
		if (!work_runs(work))
			add_cand(C_WORK, work, 0);
	list_for_each_entry(timer, &timers, node)
		if (time_after_eq(jiffies, timer->expires))
			add_cand(C_TIMER, timer, 0);
	for (i = 0; i < n_dues; i++)
		if (time_after_eq(jiffies, dues[i].when))
			add_cand(C_DUE, NULL, i);
	for (cq = all_cqs; cq; cq = cq->next)
		if (cq->n && !cq->poller && !cq->iop.state && time_after_eq(jiffies, cq->not_before))
			add_cand(C_CQ, cq, 0);
	n = rdma_ready();
	for (i = 0; i < n; i++)
		add_cand(C_WIRE, NULL, i);
}

/* The next moment at which something may happen; false: there is none */
static bool next_time(unsigned long *when)
{
	struct timer_list *timer;
	bool found = false;
	struct ib_cq *cq;
	struct task *t;
	int i;

#define EARLIER(at) do {						\
	if (!found || time_before(at, *when))				\
		*when = (at);						\
	found = true;							\
} while (0)
	for (t = tasks; t < tasks + TASKS; t++)
		if (t->used && t->timed)
			EARLIER(t->deadline);
	list_for_each_entry(timer, &timers, node)
		EARLIER(timer->expires);
	for (i = 0; i < n_dues; i++)
		EARLIER(dues[i].when);
	for (cq = all_cqs; cq; cq = cq->next)
		if (cq->n && !cq->poller && !cq->iop.state)
			EARLIER(cq->not_before);
#undef EARLIER
	return found;
}

static void run_task(struct task *t)
{
	current_task = t;
	draw_gap();
	fiber_enter(t->fiber);
	current_task = NULL;
	if (trouble[0])
		longjmp(gone, 1);
}

static void step(const struct cand *c)
{
	struct timer_list *timer;
	struct work_struct *work;
	struct ib_cq *cq;
	struct task *t;
	struct due d;

	switch (c->kind) {
	case C_TASK:
		t = c->p;
		break;
	case C_WORK:
		work = c->p;
		work_off(work);
		t = task_new("work");
		t->fn = do_work;
		t->arg = work;
		t->work = work;
		break;
	case C_TIMER:
		timer = c->p;
		timer_del(timer);
		t = task_new("timer");
		t->fn = do_timer;
		t->arg = timer;
		break;
	case C_DUE:
		d = dues[c->i];
		dues[c->i] = dues[--n_dues];
		t = task_new("due");
		t->fn = d.fn;
		t->arg = d.arg;
		t->n = d.n;
		break;
	case C_CQ:
		cq = c->p;
		t = task_new("poll");
		t->fn = do_poll;
		t->arg = cq;
		t->n = 1 + pick(4);
		t->reader = graces;
		cq->poller = t;
		break;
	default:
		rdma_step(c->i);
		return;
	}
	run_task(t);
}

/* Is the step delayed in this world? */
static bool is_slow(const struct cand *c)
{
	switch (c->kind) {
	case C_WIRE:
		return rdma_is_ack(c->i) && !chance(w.slow_ack);
	case C_CQ:
		return !chance(w.slow_cq);
	case C_WORK:
		return !chance(w.slow_work);
	default:
		return false;
	}
}

/* The next step: at random, or the first one, but for the turns of a plan */
static const struct cand *choose(void)
{
	const struct turn *t;
	unsigned int i = 0;

	if (!plan)
		return &cands[pick(n_cands)];
	t = plan->turn + plan->next;
	if (plan->n < ARRAY_SIZE(plan->of))
		plan->of[plan->n] = min(n_cands, 255);
	if (plan->next < plan->n_turns && t->at == plan->n) {
		i = t->take;
		plan->next++;
	}
	plan->n++;
	if (i >= (unsigned int)n_cands)
		bad("a plan without this choice");
	return &cands[i];
}

/*
 * Steps are taken in random order. Time goes on when there are none, and now
 * and then a little of it also otherwise. With a plan nothing is random here.
 */
static void run_all(void)
{
	unsigned long when, end = jiffies + 600 * HZ;
	const struct cand *c;

	for (steps = 0;; steps++) {
		reap();
		collect();
		if (!n_cands) {
			if (!next_time(&when))
				break;
			if (time_after(when, jiffies))
				jiffies = when;
			if (time_after(jiffies, end))
				bad("it goes on for ten minutes");
			continue;
		}
		if (steps > 300000 && steps > 100UL * w.stream)
			bad("it never ends:%s", kernel_waits());
		c = choose();
		if (!plan && n_cands > 1 && is_slow(c))
			continue;
		step(c);
		if (!plan && chance(256))
			jiffies++;
	}
}

void kernel_start(u64 seed, unsigned int gap)
{
	rnd_state = seed * 0x9e3779b97f4a7c15ULL;
	gap_mean = gap;
	INIT_LIST_HEAD(&works);
	INIT_LIST_HEAD(&timers);
	kernel_ending = false;
	n_dues = 0;
	n_dead = 0;
	trouble[0] = 0;
	jiffies = (unsigned long)-5000 + pick(10000);
	current_task = NULL;
	draw_gap();
}

bool kernel_run(void)
{
	in_run = true;
	if (!setjmp(gone))
		run_all();
	in_run = false;
	current_task = NULL;
	return !trouble[0];
}

const char *kernel_trouble(void)
{
	return trouble;
}

/* The tasks that still wait, and what for, for a message */
const char *kernel_waits(void)
{
	static char text[200];
	struct task *t;
	int n = 0;

	text[0] = 0;
	for (t = tasks; t < tasks + TASKS && n < 150; t++)
		if (t->used)
			n += snprintf(text + n, sizeof(text) - n, " %s(%s)", t->name,
				      t->spins ? t->spins->name : t->why ?: "?");
	return text;
}

void kernel_end(void)
{
	struct kmem_head *h;
	struct task *t;

	for (t = tasks; t < tasks + TASKS; t++) {
		if (t->used)
			fiber_forget(t->fiber);
		t->used = false;
	}
	while ((h = blocks.next) != &blocks) {
		blocks.next = h->next;
		free(h);
	}
	blocks.prev = &blocks;
}
