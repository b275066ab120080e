// SPDX-License-Identifier: GPL-2.0-only
/*
 * The puppet peer: script, commands, variables.
 *
 *	puppet [-d DEV] [-g GID_INDEX] [-t SECONDS] [SCRIPT...]
 *
 * DEV is $RNIC by default, SECONDS bounds the whole script (100, x $SLOW).
 * Without SCRIPT files the script is read from stdin. One command per line,
 * '#' begins a comment. Every command is printed with the time; the first
 * expectation that does not hold ends the script. Exit status: 0 if all hold,
 * 1 if not, 2 if the script is wrong. All waits are bounded (5 s x $SLOW, or
 * the last argument: 300ms, 2s).
 *
 * Connections and links
 *	conn NAME		use (or make) this connection: TCP + element
 *	link NAME [of LINK]	use (or make) this link: queue pair; in the group of LINK,
 *				else in a group of its own. The current connection sends on it
 *	nic DEV [GID_INDEX]	this RNIC for the current link, which has no queue pair
 *				yet, and for links made afterwards
 *	on LINK COMMAND...	run it with LINK as the current link; the connection does
 *				not move. %{LINK:VARIABLE} is a variable of LINK
 *	add_link LINK [from=STEP] [until=STEP]	ADD LINK, CONTINUATION, CONFIRM LINK:
 *				over the current link, for LINK of its group
 *	delete_link LINK [from=STEP] [until=STEP]	DELETE LINK for it by the server, over
 *				the current link, and the end of its queue pair
 *	move LINK		the connection sends F on LINK, and all that follows
 *	listen PORT [opt=0]	listen; the SMC option is on unless opt=0
 *	accept			the next TCP connection becomes this connection
 *	connect ADDR PORT [opt=0]
 *	opt [0|1]		did both SYN and SYN-ACK carry the option?
 *	set NAME=VALUE...	own properties: peer_id gid mac mtu bsize index
 *				token psn max_links no_eye link_num net auto_test
 *				auto_rkey (CONFIRM RKEY is answered) strict
 *				rq (receives of a queue pair) repost
 *	qp create|rtr|rts|err|destroy	(rtr: qpn= psn= mtu= gid= override)
 *	qp receives N		post more of them (after set rq= repost=0)
 *
 * TCP and CLC
 *	tx proposal|accept|confirm|decline [FIELD=VALUE...] [BYTES...]
 *	rx proposal|accept|confirm|decline [FIELD=VALUE...]
 *	tx raw HEX | tx app TEXT | tx app len=N | tx fin | tx rst | tx oob TEXT
 *	rx app TEXT | rx app len=N | rx eof | rx rst | rx end (either)
 *	rx none TIME		nothing comes on TCP and on any link
 *	rx none TIME tcp|link	nothing on TCP; nothing on any link
 *
 * LLC, on the current link
 *	tx llc TYPE [reply=1] [FIELD=VALUE...] [BYTES...] [expect=any|err|gone]
 *		gone: the peer receives it, or ends the link because of it and
 *		acknowledges nothing any more; its adapter must not refuse it
 *		about=LINK: ADD LINK, CONTINUATION and DELETE LINK are about that
 *		link, by default with its values; CONFIRM RKEY names all confirmed
 *		links by default, its CONTINUATION those that are left
 *	rx llc TYPE [FIELD=VALUE...]	the next LLC message is this one; about=LINK:
 *		its contents are kept for that link, and its link number is checked
 *	wait llc TYPE [...]		others before it are skipped
 *	tx send HEX|len=N [expect=...]	any SEND
 *	rx down				the link is dead (it is sent to until it is)
 *
 * CDC and data, on the current connection
 *	tx cdc [seq=+1] [prod=N] [cons=N] [flags=B,P,U,R,F,D,C,A] [FIELD=VALUE...]
 *	rx cdc [FIELD=VALUE...] [flags=B,D] [has=D] [hasnot=B]
 *	wait cdc [...]			others before it are skipped
 *	tx data TEXT | tx data len=N	write and announce, as a peer does
 *	rx data TEXT | rx data len=N	announced by the peer and correct in memory
 *	rmb			a new own RMB: the same memory under new keys
 *	again N			RDMA WRITE of the last N bytes that were sent
 *	consume N [quiet]		move own consumer cursor, and announce it
 *	write off=N len=N [rkey=] [va=] [byte=] [imm] [expect=err]	RDMA WRITE
 *	read off=N len=N [expect=err]	RDMA READ from the peer's element
 *	fill [off=N] [len=N] [byte=HH]	the own element
 *	check untouched off=N [len=N] [byte=HH]
 *	check cdcs N			so many CDCs came on this connection
 *	check offences N		so many since the last check (for set strict=0)
 *	check rx_link LINK		the peer sends on that link
 *	first_contact [from=STEP] [until=STEP]	the whole handshake, as client or
 *	reuse [from=STEP] [until=STEP]	as server; without what is before from=STEP,
 *				and without until=STEP and what follows
 *	close				C both ways, then the end of TCP
 *
 * Others
 *	fuzz SEED SECONDS [COUNT]	attacks with random damage on a module that
 *				listens on %port of %addr or, if the puppet listens,
 *				on one that connects; see puppet_fuzz.c
 *	let NAME=VALUE		a variable; %NAME or %{NAME} anywhere uses it.
 *				Known: %token %rkey %va %qpn %index %peer_token
 *				%peer_rkey %peer_va %peer_index %peer_qpn
 *				%peer_size %peer_psn %seq %peer_seq %link_num
 *				%user_id %last_test; %asked_rkey %asked_va: of the last CONFIRM
 *				RKEY; %peer_rmbs: RKeys that the peer has announced;
 *				%tx_ss: number of the last CDC that was acknowledged;
 *				%proposal: the last one that came, in hex
 *	print TEXT
 *	sleep TIME
 *	mark NAME [TEXT]	make the file $CASEDIR/mark.NAME, for other programs
 *	await NAME		wait for it; its text becomes %mark
 *	accepted | taken	wait until the program at the peer (sockcmd -a) has
 *				accepted this connection, has read its first bytes
 *	start			start a stop watch
 *	elapsed MIN MAX		check it
 *
 * BYTES change a message after it was encoded: @OFF=HEX sets, xor@OFF=HEX
 * flips, grow@OFF=HEX inserts, cut=N keeps only N bytes, add=HEX and text=TEXT
 * append, bytewise sends one byte per segment.
 * VALUES: a number, hexadecimal digits for byte strings; +N -N ^N are relative
 * to the default, which is what a correct peer would send.
 */
