"""Durable sessions of `glovebox`: what is kept for a client that is gone, within which bounds, and what survives a
restart of the server."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest

from penstock.engine.rules import PolicyBook
from penstock.model import stages
from penstock.model.limits import ABSENT_MAX, KEPT_BYTES_MAX, KEPT_MAX
from tests.broker.desks import Desk, EagerDesk, EngineDesk, LateDesk
from tests.dialects.gloves import Glove, notices
from tests.dialects.test_glovebox_stages import SlowDesk
from tests.journal.simdisk import SimDisk

DESKS: dict[str, Callable[[], Desk]] = {
    "prompt": lambda: EngineDesk(PolicyBook()),
    "eager": lambda: EagerDesk(PolicyBook()),
    "late": lambda: LateDesk(EngineDesk(PolicyBook()), 3),
}


@pytest.fixture(params=DESKS)
def desk(request: pytest.FixtureRequest) -> Desk:
    made = DESKS[request.param]()
    Glove(made).ask("create", queue="q")
    return made


def back(desk: Desk, gone: Glove, **headers: object) -> Glove:
    return Glove(desk, reconnect_as=gone.id, **headers)


def work_off(desk: Desk, count: int) -> None:
    worker = Glove(desk)
    for _ in range(count):
        assert [one["type"] for one in worker.ask("pop", queue="q")] == ["message"]


# -- what is kept


def test_notices_that_come_while_it_is_gone_are_told_after_the_next_hello(desk: Desk) -> None:
    poster = Glove(desk, durable_session="true")
    for label in (1, 2, 3):
        poster.ask("post", queue="q", message="x", label=label, notify=["finish"])
    poster.lose()
    work_off(desk, 3)
    again = back(desk, poster)
    assert again.id == poster.id
    assert [one["label"] for one in again.told] == [1, 2, 3]
    assert back(desk, poster).id != poster.id, "it is there"


def test_what_was_told_is_not_told_again(desk: Desk) -> None:
    poster = Glove(desk, durable_session=1)
    poster.ask("post", queue="q", message="x", label=1, notify=["ready", "finish"])
    poster.lose()
    work_off(desk, 1)
    again = back(desk, poster)
    assert notices(again.told, 1) == ["finish"]
    again.lose()
    assert back(desk, poster).told == []


def test_a_session_that_is_not_durable_is_told_nothing_of_what_it_missed(desk: Desk) -> None:
    poster = Glove(desk)
    poster.ask("post", queue="q", message="x", label=1, notify=["finish"])
    poster.lose()
    work_off(desk, 1)
    assert back(desk, poster).told == []


def test_it_may_come_back_in_the_other_form(desk: Desk) -> None:
    poster = Glove(desk, durable_session=1)
    poster.ask("post", queue="q", message="x", label=1, notify=["finish"])
    poster.lose()
    work_off(desk, 1)
    again = back(desk, poster, binary=1)
    assert again.id == poster.id
    assert again.told == [{"bytes": bytes.fromhex("00000000 01000000 0100000000000000 04000000")}]


def test_answers_that_were_under_way_when_the_connection_ended_are_kept() -> None:
    desk = SlowDesk()
    desk.tick()
    worker = Glove(desk, durable_session=1)
    worker.ask("create", queue="q", sync="ready")
    worker.ask("post", queue="q", message="x", label=5, notify=["sync"])
    worker.ask("fetch", queue="q", work_timeout=60, sync="sync", label=6)
    worker.ask("publish", queue="q", messages=[{"body": "y"}], sync="sync", label=7)
    worker.ask("pop", queue="none", sync="sync", label=8)
    worker.lose()
    desk.sync()
    again = back(desk, worker)
    assert [(one["type"], one["label"]) for one in again.told] == [("notice", 5), ("message", 6), ("published", 7)]
    place = {name: again.told[1][name] for name in ("shard", "sequence")}
    assert notices(again.ask("finish", queue="q", **place, label=9), 9) == ["finish"]


def test_answers_under_way_find_a_client_that_is_already_back() -> None:
    """They were asked through a connection that is gone, and come after the hello of the next."""
    desk = SlowDesk()
    desk.tick()
    worker = Glove(desk, durable_session=1)
    worker.ask("create", queue="q", sync="ready")
    worker.ask("post", queue="q", message="x", label=5, notify=["sync"])
    worker.lose()
    second = back(desk, worker)
    second.lose()
    third = back(desk, worker)
    assert (second.told, third.told) == ([], [])
    desk.sync()
    assert notices(third.hear(), 5) == ["sync"]


def test_what_it_waited_for_it_waits_for_no_more(desk: Desk) -> None:
    worker = Glove(desk, durable_session=1)
    worker.ask("fetch", queue="q", block_timeout=60, work_timeout=60, label=1)
    worker.lose()
    Glove(desk).ask("post", queue="q", message="x")
    desk.pass_time(60_000_000)
    again = back(desk, worker)
    assert again.told == []
    assert again.ask("pop", queue="q")[0]["body"] == "x"


def test_words_that_were_not_sent_when_the_connection_broke_are_not_lost(desk: Desk) -> None:
    poster = Glove(desk, durable_session=1)
    poster.send("post", queue="q", message="x", label=1, notify=["ready"])
    desk.settle()
    poster.lose()
    assert notices(back(desk, poster).told, 1) == ["ready"]


def test_an_id_becomes_durable_by_asking_for_both(desk: Desk) -> None:
    first = Glove(desk)
    first.lose()
    poster = back(desk, first, durable_session=1)
    assert poster.id == first.id
    poster.ask("post", queue="q", message="x", label=1, notify=["finish"])
    poster.lose()
    work_off(desk, 1)
    assert notices(back(desk, poster).told, 1) == ["finish"]


# -- bounds


def kept(desk: Desk, glove: Glove, count: int) -> list[int]:
    """Labels told after as many notices as this came for one that is gone."""
    glove.lose()
    for label in range(count):
        glove.session.told(stages.FINISH, label)
    return [one["label"] for one in back(desk, glove).told]


def test_of_too_many_the_newest_are_kept() -> None:
    desk = EagerDesk(PolicyBook())
    labels = kept(desk, Glove(desk, durable_session=1), KEPT_MAX + 10)
    assert labels == list(range(10, KEPT_MAX + 10))


def test_of_too_many_bytes_the_newest_are_kept() -> None:
    desk = EagerDesk(PolicyBook())
    worker = Glove(desk, durable_session=1)
    worker.lose()
    body = bytes(KEPT_BYTES_MAX // 3)
    for label in range(5):
        worker.session.words.message(label, 1, body, True)
    assert [one["label"] for one in back(desk, worker).told] == [3, 4]
    assert worker.session.dropped() == 3


def test_while_it_is_there_nothing_is_dropped(desk: Desk) -> None:
    poster = Glove(desk, durable_session=1)
    for label in range(KEPT_MAX + 10):
        poster.session.told(stages.FINISH, label)
    assert len(poster.hear()) == KEPT_MAX + 10


def test_of_too_many_sessions_those_are_forgotten_that_went_first() -> None:
    """One is forgotten; what comes for it later is kept anew, for its id is durable, in the place of the next."""
    desk = EagerDesk(PolicyBook())
    Glove(desk).ask("create", queue="q")
    gone = []
    for _ in range(ABSENT_MAX + 1):
        glove = Glove(desk, durable_session=1)
        glove.ask("post", queue="q", message="x", label=1, notify=["finish"])
        glove.lose()
        gone.append(glove)
    work_off(desk, ABSENT_MAX + 1)
    assert all(notices(back(desk, glove).told, 1) == ["finish"] for glove in gone[2:])


@pytest.mark.parametrize("headers", [{}, {"durable_session": 1}])
def test_a_session_that_is_over_leaves_nothing_behind_for_the_collector(headers: dict[str, object]) -> None:
    """No circle: a server of many short connections must not wait for the garbage collector."""
    desk = EagerDesk(PolicyBook())
    gc.collect()
    gc.disable()
    try:
        glove = Glove(desk, **headers)
        glove.lose()
        heir = back(desk, glove)
        trace = weakref.ref(glove.connection)
        del glove.session, glove.connection
        assert trace() is None
        heir.lose()
    finally:
        gc.enable()


# -- restarts


def restarted(desk: SlowDesk, clean: bool) -> SlowDesk:
    if clean:
        desk.embedded.close()
    else:
        desk.embedded.commit()
    again = SlowDesk(disk=SimDisk(desk.disk.contents()), now_us=desk.now_us)
    again.tick()
    return again


@pytest.fixture
def slow() -> SlowDesk:
    desk = SlowDesk()
    desk.tick()
    Glove(desk).ask("create", queue="q", sync="write")
    return desk


@pytest.mark.parametrize("clean", [False, True])
def test_over_a_restart_the_id_the_leases_and_notices_of_later_events_survive(slow: SlowDesk, clean: bool) -> None:
    poster, worker = Glove(slow, durable_session=1), Glove(slow)
    poster.ask("post", queue="q", message="x", label=1, notify=["write", "assign", "finish"])
    poster.ask("post", queue="q", message="y", label=2, notify=["assign", "retry"])
    [x] = worker.ask("fetch", queue="q", work_timeout=60, label=1)
    desk = restarted(slow, clean)

    again = back(desk, worker)
    assert again.id == worker.id
    assert notices(again.ask("finish", queue="q", shard=x["shard"], sequence=x["sequence"], label=2), 2) == ["finish"]
    again.ask("fetch", queue="q", work_timeout=1)
    desk.pass_time(1_000_000)
    told = back(desk, poster).told
    assert [(one["label"], one["notice"]) for one in told] == [(1, "finish"), (2, "assign"), (2, "retry")]


@pytest.mark.parametrize("clean", [False, True])
def test_what_waited_to_be_told_when_the_server_stopped_is_lost(slow: SlowDesk, clean: bool) -> None:
    poster = Glove(slow, durable_session=1)
    poster.ask("post", queue="q", message="x", label=1, notify=["finish"])
    poster.lose()
    work_off(slow, 1)
    again = back(restarted(slow, clean), poster)
    assert (again.id, again.told) == (poster.id, [])


def test_an_id_that_became_durable_later_is_so_until_a_restart(slow: SlowDesk) -> None:
    first = Glove(slow)
    first.lose()
    poster = back(slow, first, durable_session=1)
    poster.ask("post", queue="q", message="x", label=1, notify=["finish"])
    desk = restarted(slow, clean=True)
    work_off(desk, 1)
    again = back(desk, poster)
    assert (again.id, again.told) == (first.id, [])


@pytest.mark.parametrize("clean", [False, True])
def test_no_id_is_given_out_twice_whatever_was_lost(slow: SlowDesk, clean: bool) -> None:
    desk, seen = slow, set()
    for _ in range(3):
        for _ in range(20):
            seen.add(Glove(desk).id)
        desk = restarted(desk, clean)
    assert len(seen) == 60
