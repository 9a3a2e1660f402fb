"""A process that times round trips, so that nobody else's work is in them: a push and a pop of `pinpriq`, and, in turn
with them, a bare echo by a process that does nothing else. It tells what it saw each time it is asked.

A line on stdin asks; one on stdout answers: p50 and p99 of the server, p99 of the echo, in microseconds.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.dialects.fuzz_pinpriq import pop, push

ROOT = Path(__file__).parents[2]
QUEUE = b"probe"
PACKET = push(QUEUE, 0, 1, b"", b"x" * 256)
ANSWER = b"\0\1" + b"\0\0" + b"\1\0" + b"x" * 256
GAP_S = 0.02


class Probe:
    """The process, as its parent sees it."""

    def __init__(self, port: int) -> None:
        command = [sys.executable, "-m", "torture.soak.probe", str(port)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)

    def told(self) -> tuple[float, float, float]:
        """Since it was asked last."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print("tell", file=self._process.stdin, flush=True)
        server_50, server_99, echo_99 = map(float, self._process.stdout.readline().split())
        return server_50, server_99, echo_99

    def close(self) -> None:
        self._process.communicate()


@contextlib.contextmanager
def probing(port: int) -> Iterator[Probe]:
    probe = Probe(port)
    try:
        yield probe
    finally:
        probe.close()


def main(port: int) -> None:
    echo = _echo()
    with socket.create_connection(("127.0.0.1", port), 30) as server:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        trips = (lambda: _trip(server, PACKET + pop(QUEUE), ANSWER), lambda: _trip(echo, PACKET, PACKET))
        while (seen := _watch(*trips)) is not None:
            of_server, of_echo = seen
            told = percentile(of_server, 50), percentile(of_server, 99), percentile(of_echo, 99)
            print(*(f"{value:.1f}" for value in told), flush=True)


def _watch(*trips: Callable[[], float]) -> tuple[list[float], ...] | None:
    """How long each took, until somebody asks; None: nobody will any more."""
    seen: tuple[list[float], ...] = tuple([] for _ in trips)
    while True:
        for trip, waits in zip(trips, seen, strict=True):
            waits.append(trip())
        if select.select([0], [], [], GAP_S)[0]:
            return seen if os.read(0, 4_096) else None


def _trip(partner: socket.socket, request: bytes, answer: bytes) -> float:
    """In microseconds."""
    began = time.perf_counter_ns()
    partner.sendall(request)
    heard = b""
    while len(heard) < len(answer):
        data = partner.recv(4_096)
        if not data:
            raise EOFError("the partner has closed")
        heard += data
    if heard != answer:
        raise ValueError(f"another answer: {heard!r}")
    return (time.perf_counter_ns() - began) / 1_000


def _echo() -> socket.socket:
    """A process that gives back what it gets, until its partner is gone."""
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork():
        ours = socket.create_connection(listener.getsockname())
        ours.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return ours
    theirs, _ = listener.accept()
    while data := theirs.recv(4_096):
        theirs.sendall(data)
    os._exit(0)


def percentile(waits: list[float], share: int) -> float:
    return statistics.quantiles(waits, n=100, method="inclusive")[share - 1] if len(waits) > 1 else sum(waits)


if __name__ == "__main__":
    main(int(sys.argv[1]))
