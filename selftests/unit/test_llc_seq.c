// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/llc_seq.c: LLC exchange sequencing. */
#include "msgs.h"

#include "llc_seq.h"

enum { CLIENT, SERVER };	/* who receives */

/* A request as the other side would send it */
static struct smcr_llc request(u8 type)
{
	struct smcr_llc m;

	do {
		rnd_llc(&m, type);
		m.reply = false;
	} while (type == SMCR_LLC_ADD_LINK &&
		 (m.add_link.rejected || !m.add_link.link_num));
	if (type == SMCR_LLC_DELETE_LINK) {
		m.delete_link.all = false;
		m.delete_link.reason = SMCR_DEL_LOST_PATH;
	}
	return m;
}

static struct smcr_llc reply(u8 type)
{
	struct smcr_llc m = request(type);

	m.reply = true;
	return m;
}

/*
 * The rows of the catalogue's Part E.1, transcribed. "own" is what the first
 * column of the table here says of who receives; the columns are: nothing runs,
 * first contact, ADD LINK..CONFIRM LINK, server DELETE LINK, own RKEY exchange.
 * First contact is the ADD LINK column, for it ends with one.
 */
#define D SMCR_LLC_DO
#define A SMCR_LLC_ANSWER
#define Q SMCR_LLC_QUEUE
#define R SMCR_LLC_REFUSE
#define I SMCR_LLC_IGNORE
#define F SMCR_LLC_FAIL
static const struct {
	u8 at, type;
	u8 want[NR_SMCR_XCHG];
} matrix[] = {
	/* TEST LINK: reply now (LLC-73, LLC-78, LLC-83) */
	{ SERVER, SMCR_LLC_TEST_LINK,		{ D, D, D, D, D } },
	{ CLIENT, SMCR_LLC_TEST_LINK,		{ D, D, D, D, D } },
	/* client ADD LINK notice: ignore, queue, queue (LLC-74, 79, 84) */
	{ SERVER, SMCR_LLC_ADD_LINK,		{ D, I, I, Q, Q } },
	/* server ADD LINK: answer to a notice, cannot be, process (LLC-85) */
	{ CLIENT, SMCR_LLC_ADD_LINK,		{ D, F, A, F, D } },
	/* client DELETE LINK, one link: queue (LLC-75, LLC-80, LLC-86) */
	{ SERVER, SMCR_LLC_DELETE_LINK,		{ D, Q, Q, Q, Q } },
	/* server's: ends an ADD LINK, is the exchange, process (LLC-87) */
	{ CLIENT, SMCR_LLC_DELETE_LINK,		{ D, D, D, D, D } },
	/* client CONFIRM RKEY: refuse, refuse, answer (LLC-77, 82, 89) */
	{ SERVER, SMCR_LLC_CONFIRM_RKEY,	{ D, R, R, R, D } },
	{ SERVER, SMCR_LLC_CONFIRM_RKEY_CONT,	{ D, R, R, R, D } },
	/* server CONFIRM RKEY: cannot be, cannot be, answer */
	{ CLIENT, SMCR_LLC_CONFIRM_RKEY,	{ D, F, F, F, D } },
	{ CLIENT, SMCR_LLC_CONFIRM_RKEY_CONT,	{ D, F, F, F, D } },
	/* DELETE RKEY: hold, hold, answer (LLC-90, LLC-89) */
	{ SERVER, SMCR_LLC_DELETE_RKEY,		{ D, Q, Q, Q, D } },
	{ CLIENT, SMCR_LLC_DELETE_RKEY,		{ D, Q, Q, Q, D } },
	/* nobody asks a server for these (LLC-18, LLC-36) */
	{ SERVER, SMCR_LLC_CONFIRM_LINK,	{ F, F, F, F, F } },
	{ SERVER, SMCR_LLC_ADD_LINK_CONT,	{ F, F, F, F, F } },
	/* steps of an exchange that nobody waits for */
	{ CLIENT, SMCR_LLC_CONFIRM_LINK,	{ F, F, F, F, F } },
	{ CLIENT, SMCR_LLC_ADD_LINK_CONT,	{ F, F, F, F, F } },
};
#undef D
#undef A
#undef Q
#undef R
#undef I
#undef F

