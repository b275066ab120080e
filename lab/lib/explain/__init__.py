# SPDX-License-Identifier: GPL-2.0
"""A capture of RDMA on Ethernet, explained and checked: the program behind lab/lab-explain.

    capture     frames, as tshark takes them apart
    model       connections, queue pairs, links and memory, as far as they are known
    handshake   reads TCP and CLC                  \\
    rdma        reads RoCE packets, LLC and CDC     > into the model
    order       judges what a link carries, in the order of its PSNs
    analysis    takes every frame to its reader
    checks      the checks, and what became of them
    output      timeline, diagram, statistics
    program     the command line

What stands inside of CLC, LLC and CDC messages is read by selftests/lib/wire.py
and not by tshark: tshark 4.0 takes every version 1 Proposal for IPv4 for
malformed, and knows ADD LINK only as Linux sends it. Where both name a message,
they must agree. The capture is read once, frame by frame.
"""
