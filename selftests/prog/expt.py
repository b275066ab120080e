#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""CPython's test_asyncore.test_handle_expt between two hosts.

    expt.py server select|poll PORT DONE	until the file DONE is there
    expt.py client select|poll HOST PORT

The test has client and server in one process, on a loopback address, where there is
no RDMA. Each host runs the test's own method, without the other host's half of it.
"""
import os
import sys
import time
import unittest
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
from test import test_asyncore  # noqa: E402


class Absent:
    """Stand-in for the half of the test that the other host runs."""
    done = None

    def __init__(self, family=None, address=None, handler=None):
        self.address = PEER

    def __getattr__(self, name):
        if name != "flag":
            raise AttributeError(name)
        return os.path.exists(self.done)


def serve(case, done):
    """Make the case a server: one connection, whose handler sends; it stays until the client has a result."""
    def wait(self, instance, timeout=30):
        end = time.monotonic() + timeout
        while not instance.flag and time.monotonic() < end:
            if len(test_asyncore.asyncore.socket_map) < 2:
                test_asyncore.asyncore.loop(timeout=0.05, count=1, use_poll=self.use_poll)
            else:
                time.sleep(0.05)
    Absent.done = done
    case.addr = PEER
    case.loop_waiting_for_flag = wait
    test_asyncore.BaseClient = Absent


PEER = None
role, use_poll = sys.argv[1], sys.argv[2] == "poll"
Case = test_asyncore.TestAPI_UseIPv4Poll if use_poll else test_asyncore.TestAPI_UseIPv4Select
if role == "server":
    PEER = ("0.0.0.0", int(sys.argv[3]))
    serve(Case, sys.argv[4])
else:
    PEER = (sys.argv[3], int(sys.argv[4]))
    test_asyncore.BaseServer = Absent
result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite([Case("test_handle_expt")]))
sys.exit(not result.wasSuccessful() or bool(result.skipped))
