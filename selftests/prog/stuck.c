// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that hang with a socket lock held: the page that the call copies to
 * or from never comes. Its fault goes to userfaultfd, without an answer, or on
 * UML to selftests/mod/smcr_page.c.
 *
 *	stuck HOST PORT N [[listen-|conn-]KIND]
 *
 * Opens N AF_SMC sockets, and has a thread for each:
 *
 *	recv (the default)	the server has to send something
 *	send			of data in the missing page
 *	again			the same, forwarded to TCP and held before TCP gets it; at SIGUSR1 all
 *				sockets are disconnected and connect to the next port ("again N"),
 *				without waiting
 *	fallback		send() as soon as the socket is writable; then each socket's own
 *				lock is taken ("locked N")
 *	linger, ipopts, ttl	setsockopt() of SO_LINGER, which AF_SMC handles, and of
 *				IP_OPTIONS, which TCP handles: four bytes of the value are
 *				there, the next four are not; of IP_TTL with more than 64 KiB (ttl)
 *	filter, cbpf		the instructions of SO_ATTACH_FILTER, SO_ATTACH_REUSEPORT_CBPF
 *	dstopts, savedsyn	getsockopt(): the result of IPV6_DSTOPTS, which TCP copies under
 *				its lock; the length argument of TCP_SAVED_SYN
 *	getfilter		the result of SO_GET_FILTER
 *	oob, inq		the urgent byte, which the server has to send; the control
 *				message of TCP_INQ
 *
 * With recv, send, again and conn-... connect() has returned before the call; else it is under way.
 * With listen-... the sockets are listeners at HOST, from PORT on; once the threads hang, each gets
 * a connection from this program. Prints "stuck N" when all threads are in the page fault, and then
 * waits for SIGTERM, which ends them and the connections.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/userfaultfd.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
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
static bool listens, connected;

static void die(const char *what)
{
	complain("%s: %m", what);
	exit(1);
}

/* Number of threads that wait in a page fault of smcr_page.c */
static int waiting(void)
{
	FILE *f = fopen("/sys/module/smcr_page/parameters/waiting", "r");
	int n = 0;

	if (!f || fscanf(f, "%d", &n) != 1)
		die("smcr_page");
	fclose(f);
	return n;
}

/* Every other page of the memory never comes; those before them are present */
static int fault_memory(int n)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(__NR_userfaultfd, O_CLOEXEC), i, file = -1;

	if (fd < 0 && errno == ENOSYS)
		file = open("/proc/smcr_page", O_RDWR | O_CLOEXEC);
	if (file < 0 && (fd < 0 || ioctl(fd, UFFDIO_API, &api)))
		die("userfaultfd");
	memory = mmap(NULL, (size_t)(2 * n * page), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	/* the first access to a huge page would bring all of its pages */
	madvise(memory, (size_t)(2 * n * page), MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++) {
		char *missing = memory + (2 * i + 1) * page;

		memset(missing - page, 1, (size_t)page);
		reg.range.start = (unsigned long)missing;
		reg.range.len = (unsigned long)page;
		if (file >= 0 ? mmap(missing, (size_t)page, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_FIXED, file, 0) != missing :
				ioctl(fd, UFFDIO_REGISTER, &reg))
			die("a page that never comes");
	}
	return fd;
}

static void wait_for_faults(int uffd, int n)
{
	struct uffd_msg msg;
	int i;

	for (i = 0; uffd >= 0 && i < n; i++)
		if (read(uffd, &msg, sizeof(msg)) != sizeof(msg) ||
		    msg.event != UFFD_EVENT_PAGEFAULT)
			die("page fault");
	while (uffd < 0 && waiting() < n)
		usleep(20000);
}

/* SO_GET_FILTER, after a filter has been attached */
static ssize_t get_filter(int fd, void *missing)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, ~0U);
	struct sock_fprog prog = { .len = 1, .filter = &all };
	socklen_t len = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)))
		die("SO_ATTACH_FILTER");
	return getsockopt(fd, SOL_SOCKET, SO_GET_FILTER, missing, &len);
}

/* The urgent mark is announced before the urgent byte has come */
static ssize_t get_urgent(int fd, void *missing)
{
	struct pollfd p = { .fd = fd, .events = POLLPRI };
	ssize_t n;

	do {
		poll(&p, 1, -1);
		n = recv(fd, missing, 1, MSG_OOB);
	} while (n < 0 && errno == EAGAIN);
	return n;
}

