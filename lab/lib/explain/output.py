# SPDX-License-Identifier: GPL-2.0
"""Output: timeline, diagram, statistics, links, checks."""

from collections import OrderedDict

from roce import OPCODES
from wire import Msg

from .names import UD_SEND, mac, nbytes

# Printed below the first row of each kind.
REMARKS = {
    "SYN": "a client that can do SMC-R announces that by an experimental TCP option: kind 254, ExID e2d4c3d9",
    "SYN-ACK": "with the option in both, the next bytes on TCP are the CLC handshake",
    "CLC Proposal": "the client names itself, its RoCE port (GID, MAC) and its IP subnet",
    "CLC Accept": "the server's queue pair, and the piece of memory (RKey, address, size) that the client may write to",
    "CLC Confirm": "the same of the client; from here on no byte of the application goes over TCP",
    "CLC Decline": "no SMC-R: the connection goes on as plain TCP",
    "CONFIRM LINK": "first messages on the queue pairs: they test the path in both directions",
    "ADD LINK": "the server offers a second link, for the loss of the first",
    "CONFIRM RKEY": "the RKey of another receive buffer is announced",
    "TEST LINK": "tests whether the peer still answers",
    "DELETE LINK": "the end of the link, or of the whole link group",
    "WRITE": "data, placed into the peer's memory; this alone does not notify its program",
    "CDC": "announces for one connection how far data was written (prod) and read (cons)",
    "ACK": "acknowledges packets up to this PSN; sent by the peer's RDMA device, not by its application",
    "CM REQ": "connection manager, a datagram (UD SEND only, 0x64) to queue pair 1: the client's queue pair, and the PSN that it expects first",
    "CM REP": "the server's",
    "CM RTU": "ready to use",
    "CM REJ": "refused; reason 8: no program listens on this port (yet)",
    "READ request": "RETH: which memory of the peer",
    "READ response": "AETH and data, no RETH: the PSN is that of the request",
    "SEND": "goes into a buffer that the peer has posted; no address, no DETH on a reliable connection",
    "FIN": "TCP ends after the SMC-R connection above it",
}


class Timeline:
    """Rows of events; a run of similar events is one row."""

    def __init__(self, fold, out):
        self.fold, self.out = fold, out
        self.runs = OrderedDict()
        self.shown = set()

    def __call__(self, e):
        if not self.fold or e.fold is None:
            self.flush()
            self._row(e, [e])
            return
        run = self.runs.get(e.fold)
        if run is None and e.plane == "WRITE" and any(k[0] == "WRITE" for k in self.runs):
            self.flush()        # another direction or buffer: the runs end
        elif run and e.time - run[1].time > 1:
            self.flush()
        # A run: first and last event, number, bytes, lowest and highest address, words.
        run = self.runs.setdefault(e.fold, [e, e, 0, 0, None, None, {}])
        run[1] = e
        run[2] += 1
        run[3] += e.get("size") or 0
        if e.get("va") is not None:
            run[4] = e.va if run[4] is None else min(run[4], e.va)
            run[5] = e.end if run[5] is None else max(run[5], e.end)
        run[6].update(dict.fromkeys(e.get("words") or ()))

    def flush(self):
        """End all runs and write their rows."""
        for first, last, n, size, low, high, words in self.runs.values():
            if n == 1:
                self._row(first, [first])
                continue
            e = Msg(first)
            psn = f"PSN {first.psn} to {last.psn}" if first.get("psn") is not None else ""
            if first.plane == "WRITE":
                text = f"x {n}, {nbytes(size)}, {psn}" + (
                    f", RKey {first.rkey:#x}, addresses {low:#x} to {high:#x}" if low is not None and first.rkey is not None else "")
            elif first.plane == "CDC":
                text = (f"x {n}, token {first.token:#010x}, seq {first.seq} to {last.seq}, prod {first.prod} to {last.prod}, "
                        f"cons {first.cons} to {last.cons}" + "".join(f", {w}" for w in words))
            else:
                text = f"x {n}" + (f", {nbytes(size)}" if size else "") + (f", {psn}" if psn else "")
            e.update(text=text, count=n, bytes=size, until=last.at)
            self._row(e, [first, last])
        self.runs.clear()

    def _row(self, e, ends):
        kind = e.kind.removeprefix("repeated ").removesuffix(" reply")
        remark = ""
        if kind in REMARKS and kind not in self.shown and e.get("remark", True):
            self.shown.add(kind)
            remark = REMARKS[kind]
        self.out(Msg(frame=e.at, until=ends[-1].at, time=round(e.time, 6), src=e.src, dst=e.dst, plane=e.plane, kind=e.kind,
                     text=e.text, count=e.get("count", 1), bytes=e.get("bytes", e.get("size") or 0), remark=remark))


