/* SPDX-License-Identifier: GPL-2.0-only */
/* Options and objects of smcctl. */
#ifndef SMCCTL_CMD_H
#define SMCCTL_CMD_H

#include <stdbool.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Exit statuses, also what the functions here return */
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
	bool processes;		/* -p: who has a socket open */
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
 * struct object - a word after "smcctl"
 * @name: the word; an unambiguous beginning will do
 * @alias: another word for it, or NULL
 * @args: what may follow, for the help
 * @help: one line for the help
 * @run: does it; @argv are the words behind @name; returns an exit status
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

/* Message on stderr with the program's name in front; returns EXIT_USAGE */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same without advice; returns @status */
int fail(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void wait_seconds(double seconds);

/* Is @word the beginning of @name, or all of it? "" is not. */
bool matches(const char *word, const char *name);

#endif /* SMCCTL_CMD_H */
