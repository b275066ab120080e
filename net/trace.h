/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: /sys/kernel/tracing/events/smcr/.
 *
 * Objects are named by the numbers that netlink shows as well (link group id,
 * alert token, socket cookie), never by address. Reasons are recorded as words,
 * so that filters can be written with them: why == "no-device". Only trace.c,
 * which creates the events, needs the definitions of the structures and
 * functions that the assignments use.
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
 * Numbers to words, for readers in user space as well: these learn the values
 * of the enumerators from TRACE_DEFINE_ENUM.
 */
TRACE_DEFINE_ENUM(SMCR_CONN_ST_CLOSED);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_ACTIVE);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_PEER_CLOSE_WAIT1);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_PEER_CLOSE_WAIT2);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_APP_FIN_CLOSE_WAIT);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_APP_CLOSE_WAIT1);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_APP_CLOSE_WAIT2);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_PEER_FIN_CLOSE_WAIT);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_PEER_ABORT_WAIT);
TRACE_DEFINE_ENUM(SMCR_CONN_ST_PROCESS_ABORT);

TRACE_DEFINE_ENUM(SMCR_CONN_EV_APP_SHUT_WR);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_APP_CLOSE);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_APP_ABORT);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_DRAINED);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_RX_DONE);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_RX_CLOSED);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_RX_ABORT);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_TX_ABORT_DONE);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_TCP_RESET);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_TIMER);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_LGR_LOST);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_VIOLATION);
TRACE_DEFINE_ENUM(SMCR_CONN_EV_CONFLICT);

TRACE_DEFINE_ENUM(SMCR_ACT_PURGE);
TRACE_DEFINE_ENUM(SMCR_ACT_SEND_DONE);
TRACE_DEFINE_ENUM(SMCR_ACT_SEND_CLOSED);
TRACE_DEFINE_ENUM(SMCR_ACT_SEND_ABORT);
TRACE_DEFINE_ENUM(SMCR_ACT_EOF);
TRACE_DEFINE_ENUM(SMCR_ACT_ERROR);
TRACE_DEFINE_ENUM(SMCR_ACT_CLOSE_TIMER);
TRACE_DEFINE_ENUM(SMCR_ACT_ABORT_TIMER);
TRACE_DEFINE_ENUM(SMCR_ACT_STOP_TIMER);
TRACE_DEFINE_ENUM(SMCR_ACT_TCP_FIN);
TRACE_DEFINE_ENUM(SMCR_ACT_TCP_RST);
TRACE_DEFINE_ENUM(SMCR_ACT_RELEASE);
TRACE_DEFINE_ENUM(SMCR_ACT_NO_TX);
TRACE_DEFINE_ENUM(SMCR_ACT_DROP_TX);

TRACE_DEFINE_ENUM(SMCR_MODE_INIT);
TRACE_DEFINE_ENUM(SMCR_MODE_LISTEN);
TRACE_DEFINE_ENUM(SMCR_MODE_NEG);
TRACE_DEFINE_ENUM(SMCR_MODE_SMC);
TRACE_DEFINE_ENUM(SMCR_MODE_TCP);
TRACE_DEFINE_ENUM(SMCR_MODE_DEAD);

TRACE_DEFINE_ENUM(SMCR_LGR_ST_FORMING);
TRACE_DEFINE_ENUM(SMCR_LGR_ST_ACTIVE);
TRACE_DEFINE_ENUM(SMCR_LGR_ST_DEAD);

TRACE_DEFINE_ENUM(SMCR_LINK_ST_RESET);
TRACE_DEFINE_ENUM(SMCR_LINK_ST_INIT);
TRACE_DEFINE_ENUM(SMCR_LINK_ST_RTR);
TRACE_DEFINE_ENUM(SMCR_LINK_ST_RTS);
TRACE_DEFINE_ENUM(SMCR_LINK_ST_ERR);

TRACE_DEFINE_ENUM(SMCR_CLC_PROPOSAL);
TRACE_DEFINE_ENUM(SMCR_CLC_ACCEPT);
TRACE_DEFINE_ENUM(SMCR_CLC_CONFIRM);
TRACE_DEFINE_ENUM(SMCR_CLC_DECLINE);

