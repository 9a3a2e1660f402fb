"""Fuzzed input, right and almost right, cut anywhere: through a session beside a model of its dialect, or over real
sockets against a real server, which must stay well: it serves others, its ledger holds, its memory does not grow."""

from __future__ import annotations

import random
import socket
import struct
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.server import Server, serving
from penstock.dialects.table import DIALECTS
from tests.dialects.fuzzing import Fuzzer, cut, fuzz, fuzzer

CHUNK = 20_000  # inputs between two reports
ROUND = 50_000  # inputs on one directory, so that the time goes into input and not into old history
ASK_OTHERS = 500  # inputs between two looks at whether others are served
HOSES = 8
END_SHARE = 0.125
PATIENCE_S = 10.0
RESET = struct.pack("ii", 1, 0)

# What the server may hold, beside what it had when it started: so much anyhow, and for each queue and message.
SLACK_BYTES = 16 << 20
QUEUE_BYTES = 3 << 10
MESSAGE_BYTES = 512

NAMES = tuple(row.name for row in DIALECTS)
LIVE = ("delayed", "ready", "parked", "leased")
ENDS = ("finished", "dropped", "expired", "deleted")


@dataclass
class Outcome:
    inputs: int = 0
    connections: int = 0
    grown_bytes: int = 0  # the most that memory grew beyond what messages and queues explain
    broken: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.inputs + other.inputs,
            self.connections + other.connections,
            max(self.grown_bytes, other.grown_bytes),
            self.broken + other.broken,
        )


Progress = Callable[[Outcome], None]


def campaign(dialect: str, count: int, seed: int, live: bool, progress: Progress = lambda outcome: None) -> Outcome:
    """Stops at the first thing that is broken."""
    part, once = (ROUND, over_sockets) if live else (CHUNK, through_the_session)
    total = Outcome()
    while total.inputs < count and not total.broken:
        total += once(dialect, min(part, count - total.inputs), seed + total.inputs)
        progress(total)
    return total


def through_the_session(dialect: str, count: int, seed: int) -> Outcome:
    try:
        return Outcome(fuzz(fuzzer(dialect), count=count, seed=seed))
    except AssertionError as error:
        return Outcome(count, broken=(f"seed {seed}: {error}",))


def over_sockets(dialect: str, count: int, seed: int) -> Outcome:
    """One server, attacked in one dialect, asked in all that it speaks, and started again."""
    attack = Attack(dialect, random.Random(seed))
    with tempfile.TemporaryDirectory(prefix="penstock-fuzz-") as directory:
        data = Path(directory, "data")
        with serving(data, "--confirm", "write", listen=NAMES) as server:
            attack.run(server, count)
            before = attack.look(server)
            attack.law(server.stop() == 0, "the server did not stop cleanly")
        with serving(data, "--confirm", "write", listen=NAMES) as server:
            after = attack.look(server)
    attack.law(before == after, f"after a restart {after} instead of {before}")
    return Outcome(count, attack.connections, attack.grown_bytes, tuple(attack.broken))


