# SPDX-License-Identifier: GPL-2.0
"""RoCE packets: requests and responses, LLC and CDC messages, the connection manager."""

import zlib

from roce import IMMEDIATE, OPCODES, WRITES
from wire import (ACK, ADD_LINK, ADD_LINK_CONT, CDC, CONFIRM, CONFIRM_LINK, CONFIRM_RKEY, CONFIRM_RKEY_CONT, DELETE_LINK,
                  DELETE_RKEY, LLC_NAMES, Msg, link_msg)

from .model import CONNS, home
from .names import CM_QP, UD_SEND, addr, llc_text, nbytes
from .order import Verdicts

CNP = 0x81                      # congestion notification
CM_NAMES = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP", 0x19: "LAP", 0x1a: "APR"}
NAKS = {0: "PSN sequence error", 1: "invalid request", 2: "remote access error", 3: "remote operational error",
        4: "invalid RD request"}
SMC_OPCODES = {*range(0x00, 0x05), *range(0x06, 0x0b), 0x11} - {0x03, 0x09}
FLAGS = ((0x80, "write blocked"), (0x40, "urgent pending"), (0x20, "urgent present"), (0x10, "cursor update requested"),
         (0x08, "failover validation"))
ENDS = ((0x80, "sending done"), (0x40, "closed"), (0x20, "abnormal close"))
HOLES = 4096                    # gaps of a queue pair that are tracked
FAR = 65536                     # distance of PSNs at which packets cannot be in flight together
WAITING = 10000                 # packets of a queue pair that wait for the end of a gap


