// SPDX-License-Identifier: GPL-2.0-only
/* The puppet peer: queue pairs, memory, completions; never spins. */
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "puppet.h"

enum { SQ_DEPTH = 64, T_WR = 10000 };

/* wr_id: receives carry link and slot, sends only the link */
#define WR_RX		(1ULL << 63)
#define WR_LINK(id)	((id) >> 32 & 0xffff)
#define WR_SLOT(id)	((id) & 0xffffffff)

static int link_no(const struct link *l)
{
	int i;

	for (i = 0; i < MAX_LINKS; i++)
		if (links[i] == l)
			return i;
	return 0;
}

/* The MAC of the netdev below the RDMA device */
static void read_mac(struct nic *n, const char *dev)
{
	char path[128], mac[32] = "", name[32] = "eth0";
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0", dev);
	f = fopen(path, "r");
	if (f) {
		if (fgets(name, sizeof(name), f))
			name[strcspn(name, "\n")] = 0;
		fclose(f);
	}
	snprintf(path, sizeof(path), "/sys/class/net/%s/address", name);
	f = fopen(path, "r");
	if (!f || !fgets(mac, sizeof(mac), f))
		bad("no MAC address for %s", dev);
	fclose(f);
	mac[strcspn(mac, "\n")] = 0;
	parse_hex(mac, n->mac, 6);
}

/* The GID of the netdev's first IPv4 address; 1 if there is none */
static u8 usual_gid(struct nic *n, int len)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	union ibv_gid gid;
	int i;

	for (i = 0; i < len; i++)
		if (!ibv_query_gid(n->ctx, n->port, i, &gid) &&
		    !memcmp(gid.raw, mapped, sizeof(mapped)))
			return (u8)i;
	return 1;
}

/*
 * Opens a device, once. The first device gets the GID of the connection's
 * address, once there is a connection, see pick_gid().
 */
struct nic *ib_open(const char *dev, int gid_index)
{
	struct ibv_device **list;
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct nic *n;
	int i, k;

	for (k = 0; k < MAX_NICS && nics[k]; k++)
		if (!strcmp(nics[k]->name, dev))
			return nics[k];
	if (k == MAX_NICS)
		bad("too many RNICs");
	list = ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), dev))
			break;
	if (!list || !list[i])
		bad("no RDMA device %s", dev);
	n = calloc(1, sizeof(*n));
	snprintf(n->name, sizeof(n->name), "%s", dev);
	n->ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!n->ctx)
		bad("cannot open %s: %s", dev, strerror(errno));
	n->port = 1;
	n->pd = ibv_alloc_pd(n->ctx);
	n->chan = ibv_create_comp_channel(n->ctx);
	if (!n->pd || !n->chan)
		bad("PD or channel: %s", strerror(errno));
	n->cq = ibv_create_cq(n->ctx, 4096, NULL, n->chan, 0);
	if (!n->cq || ibv_req_notify_cq(n->cq, 0))
		bad("CQ: %s", strerror(errno));
	fcntl(n->chan->fd, F_SETFL, fcntl(n->chan->fd, F_GETFL) | O_NONBLOCK);
	if (ibv_query_port(n->ctx, n->port, &port))
		bad("ibv_query_port failed");
	n->mtu = (u8)port.active_mtu;
	n->gid_index = gid_index >= 0 ? (u8)gid_index :
		       k ? usual_gid(n, port.gid_tbl_len) : 1;
	n->gid_picked = k || gid_index >= 0;
	if (ibv_query_gid(n->ctx, n->port, n->gid_index, &gid))
		bad("no GID %d", n->gid_index);
	memcpy(n->gid, gid.raw, 16);
	read_mac(n, dev);
	if (!k) {
		smcr_put_be16(me.peer_id, (u16)rand());
		memcpy(me.peer_id + 2, n->mac, 6);
	}
	nics[k] = n;
	return n;
}

void ib_close(void)
{
	int i;

	for (i = 0; i < MAX_LINKS && links[i]; i++)
		qp_destroy(links[i]);
}

static u8 *map(size_t len)
{
	void *p;

	if (posix_memalign(&p, 4096, len))
		bad("out of memory");
	memset(p, 0, len);
	return p;
}

void ib_memory(void)
{
	unsigned int i;
	size_t len;

	if (!me.rmb) {
		me.elem_size = smcr_bsize_bytes(knobs.bsize & 7);
		me.rmb = map((size_t)me.elem_size * N_ELEMS);
		me.n_rmbs = 1;
	}
	len = (size_t)me.elem_size * N_ELEMS;
	for (i = 0; i < me.n_rmbs; i++) {
		if (!nic->mrs[i])
			nic->mrs[i] = ibv_reg_mr(nic->pd, me.rmb, len,
						 IBV_ACCESS_LOCAL_WRITE |
						 IBV_ACCESS_REMOTE_WRITE);
		if (!nic->mrs[i])
			bad("ibv_reg_mr: %s", strerror(errno));
		nic->rmb_mr = nic->mrs[i];
	}
}

