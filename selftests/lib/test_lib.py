#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the harness itself: the kernel log scanner on stored reports, case
headers, the conformance join. Prints KTAP."""

import contextlib
import glob
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import cases  # noqa: E402  pylint: disable=wrong-import-position
import klog  # noqa: E402  pylint: disable=wrong-import-position
import ktap  # noqa: E402  pylint: disable=wrong-import-position
import roce  # noqa: E402  pylint: disable=wrong-import-position
import wire  # noqa: E402  pylint: disable=wrong-import-position


def load_script(path):
    """Import an executable without .py in its name."""
    name = os.path.basename(path)
    spec = importlib.util.spec_from_loader(name, importlib.machinery.SourceFileLoader(name, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOP = os.path.dirname(os.path.dirname(HERE))

# One line (or a few) per kind of report, as kernels print them.
TROUBLE = {
    "kasan": "[    6.620000] BUG: KASAN: slab-use-after-free in smcr_conn_put+0x1eb/0x220 [smcr]",
    "kcsan": "[   12.1] BUG: KCSAN: data-race in rx_consume [smcr] / smcr_poll [smcr]",
    "null": "[   12.1] BUG: kernel NULL pointer dereference, address: 0000000000000010",
    "gpf": "[   12.1] general protection fault, probably for non-canonical address 0xdffffc0000000001: 0000 [#1]",
    "oops": "[   12.1] Oops: 0000 [#1] PREEMPT SMP NOPTI",
    "warn": "[   12.1] WARNING: CPU: 0 PID: 812 at net/core/sock.c:3120 sk_stream_kill_queues+0xd3/0xe0",
    "deadlock": "[    9.3] WARNING: possible circular locking dependency detected",
    "recursive": "[    9.3] WARNING: possible recursive locking detected",
    "irq": "[    9.3] WARNING: inconsistent lock state",
    "rcu": "[    9.3] WARNING: suspicious RCU usage",
    "atomic": "[    9.3] BUG: sleeping function called from invalid context at mm/slab.h:273",
    "sched": "[    9.3] BUG: scheduling while atomic: kworker/0:1/11/0x00000002",
    "hung": "[  242.1] INFO: task smcr_xfer:812 blocked for more than 120 seconds.",
    "stall": "[   50.1] rcu: INFO: rcu_preempt self-detected stall on CPU",
    "softlockup": "[   50.1] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [rmmod:99]",
    "refcount": "[   50.1] refcount_t: underflow; use-after-free.",
    "list": "[   50.1] list_del corruption. prev->next should be ffff888, but was dead000000000122",
    "ubsan": "[   50.1] UBSAN: array-index-out-of-bounds in net/lgr.c:120:9",
    "odebug": "[   50.1] ODEBUG: free active (active state 0) object: 00000 object type: work_struct hint: x",
    "ref_tracker": "[   50.1] ref_tracker: eth0@00000 has 1/3 users at",
    "netdev": "[   50.1] unregister_netdevice: waiting for eth0 to become free. Usage count = 2",
    "slab": "[   50.1] BUG smcr_conn (Tainted: G O): Objects remaining in smcr_conn on __kmem_cache_shutdown()",
    "kfence": "[   50.1] BUG: KFENCE: use-after-free read in smcr_tx+0x1/0x2",
    "panic": "[   50.1] Kernel panic - not syncing: Fatal exception",
    "workqueue": "[   50.1] BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!",
    "trace": "[   50.1] Call Trace:",
    "context": "[   50.1] [ BUG: Invalid wait context ]",
    "unlock": "[   50.1] WARNING: bad unlock balance detected!",
    "dma": "[   50.1] DMA-API: rnicsim rnicsim.0: device driver frees DMA memory with wrong function [device address=0x0000000001]",
    "dma-off": "[   50.1] DMA-API: debugging out of memory - disabling",
    "dma-fault": "[   50.1] rnicsim rnicsim.0: DMA fault: write of 44 bytes at 0x1000",
    "dma-sync": "[   50.1] rnicsim rnicsim.0: sync of 16 bytes at 0x1000, which are not mapped",
    "dma-unmap": "[   50.1] rnicsim rnicsim.0: 0x1000 is not mapped",
    "dma-leak": "[   50.1] rnicsim rnicsim.0: 4096 bytes at 0x1000 are still mapped",
    "alloc": "[   50.1] smcr_xfer: page allocation failure: order:9, mode:0xdc0(GFP_KERNEL|__GFP_ZERO)",
}

HARMLESS = """\
[    0.000000] Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
[    0.000000] ... MAX_LOCKDEP_ENTRIES:     131072
[    0.000000] rcu: \tRCU callback double-/use-after-free debug is enabled.
[    0.000000] rcu: \tRCU lockdep checking is enabled.
[    0.000000] KernelAddressSanitizer initialized
[    0.000000] kmemleak: Kernel memory leak detector initialized (mem pool available: 38000)
[    0.200000] DMA-API: preallocated 65536 debug entries
[    0.200000] DMA-API: debugging enabled by kernel config
[    1.010000] DMA-API: dma_debug_entry pool grown to 131072 (200%)
[    1.020000] kfence: initialized - using 2097152 bytes for 255 objects at 0x(____ptrval____)
[    3.170000] eth0 speed is unknown, defaulting to 1000
[    3.200000] rdma_rxe: loaded
[    5.940000] smcr-case BEGIN 00-boot
[    6.940000] smcr: loading out-of-tree module taints kernel.
[    7.000000] ref_tracker: memory allocation failure, unreliable refcount tracker.
[    7.100000] TCP: request_sock_TCP: Possible SYN flooding on port 5000. Sending cookies.
[    7.200000] smcr: loaded, protocol version 1
[    7.210000] smcr: link group 3, peer 1234506a7b8c: link 1 failed: llc-opcode
[    7.220000] smcr: link group 3: eye catcher of element 2 of RMB 0x1a2b was overwritten
"""

TWO = """\
[    1.0] before
[    2.0] ------------[ cut here ]------------
[    2.0] WARNING: CPU: 0 PID: 8 at net/lgr.c:12 smcr_lgr_put+0x10/0x20 [smcr]
[    2.0] Modules linked in: smcr(O) rdma_rxe
[    2.0] Call Trace:
[    2.0]  <TASK>
[    2.0]  dump_stack_lvl+0x10/0x20
[    2.0]  smcr_conn_free+0x10/0x20 [smcr]
[    2.0]  smcr_release+0x10/0x20 [smcr]
[    2.0]  </TASK>
[    2.0] ---[ end trace 0000000000000000 ]---
[    3.0] between
[    4.0] BUG: KASAN: slab-use-after-free in smcr_tx+0x1/0x2 [smcr]
[    4.0] Read of size 8 at addr ffff888101 by task x/12
[    4.0] Call Trace:
[    4.0]  smcr_tx+0x1/0x2 [smcr]
"""


def klog__finds_every_kind():
    """Each stored report is found."""
    for name, line in TROUBLE.items():
        found = klog.scan("[ 1.0] all is well\n" + line + "\n[ 60.0] all is well\n")
        assert len(found) == 1, f"{name}: {found}"


def klog__knows_code_that_was_being_changed():
    """An Oops of a breakpoint, on whatever kernel; no other report, and no line that only names it."""
    for text, there in (("[    7.1] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI\n[    7.1] CPU: 1\n", True),
                        ("[    7.1] int3: 0000 [#1] PREEMPT SMP PTI\n", True),
                        ("[    7.1] Oops: 0002 [#1] PREEMPT SMP NOPTI\n", False), ("[    7.1] int3 is a word\n", False)):
        assert klog.patched(text) == there, text


def klog__leaves_harmless_alone():
    """Boot messages and our own marks are no reports."""
    found = klog.scan(HARMLESS)
    assert not found, found[0].title


def klog__separates_reports():
    """Two reports are two, each with its own symbols."""
    found = klog.scan(TWO)
    assert [r.symbols[0] for r in found] == ["smcr_lgr_put", "smcr_tx"], [r.title for r in found]
    assert "smcr_conn_free" in found[0].symbols
    assert not any("between" in t for t in found[0].text)


def klog__fingerprint_ignores_numbers():
    """The same bug at another time, address and pid has the same name."""
    a = klog.scan(TWO)[1].fingerprint
    b = klog.scan(TWO.replace("ffff888101", "ffff888999").replace("x/12", "y/977").replace("0x1/0x2", "0x9/0xff"))[1]
    assert a == b.fingerprint, (a, b.fingerprint)
    assert a != klog.scan(TWO)[0].fingerprint


def klog__allow_needs_a_match():
    """An exception drops the report it matches, and no other."""
    found = klog.scan(TWO, [r"at net/lgr\.c:12"])
    assert [r.symbols[0] for r in found] == ["smcr_tx"]


def klog__cuts_out_a_case():
    """between() takes the last run of the case, and says if it is complete."""
    log = ("[1.0] smcr-case BEGIN a\n[1.1] old\n[1.2] smcr-case END a\n"
           "[2.0] smcr-case BEGIN a\n[2.1] new\n[2.2] smcr-case END a\n[3.0] after\n")
    assert klog.between(log, "a") == ("[2.1] new", True)
    assert klog.between(log[:-len("[2.2] smcr-case END a\n[3.0] after\n")], "a") == ("[2.1] new", False)
    assert klog.between(log, "aa") == ("", False)
    assert klog.between(log, "a", 2) == ("[2.1] new", True) != klog.between(log, "a", 1)


def klog__finds_what_is_no_cases():
    """outside() takes what comes before, between and after cases; a case without an end reaches to the end."""
    log = ("[0.1] boot\n[1.0] smcr-case BEGIN a\n[1.1] mine\n[1.2] smcr-case END a\n[2.0] between\n"
           "[2.0] smcr-case BEGIN b\n[2.1] mine\n[2.2] smcr-case END b\n[3.0] after\n")
    assert klog.outside(log) == "[0.1] boot\n[2.0] between\n[3.0] after"
    assert klog.outside("[4.0] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)\n") == ""
    assert klog.outside(log[:log.index("[2.2]")] + "[3.0] mine\n") == "[0.1] boot\n[2.0] between" and klog.outside("") == ""


LEAKS = """\
unreferenced object 0xffff8881 (size 64):
  comm "insmod", pid 9, jiffies 1500
  hex dump (first 32 bytes):
    00 00 00 00
  backtrace (crc 0):
    [<0000>] kmalloc+0x1/0x2
