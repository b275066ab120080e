# SPDX-License-Identifier: GPL-2.0
"""The comparison of labreport.py as HTML and as Markdown.

Everything comes from report.json and the files beside it; what was not
measured is left out or marked as missing.
"""

import base64
import html as escape_html
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../selftests/lib")]
from lab import human  # noqa: E402  pylint: disable=wrong-import-position

PICTURES = ("plot-throughput.svg", "plot-cpu.svg", "plot-ceiling.svg")
CAPTURE = ("diagram.svg", "timeline.txt", "explain.json")
LINES = 150                 # of the timeline that the page shows
SPEAKS = {True: "held", False: "NOT held", None: "not judged"}
CHECKED = {True: "ok", False: "FAILED", None: "n/a"}


def esc(text):
    """Escape for HTML."""
    return escape_html.escape(str(text))


def extras(folder):
    """The files beside report.json that exist: {name: text}."""
    found = {}
    for name in PICTURES + CAPTURE:
        path = os.path.join(folder, name)
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                found[name] = f.read()
    return found


def verdict(target):
    """Verdict of a target in words."""
    return SPEAKS[target["held"]]


def figure(target):
    """The figures that a verdict is based on."""
    v = target["value"]
    if v is None:
        return ""
    if "of" in target:
        return f" ({v} of {target['of']})"
    if "most" in target:
        return f" (moved {v:.1%})"
    s = target.get("spread")
    return f" ({v:.2f}; runs {s['min']:.2f} to {s['max']:.2f})" if s and s["n"] > 1 else f" ({v:.2f})"


def span(v, digits=1):
    """Median, with the least and the greatest value."""
    if not v:
        return "-"
    if f"{v['min']:.{digits}f}" == f"{v['max']:.{digits}f}":
        return f"{v['median']:.{digits}f}"
    return f"{v['median']:.{digits}f} ({v['min']:.{digits}f}–{v['max']:.{digits}f})"


def rows(data):
    """The headline table: (label, how, seconds, MB/s, ratio, cpu sender, cpu receiver, sha256)."""
    out = []
    for s in data["series"].values():
        out.append((s["label"], s["how"], span(s["seconds"]), span(s["mbs"]), span(s["of_ceiling"], 2), span(s["cpu_sender"]),
                    span(s["cpu_receiver"]), f"{s['equal']} of {len(s['values'])}"))
    top = data["ceiling"]["all"]
    if top:
        out.append((f"{data['ceiling']['tool']}, {human(data['ceiling']['size'])}", "perftest: the ceiling", "-", span(top),
                    "1", "-", "-", "-"))
    return out


HEAD = ("Path", "Seconds", "MB/s", "Of the ceiling", "CPU s/GiB, sender", "CPU s/GiB, receiver", "sha256 equal")


def headline(data):
    """The table for a terminal."""
    head = ("",) + HEAD[1:]
    body = [(r[0],) + r[2:] for r in rows(data)]
    width = [max(len(str(x[i])) for x in [head, *body]) for i in range(len(head))]
    return "\n".join("  ".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}" for i, (c, w) in enumerate(zip(line, width)))
                     for line in [head, *body])


def verdict_line(data):
    """The sentence at the top: valid or void."""
    if data["void"]:
        return "Void: " + "; ".join(data["void"]) + "."
    return "Valid: " + (f"the ceiling moved by {data['ceiling']['moved']:.1%} between before, the runs and after, every run "
                        "arrived intact, and every AF_SMC run was SMC-R.")


