// SPDX-License-Identifier: GPL-2.0-only
/* The puppet peer: TCP and CLC. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "puppet.h"
#include "pattern.h"

enum { SYNOPT = 0x5e00, T_RX = 5000 };

static int level(const struct conn *c)
{
	return c->v6 ? IPPROTO_IPV6 : IPPROTO_IP;
}

static int new_socket(struct conn *c, int argc, char **argv, int from)
{
	int fd, on = 1, i;
	bool offer = true;

	for (i = from; i < argc; i++) {
		if (!strcmp(argv[i], "opt=0"))
			offer = false;
		else if (!strcmp(argv[i], "v6"))
			c->v6 = true;
		else
			bad("'%s'?", argv[i]);
	}
	fd = socket(c->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		bad("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (offer && setsockopt(fd, level(c), SYNOPT, &on, sizeof(on)))
		bad("no SYN option (is smcr_synopt loaded?): %s",
		    strerror(errno));
	return fd;
}

void tcp_listen(int argc, char **argv)
{
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd, rc;

	if (argc < 1)
		bad("listen PORT");
	fd = new_socket(conn, argc, argv, 1);
	a.sin_port = a6.sin6_port = htons((u16)parse_num(argv[0]));
	rc = conn->v6 ? bind(fd, (struct sockaddr *)&a6, sizeof(a6)) :
			bind(fd, (struct sockaddr *)&a, sizeof(a));
	if (rc || listen(fd, 1024))
		bad("listen: %s", strerror(errno));
	conn->lfd = fd;
}

static void established(struct conn *c)
{
	fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
	pick_gid(c);
}

void tcp_accept(int argc, char **argv)
{
	u64 end = now_ms() + take_time(&argc, argv, 2 * T_RX);
	int on = 1;

	if (conn->lfd < 0)
		bad("not listening");
	if (!pump(end, conn->lfd, NULL, NULL))
		fail("nobody connects");
	conn->fd = accept(conn->lfd, NULL, NULL);
	if (conn->fd < 0)
		fail("accept: %s", strerror(errno));
	setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	established(conn);
}

void tcp_connect(int argc, char **argv)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST,
				  .ai_socktype = SOCK_STREAM }, *ai;
	int rc;

	if (argc < 2)
		bad("connect ADDR PORT");
	if (getaddrinfo(argv[0], argv[1], &hints, &ai))
		bad("address '%s'?", argv[0]);
	conn->v6 = ai->ai_family == AF_INET6;
	conn->fd = new_socket(conn, argc, argv, 2);
	rc = connect(conn->fd, ai->ai_addr, ai->ai_addrlen);
	freeaddrinfo(ai);
	if (rc)
		fail("connect: %s", strerror(errno));
	seen_forget();
	established(conn);
}

void tcp_opt(int argc, char **argv)
{
	int both = 0, want = argc > 0 ? (int)parse_num(argv[0]) : 1;
	socklen_t len = sizeof(both);

	if (getsockopt(conn->fd, level(conn), SYNOPT, &both, &len))
		bad("getsockopt: %s", strerror(errno));
	if (both != want)
		fail("the option was %son both SYN and SYN-ACK",
		     both ? "" : "not ");
}

/* The RoCE GID that belongs to the address of the connection */
void pick_gid(struct conn *c)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	u8 want[16] = { [10] = 0xff, [11] = 0xff };
	struct ibv_port_attr port;
	union ibv_gid gid;
	int i;

	if (nic->gid_picked)
		return;
	if (getsockname(c->fd, (struct sockaddr *)&ss, &len))
		bad("getsockname: %s", strerror(errno));
	if (ss.ss_family == AF_INET)
		memcpy(want + 12, &((struct sockaddr_in *)&ss)->sin_addr, 4);
	else
		memcpy(want, &((struct sockaddr_in6 *)&ss)->sin6_addr, 16);
	if (ibv_query_port(nic->ctx, nic->port, &port))
		bad("ibv_query_port failed");
	for (i = 0; i < port.gid_tbl_len; i++) {
		if (ibv_query_gid(nic->ctx, nic->port, i, &gid))
			break;
		if (!memcmp(gid.raw, want, 16)) {
			nic->gid_index = (u8)i;
			memcpy(nic->gid, gid.raw, 16);
			nic->gid_picked = true;
			return;
		}
	}
	/* an address of another interface: the default GID remains */
}

