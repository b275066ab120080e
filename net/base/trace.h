/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: /sys/kernel/tracing/events/smcr/.
 *
 * Objects are named by the numbers that netlink shows as well (link group id,
 * alert token, socket cookie), never by address. Reasons are recorded as words,
 * so that filters can be written with them: why == "no-device".
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smcr

#if !defined(_SMCR_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SMCR_TRACE_H

#include <linux/tracepoint.h>
#include "core/cdc.h"
#include "core/clc.h"
#include "core/close.h"
#include "core/llc.h"
#include "base/base.h"
#include "base/stats.h"

/*
 * Words for numbers, by the lists beside the enums. SMCR_TR() is defined twice:
 * first for TRACE_DEFINE_ENUM, which exports the values of the enumerators to
 * readers in user space, then for the tables of __print_symbolic(). Each table
 * ends with an entry without a comma, for a value that does not occur.
 */
#define SMCR_TR_CONN_ST(name, word)	SMCR_TR(SMCR_CONN_ST_##name, word)
#define SMCR_TR_CONN_EV(name, word)	SMCR_TR(SMCR_CONN_EV_##name, word)
#define SMCR_TR_ACT(name, bit, word)	SMCR_TR(SMCR_ACT_##name, word)
#define SMCR_TR_MODE(name, nl, word)	SMCR_TR(SMCR_MODE_##name, word)
#define SMCR_TR_LGR_ST(name, word)	SMCR_TR(SMCR_LGR_ST_##name, word)
#define SMCR_TR_LINK_ST(name, nl, word)	SMCR_TR(SMCR_LINK_ST_##name, word)
#define SMCR_TR_CLC(name, num, word)	SMCR_TR(SMCR_CLC_##name, word)
#define SMCR_TR_LLC(name, num, word)	SMCR_TR(SMCR_LLC_##name, word)
#define SMCR_TR_CDC(name, bit)		SMCR_TR(SMCR_CDC_##name, #name)
#define SMCR_TR_LAST			{ 0xff, "?" }
#define SMCR_TR_LAST_FLAG		{ 0x80000000, "?" }

#undef SMCR_TR
#define SMCR_TR(val, word) TRACE_DEFINE_ENUM(val);
SMCR_CONN_STATES(SMCR_TR_CONN_ST)
SMCR_CONN_EVENTS(SMCR_TR_CONN_EV)
SMCR_CLOSE_ACTIONS(SMCR_TR_ACT)
SMCR_MODES(SMCR_TR_MODE)
SMCR_LGR_STATES(SMCR_TR_LGR_ST)
SMCR_LINK_STATES(SMCR_TR_LINK_ST)
SMCR_CLC_TYPES(SMCR_TR_CLC)
SMCR_LLC_TYPES(SMCR_TR_LLC)
SMCR_CDC_PFLAGS(SMCR_TR_CDC)
SMCR_CDC_CFLAGS(SMCR_TR_CDC)

#undef SMCR_TR
#define SMCR_TR(val, word) { val, word },

#define smcr_tr_conn_st(v) \
	__print_symbolic(v, SMCR_CONN_STATES(SMCR_TR_CONN_ST) SMCR_TR_LAST)
#define smcr_tr_conn_ev(v) \
	__print_symbolic(v, SMCR_CONN_EVENTS(SMCR_TR_CONN_EV) SMCR_TR_LAST)
#define smcr_tr_act(v) \
	__print_flags(v, "|", SMCR_CLOSE_ACTIONS(SMCR_TR_ACT) SMCR_TR_LAST_FLAG)
#define smcr_tr_mode(v) \
	__print_symbolic(v, SMCR_MODES(SMCR_TR_MODE) SMCR_TR_LAST)
#define smcr_tr_lgr_st(v) \
	__print_symbolic(v, SMCR_LGR_STATES(SMCR_TR_LGR_ST) SMCR_TR_LAST)
#define smcr_tr_link_st(v) \
	__print_symbolic(v, SMCR_LINK_STATES(SMCR_TR_LINK_ST) SMCR_TR_LAST)
#define smcr_tr_clc(v) \
	__print_symbolic(v, SMCR_CLC_TYPES(SMCR_TR_CLC) SMCR_TR_LAST)
#define smcr_tr_llc(v) \
	__print_symbolic(v, SMCR_LLC_TYPES(SMCR_TR_LLC) SMCR_TR_LAST)

#define smcr_tr_pflags(v) \
	__print_flags(v, "", SMCR_CDC_PFLAGS(SMCR_TR_CDC) SMCR_TR_LAST_FLAG)
#define smcr_tr_cflags(v) \
	__print_flags(v, "", SMCR_CDC_CFLAGS(SMCR_TR_CDC) SMCR_TR_LAST_FLAG)

/* Bytes for a word such as a reason; a longer one is cut */
#define SMCR_TR_WORD	24

