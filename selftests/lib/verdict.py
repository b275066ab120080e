# SPDX-License-Identifier: GPL-2.0-only
"""What is known of earlier runs, and what to run next.

Three files are kept with the sources, all read strictly:

    selftests/results/last.tsv  what every test did when all ran last
    selftests/results/map.tsv   the files of net/ that a case executes
    selftests/flaky             cases that may pass at the second try, with reasons

A fourth one is the machine's own, $SMCR_CACHE/history.tsv: as last.tsv, with
how the last few runs ended. What to run within a time is decided here by
functions that have no other inputs than their arguments.
"""

import datetime
import fcntl
import hashlib
import os
import re
import subprocess
from dataclasses import dataclass, field, replace

import cases as caselib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAST = os.path.join(TOP, "selftests", "results", "last.tsv")
MAP = os.path.join(TOP, "selftests", "results", "map.tsv")
FLAKY = os.path.join(TOP, "selftests", "flaky")
# What a full run writes is no part of the tree that it ran on.
WRITTEN = ("selftests/results", "Documentation/conformance.rst")

# Where a test runs: a kernel of the lab, with another back-end of the TCP option, the simulation, or this machine.
PLACES = (*sum(caselib.KERNELS.values(), ()), "umdbg-nf", "umsmp-nf", "6.1-smp", "6.12-smp", "sim", "unit")
VERDICTS = ("pass", "fail", "timeout", "skip", "flaky")
LETTER = {"pass": "P", "fail": "F", "timeout": "T", "skip": "S", "flaky": "X"}
RECENT = 8                  # runs that the history remembers of a test
LATELY = 5                  # of them count when they were bad
MUST, BAD, AFFECTED, REST = range(4)
CLASSES = ("always", "failed or flaky lately", "can be affected", "others")


class FormatError(ValueError):
    """A file of ours is not as it should be."""


# -- results ---------------------------------------------------------------

@dataclass(frozen=True)
class Row:
    """What one test did in one place."""
    place: str
    test: str
    verdict: str
    seconds: float
    date: str               # of a day, or with a time
    tree: str               # git's name of the tree that was tested, abbreviated; "-": not known
    recent: str = ""

    @property
    def key(self):
        """What there is one row of."""
        return self.place, self.test

    @property
    def time(self):
        """Seconds since 1970."""
        when = datetime.datetime.fromisoformat(self.date)
        return when.replace(tzinfo=datetime.timezone.utc).timestamp()


def now():
    """The time as rows have it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def parse_rows(text, name="results"):
    """{(place, test): Row} of a file's text."""
    rows = {}
    for n, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        words = line.split("\t")
        try:
            if len(words) not in (6, 7):
                raise ValueError(f"{len(words)} columns")
            row = Row(*words[:3], float(words[3]), *words[4:])
            row.time  # pylint: disable=pointless-statement
            for what, value, ok in (("kernel", row.place, row.place in PLACES), ("test", row.test, row.test.strip()),
                                    ("verdict", row.verdict, row.verdict in VERDICTS),
                                    ("tree", row.tree, re.fullmatch(r"-|[0-9a-f]{12}", row.tree)),
                                    ("history", row.recent, re.fullmatch("[PFTSX]*", row.recent)),
                                    ("test, twice", row.test, row.key not in rows)):
                if not ok:
                    raise ValueError(f"{what}: '{value}'")
        except (ValueError, TypeError) as e:
            raise FormatError(f"{name}:{n}: {e}") from None
        rows[row.key] = row
    return rows


def format_rows(rows, recent=False):
    """The text of such a file."""
    out = ["# SPDX-License-Identifier: GPL-2.0-only",
           "# kernel\ttest\tverdict\tseconds\tdate\ttree" + ("\trecent" if recent else "")]
    for _, r in sorted(rows.items()):
        date = r.date if recent else r.date[:10]
        out.append("\t".join([r.place, r.test, r.verdict, f"{r.seconds:.1f}", date, r.tree] + ([r.recent] if recent else [])))
    return "\n".join(out) + "\n"


