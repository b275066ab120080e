// SPDX-License-Identifier: GPL-2.0-only
/* Generic netlink requests, dumps and events, with libmnl. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "cmd.h"
#include "nl.h"

/* Receive buffer: each message of a dump is filled up to this size */
#define NL_BUF	32768

static struct {
	struct mnl_socket *sock;
	uint16_t family;
	uint32_t seq;
	char buf[NL_BUF];
	/* a second socket, for events: no reply arrives between them */
	struct mnl_socket *events;
} nl;

/* A request and its replies */
struct nl_call {
	uint16_t nest;
	int (*fn)(const struct nlattr *nest, void *arg);
	void *arg;
	int status;		/* EXIT_* */
	int err;		/* errno of the kernel's reply */
	char msg[200];		/* the kernel's message about @err, or "" */
};

static int netns_path(const char *name, char *path, size_t size)
{
	const char *c = name;

	while (isdigit((unsigned char)*c))
		c++;
	if (strchr(name, '/'))
		return snprintf(path, size, "%s", name);
	if (*name && !*c)
		return snprintf(path, size, "/proc/%s/ns/net", name);
	return snprintf(path, size, "/run/netns/%s", name);
}

int netns_enter(const char *name)
{
	char path[300];
	int fd, err;

	if (netns_path(name, path, sizeof(path)) >= (int)sizeof(path))
		return fail(EXIT_NOTFOUND, "network namespace name is too long");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return fail(EXIT_NOTFOUND, "no network namespace \"%s\" (%s: %s)",
			    name, path, strerror(errno));
	err = fd < 0 || setns(fd, CLONE_NEWNET) ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (err)
		return fail(EXIT_KERNEL, "cannot enter network namespace \"%s\": %s%s",
			    name, strerror(err), err == EPERM || err == EACCES ?
			    " (needs root: CAP_SYS_ADMIN)" : "");
	return EXIT_OK;
}

/* Text of an error message, if the kernel sent one */
static void call_ext_ack(struct nl_call *call, const struct nlmsghdr *nlh,
			 size_t offset)
{
	const struct nlattr *nla;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) ||
	    mnl_nlmsg_get_payload_len(nlh) < offset)
		return;
	mnl_attr_for_each(nla, nlh, (unsigned int)offset) {
		if (mnl_attr_get_type(nla) == NLMSGERR_ATTR_MSG &&
		    mnl_attr_validate(nla, MNL_TYPE_NUL_STRING) >= 0)
			snprintf(call->msg, sizeof(call->msg), "%s",
				 mnl_attr_get_str(nla));
	}
}

static int on_error(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	struct nl_call *call = data;
	size_t offset = sizeof(*err);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*err)) {
		call->err = EBADMSG;
		return MNL_CB_STOP;
	}
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		offset += err->msg.nlmsg_len - sizeof(err->msg);
	call->err = err->error < 0 ? -err->error : err->error;
	if (call->err)
		call_ext_ack(call, nlh, offset);
	return MNL_CB_STOP;
}

static int on_done(const struct nlmsghdr *nlh, void *data)
{
	struct nl_call *call = data;
	int err = 0;

	if (mnl_nlmsg_get_payload_len(nlh) >= sizeof(err))
		memcpy(&err, mnl_nlmsg_get_payload(nlh), sizeof(err));
	if (err < 0) {
		call->err = -err;
		call_ext_ack(call, nlh, sizeof(err));
	}
	return MNL_CB_STOP;
}

static int on_message(const struct nlmsghdr *nlh, void *data)
{
	struct nl_call *call = data;
	const struct nlattr *nla;

	mnl_attr_for_each(nla, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(nla) != call->nest)
			continue;
		call->status = call->fn(nla, call->arg);
		if (call->status != EXIT_OK)
			return MNL_CB_STOP;
	}
	return MNL_CB_OK;
}

