#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of lab/lab-explain: every check fails for the doctored capture that
was made for it, and for no other; wrong input is refused. Prints KTAP."""

import contextlib
import functools
import gzip
import importlib.machinery
import importlib.util
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
sys.dont_write_bytecode = True

from explain import model, program  # noqa: E402  pylint: disable=wrong-import-position
from explain.analysis import Analysis  # noqa: E402  pylint: disable=wrong-import-position
from explain.capture import FIELD, Frame  # noqa: E402  pylint: disable=wrong-import-position
from explain.checks import CHECKS  # noqa: E402  pylint: disable=wrong-import-position
from explain.names import llc_text  # noqa: E402  pylint: disable=wrong-import-position
import ktap  # noqa: E402  pylint: disable=wrong-import-position
import rdmawire  # noqa: E402  pylint: disable=wrong-import-position
import wire  # noqa: E402  pylint: disable=wrong-import-position

LAB = os.path.dirname(HERE)
FIXTURES = os.path.join(LAB, "fixtures")
GOOD = os.path.join(FIXTURES, "good.pcap.gz")
FAILOVER = os.path.join(FIXTURES, "failover.pcap.gz")
loader = importlib.machinery.SourceFileLoader("doctor", os.path.join(LAB, "doctor"))
doctor = importlib.util.module_from_spec(importlib.util.spec_from_loader("doctor", loader))
loader.exec_module(doctor)
MARKER = doctor.MARKER.hex()
# Checks that do not apply to a session of plain verbs.
SMC_ONLY = {"syn-option", "clc-order", "confirm-link", "dest-qp", "rkey-range", "opcodes", "cdc-after-write", "cdc-seq", "tcp-quiet"}
# Checks that apply only if a connection changes links.
MOVES = {"failover-first", "failover-seq", "failover-left", "failover-again"}


def run(*args):
    """Run lab-explain; returns exit status, output and error output."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            rc = program.main(list(args))
        except SystemExit as e:
            rc = e.code
    return rc, out.getvalue(), err.getvalue()


def verdicts(path, *more):
    """Exit status, {check: verdict}, the whole record."""
    rc, out, err = run("--json", *(more or ("--checks", "--stats")), "--marker", MARKER, path)
    assert out, err
    record = json.loads(out)
    return rc, {c["name"]: c["verdict"] for c in record["checks"]}, record


@contextlib.contextmanager
def capture(packets):
    """A file with these packets, or these bytes."""
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        if isinstance(packets, bytes):
            f.write(packets)
            f.flush()
        else:
            doctor.save(f.name, packets)
        yield f.name


def sound(v, moves="n/a"):
    """Do all checks hold, with something to judge? Those of moves: n/a if no connection has changed links, else ok."""
    return {x for n, x in v.items() if n not in MOVES} == {"ok"} and {v[n] for n in MOVES} == {moves}


def good():
    """The good capture's packets."""
    return [p.copy() for p in doctor.load(GOOD)]


def good__holds():
    """Nothing fails in the good capture, and every check has something to judge."""
    rc, v, record = verdicts(GOOD)
    assert rc == 0 and sound(v) and list(v) == [c[0] for c in CHECKS], v
    assert record["complete"] and all(c["judged"] or c["name"] in MOVES for c in record["checks"])
    planes = {p["plane"]: p["packets"] for p in record["stats"]["planes"]}
    assert sum(planes.values()) == record["stats"]["frames"] == len(good()) and all(
        planes[p] for p in ("TCP", "CM", "LLC", "CDC", "WRITE", "READ", "SEND", "ACK")), planes


def fixtures__are_complete():
    """Every check has a doctored capture, and the captures are those that the script makes."""
    made = doctor.all_of(doctor.load(GOOD), doctor.load(FAILOVER))
    assert {n.split(".")[0] for n in made} - {"good6"} == {c[0] for c in CHECKS}
    there = {f.removesuffix(".pcap.gz") for f in os.listdir(FIXTURES)}
    assert there == set(made) | {"good", "verbs", "failover"}, there ^ set(made)
    for name, packets in made.items():
        stored = doctor.load(os.path.join(FIXTURES, name + ".pcap.gz"))
        assert [p.data for p in stored] == [p.data for p in packets], f"{name}: another one than the script makes"


def fixture(name):
    """Exactly one check fails, and all others still have something to judge."""
    want = name.split(".")[0]
    rc, v, record = verdicts(os.path.join(FIXTURES, name + ".pcap.gz"))
    assert rc == 1 and {n for n, x in v.items() if x == "FAILED"} == {want}, [c for c in record["checks"] if c["verdict"] == "FAILED"]
    odd = {n for n, x in v.items() if x == "n/a"}
    assert odd == {"cm-order"} if want in MOVES else odd <= MOVES, v
    bad = next(c for c in record["checks"] if c["name"] == want)
    assert bad["failed"] and bad["where"], bad


def verbs__alone():
    """A session of plain verbs is shown; the checks of SMC-R are not applicable, never ok."""
    _, v, record = verdicts(os.path.join(FIXTURES, "verbs.pcap.gz"), "--timeline", "--checks")
    assert {n for n, x in v.items() if x == "n/a"} == SMC_ONLY | MOVES, v
    # a marker that is not in the capture must not count as ok
    assert {n for n, x in v.items() if x == "FAILED"} == {"marker"}, v
    kinds = {r["kind"] for r in record["timeline"]}
    assert {"CM REQ", "CM REP", "CM RTU", "SEND", "READ request", "READ response", "WRITE", "ACK"} <= kinds, kinds
    rc, out, _ = run("--checks", os.path.join(FIXTURES, "verbs.pcap.gz"))
    assert rc == 0 and "n/a     cdc-seq" in out and "\n5 hold, 0 failed, 14 not applicable" in out, out[-300:]


