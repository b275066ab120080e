/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment of the pure core, user-space side: the twin of
 * net/core/env.h, put in front of every file with -include. Only what the core
 * may use is here; a core file that needs more does not compile.
 */
#ifndef _SMCR_CORE_ENV_H
#define _SMCR_CORE_ENV_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef signed short s16;
typedef signed int s32;
typedef signed long long s64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BIT(n) (1UL << (n))
#define U64_MAX (~0ULL)
#define U8_MAX ((u8)~0U)
#define SMCR_SET(member, val) ((member) = (val))
#define SMCR_GET(member) (member)
#define SMCR_SETUP __attribute__((constructor))
#define SMCR_ONCE_SET

/* as in linux/build_bug.h: the message is optional */
#undef static_assert
#define static_assert(expr, ...) \
	__static_assert(expr, ##__VA_ARGS__, #expr)
#define __static_assert(expr, msg, ...) _Static_assert(expr, msg)

/* both sides must have the same type, as in the kernel */
#define __smcr_same_type(a, b) \
	_Static_assert(__builtin_types_compatible_p(__typeof__((a) + 0), \
						    __typeof__((b) + 0)), \
		       "min/max of different types")
#define min(a, b) ({ \
	__smcr_same_type(a, b); \
	__typeof__(a) __a = (a); \
	__typeof__(b) __b = (b); \
	__a < __b ? __a : __b; })
#define max(a, b) ({ \
	__smcr_same_type(a, b); \
	__typeof__(a) __a = (a); \
	__typeof__(b) __b = (b); \
	__a > __b ? __a : __b; })
#define min_t(type, a, b) ({ \
	type __a = (a); \
	type __b = (b); \
	__a < __b ? __a : __b; })
#define max_t(type, a, b) ({ \
	type __a = (a); \
	type __b = (b); \
	__a > __b ? __a : __b; })
#define clamp_t(type, v, lo, hi) min_t(type, max_t(type, v, lo), hi)

#endif /* _SMCR_CORE_ENV_H */
