# SPDX-License-Identifier: GPL-2.0
"""Pairs of test guests, by User-Mode Linux or by QEMU.

Guests reach only each other: their network cards are two ends of a unix
socket. The channel to the host is a folder (hostfs or 9p), see guest and
case-run in this directory for the other end of it.
"""

import ctypes
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import kernels

LIB = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(LIB))
CACHE = os.environ.get("SMCR_CACHE") or os.path.expanduser("~/.cache/smcr")

LIBC = ctypes.CDLL(None)    # loaded here: little is safe between fork and exec

# Factor for every time limit: what a kernel needs compared to a plain UML.
SLOW = kernels.field("slow")
# Options for two processors. This UML has them only with seccomp. Each work item runs on another
# processor than the one before, and each processor has its own workers: what can run at once does.
TWO = {"umsmp": ["ncpus=2", "seccomp=on", "workqueue.debug_force_rr_cpu=1", "workqueue.default_affinity_scope=cpu"]}


class LabError(Exception):
    """Something below the tests is broken: no kernel, no boot."""


def script(name, *args):
    """Run scripts/NAME, with its progress on stderr; return the words that it printed."""
    cmd = [os.path.join(TREE, "scripts", name), *args]
    r = subprocess.run(cmd, stdout=subprocess.PIPE, text=True, check=False)
    if r.returncode:
        raise LabError(f"scripts/{name} {' '.join(args)} failed")
    return r.stdout.split()


def busy():
    """How many times as long everything may take on this machine."""
    return int(os.environ.get("SMCR_SLOW") or "1")


def slow_factor(*kernels):
    """The larger factor of the pair; SMCR_SLOW multiplies it on busy machines."""
    return max(SLOW[k] for k in kernels) * busy()


def _die_with_parent():
    """In the child: no guest outlives the thread that runs it, whatever happens to that."""
    LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def offspring(pid):
    """All processes below one, by /proc."""
    below = {}
    for p in filter(str.isdigit, os.listdir("/proc")):
        words = read(f"/proc/{p}/stat").rpartition(")")[2].split()
        if words:
            below.setdefault(int(words[1]), []).append(int(p))
    found = list(below.get(pid, []))
    for p in found:
        found += below.get(p, [])
    return found


