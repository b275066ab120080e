/* SPDX-License-Identifier: GPL-2.0-only */
/* Link-group lookup and creation: the peer, the request, and the place of a group. */
#ifndef _SMCR_LGR_FIND_H
#define _SMCR_LGR_FIND_H

#include <linux/in6.h>
#include "core/clc.h"
#include "base/base.h"
#include "base/ids.h"
#include "rdma/dev.h"

/**
 * struct smcr_peer - the host at the other end of a link (LG-02)
 * @id: peer ID, from CLC
 * @mac: MAC of the peer's RNIC, from CLC
 * @hw: link-layer address of @addr in this host's neighbour tables
 * @here: link-layer address of this host's interface that has the own address of the TCP
 *	connection
 * @near: @hw is valid, or @addr is an own address
 * @addr: the peer's IP address in the TCP connection
 *
 * The peer ID alone does not identify a host: another host can claim it, and a peer can
 * have several RNICs.
 */
struct smcr_peer {
	u8 id[8];
	u8 mac[6];
	u8 hw[6];
	u8 here[6];
	bool near;
	struct in6_addr addr;
};

/* Maximum number of addresses in smcr_lgr_net.denied */
#define SMCR_DENIED_MAX	4

/**
 * struct smcr_lgr_net - the group in its namespace; sn->lgr_lock
 * @node: in sn->lgr_list
 * @id: in sn->lgrs
 * @hash: in sn->lgr_hash
 * @form: server: in sn->lgr_forming, until lgr_share_left() finds that first contact of
 *	the group is over
 * @idle: in sn->lgr_idle, from the end of the last connection until another one comes;
 *	the group that is idle for longest is first
 * @denied: addresses that have declined the group as "out of sync", the latest first
 * @n_denied: number of @denied
 */
struct smcr_lgr_net {
	struct list_head node;
	struct smcr_id id;
	struct hlist_node hash;
	struct list_head form;
	struct list_head idle;
	struct in6_addr denied[SMCR_DENIED_MAX];
	u8 n_denied;
};

/**
 * struct smcr_lgr_request - arguments and results of smcr_lgr_get_server()
 * @peer: from the Proposal
 * @pid: own port in the peer's subnet
 * @bsize: wanted element size code; a group without room for such an element is
 *	passed over
 * @may_first: the caller may run first contact if the address of @peer has not used up its
 *	share of the first contacts (SMCR_FIRST_SHARE)
 * @forming: in: group whose first contact the caller has waited for, or NULL; out: group
 *	whose first contact the caller has to wait for before it calls again, with a
 *	reference, or NULL
 * @first: out: the caller has to run first contact
 * @why: out: reason when there is no group
 */
struct smcr_lgr_request {
	const struct smcr_peer *peer;
	const struct smcr_port_id *pid;
	u8 bsize;
	bool may_first;
	struct smcr_lgr *forming;
	bool first;
	enum smcr_reason why;
};

struct smcr_lgr *smcr_lgr_get_server(struct smcr_net *sn,
				     struct smcr_lgr_request *req);
struct smcr_lgr *smcr_lgr_find_client(struct smcr_net *sn,
				      const struct smcr_clc_accept *acc,
				      const struct smcr_port_id *pid,
				      const struct smcr_peer *peer);
struct smcr_lgr *smcr_lgr_create(struct smcr_net *sn,
				 const struct smcr_peer *peer,
				 const struct smcr_port_id *pid,
				 enum smcr_reason *why);
bool smcr_lgr_with_host(struct smcr_lgr *lgr, const struct smcr_peer *peer);
void smcr_lgr_suspect(struct smcr_lgr *lgr, const struct in6_addr *addr);

#endif /* _SMCR_LGR_FIND_H */
