// SPDX-License-Identifier: GPL-2.0-only
/* LLC codec, RFC 7609 A.3. See llc.h. */
#include "byteio.h"
#include "env.h"
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
	AL_PAD		= 2,	/* SMCR_LLC_PADDED: zeros inserted before GID */
	AL_PADDED_LEN	= OFF_AL_PSN + 3 - OFF_GID,

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

/* Flags in byte 3 */
enum {
	FLAG_REPLY		= 0x80,
	FLAG_ADD_REJECTED	= 0x40,	/* Z of ADD LINK */
	FLAG_DEL_ALL		= 0x40,	/* A */
	FLAG_DEL_ORDERLY	= 0x20,	/* O */
	FLAG_RKEY_NEGATIVE	= 0x20,	/* Z of the RKEY messages */
	FLAG_RKEY_RETRY		= 0x10,	/* C of CONFIRM RKEY */
	FLAG_NO_EYE_CATCHER	= 0x03,	/* either bit; not in RFC: see llc.h */
};

enum {
	OTHER_FIRST	= 2,	/* entries in CONFIRM RKEY */
	OTHER_CONT	= 3,	/* entries in its CONTINUATION */
	/* I-08: 8 symmetric links and 1 asymmetric, minus the carrying link */
	OTHER_MAX	= SMCR_LINKS_MAX,
	DELETE_RKEY_MAX	= 8,
};

static_assert(OFF_AC_PAIR + 2 * PAIR_LEN + 4 == SMCR_WR_LEN);
static_assert(OFF_CR_OTHER + OTHER_FIRST * ENTRY_LEN + 1 == SMCR_WR_LEN);
static_assert(OFF_CC_OTHER + OTHER_CONT * ENTRY_LEN == SMCR_WR_LEN);
static_assert(OFF_DR_RKEY + DELETE_RKEY_MAX * 4 + 4 == SMCR_WR_LEN);

/*
 * The link number is not checked here, as an error here makes the link fail. In
 * first contact a Decline follows instead, so the state machine checks it
 * (LLC-21).
 */
static enum smcr_reason decode_confirm_link(const u8 *buf, struct smcr_llc *m)
{
	struct smcr_llc_confirm_link *out = &m->confirm_link;

	memcpy(out->mac, buf + OFF_MAC, sizeof(out->mac));
	memcpy(out->gid, buf + OFF_GID, sizeof(out->gid));
	out->qpn = smcr_get_be24(buf + OFF_QPN);
	out->link_num = buf[OFF_LINK_NUM];
	out->user_id = smcr_get_be32(buf + OFF_CL_USER_ID);
	out->max_links = buf[OFF_CL_MAX];
	out->no_eye_catcher = buf[OFF_FLAGS] & FLAG_NO_EYE_CATCHER;
	return SMCR_R_NONE;
}

/*
 * Only a reply that accepts is checked here. In a refusal only the reason
 * matters (I-49). A request is a client's notice or a server's offer. A notice
 * reports an RNIC and has neither QP nor link number (I-14). A decoder does not
 * know which host is the server, so lgr_fsm.c checks the fields of an offer.
 */
static enum smcr_reason decode_add_link(const u8 *buf, struct smcr_llc *m)
{
	struct smcr_llc_add_link *out = &m->add_link;
	bool rejected = m->reply && (buf[OFF_FLAGS] & FLAG_ADD_REJECTED);

	if (m->reply && !rejected &&
	    (!buf[OFF_LINK_NUM] || !smcr_get_be24(buf + OFF_QPN) ||
	     smcr_bytes_zero(buf + OFF_GID, sizeof(out->gid))))
		return SMCR_R_LLC_VALUE;

	out->rejected = rejected;
	out->reject_reason = rejected ? buf[OFF_REASON] & 0x0f : 0;
	memcpy(out->mac, buf + OFF_MAC, sizeof(out->mac));
	memcpy(out->gid, buf + OFF_GID, sizeof(out->gid));
	out->qpn = smcr_get_be24(buf + OFF_QPN);
	out->link_num = buf[OFF_LINK_NUM];
	out->mtu = buf[OFF_AL_MTU] & 0x0f;
	out->psn = smcr_get_be24(buf + OFF_AL_PSN);
	return SMCR_R_NONE;
}

static enum smcr_reason decode_add_link_cont(const u8 *buf, struct smcr_llc *m)
{
	struct smcr_llc_add_link_cont *out = &m->add_link_cont;
	u32 n = min_t(u32, buf[OFF_AC_N], ARRAY_SIZE(out->pair));
	u32 i;

	if (!buf[OFF_AC_LINK_NUM])
		return SMCR_R_LLC_VALUE;
	/* LLC-40: an RToken that n_rtokens counts must not be all zeros */
	for (i = 0; i < n; i++)
		if (smcr_bytes_zero(buf + OFF_AC_PAIR + i * PAIR_LEN, PAIR_LEN))
			return SMCR_R_LLC_COUNT;

