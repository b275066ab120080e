// SPDX-License-Identifier: GPL-2.0
/*
 * TCG plugin for QEMU (API version 1: QEMU 4.2 to 8.1) that counts the instructions
 * which the guest executes in each block of code between the two marks of
 * prog/exact.h. Built by exact.py for --profile; arguments: out=FILE and, when
 * there is a simulated adapter, ranges=FILE.
 *
 * The output of each measurement is lines "ADDRESS INSTRUCTIONS ADAPTER RUNS" and a line
 * "end". ADAPTER is the part of the instructions that is work of the adapter: its own
 * code, and the kernel's code that this calls, until other code runs again. RUNS is how
 * many times the block was executed; a call begins a block, so the RUNS of the first
 * block of a function are its calls.
 *
 * The ranges are read at each first mark, from lines "LOW HIGH WHOSE", with addresses
 * in hexadecimal. WHOSE is "a" for code of the adapter, "o" for other code, "e" for the
 * entry of an interrupt or exception, after whose IRET the interrupted code continues.
 * Programs are other code. Code in no range belongs to the owner of the code before it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES 4096
#define DEPTH 16		/* of interrupts in interrupts */
#define PROGRAMS (1ULL << 47)	/* addresses below are those of programs */

/* From qemu-plugin.h, which Debian does not package. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op, void *p, uint64_t imm);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned int cpu, void *data),
					  enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*cb)(unsigned int cpu, void *data),
					    enum qemu_plugin_cb_flags flags, void *data);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

/* Never freed nor moved: translated code holds their addresses. */
struct block {
	uint64_t addr, insns, adapter, runs;
	char whose;		/* owner() */
	struct block *next;
};

/* A translation of a block */
struct piece {
	struct block *block;
	size_t insns;
	bool iret;		/* its last instruction is an IRET */
};

static struct block *hash[1 << 16];
static struct range { uint64_t low, high; char whose; } range[RANGES];
static size_t n_ranges;
static const char *ranges;
static bool in_adapter, interrupted[DEPTH];
static size_t depth;
static FILE *out;

/* 'a', 'o', 'e' at the first instruction of an entry, 'p' for programs, 0: in no range */
static char owner(uint64_t addr)
{
	if (addr < PROGRAMS)
		return 'p';
	for (size_t i = 0; i < n_ranges; i++) {
		if (addr < range[i].low || addr >= range[i].high)
			continue;
		if (range[i].whose != 'e' || addr == range[i].low)
			return range[i].whose;
	}
	return 0;
}

static void read_ranges(void)
{
	FILE *f = fopen(ranges, "r");

	for (n_ranges = 0; f && n_ranges < RANGES; n_ranges++) {
		struct range *r = &range[n_ranges];

		if (fscanf(f, "%" SCNx64 " %" SCNx64 " %c", &r->low, &r->high, &r->whose) != 3)
			break;
	}
	if (f)
		fclose(f);
	in_adapter = false;
	depth = 0;
}

static struct block *block(uint64_t addr)
{
	struct block **h = &hash[(addr ^ addr >> 16) & 0xffff], *b;

	for (b = *h; b; b = b->next)
		if (b->addr == addr)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->addr = addr;
	b->whose = owner(addr);
	b->next = *h;
	*h = b;
	return b;
}

static void mark(unsigned int cpu, void *data)
{
	struct block *b;

	(void)cpu;
	if ((uintptr_t)data == 1 && ranges)
		read_ranges();
	for (size_t i = 0; i < sizeof(hash) / sizeof(*hash); i++) {
		for (b = hash[i]; b; b = b->next) {
			if ((uintptr_t)data == 2 && b->insns)
				fprintf(out, "%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
					b->addr, b->insns, b->adapter, b->runs);
			b->insns = 0;
			b->adapter = 0;
			b->runs = 0;
			b->whose = owner(b->addr);
		}
	}
	if ((uintptr_t)data == 2) {
		fputs("end\n", out);
		fflush(out);
	}
}

static void executed(unsigned int cpu, void *data)
{
	const struct piece *p = data;

	(void)cpu;
	switch (p->block->whose) {
	case 'a':
		in_adapter = true;
		break;
	case 'o':
		in_adapter = false;
		break;
	case 'p':
		/* one processor: while a program runs, no handler is interrupted */
		in_adapter = false;
		depth = 0;
		break;
	case 'e':
		if (depth < DEPTH)
			interrupted[depth] = in_adapter;
		depth++;
		break;
	default:
		break;
	}
	if (in_adapter)
		p->block->adapter += p->insns;
	if (p->iret && depth && --depth < DEPTH)
		in_adapter = interrupted[depth];
}

static bool is_iret(const struct qemu_plugin_insn *insn)
{
	return qemu_plugin_insn_size(insn) == 2 && !memcmp(qemu_plugin_insn_data(insn), "\x48\xcf", 2);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *b = block(qemu_plugin_tb_vaddr(tb));

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &b->insns, n);
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &b->runs, 1);
	if (ranges) {
		struct piece *p = malloc(sizeof(*p));

		if (!p)
			abort();
		*p = (struct piece){ b, n, is_iret(qemu_plugin_tb_get_insn(tb, n - 1)) };
		qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS, p);
	}
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);

		if (qemu_plugin_insn_size(insn) == 7 && !memcmp(code, "\x0f\x1f\x80SMX", 6))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, mark, QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)code[6]);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
		else if (!strncmp(argv[i], "ranges=", 7))
			ranges = strdup(argv[i] + 7);
		else
			return 1;
	}
	if (!out)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