static struct nlmsghdr *nl_request(uint16_t family, uint8_t cmd, uint8_t version,
				   uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(nl.buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++nl.seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

/*
 * Clear NLM_F_DUMP_INTR, at which libmnl would stop. A dump during which objects
 * are created or deleted need not be repeated: it has each other object exactly once.
 */
static void nl_go_on(void *buf, ssize_t len)
{
	struct nlmsghdr *nlh = buf;
	int left = (int)len;

	for (; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left))
		nlh->nlmsg_flags &= (uint16_t)~NLM_F_DUMP_INTR;
}

static int nl_receive(struct nl_call *call)
{
	static mnl_cb_t ctl[] = {
		[NLMSG_ERROR]	= on_error,
		[NLMSG_DONE]	= on_done,
	};
	unsigned int port = mnl_socket_get_portid(nl.sock);
	ssize_t len;
	int more;

	do {
		len = mnl_socket_recvfrom(nl.sock, nl.buf, sizeof(nl.buf));
		if (len < 0 && errno == EINTR) {
			more = MNL_CB_OK;
			continue;
		}
		if (len < 0)
			return fail(EXIT_KERNEL, "netlink receive: %s",
				    strerror(errno));
		nl_go_on(nl.buf, len);
		more = mnl_cb_run2(nl.buf, (size_t)len, nl.seq, port, on_message,
				   call, ctl, ARRAY_SIZE(ctl));
		if (more < 0)
			return fail(EXIT_KERNEL, "malformed netlink answer: %s",
				    strerror(errno));
	} while (more > MNL_CB_STOP);
	return EXIT_OK;
}

/* Send a request and process the replies; the kernel's error is left in @call */
static int nl_exchange(const struct nlmsghdr *nlh, struct nl_call *call)
{
	int rc;

	if (mnl_socket_sendto(nl.sock, nlh, nlh->nlmsg_len) < 0)
		return fail(EXIT_KERNEL, "netlink send: %s", strerror(errno));
	rc = nl_receive(call);
	return rc != EXIT_OK ? rc : call->status;
}

/* Print the kernel's error, if any; returns an exit status */
static int nl_verdict(const struct nl_call *call)
{
	switch (call->err) {
	case 0:
		return call->status;
	case EPERM:
		return fail(EXIT_KERNEL, "not permitted: this needs CAP_NET_ADMIN");
	case ENOENT:
		return fail(EXIT_NOTFOUND, "%s",
			    *call->msg ? call->msg : strerror(ENOENT));
	default:
		return fail(EXIT_KERNEL, "the kernel refuses: %s%s%s",
			    call->msg, *call->msg ? ": " : "",
			    strerror(call->err));
	}
}

/* For CTRL_ATTR_FAMILY_ID, which is an u16 and no nest */
static int on_family(const struct nlattr *nla, void *arg)
{
	uint16_t *family = arg;

	if (mnl_attr_validate(nla, MNL_TYPE_U16) >= 0)
		*family = mnl_attr_get_u16(nla);
	return EXIT_OK;
}

const char *no_module(void)
{
	if (!access("/sys/module/smc", F_OK))
		return "the in-tree smc owns AF_SMC: modprobe -r smc_diag smc; modprobe smcr";
	return "the kernel module smcr is not loaded (modprobe smcr)";
}

static int nl_find_family(void)
{
	struct nl_call call = {
		.nest	= CTRL_ATTR_FAMILY_ID,
		.fn	= on_family,
		.arg	= &nl.family,
	};
	struct nlmsghdr *nlh;
	int rc;

	nlh = nl_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, NLM_F_ACK);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SMCR_GENL_NAME);
	rc = nl_exchange(nlh, &call);
	if (rc != EXIT_OK)
		return rc;
	if (call.err == ENOENT)
		return fail(EXIT_NOTFOUND, "%s", no_module());
	return nl_verdict(&call);
}

