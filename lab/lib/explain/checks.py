# SPDX-License-Identifier: GPL-2.0
"""The checks: what must hold, how often it was judged, and where it did not hold."""

from collections import OrderedDict

NO_SMC = "no SMC-R in this capture"
NO_RDMA = "no RoCE packet in this capture"
CHECKS = (
    ("dissected", "every frame is dissected, none is malformed or cut", "no frame"),
    ("no-rocev1", "no frame has EtherType 0x8915, which is RoCEv1", NO_RDMA),
    ("udp-4791", "RoCE goes to UDP port 4791 only", NO_RDMA),
    ("syn-option", "SYN and SYN-ACK carry TCP option 254 with ExID e2d4c3d9", NO_SMC),
    ("clc-order", "CLC: Proposal, Accept, Confirm, or a Decline instead", NO_SMC),
    ("confirm-link", "CONFIRM LINK and its reply come before the first CDC and WRITE of a link", NO_SMC),
    ("dest-qp", "packets go to queue pairs that CLC or ADD LINK have named", NO_SMC),
    ("rkey-range", "WRITEs stay within memory that CLC or CONFIRM RKEY have announced", NO_SMC),
    ("opcodes", "SMC-R uses opcodes 0x00-0x02, 0x04, 0x06-0x08, 0x0a and 0x11 only", NO_SMC),
    ("psn", "PSNs are contiguous modulo 2^24, repetitions aside", "no request of a reliable connection"),
    ("cdc-after-write", "no CDC announces what was not written before it, or takes it back", NO_SMC),
    ("cdc-seq", "CDC sequence numbers of a connection are 1, 2, 3...", NO_SMC),
    ("failover-first", "a connection begins on another link with a CDC that has the flag F", NO_SMC),
    ("failover-seq", "that CDC has the sequence number of one that the old link has delivered", NO_SMC),
    ("failover-left", "nothing of a connection is on a link that it has left", NO_SMC),
    ("failover-again", "data are written again from the first byte on that was not confirmed, and none before it", NO_SMC),
    ("tcp-quiet", "no byte of the application is on TCP of an SMC-R connection", NO_SMC),
    ("cm-order", "connection manager: REQ, REP, RTU, by datagrams to queue pair 1", "no connection manager packet"),
    ("marker", "the markers are in RDMA payload and nowhere on TCP", "no --marker given"),
)


class Check:
    """A condition that must hold, how often it was judged, and where it did not hold."""

    def __init__(self, name, text, absent):
        self.name, self.text, self.absent = name, text, absent
        self.seen, self.bad, self.first, self.notes = 0, 0, [], OrderedDict()

    def judge(self, ok, at=None, why="", weight=1):
        """Count a judgment; the places of the first five failures are kept."""
        self.seen += weight
        if not ok:
            self.bad += 1
            if len(self.first) < 5:
                self.first.append(f"frame {at}: {why}" if at else why)

    def note(self, text, example=""):
        """A remark about the verdict, with its number and the first place."""
        self.notes.setdefault(text, [0, example])[0] += 1

    def verdict(self):
        """The verdict; ok only if anything was judged."""
        return "FAILED" if self.bad else "ok" if self.seen else "n/a"

    def record(self):
        """The check as an object for JSON."""
        return {"name": self.name, "verdict": self.verdict(), "text": self.text, "judged": self.seen, "failed": self.bad,
                "where": self.first, "notes": [f"{t} ({n} times, first: {x})" if x else t for t, (n, x) in self.notes.items()],
                "why": "" if self.seen or self.bad else self.absent}
