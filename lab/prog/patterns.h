/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Three workloads of machine learning, with the same arithmetic whatever
 * carries the bytes. The carrier is the program that includes this:
 * ../rdma/patterns.c (RDMA WRITE, READ, WRITE with immediate), patterns_sock.c
 * (a stream socket) or patterns_gloo.cc (the library gloo; hence this is C and
 * C++). Any other computation, or another order of it, results in another
 * digest.
 *
 *	ps		parameter server. A worker pulls the parameters (READ),
 *			pushes its gradient (WRITE), sends a flag (WRITE with immediate)
 *			and waits; the server applies the gradients in the order of
 *			the workers and releases them all.
 *	rendezvous	each worker sends its contribution with a "ready" flag (WRITE
 *			with immediate); the server adds all and releases the workers,
 *			which fetch the sum (READ).
 *	batch		a producer puts batches into slots (WRITE), signals the
 *			number of each (WRITE with immediate, no data) and continues
 *			when a slot is free again.
 *
 * Both ends have memory of the same layout; an offset means the same in both.
 */
#ifndef _PATTERNS_H
#define _PATTERNS_H

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_WORKERS	16
#define SLOTS		4		/* batches in flight, of each producer */
#define RATE		0.125f

/* --- the carrier: one connection between the server and a worker --- */
struct link;

/* Copy to, and from, the same offset of the peer's memory */
static void put(struct link *l, size_t off, size_t len);
static void get(struct link *l, size_t off, size_t len);
/* As put(); when the data have arrived, the peer's await() returns the flag; @len may be 0 */
static void put_flag(struct link *l, size_t off, size_t len, uint32_t flag);
static uint32_t await(struct link *l);

/*
 * The server makes its memory accessible and accepts connections, a worker connects.
 * @args are the words after "server" or "worker" on the command line.
 */
static void carrier_listen(char **args, void *memory, size_t size);
static struct link *carrier_accept(void);
static struct link *carrier_connect(char **args, void *memory, size_t size);
static void carrier_close(struct link *l);
static const char *carrier_name(void);

/* The carrier's part of the command line */
struct syntax {
	const char *server, *worker;	/* the words after these */
	const char *letters;		/* its own options, without arguments */
	void (*option)(int letter);
	const char *more;		/* further text of --help */
};

/* Patterns that only this carrier has: members of patterns[] */
#ifndef CARRIER_PATTERNS
#define CARRIER_PATTERNS
#endif

/* --- arguments that must be the same at both ends --- */
static struct shape {
	const char *pattern;
	unsigned int workers, worker, rounds, seed;
	size_t bytes;			/* of the parameters, a contribution, a batch */
} shape = {
	.pattern = NULL, .workers = 1, .worker = 0, .rounds = 20, .seed = 7609, .bytes = 256 << 10,
};

static unsigned char *memory;
static struct link *links[MAX_WORKERS];
static double *took;			/* seconds of each round */
static EVP_MD_CTX *digest;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void digest_add(const void *p, size_t n)
{
	if (EVP_DigestUpdate(digest, p, n) != 1)
		errx(1, "no sha256");
}

/* Piece @i of the memory; all pieces are of the same size. */
static size_t piece(unsigned int i)
{
	return i * shape.bytes;
}

static void *at(size_t off)
{
	return memory + off;
}

static float *floats(size_t off)
{
	return (float *)at(off);
}

static uint32_t *integers(size_t off)
{
	return (uint32_t *)at(off);
}

static size_t memory_size(void)
{
	return (1 + (size_t)shape.workers * SLOTS) * shape.bytes;
}

/* --- arithmetic --- */
static void first_parameters(float *p)
{
	unsigned short x[3] = { (unsigned short)shape.seed, 0, 0 };

	for (size_t i = 0; i < shape.bytes / sizeof(*p); i++)
		p[i] = (float)erand48(x) - .5f;
}

static void gradient(float *g, const float *p, unsigned int worker, unsigned int step)
{
	unsigned short x[3] = { (unsigned short)shape.seed, (unsigned short)(worker + 1), (unsigned short)step };

	for (size_t i = 0; i < shape.bytes / sizeof(*p); i++)
		g[i] = p[i] - ((float)erand48(x) - .5f);
}

/* Floating point: the order of the workers matters to the last bit. */
static void apply(float *p, const float *g)
{
	for (size_t i = 0; i < shape.bytes / sizeof(*p); i++)
		p[i] -= RATE * g[i];
}

