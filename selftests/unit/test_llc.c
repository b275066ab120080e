// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/llc.c: the LLC codec, RFC 7609 A.3. */
#include "msgs.h"

enum { ROUNDS = 20000 };

static const u8 gs[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0x05, 0x01 };
static const u8 gc[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0x0c, 0x01 };
static const u8 gs2[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0x05, 0x02 };
static const u8 gc2[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0x0c, 0x02 };
static const u8 ms[6] = { 2, 0, 0, 0, 0x05, 0x01 };
static const u8 mc[6] = { 2, 0, 0, 0, 0x0c, 0x01 };
static const u8 ms2[6] = { 2, 0, 0, 0, 0x05, 0x02 };
static const u8 mc2[6] = { 2, 0, 0, 0, 0x0c, 0x02 };
static const u8 zero[16];

/* Decode from exactly sized memory; the reason if it was refused */
static enum smcr_reason decode(const u8 *buf, size_t len, struct smcr_llc *out)
{
	enum smcr_reason why = SMCR_R_NONE;
	u8 *copy = exact(buf, len);
	int rc;

	rc = smcr_llc_decode(copy, len, SMCR_LLC_RFC, out, &why);
	exact_free(copy, len);
	EXPECT_EQ(rc, why == SMCR_R_NONE ? 0 :
		      why == SMCR_R_LLC_OPTIONAL ? -ENOMSG : -EPROTO);
	return why;
}

/* Decode a vector, and encode it again to the same bytes */
static struct smcr_llc golden(const char *name)
{
	const struct vector *v = vector(name);
	struct smcr_llc m;
	u8 buf[44];

	ASSERT_EQ(v->len, 44);
	ASSERT_EQ(decode(v->bytes, v->len, &m), SMCR_R_NONE);
	memset(buf, 0xee, sizeof(buf));
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_MEM(buf, v->bytes, 44);
	return m;
}

static bool is_known(int type)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(llc_types); i++)
		if (llc_types[i] == type)
			return true;
	return false;
}

TEST(smcr_llc_decode__length)
{
	struct smcr_llc m;
	u8 buf[100];
	size_t i, len;

	covers("LLC-01");
	for (i = 0; i < ARRAY_SIZE(llc_types); i++) {
		memset(buf, 0, sizeof(buf));
		rnd_llc(&m, llc_types[i]);
		smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
		for (len = 0; len < sizeof(buf); len++)
			EXPECT_EQ(decode(buf, len, &m), len == 44 ?
				  SMCR_R_NONE : SMCR_R_LLC_LENGTH);
		for (len = 0; len < 256; len++) {
			buf[1] = (u8)len;
			EXPECT_EQ(decode(buf, 44, &m), len == 44 ?
				  SMCR_R_NONE : SMCR_R_LLC_LENGTH);
		}
	}
}

TEST(smcr_llc_decode__opcodes)
{
	struct smcr_llc m;
	u8 buf[44] = { 0 };
	int type;

	covers("LLC-06");
	for (type = 0; type < 256; type++) {
		buf[0] = (u8)type;
		buf[1] = 44;
		if (is_known(type))
			continue;
		EXPECT_EQ(decode(buf, 44, &m), type >= 0x80 && type <= 0xbf ?
			  SMCR_R_LLC_OPTIONAL : SMCR_R_LLC_OPCODE);
		/* an optional message may have any form that fits */
		buf[1] = 0;
		EXPECT_EQ(decode(buf, 44, &m), type >= 0x80 && type <= 0xbf ?
			  SMCR_R_LLC_OPTIONAL : SMCR_R_LLC_OPCODE);
	}
}

TEST(smcr_llc_decode__reply_flag)
{
	struct smcr_llc m;
	u8 buf[44];
	size_t i;
	u32 n;

	covers("LLC-02");
	for (i = 0; i < ARRAY_SIZE(llc_types); i++) {
		for (n = 0; n < 20; n++) {
			rnd_llc(&m, llc_types[i]);
			smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
			EXPECT_EQ(buf[0], llc_types[i]);
			EXPECT_EQ(buf[1], 44);
			EXPECT_EQ(!!(buf[3] & 0x80), m.reply);
			ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
			EXPECT_EQ(m.type, buf[0]);
			EXPECT_EQ(m.reply, !!(buf[3] & 0x80));
		}
	}
}

