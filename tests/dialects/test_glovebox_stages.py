"""`ready`, `write` and `sync` in `glovebox` are the journal's own progress, and notices come in their order."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.broker.embedded import INLINE_SYNC_US, Embedded
from penstock.engine.rules import PolicyBook
from penstock.model import stages
from penstock.model.stages import STAGES
from tests.broker.desks import START_US, STORE_ID, Desk, EagerDesk, EngineDesk, LateDesk
from tests.dialects.gloves import Glove, Heard, notices
from tests.journal.simdisk import SimDisk

ALL = list(STAGES)
DURABLE = ("ready", "write", "sync")
ENDS = ("finish", "drop")


class SlowDesk(Desk):
    """The embedded broker on a disk that is slow to sync: a thread does it when a test says so."""

    def __init__(self, confirm: int = stages.WRITE, disk: SimDisk | None = None, now_us: int = START_US) -> None:
        self.disk = disk or SimDisk()
        self.embedded = Embedded(self.disk, STORE_ID, PolicyBook(), confirm, 64 << 10)
        self.embedded.open(now_us, "test")
        super().__init__(self.embedded.broker)
        self.confirm = confirm
        self.now_us = now_us
        self._sync: Callable[[], None] | None = None

    def tick(self) -> None:
        self.embedded.commit()
        self.embedded.journal.last_sync_us = INLINE_SYNC_US
        self.embedded.begin(self.now_us)

    def begin(self, now_us: int) -> None:
        self.embedded.begin(now_us)

    def next_due_us(self) -> int:
        return int(self.embedded.next_due_us())

    def start_sync(self) -> None:
        if self._sync is None and (self.embedded.wants_sync() or self.embedded.unsynced()):
            self._sync = self.embedded.start_sync()

    def finish_sync(self) -> None:
        sync, self._sync = self._sync, None
        if sync is not None:
            sync()
            self.embedded.finish_sync()
            self.embedded.journal.last_sync_us = INLINE_SYNC_US

    def be_quick(self) -> None:
        """For once, the next sync is not worth a thread."""
        self.embedded.journal.last_sync_us = 0

    def sync(self) -> None:
        """One that is under way, and then one for all that waits."""
        for _ in range(2):
            self.finish_sync()
            self.start_sync()
        self.finish_sync()


def slow(confirm: int = stages.WRITE) -> tuple[SlowDesk, Glove]:
    desk = SlowDesk(confirm)
    desk.tick()
    glove = Glove(desk)
    assert glove.ask("create", queue="q", sync="ready") == [{"type": "notice", "label": 0, "notice": "ready"}]
    desk.sync()
    return desk, glove


@pytest.mark.parametrize("confirm", [stages.READY, stages.WRITE, stages.SYNC])
def test_ready_then_write_then_sync_and_not_before_the_disk_has_synced(confirm: int) -> None:
    desk, glove = slow(confirm)
    written = desk.embedded.journal.next_fact
    glove.send("post", queue="q", message="x", label=5, notify=["sync", "write", "ready"])
    assert glove.connection.heard == b""
    assert desk.embedded.journal.next_fact == written
    assert notices(glove.hear(), 5) == ["ready", "write"]
    assert desk.embedded.journal.next_fact > desk.embedded.journal.synced
    desk.start_sync()
    assert glove.hear() == []
    desk.finish_sync()
    assert desk.embedded.journal.synced == desk.embedded.journal.next_fact
    assert notices(glove.hear(), 5) == ["sync"]


@pytest.mark.parametrize("type", ["pop", "fetch"])
@pytest.mark.parametrize(("sync", "waits"), [("ready", False), ("write", False), ("sync", True)])
def test_a_message_is_given_when_its_being_given_is_as_durable_as_asked(type: str, sync: str, waits: bool) -> None:
    desk, glove = slow()
    glove.ask("post", queue="q", message="x")
    heard = glove.ask(type, queue="q", label=1, sync=sync, work_timeout=60)
    assert (heard == []) is waits
    desk.sync()
    assert [one["type"] for one in heard + glove.hear()] == ["message"]


@pytest.mark.parametrize(("response", "waits"), [("ready", False), ("write", False), ("sync", True)])
def test_a_finish_is_answered_when_it_is_as_durable_as_asked(response: str, waits: bool) -> None:
    desk, glove = slow()
    glove.ask("post", queue="q", message="x")
    [given] = glove.ask("fetch", queue="q", work_timeout=60)
    place = {name: given[name] for name in ("shard", "sequence")}
    heard = glove.ask("finish", queue="q", **place, label=2, response=response)
    assert (heard == []) is waits
    desk.sync()
    assert notices(heard + glove.hear(), 2) == ["finish"]


@pytest.mark.parametrize("type", ["publish", "reserve", "release", "extend", "finish"])
@pytest.mark.parametrize(
    ("said", "confirm", "waits"),
    [
        ({}, stages.SYNC, True),
        ({}, stages.WRITE, False),
        ({"sync": "write"}, stages.SYNC, False),
        ({"sync": "sync"}, stages.WRITE, True),
    ],
)
def test_our_own_requests_wait_for_what_they_ask_or_else_for_what_the_server_confirms(
    type: str, said: dict[str, str], confirm: int, waits: bool
) -> None:
    desk, glove = slow(confirm)
    glove.ask("post", queue="q", message="x")
    place: list[int] = []
    if type in ("release", "extend", "finish"):
        [given] = glove.ask("fetch", queue="q", work_timeout=60)
        place = [given["shard"], given["sequence"]]
        desk.sync()
    members: dict[str, object] = {"messages": [{"body": "y"}] if type == "publish" else [place]}
    heard = glove.ask(type, queue="q", label=3, lease=60, **members, **said)
    assert (heard == []) is waits
    desk.sync()
    assert [one["label"] for one in heard + glove.hear()] == [3]


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("waits", [False, True])
def test_a_reserve_tells_of_its_own_delivery_whatever_has_happened_before_it_is_said(most: int, waits: bool) -> None:
    desk, glove = slow()
    if not waits:
        glove.ask("publish", queue="q", messages=[{"body": "x"}], sync="ready")
    assert glove.ask("reserve", queue="q", label=1, max=most, lease=1, wait=60, sync="sync") == []
    if waits:
        glove.ask("publish", queue="q", messages=[{"body": "x"}], sync="ready")
    desk.pass_time(1_000_000)
    [second] = glove.ask("reserve", queue="q", label=2, max=most, sync="ready")[0]["messages"]
    desk.sync()
    [first] = glove.hear()[0]["messages"]
    assert [(one["deliveries"], one["failures"]) for one in (first, second)] == [(1, 0), (2, 1)]


@pytest.mark.parametrize("confirm", [stages.READY, stages.WRITE, stages.SYNC])
def test_turns_of_a_life_never_overtake_a_sync_that_was_asked_for(confirm: int) -> None:
    desk, glove = slow(confirm)
    worker = Glove(desk)
    glove.send("post", queue="q", message="x", label=5, notify=ALL)
    worker.send("pop", queue="q", label=1)
    heard = glove.hear()
    assert notices(heard, 5) == ["ready", "write"]
    desk.sync()
    assert notices(glove.hear(), 5) == ["sync", "finish"]


# -- in whatever life


class Life:
    """Posters and workers at random, on any broker; whatever they hear is kept."""

    def __init__(self, desk: Desk, chance: Random) -> None:
        self.desk = desk
        self.chance = chance
        self.gloves = [Glove(desk) for _ in range(3)]
        self.gloves[0].ask("create", queue="q", retries=2)
        self.labels = 0
        self.asked: dict[int, set[str]] = {}
        self.heard: dict[int, list[str]] = {}
        self.held: list[tuple[Glove, Heard]] = []

    def step(self) -> None:
        acts = (self.post, self.post, self.pop, self.fetch, self.fetch, self.finish, self.pass_time, self.hear)
        self.chance.choice(acts)()

    def post(self) -> None:
        self.labels += 1
        notify = self.chance.choice((ALL, self.chance.sample(ALL, self.chance.randrange(len(ALL)))))
        self.asked[self.labels] = set(notify)
        glove = self.chance.choice(self.gloves)
        glove.send("post", queue="q", message="x", label=self.labels, notify=notify)

    def pop(self) -> None:
        self.chance.choice(self.gloves).send("pop", queue="q", timeout=self.chance.choice((0, 0.5)), sync=self.stage())

    def fetch(self) -> None:
        waits, works = self.chance.choice((0, 0.5)), self.chance.choice((0.1, 1, 60))
        self.chance.choice(self.gloves).send(
            "fetch", queue="q", work_timeout=works, block_timeout=waits, sync=self.stage()
        )

    def stage(self) -> str:
        return self.chance.choice(DURABLE)

    def finish(self) -> None:
        if self.held:
            glove, given = self.held.pop(self.chance.randrange(len(self.held)))
            glove.send("finish", queue="q", shard=given["shard"], sequence=given["sequence"])

    def pass_time(self) -> None:
        self.desk.pass_time(self.chance.choice((1, 100_000, 1_000_000)))
        self.hear()

    def hear(self) -> None:
        for glove in self.gloves:
            for one in glove.hear():
                if one["type"] == "notice" and one["label"]:
                    self.heard.setdefault(one["label"], []).append(one["notice"])
                elif one["type"] == "message" and not one["finished"]:
                    self.held.append((glove, one))

    def check(self) -> None:
        for label, told in self.heard.items():
            check_notices(told, self.asked[label])


def check_notices(told: list[str], asked: set[str]) -> None:
    assert set(told) <= asked | {"finish"}, told
    durable = [one for one in told if one in DURABLE]
    turns = [one for one in told if one not in DURABLE]
    assert told == durable + turns, told
    assert durable == [one for one in DURABLE if one in durable], told
    if durable:
        assert durable == [one for one in DURABLE if one in asked][: len(durable)], told
    assert not any(one in ENDS for one in turns[:-1]), told
    if asked >= {"assign", "retry"}:
        middle = [one for one in turns if one not in ENDS]
        assert middle == (["assign", "retry"] * len(middle))[: len(middle)], told


def desks(confirm: int, seed: int) -> list[Desk]:
    return [
        EngineDesk(PolicyBook()),
        EagerDesk(PolicyBook()),
        LateDesk(EngineDesk(PolicyBook()), seed),
        SlowDesk(confirm),
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from([stages.READY, stages.WRITE, stages.SYNC]))
def test_notices_are_those_that_were_asked_for_each_once_and_in_order(seed: int, confirm: int) -> None:
    for desk in desks(confirm, seed):
        life = Life(desk, Random(seed))
        for _ in range(40):
            life.step()
            if isinstance(desk, SlowDesk) and life.chance.random() < 0.5:
                life.chance.choice((desk.start_sync, desk.finish_sync, desk.be_quick))()
        if isinstance(desk, SlowDesk):
            desk.sync()
        life.hear()
        life.check()
        assert set(life.heard) <= set(life.asked)
        ready = [label for label, asked in life.asked.items() if "ready" in asked]
        assert all(label in life.heard for label in ready), "whoever asks for `ready` is always told something"
