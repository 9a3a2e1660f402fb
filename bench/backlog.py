"""What a backlog costs: memory, restart, and the same load on a server with much in it against one with little.

Both servers of a comparison run side by side and are measured in turn, in shuffled order, in every round, each time
when neither has anything left to do.
"""

from __future__ import annotations

import contextlib
import random
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.calm import await_that, is_settled
from bench.load import connected
from bench.rounds import Bench, Result, fresh
from bench.rows import Shape
from bench.servers import Running
from bench.tongues.pinpriq import push
from bench.tongues.tongue import BODY, ask
from harness.server import Server, serving

BATCH: Final = 1_000
RESTARTS: Final = 3  # of each kind: they waver little
DELAY_MS: Final = 1_000_000_000
LISTEN: Final = ("deferred", "pinpriq")
FLAGS: Final = ("--confirm", "write")


@dataclass(frozen=True)
class State:
    """What is in a server before it is measured."""

    name: str
    messages: int = 0
    delay_ms: int = 0
    queues: int = 0

    def fill(self, server: Server) -> None:
        with connected(server.ports["deferred"]) as sock:
            add = b"ADD %d %s\n" % (self.delay_ms, BODY)
            for _ in range(self.messages // BATCH):
                ask(sock, add * BATCH, BATCH)
        with connected(server.ports["pinpriq"]) as sock:
            for number in range(self.queues):
                sock.sendall(push(number))
            settle(sock)


def settle(sock: socket.socket) -> None:
    """Pushes have no answer; a pop of a queue without messages, behind them, has."""
    sock.sendall(b"\x50\x00\x00")
    if sock.recv(2) != b"\0\0":
        raise RuntimeError("something is in the queue without a name")


@dataclass(frozen=True)
class Growth:
    """Two states, and the tongue that is spoken to both."""

    name: str
    little: State
    much: State
    tongue: str = "deferred"


SHAPES: Final = (Shape(1, 1), Shape(50, 1), Shape(4, 100))


def growths(messages: int) -> tuple[Growth, ...]:
    empty = State("0")
    few, many = State("10", queues=10), State(f"{messages // 10:,}", queues=messages // 10)
    return (
        Growth("ready messages", empty, State(f"{messages:,}", messages)),
        Growth("delayed messages", empty, State(f"{messages:,}", messages, DELAY_MS)),
        Growth("queues, one used", few, many),
        Growth("queues, all used", few, many, "pinpriq"),
    )


Measured = dict[tuple[State, Shape], list[Result]]


def grow(bench: Bench, growth: Growth, rounds: int) -> Measured:
    """Every shape on both servers, in every round."""
    measured: Measured = {}
    states = (growth.little, growth.much)
    with filled(bench.directory, growth.little) as little, filled(bench.directory, growth.much) as much:
        servers = dict(zip(states, (little, much), strict=True))
        for _ in range(rounds):
            for shape in random.sample(SHAPES, len(SHAPES)):
                for state in random.sample(states, 2):
                    await_that(lambda: is_settled(little) and is_settled(much))
                    server = Running(servers[state].pid, servers[state].ports[growth.tongue])
                    result = bench.load(growth.tongue, server, shape, max(state.queues, 1))
                    measured.setdefault((state, shape), []).append(result)
    return measured


@contextlib.contextmanager
def filled(under: Path, state: State) -> Iterator[Server]:
    with fresh(under) as place, serving(place / "data", *FLAGS, listen=LISTEN) as server:
        state.fill(server)
        yield server
        server.kill()


@dataclass(frozen=True)
class Weights:
    """What a backlog weighs, and how long a server takes to have it again."""

    resident_mb: float
    killed_s: list[float]
    stopped_s: list[float]


def weigh(bench: Bench, messages: int, rounds: int) -> Weights:
    with fresh(bench.directory) as place:
        server = Server(place / "data", *FLAGS, listen=LISTEN)
        try:
            State("waiting", messages).fill(server)
            resident = resident_mb(server.pid)
            server, killed, stopped = restarted(server, rounds)
        finally:
            server.kill()
            server.wait()
    return Weights(resident, killed, stopped)


def restarted(server: Server, rounds: int) -> tuple[Server, list[float], list[float]]:
    """The last of them, and how long they took to be ready: after kills, and after clean stops."""
    killed, stopped = [], []
    for _ in range(min(rounds, RESTARTS)):
        server, spent = again(server, server.kill)
        killed.append(spent)
        server, spent = again(server, server.process.terminate)
        stopped.append(spent)
    return server, killed, stopped


def again(server: Server, end: Callable[[], None]) -> tuple[Server, float]:
    """The server ended and started on the same directory, and the seconds from its start until it was ready."""
    end()
    server.wait()
    begun = time.monotonic()
    return Server(server.data, *FLAGS, listen=LISTEN), time.monotonic() - begun


def resident_mb(pid: int, field: str = "VmRSS") -> float:
    """Now; `VmHWM`: at its highest."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError(f"no such process: {pid}")
