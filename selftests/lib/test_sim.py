#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the simulation's part of the harness. Prints KTAP."""

import contextlib
import io
import itertools
import os
import re
import shlex
import signal
import sys
import tempfile
import threading
import time
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import cases  # noqa: E402  pylint: disable=wrong-import-position
import ktap  # noqa: E402  pylint: disable=wrong-import-position
import lab  # noqa: E402  pylint: disable=wrong-import-position
import sim  # noqa: E402  pylint: disable=wrong-import-position
from lab import read  # noqa: E402  pylint: disable=wrong-import-position
from test_lib import TOP, load_script, write_case  # noqa: E402  pylint: disable=wrong-import-position


def case_of(header):
    """A case with these header lines."""
    return cases.parse(write_case(header + "server() { :; }\n"))


def sim__says_why_not():
    """A case that cannot be simulated has a reason of a known group; all others can."""
    for header, group in (("", None), ("# module: ours none\n", None), ("# needs: plain\n", None),
                          ("# fabric: roce -- packets: it loses some\n", "packets"), ("# capture: yes\n", "packets"),
                          ("# module: ours intree\n", "kernel"), ("# lanes: qemu\n", "kernel"), ("# needs: fault\n", "kernel")):
        why = sim.why_not(case_of(header), "um")
        assert (why and why[0]) == group, (header, why)
        assert not why or why[0] in sim.GROUPS and why[1]
    assert {*cases.NO_SIM, "real"} == set(sim.GROUPS)


def sim__says_what_two_processors_cannot_run():
    """A case runs on what provides what it needs, unless selftests/smp has a reason; that names only what would run."""
    known = {c.name: c for c in cases.load()}
    listed = sim.parse_smp(read(sim.SMP))
    for name in listed:
        assert name in known, f"selftests/smp: no case {name}"
        for kernels, why in listed[name]:
            assert all(sim.why_not(known[name], k) == ("real", why) for k in kernels or ["umsmp"]), f"selftests/smp: {name} does not run there anyway"
    for header, kernel, group in (("", "umsmp", None), ("# needs: fault\n", "umsmp", None), ("# needs: plain\n", "umsmp", "kernel"),
                                  ("# needs: smp uml\n", "umsmp", None), ("# needs: smp\n", "umdbg", "kernel"),
                                  ("# needs: plain\n", "kcsan", None), ("# needs: fault\n", "kcsan", "kernel")):
        why = sim.why_not(case_of(header), kernel)
        lane = next(l for l, kernels in cases.KERNELS.items() if kernel in kernels)
        assert (why and why[0]) == group and case_of(header).runs_on(lane, kernel) == (not why), (header, why)
    assert sim.parse_smp("# x: y\n\n10-a: b: c\n10b-d 6.1: e\n10b-d 6.12 umsmp: f\n") == {
        "10-a": [([], "b: c")], "10b-d": [(["6.1"], "e"), (["6.12", "umsmp"], "f")]}
    for bad in ("10-a\n", "10-a:\n", "10-a: \n", "a: b\n", "10-a: b\n10-a: c\n", "10-a 7.0: b\n", "10-a 6.1: b\n10-a: c\n",
                "10-a 6.1: b\n10-a 6.12 6.1: c\n"):
        try:
            sim.parse_smp(bad)
        except ValueError as e:
            assert "selftests/smp:" in str(e)
            continue
        raise AssertionError(bad)


def sim__two_processors_have_real_time():
    """A guest of umsmp has two processors, real time, real limits and no seed; the other kernels none of that."""
    with tempfile.TemporaryDirectory() as d, unittest.mock.patch.dict(os.environ, SMCR_SLOW="2"), \
            unittest.mock.patch.object(sim, "script", lambda *_: ("v", "linux", "root", "build")), \
            unittest.mock.patch.object(sim, "Guest", lambda pair, gid, cmd, **_: unittest.mock.Mock(cmd=cmd, proc=unittest.mock.Mock(pid=0))):
        for kernel, real in (("umsmp", True), ("umdbg", False)):
            pair = sim.Sim(kernel, 1, (), 1024, os.path.join(d, kernel), 7, "")
            pair.boot()
            words = pair.guests[0].cmd
            assert ("ncpus=2" in words) == ("seccomp=on" in words) == real == pair.real, words
            assert ("time-travel=inf-cpu" in words) == ("random-seed=7" in words) == (pair.cpu is not None) == (not real), words
            assert (f"smcr_slow={12 if real else 1}" in words) and (f"smcr_busy={2 if real else 1}" in words), words
            if not real:
                sim.PROCESSORS.give_back(pair.cpu)


def sim__emulates_two_processors():
    """A stock kernel has two processors with workers of each one's own, in one QEMU guest, and completions on the other one."""
    with tempfile.TemporaryDirectory() as d, \
            unittest.mock.patch.object(lab, "script", lambda *_: ("v", "vmlinuz", "root", "build")), \
            unittest.mock.patch.object(lab, "initrd", lambda *_: "initrd"), unittest.mock.patch.object(lab.shutil, "which", lambda x: x), \
            unittest.mock.patch.object(sim, "Guest", lambda pair, gid, cmd, **_: unittest.mock.Mock(cmd=cmd, proc=unittest.mock.Mock(pid=0))):
        for kernel, has in (("6.1", "node,nodeid=1,cpus=1,memdev=m1"), ("6.12", "2,sockets=2"), ("kcsan", "2,sockets=2")):
            pair = sim.Sim(kernel, 1, (), 1024, os.path.join(d, kernel), 1, "")
            pair.boot()
            words = pair.guests[0].cmd
            assert has in words and words[words.index("-smp") + 1].startswith("2") and pair.real and pair.slow == lab.slow_factor(kernel), words
            assert "4096" in words and (kernel != "6.1" or "memory-backend-ram,id=m0,size=2048M" in words), words
            line = words[words.index("-append") + 1].split()
            assert "smcr_fabric=sim" in line and "workqueue.debug_force_rr_cpu=1" in line, line
            assert ("workqueue.default_affinity_scope=cpu" in line) == (kernel != "6.1"), line
            assert any(w.startswith("smcr_knobs=") and "cq_cpu=1" in w for w in line), line
            assert sim.why_not(case_of("# lanes: uml\n"), kernel) is None


