// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of net/core/lgr_fsm_first.c and of the second link in first contact:
 * RFC 7609 3.5.1.5, 3.5.1.6, C.2, C.3, C.7.1 (conformance catalogue, E.2).
 */
#include "lgr_rows.h"

/* First contact, up to a step: server, client */
#define S_FMAKE	"S: first; "
#define S_FUP	S_FMAKE "made 1 nic=1 n=1; "
#define S_FSEND	S_FUP "up 0; "
#define S_ASEND	S_START "0<confirm-link! 1; "
#define S_FCONT	S_OFFER "0<add-link! 2 nic=1; "
#define S_FLINK	S_FCONT "0<add-link-cont! 2; "
#define S_FCONF	S_FLINK "up 1; "
#define S_FDEL	S_FCONF "timer step; "
#define C_FIRST	"C: first; "
#define C_FUP	C_FIRST "0<confirm-link 1; "
#define C_FSEND	C_FUP "up 0; "
#define C_FMAKE	C_START "0<add-link 2 nic=1; "
#define C_FCONT	C_FMAKE "made 1 nic=1 n=1; "
#define C_FCONF	C_FCONT "0<add-link-cont 2; "
#define C_FLINK	C_FCONF "1<confirm-link 2; "
#define C_FLOST	C_FCONF "timer step; "

/* Success */
static const struct lgr_row well[] = {
	{ "LG-19 CLC-57", "S:", "first nic=0 peer=0",
	  "make 1" },
	{ "LG-50", S_FMAKE, "made 1 nic=1 n=1",
	  "up 0" },
	{ "LLC-18 LLC-10", S_FUP, "up 0",
	  "0>confirm-link 1 #first; +step/first-send" },
	{ "LLC-11", S_FSEND, "first-sent 0",
	  "+step/first" },
	{ "LG-18 LLC-27", S_START, "0<confirm-link! 1",
	  "agreed 0; live 0; 0>add-link 2 #first; +step/first-send" },
	/* from here a Decline can follow no more (I-36) */
	{ "CLC-57", S_ASEND, "first-sent 0",
	  "+step/first; no-return 0" },
	{ "CLC-57 LLC-36", S_ASEND, "0<add-link! 2 nic=1",
	  "+step/first; no-return 0; connect 1; 0>add-link-cont 2 n=1; "
	  "+step/first" },
	{ "LG-24 LLC-36", S_OFFER, "0<add-link! 2 nic=1",
	  "connect 1; 0>add-link-cont 2 n=1; +step/first" },
	/* the connection is not active before the second link is */
	{ "CLC-65 LG-24 CONN-02", S_FCONT, "0<add-link-cont! 2",
	  "learn 1; up 1" },
	{ "CLC-65 LG-24 LLC-18 CONN-02", S_FLINK, "up 1",
	  "1>confirm-link 2; +step/first" },
	{ "CLC-65 LG-52 LLC-45", S_FCONF, "1<confirm-link! 2",
	  "agreed 1; live 1; -retry; settled ok; make 2" },
	{ "CLC-37 LLC-26", "C:", "first nic=0 peer=0",
	  "+step/first" },
	{ "LLC-20 LG-50", C_FIRST, "0<confirm-link 1",
	  "agreed 0; up 0" },
	{ "LLC-20", C_FUP, "up 0",
	  "live 0; 0>confirm-link! 1 #first; +step/first-send" },
	{ "LLC-34", C_FSEND, "first-sent 0",
	  "+step/first" },
	{ "LG-21", C_START, "0<add-link 2 nic=1",
	  "make 1" },
	/* the server's next message may overtake the own send completion */
	{ "LG-21", C_FSEND, "0<add-link 2 nic=1",
	  "make 1" },
	{ "CLC-65 LG-22 LLC-28", C_FMAKE, "made 1 nic=1 n=1",
	  "0>add-link! 2; +step/first" },
	{ "CLC-65 LLC-36", C_FCONT, "0<add-link-cont 2",
	  "learn 1; 0>add-link-cont! 2 n=1; +step/first" },
	{ "LLC-20 LLC-05", C_FCONF, "1<confirm-link 2",
	  "up 1; agreed 1" },
	{ "CLC-65 LG-52 LLC-45", C_FLINK, "up 1",
	  "live 1; -retry; settled ok; 1>confirm-link! 2" },
};