def how(data):
    """Sentences about the method."""
    g = data["guest"]
    features = {n: ", ".join(f"{k} {'on' if v else 'off'}" for k, v in (s["values"][0]["segmentation"] or {}).items())
                for n, s in data["series"].items() if n.startswith("tcp")}
    out = [
        f"One file of {human(data['size'])} goes from guest 2 to guest 1, "
        f"{'once' if data['runs'] == 1 else str(data['runs']) + ' times'} on each path; the paths take turns "
        "within a run. Given are medians, with the least and the greatest in parentheses.",
        "The clock runs while bytes move. Before it starts, both ends have mapped their memory (a tmpfs), and the verbs "
        "program has registered it. After it stops, sha256 of what arrived is compared with that of what was sent.",
        f"RDMA WRITE: {human(data['chunk'])} chunks, 16 under way, straight into their place. Sockets: write() of "
        f"{human(data['write'])} and read() of up to 256 KiB, into the same place; the same program for all socket paths.",
        "An AF_SMC run counts only if the counters of both modules say that its connections used SMC-R and that none fell "
        "back to TCP. A run that was not so is void and taken again.",
        "CPU seconds are those of the whole guest (/proc/stat) while the clock runs, for 1 GiB: soft RoCE works in the kernel, and a "
        "process' own time would not show it.",
        f"The ceiling is {data['ceiling']['tool']} at {human(data['ceiling']['size'])}: {len(data['ceiling']['before'])} times "
        f"before, once ahead of every transfer, {len(data['ceiling']['after'])} times after. A transfer is set against the mean of "
        "the ceilings just before and just after it, so that a slow minute of the machine slows both. If two of the "
        f"medians before, within the runs and after lie more than {data['ceiling']['limit']:.0%} apart, the numbers are void and the targets are "
        "not judged.",
        "perftest spins on its completion queue; in a guest with one CPU that takes time from soft RoCE. A program that sleeps while "
        "it waits, such as ours, can be faster than this ceiling.",
        "TCP, as ip and ethtool say in the sender's guest: " + ("; ".join(f"{data['series'][n]['label']}: {f}" for n, f in features.items())
                                                              or "not measured") + ".",
    ]
    setup = data["series"].get("verbs", {}).get("setup")
    if setup:
        out.append(f"Registering {human(data['size'])} took the sender {span(setup, 2)} s, not in the seconds above.")
    if g:
        out.append(f"Guests: Linux {g['kernel']}, {g['cpus']} CPU, {g['memory_mib']} MiB, MTU {g['mtu']}, path MTU {g['path_mtu']}, "
                   f"rdma_rxe, perftest {g['perftest']}.")
    return out


def machine(data):
    """Sentences about the machine."""
    m = data["machine"]
    return [f"{m['cpu']}, {m['cpus']} CPUs, {m['memory_mib'] or 0:,} MiB, Linux {m['kernel']}.",
            f"{m['qemu'] or 'QEMU'}, TCG: the guests' processors are emulated.",
            f"Load before: {m['load_before'][0]:.1f}, after: {m['load_after'][0]:.1f} (this comparison itself makes about 2).",
            f"{data['revision']}, {data['time']}, took {data['took'] / 60:.0f} min."]


CANNOT = ("Soft RoCE under emulated processors makes packets of 4 KiB, computes a CRC over each in software, and copies. It shows how "
          "paths over the same software compare, what each costs in processor time beside the others, and that the bytes are right. It "
          "does not show what RDMA hardware does: there TCP's processor time stays and that of RDMA nearly vanishes. TCP is fast "
          "here because up to 64 KiB at a time go through its stack (GSO, GRO), where soft RoCE has 4 KiB.")


def checks_of(extra):
    """(held, text) of the checks of lab/lab-explain --json; held None: nothing to check in this capture."""
    try:
        found = json.loads(extra.get("explain.json", ""))
    except ValueError:
        return []
    out = []
    for c in found.get("checks", []) if isinstance(found, dict) else []:
        more = c.get("where") or ([c["why"]] if c.get("why") else [f"{c['judged']:,} times"] if c.get("judged") else [])
        out.append(({"ok": True, "FAILED": False}.get(c["verdict"]), c["text"] + (f" ({'; '.join(more[:2])})" if more else "")))
    return out


# ------------------------------------------------------------------ Markdown

def markdown(data, extra):
    """report.md"""
    out = ["# RDMA WRITE, AF_SMC and TCP on the same two guests", "", verdict_line(data), ""]
    out += ["| " + " | ".join(HEAD) + " |", "|---|" + "---:|" * (len(HEAD) - 1)]
    out += ["| " + " | ".join((r[0],) + r[2:]) + " |" for r in rows(data)]
    out += ["", "## Targets", ""]
    out += [f"* **{verdict(t)}** ({t['id']}): {t['text']}{figure(t)}" for t in data["targets"]]
    out += ["", "## How it was measured", ""] + [f"* {x}" for x in how(data)] + ["", CANNOT, ""]
    if data["table"]:
        out += ["## The ceiling table", "", "| Tool | Size | Before | After | |", "|---|---:|---:|---:|---|"]
        out += [f"| {r['tool']} | {human(r['size'])} | {cell(r['before'])} | {cell(r['after'])} | {r['unit']} |" for r in data["table"]]
        out.append("")
    out += ["## Machine", ""] + [f"* {x}" for x in machine(data)] + [""]
    if data["notes"]:
        out += ["## Notes", ""] + [f"* {n}" for n in data["notes"]] + [""]
    out += again(data, "* ")
    checks = checks_of(extra)
    if checks or "timeline.txt" in extra:
        out += ["## A connection, frame by frame", ""]
        out += [f"* {CHECKED[h]}: {t}" for h, t in checks] + [""]
        if "timeline.txt" in extra:
            out += ["```", timeline(extra), "```", ""]
    return "\n".join(out)


