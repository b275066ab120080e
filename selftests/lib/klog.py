# SPDX-License-Identifier: GPL-2.0
"""Kernel log scanner: finds every report of a kernel in trouble.

scan() returns the reports of a log text, each with a fingerprint (the first
symbols of its call trace), so that one bug seen in twenty cases reads as one
bug. Exceptions are possible by regular expression, see ALLOW below and the
`# allow-klog:` header of a case; each needs a reason.
"""

import re
from dataclasses import dataclass, field

PATTERNS = [
    r"BUG:",
    r"\bBUG at\b",
    r"WARNING:",
    r"\bOops\b",
    r"general protection",
    r"Unable to handle kernel",
    r"[Kk]ernel panic",
    r"double fault",
    r"stack segment",
    r"KASAN",
    r"KFENCE",
    r"UBSAN",
    r"ODEBUG",
    r"DEBUG_LOCKS_WARN_ON",
    r"refcount_t",
    r"possible (circular|recursive|irq lock inversion|deadlock)",
    r"possible .*lock",
    r"inconsistent lock state",
    r"bad unlock balance",
    r"held lock freed",
    r"lock held when returning to user space",
    r"MAX_LOCK\w+ too low",
    r"suspicious RCU",
    r"[Ii]llegal context switch",
    r"invalid (wait )?context",
    r"Invalid wait context",
    r"scheduling while atomic",
    r"sleeping function called",
    r"blocked for more than",
    r"soft lockup",
    r"hard LOCKUP",
    r"rcu.*(stall|detected stalls)",
    r"workqueue lockup",
    r"list_(add|del)\b.*corruption",
    r"list_(add|del) double",
    r"ref_tracker:",
    r"unregister_netdevice: waiting",
    r"unreferenced object",
    r"kmemleak: .*(new suspected|disabled)",
    r"page allocation failure",
    r"[Bb]ad page (state|map)",
    r"SLUB.*(corrupt|overwritten)",
    r"Objects remaining in",
    r"still has objects",
    r"Slab cache still has objects",
    r"(Poison|Redzone) overwritten",
    r"use-after-free",
    r"invalid opcode",
    r"segfault at .* in smcctl",
    r"Call Trace:",
    r"divide error",
    r"unable to destroy",
    r"restrack: .*(leak|not freed|was not)",
    r"kworker.*hogged CPU",
    r"DMA-API: ",
    # reports of the simulated RNIC, see Documentation/rnicsim.rst
    r"rnicsim.*: (DMA fault|.* not mapped|.* still mapped)",
]

# (regular expression, why it is no failure). Matched per report line.
ALLOW = [
    (r"kmemleak: Kernel memory leak detector (initialized|will)", "boot message"),
    (r"KASAN: .*initialized|KernelAddressSanitizer initialized", "boot message"),
    (r"kfence: initialized", "boot message"),
    (r"DMA-API: (preallocated|debugging enabled by|dma_debug_entry pool grown)", "no report"),
    (r"debug is enabled", "boot message"),
    (r"smcr-case ", "the harness's own marks"),
    (r"ref_tracker: memory allocation failure", "an allocation that a test refuses; its counter misses one user"),
    (r"process '.*' started with executable stack", "not a report"),
]

_TROUBLE = re.compile("|".join(PATTERNS))
_ALLOW = re.compile("|".join(p for p, _ in ALLOW))
_STAMP = re.compile(r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[[^]]*\])? ?")
_SYMBOL = re.compile(r"(?:\? )?(?:\[<[0-9a-f]+>\] )?([A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+")
_GUESS = re.compile(r"(?:\] |^\s+)\? ")
_CUT = re.compile(r"------------\[ cut here \]")
_END = re.compile(r"---\[ end |^={10,}|^-{30,}$")
# In every trace, and so no help to tell two traces apart.
_DULL = re.compile(r"^(dump_stack|show_stack|print_|kasan_|__kasan|check_memory|__asan|__warn|report_bug|"
                   r"lockdep_rcu|__lock_acquire|lock_acquire|__might_resched|ubsan_|__ubsan|debug_print|"
                   r"kfree|slab_free|kmem_cache_free|asm_|exc_|handle_bug|segv|sig_handler|hard_handler)")