#include <ctype.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "puppet.h"

struct self me;
struct nic *nic, *nics[MAX_NICS];
struct conn *conn, *conns[MAX_CONNS];
struct link *lnk, *links[MAX_LINKS];
int slow = 1;
struct knobs knobs = {
	.index = -1, .token = -1, .psn = -1, .max_links = 2, .no_eye = 1, .link_num = 1,
	.auto_test = 1, .auto_rkey = 1, .strict = 1, .retry = 6, .qp_timeout = 14,
	.repost = 1, .rq = RX_DEPTH,
};

static const char *script_name = "stdin";
static int line_no, depth, offences;
int noted;
static char line_text[MAX_LINE];
static u64 t_begin, t_watch;

u64 try_until;
static bool trying;
static jmp_buf try_env;

static struct {
	char *name, *val;
} vars[MAX_VARS];

u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

static void stamp(void)
{
	u64 t = now_ms() - t_begin;

	printf("%4llu.%03llu %*s", t / 1000, t % 1000, depth * 2, "");
}

void say(const char *fmt, ...)
{
	va_list ap;

	stamp();
	printf("    ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static void complain(const char *word, const char *fmt, va_list ap)
{
	printf("%s %s:%d: %s\n%s     ", word, script_name, line_no, line_text,
	       word);
	vprintf(fmt, ap);
	putchar('\n');
	fflush(stdout);
}

void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(trying ? "NOTE" : "FAIL", fmt, ap);
	va_end(ap);
	if (trying)
		longjmp(try_env, 1);
	exit(1);
}

void bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(trying ? "NOTE" : "SCRIPT", fmt, ap);
	va_end(ap);
	if (trying)	/* for example the queue pair is in error */
		longjmp(try_env, 1);
	exit(2);
}

void offence(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(knobs.strict ? "FAIL" : "NOTE", fmt, ap);
	va_end(ap);
	offences += knobs.strict;
	noted++;
}