def load_rows(path):
    """Of a file; empty when there is none."""
    try:
        with open(path, encoding="utf-8") as f:
            return parse_rows(f.read(), os.path.relpath(path, TOP))
    except FileNotFoundError:
        return {}


def remember(old, new):
    """The history after one more run: the row, with how the last runs ended."""
    out = dict(old)
    for r in new:
        before = out[r.key].recent if r.key in out else ""
        out[r.key] = replace(r, recent=(before + LETTER[r.verdict])[-RECENT:])
    return out


def save_history(path, new):
    """Add to the machine's history. One that cannot be read begins anew."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write(path, format_rows(remember(load_history(path), new), True))


def load_history(path):
    """The machine's history; empty when it cannot be used."""
    try:
        return load_rows(path)
    except (FormatError, OSError, UnicodeDecodeError):
        return {}


def write(path, text):
    """Replace a file at once."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(f"{path}.{os.getpid()}", path)


def newest(committed, history, trees, tests):
    """
    What to commit: of each of today's tests ((place, test)) the newest result
    that belongs to a tree of this branch.
    """
    out = {}
    for key in tests:
        found = [r for r in (committed.get(key), history.get(key)) if r and (r is committed.get(key) or r.tree in trees)]
        if found:
            out[key] = max(found, key=lambda r: r.time)
    return out


# -- flaky cases -----------------------------------------------------------

@dataclass(frozen=True)
class Flaky:
    """A case that may fail once on one kernel."""
    case: str
    place: str
    date: str
    why: str


def parse_flaky(text, cases, name="selftests/flaky"):
    """
    {(place, case): Flaky}. An entry is a line "CASE KERNEL DATE" and indented
    lines with the analysis: what happens, and why it is no fault of the module.
    """
    found, head = {}, None

    def end():
        if head and len(head[3].split()) < 8:
            raise FormatError(f"{name}:{head[4]}: {head[0]}: no analysis")
        if head:
            found[(head[1], head[0])] = Flaky(*head[:3], head[3].strip())

    for n, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if not head:
                raise FormatError(f"{name}:{n}: an analysis of nothing")
            head[3] += " " + line.strip()
            continue
        end()
        words = line.split()
        if len(words) != 3:
            raise FormatError(f"{name}:{n}: not CASE KERNEL DATE")
        case, place, date = words
        if place not in PLACES or place == "unit":
            raise FormatError(f"{name}:{n}: no kernel '{place}'")
        if case not in cases:
            raise FormatError(f"{name}:{n}: no case '{case}'")
        try:
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
                raise ValueError
            datetime.date.fromisoformat(date)
        except ValueError:
            raise FormatError(f"{name}:{n}: no date '{date}'") from None
        if (place, case) in found:
            raise FormatError(f"{name}:{n}: {case} on {place} for the second time")
        head = [case, place, date, "", n]
    end()
    return found


def load_flaky(cases):
    """The project's list."""
    try:
        with open(FLAKY, encoding="utf-8") as f:
            return parse_flaky(f.read(), cases)
    except FileNotFoundError:
        return {}


# -- what a case executes --------------------------------------------------

def parse_map(text, name="selftests/results/map.tsv"):
    """{case: set of files below net/}; "-" stands for none."""
    found = {}
    for n, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        case, tab, files = line.partition("\t")
        if not tab or not files.split() or not re.fullmatch(r"\S+", case) or case in found:
            raise FormatError(f"{name}:{n}: not CASE<tab>FILE...")
        found[case] = set(files.split()) - {"-"}
    return found


def format_map(found):
    """The text of such a file."""
    return ("# SPDX-License-Identifier: GPL-2.0-only\n# case\tfiles of net/ that it executes, by scripts/case-map\n" +
            "".join(f"{case}\t{' '.join(sorted(files)) or '-'}\n" for case, files in sorted(found.items())))


def load_map():
    """The project's map; empty when there is none."""
    try:
        with open(MAP, encoding="utf-8") as f:
            return parse_map(f.read())
    except FileNotFoundError:
        return {}


