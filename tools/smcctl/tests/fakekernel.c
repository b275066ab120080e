// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fake kernel for tests: replaces libmnl's socket functions in smcctl (LD_PRELOAD)
 * and answers like the module. The environment variable FAKE chooses how:
 *
 *	full	objects of every kind, with extreme values
 *	empty	the module is loaded, but there are no objects
 *	absent	the module is not loaded
 *	denied	every dump and request fails with EPERM
 *	broken	a dump ends with an error after the first object
 *	garbage	attributes of wrong size
 *	hostile	strings with control characters, and no settings
 *	old	a module that has no multicast group
 *
 * A listener receives events of every kind and one of an unknown kind, then ENOBUFS
 * for lost events, one more event and, if FAKE_UNLOAD is set, the removal of the family.
 *
 * FAKE_INODE is the inode of the connection that fell back.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../../include/uapi/linux/smcr_netlink.h"
#include "../gen/attrs.h"

#define FAMILY		33
#define MESSAGES	32
#define GROUP		34

struct kernel {
	char msg[MESSAGES][8192];
	size_t len[MESSAGES];
	unsigned int n, next;
	struct nlmsghdr request;
	uint8_t cmd;
};

/* Socket of requests. Socket of events: is it open, its pipe for poll(), its position. */
static struct kernel k;
static bool listening;
static int told[2];
static int step;

static bool mood(const char *name)
{
	const char *fake = getenv("FAKE");

	return !strcmp(fake ? fake : "full", name);
}

static struct nlmsghdr *message(uint16_t type, uint16_t flags)
{
	struct nlmsghdr *nlh;

	if (k.n == MESSAGES)
		abort();
	nlh = mnl_nlmsg_put_header(k.msg[k.n]);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = flags;
	nlh->nlmsg_seq = k.request.nlmsg_seq;
	nlh->nlmsg_pid = 1;
	return nlh;
}

static void done(struct nlmsghdr *nlh)
{
	k.len[k.n++] = nlh->nlmsg_len;
}

static void put_error(uint16_t type, int err, const char *text)
{
	struct nlmsghdr *nlh = message(type, NLM_F_CAPPED | NLM_F_ACK_TLVS);

	if (type == NLMSG_DONE) {
		int *code = mnl_nlmsg_put_extra_header(nlh, sizeof(*code));

		*code = err;
	} else {
		struct nlmsgerr *e = mnl_nlmsg_put_extra_header(nlh, sizeof(*e));

		e->error = err;
		e->msg = k.request;
	}
	if (text)
		mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, text);
	done(nlh);
}

static void put_uint(struct nlmsghdr *nlh, uint16_t type, enum attr_kind kind,
		     uint64_t value)
{
	switch (kind) {
	case KIND_U8:
		mnl_attr_put_u8(nlh, type, (uint8_t)value);
		break;
	case KIND_U16:
		mnl_attr_put_u16(nlh, type, (uint16_t)value);
		break;
	case KIND_U64:
		mnl_attr_put_u64(nlh, type, value);
		break;
	default:
		mnl_attr_put_u32(nlh, type, (uint32_t)value);
	}
}

static void put_set(struct nlmsghdr *nlh, const struct attr_set *set,
		    unsigned int variant);

/* Every attribute of a set; the variant makes objects differ */
static void put_attr(struct nlmsghdr *nlh, const struct attr_set *set,
		     unsigned int i, unsigned int variant)
{
	static const char *const strings[] = {
		NULL, "second", "quote\" back\\ tab\t \x01", "third"
	};
	static const uint8_t bytes[16] = { 0xfd, 0x77, [15] = 2 };
	const struct attr_desc *a = &set->attr[i];
	struct nlattr *nest;

	switch (a->kind) {
	case KIND_NONE:
	case KIND_PAD:
		break;
	case KIND_FLAG:
		mnl_attr_put(nlh, (uint16_t)i, 0, NULL);
		break;
	case KIND_STRING:
		mnl_attr_put_strz(nlh, (uint16_t)i, mood("hostile") ?
				  "\x1b[2J\x7f" : strings[variant] ?
				  strings[variant] : a->name);
		break;
	case KIND_BINARY:
		mnl_attr_put(nlh, (uint16_t)i, a->hint == HINT_MAC ? 6 :
			     a->hint == HINT_HEX ? 8 : variant ? 16 : 4, bytes);
		break;
	case KIND_NEST:
		nest = mnl_attr_nest_start(nlh, (uint16_t)i);
		put_set(nlh, a->nested, variant);
		mnl_attr_nest_end(nlh, nest);
		if (a->multi && variant < 3)
			put_attr(nlh, set, i, 3);
		break;
	default:
		if (variant == 2)
			put_uint(nlh, (uint16_t)i, a->kind, UINT64_MAX);
		else if (a->en)
			put_uint(nlh, (uint16_t)i, a->kind,
				 a->en->entry[(variant + 1) % a->en->n].value);
		else
			put_uint(nlh, (uint16_t)i, a->kind, i + variant);
	}
}

