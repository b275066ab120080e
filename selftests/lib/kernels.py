#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The kernels of selftests/kernels.toml.

    kernels.py                 the names
    kernels.py FIELD=VALUE     those whose FIELD is VALUE, or has it
    kernels.py NAME FIELD      a field of one, the words of a list on one line
"""

import os
import sys
import tomllib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

with open(os.path.join(TOP, "selftests", "kernels.toml"), "rb") as _f:
    ALL = tomllib.load(_f)

LANES = ("uml", "qemu")
BY_LANE = {lane: tuple(k for k, v in ALL.items() if v["lane"] == lane) for lane in LANES}
ABILITIES = sorted({a for v in ALL.values() for a in v["provides"]})


def provides(kernel):
    """What cases may ask of a kernel."""
    return ALL[kernel]["provides"]


def field(name, default=None):
    """{kernel: that field} of those that have it, or of all with a default."""
    return {k: v.get(name, default) for k, v in ALL.items() if name in v or default is not None}


def main(args):
    """Returns the exit status."""
    if not args:
        print(*ALL)
    elif len(args) == 1 and "=" in args[0]:
        key, _, value = args[0].partition("=")
        print(*(k for k, v in ALL.items() if str(v.get(key)).lower() == value or (isinstance(v.get(key), list) and value in v[key])))
    elif len(args) == 2 and args[0] in ALL:
        value = ALL[args[0]].get(args[1])
        if value is None:
            return 1
        print(*(value if isinstance(value, list) else [str(value).lower() if isinstance(value, bool) else value]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
