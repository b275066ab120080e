#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The CLC, LLC and CDC messages, RDMA WRITEs and TCP segments of a capture of two
hosts, read by the figures of RFC 7609 (appendix A). Nothing here comes from the
module: this is an independent reader.

    wire.py CHECK FOLDER        the capture wire.pcap and the hosts' own view,
                                facts1.json and facts2.json, of a test case

Prints "ok TEXT" and "not ok TEXT: WHY".
"""

import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from roce import EYE, IMMEDIATE  # noqa: E402  pylint: disable=wrong-import-position

PROPOSAL, ACCEPT, CONFIRM, DECLINE = 1, 2, 3, 4
CONFIRM_LINK, ADD_LINK, DELETE_LINK, CONFIRM_RKEY, TEST_LINK, DELETE_RKEY, CDC = 1, 2, 4, 6, 7, 9, 0xfe
ADD_LINK_CONT, CONFIRM_RKEY_CONT = 3, 8
LLC_NAMES = {1: "CONFIRM LINK", 2: "ADD LINK", 3: "ADD LINK CONTINUATION", 4: "DELETE LINK", 6: "CONFIRM RKEY",
             7: "TEST LINK", 8: "CONFIRM RKEY CONTINUATION", 9: "DELETE RKEY"}
SEND_ONLY, ACK = 0x04, 0x11
WRITES = {0x06: "first", 0x07: "middle", 0x08: "last", 0x0a: "only"}


def num(data, off, length):
    """A big-endian number."""
    return int.from_bytes(data[off:off + length], "big")


class Msg(dict):
    """A message: its fields, its place in the capture (`at`), its sender, its bytes (`raw`)."""
    __getattr__ = dict.__getitem__


def clc(raw):
    """Figures 26 to 30. A message that is too short for its figure lacks fields; see sound()."""
    m = Msg(raw=raw, type=raw[4], length=num(raw, 5, 2), byte7=raw[7], peer_id=raw[8:16],
            framed=raw[:4] == EYE == raw[-4:])
    try:
        if m.type == PROPOSAL:
            g = num(raw, 38, 2)
            n = raw[47 + g]
            m.update(gid=raw[16:32], mac=raw[32:38], growth=g, net=raw[40 + g:44 + g], plen=raw[44 + g],
                     reserved=raw[45 + g:47 + g],
                     prefixes=[(raw[48 + g + 17 * i:64 + g + 17 * i], raw[64 + g + 17 * i]) for i in range(n)])
        elif m.type in (ACCEPT, CONFIRM):
            m.update(gid=raw[16:32], mac=raw[32:38], qpn=num(raw, 38, 3), rkey=num(raw, 41, 4), index=raw[45],
                     token=num(raw, 46, 4), bsize=raw[50] >> 4, mtu=raw[50] & 15, va=num(raw, 52, 8), psn=num(raw, 61, 3),
                     reserved=bytes((raw[51], raw[60])), size=16384 << (raw[50] >> 4))
        elif m.type == DECLINE:
            m.update(diagnosis=num(raw, 16, 4), reserved=raw[20:24])
    except IndexError:
        pass
    return m


def sound(m):
    """Whether the parts of a CLC message fill it exactly, as in the figures."""
    want = {ACCEPT: 68, CONFIRM: 68, DECLINE: 28}
    if m.type == PROPOSAL and "prefixes" in m:
        want[PROPOSAL] = 52 + m.growth + 17 * len(m.prefixes)
    return m.framed and m.length == len(m.raw) == want.get(m.type)


def link_msg(raw, padded=False):
    """Figures 31 to 41: what is SENT on a link. Padded: a peer that uses no eye
    catchers, such as Linux, has two bytes before the GID of ADD LINK (I-41)."""
    m = Msg(raw=raw, type=raw[0], length=raw[1], reply=bool(raw[3] & 0x80))
    if padded and m.type == ADD_LINK:
        raw = raw[:10] + raw[12:] + bytes(2)
    if m.type == CONFIRM_LINK:
        m.update(mac=raw[4:10], gid=raw[10:26], qpn=num(raw, 26, 3), link=raw[29], user_id=num(raw, 30, 4),
                 max_links=raw[34], flags=raw[3] & 0x7f, reserved=raw[2:3] + raw[35:])
    elif m.type == ADD_LINK:
        m.update(mac=raw[4:10], gid=raw[10:26], qpn=num(raw, 26, 3), link=raw[29], mtu=raw[30] & 15, psn=num(raw, 31, 3),
                 reason=raw[2] & 15, rejected=bool(raw[3] & 0x40),
                 reserved=bytes((raw[2] & 0xf0, raw[3] & 0x3f, raw[30] & 0xf0)) + raw[34:])
    elif m.type == ADD_LINK_CONT:
        m.update(link=raw[4], left=raw[5], pairs=[(num(raw, o, 4), num(raw, o + 4, 4), num(raw, o + 8, 8)) for o in (8, 24)[:raw[5]]])
    elif m.type == DELETE_LINK:
        m.update(all=bool(raw[3] & 0x40), orderly=bool(raw[3] & 0x20), link=raw[4], reason=num(raw, 5, 4),
                 reserved=bytes((raw[2], raw[3] & 0x1f)) + raw[9:])
    elif m.type == CONFIRM_RKEY:
        m.update(negative=bool(raw[3] & 0x20), rkey=num(raw, 5, 4), va=num(raw, 9, 8),
                 others=[(raw[o], num(raw, o + 1, 4), num(raw, o + 5, 8)) for o in (17, 30)[:raw[4]]])
    elif m.type == CONFIRM_RKEY_CONT:
        m.update(negative=bool(raw[3] & 0x20), left=raw[4],
                 others=[(raw[o], num(raw, o + 1, 4), num(raw, o + 5, 8)) for o in (5, 18, 31)[:raw[4]]])
    elif m.type == DELETE_RKEY:
        m.update(negative=bool(raw[3] & 0x20), mask=raw[5], rkeys=[num(raw, 8 + 4 * i, 4) for i in range(min(raw[4], 8))])
    elif m.type == CDC:
        m.update(seq=num(raw, 2, 2), token=num(raw, 4, 4), prod_wrap=num(raw, 10, 2), prod=num(raw, 12, 4),
                 cons_wrap=num(raw, 18, 2), cons=num(raw, 20, 4), flags=raw[24], ends=raw[25],
                 reserved=raw[8:10] + raw[16:18] + bytes((raw[24] & 7, raw[25] & 0x1f)) + raw[26:])
    return m


class Stream:
    """One direction of a TCP connection, put in order. CLC messages are taken
    from its beginning; what comes behind them stays in `data`."""

    def __init__(self, first):
        self.first = self.next = first & 0xffffffff
        self.data = b""
        self.later = {}
        self.plain = False      # something that is no CLC message has arrived

    def feed(self, seq, payload):
        """Add a segment, in any order. Returns the CLC messages that are complete now."""
        if payload:
            self.later[seq] = max(self.later.get(seq, b""), payload, key=len)
        moved = True
        while moved:
            moved = False
            for at in [self.next] if self.next in self.later else list(self.later):
                skip = self.next - at & 0xffffffff
                if skip < 0x80000000:       # begins at or before what is due
                    part = self.later.pop(at)[skip:]
                    self.next = self.next + len(part) & 0xffffffff
                    self.data += part
                    moved = True
                    break
        found = []
        while not self.plain and self.data[:4] == EYE and len(self.data) >= 8 and num(self.data, 5, 2) >= 28:
            length = num(self.data, 5, 2)
            if len(self.data) < length:
                break
            found.append(clc(self.data[:length]))
            self.data = self.data[length:]
        return found

    def spill(self):
        """Remove and return what can no longer be part of a CLC message."""
        if not self.plain and (EYE.startswith(self.data[:4]) or self.data[:4] == EYE and
                               (len(self.data) < 8 or num(self.data, 5, 2) >= 28)):
            return b""
        self.plain = True
        data, self.data = self.data, b""
        return data


class Capture:
    """All of a pcap file, in order."""

    def __init__(self, path):
        self.clc = []           # CLC messages, with conn=(client address, port), up (from the client)
        self.sends = []         # on links: LLC and CDC, with qpn (of the receiver), psn, src, dst
        self.writes = []        # RDMA WRITE: qpn, psn, va, rkey, length, src
        self.naks = []          # syndromes of negative acknowledgments
        self.unready = []       # of those "receiver not ready": (sender, receiver, queue pair), PSN
        self._acked = {}        # the same key: the last PSN that was acknowledged
        self.first_psn = {}     # (src, qpn of the receiver): PSN
        self.tcp = {}           # conn: {True (up)/False: bytes that are not CLC}
        self.ends = {}          # conn: {True/False: (relative sequence number of the FIN, at)}
        self.silent = {}        # conn: segments without payload
        self.odd = []           # what should not occur at all
        self.at = 0
        self._seen, self._open, self._streams = set(), {}, {}
        with open(path, "rb") as f:
            data = f.read()
        order = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">"}[data[:4]]
        # Ethernet; all cards at once (Linux cooked, 1 and 2): where the type is, how long the header is
        self._head = {1: (12, 14), 113: (14, 16), 276: (0, 20)}[struct.unpack_from(order + "I", data, 20)[0]]
        off = 24
        while off + 16 <= len(data):
            self.sec, self.usec, kept, length = struct.unpack_from(order + "IIII", data, off)
            if kept != length and "a packet was cut short" not in self.odd:
                self.odd.append("a packet was cut short")
            self._frame(data[off + 16:off + 16 + kept])
            off += 16 + kept
            self.at += 1

    def _frame(self, data):
        at, off = self._head
        kind = data[at:at + 2]
        if kind == b"\x08\x00":
            src, dst, proto = data[off + 12:off + 16], data[off + 16:off + 20], data[off + 9]
            end = off + num(data, off + 2, 2)
            off += (data[off] & 15) * 4
        elif kind == b"\x86\xdd":
            src, dst, proto = data[off + 8:off + 24], data[off + 24:off + 40], data[off + 6]
            end = off + 40 + num(data, off + 4, 2)
            off += 40
        else:
            return
        if proto == 17 and num(data, off + 2, 2) == 4791:
            self._roce(src, dst, data[off + 8:end])
        elif proto == 6:
            self._tcp(src, dst, data[off:end])

    # -- RoCE: base transport header, extended headers, payload, CRC ---------

    def _roce(self, src, dst, data):
        opcode, qpn, psn = data[0], num(data, 5, 3), num(data, 9, 3)
        pad = data[1] >> 4 & 3
        if opcode == ACK:
            # 000: acknowledgment, 001: receiver not ready, 011: refused
            if data[12] >> 5:
                self.naks.append(data[12])
            if data[12] >> 5 == 1:
                self.unready.append(((src, dst, qpn), psn))
            elif not data[12] >> 5:
                self._acked[src, dst, qpn] = psn
            return
        if (src, qpn, psn) in self._seen:
            return                              # sent again
        self._seen.add((src, qpn, psn))
        self.first_psn.setdefault((src, qpn), psn)
        m = Msg(at=self.at, time=self.sec + self.usec / 1e6, src=src, dst=dst, qpn=qpn, psn=psn, opcode=opcode)
        if opcode == SEND_ONLY:
            raw = data[12:-4 - pad]
            if len(raw) != 44:
                self.odd.append(f"a SEND of {len(raw)} bytes")
                return
            said = link_msg(raw)
            m.update({k: v for k, v in said.items() if k not in m}, said=said)
            self.sends.append(m)
        elif opcode in WRITES:
            if WRITES[opcode] in ("first", "only"):
                m.update(va=num(data, 12, 8), rkey=num(data, 20, 4), length=num(data, 24, 4))
                self.writes.append(m)
        else:
            self.odd.append(f"opcode {opcode:#x}, queue pair {qpn}")

    def not_ready(self):
        """
        How often a receiver was not ready. The queue pair to which DELETE LINK or its
        reply, a link's last messages, are sent may not exist any more.
        """
        last = {(m.dst, m.src, m.psn) for m in self.sends if m.type == DELETE_LINK}
        return sum((src, dst, psn) not in last or self._took((src, dst, qpn), psn) for (src, dst, qpn), psn in self.unready)

    def _took(self, key, psn):
        """Whether a packet was acknowledged in the end."""
        return key in self._acked and (self._acked[key] - psn) & 0xffffff < 0x800000

    def acked(self, src, dst, qpn):
        """The last PSN that was acknowledged by src to the queue pair of dst, or None."""
        return self._acked.get((src, dst, qpn))

    # -- TCP: the payload in order; CLC messages are taken from its beginning ----

    def _tcp(self, src, dst, data):
        sport, dport, seq = struct.unpack_from(">HHI", data)
        flags, payload = data[13], data[(data[12] >> 4) * 4:]
        if flags & 0x12 == 0x02:
            self._open.setdefault((src, sport, dst, dport), len(self._open))
        for conn, up in (((src, sport, dst, dport), True), ((dst, dport, src, sport), False)):
            if conn in self._open:
                break
        else:
            return
        key = (conn, up)
        if flags & 2:
            self._streams[key] = Stream(seq + 1)
            self.tcp.setdefault(conn, {True: b"", False: b""})
            return
        s = self._streams.get(key)
        if not s:
            return
        if not payload and not flags & 5:
            self.silent.setdefault(conn, []).append(
                Msg(at=self.at, up=up, seq=seq - s.first & 0xffffffff, ack=num(data, 8, 4),
                    time=self.sec + self.usec / 1e6))
        if flags & 1:
            self.ends.setdefault(conn, {}).setdefault(up, Msg(at=self.at, seq=(seq + len(payload) - s.first) & 0xffffffff))
        for m in s.feed(seq, payload):
            m.update(at=self.at, conn=conn, up=up)
            self.clc.append(m)
        self.tcp[conn][up] = s.data

    def conns(self):
        """[{proposal, accept, confirm, decline}] in the order of their SYNs; None: was not sent."""
        found = []
        for conn in sorted(self._open, key=self._open.get):
            said = [m for m in self.clc if m.conn == conn]
            c = Msg(conn=conn, said=said, proposal=None, accept=None, confirm=None, decline=None)
            for m in said:
                c[{1: "proposal", 2: "accept", 3: "confirm", 4: "decline"}[m.type]] = m
            found.append(c)
        return found


class Checks:
    """Prints checks and counts those that failed."""
    bad = 0

    def eq(self, text, got, want):
        """One check."""
        if got == want:
            print(f"ok {text}")
        else:
            self.bad += 1
            show = [str(v.hex() if isinstance(v, bytes) else v)[:300] for v in (got, want)]
            print(f"not ok {text}: {show[0]}, expected {show[1]}")

    def true(self, text, got, why=""):
        """One check."""
        self.eq(text, (bool(got), "" if got else why), (True, ""))


class Report(Checks):
    """The checks, the capture, and the facts that the hosts report."""

    def __init__(self, folder):
        self.cap = Capture(f"{folder}/wire.pcap")
        self.facts = []
        for path in (f"{folder}/facts{i}.json" for i in (1, 2)):
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    self.facts.append(json.load(f))


def hexa(text):
    """A MAC, peer ID or GID as the hosts print it."""
    if re.fullmatch(r"[0-9a-fA-F:.]+", text) and "::" in text or "." in text or text.count(":") == 7:
        import ipaddress  # pylint: disable=import-outside-toplevel
        return ipaddress.IPv6Address(text).packed
    return bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", text))


def ip_of(gid):
    """The address that a RoCEv2 GID stands for."""
    return gid[12:] if gid[:12] == bytes(10) + b"\xff\xff" else gid


def frames_ok(r):
    """What holds for every message of every capture."""
    cap = r.cap
    r.eq("nothing that does not belong here", cap.odd, [])
    r.eq("no request was refused", [n for n in cap.naks if n >> 5 != 1], [])
    # The packet is repeated, without harm; but a receiver has to be ready nearly always (LG-51).
    r.true("hardly a receiver that was not ready", cap.not_ready() <= 2, (cap.not_ready(), cap.naks))
    r.eq("no immediate data", [w.opcode for w in cap.writes if w.opcode in IMMEDIATE], [])
    r.true("CLC: eye catchers at both ends", cap.clc and all(m.framed for m in cap.clc))
    r.true("CLC: the length is that of the message", all(m.length == len(m.raw) for m in cap.clc))
    r.eq("CLC: version 1, reserved bits zero", sorted({(m.type, m.byte7) for m in cap.clc} -
                                                     {(1, 0x10), (2, 0x10), (2, 0x18), (3, 0x10), (4, 0x10)}), [])
    r.true("CLC: reserved bytes zero", not any(any(m.reserved) for m in cap.clc))
    r.eq("LLC, CDC: the length byte says 44", {m.length for m in cap.sends}, {44})
    r.true("LLC, CDC: reserved bits zero", not any(any(m.get("reserved", b"")) for m in cap.sends if m.type != ADD_LINK))


def clc_common(r, conns):
    """Which side sends which CLC message, and that messages agree about the client."""
    for c in conns:
        r.eq("the client speaks first, then the server, then the client",
             [(m.type, m.up) for m in c.said], [(1, True), (2, False), (3, True)])
        r.eq("nothing but CLC is on TCP", [len(v) for v in r.cap.tcp[c.conn].values()], [0, 0])
        r.eq("Proposal and Confirm name the same client", c.proposal.peer_id, c.confirm.peer_id)


def ident(r):
    """The peer IDs that the hosts show."""
    return [hexa(f["sys"]["sys"]["peer-id"]) for f in r.facts]


def first(r):
    """One connection, the first between these hosts."""
    cap = r.cap
    frames_ok(r)
    conns = cap.conns()
    r.eq("one connection", len(conns), 1)
    c = conns[0]
    clc_common(r, conns)
    ids = ident(r)
    p, a, f = c.proposal, c.accept, c.confirm
    macs = [hexa(x["macs"]["eth0"]) for x in r.facts]
    gids = [{hexa(g) for g in x["gids"]} for x in r.facts]
    r.eq("Proposal: peer ID", p.peer_id, ids[1])
    r.eq("Accept: peer ID", a.peer_id, ids[0])
    r.true("peer ID: an own card's MAC behind two bytes", all(i[2:] in {hexa(m) for m in x["macs"].values()}
                                                           for i, x in zip(ids, r.facts)))
    r.eq("Proposal: 52 bytes", p.length, 52)
    r.eq("Proposal: MAC of the card", p.mac, macs[1])
    r.true("Proposal: GID of the card", p.gid in gids[1])
    r.eq("Proposal: offset, network, mask, prefixes", (p.growth, p.net, p.plen, p.prefixes), (0, bytes((10, 77, 0, 0)), 24, []))
    for m, n in ((a, 0), (f, 1)):
        name = ("Accept", "Confirm")[n]
        link = r.facts[n]["link"][0]
        conn = [x for x in r.facts[n]["conn"] if x.get("mode") == "smc-r"][0]
        rmb = [x for x in r.facts[n]["rmb"] if x["rkey"] == m.rkey]
        r.eq(f"{name}: 68 bytes, byte 7", (m.length, m.byte7), (68, (0x18, 0x10)[n]))
        r.eq(f"{name}: MAC, GID", (m.mac, m.gid), (hexa(link["mac"]), hexa(link["gid"])))
        r.true(f"{name}: MAC and GID of the card", m.mac == macs[n] and m.gid in gids[n])
        r.eq(f"{name}: queue pair", m.qpn, link["qpn"])
        r.eq(f"{name}: first PSN", m.psn, link["psn"])
        r.eq(f"{name}: token, element", (m.token, m.index), (conn["token"], conn["rmbe-index"]))
        r.true(f"{name}: element index is not 0", m.index)
        r.eq(f"{name}: one RMB has this RKey; size of its elements", [x["element-size"] for x in rmb], [m.size])
        r.eq(f"{name}: size of the element", m.size, conn["rmbe-size"])
        r.true(f"{name}: MTU of a table of five", 1 <= m.mtu <= 5)
        qp = [q for q in r.facts[n]["qp"] if q["lqpn"] == m.qpn]
        r.eq(f"{name}: that queue pair is the module's, RC and ready", [(q["type"], q["state"], q["rqpn"]) for q in qp],
             [("RC", "RTS", (f, a)[n].qpn)])
        r.eq(f"{name}: the first packet from there has this PSN", cap.first_psn.get((ip_of(m.gid), (f, a)[n].qpn)), m.psn)
    r.eq("effective MTU: the smaller one", {256 << min(a.mtu, f.mtu) - 1}, {x["link"][0]["mtu"] for x in r.facts})
    r.true("PSNs were drawn", a.psn != f.psn and {a.psn, f.psn} & set(range(256, 1 << 24)))
    for n, x in enumerate(r.facts):
        r.eq(f"host {n + 1}: no other queue pairs of the module than this RC one",
             [(q["type"], q["lqpn"]) for q in x["qp"] if "smcr" in q.get("comm", "")], [("RC", (a, f)[n].qpn)])
        r.eq(f"host {n + 1}: has a number of its own for the group", [x["lgr"][0]["lgr-id"]], [x["link"][0]["lgr-id"]])
        r.eq(f"host {n + 1}: says that it is not redundant", x["lgr"][0].get("redundant"), 0)
    llc_first(r, c)
    data_path(r, c, 4)
    r.true("TCP ends only after both said C or A", all(
        e.at > max((s.at for s in cap.sends if s.type == CDC and s.ends & 0x60), default=1 << 60)
        for e in cap.ends[c.conn].values()))
    r.eq("TCP's sequence numbers at the end count CLC only", {k: e.seq for k, e in cap.ends[c.conn].items()},
         {True: 120, False: 68})


def llc_first(r, c, user_ids=True):
    """CONFIRM LINK, ADD LINK and their replies on the link of a first contact, before anything else."""
    a, f = c.accept, c.confirm
    on = [m for m in r.cap.sends if (m.qpn == f.qpn and m.src == ip_of(a.gid)) or
          (m.qpn == a.qpn and m.src == ip_of(f.gid))]
    on = [m for m in on if m.at > c.proposal.at]
    r.eq("CONFIRM LINK, reply, ADD LINK, reply, in this order, then data",
         [(m.type, m.reply, m.src == ip_of(a.gid)) for m in on[:4]] + [m.type for m in on[4:5]],
         [(1, False, True), (1, True, False), (2, False, True), (2, True, False), CDC])
    if len(on) < 5:
        return
    ask, answer, offer, no = [m.said for m in on[:4]]
    if ask.flags & answer.flags:
        offer, no = (link_msg(m.raw, True) for m in (offer, no))
    r.true("all that after Confirm", on[0].at > f.at)
    r.true("no data before that is settled", all(w.at > on[3].at for w in r.cap.writes
                                                if (w.src, w.qpn) in {(on[0].src, f.qpn), (on[0].dst, a.qpn)}))
    r.eq("CONFIRM LINK: MAC, GID, queue pair as in Accept", (ask.mac, ask.gid, ask.qpn), (a.mac, a.gid, a.qpn))
    r.eq("its reply: as in Confirm", (answer.mac, answer.gid, answer.qpn), (f.mac, f.gid, f.qpn))
    r.eq("the same link number, not 0", (ask.link, bool(ask.link)), (answer.link, True))
    r.true("maximum of links: 2 to 8, the client's not above the server's",
           2 <= ask.max_links <= 8 and (not answer.max_links or 2 <= answer.max_links <= ask.max_links))
    if user_ids:
        links = [x["link"][0] for x in r.facts]
        r.eq("link user IDs, and that each host knows the other's",
             [(x["user-id"], x["peer-user-id"]) for x in links], [(ask.user_id, answer.user_id), (answer.user_id, ask.user_id)])
        r.eq("link number", {x["link-num"] for x in links}, {ask.link})
        r.eq("flags of CONFIRM LINK: none but R", (ask.flags, answer.flags), (0, 0))
    r.true("ADD LINK: reserved bits zero", not any(offer.reserved) and not any(no.reserved))
    r.eq("ADD LINK: MAC, GID of the card", (offer.mac, offer.gid), (a.mac, a.gid))
    r.true("ADD LINK: another queue pair and link number", offer.qpn not in (0, a.qpn) and offer.link not in (0, ask.link))
    r.eq("ADD LINK: MTU, no reason, not rejected", (offer.mtu, offer.reason, offer.rejected), (a.mtu, 0, False))
    r.eq("reply: no alternate path, the number that was offered", (no.rejected, no.reason, no.link), (True, 1, offer.link))


def data_path(r, c, base):
    """WRITEs stay in the announced elements, in front of the CDC that announces them; numbers of CDCs."""
    for me, peer, name in ((c.confirm, c.accept, "client"), (c.accept, c.confirm, "server")):
        start = peer.va + (peer.index - 1) * peer.size
        # until the element belongs to another connection
        until = min((x.at for x in r.cap.clc if x.type == peer.type and x.at > peer.at and
                     (x.gid, x.rkey, x.va, x.index) == (peer.gid, peer.rkey, peer.va, peer.index)), default=r.cap.at)
        writes = [w for w in r.cap.writes if w.rkey == peer.rkey and w.src == ip_of(me.gid) and
                  c.proposal.at < w.at < until and start <= w.va < start + peer.size]
        cdcs = [m for m in r.cap.sends if m.type == CDC and m.token == peer.token and m.src == ip_of(me.gid)]
        r.true(f"{name}: writes, and says so", writes and cdcs)
        r.eq(f"{name}: only behind the eye catcher and within the element",
             [w for w in writes if w.va < start + base or w.va + w.length > start + peer.size], [])
        r.eq(f"{name}: on the link that was agreed on", {m.qpn for m in writes + cdcs}, {peer.qpn})
        r.eq(f"{name}: sequence 1, 2, 3...", [m.seq for m in cdcs], list(range(1, len(cdcs) + 1)))
        r.true(f"{name}: cursors between {base} and {peer.size - 1}",
               all(base <= m.prod < peer.size and base <= m.cons < me.size for m in cdcs))
        # What is announced has been written: bytes of WRITEs in front of each CDC, in the order of the link.
        cap, bad = peer.size - base, 0
        for m in cdcs:
            before = sum(w.length for w in writes if m.psn - w.psn & 0xffffff < 0x800000)
            bad += m.prod_wrap * cap + m.prod - base > before
        r.eq(f"{name}: no CDC announces what was not written before on the same link", bad, 0)
        r.eq(f"{name}: not a byte more was written than announced", sum(w.length for w in writes),
             cdcs[-1].prod_wrap * cap + cdcs[-1].prod - base if cdcs else -1)
        ends = [m for m in cdcs if m.ends & 0x60]
        if ends:
            r.eq(f"{name}: one message says C or A, and is the last one", ends, cdcs[-1:])
            r.eq(f"{name}: nothing is written after it", [w for w in writes if ends[0].psn - w.psn & 0xffffff > 0x800000], [])


def links_of(r, conns):
    """What holds for many connections and groups: F, what Confirm may name, tokens."""
    known = {}              # (server's GID, QPN): connection of the first contact
    for c in conns:
        a, f = c.accept, c.confirm
        link = (a.gid, a.qpn)
        r.eq("F just if the link is a new one", a.byte7 == 0x18, link not in known)
        if link in known:
            r.eq("Accept and Confirm name a confirmed link of the group",
                 (a.mac, f.gid, f.mac, f.qpn), (known[link].accept.mac, known[link].confirm.gid, known[link].confirm.mac,
                                               known[link].confirm.qpn))
        else:
            known[link] = c
            llc_first(r, c, False)
    tokens = [m.token for c in conns for m in (c.accept, c.confirm)]
    r.eq("every token is another one", len(set(tokens)), len(tokens))
    steps = [(b - a) & 0xffffffff for a, b in zip(tokens, tokens[1:])]
    r.eq("and they are no sequence", len(set(steps)), len(steps))
    return known


def groups(r):
    """Many connections; the case writes their names, in order, to the file steps."""
    cap = r.cap
    frames_ok(r)
    with open(sys.argv[2] + "/steps", encoding="utf-8") as f:
        steps = [line.split() for line in f]            # name of each connection, in order
    conns = cap.conns()
    r.eq("connections", len(conns), len(steps))
    names = {}
    for (name,), c in zip(steps, conns):
        names.setdefault(name, []).append(c)
    one = {n: cs[0] for n, cs in names.items()}
    clc_common(r, conns)
    known = links_of(r, conns)
    v4 = one["first"].proposal
    r.eq("IPv4: Proposals are alike, whether a group exists or not", {
        c.proposal.raw for n in ("first", "again", "big", "parallel", "after") for c in names[n]}, {v4.raw})
    r.eq("IPv4-mapped: the same 52 bytes", one["mapped"].proposal.raw, v4.raw)
    q = one["address"].proposal
    r.eq("another address of the host: the same peer, card, network", (q.peer_id, q.mac, q.net, q.plen),
         (v4.peer_id, v4.mac, v4.net, v4.plen))
    r.eq("and the same group", one["address"].accept.byte7, 0x10)
    p = one["ipv6"].proposal
    r.eq("IPv6: 8 of the 11 prefixes, 52 + 17 x 8 bytes, IPv4 part zero",
         (len(p.prefixes), p.length, p.net, p.plen, p.growth), (8, 188, bytes(4), 0, 0))
    r.eq("IPv6: prefixes are 64 bits of the network, each once",
         (len({x for x, _ in p.prefixes}), {n for _, n in p.prefixes}, any(any(x[8:]) for x, _ in p.prefixes)), (8, {64}, False))
    r.true("IPv6: that of the connection's own address is among them",
           one["ipv6"].conn[0][:8] + bytes(8) in {x for x, _ in p.prefixes})
    r.eq("IPv6: the group that the host has over IPv4", one["ipv6"].accept.byte7, 0x10)
    q = one["card2"]
    r.eq("second card: its MAC, its network", [(m.mac, m.gid[12:15]) for m in (q.proposal, q.accept, q.confirm)],
         [(hexa(r.facts[n]["macs"]["eth1"]), bytes((10, 77, 1))) for n in (1, 0, 1)])
    r.eq("second card: network of the Proposal", q.proposal.net, bytes((10, 77, 1, 0)))
    r.eq("second card: a group of its own", q.accept.byte7, 0x18)
    back = one["reverse"]
    r.eq("the other direction: a group of its own, the roles are swapped",
         (back.accept.byte7, back.accept.peer_id, back.proposal.peer_id), (0x18, v4.peer_id, one["first"].accept.peer_id))
    r.eq("roles that the hosts show for it", [sorted({g["role"] for g in x["lgr"]}) for x in r.facts], [["client", "server"]] * 2)
    par = one["parallel"]
    r.eq("over the limit the server opens another group", (par.accept.byte7, par.accept.peer_id), (0x18, one["first"].accept.peer_id))
    mine = {m.rkey for c in conns if (c.accept.gid, c.accept.qpn) == (par.accept.gid, par.accept.qpn) for m in (c.accept,)}
    others = {c.accept.rkey for c in conns if c.accept.gid == par.accept.gid and c.accept.qpn != par.accept.qpn}
    r.eq("groups share no RMB", mine & others, set())
    r.eq("after the group's end: first contact again", one["after"].accept.byte7, 0x18)
    new = one["reloaded"].proposal
    r.eq("after a restart: another instance, the rest is the same", (new.peer_id[:2] != v4.peer_id[:2], new.peer_id[2:], new.raw[16:]),
         (True, v4.peer_id[2:], v4.raw[16:]))
    r.eq("and so a new group", one["reloaded"].accept.byte7, 0x18)
    big = one["big"]
    r.eq("a smaller receive buffer: another element size, the same group",
         (big.confirm.size, big.confirm.rkey != one["again"].confirm.rkey, big.accept.byte7), (131072, True, 0x10))
    r.true("the two sides' elements differ in size", big.accept.size != big.confirm.size)
    a, b = one["first"].accept, one["again"].accept
    r.eq("elements of one RMB", (a.rkey, a.va, a.size, a.index != b.index), (b.rkey, b.va, b.size, True))
    r.true("elements are used again, with another token", len({(c.accept.gid, c.accept.rkey, c.accept.va, c.accept.index)
                                                              for c in names["many"]}) < len(names["many"]))
    for c in (one["first"], one["again"], one["big"], par, back, *names["many"]):
        data_path(r, c, 0)
    links = [[x for x in f["link"]] for f in r.facts]
    ids = [[x["user-id"] for x in ls] for ls in links]
    r.eq("link user IDs are unique on a host", [len(set(i)) for i in ids], [len(i) for i in ids])
    r.eq("and each host knows the other's", [sorted(x["peer-user-id"] for x in ls) for ls in links], [sorted(ids[1]), sorted(ids[0])])
    r.true("as many links as groups of this moment", len(ids[0]) == len(ids[1]) >= 4 and len(known) >= 6)


def faults(r):
    """TCP of connections over SMC-R: one whose link was lost, two idle ones, the first with keepalive."""
    cap = r.cap
    conns = cap.conns()
    r.eq("connections", [c.conn[3] for c in conns], [5000, 5010, 5010])
    clc_common(r, conns)
    kept, quiet = conns[1:]
    silent = cap.silent[kept.conn]
    life = silent[-1].time - silent[0].time if silent else 0
    probes = [m for m in silent if m.up and m.seq == 119]
    r.true("SO_KEEPALIVE: probes on TCP, about one in a second", max(2, life / 2) <= len(probes) <= life,
           f"{len(probes)} in {life:.1f} s")
    for p, after in zip(probes, [*(n.at for n in probes[1:]), min(e.at for e in cap.ends[kept.conn].values())]):
        r.true("a probe is answered", any(not m.up and p.at < m.at < after for m in silent))
    # after the last CLC message and its acknowledgment nothing is left to send before the end
    end = min(e.at for e in cap.ends[quiet.conn].values())
    settled = [m for m in cap.silent[quiet.conn] if quiet.confirm.at < m.at < end]
    r.true("without: at most the acknowledgment of Confirm", len(settled) <= 1, len(settled))


def main():
    """Returns the exit status."""
    name, folder = sys.argv[1:]
    report = Report(folder)
    CHECKS[name](report)
    return 1 if report.bad else 0


CHECKS = {"first": first, "groups": groups, "faults": faults}


if __name__ == "__main__":
    sys.exit(main())