TEST(smcr_llc_classify__collision_matrix)
{
	u32 i, xchg, late, test;

	EXPECT_EQ(ARRAY_SIZE(matrix), 2 * ARRAY_SIZE(llc_types));
	for (i = 0; i < ARRAY_SIZE(matrix); i++) {
		for (xchg = 0; xchg < NR_SMCR_XCHG; xchg++) {
			struct smcr_llc m = request(matrix[i].type);
			struct smcr_llc_seq seq = {
				.server = matrix[i].at == SERVER,
				.xchg = (u8)xchg,
			};

			/* neither of these two has a say */
			for (late = 0; late < 2; late++)
				for (test = 0; test < 2; test++) {
					seq.test_pending = test;
					EXPECT_EQ(smcr_llc_classify(&seq, &m,
								    late),
						  matrix[i].want[xchg]);
				}
		}
	}
}

TEST(smcr_llc_classify__whole_group)
{
	struct smcr_llc m = request(SMCR_LLC_DELETE_LINK);
	u32 server, xchg, awaits;

	/* LLC-76, LLC-81, LLC-88: always, whatever runs */
	m.delete_link.all = true;
	m.delete_link.link_num = 0;
	for (server = 0; server < 2; server++)
		for (xchg = 0; xchg < NR_SMCR_XCHG; xchg++)
			for (awaits = 0; awaits < 20; awaits++) {
				struct smcr_llc_seq seq = {
					.server = server,
					.xchg = (u8)xchg,
					.awaits = (u8)awaits / 2,
					.awaits_reply = awaits & 1,
				};

				EXPECT_EQ(smcr_llc_classify(&seq, &m, false),
					  SMCR_LLC_DO);
			}
}

TEST(smcr_llc_classify__awaited_reply)
{
	u32 i, j, server, xchg;

	for (i = 0; i < ARRAY_SIZE(llc_types); i++) {
		u8 type = llc_types[i];
		bool only_server = type == SMCR_LLC_CONFIRM_LINK ||
				   type == SMCR_LLC_ADD_LINK ||
				   type == SMCR_LLC_ADD_LINK_CONT;
		struct smcr_llc m = reply(type);

		if (type == SMCR_LLC_TEST_LINK)
			continue;
		for (server = 0; server < 2; server++)
			for (xchg = 0; xchg < NR_SMCR_XCHG; xchg++) {
				struct smcr_llc_seq seq = {
					.server = server,
					.xchg = (u8)xchg,
					.awaits_reply = true,
				};
				bool can = server || !only_server;

				/* another reply, or the request of its kind */
				for (j = 0; j < ARRAY_SIZE(llc_types); j++) {
					seq.awaits = llc_types[j];
					EXPECT_EQ(smcr_llc_classify(&seq, &m,
								    false),
						  i == j && can ?
						  SMCR_LLC_ANSWER :
						  SMCR_LLC_FAIL);
					EXPECT_EQ(smcr_llc_classify(&seq, &m,
								    true),
						  !can ? SMCR_LLC_FAIL :
						  i == j ? SMCR_LLC_ANSWER :
							   SMCR_LLC_IGNORE);
				}
				seq.awaits = 0;
				EXPECT_EQ(smcr_llc_classify(&seq, &m, false),
					  SMCR_LLC_FAIL);
			}
	}
}

