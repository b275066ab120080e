/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CLC messages over the inner TCP socket: bounded, exact reads and writes.
 */
#ifndef _SMCR_KCLC_H
#define _SMCR_KCLC_H

#include "sock.h"
#include "core/clc.h"

/* One received CLC message */
struct smcr_clc_msg {
	struct smcr_clc_hdr hdr;
	bool too_new;		/* Proposal of a later version, body unusable */
	union {
		struct smcr_clc_proposal proposal;
		struct smcr_clc_accept accept;	/* Accept and Confirm */
		struct smcr_clc_decline decline;
	};
};

/**
 * smcr_clc_recv() - read exactly one CLC message
 * @ssk: socket in negotiation
 * @want: enum smcr_clc_type that is due; Decline is always acceptable
 * @deadline: jiffies
 * @msg: result
 * @why: reason on error
 *
 * Consumes exactly the message's length (CLC-08). Context: process, sleeps.
 * Return: 0; -EPROTO malformed or not due; -ETIMEDOUT; -ECONNRESET (EOF, RST);
 * -ECANCELED (socket is being closed).
 */
int smcr_clc_recv(struct smcr_sock *ssk, u8 want, unsigned long deadline,
		  struct smcr_clc_msg *msg, enum smcr_reason *why);

/* 0 or -errno of the TCP socket */
int smcr_clc_send_proposal(struct smcr_sock *ssk,
			   const struct smcr_clc_proposal *p);
int smcr_clc_send_accept(struct smcr_sock *ssk, const struct smcr_clc_accept *a);
int smcr_clc_send_decline(struct smcr_sock *ssk, enum smcr_reason why);

/* true if TCP has something to read, or ended; for smcr_llc_wait() */
bool smcr_clc_pending(void *ssk);
/* true if the negotiation is to be given up */
bool smcr_clc_aborted(void *ssk);

#endif /* _SMCR_KCLC_H */
