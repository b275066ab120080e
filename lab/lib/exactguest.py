#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The guest's part of the exact lane; started by exact.py, on the host.

    exactguest.py SPEC      measures all series of SPEC, one JSON line for each point into SPEC.out

Client and server are both in this guest, over soft RoCE on lo.
"""

import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import benchguest  # noqa: E402  pylint: disable=wrong-import-position
from benchguest import PROG, Side  # noqa: E402  pylint: disable=wrong-import-position

HOST, PORT, RAW_PORT = "127.0.0.1", 7631, 7632
DEVICES = ("lo", "rxelo")


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
        self.side = Side({"impl": self.impl, "ko": series.get("ko"), "slow": spec["slow"], "sysctl": {}, "devices": DEVICES})
        self.flags = ["-s"] if self.impl in ("smcr", "intree") else []

    def run(self):
        """Load, warm up, measure, unload."""
        benchguest.SMCCTL = self.series.get("smcctl") or benchguest.SMCCTL
        self.side.load()
        if self.spec["profile"]:
            # where the functions of this series are
            shutil.copyfile("/proc/kallsyms", f"{self.spec['out']}/kallsyms-{self.series['name']}")
        if self.impl == "verbs":
            for p in self.series["points"]:
                self.point(p, self.verbs)
        else:
            with subprocess.Popen([f"{PROG}/bench", *self.flags, "server", str(PORT), "64"]) as server:
                try:
                    self.warm_up()
                    for p in self.series["points"]:
                        self.point(p, self.sockets)
                finally:
                    server.kill()
        self.side.unload()

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
        before = self.side.counts()
        got = json.loads(sh(f"{PROG}/bench", *self.flags, HOST, str(PORT), p["what"], str(seconds or self.spec["seconds"]),
                            str(p["size"])))
        if self.flags:
            # The server counts a connection when its Confirm has come.
            after = self.side.counts()
            made = {k: after[k] - before[k] for k in ("client", "server", "fallbacks")}
            if made != {"client": got["conns"], "server": got["conns"], "fallbacks": 0}:
                raise RuntimeError(f"{got['conns']} connections, but {made} {after.get('reasons', '')}")
        return got

    def verbs(self, p):
        """The same by queue pairs of our own."""
        with subprocess.Popen([f"{PROG}/verbs", DEVICES[1], "server", str(RAW_PORT)]) as server:
            try:
                for last in range(500):
                    try:
                        return json.loads(sh(f"{PROG}/verbs", DEVICES[1], HOST, str(RAW_PORT), p["what"],
                                             str(self.spec["seconds"]), str(p["size"])))
                    except RuntimeError as e:
                        if "refused" not in str(e) or last == 499:
                            raise
                        time.sleep(.1)
            finally:
                server.kill()
        return None

    def point(self, p, how):
        """Measure a few times, and tell the one in the middle."""
        try:
            scheduler(p["what"])
            found = [how(p) for _ in range(self.spec["times"])]
        except (RuntimeError, ValueError, KeyError) as e:
            self.emit(series=self.series["name"], **p, bad=" ".join(str(e).split()))
            return
        count = {"bulk": lambda g: g["bytes"] / p["size"], "poll": lambda g: g["bytes"] / p["size"], "rtt": lambda g: g["n"], "conn": lambda g: g["conns"]}[p["what"]]
        nth = sorted(range(len(found)), key=lambda i: found[i]["seconds"] / count(found[i]))[len(found) // 2]
        got, n = found[nth], count(found[nth])
        self.emit(nth=nth, series=self.series["name"], **p, n=n, us=got["seconds"] / n * 1e6,
                  insns=(got["seconds"] - got["idle"]) / n * 1e9 / self.spec["ns"], idle=got["idle"] / got["seconds"])


SCHED = "/sys/kernel/debug/sched/"
SLICE = next((SCHED + n for n in ("base_slice_ns", "min_granularity_ns") if os.path.exists(SCHED + n)), None)


def scheduler(what):
    """Round trips and connections: whoever runs does so until it waits. Who preempts whom depends on a history that no two
    runs share, and is worth 15 %. A bulk transfer averages over it, and needs it: its two sides run in turns."""
    if not SLICE:
        raise RuntimeError("no sched/base_slice_ns in debugfs")
    if "slice" not in scheduler.__dict__:
        with open(SLICE, encoding="ascii") as f:
            scheduler.slice = f.read().strip()
    if not benchguest.write_knob(SCHED + "features", "WAKEUP_PREEMPTION" if what in ("bulk", "poll") else "NO_WAKEUP_PREEMPTION"):
        raise RuntimeError("this kernel's scheduler has no WAKEUP_PREEMPTION")
    benchguest.write_knob(SLICE, scheduler.slice if what in ("bulk", "poll") else 100000000)


def main():
    """The command line."""
    with open(sys.argv[1], encoding="utf-8") as f:
        spec = json.load(f)
    with open(sys.argv[1] + ".out", "w", encoding="utf-8") as out:
        def emit(**what):
            out.write(json.dumps(what) + "\n")
            out.flush()
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