TEST(smcr_llc_classify__test_link_reply)
{
	struct smcr_llc m = reply(SMCR_LLC_TEST_LINK);
	u32 server, xchg, late;

	for (server = 0; server < 2; server++)
		for (xchg = 0; xchg < NR_SMCR_XCHG; xchg++)
			for (late = 0; late < 2; late++) {
				struct smcr_llc_seq seq = {
					.server = server,
					.xchg = (u8)xchg,
					.awaits = SMCR_LLC_TEST_LINK,
					.awaits_reply = true,
				};

				EXPECT_EQ(smcr_llc_classify(&seq, &m, late),
					  late ? SMCR_LLC_IGNORE :
						 SMCR_LLC_FAIL);
				seq.test_pending = true;
				EXPECT_EQ(smcr_llc_classify(&seq, &m, late),
					  SMCR_LLC_ANSWER);
			}
}

TEST(smcr_llc_classify__steps_of_the_client)
{
	static const struct {
		u8 xchg, type;
	} step[] = {
		{ SMCR_XCHG_FIRST_CONTACT, SMCR_LLC_CONFIRM_LINK },
		{ SMCR_XCHG_FIRST_CONTACT, SMCR_LLC_ADD_LINK },
		{ SMCR_XCHG_FIRST_CONTACT, SMCR_LLC_ADD_LINK_CONT },
		{ SMCR_XCHG_FIRST_CONTACT, SMCR_LLC_DELETE_LINK },
		{ SMCR_XCHG_ADD_LINK, SMCR_LLC_ADD_LINK },
		{ SMCR_XCHG_ADD_LINK, SMCR_LLC_ADD_LINK_CONT },
		{ SMCR_XCHG_ADD_LINK, SMCR_LLC_CONFIRM_LINK },
		{ SMCR_XCHG_DELETE_LINK, SMCR_LLC_DELETE_LINK },
		{ SMCR_XCHG_NONE, SMCR_LLC_DELETE_LINK },
		{ SMCR_XCHG_NONE, SMCR_LLC_ADD_LINK },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(step); i++) {
		struct smcr_llc m = request(step[i].type);
		struct smcr_llc_seq seq = {
			.xchg = step[i].xchg,
			.awaits = step[i].type,
		};

		EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_ANSWER);
		/* no server waits for a request: a client cannot start these */
		seq.server = true;
		EXPECT_NE(smcr_llc_classify(&seq, &m, false), SMCR_LLC_ANSWER);
		seq.server = false;
		/* a request is no reply */
		seq.awaits_reply = true;
		EXPECT_NE(smcr_llc_classify(&seq, &m, false), SMCR_LLC_ANSWER);
	}
}

TEST(smcr_llc_classify__offer_without_link)
{
	struct smcr_llc_seq seq = {
		.xchg = SMCR_XCHG_FIRST_CONTACT,
		.awaits = SMCR_LLC_ADD_LINK,
	};
	struct smcr_llc m = request(SMCR_LLC_ADD_LINK);

	/* fields that only a client's notice may leave out (I-14) */
	m.add_link.qpn = 0;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_FAIL);
	m = request(SMCR_LLC_ADD_LINK);
	m.add_link.link_num = 0;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_FAIL);
	seq = (struct smcr_llc_seq){ 0 };
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_FAIL);
	seq.server = true;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_DO);
}

TEST(smcr_llc_classify__offer_within_add_link)
{
	struct smcr_llc_seq seq = {
		.xchg = SMCR_XCHG_ADD_LINK,
		.awaits = SMCR_LLC_ADD_LINK_CONT,
	};
	struct smcr_llc m = request(SMCR_LLC_ADD_LINK);

	/* servers serialise: no second offer before the first is settled */
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_FAIL);
	seq.awaits = SMCR_LLC_CONFIRM_LINK;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_FAIL);
}

TEST(smcr_llc_classify__own_notice_is_no_exchange)
{
	struct smcr_llc_seq seq = {
		.xchg = SMCR_XCHG_DELETE_LINK,
		.awaits = SMCR_LLC_DELETE_LINK,
	};
	static const u8 type[] = {
		SMCR_LLC_ADD_LINK, SMCR_LLC_CONFIRM_RKEY, SMCR_LLC_DELETE_RKEY,
		SMCR_LLC_CONFIRM_RKEY_CONT,
	};
	struct smcr_llc m;
	u32 i;

	/*
	 * The client asked for a deletion while the server had an exchange
	 * under way, which it ends first (LLC-75, LLC-86).
	 */
	for (i = 0; i < ARRAY_SIZE(type); i++) {
		m = request(type[i]);
		EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_DO);
	}
	m = request(SMCR_LLC_DELETE_LINK);
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_ANSWER);
}