bool tcp_readable(struct conn *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	return c->fd >= 0 && poll(&p, 1, 0) > 0;
}

void tcp_send(const struct wire *w)
{
	int off = 0, n;

	if (conn->fd < 0)
		bad("no TCP connection");
	while (off < w->len) {
		n = (int)send(conn->fd, w->buf + off,
			      w->bytewise ? 1 : (size_t)(w->len - off), 0);
		if (n < 0 && errno == EAGAIN) {
			pump(now_ms() + 5, -1, NULL, NULL);
			continue;
		}
		if (n < 0 && w->any)
			return;
		if (n < 0)
			fail("send: %s", strerror(errno));
		off += n;
		if (w->bytewise)
			pump(now_ms() + 2, -1, NULL, NULL);
	}
}

static void tcp_drop(bool rst)
{
	struct linger lin = { .l_onoff = 1, .l_linger = 0 };

	if (rst)
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &lin, sizeof(lin));
	close(conn->fd);
	conn->fd = -1;
}

void tcp_tx(int argc, char **argv)
{
	struct wire w = { .len = 0 };

	if (!strcmp(argv[0], "fin")) {
		if (shutdown(conn->fd, SHUT_WR))
			fail("shutdown: %s", strerror(errno));
		return;
	}
	if (!strcmp(argv[0], "rst") || !strcmp(argv[0], "close")) {
		tcp_drop(argv[0][0] == 'r');
		return;
	}
	if (argc < 2)
		bad("tx %s what?", argv[0]);
	if (!strcmp(argv[0], "oob")) {
		if (send(conn->fd, argv[1], strlen(argv[1]), MSG_OOB) < 0)
			fail("send: %s", strerror(errno));
		return;
	}
	if (!strcmp(argv[0], "raw")) {
		w.len = parse_hex(argv[1], w.buf, SEND_MAX);
	} else if (!strcmp(argv[0], "app") && !strncmp(argv[1], "len=", 4)) {
		w.len = (int)parse_num(argv[1] + 4);
		if (w.len > SEND_MAX)
			bad("at most %d", SEND_MAX);
		pattern_fill(w.buf, 0, (unsigned long)w.len);
	} else if (!strcmp(argv[0], "app")) {
		w.len = (int)strlen(argv[1]);
		memcpy(w.buf, argv[1], (size_t)w.len);
	} else {
		bad("tx %s?", argv[0]);
	}
	wire_apply(&w, argc - 2, argv + 2);
	tcp_send(&w);
}

/* Receive exactly @len bytes; 0 at an earlier end, -errno; fail() if late */
static int tcp_read(u8 *buf, int len, u64 end, const char *what)
{
	int got = 0, n;

	if (conn->fd < 0)
		bad("no TCP connection");
	while (got < len) {
		n = (int)recv(conn->fd, buf + got, (size_t)(len - got), 0);
		if (n > 0) {
			got += n;
			continue;
		}
		if (n < 0 && errno == EAGAIN) {
			if (!pump(end, conn->fd, NULL, NULL))
				fail("%s did not come (%d of %d bytes)", what,
				     got, len);
			continue;
		}
		if (got)
			say("after %d bytes: %s", got, hex(buf, (size_t)got));
		return n < 0 ? -errno : 0;
	}
	return got;
}

static void must_read(u8 *buf, int len, u64 end, const char *what)
{
	int n = tcp_read(buf, len, end, what);

	if (n <= 0)
		fail("%s: TCP ended instead: %s", what,
		     n ? strerror(-n) : "FIN");
}

