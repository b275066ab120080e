/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: /sys/kernel/tracing/events/smcr/.
 *
 * Objects are named by the numbers that netlink shows as well (link group id,
 * alert token, socket cookie), never by address. Only trace.c, which creates
 * the events, needs the definitions of the structures passed here.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smcr

#if !defined(_SMCR_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SMCR_TRACE_H

#include <linux/tracepoint.h>
#include "base.h"
#include "stats.h"
#include "core/close.h"

struct smcr_cdc;

/*
 * Numbers to words. The lists are expanded twice: TRACE_DEFINE_ENUM tells user
 * space the values, __print_symbolic the words.
 */
#undef SMCR_TR_CONN_STATES
#define SMCR_TR_CONN_STATES(E, L) \
	E(SMCR_CONN_ST_CLOSED,			"closed") \
	E(SMCR_CONN_ST_ACTIVE,			"active") \
	E(SMCR_CONN_ST_PEER_CLOSE_WAIT1,	"peer-close-wait1") \
	E(SMCR_CONN_ST_PEER_CLOSE_WAIT2,	"peer-close-wait2") \
	E(SMCR_CONN_ST_APP_FIN_CLOSE_WAIT,	"app-fin-close-wait") \
	E(SMCR_CONN_ST_APP_CLOSE_WAIT1,		"app-close-wait1") \
	E(SMCR_CONN_ST_APP_CLOSE_WAIT2,		"app-close-wait2") \
	E(SMCR_CONN_ST_PEER_FIN_CLOSE_WAIT,	"peer-fin-close-wait") \
	E(SMCR_CONN_ST_PEER_ABORT_WAIT,		"peer-abort-wait") \
	L(SMCR_CONN_ST_PROCESS_ABORT,		"process-abort")

#undef SMCR_TR_CONN_EVENTS
#define SMCR_TR_CONN_EVENTS(E, L) \
	E(SMCR_CONN_EV_APP_SHUT_WR,	"app-shut-wr") \
	E(SMCR_CONN_EV_APP_CLOSE,	"app-close") \
	E(SMCR_CONN_EV_APP_ABORT,	"app-abort") \
	E(SMCR_CONN_EV_DRAINED,		"drained") \
	E(SMCR_CONN_EV_RX_DONE,		"rx-done") \
	E(SMCR_CONN_EV_RX_CLOSED,	"rx-closed") \
	E(SMCR_CONN_EV_RX_ABORT,	"rx-abort") \
	E(SMCR_CONN_EV_TX_ABORT_DONE,	"tx-abort-done") \
	E(SMCR_CONN_EV_TCP_RESET,	"tcp-reset") \
	E(SMCR_CONN_EV_TIMER,		"timer") \
	E(SMCR_CONN_EV_LGR_LOST,	"lgr-lost") \
	E(SMCR_CONN_EV_VIOLATION,	"violation") \
	L(SMCR_CONN_EV_CONFLICT,	"conflict")

#undef SMCR_TR_MODES
#define SMCR_TR_MODES(E, L) \
	E(SMCR_MODE_INIT,	"init") \
	E(SMCR_MODE_LISTEN,	"listen") \
	E(SMCR_MODE_NEG,	"neg") \
	E(SMCR_MODE_SMC,	"smc") \
	E(SMCR_MODE_TCP,	"tcp") \
	L(SMCR_MODE_DEAD,	"dead")

#undef SMCR_TR_LGR_STATES
#define SMCR_TR_LGR_STATES(E, L) \
	E(SMCR_LGR_ST_FORMING,	"forming") \
	E(SMCR_LGR_ST_ACTIVE,	"active") \
	L(SMCR_LGR_ST_DEAD,	"dead")

#undef SMCR_TR_LINK_STATES
#define SMCR_TR_LINK_STATES(E, L) \
	E(SMCR_LINK_ST_RESET,	"reset") \
	E(SMCR_LINK_ST_INIT,	"init") \
	E(SMCR_LINK_ST_RTR,	"rtr") \
	E(SMCR_LINK_ST_RTS,	"rts") \
	L(SMCR_LINK_ST_ERR,	"err")

#undef SMCR_TR_CLC_TYPES
#define SMCR_TR_CLC_TYPES(E, L) \
	E(SMCR_CLC_PROPOSAL,	"proposal") \
	E(SMCR_CLC_ACCEPT,	"accept") \
	E(SMCR_CLC_CONFIRM,	"confirm") \
	L(SMCR_CLC_DECLINE,	"decline")