const char *hex(const void *p, size_t len)
{
	static char out[4][600];
	static int n;
	char *s = out[n++ & 3];
	size_t i;

	for (i = 0; i < len && i < 290; i++)
		sprintf(s + 2 * i, "%02x", ((const u8 *)p)[i]);
	s[2 * i] = 0;
	return s;
}

int parse_hex(const char *s, u8 *out, int max)
{
	int n = 0, hi = -1;

	for (; *s; s++) {
		int v;

		if (*s == ':' || *s == '-' || *s == '.' || *s == ' ')
			continue;
		if (!isxdigit((unsigned char)*s))
			bad("'%s': not hexadecimal", s);
		v = isdigit((unsigned char)*s) ? *s - '0' :
			tolower((unsigned char)*s) - 'a' + 10;
		if (hi < 0) {
			hi = v;
			continue;
		}
		if (n == max)
			bad("more than %d bytes", max);
		out[n++] = (u8)(hi << 4 | v);
		hi = -1;
	}
	if (hi >= 0)
		bad("odd number of hexadecimal digits");
	return n;
}

u64 parse_num(const char *s)
{
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (*end == 'k' || *end == 'K') {
		v *= 1024;
		end++;
	}
	if (!*s || *end || errno)
		bad("'%s': not a number", s);
	return v;
}

bool parse_time(const char *s, u64 *ms)
{
	char *end;
	u64 v;

	if (!isdigit((unsigned char)*s))
		return false;
	v = strtoull(s, &end, 10);
	if (!strcmp(end, "ms"))
		*ms = v;
	else if (!strcmp(end, "s"))
		*ms = v * 1000;
	else
		return false;
	return true;
}

u64 take_time(int *argc, char **argv, u64 def)
{
	u64 ms = def;

	if (*argc > 0 && parse_time(argv[*argc - 1], &ms))
		(*argc)--;
	return ms * (u64)slow;
}

/* --- variables ---------------------------------------------------------- */

void var_set(const char *name, const char *val)
{
	int i;

	for (i = 0; i < MAX_VARS; i++) {
		if (vars[i].name && strcmp(vars[i].name, name))
			continue;
		free(vars[i].val);
		if (!vars[i].name)
			vars[i].name = strdup(name);
		vars[i].val = strdup(val);
		return;
	}
	bad("too many variables");
}

/* The RKeys that the peer has announced, in ascending order */
static const char *peer_rmbs(const struct link *l)
{
	static char out[MAX_LINE / 2];
	u32 last = 0;
	size_t n = 0;

	out[0] = 0;
	for (;;) {
		const u32 *next = NULL;
		unsigned int i;

		for (i = 0; i < l->n_rmbs; i++)
			if (l->rmbs[i].rkey > last &&
			    (!next || l->rmbs[i].rkey < *next))
				next = &l->rmbs[i].rkey;
		if (!next || n > sizeof(out) - 12)
			return out;
		last = *next;
		n += (size_t)sprintf(out + n, "%s%u", n ? "," : "", last);
	}
}

