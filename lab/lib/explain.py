# SPDX-License-Identifier: GPL-2.0
"""A capture of RDMA on Ethernet, told and checked: the program behind lab/lab-explain.

Who reads what: tshark takes the frames apart, down to the transport headers
(link layer, IP, TCP and its options, BTH, RETH, AETH, connection manager), and
says which frames are malformed. What stands inside of CLC, LLC and CDC
messages is read by wire.py: tshark 4.0 takes every version 1 Proposal for
IPv4 for malformed, and knows ADD LINK only as Linux sends it. Where both name
a message, they must agree.

The capture is read once, frame by frame. What is kept grows with the number of
queue pairs and open connections, not with the capture's length.
"""

import argparse
import contextlib
import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import OrderedDict

from roce import CLC_NAMES, EYE, IMMEDIATE, OPCODES, ROCE_PORT, WRITES, Roce
from wire import (ACCEPT, ACK, ADD_LINK, CDC, CONFIRM, CONFIRM_LINK, CONFIRM_RKEY, DECLINE, DELETE_LINK, DELETE_RKEY,
                  LLC_NAMES, PROPOSAL, TEST_LINK, Msg, Stream, ip_of, link_msg, sound)

# What tshark is asked for, per frame. Several values of one field are separated by FIELD.
FIELD = "\x1f"
FIELDS = (
    "frame.time_epoch", "frame.len", "frame.cap_len", "frame.protocols", "_ws.malformed", "_ws.expert.severity",
    "_ws.expert.message",
    "eth.type", "vlan.etype", "sll.etype", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst",
    "tcp.srcport", "tcp.dstport", "tcp.flags", "tcp.seq_raw", "tcp.options", "tcp.payload",
    "udp.srcport", "udp.dstport", "udp.length", "udp.payload", "smc.clc_msg", "smc.llc_msg",
    "infiniband.grh.sgid", "infiniband.grh.dgid", "infiniband.grh.paylen",
    "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.bth.padcnt",
    "infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen",
    "infiniband.aeth.syndrome", "infiniband.aeth.msn", "infiniband.deth.srcqp", "infiniband.mad.attributeid",
    "infiniband.cm.req", "infiniband.cm.req.localqpn", "infiniband.cm.req.startpsn", "infiniband.cm.req.serviceid.dport",
    "infiniband.cm.rep", "infiniband.cm.rep.remotecommid", "infiniband.cm.rep.localqpn", "infiniband.cm.rep.startpsn",
    "infiniband.cm.rtu.localcommid", "infiniband.cm.rtu.remotecommid", "infiniband.cm.rej.reason",
)
ERROR = 0x800000                # of tshark's expert information
# What tshark says of IP and UDP, in any version; of the layers behind them it may be wrong.
IN_FRONT = re.compile("checksum|bogus|bad length value|IP payload", re.I)
EXID = EYE                      # of the TCP option: 254, 6, these four bytes
ROCEV1 = 0x8915
CM_QP, UD_SEND, CNP = 1, 0x64, 0x81
CM_NAMES = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP", 0x19: "LAP", 0x1a: "APR"}
NAKS = {0: "PSN sequence error", 1: "invalid request", 2: "remote access error", 3: "remote operational error",
        4: "invalid RD request"}
SMC_OPCODES = {*range(0x00, 0x05), *range(0x06, 0x0b), 0x11} - {0x03, 0x09}
FLAGS = ((0x80, "write blocked"), (0x40, "urgent pending"), (0x20, "urgent present"), (0x10, "cursor update requested"),
         (0x08, "failover validation"))
ENDS = ((0x80, "sending done"), (0x40, "closed"), (0x20, "abnormal close"))
MTUS = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
PLANES = ("TCP", "CM", "LLC", "CDC", "WRITE", "READ", "SEND", "ATOMIC", "ACK", "other")
ROWS, LINES, JSON_ROWS = 2000, 300, 100000      # limits: timeline, diagram, either in JSON
RECENT, HOLES = 1024, 4096                      # of a queue pair: packets whose contents are compared, gaps that are followed
FAR = 65536                                     # what is not in flight behind a PSN
WAITING = 10000                                 # and packets that wait for the end of a gap
CONNS = 20000                                   # TCP connections that are followed at a time

# Printed below the first line of its kind.
REMARKS = {
    "SYN": "a client that can do SMC-R says so by an experimental TCP option: kind 254, ExID e2d4c3d9",
    "SYN-ACK": "with the option in both, the next bytes on TCP are the CLC handshake",
    "CLC Proposal": "the client names itself, its RoCE port (GID, MAC) and its IP subnet",
    "CLC Accept": "the server's queue pair, and the piece of memory (RKey, address, size) that the client may write to",
    "CLC Confirm": "the same of the client; from here on no byte of the application goes over TCP",
    "CLC Decline": "no SMC-R: the connection goes on as plain TCP",
    "CONFIRM LINK": "first messages on the queue pairs: does the path really work, in both directions?",
    "ADD LINK": "the server offers a second link for the case that the first breaks",
    "CONFIRM RKEY": "another receive buffer is made known",
    "TEST LINK": "is the peer still there?",
    "DELETE LINK": "the end of the link, or of the whole link group",
    "WRITE": "data, placed into the peer's memory; its program is not told by this alone",
    "CDC": "tells the peer of one connection how far data was written (prod) and read (cons)",
    "ACK": "acknowledges packets up to this PSN; sent by the peer's RDMA device, not by its application",
    "CM REQ": "connection manager, a datagram (UD SEND only, 0x64) to queue pair 1: the client's queue pair, and the PSN that it expects first",
    "CM REP": "the server's",
    "CM RTU": "ready to use",
    "CM REJ": "refused; reason 8: nobody listens on this port (yet)",
    "READ request": "RETH: which memory of the peer",
    "READ response": "AETH and data, no RETH: the PSN tells which request is answered",
    "SEND": "goes into a buffer that the peer has posted; no address, no DETH on a reliable connection",
    "FIN": "TCP ends after the SMC-R connection above it",
}


class BadInput(Exception):
    """Nothing can be said about this file, in one line."""


class Frame:
    """One frame, as far as tshark took it apart."""
    __slots__ = ("at", "time", "v")

    def __init__(self, at, line):
        self.at = at
        self.v = dict(zip(FIELDS, line.split("\t")))
        self.time = float(self.v["frame.time_epoch"] or 0)

    def text(self, name):
        """The field's first value; "" if it is not there, or was cut off."""
        t = self.v[name].split(FIELD, 1)[0]
        return "" if t == "<MISSING>" else t

    def all(self, name):
        """All values of a field."""
        return [x for x in self.v[name].split(FIELD) if x]

    def int(self, name):
        """A number, None if it is not there."""
        t = self.text(name)
        return int(t, 0) if t else None

    def bytes(self, name):
        """A byte string."""
        return bytes.fromhex(self.text(name).replace(":", ""))


def tshark(path):
    """The frames of a file; raises BadInput when there are none, or at the place where the file is broken."""
    if not shutil.which("tshark"):
        raise BadInput("tshark is not there (Debian: apt install tshark)")
    cmd = ["tshark", "-n", "-r", path, "-M", "50000", "-o", "tcp.try_heuristic_first:TRUE", "-o", "tcp.reassemble_out_of_order:TRUE",
           # RoCEv2 has a checksum of its own: soft RoCE sends 0 with IPv6 also
           "-o", "udp.ignore_ipv6_zero_checksum:TRUE", "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=" + FIELD]
    for f in FIELDS:
        cmd += ["-e", f]
    with tempfile.TemporaryDirectory(prefix="lab-explain-") as home:
        # Nobody's own preferences.
        proc = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                env=dict(os.environ, WIRESHARK_CONFIG_DIR=home, HOME=home, LC_ALL="C.UTF-8"))
        said = []
        reader = threading.Thread(target=lambda: said.extend(proc.stderr.readlines()[:50]), daemon=True)
        reader.start()
        at = 0
        try:
            for line in proc.stdout:
                at += 1
                yield Frame(at, line.rstrip("\n"))
            rc = proc.wait()
        finally:
            if proc.poll() is None:
                proc.kill()
                proc.wait()
            reader.join(5)
    why = [t.strip() for t in said if t.strip() and "Running as user" not in t]
    if rc:
        text = why[-1] if why else f"tshark: exit {rc}"
        if any("cut short" in t for t in why):
            text = f"the file is cut short in the middle of a packet, {at} whole frames are before it"
        elif not at:
            text = "no capture file that tshark can read (" + text.removeprefix("tshark: ")[-160:] + ")"
        raise BadInput(text)
    if not at:
        raise BadInput("a capture without a single frame")


def home(link, host):
    """Whose memory is meant: a host's address on the first link of the group."""
    return link.home.get(host, host) if link else host


# -- what is judged ----------------------------------------------------------

class Check:
    """One thing that must hold, how often it was judged, and where it did not hold."""

    def __init__(self, name, text, absent):
        self.name, self.text, self.absent = name, text, absent
        self.seen, self.bad, self.first, self.notes = 0, 0, [], OrderedDict()

    def judge(self, ok, at=None, why="", weight=1):
        """Judged once more."""
        self.seen += weight
        if not ok:
            self.bad += 1
            if len(self.first) < 5:
                self.first.append(f"frame {at}: {why}" if at else why)

    def note(self, text, example=""):
        """Something the reader should know about the verdict; how often, and where for the first time."""
        self.notes.setdefault(text, [0, example])[0] += 1

    def verdict(self):
        """ok only if something was judged at all."""
        return "FAILED" if self.bad else "ok" if self.seen else "n/a"

    def record(self):
        """For JSON."""
        return {"name": self.name, "verdict": self.verdict(), "text": self.text, "judged": self.seen, "failed": self.bad,
                "where": self.first, "notes": [f"{t} ({n} times, first: {x})" if x else t for t, (n, x) in self.notes.items()],
                "why": "" if self.seen or self.bad else self.absent}


