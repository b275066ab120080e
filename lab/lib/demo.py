#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The demonstration: a file through AF_SMC between two guests, one of two links cut on the way, and the proof.

Started by lab/demo, which explains the environment variables.
"""

import argparse
import hashlib
import json
import mmap
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
from lab import CACHE, TREE, LabError, Pair, read, script  # noqa: E402  pylint: disable=wrong-import-position
from roce import OPCODES, Traffic  # noqa: E402  pylint: disable=wrong-import-position

BENCH = os.path.join(TREE, "lab", "prog", "bench")
SMCCTL = os.path.join(TREE, "tools", "smcctl", "smcctl")
SNAP = 256                  # bytes captured of each packet: headers, CLC messages, a piece of the file
LEAST = 32 << 20
EXPLAIN = os.path.join(TREE, "lab", "lab-explain")
# Two network cards in each guest, so two links, whatever the default of max_links is.
LAN, KNOBS = (2, 2), "sysctl -qw net.smcr.max_links=2"
BEGIN = time.time()
QUIET = 20                  # seconds
TTY = sys.stdout.isatty()


class Show:
    """A run with two QEMU guests that have a stock kernel and the module, and the claims that it checks."""
    NAME, PROG = "show", ("lab/prog", "bench")    # PROG: its folder, its name

    def __init__(self, args):
        self.args = args
        self.bad = []
        self.slow = int(os.environ.get("SMCR_SLOW", "1"))
        self.out = os.path.join(CACHE, "run", f"{time.strftime('%m%d-%H%M%S')}-{self.NAME}-{os.getpid()}")
        self.pair = None

    def verdict(self, ok, text):
        """Print a claim and whether it holds; one that does not makes the run fail."""
        print(f"  {'yes' if ok else 'NO '}  {text}")
        if not ok:
            self.bad.append(text)

    # -- preparation -------------------------------------------------------

    def build(self):
        """Build the module and the tools, unpack the guests' kernel."""
        step(f"building smcr.ko for Debian's stock {self.args.kernel} kernel (unpacks its packages the first time)")
        script("kernel", self.args.kernel)
        path = script("build-module", self.args.kernel)[-1]
        for what in (["tools/smcctl"], self.PROG):
            run(["make", "-s", "-C", os.path.join(TREE, what[0]), *what[1:]])
        os.makedirs(self.out)
        self.ko = shutil.copy(path, os.path.join(self.out, "smcr.ko"))

    def call(self, gid, code, timeout=60, fatal=True):
        """Run something in a guest and return what it printed."""
        rc, text = self.pair.guests[gid - 1].call(code, timeout * self.pair.slow)
        if rc != 0 and fatal:
            raise LabError(f"guest {gid}: {'hangs' if rc is None else f'exit {rc}'}: {code}\n{text}")
        return text

    def both(self, code, timeout=60):
        """Run a command in both guests at the same time; returns [(exit status, output)]."""
        bases = [g.send(code) for g in self.pair.guests]
        end = time.time() + timeout * self.pair.slow
        for g, base in zip(self.pair.guests, bases):
            while not os.path.exists(base + ".rc"):
                if time.time() > end or not g.alive():
                    raise LabError(f"guest {g.id} hangs: {code}\n{read(base + '.out')}")
                time.sleep(0.02)
        return [(int(read(b + ".rc") or 1), read(b + ".out")) for b in bases]

    def boot(self, mib, then="true", lan=()):
        """Boot two guests with `mib` MiB each, and with `lan` cards on one LAN or one card each; load the module and run a command
        in both. Returns the output of guest 2."""
        step(f"booting two QEMU guests with soft RoCE, {mib} MiB each (no hardware virtualisation needed)")
        self.pair = Pair("qemu", (self.args.kernel,) * 2, max(lan, default=1), mib, self.out, lan=lan)
        self.pair.boot()
        for rc, text in self.both(f'. "$LIB/guest.sh"; insmod_smcr {self.ko} && {then} && uname -r'):
            if rc:
                raise LabError(text)
        return text

    def clean(self, status):
        """Delete the files of the run, after the guests have ended; not after a failure."""
        if not status and not self.args.keep:
            shutil.rmtree(self.out, ignore_errors=True)

    def unload(self):
        """Check that the module can be unloaded."""
        for _, text in self.both("rmmod smcr && ! lsmod | grep -q '^smcr '"):
            if text:
                self.verdict(False, f"smcr.ko could be unloaded: {text}")

    def play(self):
        """Call run(), report its errors and stop the guests in any case. Returns the exit status."""
        for s in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(s, lambda *_: sys.exit(1))
        sys.stdout = Pulse(sys.stdout)
        status = 1
        try:
            status = self.run()
        except (LabError, OSError) as e:
            print(f"\n{self.NAME}: FAILED: {e}\nlogs: {self.out}")
        except KeyboardInterrupt:
            print(f"\n{self.NAME}: interrupted")
        finally:
            if self.pair:
                self.pair.halt()
            self.clean(status)
        return status


