#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the harness itself: the kernel log scanner on stored reports, case
headers, the conformance join. Prints KTAP."""

import contextlib
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
import verdict  # noqa: E402  pylint: disable=wrong-import-position
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


def conformance__document():
    """Status and tests per entry, from the committed results; what no entry has is found."""
    conf = load_script(os.path.join(TOP, "scripts", "conformance"))
    entries = [(i, "§1", "MUST†" if i == "B-01" else "MUST", "text") for i in ("A-01", "A-02", "A-03", "A-04", "B-01")]
    claimed = {("case", "x"): (["A-01..02"], "d"), ("case", "y"): (["A-02", "Z-09"], "d"), ("unit", "t:u"): (["A-01"], "d"),
               ("case", "z"): (["B-01"], "d"), ("case", "new"): (["A-03"], "d")}
    known = rows(row("um", "x"), row("umdbg", "x"), row("um", "y", "timeout"), row("unit", "t:u", date="2026-01-03"),
                 row("6.1", "z", "flaky"), row("um", "z"), row("um", "gone", "fail"))
    text = conf.document(entries, known, claimed)
    for line in ("* ``A-01`` MUST, shown: ``x`` (um, umdbg), ``t:u`` (unit)", "* ``A-02`` MUST, failed: ``x`` (um, umdbg), ``y`` (um timeout)",
                 "* ``A-03`` MUST, not run: ``new`` (not run)", "* ``A-04`` MUST, no test", "* ``B-01`` MUST†, flaky: ``z`` (6.1 flaky, um)",
                 "A     4        1      1       0      1        1        0          0                1 of 4",
                 "all   5        1      1       1      1        1        0          0                1 of 5",
                 "Results: 2026-01-02 of the tree aaaaaaaaaaaa; 2026-01-03 of the tree aaaaaaaaaaaa."):
        assert line + "\n" in text, (line, text)
    assert conf.unknown_ids(entries, claimed) == [("Z-09", "y")]
    text = conf.document(entries, known, claimed, {"A-04": ("cannot be shown", "nobody sees it")})
    assert "* ``A-04`` MUST, cannot be shown: nobody sees it\n" in text, text
    assert conf.ENTRY.match("- **CLC-01** · §3.2, §A.1 · MUST · Text · with a dot.").groups()[3] == "Text · with a dot."
    assert not conf.ENTRY.match("- [ ] **CLC-01** · §3.2 · MUST · Text.")


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


def verdict__results():
    """Results read back as they were written; anything odd is an error with its line."""
    good = "umdbg\t22-a\tpass\t10.9\t2026-01-02\t0123456789ab\nunit\ttest_x:y\tskip\t0.0\t2026-01-02\t-\n"
    rows = verdict.parse_rows(good)
    assert verdict.format_rows(rows).endswith(good) and verdict.format_rows(rows).startswith("# SPDX")
    assert verdict.parse_rows(verdict.format_rows(rows)) == rows
    assert rows[("umdbg", "22-a")].seconds == 10.9 and verdict.parse_rows("# only\n\n") == {}
    line = good.splitlines()[0]
    for old, new in (("umdbg", "6.9"), ("22-a", " "), ("pass", "ok"), ("10.9", "x"), ("2026-01-02", "2026-13-02"),
                     ("0123456789ab", "0123"), ("\tpass", ""), ("ab", "ab\tQ"), ("ab", "ab\tP\tP")):
        said = refuses(verdict.FormatError, verdict.parse_rows, "#\n" + line.replace(old, new), "name")
        assert said.startswith("name:2: "), said
    refuses(verdict.FormatError, verdict.parse_rows, line + "\n" + line)


def row(place="umdbg", test="22-a", result="pass", date="2026-01-02", tree="a" * 12, seconds=10.0, recent=""):
    """A result."""
    return verdict.Row(place, test, result, seconds, date, tree, recent)


def rows(*made):
    """Results by their key."""
    return {r.key: r for r in made}


def verdict__history():
    """The history knows how the last runs ended, and survives what is no history."""
    history = {}
    for n, result in enumerate(("fail", "pass", "flaky", "timeout", "skip", "pass", "pass", "pass", "pass")):
        history = verdict.remember(history, [row(result=result, date=f"2026-01-02T00:00:0{n}")])
    (known,) = history.values()
    assert known.recent == "PXTSPPPP" and known.verdict == "pass" and known.date.endswith("08"), known
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "sub", "history.tsv")
        verdict.save_history(path, [row(), row(place="unit")])
        verdict.save_history(path, [row(result="fail")])
        assert [r.recent for _, r in sorted(verdict.load_history(path).items())] == ["PF", "P"]
        for junk in ("x", "\udc80"):
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(junk)
            assert verdict.load_history(path) == {}
        verdict.save_history(path, [row()])
        assert len(verdict.load_history(path)) == 1


def verdict__lately():
    """A failure counts until enough runs have passed; so does a committed one."""
    for recent, bad in (("P", False), ("FPPPPP", False), ("FPPPP", True), ("XP", True), ("TP", True), ("SP", False), ("", False)):
        assert verdict.lately_bad(row(recent=recent)) == bad, recent
    assert not verdict.lately_bad(None) and verdict.lately_bad(row(result="flaky")) and not verdict.lately_bad(row(result="skip"))


def verdict__commits():
    """The newest result of a tree of the branch is committed, for today's tests only."""
    old = rows(row(), row(test="gone"), row(test="here"))
    new = rows(row(result="fail", date="2026-01-02T10:00:00", tree="b" * 12), row(test="here", tree="c" * 12, date="2026-02-02T10:00:00"),
               row(test="new", tree="b" * 12), row(test="other", tree="c" * 12))
    tests = [("umdbg", t) for t in ("22-a", "here", "new", "other", "never")]
    out = verdict.newest(old, new, {"b" * 12}, tests)
    assert {k[1]: (r.verdict, r.tree[0]) for k, r in out.items()} == {
        "22-a": ("fail", "b"), "here": ("pass", "a"), "new": ("pass", "b")}, out


