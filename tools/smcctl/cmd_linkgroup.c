// SPDX-License-Identifier: GPL-2.0-only
/* smcctl linkgroup: link groups, and their end. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "cmd.h"
#include "nl.h"
#include "view.h"

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
};

static int lgr_delete(int argc, char **argv)
{
	unsigned long id;
	char *end;

	if (argc != 1)
		return usage_error("one link group: smcctl linkgroup delete ID");
	errno = 0;
	id = strtoul(argv[0], &end, 0);
	if (errno || end == argv[0] || *end || argv[0][0] == '-' ||
	    id > UINT32_MAX)
		return usage_error("\"%s\" is not the ID of a link group",
				   argv[0]);
	return nl_lgr_del((uint32_t)id);
}

int cmd_linkgroup(int argc, char **argv)
{
	if (argc && (!strcmp(argv[0], "delete") || !strcmp(argv[0], "del")))
		return lgr_delete(argc - 1, argv + 1);
	return view_command(&view, argc, argv);
}
