// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of net/core/lgr_fsm*.c: messages that are wrong, on every link of a group
 * of three, RFC 7609 C.7.1 (conformance catalogue, E.3). TEST LINK (LLC-71) is in
 * test_link_test.c, what cannot be decoded (LLC-06) in test_llc.c. First contact
 * is in test_lgr_fsm_first.c.
 */
#include "lgr_rows.h"

enum { LINKS = 3 };

/* A formatted text; valid until the fourth call from this one */
static const char *__attribute__((format(printf, 1, 2)))
text(const char *fmt, ...)
{
	static char buf[4][400];
	static u32 next;
	char *s = buf[next++ % 4];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s, sizeof(buf[0]), fmt, ap);
	va_end(ap);
	return s;
}

static void row(const char *ids, const char *before, const char *event,
		const char *want)
{
	struct lgr_row r = { ids, before, event, want };

	lgr_rows(&r, 1);
}

/* The link over which another one is deleted: the oldest */
static u8 over(u8 k)
{
	return k ? 0 : 1;
}

/* What follows when link @k of three fails, and no exchange is under way */
static const char *link_failed(bool server, u8 k, const char *why)
{
	const char *end = server ? "+step/llc" : text("+notice%u/notice", k);

	return text("fail %u %s; move %u; %u>delete-link %u 0x40000; %s", k,
		    why, k, over(k), k + 1, end);
}

/* LLC-08: messages that are not awaited, or that the peer may not send */
static const char *const nobody_waits[] = {
	"confirm-link 1", "confirm-link! 1", "add-link! 4", "add-link-cont 4",
	"add-link-cont! 4", "delete-link! 1", "confirm-rkey!",
	"confirm-rkey-cont", "confirm-rkey-cont!", "delete-rkey!",
	/* from a server: number, queue pair or GID is missing */
	"add-link 0", "add-link 4 qpn=0", "add-link 4 gid=0",
};

TEST(smcr_lgr_fsm_bad__out_of_place)
{
	u8 i, k;

	covers("LLC-07 LLC-08 LLC-18 LLC-36 LLC-48");
	for (k = 0; k < LINKS; k++) {
		for (i = 0; i < ARRAY_SIZE(nobody_waits); i++) {
			const char *m = text("%u<%s", k, nobody_waits[i]);

			row("LLC-08", C_THREE, m,
			    link_failed(false, k, "llc-unexpected"));
			if (strncmp(nobody_waits[i], "add-link ", 9))
				row("LLC-08 LLC-18 LLC-36", S_THREE, m,
				    link_failed(true, k, "llc-unexpected"));
		}
		row("LLC-08", C_THREE, text("%u<add-link 2", k),
		    link_failed(false, k, "llc-link-data"));
		row("LLC-07 LLC-48", S_THREE, text("down %u llc-opcode", k),
		    link_failed(true, k, "") + strlen("fail 0 ; "));
		row("LLC-07 LLC-48", C_THREE, text("down %u llc-opcode", k),
		    link_failed(false, k, "") + strlen("fail 0 ; "));
	}
}

/* No request is dropped without a word: it is answered, or its link fails */
TEST(smcr_lgr_fsm_bad__no_request_is_lost)
{
	static const char *const groups[] = { S_THREE, C_THREE };
	struct lgr_rig r;
	u8 i, type;

	covers("LLC-03");
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (type = 0; type < ARRAY_SIZE(lgr_msg_names); type++) {
			/* TEST LINK does not reach the machine */
			if (!lgr_msg_names[type] || type == SMCR_LLC_TEST_LINK)
				continue;
			lgr_situation(&r, groups[i]);
			lgr_event(&r, text("0<%s 1", lgr_msg_names[type]));
			KTAP_CHECK(r.said[0], 0, "\"%s\" after \"%s\": nothing",
				   lgr_msg_names[type], groups[i]);
		}
}

/*
 * During an exchange, a reply that it does not wait for fails the link on which
 * it arrives, whichever that is.
 */
static const struct {
	const char *before;
	const char *awaits;	/* on slot 0 */
} steps[] = {
	{ S_MAKE, "" }, { S_REPLY, "add-link!" }, { S_CONT, "add-link-cont!" },
	{ S_UP, "" }, { S_CONF, "confirm-link!" }, { S_MOVE, "" },
	{ S_DEL, "delete-link!" }, { S_RKEY, "confirm-rkey!" },
	{ S_TWO "want-rkey del; ready; ", "delete-rkey!" },
	{ C_MAKE, "" }, { C_CONT, "" }, { C_CONF, "" }, { C_UP, "" },
	{ C_MOVE, "" }, { C_RKEY, "confirm-rkey!" },
	{ C_TWO "want-rkey del; ready; ", "delete-rkey!" },
};

static const char *const replies[] = {
	"confirm-link!", "add-link!", "add-link-cont!", "delete-link!",
	"confirm-rkey!", "delete-rkey!",
};

