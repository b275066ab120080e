// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any sequence of messages to either side, in any state of its exchanges. A
 * small model follows the verdicts, as the kernel shell does.
 */
#include "fuzz.h"

#include "llc_seq.h"

static void must_be_verdict(const struct smcr_llc_seq *seq,
			    const struct smcr_llc *m, bool late, u32 verdict)
{
	bool rkey = m->type == SMCR_LLC_CONFIRM_RKEY ||
		    m->type == SMCR_LLC_CONFIRM_RKEY_CONT;
	bool add = m->type == SMCR_LLC_ADD_LINK;
	bool del = m->type == SMCR_LLC_DELETE_LINK;

	if (!m->reply && (m->type == SMCR_LLC_TEST_LINK ||
			  (del && m->delete_link.all)))
		MUST(verdict == SMCR_LLC_DO);

	switch (verdict) {
	case SMCR_LLC_DO:
		MUST(!m->reply);
		break;
	case SMCR_LLC_ANSWER:
		MUST(m->type == SMCR_LLC_TEST_LINK ? seq->test_pending :
		     seq->awaits == m->type ||
		     (add && seq->xchg == SMCR_XCHG_ADD_LINK));
		MUST(m->reply || !seq->server);
		break;
	case SMCR_LLC_QUEUE:
		MUST(!m->reply && seq->xchg != SMCR_XCHG_NONE);
		MUST(m->type == SMCR_LLC_DELETE_RKEY ||
		     (seq->server && (add || del)));
		break;
	case SMCR_LLC_REFUSE:
		MUST(!m->reply && seq->server && rkey);
		break;
	case SMCR_LLC_IGNORE:
		MUST(m->reply ? late || del : seq->server && add);
		break;
	default:
		MUST(verdict == SMCR_LLC_FAIL);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_in in = { data, len };
	struct smcr_rtoken_count count = { 0 };
	struct smcr_llc_seq seq = { .server = fuzz_u8(&in) & 1 };
	u32 announced = 0;

	while (in.left) {
		u8 op = fuzz_u8(&in), buf[SMCR_WR_LEN] = { 0 }, i;
		enum smcr_reason why;
		struct smcr_llc m;
		bool late = op & 0x80;
		u32 verdict;

		if (op & 1) {
			/* this side starts, advances or ends something */
			seq.xchg = (op >> 1 & 7) % NR_SMCR_XCHG;
			seq.awaits = fuzz_u8(&in) % 10;
			seq.awaits_reply = op & 0x20;
			seq.test_pending = op & 0x40;
			if (seq.xchg == SMCR_XCHG_ADD_LINK)
				count = (struct smcr_rtoken_count){ 0 };
			announced = 0;
			continue;
		}

		buf[0] = op >> 1 & 15;
		buf[1] = SMCR_WR_LEN;
		for (i = 3; i < SMCR_WR_LEN && i < 3 + (op >> 4 & 7) * 6; i++)
			buf[i] = fuzz_u8(&in);
		if (smcr_llc_decode(buf, sizeof(buf), SMCR_LLC_RFC, &m, &why))
			continue;
		verdict = smcr_llc_classify(&seq, &m, late);
		must_be_verdict(&seq, &m, late, verdict);
		MUST(verdict == smcr_llc_classify(&seq, &m, late));

		if (verdict != SMCR_LLC_ANSWER)
			continue;
		if (m.type == SMCR_LLC_TEST_LINK)
			seq.test_pending = false;
		if (m.type != SMCR_LLC_ADD_LINK_CONT)
			continue;
		if (smcr_rtoken_count_step(&count,
					   m.add_link_cont.n_rtokens))
			continue;
		/* nobody can announce more than the first message did */
		announced += 2;
		MUST(count.left <= 253);
		MUST(!count.left || announced <= 254);
	}
	return 0;
}