/* Reserved bits of a message of this type and form, catalogue A.7 to A.15 */
static void reserved(const u8 *msg, u8 *mask)
{
	bool reply = msg[3] & 0x80;
	u32 n;

	memset(mask, 0, 44);
	mask[2] = 0xff;
	mask[3] = 0x7f;
	switch (msg[0]) {
	case SMCR_LLC_CONFIRM_LINK:
		mask[3] = 0x7c;	/* 0x03: no eye catcher */
		memset(mask + 35, 0xff, 9);
		break;
	case SMCR_LLC_ADD_LINK:
		mask[2] = msg[3] & 0x40 && reply ? 0xf0 : 0xff;
		mask[3] = reply ? 0x3f : 0x7f;
		mask[30] = 0xf0;
		memset(mask + 34, 0xff, 10);
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		n = min_t(u32, msg[5], 2);
		memset(mask + 6, 0xff, 2);
		memset(mask + 8 + n * 16, 0xff, 36 - n * 16);
		break;
	case SMCR_LLC_DELETE_LINK:
		mask[3] = 0x1f;
		mask[4] = msg[3] & 0x40 ? 0xff : 0;
		memset(mask + 9, 0xff, 35);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		n = min_t(u32, msg[4], 2);
		mask[3] = !reply ? 0x7f : msg[3] & 0x20 ? 0x4f : 0x5f;
		memset(mask + 17 + n * 13, 0xff, 27 - n * 13);
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		n = min_t(u32, msg[4], 3);
		mask[3] = reply ? 0x5f : 0x7f;
		memset(mask + 5 + n * 13, 0xff, 39 - n * 13);
		break;
	case SMCR_LLC_DELETE_RKEY:
		n = msg[4];
		mask[3] = reply ? 0x5f : 0x7f;
		mask[5] = reply && msg[3] & 0x20 ? 0xff >> n : 0xff;
		memset(mask + 6, 0xff, 2);
		memset(mask + 8 + n * 4, 0xff, 36 - n * 4);
		break;
	case SMCR_LLC_TEST_LINK:
		memset(mask + 20, 0xff, 24);
		break;
	default:
		KTAP_CHECK(0, 1, "no reserved bits of type %u", msg[0]);
	}
}

TEST(smcr_llc_decode__reserved_bits)
{
	struct smcr_llc m, ones;
	u8 buf[44], mask[44];
	size_t i, j;
	u32 n;

	covers("LLC-01 LLC-09");
	for (i = 0; i < ARRAY_SIZE(llc_types); i++) {
		for (n = 0; n < 1000; n++) {
			rnd_llc(&m, llc_types[i]);
			smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
			reserved(buf, mask);
			for (j = 0; j < 44; j++) {
				ASSERT_EQ(buf[j] & mask[j], 0);
				buf[j] |= mask[j];
			}
			ASSERT_EQ(decode(buf, 44, &ones), SMCR_R_NONE);
			EXPECT_MEM(&m, &ones, sizeof(m));
		}
	}
}

TEST(smcr_llc_decode__bit_flips)
{
	struct smcr_llc m, again;
	u8 buf[44];
	size_t i, bit;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(llc_types); i++) {
		for (n = 0; n < 20; n++) {
			rnd_llc(&m, llc_types[i]);
			smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
			for (bit = 0; bit < 44 * 8; bit++) {
				u8 enc[44];

				flip(buf, bit);
				if (decode(buf, 44, &m) == SMCR_R_NONE) {
					smcr_llc_encode(&m, SMCR_LLC_RFC, enc);
					EXPECT_EQ(decode(enc, 44, &again),
						  SMCR_R_NONE);
					EXPECT_MEM(&m, &again, sizeof(m));
				}
				flip(buf, bit);
			}
		}
	}
}

