// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of the sweep: faults, and their expected outcomes. expect() derives
 * the outcome from step, side and kind of fault; each exception has a line in
 * exceptions[], with the reason.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "simsweep.h"
#include "../mod/rnicsim/faults.h"

const char * const step_names[] = {
#define X(id, name, text) #name,
	STEPS(X)
#undef X
};

const char *points[64] = {
#define X(id, name, text) #name,
	RS_FAULTS(X)
#undef X
};

/* points of messages (msg_) are not swept */
#define X(id, name, text) + 1
int n_points = 0 RS_FAULTS(X);
#undef X
struct fault faults[512];
int n_faults;

static void add(struct fault f)
{
	if (n_faults == ARRAY_SIZE(faults))
		abort();
	faults[n_faults++] = f;
}

#define F(...)		FAULT(false, __VA_ARGS__)
#define F_STAYS(...)	FAULT(true, __VA_ARGS__)
#define FAULT(stays_, point_, when_, action_, arg_, kind_, first_)	\
	{								\
		.point = point_,					\
		.when = when_,						\
		.action = action_,					\
		.arg = arg_,						\
		.kind = K_##kind_,					\
		.first = first_,					\
		.stays = stays_,					\
	}

/*
 * Reasons of a Decline when the link fails in first contact: REG_MR, CONFIRM LINK
 * or ADD LINK was not sent, or the client's queue pair cannot go to RTS.
 */
#define SENDS	"mr-fail confirm-link-fail add-link-fail qp-fail"

/* Faults that need no rule: point, when, action, argument, kind, reason of a Decline */
static const struct fault singles[] = {
	/* creation fails */
	F("alloc_pd", "1", "fail", 0, MAKE, "qp-fail"),
	F("create_cq", "1", "fail", 0, MAKE, "qp-fail"),
	F("create_qp", "1", "fail", 0, CALM, NULL),	/* the next try has no inline data */
	F_STAYS("create_qp", "1+", "fail", 0, MAKE, "qp-fail"),
	F("to_init", "1", "fail", 0, MAKE, "qp-fail"),
	F("to_rtr", "1", "fail", 0, MAKE, "qp-fail"),
	F("to_rts", "1", "fail", 0, MAKE, "qp-fail"),
	F("alloc_mr", "1", "fail", 0, CALM, NULL),	/* a smaller RMB does as well */
	F_STAYS("alloc_mr", "1+", "fail", 0, MAKE, "no-memory"),
	F("alloc_mr", "1", "fail", 5, MAKE, "mr-fail"),
	F("map_mr", "1", "fail", 0, CALM, NULL),
	F_STAYS("map_mr", "1+", "fail", 0, MAKE, "no-memory"),
	F("map_mr", "1", "fail", 5, MAKE, "mr-fail"),
	F("dma_map", "1", "fail", 0, MAKE, "no-memory"),
	F("add_gid", "1", "fail", 0, CALM, NULL),
	/* destruction fails */
	F("to_err", "1", "fail", 0, CALM, NULL),
	F("dereg_mr", "1", "fail", 0, CALM, NULL),
	/* posts */
	F("post_send", "1", "fail", 0, DEAD, SENDS),
	F("post_recv", "1", "fail", 0, DEAD, "qp-fail"),
	F("reg_mr", "1", "fail", 0, DEAD, "mr-fail"),
	/* packets: one is lost and sent again, or all are lost from now on */
	F("tx_write", "1", "drop", 0, CALM, NULL),
	F("tx_mid", "1", "drop", 0, CALM, NULL),
	F("tx_send", "1", "drop", 0, CALM, NULL),
	F("tx_ack", "1", "drop", 0, CALM, NULL),
	F("rx_send", "1", "fail", 0, CALM, NULL),
	F("tx_write", "1", "fail", 0, SILENT, NULL),
	F("tx_mid", "1", "fail", 0, SILENT, NULL),
	F("tx_send", "1", "fail", 0, SILENT, SENDS),
	F_STAYS("tx_ack", "1+", "drop", 0, SILENT, SENDS),
	F_STAYS("rx_send", "1+", "fail", 0, SILENT, SENDS),
	F_STAYS("tx_send", "1+", "drop", 0, SILENT, SENDS),
	/* completions */
	F("wc_send", "1", "drop", 0, LOST, NULL),
	F("wc_recv", "1", "drop", 0, LOST, NULL),
	F("wc_send", "1", "twice", 0, DEAD, SENDS),
	F("wc_recv", "1", "twice", 0, DEAD, SENDS),
	/* only an interrupt would request the next one */
	F("interrupt", "1", "fail", 0, DEAF, NULL),
};

