// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/clc.c: the CLC codec, RFC 7609 A.2. */
#include "msgs.h"

enum { ROUNDS = 3000, BIG = 1536 };

static const u8 eye[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };

/* Peer IDs, GIDs and MACs of the vectors */
static const u8 pc[8] = { 0x12, 0xab, 2, 0, 0, 0, 0x0c, 0x01 };
static const u8 ps[8] = { 0x34, 0xcd, 2, 0, 0, 0, 0x05, 0x01 };
static const u8 gc[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0x0c, 0x01 };
static const u8 gs[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0x05, 0x01 };
static const u8 mc[6] = { 2, 0, 0, 0, 0x0c, 0x01 };
static const u8 ms[6] = { 2, 0, 0, 0, 0x05, 0x01 };

union any {
	struct smcr_clc_proposal proposal;
	struct smcr_clc_accept accept;
	struct smcr_clc_decline decline;
};

/* The decoder for a type, from exactly sized memory; the reason if it fails */
static enum smcr_reason decode(u8 type, const u8 *buf, size_t len,
			       union any *out)
{
	enum smcr_reason why = SMCR_R_NONE;
	u8 *copy = exact(buf, len);
	int rc;

	memset(out, 0xa5, sizeof(*out));
	switch (type) {
	case SMCR_CLC_PROPOSAL:
		rc = smcr_clc_decode_proposal(copy, len, &out->proposal, &why);
		break;
	case SMCR_CLC_DECLINE:
		rc = smcr_clc_decode_decline(copy, len, &out->decline, &why);
		break;
	default:
		rc = smcr_clc_decode_accept(copy, len, &out->accept, &why);
	}
	exact_free(copy, len);

	EXPECT_EQ(rc, why == SMCR_R_NONE ? 0 : -EPROTO);
	if (rc) {
		union any untouched;

		memset(&untouched, 0xa5, sizeof(untouched));
		EXPECT_MEM(out, &untouched, sizeof(untouched));
	}
	return why;
}

static int encode(u8 type, const union any *in, u8 *buf, size_t len)
{
	switch (type) {
	case SMCR_CLC_PROPOSAL:
		return smcr_clc_encode_proposal(&in->proposal, buf, len);
	case SMCR_CLC_DECLINE:
		return smcr_clc_encode_decline(&in->decline, buf, len);
	default:
		return smcr_clc_encode_accept(&in->accept, buf, len);
	}
}

static void put_len(u8 *buf, size_t len)
{
	buf[5] = (u8)(len >> 8);
	buf[6] = (u8)len;
}

/* A Proposal with any counts, valid or not; returns the length that fits */
static size_t raw_proposal(u8 *buf, u32 growth, u32 n, u8 fill)
{
	size_t len = 52 + growth + n * 17;
	u32 i;

	memset(buf, fill, BIG);
	memcpy(buf, vector("Proposal, IPv4, net")->bytes, 38);
	put_len(buf, len);
	buf[38] = (u8)(growth >> 8);
	buf[39] = (u8)growth;
	memset(buf + 40 + growth, 0, 8);
	buf[47 + growth] = (u8)n;
	for (i = 0; i < n; i++)
		buf[48 + growth + i * 17 + 16] = (u8)(64 + i);
	memcpy(buf + len - 4, eye, 4);
	return len;
}

/* One canonical message of each kind */
static size_t sample(u32 i, u8 *buf)
{
	static const char * const names[] = {
		"Proposal, IPv4, net", "Proposal, IPv6, one",
		"Accept, first", "Accept, subsequent", "Confirm",
		"Decline, S=0", "Decline, S=1",
	};
	const struct vector *v;

	if (i == ARRAY_SIZE(names))
		return raw_proposal(buf, 0, 8, 0x77);
	if (i > ARRAY_SIZE(names))
		return 0;
	v = vector(names[i]);
	memcpy(buf, v->bytes, v->len);
	return v->len;
}

TEST(smcr_clc_decode_hdr__vectors)
{
	u8 buf[BIG];
	size_t len;
	u32 i;

	covers("CLC-07");
	for (i = 0; (len = sample(i, buf)); i++) {
		struct smcr_clc_hdr hdr;
		enum smcr_reason why;
		u8 *copy = exact(buf, SMCR_CLC_HDR_LEN);

		ASSERT_EQ(smcr_clc_decode_hdr(copy, SMCR_CLC_HDR_LEN, &hdr,
					      &why), 0);
		exact_free(copy, SMCR_CLC_HDR_LEN);
		EXPECT_EQ(hdr.type, buf[4]);
		EXPECT_EQ(hdr.version, 1);
		EXPECT_EQ(hdr.len, len);
		EXPECT_EQ(hdr.flag, !!(buf[7] & 0x08));
	}
}