unreferenced object 0xffff8882 (size 32):
  comm "kworker/0:1", pid 7, jiffies 2999
  backtrace (crc 0):
"""


def run__charges_leaks():
    """A leak fails the case in whose time the object was made; a guest that cannot be asked fails the last one."""
    run = load_script(os.path.join(TOP, "selftests", "run"))
    assert [when for when, _ in klog.leaks(LEAKS)] == [1500, 2999] and klog.leaks("") == []
    assert "".join(text for _, text in klog.leaks(LEAKS)) == LEAKS

    def look(said, module="ours", missing=(), kernel="umdbg"):
        """Three cases, begun at 1000, 2000 and 3000; what guest 2 says."""
        with tempfile.TemporaryDirectory() as d:
            def guest(gid):
                def send(_):
                    base = os.path.join(d, f"leaks{gid}")
                    for end, text in ((".out", said if gid == 2 else ""), (".rc", "0")):
                        with open(base + end, "w", encoding="utf-8") as f:
                            f.write(text)
                    return base
                return unittest.mock.Mock(id=gid, alive=lambda: True, send=send)
            runner = object.__new__(run.Runner)
            runner.kernels, runner.slow, runner.held = (kernel, kernel), 1, []
            runner.pair = unittest.mock.Mock(guests=[guest(1), guest(2)], alive=lambda: True)
            for name, begun in (("a", 1000), ("b", 2000), ("c", 3000)):
                res = run.Result(unittest.mock.Mock(module=[module] * 2))
                res.case.name, res.status, res.folder = name, "pass", os.path.join(d, name)
                os.mkdir(res.folder)
                for gid in (1, 2):
                    with open(os.path.join(res.folder, f"jiffies{gid}"), "w", encoding="utf-8") as f:
                        f.write(str(begun))
                runner.held.append(res)
            res.missing = set(missing)
            runner.look_for_leaks()
            return [(r.case.name, r.status, os.path.exists(os.path.join(r.folder, "client-kmemleak.log")))
                    for r in runner.held if r.reasons]
    assert look("") == [] and look(LEAKS, kernel="um") == [] and look(LEAKS, "intree") == []
    assert look(LEAKS) == [("a", "fail", True), ("b", "fail", True)]
    assert look(LEAKS.replace("1500", "20")) == [("a", "fail", True), ("b", "fail", True)], "older than all: the first"
    assert look(LEAKS.replace("2999", "9999")) == [("a", "fail", True), ("c", "fail", True)]
    assert look("", missing={2}) == [("c", "fail", False)]


def write_case(text, name="42-area-name.sh"):
    """A case file in a temporary folder."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def cases__reads_headers():
    """All headers reach the case."""
    c = cases.parse(write_case("# SPDX\n#\n# covers: CLC-15 CLC-18\n# covers: T-01\n# nics: 2\n# timeout: 90\n"
                               "# lanes: qemu\n# tags: smoke, slow\n# memory: 2048\n# module: ours intree\n"
                               "# params: a=1 b=2\n# capture: yes\n# allow-klog: forcing a failure -- we inject it\n"
                               "server() { :; }\nhost() { :; }\n"))
    assert c.covers == ["CLC-15", "CLC-18", "T-01"] and c.nics == 2 and c.timeout == 90
    assert c.lanes == ["qemu"] and c.tags == ["smoke", "slow"] and c.memory == 2048
    assert c.module == ["ours", "intree"] and c.params == "a=1 b=2" and c.capture and c.has_host
    assert c.allow_klog == ["forcing a failure"] and c.name == "42-area-name"
    assert not c.runs_on("uml", "um") and c.runs_on("qemu", "6.1")
    c = cases.parse(write_case("# nics: 1/3\nserver() { :; }\n"))
    assert c.nics == 3 and c.lan == (1, 3) and c.room == (3, (1, 3), 1024)
    # what it claims is no part of what it does
    text = "# covers: CLC-15\nserver() { :; }\n"
    assert cases.digest(text) == cases.digest(text.replace("15", "16")) != cases.digest(text.replace(":;", "false;"))