TEST(smcr_llc_classify__unknown_link_reply)
{
	struct smcr_llc_seq seq = { .awaits = SMCR_LLC_DELETE_LINK };
	struct smcr_llc m = reply(SMCR_LLC_DELETE_LINK);

	/* LLC-49: all that the client's notice gets if the link is unknown */
	m.delete_link.reason = SMCR_DEL_UNKNOWN_LINK;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_ANSWER);
	/*
	 * The notice crossed the server's own DELETE LINK, which the client
	 * took for the answer; by now the server does not know the link.
	 */
	seq.awaits = 0;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_IGNORE);
	/* a server never gets one that it did not ask for */
	seq.server = true;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_FAIL);
	/* another reason means that something is wrong */
	seq.server = false;
	m.delete_link.reason = SMCR_DEL_LOST_PATH;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_FAIL);
	EXPECT_EQ(smcr_llc_classify(&seq, &m, true), SMCR_LLC_IGNORE);
}

TEST(smcr_llc_classify__abandoned_rkey)
{
	struct smcr_llc m = reply(SMCR_LLC_CONFIRM_RKEY);
	struct smcr_llc_seq seq = {
		.xchg = SMCR_XCHG_ADD_LINK,
		.awaits = SMCR_LLC_ADD_LINK_CONT,
	};

	/* LLC-85, LLC-87: the refusal comes while the other exchange runs */
	EXPECT_EQ(smcr_llc_classify(&seq, &m, true), SMCR_LLC_IGNORE);
	seq.xchg = SMCR_XCHG_DELETE_LINK;
	seq.awaits = 0;
	EXPECT_EQ(smcr_llc_classify(&seq, &m, true), SMCR_LLC_IGNORE);
	EXPECT_EQ(smcr_llc_classify(&seq, &m, false), SMCR_LLC_FAIL);
}

/* What no state may do with this message */
static void every_state(const struct smcr_llc *m, bool known)
{
	u32 i;

	for (i = 0; i < 2 * NR_SMCR_XCHG * 10 * 2 * 2 * 2; i++) {
		struct smcr_llc_seq seq = {
			.server = i & 1,
			.awaits_reply = i & 2,
			.test_pending = i & 4,
			.awaits = (u8)(i / 16 % 10),
			.xchg = (u8)(i / 160),
		};
		bool late = i & 8;
		u32 v = smcr_llc_classify(&seq, m, late);

		ASSERT_LE(v, SMCR_LLC_FAIL);
		/* a reply is waited for, late or wrong */
		if (m->reply)
			EXPECT_TRUE(v == SMCR_LLC_ANSWER ||
				    v == SMCR_LLC_IGNORE ||
				    v == SMCR_LLC_FAIL);
		if (v == SMCR_LLC_REFUSE)
			EXPECT_TRUE(seq.server && !m->reply &&
				    (m->type == SMCR_LLC_CONFIRM_RKEY ||
				     m->type == SMCR_LLC_CONFIRM_RKEY_CONT));
		if (!known && m->type != seq.awaits && !late)
			EXPECT_EQ(v, SMCR_LLC_FAIL);
	}
}

TEST(smcr_llc_classify__everything)
{
	u32 type, i, reply;

	for (type = 0; type < 256; type++) {
		bool known = false;

		for (i = 0; i < ARRAY_SIZE(llc_types); i++)
			known |= llc_types[i] == type;
		for (reply = 0; reply < 2; reply++) {
			struct smcr_llc m;

			rnd_llc(&m, (u8)type);
			m.reply = reply;
			every_state(&m, known);
		}
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

	/* LLC-38; the module of today has no exchange that counts so */
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
