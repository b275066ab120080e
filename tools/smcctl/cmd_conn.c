// SPDX-License-Identifier: GPL-2.0-only
/* smcctl conn: sockets and their connections. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "cmd.h"
#include "diag.h"
#include "out.h"
#include "proc.h"
#include "view.h"

static void text_mode(const struct item *it, char *buf)
{
	uint64_t mode = item_uint(it, SMCR_A_CONN_MODE);

	item_text(it, SMCR_A_CONN_MODE, buf);
	if (mode == SMCR_NL_MODE_SMC_R)
		strcpy(buf, "SMC-R");
	else if (mode == SMCR_NL_MODE_TCP)
		strcpy(buf, "TCP");
}

/* Attribute with the state of the protocol that carries the data */
static unsigned int pick_state(const struct item *it)
{
	return item_uint(it, SMCR_A_CONN_MODE) == SMCR_NL_MODE_SMC_R ?
	       SMCR_A_CONN_STATE : SMCR_A_CONN_TCP_STATE;
}

static void text_state(const struct item *it, char *buf)
{
	char *c;

	item_text(it, pick_state(it), buf);
	for (c = buf; *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c += 'A' - 'a';
}

static void text_endpoint(const struct item *it, unsigned int addr,
			  unsigned int port, char *buf)
{
	bool v6 = it->tb[addr] && mnl_attr_get_payload_len(it->tb[addr]) == 16;
	char host[ATTR_TEXT];

	snprintf(buf, ATTR_TEXT, v6 ? "[%.60s]:%" PRIu64 : "%.60s:%" PRIu64,
		 item_text(it, addr, host), item_uint(it, port));
}

static void text_local(const struct item *it, char *buf)
{
	text_endpoint(it, SMCR_A_CONN_LOCAL_ADDR, SMCR_A_CONN_LOCAL_PORT, buf);
}

static void text_peer(const struct item *it, char *buf)
{
	if (item_uint(it, SMCR_A_CONN_PEER_PORT))
		text_endpoint(it, SMCR_A_CONN_PEER_ADDR, SMCR_A_CONN_PEER_PORT,
			      buf);
	else
		strcpy(buf, "*");
}

static void text_link(const struct item *it, char *buf)
{
	if (item_has(it, SMCR_A_CONN_LGR_ID))
		snprintf(buf, ATTR_TEXT, "%" PRIu64 "/%" PRIu64,
			 item_uint(it, SMCR_A_CONN_LGR_ID),
			 item_uint(it, SMCR_A_CONN_LINK_NUM));
	else
		strcpy(buf, "-");
}

static const struct holder *holders(const struct item *it, size_t *n)
{
	*n = 0;
	/* 0: before accept(), and after close() */
	return item_uint(it, SMCR_A_CONN_INODE) ?
	       proc_holders(item_uint(it, SMCR_A_CONN_INODE), n) : NULL;
}

static void text_process(const struct item *it, char *buf)
{
	const struct holder *h;
	size_t i, n, len = 0;

	h = holders(it, &n);
	strcpy(buf, "-");
	for (i = 0; i < n; i++) {
		if (len + PROC_NAME + 40 > ATTR_TEXT) {
			strcpy(buf + len, ",...");
			return;
		}
		len += (size_t)snprintf(buf + len, ATTR_TEXT - len,
					"%s%s(pid=%d,fd=%d)", i ? "," : "",
					h[i].name, h[i].pid, h[i].fd);
	}
}

static void json_processes(const struct item *it)
{
	const struct holder *h;
	size_t i, n;

	if (!opt.processes)
		return;
	h = holders(it, &n);
	js_array("processes");
	for (i = 0; i < n; i++) {
		js_object(NULL);
		js_str("name", h[i].name);
		js_int("pid", h[i].pid);
		js_int("fd", h[i].fd);
		js_end();
	}
	js_end();
}

/* Cause of the fallback or of the end; for a listener, its queues */
static void text_reason(const struct item *it, char *buf)
{
	uint32_t code = (uint32_t)item_uint(it, SMCR_A_CONN_PEER_DIAGNOSIS);
	const char *said = diag_text(code);

	if (item_uint(it, SMCR_A_CONN_MODE) == SMCR_NL_MODE_LISTEN)
		snprintf(buf, ATTR_TEXT, "%" PRIu64 " of %" PRIu64
			 " wait for accept(), %" PRIu64 " negotiate",
			 item_uint(it, SMCR_A_CONN_ACCEPT_QUEUE),
			 item_uint(it, SMCR_A_CONN_ACCEPT_QUEUE_MAX),
			 item_uint(it, SMCR_A_CONN_NEGOTIATING));
	else if (!item_has(it, SMCR_A_CONN_REASON_TEXT) && !code)
		strcpy(buf, "-");
	else if (!code)
		snprintf(buf, ATTR_TEXT, "%.200s",
			 item_str(it, SMCR_A_CONN_REASON_TEXT));
	else
		snprintf(buf, ATTR_TEXT, "%.120s: %s (0x%08x)",
			 item_has(it, SMCR_A_CONN_REASON_TEXT) ?
			 item_str(it, SMCR_A_CONN_REASON_TEXT) : "peer declined",
			 said ? said : "unknown diagnosis", code);
}

static void note_cursor(const struct item *it, unsigned int type, char *buf,
			size_t size)
{
	struct item cur;

	buf[0] = '\0';
	if (!item_has(it, type))
		return;
	item_parse(&cur, &smcr_set_cursor, it->tb[type]);
	snprintf(buf, size, "%s %" PRIu64 ":%" PRIu64 " (%" PRIu64 ")",
		 it->set->attr[type].name,
		 item_uint(&cur, SMCR_A_CURSOR_WRAP),
		 item_uint(&cur, SMCR_A_CURSOR_COUNT),
		 item_uint(&cur, SMCR_A_CURSOR_BYTES));
}

static void note_cursors(const struct item *it,
			 void (*note)(void *arg, const char *text), void *arg)
{
	static const unsigned int types[] = {
		SMCR_A_CONN_RX_PROD, SMCR_A_CONN_RX_CONS,
		SMCR_A_CONN_TX_PROD, SMCR_A_CONN_TX_CONS,
	};
	char line[400] = "", word[100];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		note_cursor(it, types[i], word, sizeof(word));
		if (*line && *word)
			strcat(line, "  ");
		strcat(line, word);
	}
	if (*line)
		note(arg, line);
}