def verdict__flaky_list():
    """An entry needs a case, a kernel, a date and an analysis."""
    why = "    The peer's timer\n\tends before ours when the host is loaded.\n"
    good = "# text\n\n37b-x umdbg 2026-01-02\n" + why + "22-a um 2026-01-02\n" + why
    found = verdict.parse_flaky(good, {"37b-x", "22-a"})
    assert list(found) == [("umdbg", "37b-x"), ("um", "22-a")]
    assert found[("um", "22-a")].why == "The peer's timer ends before ours when the host is loaded."
    for old, new, said in (("37b-x", "37c", "no case"), ("umdbg", "unit", "no kernel"), ("umdbg", "6.9", "no kernel"),
                           ("2026-01-02", "2026-1-2", "no date"), ("2026-01-02", "2026-02-30", "no date"),
                           (" 2026-01-02", "", "not CASE"), (why, "", "no analysis"), (why, "\tload\n", "no analysis"),
                           ("22-a um", "37b-x umdbg", "second time"), ("# text", " text", "of nothing")):
        assert said in refuses(verdict.FormatError, verdict.parse_flaky, good.replace(old, new), {"37b-x", "22-a"}), new


def verdict__reads_runs():
    """What selftests/run prints: results, reasons and where the logs are."""
    r = verdict.Reader()
    for line in ("# lane uml, kernel umdbg, logs in /run/x", "ok 1 a # 1.0s/2.5s", "    not ok 1 sub", "not ok 2 b # TIMEOUT 9.0s/12.0s",
                 "# guest 1: slow", "# second", "# --- guest 1 server.log", "# a line", "#     kernel", "# fingerprint: x",
                 "# logs: /run/x/pair1/002-b", "# again: selftests/run", "ok 3 c # SKIP no device", "not ok 4 d # 1.0s/1.5s", "# why",
                 "# logs: /run/x/pair2/004-d", "# left out: e", "# Totals: pass:1"):
        r.feed(line)
    assert r.logs == "/run/x" and [(o.name, o.verdict, o.seconds) for o in r.out] == [
        ("a", "pass", 2.5), ("b", "timeout", 12.0), ("c", "skip", 0.0), ("d", "fail", 1.5)], r.out
    assert [(o.reasons, o.logs) for o in r.out] == [([], ""), (["guest 1: slow", "second"], "/run/x/pair1/002-b"), ([], ""),
                                                    (["why"], "/run/x/pair2/004-d")], r.out


