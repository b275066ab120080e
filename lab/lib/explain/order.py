# SPDX-License-Identifier: GPL-2.0
"""Verdicts about WRITEs, CONFIRM LINK and CDC messages.

What was sent is judged in the order of PSNs, as its receiver takes it: rdma.py
puts each packet into Flow.waiting, and Model._in_order() calls what is here.
"""

from roce import OPCODES

from .model import Model
from .names import addr


class Verdicts(Model):
    """Judges what the packets of a link say and write."""

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
