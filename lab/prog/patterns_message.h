/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * put, get and flag of patterns.h for carriers that only have messages, and no
 * access to the peer's memory: put and flag are messages, and get is a request,
 * which the peer answers while it awaits a flag.
 */
#ifndef _PATTERNS_MESSAGE_H
#define _PATTERNS_MESSAGE_H

#include "patterns.h"

enum { PUT, GET, DATA, FLAG };

struct message {
	uint32_t op, flag;
	uint64_t off, len;
};

/* Of the carrier: send, and receive, a message; if it has data, they are at @off of both memories. */
static void say(struct link *l, uint32_t op, size_t off, size_t len, uint32_t flag);
static struct message hear(struct link *l);

static bool has_data(uint32_t op)
{
	return op == PUT || op == DATA;
}

static void within_memory(const struct message *m)
{
	if (m->off > memory_size() || m->len > memory_size() - m->off)
		errx(1, "the other side names memory that is not there");
}

static void put(struct link *l, size_t off, size_t len)
{
	say(l, PUT, off, len, 0);
}

static void put_flag(struct link *l, size_t off, size_t len, uint32_t flag)
{
	if (len)
		put(l, off, len);
	say(l, FLAG, 0, 0, flag);
}

static void get(struct link *l, size_t off, size_t len)
{
	struct message m;

	say(l, GET, off, len, 0);
	m = hear(l);
	if (m.op != DATA || m.off != off || m.len != len)
		errx(1, "not the answer to a get");
}

static uint32_t await(struct link *l)
{
	struct message m;

	for (;;) {
		m = hear(l);
		if (m.op == FLAG)
			return m.flag;
		if (m.op == GET)
			say(l, DATA, m.off, m.len, 0);
	}
}

#endif /* _PATTERNS_MESSAGE_H */
