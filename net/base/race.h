/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Delay points: latches (race.c) at places where threads may race. With a latch
 * a test decides which thread goes first. Without SMCR_RACE these functions are
 * empty. SMCR_RACE also compiles checks that are too slow for use, or that a peer
 * can make fail.
 */
#ifndef _SMCR_RACE_H
#define _SMCR_RACE_H

#include <linux/bitops.h>
#include <linux/bug.h>

struct net;

#ifdef SMCR_RACE
/* Warn if two threads are between these two functions at once */
static inline void smcr_race_begin(unsigned int bit, unsigned long *word)
{
	WARN_ON_ONCE(test_and_set_bit(bit, word));
}

static inline void smcr_race_end(unsigned int bit, unsigned long *word)
{
	clear_bit(bit, word);
}

void smcr_race(const struct net *net, const char *name);
void smcr_race_atomic(const struct net *net, const char *name);
#else
static inline void smcr_race_begin(unsigned int bit, unsigned long *word)
{
}

static inline void smcr_race_end(unsigned int bit, unsigned long *word)
{
}

static inline void smcr_race(const struct net *net, const char *name)
{
}

static inline void smcr_race_atomic(const struct net *net, const char *name)
{
}
#endif

#endif /* _SMCR_RACE_H */
