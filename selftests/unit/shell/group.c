// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two hosts with a link group between them. Tables of connections and RTokens,
 * links and their queues are the module's own. The code here replaces the
 * group's state machine, LLC, RMBs and devices: each host adds, loses and
 * drains links independently of the other.
 */
#include "rdma/link_impl.h"
#include "lgr/lgr.h"
#include "lgr/lgr_conns.h"
#include "lgr/lgr_view.h"
#include "lgr/llc_test.h"
#include "lgr/rmb.h"
#include "lgr/rtoken.h"
#include "shell.h"

struct world w;
u32 small_sq;
int smcr_max_mem_host;

static u8 next_num;

/* Both ends of a link */
static struct pair_of_links {
	bool used;
	bool ready;
	bool lost;			/* a failure or deletion has begun, no other may */
	u8 num;
	struct smcr_link *end[HOSTS];	/* references */
	u8 slot[HOSTS];
	bool left[HOSTS];		/* its connections have moved */
	bool done[HOSTS];		/* it was removed from the group */
	bool leaving[HOSTS];
	bool back;			/* it drains, and is used again unless it fails */
} links[LINKS_MAX];

struct host *host_of(const struct smcr_lgr *lgr)
{
	return lgr == w.host[0].lgr ? &w.host[0] : &w.host[1];
}

/* In place of functions in files of the module that are not linked */
void smcr_lgr_hold(struct smcr_lgr *lgr)
{
	refcount_inc(&lgr->refs);
}

void smcr_lgr_put(struct smcr_lgr *lgr)
{
	if (refcount_dec_and_test(&lgr->refs))
		bad("the group has lost a reference");
}

static bool lgr_dead(struct smcr_lgr *lgr, enum smcr_reason why)
{
	bool first;

	spin_lock_bh(&lgr->lock);
	first = lgr->st != SMCR_LGR_ST_DEAD;
	lgr->why = first ? why : lgr->why;
	smp_store_release(&lgr->st, SMCR_LGR_ST_DEAD);
	spin_unlock_bh(&lgr->lock);
	return first;
}

static void group_lost(void *arg, int n);

void smcr_lgr_kill(struct smcr_lgr *lgr, enum smcr_reason why, u32 del_reason)
{
	struct host *h = host_of(lgr);

	if (!lgr_dead(lgr, why))
		return;
	if (!w.may_die)
		bad("a group ends that has a link");
	tell("group of host %d ends", h->no);
	w.deaths++;
	later(pick(20), group_lost, h, 0);
}

struct smcr_link *smcr_lgr_link_get(struct smcr_lgr *lgr, u8 slot)
{
	struct smcr_link *link;

	spin_lock_bh(&lgr->lock);
	link = lgr->slot[slot].link;
	if (link)
		smcr_link_hold(link);
	spin_unlock_bh(&lgr->lock);
	return link;
}

bool smcr_lgr_other_receives(struct smcr_lgr *lgr, u8 num)
{
	bool found = false;
	int i;

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS; i++)
		if (lgr->slot[i].link && lgr->slot[i].link->num != num &&
		    !lgr->slot[i].link->stopped)
			found = true;
	spin_unlock_bh(&lgr->lock);
	return found;
}

/* Any link that carries: how many connections each has does not matter here */
static struct smcr_link *any_link(struct smcr_lgr *lgr, const struct smcr_clc_accept *on,
				  u16 not)
{
	struct smcr_link *best = NULL;
	int i, n = 0;

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS; i++) {
		struct smcr_link *link = lgr->slot[i].link;

		if (!link || not >> i & 1 || !(READ_ONCE(lgr->live) >> i & 1) || (on && link->num != on->psn) ||
		    !smcr_link_carries(link))
			continue;
		if (!pick(++n))
			best = link;
	}
	if (best)
		smcr_link_hold(best);
	spin_unlock_bh(&lgr->lock);
	return best;
}

