# SPDX-License-Identifier: GPL-2.0
"""The simulation: both hosts in one UML kernel, in virtual time.

Hosts are network namespaces joined by veth pairs, each with a simulated RNIC.
Time moves only while everything sleeps, and all randomness comes from a seed:
the same cases with the same seed write the same kernel log. So nothing from
outside reaches the guest while it runs: it finds all of its work when it
starts (lib/simhost runs it), and the host only reads the files that it writes.
"""

import functools
import itertools
import os
import re
import shutil
import threading
import time

import cases as caselib
import kernels
from lab import LIB, LIBC, TREE, Guest, LabError, Pair, offspring, read, script, tail

START = 1800000000 * 10**9  # when a guest's clock starts, ns since 1970
# Parameters of the RNICs. Each transfer takes time: else a program that sends as fast as it can would never get to the end
# of an instant. The GIDs are as those of soft RoCE. With a third of the bandwidth, as on the debug kernel, a program that
# sends all it can for some time costs a third.
KNOBS = {"latency": 20000, "gid_types": 2}
SMP = os.path.join(TREE, "selftests", "smp")
KNOBS_H = os.path.join(TREE, "selftests", "mod", "rnicsim", "knobs.h")
FNM_EXTMATCH = 1 << 5
NOT_DEBUG = "/dereg_mr=fail"    # as in prog/simsweep.sh
BANDWIDTH = {"um": 1000, "umdbg": 333}      # of other kernels: that of umdbg
SHARE = 4                   # smcr gives another namespace one part in SHARE of what it gives the first one
BATCH = 24                  # most cases of one guest
SPINS = kernels.field("virtual")
# Kernels with several processors: their time is the machine's, and their limits count in it.
QEMU = kernels.field("qemu")
QEMU_WORDS = kernels.field("cmdline")
REAL = ("umsmp", *QEMU)
# Options that a seed may leave out, so that seeds have all combinations in turn; seed 1 has both, and no threaded interrupts.
VARY = ("workqueue.debug_force_rr_cpu=1", "workqueue.default_affinity_scope=cpu")
KNOBS_REAL = {"cq_cpu": 1}  # completions come on the processor that did not post
ENDS = 300                  # seconds of a guest's time that its end may take (leaks, power-off)
SILENT = 30                 # seconds without a sign of life from such a guest; $SLOW-fold, as all its limits
STUCK = 20                  # so many times as long on the clock on the wall, and something is wrong with this machine


def by_seed(kernel, seed, words):
    """The command line of a guest with several processors, less the options that its seed leaves out; `threadirqs` with some seeds."""
    n = seed - 1
    left_out = {w for i, w in enumerate(VARY) if n >> i & 1}
    return [w for w in words if w not in left_out] + ["threadirqs"] * (kernel in QEMU and n >> len(VARY) & 1)


class Processors:
    """Pins each guest to a processor. Its processes run in turns, and to wake one on another processor is a third of the cost."""

    def __init__(self, all_of_them):
        first = os.getpid() % len(all_of_them)      # another process with guests begins elsewhere
        self.guests = dict.fromkeys(all_of_them[first:] + all_of_them[:first], 0)
        self.lock = threading.Lock()

    def take(self):
        """Choose the one with the fewest guests."""
        with self.lock:
            cpu = min(self.guests, key=lambda c: self.guests[c])
            self.guests[cpu] += 1
        return cpu

    def give_back(self, cpu):
        """Release the processor of a guest."""
        with self.lock:
            self.guests[cpu] -= 1


PROCESSORS = Processors(sorted(os.sched_getaffinity(0)))


