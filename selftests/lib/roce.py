# SPDX-License-Identifier: GPL-2.0
"""What a capture of a lab network shows: RoCEv2 packets and TCP payload.

Reads classic pcap files, also with packets cut short: lengths are taken from
the headers, never from what was kept of a packet.
"""

import struct

ROCE_PORT = 4791
EYE = bytes.fromhex("e2d4c3d9")     # "SMCR" in EBCDIC
CLC_NAMES = {1: "Proposal", 2: "Accept", 3: "Confirm", 4: "Decline"}

# Opcodes of reliable connections (InfiniBand Architecture, 9.2), and the only
# one of datagrams that is seen here (the CM's): name, bytes of extended headers
# in front of the payload.
OPCODES = {
    0x00: ("SEND First", 0), 0x01: ("SEND Middle", 0), 0x02: ("SEND Last", 0), 0x03: ("SEND Last imm", 4),
    0x04: ("SEND Only", 0), 0x05: ("SEND Only imm", 4),
    0x06: ("RDMA WRITE First", 16), 0x07: ("RDMA WRITE Middle", 0), 0x08: ("RDMA WRITE Last", 0),
    0x09: ("RDMA WRITE Last imm", 4), 0x0a: ("RDMA WRITE Only", 16), 0x0b: ("RDMA WRITE Only imm", 20),
    0x0c: ("RDMA READ Request", 16), 0x0d: ("RDMA READ Response First", 4),
    0x0e: ("RDMA READ Response Middle", 0), 0x0f: ("RDMA READ Response Last", 4),
    0x10: ("RDMA READ Response Only", 4), 0x11: ("Acknowledge", 4), 0x12: ("Atomic Acknowledge", 12),
    0x13: ("COMPARE AND SWAP", 28), 0x14: ("FETCH AND ADD", 28),
    0x16: ("SEND Last inv", 4), 0x17: ("SEND Only inv", 4), 0x1c: ("FLUSH", 20), 0x1d: ("ATOMIC WRITE", 16), 0x64: ("UD SEND Only", 8),
}
RETH = (0x06, 0x0a, 0x0b, 0x0c)
AETH = (0x0d, 0x0f, 0x10, 0x11, 0x12)
IMMEDIATE = (0x03, 0x05, 0x09, 0x0b)
WRITES = range(0x06, 0x0c)


class Roce:
    """One RoCEv2 packet."""
    __slots__ = ("src", "dst", "sport", "opcode", "qp", "psn", "length", "udp_length", "dma_length", "ext", "head")

    def __init__(self, src, dst, sport, data, udp_payload):
        self.src, self.dst, self.sport, self.opcode = src, dst, sport, data[0]
        self.udp_length = udp_payload + 8
        self.qp = int.from_bytes(data[5:8], "big")
        self.psn = int.from_bytes(data[9:12], "big")
        ext = OPCODES.get(self.opcode, ("", 0))[1]
        # In front of the payload BTH and extended headers, behind it padding and CRC.
        self.length = udp_payload - 12 - ext - ((data[1] >> 4) & 3) - 4
        self.dma_length = int.from_bytes(data[24:28], "big") if ext >= 16 and self.opcode in WRITES else None
        self.ext = data[12:12 + ext]
        self.head = data[12 + ext:12 + ext + self.length]

    def reth(self):
        """Address, key and length of the remote memory, or None."""
        return struct.unpack_from(">QII", self.ext) if self.opcode in RETH else None

    def syndrome(self):
        """The syndrome of the AETH: 0x00-0x1f acknowledged, 0x20-0x3f receiver not ready, 0x60-0x64 refused; or None."""
        return self.ext[0] if self.opcode in AETH else None

    def immediate(self):
        """The immediate data, or None."""
        return int.from_bytes(self.ext[-4:], "big") if self.opcode in IMMEDIATE else None


class Tcp:
    """One TCP segment with payload."""
    __slots__ = ("src", "dst", "sport", "dport", "seq", "length", "head")

    def __init__(self, src, dst, data, ip_payload):
        self.src, self.dst = src, dst
        self.sport, self.dport, self.seq = struct.unpack_from(">HHI", data)
        off = (data[12] >> 4) * 4
        self.length = ip_payload - off
        self.head = data[off:off + self.length]


def packets(path):
    """Every packet of the file as Roce, Tcp or None (anything else)."""
    return map(packet, frames(path))