TEST(smcr_clc_decode_hdr__short)
{
	const struct vector *v = vector("Confirm");
	struct smcr_clc_hdr hdr;
	enum smcr_reason why;
	size_t len;

	for (len = 0; len < SMCR_CLC_HDR_LEN; len++) {
		u8 *copy = exact(v->bytes, len);

		why = SMCR_R_NONE;
		EXPECT_EQ(smcr_clc_decode_hdr(copy, len, &hdr, &why), -EPROTO);
		EXPECT_EQ(why, SMCR_R_CLC_LENGTH);
		exact_free(copy, len);
	}
}

TEST(smcr_clc_decode_hdr__type)
{
	struct smcr_clc_hdr hdr;
	enum smcr_reason why;
	u8 buf[8];
	int type;

	memcpy(buf, vector("Confirm")->bytes, 8);
	for (type = 0; type < 256; type++) {
		buf[4] = (u8)type;
		why = SMCR_R_NONE;
		switch (type) {
		case SMCR_CLC_ACCEPT:
		case SMCR_CLC_CONFIRM:
		case SMCR_CLC_PROPOSAL:	/* 68 is a possible length */
			EXPECT_EQ(smcr_clc_decode_hdr(buf, 8, &hdr, &why), 0);
			EXPECT_EQ(hdr.type, type);
			break;
		case SMCR_CLC_DECLINE:
			EXPECT_NE(smcr_clc_decode_hdr(buf, 8, &hdr, &why), 0);
			EXPECT_EQ(why, SMCR_R_CLC_LENGTH);
			break;
		default:
			EXPECT_NE(smcr_clc_decode_hdr(buf, 8, &hdr, &why), 0);
			EXPECT_EQ(why, SMCR_R_CLC_TYPE);
		}
	}
}

TEST(smcr_clc_decode_hdr__version)
{
	u8 buf[BIG], version;
	union any out;
	size_t len;
	u32 i;

	/* a Proposal of a later version is answered in version 1 */
	covers("CLC-04");
	for (i = 0; (len = sample(i, buf)); i++) {
		u8 type = buf[4], low = buf[7] & 0x0f;
		bool any = type == SMCR_CLC_PROPOSAL ||
			   type == SMCR_CLC_DECLINE;

		for (version = 0; version < 16; version++) {
			enum smcr_reason want = SMCR_R_NONE;

			/* bits 0, 1 may exclude version 1 in later ones */
			if (type == SMCR_CLC_PROPOSAL && version > 1)
				low &= 0x0c;
			if (!version || (version != 1 && !any))
				want = SMCR_R_CLC_VERSION;
			buf[7] = (u8)(version << 4 | low);
			EXPECT_EQ(decode(type, buf, len, &out), want);
			if (type == SMCR_CLC_PROPOSAL && version)
				EXPECT_EQ(out.proposal.version, version);
		}
	}

	rnd_accept(&out.accept);
	ASSERT_EQ(encode(SMCR_CLC_ACCEPT, &out, buf, BIG), 68);
	EXPECT_EQ(buf[7] >> 4, 1);
	rnd_decline(&out.decline);
	ASSERT_EQ(encode(SMCR_CLC_DECLINE, &out, buf, BIG), 28);
	EXPECT_EQ(buf[7] >> 4, 1);
}

TEST(smcr_clc_decode_hdr__length)
{
	struct smcr_clc_hdr hdr;
	enum smcr_reason why;
	u8 buf[BIG];
	u32 i, len;

	EXPECT_EQ(SMCR_CLC_MAX_LEN >= 52 + 256 + 8 * 17, true);
	for (i = 0; sample(i, buf); i++) {
		for (len = 0; len <= 0xffff; len++) {
			bool ok = buf[4] == SMCR_CLC_DECLINE ? len == 28 :
				  buf[4] != SMCR_CLC_PROPOSAL ? len == 68 :
				  len >= 52 && len <= SMCR_CLC_MAX_LEN;

			put_len(buf, len);
			why = SMCR_R_NONE;
			EXPECT_EQ(smcr_clc_decode_hdr(buf, 8, &hdr, &why),
				  ok ? 0 : -EPROTO);
			EXPECT_EQ(why, ok ? SMCR_R_NONE : SMCR_R_CLC_LENGTH);
			if (ok)
				EXPECT_EQ(hdr.len, len);
		}
	}
}

