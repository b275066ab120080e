// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosts of a world: network namespaces h1..h4, each with a card eth0..eth3 in
 * each of four networks, and devices "sHP" of rnicsim on them. h5..h8 are the
 * hosts of worlds of links, whose cards are all on one LAN. No programs are
 * run: files, ioctl and netlink are much cheaper in a guest.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <libmnl/libmnl.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "simworld.h"

static struct {
	int ns;
	struct mnl_socket *rdma, *genl, *route;
	int inet;		/* for ioctl */
	u32 ifindex[PLANES];
} hosts[2 * HOSTS + 1];		/* 0: the namespace of the wires */

static int first;		/* of this world's hosts, less one */
static bool on_lan;

static int smcr_family;
static char buf[1 << 16];

static void die(const char *what)
{
	fprintf(stderr, "simworld: %s: %m\n", what);
	exit(2);
}

/* The namespace of a world's host */
static int ns_of(int host)
{
	return host ? first + host : 0;
}

void hosts_lan(bool lan)
{
	on_lan = lan;
	first = lan ? HOSTS : 0;
}

/*
 * The address of a card, as text. host_of() finds the host by its last byte. All cards of a
 * LAN are in one subnet.
 */
void card_addr(char *text, size_t size, int family, int plane, int host)
{
	if (!on_lan)
		snprintf(text, size, family == AF_INET ? "10.77.%d.%d" : "fd77:%d::%d", plane, host);
	else
		snprintf(text, size, family == AF_INET ? "10.78.0.%d" : "fd78::%x", 10 * plane + host);
}

int host_of(int last_byte)
{
	return on_lan ? last_byte % 10 : last_byte;
}

void enter(int world_host)
{
	static int at = -1;
	int i, host = ns_of(world_host);

	if (at == host)
		return;
	/* may fail while allocations do */
	for (i = 0; setns(hosts[host].ns, CLONE_NEWNET); i++)
		if (errno != ENOMEM || i == 100)
			die("setns");
	at = host;
}

int put_file(const char *path, const char *val)
{
	int fd = open(path, O_WRONLY), rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, val, strlen(val)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static bool get_file(const char *path, char *val, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, val, size - 1);
	close(fd);
	if (n < 0)
		return false;
	val[n] = '\0';
	val[strcspn(val, "\n")] = '\0';
	return true;
}

bool kernel_is_well(void)
{
	char v[32] = "";

	get_file("/proc/sys/kernel/tainted", v, sizeof(v));
	/* a bad page, an oops, a warning */
	return strtoul(v, NULL, 10) & 0x2a0 ? fail("the kernel is tainted: %s", v) : true;
}

/* Random delays in the module's narrow windows (net/base/race.c); 0: none */
void race_seed(u32 seed)
{
	char val[16];

	snprintf(val, sizeof(val), "%u", seed);
	put_file("/sys/module/smcr/parameters/race_seed", val);
}

int sysctl_set(int host, const char *name, const char *val)
{
	char path[96];

	enter(host);
	snprintf(path, sizeof(path), "/proc/sys/net/smcr/%s", name);
	return put_file(path, val);
}

bool sysctl_get(int host, const char *name, char *val, size_t size)
{
	char path[96];

	enter(host);
	snprintf(path, sizeof(path), "/proc/sys/net/smcr/%s", name);
	return get_file(path, val, size);
}

/* --- netlink --- */

/* Send a request and wait: 0 or a negative errno; @cb for each message of the answer */
static int ask(struct mnl_socket *nl, struct nlmsghdr *nlh, mnl_cb_t cb, void *arg)
{
	static u32 seq;
	static char in[1 << 16];
	u32 port = mnl_socket_get_portid(nl);
	int n, rc;

	nlh->nlmsg_seq = ++seq;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	do {
		n = (int)mnl_socket_recvfrom(nl, in, sizeof(in));
		if (n < 0)
			return -errno;
		rc = mnl_cb_run(in, n, seq, port, cb, arg);
	} while (rc > 0);
	return rc < 0 ? -errno : 0;
}

static struct nlmsghdr *rdma_msg(int cmd, int flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd);
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	return nlh;
}

void dev_name(char *name, int host, int plane)
{
	sprintf(name, "s%d%d", ns_of(host), plane);
}

