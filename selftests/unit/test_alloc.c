// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/alloc.c: elements of an RMB, link numbers. */
#include "ktap.h"

#include "alloc.h"

TEST(smcr_elems_init__any_number)
{
	struct smcr_elems e;
	u32 n, i;

	covers("RMB-01 RMB-02");
	for (n = 1; n <= 255; n++) {
		bool seen[256] = { false };

		memset(&e, 0xa5, sizeof(e));
		smcr_elems_init(&e, (u16)n);
		EXPECT_TRUE(smcr_elems_idle(&e));
		for (i = 0; i < n; i++) {
			u8 index = smcr_elems_get(&e);

			ASSERT_TRUE(index >= 1 && index <= n);
			EXPECT_FALSE(seen[index]);
			seen[index] = true;
			EXPECT_FALSE(smcr_elems_idle(&e));
		}
		EXPECT_EQ(smcr_elems_get(&e), 0);
		EXPECT_EQ(e.n_free, 0);
	}
	/* more than an RMB can have, and none at all */
	smcr_elems_init(&e, 1000);
	EXPECT_EQ(e.n, 255);
	smcr_elems_init(&e, 0);
	EXPECT_EQ(smcr_elems_get(&e), 0);
}

TEST(smcr_elems_get__next_fit)
{
	struct smcr_elems e;
	u32 i;

	/* an element that was freed comes again after all the other ones */
	smcr_elems_init(&e, 5);
	for (i = 0; i < 23; i++) {
		u8 index = smcr_elems_get(&e);

		EXPECT_EQ(index, i % 5 + 1);
		EXPECT_TRUE(smcr_elems_put(&e, index, false));
	}
	/* busy ones are skipped */
	smcr_elems_init(&e, 4);
	EXPECT_EQ(smcr_elems_get(&e), 1);
	EXPECT_EQ(smcr_elems_get(&e), 2);
	EXPECT_EQ(smcr_elems_get(&e), 3);
	EXPECT_TRUE(smcr_elems_put(&e, 2, false));
	EXPECT_EQ(smcr_elems_get(&e), 4);
	EXPECT_EQ(smcr_elems_get(&e), 2);
	EXPECT_EQ(smcr_elems_get(&e), 0);
	EXPECT_TRUE(smcr_elems_put(&e, 3, false));
	EXPECT_EQ(smcr_elems_get(&e), 3);
}

TEST(smcr_elems_put__only_busy)
{
	struct smcr_elems e;
	u8 index;

	smcr_elems_init(&e, 3);
	EXPECT_FALSE(smcr_elems_put(&e, 0, false));
	EXPECT_FALSE(smcr_elems_put(&e, 1, false));
	EXPECT_FALSE(smcr_elems_put(&e, 4, false));
	EXPECT_FALSE(smcr_elems_put(&e, 255, true));
	index = smcr_elems_get(&e);
	EXPECT_TRUE(smcr_elems_put(&e, index, false));
	EXPECT_FALSE(smcr_elems_put(&e, index, false));
	EXPECT_FALSE(smcr_elems_put(&e, index, true));
	EXPECT_EQ(e.n_free, 3);
}

TEST(smcr_elems_release__quarantine)
{
	struct smcr_elems e;

	covers("RMB-22");
	smcr_elems_init(&e, 2);
	EXPECT_EQ(smcr_elems_get(&e), 1);
	EXPECT_FALSE(smcr_elems_release(&e, 1));
	EXPECT_TRUE(smcr_elems_put(&e, 1, true));
	EXPECT_FALSE(smcr_elems_idle(&e));
	EXPECT_FALSE(smcr_elems_put(&e, 1, false));
	EXPECT_EQ(smcr_elems_get(&e), 2);
	EXPECT_EQ(smcr_elems_get(&e), 0);
	EXPECT_TRUE(smcr_elems_release(&e, 1));
	EXPECT_FALSE(smcr_elems_release(&e, 1));
	EXPECT_FALSE(smcr_elems_release(&e, 0));
	EXPECT_FALSE(smcr_elems_release(&e, 3));
	EXPECT_EQ(smcr_elems_get(&e), 1);
}