TEST(smcr_clc_decode_hdr__reserved_flag)
{
	struct smcr_clc_hdr hdr;
	enum smcr_reason why;
	u8 buf[BIG];
	u32 i;

	/* the flag's bit is reserved in Proposal and Confirm */
	for (i = 0; sample(i, buf); i++) {
		u8 type = buf[4];
		bool has_flag;

		buf[7] = 0x1f;
		ASSERT_EQ(smcr_clc_decode_hdr(buf, 8, &hdr, &why), 0);
		has_flag = type == SMCR_CLC_ACCEPT || type == SMCR_CLC_DECLINE;
		EXPECT_EQ(hdr.flag, has_flag);
	}
}

/* What holds for every decoder, with the samples of all of them */

TEST(smcr_clc_decode__eye_catchers)
{
	u8 buf[BIG];
	union any out;
	size_t len, bit;
	u32 i;

	covers("CLC-03");
	for (i = 0; (len = sample(i, buf)); i++) {
		for (bit = 0; bit < 64; bit++) {
			size_t at = bit < 32 ? bit : (len - 8) * 8 + bit;

			flip(buf, at);
			EXPECT_EQ(decode(buf[4], buf, len, &out),
				  SMCR_R_CLC_EYE_CATCHER);
			flip(buf, at);
		}
		EXPECT_EQ(decode(buf[4], buf, len, &out), SMCR_R_NONE);
	}
}

TEST(smcr_clc_decode__truncated)
{
	u8 buf[BIG];
	union any out;
	size_t len, cut;
	u32 i;

	for (i = 0; (len = sample(i, buf)); i++) {
		u8 type = buf[4];

		for (cut = 0; cut < len; cut++)
			EXPECT_EQ(decode(type, buf, cut, &out),
				  SMCR_R_CLC_LENGTH);
		/* a byte too many */
		EXPECT_EQ(decode(type, buf, len + 1, &out), SMCR_R_CLC_LENGTH);
		/* and with a length field and trailer that agree */
		for (cut = 8; cut < len + 20; cut++) {
			u8 cut_buf[BIG] = { 0 };

			if (cut == len)
				continue;
			memcpy(cut_buf, buf, min(len, cut));
			put_len(cut_buf, cut);
			memcpy(cut_buf + cut - 4, eye, 4);
			EXPECT_NE(decode(type, cut_buf, cut, &out),
				  SMCR_R_NONE);
		}
	}
}

TEST(smcr_clc_decode__bit_flips)
{
	u8 buf[BIG], again[BIG];
	union any out, twice;
	size_t len, bit;
	u32 i;

	/* whatever is accepted must be a message that can be encoded */
	for (i = 0; (len = sample(i, buf)); i++) {
		u8 type = buf[4];

		for (bit = 0; bit < len * 8; bit++) {
			flip(buf, bit);
			if (decode(type, buf, len, &out) == SMCR_R_NONE) {
				int rc = encode(type, &out, again, BIG);

				ASSERT_TRUE(rc > 0);
				EXPECT_EQ(decode(type, again, rc, &twice),
					  SMCR_R_NONE);
				EXPECT_MEM(&out, &twice, sizeof(out));
			}
			flip(buf, bit);
		}
	}
}

TEST(smcr_clc_decode__reserved_bits)
{
	static const struct {
		u8 type, off, mask;
	} rsv[] = {
		{ 1, 7, 0x0f }, { 1, 45, 0xff }, { 1, 46, 0xff },
		{ 2, 7, 0x07 }, { 2, 51, 0xff }, { 2, 60, 0xff },
		{ 3, 7, 0x0f }, { 3, 51, 0xff }, { 3, 60, 0xff },
		{ 4, 7, 0x07 }, { 4, 20, 0xff }, { 4, 21, 0xff },
		{ 4, 22, 0xff }, { 4, 23, 0xff },
	};
	union any plain, ones;
	u8 buf[BIG], was;
	size_t len, j;
	u32 i, bits;

	covers("CLC-02");
	for (i = 0; (len = sample(i, buf)); i++) {
		ASSERT_EQ(decode(buf[4], buf, len, &plain), SMCR_R_NONE);
		/* sent as zero */
		ASSERT_EQ(encode(buf[4], &plain, buf, BIG), len);
		for (j = 0; j < ARRAY_SIZE(rsv); j++) {
			if (rsv[j].type != buf[4])
				continue;
			was = buf[rsv[j].off];
			EXPECT_EQ(was & rsv[j].mask, 0);
			/* any value, alone and with those of the rows before */
			for (bits = 1; bits <= rsv[j].mask; bits++) {
				buf[rsv[j].off] = was | (u8)bits;
				ASSERT_EQ(decode(buf[4], buf, len, &ones),
					  SMCR_R_NONE);
				EXPECT_MEM(&plain, &ones, sizeof(ones));
			}
		}
	}
}

