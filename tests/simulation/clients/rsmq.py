"""A client of `rsmq`: the commands that RSMQ's clients send, with ids of their choice."""

from __future__ import annotations

from typing import Any

from penstock.codecs.rsmq_ids import RsmqIds
from penstock.model import facts
from tests.dialects.redis_model import Error, command, multi
from tests.simulation.clients.client import Asked, Client
from tests.simulation.clients.resp import Incomplete, answer
from tests.simulation.judge import Wish
from tests.simulation.laws import Shown
from tests.simulation.lives import Life
from tests.simulation.network import Mark
from tests.simulation.server import IDS

RECEIVE = b"937bb26841b123886255ef3956a57c83e829ab3e"
POP = b"70a940e88769e808900bf46f3e0c089bb3601884"
VISIBILITY = b"776ef84d345918f8c59aea092c4833b12d17a83b"
DELAYS_MS = (0, 0, 0, 500, 3_000)
LEASES_MS = (500, 2_000, 8_000)
MS = 1_000
RSMQ_IDS = RsmqIds(IDS)


def zset(queue: bytes) -> bytes:
    return b"rsmq:" + queue


def hash_of(queue: bytes) -> bytes:
    return b"rsmq:" + queue + b":Q"


class RsmqClient(Client):
    dialect = "rsmq"

    def act(self) -> None:
        choice = self.dice.random()
        queue = self.queue()
        now_ms = self.world.now_us() // MS
        held = self.one_held()
        if held is not None:
            self._on_held(*held, choice, now_ms)
        elif choice < 0.35:
            self._send(queue, now_ms)
        elif choice < 0.75:
            lease_ms = self.dice.choice(LEASES_MS)
            words = command(b"EVALSHA", RECEIVE, 3, zset(queue), now_ms, now_ms + lease_ms)
            self.ask("receive", queue, words, answers=1, lease_ms=lease_ms)
        elif choice < 0.95:
            self.ask("pop", queue, command(b"EVALSHA", POP, 2, zset(queue), now_ms), answers=1)
        else:
            self._create(queue)

    def id_of(self, life: Life) -> bytes:
        return self.laws.shown_as(self.number, life)

    def _create(self, queue: bytes) -> None:
        fields = ((b"vt", 6), (b"delay", 0), (b"maxsize", 65_536))
        words = [command(b"HSETNX", hash_of(queue), name, value) for name, value in fields]
        self.ask("create", queue, multi(*words) + command(b"SADD", b"rsmq:QUEUES", queue), answers=len(words) + 3)

    def _send(self, queue: bytes, now_ms: int) -> None:
        due_ms = now_ms + self.dice.choice(DELAYS_MS)
        wish = self.wish(Wish(queue, self.body(), due_us=due_ms * MS))
        name = b"gqll7vatq8%022d" % self.world.bodies
        words = (
            command(b"ZADD", zset(queue), due_ms, name),
            command(b"HSET", hash_of(queue), name, wish.body),
            command(b"HINCRBY", hash_of(queue), b"totalsent", 1),
        )
        self.ask("send", queue, multi(*words), wish=wish, answers=5, name=name)

    def _on_held(self, name: bytes, life: Life, choice: float, now_ms: int) -> None:
        queue = life.queue
        if choice < 0.6:
            fields = (name, name + b":rc", name + b":fr")
            words = (command(b"ZREM", zset(queue), name), command(b"HDEL", hash_of(queue), *fields))
            self.ask("delete", queue, multi(*words), life=life, answers=4)
        else:
            due_ms = now_ms + self.dice.choice((0, 1_000, 9_000))
            words_ = command(b"EVALSHA", VISIBILITY, 3, zset(queue), name, due_ms)
            self.ask("visibility", queue, words_, life=life, answers=1, due_us=due_ms * MS)

    # -- answers

    def read(self, mark: Mark) -> bool:
        if not self.asked:
            raise self.broken(self.data)
        asked, at = self.asked[0], 0
        told: list[Any] = []
        try:
            for _ in range(asked.rest["answers"]):
                one, at = answer(self.data, at)
                told.append(one)
        except Incomplete:
            return False
        self.data = self.data[at:]
        self.asked.popleft()
        self._told(asked, told, mark)
        return True

    def _told(self, asked: Asked, told: list[Any], mark: Mark) -> None:
        last = told[-1]
        if asked.kind == "send":
            self._sent(asked, last, mark)
        elif isinstance(last, Error):
            raise self.broken(last)
        elif asked.kind in ("receive", "pop"):
            self._received(asked, last, mark)
        elif asked.kind == "delete":
            self._deleted(asked, last, mark)
        elif asked.kind == "visibility":
            self._moved(asked, last, mark)

    def _sent(self, asked: Asked, told: Any, mark: Mark) -> None:
        if isinstance(told, Error) and told.startswith("OOM"):
            self.refused(asked)
        elif isinstance(told, Error):
            there = self.laws.lives.policies.get(asked.queue)
            if there is not None and asked.since.number >= self.laws.lives.born[asked.queue]:
                raise self.broken(told)
        elif told[:2] != [1, 1] or asked.wish is None:
            raise self.broken(told)
        else:
            self.laws.published(
                asked.wish, asked.since, mark, self.world.confirm, Shown(self.number, asked.rest["name"], 0)
            )

    def _received(self, asked: Asked, told: list[Any], mark: Mark) -> None:
        if not told:
            self.laws.nothing(asked.queue, asked.since, mark, self.world.now_us())
            return
        name, body, count, _ = told
        lease_us = asked.rest.get("lease_ms", 0) * MS
        taken = asked.kind == "pop"
        asking = asked.queue, body, asked.since, mark, self.world.confirm
        known = {"seq": int(RSMQ_IDS.seq(name)), "deliveries": count, "lease_us": lease_us}
        life = self.laws.delivered(*asking, dialect=self.number, taken=taken, **known)
        self.laws.shown(Shown(self.number, name, 0), life)
        self.laws.best(life, asked.since, mark, self.world.now_us(), newest=False)
        self.held.append((name, life))

    def _deleted(self, asked: Asked, told: list[Any], mark: Mark) -> None:
        assert asked.life is not None
        if told[0]:
            self.laws.finished(asked.life, asked.since, mark, self.world.confirm, self.number)
        else:
            self.laws.gone(asked.life, mark)

    def _moved(self, asked: Asked, told: int, mark: Mark) -> None:
        assert asked.life is not None
        if told == 0:
            self.laws.gone(asked.life, mark)
            return
        due_us = range(asked.rest["due_us"], asked.rest["due_us"] + 1)
        kinds = (int(facts.RELEASED), int(facts.EXTENDED))
        self.laws.moved(asked.life, kinds, due_us, asked.since, mark, self.world.confirm, dialect=self.number)