NO_SMC = "no SMC-R in this capture"
NO_RDMA = "no RoCE packet in this capture"
CHECKS = (
    ("dissected", "every frame is dissected, none is malformed or cut", "no frame"),
    ("no-rocev1", "no frame has EtherType 0x8915, which is RoCEv1", NO_RDMA),
    ("udp-4791", "RoCE goes to UDP port 4791 only", NO_RDMA),
    ("syn-option", "SYN and SYN-ACK carry TCP option 254 with ExID e2d4c3d9", NO_SMC),
    ("clc-order", "CLC: Proposal, Accept, Confirm, or a Decline instead", NO_SMC),
    ("confirm-link", "CONFIRM LINK and its reply come before the first CDC and WRITE of a link", NO_SMC),
    ("dest-qp", "packets go to queue pairs that CLC or ADD LINK have named", NO_SMC),
    ("rkey-range", "WRITEs stay within memory that CLC or CONFIRM RKEY have announced", NO_SMC),
    ("opcodes", "SMC-R uses opcodes 0x00-0x02, 0x04, 0x06-0x08, 0x0a and 0x11 only", NO_SMC),
    ("psn", "PSNs are contiguous modulo 2^24, repetitions aside", "no request of a reliable connection"),
    ("cdc-after-write", "no CDC announces what was not written before it, or takes it back", NO_SMC),
    ("cdc-seq", "CDC sequence numbers of a connection are 1, 2, 3...", NO_SMC),
    ("tcp-quiet", "no byte of the application is on TCP of an SMC-R connection", NO_SMC),
    ("cm-order", "connection manager: REQ, REP, RTU, by datagrams to queue pair 1", "no connection manager packet"),
    ("marker", "the markers are in RDMA payload and nowhere on TCP", "no --marker given"),
)


class Conn:
    """A TCP connection."""

    def __init__(self, key, whole):
        self.client, self.cport, self.server, self.sport = key
        self.whole = whole              # its SYN is in the capture
        self.option = {}                # up: whether SYN or SYN-ACK had it
        self.streams = {}
        self.stage = ""                 # P A C D: what was said last
        self.said = {}                  # what, by its type
        self.plain = {True: 0, False: 0}
        self.plain_at = None
        self.memory = []                # elements of both sides
        self.used = 0                   # the first frame on RDMA that is about it
        self.gone = False
        self.fins = set()
        self.tail = {True: b"", False: b""}     # for markers

    def smc(self):
        """Whether it is used for SMC-R; what has begun cannot be declined."""
        return ACCEPT in self.said and CONFIRM in self.said and (DECLINE not in self.said or bool(self.used))

    def name(self):
        """For people."""
        return f"{self.client}:{self.cport} > {self.server}:{self.sport}"


class Cursor:
    """How far a connection has come."""

    def __init__(self):
        self.wrap, self.wraps, self.least = 0, 0, 0

    def stands(self, wrap, at, base, size):
        """Bytes since the beginning (None: outside of the element), and how many it were before."""
        self.wraps += (wrap - self.wrap + 0x8000 & 0xffff) - 0x8000
        self.wrap, before = wrap, self.least
        if not base <= at < size:
            return None, before
        now = self.wraps * (size - base) + at - base
        self.least = max(before, now)
        return now, before


