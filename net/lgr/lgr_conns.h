/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections of a link group. */
#ifndef _SMCR_LGR_CONNS_H
#define _SMCR_LGR_CONNS_H

#include <linux/rhashtable.h>
#include "base/base.h"

/**
 * struct smcr_lgr_member - a connection in its group; embedded in the connection
 * @token: alert token, by which CDC names the connection
 * @node: in lgr->conns.tab
 * @lgr_node: in lgr->conns.list, which also has the place markers of
 *	smcr_lgr_each_conn(); lgr->lock
 */
struct smcr_lgr_member {
	u32 token;
	struct rhash_head node;
	struct list_head lgr_node;
};

/**
 * struct smcr_lgr_conns - the connections; lgr->lock
 * @tab: by alert token; RCU readers
 * @n: number of connections; READ_ONCE without the lock
 * @list: smcr_lgr_member.lgr_node
 * @ka_min: shortest time in jiffies that a link may be idle before a connection needs a
 *	keepalive probe; 0: no connection needs one; READ_ONCE without the lock
 * @idle_work: ends the group after T_LGR_IDLE; owns a reference on the group while
 *	queued
 */
struct smcr_lgr_conns {
	struct rhashtable tab;
	unsigned int n;
	struct list_head list;
	int ka_min;
	struct delayed_work idle_work;
};

int smcr_lgr_init_conns(struct smcr_lgr *lgr);
int smcr_lgr_add_conn(struct smcr_lgr *lgr, struct smcr_lgr_member *conn);
void smcr_lgr_each_conn(struct smcr_lgr *lgr,
			void (*fn)(struct smcr_lgr_member *conn, void *arg), void *arg);
struct smcr_lgr_member *smcr_lgr_first_conn(struct smcr_lgr *lgr);
void smcr_lgr_del_conn(struct smcr_lgr *lgr, struct smcr_lgr_member *conn);
/* Key of wake-ups of lgr->wait for handshakes that wait for an element of the peer */
#define SMCR_LGR_WAKE_CLAIMS	((void *)1)
void smcr_lgr_wake_claims(struct smcr_lgr *lgr);
struct smcr_lgr_member *smcr_lgr_find_conn(struct smcr_lgr *lgr, u32 token);

#endif /* _SMCR_LGR_CONNS_H */
