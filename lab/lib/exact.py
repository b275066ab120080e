#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The exact lane: cost in instructions (lab/bench --exact).

One QEMU guest whose clock counts instructions, two nanoseconds each, and jumps
over the time in which there is nothing to do; both ends of every connection are
in it, over soft RoCE on lo. What it measures does not depend on how busy this
machine is. An operation is one write (bulk), one write with poll() before it
(poll) or without TCP_NODELAY (nagle), one message there and back (rtt), with
epoll_wait() before the read (epoll) or on 64 connections at once (many), or
connect + 1 byte echo + close (conn). "TCP beside smcr" is TCP while the module is
loaded and has a link group. "raw verbs" is one RDMA WRITE for each message, with
immediate data in a round trip; "raw chain" is an RDMA WRITE and a SEND of 44 bytes
in one post, which is the least that version 1 of SMC-R permits.

The figures of a commit are in lab/exact-KERNEL.json. --gate fails when a point
of smcr is more than 3 % dearer in each of three boots, of which the second and
third measure what was dear before; a commit that means it runs --update. They hold
for the versions of the guest's software that they were taken with: when those
are others by now, --gate compares with the module of the commit that updated
the figures last, measured in a guest of its own before the present one.

With --fabric sim both ends have a network namespace and a simulated RNIC each,
and the profiler separates the instructions of the RNIC. --gate and --compare
judge the others, of transfers only those that neither copy nor clear: a
string instruction counts as often as it repeats. Also shown: for what kind of
work the instructions are, and how many task switches, wake-ups, works and so on
an operation takes. Figures: lab/exact-KERNEL-sim.json.

