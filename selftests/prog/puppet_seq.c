// SPDX-License-Identifier: GPL-2.0-only
/*
 * The puppet peer: macros. They run commands as a script has them, so that the
 * log shows every step; from=STEP leaves out what is before STEP, until=STEP
 * leaves out STEP and the rest.
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
	{ "accept",		"rx accept first=0 %{reuse_qpn}" },
	{ "confirm",		"tx confirm" },
	{ 0 },
};

static const struct step server_reuse[] = {
	{ "proposal",		"rx proposal" },
	{ "accept",		"tx accept first=0" },
	{ "confirm",		"rx confirm qpn=%{link_peer_qpn}" },
	{ 0 },
};

/* F.2 from ADD LINK on; %new is the link's name */
static const struct step client_add[] = {
	{ "add_link",		"rx llc add_link reply=0 rejected=0 about=%new" },
	{ "qp",			"on %new qp create" },
	{ "add_link_reply",	"tx llc add_link reply=1 about=%new" },
	{ "rtr",		"on %new qp rtr" },
	{ "cont",		"rx llc add_link_cont reply=0 about=%new" },
	{ "cont_reply",		"tx llc add_link_cont reply=1 about=%new" },
	{ "confirm_link",	"on %new rx llc confirm_link reply=0" },
	{ "rts",		"on %new qp rts" },
	{ "confirm_link_reply",	"on %new tx llc confirm_link reply=1" },
	{ 0 },
};

static const struct step server_add[] = {
	{ "qp",			"on %new qp create" },
	{ "add_link",		"tx llc add_link about=%new" },
	{ "add_link_reply",	"rx llc add_link reply=1 rejected=0 about=%new" },
	{ "rts",		"on %new qp rtr" },
	{ "rts",		"on %new qp rts" },
	{ "cont",		"tx llc add_link_cont about=%new" },
	{ "cont_reply",		"rx llc add_link_cont reply=1 about=%new" },
	{ "confirm_link",	"on %new tx llc confirm_link" },
	{ "confirm_link_reply",	"on %new rx llc confirm_link reply=1" },
	{ 0 },
};

/* F.5, and the same part of F.6 */
static const struct step client_delete[] = {
	{ "delete_link",	"rx llc delete_link reply=0 all=0 about=%new" },
	{ "delete_link_reply",	"tx llc delete_link reply=1 about=%new" },
	{ "destroy",		"on %new qp destroy" },
	{ 0 },
};

static const struct step server_delete[] = {
	{ "delete_link",	"tx llc delete_link about=%new" },
	{ "delete_link_reply",	"rx llc delete_link reply=1 about=%new" },
	{ "destroy",		"on %new qp destroy" },
	{ 0 },
};

static void run_steps(const struct step *s, int argc, char **argv)
{
	const char *from = NULL, *until = NULL;
	unsigned int n = 0;
	char text[24];
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
		/* with several links the Accept may name any of them */
		snprintf(text, sizeof(text), "qpn=%u", lnk->peer_qpn);
		for (n = 0, i = 0; i < MAX_LINKS && links[i]; i++)
			n += links[i]->group == lnk->group;
		var_set("reuse_qpn", n > 1 ? "" : text);
		run_line(s->line);
	}
	if (until)
		bad("no step '%s'", until);
	conn_rings(conn);
}

/* The side that listens is the server */
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

/* The steps of @client or @server, about the link argv[0] */
static void run_about(const struct step *client, const struct step *server,
		      int argc, char **argv)
{
	if (argc < 1)
		bad("which link?");
	if (link_find(argv[0])->group != lnk->group)
		bad("link %s is of another group", argv[0]);
	var_set("new", argv[0]);
	run_steps(is_client() ? client : server, argc - 1, argv + 1);
}

void seq_add_link(int argc, char **argv)
{
	run_about(client_add, server_add, argc, argv);
}

void seq_delete_link(int argc, char **argv)
{
	run_about(client_delete, server_delete, argc, argv);
}

/* F.10: the validation message comes first */
void seq_move(int argc, char **argv)
{
	char line[64];

	if (argc < 1 || link_find(argv[0])->group != lnk->group)
		bad("move LINK of the same group");
	snprintf(line, sizeof(line), "link %s", argv[0]);
	run_line(line);
	run_line("tx cdc flags=F seq=%tx_ss");
}

/* F.8: C both ways, in either order, then the end of TCP */
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
