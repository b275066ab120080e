/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Big-endian integers at any byte address, RFC 7609 A.2 to A.4 (reading I-01).
 * Wire fields of this protocol are not aligned, and some have three bytes.
 */
#ifndef _SMCR_CORE_BYTEIO_H
#define _SMCR_CORE_BYTEIO_H

#include "env.h"

static inline u16 smcr_get_be16(const u8 *p)
{
	return (u16)(p[0] << 8 | p[1]);
}

static inline u32 smcr_get_be24(const u8 *p)
{
	return (u32)p[0] << 16 | (u32)p[1] << 8 | p[2];
}

static inline u32 smcr_get_be32(const u8 *p)
{
	return (u32)p[0] << 24 | smcr_get_be24(p + 1);
}

static inline u64 smcr_get_be64(const u8 *p)
{
	return (u64)smcr_get_be32(p) << 32 | smcr_get_be32(p + 4);
}

static inline void smcr_put_be16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

/* The top byte of @v is not stored. */
static inline void smcr_put_be24(u8 *p, u32 v)
{
	p[0] = v >> 16 & 0xff;
	smcr_put_be16(p + 1, v & 0xffff);
}

static inline void smcr_put_be32(u8 *p, u32 v)
{
	smcr_put_be16(p, v >> 16);
	smcr_put_be16(p + 2, v & 0xffff);
}

static inline void smcr_put_be64(u8 *p, u64 v)
{
	smcr_put_be32(p, v >> 32);
	smcr_put_be32(p + 4, v & 0xffffffff);
}

/* true if all @len bytes are zero */
static inline bool smcr_bytes_zero(const u8 *p, size_t len)
{
	while (len--)
		if (*p++)
			return false;
	return true;
}

#endif /* _SMCR_CORE_BYTEIO_H */
