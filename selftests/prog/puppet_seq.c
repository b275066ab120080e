// SPDX-License-Identifier: GPL-2.0-only
/*
 * The puppet peer: macros. They run the very commands that a script could say,
 * so that the log shows every step; from=STEP leaves out what is before STEP,
 * until=STEP leaves out STEP and the rest.
 */
#include "puppet.h"

struct step {
	const char *name, *line;
};

/* Conformance catalogue, Part F.1; one network card on either side */
static const struct step client_first[] = {
	{ "proposal",		"tx proposal" },
	{ "accept",		"rx accept first=1" },
	{ "qp",			"qp create" },
	{ "qp",			"qp rtr" },
	{ "confirm",		"tx confirm" },
	{ "confirm_link",	"rx llc confirm_link reply=0" },
	{ "rts",		"qp rts" },
	{ "confirm_link_reply",	"tx llc confirm_link reply=1" },
	{ "add_link",		"rx llc add_link reply=0 gid=%{their_gid} link!=%link_num" },
	{ "add_link_reply",	"tx llc add_link reply=1" },
	{ 0 },
};

static const struct step server_first[] = {
	{ "proposal",		"rx proposal" },
	{ "qp",			"qp create" },
	{ "accept",		"tx accept first=1" },
	{ "confirm",		"rx confirm" },
	{ "rts",		"qp rtr" },
	{ "rts",		"qp rts" },
	{ "confirm_link",	"tx llc confirm_link" },
	{ "confirm_link_reply",	"rx llc confirm_link reply=1" },
	{ "add_link",		"tx llc add_link" },
	{ "add_link_reply",	"rx llc add_link reply=1 rejected=1 reason=1" },
	{ 0 },
};

static const struct step client_reuse[] = {
	{ "proposal",		"tx proposal" },
	{ "accept",		"rx accept first=0 qpn=%{link_peer_qpn}" },
	{ "confirm",		"tx confirm" },
	{ 0 },
};

static const struct step server_reuse[] = {
	{ "proposal",		"rx proposal" },
	{ "accept",		"tx accept first=0" },
	{ "confirm",		"rx confirm qpn=%{link_peer_qpn}" },
	{ 0 },
};

static void run_steps(const struct step *s, int argc, char **argv)
{
	const char *from = NULL, *until = NULL;
	char text[16];
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "until=", 6))
			until = argv[i] + 6;
		else if (!strncmp(argv[i], "from=", 5))
			from = argv[i] + 5;
		else
			bad("from=STEP, until=STEP");
	}
	while (from && s->name && strcmp(s->name, from))
		s++;
	if (!s->name)
		bad("no step '%s'", from);
	for (; s->name; s++) {
		if (until && !strcmp(s->name, until))
			return;
		var_set("their_gid", hex(lnk->peer_gid, 16));
		snprintf(text, sizeof(text), "%u", lnk->peer_qpn);
		var_set("link_peer_qpn", text);
		run_line(s->line);
	}
	if (until)
		bad("no step '%s'", until);
	conn_rings(conn);
}

/* Who listens is the server */
static bool is_client(void)
{
	return conn->lfd < 0;
}

void seq_first_contact(int argc, char **argv)
{
	run_steps(is_client() ? client_first : server_first, argc, argv);
}

void seq_reuse(int argc, char **argv)
{
	run_steps(is_client() ? client_reuse : server_reuse, argc, argv);
}

/* F.8: C both ways, whoever was first, then the end of TCP */
void seq_close(int argc, char **argv)
{
	struct rxmsg *m;

	(void)argc;
	(void)argv;
	run_line("tx cdc flags=C");
	if (!(conn->rx_cflags & SMCR_CDC_C))
		run_line("wait cdc has=C");
	run_line("tx fin");
	run_line("rx eof");
	run_line("tx close");
	while ((m = rx_take(&conn->cdc)))
		free(m);
}
