"""The power is cut while some connections publish, on penstock and on its peers alike: what was acknowledged, what of
it is lost, and what was acknowledged after the disk had died."""

from __future__ import annotations

import math
import os
import platform
import random
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bench import machine
from bench.tables import Table
from torture.crowd.clients import drive
from torture.power.loopdisk import LoopDisk
from torture.power.peers import Peer, Running

CONNECTIONS = 4
IN_FLIGHT = 10
BODY_BYTES = 256
MOMENT_S = (0.2, 2.0)  # the cut comes between these, from the first publish on
AFTER_S = 1.0  # so long it is published on after the cut
END_S = 20.0  # so soon a server ends that has hung up
DISK_BYTES = 512 << 20


@dataclass
class Ledger:
    """What was published on one disk, by body: when it was sent, and when it was acknowledged."""

    sent_s: dict[bytes, float] = field(default_factory=dict)
    told_s: dict[bytes, float] = field(default_factory=dict)
    cut_s: tuple[float, float] = (math.inf, math.inf)  # just before, just after


class Publisher:
    """One connection: some publishes in one segment, then their answers, and again."""

    def __init__(self, port: int, peer: Peer, ledger: Ledger, name: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.closed = False
        self.waiting: deque[bytes] = deque()
        self._peer = peer
        self._ledger = ledger
        self._name = name
        self._number = 0
        self._data = b""

    def go_on(self) -> None:
        now_s = time.monotonic()
        for _ in range(IN_FLIGHT):
            self._number += 1
            body = f"{self._name}.{self._number} ".encode().ljust(BODY_BYTES, b"x")
            self._ledger.sent_s[body] = now_s
            self.waiting.append(body)
        try:
            self.socket.sendall(b"".join(map(self._peer.publish, self.waiting)))
        except OSError:
            self.closed = True

    def readable(self) -> None:
        try:
            data = self.socket.recv(1 << 16)
        except OSError:
            data = b""
        self.closed = not data
        now_s = time.monotonic()
        *lines, self._data = (self._data + data).split(b"\n")
        for line in lines:
            body = self.waiting.popleft()
            if line.startswith(self._peer.told):
                self._ledger.told_s[body] = now_s


@dataclass
class Count:
    """What came of the cuts on one server."""

    cuts: int = 0
    told: int = 0  # acknowledged before the cut
    lost: int = 0  # of these
    amid: int = 0  # lost, and acknowledged while the power was being cut
    holes: int = 0  # there, though asked for after something that is lost had been acknowledged
    late: int = 0  # acknowledged, and asked for after the cut
    ended: int = 0  # cuts after which the server ended by itself
    unstarted: int = 0  # cuts after which it did not start

    def add(self, ledger: Ledger, there: set[bytes]) -> None:
        before_s, after_s = ledger.cut_s
        early = {body for body, told_s in ledger.told_s.items() if told_s < before_s}
        late = {body for body in ledger.told_s if ledger.sent_s[body] > after_s}
        lost = ledger.told_s.keys() - late - there
        end_s = min((ledger.told_s[body] for body in lost), default=math.inf)
        self.cuts += 1
        self.told += len(early)
        self.lost += len(lost & early)
        self.amid += len(lost - early)
        self.holes += sum(ledger.sent_s[body] > end_s for body in there)
        self.late += len(late)


def cut_once(peer: Peer, chance: random.Random, count: Count) -> None:
    ledger = Ledger()
    there: set[bytes] = set()
    with LoopDisk(DISK_BYTES) as disk:
        with peer.start(disk) as running:
            count.ended += _publish_into_a_cut(disk, peer, running, ledger, chance)
        disk.remount()
        try:
            with peer.start(disk) as running:
                there = peer.read(running.port)
        except RuntimeError:
            count.unstarted += 1
    count.add(ledger, there)


def _publish_into_a_cut(disk: LoopDisk, peer: Peer, running: Running, ledger: Ledger, chance: random.Random) -> bool:
    """Whether the server ended by itself."""

    def cut() -> None:
        before_s = time.monotonic()
        disk.cut()
        ledger.cut_s = before_s, time.monotonic()

    publishers = [Publisher(running.port, peer, ledger, str(number)) for number in range(CONNECTIONS)]
    moment_s = chance.uniform(*MOMENT_S)
    cutter = threading.Timer(moment_s, cut)
    killer = threading.Timer(moment_s + AFTER_S, running.process.kill)
    cutter.start()
    killer.start()
    drive(publishers)
    hung_up = killer.is_alive()
    killer.cancel()
    cutter.join()
    return hung_up and _ends(running)


def _ends(running: Running) -> bool:
    try:
        running.process.wait(END_S)
    except subprocess.TimeoutExpired:
        return False
    return True


Counts = Sequence[tuple[Peer, Count]]


def compare(peers: Sequence[Peer], cuts: int, seed: int) -> Iterator[Counts]:
    """What there is after every round: one cut on each, so that whatever else the machine does meets all of them."""
    counts = [(peer, Count()) for peer in peers]
    for number in range(cuts):
        for peer, count in counts:
            cut_once(peer, random.Random(f"{seed} {number}"), count)
        yield counts


HEADS = (
    "server",
    "durability",
    "power cuts",
    "acknowledged",
    "lost",
    "acknowledged after the disk had died",
    "then it",
)


def table(counts: Counts) -> Table:
    return Table("power", HEADS, [_row(peer, count) for peer, count in counts], ())


def _row(peer: Peer, count: Count) -> list[str]:
    numbers = [f"{number:,}" for number in (count.cuts, count.told, count.lost, count.late)]
    return [peer.name, peer.durable, *numbers, _end(count)]


def _end(count: Count) -> str:
    end = {count.cuts: "ends", 0: "runs on"}.get(count.ended, f"ends, {count.ended} times of {count.cuts}")
    return f"{end}; did not start again: {count.unstarted}" if count.unstarted else end


def laws(counts: Counts) -> tuple[str, ...]:
    """Those of ours that are broken; of the others nothing is asked."""
    return tuple(
        f"{law}: {peer.name}, {peer.durable}: {count}"
        for peer, count in counts
        for law, holds in _laws(peer, count).items()
        if peer.ours and not holds
    )


def _laws(peer: Peer, count: Count) -> dict[str, bool]:
    return {
        "lost": not peer.survives or count.lost + count.amid == 0,
        "holes": count.holes == 0,
        "answered after the disk had died": not peer.waits or count.late == 0,
        "did not end by itself": count.ended == count.cuts,
        "did not start again": count.unstarted == 0,
    }


def about(peers: Sequence[Peer]) -> str:
    """One paragraph: on what it was measured, and how."""
    commands = sorted({peer.command for peer in peers if peer.command})
    versions = "".join(f"{command} {machine.version(command)}, " for command in commands)
    return (
        f"{datetime.now(UTC):%Y-%m-%d} UTC; {machine.processor()}, {os.cpu_count()} cores; Linux {platform.release()}; "
        f"ext4 on a loop device; {versions}from Debian; penstock {machine.how(machine.is_compiled())}. "
        f"{CONNECTIONS} connections publish {BODY_BYTES} bytes at a time, {IN_FLIGHT} in flight each, on a disk of "
        f"their own; the power is cut {MOMENT_S[0]:g} to {MOMENT_S[1]:g} s after the first, and they go on for "
        f"{AFTER_S:g} s. Then everything that is there is read back."
    )
