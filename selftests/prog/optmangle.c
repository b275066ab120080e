// SPDX-License-Identifier: GPL-2.0-only
/*
 * optmangle: a middlebox. It gets packets from an nftables rule
 * (`queue num N`), changes the TCP options of some and lets them go on.
 *
 *	optmangle N [each] WHICH:ACTION...
 *
 *	each	the first connection gets the first rule and no other, the
 *		second one the second, and so on
 *	WHICH	syn, synack, ack (no SYN and no payload) or any
 *	ACTION	set=HEX		replace the list of options
 *		add=HEX		append to the list
 *		front=HEX	insert before the list
 *		strip		the SMC-R option becomes NOPs
 *		hold		keep it until SIGUSR1, then let all go in order,
 *				and keep no more
 *
 * HEX has a multiple of 4 bytes, so that nothing is padded. A list that would
 * be longer than 40 bytes is an error, as is a packet without IPv4 or IPv6.
 *
 * Prints "ready" when the queue is bound, and one line for each packet that it
 * changes, with the number of its connection. SIGTERM ends it; exit status 1 if
 * it cannot do what the arguments ask for.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OPT_MAX = 40, N_RULES = 16, N_HELD = 64, N_CONNS = 64, BUF = 70000 };

static const uint8_t smcr_opt[] = { 0xfe, 6, 0xe2, 0xd4, 0xc3, 0xd9 };

static struct rule {
	const char *which, *action;
	uint8_t opt[OPT_MAX];
	unsigned int len;
} rules[N_RULES];

static int n_rules, nl, n_held, n_conns;
static uint32_t held[N_HELD], conns[N_CONNS];
static uint16_t queue;
static bool each, released;
static volatile sig_atomic_t ending, release;

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		release = 1;
	else
		ending = 1;
}

/* --- netlink ------------------------------------------------------------- */

struct request {
	struct nlmsghdr h;
	struct nfgenmsg g;
	uint8_t attr[BUF];
};

static struct request req;

static void begin(int type, int flags)
{
	memset(&req, 0, sizeof(req.h) + sizeof(req.g));
	req.h.nlmsg_len = NLMSG_LENGTH(sizeof(req.g));
	req.h.nlmsg_type = (uint16_t)(NFNL_SUBSYS_QUEUE << 8 | type);
	req.h.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	req.g.version = NFNETLINK_V0;
	req.g.res_id = htons(queue);
}

static void put(int type, const void *data, size_t len)
{
	struct nlattr *a = (void *)((uint8_t *)&req + req.h.nlmsg_len);

	a->nla_type = (uint16_t)type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	memcpy((uint8_t *)a + NLA_HDRLEN, data, len);
	req.h.nlmsg_len += NLA_ALIGN(a->nla_len);
}

static void submit(void)
{
	if (send(nl, &req, req.h.nlmsg_len, 0) < 0)
		die("netlink: %s", strerror(errno));
}

static void config(int type, const void *data, size_t len)
{
	uint8_t buf[4096];
	const struct nlmsghdr *h = (void *)buf;
	const struct nlmsgerr *e = (void *)(buf + NLMSG_HDRLEN);

	begin(NFQNL_MSG_CONFIG, NLM_F_ACK);
	put(type, data, len);
	submit();
	if (recv(nl, buf, sizeof(buf), 0) < (ssize_t)NLMSG_LENGTH(sizeof(*e)) ||
	    h->nlmsg_type != NLMSG_ERROR)
		die("queue %u: no answer", queue);
	if (e->error)
		die("queue %u: %s", queue, strerror(-e->error));
}

static void setup(void)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK };
	struct nfqnl_msg_config_cmd cmd = { .command = NFQNL_CFG_CMD_BIND };
	struct nfqnl_msg_config_params par = {
		.copy_range = htonl(0xffff),
		.copy_mode = NFQNL_COPY_PACKET,
	};

	nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
	if (nl < 0 || bind(nl, (struct sockaddr *)&a, sizeof(a)))
		die("netlink: %s", strerror(errno));
	config(NFQA_CFG_CMD, &cmd, sizeof(cmd));
	config(NFQA_CFG_PARAMS, &par, sizeof(par));
}