static void rx_end(u64 end, bool fin, bool rst, const char *what)
{
	u8 buf[64];
	int n;

	n = tcp_read(buf, 1, end, what);
	if (n > 0) {
		n += (int)recv(conn->fd, buf + 1, sizeof(buf) - 1, 0);
		fail("%s: data came instead: %s", what,
		     hex(buf, (size_t)max_t(int, n, 1)));
	}
	say("TCP ended by %s", n ? strerror(-n) : "FIN");
	if (n < 0) {
		close(conn->fd);
		conn->fd = -1;
	}
	if (n == 0 && !fin)
		fail("%s: a FIN came", what);
	if (n < 0 && !rst)
		fail("%s: %s", what, strerror(-n));
	if (n < 0 && n != -ECONNRESET && n != -EPIPE)
		fail("%s: %s", what, strerror(-n));
}

void tcp_rx(int argc, char **argv)
{
	u64 end = now_ms() + take_time(&argc, argv, T_RX);
	u8 buf[SEND_MAX];
	int len;

	if (!strcmp(argv[0], "eof")) {
		rx_end(end, true, false, "FIN");
	} else if (!strcmp(argv[0], "rst")) {
		rx_end(end, false, true, "RST");
	} else if (!strcmp(argv[0], "end")) {
		rx_end(end, true, true, "the end of TCP");
	} else if (!strcmp(argv[0], "app") && argc > 1) {
		if (!strncmp(argv[1], "len=", 4)) {
			len = (int)parse_num(argv[1] + 4);
			if (len > SEND_MAX)
				bad("at most %d", SEND_MAX);
			must_read(buf, len, end, "application data");
			if (pattern_diff(buf, 0, (unsigned long)len) >= 0)
				fail("wrong data: %s", hex(buf, 64));
		} else {
			len = (int)strlen(argv[1]);
			must_read(buf, len, end, "application data");
			if (memcmp(buf, argv[1], (size_t)len))
				fail("got '%.*s'", len, buf);
		}
	} else {
		bad("rx %s?", argv[0]);
	}
}

/* --- CLC ---------------------------------------------------------------- */

static const struct field proposal_fields[] = {
	FIELD(struct smcr_clc_proposal, F_NUM, "version", version),
	FIELD(struct smcr_clc_proposal, F_HEX, "peer_id", peer_id),
	FIELD(struct smcr_clc_proposal, F_HEX, "gid", gid),
	FIELD(struct smcr_clc_proposal, F_HEX, "mac", mac),
	FIELD(struct smcr_clc_proposal, F_HEX, "net", ipv4_net),
	FIELD(struct smcr_clc_proposal, F_NUM, "plen", ipv4_plen),
	FIELD(struct smcr_clc_proposal, F_NUM, "n_prefix", n_prefix),
	FIELD(struct smcr_clc_proposal, F_HEX, "prefix1", prefix[0].addr),
	FIELD(struct smcr_clc_proposal, F_NUM, "plen1", prefix[0].plen),
	FIELD(struct smcr_clc_proposal, F_HEX, "prefix2", prefix[1].addr),
	FIELD(struct smcr_clc_proposal, F_NUM, "plen2", prefix[1].plen),
	FIELD(struct smcr_clc_proposal, F_HEX, "prefix8", prefix[7].addr),
	FIELD(struct smcr_clc_proposal, F_NUM, "plen8", prefix[7].plen),
	{ 0 },
};

static const struct field accept_fields[] = {
	FIELD(struct smcr_clc_accept, F_BOOL, "first", first_contact),
	FIELD(struct smcr_clc_accept, F_HEX, "peer_id", peer_id),
	FIELD(struct smcr_clc_accept, F_HEX, "gid", gid),
	FIELD(struct smcr_clc_accept, F_HEX, "mac", mac),
	FIELD(struct smcr_clc_accept, F_NUM, "qpn", qpn),
	FIELD(struct smcr_clc_accept, F_NUM, "rkey", rkey),
	FIELD(struct smcr_clc_accept, F_NUM, "index", index),
	FIELD(struct smcr_clc_accept, F_NUM, "token", token),
	FIELD(struct smcr_clc_accept, F_NUM, "bsize", bsize),
	FIELD(struct smcr_clc_accept, F_NUM, "mtu", mtu),
	FIELD(struct smcr_clc_accept, F_NUM, "va", va),
	FIELD(struct smcr_clc_accept, F_NUM, "psn", psn),
	{ 0 },
};