static void words(uint32_t *p, unsigned int worker, unsigned int round)
{
	unsigned short x[3] = { (unsigned short)shape.seed, (unsigned short)(worker + 1), (unsigned short)(round + 1) };

	for (size_t i = 0; i < shape.bytes / sizeof(*p); i++)
		p[i] = (uint32_t)jrand48(x);
}

static void add(uint32_t *sum, const uint32_t *p)
{
	for (size_t i = 0; i < shape.bytes / sizeof(*p); i++)
		sum[i] += p[i];
}

/* --- helpers of the patterns --- */
static void expect(struct link *l, uint32_t flag)
{
	uint32_t got = await(l);

	if (got != flag)
		errx(1, "flag %u instead of %u", got, flag);
}

static void expect_all(uint32_t flag)
{
	for (unsigned int w = 0; w < shape.workers; w++)
		expect(links[w], flag);
}

static void release_all(uint32_t flag)
{
	for (unsigned int w = 0; w < shape.workers; w++)
		put_flag(links[w], 0, 0, flag);
}

/* --- parameter server: piece 0 has the parameters, 1 + w the gradient of worker w --- */
static void ps_server(void)
{
	for (unsigned int step = 0; step < shape.rounds; step++) {
		double t = seconds();

		/* no worker may still read the parameters that apply() changes */
		expect_all(step);
		for (unsigned int w = 0; w < shape.workers; w++)
			apply(floats(0), floats(piece(1 + w)));
		release_all(step);
		took[step] = seconds() - t;
	}
	digest_add(at(0), shape.bytes);
}

static void ps_worker(struct link *l)
{
	size_t mine = piece(1 + shape.worker);

	for (unsigned int step = 0; step < shape.rounds; step++) {
		double t = seconds();

		get(l, 0, shape.bytes);
		gradient(floats(mine), floats(0), shape.worker, step);
		put(l, mine, shape.bytes);
		put_flag(l, 0, 0, step);
		expect(l, step);
		took[step] = seconds() - t;
	}
	get(l, 0, shape.bytes);
	digest_add(at(0), shape.bytes);
}

static void ps_local(void)
{
	for (unsigned int step = 0; step < shape.rounds; step++) {
		for (unsigned int w = 0; w < shape.workers; w++)
			gradient(floats(piece(1 + w)), floats(0), w, step);
		for (unsigned int w = 0; w < shape.workers; w++)
			apply(floats(0), floats(piece(1 + w)));
	}
	digest_add(at(0), shape.bytes);
}

/* --- rendezvous: piece 0 has the sum, 1 + w the contribution of worker w --- */
static void rendezvous_server(void)
{
	for (unsigned int round = 0; round < shape.rounds; round++) {
		double t = seconds();

		/* these flags also show that all workers have fetched the last sum */
		expect_all(round);
		memset(at(0), 0, shape.bytes);
		for (unsigned int w = 0; w < shape.workers; w++)
			add(integers(0), integers(piece(1 + w)));
		release_all(round);
		took[round] = seconds() - t;
		digest_add(at(0), shape.bytes);
	}
}

static void rendezvous_worker(struct link *l)
{
	size_t mine = piece(1 + shape.worker);

	for (unsigned int round = 0; round < shape.rounds; round++) {
		double t;

		words(integers(mine), shape.worker, round);
		t = seconds();
		put_flag(l, mine, shape.bytes, round);
		expect(l, round);
		get(l, 0, shape.bytes);
		took[round] = seconds() - t;
		digest_add(at(0), shape.bytes);
	}
}

static void rendezvous_local(void)
{
	for (unsigned int round = 0; round < shape.rounds; round++) {
		memset(at(0), 0, shape.bytes);
		for (unsigned int w = 0; w < shape.workers; w++) {
			words(integers(piece(1 + w)), w, round);
			add(integers(0), integers(piece(1 + w)));
		}
		digest_add(at(0), shape.bytes);
	}
}

/* --- batches: pieces 1 + w * SLOTS and so on are the slots of worker w --- */
static size_t slot(unsigned int worker, unsigned int batch)
{
	return piece(1 + worker * SLOTS + batch % SLOTS);
}

static void batch_server(void)
{
	for (unsigned int b = 0; b < shape.rounds; b++) {
		double t = seconds();

		for (unsigned int w = 0; w < shape.workers; w++) {
			expect(links[w], b);
			digest_add(at(slot(w, b)), shape.bytes);
			put_flag(links[w], 0, 0, b);
		}
		took[b] = seconds() - t;
	}
}

