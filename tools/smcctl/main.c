// SPDX-License-Identifier: GPL-2.0-only
/* smcctl: options, help and choice of the object. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cmd.h"
#include "nl.h"

#ifndef VERSION
#define VERSION "unknown"
#endif

struct options opt = { .rcvbuf = 1 << 20 };

/* Name in messages, also those of getopt: "smcctl", or "smcctl OBJECT" */
static char myself[40] = "smcctl";

static int cmd_help(int argc, char **argv);

static const struct object objects[] = {
	{ "show", NULL, "", "overview: module, devices, groups, reasons", cmd_show },
	{ "conn", "connection", "[list] [[not] KEY VALUE]... | keys [KEY]",
	  "connections, their mode and why some use TCP", cmd_conn },
	{ "linkgroup", "lgr",
	  "[list] [ID] [[not] KEY VALUE]... | balance [ID] | delete ID | keys [KEY]",
	  "link groups, and with -d their links that are deleted", cmd_linkgroup },
	{ "link", NULL, "[list] [ID] [[not] KEY VALUE]... | keys [KEY]",
	  "links: queue pairs, their roles, load and counters", cmd_link },
	{ "device", "dev", "[list] [NAME] [[not] KEY VALUE]... | keys [KEY]",
	  "RDMA devices and ports", cmd_device },
	{ "rmb", NULL, "[list] [ID] [[not] KEY VALUE]... | keys [KEY]",
	  "receive memory and its elements", cmd_rmb },
	{ "stats", NULL, "[--reasons] [--diff SECONDS]",
	  "counters and reasons", cmd_stats },
	{ "monitor", NULL, "[--timeout SECONDS] [--rcvbuf BYTES] [linkgroup ID]",
	  "link groups and links, and what happens to them", cmd_monitor },
	{ "run", NULL, "[-qv] [--library FILE] [--] PROGRAM [ARGUMENT]...",
	  "start a program whose TCP sockets become SMC-R", cmd_run },
	{ "help", NULL, "[OBJECT]", "this text, or that of an object", cmd_help },
};

enum { OPT_REASONS = 256, OPT_DIFF, OPT_PRETTY, OPT_TIMEOUT, OPT_RCVBUF };

static const struct option long_options[] = {
	{ "all",	no_argument,		NULL, 'a' },
	{ "detail",	no_argument,		NULL, 'd' },
	{ "help",	no_argument,		NULL, 'h' },
	{ "json",	no_argument,		NULL, 'j' },
	{ "pretty",	no_argument,		NULL, OPT_PRETTY },
	{ "processes",	no_argument,		NULL, 'p' },
	{ "statistics",	no_argument,		NULL, 's' },
	{ "netns",	required_argument,	NULL, 'n' },
	{ "watch",	required_argument,	NULL, 'w' },
	{ "reasons",	no_argument,		NULL, OPT_REASONS },
	{ "diff",	required_argument,	NULL, OPT_DIFF },
	{ "timeout",	required_argument,	NULL, OPT_TIMEOUT },
	{ "rcvbuf",	required_argument,	NULL, OPT_RCVBUF },
	{ "version",	no_argument,		NULL, 'V' },
	{ }
};

static void complain(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("smcctl: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int usage_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try \"%s --help\".\n", myself);
	return EXIT_USAGE;
}

int fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	return status;
}

bool matches(const char *word, const char *name)
{
	return *word && !strncmp(word, name, strlen(word));
}

static void print_usage(void)
{
	size_t i;

	puts("Usage: smcctl [OPTIONS] OBJECT [ARGUMENTS]\n\nObjects:");
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		printf("  %-10s %s\n", objects[i].name, objects[i].help);
	puts("\nOptions:\n"
	     "  -a, --all            also what is usually left out\n"
	     "  -d, --detail         every attribute\n"
	     "  -j, --json           JSON\n"
	     "      --pretty         JSON with line breaks\n"
	     "  -p, --processes      conn: also the processes that have the socket open\n"
	     "  -s, --statistics     conn, link: also the counters of each\n"
	     "  -n, --netns NETNS    in this network namespace (name, PID or path)\n"
	     "  -w, --watch SECONDS  again and again\n"
	     "      --reasons        stats: only the reasons\n"
	     "      --diff SECONDS   stats: what is counted in that time\n"
	     "      --timeout SECS   monitor: end after that time\n"
	     "      --rcvbuf BYTES   monitor: room for events that wait to be read\n"
	     "  -h, --help           this text; smcctl help OBJECT for one object\n"
	     "  -V, --version        version of smcctl\n"
	     "\n"
	     "Exit status: 0 done, 1 wrong usage, 2 error of the kernel, 3 not found.");
}

