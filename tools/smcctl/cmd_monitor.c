// SPDX-License-Identifier: GPL-2.0-only
/* smcctl monitor: events of link groups and links, printed as they arrive. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "../../include/uapi/linux/smcr_netlink.h"
#include "gen/attrs.h"
#include "attr.h"
#include "cmd.h"
#include "nl.h"
#include "out.h"

struct monitor {
	struct nl_filter only;		/* by a link group's ID */
	unsigned int n_only;		/* 1: the filter applies, else 0 */
	struct timespec when;		/* time in the next line */
};

static void open_line(const struct monitor *m, const char *event)
{
	js_object(NULL);
	js_double("time", (double)m->when.tv_sec +
			  (double)(m->when.tv_nsec / 1000000) / 1000);
	js_str("event", event);
}

static const char *clock_text(const struct monitor *m, char *buf, size_t size)
{
	struct tm tm;
	size_t n;

	localtime_r(&m->when.tv_sec, &tm);
	n = strftime(buf, size, "%F %T", &tm);
	snprintf(buf + n, size - n, ".%03ld", m->when.tv_nsec / 1000000);
	return buf;
}

static void text_lgr(const struct monitor *m, const struct item *lgr,
		     const char *what, const char *why)
{
	char id[ATTR_TEXT], role[ATTR_TEXT], peer[ATTR_TEXT], dev[ATTR_TEXT];
	char port[ATTR_TEXT], when[40];

	print_line("%s linkgroup %s %s%s, %s, peer %s, %s port %s",
		   clock_text(m, when, sizeof(when)),
		   item_text(lgr, SMCR_A_LGR_LGR_ID, id), what, why,
		   item_text(lgr, SMCR_A_LGR_ROLE, role),
		   item_text(lgr, SMCR_A_LGR_PEER_ID, peer),
		   item_text(lgr, SMCR_A_LGR_DEV_NAME, dev),
		   item_text(lgr, SMCR_A_LGR_PORT, port));
}

static void text_link(const struct monitor *m, const struct item *link,
		      const char *what, const char *why)
{
	char id[ATTR_TEXT], num[ATTR_TEXT], dev[ATTR_TEXT], port[ATTR_TEXT];
	char gid[ATTR_TEXT], peer[ATTR_TEXT], when[40];

	print_line("%s linkgroup %s link %s %s%s, %s port %s, %s to %s",
		   clock_text(m, when, sizeof(when)),
		   item_text(link, SMCR_A_LINK_LGR_ID, id),
		   item_text(link, SMCR_A_LINK_LINK_NUM, num), what, why,
		   item_text(link, SMCR_A_LINK_DEV_NAME, dev),
		   item_text(link, SMCR_A_LINK_PORT, port),
		   item_text(link, SMCR_A_LINK_GID, gid),
		   item_text(link, SMCR_A_LINK_PEER_GID, peer));
}

static int state_lgr(const struct nlattr *nest, void *arg)
{
	char what[ATTR_TEXT], text[ATTR_TEXT + 10];
	const struct monitor *m = arg;
	struct item lgr;

	item_parse(&lgr, &smcr_set_lgr, nest);
	if (opt.json) {
		open_line(m, "state");
		js_object("lgr");
		item_json(&lgr);
		js_end();
		js_end();
		return EXIT_OK;
	}
	snprintf(text, sizeof(text), "is %s",
		 item_text(&lgr, SMCR_A_LGR_STATE, what));
	text_lgr(m, &lgr, text, "");
	return EXIT_OK;
}

static int state_link(const struct nlattr *nest, void *arg)
{
	char what[ATTR_TEXT], text[ATTR_TEXT + 10];
	const struct monitor *m = arg;
	struct item link;

	item_parse(&link, &smcr_set_link, nest);
	if (opt.json) {
		open_line(m, "state");
		js_object("link");
		item_json(&link);
		js_end();
		js_end();
		return EXIT_OK;
	}
	snprintf(text, sizeof(text), "is in %s",
		 item_text(&link, SMCR_A_LINK_STATE, what));
	text_link(m, &link, text, "");
	return EXIT_OK;
}

/*
 * Print all link groups and links, below a line with the occasion: @why in text,
 * @event in JSON.
 */
static int show_state(struct monitor *m, const char *why, const char *event)
{
	char when[40];
	int rc;

	clock_gettime(CLOCK_REALTIME, &m->when);
	if (opt.json) {
		open_line(m, event);
		js_end();
	} else {
		print_line("%s %s", clock_text(m, when, sizeof(when)), why);
	}
	rc = nl_dump(SMCR_CMD_LGR_GET, SMCR_A_LGR, &m->only, m->n_only,
		     state_lgr, m);
	if (rc == EXIT_OK)
		rc = nl_dump(SMCR_CMD_LINK_GET, SMCR_A_LINK, &m->only,
			     m->n_only, state_link, m);
	return rc;
}