int dev_add(int host, int plane)
{
	struct nlmsghdr *nlh = rdma_msg(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	char name[32], eth[32];

	dev_name(name, host, plane);
	sprintf(eth, "eth%d", plane);
	mnl_attr_put_strz(nlh, RDMA_NLDEV_ATTR_DEV_NAME, name);
	mnl_attr_put_strz(nlh, RDMA_NLDEV_ATTR_LINK_TYPE, "rnicsim");
	mnl_attr_put_strz(nlh, RDMA_NLDEV_ATTR_NDEV_NAME, eth);
	enter(host);
	return ask(hosts[ns_of(host)].rdma, nlh, NULL, NULL);
}

struct find {
	const char *name;
	int index;
};

static int find_cb(const struct nlmsghdr *nlh, void *arg)
{
	struct find *f = arg;
	struct nlattr *a;
	const char *name = "";
	int index = -1;

	mnl_attr_for_each(a, nlh, 0) {
		if (mnl_attr_get_type(a) == RDMA_NLDEV_ATTR_DEV_NAME)
			name = mnl_attr_get_str(a);
		if (mnl_attr_get_type(a) == RDMA_NLDEV_ATTR_DEV_INDEX)
			index = (int)mnl_attr_get_u32(a);
	}
	if (!strcmp(name, f->name))
		f->index = index;
	return MNL_CB_OK;
}

int dev_del(int host, int plane)
{
	char name[32];
	struct find f = { name, -1 };
	struct nlmsghdr *nlh = rdma_msg(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	int rc;

	dev_name(name, host, plane);
	rc = ask(hosts[ns_of(host)].rdma, nlh, find_cb, &f);
	if (rc)
		return rc;
	if (f.index < 0)
		return -ENODEV;
	nlh = rdma_msg(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, (u32)f.index);
	return ask(hosts[ns_of(host)].rdma, nlh, NULL, NULL);
}

struct resources {
	const char *name;
	char *text;
	size_t size;
};

static int resources_cb(const struct nlmsghdr *nlh, void *arg)
{
	struct resources *r = arg;
	const struct nlattr *a, *entry, *v, *sum = NULL;
	const char *name = "", *what = "";

	mnl_attr_for_each(a, nlh, 0) {
		if (mnl_attr_get_type(a) == RDMA_NLDEV_ATTR_DEV_NAME)
			name = mnl_attr_get_str(a);
		if (mnl_attr_get_type(a) == RDMA_NLDEV_ATTR_RES_SUMMARY)
			sum = a;
	}
	if (!sum || strcmp(name, r->name))
		return MNL_CB_OK;
	mnl_attr_for_each_nested(entry, sum) {
		u64 n = 0;
		size_t len = strlen(r->text);

		mnl_attr_for_each_nested(v, entry) {
			if (mnl_attr_get_type(v) == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME)
				what = mnl_attr_get_str(v);
			if (mnl_attr_get_type(v) == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR)
				n = mnl_attr_get_u64(v);
		}
		snprintf(r->text + len, r->size - len, "%s%s %llu", len ? ", " : "", what,
			 (unsigned long long)n);
	}
	return MNL_CB_OK;
}

/* The numbers of a device's protection domains, queue pairs, ...: "pd 1, cq 1, ..." */
void dev_resources(int host, int plane, char *text, size_t size)
{
	char name[32];
	struct resources r = { name, text, size };
	struct nlmsghdr *nlh = rdma_msg(RDMA_NLDEV_CMD_RES_GET, NLM_F_DUMP);

	text[0] = '\0';
	dev_name(name, host, plane);
	ask(hosts[ns_of(host)].rdma, nlh, resources_cb, &r);
}

bool dev_there(int host, int plane)
{
	char path[64];

	sprintf(path, "/sys/kernel/debug/rnicsim/s%d%d", ns_of(host), plane);
	return !access(path, F_OK);
}

int dev_knob(int host, int plane, const char *name, const char *val)
{
	char path[96];

	if (host)
		snprintf(path, sizeof(path), "/sys/kernel/debug/rnicsim/s%d%d/%s",
			 ns_of(host), plane, name);
	else
		snprintf(path, sizeof(path), "/sys/module/rnicsim/parameters/%s", name);
	return put_file(path, val);
}

static void fault_path(char *path, size_t size, int host, int plane, const char *point)
{
	snprintf(path, size, "/sys/kernel/debug/rnicsim/s%d%d/fault/%s", ns_of(host), plane,
		 point);
}

int dev_fault(int host, int plane, const char *point, const char *val)
{
	char path[96];

	fault_path(path, sizeof(path), host, plane, point);
	return put_file(path, val);
}

/* Number of times that a fault has happened on a device; 0 if that is gone */
u32 dev_fired(int host, int plane, const char *point)
{
	char path[96], text[160];
	const char *p;

	fault_path(path, sizeof(path), host, plane, point);
	if (!get_file(path, text, sizeof(text)))
		return 0;
	p = strstr(text, "fired ");
	return p ? (u32)strtoul(p + 6, NULL, 10) : 0;
}

/* Writing to the files of fault injection may fail for want of memory itself */
static int put_patiently(const char *path, const char *val)
{
	int i, rc = -ENOMEM;

	for (i = 0; i < 100 && rc == -ENOMEM; i++)
		rc = put_file(path, val);
	return rc;
}

/*
 * Let allocations fail (@what: failslab, fail_page_alloc) with @probability in
 * percent, until it is "0". @failed: the number that failed since the last call.
 * A kernel without fault injection is an error.
 */
int mem_fail(const char *what, const char *probability, u32 *failed)
{
	static const struct {
		const char *name, *val;
	} usual[] = {
		{ "verbose", "0" }, { "interval", "1" }, { "ignore-gfp-wait", "0" },
		/* not the single pages of programs; failslab has no such file */
		{ "min-order", "1" }, { "times", "1000000" },
	};
	char path[96], text[32] = "";
	size_t i;
	int rc;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/probability", what);
	rc = put_patiently(path, "0");
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/times", what);
	for (i = 0; i < 100 && !get_file(path, text, sizeof(text)); i++)
		;
	if (i == 100)
		return -EIO;
	*failed = 1000000 - (u32)strtoul(text, NULL, 10);
	for (i = 0; i < ARRAY_SIZE(usual); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", what, usual[i].name);
		rc = put_patiently(path, usual[i].val);
		if (rc && !(rc == -ENOENT && !strcmp(usual[i].name, "min-order")))
			return rc;
	}
	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/probability", what);
	return put_patiently(path, probability);
}

int link_up(int host, int plane, bool wire, bool up)
{
	int at = wire ? 0 : ns_of(host);
	struct ifreq ifr = { };

	if (wire)
		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "w%d%d", ns_of(host), plane);
	else
		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "eth%d", plane);
	enter(wire ? 0 : host);
	if (ioctl(hosts[at].inet, SIOCGIFFLAGS, &ifr))
		return -errno;
	ifr.ifr_flags = (short)(up ? ifr.ifr_flags | IFF_UP : ifr.ifr_flags & ~IFF_UP);
	return ioctl(hosts[at].inet, SIOCSIFFLAGS, &ifr) ? -errno : 0;
}