def cases__refuses_nonsense():
    """A wrong header is an error, never a default."""
    for text in ("# lanes: kvm\nserver() { :; }\n", "# nics: two\nserver() { :; }\n", "# nics: 2/0\nserver() { :; }\n",
                 "# nics: 1/2/3\nserver() { :; }\n", "# nics: 9/1\nserver() { :; }\n", "# module: smc\nserver() { :; }\n",
                 "# cover: CLC-1\nserver() { :; }\n", "# allow-klog: BUG\nserver() { :; }\n", "# nics: 1\necho\n"):
        try:
            cases.parse(write_case(text))
        except cases.CaseError:
            continue
        raise AssertionError(text)


def cases__selects():
    """-k takes parts of names, globs, tags, covered IDs and exclusions."""
    c = cases.parse(write_case("# covers: CLC-15\n# tags: smoke\nclient() { :; }\n"))
    for yes in (["area"], ["42-*"], ["tag:smoke"], ["covers:CLC-15"], ["x", "name"], ["!tag:bench"], []):
        assert c.matches(yes), yes
    for no in (["43"], ["tag:slow"], ["covers:CLC-1"], ["area", "!tag:smoke"], ["!area"]):
        assert not c.matches(no), no


def run_side(body):
    """host() with this body, as the runner runs it: (verdict, subtests, output)."""
    path = write_case("host() {\n" + body + "\n}\n")
    with tempfile.TemporaryDirectory() as d:
        env = dict(os.environ, LIB=HERE, CASEDIR=d, TREE=TOP, ID="0", LANE="uml", KERNEL="um", SLOW="1", NICS="1")
        with open(os.path.join(d, "host.log"), "w", encoding="utf-8") as log:
            subprocess.run(["bash", os.path.join(HERE, "case-main"), path], env=env, stdin=subprocess.DEVNULL,
                           stdout=log, stderr=subprocess.STDOUT, timeout=30, check=False)
        def left(name):
            try:
                with open(os.path.join(d, name), encoding="utf-8") as f:
                    return f.read().strip()
            except FileNotFoundError:
                return ""
        return left("verdict0"), left("ktap0").splitlines(), left("host.log")


def cases__failed_checks():
    """check and eq return 0 and fail the case; passes is for conditions; other commands fail it at once."""
    assert run_side("check a true; eq b 1 1; passes c true")[:2] == ("pass", ["ok a", "ok b", "ok c"])
    verdict, subtests, out = run_side("check a false\n check b true\n eq c 1 2\n echo went on")
    assert verdict == "fail host: 2 failed checks" and "went on" in out, (verdict, out)
    assert subtests == ["not ok a (exit 1: false)", "ok b", "not ok c: got '1', expected '2'"], subtests
    _, subtests, _ = run_side("echo before\n f() { echo one; echo two >&2; false; }\n check a f")
    assert subtests == ["not ok a (exit 1: f): two"], subtests
    # as the last command, in a function, in a subshell, in the background
    for body in ("check a false", "eq a 1 2", "f() { check a false; }\n f", "(check a false)\n true",
                 "check a false | cat", "check a false & wait $!", "echo $(eq a 1 2)", "passes a false || true"):
        assert run_side(body)[0] == "fail host: 1 failed checks", body
    assert "instead" in run_side("passes a false || echo instead")[2]
    assert "instead" not in run_side("passes a true || echo instead")[2]
    # one failed check is no excuse for the next command
    verdict, _, out = run_side("check a false\n false\n echo went on")
    assert verdict == "fail host: line 3: exit 1: false" and "went on" not in out, (verdict, out)


MUTANT = """\
Wrong: the second sum is a difference
Kills: test_x:a 42-area
--- a/net/x.c
+++ b/net/x.c
@@ -7 +7 @@ int two(int a, int b)
-	return a + b;
+	return a - b;
"""
MUTATED = """\
int one(int a, int b)
{
	return a + b;
}

int two(int a, int b)
{
	return a + b;
}
"""


