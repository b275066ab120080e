/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Environment of the pure core, kernel side.
 *
 * Everything under net/core may use these headers and nothing else of the
 * kernel: no locks, no allocation, no time, no I/O, no printing. Builds for
 * user space include selftests/unit/shim/env.h first, by -include. That file has
 * the same include guard, and so replaces this one.
 */
#ifndef _SMCR_CORE_ENV_H
#define _SMCR_CORE_ENV_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

/*
 * For a member that the caller's lock guards, but that is also read without
 * this lock: neither the stores nor these reads are torn. In user space both
 * macros are plain accesses.
 */
#define SMCR_SET(member, val)	WRITE_ONCE(member, val)
#define SMCR_GET(member)	READ_ONCE(member)

/*
 * A function that sets up a table before anything else of the module runs, and
 * the table. In user space it is a constructor.
 */
#define SMCR_SETUP	__init
#define SMCR_ONCE_SET	__ro_after_init

#endif /* _SMCR_CORE_ENV_H */
