// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/urgent.c: urgent data at the sender and the receiver. */
#include "ktap.h"

#include "urgent.h"

enum { B = SMCR_CDC_B, P = SMCR_CDC_P, U = SMCR_CDC_U, PU = P | U,
       NEWS = SMCR_URG_EV_NEWS, BYTE = SMCR_URG_EV_BYTE };

TEST(urgent_tx__nothing_urgent)
{
	struct smcr_urg_tx urg = { };

	EXPECT_EQ(smcr_urg_tx_may(&urg, 0, 70), 70);
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 0), 0);
	EXPECT_FALSE(smcr_urg_tx_due(&urg, 0));
	smcr_urg_tx_sent(&urg, 0, 0);
	smcr_urg_tx_acked(&urg, 0);
	EXPECT_EQ(smcr_urg_tx_may(&urg, 0, 70), 70);
}

TEST(urgent_tx__stops_behind_the_byte)
{
	struct smcr_urg_tx urg = { };

	covers("CDC-34 CDC-36 CDC-38");
	smcr_urg_tx_queue(&urg, 1500);
	/* 1000 ordinary bytes are queued behind it */
	EXPECT_EQ(smcr_urg_tx_may(&urg, 1000, 1500), 500);
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 1500), PU);
	smcr_urg_tx_sent(&urg, 1500, 0);
	EXPECT_EQ(smcr_urg_tx_may(&urg, 1500, 1000), 0);
	/* other CDCs meanwhile have the same flags */
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 1500), PU);
	smcr_urg_tx_sent(&urg, 1500, 0);
	smcr_urg_tx_acked(&urg, 1499);
	EXPECT_EQ(smcr_urg_tx_may(&urg, 1500, 1000), 0);
	smcr_urg_tx_acked(&urg, 1500);
	EXPECT_EQ(smcr_urg_tx_may(&urg, 1500, 1000), 1000);
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 2500), 0);
}

TEST(urgent_tx__consumed_before)
{
	struct smcr_urg_tx urg = { };

	covers("CDC-38");
	/* written and read before it became urgent: U follows alone */
	smcr_urg_tx_queue(&urg, 500);
	EXPECT_TRUE(smcr_urg_tx_due(&urg, 500));
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 500), PU);
	smcr_urg_tx_sent(&urg, 500, 500);
	/* no acknowledgment comes for it */
	EXPECT_EQ(smcr_urg_tx_may(&urg, 500, 1000), 1000);
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 1500), 0);
	EXPECT_FALSE(smcr_urg_tx_due(&urg, 500));
}

TEST(urgent_rx__owed)
{
	struct smcr_urg_rx urg = { };

	covers("CDC-37");
	EXPECT_FALSE(smcr_urg_rx_owed(&urg, 0, 100));
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 500, 100), NEWS | BYTE);
	EXPECT_FALSE(smcr_urg_rx_owed(&urg, 100, 499));
	EXPECT_TRUE(smcr_urg_rx_owed(&urg, 100, 500));
	/* whatever the flags of later CDCs */
	EXPECT_EQ(smcr_urg_rx_flags(&urg, 0, 500, 100), 0);
	EXPECT_TRUE(smcr_urg_rx_owed(&urg, 499, 500));
	EXPECT_TRUE(smcr_urg_rx_owed(&urg, 499, 800));
	/* announced */
	EXPECT_FALSE(smcr_urg_rx_owed(&urg, 500, 800));
}

TEST(urgent_tx__window_closed)
{
	struct smcr_urg_tx urg = { };

	covers("CDC-39");
	smcr_urg_tx_queue(&urg, 1500);
	EXPECT_TRUE(smcr_urg_tx_due(&urg, 1000));
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 1000), P);
	smcr_urg_tx_sent(&urg, 1000, 0);
	EXPECT_FALSE(smcr_urg_tx_due(&urg, 1000));	/* P was sent */
	EXPECT_EQ(smcr_urg_tx_may(&urg, 1000, 500), 500);
	/* room for a part of it */
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 1499), P);
	smcr_urg_tx_sent(&urg, 1499, 0);
	EXPECT_FALSE(smcr_urg_tx_due(&urg, 1499));
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 1500), PU);
	smcr_urg_tx_sent(&urg, 1500, 0);
	EXPECT_FALSE(smcr_urg_tx_due(&urg, 1500));
	smcr_urg_tx_acked(&urg, 1500);
	/* the next one needs another P */
	smcr_urg_tx_queue(&urg, 1501);
	EXPECT_TRUE(smcr_urg_tx_due(&urg, 1500));
}

