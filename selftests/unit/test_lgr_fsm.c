// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of net/core/lgr_fsm.c: a message that arrives during an exchange, RFC
 * 7609 3.5.5.3 (conformance catalogue, E.1). TEST LINK (LLC-73, LLC-78, LLC-83)
 * is not part of the machine, see test_link_test.c.
 */
#include "lgr_rows.h"

/* Every step of each exchange */
static const char *const s_add[] = { S_REPLY, S_CONT, S_UP, S_CONF };
static const char *const s_del[] = { S_DEL };
/* Steps of an exchange before its first message is sent */
static const char *const s_make[] = { S_MAKE };
static const char *const s_move[] = { S_MOVE };
static const char *const c_add[] = { C_MAKE, C_CONT, C_CONF, C_UP };
static const char *const c_del[] = { C_MOVE };
static const char *const s_rkey[] = { S_RKEY, S_TWO "want-rkey del; ready; " };
static const char *const c_rkey[] = { C_RKEY, C_TWO "want-rkey del; ready; " };

#define REFUSED	"0>confirm-rkey! n=1 links=2 negative retry"
#define LEARNT	"learn-rmb 0 last; 0>confirm-rkey! n=1 links=2"
#define GONE	"forget-rmb 0; 0>delete-rkey!"
#define END	"dead lgr-deleted; lose; 0>delete-link all orderly 0x20000 #end; +end/llc"
#define LOST	"dead lgr-deleted; lose; release"

/* The matrix: what follows in any step of an exchange of this kind */
static const struct {
	const char *ids, *event;
	const char *add, *del, *rkey;	/* NULL: cannot happen, see below */
	const char *unsent;		/* nothing sent yet; NULL: the same */
} at_server[] = {
	{ "LLC-74 LLC-79 LLC-84", "0<add-link 0", "", "", "", NULL },
	{ "LLC-75 LLC-80 LLC-86", "0<delete-link 2 orderly", "", "", "", NULL },
	{ "LLC-76 LLC-81 LLC-88", "0<delete-link 0 all orderly reason=0x20000",
	  END, END, END, NULL },
	{ "LLC-77 LLC-82 LLC-89", "0<confirm-rkey n=1 links=2",
	  REFUSED, REFUSED, LEARNT, LEARNT },
	{ "LLC-77 LLC-82", "0<confirm-rkey-cont n=1 links=2",
	  "0>confirm-rkey-cont! n=1 links=2 negative",
	  "0>confirm-rkey-cont! n=1 links=2 negative", NULL, NULL },
	{ "LLC-90 LLC-17", "0<delete-rkey", "", "", GONE, GONE },
	/* its own requests wait, too */
	{ "LLC-15", "want-link", "", "", "", NULL },
	{ "LLC-15", "want-del 0 orderly", "", "", "", NULL },
	{ "LLC-15", "timer retry", "", "", "", NULL },
	{ "LLC-15", "want-rkey", "", "", "", NULL },
}, at_client[] = {
	{ "LLC-87 LLC-24 LLC-25", "0<delete-link 2 orderly",
	  "stop 2; move 1 orderly", NULL, "move 1 orderly", NULL },
	{ "LLC-87 LLC-24 LLC-25", "1<delete-link 1",
	  "stop 2; move 0", NULL, "move 0", NULL },
	{ "LLC-76 LLC-81 LLC-88", "0<delete-link 0 all orderly reason=0x20000",
	  LOST, LOST, LOST, NULL },
	/* the server has given up what the step waits for: Linux waits 2 s */
	{ "LLC-89 LLC-15", "0<confirm-rkey n=1 links=2",
	  "stop 2; " LEARNT, "stop 2; " LEARNT, LEARNT, NULL },
	{ "LLC-15 LLC-33", "0<add-link 4 nic=3",
	  "stop 2; make 3", "stop 2; make 3", NULL, NULL },
	{ "LLC-15 LLC-33", "1<add-link 4 nic=3",
	  "stop 2; make 3", "stop 2; make 3", NULL, NULL },
	{ "LLC-90 LLC-17", "0<delete-rkey", "", "", GONE, NULL },
	/* a notice is not serialised (LLC-16), but useless during an ADD LINK */
	{ "LLC-16 LG-31", "want-link", "", "", "0>add-link", NULL },
	{ "LLC-16", "want-del 0 orderly",
	  "1>delete-link 1 orderly 0x20000",
	  "1>delete-link 1 orderly 0x20000",
	  "1>delete-link 1 orderly 0x20000", NULL },
	{ "LLC-15", "want-rkey", "", "", "", NULL },
};

