#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks of the packets of the programs in lab/rdma, read by the figures
of the InfiniBand Architecture and its RoCEv2 annex.

    rdmawire.py CHECK FOLDER    the capture wire.pcap of a test case, and what
                                the program CHECK printed to CHECK.out

Prints "ok TEXT" and "not ok TEXT: WHY".
"""

import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
from roce import OPCODES, Roce, frames, packet  # noqa: E402  pylint: disable=wrong-import-position
from wire import Checks  # noqa: E402  pylint: disable=wrong-import-position

PORT = 7471
UD_SEND, ACK = 0x64, 0x11
SEND_ONLY, SEND_IMM, WRITE_ONLY, WRITE_IMM, READ, CAS, ADD = 0x04, 0x05, 0x0a, 0x0b, 0x0c, 0x13, 0x14
REFUSED = 0x62
# Opcodes of a request of several packets: First, Middle, Last.
SENDS, WRITES, WRITES_IMM, READS = (0, 1, 2), (6, 7, 8), (6, 7, 9), (13, 14, 15)
CM = {0x10: "REQ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP"}
MTU = 4096


def background(frame):
    """Is the frame ARP, ICMPv6 or IGMP, which a host's kernel sends by itself?"""
    kind = frame[12:14]
    # in reports of groups, ICMPv6 is behind a hop-by-hop header
    return kind == b"\x08\x06" or kind == b"\x08\x00" and frame[23] == 2 or kind == b"\x86\xdd" and 58 in (
        frame[20], frame[54] if frame[20] == 0 else 0)


class Mad:
    """A message of the connection manager: 256 bytes in a SEND of a datagram."""

    def __init__(self, p):
        m = p.head
        self.src, self.key, self.kind = p.src, (p.src, m[8:16], m[16:18]), CM.get(int.from_bytes(m[16:18], "big"), "?")
        self.qkey, self.src_qp, self.qp = p.ext[:4], p.ext[4:], p.qp
        self.header, self.size = m[:4], p.length
        self.service, self.req_qpn = int.from_bytes(m[32:40], "big"), int.from_bytes(m[56:59], "big")
        self.rep_qpn, self.rnr_retry, self.private = int.from_bytes(m[36:39], "big"), m[51] >> 5, m[60:]


class Conn:
    """One connection: the packets of each side, without repetitions."""

    def __init__(self, client, server, client_qp, server_qp, packets):
        self.client_qp, self.server_qp = client_qp, server_qp
        self.up = self._once(p for p in packets if (p.dst, p.qp) == (server, server_qp))
        self.down = self._once(p for p in packets if (p.dst, p.qp) == (client, client_qp))

    @staticmethod
    def _once(packets):
        seen = {}
        for p in packets:
            seen.setdefault((p.opcode, p.psn, p.ext, p.length), p)
        return list(seen.values())

    def opcodes(self):
        """Opcodes of the client's packets, in order."""
        return [p.opcode for p in self.up]

    def refusals(self):
        """Syndromes that are no acknowledgments, from the server."""
        return [p.syndrome() for p in self.down if p.syndrome() and p.syndrome() >> 5]


