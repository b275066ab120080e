// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fallback to TCP. The AF_SMC socket stays, and its calls are forwarded to the
 * inner TCP socket, whose callbacks wake the waiters of the AF_SMC socket.
 */
#include "base/trace.h"
#include "hs/hs.h"

/**
 * smcr_fallback_count() - count and trace that a connection runs over TCP
 * @ssk: socket with its reason recorded
 *
 * Each connection is counted once. Context: any up to softirq.
 */
void smcr_fallback_count(struct smcr_sock *ssk)
{
	bool client = READ_ONCE(ssk->is_client);

	if (test_and_set_bit(SMCR_SK_COUNTED, &ssk->flags))
		return;
	smcr_count(ssk->sn, client ? SMCR_CNT_CLNT_FALLBACK :
				     SMCR_CNT_SRV_FALLBACK);
	smcr_report_reason(ssk->sn, ssk->fallback_why, 0, 0);
	trace_smcr_fallback(&ssk->sk, client, ssk->fallback_why,
			    ssk->peer_diag);
}

/**
 * smcr_fallback_early() - enter mode TCP before anything was sent
 * @ssk: client socket, socket lock held
 * @why: reason
 *
 * The fallback is counted when TCP is established, as a connect() that fails is
 * no fallback.
 */
void smcr_fallback_early(struct smcr_sock *ssk, enum smcr_reason why)
{
	sock_owned_by_me(&ssk->sk);

	WRITE_ONCE(ssk->is_client, true);
	clear_bit(SMCR_SK_COUNTED, &ssk->flags);
	ssk->fallback_why = why;
	smcr_hs_owner_ops->to_tcp(ssk);
	smcr_sock_set_mode(ssk, SMCR_MODE_TCP);
}

/**
 * smcr_fallback() - a handshake ends in TCP
 * @ssk: socket with TCP established; socket lock held, or not yet published
 * @why: reason, recorded, counted and traced
 *
 * The change of mode wakes the waiters, which then find data that TCP has
 * received already. A listener's child is queued for accept().
 *
 * Context: process.
 */
void smcr_fallback(struct smcr_sock *ssk, enum smcr_reason why)
{
	if (ssk->mode == SMCR_MODE_TCP)
		return;
	ssk->fallback_why = why;
	smcr_fallback_count(ssk);
	smcr_hs_owner_ops->to_tcp(ssk);
	smcr_hs_owner_ops->tcp_begin(ssk);
	if (!ssk->is_client)
		smcr_hs_owner_ops->child_ready(ssk);
}
