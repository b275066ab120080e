/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connection state machine: normal and abnormal close, RFC 7609 4.8
 * (conformance catalogue, Part D). One table; every row names its RFC arc.
 *
 * The shell keeps one struct smcr_close per connection under the connection's
 * lock, feeds events and carries out the actions: those that only touch the
 * connection at once, those that sleep after the lock was dropped.
 */
#ifndef _SMCR_CORE_CLOSE_H
#define _SMCR_CORE_CLOSE_H

#include "env.h"
#include "reason.h"

enum smcr_conn_st {
	SMCR_CONN_ST_CLOSED,		/* no element in use */
	SMCR_CONN_ST_ACTIVE,
	SMCR_CONN_ST_PEER_CLOSE_WAIT1,	/* sent D or C, heard nothing */
	SMCR_CONN_ST_PEER_CLOSE_WAIT2,	/* sent D or C, peer sent D */
	SMCR_CONN_ST_APP_FIN_CLOSE_WAIT,/* sent D, peer sent C, app open */
	SMCR_CONN_ST_APP_CLOSE_WAIT1,	/* peer sent D or C, we nothing */
	SMCR_CONN_ST_APP_CLOSE_WAIT2,	/* peer sent D or C, we sent D */
	SMCR_CONN_ST_PEER_FIN_CLOSE_WAIT,/* sent C, peer only D */
	SMCR_CONN_ST_PEER_ABORT_WAIT,	/* sent A */
	SMCR_CONN_ST_PROCESS_ABORT,	/* peer sent A, own A under way */
	NR_SMCR_CONN_ST
};

enum smcr_conn_ev {
	SMCR_CONN_EV_APP_SHUT_WR,	/* shutdown(WR) */
	SMCR_CONN_EV_APP_CLOSE,		/* close() or shutdown(RDWR) */
	SMCR_CONN_EV_APP_ABORT,		/* SO_LINGER 0, linger ran out */
	SMCR_CONN_EV_DRAINED,		/* all writes and their CDCs completed */
	SMCR_CONN_EV_RX_DONE,		/* D arrived for the first time */
	SMCR_CONN_EV_RX_CLOSED,		/* C arrived for the first time */
	SMCR_CONN_EV_RX_ABORT,		/* A arrived for the first time */
	SMCR_CONN_EV_TX_ABORT_DONE,	/* own A completed (or can never) */
	SMCR_CONN_EV_TCP_RESET,		/* RST on the TCP connection */
	SMCR_CONN_EV_TIMER,		/* the timer that an action started */
	SMCR_CONN_EV_LGR_LOST,		/* no link can carry anything more */
	SMCR_CONN_EV_VIOLATION,		/* peer broke a rule: active abort */
	SMCR_CONN_EV_CONFLICT,		/* element given away by its owner */
	NR_SMCR_CONN_EV
};

/* Actions, in the order in which the shell carries them out */
enum {
	SMCR_ACT_PURGE		= 1 << 0,  /* drop unsent and unread data */
	SMCR_ACT_SEND_DONE	= 1 << 1,  /* CDC with D */
	SMCR_ACT_SEND_CLOSED	= 1 << 2,  /* CDC with C; nothing after it */
	SMCR_ACT_SEND_ABORT	= 1 << 3,  /* CDC with A; nothing after it */
	SMCR_ACT_EOF		= 1 << 4,  /* readers see the end after the data */
	SMCR_ACT_ERROR		= 1 << 5,  /* report out.err to the application */
	SMCR_ACT_CLOSE_TIMER	= 1 << 6,  /* (re)start T_CLOSE */
	SMCR_ACT_ABORT_TIMER	= 1 << 7,  /* (re)start T_ABORT */
	SMCR_ACT_STOP_TIMER	= 1 << 8,
	SMCR_ACT_TCP_FIN	= 1 << 9,  /* orderly end of the TCP connection */
	SMCR_ACT_TCP_RST	= 1 << 10, /* reset the TCP connection */
	SMCR_ACT_RELEASE	= 1 << 11, /* element and token are free, see below */
	SMCR_ACT_SEND		= SMCR_ACT_SEND_DONE | SMCR_ACT_SEND_CLOSED |
				  SMCR_ACT_SEND_ABORT,
	SMCR_ACT_NO_TX		= 1 << 12, /* post no RDMA write from now on */
	SMCR_ACT_DROP_TX	= 1 << 13, /* drop unsent data; unread ones stay */
};

/* What the machine remembers. Guarded by the owner's lock. */
struct smcr_close {
	u8 st;			/* enum smcr_conn_st */
	bool tx_done;		/* D was sent */
	bool tx_closed;		/* C was sent */
	bool tx_abort;		/* A was sent */
	bool rx_done;
	bool rx_closed;
	bool rx_abort;
	bool app_closed;	/* application closed both directions */
	bool want_done;		/* shutdown(WR) waits for the drain */
	bool want_closed;	/* close waits for the drain */
	bool tcp_rst;		/* TCP_RST was asked for */
};

/*
 * What the shell knows at the moment of the event. @unsent decides whether the
 * peer's C finds data that nobody will read (CONN-14); a write whose completion
 * is not yet known may well have been read already and is no such data.
 */
struct smcr_close_facts {
	bool unread;		/* bytes for the application are not read */
	bool unsent;		/* own bytes that no write was posted for */
	bool undrained;		/* own bytes unsent, or writes/CDCs incomplete */
};

struct smcr_close_out {
	u32 actions;		/* SMCR_ACT_* */
	int err;		/* positive errno for SMCR_ACT_ERROR, else 0 */
	enum smcr_reason why;	/* for abnormal ends, else SMCR_R_NONE */
	const char *arc;	/* RFC arc or catalogue item, for tracing */
};

void smcr_close_init(struct smcr_close *c);
void smcr_close_step(struct smcr_close *c, enum smcr_conn_ev ev,
		     const struct smcr_close_facts *facts,
		     enum smcr_reason why, struct smcr_close_out *out);
bool smcr_close_may_send(const struct smcr_close *c);
bool smcr_close_may_tx(const struct smcr_close *c);
bool smcr_close_may_rx(const struct smcr_close *c);
const char *smcr_conn_st_name(unsigned int st);
const char *smcr_conn_ev_name(unsigned int ev);

#endif /* _SMCR_CORE_CLOSE_H */
