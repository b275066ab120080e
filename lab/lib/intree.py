#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sets up the kernel's own smc.ko, which the benchmarks compare with.

    intree.py setup NETDEV IBDEV    what it needs to use soft RoCE: one physical
                                    network ID for both devices, one user EID
    intree.py stats                 its counters, as JSON

Generic netlink with the standard library alone, written from the description
of the module's user-space interface; needs root and a loaded smc.ko.
"""

import errno
import json
import os
import socket
import struct
import sys

NAME = "SMCRLAB"            # network ID and user EID; the same in both guests
GENL_CTRL, CTRL_GETFAMILY = 16, 3
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
SO_NETNS_COOKIE = 71


def attr(number, data):
    """One attribute, padded."""
    return struct.pack("=HH", 4 + len(data), number) + data + bytes(-len(data) % 4)


def attrs(data):
    """{number: payload}; of repeated attributes the last."""
    found = {}
    while len(data) >= 4:
        length, number = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[number & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


class Family:
    """A generic netlink family by name."""

    def __init__(self, name):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.bind((0, 0))
        self.seq = 0
        self.number = GENL_CTRL
        got = self.ask(CTRL_GETFAMILY, attr(2, name.encode() + b"\0"), version=2)
        self.number = struct.unpack("=H", got[0][1][:2])[0]

    def ask(self, cmd, body=b"", dump=False, version=1):
        """Send a request; returns the attributes of every answer."""
        self.seq += 1
        flags = NLM_F_REQUEST | (NLM_F_DUMP if dump else NLM_F_ACK)
        genl = struct.pack("=BBH", cmd, version, 0) + body
        self.sock.send(struct.pack("=IHHII", 16 + len(genl), self.number, flags, self.seq, 0) + genl)
        answers = []
        while True:
            data = self.sock.recv(1 << 17)
            while len(data) >= 16:
                length, kind, _, seq, _ = struct.unpack_from("=IHHII", data)
                body, data = data[16:length], data[(length + 3) & ~3:]
                if seq != self.seq:
                    continue
                if kind == NLMSG_ERROR:
                    code = -struct.unpack_from("=i", body)[0]
                    if code:
                        raise OSError(code, os.strerror(code))
                    return answers
                if kind == NLMSG_DONE:
                    return answers
                answers.append(attrs(body[4:]))


def setup(netdev, ibdev):
    """Set network ID and user EID. They are the same in both guests, which makes version 2 over RoCEv2 possible."""
    text = lambda s: s.encode() + b"\0"  # noqa: E731
    pnet, smc = Family("SMC_PNETID"), Family("SMC_GEN_NETLINK")
    for family, cmd, body in (
            (pnet, 2, attr(1, text(NAME)) + attr(2, text(netdev))),
            (pnet, 2, attr(1, text(NAME)) + attr(3, text(ibdev)) + attr(4, b"\1")),
            (smc, 10, attr(1, text(NAME.ljust(32))))):
        try:
            family.ask(cmd, body)
        except OSError as e:
            if e.errno != errno.EEXIST:
                raise


def groups():
    """How many link groups this network namespace has; the module lists those of all."""
    smc = Family("SMC_GEN_NETLINK")
    cookie = smc.sock.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
    return sum(attrs(answer.get(2, b"")).get(9) == cookie for answer in smc.ask(2, dump=True))


def stats():
    """Connections by kind, fallbacks, failed handshakes."""
    def number(a, n):
        return int.from_bytes(a.get(n, b""), sys.byteorder)

    smc = Family("SMC_GEN_NETLINK")
    out = {"client": 0, "server": 0, "client-v1": 0, "fallbacks": 0, "errors": 0, "reasons": {}}
    for answer in smc.ask(7, dump=True):
        st = attrs(answer.get(7, b""))
        tech = attrs(st.get(2, b""))
        out["client-v1"] += number(tech, 7)
        out["client"] += number(tech, 7) + number(tech, 8)
        out["server"] += number(tech, 9) + number(tech, 10)
        out["errors"] += number(st, 3) + number(st, 4)
    for answer in smc.ask(8, dump=True):
        st = attrs(answer.get(8, b""))
        out["fallbacks"] += number(st, 2) + number(st, 3)
        if number(st, 5):
            out["reasons"][f"{number(st, 4):#010x}"] = number(st, 5)
    return out


def main():
    """The command line."""
    if len(sys.argv) == 4 and sys.argv[1] == "setup":
        setup(*sys.argv[2:])
    elif sys.argv[1:] == ["stats"]:
        print(json.dumps(stats()))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
