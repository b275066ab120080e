/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Knobs: one row for each file of /proc/sys/net/smcr/ and each attribute of the
 * netlink set "knobs". A row makes the member of struct smcr_knobs, its
 * default, the file with its range, and the attribute; scripts/docs-tables
 * compares it with Documentation/sysctl.rst. All are int; times are ms.
 *
 *	X(member, ATTRIBUTE, default, least, most, most in other namespaces)
 *
 * Adding one: a row here, its attribute in
 * Documentation/netlink/specs/smcr.yaml (scripts/ynl-gen makes the rest), a row
 * of sysctl.rst, the code that reads it, a test of its effect at both ends of
 * its range. test_lib.py fails for a knob that nothing reads.
 *
 * The last value is the maximum in namespaces other than the initial one; 0:
 * the same maximum as there. Knobs that limit resources which all namespaces
 * share (time of workers, queue pairs, handshakes under way) have a smaller
 * maximum in such a namespace, because its root is not root of the host.
 */
#ifndef _SMCR_KNOBS_H
#define _SMCR_KNOBS_H

#define SMCR_T_LLC_DEFAULT	4000
#define SMCR_MS_DAY		86400000

#define SMCR_KNOBS(X) \
	/* 0: every new connection stays on TCP */ \
	X(enabled, ENABLED, 1, 0, 1, 0) \
	/* bytes of receive, send buffer; defaults of SO_RCVBUF, SO_SNDBUF */ \
	X(rmem, RMEM, 262144, 16384, 524288, 0) \
	X(wmem, WMEM, 262144, 16384, 4194304, 0) \
	/* 1: RFC eye catchers even if both hosts run this module */ \
	X(eye_catcher, EYE_CATCHER, 0, 0, 1, 0) \
	/* link groups (SEC-13) */ \
	X(max_lgrs, MAX_LGRS, 1024, 1, 65535, 1024) \
	/* connections of a group; if full, a parallel one forms (CLC-66); 0 = no limit */ \
	X(max_conns_per_lgr, MAX_CONNS_PER_LGR, 0, 0, 65535, 0) \
	/* RMBs of a group (CLC-68) */ \
	X(max_rmbs_per_lgr, MAX_RMBS_PER_LGR, 255, 1, 255, 0) \
	/* symmetric links of a group; 1: no second link is made */ \
	X(max_links, MAX_LINKS, 8, 1, 8, 0) \
	/* handshakes under way (SEC-13) */ \
	X(max_handshakes, MAX_HANDSHAKES, 4096, 1, 1048576, 4096) \
	/* servers' handshakes among these that may form a group */ \
	X(max_first_contacts, MAX_FIRST_CONTACTS, 256, 1, 65535, 256) \
	/* timers of the conformance catalogue, B.5 */ \
	X(t_clc, T_CLC, 10000, 100, 3600000, 60000) \
	X(t_llc_first, T_LLC_FIRST, 10000, 100, 3600000, 60000) \
	X(t_llc, T_LLC, SMCR_T_LLC_DEFAULT, 100, 3600000, 60000) \
	/* from one attempt to add a link to the next; doubled, four times at most */ \
	X(t_link_retry, T_LINK_RETRY, 60000, 1000, SMCR_MS_DAY, 0) \
	X(t_lgr_idle, T_LGR_IDLE, 600000, 100, SMCR_MS_DAY, 0) \
	X(t_close, T_CLOSE, 60000, 100, 3600000, 0) \
	X(t_abort, T_ABORT, 10000, 100, 3600000, 0) \
	/* silence on a link before TEST LINK; 0: silence causes none */ \
	X(t_testlink, T_TESTLINK, 30000, 0, SMCR_MS_DAY, 0) \
	X(t_rmb_free, T_RMB_FREE, 60000, 100, SMCR_MS_DAY, 0) \
	/* verbs encoding, 4.096 us << n (15: 134 ms); 0 would be no timeout */ \
	X(qp_timeout, QP_TIMEOUT, 15, 8, 22, 0) \
	/* least TCP_KEEPIDLE of inner sockets, 32767 s at most; 0 = none */ \
	X(keepalive_floor, KEEPALIVE_FLOOR, 0, 0, 32767000, 0) \
	/* 1: connections move to a new link of their group (LG-47) */ \
	X(balance, BALANCE, 0, 0, 1, 0) \
	/* connections after close(); beyond it the oldest one is aborted */ \
	X(max_orphans, MAX_ORPHANS, 16384, 0, 1048576, 16384)

/* Read with READ_ONCE; a change affects what starts later */
struct smcr_knobs {
#define X(member, attr, def, lo, hi, hi_ns) int member;
	SMCR_KNOBS(X)
#undef X
	int max_mem;		/* KiB of buffers, see smcr_max_mem_host */
};

#endif /* _SMCR_KNOBS_H */