static void verdict(uint32_t id, const uint8_t *pkt, size_t len)
{
	struct nfqnl_msg_verdict_hdr v = { htonl(NF_ACCEPT), htonl(id) };

	begin(NFQNL_MSG_VERDICT, 0);
	put(NFQA_VERDICT_HDR, &v, sizeof(v));
	if (pkt)
		put(NFQA_PAYLOAD, pkt, len);
	submit();
}

/* --- packets ------------------------------------------------------------- */

static uint32_t sum(const void *data, size_t len, uint32_t s)
{
	const uint8_t *p = data;

	for (; len > 1; len -= 2, p += 2)
		s += (uint32_t)(p[0] << 8 | p[1]);
	return len ? s + (uint32_t)(p[0] << 8) : s;
}

static uint16_t fold(uint32_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return htons((uint16_t)~s);
}

/* Set lengths and checksums again */
static void seal(uint8_t *pkt, size_t len, size_t off)
{
	struct tcphdr *th = (void *)(pkt + off);
	uint32_t s = (uint32_t)(len - off) + IPPROTO_TCP;
	uint16_t n;

	if (pkt[0] >> 4 == 4) {
		n = htons((uint16_t)len);
		memcpy(pkt + 2, &n, 2);
		memset(pkt + 10, 0, 2);
		n = fold(sum(pkt, off, 0));
		memcpy(pkt + 10, &n, 2);
		s = sum(pkt + 12, 8, s);
	} else {
		n = htons((uint16_t)(len - 40));
		memcpy(pkt + 4, &n, 2);
		s = sum(pkt + 8, 32, s);
	}
	th->check = 0;
	th->check = fold(sum(th, len - off, s));
}

static size_t insert(uint8_t *pkt, size_t len, size_t off, size_t at,
		     const struct rule *r)
{
	struct tcphdr *th = (void *)(pkt + off);

	if (th->doff * 4u + r->len > sizeof(*th) + OPT_MAX)
		die("no room for %u more bytes behind %u of options", r->len,
		    th->doff * 4u - (unsigned int)sizeof(*th));
	memmove(pkt + at + r->len, pkt + at, len - at);
	memcpy(pkt + at, r->opt, r->len);
	th->doff = (th->doff + r->len / 4) & 15;
	return len + r->len;
}

static void strip(uint8_t *opt, size_t len)
{
	size_t i;

	for (i = 0; i + sizeof(smcr_opt) <= len; i++)
		if (!memcmp(opt + i, smcr_opt, sizeof(smcr_opt)))
			memset(opt + i, 1, sizeof(smcr_opt));
}

/* A connection is known by its ports, in one direction */
static int conn_number(const struct tcphdr *th)
{
	uint32_t ports = (uint32_t)th->source << 16 | th->dest;
	int i;

	for (i = 0; i < n_conns; i++)
		if (conns[i] == ports)
			return i;
	if (n_conns == N_CONNS)
		die("too many connections");
	conns[n_conns] = ports;
	return n_conns++;
}

/* Returns the packet's new length */
static size_t apply(const struct rule *r, uint8_t *pkt, size_t len, size_t off)
{
	struct tcphdr *th = (void *)(pkt + off);
	size_t opt = off + sizeof(*th), end = off + th->doff * 4u;

	if (!strcmp(r->action, "strip")) {
		strip(pkt + opt, end - opt);
	} else if (!strcmp(r->action, "add")) {
		len = insert(pkt, len, off, end, r);
	} else {
		if (!strcmp(r->action, "set")) {
			memmove(pkt + opt, pkt + end, len - end);
			len -= end - opt;
			th->doff = sizeof(*th) / 4;
		}
		len = insert(pkt, len, off, opt, r);
	}
	printf("conn %d: %s %s: %u bytes of options\n", conn_number(th),
	       r->which, r->action, th->doff * 4u - (unsigned int)sizeof(*th));
	seal(pkt, len, off);
	return len;
}

static bool is(const char *which, const struct tcphdr *th, size_t payload)
{
	if (!strcmp(which, "any"))
		return true;
	if (!strcmp(which, "ack"))
		return !th->syn && !th->rst && !th->fin && !payload;
	return th->syn && th->ack == !strcmp(which, "synack");
}