static void cell(const char *ids, const char *const *before, u32 n,
		 const char *event, const char *want)
{
	u32 i;

	for (i = 0; want && i < n; i++) {
		struct lgr_row row = { ids, before[i], event, want };

		lgr_rows(&row, 1);
	}
}

#define CELL(ids, column, event, want) \
	cell(ids, column, ARRAY_SIZE(column), event, want)

TEST(smcr_lgr_fsm__collisions)
{
	u32 i;

	covers("LG-31 LLC-15 LLC-16 LLC-17 LLC-24 LLC-25 LLC-33 LLC-74");
	covers("LLC-75 LLC-76 LLC-77 LLC-79 LLC-80 LLC-81 LLC-82 LLC-84");
	covers("LLC-86 LLC-87 LLC-88 LLC-89 LLC-90");
	for (i = 0; i < ARRAY_SIZE(at_server); i++) {
		CELL(at_server[i].ids, s_add, at_server[i].event,
		     at_server[i].add);
		CELL(at_server[i].ids, s_del, at_server[i].event,
		     at_server[i].del);
		CELL(at_server[i].ids, s_make, at_server[i].event,
		     at_server[i].unsent ?: at_server[i].add);
		CELL(at_server[i].ids, s_move, at_server[i].event,
		     at_server[i].unsent ?: at_server[i].del);
		CELL(at_server[i].ids, s_rkey, at_server[i].event,
		     at_server[i].rkey);
	}
	for (i = 0; i < ARRAY_SIZE(at_client); i++) {
		CELL(at_client[i].ids, c_add, at_client[i].event,
		     at_client[i].add);
		CELL(at_client[i].ids, c_del, at_client[i].event,
		     at_client[i].del);
		CELL(at_client[i].ids, c_rkey, at_client[i].event,
		     at_client[i].rkey);
	}
}

static void ended(const char *const *before, u32 n)
{
	static const char *const ends[] = {
		"0<delete-link 0 all orderly reason=0x20000",
		"want-end orderly reason=0x20000",
	};
	char at[1024];
	u32 i, k;

	for (i = 0; i < n * ARRAY_SIZE(ends); i++) {
		struct lgr_row row = { "LLC-76 LLC-81 LLC-88", at, "end-sent 0", "release" };

		k = (u32)snprintf(at, sizeof(at), "%s%s;", before[i / ARRAY_SIZE(ends)],
				  ends[i % ARRAY_SIZE(ends)]);
		EXPECT_TRUE(k < sizeof(at));
		lgr_rows(&row, 1);
	}
}

/*
 * The server's DELETE LINK of all has no answer, whatever was under way: when it is
 * delivered the group is released.
 */
TEST(smcr_lgr_fsm__end_is_not_answered)
{
	covers("LLC-76 LLC-81 LLC-88");
	ended(s_add, ARRAY_SIZE(s_add));
	ended(s_del, ARRAY_SIZE(s_del));
	ended(s_make, ARRAY_SIZE(s_make));
	ended(s_move, ARRAY_SIZE(s_move));
	ended(s_rkey, ARRAY_SIZE(s_rkey));
}

