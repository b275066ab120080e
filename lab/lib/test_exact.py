#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of lab/bench --exact: what the gate lets through, the figures, the profile's sums. Prints KTAP."""

import contextlib
import io
import os
import sys
import tempfile
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
sys.dont_write_bytecode = True

import exact  # noqa: E402  pylint: disable=wrong-import-position
import ktap  # noqa: E402  pylint: disable=wrong-import-position


def lane(folder, us, *args):
    """A lane that has measured smcr: {point: us}."""
    with unittest.mock.patch("sys.argv", ["", "--exact", *args]):
        e = exact.Exact(exact.arguments())
    e.figures_path = os.path.join(folder, "figures.json")
    e.values = {("smcr", p): [{"us": v, "insns": v * 500}] for p, v in us.items()}
    e.about = lambda: {"kernel": "k", "qemu": "q"}
    return e


def judged(e):
    """The exit status of the gate, and the points that it names as failed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        rc = e.gate()
    return rc, [line.split(" ", 3)[3].split(" #")[0] for line in out.getvalue().splitlines() if line.startswith("not ok")]


def exact__gate():
    """More than 3 % dearer fails, and so does a point without a figure; what is known to be unsteady is only shown."""
    good = {p: 100.0 for p in exact.POINTS}
    with tempfile.TemporaryDirectory() as d:
        try:
            lane(d, good).gate()
            raise AssertionError("passed without figures")
        except exact.LabError as e:
            assert "no figures" in str(e)
        with contextlib.redirect_stdout(io.StringIO()):
            lane(d, good, "--update", "--impls", "smcr").update()
        assert judged(lane(d, good)) == (0, [])
        assert judged(lane(d, {p: 102.9 for p in good})) == (0, [])
        assert judged(lane(d, good | {("rtt", 64): 103.1})) == (1, ["rtt 64 B"])
        assert judged(lane(d, good | {("bulk", 1024): 150.0, ("conn", 16): 150.0})) == (0, [])
        assert judged(lane(d, good | {("conn", 1): 150.0, ("rtt", 4096): 50.0})) == (1, ["conn 1"])
        with unittest.mock.patch.object(exact, "POINTS", exact.POINTS + [("rtt", 7)]):
            assert judged(lane(d, good | {("rtt", 7): 1.0})) == (1, ["rtt 7 B"])


def exact__figures():
    """What is written reads back; implementations that were not measured keep their figures."""
    with tempfile.TemporaryDirectory() as d, contextlib.redirect_stdout(io.StringIO()):
        first = lane(d, {("rtt", 64): 1.5, ("conn", 1): 7.0}, "--update", "--impls", "tcp,smcr")
        first.values[("tcp", ("rtt", 64))] = [{"us": 2.0, "insns": 1000}]
        first.update()
        lane(d, {("rtt", 64): 3.0}, "--update", "--impls", "smcr").update()
        known = first.figures()
        assert known["about"] == {"kernel": "k", "qemu": "q"}
        assert known["us and instructions per operation"] == {"tcp": {"rtt 64": [2.0, 1000]}, "smcr": {"rtt 64": [3.0, 1500]}}, known


def exact__other_software():
    """Figures of another kernel or QEMU are not compared with: their commit's module is."""
    with tempfile.TemporaryDirectory() as d, contextlib.redirect_stdout(io.StringIO()):
        lane(d, {("rtt", 64): 1.0}, "--update").update()
        e = lane(d, {("rtt", 64): 1.0})
        e.about = lambda: {"kernel": "k", "qemu": "another"}
        with unittest.mock.patch.object(exact, "git", lambda *_: ""):
            try:
                e.gate()
                raise AssertionError("compared with what does not compare")
            except exact.LabError as err:
                assert "another qemu" in str(err)


def exact__profile():
    """Blocks belong to the function before them; modules and programs are summed."""
    syms = ([0xffffffff81000000, 0xffffffff81000100, 0xffffffffc0000000], ["a", "b", "c [smcr]"])
    line = {"series": "smcr", "what": "rtt", "size": 64, "n": 10}
    text = exact.report(line, [(0x400000, 100), (0xffffffff81000000, 200), (0xffffffff810000ff, 300), (0xffffffffc0000040, 400)], syms)
    assert "100 instructions per operation: kernel 50.0 %, smcr 40.0 %, programs 10.0 %" in text, text
    assert [l.split() for l in text.splitlines()[1:]] == [["50", "50.0", "%", "a"], ["40", "40.0", "%", "c", "[smcr]"],
                                                         ["10", "10.0", "%", "programs"]], text


if __name__ == "__main__":
    ktap.main()