int nl_open(void)
{
	int one = 1;

	if (nl.sock)
		return EXIT_OK;
	nl.sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl.sock)
		return fail(EXIT_KERNEL, "netlink socket: %s", strerror(errno));
	if (mnl_socket_bind(nl.sock, 0, MNL_SOCKET_AUTOPID) < 0)
		return fail(EXIT_KERNEL, "netlink bind: %s", strerror(errno));
	/* Better error messages; a kernel without these options works, too */
	mnl_socket_setsockopt(nl.sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl.sock, NETLINK_CAP_ACK, &one, sizeof(one));
	return nl_find_family();
}

void nl_close(void)
{
	if (nl.sock)
		mnl_socket_close(nl.sock);
	if (nl.events)
		mnl_socket_close(nl.events);
	nl.sock = NULL;
	nl.events = NULL;
}

static void put_filter(struct nlmsghdr *nlh, const struct nl_filter *f)
{
	if (!f->size)
		mnl_attr_put_strz(nlh, f->attr, f->str);
	else if (f->size == 2)
		mnl_attr_put_u16(nlh, f->attr, (uint16_t)f->value);
	else
		mnl_attr_put_u32(nlh, f->attr, f->value);
}

int nl_dump(uint8_t cmd, uint16_t nest, const struct nl_filter *filter,
	    unsigned int n_filter,
	    int (*fn)(const struct nlattr *nest, void *arg), void *arg)
{
	struct nl_call call = { .nest = nest, .fn = fn, .arg = arg };
	struct nlmsghdr *nlh;
	unsigned int i;
	int rc;

	rc = nl_open();
	if (rc != EXIT_OK)
		return rc;
	nlh = nl_request(nl.family, cmd, SMCR_GENL_VERSION, NLM_F_DUMP);
	for (i = 0; i < n_filter; i++)
		put_filter(nlh, &filter[i]);
	rc = nl_exchange(nlh, &call);
	return rc != EXIT_OK ? rc : nl_verdict(&call);
}

int nl_lgr_do(uint8_t cmd, const uint32_t *id)
{
	struct nl_call call = {};
	struct nlmsghdr *nlh;
	int rc;

	rc = nl_open();
	if (rc != EXIT_OK)
		return rc;
	nlh = nl_request(nl.family, cmd, SMCR_GENL_VERSION, NLM_F_ACK);
	if (id)
		mnl_attr_put_u32(nlh, SMCR_A_LGR_ID, *id);
	rc = nl_exchange(nlh, &call);
	return rc != EXIT_OK ? rc : nl_verdict(&call);
}

/* For the nest CTRL_ATTR_MCAST_GROUPS: find the number of the group of events */
static int on_groups(const struct nlattr *nest, void *arg)
{
	const struct nlattr *group, *nla;
	uint32_t *found = arg;

	mnl_attr_for_each_nested(group, nest) {
		const char *name = "";
		uint32_t id = 0;

		mnl_attr_for_each_nested(nla, group) {
			if (mnl_attr_get_type(nla) == CTRL_ATTR_MCAST_GRP_NAME &&
			    mnl_attr_validate(nla, MNL_TYPE_NUL_STRING) >= 0)
				name = mnl_attr_get_str(nla);
			if (mnl_attr_get_type(nla) == CTRL_ATTR_MCAST_GRP_ID &&
			    mnl_attr_validate(nla, MNL_TYPE_U32) >= 0)
				id = mnl_attr_get_u32(nla);
		}
		if (!strcmp(name, SMCR_MCGRP_EVENTS))
			*found = id;
	}
	return EXIT_OK;
}