int addr_change(int host, int plane, int family, bool add)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifaddrmsg *ifa;
	char text[64];
	unsigned char addr[16];
	int len = family == AF_INET ? 4 : 16;

	nlh->nlmsg_type = add ? RTM_NEWADDR : RTM_DELADDR;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (add ? NLM_F_CREATE | NLM_F_REPLACE : 0);
	ifa = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifa));
	ifa->ifa_family = (unsigned char)family;
	ifa->ifa_prefixlen = family == AF_INET ? 24 : 64;
	ifa->ifa_flags = family == AF_INET ? 0 : IFA_F_NODAD;
	ifa->ifa_index = hosts[ns_of(host)].ifindex[plane];
	card_addr(text, sizeof(text), family, plane, host);
	inet_pton(family, text, addr);
	mnl_attr_put(nlh, IFA_LOCAL, len, addr);
	if (family == AF_INET) {
		addr[3] = 255;
		mnl_attr_put(nlh, IFA_BROADCAST, len, addr);
	}
	return ask(hosts[ns_of(host)].route, nlh, NULL, NULL);
}

static struct nlmsghdr *smcr_msg(int cmd, int flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g;

	nlh->nlmsg_type = (uint16_t)smcr_family;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->cmd = (uint8_t)cmd;
	g->version = SMCR_GENL_VERSION;
	return nlh;
}

