# SPDX-License-Identifier: GPL-2.0
"""The state at a point of the capture: connections, queue pairs, links, memory,
and the progress of each.

The memory that it needs grows with the number of queue pairs and open
connections, not with the length of the capture.
"""

from collections import OrderedDict

from roce import CLC_NAMES
from wire import ACCEPT, CONFIRM, DECLINE, Msg

from .checks import CHECKS, Check
from .names import MTUS, PLANES, addr

CONNS = 20000                   # TCP connections that are tracked at a time
RECENT = 1024                   # packets of a queue pair whose contents are compared


def home(link, host):
    """The name of a host as owner of memory: its address on the first link of the group."""
    return link.home.get(host, host) if link else host


class Conn:
    """A TCP connection."""

    def __init__(self, key, whole):
        self.client, self.cport, self.server, self.sport = key
        self.whole = whole              # its SYN is in the capture
        self.option = {}                # up: did SYN or SYN-ACK have it?
        self.streams = {}
        self.stage = ""                 # P A C D: type of the last message
        self.said = {}                  # messages by type
        self.plain = {True: 0, False: 0}
        self.plain_at = None
        self.memory = []                # elements of both sides
        self.used = 0                   # the first RDMA frame that belongs to it
        self.gone = False
        self.fins = set()
        self.tail = {True: b"", False: b""}     # for markers

    def smc(self):
        """Is it used for SMC-R? After the first RDMA, a Decline changes nothing."""
        return ACCEPT in self.said and CONFIRM in self.said and (DECLINE not in self.said or bool(self.used))

    def name(self):
        """Addresses and ports as text."""
        return f"{self.client}:{self.cport} > {self.server}:{self.sport}"


class Cursor:
    """A cursor of a connection, as a number of bytes since its beginning."""

    def __init__(self):
        self.wrap, self.wraps, self.least = 0, 0, 0

    def stands(self, wrap, at, base, size):
        """Move the cursor. Returns bytes since the beginning (None: outside of the element), and the largest number before."""
        self.wraps += (wrap - self.wrap + 0x8000 & 0xffff) - 0x8000
        self.wrap, before = wrap, self.least
        if not base <= at < size:
            return None, before
        now = self.wraps * (size - base) + at - base
        self.least = max(before, now)
        return now, before