def timeline(extra):
    """The first LINES lines of the timeline."""
    lines = extra["timeline.txt"].rstrip().splitlines()
    more = len(lines) - LINES
    return "\n".join(lines[:LINES] + ([f"... and {more} more lines in timeline.txt"] if more > 0 else []))


def cell(v):
    """A number of the table."""
    return "-" if v is None else f"{v:.2f}" if v < 10 else f"{v:,.1f}" if v < 1000 else f"{v:,.0f}"


def again(data, bullet):
    """Sentences about the measurements that were repeated."""
    if not data["taken_again"]:
        return []
    return [f"{len(data['taken_again'])} measurements were void and taken again:"] + [
        f"{bullet}run {v['run']}, {v['impl']} {v.get('tool') or v['what']} {v['size']}: {v['void']}" for v in data["taken_again"][:10]]


# ---------------------------------------------------------------------- HTML

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: #1d2329; background: #f4f5f7; margin: 0; }
main { max-width: 1060px; margin: 0 auto; padding: 28px 24px 60px; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 2px; }
h2 { font-size: 1.2rem; margin: 34px 0 10px; }
.sub { color: #59636e; margin: 0 0 18px; }
.banner { border-left: 6px solid; padding: 10px 16px; border-radius: 4px; margin: 0 0 18px; }
.valid { border-color: #1e8449; background: #e3f4e9; } .void { border-color: #c0392b; background: #fbe6e3; }
.card { background: #fff; border: 1px solid #dde1e6; border-radius: 8px; padding: 14px 18px; margin: 0 0 16px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 600; font-size: .82rem; color: #59636e; border-bottom: 2px solid #dde1e6; vertical-align: bottom; }
th, td { padding: 6px 10px; } td { text-align: right; border-bottom: 1px solid #eceef1; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
td small { display: block; color: #59636e; } td small.range { font-size: .8rem; }
tr.ours td { background: #fdf3f2; } tr.ceiling td { color: #59636e; border-top: 2px solid #dde1e6; border-bottom: 0; }
ul { margin: 0; padding-left: 20px; } li { margin: 4px 0; }
.targets { list-style: none; padding: 0; } .targets li { display: flex; gap: 12px; align-items: baseline; }
.tag { flex: none; min-width: 108px; text-align: center; border-radius: 12px; padding: 1px 10px; font-size: .85rem; font-weight: 600; color: #fff; }
.yes { background: #1e8449; } .no { background: #c0392b; } .unknown { background: #7b858f; }
img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figure { margin: 0; } figcaption { color: #59636e; font-size: .9rem; margin-top: 6px; }
pre { font: 12.5px/1.45 "DejaVu Sans Mono", Menlo, monospace; overflow-x: auto; margin: 0; }
.two td:nth-child(n+2) { width: 13%; }
details summary { cursor: pointer; font-weight: 600; }
"""


def picture(extra, name, caption, alt):
    """An SVG as part of the page; nothing when there is none."""
    if name not in extra:
        return ""
    data = base64.b64encode(extra[name].encode()).decode()
    return (f'<figure class="card"><img alt="{esc(alt)}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{esc(caption)}</figcaption></figure>\n")


def split_range(text):
    """31.2 (30.1–33.0): the parentheses small, below."""
    a, _, b = text.partition(" (")
    return esc(a) + (f'<small class="range">{esc(b[:-1])}</small>' if b else "")


def tag(held, words):
    """A coloured verdict."""
    return f'<span class="tag {({True: "yes", False: "no"}).get(held, "unknown")}">{words[held]}</span>'


def table_html(data):
    """The headline table."""
    names = list(data["series"])
    out = ["<table><thead><tr>" + "".join(f"<th>{esc(h)}</th>" for h in HEAD) + "</tr></thead><tbody>"]
    for i, r in enumerate(rows(data)):
        kind = ' class="ceiling"' if i >= len(names) else ' class="ours"' if names[i].startswith("smcr") else ""
        out.append(f"<tr{kind}><td><b>{esc(r[0])}</b><small>{esc(r[1])}</small></td>" +
                   "".join(f"<td>{split_range(x)}</td>" for x in r[2:]) + "</tr>")
    return "\n".join(out + ["</tbody></table>"])


def ceiling_html(data):
    """perftest's table: sizes down, tools across, before / after."""
    sizes = sorted({r["size"] for r in data["table"]})
    tools = list(dict.fromkeys(r["tool"] for r in data["table"]))
    by = {(r["tool"], r["size"]): r for r in data["table"]}
    unit = {r["tool"]: r["unit"] for r in data["table"]}
    out = ['<table class="two"><thead><tr><th>Message</th>' + "".join(f"<th>{esc(t)}<br>{esc(unit[t])}</th>" for t in tools) +
           "</tr></thead><tbody>"]
    for s in sizes:
        cells = [by.get((t, s), {"before": None, "after": None}) for t in tools]
        out.append(f"<tr><td>{esc(human(s))}</td>" +
                   "".join(f"<td>{cell(c['before'])} / {cell(c['after'])}</td>" for c in cells) + "</tr>")
    return "\n".join(out + ["</tbody></table>"])


def capture_html(extra):
    """The results of lab/lab-capture, if there are any."""
    checks = checks_of(extra)
    if not checks and "timeline.txt" not in extra and "diagram.svg" not in extra:
        return ""
    out = ["<h2>A connection, frame by frame</h2>"]
    if checks:
        out.append('<div class="card"><ul class="targets">' +
                   "".join(f"<li>{tag(h, CHECKED)}<span>{esc(t)}</span></li>" for h, t in checks) + "</ul></div>")
    out.append(picture(extra, "diagram.svg", "What the two hosts said to each other, in order.", "sequence diagram"))
    if "timeline.txt" in extra:
        out.append('<div class="card"><details open><summary>The timeline</summary>'
                   f"<pre>{esc(timeline(extra))}</pre></details></div>")
    return "\n".join(out)


def html(data, extra):
    """report.html, with everything in it."""
    items = lambda texts: '<div class="card"><ul>' + "".join(f"<li>{esc(t)}</li>" for t in texts) + "</ul></div>"  # noqa: E731
    kind = "void" if data["void"] else "valid"
    out = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
           '<meta name="viewport" content="width=device-width, initial-scale=1">',
           f"<title>RDMA WRITE, AF_SMC and TCP: {esc(human(data['size']))}</title><style>{STYLE}</style></head><body><main>",
           "<h1>RDMA WRITE, AF_SMC and TCP on the same two guests</h1>",
           f'<p class="sub">{esc(human(data["size"]))}, {data["runs"]} alternated run{"s" if data["runs"] != 1 else ""}, Linux '
           f'{esc(data["guest"].get("kernel", data["kernel"]))}, soft RoCE in emulated machines · {esc(data["revision"])} · '
           f'{esc(data["time"])}{" · a quick try, no findings" if data["quick"] else ""}</p>',
           f'<p class="banner {kind}">{esc(verdict_line(data))}</p>',
           f'<div class="card">{table_html(data)}</div>',
           '<div class="card"><ul class="targets">' +
           "".join(f"<li>{tag(t['held'], SPEAKS)}<span>{esc(t['text'])}{esc(figure(t))} <small>{esc(t['id'])}</small></span></li>"
                   for t in data["targets"]) + "</ul></div>",
           picture(extra, "plot-throughput.svg", "More is better. The dashed line is what perftest reaches with raw verbs here: what may be "
                   "expected of a path by RDMA. TCP is none.", "throughput of each path"),
           picture(extra, "plot-cpu.svg", "Less is better. Software RDMA pays for every 4 KiB packet; hardware would not.",
                   "processor time of each path")]
    if data["table"]:
        out += ["<h2>The ceiling: perftest on the same pair</h2>",
                picture(extra, "plot-ceiling.svg", "Before the runs (solid) and after them (dashed): the closer, the quieter the machine.",
                        "perftest by size of the message"),
                f'<div class="card">{ceiling_html(data)}<p class="sub">before / after</p></div>']
    out += ["<h2>How it was measured</h2>", items(how(data)), "<h2>What this can and cannot tell</h2>", f'<div class="card">{esc(CANNOT)}</div>',
            "<h2>Machine</h2>", items(machine(data))]
    if data["notes"] or data["taken_again"]:
        out += ["<h2>Notes</h2>", items(data["notes"] + again(data, ""))]
    out += [capture_html(extra), "</main></body></html>"]
    return "\n".join(x for x in out if x) + "\n"