/* smcr_report_reason() has counted a reason; lgr_id, token: 0 = none */
TRACE_EVENT(smcr_reason,
	    TP_PROTO(enum smcr_reason why, u32 lgr_id, u32 token),
	    TP_ARGS(why, lgr_id, token),
	    TP_STRUCT__entry(__field(u32, lgr_id)
			     __field(u32, token)
			     __array(char, why, SMCR_TR_WORD)),
	    TP_fast_assign(__entry->lgr_id = lgr_id;
			   __entry->token = token;
			   strscpy(__entry->why, smcr_reason_name(why),
				   sizeof(__entry->why));),
	    TP_printk("why=%s lgr=%u token=%08x",
		      __entry->why,
		      __entry->lgr_id,
		      __entry->token)
);

/* Step of the close machine (core/close.h) of a connection */
TRACE_EVENT(smcr_conn_state,
	    TP_PROTO(u32 token, u8 old, u8 ev, u8 new, u32 actions),
	    TP_ARGS(token, old, ev, new, actions),
	    TP_STRUCT__entry(__field(u32, token)
			     __field(u32, actions)
			     __field(u8, old)
			     __field(u8, ev)
			     __field(u8, new)),
	    TP_fast_assign(__entry->token = token;
			   __entry->actions = actions;
			   __entry->old = old;
			   __entry->ev = ev;
			   __entry->new = new;),
	    TP_printk("token=%08x %s + %s -> %s actions=%s",
		      __entry->token,
		      smcr_tr_conn_st(__entry->old),
		      smcr_tr_conn_ev(__entry->ev),
		      smcr_tr_conn_st(__entry->new),
		      smcr_tr_act(__entry->actions))
);

/* The socket's mode changed; the cookie is that of SO_COOKIE */
TRACE_EVENT(smcr_mode,
	    TP_PROTO(const struct sock *sk, u8 old, u8 new),
	    TP_ARGS(sk, old, new),
	    TP_STRUCT__entry(__field(u64, cookie)
			     __field(u8, old)
			     __field(u8, new)),
	    TP_fast_assign(__entry->cookie = smcr_sock_cookie(sk);
			   __entry->old = old;
			   __entry->new = new;),
	    TP_printk("sk=%llu %s -> %s",
		      __entry->cookie,
		      smcr_tr_mode(__entry->old),
		      smcr_tr_mode(__entry->new))
);

/* CLC message; flag: first contact in an Accept, out of sync in a Decline */
TRACE_EVENT(smcr_clc,
	    TP_PROTO(bool tx, u8 type, u16 len, bool flag),
	    TP_ARGS(tx, type, len, flag),
	    TP_STRUCT__entry(__field(u16, len)
			     __field(u8, type)
			     __field(bool, tx)
			     __field(bool, flag)),
	    TP_fast_assign(__entry->len = len;
			   __entry->type = type;
			   __entry->tx = tx;
			   __entry->flag = flag;),
	    TP_printk("%s %s len=%u flag=%d",
		      __entry->tx ? "tx" : "rx",
		      smcr_tr_clc(__entry->type),
		      __entry->len,
		      __entry->flag)
);

/* LLC message */
TRACE_EVENT(smcr_llc,
	    TP_PROTO(bool tx, u32 lgr_id, u8 type, bool reply),
	    TP_ARGS(tx, lgr_id, type, reply),
	    TP_STRUCT__entry(__field(u32, lgr_id)
			     __field(u8, type)
			     __field(bool, tx)
			     __field(bool, reply)),
	    TP_fast_assign(__entry->lgr_id = lgr_id;
			   __entry->type = type;
			   __entry->tx = tx;
			   __entry->reply = reply;),
	    TP_printk("%s lgr=%u %s%s",
		      __entry->tx ? "tx" : "rx",
		      __entry->lgr_id,
		      smcr_tr_llc(__entry->type),
		      __entry->reply ? " reply" : "")
);

/* CDC message; token: the receiver's alert token, which is in the message */
TRACE_EVENT(smcr_cdc,
	    TP_PROTO(bool tx, u32 token, const struct smcr_cdc *cdc),
	    TP_ARGS(tx, token, cdc),
	    TP_STRUCT__entry(__field(u32, token)
			     __field(u32, prod_count)
			     __field(u32, cons_count)
			     __field(u16, prod_wrap)
			     __field(u16, cons_wrap)
			     __field(u16, seq)
			     __field(u8, pflags)
			     __field(u8, cflags)
			     __field(bool, tx)),
	    TP_fast_assign(__entry->token = token;
			   __entry->prod_count = cdc->prod.count;
			   __entry->cons_count = cdc->cons.count;
			   __entry->prod_wrap = cdc->prod.wrap;
			   __entry->cons_wrap = cdc->cons.wrap;
			   __entry->seq = cdc->seq;
			   __entry->pflags = cdc->pflags;
			   __entry->cflags = cdc->cflags;
			   __entry->tx = tx;),
	    TP_printk("%s token=%08x seq=%u prod=%u/%u cons=%u/%u pflags=%s cflags=%s",
		      __entry->tx ? "tx" : "rx",
		      __entry->token,
		      __entry->seq,
		      __entry->prod_wrap, __entry->prod_count,
		      __entry->cons_wrap, __entry->cons_count,
		      smcr_tr_pflags(__entry->pflags),
		      smcr_tr_cflags(__entry->cflags))
);