static const struct field decline_fields[] = {
	FIELD(struct smcr_clc_decline, F_BOOL, "s", out_of_sync),
	FIELD(struct smcr_clc_decline, F_HEX, "peer_id", peer_id),
	FIELD(struct smcr_clc_decline, F_NUM, "diag", diagnosis),
	{ 0 },
};

/* Fields among the arguments are set and blanked, the rest is left */
static void set_fields(const struct field *table, void *obj, int argc,
		       char **argv)
{
	static char used[] = "";
	int i;

	for (i = 0; i < argc; i++)
		if (field_set(table, obj, argv[i]))
			argv[i] = used;
}

static void set_prefix(struct smcr_clc_proposal *p, const char *text)
{
	char addr[64];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;

	if (!slash || len >= sizeof(addr) || p->n_prefix == 8)
		bad("prefix=ADDR/LEN");
	memcpy(addr, text, len);
	addr[len] = 0;
	if (inet_pton(AF_INET6, addr, p->prefix[p->n_prefix].addr) != 1)
		bad("'%s'?", addr);
	p->prefix[p->n_prefix++].plen = (u8)parse_num(slash + 1);
}

static void set_net(struct smcr_clc_proposal *p, const char *text)
{
	unsigned int a, b, c, d, n;

	if (sscanf(text, "%u.%u.%u.%u/%u", &a, &b, &c, &d, &n) != 5)
		bad("net=a.b.c.d/n");
	p->ipv4_net[0] = (u8)a;
	p->ipv4_net[1] = (u8)b;
	p->ipv4_net[2] = (u8)c;
	p->ipv4_net[3] = (u8)d;
	p->ipv4_plen = (u8)n;
}

static void proposal_defaults(struct smcr_clc_proposal *p)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	p->version = 1;
	memcpy(p->peer_id, me.peer_id, 8);
	memcpy(p->gid, nic->gid, 16);
	memcpy(p->mac, nic->mac, 6);
	if (knobs.net[0]) {
		set_net(p, knobs.net);
		return;
	}
	/* the lab's networks: /24 and /64 */
	getsockname(conn->fd, (struct sockaddr *)&ss, &len);
	if (ss.ss_family == AF_INET) {
		memcpy(p->ipv4_net, &((struct sockaddr_in *)&ss)->sin_addr, 3);
		p->ipv4_plen = 24;
	} else {
		memcpy(p->prefix[0].addr,
		       &((struct sockaddr_in6 *)&ss)->sin6_addr, 8);
		p->prefix[0].plen = 64;
		p->n_prefix = 1;
	}
}

/* An element that no connection with an open TCP connection has */
static u8 free_index(void)
{
	static u8 next;
	int i, tries;

	for (tries = 0; tries < N_ELEMS; tries++) {
		next = (u8)(next % N_ELEMS + 1);
		for (i = 0; i < MAX_CONNS && conns[i]; i++)
			if (conns[i]->index == next && conns[i]->fd >= 0)
				break;
		if (i == MAX_CONNS || !conns[i])
			return next;
	}
	bad("all elements are in use: set index=");
}

static void accept_defaults(struct smcr_clc_accept *a, u8 type)
{
	ib_memory();
	if (!lnk->qp)
		bad("no queue pair yet: qp create");
	if (!conn->index) {
		conn->index = knobs.index >= 0 ? (u8)knobs.index :
			      free_index();
		conn->token = knobs.token >= 0 ? (u32)knobs.token :
			      (u32)rand() ^ (u32)rand() << 16;
	}
	conn->bsize = knobs.bsize;
	a->type = type;
	memcpy(a->peer_id, me.peer_id, 8);
	memcpy(a->gid, nic->gid, 16);
	memcpy(a->mac, nic->mac, 6);
	a->qpn = lnk->qpn;
	a->rkey = nic->rmb_mr->rkey;
	a->index = conn->index;
	a->token = conn->token;
	a->bsize = conn->bsize;
	a->mtu = nic->mtu;
	a->va = (u64)(uintptr_t)me.rmb;
	a->psn = lnk->psn;
}

