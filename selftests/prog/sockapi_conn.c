// SPDX-License-Identifier: GPL-2.0-only
/* sockapi: calls that make and end connections. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "sockapi.h"

static void op_socket(struct call *c)
{
	long rc = open_socket(slot(c->a[1]));

	say_result(c->o, rc < 0 ? rc : 0, errno);
}

static void op_serve(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	struct sockaddr_storage ss;
	int one = 1, len;
	long rc;

	if (s->fd < 0)
		open_socket(s);
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	len = address(&ss, NULL, base_port + (int)num(c, 2, 0));
	rc = bind(s->fd, (void *)&ss, len);
	if (!rc)
		rc = listen(s->fd, (int)num(c, 3, 16));
	say_result(c->o, rc, errno);
}

/* bind NAME OFFSET [any|peer|short|badfamily] */
static void op_bind(struct call *c)
{
	const char *how = arg(c, 3);
	struct sockaddr_storage ss;
	int len;
	long rc;

	len = address(&ss, how && !strcmp(how, "peer") ? peer_host : NULL,
		      num(c, 2, 0) < 0 ? 0 : base_port + (int)num(c, 2, 0));
	if (how && !strcmp(how, "short"))
		len = 3;
	if (how && !strcmp(how, "badfamily"))
		ss.ss_family = AF_UNIX;
	rc = bind(slot(c->a[1])->fd, (void *)&ss, len);
	say_result(c->o, rc, errno);
}

static void op_listen(struct call *c)
{
	long rc = listen(slot(c->a[1])->fd, (int)num(c, 2, 16));

	say_result(c->o, rc, errno);
}

static int peer_address(struct call *c, struct sockaddr_storage *ss)
{
	const char *how = arg(c, 3);
	int len;

	len = address(ss, how && !strcmp(how, "self") ?
		      (family == 6 ? "::1" : "127.0.0.1") :
		      how && !strcmp(how, "none") ?
		      (family == 6 && !mapped ? "fd77::77:1" : "10.77.0.77") : peer_host,
		      base_port + (int)num(c, 2, 0));
	if (how && !strcmp(how, "short"))
		len = 3;
	if (how && !strcmp(how, "badfamily"))
		ss->ss_family = AF_UNIX;
	if (how && !strcmp(how, "unspec"))
		ss->ss_family = AF_UNSPEC;
	return len;
}

/* connect NAME [OFFSET [self|none|short|badfamily|unspec]] */
static void op_connect(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	struct sockaddr_storage ss;
	long rc;
	int len;

	if (s->fd < 0)
		open_socket(s);
	len = peer_address(c, &ss);
	rc = connect(s->fd, (void *)&ss, len);
	say_result(c->o, rc, errno);
	c->o->made = !rc && ss.ss_family != AF_UNSPEC;
}

/* accept LISTENER NAME [nonblock] */
static void op_accept(struct call *c)
{
	struct slot *n = slot(c->a[2]);
	struct sockaddr_storage ss = { };
	socklen_t len = sizeof(ss);
	long rc;

	rc = accept4(slot(c->a[1])->fd, (void *)&ss, &len,
		     arg(c, 3) ? SOCK_NONBLOCK : 0);
	say_result(c->o, rc < 0 ? rc : 0, errno);
	if (rc < 0)
		return;
	*n = (struct slot){ .fd = (int)rc };
	say_address(c->o, &ss, len);
}

static void op_close(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long rc = close(s->fd);

	say_result(c->o, rc, errno);
	s->fd = -1;
}

static void op_shutdown(struct call *c)
{
	long rc = shutdown(slot(c->a[1])->fd,
			   (int)by_name(hows, c->a[2], strlen(c->a[2])));

	say_result(c->o, rc, errno);
}

static void op_name(struct call *c)
{
	struct sockaddr_storage ss = { };
	socklen_t len = sizeof(ss);
	long rc;

	rc = (c->a[0][0] == 'n' ? getsockname : getpeername)
		(slot(c->a[1])->fd, (void *)&ss, &len);
	say_result(c->o, rc, errno);
	if (!rc)
		say_address(c->o, &ss, len);
}

/* dup NAME NEW */
static void op_dup(struct call *c)
{
	struct slot *s = slot(c->a[1]), *n = slot(c->a[2]);

	*n = *s;
	n->fd = dup(s->fd);
	say_result(c->o, n->fd < 0 ? -1 : 0, errno);
}

/* passfd NAME NEW: through a UNIX socket; the old one is closed meanwhile */
static void op_passfd(struct call *c)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = { };
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = u.space, .msg_controllen = sizeof(u.space),
	};
	struct slot *s = slot(c->a[1]), *n = slot(c->a[2]);
	struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
	int sp[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sp))
		exit(2);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &s->fd, sizeof(int));
	sendmsg(sp[0], &m, 0);
	close(s->fd);
	s->fd = -1;
	recvmsg(sp[1], &m, 0);
	*n = *s;
	cm = CMSG_FIRSTHDR(&m);
	if (cm)
		memcpy(&n->fd, CMSG_DATA(cm), sizeof(int));
	say(c->o, cm ? "= 0" : "= nothing arrived");
	close(sp[0]);
	close(sp[1]);
}

const struct op ops_conn[] = {
	{ "socket", op_socket }, { "serve", op_serve }, { "bind", op_bind },
	{ "listen", op_listen }, { "connect", op_connect },
	{ "accept", op_accept }, { "close", op_close },
	{ "shutdown", op_shutdown }, { "name", op_name }, { "peer", op_name },
	{ "dup", op_dup }, { "passfd", op_passfd }, { }
};