TEST(smcr_clc_decode__unexpected)
{
	static const u8 decoder[] = { 1, 2, 4 };
	u8 buf[BIG];
	union any out;
	size_t len, j;
	u32 i;

	for (i = 0; (len = sample(i, buf)); i++)
		for (j = 0; j < ARRAY_SIZE(decoder); j++) {
			u8 type = buf[4] == 3 ? 2 : buf[4];

			EXPECT_EQ(decode(decoder[j], buf, len, &out),
				  decoder[j] == type ? SMCR_R_NONE :
						       SMCR_R_CLC_UNEXPECTED);
		}
}

TEST(smcr_clc_decode_proposal__ipv4)
{
	const struct vector *v = vector("Proposal, IPv4, net");
	static const u8 net[4] = { 192, 168, 10, 0 };
	u8 buf[BIG];
	union any out;

	covers("CLC-07");
	ASSERT_EQ(v->len, 52);
	ASSERT_EQ(decode(SMCR_CLC_PROPOSAL, v->bytes, v->len, &out),
		  SMCR_R_NONE);
	EXPECT_EQ(out.proposal.version, 1);
	EXPECT_MEM(out.proposal.peer_id, pc, 8);
	EXPECT_MEM(out.proposal.gid, gc, 16);
	EXPECT_MEM(out.proposal.mac, mc, 6);
	EXPECT_MEM(out.proposal.ipv4_net, net, 4);
	EXPECT_EQ(out.proposal.ipv4_plen, 24);
	EXPECT_EQ(out.proposal.n_prefix, 0);
	ASSERT_EQ(encode(SMCR_CLC_PROPOSAL, &out, buf, BIG), v->len);
	EXPECT_MEM(buf, v->bytes, v->len);
}

/* A client that offers versions 1 and 2 sends more data behind its prefixes */
TEST(smcr_clc_decode_proposal__later_version)
{
	const struct vector *v = vector("Proposal, IPv4, net");
	static const bool v1[4] = { true, false, false, true };
	union any out;
	u8 buf[BIG];
	size_t len;
	u8 path;

	covers("CLC-04");
	ASSERT_EQ(v->len, 52);
	len = v->len + 72;
	for (path = 0; path < 4; path++) {
		memset(buf, 0x5a, sizeof(buf));
		memcpy(buf, v->bytes, v->len - 4);
		memcpy(buf + len - 4, v->bytes + v->len - 4, 4);
		buf[6] = (u8)len;
		buf[7] = (u8)(0x20 | path);
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  v1[path] ? SMCR_R_NONE : SMCR_R_CLC_VERSION);
		if (v1[path]) {
			EXPECT_EQ(out.proposal.version, 2);
			EXPECT_MEM(out.proposal.gid, gc, 16);
			EXPECT_EQ(out.proposal.ipv4_plen, 24);
		}
		/* in version 1 nothing follows, and the bits are reserved */
		buf[7] = (u8)(0x10 | path);
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_CLC_LENGTH);
	}
}