void clc_tx(int argc, char **argv)
{
	struct wire w = { .len = 0 };
	struct smcr_clc_proposal p = { 0 };
	struct smcr_clc_accept a = { 0 };
	struct smcr_clc_decline d = { 0 };
	static char used[] = "";
	int i;

	if (!strcmp(argv[0], "proposal")) {
		proposal_defaults(&p);
		for (i = 1; i < argc; i++) {
			if (!strncmp(argv[i], "prefix=", 7)) {
				set_prefix(&p, argv[i] + 7);
				argv[i] = used;
			} else if (!strncmp(argv[i], "net=", 4) &&
				   strchr(argv[i], '/')) {
				set_net(&p, argv[i] + 4);
				argv[i] = used;
			} else if (!strcmp(argv[i], "noprefix")) {
				p.n_prefix = 0;
				argv[i] = used;
			}
		}
		set_fields(proposal_fields, &p, argc - 1, argv + 1);
		w.len = smcr_clc_encode_proposal(&p, w.buf, SEND_MAX);
	} else if (!strcmp(argv[0], "decline")) {
		memcpy(d.peer_id, me.peer_id, 8);
		d.diagnosis = 0x03030000;
		set_fields(decline_fields, &d, argc - 1, argv + 1);
		w.len = smcr_clc_encode_decline(&d, w.buf, SEND_MAX);
	} else {
		accept_defaults(&a, argv[0][0] == 'a' ? SMCR_CLC_ACCEPT :
							SMCR_CLC_CONFIRM);
		/* in first contact the server's link has no peer yet */
		a.first_contact = a.type == SMCR_CLC_ACCEPT &&
				  lnk->state == IBV_QPS_INIT;
		set_fields(accept_fields, &a, argc - 1, argv + 1);
		conn->token = a.token;
		w.len = smcr_clc_encode_accept(&a, w.buf, SEND_MAX);
	}
	if (w.len < 0)
		bad("the encoder refuses this; use @OFFSET=HEX");
	wire_apply(&w, argc - 1, argv + 1);
	tcp_send(&w);
}

static void check_fields(const struct field *table, const void *obj,
			 const u8 *buf, int len, int argc, char **argv,
			 const char *what)
{
	char text[1024];
	int i;

	field_show(table, obj, text, sizeof(text));
	say("got%s", text);
	for (i = 0; i < argc; i++) {
		enum check c = field_check(table, obj, argv[i]);

		if (c == CHECK_NONE)
			c = wire_check(buf, len, argv[i]);
		if (c == CHECK_NONE)
			bad("'%s': no such field", argv[i]);
		if (c == CHECK_MISS)
			fail("%s: %s", what, check_text);
	}
}

/* A later connection may be on any link of the group */
static void find_link(const struct smcr_clc_accept *a)
{
	int i;

	for (i = 0; i < MAX_LINKS && links[i]; i++) {
		if (links[i]->group != lnk->group || !links[i]->qp ||
		    links[i]->peer_qpn != a->qpn ||
		    memcmp(links[i]->peer_gid, a->gid, 16))
			continue;
		conn->link = links[i];
		link_use(links[i]);
		return;
	}
}

static void got_accept(const struct smcr_clc_accept *a)
{
	conn->peer = *a;
	conn->have_peer = true;
	/* in first contact the message describes the current link */
	if (lnk->state <= IBV_QPS_INIT) {
		memcpy(lnk->peer_gid, a->gid, 16);
		memcpy(lnk->peer_mac, a->mac, 6);
		lnk->peer_qpn = a->qpn;
		lnk->peer_psn = a->psn;
		lnk->peer_mtu = a->mtu;
		lnk->n_rmbs = 0;
		rmb_learn(lnk, a->rkey, a->va);
	} else {
		find_link(a);
	}
	conn->rmb_id = rmb_find(lnk, a->rkey);
	rmb_check(a);
	if (!smcr_mtu_ok(a->mtu) || !smcr_bsize_ok(a->bsize))
		offence("reserved MTU or Bsize");
}

