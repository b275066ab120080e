#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of lab/lab-report: the arithmetic, the verdicts, the page. Prints KTAP."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
sys.dont_write_bytecode = True

import ktap  # noqa: E402  pylint: disable=wrong-import-position
import labhtml  # noqa: E402  pylint: disable=wrong-import-position
import labreport  # noqa: E402  pylint: disable=wrong-import-position


def lab_points(after=30.0, within=30.0, **mbs):
    """Points of three runs of 1 GiB, in order; one run is 10 % faster and one 20 % slower than the others."""
    def ceiling(phase, value, run=0, nth=0):
        return {"what": "ceiling", "phase": phase, "tool": "ib_write_bw", "size": 65536, "nth": nth, "run": run,
                "impl": "perftest", "value": value}
    skewed = tuple(enumerate((.9, 1.0, 4.0)))           # one of them is an outlier
    out = [ceiling("before", 30.0 * part, nth=n) for n, part in skewed]
    for run, part in ((1, 1.1), (2, 1.0), (3, .8)):
        for name, speed in mbs.items():
            impl, more = labreport.SERIES[name][:2]
            out.append(ceiling("run", within * part, run))
            out.append({"what": "file", "impl": impl, "phase": "run", "run": run, "size": 1 << 30, "sha256": "a", "cpu_client": 3.0,
                        "cpu_server": 4.0, "seconds": 1073.741824 / (speed * part), "mbs": speed * part, **more})
    return out + [ceiling("after", after / part, nth=n) for n, part in skewed]


def lab_data(points, runs=3, names=("smcr",)):
    """A report as labreport makes it."""
    series, ceiling = labreport.series_of(points, "a"), labreport.ceiling_of(points)
    return {"lab": 1, "time": "now", "revision": "smcr x", "kernel": "6.12", "size": 1 << 30, "runs": runs, "quick": False, "took": 60.0,
            "write": 1 << 20, "chunk": 4 << 20, "guest": {}, "series": series, "ceiling": ceiling,
            "machine": {"cpu": "a<b", "cpus": 2, "memory_mib": None, "kernel": "6", "qemu": None, "load_before": (1, 1, 1),
                        "load_after": (2, 2, 2)},
            "table": labreport.table_of(points), "targets": labreport.targets_of(series, ceiling, runs),
            "void": labreport.why_void(series, ceiling, runs, names), "notes": [], "taken_again": []}


def report__sizes():
    """A unit is used only if the number is exact and short."""
    assert [labhtml.human(n) for n in (1 << 30, 3 << 19, 65536, 65535, 64, 1536)] == [
        "1 GiB", "1.5 MiB", "64 KiB", "65,535 B", "64 B", "1.5 KiB"]


def report__medians():
    """Median and spread; None without values; the two kinds of TCP are separate series."""
    assert labreport.spread([3, None, 1, 2]) == {"median": 2, "min": 1, "max": 3, "n": 3}
    assert labreport.spread([]) is None and labreport.spread([None]) is None
    s = labreport.series_of(lab_points(tcp=100.0, **{"tcp-noseg": 40.0}), "a")
    assert [(n, x["mbs"]["median"], x["mbs"]["n"]) for n, x in s.items()] == [("tcp", 100.0, 3), ("tcp-noseg", 40.0, 3)], s
    assert s["tcp"]["cpu_receiver"]["median"] == 4.0 and s["tcp"]["setup"] is None