class Virtual(Pair):
    """One guest, whatever runs in it; in virtual time if its kernel has that."""

    cpu = None
    begin = 0.0

    def start(self, seed, *words):
        """Boot it; `words` are options of its init."""
        if self.lane == "qemu":
            self._start_qemu(by_seed(self.kernels[0], seed, (*QEMU_WORDS[self.kernels[0]], *words)))
            return
        _, linux, modroot, _ = script("umkernel", self.kernels[0])
        os.makedirs(self.path("uml"), exist_ok=True)
        self.begin = time.time()
        # The command line is an input of the random pool: nothing in it differs from run to run, so there are no paths.
        cmd = ["setarch", "-R", linux, f"mem={self.memory}M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
               f"init={LIB}/init-uml", "con=null", "con0=null,fd:1", "uml_dir=uml", "umid=sim",
               *([] if self.real else ["time-travel=inf-cpu", f"time-travel-start={START}", f"random-seed={seed}"]),
               *words, *self.words(0, modroot, "/proc/self/cwd")]
        if self.real:
            cmd = by_seed(self.kernels[0], seed, cmd)
        self.guests.append(Guest(self, 1, cmd, cwd=self.out, env={"PATH": os.environ.get("PATH", ""), "HOME": "/root"}))
        if not self.real:
            self.cpu = PROCESSORS.take()
            os.sched_setaffinity(self.guests[0].proc.pid, {self.cpu})

    def _start_qemu(self, words):
        self.begin = time.time()
        smp = [w.format(half=self.memory // 2) for w in QEMU[self.kernels[0]]]
        cmd = [*self.qemu(0, ("-accel", "tcg,thread=multi"), words, smp),
               "-chardev", f"file,id=con,path={self.path('console1.log')}"]
        self.guests.append(Guest(self, 1, cmd))

    @property
    def real(self):
        """Whether its time is the machine's."""
        return self.kernels[0] in REAL

    def halt(self):
        super().halt()
        if self.cpu is not None:
            PROCESSORS.give_back(self.cpu)
            self.cpu = None

    def spent(self):
        """Processor time of the guest in seconds; in real time the time since its start."""
        if self.real:
            return time.time() - self.begin
        root = self.guests[0].proc.pid if self.guests else 0
        # its own, that of its processes, and of those that have ended
        return (sum(map(ticks, [root, *offspring(root)])) + ticks(root, 13)) / os.sysconf("SC_CLK_TCK") if root else 0


class Meter:
    """What a guest spends its processor time on, by phases. All phases but OTHERS are those of the cases."""

    OTHERS = ("boot", "between cases", "leaks", "power-off")

    def __init__(self, spent):
        self.spent, self.phase, self.total, self.sums = spent, "boot", 0.0, {}

    def enter(self, phase):
        """Begin a phase. All that was spent since the last call counts for the phase before."""
        if phase != self.phase:
            now = max(self.total, self.spent())
            self.sums[self.phase] = self.sums.get(self.phase, 0) + now - self.total
            self.phase, self.total = phase, now

    def cases(self):
        """The time that was spent on cases before this phase."""
        return self.total - sum(self.sums.get(p, 0) for p in self.OTHERS)


class Sim(Virtual):
    """Two hosts in one guest, with all that they will do."""

    def __init__(self, kernel, nics, lan, memory, out, seed, rnic, knobs=None):  # pylint: disable=too-many-arguments
        super().__init__("qemu" if kernel in QEMU else "uml", (kernel, kernel), nics, memory * SHARE, out, lan=lan)
        self.seed, self.rnic = seed, rnic
        self.knobs = {**KNOBS, "bandwidth": BANDWIDTH.get(kernel, BANDWIDTH["umdbg"]), **(KNOBS_REAL if self.real else {}), **(knobs or {})}
        if not self.real:
            # Not even a slow kernel takes virtual time, and other work on this machine does not matter.
            self.slow = self.busy = 1
        self.work = 0
        self.meter = Meter(self.spent)

    def add(self, codes):
        """One more piece of bash for both hosts, {host: code}; both begin with the next one together. Returns its name."""
        name = f"{self.work:04d}"
        self.work += 1
        for host, code in codes.items():
            folder = self.path(f"cmd{host}")
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, name + ".run"), "w", encoding="utf-8") as f:
                f.write(code)
        return name

    def answer(self, host, name):
        """The output of a piece, or None if it has not ended."""
        base = self.path(f"cmd{host}/{name}")
        return read(base + ".out") if os.path.exists(base + ".rc") else None

    def boot(self):
        """Start the guest; its work was added before."""
        begin = time.time()
        if self.rnic:
            shutil.copy(self.rnic, self.path("rnicsim.ko"))
        self.start(self.seed, "smcr_fabric=sim", "smcr_rnic=" + ("rnicsim.ko" if self.rnic else "none"), f"smcr_seed={self.seed}",
                   f"smcr_knobs={','.join(f'{k}={v}' for k, v in self.knobs.items())}")
        return time.time() - begin

    def stopped(self):
        """Why the guest stopped before the next case, or nothing."""
        return read(self.path("stop"))

    def end_early(self):
        """Let the guest stop after the case that it runs."""
        with open(self.path("late"), "w", encoding="utf-8") as f:
            f.write("the time is over\n")

    def spinning(self):
        """The program that has the processor of a guest that does not answer, as far as the host can see that."""
        root = self.guests[0].proc.pid
        busy = {}
        for pid in [root, *offspring(root)]:
            busy[pid] = ticks(pid)
        time.sleep(0.5)
        busy = {pid: ticks(pid) - t for pid, t in busy.items()}
        most = max(busy, key=lambda pid: busy[pid])
        if most == root:
            # The tracer is busiest with the process that makes most system calls.
            rest = {pid: n for pid, n in busy.items() if pid != root and n}
            if not rest:
                return "the kernel"
            most = max(rest, key=lambda pid: rest[pid])
        return command_of(most) or "a process"