TEST(smcr_clc_decode_proposal__ipv6)
{
	const struct vector *v = vector("Proposal, IPv6, one");
	static const u8 net[16] = { 0x20, 0x01, 0x0d, 0xb8, 0, 1 };
	static const u8 none[4] = { 0 };
	u8 buf[BIG], again[BIG];
	union any out;
	u32 n, i;

	covers("CLC-07");
	ASSERT_EQ(v->len, 69);
	ASSERT_EQ(decode(SMCR_CLC_PROPOSAL, v->bytes, v->len, &out),
		  SMCR_R_NONE);
	EXPECT_MEM(out.proposal.ipv4_net, none, 4);
	EXPECT_EQ(out.proposal.ipv4_plen, 0);
	EXPECT_EQ(out.proposal.n_prefix, 1);
	EXPECT_MEM(out.proposal.prefix[0].addr, net, 16);
	EXPECT_EQ(out.proposal.prefix[0].plen, 64);
	ASSERT_EQ(encode(SMCR_CLC_PROPOSAL, &out, buf, BIG), v->len);
	EXPECT_MEM(buf, v->bytes, v->len);

	for (n = 1; n <= 8; n++) {
		size_t len = raw_proposal(buf, 0, n, 0x40);

		EXPECT_EQ(len, 52 + 17 * n);
		ASSERT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_NONE);
		ASSERT_EQ(out.proposal.n_prefix, n);
		for (i = 0; i < n; i++)
			EXPECT_EQ(out.proposal.prefix[i].plen, 64 + i);
		ASSERT_EQ(encode(SMCR_CLC_PROPOSAL, &out, again, BIG), len);
		EXPECT_MEM(buf, again, len);
	}
}

TEST(smcr_clc_decode_proposal__growth)
{
	const struct vector *v = vector("Proposal, IPv4, 8-byte growth");
	u8 buf[BIG];
	union any plain, out;
	u32 growth, n;

	covers("CLC-07 CLC-20");
	ASSERT_EQ(v->bytes[39], 8);
	ASSERT_EQ(decode(SMCR_CLC_PROPOSAL, v->bytes, v->len, &out),
		  SMCR_R_NONE);
	v = vector("Proposal, IPv4, net");
	ASSERT_EQ(decode(SMCR_CLC_PROPOSAL, v->bytes, v->len, &plain),
		  SMCR_R_NONE);
	EXPECT_MEM(&out, &plain, sizeof(out));
	/* own Proposals have none */
	ASSERT_EQ(encode(SMCR_CLC_PROPOSAL, &out, buf, BIG), 52);
	EXPECT_EQ(buf[38] << 8 | buf[39], 0);

	for (n = 0; n <= 8; n++) {
		for (growth = 0;
		     52 + growth + n * 17 <= SMCR_CLC_MAX_LEN; growth++) {
			/* the area may hold anything, eye catchers too */
			size_t len = raw_proposal(buf, growth, n, 0xff);

			EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
				  SMCR_R_NONE);
			EXPECT_EQ(out.proposal.n_prefix, n);
		}
	}
}

TEST(smcr_clc_decode_proposal__inconsistent)
{
	u8 buf[BIG] = { 0 };
	union any out;
	size_t len;
	u32 n, growth;

	covers("CLC-22");
	/* more prefixes than there can be */
	for (n = 9; n <= 20; n++) {
		len = raw_proposal(buf, 0, n, 0);
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_CLC_PREFIX);
	}
	/* one prefix too many or too few for the length */
	for (n = 1; n <= 7; n++) {
		len = raw_proposal(buf, 0, n, 0);
		buf[47] = (u8)(n + 1);
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_CLC_LENGTH);
		buf[47] = (u8)(n - 1);
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_CLC_LENGTH);
		/* a later version may have more behind them, but not fewer */
		buf[7] = 0x20;
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_NONE);
		buf[47] = (u8)(n + 1);
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_CLC_LENGTH);
	}
	/* the growth area ends behind the message, or nearly there */
	for (growth = 1; growth < 0x10000; growth += 13) {
		len = raw_proposal(buf, 0, 1, 0);
		buf[38] = (u8)(growth >> 8);
		buf[39] = (u8)growth;
		EXPECT_NE(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_NONE);
	}
	/* more growth than a message can hold */
	len = raw_proposal(buf, SMCR_CLC_MAX_LEN - 52 + 1, 0, 0);
	EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
		  SMCR_R_CLC_LENGTH);
	/* mask length */
	len = raw_proposal(buf, 3, 0, 0);
	buf[44 + 3] = 32;
	EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out), SMCR_R_NONE);
	for (n = 33; n < 256; n++) {
		buf[44 + 3] = (u8)n;
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_CLC_PREFIX);
	}
	/* prefix length, in each of eight prefixes */
	len = raw_proposal(buf, 0, 8, 0);
	for (n = 0; n < 8; n++) {
		buf[48 + n * 17 + 16] = 129;
		EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out),
			  SMCR_R_CLC_PREFIX);
		buf[48 + n * 17 + 16] = 128;
	}
	EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out), SMCR_R_NONE);
}

