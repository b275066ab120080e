// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC codec, RFC 7609 A.2.
 *
 * The header decoder verifies the leading eye catcher. The body decoders take
 * the whole message, which has exactly hdr.len bytes. They check the header
 * again, and verify the trailing eye catcher. Reserved bits are ignored
 * (CLC-02). Encoders write the whole message. They return -EMSGSIZE if it does
 * not fit, and -EINVAL for values that cannot be encoded.
 */
#include "byteio.h"
#include "clc.h"
#include "env.h"

/* Offsets of the fields, conformance catalogue A.3 to A.6 */
enum {
	/* header and peer ID: every message */
	OFF_EYE		= 0,
	OFF_TYPE	= 4,
	OFF_LENGTH	= 5,
	OFF_VERSION	= 7,	/* high nibble; low nibble: flag and reserved bits */
	OFF_PEER_ID	= 8,

	/* Proposal, Accept, Confirm */
	OFF_GID		= 16,
	OFF_MAC		= 32,

	/* Proposal; behind the growth area: offsets if that area is empty */
	OFF_P_GROWTH	= 38,
	OFF_P_AREA	= 40,
	OFF_P_NET	= 40,
	OFF_P_PLEN	= 44,
	OFF_P_N_PREFIX	= 47,
	OFF_P_PREFIX	= 48,

	/* Accept, Confirm */
	OFF_A_QPN	= 38,
	OFF_A_RKEY	= 41,
	OFF_A_INDEX	= 45,
	OFF_A_TOKEN	= 46,
	OFF_A_BSIZE_MTU	= 50,
	OFF_A_VA	= 52,
	OFF_A_PSN	= 61,

	/* Decline */
	OFF_D_DIAGNOSIS	= 16,

	EYE_LEN		= 4,
	FLAG_BIT	= 0x08,	/* F of Accept, S of Decline */
	U24_MAX		= 0xffffff,
};

static_assert((int)OFF_P_PREFIX + (int)EYE_LEN == SMCR_CLC_PROPOSAL_MIN);
static_assert((int)OFF_A_PSN + 3 + (int)EYE_LEN == SMCR_CLC_ACCEPT_LEN);
static_assert((int)OFF_D_DIAGNOSIS + 8 + (int)EYE_LEN == SMCR_CLC_DECLINE_LEN);

static int reject(enum smcr_reason *why, enum smcr_reason reason)
{
	*why = reason;
	return -EPROTO;
}

static bool eye_ok(const u8 *p)
{
	return smcr_get_be32(p) == SMCR_EYE_CATCHER;
}

/**
 * smcr_clc_decode_hdr() - decode the header that all CLC messages share
 * @buf: the first bytes of the message
 * @len: their number, at least SMCR_CLC_HDR_LEN
 * @out: filled on success, untouched on error
 * @why: reason, set on error
 *
 * On success @out->len is a length that the type can have, at most
 * SMCR_CLC_MAX_LEN.
 *
 * Return: 0 or -EPROTO.
 */
int smcr_clc_decode_hdr(const u8 *buf, size_t len, struct smcr_clc_hdr *out,
			enum smcr_reason *why)
{
	bool len_ok, flag = false;
	u8 type, version;
	u16 msg_len;

	if (len < SMCR_CLC_HDR_LEN)
		return reject(why, SMCR_R_CLC_LENGTH);
	if (!eye_ok(buf + OFF_EYE))
		return reject(why, SMCR_R_CLC_EYE_CATCHER);

	type = buf[OFF_TYPE];
	msg_len = smcr_get_be16(buf + OFF_LENGTH);
	version = buf[OFF_VERSION] >> 4;

	switch (type) {
	case SMCR_CLC_PROPOSAL:
		len_ok = msg_len >= SMCR_CLC_PROPOSAL_MIN &&
			 msg_len <= SMCR_CLC_MAX_LEN;
		break;
	case SMCR_CLC_ACCEPT:
		len_ok = msg_len == SMCR_CLC_ACCEPT_LEN;
		flag = buf[OFF_VERSION] & FLAG_BIT;
		break;
	case SMCR_CLC_CONFIRM:
		len_ok = msg_len == SMCR_CLC_ACCEPT_LEN;
		break;
	case SMCR_CLC_DECLINE:
		/* in version 2 it has 16 more bytes, which are not read */
		len_ok = msg_len == SMCR_CLC_DECLINE_LEN ||
			 (msg_len == SMCR_CLC_DECLINE2_LEN &&
			  version > SMCR_CLC_VERSION);
		flag = buf[OFF_VERSION] & FLAG_BIT;
		break;
	default:
		return reject(why, SMCR_R_CLC_TYPE);
	}

