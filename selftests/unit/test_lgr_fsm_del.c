// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of net/core/lgr_fsm_del.c and lgr_fsm_asked.c: links that fail, DELETE LINK
 * and the end of the group, RFC 7609 2.3, 3.5.4, 3.5.5.1.3, 3.5.5.1.4, C.7.1
 * (conformance catalogue, LG, E.2).
 */
#include "lgr_rows.h"

/* Server; S_NOTED: the client's notice arrives during another exchange */
#define S_NOTED	S_TWO "want-rkey; ready; 0<delete-link 2 orderly reason=0x20000; "
static const struct lgr_row server[] = {
	/* by the operator: connections move first, then the client is asked */
	{ "LG-34 FO-16", S_THREE, "want-del 2 orderly",
	  "move 2 orderly" },
	{ "LG-34 FO-16", S_THREE, "want-del 2",
	  "move 2" },
	{ "LG-34 LLC-46 LLC-48", S_MOVE, "moved 2",
	  "0>delete-link 3 orderly 0x20000; +step/llc" },
	{ "LG-35", S_DEL, "0<delete-link! 3",
	  "stop 2" },
	{ "LG-35", S_DEL "0<delete-link! 3;", "stopped 2",
	  "" },
	{ "LG-34", S_THREE "want-del 2 reason=0x30000;", "moved 2",
	  "0>delete-link 3 0x30000; +step/llc" },
	/* not the only one, nor one that is being deleted already */
	{ "LG-34", S_ONE, "want-del 0 orderly",
	  "" },
	{ "LG-34", S_MOVE, "want-del 2",
	  "" },
	{ "LG-34", S_MOVE, "want-del 5",
	  "" },
	{ "LG-34", S_TWO
	  "want-rkey; ready; want-del 0 orderly; want-del 1 orderly;",
	  "0<confirm-rkey! n=1",
	  "rkey-done ok; -rkey; move 0 orderly" },
	{ "LG-34", S_TWO
	  "want-rkey; ready; want-del 0 orderly; want-del 1 orderly; "
	  "0<confirm-rkey! n=1; moved 0;",
	  "1<delete-link! 1",
	  "stop 0; +retry/retry" },
	/* each side wants to delete one: the client's goes (LLC-54) */
	{ "LLC-54", S_TWO
	  "want-rkey; ready; want-del 0 orderly; 0<delete-link 2 orderly reason=0x20000;",
	  "0<confirm-rkey! n=1",
	  "rkey-done ok; -rkey; move 1 orderly" },
	{ "LLC-54", S_TWO
	  "want-rkey; ready; want-del 0 orderly; 0<delete-link 2 orderly reason=0x20000; "
	  "0<confirm-rkey! n=1; moved 1;",
	  "0<delete-link! 2",
	  "stop 1; +retry/retry" },
	/* the own one carries the request, though younger: it is not ignored */
	{ "LLC-54", S_TWO
	  "want-rkey; want-del 1 orderly; 1<delete-link 1 orderly reason=0x20000;",
	  "ready",
	  "1>confirm-rkey n=1; +rkey/llc" },
	{ "LG-34", S_TWO
	  "want-rkey; ready; 0<delete-link 2 orderly reason=0x20000; want-del 0 orderly;",
	  "0<confirm-rkey! n=1",
	  "rkey-done ok; -rkey; move 1 orderly" },
	{ "LG-34", S_THREE
	  "want-rkey; ready; 0<delete-link 2 orderly reason=0x20000; want-del 0 orderly;",
	  "0<confirm-rkey! n=2",
	  "rkey-done ok; -rkey; move 1 orderly" },
	/* a link fails: move, then delete it over another (LLC-46) */
	{ "LLC-46 LLC-48 LG-48", S_TWO, "down 0 link-error",
	  "move 0; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-46 LLC-48", S_TWO, "down 1 link-device",
	  "move 1; 0>delete-link 2 0x10000; +step/llc" },
	{ "LLC-48", S_TWO, "down 0 llc-flood",
	  "move 0; 1>delete-link 1 0x40000; +step/llc" },
	{ "LLC-48", S_TWO, "down 0 llc-test-data",
	  "move 0; 1>delete-link 1 0x40000; +step/llc" },
	{ "LG-26 LG-27", S_TWO "down 0 link-error;", "1<delete-link! 1",
	  "stop 0; +retry/retry" },
	/* no second failure, and none of a deleted link */
	{ "FO-02", S_TWO "down 0 link-error;", "down 0 link-error",
	  "" },
	{ "FO-02", S_TWO "down 0 link-error; 1<delete-link! 1;",
	  "down 0 link-error",
	  "" },
	{ "FO-02", S_TWO, "down 7 link-error",
	  "" },
	{ "LG-44 CONN-32", S_ONE, "down 0 link-error",
	  "dead link-error; lose; release" },
	{ "LG-44 CONN-32", S_TWO "down 0 link-error;", "down 1 link-device",
	  "dead link-device; lose; release" },
	/* no reply: the carrying link has failed, too; both go over a third */
	{ "LLC-50 LLC-10 FO-21", S_DEL, "timer step",
	  "fail 0 llc-timeout; move 0; 1>delete-link 3 orderly 0x20000; "
	  "+step/llc" },
	{ "LLC-50", S_DEL "timer step;", "1<delete-link! 3",
	  "stop 2; +retry/retry; 1>delete-link 1 0x10000; +step/llc" },
	{ "LLC-50", S_DEL "timer step; 1<delete-link! 3;", "1<delete-link! 1",
	  "stop 0; +retry/retry*2" },
	{ "LLC-50 LLC-12", S_DEL, "down 0 link-error",
	  "move 0; 1>delete-link 3 orderly 0x20000; +step/llc" },
	{ "LLC-50 LG-44", S_TWO "down 0 link-error;", "timer step",
	  "fail 1 llc-timeout; dead llc-timeout; lose; release" },
	/* a reply names the request's link, and arrives where that was sent */
	{ "LLC-08", S_DEL, "0<delete-link! 1",
	  "fail 0 llc-link-data; move 0; "
	  "1>delete-link 3 orderly 0x20000; +step/llc" },
	{ "LLC-04", S_DEL, "1<delete-link! 3",
	  "fail 1 llc-link-data; move 1" },
	{ "LLC-08", S_TWO, "0<delete-link! 1",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 1 0x40000; "
	  "+step/llc" },
	/* begun again over another link: the reply to the first request (I-20) */
	{ "LLC-54", S_DEL "1<delete-link 1 orderly;", "0<delete-link! 3",
	  "" },
	{ "LLC-54", S_DEL "1<delete-link 1 orderly;", "1<delete-link! 3",
	  "stop 2; move 0 orderly" },
	/* failures while connections move */
	{ "LG-34", S_MOVE, "down 2 link-error",
	  "" },
	{ "LG-34", S_MOVE "down 2 link-error;", "moved 2",
	  "0>delete-link 3 0x20000; +step/llc" },
	{ "LG-34", S_MOVE, "down 0 link-error",
	  "move 0" },
	{ "LG-34", S_MOVE "down 0 link-error;", "moved 2",
	  "1>delete-link 3 orderly 0x20000; +step/llc" },
	{ "LG-34", S_DEL, "down 2 link-error",
	  "" },
	/* of the remaining links the one that still works stays */
	{ "FO-24", S_MOVE "down 0 link-error;", "down 1 link-error",
	  "stay 2; move 1; 2>delete-link 1 0x10000; +step/llc" },
	/* it stays until there is another one, for which there are retries */
	{ "LG-34", S_TWO "want-del 1 orderly; down 0 link-error; 1<delete-link! 1; "
	  "stopped 0; timer retry; made 0 nic=2 n=1; 1<add-link! 3 nic=2; "
	  "1<add-link-cont! 3; up 0;", "0<confirm-link! 3",
	  "agreed 0; live 0; -retry; move 1 orderly" },
	{ "LG-34", S_TWO "want-del 1 orderly; down 0 link-error; 1<delete-link! 1; "
	  "stopped 0; timer retry; made 0 nic=2 n=1; 1<add-link! 3 nic=2; "
	  "1<add-link-cont! 3; up 0; 0<confirm-link! 3;", "moved 1",
	  "0>delete-link 2 orderly 0x20000; +step/llc" },
	/* if the client wanted to delete it, it has to send another notice */
	{ "LG-34", S_TWO "0<delete-link 2 orderly reason=0x20000; down 0 link-error; "
	  "moved 1; 1<delete-link! 1; stopped 0; timer retry; made 0 nic=2 n=1; "
	  "1<add-link! 3 nic=2; 1<add-link-cont! 3; up 0;", "0<confirm-link! 3",
	  "agreed 0; live 0; -retry; make 2" },
	{ "FO-24 LG-38", S_TWO "0<delete-link 2 orderly reason=0x20000; moved 1;",
	  "1<delete-link 1 reason=0x10000",
	  "stay 1; fail 0 link-deleted; move 0; "
	  "1>delete-link 1 0x10000; +step/llc" },
	{ "FO-24 LG-38", S_TWO "0<delete-link 2 orderly reason=0x20000; moved 1;",
	  "down 0 link-error",
	  "stay 1; move 0; 1>delete-link 1 0x10000; +step/llc" },
	{ "LG-44", S_MOVE "down 0 link-error; down 1 link-error;",
	  "down 2 link-error", "dead link-error; lose; release" },
	/* the client may ignore requests there until its own timer expires */
	{ "LLC-50 LLC-54", S_TWO "0<delete-link 2 orderly reason=0x20000; moved 1; "
	  "down 0 link-error;", "timer step",
	  "+step/notice" },
	{ "LLC-50 LLC-54", S_TWO "0<delete-link 2 orderly reason=0x20000; moved 1; "
	  "down 0 link-error; timer step;", "timer step",
	  "fail 1 llc-timeout; dead llc-timeout; lose; release" },
	{ "LLC-50 LLC-54", S_TWO "0<delete-link 2 orderly reason=0x20000; moved 1; "
	  "down 0 link-error; timer step;", "1<delete-link! 1",
	  "stop 0; +retry/retry" },
	/* the client ignores requests there, and has to report that it stays */
	{ "FO-24 LG-38", S_NOTED, "down 0 link-error",
	  "move 0; rkey-done again link-error; -rkey; +notice1/notice" },
	{ "FO-24 LG-38", S_REPLY "0<delete-link 2 orderly reason=0x20000;",
	  "down 0 link-error",
	  "move 0; fail 2 link-error; +notice1/notice" },
	{ "FO-24 LG-38", S_NOTED "down 0 link-error;",
	  "1<delete-link 1 reason=0x10000",
	  "-notice1; 1>delete-link 1 0x10000; +step/llc" },
	{ "FO-24 LG-38", S_NOTED "down 0 link-error; 1<delete-link 1 reason=0x10000;",
	  "1<delete-link! 1",
	  "stop 0; +retry/retry" },
	/* nothing is begun before that */
	{ "LLC-54", S_NOTED "down 0 link-error;", "want-rkey",
	  "" },
	{ "LLC-54", S_NOTED "down 0 link-error;", "want-link",
	  "" },
	{ "LLC-54", S_NOTED "down 0 link-error; want-rkey; "
	  "1<delete-link 1 reason=0x10000;", "1<delete-link! 1",
	  "stop 0; +retry/retry; prepare" },
	{ "LLC-54", S_TWO "want-rkey; 0<delete-link 2 orderly reason=0x20000; "
	  "down 0 link-error;", "ready",
	  "+notice1/notice" },
	{ "LLC-17", S_NOTED "down 0 link-error;", "1<delete-rkey",
	  "forget-rmb 1; 1>delete-rkey!" },
	/* the wait for it has an end */
	{ "LLC-54 LG-40", S_NOTED "down 0 link-error;", "timer notice 1",
	  "dead link-deleted; lose; "
	  "1>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LG-44", S_NOTED "down 0 link-error;", "down 1 link-error",
	  "dead link-error; lose; release" },
	/* a reply on it shows that, too, if the notice is older */
	{ "FO-24 LLC-54", S_THREE "want-del 0; moved 0; 1<delete-link 2 reason=0x10000; "
	  "0<delete-link 3 orderly reason=0x20000;", "2<delete-link! 1 reason=0x100000",
	  "stop 0; +retry/retry; 2>delete-link 2 0x10000; +step/llc" },
	/* not if the client asks again there, or has lost it */
	{ "LLC-47", S_NOTED "down 0 link-error;",
	  "1<delete-link 2 orderly reason=0x20000",
	  "-notice1; dead link-deleted; lose; "
	  "1>delete-link 2 orderly 0x20000 #end; +end/llc" },
	{ "LLC-54 LG-40", S_TWO "want-rkey; ready; 0<delete-link 2 orderly reason=0x10000;",
	  "down 0 link-error",
	  "move 0; rkey-done again link-error; -rkey; dead link-deleted; lose; "
	  "1>delete-link all orderly 0x10000 #end; +end/llc" },
	/* the client's notice: three messages (LLC-47) */
	{ "LLC-47 LG-38 FO-16", S_TWO, "0<delete-link 2 orderly reason=0x20000",
	  "move 1 orderly" },
	{ "LLC-47 LG-38", S_TWO "0<delete-link 2 orderly reason=0x20000;",
	  "moved 1",
	  "0>delete-link 2 orderly 0x20000; +step/llc" },
	{ "LLC-47 LG-38", S_TWO, "0<delete-link 2",
	  "fail 1 link-deleted; move 1; 0>delete-link 2 0x10000; "
	  "+step/llc" },
	{ "LLC-48", S_TWO, "0<delete-link 2 reason=0",
	  "fail 1 link-deleted; move 1; 0>delete-link 2 0x10000; "
	  "+step/llc" },
	/* on the link itself: the answer goes over another */
	{ "LLC-46", S_TWO, "1<delete-link 2",
	  "fail 1 link-deleted; move 1; 0>delete-link 2 0x10000; "
	  "+step/llc" },
	/* unknown, or just being deleted */
	{ "LLC-49", S_TWO, "0<delete-link 77",
	  "0>delete-link! 77 0x100000" },
	{ "LLC-49", S_TWO, "1<delete-link 77",
	  "1>delete-link! 77 0x100000" },
	{ "LLC-49", S_TWO, "0<delete-link 0",
	  "0>delete-link! 0 0x100000" },
	{ "LLC-49", S_DEL, "0<delete-link 3",
	  "" },
	{ "LLC-49", S_DEL "0<delete-link! 3;", "0<delete-link 3",
	  "" },
	/* deleted long ago, but just made by the client: its offer was slow */
	{ "LLC-49", S_DEL "0<delete-link! 3; stopped 2;", "0<delete-link 3",
	  "0>delete-link! 3 0x100000" },
	/*
	 * to be deleted anyway: the client ignores requests there from now on,
	 * so that an exchange that was begun on it has failed
	 */
	{ "LLC-54 LLC-75", S_REPLY "want-del 0 orderly;",
	  "1<delete-link 1 orderly",
	  "fail 2 link-deleted; move 0 orderly" },
	{ "LLC-54 LLC-86", S_TWO "want-rkey; ready via=0; want-del 0 orderly;",
	  "1<delete-link 1 orderly",
	  "rkey-done again link-error; -rkey; move 0 orderly" },
	{ "LG-38 LLC-75", S_TWO "want-rkey; ready via=1; want-del 0 orderly;",
	  "1<delete-link 1",
	  "fail 0 link-deleted; move 0" },
	{ "LG-38 LLC-80", S_MOVE, "0<delete-link 3",
	  "fail 2 link-deleted" },
	/* requests go where they are not ignored, as long as possible */
	{ "LLC-54 LLC-80", S_THREE "want-rkey; ready via=2; "
	  "want-del 0 orderly; want-del 1 orderly; want-del 2; "
	  "2<delete-link 1 orderly; 2<delete-link 2 orderly; "
	  "2<confirm-rkey! n=2 links=1,2;",
	  "moved 0",
	  "2>delete-link 1 orderly 0x20000; +step/llc" },
	/* the only one, and with it the group; the client answers */
	{ "LLC-47", S_ONE, "0<delete-link 1",
	  "dead link-deleted; lose; 0>delete-link 1 0x10000 #end; "
	  "+end/llc" },
	{ "LLC-48", S_ONE, "0<delete-link 1 orderly reason=0",
	  "dead link-deleted; lose; "
	  "0>delete-link 1 orderly 0x20000 #end; +end/llc" },
	{ "LLC-47", S_ONE "0<delete-link 1;", "end-sent 0",
	  "" },
	{ "LLC-47", S_ONE "0<delete-link 1; end-sent 0;", "0<delete-link! 1",
	  "release" },
	{ "LLC-50", S_ONE "0<delete-link 1; end-sent 0;", "timer end",
	  "release" },
	/* only when no other exchange is under way */
	{ "LLC-80", S_TWO "down 0 link-error;", "1<delete-link 2 orderly",
	  "" },
	{ "LLC-80 LLC-47", S_TWO
	  "down 0 link-error; 1<delete-link 2 orderly;",
	  "1<delete-link! 1",
	  "stop 0; +retry/retry; dead link-deleted; lose; "
	  "1>delete-link 2 orderly 0x10000 #end; +end/llc" },
	{ "LLC-75", S_ONE "timer retry;", "0<delete-link 1",
	  "" },
	{ "LLC-75 LLC-47", S_ONE "timer retry; 0<delete-link 1;", "made 1 no",
	  "+retry/retry*2; dead link-deleted; lose; "
	  "0>delete-link 1 0x10000 #end; +end/llc" },
	{ "LLC-75 LLC-47", S_ONE
	  "timer retry; made 1 nic=1 n=1; 0<delete-link 1 orderly;",
	  "0<add-link! 3 rejected",
	  "stop 1; +retry/retry*2; dead link-deleted; lose; "
	  "0>delete-link 1 orderly 0x10000 #end; +end/llc" },
	/* not if there is another one by then */
	{ "LLC-75", S_ONE
	  "timer retry; made 1 nic=1 n=1; 0<delete-link 1; "
	  "0<add-link! 3 nic=1; 0<add-link-cont! 3; up 1;",
	  "1<confirm-link! 3",
	  "agreed 1; live 1; -retry; move 0" },
	{ "LLC-86", S_ONE "want-rkey; ready;", "0<delete-link 1",
	  "" },
	{ "LLC-86 LLC-47", S_ONE "want-rkey; ready; 0<delete-link 1 orderly;",
	  "0<confirm-rkey!",
	  "rkey-done ok; -rkey; dead link-deleted; lose; "
	  "0>delete-link 1 orderly 0x10000 #end; +end/llc" },
	/* in first contact it waits for the end of that */
	{ "LLC-75", S_OFFER
	  "0<delete-link 1; 0<add-link! 2 nic=1; 0<add-link-cont! 2; "
	  "up 1;",
	  "1<confirm-link! 2",
	  "agreed 1; live 1; -retry; settled ok; move 0" },
	{ "LLC-75", S_OFFER "0<delete-link 1;", "0<add-link! 2 rejected",
	  "stop 1; settled ok; +retry/retry; dead link-deleted; lose; "
	  "0>delete-link 1 0x10000 #end; +end/llc" },
};