TEST(smcr_elems__random)
{
	u8 state[256] = { 0 };
	struct smcr_elems e;
	u32 i, j, n_free;

	for (i = 0; i < 200000; i++) {
		u8 index = (u8)rnd(256);

		if (!(i % 20000)) {
			memset(state, SMCR_ELEM_FREE, sizeof(state));
			smcr_elems_init(&e, (u16)rnd_in(1, 255));
		}
		switch (rnd(4)) {
		case 0:
		case 1:
			index = smcr_elems_get(&e);
			n_free = 0;
			for (j = 1; j <= e.n; j++)
				n_free += state[j] == SMCR_ELEM_FREE;
			EXPECT_EQ(!index, !n_free);
			if (index) {
				EXPECT_EQ(state[index], SMCR_ELEM_FREE);
				state[index] = SMCR_ELEM_BUSY;
				n_free--;
			}
			EXPECT_EQ(e.n_free, n_free);
			EXPECT_EQ(smcr_elems_idle(&e), n_free == e.n);
			break;
		case 2:
			j = rnd_bool();
			EXPECT_EQ(smcr_elems_put(&e, index, j),
				  index && state[index] == SMCR_ELEM_BUSY);
			if (state[index] == SMCR_ELEM_BUSY)
				state[index] = j ? SMCR_ELEM_QUARANTINE :
						   SMCR_ELEM_FREE;
			break;
		default:
			EXPECT_EQ(smcr_elems_release(&e, index),
				  state[index] == SMCR_ELEM_QUARANTINE);
			if (state[index] == SMCR_ELEM_QUARANTINE)
				state[index] = SMCR_ELEM_FREE;
		}
	}
}

TEST(smcr_link_num_get__no_reuse)
{
	struct smcr_link_nums l = { 0 };
	u32 i, want = 2;

	/*
	 * Link 1 stays, another one is added and deleted again and again
	 * (LG-13).
	 */
	EXPECT_EQ(smcr_link_num_get(&l), 1);
	for (i = 0; i < 1000; i++) {
		u8 num = smcr_link_num_get(&l);

		EXPECT_EQ(num, want);
		smcr_link_num_put(&l, num);
		want = want == 255 ? 2 : want + 1;
	}
}

TEST(smcr_link_num_get__all)
{
	struct smcr_link_nums l = { 0 };
	u32 i;

	for (i = 1; i <= 255; i++)
		EXPECT_EQ(smcr_link_num_get(&l), i);
	EXPECT_EQ(smcr_link_num_get(&l), 0);
	EXPECT_EQ(smcr_link_num_get(&l), 0);
	smcr_link_num_put(&l, 0);
	EXPECT_EQ(smcr_link_num_get(&l), 0);
	smcr_link_num_put(&l, 77);
	smcr_link_num_put(&l, 33);
	EXPECT_EQ(smcr_link_num_get(&l), 33);
	EXPECT_EQ(smcr_link_num_get(&l), 77);
	EXPECT_EQ(smcr_link_num_get(&l), 0);
	/* also the one given out last, if no other one is free */
	smcr_link_num_put(&l, 77);
	EXPECT_EQ(smcr_link_num_get(&l), 77);
}

TEST(smcr_link_num_get__rests_longest)
{
	struct smcr_link_nums l = { 0 };
	u32 given[256] = { 0 };
	bool used[256] = { false };
	u32 i, j, live = 0;

	for (i = 1; i < 100000; i++) {
		u8 num = (u8)rnd(256);

		if (rnd_bool() && live < 9) {
			num = smcr_link_num_get(&l);
			ASSERT_NE(num, 0);
			EXPECT_FALSE(used[num]);
			/* each other one is in use, or was given out later */
			for (j = 1; j < 256; j++)
				EXPECT_TRUE(used[j] || given[num] <= given[j]);
			used[num] = true;
			given[num] = i;
			live++;
		} else if (used[num]) {
			smcr_link_num_put(&l, num);
			used[num] = false;
			live--;
		}
	}
}

TEST(smcr_link_num_take__peer)
{
	struct smcr_link_nums l = { 0 };
	u32 i;

	EXPECT_FALSE(smcr_link_num_take(&l, 0));
	for (i = 1; i <= 255; i++) {
		EXPECT_TRUE(smcr_link_num_take(&l, (u8)i));
		EXPECT_FALSE(smcr_link_num_take(&l, (u8)i));
	}
	for (i = 255; i; i--) {
		smcr_link_num_put(&l, (u8)i);
		EXPECT_TRUE(smcr_link_num_take(&l, (u8)i));
	}
}
