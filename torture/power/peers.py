"""Servers whose power is cut, penstock among them: how each is started on a disk, published to, and read out.

All of them answer a publish with one line, in order.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader

from bench.servers import free_port, wait_for
from harness.server import PROGRAM, Server
from torture.power import eaten
from torture.power.loopdisk import LoopDisk

SEGMENT_BYTES = 8 << 20
BATCH = 1_000
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Running:
    """A server that accepts connections."""

    process: subprocess.Popen[bytes] | subprocess.Popen[str]
    port: int


Start = Callable[[LoopDisk], contextlib.AbstractContextManager[Running]]


@dataclass(frozen=True)
class Peer:
    """One row of the table."""

    name: str
    durable: str  # what it says of its durability
    command: str  # that has to be installed; empty: ours
    start: Start
    publish: Callable[[bytes], bytes]
    told: bytes  # how the line begins that says so
    read: Callable[[int], set[bytes]]
    ours: bool = False
    waits: bool = False  # for the disk, in some way, before it answers
    survives: bool = False  # what it has answered is promised to survive


# -- penstock, over `deferred`


def penstock(confirm: str, program: tuple[str, ...] = PROGRAM) -> Start:
    @contextlib.contextmanager
    def start(disk: LoopDisk) -> Iterator[Running]:
        flags = ("--confirm", confirm, "--limits-segment-bytes", str(SEGMENT_BYTES))
        server = Server(disk.place / "data", *flags, program=program, log=disk.beside / "log")
        try:
            yield Running(server.process, server.port)
        finally:
            server.process.kill()
            server.wait()

    return start


def line(body: bytes) -> bytes:
    return b"ADD 0 %s\n" % body


def reserve_lines(port: int) -> set[bytes]:
    """All that waits, reserved; nobody else is there."""
    found: set[bytes] = set()
    with asking(port) as (connection, answers):
        while True:
            connection.sendall(b"RESERVE\n" * BATCH)
            lines = [answers.readline().rstrip(b"\n") for _ in range(BATCH)]
            bodies = [line.split(b" ", 3)[3] for line in lines if line != b"nil"]
            if not bodies:
                return found
            found.update(bodies)


# -- beanstalkd


def beanstalkd(*flags: str) -> Start:
    def start(disk: LoopDisk) -> contextlib.AbstractContextManager[Running]:
        return started(disk, lambda port: ["beanstalkd", "-l", "127.0.0.1", "-p", port, "-b", str(disk.place), *flags])

    return start


def put(body: bytes) -> bytes:
    return b"put 0 0 3600 %d\r\n%s\r\n" % (len(body), body)


def reserve_puts(port: int) -> set[bytes]:
    """The last of them is followed by a refusal."""
    found: set[bytes] = set()
    with asking(port) as (connection, answers):
        while True:
            connection.sendall(b"reserve-with-timeout 0\r\n" * BATCH)
            bodies = [body for _ in range(BATCH) if (body := _reserved(answers))]
            if not bodies:
                return found
            found.update(bodies)


def _reserved(answers: BufferedReader) -> bytes:
    word, *fields = answers.readline().split()
    return answers.read(int(fields[1]) + 2)[:-2] if word == b"RESERVED" else b""


# -- Redis, a list


def redis(appendfsync: str) -> Start:
    def start(disk: LoopDisk) -> contextlib.AbstractContextManager[Running]:
        kept = ("--save", "", "--appendonly", "yes", "--appendfsync", appendfsync, "--dir", str(disk.place))
        return started(disk, lambda port: ["redis-server", "--port", port, "--bind", "127.0.0.1", *kept])

    return start


def lpush(body: bytes) -> bytes:
    return b"*3\r\n$5\r\nLPUSH\r\n$1\r\nq\r\n$%d\r\n%s\r\n" % (len(body), body)


def lrange(port: int) -> set[bytes]:
    with asking(port) as (connection, answers):
        line = b"-LOADING"
        while line.startswith(b"-LOADING"):
            connection.sendall(b"LRANGE q 0 -1\r\n")
            line = answers.readline()
        return {_bulk(answers) for _ in range(int(line[1:]))}


def _bulk(answers: BufferedReader) -> bytes:
    return answers.read(int(answers.readline()[1:]) + 2)[:-2]


# -- all of them


@contextlib.contextmanager
def started(disk: LoopDisk, command: Callable[[str], list[str]]) -> Iterator[Running]:
    """A program told its port, once it listens there; killed when its block ends."""
    port = free_port()
    log = disk.beside / "log"
    with log.open("ab") as output:
        process = subprocess.Popen(command(str(port)), stdout=output, stderr=output, cwd=disk.beside)
    try:
        wait_for(port, process, log)
        yield Running(process, port)
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def asking(port: int) -> Iterator[tuple[socket.socket, BufferedReader]]:
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as connection, connection.makefile("rb") as answers:
        yield connection, answers


def ours(confirm: str) -> Peer:
    waits, survives = confirm != "ready", confirm == "sync"
    start = penstock(confirm)
    return Peer("penstock", f"`{confirm}`", "", start, line, b"TASK ", reserve_lines, True, waits, survives)


def beanstalk(about: str, *flags: str) -> Peer:
    return Peer("beanstalkd", about, "beanstalkd", beanstalkd(*flags), put, b"INSERTED ", reserve_puts)


def redis_list(about: str, appendfsync: str) -> Peer:
    return Peer("Redis, `LPUSH`", about, "redis-server", redis(appendfsync), lpush, b":", lrange)


PEERS = (
    ours("ready"),
    ours("write"),
    ours("sync"),
    beanstalk("`-b`: fsync every 50 ms"),
    beanstalk("`-b -f0`: fsync every time", "-f0"),
    redis_list("AOF, `everysec`", "everysec"),
    redis_list("AOF, `always`", "always"),
)
# A disk that lies: the harness must see what that costs.
CONTROL = Peer(
    "penstock", "`sync`, every fsync eaten", "", penstock("sync", eaten.PROGRAM), line, b"TASK ", reserve_lines
)
