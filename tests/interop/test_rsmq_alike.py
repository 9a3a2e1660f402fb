"""The same walk of RSMQ's commands on penstock and on a real Redis, drawn at random: the answers are alike."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from harness.node import MODULES
from penstock.cli.resp_client import RespClient, ServerError
from penstock.cli.rsmq_store import POP, RECEIVE, VISIBILITY
from tests.interop.targets import STORES

NOW_MS = time.time_ns() // 1_000_000
LONG_AGO_MS = 1_700_000_000_000
FAR_MS = NOW_MS + 300 * 86_400_000
QUEUES = ("a", "b")
ATTRIBUTES = (("vt", 30), ("delay", 0), ("maxsize", 65_536))
TEXTS = re.findall(r"const script_\w+ = `(.*?)`", (MODULES / "rsmq" / "index.js").read_text("utf-8"), re.DOTALL)
TIMES = {b"created", b"modified"}  # a queue that was made without them has them here
STEPS = 400


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RespClient]]:
    with ExitStack() as stack:
        targets = [stack.enter_context(start(tmp_path_factory.mktemp(name))) for name, start in STORES.items()]
        yield [stack.enter_context(RespClient(target.url)) for target in targets]


class Walk:
    """Draws what to do, as clients do it: what needs a queue only where there is one, scripts by themselves.

    Scores are all of their own, and never near now: so time decides nothing.
    """

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._prefix = f"walk{seed}"
        self._count = 0
        self._ids = ["none"]
        self._made: set[str] = set()

    def step(self) -> list[tuple[Any, ...]]:
        """One command, or those of one transaction."""
        queue = f"rsmq:{self._prefix}{self._draw.choice(QUEUES)}"
        verb = self._draw.choice(self._VERBS) if queue in self._made else Walk._create
        return list(verb(self, queue))

    def _score(self) -> int:
        self._count += 1
        return self._draw.choice((LONG_AGO_MS, LONG_AGO_MS, FAR_MS)) + self._count

    def _id(self) -> str:
        return self._draw.choice(self._ids[-6:])

    def _create(self, queue: str) -> Iterator[tuple[Any, ...]]:
        self._made.add(queue)
        for field, value in ATTRIBUTES:
            yield ("HSETNX", f"{queue}:Q", field, value)

    def _send(self, queue: str) -> Iterator[tuple[Any, ...]]:
        score = self._score()
        id = f"{self._prefix}id{self._count}"
        self._ids.append(id)
        yield ("ZADD", queue, score, id)
        yield ("HSET", f"{queue}:Q", id, f"body {id}")
        yield ("HINCRBY", f"{queue}:Q", "totalsent", 1)
        yield ("ZCARD", queue)

    def _receive(self, queue: str) -> Iterator[tuple[Any, ...]]:
        yield ("EVALSHA", RECEIVE.sha1, 3, queue, NOW_MS, FAR_MS)

    def _pop(self, queue: str) -> Iterator[tuple[Any, ...]]:
        yield ("EVALSHA", POP.sha1, 2, queue, NOW_MS)

    def _hide(self, queue: str) -> Iterator[tuple[Any, ...]]:
        yield ("EVALSHA", VISIBILITY.sha1, 3, queue, self._id(), FAR_MS + self._count)

    def _delete(self, queue: str) -> Iterator[tuple[Any, ...]]:
        id = self._id()
        yield ("ZREM", queue, id)
        yield ("HDEL", f"{queue}:Q", id, f"{id}:rc", f"{id}:fr")

    def _look(self, queue: str) -> Iterator[tuple[Any, ...]]:
        id = self._id()
        yield ("HMGET", f"{queue}:Q", "vt", "delay", "maxsize", "totalsent", "totalrecv", id, f"{id}:rc")
        yield ("ZCARD", queue)
        yield ("ZCOUNT", queue, NOW_MS + 86_400_000, "+inf")
        yield ("EXISTS", queue, f"{queue}:Q")
        yield ("TYPE", queue)

    def _set(self, queue: str) -> Iterator[tuple[Any, ...]]:
        yield ("HSET", f"{queue}:Q", "vt", self._draw.randrange(1, 100))

    def _drop(self, queue: str) -> Iterator[tuple[Any, ...]]:
        if self._draw.random() < 0.2:
            self._made.discard(queue)
            yield ("DEL", f"{queue}:Q", queue)

    _VERBS = (_create, _send, _send, _send, _receive, _receive, _pop, _hide, _delete, _look, _set, _drop)


def answers(client: RespClient, commands: list[tuple[Any, ...]]) -> Any:
    try:
        found = client.atomically(*commands) if len(commands) > 1 else client.calls(commands)
        return [_timeless(answer) for answer in found]
    except ServerError as refused:
        return refused.code


def _timeless(answer: Any) -> Any:
    """Without when a message was received first, which is real time in one and as the client says in the other."""
    return answer[:3] if isinstance(answer, list) and len(answer) == 4 else answer


@pytest.mark.parametrize("seed", range(8))
def test_every_answer_is_alike(clients: list[RespClient], seed: int) -> None:
    penstock, redis = clients
    for text in TEXTS:
        assert penstock.call("SCRIPT", "LOAD", text) == redis.call("SCRIPT", "LOAD", text)
    walk = Walk(seed)
    for number in range(STEPS):
        commands = walk.step()
        assert answers(penstock, commands) == answers(redis, commands), f"step {number}: {commands}"
    for queue in QUEUES:
        key = f"rsmq:walk{seed}{queue}"
        assert sorted(penstock.call("ZRANGE", key, 0, -1)) == sorted(redis.call("ZRANGE", key, 0, -1))
        assert set(penstock.call("HKEYS", f"{key}:Q")) - TIMES == set(redis.call("HKEYS", f"{key}:Q"))
