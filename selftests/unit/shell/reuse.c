// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send completions that come when their socket has another connection
 * (net/conn/tx_done.c).
 */
#include "conn/tx_impl.h"
#include "shell.h"

/* A completion of a post @ago connections ago; 0: of this connection's */
static void completes(struct smcr_conn *conn, struct smcr_link *link, u8 ago)
{
	const struct smcr_cdc cdc = { .seq = 1 + pick(U16_MAX) };
	struct smcr_tx_pend pend = { .link = link, .mark = 1 + pick(1000) };
	struct smcr_fo fo;

	pend.flags = smcr_tx_pend_flags(conn, cdc.cflags, cdc.seq);
	conn->tx.attempt += ago;
	conn->tx.done = 1000;		/* no sender waits for room */
	conn->tx.acked = 0;
	conn->tx.pends = 1;
	conn->mv.lost = false;
	fo = conn->mv.fo;
	spin_lock_bh(&conn->lock);
	if (smcr_tx_completed(conn, &pend, pick(2)))
		bad("more has been delivered");
	spin_unlock_bh(&conn->lock);
	if (conn->tx.pends)
		bad("it does not count down");
	if (ago && (conn->tx.acked || conn->mv.lost ||
		    memcmp(&fo, &conn->mv.fo, sizeof(fo))))
		bad("what was posted %u connections ago counts", ago);
	if (!ago && !conn->tx.acked && !conn->mv.lost)
		bad("what it has posted does not count");
}

/**
 * reuse_run() - task in which a socket connects repeatedly, over the same link
 * @arg: not used
 * @n: number of completions
 */
void reuse_run(void *arg, int n)
{
	struct smcr_sock *ssk = kmem(sizeof(*ssk), __func__);
	struct smcr_link *link = kmem(sizeof(*link), __func__);

	spin_lock_init(&ssk->conn.lock);
	ssk->conn.link = link;
	while (n--)
		completes(&ssk->conn, link, pick(4));
	kfree(link);
	kfree(ssk);
}
