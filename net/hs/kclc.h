/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CLC messages over the inner TCP socket. A read takes exactly one message, and
 * no call waits for the peer.
 */
#ifndef _SMCR_KCLC_H
#define _SMCR_KCLC_H

#include "core/clc.h"
#include "conn/smcr_sock.h"

/* One received CLC message */
struct smcr_clc_msg {
	struct smcr_clc_hdr hdr;
	bool too_new;		/* Proposal of a later version that cannot be decoded */
	union {
		struct smcr_clc_proposal proposal;
		struct smcr_clc_accept accept;	/* Accept and Confirm */
		struct smcr_clc_decline decline;
	};
};

bool smcr_hs_clc_due(struct smcr_sock *ssk);
void smcr_tcp_await_decline(struct smcr_sock *ssk, const u8 *peer_id);
void smcr_tcp_settle(struct smcr_sock *ssk);
int smcr_clc_recv(struct smcr_sock *ssk, u8 want, struct smcr_clc_msg *msg,
		  enum smcr_reason *why);

int smcr_clc_send_proposal(struct smcr_sock *ssk,
			   const struct smcr_clc_proposal *p);
int smcr_clc_send_accept(struct smcr_sock *ssk, const struct smcr_clc_accept *a);
int smcr_clc_send_decline(struct smcr_sock *ssk, enum smcr_reason why);
bool smcr_clc_drop_crossed(struct smcr_sock *ssk);
void smcr_clc_note_decline(struct smcr_sock *ssk,
			   const struct smcr_clc_decline *d);

#endif /* _SMCR_KCLC_H */