static int nl_find_group(uint32_t *group)
{
	struct nl_call call = {
		.nest	= CTRL_ATTR_MCAST_GROUPS,
		.fn	= on_groups,
		.arg	= group,
	};
	struct nlmsghdr *nlh;
	int rc;

	*group = 0;
	nlh = nl_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, NLM_F_ACK);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SMCR_GENL_NAME);
	rc = nl_exchange(nlh, &call);
	if (rc == EXIT_OK)
		rc = nl_verdict(&call);
	if (rc == EXIT_OK && !*group)
		return fail(EXIT_NOTFOUND, "this kernel module reports no events");
	return rc;
}

int nl_listen(unsigned int rcvbuf)
{
	/* the controller's group reports the removal of a family */
	uint32_t groups[2] = { GENL_ID_CTRL };
	size_t i;
	int fd, rc;

	rc = nl_open();
	if (rc == EXIT_OK)
		rc = nl_find_group(&groups[1]);
	if (rc != EXIT_OK)
		return rc;
	nl.events = mnl_socket_open2(NETLINK_GENERIC,
				     SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!nl.events || mnl_socket_bind(nl.events, 0, MNL_SOCKET_AUTOPID) < 0)
		return fail(EXIT_KERNEL, "netlink socket: %s", strerror(errno));
	fd = mnl_socket_get_fd(nl.events);
	/* without CAP_NET_ADMIN, net.core.rmem_max is the limit */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf, sizeof(rcvbuf)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		if (mnl_socket_setsockopt(nl.events, NETLINK_ADD_MEMBERSHIP,
					  &groups[i], sizeof(groups[i])) < 0)
			return fail(EXIT_KERNEL, "cannot listen to events: %s",
				    strerror(errno));
	return EXIT_OK;
}

int nl_listen_fd(void)
{
	return mnl_socket_get_fd(nl.events);
}

/* Does the message report that the family smcr was removed? */
static bool family_gone(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *nla;

	if (nlh->nlmsg_type != GENL_ID_CTRL || genl->cmd != CTRL_CMD_DELFAMILY)
		return false;
	mnl_attr_for_each(nla, nlh, sizeof(*genl))
		if (mnl_attr_get_type(nla) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_validate(nla, MNL_TYPE_U16) >= 0 &&
		    mnl_attr_get_u16(nla) == nl.family)
			return true;
	return false;
}

static void event_parse(const struct nlmsghdr *nlh, struct nl_event *ev)
{
	const struct nlattr *nla;

	*ev = (struct nl_event){};
	mnl_attr_for_each(nla, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(nla)) {
		case SMCR_A_EVENT:
			ev->event = nla;
			break;
		case SMCR_A_LGR:
			ev->lgr = nla;
			break;
		case SMCR_A_LINK:
			ev->link = nla;
			break;
		}
	}
}

int nl_events(int (*fn)(const struct nl_event *ev, void *arg), void *arg,
	      bool *lost)
{
	const struct genlmsghdr *genl;
	const struct nlmsghdr *nlh;
	struct nl_event ev;
	ssize_t len;
	int rc, left;

	for (;;) {
		len = mnl_socket_recvfrom(nl.events, nl.buf, sizeof(nl.buf));
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == EAGAIN)
			return EXIT_OK;
		/* read on: the messages in the queue are older than the lost ones */
		if (len < 0 && errno == ENOBUFS) {
			*lost = true;
			continue;
		}
		if (len < 0)
			return fail(EXIT_KERNEL, "netlink receive: %s",
				    strerror(errno));
		nlh = (const struct nlmsghdr *)nl.buf;
		for (left = (int)len; mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left)) {
			genl = mnl_nlmsg_get_payload(nlh);
			if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*genl))
				continue;
			if (family_gone(nlh))
				return fail(EXIT_NOTFOUND,
					    "the kernel module smcr was unloaded");
			if (nlh->nlmsg_type != nl.family ||
			    genl->cmd != SMCR_CMD_EVENT_NTF)
				continue;
			event_parse(nlh, &ev);
			rc = ev.event && ev.lgr ? fn(&ev, arg) : EXIT_OK;
			if (rc != EXIT_OK)
				return rc;
		}
	}
}