static void packet(uint32_t id, uint8_t *pkt, size_t len)
{
	size_t off = pkt[0] >> 4 == 4 ? (pkt[0] & 15) * 4u : 40;
	const struct tcphdr *th = (void *)(pkt + off);
	bool changed = false;
	int i;

	if (len < off + sizeof(*th) || len < off + th->doff * 4u ||
	    pkt[pkt[0] >> 4 == 4 ? 9 : 6] != IPPROTO_TCP)
		die("a packet that is not TCP");
	for (i = 0; i < n_rules; i++) {
		if (each && i != conn_number(th))
			continue;
		if (!is(rules[i].which, th, len - off - th->doff * 4u))
			continue;
		if (!strcmp(rules[i].action, "hold")) {
			if (released)
				continue;
			if (n_held == N_HELD)
				die("too many packets");
			printf("%s hold\n", rules[i].which);
			held[n_held++] = id;
			return;
		}
		len = apply(&rules[i], pkt, len, off);
		changed = true;
	}
	verdict(id, changed ? pkt : NULL, len);
}

static void message(struct nlmsghdr *h)
{
	struct nlattr *a = (void *)((uint8_t *)h + NLMSG_LENGTH(sizeof(struct nfgenmsg)));
	const uint8_t *end = (uint8_t *)h + h->nlmsg_len;
	/* aligned, and with room for more options */
	static uint8_t pkt[BUF + OPT_MAX] __attribute__((aligned(8)));
	const struct nfqnl_msg_packet_hdr *ph = NULL;
	size_t len = 0;

	if (h->nlmsg_type != (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
		return;
	for (; (uint8_t *)a + NLA_HDRLEN <= end;
	     a = (void *)((uint8_t *)a + NLA_ALIGN(a->nla_len))) {
		if (a->nla_len < NLA_HDRLEN)
			break;
		switch (a->nla_type & NLA_TYPE_MASK) {
		case NFQA_PACKET_HDR:
			ph = (void *)((uint8_t *)a + NLA_HDRLEN);
			break;
		case NFQA_PAYLOAD:
			len = a->nla_len - (size_t)NLA_HDRLEN;
			memcpy(pkt, (uint8_t *)a + NLA_HDRLEN, len);
			break;
		}
	}
	if (!ph || !len)
		die("a message without a packet");
	packet(ntohl(ph->packet_id), pkt, len);
}

static void parse(char *word)
{
	struct rule *r = &rules[n_rules];
	char *action = strchr(word, ':'), *hex;
	unsigned int byte;

	if (n_rules++ == N_RULES || !action)
		die("'%s'? WHICH:ACTION", word);
	*action++ = 0;
	r->which = word;
	r->action = action;
	hex = strchr(action, '=');
	if (!hex) {
		if (strcmp(action, "strip") && strcmp(action, "hold"))
			die("'%s'?", action);
		return;
	}
	*hex++ = 0;
	for (; *hex; hex += 2) {
		if (r->len == OPT_MAX || sscanf(hex, "%2x", &byte) != 1 || !hex[1])
			die("'%s' is no list of options", hex);
		r->opt[r->len++] = (uint8_t)byte;
	}
	if (r->len % 4)
		die("%u bytes of options", r->len);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	static uint8_t buf[BUF];
	int i, n;

	if (argc < 3)
		die("optmangle N [each] WHICH:ACTION...");
	queue = (uint16_t)atoi(argv[1]);
	each = !strcmp(argv[2], "each");
	for (i = 2 + each; i < argc; i++)
		parse(argv[i]);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	setup();
	puts("ready");
	while (!ending) {
		struct pollfd p = { .fd = nl, .events = POLLIN };
		struct nlmsghdr *h = (void *)buf;

		/* a signal just before poll() is seen 0.1 s later */
		if (poll(&p, 1, 100) > 0) {
			n = (int)recv(nl, buf, sizeof(buf), MSG_DONTWAIT);
			if (n < 0 && errno != EAGAIN && errno != EINTR)
				die("netlink: %s", strerror(errno));
			for (; n > 0 && NLMSG_OK(h, (unsigned int)n);
			     h = NLMSG_NEXT(h, n))
				message(h);
		}
		if (release) {
			for (i = 0; i < n_held; i++)
				verdict(held[i], NULL, 0);
			printf("released %d\n", n_held);
			n_held = 0;
			release = 0;
			released = true;
		}
	}
	return 0;
}
