#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of lab/bench --exact: the gate, the figures, the sums of the profile, the share of the adapter. Prints KTAP."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
sys.dont_write_bytecode = True

import exact  # noqa: E402  pylint: disable=wrong-import-position
import exactgroups  # noqa: E402  pylint: disable=wrong-import-position
import exactguest  # noqa: E402  pylint: disable=wrong-import-position
import ktap  # noqa: E402  pylint: disable=wrong-import-position


def lane(folder, us, *args):
    """A lane that has measured smcr: {point: us}."""
    with unittest.mock.patch("sys.argv", ["", "--exact", *args]):
        e = exact.Exact(exact.arguments())
    e.figures_path = os.path.join(folder, "figures.json")
    e.out = folder
    e.values = {("smcr", p): [{"us": v, "insns": v * 500}] for p, v in us.items()}
    e.about = lambda: {"kernel": "k", "qemu": "q"}
    return e


def judged(e, *boots):
    """The exit status of the gate, and the points that it names as failed. `boots`: what the later ones measure."""
    out, boots = io.StringIO(), iter(boots)

    def again(_, only=()):
        other = next(boots)
        assert set(only) <= {what for what, _ in exact.POINTS}
        other.run_guest = lambda base: None
        return other
    with contextlib.redirect_stdout(out), unittest.mock.patch.object(e, "again", again):
        rc = e.gate()
    assert not list(boots), "a boot that nothing asks for"
    return rc, [line.split(" ", 3)[3].split(" #")[0] for line in out.getvalue().splitlines() if line.startswith("not ok")]


def exact__gate():
    """A point over 3 % dearer in each boot fails, and so does one without a figure; one known to be unsteady is only shown."""
    good = {p: 100.0 for p in exact.POINTS}
    with tempfile.TemporaryDirectory() as d:
        try:
            lane(d, good).gate()
            raise AssertionError("passed without figures")
        except exact.LabError as e:
            assert "no figures" in str(e)
        with contextlib.redirect_stdout(io.StringIO()):
            lane(d, good, "--update", "--impls", "smcr").update()
        assert judged(lane(d, good)) == (0, [])
        assert judged(lane(d, {p: 102.9 for p in good})) == (0, [])
        dear = [lane(d, good | {("rtt", 64): 103.1}) for _ in range(exact.BOOTS)]
        assert judged(*dear) == (1, ["rtt 64 B"])
        assert judged(dear[0], lane(d, good)) == (0, [])
        assert judged(dear[0], dear[1], lane(d, good | {("rtt", 4096): 110.0})) == (0, [])
        both = lane(d, good | {("rtt", 64): 103.1, ("conn", 1): 150.0})
        assert judged(both, both, dear[2]) == (1, ["rtt 64 B"])
        assert judged(lane(d, good | {("bulk", 1024): 150.0, ("conn", 16): 150.0})) == (0, [])
        assert judged(*[lane(d, good | {("conn", 1): 150.0, ("rtt", 4096): 50.0})] * 3) == (1, ["conn 1"])
        with unittest.mock.patch.object(exact, "POINTS", exact.POINTS + [("rtt", 7)]):
            assert judged(*[lane(d, good | {("rtt", 7): 1.0})] * 3) == (1, ["rtt 7 B"])


def exact__gate_without_adapter():
    """On simulated RNICs the instructions without the adapter's are judged, not the time, nor the adapter's; of transfers those
    that copy are not judged either."""
    def sim(folder, insns, adapter, *args, strings=0):
        e = lane(folder, {p: 100.0 for p in exact.POINTS}, "--fabric", "sim", "--impls", "smcr", *args)
        for found in e.values.values():
            found[0].update(insns=insns, adapter=adapter, strings=strings)
        return e
    judged_points = [exact.name_of(p) for p in exact.POINTS if p not in exact.UNSTEADY]
    with tempfile.TemporaryDirectory() as d:
        with contextlib.redirect_stdout(io.StringIO()):
            sim(d, 1000, 400, "--update").update()
        assert judged(sim(d, 2000, 1400)) == (0, [])
        assert judged(sim(d, 1000, 383)) == (0, [])
        assert judged(*[sim(d, 1000, 381) for _ in range(exact.BOOTS)]) == (1, judged_points)
        assert judged(*[sim(d, 1100, 400, strings=100) for _ in range(exact.BOOTS)]) == (1, [p for p in judged_points if p.split()[0] not in exact.TRANSFERS])


