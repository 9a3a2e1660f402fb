"""The load generator: connections that talk in turns over one epoll, timed. It knows no protocol and starts no server.

It is a process of its own, so that its processor time can be told from the server's, and compiled where it can be.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import time
from typing import Final

from mypy_extensions import i64

from bench.tongues.table import tongue
from bench.tongues.tongue import Tongue

READ_BYTES: Final[i64] = 1 << 16
PATIENCE_S: Final = 10
TICK_S: Final[float] = 1.0 / os.sysconf("SC_CLK_TCK")


class Meter:
    """What was answered since it was made, and how long each answer took."""

    def __init__(self) -> None:
        self.operations: i64 = 0
        self.waits_ns: list[int] = []
        self.counts: list[int] = []  # answers that took so long, beside it

    def percentile_us(self, share: float) -> float:
        ranked = sorted(zip(self.waits_ns, self.counts, strict=True))
        left = share * sum(self.counts)
        for wait_ns, count in ranked:
            left -= count
            if left <= 0:
                return wait_ns / 1000
        return 0.0


class Talk:
    """One connection: says a turn, times its answers, and says the next when the last of them is in."""

    def __init__(self, sock: socket.socket, tongue: Tongue) -> None:
        self.sock: socket.socket = sock
        self.tongue: Tongue = tongue
        self._waiting: i64 = 0
        self._said_ns: i64 = 0
        self._within: bool = False  # an operation that takes more than one turn

    def say(self) -> None:
        requests = self.tongue.say()
        self._waiting = self.tongue.in_flight
        if not self._within:
            self._said_ns = time.perf_counter_ns()
        self.sock.sendall(requests)

    def hear(self, meter: Meter) -> None:
        data = self.sock.recv(READ_BYTES)
        wait_ns = time.perf_counter_ns() - self._said_ns
        if not data:
            raise ConnectionError("the server closed the connection")
        answers = self.tongue.hear(data)
        operations = self.tongue.operations()
        self._within = operations == 0
        if operations:
            meter.operations += answers * operations
            meter.waits_ns.append(wait_ns)
            meter.counts.append(answers)
        self._waiting -= answers
        if self._waiting == 0:
            self.say()


def drive(talks: list[Talk], seconds: float) -> Meter:
    """The talks go on for so long, and until there is an answer."""
    meter = Meter()
    until = time.monotonic() + seconds
    if len(talks) == 1:
        drive_one(talks[0], meter, until)
    else:
        drive_many(talks, meter, until)
    return meter


def drive_one(talk: Talk, meter: Meter, until: float) -> None:
    """Without asking what is readable: that would be a call in every wait."""
    while time.monotonic() < until or meter.operations == 0:
        talk.hear(meter)


def drive_many(talks: list[Talk], meter: Meter, until: float) -> None:
    by_number = {talk.sock.fileno(): talk for talk in talks}
    with select.epoll() as poll:
        for number in by_number:
            poll.register(number, select.EPOLLIN)
        while time.monotonic() < until or meter.operations == 0:
            ready = poll.poll(PATIENCE_S)
            if not ready:
                raise TimeoutError(f"no answer for {PATIENCE_S} s")
            for number, _ in ready:
                by_number[number].hear(meter)


def connected(port: int) -> socket.socket:
    """It blocks: it is read only when there is something or nothing else to do, and a turn fits the buffers."""
    sock = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
    sock.settimeout(None)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", PATIENCE_S, 0))
    return sock


def cpu_s(pid: int) -> float:
    """Processor time of all threads of a process: the kernel's clock of that pid, finer than the ticks of /proc."""
    return time.clock_gettime_ns((-pid - 1) * 8 + 2) / 1e9


def machine_s() -> float:
    """Processor time of all that ran on this machine, and what its host took away from it."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _iowait, irq, softirq, steal = file.readline().split()[1:9]
    return sum(map(int, (user, nice, system, irq, softirq, steal))) * TICK_S


def begun(load: dict[str, str]) -> list[Talk]:
    """Every connection made and greeted; then all say their first turn."""
    talks = []
    for number in range(int(load["connections"])):
        spoken = tongue(load["tongue"], number, int(load["in_flight"]), int(load["queues"]))
        talks.append(Talk(connected(int(load["port"])), spoken))
    for talk in talks:
        talk.tongue.greet(talk.sock)
    for talk in talks:
        talk.say()
    return talks


def run(load: dict[str, str]) -> dict[str, float]:
    """Warm up, measure, tell: operations and messages a second, waits, and processor time of both sides."""
    talks = begun(load)
    drive(talks, float(load["warm_s"]))
    before = clocks(int(load["pid"]))
    meter = drive(talks, float(load["seconds"]))
    spent, own, server, machine = (now - then for now, then in zip(clocks(int(load["pid"])), before, strict=True))
    for talk in talks:
        talk.sock.close()
    operations = float(meter.operations)
    return {
        "rate": operations / spent,
        "messages": operations / float(talks[0].tongue.message_operations) / spent,
        "p50_us": meter.percentile_us(0.50),
        "p99_us": meter.percentile_us(0.99),
        "load_share": own / spent,
        "load_us": own / operations * 1e6,
        "server_share": server / spent,
        "server_us": server / operations * 1e6,
        "others_share": max(machine - own - server, 0.0) / spent,
    }


def clocks(server_pid: int) -> list[float]:
    """Of the wall, of the generator, of the server, of the machine, in seconds."""
    return [time.monotonic(), cpu_s(os.getpid()), cpu_s(server_pid), machine_s()]


def main(words: list[str]) -> None:
    """`name=value` for each field of a load; the result as JSON."""
    print(json.dumps(run(dict(word.split("=", 1) for word in words))))
