/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fuzz targets share. */
#ifndef _SMCR_UNIT_FUZZ_H
#define _SMCR_UNIT_FUZZ_H

#include "shim/env.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

/* A property that must hold for every input */
#define MUST(cond) do { \
	if (!(cond)) \
		abort(); \
} while (0)

/* The input as a source of numbers; zeros behind its end */
struct fuzz_in {
	const u8 *p;
	size_t left;
};

static inline u8 fuzz_u8(struct fuzz_in *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static inline u16 fuzz_u16(struct fuzz_in *in)
{
	u16 hi = fuzz_u8(in);

	return (u16)(hi << 8 | fuzz_u8(in));
}

static inline u32 fuzz_u32(struct fuzz_in *in)
{
	u32 hi = fuzz_u16(in);

	return hi << 16 | fuzz_u16(in);
}

#endif /* _SMCR_UNIT_FUZZ_H */
