// SPDX-License-Identifier: GPL-2.0-only
/* sockapi: options and ioctls. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "sockapi.h"

/* set NAME OPTION VALUE [LENGTH]; linger: onoff,seconds; times in ms; a filter passes all; flow label: rw, ro */
static void op_set(struct call *c)
{
	long rc = option_set(slot(c->a[1])->fd, option_of(c->a[2]), arg(c, 3), num(c, 4, -1));

	say_result(c->o, rc, errno);
}

static void op_get(struct call *c)
{
	const struct option_name *o = option_of(c->a[2]);
	union {
		int i;
		struct timeval tv;
		struct linger l;
		char s[64];
	} u = { .s = "" };
	socklen_t len = o->kind == INT ? sizeof(u.i) : o->kind == TIMEVAL ?
			sizeof(u.tv) : o->kind == LINGER ? sizeof(u.l) : sizeof(u.s);
	long rc;

	if (c->n > 3)
		len = (socklen_t)num(c, 3, 0);
	rc = getsockopt(slot(c->a[1])->fd, o->level, o->opt, &u, &len);
	say_result(c->o, rc, errno);
	if (rc)
		return;
	if (o->kind == TIMEVAL)
		say(c->o, " %ld ms", u.tv.tv_sec * 1000 + u.tv.tv_usec / 1000);
	else if (o->kind == LINGER)
		say(c->o, " %d,%d", u.l.l_onoff, u.l.l_linger);
	else if (o->kind == STRING)
		say(c->o, " '%.*s'", (int)len, u.s);
	else if (o->kind == FILTER)
		say(c->o, " %u instructions", len);
	else if (o->opt == SO_ERROR && o->level == SOL_SOCKET)
		say(c->o, " %s", u.i ? strerrorname_np(u.i) : "0");
	else
		say(c->o, " %d", u.i);
	if (o->kind != FILTER)
		say(c->o, " len %u", len);
}

/* info NAME: the state of TCP_INFO */
static void op_info(struct call *c)
{
	struct tcp_info ti = { };
	socklen_t len = sizeof(ti);
	long rc = getsockopt(slot(c->a[1])->fd, IPPROTO_TCP, TCP_INFO, &ti, &len);

	say_result(c->o, rc, errno);
	if (!rc)
		say(c->o, " state %u", ti.tcpi_state);
}

static void op_block(struct call *c)
{
	int fd = slot(c->a[1])->fd, fl = fcntl(fd, F_GETFL);

	fl = c->a[0][0] == 'n' ? fl | O_NONBLOCK : fl & ~O_NONBLOCK;
	say(c->o, "= %d", fcntl(fd, F_SETFL, fl));
}

static void op_ioctl(struct call *c)
{
	unsigned long cmd = !strcmp(c->a[0], "inq") ? SIOCINQ :
			    !strcmp(c->a[0], "outq") ? SIOCOUTQ :
			    !strcmp(c->a[0], "outqnsd") ? SIOCOUTQNSD :
			    !strcmp(c->a[0], "atmark") ? SIOCATMARK : 0x1234;
	int v = -1;
	long rc = ioctl(slot(c->a[1])->fd, cmd, &v);

	say_result(c->o, rc, errno);
	if (!rc)
		say(c->o, " %d", v);
}

/* inqwait, outqwait NAME N: wait until SIOCINQ, SIOCOUTQ is N */
static void op_qwait(struct call *c)
{
	unsigned long cmd = c->a[0][0] == 'i' ? SIOCINQ : SIOCOUTQ;
	int v = -1, fd = slot(c->a[1])->fd, want = (int)num(c, 2, 0);
	double end = now_ms() + 5000;

	while (!ioctl(fd, cmd, &v) && v != want && now_ms() < end)
		usleep(5000);
	say(c->o, "= %d", v);
}

/* atmost NAME QUEUE N: is QUEUE (inq, outq or outqnsd) N at most? */
static void op_atmost(struct call *c)
{
	unsigned long cmd = !strcmp(c->a[2], "inq") ? SIOCINQ : !strcmp(c->a[2], "outq") ? SIOCOUTQ : SIOCOUTQNSD;
	int v = -1;
	long rc = ioctl(slot(c->a[1])->fd, cmd, &v);

	if (rc)
		say_result(c->o, rc, errno);
	else if (v > num(c, 3, 0))
		say(c->o, "= %d, too many", v);
	else
		say(c->o, "= so it is");
}

const struct op ops_option[] = {
	{ "set", op_set }, { "get", op_get }, { "info", op_info },
	{ "nonblock", op_block }, { "block", op_block }, { "inq", op_ioctl },
	{ "outq", op_ioctl }, { "outqnsd", op_ioctl }, { "atmark", op_ioctl },
	{ "badioctl", op_ioctl }, { "inqwait", op_qwait }, { "atmost", op_atmost },
	{ "outqwait", op_qwait }, { }
};
