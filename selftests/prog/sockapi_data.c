// SPDX-License-Identifier: GPL-2.0-only
/* sockapi: calls that carry data. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "pattern.h"
#include "sockapi.h"

/* Has this call raised SIGPIPE? */
static void say_pipe(struct op_out *o, int before)
{
	if (sigs[SIGPIPE] != before)
		say(o, " +SIGPIPE");
}

/* send NAME BYTES [FLAGS] */
static void op_send(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	int before = sigs[SIGPIPE];
	long n = num(c, 2, 1), rc;

	pattern_fill(buffer(), s->tx, (unsigned long)n);
	rc = send(s->fd, iobuf, (size_t)n, (int)flags_of(msg_flags, arg(c, 3)));
	say_result(c->o, rc, errno);
	say_pipe(c->o, before);
	if (rc > 0)
		s->tx += (uint64_t)rc;
}

/* sendto NAME BYTES [FLAGS]: with the address of the peer */
static void op_sendto(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	struct sockaddr_storage ss;
	long n = num(c, 2, 1), rc;
	int len = address(&ss, peer_host, base_port);

	pattern_fill(buffer(), s->tx, (unsigned long)n);
	rc = sendto(s->fd, iobuf, (size_t)n, MSG_NOSIGNAL | (int)flags_of(msg_flags, arg(c, 3)), (void *)&ss, len);
	say_result(c->o, rc, errno);
	if (rc > 0)
		s->tx += (uint64_t)rc;
}

static void op_recv(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	int flags = (int)flags_of(msg_flags, arg(c, 3));
	long n = num(c, 2, 1), rc;

	memset(buffer(), 0, (size_t)n);
	rc = recv(s->fd, iobuf, (size_t)n, flags);
	say_result(c->o, rc, errno);
	if (flags & MSG_TRUNC) {
		if (rc > 0 && !(flags & MSG_PEEK))
			s->rx += (uint64_t)rc;
	} else {
		say_data(c->o, s, iobuf, rc, !(flags & MSG_PEEK));
	}
}

/* tell NAME TEXT [FLAGS]: send text outside of the pattern */
static void op_tell(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	int before = sigs[SIGPIPE];
	long rc = send(s->fd, c->a[2], strlen(c->a[2]), (int)flags_of(msg_flags, arg(c, 3)));

	say_result(c->o, rc, errno);
	say_pipe(c->o, before);
}

