// SPDX-License-Identifier: GPL-2.0-only
/* LLC codec, RFC 7609 A.3. See llc.h. */
#include "env.h"
#include "byteio.h"
#include "llc.h"

/* Offsets of the fields, conformance catalogue A.7 to A.15 */
enum {
	/* header: every message */
	OFF_TYPE	= 0,
	OFF_LENGTH	= 1,
	OFF_REASON	= 2,	/* low nibble, ADD LINK only */
	OFF_FLAGS	= 3,

	/* CONFIRM LINK, ADD LINK */
	OFF_MAC		= 4,
	OFF_GID		= 10,
	OFF_QPN		= 26,
	OFF_LINK_NUM	= 29,

	/* CONFIRM LINK */
	OFF_CL_USER_ID	= 30,
	OFF_CL_MAX	= 34,

	/* ADD LINK */
	OFF_AL_MTU	= 30,	/* low nibble */
	OFF_AL_PSN	= 31,
	AL_PAD		= 2,	/* SMCR_LLC_PADDED: GID and what follows */

	/* ADD LINK CONTINUATION */
	OFF_AC_LINK_NUM	= 4,
	OFF_AC_N	= 5,
	OFF_AC_PAIR	= 8,
	PAIR_LEN	= 16,

	/* DELETE LINK */
	OFF_DL_LINK_NUM	= 4,
	OFF_DL_REASON	= 5,

	/* CONFIRM RKEY and its CONTINUATION (I-09: entries of 13 bytes) */
	OFF_CR_N	= 4,
	OFF_CR_RKEY	= 5,
	OFF_CR_VA	= 9,
	OFF_CR_OTHER	= 17,
	OFF_CC_OTHER	= 5,
	ENTRY_LEN	= 13,

	/* TEST LINK */
	OFF_TL_DATA	= 4,

	/* DELETE RKEY */
	OFF_DR_COUNT	= 4,
	OFF_DR_MASK	= 5,
	OFF_DR_RKEY	= 8,
};

/* Byte 3 */
enum {
	FLAG_REPLY		= 0x80,
	FLAG_ADD_REJECTED	= 0x40,	/* Z of ADD LINK */
	FLAG_DEL_ALL		= 0x40,	/* A */
	FLAG_DEL_ORDERLY	= 0x20,	/* O */
	FLAG_RKEY_NEGATIVE	= 0x20,	/* Z of the RKEY messages */
	FLAG_RKEY_RETRY		= 0x10,	/* C of CONFIRM RKEY */
	FLAG_NO_EYE_CATCHER	= 0x03,	/* either bit, not RFC: see llc.h */
};

enum {
	OTHER_FIRST	= 2,	/* entries in CONFIRM RKEY */
	OTHER_CONT	= 3,	/* entries in its CONTINUATION */
	/* I-08: eight symmetric links and an asymmetric one, less ours */
	OTHER_MAX	= SMCR_LINKS_MAX,
	DELETE_RKEY_MAX	= 8,
};

static_assert(OFF_AC_PAIR + 2 * PAIR_LEN + 4 == SMCR_WR_LEN);
static_assert(OFF_CR_OTHER + OTHER_FIRST * ENTRY_LEN + 1 == SMCR_WR_LEN);
static_assert(OFF_CC_OTHER + OTHER_CONT * ENTRY_LEN == SMCR_WR_LEN);
static_assert(OFF_DR_RKEY + DELETE_RKEY_MAX * 4 + 4 == SMCR_WR_LEN);

static int reject(enum smcr_reason *why, enum smcr_reason reason)
{
	*why = reason;
	return -EPROTO;
}

/* A bad link number has an answer of its own in first contact (LLC-21) */
static int decode_confirm_link(const u8 *buf, struct smcr_llc_confirm_link *out)
{
	memcpy(out->mac, buf + OFF_MAC, sizeof(out->mac));
	memcpy(out->gid, buf + OFF_GID, sizeof(out->gid));
	out->qpn = smcr_get_be24(buf + OFF_QPN);
	out->link_num = buf[OFF_LINK_NUM];
	out->user_id = smcr_get_be32(buf + OFF_CL_USER_ID);
	out->max_links = buf[OFF_CL_MAX];
	out->no_eye_catcher = buf[OFF_FLAGS] & FLAG_NO_EYE_CATCHER;
	return 0;
}