static const char *var_get(const char *name)
{
	const char *colon = strchr(name, ':');
	static char out[40];
	u64 v;
	int i;

	if (colon) {			/* of another link */
		struct link *was = lnk;
		char of[16] = "";
		const char *val;

		strncat(of, name, min_t(size_t, (size_t)(colon - name), sizeof(of) - 1));
		link_use(link_find(of));
		val = var_get(colon + 1);
		link_use(was);
		return val;
	}
	for (i = 0; i < MAX_VARS && vars[i].name; i++)
		if (!strcmp(vars[i].name, name))
			return vars[i].val;

	if (!strcmp(name, "peer_id"))
		return hex(me.peer_id, 8);
	if (!strcmp(name, "their_peer_id") && conn)
		return hex(conn->peer_id, 8);
	if (!strcmp(name, "gid"))
		return hex(nic->gid, 16);
	if (!strcmp(name, "mac"))
		return hex(nic->mac, 6);
	if (!strcmp(name, "last_test") && lnk)
		return hex(lnk->last_test, 16);
	if (!strcmp(name, "peer_rmbs") && lnk)
		return peer_rmbs(lnk);
	if (!strcmp(name, "token") && conn)
		v = conn->token;
	else if (!strcmp(name, "index") && conn)
		v = conn->index;
	else if (!strcmp(name, "seq") && conn)
		v = conn->tx_seq;
	else if (!strcmp(name, "peer_seq") && conn)
		v = conn->rx_seq;
	else if (!strcmp(name, "peer_token") && conn)
		v = conn->peer.token;
	else if (!strcmp(name, "peer_rkey") && conn)
		v = conn->peer.rkey;
	else if (!strcmp(name, "peer_va") && conn)
		v = conn->peer.va;
	else if (!strcmp(name, "peer_psn") && conn)
		v = conn->peer.psn;
	else if (!strcmp(name, "peer_index") && conn)
		v = conn->peer.index;
	else if (!strcmp(name, "peer_qpn") && conn)
		v = conn->peer.qpn;
	else if (!strcmp(name, "peer_size") && conn)
		v = smcr_bsize_bytes(conn->peer.bsize & 7);
	else if (!strcmp(name, "diag") && conn)
		v = conn->decline.diagnosis;
	else if (!strcmp(name, "qpn") && lnk)
		v = lnk->qpn;
	else if (!strcmp(name, "psn") && lnk)
		v = lnk->psn;
	else if (!strcmp(name, "link_num") && lnk)
		v = lnk->num;
	else if (!strcmp(name, "user_id") && lnk)
		v = lnk->user_id;
	else if (!strcmp(name, "asked_rkey") && lnk)
		v = lnk->asked.confirm_rkey.rkey;
	else if (!strcmp(name, "asked_va") && lnk)
		v = lnk->asked.confirm_rkey.va;
	else if (!strcmp(name, "link_peer_qpn") && lnk)
		v = lnk->peer_qpn;
	else if (!strcmp(name, "tx_ss") && conn)
		v = conn->tx_ss;
	else if (!strcmp(name, "rkey") && nic->rmb_mr)
		v = nic->rmb_mr->rkey;
	else if (!strcmp(name, "va") && me.rmb)
		v = (u64)(uintptr_t)me.rmb;
	else
		bad("no variable '%s' (here)", name);
	snprintf(out, sizeof(out), "0x%llx", v);
	return out;
}

static void expand(const char *in, char *out, size_t max)
{
	size_t n = 0;

	while (*in) {
		char name[40];
		const char *v;
		size_t len = 0;
		bool brace;

		if (n + 1 >= max)
			bad("line too long");
		if (*in != '%') {
			out[n++] = *in++;
			continue;
		}
		if (*++in == '%') {
			out[n++] = *in++;
			continue;
		}
		brace = *in == '{';
		in += brace;
		while ((isalnum((unsigned char)*in) || *in == '_' ||
			(brace && *in == ':')) &&
		       len < sizeof(name) - 1)
			name[len++] = *in++;
		name[len] = 0;
		if (brace && *in++ != '}')
			bad("%%{%s is not closed", name);
		v = var_get(name);
		if (n + strlen(v) >= max)
			bad("line too long");
		strcpy(out + n, v);
		n += strlen(v);
	}
	out[n] = 0;
}

/* --- commands ----------------------------------------------------------- */

static void need(int argc, int min)
{
	if (argc < min)
		bad("%d arguments are missing", min - argc);
}

static struct conn *conn_new(const char *name)
{
	struct conn *c = calloc(1, sizeof(*c));

	snprintf(c->name, sizeof(c->name), "%s", name);
	c->fd = c->lfd = -1;
	rx_queue_init(&c->cdc);
	rx_queue_init(&c->early);
	return c;
}

static void cmd_conn(int argc, char **argv)
{
	struct conn *prev = conn;
	int i;

	need(argc, 1);
	for (i = 0; i < MAX_CONNS && conns[i]; i++)
		if (!strcmp(conns[i]->name, argv[0]))
			break;
	if (i == MAX_CONNS)
		bad("too many connections");
	if (!conns[i]) {
		conns[i] = conn_new(argv[0]);
		conns[i]->link = lnk;
		/* all connections share the listener */
		if (prev)
			conns[i]->lfd = prev->lfd;
	}
	conn = conns[i];
	link_use(conn->link);
}