def exact__compare():
    """Each module is measured in a guest of its own, first the one to compare with, and both are in the results."""
    guests = []

    def measure(self, base=None):
        guests.append(self)
        series, us = ("base", 100.0) if base else ("smcr", 99.0)
        self.order.append({"series": series})
        self.values = self.values | {(series, p): [{"us": us, "insns": us * 500}] for p in exact.POINTS}
    with tempfile.TemporaryDirectory() as d, unittest.mock.patch.object(exact.Exact, "measure", measure):
        e = lane(d, {}, "--compare", "HEAD")
        e.run_guest(object())
        assert len({g.out for g in guests}) == 2 and guests[1] is e, guests
        assert (e.value("base", ("rtt", 64)), e.value("smcr", ("rtt", 64))) == (100.0, 99.0)
        assert [line["series"] for line in e.order] == ["base", "smcr"], e.order


def exact__figures():
    """Figures that were written can be read; implementations that were not measured keep their figures."""
    with tempfile.TemporaryDirectory() as d, contextlib.redirect_stdout(io.StringIO()):
        first = lane(d, {("rtt", 64): 1.5, ("conn", 1): 7.0}, "--update", "--impls", "tcp,smcr")
        first.values[("tcp", ("rtt", 64))] = [{"us": 2.0, "insns": 1000}]
        first.update()
        lane(d, {("rtt", 64): 3.0}, "--update", "--impls", "smcr").update()
        known = first.figures()
        assert known["about"] == {"kernel": "k", "qemu": "q"}
        assert known["us and instructions per operation"] == {"tcp": {"rtt 64": [2.0, 1000]}, "smcr": {"rtt 64": [3.0, 1500]}}, known


def exact__memory():
    """Memory of connections is no figure that is judged, nor one of the profiler's; it is shown and written, and what was not
    measured stays."""
    with tempfile.TemporaryDirectory() as d, contextlib.redirect_stdout(io.StringIO()):
        e = lane(d, {}, "--fabric", "sim", "--only", "burst")
        path = os.path.join(d, "lines")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(line) + "\n" for line in (
                {"series": "tcp", "what": "burst", "size": 64, "idle": 1024, "burst": 2048},
                {"series": "smcr", "what": "burst", "size": 64, "bad": "no memory"}, {"what": "end", "system": "k"}))
        e.guest = unittest.mock.Mock()
        e.follow(path, path, time.time() + 60)
        assert (e.values, [line["bad"] for line in e.order]) == ({}, ["no memory"])
        assert e.held_table().splitlines()[-1].split() == ["TCP", "1.0", "2.0"], e.held_table()
        e.update()
        other = lane(d, {("rtt", 64): 1.5})
        other.memory = {"smcr": [{"idle": 5, "burst": 6}]}
        other.update()
        assert other.figures()["memory"] == {"tcp": {"idle": 1024, "burst": 2048}, "smcr": {"idle": 5, "burst": 6}}, other.figures()


def exact__series():
    """A series without a point is not started, as its warm-up would be taken for the next one's; memory is measured in guests of
    their own, unless a gate is asked for."""
    def planned(folder, *args, alone=""):
        e = lane(folder, {}, "--fabric", "sim", *args)
        e.alone = alone
        return [(s["name"], len(s["points"]), len(s["memory"])) for s in e.series(None)]
    with tempfile.TemporaryDirectory() as d, unittest.mock.patch.object(exact, "script", lambda *_: [__file__]):
        n = len(exact.POINTS)
        assert planned(d) == [("tcp", n, 0), ("beside", len(exact.DEAREST), 0), ("smcr", n, 0), ("intree", n, 0)], planned(d)
        assert planned(d, "--only", "many") == [("tcp", 1, 0), ("smcr", 1, 0), ("intree", 1, 0)]
        assert planned(d, alone="intree") == [("intree", 0, 1)]
        for args, want in (((), ["tcp", "smcr", "intree"]), (("--only", "burst,rtt"), ["tcp", "smcr", "intree"]), (("--gate",), []),
                           (("--compare", "HEAD"), []), (("--only", "rtt"), []), (("--fabric", "roce"), [])):
            alone = []
            with unittest.mock.patch.object(exact.Exact, "boot", lambda self, alone=alone: alone.append(self.alone)):
                lane(d, {}, "--fabric", "sim", *args).hold()
            assert alone == want, (args, alone)
        assert planned(d, "--gate") == [("smcr", n, 0)]
        assert {("smcr", n - 1, 0), ("chain", 3, 0)} <= set(planned(d, "--fabric", "roce")), planned(d, "--fabric", "roce")


