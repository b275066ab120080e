// SPDX-License-Identifier: GPL-2.0
/*
 * A TCG plugin for QEMU (API version 1: QEMU 4.2 to 8.1): how many instructions
 * the guest executed in each block of code between the two marks of
 * prog/exact.h. Built by exact.py for --profile; argument: out=FILE.
 *
 * For each measurement a line "end", after lines "ADDRESS INSTRUCTIONS".
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of qemu-plugin.h, which Debian does not package. */
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
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*cb)(unsigned int cpu, void *data),
					    enum qemu_plugin_cb_flags flags, void *data);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

/* Never freed nor moved: translated code holds their addresses. */
struct block {
	uint64_t addr, insns;
	struct block *next;
};

static struct block *hash[1 << 16];
static FILE *out;

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
	b->next = *h;
	*h = b;
	return b;
}

static void mark(unsigned int cpu, void *data)
{
	struct block *b;

	(void)cpu;
	for (size_t i = 0; i < sizeof(hash) / sizeof(*hash); i++) {
		for (b = hash[i]; b; b = b->next) {
			if ((uintptr_t)data == 2 && b->insns)
				fprintf(out, "%" PRIx64 " %" PRIu64 "\n", b->addr, b->insns);
			b->insns = 0;
		}
	}
	if ((uintptr_t)data == 2) {
		fputs("end\n", out);
		fflush(out);
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &block(qemu_plugin_tb_vaddr(tb))->insns, n);
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
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return 1;
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