static void batch_worker(struct link *l)
{
	for (unsigned int b = 0; b < shape.rounds; b++) {
		double t = seconds();

		if (b >= SLOTS)
			expect(l, b - SLOTS);
		words(integers(slot(shape.worker, b)), shape.worker, b);
		put(l, slot(shape.worker, b), shape.bytes);
		put_flag(l, 0, 0, b);
		took[b] = seconds() - t;
	}
	for (unsigned int b = shape.rounds < SLOTS ? 0 : shape.rounds - SLOTS; b < shape.rounds; b++)
		expect(l, b);
}

static void batch_local(void)
{
	for (unsigned int b = 0; b < shape.rounds; b++)
		for (unsigned int w = 0; w < shape.workers; w++) {
			words(integers(slot(w, b)), w, b);
			digest_add(at(slot(w, b)), shape.bytes);
		}
}

static const struct pattern {
	const char *name;
	void (*server)(void);
	void (*worker)(struct link *l);
	void (*local)(void);
	bool digests;			/* a worker has the result, too */
} patterns[] = {
	{ "ps", ps_server, ps_worker, ps_local, true },
	{ "rendezvous", rendezvous_server, rendezvous_worker, rendezvous_local, true },
	{ "batch", batch_server, batch_worker, batch_local, false },
	CARRIER_PATTERNS
};
enum { PATTERNS = sizeof(patterns) / sizeof(*patterns) };

/* --- both ends --- */
static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void result(const char *role, const char *carrier, bool digests, double all)
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (EVP_DigestFinal_ex(digest, md, &n) != 1)
		errx(1, "no sha256");
	qsort(took, shape.rounds, sizeof(*took), by_size);
	printf("{\"pattern\": \"%s\", \"role\": \"%s\", \"carrier\": \"%s\", \"workers\": %u, \"rounds\": %u, "
	       "\"bytes\": %zu, \"seconds\": %.4f, \"step_ms\": %.3f, \"step_ms_max\": %.3f, \"digest\": \"",
	       shape.pattern, role, carrier, shape.workers, shape.rounds, shape.bytes, all,
	       took[shape.rounds / 2] * 1e3, took[shape.rounds - 1] * 1e3);
	for (unsigned int i = 0; digests && i < n; i++)
		printf("%02x", md[i]);
	puts("\"}");
}

/*
 * Both sides need the same arguments; both report a difference. The worker
 * sends first: the server's answer shows that all flags have arrived, so that
 * neither side loses those of the other when that ends at once.
 */
static void agree(struct link *l, const struct pattern *p, bool first)
{
	static const char *const what[] = { "-w", "-n", "-b", "-s", "the number of the pattern" };
	const uint32_t here[] = { shape.workers, shape.rounds, (uint32_t)shape.bytes, shape.seed,
				  (uint32_t)(p - patterns) };
	enum { N = sizeof(here) / sizeof(*here) };
	uint32_t there[N];

	for (int i = 0; first && i < N; i++)
		put_flag(l, 0, 0, here[i]);
	for (int i = 0; i < N; i++)
		there[i] = await(l);
	for (int i = 0; !first && i < N; i++)
		put_flag(l, 0, 0, here[i]);
	for (int i = 0; i < N; i++)
		if (here[i] != there[i])
			errx(1, "%s is %u here and %u on the other side", what[i], here[i], there[i]);
}

static void run_server(const struct pattern *p, char **args)
{
	double t;

	carrier_listen(args, memory, memory_size());
	puts("listening");
	fflush(stdout);
	for (unsigned int i = 0; i < shape.workers; i++) {
		struct link *l = carrier_accept();
		uint32_t w;

		agree(l, p, false);
		w = await(l);
		if (w >= shape.workers || links[w])
			errx(1, "a second worker %u, or too many", w);
		links[w] = l;
	}
	/* All workers begin here together, so that no time includes the start of others */
	release_all(shape.rounds);
	t = seconds();
	p->server();
	t = seconds() - t;
	expect_all(shape.rounds);
	for (unsigned int i = 0; i < shape.workers; i++)
		carrier_close(links[i]);
	result("server", carrier_name(), true, t);
}

static void run_worker(const struct pattern *p, char **args)
{
	struct link *l = carrier_connect(args, memory, memory_size());
	double t;

	agree(l, p, true);
	put_flag(l, 0, 0, shape.worker);
	expect(l, shape.rounds);
	t = seconds();
	p->worker(l);
	t = seconds() - t;
	put_flag(l, 0, 0, shape.rounds);
	carrier_close(l);
	result("worker", carrier_name(), p->digests, t);
}