/* One RDMA WRITE request was posted */
TRACE_EVENT(smcr_write,
	    TP_PROTO(u32 token, u64 addr, u32 len),
	    TP_ARGS(token, addr, len),
	    TP_STRUCT__entry(__field(u64, addr)
			     __field(u32, token)
			     __field(u32, len)),
	    TP_fast_assign(__entry->addr = addr;
			   __entry->token = token;
			   __entry->len = len;),
	    TP_printk("token=%08x addr=0x%llx len=%u",
		      __entry->token,
		      __entry->addr,
		      __entry->len)
);

/* State of a link group */
TRACE_EVENT(smcr_lgr,
	    TP_PROTO(u32 id, bool server, u8 old, u8 new,
		     enum smcr_reason why),
	    TP_ARGS(id, server, old, new, why),
	    TP_STRUCT__entry(__field(u32, lgr_id)
			     __field(bool, server)
			     __field(u8, old)
			     __field(u8, new)
			     __array(char, why, SMCR_TR_WORD)),
	    TP_fast_assign(__entry->lgr_id = id;
			   __entry->server = server;
			   __entry->old = old;
			   __entry->new = new;
			   strscpy(__entry->why, smcr_reason_name(why),
				   sizeof(__entry->why));),
	    TP_printk("lgr=%u %s %s -> %s why=%s",
		      __entry->lgr_id,
		      __entry->server ? "server" : "client",
		      smcr_tr_lgr_st(__entry->old),
		      smcr_tr_lgr_st(__entry->new),
		      __entry->why)
);

/* State of a link */
TRACE_EVENT(smcr_link,
	    TP_PROTO(u32 lgr_id, u8 num, u8 st, enum smcr_reason why),
	    TP_ARGS(lgr_id, num, st, why),
	    TP_STRUCT__entry(__field(u32, lgr_id)
			     __field(u8, num)
			     __field(u8, st)
			     __array(char, why, SMCR_TR_WORD)),
	    TP_fast_assign(__entry->lgr_id = lgr_id;
			   __entry->num = num;
			   __entry->st = st;
			   strscpy(__entry->why, smcr_reason_name(why),
				   sizeof(__entry->why));),
	    TP_printk("lgr=%u link=%u %s why=%s",
		      __entry->lgr_id,
		      __entry->num,
		      smcr_tr_link_st(__entry->st),
		      __entry->why)
);

/* The socket falls back to TCP; peer_diag: diagnosis of a received Decline */
TRACE_EVENT(smcr_fallback,
	    TP_PROTO(const struct sock *sk, bool client, enum smcr_reason why,
		     u32 peer_diag),
	    TP_ARGS(sk, client, why, peer_diag),
	    TP_STRUCT__entry(__field(u64, cookie)
			     __field(u32, peer_diag)
			     __field(bool, client)
			     __array(char, why, SMCR_TR_WORD)),
	    TP_fast_assign(__entry->cookie = smcr_sock_cookie(sk);
			   __entry->peer_diag = peer_diag;
			   __entry->client = client;
			   strscpy(__entry->why, smcr_reason_name(why),
				   sizeof(__entry->why));),
	    TP_printk("sk=%llu %s why=%s peer_diag=0x%08x",
		      __entry->cookie,
		      __entry->client ? "client" : "server",
		      __entry->why,
		      __entry->peer_diag)
);

/* An RMB; what: "create", "register", "confirm", "withdraw" or "free" */
TRACE_EVENT(smcr_rmb,
	    TP_PROTO(u32 lgr_id, u32 rmb_id, const char *what, u8 bsize),
	    TP_ARGS(lgr_id, rmb_id, what, bsize),
	    TP_STRUCT__entry(__field(u32, lgr_id)
			     __field(u32, rmb_id)
			     __field(u8, bsize)
			     __array(char, what, SMCR_TR_WORD)),
	    TP_fast_assign(__entry->lgr_id = lgr_id;
			   __entry->rmb_id = rmb_id;
			   __entry->bsize = bsize;
			   strscpy(__entry->what, what,
				   sizeof(__entry->what));),
	    TP_printk("lgr=%u rmb=%u %s bsize=%u",
		      __entry->lgr_id,
		      __entry->rmb_id,
		      __entry->what,
		      __entry->bsize)
);

/* A connection moves to another link; again: number of bytes to write again */
TRACE_EVENT(smcr_move,
	    TP_PROTO(u32 token, u8 link, u16 seq, u64 again),
	    TP_ARGS(token, link, seq, again),
	    TP_STRUCT__entry(__field(u32, token)
			     __field(u8, link)
			     __field(u16, seq)
			     __field(u64, again)),
	    TP_fast_assign(__entry->token = token;
			   __entry->link = link;
			   __entry->seq = seq;
			   __entry->again = again;),
	    TP_printk("token=%08x link=%u seq=%u again=%llu",
		      __entry->token,
		      __entry->link,
		      __entry->seq,
		      __entry->again)
);

#endif /* _SMCR_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
