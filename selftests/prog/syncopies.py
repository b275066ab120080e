#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Two copies of a SYN that offers SMC-R, from an address that no host has.

  syncopies.py DEVICE FROM TO PORT MAC GO    the second when GO exists

Each is sent, and received, on a processor of its own. Prints "sent" when one of them has been
processed and, when both have, the numbers of SYN-ACKs with and without the option. Exit status 0
if all are alike.
"""
import os
import socket
import struct
import sys
import time

ETH_P_IP, SYN, ACK = 0x0800, 0x02, 0x10
OPTION = bytes.fromhex("fe06e2d4c3d9")


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def syn(own_mac, mac, source, target, port):
    options = bytes([2, 4, 5, 0xb4]) + OPTION + bytes([1, 1])
    pseudo = socket.inet_aton(source) + socket.inet_aton(target) + struct.pack("!HH", socket.IPPROTO_TCP, 20 + len(options))
    tcp = bytearray(struct.pack("!HHIIBBHHH", 40000, port, 0x12345678, 0, (20 + len(options)) // 4 << 4, SYN, 65535, 0, 0) + options)
    tcp[16:18] = checksum(pseudo + bytes(tcp)).to_bytes(2, "big")
    ip = bytearray(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 1, 0, 64, socket.IPPROTO_TCP, 0,
                               socket.inet_aton(source), socket.inet_aton(target)))
    ip[10:12] = checksum(bytes(ip)).to_bytes(2, "big")
    return mac + own_mac + ETH_P_IP.to_bytes(2, "big") + bytes(ip) + bytes(tcp)


def options_of(frame, port):
    """Of a SYN-ACK from that port, else None."""
    if frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_TCP:
        return None
    tcp = frame[14 + (frame[14] & 15) * 4:]
    if int.from_bytes(tcp[:2], "big") != port or tcp[13] & (SYN | ACK) != SYN | ACK:
        return None
    return tcp[20:(tcp[12] >> 4) * 4]


def send_on(cpu, device, frame):
    """Send in a process of its own: the call returns when the SYN has been processed."""
    if os.fork():
        return
    os.sched_setaffinity(0, {cpu})
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((device, ETH_P_IP))
        s.send(frame)
    os._exit(0)


def main(device, source, target, port, mac, go):
    end = time.monotonic() + 20
    port = int(port)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP)) as s:
        s.bind((device, ETH_P_IP))
        frame = syn(s.getsockname()[4], bytes.fromhex(mac.replace(":", "")), source, target, port)
        send_on(1, device, frame)
        while not os.path.exists(go):
            if time.monotonic() > end:
                return 1
            time.sleep(0.01)
        send_on(0, device, frame)
        os.wait()
        print("sent", flush=True)
        os.wait()
        time.sleep(0.2)
        s.setblocking(False)
        got = []
        try:
            while True:
                got.append(options_of(s.recv(2048), port))
        except BlockingIOError:
            pass
    got = [OPTION in g for g in got if g is not None]
    print(f"SYN-ACKs: {got.count(True)} with, {got.count(False)} without", flush=True)
    return 0 if got and len(set(got)) == 1 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