	/*
	 * CLC-04, I-33: a peer that proposes a later version supports version
	 * 1, too. An Accept or Confirm in a version that was not proposed is
	 * not usable.
	 */
	if (version < SMCR_CLC_VERSION)
		return reject(why, SMCR_R_CLC_VERSION);
	if (version > SMCR_CLC_VERSION &&
	    (type == SMCR_CLC_ACCEPT || type == SMCR_CLC_CONFIRM))
		return reject(why, SMCR_R_CLC_VERSION);
	if (!len_ok)
		return reject(why, SMCR_R_CLC_LENGTH);

	out->type = type;
	out->version = version;
	out->flag = flag;
	out->len = msg_len;
	return 0;
}

/* Check header, total length and trailing eye catcher of a complete message */
static int decode_frame(const u8 *buf, size_t len, struct smcr_clc_hdr *hdr,
			enum smcr_reason *why)
{
	int rc = smcr_clc_decode_hdr(buf, len, hdr, why);

	if (rc)
		return rc;
	if (len != hdr->len)
		return reject(why, SMCR_R_CLC_LENGTH);
	if (!eye_ok(buf + len - EYE_LEN))
		return reject(why, SMCR_R_CLC_EYE_CATCHER);
	return 0;
}

/*
 * @byte is the one with the version. In a Proposal of version 2 its two low
 * bits are the offer for version 1: 0 SMC-R, 1 SMC-D, 2 nothing, 3 both.
 * Version 1 reserves these bits.
 */
static bool offers_v1(u8 byte)
{
	u8 path = byte & 0x03;

	return path == 0 || path == 3;
}

/**
 * smcr_clc_decode_proposal() - decode a complete Proposal (A.2.2)
 * @buf: message
 * @len: its length
 * @out: filled on success, untouched on error
 * @why: reason, set on error
 *
 * The growth area is skipped unread (CLC-20). The caller uses the IPv4 or the
 * IPv6 part, by the address family of the TCP connection.
 *
 * Return: 0 or -EPROTO.
 */
int smcr_clc_decode_proposal(const u8 *buf, size_t len,
			     struct smcr_clc_proposal *out,
			     enum smcr_reason *why)
{
	struct smcr_clc_hdr hdr;
	u32 growth, n, i, end;
	const u8 *area;
	bool later;
	int rc;

	rc = decode_frame(buf, len, &hdr, why);
	if (rc)
		return rc;
	if (hdr.type != SMCR_CLC_PROPOSAL)
		return reject(why, SMCR_R_CLC_UNEXPECTED);

	later = hdr.version > SMCR_CLC_VERSION;
	if (later && !offers_v1(buf[OFF_VERSION]))
		return reject(why, SMCR_R_CLC_VERSION);
	growth = smcr_get_be16(buf + OFF_P_GROWTH);
	if (len < SMCR_CLC_PROPOSAL_MIN + growth)
		return reject(why, SMCR_R_CLC_LENGTH);

	/* all fields behind the growth area are shifted by its length */
	area = buf + growth;
	n = area[OFF_P_N_PREFIX];
	if (n > SMCR_CLC_MAX_PREFIX)
		return reject(why, SMCR_R_CLC_PREFIX);
	/* a later version may append fields to those of version 1 */
	end = SMCR_CLC_PROPOSAL_MIN + growth + n * SMCR_CLC_PREFIX_LEN;
	if (later ? len < end : len != end)
		return reject(why, SMCR_R_CLC_LENGTH);
	if (area[OFF_P_PLEN] > 32)
		return reject(why, SMCR_R_CLC_PREFIX);
	for (i = 0; i < n; i++)
		if (area[OFF_P_PREFIX + i * SMCR_CLC_PREFIX_LEN + 16] > 128)
			return reject(why, SMCR_R_CLC_PREFIX);
	if (smcr_bytes_zero(buf + OFF_GID, sizeof(out->gid)))
		return reject(why, SMCR_R_CLC_VALUE);

	memset(out, 0, sizeof(*out));
	out->version = hdr.version;
	memcpy(out->peer_id, buf + OFF_PEER_ID, sizeof(out->peer_id));
	memcpy(out->gid, buf + OFF_GID, sizeof(out->gid));
	memcpy(out->mac, buf + OFF_MAC, sizeof(out->mac));
	memcpy(out->ipv4_net, area + OFF_P_NET, sizeof(out->ipv4_net));
	out->ipv4_plen = area[OFF_P_PLEN];
	out->n_prefix = n;
	for (i = 0; i < n; i++) {
		const u8 *p = area + OFF_P_PREFIX + i * SMCR_CLC_PREFIX_LEN;

		memcpy(out->prefix[i].addr, p, sizeof(out->prefix[i].addr));
		out->prefix[i].plen = p[16];
	}
	return 0;
}