TEST(smcr_clc_decode_proposal__zero_gid)
{
	union any out;
	u8 buf[BIG];
	size_t len;

	len = raw_proposal(buf, 0, 1, 0);
	memset(buf + 16, 0, 16);
	EXPECT_EQ(decode(SMCR_CLC_PROPOSAL, buf, len, &out), SMCR_R_CLC_VALUE);
}

TEST(smcr_clc_decode_accept__vectors)
{
	const struct vector *v = vector("Accept, first contact");
	u8 buf[BIG];
	union any out;

	covers("CLC-07");
	ASSERT_EQ(decode(SMCR_CLC_ACCEPT, v->bytes, v->len, &out),
		  SMCR_R_NONE);
	EXPECT_EQ(out.accept.type, SMCR_CLC_ACCEPT);
	EXPECT_EQ(out.accept.first_contact, true);
	EXPECT_MEM(out.accept.peer_id, ps, 8);
	EXPECT_MEM(out.accept.gid, gs, 16);
	EXPECT_MEM(out.accept.mac, ms, 6);
	EXPECT_EQ(out.accept.qpn, 0x111);
	EXPECT_EQ(out.accept.rkey, 0xa1b2c3d4);
	EXPECT_EQ(out.accept.index, 1);
	EXPECT_EQ(out.accept.token, 0xcafe0001);
	EXPECT_EQ(out.accept.bsize, 2);
	EXPECT_EQ(out.accept.mtu, 3);
	EXPECT_EQ(out.accept.va, 0x00007f0012340000);
	EXPECT_EQ(out.accept.psn, 0x0a0b0c);
	ASSERT_EQ(encode(SMCR_CLC_ACCEPT, &out, buf, BIG), v->len);
	EXPECT_MEM(buf, v->bytes, v->len);

	v = vector("Accept, subsequent contact");
	ASSERT_EQ(decode(SMCR_CLC_ACCEPT, v->bytes, v->len, &out),
		  SMCR_R_NONE);
	EXPECT_EQ(out.accept.first_contact, false);
	EXPECT_EQ(out.accept.index, 2);
	EXPECT_EQ(out.accept.token, 0xcafe0002);
	ASSERT_EQ(encode(SMCR_CLC_ACCEPT, &out, buf, BIG), v->len);
	EXPECT_MEM(buf, v->bytes, v->len);

	v = vector("Confirm");
	ASSERT_EQ(decode(SMCR_CLC_CONFIRM, v->bytes, v->len, &out),
		  SMCR_R_NONE);
	EXPECT_EQ(out.accept.type, SMCR_CLC_CONFIRM);
	EXPECT_EQ(out.accept.first_contact, false);
	EXPECT_MEM(out.accept.peer_id, pc, 8);
	EXPECT_MEM(out.accept.gid, gc, 16);
	EXPECT_MEM(out.accept.mac, mc, 6);
	EXPECT_EQ(out.accept.qpn, 0x222);
	EXPECT_EQ(out.accept.rkey, 0x11223344);
	EXPECT_EQ(out.accept.index, 1);
	EXPECT_EQ(out.accept.token, 0xbeef0001);
	EXPECT_EQ(out.accept.bsize, 1);
	EXPECT_EQ(out.accept.mtu, 5);
	EXPECT_EQ(out.accept.va, 0x00007f0056780000);
	EXPECT_EQ(out.accept.psn, 0x010203);
	ASSERT_EQ(encode(SMCR_CLC_CONFIRM, &out, buf, BIG), v->len);
	EXPECT_MEM(buf, v->bytes, v->len);
}

TEST(smcr_clc_decode_accept__bad_values)
{
	static const char * const names[] = { "Accept, first", "Confirm" };
	union any out;
	u8 buf[BIG];
	size_t i;

	covers("CLC-50 RMB-02");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const struct vector *v = vector(names[i]);

		memcpy(buf, v->bytes, v->len);
		buf[45] = 0;
		EXPECT_EQ(decode(buf[4], buf, v->len, &out), SMCR_R_CLC_VALUE);
		buf[45] = 255;
		EXPECT_EQ(decode(buf[4], buf, v->len, &out), SMCR_R_NONE);
		EXPECT_EQ(out.accept.index, 255);

		memset(buf + 16, 0, 16);
		EXPECT_EQ(decode(buf[4], buf, v->len, &out), SMCR_R_CLC_VALUE);
		buf[31] = 1;
		EXPECT_EQ(decode(buf[4], buf, v->len, &out), SMCR_R_NONE);

		memset(buf + 38, 0, 3);
		EXPECT_EQ(decode(buf[4], buf, v->len, &out), SMCR_R_CLC_VALUE);
		buf[38] = 1;
		EXPECT_EQ(decode(buf[4], buf, v->len, &out), SMCR_R_NONE);
		EXPECT_EQ(out.accept.qpn, 0x010000);
	}
}