/*
 * A client's notice has neither QP nor link number (I-14), a refusal nothing
 * that matters but its reason (I-49). Whether a request is a notice or an
 * offer follows from the roles: lgr_fsm.c looks at what an offer has to say.
 */
static int decode_add_link(const u8 *buf, bool reply, enum smcr_llc_form form,
			   struct smcr_llc_add_link *out,
			   enum smcr_reason *why)
{
	bool rejected = reply && (buf[OFF_FLAGS] & FLAG_ADD_REJECTED);
	const u8 *p = form == SMCR_LLC_PADDED ? buf + AL_PAD : buf;

	if (reply && !rejected &&
	    (!p[OFF_LINK_NUM] || !smcr_get_be24(p + OFF_QPN) ||
	     smcr_bytes_zero(p + OFF_GID, sizeof(out->gid))))
		return reject(why, SMCR_R_LLC_VALUE);

	out->rejected = rejected;
	out->reject_reason = rejected ? buf[OFF_REASON] & 0x0f : 0;
	memcpy(out->mac, buf + OFF_MAC, sizeof(out->mac));
	memcpy(out->gid, p + OFF_GID, sizeof(out->gid));
	out->qpn = smcr_get_be24(p + OFF_QPN);
	out->link_num = p[OFF_LINK_NUM];
	out->mtu = p[OFF_AL_MTU] & 0x0f;
	out->psn = smcr_get_be24(p + OFF_AL_PSN);
	return 0;
}

static int decode_add_link_cont(const u8 *buf,
				struct smcr_llc_add_link_cont *out,
				enum smcr_reason *why)
{
	u32 n = min_t(u32, buf[OFF_AC_N], ARRAY_SIZE(out->pair));
	u32 i;

	if (!buf[OFF_AC_LINK_NUM])
		return reject(why, SMCR_R_LLC_VALUE);
	/* LLC-40: announced, but not there */
	for (i = 0; i < n; i++)
		if (smcr_bytes_zero(buf + OFF_AC_PAIR + i * PAIR_LEN, PAIR_LEN))
			return reject(why, SMCR_R_LLC_COUNT);

	out->link_num = buf[OFF_AC_LINK_NUM];
	out->n_rtokens = buf[OFF_AC_N];
	for (i = 0; i < n; i++) {
		const u8 *p = buf + OFF_AC_PAIR + i * PAIR_LEN;

		out->pair[i].ref_rkey = smcr_get_be32(p);
		out->pair[i].new_rkey = smcr_get_be32(p + 4);
		out->pair[i].new_va = smcr_get_be64(p + 8);
	}
	return 0;
}

/* Any link number will do: an unknown one has an answer of its own (LLC-49). */
static int decode_delete_link(const u8 *buf, struct smcr_llc_delete_link *out)
{
	out->all = buf[OFF_FLAGS] & FLAG_DEL_ALL;
	out->orderly = buf[OFF_FLAGS] & FLAG_DEL_ORDERLY;
	out->link_num = out->all ? 0 : buf[OFF_DL_LINK_NUM];
	out->reason = smcr_get_be32(buf + OFF_DL_REASON);
	return 0;
}

/* The first @n entries of the array at @p; link number 0 cannot be (I-16) */
static int decode_entries(const u8 *p, u32 n, struct smcr_llc_rkey_entry *out,
			  enum smcr_reason *why)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!p[i * ENTRY_LEN])
			return reject(why, SMCR_R_LLC_VALUE);

	for (i = 0; i < n; i++, p += ENTRY_LEN) {
		out[i].link_num = p[0];
		out[i].rkey = smcr_get_be32(p + 1);
		out[i].va = smcr_get_be64(p + 5);
	}
	return 0;
}

static int decode_confirm_rkey(const u8 *buf, bool reply,
			       struct smcr_llc_confirm_rkey *out,
			       enum smcr_reason *why)
{
	u32 n = buf[OFF_CR_N];

	if (n > OTHER_MAX)
		return reject(why, SMCR_R_LLC_VALUE);

