#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The comparison of the RDMA lab; started by lab/lab-report.

One file from guest 2 to guest 1 by RDMA WRITE, by AF_SMC with this module and
with the kernel's own, and by TCP, in turns, between ceilings measured by
perftest. bench.py measures; this file has the plan of the measurements and
their evaluation.
"""

import argparse
import glob
import itertools
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
import kernels  # noqa: E402  pylint: disable=wrong-import-position
import labhtml  # noqa: E402  pylint: disable=wrong-import-position
from bench import Bench, git  # noqa: E402  pylint: disable=wrong-import-position
from demo import make_file, size as parse_size  # noqa: E402  pylint: disable=wrong-import-position
from labcapture import KERNELS as CAPTURE_KERNELS  # noqa: E402  pylint: disable=wrong-import-position
from lab import TREE, LabError, human, read  # noqa: E402  pylint: disable=wrong-import-position

GIB = 1 << 30
# version: the Debian release that has it
KERNELS = {k: v[0] for k, v in kernels.field("from").items() if kernels.ALL[k].get("module")}
# name: implementation, further members of its points, label, how data are moved, expected seconds for 1 GiB (a first guess only)
BUFFERS = 512 << 10         # rmem and wmem: the largest possible element
LARGE = {"buffers": BUFFERS}
SERIES = {
    "verbs": ("verbs", {}, "RDMA WRITE", "raw verbs, our bulk program, 4 MiB chunks", 36),
    "smcr": ("smcr", {}, "AF_SMC, smcr", "this module as it is, plain write() and read()", 44),
    "smcr-512k": ("smcr", LARGE, "AF_SMC, smcr, 512 KiB", "the same with rmem and wmem of 512 KiB", 38),
    "intree": ("intree", {}, "AF_SMC, in-tree", "the kernel's own smc.ko as it is, plain write() and read()", 60),
    "intree-512k": ("intree", LARGE, "AF_SMC, in-tree, 512 KiB", "the same with rmem and wmem of 512 KiB", 50),
    "tcp": ("tcp", {"offload": True}, "TCP", "with GSO and GRO, plain write() and read()", 12),
    "tcp-noseg": ("tcp", {"offload": False}, "TCP, no GSO/GRO", "gso_max_segs 1, gro off, tso off, both guests", 36)}
TOOLS = ("ib_write_bw", "ib_send_bw", "ib_read_bw", "ib_write_lat", "ib_send_lat", "ib_read_lat")
SIZES = (64, 1024, 4096, 16384, 65536, 1048576)
CEILING = ("ib_write_bw", 65536)
LIMIT = 0.10                # limit of the change of the ceiling between any two of before, within the runs, after
# Expected seconds: boot; for 1 GiB, copy into a guest and sha256; for a transfer, set-up; a cell of the table; a sample
BOOT, COPY, SHA256, SETUP, CELL, SAMPLE = 30, 12, 10, 6, 2, 3.5
WRITE = 1 << 20             # bytes of each write() of the socket series
CHUNK = 4 << 20             # and of each RDMA WRITE


# ------------------------------------------------------ evaluation

def spread(values):
    """Median, least and greatest value; None without values."""
    values = [v for v in values if v is not None]
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "n": len(values)} if values else None


def paired(a, b):
    """Spread of the ratios of values of the same run, {run: value} each: a slow minute of the machine slows both."""
    return spread([a[r] / b[r] for r in sorted(a) if b.get(r)])


def moved(*phases):
    """The greatest relative change between the medians of any two phases; None when one is missing."""
    if not all(phases):
        return None
    return max(abs(b / a - 1) for a, b in itertools.combinations(map(statistics.median, phases), 2))


def by_run(values, key):
    """{run: value}"""
    return {v["run"]: v[key] for v in values}


def is_sample(p):
    """Is the point a sample of the ceiling, and not of the table?"""
    return p["what"] == "ceiling" and "nth" in p


def ceilings_beside(points):
    """For every transfer, in order: the mean of the ceilings measured just before and just after it; None if there is none."""
    out = []
    for i, p in enumerate(points):
        if p["what"] == "file":
            near = [next((q["value"] for q in part if is_sample(q)), None) for part in (points[i::-1], points[i:])]
            near = [v for v in near if v]
            out.append((p, statistics.mean(near) if near else None))
    return out


def name_of(point):
    """The series that a transfer belongs to."""
    told = {k: point[k] for k in ("offload", "buffers") if k in point}
    return next(n for n, (impl, more, *_) in SERIES.items() if (impl, more) == (point["impl"], told))


def series_of(points, digest):
    """The measurements of each series, with medians."""
    found, files = {}, ceilings_beside(points)
    for name, (_, _, label, how, _) in SERIES.items():
        mine = [(p, c) for p, c in files if name_of(p) == name]
        if not mine:
            continue
        values = [{"run": p["run"], "seconds": p["seconds"], "mbs": p["mbs"], "setup": p.get("setup"), "ceiling": c,
                   "of_ceiling": c and p["mbs"] / c, "cpu_sender": p["cpu_client"] * GIB / p["size"],
                   "cpu_receiver": p["cpu_server"] * GIB / p["size"], "same": p["sha256"] == digest,
                   "segmentation": p.get("segmentation")} for p, c in mine]
        found[name] = {"label": label, "how": how, "values": values, "equal": sum(v["same"] for v in values)}
        for key in ("seconds", "mbs", "setup", "of_ceiling", "cpu_sender", "cpu_receiver"):
            found[name][key] = spread([v[key] for v in values])
    return found


def ceiling_of(points):
    """The samples of the ceiling, and how much it has moved between the phases."""
    of = {phase: [p["value"] for p in points if is_sample(p) and p["phase"] == phase] for phase in ("before", "run", "after")}
    return {"tool": CEILING[0], "size": CEILING[1], "limit": LIMIT, **of, "all": spread(sum(of.values(), [])),
            "moved": moved(*of.values())}


def table_of(points):
    """The ceiling table: a row for each tool and size."""
    rows = {}
    for p in points:
        if p["what"] == "ceiling" and p["phase"].startswith("table-"):
            row = rows.setdefault((p["tool"], p["size"]), {
                "tool": p["tool"], "size": p["size"], "unit": "MB/s" if p["tool"].endswith("_bw") else "us",
                "before": None, "after": None})
            row[p["phase"][6:]] = p["value"]
    return [rows[k] for k in sorted(rows, key=lambda k: (TOOLS.index(k[0]), k[1]))]


def targets_of(series, ceiling, runs):
    """The targets, and whether each is held: True, False or None (not measured, or the ceiling has moved too much)."""
    out = []
    quiet = ceiling["moved"] is not None and ceiling["moved"] <= LIMIT

    def add(name, needs, text, ratio, least):
        out.append({"id": name, "needs": needs, "text": text, "value": ratio and ratio["median"], "spread": ratio, "least": least,
                    "held": None if ratio is None or not quiet else ratio["median"] >= least})
    for us, them in (("smcr", "intree"), ("smcr-512k", "intree-512k")):
        add("L6", [us], f"{SERIES[us][2]} reaches 0.90 of ib_write_bw at 64 KiB",
            series[us]["of_ceiling"] if us in series else None, .90)
        add("L6", [us, them], f"{SERIES[us][2]} is at least as fast as {SERIES[them][2]}",
            paired(*(by_run(series[n]["values"], "mbs") for n in (us, them))) if us in series and them in series else None, 1.0)
    done = sum(len(s["values"]) for s in series.values())
    equal = sum(s["equal"] for s in series.values())
    out.append({"id": "L6", "text": "the sha256 of what arrived is that of what was sent, every time", "value": equal,
                "of": done, "held": equal == done if done else None})
    m = ceiling["moved"]
    out.append({"id": "L7", "text": f"the ceiling moved by no more than {LIMIT:.0%} between before, the runs and after", "value": m,
                "most": LIMIT, "held": None if m is None else m <= LIMIT})
    for name in ("smcr", "smcr-512k"):
        if name in series and "verbs" in series:
            ratio = paired(*(by_run(series[n]["values"], "mbs") for n in (name, "verbs")))
            out.append({"id": "no target", "text": f"{SERIES[name][2]} as a part of RDMA WRITE by bulk, which sleeps while it waits",
                        "value": ratio["median"] if ratio else None, "spread": ratio, "held": None})
    complete = {n: len(s["values"]) for n, s in series.items()}
    out.append({"id": "L6", "text": f"every series has {runs} valid runs", "value": min(complete.values(), default=0),
                "of": runs, "held": bool(complete) and min(complete.values()) >= runs})
    return out


def why_void(series, ceiling, runs, wanted):
    """Why the numbers are void; empty if they are valid."""
    why = []
    if ceiling["moved"] is None:
        why.append("the ceiling was not measured before, within the runs and after: " +
                   ", ".join(f"{len(ceiling[x])} {x}" for x in ("before", "run", "after")))
    elif ceiling["moved"] > LIMIT:
        why.append(f"the ceiling ({CEILING[0]}, {human(CEILING[1])}) moved by {ceiling['moved']:.0%} between before, the runs and "
                   f"after, more than {LIMIT:.0%}: the machine was not the same")
    for name in wanted:
        n = len(series[name]["values"]) if name in series else 0
        if n < runs:
            why.append(f"{SERIES[name][2]}: {n} of {runs} runs are valid")
    for t in targets_of(series, ceiling, runs):
        if t["value"] is None and "needs" in t and set(t["needs"]) <= set(wanted):
            why.append(f"not measured: {t['text']}")
    for s in series.values():
        if s["equal"] != len(s["values"]):
            why.append(f"{s['label']}: {len(s['values']) - s['equal']} times something else arrived than was sent")
    return why


def expected(size, runs, names, sizes, samples, slow=1):
    """Estimated duration in seconds."""
    per_run = sum(cost(n, size) + SAMPLE for n in names)
    return slow * (BOOT + COPY * size / GIB + runs * per_run + 2 * (len(TOOLS) * len(sizes) * CELL + samples * SAMPLE + SETUP))


def cost(name, size):
    """Estimated seconds of one transfer, with checksum and set-up."""
    return (SERIES[name][4] + SHA256) * size / GIB + SETUP


# ------------------------------------------------------------- measuring

class Report(Bench):
    """A comparison."""

    name = "lab-report"
    programs = (["tools/smcctl"], ["lab/prog", "bench"], ["lab/rdma", "bulk"])

    def __init__(self, args):
        args.lane, args.impls, args.buffers = "qemu", ["perftest"], None
        super().__init__(args)
        self.memory = 896 + 2 * (args.size >> 20)
        self.names = [n for n in args.paths if SERIES[n][0] != "intree" or args.kernel == "6.12"]
        self.samples = 3 if args.quick else 5
        self.sizes = (64, 65536) if args.quick else SIZES
        self.all = expected(args.size, args.runs, self.names, self.sizes, self.samples, int(os.environ.get("SMCR_SLOW", "1")))
        self.done = 0               # the part of it that is done
        self.begin = time.time()
        self.digest = None
        self.machine, self.guest = machine(), {}
        if len(self.names) < len(args.paths):
            self.notes.append(f"The in-tree module is compared only on 6.12 ({KERNELS['6.12']}), not on {args.kernel} "
                              f"({KERNELS[args.kernel]}).")
        self.phase = ""

    def booted(self, took):
        """Copy the file into guest 2's memory, reserve room for it in guest 1's."""
        path = os.path.join(self.out, "pair", "file")
        say(f"two QEMU guests with Debian's {self.args.kernel} kernel are up after {took:.0f} s; logs in {self.out}")
        self.digest = make_file(path, self.args.size)
        room = (self.args.size >> 20) + 16
        for gid in (1, 2):
            self.call(gid, f"mkdir -p /run/lab && mount -t tmpfs -o size={room}M lab /run/lab")
        self.call(2, "cp $OUT/file /run/lab/file", 60 + self.args.size / 5e6)
        os.unlink(path)
        kernel, mtu, path_mtu, perftest = self.call(
            1, "uname -r; cat /sys/class/net/eth0/mtu; ibv_devinfo -d rxe0 | sed -n 's/.*active_mtu:[[:space:]]*\\([0-9]*\\).*/\\1/p'; "
               "dpkg-query -W -f '${Version}' perftest").splitlines()
        self.guest = {"kernel": kernel, "mtu": int(mtu), "path_mtu": int(path_mtu), "perftest": perftest,
                      "memory_mib": self.memory, "cpus": 1}
        self.step(BOOT + COPY * self.args.size / GIB)

    def call(self, gid, code, timeout=60):
        """Run a command in a guest and return its output."""
        rc, text = self.pair.guests[gid - 1].call(code, timeout * self.pair.slow)
        if rc != 0:
            raise LabError(f"guest {gid}: {'hangs' if rc is None else f'exit {rc}'}: {code}\n{text}")
        return text

    def more_spec(self):
        """What benchguest.py needs for transfers of a file."""
        return {"from": "/run/lab/file", "to": "/run/lab/got", "write": WRITE, "chunk": CHUNK,
                "patience": (120 + self.args.size / 1e6) * self.pair.slow}

    def patience(self, points):
        """As in Bench, with time for transfers; the limit of the guests themselves is shorter."""
        files = sum(p["what"] == "file" for p in points)
        return super().patience(points) + files * (150 + 1.3 * self.args.size / 1e6) * self.pair.slow

    def step(self, cost):
        """Count expected seconds as done."""
        self.done += cost

    def left(self):
        """Remaining time, extrapolated from the time that the work done has taken."""
        if not self.done or self.done >= self.all:
            return ""
        s = (time.time() - self.begin) / self.done * (self.all - self.done)
        return f"about {s / 60:.0f} min left" if s > 90 else f"about {s:.0f} s left"

    def show(self, impl, run, n, of, s):
        """Progress: a line for each transfer, and for each tool of the table."""
        what = s["what"]
        if what in ("end", "note") or s["void"]:
            if s["void"] or what == "note":
                super().show(impl, run, n, of, {**s, "size": s.get("tool", s.get("size", ""))})
            return
        part = 100 * self.done / self.all
        head = f"  {min(part, 99):3.0f} %  {self.left():18}  {self.phase:12}"
        if what == "file":
            name = name_of({**s, "impl": impl})
            self.step(cost(name, s["size"]))
            cpu = (s["cpu_client"] + s["cpu_server"]) * GIB / s["size"]
            print(f"{head}  {SERIES[name][2]:24} {s['seconds']:7.1f} s {s['mbs']:7.1f} MB/s  {cpu:6.1f} CPU s/GiB  "
                  f"sha256 {'equal' if s['sha256'] == self.digest else 'NOT EQUAL'}", flush=True)
        elif "nth" in s:
            self.step(SAMPLE)
            print(f"{head}  {s['tool']} {human(s['size'])}: {s['value']:.1f} MB/s", flush=True)
        else:
            self.step(CELL)
            if s["size"] == self.sizes[-1]:
                print(f"{head}  {s['tool']}: {human(self.sizes[0])} to {human(s['size'])} done", flush=True)

    def measure(self, phase, impl, run, points, show):
        """Take one series, void points up to three times, and mark the points with the phase. Returns True if all are valid."""
        self.phase = show
        begin = len(self.points)
        todo = points
        for _ in range(3):
            if todo:
                todo = self.take(impl, run, todo)
        for p in self.points[begin:]:
            p["phase"] = phase
        return not todo

    @staticmethod
    def sample(nth):
        """The point of a sample of the ceiling."""
        return {"what": "ceiling", "tool": CEILING[0], "size": CEILING[1], "times": 3, "nth": nth}

    def ceilings(self, when):
        """Measure the table and the samples of the ceiling; the samples are next to the runs in time."""
        points = [{"what": "ceiling", "tool": t, "size": s} for t in TOOLS for s in self.sizes]
        samples = [self.sample(n) for n in range(self.samples)]
        parts = [(f"table-{when}", points, f"table {when}"), (when, samples, f"ceiling {when}")]
        for phase, what, show in parts if when == "before" else parts[::-1]:
            self.measure(phase, "perftest", 0, what, show)

    def run(self):
        """Make all measurements."""
        a = self.args
        say(f"{human(a.size)}, {a.runs} runs, kernel {a.kernel}: about {self.all / 60:.0f} minutes on an idle machine "
            "(and some for what is built or fetched the first time)")
        self.prepare()
        self.ceilings("before")
        for run in range(1, a.runs + 1):
            show = f"run {run} of {a.runs}"
            for name in self.names:
                impl, more, *_ = SERIES[name]
                a.buffers = more.get("buffers")
                self.measure("run", impl, run, [self.sample(0), {"what": "file", "size": a.size, **more}], show)
        a.buffers = None
        self.ceilings("after")

    # -- results ----------------------------------------------------

    def data(self):
        """The contents of report.json."""
        series, ceiling = series_of(self.points, self.digest), ceiling_of(self.points)
        self.machine["load_after"] = os.getloadavg()
        return {"lab": 1, "time": time.strftime("%Y-%m-%d %H:%M %z"), "revision": git(), "kernel": self.args.kernel,
                "size": self.args.size, "runs": self.args.runs, "quick": self.args.quick, "took": time.time() - self.begin,
                "expected": self.all, "sha256": self.digest, "write": WRITE, "chunk": CHUNK, "machine": self.machine,
                "guest": self.guest, "series": series, "ceiling": ceiling, "table": table_of(self.points),
                "targets": targets_of(series, ceiling, self.args.runs),
                "void": why_void(series, ceiling, self.args.runs, self.names), "notes": self.notes,
                "taken_again": [{k: v.get(k) for k in ("impl", "run", "what", "size", "tool", "void")} for v in self.voids]}


def machine():
    """Description of this machine."""
    cpu = re.search(r"(?m)^model name\s*: (.*)", read("/proc/cpuinfo"))
    mem = re.search(r"MemTotal:\s*(\d+)", read("/proc/meminfo"))
    r = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=False) if shutil.which(
        "qemu-system-x86_64") else None
    return {"cpu": cpu[1] if cpu else platform.machine(), "cpus": os.cpu_count(), "memory_mib": int(mem[1]) >> 10 if mem else None,
            "kernel": platform.release(), "qemu": r.stdout.splitlines()[0] if r and r.stdout else None,
            "load_before": os.getloadavg()}


def capture(folder, notes, kernel):
    """Run lab-capture for the annotated capture, and copy its results to the report."""
    for name in labhtml.CAPTURE:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            os.unlink(path)
    if kernel not in CAPTURE_KERNELS:
        notes.append(f"lab/lab-capture does not know kernel {kernel}: no capture.")
        return
    script = os.path.join(TREE, "lab", "lab-capture")
    if not os.access(script, os.X_OK):
        notes.append("There is no lab/lab-capture in this tree: no capture.")
        return
    begin = time.time()
    say("now a short capture, explained frame by frame (lab/lab-capture)")
    r = subprocess.run([script, "--kernel", kernel], check=False)
    if r.returncode:
        notes.append(f"lab/lab-capture ended with {r.returncode}: see the checks of the capture.")
    new = [p for p in glob.glob(os.path.join(TREE, "build", "lab", "**", "explain.json"), recursive=True)
           if os.path.getmtime(p) >= begin]
    if not new:
        notes.append("lab/lab-capture left no explain.json.")
        return
    found = os.path.dirname(max(new, key=os.path.getmtime))
    notes.append(f"The capture is in {os.path.relpath(found, TREE)}.")
    os.makedirs(folder, exist_ok=True)
    for name in labhtml.CAPTURE:
        if os.path.exists(os.path.join(found, name)) and os.path.realpath(found) != os.path.realpath(folder):
            shutil.copy(os.path.join(found, name), folder)


def load(path):
    """Read a report.json that write() has made; ValueError with the reason if the file is none."""
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
    except OSError as e:
        raise ValueError(e.strerror) from e
    except ValueError as e:
        raise ValueError("not JSON") from e
    if not isinstance(data, dict) or data.get("lab") != 1:
        raise ValueError("not a report of lab/lab-report")
    try:
        # Call everything that reads it, so that nothing is written if one fails.
        labhtml.markdown(data, {})
        labhtml.html(data, {})
        summary(data)
        status(data, True)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
        raise ValueError(f"a report with something missing or wrong in it ({type(e).__name__}: {e})") from e
    return data


def unwritable(folder):
    """Create the folder. Returns why no report can be written there, or None."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for name in ("report.json", "report.md", "report.html"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                with open(path, "a", encoding="utf-8"):
                    pass
    except OSError as e:
        return f"{e.filename if os.path.exists(e.filename or '') else folder}: {e.strerror}"
    return None