struct smcr_link *smcr_lgr_conn_link(struct smcr_lgr *lgr, const struct smcr_clc_accept *on)
{
	return any_link(lgr, on, 0);
}

struct smcr_link *smcr_lgr_another_link(struct smcr_lgr *lgr, u16 not)
{
	return any_link(lgr, NULL, not);
}

/* In most cases there is one */
struct smcr_link *smcr_lgr_lighter_link(struct smcr_lgr *lgr, const struct smcr_link *from)
{
	return chance(6) ? NULL : any_link(lgr, NULL, 1 << from->slot);
}

/* For balance, some connections of some links are to move */
static void spread(void *arg, int n)
{
	struct host *h = arg;
	u32 more[SMCR_SLOTS];
	int i;

	for (i = 0; i < SMCR_SLOTS; i++)
		more[i] = chance(2) ? pick(6) : 0;
	tell("host %d: connections are to leave links", h->no);
	smcr_conn_spread_all(h->lgr, more);
}

void group_spread(void *arg, int n)
{
	struct host *h = &w.host[pick(HOSTS)];

	if (!w.spreads || kernel_ending)
		return;
	w.spreads--;
	if (smcr_lgr_state(h->lgr) != SMCR_LGR_ST_DEAD)
		task_start("spread", spread, h, 0);
	later(1 + pick(chance(3) ? 20 * w.pace : w.pace), group_spread, NULL, 0);
}

/* Number of links that carry at the host of @sn */
int group_carries(const struct smcr_net *sn)
{
	const struct smcr_lgr *lgr;
	int i, n = 0;

	lgr = sn == &w.host[0].sn ? w.host[0].lgr : w.host[1].lgr;
	for (i = 0; i < SMCR_SLOTS; i++)
		n += lgr->slot[i].link && lgr->live >> i & 1 &&
		     smcr_link_carries(lgr->slot[i].link);
	return n;
}

void smcr_llc_test_soon(struct smcr_lgr *lgr)
{
}

void smcr_dev_hold(struct smcr_dev *dev)
{
	refcount_inc(&dev->refs);
}

void smcr_dev_put(struct smcr_dev *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		bad("a device has lost a reference");
}

struct smcr_dev_name smcr_dev_name(struct smcr_dev *dev)
{
	return (struct smcr_dev_name){ "dev" };
}

void smcr_count_add(struct smcr_net *sn, enum smcr_counter c, u64 n)
{
	w.full += c == SMCR_CNT_TX_SQ_FULL;
	w.others += c == SMCR_CNT_MOVE_OTHER;
	w.spread += c == SMCR_CNT_CONN_BALANCED;
}

/* Reasons that a link or a program can cause; any other is a bug of one side */
void smcr_report_reason(struct smcr_net *sn, enum smcr_reason why, u32 lgr_id, u32 token)
{
	tell("token %08x: %s", token, smcr_reason_name(why));
	switch (why) {
	case SMCR_R_CDC_OLD:
	case SMCR_R_CDC_AFTER_CLOSE:
	case SMCR_R_CDC_TOKEN:
	case SMCR_R_PEER_ABORT:
	case SMCR_R_LOCAL_UNREAD:
	case SMCR_R_LOCAL_ABORT:
	case SMCR_R_PEER_CLOSED_UNREAD:
	case SMCR_R_TCP_RESET:
	case SMCR_R_NO_LINK:
	case SMCR_R_LINK_ERROR:
	case SMCR_R_LLC_TIMEOUT:
	case SMCR_R_DEVICE_GONE:
	case SMCR_R_ABORT_TIMEOUT:
		break;
	case SMCR_R_MOVE_MEMORY:
		if (w.no_mem) {
			apps_lost(token);
			break;
		}
		if (group_carries(sn) > 1)
			bad("connection %08x: another link was not tried", token);
		w.deaths++;	/* errors from now on are no bugs */
		break;
	case SMCR_R_LINK_DEVICE:
		if (!w.keeps)
			bad("connection %08x: its device could be left", token);
		apps_lost(token);
		break;
	case SMCR_R_RMBE_CONFLICT:
		w.conflicts++;
		break;
	default:
		bad("host %d, connection %08x: %s", lgr_id, token, smcr_reason_name(why));
	}
}