Of simulated RNICs only: a message there and back on one connection to each of
64 peers, each with a network namespace, an RNIC and so a link group of its own
(peers). Of simulated RNICs only, and not judged: the memory of a connection at both ends
(burst), one of 64 on a link, before it is used, and ten seconds after each has
sent and received 10 MiB, one after another.
"""

import argparse
import bisect
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
import exactgroups  # noqa: E402  pylint: disable=wrong-import-position
from lab import CACHE, TREE, LabError, Pair, human, read, script  # noqa: E402  pylint: disable=wrong-import-position

K = 1024
IMPLS = ("tcp", "beside", "smcr", "intree", "verbs", "chain")
LABEL = {"tcp": "TCP", "beside": "TCP beside smcr", "smcr": "smcr", "intree": "in-tree smc", "verbs": "raw verbs", "chain": "raw chain"}
RAW = {"verbs": ("bulk", "rtt"), "chain": ("rtt",)}     # on soft RoCE: their points
POINTS = [("bulk", K), ("nagle", K), ("bulk", 16 * K), ("bulk", 64 * K), ("bulk", 1024 * K), ("poll", 16 * K), ("rtt", 64), ("epoll", 64),
          ("rtt", 4 * K), ("rtt", 64 * K), ("many", 64), ("conn", 1), ("conn", 16), ("peers", 64)]
SIM_ONLY = ("peers",)       # soft RoCE lives in the initial namespace
MEMORY = ("burst", 64)      # on simulated RNICs: memory of so many connections
TRANSFERS = ("bulk", "poll", "nagle")
SHIFT = 1                   # QEMU's: an instruction takes 2^SHIFT ns
TIMES = 3                   # measurements of a point; the one in the middle counts
# Shown, but not judged: from one boot to the next they spread by 5 % (how many writes one completion is for), 4 %, 15 %.
UNSTEADY = (("bulk", K), ("nagle", K), ("poll", 16 * K), ("conn", 16))
FIGURES = ("us and instructions per operation", "us, instructions, those of the adapter, and those that copy and clear per operation")
UNITS = ("us/op", "instr/op judged")    # of what is judged: Exact.cost()
LIMIT = 1.03                # dearer than this fails the gate
BOOTS = 3                   # that have to find a point dear: the batching of completions differs in some
ABOUT = "exact"             # what it is called in messages
KNOBS = {"shadow": 0}       # of simulated RNICs: nothing is copied for dma_sync_*, as with adapters on this architecture
DEAREST = (("rtt", 64), ("bulk", 64 * K), ("conn", 1))  # points of which kinds of work and events are kept with the figures
FEW = .005                  # a kind of work with a smaller part of the instructions is not shown


class Solo(Pair):
    """One guest, alone."""

    def __init__(self, kernel, out, plugin=""):
        super().__init__("qemu", (kernel, kernel), 0, 1024, out)
        self.plugin = plugin

    def _boot_qemu(self):
        # No randomness in addresses, no samples of KFENCE: runs repeat.
        accel = ["-accel", "tcg,thread=single", "-icount", f"shift={SHIFT},sleep=off"]
        if self.plugin:
            accel += ["-plugin", self.plugin]
        from lab import Guest  # pylint: disable=import-outside-toplevel
        self.guests.append(Guest(self, 1, [*self.qemu(1, accel, ("nokaslr", "kfence.sample_interval=0")),
                                           "-chardev", f"file,id=con,path={self.path('console1.log')}"]))


def name_of(point):
    """bulk 64 KiB, conn 16."""
    what, size = point
    return f"{what} {human(size) if what != 'conn' else size}"


def judged(point, insns, adapter, strings):
    """The instructions that are judged of those of a point on simulated RNICs."""
    return insns - adapter - (strings if point[0] in TRANSFERS else 0)


def git(*args):
    """Its output; empty when it fails, or is not there."""
    try:
        r = subprocess.run(["git", "-C", TREE, *args], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return r.stdout.strip() if r.returncode == 0 else ""


def say(text):
    """For the terminal."""
    print(f"{ABOUT}: {text}", flush=True)


def make(folder):
    """Build what is there."""
    if subprocess.run(["make", "-s", "-C", folder], stdout=sys.stderr, check=False).returncode:
        raise LabError(f"{folder} does not build")


class Revision:
    """The module and smcctl of another commit, built in the cache."""

    def __init__(self, rev, kernel):
        self.commit = git("rev-parse", "--verify", "-q", rev + "^{commit}")
        if not self.commit:
            raise LabError(f"no revision '{rev}' here")
        kver = script("kernel", kernel)[0]
        self.folder = os.path.join(CACHE, "exact", self.commit[:16])
        self.ko = os.path.join(self.folder, f"smcr-{kver}.ko")
        self.smcctl = os.path.join(self.folder, "tree", "tools", "smcctl", "smcctl")
        if os.path.exists(self.ko) and os.path.exists(self.smcctl):
            return
        tree = os.path.join(self.folder, "tree")
        say(f"building {self.commit[:12]}")
        shutil.rmtree(tree, ignore_errors=True)
        os.makedirs(tree)
        with subprocess.Popen(["git", "-C", TREE, "archive", self.commit], stdout=subprocess.PIPE) as tar:
            if subprocess.run(["tar", "-x", "-C", tree], stdin=tar.stdout, check=False).returncode:
                raise LabError(f"{self.commit[:12]} cannot be unpacked")
        make(os.path.join(tree, "tools", "smcctl"))
        r = subprocess.run([os.path.join(tree, "scripts", "build-module"), kernel], stdout=subprocess.PIPE, text=True, check=False,
                           env={k: v for k, v in os.environ.items() if k != "SMCR_BUILD"})
        if r.returncode:
            raise LabError(f"the module of {self.commit[:12]} does not build")
        shutil.copy(r.stdout.split()[-1], self.ko)
        shutil.rmtree(os.path.join(tree, "build"), ignore_errors=True)


class Exact:
    """One guest and what was measured in it."""

    def __init__(self, args):
        self.args = args
        self.out = os.path.join(CACHE, "run", f"{time.strftime('%m%d-%H%M%S')}-exact-{os.getpid()}")
        self.sim = args.fabric == "sim"
        self.counts = args.profile or self.sim      # the profiler runs
        self.figures_path = os.path.join(TREE, "lab", f"exact-{args.kernel}{'-sim' * self.sim}.json")
        self.guest = None
        self.base = None            # Exact of the Revision that was measured before
        self.values = {}            # (series, point): [{us, insns, idle}]
        self.order = []             # of the points of each series, as they were measured
        self.memory = {}            # {series: [{idle, burst: bytes of a connection}]}
        self.alone = ""             # the series whose memory is all that is measured in this guest
        self.system = ""
        self.sources = {}           # {function of smcr: file}
        self.kinds = {}             # {series: {point: {kind of work: instructions}}}
        self.events = {}            # {series: {point: {event: how many times}}}

    # -- measuring ---------------------------------------------------------

    def series(self, base):
        """What the guest has to measure, in this order."""
        a = self.args
        points = [p for p in POINTS if (not a.only or p[0] in a.only) and (self.sim or p[0] not in SIM_ONLY)]
        memory = []
        if self.alone:
            points, memory = [], [dict(zip(("what", "size"), MEMORY))]
        series = []
        for impl in [self.alone] if self.alone else ["smcr"] if base else [i for i in IMPLS if i in a.impls]:
            todo = [{"what": w, "size": s} for w, s in points if w in RAW.get(impl, (w,))]
            if impl == "beside":
                todo = [p for p in todo if (p["what"], p["size"]) in DEAREST]
            if base:
                series.append({"name": "base", "impl": impl, "ko": base.ko, "smcctl": base.smcctl, "points": todo, "memory": []})
            elif impl in ("smcr", "beside"):
                ko = script("build-module", a.kernel)[-1]
                if impl == "smcr" and self.counts:
                    self.sources = exactgroups.files(os.path.dirname(ko))
                ko = shutil.copy(ko, os.path.join(self.out, "smcr.ko"))
                series.append({"name": impl, "impl": impl, "ko": ko, "points": todo, "memory": memory})
            else:
                series.append({"name": impl, "impl": impl, "points": todo, "memory": memory})
        # A series that only warms up has marks in the profiler's output, and no lines that they belong to.
        return [s for s in series if s["points"] or s["memory"]]

    def measure(self, base=None):
        """Boot, take all series, or only the module of a Revision, `base`."""
        a = self.args
        os.makedirs(self.out)
        for folder in ("tools/smcctl", "lab/prog"):
            make(os.path.join(TREE, folder))
        series = self.series(base)
        plugin = ""
        if self.counts:
            so = os.path.join(self.out, "exactprof.so")
            if subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", so, os.path.join(HERE, "exactprof.c")],
                              check=False).returncode:
                raise LabError("the profiler does not build")
            plugin = f"{so},out={self.out}/blocks" + f",ranges={self.out}/guest/ranges" * self.sim
        rnic = ""
        if self.sim:
            r = subprocess.run([os.path.join(TREE, "selftests", "mod", "rnicsim", "build"), a.kernel], stdout=subprocess.PIPE, text=True, check=False)
            if r.returncode:
                raise LabError("rnicsim does not build")
            rnic = shutil.copy(r.stdout.split()[-1], self.out)
        self.guest = Solo(a.kernel, os.path.join(self.out, "guest"), plugin)
        begin = time.time()
        booted = self.guest.boot()
        spec = {"series": series, "seconds": a.seconds, "runs": a.runs, "profile": self.counts, "slow": self.guest.slow,
                "ns": 1 << SHIFT, "times": TIMES, "out": self.guest.path(""), "rnic": rnic, "knobs": KNOBS}
        path = self.guest.path("spec")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(dict(spec, out="/run/smcr/out"), f)
        job = self.guest.guests[0].send(f'exec python3 "$TREE/lab/lib/exactguest.py" "$OUT/spec"')
        self.follow(path + ".out", job, begin + booted + 60 * self.guest.slow +
                    a.runs * sum(len(s["points"]) * (10 + 20 * TIMES * a.seconds) + len(s["memory"]) * 300 for s in series) *
                    (3 if self.counts else 1) * int(os.environ.get("SMCR_SLOW", "1")))
        say(f"guest up after {booted:.0f} s, measured after {time.time() - begin:.0f} s; logs in {self.out}")
        self.guest.halt()
        bad = [line for line in self.order if line.get("bad")]
        if bad:
            raise LabError("\n".join(f"{b['series']} {name_of((b['what'], b['size']))}: {b['bad']}" for b in bad))

    def follow(self, path, job, end):
        """Read the guest's lines until the last."""
        seen = 0
        while True:
            over = os.path.exists(job + ".rc")
            lines = read(path).splitlines()
            while seen < len(lines):
                try:
                    line = json.loads(lines[seen])
                except ValueError:
                    break           # not yet all of it
                seen += 1
                if line["what"] == "end":
                    self.system = line["system"]
                    return
                if line["what"] == MEMORY[0] and not line.get("bad"):
                    self.memory.setdefault(line["series"], []).append(line)
                else:
                    self.order.append(line)
                    if not line.get("bad"):
                        self.values.setdefault((line["series"], (line["what"], line["size"])), []).append(line)
                if self.args.verbose:
                    print("  " + json.dumps(line), flush=True)
            if over or not self.guest.alive() or time.time() > end:
                raise LabError(f"the guest {'ended early' if over else 'hangs' if self.guest.alive() else 'died'}: "
                               f"{read(job + '.out')[-400:]}; logs in {self.out}")
            time.sleep(.1)

    def value(self, series, point, what="us"):
        """Of all runs; None where nothing was measured."""
        found = self.values.get((series, point))
        return statistics.median(v[what] for v in found) if found else None

    def cost(self, series, point):
        """What is judged: us or, on simulated RNICs, some of the instructions. None where nothing was measured."""
        if not self.sim:
            return self.value(series, point)
        insns = self.value(series, point, "insns")
        return judged(point, insns, self.value(series, point, "adapter"), self.value(series, point, "strings")) if insns else None

    def about(self):
        """What the figures depend on beside the module: programs and kernel that the guest runs."""
        def first(*cmd):
            r = subprocess.run(cmd, capture_output=True, text=True, check=False)
            return (r.stdout.strip() or "?").splitlines()[0]
        return {"kernel": self.system, "qemu": first("qemu-system-x86_64", "--version"), "gcc": first("gcc", "--version"),
                "libc": first("getconf", "GNU_LIBC_VERSION"), "seconds": self.args.seconds, "shift": SHIFT}

    # -- results -----------------------------------------------------------

    def table(self):
        """For people."""
        names = ["base"] if any(s == "base" for s, _ in self.values) else []
        names += [i for i in IMPLS if any(s == i for s, _ in self.values)]
        lines = [f"{'':14}" + "".join(f"{LABEL.get(n, n):>{52 if self.sim else 26}}" for n in names),
                 f"{'':14}" + "".join(f"{'us/op':>12}{'instr/op':>14}" + f"{'w/o adapter':>14}{'judged':>12}" * self.sim for _ in names)]
        for point in POINTS:
            if not any(p == point for _, p in self.values):
                continue
            cells = [f"{name_of(point):14}"]
            for n in names:
                us = self.value(n, point)
                if not us:
                    cells.append(f"{'-':>12}{'-':>14}" + f"{'-':>14}{'-':>12}" * self.sim)
                    continue
                insns = self.value(n, point, "insns")
                cells.append(f"{us:12.2f}{insns:14,.0f}" + (f"{insns - self.value(n, point, 'adapter'):14,.0f}{self.cost(n, point):12,.0f}" if self.sim else ""))
            lines.append("".join(cells))
        if self.args.runs > 1:
            worst = max(((max(v["us"] for v in vs) / min(v["us"] for v in vs) - 1) * 100, f"{LABEL.get(s, s)} {name_of(p)}")
                        for (s, p), vs in self.values.items())
            lines.append(f"medians of {self.args.runs} runs; the largest spread is {worst[0]:.2f} % ({worst[1]})")
        return "\n".join(lines)

    def work(self):
        """Kinds of work and events, for people."""
        lines = []
        for point in map(lambda p: " ".join(map(str, p)), DEAREST):
            names = [s for s in ("base", *IMPLS) if point in self.kinds.get(s, {})]
            if not names:
                continue
            found = {n: self.kinds[n][point] for n in names}
            rows = {k: [found[n].get(k, 0) for n in names] for k in sorted({k for f in found.values() for k in f}, key=lambda k:
                                                                          (k.startswith("smcr "), -found[names[-1]].get(k, 0), k))}
            small = [FEW * sum(f.values()) for f in found.values()]
            lines += ["", f"{name_of((point.split()[0], int(point.split()[1])))}, without the adapter:" +
                      f"{'':8}" + "".join(f"{LABEL.get(n, n):>16}" for n in names)]
            lines += [f"  {k:40}" + "".join(f"{n:16,}" for n in row) for k, row in rows.items() if any(n > s for n, s in zip(row, small))]
            lines += [f"  {e:40}" + "".join(f"{self.events[n][point][e]:16.2f}" for n in names) for e, _ in exactgroups.EVENTS]
        return "\n".join(lines)

    def hold(self):
        """Measure the memory of connections, of each series in a guest of its own: others leave free objects behind, and TIME_WAIT."""
        a = self.args
        # Nothing judges it.
        if not self.sim or not (MEMORY[0] in a.only or not (a.only or a.gate or a.compare)):
            return
        for impl in [i for i in IMPLS if i in a.impls and i != "beside"]:
            other = self.again(f"-{MEMORY[0]}-{impl}")
            other.alone = impl
            other.boot()
            self.memory.update(other.memory)
            self.system = other.system

    def held(self, series, what):
        """Memory of a connection, of all runs."""
        return statistics.median(m[what] for m in self.memory[series])

    def held_table(self):
        """The same, for people."""
        lines = ["", f"{'KiB of a connection, both ends':32}{'never used':>14}{'after a burst':>16}"]
        return "\n".join(lines + [f"  {LABEL[s]:30}{self.held(s, 'idle') / K:14,.1f}{self.held(s, 'burst') / K:16,.1f}"
                                  for s in IMPLS if s in self.memory])

    def again(self, suffix, only=()):
        """Another boot of the same measurement; `only`: kinds of points."""
        other = Exact(argparse.Namespace(**dict(vars(self.args), only=list(only) or self.args.only)))
        other.out = self.out + suffix
        return other

    def before(self):
        """{point: cost} of the Revision that was measured before smcr."""
        return {p: self.cost("base", p) for p in POINTS}

    def dear(self, before):
        """The judged points of smcr that are dearer than `before`, or missing there."""
        return [p for p in POINTS if self.cost("smcr", p) and p not in UNSTEADY and
                (not before.get(p) or self.cost("smcr", p) > LIMIT * before[p])]

    def ratios(self, before, title, dear):
        """smcr's points against `before`, as KTAP; those of `dear` fail."""
        points = [p for p in POINTS if self.value("smcr", p)]
        print(f"\nKTAP version 1\n1..{len(points)}\n# {title}")
        cheap = []
        for n, point in enumerate(points, 1):
            now, then = self.cost("smcr", point), before.get(point)
            ratio = now / then if then else 0
            print(f"{'not ok' if point in dear else 'ok'} {n} {name_of(point)} # " +
                  (f"x {ratio:.3f}: {now:,.2f} {UNITS[self.sim]}, {then:,.2f} before{', not judged' * (point in UNSTEADY)}"
                   f"{', not in each boot' * (ratio > LIMIT and point not in dear and point not in UNSTEADY)}"
                   if then else "was not measured before"))
            if ratio and ratio < 2 - LIMIT:
                cheap.append(name_of(point))
        if cheap:
            say(f"cheaper than before: {', '.join(cheap)} (lab/bench --exact --update keeps it so)")

    def profile(self):
        """Where the instructions went, of all points in their order."""
        return "\n".join(report(line, counts, syms) for line, counts, syms in self.counted())

    def counted(self):
        """[(point, what the profiler counted, symbols)]"""
        found = self.base.counted() if self.base else []
        order = self.order[len(found):]
        blocks = read(os.path.join(self.out, "blocks")).split("end")
        # The warm-up of each series was marked as well.
        at = 0
        for line, first in zip(order, [True] + [a["series"] != b["series"] or a["run"] != b["run"] for a, b in zip(order, order[1:])]):
            if first and line["series"] not in RAW:
                at += 3
            counts = [tuple(int(x, b) for x, b in zip(l.split(), (16, 10, 10, 10))) for l in blocks[at + line["nth"]].splitlines() if l]
            at += TIMES
            found.append((line, counts, symbols(self.guest.path(f"kallsyms-{line['series']}"))))
        return found

    def sort_out(self):
        """Simulated RNICs: finds what part of each point's instructions is the adapter's, what part copies and clears, and what
        the others are for."""
        for line, counts, syms in self.counted():
            found, total = by_function(counts, syms), sum(c[1] for c in counts)
            line["adapter"] = line["insns"] * sum(c[2] for c in counts) / total
            line["strings"] = line["insns"] * exactgroups.strings(found) / total
            point = " ".join(map(str, (line["what"], line["size"])))
            if (line["what"], line["size"]) in DEAREST and line["run"] == 1:
                kinds = exactgroups.kinds(found, self.sources if line["series"] == "smcr" else {})
                self.kinds.setdefault(line["series"], {})[point] = {
                    k: round(n / line["n"]) for k, n in sorted(kinds.items(), key=lambda x: -x[1])
                    if k != exactgroups.ADAPTER and round(n / line["n"])}
                self.events.setdefault(line["series"], {})[point] = {
                    e: round(n / line["n"], 2) for e, n in exactgroups.events(counts, syms).items()}

    def write(self, text):
        """JSON and text, as the other benchmarks' results."""
        folder = os.path.join(TREE, "build", "bench")
        os.makedirs(folder, exist_ok=True)
        stem = os.path.join(folder, f"{time.strftime('%Y%m%d-%H%M%S')}-exact-{self.args.kernel}")
        with open(stem + ".json", "w", encoding="utf-8") as f:
            json.dump({"revision": git("describe", "--always", "--dirty"), "about": self.about(), "points": self.order + sum(self.memory.values(), [])},
                      f, indent=1)
        with open(stem + ".txt", "w", encoding="utf-8") as f:
            f.write(text + "\n")
        say(f"results: {stem}.{{json,txt}}")

    # -- figures -----------------------------------------------------------

    def figures(self):
        """The committed ones; None without."""
        try:
            with open(self.figures_path, encoding="utf-8") as f:
                return json.load(f)
        except FileNotFoundError:
            return None
        except ValueError as e:
            raise LabError(f"{self.figures_path}: {e}") from e

    def update(self):
        """Write them, one point a line; those of implementations that were not measured stay."""
        known, key = self.figures() or {}, FIGURES[self.sim]
        impls = known.get(key, {})
        impls.update({i: {} for i in self.args.impls})
        for (series, point), _ in self.values.items():
            impls.setdefault(series, {})[" ".join(map(str, point))] = [round(self.value(series, point), 3),
                                                                      round(self.value(series, point, "insns"))] + (
                [round(self.value(series, point, w)) for w in ("adapter", "strings")] if self.sim else [])
        more = ""
        for name, new in (("kinds of work", self.kinds), ("events", self.events)) if self.sim else ():
            found = known.get(name, {}) | new
            more += f',\n "{name}": {{\n  ' + ",\n  ".join(json.dumps(i) + ": {\n   " + ",\n   ".join(
                f"{json.dumps(k)}: {{\n    " + ",\n    ".join(f"{json.dumps(w)}: {n}" for w, n in v.items()) + "}" for k, v in points.items()) + "}"
                for i, points in found.items()) + "}"
        memory = known.get("memory", {}) | {s: {what: self.held(s, what) for what in ("idle", "burst")} for s in self.memory}
        if memory:
            more += ',\n "memory": {\n  ' + ",\n  ".join(f"{json.dumps(s)}: {json.dumps(m)}" for s, m in memory.items()) + "}"
        rows = ",\n  ".join(json.dumps(i) + ": {\n   " + ",\n   ".join(
            f"{json.dumps(k)}: {json.dumps(v)}" for k, v in points.items()) + "}" for i, points in impls.items())
        with open(self.figures_path, "w", encoding="utf-8") as f:
            f.write('{"about": ' + json.dumps(self.about(), indent=1) + f',\n "{key}": {{\n  ' + rows + "}" + more + "}\n")
        say(f"written: {os.path.relpath(self.figures_path, TREE)}")

    def gate(self):
        """Returns the exit status."""
        known = self.figures()
        if not known:
            raise LabError(f"there are no figures for {self.args.kernel} (--update)")
        changed = [k for k, v in self.about().items() if known["about"].get(k) != v]
        if not changed:
            before = {(k.split()[0], int(k.split()[1])): v for k, v in known[FIGURES[self.sim]]["smcr"].items()}
            before = {p: judged(p, *v[1:]) if self.sim else v[0] for p, v in before.items()}
            title, base, latest = "against the figures of " + os.path.relpath(self.figures_path, TREE), None, self
        else:
            rev = git("log", "-1", "--format=%H", "--", self.figures_path)
            if not rev:
                raise LabError(f"the figures are of another {', '.join(changed)}, and there is no git history to measure their "
                               "commit anew")
            say(f"the figures are of another {', '.join(changed)}: measuring the module of their commit, {rev[:12]}, too")
            title, base, latest = f"against {rev[:12]}", Revision(rev, self.args.kernel), self.again("-2")
            latest.run_guest(base)
            before = latest.before()
        dear = latest.dear(before)
        for n in range(2, BOOTS + 1) if dear else ():
            say(f"dear in boot {n - 1}: {', '.join(map(name_of, dear))}: boot {n} of {BOOTS}")
            other = latest.again(f"-boot{n}", {what for what, _ in dear})
            other.run_guest(base)
            now = other.dear(other.before() if base else before)
            dear = [p for p in dear if p in now]
            if not dear:
                break
        latest.ratios(before, title, dear)
        if dear:
            say(f"FAILED: dearer by more than {(LIMIT - 1) * 100:.0f} % in each of {BOOTS} boots: {', '.join(map(name_of, dear))} "
                "(a commit that means it runs lab/bench --exact --update)")
            return 1
        say(f"no point of smcr is dearer by more than {(LIMIT - 1) * 100:.0f} %")
        return 0

    def run_guest(self, base=None):
        """measure(), and no guest stays whatever happens. `base`: a Revision to measure before, in a guest of its own, as the
        second of two equal modules in one guest differs from the first by up to 20 %."""
        if base:
            other = self.again("-base")
            other.boot(base)
            self.base = other
            self.values.update(other.values)
            self.order += other.order
        self.boot()
        if self.sim:
            self.sort_out()

    def boot(self, base=None):
        """measure(), and no guest stays whatever happens."""
        try:
            self.measure(base)
        finally:
            if self.guest:
                self.guest.halt()

    def run(self):
        """Returns the exit status."""
        a = self.args
        base = Revision(a.compare, a.kernel) if a.compare else None
        self.hold()
        if a.only != [MEMORY[0]]:
            self.run_guest(base)
        text = self.table() if self.values else ""
        if self.sim:
            text += "\n" + self.work()
        if self.memory:
            text += "\n" + self.held_table()
        if a.profile:
            text += "\n\n" + self.profile()
        print("\n" + text + "\n")
        self.write(text)
        if a.update:
            self.update()
        if a.compare:
            dear = self.dear(self.before())
            self.ratios(self.before(), f"against {a.compare} ({base.commit[:12]})", dear)
            return 1 if a.gate and dear else 0
        return self.gate() if a.gate else 0