TEST(smcr_llc_decode__confirm_link)
{
	struct smcr_llc m = golden("CONFIRM LINK request");
	u8 buf[44];

	EXPECT_EQ(m.type, SMCR_LLC_CONFIRM_LINK);
	EXPECT_EQ(m.reply, false);
	EXPECT_MEM(m.confirm_link.mac, ms, 6);
	EXPECT_MEM(m.confirm_link.gid, gs, 16);
	EXPECT_EQ(m.confirm_link.qpn, 0x111);
	EXPECT_EQ(m.confirm_link.link_num, 1);
	EXPECT_EQ(m.confirm_link.user_id, 0x01020304);
	EXPECT_EQ(m.confirm_link.max_links, 2);
	EXPECT_EQ(m.confirm_link.no_eye_catcher, false);

	m = golden("CONFIRM LINK reply");
	EXPECT_EQ(m.reply, true);
	EXPECT_MEM(m.confirm_link.mac, mc, 6);
	EXPECT_MEM(m.confirm_link.gid, gc, 16);
	EXPECT_EQ(m.confirm_link.qpn, 0x222);
	EXPECT_EQ(m.confirm_link.user_id, 0x0a0b0c0d);

	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	/* a wrong number is left to first contact (LLC-21, LLC-22) */
	buf[29] = 0;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.confirm_link.link_num, 0);
}

TEST(smcr_llc_decode__no_eye_catcher)
{
	struct smcr_llc m = golden("CONFIRM LINK request");
	u8 buf[44];
	int low;

	for (low = 0; low < 4; low++) {
		smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
		buf[3] = (u8)(buf[3] & ~3) | low;
		ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
		EXPECT_EQ(m.confirm_link.no_eye_catcher, low != 0);
		smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
		EXPECT_EQ(buf[3] & 3, low ? 3 : 0);
	}
}

TEST(smcr_llc_decode__add_link)
{
	struct smcr_llc m = golden("ADD LINK request");
	u8 buf[44];

	covers("LLC-08");
	EXPECT_EQ(m.reply, false);
	EXPECT_EQ(m.add_link.rejected, false);
	EXPECT_MEM(m.add_link.mac, ms2, 6);
	EXPECT_MEM(m.add_link.gid, gs2, 16);
	EXPECT_EQ(m.add_link.qpn, 0x112);
	EXPECT_EQ(m.add_link.link_num, 2);
	EXPECT_EQ(m.add_link.mtu, 3);
	EXPECT_EQ(m.add_link.psn, 0x123456);

	m = golden("ADD LINK reply, accepted");
	EXPECT_EQ(m.reply, true);
	EXPECT_EQ(m.add_link.rejected, false);
	EXPECT_MEM(m.add_link.mac, mc2, 6);
	EXPECT_MEM(m.add_link.gid, gc2, 16);
	EXPECT_EQ(m.add_link.qpn, 0x223);
	EXPECT_EQ(m.add_link.psn, 0x654321);

	/* an accepting reply must be usable */
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	buf[29] = 0;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_VALUE);
	buf[29] = 2;
	memset(buf + 26, 0, 3);
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_VALUE);
	buf[28] = 1;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	memset(buf + 10, 0, 16);
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_VALUE);
	/* a request may be a notice, whose content is not checked (I-14) */
	buf[3] = 0;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_NONE);

	m = golden("ADD LINK reply, rejected");
	EXPECT_EQ(m.add_link.rejected, true);
	EXPECT_EQ(m.add_link.reject_reason, SMCR_ADD_LINK_NO_ALT_PATH);
	EXPECT_EQ(m.add_link.link_num, 2);
	EXPECT_MEM(m.add_link.gid, zero, 16);
}

