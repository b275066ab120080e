// SPDX-License-Identifier: GPL-2.0-only
/* sockapi: calls that wait: poll, select, epoll, io_uring; signals. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
#include "pattern.h"
#include "sockapi.h"

/* poll NAME EVENTS MS */
static void op_poll(struct call *c)
{
	struct pollfd p = {
		.fd = slot(c->a[1])->fd,
		.events = (short)flags_of(poll_events, c->a[2]),
	};
	long rc = poll(&p, 1, (int)num(c, 3, 0));

	say_result(c->o, rc, errno);
	if (rc > 0) {
		say(c->o, " ");
		say_flags(c->o, poll_events, p.revents);
	}
}

/* settled NAME: the result of poll(), once it no longer changes */
static void op_settled(struct call *c)
{
	struct pollfd p = {
		.fd = slot(c->a[1])->fd,
		.events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP,
	};
	short last = -1;
	int same = 0;

	while (same < 4) {
		poll(&p, 1, 0);
		same = p.revents == last ? same + 1 : 0;
		last = p.revents;
		usleep(20000);
	}
	say(c->o, "= ");
	say_flags(c->o, poll_events, last);
}

/* select NAME rwx MS */
static void op_select(struct call *c)
{
	struct timeval tv = { num(c, 3, 0) / 1000, num(c, 3, 0) % 1000 * 1000 };
	int fd = slot(c->a[1])->fd;
	fd_set f[3];
	long rc;
	int i;

	for (i = 0; i < 3; i++) {
		FD_ZERO(&f[i]);
		if (strchr(c->a[2], "rwx"[i]))
			FD_SET(fd, &f[i]);
	}
	rc = select(fd + 1, &f[0], &f[1], &f[2], &tv);
	say_result(c->o, rc, errno);
	for (i = 0; i < 3 && rc > 0; i++)
		if (FD_ISSET(fd, &f[i]))
			say(c->o, " %c", "rwx"[i]);
}

static void op_epoll(struct call *c)
{
	slot(c->a[1])->fd = epoll_create1(0);
	say(c->o, "= 0");
}

/* epadd|epmod|epdel EPOLL NAME [EVENTS] */
static void op_epctl(struct call *c)
{
	struct epoll_event ev = {
		.events = (uint32_t)flags_of(epoll_flags, arg(c, 3)),
		.data.u32 = (uint32_t)c->a[2][0],
	};
	int op = c->a[0][2] == 'a' ? EPOLL_CTL_ADD :
		 c->a[0][2] == 'm' ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	long rc = epoll_ctl(slot(c->a[1])->fd, op, slot(c->a[2])->fd, &ev);

	say_result(c->o, rc, errno);
}

static int by_slot(const void *a, const void *b)
{
	const struct epoll_event *x = a, *y = b;

	return (int)x->data.u32 - (int)y->data.u32;
}

/* epwait EPOLL MS */
static void op_epwait(struct call *c)
{
	struct epoll_event ev[16];
	long rc = epoll_wait(slot(c->a[1])->fd, ev, 16, (int)num(c, 2, 0));
	int i;

	say_result(c->o, rc, errno);
	if (rc > 0)
		qsort(ev, (size_t)rc, sizeof(*ev), by_slot);
	for (i = 0; i < rc; i++) {
		say(c->o, " %c:", ev[i].data.u32);
		say_flags(c->o, epoll_flags, (long)ev[i].events & 0xffff);
	}
}

/* async NAME: SIGIO to this process */
static void op_async(struct call *c)
{
	int fd = slot(c->a[1])->fd;

	fcntl(fd, F_SETOWN, getpid());
	sigs[SIGIO] = 0;
	say(c->o, "= %d", fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC));
}

/* own NAME: SIGURG to this process */
static void op_own(struct call *c)
{
	sigs[SIGURG] = 0;
	say_result(c->o, fcntl(slot(c->a[1])->fd, F_SETOWN, getpid()), errno);
}