/* hear NAME BYTES [FLAGS]: receive what tell has sent */
static void op_hear(struct call *c)
{
	struct iovec iov = { buffer(), (size_t)num(c, 2, 1) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct slot *s = slot(c->a[1]);
	long rc;

	memset(iobuf, 0, iov.iov_len + 1);
	rc = recvmsg(s->fd, &m, (int)flags_of(msg_flags, arg(c, 3)));
	say_result(c->o, rc, errno);
	if (rc >= 0)
		say(c->o, " \"%.1000s\" flags %x", iobuf, m.msg_flags);
}

/* oob NAME [FLAGS]: the urgent byte, wherever it is in the pattern */
static void op_oob(struct call *c)
{
	unsigned char byte = 0;
	long rc = recv(slot(c->a[1])->fd, &byte, 1, MSG_OOB | (int)flags_of(msg_flags, arg(c, 2)));

	say_result(c->o, rc, errno);
	if (rc == 1)
		say(c->o, " 0x%02x", byte);
}

/* skip NAME BYTES: bytes of the pattern that were not received in line */
static void op_skip(struct call *c)
{
	slot(c->a[1])->rx += (uint64_t)num(c, 2, 1);
	say(c->o, "= 0");
}

/* recvfrom NAME BYTES: shows the length of the address, too */
static void op_recvfrom(struct call *c)
{
	struct sockaddr_storage ss = { };
	socklen_t len = sizeof(ss);
	struct slot *s = slot(c->a[1]);
	long rc;

	rc = recvfrom(s->fd, buffer(), (size_t)num(c, 2, 1), 0, (void *)&ss, &len);
	say_result(c->o, rc, errno);
	say(c->o, " address length %u", len);
	say_data(c->o, s, iobuf, rc, true);
}

/* recvmsg NAME BYTES [FLAGS]: msg_flags and ancillary data */
static void op_recvmsg(struct call *c)
{
	char control[256];
	struct iovec iov = { buffer(), (size_t)num(c, 2, 1) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct slot *s = slot(c->a[1]);
	struct cmsghdr *cm;
	long rc;

	rc = recvmsg(s->fd, &m, (int)flags_of(msg_flags, arg(c, 3)));
	say_result(c->o, rc, errno);
	if (rc >= 0) {
		say(c->o, " flags %x", m.msg_flags);
		for (cm = CMSG_FIRSTHDR(&m); cm; cm = CMSG_NXTHDR(&m, cm)) {
			int v = 0;

			memcpy(&v, CMSG_DATA(cm), sizeof(v));
			if (cm->cmsg_level == IPPROTO_TCP)
				say(c->o, " cmsg TCP/%d %d", cm->cmsg_type, v);
			else
				say(c->o, " cmsg %d/%d", cm->cmsg_level, cm->cmsg_type);
		}
	}
	say_data(c->o, s, iobuf, rc, true);
}

/* writev/readv/sendmsg NAME LEN...: one call, one piece of memory per LEN */
static void op_vector(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	bool out = c->a[0][0] != 'r', msg = c->a[0][0] == 's';
	struct iovec iov[MAXARG];
	struct msghdr m = { .msg_iov = iov };
	int before = sigs[SIGPIPE], i, n = 0;
	size_t at = 0;
	long rc;

	buffer();
	for (i = 2; i < c->n; i++) {
		iov[n].iov_base = iobuf + at;
		iov[n].iov_len = (size_t)num(c, i, 0);
		at += iov[n++].iov_len;
	}
	m.msg_iovlen = (size_t)n;
	if (out)
		pattern_fill(iobuf, s->tx, at);
	rc = msg ? sendmsg(s->fd, &m, 0) :
	     out ? writev(s->fd, iov, n) : readv(s->fd, iov, n);
	say_result(c->o, rc, errno);
	if (out && rc > 0)
		s->tx += (uint64_t)rc;
	if (!out)
		say_data(c->o, s, iobuf, rc, true);
	say_pipe(c->o, before);
}

/* sendcmsg NAME LEN LEVEL/TYPE BYTES [SAID]: a control message of zeros; SAID: another cmsg_len */
static void op_sendcmsg(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	struct iovec iov = { buffer(), (size_t)num(c, 2, 0) };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(64)];
	} u = { .room = "" };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u };
	struct cmsghdr *cm = &u.align;
	size_t len = (size_t)num(c, 4, 0);
	long rc;

	sscanf(arg(c, 3), "%d/%d", &cm->cmsg_level, &cm->cmsg_type);
	m.msg_controllen = CMSG_SPACE(len);
	cm->cmsg_len = CMSG_LEN((size_t)num(c, 5, (long)len));
	pattern_fill(iobuf, s->tx, iov.iov_len);
	rc = sendmsg(s->fd, &m, 0);
	say_result(c->o, rc, errno);
	if (rc > 0)
		s->tx += (uint64_t)rc;
}

/* badmem NAME send|recv|sendpart|recvpart: unmapped memory, or partly so */
static void op_badmem(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool part = strstr(c->a[2], "part");
	size_t ok = part ? 100 : 0;
	long rc;

	munmap(p + page, page);
	if (c->a[2][0] == 's') {
		pattern_fill(p + page - ok, s->tx, ok);
		rc = send(s->fd, p + page - ok, ok + 50, MSG_DONTWAIT);
	} else {
		rc = recv(s->fd, p + page - ok, ok + 50, MSG_DONTWAIT);
	}
	say_result(c->o, rc, errno);
	munmap(p, page);
}