def messages__have_a_text():
    """The contents of each type of LLC message are shown."""
    assert not [t for t in wire.LLC_NAMES if not llc_text(wire.link_msg(bytes((t, 44, 0, 0)) + b"\1" * 40))]


def ipv6__is_the_same():
    """The session over IPv6, where soft RoCE sends the UDP checksum 0, has the same result."""
    rc, v, record = verdicts(os.path.join(FIXTURES, "good6.pcap.gz"))
    want = verdicts(GOOD)[2]
    assert rc == 0 and sound(v), v
    assert [c["judged"] for c in record["checks"]] == [c["judged"] for c in want["checks"]]


def quoted__is_no_packet():
    """An ICMP error that quotes a RoCE packet or its beginning is no RoCE packet; one that quotes a TCP segment is not TCP."""
    for what, keep in ((lambda p: p.said == 0xfe, None), (lambda p: p.said == 0xfe, 40), (lambda p: p.clc() == 2, 28)):
        ps = good()
        i = doctor.find(ps, what)
        o = ps[i]
        icmp = b"\x03\x03" + bytes(6) + bytes(o.data[14:])[:keep]
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp), 1, 0, 64, 1, 0, bytes(o.data[30:34]), bytes(o.data[26:30]))
        ps.insert(i + 1, doctor.Packet(o.sec, o.usec, bytes(o.data[6:12] + o.data[:6]) + b"\x08\x00" + head + icmp))
        with capture(ps) as path:
            rc, v, record = verdicts(path)
        assert rc == 0 and sound(v) and record["stats"]["repeated"] == 0, (keep, v)
        assert [p["packets"] for p in record["stats"]["planes"] if p["plane"] == "other"] == [1]


def opcodes__of_verbs():
    """SEND with invalidate, FLUSH and ATOMIC WRITE are known, with their lengths."""
    for opcode, ext, plane in ((0x16, 4, "SEND"), (0x17, 4, "SEND"), (0x1c, 20, "READ"), (0x1d, 16, "ATOMIC")):
        ps = [p.copy() for p in doctor.load(os.path.join(FIXTURES, "verbs.pcap.gz"))]
        p = ps[doctor.find(ps, lambda p: p.opcode == 4)]
        size = len(p.data) - 58 - (p.data[43] >> 4 & 3)
        p.data[42] = opcode
        p.data[54:54] = bytes(ext)
        p.seal()
        with capture(ps) as path:
            rc, out, _ = run("--json", "--checks", "--stats", "--timeline", "--all", path)
        record = json.loads(out)
        assert rc == 0, (opcode, [c for c in record["checks"] if c["failed"]])
        assert record["stats"]["opcodes"][f"{opcode:#04x}"]["bytes"] == size, (opcode, size, record["stats"]["opcodes"])
        assert [r["plane"] for r in record["timeline"] if r["frame"] == ps.index(p) + 1] == [plane]


def in_front__is_not_excused():
    """Errors in IP or UDP count, whatever protocol tshark sees in the payload."""
    ps = good()
    p = ps[doctor.only(ps)]
    p.data[38:40] = struct.pack(">H", 60000)
    with capture(ps) as path:
        rc, v, _ = verdicts(path)
    assert rc == 1 and v["dissected"] == "FAILED", v
    told = {"frame.protocols": "eth:ethertype:ip:udp:infiniband:rpcordma", "_ws.malformed": "", "_ws.expert.message": ""}

    class Told(Frame):
        """A frame with these fields only."""
        __slots__ = ()

        def __init__(self, **more):  # pylint: disable=super-init-not-called
            self.v = dict(told, **{f"_ws.{k}": v for k, v in more.items()})
    foreign = lambda **x: Analysis._foreign(Told(**{k.replace("expert_", "expert."): v for k, v in x.items()}), "infiniband")  # noqa: E731,E501 pylint: disable=protected-access
    assert foreign(malformed="Malformed Packet: RPCoRDMA", expert_message="Malformed Packet (Exception occurred)")
    assert not foreign(malformed="Malformed Packet: InfiniBand") and not foreign(malformed="Malformed Packet: UDP")
    assert not foreign(expert_message="Malformed Packet (Exception occurred)" + FIELD + "Bad checksum [should be 0x1234]")
    told["frame.protocols"] = "eth:ethertype:ip:udp:infiniband"
    assert not foreign(expert_message="anything")


def repeated__is_no_error():
    """A packet that its sender repeats is shown as such, and no check fails."""
    ps = good()
    i = doctor.only(ps)
    ps.insert(i + 1, ps[i].copy())
    with capture(ps) as path:
        rc, v, record = verdicts(path, "--checks", "--stats", "--timeline")
    assert rc == 0 and sound(v) and record["stats"]["repeated"] == 1, v
    assert [r for r in record["timeline"] if r["kind"] == "repeated WRITE"]


def crossed__is_no_error():
    """A packet that was captured before its predecessor leaves no hole, and its announcement is judged later."""
    ps = good()
    w = doctor.only(ps)
    c = doctor.find(ps, lambda p: p.said == 0xfe and p.up == ps[w].up and p.psn == (ps[w].psn + 1 & 0xffffff))
    ps[w], ps[c] = ps[c], ps[w]
    with capture(ps) as path:
        rc, v, _ = verdicts(path)
    assert rc == 0 and sound(v), v