def report__pairs():
    """Ratios are of values measured together: what slows both sides does not change them."""
    series = labreport.series_of(lab_points(smcr=29.0, intree=25.0), "a")
    # After the last transfer of a run, the next ceiling is the first one of the next run, a lower one; after all runs, 30 / 0.9.
    assert [round(v["ceiling"], 3) for v in series["smcr"]["values"]] == [33.0, 30.0, 24.0], series["smcr"]
    assert [round(v["ceiling"], 3) for v in series["intree"]["values"]] == [31.5, 27.0, round((24 + 30 / .9) / 2, 3)]
    assert abs(series["smcr"]["of_ceiling"]["median"] - 29 / 30) < 1e-9
    ratio = labreport.paired(*(labreport.by_run(series[n]["values"], "mbs") for n in ("smcr", "intree")))
    assert abs(ratio["min"] - 29 / 25) < 1e-9 and abs(ratio["max"] - 29 / 25) < 1e-9, ratio
    assert labreport.paired({1: 10.0, 2: 10.0}, {2: 5.0, 3: 1.0}) == {"median": 2.0, "min": 2.0, "max": 2.0, "n": 1}
    assert labreport.paired({}, {1: 1.0}) is None
    alone = [p for p in lab_points(smcr=29.0) if p["what"] == "file"]
    assert labreport.series_of(alone, "a")["smcr"]["of_ceiling"] is None


def report__void():
    """A report is void if the median of the ceiling moves by more than 10 %, or if runs are missing or wrong."""
    assert labreport.moved([20, 30, 90], [30, 31, 29]) == 0 and labreport.moved([], [1]) is None
    assert labreport.moved([100], [], [100]) is None and labreport.moved([100], [40], [100]) == 1.5
    for within, void in ((32.9, False), (33.1, True), (27.4, False), (26.9, True), (12.0, True)):
        d = lab_data(lab_points(within=within, smcr=29.0))
        assert bool(d["void"]) == void and [t["held"] for t in d["targets"] if t["id"] == "L7"] == [not void], (within, d["void"])
    for after, void in ((32.9, False), (33.1, True), (27.1, False), (26.9, True)):
        d = lab_data(lab_points(after=after, smcr=29.0))
        assert bool(d["void"]) == void and [t["held"] for t in d["targets"] if t["id"] == "L7"] == [not void], (after, d["void"])
    assert lab_data(lab_points(smcr=29.0), 4)["void"] == ["AF_SMC, smcr: 3 of 4 runs are valid"]
    d = lab_data(lab_points(smcr=29.0), 3, ("smcr", "intree"))
    assert d["void"] == ["AF_SMC, in-tree: 0 of 3 runs are valid", "not measured: " + d["targets"][1]["text"]], d["void"]
    points = lab_points(smcr=29.0)
    [p for p in points if p["what"] == "file"][-1]["sha256"] = "b"
    d = lab_data(points)
    assert len(d["void"]) == 1 and "something else arrived" in d["void"][0] and d["targets"][4]["held"] is False
    for phase in ("before", "run", "after"):
        d = lab_data([p for p in lab_points(smcr=29.0) if p["what"] != "ceiling" or p["phase"] != phase])
        assert "not measured before, within the runs and after" in d["void"][0] and f"0 {phase}" in d["void"][0], d["void"]
    d = lab_data([p for p in lab_points(smcr=29.0, intree=29.0) if (p["what"], p.get("impl"), p["run"]) not in
                  (("file", "smcr", 3), ("file", "intree", 1), ("file", "intree", 2))], 1, ("smcr", "intree"))
    assert d["void"] == ["not measured: " + d["targets"][1]["text"]], "no run has both, " + str(d["void"])


def report__targets():
    """A target that is missed is False; one that was not measured, or not on a quiet machine, is None."""
    held = lambda d: [t["held"] for t in d["targets"][:2]]  # noqa: E731
    assert held(lab_data(lab_points(smcr=26.9, intree=27.0))) == [False, False]
    assert held(lab_data(lab_points(smcr=29.0, intree=27.0))) == [True, True]
    assert held(lab_data(lab_points(smcr=29.0))) == [True, None]
    assert held(lab_data(lab_points(intree=27.0))) == [None, None]
    assert held(lab_data(lab_points(after=20.0, smcr=29.0, intree=27.0))) == [None, None], "judged although void"


def report__status():
    """Exit status: void 1; missed targets 3 if they are required; a target that was not measured is not missed."""
    missed, held = lab_data(lab_points(smcr=20.0)), lab_data(lab_points(smcr=29.0))
    assert [labreport.status(missed, r) for r in (False, True)] == [0, 3]
    assert [labreport.status(held, r) for r in (False, True)] == [0, 0]
    assert labreport.status(lab_data(lab_points(smcr=20.0, within=12.0)), True) == 1


