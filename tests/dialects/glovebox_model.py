"""The dialect `glovebox` as its page says it, in the plainest way: sessions are compared with it, and share no code."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.dialects.glovebox_requests import STAGES, Asked, bytes_of, in_bincode, in_json
from tests.dialects.websocket_model import CLOSE, PONG, TEXT, WebSocketModel, frames, is_text

START_US = 1_700_000_000_000_000
NEVER_US = 1 << 60
LONGEST_S = 3_153_600_000
DEDUP_US = 60 * 1_000_000
DELAY_MAX_US = 315_360_000 * 1_000_000
BAD_REQUEST = {"type": "error", "label": 0, "code": "BadRequest", "key": "not a request"}
DURABLE = STAGES[:3]

Place = tuple[int, int]  # shard, sequence


@dataclass
class Held:
    number: int
    queue: str
    body: bytes
    priority: int
    published_us: int
    ready_us: int
    key: bytes | None = None
    expires_us: int = NEVER_US
    label: int = 0
    notify: frozenset[str] = frozenset()
    deliveries: int = 0
    failures: int = 0
    until_us: int = 0  # 0: nobody has it

    def rank(self) -> tuple[int, int, int]:
        return -self.priority, self.ready_us, self.number


@dataclass
class Waiter:
    asked: Asked
    until_us: int


@dataclass
class Queue:
    attempts: int = 0
    known: dict[str, tuple[Place, int]] = field(default_factory=dict)  # dedup ids, and when they were published
    waiters: list[Waiter] = field(default_factory=list)


class Model(WebSocketModel):
    """One connection to an empty server. `places` are what the server will call its messages, in order."""

    def __init__(self, places: Sequence[Place]) -> None:
        super().__init__()
        self.now_us = START_US
        self.answers: list[object] = []
        self.loose: list[object] = []  # what a connection that ends need not hear: notices, and what may have waited
        self._places = places
        self._published = 0
        self._held: dict[Place, Held] = {}
        self._queues: dict[str, Queue] = {}
        self._marks: dict[str, int] = {}

    def state(self) -> object:
        queues = {name: queue.attempts for name, queue in self._queues.items()}
        return queues, [
            (
                one.queue,
                one.body,
                one.key,
                one.priority,
                one.ready_us,
                one.expires_us,
                one.until_us,
                one.deliveries,
                one.failures,
                one.label if one.notify else 0,
                sorted(one.notify),
            )
            for one in self._held.values()
        ]

    # -- time

    def pass_time(self, ms: int) -> None:
        end_us = self.now_us + ms * 1_000
        while (due_us := min(self._dues(), default=NEVER_US)) <= end_us:
            self.now_us = max(due_us, self.now_us)
            self._happen()
        self.now_us = end_us

    def _dues(self) -> list[int]:
        """What has been ready all along is due no more."""
        dues = [one.until_us or min(one.expires_us, self._becomes_ready(one)) for one in self._held.values()]
        return dues + [waiter.until_us for queue in self._queues.values() for waiter in queue.waiters]

    def _becomes_ready(self, one: Held) -> int:
        return one.ready_us if one.ready_us > self.now_us else NEVER_US

    def _happen(self) -> None:
        """Expiry, then leases, then delays, then waits."""
        for place, one in list(self._held.items()):
            if not one.until_us and one.expires_us <= self.now_us:
                del self._held[place]
        over = [one for one in self._held.values() if one.until_us and one.until_us <= self.now_us]
        for one in sorted(over, key=lambda one: (one.until_us, one.number)):
            self._fail(one, one.ready_us)
            self._serve(one.queue)
        for name in self._queues:
            self._serve(name)
        for queue in self._queues.values():
            for waiter in [waiter for waiter in queue.waiters if waiter.until_us <= self.now_us]:
                queue.waiters.remove(waiter)
                self.loose.append(self._nothing(waiter.asked))

    # -- requests

    def message(self, kind: int, payload: bytes) -> None:
        asked = in_json(payload) if kind == TEXT else in_bincode(payload)
        if asked is None:
            self.answers.append(BAD_REQUEST)
            return
        asked.setdefault("label", 0 if asked["type"] != "finish" or "messages" in asked else -1)
        getattr(self, "_" + asked["type"])(asked)

    def _close(self, code: int) -> bool:
        self._leave()
        return super()._close(code)

    def _heed(self, payload: bytes) -> None:
        super()._heed(payload)
        self._leave()

    def _leave(self) -> None:
        for queue in self._queues.values():
            queue.waiters.clear()

    def _answer(self, asked: Asked, answer: object) -> None:
        (self.loose if waits_us(asked) else self.answers).append(answer)

    def _error(self, asked: Asked, code: str, key: str) -> None:
        self._answer(asked, {"type": "error", "label": max(asked["label"], 0), "code": code, "key": key})

    def _unknown(self, asked: Asked) -> bool:
        if asked["queue"] in self._queues:
            return False
        self._error(asked, "NoObject", asked["queue"])
        return True

    def _create(self, asked: Asked) -> None:
        if asked["queue"] in self._queues:
            self._error(asked, "ObjectAlreadyExists", asked["queue"])
            return
        self._queues[asked["queue"]] = Queue(max(asked["retries"], 1) if "retries" in asked else 0)
        self.answers.append({"type": "notice", "label": asked["label"], "notice": "ready"})

    def _post(self, asked: Asked) -> None:
        if self._unknown(asked):
            return
        body = asked["message"]
        one = self._enter(asked["queue"], body.encode() if isinstance(body, str) else bytes(body))
        one.priority = asked.get("priority", 0)
        notify = frozenset(asked.get("notify", ()))
        self._serve(one.queue)
        one.label, one.notify = asked["label"], notify
        if self._place(one) in self._held:
            for stage in (*DURABLE, *(["assign"] if one.until_us else [])):
                self._tell(one, stage)
        elif notify & {"ready", "finish"}:
            self.loose.append({"type": "notice", "label": one.label, "notice": "finish"})

    def _publish(self, asked: Asked) -> None:
        drafts = asked["messages"]
        unknown = [draft for draft in drafts if not self._come_to(draft)]
        if unknown and not asked.get("create", True) and self._unknown(asked):
            return
        if any(self._twin(asked, draft) is None and is_out_of_range(draft) for draft in unknown):
            self._error(asked, "BadRequest", "out of range")
            return
        shown = [self._publish_one(asked, draft) for draft in drafts]
        self.answers.append({"type": "published", "label": asked["label"], "messages": shown})

    def _come_to(self, draft: Asked) -> int:
        """Where its mark has come to, if that is beyond it."""
        come = self._marks.get(draft.get("mark", ""), 0)
        return come if 0 < draft.get("row", 0) <= come else 0

    def _publish_one(self, asked: Asked, draft: Asked) -> object:
        if come := self._come_to(draft):
            return {"already": come}
        queue = self._queues.setdefault(asked["queue"], Queue())
        place = self._twin(asked, draft)
        duplicate = place is not None
        if place is None:
            one = self._enter(asked["queue"], bytes_of(draft, "body") or b"")
            one.priority, one.key = draft.get("priority", 0), bytes_of(draft, "key")
            one.ready_us += us(draft.get("delay", 0))
            one.expires_us = self.now_us + us(draft["ttl"]) if us(draft.get("ttl", 0)) else NEVER_US
            place = self._place(one)
            if draft.get("dedup_id"):
                queue.known[draft["dedup_id"]] = place, self.now_us
            if draft.get("mark"):
                self._marks[draft["mark"]] = draft["row"]
            self._serve(one.queue)
        return {"shard": place[0], "sequence": place[1], "duplicate": duplicate}

    def _twin(self, asked: Asked, draft: Asked) -> Place | None:
        """The message that was published under the same dedup id a short time ago."""
        queue = self._queues.get(asked["queue"], Queue())
        place, at_us = queue.known.get(draft.get("dedup_id", ""), (None, 0))
        return place if self.now_us - at_us < DEDUP_US else None

    def _enter(self, queue: str, body: bytes) -> Held:
        one = Held(self._published, queue, body, 0, self.now_us, self.now_us)
        self._published += 1
        self._held[self._place(one)] = one
        return one

    def _place(self, one: Held) -> Place:
        return self._places[one.number]

    def _hand_out(self, asked: Asked) -> None:
        if self._unknown(asked):
            return
        ready = self._ready(asked["queue"])[: asked.get("max", 1)]
        if ready:
            self._answer(asked, self._given(asked, ready))
        elif waits_us(asked):
            self._queues[asked["queue"]].waiters.append(Waiter(asked, min(self.now_us + waits_us(asked), NEVER_US)))
        else:
            self._answer(asked, self._nothing(asked))

    _pop = _fetch = _reserve = _hand_out

    def _ready(self, name: str) -> list[Held]:
        ready = [one for one in self._held.values() if one.queue == name and not one.until_us]
        return sorted([one for one in ready if one.ready_us <= self.now_us], key=Held.rank)

    def _serve(self, name: str) -> None:
        waiters = self._queues[name].waiters
        while waiters and (ready := self._ready(name)):
            self.loose.append(self._given(waiters.pop(0).asked, ready[:1]))

    def _nothing(self, asked: Asked) -> object:
        if asked["type"] == "reserve":
            return {"type": "reserved", "label": asked["label"], "messages": []}
        return {"type": "nomessage", "label": asked["label"]}

    def _given(self, asked: Asked, ready: list[Held]) -> object:
        for one in ready:
            one.deliveries += 1
            if asked["type"] == "pop":
                self._end(one, "finish")
            else:
                one.until_us = min(self.now_us + lease_us(asked), NEVER_US)
                self._tell(one, "assign")
        if asked["type"] == "reserve":
            return {"type": "reserved", "label": asked["label"], "messages": [self._listed(one) for one in ready]}
        [one] = ready
        shard, sequence = self._place(one)
        body = one.body.decode() if is_text(one.body) else list(one.body)
        answer = {"type": "message", "label": asked["label"], "shard": shard, "sequence": sequence}
        return {**answer, "body": body, "finished": asked["type"] == "pop"}

    def _listed(self, one: Held) -> object:
        """As it is when it is handed out, be it said later or not."""
        shard, sequence = self._place(one)
        shown = {"shard": shard, "sequence": sequence, "priority": one.priority, "published_us": one.published_us}
        counters = {"deliveries": one.deliveries, "failures": one.failures}
        key = {} if one.key is None else as_text("key", one.key)
        return {**shown, **counters, **as_text("body", one.body), **key}

    # -- endings

    def _mine(self, queue: str, place: Place) -> Held | None:
        one = self._held.get(place)
        return one if one is not None and one.queue == queue and one.until_us else None

    def _finish(self, asked: Asked) -> None:
        if "messages" in asked:
            self._each(asked, "finished", lambda one: self._end(one, "finish"))
            return
        if self._unknown(asked):
            return
        one = self._mine(asked["queue"], (asked["shard"], asked["sequence"]))
        if one is None:
            self._error(asked, "NoObject", f"{asked['shard']}/{asked['sequence']}")
            return
        self._end(one, "finish")
        if asked["label"] >= 0:
            self.answers.append({"type": "notice", "label": asked["label"], "notice": "finish"})

    def _release(self, asked: Asked) -> None:
        self._each(asked, "released", lambda one: self._give_back(asked, one))

    def _give_back(self, asked: Asked, one: Held) -> None:
        ready_us = self.now_us + us(asked.get("delay", 0))
        if asked.get("failed"):
            self._fail(one, ready_us)
        elif one.expires_us <= self.now_us:
            del self._held[self._place(one)]
        else:
            one.until_us, one.ready_us = 0, ready_us
            self._tell(one, "retry")
        self._serve(one.queue)

    def _extend(self, asked: Asked) -> None:
        def extend(one: Held) -> None:
            one.until_us = min(self.now_us + us(asked["lease"]), NEVER_US)

        self._each(asked, "extended", extend)

    def _each(self, asked: Asked, type: str, end: Any) -> None:
        done = []
        for shard, sequence in asked["messages"]:
            one = self._mine(asked["queue"], (shard, sequence))
            done.append(one is not None)
            if one is not None:
                end(one)
        self.answers.append({"type": type, "label": asked["label"], "messages": done})

    def _fail(self, one: Held, ready_us: int) -> None:
        limit = self._queues[one.queue].attempts
        if one.expires_us <= self.now_us:
            del self._held[self._place(one)]
            return
        one.failures += 1
        if limit and one.failures >= limit:
            self._end(one, "drop")
            return
        one.until_us, one.ready_us = 0, ready_us
        self._tell(one, "retry")

    def _end(self, one: Held, stage: str) -> None:
        del self._held[self._place(one)]
        self._tell(one, stage)

    def _tell(self, one: Held, stage: str) -> None:
        if stage in one.notify and not self.closed:
            self.loose.append({"type": "notice", "label": one.label, "notice": stage})

    # -- what was heard

    def agrees(self, heard: bytes) -> bool:
        found = frames(heard)
        if self.farewell is not None and (not found or found.pop() != (0x80 | CLOSE, self.farewell)):
            return False
        texts = [payload for first, payload in found if first == 0x80 | TEXT]
        pongs = [payload for first, payload in found if first == 0x80 | PONG]
        if len(texts) + len(pongs) != len(found) or pongs != self.pongs:
            return False
        said, must, may = (Counter(map(written, some)) for some in (map(read, texts), self.answers, self.loose))
        rest = said - must
        return must <= said and (rest <= may if self.closed else rest == may)


def us(seconds: float) -> int:
    if seconds >= LONGEST_S:
        return NEVER_US
    return int(seconds * 1_000_000 + 0.5) if seconds > 0 else 0


def is_out_of_range(draft: Asked) -> bool:
    if "row" in draft and (not draft["mark"] or draft["row"] >= NEVER_US):
        return True
    return us(draft.get("delay", 0)) > DELAY_MAX_US or us(draft.get("ttl", 0)) == NEVER_US


def waits_us(asked: Asked) -> int:
    """How long it would wait for a message."""
    names = {"pop": "timeout", "fetch": "block_timeout", "reserve": "wait"}
    return us(asked.get(names.get(asked["type"], ""), 0))


def lease_us(asked: Asked) -> int:
    if asked["type"] == "fetch":
        return us(asked["work_timeout"]) or 100 * 86_400 * 1_000_000
    return us(asked["lease"]) if "lease" in asked else 60_000_000


def as_text(name: str, data: bytes) -> dict[str, str]:
    return {name: data.decode()} if is_text(data) else {name + "64": base64.b64encode(data).decode()}


def read(payload: bytes) -> object:
    """Of a bad request the label is as good as any."""
    said = json.loads(payload)
    if said.get("key") == BAD_REQUEST["key"] and said.get("code") == "BadRequest":
        said["label"] = 0
    return said


def written(said: object) -> str:
    return json.dumps(said, sort_keys=True)