def sim__seeds_vary_command_lines():
    """Eight seeds have all combinations of what varies, the same seed the same; seed 1 has work items on every processor, and no threadirqs."""
    for kernel, n in (("umsmp", 4), ("6.12", 8), ("kcsan", 8), ("6.1", 4)):
        words = [*lab.TWO.get(kernel, ()), *sim.QEMU_WORDS.get(kernel, ())]
        lines = [sim.by_seed(kernel, seed, words) for seed in range(1, 17)]
        assert lines[0] == words and lines[:8] == lines[8:] and len(set(map(tuple, lines))) == n, (kernel, lines)
        assert ("threadirqs" in lines[7]) == (kernel != "umsmp") and not set(sim.VARY) & set(lines[7]), lines[7]
    with tempfile.TemporaryDirectory() as d, \
            unittest.mock.patch.object(sim, "script", lambda *_: ("v", "linux", "root", "build")), \
            unittest.mock.patch.object(sim, "Guest", lambda pair, gid, cmd, **_: unittest.mock.Mock(cmd=cmd, proc=unittest.mock.Mock(pid=0))):
        for seed in (1, 3):
            pair = sim.Sim("umsmp", 1, (), 1024, os.path.join(d, str(seed)), seed, "")
            pair.boot()
            assert [w in pair.guests[0].cmd for w in (*sim.VARY, "ncpus=2")] == [True, seed == 1, True], pair.guests[0].cmd


def run__latched_module():
    """Cases that close latches get a module that has them, also of a stock kernel; the others never; a file names cases as often as it likes."""
    run = load_script(os.path.join(TOP, "selftests", "run"))
    runner = object.__new__(run.Runner)
    runner.kernels, runner.ko, runner.latched = ("6.12", "6.12"), {"6.12": "plain"}, {"6.12": "latched"}
    race, other = case_of("# tags: race\n"), case_of("# tags: conn\n")
    assert [runner._ko_in_guest(1, c) for c in (race, other, None)] == ["latched", "plain", "plain"]  # pylint: disable=protected-access
    runner.latched = {}
    assert runner._ko_in_guest(2, race) == "plain"  # pylint: disable=protected-access
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(f"{race.name}\n\n{race.name}\n")
        f.flush()
        assert run.by_name(f.name, [race]) == [race, race]


def sim__misses_signs_of_life():
    """In real time a guest is given up after its time, or when it says nothing for too long."""
    clock = [100]
    def look(state, seconds):
        clock[0] += seconds
        return dog.expired(state)
    dog = sim.Silence(50, 10, lambda: clock[0])
    assert not any((look("a", 9), look("a", 9), look("b", 9), look("c", 11))) and look("c", 11)
    dog = sim.Silence(50, 10, lambda: clock[0])
    assert not any(look(n, 5) for n in range(10)) and look(11, 5)


def sim__header_needs_a_reason():
    """`# fabric:` without a group and a reason is an error."""
    for header in ("# fabric: roce\n", "# fabric: sim\n", "# fabric: roce -- it is so\n", "# fabric: roce -- luck: it is so\n",
                   "# fabrics: roce -- packets: x\n"):
        try:
            case_of(header)
        except cases.CaseError:
            continue
        raise AssertionError(header)
    # where a case cannot run is no part of what it does
    text = "server() { :; }\n"
    assert cases.digest(text) == cases.digest("# fabric: roce -- packets: x\n" + text)


def sim__tells_what_was_not_run():
    """By group, with every case and its reason, and never as a result."""
    lines = sim.grouped([("b", "rxe", "r1"), ("a", "packets", "r2"), ("c", "packets", "r3")])
    assert [l.strip() for l in lines] == [f"{sim.GROUPS['packets']}: 2", "a: r2", "c: r3", f"{sim.GROUPS['rxe']}: 1", "b: r1"], lines
    assert not sim.grouped([])


LOG = ("[    0.000001] Linux\n[    0.100000] smcr-case BEGIN a\n[    0.200000] x\n[    0.300000] smcr-case END a\n"
       "[    0.400000] smcr-case BEGIN b\n[    0.500001] y\n")


def sim__finds_the_first_difference():
    """Equal logs are equal; a microsecond, a missing or an additional line is a difference, charged to its case."""
    assert sim.difference(LOG, LOG) is None
    assert sim.difference(LOG, LOG.replace("0.500001", "0.500002")) == ("b", "[    0.500001] y", "[    0.500002] y")
    assert sim.difference(LOG, LOG.replace("] x", "] z"))[0] == "a"
    assert sim.difference(LOG, LOG.replace("Linux", "linux"))[0] == ""
    assert sim.difference(LOG, LOG + "[    0.6] z\n") == ("b", "(nothing)", "[    0.6] z")
    assert sim.difference(LOG, LOG[:LOG.index("[    0.500")])[0] == "b"


def sim__watches_for_spinning():
    """The watchdog barks when processor time was spent and nothing has changed, or after a very long time."""
    clock = [100]
    def look(state, seconds, spent):
        clock[0] += seconds
        used[0] += spent
        return dog.expired(state)
    used = [50]
    dog = sim.Watchdog(10, lambda: used[0], lambda: clock[0])
    assert not any((look("a", 1, 0), look("a", 2, 0), look("a", 2, 9.9))) and look("a", 2, 0.2)
    # another state; a guest that gets no processor is no guest that spins, for a while
    assert not any((look("b", 1, 20), look("b", 2, 20), look("b", 100, 5), look("b", 97, 0))) and look("b", 2, 0)
    assert not any((look("a", 1, 0), look("a", 50, 0), look("b", 1, 0), look("b", 150, 0), look("b", 0.5, 50)))
    with tempfile.TemporaryDirectory() as d:
        before = sim.sizes(d)
        with open(os.path.join(d, "x"), "w", encoding="utf-8") as f:
            f.write("y")
        assert sim.sizes(d) != before and sim.sizes(d + "/none") == ()


def sim__adds_up_processor_time():
    """Each phase gets what was spent in it; of a case is what was spent since it began; time never runs backwards."""
    used = [0.0]
    meter = sim.Meter(lambda: used[0])

    def enter(phase, spent):
        used[0] += spent
        meter.enter(phase)
        return meter.cases()
    assert meter.cases() == 0 and enter("boot", 1) == 0 and enter("prepare", 4) == 0 and enter("run", 2) == 2
    assert enter("between cases", 3) == 5 and enter("prepare", 1) == 5 and enter("between cases", 2) == 7
    used[0] = 0         # the process is gone
    assert enter("power-off", 0) == 7 and meter.sums == {"boot": 5, "prepare": 4, "run": 3, "between cases": 1}, meter.sums


