/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the link group's state machine, in words: a situation (the events that
 * lead to it), an event, and the actions that have to follow from it.
 *
 * Events, separated by "; ":
 *	0<add-link 2 nic=1	a request on slot 0, about link 2; "add-link!" a reply
 *	made 1 nic=1 n=2	"made 1 no"; "up 1", "up 1 no"; "moved 1"; "stopped 1"
 *	ready, ready no		RKEY_READY
 *	first-sent 0		send completion; "answer-sent 1", "end-sent 0"
 *	timer step		rkey, retry, end, or notice and a slot
 *	down 1 link-error	a link has failed, with the name of a reason
 *	first nic=0 peer=0	the others by their names: want-link, want-del 1 ...
 * Actions, separated by "; ":
 *	0>add-link 2		sent on slot 0; "#first" and so on: its tag
 *	+step/llc, -step	a timer is started, for a span, or stopped
 *	and the others by their names
 *
 * A situation begins with the machine's role, "S: " or "C: ". "-step" is left
 * out of the actions, and so is "+rkey/notice" of a wanted RKEY exchange; but
 * after each event exactly those timers have to run that the state demands.
 */
#ifndef _SMCR_UNIT_LGR_ROWS_H
#define _SMCR_UNIT_LGR_ROWS_H

#include "ktap.h"

#include <stdarg.h>

#include "lgr_fsm.h"

struct lgr_row {
	const char *ids;	/* entries of the catalogue */
	const char *before;
	const char *event;
	const char *want;
};

struct lgr_rig {
	struct smcr_lgr_fsm f;
	struct smcr_lgr_out out;
	u32 timers;		/* bits of the timers that run */
	char said[1024];
	size_t len;
};

/* Reading events */

/* The number behind " key=", or @none */
static inline u32 lgr_opt(const char *text, const char *key, u32 none)
{
	char with[24];
	const char *at;

	snprintf(with, sizeof(with), " %s=", key);
	at = strstr(text, with);
	return at ? (u32)strtoul(at + strlen(with), NULL, 0) : none;
}