/* The first action for "@k<reply" has to be that link @k fails */
static void spoils(const char *before, u8 k, const char *reply, u8 num)
{
	const char *want = text("fail %u ", k);
	struct lgr_rig r;

	lgr_situation(&r, before);
	if (r.f.slot[k].st == SMCR_SLOT_FREE)
		return;
	lgr_event(&r, text("%u<%s %u", k, reply, num));
	KTAP_CHECK(!strncmp(r.said, want, strlen(want)), 0,
		   "LLC-08: \"%u<%s %u\" after \"%s\": \"%s\"", k, reply, num,
		   before, r.said);
}

TEST(smcr_lgr_fsm_bad__reply_in_step)
{
	u8 i, j, k;

	covers("LLC-04 LLC-08");
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		for (j = 0; j < ARRAY_SIZE(replies); j++)
			for (k = 0; k < LINKS; k++) {
				bool due = !strcmp(steps[i].awaits, replies[j]);

				/* a wrong CONFIRM LINK fails the new link */
				if (due && (!k || j == 0))
					continue;
				spoils(steps[i].before, k, replies[j], 3);
			}
	/* the right one about another link */
	spoils(S_REPLY, 0, "add-link!", 4);
	spoils(S_CONT, 0, "add-link-cont!", 4);
	spoils(S_DEL, 0, "delete-link!", 1);
}

/* LLC-21, LLC-22: CONFIRM LINK with wrong data, LLC-05: over a wrong link */
TEST(smcr_lgr_fsm_bad__confirm_link)
{
	const char *s_want = "fail 2 llc-link-data; 0>delete-link 3 0x40000; "
			     "+step/llc";
	u8 k;

	covers("LLC-05 LLC-21 LLC-22");
	row("LLC-22", S_CONF, "2<confirm-link! 3 wrong-data", s_want);
	row("LLC-22", S_CONF, "2<confirm-link! 4", s_want);
	row("LLC-05", S_CONF, "0<confirm-link! 3", s_want);
	row("LLC-05", S_CONF, "1<confirm-link! 3", s_want);
	/* another message over the new link */
	row("LLC-05", S_CONF, "2<delete-rkey", text("fail 2 llc-unexpected; %s", s_want));
	row("LLC-05", C_CONF, "2<delete-rkey",
	    "fail 2 llc-unexpected; fail 2 llc-link-data; "
	    "0>delete-link 3 0x40000; +notice2/notice");
	for (k = 0; k < LINKS; k++) {
		/* the new link's RTokens have arrived over link k */
		const char *conf = text(C_THREE "%u<add-link 4 nic=3; "
					"made 3 nic=3 n=1; "
					"%u<add-link-cont 4; ", k, k);
		const char *want = "fail 3 llc-link-data; "
				   "0>delete-link 4 0x40000; +notice3/notice";

		row("LLC-21", conf, "3<confirm-link 4 wrong-data", want);
		row("LLC-21", conf, "3<confirm-link 3", want);
		row("LLC-05", conf, text("%u<confirm-link 4", k), want);
	}
}

/* A client's notice has no content that could be wrong */
TEST(smcr_lgr_fsm_bad__notice)
{
	static const char *const notices[] = {
		"add-link 0", "add-link 0 qpn=0 mtu=0", "add-link 77 gid=0",
		"add-link 1 mtu=15", "add-link 0 qpn=0 mtu=0 gid=0",
	};
	u8 i, k;

	covers("LG-32 LLC-35");
	for (k = 0; k < LINKS; k++)
		for (i = 0; i < ARRAY_SIZE(notices); i++)
			row("LLC-35 LG-32", S_THREE,
			    text("%u<%s", k, notices[i]), "make 3");
}

/* LLC-29: reserved MTU; LLC-31: a parallel link */
TEST(smcr_lgr_fsm_bad__add_link)
{
	u8 k;

	covers("LG-08 LLC-29 LLC-31");
	for (k = 0; k < LINKS; k++) {
		row("LLC-29", C_THREE, text("%u<add-link 4 mtu=0", k),
		    text("%u>add-link! 4 rejected=2", k));
		row("LLC-29", C_THREE, text("%u<add-link 4 mtu=6", k),
		    text("%u>add-link! 4 rejected=2", k));
		/* the offer for an RNIC pair that has a link: no alternate path */
		row("LG-08", text(C_THREE "%u<add-link 4 nic=%u;", k, k),
		    text("made 3 nic=%u n=1", k),
		    text("stop 3; %u>add-link! 4 rejected=1", k));
		/* the client's reply makes it parallel to link k */
		row("LLC-31 LG-08",
		    text(S_THREE "want-link; made 3 nic=%u n=1;", k),
		    text("0<add-link! 4 nic=%u", k),
		    "fail 3 llc-link-data; 0>delete-link 4 0x40000; "
		    "+step/llc");
	}
	row("LLC-29", S_REPLY, "0<add-link! 3 mtu=0",
	    "fail 0 llc-link-data; move 0; fail 2 llc-link-data; "
	    "1>delete-link 1 0x40000; +step/llc");
}