def check__simulation():
    """scripts/check sim: the suite until the limit, then what else there is, or its name; no second try."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    names = check.universe(check.SIM, check.load_cases())
    assert "10-smoke-echo" in names and not {"16-wire-first-contact", "80-module-cycles"} & set(names)
    for limit, want in ((float("inf"), 7 + check.THOROUGH), (time.time() + 1000, 7 + check.THOROUGH), (0, 1)):
        ran, said = [], io.StringIO()

        def run(tally, title, cmd, ran=ran):
            assert cmd[0] in ("selftests/run", "selftests/sim") and title
            ran.append(cmd)
            tally.line("not ok 1 a # 1.0s/2.0s")
        with unittest.mock.patch.multiple(check, LIMIT=limit, run=run, needs=lambda *_: True), \
                unittest.mock.patch.dict(os.environ, SWEEP="x"), contextlib.redirect_stdout(said):
            tally = check.Tally()
            check.simulation(tally)
        assert len(ran) == want == tally.failed and said.getvalue().count("left out") == (0 if want > 1 else 7), (ran, said.getvalue())
        assert ("--until" in ran[0]) == ("--turn" in ran[0]) == (limit != float("inf"))


def check__guests_in_turn():
    """scripts/check guests: two processors first, then each other place in turn, until their time is over."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    places, begun = [p.name for p in check.GUESTS if p.name != "umsmp"], set()
    for commit in range(len(places)):
        ran = []

        def guests(_, place, until, turn=0, ran=ran):
            ran.append((place.name, until, turn))
            clock[0] += 100
        clock = [1000.0]
        with unittest.mock.patch.multiple(check, LIMIT=5000, guests=guests, has_smp=lambda: True, number=lambda _, c=commit: c), \
                unittest.mock.patch.object(check.time, "time", lambda clock=clock: clock[0]), contextlib.redirect_stdout(io.StringIO()) as said:
            check.guests_in_turn(None)
        end = 1100 + check.GUESTS_TIME
        assert ran[0] == ("umsmp", 5000, 0) and all(r[1:] == (end, commit) for r in ran[1:]), ran
        assert len(ran) == 3 and said.getvalue().count("left out") == len(places) - 2, (ran, said.getvalue())
        begun.add(ran[1][0])
    assert begun == set(places)


def check__other_rnics():
    """Cases on other RNICs: the values of each knob occur; those about the data path on each RNIC, all others on some."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    everything = {c.name: c for c in check.load_cases()}
    names, ran = check.universe(check.SIM, everything.values()), []
    assert all(sim.why_not(everything[n], "umdbg") is None for n in names)

    def run(_, title, cmd):
        assert cmd[0] == "selftests/run" and title
        with open(cmd[-1], encoding="utf-8") as f:
            ran.append(([cmd[n + 1] for n, w in enumerate(cmd) if w == "--knob"], f.read().split()))
    with unittest.mock.patch.multiple(check, run=run, needs=lambda *_: True):
        check.other_rnics(None, check.KNOBS[:check.THOROUGH], check.KNOB_CASES)
        check.other_rnics(None)
    some, every = ran[:check.THOROUGH], ran[check.THOROUGH:]
    assert len(every) == len(check.KNOBS)
    data_path = set(every[-1][1])
    assert all(data_path > set(n) and len(n) == len(check.KNOB_CASES) for _, n in some), some
    thorough = {n for n in names if "-sweep-" not in n}
    links = {n for n in names if "links" in everything[n].tags}
    assert all(set(n) == (thorough if i < check.THOROUGH else data_path) - (links if "gid_types=1" in k else set())
               for i, (k, n) in enumerate(every)) and links & data_path
    assert {"10-smoke-echo", "53-api-close4", "47-conn-abort", "41-cdc-writer", "31-clc-group-choice"} <= data_path < set(names)
    every_value = {"gid_types=1", "gid_types=2", "max_send_sge=3", "max_send_sge=32", "max_inline=0", "max_inline=44",
                   "max_inline=512", "vectors=1", "vectors=4", "order=0", "order=1", "order=2"}
    assert {w for k, _ in every for w in k} == every_value
    usual = {"gid_types=2", "vectors=4", "order=0"}
    assert usual.union(*(k for k, _ in every[:check.THOROUGH])) == every_value


def check__two_processors():
    """They are a place of full and of guests; the patterns of guests name cases that the kernel can run; no cold run makes it."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    assert all("umsmp" in {p.name for p in places} for places in (check.FULL, check.GUESTS))
    (place,) = (p for p in check.GUESTS if p.name == "umsmp")
    names = check.universe(place, check.load_cases())
    assert len(names) == len(place.patterns) and \
        not {name for name, reasons in sim.not_smp().items() if any(not k or "umsmp" in k for k, _ in reasons)} & set(names), names


def check__worlds_are_fresh():
    """Another commit has other worlds, of which none is another's; the same commit has the same; all are seeds."""
    check = load_script(os.path.join(TOP, "scripts", "check"))
    worlds = load_script(os.path.join(TOP, "selftests", "sim"))
    commits = ["0123456789abcdef", "0123456788abcdef", "f" * 40, "-"]
    seeds = [worlds.seeds_of(check.fresh_worlds(c)) for c in commits]
    assert all(len(s) == 1 and len(s[0]) == check.WORLDS for s in seeds), seeds
    assert len(set().union(*(s[0] for s in seeds))) == len(commits) * check.WORLDS, seeds
    assert check.fresh_worlds(commits[0]) == check.fresh_worlds(commits[0] + "99")


def sim__reads_arguments():
    """The end of a stack has a program's arguments, its environment, its path; whatever is in front of them."""
    env = b"PATH=/bin\0A=b c\0"
    for page, want in ((b"\x01\xffjunk\0\xfe" * 3 + b"sh\0-c\0while :\0" + env + b"/bin/sh" + b"\0" * 9, "sh -c while :"),
                       (b"/usr/bin/sh\0x\0" + env + b"/usr/bin/sh\0", "/usr/bin/sh x"),
                       (env + b"/bin/sh\0", "/bin/sh"), (b"\xf7sh\0/bin/sh\0", "sh"),
                       (b"\0" * 9, ""), (b"sh\0" + env, ""), (b"\xff/bin/sh\xfe", "")):
        assert sim.arguments(page) == want, (page, sim.arguments(page))


