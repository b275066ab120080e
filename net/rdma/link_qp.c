// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pair of a link: creation, and transitions up to RTS and to ERR.
 */
#include "base/netns.h"
#include "rdma/link.h"
#include "rdma/link_impl.h"

static struct ib_qp *link_new_qp(struct smcr_link *link, u32 inline_size)
{
	struct ib_qp_init_attr attr = {
		.send_cq = link->cq,
		.recv_cq = link->cq,
		.cap = {
			.max_send_wr = SMCR_SQ_DEPTH,
			.max_recv_wr = SMCR_RQ_DEPTH,
			.max_send_sge = link->pid.dev->max_sge,
			.max_recv_sge = 1,
			.max_inline_data = inline_size,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp;

	qp = ib_create_qp(link->pd, &attr);
	if (!IS_ERR(qp))
		link->max_inline = attr.cap.max_inline_data;
	return qp;
}

/*
 * An adapter raises an interrupt, and the softirq runs right after this
 * interrupt. A software device completes requests in a worker. A softirq that
 * is raised there would have to wait for ksoftirqd. The RDMA core's
 * high-priority workqueue for completions runs sooner.
 */
static enum ib_poll_context link_poll_ctx(const struct smcr_link *link)
{
	return ib_uses_virt_dma(link->pid.dev->ibdev) ? IB_POLL_WORKQUEUE :
							IB_POLL_SOFTIRQ;
}

int smcr_link_create_qp(struct smcr_link *link)
{
	struct smcr_dev *dev = link->pid.dev;
	struct ib_qp *qp;
	struct ib_cq *cq;

	cq = ib_alloc_cq_any(dev->ibdev, link,
			     SMCR_SQ_DEPTH + SMCR_RQ_DEPTH + SMCR_CQ_SLACK,
			     link_poll_ctx(link));
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	link->cq = cq;

	qp = link_new_qp(link, dev->max_inline);
	if (IS_ERR(qp) && dev->max_inline)
		qp = link_new_qp(link, 0);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	link->qp = qp;
	link->qpn = qp->qp_num;
	return 0;
}

int smcr_link_to_init(struct smcr_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = 0,
		.port_num = link->pid.port,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_WRITE,
	};
	int rc;

	rc = ib_modify_qp(link->qp, &attr,
			  IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			  IB_QP_ACCESS_FLAGS);
	return rc ?: smcr_link_advance(link, SMCR_LINK_ST_INIT);
}

static int link_modify_rtr(struct smcr_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = link->mtu,
		.dest_qp_num = link->peer_qpn,
		.rq_psn = link->peer_psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = SMCR_RNR_TIMER,
	};
	struct rdma_ah_attr *ah = &attr.ah_attr;
	union ib_gid dgid;
	int rc;

	memcpy(dgid.raw, link->peer_gid, sizeof(dgid.raw));
	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(ah, link->pid.port);
	rdma_ah_set_grh(ah, &dgid, 0, link->pid.sgid_index, SMCR_HOP_LIMIT, 0);
	memcpy(ah->roce.dmac, link->peer_mac, ETH_ALEN);

	rc = ib_modify_qp(link->qp, &attr,
			  IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			  IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			  IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	return rc ?: smcr_link_advance(link, SMCR_LINK_ST_RTR);
}

static int link_modify_rts(struct smcr_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = READ_ONCE(link->sn->knobs.qp_timeout),
		.retry_cnt = 6,		/* 7 is for ever on rxe */
		.rnr_retry = 7,		/* for ever, but see smcr_link_stuck() */
		.sq_psn = link->psn,
		.max_rd_atomic = 1,
	};
	int rc;

	rc = ib_modify_qp(link->qp, &attr,
			  IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			  IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			  IB_QP_MAX_QP_RD_ATOMIC);
	return rc ?: smcr_link_advance(link, SMCR_LINK_ST_RTS);
}

/**
 * smcr_link_to_rtr() - move the queue pair to RTR, ready to receive
 * @link: link in INIT
 * @gid: peer's GID
 * @mac: peer's MAC
 * @qpn: peer's QP number
 * @psn: peer's initial PSN
 * @mtu: effective MTU, verbs enumeration
 *
 * Context: process, sleeps.
 * Return: 0; -ENOTCONN: the link is not in INIT, or fails during the call;
 * errno of the device.
 */
