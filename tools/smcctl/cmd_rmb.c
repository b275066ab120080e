// SPDX-License-Identifier: GPL-2.0-only
/* smcctl rmb: own RMBs and the use of their elements. */
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "cmd.h"
#include "view.h"

static const struct column columns[] = {
	{ ">Group", SMCR_A_RMB_LGR_ID, NULL, NULL },
	{ ">RMB", SMCR_A_RMB_RMB_ID, NULL, NULL },
	{ ">Element", SMCR_A_RMB_ELEMENT_SIZE, NULL, NULL },
	{ ">Elements", SMCR_A_RMB_ELEMENTS, NULL, NULL },
	{ ">Used", SMCR_A_RMB_USED, NULL, NULL },
	{ ">Free", SMCR_A_RMB_FREE, NULL, NULL },
	{ ">Resting", SMCR_A_RMB_QUARANTINED, NULL, NULL },
	{ ">Bytes", SMCR_A_RMB_SIZE, NULL, NULL },
	{ ">Registered", SMCR_A_RMB_REGISTERED, NULL, NULL },
	{ "RKey", SMCR_A_RMB_RKEY, NULL, NULL },
};

static const struct view_key keys[] = {
	{ "lgr-id", NULL, SMCR_A_RMB_LGR_ID, 0, SMCR_A_LGR_ID, NULL },
};

static const struct view view = {
	.object		= "rmb",
	.set		= &smcr_set_rmb,
	.cmd		= SMCR_CMD_RMB_GET,
	.nest		= SMCR_A_RMB,
	VIEW_TABLES(columns, keys),
	.id		= "lgr-id",
};

int cmd_rmb(int argc, char **argv)
{
	return view_command(&view, argc, argv);
}