class Lab(Checks):
    """The capture of one case."""

    def __init__(self, name, folder):
        self.raw = list(frames(f"{folder}/wire.pcap"))
        read = [packet(f) for f in self.raw]
        # Without what the hosts' kernels send by themselves: ARP, ICMPv6, and groups (IGMP, MLD).
        self.alien = [f[12:].hex() for p, f in zip(read, self.raw) if not isinstance(p, Roce) and not background(f)]
        self.rocev1 = sum(f[12:14] == b"\x89\x15" for f in self.raw)
        self.raw = [f for p, f in zip(read, self.raw) if isinstance(p, Roce)]
        self.packets = [p for p in read if isinstance(p, Roce)]
        with open(f"{folder}/{name}.out", encoding="utf-8") as f:
            self.said = f.read()
        mads = {}
        for p in self.packets:
            if p.opcode == UD_SEND:
                m = Mad(p)
                mads.setdefault(m.key, m)
        self.mads = list(mads.values())
        data = [p for p in self.packets if p.opcode != UD_SEND]
        reqs, reps = ([m for m in self.mads if m.kind == kind] for kind in ("REQ", "REP"))
        self.reps = reps
        self.conns = [Conn(q.src, p.src, q.req_qpn, p.rep_qpn, data) for q, p in zip(reqs, reps)]

    def common(self, conns):
        """Checks that apply to every RoCEv2 capture."""
        self.eq("every frame is UDP to port 4791", self.alien, [])
        self.eq("none has EtherType 0x8915, that of RoCEv1", self.rocev1, 0)
        self.eq("no source port is 4791, all are from 0xc000 on", [p.sport for p in self.packets if p.sport < 0xc000], [])
        self.eq("connections", len(self.conns), conns)
        self.eq("the CM's messages, in order", [m.kind for m in self.mads], ["REQ", "REP", "RTU", "DREQ", "DREP"] * conns)
        self.eq("they are SENDs of 256 bytes from QP 1 to QP 1, with a Q_Key",
                {(m.src_qp[1:], m.qp, m.qkey.hex(), m.size, m.header[:2].hex()) for m in self.mads},
                {(bytes((0, 0, 1)), 1, "80010000", 256, "0107")})
        self.eq("the port is part of the service ID", {m.service for m in self.mads if m.kind == "REQ"}, {0x1060000 + PORT})
        qps = {(c.client_qp, c.server_qp) for c in self.conns}
        self.eq("all other packets are for a QP that REQ or REP names",
                {p.qp for p in self.packets if p.opcode != UD_SEND} - {q for pair in qps for q in pair}, set())
        self.eq("an acknowledgment has 28 bytes of UDP", {p.udp_length for p in self.packets if p.opcode == ACK}, {28})
        self.eq("no packet carries more than the path MTU", [p.length for p in self.packets if p.length > MTU], [])

    def capability(self):
        """Address and rkey are sent once as data, in the private data of REP; all else with them are requests that use them."""
        for c, rep in zip(self.conns, self.reps):
            key = rep.private[:12]
            holders = [p for p, f in zip(self.packets, self.raw) if key in f]
            kinds = [p.opcode for p in holders]
            self.true("the first frame with address and rkey is the CM's REP", kinds and kinds[0] == UD_SEND)
            self.eq("all others with them are requests to the server", {(p.qp, p.reth() is not None or p.opcode in (CAS, ADD))
                                                                       for p in holders if p.opcode != UD_SEND} - {(c.server_qp, True)}, set())


def cap_of(rep):
    """Capability in a REP: address, rkey, length."""
    return struct.unpack_from(">QII", rep.private)


def parts(conn, kinds, down=False):
    """Packets of one kind of request or answer."""
    return [p for p in (conn.down if down else conn.up) if p.opcode in kinds]


def rc_min(lab):
    """WRITE and READ of the smallest program."""
    lab.common(1)
    lab.capability()
    c, rep = lab.conns[0], lab.reps[0]
    told = re.search(r"gives (\d+) bytes at (0x\w+), rkey (0x\w+)", lab.said)
    addr, rkey, length = cap_of(rep)
    lab.eq("the private data are what the client says it got", told and [int(x, 0) for x in told.groups()], [length, addr, rkey])
    lab.eq("and zeros behind it, to the end of the field", (len(rep.private), rep.private[16:].strip(b"\0")), (196, b""))
    lab.eq("the client sends WRITE Only and READ Request", c.opcodes(), [WRITE_ONLY, READ])
    lab.eq("the server sends an acknowledgment and READ Response Only", [p.opcode for p in c.down], [ACK, 0x10])
    write, read, ack, answer = c.up + c.down
    lab.eq("WRITE: RETH of address, rkey, 18 bytes", write.reth(), (addr, rkey, 18))
    lab.eq("WRITE: 18 bytes and 2 of padding", (write.head, write.udp_length), (b"client-wrote-this\0", 8 + 12 + 16 + 20 + 4))
    lab.eq("READ: RETH, no payload", (read.reth(), read.udp_length), ((addr, rkey, 4096), 8 + 12 + 16 + 4))
    lab.eq("READ Response: AETH and 4096 bytes, no RETH", (answer.syndrome() >> 5, answer.length, answer.udp_length),
           (0, 4096, 8 + 12 + 4 + 4096 + 4))
    lab.eq("it brings back what was written", answer.head, write.head.ljust(4096, b"\0"))
    lab.eq("the acknowledgment is for the WRITE", (ack.psn, ack.syndrome() >> 5), (write.psn, 0))
    lab.eq("PSNs follow each other", (read.psn, answer.psn), ((write.psn + 1) & 0xffffff,) * 2)


