// SPDX-License-Identifier: GPL-2.0-only
/* Lists of objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "nl.h"
#include "out.h"
#include "view.h"

#define FILTER_MAX	16

/* KEY VALUE, looked up */
struct condition {
	const char *key;
	const char *word;
	unsigned int a, b;
	uint16_t request;
};

struct listing {
	const struct view *v;
	struct condition cond[FILTER_MAX];
	unsigned int n_cond;
	struct nlattr **found;	/* what passed the filter */
	size_t n_found;
};

static const struct view_key *find_key(const struct view *v, const char *name)
{
	unsigned int i;

	for (i = 0; i < v->n_keys; i++)
		if (!strcmp(v->keys[i].name, name))
			return &v->keys[i];
	return NULL;
}

static bool look_up(const struct view *v, const char *name, struct condition *c)
{
	const struct view_key *key = find_key(v, name);

	*c = (struct condition){ .key = name };
	if (key) {
		c->a = key->a;
		c->b = key->b;
		c->request = key->request;
		return true;
	}
	c->a = attr_by_name(v->set, name);
	return c->a && attr_comparable(&v->set->attr[c->a]);
}

static int add_condition(struct listing *l, const char *key, const char *word)
{
	struct condition *c = &l->cond[l->n_cond];
	char why[ATTR_TEXT];
	unsigned int i;

	if (l->n_cond == FILTER_MAX)
		return usage_error("too many filters");
	if (!look_up(l->v, key, c))
		return usage_error("%s has no key \"%s\" (see: smcctl %s keys)",
				   l->v->object, key, l->v->object);
	if (!word)
		return usage_error("a value must follow \"%s\"", key);
	for (i = 0; i < l->n_cond; i++)
		if (!strcmp(l->cond[i].key, key))
			return usage_error("\"%s\" is given twice", key);
	if (!attr_check(&l->v->set->attr[c->a], word, why))
		return usage_error("%s", why);
	c->word = word;
	l->n_cond++;
	return EXIT_OK;
}