TEST(smcr_lgr_fsm_del__server)
{
	covers("FO-02 FO-16 FO-18 FO-21 FO-24 LG-26 LG-27 LG-34 LG-35 LG-38");
	covers("LG-40 LG-44 LG-48 LLC-04 LLC-08 LLC-10 LLC-12 LLC-17");
	covers("LLC-46 LLC-47 LLC-48 LLC-49 LLC-50 LLC-54 LLC-75 LLC-80");
	covers("LLC-86 CONN-32");
	lgr_rows(server, ARRAY_SIZE(server));
}

/* Client */
static const struct lgr_row client[] = {
	/* the server's request, over the link itself or another */
	{ "LLC-46 LG-36", C_THREE, "0<delete-link 3 orderly reason=0x20000",
	  "move 2 orderly" },
	{ "LLC-46 LG-36", C_MOVE, "moved 2",
	  "0>delete-link! 3 0x20000 #answer 2" },
	{ "LG-36", C_MOVE "moved 2;", "answer-sent 2",
	  "stop 2" },
	{ "LG-36", C_MOVE "moved 2; answer-sent 2;", "stopped 2",
	  "" },
	{ "LG-36", C_MOVE "moved 2;", "2<confirm-rkey n=2 links=1,2",
	  "" },
	{ "LLC-49", C_MOVE "moved 2;", "1<delete-link 3",
	  "1>delete-link! 3 0x100000" },
	{ "LLC-64", C_MOVE "moved 2;", "0<confirm-rkey n=2 links=2,3",
	  "0>confirm-rkey! n=2 links=2,3 negative retry" },
	{ "LLC-13", C_THREE "want-rkey; ready via=2; 0<delete-link 3;",
	  "moved 2",
	  "0>delete-link! 3 0x10000 #answer 2; "
	  "rkey-done again link-error; -rkey" },
	/* over the link that it names: the reply goes over it, so it is not stopped before */
	{ "LLC-46 LG-36", C_TWO, "1<delete-link 2",
	  "move 1 answers" },
	{ "LLC-46 LG-36", C_TWO "1<delete-link 2;", "moved 1",
	  "1>delete-link! 2 0x10000 #answer 1; +retry/retry" },
	{ "LG-36", C_TWO "1<delete-link 2; moved 1;", "answer-sent 1",
	  "stop 1" },
	{ "LG-36", C_TWO "1<delete-link 2; moved 1;", "down 1 link-error",
	  "stop 1" },
	{ "LG-36", C_TWO "1<delete-link 2; moved 1;", "down 0 link-error",
	  "dead link-error; lose; release" },
	{ "LG-27", C_TWO "0<delete-link 2;", "moved 1",
	  "0>delete-link! 2 0x10000 #answer 1; +retry/retry" },
	/* again, over another link: the answer goes over both (LLC-50) */
	{ "LLC-50", C_MOVE, "1<delete-link 3 orderly",
	  "" },
	{ "LLC-50 LLC-04", C_MOVE "1<delete-link 3 orderly;", "moved 2",
	  "0>delete-link! 3 0x20000; 1>delete-link! 3 0x20000 #answer 2" },
	{ "LLC-50", C_MOVE "1<delete-link 3 orderly;", "down 1 link-error",
	  "move 1; 0>delete-link 2 0x10000; +notice1/notice" },
	{ "LLC-50", C_MOVE "1<delete-link 3 orderly; down 1 link-error;", "moved 2",
	  "0>delete-link! 3 0x20000 #answer 2; +retry/retry" },
	{ "LLC-50", C_MOVE "1<delete-link 3 orderly; down 0 link-error;", "moved 2",
	  "1>delete-link! 3 0x20000 #answer 2; +retry/retry" },
	{ "LLC-50", C_MOVE, "down 0 link-error",
	  "move 0; fail 2 link-deleted; 1>delete-link 1 0x10000; "
	  "+notice0/notice" },
	/* the reply to a request on it is not waited for */
	{ "LLC-50 LLC-13", C_THREE "want-rkey; ready via=2; "
	  "0<delete-link 3 orderly reason=0x20000;",
	  "down 0 link-error",
	  "move 0; fail 2 link-deleted; rkey-done again link-error; "
	  "-rkey; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-50", C_MOVE "down 0 link-error;", "1<delete-link 3 orderly",
	  "1>delete-link! 3 0x10000 #answer 2; +retry/retry; "
	  "+notice0/notice" },
	{ "LLC-50", C_MOVE "down 0 link-error;", "want-rkey",
	  "prepare" },
	/* the server deletes the carrying link first */
	{ "LLC-50", C_MOVE, "1<delete-link 1",
	  "fail 2 link-deleted; move 0" },
	{ "LLC-50", C_MOVE "1<delete-link 1; moved 0;",
	  "1<delete-link 3 orderly",
	  "1>delete-link! 3 0x10000 #answer 2" },
	/* the server may not begin another one over the same link */
	{ "LLC-15 LLC-08", C_MOVE, "0<delete-link 2",
	  "fail 0 llc-unexpected; move 0; fail 2 link-deleted; "
	  "1>delete-link 1 0x40000; +notice0/notice" },
	/* the answer is lost */
	{ "LLC-50", C_MOVE "moved 2;", "down 0 link-error",
	  "move 0; stop 2; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-50 LLC-49", C_MOVE "moved 2; down 0 link-error;",
	  "1<delete-link 3",
	  "1>delete-link! 3 0x100000; +notice0/notice" },
	{ "LG-36", C_MOVE "moved 2; stopped 2;", "answer-sent 2",
	  "" },
	/* the link fails meanwhile */
	{ "LG-34", C_MOVE, "down 2 link-error",
	  "0>delete-link 3 0x10000; +notice2/notice" },
	{ "LG-34", C_MOVE "down 2 link-error;", "moved 2",
	  "0>delete-link! 3 0x10000 #answer 2; -notice2" },
	{ "LLC-49", C_TWO, "0<delete-link 77",
	  "0>delete-link! 77 0x100000" },
	{ "LLC-49", C_TWO, "1<delete-link 0",
	  "1>delete-link! 0 0x100000" },
	{ "LLC-08", C_TWO, "0<delete-link! 1",
	  "fail 0 llc-unexpected; move 0; 1>delete-link 1 0x40000; "
	  "+notice0/notice" },
	{ "LLC-08", C_TWO, "0<delete-link! 77 reason=0x100000",
	  "" },
	/* the only one, and with it the group (LG-36) */
	{ "LG-36 CONN-32", C_ONE, "0<delete-link 1",
	  "dead link-deleted; lose; 0>delete-link! 1 0x10000 #end; "
	  "+end/llc" },
	{ "LG-36", C_ONE "0<delete-link 1;", "end-sent 0",
	  "release" },
	{ "LG-36", C_ONE, "0<delete-link 1 reason=0",
	  "dead link-deleted; lose; 0>delete-link! 1 0x20000 #end; "
	  "+end/llc" },
	{ "LG-36", C_ONE "0<add-link 3 nic=1;", "0<delete-link 1",
	  "stop 1; dead link-deleted; lose; "
	  "0>delete-link! 1 0x10000 #end; +end/llc" },
	/* a link fails: the client sends a notice, and goes on without it */
	{ "LLC-47 LG-37 LG-48", C_TWO, "down 0 link-error",
	  "move 0; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LLC-48", C_TWO, "down 0 llc-opcode",
	  "move 0; 1>delete-link 1 0x40000; +notice0/notice" },
	{ "LLC-47 LG-37", C_TWO "down 0 link-error;", "1<delete-link 1",
	  "1>delete-link! 1 0x10000 #answer 0; -notice0; +retry/retry" },
	{ "LG-37", C_THREE "down 0 link-error;", "1<delete-link 1",
	  "1>delete-link! 1 0x10000 #answer 0; -notice0" },
	{ "LG-36", C_TWO "down 0 link-error; 1<delete-link 1;",
	  "answer-sent 0",
	  "stop 0" },
	{ "LG-44", C_ONE, "down 0 link-error",
	  "dead link-error; lose; release" },
	{ "LG-44", C_TWO "down 0 link-error;", "down 1 link-error",
	  "dead link-error; lose; release" },
	/* the link that it wanted to delete still works, and stays */
	{ "FO-24 LG-38", C_TWO "want-del 0 orderly;", "down 1 link-error",
	  "move 1; 0>delete-link 2 0x10000; +notice1/notice" },
	{ "FO-24", C_TWO "1<delete-link 1 orderly reason=0x20000;",
	  "down 1 link-error", "stay 0; move 1; 0>delete-link 2 0x10000; +notice1/notice" },
	/* it stays until there is another one */
	{ "LG-42", C_TWO "want-del 0 orderly; down 1 link-error; 0<delete-link 2; "
	  "answer-sent 1; stopped 1; 0<add-link 3 nic=1; made 1 nic=1 n=1; "
	  "0<add-link-cont 3; 1<confirm-link 3;", "up 1",
	  "live 1; -retry; 1>confirm-link! 3; 1>delete-link 1 orderly 0x20000" },
	/* requests that were ignored there are processed then (LLC-54) */
	{ "FO-24 LLC-54", C_TWO "want-del 0 orderly; 0<confirm-rkey n=1 links=2; "
	  "0<delete-link 2 orderly;", "down 1 link-error",
	  "move 1; 0>delete-link 2 0x10000; +notice1/notice; "
	  "learn-rmb 0 last; 0>confirm-rkey! n=1 links=2; "
	  "0>delete-link! 2 0x10000 #answer 1; -notice1; +retry/retry" },
	/* that the server has lost the other link counts at once */
	{ "FO-24 LLC-54", C_TWO "want-del 0 orderly;", "0<delete-link 2",
	  "fail 1 link-deleted; move 1; 0>delete-link 2 0x10000; "
	  "+notice1/notice; 0>delete-link! 2 0x10000 #answer 1; -notice1; "
	  "+retry/retry" },
	{ "FO-24 LLC-54", C_TWO "want-del 0 orderly; "
	  "1<delete-link 1 orderly reason=0x20000;", "0<delete-link 2",
	  "fail 1 link-deleted; stay 0; move 1; 0>delete-link 2 0x10000; "
	  "+notice1/notice; 0>delete-link! 2 0x10000 #answer 1; -notice1; "
	  "+retry/retry" },
	{ "FO-02 LLC-54", C_THREE "want-del 0 orderly;", "0<delete-link 2",
	  "fail 1 link-deleted; move 1; 2>delete-link 1 orderly 0x20000; "
	  "2>delete-link 2 0x10000; +notice1/notice" },
	/* by the operator */
	{ "LG-42 LLC-48", C_TWO, "want-del 0 orderly",
	  "1>delete-link 1 orderly 0x20000" },
	{ "LLC-48", C_TWO, "want-del 0",
	  "1>delete-link 1 0x20000; +notice0/notice" },
	{ "LG-42", C_TWO "want-del 0 orderly;",
	  "1<delete-link 1 orderly reason=0x20000",
	  "move 0 orderly" },
	{ "LG-42", C_TWO "want-del 0 orderly;", "want-del 0 orderly",
	  "" },
	{ "LG-42", C_TWO "want-del 0 orderly;", "want-del 1 orderly",
	  "" },
	{ "LG-42", C_ONE, "want-del 0 orderly",
	  "" },
	/* the server may delay it (I-53): notices of other links may follow */
	{ "LG-38 LLC-51", C_TWO "want-del 0 orderly;", "timer notice 0",
	  "" },
	{ "LG-38 LLC-51", C_THREE "want-del 0 orderly;", "1<add-link 4 nic=3",
	  "make 3" },
	{ "LG-38 LLC-51", C_THREE "want-del 0 orderly;", "down 1 link-error",
	  "move 1; 2>delete-link 1 orderly 0x20000; 2>delete-link 2 0x10000; "
	  "+notice1/notice" },
	{ "LG-38 LG-42", C_THREE "want-del 0 orderly;", "want-del 1 orderly",
	  "2>delete-link 2 orderly 0x20000" },
	{ "LG-38 LG-42", C_THREE "want-del 0 orderly; want-del 1 orderly; "
	  "2<delete-link 2 orderly reason=0x20000; moved 1; answer-sent 1; stopped 1;",
	  "2<delete-link 1 orderly reason=0x20000",
	  "move 0 orderly" },
	/* not if the link fails */
	{ "LG-38 LLC-47", C_TWO "want-del 0 orderly;", "down 0 link-error",
	  "move 0; 1>delete-link 1 0x10000; +notice0/notice" },
	{ "LG-38 LLC-51", C_TWO "want-del 0 orderly; down 0 link-error;", "timer notice 0",
	  "fail 1 llc-timeout; dead llc-timeout; lose; release" },
	{ "LG-38 LLC-47", C_TWO "want-del 0 orderly; down 0 link-error;",
	  "1<delete-link 1 orderly reason=0x20000",
	  "1>delete-link! 1 0x20000 #answer 0; -notice0; +retry/retry" },
	/* with a disorderly notice it has failed for the server already */
	{ "LG-38", C_TWO "want-del 0;", "down 0 link-error",
	  "move 0" },
	/* nor if the server's request is lost then */
	{ "LG-38 LLC-51", C_THREE "want-del 0 orderly; "
	  "1<delete-link 1 orderly reason=0x20000;", "down 1 link-error",
	  "move 1; fail 0 link-deleted; 2>delete-link 1 0x20000; +notice0/notice; "
	  "2>delete-link 2 0x10000; +notice1/notice" },
	{ "LG-38 LLC-51", C_THREE "want-del 0 orderly; "
	  "2<delete-link 1 orderly reason=0x20000;", "down 2 link-error",
	  "move 2; fail 0 link-deleted; 1>delete-link 1 0x20000; +notice0/notice; "
	  "1>delete-link 3 0x10000; +notice2/notice" },
	/* stale: requests of the server on it, except for the end (LLC-54) */
	{ "LLC-54", C_TWO "want-del 0 orderly;", "0<add-link 3 nic=2",
	  "" },
	{ "LLC-54", C_TWO "want-del 0 orderly;", "0<confirm-rkey n=1 links=2",
	  "" },
	{ "LLC-54", C_TWO "want-del 0 orderly;", "0<delete-rkey",
	  "" },
	{ "LLC-54", C_TWO "want-del 0 orderly;", "0<delete-link 2 orderly",
	  "" },
	{ "LLC-54", C_TWO "want-del 0 orderly;", "0<confirm-link 1",
	  "" },
	{ "LLC-54 LLC-88", C_TWO "want-del 0 orderly;", "0<delete-link 0 all",
	  "dead lgr-deleted; lose; release" },
	/* replies are not stale: they end requests from before */
	{ "LLC-54", C_THREE "want-rkey; ready via=0; want-del 0 orderly;",
	  "0<confirm-rkey! n=2",
	  "rkey-done ok; -rkey" },
	{ "LLC-54", C_THREE "want-rkey del; ready via=0; want-del 0 orderly;",
	  "0<delete-rkey!",
	  "rkey-done ok; -rkey" },
	{ "LLC-54", C_TWO "down 0 link-error;", "0<add-link 3 nic=2",
	  "" },
	{ "LLC-54 LLC-88", C_TWO "down 0 link-error;", "0<delete-link 0 all",
	  "dead lgr-deleted; lose; release" },
	/* no request of the server: the link of the notice has failed, too */
	{ "LLC-51 LLC-10 FO-21", C_THREE "down 0 link-error;", "timer notice 0",
	  "fail 1 llc-timeout; move 1; 2>delete-link 1 0x10000; "
	  "+notice0/notice; 2>delete-link 2 0x10000; +notice1/notice" },
	{ "LLC-51 LLC-12", C_THREE "down 0 link-error;", "down 1 link-error",
	  "move 1; 2>delete-link 1 0x10000; +notice0/notice; "
	  "2>delete-link 2 0x10000; +notice1/notice" },
	{ "LLC-51", C_THREE "down 0 link-error; timer notice 0;",
	  "timer notice 1",
	  "fail 2 llc-timeout; dead llc-timeout; lose; release" },
	{ "LLC-51 LG-44", C_TWO "down 0 link-error;", "timer notice 0",
	  "fail 1 llc-timeout; dead llc-timeout; lose; release" },
	{ "LLC-51", C_TWO, "timer notice 0",
	  "" },
	/* the server has another exchange first: its request will follow */
	{ "LLC-51", C_THREE "down 0 link-error;", "1<add-link 4 nic=3",
	  "make 3; +notice0/notice" },
	{ "LLC-51", C_THREE "down 0 link-error; 1<add-link 4 nic=3; "
	  "made 3 nic=3 n=1;", "1<add-link-cont 4",
	  "learn 3; 1>add-link-cont! 4 n=1; +step/llc; +notice0/notice" },
	{ "LLC-51", C_FOUR "down 0 link-error; want-del 3;",
	  "1<delete-link 4 orderly",
	  "move 3 orderly; +notice0/notice; +notice3/notice" },
	{ "LLC-51", C_FOUR "down 0 link-error; want-del 3;",
	  "1<delete-link 1",
	  "1>delete-link! 1 0x10000 #answer 0; -notice0; +notice3/notice" },
	/* an RKEY exchange is no reason to wait longer */
	{ "LLC-51", C_THREE "down 0 link-error;", "1<confirm-rkey n=1 links=3",
	  "learn-rmb 1 last; 1>confirm-rkey! n=1 links=3" },
	/* the server has no such link */
	{ "LLC-49", C_TWO "down 0 link-error;",
	  "1<delete-link! 1 reason=0x100000",
	  "-notice0; stop 0; +retry/retry" },
	{ "LLC-49", C_TWO "want-del 0 orderly;",
	  "1<delete-link! 1 reason=0x100000",
	  "move 0; stop 0; +retry/retry" },
	/*
	 * Without redundancy the client sends a notice now and then that
	 * another link is possible, however the last but one has ended
	 */
	{ "LG-27 LG-31", C_TWO "down 0 link-error; 1<delete-link 1; "
	  "answer-sent 0; stopped 0;", "timer retry",
	  "+retry/retry*2; 1>add-link" },
	{ "LG-27", C_TWO "0<delete-link 2 orderly;", "0<confirm-rkey n=0",
	  "stop 1; +retry/retry; learn-rmb 0 last; 0>confirm-rkey! n=0" },
	{ "LG-27", C_ONE "timer retry; timer retry; timer retry; timer retry;",
	  "timer retry",
	  "+retry/retry*16; 0>add-link" },
	{ "LG-27", C_ONE "timer retry; timer retry; timer retry; timer retry; "
	  "timer retry;", "timer retry",
	  "+retry/retry*16; 0>add-link" },
	{ "LG-27", C_TWO, "timer retry",
	  "0>add-link" },
};