/* A client becomes writable when the handshake is over */
static ssize_t send_early(int fd, const void *missing)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	poll(&p, 1, -1);
	return send(fd, missing, (size_t)page, 0);
}

/* listen() on a connected socket takes the lock and fails */
static void take_locks(const struct reader *readers, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!listen(readers[i].fd, 1) || errno != EINVAL)
			die("listen");
	printf("locked %d\n", n);
	fflush(stdout);
}

static ssize_t get_inq(int fd, void *missing)
{
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = missing,
			      .msg_controllen = CMSG_SPACE(sizeof(int)) };
	int on = 1;

	if (setsockopt(fd, SOL_TCP, TCP_INQ, &on, sizeof(on)))
		die("TCP_INQ");
	return recvmsg(fd, &msg, 0);
}

static ssize_t hang(const struct reader *r)
{
	char *missing = memory + (2 * r->number + 1) * page;
	struct sock_fprog prog = { .len = 1, .filter = (void *)missing };

	if (!strcmp(call, "filter"))
		return setsockopt(r->fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
	if (!strcmp(call, "cbpf"))
		return setsockopt(r->fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof(prog));
	if (!strcmp(call, "send") || !strcmp(call, "again"))
		return send(r->fd, missing, (size_t)page, 0);
	if (!strcmp(call, "fallback"))
		return send_early(r->fd, missing);
	if (!strcmp(call, "linger"))
		return setsockopt(r->fd, SOL_SOCKET, SO_LINGER, missing - 4, 8);
	if (!strcmp(call, "ipopts"))
		return setsockopt(r->fd, IPPROTO_IP, IP_OPTIONS, missing - 4, 8);
	if (!strcmp(call, "dstopts")) {
		socklen_t len = 8;

		return getsockopt(r->fd, IPPROTO_IPV6, IPV6_DSTOPTS, missing, &len);
	}
	if (!strcmp(call, "savedsyn"))
		return getsockopt(r->fd, SOL_TCP, TCP_SAVED_SYN, missing - page, (void *)missing);
	if (!strcmp(call, "ttl"))
		return setsockopt(r->fd, IPPROTO_IP, IP_TTL, missing, 65540);
	if (!strcmp(call, "getfilter"))
		return get_filter(r->fd, missing);
	if (!strcmp(call, "oob"))
		return get_urgent(r->fd, missing);
	if (!strcmp(call, "inq"))
		return get_inq(r->fd, missing);
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
	if (!connected)
		fcntl(r->fd, F_SETFL, O_NONBLOCK);
	if (connect(r->fd, (void *)peer, len) && errno != EINPROGRESS)
		die("connect");
}

/* Connect each socket again, while its thread's send() is on the way to TCP */
static void connect_again(const struct reader *readers, int n, struct sockaddr_storage *peer,
			  socklen_t len, int port)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	sigset_t usr1;
	int i, sig;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigwait(&usr1, &sig);
	set_port(peer, port, 0);
	for (i = 0; i < n; i++) {
		fcntl(readers[i].fd, F_SETFL, O_NONBLOCK);
		if (connect(readers[i].fd, &none, sizeof(none)))
			die("disconnect");
		if (connect(readers[i].fd, (void *)peer, len) && errno != EINPROGRESS)
			die("connect again");
	}
	printf("again %d\n", n);
	fflush(stdout);
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
	sigset_t usr1;
	bool again;
	struct reader *readers;
	pthread_attr_t attr;
	pthread_t t;

	if (n <= 0 || resolve(argv[1], argv[2], &peer, &len)) {
		fprintf(stderr, "usage: stuck HOST PORT N [[listen-|conn-]KIND]\n");
		return 2;
	}
	call = argc > 4 ? argv[4] : "recv";
	listens = !strncmp(call, "listen-", 7);
	if (listens)
		call += 7;
	again = !strcmp(call, "again");
	connected = !strcmp(call, "recv") || !strcmp(call, "send") || again;
	if (!strncmp(call, "conn-", 5)) {
		connected = true;
		call += 5;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	/* for sigwait() in connect_again(); no thread is ended by it */
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
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
	if (again)
		connect_again(readers, n, &peer, len, atoi(argv[2]) + 1);
	wait_for_faults(uffd, n);
	for (i = 0; listens && i < n; i++) {
		set_port(&peer, atoi(argv[2]), i);
		if (connect(open_stream(false, peer.ss_family), (void *)&peer, len))
			die("connect");
	}
	printf("stuck %d\n", n);
	fflush(stdout);
	if (!strcmp(call, "fallback"))
		take_locks(readers, n);
	for (;;)
		pause();
}
