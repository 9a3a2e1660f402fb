"""Clients of `rsmq` that send what stock clients do: look up, send, receive, change visibility, delete, pop."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Sequence
from typing import Any

from tests.dialects.redis_model import POP, RECEIVE, VISIBILITY, Error, command, multi
from torture.crowd.history import History, Life
from torture.crowd.talk import Talk, Told

ZSET, HASH = b"rsmq:default", b"rsmq:default:Q"
LOOKUP = (command(b"HMGET", HASH, b"vt", b"delay", b"maxsize"), command(b"TIME"))
DELAYS_MS = (0, 0, 0, 0, 1_000)
VISIBILITIES_MS = (1_000, 2_000, 3_000)
CHANGES_MS = (0, 0, 1_000, 3_000)
POP_SHARE = 0.1  # of each that is not answered nobody knows what it had


class Asker(Talk):
    """Looks up the server's time before each batch, for scores are in it."""

    dialect = "rsmq"

    def __init__(self, port: int, history: History, name: str, random: random.Random) -> None:
        super().__init__(port, history, name, random)
        self._now_ms = 0  # the server's; 0: to be looked up
        self._looked_s = 0.0  # when that was asked for
        attributes = {b"vt": int(history.lease_s), b"delay": 0, b"maxsize": 65_536}
        self.send(self._multi([command(b"HSETNX", HASH, *pair) for pair in attributes.items()], self._made))

    def go_on(self) -> None:
        if self._now_ms:
            super().go_on()
            self._now_ms = 0
        else:
            self._looked_s = time.monotonic()
            self.send(self._multi(LOOKUP, self._looked_up))

    def _made(self, answer: Any, now_s: float) -> None:
        """The queue is there, made or not."""

    def _looked_up(self, answer: Any, now_s: float) -> None:
        seconds, us = answer[1]
        self._now_ms = int(seconds) * 1_000 + int(us) // 1_000 + 1  # up: it is not before it was asked for

    # -- the wire

    def _multi(self, commands: Sequence[bytes], told: Told) -> bytes:
        self.row.extend([self._queued] * (len(commands) + 1))
        self.row.append(told)
        return multi(*commands)

    def _queued(self, answer: Any, now_s: float) -> None:
        if answer not in ("OK", "QUEUED"):
            self.history.breaks("answer", f"a command within a MULTI answered {answer!r}")

    def hear(self, now_s: float) -> None:
        at = 0
        while (found := answered(self.data, at)) is not None:
            answer, at = found
            told = self.row.popleft()
            if isinstance(answer, Error):
                self.history.breaks("answer", f"rsmq answered {answer}")
            else:
                told(answer, now_s)
        self.data = self.data[at:]

    # -- requests

    def request(self, now_s: float) -> bytes:
        choice = self.random.random()
        if choice < 0.30:
            return self._publish()
        if choice < 0.30 + POP_SHARE and self.history.finals:
            return self._pop(now_s)
        if choice < 0.65:
            return self._receive(now_s)
        life = self.done() if choice < 0.95 else self.returned(now_s)
        if life is None:
            return self._receive(now_s)
        return self._delete(life) if choice < 0.95 else self._change(life)

    def _publish(self) -> bytes:
        body, shown = self.any_body(), b"gqll7vatq8" + "".join(self.random.choices(string.ascii_letters, k=22)).encode()
        delay_ms = self.random.choice(DELAYS_MS)
        life = self.publishing(body, self._looked_s, delay_ms / 1_000)
        life.ids[self.dialect] = shown

        def told(answer: Any, now_s: float) -> None:
            if answer[:2] != [1, 1]:
                self.history.breaks("answer", f"a send answered {answer}")
            else:
                self.published(life, shown)

        score = command(b"ZADD", ZSET, self._now_ms + delay_ms, shown)
        count = command(b"HINCRBY", HASH, b"totalsent", 1)
        return self._multi([score, command(b"HSET", HASH, shown, body), count], told)

    def _receive(self, sent_s: float) -> bytes:
        for_ms = self.random.choice(VISIBILITIES_MS)

        def told(answer: Any, now_s: float) -> None:
            if not answer:
                return
            shown, body, deliveries, _ = answer
            life = self.delivered(shown, body, sent_s, now_s)
            if life is not None:
                life.held_until_s = sent_s + for_ms / 1_000
                self.history.counted(life, deliveries, sent_s)

        self.row.append(told)
        return command(b"EVALSHA", RECEIVE, 3, ZSET, self._now_ms, self._now_ms + for_ms)

    def _pop(self, sent_s: float) -> bytes:
        self.history.taking(self.dialect)

        def told(answer: Any, now_s: float) -> None:
            self.history.take_answered(self.dialect)
            if answer:
                self.history.taken(self.id(answer[0]), answer[1], sent_s, now_s)

        self.row.append(told)
        return command(b"EVALSHA", POP, 2, ZSET, self._now_ms)

    def _delete(self, life: Life) -> bytes:
        """Whatever is answered, it is gone."""
        self.history.finishing(life)
        shown = life.ids[self.dialect]

        def told(answer: Any, now_s: float) -> None:
            if answer[0] == 0:
                self.history.finish_refused(life, now_s)
                self.history.finished(life)
            else:
                self.finished(life)

        fields = (shown, shown + b":rc", shown + b":fr")
        return self._multi([command(b"ZREM", ZSET, shown), command(b"HDEL", HASH, *fields)], told)

    def _change(self, life: Life) -> bytes:
        """Give it back, or keep it for longer."""
        for_ms = self.random.choice(CHANGES_MS)
        until_s = self._looked_s + for_ms / 1_000
        if for_ms:
            self.held.append(life)

        def told(answer: Any, now_s: float) -> None:
            if answer != 1:
                self.history.release_refused(life)
            elif for_ms:
                self.history.extended(life, until_s)
            else:
                self.history.released(life, until_s)

        self.row.append(told)
        until_ms = self._now_ms + for_ms if for_ms else 0
        return command(b"EVALSHA", VISIBILITY, 3, ZSET, life.ids[self.dialect], until_ms)


def answered(data: bytes, at: int) -> tuple[Any, int] | None:
    """The answer that begins here, and where it ends; None: it is not all there."""
    end = data.find(b"\r\n", at)
    if end < 0:
        return None
    kind, said, at = data[at : at + 1], data[at + 1 : end], end + 2
    if kind == b"*":
        return _array(data, at, int(said))
    if kind == b"$":
        last = at + int(said)
        return (data[at:last], last + 2) if len(data) >= last + 2 else None
    if kind == b":":
        return int(said), at
    return Error(said.decode()) if kind == b"-" else said.decode(), at


def _array(data: bytes, at: int, length: int) -> tuple[Any, int] | None:
    answers = []
    for _ in range(length):
        found = answered(data, at)
        if found is None:
            return None
        answers.append(found[0])
        at = found[1]
    return answers, at
