// SPDX-License-Identifier: GPL-2.0-only
/* LLC exchange sequencing, RFC 7609 3.5.5.3, C.7.1. See llc_seq.h. */
#include "env.h"
#include "llc_seq.h"

struct verdict_row {
	u8 type;		/* enum smcr_llc_type */
	u8 verdict[NR_SMCR_XCHG];
};

#define ROW(type_, none_, first_, add_, del_, rkey_)			\
	{								\
		.type = SMCR_LLC_##type_,				\
		.verdict = {						\
			[SMCR_XCHG_NONE] = SMCR_LLC_##none_,		\
			[SMCR_XCHG_FIRST_CONTACT] = SMCR_LLC_##first_,	\
			[SMCR_XCHG_ADD_LINK] = SMCR_LLC_##add_,		\
			[SMCR_XCHG_DELETE_LINK] = SMCR_LLC_##del_,	\
			[SMCR_XCHG_RKEY] = SMCR_LLC_##rkey_,		\
		},							\
	}

/*
 * Requests that the running exchange does not wait for (conformance catalogue,
 * Part E.1). Columns: no exchange, first contact, ADD LINK, DELETE LINK, own
 * RKEY exchange.
 */

/* What a client says to the server */
static const struct verdict_row at_server[] = {
	/* only servers start these: LLC-18, LLC-36 */
	ROW(CONFIRM_LINK,	FAIL,	FAIL,	FAIL,	FAIL,	FAIL),
	ROW(ADD_LINK_CONT,	FAIL,	FAIL,	FAIL,	FAIL,	FAIL),
	/* notice: LLC-74, LLC-79, LLC-84 */
	ROW(ADD_LINK,		DO,	IGNORE,	IGNORE,	QUEUE,	QUEUE),
	/* notice: LLC-75, LLC-80, LLC-86 */
	ROW(DELETE_LINK,	DO,	QUEUE,	QUEUE,	QUEUE,	QUEUE),
	/* LLC-77, LLC-82, LLC-89 */
	ROW(CONFIRM_RKEY,	DO,	REFUSE,	REFUSE,	REFUSE,	DO),
	ROW(CONFIRM_RKEY_CONT,	DO,	REFUSE,	REFUSE,	REFUSE,	DO),
	/* LLC-90, LLC-89 */
	ROW(DELETE_RKEY,	DO,	QUEUE,	QUEUE,	QUEUE,	DO),
};

/*
 * What a server says to the client. FAIL in the middle columns: a server
 * serialises its exchanges (LLC-15), so this cannot happen.
 */
static const struct verdict_row at_client[] = {
	/* steps of an exchange, always waited for */
	ROW(CONFIRM_LINK,	FAIL,	FAIL,	FAIL,	FAIL,	FAIL),
	ROW(ADD_LINK_CONT,	FAIL,	FAIL,	FAIL,	FAIL,	FAIL),
	/* LLC-74 (see also below), LLC-85 */
	ROW(ADD_LINK,		DO,	FAIL,	ANSWER,	FAIL,	DO),
	/* ends an ADD LINK: LLC-24, LLC-25; resent: LLC-50; LLC-87 */
	ROW(DELETE_LINK,	DO,	DO,	DO,	DO,	DO),
	/* LLC-89 */
	ROW(CONFIRM_RKEY,	DO,	FAIL,	FAIL,	FAIL,	DO),
	ROW(CONFIRM_RKEY_CONT,	DO,	FAIL,	FAIL,	FAIL,	DO),
	/* LLC-90, LLC-89 */
	ROW(DELETE_RKEY,	DO,	QUEUE,	QUEUE,	QUEUE,	DO),
};

#undef ROW

static_assert(ARRAY_SIZE(at_server) == ARRAY_SIZE(at_client));

static enum smcr_llc_verdict lookup(bool server, u8 type, u8 xchg)
{
	const struct verdict_row *row = server ? at_server : at_client;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(at_server); i++)
		if (row[i].type == type)
			return row[i].verdict[xchg];
	return SMCR_LLC_FAIL;
}

static bool awaited(const struct smcr_llc_seq *seq, u8 type, bool reply)
{
	return seq->awaits == type && seq->awaits_reply == reply;
}