/* With nothing under way the same is done at once */
static const struct lgr_row quiet[] = {
	{ "LG-27 LG-32", S_TWO, "0<add-link 0",
	  "make 2" },
	{ "LLC-47", S_TWO, "0<delete-link 2 orderly",
	  "move 1 orderly" },
	{ "LLC-47 LG-38", S_TWO, "0<delete-link 2",
	  "fail 1 link-deleted; move 1; 0>delete-link 2 0x10000; "
	  "+step/llc" },
	{ "LG-41 CONN-32", S_TWO, "0<delete-link 0 all orderly reason=0x20000",
	  "dead lgr-deleted; lose; "
	  "0>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LLC-59", S_TWO, "0<confirm-rkey n=1 links=2",
	  "learn-rmb 0 last; 0>confirm-rkey! n=1 links=2" },
	{ "LLC-67", S_TWO, "0<delete-rkey",
	  "forget-rmb 0; 0>delete-rkey!" },
	{ "LG-27", S_TWO, "want-link",
	  "make 2" },
	{ "LG-34", S_TWO, "want-del 0 orderly",
	  "move 0 orderly" },
	{ "LLC-55", S_TWO, "want-rkey",
	  "prepare" },
	{ "LG-28", C_TWO, "0<add-link 3 nic=2",
	  "make 2" },
	{ "LLC-46", C_TWO, "1<delete-link 1 orderly",
	  "move 0 orderly" },
	{ "LG-40 CONN-32", C_TWO, "0<delete-link 0 all orderly reason=0x20000",
	  "dead lgr-deleted; lose; release" },
	{ "LLC-59", C_TWO, "0<confirm-rkey n=1 links=2",
	  "learn-rmb 0 last; 0>confirm-rkey! n=1 links=2" },
	{ "LLC-67", C_TWO, "0<delete-rkey",
	  "forget-rmb 0; 0>delete-rkey!" },
	{ "LG-31 LLC-35", C_TWO, "want-link",
	  "0>add-link" },
	{ "LG-42 LLC-47", C_TWO, "want-del 0 orderly",
	  "1>delete-link 1 orderly 0x20000" },
	{ "LLC-55", C_TWO, "want-rkey",
	  "prepare" },
};

TEST(smcr_lgr_fsm__nothing_under_way)
{
	covers("LG-27 LG-28 LG-31 LG-32 LG-34 LG-38 LG-40 LG-41 LG-42");
	covers("LLC-35 LLC-46 LLC-47 LLC-55 LLC-59 LLC-67 CONN-32");
	lgr_rows(quiet, ARRAY_SIZE(quiet));
}

/*
 * Queued requests are carried out when the exchange is over, whether it has
 * succeeded or failed (LLC-91). Ignored requests are not.
 */