def mutate__applies():
    """A hunk is found by its text within its function; one that could be meant twice, or nowhere, is refused."""
    mutate = load_script(os.path.join(TOP, "scripts", "mutate"))
    with tempfile.TemporaryDirectory() as d:
        def tried(patch, text=MUTATED, ids=("CLC-36",), tests=("test_x:a", "42-area"), name="CLC-36-sum"):
            os.makedirs(os.path.join(d, "net"), exist_ok=True)
            with open(os.path.join(d, "net", "x.c"), "w", encoding="utf-8") as f:
                f.write(text)
            with open(os.path.join(d, f"{name}.patch"), "w", encoding="utf-8") as f:
                f.write(patch)
            m = mutate.Mutant(os.path.join(d, f"{name}.patch"))
            with unittest.mock.patch.object(mutate, "TOP", d):
                problems = list(m.problems(set(ids), set(tests), {"42-area"}))
            return problems or m.applied(d)["net/x.c"]
        want = MUTATED[::-1].replace("b + a", "b - a", 1)[::-1]
        assert tried(MUTANT) == want
        # the function has moved, and another one was put before it
        assert tried(MUTANT, "int more;\n\n" + MUTATED) == "int more;\n\n" + want
        assert "2 times" in tried(MUTANT.replace("@@ int two(int a, int b)", "@@"))[0]
        assert "2 times" in tried(MUTANT, MUTATED.replace("\treturn a + b;\n", "\treturn a + b;\n" * 2))[0]
        assert "0 times" in tried(MUTANT, MUTATED.replace("a + b", "b + a"))[0]
        assert tried(MUTANT.replace("b/net/x.c", "b/net/y.c")) == ["there is no net/y.c"]
        assert tried(MUTANT, ids=["CLC-35"]) and tried(MUTANT, tests=["test_x:a"]) and tried(MUTANT, tests=[])
        assert tried(MUTANT.replace("Wrong:", "wrong")) == ["no line 'Wrong: ...'"]
        assert tried(MUTANT.replace("b/net/", "b/selftests/")) == ["selftests/x.c is not in net/"]
        worlds = MUTANT.replace("Kills:", "Kills: um 1..300\nMissed: 42-area\nX:")
        assert tried(worlds, ids=(), tests=(), name="SIM-1-sum") == want
        assert tried(worlds.replace("1..300", "all"), name="SIM-1-sum") == ["no line 'Kills: KERNEL A..B'"]
        assert tried(worlds.replace("42-area", "43-area"), name="SIM-1-sum") == ["Missed: there is no case 43-area"]
    assert list(mutate.expand(["A-01", "B-08..10"])) == ["A-01", "B-08", "B-09", "B-10"]


def mutate__ends_in_time():
    """What runs when the time is over is ended, and says nothing; no mutant begins then, and one that was not run is no failure."""
    mutate = load_script(os.path.join(TOP, "scripts", "mutate"))
    begin = time.time()
    assert mutate.sh("sh", "-c", "echo x; exit 3", cwd=TOP, end=begin + 60) == (3, "x\n")
    try:
        mutate.sh("sleep", "60", cwd=TOP, end=begin + 0.2)
    except mutate.NoTime:
        assert time.time() < begin + 30
    else:
        raise AssertionError("a command that takes too long went on")
    # (which mutant is not ended; whether the case that killed is tried without it)
    for ends, proof, want in (("abc", True, (3, 0, 0)), ("ab", True, (2, 0, 0)), ("a", False, (0, 0, 1)), ("", True, (0, 0, 1))):
        def one(_, m, ends=ends):
            if m.name not in ends:
                raise mutate.NoTime
            return "killed", "42-x", ["42-x"]

        def cases(names, _ko, _fail_fast, proof=proof):
            if not proof:
                raise mutate.NoTime
            return {n: ("pass", "") for n in names}

        runner = object.__new__(mutate.Runner)
        runner.lock, runner.args, runner.begun, runner.results, runner.end = threading.Lock(), unittest.mock.Mock(budget=9), 0, [], None
        runner.mutants = runner.todo = [unittest.mock.Mock() for _ in "abc"]
        for m, name in zip(runner.todo, "abc"):
            m.name = name
        runner.place = unittest.mock.Mock(jobs=["job"], end=None, run_cases=cases)
        with unittest.mock.patch.object(runner, "_one", one), contextlib.redirect_stdout(io.StringIO()) as out:
            runner._job("job")  # pylint: disable=protected-access
            rc = runner.report()
        passed, failed = map(int, re.findall(r"^(\d+) passed, (\d+) failed$", out.getvalue(), re.M)[0])
        assert (passed, failed, rc) == want, (ends, proof, out.getvalue())
        assert ("no time left for" in out.getvalue()) == (ends != "abc")


def mutate__of_this_project():
    """Every mutant applies, and has tests that claim its entry."""
    mutate = load_script(os.path.join(TOP, "scripts", "mutate"))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        rc = mutate.check(mutate.load(), mutate.Tests())
    assert rc == 0, out.getvalue()
    assert len(mutate.rotate(mutate.load(), 5)) == 5


def cases__of_this_project():
    """All of the project's own case files are well-formed."""
    assert cases.load()


def conformance__joins():
    """Shown needs a passed test and no failed one; skips prove nothing."""
    conf = load_script(os.path.join(TOP, "scripts", "conformance"))
    entries = [(i, "§1", "MUST", "text") for i in ("A-01", "A-02", "A-03", "A-04", "A-05", "A-06", "A-07")]
    def rec(test, status, digest="now", kernel="um"):
        # what it covered when it ran is not asked
        return {"kind": "case", "test": test, "status": status, "covers": ["A-07"], "digest": digest, "lane": "uml",
                "kernel": kernel}
    claimed = {("case", t): (c.split(), "now") for t, c in (
        ("old", "A-01"), ("x", "A-02..03 A-99"), ("y", "A-03"), ("z", "A-04"), ("changed", "A-05"), ("new", "A-06"))}
    records = [
        rec("old", "fail"), rec("old", "pass"),     # only the last run counts
        rec("x", "pass"), rec("x", "pass", kernel="umdbg"), rec("y", "timeout"), rec("z", "skip"),
        rec("changed", "fail", "then"), rec("changed", "pass", "then", "umdbg"), rec("gone", "pass")]
    joined, unknown = conf.join(entries, records, claimed)
    assert [e["status"] for e in joined] == ["shown", "shown", "failed", "open", "stale", "open", "open"], joined
    assert list(unknown) == ["A-99"]
    assert joined[1]["shown_in"] == ["uml:um", "uml:umdbg"] and joined[2]["tests"] == ["x@um", "x@umdbg", "y@um (timeout)"]
    assert joined[4]["tests"] == ["changed@um (stale)", "changed@umdbg (stale)"] and joined[5]["tests"] == ["new (not run)"]
    # one lane, one kernel
    joined, _ = conf.join(entries, records, claimed, kernels=["umdbg"])
    assert [e["status"] for e in joined] == ["open", "shown", "shown", "open", "stale", "open", "open"], joined
    joined, _ = conf.join(entries, records, claimed, lanes=["qemu"])
    assert not any(e["status"] == "shown" for e in joined), joined
    # a result of old, without a digest, is of nobody knows what
    joined, _ = conf.join(entries, [{"kind": "case", "test": "old", "status": "pass", "covers": ["A-01"]}], claimed)
    assert joined[0]["status"] == "stale", joined
    # why there is none
    joined, _ = conf.join(entries, records, claimed, recorded={"A-06": ("not built", "why"), "A-07": ("not built", "why")})
    assert [e["status"] for e in joined][-2:] == ["not built", "not built"], joined


