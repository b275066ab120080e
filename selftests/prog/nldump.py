#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Dumps of AF_SMC sockets while sockets come and go, by raw netlink.

  nldump.py churn N     N sockets that stay appear exactly once in a dump, while
                        others are made and closed between its messages; such a dump
                        has NLM_F_DUMP_INTR, one without changes does not
  nldump.py noise N     N sockets, of which one is closed and one made, for ever
  nldump.py cost N      the time of a dump grows with N, not with its square
"""
import os
import socket
import struct
import sys
import time

NLMSG_ERROR, NLMSG_DONE, DUMP_INTR = 2, 3, 0x10
CONN_GET, A_CONN, A_CONN_INODE = 2, 7, 12


def attrs(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3fff, data[4:length]
        data = data[(length + 3) & ~3:]


class Netlink:
    def __init__(self):
        self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.s.bind((0, 0))
        self.family = 16
        name = b"smcr\0"
        for _, msg in self.dump(16, struct.pack("=BBHHH", 3, 1, 0, 4 + len(name), 2) + name, 1):
            self.family = [struct.unpack("=H", v)[0] for k, v in attrs(msg) if k == 1][0]

    def dump(self, family, body, flags=0x301, between=lambda: None):
        body = body.ljust((len(body) + 3) & ~3, b"\0")
        self.s.send(struct.pack("=IHHII", 16 + len(body), family, flags, 1, 0) + body)
        while True:
            data = self.s.recv(4096)
            between()
            while data:
                length, kind, fl, _, _ = struct.unpack_from("=IHHII", data)
                if kind == NLMSG_ERROR:
                    sys.exit(f"netlink: {struct.unpack_from('=i', data, 16)[0]}")
                if kind != NLMSG_DONE:
                    yield fl, data[20:length]
                else:
                    yield fl, b""
                if kind == NLMSG_DONE or not fl & 2:
                    return
                data = data[(length + 3) & ~3:]

    def inodes(self, between=lambda: None):
        """The inodes of all sockets, and whether the dump was interrupted"""
        found, broken = [], False
        for flags, msg in self.dump(self.family, struct.pack("=BBH", CONN_GET, 1, 0),
                                    between=between):
            broken = broken or bool(flags & DUMP_INTR)
            for kind, conn in attrs(msg):
                if kind == A_CONN:
                    found += [struct.unpack("=Q", v)[0] for k, v in attrs(conn)
                              if k == A_CONN_INODE]
        return found, broken


def make(n):
    return [socket.socket(43, socket.SOCK_STREAM, 0) for _ in range(n)]


def churn(nl, n):
    bad = 0
    older, stay, newer = make(40), make(n), make(40)
    others = older + newer
    want = {os.fstat(s.fileno()).st_ino for s in stay}
    found, broken = nl.inodes()
    if broken or len(found) != n + 80:
        sys.exit(f"at rest: {len(found)} of {n + 80} sockets, interrupted: {broken}")

    def some():
        for _ in range(5):
            others.pop(0).close()
        others.extend(make(7))
        others.pop().close()

    found, broken = nl.inodes(some)
    missing = want - set(found)
    twice = [i for i in want if found.count(i) > 1]
    print(f"{n} stay: {len(missing)} missing, {len(twice)} twice, "
          f"{len(found)} shown, interrupted: {broken}")
    if missing or twice or not broken:
        bad = 1
    sys.exit(bad)


def cost(nl, n):
    """Compare the times of the last eighth of a dump's messages with those of the
    first eighth. All are of the same size, and the lower quartile counts: a busy
    machine that delays some of them does not change it."""
    keep = make(n)
    first, last = [], []
    for _ in range(5):
        stamps = [time.perf_counter()]
        nl.inodes(lambda: stamps.append(time.perf_counter()))
        times = [b - a for a, b in zip(stamps, stamps[1:])][1:-1]
        eighth = len(times) // 8
        if eighth < 20:
            sys.exit(f"only {len(times)} messages for {len(keep)} sockets")
        first += times[:eighth]
        last += times[-eighth:]
    first, last = (sorted(x)[len(x) // 4] for x in (first, last))
    print(f"{n} sockets: {first * 1e6:.0f} us for one of the first messages, {last * 1e6:.0f} us "
          f"for one of the last, {last / first:.1f}-fold")
    sys.exit(last > 2.5 * first)


def noise(_, n):
    socks = make(n)
    print("up", flush=True)
    while True:
        socks.pop(0).close()
        socks += make(1)


{"churn": churn, "cost": cost, "noise": noise}[sys.argv[1]](Netlink(), int(sys.argv[2]))