/* Two bytes more in front of the GID, two less at the end, in all three forms */
TEST(smcr_llc_decode__add_link_padded)
{
	static const char * const names[] = {
		"ADD LINK request", "ADD LINK reply, accepted",
		"ADD LINK reply, rejected",
	};
	enum smcr_reason why;
	struct smcr_llc m, out;
	u8 want[44], buf[44];
	size_t i;

	covers("LLC-09");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const struct vector *v = vector(names[i]);

		m = golden(names[i]);
		memset(want, 0, sizeof(want));
		memcpy(want, v->bytes, 10);
		memcpy(want + 12, v->bytes + 10, 24);
		memset(buf, 0xee, sizeof(buf));
		smcr_llc_encode(&m, SMCR_LLC_PADDED, buf);
		EXPECT_MEM(buf, want, 44);
		/* reserved bytes are ignored */
		memset(buf + 10, 0xff, 2);
		memset(buf + 36, 0xff, 8);
		ASSERT_EQ(smcr_llc_decode(buf, 44, SMCR_LLC_PADDED, &out,
					  &why), 0);
		EXPECT_MEM(&out, &m, sizeof(m));
	}
	/* an accepting reply must be usable in this form, too */
	m = golden("ADD LINK reply, accepted");
	smcr_llc_encode(&m, SMCR_LLC_PADDED, buf);
	buf[31] = 0;
	EXPECT_EQ(smcr_llc_decode(buf, 44, SMCR_LLC_PADDED, &out, &why),
		  -EPROTO);
	/* other messages have only one form */
	m = golden("CONFIRM LINK request");
	smcr_llc_encode(&m, SMCR_LLC_PADDED, buf);
	smcr_llc_encode(&m, SMCR_LLC_RFC, want);
	EXPECT_MEM(buf, want, 44);
	/* the RFC's form unless both sides do without eye catchers */
	EXPECT_EQ(smcr_llc_form(false), SMCR_LLC_RFC);
	EXPECT_EQ(smcr_llc_form(true), SMCR_LLC_PADDED);
}

/* Bytes written down by hand from linux-smc's layout: GID 12, QPN 28, ... */
TEST(smcr_llc_decode__add_link_linux)
{
	static const u8 bytes[44] = {
		0x02, 44, 0, 0,
		2, 0, 0, 0, 0x05, 0x02, 0, 0,
		0xfe, 0x80, [23] = 0xff, 0xfe, 0, 0x05, 0x02,
		0x00, 0x00, 0x07,	/* QPN */
		2,			/* link number */
		3,			/* MTU */
		0x12, 0x34, 0x56,	/* PSN */
	};
	enum smcr_reason why;
	struct smcr_llc m;
	u8 buf[44];
	u8 mtu;

	covers("LLC-29");
	ASSERT_EQ(smcr_llc_decode(bytes, 44, SMCR_LLC_PADDED, &m, &why), 0);
	EXPECT_MEM(m.add_link.mac, ms2, 6);
	EXPECT_EQ(m.add_link.gid[0], 0xfe);
	EXPECT_EQ(m.add_link.gid[15], 0x02);
	EXPECT_EQ(m.add_link.qpn, 7);
	EXPECT_EQ(m.add_link.link_num, 2);
	EXPECT_EQ(m.add_link.mtu, 3);
	EXPECT_EQ(m.add_link.psn, 0x123456);
	/* reserved values of the MTU reach the state machine, which refuses them */
	memcpy(buf, bytes, sizeof(buf));
	for (mtu = 0; mtu < 16; mtu++) {
		buf[32] = mtu;
		ASSERT_EQ(smcr_llc_decode(buf, 44, SMCR_LLC_PADDED, &m, &why),
			  0);
		EXPECT_EQ(m.add_link.mtu, mtu);
	}
}

TEST(smcr_llc_decode__add_link_notice)
{
	struct smcr_llc m;
	u8 buf[44];

	/* a client's notice: MAC and GID only (I-14) */
	memset(&m, 0, sizeof(m));
	m.type = SMCR_LLC_ADD_LINK;
	memcpy(m.add_link.mac, mc2, 6);
	memcpy(m.add_link.gid, gc2, 16);
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_MEM(buf + 26, zero, 8);
	ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_MEM(m.add_link.gid, gc2, 16);
	EXPECT_EQ(m.add_link.link_num, 0);

	/* Z and the reason mean nothing in a request */
	buf[2] = 0x02;
	buf[3] = 0x40;
	ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.add_link.rejected, false);
	EXPECT_EQ(m.add_link.reject_reason, 0);
}

