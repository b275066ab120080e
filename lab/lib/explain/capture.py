# SPDX-License-Identifier: GPL-2.0
"""Frames of a capture, as tshark dissects them.

tshark reads them down to the transport headers (link layer, IP, TCP and its
options, BTH, RETH, AETH, connection manager), and reports which are malformed.
"""

import os
import shutil
import subprocess
import tempfile
import threading

from .model import home

# The fields that tshark prints for each frame. Several values of one field are separated by FIELD.
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


class BadInput(Exception):
    """A file cannot be analysed; the reason, in one line."""


class Frame:
    """One frame, as far as tshark has dissected it."""
    __slots__ = ("at", "time", "v")

    def __init__(self, at, line):
        self.at = at
        self.v = dict(zip(FIELDS, line.split("\t")))
        self.time = float(self.v["frame.time_epoch"] or 0)

    def text(self, name):
        """The field's first value; "" if it is absent or was cut off."""
        t = self.v[name].split(FIELD, 1)[0]
        return "" if t == "<MISSING>" else t

    def all(self, name):
        """All values of a field."""
        return [x for x in self.v[name].split(FIELD) if x]

    def int(self, name):
        """A number; None if it is absent."""
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
           # RoCEv2 has a checksum of its own: soft RoCE sends UDP's as 0 over IPv6 as well
           "-o", "udp.ignore_ipv6_zero_checksum:TRUE", "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=" + FIELD]
    for f in FIELDS:
        cmd += ["-e", f]
    with tempfile.TemporaryDirectory(prefix="lab-explain-") as home:
        # without the preferences of the user
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