def symbols(path):
    """kallsyms: (addresses, names), sorted."""
    found = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = re.match(r"([0-9a-f]+) [tTwW] (\S+)(?:\s+\[(\S+)\])?", line)
            if m:
                found.append((int(m[1], 16), m[2] + (f" [{m[3]}]" if m[3] else "")))
    found.sort()
    return [f[0] for f in found], [f[1] for f in found]


def by_function(counts, syms):
    """{function: (instructions, those of the adapter's work among them)} of [(address, instructions[, adapter's])]."""
    addrs, names = syms
    sums = {}
    for addr, *n in counts:
        i = bisect.bisect_right(addrs, addr) - 1
        name = "programs" if addr < 1 << 47 else names[i] if i >= 0 else "?"
        total, adapter = sums.get(name, (0, 0))
        sums[name] = total + n[0], adapter + (n[1] if len(n) > 1 else 0)
    return sums


def report(line, counts, syms):
    """The functions that an operation's instructions go to."""
    found = by_function(counts, syms)
    adapter = sum(a for _, a in found.values())
    sums = {f: n - a for f, (n, a) in found.items()} | ({"(the adapter)": adapter} if adapter else {})
    total = sum(sums.values())
    modules = {}
    for name, n in sums.items():
        m = re.search(r"\[(.*)\]$", name)
        key = m[1] if m else name if name in ("programs", "(the adapter)") else "kernel"
        modules[key] = modules.get(key, 0) + n
    out = [f"{LABEL.get(line['series'], line['series'])} {name_of((line['what'], line['size']))}: "
           f"{total / line['n']:,.0f} instructions per operation: " +
           ", ".join(f"{k} {n / total * 100:.1f} %" for k, n in sorted(modules.items(), key=lambda x: -x[1])[:6])]
    for name, n in sorted(sums.items(), key=lambda x: -x[1])[:25]:
        out.append(f"  {n / line['n']:12,.0f} {n / total * 100:6.1f} %  {name}")
    return "\n".join(out) + "\n"