	out->negative = reply && (buf[OFF_FLAGS] & FLAG_RKEY_NEGATIVE);
	out->retry = out->negative && (buf[OFF_FLAGS] & FLAG_RKEY_RETRY);
	out->n_other = n;
	out->rkey = smcr_get_be32(buf + OFF_CR_RKEY);
	out->va = smcr_get_be64(buf + OFF_CR_VA);
	return decode_entries(buf + OFF_CR_OTHER, min_t(u32, n, OTHER_FIRST),
			      out->other, why);
}

static int decode_confirm_rkey_cont(const u8 *buf, bool reply,
				    struct smcr_llc_confirm_rkey_cont *out,
				    enum smcr_reason *why)
{
	u32 n = buf[OFF_CR_N];

	if (!n || n > OTHER_MAX - OTHER_FIRST)
		return reject(why, SMCR_R_LLC_VALUE);

	out->negative = reply && (buf[OFF_FLAGS] & FLAG_RKEY_NEGATIVE);
	out->n_left = n;
	return decode_entries(buf + OFF_CC_OTHER, min_t(u32, n, OTHER_CONT),
			      out->other, why);
}

/* The bits of an error mask that stand for one of @count RKeys */
static u8 rkey_mask(u32 count)
{
	return (u8)(0xff << (DELETE_RKEY_MAX - count));
}

static int decode_delete_rkey(const u8 *buf, bool reply,
			      struct smcr_llc_delete_rkey *out,
			      enum smcr_reason *why)
{
	u32 n = buf[OFF_DR_COUNT];
	u32 i;

	if (!n || n > DELETE_RKEY_MAX)
		return reject(why, SMCR_R_LLC_VALUE);

	out->negative = reply && (buf[OFF_FLAGS] & FLAG_RKEY_NEGATIVE);
	out->count = n;
	if (out->negative)
		out->error_mask = buf[OFF_DR_MASK] & rkey_mask(n);
	for (i = 0; i < n; i++)
		out->rkey[i] = smcr_get_be32(buf + OFF_DR_RKEY + i * 4);
	return 0;
}

static int decode_body(const u8 *buf, enum smcr_llc_form form,
		       struct smcr_llc *out, enum smcr_reason *why)
{
	switch (out->type) {
	case SMCR_LLC_CONFIRM_LINK:
		return decode_confirm_link(buf, &out->confirm_link);
	case SMCR_LLC_ADD_LINK:
		return decode_add_link(buf, out->reply, form, &out->add_link,
				       why);
	case SMCR_LLC_ADD_LINK_CONT:
		return decode_add_link_cont(buf, &out->add_link_cont, why);
	case SMCR_LLC_DELETE_LINK:
		return decode_delete_link(buf, &out->delete_link);
	case SMCR_LLC_CONFIRM_RKEY:
		return decode_confirm_rkey(buf, out->reply, &out->confirm_rkey,
					   why);
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		return decode_confirm_rkey_cont(buf, out->reply,
						&out->confirm_rkey_cont, why);
	case SMCR_LLC_DELETE_RKEY:
		return decode_delete_rkey(buf, out->reply, &out->delete_rkey,
					  why);
	default: /* SMCR_LLC_TEST_LINK */
		memcpy(out->test_link.data, buf + OFF_TL_DATA,
		       sizeof(out->test_link.data));
		return 0;
	}
}

/**
 * smcr_llc_decode() - decode one message received on a link
 * @buf: bytes of the SEND
 * @len: number of bytes that arrived
 * @form: of ADD LINK on that link
 * @out: filled on success
 * @why: reason, set on every error
 *
 * Return: 0; -ENOMSG for an unknown optional opcode, to be dropped silently
 * (LLC-06); -EPROTO for anything that means link failure (LLC-07, LLC-08,
 * MISC-13). CDC (type 0xFE) is not decoded here: see smcr_wr_is_cdc().
 */
int smcr_llc_decode(const u8 *buf, size_t len, enum smcr_llc_form form,
		    struct smcr_llc *out, enum smcr_reason *why)
{
	if (len != SMCR_WR_LEN)
		return reject(why, SMCR_R_LLC_LENGTH);

