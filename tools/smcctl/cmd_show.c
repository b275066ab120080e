// SPDX-License-Identifier: GPL-2.0-only
/* smcctl show: overview of module, devices, link groups, sockets, reasons. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "attr.h"
#include "cmd.h"
#include "nl.h"
#include "out.h"
#include "series.h"

#define TOP_REASONS	5
#define NR_MODES	(SMCR_NL_MODE_DEAD + 1)

struct overview {
	struct nlattr *sys;		/* copy of the attribute */
	uint64_t modes[NR_MODES];
	unsigned int n_devs, n_lgrs, n_lgr_conns, n_waiting;
	char devs[200];
	struct series reasons;
};

static int on_sys(const struct nlattr *nest, void *arg)
{
	struct overview *o = arg;

	free(o->sys);
	o->sys = nest_copy(nest);
	return EXIT_OK;
}

static int on_conn(const struct nlattr *nest, void *arg)
{
	struct overview *o = arg;
	struct item it;
	uint64_t mode;

	item_parse(&it, &smcr_set_conn, nest);
	mode = item_uint(&it, SMCR_A_CONN_MODE);
	if (mode < NR_MODES)
		o->modes[mode]++;
	return EXIT_OK;
}

static int on_lgr(const struct nlattr *nest, void *arg)
{
	struct overview *o = arg;
	struct item it;

	item_parse(&it, &smcr_set_lgr, nest);
	o->n_lgrs++;
	o->n_lgr_conns += (unsigned int)item_uint(&it, SMCR_A_LGR_CONNS);
	o->n_waiting += (unsigned int)item_uint(&it, SMCR_A_LGR_WAITING);
	return EXIT_OK;
}

static int on_dev(const struct nlattr *nest, void *arg)
{
	struct overview *o = arg;
	size_t len = strlen(o->devs);
	struct item it;

	item_parse(&it, &smcr_set_dev, nest);
	o->n_devs++;
	snprintf(o->devs + len, sizeof(o->devs) - len, "%s%s", len ? " " : "",
		 item_str(&it, SMCR_A_DEV_DEV_NAME));
	return EXIT_OK;
}

static int overview_read(struct overview *o)
{
	static const struct {
		uint8_t cmd;
		uint16_t nest;
		int (*fn)(const struct nlattr *nest, void *arg);
	} dumps[] = {
		{ SMCR_CMD_SYS_GET, SMCR_A_SYS, on_sys },
		{ SMCR_CMD_CONN_GET, SMCR_A_CONN, on_conn },
		{ SMCR_CMD_LGR_GET, SMCR_A_LGR, on_lgr },
		{ SMCR_CMD_DEV_GET, SMCR_A_DEV, on_dev },
	};
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(dumps); i++) {
		rc = nl_dump(dumps[i].cmd, dumps[i].nest, NULL, 0, dumps[i].fn,
			     o);
		if (rc != EXIT_OK)
			return rc;
	}
	rc = series_reasons(&o->reasons);
	series_sort(&o->reasons);
	return rc;
}

/*
 * Time in ms until a path that silently drops all packets is detected. @busy: while
 * data flow, by seven tries of the adapter. @idle: else, by TEST LINK; 0: never.
 */
static bool detection(const struct item *knobs, uint64_t *busy, uint64_t *idle)
{
	uint64_t exp, ask;

	if (!item_has(knobs, SMCR_A_KNOBS_QP_TIMEOUT) ||
	    !item_has(knobs, SMCR_A_KNOBS_T_TESTLINK) ||
	    !item_has(knobs, SMCR_A_KNOBS_T_LLC))
		return false;
	exp = item_uint(knobs, SMCR_A_KNOBS_QP_TIMEOUT);
	ask = item_uint(knobs, SMCR_A_KNOBS_T_TESTLINK);
	*busy = 7 * (UINT64_C(4096) << (exp & 31)) / 1000000;
	*idle = ask ? ask + item_uint(knobs, SMCR_A_KNOBS_T_LLC) : 0;
	return true;
}

static void json_detection(const struct item *sys)
{
	uint64_t busy, idle;
	struct item knobs;

	if (!item_has(sys, SMCR_A_SYS_KNOBS))
		return;
	item_parse(&knobs, &smcr_set_knobs, sys->tb[SMCR_A_SYS_KNOBS]);
	if (!detection(&knobs, &busy, &idle))
		return;
	js_object("detection");
	js_uint("busy-ms", busy);
	if (idle)
		js_uint("idle-ms", idle);
	js_end();
}

static void text_detection(const struct item *knobs)
{
	uint64_t busy, idle;

	if (!detection(knobs, &busy, &idle))
		return;
	printf("Detection    a silent path within %" PRIu64 " ms while data flow, ",
	       busy);
	if (idle)
		printf("%" PRIu64 " ms while none do\n", idle);
	else
		puts("not while none do (t_testlink is 0)");
}

/* The most frequent reasons are shown; with -a all that were counted */
static bool reason_shown(const struct overview *o, size_t i)
{
	return i < o->reasons.n && o->reasons.s[i].value &&
	       (i < TOP_REASONS || opt.all);
}