static unsigned int number(const char *what, const char *text, unsigned int min, unsigned int max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (*end == 'k' || *end == 'K') {
		n = n > ULONG_MAX >> 10 ? ULONG_MAX : n << 10;
		end++;
	}
	if (*text < '0' || *text > '9' || errno || *end || n < min || n > max)
		errx(2, "%s: %s is not %u to %u", what, text, min, max);
	return (unsigned int)n;
}

/* Only decimal digits, as the carriers read it in decimal */
static inline const char *port_of(const char *text)
{
	if (text[strspn(text, "0123456789")])
		errx(2, "port: %s is not a number", text);
	number("port", text, 1, 65535);
	return text;
}

static void help(const struct syntax *s)
{
	printf("usage: %s [OPTION...] PATTERN server %s\n"
	       "       %s [OPTION...] PATTERN worker %s\n"
	       "       %s [OPTION...] PATTERN local	the digest that must come out\n"
	       "  PATTERN:", program_invocation_short_name, s->server, program_invocation_short_name, s->worker,
	       program_invocation_short_name);
	for (unsigned int i = 0; i < PATTERNS; i++)
		printf(" %s", patterns[i].name);
	printf("\n"
	       "  -w N  workers (1)            -i N  which of them this is (0)\n"
	       "  -n N  rounds (20)            -b BYTES  parameters, contribution, batch (256k)\n"
	       "  -s N  seed (7609)            %s\n", s->more);
	exit(0);
}

static void usage(const struct syntax *s)
{
	errx(2, "a pattern, then 'server %s', 'worker %s' or 'local' is needed (--help)", s->server, s->worker);
}

/* Is the number of @args that of the words in @words? */
static bool as_many(char **args, const char *words)
{
	int n = 1;

	while (*words)
		n += *words++ == ' ';
	while (*args++)
		n--;
	return !n;
}

static int patterns_main(int argc, char **argv, const struct syntax *s)
{
	static const struct option words[] = { { "help", no_argument, NULL, 'h' }, { } };
	const struct pattern *p = NULL;
	char all[32];
	int o;

	snprintf(all, sizeof(all), ":hw:i:n:b:s:%s", s->letters);
	while ((o = getopt_long(argc, argv, all, words, NULL)) != -1) {
		if (o == 'h')
			help(s);
		else if (o == 'w')
			shape.workers = number("-w", optarg, 1, MAX_WORKERS);
		else if (o == 'i')
			shape.worker = number("-i", optarg, 0, MAX_WORKERS - 1);
		else if (o == 'n')
			shape.rounds = number("-n", optarg, 1, 60000);
		else if (o == 'b')
			shape.bytes = number("-b", optarg, 4, 16 << 20) & ~3u;
		else if (o == 's')
			shape.seed = number("-s", optarg, 0, 65535);
		else if (o == '?' && optopt)
			errx(2, "there is no option -%c (--help)", optopt);
		else if (o == '?')
			errx(2, "there is no option %s (--help)", argv[optind - 1]);
		else if (o == ':')
			errx(2, "-%c needs a value (--help)", optopt);
		else
			s->option(o);
	}
	argv += optind;
	argc -= optind;
	if (argc < 2)
		usage(s);
	for (unsigned int i = 0; i < PATTERNS; i++)
		if (!strcmp(argv[0], patterns[i].name))
			p = &patterns[i];
	if (!p)
		errx(2, "no pattern %s (--help)", argv[0]);
	if (shape.worker >= shape.workers)
		errx(2, "worker %u of %u: they count from 0", shape.worker, shape.workers);
	shape.pattern = p->name;
	/* whole pages, because this memory is registered */
	if (posix_memalign((void **)&memory, 4096, memory_size()))
		errx(1, "no memory");
	memset(memory, 0, memory_size());
	took = (double *)calloc(shape.rounds, sizeof(*took));
	digest = EVP_MD_CTX_new();
	if (!took || !digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1)
		errx(1, "no memory, or no sha256");
	if (p->local == ps_local)
		first_parameters(floats(0));
	if (!strcmp(argv[1], "server") && as_many(argv + 2, s->server)) {
		run_server(p, argv + 2);
	} else if (!strcmp(argv[1], "worker") && as_many(argv + 2, s->worker)) {
		run_worker(p, argv + 2);
	} else if (!strcmp(argv[1], "local") && argc == 2) {
		p->local();
		result("local", "none", true, 0);
	} else {
		usage(s);
	}
	return 0;
}

#endif /* _PATTERNS_H */
