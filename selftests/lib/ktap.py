# SPDX-License-Identifier: GPL-2.0
"""Runs Python tests by unittest and prints KTAP, which scripts/check counts.

    if __name__ == "__main__":
        ktap.main()             # the tests of this file; ktap.main(jobs=4): four at a time

    test_x.py [-k PATTERN]      those with PATTERN in their name

Tests are the methods of unittest.TestCase, and functions with a double
underscore in their name: area__what_holds. Plain assert is enough; the
docstring says what holds.
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import sys
import unittest


class Outcome(unittest.TestResult):
    """The result of one test: ok, not ok, or skipped; and why."""

    def __init__(self):
        super().__init__()
        self.status, self.why = "ok", ""

    def _bad(self, test, err):
        self.status = "not ok"
        self.why += self._exc_info_to_string(err, test)

    def addError(self, test, err):
        self._bad(test, err)

    def addFailure(self, test, err):
        self._bad(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self._bad(subtest, err)

    def addSkip(self, test, reason):
        self.status, self.why = "skip", reason

    def addUnexpectedSuccess(self, test):
        self.status, self.why = "not ok", "a success that was not expected"


def name_of(test):
    """The name of a test, as it is printed."""
    if isinstance(test, unittest.FunctionTestCase):
        return test.id()
    return ".".join(test.id().split(".")[-2:])


def flat(suite):
    """The tests of a suite, one after the other."""
    for t in suite:
        if isinstance(t, unittest.TestSuite):
            yield from flat(t)
        else:
            yield t


def functions(module):
    """Functions that are tests, in the order of the file."""
    for name, func in vars(module).items():
        if "__" in name and not name.startswith("_") and callable(func):
            yield named(name, func)


def named(name, func):
    """A test of a function, with this name."""
    test = unittest.FunctionTestCase(func)
    test.id = lambda: name
    return test


def run(test):
    """One test: its status, and why."""
    out = Outcome()
    test.run(out)
    return out.status, out.why


TESTS = []                      # for the forked processes, which get an index


def run_nth(n):
    """Run a test, by its index, in a process of its own."""
    result = run(TESTS[n])
    sys.stdout.flush()
    return result


def report(tests, results):
    """Print KTAP. Returns whether none failed."""
    print("KTAP version 1")
    print(f"1..{len(tests)}")
    good = True
    for i, (test, (status, why)) in enumerate(zip(tests, results), 1):
        if status == "not ok":
            good = False
            print("# " + why.strip().replace("\n", "\n# "))
        print(f"{'ok' if status == 'skip' else status} {i} {name_of(test)}" + (f" # SKIP {why}" if status == "skip" else ""), flush=True)
    return good


def main(jobs=1, more=()):
    """Run the tests of the program, and `more` of them; ends it with 1 if one failed."""
    module = sys.modules["__main__"]
    p = argparse.ArgumentParser(description=module.__doc__)
    p.add_argument("-k", metavar="PATTERN", default="", help="only tests with this in their name")
    args = p.parse_args()
    found = [*more, *functions(module), *flat(unittest.defaultTestLoader.loadTestsFromModule(module))]
    TESTS[:] = [t for t in found if args.k in name_of(t)]
    if not TESTS:
        sys.exit(f"{os.path.basename(sys.argv[0])}: no test has '{args.k}' in its name")
    if jobs == 1:
        good = report(TESTS, map(run, TESTS))
    else:
        with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
            good = report(TESTS, pool.map(run_nth, range(len(TESTS))))
    sys.exit(0 if good else 1)
