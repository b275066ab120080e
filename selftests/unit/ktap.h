/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test cases in KTAP version 1, seeded random numbers, messages in exactly
 * sized memory.
 *
 *	TEST(smcr_foo__empty)
 *	{
 *		covers("CDC-12 CDC-15");
 *		EXPECT_EQ(smcr_foo(0), 0);
 *	}
 *
 * One test program per source file, cases named function__case and run in the
 * order of the file. covers() names the entries of the conformance catalogue
 * that the case really shows; they are printed only if the case passes.
 * EXPECT_* note a failure and go on, ASSERT_* end the case.
 *
 * Command line: words; only cases with one of them in the name run. SEED= in
 * the environment repeats the random numbers of an earlier run.
 */
#ifndef _SMCR_UNIT_KTAP_H
#define _SMCR_UNIT_KTAP_H

#include "shim/env.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct ktap_case {
	const char *name;
	int line;
	void (*fn)(void);
};

static struct {
	struct ktap_case cases[200];
	unsigned int n;
	unsigned int n_fail;		/* in the running case */
	char covers[1024];
	jmp_buf bail;
	u64 rnd;
} ktap;

#define TEST(name_)							\
	static void name_(void);					\
	static void __attribute__((constructor)) ktap_add_##name_(void)	\
	{								\
		ktap_add(#name_, __LINE__, name_);			\
	}								\
	static void name_(void)

static inline void ktap_add(const char *name, int line, void (*fn)(void))
{
	unsigned int i = ktap.n++;

	if (i == ARRAY_SIZE(ktap.cases))
		abort();
	/* by line: constructors run in any order */
	for (; i && ktap.cases[i - 1].line > line; i--)
		ktap.cases[i] = ktap.cases[i - 1];
	ktap.cases[i] = (struct ktap_case){ name, line, fn };
}

static inline void covers(const char *ids)
{
	size_t len = strlen(ktap.covers);

	snprintf(ktap.covers + len, sizeof(ktap.covers) - len, " %s", ids);
}

/* Only the first failures of a case are printed. */
static inline bool ktap_fail(const char *file, int line)
{
	bool print = ktap.n_fail++ < 10;

	if (print)
		printf("# %s:%d: ", file, line);
	return print;
}

#define KTAP_CHECK(cond, bail_, ...) do {				\
	if (!(cond)) {							\
		if (ktap_fail(__FILE__, __LINE__)) {			\
			printf(__VA_ARGS__);				\
			printf("\n");					\
		}							\
		if (bail_)						\
			longjmp(ktap.bail, 1);				\
	}								\
} while (0)

/* Checks that covers() was called with each of @ids. */
static inline void claimed(const char *ids)
{
	char word[16];
	size_t n;

	for (; *ids; ids += n) {
		ids += strspn(ids, " ");
		n = strcspn(ids, " ");
		snprintf(word, sizeof(word), "%.*s", (int)n, ids);
		KTAP_CHECK(strstr(ktap.covers, word), 0, "%s is not claimed", word);
	}
}

#define KTAP_OP(a, op, b, bail_) do {					\
	long long ktap_a = (long long)(a);				\
	long long ktap_b = (long long)(b);				\
	KTAP_CHECK(ktap_a op ktap_b, bail_,				\
		   "%s %s %s does not hold: %lld (0x%llx), %lld (0x%llx)", \
		   #a, #op, #b, ktap_a, (u64)ktap_a, ktap_b, (u64)ktap_b); \
} while (0)

#define EXPECT_TRUE(cond)	KTAP_CHECK(cond, 0, "not true: %s", #cond)
#define ASSERT_TRUE(cond)	KTAP_CHECK(cond, 1, "not true: %s", #cond)
#define EXPECT_FALSE(cond)	KTAP_CHECK(!(cond), 0, "not false: %s", #cond)
#define EXPECT_EQ(a, b)		KTAP_OP(a, ==, b, 0)
#define ASSERT_EQ(a, b)		KTAP_OP(a, ==, b, 1)
#define EXPECT_NE(a, b)		KTAP_OP(a, !=, b, 0)
#define ASSERT_NE(a, b)		KTAP_OP(a, !=, b, 1)
#define EXPECT_LE(a, b)		KTAP_OP(a, <=, b, 0)
#define ASSERT_LE(a, b)		KTAP_OP(a, <=, b, 1)
#define EXPECT_MEM(a, b, len)						\
	KTAP_CHECK(!memcmp(a, b, len), 0, "%s differs from %s", #a, #b)
#define EXPECT_STR(a, b) do {						\
	const char *ktap_s = (a);					\
	KTAP_CHECK(!strcmp(ktap_s, b), 0, "\"%s\" is not \"%s\"",	\
		   ktap_s, b);						\
} while (0)

/* splitmix64 */
static inline u64 rnd64(void)
{
	u64 z = ktap.rnd += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* 0 .. n - 1 */
static inline u32 rnd(u32 n)
{
	return (u32)((rnd64() >> 32) * n >> 32);
}

/* lo .. hi */
static inline u32 rnd_in(u32 lo, u32 hi)
{
	return lo + rnd(hi - lo + 1);
}

static inline bool rnd_bool(void)
{
	return rnd(2);
}

static inline void rnd_bytes(void *p, size_t len)
{
	u8 *b = p;

	while (len--)
		*b++ = (u8)rnd64();
}

/* A copy in memory of just that size: the sanitizer sees every over-read. */
static inline u8 *exact(const void *p, size_t len)
{
	u8 *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	if (len)
		memcpy(copy, p, len);
	/* for no bytes, the end of a block of one: what follows is poisoned */
	return copy + (len ? 0 : 1);
}

static inline void exact_free(u8 *copy, size_t len)
{
	free(copy - (len ? 0 : 1));
}

static inline bool ktap_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return argc < 2;
}

/* Each case has its own sequence, whichever other cases run. */
static inline void ktap_seed(u64 seed, const char *name)
{
	for (ktap.rnd = seed; *name; name++)
		ktap.rnd = (ktap.rnd ^ (u8)*name) * 0x100000001b3ULL;
}

static inline bool ktap_run(const struct ktap_case *c, unsigned int num,
			    u64 seed)
{
	ktap_seed(seed, c->name);
	ktap.n_fail = 0;
	ktap.covers[0] = 0;
	if (!setjmp(ktap.bail))
		c->fn();
	if (!ktap.n_fail && ktap.covers[0])
		printf("# covers:%s\n", ktap.covers);
	printf("%sok %u %s\n", ktap.n_fail ? "not " : "", num, c->name);
	return !ktap.n_fail;
}

int main(int argc, char **argv)
{
	const char *env = getenv("SEED");
	unsigned int i, num = 0, n = 0;
	struct timespec now;
	bool ok = true;
	u64 seed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	clock_gettime(CLOCK_REALTIME, &now);
	seed = env ? strtoull(env, NULL, 0) :
		     (u64)now.tv_sec * 1000000007 + (u64)now.tv_nsec;

	for (i = 0; i < ktap.n; i++)
		n += ktap_wanted(ktap.cases[i].name, argc, argv);
	printf("KTAP version 1\n1..%u\n# SEED=0x%llx\n", n, seed);
	for (i = 0; i < ktap.n; i++)
		if (ktap_wanted(ktap.cases[i].name, argc, argv))
			ok &= ktap_run(&ktap.cases[i], ++num, seed);
	return !ok;
}

#endif /* _SMCR_UNIT_KTAP_H */
