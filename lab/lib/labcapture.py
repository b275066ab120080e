#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A short session between two guests, captured outside of them, and explained.

Started by lab/lab-capture, which describes it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
from demo import BEGIN, Show, indent, step  # noqa: E402  pylint: disable=wrong-import-position
from lab import TREE, LabError, read  # noqa: E402  pylint: disable=wrong-import-position

KERNELS = ("6.1", "6.12")
SIZES = "64,65536,1048576"
SNAP = 65536                # packets are captured completely
MOVED = 9000                # bytes of a connection after the cut
# Independent of the defaults; a dead link is detected after half a second.
KNOBS = "sysctl -qw net.smcr.max_links=2 net.smcr.qp_timeout=14"
EXPLAIN = os.path.join(TREE, "lab", "lab-explain")


class LabCapture(Show):
    """The session of lab/prog/session.sh."""
    NAME, PROG = "lab-capture", ("selftests/prog", "sockcmd")

    def __init__(self, args):
        super().__init__(args)
        self.folder = os.path.join(TREE, "build", "lab", f"{time.strftime('%m%d-%H%M%S')}-{args.kernel}{'-failover' * args.failover}")

    def side(self, gid, what):
        """Start one side of a session in a guest; its output and status become files."""
        return self.pair.guests[gid - 1].send(
            f". $LIB/guest.sh; export PROG=$TREE/selftests/prog SMCCTL=$TREE/tools/smcctl/smcctl CASEDIR=$OUT; . $TREE/lab/prog/session.sh; {what}")

    def session(self, name, server, client):
        """Run both sides of a session; LabError with what they printed if one fails."""
        step(name)
        bases = [self.side(1, server), self.side(2, client)]
        end = time.time() + 60 * self.pair.slow
        while not all(os.path.exists(b + ".rc") for b in bases):
            if time.time() > end or not self.pair.alive():
                break
            time.sleep(0.05)
        bad = [f"guest {i}: " + (read(b + ".out")[-600:] or "no answer") for i, b in enumerate(bases, 1) if read(b + ".rc") != "0"]
        if bad:
            raise LabError(f"{name} failed:\n" + indent("\n".join(bad)))

    def run(self):
        """All of it; returns the exit status."""
        self.build()
        kernel = self.boot(768, KNOBS, (2, 2) if self.args.failover else ()).splitlines()[-1]
        print(f"  guest 1: 10.77.0.1, the server;  guest 2: 10.77.0.2, the client;  kernel {kernel}, smcr.ko loaded")
        self.pair.capture(self.out, True, SNAP)
        if self.args.failover:
            self.session(f"AF_SMC: two connections on two links, one link is cut silently, {MOVED} bytes each way on both",
                         f"failover_server {MOVED}", f"failover_client 10.77.0.1 {MOVED}")
        else:
            sizes = self.args.sizes
            self.session(f"AF_SMC: {len(sizes)} connections, {', '.join(map(str, sizes))} bytes one way, 64 the other; half closed, closed",
                         f"session_server {' '.join(map(str, sizes))}", f"session_client 10.77.0.1 {' '.join(map(str, sizes))}")
            self.session("verbs: rping over rdma_cm", "ping_server 10.77.0.1", "ping_client 10.77.0.1")
        # capture also the last acknowledgments and the end of TCP
        time.sleep(1)
        self.pair.capture(self.out, False)
        self.unload()
        self.pair.halt()
        os.makedirs(self.folder, exist_ok=True)
        pcap = shutil.move(os.path.join(self.out, "nic0.pcap"), os.path.join(self.folder, "session.pcap"))
        step("the capture, explained")
        status = self.explain(pcap)
        print()
        print(f"In {os.path.relpath(self.folder, os.getcwd()) if self.folder.startswith(os.getcwd()) else self.folder}:\n"
              "  session.pcap  the packets       timeline.txt  every frame\n"
              "  diagram.svg   a picture         explain.json  all of it, for programs")
        if self.bad or status:
            print(f"{self.NAME}: FAILED")
            return 1
        print(f"{self.NAME}: all checks hold. {time.time() - BEGIN:.0f} s in all.")
        return 0

    def explain(self, pcap):
        """Run lab-explain for the screen, and for the files. Returns its exit status."""
        marker = next(line.split("=")[1] for line in read(os.path.join(TREE, "lab", "prog", "session.sh")).splitlines()
                      if line.startswith("MARKER_HEX="))
        sys.stdout.flush()
        cmd = [EXPLAIN, "--marker", marker, pcap]
        status = subprocess.run([*cmd, "--timeline", "--stats", "--checks", "--svg", os.path.join(self.folder, "diagram.svg")],
                                check=False).returncode
        for name, options in (("timeline.txt", ["--timeline", "--all"]), ("explain.json", ["--json"])):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                status = subprocess.run([*cmd, *options], stdout=f, check=False).returncode or status
        return status


def numbers(text):
    """Numbers from text: 64,65536."""
    try:
        found = [int(x) for x in text.split(",")]
    except ValueError:
        found = []
    if not found or len(found) > 20 or not all(16 < n <= 64 << 20 for n in found):
        raise argparse.ArgumentTypeError(f"not up to 20 numbers from 17 to 64 Mi: {text}")
    return found


def main():
    """The command line."""
    p = argparse.ArgumentParser(prog="lab-capture", description=(
        "Two QEMU guests with a stock kernel, soft RoCE and smcr; a short session over SMC-R and one over rdma_cm, captured on "
        "the host; the output of lab/lab-explain for it"), epilog="Exit status: 0 all checks of lab-explain hold; 1 one does not, or the guests or the session failed; 2 wrong arguments. "
        "Results: build/lab/")
    p.add_argument("--kernel", default=os.environ.get("KERNEL") or KERNELS[0], help=f"{' or '.join(KERNELS)} (default 6.1; KERNEL=)")
    p.add_argument("--sizes", type=numbers, default=SIZES, metavar="N,N...", help=f"bytes per connection (default {SIZES})")
    p.add_argument("--failover", action="store_true", help="instead of all that: two cards and two links, of which one is cut, and no rdma_cm")
    p.add_argument("--keep", action="store_true", help="keep the guests' logs")
    p.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.kernel not in KERNELS:
        p.error(f"--kernel: {' or '.join(KERNELS)}, not {args.kernel}")
    if args.check:
        return 0
    return LabCapture(args).play()


if __name__ == "__main__":
    sys.exit(main())