static void json_event(const struct monitor *m, const struct item *event,
		       const char *kind, const struct item *lgr,
		       const struct item *link)
{
	open_line(m, kind);
	if (item_has(event, SMCR_A_EVENT_REASON_NAME))
		js_str("reason-name", item_str(event, SMCR_A_EVENT_REASON_NAME));
	if (item_has(event, SMCR_A_EVENT_REASON_TEXT))
		js_str("reason-text", item_str(event, SMCR_A_EVENT_REASON_TEXT));
	js_object("lgr");
	item_json(lgr);
	js_end();
	if (link) {
		js_object("link");
		item_json(link);
		js_end();
	}
	js_end();
}

static void text_event(const struct monitor *m, const struct item *event,
		       const char *kind, const struct item *lgr,
		       const struct item *link)
{
	const char *what = strchr(kind, '-');
	char why[ATTR_TEXT + 80] = "";

	if (item_has(event, SMCR_A_EVENT_REASON_NAME))
		snprintf(why, sizeof(why), ": %.60s (%.200s)",
			 item_str(event, SMCR_A_EVENT_REASON_NAME),
			 item_str(event, SMCR_A_EVENT_REASON_TEXT));
	what = what ? what + 1 : kind;
	if (link)
		text_link(m, link, what, why);
	else
		text_lgr(m, lgr, what, why);
}

static int on_event(const struct nl_event *ev, void *arg)
{
	struct item event, lgr, link;
	struct monitor *m = arg;
	char kind[ATTR_TEXT];

	item_parse(&event, &smcr_set_event, ev->event);
	item_parse(&lgr, &smcr_set_lgr, ev->lgr);
	if (ev->link)
		item_parse(&link, &smcr_set_link, ev->link);
	if (m->n_only && item_uint(&lgr, SMCR_A_LGR_LGR_ID) != m->only.value)
		return EXIT_OK;
	clock_gettime(CLOCK_REALTIME, &m->when);
	item_text(&event, SMCR_A_EVENT_KIND, kind);
	(opt.json ? json_event : text_event)(m, &event, kind, &lgr,
					     ev->link ? &link : NULL);
	return EXIT_OK;
}

/* Milliseconds until @end, for poll(); -1 without --timeout */
static int left_ms(const struct timespec *end)
{
	struct timespec now;
	double left;

	if (!(opt.timeout > 0))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (double)(end->tv_sec - now.tv_sec) * 1e3 +
	       (double)(end->tv_nsec - now.tv_nsec) / 1e6;
	return left > 0 ? (int)left + 1 : 0;
}

/* Print events until a signal, the end of --timeout, or an error */
static int follow(struct monitor *m, int signals)
{
	struct pollfd fds[] = {
		{ .fd = nl_listen_fd(), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	struct timespec end;
	bool lost;
	int rc, n;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)opt.timeout;
	end.tv_nsec += (long)((opt.timeout - (double)(time_t)opt.timeout) * 1e9);
	for (;;) {
		n = poll(fds, ARRAY_SIZE(fds), left_ms(&end));
		if (n < 0 && errno != EINTR)
			return fail(EXIT_KERNEL, "poll: %s", strerror(errno));
		if (!n || (n > 0 && fds[1].revents))
			return EXIT_OK;
		if (n < 0)
			continue;
		lost = false;
		rc = nl_events(on_event, m, &lost);
		if (rc == EXIT_OK && lost)
			rc = show_state(m, "events were lost; link groups and links now:",
					"lost");
		if (rc != EXIT_OK || fflush(stdout) || ferror(stdout))
			return rc;
	}
}

static int parse_words(struct monitor *m, int argc, char **argv)
{
	unsigned long id;
	char *end;

	if (!argc)
		return EXIT_OK;
	if (strcmp(argv[0], "lgr") && !matches(argv[0], "linkgroup"))
		return usage_error("monitor does not understand \"%s\"", argv[0]);
	if (argc != 2)
		return usage_error("one link group: smcctl monitor linkgroup ID");
	errno = 0;
	id = strtoul(argv[1], &end, 0);
	if (errno || end == argv[1] || *end || argv[1][0] == '-' ||
	    id > UINT32_MAX)
		return usage_error("\"%s\" is not the ID of a link group",
				   argv[1]);
	m->only = (struct nl_filter){ .attr = SMCR_A_LGR_ID, .size = 4,
				      .value = (uint32_t)id };
	m->n_only = 1;
	return EXIT_OK;
}

int cmd_monitor(int argc, char **argv)
{
	struct monitor m = {};
	sigset_t set;
	int signals;
	int rc;

	rc = parse_words(&m, argc, argv);
	if (rc != EXIT_OK)
		return rc;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (signals < 0)
		return fail(EXIT_KERNEL, "signalfd: %s", strerror(errno));
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* listen first: a change during the dump is shown, maybe twice */
	rc = nl_listen(opt.rcvbuf);
	if (rc == EXIT_OK)
		rc = show_state(&m, "listening; link groups and links now:",
				"listening");
	if (rc == EXIT_OK)
		rc = follow(&m, signals);
	close(signals);
	return rc;
}