def fine(ps, again=None):
    """No check fails, all have something to judge, and `again` packets were repeated."""
    with capture(ps) as path:
        rc, v, record = verdicts(path)
    assert rc == 0 and sound(v), [c for c in record["checks"] if c["verdict"] != "ok"]
    assert again in (None, record["stats"]["repeated"]), record["stats"]["repeated"]


def requests(ps, like, begin=0):
    """The requests of the same direction and queue pair as this one, from index `begin` on."""
    return [p for p in ps[begin:] if p.roce and p.up == like.up and p.qpn == like.qpn and p.opcode < 0x0d]


def resent(ps, i, more):
    """Packet i is lost before the capture, so that its sender goes back: `more` packets are before it, and again behind it."""
    p = ps.pop(i)
    behind = requests(ps, p, i)[:more]
    at = ps.index(behind[-1]) + 1
    ps[at:at] = [p] + [q.copy() for q in behind]


def lost__is_no_error():
    """A packet that was repeated behind others is judged by its PSN: a CDC, the end of a WRITE of another connection, the reply of
    CONFIRM LINK."""
    for what, more in ((lambda p: p.said == 0xfe, 2), (lambda p: p.said == 0xfe, 7), (lambda p: p.opcode == 8, 4),
                       (lambda p: p.said == 1 and p.data[57] & 0x80, 4), (lambda p: p.opcode == 6, 3)):
        ps = good()
        resent(ps, doctor.find(ps, what), more)
        fine(ps, more)


def cdcs__may_cross():
    """Two CDCs, one after the other, are captured the other way round."""
    ps = good()
    c = next(p for p, q in zip(requests(ps, ps[doctor.only(ps)]), requests(ps, ps[doctor.only(ps)])[1:]) if p.said == q.said == 0xfe)
    i, j = ps.index(c), ps.index(next(q for q in requests(ps, c, ps.index(c) + 1)))
    ps[i], ps[j] = ps[j], ps[i]
    fine(ps, 0)


def repeated__needs_no_memory():
    """No check fails if a WRITE is repeated after the end of the connection, or after its RKey was deleted."""
    ps = good()
    w = doctor.only(ps)
    end = doctor.find(ps, lambda p: p.said == 0xfe and p.up == ps[w].up and p.data[79] & 0x40)
    ps.insert(end + 1, ps[w].copy())
    fine(ps, 1)
    ps = good()
    w = ps[doctor.only(ps)]
    delete = ps[doctor.find(ps, lambda p: p.said == 7 and p.up != w.up, -1)]
    delete.data[54:98] = bytes((9, 44, 0, 0, 1, 0, 0, 0)) + w.data[62:66] + bytes(32)
    ps.insert(ps.index(delete.seal()) + 1, [p for p in requests(ps, w) if p.opcode == 0x0a][-1].copy())
    fine(ps, 1)


def congestion__is_no_error():
    """A congestion notification (CNP) goes to the queue pair, and is no request."""
    ps = good()
    p = ps[doctor.find(ps, lambda p: p.opcode == 0x11)].copy()
    p.data[42], p.psn = 0x81, 0
    p.data[54:-4] = bytes(16)
    ps.append(p.seal())
    fine(ps)


def optional__is_ignored():
    """An LLC message whose type begins with the bits 10 may be unknown."""
    ps = good()
    p = ps[doctor.find(ps, lambda p: p.said == 7, -1)]
    p.data[54] = 0x85
    p.seal()
    fine(ps)


def accept__in_two_segments():
    """A CLC message may be split anywhere, and its parts may be reordered."""
    for at, crossed in ((3, False), (34, False), (34, True)):
        ps = good()
        i = doctor.find(ps, lambda p: p.clc() == 2)
        parts = ps[i].copy(), ps[i].copy()
        head = 34 + (ps[i].data[46] >> 4) * 4
        parts[0].data[head:], parts[1].data[head:] = ps[i].payload[:at], ps[i].payload[at:]
        parts[1].data[38:42] = struct.pack(">I", int.from_bytes(ps[i].data[38:42], "big") + at & 0xffffffff)
        ps[i:i + 1] = [p.seal() for p in (parts[::-1] if crossed else parts)]
        fine(ps, 0)


def failover__is_judged():
    """A session in which a link is cut: its links and RTokens, and the moves from one link to the other."""
    rc, v, record = verdicts(FAILOVER, "--checks", "--links", "--timeline")
    assert rc == 0 and {n for n, x in v.items() if x != "ok"} == {"cm-order"}, v
    group, = record["groups"]
    one, two = group["links"]
    assert (one["link"], one["role"], one["end"]) == (1, "first", "") and (two["link"], two["role"]) == (2, "symmetric") and two["end"], group
    ends = {(e["host"], e["gid"], e["mac"]) for x in (one, two) for e in x["ends"]}
    assert len(ends) == 4 and all(e["qpn"] for x in (one, two) for e in x["ends"]), ends
    # the RMBs of first contact by ADD LINK CONTINUATION, the others by CONFIRM RKEY
    assert len(group["rmbs"]) >= 4 and all([t["link"] for t in r["rtokens"]] == [1, 2] for r in group["rmbs"]), group["rmbs"]
    moves = group["moves"]
    assert len(moves) == 2 and {m["sender"] for m in moves} == {e["host"] for e in one["ends"]}, moves
    assert all((m["old"], m["new"], m["seq"]) == (2, 1, 2) and m["write"] > m["frame"] for m in moves), moves
    assert any(m["again"] for m in moves), moves
    said = [r for r in record["timeline"] if "failover validation" in r["text"]]
    assert [r["frame"] for r in said] == [m["frame"] for m in moves], said
    assert {"ADD LINK CONTINUATION", "ADD LINK CONTINUATION reply"} <= {r["kind"] for r in record["timeline"]}


