/* SPDX-License-Identifier: GPL-2.0-only */
/* Byte of a test stream at a position; both ends compute it on their own. */
#ifndef _PATTERN_H
#define _PATTERN_H

static inline unsigned char pattern_byte(unsigned long long pos)
{
	return (unsigned char)(pos * 131 + (pos >> 8) * 17 + (pos >> 16) * 7 + 1);
}

static inline void pattern_fill(unsigned char *p, unsigned long long pos,
				unsigned long len)
{
	while (len--)
		*p++ = pattern_byte(pos++);
}

/* Offset of the first byte that is not as it should be, -1 if there is none */
static inline long pattern_diff(const unsigned char *p, unsigned long long pos,
				unsigned long len)
{
	unsigned long i;

	for (i = 0; i < len; i++)
		if (p[i] != pattern_byte(pos + i))
			return (long)i;
	return -1;
}

#endif /* _PATTERN_H */
