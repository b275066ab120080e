// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of net/core/lgr_fsm_rkey.c: CONFIRM RKEY, its CONTINUATION and DELETE RKEY,
 * RFC 7609 3.5.5.2.1, 3.5.5.2.2, A.3.5 to A.3.7, C.7.1. What crosses other
 * exchanges is in test_lgr_fsm.c.
 */
#include "lgr_rows.h"

/* Own exchange, of either side */
#define S_FOUR	S_ADDED "made 2 nic=2 n=1; 0<add-link! 3 nic=2; " \
		"0<add-link-cont! 3; up 2; 2<confirm-link! 3; " \
		"made 3 nic=3 n=1; 0<add-link! 4 nic=3; 0<add-link-cont! 4; " \
		"up 3; 3<confirm-link! 4; made 4 no; "
#define S_MORE(slot, num) \
		"made " slot " nic=" slot " n=1; 0<add-link! " num " nic=" slot "; " \
		"0<add-link-cont! " num "; up " slot "; " \
		slot "<confirm-link! " num "; "
#define S_SEVEN	S_ADDED S_MORE("2", "3") S_MORE("3", "4") S_MORE("4", "5") \
		S_MORE("5", "6") S_MORE("6", "7") "made 7 no; "
#define C_MORE(slot, num) \
		"0<add-link " num " nic=" slot "; made " slot " nic=" slot " n=1; " \
		"0<add-link-cont " num "; " slot "<confirm-link " num "; " \
		"up " slot "; "