#undef SMCR_TR_LLC_TYPES
#define SMCR_TR_LLC_TYPES(E, L) \
	E(SMCR_LLC_CONFIRM_LINK,	"confirm-link") \
	E(SMCR_LLC_ADD_LINK,		"add-link") \
	E(SMCR_LLC_ADD_LINK_CONT,	"add-link-cont") \
	E(SMCR_LLC_DELETE_LINK,		"delete-link") \
	E(SMCR_LLC_CONFIRM_RKEY,	"confirm-rkey") \
	E(SMCR_LLC_TEST_LINK,		"test-link") \
	E(SMCR_LLC_CONFIRM_RKEY_CONT,	"confirm-rkey-cont") \
	L(SMCR_LLC_DELETE_RKEY,		"delete-rkey")

/* SMCR_REASONS has no last entry of its own; the sentinel serves as one */
#undef SMCR_TR_REASON_ENUM
#define SMCR_TR_REASON_ENUM(name, wire, kebab, text) \
	TRACE_DEFINE_ENUM(SMCR_R_##name);
#undef SMCR_TR_REASON_WORD
#define SMCR_TR_REASON_WORD(name, wire, kebab, text) { SMCR_R_##name, kebab },
#undef smcr_tr_reason
#define smcr_tr_reason(why) \
	__print_symbolic(why, SMCR_REASONS(SMCR_TR_REASON_WORD) \
			 { NR_SMCR_REASON, "invalid" })

#undef SMCR_TR_ENUM
#define SMCR_TR_ENUM(value, word)	TRACE_DEFINE_ENUM(value);
#undef SMCR_TR_WORD
#define SMCR_TR_WORD(value, word)	{ value, word },
#undef SMCR_TR_LAST
#define SMCR_TR_LAST(value, word)	{ value, word }
#undef smcr_tr_word
#define smcr_tr_word(value, list) \
	__print_symbolic(value, list(SMCR_TR_WORD, SMCR_TR_LAST))

SMCR_REASONS(SMCR_TR_REASON_ENUM)
TRACE_DEFINE_ENUM(NR_SMCR_REASON);
SMCR_TR_CONN_STATES(SMCR_TR_ENUM, SMCR_TR_ENUM)
SMCR_TR_CONN_EVENTS(SMCR_TR_ENUM, SMCR_TR_ENUM)
SMCR_TR_MODES(SMCR_TR_ENUM, SMCR_TR_ENUM)
SMCR_TR_LGR_STATES(SMCR_TR_ENUM, SMCR_TR_ENUM)
SMCR_TR_LINK_STATES(SMCR_TR_ENUM, SMCR_TR_ENUM)
SMCR_TR_CLC_TYPES(SMCR_TR_ENUM, SMCR_TR_ENUM)
SMCR_TR_LLC_TYPES(SMCR_TR_ENUM, SMCR_TR_ENUM)

/* A reason was counted; see smcr_hit(). 0 = no link group, no connection. */
TRACE_EVENT(smcr_reason,
	TP_PROTO(enum smcr_reason why, u32 lgr_id, u32 token),
	TP_ARGS(why, lgr_id, token),
	TP_STRUCT__entry(
		__field(u32, why)
		__field(u32, lgr_id)
		__field(u32, token)
	),
	TP_fast_assign(
		__entry->why = why;
		__entry->lgr_id = lgr_id;
		__entry->token = token;
	),
	TP_printk("why=%s lgr=%u token=%08x", smcr_tr_reason(__entry->why),
		  __entry->lgr_id, __entry->token)
);

/* Step of the close machine; actions is SMCR_ACT_* */
TRACE_EVENT(smcr_conn_state,
	TP_PROTO(u32 token, u8 old, u8 ev, u8 new, u32 actions),
	TP_ARGS(token, old, ev, new, actions),
	TP_STRUCT__entry(
		__field(u32, token)
		__field(u32, actions)
		__field(u8, old)
		__field(u8, ev)
		__field(u8, new)
	),
	TP_fast_assign(
		__entry->token = token;
		__entry->actions = actions;
		__entry->old = old;
		__entry->ev = ev;
		__entry->new = new;
	),
	TP_printk("token=%08x %s + %s -> %s actions=%s", __entry->token,
		  smcr_tr_word(__entry->old, SMCR_TR_CONN_STATES),
		  smcr_tr_word(__entry->ev, SMCR_TR_CONN_EVENTS),
		  smcr_tr_word(__entry->new, SMCR_TR_CONN_STATES),
		  __print_flags(__entry->actions, "|",
				{ SMCR_ACT_PURGE,	"purge" },
				{ SMCR_ACT_SEND_DONE,	"send-done" },
				{ SMCR_ACT_SEND_CLOSED,	"send-closed" },
				{ SMCR_ACT_SEND_ABORT,	"send-abort" },
				{ SMCR_ACT_EOF,		"eof" },
				{ SMCR_ACT_ERROR,	"error" },
				{ SMCR_ACT_CLOSE_TIMER,	"close-timer" },
				{ SMCR_ACT_ABORT_TIMER,	"abort-timer" },
				{ SMCR_ACT_STOP_TIMER,	"stop-timer" },
				{ SMCR_ACT_TCP_FIN,	"tcp-fin" },
				{ SMCR_ACT_TCP_RST,	"tcp-rst" },
				{ SMCR_ACT_RELEASE,	"release" },
				{ SMCR_ACT_NO_TX,	"no-tx" }))
);

/* The socket's mode changed; the cookie is that of SO_COOKIE */
TRACE_EVENT(smcr_mode,
	TP_PROTO(const struct sock *sk, u8 old, u8 new),
	TP_ARGS(sk, old, new),
	TP_STRUCT__entry(
		__field(u64, cookie)
		__field(u8, old)
		__field(u8, new)
	),
	TP_fast_assign(
		__entry->cookie = smcr_sock_cookie(sk);
		__entry->old = old;
		__entry->new = new;
	),
	TP_printk("sk=%llu %s -> %s", __entry->cookie,
		  smcr_tr_word(__entry->old, SMCR_TR_MODES),
		  smcr_tr_word(__entry->new, SMCR_TR_MODES))
);

/* CLC message; flag is F of an Accept, S of a Decline */
TRACE_EVENT(smcr_clc,
	TP_PROTO(bool tx, u8 type, u16 len, bool flag),
	TP_ARGS(tx, type, len, flag),
	TP_STRUCT__entry(
		__field(u16, len)
		__field(u8, type)
		__field(bool, tx)
		__field(bool, flag)
	),
	TP_fast_assign(
		__entry->len = len;
		__entry->type = type;
		__entry->tx = tx;
		__entry->flag = flag;
	),
	TP_printk("%s %s len=%u flag=%d", __entry->tx ? "tx" : "rx",
		  smcr_tr_word(__entry->type, SMCR_TR_CLC_TYPES),
		  __entry->len, __entry->flag)
);

TRACE_EVENT(smcr_llc,
	TP_PROTO(bool tx, u32 lgr_id, u8 type, bool reply),
	TP_ARGS(tx, lgr_id, type, reply),
	TP_STRUCT__entry(
		__field(u32, lgr_id)
		__field(u8, type)
		__field(bool, tx)
		__field(bool, reply)
	),
	TP_fast_assign(
		__entry->lgr_id = lgr_id;
		__entry->type = type;
		__entry->tx = tx;
		__entry->reply = reply;
	),
	TP_printk("%s lgr=%u %s%s", __entry->tx ? "tx" : "rx", __entry->lgr_id,
		  smcr_tr_word(__entry->type, SMCR_TR_LLC_TYPES),
		  __entry->reply ? " reply" : "")
);

/* CDC message; token is the one in the message, the receiver's */
TRACE_EVENT(smcr_cdc,
	TP_PROTO(bool tx, u32 token, const struct smcr_cdc *cdc),
	TP_ARGS(tx, token, cdc),
	TP_STRUCT__entry(
		__field(u32, token)
		__field(u32, prod_count)
		__field(u32, cons_count)
		__field(u16, prod_wrap)
		__field(u16, cons_wrap)
		__field(u16, seq)
		__field(u8, pflags)
		__field(u8, cflags)
		__field(bool, tx)
	),
	TP_fast_assign(
		__entry->token = token;
		__entry->prod_count = cdc->prod.count;
		__entry->cons_count = cdc->cons.count;
		__entry->prod_wrap = cdc->prod.wrap;
		__entry->cons_wrap = cdc->cons.wrap;
		__entry->seq = cdc->seq;
		__entry->pflags = cdc->pflags;
		__entry->cflags = cdc->cflags;
		__entry->tx = tx;
	),
	TP_printk("%s token=%08x seq=%u prod=%u/%u cons=%u/%u pflags=%s cflags=%s",
		  __entry->tx ? "tx" : "rx", __entry->token, __entry->seq,
		  __entry->prod_wrap, __entry->prod_count,
		  __entry->cons_wrap, __entry->cons_count,
		  __print_flags(__entry->pflags, "",
				{ SMCR_CDC_B, "B" }, { SMCR_CDC_P, "P" },
				{ SMCR_CDC_U, "U" }, { SMCR_CDC_R, "R" },
				{ SMCR_CDC_F, "F" }),
		  __print_flags(__entry->cflags, "",
				{ SMCR_CDC_D, "D" }, { SMCR_CDC_C, "C" },
				{ SMCR_CDC_A, "A" }))
);

/* One RDMA WRITE request was posted */
TRACE_EVENT(smcr_write,
	TP_PROTO(u32 token, u64 addr, u32 len),
	TP_ARGS(token, addr, len),
	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u32, token)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__entry->token = token;
		__entry->len = len;
	),
	TP_printk("token=%08x addr=0x%llx len=%u", __entry->token,
		  __entry->addr, __entry->len)
);