class Flow:
    """Requests from one host to a queue pair of another."""

    def __init__(self, start):
        self.next = start               # PSN that is due
        self.announced = start is not None
        self.done = 0                   # how many PSNs are behind us, since the first one
        self.holes = []                 # [from, to): PSNs that were left out
        self.recent = OrderedDict()     # PSN: what was in it
        self.reads = None               # the READ request that was the last packet: PSN, (address, RKey, length)
        self.waiting = []               # PSN, call, arguments: what cannot be judged before a hole is closed
        self.lost = False               # a hole is not closed any more
        # in the order of PSNs:
        self.element = None             # where the WRITE goes that is under way
        self.left = 0 if self.announced else None       # how much of it is still to come; None: not known
        self.again = 0
        self.tail = b""

    def place(self, psn):
        """new, again, gap, or before (the first one); the size of the gap."""
        if self.next is None:
            self.next = psn
        ahead = psn - self.next & 0xffffff
        if ahead < 0x800000:
            self.next = psn + 1 & 0xffffff
            self.done += ahead + 1
            if not ahead or self.reads and any(-(-self.reads[1][2] // m) - 1 == ahead for m in MTUS.values()):
                return "new", 0         # a READ takes as many PSNs as its response has packets
            self.holes.append([psn - ahead & 0xffffff, psn])
            return "gap", ahead
        for h in self.holes:
            if psn - h[0] & 0xffffff < (h[1] - h[0] & 0xffffff):
                self.holes.remove(h)
                self.holes += [x for x in ([h[0], psn], [psn + 1 & 0xffffff, h[1]]) if x[0] != x[1]]
                return "new", 0
        if (self.next - psn & 0xffffff) > self.done:
            return "before", 0
        self.again += 1
        return "again", 0

    def reread(self, psn, reth):
        """Whether a READ request asks for the rest of the last one, from a lost response on."""
        if not self.reads or not all(reth) or not all(self.reads[1]):
            return False
        first, (va, rkey, length) = self.reads
        packets, skip = psn - first & 0xffffff, reth[0] - va
        return rkey == reth[1] and 0 < skip < length and skip + reth[2] == length and skip in [packets * m for m in MTUS.values()]

    def same(self, psn, content):
        """Whether this is what was in the packet of this number, as far as that is known."""
        old = self.recent.setdefault(psn, content)
        if len(self.recent) > RECENT:
            self.recent.popitem(False)
        return old == content


class Analysis:
    """Reads frames; tells what happens to a listener, judges it and counts."""

    def __init__(self, markers, tell):
        self.checks = OrderedDict((n, Check(n, t, a)) for n, t, a in CHECKS)
        self.markers, self.tell = markers, tell
        self.stats = {p: [0, 0, 0] for p in PLANES}      # frames, bytes, payload
        self.opcodes = {}
        self.frames = self.bytes = self.begin = self.end = self.again = self.naks = self.rnr = self.smc = 0
        self.clc_bytes = self.tcp_bytes = 0
        self.conns = OrderedDict()
        self.pairs = {}                 # hosts: their first contact
        self.qps = {}                   # (host, QPN): what it is
        self.links = {}                 # (host, QPN): link
        self.start = {}                 # (src, dst, QPN): PSN
        self.flows = {}
        self.elements = {}              # (host, token)
        self.ranges = {}                # (host, RKey): {start: element}
        self.old = set()                # queue pairs that nobody has named, but used before a first contact
        self.opening = {}               # (host, QPN): the connection whose Accept opens a link by it
        self.found = {m: [0, 0, None] for m in markers}         # RDMA, TCP, where
        self.cm = OrderedDict()         # communication IDs
        self.overruled = 0
        self.feats = {}

    # -- one frame ---------------------------------------------------------

    def frame(self, f):
        """What every frame goes through."""
        self.frames += 1
        length = f.int("frame.len") or 0
        self.bytes += length
        self.begin = self.begin or f.time
        self.end = f.time
        protocols = f.text("frame.protocols").split(":")
        bad = bool(f.text("_ws.malformed")) or max([int(x) for x in f.all("_ws.expert.severity")] or [0]) >= ERROR
        why = "tshark: malformed" if bad else ""
        if (f.int("frame.cap_len") or 0) < length:
            why = "only a part of it was captured"
        src, dst = (f.text("ip.src") or f.text("ipv6.src"), f.text("ip.dst") or f.text("ipv6.dst"))
        types = {int(x, 0) for name in ("eth.type", "vlan.etype", "sll.etype") for x in f.all(name)}
        qp = f.int("infiniband.bth.destqp")
        if ROCEV1 in types:
            src, dst = (str(ipaddress.ip_address(ip_of(ipaddress.IPv6Address(f.text(f"infiniband.grh.{x}") or "::").packed)))
                        for x in ("sgid", "dgid"))
        stray = None
        if f.text("udp.dstport") not in ("", str(ROCE_PORT)):
            # tshark takes a datagram from port 4791 for RoCE, too
            qp, stray = None, self._stray(f, src, dst)
        plane = "other"
        if {"icmp", "icmpv6"} & set(protocols):
            why = "" if why.startswith("tshark") and self._foreign(f, "icmp", "icmpv6") else why    # quotes the beginning of another frame
        elif qp is not None or stray:
            self.checks["no-rocev1"].judge(ROCEV1 not in types, f.at, "RoCEv1")
            self.checks["udp-4791"].judge(not stray, f.at, f"a packet to a known queue pair, but to UDP port {f.text('udp.dstport')}")
            if (f.int("udp.srcport") or 0xc000) < 0xc000:
                self.checks["udp-4791"].note("source ports below 0xc000; RoCEv2 recommends those from 0xc000 on", f"frame {f.at}")
            plane, problem = self._roce(f, src, dst, stray)
            if bad and plane in ("WRITE", "READ", "SEND") and why.startswith("tshark") and self._foreign(f, "infiniband"):
                self.checks["dissected"].note("tshark takes payload for a protocol that it is not")
                why = ""
            why = why or problem
        elif f.text("tcp.srcport") and src:
            plane = "TCP"
            problem, agreed, ours = self._tcp(f, src, dst)
            if bad and not ours and why.startswith("tshark") and self._foreign(f, "tcp"):
                self.checks["dissected"].note("tshark takes data of an application for a protocol that it is not")
                why = ""
            # What tshark makes of a Proposal counts for less than the RFC's figure.
            if bad and agreed and why.startswith("tshark"):
                self.overruled += agreed == "proposal"
                if agreed == "cut":
                    self.checks["dissected"].note("tshark does not know a CLC message whose first bytes come alone", f"frame {f.at}")
                why = ""
            why = why or problem
        elif f.text("udp.dstport") == str(ROCE_PORT):
            why = why or "a packet to port 4791 that is no RoCE"
        elif ROCEV1 in types:
            self.checks["no-rocev1"].judge(False, f.at, "RoCEv1")
        if plane == "other":
            what = (protocols[-1] if protocols else "?").upper()
            self._event(f, src, dst, "other", what, "", fold=("other", what))
        self.checks["dissected"].judge(not why, f.at, why)
        s = self.stats[plane]
        s[0] += 1
        s[1] += length

    @staticmethod
    def _foreign(f, *layers):
        """Whether only what is behind these layers can be what tshark complains of."""
        protocols = f.text("frame.protocols").split(":")
        at = next((protocols.index(x) for x in layers if x in protocols), len(protocols))
        told = f.text("_ws.malformed").lower()
        return bool(protocols[at + 1:]) and not any(re.search(rf"\b{x}\b", told) for x in protocols[:at + 1]) and not any(
            IN_FRONT.search(x) for x in f.all("_ws.expert.message"))

    def _event(self, f, src, dst, plane, kind, text, fold=None, **more):
        self.tell(Msg(at=f.at, time=f.time - self.begin, src=src or "-", dst=dst or "-", plane=plane, kind=kind, text=text,
                      fold=fold, **more))

    def _stray(self, f, src, dst):
        """A RoCE packet in a datagram to another port, told by its queue pair."""
        if f.int("udp.dstport") == ROCE_PORT or not self.qps:
            return None
        data = f.bytes("udp.payload")
        if len(data) < 16 or data[1] & 15 or data[0] not in OPCODES or (dst, int.from_bytes(data[5:8], "big")) not in self.qps:
            return None
        return Roce(src, dst, None, data, (f.int("udp.length") or 8) - 8)

    # -- TCP and CLC ---------------------------------------------------------

    def _tcp(self, f, src, dst):
        """Returns a problem, where our reader knows CLC better than tshark (proposal, cut), whether this was CLC at all."""
        sport, dport = f.int("tcp.srcport"), f.int("tcp.dstport")
        flags, payload = f.int("tcp.flags") or 0, f.bytes("tcp.payload")
        seq = f.int("tcp.seq_raw") or 0
        self.stats["TCP"][2] += len(payload)
        self.tcp_bytes += len(payload)
        up = True
        key = (src, sport, dst, dport)
        for k, way in ((key, True), (key[2:] + key[:2], False)):
            s = k in self.conns and self.conns[k].streams.get(way)
            if s and payload[:4] == EYE and 1 << 12 < (seq - s.next & 0xffffffff) < 0xfffff000:
                self._forget(k)         # the same ports again, and the SYN was not captured
        if flags & 0x12 == 0x02:
            old = self.conns.get(key)
            if old is None or old.stage or True in old.streams and old.streams[True].first != seq + 1 & 0xffffffff:
                self._forget(key)
                self.conns[key] = Conn(key, True)
        elif key not in self.conns:
            key, up = (dst, dport, src, sport), False
            if key not in self.conns:
                # Its beginning is not here. Who proposes is the client.
                up = payload[:5] == EYE + bytes((PROPOSAL,)) or sport > dport
                key = (src, sport, dst, dport) if up else key
                self.conns[key] = Conn(key, False)
        c = self.conns[key]
        while len(self.conns) > CONNS:
            self._forget(next(iter(self.conns)))
            self.checks["tcp-quiet"].note(f"more than {CONNS} TCP connections at a time: the oldest were no longer followed")
        problem, agreed = "", ""
        if flags & 2:
            c.option[up] = self._option(f.bytes("tcp.options"))
            c.streams[up] = Stream(seq + 1)
            kind = "SYN" if up else "SYN-ACK"
            self._event(f, src, dst, "TCP", kind, f"{sport} > {dport}, " + (
                "option 254, ExID e2d4c3d9" if c.option[up] else "without the SMC-R option") +
                        (f", {len(payload)} bytes with it" if payload else ""), remark=c.option[up])
            if payload:
                self._mark(payload, c.tail, up, f, True)
                c.plain[up] += len(payload)
                c.plain_at = c.plain_at or f.at
            return problem, agreed, True
        if up not in c.streams:
            c.streams[up] = Stream(seq)
        s = c.streams[up]
        old = payload and s.next - seq - len(payload) & 0xffffffff < 1 << 31        # sent again
        said = s.feed(seq, payload)
        rest = s.spill()
        if len(s.later) > 256:
            # Segments are missing in the capture: go on behind them.
            s.next = min(s.later, key=lambda x: x - s.next & 0xffffffff)
            self.checks["tcp-quiet"].note("TCP segments are missing in the capture")
            said += s.feed(s.next, b"")
            rest += s.spill()
        named = [int(x) for x in f.all("smc.clc_msg")]
        if [m.type for m in said] != named and (said or named) and not old and not f.text("_ws.malformed"):
            problem = f"tshark sees CLC messages {named}, the RFC's figures {[m.type for m in said]}"
        if said and all(sound(m) for m in said):
            agreed = "proposal" if said[0].type == PROPOSAL and named == [PROPOSAL] else "cut" if payload[:4] != EYE else ""
        for m in said:
            if c.stage == "C" and c.used:
                c.plain[up] += len(m.raw)       # it looks like CLC, but nothing is left to negotiate
                c.plain_at = c.plain_at or f.at
                continue
            self.clc_bytes += len(m.raw)
            if m.type not in CLC_NAMES or m.byte7 >> 4 == 1 and not sound(m):
                problem = "a CLC message that does not fit its figure"
                self.checks["clc-order"].judge(False, f.at, problem)
                continue
            self._clc(f, c, m, up, src, dst)
        self._mark(payload, c.tail, up, f, True)
        if rest:
            c.plain[up] += len(rest)
            c.plain_at = c.plain_at or f.at
            if not c.stage and c.option.get(True) and c.option.get(False):
                self.checks["clc-order"].judge(False, f.at, f"{c.name()}: both offer SMC-R, but there is no Proposal")
                c.option[True] = None
        if payload and not said:
            loud = c.smc() and (rest or s.data or s.later)
            if loud:
                c.plain_at = c.plain_at or f.at
            self._event(f, src, dst, "TCP", "data", f"{sport} > {dport}, {len(payload)} bytes" +
                        (" on TCP of an SMC-R connection!" if loud else ""),
                        fold=None if loud else ("data", src, sport, dst, dport), size=len(payload))
        if flags & 4:
            self._event(f, src, dst, "TCP", "RST", f"{sport} > {dport}")
            self._forget(key)
        elif flags & 1:
            self._event(f, src, dst, "TCP", "FIN", f"{sport} > {dport}")
            c.fins.add(up)
            if len(c.fins) == 2:
                for e in c.memory:
                    e.over = e.over or f.at
        elif not payload:
            self._event(f, src, dst, "TCP", "ack", f"{sport} > {dport}", fold=("ack", src, sport, dst, dport))
            if len(c.fins) == 2:
                self._forget(key)
        return problem, agreed, bool(said or named or s.data)

    @staticmethod
    def _option(options):
        """Whether the SMC-R option is among these."""
        while options and options[0]:
            if options[0] == 1:
                options = options[1:]
                continue
            if len(options) < 2 or options[1] < 2:
                break
            if options[:6] == bytes((254, 6)) + EXID:
                return True
            options = options[options[1]:]
        return False

    def _clc(self, f, c, m, up, src, dst):
        name = CLC_NAMES[m.type]
        if not c.stage:
            for way, what in ((True, "SYN"), (False, "SYN-ACK")):
                if way in c.option and c.option[way] is not None:
                    self.checks["syn-option"].judge(c.option[way], f.at, f"{c.name()}: {what} without the option")
                else:
                    self.checks["syn-option"].note(f"{what} is not in the capture", c.name())
        expected = {"": {(PROPOSAL, True)}, "P": {(ACCEPT, False)}, "A": {(CONFIRM, True)}, "C": set(), "D": set()}[c.stage]
        ok = (m.type, up) in expected or m.type == DECLINE and c.stage in ("P", "A", "C", "D")
        if not c.stage and not c.whole and not ok:
            self.checks["clc-order"].note("the connection begins before the capture", c.name())
        else:
            self.checks["clc-order"].judge(ok, f.at, f"{c.name()}: {name} from the {'client' if up else 'server'} " + (
                {"": "as the first message", "P": "after Proposal", "A": "after Accept", "C": "after Confirm",
                 "D": "after Decline"}[c.stage]))
        c.stage = {PROPOSAL: "P", ACCEPT: "A", CONFIRM: "C", DECLINE: "D"}[m.type]
        c.said[m.type] = m
        self.smc += 1
        if m.byte7 >> 4 != 1:
            self.checks["clc-order"].note("messages of another version than 1: their contents were not read, nor what depends on them")
            self._event(f, src, dst, "CLC", "CLC " + name, f"version {m.byte7 >> 4}, {m.length} bytes")
            return
        if m.type == PROPOSAL:
            text = (f"{m.length} bytes, peer ID {m.peer_id.hex()}, GID {addr(m.gid)}, subnet {addr(m.net)}/{m.plen}" +
                    "".join(f", {addr(p)}/{n}" for p, n in m.prefixes))
        elif m.type == DECLINE:
            text = f"peer ID {m.peer_id.hex()}, diagnosis {m.diagnosis:#010x}"
        else:
            how = "" if m.type == CONFIRM else "first contact, " if m.byte7 & 8 else "on a known link, "
            how += f"QP {m.qpn:#x}" + (f", first PSN {m.psn}" if m.psn else "")
            text = (f"{how}, MTU {MTUS.get(m.mtu, '?')}, RKey {m.rkey:#x}, address {m.va:#x}, element {m.index} of "
                    f"{nbytes(m.size)}, token {m.token:#010x}")
        self._event(f, src, dst, "CLC", "CLC " + name, text)
        if m.type in (ACCEPT, CONFIRM):
            self._announced(c, m, f)

    def _announced(self, c, m, f):
        """The queue pair and the memory of one side."""
        link = self.links.get((addr(m.gid), m.qpn))
        owner = home(link, addr(m.gid))
        self.qps[addr(m.gid), m.qpn] = "smc"
        old = self.ranges.setdefault((owner, m.rkey), {})
        start = m.va + (m.index - 1) * m.size
        e = Msg(owner=owner, rkey=m.rkey, start=start, size=m.size, token=m.token, written=0, seq=0, seen=None, prod=Cursor(),
                cons=Cursor(), link=None, pos=0, by=None, done=False, twin=None, over=None, conn=c)
        if start in old:
            self.elements.pop((owner, old[start].token), None)
        old[start] = self.elements[owner, m.token] = e
        c.memory.append(e)
        if m.type == ACCEPT and m.byte7 & 8:
            self.opening[addr(m.gid), m.qpn] = c
        a, x = c.said.get(ACCEPT), c.said.get(CONFIRM)
        if not a or not x or a.byte7 >> 4 != 1 or x.byte7 >> 4 != 1:
            return
        server, client = addr(a.gid), addr(x.gid)
        pair = self._pair(server, client)
        if a.byte7 & 8:
            pair.contact = f.at
            self.opening.pop((server, a.qpn), None)
            self._link(f, Msg(links=[], memory={}, more=False), (server, a.qpn, a.psn, server), (client, x.qpn, x.psn, client))
        else:
            one, other = self.links.get((server, a.qpn)), self.links.get((client, x.qpn))
            known = {(server, a.qpn), (client, x.qpn)} & self.old
            if one is not other or not one and not known and pair.contact:
                self.checks["dest-qp"].judge(False, f.at, f"{c.name()}: queue pairs {a.qpn:#x} of Accept and {x.qpn:#x} of Confirm are not the "
                                             "two ends of a link")
        for e in c.memory:
            e.link = self.links.get((server, a.qpn))
            e.twin = next((y for y in c.memory if y.owner != e.owner), None)

    def _link(self, f, group, *ends, number=None, base=None):
        """A link comes into being; of each end: address, queue pair, first PSN that it sends, address on the group's first link."""
        link = Msg(at=f.at, ask=None, answer=None, to=None, wrong="", ends={x[:2] for x in ends}, base=base, judged=False, group=group,
                   number=number, asked=None, over=False, home={x[0]: x[3] for x in ends})
        group.links.append(link)
        for mine, peer in (ends, ends[::-1]):
            self.links[mine[0], mine[1]] = link
            self.qps[mine[0], mine[1]] = "smc"
            way = (mine[0], peer[0], peer[1])
            self.start[way] = mine[2]
            self._settle(way)

    def _pair(self, a, b):
        return self.pairs.setdefault(frozenset((a, b)), Msg(contact=0))

    def _forget(self, key):
        """The end of a TCP connection."""
        c = self.conns.pop(key, None)
        if not c:
            return
        c.gone = True
        self._unfinished(c)
        a = c.said.get(ACCEPT)
        if a and a.get("qpn") and self.opening.get((addr(a.gid), a.qpn)) is c:
            del self.opening[addr(a.gid), a.qpn]
        if c.smc():
            # what looks like the beginning of a CLC message, and what stands behind missing bytes
            n = sum(c.plain.values()) + sum(len(s.data) + sum(map(len, s.later.values())) for s in c.streams.values())
            self.checks["tcp-quiet"].judge(not n, c.plain_at, f"{c.name()}: {n} bytes that are no CLC message")

    def _used(self, c, at):
        """RDMA of a connection. Its Confirm may still come, if it was lost."""
        if not c.used:
            c.used = at
            if c.gone:
                self._unfinished(c)

    def _unfinished(self, c):
        """Without Confirm there is no SMC-R."""
        if c.whole and c.used and CONFIRM not in c.said:
            self.checks["clc-order"].judge(False, c.used, f"{c.name()}: RDMA, but the last message was " + (
                CLC_NAMES[max(c.said)] if c.said else "none"))

    # -- RoCE ----------------------------------------------------------------

    def _roce(self, f, src, dst, stray):
        """Returns the plane, and a problem."""
        if stray:
            op, qpn, psn, size = stray.opcode, stray.qp, stray.psn, stray.length
            data = f.bytes("udp.payload")
            ext = OPCODES[op][1]
            head = data[12:12 + ext]
            reth = (int.from_bytes(head[:8], "big"), int.from_bytes(head[8:12], "big"), int.from_bytes(head[12:16], "big"))
            synd = head[0] if head else None
        else:
            op, qpn, psn = (f.int(f"infiniband.bth.{x}") for x in ("opcode", "destqp", "psn"))
            if op is None or psn is None:
                return "other", "a RoCE packet without its header"
            data = f.bytes("udp.payload")
            ext = OPCODES.get(op, ("", 0))[1]
            reth = tuple(f.int(f"infiniband.reth.{x}") for x in ("va", "r_key", "dmalen"))
            synd = f.int("infiniband.aeth.syndrome")
            total = (f.int("udp.length") or 8) - 8 if f.text("udp.length") else (f.int("infiniband.grh.paylen") or 0)
            size = max(0, total - 12 - ext - (f.int("infiniband.bth.padcnt") or 0) - 4)
        n = self.opcodes.setdefault(op, [0, 0])
        n[0] += 1
        n[1] += size
        kind = self.qps.get((dst, qpn))
        if qpn == CM_QP or op >> 5:
            if op != (UD_SEND if qpn == CM_QP else CNP) and (qpn == CM_QP or kind in ("smc", "smc?")):
                self.checks["opcodes"].judge(False, f.at, f"{op:#04x} to queue pair {qpn:#x}, " + (
                    "which takes UD SEND only" if qpn == CM_QP else "a reliable connection"))
            return self._datagram(f, src, dst, op, qpn)
        payload = data[12 + ext:12 + ext + size]
        pair = self._pair(src, dst)
        named = "stray" if stray else f.text("smc.llc_msg")
        if kind is None and not pair.contact:
            self.old.add((dst, qpn))
        if kind is None and named and size == 44 and op == 0x04 and (dst, qpn) in self.old:
            # A link of a group that is older than the capture.
            self.qps[dst, qpn] = kind = "smc?"
            self.checks["dest-qp"].note("a link group that is older than the capture was not judged", f"frame {f.at}")
            self._unannounced(f, src, dst, payload)
        smc = kind in ("smc", "smc?")
        if kind is None and (dst, qpn) not in self.old:
            self.checks["dest-qp"].judge(False, f.at, f"queue pair {qpn:#x} of {dst} was not named by anybody")
            smc = True
        elif kind == "smc":
            self.checks["dest-qp"].judge(True)
            if (dst, qpn) in self.opening:
                self._used(self.opening[dst, qpn], f.at)
        elif kind == "cm" and pair.contact and self._ours(dst, op, payload, reth, named):
            self.checks["dest-qp"].judge(False, f.at, f"what belongs to SMC-R goes to queue pair {qpn:#x} of {dst}, which the CM has named")
        if smc:
            self.smc += 1
            self.checks["opcodes"].judge(op in SMC_OPCODES, f.at, f"{op:#04x} {OPCODES.get(op, ('unknown',))[0]}" + (
                ", which nobody has negotiated" if op in IMMEDIATE else ""))
        if ACK <= op <= 0x12 or 0x0d <= op <= 0x10:
            return self._response(f, src, dst, op, qpn, psn, size, synd, payload)
        if op not in OPCODES:
            self._event(f, src, dst, "other", "unknown", f"opcode {op:#04x}, QP {qpn:#x}")
            return "other", f"opcode {op:#04x} is not known"
        link = self.links.get((dst, qpn))
        return self._request(f, Msg(src=src, dst=dst, op=op, qpn=qpn, psn=psn, size=size, payload=payload, reth=reth, smc=smc, head=data[12:12 + ext],
                                    link=link, owner=home(link, dst), me=home(link, src),
                                    whole=pair.contact and kind != "smc?",
                                    pair=pair, named=named))

    def _unannounced(self, f, src, dst, payload):
        """A queue pair that nobody has named, but a link begins here: what has the connection to say that asked for it?"""
        m = link_msg(payload) if len(payload) == 44 else None
        if not m or m.type != CONFIRM_LINK or m.reply:
            return
        conns = [c for c in self.conns.values() if {c.client, c.server} == {src, dst}]
        for c in conns if all(c.whole for c in conns) else ():
            if c.stage in ("P", "A"):
                self._used(c, f.at)

    def _not_first(self, f, p):
        """A link begins on a queue pair that Confirm has named, but it does not belong to a first contact."""
        conns = [c for c in self.conns.values() if {c.client, c.server} == {p.src, p.dst}]
        for c in conns if all(c.whole for c in conns) else ():
            if c.stage == "C" and c.said[CONFIRM].get("qpn") == p.qpn:
                self.checks["clc-order"].judge(False, f.at, f"{c.name()}: CONFIRM LINK, but Accept says nothing of a first contact")

    def _ours(self, dst, op, payload, reth, named):
        """Whether this is a message of SMC-R, or a WRITE into memory that was announced for it."""
        if op in WRITES:
            return reth[0] is not None and any(e.start <= reth[0] < e.start + e.size for e in self.ranges.get((dst, reth[1]), {}).values())
        m = link_msg(payload) if op == 0x04 and named and len(payload) == 44 else None
        return m and m.length == 44 and (m.type in LLC_NAMES or m.type == CDC and (dst, m.token) in self.elements)

    def _response(self, f, src, dst, op, qpn, psn, size, synd, payload):
        where = f"QP {qpn:#x}, PSN {psn}"
        if op == ACK:
            code = (synd or 0) >> 5
            if code == 0:
                self._event(f, src, dst, "ACK", "ACK", where, fold=("ACK", src, dst, qpn), psn=psn)
            elif code == 1:
                self.rnr += 1
                self._event(f, src, dst, "ACK", "RNR NAK", f"{where}: the receiver has no buffer posted yet, to be repeated later")
            else:
                self.naks += 1
                self._event(f, src, dst, "ACK", "NAK", f"{where}: {NAKS.get(synd & 31, synd & 31)} (syndrome {synd:#04x})")
            return "ACK", ""
        if op == 0x12:
            self._event(f, src, dst, "ATOMIC", "ATOMIC response", where, fold=("AR", src, dst, qpn), psn=psn)
            return "ATOMIC", ""
        self.stats["READ"][2] += size
        self._mark(payload, self._flow(src, dst, qpn).__dict__, "tail", f, False)
        self._event(f, src, dst, "READ", "READ response", f"{where}, {size} bytes", fold=("RR", src, dst, qpn), psn=psn, size=size)
        return "READ", ""

    def _flow(self, src, dst, qpn):
        key = (src, dst, qpn)
        if key not in self.flows:
            self.flows[key] = Flow(self.start.get(key))
        return self.flows[key]

    def _settle(self, key):
        """The end of a queue pair, or of the capture: what was left out and never repeated?"""
        flow = self.flows.pop(key, None)
        if flow:
            flow.lost = bool(flow.holes)
            for a, b in flow.holes:
                self.checks["psn"].judge(False, None, f"{key[0]} to QP {key[2]:#x}: PSN {a} to {b - 1 & 0xffffff} never came")
            self._in_order(flow)

    def _request(self, f, p):
        flow = self._flow(p.src, p.dst, p.qpn)
        psn, who = self.checks["psn"], f"{p.src} to QP {p.qpn:#x}: PSN {p.psn}"
        if flow.next is not None and not flow.announced and not flow.reads and FAR < (p.psn - flow.next & 0xffffff) < (1 << 24) - FAR:
            psn.note("queue pairs with another PSN, far away: taken for new ones", who)
            self._settle((p.src, p.dst, p.qpn))
            flow = self._flow(p.src, p.dst, p.qpn)
        state, gap = ("again", 0) if p.op == 0x0c and flow.reread(p.psn, p.reth) else flow.place(p.psn)
        if state == "before" and not flow.announced:
            # Its first packet may have crossed another one, or be older than the capture.
            psn.note("PSNs before the first one of the capture were not judged", who)
            state = "again"
        else:
            psn.judge(state != "before", f.at, f"{who} is before the announced first one")
        if state != "again":
            flow.recent.pop(p.psn, None)        # of the last round
            flow.reads = (p.psn, tuple(x or 0 for x in p.reth)) if p.op == 0x0c else None
        if not flow.same(p.psn, (p.op, p.size, zlib.crc32(p.head + p.payload))):
            psn.judge(False, f.at, f"{who} again, but with other contents")
        if len(flow.holes) > HOLES:
            a, b = flow.holes.pop(0)
            flow.lost = True
            psn.judge(False, f.at, f"{p.src} to QP {p.qpn:#x}: PSN {a} to {b - 1 & 0xffffff} did not come, and {HOLES} other gaps are open")
        self.again += state == "again"
        p.update(flow=flow, new=state != "again", again="repeated " if state == "again" else "",
                 where=f"QP {p.qpn:#x}, PSN {p.psn}" + (f", {gap} PSNs left out before it" if gap else ""))
        if p.op in WRITES:
            plane, problem = self._write(f, p), ""
        elif p.op == 0x0c:
            va, rkey, length = p.reth
            plane, problem = "READ", ""
            self._event(f, p.src, p.dst, "READ", p.again + "READ request", f"{p.where}, RKey {rkey or 0:#x}, address {va or 0:#x}, "
                        f"{length} bytes", fold=("RQ", p.again, p.src, p.dst, p.qpn), psn=p.psn)
        elif p.op == 0x1c:
            plane, problem = "READ", ""
            self._event(f, p.src, p.dst, "READ", p.again + "FLUSH", p.where, fold=("FL", p.again, p.src, p.dst, p.qpn), psn=p.psn)
        elif p.op in (0x13, 0x14, 0x1d):
            plane, problem = "ATOMIC", ""
            self._event(f, p.src, p.dst, "ATOMIC", f"{p.again}ATOMIC {OPCODES[p.op][0]}", p.where,
                        fold=("AQ", p.op, p.again, p.src, p.dst, p.qpn), psn=p.psn)
        else:
            plane, problem = self._send(f, p)
        if p.new:
            self._mark(p.payload, flow.__dict__, "tail", f, False)
        p.update(payload=b"", head=b"")
        flow.lost = flow.lost or len(flow.waiting) > WAITING
        if not flow.holes or flow.lost:
            self._in_order(flow)
        return plane, problem

    @staticmethod
    def _in_order(flow):
        """What was sent is judged as its receiver takes it: by PSN."""
        todo, flow.waiting = flow.waiting, []
        for _, call, args in sorted(todo, key=lambda w: w[0] - flow.next & 0xffffff):
            call(*args)

    def _write(self, f, p):
        va, rkey, length = p.reth
        self.stats["WRITE"][2] += p.size
        known = None
        if None not in p.reth and p.op in (0x06, 0x0a, 0x0b):
            known = self._known(p, rkey) if p.smc else None
            where = f"RKey {rkey:#x}, address {va:#x}, {nbytes(length)}"
        else:
            va, where = None, "continued"
        if p.new and p.smc:
            p.flow.waiting.append((p.psn, self._written, (f.at, p, known)))
        self._event(f, p.src, p.dst, "WRITE", f"{p.again}WRITE", f"{OPCODES[p.op][0][11:]}, {p.where}, {where}",
                    fold=("WRITE", p.again, p.src, p.dst, p.qpn, rkey or p.flow.__dict__.get("rkey")),
                    psn=p.psn, size=p.size, va=va, end=None if va is None else va + length, rkey=rkey)
        if rkey is not None:
            p.flow.rkey = rkey
        return "WRITE"

    def _written(self, at, p, known):
        """A packet of a WRITE, in its turn. Known: what its RKey stands for; None if it begins no WRITE."""
        flow = p.flow
        if known is not None:
            self._whole(at, flow)
            self._confirmed(at, p, "WRITE")
            flow.element = self._element(at, p, known)
        self._length(at, p, known is not None)
        e = flow.element
        if e:
            self._used(e.conn, at)
            e.written = None if flow.lost or e.written is None else e.written + p.size

    def _whole(self, at, flow):
        """Before a WRITE or a CDC the last WRITE has ended."""
        if flow.left and not flow.lost:
            self.checks["rkey-range"].judge(False, at, f"the WRITE before it lacks {flow.left} bytes of the length in its RETH")
            flow.left = None

    def _length(self, at, p, first):
        """A WRITE has as many bytes as its RETH says."""
        flow = p.flow
        if flow.lost or not first and flow.left is None:
            flow.left = None
            return
        flow.left = (p.reth[2] if first else flow.left) - p.size
        if flow.left < 0 or (flow.left == 0) != (p.op >= 0x08):
            self.checks["rkey-range"].judge(False, at, f"{OPCODES[p.op][0]}: {abs(flow.left)} bytes too {'many' if flow.left < 0 else 'few'} "
                                            "for the length in the RETH" if flow.left else f"{OPCODES[p.op][0]}, but nothing is left to come")
            flow.left = None

    def _known(self, p, rkey):
        """What was announced under an RKey of this link: elements, and how far their addresses are from those on this link."""
        found = [(e, 0) for e in self.ranges.get((p.owner, rkey), {}).values() if not p.link or e.link in (None, p.link)]
        for m in p.link.group.memory.get(p.owner, ()) if p.link else ():
            here = m.get(p.link.number)
            for number, (other, va) in m.items() if here and here[0] == rkey else ():
                found += [(e, here[1] - va) for e in self.ranges.get((p.owner, other), {}).values()
                          if e.link is not p.link and e.link and e.link.number == number]
        return found

    def _element(self, at, p, known):
        """The announced element that a WRITE belongs to."""
        va, rkey, length = p.reth
        e, shift = next(((x, y) for x, y in known if x.start <= va - y < x.start + x.size), (None, 0))
        check = self.checks["rkey-range"]
        if not p.whole:
            check.note("WRITEs of connections that are older than the capture were not judged")
            return e
        if not e and p.link and p.link.group.more:
            check.note("RKeys of messages that go on in a CONTINUATION are not read: WRITEs were not judged")
            return None
        off, base = (va - shift - e.start, e.link.base if e.link else None) if e else (0, None)
        why = ("within no element of this RKey" if known else "nobody has announced this RKey") if not e else \
            f"beyond the element at {e.start:#x}, {e.size} bytes" if off + length > e.size else \
            f"into the eye catcher at {e.start:#x}" if off < (base or 0) else \
            f"the element's connection has ended in frame {e.over}" if e.over and e.over < at else ""
        check.judge(not why, at, f"RKey {rkey:#x}, address {va:#x}, {length} bytes: {why}")
        if e:
            self._goes_on(at, p.flow, e, off, length, base, why)
        return e or (p.flow.element if known else None)

    def _goes_on(self, at, flow, e, off, length, base, wrong):
        """WRITEs go on where the last one of the element ended, and at its end from the beginning."""
        if base is None or flow.lost:
            e.pos = None                # known from the next WRITE on
            return
        if e.by not in (None, flow):
            # Of data that another link did not bring, a part comes again.
            e.pos = None
            self.checks["rkey-range"].note("data moved to another link: where they go on was not judged")
        e.by = flow
        if wrong:
            e.pos = None if e.pos is None else e.pos + length
            return
        due = off if e.pos is None else base + e.pos % (e.size - base)
        if off != due:
            self.checks["rkey-range"].judge(False, at, f"offset {off} of the element at {e.start:#x}, but the next byte belongs to offset {due}")
        e.pos = (off - base if e.pos is None else e.pos) + length

    def _confirmed(self, at, p, what):
        """CONFIRM LINK before everything else."""
        link = p.link
        if link and not link.judged:
            link.judged = True
            why = link.wrong or ("was not said" if link.ask is None else "has no reply" if link.answer is None else "")
            self.checks["confirm-link"].judge(not why, at, f"{what}, but CONFIRM LINK {why}")

    def _send(self, f, p):
        """What goes into posted buffers: LLC and CDC, or what verbs programs have to say."""
        if not p.smc:
            self.stats["SEND"][2] += p.size
            self._event(f, p.src, p.dst, "SEND", p.again + "SEND", f"{OPCODES[p.op][0][5:]}, {p.where}, {p.size} bytes",
                        fold=("SEND", p.again, p.src, p.dst, p.qpn), psn=p.psn, size=p.size)
            return "SEND", ""
        raw = p.payload
        if len(raw) != 44:
            self._event(f, p.src, p.dst, "LLC", "?", f"{p.where}, {p.size} bytes: no LLC message has this length")
            return "LLC", f"a SEND of {p.size} bytes on an SMC-R link" if f.int("frame.cap_len") == f.int("frame.len") else ""
        m = link_msg(raw, bool(p.link and p.link.base == 0))
        problem = ""
        if m.type >> 6 == 2:
            pass                        # to be ignored by who does not know it
        elif p.named != "stray" and (not p.named or int(p.named, 0) != m.type):
            problem = f"message type {m.type:#04x}: tshark sees {p.named or 'no SMC-R message'}"
        elif m.type != CDC and m.type not in LLC_NAMES:
            problem = f"message type {m.type:#04x} is not known"
        elif m.length != 44:
            problem = f"message type {m.type:#04x} with length byte {m.length}"
        if m.type == CDC:
            return self._cdc(f, p, m), problem
        self.stats["LLC"][2] += p.size
        name = LLC_NAMES.get(m.type, f"type {m.type:#04x}")
        self._event(f, p.src, p.dst, "LLC", p.again + name + (" reply" if m.reply else ""),
                    f"QP {p.qpn:#x}, PSN {p.psn}{llc_text(m)}")
        if p.new:
            self._llc(f, p, m)
        return "LLC", problem

    def _llc(self, f, p, m):
        link = p.link
        if m.type == CONFIRM_LINK:
            link = link or self.links.get((p.src, m.qpn))
            if link:
                p.flow.waiting.append((p.psn, self._confirms, (f.at, p, m, link)))
            elif not m.reply:
                self._not_first(f, p)
        elif not link:
            if m.type == ADD_LINK and not m.get("rejected") and m.qpn:
                self.qps[p.src, m.qpn] = "smc?"         # of a group that is older than the capture
                self.old.add((p.src, m.qpn))
        elif m.type == ADD_LINK:
            self._add_link(f, p, m)
        elif m.type in (3, 8):                          # CONTINUATIONs
            link.group.more = True
        elif m.type == CONFIRM_RKEY and not m.reply:
            link.group.memory.setdefault(p.me, []).append({link.number: (m.rkey, m.va), **{n: (rkey, va) for n, rkey, va in m.others}})
        elif m.type == DELETE_RKEY and not m.reply:
            gone = {(link.number, x) for x in m.rkeys}
            kept = []
            for memory in link.group.memory.get(p.me, []):
                here = {(n, x[0]) for n, x in memory.items()}
                if here & gone:
                    gone |= here
                else:
                    kept.append(memory)
            link.group.memory[p.me] = kept
            for number, rkey in gone:
                known = self.ranges.get((p.me, rkey), {})
                for e in [x for x in known.values() if x.link and x.link.group is link.group and x.link.number == number]:
                    del known[e.start]
                    self.elements.pop((p.me, e.token), None)
        elif m.type == DELETE_LINK and m.reply:
            for x in link.group.links:
                x.over = x.over or m.all or x.number == m.link
            if all(x.over for x in link.group.links):
                for e in self.elements.values():
                    if e.link and e.link.group is link.group:
                        e.over = e.over or f.at

    @staticmethod
    def _confirms(at, p, m, link):
        """CONFIRM LINK or its reply, in its turn."""
        to = (p.dst, p.qpn)
        why = "names another queue pair or GID than its sender's" if (addr(m.gid), m.qpn) not in link.ends - {to} else \
            "names another link" if link.number not in (None, m.link) else \
            "has a reply before it" if m.reply and link.ask is None else \
            "has a reply from the same side" if m.reply and link.to == to else ""
        if not link.wrong and why:
            link.wrong = f"{why} (frame {at})"
        if not m.reply:
            link.to = to
        link.number = m.link
        link.answer, link.ask = (m.flags, link.ask) if m.reply else (link.answer, m.flags)
        if link.ask is not None and link.answer is not None and link is link.group.links[0]:
            # Both do without eye catchers: data begin at 0 and not at 4.
            link.base = 0 if link.ask & link.answer else 4

    def _add_link(self, f, p, m):
        """Another link of the group, once both sides have named its ends."""
        group = p.link.group
        if not m.reply:
            p.link.asked = (p.src, m)
            return
        who, ask = p.link.asked or (None, None)
        if m.get("rejected") or who != p.dst or not m.qpn:
            return
        mine, theirs = addr(m.gid), addr(ask.gid)
        old, new = p.pair, self._pair(mine, theirs)
        new.contact = new.contact or old.contact
        self._link(f, group, (mine, m.qpn, m.psn, p.me), (theirs, ask.qpn, ask.psn, p.owner), number=m.link, base=p.link.base)

    def _cdc(self, f, p, m):
        self.stats["CDC"][2] += p.size
        flags = [t for bit, t in FLAGS if m.flags & bit] + [t for bit, t in ENDS if m.ends & bit]
        where = f"token {m.token:#010x}, seq {m.seq}, prod {m.prod_wrap}:{m.prod}, cons {m.cons_wrap}:{m.cons}"
        self._event(f, p.src, p.dst, "CDC", p.again + "CDC", where + (", " + ", ".join(flags) if flags else ""),
                    fold=None if m.ends or m.flags & 0x68 or p.again else ("CDC", p.src, p.dst, m.token), seq=m.seq, token=m.token,
                    psn=p.psn, words=flags, prod=f"{m.prod_wrap}:{m.prod}", cons=f"{m.cons_wrap}:{m.cons}")
        if p.new:
            p.flow.waiting.append((p.psn, self._cdc_due, (f.at, p, m, self.elements.get((p.owner, m.token)))))
        return "CDC"

    def _cdc_due(self, at, p, m, e):
        """A CDC, in its turn."""
        self._whole(at, p.flow)
        self._confirmed(at, p, "CDC")
        if not e:
            if p.whole:
                self.checks["cdc-seq"].judge(False, at, f"token {m.token:#010x} was not announced")
            else:
                self.checks["cdc-seq"].note("connections that are older than the capture were not judged")
            return
        self._used(e.conn, at)
        if e.link and p.link and e.link.group is not p.link.group:
            self.checks["dest-qp"].judge(False, at, f"CDC, token {m.token:#010x}, on a link of another group than its connection's")
        if m.ends & 0x60:               # closed, or abnormal close
            e.done = True
            if e.twin and e.twin.done:
                e.over = e.twin.over = e.over or at
        if p.flow.lost:
            e.seq = e.written = None
            for name in ("cdc-seq", "cdc-after-write"):
                self.checks[name].note("CDCs behind missing packets were not judged", f"frame {at}")
            return
        self._numbered(at, m, e)
        self._covered(at, m, e)

    def _numbered(self, at, m, e):
        """Sequence numbers of a connection."""
        if m.flags & 0x08:              # failover validation: what comes behind this number may come again
            e.seen = m.seq
            return
        if e.seq is not None:
            due = e.seq + 1 & 0xffff
            again = e.seen is not None and 0 < (m.seq - e.seen & 0xffff) <= (due - e.seen & 0xffff)
            self.checks["cdc-seq"].judge(m.seq == due or again, at, f"token {m.token:#010x}: seq {m.seq} instead of {due}")
        e.seq, e.seen = m.seq, None

    def _covered(self, at, m, e):
        """What a producer cursor announces has been written."""
        base = e.link.base if e.link else None
        if base is None:
            self.checks["cdc-after-write"].note("no CONFIRM LINK of the link in the capture: cursors were not judged")
            return
        check, who, t = self.checks["cdc-after-write"], f"token {m.token:#010x}, seq {m.seq}:", e.twin
        if m.flags & 0x08:              # no news; what follows was announced before
            e.prod.least = e.cons.least = 0
            return
        if e.written is not None:
            due, before = e.prod.stands(m.prod_wrap, m.prod, base, e.size)
            check.judge(due is not None and before <= due <= e.written, at, f"{who} " + (
                "a producer cursor outside of the element" if due is None else
                f"announces {due} bytes, {e.written} have been written, {before} were announced before"))
        if t and t.written is not None and not (t.by and t.by.holes):
            due, before = e.cons.stands(m.cons_wrap, m.cons, base, t.size)
            if due is None or not before <= due <= t.written:
                check.judge(False, at, f"{who} " + (
                    "a consumer cursor outside of the element" if due is None else
                    f"says that {due} bytes were read, {t.written} have been written, {before} were said to be read before"))

    # -- datagrams: the connection manager -----------------------------------

    def _datagram(self, f, src, dst, op, qpn):
        what = f.int("infiniband.mad.attributeid")
        cm = self.checks["cm-order"]
        if qpn != CM_QP or what is None or what not in CM_NAMES:
            self._event(f, src, dst, "other", "datagram", f"opcode {op:#04x}, QP {qpn:#x}", fold=("ud", src, dst))
            return "other", ""
        name = CM_NAMES[what]
        text, ok, why = "", op == UD_SEND, f"opcode {op:#04x}"
        if name == "REQ":
            mine, lqpn, psn = (f.int("infiniband.cm.req" + x) for x in ("", ".localqpn", ".startpsn"))
            text = f"port {f.int('infiniband.cm.req.serviceid.dport')}, QP {lqpn or 0:#x}, expects PSN {psn} first"
            if (src, mine) not in self.cm:
                self.cm[src, mine] = Msg(client=src, server=dst, qpn=lqpn, psn=psn, rep=None, rtu=False)
                self.qps[src, lqpn] = "cm"
        elif name == "REP":
            mine, peer, lqpn, psn = (f.int("infiniband.cm.rep" + x) for x in ("", ".remotecommid", ".localqpn", ".startpsn"))
            text = f"QP {lqpn or 0:#x}, expects PSN {psn} first"
            c = self.cm.get((dst, peer))
            ok, why = ok and c, "REP without a REQ"
            self.qps[src, lqpn] = "cm"
            if c and c.rep is None:
                c.rep = mine
                # Each side names the number that it expects first: the other one's.
                for way, first in (((c.client, c.server, lqpn), psn), ((c.server, c.client, c.qpn), c.psn)):
                    self.start[way] = first
                    self._settle(way)
        elif name == "RTU":
            c = self.cm.get((src, f.int("infiniband.cm.rtu.localcommid")))
            ok, why = ok and c and c.rep is not None, "RTU without a REP"
        elif name == "REJ":
            text = f"reason {f.text('infiniband.cm.rej.reason')}"
        if name in ("REP", "RTU") and not ok and not any(x.client in (src, dst) for x in self.cm.values()):
            cm.note("the capture begins within a connection's set-up")
        else:
            cm.judge(ok, f.at, why)
        while len(self.cm) > CONNS:
            self.cm.popitem(False)
        self._event(f, src, dst, "CM", "CM " + name, text)
        return "CM", ""

    # -- markers -------------------------------------------------------------

    def _mark(self, payload, tails, key, f, tcp):
        """Looks for the markers, also across packets."""
        if not self.markers or not payload:
            return
        data = tails[key] + payload
        for m in self.markers:
            n = data.count(m)
            if n:
                self.found[m][tcp] += n
                if tcp and self.found[m][2] is None:
                    self.found[m][2] = f.at
        tails[key] = data[-(max(len(m) for m in self.markers) - 1):]

    # -- the end -------------------------------------------------------------

    def finish(self):
        """The last verdicts."""
        for key in list(self.flows):
            self._settle(key)
        for key in list(self.conns):
            self._forget(key)
        if self.overruled:
            self.checks["dissected"].note(f"tshark calls {self.overruled} IPv4 Proposals malformed, as it does with all of version 1; "
                                          "they fit the RFC's figure byte by byte")
        if self.again:
            self.checks["psn"].note(f"{self.again} packets were repeated by their sender")
        for m, (rdma, tcp, where) in self.found.items():
            self.checks["marker"].judge(rdma and not tcp, where, f"{m.hex()}: {rdma} times in RDMA payload, {tcp} times on TCP")
            self.checks["marker"].note(f"{m.hex()}: {rdma} times in RDMA payload")
        if self.smc:
            # With SMC-R the question may still not arise.
            for name, text in (("syn-option", "no SYN of an SMC-R connection"), ("clc-order", "no CLC message"),
                               ("confirm-link", "no first contact with data behind it"), ("dest-qp", "no queue pair named by CLC"),
                               ("rkey-range", "no WRITE that can be judged"), ("opcodes", "no packet of an SMC-R link"),
                               ("cdc-after-write", "no CDC that can be judged"), ("cdc-seq", "no CDC that can be judged"),
                               ("tcp-quiet", "no connection with Proposal, Accept and Confirm")):
                self.checks[name].absent = text + " in this capture"


def llc_text(m):
    """What an LLC message says."""
    if m.type == CONFIRM_LINK:
        return (f", link {m.link}, QP {m.qpn:#x}, GID {addr(m.gid)}, user ID {m.user_id:#010x}, at most {m.max_links} links" +
                (", no eye catchers" if m.flags else ""))
    if m.type == ADD_LINK:
        if m.rejected:
            return f", link {m.link} rejected, reason {m.reason}"
        return f", link {m.link}, QP {m.qpn:#x}, GID {addr(m.gid)}, first PSN {m.psn}"
    if m.type == DELETE_LINK:
        return (f", {'all links' if m.all else f'link {m.link}'}, {'orderly' if m.orderly else 'at once'}, "
                f"reason {m.reason:#010x}")
    if m.type == CONFIRM_RKEY:
        return f", RKey {m.rkey:#x}, address {m.va:#x}" + (", negative" if m.negative else "")
    if m.type == DELETE_RKEY:
        return ", RKeys " + " ".join(f"{k:#x}" for k in m.rkeys) + (", negative" if m.negative else "")
    return f", {m.raw[4:20].hex()}" if m.type == TEST_LINK else ""


def addr(raw):
    """An address or GID for people."""
    return str(ipaddress.ip_address(ip_of(raw) if len(raw) == 16 else raw))


def nbytes(n):
    """64 B, 2 MiB, 16380 B: powers of two only where they are exact."""
    n = n or 0
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if n >= 1 << shift and not n & ((1 << shift) - 1):
            return f"{n >> shift} {unit}"
    return f"{n} B"


# -- the timeline ------------------------------------------------------------

class Timeline:
    """Rows of events; runs of like ones are one row."""

    def __init__(self, fold, out):
        self.fold, self.out = fold, out
        self.runs = OrderedDict()
        self.shown = set()

    def __call__(self, e):
        if not self.fold or e.fold is None:
            self.flush()
            self._row(e, [e])
            return
        run = self.runs.get(e.fold)
        if run is None and e.plane == "WRITE" and any(k[0] == "WRITE" for k in self.runs):
            self.flush()        # another direction, another buffer: a new paragraph
        elif run and e.time - run[1].time > 1:
            self.flush()
        # Of a run: first and last event, number, bytes, lowest and highest address, words.
        run = self.runs.setdefault(e.fold, [e, e, 0, 0, None, None, {}])
        run[1] = e
        run[2] += 1
        run[3] += e.get("size") or 0
        if e.get("va") is not None:
            run[4] = e.va if run[4] is None else min(run[4], e.va)
            run[5] = e.end if run[5] is None else max(run[5], e.end)
        run[6].update(dict.fromkeys(e.get("words") or ()))

    def flush(self):
        """All runs end."""
        for first, last, n, size, low, high, words in self.runs.values():
            if n == 1:
                self._row(first, [first])
                continue
            e = Msg(first)
            psn = f"PSN {first.psn} to {last.psn}" if first.get("psn") is not None else ""
            if first.plane == "WRITE":
                text = f"x {n}, {nbytes(size)}, {psn}" + (
                    f", RKey {first.rkey:#x}, addresses {low:#x} to {high:#x}" if low is not None and first.rkey is not None else "")
            elif first.plane == "CDC":
                text = (f"x {n}, token {first.token:#010x}, seq {first.seq} to {last.seq}, prod {first.prod} to {last.prod}, "
                        f"cons {first.cons} to {last.cons}" + "".join(f", {w}" for w in words))
            else:
                text = f"x {n}" + (f", {nbytes(size)}" if size else "") + (f", {psn}" if psn else "")
            e.update(text=text, count=n, bytes=size, until=last.at)
            self._row(e, [first, last])
        self.runs.clear()

    def _row(self, e, ends):
        kind = e.kind.removeprefix("repeated ").removesuffix(" reply")
        remark = ""
        if kind in REMARKS and kind not in self.shown and e.get("remark", True):
            self.shown.add(kind)
            remark = REMARKS[kind]
        self.out(Msg(frame=e.at, until=ends[-1].at, time=round(e.time, 6), src=e.src, dst=e.dst, plane=e.plane, kind=e.kind,
                     text=e.text, count=e.get("count", 1), bytes=e.get("bytes", e.get("size") or 0), remark=remark))


class Printer:
    """Rows as lines, up to a limit."""

    def __init__(self, limit):
        self.limit, self.n = limit, 0

    def __call__(self, row):
        self.n += 1
        if self.limit and self.n > self.limit:
            return
        span = f"{row.frame}-{row.until}" if row.until != row.frame else str(row.frame)
        print(f"{span:>9} {row.time:11.6f}  {row.src:>11} > {row.dst:<11}  {row.kind} {row.text}".rstrip())
        if row.remark:
            print(f"{'':22} ^ {row.remark}")

    def end(self):
        """What was left out is said."""
        if self.limit and self.n > self.limit:
            print(f"... {self.n - self.limit} more rows (--limit 0 shows all)")


class Diagram:
    """Rows as arrows between hosts; acknowledgments are left out."""
    WIDTH = 64

    def __init__(self, limit):
        self.hosts, self.rows, self.limit, self.more = [], [], limit, 0

    def __call__(self, row):
        if row.kind in ("ACK", "ack") or row.plane == "other":
            return
        if self.limit and len(self.rows) >= self.limit:
            self.more += 1
            return
        for h in (row.src, row.dst):
            if h not in self.hosts:
                self.hosts.append(h)
        self.rows.append(row)

    def _label(self, row):
        label = f"{row.kind} {row.text}"
        return label if len(label) <= self.WIDTH - 6 else label[:self.WIDTH - 9] + "..."

    def text(self):
        """With characters."""
        if not self.rows:
            return ["(nothing to draw)"]
        w = self.WIDTH
        lines = ["".join(f"{h:<{w}}" for h in self.hosts).rstrip()]
        for row in self.rows:
            a, b = self.hosts.index(row.src), self.hosts.index(row.dst)
            line = list((("|" + " " * (w - 1)) * len(self.hosts))[:(len(self.hosts) - 1) * w + 1])
            lo, hi = sorted((a, b))
            if lo != hi:
                span = (hi - lo) * w - 1
                body = f"- {self._label(row)} ".ljust(span, "-")[:span]
                if a < b:
                    body = body[:-1] + ">"
                else:
                    body = "<" + body[:-1]
                line[lo * w + 1:hi * w] = body
            lines.append("".join(line))
        return lines + ([f"... {self.more} more arrows"] if self.more else [])

    def svg(self):
        """The same as a picture."""
        esc = lambda t: t.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # noqa: E731
        step, gap, top = 18, 560, 40
        x = lambda h: 90 + gap * self.hosts.index(h)  # noqa: E731
        height, width = top + step * (len(self.rows) + 2), 180 + gap * max(1, len(self.hosts) - 1)
        colours = {"TCP": "#666666", "CLC": "#0b5394", "CM": "#674ea7", "LLC": "#b45f06", "CDC": "#990000"}
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="monospace" font-size="11">',
               '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
               '<path d="M0 0L8 4L0 8z"/></marker></defs>', f'<rect width="{width}" height="{height}" fill="white"/>']
        for h in self.hosts:
            out.append(f'<text x="{x(h)}" y="20" text-anchor="middle" font-size="13">{esc(h)}</text>'
                       f'<line x1="{x(h)}" y1="28" x2="{x(h)}" y2="{height - 8}" stroke="#999999"/>')
        for i, row in enumerate(self.rows):
            y, colour = top + step * (i + 1), colours.get(row.plane, "#274e13")
            label = f"{row.kind} {row.text}"
            out.append(f'<line x1="{x(row.src)}" y1="{y}" x2="{x(row.dst)}" y2="{y}" stroke="{colour}" marker-end="url(#a)"/>'
                       f'<text x="{(x(row.src) + x(row.dst)) / 2}" y="{y - 4}" text-anchor="middle" fill="{colour}">'
                       f"{esc(label if len(label) < 84 else label[:81] + '...')}<title>{esc(label)}</title></text>")
        if self.more:
            out.append(f'<text x="90" y="{height - 10}">... {self.more} more arrows</text>')
        return "\n".join(out + ["</svg>", ""])


# -- statistics ----------------------------------------------------------------

def stats_of(a):
    """As a record."""
    return {"frames": a.frames, "bytes": a.bytes, "seconds": round(a.end - a.begin, 6),
            "planes": [{"plane": p, "packets": n, "bytes": b, "share": round(100 * b / a.bytes, 1) if a.bytes else 0, "payload": d}
                       for p, (n, b, d) in a.stats.items()],
            "tcp_payload": a.tcp_bytes, "clc_bytes": a.clc_bytes, "repeated": a.again, "naks": a.naks, "receiver_not_ready": a.rnr,
            "opcodes": {f"{op:#04x}": {"name": OPCODES.get(op, ("UD SEND Only" if op == UD_SEND else "?",))[0], "packets": n, "bytes": b}
                        for op, (n, b) in sorted(a.opcodes.items())}}


def print_stats(s):
    """As a table."""
    print(f"{'plane':8} {'packets':>9} {'bytes':>12} {'share':>7} {'payload':>12}")
    for p in s["planes"]:
        if p["packets"]:
            print(f"{p['plane']:8} {p['packets']:9} {p['bytes']:12} {p['share']:6.1f}% {p['payload']:12}")
    print(f"{'all':8} {s['frames']:9} {s['bytes']:12}  in {s['seconds']:.3f} s")
    print(f"TCP payload: {s['tcp_payload']} bytes, {s['clc_bytes']} of them CLC messages. Repeated: {s['repeated']} packets. "
          f"NAKs: {s['naks']}, receiver not ready: {s['receiver_not_ready']}.")
    for op, o in s["opcodes"].items():
        print(f"  opcode {op} {o['name']:26} {o['packets']:8} packets {o['bytes']:12} bytes of payload")


def print_checks(checks):
    """One line each, and where it failed."""
    for c in checks:
        more = f" ({c['judged']} judged)" if c["verdict"] == "ok" else f" ({c['why']})" if c["verdict"] == "n/a" else ""
        print(f"{c['verdict']:6}  {c['name']:15}  {c['text']}{more}")
        for w in c["where"]:
            print(f"{'':8}{'':17}  ! {w}")
        if c["failed"] > len(c["where"]):
            print(f"{'':8}{'':17}  ! and {c['failed'] - len(c['where'])} more")
        for n in c["notes"]:
            print(f"{'':8}{'':17}  note: {n}")
    n = {v: sum(c["verdict"] == v for c in checks) for v in ("ok", "FAILED", "n/a")}
    print(f"{n['ok']} hold, {n['FAILED']} failed, {n['n/a']} not applicable")


# -- the program -----------------------------------------------------------------

@contextlib.contextmanager
def picture(path, capture):
    """What is put into this list becomes the file: at the end, and at once."""
    drawn, new = [], path
    try:
        if os.path.exists(path) and os.path.samefile(path, capture):
            raise BadInput(f"--svg {path}: that is the capture")
        if not os.path.exists(path) or os.path.isfile(path):
            new = f"{os.path.realpath(path)}.{os.getpid()}"
        f = open(new, "w", encoding="utf-8")  # pylint: disable=consider-using-with
    except OSError as e:
        raise BadInput(f"--svg {path}: {e.strerror}") from e
    try:
        yield drawn
        try:
            with f:
                f.write("".join(drawn))
            if new != path:
                os.replace(new, os.path.realpath(path))
        except OSError as e:
            raise BadInput(f"--svg {path}: {e.strerror}") from e
    except BaseException:
        f.close()
        if new != path:
            os.unlink(new)
        raise


def explain(path, args, title):
    """One file. Returns the exit status."""
    if not os.path.isfile(path):
        raise BadInput("no such file" if not os.path.exists(path) else "not a file")
    if not os.access(path, os.R_OK):
        raise BadInput("cannot be read")
    if not os.path.getsize(path):
        raise BadInput("an empty file")
    with picture(args.svg, path) if args.svg else contextlib.nullcontext([]) as drawn:
        checks, broken = tell(path, args, title, drawn)
    if broken:
        raise BadInput(broken)
    return 1 if any(c["verdict"] == "FAILED" for c in checks) else 0


def tell(path, args, title, drawn):
    """The output. Returns the checks, and where the file is broken."""
    rows, diagram = [], Diagram(args.arrows)
    printer = Printer(args.limit)
    listeners = []
    if args.timeline and args.json:
        listeners.append(lambda row: rows.append(row) if len(rows) < JSON_ROWS else None)
    if args.timeline and not args.json:
        listeners.append(printer)
    if args.diagram or args.svg:
        listeners.append(diagram)
    count = [0]

    def out(row):
        count[0] += 1
        for call in listeners:
            call(row)

    line = Timeline(not args.all, out)
    a = Analysis(args.marker, line if listeners else lambda e: None)
    if not args.json:
        print(f"{'' if not title else chr(10)}{path}")
    if args.timeline and not args.json:
        print("\n== timeline")
    began, told, broken = time.time(), time.time(), None
    try:
        for f in tshark(path):
            a.frame(f)
            if not f.at % 1000 and time.time() - told > 5:
                told = time.time()
                say(f"{path}: {f.at} frames, {f.at / (told - began):.0f} per second")
    except BadInput as e:
        if not a.frames:
            raise
        broken = str(e)
    line.flush()
    printer.end()
    if not a.smc and not a.opcodes and not any(c.bad for c in a.checks.values() if c.name == "no-rocev1"):
        raise BadInput(broken or f"no RDMA packet and no SMC-R handshake among its {a.frames} frames "
                       f"({a.stats['TCP'][0]} TCP): nothing to explain")
    a.finish()
    s, checks = stats_of(a), [c.record() for c in a.checks.values()]
    if args.json:
        record = {"file": path, "complete": not broken, "error": broken}
        if args.timeline:
            record.update(timeline=rows, timeline_rows=count[0])
            if count[0] > len(rows):
                say(f"{path}: the first {len(rows)} rows of the timeline, {count[0] - len(rows)} are left out")
        if args.stats:
            record["stats"] = s
        if args.checks:
            record["checks"] = checks
        if args.diagram:
            record["diagram"] = diagram.text()
        json.dump(record, sys.stdout, indent=1)
        print()
    else:
        if args.stats:
            print("\n== statistics")
            print_stats(s)
        if args.checks:
            print("\n== checks")
            print_checks(checks)
        if args.diagram:
            print("\n== sequence diagram (acknowledgments left out)")
            print("\n".join(diagram.text()))
    if args.svg:
        drawn.append(diagram.svg())
        if diagram.more:
            say(f"{args.svg}: the first {diagram.limit} arrows, {diagram.more} are left out")
    return checks, broken


def say(text):
    """To people, beside the result."""
    print(f"lab-explain: {text}", file=sys.stderr, flush=True)


def marker(text):
    """16 bytes in hexadecimal."""
    try:
        m = bytes.fromhex(text)
    except ValueError:
        m = b""
    if len(m) != 16:
        raise argparse.ArgumentTypeError(f"not 16 bytes in hexadecimal: {text}")
    return m


def main(argv=None):
    """The command line. Returns the exit status."""
    p = argparse.ArgumentParser(prog="lab-explain", description=(
        "Tells what is in a capture of SMC-R or of plain RDMA on Ethernet (RoCEv2), and checks it. "
        "All parts are shown unless some are chosen."), epilog=(
        "Exit status: 0 all checks hold that are applicable, 1 a check failed, 2 wrong usage, or a file that cannot be read "
        "or has nothing of RDMA in it, or output that cannot be written. Documentation/rdma-lab/captures.rst explains the output."))
    p.add_argument("file", nargs="+", help="pcap or pcapng")
    for name, what in (("timeline", "what happened, in order"), ("stats", "packets and bytes per plane"),
                       ("checks", "what must hold, and does it?"), ("diagram", "arrows between the hosts")):
        p.add_argument("--" + name, action="store_true", help=what)
    p.add_argument("--all", action="store_true", help="one row per frame instead of folded runs")
    p.add_argument("--limit", type=int, metavar="N", help="rows of the timeline and arrows of the diagram; 0 is no limit "
                   f"(default {ROWS} and {LINES}; with --all no limit of rows)")
    p.add_argument("--marker", type=marker, action="append", default=[], metavar="HEX",
                   help="16 bytes that must be in RDMA payload and not on TCP (repeatable)")
    p.add_argument("--svg", metavar="FILE", help="the diagram as a picture (one capture only)")
    p.add_argument("--json", action="store_true", help="for programs: one object per file")
    args = p.parse_args(argv)
    if args.svg and len(args.file) > 1:
        p.error("--svg takes one capture")
    args.arrows = LINES if args.limit is None else args.limit
    if args.limit is None:
        args.limit = 0 if args.all else ROWS
    if args.limit < 0:
        p.error("--limit: not below 0")
    if not any((args.timeline, args.stats, args.checks, args.diagram)):
        args.timeline = args.stats = args.checks = args.diagram = True
    try:
        status = explain_all(args)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        say("interrupted")
    except BrokenPipeError:             # nobody reads it any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        say(f"output: {e.strerror}")
    return 2


def explain_all(args):
    """All files, also behind one that is broken. Returns the exit status."""
    status = 0
    for i, path in enumerate(args.file):
        try:
            rc = explain(path, args, i)
        except BadInput as e:
            sys.stdout.flush()
            say(f"{path}: {e}")
            rc = 2
        status = max(status, rc)
    return status
