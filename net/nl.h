/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink family "smcr": what smcctl shows and does. The interface is
 * specified in Documentation/netlink/specs/smcr.yaml.
 *
 *	nl.c		family, common parts, module, counters, reasons
 *	nl_conn.c	sockets and connections
 *	nl_lgr.c	link groups, links, RMBs
 *	nl_dev.c	devices
 *	nl_gen.[ch]	generated: policy, operations
 */
#ifndef _SMCR_NL_H
#define _SMCR_NL_H

#include <linux/netlink.h>
#include "base.h"
#include "lgr.h"
#include "nl_gen.h"

int smcr_nl_init(void);
void smcr_nl_exit(void);

/**
 * struct smcr_nl_pos - where a dump goes on, in netlink_callback.ctx
 * @phase: which of several lists
 * @next: number of the next object
 * @sub: number of the next part of it
 *
 * Objects that come or go between two calls may be shown twice or not at all,
 * as in other dumps of the kernel.
 */
struct smcr_nl_pos {
	unsigned int phase;
	unsigned int next;
	unsigned int sub;
};

static inline struct smcr_nl_pos *smcr_nl_pos(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct smcr_nl_pos) > sizeof(cb->ctx));
	return (struct smcr_nl_pos *)cb->ctx;
}

struct smcr_net *smcr_nl_net(const struct netlink_callback *cb);

/**
 * smcr_nl_filter() - read the request of a dump
 * @cb: dump
 * @allowed: mask of BIT(SMCR_A_*) that the operation understands
 * @attrs: filled; NULL where the request says nothing
 *
 * Return: 0, or -EINVAL with a message for attributes that mean nothing here.
 */
int smcr_nl_filter(struct netlink_callback *cb, unsigned long allowed,
		   struct nlattr *attrs[SMCR_A_DEV_NAME + 1]);

/* Group number @n of the namespace with a reference, or NULL */
struct smcr_lgr *smcr_nl_lgr_get(struct smcr_net *sn, unsigned int n);

/* Does @lgr satisfy the filter's lgr-id and dev-name? NULL has none of them. */
bool smcr_nl_lgr_wanted(struct nlattr **attrs, const struct smcr_lgr *lgr);

/* One message of a dump, with one object in it */
struct smcr_nl_msg {
	struct sk_buff *skb;
	void *hdr;
	struct nlattr *nest;
};

/**
 * smcr_nl_open() - begin a message of a dump
 * @msg: message
 * @skb: where it goes
 * @cb: dump
 * @cmd: command of the answer
 * @attr: attribute that carries the object
 *
 * Return: 0, or -EMSGSIZE.
 */
int smcr_nl_open(struct smcr_nl_msg *msg, struct sk_buff *skb,
		 struct netlink_callback *cb, u8 cmd, int attr);

/* End the message, or drop it when @err is not 0. Returns @err. */
int smcr_nl_close(struct smcr_nl_msg *msg, int err);

/* Result of a dump callback: an overflow is no error once something fitted */
int smcr_nl_result(const struct sk_buff *skb, int err);

#endif /* _SMCR_NL_H */