class Flow:
    """Requests from one host to a queue pair of another."""

    def __init__(self, start):
        self.next = start               # PSN that is due
        self.announced = start is not None
        self.done = 0                   # number of PSNs so far, from the first one on
        self.holes = []                 # [from, to): PSNs that are missing
        self.acked = None               # number of PSNs acknowledged, from the first one on
        self.recent = OrderedDict()     # PSN: contents of the packet
        self.reads = None               # the READ request that was the last packet: PSN, (address, RKey, length)
        self.waiting = []               # (PSN, call, arguments): packets that are not judged before all holes are closed
        self.lost = False               # a hole will not be closed any more
        # in the order of PSNs:
        self.element = None             # target of the WRITE of which packets are still to come
        self.left = 0 if self.announced else None       # the bytes of it still to come; None: not known
        self.again = 0
        self.tail = b""

    def place(self, psn):
        """Take a PSN. Returns "new", "again", "gap" or "before" (the first one), and the size of the gap."""
        if self.next is None:
            self.next = psn
        ahead = psn - self.next & 0xffffff
        if ahead < 0x800000:
            self.next = psn + 1 & 0xffffff
            self.done += ahead + 1
            if not ahead or self.reads and any(-(-self.reads[1][2] // m) - 1 == ahead for m in MTUS.values()):
                return "new", 0         # a READ takes as many PSNs as its response has packets
            self.holes.append([psn - ahead & 0xffffff, psn])
            return "gap", ahead
        for h in self.holes:
            if psn - h[0] & 0xffffff < (h[1] - h[0] & 0xffffff):
                self.holes.remove(h)
                self.holes += [x for x in ([h[0], psn], [psn + 1 & 0xffffff, h[1]]) if x[0] != x[1]]
                return "new", 0
        if (self.next - psn & 0xffffff) > self.done:
            return "before", 0
        self.again += 1
        return "again", 0

    def nth(self, psn):
        """Number of PSNs before this one, from the first one on."""
        return self.done - (self.next - psn & 0xffffff)

    def ack(self, psn):
        """All up to this PSN have arrived."""
        if self.next is not None and (self.next - psn & 0xffffff) <= self.done:
            self.acked = max(self.acked or 0, self.nth(psn) + 1)

    def reread(self, psn, reth):
        """Does a READ request repeat the rest of the last one, from a lost response on?"""
        if not self.reads or not all(reth) or not all(self.reads[1]):
            return False
        first, (va, rkey, length) = self.reads
        packets, skip = psn - first & 0xffffff, reth[0] - va
        return rkey == reth[1] and 0 < skip < length and skip + reth[2] == length and skip in [packets * m for m in MTUS.values()]

    def same(self, psn, content):
        """Are these the contents of the packet that had this PSN before, as far as they are known?"""
        old = self.recent.setdefault(psn, content)
        if len(self.recent) > RECENT:
            self.recent.popitem(False)
        return old == content


class Model:
    """The state of an analysis, and the operations that all readers share."""

    def __init__(self, markers, tell):
        self.checks = OrderedDict((n, Check(n, t, a)) for n, t, a in CHECKS)
        self.markers, self.tell = markers, tell
        self.cut = False                # WRITEs whose payload was captured in part are no error
        self.stats = {p: [0, 0, 0] for p in PLANES}      # frames, bytes, payload
        self.opcodes = {}
        self.frames = self.bytes = self.begin = self.end = self.again = self.naks = self.rnr = self.smc = 0
        self.clc_bytes = self.tcp_bytes = 0
        self.conns = OrderedDict()
        self.pairs = {}                 # hosts: their first contact
        self.qps = {}                   # (host, QPN): kind: smc, smc? (of a group older than the capture) or cm
        self.links = {}                 # (host, QPN): link
        self.groups = []
        self.start = {}                 # (src, dst, QPN): PSN
        self.flows = {}
        self.elements = {}              # (host, token)
        self.ranges = {}                # (host, RKey): {start: element}
        self.old = set()                # queue pairs that no message has named, but that were used before a first contact
        self.opening = {}               # (host, QPN): the connection whose Accept opens a link by it
        self.found = {m: [0, 0, None] for m in markers}         # RDMA, TCP, where
        self.cm = OrderedDict()         # communication IDs
        self.overruled = 0
        self.feats = {}

    def _event(self, f, src, dst, plane, kind, text, fold=None, **more):
        self.tell(Msg(at=f.at, time=f.time - self.begin, src=src or "-", dst=dst or "-", plane=plane, kind=kind, text=text,
                      fold=fold, **more))

    def _pair(self, a, b):
        return self.pairs.setdefault(frozenset((a, b)), Msg(contact=0))

    def _flow(self, src, dst, qpn):
        key = (src, dst, qpn)
        if key not in self.flows:
            self.flows[key] = Flow(self.start.get(key))
        return self.flows[key]

    def _link(self, f, group, *ends, number=None, base=None):
        """Create a link. Each end: address, queue pair, first PSN that it sends, address on the group's first link, MAC."""
        link = Msg(at=f.at, ask=None, answer=None, to=None, wrong="", ends={x[:2] for x in ends}, base=base, judged=False, group=group,
                   number=number, asked=None, over=False, home={x[0]: x[3] for x in ends}, nics=[(x[3], x[4]) for x in ends],
                   sides=ends, end="", left=False, writes=[0, 0], role="", early=[])
        link.role = self._role(link)
        group.links.append(link)
        for mine, peer in (ends, ends[::-1]):
            self.links[mine[0], mine[1]] = link
            self.qps[mine[0], mine[1]] = "smc"
            way = (mine[0], peer[0], peer[1])
            self.start[way] = mine[2]
            self._settle(way)

    @staticmethod
    def _role(link):
        """Role of a link, from the RNICs that it shares with older links of its group (RFC 7609 2.2.1)."""
        old = [x for x in link.group.links if not x.over]
        if not old:
            return "first"
        if any(x.nics == link.nics for x in old):
            return "parallel"
        return "asymmetric" if any(set(x.nics) & set(link.nics) for x in old if x.role in ("first", "symmetric")) else "symmetric"

    def _group(self):
        """Create a link group."""
        group = Msg(links=[], memory={}, rmbs=[], learning={}, moves=[])
        self.groups.append(group)
        return group

    @staticmethod
    def _rmb(link, owner, rkey, va=None):
        """The RMB that has this RKey on this link: {number of the link: (RKey, address)}. It is created if it is not known."""
        found = link.group.memory.setdefault(owner, [])
        rmb = next((x for x in found if link.number in x and x[link.number][0] == rkey), None)
        if rmb is None:
            rmb = {} if va is None else {link.number: (rkey, va)}
            found.append(rmb)
            link.group.rmbs.append((owner, rmb))
        return rmb

    def _settle(self, key):
        """At the end of a queue pair, or of the capture: judge the PSNs that are missing, then the waiting packets."""
        flow = self.flows.pop(key, None)
        if flow:
            flow.lost = bool(flow.holes)
            link = self.links.get((key[1], key[2]))
            if flow.holes and link and link.left:
                self.checks["psn"].note("PSNs of a link that has failed never came", f"{key[0]} to QP {key[2]:#x}")
            for a, b in flow.holes if not link or not link.left else ():
                self.checks["psn"].judge(False, None, f"{key[0]} to QP {key[2]:#x}: PSN {a} to {b - 1 & 0xffffff} never came")
            self._in_order(flow)

    @staticmethod
    def _in_order(flow):
        """Judge the waiting packets in the order in which the receiver processes them: by PSN."""
        todo, flow.waiting = flow.waiting, []
        for _, call, args in sorted(todo, key=lambda w: w[0] - flow.next & 0xffffff):
            call(*args)

    def _used(self, c, at):
        """A connection uses RDMA. Its Confirm may still arrive, if it was lost, until the TCP connection ends."""
        if not c.used:
            c.used = at
            if c.gone:
                self._unfinished(c)

    def _unfinished(self, c):
        """Judge a connection that has used RDMA and has ended: without a Confirm it is an error."""
        if c.whole and c.used and CONFIRM not in c.said:
            self.checks["clc-order"].judge(False, c.used, f"{c.name()}: RDMA, but the last message was " + (
                CLC_NAMES[max(c.said)] if c.said else "none"))

    def _forget(self, key):
        """A TCP connection has ended: remove it, and judge what is left to judge."""
        c = self.conns.pop(key, None)
        if not c:
            return
        c.gone = True
        self._unfinished(c)
        a = c.said.get(ACCEPT)
        if a and a.get("qpn") and self.opening.get((addr(a.gid), a.qpn)) is c:
            del self.opening[addr(a.gid), a.qpn]
        if c.smc():
            # count also the beginning of a CLC message that is not complete, and bytes behind missing ones
            n = sum(c.plain.values()) + sum(len(s.data) + sum(map(len, s.later.values())) for s in c.streams.values())
            self.checks["tcp-quiet"].judge(not n, c.plain_at, f"{c.name()}: {n} bytes that are no CLC message")

    def _mark(self, payload, tails, key, f, tcp):
        """Count the markers in the payload, also across packets."""
        if not self.markers or not payload:
            return
        data = tails[key] + payload
        for m in self.markers:
            n = data.count(m)
            if n:
                self.found[m][tcp] += n
                if tcp and self.found[m][2] is None:
                    self.found[m][2] = f.at
        tails[key] = data[-(max(len(m) for m in self.markers) - 1):]
