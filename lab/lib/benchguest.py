#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The guests' part of the benchmarks; started by bench.py, on the host.

    benchguest.py server SPEC       in guest 1: serves until guest 2 hangs up
    benchguest.py client SPEC       in guest 2: measures, one JSON line for each point

Both communicate over a TCP connection of their own, so that no process polls
during a measurement.
"""

import errno
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import time

LIB = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(LIB))
sys.path[:0] = [LIB, os.path.join(TREE, "selftests", "lib")]
sys.dont_write_bytecode = True
import intree  # noqa: E402  pylint: disable=wrong-import-position

PROG = os.path.join(TREE, "lab", "prog")
RDMA = os.path.join(TREE, "lab", "rdma")
SMCCTL = os.path.join(TREE, "tools", "smcctl", "smcctl")
CONTROL, PORT = 4998, 5000
SERVER = "10.77.0.1"


def sh(*cmd, timeout=120, hung=None):
    """Run a command; returns its output, RuntimeError with its messages if it fails. hung(): called after the timeout, before
    the command is killed."""
    with subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as proc:
        try:
            out, bad = proc.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as e:
            more = hung() if hung else ""
            proc.kill()
            raise RuntimeError(f"{os.path.basename(cmd[0])}: no end after {timeout} s{more}") from e
    if proc.returncode:
        raise RuntimeError(f"{os.path.basename(cmd[0])}: {(bad or out).strip()[-300:]}")
    return out


def state():
    """State of this guest's connections, for the report about one that hangs."""
    out = subprocess.run(f"uptime; for o in conn link linkgroup rmb; do {SMCCTL} -a -d $o; done; {SMCCTL} stats; ss -tan; "
                         "rdma -d resource show qp; for t in $(pgrep -x 'bench|verbs'); do echo; cat /proc/$t/task/*/stack; done | "
                         "uniq -c; dmesg | tail -20",
                         shell=True, capture_output=True, text=True, timeout=60, check=False)
    return out.stdout + out.stderr


def write_knob(path, value):
    """Write a value; False if the kernel refuses it as out of range."""
    try:
        with open(path, "w", encoding="ascii") as f:
            f.write(str(value))
    except OSError as e:
        if e.errno != errno.EINVAL:
            raise
        return False
    return True


def set_knob(name, want):
    """Set a knob to the wanted value, or to the nearest one in its range; returns the value that it has then."""
    path = "/proc/sys/" + name
    if write_knob(path, want):
        return want
    with open(path, encoding="ascii") as f:
        good = int(f.read())
    bad = want
    while abs(bad - good) > 1:
        middle = (good + bad) // 2
        if write_knob(path, middle):
            good = middle
        else:
            bad = middle
    return good


def sha256(path):
    """Checksum of a file."""
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def set_offload(on):
    """Switch TSO, GSO and GRO of eth0, as far as the card permits; returns {name: is it on}."""
    for name in ("tso", "gso", "gro"):
        subprocess.run(["ethtool", "-K", "eth0", name, "on" if on else "off"], check=False, capture_output=True)
    # TCP builds packets for GSO even if ethtool turns it off, and the stack segments them: limit them to one segment.
    sh("ip", "link", "set", "eth0", "gso_max_segs", "65535" if on else "1")
    text = sh("ethtool", "-k", "eth0")
    link = json.loads(sh("ip", "-d", "-j", "link", "show", "eth0"))[0]
    return {"tso": "tcp-segmentation-offload: on" in text, "gso": link["gso_max_segs"] > 1,
            "gro": "generic-receive-offload: on" in text}