static const struct nlattr *nested(const struct nlmsghdr *nlh, int type)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == type)
			return a;
	return NULL;
}

static int census_cb(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *sys = nested(nlh, SMCR_A_SYS), *a;
	struct census *c = arg;

	if (!sys)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(a, sys) {
		switch (mnl_attr_get_type(a)) {
		case SMCR_A_SYS_SOCKETS:
			c->sockets = mnl_attr_get_u32(a);
			break;
		case SMCR_A_SYS_LGRS:
			c->lgrs = mnl_attr_get_u32(a);
			break;
		case SMCR_A_SYS_HANDSHAKES:
			c->handshakes = mnl_attr_get_u32(a);
			break;
		case SMCR_A_SYS_MEM:
			c->mem = mnl_attr_get_u64(a);
			break;
		}
	}
	return MNL_CB_OK;
}

int census(int host, struct census *c)
{
	memset(c, 0xff, sizeof(*c));
	return ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_SYS_GET, NLM_F_DUMP), census_cb, c);
}

/* A counter or a reason: an attribute @outer with a @name and a @value */
static int add_counter(struct counters *c, const struct nlmsghdr *nlh, int outer, int name,
		       int value)
{
	const struct nlattr *n = nested(nlh, outer), *a;

	if (!n || c->n == MAX_COUNTERS)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(a, n) {
		if (mnl_attr_get_type(a) == name)
			snprintf(c->name[c->n], sizeof(c->name[0]), "%s", mnl_attr_get_str(a));
		if (mnl_attr_get_type(a) == value)
			c->val[c->n] = mnl_attr_get_u64(a);
	}
	c->n++;
	return MNL_CB_OK;
}

static int counters_cb(const struct nlmsghdr *nlh, void *arg)
{
	return add_counter(arg, nlh, SMCR_A_COUNTER, SMCR_A_COUNTER_NAME, SMCR_A_COUNTER_VALUE);
}

static int reasons_cb(const struct nlmsghdr *nlh, void *arg)
{
	return add_counter(arg, nlh, SMCR_A_REASON, SMCR_A_REASON_NAME, SMCR_A_REASON_VALUE);
}

int counters(int host, struct counters *c)
{
	int rc;

	c->n = 0;
	rc = ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_COUNTER_GET, NLM_F_DUMP), counters_cb, c);
	c->reasons = c->n;
	if (!rc)
		rc = ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_REASON_GET, NLM_F_DUMP), reasons_cb,
			 c);
	return rc;
}

u64 counter(const struct counters *c, const char *name)
{
	int i;

	for (i = 0; i < c->n; i++)
		if (!strcmp(c->name[i], name))
			return c->val[i];
	return 0;
}

struct mode_of {
	u32 lport, rport;
	int peer;		/* the last byte of a host's addresses is its number */
	int mode;
	int host;		/* print all */
};

static int conn_cb(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *n = nested(nlh, SMCR_A_CONN), *a;
	struct mode_of *m = arg;
	u32 l = 0, r = 0, mode = 0, state = 99, tcp = 0, fl = 0;
	int peer = 0;
	const char *reason = "";
	const unsigned char *addr;

	if (!n)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(a, n) {
		switch (mnl_attr_get_type(a)) {
		case SMCR_A_CONN_LOCAL_PORT:
			l = mnl_attr_get_u16(a);
			break;
		case SMCR_A_CONN_PEER_PORT:
			r = mnl_attr_get_u16(a);
			break;
		case SMCR_A_CONN_PEER_ADDR:
			addr = mnl_attr_get_payload(a);
			peer = addr[mnl_attr_get_payload_len(a) - 1];
			break;
		case SMCR_A_CONN_MODE:
			mode = mnl_attr_get_u32(a);
			break;
		case SMCR_A_CONN_STATE:
			state = mnl_attr_get_u32(a);
			break;
		case SMCR_A_CONN_TCP_STATE:
			tcp = mnl_attr_get_u32(a);
			break;
		case SMCR_A_CONN_FLAGS:
			fl = mnl_attr_get_u32(a);
			break;
		case SMCR_A_CONN_REASON_NAME:
			reason = mnl_attr_get_str(a);
			break;
		}
	}
	if (m->host)
		say("host %d: socket %u-%u mode %u state %u tcp %u flags %#x reason %s", m->host, l,
		    r, mode, state, tcp, fl,
		    reason);
	if (l == m->lport && r == m->rport && host_of(peer) == m->peer)
		m->mode = (int)mode;
	return MNL_CB_OK;
}

