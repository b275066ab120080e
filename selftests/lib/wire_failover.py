#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks of what connections send when one of the two links of their group is lost, in a
capture that lib/wire.py reads.

    wire_failover.py FO FOLDER
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import wire  # noqa: E402  pylint: disable=wrong-import-position
from wire import ip_of, num  # noqa: E402  pylint: disable=wrong-import-position

FLAG_F = 0x08
LOST_PATH = 0x00010000


class Link:
    """One link: for each direction the address of the sender and the queue pair of the receiver."""

    def __init__(self, server, client):
        self.to = {True: (ip_of(client.gid), server.qpn), False: (ip_of(server.gid), client.qpn)}

    def carries(self, m, up):
        """Is the packet on it, from the client (up) or the server?"""
        return (m.src, m.qpn) == self.to[up]

    def acked(self, cap, up):
        """The PSN that the other side has acknowledged last, or None."""
        return cap.acked(self.to[not up][0], self.to[up][0], self.to[not up][1])


def pairs_of(m):
    """ADD LINK CONTINUATION, figure 33: (key on this link, key and address on the new one)."""
    return [(num(m.raw, o, 4), (num(m.raw, o + 4, 4), num(m.raw, o + 8, 8))) for o in (8, 24)[:m.raw[5]]]


class Group:
    """Two links, and the RTokens of the RMBs on them."""

    def __init__(self, r, cap, conns):
        a, f = conns[0].accept, conns[0].confirm
        offer, answer = [next(m.said for m in cap.sends if m.type == wire.ADD_LINK and m.reply == reply)
                         for reply in (False, True)]
        r.true("the second link is accepted", not answer.rejected)
        self.links = [Link(a, f), Link(offer, answer)]
        self.names = {True: [], False: []}      # up (the client writes there) or not: [(key, address) on link 1, on link 2]
        for c in conns[:1]:
            for up, m in ((True, c.accept), (False, c.confirm)):
                for later in cap.sends:
                    if later.type == 3 and later.reply != up:
                        self.names[up] += [((k, m.va if k == m.rkey else None), new) for k, new in pairs_of(later)]
        for m in cap.sends:
            if m.type == wire.CONFIRM_RKEY and not m.reply and m.others:
                up = not any(k.carries(m, True) for k in self.links)
                here, there = (m.rkey, m.va), m.others[0][1:]
                self.names[up].append((here, there) if self.links[0].carries(m, not up) else (there, here))

    def on_both(self, up, link, m):
        """The RToken that CLC names on one link, on both links: [(key, address), (key, address)], or None."""
        i = self.links.index(link)
        for pair in self.names[up]:
            if pair[i][0] == m.rkey and pair[i][1] in (None, m.va):
                return [pair[0] if pair[0][1] is not None else (m.rkey, m.va), pair[1]]
        return None


