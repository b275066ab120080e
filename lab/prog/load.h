/* SPDX-License-Identifier: GPL-2.0 */
/* Time that the processors of a machine were busy, with work of any process. */
#ifndef _LOAD_H
#define _LOAD_H

#include <err.h>
#include <stdio.h>
#include <unistd.h>

struct load {
	unsigned long long idle, all;	/* ticks, of all processors together */
};

static inline struct load load(void)
{
	unsigned long long v[8] = { 0 };
	struct load l = { 0 };
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", v, v + 1, v + 2, v + 3,
			 v + 4, v + 5, v + 6, v + 7) < 4)
		err(1, "/proc/stat");
	fclose(f);
	for (int i = 0; i < 8; i++)
		l.all += v[i];
	l.idle = v[3] + v[4];
	return l;
}

/* The busy part of the time since @before, 0 to 1 */
static inline double busy(struct load before)
{
	struct load l = load();

	return l.all == before.all ? 0 :
	       1 - (double)(l.idle - before.idle) / (double)(l.all - before.all);
}

/* Busy time since @before in seconds */
static inline double busy_seconds(struct load before)
{
	struct load l = load();

	return (double)((l.all - before.all) - (l.idle - before.idle)) / (double)sysconf(_SC_CLK_TCK);
}

#endif /* _LOAD_H */