/* Points at which an action is tried that does the same everywhere */
static const char * const of_qp[] = {
	"post_send", "tx_write", "tx_mid", "tx_send", "rx_send", "tx_ack", "wc_send", "wc_recv",
};
static const char * const of_device[] = {
	"create_qp", "to_rts", "alloc_mr", "post_send", "tx_mid", "rx_send", "wc_recv",
	"destroy_qp",
};

static struct fault event(const char *point, const char *action, enum kind kind, enum off off)
{
	return (struct fault){
		.point = point,
		.when = "1",
		.action = action,
		.kind = kind,
		.off = off,
	};
}

/* The last of enum ib_wc_status */
#define LAST_STATUS	21

void tables(void)
{
	static const struct {
		const char *name;
		enum kind kind;
		enum off off;
	} events[] = {
		{ "port_active", K_CALM, OFF_NOT },
		{ "gid_change", K_GID, OFF_NOT },
		{ "port_err", K_PORT, OFF_PORT },
		{ "device_fatal", K_PORT, OFF_PORT },
	};
	size_t i, k;
	int st;

	for (i = 0; i < ARRAY_SIZE(singles); i++)
		add(singles[i]);
	for (st = 1; st <= LAST_STATUS; st++) {
		add((struct fault)F("wc_send", "1", "fail", st, DEAD, SENDS));
		add((struct fault)F("wc_recv", "1", "fail", st, DEAD, SENDS));
	}
	for (i = 0; i < ARRAY_SIZE(of_qp); i++) {
		add((struct fault)F(of_qp[i], "1", "mute", 0, SILENT, SENDS));
		add((struct fault)F(of_qp[i], "1", "qp_err", 0, DEAD, SENDS));
		add((struct fault)F(of_qp[i], "1", "qp_fatal", 0, DEAD, SENDS));
	}
	for (k = 0; k < ARRAY_SIZE(events); k++)
		for (i = 0; i < ARRAY_SIZE(of_device); i++)
			add(event(of_device[i], events[k].name, events[k].kind, events[k].off));
	add(event("post_send", "pause", K_SILENT, OFF_PAUSED));
	add(event("wc_recv", "pause", K_SILENT, OFF_PAUSED));
	for (i = 0; i < (size_t)n_points; i++)
		add(event(points[i], "remove", K_PORT, OFF_GONE));
}

/* True if the counter @name is a reason */
bool is_reason(const char *name)
{
	static const char * const begin[] = {
		"client-", "server-", "clc-tx", "clc-rx", "llc-tx", "llc-rx", "test-link-",
		"cdc-tx", "cdc-rx", "rdma-", "bytes-", "tx-", "rmbe-eye-catcher-checks",
		"lgr-created", "lgr-freed", "rmb-", "conn-", "timer-lgr", "timer-rmb", "listen-",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begin); i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return false;
	return true;
}