def report__renders():
    """Both reports are made whatever series is missing, name what is missing, and escape text from outside."""
    everything = {"smcr": 29.0, "intree": 25.0, "smcr-512k": 29.5, "intree-512k": 26.0, "verbs": 30.0, "tcp": 90.0, "tcp-noseg": 30.0}
    explained = '{"checks": [{"verdict": "FAILED", "text": "PSN", "where": ["frame 3"]}, {"verdict": "ok", "text": "CLC", "judged": 2}]}'
    for drop in [None, *everything]:
        points = lab_points(**{k: v for k, v in everything.items() if k != drop})
        d = lab_data(points, 3, everything)
        page, text = labhtml.html(d, {}), labhtml.markdown(d, {})
        for name, (_, _, label, *_) in labreport.SERIES.items():
            assert (f"<b>{label}</b>" in page) == (name != drop) and (f"| {label} |" in text) == (name != drop), (drop, name)
        assert ("Void: " in page and "Void: " in text) == (drop is not None), drop
        assert "a&lt;b" in page and "a<b" not in page and "<img" not in page
    page = labhtml.html(d, {"plot-cpu.svg": "<svg/>", "timeline.txt": "1 <SYN>", "explain.json": explained})
    assert page.count("<img") == 1 and "1 &lt;SYN&gt;" in page and "PSN (frame 3)" in page and ">FAILED<" in page
    assert labhtml.checks_of({"explain.json": explained}) == [(False, "PSN (frame 3)"), (True, "CLC (2 times)")]
    assert labhtml.checks_of({"explain.json": "{"}) == [] and labhtml.checks_of({}) == []
    nothing = lab_data([])
    assert nothing["void"] and "not judged" in labhtml.html(nothing, {}) and labhtml.markdown(nothing, {})


def report__files():
    """A file that is no report, or a folder that is not writable: one line, exit status 2, and no file is changed."""
    def complaint(*args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), unittest.mock.patch("sys.argv", ["", *args]):
            assert labreport.main() == 2, args
        assert not out.getvalue() and err.getvalue().count("\n") == 1, (args, out.getvalue(), err.getvalue())
        return err.getvalue()

    good = json.dumps(lab_data(lab_points(smcr=29.0)))
    files = {"good": good, "empty": "", "braces": "{}", "list": "[1]", "text": "no JSON", "bench": '{"runs": 3, "series": {}}',
             "lab": '{"lab": 1}', "other": good.replace('"lab": 1', '"lab": 2'), "cut": good[:-20],
             "torn": good.replace('"median"', '"mode"'), "binary": "\udc80"}
    with tempfile.TemporaryDirectory() as tmp:
        for name, text in files.items():
            with open(os.path.join(tmp, name), "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(text)
        out = os.path.join(tmp, "out")
        for name in [*list(files)[1:], "", "missing", "empty/below"]:
            for more in ([], ["--check"]):
                said = complaint("--render", os.path.join(tmp, name), "--out", out, *more)
                assert said.startswith("lab-report: --render ") and not os.path.exists(out), (name, said)
        complaint("--render=", "--out", out)
        for where in ("empty", "empty/below", "/proc/none"):
            where = os.path.join(tmp, where)
            for args in (["--check"], ["--render", os.path.join(tmp, "good")]):
                assert f"--out: {where}: " in complaint(*args, "--out", where), where
        os.makedirs(os.path.join(out, "report.md"))
        assert "report.md: " in complaint("--check", "--out", out) and os.listdir(out) == ["report.md"]
        os.rmdir(os.path.join(out, "report.md"))
        r = subprocess.run([os.path.join(os.path.dirname(HERE), "lab-report"), "--render", os.path.join(tmp, "good"), "--out", out],
                           capture_output=True, text=True, check=False)
        assert r.returncode == 0 and {"report.json", "report.md", "report.html"} <= set(os.listdir(out)), r
        with open(os.path.join(out, "report.json"), encoding="utf-8") as f:
            assert json.load(f) == json.loads(good)


if __name__ == "__main__":
    ktap.main()
