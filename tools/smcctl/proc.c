// SPDX-License-Identifier: GPL-2.0-only
/* Processes and their sockets, from /proc. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "out.h"
#include "proc.h"

static struct {
	bool read;
	struct holder *h;
	size_t n;
	size_t room;
} all;

/* "socket:[123]" of an open file; 0 when it is no socket */
static uint64_t socket_inode(int fd_dir, const char *fd)
{
	char target[64];
	ssize_t len = readlinkat(fd_dir, fd, target, sizeof(target) - 1);
	uint64_t inode;

	if (len <= 0)
		return 0;
	target[len] = '\0';
	return sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1 ? inode : 0;
}

/* A program can choose any bytes: replace all but printable ASCII */
static void read_name(int pid, char name[PROC_NAME])
{
	char path[64], *c;
	FILE *f;

	strcpy(name, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (!fgets(name, PROC_NAME, f))
		strcpy(name, "?");
	fclose(f);
	name[strcspn(name, "\n")] = '\0';
	for (c = name; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
			*c = '?';
}

static void add_holder(uint64_t inode, int pid, int fd)
{
	if (all.n == all.room) {
		all.room = all.room ? all.room * 2 : 256;
		all.h = xrealloc(all.h, all.room * sizeof(*all.h));
	}
	all.h[all.n] = (struct holder){ .inode = inode, .pid = pid, .fd = fd };
	/* the name is read once for all sockets of a process */
	if (all.n && all.h[all.n - 1].pid == pid)
		strcpy(all.h[all.n].name, all.h[all.n - 1].name);
	else
		read_name(pid, all.h[all.n].name);
	all.n++;
}

static void read_process(int pid)
{
	struct dirent *entry;
	uint64_t inode;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;		/* gone, or of another user */
	while ((entry = readdir(dir))) {
		inode = socket_inode(dirfd(dir), entry->d_name);
		if (inode)
			add_holder(inode, pid, atoi(entry->d_name));
	}
	closedir(dir);
}

static int by_inode(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x->pid != y->pid ? x->pid - y->pid : x->fd - y->fd;
}

static void read_all(void)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	all.read = true;
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			read_process(atoi(entry->d_name));
	closedir(dir);
	if (all.n)
		qsort(all.h, all.n, sizeof(*all.h), by_inode);
}

const struct holder *proc_holders(uint64_t inode, size_t *n)
{
	size_t low = 0, high, mid;

	if (!all.read)
		read_all();
	for (high = all.n; low < high; ) {
		mid = low + (high - low) / 2;
		if (all.h[mid].inode < inode)
			low = mid + 1;
		else
			high = mid;
	}
	for (*n = 0; low + *n < all.n && all.h[low + *n].inode == inode; )
		++*n;
	return all.h + low;
}

void proc_forget(void)
{
	free(all.h);
	memset(&all, 0, sizeof(all));
}
