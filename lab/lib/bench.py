#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Benchmarks; started by lab/bench.

Implementations take turns in one pair of guests (A B C A B C ...): a busy
machine disturbs all of them alike, and only ratios between them are reported
as findings. A measurement is void, and is repeated, unless all of its
connections were of the kind to be measured.
"""

import argparse
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
from lab import CACHE, TREE, LabError, Pair, human, read, script  # noqa: E402  pylint: disable=wrong-import-position

IMPLS = ("tcp", "smcr", "intree", "verbs", "perftest")
LABEL = {"tcp": "TCP", "smcr": "smcr", "intree": "in-tree smc", "verbs": "raw verbs", "perftest": "perftest"}
# unit, its field, and whether more is better
UNIT = {"bulk": ("MB/s", "mbs", True), "rtt": ("us", "us", False), "conn": ("conn/s", "per_s", True),
        "idle": ("KiB", "bytes", False)}
TITLE = {"bulk": "bulk, one connection, by size of the writes: MB/s",
         "rtt": "round trip, by size of the message: us",
         "conn": "connect + 1 byte echo + close, by clients at a time: connections/s",
         "idle": "memory of an idle connection, both guests together: KiB",
         "bulk-sweep": "bulk around the size of a receive element (RMBE): MB/s",
         "rtt-sweep": "round trip around the size of a receive element: us"}
CLIFF = 0.6                 # a size slower than this part of its neighbours' speed is a cliff
K = 1024


def same(point):
    """The key of a point: no two of a series have the same."""
    return tuple(point.get(k) for k in ("what", "size", "sweep", "tool", "offload", "nth"))


def plan(args, impl, rmbe):
    """The points of one series. Memory is measured first, because freed buffers are kept for a while."""
    bulk = [1 * K, 4 * K, 16 * K, 64 * K, 256 * K, 1024 * K]
    rtt = [1, 64, 1 * K, 4 * K, 16 * K, 64 * K]
    conn, idle, steps = [1, 16, 64], 100, 8
    if args.quick:
        bulk, rtt, conn, idle, steps = [1 * K, 64 * K, 1024 * K], [1, 64 * K], [1, 16], 32, 4
    sweep = [rmbe // 2 + rmbe * i // steps for i in range(steps + 1)]
    raw = impl in ("verbs", "perftest")
    if raw:
        conn, sweep = [], []
    points = [] if raw else [{"what": "idle", "size": idle}]
    points += [{"what": "bulk", "size": s} for s in bulk]
    points += [{"what": "rtt", "size": s} for s in rtt]
    points += [{"what": "conn", "size": s} for s in conn]
    if not args.no_sweep:
        points += [{"what": w, "size": s, "sweep": True} for w in ("bulk", "rtt") for s in sweep]
    return [p for p in points if not args.only or p["what"] in args.only]


class Bench:
    """A pair of guests and its measurements."""

    name = "bench"
    memory = 1024               # MiB of each guest
    programs = (["tools/smcctl"], ["lab/prog", "bench", "verbs"])

    def __init__(self, args):
        self.args = args
        self.impls = [i for i in IMPLS if i in args.impls]
        self.out = os.path.join(CACHE, "run", f"{time.strftime('%m%d-%H%M%S')}-{self.name}-{os.getpid()}")
        self.points = []            # every valid measurement, with impl and run
        self.voids = []
        self.notes = []             # deviations from the command line
        self.pair = None
        self.ko = None
        self.series = 0

    def prepare(self):
        """Build everything and boot the guests."""
        a = self.args
        path = script("build-module", a.kernel)[-1]
        for d, *what in self.programs:
            if subprocess.run(["make", "-s", "-C", os.path.join(TREE, d), *what], check=False, stdout=sys.stderr).returncode:
                raise LabError(f"{d} does not build")
        os.makedirs(self.out)
        self.ko = shutil.copy(path, os.path.join(self.out, "smcr.ko"))
        self.pair = Pair(a.lane, (a.kernel, a.kernel), 1, self.memory, os.path.join(self.out, "pair"))
        took = self.pair.boot()
        self.booted(took)

    def booted(self, took):
        """Both guests are up."""
        a = self.args
        say(f"{a.lane} {a.kernel}: two guests, up after {took:.0f} s; {', '.join(LABEL[i] for i in self.impls)}; "
            f"{a.runs} runs of {a.seconds} s per point; logs in {self.out}")

    def take(self, impl, run, points):
        """One series: the points of one implementation, once. Returns the points that must be repeated."""
        self.series += 1
        a = self.args
        spec = {"impl": impl, "ko": self.ko, "slow": self.pair.slow, "seconds": a.seconds, "points": points,
                "sysctl": {}, "lane": a.lane, **self.more_spec()}
        if a.buffers and impl in ("smcr", "intree"):
            name = {"smcr": "smcr", "intree": "smc"}[impl]
            spec["sysctl"] = {f"net/{name}/rmem": a.buffers, f"net/{name}/wmem": a.buffers}
        name = f"series{self.series:03d}-{impl}"
        with open(self.pair.path(name), "w", encoding="utf-8") as f:
            json.dump(spec, f)
        begin = time.time()
        bases = [g.send(f'exec python3 "$TREE/lab/lib/benchguest.py" {r} "$OUT/{name}"')
                 for g, r in zip(self.pair.guests, ("server", "client"))]
        end = begin + 60 * self.pair.slow + self.patience(points)
        seen = []
        while not seen or seen[-1].get("what") != "end":
            lines = read(self.pair.path(name + ".out")).splitlines()
            for line in lines[len(seen):]:
                try:
                    seen.append(json.loads(line))
                except ValueError:
                    break           # the line is not complete yet
                self.show(impl, run, len(seen), len(points), seen[-1])
            if time.time() > end or not self.pair.alive():
                raise LabError(f"{impl}: guests {'hang' if self.pair.alive() else 'died'}; logs in {self.out}")
            if all(os.path.exists(b + ".rc") for b in bases) and lines == read(
                    self.pair.path(name + ".out")).splitlines() and len(lines) == len(seen):
                if not seen or seen[-1].get("what") != "end":
                    seen.append({"what": "series", "void": "guest 2: " + read(bases[1] + ".out")[-400:]})
                    self.show(impl, run, 0, 0, seen[-1])
                break
            time.sleep(0.2)
        for b in bases:
            while not os.path.exists(b + ".rc"):
                if time.time() > end or not self.pair.alive():
                    raise LabError(f"{impl}: the series does not end: {read(b + '.out')[-400:]}")
                time.sleep(0.05)
        if read(bases[0] + ".rc") != "0":
            seen.append({"what": "series", "void": "guest 1: " + read(bases[0] + ".out")[-400:]})
            self.show(impl, run, 0, 0, seen[-1])
        # A void series makes all of its points void.
        spoilt = next((s["void"] for s in seen if s["what"] == "series"), "")
        done = [s for s in seen if s["what"] not in ("series", "end", "note")]
        for s in done:
            s.update(impl=impl, run=run)
            if spoilt or s["void"]:
                s["void"] = s["void"] or spoilt
                self.voids.append(s)
            else:
                self.points.append(s)
        if spoilt and not done:
            self.voids.append({"impl": impl, "run": run, "what": "series", "size": 0, "void": spoilt})
        good = {same(s) for s in done if not s["void"]}
        return [p for p in points if same(p) not in good]

    def more_spec(self):
        """Further entries of the specification for the guests."""
        return {}

    def patience(self, points):
        """Time limit for the measurement of these points, in seconds."""
        return len(points) * (10 + 4 * self.args.seconds) * self.pair.slow

    def show(self, impl, run, n, of, s):
        """Print a result or a note."""
        if s["what"] == "end":
            return
        if s["what"] == "note":
            if s["text"] not in self.notes:
                self.notes.append(s["text"])
                say(f"note: {s['text']}")
            return
        unit = UNIT.get(s["what"])
        value = s.get(unit[1]) if unit else None
        if s["void"]:
            print(f"  run {run} {impl:7} VOID {s['what']} {s.get('size', '')}: {s['void']}", flush=True)
        elif self.args.verbose:
            print(f"  run {run} {impl:7} {n:3}/{of} {s['what']:5} {human(s['size']):>11} {value:12.1f} {unit[0]}", flush=True)

    def run(self):
        """Boot, then take all series of all runs."""
        self.prepare()
        begin = time.time()
        for run in range(1, self.args.runs + 1):
            for impl in list(self.impls):
                todo = plan(self.args, impl, self.args.rmbe)
                for _ in range(3):
                    if todo:
                        todo = self.take(impl, run, todo)
                if todo and not any(p["impl"] == impl for p in self.points):
                    say(f"{LABEL[impl]} cannot be measured here and is left out")
                    self.impls.remove(impl)
            left = (time.time() - begin) / run * (self.args.runs - run)
            say(f"run {run} of {self.args.runs} done" + (f", about {left:.0f} s left" if left else ""))

    # -- results -----------------------------------------------------------

    def summary(self):
        """Median and spread of every point, and the ratios."""
        groups = {}
        for p in self.points:
            what = p["what"] + ("-sweep" if p.get("sweep") else "")
            groups.setdefault((what, p["size"]), {}).setdefault(p["impl"], []).append(p[UNIT[p["what"]][1]])
        # The points of a sweep are not mixed with other points of the same size.
        rows = []
        for (what, size), by in sorted(groups.items(), key=lambda g: (list(TITLE).index(g[0][0]), g[0][1])):
            unit, _, more = UNIT[what.split("-")[0]]
            row = {"what": what, "size": size, "unit": unit, "values": {}, "ratios": {}}
            for impl, v in by.items():
                row["values"][impl] = {"median": statistics.median(v), "min": min(v), "max": max(v), "n": len(v)}
            ours = row["values"].get("smcr", {}).get("median")
            for impl, v in row["values"].items():
                if impl != "smcr" and ours and v["median"]:
                    row["ratios"][impl] = ours / v["median"] if more else v["median"] / ours
            rows.append(row)
        return rows

    @staticmethod
    def cliffs(rows):
        """Sizes that are much slower than the sizes beside them."""
        found = []
        for what in ("bulk-sweep", "rtt-sweep"):
            for impl in IMPLS:
                line = [(r["size"], r["values"][impl]["median"]) for r in rows
                        if r["what"] == what and impl in r["values"]]
                # as bytes per second
                speed = [(s, v if what == "bulk-sweep" else 2 * s / v) for s, v in line if v > 0]
                for i, (size, v) in enumerate(speed):
                    if not 0 < i < len(speed) - 1:
                        continue
                    near = [speed[i - 1][1], speed[i + 1][1]]
                    ratio = v / math.exp(sum(map(math.log, near)) / len(near))
                    found.append({"what": what, "impl": impl, "size": size, "ratio": ratio, "cliff": ratio < CLIFF})
        return found

    def table(self, rows, cliffs):
        """The results as text."""
        a, out = self.args, []
        out.append(f"smcr benchmark: {a.lane} lane, kernel {a.kernel}, {a.runs} runs of {a.seconds} s per point, "
                   f"{time.strftime('%Y-%m-%d %H:%M')}")
        out.append(f"host: {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end; {git()}")
        out += [f"note: {n}" for n in self.notes]
        out.append("Medians, ± half of (maximum - minimum) in percent of it. Ratios: how many times as fast (as small, for "
                   "memory) as the other smcr is;\nabove 1 smcr is better. Software RDMA: compare with raw verbs.\n")
        impls = [i for i in IMPLS if any(i in r["values"] for r in rows)]
        others = [i for i in impls if i != "smcr"]
        for what, title in TITLE.items():
            mine = [r for r in rows if r["what"] == what]
            if not mine:
                continue
            out.append(title)
            out.append(f"{'':>11}" + "".join(f"{LABEL[i]:>20}" for i in impls) + "  |" +
                       "".join(f"{'/ ' + LABEL[i]:>14}" for i in others if "smcr" in impls))
            for r in mine:
                scale = K if what == "idle" else 1
                cells = []
                for i in impls:
                    v = r["values"].get(i)
                    spread = (v["max"] - v["min"]) / v["median"] * 100 if v and v["median"] else 0
                    cells.append(f"{number(v['median'] / scale):>13} ±{spread / 2:3.0f}% " if v else f"{'-':>20}")
                ratios = [f"{r['ratios'][i]:14.2f}" if i in r["ratios"] else f"{'-':>14}"
                          for i in others if "smcr" in impls]
                out.append(f"{human(r['size']) if what not in ('conn', 'idle') else r['size']:>11}" + "".join(cells) +
                           "  |" + "".join(ratios))
            out.append("")
        if cliffs:
            for impl in impls:
                c = [x for x in cliffs if x["impl"] == impl]
                if not c:
                    continue
                worst = min(c, key=lambda x: x["ratio"])
                bad = [x for x in c if x["cliff"]]
                out.append(f"cliffs, {LABEL[impl]}: " +
                           (", ".join(f"{x['what']} {x['size']}: {x['ratio']:.2f} of its neighbours" for x in bad) or
                            f"none (worst: {worst['what']} {worst['size']}, {worst['ratio']:.2f} of its neighbours)"))
        if self.voids:
            out.append(f"\n{len(self.voids)} measurements were void (and taken again):")
            for v in self.voids[:10]:
                out.append(f"  run {v['run']} {v['impl']} {v['what']} {v['size']}: {v['void']}")
        return "\n".join(out) + "\n"

    def write(self):
        """JSON, text, plots; returns the exit status."""
        rows = self.summary()
        cliffs = self.cliffs(rows)
        text = self.table(rows, cliffs)
        folder = os.path.join(TREE, "build", "bench")
        os.makedirs(folder, exist_ok=True)
        stem = os.path.join(folder, f"{time.strftime('%Y%m%d-%H%M%S')}-{self.args.lane}-{self.args.kernel}")
        with open(stem + ".json", "w", encoding="utf-8") as f:
            json.dump({"lane": self.args.lane, "kernel": self.args.kernel, "runs": self.args.runs,
                       "seconds": self.args.seconds, "rmbe": self.args.rmbe, "buffers": self.args.buffers,
                       "revision": git(), "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "load": os.getloadavg(),
                       "cpus": os.cpu_count(), "notes": self.notes, "summary": rows, "neighbours": cliffs, "points": self.points,
                       "void": self.voids}, f, indent=1)
        with open(stem + ".txt", "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run([os.path.join(TREE, "lab", "plot"), stem + ".json"], check=False)
        for end in ("json", "txt", "png", "svg"):
            if os.path.exists(f"{stem}.{end}"):
                link = os.path.join(folder, f"last.{end}")
                if os.path.lexists(link):
                    os.unlink(link)
                os.symlink(os.path.basename(f"{stem}.{end}"), link)
        print("\n" + text)
        say(f"results: {stem}.{{json,txt,png,svg}}")
        # No absolute time is judged: each implementation must have a valid result.
        missing = [i for i in self.args.impls if not any(p["impl"] == i for p in self.points)]
        if missing:
            say("nothing valid from: " + ", ".join(LABEL[i] for i in missing))
        if self.args.strict and any(c["cliff"] for c in cliffs if c["impl"] == "smcr"):
            return 1
        return 1 if missing else 0


def say(text):
    """Print a line for the user."""
    print(f"bench: {text}", flush=True)


def number(x):
    """A number with its three or four significant digits."""
    return f"{x:.0f}" if x >= 1000 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def git():
    """Revision of the sources."""
    r = subprocess.run(["git", "-C", TREE, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return "smcr " + (r.stdout.strip() or "of unknown revision")


def arguments():
    """The command line."""
    p = argparse.ArgumentParser(prog="lab/bench", description=__doc__.split("\n", maxsplit=1)[0],
                                epilog="\n".join(__doc__.split("\n")[2:]))
    p.add_argument("--exact", action="store_true", help="cost in instructions instead: another lane, with options of its own "
                   "(--exact --help)")
    p.add_argument("--lane", choices=("uml", "qemu"), default="uml", help="default: uml")
    p.add_argument("--kernel", choices=("um", "6.1", "6.12", "7.2"), help="default: um, or 6.12 in the qemu lane; "
                   "the in-tree module can be compared on um and 6.12")
    p.add_argument("--runs", type=int, metavar="N", help="default: 5, quick: 1")
    p.add_argument("--seconds", type=float, help="per point (default: 1 on uml, 2 on qemu, quick: 0.5)")
    p.add_argument("--quick", action="store_true", help="few points, once: does it work")
    p.add_argument("--impls", default="", help="of tcp,smcr,intree,verbs,perftest (default: all that the kernel has)")
    p.add_argument("--only", default="", help="of bulk,rtt,conn,idle (default: all)")
    p.add_argument("--no-sweep", action="store_true", help="leave out the sizes around an RMBE")
    p.add_argument("--rmbe", type=int, default=262144, help="element size that the sweep goes around (default 262144)")
    p.add_argument("--buffers", type=int, help="net.{smcr,smc}.{r,w}mem for both modules, as far as "
                   "the range of each goes (default: their own defaults)")
    p.add_argument("--strict", action="store_true", help="a cliff is a failure")
    p.add_argument("-v", "--verbose", action="store_true", help="every measurement")
    p.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    a.kernel = a.kernel or ("um" if a.lane == "uml" else "6.12")
    if (a.kernel == "um") != (a.lane == "uml"):
        p.error(f"the {a.lane} lane has no kernel {a.kernel}")
    a.runs = a.runs or (1 if a.quick else 5)
    a.seconds = a.seconds or (0.5 if a.quick else 1 if a.lane == "uml" else 2)
    a.only = [x for x in a.only.split(",") if x]
    can = ["tcp", "smcr"] + (["intree"] if a.kernel in ("um", "6.12") else []) + ["verbs"] + (
        ["perftest"] if a.lane == "qemu" else [])
    a.impls = [x for x in a.impls.split(",") if x] or can
    for x in a.impls:
        if x not in can:
            p.error(f"{x}: not on {a.kernel}, which has {', '.join(can)}")
    return a


def main():
    """Returns the exit status."""
    if "--exact" in sys.argv:
        import exact  # pylint: disable=import-outside-toplevel
        return exact.main()
    args = arguments()
    if args.check:
        return 0
    bench = Bench(args)
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, lambda *_: sys.exit(1))
    try:
        bench.run()
        return bench.write()
    except (LabError, OSError) as e:
        say(f"FAILED: {e}")
        if bench.points:
            bench.write()
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return bench.write() and 1 if bench.points else 1
    finally:
        if bench.pair:
            bench.pair.halt()


if __name__ == "__main__":
    sys.exit(main())
