#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of calls that sockcmd does not have. AF_INET here is AF_SMC under `smcctl run`.

  sockfine.py ulp HOST PORT        getsockopt(TCP_ULP) of a connection without one
  sockfine.py sigio HOST PORT      a connect() that does not block ends with SIGIO
  sockfine.py recverr HOST PORT GO an ICMP error comes when GO exists; the
                                   connection goes on
  sockfine.py icmp PORT IFACE GO   the other side of that: a forged ICMP message
                                   about the connection to PORT of this host
  sockfine.py tos HOST PORT TOS    connect with IP_TOS
  sockfine.py connect4 CGROUP FROM TO    a BPF program that redirects connect()
                                   from address FROM to TO, as long as the group exists
  sockfine.py nodelay CGROUP       a BPF program that refuses TCP_NODELAY to the
                                   sockets of the group, as long as it exists
  sockfine.py refused HOST PORT    listen in that group: TCP_NODELAY is refused
                                   to the listener and to accepted sockets
  sockfine.py cookie HOST PORT     SO_COOKIE and SO_INCOMING_CPU are those of the
                                   TCP connection that ss shows
  sockfine.py cookies HOST PORT    the same of a listener and what it accepts
  sockfine.py queue HOST PORT      TCP_INFO of a listener counts three connections
                                   that wait for accept(), one less with each
  sockfine.py waiters HOST PORT    makes these connections
  sockfine.py filter HOST PORT     SO_ATTACH_FILTER that drops, then none
  sockfine.py stamp HOST PORT      SO_TIMESTAMP

