// SPDX-License-Identifier: GPL-2.0-only
/* sockapi: calls in a child process or a thread, and limits of their time. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sockapi.h"

static int child_pipe = -1;

/* forkhold: a child process that has all sockets, until forkend */
static void op_forkhold(struct call *c)
{
	int p[2];
	char x;

	if (pipe(p))
		exit(2);
	child = fork();
	if (!child) {
		close(p[1]);
		_exit(read(p[0], &x, 1) < 0);
	}
	close(p[0]);
	child_pipe = p[1];
	say(c->o, "= 0");
}

static void op_forkend(struct call *c)
{
	close(child_pipe);
	child_pipe = -1;
	waitpid(child, NULL, 0);
	child = 0;
	say(c->o, "= 0");
}

static void op_forkdo(struct call *c)
{
	struct call sub = { .n = c->n - 1, .o = c->o };
	int p[2], i;
	long n;

	for (i = 1; i < c->n; i++)
		sub.a[i - 1] = c->a[i];
	if (pipe(p))
		exit(2);
	child = fork();
	if (!child) {
		c->o->len = 0;
		run_op(&sub);
		_exit(write(p[1], c->o->text, c->o->len) < 0);
	}
	close(p[1]);
	while ((n = read(p[0], c->o->text + c->o->len,
			 sizeof(c->o->text) - c->o->len - 1)) > 0)
		c->o->len += (size_t)n;
	c->o->text[c->o->len] = 0;
	close(p[0]);
	waitpid(child, NULL, 0);
	child = 0;
	/* what the child sends or receives is part of this process's stream */
	if (!strcmp(c->a[1], "send"))
		slot(c->a[2])->tx += (uint64_t)num(c, 3, 0);
	if (!strcmp(c->a[1], "recv"))
		slot(c->a[2])->rx += (uint64_t)num(c, 3, 0);
}

/* tkill N NAME: signal to the thread of C&N */
static void op_tkill(struct call *c)
{
	usleep(100000);
	pthread_kill(asyncs[num(c, 1, 0)].thread,
		     (int)by_name(signal_names, c->a[2], strlen(c->a[2])));
	say(c->o, "= 0");
}

static void op_sleep(struct call *c)
{
	usleep((useconds_t)num(c, 1, 0) * 1000);
	say(c->o, "= 0");
}

/* timed LOW HIGH OP ...: did it take between LOW and HIGH ms? */
static void op_timed(struct call *c)
{
	struct call sub = { .n = c->n - 3, .o = c->o };
	double start = now_ms(), took;
	int i;

	for (i = 3; i < c->n; i++)
		sub.a[i - 3] = c->a[i];
	run_op(&sub);
	took = now_ms() - start;
	if (took < (double)num(c, 1, 0))
		say(c->o, " too early");
	if (took > (double)num(c, 2, 0))
		say(c->o, " too late");
}

static void op_wait(struct call *c)
{
	struct async *as = &asyncs[num(c, 1, 0)];
	double end = now_ms() + (double)num(c, 2, 10000);

	while (!__atomic_load_n(&as->done, __ATOMIC_ACQUIRE) && now_ms() < end)
		usleep(3000);
	if (!__atomic_load_n(&as->done, __ATOMIC_ACQUIRE)) {
		say(c->o, "blocks");
		return;
	}
	pthread_join(as->thread, NULL);
	as->used = false;
	say(c->o, "%s: %s", as->line, as->out.text);
	c->o->made = as->out.made;
}

const struct op ops_flow[] = {
	{ "forkhold", op_forkhold }, { "forkend", op_forkend },
	{ "forkdo", op_forkdo }, { "tkill", op_tkill }, { "sleep", op_sleep },
	{ "timed", op_timed }, { "wait", op_wait }, { }
};