TEST(smcr_llc_decode__add_link_cont)
{
	struct smcr_llc m = golden("ADD LINK CONTINUATION request");
	u8 buf[44];

	EXPECT_EQ(m.reply, false);
	EXPECT_EQ(m.add_link_cont.link_num, 2);
	EXPECT_EQ(m.add_link_cont.n_rtokens, 1);
	EXPECT_EQ(m.add_link_cont.pair[0].ref_rkey, 0xa1b2c3d4);
	EXPECT_EQ(m.add_link_cont.pair[0].new_rkey, 0xa1b2c3d5);
	EXPECT_EQ(m.add_link_cont.pair[0].new_va, 0x00007f0012340000);
	EXPECT_EQ(m.add_link_cont.pair[1].new_va, 0);

	m = golden("ADD LINK CONTINUATION reply, 2 of 3");
	EXPECT_EQ(m.reply, true);
	EXPECT_EQ(m.add_link_cont.n_rtokens, 3);
	EXPECT_EQ(m.add_link_cont.pair[0].ref_rkey, 0x11223344);
	EXPECT_EQ(m.add_link_cont.pair[1].ref_rkey, 0x21223344);
	EXPECT_EQ(m.add_link_cont.pair[1].new_rkey, 0x21223345);
	EXPECT_EQ(m.add_link_cont.pair[1].new_va, 0x00007f0056790000);

	/* announced two, one is empty */
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	memset(buf + 24, 0, 16);
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_COUNT);
	buf[39] = 1;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	memset(buf + 8, 0, 16);
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_COUNT);
	/* no RTokens */
	buf[5] = 0;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.add_link_cont.pair[1].new_va, 0);
	buf[4] = 0;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_VALUE);
}

TEST(smcr_llc_decode__delete_link)
{
	struct smcr_llc m = golden("DELETE LINK request, link 1");
	u8 buf[44];

	EXPECT_EQ(m.reply, false);
	EXPECT_EQ(m.delete_link.all, false);
	EXPECT_EQ(m.delete_link.orderly, false);
	EXPECT_EQ(m.delete_link.link_num, 1);
	EXPECT_EQ(m.delete_link.reason, SMCR_DEL_LOST_PATH);

	m = golden("DELETE LINK request, all links");
	EXPECT_EQ(m.delete_link.all, true);
	EXPECT_EQ(m.delete_link.orderly, true);
	EXPECT_EQ(m.delete_link.link_num, 0);
	EXPECT_EQ(m.delete_link.reason, SMCR_DEL_OPERATOR);

	/* "all" has no number, even if the caller sets one */
	m.delete_link.link_num = 7;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[4], 0);
	buf[4] = 7;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.delete_link.link_num, 0);

	m = golden("DELETE LINK reply, unknown");
	EXPECT_EQ(m.reply, true);
	EXPECT_EQ(m.delete_link.link_num, 9);
	EXPECT_EQ(m.delete_link.reason, SMCR_DEL_UNKNOWN_LINK);

	/* link 0 is an unknown link, too, and is answered */
	m.delete_link.link_num = 0;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
}

