// SPDX-License-Identifier: GPL-2.0-only
/* JSON and text tables. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "out.h"

#define JS_DEPTH	16

static struct {
	unsigned int depth;
	char close[JS_DEPTH];	/* '}' or ']' of each level */
	bool filled[JS_DEPTH];	/* the level has a value already */
} js;

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p) {
		fputs("smcctl: out of memory\n", stderr);
		exit(EXIT_KERNEL);
	}
	return p;
}

char *xstrdup(const char *s)
{
	size_t len = strlen(s) + 1;

	return memcpy(xrealloc(NULL, len), s, len);
}

static void js_newline(unsigned int depth)
{
	if (opt.pretty)
		printf("\n%*s", (int)(depth * 2), "");
}

static void js_quote(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/* Print the comma, line break and key in front of a value */
static void js_lead(const char *key)
{
	if (js.depth) {
		bool *filled = &js.filled[js.depth - 1];

		if (*filled)
			putchar(',');
		*filled = true;
		js_newline(js.depth);
	}
	if (key) {
		js_quote(key);
		fputs(opt.pretty ? ": " : ":", stdout);
	}
}

static void js_open(const char *key, char open, char close)
{
	js_lead(key);
	putchar(open);
	if (js.depth == JS_DEPTH)
		abort();
	js.close[js.depth] = close;
	js.filled[js.depth] = false;
	js.depth++;
}

void js_object(const char *key)
{
	js_open(key, '{', '}');
}

void js_array(const char *key)
{
	js_open(key, '[', ']');
}

void js_end(void)
{
	js.depth--;
	if (js.filled[js.depth])
		js_newline(js.depth);
	putchar(js.close[js.depth]);
	if (!js.depth)
		putchar('\n');
}

void js_str(const char *key, const char *value)
{
	js_lead(key);
	js_quote(value);
}

void js_uint(const char *key, uint64_t value)
{
	js_lead(key);
	printf("%" PRIu64, value);
}

void js_int(const char *key, int64_t value)
{
	js_lead(key);
	printf("%" PRId64, value);
}

void js_double(const char *key, double value)
{
	js_lead(key);
	printf("%.3f", value);
}

void js_bool(const char *key, bool value)
{
	js_lead(key);
	fputs(value ? "true" : "false", stdout);
}

/* A cell, or a note (column < 0) */
struct cell {
	int column;
	char *text;
};

struct table {
	const char *const *titles;
	unsigned int n_columns;
	struct cell *cell;
	size_t n_cells;
	size_t room;
	int next;		/* column of the next cell */
};

struct table *table_new(const char *const *titles, unsigned int n)
{
	struct table *t = xrealloc(NULL, sizeof(*t));

	*t = (struct table){ .titles = titles, .n_columns = n };
	return t;
}

char *plain_text(const char *text)
{
	char *copy = xrealloc(NULL, 4 * strlen(text) + 1);
	char *to = copy;

	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			to += sprintf(to, "\\x%02x", *text);
		else
			*to++ = *text;
	*to = '\0';
	return copy;
}

void print_line(const char *fmt, ...)
{
	char line[1200], *plain;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	plain = plain_text(line);
	puts(plain);
	free(plain);
}

static void table_add(struct table *t, int column, const char *text)
{
	if (t->n_cells == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		t->cell = xrealloc(t->cell, t->room * sizeof(*t->cell));
	}
	t->cell[t->n_cells].column = column;
	t->cell[t->n_cells].text = plain_text(text);
	t->n_cells++;
}

void table_cell(struct table *t, const char *text)
{
	table_add(t, t->next, text);
	t->next = (t->next + 1) % (int)t->n_columns;
}

void table_note(struct table *t, const char *text)
{
	table_add(t, -1, text);
}

static bool title_right(const char *title)
{
	return title[0] == '>';
}

static void print_cell(const char *text, bool right, int width, bool last)
{
	if (right)
		printf("%*s", width, text);
	else if (last)
		fputs(text, stdout);
	else
		printf("%-*s", width, text);
	fputs(last ? "\n" : "  ", stdout);
}

static void table_print(const struct table *t, const int *width)
{
	unsigned int i;
	size_t c;

	for (i = 0; i < t->n_columns; i++)
		print_cell(t->titles[i] + title_right(t->titles[i]),
			   title_right(t->titles[i]), width[i],
			   i == t->n_columns - 1);
	for (c = 0; c < t->n_cells; c++) {
		int col = t->cell[c].column;

		if (col < 0)
			printf("    %s\n", t->cell[c].text);
		else
			print_cell(t->cell[c].text, title_right(t->titles[col]),
				   width[col], col == (int)t->n_columns - 1);
	}
}

void table_end(struct table *t)
{
	int *width = xrealloc(NULL, t->n_columns * sizeof(*width));
	unsigned int i;
	size_t c;

	for (i = 0; i < t->n_columns; i++)
		width[i] = (int)strlen(t->titles[i]) - title_right(t->titles[i]);
	for (c = 0; c < t->n_cells; c++) {
		int col = t->cell[c].column;
		int len = (int)strlen(t->cell[c].text);

		if (col >= 0 && len > width[col])
			width[col] = len;
	}
	table_print(t, width);
	for (c = 0; c < t->n_cells; c++)
		free(t->cell[c].text);
	free(t->cell);
	free(width);
	free(t);
}