class Side:
    """Loading, unloading and counting for one implementation."""

    def __init__(self, spec):
        self.spec, self.name = spec, spec["impl"]
        self.notes = []

    def load(self):
        """Load the module of this implementation; the others are unloaded first, because they own the same address family."""
        for m in ("smcr", "smc_diag", "smc"):
            self.unload(m)
        if self.name == "smcr":
            for m in sh("modinfo", "-F", "depends", self.spec["ko"]).strip().split(","):
                if m:
                    sh("modprobe", m)
            sh("insmod", self.spec["ko"])
        elif self.name == "intree":
            sh("modprobe", "smc")
            devices = self.spec.get("devices", ("eth0", "rxe0"))
            if devices:
                intree.setup(*devices)
        for name, want in self.spec["sysctl"].items():
            value = set_knob(name, want)
            if value != want:
                self.notes.append(f"{name.replace('/', '.')} is {value}: {want} is out of its range")

    def unload(self, module=None):
        """rmmod, repeated for some time: connections that are closing hold the module."""
        module = module or {"smcr": "smcr", "intree": "smc"}.get(self.name)
        end = time.time() + 30 * self.spec["slow"]
        while module and os.path.isdir(f"/sys/module/{module}"):
            r = subprocess.run(["rmmod", module], capture_output=True, text=True, check=False)
            if r.returncode and time.time() > end:
                raise RuntimeError(f"rmmod {module}: {r.stderr.strip()}")
            if r.returncode:
                time.sleep(0.2)

    def counts(self):
        """Counters of the connections of this guest: {client, server, fallbacks}."""
        if self.name == "intree":
            return intree.stats()
        if self.name != "smcr":
            return {"client": 0, "server": 0, "fallbacks": 0}
        flat = {}

        def walk(x):
            if isinstance(x, dict):
                if isinstance(x.get("name"), str) and isinstance(x.get("value"), int):
                    flat[x["name"]] = x["value"]
                for k, v in x.items():
                    if isinstance(v, int):
                        flat.setdefault(k, v)
                    walk(v)
            elif isinstance(x, list):
                for v in x:
                    walk(v)
        data = json.loads(sh(SMCCTL, "-a", "-j", "stats"))
        walk(data)
        for must in ("client-first-contacts", "client-reuses"):
            if must not in flat:
                raise RuntimeError(f"smcctl -j stats has no {must}")
        return {s: flat.get(f"{s}-first-contacts", 0) + flat.get(f"{s}-reuses", 0) for s in ("client", "server")} | {
            "fallbacks": flat.get("client-fallbacks", 0) + flat.get("server-fallbacks", 0), "reasons": reasons(data)}

    def groups(self):
        """How many link groups the server's end has."""
        if self.name == "intree":
            return intree.groups()
        return len(json.loads(sh(SMCCTL, "-j", "linkgroup"))) if self.name == "smcr" else 0


def reasons(data):
    """Reasons in smcctl's statistics that were counted: {name: numbers}."""
    found = {}

    def walk(x, below):
        if isinstance(x, dict):
            name = x.get("name") or x.get("reason")
            if "reason" in below and isinstance(name, str):
                n = sum(v for v in x.values() if isinstance(v, int) and not isinstance(v, bool))
                if n:
                    found[name] = {k: v for k, v in x.items() if isinstance(v, int) and v}
            for k, v in x.items():
                walk(v, k)
        elif isinstance(x, list):
            for v in x:
                walk(v, below)
    walk(data, "")
    return found


def free_memory():
    """Free memory in bytes, after the caches were dropped."""
    time.sleep(0.3)
    for _ in range(2):
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
            f.write("3")
    time.sleep(0.2)
    # What the processors have freed, and count or keep for themselves
    with open("/proc/sys/vm/stat_refresh", encoding="ascii") as f:
        f.read()
    with open("/proc/zoneinfo", encoding="ascii") as f:
        kept = sum(int(n) for n in re.findall(r"cpu: \d+\s+count:\s+(\d+)", f.read()))
    with open("/proc/meminfo", encoding="ascii") as f:
        return int(re.search(r"MemFree:\s+(\d+)", f.read())[1]) * 1024 + kept * os.sysconf("SC_PAGE_SIZE")


# ---------------------------------------------------------------- guest 1