RESULTS = """\
run 5
hits live:cable=1 reason:peer-abort=2 reason:peer-abort=1
ok 5 00000000000000aa 1000 20 2 1 300 0 
run 6
hits fault:tx_write/mute=3 counter:bytes-tx=9 counter:timer-close=1
not ok 6 00000000000000bb 1000 20 2 1 300 0 cannot build: knob mtu=9: EINVAL
"""
KMSG = "".join(f"[    1.0] smcr-case {w} seed-{s}\n" for s in (5, 6) for w in ("BEGIN", "END"))


def worlds__results():
    """What a guest left is read: verdicts, what happened, a world that did not come to its end, a kernel's report."""
    worlds = load_script(os.path.join(TOP, "selftests", "sim"))
    with tempfile.TemporaryDirectory() as d:
        pair = unittest.mock.Mock(out=d, work=[(5, []), (6, []), (7, [])], path=lambda name: os.path.join(d, name))

        def put(name, text):
            with open(os.path.join(d, name), "w", encoding="utf-8") as f:
                f.write(text)
        put("results", RESULTS)
        put("kmsg1.log", KMSG)
        put("rc", "1")
        res = worlds.outcome(pair, None)
        assert [(r.seed, r.passed, r.digest) for r in res] == [(5, True, "00000000000000aa"), (6, False, "00000000000000bb")]
        assert res[1].why == "cannot build: knob mtu=9: EINVAL" and res[1].kind == "cannot build: knob mtu=N: EINVAL"
        text = "\n".join(worlds.tally(res))
        assert "peer-abort 3" in text and "tx_write/mute 3" in text and "timer-close 1" in text and "bytes" not in text, text
        assert "disturbances of cards without connections: none" in text
        put("results", RESULTS + "run 7\n")
        assert [(r.seed, r.why) for r in worlds.outcome(pair, None)][2:] == [(7, "the guest died")]
        assert worlds.outcome(pair, "it spins")[2].why == "it spins"
        assert len(worlds.outcome(pair, worlds.OVER)) == 2
        put("kmsg1.log", KMSG.replace("[    1.0] smcr-case END seed-6\n", ""))
        assert [r.seed for r in worlds.outcome(pair, worlds.OVER)] == [5]
        assert "log is not complete" in worlds.outcome(pair, None)[2].why or not worlds.outcome(pair, None)[2].passed
        put("kmsg1.log", KMSG.replace("[    1.0] smcr-case END seed-5", "[    1.0] BUG: sleeping function called from invalid "
                                      "context at x.c:1\n[    1.0] smcr-case END seed-5"))
        res = worlds.outcome(pair, None)
        assert not res[0].passed and "kernel: BUG: sleeping" in res[0].why, res[0].why


def queue_of(run, needs, rounds=1):
    """A queue of cases with such needs."""
    todo = [unittest.mock.Mock(n=n, needs=k) for n, k in enumerate(needs)]
    return run.Queue(todo, rounds)


def sim__fills_guests():
    """A guest gets cases of the same needs, in their order, not too many, each once."""
    run = load_script(os.path.join(TOP, "selftests", "run"))

    def taken(needs, size, rounds=1, jobs=1):
        queue, out = queue_of(run, needs, rounds), []
        while batch := queue.batch(size, lambda c: c.needs, jobs):
            out.append([c.n for c in batch])
        return out
    assert taken("aaa", 5) == [[0, 1, 2]] and taken("aaab", 2) == [[0, 1], [2], [3]]
    assert [len(b) for b in taken("a" * 50, 12, jobs=2)] == [12, 10, 7, 6, 4, 4, 4, 3]
    assert taken("ab", 5, 2) == [[0], [1], [0], [1]] and taken("aa", 5, 2) == [[0, 1], [0, 1]]


def sim__goes_on_in_another_guest():
    """What a guest did not come to is done by the next one, also after the last of the cases; all are reported."""
    run = load_script(os.path.join(TOP, "selftests", "run"))
    queue = queue_of(run, "aaaaa")
    runner = object.__new__(run.SimRunner)
    runner.args = unittest.mock.Mock(seed=1, twice=False, knob={}, jobs=1)
    runner.kernels, runner.held, runner.pair, runner.boots = ("um", "um"), [], None, 0
    runner.lock, runner.first, runner.out, runner.rnic = threading.Lock(), runner, "/nonexistent", ""
    done, guests = [], []

    def follow(batch, _):
        """Guests that end after two cases."""
        guests.append([c.n for c in batch])
        done.extend(c.n for c in batch[:2])
        return min(2, len(batch))
    with unittest.mock.patch.object(sim, "BATCH", 3), unittest.mock.patch.object(sim, "Sim", unittest.mock.Mock()), \
            unittest.mock.patch.object(run, "settle", lambda *_: None):
        runner._follow, runner.halt = follow, lambda: None  # pylint: disable=protected-access
        runner.take(queue, lambda c: (1, c.needs))
    assert done == [0, 1, 2, 3, 4] and guests == [[0, 1, 2], [2], [3, 4]], (done, guests)


def sim__shares_processors():
    """Each guest is on the processor with the fewest; what has ended leaves room."""
    cpus = sim.Processors([3, 5])
    first, second = cpus.take(), cpus.take()
    assert {first, second} == {3, 5}
    cpus.give_back(second)
    assert cpus.take() == second


class FakeGuest(sim.Sim):
    """A guest that has done all at once, each case for two seconds of processor time, and says `log` in the end."""
    log, last, comes_to = "", "pass", 99

    def boot(self):
        self.used, self.polls = 3.0, 0
        with open(self.path("kmsg1.log"), "w", encoding="utf-8") as f:
            names = read(self.path("cases")).split()[:self.comes_to]
            for n, name in enumerate(names, 1):
                f.write(f"[ 1.0] smcr-case BEGIN {name}\n[ 1.1] x\n[ 1.2] smcr-case END {name}\n")
                for i in (1, 2):
                    for what, text in (("verdict", self.last if n == len(names) else "pass"), ("ms", "1500"), ("done", "end")):
                        with open(self.path(f"{n:03d}-{name}/{what}{i}"), "w", encoding="utf-8") as g:
                            g.write(text)
            f.write(self.log)
        for n in range(1, len(names) + 1):
            with open(self.path(f"{n:03d}-{names[n - 1]}/phase1"), "w", encoding="utf-8") as g:
                g.write("end")

    def spent(self):
        self.used += 2
        return self.used

    def alive(self):
        return False


def named_cases(count):
    """Cases 0-x, 1-x and so on."""
    batch = [case_of("") for _ in range(count)]
    for n, c in enumerate(batch):
        c.name = f"{n}-x"
    return batch


