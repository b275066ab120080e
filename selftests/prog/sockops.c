// SPDX-License-Identifier: GPL-2.0-only
/*
 * sockops CGROUP: a BPF program, in machine code, that puts every passive
 * connection of a cgroup into a sockhash as soon as TCP is established, until
 * the end of this process. Prints "attached", and for each line on standard
 * input how many sockets are in the map.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSN(op, d, s, o, i) \
	((struct bpf_insn){ .code = (op), .dst_reg = (d), .src_reg = (s), \
			    .off = (o), .imm = (i) })
#define N_INSNS	14

static int bpf(int cmd, union bpf_attr *attr)
{
	int rc = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	if (rc < 0 && errno != ENOENT) {
		perror("bpf");
		exit(1);
	}
	return rc;
}

static int map_create(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_SOCKHASH, .key_size = 4,
		.value_size = 8, .max_entries = 1024,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static int prog_load(int map)
{
	struct bpf_insn insns[N_INSNS] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0),
		INSN(BPF_LDX | BPF_W | BPF_MEM, 2, 6, offsetof(struct bpf_sock_ops, op), 0),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 2, 0, 9, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB),
		/* the peer's port is the key */
		INSN(BPF_LDX | BPF_W | BPF_MEM, 2, 6, offsetof(struct bpf_sock_ops, remote_port), 0),
		INSN(BPF_STX | BPF_W | BPF_MEM, 10, 2, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 2, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, 0, -4),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, BPF_ANY),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_sock_hash_update),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static char log[65536];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCK_OPS,
		.insn_cnt = N_INSNS,
		.insns = (unsigned long)insns, .license = (unsigned long)"GPL",
		.log_level = 1, .log_size = sizeof(log), .log_buf = (unsigned long)log,
	};
	int rc = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (rc < 0) {
		fprintf(stderr, "load: %s\n%s\n", strerror(errno), log);
		exit(1);
	}
	return rc;
}

static unsigned int map_count(int map)
{
	union bpf_attr attr = { .map_fd = (unsigned int)map };
	unsigned int key, next, n = 0;

	attr.next_key = (unsigned long)&next;
	while (!bpf(BPF_MAP_GET_NEXT_KEY, &attr)) {
		key = next;
		attr.key = (unsigned long)&key;
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	int map = map_create(), prog = prog_load(map);
	union bpf_attr attr = { .link_create = {
		.prog_fd = (unsigned int)prog, .attach_type = BPF_CGROUP_SOCK_OPS,
	} };
	char line[16];
	int cgroup = open(argc == 2 ? argv[1] : "", O_RDONLY | O_DIRECTORY);

	if (cgroup < 0) {
		perror("sockops CGROUP");
		return 2;
	}
	attr.link_create.target_fd = (unsigned int)cgroup;
	bpf(BPF_LINK_CREATE, &attr);
	setlinebuf(stdout);
	puts("attached");
	while (fgets(line, sizeof(line), stdin))
		printf("%u\n", map_count(map));
	return 0;
}