int conn_mode(int host, u32 lport, int peer, u32 rport)
{
	struct mode_of m = { lport, rport, peer, -1, 0 };

	ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_CONN_GET, NLM_F_DUMP), conn_cb, &m);
	return m.mode;
}

void conn_dump(int host)
{
	struct mode_of m = { 0, 0, 0, -1, host };

	ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_CONN_GET, NLM_F_DUMP), conn_cb, &m);
}

struct ids {
	u32 id[256];
	int n, servers;
};

static int lgr_cb(const struct nlmsghdr *nlh, void *arg)
{
	struct ids *ids = arg;
	const struct nlattr *n = nested(nlh, SMCR_A_LGR), *a;

	if (!n)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(a, n) {
		if (mnl_attr_get_type(a) == SMCR_A_LGR_LGR_ID && ids->n < 256)
			ids->id[ids->n++] = mnl_attr_get_u32(a);
		if (mnl_attr_get_type(a) == SMCR_A_LGR_ROLE &&
		    mnl_attr_get_u32(a) == SMCR_NL_ROLE_SERVER)
			ids->servers++;
	}
	return MNL_CB_OK;
}

/* Number of link groups in which @host is the server, or a negative errno */
int lgr_servers(int host)
{
	struct ids ids = { .n = 0 };
	int rc = ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_LGR_GET, NLM_F_DUMP), lgr_cb, &ids);

	return rc ? rc : ids.servers;
}

/* Return: the number of link groups that there were, or a negative errno */
int lgr_delete_all(int host)
{
	struct ids ids = { .n = 0 };
	int rc = ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_LGR_GET, NLM_F_DUMP), lgr_cb, &ids), i;

	for (i = 0; !rc && i < ids.n; i++) {
		struct nlmsghdr *nlh = smcr_msg(SMCR_CMD_LGR_DEL, NLM_F_ACK);

		mnl_attr_put_u32(nlh, SMCR_A_LGR_ID, ids.id[i]);
		rc = ask(hosts[ns_of(host)].genl, nlh, NULL, NULL);
		/* it may have ended meanwhile */
		if (rc == -ENOENT || rc == -ENODEV || rc == -ESRCH)
			rc = 0;
	}
	return rc ? rc : ids.n;
}

struct ends_of {
	struct link_end *e;
	int host, n, max;
};

static int link_cb(const struct nlmsghdr *nlh, void *arg)
{
	struct ends_of *of = arg;
	const struct nlattr *n = nested(nlh, SMCR_A_LINK), *a;
	struct link_end e = { .host = of->host, .plane = -1 };
	int ns = 0;

	if (!n || of->n == of->max)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(a, n) {
		switch (mnl_attr_get_type(a)) {
		case SMCR_A_LINK_LGR_ID:
			e.lgr = mnl_attr_get_u32(a);
			break;
		case SMCR_A_LINK_LINK_NUM:
			e.num = mnl_attr_get_u32(a);
			break;
		case SMCR_A_LINK_STATE:
			e.state = mnl_attr_get_u32(a);
			break;
		case SMCR_A_LINK_DEV_NAME:
			if (sscanf(mnl_attr_get_str(a), "s%1d%1d", &ns, &e.plane) != 2 ||
			    ns != ns_of(of->host))
				fail("host %d has a link on %s", of->host, mnl_attr_get_str(a));
			break;
		case SMCR_A_LINK_USER_ID:
			e.id = mnl_attr_get_u32(a);
			break;
		case SMCR_A_LINK_PEER_USER_ID:
			e.peer_id = mnl_attr_get_u32(a);
			break;
		}
	}
	of->e[of->n++] = e;
	return MNL_CB_OK;
}

/* The links of @host, at most @max; or a negative errno. Asks again if they change meanwhile */
int link_ends(int host, struct link_end *e, int max)
{
	struct ends_of of = { e, host, 0, max };
	int rc, i = 0;

	do {
		of.n = 0;
		rc = ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_LINK_GET, NLM_F_DUMP), link_cb,
			 &of);
	} while (rc == -EINTR && ++i < 20);
	return rc ? rc : of.n;
}

