# SPDX-License-Identifier: GPL-2.0
"""What is known at a point of the capture: connections, queue pairs, links,
memory, and how far each of them has come.

What is kept grows with the number of queue pairs and open connections, not
with the capture's length.
"""

from collections import OrderedDict

from roce import CLC_NAMES
from wire import ACCEPT, CONFIRM, DECLINE, Msg

from .checks import CHECKS, Check
from .names import MTUS, PLANES, addr

CONNS = 20000                   # TCP connections that are followed at a time
RECENT = 1024                   # packets of a queue pair whose contents are compared


def home(link, host):
    """Whose memory is meant: a host's address on the first link of the group."""
    return link.home.get(host, host) if link else host


class Conn:
    """A TCP connection."""

    def __init__(self, key, whole):
        self.client, self.cport, self.server, self.sport = key
        self.whole = whole              # its SYN is in the capture
        self.option = {}                # up: whether SYN or SYN-ACK had it
        self.streams = {}
        self.stage = ""                 # P A C D: what was said last
        self.said = {}                  # what, by its type
        self.plain = {True: 0, False: 0}
        self.plain_at = None
        self.memory = []                # elements of both sides
        self.used = 0                   # the first frame on RDMA that is about it
        self.gone = False
        self.fins = set()
        self.tail = {True: b"", False: b""}     # for markers

    def smc(self):
        """Whether it is used for SMC-R; what has begun cannot be declined."""
        return ACCEPT in self.said and CONFIRM in self.said and (DECLINE not in self.said or bool(self.used))

    def name(self):
        """For people."""
        return f"{self.client}:{self.cport} > {self.server}:{self.sport}"


class Cursor:
    """How far a connection has come."""

    def __init__(self):
        self.wrap, self.wraps, self.least = 0, 0, 0

    def stands(self, wrap, at, base, size):
        """Bytes since the beginning (None: outside of the element), and how many it were before."""
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
        self.done = 0                   # how many PSNs are behind us, since the first one
        self.holes = []                 # [from, to): PSNs that were left out
        self.acked = None               # how many PSNs since the first one were acknowledged
        self.recent = OrderedDict()     # PSN: what was in it
        self.reads = None               # the READ request that was the last packet: PSN, (address, RKey, length)
        self.waiting = []               # PSN, call, arguments: what cannot be judged before a hole is closed
        self.lost = False               # a hole is not closed any more
        # in the order of PSNs:
        self.element = None             # where the WRITE goes that is under way
        self.left = 0 if self.announced else None       # how much of it is still to come; None: not known
        self.again = 0
        self.tail = b""

    def place(self, psn):
        """new, again, gap, or before (the first one); the size of the gap."""
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
        """How many PSNs came before this one, since the first one."""
        return self.done - (self.next - psn & 0xffffff)

    def ack(self, psn):
        """All up to this PSN have arrived."""
        if self.next is not None and (self.next - psn & 0xffffff) <= self.done:
            self.acked = max(self.acked or 0, self.nth(psn) + 1)

    def reread(self, psn, reth):
        """Whether a READ request asks for the rest of the last one, from a lost response on."""
        if not self.reads or not all(reth) or not all(self.reads[1]):
            return False
        first, (va, rkey, length) = self.reads
        packets, skip = psn - first & 0xffffff, reth[0] - va
        return rkey == reth[1] and 0 < skip < length and skip + reth[2] == length and skip in [packets * m for m in MTUS.values()]

    def same(self, psn, content):
        """Whether this is what was in the packet of this number, as far as that is known."""
        old = self.recent.setdefault(psn, content)
        if len(self.recent) > RECENT:
            self.recent.popitem(False)
        return old == content


class Model:
    """The state of an analysis, and what all of its readers do with it."""

    def __init__(self, markers, tell):
        self.checks = OrderedDict((n, Check(n, t, a)) for n, t, a in CHECKS)
        self.markers, self.tell = markers, tell
        self.cut = False                # only the beginnings of WRITEs were captured, and that is no error
        self.stats = {p: [0, 0, 0] for p in PLANES}      # frames, bytes, payload
        self.opcodes = {}
        self.frames = self.bytes = self.begin = self.end = self.again = self.naks = self.rnr = self.smc = 0
        self.clc_bytes = self.tcp_bytes = 0
        self.conns = OrderedDict()
        self.pairs = {}                 # hosts: their first contact
        self.qps = {}                   # (host, QPN): what it is
        self.links = {}                 # (host, QPN): link
        self.groups = []
        self.start = {}                 # (src, dst, QPN): PSN
        self.flows = {}
        self.elements = {}              # (host, token)
        self.ranges = {}                # (host, RKey): {start: element}
        self.old = set()                # queue pairs that nobody has named, but used before a first contact
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
        """A link comes into being; of each end: address, queue pair, first PSN that it sends, address on the group's first link, MAC."""
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
        """By the RNICs that it shares with links that were there before it (RFC 7609 2.2.1)."""
        old = [x for x in link.group.links if not x.over]
        if not old:
            return "first"
        if any(x.nics == link.nics for x in old):
            return "parallel"
        return "asymmetric" if any(set(x.nics) & set(link.nics) for x in old if x.role in ("first", "symmetric")) else "symmetric"

    def _group(self):
        """A link group."""
        group = Msg(links=[], memory={}, rmbs=[], learning={}, moves=[])
        self.groups.append(group)
        return group

    @staticmethod
    def _rmb(link, owner, rkey, va=None):
        """Of an RMB: what it is called on each link, RKey and address by the number of the link."""
        found = link.group.memory.setdefault(owner, [])
        rmb = next((x for x in found if link.number in x and x[link.number][0] == rkey), None)
        if rmb is None:
            rmb = {} if va is None else {link.number: (rkey, va)}
            found.append(rmb)
            link.group.rmbs.append((owner, rmb))
        return rmb

    def _settle(self, key):
        """The end of a queue pair, or of the capture: what was left out and never repeated?"""
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
        """What was sent is judged as its receiver takes it: by PSN."""
        todo, flow.waiting = flow.waiting, []
        for _, call, args in sorted(todo, key=lambda w: w[0] - flow.next & 0xffffff):
            call(*args)

    def _used(self, c, at):
        """RDMA of a connection. Its Confirm may still come, if it was lost."""
        if not c.used:
            c.used = at
            if c.gone:
                self._unfinished(c)

    def _unfinished(self, c):
        """Without Confirm there is no SMC-R."""
        if c.whole and c.used and CONFIRM not in c.said:
            self.checks["clc-order"].judge(False, c.used, f"{c.name()}: RDMA, but the last message was " + (
                CLC_NAMES[max(c.said)] if c.said else "none"))

    def _forget(self, key):
        """The end of a TCP connection."""
        c = self.conns.pop(key, None)
        if not c:
            return
        c.gone = True
        self._unfinished(c)
        a = c.said.get(ACCEPT)
        if a and a.get("qpn") and self.opening.get((addr(a.gid), a.qpn)) is c:
            del self.opening[addr(a.gid), a.qpn]
        if c.smc():
            # what looks like the beginning of a CLC message, and what stands behind missing bytes
            n = sum(c.plain.values()) + sum(len(s.data) + sum(map(len, s.later.values())) for s in c.streams.values())
            self.checks["tcp-quiet"].judge(not n, c.plain_at, f"{c.name()}: {n} bytes that are no CLC message")

    def _mark(self, payload, tails, key, f, tcp):
        """Looks for the markers, also across packets."""
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