static enum smcr_llc_verdict at_server_request(const struct smcr_llc_seq *seq,
					       const struct smcr_llc *msg)
{
	return lookup(true, msg->type, seq->xchg);
}

static enum smcr_llc_verdict at_client_request(const struct smcr_llc_seq *seq,
					       const struct smcr_llc *msg)
{
	bool awaits_delete = awaited(seq, SMCR_LLC_DELETE_LINK, false);
	u8 xchg = seq->xchg;

	/* a server's offer names QP and link; only a notice may not (I-14) */
	if (msg->type == SMCR_LLC_ADD_LINK &&
	    (!msg->add_link.link_num || !msg->add_link.qpn))
		return SMCR_LLC_FAIL;
	if (awaited(seq, msg->type, false))
		return SMCR_LLC_ANSWER;

	/*
	 * The server may have an exchange of its own to finish before it takes
	 * up our DELETE LINK (LLC-75, LLC-86): ours has not begun yet.
	 */
	if (xchg == SMCR_XCHG_DELETE_LINK && awaits_delete)
		xchg = SMCR_XCHG_NONE;
	/* an offer answers our notice, but not in the middle of another one */
	if (xchg == SMCR_XCHG_ADD_LINK && msg->type == SMCR_LLC_ADD_LINK &&
	    seq->awaits)
		return SMCR_LLC_FAIL;
	return lookup(false, msg->type, xchg);
}

static enum smcr_llc_verdict classify_reply(const struct smcr_llc_seq *seq,
					    const struct smcr_llc *msg,
					    bool late_ok)
{
	if (!seq->server) {
		switch (msg->type) {
		case SMCR_LLC_CONFIRM_LINK:
		case SMCR_LLC_ADD_LINK:
		case SMCR_LLC_ADD_LINK_CONT:
			/* no client asks for these */
			return SMCR_LLC_FAIL;
		case SMCR_LLC_DELETE_LINK:
			/* LLC-49: the server does not know the link */
			if (awaited(seq, SMCR_LLC_DELETE_LINK, false))
				return SMCR_LLC_ANSWER;
			/* ... any more: our notice crossed its request */
			if (msg->delete_link.reason == SMCR_DEL_UNKNOWN_LINK)
				return SMCR_LLC_IGNORE;
			break;
		}
	}
	if (awaited(seq, msg->type, true))
		return SMCR_LLC_ANSWER;
	return late_ok ? SMCR_LLC_IGNORE : SMCR_LLC_FAIL;
}

/**
 * smcr_llc_classify() - verdict on one arriving message
 * @seq: what runs now
 * @msg: the message, decoded
 * @late_ok: an own exchange of that type was abandoned on this link before
 *
 * TEST LINK requests are always DO; whole-group DELETE LINK is always DO
 * (LLC-73..91). A reply that nobody waits for is FAIL, except the late reply of
 * an abandoned exchange (I-20), whatever runs meanwhile: IGNORE. A client that
 * takes up a server's ADD LINK or DELETE LINK in the middle of an own RKEY
 * exchange (LLC-85, LLC-87) has abandoned that one.
 *
 * For either side an exchange ends when it has posted or received the last
 * message of it. A client's own ADD LINK or DELETE LINK notice is no exchange,
 * but the client may let @seq->awaits name the request that answers it. What
 * arrives on a link that the client asked to delete does not come here, except
 * whole-group DELETE LINK (LLC-54).
 */
enum smcr_llc_verdict smcr_llc_classify(const struct smcr_llc_seq *seq,
					const struct smcr_llc *msg,
					bool late_ok)
{
	if (msg->type == SMCR_LLC_TEST_LINK) {
		if (!msg->reply)
			return SMCR_LLC_DO;
		if (seq->test_pending)
			return SMCR_LLC_ANSWER;
		return late_ok ? SMCR_LLC_IGNORE : SMCR_LLC_FAIL;
	}
	if (msg->reply)
		return classify_reply(seq, msg, late_ok);
	if (msg->type == SMCR_LLC_DELETE_LINK && msg->delete_link.all)
		return SMCR_LLC_DO;
	return seq->server ? at_server_request(seq, msg) :
			     at_client_request(seq, msg);
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
