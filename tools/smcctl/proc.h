/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that have a socket open, as far as the caller may read /proc. */
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
 * Returns an array with the @n open file descriptors of socket @inode. The first
 * call reads those of all processes; further calls use what it has read.
 */
const struct holder *proc_holders(uint64_t inode, size_t *n);
/* Free what was read; the next proc_holders() reads /proc again */
void proc_forget(void);

#endif /* SMCCTL_PROC_H */
