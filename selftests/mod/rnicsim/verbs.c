// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs: attributes of device and port, protection domains, the GID table, and
 * queue pairs from creation to end. None may be called in atomic context: it
 * could sleep on an adapter, and here might_sleep() warns.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_ioctl.h>
#include "rnicsim.h"

#define RS_QPN_FIRST	0x11
#define RS_QPN_LAST	0xffffff

/* Device and port */

static int rs_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			   struct ib_udata *udata)
{
	const struct rs_dev *dev = to_rs_dev(ib);

	attr->sys_image_guid = ib->node_guid;
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = PAGE_SIZE;
	attr->vendor_part_id = 1;
	attr->max_qp = rs_get(dev, RS_K_MAX_QP);
	attr->max_qp_wr = rs_get(dev, RS_K_MAX_QP_WR);
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	if (rs_get(dev, RS_K_LOCAL_LKEY))
		attr->kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
	attr->max_send_sge = rs_get(dev, RS_K_MAX_SEND_SGE);
	attr->max_recv_sge = rs_get(dev, RS_K_MAX_RECV_SGE);
	attr->max_sge_rd = attr->max_send_sge;
	attr->max_cq = rs_get(dev, RS_K_MAX_CQ);
	attr->max_cqe = RS_MAX_CQE;
	attr->max_mr = rs_get(dev, RS_K_MAX_MR);
	attr->max_pd = 65536;
	attr->max_qp_rd_atom = 16;
	attr->max_qp_init_rd_atom = 16;
	attr->max_res_rd_atom = 16 * attr->max_qp;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->max_pkeys = 1;
	attr->local_ca_ack_delay = 1;
	attr->max_fast_reg_page_list_len = rs_get(dev, RS_K_PAGE_LIST);
	return 0;
}

static int rs_query_port(struct ib_device *ib, u32 port,
			 struct ib_port_attr *attr)
{
	struct rs_dev *dev = to_rs_dev(ib);
	enum ib_mtu most = ib_mtu_int_to_enum(rs_get(dev, RS_K_MTU));
	enum ib_mtu now = iboe_get_mtu(READ_ONCE(dev->ndev->mtu));
	bool up = netif_running(dev->ndev) && netif_carrier_ok(dev->ndev) &&
		  !READ_ONCE(dev->down);
	int rc = rs_fault_verb(dev, RS_F_QUERY_PORT, NULL, -EIO);

	if (rc)
		return rc;
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = most;
	attr->active_mtu = now ? min(most, now) : IB_MTU_256;
	attr->gid_tbl_len = dev->gid_len;
	attr->ip_gids = true;
	attr->max_msg_sz = RS_MAX_MSG;
	attr->pkey_tbl_len = 1;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	return 0;
}

/* Without MADs and so without the RDMA CM: SMC-R has no use for them */
static int rs_get_port_immutable(struct ib_device *ib, u32 port,
				 struct ib_port_immutable *imm)
{
	const struct rs_dev *dev = to_rs_dev(ib);
	u32 types = rs_get(dev, RS_K_GID_TYPES);

	imm->pkey_tbl_len = 1;
	imm->gid_tbl_len = dev->gid_len;
	imm->core_cap_flags = RDMA_CORE_CAP_ETH_AH;
	if (types & 1)
		imm->core_cap_flags |= RDMA_CORE_CAP_PROT_ROCE;
	if (types & 2)
		imm->core_cap_flags |= RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	return 0;
}

static enum rdma_link_layer rs_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int rs_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int rs_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct rs_dev *dev = to_rs_dev(attr->device);
	struct rs_gid gid = {
		.valid = true,
		.type = attr->gid_type,
		.vlan = 0xffff,
		.gid = attr->gid,
	};
	unsigned long flags;
	int rc;

	might_sleep();
	if (attr->index >= dev->gid_len)
		return -EINVAL;
	rc = rs_fault_verb(dev, RS_F_ADD_GID, NULL, -ENOMEM);
	if (!rc)
		rc = rdma_read_gid_l2_fields(attr, &gid.vlan, gid.mac);
	if (rc)
		return rc;
	write_lock_irqsave(&rs_lock, flags);
	dev->gids[attr->index] = gid;
	write_unlock_irqrestore(&rs_lock, flags);
	return 0;
}