def exact__other_software():
    """Figures of another kernel or QEMU are not used; the module of the commit that has them is compared with instead."""
    with tempfile.TemporaryDirectory() as d, contextlib.redirect_stdout(io.StringIO()):
        lane(d, {("rtt", 64): 1.0}, "--update").update()
        e = lane(d, {("rtt", 64): 1.0})
        e.about = lambda: {"kernel": "k", "qemu": "another"}
        with unittest.mock.patch.object(exact, "git", lambda *_: ""):
            try:
                e.gate()
                raise AssertionError("compared with what does not compare")
            except exact.LabError as err:
                assert "another qemu" in str(err)


def exact__profile():
    """Blocks belong to the function before them; modules and programs are summed."""
    syms = ([0xffffffff81000000, 0xffffffff81000100, 0xffffffffc0000000], ["a", "b", "c [smcr]"])
    line = {"series": "smcr", "what": "rtt", "size": 64, "n": 10}
    text = exact.report(line, [(0x400000, 100), (0xffffffff81000000, 200), (0xffffffff810000ff, 300), (0xffffffffc0000040, 400)], syms)
    assert "100 instructions per operation: kernel 50.0 %, smcr 40.0 %, programs 10.0 %" in text, text
    assert [l.split() for l in text.splitlines()[1:]] == [["50", "50.0", "%", "a"], ["40", "40.0", "%", "c", "[smcr]"],
                                                         ["10", "10.0", "%", "programs"]], text


def exact__adapter():
    """The work of a simulated RNIC is separate: in a function's instructions, in the profile, in the figures."""
    syms = ([0xffffffff81000000, 0xffffffff81000100, 0xffffffff81000200, 0xffffffffc0000000, 0xffffffffc0001000],
            ["memcpy_orig", "__schedule", "end", "send [smcr]", "engine [rnicsim]"])
    counts = [(0x400000, 100, 0, 1), (0xffffffff81000000, 500, 300, 2), (0xffffffff81000100, 40, 0, 3), (0xffffffff81000108, 60, 0, 9),
              (0xffffffffc0000000, 100, 0, 5), (0xffffffffc0001000, 200, 200, 5)]
    found = exact.by_function(counts, syms)
    assert found == {"programs": (100, 0), "memcpy_orig": (500, 300), "__schedule": (100, 0), "send [smcr]": (100, 0),
                     "engine [rnicsim]": (200, 200)}, found
    assert exactgroups.calls(counts, syms) == {"memcpy_orig": 2, "__schedule": 3, "send [smcr]": 5, "engine [rnicsim]": 5}
    text = exact.report({"series": "smcr", "what": "rtt", "size": 64, "n": 10}, counts, syms)
    assert "(the adapter) 50.0 %, kernel 30.0 %, programs 10.0 %, smcr 10.0 %" in text, text
    with tempfile.TemporaryDirectory() as d, contextlib.redirect_stdout(io.StringIO()):
        e = lane(d, {}, "--fabric", "sim", "--update", "--impls", "smcr")
        e.order = [{"series": "smcr", "what": what, "size": size, "n": 10, "run": 1, "nth": 0, "us": 2.0, "insns": 1000}
                   for what, size in (("rtt", 64), ("bulk", 65536))]
        e.values = {("smcr", (line["what"], line["size"])): [line] for line in e.order}
        e.counted = lambda: [(line, counts, syms) for line in e.order]
        e.sources = {"send": "conn/tx.c"}
        e.sort_out()
        # of a transfer what copies is not judged
        assert e.table().split()[-14:] == ["bulk", "64", "KiB", "2.00", "1,000", "500", "300", "rtt", "64", "B", "2.00", "1,000", "500", "500"], e.table()
        kinds = {"copying": 20, "scheduler": 10, "smcr conn/tx.c": 10, "programs": 10}
        assert {k: n for k, n in e.kinds["smcr"]["rtt 64"].items() if k in kinds} == kinds, e.kinds
        assert [line.split() for line in e.work().splitlines() if "smcr conn" in line] == [["smcr", "conn/tx.c", "10"]] * 2, e.work()
        e.update()
        known = e.figures()
        assert known[exact.FIGURES[1]] == {"smcr": {"rtt 64": [2.0, 1000, 500, 200], "bulk 65536": [2.0, 1000, 500, 200]}}, known
        assert known["kinds of work"]["smcr"]["rtt 64"] == e.kinds["smcr"]["rtt 64"], known


