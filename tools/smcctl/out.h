/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON and text tables. JSON is written at once; the cells of a table are collected
 * and printed with aligned columns by table_end().
 */
#ifndef SMCCTL_OUT_H
#define SMCCTL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* JSON. @key is NULL within arrays and at the top. */
void js_object(const char *key);
void js_array(const char *key);
void js_end(void);		/* the innermost object or array */
void js_str(const char *key, const char *value);
void js_uint(const char *key, uint64_t value);
void js_int(const char *key, int64_t value);
void js_double(const char *key, double value);
void js_bool(const char *key, bool value);

/* Text table. A title that begins with '>' aligns its column to the right. */
struct table;

struct table *table_new(const char *const *titles, unsigned int n);
/* Next cell, row by row; copied */
void table_cell(struct table *t, const char *text);
/* A line of its own below the current row; copied */
void table_note(struct table *t, const char *text);
/* Print and free */
void table_end(struct table *t);

/* Copy of @text with control characters as \xNN; to be freed */
char *plain_text(const char *text);
/* printf() of a line through plain_text() */
void print_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Allocation; ends the program when memory is exhausted */
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);

#endif /* SMCCTL_OUT_H */
