# SPDX-License-Identifier: GPL-2.0
"""TCP and CLC: connections, and the queue pairs, memory and links that they announce."""

from collections import OrderedDict

from roce import CLC_NAMES, EYE
from wire import ACCEPT, CONFIRM, DECLINE, PROPOSAL, Msg, Stream, sound

from .model import CONNS, Conn, Cursor, Model, home
from .names import MTUS, addr, nbytes

EXID = EYE                      # the TCP option is 254, 6 and these four bytes


class Handshakes(Model):
    """Reads TCP segments, and the CLC messages in them."""

    def _tcp(self, f, src, dst):
        """Read a segment. Returns a problem; why tshark's verdict does not count (proposal, cut); whether it has CLC at all."""
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
                self._forget(k)         # a new connection with the same ports, whose SYN was not captured
        if flags & 0x12 == 0x02:
            old = self.conns.get(key)
            if old is None or old.stage or True in old.streams and old.streams[True].first != seq + 1 & 0xffffffff:
                self._forget(key)
                self.conns[key] = Conn(key, True)
        elif key not in self.conns:
            key, up = (dst, dport, src, sport), False
            if key not in self.conns:
                # Its beginning is not in the capture. The host that sends a Proposal is the client.
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
            # Segments are missing in the capture: continue behind them.
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
                c.plain[up] += len(m.raw)       # it looks like CLC, but the handshake is over
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
        """Is the SMC-R option among these?"""
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
        """Queue pair and memory of one side, from its Accept or Confirm; the link, after both."""
        link = self.links.get((addr(m.gid), m.qpn))
        owner = home(link, addr(m.gid))
        self.qps[addr(m.gid), m.qpn] = "smc"
        old = self.ranges.setdefault((owner, m.rkey), {})
        start = m.va + (m.index - 1) * m.size
        e = Msg(owner=owner, rkey=m.rkey, start=start, size=m.size, token=m.token, written=0, seq=0, seen=None, prod=Cursor(),
                cons=Cursor(), link=None, pos=0, by=None, done=False, twin=None, over=None, conn=c, va=m.va,
                # Of the side that writes there: its link, the frames in which it left others, its CDCs; where it continued.
                on=None, before={}, cdcs=OrderedDict(), forgot=False, stray=False, again=None, top=0, heard=[], last=None, gap=(0, None))
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
            self._link(f, self._group(), (server, a.qpn, a.psn, server, a.mac), (client, x.qpn, x.psn, client, x.mac))
        else:
            one, other = self.links.get((server, a.qpn)), self.links.get((client, x.qpn))
            known = {(server, a.qpn), (client, x.qpn)} & self.old
            if one is not other or not one and not known and pair.contact:
                self.checks["dest-qp"].judge(False, f.at, f"{c.name()}: queue pairs {a.qpn:#x} of Accept and {x.qpn:#x} of Confirm are not the "
                                             "two ends of a link")
        for e in c.memory:
            e.link = e.on = self.links.get((server, a.qpn))
            e.twin = next((y for y in c.memory if y.owner != e.owner), None)
            if e.link and e.link.number is None:
                e.link.early.append(e)          # CONFIRM LINK gives it its number
            elif e.link:
                self._rmb(e.link, e.owner, e.rkey, e.va)
                self._same_place(e)

    def _same_place(self, e):
        """An element has a new user: remove the old one, which was announced with the RTokens of other links."""
        for m in e.link.group.memory.get(e.owner, ()):
            here = m.get(e.link.number)
            for number, (rkey, va) in m.items() if here and here[0] == e.rkey else ():
                old = self.ranges.get((e.owner, rkey), {})
                was = old.get(e.start - here[1] + va)
                if was and was is not e and was.link and was.link.group is e.link.group and was.link.number == number:
                    del old[was.start]
                    if self.elements.get((was.owner, was.token)) is was:
                        del self.elements[was.owner, was.token]