TRACE_DEFINE_ENUM(SMCR_LLC_CONFIRM_LINK);
TRACE_DEFINE_ENUM(SMCR_LLC_ADD_LINK);
TRACE_DEFINE_ENUM(SMCR_LLC_ADD_LINK_CONT);
TRACE_DEFINE_ENUM(SMCR_LLC_DELETE_LINK);
TRACE_DEFINE_ENUM(SMCR_LLC_CONFIRM_RKEY);
TRACE_DEFINE_ENUM(SMCR_LLC_TEST_LINK);
TRACE_DEFINE_ENUM(SMCR_LLC_CONFIRM_RKEY_CONT);
TRACE_DEFINE_ENUM(SMCR_LLC_DELETE_RKEY);

TRACE_DEFINE_ENUM(SMCR_CDC_B);
TRACE_DEFINE_ENUM(SMCR_CDC_P);
TRACE_DEFINE_ENUM(SMCR_CDC_U);
TRACE_DEFINE_ENUM(SMCR_CDC_R);
TRACE_DEFINE_ENUM(SMCR_CDC_F);

TRACE_DEFINE_ENUM(SMCR_CDC_D);
TRACE_DEFINE_ENUM(SMCR_CDC_C);
TRACE_DEFINE_ENUM(SMCR_CDC_A);

#define smcr_tr_conn_st(v) \
	__print_symbolic(v, { SMCR_CONN_ST_CLOSED, "Closed" }, \
			 { SMCR_CONN_ST_ACTIVE, "Active" }, \
			 { SMCR_CONN_ST_PEER_CLOSE_WAIT1, "PeerCloseWait1" }, \
			 { SMCR_CONN_ST_PEER_CLOSE_WAIT2, "PeerCloseWait2" }, \
			 { SMCR_CONN_ST_APP_FIN_CLOSE_WAIT, "AppFinCloseWait" }, \
			 { SMCR_CONN_ST_APP_CLOSE_WAIT1, "AppCloseWait1" }, \
			 { SMCR_CONN_ST_APP_CLOSE_WAIT2, "AppCloseWait2" }, \
			 { SMCR_CONN_ST_PEER_FIN_CLOSE_WAIT, "PeerFinCloseWait" }, \
			 { SMCR_CONN_ST_PEER_ABORT_WAIT, "PeerAbortWait" }, \
			 { SMCR_CONN_ST_PROCESS_ABORT, "ProcessAbort" })

#define smcr_tr_conn_ev(v) \
	__print_symbolic(v, { SMCR_CONN_EV_APP_SHUT_WR, "shutdown-write" }, \
			 { SMCR_CONN_EV_APP_CLOSE, "close" }, \
			 { SMCR_CONN_EV_APP_ABORT, "abort" }, \
			 { SMCR_CONN_EV_DRAINED, "drained" }, \
			 { SMCR_CONN_EV_RX_DONE, "rx-done" }, \
			 { SMCR_CONN_EV_RX_CLOSED, "rx-closed" }, \
			 { SMCR_CONN_EV_RX_ABORT, "rx-abort" }, \
			 { SMCR_CONN_EV_TX_ABORT_DONE, "tx-abort-done" }, \
			 { SMCR_CONN_EV_TCP_RESET, "tcp-reset" }, \
			 { SMCR_CONN_EV_TIMER, "timer" }, \
			 { SMCR_CONN_EV_LGR_LOST, "lgr-lost" }, \
			 { SMCR_CONN_EV_VIOLATION, "violation" }, \
			 { SMCR_CONN_EV_CONFLICT, "conflict" })

#define smcr_tr_act(v) \
	__print_flags(v, "|", \
		      { SMCR_ACT_PURGE, "purge" }, \
		      { SMCR_ACT_SEND_DONE, "send-done" }, \
		      { SMCR_ACT_SEND_CLOSED, "send-closed" }, \
		      { SMCR_ACT_SEND_ABORT, "send-abort" }, \
		      { SMCR_ACT_EOF, "eof" }, \
		      { SMCR_ACT_ERROR, "error" }, \
		      { SMCR_ACT_CLOSE_TIMER, "close-timer" }, \
		      { SMCR_ACT_ABORT_TIMER, "abort-timer" }, \
		      { SMCR_ACT_STOP_TIMER, "stop-timer" }, \
		      { SMCR_ACT_TCP_FIN, "tcp-fin" }, \
		      { SMCR_ACT_TCP_RST, "tcp-rst" }, \
		      { SMCR_ACT_RELEASE, "release" }, \
		      { SMCR_ACT_NO_TX, "no-tx" }, \
		      { SMCR_ACT_DROP_TX, "drop-tx" })