/* Elements of the one RMB of a host */
static void elem_check(struct host *h)
{
	u32 i;

	for (i = 0; i < w.n_elems; i++) {
		if (h->elem[i].st != ELEM_QUARANTINE ||
		    !time_after(jiffies, h->elem[i].since + h->sn.knobs.t_abort))
			continue;
		smcr_buf_zero(h->rmb_buf, i * w.elem_size, w.elem_size);
		h->elem[i].st = ELEM_FREE;
	}
}

static bool elem_zero(struct host *h, u32 i)
{
	u32 at, run;

	for (at = 0; at < w.elem_size; at++)
		if (*(u8 *)smcr_buf_at(h->rmb_buf, i * w.elem_size + at, 1, &run))
			return false;
	return true;
}

int smcr_rmb_get_elem(struct smcr_lgr *lgr, u8 bsize, struct mem_cgroup *memcg,
		      struct smcr_elem *elem, struct smcr_rmb_req *req,
		      enum smcr_reason *why)
{
	struct host *h = host_of(lgr);
	u32 i, k = 0, n = 0;

	might_sleep();
	*why = SMCR_R_RMB_LIMIT;
	if (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD)
		return -ENOTCONN;
	elem_check(h);
	for (i = 0; i < w.n_elems; i++)
		if (h->elem[i].st == ELEM_FREE && !pick(++n))
			k = i;
	if (!n)
		return -ENOSPC;
	h->elem[k].st = ELEM_BUSY;
	h->elem[k].owner = task_sock();
	elem->rmb = h->rmb;
	elem->index = k + 1;
	elem->size = w.elem_size;
	elem->off = k * w.elem_size;
	if (!elem_zero(h, k))
		bad("host %d: element %u is given out with old data", h->no, k);
	if (w.base)
		memcpy(smcr_buf_at(h->rmb_buf, elem->off, 4, &n), "\xe2\xd4\xc3\xd9", 4);
	return 0;
}

void smcr_rmb_put_elem(struct smcr_elem *elem, u32 written, bool quarantine)
{
	struct smcr_rmb *rmb = elem->rmb;
	struct elem_state *e;
	struct host *h;

	might_sleep();
	if (!rmb)
		return;
	h = host_of(rmb->lgr);
	e = &h->elem[elem->index - 1];
	if (!quarantine) {
		smcr_buf_zero(h->rmb_buf, elem->off,
			      clamp_t(u32, written, w.base ? 4 : 0, elem->size));
		if (!elem_zero(h, elem->index - 1))
			bad("host %d: element %u has data that were not announced", h->no,
			    elem->index - 1);
	}
	e->owner = NULL;
	e->since = jiffies;
	e->st = quarantine ? ELEM_QUARANTINE : ELEM_FREE;
	tell("host %d: element %u is %s", h->no, elem->index - 1,
	     quarantine ? "in quarantine" : "free");
	elem->rmb = NULL;
	point();
}

bool smcr_rmb_eye_ok(const struct smcr_elem *elem, u8 d)
{
	u32 run;

	return !memcmp(smcr_buf_at(elem->rmb->lgr == w.host[0].lgr ? w.host[0].rmb_buf :
				   w.host[1].rmb_buf, elem->off, 4, &run),
		       "\xe2\xd4\xc3\xd9", 4);
}

void smcr_rmb_clear_eye(const struct smcr_elem *elem)
{
}

u32 small_bsize_bytes(u8 code)
{
	return w.elem_size;
}

u32 small_sndbuf(void)
{
	return w.first_sndbuf;
}