def conformance__units():
    """Results of unit tests belong to their file; what it claims does not change it."""
    conf = load_script(os.path.join(TOP, "scripts", "conformance"))
    source = 'TEST(foo__a)\n{\n\tcovers("A-01 A-02");\n\tx();\n}\n\nstatic void x(void)\n{\n\tcovers("A-09");\n}\n\nTEST(foo__b)\n{\n}\n'
    with tempfile.TemporaryDirectory() as d:
        def units(text):
            with open(os.path.join(d, "test_foo.c"), "w", encoding="utf-8") as f:
                f.write(text)
            return cases.load_units(d)
        first = units(source)
        assert first["test_foo:foo__a"][0] == ["A-01", "A-02"] and first["test_foo:foo__b"][0] == [], first
        digest = first["test_foo:foo__a"][1]
        assert units(source.replace("A-02", "A-03"))["test_foo:foo__a"] == (["A-01", "A-03"], digest)
        assert units(source.replace("\tx();", "\ty();"))["test_foo:foo__a"][1] != digest
    rec = {"kind": "unit", "test": "test_foo:foo__a", "status": "pass", "digest": digest}
    claimed = {("unit", "test_foo:foo__a"): (["A-01"], digest)}
    joined, _ = conf.join([("A-01", "", "MUST", "")], [rec], claimed)
    assert joined[0]["status"] == "shown" and joined[0]["shown_in"] == ["unit"], joined
    joined, _ = conf.join([("A-01", "", "MUST", "")], [rec], claimed, kernels=["um"])
    assert joined[0]["status"] == "open", joined


def result(place="umdbg", test="22-a", status="pass", digest="a" * 16):
    """A committed result by its key."""
    return {(place, test): load_script(os.path.join(TOP, "scripts", "conformance")).Row(place, test, status, "2026-01-02", digest)}


def conformance__document():
    """Status and tests per entry, from the committed results of unchanged tests; what no entry has is found."""
    conf = load_script(os.path.join(TOP, "scripts", "conformance"))
    entries = [(i, "§1", "MUST†" if i == "B-01" else "MUST", "text") for i in ("A-01", "A-02", "A-03", "A-04", "B-01")]
    digest = "a" * 16
    claimed = {("case", "x"): (["A-01..02"], digest), ("case", "y"): (["A-02", "Z-09"], digest), ("unit", "t:u"): (["A-01"], digest),
               ("case", "z"): (["B-01"], digest), ("case", "new"): (["A-03"], digest)}
    known = {**result("um", "x"), **result("umdbg", "x"), **result("um", "y", "timeout"), **result("unit", "t:u"), **result("6.1", "z"),
             **result("um", "z", "fail", "b" * 16), **result("um", "gone", "fail")}
    found = {i: (state, about) for i, _, state, about in conf.committed(entries, known, claimed, {})}
    assert found == {"A-01": ("shown", "x (um, umdbg), t:u (unit)"), "A-02": ("failed", "x (um, umdbg), y (um timeout)"),
                     "A-03": ("not run", "new (not run)"), "A-04": ("no test", ""), "B-01": ("shown", "z (6.1)")}, found
    text = conf.document(entries, known, claimed, {})
    for line in ("A     4        1      1       1        1        0          0                1 of 4",
                 "B     1        1      0       0        0        0          0                1 of 1",
                 "all   5        2      1       1        1        0          0                2 of 5"):
        assert line + "\n" in text, (line, text)
    assert len(text.splitlines()) < 40
    assert conf.unknown_ids(entries, claimed) == [("Z-09", "y")]
    assert conf.committed(entries, known, claimed, {"A-04": ("cannot be shown", "why")})[3][2:] == ("cannot be shown", "why")
    assert conf.ENTRY.match("- **CLC-01** · §3.2, §A.1 · MUST · Text · with a dot.").groups()[3] == "Text · with a dot."
    assert not conf.ENTRY.match("- [ ] **CLC-01** · §3.2 · MUST · Text.")


def conformance__results():
    """Committed results read back as they were written; anything odd is an error with its line."""
    conf = load_script(os.path.join(TOP, "scripts", "conformance"))
    good = "umdbg\t22-a\tpass\t2026-01-02\t0123456789abcdef\nunit\ttest_x:y\tskip\t2026-01-02\tffffffffffffffff\n"
    known = conf.parse_rows(good)
    assert conf.format_rows(known).endswith(good) and conf.format_rows(known).startswith("# SPDX")
    assert conf.parse_rows(conf.format_rows(known)) == known and conf.parse_rows("# only\n\n") == {}
    line = good.splitlines()[0]
    for old, new in (("umdbg", "6.9"), ("22-a", " "), ("pass", "ok"), ("2026-01-02", "2026-1-2"), ("0123456789abcdef", "0123"),
                     ("\tpass", ""), ("cdef", "cdef\tQ")):
        said = refuses(conf.FormatError, conf.parse_rows, "#\n" + line.replace(old, new), "name")
        assert said.startswith("name:2: "), said
    refuses(conf.FormatError, conf.parse_rows, line + "\n" + line)