static void help_object(const struct object *o)
{
	if (o->run == cmd_run) {
		help_run();
		return;
	}
	printf("smcctl %s: %s\n\nUsage: smcctl [OPTIONS] %s%s%s\n", o->name,
	       o->help, o->name, *o->args ? " " : "", o->args);
	if (o->run == cmd_stats)
		puts("\n"
		     "  -a, --all            zeros as well\n"
		     "      --reasons        only the reasons: how often each was the cause of a\n"
		     "                       fallback, an abort or a link failure\n"
		     "      --diff SECONDS   only what is counted in that time, and how fast");
	if (o->run == cmd_linkgroup)
		puts("\n"
		     "  balance [ID]  spread what this host sends over the links of this group, or of\n"
		     "                all; else a link that has come back gets new connections only\n"
		     "  delete ID     end this group; its connections are reset, new ones form another\n"
		     "Both need CAP_NET_ADMIN, and -n is the only option for them.");
	if (o->run == cmd_monitor)
		puts("\n"
		     "Shows the present groups and links, then a line for each event; -j: a JSON\n"
		     "object for each. When events were lost it prints that, and the groups and\n"
		     "links that exist then. SIGINT and SIGTERM end it.\n"
		     "\n"
		     "      --timeout SECONDS  end after that time\n"
		     "      --rcvbuf BYTES     room for events that wait to be read (1 MiB)");
	if (!strstr(o->args, "KEY"))
		return;
	printf("\n\"smcctl %s keys\" lists the keys, ", o->name);
	printf("\"smcctl %s keys KEY\" the values of one.\n"
	       "A VALUE can be a range of numbers (1024-65535) or a prefix of addresses\n"
	       "(10.0.0.0/8).\n", o->name);
}

static int parse_seconds(const char *name, const char *word, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(word, &end);
	if (errno || end == word || *end || !(*value > 0) || *value > 86400)
		return usage_error("%s takes a number of seconds, not \"%s\"",
				   name, word);
	return EXIT_OK;
}

static int parse_bytes(const char *name, const char *word, unsigned int *value)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(word, &end, 0);
	if (errno || end == word || *end || *word == '-' || !n || n > INT_MAX)
		return usage_error("%s takes a number of bytes, not \"%s\"",
				   name, word);
	*value = (unsigned int)n;
	return EXIT_OK;
}