TEST(smcr_clc_decode_accept__enumerations_pass)
{
	const struct vector *v = vector("Accept, first");
	union any out;
	u8 buf[BIG];
	int i;

	/* CLC-10: reserved values cause a Decline, so they are decoded */
	memcpy(buf, v->bytes, v->len);
	for (i = 0; i < 256; i++) {
		buf[50] = (u8)i;
		ASSERT_EQ(decode(2, buf, v->len, &out), SMCR_R_NONE);
		EXPECT_EQ(out.accept.bsize, i >> 4);
		EXPECT_EQ(out.accept.mtu, i & 15);
	}
}

TEST(smcr_clc_decode_decline__vectors)
{
	const struct vector *v = vector("Decline, S=0");
	u8 buf[BIG];
	union any out;

	covers("CLC-07");
	ASSERT_EQ(decode(SMCR_CLC_DECLINE, v->bytes, v->len, &out),
		  SMCR_R_NONE);
	EXPECT_EQ(out.decline.out_of_sync, false);
	EXPECT_MEM(out.decline.peer_id, pc, 8);
	EXPECT_EQ(out.decline.diagnosis, 1);
	ASSERT_EQ(encode(SMCR_CLC_DECLINE, &out, buf, BIG), v->len);
	EXPECT_MEM(buf, v->bytes, v->len);

	v = vector("Decline, S=1");
	ASSERT_EQ(decode(SMCR_CLC_DECLINE, v->bytes, v->len, &out),
		  SMCR_R_NONE);
	EXPECT_EQ(out.decline.out_of_sync, true);
	EXPECT_EQ(out.decline.diagnosis, 2);
	ASSERT_EQ(encode(SMCR_CLC_DECLINE, &out, buf, BIG), v->len);
	EXPECT_MEM(buf, v->bytes, v->len);
}

/* A Decline of version 2 has 16 bytes more before its trailer, or is as in 1 */
TEST(smcr_clc_decode_decline__version_2)
{
	const struct vector *v = vector("Decline, S=1");
	u32 version, len;

	for (version = 1; version < 16; version++)
		for (len = 16; len <= 100; len++) {
			bool ok = len == 28 || (len == 44 && version > 1);
			u8 buf[BIG] = { 0 };
			union any out;

			memcpy(buf, v->bytes, v->len - 4);
			memcpy(buf + len - 4, v->bytes, 4);
			put_len(buf, len);
			buf[7] = (u8)(version << 4 | 0x08);
			EXPECT_EQ(decode(SMCR_CLC_DECLINE, buf, len, &out),
				  ok ? SMCR_R_NONE : SMCR_R_CLC_LENGTH);
			if (!ok)
				continue;
			EXPECT_EQ(out.decline.out_of_sync, true);
			EXPECT_MEM(out.decline.peer_id, pc, 8);
			EXPECT_EQ(out.decline.diagnosis, 2);
			buf[len - 1] ^= 1;
			EXPECT_EQ(decode(SMCR_CLC_DECLINE, buf, len, &out),
				  SMCR_R_CLC_EYE_CATCHER);
		}
}

