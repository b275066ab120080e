/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink requests, dumps and events. Unless noted otherwise, a function
 * prints a message when it fails, and returns an exit status.
 */
#ifndef SMCCTL_NL_H
#define SMCCTL_NL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

/* A condition that the kernel applies to the objects of a dump */
struct nl_filter {
	uint16_t attr;		/* SMCR_A_* */
	uint8_t size;		/* 2 or 4 bytes; 0: string */
	uint32_t value;
	const char *str;
};

/* Open the socket and look up the family, unless that was done before */
int nl_open(void);
void nl_close(void);

/*
 * Dump with @cmd; @fn is called with attribute @nest of every message and
 * returns an exit status. One other than EXIT_OK ends the dump.
 */
int nl_dump(uint8_t cmd, uint16_t nest, const struct nl_filter *filter,
	    unsigned int n_filter,
	    int (*fn)(const struct nlattr *nest, void *arg), void *arg);

/* Send @cmd for the link group @id; NULL: for all of them */
int nl_lgr_do(uint8_t cmd, const uint32_t *id);

/* An event: the attributes of its message; @link may be NULL */
struct nl_event {
	const struct nlattr *event;
	const struct nlattr *lgr;
	const struct nlattr *link;
};

/* Subscribe to events; @rcvbuf: size of the receive buffer in bytes */
int nl_listen(unsigned int rcvbuf);
/* File descriptor, readable while events are pending */
int nl_listen_fd(void);
/* Call @fn for each pending event; @lost is set if the kernel dropped some */
int nl_events(int (*fn)(const struct nl_event *ev, void *arg), void *arg,
	      bool *lost);

/* Enter a network namespace: name, PID or path */
int netns_enter(const char *name);

/* A message: why the module is missing, and the commands that load it */
const char *no_module(void);

#endif /* SMCCTL_NL_H */
