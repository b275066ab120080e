/* SPDX-License-Identifier: GPL-2.0-only */
/* Options and objects of smcctl. */
#ifndef SMCCTL_CMD_H
#define SMCCTL_CMD_H

#include <stdbool.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Exit statuses of smcctl, also returned by the functions below */
enum {
	EXIT_OK		= 0,
	EXIT_USAGE	= 1,
	EXIT_KERNEL	= 2,
	EXIT_NOTFOUND	= 3,
};

struct options {
	bool all;		/* -a: also what is usually left out */
	bool detail;		/* -d: every attribute */
	bool stats;		/* -s: counters of each object */
	bool json;		/* -j, --pretty */
	bool pretty;		/* --pretty */
	bool processes;		/* -p: processes that have it open */
	bool reasons;		/* stats --reasons */
	const char *netns;	/* -n */
	double diff;		/* stats --diff, seconds; 0 off */
	double watch;		/* -w, seconds; 0 off */
	double timeout;		/* monitor --timeout, seconds; 0 off */
	bool rcvbuf_set;	/* monitor --rcvbuf was given */
	unsigned int rcvbuf;	/* its bytes */
};

extern struct options opt;

/**
 * struct object - an object of the command line, "smcctl OBJECT"
 * @name: its word; an unambiguous beginning of it is enough
 * @alias: another word for it, or NULL
 * @args: what may follow, for the help
 * @help: one line for the help
 * @run: its function; @argv are the words behind @name; returns an exit status
 */
struct object {
	const char *name;
	const char *alias;
	const char *args;
	const char *help;
	int (*run)(int argc, char **argv);
};

int cmd_show(int argc, char **argv);
int cmd_conn(int argc, char **argv);
int cmd_linkgroup(int argc, char **argv);
int cmd_link(int argc, char **argv);
int cmd_device(int argc, char **argv);
int cmd_rmb(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_run(int argc, char **argv);
void help_run(void);

/* Print a message and a hint at --help on stderr; returns EXIT_USAGE */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print a message on stderr; returns @status */
int fail(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void wait_seconds(double seconds);

/* Is @word the beginning of @name, or all of it? "" is not. */
bool matches(const char *word, const char *name);

#endif /* SMCCTL_CMD_H */