class Guest:
    """One guest process."""

    def __init__(self, pair, gid, cmd, fds=(), tty=False, **where):
        self.pair, self.id = pair, gid
        self.console = os.path.join(pair.out, f"console{gid}.log")
        self.sent = 0
        os.makedirs(os.path.join(pair.out, f"cmd{gid}"), exist_ok=True)
        # QEMU writes the console file itself; this log gets its error messages.
        mine = self.console if pair.lane == "uml" else os.path.join(pair.out, f"qemu{gid}.log")
        with open(mine, "w", encoding="utf-8") as log:
            self.proc = subprocess.Popen(
                cmd, stdin=None if tty else subprocess.DEVNULL, stdout=None if tty else log,
                stderr=None if tty else log, pass_fds=fds, start_new_session=not tty, preexec_fn=_die_with_parent,
                **where)
        self.tty = tty

    def alive(self):
        """Whether the guest's process still runs. It stays a zombie, whose processor time can be read, until kill()."""
        try:
            return self.proc.returncode is None and os.waitid(os.P_PID, self.proc.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    def send(self, code):
        """Give the guest's agent a piece of bash; returns its base path."""
        base = os.path.join(self.pair.out, f"cmd{self.id}", f"{self.sent:04d}")
        self.sent += 1
        with open(base + ".new", "w", encoding="utf-8") as f:
            f.write(code)
        os.rename(base + ".new", base + ".run")
        return base

    def call(self, code, timeout=60):
        """send() and wait: (exit code, output); exit code None if it hangs."""
        base = self.send(code)
        end = time.time() + timeout
        while not os.path.exists(base + ".rc"):
            if time.time() > end or not self.alive():
                return None, read(base + ".out")
            time.sleep(0.02)
        return int(read(base + ".rc") or 1), read(base + ".out")

    def kill(self):
        """End the guest with all of its processes."""
        # With the terminal it is in our process group, and a UML's helper for the window size is in a session of its own.
        for pid in [self.proc.pid, *offspring(self.proc.pid)] if self.tty else [-self.proc.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.proc.wait()


class Pair:
    """
    Two guests with `nics` cards each, joined one by one; or with `lan` (server's, client's) cards on one LAN: then there is
    one wire, between the switches that the guests make.
    """

    def __init__(self, lane, kernels, nics, memory, out, tty=0, lan=()):  # pylint: disable=too-many-arguments
        self.lane, self.kernels, self.nics, self.lan, self.memory = lane, kernels, nics, lan, memory
        self.wires = [15] if lan else list(range(nics))     # byte 5 of the MACs at both ends
        self.out, self.tty = out, tty
        self.slow, self.busy = slow_factor(*kernels), busy()
        self.guests = []
        self.socks = []
        if any(c.isspace() for c in TREE + out):
            raise LabError("a path with blanks in it cannot be handed to a guest")
        os.makedirs(out, exist_ok=True)

    def words(self, gid, modroot, out=None):
        """Our part of the guest's kernel command line."""
        return [f"smcr_tree={TREE}", f"smcr_id={gid}", f"smcr_out={out or self.out}", f"smcr_mods={modroot}",
                f"smcr_nics={'/'.join(map(str, self.lan)) or self.nics}", f"smcr_lane={self.lane}", f"smcr_kernel={self.kernels[gid - 1]}",
                f"smcr_slow={self.slow}", f"smcr_busy={self.busy}", "printk.devkmsg=on", "loglevel=5", "slab_nomerge",
                "log_buf_len=1M", "net.ifnames=0", *TWO.get(self.kernels[gid - 1], ())]

    def boot(self):
        """Start both guests and wait until they see each other."""
        begin = time.time()
        (self._boot_uml if self.lane == "uml" else self._boot_qemu)()
        end = begin + 60 * (self.slow if self.lane == "qemu" or set(self.kernels) & set(TWO) else 1)
        waiting = {g.id for g in self.guests}
        while waiting:
            for g in self.guests:
                if g.id in waiting and read(self.path(f"ready{g.id}")):
                    if read(self.path(f"ready{g.id}")).startswith("failed"):
                        self.halt()
                        raise LabError(f"guest {g.id}: " + read(self.path(f"boot{g.id}.log")))
                    waiting.discard(g.id)
                elif not g.alive():
                    self.halt()
                    raise LabError(f"guest {g.id} died while booting:\n" + tail(g.console, 25))
            if time.time() > end:
                self.halt()
                raise LabError(f"guests {sorted(waiting)} did not come up; console of the first:\n" +
                               tail(self.path(f"console{min(waiting)}.log"), 25))
            time.sleep(0.02)
        return time.time() - begin

    def path(self, name):
        """A file in the pair's folder."""
        return os.path.join(self.out, name)

    def alive(self):
        """Whether both guests run."""
        return bool(self.guests) and all(g.alive() for g in self.guests)

    def halt(self):
        """End both guests at once: a UML whose peer has ended first fails in its own driver."""
        for g in self.guests:
            try:
                if not g.tty:
                    os.killpg(g.proc.pid, signal.SIGSTOP)
            except ProcessLookupError:
                pass
        for g in self.guests:
            g.kill()
        self.guests = []
        shutil.rmtree(self.path("uml"), ignore_errors=True)

    # -- UML ---------------------------------------------------------------

    def _boot_uml(self):
        pairs = []
        for _ in self.wires:
            p = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for s in p:
                # root may exceed net.core.wmem_max of the host, which is small; others get as much as it allows.
                for force, plain in ((32, socket.SO_SNDBUF), (33, socket.SO_RCVBUF)):  # SO_SNDBUFFORCE, SO_RCVBUFFORCE
                    try:
                        s.setsockopt(socket.SOL_SOCKET, force, 4 << 20)
                    except PermissionError:
                        s.setsockopt(socket.SOL_SOCKET, plain, 4 << 20)
                s.set_inheritable(True)
            pairs.append(p)
        for gid in (1, 2):
            _, linux, modroot, _ = script("umkernel", self.kernels[gid - 1])
            fds = [p[gid - 1].fileno() for p in pairs]
            vec = [f"vec{n}:transport=fd,fd={fd},mtu=9000,depth=64,mac=52:54:00:00:{self.wires[n]:02x}:0{gid},gro=0"
                   for n, fd in enumerate(fds)]
            tty = self.tty == gid
            cmd = [linux, f"mem={self.memory}M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
                   f"init={LIB}/init-uml", "con=null", "con0=fd:0,fd:1" if tty else "con0=null,fd:1",
                   f"uml_dir={self.path('uml')}", f"umid=g{gid}", *vec, *self.words(gid, modroot)]
            os.makedirs(self.path("uml"), exist_ok=True)
            self.guests.append(Guest(self, gid, cmd, fds, tty))
        for p in pairs:
            for s in p:
                s.close()

    # -- QEMU --------------------------------------------------------------

    def qemu(self, gid, accel, append=(), smp=("-smp", "1")):
        """The command of a QEMU guest, but for its console, its monitor and its cards."""
        qemu = shutil.which("qemu-system-x86_64")
        if not qemu:
            raise LabError("needs qemu-system-x86_64 (run: sudo scripts/deps qemu)")
        kver, vmlinuz, modroot, _ = script("kernel", self.kernels[gid - 1])
        # no_timer_check: too few ticks while the kernel counts them are a panic, and a busy host gives too few
        return [qemu, *accel, "-cpu", "max", "-m", str(self.memory), *smp,
                "-display", "none", "-no-reboot", "-nodefaults", "-device", "virtio-rng-pci",
                "-kernel", vmlinuz, "-initrd", initrd(kver, modroot),
                "-append", " ".join(["console=ttyS0", "panic=-1", "no_timer_check", *append, *self.words(gid, modroot)]),
                "-fsdev", "local,id=h,path=/,security_model=none,readonly=on,multidevs=remap",
                "-device", "virtio-9p-pci,fsdev=h,mount_tag=host",
                "-fsdev", f"local,id=o,path={self.out},security_model=none",
                "-device", "virtio-9p-pci,fsdev=o,mount_tag=out", "-serial", "chardev:con"]

    def _boot_qemu(self):
        # Socket paths are limited to 108 bytes.
        socks = os.path.join("/tmp", "smcr-" + hashlib.sha1(self.out.encode()).hexdigest()[:12])
        shutil.rmtree(socks, ignore_errors=True)
        os.makedirs(socks)
        self.socks = socks
        for gid in (1, 2):
            cmd = [*self.qemu(gid, ("-accel", "tcg,thread=multi"), ("kfence.sample_interval=10",)),
                   "-qmp", f"unix:{socks}/qmp{gid},server=on,wait=off"]
            tty = self.tty == gid
            cmd += ["-chardev", "stdio,id=con,signal=off" if tty else f"file,id=con,path={self.path(f'console{gid}.log')}"]
            for n, wire in enumerate(self.wires):
                side = "on" if gid == 1 else "off"
                cmd += ["-netdev", f"stream,id=n{n},server={side},addr.type=unix,addr.path={socks}/net{n}",
                        "-device", f"virtio-net-pci,netdev=n{n},mac=52:54:00:00:{wire:02x}:0{gid},host_mtu=4300"]
            self.guests.append(Guest(self, gid, cmd, (), tty))
            # The second guest connects to sockets that the first one creates.
            end = time.time() + 20
            while gid == 1 and not all(os.path.exists(f"{socks}/net{n}") for n in range(len(self.wires))):
                if time.time() > end or not self.guests[0].alive():
                    raise LabError("qemu does not start:\n" + tail(self.path("console1.log"), 10))
                time.sleep(0.02)

    def qmp(self, gid, *commands):
        """Send commands to a QEMU guest's monitor."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10)
            s.connect(f"{self.socks}/qmp{gid}")
            f = s.makefile("rw")
            f.readline()
            for c in ({"execute": "qmp_capabilities"}, *commands):
                f.write(json.dumps(c) + "\n")
                f.flush()
                while True:
                    answer = json.loads(f.readline())
                    if "error" in answer:
                        raise LabError(f"qmp: {answer['error']['desc']}")
                    if "return" in answer:
                        break

    def capture(self, folder, on, maxlen=512):
        """QEMU lane: start or stop writing what crosses the cards to files.

        Outside of the guests, so that it costs them nothing.
        """
        for n in range(len(self.wires)):
            if on:
                self.qmp(1, {"execute": "object-add", "arguments": {
                    "qom-type": "filter-dump", "id": f"dump{n}", "netdev": f"n{n}",
                    "file": os.path.join(folder, f"nic{n}.pcap"), "maxlen": maxlen}})
            else:
                self.qmp(1, {"execute": "object-del", "arguments": {"id": f"dump{n}"}})


def initrd(kver, modroot):
    """The initramfs for a kernel, made again when its ingredients changed."""
    h = hashlib.sha1()
    for f in ("mkinitrd", "init-qemu"):
        with open(os.path.join(LIB, f), "rb") as fh:
            h.update(fh.read())
    path = os.path.join(CACHE, "kernel", f"initrd-{kver}-{h.hexdigest()[:10]}")
    if not os.path.exists(path):
        r = subprocess.run([os.path.join(LIB, "mkinitrd"), kver, modroot, path], check=False)
        if r.returncode:
            raise LabError(f"no initramfs for {kver}")
    return path


def human(n):
    """1 GiB, 64 KiB, 1.5 MiB, 16,380 B: with a unit where a few digits are exact."""
    for unit, by in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= by and n * 8 % by == 0:
            return f"{n / by:g} {unit}"
    return f"{n:,} B"


def read(path):
    """A file's text, stripped; empty when there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return ""


def tail(path, lines):
    """The last lines of a file, indented for a report."""
    return "\n".join("    " + l.rstrip("\r") for l in read(path).splitlines()[-lines:])


def warn(msg):
    """Print a line on stderr, beside the KTAP stream."""
    print(f"run: {msg}", file=sys.stderr)