	switch (buf[OFF_TYPE]) {
	case SMCR_LLC_CONFIRM_LINK:
	case SMCR_LLC_ADD_LINK:
	case SMCR_LLC_ADD_LINK_CONT:
	case SMCR_LLC_DELETE_LINK:
	case SMCR_LLC_CONFIRM_RKEY:
	case SMCR_LLC_TEST_LINK:
	case SMCR_LLC_CONFIRM_RKEY_CONT:
	case SMCR_LLC_DELETE_RKEY:
		break;
	default:
		/* classes are in the top two bits; only 10 may be unknown */
		if ((buf[OFF_TYPE] & 0xc0) != 0x80)
			return reject(why, SMCR_R_LLC_OPCODE);
		*why = SMCR_R_LLC_OPTIONAL;
		return -ENOMSG;
	}
	if (buf[OFF_LENGTH] != SMCR_WR_LEN)
		return reject(why, SMCR_R_LLC_LENGTH);

	memset(out, 0, sizeof(*out));
	out->type = buf[OFF_TYPE];
	out->reply = buf[OFF_FLAGS] & FLAG_REPLY;
	return decode_body(buf, form, out, why);
}

static void encode_confirm_link(const struct smcr_llc_confirm_link *in,
				u8 *buf)
{
	memcpy(buf + OFF_MAC, in->mac, sizeof(in->mac));
	memcpy(buf + OFF_GID, in->gid, sizeof(in->gid));
	smcr_put_be24(buf + OFF_QPN, in->qpn);
	buf[OFF_LINK_NUM] = in->link_num;
	smcr_put_be32(buf + OFF_CL_USER_ID, in->user_id);
	buf[OFF_CL_MAX] = in->max_links;
	if (in->no_eye_catcher)
		buf[OFF_FLAGS] |= FLAG_NO_EYE_CATCHER;
}

static void encode_add_link(const struct smcr_llc_add_link *in, bool reply,
			    enum smcr_llc_form form, u8 *buf)
{
	u8 *p = form == SMCR_LLC_PADDED ? buf + AL_PAD : buf;

	if (reply && in->rejected) {
		buf[OFF_FLAGS] |= FLAG_ADD_REJECTED;
		buf[OFF_REASON] = in->reject_reason & 0x0f;
	}
	memcpy(buf + OFF_MAC, in->mac, sizeof(in->mac));
	memcpy(p + OFF_GID, in->gid, sizeof(in->gid));
	smcr_put_be24(p + OFF_QPN, in->qpn);
	p[OFF_LINK_NUM] = in->link_num;
	p[OFF_AL_MTU] = in->mtu & 0x0f;
	smcr_put_be24(p + OFF_AL_PSN, in->psn);
}

static void encode_add_link_cont(const struct smcr_llc_add_link_cont *in,
				 u8 *buf)
{
	u32 n = min_t(u32, in->n_rtokens, ARRAY_SIZE(in->pair));
	u32 i;

	buf[OFF_AC_LINK_NUM] = in->link_num;
	buf[OFF_AC_N] = in->n_rtokens;
	for (i = 0; i < n; i++) {
		u8 *p = buf + OFF_AC_PAIR + i * PAIR_LEN;

		smcr_put_be32(p, in->pair[i].ref_rkey);
		smcr_put_be32(p + 4, in->pair[i].new_rkey);
		smcr_put_be64(p + 8, in->pair[i].new_va);
	}
}

static void encode_delete_link(const struct smcr_llc_delete_link *in, u8 *buf)
{
	if (in->all)
		buf[OFF_FLAGS] |= FLAG_DEL_ALL;
	else
		buf[OFF_DL_LINK_NUM] = in->link_num;
	if (in->orderly)
		buf[OFF_FLAGS] |= FLAG_DEL_ORDERLY;
	smcr_put_be32(buf + OFF_DL_REASON, in->reason);
}

static void encode_entries(const struct smcr_llc_rkey_entry *in, u32 n, u8 *p)
{
	u32 i;

	for (i = 0; i < n; i++, p += ENTRY_LEN) {
		p[0] = in[i].link_num;
		smcr_put_be32(p + 1, in[i].rkey);
		smcr_put_be64(p + 5, in[i].va);
	}
}