def conformance__commits():
    """--commit: each record goes to its place, the latest counts, and what is of another test or unusual RNICs does not."""
    conf = load_script(os.path.join(TOP, "scripts", "conformance"))

    def rec(test, lane, kernel, status="pass", **more):
        return {"kind": "case", "test": test, "lane": lane, "kernel": kernel, "peer": kernel, "status": status, "digest": "d" * 16,
                "time": 86400, **more}
    rows = conf.rows_of([
        rec("a", "sim", "umdbg", "fail"), rec("a", "sim", "umdbg"), rec("a", "sim", "umsmp"), rec("a", "sim", "6.12"), rec("a", "uml", "umdbg"),
        rec("a", "uml", "umdbg", tcpopt="nf"), rec("a", "qemu", "6.1", peer="6.12"), rec("a", "sim", "um", knobs="order=1"),
        rec("a", "sim", "kcsan", digest=""), {"kind": "unit", "test": "t:u", "status": "pass", "digest": "e" * 16, "time": 86400}])
    assert {k: (r.status, r.date) for k, r in rows.items()} == {
        k: ("pass", "1970-01-02") for k in (("sim", "a"), ("umsmp", "a"), ("6.12-smp", "a"), ("umdbg", "a"), ("umdbg-nf", "a"), ("unit", "t:u"))}, rows
    assert conf.current(rows, {("case", "a"): ([], "d" * 16), ("unit", "t:u"): ([], "f" * 16)}).keys() == rows.keys() - {("unit", "t:u")}


def conformance__unshown():
    """Records of what has no test: of entries that there are, and that none covers; only a MAY need not be built."""
    conf = load_script(os.path.join(TOP, "scripts", "conformance"))
    entries = [("A-01", "", "MUST", ""), ("A-02", "", "MAY†", ""), ("A-03", "", "MUST", ""), ("A-04", "", "MAY", "")]
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as f:
        f.write("# why\nA-01 not built -- x\nA-02 not built -- fine\nA-03 cannot be shown -- fine\nA-04 not built -- x\n"
                "A-09 cannot be shown -- x\nA-02 untested\n")
        f.flush()
        found = list(conf.unshown_problems(entries, conf.unshown(f.name), {("case", "x"): (["A-03..04"], "d")}))
    assert [p.split()[0] for p in found] == ["A-01", "A-03", "A-04", "A-09", "'A-02"], found


def conformance__of_this_project():
    """Every unit test that covers something is found with it; the catalogue has its entries."""
    assert len(load_script(os.path.join(TOP, "scripts", "conformance")).catalogue(os.path.join(
        TOP, "Documentation", "rfc7609-conformance.md"))) == 420
    units = cases.load_units(os.path.join(TOP, "selftests", "unit"))
    assert sum(bool(c) for c, _ in units.values()) > 20 and all(d for _, d in units.values())


class Pcap:
    """A capture, packet by packet: one TCP connection and one queue pair each way."""

    def __init__(self):
        self.data = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
        self.seq = {True: 100, False: 900}

    def frame(self, up, proto, body):
        """A frame of the client or of the server."""
        ends = [bytes((10, 0, 0, 2)), bytes((10, 0, 0, 1))]
        src, dst = ends if up else ends[::-1]
        eth = bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, proto, 0, src, dst) + body
        # what is too short for Ethernet is filled up
        eth += bytes(max(0, 60 - len(eth)))
        self.data += struct.pack("<IIII", 0, 0, len(eth), len(eth)) + eth

    def tcp(self, up, flags, payload=b"", again=False):
        """A segment."""
        ports = (4000, 5000) if up else (5000, 4000)
        seq = self.seq[up] - (len(payload) if again else 0)
        self.frame(up, 6, struct.pack(">HHIIBBHHH", *ports, seq, 0, 0x50, flags, 0, 0, 0) + payload)
        if not again:
            self.seq[up] += len(payload) + bool(flags & 3)

    def roce(self, up, opcode, psn, payload):
        """A packet of the reliable connection."""
        bth = bytes((opcode, 0)) + b"\xff\xff" + struct.pack(">II", 7, psn)
        self.frame(up, 17, struct.pack(">HHHH", 1, 4791, 24 + len(payload), 0) + bth + payload + bytes(4))

    def read(self):
        """What the reader makes of it."""
        with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
            f.write(self.data)
            f.flush()
            return wire.Capture(f.name)


def wire__reads():
    """CLC in pieces and twice, what is left on TCP, LLC, CDC, WRITE, refusals."""
    proposal = wire.EYE + bytes((1, 0, 52, 0x10)) + bytes(range(8)) + bytes(range(16)) + bytes(range(6)) + bytes((0, 0)) + \
        bytes((10, 0, 0, 0, 24, 0, 0, 0)) + wire.EYE
    p = Pcap()
    p.tcp(True, 2)
    p.tcp(False, 0x12)
    p.tcp(True, 0x10)
    p.tcp(True, 0x18, proposal[:20])
    p.tcp(True, 0x18, proposal[20:])
    p.tcp(True, 0x18, proposal[20:], again=True)
    p.tcp(False, 0x18, b"hello")
    p.roce(False, 4, 1, bytes((1, 44, 0, 0x80)) + bytes(6) + bytes(16) + bytes((0, 0, 9, 3)) + bytes(14))
    p.roce(True, 10, 5, struct.pack(">QII", 0x1000, 77, 3) + b"abc" + bytes(1))
    p.roce(True, 4, 6, bytes((0xfe, 44, 0, 1, 0, 0, 0, 8)) + bytes(16) + b"\x80\x40" + bytes(18))
    p.roce(True, 4, 6, bytes((0xfe, 44, 0, 1, 0, 0, 0, 8)) + bytes(16) + b"\x80\x40" + bytes(18))
    p.roce(True, 4, 7, bytes(43))
    p.roce(False, 0x11, 7, bytes((0x21, 0, 0, 0)))
    p.tcp(True, 0x11)
    c = p.read()
    assert [(m.type, m.up, m.framed, m.net, m.plen) for m in c.clc] == [(1, True, True, bytes((10, 0, 0, 0)), 24)], c.clc
    conn = c.conns()[0]
    assert conn.proposal and not conn.accept and c.tcp[conn.conn] == {True: b"", False: b"hello"}
    assert c.ends[conn.conn][True].seq == 52 and len(c.silent[conn.conn]) == 1
    assert [(m.type, m.reply, m.qpn, m.get("link")) for m in c.sends] == [(1, True, 7, 3), (0xfe, False, 7, None)], c.sends
    assert c.sends[0].said.qpn == 9 and (c.sends[1].seq, c.sends[1].token, c.sends[1].flags, c.sends[1].ends) == (1, 8, 0x80, 0x40)
    assert [(w.va, w.rkey, w.length, w.psn) for w in c.writes] == [(0x1000, 77, 3, 5)]
    assert c.odd == ["a SEND of 43 bytes"] and c.naks == [0x21] and c.not_ready() == 1
    # DELETE LINK may find a receiver that has gone; not one that takes it later
    p.roce(True, 4, 8, bytes((4, 44)) + bytes(42))
    p.roce(False, 0x11, 8, bytes((0x21, 0, 0, 0)))
    assert p.read().not_ready() == 1
    p.roce(False, 0x11, 8, bytes((0x1f, 0, 0, 0)))
    assert p.read().not_ready() == 2


