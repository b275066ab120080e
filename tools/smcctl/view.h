/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of objects: filter, text table with a line of columns for each object
 * (-d: and all its attributes), or an array of JSON objects.
 */
#ifndef SMCCTL_VIEW_H
#define SMCCTL_VIEW_H

#include "attr.h"

/* A column of the text table; '>' before the title aligns to the right */
struct column {
	const char *title;
	unsigned int attr;	/* shown as it is, unless there is @text */
	void (*text)(const struct item *it, char *buf);	/* ATTR_TEXT */
	const bool *only;	/* shown if this option is given; NULL: always */
};

/*
 * A key of the filter. An object matches if its attribute @a or @b has the value; with
 * @pick, if the attribute that @pick returns for this object has it. The name of
 * an attribute needs a key only if the kernel can filter by it (@request).
 */
struct view_key {
	const char *name;
	const char *doc;	/* NULL: the attribute's */
	unsigned int a, b;	/* b is 0 for none */
	uint16_t request;	/* SMCR_A_* if the kernel can filter by a, else 0 */
	unsigned int (*pick)(const struct item *it);
};

struct view {
	const char *object;	/* as in "smcctl conn" */
	const struct attr_set *set;
	uint8_t cmd;
	uint16_t nest;
	const struct column *columns;
	unsigned int n_columns;
	const struct view_key *keys;
	unsigned int n_keys;
	const char *id;		/* key of a first word that is no key; may be NULL */
	const unsigned int *stats;	/* -s: attributes, ended by 0; or NULL */
	/* Is the object shown without -a? NULL: all are. */
	bool (*usual)(const struct item *it);
	/* Prints further members of the JSON object; may be NULL */
	void (*json)(const struct item *it);
	/* -d: prints further lines; may be NULL */
	void (*notes)(const struct item *it, void (*note)(void *arg, const char *text),
		      void *arg);
};

/* The members of struct view for these two arrays */
#define VIEW_TABLES(c, k) \
	.columns = (c), .n_columns = ARRAY_SIZE(c), .keys = (k), .n_keys = ARRAY_SIZE(k)

/* [list] [ID] [[not] KEY VALUE]... | keys [KEY]; returns an exit status */
int view_command(const struct view *v, int argc, char **argv);

#endif /* SMCCTL_VIEW_H */