TRACE_EVENT(smcr_lgr,
	TP_PROTO(u32 id, bool server, u8 old, u8 new, enum smcr_reason why),
	TP_ARGS(id, server, old, new, why),
	TP_STRUCT__entry(
		__field(u32, lgr_id)
		__field(u32, why)
		__field(bool, server)
		__field(u8, old)
		__field(u8, new)
	),
	TP_fast_assign(
		__entry->lgr_id = id;
		__entry->why = why;
		__entry->server = server;
		__entry->old = old;
		__entry->new = new;
	),
	TP_printk("lgr=%u %s %s -> %s why=%s", __entry->lgr_id,
		  __entry->server ? "server" : "client",
		  smcr_tr_word(__entry->old, SMCR_TR_LGR_STATES),
		  smcr_tr_word(__entry->new, SMCR_TR_LGR_STATES),
		  smcr_tr_reason(__entry->why))
);

TRACE_EVENT(smcr_link,
	TP_PROTO(u32 lgr_id, u8 num, u8 st, enum smcr_reason why),
	TP_ARGS(lgr_id, num, st, why),
	TP_STRUCT__entry(
		__field(u32, lgr_id)
		__field(u32, why)
		__field(u8, num)
		__field(u8, st)
	),
	TP_fast_assign(
		__entry->lgr_id = lgr_id;
		__entry->why = why;
		__entry->num = num;
		__entry->st = st;
	),
	TP_printk("lgr=%u link=%u %s why=%s", __entry->lgr_id, __entry->num,
		  smcr_tr_word(__entry->st, SMCR_TR_LINK_STATES),
		  smcr_tr_reason(__entry->why))
);