static const struct lgr_row afterwards[] = {
	/* server: ADD LINK succeeds, or is given up */
	{ "LLC-74", S_CONF "0<add-link 0; timer step", "0<delete-link! 3",
	  "stop 2" },
	{ "LLC-75 LLC-91", S_CONF "0<delete-link 2 orderly",
	  "2<confirm-link! 3",
	  "agreed 2; live 2; -retry; move 1 orderly" },
	{ "LLC-75 LLC-91", S_CONF "0<delete-link 2 orderly; timer step",
	  "0<delete-link! 3",
	  "stop 2; move 1 orderly" },
	{ "LLC-75 LLC-91", S_REPLY "0<delete-link 2 orderly",
	  "0<add-link! 3 rejected",
	  "stop 2; move 1 orderly" },
	{ "LLC-75 LLC-91", S_MAKE "0<delete-link 2 orderly", "made 2 no",
	  "move 1 orderly" },
	{ "LLC-90 LLC-91", S_CONF "0<delete-rkey", "2<confirm-link! 3",
	  "agreed 2; live 2; -retry; forget-rmb 0; 0>delete-rkey!; make 3" },
	{ "LLC-90 LLC-91", S_CONF "0<delete-rkey; timer step",
	  "0<delete-link! 3",
	  "stop 2; forget-rmb 0; 0>delete-rkey!" },
	{ "LLC-90 LLC-91", S_CONF "0<delete-rkey unknown=0x80; timer step",
	  "0<delete-link! 3",
	  "stop 2; forget-rmb 0; 0>delete-rkey! negative mask=0x80" },
	{ "LLC-91", S_REPLY "0<delete-rkey; 0<delete-link 2 orderly",
	  "0<add-link! 3 rejected",
	  "stop 2; forget-rmb 0; 0>delete-rkey!; move 1 orderly" },
	{ "LLC-15", S_REPLY "want-rkey", "0<add-link! 3 rejected",
	  "stop 2; prepare" },
	{ "LLC-15", S_REPLY "want-link", "0<add-link! 3 rejected",
	  "stop 2; make 3" },
	{ "LLC-15", S_REPLY "want-del 1 orderly; want-rkey",
	  "0<add-link! 3 rejected",
	  "stop 2; move 1 orderly" },
	/* their link is to be deleted, but works until then */
	{ "LLC-91 LLC-75", S_CONF "1<delete-rkey; 0<delete-link 2 orderly",
	  "2<confirm-link! 3",
	  "agreed 2; live 2; -retry; forget-rmb 1; 1>delete-rkey!; "
	  "move 1 orderly" },
	{ "LLC-91 LLC-75", S_CONF "1<delete-rkey; 0<delete-link 2 orderly; "
	  "timer step", "0<delete-link! 3",
	  "stop 2; forget-rmb 1; 1>delete-rkey!; move 1 orderly" },
	{ "LLC-91 LLC-80", S_DEL "1<delete-rkey; 0<delete-link 2 orderly",
	  "0<delete-link! 3",
	  "stop 2; forget-rmb 1; 1>delete-rkey!; move 1 orderly" },
	/* of the carrier: the exchange ends without its reply */
	{ "LLC-91 LLC-75", S_REPLY "0<delete-rkey", "1<delete-link 1 orderly",
	  "fail 2 link-deleted; forget-rmb 0; 0>delete-rkey!; move 0 orderly" },
	{ "LLC-91 LLC-80", S_DEL "0<delete-rkey", "1<delete-link 1 orderly",
	  "forget-rmb 0; 0>delete-rkey!; 1>delete-link 3 orderly 0x20000; "
	  "+step/llc" },
	/* dropped with their link */
	{ "LLC-91 LG-38", S_DEL "1<delete-rkey; 0<delete-link 2",
	  "0<delete-link! 3",
	  "stop 2; +retry/retry; 0>delete-link 2 0x10000; +step/llc" },
	{ "LLC-91", S_REPLY "0<delete-rkey", "down 0",
	  "move 0; fail 2 link-error; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-91", S_REPLY "0<delete-rkey; down 0; 1<delete-link! 1",
	  "1<delete-link! 3",
	  "stop 2; +retry/retry*2; make 3" },
	{ "LLC-91", S_REPLY "1<delete-rkey", "down 0",
	  "move 0; fail 2 link-error; forget-rmb 1; 1>delete-rkey!; "
	  "1>delete-link 1 0x10000; +step/llc" },
	/* server: DELETE LINK */
	{ "LLC-79", S_DEL "0<add-link 0", "0<delete-link! 3",
	  "stop 2; make 3" },
	{ "LLC-79", S_MOVE "0<add-link 0; moved 2", "0<delete-link! 3",
	  "stop 2; make 3" },
	{ "LLC-80", S_DEL "0<delete-link 2 orderly", "0<delete-link! 3",
	  "stop 2; move 1 orderly" },
	{ "LLC-80", S_DEL "0<delete-link 3 orderly", "0<delete-link! 3",
	  "stop 2" },
	{ "LLC-90", S_DEL "0<delete-rkey unknown=0x80", "0<delete-link! 3",
	  "stop 2; forget-rmb 0; 0>delete-rkey! negative mask=0x80" },
	/* server: RKEY exchange, with any result */
	{ "LLC-84", S_RKEY "0<add-link 0", "0<confirm-rkey! n=1",
	  "rkey-done ok; -rkey; make 2" },
	{ "LLC-84", S_RKEY "0<add-link 0", "0<confirm-rkey! n=1 negative",
	  "rkey-done refused rkey-refused; -rkey; make 2" },
	{ "LLC-86", S_RKEY "0<delete-link 2 orderly", "0<confirm-rkey! n=1",
	  "rkey-done ok; -rkey; move 1 orderly" },
	{ "LLC-86 LG-38", S_RKEY, "0<delete-link 2",
	  "fail 1 link-deleted; move 1" },
	{ "LLC-86", S_RKEY "0<delete-link 2", "0<confirm-rkey! n=1",
	  "rkey-done ok; -rkey; 0>delete-link 2 0x10000; +step/llc" },
	/* client */
	{ "LLC-90 LLC-03", C_UP "0<delete-rkey", "up 2",
	  "live 2; -retry; 2>confirm-link! 3; forget-rmb 0; "
	  "0>delete-rkey!" },
	{ "LLC-90 LLC-03", C_CONF "0<delete-rkey", "timer step",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +notice2/notice; "
	  "forget-rmb 0; 0>delete-rkey!" },
	{ "LLC-90 LLC-91", C_CONF "0<delete-rkey; down 0", "1<delete-link 3",
	  "1>delete-link! 3 0x10000 #answer 2; -notice2; +retry/retry; "
	  "+notice0/notice" },
	{ "LLC-90 LLC-03", C_MOVE "0<delete-rkey", "moved 2",
	  "0>delete-link! 3 0x20000 #answer 2; forget-rmb 0; "
	  "0>delete-rkey!" },
	{ "LLC-15", C_UP "want-rkey", "up 2",
	  "live 2; -retry; 2>confirm-link! 3; prepare" },
	{ "LLC-15", C_MOVE "want-rkey", "moved 2",
	  "0>delete-link! 3 0x20000 #answer 2; prepare" },
	/* the server refuses what crosses its own, and it is begun again */
	{ "LLC-85 LLC-60", C_RKEY "0<add-link 3 nic=2",
	  "0<confirm-rkey! n=1 negative retry",
	  "rkey-done again rkey-refused; -rkey" },
	{ "LLC-87 LLC-60", C_RKEY "0<delete-link 2",
	  "0<confirm-rkey! n=1 negative retry",
	  "rkey-done again rkey-refused; -rkey" },
	{ "LLC-85 LLC-60", C_RKEY
	  "0<add-link 3 nic=2; 0<confirm-rkey! n=1 negative retry; "
	  "want-rkey",
	  "made 2 no",
	  "0>add-link! 3 rejected=1; prepare" },
	/* a DO_PREPARE that the exchange has overtaken is repeated */
	{ "LLC-85 LLC-15", C_TWO "want-rkey; 0<add-link 3 nic=2", "ready",
	  "" },
	{ "LLC-85 LLC-15", C_TWO "want-rkey; 0<add-link 3 nic=2; ready",
	  "made 2 no",
	  "0>add-link! 3 rejected=1; prepare" },
	{ "LLC-85 LLC-15", C_TWO "want-rkey; 0<add-link 3 nic=2; made 2 no",
	  "ready",
	  "prepare" },
	{ "LLC-87 LLC-15", C_TWO "want-rkey; "
	  "0<delete-link 2 orderly reason=0x20000",
	  "ready",
	  "" },
	{ "LLC-87 LLC-15", C_TWO "want-rkey; "
	  "0<delete-link 2 orderly reason=0x20000; ready",
	  "moved 1",
	  "0>delete-link! 2 0x20000 #answer 1; +retry/retry; prepare" },
};

