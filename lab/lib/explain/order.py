# SPDX-License-Identifier: GPL-2.0
"""Verdicts about WRITEs, CONFIRM LINK and CDC messages.

Packets are judged in the order of their PSNs, as the receiver processes them:
rdma.py puts each packet into Flow.waiting, from where Model._in_order() calls
the functions of this file.
"""

from roce import OPCODES
from wire import Msg

from .model import Model
from .names import addr

SENT = 4096                     # CDCs of one direction that are remembered


class Verdicts(Model):
    """Judges the messages and WRITEs of a link."""

    def _written(self, at, p, known):
        """A packet of a WRITE, in order. `known`: the elements of its RKey; None if it is not the first packet of a WRITE."""
        flow = p.flow
        if known is not None:
            self._whole(at, flow)
            self._confirmed(at, p, "WRITE")
            flow.element = self._element(at, p, known)
        self._length(at, p, known is not None)
        e = flow.element
        if p.link:
            p.link.writes[0] += known is not None
            p.link.writes[1] += p.size
        if e:
            self._used(e.conn, at)
            if id(p.link) in e.before:
                return
            e.written = None if flow.lost or e.written is None else e.written + p.size
            e.top = max(e.top, e.written or 0)
            if e.last and p.time - e.last > e.gap[0]:
                e.gap = (p.time - e.last, at)
            e.last = p.time

    def _whole(self, at, flow):
        """Before a WRITE or a CDC begins, the last WRITE must be complete."""
        if flow.left and not flow.lost:
            self.checks["rkey-range"].judge(False, at, f"the WRITE before it lacks {flow.left} bytes of the length in its RETH")
            flow.left = None

    def _length(self, at, p, first):
        """A WRITE must have the number of bytes that is in its RETH."""
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
        """The elements that were announced with an RKey of this link, each with the offset of its addresses on this link."""
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
        e, shift = self._hit(va, known)
        check = self.checks["rkey-range"]
        if not p.whole:
            check.note("WRITEs of connections that are older than the capture were not judged")
            return e
        off, base = (va - shift - e.start, e.link.base if e.link else None) if e else (0, None)
        why = ("within no element of this RKey" if known else "this RKey was not announced") if not e else \
            f"beyond the element at {e.start:#x}, {e.size} bytes" if off + length > e.size else \
            f"into the eye catcher at {e.start:#x}" if off < (base or 0) else \
            f"the element's connection has ended in frame {e.over}" if e.over and e.over < at else ""
        check.judge(not why, at, f"RKey {rkey:#x}, address {va:#x}, {length} bytes: {why}")
        if e and not self._on(at, p, e, "a WRITE"):
            return e
        if e:
            self._goes_on(at, p, e, off, length, base, why)
        return e or (p.flow.element if known else None)

    @staticmethod
    def _hit(va, known):
        """The element that an address belongs to, and the offset of its addresses on the link; (None, 0) if there is none."""
        return next(((x, y) for x, y in known if x.start <= va - y < x.start + x.size), (None, 0))

    def _goes_on(self, at, p, e, off, length, base, wrong):
        """A WRITE must begin where the last one of the element ended, or wrap at the end of the element."""
        flow, again = p.flow, e.again
        e.again = None
        if base is None or flow.lost:
            e.pos = None                # known from the next WRITE on
            return
        if again:
            self._once_more(at, p, e, again, off - base, e.size - base)
        elif e.by not in (None, flow):
            e.pos = None                # another link, without a validating CDC
        e.by = flow
        if wrong:
            e.pos = None if e.pos is None else e.pos + length
            return
        due = off if e.pos is None else base + e.pos % (e.size - base)
        if off != due:
            self.checks["rkey-range"].judge(False, at, f"offset {off} of the element at {e.start:#x}, but the next byte belongs to offset {due}")
        e.pos = (off - base if e.pos is None else e.pos) + length

    # -- failover: e is the element that one side of the connection writes to -----

    def _on(self, at, p, e, what, m=None):
        """Does the connection use this link now, or change to it? Returns False for a link that it has left."""
        validates = bool(m and m.flags & 0x08)
        first = self.checks["failover-first"]
        if not e.on or not p.link or e.on.group is not p.link.group or p.link is e.on and not validates:
            return True
        if id(p.link) in e.before:
            self._stays_away(at, p, e, what)
            return False
        if p.flow.lost or self._holes(p, e.on):
            first.note("connections that change links behind missing packets were not judged", f"frame {at}")
            validates = None
        elif p.link is e.on:
            first.judge(False, at, f"token {e.token:#010x}: F on link {p.link.number}, but it was there before")
            return True
        else:
            first.judge(validates, at, f"token {e.token:#010x}: {what} without F is its first on link {p.link.number}, it was on link {e.on.number}")
        old, e.on = e.on, p.link
        e.before[id(old)] = at
        old.left = True
        self.checks["failover-left"].judge(True)
        move = Msg(frame=at, time=round(p.time - self.begin, 6), sender=p.me, connection=e.conn.name(), token=e.token, old=old.number,
                   new=p.link.number, seq=m.seq if m else None, stall=None, begin=None, again=None, write=None)
        p.link.group.moves.append(move)
        e.again = self._confirmed_by(at, e, m) if validates else None
        if e.again and not p.flow.lost and e.written is not None:
            # Only bytes that may have arrived count as written, until the others are written again.
            e.written = min(e.top, e.again.most)
            e.again.move = move
        else:
            e.again = e.written = e.pos = e.seq = None
            e.stray = not validates     # ignore the number of a message that should have had F
        return True

    def _stays_away(self, at, p, e, what):
        """A packet on a link that the connection has left must be older than the change."""
        if at > e.before.get(id(p.link), at):
            self.checks["failover-left"].judge(False, at, f"token {e.token:#010x}: {what} on link {p.link.number}, which it has left for link {e.on.number}")

    def _holes(self, p, link):
        """Are packets of this sender missing on another link of the group?"""
        there = next((x for x in link.ends if link.home[x[0]] == p.owner), None)
        flow = next((self.flows.get((x[0], *there)) for x in link.ends if x is not there), None) if there else None
        return bool(flow and (flow.holes or flow.lost))

    def _confirmed_by(self, at, e, m):
        """The range of bytes that have arrived, from the number of a validating CDC and the consumer cursors of the peer; None if
        it is not known."""
        check, who, least = self.checks["failover-seq"], f"token {e.token:#010x}: F with sequence number {m.seq}", 0
        if m.seq in e.cdcs:
            flow, nth, least = e.cdcs[m.seq]
            ok = (flow.acked or 0) > nth
            check.judge(ok, at, f"{who}, whose arrival was not acknowledged")
        elif e.forgot:
            check.note("numbers of CDCs that were sent long ago were not judged")
            return None
        else:
            ok = not m.seq
            check.judge(ok, at, f"{who}, which was never sent")
        if not ok or least is None:
            return None
        heard = [x for x in e.heard if x.cons is not None]
        # a CDC that arrived over a link that was left was processed before the change
        sure = [x.cons for x in heard if id(x.link) in e.before and (x.flow.acked or 0) > x.nth]
        return Msg(least=max([least, *sure]), most=max([least, *(x.cons for x in heard)]))

    def _once_more(self, at, p, e, known, place, ring):
        """The first WRITE on another link must begin with the first byte that has not arrived."""
        top = max(e.top, e.pos or 0)
        begin = top - (top - place) % ring
        if begin - ring >= known.least:
            begin -= ring               # the element was full, and all of it is sent again
        ok = known.least <= begin <= known.most
        self.checks["failover-again"].judge(ok, at, f"token {e.token:#010x}: goes on with byte {begin} of {top}, but " + (
            f"the first {known.least} were confirmed" if begin < known.least else f"only the first {known.most} were confirmed"))
        known.move.update(begin=begin, again=top - begin, write=at, stall=round(p.time - e.last, 6) if e.last else None)
        e.pos = e.written = begin if ok else None

    def _confirmed(self, at, p, what):
        """CONFIRM LINK and its reply must come before all other packets of a link."""
        link = p.link
        if link and not link.judged:
            link.judged = True
            why = link.wrong or ("was not said" if link.ask is None else "has no reply" if link.answer is None else "")
            self.checks["confirm-link"].judge(not why, at, f"{what}, but CONFIRM LINK {why}")

    def _confirms(self, at, p, m, link):
        """CONFIRM LINK or its reply, in order."""
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
        for e in link.early:
            self._rmb(link, e.owner, e.rkey, e.va)
            self._same_place(e)
        link.early.clear()
        link.answer, link.ask = (m.flags, link.ask) if m.reply else (link.answer, m.flags)
        if link.ask is not None and link.answer is not None and link is link.group.links[0]:
            # If neither side uses eye catchers, data begin at 0 and not at 4.
            link.base = 0 if link.ask & link.answer else 4

    def _cdc_due(self, at, p, m, e):
        """A CDC, in order."""
        self._whole(at, p.flow)
        self._confirmed(at, p, "CDC")
        if not e:
            if p.whole:
                self.checks["cdc-seq"].judge(False, at, f"token {m.token:#010x} was not announced")
            else:
                self.checks["cdc-seq"].note("connections that are older than the capture were not judged")
            return
        self._used(e.conn, at)
        if not self._on(at, p, e, "a CDC", m):
            return
        if e.link and p.link and e.link.group is not p.link.group:
            self.checks["dest-qp"].judge(False, at, f"CDC, token {m.token:#010x}, on a link of another group than its connection's")
        if m.ends & 0x60:               # closed, or abnormal close
            e.done = True
            if e.twin and e.twin.done:
                e.over = e.twin.over = e.over or at
        if p.flow.lost:
            e.seq = e.written = None
            e.forgot = True
            for name in ("cdc-seq", "cdc-after-write"):
                self.checks[name].note("CDCs behind missing packets were not judged", f"frame {at}")
            return
        self._numbered(at, m, e)
        self._covered(at, p, m, e)

    def _numbered(self, at, m, e):
        """The sequence numbers of a connection must be consecutive."""
        if m.flags & 0x08:              # failover validation: later numbers may be repeated
            e.seen = m.seq
            return
        if e.stray:
            e.stray = False
            return
        if e.seq is not None:
            due = e.seq + 1 & 0xffff
            again = e.seen is not None and 0 < (m.seq - e.seen & 0xffff) < 0x8000
            if again and (m.seq - due & 0xffff) in range(1, 0x8000):
                self.checks["cdc-seq"].note("numbers that were lost with a link were not judged", f"frame {at}")
            self.checks["cdc-seq"].judge(m.seq == due or again, at, f"token {m.token:#010x}: seq {m.seq} instead of {due}")
        e.seq, e.seen = m.seq, None

    def _covered(self, at, p, m, e):
        """A producer cursor must announce only what was written, a consumer cursor only what was written to the peer."""
        base = e.link.base if e.link else None
        if base is None:
            e.forgot = True
            self.checks["cdc-after-write"].note("no CONFIRM LINK of the link in the capture: cursors were not judged")
            return
        check, who, t = self.checks["cdc-after-write"], f"token {m.token:#010x}, seq {m.seq}:", e.twin
        if m.flags & 0x08:              # it announces nothing; those after it may repeat older cursors
            e.prod.least = e.cons.least = 0
            return
        due, before = e.prod.stands(m.prod_wrap, m.prod, base, e.size)
        if len(e.cdcs) >= SENT:
            e.cdcs.popitem(False)
            e.forgot = True
        e.cdcs[m.seq] = (p.flow, p.flow.nth(p.psn), due)
        if e.written is not None:
            check.judge(due is not None and before <= due <= e.written, at, f"{who} " + (
                "a producer cursor outside of the element" if due is None else
                f"announces {due} bytes, {e.written} have been written, {before} were announced before"))
        if not t:
            return
        due, before = e.cons.stands(m.cons_wrap, m.cons, base, t.size)
        # keep the cursors that the peer may have last received: drop those before one that is acknowledged
        while len(t.heard) > 1 and ((t.heard[1].flow.acked or 0) > t.heard[1].nth or len(t.heard) >= SENT):
            del t.heard[0]
        t.heard.append(Msg(link=p.link, flow=p.flow, nth=p.flow.nth(p.psn), cons=due))
        if t.written is not None and not (t.by and t.by.holes):
            if due is None or not before <= due <= t.top:
                check.judge(False, at, f"{who} " + (
                    "a consumer cursor outside of the element" if due is None else
                    f"announces {due} bytes as read; {t.top} have been written, {before} were announced as read before"))