	out->link_num = buf[OFF_AC_LINK_NUM];
	out->n_rtokens = buf[OFF_AC_N];
	for (i = 0; i < n; i++) {
		const u8 *p = buf + OFF_AC_PAIR + i * PAIR_LEN;

		out->pair[i].ref_rkey = smcr_get_be32(p);
		out->pair[i].new_rkey = smcr_get_be32(p + 4);
		out->pair[i].new_va = smcr_get_be64(p + 8);
	}
	return SMCR_R_NONE;
}

/* Any link number is valid; an unknown one leads to a reply (LLC-49) */
static enum smcr_reason decode_delete_link(const u8 *buf, struct smcr_llc *m)
{
	struct smcr_llc_delete_link *out = &m->delete_link;

	out->all = buf[OFF_FLAGS] & FLAG_DEL_ALL;
	out->orderly = buf[OFF_FLAGS] & FLAG_DEL_ORDERLY;
	out->link_num = out->all ? 0 : buf[OFF_DL_LINK_NUM];
	out->reason = smcr_get_be32(buf + OFF_DL_REASON);
	return SMCR_R_NONE;
}

/* Decode @n entries of the array at @p; link number 0 is an error (I-16) */
static enum smcr_reason decode_entries(const u8 *p, u32 n,
				       struct smcr_llc_rkey_entry *out)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!p[i * ENTRY_LEN])
			return SMCR_R_LLC_VALUE;

	for (i = 0; i < n; i++, p += ENTRY_LEN) {
		out[i].link_num = p[0];
		out[i].rkey = smcr_get_be32(p + 1);
		out[i].va = smcr_get_be64(p + 5);
	}
	return SMCR_R_NONE;
}

static enum smcr_reason decode_confirm_rkey(const u8 *buf, struct smcr_llc *m)
{
	struct smcr_llc_confirm_rkey *out = &m->confirm_rkey;
	u32 n = buf[OFF_CR_N];

	if (n > OTHER_MAX)
		return SMCR_R_LLC_VALUE;

	out->negative = m->reply && (buf[OFF_FLAGS] & FLAG_RKEY_NEGATIVE);
	out->retry = out->negative && (buf[OFF_FLAGS] & FLAG_RKEY_RETRY);
	out->n_other = n;
	out->rkey = smcr_get_be32(buf + OFF_CR_RKEY);
	out->va = smcr_get_be64(buf + OFF_CR_VA);
	return decode_entries(buf + OFF_CR_OTHER, min_t(u32, n, OTHER_FIRST),
			      out->other);
}

static enum smcr_reason decode_confirm_rkey_cont(const u8 *buf, struct smcr_llc *m)
{
	struct smcr_llc_confirm_rkey_cont *out = &m->confirm_rkey_cont;
	u32 n = buf[OFF_CR_N];

	if (!n || n > OTHER_MAX - OTHER_FIRST)
		return SMCR_R_LLC_VALUE;

	out->negative = m->reply && (buf[OFF_FLAGS] & FLAG_RKEY_NEGATIVE);
	out->n_left = n;
	return decode_entries(buf + OFF_CC_OTHER, min_t(u32, n, OTHER_CONT),
			      out->other);
}

/* The bits of an error mask that stand for the first @count RKeys */
static u8 rkey_mask(u32 count)
{
	return (u8)(0xff << (DELETE_RKEY_MAX - count));
}

static enum smcr_reason decode_delete_rkey(const u8 *buf, struct smcr_llc *m)
{
	struct smcr_llc_delete_rkey *out = &m->delete_rkey;
	u32 n = buf[OFF_DR_COUNT];
	u32 i;

	if (!n || n > DELETE_RKEY_MAX)
		return SMCR_R_LLC_VALUE;

	out->negative = m->reply && (buf[OFF_FLAGS] & FLAG_RKEY_NEGATIVE);
	out->count = n;
	if (out->negative)
		out->error_mask = buf[OFF_DR_MASK] & rkey_mask(n);
	for (i = 0; i < n; i++)
		out->rkey[i] = smcr_get_be32(buf + OFF_DR_RKEY + i * 4);
	return SMCR_R_NONE;
}

static enum smcr_reason decode_test_link(const u8 *buf, struct smcr_llc *m)
{
	memcpy(m->test_link.data, buf + OFF_TL_DATA, sizeof(m->test_link.data));
	return SMCR_R_NONE;
}