TEST(smcr_lgr_fsm__afterwards)
{
	covers("LG-38 LLC-03 LLC-15 LLC-60 LLC-74 LLC-75 LLC-79 LLC-80");
	covers("LLC-84 LLC-85 LLC-86 LLC-87 LLC-90 LLC-91");
	lgr_rows(afterwards, ARRAY_SIZE(afterwards));
}

/* At most one is kept: the peer has no second one under way */
static const struct lgr_row twice[] = {
	{ "LLC-15 LLC-08", S_CONF "0<delete-rkey", "0<delete-rkey",
	  "fail 0 llc-unexpected; move 0; fail 2 llc-unexpected; "
	  "1>delete-link 1 0x40000; +step/llc" },
	{ "LLC-15 LLC-08", C_CONF "0<delete-rkey", "0<delete-rkey",
	  "fail 0 llc-unexpected; move 0; fail 2 llc-unexpected; "
	  "1>delete-link 3 0x10000; +notice2/notice; "
	  "1>delete-link 1 0x40000; +notice0/notice" },
	{ "LLC-80", S_TWO "0<delete-link 2 orderly", "0<delete-link 2 orderly",
	  "" },
	/* one late reply to an abandoned request is allowed, no second one */
	{ "LLC-08", S_REPLY "down 2 link-device", "0<add-link! 3 nic=2",
	  "" },
	{ "LLC-08", S_REPLY "down 2 link-device; 0<add-link! 3 nic=2",
	  "0<add-link! 3 nic=2",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 3 0x10000; "
	  "+step/llc" },
	/* on the link itself it may be older than DELETE LINK, which holds */
	{ "LLC-08", C_MOVE, "2<confirm-rkey n=1 links=2",
	  "fail 2 llc-unexpected; 0>delete-link 3 0x40000; +notice2/notice" },
	/* what has been given up is not answered any more */
	{ "LLC-15", C_MOVE "0<confirm-rkey n=1 links=2", "moved 2", "" },
	{ "LLC-15", C_MAKE "0<confirm-rkey n=1 links=2",
	  "made 2 nic=2 n=1", "" },
	{ "LLC-15", C_CONF "0<confirm-rkey n=1 links=2; stopped 2",
	  "0<add-link 3 nic=2", "make 2" },
	/* a CONTINUATION without CONFIRM RKEY is always unexpected */
	{ "LLC-08", C_MAKE, "0<confirm-rkey-cont n=1 links=2",
	  "fail 0 llc-unexpected; move 0; stop 2; 1>delete-link 1 0x40000; "
	  "+notice0/notice" },
};

