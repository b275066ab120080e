/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of the tables that describe attributes. The tables, gen/attrs.c, are
 * generated from the netlink specification (scripts/ynl-gen).
 */
#ifndef SMCCTL_DESC_H
#define SMCCTL_DESC_H

#include <stdbool.h>
#include <stdint.h>

enum attr_kind {
	KIND_NONE,		/* number is unused in the set */
	KIND_PAD,
	KIND_FLAG,
	KIND_U8,
	KIND_U16,
	KIND_U32,
	KIND_U64,
	KIND_S32,
	KIND_STRING,
	KIND_BINARY,
	KIND_NEST,
};

enum attr_hint {
	HINT_NONE,
	HINT_HEX,
	HINT_MAC,
	HINT_IPV6,		/* IPv4 when it has 4 bytes */
};

struct enum_entry {
	uint32_t value;
	const char *name;
	const char *doc;	/* or NULL */
};

struct enum_desc {
	bool flags;		/* values are bits that can be combined */
	unsigned int n;
	const struct enum_entry *entry;
};

struct attr_desc {
	const char *name;
	const char *doc;
	enum attr_kind kind;
	enum attr_hint hint;
	bool multi;		/* may occur several times */
	const struct enum_desc *en;
	const struct attr_set *nested;
};

struct attr_set {
	const char *name;
	unsigned int max;	/* highest number */
	const struct attr_desc *attr;	/* by number, 0 is unused */
};

#endif /* SMCCTL_DESC_H */