def verdict__second_try():
    """A second try helps only a listed case, and never in a strict run; what fails twice has failed."""
    out = verdict.Outcome
    first = [out("a", "fail"), out("b", "timeout"), out("c", "fail"), out("d", "fail")]
    second = [out("a", "pass"), out("b", "pass"), out("c", "timeout")]
    entry = verdict.Flaky("a", "um", "2026-01-02", "why")
    listed = {("um", "a"): entry, ("umdbg", "b"): entry, ("um", "c"): entry}
    assert verdict.settle(first, second, listed, "um", False) == [
        ("a", "flaky", True, entry), ("b", "flaky", False, None), ("c", "fail", False, None), ("d", "fail", False, None)]
    assert [x[2] for x in verdict.settle(first, second, listed, "um", True)] == [False] * 4
    assert verdict.settle(first, [out("a", "skip")], listed, "um", False)[0][1:3] == ("fail", False)


def verdict__affected():
    """By the map, and whatever is not known is affected."""
    names = ("map", "other", "none", "new", "lost", "same")
    trees = {"map": "a", "other": "a", "none": "a", "lost": "b", "same": "c"}
    committed = rows(*(row(test=t, tree=tree * 12) for t, tree in trees.items()))
    executes = {"map": {"tx.c", "core/cdc.c"}, "other": {"rx.c"}, "same": {"tx.c"}, "new": {"rx.c"}, "lost": {"rx.c"}}

    def of(*files, place="umdbg"):
        changed = {"a" * 12: set(files), "b" * 12: None, "c" * 12: set()}
        pairs = {(place, t) for t in names}
        known = {(place, k[1]): r for k, r in committed.items()}
        return {t for _, t in verdict.affected(pairs, known, changed, executes, lambda c: f"selftests/cases/{c}.sh")} - {"new", "lost"}
    assert of("net/core/cdc.c") == {"map", "none"} and of("net/rx.c") == {"other", "none"}
    assert of("net/new.c") == {"none"} and of("README.md") == set() == of("selftests/run")
    assert of("selftests/cases/other.sh") == {"other"}
    assert {"new", "lost"} <= {t for _, t in verdict.affected({("umdbg", t) for t in names}, committed, {"a" * 12: set(), "b" * 12: None,
                               "c" * 12: set()}, executes, str)}
    executes["map"] = {"tcpopt_native.c"}
    assert of("net/tcpopt_nf.c") == {"none"} and of("net/tcpopt_nf.c", place="umdbg-nf") == {"map", "none"}


def verdict__map():
    """The map reads back; a line that is none is an error."""
    made = {"22-a": {"tx.c", "core/cdc.c"}, "23-b": {"rx.c"}, "24-c": set()}
    assert verdict.parse_map(verdict.format_map(made)) == made
    for bad in ("22-a", "22-a\t", "22-a tx.c", "a\tx.c\na\tx.c"):
        refuses(verdict.FormatError, verdict.parse_map, bad)


def verdict__executes():
    """What a case calls beyond loading the module, of gcov's reports."""
    made = load_script(os.path.join(TOP, "scripts", "case-map"))

    def report(cwd, **counts):
        return json.dumps({"current_working_directory": cwd, "files": [
            {"file": f.replace("__", "/") + ".c", "functions": [{"name": n, "execution_count": c} for n, c in fs.items()]}
            for f, fs in counts.items()]}) + "\n"
    text = report("/b/net", tx={"tx_send": 3, "tx_init": 1, "tx_odd": 0}, core__cdc={"get": 1}) + \
        report("/elsewhere", **{"tx": {"x": 1}}) + report("/b", **{"net__rx": {"rx_init": 1}, "net__gen__f": {"x": 1}})
    found = made.called(text, "/b")
    assert found == {("tx.c", "tx_send"), ("tx.c", "tx_init"), ("core/cdc.c", "get"), ("rx.c", "rx_init")}, found
    assert made.executes({"a": found, "b": {("rx.c", "rx_init")}}, {("tx.c", "tx_init"), ("rx.c", "rx_init")}) == {
        "a": {"tx.c", "core/cdc.c"}, "b": set()}
    alone = [c.name for c in cases.load() if made.without_module(c)]
    assert "90-rdma-lab" in alone and not {"01-module-load", "10-smoke-echo", "80-module-cycles"} & set(alone), alone


