/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TEST LINK of one link: when it is sent, when the link has failed, RFC 7609
 * 4.5.3, A.3.8, C.7.1. Documentation/keepalive.rst has the table.
 *
 * Times are in the caller's unit, which wraps as jiffies do.
 */
#ifndef _SMCR_CORE_LINK_TEST_H
#define _SMCR_CORE_LINK_TEST_H

#include "env.h"

enum { SMCR_TEST_DATA = 16 };

enum smcr_link_test_act {
	SMCR_LINK_TEST_WAIT,
	SMCR_LINK_TEST_SEND,
	SMCR_LINK_TEST_FAIL,
};

/*
 * struct smcr_link_test - state
 * @pending: an own TEST LINK is unanswered
 * @keep: a connection's keepalive wanted it
 * @patient: ... and its interval counts, not T_LLC
 * @longer: its T_LLC has been extended, once
 * @owed: replies that are due; all have the same data
 * @left: further probes of a patient one
 * @intvl: time between them
 * @begin, @at, @due: the first was sent, the last was sent, the wait is over
 * @data: what is sent
 */
struct smcr_link_test {
	bool pending;
	bool keep;
	bool patient;
	bool longer;
	u32 owed;
	int left;
	long intvl;
	unsigned long begin, at, due;
	u8 data[SMCR_TEST_DATA];
};

/*
 * struct smcr_link_test_facts - what the caller knows now
 * @now: time
 * @t_llc: how long a reply is waited for
 * @idle: the link is to be tested, whatever the connections want
 * @last_rx: when the peer was heard last
 * @keep_in: time until a connection wants it, 0 or less: now; LONG_MAX: none
 * @keep_intvl, @keep_cnt: its TCP_KEEPINTVL and TCP_KEEPCNT
 * @data: random, for a first probe
 */
struct smcr_link_test_facts {
	unsigned long now;
	long t_llc;
	bool idle;
	unsigned long last_rx;
	long keep_in;
	long keep_intvl;
	int keep_cnt;
	const u8 *data;
};

enum smcr_link_test_act
smcr_link_test_step(struct smcr_link_test *t,
		    const struct smcr_link_test_facts *facts, long *next);

enum smcr_link_test_reply {
	SMCR_LINK_TEST_GOOD,	/* the peer is there */
	SMCR_LINK_TEST_STRAY,	/* nobody has asked: out of place */
	SMCR_LINK_TEST_WRONG,	/* other data (LLC-71) */
};

enum smcr_link_test_reply
smcr_link_test_reply(struct smcr_link_test *t, const u8 data[SMCR_TEST_DATA]);

#endif /* _SMCR_CORE_LINK_TEST_H */
