"""A client of `glovebox`: what it makes of answers and notices, which come by label, in any order."""

from __future__ import annotations

import base64
from typing import Any

from penstock.model import facts
from tests.engine.audit import Broken
from tests.simulation.clients.client import Asked, S
from tests.simulation.clients.frames import shown_body
from tests.simulation.clients.glovebox_asking import AskingClient, Post
from tests.simulation.judge import Wish
from tests.simulation.laws import Shown
from tests.simulation.lives import Life
from tests.simulation.network import Mark
from tests.simulation.server import IDS

UNSAID_US = 60 * S  # the lease of a reserve of which nobody says how long
LATE_US = 3 * S


class GloveboxClient(AskingClient):
    def told(self, answer: dict[str, Any], mark: Mark) -> None:
        kind = answer["type"]
        if not self.id:
            if kind != "hello":
                raise Broken(0, f"{self.name} is told {answer} before hello")
            self._greeted(answer["id"])
            return
        label = answer["label"]
        if kind == "notice" and label in self.posts:
            self._noticed(self.posts[label], answer["notice"], mark)
        elif kind == "error" and label in self.posts:
            self._not_posted(self.posts.pop(label), answer)
        elif label in self.under_way:
            self.old.discard(label)
            self._answered(self.under_way.pop(label), answer, mark)
        elif label not in self.forgotten and label not in self.old:
            raise self.broken(answer)

    def _greeted(self, id: int) -> None:
        self.id = id
        if id != self.known_as:
            self.forget()
            self.held.clear()
            self.leases.clear()  # they are another's

    def _noticed(self, post: Post, notice: str, mark: Mark) -> None:
        post.told.append(notice)
        self.laws.noticed(post.wish, post.notify, post.told, post.since, mark, post.in_doubt)

    def _not_posted(self, post: Post, answer: dict[str, Any]) -> None:
        asked = Asked("post", post.since, post.wish.queue)
        there = (post.wish.queue, post.wish.body) in self.laws.lives.by_body
        if post.told or there:
            raise self.broken(answer)
        self._refused(asked, answer)

    def _refused(self, asked: Asked, answer: dict[str, Any]) -> None:
        if answer["code"] == "PermissionDenied" and answer["key"] == "full" and asked.kind in ("post", "publish"):
            self.refused(asked)
        elif answer["code"] != "NoObject":
            raise self.broken(answer)
        elif asked.since.number >= self.laws.lives.born.get(asked.queue, 1 << 60):
            raise self.broken(answer)

    def _answered(self, asked: Asked, answer: dict[str, Any], mark: Mark) -> None:
        kind = answer["type"]
        if kind == "error" and asked.kind == "create" and answer["code"] == "ObjectAlreadyExists":
            self.laws.there(asked.queue, mark, asked.rest["stage"])
        elif kind == "error" and asked.kind == "finish" and answer["key"] != asked.queue.decode():
            self._not_ended(asked, mark)
        elif kind == "error":
            self._refused(asked, answer)
        elif kind == "published" and asked.wish is not None:
            self._published(asked, asked.wish, answer["messages"][0], mark)
        elif kind == "message":
            self._given(asked, shown_body(answer["body"]), answer, mark, taken=answer["finished"])
        elif kind == "reserved":
            self._reserved(asked, answer["messages"], mark)
        elif kind == "nomessage":
            self.laws.nothing(asked.queue, asked.since, mark, self.world.now_us())
        elif asked.life is not None:
            self._ended(asked, asked.life, kind == "notice" or answer["messages"][0], mark)
        elif asked.kind != "create" or answer["notice"] != "ready":
            raise self.broken(answer)

    def _published(self, asked: Asked, wish: Wish, told: dict[str, Any], mark: Mark) -> None:
        shown = self._shown(told)
        if told["duplicate"]:
            self.laws.duplicate(wish, mark, asked.rest["stage"], shown)
        else:
            self.laws.published(wish, asked.since, mark, asked.rest["stage"], shown)

    def _reserved(self, asked: Asked, told: list[dict[str, Any]], mark: Mark) -> None:
        if not told:
            self.laws.nothing(asked.queue, asked.since, mark, self.world.now_us())
        for one in told:
            body = base64.b64decode(one["body64"]) if "body64" in one else one["body"].encode()
            self._given(asked, body, one, mark, taken=False)

    def _given(self, asked: Asked, body: bytes, told: dict[str, Any], mark: Mark, taken: bool) -> None:
        shown = self._shown(told)
        life = self.laws.delivered(
            asked.queue,
            body,
            asked.since,
            mark,
            asked.rest["stage"],
            dialect=self.number,
            taken=taken,
            seq=shown.seq,
            deliveries=told.get("deliveries", 0),
            failures=told.get("failures", -1),
            lease_us=asked.rest["lease_us"],
            unsaid_us=UNSAID_US,
        )
        self.laws.shown(shown, life)
        self.laws.best(life, asked.since, mark, self.world.now_us(), newest=False)
        if not taken and life.told is not None and asked.rest["mine"] in (0, self.id):
            self.leases[life.seq] = life.told.number
            self.held.append((shown.id, life))

    def _shown(self, told: dict[str, Any]) -> Shown:
        shard, sequence = told["shard"], told["sequence"]
        return Shown(self.number, b"%d/%d" % (shard, sequence), int(IDS.seq_of(shard, sequence)))

    def _ended(self, asked: Asked, life: Life, done: bool, mark: Mark) -> None:
        stage = asked.rest["stage"]
        if not done:
            self._not_ended(asked, mark)
        elif asked.kind == "finish":
            self.laws.finished(life, asked.since, mark, stage, self.number)
        elif asked.kind == "release":
            due_us = range(self.world.now_us() + 4 * S)
            kinds, failed = (int(facts.RELEASED),), asked.rest["failed"]
            self.laws.moved(life, kinds, due_us, asked.since, mark, stage, dialect=self.number, failed=failed)
        else:
            lease_us = asked.rest["lease_us"]
            due_us = range(asked.since.at_us + lease_us, self.world.now_us() + lease_us + 1)
            kinds = (int(facts.EXTENDED),)
            self.laws.moved(life, kinds, due_us, asked.since, mark, stage, dialect=self.number)

    def _not_ended(self, asked: Asked, mark: Mark) -> None:
        """It may have been handed out to somebody else since: then it is not there for this one."""
        life = asked.life
        if life is not None and life.lease_at(asked.since.number) == self.leases.get(life.seq):
            self.laws.not_held(life, asked.since, mark, self.world.now_us())

    # -- when all is quiet

    def waits_for(self) -> list[bytes]:
        return [asked.queue for label, asked in self.under_way.items() if label not in self.old and self._waits(asked)]

    def _waits(self, asked: Asked) -> bool:
        wait_us = asked.rest["wait_us"]
        begun_us = max(asked.since.at_us, self.world.woken_us)  # what was on its way arrived when the server woke
        return bool(wait_us) and begun_us + wait_us + LATE_US > self.world.now_us()

    def owes_answers(self) -> bool:
        for label, asked in self.under_way.items():
            if label not in self.old and not self._waits(asked):
                raise Broken(0, f"{self.name} has asked {asked}, and is not answered")
        return False
