// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bulk transfer by RDMA WRITE, as fast as one connection permits, with a proof:
 * both ends compute the sha256 of their memory after the clock has stopped.
 * Memory is registered before the clock starts; that time is printed separately.
 *
 * The client sends the length in the private data (a capability with nothing but a
 * length); the server registers as much memory and answers with its capability.
 * Then the server's processor does nothing (except for soft RoCE) until the last
 * WRITE, which has immediate data.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "../prog/load.h"
#include "rdma.h"

#define MAX_SIZE	0xffffffffu	/* a capability's length has 32 bits */
#define MAX_INLINE	512		/* limit of soft RoCE */
#define DIGEST		32
#define DONE		0x42554c4bu

static const char about[] =
	"Moves many bytes by RDMA WRITE and compares their sha256 at both ends.\n"
	"Options may also be written --size 1g, --size=1g, --inline, -j.";

static struct rd_option options[] = {
	{ "size", "1g", "client: bytes to move" },
	{ "chunk", "4m", "client: bytes of each RDMA WRITE" },
	{ "depth", "16", "client: WRITEs under way at a time" },
	{ "inline", "0", "client: 1: the chunk (512 bytes at most) travels in the work request" },
	{ "file", "", "client: send this file instead of numbers; server: where it comes to (in a tmpfs)" },
	{ "json", "0", "1 (or -j): the result as JSON" },
	{ }
};

static struct rd_mem mem;
static bool json;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Processor time of this process, without that of soft RoCE's own threads */
static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/*
 * Replaces --size 1G, --size=1G, --inline, --inline 0 and -j at any place by
 * size=1G, size=1G, inline=1, inline=0 and json=1 at the end.
 */
static char **plain_words(int *argc, char **argv)
{
	char **words = calloc((size_t)*argc + 1, sizeof(*words)), **opts = calloc((size_t)*argc + 1, sizeof(*opts));
	int n = 0, k = 0;

	if (!words || !opts)
		rd_fail_errno("memory");
	for (int i = 0; i < *argc; i++) {
		char *a = argv[i];

		if (!strcmp(a, "-j")) {
			a = "json=1";
		} else if (!strncmp(a, "--", 2) && strcmp(a, "--help") && strchr(a, '=')) {
			a += 2;
		} else if (!strncmp(a, "--", 2) && strcmp(a, "--help")) {
			const char *value = i + 1 < *argc ? argv[i + 1] : "--";

			if (!strcmp(a, "--json") || !strcmp(a, "--inline")) {
				if (!strcmp(value, "0") || !strcmp(value, "1"))
					i++;
				else
					value = "1";
			} else if (!strncmp(value, "--", 2)) {
				rd_wrong("%s needs a value (--help)", a);
			} else {
				i++;
			}
			if (asprintf(&a, "%s=%s", a + 2, value) < 0)
				rd_fail_errno("memory");
		}
		if (strchr(a, '='))
			opts[k++] = a;
		else
			words[n++] = a;
	}
	memcpy(words + n, opts, (size_t)k * sizeof(*opts));
	*argc = n + k;
	return words;
}

/* Opens file=, or returns -1 without it. Called first, so that an error comes before either side waits. */
static int file(struct stat *st)
{
	const char *path = rd_option("file");
	int fd;

	if (!*path)
		return -1;
	/* Linux 6.1 pins no page of a shared mapping that cannot be written. */
	fd = open(path, rd.server ? O_CREAT | O_RDWR : O_RDWR, 0600);
	if (fd < 0 || fstat(fd, st))
		rd_fail_errno(path);
	if (!S_ISREG(st->st_mode))
		rd_fail(path, "not a file");
	return fd;
}