def affected(pairs, committed, changed, executes, path):
    """
    Those of the pairs (place, case) that a change can have affected. `changed`
    has, for each tree that results are of, the files that differ from it, or
    None when the tree is not known here; `path` says where a case's file is.
    """
    out = set()
    for place, case in pairs:
        row = committed.get((place, case))
        files = changed.get(row.tree) if row else None
        if files is None or path(case) in files:
            out.add((place, case))
            continue
        net = {f[4:] for f in files if f.startswith("net/")}
        mine = executes.get(case)
        if mine is not None and place in ("umdbg-nf", "7.2"):
            # The map is made where the kernel has the native option.
            mine = {f.replace("tcpopt_native", "tcpopt_nf") for f in mine}
        if net if mine is None else net & mine:
            out.add((place, case))
    return out


# -- choosing --------------------------------------------------------------

@dataclass
class Place:
    """A part of the check: where, and what it costs."""
    name: str
    args: list              # of selftests/run
    patterns: list          # the cases of a full run
    always: list            # those that are never left out
    jobs: int = 1
    start: float = 30       # seconds before the first case
    each: float = 12        # seconds of a case of which nothing is known
    group: str = "uml"      # of scripts/deps
    simulated: bool = True  # those cases, too, that the simulation can run


@dataclass
class Plan:
    """What to run where, in that order, and what not."""
    chosen: dict = field(default_factory=dict)      # place: cases
    left: list = field(default_factory=list)        # pairs
    seconds: dict = field(default_factory=dict)     # place: what it will take


def lately_bad(row):
    """Whether a test failed or was flaky in one of its last runs."""
    return bool(row) and (row.verdict in ("fail", "timeout", "flaky") or bool(re.search("[FTX]", row.recent[-LATELY:])))


def turn(pair, head):
    """A number by which cases take turns from commit to commit."""
    return hashlib.sha256("\0".join((head, *pair)).encode()).digest()


def rotation(pairs, ran, head):
    """
    The pairs in the order of their turn: the longest not run first. `ran` says
    when, in seconds, as far as this machine or the last full run know. A
    machine that forgets would always begin with the same ones: every third is
    drawn by the commit instead.
    """
    drawn = sorted(pairs, key=lambda p: turn(p, head))
    oldest = sorted(drawn, key=lambda p: ran.get(p, 0))
    out, seen = [], set()
    for n in range(len(drawn)):
        source = drawn if n % 3 == 2 else oldest
        pair = next(p for p in source if p not in seen)
        seen.add(pair)
        out.append(pair)
    return out


def in_order(pairs, classes, ran, head):
    """The pairs by class, in each by rotation."""
    return [p for c in range(len(CLASSES)) for p in rotation([p for p in pairs if classes.get(p, REST) == c], ran, head)]


def wall(place, seconds):
    """How long a part takes whose cases take so long."""
    return place.start + max(sum(seconds) / place.jobs, max(seconds)) if seconds else 0


def pack(ordered, places, classes, cost, limit):
    """
    Choose from the ordered pairs what fits into `limit` seconds; what must run
    is chosen in any case. What does not fit is left out, and what comes after
    it may still fit. places: {name: Place}; cost: {pair: seconds}.
    """
    plan, times = Plan(), {}
    for pair in ordered:
        name = pair[0]
        with_it = {**times, name: times.get(name, []) + [cost[pair]]}
        total = sum(wall(places[n], t) for n, t in with_it.items())
        if total > limit and classes.get(pair) != MUST:
            plan.left.append(pair)
            continue
        times = with_it
        plan.chosen.setdefault(name, []).append(pair[1])
    plan.seconds = {n: wall(places[n], t) for n, t in times.items()}
    return plan


def by_needs(names, needs, must):
    """A part's cases in the order in which they are run: what must, then in as few pairs of guests as possible."""
    return sorted(names, key=lambda n: (n not in must, needs[n], n))


