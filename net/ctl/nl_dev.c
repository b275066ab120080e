// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: RDMA devices and their ports. */
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include "base/base.h"
#include "base/netns.h"
#include "rdma/dev.h"
#include "lgr/lgr.h"
#include "lgr/lgr_dev.h"
#include "ctl/nl.h"

static_assert((int)SMCR_NL_PORT_DOWN == (int)IB_PORT_DOWN);
static_assert((int)SMCR_NL_PORT_ACTIVE_DEFER == (int)IB_PORT_ACTIVE_DEFER);

/* nl_count_lgrs() drops sn->lgr_lock for a moment after this many groups */
#define SMCR_NL_LGRS	256

/* Argument of nl_show_dev() */
struct smcr_nl_dev_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	const struct nlattr *name;	/* wanted device, or NULL */
	unsigned int n;			/* number of the current device */
};

/* Number of groups of @sn with a link on @port of @dev; @port 0: on any port */
static u32 nl_count_lgrs(struct smcr_net *sn, const struct smcr_dev *dev,
			 u32 port)
{
	struct smcr_id *node;
	struct smcr_lgr *lgr;
	unsigned int i;
	u64 after = 0;
	u32 n = 0;

	do {	/* there may be very many groups */
		spin_lock_bh(&sn->lgr_lock);
		node = smcr_ids_after(&sn->lgrs, after);
		for (i = 0; node && i < SMCR_NL_LGRS; i++) {
			lgr = container_of(node, struct smcr_lgr, net.id);
			if (smcr_lgr_slots_on(lgr, dev, port))
				n++;
			after = node->id;
			node = smcr_ids_next(node);
		}
		spin_unlock_bh(&sn->lgr_lock);
		cond_resched();
	} while (node);
	return n;
}

/*
 * Number of GIDs of a port. *@ifindex and @name are set to the netdev of the
 * first GID that has one; without any, *@ifindex is 0.
 */
static u32 nl_scan_gids(struct ib_device *ibdev, u32 port, int len,
			int *ifindex, char name[IFNAMSIZ])
{
	const struct ib_gid_attr *gid;
	struct net_device *ndev;
	u32 n = 0;
	int i;

	*ifindex = 0;
	for (i = 0; i < len; i++) {
		gid = rdma_get_gid_attr(ibdev, port, i);
		if (IS_ERR(gid))
			continue;
		n++;
		rcu_read_lock();
		ndev = rdma_read_gid_attr_ndev_rcu(gid);
		if (!*ifindex && !IS_ERR_OR_NULL(ndev)) {
			*ifindex = ndev->ifindex;
			strscpy(name, ndev->name, IFNAMSIZ);
		}
		rcu_read_unlock();
		rdma_put_gid_attr(gid);
	}
	return n;
}

static int nl_put_port(struct sk_buff *skb, struct smcr_net *sn,
		       struct smcr_dev *dev, u32 port)
{
	struct ib_port_attr attr = {};
	char name[IFNAMSIZ];
	int ifindex;
	u32 gids;

	if (nla_put_u32(skb, SMCR_A_DEV_PORT_PORT, port))
		return -EMSGSIZE;
	if (ib_query_port(dev->ibdev, port, &attr))
		return 0;	/* the device is being removed */
	gids = nl_scan_gids(dev->ibdev, port, attr.gid_tbl_len, &ifindex,
			    name);
	if (nla_put_u32(skb, SMCR_A_DEV_PORT_STATE, attr.state) ||
	    nla_put_u32(skb, SMCR_A_DEV_PORT_MTU,
			ib_mtu_enum_to_int(attr.active_mtu)) ||
	    nla_put_u32(skb, SMCR_A_DEV_PORT_GIDS, gids) ||
	    nla_put_u32(skb, SMCR_A_DEV_PORT_LGRS,
			nl_count_lgrs(sn, dev, port)))
		return -EMSGSIZE;
	if (ifindex &&
	    (nla_put_string(skb, SMCR_A_DEV_PORT_NETDEV, name) ||
	     nla_put_u32(skb, SMCR_A_DEV_PORT_IFINDEX, ifindex)))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_dev(struct sk_buff *skb, struct smcr_net *sn,
		      struct smcr_dev *dev)
{
	struct ib_device *ibdev = dev->ibdev;
	struct nlattr *nest;
	u32 port;

	if (nla_put_string(skb, SMCR_A_DEV_DEV_NAME, smcr_dev_name(dev).s) ||
	    nla_put_u32(skb, SMCR_A_DEV_LGRS, nl_count_lgrs(sn, dev, 0)) ||
	    nla_put_u32(skb, SMCR_A_DEV_MAX_SGE, dev->max_sge) ||
	    nla_put_u32(skb, SMCR_A_DEV_MAX_INLINE, dev->max_inline) ||
	    nla_put_u32(skb, SMCR_A_DEV_MAX_MR_PAGES, dev->max_mr_pages) ||
	    (READ_ONCE(dev->removed) && nla_put_flag(skb, SMCR_A_DEV_REMOVED)))
		return -EMSGSIZE;
	rdma_for_each_port(ibdev, port) {
		if (!rdma_protocol_roce(ibdev, port))
			continue;
		nest = nla_nest_start(skb, SMCR_A_DEV_PORT);
		if (!nest || nl_put_port(skb, sn, dev, port))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* Callback of smcr_dev_for_each(), which has a reference on the device */
static int nl_show_dev(struct smcr_dev *dev, void *arg)
{
	struct smcr_nl_dev_dump *dump = arg;
	struct smcr_nl_pos *pos = smcr_nl_pos(dump->cb);
	struct smcr_nl_msg msg;
	int rc;

	if (dump->n++ < pos->next)
		return 0;
	if (dump->name &&
	    nla_strcmp(dump->name, smcr_dev_name(dev).s)) {
		pos->next++;
		return 0;
	}
	rc = smcr_nl_open(&msg, dump->skb, dump->cb, SMCR_CMD_DEV_GET,
			  SMCR_A_DEV);
	if (rc)
		return rc;
	rc = nl_put_dev(dump->skb, smcr_nl_net(dump->cb), dev);
	rc = smcr_nl_close(&msg, rc);
	if (!rc)
		pos->next++;
	return rc;
}

int smcr_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smcr_nl_dev_dump dump = { .skb = skb, .cb = cb };
	struct nlattr *attrs[SMCR_A_DEV_NAME + 1];
	int rc;

	rc = smcr_nl_filter(cb, BIT(SMCR_A_DEV_NAME), attrs);
	if (rc)
		return rc;
	dump.name = attrs[SMCR_A_DEV_NAME];
	rc = smcr_dev_for_each(sock_net(cb->skb->sk), nl_show_dev, &dump);
	return smcr_nl_result(skb, rc);
}
