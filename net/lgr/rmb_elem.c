// SPDX-License-Identifier: GPL-2.0-only
/*
 * Elements of RMBs: allocation to connections, eye catchers, quarantine (RFC 7609 4.1
 * to 4.4). An element is in quarantine when its connection has ended but the peer may still
 * write to it.
 */
#include <linux/bits.h>
#include "core/byteio.h"
#include "core/clc.h"
#include "base/memcg.h"
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr.h"
#include "lgr/rmb.h"
#include "lgr/rmb_impl.h"

/* Add the first RMB of a group that is being formed. CLC announces the RMB to the peer */
static int rmb_add_first(struct smcr_lgr *lgr, u8 bsize)
{
	struct smcr_rmb *rmb;

	if (smcr_rmb_limit_reached(lgr))
		return -ENOSPC;
	/* the caller runs first contact, which has a reference on lgr->link */
	rmb = smcr_rmb_create_some(lgr, lgr->link, bsize,
				   smcr_rmb_elems_wanted(lgr, bsize));
	if (IS_ERR(rmb))
		return PTR_ERR(rmb);
	smcr_rmb_link(lgr, rmb);
	return 0;
}

/*
 * Set the memory cgroup that the next RMB of a class is charged to. While a connection waits
 * for the RMB, the memory cgroup of the first request stays. Only if that memory cgroup had
 * no room for an RMB, a later request replaces it, and so does not wait for a full one.
 */
static void rmb_set_payer(struct smcr_lgr *lgr, u8 bsize,
			  struct mem_cgroup *memcg)
{
	struct smcr_rmb_want *want = &lgr->rmbs.want[bsize];

	lockdep_assert_held(&lgr->rmbs.mutex);
	if (want->payer == memcg ||
	    (want->wanted && (!want->full || want->payer != want->full)))
		return;
	mem_cgroup_put(want->payer);
	want->payer = smcr_memcg_get(memcg);
}

/* Error of the last attempt if it holds for @memcg, too; 0: a new attempt may succeed */
static int rmb_verdict(const struct smcr_rmb_want *want,
		       const struct mem_cgroup *memcg)
{
	return want->rc == -EDQUOT && want->full != memcg ? 0 : want->rc;
}

/*
 * Request another RMB of the class from rmbs.work, which the caller arms. Returns
 * -EINPROGRESS until an attempt to add an RMB has ended; it may be under way already. If the
 * attempt has failed, and its error holds for this caller, too, the next call returns the
 * error, once. Otherwise the next call makes a new request, as the caller still has no
 * element, and returns -EINPROGRESS. Returns -ENOSPC at the RMB limit.
 */
static int rmb_request(struct smcr_lgr *lgr, u8 bsize,
		       struct mem_cgroup *memcg, struct smcr_rmb_req *req)
{
	struct smcr_rmb_want *want = &lgr->rmbs.want[bsize];
	u32 mine = req->tries[bsize];

	lockdep_assert_held(&lgr->rmbs.mutex);
	if (smcr_rmb_limit_reached(lgr))
		return -ENOSPC;
	if (mine && (s32)(want->tries - mine) >= 0) {
		req->tries[bsize] = 0;
		if (rmb_verdict(want, memcg))
			return want->rc;
		/*
		 * The attempt has succeeded, but other callers took all elements. Or it has
		 * failed, as it was charged to another memory cgroup, which was full.
		 */
		mine = 0;
	}
	if (!mine) {
		smcr_count(lgr->sn, SMCR_CNT_RMB_WAITS);
		req->tries[bsize] = want->tries + 1 ?: 1;
		rmb_set_payer(lgr, bsize, memcg);
		WRITE_ONCE(want->wanted, true);
	}
	return -EINPROGRESS;
}

static void rmb_take(struct smcr_rmb *rmb, struct smcr_elem *elem)
{
	lockdep_assert_held(&rmb->lgr->rmbs.mutex);
	elem->rmb = rmb;
	elem->index = smcr_elems_get(&rmb->elems);
	smcr_rmb_class_add_free(rmb->lgr, rmb->bsize, -1);
	elem->size = smcr_bsize_bytes(rmb->bsize);
	elem->off = (elem->index - 1) * elem->size;
}

static int rmb_get_of_class(struct smcr_lgr *lgr, u8 bsize,
			    struct mem_cgroup *memcg, struct smcr_elem *elem,
			    struct smcr_rmb_req *req)
{
	struct smcr_rmb *rmb;
	int rc = 0;

