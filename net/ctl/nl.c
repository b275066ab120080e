// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: functions shared by all dumps; dumps of the module and counters. */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include "base/base.h"
#include "base/netns.h"
#include "base/stats.h"
#include "rdma/buf.h"
#include "rdma/dev.h"
#include "lgr/lgr.h"
#include "lgr/lgr_dev.h"
#include "hs/tcpopt.h"
#include "ctl/nl.h"

const struct genl_family *smcr_nl_fam __ro_after_init;

struct smcr_net *smcr_nl_net(const struct netlink_callback *cb)
{
	return smcr_net(sock_net(cb->skb->sk));
}

/**
 * smcr_nl_filter() - read the request of a dump
 * @cb: dump
 * @allowed: attributes that the operation supports, mask of BIT(SMCR_A_*)
 * @attrs: set to the attributes of the request; an entry is NULL if the request
 *	does not have that attribute
 *
 * Return: 0; -EINVAL, with a message in @cb->extack, for an attribute that is
 * not in @allowed; or the errno of genlmsg_parse().
 */
int smcr_nl_filter(struct netlink_callback *cb, unsigned long allowed,
		   struct nlattr *attrs[SMCR_A_DEV_NAME + 1])
{
	int rc;
	int i;

	rc = genlmsg_parse(cb->nlh, smcr_nl_fam, attrs, SMCR_A_DEV_NAME,
			   smcr_nl_fam->policy, cb->extack);
	if (rc)
		return rc;
	for (i = 1; i <= SMCR_A_DEV_NAME; i++) {
		if (!attrs[i] || test_bit(i, &allowed))
			continue;
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[i],
				    "the operation has no such filter");
		return -EINVAL;
	}
	return 0;
}

/**
 * smcr_nl_look() - set the sequence number of a dump of sockets or groups
 * @sn: namespace
 * @cb: dump; its seq is made from the generations of both lists, so that
 *	nl_dump_check_consistent() sets NLM_F_DUMP_INTR if an object was added
 *	or removed since the last call
 */
void smcr_nl_look(struct smcr_net *sn, struct netlink_callback *cb)
{
	u32 seq = READ_ONCE(sn->socks.gen) + READ_ONCE(sn->lgrs.gen);

	cb->seq = seq ?: 1;	/* 0 would disable the check */
}

/**
 * smcr_nl_lgr_wanted() - does a group satisfy the filter's lgr-id and dev-name?
 * @attrs: from smcr_nl_filter()
 * @lgr: group; NULL (no group) satisfies only a filter that has neither
 */
bool smcr_nl_lgr_wanted(struct nlattr **attrs, struct smcr_lgr *lgr)
{
	struct nlattr *id = attrs[SMCR_A_LGR_ID];
	struct nlattr *dev = attrs[SMCR_A_DEV_NAME];
	char name[IB_DEVICE_NAME_MAX];

	if (!lgr)
		return !id && !dev;
	if (id && lgr->id != nla_get_u32(id))
		return false;
	if (!dev)
		return true;
	return nla_strscpy(name, dev, sizeof(name)) > 0 &&
	       smcr_lgr_is_on_name(lgr, name);
}

/**
 * smcr_nl_open() - begin a message of a dump
 * @msg: message
 * @skb: buffer that the message is put in
 * @cb: dump
 * @cmd: command of the answer
 * @attr: attribute that carries the object
 *
 * Return: 0, or -EMSGSIZE.
 */
int smcr_nl_open(struct smcr_nl_msg *msg, struct sk_buff *skb,
		 struct netlink_callback *cb, u8 cmd, int attr)
{
	msg->skb = skb;
	msg->hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			       cb->nlh->nlmsg_seq, smcr_nl_fam,
			       NLM_F_MULTI, cmd);
	if (!msg->hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, msg->hdr);
	msg->nest = nla_nest_start(skb, attr);
	if (msg->nest)
		return 0;
	genlmsg_cancel(skb, msg->hdr);
	return -EMSGSIZE;
}

/**
 * smcr_nl_close() - end a message
 * @msg: message; dropped when @err is not 0
 * @err: 0 or a negative errno
 *
 * Return: @err.
 */
int smcr_nl_close(struct smcr_nl_msg *msg, int err)
{
	if (err) {
		genlmsg_cancel(msg->skb, msg->hdr);
		return err;
	}
	nla_nest_end(msg->skb, msg->nest);
	genlmsg_end(msg->skb, msg->hdr);
	return 0;
}