def exactgroups__kinds():
    """The name sorts a function of the kernel, the module one of a module, the file one of smcr; suffixes of the compiler
    do not matter."""
    for function, kind in (("rep_movs_alternative", "copying"), ("clear_page_erms", "clearing"), ("finish_task_switch.isra.0", "scheduler"),
                           ("process_one_work", "workers"), ("do_syscall_64", "system calls"), ("handle_softirqs", "interrupts"),
                           ("__ib_process_cq [ib_core]", "RDMA core"), ("tcp_ack", "TCP/IP"), ("kmem_cache_free", "memory"),
                           ("_raw_spin_lock_bh", "locks and lists"), ("map_id_range_down", "other"), ("programs", "programs"),
                           ("send [smcr]", "smcr conn/tx.c"), ("recv.part.0 [smcr]", "smcr conn/rx.c"), ("gone [smcr]", "smcr"),
                           ("smc_tx [smc]", "in-tree smc"), ("rs_post [rnicsim]", "rnicsim")):
        found = exactgroups.kind(function, {"send": "conn/tx.c", "recv.part.0": "conn/rx.c"})
        assert found == kind, (function, found)
    assert exactgroups.strings({"memset_orig": (100, 30), "memset_orig [smcr]": (5, 0), "__schedule": (7, 0), "copy_page": (1, 0)}) == 71


def exactgroups__events():
    """An event is a call of one of its functions."""
    syms = ([0x1000, 0x1100, 0x1200, 0x1300], ["try_to_wake_up", "asm_sysvec_apic_timer_interrupt", "asm_exc_page_fault", "tx_done [smcr]"])
    found = exactgroups.events([(0x1000, 9, 0, 4), (0x1010, 9, 0, 100), (0x1100, 1, 0, 3), (0x1200, 1, 0, 50), (0x1300, 1, 1, 2)], syms)
    assert {e: n for e, n in found.items() if n} == {"wake-ups": 4, "interrupts": 3, "completions": 2}, found


def exactgroups__files():
    """Each function of a module has the file of its object; functions of one name have all of theirs."""
    with tempfile.TemporaryDirectory() as d:
        for name, code in (("conn/tx", "int send(void) { return 1; } int same(void) { return 2; }"), ("conn/rx", "int same(void) { return 3; } int data;")):
            os.makedirs(os.path.join(d, "net", os.path.dirname(name)), exist_ok=True)
            subprocess.run(["gcc", "-x", "c", "-c", "-o", os.path.join(d, "net", name + ".o"), "-"], input=code, text=True, check=True)
        assert exactgroups.files(d) == {"send": "conn/tx.c", "same": "conn/rx.c, conn/tx.c"}, exactgroups.files(d)


def exact__command_line():
    """Options that are valid with simulated RNICs, and the file of their figures."""
    def fails(*args):
        with unittest.mock.patch("sys.argv", ["", "--exact", *args]), contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                exact.arguments()
            except SystemExit:
                return said.getvalue().splitlines()[-1]
        return ""

    assert "--update takes all points" in fails("--fabric", "sim", "--update", "--gate")
    assert "verbs" in fails("--fabric", "sim", "--impls", "verbs")
    assert fails("--fabric", "lan") and not fails("--fabric", "sim", "--update")
    for args, impls, counts, path in ((("--fabric", "sim"), ["tcp", "beside", "smcr", "intree"], True, "exact-6.12-sim.json"),
                                      (("--fabric", "sim", "--gate"), ["smcr"], True, "exact-6.12-sim.json"),
                                      (("--fabric", "sim", "--compare", "HEAD"), ["smcr"], True, "exact-6.12-sim.json"),
                                      ((), ["tcp", "beside", "smcr", "intree", "verbs", "chain"], False, "exact-6.12.json")):
        with unittest.mock.patch("sys.argv", ["", "--exact", *args]):
            e = exact.Exact(exact.arguments())
        assert (e.args.impls, e.counts, os.path.basename(e.figures_path)) == (impls, counts, path)