/* Close its TCP connection and free it */
void conn_forget(struct conn *c)
{
	struct rxmsg *m;
	int i;

	for (i = 0; i < MAX_CONNS && conns[i] != c; i++)
		;
	if (i == MAX_CONNS)
		return;
	for (; i < MAX_CONNS - 1; i++)
		conns[i] = conns[i + 1];
	conns[MAX_CONNS - 1] = NULL;
	while ((m = rx_take(&c->cdc)) || (m = rx_take(&c->early)))
		free(m);
	if (c->fd >= 0)
		close(c->fd);
	if (conn == c)
		conn = conns[0];
	free(c);
}

void link_use(struct link *l)
{
	lnk = l;
	if (l)
		nic = l->nic;
}

struct link *link_find(const char *name)
{
	int i;

	for (i = 0; i < MAX_LINKS && links[i]; i++)
		if (!strcmp(links[i]->name, name))
			return links[i];
	bad("no link '%s'", name);
}

static void cmd_link(int argc, char **argv)
{
	static unsigned int groups;
	int i;

	need(argc, 1);
	for (i = 0; i < MAX_LINKS && links[i]; i++)
		if (!strcmp(links[i]->name, argv[0]))
			break;
	if (i == MAX_LINKS)
		bad("too many links");
	if (!links[i]) {
		links[i] = calloc(1, sizeof(*links[i]));
		snprintf(links[i]->name, sizeof(links[i]->name), "%s",
			 argv[0]);
		rx_queue_init(&links[i]->llc);
		links[i]->user_id = (u32)rand();
		links[i]->nic = nic;
		links[i]->group = ++groups;
		if (argc > 2 && !strcmp(argv[1], "of"))
			links[i]->group = link_find(argv[2])->group;
	}
	link_use(links[i]);
	if (conn)
		conn->link = lnk;
}

/* nic DEV [GID_INDEX] */
static void cmd_nic(int argc, char **argv)
{
	struct nic *n;

	need(argc, 1);
	n = ib_open(argv[0], argc > 1 ? (int)parse_num(argv[1]) : -1);
	if (n == nic)
		return;
	if (lnk->qp || lnk->rxbuf)
		bad("link %s is over %s", lnk->name, nic->name);
	lnk->nic = n;
	link_use(lnk);
}

static void cmd_set(int argc, char **argv)
{
	static const struct field self_fields[] = {
		FIELD(struct self, F_HEX, "peer_id", peer_id),
		{ 0 },
	};
	static const struct field nic_fields[] = {
		FIELD(struct nic, F_HEX, "gid", gid),
		FIELD(struct nic, F_HEX, "mac", mac),
		FIELD(struct nic, F_NUM, "mtu", mtu),
		{ 0 },
	};
	static const struct field knob_fields[] = {
		FIELD(struct knobs, F_NUM, "bsize", bsize),
		FIELD(struct knobs, F_NUM, "index", index),
		FIELD(struct knobs, F_NUM, "token", token),
		FIELD(struct knobs, F_NUM, "psn", psn),
		FIELD(struct knobs, F_NUM, "max_links", max_links),
		FIELD(struct knobs, F_NUM, "no_eye", no_eye),
		FIELD(struct knobs, F_NUM, "link_num", link_num),
		FIELD(struct knobs, F_NUM, "auto_test", auto_test),
		FIELD(struct knobs, F_NUM, "auto_rkey", auto_rkey),
		FIELD(struct knobs, F_NUM, "rq", rq),
		FIELD(struct knobs, F_NUM, "repost", repost),
		FIELD(struct knobs, F_NUM, "strict", strict),
		FIELD(struct knobs, F_NUM, "retry", retry),
		FIELD(struct knobs, F_NUM, "qp_timeout", qp_timeout),
		{ 0 },
	};
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "net=", 4)) {
			snprintf(knobs.net, sizeof(knobs.net), "%s",
				 argv[i] + 4);
			continue;
		}
		if (!strncmp(argv[i], "gid=", 4) ||
		    !strncmp(argv[i], "mac=", 4))
			nic->gid_picked = true;
		if (!field_set(self_fields, &me, argv[i]) &&
		    !field_set(nic_fields, nic, argv[i]) &&
		    !field_set(knob_fields, &knobs, argv[i]))
			bad("'%s': nothing to set", argv[i]);
	}
}

