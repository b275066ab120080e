# SPDX-License-Identifier: GPL-2.0
"""The analysis: every frame passes through it."""

import ipaddress
import re

from roce import OPCODES, ROCE_PORT, WRITES, Roce
from wire import ip_of

from .handshake import Handshakes
from .rdma import Packets

ERROR = 0x800000                # severity in tshark's expert information
# Messages of tshark about IP and UDP, in any version; those about the layers behind them may be wrong.
IN_FRONT = re.compile("checksum|bogus|bad length value|IP payload", re.I)
ROCEV1 = 0x8915


class Analysis(Handshakes, Packets):
    """Reads frames, reports events to a listener, judges the checks and counts."""

    def frame(self, f):
        """Analyse a frame."""
        self.frames += 1
        length = f.int("frame.len") or 0
        self.bytes += length
        self.begin = self.begin or f.time
        self.end = f.time
        protocols = f.text("frame.protocols").split(":")
        bad = bool(f.text("_ws.malformed")) or max([int(x) for x in f.all("_ws.expert.severity")] or [0]) >= ERROR
        why = "tshark: malformed" if bad else ""
        if (f.int("frame.cap_len") or 0) < length and not (self.cut and self._headed(f)):
            why = "only a part of it was captured"
        src, dst = (f.text("ip.src") or f.text("ipv6.src"), f.text("ip.dst") or f.text("ipv6.dst"))
        types = {int(x, 0) for name in ("eth.type", "vlan.etype", "sll.etype") for x in f.all(name)}
        qp = f.int("infiniband.bth.destqp")
        if ROCEV1 in types:
            src, dst = (str(ipaddress.ip_address(ip_of(ipaddress.IPv6Address(f.text(f"infiniband.grh.{x}") or "::").packed)))
                        for x in ("sgid", "dgid"))
        stray = None
        if f.text("udp.dstport") not in ("", str(ROCE_PORT)):
            # tshark dissects datagrams from port 4791 as RoCE, too
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
            # For a CLC message that fits the RFC's figure, tshark's verdict does not count.
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

    def _headed(self, f):
        """Is this a WRITE of which only payload is missing?"""
        op = f.int("infiniband.bth.opcode")
        ok = op in WRITES and len(f.bytes("udp.payload")) >= 12 + OPCODES[op][1]
        if ok:
            self.checks["dissected"].note("the ends of WRITEs' payload were not captured")
        return ok

    @staticmethod
    def _foreign(f, *layers):
        """Is tshark's error about something behind these layers, and not about them or those in front?"""
        protocols = f.text("frame.protocols").split(":")
        at = next((protocols.index(x) for x in layers if x in protocols), len(protocols))
        said = f.text("_ws.malformed").lower()
        return bool(protocols[at + 1:]) and not any(re.search(rf"\b{x}\b", said) for x in protocols[:at + 1]) and not any(
            IN_FRONT.search(x) for x in f.all("_ws.expert.message"))

    def _stray(self, f, src, dst):
        """A RoCE packet in a datagram to another port, recognised by its queue pair; or None."""
        if f.int("udp.dstport") == ROCE_PORT or not self.qps:
            return None
        data = f.bytes("udp.payload")
        if len(data) < 16 or data[1] & 15 or data[0] not in OPCODES or (dst, int.from_bytes(data[5:8], "big")) not in self.qps:
            return None
        return Roce(src, dst, None, data, (f.int("udp.length") or 8) - 8)

    def finish(self):
        """Judge what can only be judged at the end of the capture."""
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
            # Even with SMC-R in the capture, a check may have had nothing to judge.
            moved = "no connection that changes links"
            for name, text in (("failover-first", moved), ("failover-seq", moved), ("failover-left", moved), ("failover-again", moved),
                               ("syn-option", "no SYN of an SMC-R connection"), ("clc-order", "no CLC message"),
                               ("confirm-link", "no first contact with data behind it"), ("dest-qp", "no queue pair named by CLC"),
                               ("rkey-range", "no WRITE that can be judged"), ("opcodes", "no packet of an SMC-R link"),
                               ("cdc-after-write", "no CDC that can be judged"), ("cdc-seq", "no CDC that can be judged"),
                               ("tcp-quiet", "no connection with Proposal, Accept and Confirm")):
                self.checks[name].absent = text + " in this capture"
