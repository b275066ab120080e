// SPDX-License-Identifier: GPL-2.0-only
/* smcctl run: start a program with the preload library. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "cmd.h"
#include "nl.h"

#define LIBRARY	"libsmcr-preload.so"

#ifndef AF_SMC
#define AF_SMC	43
#endif

#ifndef LIBDIR
#define LIBDIR "/usr/local/lib"
#endif

/* Statuses of env(1) and the shell when the program could not be started */
enum {
	STATUS_CANNOT	= 126,
	STATUS_MISSING	= 127,
};

struct run_options {
	const char *library;	/* --library */
	bool verbose;		/* -v */
	bool quiet;		/* -q */
};

/* The library next to smcctl (build tree), else the installed one */
static bool find_library(char *path, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (len > 0) {
		path[len] = '\0';
		slash = strrchr(path, '/');
		if (slash && (size_t)(slash - path) + sizeof(LIBRARY) + 1 < size) {
			strcpy(slash + 1, LIBRARY);
			if (!access(path, R_OK))
				return true;
		}
	}
	snprintf(path, size, "%s/%s", LIBDIR, LIBRARY);
	return !access(path, R_OK);
}

static int get_library(const struct run_options *ro, char path[PATH_MAX])
{
	if (ro->library) {
		if (!realpath(ro->library, path))
			return fail(EXIT_NOTFOUND, "%s: %s", ro->library,
				    strerror(errno));
	} else if (!find_library(path, PATH_MAX)) {
		return fail(EXIT_NOTFOUND, "%s is neither next to smcctl nor in %s",
			    LIBRARY, LIBDIR);
	}
	/* both separate the entries of LD_PRELOAD */
	if (strpbrk(path, " :"))
		return fail(EXIT_USAGE, "LD_PRELOAD cannot name \"%s\" (blank or colon)",
			    path);
	return EXIT_OK;
}

static int set_environment(const struct run_options *ro, const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	size_t size = strlen(library) + (old ? strlen(old) : 0) + 2;
	char *value = malloc(size);
	int err;

	if (!value)
		return fail(EXIT_KERNEL, "out of memory");
	snprintf(value, size, "%s%s%s", old ? old : "", old && *old ? ":" : "",
		 library);
	err = setenv("LD_PRELOAD", value, 1);
	if (!err && ro->verbose)
		err = setenv("SMCR_PRELOAD_VERBOSE", "1", 1);
	free(value);
	return err ? fail(EXIT_KERNEL, "out of memory") : EXIT_OK;
}

/* Where execvp() will find the program */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	const char *end;

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return !access(path, X_OK);
	}
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; ; dirs = end + 1) {
		end = strchrnul(dirs, ':');
		snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - dirs), dirs,
			 end > dirs ? "/" : "./", name);
		if (!access(path, X_OK))
			return true;
		if (!*end)
			return false;
	}
}

static void warn(const char *program, const char *why)
{
	fprintf(stderr, "smcctl: warning: %s %s; its sockets stay TCP\n", program,
		why);
}

/* Warn about privileges with which the dynamic linker ignores the library */
static void check_privileges(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st))
		return;
	if ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
	    (st.st_mode & S_ISGID && st.st_gid != getgid()))
		warn(path, "is set-user-ID or set-group-ID and ignores LD_PRELOAD");
	else if (getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		warn(path, "has file capabilities and ignores LD_PRELOAD");
}

/* A note that the Go linker leaves in every program */
static bool note_is_go(int fd, const Elf64_Phdr *ph)
{
	char note[16];

	return pread(fd, note, sizeof(note), (off_t)ph->p_offset) ==
	       (ssize_t)sizeof(note) && !memcmp(note + 12, "Go\0", 4);
}

static void check_elf(int fd, const char *path)
{
	bool dynamic = false, go = false;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	unsigned int i;

	if (pread(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG))
		return;
	if (eh.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)) {
		warn(path, "is for another word size than " LIBRARY);
		return;
	}
	if (eh.e_ident[EI_CLASS] != ELFCLASS64)
		return;
	for (i = 0; i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph),
			  (off_t)(eh.e_phoff + i * eh.e_phentsize)) !=
		    (ssize_t)sizeof(ph))
			return;
		dynamic |= ph.p_type == PT_INTERP;
		go |= ph.p_type == PT_NOTE && note_is_go(fd, &ph);
	}
	if (!dynamic)
		warn(path, "is statically linked and ignores LD_PRELOAD");
	else if (go)
		warn(path, "is written in Go and may not call libc's socket()");
}