class Move:
    """One direction of one connection."""

    def __init__(self, group, cap, c, up):
        self.me, self.peer = (c.confirm, c.accept) if up else (c.accept, c.confirm)
        self.group, self.cap, self.up = group, cap, up
        self.said = [m for m in cap.sends if m.type == wire.CDC and m.token == self.peer.token and
                     any(k.carries(m, up) for k in group.links)]
        self.at = [i for i in range(1, len(self.said)) if self.link(self.said[i]) != self.link(self.said[i - 1])]

    def link(self, m):
        """The link on which a packet is."""
        return next(k for k in self.group.links if k.carries(m, self.up))

    def writes(self, link):
        """WRITEs into the peer's element over a link, or None if its key there is not known."""
        named = next(k for k in self.group.links if k.to[self.up] == (ip_of(self.me.gid), self.peer.qpn))
        keys = self.group.on_both(self.up, named, self.peer)
        if not keys:
            return None
        key, va = keys[self.group.links.index(link)]
        start = va + (self.peer.index - 1) * self.peer.size
        return [w for w in self.cap.writes if link.carries(w, self.up) and w.rkey == key and
                start <= w.va < start + self.peer.size]

    def check(self, r, name):
        """Returns whether an acknowledged message was named, and whether data were written again."""
        f, before, after = self.said[self.at[0]], self.said[:self.at[0]], self.said[self.at[0] + 1:]
        old, new = self.link(before[-1]), self.link(f)
        last = before[-1].seq
        r.true(f"{name}: the first message on the new link has F", f.flags & FLAG_F, f.raw.hex())
        r.eq(f"{name}: and nothing else", (f.flags, f.ends, f.raw[8:24], any(f.reserved)), (FLAG_F, 0, bytes(16), False))
        r.true(f"{name}: it names a message that was sent, or none", 0 <= f.seq <= last, (f.seq, last))
        ss = [m for m in before if m.seq == f.seq]
        acked = old.acked(self.cap, self.up)
        if ss:
            r.true(f"{name}: one that was acknowledged", acked is not None and (acked - ss[0].psn) & 0xffffff < 0x800000,
                   (acked, ss[0].psn))
        r.eq(f"{name}: no other message has F", [m.seq for m in before + after if m.flags & FLAG_F], [])
        r.eq(f"{name}: numbers before F", [m.seq for m in before], list(range(1, last + 1)))
        if after:
            # what the server's host has dropped is not in the capture
            r.true(f"{name}: F has taken none", after[0].seq == last + 1 or not self.up and after[0].seq > last, (last, after[0].seq))
            r.eq(f"{name}: numbers after F", [m.seq for m in after], list(range(after[0].seq, after[0].seq + len(after))))
        r.eq(f"{name}: no CDC on the old link afterwards", [m.seq for m in after if self.link(m) == old], [])
        on_old, on_new = self.writes(old), self.writes(new)
        again = False
        if on_new is not None:
            r.eq(f"{name}: no WRITE on the old link afterwards", [w.psn for w in on_old if w.at > f.at], [])
            r.eq(f"{name}: none on the new link before", [w.psn for w in on_new if w.at < f.at], [])
            grown = [m for m in after if (m.prod_wrap, m.prod) != (before[-1].prod_wrap, before[-1].prod)]
            if grown:
                r.true(f"{name}: data on the new link, by its key", on_new)
            # what is written before anything new is announced was written over the old link before
            again = bool(after) and f.seq < last and any(w.at < after[0].at for w in on_new)
        return bool(ss), again


def failover(r):
    """Check the whole capture."""
    cap = r.cap
    r.eq("nothing that does not belong here", cap.odd, [])
    conns = cap.conns()
    wire.clc_common(r, conns)
    group = Group(r, cap, conns)
    moves = named = again = keys = 0
    for i, c in enumerate(conns):
        for up in (True, False):
            m = Move(group, cap, c, up)
            name = f"connection {i}, {'client' if up else 'server'}"
            r.true(f"{name}: one change of link at most", len(m.at) <= 1, [s.seq for s in m.said])
            if len(m.at) != 1:
                continue
            moves += 1
            a, b = m.check(r, name)
            named, again, keys = named + a, again + b, keys + (m.writes(group.links[0]) is not None)
    r.true("both sides of several connections moved", moves >= 4, moves)
    r.true("keys of both links were known", keys >= 4, keys)
    r.true("acknowledged messages were named", named >= 2, named)
    r.true("data were written again", again >= 1, again)
    asked = {(m.raw[4], m.raw[3] & 0x60, num(m.raw, 5, 4)) for m in cap.sends if m.type == wire.DELETE_LINK and not m.reply and not m.said.all}
    r.eq("one link is deleted, disorderly: its path is lost", [(flags, why) for _, flags, why in asked], [(0, LOST_PATH)])
    carriers = {group.links.index(k) for k in group.links for m in cap.sends if m.type == wire.DELETE_LINK and not m.said.all
                for up in (True, False) if k.carries(m, up)}
    r.eq("over the other one", len(carriers), 1)
    r.true("the server asks, and the client answers", all(any(
        m.type == wire.DELETE_LINK and m.reply == up and any(k.carries(m, up) for k in group.links)
        for m in cap.sends) for up in (True, False)))


def main():
    """Returns the exit status."""
    report = wire.Report(sys.argv[2])
    failover(report)
    return 1 if report.bad else 0


if __name__ == "__main__":
    sys.exit(main())