/* LLC-40: counts that do not add up */
TEST(smcr_lgr_fsm_bad__rtokens)
{
	static const struct {
		const char *ids, *first, *then, *why;
	} bad[] = {
		{ "LLC-40", "n=3", "4 n=3", "llc-count" },
		{ "LLC-40", "n=3", "4 n=2", "llc-count" },
		{ "LLC-40", "n=3", "4 n=0", "llc-count" },
		{ "LLC-08", "n=3", "3 n=1", "llc-link-data" },
	};
	u8 i, k;

	covers("LLC-08 LLC-40");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		row(bad[i].ids,
		    text(S_THREE "want-link; made 3 nic=3 n=1; "
			 "0<add-link! 4 nic=3; 0<add-link-cont! 4 %s;",
			 bad[i].first),
		    text("0<add-link-cont! %s", bad[i].then),
		    text("fail 0 %s; move 0; fail 3 %s; "
			 "1>delete-link 1 0x40000; +step/llc", bad[i].why,
			 bad[i].why));
		for (k = 0; k < LINKS; k++) {
			const char *cont =
				text(C_THREE "%u<add-link 4 nic=3; "
				     "made 3 nic=3 n=1; "
				     "%u<add-link-cont 4 %s;", k, k,
				     bad[i].first);

			row(bad[i].ids, cont,
			    text("%u<add-link-cont %s", k, bad[i].then),
			    text("fail %u %s; move %u; fail 3 %s; "
				 "%u>delete-link 4 0x10000; +notice3/notice; "
				 "%u>delete-link %u 0x40000; +notice%u/notice",
				 k, bad[i].why, k, bad[i].why, over(k), over(k),
				 k + 1, k));
		}
	}
}

/* LLC-49: DELETE LINK of a link that does not exist */
TEST(smcr_lgr_fsm_bad__delete_link)
{
	u8 k;

	covers("LLC-49");
	for (k = 0; k < LINKS; k++) {
		const char *m = text("%u<delete-link 77", k);
		const char *want = text("%u>delete-link! 77 0x100000", k);

		row("LLC-49", S_THREE, m, want);
		row("LLC-49", C_THREE, m, want);
	}
}

/* LLC-54: the client has asked to delete the link: stale, but not the end */
TEST(smcr_lgr_fsm_bad__stale)
{
	static const char *const stale[] = {
		"add-link 4 nic=3", "confirm-link 1", "add-link-cont 4",
		"delete-link 1 orderly", "delete-link 77", "confirm-rkey n=2 links=1,2",
		"confirm-rkey-cont n=1", "delete-rkey",
	};
	u8 i, k;

	covers("LLC-54 LLC-88");
	for (k = 0; k < LINKS; k++) {
		for (i = 0; i < ARRAY_SIZE(stale); i++) {
			const char *m = text("%u<%s", k, stale[i]);

			row("LLC-54", text(C_THREE "want-del %u orderly;", k),
			    m, "");
			row("LLC-54", text(C_THREE "down %u link-error;", k),
			    m, "");
		}
		row("LLC-54 LLC-88", text(C_THREE "want-del %u orderly;", k),
		    text("%u<delete-link 0 all", k),
		    "dead lgr-deleted; lose; release");
	}
}

/* LLC-62: a link is missing; LLC-64: one too many; LLC-67: unknown keys */
TEST(smcr_lgr_fsm_bad__rkeys)
{
	u8 k, miss, third;

	covers("LLC-62 LLC-64 LLC-67");
	for (k = 0; k < LINKS; k++) {
		for (miss = 0; miss < LINKS; miss++) {
			const char *m;

			if (miss == k)
				continue;
			third = (u8)(3 - k - miss);
			m = text("%u<confirm-rkey n=1 links=%u", k, third + 1);
			row("LLC-62", C_THREE, m,
			    text("learn-rmb %u last; "
				 "%u>confirm-rkey! n=1 links=%u; %s", k, k,
				 third + 1, link_failed(false, miss,
							"llc-rkey")));
		}
		row("LLC-64", C_THREE, text("%u<confirm-rkey n=1 links=9", k),
		    text("%u>confirm-rkey! n=1 links=9 negative", k));
		row("LLC-64", S_THREE, text("%u<confirm-rkey n=1 links=9", k),
		    text("%u>confirm-rkey! n=1 links=9 negative", k));
		row("LLC-67", C_THREE, text("%u<delete-rkey unknown=0x40", k),
		    text("forget-rmb %u; %u>delete-rkey! negative mask=0x40",
			 k, k));
		row("LLC-67", S_THREE, text("%u<delete-rkey unknown=0x40", k),
		    text("forget-rmb %u; %u>delete-rkey! negative mask=0x40",
			 k, k));
	}
}