static void json_overview(const struct overview *o)
{
	const struct attr_desc *mode = &smcr_set_conn.attr[SMCR_A_CONN_MODE];
	struct item sys;
	size_t i;

	js_object(NULL);
	js_object("sys");
	if (o->sys) {
		item_parse(&sys, &smcr_set_sys, o->sys);
		item_json(&sys);
	}
	js_end();
	if (o->sys)
		json_detection(&sys);
	js_uint("devices", o->n_devs);
	js_uint("linkgroups", o->n_lgrs);
	js_uint("waiting", o->n_waiting);
	js_object("modes");
	for (i = 0; i < NR_MODES; i++)
		js_uint(enum_name(mode->en, (uint32_t)i), o->modes[i]);
	js_end();
	js_array("reasons");
	for (i = 0; reason_shown(o, i); i++) {
		js_object(NULL);
		js_str("name", o->reasons.s[i].name);
		js_str("text", o->reasons.s[i].text);
		js_uint("value", o->reasons.s[i].value);
		js_end();
	}
	js_end();
	js_end();
}

/* Name of a setting's file in /proc/sys/net/smcr */
static const char *knob_file(unsigned int type, char *buf, size_t size)
{
	char *c;

	snprintf(buf, size, "%s", smcr_set_knobs.attr[type].name);
	for (c = buf; *c; c++)
		if (*c == '-')
			*c = '_';
	return buf;
}

static void text_knobs(const struct item *sys)
{
	char buf[ATTR_TEXT], name[40];
	struct item knobs;
	unsigned int i;

	if (!item_has(sys, SMCR_A_SYS_KNOBS))
		return;
	item_parse(&knobs, &smcr_set_knobs, sys->tb[SMCR_A_SYS_KNOBS]);
	puts("Settings (/proc/sys/net/smcr)");
	for (i = 1; i <= smcr_set_knobs.max; i++) {
		item_text(&knobs, i, buf);
		print_line("  %-20s %10s  %s", knob_file(i, name, sizeof(name)),
			   *buf ? buf : "empty", smcr_set_knobs.attr[i].doc);
	}
}

static void text_sys(const struct overview *o)
{
	char peer[ATTR_TEXT];
	struct item sys, knobs;

	if (!o->sys)
		return;
	item_parse(&sys, &smcr_set_sys, o->sys);
	print_line("Module       version %s, TCP option: %s",
		   item_str(&sys, SMCR_A_SYS_VERSION),
		   item_str(&sys, SMCR_A_SYS_TCPOPT_BACKEND));
	print_line("Peer ID      %s", item_text(&sys, SMCR_A_SYS_PEER_ID, peer));
	if (!item_has(&sys, SMCR_A_SYS_KNOBS))
		return;
	item_parse(&knobs, &smcr_set_knobs, sys.tb[SMCR_A_SYS_KNOBS]);
	if (item_has(&knobs, SMCR_A_KNOBS_ENABLED) &&
	    !item_uint(&knobs, SMCR_A_KNOBS_ENABLED))
		puts("Disabled     new connections use TCP (net.smcr.enabled is 0)");
	text_detection(&knobs);
}

static void text_mem(const struct overview *o)
{
	struct item sys;

	if (!o->sys)
		return;
	item_parse(&sys, &smcr_set_sys, o->sys);
	if (!item_has(&sys, SMCR_A_SYS_MEM))
		return;
	printf("Memory       %" PRIu64 " KiB of %" PRIu64,
	       item_uint(&sys, SMCR_A_SYS_MEM) >> 10,
	       item_uint(&sys, SMCR_A_SYS_MEM_MAX) >> 10);
	if (item_has(&sys, SMCR_A_SYS_MEM_HOST))
		printf(", all namespaces %" PRIu64 " KiB of %" PRIu64,
		       item_uint(&sys, SMCR_A_SYS_MEM_HOST) >> 10,
		       item_uint(&sys, SMCR_A_SYS_MEM_HOST_MAX) >> 10);
	putchar('\n');
}

static void text_overview(const struct overview *o)
{
	struct item sys;
	size_t i;

	text_sys(o);
	print_line("Devices      %u%s%s", o->n_devs, *o->devs ? ": " : "",
		   o->devs);
	printf("Link groups  %u with %u connections", o->n_lgrs,
	       o->n_lgr_conns);
	if (o->n_waiting)
		printf(", %u of them wait for another link", o->n_waiting);
	putchar('\n');
	text_mem(o);
	printf("Sockets      %" PRIu64 " SMC-R, %" PRIu64 " TCP, %" PRIu64
	       " negotiating, %" PRIu64 " listening, %" PRIu64 " other\n",
	       o->modes[SMCR_NL_MODE_SMC_R], o->modes[SMCR_NL_MODE_TCP],
	       o->modes[SMCR_NL_MODE_NEGOTIATING],
	       o->modes[SMCR_NL_MODE_LISTEN],
	       o->modes[SMCR_NL_MODE_INIT] + o->modes[SMCR_NL_MODE_DEAD]);
	if (reason_shown(o, 0))
		puts("Reasons of fallbacks and errors so far");
	for (i = 0; reason_shown(o, i); i++)
		print_line("  %10" PRIu64 "  %-20s %s", o->reasons.s[i].value,
			   o->reasons.s[i].name, o->reasons.s[i].text);
	if (opt.detail && o->sys) {
		item_parse(&sys, &smcr_set_sys, o->sys);
		text_knobs(&sys);
	}
}

int cmd_show(int argc, char **argv)
{
	struct overview o = {};
	int rc;

	if (argc)
		return usage_error("show does not understand \"%s\"", argv[0]);
	rc = overview_read(&o);
	if (rc == EXIT_OK) {
		if (opt.json)
			json_overview(&o);
		else
			text_overview(&o);
	}
	series_free(&o.reasons);
	free(o.sys);
	return rc;
}