void ib_new_rmb(void)
{
	struct nic *was = nic;
	int i;

	ib_memory();
	if (me.n_rmbs == MAX_RMBS)
		bad("at most %d RMBs", MAX_RMBS);
	me.n_rmbs++;
	for (i = 0; i < MAX_NICS && nics[i]; i++) {
		nic = nics[i];
		ib_memory();
	}
	nic = was;
}

static void ib_staging(void)
{
	if (!me.tx)
		me.tx = map(TX_LEN);
	if (nic->tx_mr)
		return;
	nic->tx_mr = ibv_reg_mr(nic->pd, me.tx, TX_LEN, IBV_ACCESS_LOCAL_WRITE);
	if (!nic->tx_mr)
		bad("ibv_reg_mr: %s", strerror(errno));
}

u8 *my_elem(const struct conn *c)
{
	ib_memory();
	if (!c->index || c->index > N_ELEMS)
		bad("connection %s has no element", c->name);
	return me.rmb + (size_t)(c->index - 1) * me.elem_size;
}

static void post_rx(struct link *l, u32 slot)
{
	struct ibv_sge sge = {
		.addr = (u64)(uintptr_t)(l->rxbuf + (size_t)slot * RX_LEN),
		.length = RX_LEN,
		.lkey = l->rxmr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = WR_RX | (u64)link_no(l) << 32 | slot,
		.sg_list = &sge,
		.num_sge = 1,
	}, *ptr;

	if (ibv_post_recv(l->qp, &wr, &ptr))
		bad("ibv_post_recv: %s", strerror(errno));
}

/* More receives of a queue pair that was made with few of them */
void qp_receives(struct link *l, u64 n)
{
	if (!l->qp || l->rx_wrs + n > RX_DEPTH)
		bad("no queue pair, or too many receives");
	while (n--)
		post_rx(l, l->rx_wrs++);
}