@dataclass
class Report:
    """One trouble report of the kernel."""
    line: int                       # index of its first line in the text
    title: str                      # the line that matched first
    symbols: list = field(default_factory=list)
    text: list = field(default_factory=list)

    @property
    def fingerprint(self):
        """Names the bug rather than the event."""
        kind = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+", "N", self.title)[:60]
        return ":".join([kind] + [s for s in self.symbols if not _DULL.match(s)][:5])


def strip_stamp(line):
    """The message without '[   12.345678] ' or '<6>'."""
    return _STAMP.sub("", line)


def stamp(line):
    """Seconds since boot of a log line, or None."""
    m = re.match(r"^(?:<\d+>)?\[\s*(\d+\.\d+)\]", line)
    return float(m.group(1)) if m else None


def scan(text, allow=()):
    """All trouble reports in text; `allow` holds further exceptions (regexes).

    A report reaches from its first matching line to its end mark, or to a gap:
    lines that neither match nor belong to a call trace, more than 40 in a row.
    A report is dropped when one of its lines matches an exception.
    """
    extra = [re.compile(a) for a in allow]
    reports, current, quiet = [], None, 0
    for n, raw in enumerate(text.splitlines()):
        line = strip_stamp(raw)
        trouble = _TROUBLE.search(line) and not _ALLOW.search(line)
        if current is None:
            if not trouble:
                continue
            current, quiet = Report(n, line.strip()), 0
            reports.append(current)
        elif trouble and not line.startswith(" ") and quiet > 8 and not re.match(r"Call Trace:", line):
            # Another report directly behind the first.
            current, quiet = Report(n, line.strip()), 0
            reports.append(current)
        current.text.append(raw)
        # "? symbol": found on the stack, not part of the trace.
        if len(current.symbols) < 12 and not _GUESS.search(line):
            current.symbols += _SYMBOL.findall(line)[:1]
        quiet = 0 if trouble or _SYMBOL.search(line) else quiet + 1
        if quiet > 40 or (_END.search(line) and len(current.text) > 3 and line.startswith("---[")):
            current = None
    return [r for r in reports if not any(a.search(strip_stamp(t)) for a in extra for t in r.text)]


def patched(text):
    """
    Whether a kernel died of a breakpoint that it had set itself in order to change its code: an emulated processor may run
    into it, a real one does not. There are no other breakpoints: no case uses kprobes on a stock kernel.
    """
    return bool(re.search(r"(?m)\bint3: \d+ \[#\d+\]", text))


def between(text, name, nth=0):
    """The part of a log that belongs to case `name`: (lines, complete); the nth of several, 0: the last."""
    out, inside, complete, count = [], False, False, 0
    begin, end = "smcr-case BEGIN " + name, "smcr-case END " + name
    for line in text.splitlines():
        body = strip_stamp(line)
        if body == begin:
            if nth and count == nth:
                break
            out, inside, complete, count = [], True, False, count + 1
        elif body == end and inside:
            inside, complete = False, True
        elif inside:
            out.append(line)
    return "\n".join(out), complete


def outside(text):
    """The part of a log that belongs to no case, without the numbers of suspected leaks: leaks() has those that remain."""
    out, inside = [], None
    for line in text.splitlines():
        m = re.fullmatch(r"smcr-case (BEGIN|END) (\S+)", strip_stamp(line))
        if m:
            inside = m.group(2) if m.group(1) == "BEGIN" else None
        elif not inside and not re.search("kmemleak: .*new suspected", line):
            out.append(line)
    return "\n".join(out)


def leaks(text):
    """kmemleak's report: [(jiffies at which the object was allocated, its part of the text)]."""
    found = []
    for part in re.split(r"(?m)^(?=unreferenced object )", text):
        m = re.search(r"(?m)^  comm .*, jiffies (\d+)", part)
        if part.startswith("unreferenced object "):
            found.append((int(m.group(1)) if m else 0, part))
    return found