/* The socket goes on as TCP; peer_diag is that of a received Decline */
TRACE_EVENT(smcr_fallback,
	TP_PROTO(const struct smcr_sock *ssk),
	TP_ARGS(ssk),
	TP_STRUCT__entry(
		__field(u64, cookie)
		__field(u32, why)
		__field(u32, peer_diag)
		__field(bool, client)
	),
	TP_fast_assign(
		__entry->cookie = smcr_sock_cookie(&ssk->sk);
		__entry->why = ssk->fallback_why;
		__entry->peer_diag = ssk->peer_diag;
		__entry->client = ssk->is_client;
	),
	TP_printk("sk=%llu %s why=%s peer_diag=0x%08x", __entry->cookie,
		  __entry->client ? "client" : "server",
		  smcr_tr_reason(__entry->why), __entry->peer_diag)
);

/* Life of an RMB; what: "create", "register", "free", ... (15 characters) */
TRACE_EVENT(smcr_rmb,
	TP_PROTO(u32 lgr_id, u32 rmb_id, const char *what, u8 bsize),
	TP_ARGS(lgr_id, rmb_id, what, bsize),
	TP_STRUCT__entry(
		__field(u32, lgr_id)
		__field(u32, rmb_id)
		__field(u8, bsize)
		__array(char, what, 16)
	),
	TP_fast_assign(
		__entry->lgr_id = lgr_id;
		__entry->rmb_id = rmb_id;
		__entry->bsize = bsize;
		strscpy(__entry->what, what, sizeof(__entry->what));
	),
	TP_printk("lgr=%u rmb=%u %s bsize=%u", __entry->lgr_id,
		  __entry->rmb_id, __entry->what, __entry->bsize)
);

#endif /* _SMCR_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