static void cmd_let(int argc, char **argv)
{
	char *eq;
	int i;

	for (i = 0; i < argc; i++) {
		eq = strchr(argv[i], '=');
		if (!eq)
			bad("let NAME=VALUE");
		*eq = 0;
		var_set(argv[i], eq + 1);
	}
}

static void cmd_print(int argc, char **argv)
{
	int i;

	stamp();
	for (i = 0; i < argc; i++)
		printf("%s%s", i ? " " : "", argv[i]);
	putchar('\n');
}

static void cmd_sleep(int argc, char **argv)
{
	u64 ms;

	need(argc, 1);
	if (!parse_time(argv[0], &ms))
		bad("sleep TIME");
	pump(now_ms() + ms, -1, NULL, NULL);
}

static void mark_path(char *out, size_t max, const char *name)
{
	const char *dir = getenv("CASEDIR");

	snprintf(out, max, "%s/mark.%s", dir ? dir : ".", name);
}

static void cmd_mark(int argc, char **argv)
{
	char path[512], tmp[600];
	FILE *f;
	int i;

	need(argc, 1);
	mark_path(path, sizeof(path), argv[0]);
	snprintf(tmp, sizeof(tmp), "%s.tmp%d", path, (int)getpid());
	f = fopen(tmp, "w");
	if (!f)
		bad("%s: %s", tmp, strerror(errno));
	for (i = 1; i < argc; i++)
		fprintf(f, "%s%s", i > 1 ? " " : "", argv[i]);
	fputc('\n', f);
	if (fclose(f) || rename(tmp, path))
		bad("%s: %s", path, strerror(errno));
}

static void await_mark(char *path, size_t max, const char *name, u64 end)
{
	struct stat st;

	mark_path(path, max, name);
	while (stat(path, &st) || !st.st_size) {
		if (now_ms() > end)
			fail("nobody marked '%s'", name);
		pump(now_ms() + 20, -1, NULL, NULL);
	}
}

static void cmd_await(int argc, char **argv)
{
	u64 end = now_ms() + take_time(&argc, argv, 20000);
	char path[512], text[256] = "";
	FILE *f;

	need(argc, 1);
	await_mark(path, sizeof(path), argv[0], end);
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = 0;
	if (f)
		fclose(f);
	var_set("mark", text);
}

/* The mark @what of sockcmd -a for the current connection */
static void seen_name(char *out, size_t max, const char *what)
{
	struct sockaddr_in6 a;	/* the port of either family is there */
	socklen_t len = sizeof(a);

	if (getsockname(conn->fd, (struct sockaddr *)&a, &len))
		bad("getsockname: %s", strerror(errno));
	snprintf(out, max, "%s.%d", what, ntohs(a.sin6_port));
}

/* Delete the marks of an earlier connection from this port */
void seen_forget(void)
{
	static const char *const what[] = { "accepted", "taken" };
	char path[512], name[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(what); i++) {
		seen_name(name, sizeof(name), what[i]);
		mark_path(path, sizeof(path), name);
		unlink(path);
	}
}

static void cmd_seen(const char *what, int argc, char **argv)
{
	u64 end = now_ms() + take_time(&argc, argv, 20000);
	char path[512], name[64];

	seen_name(name, sizeof(name), what);
	await_mark(path, sizeof(path), name, end);
}

static void cmd_accepted(int argc, char **argv)
{
	cmd_seen("accepted", argc, argv);
}

static void cmd_taken(int argc, char **argv)
{
	cmd_seen("taken", argc, argv);
}

static void cmd_start(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	t_watch = now_ms();
}

static void cmd_elapsed(int argc, char **argv)
{
	u64 t = now_ms() - t_watch, lo, hi;

	need(argc, 2);
	if (!parse_time(argv[0], &lo) || !parse_time(argv[1], &hi))
		bad("elapsed MIN MAX");
	say("%llu ms since start", t);
	if (t < lo || t > hi * (u64)slow)
		fail("%llu ms are not between %s and %s x %d", t, argv[0],
		     argv[1], slow);
}