/* Maps the file, or memory that the client fills with numbers, and registers it; returns the seconds of that. */
static double prepare(struct rd_conn *c, int fd, size_t size, int access)
{
	const char *path = rd_option("file");
	double t;

	mem.len = size;
	if (fd >= 0) {
		if (rd.server) {
			if (ftruncate(fd, (off_t)size))
				rd_fail_errno(path);
			errno = posix_fallocate(fd, 0, (off_t)size);
			if (errno)
				rd_fail_errno(path);
		}
		mem.buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
		close(fd);
	} else {
		mem.buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	}
	if (mem.buf == MAP_FAILED)
		rd_fail_errno(fd >= 0 ? path : "memory");
	if (fd < 0 && !rd.server) {
		/* all words differ, and so all chunks do */
		for (size_t i = 0; i < size / 8; i++)
			((uint64_t *)mem.buf)[i] = (i + 1) * 0x9e3779b97f4a7c15ull;
		memset(mem.buf + size / 8 * 8, 0x5a, size % 8);
	}
	t = now();
	mem.mr = ibv_reg_mr(c->pd, mem.buf, size, access);
	if (!mem.mr)
		rd_fail_errno("ibv_reg_mr");
	return now() - t;
}

static void sha256(uint8_t *to)
{
	unsigned int n;

	if (EVP_Digest(mem.buf, mem.len, to, &n, EVP_sha256(), NULL) != 1 || n != DIGEST)
		rd_fail("sha256", "libcrypto has none");
}

static void hex(const char *name, const uint8_t *d)
{
	printf(json ? ", \"%s\": \"" : "  %s ", name);
	for (int i = 0; i < DIGEST; i++)
		printf("%02x", d[i]);
	fputs(json ? "\"" : "\n", stdout);
}

static void progress(size_t done, double t, double *last)
{
	if (t - *last < 1)
		return;
	*last = t;
	fprintf(stderr, "bulk: %zu of %zu MiB, %.1f MiB/s, %.0f s left\n", done >> 20, mem.len >> 20,
		(double)done / t / (1 << 20), t / (double)done * (double)(mem.len - done));
}

/* Limit of a wait, ms, while the other side processes @size bytes */
static int patience(size_t size)
{
	return rd.wait + (int)(size / 1000);
}