def source(*path):
    """The text of a file of the tree."""
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def tables__llc_types():
    """What makes, breaks and reads messages has each LLC type of net/core/proto.h."""
    listed = source("net", "core", "proto.h").partition("#define SMCR_LLC_TYPES(X)")[2].partition("enum")[0]
    types = {name: int(number, 16) for name, number in re.findall(r"X\((\w+),\s*(0x\w+),", listed)}
    assert len(types) >= 8, types
    assert sorted(wire.LLC_NAMES) == sorted(types.values()), wire.LLC_NAMES
    faults = re.findall(r"X\(MSG_(\w+?)(?:_REPLY)?, \w+, (0x\w+), ([01])\)", source("selftests", "mod", "rnicsim", "faults.h"))
    want = {(name, number, reply) for name, number in types.items() for reply in (0, 1)}
    assert {(n, int(t, 16), int(r)) for n, t, r in faults} - {("CDC", 0xfe, 0)} == want, faults
    puppet = source("selftests", "prog", "puppet_smc.c").partition("} llc_types[] = {")[2].partition("};")[0]
    assert set(re.findall(r"\bSMCR_LLC_(\w+)", puppet)) == set(types), puppet


def tables__rows_are_used():
    """Each reason, counter, knob and fault point is used by code outside of its table; a program or case sets each fault."""
    def text(*patterns):
        return "\n".join(source(f) for p in patterns for f in sorted(glob.glob(p, root_dir=TOP, recursive=True))
                         if not f.endswith(("reason.h", "stats.h", "knobs.h", "faults.h")))

    net, sim = text("net/**/*.[ch]"), text("selftests/mod/rnicsim/*.c")
    closes = source("net", "core", "close.c")       # its rows have reasons without the prefix
    faults = re.findall(r"X\((\w+), (\w+), \"", source("selftests", "mod", "rnicsim", "faults.h").partition("#define RS_MSGS")[0])
    reasons = re.findall(r'X\((\w+),\s*\w+,\s*"[^"]+",\s*"', source("net", "core", "reason.h"))
    counters = re.findall(r'\tX\((\w+),\s*"', source("net", "base", "stats.h"))
    knobs = re.findall(r"(?m)^\tX\((\w+), [A-Z_]+, ", source("net", "base", "knobs.h"))
    assert all(len(t) >= 20 for t in (faults, reasons, counters, knobs))
    unused = [n for n in reasons if not re.search(rf"\bSMCR_R_{n}\b", net) and not re.search(rf", {n}, \"", closes)]
    unused += [n for n in counters if not re.search(rf"\bSMCR_CNT_{n}\b", net)]
    unused += [n for n in knobs if not re.search(rf"\bknobs(\.|->){n}\b|\bsmcr_knob_\w+\([^;]*\b{n}\)", net)]
    unused += [n for n, _ in faults if not re.search(rf"\bRS_F_{n}\b", sim)]
    assert not unused, unused
    tests = text("selftests/prog/*.c", "selftests/cases/89*.sh")
    assert not [n for _, n in faults if not re.search(rf"\b{n}\b", tests)]


def roce__reads():
    """Extended headers, padding, what is no RoCEv2."""
    p = Pcap()
    p.tcp(True, 2)
    p.roce(True, 0x0a, 5, struct.pack(">QII", 0x1000, 77, 3) + b"abc")
    p.roce(True, 0x0b, 6, struct.pack(">QIII", 0x1000, 77, 2, 0x01020304) + b"xy")
    p.roce(True, 0x09, 7, struct.pack(">I", 9) + b"end")
    p.roce(False, 0x11, 7, bytes((0x62, 0, 0, 1)))
    p.roce(True, 0x14, 8, struct.pack(">QIQQ", 0x1000, 77, 5, 0))
    p.roce(True, 0x04, 9, b"")
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        f.write(p.data)
        f.flush()
        got = list(roce.packets(f.name))
    assert got[0] is None or got[0].length == 0, got[0]
    assert [(r.opcode, r.psn, r.sport, r.reth(), r.syndrome(), r.immediate(), r.length, r.head) for r in got[1:]] == [
        (0x0a, 5, 1, (0x1000, 77, 3), None, None, 3, b"abc"), (0x0b, 6, 1, (0x1000, 77, 2), None, 0x01020304, 2, b"xy"),
        (0x09, 7, 1, None, None, 9, 3, b"end"), (0x11, 7, 1, None, 0x62, None, 0, b""),
        (0x14, 8, 1, None, None, None, 0, b""), (0x04, 9, 1, None, None, None, 0, b"")], got
    assert [r.udp_length for r in got[4:]] == [28, 52, 24], got


def refuses(error, func, *args):
    """Whether func(*args) raises that error; returns its text."""
    try:
        func(*args)
    except error as e:
        return str(e)
    raise AssertionError(f"took {args}")