/* Points that are not passed in a step, by nature */
static const struct {
	const char *steps, *side, *points, *because;
} natures[] = {
	{ "*", "*", "add_gid", "no address comes" },
	{ "*", "*", "query_port", "a port is asked when its device comes, and in dumps" },
	{ "!(first|settle)", "*", "alloc_pd|create_cq|create_qp|to_init|to_rtr|to_rts",
	  "no queue pair is made" },
	{ "settle", "*",
	  "alloc_pd|create_cq|create_qp|to_init|to_rtr|to_rts|alloc_mr|map_mr|reg_mr",
	  "there is only one in a first contact" },
	{ "!(first|confirm-rkey)", "*", "alloc_mr|map_mr|reg_mr", "no RMB is made" },
	{ "!(end)", "*", "to_err", "no queue pair ends" },
	{ "!(end)", "*", "destroy_qp", "no queue pair ends, but that of an offer, after the step" },
	{ "!(end|delete-rkey)", "*", "dereg_mr", "no RMB is given back" },
	{ "!(reuse|data|window|close)", "*", "tx_write|tx_mid", "no data are sent" },
	{ "close", "server", "tx_write|tx_mid", "the server sends no data" },
	{ "!(first|settle|window|delete-rkey)", "*", "post_recv",
	  "receives are posted again by the batch, and there are too few messages" },
	{ "reuse|test-link|delete-rkey|abort", "*", "wc_send", "these messages are not signalled" },
	{ "close", "server", "wc_send", "its last message is not signalled" },
	{ "end", "client", "wc_send", "it answers TEST LINK only, which is not signalled" },
	{ "reuse|window|close|abort|delete-rkey|test-link|end", "*", "dma_map",
	  "what is mapped already is enough" },
	{ "close|abort", "server", "tx_send|tx_ack", "the server answers after the step" },
	{ "abort", "client", "rx_send|wc_recv|interrupt", "the server answers after the step" },
	{ "close", "client", "rx_send|wc_recv", "the server answers after the step" },
};

/* @list: a pattern that begins with * or !, or words separated by | */
static bool is_in(const char *list, const char *word)
{
	char pattern[128];

	if (list[0] == '*' || list[0] == '!')
		return !fnmatch(list, word, FNM_EXTMATCH);
	snprintf(pattern, sizeof(pattern), "@(%s)", list);
	return !fnmatch(pattern, word, FNM_EXTMATCH);
}

const char *not_reached(enum sweep_step s, int host, const struct fault *f)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(natures); i++)
		if (is_in(natures[i].steps, step_names[s]) &&
		    is_in(natures[i].side, host == 1 ? "client" : "server") &&
		    is_in(natures[i].points, f->point))
			return natures[i].because;
	return NULL;
}

/*
 * How far first contact is at the side with the fault, when the point is passed
 * (CLC-57, CLC-58, I-36). Names without a line in moments[]: before this side's
 * CONFIRM LINK is complete.
 */
enum moment {
	BEFORE,		/* Decline */
	BETWEEN,	/* reset if noticed before the other side's Decline */
	CROSSING,	/* the same, or first contact is complete here */
	AFTER,		/* neither side declines any more */
};

static const struct {
	const char *pattern;
	enum moment moment;
} moments[] = {
	/* CONFIRM LINK and ADD LINK have arrived, the refusal is queued */
	{ "*/client/tx_ack=*+", AFTER },
	/* from the first pass on, in settle as well */
	{ "*/*/*=*+", BEFORE },
	/* the reply to CONFIRM LINK */
	{ "first/server/@(rx_send|wc_recv)=*", BETWEEN },
	/* ADD LINK, which arrives before the device is removed */
	{ "settle/server/tx_send=remove", AFTER },
	/* CONFIRM LINK, or its reply, has failed; no completion is handled */
	{ "settle/*/wc_send=+([0-9])", BEFORE },
	{ "settle/server/interrupt=fail", BEFORE },
	{ "settle/server/@(tx_send|wc_send|interrupt)=*", BETWEEN },
	{ "settle/client/wc_send=*", BETWEEN },
	/* ADD LINK, which it refuses */
	{ "settle/client/@(rx_send|wc_recv)=*", CROSSING },
	/* ADD LINK has arrived, so the client has refused it */
	{ "settle/server/@(tx_ack|rx_send|wc_recv)=*", AFTER },
	{ "settle/client/@(tx_send|tx_ack)=*", AFTER },
};