static int rs_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct rs_dev *dev = to_rs_dev(attr->device);
	unsigned long flags;

	might_sleep();
	if (attr->index >= dev->gid_len)
		return -EINVAL;
	write_lock_irqsave(&rs_lock, flags);
	dev->gids[attr->index].valid = false;
	write_unlock_irqrestore(&rs_lock, flags);
	return 0;
}

/* User contexts and protection domains, which have no state of their own */

static int rs_alloc_ucontext(struct ib_ucontext *ctx, struct ib_udata *udata)
{
	return 0;
}

static void rs_dealloc_ucontext(struct ib_ucontext *ctx)
{
}

/* Nothing is mapped to user space */
static void rs_disassociate_ucontext(struct ib_ucontext *ctx)
{
}

static int rs_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	might_sleep();
	return rs_fault_verb(to_rs_dev(pd->device), RS_F_ALLOC_PD, NULL,
			     -ENOMEM);
}

static int rs_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	might_sleep();
	return 0;
}

/* Queue pairs */

static int qp_check_caps(const struct rs_dev *dev,
			 const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RC || init->srq || init->create_flags)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > rs_get(dev, RS_K_MAX_QP_WR) ||
	    cap->max_recv_wr > rs_get(dev, RS_K_MAX_QP_WR) ||
	    cap->max_send_sge > rs_get(dev, RS_K_MAX_SEND_SGE) ||
	    cap->max_recv_sge > rs_get(dev, RS_K_MAX_RECV_SGE) ||
	    cap->max_inline_data > rs_get(dev, RS_K_MAX_INLINE))
		return -EINVAL;
	return 0;
}

static void qp_free_rings(struct rs_qp *qp)
{
	kvfree(qp->sq);
	kvfree(qp->rq);
	kvfree(qp->sges);
	kvfree(qp->inl);
}

static int qp_alloc_rings(struct rs_qp *qp)
{
	const struct ib_qp_cap *cap = &qp->cap;
	u32 sends = roundup_pow_of_two(cap->max_send_wr);
	u32 recvs = roundup_pow_of_two(cap->max_recv_wr);
	size_t n_send = (size_t)sends * cap->max_send_sge;
	size_t n_recv = (size_t)recvs * cap->max_recv_sge;
	u32 i;

	qp->sq = kvcalloc(sends, sizeof(*qp->sq), GFP_KERNEL);
	qp->rq = kvcalloc(recvs, sizeof(*qp->rq), GFP_KERNEL);
	qp->sges = kvcalloc(n_send + n_recv, sizeof(*qp->sges), GFP_KERNEL);
	qp->inl = kvcalloc(sends, cap->max_inline_data, GFP_KERNEL);
	if (!qp->sq || !qp->rq || !qp->sges || !qp->inl) {
		qp_free_rings(qp);
		return -ENOMEM;
	}
	for (i = 0; i < sends; i++) {
		qp->sq[i].sge = qp->sges + (size_t)i * cap->max_send_sge;
		qp->sq[i].inl = qp->inl + (size_t)i * cap->max_inline_data;
	}
	for (i = 0; i < recvs; i++)
		qp->rq[i].sge = qp->sges + n_send +
				(size_t)i * cap->max_recv_sge;
	qp->sq_mask = sends - 1;
	qp->rq_mask = recvs - 1;
	return 0;
}

static int qp_enter(struct rs_dev *dev, struct rs_qp *qp)
{
	u32 qpn;
	int rc;

	if (atomic_inc_return(&dev->n_qps) > rs_get(dev, RS_K_MAX_QP)) {
		atomic_dec(&dev->n_qps);
		return -ENOMEM;
	}
	rc = xa_alloc_cyclic(&dev->qps, &qpn, qp,
			     XA_LIMIT(RS_QPN_FIRST, RS_QPN_LAST),
			     &dev->next_qpn, GFP_KERNEL);
	if (rc < 0) {
		atomic_dec(&dev->n_qps);
		return rc;
	}
	qp->ib.qp_num = qpn;
	return 0;
}

static int rs_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
			struct ib_udata *udata)
{
	struct rs_dev *dev = to_rs_dev(ibqp->device);
	struct rs_qp *qp = to_rs_qp(ibqp);
	int rc;

	might_sleep();
	rc = qp_check_caps(dev, init);
	if (!rc)
		rc = rs_fault_verb(dev, RS_F_CREATE_QP, NULL, -ENOMEM);
	if (rc)
		return rc;