def verdict__rotates():
    """The longest not run comes first, a third by the commit; over commits everybody has a turn."""
    pairs = [("um", f"{n:02d}") for n in range(30)]
    ran = {p: n for n, p in enumerate(pairs, 1)}
    order = verdict.rotation(pairs, ran, "head")
    assert sorted(order) == pairs and order == verdict.rotation(pairs, ran, "head")
    assert order[:2] == pairs[:2] and set(pairs[:6]) <= set(order[:9]), order
    assert verdict.rotation(pairs, {}, "head") != verdict.rotation(pairs, {}, "other")
    assert ("um", "new") in verdict.rotation(pairs + [("um", "new")], ran, "head")[:1], "what never ran comes first"
    # a machine that forgets: its history is always the same
    seen = set()
    for commit in range(60):
        seen |= set(verdict.rotation(pairs, ran, str(commit))[:9])
    assert seen == set(pairs), set(pairs) - seen


def verdict__budget():
    """What must run is chosen in any case, the rest in order as far as it fits, with what its place costs."""
    places = {n: verdict.Place(n, [], [], [], jobs, start) for n, jobs, start in (("umdbg", 2, 40), ("7.2", 1, 50))}
    pairs = [("7.2", "smoke"), ("umdbg", "bad"), ("umdbg", "hit"), ("umdbg", "long"), ("umdbg", "r1"), ("7.2", "r2")]
    classes = {pairs[0]: verdict.MUST, pairs[1]: verdict.BAD, pairs[2]: verdict.AFFECTED}
    order = verdict.in_order(pairs, classes, {}, "x")
    assert order[:3] == pairs[:3] and set(order) == set(pairs)
    cost = {p: 20 for p in pairs} | {("umdbg", "long"): 300}

    def chosen(limit):
        plan = verdict.pack(pairs, places, classes, cost, limit)
        assert sorted(plan.left + [(p, c) for p, cs in plan.chosen.items() for c in cs]) == sorted(pairs)
        assert sum(plan.seconds.values()) <= limit or plan.chosen == {"7.2": ["smoke"]}
        return plan.chosen
    assert chosen(0) == chosen(-5) == chosen(89) == {"7.2": ["smoke"]} and chosen(129) == {"7.2": ["smoke", "r2"]}
    assert chosen(130) == {"7.2": ["smoke"], "umdbg": ["bad", "hit"]}
    assert chosen(139) == chosen(130) and chosen(140) == {"7.2": ["smoke"], "umdbg": ["bad", "hit", "r1"]}
    assert chosen(160) == {"7.2": ["smoke", "r2"], "umdbg": ["bad", "hit", "r1"]} and "long" in chosen(600)["umdbg"]
    assert verdict.wall(places["umdbg"], []) == 0 and verdict.wall(places["umdbg"], [300, 20]) == 340
    assert verdict.by_needs(["c", "b", "a"], {"a": (2, 1), "b": (1, 1), "c": (1, 1)}, {"a"}) == ["a", "b", "c"]


def verdict__expects():
    """This machine's time counts more than another's; that of a failure says nothing."""
    mine, theirs = rows(row(seconds=5.0)), rows(row(seconds=9.0))
    assert verdict.expected("umdbg", "22-a", theirs, mine, 12) == 5.0 and verdict.expected("umdbg", "22-a", theirs, {}, 12) == 9.0
    assert verdict.expected("umdbg", "23", theirs, mine, 12) == 12
    assert verdict.expected("umdbg", "22-a", rows(row(result="timeout", seconds=300)), {}, 12) == 12
    assert [verdict.slow_factor(x) for x in (0.4, 1, 1.5, 1.7, 2.9, 3.1, 50)] == [1, 1, 1, 2, 2, 3, 3]