def failover__says_which():
    """The message about a wrong failover has the frame and the connection's token."""
    for name, text in (("failover-first", "a WRITE without F is its first on link 1, it was on link 2"), ("failover-first.flag", "a CDC without F"),
                       ("failover-seq", "which was never sent"), ("failover-seq.lost", "was not acknowledged"),
                       ("failover-left", "a WRITE again on link 2, which it has left for link 1"), ("failover-left.cdc", "a CDC on link 2"),
                       ("failover-again", "the first 12000 were confirmed"), ("failover-again.hole", "only the first 12000 were confirmed")):
        record = verdicts(os.path.join(FIXTURES, name + ".pcap.gz"))[2]
        where = [w for c in record["checks"] for w in c["where"]]
        assert len(where) == 1 and text in where[0] and "frame " in where[0] and "token 0x" in where[0], (name, where)


def role(*pairs):
    """Role of the last of these links, which are given by their RNICs."""
    a = Analysis([], lambda e: None)
    group = a._group()  # pylint: disable=protected-access
    for i, (client, server) in enumerate(pairs):
        ends = [(f"{h}{n}", i + 17, 0, h, bytes((n,))) for h, n in (("C", client), ("S", server))]
        a._link(wire.Msg(at=i), group, *ends, number=i + 1)  # pylint: disable=protected-access
    return group.links[-1].role


def links__have_roles():
    """The role of a link follows from the RNICs that it shares with older ones."""
    assert role((1, 1)) == "first" and role((1, 1), (2, 2)) == "symmetric" and role((1, 1), (1, 2)) == role((1, 1), (2, 1)) == "asymmetric"
    assert role((1, 1), (1, 2), (2, 2)) == "symmetric" and role((1, 1), (1, 2), (1, 1)) == "parallel"


def continuations__are_read():
    """CONFIRM RKEY of five links: two in the message, two more in its CONTINUATION."""
    a = Analysis([], lambda e: None)
    group = a._group()  # pylint: disable=protected-access
    one = wire.Msg(group=group, number=1, home={}, base=0)
    entry = lambda n: struct.pack(">BIQ", n, 100 + n, n << 20)  # noqa: E731
    for raw in (bytes((6, 44, 0, 0, 4)) + struct.pack(">IQ", 101, 1 << 20) + entry(2) + entry(3), bytes((8, 44, 0, 0, 2)) + entry(4) + entry(5)):
        a._llc(wire.Msg(at=1), wire.Msg(link=one, me="S"), wire.link_msg(raw.ljust(44, b"\0")))  # pylint: disable=protected-access
    assert group.memory["S"] == [{n: (100 + n, n << 20) for n in range(1, 6)}], group.memory


def queue_pairs__are_used_again():
    """Programs without a connection manager may use the same queue pairs a second time, with other PSNs."""
    ps = [p.copy() for p in doctor.load(os.path.join(FIXTURES, "verbs.pcap.gz")) if p.roce and p.opcode != 0x64]
    for p in [p.copy() for p in ps]:
        p.psn += 100000
        ps.append(p.seal())
    with capture(ps) as path:
        rc, out, _ = run("--checks", path)
    assert rc == 0 and "taken for new ones" in out, out


def failover__may_repeat():
    """After a failover validation message, CDCs may repeat numbers that are later than its own, or skip lost ones; but not
    repeat its own number or an earlier one."""
    for shift, good_ in ((0, True), (1, True), (2, True), (-1, False)):
        ps = confirmed_link()
        cdc = ps[doctor.find(ps, lambda p: p.said == 0xfe and p.qpn == 0x20)]
        last = [p for p in ps if p.said == 0xfe and p.up == cdc.up and p.qpn != 0x20][-1]
        number = int.from_bytes(last.data[56:58], "big") + 1
        again = last.copy()
        again.qpn = cdc.qpn
        cdc.data[56:58] = struct.pack(">H", number - 2)
        again.data[56:58], again.psn = struct.pack(">H", number - 1 + shift), cdc.psn + 1
        cdc.seal()
        ps.insert(ps.index(cdc) + 1, again.seal())
        with capture(ps) as path:
            rc, v, _ = verdicts(path)
        assert (rc == 0) == good_ and {n for n, x in v.items() if x == "FAILED"} == (set() if good_ else {"cdc-seq"}), (shift, v)


def handshakes__must_end():
    """A connection without Confirm, or without Accept and Confirm, is an error if it uses RDMA, and none without RDMA."""
    for gone in ((3,), (2, 3)):
        ps = [p for p in good() if p.clc() not in gone]
        with capture(ps) as path:
            rc, v, _ = verdicts(path)
        assert rc == 1 and {n for n, x in v.items() if x == "FAILED"} == {"clc-order"}, v
    with capture([p for p in ps if not p.roce or p.opcode == 0x64]) as path:
        assert verdicts(path)[1]["clc-order"] == "ok"


def first_contact__has_its_flag():
    """A link begins in the capture although Accept has no flag of a first contact: an error."""
    ps = good()
    p = ps[doctor.find(ps, lambda p: p.clc() == 2)]
    p.data[34 + (p.data[46] >> 4) * 4 + 7] &= ~8
    p.seal()
    with capture(ps) as path:
        rc, v, _ = verdicts(path)
    assert rc == 1 and {n for n, x in v.items() if x == "FAILED"} == {"clc-order"}, v