/* Links */
static int free_slot(int host)
{
	unsigned int taken = 0, i, n = 0, s = 0;

	for (i = 0; i < LINKS_MAX; i++)
		if (links[i].used && links[i].num)
			taken |= 1 << links[i].slot[host];
	for (i = 0; i < SMCR_SLOTS; i++)
		if (!(taken >> i & 1) && !pick(++n))
			s = i;
	return s;
}

static struct smcr_link *make_end(struct host *h, u8 slot, int d)
{
	struct smcr_port_id pid = { .dev = h->dev[d], .port = 1 };
	const u8 id[8] = { 1 };
	struct smcr_link_params owner = {
		.lgr = h->lgr,
		.lgr_id = h->no,
		.slot = slot,
		.d = d,
		.peer_id = id,
		.msg_len = SMCR_WR_LEN,
		.mem = &h->lgr->mem,
	};
	struct smcr_link *link = smcr_link_create(&owner, &pid, &h->pd[d]);

	if (IS_ERR(link))
		bad("no link");
	spin_lock_bh(&h->lgr->lock);
	h->lgr->slot[slot].link = link;
	spin_unlock_bh(&h->lgr->lock);
	return link;
}

/* Number of links that work and stay, on both hosts */
static int n_sound(void)
{
	int i, n = 0;

	for (i = 0; i < LINKS_MAX; i++) {
		struct pair_of_links *p = &links[i];

		/* no other task runs meanwhile */
		if (p->used && p->ready && (!p->lost || p->back) && p->end[0]->st == SMCR_LINK_ST_RTS &&
		    p->end[1]->st == SMCR_LINK_ST_RTS &&
		    (p->back || (!p->leaving[0] && !p->leaving[1])) &&
		    !rdma_broken(p->end[0]->qp))
			n++;
	}
	return n;
}

static void link_make(void *arg, int n)
{
	struct pair_of_links *p = links;
	struct host *h;
	int i, d[HOSTS];
	bool alone;

	while (p < links + LINKS_MAX && p->used)
		p++;
	if (p == links + LINKS_MAX || w.deaths)
		return;
	d[0] = pick(DEVS);
	d[1] = pick(DEVS);
	memset(p, 0, sizeof(*p));
	for (i = 0; i < HOSTS; i++)
		p->slot[i] = free_slot(i);
	p->used = true;
	p->num = ++next_num;
	for (i = 0; i < HOSTS; i++) {
		p->end[i] = make_end(&w.host[i], p->slot[i], d[i]);
		p->end[i]->num = p->num;
	}
	rdma_connect(p->end[0]->qp, p->end[1]->qp);
	for (i = 0; i < HOSTS; i++) {
		h = &w.host[i];
		smcr_link_advance(p->end[i], SMCR_LINK_ST_RTS);
		smcr_lgr_record_rtoken(h->lgr, h->rtoken, p->slot[i],
				       w.host[!i].rmb->mr[d[!i]]->rkey,
				       w.host[!i].rmb->mr[d[!i]]->iova);
	}
	tell("link %u: slots %u, %u", p->num, p->slot[0], p->slot[1]);
	for (i = 0; i < HOSTS; i++) {
		alone = !w.host[i].lgr->live;
		set_bit(p->slot[i], &w.host[i].lgr->live);
		if (alone)
			smcr_conn_stay_all(p->end[i]);
		if (chance(4))
			wait_until(pick(5));
	}
	p->ready = true;
}

