# SPDX-License-Identifier: GPL-2.0
"""The command line of lab-explain."""

import argparse
import contextlib
import json
import os
import sys
import time

from .analysis import Analysis
from .capture import BadInput, tshark
from .output import Diagram, Printer, Timeline, links_of, print_checks, print_links, print_stats, stats_of

ROWS, LINES, JSON_ROWS = 2000, 300, 100000      # limits: timeline, diagram, either in JSON


@contextlib.contextmanager
def picture(path, capture):
    """Yields a list whose strings become the file, at the end; an older file is replaced in one step, or stays if there is an
    error."""
    drawn, new = [], path
    try:
        if os.path.exists(path) and os.path.samefile(path, capture):
            raise BadInput(f"--svg {path}: that is the capture")
        if not os.path.exists(path) or os.path.isfile(path):
            new = f"{os.path.realpath(path)}.{os.getpid()}"
        f = open(new, "w", encoding="utf-8")  # pylint: disable=consider-using-with
    except OSError as e:
        raise BadInput(f"--svg {path}: {e.strerror}") from e
    try:
        yield drawn
        try:
            with f:
                f.write("".join(drawn))
            if new != path:
                os.replace(new, os.path.realpath(path))
        except OSError as e:
            raise BadInput(f"--svg {path}: {e.strerror}") from e
    except BaseException:
        f.close()
        if new != path:
            os.unlink(new)
        raise


def explain(path, args, title):
    """Explain one file. Returns the exit status."""
    if not os.path.isfile(path):
        raise BadInput("no such file" if not os.path.exists(path) else "not a file")
    if not os.access(path, os.R_OK):
        raise BadInput("cannot be read")
    if not os.path.getsize(path):
        raise BadInput("an empty file")
    with picture(args.svg, path) if args.svg else contextlib.nullcontext([]) as drawn:
        checks, broken = tell(path, args, title, drawn)
    if broken:
        raise BadInput(broken)
    return 1 if any(c["verdict"] == "FAILED" for c in checks) else 0


def tell(path, args, title, drawn):
    """Analyse the file and print the result. Returns the checks, and the error if the file is broken."""
    rows, diagram = [], Diagram(args.arrows)
    printer = Printer(args.limit)
    listeners = []
    if args.timeline and args.json:
        listeners.append(lambda row: rows.append(row) if len(rows) < JSON_ROWS else None)
    if args.timeline and not args.json:
        listeners.append(printer)
    if args.diagram or args.svg:
        listeners.append(diagram)
    count = [0]

    def out(row):
        count[0] += 1
        for call in listeners:
            call(row)

    line = Timeline(not args.all, out)
    a = Analysis(args.marker, line if listeners else lambda e: None)
    a.cut = args.cut
    if not args.json:
        print(f"{'' if not title else chr(10)}{path}")
    if args.timeline and not args.json:
        print("\n== timeline")
    began, said, broken = time.time(), time.time(), None
    try:
        for f in tshark(path):
            a.frame(f)
            if not f.at % 1000 and time.time() - said > 5:
                said = time.time()
                say(f"{path}: {f.at} frames, {f.at / (said - began):.0f} per second")
    except BadInput as e:
        if not a.frames:
            raise
        broken = str(e)
    line.flush()
    printer.end()
    if not a.smc and not a.opcodes and not any(c.bad for c in a.checks.values() if c.name == "no-rocev1"):
        raise BadInput(broken or f"no RDMA packet and no SMC-R handshake among its {a.frames} frames "
                       f"({a.stats['TCP'][0]} TCP): nothing to explain")
    a.finish()
    s, checks = stats_of(a), [c.record() for c in a.checks.values()]
    if args.json:
        record = {"file": path, "complete": not broken, "error": broken}
        if args.timeline:
            record.update(timeline=rows, timeline_rows=count[0])
            if count[0] > len(rows):
                say(f"{path}: the first {len(rows)} rows of the timeline, {count[0] - len(rows)} are left out")
        if args.stats:
            record["stats"] = s
        if args.links:
            record["groups"] = links_of(a)
        if args.checks:
            record["checks"] = checks
        if args.diagram:
            record["diagram"] = diagram.text()
        json.dump(record, sys.stdout, indent=1)
        print()
    else:
        if args.stats:
            print("\n== statistics")
            print_stats(s)
        if args.links:
            print("\n== links")
            print_links(links_of(a))
        if args.checks:
            print("\n== checks")
            print_checks(checks)
        if args.diagram:
            print("\n== sequence diagram (acknowledgments left out)")
            print("\n".join(diagram.text()))
    if args.svg:
        drawn.append(diagram.svg())
        if diagram.more:
            say(f"{args.svg}: the first {diagram.limit} arrows, {diagram.more} are left out")
    return checks, broken