	qp->dev = dev;
	qp->cap = init->cap;
	/* more than was asked for is allowed, and rings need an entry */
	qp->cap.max_send_wr = max(qp->cap.max_send_wr, 1U);
	qp->cap.max_recv_wr = max(qp->cap.max_recv_wr, 1U);
	qp->cap.max_send_sge = max(qp->cap.max_send_sge, 1U);
	qp->cap.max_recv_sge = max(qp->cap.max_recv_sge, 1U);
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	spin_lock_init(&qp->lock);
	INIT_LIST_HEAD(&qp->bag);
	rs_hrtimer_setup(&qp->timer, rs_qp_timer);
	rc = qp_alloc_rings(qp);
	if (rc)
		return rc;
	rs_rings_start(qp);
	rc = qp_enter(dev, qp);
	if (rc) {
		qp_free_rings(qp);
		return rc;
	}
	init->cap = qp->cap;
	return 0;
}

static int rs_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct rs_qp *qp = to_rs_qp(ibqp);
	struct rs_dev *dev = qp->dev;
	unsigned long flags;

	might_sleep();
	rs_fault_verb(dev, RS_F_DESTROY_QP, qp, 0);
	xa_erase(&dev->qps, ibqp->qp_num);
	/* no engine uses it after this */
	write_lock_irqsave(&rs_lock, flags);
	spin_lock(&qp->lock);
	qp->dead = true;
	rs_qp_reset(qp);
	spin_unlock(&qp->lock);
	write_unlock_irqrestore(&rs_lock, flags);
	hrtimer_cancel(&qp->timer);
	qp_free_rings(qp);
	atomic_dec(&dev->n_qps);
	return 0;
}

static bool av_ok(const struct rs_dev *dev, const struct ib_qp_attr *attr)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;

	return ah->type == RDMA_AH_ATTR_TYPE_ROCE &&
	       (rdma_ah_get_ah_flags(ah) & IB_AH_GRH) &&
	       rdma_ah_get_port_num(ah) == 1 &&
	       rdma_ah_read_grh(ah)->sgid_index < dev->gid_len &&
	       dev->gids[rdma_ah_read_grh(ah)->sgid_index].valid &&
	       is_valid_ether_addr(ah->roce.dmac);
}

/* Checks of chapter 11.2.5 of the specification, and limits of the device */
static bool attr_ok(const struct rs_qp *qp, const struct ib_qp_attr *attr,
		    int mask)
{
	const struct rs_dev *dev = qp->dev;
	enum ib_mtu most = ib_mtu_int_to_enum(rs_get(dev, RS_K_MTU));

	if (mask & IB_QP_PORT && attr->port_num != 1)
		return false;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return false;
	if (mask & IB_QP_AV && !av_ok(dev, attr))
		return false;
	if (mask & IB_QP_PATH_MTU && (attr->path_mtu < IB_MTU_256 ||
				      attr->path_mtu > most))
		return false;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > 0xffffff)
		return false;
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return false;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7)
		return false;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7)
		return false;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return false;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > 16)
		return false;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > 16)
		return false;
	return !(mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_QKEY |
			 IB_QP_RATE_LIMIT));
}

static void qp_take_av(struct rs_qp *qp, const struct rdma_ah_attr *ah)
{
	qp->sgid_index = rdma_ah_read_grh(ah)->sgid_index;
	qp->dgid = rdma_ah_read_grh(ah)->dgid;
	ether_addr_copy(qp->dmac, ah->roce.dmac);
	qp->attr.ah_attr = *ah;
	/* a reference of the caller's */
	qp->attr.ah_attr.grh.sgid_attr = NULL;
}

static void qp_take_attr(struct rs_qp *qp, const struct ib_qp_attr *attr,
			 int mask)
{
	struct ib_qp_attr *to = &qp->attr;

	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn;
	if (mask & IB_QP_AV)
		qp_take_av(qp, &attr->ah_attr);
	if (mask & IB_QP_RQ_PSN)
		qp->rq_psn = attr->rq_psn & 0xffffff;
	if (mask & IB_QP_SQ_PSN)
		qp->sq_psn = attr->sq_psn & 0xffffff;
	qp->retry = to->retry_cnt;
	qp->rnr_retry = to->rnr_retry;
}