struct groups_of {
	struct group *g;
	int host, n, max;
};

static int group_cb(const struct nlmsghdr *nlh, void *arg)
{
	struct groups_of *of = arg;
	const struct nlattr *n = nested(nlh, SMCR_A_LGR), *a;
	struct group g = { .host = of->host };

	if (!n || of->n == of->max)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(a, n) {
		switch (mnl_attr_get_type(a)) {
		case SMCR_A_LGR_LGR_ID:
			g.id = mnl_attr_get_u32(a);
			break;
		case SMCR_A_LGR_STATE:
			g.active = mnl_attr_get_u32(a) == SMCR_NL_LGR_ACTIVE;
			break;
		case SMCR_A_LGR_ROLE:
			g.server = mnl_attr_get_u32(a) == SMCR_NL_ROLE_SERVER;
			break;
		case SMCR_A_LGR_CONNS:
			g.conns = mnl_attr_get_u32(a);
			break;
		case SMCR_A_LGR_MAX_LINKS:
			g.max_links = mnl_attr_get_u32(a);
			break;
		}
	}
	of->g[of->n++] = g;
	return MNL_CB_OK;
}

/* The link groups of @host, at most @max; or a negative errno */
int groups(int host, struct group *g, int max)
{
	struct groups_of of = { g, host, 0, max };
	int rc, i = 0;

	do {
		of.n = 0;
		rc = ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_LGR_GET, NLM_F_DUMP), group_cb, &of);
	} while (rc == -EINTR && ++i < 20);
	return rc ? rc : of.n;
}

static int lgr_dump_cb(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *n = nested(nlh, SMCR_A_LGR), *a;
	u32 id = 0, state = 0, conns = 0;

	if (!n)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(a, n) {
		switch (mnl_attr_get_type(a)) {
		case SMCR_A_LGR_LGR_ID:
			id = mnl_attr_get_u32(a);
			break;
		case SMCR_A_LGR_STATE:
			state = mnl_attr_get_u32(a);
			break;
		case SMCR_A_LGR_CONNS:
			conns = mnl_attr_get_u32(a);
			break;
		}
	}
	say("host %d: link group %u, state %u, %u connections", *(int *)arg, id, state, conns);
	return MNL_CB_OK;
}

void lgr_dump(int host)
{
	ask(hosts[ns_of(host)].genl, smcr_msg(SMCR_CMD_LGR_GET, NLM_F_DUMP), lgr_dump_cb, &host);
}

static int family_cb(const struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *a;

	(void)arg;
	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID)
			smcr_family = mnl_attr_get_u16(a);
	return MNL_CB_OK;
}

static struct mnl_socket *netlink(int bus)
{
	struct mnl_socket *nl = mnl_socket_open(bus);

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		die("netlink");
	return nl;
}

void hosts_open(void)
{
	struct nlmsghdr *nlh;
	struct genlmsghdr *g;
	char path[64];
	int h, p;

	for (h = 0; h <= 2 * HOSTS; h++) {
		if (h)
			sprintf(path, "/run/netns/h%d", h);
		else
			strcpy(path, "/proc/self/ns/net");
		hosts[h].ns = open(path, O_RDONLY | O_CLOEXEC);
		/* not all are needed: entering one that does not exist ends the program */
		if (h <= 2 && hosts[h].ns < 0)
			die(path);
	}
	for (h = 0; h <= 2 * HOSTS; h++) {
		if (hosts[h].ns < 0)
			continue;
		enter(h);	/* h numbers a namespace here, as first is 0 */
		hosts[h].inet = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		hosts[h].rdma = netlink(NETLINK_RDMA);
		hosts[h].genl = netlink(NETLINK_GENERIC);
		hosts[h].route = netlink(NETLINK_ROUTE);
		for (p = 0; h && p < PLANES; p++) {
			sprintf(path, "eth%d", p);
			hosts[h].ifindex[p] = if_nametoindex(path);
			if (!hosts[h].ifindex[p] && p < 2)
				die(path);
		}
	}
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = GENL_ID_CTRL;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->cmd = CTRL_CMD_GETFAMILY;
	g->version = 1;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SMCR_GENL_NAME);
	if (ask(hosts[1].genl, nlh, family_cb, NULL) || !smcr_family)
		die("netlink family smcr");
}