def verdict__of_this_project():
    """The files that are kept are well-formed; every place is one, and every case has one."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    verdict.load_rows(verdict.LAST)
    verdict.load_map()
    assert check.flaky() == 0
    assert {p.name for p in (check.VM, *check.VM_FULL)} <= set(verdict.PLACES)
    cases, taken = check.load_cases(), set()
    for p in (check.SIM, check.SIM_PLAIN, *check.VM_FULL):
        names = check.universe(p, cases)[0]
        assert names, p
        taken |= set(names)
    elsewhere = ("tag:storm", "tag:bench")      # make check-full, make bench
    assert not [c.name for c in cases if c.name not in taken and not c.matches(elsewhere)]


def check__flaky():
    """guests(): a case that passes at the second try is a failure unless it is listed; the history knows."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    place = verdict.Place("um", ["--kernel", "um"], ["x"], [])
    entry = verdict.Flaky("a", "um", "2026-01-02", "why")
    said = "not ok 1 a # 1.0s/2.0s\n# it broke\n# logs: /first\nok 2 b # 1.0s/2.0s\n"
    again = "ok 1 a # 1.0s/2.0s\n"
    for listed, strict, count in (({}, False, "1 passed, 1 failed"), ({("um", "a"): entry}, False, "2 passed, 0 failed"),
                                  ({("um", "a"): entry}, True, "1 passed, 1 failed")):
        texts, saved, out = [said, again], [], io.StringIO()

        def run(tally, title, cmd, record=None, reader=None, texts=texts):
            assert record is None and cmd[0] == "selftests/run" and title
            for line in texts.pop(0).splitlines():
                reader.feed(line)
                tally.line(line)
        with unittest.mock.patch.multiple(check, run=run, needs=lambda *_: True), \
                unittest.mock.patch.object(verdict, "load_flaky", lambda cases, listed=listed: listed), \
                unittest.mock.patch.object(verdict, "save_history", lambda path, new, saved=saved: saved.extend(new)), \
                contextlib.redirect_stdout(out):
            tally = check.Tally()
            check.guests(tally, place, strict=strict)
        assert str(tally) == count and not texts, (str(tally), count)
        assert [(r.test, r.verdict) for r in saved] == [("a", "flaky"), ("b", "pass")], saved
        assert "FLAKY: a on um" in out.getvalue() and "it broke" in out.getvalue() and "/first" in out.getvalue()


def check__slow_machine():
    """
    Budget: a machine that is too slow for all gets what failed lately first, learns how slow it is, names what it leaves
    out, and begins nothing after the limit, not even what must run.
    """
    check = load_script(os.path.join(TOP, "scripts", "check"))
    place = verdict.Place("sim", ["--fabric", "sim"], ["x"], [], 1, 10, 10)
    cases = [unittest.mock.Mock(room=(1, None, 64), path=os.path.join(TOP, "x")) for _ in range(40)]
    for n, c in enumerate(cases):
        c.name = f"{n:02d}"
    bad = {("sim", "33"): verdict.Row("sim", "33", "pass", 10.0, "2026-01-02", "-", "PFP")}

    def guests(_, place, names, until, retry_until):
        assert until <= limit and retry_until <= limit
        ran.append([])
        for name in names:
            if clock[0] < until:
                clock[0] += slow
                ran[-1].append(verdict.Outcome(name, "pass", slow))
        return ran[-1]

    for slow, seconds, must, done in ((10, 2000, [], 40), (50, 1000, [], 18), (10, -1, ["05"], 0), (10, 60, ["05"], 5)):
        clock, ran, out, tally = [1000.0], [], io.StringIO(), check.Tally()
        limit = 1000 + seconds
        with unittest.mock.patch.multiple(check, guests=guests, load_cases=lambda: cases, LIMIT=limit, RESERVE=0,
                                          universe=lambda p, c, must=must: ([x.name for x in cases], must)), \
                unittest.mock.patch.multiple(verdict, load_history=lambda _: bad, load_rows=lambda _: {}, load_map=lambda: {},
                                             changed_since=lambda _: {}), \
                unittest.mock.patch.object(check.time, "time", lambda: clock[0]), unittest.mock.patch.dict(os.environ), \
                contextlib.redirect_stdout(out):
            check.Budget(tally, [place], limit, check.SUITE_ROUNDS).run()
        count = sum(map(len, ran))
        assert abs(count - done) <= 3 * (slow == 50), (slow, count, done)
        assert tally.failed == 0 and clock[0] <= max(limit, 1000) + slow, (clock, limit)
        assert f"left out: {40 - count} of 40" in out.getvalue() and (count == 40 or f"left out: {40 - count} on sim" in out.getvalue())
        assert not ran or (must or ["33"])[0] in [o.name for o in ran[0]], ran


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
