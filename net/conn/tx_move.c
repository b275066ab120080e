// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posts that only a move makes: the validation CDC (FO-07), data that are written again
 * (FO-10), and the barrier of a connection that leaves a working link.
 */
#include <linux/math64.h>
#include "base/trace.h"
#include "rdma/link.h"
#include "conn/smcr_sock.h"
#include "conn/tx_impl.h"

/* The send buffer that byte @pos of the stream is in; *@off: offset of the byte there */
static struct smcr_buf *tx_where(const struct smcr_conn *conn, u64 pos,
				 u32 *off)
{
	struct smcr_buf *buf = smcr_tx_buf_at(conn, pos);

	div_u64_rem(pos < conn->snd.old_end ? pos : pos - conn->snd.old_end,
		    buf->size, off);
	return buf;
}

/*
 * Post a plan without a CDC. The post is signalled only if it is the @last one that this
 * smcr_tx_push() may make (SMCR_TX_TURN): its completion calls smcr_tx_push() again.
 */
static int tx_post_again(struct smcr_conn *conn,
			 const struct smcr_tx_plan *plan, bool last)
{
	struct ib_sge sge[2][SMCR_MAX_SGE] __uninitialized;
	struct ib_rdma_wr w[2] __uninitialized;
	struct smcr_buf *buf;
	u32 src;
	int rc;

	buf = tx_where(conn, conn->mv.again.abs, &src);
	smcr_tx_writes(conn, plan, buf, src, w, sge);
	rc = smcr_tx_link_post(conn, w, plan->n_seg, NULL, last,
			       conn->mv.fo.abs,
			       smcr_tx_pend_flags(conn, 0, conn->mv.fo.seq));
	if (rc)
		return rc;
	smcr_pos_add(&conn->tx.ring, &conn->mv.again, plan->len);
	smcr_count_add(smcr_conn_sock(conn)->sn, SMCR_CNT_WRITE_TX,
		       plan->n_seg);
	smcr_count_add(smcr_conn_sock(conn)->sn, SMCR_CNT_BYTES_AGAIN,
		       plan->len);
	return 0;
}

/*
 * Write again, to the same places, data that have perhaps not arrived over the previous
 * link. No CDC announces any of them before all of them are written (FO-10). If earlier data
 * were written twice, bound.at may limit these writes, too: move_unbind() goes on with the
 * rest.
 */
static int tx_again(struct smcr_conn *conn, int *left)
{
	u64 end = min(conn->tx.prod.abs, conn->bound.at);
	struct smcr_tx_plan plan;
	int rc;

	while (conn->mv.again.abs < end) {
		/* the peer has read this byte: its place in the send buffer may be reused */
		if (conn->mv.again.abs < conn->tx.cons.abs) {
			conn->mv.again = conn->tx.cons;
			continue;
		}
		if (!*left)
			return -EBUSY;
		smcr_tx_plan(&conn->tx.ring, &conn->mv.again, conn->tx.cons.abs,
			     end - conn->mv.again.abs,
			     min(smcr_tx_part(smcr_ring_cap(&conn->tx.ring),
					      conn->snd.size),
				 smcr_tx_span(conn, conn->mv.again.abs)),
			     &plan);
		if (!plan.len)
			return -ENOTCONN;
		rc = tx_post_again(conn, &plan, *left == 1);
		if (rc)
			return rc;
		--*left;
	}
	return conn->mv.again.abs < conn->tx.prod.abs ? -EBUSY : 0;
}

/* Post the first message on the new link, the validation CDC (FO-07) */
static int tx_validation(struct smcr_conn *conn)
{
	const struct smcr_cdc cdc = {
		.seq = conn->mv.valid_seq,
		.token = conn->tx.token,
		.pflags = SMCR_CDC_F,
	};
	u8 msg[SMCR_WR_LEN];
	const struct smcr_post post = {
		.msg = msg,
		.waiter = &conn->tx.sq_wait,
	};
	int rc;

	smcr_cdc_encode(&cdc, msg);
	rc = smcr_link_post(conn->link, &post);
	if (!rc) {
		conn->mv.validate = false;
		trace_smcr_cdc(true, cdc.token, &cdc);
		smcr_count(smcr_conn_sock(conn)->sn, SMCR_CNT_CDC_TX);
	}
	return rc;
}

/* After a move, post the validation CDC, lost data again, and a CDC with the current state */
int smcr_tx_catch_up(struct smcr_conn *conn, int *left)
{
	int rc = 0;

	if (conn->mv.validate)
		rc = tx_validation(conn);
	if (rc || !conn->mv.redo)
		return rc;
	rc = tx_again(conn, left);
	if (!rc)
		rc = smcr_tx_post(conn, NULL, 0, &conn->tx.prod,
				  conn->tx.blocked, true);
	if (!rc) {
		conn->mv.redo = false;
		/* that CDC has the owed D, C or A, too: no CDC follows C or A (CDC-44) */
		WRITE_ONCE(conn->tx.owed, 0);
	}
	return rc;
}

/*
 * Post the barrier of a connection that leaves a working link. It is an RDMA WRITE of no
 * bytes, for which neither key nor address counts. When the barrier completes, all that the
 * connection has sent has arrived. The connection sends nothing more over this link.
 */
int smcr_tx_barrier(struct smcr_conn *conn)
{
	struct ib_rdma_wr w = { .wr.opcode = IB_WR_RDMA_WRITE };
	u32 flags = smcr_tx_pend_flags(conn, SMCR_TX_BARRIER, conn->tx.seq);
	int rc;

	if (conn->mv.leave != SMCR_MV_STOPS)
		return 0;
	rc = smcr_tx_link_post(conn, &w, 1, NULL, true, conn->tx.prod.abs, flags);
	if (!rc)
		conn->mv.leave = SMCR_MV_WAITS;
	return rc;
}