#define C_SEVEN	C_FOUR C_MORE("4", "5") C_MORE("5", "6") C_MORE("6", "7")
#define S_RDEL	S_TWO "want-rkey del; ready; "
#define C_RDEL	C_TWO "want-rkey del; ready; "
static const struct lgr_row own[] = {
	{ "LLC-55 RMB-21", S_TWO, "want-rkey",
	  "prepare" },
	{ "LLC-55 RMB-21", C_TWO, "want-rkey",
	  "prepare" },
	/* an entry for each other link (LLC-56) */
	{ "LLC-56", S_ONE "want-rkey;", "ready",
	  "0>confirm-rkey n=0; +rkey/llc" },
	{ "LLC-56", S_TWO "want-rkey;", "ready",
	  "0>confirm-rkey n=1; +rkey/llc" },
	{ "LLC-56", C_THREE "want-rkey;", "ready",
	  "0>confirm-rkey n=2; +rkey/llc" },
	{ "LLC-57", S_FOUR "want-rkey;", "ready",
	  "0>confirm-rkey n=3; +rkey/llc" },
	{ "LLC-57", S_FOUR "want-rkey; ready;", "0<confirm-rkey! n=3",
	  "0>confirm-rkey-cont n=1; +rkey/llc" },
	{ "LLC-57", S_FOUR "want-rkey; ready; 0<confirm-rkey! n=3;",
	  "0<confirm-rkey-cont! n=1",
	  "rkey-done ok; -rkey" },
	{ "LLC-57", S_SEVEN "want-rkey;", "ready",
	  "0>confirm-rkey n=6; +rkey/llc" },
	{ "LLC-57", S_SEVEN "want-rkey; ready;", "0<confirm-rkey! n=6",
	  "0>confirm-rkey-cont n=4; +rkey/llc" },
	{ "LLC-57", S_SEVEN "want-rkey; ready; 0<confirm-rkey! n=6;",
	  "0<confirm-rkey-cont! n=4",
	  "0>confirm-rkey-cont n=1; +rkey/llc" },
	{ "LLC-57", S_SEVEN "want-rkey; ready; 0<confirm-rkey! n=6; "
	  "0<confirm-rkey-cont! n=4;", "0<confirm-rkey-cont! n=1",
	  "rkey-done ok; -rkey" },
	/* a link is deleted before all were named: the count is void */
	{ "LLC-87", C_FOUR "want-rkey; ready; 0<delete-link 4 orderly; moved 3;",
	  "0<confirm-rkey! n=3",
	  "rkey-done again lgr-busy; -rkey" },
	/* not if all were named, nor in the next exchange */
	{ "LLC-87", C_THREE "want-rkey; ready; 0<delete-link 3 orderly; moved 2;",
	  "0<confirm-rkey! n=2",
	  "rkey-done ok; -rkey" },
	{ "LLC-87", C_SEVEN "want-rkey; ready; 0<delete-link 7 orderly; moved 6; "
	  "0<confirm-rkey! n=6; want-rkey; ready;",
	  "0<confirm-rkey! n=5",
	  "0>confirm-rkey-cont n=3; +rkey/llc" },
	/* not sent while a link is being deleted, though all is prepared */
	{ "LLC-82 LLC-85", C_THREE "want-rkey; 0<delete-link 3 orderly;", "ready",
	  "" },
	/* refused, as a link is being deleted: again with those that are left */
	{ "LLC-82", C_THREE "want-rkey; ready; 0<delete-link 3 orderly;",
	  "0<confirm-rkey! n=2 links=2,3 negative retry",
	  "rkey-done again rkey-refused; -rkey" },
	{ "LLC-82", C_THREE "want-rkey; ready; 0<delete-link 3 orderly; "
	  "0<confirm-rkey! n=2 links=2,3 negative retry; want-rkey;",
	  "moved 2",
	  "0>delete-link! 3 0x10000 #answer 2; prepare" },
	{ "LLC-82", C_THREE "want-rkey; ready; 0<delete-link 3 orderly; "
	  "0<confirm-rkey! n=2 links=2,3 negative retry; want-rkey; moved 2;",
	  "ready",
	  "0>confirm-rkey n=1; +rkey/llc" },
	/* a link that was leaving when the RMB was prepared stays: it has no RKey there */
	{ "LLC-56", C_TWO "want-rkey; 1<delete-link 1 orderly reason=0x20000; "
	  "down 1 link-error;", "ready",
	  "prepare" },
	/* on the link that the first connection will use, if it can (LLC-58) */
	{ "LLC-58", S_TWO "want-rkey;", "ready via=1",
	  "1>confirm-rkey n=1; +rkey/llc" },
	{ "LLC-58", S_TWO "want-rkey;", "ready via=2",
	  "0>confirm-rkey n=1; +rkey/llc" },
	{ "LLC-58", S_TWO "want-rkey;", "ready via=77",
	  "0>confirm-rkey n=1; +rkey/llc" },
	{ "LLC-58 LLC-54", C_THREE "want-del 1 orderly; want-rkey;",
	  "ready via=1",
	  "0>confirm-rkey n=2; +rkey/llc" },
	{ "LLC-58 LLC-54", S_TWO "want-rkey; 0<delete-link 2 orderly;",
	  "ready via=1",
	  "0>confirm-rkey n=1; +rkey/llc" },
	/* it cannot be registered */
	{ "RMB-21", S_TWO "want-rkey;", "ready no mr-fail",
	  "rkey-done failed mr-fail; -rkey" },
	{ "LLC-55", S_RKEY, "0<confirm-rkey! n=1",
	  "rkey-done ok; -rkey" },
	{ "LLC-55", C_RKEY, "0<confirm-rkey! n=1",
	  "rkey-done ok; -rkey" },
	/* refused: for now, or for good */
	{ "LLC-60", S_RKEY, "0<confirm-rkey! n=1 negative retry",
	  "rkey-done again rkey-refused; -rkey" },
	{ "LLC-60", S_RKEY, "0<confirm-rkey! n=1 negative",
	  "rkey-done refused rkey-refused; -rkey" },
	{ "LLC-60", S_FOUR "want-rkey; ready; 0<confirm-rkey! n=3;",
	  "0<confirm-rkey-cont! n=1 negative",
	  "rkey-done again rkey-refused; -rkey" },
	{ "LLC-60", S_FOUR "want-rkey; ready;",
	  "0<confirm-rkey! n=3 negative retry",
	  "rkey-done again rkey-refused; -rkey" },
	{ "LLC-60", S_RKEY "0<confirm-rkey! n=1 negative retry;", "want-rkey",
	  "prepare" },
	/* no answer: the carrying link has failed; it is not repeated there */
	{ "LLC-63 LLC-10 FO-21", S_RKEY, "timer rkey",
	  "fail 0 llc-timeout; move 0; rkey-done again link-error; "
	  "-rkey; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-63 LLC-10 FO-21", C_RKEY, "timer rkey",
	  "fail 0 llc-timeout; move 0; rkey-done again link-error; "
	  "-rkey; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-63", S_RDEL, "timer rkey",
	  "fail 0 llc-timeout; move 0; rkey-done again link-error; "
	  "-rkey; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-63", S_FOUR "want-rkey; ready; 0<confirm-rkey! n=3;",
	  "timer rkey",
	  "fail 0 llc-timeout; move 0; rkey-done again link-error; "
	  "-rkey; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-63 LLC-12 LLC-13 FO-14", S_RKEY, "down 0 link-error",
	  "move 0; rkey-done again link-error; -rkey; "
	  "1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-13 FO-14", C_RKEY "down 0 link-error; want-rkey;", "ready",
	  "1>confirm-rkey n=0; +rkey/llc" },
	{ "LLC-13", S_RKEY, "down 1 link-error",
	  "move 1" },
	{ "LLC-63", S_TWO, "timer rkey",
	  "" },
	/* the server may delay its answer (I-19) */
	{ "LLC-90", C_RDEL "0<add-link 3 nic=2;", "timer rkey",
	  "+rkey/llc" },
	{ "LLC-90", C_RDEL "0<add-link 3 nic=2; timer rkey; made 2 no;",
	  "timer rkey",
	  "fail 0 llc-timeout; move 0; rkey-done again link-error; "
	  "-rkey; 1>delete-link 1 0x10000; +notice0/notice" },
	/* wrong: other content, on another link, or without a request */
	{ "LLC-08", S_RKEY, "0<confirm-rkey! n=1 wrong-echo",
	  "fail 0 llc-rkey; move 0; rkey-done again link-error; -rkey; "
	  "1>delete-link 1 0x40000; +step/llc" },
	{ "LLC-08", S_RKEY, "1<confirm-rkey! n=1",
	  "fail 1 llc-unexpected; move 1" },
	{ "LLC-08", S_RKEY, "0<delete-rkey!",
	  "fail 0 llc-unexpected; move 0; rkey-done again link-error; "
	  "-rkey; 1>delete-link 1 0x40000; +step/llc" },
	{ "LLC-08", C_RDEL, "0<confirm-rkey! n=1",
	  "fail 0 llc-unexpected; move 0; rkey-done again link-error; "
	  "-rkey; 1>delete-link 1 0x40000; +notice0/notice" },
	{ "LLC-08", S_TWO, "0<confirm-rkey!",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 1 0x40000; "
	  "+step/llc" },
	{ "LLC-08", S_TWO, "0<confirm-rkey-cont!",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 1 0x40000; "
	  "+step/llc" },
	{ "LLC-08", C_TWO, "0<delete-rkey!",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 1 0x40000; "
	  "+notice0/notice" },
	/* DELETE RKEY; a key that is unknown to the peer is not in use */
	{ "LLC-65", S_TWO "want-rkey del;", "ready",
	  "0>delete-rkey; +rkey/llc" },
	{ "LLC-65", C_THREE "want-rkey del;", "ready",
	  "0>delete-rkey; +rkey/llc" },
	/* over a link on which the RMB has an RKey */
	{ "LLC-65", C_THREE "want-rkey del;", "ready via=2",
	  "2>delete-rkey; +rkey/llc" },
	{ "LLC-65", C_THREE "want-rkey del; want-del 2 orderly;", "ready via=2",
	  "rkey-done again no-link; -rkey" },
	{ "LLC-56", C_THREE "want-rkey; want-del 2 orderly;", "ready via=2",
	  "0>confirm-rkey n=2; +rkey/llc" },
	{ "LLC-66", S_RDEL, "0<delete-rkey!",
	  "rkey-done ok; -rkey" },
	{ "LLC-68", S_RDEL, "0<delete-rkey! negative",
	  "rkey-done ok; -rkey" },
	/* a link was added since it was sent: it has no entry yet */
	{ "LLC-55 LLC-85", C_RKEY "0<add-link 3 nic=2; made 2 nic=2 n=1;",
	  "0<confirm-rkey! n=1",
	  "rkey-done again lgr-busy; -rkey" },
	/* added during DO_PREPARE: the RMB is not registered there */
	{ "LLC-55 LLC-85", C_TWO "want-rkey; 0<add-link 3 nic=2; "
	  "made 2 nic=2 n=1; 0<add-link-cont 3; 2<confirm-link 3; up 2;",
	  "ready",
	  "prepare" },
	/* a link is being made: its RTokens may have been looked up before */
	{ "LLC-55 LLC-85", C_RKEY "0<add-link 3 nic=2;", "0<confirm-rkey! n=1",
	  "rkey-done again lgr-busy; -rkey" },
	{ "LLC-66 LLC-85", C_RDEL "0<add-link 3 nic=2; made 2 nic=2 n=1;",
	  "0<delete-rkey!",
	  "rkey-done ok; -rkey" },
	/* no link is left to send on; WANT_RKEY during DO_PREPARE */
	{ "LG-44", S_TWO "want-rkey; down 0; 1<delete-link! 1; down 1;",
	  "ready",
	  "" },
	{ "LLC-15", S_TWO "want-rkey;", "want-rkey",
	  "" },
	{ "LLC-15", S_TWO, "ready",
	  "" },
};

