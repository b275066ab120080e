#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the checkers in scripts/. Prints KTAP."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import ktap  # noqa: E402  pylint: disable=wrong-import-position

loader = importlib.machinery.SourceFileLoader("lock_comments", os.path.join(TOP, "scripts", "lock-comments"))
lock_comments = importlib.util.module_from_spec(importlib.util.spec_from_loader("lock_comments", loader))
loader.exec_module(lock_comments)


class LockComments(unittest.TestCase):
    """scripts/lock-comments"""

    def found(self, **files):
        """The functions that it names in these files."""
        with tempfile.TemporaryDirectory() as tmp:
            paths = []
            for name, text in files.items():
                paths.append(os.path.join(tmp, name.replace("_", ".")))
                with open(paths[-1], "w", encoding="utf-8") as f:
                    f.write(text)
            return [(line, name) for _, line, name, _ in lock_comments.scan(paths)]

    def test_refuses_a_claim(self):
        """Each form of the comment, when the function asserts nothing."""
        body = "static void f(struct a *a)\n{\n\ta->b = 1;\n}\n"
        for comment in ("/* Socket lock held */\n", "/* Mode SMC; conn->lock held. More. */\n", "/* RCU held */\n",
                        "/**\n * f() - what\n * @a: thing, socket lock held; dropped meanwhile\n *\n * Context: any.\n */\n",
                        "/*\n * The caller holds a->lock and\n * waits.\n */\n", "/* rmb_mutex is held */\n"):
            self.assertEqual([n for _, n in self.found(a_c=comment + body)], ["f"], comment)

    def test_takes_an_assertion(self):
        """Of any kind, in the function."""
        for line in ("lockdep_assert_held(&a->lock);", "sock_owned_by_me(sk);", "WARN_ON(!lockdep_sock_is_held(sk));",
                     "lockdep_assert_held_read(&a->lock);"):
            self.assertEqual(self.found(a_c=f"/* a->lock held */\nvoid f(struct a *a)\n{{\n\t{line}\n}}\n"), [], line)
        self.assertEqual(self.found(a_c="/* a->lock held */\nvoid f(struct a *a)\n\t__must_hold(&a->lock)\n{\n\ta->b = 1;\n}\n"), [])

    def test_knows_what_is_no_claim(self):
        """No lock, a lock that may be held, somebody else's lock; a comment that belongs to something else."""
        for comment in ("no lock held", "the connection's lock may be held", "process context, no socket lock held",
                        "socket lock held or not yet known to anybody", "called with the list's mutex held", "TCP copies with its lock held", "a reference is held"):
            self.assertEqual(self.found(a_c=f"/* {comment} */\nvoid f(void)\n{{\n\tg();\n}}\n"), [], comment)
        self.assertEqual(self.found(a_c="/* a->lock held */\nint x;\n\nvoid f(void)\n{\n\tg();\n}\n"), [])

    def test_reads_headers(self):
        """A prototype's comment, before or behind it, counts where the function asserts nothing."""
        header = "/* socket lock held */\nint f(struct a *a);\nvoid g(struct a *a);\t/* stops it; a->lock held */\nvoid h(void);\n"
        self.assertEqual(self.found(a_h=header), [(2, "f"), (3, "g")])
        self.assertEqual(self.found(a_h=header, a_c="int f(struct a *a)\n{\n\tlockdep_assert_held(&a->lock);\n}\n"), [(3, "g")])

    def test_finds_what_the_tree_has(self):
        """The tree's own assertions and exemptions fit together."""
        self.assertEqual(lock_comments.main([]), 0)


class WithLock(unittest.TestCase):
    """with_lock in scripts/common.sh"""

    def run_it(self, cache, code):
        """The code, with that cache: its output."""
        return subprocess.run(["bash", "-c", f'set -e; . "{TOP}/scripts/common.sh"; {code}'], env={**os.environ, "SMCR_CACHE": cache},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout

    def test_leaves_nothing_of_a_tree(self):
        """A tree's lock is in the tree, one of the cache in there."""
        with tempfile.TemporaryDirectory() as tmp:
            cache = os.path.join(tmp, "cache")
            self.assertEqual(self.run_it(cache, f"with_lock {tmp}/tree/build/um echo a; with_lock um-src echo b"), "a\nb\n")
            self.assertEqual(os.listdir(os.path.join(tmp, "tree/build")), ["um.lock"])
            self.assertEqual(os.listdir(os.path.join(cache, "lock")), ["um-src"])

    def test_one_at_a_time(self):
        """Who comes second waits."""
        with tempfile.TemporaryDirectory() as tmp:
            said = self.run_it(os.path.join(tmp, "cache"), f"""
                work() {{ mkdir {tmp}/in; sleep 0.2; rmdir {tmp}/in; }}
                for i in 1 2 3; do with_lock {tmp}/t/x work & done; wait; echo over""")
            self.assertTrue(said.endswith("over\n") and "File exists" not in said and "waiting" in said, said)


if __name__ == "__main__":
    ktap.main()