/* What the state machine of one host does: STOP, after DELETE LINK */
static void end_gone(void *arg, int i)
{
	struct pair_of_links *p = arg;
	struct host *h = &w.host[i];
	struct smcr_link *link = p->end[i], *other;

	/* the peer agrees when its connections moved, or its end failed */
	if (!w.deaths && (link->drained ? !p->left[!i] : !p->end[!i]->stopped)) {
		later(1 + pick(20), end_gone, p, i);
		return;
	}
	smcr_link_stop(link);
	WRITE_ONCE(link->deleted, true);
	smcr_conn_move_all(link);
	smcr_tx_link_gone(link);
	spin_lock_bh(&h->lgr->lock);
	if (h->lgr->slot[p->slot[i]].link == link)
		h->lgr->slot[p->slot[i]].link = NULL;
	spin_unlock_bh(&h->lgr->lock);
	smcr_lgr_forget_slot(h->lgr, p->slot[i]);
	tell("host %d: link %u is off, with %d references", i, link->num,
	     refcount_read(&link->refs));
	p->done[i] = true;
	if (!p->done[!i])
		return;
	other = p->end[!i];
	p->used = false;	/* from here on another link may take the entry */
	smcr_link_put(link);
	smcr_link_put(other);
	if (!w.deaths)
		later(pick(chance(2) ? 200 : 3), link_make, NULL, 0);
}

static void peer_leaves(void *arg, int n);

/* The link is used again, as all others may have failed; false: it cannot */
static bool end_stays(struct pair_of_links *p, int i)
{
	struct smcr_link *link = p->end[i];

	wait_until(pick(chance(2) ? 300 : 5));
	p->back = false;
	if (!link->stopped)
		rdma_stay(link->qp);
	if (link->stopped || !smcr_link_stay(link)) {
		later(pick(w.slow_llc), peer_leaves, p, p->num << 1 | !i);
		return false;
	}
	tell("host %d: link %u stays", i, link->num);
	p->leaving[i] = false;
	p->lost = false;
	spin_lock_bh(&w.host[i].lgr->lock);
	set_bit(p->slot[i], &w.host[i].lgr->live);
	clear_bit(p->slot[i], &w.host[i].lgr->spare);
	spin_unlock_bh(&w.host[i].lgr->lock);
	smcr_conn_stay_all(link);
	w.stayed++;
	return true;
}

/* What the state machine of one host does: MOVE, orderly or not */
static void end_leave(void *arg, int n)
{
	struct pair_of_links *p = arg;
	struct smcr_link *link = p->end[n & 1];
	bool orderly = n & 2;
	int i = n & 1;

	if (!orderly || (!smcr_link_drain(link, 500) && !p->back))
		smcr_link_stop(link);
	if (p->back) {
		smcr_conn_move_all(link);
		smcr_tx_link_gone(link);
		if (end_stays(p, i))
			return;
		smcr_link_stop(link);
	}
	clear_bit(p->slot[i], &w.host[i].lgr->spare);
	tell("host %d: link %u %s", i, link->num, link->stopped ? "is stopped" : "is drained");
	p->left[i] = true;
	smcr_conn_move_all(link);
	smcr_tx_link_gone(link);
	/* a group that ends stops its links itself */
	if (smcr_lgr_state(w.host[i].lgr) != SMCR_LGR_ST_DEAD)
		later(pick(100), end_gone, p, i);
}

static void begin_leave(struct pair_of_links *p, int i, bool orderly)
{
	if (smcr_lgr_state(w.host[i].lgr) == SMCR_LGR_ST_DEAD || p->leaving[i])
		return;
	p->leaving[i] = true;
	spin_lock_bh(&w.host[i].lgr->lock);
	if (p->back)
		set_bit(p->slot[i], &w.host[i].lgr->spare);
	clear_bit(p->slot[i], &w.host[i].lgr->live);
	spin_unlock_bh(&w.host[i].lgr->lock);
	if (!smcr_lgr_linked(w.host[i].lgr))
		smcr_lgr_kill(w.host[i].lgr, SMCR_R_LINK_ERROR, 0);
	task_start("leave", end_leave, p, i | (orderly ? 2 : 0));
}

static struct pair_of_links *pair_of_link(const struct smcr_link *link, int *i)
{
	struct pair_of_links *p;