def sim_runner(run, out, **args):
    """A SimRunner that has prepared nothing."""
    runner = object.__new__(run.SimRunner)
    runner.args = unittest.mock.Mock(seed=1, keep=False, knob={}, jobs=1, until_fail=False, fail_fast=False, brief=True, **args)
    runner.kernels, runner.held, runner.spent, runner.slow, runner.pair = ("um", "um"), [], {}, 1, None
    runner.lock, runner.first, runner.ko, runner.gcov = threading.Lock(), runner, {"um": "/ko"}, {}
    runner.boots, runner.compared, runner.out, runner.rnic, runner.results = 0, 0, out, "", []
    runner.repro = lambda *_: ""
    return runner


def run__ends_in_time():
    """A guest ends after the case in which the time ends; what it did not come to is given back, and no other guest gets it."""
    run = load_script(os.path.join(TOP, "selftests", "run"))

    class Obedient(FakeGuest):
        """A guest that does no further case when the time is over."""

        def stopped(self):
            return "the time is over" if os.path.exists(self.path("late")) else ""

    for late_after, done in ((0, 0), (1, 1), (3, 3), (99, 4)):
        with tempfile.TemporaryDirectory() as out, unittest.mock.patch.object(sim, "Sim", Obedient), \
                contextlib.redirect_stdout(io.StringIO()):
            batch = named_cases(4)
            runner = sim_runner(run, out, twice=False)
            queue = run.Queue(batch, 1, 1.0)
            # phase1 of a case that the guest does not come to is never written
            runner._over = lambda folder: bool(runner.pair.stopped())  # pylint: disable=protected-access
            with unittest.mock.patch.object(queue, "late", lambda r=runner, n=late_after: len(r.results) + len(r.held) >= n):
                runner.take(queue, lambda c: (1, None, 64))
            assert [r.case.name for r in runner.results] == [f"{n}-x" for n in range(done)]
            assert [c.name for c in queue.left()] == [f"{n}-x" for n in range(done, 4)]
            assert runner.boots == (done > 0)


def sim__follows_a_guest():
    """Verdicts, virtual and processor time of each case; what the kernel says outside of cases fails the last one."""
    run = load_script(os.path.join(TOP, "selftests", "run"))
    batch = [case_of("# covers: CLC-1\n") for _ in range(2)]
    for n, c in enumerate(batch):
        c.name = f"{n}-x"
    for log, last, want in (("", "pass", ["pass", "pass"]), ("", "fail server: no", ["pass", "fail"]),
                            ("[ 9.0] BUG: KASAN: x in y\n", "pass", ["pass", "fail"])):
        with tempfile.TemporaryDirectory() as out, unittest.mock.patch.multiple(FakeGuest, log=log, last=last):
            runner = object.__new__(run.SimRunner)
            runner.args = unittest.mock.Mock(seed=1, keep=False)
            runner.kernels, runner.held, runner.spent, runner.slow = ("um", "um"), [], {}, 1
            runner.lock, runner.first, runner.ko, runner.gcov = threading.Lock(), runner, {"um": "/ko"}, {}
            runner.pair = FakeGuest("um", 1, None, 64, out, 1, "")
            assert runner._follow(batch) == 2  # pylint: disable=protected-access
            assert [r.status for r in runner.held] == want, [(r.status, r.reasons) for r in runner.held]
            assert all(r.seconds == 1.5 for r in runner.held)
            assert not log or "outside" in runner.held[1].reasons[0] and "KASAN" in runner.held[1].reasons[0], runner.held[1].reasons
            assert sum(runner.spent.values()) > 0 and "power-off" not in runner.spent
            assert "7 s of processor time (" in runner.costs(7)


def sim__ends_a_guest_that_hangs():
    """Virtual time goes on in a guest that does not power off: it is ended, and that fails its last case."""
    run = load_script(os.path.join(TOP, "selftests", "run"))

    class Hanging(FakeGuest):
        """A guest whose clock goes on for so many steps of 10 s, or for ever."""
        steps = 0

        def alive(self):
            self.polls += 1
            with open(self.path("clock"), "w", encoding="utf-8") as f:
                f.write(str(self.polls * 10))
            return self.polls != self.steps

    for steps, want in ((20, ["pass", "pass"]), (0, ["pass", "fail"])):
        with tempfile.TemporaryDirectory() as out, unittest.mock.patch.object(Hanging, "steps", steps), \
                unittest.mock.patch.object(time, "sleep", lambda _: None):
            runner = sim_runner(run, out)
            runner.pair = Hanging("um", 1, None, 64, out, 1, "")
            assert runner._follow(named_cases(2)) == 2  # pylint: disable=protected-access
            assert [r.status for r in runner.held] == want, [(r.status, r.reasons) for r in runner.held]
            assert runner.pair.polls < 50 and (steps or "does not power off" in runner.held[1].reasons[0])


def run__twice():
    """A second run that does not pass, does not come to a case, or says something else is a failure; it is told how many were compared."""
    run = load_script(os.path.join(TOP, "selftests", "run"))

    class Second(FakeGuest):
        """The guest that shall do the same."""
        now = {}

        def boot(self):
            for what, value in self.now.items() if self.out.endswith("-again") else ():
                setattr(self, what, value)
            super().boot()

    for now, want, reason in (({}, [], ""), ({"last": "fail server: no"}, ["1-x"], "second run: fail: server: no"),
                              ({"comes_to": 1}, ["1-x"], "second run: "), ({"log": "[ 9.0] y\n"}, ["1-x"], "differs"),
                              ({"last": "skip not here"}, ["1-x"], "second run: skip: not here"),
                              ({"comes_to": 0}, ["0-x", "1-x"], "second run: ")):
        with tempfile.TemporaryDirectory() as out, unittest.mock.patch.multiple(Second, now=now), \
                unittest.mock.patch.object(sim, "Sim", Second), contextlib.redirect_stdout(io.StringIO()):
            batch = named_cases(2)
            runner = sim_runner(run, out, twice=True)
            runner.take(run.Queue(batch, 1), lambda c: (1, None, 64))
            bad = [r for r in runner.results if not r.ok]
            assert [r.case.name for r in bad] == want, (now, [(r.status, r.reasons) for r in runner.results])
            assert not want or any(reason in w for w in bad[-1].reasons), (now, bad[-1].reasons)
            assert runner.compared == now.get("comes_to", 2)


