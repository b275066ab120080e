#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The guest's part of the exact lane; started by exact.py, on the host.

    exactguest.py SPEC      measures all series of SPEC, one JSON line for each point into SPEC.out

Client and server are both in this guest, over soft RoCE on lo; or in a network
namespace each, over two simulated RNICs.
"""

import contextlib
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import benchguest  # noqa: E402  pylint: disable=wrong-import-position
from benchguest import PROG, Side  # noqa: E402  pylint: disable=wrong-import-position

HOST, PORT, RAW_PORT, SMC_PORT = "127.0.0.1", 7631, 7632, 7633
DEVICES = ("lo", "rxelo")
HOSTS = ("h1", "h2")        # namespaces of server and client on simulated RNICs
HUB, PEER, PEERS = "hub", "peer", 64    # those of the point peers: the server's, and the names of the others without their numbers
LIBC = ctypes.CDLL(None, use_errno=True)
# Of core functions that lead to the adapter and to others alike (lib/exactprof.c): the timers that stand for its wire and
# its interrupts are its own, and what else interrupts, or takes up work, is not.
TIMERS = ("sysvec_apic_timer_interrupt", "__sysvec_apic_timer_interrupt", "hrtimer_interrupt", "hrtimer_run_softirq", "__hrtimer_run_queues")
OTHERS = ("handle_softirqs", "__do_softirq", "irq_poll_softirq", "irq_exit_rcu", "__irq_exit_rcu", "hrtimer_wakeup", "tick_nohz_handler",
          "tick_sched_timer", "do_syscall_64", "entry_SYSCALL_64", "schedule", "__schedule", "process_one_work", "worker_thread", "do_idle")
BURST = 10 << 20            # bytes in each direction
SILENCE = 10                # seconds after it, virtual
ENTRY = re.compile(r"asm_(exc|sysvec|common_interrupt|spurious_interrupt)")


@contextlib.contextmanager
def inside(netns):
    """With this network namespace, and so the programs that are started."""
    def enter(path):
        fd = os.open(path, os.O_RDONLY)
        try:
            if LIBC.setns(fd, 0x40000000):
                raise OSError(ctypes.get_errno(), f"setns {path}")
        finally:
            os.close(fd)

    enter(f"/run/netns/{netns}")
    try:
        yield
    finally:
        enter("/proc/1/ns/net")


def batch(*lines):
    """ip, once for many commands."""
    r = subprocess.run(["ip", "-batch", "-"], input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=False)
    if r.returncode:
        raise RuntimeError(f"ip: {r.stderr.strip()[-300:]}")


def sh(*cmd, command=benchguest.sh, **_):
    """As benchguest's, without a limit: while the guest waits for the host's files its clock jumps from timer to timer, and
    would run out any. The host has limits of its own."""
    return command(*cmd, timeout=None)


benchguest.sh = sh


class Series:
    """One implementation's points."""

    def __init__(self, spec, series, emit):
        self.spec, self.series, self.emit = spec, series, emit
        self.impl = series["impl"]
        self.sim = bool(spec.get("rnic"))
        self.host = "10.77.0.1" if self.sim else HOST
        self.hosts = HOSTS
        # Without a network ID the in-tree module takes the RNIC of the interface that leads to the peer.
        self.side = Side({"impl": "smcr" if self.impl == "beside" else self.impl, "ko": series.get("ko"), "slow": spec["slow"], "sysctl": {},
                          "devices": None if self.sim else DEVICES})
        self.flags = ["-s"] if self.impl in ("smcr", "intree") else []

    def at(self, host):
        """Where server and client (0, 1) are."""
        return inside(self.hosts[host]) if self.sim else contextlib.nullcontext()

    def counts(self):
        """Connections, of both hosts."""
        found = []
        for host in range(len(self.hosts) if self.sim else 1):
            with self.at(host):
                found.append(self.side.counts())
        return {k: sum(f[k] for f in found) for k in ("client", "server", "fallbacks")} | {"reasons": [f.get("reasons") for f in found]}

    def run(self):
        """All of this series."""
        benchguest.SMCCTL = self.series.get("smcctl") or benchguest.SMCCTL
        if self.series["points"]:
            self.measure()
        for p in self.series["memory"]:
            self.memory(p)

    def measure(self):
        """Load, warm up, measure, unload."""
        self.side.load()
        if self.spec["profile"]:
            # where the functions of this series are
            shutil.copyfile("/proc/kallsyms", f"{self.spec['out']}/kallsyms-{self.series['name']}")
        if self.sim:
            self.write_ranges(f"{self.spec['out']}/ranges")
        if self.impl in ("verbs", "chain"):
            for p in self.series["points"]:
                self.point(p, self.verbs)
        else:
            with self.server():
                self.warm_up()
                with self.neighbour():
                    for p in self.series["points"]:
                        if p["what"] != "peers":
                            self.point(p, self.sockets)
            for p in self.series["points"]:
                if p["what"] == "peers":
                    with self.among_peers():
                        self.point(p, self.peers)
        self.side.unload()

    @contextlib.contextmanager
    def server(self, touch=True):
        """The program that answers. `touch`: with memory for large messages at once, on simulated RNICs."""
        with self.at(0):
            server = subprocess.Popen([f"{PROG}/bench", *self.flags, *["-t"] * (self.sim and touch), "server", str(PORT), "80"])
        with server:
            try:
                yield
            finally:
                server.kill()

    def wait_for_server(self):
        """Until it listens, without a connection."""
        for _ in range(500):
            with self.at(0), open("/proc/thread-self/net/tcp", encoding="ascii") as f:
                if any(w[1].endswith(f":{PORT:04X}") and w[3] == "0A" for w in map(str.split, f)):
                    return
            time.sleep(.1)
        raise RuntimeError("the server does not listen")

    def made(self, before, conns):
        """`conns` connections since `before`, each of the kind that it is said to be, or RuntimeError."""
        if self.flags:
            # The server counts a connection when its Confirm has come.
            after = self.counts()
            made = {k: after[k] - before[k] for k in ("client", "server", "fallbacks")}
            # The ends of the clients of the point peers are not looked at.
            if made != {"client": conns if self.hosts == HOSTS else 0, "server": conns, "fallbacks": 0}:
                raise RuntimeError(f"{conns} connections, but {made} {after.get('reasons', '')}")

    @contextlib.contextmanager
    def among_peers(self):
        """A host with the server, and PEERS others with a MAC, an RNIC and so a link group each; on one bridge. (The in-tree
        module does not find the RNIC of a macvlan.)"""
        names = [HUB, *(f"{PEER}{i}" for i in range(PEERS))]
        sh("modprobe", "bridge")
        batch("link add lan type bridge", "link set lan up", *(f"netns add {n}" for n in names),
              *(f"link add {n} master lan mtu 9000 up type veth peer name eth0 netns {n} mtu 9000 address 52:54:00:01:00:{i:02x}"
                for i, n in enumerate(names)))
        for i, name in enumerate(names):
            with inside(name):
                batch("link set eth0 up", f"addr add 10.78.0.{i + 1}/24 dev eth0")
                sh("rdma", "link", "add", f"{name}sim", "type", "rnicsim", "netdev", "eth0")
        hosts, host = self.hosts, self.host
        self.hosts, self.host = (HUB,), "10.78.0.1"
        try:
            time.sleep(1)       # virtual
            # The link groups need that memory.
            with self.server(touch=False):
                self.wait_for_server()
                yield
        finally:
            self.hosts, self.host = hosts, host
            batch(*(f"netns del {n}" for n in names), "link del lan")
            time.sleep(2)       # virtual: namespaces end later

    def peers(self, p):
        """One measurement of a connection to each peer; the server has a link group for each."""
        before = self.counts()
        got = json.loads(sh(f"{PROG}/bench", *self.flags, "-N", PEER, self.host, str(PORT), "many", str(self.spec["seconds"]), str(p["size"])))
        self.made(before, PEERS)
        with self.at(0):
            groups = self.side.groups()
        if got["conns"] != PEERS or groups != (PEERS if self.flags else 0):
            raise RuntimeError(f"{got['conns']} connections, and {groups} link groups for {PEERS} peers")
        return got

    def memory(self, p):
        """Memory of a connection of both ends before it is used, and some time after each has had a burst."""
        self.side.load()
        try:
            with self.server():
                self.emit(series=self.series["name"], **p, **self.burst(p["size"]))
        except (RuntimeError, OSError, ValueError) as e:
            self.emit(series=self.series["name"], **p, bad=" ".join(str(e).split()))
        self.side.unload()

    def burst(self, conns):
        """{idle, burst: bytes of each of so many connections}"""
        self.wait_for_server()
        before, free = self.counts(), []
        with self.at(1):
            prog = subprocess.Popen([f"{PROG}/bench", *self.flags, self.host, str(PORT), "burst", str(conns), str(BURST)],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with prog:
            try:
                for _ in range(3):
                    if not prog.stdout.readline():
                        raise RuntimeError("the connections were not made, or have ended")
                    time.sleep(SILENCE)
                    free.append(benchguest.free_memory())
                    prog.stdin.write(".")
                    prog.stdin.flush()
                if prog.wait():
                    raise RuntimeError("the connections did not end well")
            finally:
                prog.kill()
        self.made(before, conns + 1)
        return {"idle": round((free[0] - free[1]) / conns), "burst": round((free[0] - free[2]) / conns)}

    @contextlib.contextmanager
    def neighbour(self):
        """TCP beside smcr: a server and an idle client of AF_SMC."""
        if self.impl != "beside":
            yield
            return
        with contextlib.ExitStack() as stack:
            for host, args in ((0, ("server", str(SMC_PORT))), (1, (self.host, str(SMC_PORT), "idle", "1"))):
                with self.at(host):
                    prog = stack.enter_context(subprocess.Popen([f"{PROG}/bench", "-s", *args], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))
                stack.callback(prog.kill)
                time.sleep(.5)      # virtual
            found = self.counts()
            if not found["client"] or found["fallbacks"]:
                raise RuntimeError(f"no link group beside TCP: {found}")
            yield

    def write_ranges(self, path):
        """For the profiler. TCP has no adapter: no code is the adapter's."""
        found = []
        if self.impl not in ("tcp", "beside"):
            with open("/proc/kallsyms", encoding="ascii") as f:
                found = ranges(f)
        with open(path + ".new", "w", encoding="ascii") as f:
            f.writelines(f"{low:x} {high:x} {whose}\n" for low, high, whose in found)
        os.rename(path + ".new", path)

    def warm_up(self):
        """Until the server listens; then what only the first connections pay for."""
        for last in range(500):
            try:
                self.sockets({"what": "conn", "size": 1}, .05)
                break
            except RuntimeError as e:
                if "refused" not in str(e) or last == 499:
                    raise
                time.sleep(.1)
        for what, size in (("bulk", 1 << 20), ("rtt", 1024)):
            self.sockets({"what": what, "size": size}, .02)

    def sockets(self, p, seconds=None):
        """One measurement; all its connections were of the kind that they are said to be."""
        before = self.counts()
        with self.at(1):
            got = json.loads(sh(f"{PROG}/bench", *self.flags, self.host, str(PORT), p["what"], str(seconds or self.spec["seconds"]),
                                str(p["size"])))
        self.made(before, got["conns"])
        return got

    def verbs(self, p):
        """The same by queue pairs of our own."""
        what = "chain" if self.impl == "chain" else p["what"]
        with subprocess.Popen([f"{PROG}/verbs", DEVICES[1], "server", str(RAW_PORT)]) as server:
            try:
                for last in range(500):
                    try:
                        return json.loads(sh(f"{PROG}/verbs", DEVICES[1], HOST, str(RAW_PORT), what,
                                             str(self.spec["seconds"]), str(p["size"])))
                    except RuntimeError as e:
                        if "refused" not in str(e) or last == 499:
                            raise
                        time.sleep(.1)
            finally:
                server.kill()
        return None

    def point(self, p, how):
        """Measure a few times; the one in the middle counts."""
        def writes(got):
            return got["bytes"] / p["size"]
        try:
            # The figures on simulated RNICs are of transfers in turns.
            scheduler(self.sim and p["what"] in ("bulk", "poll", "nagle"))
            found = [how(p) for _ in range(self.spec["times"])]
        except (RuntimeError, ValueError, KeyError) as e:
            self.emit(series=self.series["name"], **p, bad=" ".join(str(e).split()))
            return
        count = {"bulk": writes, "poll": writes, "nagle": writes, "conn": lambda g: g["conns"]}.get(p["what"], lambda g: g["n"])
        nth = sorted(range(len(found)), key=lambda i: found[i]["seconds"] / count(found[i]))[len(found) // 2]
        got, n = found[nth], count(found[nth])
        self.emit(nth=nth, series=self.series["name"], **p, n=n, us=got["seconds"] / n * 1e6,
                  insns=(got["seconds"] - got["idle"]) / n * 1e9 / self.spec["ns"], idle=got["idle"] / got["seconds"])


SCHED = "/sys/kernel/debug/sched/"
SLICE = next((SCHED + n for n in ("base_slice_ns", "min_granularity_ns") if os.path.exists(SCHED + n)), None)


def scheduler(turns):
    """Whoever runs does so until it waits, unless `turns`. Who preempts whom depends on a history that no two runs share, and
    is worth 15 % of a round trip, and 10 % of a write of 16 KiB: a reader that is awake by the end of each write makes
    every write a post of its own, and one that waits for its turn finds some of them together."""
    if not SLICE:
        raise RuntimeError("no sched/base_slice_ns in debugfs")
    if "slice" not in scheduler.__dict__:
        with open(SLICE, encoding="ascii") as f:
            scheduler.slice = f.read().strip()
    if not benchguest.write_knob(SCHED + "features", "WAKEUP_PREEMPTION" if turns else "NO_WAKEUP_PREEMPTION"):
        raise RuntimeError("this kernel's scheduler has no WAKEUP_PREEMPTION")
    benchguest.write_knob(SLICE, scheduler.slice if turns else 100000000)


def ranges(kallsyms):
    """Whose code is where, for the profiler: [(low, high, whose)]."""
    syms = sorted((int(m[1], 16), m[2], m[3] or "") for m in
                  (re.match(r"([0-9a-f]+) [tTwW] (\S+)(?:\s+\[(\S+)\])?", line) for line in kallsyms) if m)
    modules, found = {}, []
    for addr, _, module in syms:
        low, high = modules.get(module, (addr, addr))
        modules[module] = min(low, addr), max(high, addr)
    # the first one that fits counts: BPF programs are all over the place
    for module, (low, high) in sorted(modules.items(), key=lambda m: m[0] != "rnicsim"):
        if module:
            found.append((low & ~4095, (high + 4096) & ~4095, "a" if module == "rnicsim" else "o"))
    for (addr, name, _), (end, _, _) in zip(syms, syms[1:]):
        whose = "a" if name in TIMERS else "o" if name in OTHERS else "e" if ENTRY.match(name) else ""
        if whose:
            found.append((addr, max(end, addr + 1), whose))
    return found


def rnics(spec):
    """Two namespaces with a cable between them, and a simulated RNIC each."""
    for module in ("veth", *sh("modinfo", "-F", "depends", spec["rnic"]).strip().split(",")):
        if module:
            sh("modprobe", module)
    sh("insmod", spec["rnic"], *(f"{k}={v}" for k, v in spec["knobs"].items()))
    sh("rdma", "system", "set", "netns", "exclusive")
    for name in HOSTS:
        sh("ip", "netns", "add", name)
    ends = [("eth0", "netns", name, "mtu", "9000", "address", f"52:54:00:00:00:0{n}") for n, name in enumerate(HOSTS, 1)]
    sh("ip", "link", "add", *ends[0], "type", "veth", "peer", "name", *ends[1])
    for n, name in enumerate(HOSTS, 1):
        with inside(name):
            sh("ip", "link", "set", "lo", "up")
            sh("ip", "link", "set", "eth0", "up")
            sh("ip", "addr", "add", f"10.77.0.{n}/24", "dev", "eth0")
            sh("rdma", "link", "add", f"sim{n}", "type", "rnicsim", "netdev", "eth0")


def main():
    """The command line."""
    with open(sys.argv[1], encoding="utf-8") as f:
        spec = json.load(f)
    with open(sys.argv[1] + ".out", "w", encoding="utf-8") as out:
        def emit(**what):
            out.write(json.dumps(what) + "\n")
            out.flush()
        if spec.get("rnic"):
            rnics(spec)
        else:
            sh("rdma", "link", "add", DEVICES[1], "type", "rxe", "netdev", DEVICES[0])
            sh("ip", "link", "set", "lo", "mtu", "9000")
        time.sleep(1)           # virtual
        for run in range(1, spec["runs"] + 1):
            for series in spec["series"]:
                try:
                    Series(spec, series, lambda **w: emit(run=run, **w)).run()  # pylint: disable=cell-var-from-loop
                except (RuntimeError, OSError) as e:
                    emit(run=run, series=series["name"], what="series", size=0, bad=" ".join(str(e).split()))
        emit(what="end", system=" ".join(os.uname()[2:4]))


if __name__ == "__main__":
    main()