def confirmed_link(shift=0):
    """The good session with a second link that is confirmed, and a CDC on it. `shift` is subtracted from its first PSN."""
    ps = good()
    ask, cdc = doctor.second_link(ps)
    i = ps.index(cdc)
    say, answer = cdc.copy(), ps[doctor.find(ps, lambda p: p.said == 1 and p.data[57] & 0x80)].copy()
    say.data[54:98] = ps[doctor.find(ps, lambda p: p.said == 1 and not p.data[57] & 0x80)].data[54:98]
    at = 66 if ask.data[66:76] == bytes(10) else 64
    server_qp = int.from_bytes(ask.data[at + 16:at + 19], "big")
    say.data[80:83], say.data[83] = server_qp.to_bytes(3, "big"), ask.data[at + 19]
    answer.data[80:83], answer.data[83] = (0x20).to_bytes(3, "big"), ask.data[at + 19]
    answer.qpn = server_qp
    reply = ps[doctor.find(ps, lambda p: p.said == 2 and p.data[57] & 0x80)]
    answer.psn = int.from_bytes(reply.data[at + 21:at + 24], "big") - shift
    cdc.psn += 1
    cdc.seal()
    ps[i:i] = [say.seal(), answer.seal()]
    return ps


def second_link__is_judged():
    """A second link that was confirmed is in order; the first PSN of its ADD LINK counts."""
    for shift in (0, 1):
        ps = confirmed_link(shift)
        with capture(ps) as path:
            rc, v, record = verdicts(path)
        bad = {n for n, x in v.items() if x == "FAILED" or x == "n/a" and n not in MOVES}
        assert (rc, bad) == (shift, {"psn"} if shift else set()), [c for c in record["checks"] if c["failed"]]
        assert next(c["judged"] for c in record["checks"] if c["name"] == "confirm-link") == 2


def rkeys__by_group_and_link():
    """A CONFIRM RKEY on any link names the RKeys of an RMB on all links, until DELETE RKEY, and not for other groups."""
    a = Analysis([], lambda e: None)
    msg = wire.Msg
    group, other = (a._group() for _ in range(2))  # pylint: disable=protected-access
    links = [msg(group=g, number=n, home={}, base=0) for g, n in ((group, 1), (group, 2), (other, 1))]
    one, two, three = links
    e = msg(owner="S", rkey=7, start=0x1000, size=0x4000, token=5, link=one)
    a.ranges["S", 7] = {0x1000: e}
    a.elements["S", 5] = e
    frame, known = msg(at=1), lambda link, rkey: a._known(msg(owner="S", link=link), rkey)  # noqa: E731 pylint: disable=protected-access
    say = lambda link, raw: a._llc(frame, msg(link=link, me="S"), wire.link_msg(raw.ljust(44, b"\0")))  # noqa: E731 pylint: disable=protected-access
    assert known(one, 7) == [(e, 0)] and not known(two, 9) and not known(two, 7)
    delete = bytes((9, 44, 0, 0, 1, 0, 0, 0)) + struct.pack(">I", 9)
    for carrier, mine, there, number in ((one, (7, 0x1000), (9, 0x8000), 2), (two, (9, 0x8000), (7, 0x1000), 1)):
        a.ranges["S", 7] = {0x1000: e}
        say(carrier, bytes((6, 44, 0, 0, 1)) + struct.pack(">IQBIQ", *mine, number, *there))
        assert known(one, 7) == [(e, 0)] and known(two, 9) == [(e, 0x7000)], number
        assert not known(two, 7) and not known(three, 9) and not known(three, 7)
        say(one, delete)                # RKey 9 is not known on link 1
        assert known(two, 9)
        say(two, delete)
        assert not known(two, 9) and not known(one, 7) and not a.ranges["S", 7]


def source_port__is_noted():
    """Packets from port 4791 are allowed, but against the recommendation: there is a note."""
    ps = good()
    for p in ps:
        if p.roce:
            p.data[34:36] = struct.pack(">H", 4791)
            p.seal()
    with capture(ps) as path:
        rc, v, record = verdicts(path)
    notes = lambda r: [c["notes"] for c in r["checks"] if c["name"] == "udp-4791"][0]  # noqa: E731
    assert rc == 0 and sound(v) and "0xc000" in notes(record)[0] and not notes(verdicts(GOOD)[2]), notes(record)


def older_group__is_left_out():
    """A group that is older than the capture is no error if it has sent before the first contact; an unknown queue pair is one."""
    for what in (7, 4, 1, 0xfe):
        for first in (True, False):
            ps = good()
            p = ps[doctor.find(ps, lambda p: p.said == 0xfe, -1)].copy()
            p.qpn, p.psn, p.data[54] = 0x99, 77, what
            if what != 0xfe:
                p.data[56:98] = bytes(42)
            ps += [p.seal(), p.copy()]
            if first:
                ps.insert(0, ps.pop(-2))
            with capture(ps) as path:
                rc, v, record = verdicts(path)
            assert (rc == 0) == first and {n for n, x in v.items() if x == "FAILED"} <= {"dest-qp", "cdc-seq"}, (what, first, [
                c for c in record["checks"] if c["failed"]])
            assert (v["dest-qp"] == "ok") == first, v


def flags__decide_the_base():
    """Without the flags of CONFIRM LINK each element has an eye catcher, and the first WRITEs overwrite it: an error."""
    ps = good()
    for p in ps:
        if p.said == 1:
            p.data[57] &= 0x80
            p.seal()
    with capture(ps) as path:
        rc, v, record = verdicts(path)
    assert rc == 1 and v["rkey-range"] == "FAILED", v
    assert "into the eye catcher" in next(c["where"][0] for c in record["checks"] if c["name"] == "rkey-range")