static bool conn_usual(const struct item *it)
{
	uint64_t mode = item_uint(it, SMCR_A_CONN_MODE);

	return mode != SMCR_NL_MODE_INIT && mode != SMCR_NL_MODE_LISTEN;
}

static const struct column columns[] = {
	{ "Mode", 0, text_mode, NULL },
	{ "State", 0, text_state, NULL },
	{ "Role", SMCR_A_CONN_ROLE, NULL, NULL },
	{ "Local", 0, text_local, NULL },
	{ "Peer", 0, text_peer, NULL },
	{ "Link", 0, text_link, NULL },
	{ ">Unread", SMCR_A_CONN_UNREAD, NULL, NULL },
	{ ">Unsent", SMCR_A_CONN_UNSENT, NULL, NULL },
	{ ">UID", SMCR_A_CONN_UID, NULL, NULL },
	{ "Process", 0, text_process, &opt.processes },
	{ "Reason", 0, text_reason, NULL },
};

static const struct view_key keys[] = {
	{ "port", "local or peer port", SMCR_A_CONN_LOCAL_PORT,
	  SMCR_A_CONN_PEER_PORT, SMCR_A_PORT, NULL },
	{ "addr", "local or peer address", SMCR_A_CONN_LOCAL_ADDR,
	  SMCR_A_CONN_PEER_ADDR, 0, NULL },
	{ "mode", NULL, SMCR_A_CONN_MODE, 0, SMCR_A_MODE, NULL },
	{ "state", "state as it is listed: of SMC-R, or else of TCP",
	  SMCR_A_CONN_STATE, SMCR_A_CONN_TCP_STATE, SMCR_A_STATE, pick_state },
	{ "lgr-id", NULL, SMCR_A_CONN_LGR_ID, 0, SMCR_A_LGR_ID, NULL },
	{ "dev-name", NULL, SMCR_A_CONN_DEV_NAME, 0, SMCR_A_DEV_NAME, NULL },
};

static const unsigned int stats[] = {
	SMCR_A_CONN_RX_SEQ, SMCR_A_CONN_TX_SEQ, SMCR_A_CONN_QUEUED,
	SMCR_A_CONN_UNCONSUMED, SMCR_A_CONN_RX_BYTES, SMCR_A_CONN_TX_BYTES, 0
};

static const struct view view = {
	.object		= "conn",
	.set		= &smcr_set_conn,
	.cmd		= SMCR_CMD_CONN_GET,
	.nest		= SMCR_A_CONN,
	VIEW_TABLES(columns, keys),
	.stats		= stats,
	.usual		= conn_usual,
	.json		= json_processes,
	.notes		= note_cursors,
};

int cmd_conn(int argc, char **argv)
{
	return view_command(&view, argc, argv);
}