class Printer:
    """Rows as lines, up to a limit."""

    def __init__(self, limit):
        self.limit, self.n = limit, 0

    def __call__(self, row):
        self.n += 1
        if self.limit and self.n > self.limit:
            return
        span = f"{row.frame}-{row.until}" if row.until != row.frame else str(row.frame)
        print(f"{span:>9} {row.time:11.6f}  {row.src:>11} > {row.dst:<11}  {row.kind} {row.text}".rstrip())
        if row.remark:
            print(f"{'':22} ^ {row.remark}")

    def end(self):
        """Print how many rows were left out."""
        if self.limit and self.n > self.limit:
            print(f"... {self.n - self.limit} more rows (--limit 0 shows all)")


class Diagram:
    """Rows as arrows between hosts; acknowledgments are left out."""
    WIDTH = 64

    def __init__(self, limit):
        self.hosts, self.rows, self.limit, self.more = [], [], limit, 0

    def __call__(self, row):
        if row.kind in ("ACK", "ack") or row.plane == "other":
            return
        if self.limit and len(self.rows) >= self.limit:
            self.more += 1
            return
        for h in (row.src, row.dst):
            if h not in self.hosts:
                self.hosts.append(h)
        self.rows.append(row)

    def _label(self, row):
        label = f"{row.kind} {row.text}"
        return label if len(label) <= self.WIDTH - 6 else label[:self.WIDTH - 9] + "..."

    def text(self):
        """The diagram in characters, as lines."""
        if not self.rows:
            return ["(nothing to draw)"]
        w = self.WIDTH
        lines = ["".join(f"{h:<{w}}" for h in self.hosts).rstrip()]
        for row in self.rows:
            a, b = self.hosts.index(row.src), self.hosts.index(row.dst)
            line = list((("|" + " " * (w - 1)) * len(self.hosts))[:(len(self.hosts) - 1) * w + 1])
            lo, hi = sorted((a, b))
            if lo != hi:
                span = (hi - lo) * w - 1
                body = f"- {self._label(row)} ".ljust(span, "-")[:span]
                if a < b:
                    body = body[:-1] + ">"
                else:
                    body = "<" + body[:-1]
                line[lo * w + 1:hi * w] = body
            lines.append("".join(line))
        return lines + ([f"... {self.more} more arrows"] if self.more else [])

    def svg(self):
        """The diagram as SVG."""
        esc = lambda t: t.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # noqa: E731
        step, gap, top = 18, 560, 40
        x = lambda h: 90 + gap * self.hosts.index(h)  # noqa: E731
        height, width = top + step * (len(self.rows) + 2), 180 + gap * max(1, len(self.hosts) - 1)
        colours = {"TCP": "#666666", "CLC": "#0b5394", "CM": "#674ea7", "LLC": "#b45f06", "CDC": "#990000"}
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="monospace" font-size="11">',
               '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
               '<path d="M0 0L8 4L0 8z"/></marker></defs>', f'<rect width="{width}" height="{height}" fill="white"/>']
        for h in self.hosts:
            out.append(f'<text x="{x(h)}" y="20" text-anchor="middle" font-size="13">{esc(h)}</text>'
                       f'<line x1="{x(h)}" y1="28" x2="{x(h)}" y2="{height - 8}" stroke="#999999"/>')
        for i, row in enumerate(self.rows):
            y, colour = top + step * (i + 1), colours.get(row.plane, "#274e13")
            label = f"{row.kind} {row.text}"
            out.append(f'<line x1="{x(row.src)}" y1="{y}" x2="{x(row.dst)}" y2="{y}" stroke="{colour}" marker-end="url(#a)"/>'
                       f'<text x="{(x(row.src) + x(row.dst)) / 2}" y="{y - 4}" text-anchor="middle" fill="{colour}">'
                       f"{esc(label if len(label) < 84 else label[:81] + '...')}<title>{esc(label)}</title></text>")
        if self.more:
            out.append(f'<text x="90" y="{height - 10}">... {self.more} more arrows</text>')
        return "\n".join(out + ["</svg>", ""])