/* Path behind "#!": for a script, the interpreter is checked in its place */
static bool script_interpreter(int fd, char path[PATH_MAX])
{
	char line[256];
	ssize_t len = pread(fd, line, sizeof(line) - 1, 0);
	char *start;

	if (len < 3 || memcmp(line, "#!", 2))
		return false;
	line[len] = '\0';
	start = line + 2 + strspn(line + 2, " \t");
	start[strcspn(start, " \t\n")] = '\0';
	snprintf(path, PATH_MAX, "%s", start);
	return *start;
}

/* Warn about programs on which the library has no effect */
static void check_program(const char *name)
{
	char path[PATH_MAX], interpreter[PATH_MAX];
	int depth, fd;

	if (!find_program(name, path))
		return;		/* execvp() reports the error */
	for (depth = 0; depth < 4; depth++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return;
		if (!script_interpreter(fd, interpreter)) {
			check_privileges(fd, path);
			check_elf(fd, path);
			close(fd);
			return;
		}
		close(fd);
		memcpy(path, interpreter, sizeof(path));
	}
}

/* Warn if the library cannot create AF_SMC sockets */
static void check_kernel(void)
{
	int fd = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err = errno;
	bool absent;

	if (fd >= 0) {
		close(fd);
		return;
	}
	/* a seccomp filter may give the same error */
	absent = err == EAFNOSUPPORT && access("/sys/module/smcr", F_OK);
	fprintf(stderr, "smcctl: warning: no SMC-R here (%s): sockets stay TCP%s%s\n",
		strerror(err), absent ? "; " : "", absent ? no_module() : "");
}

void help_run(void)
{
	puts("smcctl run: start a program whose TCP sockets become SMC-R\n"
	     "\n"
	     "Usage: smcctl [-n NETNS] run [-qv] [--library FILE] [--] PROGRAM [ARGUMENT]...\n"
	     "\n"
	     "  -q, --quiet         no warning when SMC-R is not available, or not to PROGRAM\n"
	     "  -v, --verbose       print a message on stderr when SMC-R is not available\n"
	     "      --library FILE  another " LIBRARY "\n"
	     "\n"
	     "The exit status is the program's; 127 when it does not exist, 126 when it\n"
	     "cannot be started.");
}

static int parse_run(int argc, char **argv, struct run_options *ro, bool *done)
{
	static const struct option options[] = {
		{ "help",	no_argument,		NULL, 'h' },
		{ "quiet",	no_argument,		NULL, 'q' },
		{ "verbose",	no_argument,		NULL, 'v' },
		{ "library",	required_argument,	NULL, 'l' },
		{ }
	};
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "+hqv", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			help_run();
			*done = true;
			return EXIT_OK;
		case 'q':
			ro->quiet = true;
			break;
		case 'v':
			ro->verbose = true;
			break;
		case 'l':
			ro->library = optarg;
			break;
		default:
			/* getopt has printed a message */
			fputs("Try \"smcctl run --help\".\n", stderr);
			return EXIT_USAGE;
		}
	}
	return EXIT_OK;
}

int cmd_run(int argc, char **argv)
{
	struct run_options ro = {};
	char library[PATH_MAX];
	bool done = false;
	int rc;

	/* argv[-1] is "smcctl run", as getopt expects a name first */
	rc = parse_run(argc + 1, argv - 1, &ro, &done);
	if (rc != EXIT_OK || done)
		return rc;
	argc -= optind - 1;
	argv += optind - 1;
	if (argc < 1)
		return usage_error("a program must follow \"run\"");
	rc = get_library(&ro, library);
	if (rc == EXIT_OK)
		rc = set_environment(&ro, library);
	if (rc != EXIT_OK)
		return rc;
	if (!ro.quiet) {
		check_kernel();
		check_program(argv[0]);
	}
	execvp(argv[0], argv);
	return fail(errno == ENOENT ? STATUS_MISSING : STATUS_CANNOT, "%s: %s",
		    argv[0], strerror(errno));
}