static void cmd_qp(int argc, char **argv)
{
	static const struct field peer_fields[] = {
		FIELD(struct link, F_NUM, "qpn", peer_qpn),
		FIELD(struct link, F_NUM, "psn", peer_psn),
		FIELD(struct link, F_NUM, "mtu", peer_mtu),
		FIELD(struct link, F_HEX, "gid", peer_gid),
		FIELD(struct link, F_HEX, "mac", peer_mac),
		{ 0 },
	};
	int i;

	need(argc, 1);
	if (!strcmp(argv[0], "receives")) {
		need(argc, 2);
		qp_receives(lnk, parse_num(argv[1]));
		return;
	}
	for (i = 1; i < argc; i++)
		if (!field_set(peer_fields, lnk, argv[i]))
			bad("'%s'?", argv[i]);
	if (!strcmp(argv[0], "create"))
		qp_create(lnk);
	else if (!strcmp(argv[0], "rtr"))
		qp_rtr(lnk);
	else if (!strcmp(argv[0], "rts"))
		qp_rts(lnk);
	else if (!strcmp(argv[0], "err"))
		qp_err(lnk);
	else if (!strcmp(argv[0], "destroy"))
		qp_destroy(lnk);
	else
		bad("qp create|receives|rtr|rts|err|destroy");
}

static bool is_clc(const char *s)
{
	return !strcmp(s, "proposal") || !strcmp(s, "accept") ||
	       !strcmp(s, "confirm") || !strcmp(s, "decline");
}

static void cmd_tx(int argc, char **argv)
{
	need(argc, 1);
	if (is_clc(argv[0]))
		clc_tx(argc, argv);
	else if (!strcmp(argv[0], "llc"))
		llc_tx(argc - 1, argv + 1);
	else if (!strcmp(argv[0], "cdc"))
		cdc_tx(argc - 1, argv + 1);
	else if (!strcmp(argv[0], "data"))
		data_tx(argc - 1, argv + 1);
	else if (!strcmp(argv[0], "send"))
		send_raw(argc - 1, argv + 1);
	else
		tcp_tx(argc, argv);
}

static void cmd_rx(int argc, char **argv)
{
	need(argc, 1);
	if (is_clc(argv[0]))
		clc_rx(argc, argv);
	else if (!strcmp(argv[0], "llc"))
		llc_rx(argc - 1, argv + 1, false);
	else if (!strcmp(argv[0], "cdc"))
		cdc_rx(argc - 1, argv + 1, false);
	else if (!strcmp(argv[0], "data"))
		data_rx(argc - 1, argv + 1);
	else if (!strcmp(argv[0], "none"))
		rx_none(argc - 1, argv + 1);
	else if (!strcmp(argv[0], "down"))
		link_rx_down(argc - 1, argv + 1);
	else
		tcp_rx(argc, argv);
}

static void cmd_wait(int argc, char **argv)
{
	need(argc, 1);
	if (!strcmp(argv[0], "llc"))
		llc_rx(argc - 1, argv + 1, true);
	else if (!strcmp(argv[0], "cdc"))
		cdc_rx(argc - 1, argv + 1, true);
	else
		bad("wait llc|cdc");
}

static void cmd_rmb(int argc, char **argv)
{
	(void)argv;
	if (argc)
		bad("rmb");
	ib_new_rmb();
}

static void dispatch(int argc, char **argv);

/* on LINK COMMAND... */
static void cmd_on(int argc, char **argv)
{
	struct link *was = lnk;

	need(argc, 2);
	link_use(link_find(argv[0]));
	dispatch(argc - 1, argv + 1);
	link_use(was);
}

static const struct {
	const char *name;
	void (*run)(int argc, char **argv);
} commands[] = {
	{ "conn", cmd_conn },
	{ "link", cmd_link },
	{ "nic", cmd_nic },
	{ "on", cmd_on },
	{ "again", cmd_again },
	{ "rmb", cmd_rmb },
	{ "add_link", seq_add_link },
	{ "delete_link", seq_delete_link },
	{ "move", seq_move },
	{ "listen", tcp_listen },
	{ "accept", tcp_accept },
	{ "connect", tcp_connect },
	{ "opt", tcp_opt },
	{ "set", cmd_set },
	{ "let", cmd_let },
	{ "print", cmd_print },
	{ "sleep", cmd_sleep },
	{ "mark", cmd_mark },
	{ "await", cmd_await },
	{ "accepted", cmd_accepted },
	{ "taken", cmd_taken },
	{ "start", cmd_start },
	{ "elapsed", cmd_elapsed },
	{ "qp", cmd_qp },
	{ "tx", cmd_tx },
	{ "rx", cmd_rx },
	{ "wait", cmd_wait },
	{ "consume", cmd_consume },
	{ "write", cmd_write },
	{ "read", cmd_read },
	{ "fill", cmd_fill },
	{ "check", cmd_check },
	{ "fuzz", cmd_fuzz },
	{ "first_contact", seq_first_contact },
	{ "reuse", seq_reuse },
	{ "close", seq_close },
};