TEST(urgent_tx__second_one)
{
	struct smcr_urg_tx urg = { };

	covers("CDC-11 CDC-41");
	/* not announced by U yet: the pointer moves, as TCP's */
	smcr_urg_tx_queue(&urg, 10);
	smcr_urg_tx_queue(&urg, 20);
	EXPECT_EQ(smcr_urg_tx_may(&urg, 0, 30), 20);
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 10), P);
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 20), PU);
	smcr_urg_tx_sent(&urg, 20, 0);
	/* announced: the next one waits, and is replaced by another one */
	smcr_urg_tx_queue(&urg, 25);
	smcr_urg_tx_queue(&urg, 30);
	EXPECT_EQ(smcr_urg_tx_may(&urg, 20, 10), 0);
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 20), PU);
	EXPECT_FALSE(smcr_urg_tx_due(&urg, 20));
	smcr_urg_tx_sent(&urg, 20, 0);
	EXPECT_EQ(smcr_urg_tx_may(&urg, 20, 10), 0);
	smcr_urg_tx_acked(&urg, 20);
	EXPECT_EQ(smcr_urg_tx_may(&urg, 20, 10), 10);
	EXPECT_TRUE(smcr_urg_tx_due(&urg, 20));
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 30), PU);
}

TEST(urgent_tx__known_too_late)
{
	struct smcr_urg_tx urg = { };

	/* the send had room for 100 bytes, which have been written */
	smcr_urg_tx_queue(&urg, 100);
	EXPECT_TRUE(smcr_urg_tx_due(&urg, 100));
	EXPECT_EQ(smcr_urg_tx_flags(&urg, 100), PU);
	smcr_urg_tx_sent(&urg, 100, 0);
	EXPECT_FALSE(smcr_urg_tx_due(&urg, 100));
	EXPECT_EQ(smcr_urg_tx_may(&urg, 100, 1), 0);
}

TEST(urgent_rx__present)
{
	struct smcr_urg_rx urg = { };

	covers("CDC-35 CDC-42");
	EXPECT_EQ(smcr_urg_rx_run(&urg, 0, 0), U64_MAX);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 500, 0), NEWS | BYTE);
	EXPECT_EQ(urg.state, SMCR_URG_PRESENT);
	EXPECT_EQ(urg.mark, 499);
	/* repeated: no new event, in any state */
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU | B, 500, 0), 0);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, 0, 500, 0), 0);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 500, 0), 0);
	urg.state = SMCR_URG_READ;
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 500, 0), 0);
	EXPECT_EQ(urg.state, SMCR_URG_READ);
	EXPECT_EQ(urg.mark, 499);
	/* a reader before it, at it, behind it */
	EXPECT_EQ(smcr_urg_rx_run(&urg, 100, 100), 399);
	EXPECT_FALSE(smcr_urg_rx_at_mark(&urg, 100));
	EXPECT_FALSE(smcr_urg_rx_settle(&urg, 498, 498, false));
	EXPECT_TRUE(smcr_urg_rx_settle(&urg, 499, 499, false));
	EXPECT_EQ(smcr_urg_rx_run(&urg, 499, 500), 0);
	EXPECT_TRUE(smcr_urg_rx_at_mark(&urg, 500));
	EXPECT_FALSE(smcr_urg_rx_settle(&urg, 499, 500, false));
	EXPECT_EQ(smcr_urg_rx_ahead(&urg, 510, 500, false), 10);
	EXPECT_EQ(smcr_urg_rx_ahead(&urg, 510, 500, true), 11);
	EXPECT_FALSE(smcr_urg_rx_settle(&urg, 500, 500, false));
	EXPECT_EQ(urg.state, SMCR_URG_NONE);
	EXPECT_FALSE(smcr_urg_rx_at_mark(&urg, 500));
	EXPECT_EQ(smcr_urg_rx_run(&urg, 500, 500), U64_MAX);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 500, 500), 0);
	EXPECT_EQ(urg.state, SMCR_URG_NONE);
}

TEST(urgent_rx__inline)
{
	struct smcr_urg_rx urg = { };

	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 1, 0), NEWS | BYTE);
	EXPECT_FALSE(smcr_urg_rx_settle(&urg, 0, 0, true));
	EXPECT_TRUE(smcr_urg_rx_at_mark(&urg, 0));
	EXPECT_EQ(smcr_urg_rx_run(&urg, 0, 0), 0);
	EXPECT_EQ(smcr_urg_rx_run(&urg, 1, 0), U64_MAX);	/* of a peek */
	EXPECT_EQ(smcr_urg_rx_ahead(&urg, 1, 0, true), 1);
	EXPECT_FALSE(smcr_urg_rx_settle(&urg, 1, 1, true));
	EXPECT_EQ(urg.state, SMCR_URG_NONE);
}

