/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of received objects: text, JSON, comparison, by their tables. */
#ifndef SMCCTL_ATTR_H
#define SMCCTL_ATTR_H

#include <libmnl/libmnl.h>
#include "desc.h"

#define ATTR_MAX	64	/* more than any set has */
#define ATTR_TEXT	256	/* room for an attribute as text */

/**
 * struct item - a received object
 * @set: description of its attributes
 * @nest: attribute that contains the others
 * @tb: its attributes by number; of those that occur several times, the first
 */
struct item {
	const struct attr_set *set;
	const struct nlattr *nest;
	const struct nlattr *tb[ATTR_MAX + 1];
};

/* Look up the attributes in @nest; those of unexpected size are left out */
void item_parse(struct item *it, const struct attr_set *set,
		const struct nlattr *nest);

/*
 * Copy of @nest and its contents, to be freed. Received attributes are valid only
 * until the next message is received.
 */
struct nlattr *nest_copy(const struct nlattr *nest);

/* Number of the attribute called @name; 0 when there is none */
unsigned int attr_by_name(const struct attr_set *set, const char *name);

/* Values; 0 or "" when the attribute is absent */
uint64_t item_uint(const struct item *it, unsigned int type);
const char *item_str(const struct item *it, unsigned int type);
bool item_has(const struct item *it, unsigned int type);

/* As text into @buf of ATTR_TEXT; "-" when absent. Returns @buf. */
char *item_text(const struct item *it, unsigned int type, char *buf);

/* All attributes as members of the open JSON object */
void item_json(const struct item *it);

/* Value of an enum by name, any case, '_' like '-'. False if unknown. */
bool enum_parse(const struct enum_desc *en, const char *word, uint32_t *value);
/* Name of a value, or NULL */
const char *enum_name(const struct enum_desc *en, uint32_t value);

/* Can an attribute be compared with a word? */
bool attr_comparable(const struct attr_desc *a);
/*
 * Is @word a possible value, or a range of numbers "1-5", or a prefix of an
 * address "10.0.0.0/8"? Else a message in @why (ATTR_TEXT).
 */
bool attr_check(const struct attr_desc *a, const char *word, char *why);
/* Has the object this value, or one in this range? @word passed attr_check(). */
bool item_equal(const struct item *it, unsigned int type, const char *word);

#endif /* SMCCTL_ATTR_H */