/**
 * smcr_nl_result() - result of a dump callback
 * @skb: buffer with the messages so far
 * @err: 0 or a negative errno; -EMSGSIZE is no error if @skb has a message
 *
 * Return: for such an -EMSGSIZE the length of @skb, so that the callback is
 * called again with another buffer; else @err.
 */
int smcr_nl_result(const struct sk_buff *skb, int err)
{
	return err == -EMSGSIZE && skb->len ? skb->len : err;
}

static const struct {
	u16 attr;
	u16 offset;
} smcr_nl_knobs[] = {
#define X(member, attr, def, lo, hi, hi_ns) \
	{ SMCR_A_KNOBS_##attr, offsetof(struct smcr_knobs, member) },
	SMCR_KNOBS(X)
#undef X
	{ SMCR_A_KNOBS_MAX_MEM, offsetof(struct smcr_knobs, max_mem) },
};

/* two attributes are not in the table: nl_put_knobs() puts them itself */
static_assert(ARRAY_SIZE(smcr_nl_knobs) + 2 == SMCR_A_KNOBS_MAX);

/* Maximum length of excluded_ports as reported; a longer list ends with "..." */
#define SMCR_NL_PORTS	512

static int nl_put_ports(struct sk_buff *skb, const unsigned long *ports)
{
	char text[SMCR_NL_PORTS];
	char *comma;

	if (snprintf(text, sizeof(text), "%*pbl", SMCR_PORTS, ports) >=
	    sizeof(text)) {
		/* the last number may be cut, so end the list after a comma */
		text[sizeof(text) - sizeof("...")] = '\0';
		comma = strrchr(text, ',');
		if (comma)
			strscpy(comma + 1, "...", sizeof("..."));
	}
	return nla_put_string(skb, SMCR_A_KNOBS_EXCLUDED_PORTS, text);
}

static int nl_put_knobs(struct sk_buff *skb, const struct smcr_net *sn)
{
	struct nlattr *nest = nla_nest_start(skb, SMCR_A_SYS_KNOBS);
	const int *value;
	size_t i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(smcr_nl_knobs); i++) {
		value = (const void *)&sn->knobs + smcr_nl_knobs[i].offset;
		if (nla_put_s32(skb, smcr_nl_knobs[i].attr, READ_ONCE(*value)))
			return -EMSGSIZE;
	}
	if (net_eq(sn->net, &init_net) &&
	    nla_put_s32(skb, SMCR_A_KNOBS_MAX_MEM_HOST,
			READ_ONCE(smcr_max_mem_host)))
		return -EMSGSIZE;
	if (nl_put_ports(skb, sn->excluded_ports))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int nl_put_kib(struct sk_buff *skb, int attr, int kib)
{
	return nla_put_u64_64bit(skb, attr, (u64)kib << 10, SMCR_A_SYS_PAD);
}

/* The sum of all namespaces is reported in the initial namespace only */
static int nl_put_mem(struct sk_buff *skb, struct smcr_net *sn)
{
	if (nla_put_u64_64bit(skb, SMCR_A_SYS_MEM, smcr_buf_mem(sn),
			      SMCR_A_SYS_PAD) ||
	    nl_put_kib(skb, SMCR_A_SYS_MEM_MAX,
		       READ_ONCE(sn->knobs.max_mem)))
		return -EMSGSIZE;
	if (!net_eq(sn->net, &init_net))
		return 0;
	if (nla_put_u64_64bit(skb, SMCR_A_SYS_MEM_HOST, smcr_buf_mem(NULL),
			      SMCR_A_SYS_PAD) ||
	    nl_put_kib(skb, SMCR_A_SYS_MEM_HOST_MAX,
		       READ_ONCE(smcr_max_mem_host)))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_sys(struct sk_buff *skb, struct smcr_net *sn)
{
	const char *version = THIS_MODULE->version;
	u8 peer_id[8];

	smcr_local_peer_id(sn, peer_id);
	if (nla_put_string(skb, SMCR_A_SYS_VERSION, version ?: "unknown") ||
	    nla_put_string(skb, SMCR_A_SYS_TCPOPT_BACKEND,
			   smcr_tcpopt_backend()) ||
	    nla_put(skb, SMCR_A_SYS_PEER_ID, sizeof(peer_id), peer_id) ||
	    nla_put_u32(skb, SMCR_A_SYS_SOCKETS, READ_ONCE(sn->n_socks)) ||
	    nla_put_u32(skb, SMCR_A_SYS_LGRS, READ_ONCE(sn->lgr_count)) ||
	    nla_put_u32(skb, SMCR_A_SYS_HANDSHAKES,
			atomic_read(&sn->n_handshakes)) ||
	    nl_put_mem(skb, sn))
		return -EMSGSIZE;
	return nl_put_knobs(skb, sn);
}

int smcr_nl_sys_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attrs[SMCR_A_DEV_NAME + 1];
	struct smcr_nl_pos *pos = smcr_nl_pos(cb);
	struct smcr_nl_msg msg;
	int rc;

	rc = smcr_nl_filter(cb, 0, attrs);
	if (rc || pos->next)
		return rc;
	rc = smcr_nl_open(&msg, skb, cb, SMCR_CMD_SYS_GET, SMCR_A_SYS);
	if (rc)
		return rc;
	rc = smcr_nl_close(&msg, nl_put_sys(skb, smcr_nl_net(cb)));
	if (!rc)
		pos->next = 1;
	return smcr_nl_result(skb, rc);
}

static int nl_put_counter(struct sk_buff *skb, unsigned int id, u64 value)
{
	if (nla_put_u32(skb, SMCR_A_COUNTER_ID, id) ||
	    nla_put_string(skb, SMCR_A_COUNTER_NAME, smcr_counter_name(id)) ||
	    nla_put_u64_64bit(skb, SMCR_A_COUNTER_VALUE, value,
			      SMCR_A_COUNTER_PAD))
		return -EMSGSIZE;
	return 0;
}

static int nl_put_reason(struct sk_buff *skb, unsigned int id, u64 value)
{
	u32 wire = smcr_reason_wire(id);

	if (nla_put_u32(skb, SMCR_A_REASON_ID, id) ||
	    nla_put_string(skb, SMCR_A_REASON_NAME, smcr_reason_name(id)) ||
	    nla_put_string(skb, SMCR_A_REASON_TEXT, smcr_reason_text(id)) ||
	    (wire && nla_put_u32(skb, SMCR_A_REASON_DIAGNOSIS, wire)) ||
	    nla_put_u64_64bit(skb, SMCR_A_REASON_VALUE, value,
			      SMCR_A_REASON_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Numbered values of struct smcr_stats: counters, or reasons */
struct smcr_nl_series {
	u8 cmd;
	u8 attr;
	unsigned int first;
	unsigned int end;
	size_t offset;		/* of the values in struct smcr_stats */
	int (*put)(struct sk_buff *skb, unsigned int id, u64 value);
};

static int nl_dump_series(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct smcr_nl_series *s)
{
	struct nlattr *attrs[SMCR_A_DEV_NAME + 1];
	struct smcr_nl_pos *pos = smcr_nl_pos(cb);
	struct smcr_stats *stats;
	struct smcr_nl_msg msg;
	const u64 *value;
	int rc;

	rc = smcr_nl_filter(cb, 0, attrs);
	if (rc)
		return rc;
	stats = kzalloc(sizeof(*stats), GFP_KERNEL);
	if (!stats)
		return -ENOMEM;
	smcr_stats_read(smcr_nl_net(cb), stats);
	value = (const void *)stats + s->offset;

	for (; s->first + pos->next < s->end; pos->next++) {
		unsigned int id = s->first + pos->next;

		rc = smcr_nl_open(&msg, skb, cb, s->cmd, s->attr);
		if (rc)
			break;
		rc = smcr_nl_close(&msg, s->put(skb, id, value[id]));
		if (rc)
			break;
	}
	kfree(stats);
	return smcr_nl_result(skb, rc);
}

int smcr_nl_counter_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	static const struct smcr_nl_series series = {
		.cmd	= SMCR_CMD_COUNTER_GET,
		.attr	= SMCR_A_COUNTER,
		.end	= NR_SMCR_COUNTER,
		.offset	= offsetof(struct smcr_stats, cnt),
		.put	= nl_put_counter,
	};

	return nl_dump_series(skb, cb, &series);
}

int smcr_nl_reason_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	static const struct smcr_nl_series series = {
		.cmd	= SMCR_CMD_REASON_GET,
		.attr	= SMCR_A_REASON,
		.first	= SMCR_R_NONE + 1,
		.end	= NR_SMCR_REASON,
		.offset	= offsetof(struct smcr_stats, reason),
		.put	= nl_put_reason,
	};

	return nl_dump_series(skb, cb, &series);
}