static void encode_confirm_link(const struct smcr_llc *m, u8 *buf)
{
	const struct smcr_llc_confirm_link *in = &m->confirm_link;

	memcpy(buf + OFF_MAC, in->mac, sizeof(in->mac));
	memcpy(buf + OFF_GID, in->gid, sizeof(in->gid));
	smcr_put_be24(buf + OFF_QPN, in->qpn);
	buf[OFF_LINK_NUM] = in->link_num;
	smcr_put_be32(buf + OFF_CL_USER_ID, in->user_id);
	buf[OFF_CL_MAX] = in->max_links;
	if (in->no_eye_catcher)
		buf[OFF_FLAGS] |= FLAG_NO_EYE_CATCHER;
}

static void encode_add_link(const struct smcr_llc *m, u8 *buf)
{
	const struct smcr_llc_add_link *in = &m->add_link;

	if (m->reply && in->rejected) {
		buf[OFF_FLAGS] |= FLAG_ADD_REJECTED;
		buf[OFF_REASON] = in->reject_reason & 0x0f;
	}
	memcpy(buf + OFF_MAC, in->mac, sizeof(in->mac));
	memcpy(buf + OFF_GID, in->gid, sizeof(in->gid));
	smcr_put_be24(buf + OFF_QPN, in->qpn);
	buf[OFF_LINK_NUM] = in->link_num;
	buf[OFF_AL_MTU] = in->mtu & 0x0f;
	smcr_put_be24(buf + OFF_AL_PSN, in->psn);
}

