// SPDX-License-Identifier: GPL-2.0-only
/* smcctl link: the links of link groups. */
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "cmd.h"
#include "view.h"

static const struct column columns[] = {
	{ ">Group", SMCR_A_LINK_LGR_ID, NULL, NULL },
	{ ">Link", SMCR_A_LINK_LINK_NUM, NULL, NULL },
	{ "State", SMCR_A_LINK_STATUS, NULL, NULL },
	{ "Role", SMCR_A_LINK_ROLE, NULL, NULL },
	{ "Device", SMCR_A_LINK_DEV_NAME, NULL, NULL },
	{ ">Port", SMCR_A_LINK_PORT, NULL, NULL },
	{ "GID", SMCR_A_LINK_GID, NULL, NULL },
	{ ">QPN", SMCR_A_LINK_QPN, NULL, NULL },
	{ "Peer GID", SMCR_A_LINK_PEER_GID, NULL, NULL },
	{ ">Peer QPN", SMCR_A_LINK_PEER_QPN, NULL, NULL },
	{ ">MTU", SMCR_A_LINK_MTU, NULL, NULL },
	{ ">Conns", SMCR_A_LINK_CONNS, NULL, NULL },
	{ ">Writes", SMCR_A_LINK_TX_WRITES, NULL, NULL },
	{ ">Bytes", SMCR_A_LINK_TX_BYTES, NULL, NULL },
	{ "Reason", SMCR_A_LINK_REASON_NAME, NULL, NULL },
};

static const struct view_key keys[] = {
	{ "lgr-id", NULL, SMCR_A_LINK_LGR_ID, 0, SMCR_A_LGR_ID, NULL },
	{ "dev-name", NULL, SMCR_A_LINK_DEV_NAME, 0, SMCR_A_DEV_NAME, NULL },
};

static const unsigned int stats[] = {
	SMCR_A_LINK_SQ_USED, SMCR_A_LINK_RQ_MISSING, SMCR_A_LINK_IDLE_MS,
	SMCR_A_LINK_TX_WRITES, SMCR_A_LINK_TX_BYTES, SMCR_A_LINK_TX_SENDS,
	SMCR_A_LINK_RX_SENDS, SMCR_A_LINK_MOVED_IN, SMCR_A_LINK_MOVED_OUT, 0
};

static const struct view view = {
	.object		= "link",
	.set		= &smcr_set_link,
	.cmd		= SMCR_CMD_LINK_GET,
	.nest		= SMCR_A_LINK,
	VIEW_TABLES(columns, keys),
	.id		= "lgr-id",
	.stats		= stats,
};

int cmd_link(int argc, char **argv)
{
	return view_command(&view, argc, argv);
}
