// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of net/core/lgr_fsm_add.c: links that are added later, RFC 7609 3.5.5.1.1,
 * 3.5.5.1.2, 3.5.5.2.3, C.7.1, C.8 (conformance catalogue, LG, E.2).
 */
#include "lgr_rows.h"

/* Two links, and no more: C_TWO with that maximum */
#define C2_TWO	"C2: first; 0<confirm-link 1; up 0; first-sent 0; " \
		"0<add-link 2 nic=1; made 1 nic=1 n=1; " \
		"0<add-link-cont 2; 1<confirm-link 2; up 1; "

/* Server */
static const struct lgr_row server[] = {
	/* success */
	{ "LG-28 LLC-27", S_MAKE, "made 2 nic=2 n=1",
	  "0>add-link 3; +step/llc" },
	{ "LG-24 LLC-30", S_REPLY, "0<add-link! 3 nic=2",
	  "connect 2; 0>add-link-cont 3 n=1; +step/llc" },
	{ "LLC-36", S_CONT, "0<add-link-cont! 3",
	  "learn 2; up 2" },
	{ "LLC-18", S_UP, "up 2",
	  "2>confirm-link 3; +step/llc" },
	{ "LG-28 LG-27", S_CONF, "2<confirm-link! 3",
	  "agreed 2; live 2; -retry; make 3" },
	/* all RTokens of both, two with each message */
	{ "LLC-38 LLC-39", S_MAKE "made 2 nic=2 n=5;", "0<add-link! 3 nic=2",
	  "connect 2; 0>add-link-cont 3 n=5; +step/llc" },
	{ "LLC-38 LLC-39", S_MAKE "made 2 nic=2 n=5; 0<add-link! 3 nic=2;",
	  "0<add-link-cont! 3 n=1",
	  "learn 2; 0>add-link-cont 3 n=3; +step/llc" },
	{ "LLC-38 LLC-39", S_MAKE
	  "made 2 nic=2 n=5; 0<add-link! 3 nic=2; 0<add-link-cont! 3 n=1;",
	  "0<add-link-cont! 3 n=0",
	  "learn 2; 0>add-link-cont 3 n=1; +step/llc" },
	{ "LLC-38 LLC-39", S_MAKE "made 2 nic=2 n=5; 0<add-link! 3 nic=2; "
	  "0<add-link-cont! 3 n=1; 0<add-link-cont! 3 n=0;",
	  "0<add-link-cont! 3 n=0",
	  "learn 2; up 2" },
	{ "LLC-39", S_CONT, "0<add-link-cont! 3 n=5",
	  "learn 2; 0>add-link-cont 3 n=0; +step/llc" },
	{ "LLC-39", S_CONT "0<add-link-cont! 3 n=5;", "0<add-link-cont! 3 n=3",
	  "learn 2; 0>add-link-cont 3 n=0; +step/llc" },
	{ "LLC-39", S_CONT "0<add-link-cont! 3 n=5; 0<add-link-cont! 3 n=3;",
	  "0<add-link-cont! 3 n=1",
	  "learn 2; up 2" },
	{ "LLC-38", S_MAKE "made 2 nic=2 n=0;", "0<add-link! 3 nic=2",
	  "connect 2; 0>add-link-cont 3 n=0; +step/llc" },
	/* no RNIC, no queue pair: LG-27; with redundancy there is no retry */
	{ "LG-27", S_ONE "want-link;", "made 1 no",
	  "+retry/retry" },
	{ "LG-27", S_ONE "want-link; made 1 no; want-link;", "made 1 no",
	  "+retry/retry" },
	{ "LG-27", S_ONE
	  "want-link; made 1 no; timer retry; made 1 no; timer retry;",
	  "made 1 no",
	  "+retry/retry*4" },
	{ "LG-27 LG-11", S_MAKE, "made 2 no",
	  "" },
	{ "LG-27", S_MAKE "made 2 no;", "want-link",
	  "make 2" },
	{ "LG-27", S_ONE
	  "timer retry; made 1 no; timer retry; made 1 nic=1 n=1; "
	  "0<add-link! 3 nic=1; 0<add-link-cont! 3; up 1; "
	  "1<confirm-link! 3; made 2 no; down 1;",
	  "0<delete-link! 3",
	  "stop 1; +retry/retry" },
	{ "LG-27", S_ONE, "timer retry",
	  "make 1" },
	/* a notice during an attempt that fails: the next follows at once */
	{ "LG-27", S_ONE "timer retry; 0<add-link 0;", "made 1 no",
	  "+retry/retry; make 1" },
	{ "LG-27", S_ONE "timer retry; 0<add-link 0; made 1 no;", "made 1 no",
	  "+retry/retry*2" },
	/* a repeated one leads to an attempt after a pause, with redundancy, too */
	{ "LG-27 LG-32", S_TWO "0<add-link 0; 0<add-link 0;", "made 2 no",
	  "+retry/pause" },
	{ "LG-27 LG-32", S_TWO "0<add-link 0; 0<add-link 0; made 2 no;",
	  "timer retry",
	  "make 2" },
	{ "LG-27 LG-32", S_TWO "0<add-link 0; made 2 no;", "0<add-link 0",
	  "+retry/pause" },
	/* not if the client gets an offer, which answers its notice */
	{ "LG-27 LLC-74", S_ONE
	  "timer retry; 0<add-link 0; made 1 nic=1 n=1;",
	  "0<add-link! 3 rejected",
	  "stop 1; +retry/retry*2" },
	{ "LG-27 LG-32", S_ONE, "0<add-link 0",
	  "make 1" },
	/* its RNIC is removed */
	{ "LG-27", S_ONE "want-link;", "down 1 link-device",
	  "stop 1; +retry/retry" },
	{ "LG-34", S_MAKE, "down 2 link-device",
	  "stop 2" },
	{ "LG-34", S_REPLY, "down 2 link-device",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +step/llc" },
	{ "LG-34", S_REPLY "down 2 link-device;", "0<add-link! 3 nic=2",
	  "" },
	{ "LG-34", S_REPLY "down 2 link-device;", "0<delete-link! 3",
	  "stop 2" },
	{ "LG-34", S_CONT, "down 2 link-device",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +step/llc" },
	{ "LG-34", S_CONT "down 2 link-device;", "0<add-link-cont! 3",
	  "" },
	{ "LG-34", S_UP, "down 2 link-device",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +step/llc" },
	{ "LG-34 LLC-25", S_CONF, "down 2 link-error",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +step/llc" },
	/* it is refused */
	{ "LG-23 LG-27", S_ONE "timer retry; made 1 n=1;",
	  "0<add-link! 3 rejected",
	  "stop 1; +retry/retry*2" },
	{ "LG-23", S_REPLY, "0<add-link! 3 rejected",
	  "stop 2" },
	{ "LG-23", S_REPLY, "0<add-link! 0 rejected mtu=0",
	  "stop 2" },
	/* no reply: the carrying link has failed; once more over another */
	{ "LLC-33 LLC-10 FO-21", S_REPLY, "timer step",
	  "fail 0 llc-timeout; move 0; fail 2 llc-timeout; "
	  "1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-33", S_REPLY "timer step;", "1<delete-link! 1",
	  "stop 0; +retry/retry; 1>delete-link 3 0x10000; +step/llc" },
	{ "LLC-33 FO-14", S_REPLY "timer step; 1<delete-link! 1;",
	  "1<delete-link! 3 reason=0x100000",
	  "stop 2; +retry/retry*2; make 3" },
	{ "LLC-33", S_REPLY "timer step; 1<delete-link! 1; 1<delete-link! 3;",
	  "made 3 nic=2 n=1",
	  "1>add-link 4; +step/llc" },
	{ "LLC-33 LLC-12", S_REPLY, "down 0 link-error",
	  "move 0; fail 2 link-error; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-42 FO-21", S_CONT, "timer step",
	  "fail 0 llc-timeout; move 0; fail 2 llc-timeout; "
	  "1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-42 LLC-12", S_CONT, "down 0 link-error",
	  "move 0; fail 2 link-error; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-33", S_ONE "timer retry; made 1 n=1;", "timer step",
	  "fail 0 llc-timeout; dead llc-timeout; lose; release" },
	{ "LLC-33 LLC-12", S_MAKE, "down 0 link-error",
	  "move 0; stop 2; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-33 LLC-12 FO-14", S_MAKE "down 0 link-error;", "1<delete-link! 1",
	  "stop 0; +retry/retry; make 3" },
	{ "LLC-33 LLC-12", S_UP, "down 0 link-error",
	  "move 0; fail 2 link-error; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-33 LLC-12", S_CONF, "down 0 link-error",
	  "move 0; fail 2 link-error; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-33 FO-14", S_CONF "down 0 link-error; 1<delete-link! 1;",
	  "1<delete-link! 3",
	  "stop 2; +retry/retry*2; make 3" },
	{ "LLC-50 LLC-25", S_CONF "timer step;", "down 0 link-error",
	  "move 0; 1>delete-link 3 0x10000; +step/llc" },
	{ "LLC-13", S_REPLY, "down 1 link-error",
	  "move 1" },
	/* it cannot be confirmed */
	{ "LLC-25", S_UP, "up 2 no qp-fail",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +step/llc" },
	{ "LLC-25 LLC-10", S_CONF, "timer step",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +step/llc" },
	{ "LLC-25", S_CONF "timer step;", "0<delete-link! 3",
	  "stop 2" },
	{ "LLC-25 LG-27", S_ONE "timer retry; made 1 n=1; 0<add-link! 3 nic=1; "
	  "0<add-link-cont! 3; up 1; timer step;",
	  "0<delete-link! 3",
	  "stop 1; +retry/retry*2" },
	{ "LLC-45", S_CONF "timer step;", "2<confirm-link! 3",
	  "" },
	{ "LLC-48", S_CONF, "down 2 llc-opcode",
	  "fail 2 llc-link-data; 0>delete-link 3 0x40000; +step/llc" },
};

TEST(smcr_lgr_fsm_add__server)
{
	covers("FO-14 FO-21");
	covers("LG-11 LG-23 LG-24 LG-27 LG-28 LG-32 LG-34 LLC-10 LLC-12");
	covers("LLC-13 LLC-18 LLC-25 LLC-27 LLC-30 LLC-33 LLC-36 LLC-38");
	covers("LLC-39 LLC-42 LLC-45 LLC-48 LLC-50 LLC-74");
	lgr_rows(server, ARRAY_SIZE(server));
}

/* Client */
static const struct lgr_row client[] = {
	{ "LG-28", C_TWO, "0<add-link 3 nic=2",
	  "make 2" },
	{ "LG-22 LLC-28", C_MAKE, "made 2 nic=2 n=1",
	  "0>add-link! 3; +step/llc" },
	{ "LLC-36", C_CONT, "0<add-link-cont 3",
	  "learn 2; 0>add-link-cont! 3 n=1; +step/llc" },
	{ "LLC-20 LLC-05", C_CONF, "2<confirm-link 3",
	  "up 2; agreed 2" },
	{ "LLC-20", C_UP, "up 2",
	  "live 2; -retry; 2>confirm-link! 3" },
	/* on any link that the server chooses */
	{ "LLC-04", C_TWO "1<add-link 3 nic=2;", "made 2 nic=2 n=1",
	  "1>add-link! 3; +step/llc" },
	{ "LLC-04", C_TWO "1<add-link 3 nic=2; made 2 nic=2 n=1;",
	  "1<add-link-cont 3",
	  "learn 2; 1>add-link-cont! 3 n=1; +step/llc" },
	/* all RTokens of both */
	{ "LLC-38 LLC-39", C_MAKE "made 2 nic=2 n=5;", "0<add-link-cont 3 n=1",
	  "learn 2; 0>add-link-cont! 3 n=5; +step/llc" },
	{ "LLC-38 LLC-39", C_MAKE "made 2 nic=2 n=5; 0<add-link-cont 3 n=1;",
	  "0<add-link-cont 3 n=0",
	  "learn 2; 0>add-link-cont! 3 n=3; +step/llc" },
	{ "LLC-38 LLC-39", C_MAKE "made 2 nic=2 n=5; 0<add-link-cont 3 n=1; "
	  "0<add-link-cont 3 n=0;",
	  "0<add-link-cont 3 n=0",
	  "learn 2; 0>add-link-cont! 3 n=1; +step/llc" },
	{ "LLC-38 LLC-39", C_MAKE "made 2 nic=2 n=5; 0<add-link-cont 3 n=1; "
	  "0<add-link-cont 3 n=0; 0<add-link-cont 3 n=0;",
	  "2<confirm-link 3",
	  "up 2; agreed 2" },
	{ "LLC-39", C_CONT, "0<add-link-cont 3 n=5",
	  "learn 2; 0>add-link-cont! 3 n=1; +step/llc" },
	{ "LLC-39", C_CONT "0<add-link-cont 3 n=5;", "0<add-link-cont 3 n=3",
	  "learn 2; 0>add-link-cont! 3 n=0; +step/llc" },
	{ "LLC-39", C_CONT "0<add-link-cont 3 n=5; 0<add-link-cont 3 n=3;",
	  "0<add-link-cont 3 n=1",
	  "learn 2; 0>add-link-cont! 3 n=0; +step/llc" },
	{ "LLC-38", C_MAKE "made 2 nic=2 n=0;", "0<add-link-cont 3 n=0",
	  "learn 2; 0>add-link-cont! 3 n=0; +step/llc" },
	/* not possible */
	{ "LG-20", C_MAKE, "made 2 no",
	  "0>add-link! 3 rejected=1" },
	{ "LG-20", C_MAKE, "down 2 link-device",
	  "stop 2; 0>add-link! 3 rejected=1" },
	{ "LG-08", C_TWO "0<add-link 3 nic=1;", "made 2 nic=1 n=1",
	  "stop 2; 0>add-link! 3 rejected=1" },
	{ "LG-12", C_MAKE, "made 2 nic=0 n=1",
	  "stop 2; 0>add-link! 3 rejected=1" },
	{ "LLC-29", C_TWO, "0<add-link 3 mtu=0",
	  "0>add-link! 3 rejected=2" },
	{ "LLC-29", C_TWO, "0<add-link 3 mtu=6",
	  "0>add-link! 3 rejected=2" },
	{ "LLC-29", C_TWO, "0<add-link 3 mtu=9",
	  "0>add-link! 3 rejected=2" },
	{ "LLC-29", C_TWO, "0<add-link 3 mtu=15",
	  "0>add-link! 3 rejected=2" },
	/* the notice, and what is taken for the answer to it */
	{ "LG-31 LLC-35", C_ONE, "want-link",
	  "0>add-link" },
	/* none with the maximum of links, but one when a link is gone */
	{ "LG-11 LG-31", C2_TWO, "want-link",
	  "" },
	{ "LG-11 LG-31", C2_TWO "want-link; 0<delete-link 2;", "moved 1",
	  "0>delete-link! 2 0x10000 #answer 1; +retry/retry; 0>add-link" },
	{ "LLC-74", C_ONE "want-link;", "0<add-link 3 nic=1",
	  "make 1" },
	{ "LLC-74", C_MAKE "want-link;", "made 2 no",
	  "0>add-link! 3 rejected=1; 0>add-link" },
	/* an offer also answers a notice that could not be sent yet */
	{ "LLC-74", C_MAKE "want-link; 1<add-link 4 nic=2;", "made 3 no",
	  "1>add-link! 4 rejected=1" },
	{ "LLC-43 LG-31", C_ONE, "timer retry",
	  "+retry/retry; 0>add-link" },
	/* no message of the server arrives */
	{ "LLC-42 LLC-10 FO-21", C_CONT, "timer step",
	  "fail 0 llc-timeout; move 0; fail 2 llc-timeout; "
	  "1>delete-link 3 0x10000; +notice2/notice; "
	  "1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-42", C_CONT "0<add-link-cont 3 n=3;", "timer step",
	  "fail 0 llc-timeout; move 0; fail 2 llc-timeout; "
	  "1>delete-link 3 0x10000; +notice2/notice; "
	  "1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-42", C_ONE "0<add-link 3 nic=1; made 1 nic=1 n=1;", "timer step",
	  "fail 0 llc-timeout; dead llc-timeout; lose; release" },
	{ "LLC-42 LLC-12", C_CONT, "down 0 link-error",
	  "move 0; fail 2 link-error; 1>delete-link 3 0x10000; "
	  "+notice2/notice; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-44 LLC-10", C_CONF, "timer step",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +notice2/notice" },
	{ "LLC-44", C_CONF "timer step;", "2<confirm-link 3",
	  "" },
	{ "LLC-44", C_CONF "timer step;", "0<delete-link 3",
	  "0>delete-link! 3 0x10000 #answer 2; -notice2" },
	{ "LLC-44 LG-36", C_CONF "timer step; 0<delete-link 3;",
	  "answer-sent 2",
	  "stop 2" },
	{ "LLC-44", C_ONE
	  "0<add-link 3 nic=1; made 1 nic=1 n=1; 0<add-link-cont 3;",
	  "timer step",
	  "fail 1 link-error; 0>delete-link 3 0x10000; +notice1/notice; "
	  "+retry/retry" },
	{ "LLC-44 LG-31", C_ONE
	  "0<add-link 3 nic=1; made 1 nic=1 n=1; 0<add-link-cont 3; "
	  "timer step; 0<delete-link 3;",
	  "timer retry",
	  "+retry/retry*2; 0>add-link" },
	{ "LLC-44 LLC-12", C_CONF, "down 0 link-error",
	  "move 0; fail 2 link-error; 1>delete-link 3 0x10000; "
	  "+notice2/notice; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-44", C_CONF, "down 2 link-error",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +notice2/notice" },
	{ "LLC-48", C_CONF, "down 2 llc-opcode",
	  "fail 2 llc-link-data; 0>delete-link 3 0x40000; +notice2/notice" },
	{ "LLC-44", C_CONT, "down 2 link-device",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +notice2/notice" },
	/* the server goes on until that arrives: it gets replies (LLC-42) */
	{ "LLC-42", C_CONT "down 2 link-device;", "0<add-link-cont 3",
	  "0>add-link-cont! 3 n=1" },
	{ "LLC-42 LLC-40", C_MAKE "made 2 nic=2 n=5; 0<add-link-cont 3 n=5; "
	  "down 2 link-device;", "0<add-link-cont 3 n=3",
	  "0>add-link-cont! 3 n=3" },
	{ "LLC-42 LLC-40", C_MAKE "made 2 nic=2 n=5; 0<add-link-cont 3 n=5; "
	  "down 2 link-device; 0<add-link-cont 3 n=3;", "0<add-link-cont 3 n=1",
	  "0>add-link-cont! 3 n=1" },
	{ "LLC-12", C_MAKE, "down 0 link-error",
	  "move 0; stop 2; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-44", C_UP, "up 2 no qp-fail",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +notice2/notice" },
	{ "LLC-44", C_UP, "down 2 link-error",
	  "fail 2 link-error; 0>delete-link 3 0x10000; +notice2/notice" },
	{ "LLC-12", C_UP, "down 0 link-error",
	  "move 0; fail 2 link-error; 1>delete-link 3 0x10000; "
	  "+notice2/notice; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-13", C_CONT, "down 1 link-error",
	  "move 1; 0>delete-link 2 0x10000; +notice1/notice" },
	{ "LLC-13", C_CONT "down 0 link-error;", "want-rkey",
	  "prepare" },
	{ "LG-27", C_ONE "0<add-link 3 nic=1; made 1 no; 0<add-link 3 nic=1; "
	  "made 1 nic=1 n=1; 0<add-link-cont 3; 1<confirm-link 3; up 1; "
	  "0<delete-link 3;",
	  "moved 1",
	  "0>delete-link! 3 0x10000 #answer 1; +retry/retry" },
	/* the server has given it up, and could not report that (LLC-33) */
	{ "LLC-33", C_MAKE, "1<add-link 4 nic=2",
	  "stop 2; make 3" },
	{ "LLC-33", C_CONT, "1<add-link 4 nic=2",
	  "stop 2; make 3" },
	{ "LLC-33", C_CONF, "1<add-link 4 nic=2",
	  "stop 2; make 3" },
	{ "LLC-33", C_CONT "1<add-link 4 nic=2;", "made 3 nic=2 n=1",
	  "1>add-link! 4; +step/llc" },
	{ "LLC-25", C_CONT, "0<delete-link 3",
	  "0>delete-link! 3 0x10000 #answer 2" },
	{ "LLC-25", C_CONF, "0<delete-link 3",
	  "0>delete-link! 3 0x10000 #answer 2" },
	{ "LLC-25", C_UP, "0<delete-link 3",
	  "0>delete-link! 3 0x10000 #answer 2" },
	{ "LLC-25", C_MAKE, "0<delete-link 3",
	  "0>delete-link! 3 0x10000 #answer 2" },
	{ "LLC-25", C_MAKE "0<delete-link 3;", "made 2 nic=2 n=1",
	  "" },
	{ "LLC-33", C_CONF, "1<delete-link 1",
	  "stop 2; move 0" },
	{ "LLC-33", C_CONF "1<delete-link 1;", "moved 0",
	  "1>delete-link! 1 0x10000 #answer 0; +retry/retry" },
};

TEST(smcr_lgr_fsm_add__client)
{
	covers("FO-21 LG-08 LG-11 LG-12 LG-20 LG-22 LG-27 LG-28 LG-31 LG-36");
	covers("LLC-04 LLC-05 LLC-10 LLC-12 LLC-13 LLC-20 LLC-25 LLC-28");
	covers("LLC-29 LLC-33 LLC-35 LLC-36 LLC-38 LLC-39 LLC-40 LLC-42");
	covers("LLC-43 LLC-44 LLC-48 LLC-74");
	lgr_rows(client, ARRAY_SIZE(client));
}

/* Asymmetric links: one beside a single one, until there is a symmetric one */
#define S_ASYM	S_OFFER "0<add-link! 2 nic=0; 0<add-link-cont! 2; up 1; " \
		"1<confirm-link! 2; made 2 no; "
#define C_ASYM	C_START "0<add-link 2 nic=1; made 1 nic=0 n=1; " \
		"0<add-link-cont 2; 1<confirm-link 2; up 1; "
static const struct lgr_row roles[] = {
	{ "LG-21", S_OFFER "0<add-link! 2 nic=0; 0<add-link-cont! 2; up 1;",
	  "1<confirm-link! 2",
	  "agreed 1; live 1; settled ok; make 2" },
	{ "LG-27", S_OFFER "0<add-link! 2 nic=0; 0<add-link-cont! 2; up 1; "
	  "1<confirm-link! 2;",
	  "made 2 no",
	  "+retry/retry" },
	{ "LG-33 LG-32", S_ASYM
	  "0<add-link 0; made 2 nic=1 n=1; 0<add-link! 3 nic=1; "
	  "0<add-link-cont! 3; up 2;",
	  "2<confirm-link! 3",
	  "agreed 2; live 2; -retry; move 1 orderly" },
	{ "LG-33 LLC-48", S_ASYM
	  "0<add-link 0; made 2 nic=1 n=1; 0<add-link! 3 nic=1; "
	  "0<add-link-cont! 3; up 2; 2<confirm-link! 3;",
	  "moved 1",
	  "0>delete-link 2 orderly 0x50000; +step/llc" },
	{ "LG-12", S_ASYM "want-link; made 2 nic=2 n=1;", "0<add-link! 3 nic=0",
	  "fail 2 llc-link-data; 0>delete-link 3 0x40000; +step/llc" },
	{ "LG-12", C_ASYM "0<add-link 3 nic=2;", "made 2 nic=0 n=1",
	  "stop 2; 0>add-link! 3 rejected=1" },
	{ "LG-33", C_ASYM "0<add-link 3 nic=1;", "made 2 nic=1 n=1",
	  "0>add-link! 3; +step/llc" },
	{ "LG-33", C_ASYM
	  "0<add-link 3 nic=1; made 2 nic=1 n=1; 0<add-link-cont 3; "
	  "2<confirm-link 3;",
	  "up 2",
	  "live 2; -retry; 2>confirm-link! 3" },
	{ "LG-33", C_ASYM
	  "0<add-link 3 nic=1; made 2 nic=1 n=1; 0<add-link-cont 3; "
	  "2<confirm-link 3; up 2;",
	  "0<delete-link 2 orderly reason=0x50000",
	  "move 1 orderly" },
	{ "LLC-31 LG-08", S_TWO "want-link; made 2 nic=0 n=1;",
	  "0<add-link! 3 nic=0",
	  "fail 2 llc-link-data; 0>delete-link 3 0x40000; +step/llc" },
};

TEST(smcr_lgr_fsm_add__roles)
{
	covers("LG-08 LG-12 LG-21 LG-27 LG-32 LG-33 LLC-31 LLC-48");
	lgr_rows(roles, ARRAY_SIZE(roles));
}

/* The attempt that an event begins: "no", "cause 0", "again 2" .. */
static void attempt(struct lgr_rig *r, const char *event, const char *want)
{
	char got[20] = "no";
	u8 i;

	lgr_event(r, event);
	for (i = 0; i < r->out.n; i++)
		if (r->out.act[i].type == SMCR_LGR_DO_MAKE)
			snprintf(got, sizeof(got), "%s %u",
				 r->out.act[i].again ? "again" : "cause",
				 r->out.act[i].n);
	KTAP_CHECK(!strcmp(got, want), 0, "\"%s\": want %s, got %s", event,
		   want, got);
}

/* The attempt fails; T_RETRY is armed for "+retry/retry", times @times */
static void in_vain(struct lgr_rig *r, const char *times)
{
	char want[40];

	lgr_event(r, "made 1 no");
	snprintf(want, sizeof(want), "+retry/retry%s", times);
	EXPECT_STR(r->said, want);
}

/* Repeated notices after a failed attempt: the timer expires after a pause */
static void again(struct lgr_rig *r)
{
	attempt(r, "0<add-link 0", "no");
	EXPECT_STR(r->said, "+retry/pause");
	attempt(r, "0<add-link 0", "no");
	EXPECT_STR(r->said, "");
}

/*
 * The number of an attempt, for the choice of an RNIC. A notice resets the
 * back-off once until the timer expires; an own RNIC always does.
 */
TEST(smcr_lgr_fsm_add__attempts)
{
	struct lgr_rig r;
	u32 i;

	covers("FO-18 LG-27 LG-32");
	lgr_situation(&r, S_ONE);
	for (i = 1; i < 4; i++) {
		static const char *const want[] = { "", "again 1", "again 2",
						    "again 3" };
		static const char *const times[] = { "", "*2", "*4", "*8" };

		attempt(&r, "timer retry", want[i]);
		in_vain(&r, times[i]);
	}
	attempt(&r, "0<add-link 0", "cause 0");
	in_vain(&r, "");
	/* further notices: one attempt after a pause, and the back-off grows */
	for (i = 0; i < 5; i++) {
		static const char *const want[] = { "cause 1", "cause 2",
						    "cause 3", "cause 4",
						    "cause 5" };
		static const char *const times[] = { "*2", "*4", "*8", "*16",
						     "*16" };

		again(&r);
		attempt(&r, "timer retry", want[i]);
		in_vain(&r, times[i]);
	}
	/* so does one that comes while an attempt is under way */
	again(&r);
	attempt(&r, "timer retry", "cause 6");
	attempt(&r, "0<add-link 0", "no");
	attempt(&r, "made 1 no", "no");
	EXPECT_STR(r.said, "+retry/pause");
	attempt(&r, "0<add-link 0", "no");
	attempt(&r, "timer retry", "cause 7");
	lgr_event(&r, "made 1 nic=1 n=1");
	/* an offer that is under way answers the notice */
	attempt(&r, "0<add-link 0", "no");
	attempt(&r, "0<add-link! 3 rejected", "no");
	EXPECT_STR(r.said, "stop 1; +retry/retry*16");
	attempt(&r, "stopped 1", "no");
	attempt(&r, "want-link", "cause 0");
	in_vain(&r, "");
	again(&r);
	attempt(&r, "timer retry", "cause 1");
	in_vain(&r, "*2");
	/* the client has answered no attempt: the cause still holds */
	attempt(&r, "timer retry", "cause 2");
	in_vain(&r, "*4");
	attempt(&r, "0<add-link 0", "cause 0");
	in_vain(&r, "");
	/* attempts go on with other RNICs, for ever */
	for (i = 0; i < 1000; i++) {
		lgr_event(&r, "timer retry");
		EXPECT_TRUE(r.out.act[0].n);
		in_vain(&r, i < 1 ? "*2" : i < 2 ? "*4" : i < 3 ? "*8" : "*16");
	}
	/* after a new link the next notice is a first one again */
	lgr_situation(&r, S_ONE "0<add-link 0; made 1 nic=1 n=1; "
		      "0<add-link! 3 nic=1; 0<add-link-cont! 3; up 1; "
		      "1<confirm-link! 3; made 2 no; down 1 link-error; "
		      "0<delete-link! 3; stopped 1;");
	attempt(&r, "0<add-link 0", "cause 0");
	/* it has answered: no cause, unless there was a notice meanwhile */
	lgr_situation(&r, S_ONE "want-link; made 1 nic=1 n=1; "
		      "0<add-link! 3 rejected; stopped 1;");
	attempt(&r, "timer retry", "again 1");
	lgr_situation(&r, S_ONE "want-link; made 1 nic=1 n=1; 0<add-link 0; "
		      "0<add-link! 3 rejected; stopped 1;");
	attempt(&r, "timer retry", "cause 1");
	/*
	 * the attempt that follows a new link at once has no cause of its own
	 */
	lgr_situation(&r, S_OFFER "0<add-link! 2 nic=0; 0<add-link-cont! 2; "
		      "up 1;");
	attempt(&r, "1<confirm-link! 2", "again 0");
	/*
	 * A symmetric link is lost, and an asymmetric one takes its place. The RNIC of
	 * that is not offered again by the timer, but on a notice, which announces
	 * another RNIC of the client.
	 */
	lgr_situation(&r, S_TWO "down 1 link-error; 0<delete-link! 2; stopped 1; "
		      "timer retry; made 1 nic=1 n=1; 0<add-link! 3 nic=0; "
		      "0<add-link-cont! 3; up 1; 1<confirm-link! 3; made 2 no;");
	attempt(&r, "timer retry", "again 1");
	lgr_event(&r, "made 2 no");
	attempt(&r, "0<add-link 0", "cause 0");
}

/* No slot: so many links are being destroyed that another has to wait */
TEST(smcr_lgr_fsm_add__no_slot)
{
	struct lgr_rig r;
	u8 i;

	lgr_situation(&r, S_ONE);
	for (i = 1; i < SMCR_SLOTS; i++)
		r.f.slot[i].st = SMCR_SLOT_GONE;
	lgr_event(&r, "want-link");
	EXPECT_STR(r.said, "+retry/retry");
	EXPECT_EQ(r.f.step, SMCR_LGR_IDLE);
	lgr_situation(&r, C_TWO);
	for (i = 2; i < SMCR_SLOTS; i++)
		r.f.slot[i].st = SMCR_SLOT_GONE;
	lgr_event(&r, "0<add-link 3 nic=2");
	EXPECT_STR(r.said, "0>add-link! 3 rejected=1");
}

/* Numbers: one after the other, none a second time before all were used */
TEST(smcr_lgr_fsm_add__numbers)
{
	char event[40], want[40];
	struct lgr_rig r;
	u32 i, num;

	covers("LG-13");
	lgr_situation(&r, S_TWO);
	for (i = 0; i < 600; i++) {
		/* 3 .. 255, then those from 1 that are not in use */
		num = i < 253 ? 3 + i : 3 + (i - 253) % 253;
		lgr_event(&r, "want-link");
		lgr_event(&r, "made 2 nic=2 n=1");
		snprintf(want, sizeof(want), "0>add-link %u; +step/llc", num);
		EXPECT_STR(r.said, want);
		snprintf(event, sizeof(event), "0<add-link! %u rejected", num);
		lgr_event(&r, event);
		EXPECT_STR(r.said, "stop 2");
		lgr_event(&r, "stopped 2");
	}
}

/*
 * A link that stays is the oldest, however many were added and deleted
 * meanwhile: requests go over it, and its RNICs are the first of the group.
 */
TEST(smcr_lgr_fsm_add__ages)
{
	static const u64 ages[] = {
		0x7ffe, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0xffffffff,
	};
	struct smcr_pairs pairs;
	u8 slot[SMCR_SLOTS];
	struct lgr_rig r;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ages); i++) {
		lgr_situation(&r, S_CONF);
		r.f.ages = ages[i];
		lgr_event(&r, "2<confirm-link! 3");
		EXPECT_EQ(smcr_lgr_send_slot(&r.f), 0);
		smcr_lgr_pairs(&r.f, &pairs, slot);
		EXPECT_EQ(slot[0], 0);
		EXPECT_EQ(slot[2], 2);
		lgr_event(&r, "made 3 nic=3 n=1");
		KTAP_CHECK(!strcmp(r.said, "0>add-link 4; +step/llc"), 0,
			   "after %llu links: \"%s\"", ages[i], r.said);
	}
}