static void encode_add_link_cont(const struct smcr_llc *m, u8 *buf)
{
	const struct smcr_llc_add_link_cont *in = &m->add_link_cont;
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

static void encode_delete_link(const struct smcr_llc *m, u8 *buf)
{
	const struct smcr_llc_delete_link *in = &m->delete_link;

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

static void encode_confirm_rkey(const struct smcr_llc *m, u8 *buf)
{
	const struct smcr_llc_confirm_rkey *in = &m->confirm_rkey;

	if (m->reply && in->negative) {
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

static void encode_confirm_rkey_cont(const struct smcr_llc *m, u8 *buf)
{
	const struct smcr_llc_confirm_rkey_cont *in = &m->confirm_rkey_cont;

	if (m->reply && in->negative)
		buf[OFF_FLAGS] |= FLAG_RKEY_NEGATIVE;
	buf[OFF_CR_N] = in->n_left;
	encode_entries(in->other, min_t(u32, in->n_left, OTHER_CONT),
		       buf + OFF_CC_OTHER);
}

static void encode_delete_rkey(const struct smcr_llc *m, u8 *buf)
{
	const struct smcr_llc_delete_rkey *in = &m->delete_rkey;
	u32 n = min_t(u32, in->count, DELETE_RKEY_MAX);
	u32 i;

	buf[OFF_DR_COUNT] = n;
	if (m->reply && in->negative) {
		buf[OFF_FLAGS] |= FLAG_RKEY_NEGATIVE;
		buf[OFF_DR_MASK] = in->error_mask & rkey_mask(n);
	}
	for (i = 0; i < n; i++)
		smcr_put_be32(buf + OFF_DR_RKEY + i * 4, in->rkey[i]);
}

static void encode_test_link(const struct smcr_llc *m, u8 *buf)
{
	memcpy(buf + OFF_TL_DATA, m->test_link.data, sizeof(m->test_link.data));
}

/*
 * Codec of one type of message.
 *
 * Adding one: change these places.
 * - Codec: SMCR_LLC_TYPES in proto.h; its struct in struct smcr_llc; a row of
 *   codecs[]
 * - Processing: a row of at_server[] and one of at_client[] in
 *   lgr_fsm_verdict.c; a case of request_do() in lgr_fsm.c; what lgr_exec.c
 *   checks or fills in
 * - Tests: rnd_llc() of selftests/unit/msgs.h; reserved() of test_llc.c; golden
 *   messages in vectors.h; lgr_rows.h
 * - Simulated devices and peers: RS_MSGS of rnicsim/faults.h (then run
 *   scripts/docs-tables); llc_types[] of puppet_smc.c
 * - Programs that show messages: LLC_NAMES of selftests/lib/wire.py;
 *   lab/lib/explain/names.py
 * - Documentation: the section "What crosses" of llc.rst
 *
 * If one is forgotten, the compiler, test_llc, test_lgr_fsm_bad or test_lib.py
 * fails. Nothing checks lgr_exec.c, lgr_rows.h, names.py and llc.rst.
 */
struct llc_codec {
	enum smcr_reason (*decode)(const u8 *buf, struct smcr_llc *m);
	void (*encode)(const struct smcr_llc *m, u8 *buf);
};

static const struct llc_codec codecs[] = {
	[SMCR_LLC_CONFIRM_LINK]	= { decode_confirm_link, encode_confirm_link },
	[SMCR_LLC_ADD_LINK]	= { decode_add_link, encode_add_link },
	[SMCR_LLC_ADD_LINK_CONT] = { decode_add_link_cont, encode_add_link_cont },
	[SMCR_LLC_DELETE_LINK]	= { decode_delete_link, encode_delete_link },
	[SMCR_LLC_CONFIRM_RKEY]	= { decode_confirm_rkey, encode_confirm_rkey },
	[SMCR_LLC_TEST_LINK]	= { decode_test_link, encode_test_link },
	[SMCR_LLC_CONFIRM_RKEY_CONT] = { decode_confirm_rkey_cont,
					 encode_confirm_rkey_cont },
	[SMCR_LLC_DELETE_RKEY]	= { decode_delete_rkey, encode_delete_rkey },
};

/* The codec of a type; NULL: there is no such type */
static const struct llc_codec *codec_of(u8 type)
{
	if (type >= ARRAY_SIZE(codecs) || !codecs[type].decode)
		return NULL;
	return &codecs[type];
}

/**
 * smcr_llc_decode() - decode one message received on a link
 * @buf: bytes of the SEND
 * @len: number of bytes that arrived
 * @form: form of ADD LINK on that link
 * @out: filled on success
 * @why: set in any case: reason of the error; SMCR_R_NONE: there is none
 *
 * Return: 0; -ENOMSG for an unknown optional opcode, to be dropped silently
 * (LLC-06); -EPROTO for an error by which the link fails (LLC-07, LLC-08,
 * MISC-13). CDC (type 0xFE) is not decoded here: see smcr_wr_is_cdc().
 */
int smcr_llc_decode(const u8 *buf, size_t len, enum smcr_llc_form form,
		    struct smcr_llc *out, enum smcr_reason *why)
{
	const struct llc_codec *codec;
	u8 rfc[SMCR_WR_LEN];

	*why = SMCR_R_LLC_LENGTH;
	if (len != SMCR_WR_LEN)
		return -EPROTO;
	codec = codec_of(buf[OFF_TYPE]);
	if (!codec) {
		/* unknown opcodes are optional if their top two bits are 10 */
		if ((buf[OFF_TYPE] & 0xc0) == 0x80) {
			*why = SMCR_R_LLC_OPTIONAL;
			return -ENOMSG;
		}
		*why = SMCR_R_LLC_OPCODE;
		return -EPROTO;
	}
	if (buf[OFF_LENGTH] != SMCR_WR_LEN)
		return -EPROTO;

	memset(out, 0, sizeof(*out));
	out->type = buf[OFF_TYPE];
	out->reply = buf[OFF_FLAGS] & FLAG_REPLY;
	if (form == SMCR_LLC_PADDED && out->type == SMCR_LLC_ADD_LINK) {
		memcpy(rfc, buf, sizeof(rfc));
		memcpy(rfc + OFF_GID, buf + OFF_GID + AL_PAD, AL_PADDED_LEN);
		buf = rfc;
	}
	*why = codec->decode(buf, out);
	return *why == SMCR_R_NONE ? 0 : -EPROTO;
}

/**
 * smcr_llc_encode() - encode one message
 * @in: message; must be one that smcr_llc_decode() accepts
 * @form: form of ADD LINK on that link
 * @buf: SMCR_WR_LEN bytes, all of which are written
 */
void smcr_llc_encode(const struct smcr_llc *in, enum smcr_llc_form form,
		     u8 buf[SMCR_WR_LEN])
{
	const struct llc_codec *codec = codec_of(in->type);

	memset(buf, 0, SMCR_WR_LEN);
	buf[OFF_TYPE] = in->type;
	buf[OFF_LENGTH] = SMCR_WR_LEN;
	buf[OFF_FLAGS] = in->reply ? FLAG_REPLY : 0;
	if (codec)
		codec->encode(in, buf);
	if (form == SMCR_LLC_PADDED && in->type == SMCR_LLC_ADD_LINK) {
		memmove(buf + OFF_GID + AL_PAD, buf + OFF_GID, AL_PADDED_LEN);
		memset(buf + OFF_GID, 0, AL_PAD);
	}
}

/**
 * smcr_rtoken_count_step() - check NumRTokens of one more message (LLC-38)
 * @c: count of this direction, zeroed before the exchange
 * @n_rtokens: from the message
 *
 * Afterwards @c->left is the number of RTokens that later messages of this
 * direction have to bring. A side that has sent all its RTokens sends messages
 * without RTokens as long as the other side has more (LLC-39).
 *
 * Return: 0, or -EPROTO if @n_rtokens is not the number that is left (LLC-40);
 * then @c is not changed.
 */
int smcr_rtoken_count_step(struct smcr_rtoken_count *c, u8 n_rtokens)
{
	if (c->started && n_rtokens != c->left)
		return -EPROTO;
	c->started = true;
	c->left = n_rtokens > 2 ? n_rtokens - 2 : 0;
	return 0;
}