def expected(place, case, committed, history, default):
    """Seconds that a case will take there."""
    row = history.get((place, case)) or committed.get((place, case))
    return max(row.seconds, 1.0) if row and row.verdict in ("pass", "flaky") else default


def slow_factor(ratio):
    """By what to multiply time limits (SMCR_SLOW) where cases take `ratio` times as long as they did."""
    return 1 if ratio < 1.6 else 2 if ratio < 3 else 3


# -- what selftests/run says -----------------------------------------------

@dataclass
class Outcome:
    """One case in one run."""
    name: str
    verdict: str
    seconds: float = 0.0
    reasons: list = field(default_factory=list)
    logs: str = ""


class Reader:
    """Collects what the lines of selftests/run tell."""

    LINE = re.compile(r"^(not ok|ok) \d+ (\S+)(?: # (.*))?$")

    def __init__(self):
        self.out, self.logs = [], ""
        self._reasons = self._tails = False     # what the next lines are

    def feed(self, text):
        """One line."""
        m = self.LINE.match(text)
        if m:
            status, name, more = m.group(1), m.group(2), m.group(3) or ""
            took = re.search(r"([\d.]+)s/([\d.]+)s", more)
            verdict = "skip" if more.startswith("SKIP") else "pass" if status == "ok" else \
                "timeout" if more.startswith("TIMEOUT") else "fail"
            self.out.append(Outcome(name, verdict, float(took.group(2)) if took else 0.0))
            self._reasons = self._tails = verdict in ("fail", "timeout")
        elif text.startswith("# lane ") and ", logs in " in text:
            self.logs = text.partition(", logs in ")[2]
        elif self._tails and text.startswith("# logs: "):
            self.out[-1].logs = text[8:]
            self._reasons = self._tails = False
        elif self._reasons and re.match("# (---|fingerprint)", text):
            self._reasons = False
        elif self._reasons and text.startswith("# "):
            self.out[-1].reasons.append(text[2:])


def settle(first, second, listed, place, strict):
    """
    The verdicts of the cases that failed and were tried again: [(name,
    verdict, counts as passed, Flaky or None)]. strict: a second try never helps.
    """
    again = {o.name: o for o in second}
    out = []
    for o in first:
        if o.name in again and again[o.name].verdict == "pass":
            entry = listed.get((place, o.name))
            out.append((o.name, "flaky", bool(entry) and not strict, entry))
        else:
            out.append((o.name, o.verdict, False, None))
    return out


# -- git -------------------------------------------------------------------

def git(*args, **env):
    """Output of a git command, or None. The tree may be somebody else's."""
    try:
        r = subprocess.run(["git", "-c", "safe.directory=*", *args], cwd=TOP, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           env={**os.environ, **env})
    except OSError:
        return None
    return r.stdout if r.returncode == 0 else None


def tree_of_now():
    """The tree as it is in the files, without what a full run writes; "-" when there is no git."""
    index = os.path.join(TOP, "build", f"index.{os.getpid()}")
    os.makedirs(os.path.dirname(index), exist_ok=True)
    try:
        env = {"GIT_INDEX_FILE": index}
        if git("read-tree", "HEAD", **env) is None:
            return "-"
        git("add", "-A", "--", ".", *(f":!{p}" for p in WRITTEN), **env)
        return (git("write-tree", **env) or "-")[:12].strip()
    finally:
        for f in (index, index + ".lock"):
            if os.path.exists(f):
                os.remove(f)


def trees_of_branch():
    """The trees of all commits that lead here."""
    return {t[:12] for t in (git("log", "--format=%T") or "").split()}


def changed_since(trees):
    """{tree: the files that differ from it now, or None when it is not known}."""
    here = tree_of_now()
    out = {}
    for t in trees:
        diff = git("diff-tree", "-r", "--name-only", "--no-renames", t, here) if t != "-" and here != "-" else None
        out[t] = None if diff is None else set(diff.splitlines())
    return out


def head():
    """The commit."""
    return (git("rev-parse", "HEAD") or "-").strip()
