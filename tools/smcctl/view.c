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
	struct table *table;	/* text only */
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

static void show_row(struct listing *l, const struct item *it)
{
	const struct view *v = l->v;
	char buf[ATTR_TEXT];
	unsigned int i;

	for (i = 0; i < v->n_columns; i++) {
		if (v->columns[i].text)
			v->columns[i].text(it, buf);
		else
			item_text(it, v->columns[i].attr, buf);
		table_cell(l->table, buf);
	}
	if (!opt.detail)
		return;
	show_detail(l->table, it);
	if (v->notes)
		v->notes(it, note_line, l->table);
}

static int on_item(const struct nlattr *nest, void *arg)
{
	struct listing *l = arg;
	struct item it;

	item_parse(&it, l->v->set, nest);
	if (!wanted(l, &it))
		return EXIT_OK;
	if (opt.json) {
		js_object(NULL);
		item_json(&it);
		js_end();
	} else {
		show_row(l, &it);
	}
	return EXIT_OK;
}

static int view_list(const struct view *v, int argc, char **argv)
{
	const char *titles[ATTR_MAX];
	struct nl_filter filter[FILTER_MAX];
	struct listing l = { .v = v };
	unsigned int i, n;
	int rc;

	rc = parse_filter(&l, argc, argv);
	if (rc != EXIT_OK)
		return rc;
	rc = nl_open();
	if (rc != EXIT_OK)
		return rc;
	n = kernel_filter(&l, filter);
	for (i = 0; i < v->n_columns; i++)
		titles[i] = v->columns[i].title;
	if (opt.json)
		js_array(NULL);
	else
		l.table = table_new(titles, v->n_columns);
	rc = nl_dump(v->cmd, v->nest, filter, n, on_item, &l);
	if (opt.json)
		js_end();
	else
		table_end(l.table);
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
static int list_values(const struct view *v, const char *key)
{
	const struct enum_desc *en;
	struct condition c;
	unsigned int i;

	if (!look_up(v, key, &c))
		return usage_error("%s has no key \"%s\"", v->object, key);
	en = v->set->attr[c.a].en;
	for (i = 0; en && i < en->n; i++)
		print_key(en->entry[i].name,
			  en->entry[i].doc ? en->entry[i].doc : "");
	return EXIT_OK;
}

static int view_keys(const struct view *v, int argc, char **argv)
{
	int rc = EXIT_OK;

	if (argc > 1)
		return usage_error("one key at most: smcctl %s keys [KEY]",
				   v->object);
	if (opt.json)
		js_object(NULL);
	if (argc)
		rc = list_values(v, argv[0]);
	else
		list_keys(v);
	if (opt.json)
		js_end();
	return rc;
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