void qp_create(struct link *l)
{
	struct ibv_qp_init_attr init = {
		.send_cq = l->nic->cq,
		.recv_cq = l->nic->cq,
		.cap = { .max_send_wr = SQ_DEPTH, .max_recv_wr = RX_DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = l->nic->port,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE,
	};
	u32 i;

	if (l->qp)
		bad("link %s has a queue pair", l->name);
	l->qp = ibv_create_qp(l->nic->pd, &init);
	if (!l->qp)
		bad("ibv_create_qp: %s", strerror(errno));
	if (ibv_modify_qp(l->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		bad("QP to INIT: %s", strerror(errno));
	l->state = IBV_QPS_INIT;
	l->qpn = l->qp->qp_num;
	l->psn = (knobs.psn < 0 ? (u32)rand() : (u32)knobs.psn) & 0xffffff;
	l->no_eye = knobs.no_eye;
	l->base = 0;
	if (!l->rxbuf) {
		l->rxbuf = map((size_t)RX_DEPTH * RX_LEN);
		l->rxmr = ibv_reg_mr(l->nic->pd, l->rxbuf, (size_t)RX_DEPTH * RX_LEN,
				     IBV_ACCESS_LOCAL_WRITE);
		if (!l->rxmr)
			bad("ibv_reg_mr: %s", strerror(errno));
	}
	for (i = 0; i < min_t(u32, knobs.rq, RX_DEPTH); i++)
		post_rx(l, i);
	l->rx_wrs = i;
	ib_memory();
	ib_staging();
}

void qp_rtr(struct link *l)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = (enum ibv_mtu)min_t(u8, l->nic->mtu, l->peer_mtu),
		.dest_qp_num = l->peer_qpn,
		.rq_psn = l->peer_psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = l->nic->port,
			     .grh = { .sgid_index = l->nic->gid_index,
				      .hop_limit = 64 } },
	};

	if (!l->qp)
		bad("no queue pair");
	memcpy(attr.ah_attr.grh.dgid.raw, l->peer_gid, 16);
	if (ibv_modify_qp(l->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		bad("QP to RTR (peer %s QP %u): %s", hex(l->peer_gid, 16),
		    l->peer_qpn, strerror(errno));
	l->state = IBV_QPS_RTR;
}

void qp_rts(struct link *l)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = knobs.qp_timeout,
		.retry_cnt = knobs.retry,
		.rnr_retry = 7,
		.sq_psn = l->psn,
		.max_rd_atomic = 1,
	};

	if (!l->qp)
		bad("no queue pair");
	if (ibv_modify_qp(l->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		bad("QP to RTS: %s", strerror(errno));
	l->state = IBV_QPS_RTS;
}

void qp_err(struct link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!l->qp)
		return;
	if (ibv_modify_qp(l->qp, &attr, IBV_QP_STATE))
		bad("QP to ERR: %s", strerror(errno));
	l->state = IBV_QPS_ERR;
	l->dead = true;
}

void qp_destroy(struct link *l)
{
	struct rxmsg *m;

	while ((m = rx_take(&l->llc)))
		free(m);
	if (!l->qp)
		return;
	if (ibv_destroy_qp(l->qp))
		bad("ibv_destroy_qp: %s", strerror(errno));
	l->qp = NULL;
	l->state = IBV_QPS_RESET;
	l->dead = false;
	l->wr_posted = l->wr_done = 0;
	l->confirmed = false;
	l->told = 0;
	l->num = 0;
	l->n_rmbs = 0;
}

/*
 * Messages that wait for those on other links. An F can be checked only after
 * all that came before it on the old link, which is in the completion queue of
 * another RNIC. So F, and what follows it on its link, waits here until all
 * completion queues have been empty once.
 */
static struct rxqueue late = { .tail = &late.head };

static bool is_late(const struct link *l, const u8 *buf, u32 len)
{
	const struct rxmsg *m;

	for (m = late.head; m; m = m->next)
		if (m->from == l)
			return true;
	return len == SMCR_WR_LEN && smcr_wr_is_cdc(buf) &&
	       (buf[24] & SMCR_CDC_F);
}

/* True if @m has to wait for messages on other links */
static bool too_early(const struct rxmsg *m)
{
	const struct rxmsg *before;
	int i;

	for (before = late.head; before != m; before = before->next)
		if (before->from == m->from)
			return true;
	if (!smcr_wr_is_cdc(m->buf) || !(m->buf[24] & SMCR_CDC_F))
		return false;
	for (i = 0; i < MAX_CONNS && conns[i]; i++)
		if (conns[i]->token == smcr_get_be32(m->buf + 4) &&
		    smcr_seq_after(smcr_get_be16(m->buf + 2), conns[i]->rx_seq))
			return true;
	return false;
}

/*
 * The next waiting message, or NULL. If all have to wait it is the first: the
 * completion queues are empty, so what they wait for does not come.
 */
static struct rxmsg *late_take(void)
{
	struct rxmsg **at = &late.head, *m;

	while (*at && too_early(*at))
		at = &(*at)->next;
	if (!*at)
		return rx_take(&late);
	m = *at;
	*at = m->next;
	if (!m->next)
		late.tail = at;
	return m;
}

static void arrived(struct link *l, const u8 *buf, u32 len)
{
	if (nics[1] && is_late(l, buf, len))
		rx_put(&late, l, buf, len);
	else
		smc_arrived(l, buf, len);
}

static void completed(const struct ibv_wc *wc)
{
	struct link *l = links[WR_LINK(wc->wr_id)];
	u32 slot = (u32)WR_SLOT(wc->wr_id);

	if (!l || !l->qp || wc->qp_num != l->qpn)
		return;			/* of a destroyed queue pair */
	if (!(wc->wr_id & WR_RX)) {
		l->wr_done++;
		l->wc_status = wc->status;
		if (wc->status != IBV_WC_SUCCESS && !l->dead) {
			say("link %s: %s", l->name,
			    ibv_wc_status_str(wc->status));
			l->dead = true;
		}
		return;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		if (!l->dead)
			say("link %s: receive: %s", l->name,
			    ibv_wc_status_str(wc->status));
		l->dead = true;
		return;
	}
	if (wc->opcode != IBV_WC_RECV || (wc->wc_flags & IBV_WC_WITH_IMM))
		offence("write with immediate data");
	arrived(l, l->rxbuf + (size_t)slot * RX_LEN, wc->byte_len);
	if (knobs.repost)
		post_rx(l, slot);
}

/*
 * One completion at a time: handling one may wait for another (a reply's), and
 * that wait must not overtake what was polled before it.
 */
static bool reap_nic(struct nic *of)
{
	bool any, ever = false;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *arg;
	int n;

	while (!ibv_get_cq_event(of->chan, &cq, &arg))
		ibv_ack_cq_events(cq, 1);
	do {
		if (ibv_req_notify_cq(of->cq, 0))
			bad("ibv_req_notify_cq failed");
		any = false;
		while ((n = ibv_poll_cq(of->cq, 1, &wc)) > 0) {
			completed(&wc);
			any = true;
			ever = true;
		}
		if (n < 0)
			bad("ibv_poll_cq failed");
	} while (any);
	return ever;
}

static void reap(void)
{
	struct rxmsg *m;
	bool any;
	int i;

	do {
		any = false;
		for (i = 0; i < MAX_NICS && nics[i]; i++)
			any |= reap_nic(nics[i]);
		m = any ? NULL : late_take();
		if (m) {
			smc_arrived(m->from, m->buf, m->len);
			free(m);
		}
	} while (any || m);
}

bool pump(u64 deadline, int fd, bool (*done)(void *arg), void *arg)
{
	struct pollfd p[1 + MAX_NICS] = { { .fd = fd, .events = POLLIN } };

	if (try_until)
		deadline = min_t(u64, deadline, try_until);
	for (;;) {
		u64 t;
		int n, i;

		reap();
		if (done && done(arg))
			return true;
		if (fd >= 0 && poll(p, 1, 0) > 0)
			return true;
		t = now_ms();
		if (t >= deadline)
			return false;
		for (i = 0; i < MAX_NICS && nics[i]; i++)
			p[i + 1] = (struct pollfd){ nics[i]->chan->fd, POLLIN, 0 };
		n = poll(p, (nfds_t)i + 1, (int)min_t(u64, deadline - t, 1000));
		if (n < 0 && errno != EINTR)
			bad("poll: %s", strerror(errno));
	}
}

struct wr_wait {
	struct link *l;
	unsigned long n;
};

static bool wr_over(void *arg)
{
	struct wr_wait *w = arg;

	return w->l->wr_done >= w->n;
}

/* Wait until the first @n work requests of the link have completed */
static void wait_wrs(struct link *l, unsigned long n)
{
	struct wr_wait w = { l, n };

	if (!pump(now_ms() + T_WR * (u64)slow, -1, wr_over, &w))
		fail("a work request never completes");
}

static int finish(struct link *l, bool wait)
{
	l->wr_posted++;
	/* a send queue of SENDs that are not waited for fills half of TX_LEN */
	if (!wait) {
		reap();
		return 0;
	}
	wait_wrs(l, l->wr_posted);
	return l->wc_status;
}

static int post(struct link *l, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *ptr;

	/* requests that are not waited for may come faster than they complete */
	if (l->wr_posted - l->wr_done >= SQ_DEPTH)
		wait_wrs(l, l->wr_posted - SQ_DEPTH + 1);
	wr->wr_id = (u64)link_no(l) << 32;
	return ibv_post_send(l->qp, wr, &ptr);
}

static u8 *stage(const u8 *src, u32 len)
{
	static u32 at;
	u8 *p;

	if (len > TX_LEN)
		bad("at most %d bytes", TX_LEN);
	if (at + len > TX_LEN)
		at = 0;
	p = me.tx + at;
	at += len;
	memcpy(p, src, len);
	return p;
}

int ib_send(struct link *l, const u8 *buf, u32 len, bool wait)
{
	struct ibv_sge sge = { .length = len };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge,
				  .num_sge = len ? 1 : 0 };

	if (!l->qp)
		bad("no queue pair");
	sge.addr = (u64)(uintptr_t)stage(buf, len);
	sge.lkey = l->nic->tx_mr->lkey;
	if (post(l, &wr))
		bad("ibv_post_send: %s", strerror(errno));
	return finish(l, wait);
}

