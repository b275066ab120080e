/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters, one set per network namespace. Reasons (core/reason.h) have
 * counters of their own, one each: smcr_count_reason().
 */
#ifndef _SMCR_STATS_H
#define _SMCR_STATS_H

#include "base/base.h"

/*
 * X(NAME, name in kebab case), one a line.
 * Append only: the numbers are part of the netlink interface.
 *
 * Adding one: a row here, smcr_count() where it happens, scripts/docs-tables for
 * counters.rst (which has a paragraph for each prefix), a test that checks it.
 * test_lib.py fails for a counter that nothing counts.
 */
#define SMCR_COUNTERS(X) \
	/* handshake, by role */ \
	X(CLNT_FIRST,		"client-first-contacts") \
	X(CLNT_REUSE,		"client-reuses") \
	X(SRV_FIRST,		"server-first-contacts") \
	X(SRV_REUSE,		"server-reuses") \
	X(CLNT_FALLBACK,	"client-fallbacks") \
	X(SRV_FALLBACK,		"server-fallbacks") \
	X(HS_FAILED,		"negotiations-failed") \
	/* CLC messages */ \
	X(CLC_TX_PROPOSAL,	"clc-tx-proposal") \
	X(CLC_TX_ACCEPT,	"clc-tx-accept") \
	X(CLC_TX_CONFIRM,	"clc-tx-confirm") \
	X(CLC_TX_DECLINE,	"clc-tx-decline") \
	X(CLC_RX_PROPOSAL,	"clc-rx-proposal") \
	X(CLC_RX_ACCEPT,	"clc-rx-accept") \
	X(CLC_RX_CONFIRM,	"clc-rx-confirm") \
	X(CLC_RX_DECLINE,	"clc-rx-decline") \
	/* LLC */ \
	X(LLC_TX,		"llc-tx") \
	X(LLC_RX,		"llc-rx") \
	X(TEST_LINK_TX,		"test-link-tx") \
	X(TEST_LINK_RX,		"test-link-rx") \
	/* CDC and data */ \
	X(CDC_TX,		"cdc-tx") \
	X(CDC_TX_WINDOW,	"cdc-tx-window") \
	X(CDC_RX,		"cdc-rx") \
	X(WRITE_TX,		"rdma-writes") \
	X(BYTES_TX,		"bytes-tx") \
	X(BYTES_RX,		"bytes-rx") \
	X(TX_WINDOW_FULL,	"tx-window-full") \
	X(TX_SQ_FULL,		"tx-send-queue-full") \
	X(EYE_CHECKS,		"rmbe-eye-catcher-checks") \
	/* objects */ \
	X(LGR_CREATED,		"lgr-created") \
	X(LGR_FREED,		"lgr-freed") \
	X(LINK_DOWN,		"link-down") \
	X(RMB_CREATED,		"rmb-created") \
	X(RMB_FREED,		"rmb-freed") \
	X(RMB_WAITS,		"rmb-waits") \
	X(CONN_CREATED,		"conn-created") \
	X(CONN_FREED,		"conn-freed") \
	X(CONN_ABORTED,		"conn-aborted") \
	X(CONN_MOVED,		"conn-moved") \
	X(BACKLOG_FULL,		"listen-backlog-full") \
	/* timer expiries (MISC-19) */ \
	X(T_CLC,		"timer-clc") \
	X(T_LLC_FIRST,		"timer-llc-first") \
	X(T_LLC,		"timer-llc") \
	X(T_LGR_IDLE,		"timer-lgr-idle") \
	X(T_RMB_FREE,		"timer-rmb-free") \
	X(T_CLOSE,		"timer-close") \
	X(T_ABORT,		"timer-abort") \
	X(T_TESTLINK,		"timer-testlink") \
	/* appended */ \
	X(RX_IMM,		"rx-write-with-immediate") \
	X(LISTEN_HALF,		"listen-half-full") \
	X(MEM_REFUSED,		"memory-refused") \
	X(T_LINK_RETRY,		"timer-link-retry") \
	/* moved connections, by the time since the link failed or began to drain */ \
	X(MOVED_10MS,		"conn-moved-10ms") \
	X(MOVED_100MS,		"conn-moved-100ms") \
	X(MOVED_1S,		"conn-moved-1s") \
	X(MOVED_LATER,		"conn-moved-later") \
	X(MOVE_OTHER,		"conn-moved-other-link") \
	X(MOVE_FAILED,		"conn-move-failed") \
	X(BYTES_AGAIN,		"bytes-again") \
	X(CONN_BALANCED,	"conn-balanced")

enum smcr_counter {
#define X(name, kebab) SMCR_CNT_##name,
	SMCR_COUNTERS(X)
#undef X
	NR_SMCR_COUNTER
};

/* Per-CPU, written in any context */
struct smcr_stats {
	u64 cnt[NR_SMCR_COUNTER];
	u64 reason[NR_SMCR_REASON];
};

void smcr_count_add(struct smcr_net *sn, enum smcr_counter c, u64 n);

static inline void smcr_count(struct smcr_net *sn, enum smcr_counter c)
{
	smcr_count_add(sn, c, 1);
}

void smcr_count_reason(struct smcr_net *sn, enum smcr_reason why);

void smcr_report_reason(struct smcr_net *sn, enum smcr_reason why, u32 lgr_id, u32 token);

void smcr_stats_read(struct smcr_net *sn, struct smcr_stats *out);
const char *smcr_counter_name(unsigned int c);

#endif /* _SMCR_STATS_H */