class Demo(Show):
    """The transfer of a file from one guest to the other, and the proof."""
    NAME = "demo"

    def __init__(self, args):
        super().__init__(args)
        self.size = 0
        self.cut = None         # the link that was cut
        self.file = os.path.join(self.out, "file")

    def make_file(self):
        """Create the file where the guests can read it; returns its sha256."""
        digest = make_file(self.file, self.args.size, self.args.file)
        self.size = os.path.getsize(self.file)
        return digest

    def boot_with_file(self):
        """Boot the guests and copy the file to guest 2's memory."""
        mib = (self.size >> 20) + 1
        text = self.boot(768 + mib, f"{KNOBS} && mkdir -p /run/demo && mount -t tmpfs -o size={mib + 16}M demo /run/demo", LAN)
        print("  guest 1: 10.77.0.1 and .11, the receiver;  guest 2: 10.77.0.2 and .12, the sender;  kernel "
              f"{text.splitlines()[-1]}, smcr.ko loaded")
        self.call(2, "cp $OUT/file /run/demo/file")

    def clean(self, status):
        """As in Show; the file is deleted even if the logs are kept."""
        super().clean(status)
        if os.path.exists(self.file):
            os.unlink(self.file)

    # -- one transfer ------------------------------------------------------

    def transfer(self, name, smc):
        """Transfer the file from guest 2 to guest 1; returns the seconds. With SMC-R, print smcctl's tables meanwhile and cut the
        link."""
        flag, port, pcap = ("-s ", 5000, "smc") if smc else ("", 5001, "tcp")
        path = lambda what: os.path.join(self.out, f"{pcap}-{what}")  # noqa: E731
        self.capture(path("wire.pcap"), pcap, True)
        self.call(1, f"({BENCH} {flag}recv {port} /run/demo/got > $OUT/{pcap}-recv 2>&1; "
                     f"echo $? > $OUT/{pcap}-recv.rc) > /dev/null 2>&1 & "
                     f"for i in $(seq 300); do grep -q listening $OUT/{pcap}-recv && exit; sleep 0.1; done; exit 1")
        self.call(2, f"({BENCH} {flag}send 10.77.0.1 {port} /run/demo/file > $OUT/{pcap}-send 2>&1; "
                     f"echo $? > $OUT/{pcap}-send.rc) > /dev/null 2>&1 &")
        bar, tables, asked, later = Bar(name, self.size), None, None, None
        end = time.time() + (120 + self.size / 1e6) * self.slow
        # A .rc file is empty for a moment after its creation: wait for its contents.
        while not all(read(path(f"{w}.rc")) for w in ("send", "recv")):
            line = re.findall(r"(?m)^(\d+) ([\d.]+)$", read(path("recv")))
            if line:
                bar.show(int(line[-1][0]), float(line[-1][1]))
            if smc and line and asked is None and int(line[-1][0]) > self.size / 5:
                asked = [g.send(f"for t in conn linkgroup link; do {SMCCTL} $t || exit; {SMCCTL} -j $t "
                                f"> $OUT/{pcap}-${{t}}{g.id}.json || exit; done") for g in self.pair.guests]
                flowing = int(line[-1][0])
            if asked and tables is None and all(os.path.exists(b + ".rc") for b in asked):
                tables = [read(b + ".out") for b in asked]
                bar.gap()
                print(f"\n  meanwhile, with the data flowing ({flowing >> 20} MiB have arrived):")
                for gid, text in enumerate(tables, 1):
                    print(f"  guest {gid}# smcctl conn; smcctl linkgroup; smcctl link\n" + indent(text))
                self.cut_link(int(line[-1][0]))
            if smc and self.cut and later is None and int(line[-1][0]) > self.size * 4 / 5:
                later = self.pair.guests[0].send(f"{SMCCTL} conn; {SMCCTL} link")
            if not self.pair.alive() or time.time() > end or read(path("send.rc")) not in ("", "0"):
                break
            time.sleep(0.1)
        bar.gap()
        done = re.findall(r"(?m)^(\d+) ([\d.]+)$", read(path("send")))
        self.capture(path("wire.pcap"), pcap, False)
        if later:
            print("\n  guest 1, before the end# smcctl conn; smcctl link\n" + indent(read(later + ".out")) +
                  f"\n  (Link {self.cut} is deleted, or failed; the connection is on the other one. Writes and Bytes are what this guest sent.)\n")
        if read(path("send.rc")) != "0" or read(path("recv.rc")) != "0" or not done:
            raise LabError(f"the transfer over {name} failed:\n" +
                           indent("sender:   " + read(path("send"))[-300:] + "\nreceiver: " + read(path("recv"))[-300:]))
        if smc:
            self.verdict(tables is not None and self.flowed(), "both sides showed an SMC-R connection with bytes "
                         "in flight, in one link group")
        return float(done[-1][1])

    def cut_link(self, arrived):
        """Silently drop all RoCE packets of the connection's link, at guest 1's card."""
        conn = next((c for c in records(read(os.path.join(self.out, "smc-conn1.json"))) if c.get("link-num") and "5000" in json.dumps(c)), {})
        links = {x.get("link-num"): x for x in records(read(os.path.join(self.out, "smc-link1.json")))}
        nic = re.search(r"\d+$", links.get(conn.get("link-num"), {}).get("dev-name", ""))
        if len(links) != 2 or not nic:
            raise LabError(f"two links, and one of them the connection's, were expected: {conn} {links}")
        self.call(1, f'. "$LIB/guest.sh"; . $TREE/selftests/prog/nicfaults.sh; rdma_silence {nic[0]}')
        self.cut = conn["link-num"]
        print(f"\n  link {self.cut} is cut (guest 1 drops all RoCE packets of eth{nic[0]}, silently; {arrived >> 20} MiB have arrived)\n")

    def capture(self, path, name, on):
        """Start or end the capture by QEMU on the host, which costs the guests nothing."""
        cmd = {"execute": "object-add", "arguments": {"qom-type": "filter-dump", "id": f"dump-{name}", "netdev": "n0",
                                                      "file": path, "maxlen": SNAP}}
        self.pair.qmp(1, cmd if on else {"execute": "object-del", "arguments": {"id": f"dump-{name}"}})

    def flowed(self):
        """Did the tables show an SMC-R connection and one link group, in both guests?"""
        for gid in (1, 2):
            conns = [c for c in records(read(os.path.join(self.out, f"smc-conn{gid}.json")))
                     if "5000" in json.dumps(c) and "smc" in str(c.get("mode", "")).lower()]
            groups = records(read(os.path.join(self.out, f"smc-linkgroup{gid}.json")))
            if len(conns) < 1 or len(groups) != 1:
                return False
        return True

    # -- the proof ---------------------------------------------------------

    def prove(self, digest):
        """Check the checksums, the counters and the packets on the wire."""
        step("the proof")
        sums = [hashes.split()[0] if rc == 0 and hashes else "none" for rc, hashes in
                self.both("sha256sum /run/demo/got /run/demo/file 2>/dev/null | head -1", 300)]
        print(f"  sha256 of the file                 {digest}\n  sha256 in guest 2 (before sending) {sums[1]}\n"
              f"  sha256 in guest 1 (as received)    {sums[0]}")
        self.verdict(sums[0] == sums[1] == digest, "the file arrived intact")

        for gid, side in ((2, "client"), (1, "server")):
            stats = counters(self.call(gid, f"{SMCCTL} -j stats"))
            smc = stats.get(f"{side}-first-contacts", 0) + stats.get(f"{side}-reuses", 0)
            falls = stats.get("client-fallbacks", 0) + stats.get("server-fallbacks", 0)
            self.verdict(smc == 1 and falls == 0, f"guest {gid} counts {smc} SMC-R connection as {side} and {falls} "
                         "fallbacks to TCP")

        t = Traffic(os.path.join(self.out, "smc-wire.pcap"))
        print(f"\n  on the wire (captured by QEMU on the host; {t.frames} frames):")
        for op in sorted(t.opcodes):
            n, size = t.opcodes[op]
            print(f"    RoCEv2 udp/4791  0x{op:02x} {OPCODES.get(op, ('?',))[0]:26} {n:8} packets {size:13} bytes")
        print(f"    TCP payload           {'both directions, all ports':26} {'':16} {t.tcp_bytes():13} bytes")
        clc = t.clc()
        print(f"      = {', '.join(clc) if clc else 'NOT only CLC messages'}\n")

        begin = self.prove_failover()
        old, new = (socket.inet_aton(a) for a in (("10.77.0.2", "10.77.0.12") if self.cut == 1 else ("10.77.0.12", "10.77.0.2")))
        want, over = self.size + 8, (t.written(old), t.written(new))
        again = f"; {t.repeated} packets were repeated and are counted once" if t.repeated else ""
        self.verdict(over[0] >= begin and begin + over[1] == want, f"RDMA WRITEs of guest 2 carried {over[0]} bytes over link {self.cut}, and {over[1]} "
                     f"over the other one, from byte {begin} of the stream on: with that, the file's {self.size} and its length (8){again}")
        self.verdict(t.reth(new) == over[1], f"the lengths that the WRITEs over the other link announce in their headers (RETH) add up to the same: {t.reth(new)}")
        good, all_ = self.compare(t, {old: 0, new: begin})
        self.verdict(good == all_ > 0, f"{good} of {all_} WRITE packets begin with the bytes that the file has at "
                     "their place in the stream")
        self.verdict(clc is not None and len(clc) == 3 and t.tcp_bytes() < 4096,
                     f"TCP carried {t.tcp_bytes()} bytes: the three CLC messages of the negotiation, nothing of the file")

    def prove_failover(self):
        """Check the capture with lab-explain. Returns the offset in the stream from which on the other link was used."""
        out = subprocess.run([EXPLAIN, "--json", "--links", "--checks", "--cut", os.path.join(self.out, "smc-wire.pcap")],
                             stdout=subprocess.PIPE, text=True, check=False).stdout
        try:
            said = json.loads(out)
        except ValueError as e:
            raise LabError("lab-explain cannot read the capture") from e
        failed = [f"{c['name']}: {c['where'][0]}" for c in said["checks"] if c["verdict"] == "FAILED"]
        held = [c["name"] for c in said["checks"] if c["verdict"] == "ok"]
        self.verdict(not failed and all(f"failover-{x}" in held for x in ("first", "seq", "left", "again")),
                     f"lab-explain: {len(held)} checks of the capture hold, none fails" if not failed else f"lab-explain: {'; '.join(failed)}")
        groups = said["groups"]
        roles = [x["role"] for g in groups for x in g["links"]]
        self.verdict(roles == ["first", "symmetric"], f"the link group had {len(roles)} links: {', '.join(roles)}")
        move = next((m for g in groups for m in g["moves"] if m["sender"] == "10.77.0.2" and m["write"]), None)
        ok = bool(move) and move["old"] == self.cut != move["new"] and move["seq"] is not None
        self.verdict(ok, f"the first message on link {move['new']} is the validation CDC (frame {move['frame']}, sequence number {move['seq']}), and the "
                     f"WRITEs go on there (frame {move['write']}), {move['again']} bytes of them again" if ok else f"the connection changed links: {groups}")
        if not ok:
            return 0
        print(f"       the stall: {move['stall']:.2f} s from the last WRITE on link {move['old']} to the first on link {move['new']}")
        return move["begin"]

    def compare(self, t, begin):
        """Compare the captured beginning of each WRITE packet with the file. `begin`: by sender, the offset at which its part
        of the stream begins. Returns the number of equal packets and of all."""
        good = all_ = 0
        with open(self.file, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
            for key in t.flows:
                if key[0] not in begin:
                    continue
                for offset, _, head in t.stream(key):
                    offset += begin[key[0]]
                    skip = max(0, 8 - offset)
                    piece = head[skip:]
                    at = offset + skip - 8
                    all_ += 1
                    good += m[at:at + len(piece)] == piece
        return good, all_

    def prove_tcp(self):
        """The counter-check: for TCP the same capture must show the opposite, otherwise the proof would prove nothing."""
        t = Traffic(os.path.join(self.out, "tcp-wire.pcap"))
        self.verdict(t.tcp_bytes() >= self.size and t.written() == 0,
                     f"and with an AF_INET socket the same capture shows {t.tcp_bytes()} bytes on TCP and "
                     f"{t.written()} in RDMA WRITEs")

    def run(self):
        """All of it; returns the exit status."""
        self.build()
        step("making the file")
        digest = self.make_file()
        print(f"  {self.args.file or 'pseudo-random'}, {self.size} bytes")
        self.boot_with_file()
        step("AF_SMC: sendfile() in guest 2, read() in guest 1; two links, of which one is cut on the way")
        smc = self.transfer("AF_SMC", True)
        self.prove(digest)
        step("the same program, guests and file over TCP")
        tcp = self.transfer("TCP", False)
        self.prove_tcp()
        step("result")
        rate = lambda t: self.size / t / 1e6  # noqa: E731
        print(f"  AF_SMC  {smc:8.1f} s  {rate(smc):8.1f} MB/s   RDMA by rxe: software, CRC and 4 KiB packets\n"
              f"  TCP     {tcp:8.1f} s  {rate(tcp):8.1f} MB/s\n"
              f"  Emulated processors and soft RoCE: neither is a figure of real hardware (`make bench` compares with "
              "raw verbs).")
        self.unload()
        print()
        if self.bad:
            print(f"demo: FAILED ({len(self.bad)} claims do not hold), logs in {self.out}")
            return 1
        print(f"demo: {self.size} bytes went by RDMA WRITE, none by TCP, though a link was cut on the way. {time.time() - BEGIN:.0f} s in all.")
        return 0


class Bar:
    """Progress, for terminals and for logs."""

    def __init__(self, name, size):
        self.name, self.size, self.next, self.open = name, size, 0, False

    def show(self, done, t):
        """Show the bytes transferred after @t seconds."""
        text = (f"  {self.name}  {100 * done // self.size:3}%  {done >> 20:5} of {self.size >> 20} MiB  {t:6.1f} s  "
                f"{done / max(t, .001) / 1e6:6.1f} MB/s")
        if TTY:
            n = 20 * done // self.size
            print(f"\r{text}  [{'#' * n}{'.' * (20 - n)}]", end="", flush=True)
            self.open = True
        elif 10 * done // self.size >= self.next:
            print(text, flush=True)
            self.next = 10 * done // self.size + 1

    def gap(self):
        """End the line of the bar, before other output."""
        if self.open:
            print()
        self.open = False


def make_file(path, length, source=None):
    """A copy of a file, or pseudo-random bytes, always the same; its sha256."""
    if source:
        shutil.copyfile(source, path)
    else:
        rnd = random.Random(7609)
        with open(path, "wb") as f:
            while length:
                n = min(length, 1 << 20)
                f.write(rnd.randbytes(n))
                length -= n
    if not os.path.getsize(path):
        raise LabError("the file is empty")
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


class Pulse:
    """A stdout that prints the elapsed time after QUIET seconds without output."""

    def __init__(self, out):
        self.out, self.last = out, time.time()
        out.reconfigure(line_buffering=True)
        threading.Thread(target=self.beat, daemon=True).start()

    def __getattr__(self, name):
        return getattr(self.out, name)

    def write(self, text):
        """As write() of a file."""
        self.last = time.time()
        return self.out.write(text)

    def beat(self):
        """The thread; it runs until the program ends."""
        while True:
            time.sleep(1)
            if time.time() - self.last >= QUIET:
                self.write(f"  ... [{time.time() - BEGIN:.0f} s]\n")


def step(text):
    """A heading, with the time."""
    print(f"\n== {text}  [{time.time() - BEGIN:.0f} s]", flush=True)


def indent(text):
    """Indent the output of another program."""
    return re.sub("(?m)^", "    ", text)


def run(cmd):
    """A command that must work."""
    if subprocess.run(cmd, check=False, stdout=sys.stderr).returncode:
        raise LabError(" ".join(cmd) + " failed")


def records(text):
    """The objects of a list in smcctl's JSON, wherever it is."""
    try:
        data = json.loads(text)
    except ValueError:
        return []
    while isinstance(data, dict):
        lists = [v for v in data.values() if isinstance(v, list)]
        if not lists:
            return [data]
        data = lists[0]
    return data


def counters(text):
    """smcctl -j stats as {name: value}."""
    found = {}

    def walk(x):
        if isinstance(x, dict):
            if isinstance(x.get("name"), str) and isinstance(x.get("value"), int):
                found[x["name"]] = x["value"]
            for k, v in x.items():
                if isinstance(v, int):
                    found.setdefault(k, v)
                walk(v)
        elif isinstance(x, list):
            for v in x:
                walk(v)
    walk(json.loads(text))
    return found


def size(text):
    """A number of bytes from text: 256M, 1G, 5000."""
    m = re.fullmatch(r"(\d+)([KMG]?)(i?B)?", text.strip(), re.I)
    if not m or not int(m[1]):
        raise argparse.ArgumentTypeError(f"not a size: {text}")
    return int(m[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[m[2].upper()]


def main():
    """The command line."""
    env = os.environ
    p = argparse.ArgumentParser(description="A file through AF_SMC between two guests, and the proof")
    p.add_argument("--size", type=size, default=env.get("SIZE") or "256M", help="default 256M")
    p.add_argument("--file", default=env.get("FILE") or None, help="a file instead of random bytes")
    p.add_argument("--kernel", choices=("6.1", "6.12", "7.2"), default="6.1")
    p.add_argument("--keep", action="store_true", default=bool(env.get("KEEP")), help="keep logs and captures")
    p.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    if env.get("KERNEL"):
        p.set_defaults(kernel=env["KERNEL"])
    args = p.parse_args()
    if args.kernel not in ("6.1", "6.12", "7.2"):
        p.error(f"no stock kernel: {args.kernel}")
    if args.file and not (os.path.isfile(args.file) and os.access(args.file, os.R_OK) and os.path.getsize(args.file)):
        p.error(f"{args.file}: no file with something in it that can be read")
    if (os.path.getsize(args.file) if args.file else args.size) < LEAST:
        p.error(f"at least {LEAST >> 20}M: the tables are to be seen while the data flows")
    if args.check:
        return 0
    return Demo(args).play()


if __name__ == "__main__":
    sys.exit(main())