int ib_write(struct link *l, const u8 *src, u32 len, u64 va, u32 rkey,
	     bool imm, bool wait)
{
	struct ibv_sge sge = { .length = len };
	struct ibv_send_wr wr = {
		.opcode = imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.sg_list = &sge, .num_sge = 1, .imm_data = 0xffffffff,
		.wr.rdma = { .remote_addr = va, .rkey = rkey },
	};

	if (!l->qp)
		bad("no queue pair");
	sge.addr = (u64)(uintptr_t)stage(src, len);
	sge.lkey = l->nic->tx_mr->lkey;
	if (post(l, &wr))
		bad("ibv_post_send: %s", strerror(errno));
	return finish(l, wait);
}

int ib_read(struct link *l, u8 *dst, u32 len, u64 va, u32 rkey)
{
	struct ibv_sge sge = { .length = len };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = va, .rkey = rkey },
	};
	u8 *p;
	int rc;

	if (!l->qp)
		bad("no queue pair");
	p = stage(dst, len);
	sge.addr = (u64)(uintptr_t)p;
	sge.lkey = l->nic->tx_mr->lkey;
	if (post(l, &wr))
		bad("ibv_post_send: %s", strerror(errno));
	rc = finish(l, true);
	memcpy(dst, p, len);
	return rc;
}
