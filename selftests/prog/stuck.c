// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that hang with a socket lock held: the memory that the call copies to
 * or from is provided by userfaultfd, that is, never.
 *
 *	stuck HOST PORT N [[listen-]recv|send|linger|ipopts|dstopts|filter|cbpf]
 *
 * Opens N AF_SMC connections. recv, the default: on each of them the server has to
 * send something. send: the data are never there. linger, ipopts: connect() is still under way when they call
 * setsockopt(SO_LINGER), which the socket itself has, or setsockopt(IP_OPTIONS),
 * which TCP has; four bytes of the value are there, the next four are not. dstopts:
 * getsockopt(IPV6_DSTOPTS), whose result TCP copies under its lock.
 * filter, cbpf: the instructions of SO_ATTACH_FILTER, SO_ATTACH_REUSEPORT_CBPF.
 * listen-...: N listeners at HOST, from PORT on, do the same, and then each of them
 * has a connection from here to accept. Prints
 * "stuck N" when all threads are in the page fault, and then waits for SIGTERM,
 * which ends them and the connections.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "stream.h"

struct reader {
	int fd;
	int number;
};

static long page;
static char *memory;
static const char *call;
static bool listens;

static void die(const char *what)
{
	complain("%s: %m", what);
	exit(1);
}

static int fault_memory(int n)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(__NR_userfaultfd, O_CLOEXEC), i;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		die("userfaultfd");
	memory = mmap(NULL, (size_t)(2 * n * page), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	/* the first touch of a huge page would bring all of its pages */
	madvise(memory, (size_t)(2 * n * page), MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++) {	/* one page that is there, one that is not */
		memset(memory + 2 * i * page, 1, (size_t)page);
		reg.range.start = (unsigned long)(memory + (2 * i + 1) * page);
		reg.range.len = (unsigned long)page;
		if (ioctl(fd, UFFDIO_REGISTER, &reg))
			die("UFFDIO_REGISTER");
	}
	return fd;
}

static ssize_t hang(const struct reader *r)
{
	char *missing = memory + (2 * r->number + 1) * page;
	struct sock_fprog prog = { .len = 1, .filter = (void *)missing };

	if (!strcmp(call, "filter"))
		return setsockopt(r->fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
	if (!strcmp(call, "cbpf"))
		return setsockopt(r->fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof(prog));
	if (!strcmp(call, "send"))
		return send(r->fd, missing, (size_t)page, 0);
	if (!strcmp(call, "linger"))
		return setsockopt(r->fd, SOL_SOCKET, SO_LINGER, missing - 4, 8);
	if (!strcmp(call, "ipopts"))
		return setsockopt(r->fd, IPPROTO_IP, IP_OPTIONS, missing - 4, 8);
	if (!strcmp(call, "dstopts")) {
		socklen_t len = 8;

		return getsockopt(r->fd, IPPROTO_IPV6, IPV6_DSTOPTS, missing, &len);
	}
	return recv(r->fd, missing, (size_t)page, 0);
}

/* A result for IPV6_DSTOPTS: one option, which is padding */
static void set_dstopts(int fd)
{
	static const unsigned char pad[8] = { 0, 0, 1, 4 };

	if (setsockopt(fd, IPPROTO_IPV6, IPV6_DSTOPTS, pad, sizeof(pad)))
		die("IPV6_DSTOPTS");
}

static void set_port(struct sockaddr_storage *addr, int first, int i)
{
	/* the same place in both families */
	((struct sockaddr_in *)addr)->sin_port = htons((uint16_t)(first + i));
}

static void open_one(struct reader *r, struct sockaddr_storage *peer,
		     socklen_t len, int first)
{
	r->fd = open_stream(true, peer->ss_family);
	if (!strcmp(call, "dstopts"))
		set_dstopts(r->fd);
	if (listens) {
		set_port(peer, first, r->number);
		if (bind(r->fd, (void *)peer, len) || listen(r->fd, 8))
			die("listen");
		return;
	}
	if (strcmp(call, "recv") && strcmp(call, "send"))
		fcntl(r->fd, F_SETFL, O_NONBLOCK);
	if (connect(r->fd, (void *)peer, len) && errno != EINPROGRESS)
		die("connect");
}

static void *reader(void *arg)
{
	struct reader *r = arg;
	ssize_t n = hang(r);

	printf("%d: %s gave %zd\n", r->number, call, n);	/* it must not return */
	fflush(stdout);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_storage peer;
	socklen_t len = 0;
	int i, n = argc >= 4 ? atoi(argv[3]) : 0, uffd;
	struct rlimit files = { 4096, 4096 };
	struct reader *readers;
	pthread_attr_t attr;
	pthread_t t;

	if (n <= 0 || resolve(argv[1], argv[2], &peer, &len)) {
		fprintf(stderr, "usage: stuck HOST PORT N [[listen-]recv|send|linger|ipopts|dstopts|filter|cbpf]\n");
		return 2;
	}
	call = argc > 4 ? argv[4] : "recv";
	listens = !strncmp(call, "listen-", 7);
	if (listens)
		call += 7;
	setrlimit(RLIMIT_NOFILE, &files);
	page = sysconf(_SC_PAGESIZE);
	uffd = fault_memory(n);
	readers = calloc((size_t)n, sizeof(*readers));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < n; i++) {
		readers[i].number = i;
		open_one(&readers[i], &peer, len, atoi(argv[2]));
		errno = pthread_create(&t, &attr, reader, &readers[i]);
		if (errno)
			die("pthread_create");
	}
	for (i = 0; i < n; i++) {
		struct uffd_msg msg;

		if (read(uffd, &msg, sizeof(msg)) != sizeof(msg) ||
		    msg.event != UFFD_EVENT_PAGEFAULT)
			die("page fault");
	}
	for (i = 0; listens && i < n; i++) {
		set_port(&peer, atoi(argv[2]), i);
		if (connect(open_stream(false, peer.ss_family), (void *)&peer, len))
			die("connect");
	}
	printf("stuck %d\n", n);
	fflush(stdout);
	for (;;)
		pause();
}
