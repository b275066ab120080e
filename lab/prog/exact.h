/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks for the exact lane, which counts instructions (lib/exact.py): two
 * instructions, no-ops on any machine, show the profiler in QEMU where a
 * measurement begins and ends.
 */
#ifndef _EXACT_H
#define _EXACT_H

#include <stdio.h>

/* Idle time of all processors in seconds; 0 if the kernel does not export it */
static inline double idle_seconds(void)
{
	FILE *f = fopen("/proc/timer_list", "r");
	unsigned long long ns, sum = 0;
	char line[256];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " .idle_sleeptime : %llu nsecs", &ns) == 1)
			sum += ns;
	fclose(f);
	return (double)sum / 1e9;
}

/* nopl DISPLACEMENT(%rax): a displacement that no compiler chooses, see lib/exactprof.c */
static inline double exact_begin(void)
{
	double idle = idle_seconds();

#ifdef __x86_64__
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80, 'S', 'M', 'X', 1" ::: "memory");
#endif
	return idle;
}

/* Idle time since exact_begin() in seconds; @before is what that has returned */
static inline double exact_end(double before)
{
#ifdef __x86_64__
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80, 'S', 'M', 'X', 2" ::: "memory");
#endif
	return idle_seconds() - before;
}

#endif /* _EXACT_H */