The server echoes 5 bytes as often as they come. Exit status 1 if a test fails.
"""
import array
import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

SLOW = int(os.environ.get("SLOW", "1"))


def die(text):
    print(text)
    sys.exit(1)


def echo(s, data=b"12345"):
    s.settimeout(10 * SLOW)
    s.sendall(data)
    got = b""
    while len(got) < len(data):
        part = s.recv(len(data) - len(got))
        if not part:
            die("end of data")
        got += part
    if got != data:
        die(f"wrong data {got}")


def ulp(host, port):
    s = socket.create_connection((host, port))
    name = s.getsockopt(socket.IPPROTO_TCP, 31, 16)
    if name != b"":
        die(f"TCP_ULP: {name}")
    echo(s)


def sigio(host, port):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
    s = socket.socket()
    s.setblocking(False)
    fcntl.fcntl(s, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(s, fcntl.F_SETFL, fcntl.fcntl(s, fcntl.F_GETFL) | os.O_ASYNC)
    s.connect_ex((host, port))
    if not signal.sigtimedwait([signal.SIGIO], 5 * SLOW):
        die("no SIGIO")
    p = select.poll()
    p.register(s, select.POLLOUT)
    if not p.poll(0):
        die("SIGIO, but not connected")
    echo(s)


def wait_for(path):
    end = time.time() + 20 * SLOW
    while not os.path.exists(path):
        if time.time() > end:
            die(f"no {path}")
        time.sleep(0.05)


def recverr(host, port, go):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_IP, 11, 1)      # IP_RECVERR
    s.connect((host, port))
    echo(s)
    print("up", flush=True)
    wait_for(go)
    echo(s)
    echo(s)


def icmp(port, iface, go):
    sniff = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    sniff.bind((iface, 0))
    print("ready", flush=True)
    last = None
    end = time.time() + 20 * SLOW
    while not os.path.exists(go):
        if time.time() > end:
            die(f"no {go}")
        if not select.select([sniff], [], [], 0.05)[0]:
            continue
        p = sniff.recv(2048)
        tcp = p[(p[0] & 15) * 4:]
        if p[9] == 6 and struct.unpack("!H", tcp[2:4])[0] == port:
            # the next sequence number of the peer
            seq, = struct.unpack("!I", tcp[4:8])
            seq += struct.unpack("!H", p[2:4])[0] - (p[0] & 15) * 4 - (tcp[12] >> 4) * 4
            seq = seq + bool(tcp[13] & 2) & 0xffffffff
            last = p[12:16], p[16:20], tcp[:2], struct.pack("!I", seq)
    if not last:
        die("no packet of the connection")
    peer, me, sport, seq = last
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 60, 1, 0, 64, 6, 0, peer, me)
    body = struct.pack("!BBHI", 3, 1, 0, 0) + ip + sport + struct.pack("!H", port) + seq
    total = sum(array.array("H", body))
    total = (total & 0xffff) + (total >> 16)
    total = ~((total & 0xffff) + (total >> 16)) & 0xffff
    body = body[:2] + struct.pack("=H", total) + body[4:]
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    raw.sendto(body, (socket.inet_ntoa(peer), 0))


def tos(host, port, value):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(value, 0))
    s.connect((host, port))
    echo(s)


def insn(op, dst=0, src=0, off=0, imm=0):
    return struct.pack("=BBhi", op, dst | src << 4, off, imm)


def bpf(cmd, attr):
    libc = ctypes.CDLL(None, use_errno=True)
    attr = attr.ljust(128, b"\0")
    rc = libc.syscall(321, cmd, ctypes.c_char_p(attr), len(attr))
    if rc < 0:
        die(f"bpf({cmd}): {os.strerror(ctypes.get_errno())}")
    return rc


def attach(cgroup, kind, where, insns):
    """Attach a program of type KIND at WHERE in the group, for as long as that exists; then wait."""
    prog = b"".join(insns)
    code, gpl = ctypes.create_string_buffer(prog), ctypes.create_string_buffer(b"GPL")
    fd = bpf(5, struct.pack("=IIQQIIQIII", kind, len(prog) // 8, ctypes.addressof(code),
                            ctypes.addressof(gpl), 0, 0, 0, 0, 0, 0).ljust(68, b"\0")
             + struct.pack("=I", where))
    dirfd = os.open(cgroup, os.O_RDONLY)
    bpf(8, struct.pack("=IIII", dirfd, fd, where, 0))
    print("attached", flush=True)
    signal.pause()


def connect4(cgroup, old, new):
    def addr(a):
        return struct.unpack("=i", socket.inet_aton(a))[0]
    attach(cgroup, 18, 10, [                    # CGROUP_SOCK_ADDR, INET4_CONNECT
        insn(0x61, 2, 1, 4),                    # r2 = ctx->user_ip4
        insn(0xb4, 3, imm=addr(old)),           # w3 = old
        insn(0x5d, 2, 3, 2),                    # if r2 != r3 goto +2
        insn(0xb4, 2, imm=addr(new)),
        insn(0x63, 1, 2, 4),                    # ctx->user_ip4 = r2
        insn(0xb7, 0, imm=1), insn(0x95)])      # return 1


def nodelay(cgroup):
    attach(cgroup, 25, 22, [                    # CGROUP_SOCKOPT, SETSOCKOPT
        insn(0x61, 2, 1, 24),                   # r2 = ctx->level
        insn(0x61, 3, 1, 28),                   # r3 = ctx->optname
        insn(0xb7, 0, imm=1),
        insn(0x55, 2, 0, 2, 6),                 # if r2 != SOL_TCP goto +2
        insn(0x55, 3, 0, 1, 1),                 # if r3 != TCP_NODELAY goto +1
        insn(0xb7, 0, imm=0), insn(0x95)])      # return 0: EPERM


def refused(host, port):
    listener = socket.create_server((host, port))
    print("listens", flush=True)
    s, _ = listener.accept()
    for what, name in (listener, "listener"), (s, "accepted socket"):
        try:
            what.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            die(f"{name}: not refused")
        except PermissionError:
            pass
        what.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 100)
    s.sendall(s.recv(5, socket.MSG_WAITALL))


def known(s, port):
    """Fail unless ss shows the socket with its cookie."""
    cookie, = struct.unpack("=Q", s.getsockopt(socket.SOL_SOCKET, 57, 8))
    shown = subprocess.run(["ss", "-tanoeH"], capture_output=True, text=True, check=True).stdout
    mine = [w for line in shown.splitlines() if f":{port} " in line for w in line.split()]
    if f"sk:{cookie:x}" not in mine:
        die(f"cookie {cookie:x} is not shown: {mine}")


def cookie(host, port):
    s = socket.socket()
    first = s.getsockopt(socket.SOL_SOCKET, 57, 8)
    s.connect((host, port))
    echo(s)
    known(s, port)
    if s.getsockopt(socket.SOL_SOCKET, 57, 8) != first:
        die("another cookie after connect()")
    if s.getsockopt(socket.SOL_SOCKET, 49) < 0:     # SO_INCOMING_CPU
        die("no CPU")
    s.recv(1)


def cookies(host, port):
    listener = socket.create_server((host, port))
    s, _ = listener.accept()
    s.sendall(s.recv(5, socket.MSG_WAITALL))
    known(listener, port)
    known(s, port)
    if s.getsockopt(socket.SOL_SOCKET, 49) < 0:
        die("no CPU")


def queue(host, port):
    listener = socket.create_server((host, port), backlog=8)

    def waiting():
        return struct.unpack_from("=I", listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 64), 24)[0]

    def wanted(n):
        end = time.monotonic() + 5
        while waiting() != n:
            if time.monotonic() > end:
                die(f"{waiting()} connections wait, not {n}")
            time.sleep(0.01)

    for left in (3, 2, 1, 0):
        wanted(left)
        if left:
            s, _ = listener.accept()
            s.close()
    if len(listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 24)) != 24:
        die("a short TCP_INFO has another length")


def waiters(host, port):
    for s in [socket.create_connection((host, port)) for _ in range(3)]:
        s.recv(1)


def filter_(host, port):
    s = socket.create_connection((host, port))
    echo(s)
    drop = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0))    # ret 0
    s.setsockopt(socket.SOL_SOCKET, 26, struct.pack("@HP", 1, ctypes.addressof(drop)))
    s.settimeout(1 * SLOW)
    s.sendall(b"12345")
    try:
        die(f"in spite of the filter: {s.recv(5)}")
    except TimeoutError:
        pass
    s.setsockopt(socket.SOL_SOCKET, 27, 0)
    s.settimeout(20 * SLOW)
    if s.recv(5, socket.MSG_WAITALL) != b"12345":
        die("wrong data")
    echo(s)


def stamp(host, port):
    s = socket.create_connection((host, port))
    s.setsockopt(socket.SOL_SOCKET, 29, 1)      # SO_TIMESTAMP
    for _ in range(2):                          # the first may be sent before the option acts
        s.sendall(b"12345")
        s.settimeout(10 * SLOW)
        _, anc, _, _ = s.recvmsg(5, 128)
    if [a[:2] for a in anc] != [(socket.SOL_SOCKET, 29)]:
        die(f"ancillary data: {anc}")
    if abs(struct.unpack("@l", anc[0][2][:8])[0] - time.time()) > 60:
        die("another time")


def main():
    call = {"ulp": ulp, "sigio": sigio, "recverr": recverr, "icmp": icmp, "tos": tos,
            "connect4": connect4, "nodelay": nodelay, "refused": refused, "cookie": cookie,
            "cookies": cookies, "queue": queue, "waiters": waiters, "filter": filter_, "stamp": stamp}[sys.argv[1]]
    args = sys.argv[2:]
    if sys.argv[1] == "icmp":
        args[0] = int(args[0])
    elif sys.argv[1] not in ("connect4", "nodelay"):
        args[1] = int(args[1])
    call(*args)


main()