static void encode_confirm_rkey(const struct smcr_llc_confirm_rkey *in,
				bool reply, u8 *buf)
{
	if (reply && in->negative) {
		buf[OFF_FLAGS] |= FLAG_RKEY_NEGATIVE;
		if (in->retry)
			buf[OFF_FLAGS] |= FLAG_RKEY_RETRY;
	}
	buf[OFF_CR_N] = in->n_other;
	smcr_put_be32(buf + OFF_CR_RKEY, in->rkey);
	smcr_put_be64(buf + OFF_CR_VA, in->va);
	encode_entries(in->other, min_t(u32, in->n_other, OTHER_FIRST),
		       buf + OFF_CR_OTHER);
}

static void
encode_confirm_rkey_cont(const struct smcr_llc_confirm_rkey_cont *in,
			 bool reply, u8 *buf)
{
	if (reply && in->negative)
		buf[OFF_FLAGS] |= FLAG_RKEY_NEGATIVE;
	buf[OFF_CR_N] = in->n_left;
	encode_entries(in->other, min_t(u32, in->n_left, OTHER_CONT),
		       buf + OFF_CC_OTHER);
}

static void encode_delete_rkey(const struct smcr_llc_delete_rkey *in,
			       bool reply, u8 *buf)
{
	u32 n = min_t(u32, in->count, DELETE_RKEY_MAX);
	u32 i;

	buf[OFF_DR_COUNT] = n;
	if (reply && in->negative) {
		buf[OFF_FLAGS] |= FLAG_RKEY_NEGATIVE;
		buf[OFF_DR_MASK] = in->error_mask & rkey_mask(n);
	}
	for (i = 0; i < n; i++)
		smcr_put_be32(buf + OFF_DR_RKEY + i * 4, in->rkey[i]);
}

/**
 * smcr_llc_encode() - encode one message
 * @in: message; must be one that smcr_llc_decode() accepts
 * @form: of ADD LINK on that link
 * @buf: SMCR_WR_LEN bytes, wholly written
 */
void smcr_llc_encode(const struct smcr_llc *in, enum smcr_llc_form form,
		     u8 buf[SMCR_WR_LEN])
{
	memset(buf, 0, SMCR_WR_LEN);
	buf[OFF_TYPE] = in->type;
	buf[OFF_LENGTH] = SMCR_WR_LEN;
	buf[OFF_FLAGS] = in->reply ? FLAG_REPLY : 0;

	switch (in->type) {
	case SMCR_LLC_CONFIRM_LINK:
		encode_confirm_link(&in->confirm_link, buf);
		break;
	case SMCR_LLC_ADD_LINK:
		encode_add_link(&in->add_link, in->reply, form, buf);
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		encode_add_link_cont(&in->add_link_cont, buf);
		break;
	case SMCR_LLC_DELETE_LINK:
		encode_delete_link(&in->delete_link, buf);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		encode_confirm_rkey(&in->confirm_rkey, in->reply, buf);
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		encode_confirm_rkey_cont(&in->confirm_rkey_cont, in->reply,
					 buf);
		break;
	case SMCR_LLC_DELETE_RKEY:
		encode_delete_rkey(&in->delete_rkey, in->reply, buf);
		break;
	case SMCR_LLC_TEST_LINK:
		memcpy(buf + OFF_TL_DATA, in->test_link.data,
		       sizeof(in->test_link.data));
		break;
	}
}

/**
 * smcr_rtoken_count_step() - check NumRTokens of one more message (LLC-38)
 * @c: count of this direction, zeroed before the exchange
 * @n_rtokens: from the message
 *
 * @c->left is then what later messages of this direction still bring. A side
 * that has announced all keeps sending 0 for as long as the other one has not
 * (LLC-39).
 *
 * Return: 0, or -EPROTO when the count does not continue the earlier ones
 * (LLC-40); @c is untouched then.
 */
int smcr_rtoken_count_step(struct smcr_rtoken_count *c, u8 n_rtokens)
{
	if (c->started && n_rtokens != c->left)
		return -EPROTO;
	c->started = true;
	c->left = n_rtokens > 2 ? n_rtokens - 2 : 0;
	return 0;
}
