/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Talking to the kernel. All functions print what went wrong and return an
 * exit status.
 */
#ifndef SMCCTL_NL_H
#define SMCCTL_NL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

/* What a dump shall be limited to by the kernel */
struct nl_filter {
	uint16_t attr;		/* SMCR_A_* */
	uint8_t size;		/* 2 or 4 bytes; 0: string */
	uint32_t value;
	const char *str;
};

/* Connect and find the family. Nothing to do when that was done. */
int nl_open(void);
void nl_close(void);

/*
 * Dump with @cmd; @fn is called with attribute @nest of every message and
 * returns an exit status, other than EXIT_OK ends the dump.
 */
int nl_dump(uint8_t cmd, uint16_t nest, const struct nl_filter *filter,
	    unsigned int n_filter,
	    int (*fn)(const struct nlattr *nest, void *arg), void *arg);

/* @cmd with the link group @id; NULL: all of them */
int nl_lgr_do(uint8_t cmd, const uint32_t *id);

/* What the kernel tells unasked: attributes of one message, @link may be NULL */
struct nl_event {
	const struct nlattr *event;
	const struct nlattr *lgr;
	const struct nlattr *link;
};

/* Listen to events; @rcvbuf: bytes that may wait to be read */
int nl_listen(unsigned int rcvbuf);
/* Readable when there are some */
int nl_listen_fd(void);
/* @fn for each that is there; @lost is set if the kernel could not tell all */
int nl_events(int (*fn)(const struct nl_event *ev, void *arg), void *arg,
	      bool *lost);

/* Enter a network namespace: name, PID or path */
int netns_enter(const char *name);

/* Why the module is not there, and what to do */
const char *no_module(void);

#endif /* SMCCTL_NL_H */