static int option(int c, bool *want_help)
{
	switch (c) {
	case 'a':
		opt.all = true;
		break;
	case 'd':
		opt.detail = true;
		break;
	case 'p':
		opt.processes = true;
		break;
	case OPT_PRETTY:
		opt.pretty = true;
		opt.json = true;
		break;
	case 'j':
		opt.json = true;
		break;
	case 's':
		opt.stats = true;
		break;
	case 'n':
		opt.netns = optarg;
		break;
	case 'w':
		return parse_seconds("--watch", optarg, &opt.watch);
	case OPT_REASONS:
		opt.reasons = true;
		break;
	case OPT_DIFF:
		return parse_seconds("--diff", optarg, &opt.diff);
	case OPT_TIMEOUT:
		return parse_seconds("--timeout", optarg, &opt.timeout);
	case OPT_RCVBUF:
		opt.rcvbuf_set = true;
		return parse_bytes("--rcvbuf", optarg, &opt.rcvbuf);
	case 'V':
		puts("smcctl " VERSION);
		exit(EXIT_OK);
	case 'h':
		*want_help = true;
		break;
	default:	/* getopt has printed a message */
		fprintf(stderr, "Try \"%s --help\".\n", myself);
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

/* If @stop is true, parsing ends at the first word that is no option */
static int parse_options(int argc, char **argv, bool stop, bool *want_help)
{
	const char *letters = stop ? "+adhjn:psVw:" : "adhjn:psVw:";
	int rc = EXIT_OK;
	int c;

	while (rc == EXIT_OK &&
	       (c = getopt_long(argc, argv, letters, long_options, NULL)) != -1)
		rc = option(c, want_help);
	return rc;
}

static const struct object *find_object(const char *word)
{
	const struct object *found = NULL;
	char names[100] = "";
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		const struct object *o = &objects[i];

		if (!strcmp(word, o->name) ||
		    (o->alias && !strcmp(word, o->alias)))
			return o;
		if (matches(word, o->name) ||
		    (o->alias && matches(word, o->alias))) {
			found = o;
			strcat(names, n++ ? ", " : "");
			strcat(names, o->name);
		}
	}
	if (n == 1)
		return found;
	if (n)
		usage_error("\"%s\" is ambiguous: %s", word, names);
	else
		usage_error("there is no object \"%s\"", word);
	return NULL;
}

static int cmd_help(int argc, char **argv)
{
	const struct object *o;

	if (argc > 1)
		return usage_error("one object at most: smcctl help [OBJECT]");
	if (!argc) {
		print_usage();
		return EXIT_OK;
	}
	o = find_object(argv[0]);
	if (!o)
		return EXIT_USAGE;
	help_object(o);
	return EXIT_OK;
}

static int check_options(const struct object *o)
{
	bool stats = o->run == cmd_stats;

	if (o->run == cmd_run &&
	    (opt.json || opt.watch || opt.all || opt.detail || opt.stats ||
	     opt.processes))
		return usage_error("run takes none of -a, -d, -j, -p, -s, -w");
	if (opt.processes && o->run != cmd_conn)
		return usage_error("-p belongs to conn (JSON with line breaks: --pretty)");
	if (opt.stats && o->run != cmd_conn && o->run != cmd_link)
		return usage_error("-s belongs to conn and link");
	if (!stats && (opt.reasons || opt.diff > 0))
		return usage_error("--reasons and --diff belong to stats");
	if (o->run != cmd_monitor && (opt.timeout > 0 || opt.rcvbuf_set))
		return usage_error("--timeout and --rcvbuf belong to monitor");
	if (o->run == cmd_monitor && opt.watch > 0)
		return usage_error("monitor and --watch exclude each other");
	if (opt.diff > 0 && opt.watch > 0)
		return usage_error("--diff and --watch exclude each other");
	return EXIT_OK;
}

void wait_seconds(double seconds)
{
	struct timespec ts = { .tv_sec = (time_t)seconds };

	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}

static int run_object(const struct object *o, int argc, char **argv)
{
	int rc;

	if (opt.netns) {
		rc = netns_enter(opt.netns);
		if (rc != EXIT_OK)
			return rc;
	}
	for (;;) {
		if (opt.watch > 0 && !opt.json && isatty(STDOUT_FILENO))
			fputs("\033[H\033[2J", stdout);
		rc = o->run(argc, argv);
		if (rc != EXIT_OK || !(opt.watch > 0))
			return rc;
		fflush(stdout);
		if (ferror(stdout))
			return rc;
		wait_seconds(opt.watch);
	}
}

/* Output that could not be written must not look like success */
static int finish(int rc)
{
	nl_close();
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE &&
	    rc == EXIT_OK)
		return fail(EXIT_KERNEL, "writing the output failed: %s",
			    strerror(errno));
	return rc;
}

static int dispatch(int argc, char **argv)
{
	const struct object *o = &objects[0];
	bool want_help = false;
	int rc;

	argv[0] = myself;
	rc = parse_options(argc, argv, true, &want_help);
	if (rc != EXIT_OK)
		return rc;
	if (want_help) {
		print_usage();
		return EXIT_OK;
	}
	if (optind < argc) {
		o = find_object(argv[optind]);
		if (!o)
			return EXIT_USAGE;
		argc -= optind;
		argv += optind;
		snprintf(myself, sizeof(myself), "smcctl %s", o->name);
		argv[0] = myself;
		optind = 0;	/* restart getopt, with the object as argv[0] */
		/* what follows "run" is for run and the program */
		if (o->run != cmd_run)
			rc = parse_options(argc, argv, false, &want_help);
		else
			optind = 1;
	}
	if (rc == EXIT_OK && !want_help)
		rc = check_options(o);
	if (rc != EXIT_OK)
		return rc;
	if (want_help) {
		help_object(o);
		return EXIT_OK;
	}
	return run_object(o, argc - optind, argv + optind);
}

int main(int argc, char **argv)
{
	return finish(dispatch(argc, argv));
}