class Attack:
    """Some connections that send fuzzed input, one in each dialect that does not, and the laws that must hold."""

    def __init__(self, dialect: str, chance: random.Random) -> None:
        self.broken: list[str] = []
        self.connections = 0
        self.grown_bytes = 0
        self._dialect = dialect
        self._chance = chance
        self._base_bytes = 0

    def run(self, server: Server, count: int) -> None:
        """Stops at the first thing that is broken."""
        self._base_bytes = server.get("/api/v1/status")["resident_bytes"]
        others = {name: Other(port, fuzzer(name)) for name, port in server.ports.items()}
        hoses = [self._hose(server) for _ in range(HOSES)]
        for at in range(count):
            if self.broken:
                break
            which = self._chance.randrange(HOSES)
            if not hoses[which].send(fuzzer(self._dialect).script(self._chance)) or self._chance.random() < END_SHARE:
                self._end(hoses[which])
                hoses[which] = self._hose(server)
            if at % ASK_OTHERS == 0:
                self._ask(others)
        self._ask(others)
        for hose in hoses:
            self._end(hose)
        for other in others.values():
            other.close()

    def _hose(self, server: Server) -> Hose:
        self.connections += 1
        return Hose(server.ports[self._dialect], self._chance, fuzzer(self._dialect).opening[0])

    def _end(self, hose: Hose) -> None:
        self.law(hose.end(), "a connection was not closed after its client's end")

    def _ask(self, others: dict[str, Other]) -> None:
        for name, other in others.items():
            self.law(other.is_served(), f"somebody else in {name} was not served")

    def look(self, server: Server) -> dict[str, int]:
        """What was published into each queue; on the way every law is looked after."""
        status, queues = server.get("/api/v1/status"), server.get("/api/v1/queues")["queues"]
        for listener in status["listeners"]:
            self.law(listener["failed"] == 0, f"a session failed: {listener}\n{server.log()[-4_000:]}")
        for counts in (status["counts"], *(queue["counts"] for queue in queues)):
            self.law(counts["published"] == sum(counts[name] for name in LIVE + ENDS), f"the ledger is off: {counts}")
        self.law(total(queues, "published") == status["counts"]["published"], "the queues do not add up to the whole")
        self._weigh(status, queues)
        return {queue["name"]: queue["counts"]["published"] for queue in queues}

    def _weigh(self, status: dict[str, Any], queues: list[dict[str, Any]]) -> None:
        live = sum(total(queues, name) for name in LIVE)
        explained = MESSAGE_BYTES * live + 2 * total(queues, "body_bytes") + QUEUE_BYTES * len(queues)
        grown = status["resident_bytes"] - self._base_bytes - explained
        self.grown_bytes = max(self.grown_bytes, grown)
        self.law(grown < SLACK_BYTES, f"memory grew by {grown:,} bytes beyond {live} messages, {len(queues)} queues")

    def law(self, holds: bool, words: str) -> None:
        if not holds:
            self.broken.append(words)


class Hose:
    """One connection that sends whatever it is given, reads what comes, and ends in some way."""

    def __init__(self, port: int, chance: random.Random, opening: bytes) -> None:
        self._socket = connected(port)
        self._chance = chance
        self._socket.sendall(opening)

    def send(self, script: Iterable[bytes | int]) -> bool:
        """False: the server has closed, as it may."""
        try:
            for part in script:
                if isinstance(part, bytes):
                    for segment in cut(part, self._chance.randint(0, 3), self._chance):
                        self._socket.sendall(segment)
            return self._read_on()
        except ConnectionError:
            return False

    def _read_on(self) -> bool:
        """What is there; False: it was the end."""
        self._socket.setblocking(False)
        try:
            while self._socket.recv(1 << 16):
                pass
        except BlockingIOError:
            return True
        finally:
            self._socket.settimeout(PATIENCE_S)
        return False

    def end(self) -> bool:
        """In one of three ways. False: the client said its end, and the server never said its own."""
        way = self._chance.randrange(3)
        try:
            if way == 0:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            elif way == 1:
                self._socket.shutdown(socket.SHUT_WR)
                while self._socket.recv(1 << 16):
                    pass
        except TimeoutError:
            return False
        except OSError:
            pass
        finally:
            self.close()
        return True

    def close(self) -> None:
        self._socket.close()


class Other:
    """A well-behaved client beside the attack, on one connection for all its time."""

    def __init__(self, port: int, fuzzer: Fuzzer) -> None:
        self._socket = connected(port)
        self._opening = fuzzer.opening
        self._greeting = fuzzer.greeting
        self._exchange = fuzzer.exchange

    def is_served(self) -> bool:
        opening, self._opening = self._opening, (b"", b"")
        greeting, self._greeting = self._greeting, 0
        return self._is_answered(*opening, greeting) and self._is_answered(*self._exchange)

    def _is_answered(self, request: bytes, answer: bytes, more: int = 0) -> bool:
        """With exactly this, and so many bytes of anything behind it."""
        length = len(answer) + more
        try:
            self._socket.sendall(request)
            heard = b""
            while len(heard) < length and (data := self._socket.recv(1 << 16)):
                heard += data
        except OSError:
            return False
        return len(heard) == length and heard.startswith(answer)

    def close(self) -> None:
        self._socket.close()


def connected(port: int) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def total(queues: list[dict[str, Any]], name: str) -> int:
    return sum(queue["counts"][name] for queue in queues)