TEST(smcr_lgr_fsm_rkey__own)
{
	covers("FO-14 FO-21 LG-44 LLC-08 LLC-10 LLC-12 LLC-13 LLC-15 LLC-54 LLC-55");
	covers("LLC-56 LLC-57 LLC-58 LLC-60 LLC-63 LLC-65 LLC-66 LLC-68");
	covers("LLC-82 LLC-85 LLC-87 LLC-90 RMB-21");
	lgr_rows(own, ARRAY_SIZE(own));
}

/* The peer's exchange, at either side */
static const struct lgr_row peers[] = {
	{ "LLC-59", S_TWO, "0<confirm-rkey n=1 links=2",
	  "learn-rmb 0 last; 0>confirm-rkey! n=1 links=2" },
	{ "LLC-59 LLC-58", S_TWO, "1<confirm-rkey n=1 links=1",
	  "learn-rmb 1 last; 1>confirm-rkey! n=1 links=1" },
	{ "LLC-59", C_TWO, "0<confirm-rkey n=1 links=2",
	  "learn-rmb 0 last; 0>confirm-rkey! n=1 links=2" },
	{ "LLC-56", S_ONE, "0<confirm-rkey n=0",
	  "learn-rmb 0 last; 0>confirm-rkey! n=0" },
	{ "LLC-56", C_THREE, "0<confirm-rkey n=2 links=2,3",
	  "learn-rmb 0 last; 0>confirm-rkey! n=2 links=2,3" },
	/* in several messages, with a decreasing count */
	{ "LLC-57", S_FOUR, "0<confirm-rkey n=3 links=2,3",
	  "learn-rmb 0; 0>confirm-rkey! n=3 links=2,3" },
	{ "LLC-57", S_FOUR "0<confirm-rkey n=3 links=2,3;",
	  "0<confirm-rkey-cont n=1 links=4",
	  "learn-rmb 0 last; 0>confirm-rkey-cont! n=1 links=4" },
	{ "LLC-57", S_FOUR "0<confirm-rkey n=6 links=2,3;",
	  "0<confirm-rkey-cont n=4 links=4,2,3",
	  "learn-rmb 0; 0>confirm-rkey-cont! n=4 links=4,2,3" },
	{ "LLC-57", S_FOUR "0<confirm-rkey n=6 links=2,3; "
	  "0<confirm-rkey-cont n=4 links=4,2,3;",
	  "0<confirm-rkey-cont n=1 links=4",
	  "learn-rmb 0 last; 0>confirm-rkey-cont! n=1 links=4" },
	/* all that is left, exactly as many as there is room for */
	{ "LLC-57", S_FOUR "0<confirm-rkey n=5 links=2,3;",
	  "0<confirm-rkey-cont n=3 links=4,2,3",
	  "learn-rmb 0 last; 0>confirm-rkey-cont! n=3 links=4,2,3" },
	/* another link fails; an exchange on a failed one is dropped */
	{ "LLC-57 LLC-91", S_FOUR "0<confirm-rkey n=3 links=2,3; "
	  "down 3 link-error; 0<delete-link! 4;",
	  "0<confirm-rkey-cont n=1 links=3",
	  "learn-rmb 0 last; 0>confirm-rkey-cont! n=1 links=3" },
	{ "LLC-13 LLC-91", S_FOUR "0<confirm-rkey n=3 links=2,3; "
	  "down 0 link-error; 1<delete-link! 1; stopped 0; want-link; "
	  "made 0 nic=0 n=1; 1<add-link! 5 nic=0; 1<add-link-cont! 5; "
	  "up 0; 0<confirm-link! 5; made 4 no;",
	  "0<confirm-rkey-cont n=1 links=4",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 5 0x40000; "
	  "+step/llc" },
	{ "LLC-08 LLC-57", S_FOUR "0<confirm-rkey n=3 links=2,3;",
	  "0<confirm-rkey-cont n=2 links=4,1",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 1 0x40000; "
	  "+step/llc" },
	{ "LLC-08 LLC-57", C_THREE "0<confirm-rkey n=3 links=2,3;",
	  "1<confirm-rkey-cont n=1 links=3",
	  "fail 1 llc-unexpected; move 1; 0>delete-link 2 0x40000; "
	  "+notice1/notice" },
	{ "LLC-08", S_TWO, "0<confirm-rkey-cont n=1 links=2",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 1 0x40000; "
	  "+step/llc" },
	/* the exchange is begun anew */
	{ "LLC-60", S_FOUR
	  "0<confirm-rkey n=3 links=2,3; 0<confirm-rkey n=3 links=2,3;",
	  "0<confirm-rkey-cont n=1 links=4",
	  "learn-rmb 0 last; 0>confirm-rkey-cont! n=1 links=4" },
	/* no room */
	{ "SEC-13", S_TWO, "0<confirm-rkey n=1 links=2 full",
	  "0>confirm-rkey! n=1 links=2 negative" },
	/* an unknown link: not stored; a link just deleted: retry */
	{ "LLC-64", S_TWO, "0<confirm-rkey n=1 links=9",
	  "0>confirm-rkey! n=1 links=9 negative" },
	{ "LLC-64", C_TWO, "0<confirm-rkey n=1 links=9",
	  "0>confirm-rkey! n=1 links=9 negative" },
	{ "LLC-64", S_TWO, "0<confirm-rkey n=1 links=0",
	  "0>confirm-rkey! n=1 negative" },
	{ "LLC-64", S_FOUR "0<confirm-rkey n=3 links=2,3;",
	  "0<confirm-rkey-cont n=1 links=9",
	  "0>confirm-rkey-cont! n=1 links=9 negative" },
	{ "LLC-64 LLC-57", S_FOUR
	  "0<confirm-rkey n=3 links=2,3; 0<confirm-rkey-cont n=1 links=9;",
	  "0<confirm-rkey-cont n=1 links=4",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 1 0x40000; "
	  "+step/llc" },
	{ "LLC-64 LLC-82", S_DEL "0<delete-link! 3;",
	  "0<confirm-rkey n=2 links=2,3",
	  "0>confirm-rkey! n=2 links=2,3 negative retry" },
	/* or the one that was deleted before it */
	{ "LLC-64 LLC-82", S_FOUR "down 3 link-error; 0<delete-link! 4; "
	  "down 2 link-error; 0<delete-link! 3;", "0<confirm-rkey n=2 links=2,4",
	  "0>confirm-rkey! n=2 links=2,4 negative retry" },
	{ "LLC-64", C_FOUR "0<delete-link 4; moved 3; 0<delete-link 3; moved 2;",
	  "0<confirm-rkey n=2 links=2,4",
	  "0>confirm-rkey! n=2 links=2,4 negative retry" },
	/* a link is missing: it has failed at the peer */
	{ "LLC-62", C_TWO, "0<confirm-rkey n=0",
	  "learn-rmb 0 last; 0>confirm-rkey! n=0; fail 1 llc-rkey; "
	  "move 1; 0>delete-link 2 0x40000; +notice1/notice" },
	{ "LLC-62", C_THREE, "0<confirm-rkey n=1 links=2",
	  "learn-rmb 0 last; 0>confirm-rkey! n=1 links=2; "
	  "fail 2 llc-rkey; move 2; 0>delete-link 3 0x40000; "
	  "+notice2/notice" },
	{ "LLC-62", C_THREE, "1<confirm-rkey n=1 links=2",
	  "learn-rmb 1 last; 1>confirm-rkey! n=1 links=2; "
	  "fail 0 llc-rkey; fail 2 llc-rkey; move 0; "
	  "1>delete-link 1 0x40000; +notice0/notice; move 2; "
	  "1>delete-link 3 0x40000; +notice2/notice" },
	{ "LLC-62", C_THREE "0<confirm-rkey n=3 links=2,2;",
	  "0<confirm-rkey-cont n=1 links=2",
	  "learn-rmb 0 last; 0>confirm-rkey-cont! n=1 links=2; "
	  "fail 2 llc-rkey; move 2; 0>delete-link 3 0x40000; "
	  "+notice2/notice" },
	/* refused once if it may be older than the link */
	{ "LLC-62", S_TWO, "0<confirm-rkey n=0",
	  "0>confirm-rkey! n=0 negative retry" },
	{ "LLC-62", S_TWO "0<confirm-rkey n=0;", "0<confirm-rkey n=0",
	  "learn-rmb 0 last; 0>confirm-rkey! n=0; fail 1 llc-rkey; "
	  "move 1; 0>delete-link 2 0x40000; +step/llc" },
	{ "LLC-62", S_TWO "0<confirm-rkey n=0;", "0<confirm-rkey n=1 links=2",
	  "learn-rmb 0 last; 0>confirm-rkey! n=1 links=2" },
	{ "LLC-62", S_TWO "0<confirm-rkey n=1 links=2;", "0<confirm-rkey n=0",
	  "learn-rmb 0 last; 0>confirm-rkey! n=0; fail 1 llc-rkey; "
	  "move 1; 0>delete-link 2 0x40000; +step/llc" },
	/* its link fails before the last message: the exchange is dropped */
	{ "LLC-13 LLC-91", S_FOUR
	  "0<confirm-rkey n=3 links=2,3; down 0 link-error; "
	  "1<delete-link! 1;",
	  "1<confirm-rkey-cont n=1 links=4",
	  "fail 1 llc-unexpected; move 1; 2>delete-link 2 0x40000; "
	  "+step/llc" },
	/* DELETE RKEY, also of keys that are unknown or in use */
	{ "LLC-67", S_TWO, "0<delete-rkey",
	  "forget-rmb 0; 0>delete-rkey!" },
	{ "LLC-67 LLC-04", S_TWO, "1<delete-rkey unknown=0x80",
	  "forget-rmb 1; 1>delete-rkey! negative mask=0x80" },
	{ "LLC-67", C_TWO, "0<delete-rkey unknown=0x41",
	  "forget-rmb 0; 0>delete-rkey! negative mask=0x41" },
};