TEST(smcr_llc_decode__confirm_rkey)
{
	struct smcr_llc m = golden("CONFIRM RKEY request");
	u8 buf[44];
	int n;

	EXPECT_EQ(m.reply, false);
	EXPECT_EQ(m.confirm_rkey.negative, false);
	EXPECT_EQ(m.confirm_rkey.retry, false);
	EXPECT_EQ(m.confirm_rkey.n_other, 1);
	EXPECT_EQ(m.confirm_rkey.rkey, 0xa1b2c3d4);
	EXPECT_EQ(m.confirm_rkey.va, 0x00007f0012340000);
	EXPECT_EQ(m.confirm_rkey.other[0].link_num, 2);
	EXPECT_EQ(m.confirm_rkey.other[0].rkey, 0xa1b2c3d5);
	EXPECT_EQ(m.confirm_rkey.other[0].va, 0x00007f0012340000);
	EXPECT_EQ(m.confirm_rkey.other[1].link_num, 0);

	m = golden("CONFIRM RKEY reply, negative");
	EXPECT_EQ(m.reply, true);
	EXPECT_EQ(m.confirm_rkey.negative, true);
	EXPECT_EQ(m.confirm_rkey.retry, true);

	/* Z and C mean nothing in a request, C nothing without Z */
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	buf[3] = 0x30;
	ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.confirm_rkey.negative, false);
	EXPECT_EQ(m.confirm_rkey.retry, false);
	buf[3] = 0x90;
	ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.confirm_rkey.retry, false);
	buf[3] = 0xa0;
	ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.confirm_rkey.negative, true);
	EXPECT_EQ(m.confirm_rkey.retry, false);

	/* entries that are announced have a link number (I-16) */
	buf[17] = 0;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_VALUE);
	buf[17] = 2;
	buf[4] = 2;
	EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_VALUE);
	buf[30] = 3;
	for (n = 2; n < 256; n++) {
		buf[4] = (u8)n;
		EXPECT_EQ(decode(buf, 44, &m), n <= 8 ? SMCR_R_NONE :
							SMCR_R_LLC_VALUE);
	}
}

TEST(smcr_llc_decode__confirm_rkey_links)
{
	struct smcr_llc m;
	u8 buf[44], links;

	/* NumTkns for 1, 2, 3 links is 0, 1, 2, and the rest of it zero (LLC-56) */
	for (links = 1; links <= 3; links++) {
		memset(&m, 0, sizeof(m));
		m.type = SMCR_LLC_CONFIRM_RKEY;
		m.confirm_rkey.rkey = 0x11111111;
		m.confirm_rkey.va = 0x2222222222222222;
		m.confirm_rkey.n_other = links - 1;
		rnd_entries(m.confirm_rkey.other, 2);
		smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
		EXPECT_EQ(buf[4], links - 1);
		EXPECT_EQ(buf[5] << 24 | buf[6] << 16 | buf[7] << 8 | buf[8],
			  0x11111111);
		EXPECT_EQ(buf[9], 0x22);
		EXPECT_EQ(buf[16], 0x22);
		EXPECT_EQ(buf[17], links > 1 ?
			  m.confirm_rkey.other[0].link_num : 0);
		EXPECT_EQ(buf[30], links > 2 ?
			  m.confirm_rkey.other[1].link_num : 0);
		EXPECT_MEM(buf + 17 + (links - 1) * 13, zero, 1);
	}
}

TEST(smcr_llc_decode__confirm_rkey_cont)
{
	struct smcr_llc m = golden("CONFIRM RKEY CONTINUATION request");
	u8 buf[44];
	int i, n;

	EXPECT_EQ(m.reply, false);
	EXPECT_EQ(m.confirm_rkey_cont.n_left, 3);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(m.confirm_rkey_cont.other[i].link_num, 4 + i);
		EXPECT_EQ(m.confirm_rkey_cont.other[i].rkey,
			  0x44000001 + i * 0x11000000);
		EXPECT_EQ(m.confirm_rkey_cont.other[i].va,
			  0x1000000000000004 + i);
	}

	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	for (n = 0; n < 256; n++) {
		buf[4] = (u8)n;
		EXPECT_EQ(decode(buf, 44, &m), n && n <= 6 ?
			  SMCR_R_NONE : SMCR_R_LLC_VALUE);
	}
	/* Z only with R */
	buf[4] = 3;
	buf[3] = 0x20;
	ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.confirm_rkey_cont.negative, false);
	buf[3] = 0xa0;
	ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
	EXPECT_EQ(m.confirm_rkey_cont.negative, true);
	for (i = 0; i < 3; i++) {
		u8 num = buf[5 + i * 13];

		buf[5 + i * 13] = 0;
		EXPECT_EQ(decode(buf, 44, &m), SMCR_R_LLC_VALUE);
		buf[5 + i * 13] = num;
	}
}