KALLSYMS = """ffffffff81000010 t rest_init
ffffffff81000100 T hrtimer_interrupt
ffffffff81000200 T asm_sysvec_apic_timer_interrupt
ffffffff81000210 T memcpy
ffffffff81000300 T handle_softirqs
ffffffff81000400 D jiffies
ffffffff81000500 T last
ffffffffc0001010 t post\t[rnicsim]
ffffffffc0002020 t timer\t[rnicsim]
ffffffffc0005000 t send\t[smcr]
ffffffffc0000000 t bpf_prog_1\t[bpf]
ffffffffc0009000 t bpf_prog_2\t[bpf]
"""


def exact__ranges():
    """Modules are whole pages, the adapter's before all others; core functions end where the next one begins."""
    assert exactguest.ranges(KALLSYMS.splitlines()) == [
        (0xffffffffc0001000, 0xffffffffc0003000, "a"), (0xffffffffc0000000, 0xffffffffc000a000, "o"),
        (0xffffffffc0005000, 0xffffffffc0006000, "o"),
        (0xffffffff81000100, 0xffffffff81000200, "a"), (0xffffffff81000200, 0xffffffff81000210, "e"),
        (0xffffffff81000300, 0xffffffff81000500, "o")]


# In place of QEMU: reads executed blocks, "ADDRESS INSTRUCTIONS i" (i: the last one is an IRET), and marks, "mark 1" and "mark 2".
QEMU = r"""
#include "exactprof.c"
struct qemu_plugin_tb { uint64_t addr; size_t n; struct qemu_plugin_insn { bool iret; } last; };
static struct piece *piece;
static struct { uint64_t *p, imm; } add[2];
static int n_add;
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb) { return tb->addr; }
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb) { return tb->n; }
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n)
{
	static struct qemu_plugin_insn nop;

	return n == tb->n - 1 ? (struct qemu_plugin_insn *)&tb->last : &nop;
}
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn) { return insn->iret ? "\x48\xcf" : "\x90\x90"; }
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn) { (void)insn; return 2; }
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb))
{
	(void)id, (void)cb;
}
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op, void *p, uint64_t imm)
{
	(void)tb, (void)op;
	add[n_add].p = p;
	add[n_add++].imm = imm;
}
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned int cpu, void *data),
					  enum qemu_plugin_cb_flags flags, void *data)
{
	(void)tb, (void)cb, (void)flags;
	piece = data;
}
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*cb)(unsigned int cpu, void *data),
					    enum qemu_plugin_cb_flags flags, void *data)
{
	(void)insn, (void)cb, (void)flags, (void)data;
}
int main(int argc, char **argv)
{
	char line[80];

	if (qemu_plugin_install(0, NULL, argc - 1, argv + 1))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		struct qemu_plugin_tb tb = { 0 };
		char i = 0;
		int m;

		if (sscanf(line, "mark %d", &m) == 1) {
			mark(0, (void *)(uintptr_t)m);
		} else if (sscanf(line, "%" SCNx64 " %zu %c", &tb.addr, &tb.n, &i) >= 2) {
			tb.last.iret = i == 'i';
			n_add = 0;
			translated(0, &tb);
			while (n_add--)
				*add[n_add].p += add[n_add].imm;
			if (piece)
				executed(0, piece);
		}
	}
	return 0;
}
"""
PROGRAM, SMCR, CORE, ENTRY, SOFTIRQ, ADAPTER = 0x400000, 0xffffffffc0005000, 0xffffffff81000000, 0xffffffff81000200, 0xffffffff81000300, 0xffffffffc0001000
RANGES = f"{ADAPTER:x} {ADAPTER + 4096:x} a\n{ENTRY:x} {ENTRY + 16:x} e\n{SOFTIRQ:x} {SOFTIRQ + 16:x} o\n{SMCR:x} {SMCR + 4096:x} o\n"


