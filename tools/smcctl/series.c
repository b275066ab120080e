// SPDX-License-Identifier: GPL-2.0-only
/* Arrays of counters: reading, difference, order. */
#include <stdlib.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "attr.h"
#include "cmd.h"
#include "nl.h"
#include "out.h"
#include "series.h"

static struct sample *series_add(struct series *ser)
{
	ser->s = xrealloc(ser->s, (ser->n + 1) * sizeof(*ser->s));
	ser->s[ser->n] = (struct sample){};
	return &ser->s[ser->n++];
}

static int on_counter(const struct nlattr *nest, void *arg)
{
	struct sample *s = series_add(arg);
	struct item it;

	item_parse(&it, &smcr_set_counter, nest);
	s->id = (uint32_t)item_uint(&it, SMCR_A_COUNTER_ID);
	s->name = xstrdup(item_str(&it, SMCR_A_COUNTER_NAME));
	s->value = item_uint(&it, SMCR_A_COUNTER_VALUE);
	return EXIT_OK;
}

static int on_reason(const struct nlattr *nest, void *arg)
{
	struct sample *s = series_add(arg);
	struct item it;

	item_parse(&it, &smcr_set_reason, nest);
	s->id = (uint32_t)item_uint(&it, SMCR_A_REASON_ID);
	s->name = xstrdup(item_str(&it, SMCR_A_REASON_NAME));
	s->text = xstrdup(item_str(&it, SMCR_A_REASON_TEXT));
	s->has_diag = item_has(&it, SMCR_A_REASON_DIAGNOSIS);
	s->diag = (uint32_t)item_uint(&it, SMCR_A_REASON_DIAGNOSIS);
	s->value = item_uint(&it, SMCR_A_REASON_VALUE);
	return EXIT_OK;
}

int series_counters(struct series *to)
{
	*to = (struct series){};
	return nl_dump(SMCR_CMD_COUNTER_GET, SMCR_A_COUNTER, NULL, 0,
		       on_counter, to);
}

int series_reasons(struct series *to)
{
	*to = (struct series){};
	return nl_dump(SMCR_CMD_REASON_GET, SMCR_A_REASON, NULL, 0, on_reason,
		       to);
}

void series_free(struct series *ser)
{
	size_t i;

	for (i = 0; i < ser->n; i++) {
		free(ser->s[i].name);
		free(ser->s[i].text);
	}
	free(ser->s);
	*ser = (struct series){};
}

void series_subtract(struct series *to, const struct series *from)
{
	size_t i;

	for (i = 0; i < to->n && i < from->n; i++)
		if (to->s[i].id == from->s[i].id)
			to->s[i].value -= from->s[i].value;
}

static int by_value(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

void series_sort(struct series *ser)
{
	if (ser->n)
		qsort(ser->s, ser->n, sizeof(*ser->s), by_value);
}