	for (p = links; p < links + LINKS_MAX; p++)
		for (*i = 0; *i < HOSTS; ++*i)
			if (p->used && p->end[*i] == link)
				return p;
	return NULL;
}

/* DELETE LINK arrives over another link: its receiver drops the link as well */
static void peer_leaves(void *arg, int n)
{
	struct pair_of_links *p = arg;
	int i = n & 1;

	if (!p->used || p->num != n >> 1 || p->leaving[i])
		return;
	if (smcr_lgr_state(w.host[!i].lgr) == SMCR_LGR_ST_DEAD)
		return;		/* no link to send it on */
	if (chance(2))
		smcr_link_fail(p->end[i], SMCR_R_LINK_ERROR);
	else
		begin_leave(p, i, false);
}

static void link_down(struct smcr_link *link, enum smcr_reason why)
{
	struct smcr_lgr *lgr = link->lgr;
	struct pair_of_links *p;
	int i;

	p = pair_of_link(link, &i);
	tell("host %d: link %u failed: %s", host_of(lgr)->no, link->num, smcr_reason_name(why));
	if (!p)
		return;
	clear_bit(link->slot, &lgr->live);
	clear_bit(link->slot, &lgr->spare);
	begin_leave(p, i, false);
	later(pick(w.slow_llc), peer_leaves, p, p->num << 1 | !i);
	if (!smcr_lgr_linked(lgr))
		smcr_lgr_kill(lgr, SMCR_R_LINK_ERROR, 0);
}

static void link_freed(struct smcr_lgr *lgr, u8 d, bool orphan)
{
	tell("host %d: a link on device %u is freed", host_of(lgr)->no, d);
}

static void rx_llc(struct smcr_link *link, const u8 *buf)
{
	bad("an LLC message");
}

/* TEST LINK gets no answer */
static void unanswered(void *arg, int n)
{
	struct pair_of_links *p = arg;
	int i = n & 1;

	/* on a link that was used again since there is an answer */
	if (p->used && p->num == n >> 1 && p->lost && !p->leaving[i])
		smcr_link_fail(p->end[i], SMCR_R_LLC_TIMEOUT);
}

static bool can_lose(const struct pair_of_links *p)
{
	return p->used && p->ready && !p->lost && !p->leaving[0] && !p->leaving[1] &&
	       !rdma_broken(p->end[0]->qp);
}

/* TEST LINK detects, at both hosts, each failure that nothing else reports */
static void test_link_finds(struct pair_of_links *p)
{
	int k;

	for (k = 0; k < HOSTS; k++)
		later(200 + pick(2000), unanswered, p, p->num << 1 | k);
}

/* The queue pair of a connection's link fails; its device may not report that */
void group_fail(struct smcr_link *link)
{
	struct pair_of_links *p;
	int i;

	p = pair_of_link(link, &i);
	p->lost = true;
	rdma_fail(link->qp);
	test_link_finds(p);
}

/* A link fails or is deleted, in one of several ways */
static void link_lose(struct pair_of_links *p)
{
	int i = pick(HOSTS), how = pick(w.orderly ? 8 : 5), k;
	bool lost = p->lost;

	p->lost = true;
	tell("link %u: way %d of being lost, at host %d", p->end[0]->num, how, i);
	if (how < 4)
		test_link_finds(p);
	switch (how) {
	case 0:			/* the path, both ways or one way */
	case 1:
		rdma_break(p->end[i]->qp);
		if (chance(2))
			rdma_break(p->end[!i]->qp);
		break;
	case 2:			/* the queue pair */
	case 3:
		rdma_fail(p->end[i]->qp);
		break;
	case 4:			/* the device */
		smcr_link_fail(p->end[i], SMCR_R_DEVICE_GONE);
		break;
	default:		/* an operator deletes it */
		/* a link that failed, or drains, cannot be used again */
		if (w.stays && !lost && chance(2) && !p->leaving[0] && !p->leaving[1]) {
			p->back = true;
			begin_leave(p, i, true);
			/* sometimes all others fail at once; meanwhile this one may be back */
			for (k = chance(2) ? 0 : LINKS_MAX; k < LINKS_MAX; k++)
				if (&links[k] != p && can_lose(&links[k]))
					link_lose(&links[k]);
			break;
		}
		begin_leave(p, i, true);
		if (chance(2))
			begin_leave(p, !i, true);
		else
			later(pick(w.slow_llc), peer_leaves, p, p->num << 1 | !i);
		break;
	}
}

