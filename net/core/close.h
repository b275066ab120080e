/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connection state machine: normal and abnormal close, RFC 7609 4.8
 * (conformance catalogue, Part D). The machine is one table; each row names its
 * RFC arc.
 *
 * The shell (net/ without core/) keeps one struct smcr_close per connection
 * under the connection's lock. It passes events to the machine, and carries out
 * the actions that the machine returns. Actions that sleep are carried out
 * after the lock was dropped, all others at once.
 *
 * The drain is the time until all own data are delivered: they are written, and
 * the writes and their CDCs have completed, or the peer has consumed the data.
 * If there are undrained data at a shutdown or close, the machine waits for the
 * event DRAINED.
 */
#ifndef _SMCR_CORE_CLOSE_H
#define _SMCR_CORE_CLOSE_H

#include "env.h"
#include "reason.h"

/*
 * Lists of the states, the events and the actions. Each list is the only place
 * that has its names: the enum, the trace events and, for states, netlink are
 * made from it.
 *
 *	X(NAME, "name in traces")
 */
#define SMCR_CONN_STATES(X) \
	/* before smcr_close_init(), and after RELEASE */ \
	X(CLOSED,		"Closed") \
	X(ACTIVE,		"Active") \
	/* D or C sent, none received */ \
	X(PEER_CLOSE_WAIT1,	"PeerCloseWait1") \
	/* D or C sent, then D received */ \
	X(PEER_CLOSE_WAIT2,	"PeerCloseWait2") \
	/* D sent, then C received, application not closed */ \
	X(APP_FIN_CLOSE_WAIT,	"AppFinCloseWait") \
	/* D or C received, none sent */ \
	X(APP_CLOSE_WAIT1,	"AppCloseWait1") \
	/* D or C received, then D sent */ \
	X(APP_CLOSE_WAIT2,	"AppCloseWait2") \
	/* D received, then C sent; the peer's C is still to come */ \
	X(PEER_FIN_CLOSE_WAIT,	"PeerFinCloseWait") \
	/* A sent */ \
	X(PEER_ABORT_WAIT,	"PeerAbortWait") \
	/* A received, own A pending */ \
	X(PROCESS_ABORT,	"ProcessAbort")

enum smcr_conn_st {
#define X(name, word) SMCR_CONN_ST_##name,
	SMCR_CONN_STATES(X)
#undef X
	NR_SMCR_CONN_ST
};

#define SMCR_CONN_EVENTS(X) \
	/* shutdown(WR) */ \
	X(APP_SHUT_WR,		"shutdown-write") \
	/* close() or shutdown(RDWR) */ \
	X(APP_CLOSE,		"close") \
	/* close() with SO_LINGER 0, or a handshake that is not wanted any more */ \
	X(APP_ABORT,		"abort") \
	/* no own data are undrained any more */ \
	X(DRAINED,		"drained") \
	/* D, C or A has arrived for the first time */ \
	X(RX_DONE,		"rx-done") \
	X(RX_CLOSED,		"rx-closed") \
	X(RX_ABORT,		"rx-abort") \
	/* own A has completed, or cannot complete */ \
	X(TX_ABORT_DONE,	"tx-abort-done") \
	/* RST on TCP, or the connection cannot move to any working link */ \
	X(TCP_RESET,		"tcp-reset") \
	/* the timer that CLOSE_TIMER or ABORT_TIMER started has expired */ \
	X(TIMER,		"timer") \
	/* the group has no usable link any more */ \
	X(LGR_LOST,		"lgr-lost") \
	/* protocol violation by the peer: active abort */ \
	X(VIOLATION,		"violation") \
	/* the peer gave its element of this connection to another one */ \
	X(CONFLICT,		"conflict")

enum smcr_conn_ev {
#define X(name, word) SMCR_CONN_EV_##name,
	SMCR_CONN_EVENTS(X)
#undef X
	NR_SMCR_CONN_EV
};

/*
 * Actions. The shell carries them out in this order, except that NO_TX and
 * DROP_TX come before SEND_*.
 *
 *	X(NAME, bit, "name in traces")
 */
#define SMCR_CLOSE_ACTIONS(X) \
	/* drop unsent and unread data */ \
	X(PURGE,	0,	"purge") \
	/* send a CDC with D, C or A; after C or A no CDC follows */ \
	X(SEND_DONE,	1,	"send-done") \
	X(SEND_CLOSED,	2,	"send-closed") \
	X(SEND_ABORT,	3,	"send-abort") \
	/* readers get end of file after the data */ \
	X(EOF,		4,	"eof") \
	/* report out.err to the application */ \
	X(ERROR,	5,	"error") \
	/* (re)start T_CLOSE, T_ABORT (net.smcr.t_close, t_abort) */ \
	X(CLOSE_TIMER,	6,	"close-timer") \
	X(ABORT_TIMER,	7,	"abort-timer") \
	X(STOP_TIMER,	8,	"stop-timer") \
	/* end the TCP connection in order, or reset it */ \
	X(TCP_FIN,	9,	"tcp-fin") \
	X(TCP_RST,	10,	"tcp-rst") \
	/* release element and token; for unread data see smcr_close_step() */ \
	X(RELEASE,	11,	"release") \
	/* post no RDMA write from now on */ \
	X(NO_TX,	12,	"no-tx") \
	/* drop unsent data; unread data stay */ \
	X(DROP_TX,	13,	"drop-tx")

enum {
#define X(name, bit, word) SMCR_ACT_##name = 1 << (bit),
	SMCR_CLOSE_ACTIONS(X)
#undef X
	SMCR_ACT_SEND		= SMCR_ACT_SEND_DONE | SMCR_ACT_SEND_CLOSED |
				  SMCR_ACT_SEND_ABORT,
};

/* State of the machine of one connection. Guarded by the owner's lock. */
struct smcr_close {
	u8 st;			/* enum smcr_conn_st */
	bool tx_done;		/* SEND_DONE was returned */
	bool tx_closed;		/* SEND_CLOSED was returned */
	bool tx_abort;		/* SEND_ABORT was returned */
	bool rx_done;
	bool rx_closed;
	bool rx_abort;
	bool app_closed;	/* application closed both directions */
	bool want_done;		/* shutdown(WR) waits for the drain */
	bool want_closed;	/* close waits for the drain */
	bool tcp_rst;		/* TCP_RST was returned */
};

/*
 * Facts at the moment of the event. Data that are unsent when the peer's C
 * arrives will never be read by the peer, so the connection is reset (CONN-14).
 * Data of a pending write do not count as unsent: the peer may have read them
 * already.
 */
struct smcr_close_facts {
	bool unread;		/* the application has bytes to read */
	bool unsent;		/* own bytes for which no write was posted */
	bool undrained;		/* own bytes that are not delivered yet */
};

struct smcr_close_out {
	u32 actions;		/* SMCR_ACT_* */
	int err;		/* positive errno for SMCR_ACT_ERROR, else 0 */
	enum smcr_reason why;	/* for abnormal ends, else SMCR_R_NONE */
	const char *arc;	/* RFC arc or catalogue item, for tracing */
};

/*
 * Have both sides sent C or A (RMB-22)? Own C or A counts as soon as the
 * machine has returned the action that sends it, even if it is not posted yet.
 */
static inline bool smcr_close_both_sent(const struct smcr_close *c)
{
	return (c->tx_closed || c->tx_abort) && (c->rx_closed || c->rx_abort);
}

void smcr_close_setup(void);
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