static void qp_to_state(struct rs_qp *qp, enum ib_qp_state next)
{
	if (next == IB_QPS_RESET)
		rs_qp_reset(qp);
	else if (next == IB_QPS_ERR)
		rs_qp_to_err(qp, 0);
	else
		qp->state = next;
	rs_qp_kick(qp);
}

static int qp_modify(struct rs_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state cur = mask & IB_QP_CUR_STATE ? attr->cur_qp_state :
							qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;

	if (cur != qp->state ||
	    !ib_modify_qp_is_ok(cur, next, qp->ib.qp_type, mask) ||
	    !attr_ok(qp, attr, mask))
		return -EINVAL;
	qp_take_attr(qp, attr, mask);
	if (mask & IB_QP_STATE)
		qp_to_state(qp, next);
	return 0;
}

static int modify_fault(struct rs_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	if (!(mask & IB_QP_STATE))
		return 0;
	switch (attr->qp_state) {
	case IB_QPS_INIT:
		return rs_fault_verb(qp->dev, RS_F_TO_INIT, qp, -ENOMEM);
	case IB_QPS_RTR:
		return rs_fault_verb(qp->dev, RS_F_TO_RTR, qp, -ENOMEM);
	case IB_QPS_RTS:
		return rs_fault_verb(qp->dev, RS_F_TO_RTS, qp, -ENOMEM);
	case IB_QPS_ERR:
		return rs_fault_verb(qp->dev, RS_F_TO_ERR, qp, -EIO);
	default:
		return 0;
	}
}

static int rs_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			struct ib_udata *udata)
{
	struct rs_qp *qp = to_rs_qp(ibqp);
	unsigned long flags;
	int rc;

	might_sleep();
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	rc = modify_fault(qp, attr, mask);
	if (rc)
		return rc;
	flags = rs_begin();
	spin_lock(&qp->lock);
	rc = qp_modify(qp, attr, mask);
	spin_unlock(&qp->lock);
	rs_end(flags);
	return rc;
}

static int rs_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		       struct ib_qp_init_attr *init)
{
	struct rs_qp *qp = to_rs_qp(ibqp);
	unsigned long flags;

	might_sleep();
	spin_lock_irqsave(&qp->lock, flags);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->cap = qp->cap;
	attr->rq_psn = qp->rq_psn;
	attr->sq_psn = qp->sq_psn;
	spin_unlock_irqrestore(&qp->lock, flags);
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->qp_type = ibqp->qp_type;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->cap = qp->cap;
	return 0;
}

/*
 * User space: the provider hfi1verbs of rdma-core, in its ABI 1, does everything
 * by the plain commands of uverbs, also to post and to poll. A device with that
 * driver's number needs no library of its own. (The driver itself is not loaded
 * where rnicsim is.)
 */
const struct ib_device_ops rs_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_HFI1,
	.uverbs_abi_ver = 1,

	.add_gid = rs_add_gid,
	.alloc_mr = rs_alloc_mr,
	.alloc_pd = rs_alloc_pd,
	.alloc_ucontext = rs_alloc_ucontext,
	.create_cq = rs_create_cq,
	.create_qp = rs_create_qp,
	RS_CREATE_USER_CQ
	.dealloc_pd = rs_dealloc_pd,
	.dealloc_ucontext = rs_dealloc_ucontext,
	.del_gid = rs_del_gid,
	.dereg_mr = rs_dereg_mr,
	.destroy_cq = rs_destroy_cq,
	.destroy_qp = rs_destroy_qp,
	.disassociate_ucontext = rs_disassociate_ucontext,
	.get_dma_mr = rs_get_dma_mr,
	.get_link_layer = rs_get_link_layer,
	.get_port_immutable = rs_get_port_immutable,
	.map_mr_sg = rs_map_mr_sg,
	.modify_qp = rs_modify_qp,
	.poll_cq = rs_poll_cq,
	.post_recv = rs_post_recv,
	.post_send = rs_post_send,
	.query_device = rs_query_device,
	.query_pkey = rs_query_pkey,
	.query_port = rs_query_port,
	.query_qp = rs_query_qp,
	.reg_user_mr = rs_reg_user_mr,
	.req_notify_cq = rs_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, rs_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, rs_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, rs_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, rs_ucontext, ib),
};