void group_break(void *arg, int n)
{
	struct pair_of_links *p = NULL;
	int k = 0, i;

	if (!w.breaks || w.deaths || kernel_ending)
		return;
	if (n_sound() > 1 || w.may_die) {
		for (i = 0; i < LINKS_MAX; i++)
			if (can_lose(&links[i]) && !pick(++k))
				p = &links[i];
		if (p) {
			w.breaks--;
			link_lose(p);
		}
	}
	if (w.breaks)
		later(1 + pick(chance(3) ? 20 * w.pace : w.pace), group_break, NULL, 0);
}

/* A connection has moved: the link that it is on now may fail or drain, too */
void smcr_lgr_moved(struct smcr_lgr *lgr, struct smcr_link *from, struct smcr_link *to)
{
	struct pair_of_links *p;
	int i;

	w.moves++;
	if (!w.breaks || kernel_ending || !chance(8) || n_sound() < 2)
		return;
	p = pair_of_link(to, &i);
	if (!p || !p->ready || p->leaving[i] || p->back)
		return;
	w.breaks--;
	if (w.orderly && chance(2)) {
		tell("link %u: leaves as a connection comes", p->num);
		p->lost = true;
		begin_leave(p, i, true);
		later(pick(w.slow_llc), peer_leaves, p, p->num << 1 | !i);
	} else {
		link_lose(p);
	}
}

/* The end of a host's group: its connections, then its links */
static void group_lost(void *arg, int n)
{
	struct host *h = arg;
	int i, k = h->no;

	smcr_conn_lose_all(h->lgr);
	for (i = 0; i < SMCR_SLOTS; i++) {
		struct smcr_link *link;

		/* end_gone() may remove it at the same time */
		spin_lock_bh(&h->lgr->lock);
		link = h->lgr->slot[i].link;
		if (link)
			smcr_link_hold(link);
		spin_unlock_bh(&h->lgr->lock);
		if (!link)
			continue;
		smcr_link_stop(link);
		smcr_tx_link_gone(link);
		smcr_link_put(link);
	}
	h->lost = true;
	h = &w.host[!k];
	for (i = 0; i < LINKS_MAX; i++)
		if (links[i].used && links[i].end[!k] && !links[i].leaving[!k])
			later(pick(40) + 10, unanswered, &links[i], links[i].num << 1 | !k);
}

static const struct smcr_link_ops link_ops = {
	.rx_cdc = smcr_conn_rx_cdc,
	.rx_llc = rx_llc,
	.down = link_down,
	.room = smcr_tx_room,
	.freed = link_freed,
};

static bool never_over(const void *arg)
{
	return false;
}

