// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/lgr_plan.c: decisions of the handshake. */
#include "msgs.h"

#include "lgr_plan.h"

static const struct smcr_dialect *const v1 = &smcr_dialect_v1;

static u8 peer_id[8], mac[6], gid[16];
static struct smcr_link_id link = { peer_id, { mac, gid, 0 } };

/* Make @link the one that @msg names */
static void name_link(const struct smcr_clc_accept *msg)
{
	memcpy(peer_id, msg->peer_id, 8);
	memcpy(gid, msg->gid, 16);
	memcpy(mac, msg->mac, 6);
	link.peer.qpn = msg->qpn;
}

TEST(smcr_link_matches__every_part_counts)
{
	struct smcr_clc_accept msg;
	u32 i, bit;

	covers("CLC-34 LG-02");
	for (i = 0; i < 20; i++) {
		rnd_accept(&msg);
		name_link(&msg);
		EXPECT_TRUE(smcr_link_matches(v1, &link, &msg));

#define FLIPPED(field, bits) do { \
	for (bit = 0; bit < (bits); bit++) { \
		flip((u8 *)(field), bit); \
		EXPECT_FALSE(smcr_link_matches(v1, &link, &msg)); \
		flip((u8 *)(field), bit); \
	} \
} while (0)
		FLIPPED(peer_id, 64);
		FLIPPED(gid, 128);
		FLIPPED(mac, 48);
		FLIPPED(&link.peer.qpn, 32);
#undef FLIPPED
		EXPECT_TRUE(smcr_link_matches(v1, &link, &msg));
		/* a new RToken does not matter */
		msg.rkey++;
		msg.va++;
		EXPECT_TRUE(smcr_link_matches(v1, &link, &msg));
	}
}

/* The load is even afterwards, and no connection moves needlessly (LG-47) */
TEST(smcr_spread__even)
{
	u32 n[SMCR_SLOTS], more[SMCR_SLOTS], all, sum, links, share, gaps, over, fuller, i, round;
	u16 carry;

	covers("LG-47");
	for (round = 0; round < 20000; round++) {
		carry = (u16)rnd(1 << SMCR_SLOTS);
		sum = links = gaps = all = 0;
		for (i = 0; i < SMCR_SLOTS; i++) {
			n[i] = rnd(round % 2 ? 5 : 70000);
			if (!(carry >> i & 1))
				continue;
			sum += n[i];
			links++;
		}
		share = links ? sum / links : 0;
		over = fuller = 0;
		for (i = 0; i < SMCR_SLOTS; i++) {
			if (carry >> i & 1 && n[i] < share)
				gaps += share - n[i];
			if (carry >> i & 1 && n[i] > share) {
				over += n[i] - share;
				fuller++;
			}
		}
		EXPECT_TRUE(smcr_spread(n, carry, more) >= gaps);
		for (i = 0; i < SMCR_SLOTS; i++) {
			EXPECT_TRUE(more[i] <= n[i]);
			EXPECT_TRUE(carry >> i & 1 || !more[i]);
			/* what is left is the share, or one more */
			if (more[i])
				EXPECT_TRUE(n[i] - more[i] - share <= 1);
			else if (carry >> i & 1)
				EXPECT_TRUE(n[i] <= share + 1);
			all += more[i];
		}
		EXPECT_EQ(smcr_spread(n, carry, more), all);
		/* the remainder of the division does not move */
		EXPECT_EQ(all, over - min_t(u32, fuller, sum - share * links));
	}
}

TEST(smcr_accept_classify__truth_table)
{
	struct smcr_clc_accept msg;
	u32 differs;

	/* all combinations of F and of what may differ (I-10) */
	covers("CLC-34 CLC-35");
	for (differs = 0; differs < 32; differs++) {
		rnd_accept(&msg);
		msg.type = SMCR_CLC_ACCEPT;
		msg.first_contact = differs & 1;
		name_link(&msg);
		peer_id[0] ^= !!(differs & 2);
		gid[15] ^= !!(differs & 4);
		mac[5] ^= !!(differs & 8);
		link.peer.qpn ^= !!(differs & 16);
		EXPECT_EQ(smcr_accept_classify(&msg,
					       smcr_link_matches(v1, &link, &msg)),
			  differs & 1 ? SMCR_ACCEPT_FIRST :
			  differs ? SMCR_ACCEPT_OUT_OF_SYNC :
				    SMCR_ACCEPT_REUSE);
	}
}