	for (;;) {
		/* in a dead group an RMB may lack its registration */
		if (smcr_lgr_dead(lgr))
			return -ENOTCONN;
		rmb = smcr_rmb_with_room(lgr, bsize);
		if (rmb)
			break;
		if (rc)
			return rc;
		if (!smcr_lgr_forming(lgr))
			return req->short_of & BIT(bsize) ? req->rc :
			       rmb_request(lgr, bsize, memcg, req);
		rc = rmb_add_first(lgr, bsize);
	}
	rmb_take(rmb, elem);
	return 0;
}

static int rmb_get(struct smcr_lgr *lgr, u8 bsize, struct mem_cgroup *memcg,
		   struct smcr_elem *elem, struct smcr_rmb_req *req)
{
	int rc;

	lockdep_assert_held(&lgr->rmbs.mutex);
	bsize = smcr_rmb_bsize_cap(lgr, bsize);
	do {
		rc = rmb_get_of_class(lgr, bsize, memcg, elem, req);
		if (smcr_rmb_short(rc)) {	/* later calls make no request for this class */
			req->short_of |= BIT(bsize);
			req->rc = rc;
		}
	} while (smcr_rmb_short(rc) && bsize--);
	return rc;
}

static enum smcr_reason rmb_reason(int rc)
{
	switch (rc) {
	case -ENOMEM:
		return SMCR_R_NO_MEMORY;
	case -ENOBUFS:
		return SMCR_R_MEM_LIMIT;
	case -EDQUOT:
		return SMCR_R_MEMCG_LIMIT;
	case -ENOSPC:
		return SMCR_R_RMB_LIMIT;
	case -EREMOTEIO:
		return SMCR_R_RKEY_REFUSED;
	case -ENOTCONN:
		return SMCR_R_NO_LINK;
	case -ETIMEDOUT:
	case -EAGAIN:
	case -EINPROGRESS:
		return SMCR_R_LGR_BUSY;
	default:
		return SMCR_R_MR_FAIL;
	}
}

static const struct smcr_dialect *elem_dialect(const struct smcr_elem *elem)
{
	return elem->rmb->lgr->dialect;
}

static u8 *elem_eye(const struct smcr_elem *elem)
{
	u32 run;

	return smcr_buf_at(elem->rmb->buf, elem->off, sizeof(u32), &run);
}

static bool elem_eye_ok(const struct smcr_elem *elem, u8 d)
{
	smcr_buf_sync_cpu(elem->rmb->buf, d, elem->off, sizeof(u32));
	return smcr_get_be32(elem_eye(elem)) == elem_dialect(elem)->eye;
}

/*
 * Set the eye catcher, before the index of the element is announced. After the announcement
 * this host, the owner of the RMB, does not write to the element (RMB-16).
 */
static void rmb_set_eye(const struct smcr_elem *elem)
{
	smcr_put_be32(elem_eye(elem), elem_dialect(elem)->eye);
	smcr_buf_sync_dev(elem->rmb->buf, elem->off, sizeof(u32));
}

/**
 * smcr_rmb_get_elem() - element for a new connection
 * @lgr: group with a link; the caller has a reference
 * @bsize: wanted element size code
 * @memcg: memory cgroup that a new RMB is charged to; the caller has a reference
 * @elem: filled on success: the element is busy and zero (see elem_clear()), and has an eye
 *	catcher if the group uses eye catchers or may still agree on them
 * @req: the caller's requests so far
 * @why: reason on failure
 *
 * Takes a free element, or one of a new RMB. Smaller sizes are tried when memory
 * is short (RMB-11). In an active group, elements are given out only of RMBs that
 * are registered and known to the peer (LLC-55). If these RMBs have no free
 * element, smcr_rmb_work() adds an RMB, and the caller calls again. In first contact
 * smcr_rmb_register_all() registers the RMB later, and CLC announces it.
 *
 * Context: process, sleeps for memory, not for the peer.
 * Return: 0; -EINPROGRESS a new RMB is being added: call again when lgr->wait is
 * woken; -ENOMEM; -ENOBUFS memory limit; -EDQUOT memory limit of @memcg; -ENOSPC RMB
 * limit; -ENOTCONN the group has ended; -EREMOTEIO the peer has refused the RMB; -EAGAIN
 * the RMB could not be announced in time; -EIO.
 */
int smcr_rmb_get_elem(struct smcr_lgr *lgr, u8 bsize, struct mem_cgroup *memcg,
		      struct smcr_elem *elem, struct smcr_rmb_req *req,
		      enum smcr_reason *why)
{
	bool low;
	int rc;

	if (req->lgr_id != lgr->id) {	/* requests to another group */
		memset(req, 0, sizeof(*req));
		req->lgr_id = lgr->id;
	}

