/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TEST LINK of one link: when it is sent, when the link has failed, RFC 7609
 * 4.5.3, A.3.8, C.7.1. Documentation/keepalive.rst has the table of its states.
 *
 * Times are in the caller's unit, and wrap as jiffies do.
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

/**
 * struct smcr_link_test - state of the test of one link
 * @pending: a test has begun, and no reply has come since then
 * @keep: the keepalive of a connection has caused the test
 * @patient: the reply is due within @intvl, not within T_LLC; only with @keep
 * @longer: the wait of T_LLC was extended, which happens only once
 * @owed: number of replies that are still to come, one for each probe; they may
 *	come after the first reply has ended the test; all have the same data
 * @left: further probes that may be sent if @patient
 * @intvl: time between probes if @patient
 * @begin: when the first probe was sent
 * @at: when the last probe was sent
 * @due: when the wait for a reply is over
 * @data: user data of the probes
 *
 * The caller's lock guards it; @pending, @keep and @patient are also read
 * without it.
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

/**
 * struct smcr_link_test_facts - facts for smcr_link_test_step()
 * @now: present time
 * @t_llc: timeout of a reply
 * @idle: the group has its own reason to test the link, for example a long
 *	silence: a test is due even if no keepalive needs one
 * @last_rx: when the last message of the peer arrived
 * @keep_in: time until the keepalive of a connection needs a test; 0 or less:
 *	it needs one now; LONG_MAX: no keepalive needs one
 * @keep_intvl: TCP_KEEPINTVL of that connection
 * @keep_cnt: TCP_KEEPCNT of that connection
 * @data: random user data, for a first probe
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
	SMCR_LINK_TEST_GOOD,	/* a probe is answered */
	SMCR_LINK_TEST_STRAY,	/* unexpected: no reply is due */
	SMCR_LINK_TEST_WRONG,	/* the data are not those of a probe (LLC-71) */
};

enum smcr_link_test_reply
smcr_link_test_reply(struct smcr_link_test *t, const u8 data[SMCR_TEST_DATA]);

#endif /* _SMCR_CORE_LINK_TEST_H */
