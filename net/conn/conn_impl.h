/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of a connection share; for no other file. */
#ifndef _SMCR_CONN_IMPL_H
#define _SMCR_CONN_IMPL_H

#include "conn/conn.h"
#include "conn/smcr_sock.h"

/* conn_event.c */
void smcr_conn_timer(struct timer_list *timer);
void smcr_conn_drained(struct smcr_conn *conn);
void smcr_conn_user_timer(struct timer_list *timer);
bool smcr_conn_closing(const struct smcr_conn *conn);
void smcr_conn_unorphan(struct smcr_conn *conn);

/* conn_open.c */
void smcr_conn_release_tx(struct smcr_conn *conn);
void smcr_conn_release_read(struct smcr_conn *conn, bool quarantine);
void smcr_conn_leave_device(struct smcr_conn *conn);
void smcr_conn_unkeep_rest(struct smcr_conn *conn);

/* conn_cdc.c */
void smcr_conn_rx_flags(struct smcr_conn *conn, u8 cflags);

static inline struct smcr_net *smcr_conn_net(const struct smcr_conn *conn)
{
	return smcr_conn_sock(conn)->sn;
}

/* conn.c */
void smcr_conn_work(struct work_struct *work);
void smcr_conn_start_timer(struct smcr_conn *conn, bool abort);
void smcr_conn_stop_timer(struct smcr_conn *conn);
void smcr_conn_purge_rx(struct smcr_conn *conn);
bool smcr_conn_ended(const struct smcr_conn *conn);

struct smcr_link *smcr_conn_set_link(struct smcr_conn *conn,
				     struct smcr_link *link);
int smcr_conn_resolve_rtoken(struct smcr_conn *conn, const struct smcr_link *link);

void smcr_conn_rx_wait_over(struct timer_list *timer);

/*
 * Longest time, in jiffies, for which the network holds up a packet, for example by flow
 * control with pauses. If the receiving queue pair expects that packet next, it accepts the
 * packet even after the sending queue pair was destroyed.
 */
#define SMCR_HELD_UP	HZ

/**
 * struct smcr_conn_left - what smcr_conn_left() finishes without conn->lock
 * @from: previous link, from which the connection is still to be detached; NULL: none
 * @to: link that the connection is on now, with a reference; NULL: none
 * @queued: the connection was taken off the FIFO for room in the send queue; the reference
 *	on the socket for its entry is still to be put
 * @lost: the close machine has ended the connection, as no link carries any more
 */
struct smcr_conn_left {
	struct smcr_link *from;
	struct smcr_link *to;
	bool queued;
	bool lost;
};

/* move.c */
struct smcr_conn_left smcr_conn_leave_link(struct smcr_conn *conn,
					   struct smcr_link *to);
void smcr_conn_left(struct smcr_conn *conn, const struct smcr_conn_left *left);
struct smcr_conn_left smcr_conn_no_move(struct smcr_conn *conn,
					enum smcr_reason why);
void smcr_conn_unbind_from(struct smcr_conn *conn, u8 num);
void smcr_conn_unbind_late(struct timer_list *timer);

/* tx_timeout.c */
bool smcr_tx_stalled(struct smcr_conn *conn);
void smcr_tx_unwatch(struct smcr_conn *conn);
void smcr_tx_set_timeout(struct smcr_conn *conn);

#endif /* _SMCR_CONN_IMPL_H */