TEST(smcr_lgr_fsm_rkey__peers)
{
	covers("LLC-04 LLC-08 LLC-13 LLC-56 LLC-57 LLC-58 LLC-59 LLC-60");
	covers("LLC-62 LLC-64 LLC-67 LLC-82 LLC-91 SEC-13");
	lgr_rows(peers, ARRAY_SIZE(peers));
}

/* Exchanges of the peer do not delay an own one for ever */
static const struct lgr_row turns[] = {
	/* one of the peer's, then the own one, then the next */
	{ "LLC-15", S_DEL "0<add-link 0; 0<delete-link 2 orderly; want-rkey; "
	  "0<delete-link! 3; moved 1;",
	  "0<delete-link! 2",
	  "stop 1; +retry/retry; prepare" },
	{ "LLC-15", S_DEL "0<add-link 0; 0<delete-link 2 orderly; want-rkey; "
	  "0<delete-link! 3; moved 1; 0<delete-link! 2; ready;",
	  "0<confirm-rkey! n=0",
	  "rkey-done ok; -rkey; make 3" },
	/* its turn does not come in time: the caller decides */
	{ "LLC-15", C_MAKE "want-rkey;", "timer rkey",
	  "rkey-done again lgr-busy; -rkey" },
	{ "LLC-15", C_TWO "want-rkey; 0<add-link 3 nic=2; timer rkey;", "ready",
	  "rkey-done again lgr-busy; -rkey" },
	{ "LLC-15", C_TWO "want-rkey; timer rkey;", "ready",
	  "0>confirm-rkey n=1; +rkey/llc" },
	{ "LLC-15", S_REPLY "want-rkey;", "timer rkey",
	  "rkey-done again lgr-busy; -rkey" },
};