def ops(lab):
    """One of each operation."""
    lab.common(1)
    lab.capability()
    c = lab.conns[0]
    addr, rkey, _ = cap_of(lab.reps[0])
    lab.eq("the client's packets", [OPCODES[o][0] for o in c.opcodes()],
           [OPCODES[o][0] for o in (*SENDS, SEND_IMM, *WRITES, READ, CAS, CAS, ADD, SEND_ONLY)])
    lab.eq("the server's answers but acknowledgments", [p.opcode for p in c.down if p.opcode != ACK], [*READS, 0x12, 0x12, 0x12])
    for text, p in (("SEND", parts(c, SENDS)), ("WRITE", parts(c, WRITES)), ("READ Response", parts(c, READS, True))):
        lab.eq(f"{text}: 10000 bytes in packets of the path MTU", [x.length for x in p], [4096, 4096, 1808])
        what = 1 if text == "SEND" else 2
        lab.eq(f"{text}: its bytes", b"".join(x.head for x in p),
               bytes((what * 50 + i * 7 + (i >> 8)) & 255 for i in range(10000)))
    first = c.up[0].psn
    lab.eq("PSNs of the requests: a READ takes as many as its answer has packets", [(p.psn - first) & 0xffffff for p in c.up],
           [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13])
    lab.eq("answers have the PSNs of their requests", [(p.psn - first) & 0xffffff for p in c.down if p.opcode != ACK],
           [7, 8, 9, 10, 11, 12])
    lab.eq("READ Request: RETH of address, rkey, 10000", [p.reth() for p in c.up if p.opcode == READ], [(addr + 12288, rkey, 10000)])
    lab.eq("SEND carries no DETH and no RETH: 8 of UDP, 12 of BTH, payload, 4 of ICRC", parts(c, SENDS)[0].udp_length, 4120)
    lab.eq("SEND with immediate: 4 bytes of it, no payload",
           [(p.immediate(), p.length) for p in c.up if p.opcode == SEND_IMM], [(0x0a0b0c0d, 0)])
    lab.eq("WRITE: a RETH of all bytes in its first packet only", [(p.reth(), p.udp_length - p.length) for p in parts(c, WRITES)],
           [((addr + 12288, rkey, 10000), 40), (None, 24), (None, 24)])
    lab.eq("READ Response: AETH in the first and the last packet", [p.udp_length - p.length for p in parts(c, READS, True)], [28, 24, 28])
    one, two = 0x1111111111111111, 0x2222222222222222
    word = (addr + 24576, rkey)
    lab.eq("COMPARE AND SWAP: AtomicETH of address, rkey, new value, compared value",
           [struct.unpack(">QIQQ", p.ext) for p in parts(c, (CAS,))], [word + (two, one), word + (99, one)])
    # The last 8 bytes have no meaning in FETCH AND ADD, and soft RoCE does not set them.
    lab.eq("FETCH AND ADD: the same header of 28 bytes, of address, rkey, what is added",
           [(len(p.ext), *struct.unpack_from(">QIQ", p.ext)) for p in parts(c, (ADD,))], [(28, *word, 5)])
    lab.eq("their answers bring the value before", [struct.unpack(">IQ", p.ext)[1] for p in c.down if p.opcode == 0x12], [one, two, two])
    lab.eq("nothing is refused", c.refusals(), [])


