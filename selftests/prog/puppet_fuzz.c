// SPDX-License-Identifier: GPL-2.0-only
/*
 * The puppet peer: attacks with random damage. Attack N of seed S is the same
 * every time, as far as the peer lets it: it depends on S + N only, and is made
 * of script lines, which the log shows. A client of %addr %port, or a server if
 * there is a listener.
 *
 *	fuzz SEED SECONDS [COUNT]	seconds are not stretched by $SLOW
 *
 * A line that fails ends its attack: the module may end connection, link and
 * handshake as it likes. %attacks is the number of attacks, %deep that of those
 * with a complete first contact.
 */
#include <stdarg.h>
#include <unistd.h>
#include "puppet.h"

enum {
	T_ATTACK	= 1500,		/* ms, stretched by $SLOW */
	LEN_PROPOSAL	= 52,
	LEN_ACCEPT	= 68,
	LEN_DECLINE	= 28,
};

static u64 rng, attack_end;
static bool server;
static unsigned int n_conns;

/* splitmix64 */
static u64 rnd64(void)
{
	u64 z = rng += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static u32 rnd(u32 n)
{
	return (u32)(rnd64() % n);
}

/* A line of the attack; false if it failed */
__attribute__((format(printf, 1, 2)))
static bool do_line(const char *fmt, ...)
{
	char line[MAX_LINE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return try_line(line, attack_end);
}

static const char *rnd_hex(u32 len)
{
	static char out[600];
	u32 i;

	for (i = 0; i < len; i++)
		sprintf(out + 2 * i, "%02x", rnd(256));
	out[2 * len] = 0;
	return out;
}

/* One to three changed bytes in a message of @len, perhaps a cut or a tail */
static const char *damage(u32 len)
{
	static char out[256];
	u32 i, n = 1 + rnd(3);
	char *p = out;

	*p = 0;
	for (i = 0; i < n; i++)
		p += sprintf(p, " xor@%u=%02x", rnd(len), 1 + rnd(255));
	switch (rnd(12)) {
	case 0:
		sprintf(p, " cut=%u", rnd(len));
		break;
	case 1:
		sprintf(p, " add=%s", rnd_hex(1 + rnd(60)));
		break;
	}
	return out;
}

static bool begin(void)
{
	char name[16];

	snprintf(name, sizeof(name), "f%u", ++n_conns);
	return do_line("conn %s", name) &&
	       (server ? do_line("accept") : do_line("connect %%addr %%port"));
}

static bool first_contact(const char *until)
{
	if (!lnk->qp)
		lnk->num = 0;
	return do_line("first_contact%s%s", until ? " until=" : "",
		       until ? until : "");
}

/* --- attacks ------------------------------------------------------------- */

/* Random bytes, with the head of a CLC message or without */
static void on_tcp(void)
{
	static const char eye[] = "e2d4c3d9";
	u32 len = rnd(120);

	if (rnd(2))
		do_line("tx raw %s%02x%04x%02x%s expect=any", eye, rnd(6),
			rnd(4) ? len + 8 : rnd(65536), rnd(256), rnd_hex(len));
	else
		do_line("tx raw %s expect=any", rnd_hex(len + 1));
	if (rnd(2))
		do_line("tx fin");
}

static void on_clc(void)
{
	u32 which = rnd(3);

	if (which == 2 && first_contact("confirm")) {
		do_line("tx decline%s expect=any", damage(LEN_DECLINE));
	} else if (server) {
		if (do_line("rx proposal") && do_line("qp create"))
			do_line("tx accept first=%u%s expect=any", rnd(2),
				damage(LEN_ACCEPT));
	} else if (which == 0) {
		do_line("tx proposal%s expect=any", damage(LEN_PROPOSAL));
	} else if (first_contact("confirm")) {
		do_line("tx confirm%s expect=any", damage(LEN_ACCEPT));
	}
}

static const char * const llc_names[] = {
	"confirm_link", "add_link", "add_link_cont", "delete_link",
	"confirm_rkey", "confirm_rkey_cont", "delete_rkey", "test_link",
};

static bool any_llc(const char *how)
{
	const char *type = llc_names[rnd(ARRAY_SIZE(llc_names))];

	switch (rnd(6)) {
	case 0:		/* well-formed, at the wrong time */
		return do_line("tx llc %s reply=%u %s", type, rnd(2), how);
	case 1:		/* a well-formed head, anything behind it */
		return do_line("tx send %02x2c%s %s", rnd(11), rnd_hex(42),
			       how);
	default:
		return do_line("tx llc %s reply=%u%s %s", type, rnd(2),
			       damage(SMCR_WR_LEN), how);
	}
}

/* In place of, or inside of, the LLC part of first contact */
static void on_first_llc(void)
{
	const char *step = rnd(2) ? "confirm_link_reply" : "add_link_reply";
	u32 i, n = 1 + rnd(4);

	if (server)
		step = rnd(2) ? "confirm_link" : "add_link";
	if (!first_contact(step))
		return;
	for (i = 0; i < n; i++)
		if (!any_llc("expect=any"))
			return;
	do_line("tx llc %s reply=%u%s expect=any",
		step[0] == 'c' ? "confirm_link" : "add_link", !server,
		rnd(2) ? damage(SMCR_WR_LEN) : "");
}

static bool one_write(void)
{
	u32 size = smcr_bsize_bytes(conn->peer.bsize & 7);

	switch (rnd(8)) {
	case 0:		/* beyond the element, the RMB, or anywhere */
		return do_line("write off=%u len=%u expect=any",
			       size - rnd(64), 1 + rnd(4096));
	case 1:
		return do_line("write off=0 len=8 rkey=0x%x expect=any",
			       (u32)rnd64());
	case 2:
		return do_line("read off=%u len=%u expect=any", rnd(size),
			       1 + rnd(64));
	default:
		return do_line("write off=%u len=%u byte=%02x expect=any",
			       rnd(size - 4096), 1 + rnd(4096), rnd(256));
	}
}

/* A message about the connection that is not quite right */
static bool one_cdc(void)
{
	static const char * const flags[] = {
		"0", "B", "R", "D", "C", "A", "F", "P", "U", "D,C", "B,R",
		"P,U", "D,A",
	};
	const char *f = flags[rnd(ARRAY_SIZE(flags))];

	switch (rnd(4)) {
	case 0:
		return do_line("tx cdc flags=%s expect=any", f);
	case 1:
		return do_line("tx cdc seq=+%u prod=%u prod_wrap=%u cons=%u cons_wrap=%u expect=any",
			       rnd(3), rnd(4) ? rnd(140000) : (u32)rnd64(),
			       rnd(3), rnd(4) ? rnd(140000) : (u32)rnd64(),
			       rnd(3));
	case 2:
		return do_line("tx cdc token=0x%x flags=%s expect=any skip",
			       (u32)rnd64(), f);
	default:
		return do_line("tx cdc flags=%s%s expect=any", f,
			       damage(SMCR_WR_LEN));
	}
}

static bool one_flood(void)
{
	u32 i, n = 10 + rnd(50);

	for (i = 0; i < n; i++)
		if (!any_llc("nowait"))
			return false;
	return true;
}

/* Random operations after a complete first contact */
static void on_connection(void)
{
	u32 i, n = 1 + rnd(10);

	if (!first_contact(NULL))
		return;
	for (i = 0; i < n; i++) {
		bool ok = true;

		switch (rnd(12)) {
		case 0:
			ok = do_line("tx data len=%u", 1 + rnd(20000));
			break;
		case 1:
			ok = do_line("tx send len=%u expect=any", rnd(200));
			break;
		case 2:
			ok = one_flood();
			break;
		case 3:		/* another connection on the same link */
			if (!rnd(2))
				ok = begin() && do_line("reuse") &&
				     do_line("tx data len=100");
			break;
		case 4:
			if (!rnd(4))
				ok = do_line("tx app %s", rnd_hex(4));
			break;
		case 5:
			ok = do_line("consume %u quiet", rnd(2000));
			break;
		case 6:
		case 7:
			ok = one_write();
			break;
		case 8:
			ok = any_llc("expect=any");
			break;
		default:
			ok = one_cdc();
		}
		if (!ok)
			return;
	}
}

/* The end of an attack, with messages of the peer still to come */
static void leave(void)
{
	if (rnd(2))
		do_line("sleep %ums", rnd(20));
	switch (rnd(5)) {
	case 0:
		do_line("tx rst");
		break;
	case 1:
		do_line("tx fin");
		break;
	case 2:
		do_line("qp err");
		break;
	case 3:
		if (conn->ringed && lnk->qp)
			do_line("tx cdc flags=%c expect=any", "CAD"[rnd(3)]);
		break;
	}
}

static bool attack(u64 seed)
{
	bool deep;

	rng = seed;
	srand((unsigned int)seed);
	attack_end = now_ms() + (u64)T_ATTACK * (u64)slow;
	printf("--- attack of seed %llu\n", (unsigned long long)seed);
	/* a new peer, or one that may have a link group */
	do_line("set peer_id=%04x525400000002 bsize=%u",
		1 + rnd(rnd(4) ? 0xfff0 : 2), me.rmb ? knobs.bsize : rnd(4));
	if (begin()) {
		switch (rnd(8)) {
		case 0:
			on_tcp();
			break;
		case 1:
			on_clc();
			break;
		case 2:
			on_first_llc();
			break;
		default:
			on_connection();
		}
		leave();
	}
	deep = conn->ringed;
	while (conns[1])
		conn_forget(conns[1]);
	conn = conns[0];
	attack_end = 0;
	do_line("qp destroy");
	return deep;
}

void cmd_fuzz(int argc, char **argv)
{
	u64 seed, end, count;
	unsigned long n = 0, deep = 0;
	char text[32];

	if (argc < 2)
		bad("fuzz SEED SECONDS [COUNT]");
	seed = parse_num(argv[0]);
	end = now_ms() + parse_num(argv[1]) * 1000;
	count = argc > 2 ? parse_num(argv[2]) : ~0ULL;
	server = conn->lfd >= 0;
	knobs.strict = 0;
	/* a queue pair that the peer has destroyed is given up soon */
	knobs.retry = 2;
	knobs.qp_timeout = 12;
	for (; n < count && now_ms() < end; n++)
		deep += attack(seed + n);
	snprintf(text, sizeof(text), "%lu", n);
	var_set("attacks", text);
	snprintf(text, sizeof(text), "%lu", deep);
	var_set("deep", text);
	say("%lu attacks, %lu of them on a connection", n, deep);
}