def stats_of(a):
    """Statistics as an object for JSON."""
    return {"frames": a.frames, "bytes": a.bytes, "seconds": round(a.end - a.begin, 6),
            "planes": [{"plane": p, "packets": n, "bytes": b, "share": round(100 * b / a.bytes, 1) if a.bytes else 0, "payload": d}
                       for p, (n, b, d) in a.stats.items()],
            "tcp_payload": a.tcp_bytes, "clc_bytes": a.clc_bytes, "repeated": a.again, "naks": a.naks, "receiver_not_ready": a.rnr,
            "opcodes": {f"{op:#04x}": {"name": OPCODES.get(op, ("UD SEND Only" if op == UD_SEND else "?",))[0], "packets": n, "bytes": b}
                        for op, (n, b) in sorted(a.opcodes.items())}}


def print_stats(s):
    """Print statistics as a table."""
    print(f"{'plane':8} {'packets':>9} {'bytes':>12} {'share':>7} {'payload':>12}")
    for p in s["planes"]:
        if p["packets"]:
            print(f"{p['plane']:8} {p['packets']:9} {p['bytes']:12} {p['share']:6.1f}% {p['payload']:12}")
    print(f"{'all':8} {s['frames']:9} {s['bytes']:12}  in {s['seconds']:.3f} s")
    print(f"TCP payload: {s['tcp_payload']} bytes, {s['clc_bytes']} of them CLC messages. Repeated: {s['repeated']} packets. "
          f"NAKs: {s['naks']}, receiver not ready: {s['receiver_not_ready']}.")
    for op, o in s["opcodes"].items():
        print(f"  opcode {op} {o['name']:26} {o['packets']:8} packets {o['bytes']:12} bytes of payload")


def links_of(a):
    """Link groups for JSON: links, RTokens of the RMBs on each link, connections that have changed links."""
    groups = []
    for g in a.groups:
        links = [{"link": x.number, "frame": x.at, "role": x.role, "confirmed": x.answer is not None, "end": x.end,
                  "writes": x.writes[0], "bytes": x.writes[1],
                  "ends": [{"host": home, "gid": gid, "mac": mac(m), "qpn": qpn} for gid, qpn, _, home, m in x.sides]} for x in g.links]
        rmbs = [{"host": host, "rtokens": [{"link": n, "rkey": rkey, "address": va} for n, (rkey, va) in rmb.items()]}
                for host, rmb in g.rmbs]
        groups.append({"links": links, "rmbs": rmbs, "moves": [dict(m) for m in g.moves]})
    return groups


def print_links(groups):
    """Print the link groups."""
    for i, g in enumerate(groups, 1):
        print(f"link group {i}, {g['links'][0]['ends'][0]['host']} and {g['links'][0]['ends'][1]['host']}")
        for x in g["links"]:
            print(f"  link {x['link']}, {x['role']}, since frame {x['frame']}{'' if x['confirmed'] else ', not confirmed'}: "
                  f"{x['writes']} WRITEs, {x['bytes']} bytes" + (f"; {x['end']}" if x["end"] else ""))
            for e in x["ends"]:
                print(f"    QP {e['qpn']:#x}, GID {e['gid']}, MAC {e['mac']}")
        for r in g["rmbs"]:
            print(f"  RMB of {r['host']}: " + ", ".join(f"link {t['link']} RKey {t['rkey']:#x} address {t['address']:#x}" for t in r["rtokens"]))
        for m in g["moves"]:
            print(f"  frame {m['frame']}, {m['time']:.6f} s: what {m['sender']} sends of {m['connection']} goes on over link {m['new']}, it was on "
                  f"link {m['old']}; " + ("F is missing" if m["seq"] is None else f"F confirms number {m['seq']}") +
                  ("" if m["write"] is None else f"; {m['again']} bytes are written again, from frame {m['write']} on" +
                   ("" if m["stall"] is None else f", {m['stall']:.3f} s after the last WRITE")))
    if not groups:
        print("(no first contact in this capture)")


def print_checks(checks):
    """Print a line for each check, with failures and notes."""
    for c in checks:
        more = f" ({c['judged']} judged)" if c["verdict"] == "ok" else f" ({c['why']})" if c["verdict"] == "n/a" else ""
        print(f"{c['verdict']:6}  {c['name']:15}  {c['text']}{more}")
        for w in c["where"]:
            print(f"{'':8}{'':17}  ! {w}")
        if c["failed"] > len(c["where"]):
            print(f"{'':8}{'':17}  ! and {c['failed'] - len(c['where'])} more")
        for n in c["notes"]:
            print(f"{'':8}{'':17}  note: {n}")
    n = {v: sum(c["verdict"] == v for c in checks) for v in ("ok", "FAILED", "n/a")}
    print(f"{n['ok']} hold, {n['FAILED']} failed, {n['n/a']} not applicable")