def asked(script, *words):
    """What arguments() of a script makes of a command line: the arguments, or the text of the error."""
    said = io.StringIO()
    with unittest.mock.patch.object(sys, "argv", ["x", *words]), contextlib.redirect_stderr(said):
        try:
            return script.arguments()
        except SystemExit as e:
            assert e.code == 2, e.code
            return said.getvalue().partition("error: ")[2]


def sim__refuses_knobs():
    """A knob that rnicsim does not have, or a value that it would refuse, is no run."""
    run = load_script(os.path.join(TOP, "selftests", "run"))
    args = asked(run, "--fabric", "sim", "--knob", "max_send_sge=3", "--knob", "seed=4294967295", "--knob", "mtu=256")
    assert args.knob == {"max_send_sge": 3, "seed": 2**32 - 1, "mtu": 256}, args.knob
    for word, want in (("nosuch=9", "no knob 'nosuch', only gid_types,"), ("max_send_sge=2", "3..32, not '2'"), ("order", "0..2"),
                       ("seed=4294967296", "0..4294967295"), ("max_mr=1048577", "1..1048576"), ("mtu=257", "power of two"),
                       ("order=-1", "0..2"), ("order=x", "0..2"), ("=1", "no knob ''")):
        said = asked(run, "--fabric", "sim", "--knob", word)
        assert isinstance(said, str) and want in said, (word, said)
    assert "--rnic" in asked(run, "--fabric", "sim", "--rnic", "none", "--knob", "order=1")
    check = load_script(os.path.join(TOP, "scripts", "check"))
    assert all(sim.knob(f"{k}={v}") for rnic in check.KNOBS for k, v in rnic.items())
    with open(os.path.join(TOP, "selftests", "mod", "rnicsim", "knobs.h"), encoding="utf-8") as f:
        assert len(sim.knobs()) == f.read().count("\tX(")


def sim__refuses_seeds():
    """A seed that the programs cannot take is refused, and not another one run instead."""
    worlds, run = (load_script(os.path.join(TOP, "selftests", p)) for p in ("sim", "run"))
    for text, good in (("-5", False), ("9" * 26, False), ("x", False), ("", False), ("1_0", False), (str(2**63), False),
                       (str(2**63 - 1), True), ("0", True), ("L", False), ("17L", False), (f"L{2**63}", False),
                       (f"L{2**63 - 1}", True), ("L0", True)):
        for option in ("seed", "shrink"):
            args = asked(worlds, f"--{option}={text}")
            assert worlds.name(getattr(args, option)) == text if good else "a seed is a number from 0 to 922" in args, (text, args)
    for text, good in (("-5", False), (str(2**32), False), ("x", False), (str(2**32 - 1), True), ("0", True)):
        with unittest.mock.patch.dict(os.environ, SEED=text):
            for args in (asked(run, "--fabric", "sim"), asked(run, "--fabric", "sim", f"--seed={text}")):
                assert args.seed == int(text) if good else "a seed is a number from 0 to 4294967295" in args, (text, args)
    with tempfile.TemporaryDirectory() as d:
        for work in ([(8, [])], [(5, [])]):
            pair = unittest.mock.Mock(out=d, work=work, path=lambda name: os.path.join(d, name))
            with open(pair.path("results"), "w", encoding="utf-8") as f:
                f.write(RESULTS)
            try:
                worlds.outcome(pair, None)
            except worlds.LabError as e:
                assert "not what it was to run" in str(e)
                continue
            raise AssertionError(work)


def sim__refuses_what_it_would_ignore():
    """An option that would have no effect, or no sense, is an error that says what is needed."""
    worlds, run = (load_script(os.path.join(TOP, "selftests", p)) for p in ("sim", "run"))
    for script, words, want in (
            (worlds, "--drop 3", "--drop goes with --seed or --shrink"), (worlds, "--seeds 1..9 --drop 3", "--drop goes with"),
            (worlds, "--seed 1 --drop foo", "N,N,... and not 'foo'"), (worlds, "--shrink 1 --twice", "goes without --twice"),
            (worlds, "--seed 1 --budget 9", "--budget goes without"), (worlds, "--jobs 0", "from 1 on, not '0'"),
            (worlds, "--jobs x", "from 1 on"), (worlds, "--batch 0", "from 1 on"), (worlds, "--budget -3", "--budget"),
            (run, "--seed 7", "--seed needs --fabric sim; in other lanes the variable SEED"), (run, "--knob order=1", "--fabric sim"),
            (run, "--twice", "--fabric sim"), (run, "--rnic none", "--fabric sim"),
            (run, "--fabric sim --kernel 7.2", "needs --kernel um, umdbg, umsmp, 6.1, 6.12, kcsan (it is 7.2)"),
            (run, "--kernel kcsan", "--kernel kcsan needs --fabric sim"),
            (run, "--fabric sim --kernel umsmp --twice", "--twice needs virtual time, which umsmp has not"),
            (run, "--fabric sim --shell", "goes without --shell")):
        said = asked(script, *words.split())
        assert isinstance(said, str) and want in said, (words, said)
    args = asked(worlds, "--seed", "17", "--twice", "--drop", "4,1,4")
    assert args.twice and args.drop == [1, 4]


def worlds__one_twice():
    """--seed N --twice compares, too."""
    for second, failed in (("17 a", 0), ("17 x", 1), ("", 1)):
        worlds, args = worlds_of("--seed", "17", "--twice")
        rc, said, got = run_worlds(worlds, args, ["17 a", second])
        assert rc == failed and f"{1 - failed} passed, {failed} failed" in said and got == [[(17, [])]] * 2, said


def worlds__nothing_to_shrink():
    """A world that passes is not made smaller, and that is no success."""
    worlds, args = worlds_of("--shrink", "17")
    rc, said, _ = run_worlds(worlds, args, ["17 a"])
    assert rc == 1 and "passes alone" in said and "..17" not in said, said


def worlds__seeds():
    """--seeds takes ranges and lists, in their order; the other way round it is said what was run."""
    worlds = load_script(os.path.join(TOP, "selftests", "sim"))
    for text, want in (("1..3", [1, 2, 3]), ("7", [7]), ("294,199,7..9", [294, 199, 7, 8, 9]), ("5,4", [5, 4]),
                       ("9,L2..L3,L0", [9, 2**63 + 2, 2**63 + 3, 2**63]), ("9223372036854775807,L0", [2**63 - 1, 2**63])):
        seeds = list(itertools.chain(*asked(worlds, "--seeds", text).seeds))
        assert seeds == want and worlds.spans(seeds) == text, (text, seeds)
    for text in ("", "3..1", "1..", "..3", "1,,2", "1-3", "-1..3", "0..18446744073709551616", "5..L7", "L7..9"):
        assert "--seeds" in asked(worlds, f"--seeds={text}"), text