static void host_start(struct host *h, int no)
{
	struct smcr_lgr *lgr = kmem(sizeof(*lgr), __func__);
	struct smcr_buf_params mem;
	int d;

	memset(h, 0, sizeof(*h));
	h->no = no;
	h->lgr = lgr;
	h->sn.knobs.t_llc = 4000;
	h->sn.knobs.t_close = 60000;
	h->sn.knobs.t_abort = 10000;
	h->sn.knobs.wmem = 16384;
	h->sn.knobs.max_mem = INT_MAX;
	spin_lock_init(&h->sn.sk_lock);
	spin_lock_init(&h->sn.lgr_lock);
	lgr->sn = &h->sn;
	refcount_set(&lgr->refs, 1);
	lgr->id = no;
	lgr->st = SMCR_LGR_ST_ACTIVE;
	lgr->terms.base = w.base;
	spin_lock_init(&lgr->lock);
	INIT_LIST_HEAD(&lgr->net.node);
	INIT_LIST_HEAD(&lgr->net.idle);
	smcr_lgr_init_conns(lgr);
	lgr->rtok.all = kmem(sizeof(*lgr->rtok.all), __func__);
	h->rmb = kmem(sizeof(*h->rmb), __func__);
	h->rmb->lgr = lgr;
	for (d = 0; d < DEVS; d++) {
		h->ibdev[d].name = "dev";
		h->dev[d] = kmem(sizeof(struct smcr_dev) + 2 * sizeof(struct smcr_dev_port),
				 __func__);
		h->dev[d]->ibdev = &h->ibdev[d];
		h->dev[d]->max_sge = 3 + (w.turns ? 0 : pick(6));
		refcount_set(&h->dev[d]->refs, 1);
	}
	mem = (struct smcr_buf_params){ .sn = &h->sn, .ibdev = &h->ibdev[0], .over = never_over };
	lgr->mem = mem;
	h->rmb_buf = smcr_buf_alloc(&mem, w.elem_size * w.n_elems, DMA_BIDIRECTIONAL);
	h->rmb->buf = h->rmb_buf;
	for (d = 0; d < DEVS; d++) {
		h->rmb->mr[d] = kmem(sizeof(struct ib_mr), __func__);
		rdma_mr(no, d, h->rmb->mr[d], h->rmb_buf);
	}
}

static int add_rtoken(struct host *h, const struct ib_mr *mr)
{
	int rtoken = smcr_lgr_begin_rtoken(h->lgr, SMCR_SLOTS - 1, mr->rkey, mr->iova);

	smcr_lgr_end_rtoken(h->lgr, rtoken, true);
	return rtoken;
}

void group_start(void)
{
	int i;

	smcr_link_owner_ops = &link_ops;
	memset(links, 0, sizeof(links));
	next_num = 0;
	for (i = 0; i < HOSTS; i++)
		host_start(&w.host[i], i);
	for (i = 0; i < HOSTS; i++)
		w.host[i].rtoken = add_rtoken(&w.host[i], w.host[!i].rmb->mr[0]);
	for (i = 0; i < HOSTS; i++)
		smcr_lgr_forget_slot(w.host[i].lgr, SMCR_SLOTS - 1);
	for (i = 0; i < w.n_links; i++)
		later(0, link_make, NULL, 0);
}

/* Put all links of both hosts; a task, as that sleeps */
static void all_off(void *arg, int n)
{
	int i, k;

	for (i = 0; i < LINKS_MAX; i++) {
		if (!links[i].used)
			continue;
		for (k = 0; k < HOSTS; k++) {
			smcr_link_stop(links[i].end[k]);
			tell("host %d: link %u ends with %d references", k,
			     links[i].num, refcount_read(&links[i].end[k]->refs));
			smcr_link_put(links[i].end[k]);
		}
		links[i].used = false;
	}
}

/* Free everything after a run without failure */
void group_end(void)
{
	int i, d;

	kernel_ending = true;
	task_start("end", all_off, NULL, 0);
	if (!kernel_run())
		return;
	for (i = 0; i < HOSTS; i++) {
		struct host *h = &w.host[i];

		for (d = 0; d < DEVS; d++) {
			if (refcount_read(&h->dev[d]->refs) != 1)
				tell("host %d, device %d: references", i, d);
			kfree(h->dev[d]);
			kfree(h->rmb->mr[d]);
		}
		smcr_buf_free(h->rmb_buf);
		kfree(h->rmb);
		kfree(h->lgr->rtok.all);
		kfree(h->lgr);
	}
}