/**
 * smcr_clc_decode_accept() - decode a complete Accept or Confirm (A.2.3, A.2.4)
 * @buf: message
 * @len: its length
 * @out: filled on success, untouched on error
 * @why: reason, set on error
 *
 * Return: 0 or -EPROTO.
 */
int smcr_clc_decode_accept(const u8 *buf, size_t len,
			   struct smcr_clc_accept *out, enum smcr_reason *why)
{
	struct smcr_clc_hdr hdr;
	int rc;

	rc = decode_frame(buf, len, &hdr, why);
	if (rc)
		return rc;
	if (hdr.type != SMCR_CLC_ACCEPT && hdr.type != SMCR_CLC_CONFIRM)
		return reject(why, SMCR_R_CLC_UNEXPECTED);

	/* CLC-50 */
	if (!buf[OFF_A_INDEX] || !smcr_get_be24(buf + OFF_A_QPN) ||
	    smcr_bytes_zero(buf + OFF_GID, sizeof(out->gid)))
		return reject(why, SMCR_R_CLC_VALUE);

	memset(out, 0, sizeof(*out));
	out->type = hdr.type;
	out->first_contact = hdr.flag;
	memcpy(out->peer_id, buf + OFF_PEER_ID, sizeof(out->peer_id));
	memcpy(out->gid, buf + OFF_GID, sizeof(out->gid));
	memcpy(out->mac, buf + OFF_MAC, sizeof(out->mac));
	out->qpn = smcr_get_be24(buf + OFF_A_QPN);
	out->rkey = smcr_get_be32(buf + OFF_A_RKEY);
	out->index = buf[OFF_A_INDEX];
	out->token = smcr_get_be32(buf + OFF_A_TOKEN);
	out->bsize = buf[OFF_A_BSIZE_MTU] >> 4;
	out->mtu = buf[OFF_A_BSIZE_MTU] & 0x0f;
	out->va = smcr_get_be64(buf + OFF_A_VA);
	out->psn = smcr_get_be24(buf + OFF_A_PSN);
	return 0;
}

/**
 * smcr_clc_decode_decline() - decode a complete Decline (A.2.5)
 * @buf: message
 * @len: its length
 * @out: filled on success, untouched on error
 * @why: reason, set on error
 *
 * Return: 0 or -EPROTO.
 */
int smcr_clc_decode_decline(const u8 *buf, size_t len,
			    struct smcr_clc_decline *out,
			    enum smcr_reason *why)
{
	struct smcr_clc_hdr hdr;
	int rc;

	rc = decode_frame(buf, len, &hdr, why);
	if (rc)
		return rc;
	if (hdr.type != SMCR_CLC_DECLINE)
		return reject(why, SMCR_R_CLC_UNEXPECTED);

	memset(out, 0, sizeof(*out));
	out->out_of_sync = hdr.flag;
	memcpy(out->peer_id, buf + OFF_PEER_ID, sizeof(out->peer_id));
	out->diagnosis = smcr_get_be32(buf + OFF_D_DIAGNOSIS);
	return 0;
}

/* Write header, peer ID and eye catchers; clear the rest of @msg_len bytes */
static void encode_frame(u8 *buf, u16 msg_len, u8 type, u8 version, bool flag,
			 const u8 *peer_id)
{
	memset(buf, 0, msg_len);
	smcr_put_be32(buf + OFF_EYE, SMCR_EYE_CATCHER);
	buf[OFF_TYPE] = type;
	smcr_put_be16(buf + OFF_LENGTH, msg_len);
	buf[OFF_VERSION] = (u8)(version << 4 | (flag ? FLAG_BIT : 0));
	memcpy(buf + OFF_PEER_ID, peer_id, 8);
	smcr_put_be32(buf + msg_len - EYE_LEN, SMCR_EYE_CATCHER);
}

/**
 * smcr_clc_encode_proposal() - encode a Proposal without growth area (A.2.2)
 * @in: values, the version among them (1 in own Proposals)
 * @buf: filled with the message
 * @len: size of @buf
 *
 * Return: length of the message, -EMSGSIZE or -EINVAL.
 */