TEST(smcr_clc_encode__round_trip)
{
	union any in, out;
	u32 i, j;

	for (i = 0; i < ROUNDS; i++) {
		u8 type = (u8)rnd_in(1, 4);
		u8 buf[BIG], *copy;
		int len, rc;

		memset(&in, 0, sizeof(in));
		if (type == SMCR_CLC_PROPOSAL)
			rnd_proposal(&in.proposal);
		else if (type == SMCR_CLC_DECLINE)
			rnd_decline(&in.decline);
		else
			rnd_accept(&in.accept);

		memset(buf, 0xee, BIG);
		len = encode(type, &in, buf, BIG);
		ASSERT_TRUE(len > 0);
		for (j = len; j < BIG; j++)
			ASSERT_EQ(buf[j], 0xee);
		ASSERT_EQ(decode(type, buf, len, &out), SMCR_R_NONE);
		switch (type) {
		case SMCR_CLC_PROPOSAL:
			EXPECT_MEM(&in.proposal, &out.proposal,
				   sizeof(in.proposal));
			break;
		case SMCR_CLC_DECLINE:
			EXPECT_MEM(&in.decline, &out.decline,
				   sizeof(in.decline));
			break;
		default:
			EXPECT_MEM(&in.accept, &out.accept, sizeof(in.accept));
		}

		/* just enough room, and a byte less */
		copy = malloc(len);
		ASSERT_TRUE(copy);
		rc = encode(type, &in, copy, len);
		EXPECT_EQ(rc, len);
		EXPECT_MEM(copy, buf, len);
		EXPECT_EQ(encode(type, &in, copy, len - 1), -EMSGSIZE);
		EXPECT_EQ(encode(type, &in, copy, 0), -EMSGSIZE);
		free(copy);
	}
}

TEST(smcr_clc_encode_proposal__invalid)
{
	struct smcr_clc_proposal good, p;
	u8 buf[BIG];

	memset(&good, 0, sizeof(good));
	good.version = 1;
	good.gid[15] = 1;
	EXPECT_EQ(smcr_clc_encode_proposal(&good, buf, BIG), 52);
#define BAD(field, value) do { \
	p = good; \
	p.field = value; \
	EXPECT_EQ(smcr_clc_encode_proposal(&p, buf, BIG), -EINVAL); \
} while (0)
	BAD(version, 0);
	BAD(version, 16);
	BAD(gid[15], 0);
	BAD(ipv4_plen, 33);
	BAD(n_prefix, 9);
	good.n_prefix = 8;
	BAD(prefix[7].plen, 129);
#undef BAD
}

TEST(smcr_clc_encode_accept__invalid)
{
	struct smcr_clc_accept good, a;
	u8 buf[BIG];

	memset(&good, 0, sizeof(good));
	good.type = SMCR_CLC_CONFIRM;
	good.gid[0] = 1;
	good.qpn = 0xffffff;
	good.psn = 0xffffff;
	good.index = 1;
	good.bsize = 15;
	good.mtu = 15;
	EXPECT_EQ(smcr_clc_encode_accept(&good, buf, BIG), 68);
#define BAD(field, value) do { \
	a = good; \
	a.field = value; \
	EXPECT_EQ(smcr_clc_encode_accept(&a, buf, BIG), -EINVAL); \
} while (0)
	BAD(type, SMCR_CLC_PROPOSAL);
	BAD(type, SMCR_CLC_DECLINE);
	BAD(type, 0);
	BAD(first_contact, true);
	BAD(gid[0], 0);
	BAD(qpn, 0);
	BAD(qpn, 0x1000000);
	BAD(psn, 0x1000000);
	BAD(index, 0);
	BAD(bsize, 16);
	BAD(mtu, 16);
#undef BAD
}

TEST(smcr_mtu_ok__all)
{
	int i;

	for (i = 0; i < 256; i++)
		EXPECT_EQ(smcr_mtu_ok((u8)i), i >= 1 && i <= 5);
}

TEST(smcr_bsize__all)
{
	int i;

	for (i = 0; i < 256; i++)
		EXPECT_EQ(smcr_bsize_ok((u8)i), i <= 5);
	for (i = 0; i <= 5; i++)
		EXPECT_EQ(smcr_bsize_bytes((u8)i), 1024 << (i + 4));
}

TEST(smcr_bsize_for__sizes)
{
	u32 i, r;

	covers("RMB-08");
	for (i = 0; i <= 5; i++) {
		EXPECT_EQ(smcr_bsize_for(16384U << i), i);
		EXPECT_EQ(smcr_bsize_for((16384U << i) + 1), min_t(u32, i + 1, 5));
	}
	for (i = 0; i < ROUNDS; i++) {
		u8 bsize;

		r = rnd(600000);
		bsize = smcr_bsize_for(r);
		/* large enough, or the largest; the next smaller one is not */
		EXPECT_TRUE(smcr_bsize_bytes(bsize) >= r || bsize == 5);
		EXPECT_TRUE(!bsize || smcr_bsize_bytes(bsize - 1) < r);
	}
	EXPECT_EQ(smcr_bsize_for(1), 0);
	EXPECT_EQ(smcr_bsize_for(200000), 4);
	EXPECT_EQ(smcr_bsize_for(0xffffffff), 5);
}
