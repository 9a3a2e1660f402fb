"""Clients of `glovebox`, in JSON and in bincode: posters that are told how far their messages come, and workers that
fetch, finish and pop as well."""

from __future__ import annotations

import random
from collections.abc import Callable, Sized
from dataclasses import dataclass, field
from typing import Any

from torture.crowd.frames import Framed, opening
from torture.crowd.gloves import Notation
from torture.crowd.history import History, Life
from torture.crowd.talk import BATCH_MAX

DURABLE = ("write", "sync")
FINISH = "finish"
PRIORITIES = (0, 0, 0, 7, -2)
WORKS_S = (1.0, 2.0, 3.0)
POP_SHARE = 0.1  # of each that is not answered nobody knows what it had

Said = dict[str, Any]


@dataclass
class Post:
    """The notices that are to come, in this order, and those that have."""

    life: Life
    stages: list[str]
    told: list[str] = field(default_factory=list)

    def is_lawful(self) -> bool:
        """What somebody waited for is finished at once, and nothing else is told."""
        return self.told == self.stages[: len(self.told)] or self.told == [FINISH]

    def is_durable(self) -> bool:
        return set(self.stages) - set(self.told) <= {FINISH} or FINISH in self.told

    def promises(self, stage: str) -> bool:
        """It has come as far as that."""
        return not {stage, DURABLE[-1], FINISH}.isdisjoint(self.told)


class Poster(Framed):
    """Posts, and is told `write` and `sync`. Answers name the request by its label."""

    dialect = "glovebox"
    batch_max = 10  # others have to work them off

    def __init__(self, port: int, history: History, name: str, random: random.Random, notation: Notation) -> None:
        super().__init__(port, history, name, random)
        self.notation = notation
        self.asked: dict[int, Callable[[Said, float], None]] = {}
        self._posts: dict[int, Post] = {}
        self._label = 0
        self.send(opening(notation.headers) + notation.create(self.label(self._made)))

    @property
    def waiting(self) -> Sized:
        return self.asked

    def label(self, told: Callable[[Said, float], None]) -> int:
        self._label += 1
        self.asked[self._label] = told
        return self._label

    def said(self, payload: bytes, now_s: float) -> None:
        said = self.notation.read(payload)
        label = said.get("label", 0)
        if label in self._posts:
            self._noticed(label, said, now_s)
        elif said["type"] != "hello":
            self.asked.pop(label)(said, now_s)

    def _made(self, said: Said, now_s: float) -> None:
        """The queue is there, made or not."""

    def request(self, now_s: float) -> bytes:
        return self.post(now_s, list(DURABLE))

    def post(self, now_s: float, stages: list[str]) -> bytes:
        body = self.any_body()
        post = Post(self.publishing(body, now_s), stages + [FINISH] * self.history.finals)
        label = self.label(self._made)
        self._posts[label] = post
        return self.notation.post(label, body, self.random.choice(PRIORITIES), post.stages)

    def _noticed(self, label: int, said: Said, now_s: float) -> None:
        post = self._posts[label]
        post.told.append(str(said.get("notice", said)))
        if not post.is_lawful():
            self.history.breaks("notices", f"a post that asked for {post.stages} was told {post.told}")
        if post.promises(self.history.stage):
            self.history.posted(post.life)
        if FINISH in post.told:
            self.history.noticed(post.life, now_s)
        if post.is_durable():
            self.asked.pop(label, None)


class Worker(Poster):
    """Does everything. What it fetches only it can finish here."""

    batch_max = BATCH_MAX

    def __init__(self, port: int, history: History, name: str, random: random.Random, notation: Notation) -> None:
        super().__init__(port, history, name, random, notation)
        self._turns: dict[Life, int] = {}  # which delivery was its own

    def request(self, now_s: float) -> bytes:
        choice = self.random.random()
        if choice < 0.30:
            return self.post(now_s, [self._stage()])
        if choice < 0.30 + POP_SHARE and self.history.finals:
            return self._pop(now_s)
        life = None if choice < 0.65 else self.done()
        return self._fetch(now_s) if life is None else self._finish(life)

    def _stage(self) -> str:
        """One that promises something."""
        return self.random.choice(DURABLE[DURABLE.index(self.history.stage) :])

    def _fetch(self, sent_s: float) -> bytes:
        for_s = self.random.choice(WORKS_S)

        def told(said: Said, now_s: float) -> None:
            if said["type"] != "message":
                return
            life = self.delivered(shown(said), said["body"], sent_s, now_s)
            if life is not None:
                life.held_until_s = sent_s + for_s
                self._turns[life] = len(life.told_s)

        return self.notation.fetch(self.label(told), for_s, self._stage())

    def _pop(self, sent_s: float) -> bytes:
        self.history.taking(self.dialect)

        def told(said: Said, now_s: float) -> None:
            self.history.take_answered(self.dialect)
            if said["type"] == "message":
                self.history.taken(self.id(shown(said)), said["body"], sent_s, now_s)

        return self.notation.pop(self.label(told), self._stage())

    def _finish(self, life: Life) -> bytes:
        self.history.finishing(life)
        turn = self._turns[life]

        def told(said: Said, now_s: float) -> None:
            if said["type"] == "notice":
                self.finished(life)
            elif len(life.told_s) == turn:  # else it is another's by now
                self.history.finish_refused(life, now_s)

        shard, sequence = map(int, life.ids[self.dialect].split(b"/"))
        return self.notation.finish(self.label(told), shard, sequence, self._stage())


def shown(said: Said) -> bytes:
    return b"%d/%d" % (said["shard"], said["sequence"])