static int server(void)
{
	struct stat st;
	int fd = file(&st);
	struct rdma_cm_id *l = rd_listen(rd.port);
	struct rd_conn *c;
	uint8_t digest[DIGEST];
	struct rd_mem reply;
	struct rd_cap cap;
	struct load before;
	struct ibv_wc wc;
	double setup, used, machine;
	size_t size;

	puts("listening");
	fflush(stdout);
	c = rd_request(l, NULL);
	size = c->peer.length;
	if (!size)
		rd_fail("client", "it does not say how long it is");
	setup = prepare(c, fd, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	reply = rd_memory(c->pd, DIGEST, 0);
	rd_recv(c, 1, NULL, 0, 0);
	cap = rd_cap_of(&mem);
	rd_accept(c, &cap);
	before = load();
	used = cpu();
	if (!rd_next(c, &c->recv, &wc, patience(size)))
		rd_fail("client", "it ended before everything was here");
	if (wc.status != IBV_WC_SUCCESS || wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || be32toh(wc.imm_data) != DONE)
		rd_fail("client", "an end that is none: %s", ibv_wc_status_str(wc.status));
	used = cpu() - used;
	machine = busy_seconds(before);
	sha256(digest);
	memcpy(reply.buf, digest, DIGEST);
	/* Not signaled: the client ends when it has this, and may not acknowledge it. */
	if (rd_post(c, &(struct rd_wr){ .op = IBV_WR_SEND, .mem = &reply, .len = DIGEST, .silent = true }))
		rd_fail("client", "cannot be told the sha256");
	rd_wait_gone(c);
	printf(json ? "{\"role\": \"server\", \"bytes\": %zu, \"setup\": %.4f, \"cpu_seconds\": %.4f, "
		      "\"machine_cpu_seconds\": %.2f" :
		      "received %zu bytes; registering took %.3f s, the process worked for %.3f s, the machine for %.2f s\n",
	       size, setup, used, machine);
	hex("sha256", digest);
	if (json)
		puts("}");
	rd_quiet(c);
	rd_free(&reply);
	ibv_dereg_mr(mem.mr);
	rd_close(c);
	rd_unlisten(l);
	return RD_OK;
}

static int client(void)
{
	size_t size = rd_number("size", 1, MAX_SIZE), chunk = rd_number("chunk", 1, 1u << 30);
	unsigned int depth = (unsigned int)rd_number("depth", 1, 8192);
	bool in = rd_number("inline", 0, 1);
	struct rd_conf conf = rd_defaults;
	uint64_t posted = 0, done = 0, all;
	double setup, used, machine, t0, t, last = 0;
	struct load before;
	uint8_t digest[DIGEST];
	struct rd_mem reply;
	struct rd_conn *c;
	struct ibv_wc wc;
	struct stat st;
	bool equal;
	int fd;

	if (in && chunk > MAX_INLINE)
		rd_wrong("inline: a chunk of %d bytes at most (chunk=%d)", MAX_INLINE, MAX_INLINE);
	fd = file(&st);
	if (fd >= 0) {
		if (!st.st_size || st.st_size > MAX_SIZE)
			rd_fail(rd_option("file"), "not a file of 1 to %u bytes", MAX_SIZE);
		size = (size_t)st.st_size;
	}
	all = (size + chunk - 1) / chunk;
	conf.send_wr = depth;
	conf.inline_bytes = in ? (unsigned int)chunk : 0;
	c = rd_open(rd.host, rd.port, &conf);
	setup = prepare(c, fd, size, 0);
	reply = rd_memory(c->pd, DIGEST, IBV_ACCESS_LOCAL_WRITE);
	rd_recv(c, 0, &reply, 0, DIGEST);
	/* the server answers after it has prepared as much memory */
	rd.wait = patience(size);
	rd_connect(c, &(struct rd_cap){ .length = (uint32_t)size });
	if (c->peer.length != size)
		rd_fail("server", "it gave a capability for %u bytes instead of %zu", c->peer.length, size);
	before = load();
	used = cpu();
	t0 = now();
	while (done < all) {
		while (posted < all && posted - done < depth) {
			size_t off = posted * chunk;
			struct rd_wr wr = {
				.id = posted,
				.op = posted == all - 1 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
				.mem = &mem, .off = off, .len = size - off < chunk ? size - off : chunk,
				.to = c->peer, .to_off = off, .imm = DONE, .inlined = in,
			};
			int rc = rd_post(c, &wr);

			if (rc)
				rd_fail("ibv_post_send", "%s", strerror(rc));
			posted++;
		}
		rd_done(c, &c->send, done++);
		progress(done * chunk < size ? done * chunk : size, now() - t0, &last);
	}
	t = now() - t0;
	used = cpu() - used;
	machine = busy_seconds(before);
	sha256(digest);
	if (!rd_next(c, &c->recv, &wc, -1) || wc.status != IBV_WC_SUCCESS)
		rd_fail("server", "it does not tell its sha256");
	equal = !memcmp(digest, reply.buf, DIGEST);
	if (json)
		printf("{\"role\": \"client\", \"bytes\": %zu, \"chunk\": %zu, \"depth\": %u, \"inline\": %s, "
		       "\"setup\": %.4f, \"seconds\": %.4f, \"mib_s\": %.3f, \"cpu_seconds\": %.4f, "
		       "\"machine_cpu_seconds\": %.2f, \"equal\": %s", size, chunk, depth, in ? "true" : "false", setup, t,
		       (double)size / t / (1 << 20), used, machine, equal ? "true" : "false");
	else
		printf("sent %zu bytes in %.3f s, %.1f MiB/s; registering took %.3f s, the process worked for %.3f s, "
		       "the machine for %.2f s\n", size, t, (double)size / t / (1 << 20), setup, used, machine);
	hex("sha256", digest);
	hex("peer_sha256", reply.buf);
	if (json)
		puts("}");
	else
		puts(equal ? "  it arrived as it was sent" : "  it did NOT arrive as it was sent");
	rd_quiet(c);
	rd_free(&reply);
	ibv_dereg_mr(mem.mr);
	rd_close(c);
	return equal ? RD_OK : RD_FAILED;
}

int main(int argc, char **argv)
{
	argv = plain_words(&argc, argv);
	rd_start(argc, argv, about, options, false);
	json = rd_number("json", 0, 1);
	return rd.server ? server() : client();
}