TEST(smcr_llc_decode__delete_rkey)
{
	struct smcr_llc m = golden("DELETE RKEY request");
	u8 buf[44];
	int n, i;

	covers("LLC-65");
	EXPECT_EQ(m.reply, false);
	EXPECT_EQ(m.delete_rkey.count, 2);
	EXPECT_EQ(m.delete_rkey.rkey[0], 0xa1b2c3d4);
	EXPECT_EQ(m.delete_rkey.rkey[1], 0xa1b2c3e4);
	EXPECT_EQ(m.delete_rkey.rkey[2], 0);

	m = golden("DELETE RKEY reply, negative");
	EXPECT_EQ(m.reply, true);
	EXPECT_EQ(m.delete_rkey.negative, true);
	EXPECT_EQ(m.delete_rkey.error_mask, 0x40);

	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	for (n = 0; n < 256; n++) {
		buf[4] = (u8)n;
		EXPECT_EQ(decode(buf, 44, &m), n && n <= 8 ?
			  SMCR_R_NONE : SMCR_R_LLC_VALUE);
	}

	/* mask bits of RKeys that are not there, a mask without Z */
	for (n = 1; n <= 8; n++) {
		buf[3] = 0xa0;
		buf[4] = (u8)n;
		buf[5] = 0xff;
		ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
		EXPECT_EQ(m.delete_rkey.error_mask, 0xff << (8 - n) & 0xff);
		buf[3] = 0x80;
		ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
		EXPECT_EQ(m.delete_rkey.error_mask, 0);
		buf[3] = 0x20;
		ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
		EXPECT_EQ(m.delete_rkey.negative, false);
		EXPECT_EQ(m.delete_rkey.error_mask, 0);
		/* as many RKeys, no more */
		memset(buf + 8, 0, 32);
		for (i = 0; i < 8; i++)
			buf[8 + 4 * i] = (u8)(0x80 + i);
		ASSERT_EQ(decode(buf, 44, &m), SMCR_R_NONE);
		EXPECT_EQ(m.delete_rkey.count, n);
		for (i = 0; i < 8; i++)
			EXPECT_EQ(m.delete_rkey.rkey[i],
				  i < n ? 0x80000000 + ((u32)i << 24) : 0);
	}
}

TEST(smcr_llc_decode__test_link)
{
	struct smcr_llc m = golden("TEST LINK request");
	int i;

	EXPECT_EQ(m.reply, false);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(m.test_link.data[i], 0x40 + i);
	m = golden("TEST LINK reply");
	EXPECT_EQ(m.reply, true);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(m.test_link.data[i], 0x40 + i);
}

/* Each type has a golden message */
TEST(smcr_llc_decode__vectors)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(llc_types); i++) {
		u32 n = 0;

		for (j = 0; j < ARRAY_SIZE(vectors); j++) {
			if (vectors[j].len != 44 ||
			    vectors[j].bytes[0] != llc_types[i])
				continue;
			golden(vectors[j].name);
			n++;
		}
		KTAP_CHECK(n, 0, "no vector of type %u", llc_types[i]);
	}
}

TEST(smcr_llc_encode__round_trip)
{
	struct smcr_llc in, out;
	u8 buf[48];
	u32 i, type;

	for (i = 0; i < ROUNDS; i++) {
		for (type = 0; type < ARRAY_SIZE(llc_types); type++) {
			rnd_llc(&in, llc_types[type]);
			memset(buf, 0xee, sizeof(buf));
			smcr_llc_encode(&in, SMCR_LLC_RFC, buf);
			EXPECT_EQ(buf[44], 0xee);
			ASSERT_EQ(decode(buf, 44, &out), SMCR_R_NONE);
			EXPECT_MEM(&in, &out, sizeof(in));
		}
	}
}