def late__is_not_judged():
    """A capture that begins within the session: no check fails, and one that has nothing to judge is not ok."""
    ps = good()
    with capture(ps[doctor.find(ps, lambda p: p.said == 0xfe):]) as path:
        rc, v, _ = verdicts(path)
    assert "FAILED" not in v.values() and rc == 0, v
    # the group of the first connection is older than the capture, and the others use it
    assert {"confirm-link", "rkey-range", "cdc-after-write"} <= {n for n, x in v.items() if x == "n/a"}, v


def cut__is_said():
    """Of a file that ends within a packet, all whole packets are shown; the exit status is 2."""
    with gzip.open(GOOD, "rb") as f:
        data = f.read()
    with capture(data[:len(data) * 2 // 3]) as path:
        rc, out, err = run("--timeline", path)
    assert rc == 2 and "CONFIRM LINK" in out and "cut short in the middle of a packet" in err and err.count("\n") == 1, err


def snaplen__fails():
    """Packets that were captured in part fail the check "dissected", wherever they were cut."""
    for length in (96, 68, 54):
        data = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, length, 1)
        for p in good():
            data += struct.pack("<IIII", p.sec, p.usec, min(length, len(p.data)), len(p.data)) + p.data[:length]
        with capture(data) as path:
            rc, v, _ = verdicts(path)
        assert rc == 1 and v["dissected"] == "FAILED" and v["no-rocev1"] == "ok" and (length < 96 or v["psn"] == "ok"), v


def cut__payload_can_be_meant():
    """With --cut, payload of WRITEs may be missing, but no header, and nothing of other packets."""
    for length, what, good_ in ((96, lambda p: p.opcode in (6, 7, 8, 10), True), (60, lambda p: p.opcode in (6, 10), False),
                                (96, lambda p: p.said, False)):
        data = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1)
        for p in good():
            kept = min(length, len(p.data)) if what(p) else len(p.data)
            data += struct.pack("<IIII", p.sec, p.usec, kept, len(p.data)) + p.data[:kept]
        with capture(data) as path:
            rc, out, _ = run("--checks", "--json", "--cut", path)
            failed = [c["name"] for c in json.loads(out)["checks"] if c["failed"]]
            assert (rc == 0) == good_ and ("dissected" in failed) != good_, (length, failed)
            assert run("--checks", path)[0] == 1


def cooked__is_the_same():
    """Linux cooked captures of both versions have the same result."""
    for link, head in ((113, lambda p: struct.pack(">HHH8s", 0, 1, 6, p.data[6:12] + bytes(2)) + p.data[12:14]),
                       (276, lambda p: p.data[12:14] + struct.pack(">HIHBB8s", 0, 2, 1, 0, 6, p.data[6:12] + bytes(2)))):
        data = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, link)
        for p in good():
            d = head(p) + p.data[14:]
            data += struct.pack("<IIII", p.sec, p.usec, len(d), len(d)) + d
        with capture(data) as path:
            rc, v, _ = verdicts(path)
        assert rc == 0 and sound(v), (link, v)


def pcapng__is_the_same():
    """A pcapng file has the same result."""
    block = lambda t, body: struct.pack("<II", t, len(body) + 12) + body + struct.pack("<I", len(body) + 12)  # noqa: E731
    data = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 0))
    for p in good():
        t = p.sec * 1000000 + p.usec
        data += block(6, struct.pack("<IIIII", 0, t >> 32, t & 0xffffffff, len(p.data), len(p.data)) + p.data + bytes(-len(p.data) % 4))
    with capture(data) as path:
        rc, v, _ = verdicts(path)
    assert rc == 0 and sound(v), v


def foreign__is_refused():
    """Files without RDMA and SMC-R, and files that are no capture: one line and exit status 2."""
    dns = doctor.Packet(1, 1, bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2") +
                        struct.pack(">HHHH", 40000, 53, 20, 0) + bytes(12))
    plain = [p for p in good() if p.flags is not None and not p.clc()]
    plain = [p for p in plain if not p.flags & 2]
    for what, text in (([dns], "no RDMA packet and no SMC-R handshake"), (plain, "no RDMA packet and no SMC-R handshake"),
                       (b"", "empty"), ([], "without a single frame"), (b"hello world\n" * 9, "no capture file")):
        with capture(what) as path:
            rc, _, err = run(path)
        assert rc == 2 and text in err and err.count("\n") == 1, (text, err)
    for path, text in (("/nonexistent.pcap", "no such file"), (HERE, "not a file")):
        rc, _, err = run(path)
        assert rc == 2 and text in err and err.count("\n") == 1, err
    # the others are still explained
    rc, out, err = run("--checks", "/nonexistent.pcap", GOOD)
    assert rc == 2 and "14 hold" in out and "no such file" in err


def usage__is_checked():
    """Wrong options: exit status 2. Without tshark: one line that names the package."""
    for args in ([], ["--marker", "12", GOOD], ["--marker", "zz" * 16, GOOD], ["--limit", "-1", GOOD], ["--nonsense", GOOD],
                 ["--svg", "/dev/null", GOOD, GOOD]):
        assert run(*args)[0] == 2, args
    rc, out, err = run("--svg", "/nonexistent/x.svg", GOOD)
    assert rc == 2 and not out and err.count("\n") == 1 and "/nonexistent/x.svg: No such file" in err, (out, err)
    script = os.path.join(LAB, "lab-explain")
    with tempfile.TemporaryDirectory() as empty:
        r = subprocess.run([sys.executable, script, GOOD], env={"PATH": empty}, capture_output=True, text=True, check=False)
    assert r.returncode == 2 and "apt install tshark" in r.stderr and r.stderr.count("\n") == 1, r.stderr
    r = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=False)
    assert r.returncode == 0 and "Exit status" in r.stdout