def arguments():
    """The command line."""
    p = argparse.ArgumentParser(prog="lab/bench", description=__doc__.split("\n", maxsplit=1)[0],
                                epilog="\n".join(__doc__.split("\n")[2:]), formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--exact", action="store_true", help="this lane")
    p.add_argument("--kernel", choices=("6.1", "6.12", "7.2"), default="6.12", help="default: 6.12; only it has an in-tree smc "
                   "that can be compared")
    p.add_argument("--seconds", type=float, default=.2, help="of the guest's time, three times per point (default: 0.2)")
    p.add_argument("--runs", type=int, default=1, metavar="N", help="default: 1")
    p.add_argument("--fabric", choices=("roce", "sim"), default="roce", help="soft RoCE (default), or simulated RNICs: the instructions of their own "
                   "work are listed apart, and not judged; also memory of connections; no raw verbs")
    p.add_argument("--impls", default="", help="of tcp,beside,smcr,intree,verbs,chain (default: all that there are; with --gate or --compare: smcr)")
    p.add_argument("--only", default="", help="of bulk,poll,nagle,rtt,epoll,many,conn,peers,burst (default: all)")
    p.add_argument("--compare", metavar="REV", help="also the module of this revision, in a guest of its own, and the ratios")
    p.add_argument("--gate", action="store_true", help="fail when smcr is more than 3 %% dearer than the committed figures "
                   "(or than REV)")
    p.add_argument("--update", action="store_true", help="write the figures, to be committed")
    p.add_argument("--profile", action="store_true", help="the functions that the instructions go to")
    p.add_argument("-v", "--verbose", action="store_true", help="every measurement")
    p.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    can = [i for i in IMPLS if (i != "intree" or a.kernel == "6.12") and (i not in RAW or a.fabric == "roce")]
    a.impls = [x for x in a.impls.split(",") if x] or (["smcr"] if a.gate or a.compare else can)
    a.only = [x for x in a.only.split(",") if x]
    for x in a.impls:
        if x not in can:
            p.error(f"{x}: not on {a.kernel} and {a.fabric}, which have {', '.join(can)}")
    if a.runs < 1 or not 0 < a.seconds <= 60:
        p.error("--runs and --seconds are positive")
    if (a.gate or a.compare) and "smcr" not in a.impls:
        p.error("--gate and --compare are about smcr")
    if a.update and ("smcr" not in a.impls or a.only or a.gate or a.compare or a.profile):
        p.error("--update takes all points of smcr, and excludes --gate, --compare and --profile")
    return a


def main():
    """Returns the exit status."""
    args = arguments()
    if args.check:
        return 0
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, lambda *_: sys.exit(1))
    try:
        return Exact(args).run()
    except (LabError, OSError) as e:
        say(f"FAILED: {e}")
        if args.gate:
            print("Bail out! " + str(e).splitlines()[0])
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return 1


if __name__ == "__main__":
    sys.exit(main())
