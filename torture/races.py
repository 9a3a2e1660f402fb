"""Workers of `etzel` that go to sleep while somebody publishes, over real sockets: whatever the moment, the message is
fetched, no wake-up is lost, and none comes without a sleep."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness.server import Server, serving
from tests.dialects.fuzz_etzel import asked
from tests.dialects.websocket_model import OPENING, WELCOME

LANES = 40
PATIENCE_S = 10.0
WATCH_S = 0.2
# When the next message is published: what the worker is just doing. Each of them comes after every fetch.
MOMENTS = ("msg", "nomsg", "before ISLP", "after ISLP", "okslp")
LIVE = ("delayed", "ready", "parked", "leased")


@dataclass
class Outcome:
    races: int = 0
    wakes: int = 0
    broken: tuple[str, ...] = ()


Progress = Callable[[Outcome], None]


def campaign(count: int, seed: int, progress: Progress = lambda outcome: None) -> Outcome:
    """Stops at the first thing that is broken."""
    with (
        tempfile.TemporaryDirectory(prefix="penstock-races-") as directory,
        serving(Path(directory, "data"), "--confirm", "write", listen=("etzel",)) as server,
    ):
        outcome = asyncio.run(Races(server.port, count, seed).run(progress))
        outcome.broken += ledger(server, outcome.races)
        return outcome


def ledger(server: Server, races: int) -> tuple[str, ...]:
    counts = server.get("/api/v1/status")["counts"]
    left = sum(counts[name] for name in LIVE)
    return () if counts["finished"] >= races and not left else (f"the ledger is off after {races} races: {counts}",)


class Races:
    """Lanes side by side, each with a queue of its own."""

    def __init__(self, port: int, count: int, seed: int) -> None:
        self.port = port
        self.outcome = Outcome()
        self._count = count
        self.lanes = [Lane(self, f"lane {number}", random.Random(f"{seed} {number}")) for number in range(LANES)]

    async def run(self, progress: Progress) -> Outcome:
        for lane in self.lanes:
            await lane.connect()
        while not self.done() or any(lane.busy() for lane in self.lanes):
            await asyncio.sleep(WATCH_S)
            for lane in self.lanes:
                lane.watch(time.monotonic())
            progress(self.outcome)
            if self.outcome.broken:
                break
        for lane in self.lanes:
            lane.close()
        return self.outcome

    def done(self) -> bool:
        return self.outcome.races >= self._count

    def law(self, holds: bool, words: str) -> None:
        if not holds:
            self.outcome.broken += (words,)


class Lane:
    """One or two workers on one queue, and a publisher with one message under way, or none."""

    def __init__(self, races: Races, queue: str, chance: random.Random) -> None:
        self.races = races
        self.queue = queue
        self._chance = chance
        self._moment = "okslp"  # when the next one is published
        self._since_s = 0.0  # since when one is under way; 0: none is
        self.workers = [Worker(self) for _ in range(chance.randint(1, 2))]
        self.publisher = Talk(self)

    async def connect(self) -> None:
        for talk in (self.publisher, *self.workers):
            await asyncio.get_running_loop().create_connection(partial(itself, talk), "127.0.0.1", self.races.port)

    def at(self, moment: str) -> None:
        """A worker has come to this point."""
        if moment == self._moment and not self._since_s and not self.races.done():
            self._since_s = time.monotonic()
            self.publisher.send(cmd="PUB", msg=moment)

    def fetched(self) -> None:
        self.races.outcome.races += 1
        self._since_s = 0.0
        self._moment = self._chance.choice(MOMENTS)

    def busy(self) -> bool:
        """Something is under way, or somebody is still awake."""
        return bool(self._since_s) or not all(worker.asleep for worker in self.workers)

    def watch(self, now_s: float) -> None:
        if self._since_s and now_s - self._since_s > PATIENCE_S:
            asleep = [worker.asleep for worker in self.workers]
            self.races.law(False, f"{self.queue}: published at {self._moment!r}, never fetched; asleep: {asleep}")

    def close(self) -> None:
        for talk in (self.publisher, *self.workers):
            talk.transport.close()


def itself(talk: Talk) -> Talk:
    return talk


class Talk(asyncio.Protocol):
    """One connection: requests out, answers in, one by one."""

    transport: asyncio.Transport

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(OPENING)

    def data_received(self, data: bytes) -> None:
        self._data = (self._data + data).removeprefix(WELCOME)
        while len(self._data) > 2 and len(self._data) >= 2 + self._data[1]:
            end = 2 + self._data[1]
            payload, self._data = self._data[2:end], self._data[end:]
            self.heard(json.loads(payload))

    def send(self, **members: object) -> None:
        self.transport.write(asked(qname=self.lane.queue, **members))

    def heard(self, said: dict[str, Any]) -> None:
        self.lane.races.law(said["cmd"] == "ok", f"{self.lane.queue}: the publisher heard {said}")


class Worker(Talk):
    """Does what etzel's own client does."""

    def __init__(self, lane: Lane) -> None:
        super().__init__(lane)
        self.asleep = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.send(cmd="SUB")
        self.send(cmd="FET")

    def heard(self, said: dict[str, Any]) -> None:
        known = {"msg": self._work, "nomsg": self._rest, "okslp": self._sleep, "awk": self._wake}
        if said["cmd"] in known:
            known[said["cmd"]](said)
        else:
            self.lane.races.law(said["cmd"] in ("oksub", "okack"), f"{self.lane.queue}: a worker heard {said}")

    def _work(self, said: dict[str, Any]) -> None:
        self.lane.fetched()
        self.send(cmd="ACK", uid=said["uid"])
        self.lane.at("msg")
        self.send(cmd="FET")

    def _rest(self, said: dict[str, Any]) -> None:
        self.lane.at("nomsg")
        self.lane.at("before ISLP")
        self.send(cmd="ISLP")
        self.lane.at("after ISLP")

    def _sleep(self, said: dict[str, Any]) -> None:
        self.lane.races.law(not self.asleep, f"{self.lane.queue}: asleep, and the last sleep was never ended")
        self.asleep = True
        self.lane.at("okslp")

    def _wake(self, said: dict[str, Any]) -> None:
        self.lane.races.law(self.asleep, f"{self.lane.queue}: woken out of no sleep")
        self.lane.races.outcome.wakes += 1
        self.asleep = False
        self.send(cmd="FET")
