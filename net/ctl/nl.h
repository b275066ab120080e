/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink family "smcr", the interface to smcctl. It is specified in
 * Documentation/netlink/specs/smcr.yaml.
 *
 *	nl_family.c	family
 *	nl.c		common parts, module, counters, reasons
 *	nl_conn.c	sockets and connections
 *	nl_lgr.c	link groups, links, RMBs
 *	nl_dev.c	devices
 *	nl_event.c	multicast events
 *	nl_gen.[ch]	generated: policy, operations
 */
#ifndef _SMCR_NL_H
#define _SMCR_NL_H

#include <linux/netlink.h>
#include "base/base.h"
#include "lgr/lgr.h"
#include "ctl/nl_gen.h"

/* Set by smcr_nl_init() */
extern const struct genl_family *smcr_nl_fam;

int smcr_nl_init(void);
void smcr_nl_exit(void);

/**
 * struct smcr_nl_pos - position of a dump, in netlink_callback.ctx
 * @begun: @end is set
 * @next: in dumps of devices, counters, reasons and the system: index of the next
 *	object, from 0
 * @after: in other dumps: number (ids.h) of the last socket or link group that
 *	was dumped
 * @end: number of the newest object when the dump began; newer ones are not
 *	dumped
 * @sub: position within the object that follows @after; 0: its beginning
 *
 * Every object that exists during the whole dump is dumped once. The exception
 * is a device: if another device is removed during the dump, the indices shift,
 * and one device can be left out. If sockets or link groups are added or removed
 * during a dump of such objects, NLM_F_DUMP_INTR is set: see smcr_nl_look().
 */
struct smcr_nl_pos {
	bool begun;
	unsigned int next;
	u64 after;
	u64 end;
	u64 sub;
};

static inline struct smcr_nl_pos *smcr_nl_pos(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct smcr_nl_pos) > sizeof(cb->ctx));
	return (struct smcr_nl_pos *)cb->ctx;
}

struct smcr_net *smcr_nl_net(const struct netlink_callback *cb);

int smcr_nl_filter(struct netlink_callback *cb, unsigned long allowed,
		   struct nlattr *attrs[SMCR_A_DEV_NAME + 1]);
void smcr_nl_look(struct smcr_net *sn, struct netlink_callback *cb);
bool smcr_nl_lgr_wanted(struct nlattr **attrs, struct smcr_lgr *lgr);

/* One message of a dump, with one object in it */
struct smcr_nl_msg {
	struct sk_buff *skb;
	void *hdr;
	struct nlattr *nest;
};

int smcr_nl_open(struct smcr_nl_msg *msg, struct sk_buff *skb,
		 struct netlink_callback *cb, u8 cmd, int attr);
int smcr_nl_close(struct smcr_nl_msg *msg, int err);
int smcr_nl_result(const struct sk_buff *skb, int err);
int smcr_nl_put_lgr_id(struct sk_buff *skb, const struct smcr_lgr *lgr, u8 st);
int smcr_nl_put_link_id(struct sk_buff *skb, const struct smcr_lgr *lgr,
			const struct smcr_link *link, u8 st);

void smcr_nl_event_start(void);
void smcr_nl_event_stop(void);
void smcr_nl_event(struct smcr_lgr *lgr, struct smcr_link *link,
		   enum smcr_lgr_change what, enum smcr_reason why);

#endif /* _SMCR_NL_H */