def exact__profiler():
    """Code in no range belongs to the owner of the code before it; at the end of an interrupt the interrupted owner is restored."""
    def run(folder, text, *args, calls=False):
        out = os.path.join(folder, "out")
        subprocess.run([os.path.join(folder, "qemu"), f"out={out}", *args], input=text, text=True, check=True,
                       env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"})
        with open(out, encoding="ascii") as f:
            return [sorted((int(a, 16), int(n), int(of)) + ((int(runs),) if calls else ())
                           for a, n, of, runs in (l.split() for l in part.splitlines() if l)) for part in f.read().split("end")[:-1]]

    def told(folder, *blocks):
        text = "mark 1\n" + "".join(f"{b[0]:x} {b[1]} {'i' * (len(b) > 2)}\n" for b in blocks) + "mark 2\n"
        return run(folder, text, f"ranges={folder}/ranges")[0]

    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "qemu.c"), "w", encoding="ascii") as f:
            f.write(QEMU)
        subprocess.run(["gcc", "-Wall", "-Wextra", "-Wno-cast-qual", "-O1", "-fsanitize=address,undefined", "-I", HERE, "-o",
                        os.path.join(d, "qemu"), os.path.join(d, "qemu.c")], check=True)
        with open(os.path.join(d, "ranges"), "w", encoding="ascii") as f:
            f.write(RANGES)
        # core code belongs to the adapter if the adapter calls it, but not if smcr calls it
        assert told(d, (SMCR, 5), (CORE, 7), (ADAPTER, 11), (CORE, 13), (SMCR, 5)) == sorted(
            [(SMCR, 10, 0), (CORE, 20, 13), (ADAPTER, 11, 11)])
        # the adapter's timer interrupts core code that smcr has called, and a softirq runs
        assert told(d, (SMCR, 1), (CORE, 2), (ENTRY, 3), (ADAPTER, 4), (CORE + 16, 5), (SOFTIRQ, 6), (CORE + 32, 7, "i"), (CORE, 8)) == sorted(
            [(SMCR, 1, 0), (CORE, 10, 0), (ENTRY, 3, 0), (ADAPTER, 4, 4), (CORE + 16, 5, 5), (SOFTIRQ, 6, 0), (CORE + 32, 7, 0)])
        # an interrupt during core code that the adapter has called; the second block of an entry is no entry
        assert told(d, (ADAPTER, 1), (CORE, 2), (ENTRY, 3), (SMCR, 4), (ENTRY + 4, 5), (CORE + 32, 6, "i"), (CORE, 7)) == sorted(
            [(ADAPTER, 1, 1), (CORE, 9, 9), (ENTRY, 3, 3), (SMCR, 4, 0), (ENTRY + 4, 5, 0), (CORE + 32, 6, 0)])
        # when a program runs, all interrupts have ended
        assert told(d, (ADAPTER, 1), (ENTRY, 2), (PROGRAM, 3), (CORE, 4, "i"), (CORE + 16, 5), (ADAPTER, 6), (ENTRY, 7),
                    (SMCR, 8), (CORE, 9, "i"), (CORE + 32, 10)) == sorted(
            [(ADAPTER, 7, 7), (ENTRY, 9, 9), (PROGRAM, 3, 0), (CORE, 13, 0), (CORE + 16, 5, 0), (SMCR, 8, 0), (CORE + 32, 10, 10)])
        # more nested interrupts than DEPTH
        deep = told(d, (ADAPTER, 1), *[(ENTRY, 1)] * 20, (SMCR, 1), *[(CORE, 1, "i")] * 20, (CORE + 16, 1))
        assert (CORE + 16, 1, 1) in deep, deep
        # only code between marks counts; without ranges nothing belongs to the adapter
        text = f"{CORE:x} 1\nmark 1\n{ADAPTER:x} 2\nmark 2\n{CORE:x} 3\nmark 1\n{CORE:x} 4\nmark 2\n"
        assert run(d, text) == [[(ADAPTER, 2, 0)], [(CORE, 4, 0)]]
        # how many times each was executed, of any length
        text = f"mark 1\n{CORE:x} 4\n{SMCR:x} 2\n{CORE:x} 7\nmark 2\nmark 1\n{CORE:x} 1\nmark 2\n"
        assert run(d, text, calls=True) == [[(CORE, 11, 0, 2), (SMCR, 2, 0, 1)], [(CORE, 1, 0, 1)]]


if __name__ == "__main__":
    ktap.main()