class Packets(Verdicts):
    """Reads RoCE packets."""

    def _roce(self, f, src, dst, stray):
        """Read a RoCE packet. Returns the plane, and a problem."""
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
            # This link belongs to a group that is older than the capture.
            self.qps[dst, qpn] = kind = "smc?"
            self.checks["dest-qp"].note("a link group that is older than the capture was not judged", f"frame {f.at}")
            self._unannounced(f, src, dst, payload)
        smc = kind in ("smc", "smc?")
        if kind is None and (dst, qpn) not in self.old:
            self.checks["dest-qp"].judge(False, f.at, f"queue pair {qpn:#x} of {dst} was not named by any message")
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
                ", which was not negotiated" if op in IMMEDIATE else ""))
        if ACK <= op <= 0x12 or 0x0d <= op <= 0x10:
            return self._response(f, src, dst, op, qpn, psn, size, synd, payload)
        if op not in OPCODES:
            self._event(f, src, dst, "other", "unknown", f"opcode {op:#04x}, QP {qpn:#x}")
            return "other", f"opcode {op:#04x} is not known"
        link = self.links.get((dst, qpn))
        return self._request(f, Msg(src=src, dst=dst, time=f.time, op=op, qpn=qpn, psn=psn, size=size, payload=payload, reth=reth, smc=smc, head=data[12:12 + ext],
                                    link=link, owner=home(link, dst), me=home(link, src),
                                    whole=pair.contact and kind != "smc?",
                                    pair=pair, named=named))

    def _unannounced(self, f, src, dst, payload):
        """CONFIRM LINK to a queue pair that no message has named: connections whose Confirm is missing count as using RDMA."""
        m = link_msg(payload) if len(payload) == 44 else None
        if not m or m.type != CONFIRM_LINK or m.reply:
            return
        conns = [c for c in self.conns.values() if {c.client, c.server} == {src, dst}]
        for c in conns if all(c.whole for c in conns) else ():
            if c.stage in ("P", "A"):
                self._used(c, f.at)

    def _not_first(self, f, p):
        """CONFIRM LINK to a queue pair that Confirm has named, although Accept does not announce a first contact."""
        conns = [c for c in self.conns.values() if {c.client, c.server} == {p.src, p.dst}]
        for c in conns if all(c.whole for c in conns) else ():
            if c.stage == "C" and c.said[CONFIRM].get("qpn") == p.qpn:
                self.checks["clc-order"].judge(False, f.at, f"{c.name()}: CONFIRM LINK, but Accept is not for a first contact")

    def _ours(self, dst, op, payload, reth, named):
        """Is this a message of SMC-R, or a WRITE into memory that was announced for SMC-R?"""
        if op in WRITES:
            return reth[0] is not None and any(e.start <= reth[0] < e.start + e.size for e in self.ranges.get((dst, reth[1]), {}).values())
        m = link_msg(payload) if op == 0x04 and named and len(payload) == 44 else None
        return m and m.length == 44 and (m.type in LLC_NAMES or m.type == CDC and (dst, m.token) in self.elements)

    def _response(self, f, src, dst, op, qpn, psn, size, synd, payload):
        where = f"QP {qpn:#x}, PSN {psn}"
        if op == ACK:
            code = (synd or 0) >> 5
            self._acknowledged(src, dst, qpn, psn if code == 0 else psn - 1 & 0xffffff)
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

    def _acknowledged(self, src, dst, qpn, psn):
        """An acknowledgment on a link: what its receiver has sent there has arrived, up to this PSN."""
        link = self.links.get((dst, qpn))
        for host, peer in link.ends - {(dst, qpn)} if link else ():
            flow = self.flows.get((dst, host, peer)) if host == src else None
            if flow:
                flow.ack(psn)

    def _request(self, f, p):
        flow = self._flow(p.src, p.dst, p.qpn)
        psn, who = self.checks["psn"], f"{p.src} to QP {p.qpn:#x}: PSN {p.psn}"
        if flow.next is not None and not flow.announced and not flow.reads and FAR < (p.psn - flow.next & 0xffffff) < (1 << 24) - FAR:
            psn.note("queue pairs with another PSN, far away: taken for new ones", who)
            self._settle((p.src, p.dst, p.qpn))
            flow = self._flow(p.src, p.dst, p.qpn)
        state, gap = ("again", 0) if p.op == 0x0c and flow.reread(p.psn, p.reth) else flow.place(p.psn)
        if state == "before" and not flow.announced:
            # The first packet may have been reordered, or be older than the capture.
            psn.note("PSNs before the first one of the capture were not judged", who)
            state = "again"
        else:
            psn.judge(state != "before", f.at, f"{who} is before the announced first one")
        if state != "again":
            flow.recent.pop(p.psn, None)        # of the last wrap of PSNs
            flow.reads = (p.psn, tuple(x or 0 for x in p.reth)) if p.op == 0x0c else None
        if not flow.same(p.psn, (p.op, p.size, zlib.crc32(p.head + p.payload))):
            if state == "again" and (flow.acked or 0) > flow.nth(p.psn):
                psn.note("packets repeated after their acknowledgement, with other contents: the sender's buffer was in new use", who)
            else:
                psn.judge(False, f.at, f"{who} again, but with other contents")
        if len(flow.holes) > HOLES:
            a, b = flow.holes.pop(0)
            flow.lost = True
            psn.judge(False, f.at, f"{p.src} to QP {p.qpn:#x}: PSN {a} to {b - 1 & 0xffffff} did not come, and {HOLES} other gaps are open")
        self.again += state == "again"
        p.update(flow=flow, new=state != "again", again="repeated " if state == "again" else "",
                 where=(f"link {p.link.number}, " if p.link and len(p.link.group.links) > 1 else "") + f"QP {p.qpn:#x}, PSN {p.psn}" + (f", {gap} PSNs left out before it" if gap else ""))
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
        elif known and p.link and p.link.left:
            e = self._hit(p.reth[0], known)[0]
            if e:
                self._stays_away(f.at, p, e, "a WRITE again")
        self._event(f, p.src, p.dst, "WRITE", f"{p.again}WRITE", f"{OPCODES[p.op][0][11:]}, {p.where}, {where}",
                    fold=("WRITE", p.again, p.src, p.dst, p.qpn, rkey or p.flow.__dict__.get("rkey")),
                    psn=p.psn, size=p.size, va=va, end=None if va is None else va + length, rkey=rkey)
        if rkey is not None:
            p.flow.rkey = rkey
        return "WRITE"

    def _send(self, f, p):
        """A SEND: LLC or CDC on a link of SMC-R, else a message of a verbs program."""
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
            pass                        # a receiver ignores unknown messages of this kind
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
                    f"{p.where}{llc_text(m)}")
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
                self.qps[p.src, m.qpn] = "smc?"         # its group is older than the capture
                self.old.add((p.src, m.qpn))
        elif m.type == ADD_LINK:
            self._add_link(f, p, m)
        elif m.type == ADD_LINK_CONT:
            for old, new, va in m.pairs:
                self._rmb(link, p.me, old)[m.link] = (new, va)
        elif m.type == CONFIRM_RKEY and not m.reply:
            rmb = link.group.learning[p.me] = self._rmb(link, p.me, m.rkey, m.va)
            rmb.update({n: (rkey, va) for n, rkey, va in m.others})
        elif m.type == CONFIRM_RKEY_CONT and not m.reply:
            link.group.learning.get(p.me, {}).update({n: (rkey, va) for n, rkey, va in m.others})
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
                if not x.over and (m.all or x.number == m.link):
                    x.over = True
                    x.end = f"DELETE LINK{' of all' * m.all}, reason {m.reason:#010x}, frame {f.at}"
            if all(x.over for x in link.group.links):
                for e in self.elements.values():
                    if e.link and e.link.group is link.group:
                        e.over = e.over or f.at

    def _add_link(self, f, p, m):
        """ADD LINK or its reply: when both sides have named their ends, the group has another link."""
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
        self._link(f, group, (mine, m.qpn, m.psn, p.me, m.mac), (theirs, ask.qpn, ask.psn, p.owner, ask.mac), number=m.link,
                   base=p.link.base)

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
                # Each side names the PSN that it expects first, which is the one that the other side begins with.
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