/* Other exchanges of the server do not delay the end of the wait for ever */
TEST(smcr_lgr_fsm_del__notice_waits)
{
	struct lgr_rig r;
	u32 i;

	covers("LLC-51");
	lgr_situation(&r, C_THREE "down 0 link-error;");
	for (i = 0; i < 1000; i++) {
		lgr_event(&r, "1<add-link 4 nic=1");
		if (!strstr(r.said, "+notice0/notice"))
			break;
		lgr_event(&r, "made 3 no");
	}
	EXPECT_EQ(i, 32);
	lgr_event(&r, "made 3 no");
	lgr_event(&r, "timer notice 0");
	EXPECT_TRUE(strstr(r.said, "fail 1 llc-timeout"));
}

/* A client that asks to delete the one and the other of two links in turn */
TEST(smcr_lgr_fsm_del__to_and_fro)
{
	struct lgr_rig r;
	u32 i, stays = 0;

	covers("SEC-11");
	lgr_situation(&r, S_TWO);
	for (i = 0; i < 1000; i++) {
		lgr_event(&r, i % 2 ? "1<delete-link 1 orderly reason=0x20000" :
				      "0<delete-link 2 orderly reason=0x20000");
		stays += !!strstr(r.said, "stay");
	}
	EXPECT_EQ(stays, 8);
	lgr_event(&r, "moved 1");
	EXPECT_TRUE(strstr(r.said, "delete-link 2"));
}