def frames(path):
    """The bytes of every packet of the file."""
    with open(path, "rb") as f:
        magic = f.read(4)
        order = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">"}.get(magic)
        if not order:
            raise ValueError(f"{path}: not a pcap file")
        f.read(20)
        head = struct.Struct(order + "IIII")
        while True:
            h = f.read(16)
            if len(h) < 16:
                return
            yield f.read(head.unpack(h)[2])


def packet(data):
    """One Ethernet frame."""
    kind = data[12:14]
    if kind == b"\x08\x00":
        off, length = 14 + (data[14] & 15) * 4, int.from_bytes(data[16:18], "big")
        proto, src, dst = data[23], data[26:30], data[30:34]
        length -= off - 14
    elif kind == b"\x86\xdd":
        off, length, proto, src, dst = 54, int.from_bytes(data[18:20], "big"), data[20], data[22:38], data[38:54]
    else:
        return None
    body = data[off:]
    if proto == 17 and len(body) >= 20 and body[2:4] == struct.pack(">H", ROCE_PORT):
        return Roce(src, dst, int.from_bytes(body[:2], "big"), body[8:], int.from_bytes(body[4:6], "big") - 8)
    if proto == 6 and len(body) >= 20:
        return Tcp(src, dst, body, length)
    return None


class Traffic:
    """The sums over a capture. A repeated packet counts once in `unique`."""

    def __init__(self, path):
        self.frames = 0
        self.opcodes = {}       # opcode: [packets, bytes]
        self.flows = {}         # (src, dst, qp): {psn: (length, head)} of WRITEs
        self.announced = {}     # (src, dst, qp): {psn: length in the RETH}
        self.repeated = 0
        self.segments = {}      # (src, sport, dst, dport): {seq: (length, head)}
        for p in packets(path):
            self.frames += 1
            if isinstance(p, Roce):
                self._roce(p)
            elif p and p.length > 0:
                old = self.segments.setdefault((p.src, p.sport, p.dst, p.dport), {})
                if p.seq not in old or old[p.seq][0] < p.length:
                    old[p.seq] = (p.length, p.head)

    def _roce(self, p):
        n = self.opcodes.setdefault(p.opcode, [0, 0])
        n[0] += 1
        n[1] += p.length
        if p.opcode in WRITES:
            key = (p.src, p.dst, p.qp)
            flow = self.flows.setdefault(key, {})
            if p.psn in flow:
                self.repeated += 1
            else:
                flow[p.psn] = (p.length, p.head)
                if p.dma_length is not None:
                    self.announced.setdefault(key, {})[p.psn] = p.dma_length

    def written(self, src=None):
        """Bytes in RDMA WRITEs, repetitions not counted; of one sender."""
        return sum(n for k, f in self.flows.items() if src in (None, k[0]) for n, _ in f.values())

    def reth(self, src=None):
        """The same sum, by the lengths in the RETHs."""
        return sum(n for k, f in self.announced.items() if src in (None, k[0]) for n in f.values())

    def stream(self, key):
        """The WRITEs of a flow, in the order of PSNs: (offset, length, the beginning that was kept)."""
        flow = self.flows[key]
        first = next(iter(flow))
        offset = 0
        # PSNs have 24 bits and wrap.
        for psn in sorted(flow, key=lambda p: (p - first + 0x800000 & 0xffffff)):
            yield offset, flow[psn][0], flow[psn][1]
            offset += flow[psn][0]

    def tcp_bytes(self):
        """TCP payload; segments that were sent twice count once."""
        return sum(n for s in self.segments.values() for n, _ in s.values())

    def clc(self):
        """The TCP payload as CLC messages: their names, or None if it is something else."""
        names = []
        for segs in self.segments.values():
            first = next(iter(segs))
            data = b""
            for seq in sorted(segs, key=lambda s: (s - first + (1 << 31)) & 0xffffffff):
                length, head = segs[seq]
                if len(head) < length:
                    return None
                data += head
            while data:
                length = int.from_bytes(data[5:7], "big")
                if data[:4] != EYE or not 12 <= length <= len(data) or data[length - 4:length] != EYE:
                    return None
                names.append((data[4], length))
                data = data[length:]
        return [f"{CLC_NAMES.get(t, t)} ({n} bytes)" for t, n in sorted(names)]