TEST(smcr_llc_encode__ignores_the_meaningless)
{
	struct smcr_llc m;
	u8 buf[44];

	/* flags and fields that only a reply, or only a refusal, has */
	memset(&m, 0, sizeof(m));
	m.type = SMCR_LLC_ADD_LINK;
	m.add_link.rejected = true;
	m.add_link.reject_reason = 0xff;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[2], 0);
	EXPECT_EQ(buf[3], 0);
	m.reply = true;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[2], 0x0f);
	EXPECT_EQ(buf[3], 0xc0);

	memset(&m, 0, sizeof(m));
	m.type = SMCR_LLC_CONFIRM_RKEY;
	m.confirm_rkey.negative = true;
	m.confirm_rkey.retry = true;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[3], 0);
	m.reply = true;
	m.confirm_rkey.negative = false;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[3], 0x80);

	memset(&m, 0, sizeof(m));
	m.type = SMCR_LLC_DELETE_RKEY;
	m.delete_rkey.count = 200;
	m.delete_rkey.error_mask = 0xff;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[4], 8);
	EXPECT_EQ(buf[5], 0);
	m.delete_rkey.count = 3;
	m.delete_rkey.negative = true;
	memset(m.delete_rkey.rkey, 0x77, sizeof(m.delete_rkey.rkey));
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[3], 0);
	EXPECT_EQ(buf[5], 0);
	EXPECT_EQ(buf[19], 0x77);
	EXPECT_MEM(buf + 20, zero, 16);

	memset(&m, 0, sizeof(m));
	m.type = SMCR_LLC_CONFIRM_RKEY_CONT;
	m.confirm_rkey_cont.negative = true;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[3], 0);

	/* not a type: a header, nothing more */
	m.type = 0x05;
	smcr_llc_encode(&m, SMCR_LLC_RFC, buf);
	EXPECT_EQ(buf[0], 5);
	EXPECT_EQ(buf[1], 44);
	EXPECT_MEM(buf + 4, zero, 16);
}

TEST(smcr_wr_is_cdc__all)
{
	u8 buf[44] = { 0 };
	int i;

	for (i = 0; i < 256; i++) {
		buf[0] = (u8)i;
		EXPECT_EQ(smcr_wr_is_cdc(buf), i == 0xfe);
	}
}

/* The counts of one direction with @n RTokens, as a sender gives them */
static void count_all(u32 n)
{
	struct smcr_rtoken_count c = { 0 };
	u32 left, i;

	EXPECT_EQ(smcr_rtoken_count_step(&c, (u8)n), 0);
	for (left = n; left > 2; left -= 2) {
		EXPECT_EQ(c.left, left - 2);
		/* anything else does not continue it */
		for (i = 0; i < 256; i++) {
			struct smcr_rtoken_count was = c;

			if (i == left - 2)
				continue;
			EXPECT_EQ(smcr_rtoken_count_step(&c, (u8)i), -EPROTO);
			EXPECT_MEM(&c, &was, sizeof(c));
		}
		EXPECT_EQ(smcr_rtoken_count_step(&c, (u8)(left - 2)), 0);
	}
	EXPECT_EQ(c.left, 0);
	/* LLC-39: empty ones while the other side has more */
	for (i = 0; i < 3; i++)
		EXPECT_EQ(smcr_rtoken_count_step(&c, 0), 0);
	EXPECT_EQ(smcr_rtoken_count_step(&c, 1), -EPROTO);
}

TEST(smcr_rtoken_count_step__all)
{
	static const u8 few[] = { 0, 1, 2, 3, 5, 255 };
	u32 n;

	covers("LLC-38");
	for (n = 0; n < ARRAY_SIZE(few); n++)
		count_all(few[n]);
	for (n = 0; n < 256; n++)
		count_all(n);
}

TEST(smcr_rtoken_count_step__number_of_messages)
{
	static const struct {
		u8 n, messages;
	} row[] = {
		{ 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 2 }, { 4, 2 }, { 5, 3 },
		{ 255, 128 },
	};
	u32 i, messages;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		struct smcr_rtoken_count c = { .left = row[i].n };

		messages = 0;
		do {
			EXPECT_EQ(smcr_rtoken_count_step(&c, c.left), 0);
			messages++;
		} while (c.left);
		EXPECT_EQ(messages, row[i].messages);
	}
}