int smcr_link_to_rtr(struct smcr_link *link, const u8 gid[16], const u8 mac[6],
		     u32 qpn, u32 psn, u8 mtu)
{
	int rc = -ENOTCONN;

	mutex_lock(&link->verbs);
	if (READ_ONCE(link->st) == SMCR_LINK_ST_INIT) {
		memcpy(link->peer_gid, gid, sizeof(link->peer_gid));
		memcpy(link->peer_mac, mac, sizeof(link->peer_mac));
		link->peer_psn = psn;
		link->mtu = mtu;
		/*
		 * Pairs with smcr_link_met(): without the release, a reader
		 * that finds peer_qpn set could miss what is written above.
		 */
		smp_store_release(&link->peer_qpn, qpn);
		rc = link_modify_rtr(link);
	}
	mutex_unlock(&link->verbs);
	return rc;
}

/**
 * smcr_link_to_rts() - move the queue pair to RTS, ready to send
 * @link: link in RTR
 *
 * Context: process, sleeps.
 * Return: 0; -ENOTCONN: the link is not in RTR, or fails during the call; errno
 * of the device.
 */
int smcr_link_to_rts(struct smcr_link *link)
{
	int rc = -ENOTCONN;

	mutex_lock(&link->verbs);
	if (READ_ONCE(link->st) == SMCR_LINK_ST_RTR)
		rc = link_modify_rts(link);
	mutex_unlock(&link->verbs);
	return rc;
}

void smcr_link_modify_err(struct smcr_link *link)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	lockdep_assert_held(&link->verbs);
	/*
	 * Posts check the state under this lock. ERR is recorded before the QP
	 * is modified, so nothing is posted to a QP in ERR.
	 */
	spin_lock_bh(&link->lock);
	smcr_link_set_state(link, SMCR_LINK_ST_ERR, SMCR_R_NONE);
	/* @down is not called any more: another link may get the slot */
	link->down_reported = true;
	smcr_link_lost(link);
	spin_unlock_bh(&link->lock);

	if (link->qp_err || !link->qp)
		return;
	link->qp_err = true;
	ib_modify_qp(link->qp, &attr, IB_QP_STATE);
}

/**
 * smcr_link_keep() - keep a link whose queue pair the device has not destroyed
 * @link: link; its memory, completion queues and protection domain are never
 *	freed
 * @qp: queue pair
 *
 * Context: process; link->verbs held.
 */
void smcr_link_keep(struct smcr_link *link, struct ib_qp *qp)
{
	const struct ib_device *ibdev = link->pid.dev->ibdev;

	lockdep_assert_held(&link->verbs);
	net_warn_ratelimited("link group %u: device %s keeps queue pair %u, its memory is lost\n",
			     link->lgr_id, smcr_dev_name(link->pid.dev).s,
			     qp->qp_num);
	smcr_dev_keeps(ibdev, &qp->res);
	smcr_dev_keeps(ibdev, &qp->send_cq->res);
	smcr_dev_keeps(ibdev, &link->pd->res);
	link->orphan = true;
}

static struct ib_cq *link_probe_cq(struct smcr_link *link)
{
	struct ib_cq *cq;

	mutex_lock(&link->verbs);
	cq = link->probe_cq;
	if (!cq) {
		cq = ib_alloc_cq_any(link->pid.dev->ibdev, link, 2,
				     link_poll_ctx(link));
		if (!IS_ERR(cq))
			link->probe_cq = cq;
	}
	mutex_unlock(&link->verbs);
	return cq;
}

/**
 * smcr_link_probe_qp() - create a second QP that is never connected
 * @link: link; the caller has a reference on the group
 *
 * The server has to send an ADD LINK with a new QP (LG-18, LG-19) even if it
 * makes no second link. This function creates the QP for that.
 *
 * Context: process, sleeps.
 * Return: QP, which the caller passes to smcr_link_probe_end() before it puts
 * the group; ERR_PTR() on failure.
 */
struct ib_qp *smcr_link_probe_qp(struct smcr_link *link)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_cq *cq = link_probe_cq(link);

	if (IS_ERR(cq))
		return ERR_CAST(cq);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	return ib_create_qp(link->pd, &attr);
}

/**
 * smcr_link_probe_end() - undo smcr_link_probe_qp()
 * @qp: QP, or NULL
 *
 * If the device does not destroy the QP, its completion queue, its protection
 * domain and the memory of the link are never freed.
 *
 * Context: process, sleeps.
 */
void smcr_link_probe_end(struct ib_qp *qp)
{
	struct smcr_link *link;

	if (!qp)
		return;
	link = qp->recv_cq->cq_context;
	if (!ib_destroy_qp(qp))
		return;
	mutex_lock(&link->verbs);
	smcr_link_keep(link, qp);
	mutex_unlock(&link->verbs);
}