def knobs():
    """The knobs of rnicsim, from its source: {name: (least, most)}. Its module would ignore any other parameter."""
    found = re.findall(r"X\(\w+, (\w+), [^,]+, ([^,]+), ([^,]+), RS_", read(KNOBS_H))
    value = {"U32_MAX": 2**32 - 1, "1 << 20": 1 << 20}
    return {name: tuple(value.get(v) or int(v) for v in limits) for name, *limits in found}


def knob(text):
    """NAME=NUMBER as the module takes it: (name, number); ValueError otherwise."""
    there, (name, _, value) = knobs(), text.partition("=")
    if name not in there:
        raise ValueError(f"rnicsim has no knob '{name}', only {', '.join(there)}")
    least, most = there[name]
    if not re.fullmatch(r"\d+", value, re.A) or not least <= int(value) <= most or name == "mtu" and int(value).bit_count() != 1:
        raise ValueError(f"{name} is a {'power of two' if name == 'mtu' else 'number'}, {least}..{most}, not '{value}'")
    return name, int(value)


def sweep_steps(text, names, kernel):
    """
    The steps of which $SWEEP chooses a combination; ValueError if a word of it chooses none. prog/simsweep matches the
    names again, and it alone evaluates N%M, which has combinations of each step.
    """
    part = re.fullmatch(r"(\d+)%(\d+)", text, re.A)
    if part and int(part.group(1)) >= int(part.group(2)):
        raise ValueError(f"{text}: of {part.group(2)} parts the last one is {int(part.group(2)) - 1}%{part.group(2)}")
    if part:
        return {n.partition("/")[0] for n in names}
    chosen = set()
    for pattern in text.split():
        found = [n for n in names if not LIBC.fnmatch(pattern.encode(), n.encode(), FNM_EXTMATCH)]
        if not found:
            raise ValueError(f"no combination is '{pattern}'; selftests/prog/simsweep -l lists them")
        found = [n for n in found if kernel not in caselib.DEBUG or not n.endswith(NOT_DEBUG)]
        if not found:
            raise ValueError(f"'{pattern}' is for --kernel um only: what is lost there by design is a leak for the debug kernel")
        chosen |= {n.partition("/")[0] for n in found}
    return chosen


def sweep_names(listed):
    """The names that $SWEEP may choose: those that simsweep -l lists, and the run of each step without a fault."""
    names = listed.split()
    return names + [f"{step}/none" for step in dict.fromkeys(n.partition("/")[0] for n in names)]


def step_of(case):
    """The step that a case sweeps, or nothing."""
    m = re.search(r"^client\(\) \{ sweep ([a-z-]+); \}$", read(case.path), re.M)
    return m.group(1) if m else ""


def ticks(pid, first=11):
    """Processor time of a process; with first=13 that of its children that have ended."""
    words = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(words[first]) + int(words[first + 1]) if len(words) > 14 else 0


def command_of(pid):
    """The command line of a guest's process, which is only in its own memory: at the end of its stack."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
            # the ends of mappings of the guest's memory, a file that is deleted
            ends = [int(l.split()[0].split("-")[1], 16) for l in f if l.rstrip().endswith("(deleted)") and " rw" in l]
        with open(f"/proc/{pid}/mem", "rb") as f:
            for end in sorted(ends, reverse=True):
                f.seek(end - 4096)
                found = arguments(f.read(4096))
                if found:
                    return found
    except OSError:
        pass
    return ""


def arguments(page):
    """A program's arguments from the last page of its stack, where the environment and its path follow; or only its path."""
    m = re.search(rb"((?:[ -~\t\n]+\0)*)(/[ -~]+)\0*$", page)
    if not m:
        return ""
    words = m.group(1).decode().split("\0")[:-1]
    first = next((n for n, w in enumerate(words) if re.match(r"[A-Za-z_]\w*=", w)), len(words))
    return " ".join(words[:first]) or m.group(2).decode()


