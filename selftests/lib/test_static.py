#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the checkers in scripts/. Prints KTAP."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import ktap  # noqa: E402  pylint: disable=wrong-import-position



def script(name):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), os.path.join(TOP, "scripts", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


docs_tables = script("docs-tables")
lock_comments = script("lock-comments")
layers = script("layers")


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
        """An assertion of any kind, in the function."""
        for line in ("lockdep_assert_held(&a->lock);", "sock_owned_by_me(sk);", "WARN_ON(!lockdep_sock_is_held(sk));",
                     "lockdep_assert_held_read(&a->lock);"):
            self.assertEqual(self.found(a_c=f"/* a->lock held */\nvoid f(struct a *a)\n{{\n\t{line}\n}}\n"), [], line)
        self.assertEqual(self.found(a_c="/* a->lock held */\nvoid f(struct a *a)\n\t__must_hold(&a->lock)\n{\n\ta->b = 1;\n}\n"), [])

    def test_knows_what_is_no_claim(self):
        """No lock, a lock that may be held, another object's lock; a comment that belongs to another declaration."""
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


class Options(unittest.TestCase):
    """scripts/docs-tables: the socket options of the kernel's headers, and the page about them"""

    HEADER = "#define SO_NEW\t90\n# define TCP_HEX 0x1f\n#define SO_SAME SO_NEW\n#define SO_TWICE_OLD 5\n#define SCM_NEW 3\n" \
             "#define TCP_MD5SIG_MAXKEYLEN 80\n#define IP_PMTUDISC_DO 2\n#define IPV6_FL_A_GET 0\n#define IPV6_FLOWINFO 11\n" \
             "#define IP_MACRO(x) (x)\n"

    def test_reads_a_header(self):
        """Options, in whatever form; no other names."""
        self.assertEqual(docs_tables.options_of(self.HEADER),
                         {"SO_NEW", "TCP_HEX", "SO_SAME", "SO_TWICE_OLD", "IPV6_FLOWINFO"})

    def test_wants_a_row(self):
        """By name or by what it begins with; other parts of the page do not count."""
        page = "``SO_NEW``\nWhat each option does over SMC-R\n    ``SO_TW*``, ``TCP_HEX``\nSOL_SOCKET options are applied\n"
        self.assertEqual(docs_tables.unmatched({"SO_NEW", "TCP_HEX", "SO_TWICE_OLD"}, page), ["SO_NEW"])

    def test_knows_this_machine(self):
        """Its headers are found."""
        self.assertGreater(len(docs_tables.header_options()), 150)


class Layers(unittest.TestCase):
    """scripts/layers"""

    HOUSE = {
        "core/plan.h": "int smcr_plan(int a);\n", "core/plan.c": '#include "plan.h"\nint smcr_plan(int a)\n{\n\treturn a;\n}\n',
        "rdma/link.h": "struct smcr_link_ops {\n\tvoid (*down)(void);\n};\n\nextern const struct smcr_link_ops *smcr_link_owner_ops;\n"
                       "void smcr_link_fail(void);\n",
        "rdma/link.c": '#include "rdma/link.h"\n\nconst struct smcr_link_ops *smcr_link_owner_ops __ro_after_init;\n\n'
                       "void smcr_link_fail(void)\n{\n\tsmcr_link_owner_ops->down();\n}\n",
        "lgr/lgr.h": "void smcr_lgr_down(void);\n",
        "lgr/lgr.c": '#include "core/plan.h"\n#include "rdma/link.h"\n#include "lgr/lgr.h"\n\nint smcr_n_lgrs = 3;\n\n'
                     "static int helper(void)\n{\n\treturn smcr_plan(1);\n}\n\n"
                     "void smcr_lgr_down(void)\n{\n\tif (helper())\n\t\tsmcr_link_fail();\n}\n",
        "wire.c": '#include "rdma/link.h"\n#include "lgr/lgr.h"\n\nstatic const struct smcr_link_ops up = { .down = smcr_lgr_down };\n\n'
                  "void smcr_wire(void)\n{\n\tsmcr_link_owner_ops = &up;\n}\n",
    }

    def found(self, *argv, page=True, **changed):
        """The output of layers --check for HOUSE in which these files ("rdma__link_c") are replaced, or appended to ("+")."""
        files = {name: "/* What it is about. */\n" + text for name, text in self.HOUSE.items()}
        for key, text in changed.items():
            name = re.sub("_([ch])$", r".\1", key.replace("__", "/"))
            old = files.get(name, "/* What it is about. */\n")
            files[name] = old + text[1:] if text.startswith("+") else text
        with tempfile.TemporaryDirectory() as tmp:
            for name, text in {**{"net/" + n: t for n, t in files.items()},
                               layers.PAGE: "A\n" + layers.BEGIN + layers.END + "B\n"}.items():
                os.makedirs(os.path.dirname(os.path.join(tmp, name)), exist_ok=True)
                with open(os.path.join(tmp, name), "w", encoding="utf-8") as f:
                    f.write(text)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                if page:
                    layers.main(["--write"], tmp)
                    out.seek(out.truncate(0))
                self.status = layers.main(list(argv) or ["--check"], tmp)
            with open(os.path.join(tmp, layers.PAGE), encoding="utf-8") as f:
                self.page = f.read()
        return out.getvalue().splitlines()

    def test_takes_a_house(self):
        """References down, by a table up, and within the floor."""
        self.assertEqual(self.found(), [])
        self.assertEqual(self.status, 0)

    def test_refuses_to_go_up(self):
        """Includes, calls, variables, a function whose address is taken; from sources and from headers; with the place."""
        for key, text, said in (
                ("rdma__link_c", '+#include "lgr/lgr.h"\n', "net/rdma/link.c:10: includes lgr/lgr.h, which is above"),
                ("rdma__link_h", '+#include "../lgr/lgr.h"\n', "net/rdma/link.h:8: includes lgr/lgr.h, which is above"),
                ("rdma__link_c", "+static void f(void)\n{\n\tsmcr_lgr_down();\n}\n", "net/rdma/link.c:12: names smcr_lgr_down of lgr/lgr.c, which is above"),
                ("rdma__link_c", "+int f(void)\n{\n\treturn smcr_n_lgrs;\n}\n", "net/rdma/link.c:12: names smcr_n_lgrs of lgr/lgr.c, which is above"),
                ("rdma__link_c", "+void *f = smcr_lgr_down;\n", "net/rdma/link.c:10: names smcr_lgr_down of lgr/lgr.c, which is above"),
                ("rdma__link_h", "+void smcr_lgr_down(void);\n", "net/rdma/link.h:8: names smcr_lgr_down of lgr/lgr.c, which is above"),
                ("core__plan_c", "+#define X smcr_link_fail()\n", "net/core/plan.c:7: names smcr_link_fail of rdma/link.c, which is above"),
                ("lgr__lgr_c", "+void *f = smcr_wire;\n", "net/lgr/lgr.c:18: names smcr_wire of wire.c, which is above"),
                ("ctl__nl_c", "+void smcr_nl(void)\n{\n\tsmcr_lgr_down();\n}\n", None),
                ("sock__io_c", "+void smcr_nl(void)\n{\n}\n", None)):
            self.assertEqual(self.found(**{key: text}), [said] if said else [], key + text)
            self.assertEqual(self.status, 1 if said else 0)

    def test_wants_includes_in_order(self):
        """Headers of net/ are included from the lowest floor to the highest; within a floor in any order."""
        self.assertEqual(self.found(sock__io_c='+#include "lgr/lgr.h"\n#include "rdma/link.h"\n'),
                         ["net/sock/io.c:3: includes rdma/link.h after lgr/lgr.h, which is on a higher floor"])
        self.assertEqual(self.found(sock__io_c='+#include "rdma/link.h"\n#include "lgr/lgr.h"\n'), [])

    def test_knows_what_is_no_call(self):
        """Comments, strings, tags, members, the name of a trace event, a static function of the same name."""
        for text in ("/* smcr_lgr_down() */\n", 'char *f = "smcr_lgr_down";\n', "struct smcr_lgr_down *f;\n", "int g(struct a *a)\n{\n\treturn a->smcr_lgr_down;\n}\n",
                     "TRACE_EVENT(smcr_lgr_down,\n\t    1);\n"):
            self.assertEqual(self.found(rdma__link_c="+" + text), [], text)
        self.assertEqual(self.found(sock__io_c="+static void smcr_link_f(void)\n{\n}\n", rdma__link_c="+void smcr_link_f(void)\n{\n}\n"), [])

    def test_refuses_circles(self):
        """Circles of headers; sources of a floor may call each other."""
        a, b = "+void smcr_a(void)\n{\n\tsmcr_b();\n}\n", "+void smcr_b(void)\n{\n\tsmcr_a();\n}\n"
        self.assertEqual(self.found(hs__a_c=a, hs__b_c=b), [])
        self.assertEqual(self.found(hs__a_h='+#include "hs/b.h"\n', hs__b_h='+#include "a.h"\n'),
                         ["net/hs/a.h:2: includes hs/b.h, which leads back", "net/hs/b.h:2: includes hs/a.h, which leads back"])

    def test_refuses_what_is_nowhere(self):
        """A folder that is no floor, a file beside them, a table filled in elsewhere, a file that is too long or has no first comment."""
        self.assertEqual(self.found(attic__a_c="+int smcr_x;\n"), ["net/attic/a.c:1: is on no floor"])
        self.assertEqual(self.found(new_c="+int smcr_x;\n"), ["net/new.c:1: is on no floor"])
        self.assertEqual(self.found(lgr__lgr_c="+static void f(void)\n{\n\tsmcr_link_owner_ops = 0;\n}\n"),
                         ["net/lgr/lgr.c:20: only net/wire.c fills in the tables for calls to floors above"])
        self.assertEqual(self.found(lgr__a_c="+" + "\n" * 700), ["net/lgr/a.c:701: has 701 lines, 700 at most"])
        self.assertEqual(self.found(lgr__a_c="+" + "\n" * 699), [])
        self.assertEqual(self.found(lgr__a_c="int smcr_x;\n"), ["net/lgr/a.c:1: its first comment has no first sentence"])

    def test_writes_the_table(self):
        """Between the markers, from the first comments; --check notices a table that is out of date."""
        self.found("--write", lgr__lgr_h="/*\n * Groups:\n * all. More\n */\n")
        self.assertRegex(self.page, r"(?s)^A\n.*``net/lgr``\n    Link groups.*``lgr\.\[ch\]``  What it is about\n.*B\n$")
        self.assertEqual(self.found(page=False), [layers.PAGE + ": out of date; run scripts/layers --write"])

    def test_prints_the_floors(self):
        """From the highest, each file with its lines; a header counts with its source."""
        with tempfile.TemporaryDirectory() as tmp:
            for name, text in self.HOUSE.items():
                os.makedirs(os.path.dirname(os.path.join(tmp, "net", name)), exist_ok=True)
                with open(os.path.join(tmp, "net", name), "w", encoding="utf-8") as f:
                    f.write("/* A. */\n" + text)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(layers.main([], tmp), 0)
        said = out.getvalue().splitlines()
        self.assertEqual([line.split(":")[0] for line in said if line[0] != " "],
                         ["net"] + ["net/" + f for f in reversed(layers.FLOORS) if f])
        self.assertIn("    lgr.[ch]                19", said)

    def test_finds_what_the_tree_has(self):
        """The tree obeys its own order."""
        self.assertEqual(layers.main(["--check"]), 0)


class WithLock(unittest.TestCase):
    """with_lock in scripts/common.sh"""

    def run_it(self, cache, code):
        """Run the code with that cache; returns its output."""
        return subprocess.run(["bash", "-c", f'set -e; . "{TOP}/scripts/common.sh"; {code}'], env={**os.environ, "SMCR_CACHE": cache},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout

    def test_leaves_nothing_of_a_tree(self):
        """The lock of a tree is in the tree, that of the cache in the cache."""
        with tempfile.TemporaryDirectory() as tmp:
            cache = os.path.join(tmp, "cache")
            self.assertEqual(self.run_it(cache, f"with_lock {tmp}/tree/build/um echo a; with_lock um-src echo b"), "a\nb\n")
            self.assertEqual(os.listdir(os.path.join(tmp, "tree/build")), ["um.lock"])
            self.assertEqual(os.listdir(os.path.join(cache, "lock")), ["um-src"])

    def test_one_at_a_time(self):
        """The second process waits."""
        with tempfile.TemporaryDirectory() as tmp:
            said = self.run_it(os.path.join(tmp, "cache"), f"""
                work() {{ mkdir {tmp}/in; sleep 0.2; rmdir {tmp}/in; }}
                for i in 1 2 3; do with_lock {tmp}/t/x work & done; wait; echo over""")
            self.assertTrue(said.endswith("over\n") and "File exists" not in said and "waiting" in said, said)


if __name__ == "__main__":
    ktap.main()