static inline bool lgr_flag(const char *text, const char *word)
{
	size_t len = strlen(word);
	const char *at = text;

	while ((at = strstr(at, word)) != NULL) {
		if (at > text && at[-1] == ' ' && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

static inline bool lgr_is(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(text, word, len) && (!text[len] || text[len] == ' ');
}

/* The @n-th word as a number */
static inline u8 lgr_num(const char *text, u32 n)
{
	while (n-- && text) {
		text = strchr(text, ' ');
		text += !!text;
	}
	return text ? (u8)strtoul(text, NULL, 0) : 0;
}

static const char *const lgr_msg_names[] = {
#define X(name, num, word) [SMCR_LLC_##name] = word,
	SMCR_LLC_TYPES(X)
#undef X
};

/* "links=2,3": entries of CONFIRM RKEY */
static inline void lgr_entries(const char *text, struct smcr_llc_rkey_entry *e,
			       u32 n)
{
	const char *at = strstr(text, " links=");
	char *end;

	if (!at)
		return;
	for (at += 7; n--; e++) {
		e->link_num = (u8)strtoul(at, &end, 0);
		if (*end != ',')
			break;
		at = end + 1;
	}
}

static inline void lgr_read_msg(const char *text, struct smcr_lgr_ev *ev)
{
	struct smcr_llc *m = &ev->msg;
	const char *name = text + 2;
	size_t len = strcspn(name, " !");
	u8 i, num = lgr_num(text, 1);

	ev->type = SMCR_LGR_EV_MSG;
	ev->slot = (u8)strtoul(text, NULL, 10);
	for (i = 0; i < ARRAY_SIZE(lgr_msg_names); i++)
		if (lgr_msg_names[i] && strlen(lgr_msg_names[i]) == len &&
		    !strncmp(lgr_msg_names[i], name, len))
			m->type = i;
	m->reply = name[len] == '!';
	ev->facts.link_data = lgr_flag(text, "wrong-data");
	ev->facts.echo = lgr_flag(text, "wrong-echo");
	ev->facts.full = lgr_flag(text, "full");
	ev->facts.rkey_mask = (u8)lgr_opt(text, "unknown", 0);
	ev->facts.nic = (u8)lgr_opt(text, "nic", 0);
	switch (m->type) {
	case SMCR_LLC_CONFIRM_LINK:
		m->confirm_link.link_num = num;
		break;
	case SMCR_LLC_ADD_LINK:
		m->add_link.link_num = num;
		m->add_link.gid[15] = (u8)lgr_opt(text, "gid", 1);
		m->add_link.qpn = lgr_opt(text, "qpn", 77);
		m->add_link.mtu = (u8)lgr_opt(text, "mtu", 3);
		m->add_link.rejected = lgr_flag(text, "rejected");
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		m->add_link_cont.link_num = num;
		m->add_link_cont.n_rtokens = (u8)lgr_opt(text, "n", 1);
		break;
	case SMCR_LLC_DELETE_LINK:
		m->delete_link.all = lgr_flag(text, "all");
		m->delete_link.orderly = lgr_flag(text, "orderly");
		m->delete_link.link_num = num;
		m->delete_link.reason = lgr_opt(text, "reason",
						SMCR_DEL_LOST_PATH);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		m->confirm_rkey.n_other = (u8)lgr_opt(text, "n", 0);
		m->confirm_rkey.negative = lgr_flag(text, "negative");
		m->confirm_rkey.retry = lgr_flag(text, "retry");
		lgr_entries(text, m->confirm_rkey.other, 2);
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		m->confirm_rkey_cont.n_left = (u8)lgr_opt(text, "n", 0);
		m->confirm_rkey_cont.negative = lgr_flag(text, "negative");
		lgr_entries(text, m->confirm_rkey_cont.other, 3);
		break;
	case SMCR_LLC_DELETE_RKEY:
		m->delete_rkey.count = 8;
		m->delete_rkey.negative = lgr_flag(text, "negative");
		break;
	default:
		KTAP_CHECK(0, 1, "no such message: \"%s\"", text);
	}
}

static inline u8 lgr_read_timer(const char *text)
{
	static const char *const names[] = { "step", "rkey", "retry", "end" };
	u8 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (lgr_flag(text, names[i]))
			return i;
	return SMCR_LGR_T_NOTICE + lgr_num(text, 2);
}

static inline enum smcr_reason lgr_read_reason(const char *text)
{
	enum smcr_reason why;

	for (why = 0; why < NR_SMCR_REASON; why++)
		if (why && lgr_flag(text, smcr_reason_name(why)))
			return why;
	return SMCR_R_LINK_ERROR;
}

static inline void lgr_read(const char *text, struct smcr_lgr_ev *ev)
{
	static const char *const names[] = {
#define X(name, word) word,
		SMCR_LGR_EVENTS(X)
#undef X
	};
	u8 i;

	memset(ev, 0, sizeof(*ev));
	if (text[0] >= '0' && text[0] <= '9') {
		lgr_read_msg(text, ev);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (lgr_is(text, lgr_is(text, "ready") ? "rkey-ready" :
					names[i]))
			break;
	ev->type = lgr_is(text, "ready") ? SMCR_LGR_EV_RKEY_READY : i;
	KTAP_CHECK(ev->type < NR_SMCR_LGR_EV, 1, "no such event: \"%s\"", text);
	ev->slot = lgr_num(text, 1);
	ev->ok = !lgr_flag(text, "no");
	ev->n = (u8)lgr_opt(text, "n", 0);
	ev->nic = (u8)lgr_opt(text, "nic", 0);
	ev->peer_nic = (u8)lgr_opt(text, "peer", 0);
	ev->why = lgr_read_reason(text);
	ev->del_reason = lgr_opt(text, "reason", SMCR_DEL_OPERATOR);
	ev->orderly = lgr_flag(text, "orderly");
	switch (ev->type) {
	case SMCR_LGR_EV_RKEY_READY:
		ev->slot = (u8)lgr_opt(text, "via", SMCR_NO_SLOT);
		break;
	case SMCR_LGR_EV_TIMER:
		ev->timer = lgr_read_timer(text);
		break;
	case SMCR_LGR_EV_WANT_RKEY:
		ev->ok = lgr_flag(text, "del");
		break;
	case SMCR_LGR_EV_WANT_END:
		ev->msg.type = SMCR_LLC_DELETE_LINK;
		ev->msg.delete_link.all = !strstr(text, " link=");
		ev->msg.delete_link.link_num = (u8)lgr_opt(text, "link", 0);
		ev->msg.delete_link.orderly = ev->orderly;
		ev->msg.delete_link.reason = lgr_opt(text, "reason", 0);
		break;
	}
}

/* Writing actions */

static inline void __attribute__((format(printf, 2, 3)))
lgr_say(struct lgr_rig *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	r->len += (size_t)vsnprintf(r->said + r->len,
				    sizeof(r->said) - r->len, fmt, ap);
	va_end(ap);
	if (r->len >= sizeof(r->said))
		abort();
}

static inline void lgr_say_links(struct lgr_rig *r, const char *what,
				 const struct smcr_llc_rkey_entry *e, u32 n)
{
	u32 i;

	for (i = 0; i < n && e[i].link_num; i++)
		lgr_say(r, "%s%u", i ? "," : what, e[i].link_num);
}

static inline void lgr_say_msg(struct lgr_rig *r, const struct smcr_llc *m)
{
	lgr_say(r, ">%s%s", lgr_msg_names[m->type], m->reply ? "!" : "");
	switch (m->type) {
	case SMCR_LLC_CONFIRM_LINK:
		lgr_say(r, " %u", m->confirm_link.link_num);
		break;
	case SMCR_LLC_ADD_LINK:
		if (m->add_link.link_num)
			lgr_say(r, " %u", m->add_link.link_num);
		if (m->add_link.rejected)
			lgr_say(r, " rejected=%u", m->add_link.reject_reason);
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		lgr_say(r, " %u n=%u", m->add_link_cont.link_num,
			m->add_link_cont.n_rtokens);
		break;
	case SMCR_LLC_DELETE_LINK:
		if (m->delete_link.all)
			lgr_say(r, " all");
		else
			lgr_say(r, " %u", m->delete_link.link_num);
		if (m->delete_link.orderly)
			lgr_say(r, " orderly");
		lgr_say(r, " 0x%x", m->delete_link.reason);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		lgr_say(r, " n=%u", m->confirm_rkey.n_other);
		lgr_say_links(r, " links=", m->confirm_rkey.other, 2);
		if (m->confirm_rkey.negative)
			lgr_say(r, " negative");
		if (m->confirm_rkey.retry)
			lgr_say(r, " retry");
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		lgr_say(r, " n=%u", m->confirm_rkey_cont.n_left);
		lgr_say_links(r, " links=", m->confirm_rkey_cont.other, 3);
		if (m->confirm_rkey_cont.negative)
			lgr_say(r, " negative");
		break;
	case SMCR_LLC_DELETE_RKEY:
		if (m->delete_rkey.negative)
			lgr_say(r, " negative");
		if (m->delete_rkey.error_mask)
			lgr_say(r, " mask=0x%02x", m->delete_rkey.error_mask);
		break;
	}
}

static inline void lgr_say_timer(struct lgr_rig *r, const struct smcr_lgr_act *a)
{
	static const char *const timers[] = {
		"step", "rkey", "retry", "end", "notice",
	};
	static const char *const spans[] = {
		"llc", "notice", "first", "first-send", "retry", "pause",
	};
	u8 t = min_t(u8, a->timer, SMCR_LGR_T_NOTICE);

	lgr_say(r, "%c%s", a->type == SMCR_LGR_DO_ARM ? '+' : '-', timers[t]);
	if (t == SMCR_LGR_T_NOTICE)
		lgr_say(r, "%u", a->timer - SMCR_LGR_T_NOTICE);
	if (a->type != SMCR_LGR_DO_ARM)
		return;
	lgr_say(r, "/%s", spans[a->span]);
	if (a->n)
		lgr_say(r, "*%u", 1U << a->n);
}

static inline void lgr_say_act(struct lgr_rig *r, const struct smcr_lgr_act *a)
{
	static const char *const names[] = {
#define X(name, word) word,
		SMCR_LGR_ACTIONS(X)
#undef X
	};
	static const char *const rkey[] = { "ok", "refused", "again", "failed" };
	static const char *const first[] = { "ok", "decline", "reset" };
	static const char *const reports[NR_SMCR_LGR_EV] = {
		[SMCR_LGR_NO_REPORT] = "",
		[SMCR_LGR_EV_FIRST_SENT] = " #first",
		[SMCR_LGR_EV_ANSWER_SENT] = " #answer",
		[SMCR_LGR_EV_END_SENT] = " #end",
	};

	if (r->len)
		lgr_say(r, "; ");
	if (a->type == SMCR_LGR_DO_SEND) {
		lgr_say(r, "%u", a->slot);
		lgr_say_msg(r, &r->out.msg[a->msg]);
		lgr_say(r, "%s", reports[a->report]);
		if (a->report == SMCR_LGR_EV_ANSWER_SENT)
			lgr_say(r, " %u", a->about);
		return;
	}
	if (a->type == SMCR_LGR_DO_ARM || a->type == SMCR_LGR_DO_DISARM) {
		lgr_say_timer(r, a);
		return;
	}
	lgr_say(r, "%s", names[a->type]);
	if (a->type == SMCR_LGR_DO_RKEY_DONE)
		lgr_say(r, " %s", rkey[a->res]);
	else if (a->type == SMCR_LGR_DO_SETTLED)
		lgr_say(r, " %s", first[a->res]);
	else if (a->slot != SMCR_NO_SLOT)
		lgr_say(r, " %u", a->slot);
	if (a->orderly)
		lgr_say(r, " orderly");
	if (a->answers)
		lgr_say(r, " answers");
	if (a->last)
		lgr_say(r, " last");
	if (a->why)
		lgr_say(r, " %s", smcr_reason_name(a->why));
}

/* A timer runs for each message that is awaited, and no other does */
static inline void lgr_check_timers(struct lgr_rig *r)
{
	static const u8 waits[] = {
		SMCR_LGR_S_FIRST_CONFIRM, SMCR_LGR_C_FIRST_CONFIRM,
		SMCR_LGR_C_FIRST_ADD, SMCR_LGR_S_ADD_REPLY,
		SMCR_LGR_S_ADD_TOKENS, SMCR_LGR_S_ADD_CONFIRM,
		SMCR_LGR_C_ADD_TOKENS, SMCR_LGR_C_ADD_CONFIRM,
		SMCR_LGR_S_DEL_REPLY,
	};
	u32 want = 0;
	u8 i;

	/* at the end of the group the caller stops all timers */
	if (r->f.ending || r->f.step == SMCR_LGR_OVER)
		return;
	for (i = 0; i < ARRAY_SIZE(waits); i++)
		if (r->f.step == waits[i])
			want |= BIT(SMCR_LGR_T_STEP);
	if (r->f.rkey != SMCR_RKEY_NONE &&
	    !(r->f.rkey == SMCR_RKEY_PREPARE && r->f.rkey_waits))
		want |= BIT(SMCR_LGR_T_RKEY);
	for (i = 0; i < SMCR_SLOTS; i++) {
		const struct smcr_fsm_link *s = &r->f.slot[i];

		if (s->timed)
			want |= BIT(SMCR_LGR_T_NOTICE + i);
		/* a notice has a timer, unless its link still works */
		EXPECT_TRUE(s->timed || !s->notice_sent || s->st == SMCR_SLOT_ACTIVE ||
			    s->st == SMCR_SLOT_LEAVING);
	}
	EXPECT_EQ(r->timers & ~BIT(SMCR_LGR_T_RETRY), want);
}

/* Feed one event; its actions are in .said */
static inline void lgr_event(struct lgr_rig *r, const char *text)
{
	struct smcr_lgr_ev ev;
	u8 i;

	lgr_read(text, &ev);
	if (ev.type == SMCR_LGR_EV_TIMER)
		r->timers &= ~BIT(ev.timer);
	smcr_lgr_fsm_step(&r->f, &ev, &r->out);
	EXPECT_TRUE(r->out.n < SMCR_LGR_ACTS);
	EXPECT_TRUE(r->out.n_msg < SMCR_LGR_MSGS);
	r->len = 0;
	r->said[0] = 0;
	for (i = 0; i < r->out.n; i++) {
		const struct smcr_lgr_act *a = &r->out.act[i];

		if (a->type == SMCR_LGR_DO_ARM)
			r->timers |= BIT(a->timer);
		else if (a->type == SMCR_LGR_DO_DISARM)
			r->timers &= ~BIT(a->timer);
		if (a->type == SMCR_LGR_DO_DISARM &&
		    a->timer == SMCR_LGR_T_STEP)
			continue;
		if (a->type == SMCR_LGR_DO_ARM &&
		    a->timer == SMCR_LGR_T_RKEY && a->span == SMCR_SPAN_NOTICE)
			continue;
		lgr_say_act(r, a);
	}
	lgr_check_timers(r);
}

/* Feed the events of @before: "S: ..." or "C: ..."; "S1: ": one link at most */
static inline void lgr_situation(struct lgr_rig *r, const char *before)
{
	char one[120];
	size_t len;

	memset(r, 0, sizeof(*r));
	smcr_lgr_fsm_init(&r->f, before[0] == 'S',
			  before[1] == ':' ? 8 : (u8)(before[1] - '0'));
	for (before += strcspn(before, ":") + 1; *before; before += len) {
		before += strspn(before, " ;");
		len = strcspn(before, ";");
		if (len >= sizeof(one))
			abort();
		memcpy(one, before, len);
		one[len] = 0;
		if (len)
			lgr_event(r, one);
	}
}

/* Check all rows, whose entries the test must claim */
static inline void lgr_rows(const struct lgr_row *row, u32 n)
{
	struct lgr_rig r;

	for (; n--; row++) {
		claimed(row->ids);
		lgr_situation(&r, row->before);
		lgr_event(&r, row->event);
		KTAP_CHECK(!strcmp(r.said, row->want), 0,
			   "%s: \"%s\"\n#\tafter \"%s\"\n#\twant \"%s\"\n#\tgot  \"%s\"",
			   row->ids, row->event, row->before, row->want,
			   r.said);
	}
}

/*
 * First contact (S_START, C_START, S_OFFER), and situations with one to four
 * links and no exchange under way
 */
#define S_START	"S: first; made 1 nic=1 n=1; up 0; first-sent 0; "
#define S_OFFER	S_START "0<confirm-link! 1; first-sent 0; "
#define S_ONE	S_OFFER "0<add-link! 2 rejected; stopped 1; "
#define S_ADDED	S_OFFER "0<add-link! 2 nic=1; 0<add-link-cont! 2; up 1; " \
		"1<confirm-link! 2; "
#define S_TWO	S_ADDED "made 2 no; "
#define S_THREE	S_ADDED "made 2 nic=2 n=1; 0<add-link! 3 nic=2; " \
		"0<add-link-cont! 3; up 2; 2<confirm-link! 3; made 3 no; "
#define C_START	"C: first; 0<confirm-link 1; up 0; first-sent 0; "
#define C_ONE	C_START "0<add-link 2; made 1 no; "
#define C_TWO	C_START "0<add-link 2 nic=1; made 1 nic=1 n=1; " \
		"0<add-link-cont 2; 1<confirm-link 2; up 1; "
#define C_THREE	C_TWO "0<add-link 3 nic=2; made 2 nic=2 n=1; " \
		"0<add-link-cont 3; 2<confirm-link 3; up 2; "
#define C_FOUR	C_THREE "0<add-link 4 nic=3; made 3 nic=3 n=1; " \
		"0<add-link-cont 4; 3<confirm-link 4; up 3; "
/* A third link is being added, over slot 0 */
#define S_MAKE	S_TWO "want-link; "
#define S_REPLY	S_MAKE "made 2 nic=2 n=1; "
#define S_CONT	S_REPLY "0<add-link! 3 nic=2; "
#define S_UP	S_CONT "0<add-link-cont! 3; "
#define S_CONF	S_UP "up 2; "
#define C_MAKE	C_TWO "0<add-link 3 nic=2; "
#define C_CONT	C_MAKE "made 2 nic=2 n=1; "
#define C_CONF	C_CONT "0<add-link-cont 3; "
#define C_UP	C_CONF "2<confirm-link 3; "
/* The third of three links is being deleted */
#define S_MOVE	S_THREE "want-del 2 orderly; "
#define S_DEL	S_MOVE "moved 2; "
#define C_MOVE	C_THREE "0<delete-link 3 orderly reason=0x20000; "
/* An own RKEY exchange is under way */
#define S_RKEY	S_TWO "want-rkey; ready; "
#define C_RKEY	C_TWO "want-rkey; ready; "

#endif /* _SMCR_UNIT_LGR_ROWS_H */
