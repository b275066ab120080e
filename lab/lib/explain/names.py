# SPDX-License-Identifier: GPL-2.0
"""Numbers that several modules share, and their names as text."""

import ipaddress

from wire import (ADD_LINK, ADD_LINK_CONT, CONFIRM_LINK, CONFIRM_RKEY, CONFIRM_RKEY_CONT, DELETE_LINK, DELETE_RKEY, TEST_LINK,
                  ip_of)

CM_QP = 1                       # queue pair of the connection manager
UD_SEND = 0x64                  # the only opcode there
MTUS = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
PLANES = ("TCP", "CM", "LLC", "CDC", "WRITE", "READ", "SEND", "ATOMIC", "ACK", "other")


def llc_text(m):
    """Contents of an LLC message as text."""
    if m.type == CONFIRM_LINK:
        return (f", link {m.link}, QP {m.qpn:#x}, GID {addr(m.gid)}, user ID {m.user_id:#010x}, at most {m.max_links} links" +
                (", no eye catchers" if m.flags else ""))
    if m.type == ADD_LINK:
        if m.rejected:
            return f", link {m.link} rejected, reason {m.reason}"
        return f", link {m.link}, QP {m.qpn:#x}, GID {addr(m.gid)}, first PSN {m.psn}"
    if m.type == ADD_LINK_CONT:
        return f", link {m.link}, {m.left} RTokens left" + "".join(f", RKey {old:#x} is {new:#x} there, address {va:#x}"
                                                                   for old, new, va in m.pairs)
    if m.type == CONFIRM_RKEY_CONT:
        return others(m) + (", negative" if m.negative else "")
    if m.type == DELETE_LINK:
        return (f", {'all links' if m.all else f'link {m.link}'}, {'orderly' if m.orderly else 'at once'}, "
                f"reason {m.reason:#010x}")
    if m.type == CONFIRM_RKEY:
        return f", RKey {m.rkey:#x}, address {m.va:#x}" + others(m) + (", negative" if m.negative else "")
    if m.type == DELETE_RKEY:
        return ", RKeys " + " ".join(f"{k:#x}" for k in m.rkeys) + (", negative" if m.negative else "")
    return f", {m.raw[4:20].hex()}" if m.type == TEST_LINK else ""


def others(m):
    """RTokens of a CONFIRM RKEY on other links, as text."""
    return "".join(f", on link {n} RKey {rkey:#x}, address {va:#x}" for n, rkey, va in m.others)


def mac(raw):
    """A MAC address as text."""
    return raw.hex(":")


def addr(raw):
    """An IP address or GID as text."""
    return str(ipaddress.ip_address(ip_of(raw) if len(raw) == 16 else raw))


def nbytes(n):
    """A number of bytes as text, with a binary unit only if it is exact: 64 B, 2 MiB, 16380 B."""
    n = n or 0
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if n >= 1 << shift and not n & ((1 << shift) - 1):
            return f"{n >> shift} {unit}"
    return f"{n} B"
