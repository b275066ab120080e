// SPDX-License-Identifier: GPL-2.0-only
/* smcctl linkgroup: list, balancing and deletion of link groups. */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "cmd.h"
#include "nl.h"
#include "view.h"

/* A line for each deleted link: age, path, counters, reason */
static void note_past(const struct item *it,
		      void (*note)(void *arg, const char *text), void *arg)
{
	char role[ATTR_TEXT], gid[ATTR_TEXT], peer[ATTR_TEXT];
	const struct nlattr *nla;
	char line[400];
	struct item p;
	int n;

	mnl_attr_for_each_nested(nla, it->nest) {
		if (mnl_attr_get_type(nla) != SMCR_A_LGR_PAST)
			continue;
		item_parse(&p, &smcr_set_past, nla);
		n = snprintf(line, sizeof(line),
			     "link %" PRIu64 " is deleted, %.0f s ago",
			     item_uint(&p, SMCR_A_PAST_LINK_NUM),
			     (double)item_uint(&p, SMCR_A_PAST_AGO_MS) / 1000);
		n += snprintf(line + n, sizeof(line) - n,
			      "  %.20s  %.20s  %.50s to %.50s",
			      item_text(&p, SMCR_A_PAST_ROLE, role),
			      item_has(&p, SMCR_A_PAST_DEV_NAME) ?
			      item_str(&p, SMCR_A_PAST_DEV_NAME) : "-",
			      item_text(&p, SMCR_A_PAST_GID, gid),
			      item_text(&p, SMCR_A_PAST_PEER_GID, peer));
		n += snprintf(line + n, sizeof(line) - n,
			      "  writes %" PRIu64 "  bytes %" PRIu64,
			      item_uint(&p, SMCR_A_PAST_TX_WRITES),
			      item_uint(&p, SMCR_A_PAST_TX_BYTES));
		n += snprintf(line + n, sizeof(line) - n,
			      "  moved-in %" PRIu64 "  moved-out %" PRIu64,
			      item_uint(&p, SMCR_A_PAST_MOVED_IN),
			      item_uint(&p, SMCR_A_PAST_MOVED_OUT));
		if (item_has(&p, SMCR_A_PAST_REASON_TEXT))
			snprintf(line + n, sizeof(line) - n, "  %.80s",
				 item_str(&p, SMCR_A_PAST_REASON_TEXT));
		note(arg, line);
	}
}

/* "2/8": number of links and its limit */
static void text_links(const struct item *it, char *buf)
{
	char n[ATTR_TEXT], max[ATTR_TEXT];

	snprintf(buf, ATTR_TEXT, "%.20s/%.20s",
		 item_text(it, SMCR_A_LGR_LINKS, n),
		 item_text(it, SMCR_A_LGR_MAX_LINKS, max));
}

static const struct column columns[] = {
	{ ">ID", SMCR_A_LGR_LGR_ID, NULL, NULL },
	{ "Role", SMCR_A_LGR_ROLE, NULL, NULL },
	{ "State", SMCR_A_LGR_STATE, NULL, NULL },
	{ "Peer ID", SMCR_A_LGR_PEER_ID, NULL, NULL },
	{ "Device", SMCR_A_LGR_DEV_NAME, NULL, NULL },
	{ ">Port", SMCR_A_LGR_PORT, NULL, NULL },
	{ ">VLAN", SMCR_A_LGR_VLAN, NULL, NULL },
	{ ">Conns", SMCR_A_LGR_CONNS, NULL, NULL },
	{ ">RMBs", SMCR_A_LGR_RMBS, NULL, NULL },
	{ ">Links", 0, text_links, NULL },
	{ "Redundancy", SMCR_A_LGR_REDUNDANCY, NULL, NULL },
	{ ">Moved", SMCR_A_LGR_MOVED, NULL, NULL },
	{ ">Waiting", SMCR_A_LGR_WAITING, NULL, NULL },
	{ "Eye catcher", SMCR_A_LGR_EYE_CATCHER, NULL, NULL },
};

static const struct view_key keys[] = {
	{ "lgr-id", NULL, SMCR_A_LGR_LGR_ID, 0, SMCR_A_LGR_ID, NULL },
	{ "dev-name", NULL, SMCR_A_LGR_DEV_NAME, 0, SMCR_A_DEV_NAME, NULL },
};

static const struct view view = {
	.object		= "linkgroup",
	.set		= &smcr_set_lgr,
	.cmd		= SMCR_CMD_LGR_GET,
	.nest		= SMCR_A_LGR,
	VIEW_TABLES(columns, keys),
	.id		= "lgr-id",
	.notes		= note_past,
};

/* Refuse options that only apply to lists */
static int no_options(const char *what)
{
	if (opt.all || opt.detail || opt.json || opt.watch > 0)
		return usage_error("%s takes none of -a, -d, -j, -w", what);
	return EXIT_OK;
}

/* Send @cmd for the link group whose ID is @word */
static int lgr_do(uint8_t cmd, const char *word)
{
	unsigned long id;
	uint32_t id32;
	char *end;

	errno = 0;
	id = strtoul(word, &end, 0);
	if (errno || end == word || *end || word[0] == '-' || id > UINT32_MAX)
		return usage_error("\"%s\" is not the ID of a link group", word);
	id32 = (uint32_t)id;
	return nl_lgr_do(cmd, &id32);
}

static int lgr_delete(int argc, char **argv)
{
	if (no_options("delete") != EXIT_OK)
		return EXIT_USAGE;
	if (argc != 1)
		return usage_error("one link group: smcctl linkgroup delete ID");
	return lgr_do(SMCR_CMD_LGR_DEL, argv[0]);
}

static int lgr_balance(int argc, char **argv)
{
	if (no_options("balance") != EXIT_OK)
		return EXIT_USAGE;
	if (argc > 1)
		return usage_error("one link group, or all: smcctl linkgroup balance [ID]");
	if (!argc)
		return nl_lgr_do(SMCR_CMD_LGR_BALANCE, NULL);
	return lgr_do(SMCR_CMD_LGR_BALANCE, argv[0]);
}

int cmd_linkgroup(int argc, char **argv)
{
	if (argc && (!strcmp(argv[0], "delete") || !strcmp(argv[0], "del")))
		return lgr_delete(argc - 1, argv + 1);
	if (argc && !strcmp(argv[0], "balance"))
		return lgr_balance(argc - 1, argv + 1);
	return view_command(&view, argc, argv);
}