#define smcr_tr_mode(v) \
	__print_symbolic(v, { SMCR_MODE_INIT, "init" }, \
			 { SMCR_MODE_LISTEN, "listen" }, \
			 { SMCR_MODE_NEG, "neg" }, \
			 { SMCR_MODE_SMC, "smc" }, \
			 { SMCR_MODE_TCP, "tcp" }, \
			 { SMCR_MODE_DEAD, "dead" })

#define smcr_tr_lgr_st(v) \
	__print_symbolic(v, { SMCR_LGR_ST_FORMING, "FORMING" }, \
			 { SMCR_LGR_ST_ACTIVE, "ACTIVE" }, \
			 { SMCR_LGR_ST_DEAD, "DEAD" })

#define smcr_tr_link_st(v) \
	__print_symbolic(v, { SMCR_LINK_ST_RESET, "RESET" }, \
			 { SMCR_LINK_ST_INIT, "INIT" }, \
			 { SMCR_LINK_ST_RTR, "RTR" }, \
			 { SMCR_LINK_ST_RTS, "RTS" }, \
			 { SMCR_LINK_ST_ERR, "ERR" })

#define smcr_tr_clc(v) \
	__print_symbolic(v, { SMCR_CLC_PROPOSAL, "proposal" }, \
			 { SMCR_CLC_ACCEPT, "accept" }, \
			 { SMCR_CLC_CONFIRM, "confirm" }, \
			 { SMCR_CLC_DECLINE, "decline" })

#define smcr_tr_llc(v) \
	__print_symbolic(v, { SMCR_LLC_CONFIRM_LINK, "confirm-link" }, \
			 { SMCR_LLC_ADD_LINK, "add-link" }, \
			 { SMCR_LLC_ADD_LINK_CONT, "add-link-cont" }, \
			 { SMCR_LLC_DELETE_LINK, "delete-link" }, \
			 { SMCR_LLC_CONFIRM_RKEY, "confirm-rkey" }, \
			 { SMCR_LLC_TEST_LINK, "test-link" }, \
			 { SMCR_LLC_CONFIRM_RKEY_CONT, "confirm-rkey-cont" }, \
			 { SMCR_LLC_DELETE_RKEY, "delete-rkey" })

#define smcr_tr_pflags(v) \
	__print_flags(v, "", \
		      { SMCR_CDC_B, "B" }, \
		      { SMCR_CDC_P, "P" }, \
		      { SMCR_CDC_U, "U" }, \
		      { SMCR_CDC_R, "R" }, \
		      { SMCR_CDC_F, "F" })

#define smcr_tr_cflags(v) \
	__print_flags(v, "", \
		      { SMCR_CDC_D, "D" }, \
		      { SMCR_CDC_C, "C" }, \
		      { SMCR_CDC_A, "A" })

/* Longest reason and a bit; a word that does not fit is cut */
#define SMCR_TR_WORD	24

/* A reason was counted, see smcr_hit(); 0 = no link group, no connection */
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

/* Step of the close machine */
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

/* CLC message; flag is F of an Accept, S of a Decline */
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

/* CDC message; token is the one in the message, the receiver's */
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

/* The socket goes on as TCP; peer_diag is that of a received Decline */
TRACE_EVENT(smcr_fallback,
	    TP_PROTO(const struct smcr_sock *ssk),
	    TP_ARGS(ssk),
	    TP_STRUCT__entry(__field(u64, cookie)
			     __field(u32, peer_diag)
			     __field(bool, client)
			     __array(char, why, SMCR_TR_WORD)),
	    TP_fast_assign(__entry->cookie = smcr_sock_cookie(&ssk->sk);
			   __entry->peer_diag = ssk->peer_diag;
			   __entry->client = ssk->is_client;
			   strscpy(__entry->why, smcr_reason_name(ssk->fallback_why),
				   sizeof(__entry->why));),
	    TP_printk("sk=%llu %s why=%s peer_diag=0x%08x",
		      __entry->cookie,
		      __entry->client ? "client" : "server",
		      __entry->why,
		      __entry->peer_diag)
);

/* Life of an RMB; what is a short word: create, register, free */
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

#endif /* _SMCR_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