def say(text):
    """Print a message on stderr."""
    print(f"lab-explain: {text}", file=sys.stderr, flush=True)


def marker(text):
    """A marker from text: 16 bytes in hexadecimal."""
    try:
        m = bytes.fromhex(text)
    except ValueError:
        m = b""
    if len(m) != 16:
        raise argparse.ArgumentTypeError(f"not 16 bytes in hexadecimal: {text}")
    return m


def main(argv=None):
    """The command line. Returns the exit status."""
    p = argparse.ArgumentParser(prog="lab-explain", description=(
        "Explains a capture of SMC-R or of plain RDMA on Ethernet (RoCEv2), and checks it. "
        "All parts are shown unless some are chosen."), epilog=(
        "Exit status: 0 all checks hold that are applicable, 1 a check failed, 2 wrong usage, or a file that cannot be read "
        "or has nothing of RDMA in it, or output that cannot be written. Documentation/rdma-lab/captures.rst explains the output."))
    p.add_argument("file", nargs="+", help="pcap or pcapng")
    for name, what in (("timeline", "what happened, in order"), ("stats", "packets and bytes per plane"),
                       ("links", "links of each group, RTokens, and connections that changed links"),
                       ("checks", "what must hold, and does it?"), ("diagram", "arrows between the hosts")):
        p.add_argument("--" + name, action="store_true", help=what)
    p.add_argument("--all", action="store_true", help="one row per frame instead of folded runs")
    p.add_argument("--limit", type=int, metavar="N", help="rows of the timeline and arrows of the diagram; 0 is no limit "
                   f"(default {ROWS} and {LINES}; with --all no limit of rows)")
    p.add_argument("--marker", type=marker, action="append", default=[], metavar="HEX",
                   help="16 bytes that must be in RDMA payload and not on TCP (repeatable)")
    p.add_argument("--cut", action="store_true", help="WRITEs of which only the headers, and the beginning of their payload, were captured are no error")
    p.add_argument("--svg", metavar="FILE", help="the diagram as a picture (one capture only)")
    p.add_argument("--json", action="store_true", help="for programs: one object per file")
    args = p.parse_args(argv)
    if args.svg and len(args.file) > 1:
        p.error("--svg takes one capture")
    args.arrows = LINES if args.limit is None else args.limit
    if args.limit is None:
        args.limit = 0 if args.all else ROWS
    if args.limit < 0:
        p.error("--limit: not below 0")
    parts = ("timeline", "stats", "links", "checks", "diagram")
    if not any(getattr(args, x) for x in parts):
        for x in parts:
            setattr(args, x, True)
    try:
        status = explain_all(args)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        say("interrupted")
    except BrokenPipeError:             # the reader of the output has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        say(f"output: {e.strerror}")
    return 2


def explain_all(args):
    """Explain all files, also those after one that is broken. Returns the exit status."""
    status = 0
    for i, path in enumerate(args.file):
        try:
            rc = explain(path, args, i)
        except BadInput as e:
            sys.stdout.flush()
            say(f"{path}: {e}")
            rc = 2
        status = max(status, rc)
    return status