/* count NAME MS: how often has it come since the last count? Waits for one. */
static void op_count(struct call *c)
{
	long no = by_name(signal_names, c->a[1], strlen(c->a[1]));
	double end = now_ms() + (double)num(c, 2, 0);

	while (!sigs[no] && now_ms() < end)
		usleep(5000);
	usleep(30000);
	say(c->o, "= %d", sigs[no]);
	sigs[no] = 0;
}

/* signal NAME [MS]: has it come since the last question? */
static void op_signal(struct call *c)
{
	long no = by_name(signal_names, c->a[1], strlen(c->a[1]));
	double end = now_ms() + (double)num(c, 2, 0);

	while (!sigs[no] && now_ms() < end)
		usleep(5000);
	/* until no more can come */
	usleep(30000);
	say(c->o, "%s", sigs[no] ? "yes" : "no");
	sigs[no] = 0;
}

/*
 * uring recv|send|accept|connect|poll|shutdown|close NAME ARG [MS]
 * One request, one completion.
 */
static void op_uring(struct call *c)
{
	struct __kernel_timespec ts = { num(c, 4, 5000) / 1000,
					num(c, 4, 5000) % 1000 * 1000000 };
	struct slot *s = slot(c->a[2]);
	struct sockaddr_storage ss;
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	size_t n = (size_t)num(c, 3, 0);
	int rc, len;
	char op = c->a[1][0];

	rc = io_uring_queue_init(4, &ring, 0);
	if (rc < 0) {
		say(c->o, "io_uring_queue_init %s", strerrorname_np(-rc));
		return;
	}
	sqe = io_uring_get_sqe(&ring);
	switch (op) {
	case 'r':
		io_uring_prep_recv(sqe, s->fd, buffer(), n, 0);
		break;
	case 's':
		if (c->a[1][1] == 'h') {
			io_uring_prep_shutdown(sqe, s->fd, SHUT_WR);
			break;
		}
		pattern_fill(buffer(), s->tx, n);
		io_uring_prep_send(sqe, s->fd, iobuf, n, MSG_NOSIGNAL);
		break;
	case 'a':
		io_uring_prep_accept(sqe, s->fd, NULL, NULL, 0);
		break;
	case 'p':
		io_uring_prep_poll_add(sqe, s->fd,
				       (unsigned int)flags_of(poll_events, c->a[3]));
		break;
	default:
		if (s->fd < 0)
			open_socket(s);
		len = address(&ss, peer_host, base_port + (int)n);
		io_uring_prep_connect(sqe, s->fd, (void *)&ss, len);
		break;
	}
	io_uring_submit(&ring);
	rc = io_uring_wait_cqe_timeout(&ring, &cqe, &ts);
	if (rc < 0) {
		say(c->o, "no completion: %s", strerrorname_np(-rc));
	} else if (op == 'p' && cqe->res > 0) {
		say(c->o, "= ");
		say_flags(c->o, poll_events, cqe->res);
	} else if (op == 'a' && cqe->res >= 0) {
		*slot(c->a[3]) = (struct slot){ .fd = cqe->res };
		say(c->o, "= 0");
	} else {
		say_result(c->o, cqe->res < 0 ? -1 : cqe->res, -cqe->res);
		if (op == 'r')
			say_data(c->o, s, iobuf, cqe->res, true);
		if (op == 's' && cqe->res > 0 && c->a[1][1] != 'h')
			s->tx += (uint64_t)cqe->res;
		c->o->made = op == 'c' && !cqe->res;
	}
	io_uring_queue_exit(&ring);
}

const struct op ops_event[] = {
	{ "poll", op_poll }, { "settled", op_settled },
	{ "select", op_select }, { "epoll", op_epoll }, { "epadd", op_epctl },
	{ "epmod", op_epctl }, { "epdel", op_epctl }, { "epwait", op_epwait },
	{ "async", op_async }, { "own", op_own }, { "count", op_count }, { "signal", op_signal }, { "uring", op_uring },
	{ }
};