/* Words, "quoted ones" and name="quoted values" */
static int split(char *line, char **argv)
{
	int argc = 0;
	char *out;

	for (;;) {
		while (*line == ' ' || *line == '\t')
			line++;
		if (!*line || *line == '#')
			return argc;
		if (argc == MAX_ARGS)
			bad("too many words");
		argv[argc++] = out = line;
		while (*line && *line != ' ' && *line != '\t') {
			if (*line == '"') {
				line++;
				while (*line && *line != '"')
					*out++ = *line++;
				if (!*line++)
					bad("quote is not closed");
			} else {
				*out++ = *line++;
			}
		}
		if (*line)
			line++;
		*out = 0;
	}
}

static void dispatch(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, argv[0]))
			continue;
		depth++;
		commands[i].run(argc - 1, argv + 1);
		depth--;
		return;
	}
	bad("unknown command '%s'", argv[0]);
}

void run_line(const char *line)
{
	char text[MAX_LINE], *argv[MAX_ARGS];
	int argc;

	while (*line == ' ' || *line == '\t')
		line++;
	if (!*line || *line == '#')
		return;
	snprintf(line_text, sizeof(line_text), "%s", line);
	expand(line, text, sizeof(text));
	stamp();
	printf("%s\n", text);
	fflush(stdout);
	argc = split(text, argv);
	if (argc)
		dispatch(argc, argv);
}

bool try_line(const char *line, u64 until)
{
	volatile int was = depth;
	volatile bool ok = false;

	try_until = until;
	trying = true;
	if (!setjmp(try_env)) {
		run_line(line);
		ok = true;
	}
	trying = false;
	try_until = 0;
	depth = was;
	return ok;
}

static void run_file(FILE *f, const char *name)
{
	char line[MAX_LINE];

	script_name = name;
	line_no = 0;
	while (fgets(line, sizeof(line), f)) {
		line_no++;
		line[strcspn(line, "\r\n")] = 0;
		run_line(line);
	}
}

static void on_alarm(int sig)
{
	static const char msg[] = "FAIL puppet: the script took too long\n";

	(void)sig;
	if (write(1, msg, sizeof(msg) - 1))
		_exit(1);
	_exit(1);
}

int main(int argc, char **argv)
{
	const char *dev = getenv("RNIC"), *env = getenv("SLOW");
	int gid_index = -1, limit = 100, opt;
	struct timespec ts;

	while ((opt = getopt(argc, argv, "d:g:t:")) >= 0) {
		switch (opt) {
		case 'd':
			dev = optarg;
			break;
		case 'g':
			gid_index = atoi(optarg);
			break;
		case 't':
			limit = atoi(optarg);
			break;
		default:
			fprintf(stderr, "usage: puppet [-d DEV] [-g GID_INDEX] [-t SECONDS] [SCRIPT...]\n");
			return 2;
		}
	}
	if (!dev)
		dev = "rxe0";
	if (env && atoi(env) > 0)
		slow = atoi(env);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, on_alarm);
	alarm((unsigned int)(limit * slow));
	setvbuf(stdout, NULL, _IOLBF, 0);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	srand((unsigned int)(ts.tv_nsec ^ getpid()));
	t_begin = t_watch = now_ms();

	nic = ib_open(dev, gid_index);
	run_line("link 1");
	run_line("conn 1");
	if (optind == argc)
		run_file(stdin, "stdin");
	for (; optind < argc; optind++) {
		FILE *f = fopen(argv[optind], "r");

		if (!f)
			bad("%s: %s", argv[optind], strerror(errno));
		run_file(f, argv[optind]);
		fclose(f);
	}
	pump(now_ms() + 1, -1, NULL, NULL);	/* check what came last, too */
	ib_close();
	if (offences)
		printf("FAIL the peer broke the protocol %d times\n", offences);
	else
		printf("%s\n", "puppet: all expectations held");
	return offences != 0;
}