/* How often T_RKEY expires before the link fails */
static u32 patience(const char *before)
{
	struct lgr_rig r;
	u32 i;

	lgr_situation(&r, before);
	for (i = 0; i < 100; i++) {
		lgr_event(&r, "timer rkey");
		if (!strncmp(r.said, "fail 0 llc-timeout", 18))
			break;
		EXPECT_STR(r.said, "+rkey/llc");
	}
	return i;
}

TEST(smcr_lgr_fsm_rkey__turns)
{
	covers("LLC-15 LLC-63");
	lgr_rows(turns, ARRAY_SIZE(turns));
	/* nor may offers delay a reply that is due for ever */
	EXPECT_EQ(patience(C_RKEY "0<add-link 3 nic=2;"), 7);
	/* the wait for the own turn does not count, nor an earlier exchange */
	EXPECT_EQ(patience(C_TWO "want-rkey; timer rkey; ready; "
			   "0<add-link 3 nic=2;"), 7);
	EXPECT_EQ(patience(C_RKEY "0<add-link 3 nic=2; timer rkey; timer rkey; "
			   "0<confirm-rkey! n=1; want-rkey; made 2 no; ready; "
			   "0<add-link 3 nic=2;"), 7);
	/* all messages of an exchange have that time together */
	EXPECT_EQ(patience(C_FOUR "want-rkey; ready; 0<add-link 5 nic=4; "
			   "timer rkey; timer rkey; timer rkey; "
			   "0<confirm-rkey! n=3;"), 4);
}