static int parse_filter(struct listing *l, int argc, char **argv)
{
	int rc = EXIT_OK;
	int i;

	for (i = 0; i < argc && rc == EXIT_OK; i += 2)
		rc = add_condition(l, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
	return rc;
}

/* Conditions that the kernel can check */
static unsigned int kernel_filter(const struct listing *l, struct nl_filter *f)
{
	unsigned int i, n = 0;

	for (i = 0; i < l->n_cond; i++) {
		const struct condition *c = &l->cond[i];
		const struct attr_desc *a = &l->v->set->attr[c->a];

		if (!c->request)
			continue;
		f[n] = (struct nl_filter){ .attr = c->request, .str = c->word };
		if (a->kind == KIND_U16)
			f[n].size = 2;
		else if (a->kind == KIND_U32)
			f[n].size = 4;
		if (a->en)
			enum_parse(a->en, c->word, &f[n].value);
		else if (f[n].size)
			f[n].value = (uint32_t)strtoul(c->word, NULL, 0);
		n++;
	}
	return n;
}

static bool wanted(const struct listing *l, const struct item *it)
{
	unsigned int i;

	if (!l->n_cond)
		return opt.all || !l->v->usual || l->v->usual(it);
	for (i = 0; i < l->n_cond; i++) {
		const struct condition *c = &l->cond[i];

		if (!item_equal(it, c->a, c->word) &&
		    (!c->b || !item_equal(it, c->b, c->word)))
			return false;
	}
	return true;
}

static void note_line(void *arg, const char *text)
{
	table_note(arg, text);
}

/* Every attribute as "name value", as many as fit a line */
static void show_detail(struct table *t, const struct item *it)
{
	char line[ATTR_TEXT * 2] = "", word[ATTR_TEXT + 64], buf[ATTR_TEXT];
	unsigned int i;

	for (i = 1; i <= it->set->max; i++) {
		const struct attr_desc *a = &it->set->attr[i];

		if (!it->tb[i] || a->kind == KIND_NEST)
			continue;
		snprintf(word, sizeof(word), "%s%s %s", *line ? "  " : "",
			 a->name, item_text(it, i, buf));
		if (*line && strlen(line) + strlen(word) > 100) {
			table_note(t, line);
			*line = '\0';
			memmove(word, word + 2, strlen(word + 2) + 1);
		}
		strncat(line, word, sizeof(line) - strlen(line) - 1);
	}
	if (*line)
		table_note(t, line);
}

static void show_row(const struct view *v, struct table *t,
		     const struct item *it)
{
	char buf[ATTR_TEXT];
	unsigned int i;

	for (i = 0; i < v->n_columns; i++) {
		if (v->columns[i].text)
			v->columns[i].text(it, buf);
		else
			item_text(it, v->columns[i].attr, buf);
		table_cell(t, buf);
	}
	if (!opt.detail)
		return;
	show_detail(t, it);
	if (v->notes)
		v->notes(it, note_line, t);
}

static int on_item(const struct nlattr *nest, void *arg)
{
	struct listing *l = arg;
	struct item it;

	item_parse(&it, l->v->set, nest);
	if (!wanted(l, &it))
		return EXIT_OK;
	l->found = xrealloc(l->found, (l->n_found + 1) * sizeof(*l->found));
	l->found[l->n_found++] = nest_copy(nest);
	return EXIT_OK;
}

static void print_json(const struct listing *l)
{
	struct item it;
	size_t i;

	js_array(NULL);
	for (i = 0; i < l->n_found; i++) {
		item_parse(&it, l->v->set, l->found[i]);
		js_object(NULL);
		item_json(&it);
		js_end();
	}
	js_end();
}

static void print_text(const struct listing *l)
{
	const char *titles[ATTR_MAX];
	struct table *t;
	struct item it;
	size_t i;

	for (i = 0; i < l->v->n_columns; i++)
		titles[i] = l->v->columns[i].title;
	t = table_new(titles, l->v->n_columns);
	for (i = 0; i < l->n_found; i++) {
		item_parse(&it, l->v->set, l->found[i]);
		show_row(l->v, t, &it);
	}
	table_end(t);
}

static int view_list(const struct view *v, int argc, char **argv)
{
	struct nl_filter filter[FILTER_MAX];
	struct listing l = { .v = v };
	unsigned int n;
	int rc;

	rc = parse_filter(&l, argc, argv);
	if (rc != EXIT_OK)
		return rc;
	rc = nl_open();
	if (rc != EXIT_OK)
		return rc;
	n = kernel_filter(&l, filter);
	rc = nl_dump(v->cmd, v->nest, filter, n, on_item, &l);
	/* part of a list would look like all of it */
	if (rc == EXIT_OK && opt.json)
		print_json(&l);
	else if (rc == EXIT_OK)
		print_text(&l);
	while (l.n_found)
		free(l.found[--l.n_found]);
	free(l.found);
	return rc;
}

static void print_key(const char *name, const char *doc)
{
	if (opt.json)
		js_str(name, doc);
	else
		printf("%-20s %s\n", name, doc);
}

static void list_keys(const struct view *v)
{
	unsigned int i;

	for (i = 0; i < v->n_keys; i++)
		if (v->keys[i].doc)
			print_key(v->keys[i].name, v->keys[i].doc);
	for (i = 1; i <= v->set->max; i++)
		if (attr_comparable(&v->set->attr[i]))
			print_key(v->set->attr[i].name, v->set->attr[i].doc);
}

/* Values that a key can have, if they have names */
static void list_values(const struct enum_desc *en)
{
	unsigned int i;

	for (i = 0; en && i < en->n; i++)
		print_key(en->entry[i].name,
			  en->entry[i].doc ? en->entry[i].doc : "");
}

static int view_keys(const struct view *v, int argc, char **argv)
{
	struct condition c;

	if (argc > 1)
		return usage_error("one key at most: smcctl %s keys [KEY]",
				   v->object);
	if (argc && !look_up(v, argv[0], &c))
		return usage_error("%s has no key \"%s\"", v->object, argv[0]);
	if (opt.json)
		js_object(NULL);
	if (argc)
		list_values(v->set->attr[c.a].en);
	else
		list_keys(v);
	if (opt.json)
		js_end();
	return EXIT_OK;
}

int view_command(const struct view *v, int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "keys"))
		return view_keys(v, argc - 1, argv + 1);
	if (argc && (matches(argv[0], "list") || matches(argv[0], "show")) &&
	    !attr_by_name(v->set, argv[0]))
		return view_list(v, argc - 1, argv + 1);
	return view_list(v, argc, argv);
}
