# SPDX-License-Identifier: GPL-2.0
"""Test cases: NN-area-name.sh in selftests/cases and lab/cases, and their header comments."""

import fnmatch
import hashlib
import os
import re
from dataclasses import dataclass, field

import kernels

HEADERS = {"covers", "nics", "timeout", "lanes", "kernels", "needs", "tags", "memory", "module", "params",
           "capture", "allow-klog", "fabric", "why"}
# Why a case cannot be run in the simulation, see sim.GROUPS.
NO_SIM = ("packets", "kernel", "rxe", "clock")
LANES = kernels.LANES
KERNELS = kernels.BY_LANE
# With KASAN, lockdep and kmemleak
DEBUG = ("umdbg", "umsmp")
MODULES = ("ours", "none", "intree")
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = [os.path.join(TREE, d, "cases") for d in ("selftests", "lab")]


class CaseError(Exception):
    """A case file's header is wrong."""


@dataclass
class Case:
    """One case file."""
    path: str
    name: str
    covers: list = field(default_factory=list)
    nics: int = 1
    lan: tuple = ()         # (server's, client's) cards when all are on one LAN
    timeout: int = 60
    lanes: list = field(default_factory=lambda: list(LANES))
    kernels: list = field(default_factory=list)     # empty: all
    needs: list = field(default_factory=list)       # abilities, of kernels.toml
    tags: list = field(default_factory=list)
    memory: int = 1024
    module: list = field(default_factory=lambda: ["ours", "ours"])  # guest 1, guest 2
    params: str = ""
    capture: bool = False
    allow_klog: list = field(default_factory=list)
    fabric: tuple = ()      # (group, reason) when it needs soft RoCE
    has_host: bool = False
    digest: str = ""

    def runs_on(self, lane, kernel):
        """Whether the case is meant for this lane and kernel."""
        return lane in self.lanes and self.meant_for(kernel)

    def meant_for(self, kernel):
        """Whether the case is meant for this kernel, in whatever lane."""
        return (not self.kernels or kernel in self.kernels) and set(self.needs) <= set(kernels.provides(kernel))

    @property
    def room(self):
        """What its guests must be: cards, how they are joined, memory."""
        return self.nics, self.lan, self.memory

    def matches(self, patterns):
        """-k: substring, glob or tag:NAME; any of them; a leading ! excludes."""
        def one(p):
            if p.startswith("tag:"):
                return p[4:] in self.tags
            if p.startswith("covers:"):
                return p[7:] in self.covers
            return fnmatch.fnmatchcase(self.name, p) or p in self.name
        yes = [p for p in patterns if not p.startswith("!")]
        no = [p[1:] for p in patterns if p.startswith("!")]
        return (not yes or any(map(one, yes))) and not any(map(one, no))


def parse(path):
    """Read a case's header: comment lines `# word: value` before the code."""
    case = Case(path, os.path.basename(path)[:-3])
    with open(path, encoding="utf-8") as f:
        text = f.read()
    case.digest = digest(text)
    for n, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            break
        m = re.match(r"#\s?([a-z-]+):\s*(.*?)\s*$", line)
        if not m or m.group(1) not in HEADERS:
            # A misspelt header must not silently mean the default.
            if m and " " not in m.group(1) and re.match(r"# (cover|nic|lane|kernel|tag|mem|mod|time|cap|fab)", line):
                raise CaseError(f"{path}:{n}: unknown header '{m.group(1)}'")
            continue
        key, value = m.groups()
        try:
            _set(case, key, value)
        except ValueError as e:
            raise CaseError(f"{path}:{n}: {key}: {e}") from None
    case.has_host = bool(re.search(r"^(function\s+)?host\s*\(\)", text, re.M))
    if not re.search(r"^(function\s+)?(server|client)\s*\(\)", text, re.M):
        raise CaseError(f"{path}: neither server() nor client()")
    return case


def _choice(words, allowed):
    for w in words:
        if w not in allowed:
            raise ValueError(f"'{w}' is none of {' '.join(allowed)}")
    return words


def _set(case, key, value):
    """Store one header into the case."""
    words = value.replace(",", " ").split()
    if key == "covers":
        case.covers += words
    elif key == "nics" and "/" in value:
        case.lan = tuple(map(int, value.split("/")))
        if len(case.lan) != 2 or not all(1 <= n <= 8 for n in case.lan):
            raise ValueError(f"'{value}' is not N/N, each 1..8")
        case.nics = max(case.lan)
    elif key in ("nics", "timeout", "memory"):
        setattr(case, key, int(value))
    elif key == "lanes":
        case.lanes = _choice(words, LANES)
    elif key == "kernels":
        # "KERNEL... -- why"; an ability of a kernel belongs in needs
        names, sep, why = value.partition(" -- ")
        if not sep or not why:
            raise ValueError("needs 'KERNEL... -- reason'")
        case.kernels = _choice(names.split(), kernels.ALL)
    elif key == "needs":
        case.needs = _choice(words, kernels.ABILITIES)
    elif key == "tags":
        case.tags += words
    elif key == "module":
        _choice(words, MODULES)
        case.module = (words * 2)[:2]
    elif key == "params":
        case.params = value
    elif key == "capture":
        case.capture = value == "yes"
    elif key == "allow-klog":
        # "REGEX -- why"
        regex, sep, why = value.partition(" -- ")
        if not sep or not why:
            raise ValueError("needs 'REGEX -- reason'")
        re.compile(regex)
        case.allow_klog.append(regex)
    elif key == "fabric":
        # "roce -- GROUP: why"
        m = re.fullmatch(r"roce -- (\w+): (.+)", value)
        if not m:
            raise ValueError("needs 'roce -- GROUP: reason'")
        case.fabric = (_choice(m.groups()[:1], NO_SIM)[0], m.group(2))


def digest(text):
    """The digest of a test that is kept with its results, without comments and without what it claims."""
    text = re.sub(r"(?m)^\s*covers\([^)]*\);\n", "", text)
    if re.search(r"(?m)^TEST\(", text):
        text = re.sub(r"(?s)/\*.*?\*/", "", text)
    else:
        text = re.sub(r"(?m)^\s*#(?! (?:module|nics|memory|params|timeout):).*\n", "", text)
    return hashlib.sha256(re.sub(r"(?m)^\s*\n", "", text).encode()).hexdigest()[:16]


def load_units(folder):
    """What each unit test covers, and its file's digest: {"test_cdc:name": (covers, digest)}."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if not re.match(r"(test|model)_\w+\.c$", name):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            text = f.read()
        for m in re.finditer(r"(?ms)^TEST\((\w+)\)\n(.*?)^}$", text):
            words = re.findall(r'covers\("([^"]*)"\)', m.group(2))
            found[f"{name[:-2]}:{m.group(1)}"] = (" ".join(words).split(), digest(text))
    return found


def load(folder=None):
    """All cases of a folder, by default of the project's folders, in the order of their names."""
    found = [parse(os.path.join(d, f)) for d in ([folder] if folder else FOLDERS) for f in os.listdir(d)
             if re.match(r"\d\d\w*-.*\.sh$", f)]
    return sorted(found, key=lambda case: case.name)