TEST(smcr_max_links__truth_table)
{
	u32 server, client;

	covers("LG-10");
	EXPECT_EQ(smcr_max_links(4, 0), 4);
	EXPECT_EQ(smcr_max_links(4, 2), 2);
	EXPECT_EQ(smcr_max_links(4, 5), 4);
	EXPECT_EQ(smcr_max_links(4, 9), 4);
	EXPECT_EQ(smcr_max_links(4, 1), 2);
	EXPECT_EQ(smcr_max_links(8, 255), 8);
	for (server = 2; server <= 8; server++)
		for (client = 0; client < 256; client++) {
			u32 want = client < 2 ? 2 : client;

			if (!client || want > server)
				want = server;
			EXPECT_EQ(smcr_max_links((u8)server, (u8)client), want);
		}
	/* a server out of its range */
	for (server = 0; server < 256; server++)
		for (client = 0; client < 256; client++) {
			u8 max = smcr_max_links((u8)server, (u8)client);

			EXPECT_TRUE(max >= 2 && max <= 8);
		}
}

TEST(smcr_min_mtu__pairs)
{
	u8 a, b;

	for (a = 1; a <= 5; a++)
		for (b = 1; b <= 5; b++)
			EXPECT_EQ(smcr_min_mtu(a, b), a < b ? a : b);
}

TEST(smcr_subnet4_matches__table)
{
	static const struct {
		u8 net[4], plen, own[4], own_plen;
		bool match;
	} row[] = {
		{ { 192, 168, 10, 0 }, 24, { 192, 168, 10, 2 }, 24, true },
		{ { 192, 168, 10, 0 }, 24, { 192, 168, 11, 2 }, 24, false },
		{ { 192, 168, 10, 0 }, 24, { 192, 168, 10, 2 }, 20, false },
		{ { 192, 168, 0, 0 }, 20, { 192, 168, 15, 255 }, 20, true },
		{ { 192, 168, 0, 0 }, 20, { 192, 168, 16, 0 }, 20, false },
		{ { 10, 0, 0, 0 }, 8, { 10, 255, 1, 2 }, 8, true },
		{ { 10, 0, 0, 0 }, 7, { 11, 0, 0, 1 }, 7, true },
		{ { 10, 0, 0, 0 }, 7, { 12, 0, 0, 1 }, 7, false },
		{ { 10, 0, 0, 1 }, 32, { 10, 0, 0, 1 }, 32, true },
		{ { 10, 0, 0, 1 }, 32, { 10, 0, 0, 2 }, 32, false },
		{ { 10, 0, 0, 0 }, 31, { 10, 0, 0, 1 }, 31, true },
		/* no subnet: what a Proposal over IPv6 has */
		{ { 0, 0, 0, 0 }, 0, { 10, 0, 0, 2 }, 0, false },
		{ { 0, 0, 0, 0 }, 33, { 0, 0, 0, 0 }, 33, false },
	};
	u32 i;

	covers("CLC-25");
	for (i = 0; i < ARRAY_SIZE(row); i++)
		EXPECT_EQ(smcr_subnet4_matches(row[i].net, row[i].plen,
					       row[i].own, row[i].own_plen),
			  row[i].match);
}

TEST(smcr_subnet4_matches__every_bit)
{
	u8 net[4], own[4], plen;
	u32 bit;

	covers("CLC-25");
	for (plen = 1; plen <= 32; plen++) {
		rnd_bytes(net, 4);
		memcpy(own, net, 4);
		for (bit = 0; bit < 32; bit++) {
			flip(own, bit);
			EXPECT_EQ(smcr_subnet4_matches(net, plen, own, plen),
				  bit >= plen);
			flip(own, bit);
		}
	}
}

TEST(smcr_prefix6_matches__every_bit)
{
	struct smcr_clc_prefix prefix;
	u32 plen, bit;
	u8 own[16];

	covers("CLC-26");
	for (plen = 1; plen <= 128; plen++) {
		rnd_bytes(prefix.addr, 16);
		prefix.plen = (u8)plen;
		memcpy(own, prefix.addr, 16);
		EXPECT_TRUE(smcr_prefix6_matches(&prefix, own, (u8)plen));
		for (bit = 0; bit < 128; bit++) {
			flip(own, bit);
			EXPECT_EQ(smcr_prefix6_matches(&prefix, own, (u8)plen),
				  bit >= plen);
			flip(own, bit);
		}
		/* the same network with another length */
		EXPECT_FALSE(smcr_prefix6_matches(&prefix, own,
						  (u8)(plen - 1)));
		EXPECT_FALSE(smcr_prefix6_matches(&prefix, own,
						  (u8)(plen + 1)));
	}
	prefix.plen = 0;
	EXPECT_FALSE(smcr_prefix6_matches(&prefix, own, 0));
	prefix.plen = 129;
	EXPECT_FALSE(smcr_prefix6_matches(&prefix, own, 129));
}