def write_imm(lab):
    """WRITE with immediate data, with and without a posted receive."""
    lab.common(3)
    lab.eq("the server's REP says how often the client tries again", [r.rnr_retry for r in lab.reps], [7, 0, 7])
    a, b, c = lab.conns
    imm = [p for p in a.up if p.immediate() is not None]
    lab.eq("WRITE Only with immediate twice, WRITE Last with immediate", [p.opcode for p in imm], [WRITE_IMM, WRITE_IMM, 0x09])
    lab.eq("the immediate data", [p.immediate() for p in imm], [0x01020304, 0xfffffffe, 0x80000001])
    lab.eq("lengths in RETH and payload", [(p.reth() and p.reth()[2], p.length) for p in imm], [(18, 18), (0, 0), (None, 1808)])
    lab.eq("of 10000 bytes: RETH in the first packet, immediate in the last",
           [(p.reth() and p.reth()[2], p.immediate(), p.length) for p in parts(a, WRITES_IMM)],
           [(10000, None, 4096), (None, None, 4096), (None, 0x80000001, 1808)])
    lab.eq("connection 1: nothing is refused", a.refusals(), [])
    lab.eq("connection 2: one WRITE, one RNR NAK", (b.opcodes(), [s >> 5 for s in b.refusals()]), ([WRITE_IMM], [1]))
    for i, (x, rep) in enumerate(zip(lab.conns, lab.reps), 1):
        lab.eq(f"connection {i}: every RETH names the capability", {p.reth()[:2] for p in x.up if p.reth()}, {cap_of(rep)[:2]})
    psns = {p.psn for p in c.up if p.opcode == WRITE_IMM}
    every = [p for p in lab.packets if p.qp == c.server_qp and p.opcode == WRITE_IMM]
    naks = [p for p in lab.packets if p.qp == c.client_qp and p.opcode == ACK and p.syndrome() >> 5 == 1]
    lab.true("connection 3: the same WRITE again and again, refused each time but the last",
             len(psns) == 1 and len(every) == len(naks) + 1 >= 3, (len(every), len(naks)))
    lab.eq("the last RNR NAK asks for 10.24 ms, code 20", naks and naks[-1].syndrome(), 0x34)


def caps(lab):
    """Six WRITEs that a capability does not allow."""
    lab.common(7)
    for i, (c, rep) in enumerate(zip(lab.conns, lab.reps)):
        addr, rkey, length = cap_of(rep)
        lab.eq(f"connection {i}: length of the capability", length, 1000)
        writes = [(p.reth()[0] - addr, p.reth()[1] == rkey, p.reth()[2]) for p in c.up if p.opcode == WRITE_ONLY]
        good = [(0, True, 16), (984, True, 16)]
        bad = {1: (0, False, 16), 2: (-1, True, 16), 3: (985, True, 16)}.get(i, (0, True, 16))
        lab.eq(f"connection {i}: address, rkey and length of the WRITEs", writes,
               good if i == 0 else good + [bad] if i == 6 else [bad])
        lab.eq(f"connection {i}: NAKs", [f"{s:#x}" for s in c.refusals()], [f"{REFUSED:#x}"] if i else [])
        if i:
            naks = [p.psn for p in c.down if p.syndrome() == REFUSED]
            lab.eq(f"connection {i}: it names the WRITE", naks, [p.psn for p in c.up if p.opcode == WRITE_ONLY][-1:])


CHECKS = {"rc_min": rc_min, "ops": ops, "write_imm": write_imm, "caps": caps}


def main():
    """Returns the exit status."""
    name, folder = sys.argv[1:]
    lab = Lab(name, folder)
    CHECKS[name](lab)
    return 1 if lab.bad else 0


if __name__ == "__main__":
    sys.exit(main())
