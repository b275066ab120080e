# SPDX-License-Identifier: GPL-2.0-only
"""Coverage of net/ that selftests/run --gcov left in the folder of a case."""

import glob
import json
import os
import shutil
import subprocess
import tempfile


def files(text, top):
    """gcov's JSON reports, one a line: yields each source below net/ of `top` as (path below it, its report)."""
    for line in text.splitlines():
        data = json.loads(line)
        for f in data["files"]:
            path = os.path.relpath(os.path.normpath(os.path.join(data.get("current_working_directory", ""), f["file"])), top)
            if path.startswith("net/") and "/gen/" not in path:
                yield path[4:], f


def reports(folder, build, *options):
    """gcov's JSON reports of one guest, from its *.gcda and the *.gcno of the build that was tested."""
    with tempfile.TemporaryDirectory() as tmp:
        for gcda in glob.glob(os.path.join(folder, "**", "*.gcda"), recursive=True):
            name = os.path.relpath(gcda, folder)[:-5]
            note = os.path.join(build, "net", name + ".gcno")
            if os.path.exists(note):
                flat = name.replace("/", "-")
                shutil.copy(gcda, os.path.join(tmp, flat + ".gcda"))
                os.symlink(note, os.path.join(tmp, flat + ".gcno"))
        found = sorted(f for f in os.listdir(tmp) if f.endswith(".gcda"))
        if not found:
            return ""
        tool = shutil.which("gcov-12") or "gcov"
        return subprocess.run([tool, *options, "-j", "-t", *found], cwd=tmp, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True).stdout
