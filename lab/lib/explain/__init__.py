# SPDX-License-Identifier: GPL-2.0
"""A capture of RDMA on Ethernet, explained and checked: the program behind lab/lab-explain.

    capture     frames, as tshark dissects them
    model       connections, queue pairs, links and memory, as far as they are known
    handshake   reads TCP and CLC                  \\
    rdma        reads RoCE packets, LLC and CDC     > into the model
    order       judges what a link carries, in the order of its PSNs
    analysis    passes every frame to its reader
    checks      the checks and their results
    output      timeline, diagram, statistics
    program     the command line

The contents of CLC, LLC and CDC messages are read by selftests/lib/wire.py and
not by tshark: tshark 4.0 reports every version 1 Proposal for IPv4 as
malformed, and dissects ADD LINK only as Linux sends it. Where both name a
message, they must agree. The capture is read once, frame by frame.
"""