TEST(smcr_lgr_fsm__twice)
{
	covers("LLC-08 LLC-15 LLC-80");
	lgr_rows(twice, ARRAY_SIZE(twice));
}

/*
 * A client's disorderly DELETE LINK of the link that carries the exchange: the
 * client ignores what arrives there (LLC-54), so the exchange ends at once, and
 * the new link is deleted as well if it may have been offered to the client.
 */
static const struct lgr_row carrier[] = {
	{ "LLC-75 LG-38", S_MAKE, "1<delete-link 1",
	  "fail 0 link-deleted; stop 2; move 0; 1>delete-link 1 0x10000; "
	  "+step/llc" },
	{ "LLC-75 LG-38", S_REPLY, "1<delete-link 1",
	  "fail 0 link-deleted; fail 2 link-deleted; move 0; "
	  "1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-75 LG-38", S_CONT, "1<delete-link 1",
	  "fail 0 link-deleted; fail 2 link-deleted; move 0; "
	  "1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-75 LG-38", S_UP, "1<delete-link 1",
	  "fail 0 link-deleted; fail 2 link-deleted; move 0; "
	  "1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-75 LG-38", S_CONF, "1<delete-link 1",
	  "fail 0 link-deleted; fail 2 link-deleted; move 0; "
	  "1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-80 LG-38", S_MOVE, "1<delete-link 1",
	  "fail 0 link-deleted; move 0" },
	{ "LLC-80 LG-38", S_DEL, "1<delete-link 1",
	  "fail 0 link-deleted; move 0; 1>delete-link 3 orderly 0x20000; "
	  "+step/llc" },
	{ "LLC-86 LG-38", S_RKEY, "1<delete-link 1",
	  "rkey-done again link-error; -rkey; fail 0 link-deleted; "
	  "move 0; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-75 LLC-91", S_CONF "1<delete-link 1", "1<delete-link! 1",
	  "stop 0; +retry/retry; 1>delete-link 3 0x10000; +step/llc" },
	/* orderly: the link lives on, but nothing more is begun there */
	{ "LLC-75 LG-38", S_REPLY, "1<delete-link 1 orderly",
	  "fail 2 link-deleted; move 0 orderly" },
	{ "LLC-54", S_REPLY "1<delete-link 1 orderly", "0<add-link! 3 nic=2",
	  "" },
	{ "LLC-80 LLC-54", S_DEL, "1<delete-link 1 orderly",
	  "1>delete-link 3 orderly 0x20000; +step/llc" },
	{ "LLC-86 LLC-54", S_RKEY, "1<delete-link 1 orderly",
	  "rkey-done again link-error; -rkey; move 0 orderly" },
	{ "LLC-86 LLC-54", S_RKEY "1<delete-link 1 orderly",
	  "0<confirm-rkey! n=1",
	  "" },
	{ "LLC-86 LLC-54", S_TWO "want-rkey del; ready; 1<delete-link 1 orderly",
	  "0<delete-rkey!",
	  "" },
	/* of the link that is being added: before it is confirmed */
	{ "LLC-75 LLC-44", S_CONT, "0<delete-link 3",
	  "" },
	{ "LLC-75 LLC-44", S_CONT "0<delete-link 3", "0<add-link-cont! 3",
	  "learn 2; up 2" },
	{ "LLC-75 LLC-44", S_UP "0<delete-link 3", "up 2",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +step/llc" },
	{ "LLC-44", S_CONF, "0<delete-link 3",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +step/llc" },
	{ "LLC-44", S_CONF "0<delete-link 3 orderly", "2<confirm-link! 3",
	  "agreed 2; live 2; -retry; move 2 orderly" },
};

TEST(smcr_lgr_fsm__carrier_deleted)
{
	covers("LG-38 LLC-44 LLC-54 LLC-75 LLC-80 LLC-86 LLC-91");
	lgr_rows(carrier, ARRAY_SIZE(carrier));
}
