/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Talking to the kernel. All functions print what went wrong and return an
 * exit status.
 */
#ifndef SMCCTL_NL_H
#define SMCCTL_NL_H

#include <libmnl/libmnl.h>
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

int nl_lgr_del(uint32_t id);

/* Enter a network namespace: name, PID or path */
int netns_enter(const char *name);

#endif /* SMCCTL_NL_H */
