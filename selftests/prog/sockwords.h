/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of sockapi and sockcmd: flags, events, options, addresses. */
#ifndef _SOCKWORDS_H
#define _SOCKWORDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include "stream.h"

/* Tables end with an empty row */
struct name {
	const char *name;
	long value;
};

extern const struct name msg_flags[], poll_events[], epoll_flags[], signal_names[], hows[];

struct option_name {
	const char *name;
	int level, opt;
	enum { INT, TIMEVAL, LINGER, STRING, FILTER, LABEL } kind;
};

/* These end the program if a word is unknown */
void unknown(const char *what, const char *word, size_t len);
long by_name(const struct name *n, const char *s, size_t len);
long flags_of(const struct name *n, const char *s);
const struct option_name *option_of(const char *name);
socklen_t sock_address(struct sockaddr_storage *ss, int family, const char *host, int port);

int option_set(int fd, const struct option_name *o, const char *text, long len);
double now_ms(void);

#endif /* _SOCKWORDS_H */