TEST(smcr_lgr_fsm_first__well)
{
	covers("CLC-37 CLC-57 CLC-65 LG-18 LG-19 LG-21 LG-22 LG-24 LG-50");
	covers("LG-52 LLC-05 LLC-10 LLC-11 LLC-18 LLC-20 LLC-26 LLC-27");
	covers("LLC-28 LLC-34 LLC-36 LLC-45 CONN-02");
	lgr_rows(well, ARRAY_SIZE(well));
}

/* The first link fails: fallback to TCP as long as a Decline is possible */
static const struct lgr_row first_link[] = {
	{ "CLC-57", S_FMAKE, "made 1 no qp-fail",
	  "settled decline qp-fail" },
	{ "CLC-57", S_FMAKE, "down 0 link-device",
	  "settled decline confirm-link-fail" },
	{ "CLC-57", S_FUP, "up 0 no mr-fail",
	  "settled decline mr-fail" },
	{ "CLC-57", S_FUP, "down 0 link-error",
	  "settled decline mr-fail" },
	/* the server's message is not delivered: Decline */
	{ "CLC-63 LLC-12", S_FSEND, "timer step",
	  "settled decline confirm-link-fail" },
	{ "CLC-63 LLC-12", S_FSEND, "down 0 link-error",
	  "settled decline confirm-link-fail" },
	/* it was delivered, and there is no answer: RST */
	{ "CLC-62 LLC-23 LLC-10", S_START, "timer step",
	  "settled reset llc-timeout" },
	{ "LLC-23", S_START, "down 0 link-error",
	  "settled reset link-error" },
	{ "LLC-22", S_START, "0<confirm-link! 1 wrong-data",
	  "settled reset llc-link-data" },
	{ "LLC-22", S_START, "0<confirm-link! 7",
	  "settled reset llc-link-data" },
	{ "LLC-08", S_START, "0<add-link! 2",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	{ "LLC-07 SEC-10", S_START, "down 0 llc-opcode",
	  "settled reset llc-opcode" },
	{ "LLC-07 SEC-10", S_FSEND, "down 0 llc-opcode",
	  "settled reset llc-opcode" },
	{ "LLC-07 SEC-10", S_FMAKE, "down 0 llc-opcode",
	  "settled reset llc-opcode" },
	/* client */
	{ "CLC-62 LLC-26", C_FIRST, "timer step",
	  "settled reset llc-timeout" },
	{ "LLC-21", C_FIRST, "0<confirm-link 1 wrong-data",
	  "settled decline bad-link-data" },
	{ "LLC-21", C_FIRST, "0<confirm-link 0",
	  "settled decline bad-link-data" },
	{ "CLC-58", C_FIRST, "down 0 link-error",
	  "settled decline confirm-link-fail" },
	{ "LLC-07 SEC-10", C_FIRST, "down 0 llc-opcode",
	  "settled reset llc-opcode" },
	{ "LLC-08", C_FIRST, "0<add-link 2",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	{ "LLC-08", C_FIRST, "0<confirm-link! 1",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	{ "CLC-58", C_FUP, "up 0 no qp-fail",
	  "settled decline qp-fail" },
	{ "CLC-58", C_FUP, "down 0 link-error",
	  "settled decline mr-fail" },
	{ "LLC-08", C_FUP, "0<confirm-link 1",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	{ "CLC-63 LLC-12", C_FSEND, "timer step",
	  "settled decline confirm-link-fail" },
	{ "CLC-63 LLC-12", C_FSEND, "down 0 link-device",
	  "settled decline confirm-link-fail" },
	{ "CLC-62 LLC-34", C_START, "timer step",
	  "settled reset llc-timeout" },
	{ "LLC-34 LLC-12", C_START, "down 0 link-error",
	  "settled reset link-error" },
	{ "LLC-08", C_START, "0<confirm-link 1",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	/* the group ends during first contact */
	{ "LG-40", C_START, "0<delete-link 0 all reason=0x20000",
	  "settled reset lgr-deleted; dead lgr-deleted; lose; release" },
	{ "LG-41", S_START, "0<delete-link 0 all reason=0x20000",
	  "settled reset lgr-deleted; dead lgr-deleted; lose; release" },
	{ "LG-41", S_OFFER, "0<delete-link 0 all reason=0x20000",
	  "settled reset lgr-deleted; dead lgr-deleted; lose; 0>delete-link all 0x20000 #end; "
	  "+end/llc" },
	{ "LLC-47", C_START, "0<delete-link 1",
	  "settled reset link-deleted; dead link-deleted; lose; 0>delete-link! 1 0x10000 #end; "
	  "+end/llc" },
	{ "LLC-47", C_FCONF, "0<delete-link 1",
	  "settled reset link-deleted; dead link-deleted; lose; 0>delete-link! 1 0x10000 #end; "
	  "+end/llc" },
	/* the caller ends it without a message */
	{ "CLC-57", S_START "timer step;", "want-end",
	  "release" },
	{ "CLC-58", C_START "timer step;", "want-end",
	  "release" },
	{ "LLC-08", S_START "timer step;", "0<confirm-link! 1",
	  "" },
};

TEST(smcr_lgr_fsm_first__first_link)
{
	covers("CLC-57 CLC-58 CLC-62 CLC-63 LG-40 LG-41 LLC-07 LLC-08");
	covers("LLC-10 LLC-12 LLC-21 LLC-22 LLC-23 LLC-26 LLC-34 LLC-47 SEC-10");
	lgr_rows(first_link, ARRAY_SIZE(first_link));
}

/* The second link's RNIC is removed before the offer: another one, later */
static const struct lgr_row early_loss[] = {
	{ "CLC-57", S_FMAKE, "down 1 link-device",
	  "stop 1; settled decline qp-fail" },
	{ "CLC-57", S_FMAKE "down 1 link-device;", "made 1 nic=1",
	  "" },
	{ "LG-18", S_FUP, "down 1 link-device",
	  "stop 1" },
	{ "LG-18", S_FUP "down 1 link-device;", "up 0",
	  "0>confirm-link 1 #first; +step/first-send" },
	{ "LG-18", S_START, "down 1 link-device",
	  "stop 1" },
	{ "LG-18", S_START "down 1 link-device;", "0<confirm-link! 1",
	  "agreed 0; live 0; make 2" },
	/* an offer has to follow: the client waits for ADD LINK (LLC-34) */
	{ "LG-18 LLC-34", S_START "down 1 link-device; 0<confirm-link! 1;",
	  "made 2 no",
	  "settled decline add-link-fail" },
	{ "LG-18", S_START "down 1 link-device; 0<confirm-link! 1;",
	  "made 2 nic=1 n=1",
	  "0>add-link 2 #first; +step/first-send" },
	{ "LG-18", S_START "down 1 link-device; 0<confirm-link! 1;",
	  "down 2 link-device",
	  "stop 2; settled decline add-link-fail" },
	{ "LLC-32", S_START "down 1 link-device; 0<confirm-link! 1;",
	  "down 0 link-error",
	  "settled reset link-error" },
};

TEST(smcr_lgr_fsm_first__second_rnic_goes)
{
	covers("CLC-57 LG-18 LLC-32 LLC-34");
	lgr_rows(early_loss, ARRAY_SIZE(early_loss));
}

/* The offer of the second link fails */
static const struct lgr_row offer[] = {
	{ "CLC-57 LLC-12", S_ASEND, "timer step",
	  "settled decline add-link-fail" },
	{ "CLC-57 LLC-12", S_ASEND, "down 0 link-error",
	  "settled decline add-link-fail" },
	{ "CLC-62 LLC-32", S_OFFER, "timer step",
	  "settled reset llc-timeout" },
	{ "LLC-32 LLC-12", S_OFFER, "down 0 link-error",
	  "settled reset link-error" },
	{ "LLC-29", S_OFFER, "0<add-link! 2 mtu=0",
	  "settled reset llc-link-data" },
	{ "LLC-29", S_OFFER, "0<add-link! 2 mtu=6",
	  "settled reset llc-link-data" },
	{ "LLC-08", S_OFFER, "0<add-link! 3",
	  "settled reset llc-link-data" },
	{ "LLC-74", S_OFFER, "0<add-link 0",
	  "" },
	/* without redundancy: LG-26 */
	{ "LG-23 LG-26 LG-27", S_OFFER, "0<add-link! 2 rejected",
	  "stop 1; settled ok; +retry/retry" },
	/* reply before the send completion */
	{ "LG-23 CLC-57", S_ASEND, "0<add-link! 2 rejected",
	  "+step/first; no-return 0; stop 1; settled ok; +retry/retry" },
	/* parallel: DELETE LINK to the client, and no data before its reply */
	{ "LLC-31 LG-08 CONN-02 CLC-65", "S: first; made 1 nic=0 n=1; up 0; 0<confirm-link! 1;",
	  "0<add-link! 2 nic=0",
	  "+step/first; no-return 0; fail 1 llc-link-data; "
	  "0>delete-link 2 0x40000; +step/first" },
	{ "LG-12", S_OFFER, "0<add-link! 2 nic=0",
	  "connect 1; 0>add-link-cont 2 n=1; +step/first" },
	/* client */
	{ "LG-20 LLC-28", C_FMAKE, "made 1 no",
	  "settled ok; 0>add-link! 2 rejected=1" },
	{ "LG-20", C_FMAKE, "down 1 link-device",
	  "stop 1; settled ok; 0>add-link! 2 rejected=1" },
	{ "LG-08", C_START "0<add-link 2 nic=0;", "made 1 nic=0 n=1",
	  "stop 1; settled ok; 0>add-link! 2 rejected=1" },
	{ "CLC-65 LG-21", C_FMAKE, "made 1 nic=0 n=1",
	  "0>add-link! 2; +step/first" },
	{ "LLC-29", C_START, "0<add-link 2 mtu=0",
	  "settled ok; 0>add-link! 2 rejected=2" },
	{ "LLC-29", C_START, "0<add-link 2 mtu=6",
	  "settled ok; 0>add-link! 2 rejected=2" },
	{ "LLC-08", C_START, "0<add-link 0",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	{ "LLC-08", C_START, "0<add-link 2 qpn=0",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	{ "LLC-08", C_START, "0<add-link 1",
	  "settled reset llc-link-data" },
	/* the server does without the second link, as Linux after 2 s */
	{ "LLC-15", C_FMAKE, "0<add-link 3",
	  "stop 1; settled ok; make 2" },
	{ "LLC-15", C_FCONT, "0<add-link 3",
	  "stop 1; settled ok; make 2" },
	{ "LLC-15", C_FCONT, "0<confirm-rkey n=0",
	  "stop 1; settled ok; learn-rmb 0 last; 0>confirm-rkey! n=0" },
	{ "LLC-08", C_START, "0<confirm-rkey n=0",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	{ "LLC-12", C_FMAKE, "down 0 link-error",
	  "settled reset link-error" },
};

TEST(smcr_lgr_fsm_first__offer)
{
	covers("CLC-57 LG-08 LG-12 LG-20 LG-21 LG-23 LG-26 LG-27 LLC-08");
	covers("LLC-12 LLC-15 LLC-28 LLC-29 LLC-31 LLC-32 LLC-74 CONN-02");
	covers("CLC-62 CLC-65");
	lgr_rows(offer, ARRAY_SIZE(offer));
}

/* RTokens, and the second link itself */
static const struct lgr_row second_link[] = {
	{ "CLC-62 LLC-42", S_FCONT, "timer step",
	  "settled reset llc-timeout" },
	{ "LLC-42 LLC-12", S_FCONT, "down 0 link-error",
	  "settled reset link-error" },
	{ "LLC-40", S_FCONT "0<add-link-cont! 2 n=3;", "0<add-link-cont! 2 n=2",
	  "settled reset llc-count" },
	{ "LLC-08", S_FCONT, "0<add-link-cont! 3",
	  "settled reset llc-link-data" },
	{ "CLC-62 LLC-42", C_FCONT, "timer step",
	  "settled reset llc-timeout" },
	{ "CLC-58 LLC-42 LLC-12", C_FCONT, "down 0 link-error",
	  "settled reset link-error" },
	{ "LLC-42", C_FSEND "0<add-link 2 nic=1; made 1 nic=1 n=1;",
	  "timer step",
	  "settled reset llc-timeout" },
	{ "LLC-40", C_FCONT "0<add-link-cont 2 n=3;", "0<add-link-cont 2 n=2",
	  "settled reset llc-count" },
	{ "LLC-08", C_FCONT, "0<add-link-cont 3",
	  "settled reset llc-link-data" },
	/* it cannot be confirmed: DELETE LINK, and no data before the reply */
	{ "LG-25 LLC-24 CONN-02 CLC-65", S_FCONF, "timer step",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-25 LLC-24", S_FCONF, "down 1 link-error",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-25 LLC-48", S_FCONF, "down 1 llc-opcode",
	  "fail 1 llc-link-data; 0>delete-link 2 0x40000; +step/first" },
	{ "LG-25 LLC-22", S_FCONF, "1<confirm-link! 2 wrong-data",
	  "fail 1 llc-link-data; 0>delete-link 2 0x40000; +step/first" },
	{ "LG-25 LLC-22", S_FCONF, "1<confirm-link! 3",
	  "fail 1 llc-link-data; 0>delete-link 2 0x40000; +step/first" },
	{ "LG-25 LLC-05", S_FCONF, "0<confirm-link! 2",
	  "fail 1 llc-link-data; 0>delete-link 2 0x40000; +step/first" },
	{ "LG-25", S_FLINK, "up 1 no",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-25", S_FLINK, "down 1 link-device",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-25", S_OFFER, "down 1 link-device",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-25", S_FCONT, "down 1 link-device",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-25 LLC-43", S_FCONF, "0<delete-link 2",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-25 LLC-43", S_FLINK "0<delete-link 2;", "up 1",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-26 LG-25 CONN-02 CLC-65", S_FDEL, "0<delete-link! 2",
	  "stop 1; settled ok; +retry/retry" },
	{ "LG-25", S_FDEL, "0<delete-link 2",
	  "" },
	{ "LG-25", S_FDEL, "1<confirm-link! 2",
	  "" },
	/* the reply that the RNIC's loss overtook (I-20) */
	{ "LG-25", S_OFFER "down 1 link-device;", "0<add-link! 2 nic=1",
	  "" },
	{ "LG-25", S_FCONT "down 1 link-device;", "0<add-link-cont! 2",
	  "" },
	{ "LG-25", S_OFFER "down 1 link-device; 0<add-link! 2 nic=1;",
	  "0<delete-link! 2",
	  "stop 1; settled ok; +retry/retry" },
	/* that is not answered, either: the only link has failed */
	{ "LLC-50", S_FDEL, "timer step",
	  "settled reset llc-timeout" },
	{ "LLC-50 LLC-12", S_FDEL, "down 0 link-error",
	  "settled reset link-error" },
	{ "LLC-50", S_FDEL, "0<delete-link! 3",
	  "settled reset llc-link-data" },
	{ "LLC-50", S_FCONF, "down 0 link-error",
	  "settled reset link-error" },
	/* client; the timer is first contact's (LLC-11) */
	{ "CLC-65 LLC-43 LG-25 LLC-11", C_FCONF, "timer step",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +notice1/first; "
	  "+retry/retry" },
	{ "LLC-43 LG-25", C_FCONF, "down 1 link-error",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +notice1/first; "
	  "+retry/retry" },
	{ "LLC-43 LLC-48", C_FCONF, "down 1 llc-opcode",
	  "fail 1 llc-link-data; 0>delete-link 2 0x40000; "
	  "+notice1/first; +retry/retry" },
	{ "LLC-21 LLC-43", C_FCONF, "1<confirm-link 2 wrong-data",
	  "fail 1 llc-link-data; 0>delete-link 2 0x40000; "
	  "+notice1/first; +retry/retry" },
	{ "LLC-05 LLC-21 LLC-43", C_FCONF, "0<confirm-link 2",
	  "fail 1 llc-link-data; 0>delete-link 2 0x40000; "
	  "+notice1/first; +retry/retry" },
	{ "LLC-21 LLC-43", C_FCONF, "1<confirm-link 3",
	  "fail 1 llc-link-data; 0>delete-link 2 0x40000; "
	  "+notice1/first; +retry/retry" },
	{ "LLC-43", C_FLINK, "up 1 no",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +notice1/first; "
	  "+retry/retry" },
	{ "LLC-43", C_FLINK, "down 1 link-error",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +notice1/first; "
	  "+retry/retry" },
	{ "LLC-43", C_FCONT, "down 1 link-device",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +notice1/first; "
	  "+retry/retry" },
	{ "LLC-43 LLC-42", C_FCONT "down 1 link-device;", "0<add-link-cont 2",
	  "0>add-link-cont! 2 n=1" },
	{ "CLC-65 LLC-43", C_FLOST, "0<delete-link 2",
	  "settled ok; 0>delete-link! 2 0x10000 #answer 1; -notice1" },
	{ "LLC-43 LG-36", C_FLOST "0<delete-link 2;", "answer-sent 1",
	  "stop 1" },
	{ "LLC-43", C_FLOST "0<delete-link 2; answer-sent 1; stopped 1;",
	  "timer retry",
	  "+retry/retry*2; 0>add-link" },
	{ "LLC-49", C_FLOST, "0<delete-link! 2 reason=0x100000",
	  "settled ok; -notice1; stop 1" },
	{ "LLC-43 LLC-54", C_FLOST, "1<confirm-link 2",
	  "" },
	{ "LLC-51", C_FLOST, "timer notice 1",
	  "settled reset llc-timeout" },
	{ "LLC-51 LLC-12", C_FLOST, "down 0 link-error",
	  "settled reset link-error" },
	{ "LLC-08", C_FLOST, "0<confirm-link 2",
	  "fail 0 llc-unexpected; settled reset llc-unexpected" },
	/* the server has given it up */
	{ "LLC-24", C_FCONT, "0<delete-link 2",
	  "settled ok; 0>delete-link! 2 0x10000 #answer 1; "
	  "+retry/retry" },
	{ "LLC-24", C_FCONF, "0<delete-link 2",
	  "settled ok; 0>delete-link! 2 0x10000 #answer 1; "
	  "+retry/retry" },
	{ "LLC-24", C_FLINK, "0<delete-link 2",
	  "settled ok; 0>delete-link! 2 0x10000 #answer 1; "
	  "+retry/retry" },
	{ "CLC-58 LLC-12", C_FCONF, "down 0 link-error",
	  "settled reset link-error" },
	{ "CLC-58 LLC-12", C_FLINK, "down 0 link-error",
	  "settled reset link-error" },
};

TEST(smcr_lgr_fsm_first__second_link)
{
	covers("LG-25 LG-26 LG-36 LLC-05 LLC-08 LLC-11 LLC-12 LLC-21 LLC-22");
	covers("LLC-24 LLC-40 LLC-42 LLC-43 LLC-48 LLC-49 LLC-50 LLC-51");
	covers("LLC-54 CONN-02 CLC-58 CLC-62 CLC-65");
	lgr_rows(second_link, ARRAY_SIZE(second_link));
}

/*
 * A server that wants one link only: it offers a second one in first contact, as it
 * has to (LG-18), withdraws it if the client accepts, and never offers again.
 */
#define S1_OFFER "S1: first; made 1 nic=0 n=0; up 0; first-sent 0; " \
		 "0<confirm-link! 1; first-sent 0; "
#define S1_TAKEN S1_OFFER "0<add-link! 2 nic=1; 0<delete-link! 2; stopped 1; "
#define S1_ONE	S1_OFFER "0<add-link! 2 rejected; stopped 1; "
static const struct lgr_row single[] = {
	{ "LG-18", S1_OFFER, "0<add-link! 2 rejected",
	  "stop 1; settled ok" },
	{ "LG-18 LG-25", S1_OFFER, "0<add-link! 2 nic=1",
	  "fail 1 link-error; 0>delete-link 2 0x10000; +step/first" },
	{ "LG-25 LG-52", S1_OFFER "0<add-link! 2 nic=1;", "0<delete-link! 2",
	  "stop 1; settled ok" },
	{ "LG-11 LG-32", S1_ONE, "0<add-link 0", "" },
	{ "LG-11 LG-32", S1_TAKEN, "0<add-link 0", "" },
	{ "LG-11", S1_TAKEN, "want-link", "" },
	{ "LG-11", S1_ONE "want-rkey; ready;", "0<confirm-rkey! n=0",
	  "rkey-done ok; -rkey" },
	{ "LLC-15", S1_OFFER "0<delete-rkey; want-rkey;",
	  "0<add-link! 2 rejected",
	  "stop 1; settled ok; forget-rmb 0; 0>delete-rkey!; prepare" },
	/* such a client never sends a notice */
	{ "LG-31", "C1: first; 0<confirm-link 1; up 0; first-sent 0; "
	  "0<add-link 2; made 1 no;", "want-link", "" },
};

TEST(smcr_lgr_fsm_first__one_link_only)
{
	covers("LG-11 LG-18 LG-25 LG-31 LG-32 LG-52 LLC-15");
	lgr_rows(single, ARRAY_SIZE(single));
}