/* No reserved bits are set, and the version is the only one (CLC-02) */
static void clc_reserved(const u8 *buf, int len, u8 type)
{
	bool ok;

	switch (type) {
	case SMCR_CLC_PROPOSAL:
		ok = !(buf[7] & 0x0f) && !buf[38] && !buf[39] &&
		     !buf[45] && !buf[46];
		break;
	case SMCR_CLC_ACCEPT:
		ok = !(buf[7] & 0x07) && !buf[51] && !buf[60];
		break;
	case SMCR_CLC_CONFIRM:
		ok = !(buf[7] & 0x0f) && !buf[51] && !buf[60];
		break;
	default:
		ok = !(buf[7] & 0x07) && smcr_bytes_zero(buf + 20, 4);
	}
	if (!ok)
		offence("reserved bits are set: %s", hex(buf, (size_t)len));
	if (buf[7] >> 4 != SMCR_CLC_VERSION)
		offence("version %d", buf[7] >> 4);
}

void clc_rx(int argc, char **argv)
{
	static const char * const names[] = { "?", "proposal", "accept",
					      "confirm", "decline" };
	u64 end = now_ms() + take_time(&argc, argv, T_RX);
	enum smcr_reason why = SMCR_R_NONE;
	u8 buf[SMCR_CLC_MAX_LEN];
	const char *what = argv[0];
	struct smcr_clc_hdr h;
	const u8 *id;
	int rc;

	must_read(buf, SMCR_CLC_HDR_LEN, end, what);
	if (smcr_clc_decode_hdr(buf, SMCR_CLC_HDR_LEN, &h, &why))
		fail("no CLC message: %s (%s)", hex(buf, SMCR_CLC_HDR_LEN),
		     smcr_reason_text(why));
	must_read(buf + SMCR_CLC_HDR_LEN, h.len - SMCR_CLC_HDR_LEN, end, what);
	if (strcmp(names[h.type], what)) {
		if (h.type == SMCR_CLC_DECLINE)
			say("diagnosis 0x%08x", smcr_get_be32(buf + 16));
		fail("a %s came", names[h.type]);
	}
	clc_reserved(buf, h.len, h.type);

	if (h.type == SMCR_CLC_PROPOSAL) {
		var_set("proposal", hex(buf, h.len));
		rc = smcr_clc_decode_proposal(buf, h.len, &conn->prop, &why);
		id = conn->prop.peer_id;
	} else if (h.type == SMCR_CLC_DECLINE) {
		rc = smcr_clc_decode_decline(buf, h.len, &conn->decline, &why);
		id = conn->decline.peer_id;
	} else {
		struct smcr_clc_accept a;

		rc = smcr_clc_decode_accept(buf, h.len, &a, &why);
		if (!rc)
			got_accept(&a);
		id = conn->peer.peer_id;
	}
	if (rc)
		fail("malformed: %s", smcr_reason_text(why));
	if (smcr_bytes_zero(conn->peer_id, 8))
		memcpy(conn->peer_id, id, 8);
	else if (memcmp(conn->peer_id, id, 8))
		offence("the peer ID changed from %s to %s",
			hex(conn->peer_id, 8), hex(id, 8));

	if (h.type == SMCR_CLC_PROPOSAL)
		check_fields(proposal_fields, &conn->prop, buf, h.len,
			     argc - 1, argv + 1, what);
	else if (h.type == SMCR_CLC_DECLINE)
		check_fields(decline_fields, &conn->decline, buf, h.len,
			     argc - 1, argv + 1, what);
	else
		check_fields(accept_fields, &conn->peer, buf, h.len, argc - 1,
			     argv + 1, what);
}
