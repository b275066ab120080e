// SPDX-License-Identifier: GPL-2.0-only
/* smcctl stats: counters, reasons, and what changes in them. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include "cmd.h"
#include "out.h"
#include "series.h"

struct stats {
	struct series counters;
	struct series reasons;
	struct timespec when;
};

static int stats_read(struct stats *st)
{
	int rc = EXIT_OK;

	*st = (struct stats){};
	clock_gettime(CLOCK_MONOTONIC, &st->when);
	if (!opt.reasons)
		rc = series_counters(&st->counters);
	return rc == EXIT_OK ? series_reasons(&st->reasons) : rc;
}

static void stats_free(struct stats *st)
{
	series_free(&st->counters);
	series_free(&st->reasons);
}

/* Replace @to by what is added to it in opt.diff seconds; @seconds: time passed */
static int stats_diff(struct stats *to, double *seconds)
{
	struct stats from = *to;
	int rc;

	wait_seconds(opt.diff);
	rc = stats_read(to);
	series_subtract(&to->counters, &from.counters);
	series_subtract(&to->reasons, &from.reasons);
	*seconds = (double)(to->when.tv_sec - from.when.tv_sec) +
		   (double)(to->when.tv_nsec - from.when.tv_nsec) / 1e9;
	stats_free(&from);
	return rc;
}

static bool shown(const struct sample *s)
{
	return s->value || opt.all;
}

static void json_counters(const struct series *ser)
{
	size_t i;

	js_object("counters");
	for (i = 0; i < ser->n; i++)
		if (shown(&ser->s[i]))
			js_uint(ser->s[i].name, ser->s[i].value);
	js_end();
}

static void json_reasons(const struct series *ser)
{
	size_t i;

	js_array("reasons");
	for (i = 0; i < ser->n; i++) {
		const struct sample *s = &ser->s[i];

		if (!shown(s))
			continue;
		js_object(NULL);
		js_uint("id", s->id);
		js_str("name", s->name);
		js_str("text", s->text);
		if (s->has_diag)
			js_uint("diagnosis", s->diag);
		js_uint("value", s->value);
		js_end();
	}
	js_end();
}

static void rate_cell(struct table *t, uint64_t value, double seconds)
{
	char buf[32];

	if (seconds <= 0)
		return;
	snprintf(buf, sizeof(buf), "%.1f", (double)value / seconds);
	table_cell(t, buf);
}

static void text_counters(const struct series *ser, double seconds)
{
	static const char *const titles[] = { "Counter", ">Value", ">Per second" };
	struct table *t = table_new(titles, seconds > 0 ? 3 : 2);
	char buf[32];
	size_t i;

	for (i = 0; i < ser->n; i++) {
		if (!shown(&ser->s[i]))
			continue;
		table_cell(t, ser->s[i].name);
		snprintf(buf, sizeof(buf), "%" PRIu64, ser->s[i].value);
		table_cell(t, buf);
		rate_cell(t, ser->s[i].value, seconds);
	}
	table_end(t);
}

static bool any_shown(const struct series *ser)
{
	size_t i;

	for (i = 0; i < ser->n; i++)
		if (shown(&ser->s[i]))
			return true;
	return false;
}

static void text_reasons(const struct series *ser)
{
	static const char *const titles[] = {
		"Reason", ">Times", "Diagnosis", "Meaning"
	};
	struct table *t = table_new(titles, 4);
	char buf[32];
	size_t i;

	for (i = 0; i < ser->n; i++) {
		const struct sample *s = &ser->s[i];

		if (!shown(s))
			continue;
		table_cell(t, s->name);
		snprintf(buf, sizeof(buf), "%" PRIu64, s->value);
		table_cell(t, buf);
		snprintf(buf, sizeof(buf), "0x%08x", s->diag);
		table_cell(t, s->has_diag ? buf : "-");
		table_cell(t, s->text);
	}
	table_end(t);
}

static void stats_print(const struct stats *st, double seconds)
{
	if (opt.json) {
		js_object(NULL);
		if (seconds > 0)
			js_double("seconds", seconds);
		if (!opt.reasons)
			json_counters(&st->counters);
		json_reasons(&st->reasons);
		js_end();
		return;
	}
	if (!opt.reasons && any_shown(&st->counters)) {
		text_counters(&st->counters, seconds);
		putchar('\n');
	} else if (!opt.reasons) {
		puts("Nothing was counted.");
	}
	if (any_shown(&st->reasons))
		text_reasons(&st->reasons);
	else
		puts("No fallback and no error was counted.");
}

int cmd_stats(int argc, char **argv)
{
	double seconds = 0;
	struct stats st;
	int rc;

	if (argc && (matches(argv[0], "list") || matches(argv[0], "show"))) {
		argc--;
		argv++;
	}
	if (argc)
		return usage_error("stats does not understand \"%s\"", argv[0]);
	rc = stats_read(&st);
	if (rc == EXIT_OK && opt.diff > 0)
		rc = stats_diff(&st, &seconds);
	if (rc == EXIT_OK)
		stats_print(&st, seconds);
	stats_free(&st);
	return rc;
}
