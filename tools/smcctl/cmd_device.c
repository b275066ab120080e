// SPDX-License-Identifier: GPL-2.0-only
/* smcctl device: RDMA devices and their ports. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "cmd.h"
#include "view.h"

static void port_text(const struct item *port, char *buf, size_t size)
{
	char state[ATTR_TEXT];
	int n;

	n = snprintf(buf, size, "%" PRIu64 ":%.20s",
		     item_uint(port, SMCR_A_DEV_PORT_PORT),
		     item_text(port, SMCR_A_DEV_PORT_STATE, state));
	if (item_has(port, SMCR_A_DEV_PORT_NETDEV) && n < (int)size)
		snprintf(buf + n, size - (size_t)n, "(%.16s)",
			 item_str(port, SMCR_A_DEV_PORT_NETDEV));
}

static void text_ports(const struct item *it, char *buf)
{
	const struct nlattr *nla;
	struct item port;
	char word[64];
	size_t len = 0;

	buf[0] = '\0';
	mnl_attr_for_each_nested(nla, it->nest) {
		if (mnl_attr_get_type(nla) != SMCR_A_DEV_PORT)
			continue;
		item_parse(&port, &smcr_set_dev_port, nla);
		port_text(&port, word, sizeof(word));
		if (len + strlen(word) + 2 > ATTR_TEXT)
			break;
		len += (size_t)snprintf(buf + len, ATTR_TEXT - len, "%s%s",
					len ? " " : "", word);
	}
	if (!len)
		strcpy(buf, "-");
}

static void note_ports(const struct item *it,
		       void (*note)(void *arg, const char *text), void *arg)
{
	const struct nlattr *nla;
	char line[200], state[ATTR_TEXT];
	struct item p;

	mnl_attr_for_each_nested(nla, it->nest) {
		if (mnl_attr_get_type(nla) != SMCR_A_DEV_PORT)
			continue;
		item_parse(&p, &smcr_set_dev_port, nla);
		snprintf(line, sizeof(line),
			 "port %" PRIu64 "  state %.20s  mtu %" PRIu64
			 "  gids %" PRIu64 "  netdev %.16s  lgrs %" PRIu64,
			 item_uint(&p, SMCR_A_DEV_PORT_PORT),
			 item_text(&p, SMCR_A_DEV_PORT_STATE, state),
			 item_uint(&p, SMCR_A_DEV_PORT_MTU),
			 item_uint(&p, SMCR_A_DEV_PORT_GIDS),
			 item_has(&p, SMCR_A_DEV_PORT_NETDEV) ?
			 item_str(&p, SMCR_A_DEV_PORT_NETDEV) : "-",
			 item_uint(&p, SMCR_A_DEV_PORT_LGRS));
		note(arg, line);
	}
}

static const struct column columns[] = {
	{ "Device", SMCR_A_DEV_DEV_NAME, NULL, NULL },
	{ "Ports", 0, text_ports, NULL },
	{ ">Groups", SMCR_A_DEV_LGRS, NULL, NULL },
	{ ">Inline", SMCR_A_DEV_MAX_INLINE, NULL, NULL },
	{ ">SGEs", SMCR_A_DEV_MAX_SGE, NULL, NULL },
	{ ">MR pages", SMCR_A_DEV_MAX_MR_PAGES, NULL, NULL },
};

static const struct view_key keys[] = {
	{ "dev-name", NULL, SMCR_A_DEV_DEV_NAME, 0, SMCR_A_DEV_NAME, NULL },
};

static const struct view view = {
	.object		= "device",
	.set		= &smcr_set_dev,
	.cmd		= SMCR_CMD_DEV_GET,
	.nest		= SMCR_A_DEV,
	VIEW_TABLES(columns, keys),
	.id		= "dev-name",
	.notes		= note_ports,
};

int cmd_device(int argc, char **argv)
{
	return view_command(&view, argc, argv);
}
