/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes have a socket open, as far as /proc lets the caller see. */
#ifndef SMCCTL_PROC_H
#define SMCCTL_PROC_H

#include <stddef.h>
#include <stdint.h>

#define PROC_NAME	64

struct holder {
	uint64_t inode;
	int pid;
	int fd;
	char name[PROC_NAME];	/* of the process; only printable ASCII */
};

/*
 * The open sockets of all processes, read once and then kept; those with
 * @inode are next to each other. Returns the first of these, @n how many.
 */
const struct holder *proc_holders(uint64_t inode, size_t *n);
/* So that the next call reads anew */
void proc_forget(void);

#endif /* SMCCTL_PROC_H */