int smcr_clc_encode_proposal(const struct smcr_clc_proposal *in, u8 *buf,
			     size_t len)
{
	u16 msg_len;
	u32 i;

	if (in->version < SMCR_CLC_VERSION || in->version > 15 ||
	    in->n_prefix > SMCR_CLC_MAX_PREFIX || in->ipv4_plen > 32 ||
	    smcr_bytes_zero(in->gid, sizeof(in->gid)))
		return -EINVAL;
	for (i = 0; i < in->n_prefix; i++)
		if (in->prefix[i].plen > 128)
			return -EINVAL;

	msg_len = SMCR_CLC_PROPOSAL_MIN + in->n_prefix * SMCR_CLC_PREFIX_LEN;
	if (len < msg_len)
		return -EMSGSIZE;

	encode_frame(buf, msg_len, SMCR_CLC_PROPOSAL, in->version, false,
		     in->peer_id);
	memcpy(buf + OFF_GID, in->gid, sizeof(in->gid));
	memcpy(buf + OFF_MAC, in->mac, sizeof(in->mac));
	memcpy(buf + OFF_P_NET, in->ipv4_net, sizeof(in->ipv4_net));
	buf[OFF_P_PLEN] = in->ipv4_plen;
	buf[OFF_P_N_PREFIX] = in->n_prefix;
	for (i = 0; i < in->n_prefix; i++) {
		u8 *p = buf + OFF_P_PREFIX + i * SMCR_CLC_PREFIX_LEN;

		memcpy(p, in->prefix[i].addr, sizeof(in->prefix[i].addr));
		p[16] = in->prefix[i].plen;
	}
	return msg_len;
}

/**
 * smcr_clc_encode_accept() - encode an Accept or Confirm (A.2.3, A.2.4)
 * @in: values
 * @buf: filled with the message
 * @len: size of @buf
 *
 * Return: length of the message, -EMSGSIZE or -EINVAL.
 */
int smcr_clc_encode_accept(const struct smcr_clc_accept *in, u8 *buf,
			   size_t len)
{
	if (in->type != SMCR_CLC_ACCEPT &&
	    (in->type != SMCR_CLC_CONFIRM || in->first_contact))
		return -EINVAL;
	if (!in->qpn || in->qpn > U24_MAX || in->psn > U24_MAX || !in->index ||
	    in->bsize > 15 || in->mtu > 15 ||
	    smcr_bytes_zero(in->gid, sizeof(in->gid)))
		return -EINVAL;
	if (len < SMCR_CLC_ACCEPT_LEN)
		return -EMSGSIZE;

	encode_frame(buf, SMCR_CLC_ACCEPT_LEN, in->type, SMCR_CLC_VERSION,
		     in->first_contact, in->peer_id);
	memcpy(buf + OFF_GID, in->gid, sizeof(in->gid));
	memcpy(buf + OFF_MAC, in->mac, sizeof(in->mac));
	smcr_put_be24(buf + OFF_A_QPN, in->qpn);
	smcr_put_be32(buf + OFF_A_RKEY, in->rkey);
	buf[OFF_A_INDEX] = in->index;
	smcr_put_be32(buf + OFF_A_TOKEN, in->token);
	buf[OFF_A_BSIZE_MTU] = (u8)(in->bsize << 4 | in->mtu);
	smcr_put_be64(buf + OFF_A_VA, in->va);
	smcr_put_be24(buf + OFF_A_PSN, in->psn);
	return SMCR_CLC_ACCEPT_LEN;
}

/**
 * smcr_clc_encode_decline() - encode a Decline (A.2.5)
 * @in: values
 * @buf: filled with the message
 * @len: size of @buf
 *
 * Return: length of the message or -EMSGSIZE.
 */
int smcr_clc_encode_decline(const struct smcr_clc_decline *in, u8 *buf,
			    size_t len)
{
	if (len < SMCR_CLC_DECLINE_LEN)
		return -EMSGSIZE;

	encode_frame(buf, SMCR_CLC_DECLINE_LEN, SMCR_CLC_DECLINE,
		     SMCR_CLC_VERSION, in->out_of_sync, in->peer_id);
	smcr_put_be32(buf + OFF_D_DIAGNOSIS, in->diagnosis);
	return SMCR_CLC_DECLINE_LEN;
}

/**
 * smcr_bsize_for() - choose the element size for a receive buffer (RMB-08)
 * @rcvbuf: size of the receive buffer, in bytes
 *
 * When the size is chosen, the two sides have not agreed yet whether elements
 * begin with an eye catcher. So no bytes are added for it. An element with an
 * eye catcher holds four bytes less than its size.
 *
 * Return: code of the smallest size that is at least @rcvbuf; 512 KiB at most.
 */
u8 smcr_bsize_for(u32 rcvbuf)
{
	u8 bsize = 0;

	while (bsize < SMCR_BSIZE_MAX && smcr_bsize_bytes(bsize) < rcvbuf)
		bsize++;
	return bsize;
}