def write(data, folder):
    """Write JSON, pictures, Markdown and HTML."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "report.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(data, f, indent=1)
    for old in glob.glob(os.path.join(folder, "plot-*.svg")):
        os.unlink(old)
    subprocess.run([os.path.join(TREE, "lab", "plot"), path], check=False)
    extra = labhtml.extras(folder)
    for name, text in (("report.md", labhtml.markdown(data, extra)), ("report.html", labhtml.html(data, extra))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


def status(data, require):
    """The exit status: 1 void; 3 a target is missed and `require` is set."""
    if data["void"]:
        return 1
    return 3 if require and any(t["held"] is False for t in data["targets"]) else 0


def summary(data):
    """The summary for the terminal."""
    return "\n".join([labhtml.headline(data)] +
                     [f"  {labhtml.verdict(t):12} {t['id']}: {t['text']}{labhtml.figure(t)}" for t in data["targets"]] +
                     [f"  VOID: {w}" for w in data["void"]])


def conclude(data, folder, require):
    """Print the summary; returns the exit status."""
    print("\n" + summary(data))
    say(f"report: {os.path.relpath(folder)}/report.html, report.md, report.json")
    return status(data, require)


def say(text):
    """Print a line for the user."""
    print(f"lab-report: {text}", flush=True)


def wrong(text):
    """Report wrong arguments that argparse cannot detect; returns the exit status."""
    print(f"lab-report: {text}", file=sys.stderr)
    return 2


def paths(text):
    """Names of series from text: verbs,smcr."""
    names = text.split(",")
    if not set(names) <= set(SERIES):
        raise argparse.ArgumentTypeError(f"not of {','.join(SERIES)}: {text}")
    return [n for n in SERIES if n in names]


def arguments():
    """The command line."""
    env = os.environ
    p = argparse.ArgumentParser(
        prog="lab/lab-report", description="RDMA WRITE, AF_SMC and TCP compared, as a report. It takes about 40 minutes on two "
        "idle CPUs, with --quick some minutes.", epilog="Exit status: 0 the numbers are valid; 1 they are void (the report has the reason), "
        "or there are none; 2 wrong arguments; 3 valid, but a target is missed (only with --require).")
    p.add_argument("--size", type=parse_size, default=env.get("SIZE") or None, help="bytes to move (default 1G, quick: 32M)")
    p.add_argument("--runs", type=int, metavar="N", help="default: 5, quick: 1")
    p.add_argument("--kernel", choices=KERNELS, default=env.get("KERNEL") or "6.12",
                   help="default 6.12 (KERNEL=): only it has an in-tree "
                   "module to compare with")
    p.add_argument("--paths", type=paths, default=list(SERIES), metavar="NAME,...", help=f"of {','.join(SERIES)} (default: all)")
    p.add_argument("--quick", action="store_true", help="little, once: does it work")
    p.add_argument("--no-capture", action="store_true", help="without the annotated capture")
    p.add_argument("--require", action="store_true", help="exit status 3 when a target is missed")
    p.add_argument("--out", default=os.path.join(TREE, "build", "lab"), metavar="DIR", help="default build/lab")
    p.add_argument("--render", metavar="JSON", help="only make the report again from a report.json")
    p.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    a.size = a.size or (32 << 20 if a.quick else GIB)
    if a.kernel not in KERNELS:
        p.error(f"argument --kernel: {a.kernel} is not {', '.join(KERNELS)}")
    if a.runs is None:
        a.runs = 1 if a.quick else 5
    if not 1 <= a.runs <= 100:
        p.error(f"argument --runs: {a.runs} is not 1 to 100")
    if not 1 << 20 <= a.size <= 2 * GIB:
        p.error(f"argument --size: {a.size} is not 1M to 2G")
    a.seconds = .3 if a.quick else .5
    a.verbose = False
    return a


def main():
    """Returns the exit status."""
    args = arguments()
    try:
        data = load(args.render) if args.render is not None else None
    except ValueError as e:
        return wrong(f"--render {args.render}: {e}")
    bad = unwritable(args.out)
    if bad:
        return wrong(f"--out: {bad}")
    if args.check:
        return 0
    if data:
        write(data, args.out)
        return conclude(data, args.out, args.require)
    report = Report(args)
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, lambda *_: sys.exit(1))
    failed = ""
    try:
        report.run()
    except (LabError, OSError) as e:
        failed = str(e)
        say(f"FAILED: {e}")
    except KeyboardInterrupt:
        failed = "interrupted"
        say(failed)
    finally:
        if report.pair:
            report.pair.halt()
    if not any(p["what"] == "file" for p in report.points):
        return 1
    data = report.data()
    if failed:
        data["void"].insert(0, "it ended early: " + " ".join(failed.split())[:300])
    elif not args.no_capture:
        capture(args.out, data["notes"], args.kernel)
    write(data, args.out)
    return conclude(data, args.out, args.require)


if __name__ == "__main__":
    sys.exit(main())