def worlds__says_what_repeats_it():
    """The commands of a failure are for the world alone, and for all that its guest ran, in that order and in one guest."""
    for words, guests, want in (
            (["--seeds", "294,199,5"], ["294 a\n199 b no", "5 c"], ["--seed 199", "--no-regress --seeds 294,199"]),
            (["--seeds", "1..3", "--batch", "500"], ["1 a\n2 b\n3 c no"], ["--seed 3", "--no-regress --seeds 1..3"]),
            (["--seeds", "1..3", "--twice"], ["1 a no", "2 a\n3 b", "1 a no", "2 a\n3 x"],
             ["--twice --seed 1", "--twice --seed 3", "--twice --no-regress --seeds 2..3"]),
            (["--seeds", "1..61", "--kernel", "umdbg", "--batch", "99", "--modules", "/a b", "/c"],
             ["\n".join(f"{n} a" for n in range(1, 61)) + "\n61 b no"],
             ["--modules '/a b' /c --seed 61", "--modules '/a b' /c --no-regress --seeds 1..61 --batch 61"]),
            (["--seed", "9", "--drop", "1,2"], ["9 a no"], ["--seed 9 --drop 1,2"])):
        worlds, args = worlds_of(*words)
        with unittest.mock.patch.object(worlds, "pieces", lambda *_: 50):
            said = run_worlds(worlds, args, guests)[1]
        found = re.findall(r"selftests/sim (.*?)(?:    #|;|\n)", said.replace("# all that its guest ran: ", "#; "))
        assert [w.removeprefix(f"--kernel {args.kernel} ") for w in found] == want, (found, said)
        assert all(vars(asked(worlds, *shlex.split(w)))["kernel"] == args.kernel for w in found)


def worlds__names_logs():
    """Only logs that there are, of both runs; if there is none it is said how to get one."""
    with tempfile.TemporaryDirectory() as d:
        worlds, _ = worlds_of()
        r = worlds.Result(9, False, "it spins", [], unittest.mock.Mock(out=os.path.join(d, "1"), work=[(9, [])]))
        assert worlds.logs(r) == "no log was saved: --seed and --trace write it as it happens"
        for folder in ("1", "2"):
            os.mkdir(os.path.join(d, folder))
            with open(os.path.join(d, folder, "log-9"), "w", encoding="utf-8"):
                pass
        assert worlds.logs(r) == f"log (times in ms): {d}/1/log-9"
        r.second = os.path.join(d, "2")
        with open(os.path.join(d, "1", "trace"), "w", encoding="utf-8"):
            pass
        assert worlds.logs(r) == f"log (times in ms): {d}/1/log-9 {d}/2/log-9; trace events: {d}/1/trace"


NAMES = "data/client/wc_send=10\ndata/server/wc_send=10\nreuse/client/remove\nreuse/server/dereg_mr=fail\nend/client/remove+\n"


def sweep__chooses_on_the_host():
    """Only cases of which a combination is chosen are run; a word of $SWEEP that chooses nothing is an error."""
    names = sim.sweep_names(NAMES)
    for text, want in (("*", "data reuse end"), ("data/client/wc_send=10", "data"), ("*/server/*=@(10|11)", "data"), ("0%20", "data reuse end"),
                       ("19%20", "data reuse end"), ("data/none", "data"), ("data/* end/client/remove+", "data end"), ("*/dereg_mr=*", "reuse")):
        assert sim.sweep_steps(text, names, "um") == set(want.split()), text
    for text, why in (("99%20", "last one is 19%20"), ("20%20", "19%20"), ("0%0", "0"), ("data/client/nosuch", "no combination is 'data/client/nosuch'"),
                      ("data/* nosuch/*", "'nosuch/*'"), ("1%20 2%20", "'1%20'"), ("*/dereg_mr=fail", "--kernel um only")):
        try:
            sim.sweep_steps(text, names, "umdbg")
        except ValueError as e:
            assert why in str(e), (text, e)
            continue
        raise AssertionError(text)
    everything = [c for c in cases.load() if "sweep" in c.tags]
    steps = [sim.step_of(c) for c in everything]
    assert len(steps) == len(set(steps)) == 11 and all(steps)
    run = load_script(os.path.join(TOP, "selftests", "run"))
    with unittest.mock.patch.object(run.subprocess, "run", lambda *_, **__: unittest.mock.Mock(returncode=0, stdout=NAMES)), \
            unittest.mock.patch.object(run, "programs_lock", contextlib.nullcontext):
        chosen = run.chosen_by_sweep(everything, "data/* end/*", "umdbg")
        assert [sim.step_of(c) for c in chosen] == ["data", "end"]
        assert run.chosen_by_sweep(everything, "", "umdbg") == everything
        try:
            run.chosen_by_sweep([c for c in everything if sim.step_of(c) == "reuse"], "data/*", "umdbg")
        except run.LabError as e:
            assert "is about data, and no selected case is" in str(e)
        else:
            raise AssertionError
    check = load_script(os.path.join(TOP, "scripts", "check"))
    assert {sim.sweep_steps(check.sweep_part(c), names, "um") and True for c in ("ffffffff", "00000014", "unknown")} == {True}