TEST(smcr_lgr_fsm_del__client)
{
	covers("FO-02 FO-21 FO-24 LG-27 LG-31 LG-34 LG-36 LG-37 LG-38");
	covers("LG-42 LG-44 LG-48 LLC-04 LLC-08 LLC-10 LLC-12 LLC-13");
	covers("LLC-15 LLC-46 LLC-47 LLC-48 LLC-49 LLC-50 LLC-51 LLC-54");
	covers("LLC-64 LLC-88 CONN-32");
	lgr_rows(client, ARRAY_SIZE(client));
}

/* The end of the group */
#define S_END	S_TWO "want-end orderly reason=0x20000; "
#define C_END	C_TWO "want-end orderly reason=0x20000; "
static const struct lgr_row end[] = {
	/* server: the send completion shows that it was delivered (LLC-53) */
	{ "LG-40", S_TWO, "want-end orderly reason=0x20000",
	  "0>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LLC-53", S_END, "end-sent 0",
	  "release" },
	{ "LLC-52 LLC-53", S_END, "down 0 link-error",
	  "1>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LLC-52", S_END "down 0 link-error;", "end-sent 1",
	  "release" },
	{ "LLC-52", S_END "down 0 link-error;", "down 1 link-error",
	  "release" },
	{ "LLC-52", S_END, "timer end",
	  "1>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LLC-52", S_END "timer end;", "timer end",
	  "release" },
	{ "LLC-52", S_TWO "down 0 link-error;",
	  "want-end orderly reason=0x20000",
	  "1>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LLC-52", S_END, "down 1 link-error",
	  "" },
	/* a link that drains still works */
	{ "LLC-52", S_TWO "want-del 1 orderly; want-end orderly reason=0x20000;",
	  "down 0 link-error",
	  "1>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LLC-52", S_END "down 1 link-error;", "down 0 link-error",
	  "release" },
	{ "LG-40", S_MOVE "moved 2;", "want-end orderly reason=0x20000",
	  "0>delete-link all orderly 0x20000 #end; +end/llc" },
	/* no message: the caller wants none, or there is no link for one */
	{ "LG-44", S_TWO, "want-end",
	  "release" },
	{ "LG-44", C_TWO, "want-end",
	  "release" },
	{ "LG-44", "S:", "want-end reason=0x20000",
	  "settled decline confirm-link-fail; release" },
	/* no other event counts, nor the same one twice */
	{ "LG-40", S_END, "want-end reason=0x10000",
	  "" },
	{ "LG-40", S_END "end-sent 0;", "end-sent 0",
	  "" },
	{ "LG-40", S_END, "first-sent 0",
	  "" },
	{ "LG-40", S_END, "timer step",
	  "" },
	{ "LG-40", S_END, "0<confirm-rkey n=1 links=2",
	  "" },
	{ "LG-40", S_END, "made 2 nic=2",
	  "" },
	{ "LG-40", S_END, "stopped 1",
	  "" },
	/* the client's request crosses */
	{ "LG-41", S_END, "0<delete-link 0 all orderly",
	  "" },
	/* one link, the last: the client answers */
	{ "LG-35", S_ONE, "want-end link=1 reason=0x20000",
	  "0>delete-link 1 0x20000 #end; +end/llc" },
	{ "LG-35", S_ONE "want-end link=1 reason=0x20000;", "end-sent 0",
	  "" },
	{ "LG-35", S_ONE "want-end link=1 reason=0x20000; end-sent 0;",
	  "0<delete-link! 1",
	  "release" },
	/* the client asks: the server complies with its own DELETE LINK */
	{ "LG-41", S_TWO, "0<delete-link 0 all orderly reason=0x20000",
	  "dead lgr-deleted; lose; "
	  "0>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LG-41", S_TWO, "1<delete-link 0 all reason=0",
	  "dead lgr-deleted; lose; 0>delete-link all 0x20000 #end; "
	  "+end/llc" },
	{ "LG-41 LLC-53", S_TWO "0<delete-link 0 all orderly reason=0x20000;",
	  "end-sent 0",
	  "release" },
	/* client: it asks, and the server's own DELETE LINK arrives */
	{ "LG-41 LG-42", C_TWO, "want-end orderly reason=0x20000",
	  "0>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LG-41 LLC-52", C_END, "end-sent 0",
	  "" },
	{ "LG-41", C_END "end-sent 0;",
	  "0<delete-link 0 all orderly reason=0x20000",
	  "release" },
	{ "LG-41", C_END "end-sent 0;",
	  "1<delete-link 0 all orderly reason=0x20000",
	  "release" },
	{ "LG-41", C_END, "0<delete-link 0 all orderly reason=0x20000",
	  "release" },
	{ "LLC-52 LLC-10", C_END "end-sent 0;", "timer end",
	  "1>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LLC-52", C_END "end-sent 0; timer end; end-sent 1;", "timer end",
	  "release" },
	{ "LLC-52", C_END, "down 0 link-error",
	  "1>delete-link all orderly 0x20000 #end; +end/llc" },
	{ "LLC-52", C_END "down 0 link-error;", "down 1 link-error",
	  "release" },
	/* a client whose links are about to fail need not wait (LG-37) */
	{ "LG-37", C_TWO "want-end reason=0x10000;", "end-sent 0",
	  "release" },
	/* the server ends the group: no reply (I-44) */
	{ "LG-40", C_TWO, "0<delete-link 0 all reason=0x20000",
	  "dead lgr-deleted; lose; release" },
	{ "LG-40", C_TWO, "1<delete-link 0 all reason=0x20000",
	  "dead lgr-deleted; lose; release" },
	{ "LG-40", C_TWO "0<delete-link 0 all reason=0x20000;",
	  "1<delete-link 0 all reason=0x20000",
	  "" },
	{ "LG-40", C_TWO "0<delete-link 0 all reason=0x20000;", "stopped 0",
	  "" },
};

TEST(smcr_lgr_fsm_del__end)
{
	covers("LG-35 LG-37 LG-40 LG-41 LG-42 LG-44 LLC-10 LLC-52 LLC-53");
	lgr_rows(end, ARRAY_SIZE(end));
}