def output__is_kept_or_refused():
    """The capture is not overwritten; a picture replaces an older one only at the end, and other parts may be chosen with
    it; if output fails, there is one line or none."""
    script = os.path.join(LAB, "lab-explain")
    with tempfile.TemporaryDirectory() as d:
        mine, link, svg = (os.path.join(d, x) for x in ("x.pcap", "y", "z.svg"))
        doctor.save(mine, good())
        os.symlink(mine, link)
        before = os.path.getsize(mine)
        for to in (mine, link):
            rc, out, err = run("--svg", to, mine)
            assert rc == 2 and not out and "that is the capture" in err and err.count("\n") == 1, err
        with open(svg, "w", encoding="utf-8") as f:
            f.write("old")
        with capture([p for p in good() if p.proto == 6 and not p.flags & 2 and not p.payload]) as path:
            assert run("--svg", svg, path)[0] == 2
        with open(svg, encoding="utf-8") as f:
            assert f.read() == "old"
        rc, out, _ = run("--json", "--svg", svg, mine)
        assert rc == 0 and {"timeline", "stats", "checks", "diagram"} <= set(json.loads(out))
        assert len(xml.dom.minidom.parse(svg).getElementsByTagName("line")) > 50
        assert os.path.getsize(mine) == before and sorted(os.listdir(d)) == ["x.pcap", "y", "z.svg"], os.listdir(d)
        with open("/dev/full", "w", encoding="utf-8") as full:
            r = subprocess.run([sys.executable, script, mine], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert r.returncode == 2 and r.stderr == "lab-explain: output: No space left on device\n", r
        for more in ([], ["--checks"]):
            with subprocess.Popen([sys.executable, script, *more, mine], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
                p.stdout.close()
                assert p.stderr.read() == b"" and p.wait() == 2, more


def limits__hold_for_both():
    """--limit is the limit for rows of the timeline and for arrows of the diagram; 0: no limit."""
    ps = good()
    w = ps[doctor.only(ps)]
    i = doctor.find(ps, lambda p: p.roce and p.up == w.up and p.qpn == w.qpn and p.opcode != 0x11, -1)
    for n in range(1, 401):
        p = ps[i].copy()
        p.psn += n
        ps.append(p.seal())
    with capture(ps) as path:
        some, all_, few = (run("--diagram", *x, path)[1] for x in ([], ["--limit", "0"], ["--limit", "7"]))
    assert "more arrows" in some and "more arrows" not in all_ and all_.count("TEST LINK") > 400 and few.count("\n") < 20


def rows__fold():
    """Folded runs contain all frames; --all has a row for each; the number of rows left out is printed; parts can be chosen."""
    folded = verdicts(GOOD, "--timeline", "--checks")[2]["timeline"]
    all_ = verdicts(GOOD, "--timeline", "--checks", "--all")[2]["timeline"]
    count = lambda rows, kind: sum(r["count"] for r in rows if r["kind"] == kind)  # noqa: E731
    for kind in ("WRITE", "CDC", "ACK", "SYN", "CLC Accept", "CONFIRM LINK", "CM REQ", "READ response"):
        assert count(folded, kind) == count(all_, kind) > 0, kind
    assert len(folded) < len(all_) and sum(r["bytes"] for r in folded) == sum(r["bytes"] for r in all_)
    assert {r["frame"] for r in all_} == set(range(1, len(good()) + 1))
    _, out, _ = run("--timeline", "--limit", "5", GOOD)
    assert f"... {len(folded) - 5} more rows" in out and "== checks" not in out and "== statistics" not in out, out
    _, out, _ = run(GOOD)
    for part in ("== timeline", "== statistics", "== checks", "== sequence diagram"):
        assert part in out, part
    assert "CDC token" in out and "sending done" in out and "^ a client that can do SMC-R" in out
    with tempfile.NamedTemporaryFile(suffix=".svg") as f:
        assert run("--svg", f.name, "--checks", GOOD)[0] == 0
        drawn = xml.dom.minidom.parse(f.name).getElementsByTagName("line")
        arrows = [r for r in folded if r["kind"] not in ("ACK", "ack") and r["plane"] != "other"]
        assert len(drawn) == len(arrows) + 2, (len(drawn), len(arrows))


def psn__goes_round():
    """PSNs have 24 bits and wrap: the next one, a hole, its end, a repetition, a READ."""
    f = model.Flow(0xfffffe)
    assert [f.place(x) for x in (0xfffffe, 0xffffff, 0)] == [("new", 0)] * 3
    assert f.place(4) == ("gap", 3) and f.holes == [[1, 4]]
    assert f.place(2) == ("new", 0) and f.holes == [[1, 2], [3, 4]]
    assert f.place(2) == ("again", 0) and f.place(1) == f.place(3) == ("new", 0) and not f.holes
    assert f.place(0xfffffe) == ("again", 0) and f.again == 2
    f.reads = (4, (0x1000, 7, 65536))       # takes 16 numbers with packets of 4096 bytes
    assert f.place(5 + 15) == ("new", 0) and not f.holes
    f.reads = (20, (0x1000, 7, 65536))
    assert f.place(21 + 9) == ("gap", 9)
    # before the first one; and after many wraps
    f = model.Flow(5)
    assert [f.place(x)[0] for x in (4, 5, 4, 5)] == ["before", "new", "before", "again"]
    for i in range(6, 1 << 25, 1 << 22):
        f.place(i & 0xffffff)
        assert f.place(i & 0xffffff)[0] == "again", i


def holes__are_many():
    """Hundreds of packets that arrive late are no repetitions, and no check fails."""
    ps = good()
    w = ps[doctor.only(ps)]
    i = doctor.find(ps, lambda p: p.roce and p.up == w.up and p.qpn == w.qpn and p.opcode != 0x11, -1)
    last, c = ps[i], []
    for n in range(1, 401):
        p = last.copy()
        p.psn = last.psn + n
        # TEST LINK, which belongs to no connection
        p.data[54:98] = bytes((7, 44)) + bytes(42)
        c.append(p.seal())
    ps[i + 1:i + 1] = c[1::2] + c[::2]
    with capture(ps) as path:
        rc, v, record = verdicts(path)
    assert rc == 0 and sound(v) and record["stats"]["repeated"] == 0, (v, record["stats"]["repeated"])


def read__from_its_middle():
    """A READ whose last response was lost is repeated from that response on: no error, and no gap."""
    ps = [p.copy() for p in doctor.load(os.path.join(FIXTURES, "verbs.pcap.gz"))]
    r, a = doctor.find(ps, lambda p: p.opcode == 0x0c), doctor.find(ps, lambda p: p.opcode == 0x10)
    ask, answer = ps[r], ps[a]
    va = int.from_bytes(ask.data[54:62], "big")

    def request(psn, at, length):
        p = ask.copy()
        p.psn = psn
        p.data[54:62], p.data[66:70] = struct.pack(">Q", at), struct.pack(">I", length)
        return p.seal()

    def response(opcode, psn, length):
        p = answer.copy()
        p.data[42], p.data[43], p.psn = opcode, p.data[43] & 0xcf, psn
        p.data[54:] = (b"" if opcode == 0x0e else bytes((0, 0, 0, 1))) + bytes(length + 4)
        return p.seal()

    psn = ask.psn
    later = [p for p in ps[r + 1:] if p is not answer]
    for p in later:
        if p.roce and p.up == ask.up and p.qpn == ask.qpn and p.opcode != 0x11:
            p.psn += 2
            p.seal()
    head = ps[:r] + [request(psn, va, 10000), response(0x0d, psn, 4096), response(0x0e, psn + 1, 4096)]
    tail = [response(0x10, psn + 2, 1808)] + later
    for again, good_ in (((psn + 2, va + 8192, 1808), True), ((psn + 2, va + 8000, 2000), False)):
        with capture(head + [request(*again)] + tail) as path:
            rc, out, _ = run("--checks", "--stats", path)
        assert (rc == 0) == good_ and ("Repeated: 1" in out) == good_, (again, out)


def programs__are_read_beside_others():
    """rdmawire.py: packets that a kernel sends by itself are ignored, other frames are reported; no other check depends on them."""
    verbs = [p.copy() for p in doctor.load(os.path.join(FIXTURES, "verbs.pcap.gz"))]
    arp = doctor.Packet(1, 1, bytes(12) + b"\x08\x06" + bytes(28))
    mld = doctor.Packet(1, 1, bytes(12) + b"\x86\xdd" + bytes(6) + b"\0\1" + bytes(32) + b"\x3a" + bytes(23))
    igmp = doctor.Packet(1, 1, bytes(12) + b"\x08\x00\x46" + bytes(8) + b"\x02" + bytes(22))
    tcp = next(p for p in good() if p.flags is not None)
    old = doctor.Packet(1, 1, bytes(12) + b"\x89\x15" + bytes(60))
    port = next(p for p in verbs if p.opcode == 4).copy()
    port.data[36:38] = struct.pack(">H", 4790)
    heard = {}
    for name, more in (("none", []), ("background", [arp, mld, igmp]), ("tcp", [tcp]), ("rocev1", [old]), ("port", [port])):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            doctor.save(os.path.join(folder, "wire.pcap"), more + verbs)
            with open(os.path.join(folder, "x.out"), "w", encoding="utf-8"):
                pass
            rdmawire.Lab("x", folder).common(1)
        heard[name] = [line.split(":")[0].removeprefix("not ok ") for line in out.getvalue().splitlines() if line.startswith("not ok")]
    every, v1 = "every frame is UDP to port 4791", "none has EtherType 0x8915, that of RoCEv1"
    # the port is rping's, not that of the programs
    rest = heard["none"]
    assert every not in rest and v1 not in rest and len(rest) <= 3, rest
    assert heard == {"none": rest, "background": rest, "tcp": [every] + rest, "rocev1": [every, v1] + rest, "port": [every] + rest}, heard


def marker__across_packets():
    """A marker that is split between two packets is found, and counted once."""
    m = bytes(range(16))
    a = Analysis([m], lambda e: None)
    tails = {True: b""}
    for part in (b"xx" + m[:7], m[7:] + b"yy", b"", m, m[:8]):
        a._mark(part, tails, True, None, False)  # pylint: disable=protected-access
    assert a.found[m][0] == 2, a.found


if __name__ == "__main__":
    # in parallel, as each waits for tshark
    ktap.main(os.cpu_count(), [ktap.named("fixture " + doctor.name_of(w), functools.partial(fixture, doctor.name_of(w)))
                               for w in doctor.WOUNDS + doctor.MOVED])