static const u32 moment_x[] = {
	[BEFORE] = TCP,
	[BETWEEN] = TCP | FAILED,
	[CROSSING] = TCP | FAILED | HALF,
	[AFTER] = HALF | RESET,		/* the client has its answer */
};

static enum moment moment_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(moments); i++)
		if (!fnmatch(moments[i].pattern, name, FNM_EXTMATCH))
			return moments[i].moment;
	return BEFORE;
}

/* Hosts (1 << host) that may not decline in first contact, but see declines() */
u32 mute_hosts(int host, const char *name)
{
	switch (moment_of(name)) {
	case BEFORE:
		return 0;
	case BETWEEN:
	case CROSSING:
		return 1u << host;
	default:
		return 1u << 1 | 1u << 2;
	}
}

#define GONE(side)							\
	side ":device-gone " side ":qp-fail " side ":mr-fail "		\
	side ":confirm-link-fail " side ":add-link-fail"

/*
 * One of these reasons is counted by the side that declines in first contact.
 * If a device is lost that is the side that had it; the reason is the operation
 * that failed, or the loss of the device if that was noticed first.
 */
const char *decline_reasons(enum sweep_step s, int host, const struct fault *f, const char *name)
{
	static const char * const gone[] = { NULL, GONE("client"), GONE("server") };

	if (s != S_FIRST && s != S_SETTLE)
		return NULL;
	if (f->kind == K_PORT && moment_of(name) != AFTER)
		return gone[host];
	return f->kind != K_GID && moment_of(name) == BEFORE ? f->first : NULL;
}

#define AT_ONCE	200	/* ms */
#define SILENCE	15000	/* 7 ACK timeouts, or t_testlink + t_llc, and then the other side */

/* First contact, ms */
#define T_LLC_FIRST	10000
#define T_LLC	4000
#define LATE	700	/* of a timer, at 100 Hz */
#define HELD	300	/* a Decline of the client may wait for a delayed ACK of TCP */
#define AGAIN	700	/* the first ACK timeout */

/* Exceptions from the rules in expect() */
static const struct {
	const char *pattern;
	struct expect x;
} exceptions[] = {
	{ "*/dma_map=fail", { SMC, SMC, AT_ONCE, ~0u, NULL,
	  "memory is tried in smaller pieces, and what is not needed at once later" } },
	{ "first/*/wc_recv=drop", { FAILED, FAILED, T_LLC_FIRST + LATE, T_LLC_FIRST + LATE,
	  "llc-timeout", "a message is lost without a trace (CLC-62)" } },
	{ "settle/server/wc_recv=drop", { HALF, HALF, T_LLC_FIRST + LATE, T_LLC_FIRST + LATE,
	  "link-error", "the same, of ADD LINK's refusal; the next message, TEST LINK, shows it" } },
	{ "settle/client/wc_recv=drop", { FAILED, FAILED, T_LLC_FIRST + LATE, T_LLC_FIRST + LATE,
	  "llc-timeout", "a message is lost without a trace (CLC-62)" } },
	{ "first/*/wc_send=drop", { TCP, TCP, T_LLC + LATE, ~0u, "mr-fail",
	  "of REG_MR, which is waited for until T_LLC" } },
	{ "settle/*/wc_send=drop", { SMC, SMC, AT_ONCE, ~0u, NULL,
	  "of CONFIRM LINK, whose answer says as much" } },
	{ "settle/client/wc_send=+([0-9])", { TCP, TCP, HELD, ~0u, "client:confirm-link-fail",
	  "of the answer to CONFIRM LINK: who sees that it has failed declines (CLC-63)" } },
	{ "settle/server/wc_send=+([0-9])", { TCP, TCP, AT_ONCE, ~0u, "server:confirm-link-fail",
	  "of CONFIRM LINK: who sees that it has failed declines (CLC-63)" } },
	{ "confirm-rkey/*/wc_send=drop", { RESET, SMC | TCP | RESET, ~0u, 15000, "link-error",
	  "of REG_MR, which is waited for until T_LLC; then the link has failed" } },
	{ "confirm-rkey/*/wc_recv=drop", { RESET, SMC | TCP | RESET, ~0u, 15000, "llc-timeout",
	  "CONFIRM RKEY or its answer is lost (LLC-63)" } },
	{ "delete-rkey/*/wc_recv=drop", { SMC | RESET, SMC, ~0u, 15000, "link-error",
	  "DELETE RKEY or its answer is lost (I-18), or TEST LINK before it: the next message shows it" } },
	{ "@(data|window|reuse|close|test-link)/*/wc_recv=drop",
	  { RESET, SMC | TCP | RESET | FAILED | HALF, ~0u, SILENCE, "link-error",
	    "a message is lost, which the next one shows: receives complete in order" } },
};