	mutex_lock(&lgr->rmbs.mutex);
	rc = rmb_get(lgr, bsize, memcg, elem, req);
	low = !rc && smcr_rmb_class_low(lgr, elem->rmb->bsize) &&
	      !smcr_rmb_limit_reached(lgr);
	if (low)
		rmb_set_payer(lgr, elem->rmb->bsize, memcg);
	mutex_unlock(&lgr->rmbs.mutex);

	if (rc == -EINPROGRESS)
		smcr_rmb_work_arm(lgr, 0);
	if (rc) {
		*why = rmb_reason(rc);
		return rc;
	}
	if (low && READ_ONCE(lgr->live))
		smcr_rmb_work_arm(lgr, 0);
	/* in first contact it is not known yet whether the peer wants eye catchers */
	if (lgr->terms.base ||
	    (lgr->dialect->eye_len && smcr_lgr_forming(lgr)))
		rmb_set_eye(elem);
	return 0;
}

/*
 * Clear the first @written bytes of an element. Apart from its eye catcher it was zero when it
 * was given out, so all of it is zero afterwards (RMB-13), except for bytes that the peer has
 * written and never announced. They stay, and only connections of the same peer may read them:
 * an element does not outlive its group (SEC-09). The eye catcher is cleared even if @written
 * is 0.
 */
static void elem_clear(const struct smcr_elem *elem, u32 written)
{
	u32 len = clamp_t(u32, written, sizeof(u32), elem->size);

	smcr_buf_zero(elem->rmb->buf, elem->off, len);
	smcr_buf_check_zero(elem->rmb->buf, elem->off + len, elem->size - len);
}

/**
 * smcr_rmb_put_elem() - give back the element of a connection
 * @elem: element; @elem->rmb is NULL afterwards. If it is NULL already, nothing happens
 * @written: number of bytes, from the start of the element, that the peer may have written:
 *	0 if the peer does not know the element. At least these are cleared
 * @quarantine: the peer did not confirm the end of the connection and may still write. So
 *	the element is kept back for T_ABORT (RMB-22, RMB-23). After that, all of it is
 *	cleared
 *
 * Context: process, sleeps; the caller has a reference on the group.
 */
void smcr_rmb_put_elem(struct smcr_elem *elem, u32 written, bool quarantine)
{
	struct smcr_rmb *rmb = elem->rmb;
	struct smcr_lgr *lgr;
	bool idle;

	if (!rmb)
		return;
	lgr = rmb->lgr;
	/* no lock: a busy element belongs to its connection alone */
	if (!quarantine)
		elem_clear(elem, written);

	smcr_race(lgr->sn->net, "elem-put");
	mutex_lock(&lgr->rmbs.mutex);
	smcr_elems_put(&rmb->elems, elem->index, quarantine);
	if (quarantine) {
		rmb->held_since[elem->index - 1] = jiffies;
	} else {
		rmb->idle_since = jiffies;
		smcr_rmb_class_add_free(lgr, rmb->bsize, 1);
	}
	idle = smcr_elems_idle(&rmb->elems) && !smcr_rmb_newest(rmb);
	mutex_unlock(&lgr->rmbs.mutex);

	elem->rmb = NULL;
	/*
	 * A work that is queued already keeps its delay. So no delay may be longer than a
	 * quarantine: see smcr_rmb_work().
	 */
	if (quarantine)
		smcr_rmb_work_arm(lgr, smcr_rmb_quarantine(lgr));
	else if (idle)
		smcr_rmb_work_arm(lgr, min(smcr_rmb_idle_time(lgr),
					   smcr_rmb_quarantine(lgr)));
}

/**
 * smcr_rmb_clear_eye() - clear the eye catcher, as the two sides have agreed on none
 * @elem: element of a first contact, before the peer may write
 *
 * Without eye catchers, data begin at the first byte of the element. If the peer has
 * overwritten the eye catcher already, although it must not, nothing is cleared.
 *
 * Context: process.
 */
void smcr_rmb_clear_eye(const struct smcr_elem *elem)
{
	if (elem_eye_ok(elem, elem->rmb->lgr->link->mem.d))
		smcr_buf_zero(elem->rmb->buf, elem->off, sizeof(u32));
}

/**
 * smcr_rmb_eye_ok() - is the eye catcher intact? (RMB-14)
 * @elem: element
 * @d: entry of the device that has written there, as for smcr_buf_sync_cpu()
 *
 * Context: any.
 * Return: false if the peer has overwritten the eye catcher.
 */
bool smcr_rmb_eye_ok(const struct smcr_elem *elem, u8 d)
{
	smcr_count(elem->rmb->lgr->sn, SMCR_CNT_EYE_CHECKS);
	return elem_eye_ok(elem, d);
}