def check__of_this_project():
    """The committed results are well-formed; every place is one, and every case has one; a place's patterns name cases."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    conf = load_script(os.path.join(TOP, "scripts", "conformance"))
    conf.load_rows()
    everywhere = (check.SMOKE, check.SIM, check.SIM_PLAIN, *check.FULL, *check.GUESTS)
    assert {p.name for p in everywhere if p != check.SIM} <= set(conf.PLACES)
    all_cases, taken = check.load_cases(), set()
    for p in everywhere:
        names = check.universe(p, all_cases)
        assert names, p
        taken |= set(names)
    for p in check.GUESTS:
        for pattern in p.patterns:
            assert check.universe(check.replace(p, patterns=[pattern]), all_cases), (p, pattern)
    elsewhere = ("tag:storm", "tag:bench")      # make check-full, make bench
    assert not [c.name for c in all_cases if c.name not in taken and not c.matches(elsewhere)]


def kernels__of_this_project():
    """Every kernel has a place where cases run on it; the results of the probes are known for each one with a module check."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    used = {word for p in (check.SMOKE, check.SIM, *check.FULL, *check.GUESTS) for word in p.args}
    assert set(cases.kernels.ALL) <= used, set(cases.kernels.ALL) - used
    for name in cases.kernels.field("module"):
        series = re.match(r"\d+\.\d+", name)
        assert series and os.path.exists(os.path.join(TOP, "scripts", "kfeat", "expected", series[0])), name


def check__guests():
    """guests(): a failed case is not run again; after the limit places are named and not run."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    for limit, smp, count in ((float("inf"), True, len(check.GUESTS)), (float("inf"), False, len(check.GUESTS) - 1), (0, True, 0)):
        ran, out = [], io.StringIO()

        def run(tally, title, cmd, ran=ran):
            assert cmd[0] == "selftests/run" and title and "--until" not in cmd
            ran.append(cmd)
            tally.line("not ok 1 a # 1.0s/2.0s")
        with unittest.mock.patch.multiple(check, run=run, needs=lambda *_: True, has_smp=lambda smp=smp: smp, LIMIT=limit), \
                contextlib.redirect_stdout(out):
            assert check.main(["guests"]) == (1 if count else 0)
        assert len(ran) == count and out.getvalue().count("left out") == len(check.GUESTS) - count, (ran, out.getvalue())
        assert f"0 passed, {count} failed" in out.getvalue()
        assert not (smp and ran) or "umsmp" in ran[0], ran


class FakeHost:
    """A machine for scripts/hostcheck that has everything, but for what a test takes away."""

    def __init__(self, **other):
        self.values = dict({"xstate": 2696, "memory_dir": "/dev/shm", "try_exec": None, "free": 100000, "memory": 100000,
                            "program": True, "cold": False}, **other)

    def __getattr__(self, name):
        value = self.values[name]

        def answer(*args):
            if isinstance(value, OSError):
                raise value
            return value(*args) if callable(value) else value
        return answer


def hostcheck__says_what_is_missing():
    """Each requirement alone: one line, of the lanes that need it only."""
    hc = load_script(os.path.join(TOP, "scripts", "hostcheck"))

    def missing(lanes=hc.LANES, pairs=1, guest=hc.GUEST, **other):
        return [(name, text) for name, ok, text in hc.check(FakeHost(**other), lanes, pairs, guest) if not ok]

    def names(*args, **other):
        return [name for name, _ in missing(*args, **other)]

    assert names() == [] and hc.xstate_room() == 11264
    for length, bad in ((832, []), (11008, []), (11264, []), (11265, ["xstate"]), (20000, ["xstate"])):     # AMX: 11008
        assert names(xstate=length) == bad, length
        assert names(("qemu",), xstate=length) == []
    assert "20000 bytes" in missing(xstate=20000)[0][1]
    denied = PermissionError(1, "Operation not permitted")
    assert names(xstate=denied) == ["ptrace"] and names(("qemu",), xstate=denied) == []
    assert names(try_exec=denied) == ["shm"] and "noexec" in missing(try_exec=denied, memory_dir="/x")[0][1]
    assert missing(try_exec=denied, memory_dir="/x")[0][1].startswith("/x: ") and names(("qemu",), try_exec=denied) == []
    assert names(free=lambda d: 900 if d == "/dev/shm" else 100000) == ["shm"]
    assert names(free=lambda d: 1100 if d == "/dev/shm" else 100000) == []
    assert names(("uml",), 2, free=lambda d: 1100 if d == "/dev/shm" else 100000) == ["shm"], "two pairs need more"
    assert names(memory=1500) == ["memory"] and names(memory=1600) == [] and names(("qemu",), 2, memory=1600) == ["memory"]
    assert names(guest=2048, memory=1600) == ["memory"]
    little = lambda d: 2000 if d == hc.CACHE else 100000  # noqa: E731
    assert names(free=little) == [] and names(free=little, cold=True) == ["disk"]
    assert names(program=False) == ["qemu"] and names(("uml",), program=False) == []
    for _, text in missing(xstate=20000, try_exec=denied, memory=1, free=1, program=False):
        assert "\n" not in text


def hostcheck__of_this_machine():
    """The real questions have answers, and --json tells what the lines do."""
    hc = load_script(os.path.join(TOP, "scripts", "hostcheck"))
    with tempfile.TemporaryDirectory() as d:
        assert hc.Host.free(os.path.join(d, "not", "there")) > 0
        hc.Host.try_exec(d)
    assert hc.Host.memory() > 0 and hc.Host.memory_dir()
    try:
        assert 512 <= hc.Host.xstate() < 1 << 17
    except OSError:
        pass        # not to be traced here
    out = io.StringIO()
    with contextlib.redirect_stdout(out), unittest.mock.patch("sys.argv", ["", "--json"]), \
            unittest.mock.patch.object(hc, "Host", lambda: FakeHost(memory=1)):
        assert hc.main() == 1
    assert [x["name"] for x in json.loads(out.getvalue()) if not x["ok"]] == ["memory"]


def check__counts():
    """Only top-level results count; skips are not passes."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    tally = check.Tally()
    for line in ("ok 1 a", "ok 2 - b # 1.0s/2.0s", "not ok 3 c # TIMEOUT 9.0s", "    ok 1 sub", "    not ok 2 sub",
                 "ok 4 d # SKIP no device", "okay", "1..4", "# ok 5 e", "not ok - f"):
        tally.line(line)
    assert str(tally) == "2 passed, 2 failed, 1 skipped", str(tally)


if __name__ == "__main__":
    ktap.main()
