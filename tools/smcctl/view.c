// SPDX-License-Identifier: GPL-2.0-only
/* Lists of objects: filter, table, JSON, keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "nl.h"
#include "out.h"
#include "proc.h"
#include "view.h"

#define FILTER_MAX	16

/* "[not] KEY VALUE" of the command line, after the look-up of the key */
struct condition {
	struct view_key key;
	const char *word;
	bool not;
};

struct listing {
	const struct view *v;
	struct condition cond[FILTER_MAX];
	unsigned int n_cond;
	struct nlattr **found;	/* objects that pass the filter */
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

static bool look_up(const struct view *v, const char *name,
		    struct view_key *key)
{
	const struct view_key *found = find_key(v, name);

	*key = (struct view_key){ .name = name };
	if (found)
		*key = *found;
	else
		key->a = attr_by_name(v->set, name);
	return key->a && attr_comparable(&v->set->attr[key->a]);
}

/* Is @word a value that one of the key's attributes can have? */
static int check_value(const struct view *v, const struct view_key *key,
		       const char *word)
{
	char why[ATTR_TEXT], why_b[ATTR_TEXT];

	if (attr_check(&v->set->attr[key->a], word, why))
		return EXIT_OK;
	if (!key->pick)
		return usage_error("%s", why);
	if (attr_check(&v->set->attr[key->b], word, why_b))
		return EXIT_OK;
	return usage_error("%s; %s", why, why_b);
}

static int add_condition(struct listing *l, bool not, const char *key,
			 const char *word)
{
	struct condition *c = &l->cond[l->n_cond];
	unsigned int i;
	int rc;

	if (l->n_cond == FILTER_MAX)
		return usage_error("too many filters");
	if (!look_up(l->v, key, &c->key))
		return usage_error("%s has no key \"%s\" (see: smcctl %s keys)",
				   l->v->object, key, l->v->object);
	if (!word)
		return usage_error("a value must follow \"%s\"", key);
	for (i = 0; i < l->n_cond && !not; i++)
		if (!l->cond[i].not && !strcmp(l->cond[i].key.name, key))
			return usage_error("\"%s\" is given twice", key);
	rc = check_value(l->v, &c->key, word);
	if (rc != EXIT_OK)
		return rc;
	c->word = word;
	c->not = not;
	l->n_cond++;
	return EXIT_OK;
}

static bool is_not(const char *word)
{
	return !strcmp(word, "not") || !strcmp(word, "!");
}

/* Is the first word an ID, that is a value for the key @v->id, and no key? */
static bool is_id(const struct view *v, const char *word)
{
	char why[ATTR_TEXT];
	struct view_key key;

	return v->id && !is_not(word) && !look_up(v, word, &key) &&
	       look_up(v, v->id, &key) &&
	       attr_check(&v->set->attr[key.a], word, why);
}

static int parse_filter(struct listing *l, int argc, char **argv)
{
	int rc = EXIT_OK;
	bool not;
	int i = 0;

	if (argc && is_id(l->v, argv[0]))
		rc = add_condition(l, false, l->v->id, argv[i++]);
	for (; i < argc && rc == EXIT_OK; i += 2) {
		not = is_not(argv[i]);
		if (not && ++i == argc)
			return usage_error("a key must follow \"%s\"", argv[i - 1]);
		rc = add_condition(l, not, argv[i],
				   i + 1 < argc ? argv[i + 1] : NULL);
	}
	return rc;
}

/* Conditions that the kernel can check: one value, not negated */
static unsigned int kernel_filter(const struct listing *l, struct nl_filter *f)
{
	unsigned int i, n = 0;

	for (i = 0; i < l->n_cond; i++) {
		const struct condition *c = &l->cond[i];
		const struct attr_desc *a = &l->v->set->attr[c->key.a];

		if (!c->key.request || c->not)
			continue;
		f[n] = (struct nl_filter){
			.attr = c->key.request, .str = c->word
		};
		if (a->kind == KIND_U16)
			f[n].size = 2;
		else if (a->kind == KIND_U32)
			f[n].size = 4;
		if (a->en && !enum_parse(a->en, c->word, &f[n].value))
			continue;	/* a value of the key's other attribute */
		if (!a->en && f[n].size) {
			if (strchr(c->word, '-'))
				continue;
			f[n].value = (uint32_t)strtoul(c->word, NULL, 0);
		}
		n++;
	}
	return n;
}

static bool fulfils(const struct condition *c, const struct item *it)
{
	const struct view_key *key = &c->key;

	if (key->pick)
		return item_equal(it, key->pick(it), c->word);
	return item_equal(it, key->a, c->word) ||
	       (key->b && item_equal(it, key->b, c->word));
}

static bool wanted(const struct listing *l, const struct item *it)
{
	unsigned int i;

	if (!l->n_cond)
		return opt.all || !l->v->usual || l->v->usual(it);
	for (i = 0; i < l->n_cond; i++)
		if (fulfils(&l->cond[i], it) == l->cond[i].not)
			return false;
	return true;
}

static void note_line(void *arg, const char *text)
{
	table_note(arg, text);
}

static bool listed(const unsigned int *types, unsigned int type)
{
	while (*types && *types != type)
		types++;
	return *types;
}

/* Attributes as "name value", as many as fit a line; @only these, or NULL */
static void show_detail(struct table *t, const struct item *it,
			const unsigned int *only)
{
	char line[ATTR_TEXT * 2] = "", word[ATTR_TEXT + 64], buf[ATTR_TEXT];
	unsigned int i;

	for (i = 1; i <= it->set->max; i++) {
		const struct attr_desc *a = &it->set->attr[i];

		if (!it->tb[i] || a->kind == KIND_NEST ||
		    (only && !listed(only, i)))
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

static bool column_shown(const struct column *c)
{
	return !c->only || *c->only;
}

static void show_row(const struct view *v, struct table *t,
		     const struct item *it)
{
	char buf[ATTR_TEXT];
	unsigned int i;

	for (i = 0; i < v->n_columns; i++) {
		if (!column_shown(&v->columns[i]))
			continue;
		if (v->columns[i].text)
			v->columns[i].text(it, buf);
		else
			item_text(it, v->columns[i].attr, buf);
		table_cell(t, buf);
	}
	if (opt.stats && !opt.detail)
		show_detail(t, it, v->stats);
	if (!opt.detail)
		return;
	show_detail(t, it, NULL);
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
		if (l->v->json)
			l->v->json(&it);
		js_end();
	}
	js_end();
}

static void print_text(const struct listing *l)
{
	const char *titles[ATTR_MAX];
	unsigned int n = 0;
	struct table *t;
	struct item it;
	size_t i;

	for (i = 0; i < l->v->n_columns; i++)
		if (column_shown(&l->v->columns[i]))
			titles[n++] = l->v->columns[i].title;
	t = table_new(titles, n);
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
	if (rc == EXIT_OK && !l.n_found && argc && is_id(v, argv[0]) &&
	    l.n_cond == 1)
		rc = fail(EXIT_NOTFOUND, "no %s has the %s %s", v->object, v->id,
			  argv[0]);
	/* print nothing after an error: a partial list would look complete */
	if (rc == EXIT_OK && opt.json)
		print_json(&l);
	else if (rc == EXIT_OK)
		print_text(&l);
	while (l.n_found)
		free(l.found[--l.n_found]);
	free(l.found);
	proc_forget();
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
	const struct view_key *key;
	unsigned int i;

	for (i = 0; i < v->n_keys; i++)
		if (v->keys[i].doc)
			print_key(v->keys[i].name, v->keys[i].doc);
	for (i = 1; i <= v->set->max; i++) {
		if (!attr_comparable(&v->set->attr[i]))
			continue;
		key = find_key(v, v->set->attr[i].name);
		if (!key || !key->doc)
			print_key(v->set->attr[i].name, v->set->attr[i].doc);
	}
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
	struct view_key key;

	if (argc > 1)
		return usage_error("one key at most: smcctl %s keys [KEY]",
				   v->object);
	if (argc && !look_up(v, argv[0], &key))
		return usage_error("%s has no key \"%s\"", v->object, argv[0]);
	if (opt.json)
		js_object(NULL);
	if (argc)
		list_values(v->set->attr[key.a].en);
	if (argc && key.pick)
		list_values(v->set->attr[key.b].en);
	if (!argc)
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