static int pattern_file(struct slot *s, long n)
{
	char name[] = "/tmp/sockapi-XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	pattern_fill(buffer(), s->tx, (unsigned long)n);
	if (write(fd, iobuf, (size_t)n) != n)
		exit(2);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* sendfile NAME BYTES [BEYOND]: until all are sent; asks for BEYOND more than the file has */
static void op_sendfile(struct call *c)
{
	long beyond = num(c, 3, 0);
	struct slot *s = slot(c->a[1]);
	long n = num(c, 2, 1), sent = 0, rc = 0;
	int before = sigs[SIGPIPE];
	int fd = pattern_file(s, n);

	while (sent < n) {
		rc = sendfile(s->fd, fd, NULL, (size_t)(n - sent + beyond));
		if (rc <= 0)
			break;
		sent += rc;
	}
	say_result(c->o, rc < 0 ? rc : sent, errno);
	say_pipe(c->o, before);
	s->tx += (uint64_t)sent;
	close(fd);
}

/* spliceout NAME BYTES: pipe to socket */
static void op_spliceout(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long n = num(c, 2, 1), sent = 0, rc;
	int p[2];

	if (pipe(p))
		exit(2);
	while (sent < n) {
		long step = n - sent < 16384 ? n - sent : 16384;

		pattern_fill(buffer(), s->tx, (unsigned long)step);
		if (write(p[1], iobuf, (size_t)step) != step)
			exit(2);
		rc = splice(p[0], NULL, s->fd, NULL, (size_t)step,
			    sent + step < n ? SPLICE_F_MORE : 0);
		if (rc != step) {
			say(c->o, "step ");
			say_result(c->o, rc, errno);
			break;
		}
		s->tx += (uint64_t)rc;
		sent += rc;
	}
	say(c->o, "= %ld", sent);
	close(p[0]);
	close(p[1]);
}

/* splicein NAME BYTES [nonblock]: socket to pipe; until that many or the end */
static void op_splicein(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long n = num(c, 2, 1), got = 0, rc = 0, r;
	int p[2];

	if (pipe(p))
		exit(2);
	while (got < n) {
		rc = splice(s->fd, NULL, p[1], NULL, (size_t)(n - got),
			    arg(c, 3) ? SPLICE_F_NONBLOCK : 0);
		if (rc <= 0)
			break;
		r = read(p[0], buffer(), (size_t)rc);
		say_data(c->o, s, iobuf, r, true);
		if (r != rc)
			say(c->o, "pipe has %ld of %ld ", r, rc);
		got += rc;
	}
	if (rc < 0)
		say_result(c->o, rc, errno);
	say(c->o, rc < 0 ? " after %ld" : "= %ld", got);
	close(p[0]);
	close(p[1]);
}

/* fill NAME [CHUNK]: send without blocking until there is no room for 0.4 s */
static void op_fill(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	size_t n = (size_t)num(c, 2, 8192);
	long rc = 0, total = 0;
	int full = 0;

	/* TCP's window probes and late ACKs make room once more */
	while (full < 10) {
		pattern_fill(buffer(), s->tx, n);
		rc = send(s->fd, iobuf, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (rc < 0 && errno != EAGAIN)
			break;
		if (rc < 0) {
			full++;
			usleep(40000);
			continue;
		}
		full = 0;
		s->tx += (uint64_t)rc;
		total += rc;
	}
	say(c->o, total > 0 ? "= some, then " : "= nothing, then ");
	say_result(c->o, rc, errno);
}

/* drain NAME BYTES|- [MS]: receive to the end; have BYTES come in all? */
static void op_drain(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	uint64_t want = strtoull(c->a[2], NULL, 0);
	struct timeval tv = { num(c, 3, 10000) / 1000, 0 };
	long rc;

	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	do {
		rc = recv(s->fd, buffer(), 65536, 0);
		say_data(c->o, s, iobuf, rc, true);
	} while (rc > 0);
	say(c->o, "%s, then ", c->a[2][0] == '-' ? "some" : s->rx == want ? "all" : s->rx > want ? "TOO MUCH" :
	    s->rx ? "part" : "nothing");
	say_result(c->o, rc, errno);
}

/* take NAME BYTES: receive exactly that many */
static void op_take(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	uint64_t want = strtoull(c->a[2], NULL, 0);
	long rc = 1;

	while (want && rc > 0) {
		rc = recv(s->fd, buffer(), want < 65536 ? want : 65536, 0);
		say_data(c->o, s, iobuf, rc, true);
		if (rc > 0)
			want -= (uint64_t)rc;
	}
	if (want)
		say_result(c->o, rc, errno);
	else
		say(c->o, "= all");
}

/* put NAME BYTES [CHUNK]: send all of it */
static void op_put(struct call *c)
{
	struct slot *s = slot(c->a[1]);
	long n = num(c, 2, 1), chunk = num(c, 3, 65536), rc = 1;

	while (n && rc > 0) {
		long step = n < chunk ? n : chunk;

		pattern_fill(buffer(), s->tx, (unsigned long)step);
		rc = send(s->fd, iobuf, (size_t)step, MSG_NOSIGNAL);
		if (rc > 0) {
			n -= rc;
			s->tx += (uint64_t)rc;
		}
	}
	if (n)
		say_result(c->o, rc, errno);
	else
		say(c->o, "= all");
}

const struct op ops_data[] = {
	{ "tell", op_tell }, { "hear", op_hear }, { "skip", op_skip }, { "oob", op_oob },
	{ "send", op_send }, { "sendto", op_sendto }, { "recv", op_recv },
	{ "recvfrom", op_recvfrom }, { "recvmsg", op_recvmsg },
	{ "writev", op_vector }, { "readv", op_vector },
	{ "sendmsg", op_vector }, { "sendcmsg", op_sendcmsg },
	{ "badmem", op_badmem },
	{ "sendfile", op_sendfile }, { "spliceout", op_spliceout },
	{ "splicein", op_splicein }, { "fill", op_fill },
	{ "drain", op_drain }, { "take", op_take }, { "put", op_put }, { }
};