TEST(urgent_rx__pending)
{
	struct smcr_urg_rx urg = { };

	covers("CDC-35 CDC-42");
	EXPECT_EQ(smcr_urg_rx_flags(&urg, P | B, 0, 0), NEWS);
	EXPECT_EQ(urg.state, SMCR_URG_PENDING);
	EXPECT_EQ(smcr_urg_rx_run(&urg, 0, 0), U64_MAX);
	EXPECT_FALSE(smcr_urg_rx_at_mark(&urg, 0));
	EXPECT_EQ(smcr_urg_rx_flags(&urg, P, 0, 0), 0);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, P, 300, 0), 0);
	/* the byte arrives */
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 500, 300), BYTE);
	EXPECT_EQ(urg.mark, 499);
	EXPECT_FALSE(smcr_urg_rx_settle(&urg, 500, 500, false));
	/* the next is announced before anything is written */
	EXPECT_EQ(smcr_urg_rx_flags(&urg, P, 500, 500), NEWS);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 501, 500), BYTE);
	/* and before the reader has passed the mark of a byte that was received out of band */
	urg.state = SMCR_URG_READ;
	EXPECT_EQ(smcr_urg_rx_flags(&urg, P, 600, 500), NEWS);
	EXPECT_EQ(urg.state, SMCR_URG_PENDING);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 700, 500), BYTE);
	EXPECT_EQ(urg.mark, 699);
}

TEST(urgent_rx__pending_taken_back)
{
	struct smcr_urg_rx urg = { };
	int i;

	covers("CDC-42");
	EXPECT_EQ(smcr_urg_rx_flags(&urg, P, 7, 0), NEWS);
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(smcr_urg_rx_flags(&urg, 0, 7, 0), 0);
		EXPECT_EQ(urg.state, SMCR_URG_NONE);
		EXPECT_EQ(smcr_urg_rx_flags(&urg, P, 7, 0), 0);
	}
	EXPECT_EQ(smcr_urg_rx_flags(&urg, P, 8, 0), NEWS);
}

TEST(urgent_rx__a_newer_one)
{
	struct smcr_urg_rx urg = { };

	covers("CDC-41");
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 10, 0), NEWS | BYTE);
	/* a peer that does not wait: the first is ordinary again, as on TCP */
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 20, 0), NEWS | BYTE);
	EXPECT_EQ(urg.mark, 19);
	EXPECT_EQ(smcr_urg_rx_run(&urg, 0, 0), 19);

	/* one behind the other, stored each: skipped together, one mark */
	memset(&urg, 0, sizeof(urg));
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 1, 0), NEWS | BYTE);
	EXPECT_TRUE(smcr_urg_rx_settle(&urg, 0, 0, false));
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 2, 1), NEWS | BYTE);
	EXPECT_TRUE(smcr_urg_rx_at_mark(&urg, 1));
	EXPECT_TRUE(smcr_urg_rx_settle(&urg, 0, 1, false));
	EXPECT_TRUE(smcr_urg_rx_at_mark(&urg, 2));
	EXPECT_EQ(smcr_urg_rx_run(&urg, 0, 2), 0);
	EXPECT_EQ(smcr_urg_rx_run(&urg, 1, 2), 0);
	EXPECT_EQ(smcr_urg_rx_ahead(&urg, 5, 2, false), 3);
	EXPECT_EQ(smcr_urg_rx_ahead(&urg, 5, 2, true), 4);
	EXPECT_FALSE(smcr_urg_rx_settle(&urg, 2, 2, false));
	EXPECT_EQ(smcr_urg_rx_run(&urg, 2, 2), U64_MAX);
}

TEST(urgent_rx__lies)
{
	struct smcr_urg_rx urg = { };

	/* there is no byte before the first */
	EXPECT_EQ(smcr_urg_rx_flags(&urg, U, 0, 0), -EPROTO);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 0, 0), -EPROTO);
	EXPECT_EQ(urg.state, SMCR_URG_NONE);
	/* what was read already is not urgent any more */
	EXPECT_EQ(smcr_urg_rx_flags(&urg, U, 10, 10), 0);
	EXPECT_EQ(urg.state, SMCR_URG_NONE);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, P, 20, 20), NEWS);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 20, 20), 0);
	EXPECT_EQ(urg.state, SMCR_URG_NONE);
	/* U without P is enough */
	EXPECT_EQ(smcr_urg_rx_flags(&urg, U, 21, 20), NEWS | BYTE);
}

TEST(urgent_rx__data_are_dropped)
{
	struct smcr_urg_rx urg = { };

	smcr_urg_rx_lost(&urg);
	EXPECT_EQ(urg.state, SMCR_URG_NONE);
	EXPECT_EQ(smcr_urg_rx_flags(&urg, PU, 1, 0), NEWS | BYTE);
	smcr_urg_rx_lost(&urg);
	EXPECT_EQ(urg.state, SMCR_URG_PENDING);
	EXPECT_EQ(smcr_urg_rx_run(&urg, 0, 0), U64_MAX);
	urg.state = SMCR_URG_READ;
	smcr_urg_rx_lost(&urg);
	EXPECT_EQ(urg.state, SMCR_URG_NONE);
}