static void put_set(struct nlmsghdr *nlh, const struct attr_set *set,
		    unsigned int variant)
{
	unsigned int i;

	if (mood("hostile") && set == &smcr_set_knobs)
		return;
	for (i = 1; i <= set->max; i++) {
		if (mood("garbage"))
			mnl_attr_put(nlh, (uint16_t)i, 3, "abc");
		else
			put_attr(nlh, set, i, variant);
	}
	/* an attribute of a newer kernel */
	mnl_attr_put_u32(nlh, (uint16_t)(set->max + 1), 1);
}

static void put_object(uint8_t cmd, uint16_t attr, const struct attr_set *set,
		       unsigned int variant)
{
	struct nlmsghdr *nlh = message(FAMILY, NLM_F_MULTI);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	struct nlattr *nest;

	genl->cmd = cmd;
	nest = mnl_attr_nest_start(nlh, attr);
	put_set(nlh, set, variant);
	mnl_attr_nest_end(nlh, nest);
	done(nlh);
}

/* A connection that fell back because the peer declined */
static void put_fallback(void)
{
	struct nlmsghdr *nlh = message(FAMILY, NLM_F_MULTI);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	const char *inode = getenv("FAKE_INODE");
	struct nlattr *nest;

	genl->cmd = SMCR_CMD_CONN_GET;
	nest = mnl_attr_nest_start(nlh, SMCR_A_CONN);
	mnl_attr_put_u32(nlh, SMCR_A_CONN_MODE, SMCR_NL_MODE_TCP);
	mnl_attr_put_u32(nlh, SMCR_A_CONN_TCP_STATE, SMCR_NL_TCP_ESTABLISHED);
	mnl_attr_put_u32(nlh, SMCR_A_CONN_LOCAL_ADDR, htonl(0x7f000001));
	mnl_attr_put_u16(nlh, SMCR_A_CONN_LOCAL_PORT, 4711);
	mnl_attr_put_u32(nlh, SMCR_A_CONN_PEER_ADDR, htonl(0x7f000002));
	mnl_attr_put_u16(nlh, SMCR_A_CONN_PEER_PORT, 80);
	if (inode)
		mnl_attr_put_u64(nlh, SMCR_A_CONN_INODE,
				 strtoull(inode, NULL, 10));
	mnl_attr_put_strz(nlh, SMCR_A_CONN_REASON_TEXT, "peer declined");
	mnl_attr_put_u32(nlh, SMCR_A_CONN_PEER_DIAGNOSIS, 0x03030002);
	mnl_attr_nest_end(nlh, nest);
	done(nlh);
}

static void put_groups(struct nlmsghdr *nlh)
{
	struct nlattr *groups, *group;

	groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	group = mnl_attr_nest_start(nlh, 1);
	mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, SMCR_MCGRP_EVENTS);
	mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, GROUP);
	mnl_attr_nest_end(nlh, group);
	mnl_attr_nest_end(nlh, groups);
}

static void answer_family(void)
{
	struct nlmsghdr *nlh;
	struct genlmsghdr *genl;

	if (mood("absent")) {
		put_error(NLMSG_ERROR, -ENOENT, NULL);
		return;
	}
	nlh = message(GENL_ID_CTRL, 0);
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = CTRL_CMD_NEWFAMILY;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SMCR_GENL_NAME);
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAMILY);
	if (!mood("old"))
		put_groups(nlh);
	done(nlh);
	put_error(NLMSG_ERROR, 0, NULL);
}

static void answer_dump(void)
{
	static const struct {
		uint16_t attr;
		const struct attr_set *set;
	} objects[] = {
		[SMCR_CMD_SYS_GET]	= { SMCR_A_SYS, &smcr_set_sys },
		[SMCR_CMD_CONN_GET]	= { SMCR_A_CONN, &smcr_set_conn },
		[SMCR_CMD_LGR_GET]	= { SMCR_A_LGR, &smcr_set_lgr },
		[SMCR_CMD_LINK_GET]	= { SMCR_A_LINK, &smcr_set_link },
		[SMCR_CMD_DEV_GET]	= { SMCR_A_DEV, &smcr_set_dev },
		[SMCR_CMD_RMB_GET]	= { SMCR_A_RMB, &smcr_set_rmb },
		[SMCR_CMD_COUNTER_GET]	= { SMCR_A_COUNTER, &smcr_set_counter },
		[SMCR_CMD_REASON_GET]	= { SMCR_A_REASON, &smcr_set_reason },
	};
	unsigned int i;

	if (mood("denied")) {
		put_error(NLMSG_ERROR, -EPERM, NULL);
		return;
	}
	for (i = 0; i < 3 && !mood("empty"); i++)
		if (!i || !mood("broken"))
			put_object(k.cmd, objects[k.cmd].attr,
				   objects[k.cmd].set, i);
	if (k.cmd == SMCR_CMD_CONN_GET && mood("full"))
		put_fallback();
	if (mood("broken"))
		put_error(NLMSG_DONE, -EINVAL, "the fake kernel is in a mood");
	else
		put_error(NLMSG_DONE, 0, NULL);
}