def interrupt():
    """What Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def worlds__interrupted():
    """Ctrl-C ends the guests and leaves the rest out; what is done is told; exit status 130 and no traceback."""
    worlds, args = worlds_of("--seeds", "1..1000", "--batch", "10", "--jobs", "2", "--twice")
    begun, asked_once = [], threading.Event()

    def guest(self, work, until=None):
        """Two guests do all; those behind them half, when they are told to end."""
        begun.append(work)
        n = len(work)
        if len(begun) > 4:
            if not asked_once.is_set():
                asked_once.set()
                time.sleep(0.2)     # until the pool is complete
                interrupt()
            assert self.stop.wait(20)
            n //= 2
        res = [worlds.Result(s, True, "", ["a"], unittest.mock.Mock(out="/x", work=work)) for s, _ in work[:n]]
        for i, r in enumerate(res):
            r.work = work[:i + 1]
        return res, n < len(work)
    out = io.StringIO()
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with unittest.mock.patch.object(worlds.Lot, "guest", guest), contextlib.redirect_stdout(out):
            rc = worlds.run(args)
        said = out.getvalue()
        passed = int(re.search(r"\n(\d+) passed, 0 failed\n$", said).group(1))
        assert rc == 130 and "# interrupted" in said and 20 <= passed <= 40 and len(begun) <= 6, (rc, said)

        def boom(*_):
            raise KeyboardInterrupt
        with unittest.mock.patch.multiple(worlds, arguments=lambda: args, build=boom), unittest.mock.patch("os.makedirs"), \
                contextlib.redirect_stderr(io.StringIO()):
            assert worlds.main() == 130
        pair, stop = unittest.mock.Mock(out="/nonexistent", args=args), threading.Event()
        stop.set()
        pair.guests = [pair]
        with unittest.mock.patch("os.path.getsize", lambda _: 0):
            assert worlds.Worlds.watch(pair, None, stop) == worlds.OVER
    finally:
        signal.signal(signal.SIGINT, old)


def worlds__shrink():
    """Pieces are left out as long as it fails in the same way; when that is interrupted the smallest so far is told."""
    for stop, rc, drop in ((99, 1, "0,1,2,4,5,7"), (3, 130, None)):
        worlds, args = worlds_of("--shrink", "9")
        calls = []

        def guest(_, work, until=None, calls=calls, stop=stop, worlds=worlds):  # pylint: disable=dangerous-default-value
            calls.append(work)
            if len(calls) > stop:
                raise KeyboardInterrupt
            res = []
            for s, without in work:
                ok = bool({3, 6} & set(without))
                res.append(worlds.Result(s, ok, "" if ok else "it broke", ["a"], unittest.mock.Mock(out="/x", work=work)))
                if not ok:
                    break
            return res, False
        out = io.StringIO()
        with unittest.mock.patch.object(worlds.Lot, "guest", guest), unittest.mock.patch.object(worlds, "pieces", lambda *_: 8), \
                contextlib.redirect_stdout(out):
            assert worlds.run(args) == rc
        said = out.getvalue()
        assert (f"--seed 9 --drop {drop}\n" in said) if drop else "the smallest so far:\nselftests/sim --kernel um --seed 9" in said, said


def run__says_what_repeats_it():
    """The command of `# again:` has all that the user chose, and leads to the same arguments."""
    run = load_script(os.path.join(TOP, "selftests", "run"))
    case = unittest.mock.Mock()
    case.name = "10-x"
    given = ["--fabric", "sim", "--kernel", "um", "--seed", "7", "--knob", "order=2", "--knob", "piece=64", "--rnic", "/r x.ko", "--ko", "/k.ko",
             "--tcpopt", "nf", "--nics", "2", "--memory", "99", "--twice", "--cases", "/c"]
    for sweep, words, runner in (("*/x=1", given, run.SimRunner), ("", ["--fabric", "sim", "--seed", "3"], run.SimRunner),
                                 ("5%20", ["--kernel", "um", "--tcpopt", "nf", "--ko", "/k.ko", "--nics", "3", "--capture"], run.Runner),
                                 ("", ["--kernel", "6.1", "--peer-kernel", "7.2", "--gcov"], run.Runner)):
        with unittest.mock.patch.dict(os.environ, SWEEP=sweep, SEED="9"):
            mine = asked(run, *words)
            it = object.__new__(runner)
            it.args = mine
            res = unittest.mock.Mock(case=case, folder="/f/guest1/001-10-x")
            it.results = [unittest.mock.Mock(case=case, folder="/f/guest0/001-10-x"), res]     # --repeat
            env, _, again = it.repro(res).split("   (alone")[0].partition("selftests/run ")
            assert ("SWEEP=" in env) == bool(sweep) and ("SEED=9 " in env) == (runner is run.Runner), env
            assert not sweep or f"SWEEP={sweep}" in shlex.split(env)
            then = asked(run, *shlex.split(again))
            which = {"names": "/f/guest1/cases"} if runner is run.SimRunner else {"patterns": ["10-x"]}
            assert {**vars(mine), **which, "keep": True} == vars(then), again


def worlds_of(*words):
    """selftests/sim, and what its command line with these words wants."""
    worlds = load_script(os.path.join(TOP, "selftests", "sim"))
    return worlds, asked(worlds, "--no-regress", "--out", "/nonexistent", *words)


def run_worlds(worlds, args, guests):
    """selftests/sim with these guests in turn, each a text of "seed digest [why]" lines: the exit status, what it said, what they got."""
    got, out = [], io.StringIO()

    def guest(self, work, until=None):
        got.append(work)
        pair = unittest.mock.Mock(out="/nonexistent", work=work)
        res = []
        for i, line in enumerate(guests.pop(0).splitlines()):
            seed, digest, *why = line.split(" ", 2)
            res.append(worlds.Result(int(seed), not why, "".join(why), [digest, "0"], pair))
            res[-1].work = work[:i + 1]
        return res, False
    with unittest.mock.patch.object(worlds.Lot, "guest", guest), contextlib.redirect_stdout(out):
        rc = worlds.run(args)
    assert not guests, guests
    return rc, out.getvalue(), got


def worlds__twice():
    """What does not pass in the second run, too, or is not reached there, or has another digest, failed; guests are repeated as they were."""
    good = "1 a\n2 b\n3 c"
    for second, failed, compared in ((good, "", 3), ("1 a\n2 b", "3", 2), ("", "1 2 3", 0), ("1 a\n2 b\n3 c it leaks", "3", 3),
                                     ("1 a\n2 x\n3 c", "2", 3), ("1 a\n2 b it died", "2 3", 2)):
        worlds, args = worlds_of("--seeds", "1..3", "--twice")
        rc, said, got = run_worlds(worlds, args, [good, second])
        bad = failed.split()
        assert rc == bool(bad) and f"{3 - len(bad)} passed, {len(bad)} failed\n" in said, said
        assert f"# compared with a second run: {compared} of 3 worlds\n" in said, said
        assert ("# failed: " + failed) in said or not bad
        assert got[0] == got[1] == [(1, []), (2, []), (3, [])]
    # each guest again, and not all of its worlds in one
    worlds, args = worlds_of("--seeds", "1..3", "--twice")
    rc, said, got = run_worlds(worlds, args, ["1 a\n2 b no", "3 c", "1 a\n2 b no", "3 c"])
    assert rc == 1 and "2 passed, 1 failed" in said and [[s for s, _ in w] for w in got] == [[1, 2, 3], [3], [1, 2], [3]], (said, got)
    assert "compared with a second run: 2 of 3" in said


if __name__ == "__main__":
    ktap.main()