def serve(spec):
    """Process the requests of guest 2, until it hangs up."""
    side = Side(spec)
    listener = socket.create_server(("", CONTROL))
    proc = None
    try:
        side.load()
        flags = ["-s"] if spec["impl"] in ("smcr", "intree") else []
        if spec["impl"] not in ("verbs", "perftest"):
            proc = subprocess.Popen([f"{PROG}/bench", *flags, "server", str(PORT), "64"])
        status = "ok"
    except (RuntimeError, OSError) as e:
        status = f"guest 1: {e}"
    listener.settimeout(60 * spec["slow"])
    conn, _ = listener.accept()
    with conn, conn.makefile("rw") as f:
        def say(what):
            f.write(json.dumps(what) + "\n")
            f.flush()
        say(status)
        one = None
        for line in f:
            words = json.loads(line)
            try:
                if words[0] == "memory":
                    say(free_memory())
                elif words[0] == "counts":
                    say(side.counts())
                elif words[0] == "state":
                    say({"state": state()})
                elif words[0] == "start":       # a server for one point, e.g. perftest's
                    one = subprocess.Popen(words[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    say("ok")
                elif words[0] == "offload":
                    say(set_offload(words[1]))
                elif words[0] == "unlink":
                    if os.path.exists(words[1]):
                        os.unlink(words[1])
                    say("ok")
                elif words[0] == "sha256":
                    say({"sha256": sha256(words[1])})
                elif words[0] == "listen":      # as start, and wait until it prints that it listens
                    one = subprocess.Popen(words[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                    say("ok" if "listening" in one.stdout.readline() else f"{words[1]} does not listen")
                elif words[0] == "end":
                    out = ""
                    try:
                        out, _ = one.communicate(timeout=10 * spec["slow"])
                    except subprocess.TimeoutExpired:
                        one.kill()
                        one.wait()
                    say({"printed": out or ""})
            except (RuntimeError, OSError) as e:
                say(f"guest 1: {e}")
    if proc:
        # It was asked to quit; if it does not, it is killed.
        try:
            proc.wait(10 * spec["slow"])
        except subprocess.TimeoutExpired:
            proc.kill()
            proc.wait()
    side.unload()


# ---------------------------------------------------------------- guest 2

class Client:
    """Measures the points of one series."""

    def __init__(self, spec, out):
        self.spec, self.out = spec, out
        self.side = Side(spec)
        self.flags = ["-s"] if spec["impl"] in ("smcr", "intree") else []
        self.control = None
        self.total = 0
        self.raw = spec["impl"] in ("verbs", "perftest")

    def ask(self, *words):
        """Send a request to guest 1, if any, and return the answer; RuntimeError if that is a message."""
        if words:
            self.control.write(json.dumps(words) + "\n")
            self.control.flush()
        answer = json.loads(self.control.readline())
        if isinstance(answer, str) and answer != "ok":
            raise RuntimeError(answer)
        return answer

    def emit(self, **what):
        """A line for the host."""
        self.out.write(json.dumps(what) + "\n")
        self.out.flush()

    def connect(self):
        """Connect to guest 1, which may still be loading its module."""
        end = time.time() + 30 * self.spec["slow"]
        while True:
            try:
                s = socket.create_connection((SERVER, CONTROL), 10)
                s.settimeout(120 * self.spec["slow"])
                self.control = s.makefile("rw")
                break
            except OSError:
                if time.time() > end:
                    raise
                time.sleep(0.1)
        self.ask()

    def bench(self, *args):
        """Command line of the program, with its server in guest 1."""
        return [f"{PROG}/bench", *self.flags, SERVER, str(PORT), *map(str, args)]

    def run(self):
        """Measure all points and print them."""
        try:
            self.side.load()
        except (RuntimeError, OSError):
            self.connect()      # guest 1 waits for us, and ends when we hang up
            raise
        self.connect()
        for text in self.side.notes:
            self.emit(what="note", text=text, void="")
        if not self.raw:
            self.ready()
        for p in self.spec["points"]:
            before = self.side.counts()
            try:
                kind = "perftest" if p["what"] == "ceiling" else self.spec["impl"] if self.raw else "do"
                got = getattr(self, f"{kind}_{p['what']}")(p)
                void = self.void(before, got)
            except (RuntimeError, OSError, ValueError, LookupError, TypeError) as e:
                got, void = {}, "failed: " + " ".join(str(e).split())
            self.emit(**{**got, **p, "void": void})
        if not self.raw:
            sh(*self.bench("quit"))
            self.total += 1
            end = self.ask("counts")
            # The counters of guest 1 must confirm the kind of the connections, too.
            if self.flags and (end["server"] != self.total or end["fallbacks"]):
                self.emit(what="series", void=f"guest 1 counts {end}, {self.total} connections were made")
        self.side.unload()
        self.emit(what="end", void="")

    def ready(self):
        """Wait until guest 1's program listens and the first contact is complete."""
        end = time.time() + 20 * self.spec["slow"]
        while True:
            try:
                sh(*self.bench("conn", 0, 1))
                self.total += 1
                return
            except RuntimeError as e:
                if "refused" not in str(e) or time.time() > end:
                    raise
                time.sleep(0.2)

    def void(self, before, got):
        """Why a point is void; empty if it is valid."""
        conns = got.pop("conns", 0)
        self.total += conns
        if not self.flags:
            return ""
        after = self.side.counts()
        made, falls = after["client"] - before["client"], after["fallbacks"] - before["fallbacks"]
        if made == conns and not falls:
            return ""
        return f"{conns} connections: {made} by {self.spec['impl']}, {falls} fell back {after.get('reasons', '')}"

    def simple(self, p):
        """Measure bulk, rtt or conn."""
        secs = self.spec["seconds"]
        return json.loads(sh(*self.bench(p["what"], secs, p["size"]), timeout=30 + 10 * secs * self.spec["slow"],
                             hung=lambda: self.hung(p)))

    do_bulk = do_rtt = do_conn = simple

    def hung(self, p):
        """Save the state of both guests, before the program is killed."""
        name = f"{sys.argv[2]}-hung-{p['what']}-{p['size']}"
        with open(name, "w", encoding="utf-8") as f:
            f.write("guest 2, the client:\n" + state())
            f.write("\nguest 1, the server:\n" + self.ask("state")["state"])
        return f" (see {os.path.basename(name)})"

    def do_idle(self, p):
        """Memory of an idle connection in bytes, in both guests."""
        with subprocess.Popen(self.bench("idle", p["size"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as proc:
            free = []
            for _ in range(2):
                if not proc.stdout.readline():
                    raise RuntimeError("idle connections were not made")
                free.append((free_memory(), self.ask("memory")))
                proc.stdin.write(".")
                proc.stdin.flush()
            if proc.wait(60 * self.spec["slow"]):
                raise RuntimeError("idle connections did not end well")
        held = [(free[0][i] - free[1][i]) / p["size"] for i in (0, 1)]
        return {"client": round(held[0]), "server": round(held[1]), "bytes": round(sum(held)), "conns": p["size"] + 2}

    # -- one file ----------------------------------------------------------

    def file(self, server, client):
        """Transfer the file; returns the output of both programs and the sha256 of the received file."""
        to = self.spec["to"]
        self.ask("unlink", to)
        try:
            self.ask("listen", *server)
            text = sh(*client, timeout=self.spec["patience"])
        finally:
            theirs = self.ask("end")["printed"]
        return text, theirs, self.ask("sha256", to)["sha256"]

    def do_file(self, p):
        """Transfer the file with write() and read(), as ordinary socket programs do."""
        offload = p.get("offload", True)
        state = [self.ask("offload", offload), set_offload(offload)]
        if not offload and (any(state[0].values()) or any(state[1].values())):
            raise RuntimeError(f"segmentation cannot be turned off: {state}")
        prog = [f"{PROG}/bench", *self.flags]
        try:
            *texts, digest = self.file([*prog, "recv", "5002", self.spec["to"]],
                                       [*prog, "-w", str(self.spec["write"]), "send", SERVER, "5002", self.spec["from"]])
        finally:
            self.ask("offload", True)
            set_offload(True)
        n, secs = texts[0].split()[-2:]
        if int(n) != p["size"]:
            raise RuntimeError(f"{n} bytes were sent")
        cpu = [float(re.search(r"(?m)^cpu ([\d.]+)$", t)[1]) for t in texts]
        return {"seconds": float(secs), "mbs": int(n) / float(secs) / 1e6, "cpu_client": cpu[0], "cpu_server": cpu[1],
                "sha256": digest, "conns": 1, "segmentation": state[1]}

    def verbs_file(self, p):
        """Transfer the file by RDMA WRITE, straight into the file of the receiver."""
        *texts, digest = self.file([f"{RDMA}/bulk", "server", "7471", "-j", "wait=120", "--file", self.spec["to"]],
                                   [f"{RDMA}/bulk", "client", SERVER, "7471", "-j", "--chunk", str(self.spec["chunk"]),
                                    "--file", self.spec["from"]])
        got, theirs = (json.loads(t.splitlines()[-1]) for t in texts)
        if got["bytes"] != p["size"] or not got["equal"]:
            raise RuntimeError(f"bulk: {texts[0].strip()}")
        return {"seconds": got["seconds"], "mbs": got["bytes"] / got["seconds"] / 1e6, "setup": got["setup"],
                "cpu_client": got["machine_cpu_seconds"], "cpu_server": theirs["machine_cpu_seconds"], "sha256": digest, "conns": 1}

    # -- raw verbs ---------------------------------------------------------

    def against(self, server, client, timeout, hung=None):
        """Start a server in guest 1, run its client here when it listens."""
        self.ask("start", *server)
        try:
            for attempt in range(100):
                try:
                    return sh(*client, timeout=timeout, hung=hung)
                except RuntimeError as e:
                    if attempt == 99 or "onnect" not in str(e):
                        raise
                    time.sleep(0.1)
        finally:
            self.ask("end")
        return ""

    def verbs(self, p):
        """Our own program: waits for events, as a socket's user does."""
        secs = self.spec["seconds"]
        cmd = [f"{PROG}/verbs", "rxe0"]
        return json.loads(self.against([*cmd, "server", "5001"],
                                       [*cmd, SERVER, "5001", p["what"], str(secs), str(p["size"])],
                                       30 + 10 * secs * self.spec["slow"], lambda: self.hung(p)))

    verbs_bulk = verbs_rtt = verbs

    def perftest(self, prog, *args):
        """Run one of the programs; returns the last line of numbers that it prints. Not on UML, where it finds no clock."""
        cmd = [prog, "-F", "-d", "rxe0", *args]
        text = self.against(cmd, [*cmd, SERVER], 20 + 5 * self.spec["seconds"] * self.spec["slow"])
        lines = [l.split() for l in text.splitlines() if re.match(r"^\s*\d+\s+\d+\s+[\d.]+", l)]
        if not lines:
            raise RuntimeError(f"{prog}: no result in: {text[-300:]}")
        return [float(x) for x in lines[-1]]

    def perftest_bulk(self, p):
        """ib_write_bw; it polls, because RDMA WRITE has no events."""
        iters = max(20, min(5000, int(self.spec["seconds"] * 30e6 / p["size"])))
        v = self.perftest("ib_write_bw", "-s", str(p["size"]), "-n", str(iters))
        return {"mbs": v[3] * 1.048576, "n": iters}      # its MB are MiB

    def perftest_rtt(self, p):
        """ib_send_lat -e; it prints half of a round trip."""
        iters = max(20, int(self.spec["seconds"] * 500))
        v = self.perftest("ib_send_lat", "-e", "-s", str(max(2, p["size"])), "-n", str(iters))
        return {"us": 2 * v[5], "median": 2 * v[4], "max": 2 * v[3], "n": iters}

    def perftest_ceiling(self, p):
        """One of perftest's programs at one size: MB/s, or us as it prints them."""
        secs = self.spec["seconds"] * p.get("times", 1)
        bw = p["tool"].endswith("_bw")
        # A message costs about a millisecond in these guests, whatever its size.
        iters = int(secs / (2e-4 + p["size"] / 30e6)) if bw else int(secs / (2e-3 + p["size"] / 15e6))
        iters = max(20, min(20000, iters))
        v = self.perftest(p["tool"], "-s", str(p["size"]), "-n", str(iters))
        value = v[3] * 1.048576 if bw else v[4]
        if value <= 0:
            raise RuntimeError(f"{p['tool']} says {value}")
        return {"value": value, "n": iters}


def main():
    """The command line."""
    with open(sys.argv[2], encoding="utf-8") as f:
        spec = json.load(f)
    if sys.argv[1] == "server":
        serve(spec)
        return
    with open(sys.argv[2] + ".out", "w", encoding="utf-8") as out:
        client = Client(spec, out)
        try:
            client.run()
        except (RuntimeError, OSError, ValueError) as e:
            client.emit(what="series", void=f"series failed: {e}")
            client.emit(what="end", void="")
            if client.control:
                client.control.close()
            sys.exit(1)


if __name__ == "__main__":
    main()