static void answer_do(void)
{
	if (mood("denied"))
		put_error(NLMSG_ERROR, -EPERM, NULL);
	else
		put_error(NLMSG_ERROR, mood("full") ? 0 : -ENOENT,
			  "no link group has this lgr-id");
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
			  size_t len)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(req);

	(void)nl;
	k.request = *(const struct nlmsghdr *)req;
	k.cmd = genl->cmd;
	k.n = 0;
	k.next = 0;
	if (k.request.nlmsg_type == GENL_ID_CTRL)
		answer_family();
	else if (k.cmd == SMCR_CMD_LGR_DEL || k.cmd == SMCR_CMD_LGR_BALANCE)
		answer_do();
	else
		answer_dump();
	return (ssize_t)len;
}

/* An event of @kind; its objects are those of the dumps, link groups 1 and 2 */
static ssize_t event(void *buf, uint32_t kind)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	struct nlattr *nest;

	nlh->nlmsg_type = FAMILY;
	genl->cmd = SMCR_CMD_EVENT_NTF;
	nest = mnl_attr_nest_start(nlh, SMCR_A_LGR);
	put_set(nlh, &smcr_set_lgr, kind % 2);
	mnl_attr_nest_end(nlh, nest);
	if (kind >= SMCR_NL_EVENT_LINK_ADDING) {
		nest = mnl_attr_nest_start(nlh, SMCR_A_LINK);
		put_set(nlh, &smcr_set_link, kind % 2);
		mnl_attr_nest_end(nlh, nest);
	}
	nest = mnl_attr_nest_start(nlh, SMCR_A_EVENT);
	mnl_attr_put_u32(nlh, SMCR_A_EVENT_KIND, kind);
	if (kind == SMCR_NL_EVENT_GROUP_ENDED) {
		mnl_attr_put_strz(nlh, SMCR_A_EVENT_REASON_NAME, "lgr-idle");
		mnl_attr_put_strz(nlh, SMCR_A_EVENT_REASON_TEXT, "no use");
	}
	mnl_attr_nest_end(nlh, nest);
	return nlh->nlmsg_len;
}

static ssize_t unloaded(void *buf)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));

	nlh->nlmsg_type = GENL_ID_CTRL;
	genl->cmd = CTRL_CMD_DELFAMILY;
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAMILY);
	return nlh->nlmsg_len;
}

/* Next event; for poll(), the socket is readable until all are received */
static ssize_t hear(void *buf)
{
	const int unknown = SMCR_NL_EVENT_LINK_DELETED + 1;
	char c;

	step++;
	if (step <= unknown + 1)
		return event(buf, (uint32_t)step - 1);
	if (step == unknown + 2) {
		errno = ENOBUFS;
		return -1;
	}
	if (step == unknown + 4)
		return event(buf, SMCR_NL_EVENT_GROUP_ENDED);
	if (step == unknown + 5 && getenv("FAKE_UNLOAD"))
		return unloaded(buf);
	if (step > unknown + 4 && read(told[0], &c, 1) < 0)
		abort();
	errno = EAGAIN;
	return -1;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	if (nl != (struct mnl_socket *)&k)
		return hear(buf);
	if (k.next == k.n || k.len[k.next] > size) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buf, k.msg[k.next], k.len[k.next]);
	return (ssize_t)k.len[k.next++];
}

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	(void)bus;
	(void)flags;
	if (!k.request.nlmsg_len)
		return (struct mnl_socket *)&k;
	listening = true;
	if (pipe(told) || write(told[1], "", 1) != 1)
		abort();
	return (struct mnl_socket *)&listening;
}

int mnl_socket_get_fd(const struct mnl_socket *nl)
{
	(void)nl;
	return told[0];
}

int mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	(void)nl;
	(void)groups;
	(void)pid;
	return 0;
}

unsigned int mnl_socket_get_portid(const struct mnl_socket *nl)
{
	(void)nl;
	return 1;
}

int mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf,
			  socklen_t len)
{
	(void)nl;
	(void)type;
	(void)buf;
	(void)len;
	return 0;
}

int mnl_socket_close(struct mnl_socket *nl)
{
	(void)nl;
	return 0;
}