def why_not(case, kernel):
    """Why a case cannot be run in the simulation, as (group, reason), or None."""
    if case.fabric:
        return case.fabric
    if case.capture:
        return "packets", "it captures packets"
    if "intree" in case.module:
        return "kernel", "there is one SMC in a kernel"
    # A case that takes too long in a pair of QEMU guests does not in one guest: a lack of the qemu lane is no reason.
    if "uml" not in case.lanes:
        return "kernel", "it needs " + " ".join(case.lanes)
    if not case.meant_for(kernel):
        return "kernel", "it needs " + " ".join(case.kernels + case.needs)
    for kernels, why in not_smp().get(case.name, ()) if kernel in REAL else ():
        if not kernels or kernel in kernels:
            return "real", why
    return None


@functools.cache
def not_smp():
    """The cases that cannot be run on several processors in real time, and why, of selftests/smp."""
    return parse_smp(read(SMP))


def parse_smp(text):
    """{case: [(kernels, none for all; reason)]}; ValueError if a line has not the form that its first lines describe."""
    found = {}
    for n, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        words, _, why = line.partition(": ")
        name, *kernels = words.split() or [""]
        if not re.fullmatch(r"\d\d\w*-[\w-]+", name) or not why.strip() or not set(kernels) <= set(REAL):
            raise ValueError(f"selftests/smp:{n}: not 'CASE [KERNEL...]: REASON'")
        if any(not k or not kernels or set(k) & set(kernels) for k, _ in found.get(name, ())):
            raise ValueError(f"selftests/smp:{n}: the second reason of its case")
        found.setdefault(name, []).append((kernels, why.strip()))
    return found


def grouped(reasons):
    """Lines with the cases that were not run, and why, by group. reasons: [(case name, group, reason)]."""
    out = []
    for group in sorted({g for _, g, _ in reasons}):
        mine = [(name, why) for name, g, why in reasons if g == group]
        out.append(f"{GROUPS[group]}: {len(mine)}")
        out += [f"    {name}: {why}" for name, why in sorted(mine)]
    return out


GROUPS = {
    "packets": "they look at packets, or do something to them",
    "kernel": "they need another kernel, or a kernel for each host",
    "rxe": "they are about soft RoCE",
    "clock": "they measure the machine",
    "real": "they need virtual time, or one processor",
}


def difference(first, second):
    """Where the kernel logs of two runs differ: (case or "", line of the first, of the second), or None."""
    case = ""
    for a, b in itertools.zip_longest(first.splitlines(), second.splitlines(), fillvalue="(nothing)"):
        if a != b:
            return case, a, b
        m = re.search(r"smcr-case (BEGIN|END) (\S+)", a)
        if m:
            case = m.group(2)
    return None


class Watchdog:
    """Finds a guest that spins: in virtual time a loop that polls the clock never ends."""

    def __init__(self, limit, spent, clock=time.time):
        self.limit, self.spent, self.clock = limit, spent, clock
        self.seen = self.since = self.begin = None
        self.looked = 0

    def expired(self, state):
        """Whether `state` is the same although too much processor time was spent, which is read once in a second."""
        now = self.clock()
        if state != self.seen:
            self.seen, self.since, self.begin = state, now, None
            return False
        if now - self.looked < 1:
            return False
        self.looked = now
        spent = self.spent()
        if self.begin is None:
            self.begin = spent
        return spent - self.begin > self.limit or now - self.since > self.limit * STUCK


class Silence:
    """Finds a guest in real time that gives no sign of life, or takes too long: each of its own waits has a limit."""

    def __init__(self, limit, silent, clock=time.time):
        self.silent, self.clock = silent, clock
        self.end, self.seen, self.since = clock() + limit, None, clock()

    def expired(self, state):
        """Whether its time is over, or `state` is the same for too long."""
        now = self.clock()
        if state != self.seen:
            self.seen, self.since = state, now
        return now > self.end or now - self.since > self.silent


def sizes(folder):
    """Names and sizes of the files in a folder, which change as long as a guest writes there."""
    try:
        return tuple((e.name, e.stat().st_size) for e in os.scandir(folder))
    except OSError:
        return ()