/* First contact: CLC-57, CLC-58, CLC-63 */
static struct expect expect_contact(int host, const struct fault *f, const char *name)
{
	static const char * const lost[] = { NULL, "client:link-device", "server:link-device" };
	struct expect x = { moment_x[moment_of(name)], 0, HELD, AT_ONCE, NULL, NULL };

	switch (f->kind) {
	case K_PORT:
		if (moment_of(name) != BEFORE)
			x.why = lost[host];
		/* a worker removes the device, perhaps after first contact */
		if (f->off == OFF_GONE)
			x.x |= HALF | RESET;
		break;
	case K_GID:
		if (moment_of(name) == BEFORE)
			x.x |= SMC;
		break;
	case K_DEAF:	/* of a send, or of a message, lost so (CLC-62) */
		x.x |= FAILED;
		x.up = T_LLC_FIRST + LATE;
		x.ms = SILENCE;
		break;
	case K_SILENT:	/* half of T_LLC_FIRST for this side's message (LLC-11) */
		x.up = T_LLC_FIRST / 2 + LATE;
		x.ms = SILENCE;
		break;
	default:
		break;
	}
	return x;
}

struct expect expect(enum sweep_step s, int host, const struct fault *f, const char *name)
{
	struct expect x = { SMC, SMC, ~0u, ~0u, NULL, NULL };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(exceptions); i++)
		if (!fnmatch(exceptions[i].pattern, name, FNM_EXTMATCH))
			return exceptions[i].x;
	if (s == S_ABORT) {
		x.x = RESET;
		return x;
	}
	if (s == S_FIRST || s == S_SETTLE)
		x.up = AGAIN;
	if (s == S_REUSE)	/* CLC does not depend on the link */
		x.up = AT_ONCE;
	if (!f || f->kind == K_CALM) {
		if (s == S_END)		/* DELETE LINK has arrived (LG-40) */
			x.why = "client:lgr-deleted";
		return x;
	}
	if (s == S_FIRST || s == S_SETTLE)
		return expect_contact(host, f, name);
	x.z = SMC | TCP | RESET | FAILED | HALF;
	switch (f->kind) {
	case K_MAKE:
		x.z = SMC | TCP;
		break;
	case K_LOST:
		x.ms = SILENCE;
		break;
	case K_DEAD:
		x.x = RESET;
		x.ms = AT_ONCE;
		x.why = "link-error";
		break;
	case K_DEAF:
	case K_SILENT:
		x.x = RESET;
		x.ms = SILENCE;
		break;
	default:
		x.x = RESET;
		x.ms = AT_ONCE;
		x.why = "link-device link-error";
	}
	if (s == S_CLOSE)
		x.x |= SMC;
	if (s == S_END)		/* the group has ended already, for a reason of its own */
		x.why = NULL;
	/* the time that the step waits for */
	if (x.ms != ~0u)
		x.ms += s == S_DELETE ? T_RMB_FREE : s == S_TEST ? T_TESTLINK : 0;
	return x;
}
