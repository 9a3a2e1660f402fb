"""The load generator: connections that publish, reserve and finish in rounds of `in_flight` requests each.

It runs as a process of its own, so that its processor time can be told from the server's.
"""

from __future__ import annotations

import resource
import selectors
import socket
import time

from bench.dialects import Beanstalkd, Deferred, Speech

SPEECHES: dict[str, type[Deferred] | type[Beanstalkd]] = {"penstock": Deferred, "beanstalkd": Beanstalkd}
PUBLISH, RESERVE, FINISH = range(3)


class Worker:
    """One connection: publishes a round, reserves it, finishes what it was given, and begins again."""

    def __init__(self, speech: Speech, address: tuple[str, int], in_flight: int) -> None:
        self._speech = speech
        self._in_flight = in_flight
        self._step = PUBLISH
        self._data: list[bytes] = []
        self._lines = 0  # still to come in this round
        self.done = 0
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def begin(self) -> None:
        self._step = PUBLISH
        self._send(self._speech.publish(self._in_flight), 1)

    def readable(self) -> None:
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection")
        self._data.append(data)
        self._lines -= data.count(b"\n")
        if self._lines > 0:
            return
        answers = b"".join(self._data)
        self._data.clear()
        self.done += self._in_flight
        self._next(answers)

    def _next(self, data: bytes) -> None:
        if self._step == PUBLISH:
            self._step = RESERVE
            self._send(self._speech.reserve(self._in_flight), self._speech.reserved_lines)
        elif self._step == RESERVE:
            self._step = FINISH
            ids = self._speech.ids(data)
            if len(ids) != self._in_flight:
                raise RuntimeError(f"{len(ids)} messages for {self._in_flight} reserves")
            self._send(self._speech.finish(ids), 1)
        else:
            self.begin()

    def _send(self, data: bytes, lines: int) -> None:
        self._lines = self._in_flight * lines
        self.socket.sendall(data)


def run(peer: str, port: int, connections: int, in_flight: int, seconds: float) -> dict[str, float]:
    """Operations a second over `seconds`, after a tenth of it as warm-up, and the generator's own CPU share."""
    workers = [Worker(SPEECHES[peer](), ("127.0.0.1", port), in_flight) for _ in range(connections)]
    selector = selectors.DefaultSelector()
    for worker in workers:
        selector.register(worker.socket, selectors.EVENT_READ, worker)
        worker.begin()
    _drive(selector, time.monotonic() + seconds / 10)
    before = sum(worker.done for worker in workers)
    cpu = _cpu()
    start = time.monotonic()
    _drive(selector, start + seconds)
    spent = time.monotonic() - start
    done = sum(worker.done for worker in workers) - before
    for worker in workers:
        worker.socket.close()
    return {"ops": done, "seconds": spent, "rate": done / spent, "load_cpu": (_cpu() - cpu) / spent}


def _drive(selector: selectors.BaseSelector, until: float) -> None:
    while time.monotonic() < until:
        for key, _ in selector.select(0.1):
            key.data.readable()


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    import json
    import sys

    peer, port, connections, in_flight, seconds = sys.argv[1:]
    print(json.dumps(run(peer, int(port), int(connections), int(in_flight), float(seconds))))
