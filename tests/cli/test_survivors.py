"""What lives in a journal as rows of etzel's format: what the numbers mean, in which order, and what is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.program import Failure
from penstock.cli.survivors import LOST, Survivors
from penstock.codecs.etzel import uid
from penstock.codecs.etzel_store import Row
from penstock.codecs.ids import Ids
from penstock.model.limits import NEVER_US
from penstock.model.message import Origin
from tests.engine.desk import Desk, S, origin
from tests.fields import fields

IDS = Ids(b"secret")


class Scene(Desk):
    """An engine whose facts are told to the survivors."""

    def rows(self, *queues: bytes, later_us: int = 0) -> list[Row]:
        self.survivors.choose(queues, self.now_us() + later_us)
        return list(self.survivors.rows())

    def pass_time(self, us: int) -> None:
        self.tell()
        super().pass_time(us)

    def tell(self) -> None:
        for fact in self.facts():
            self.survivors.learn(fact)

    def __init__(self) -> None:
        super().__init__()
        self.survivors = Survivors(IDS)


def only_row(scene: Scene, later_us: int = 0) -> Row:
    scene.tell()
    (row,) = scene.rows(later_us=later_us)
    return row


# -- the numbers


def test_a_plain_message_is_its_queue_its_uid_and_its_body() -> None:
    scene = Scene()
    number = scene.publish(b"\xff\0", b"a-b")
    assert only_row(scene) == Row(b"a-b", uid(IDS, number), 0, 0, 0, 0, b"\xff\0")


@pytest.mark.parametrize(("delay_us", "later_us", "seconds"), [
    (5 * S, 0, 5), (5 * S, 1, 5), (5 * S, S, 4), (5 * S + 1, 0, 6), (1, 0, 1), (5 * S, 5 * S, 0), (5 * S, 60 * S, 0),
])  # fmt: skip
def test_a_delay_is_what_is_left_of_it_rounded_up(delay_us: int, later_us: int, seconds: int) -> None:
    scene = Scene()
    scene.publish(delay_us=delay_us)
    assert only_row(scene, later_us).delay_s == seconds


@pytest.mark.parametrize(("ttl_us", "later_us", "seconds"), [(5 * S, 0, 5), (5 * S, 5 * S - 1, 1), (1, 0, 1)])
def test_what_is_left_of_a_life_is_never_nothing(ttl_us: int, later_us: int, seconds: int) -> None:
    scene = Scene()
    scene.publish(ttl_us=ttl_us)
    assert only_row(scene, later_us).expires_s == seconds


@pytest.mark.parametrize(("lease_us", "seconds"), [(-1, 0), (0, 1), (1, 1), (60 * S, 60)])
def test_a_timeout_is_the_messages_own_or_none(lease_us: int, seconds: int) -> None:
    scene = Scene()
    scene.publish(lease_us=lease_us)
    assert only_row(scene).timeout_s == seconds


def test_a_lease_is_a_delay_and_counts_as_a_delivery() -> None:
    scene = Scene()
    scene.publish()
    scene.reserve(lease_us=30 * S)
    row = only_row(scene, later_us=S)
    assert (row.status, row.delay_s) == (1, 29)


def test_a_lease_that_has_run_out_or_never_will_is_no_delay() -> None:
    scene = Scene()
    for lease_us in (S, NEVER_US):
        scene.publish()
        scene.reserve(lease_us=lease_us)
    scene.tell()
    assert [row.delay_s for row in scene.rows(later_us=2 * S)] == [0, 0]
    assert scene.survivors.lost == {"endless lease": 1}


def test_deliveries_count_up_to_255() -> None:
    for deliveries, status in ((254, 254), (255, 255), (256, 255), (10_000, 255)):
        scene = Scene()
        scene.publish(origin=origin(deliveries=deliveries))
        assert only_row(scene).status == status
        assert scene.survivors.lost == ({"deliveries": 1} if deliveries > 255 else {})


def test_where_the_clock_stands_behind_the_journal_the_journal_is_right() -> None:
    scene = Scene()
    scene.publish(delay_us=5 * S)
    assert only_row(scene, later_us=-3_600 * S).delay_s == 5


# -- which, and in which order


def test_what_has_ended_is_not_there_and_what_has_expired_by_now_is_counted() -> None:
    scene = Scene()
    scene.finish(scene.publish(b"finished"))
    scene.publish(b"expires", ttl_us=S)
    scene.publish(b"lives", ttl_us=S + 1)
    scene.publish(b"leased and over", ttl_us=S, priority=1)
    scene.reserve(lease_us=60 * S)
    scene.tell()
    assert [row.item for row in scene.rows(later_us=S)] == [b"lives"]
    assert scene.survivors.expired == 2


def test_some_queues_or_all() -> None:
    scene = Scene()
    for queue in (b"b", b"a", b"-", b"", b"a"):
        scene.publish(queue=queue)
    scene.tell()
    assert [row.queue for row in scene.rows()] == [b"", b"-", b"a", b"a", b"b"]
    assert [row.queue for row in scene.rows(b"b", b"")] == [b"", b"b"]


def test_a_queue_that_is_not_there_is_told() -> None:
    with pytest.raises(Failure, match="no%FFne: no such queue"):
        Scene().rows(b"no\xffne")


def test_those_come_first_that_are_handed_out_first() -> None:
    scene = Scene()
    scene.publish(b"leased", priority=9)
    scene.reserve(lease_us=60 * S)
    scene.publish(b"later", delay_us=3 * S, priority=5)
    scene.publish(b"soon", delay_us=S)
    scene.publish(b"first of the plain")
    scene.pass_time(1)
    scene.publish(b"second of the plain")
    scene.publish(b"best", priority=3)
    scene.tell()
    items = [b"best", b"first of the plain", b"second of the plain", b"soon", b"later", b"leased"]
    assert [row.item for row in scene.rows()] == items


# -- what is lost

SAID: dict[str, dict[str, Any]] = {
    "priority": {"priority": -1},
    "key": {"key": b""},
    "parked": {"parked": True},
    "deliveries": {"origin": origin(deliveries=300)},
    "dead letter": {"origin": origin(dead_of=5)},
    "dedup id": {"origin": origin(dedup_id=b"x")},
    "foreign id": {"origin": origin(foreign_id=b"x")},
    "trace": {"origin": origin(trace=b"x")},
    "principal": {"origin": origin(principal=b"x")},
    "notices": {"origin": origin(notify=1, poster=1, label=1)},
}


@pytest.mark.parametrize("what", SAID)
def test_what_a_row_has_no_place_for_is_counted(what: str) -> None:
    scene = Scene()
    scene.publish()
    scene.publish(**SAID[what])
    scene.publish(**SAID[what])
    scene.tell()
    assert len(scene.rows()) == 3
    assert scene.survivors.lost == {what: 2}


def test_failures_are_lost_too() -> None:
    scene = Scene()
    number = scene.publish()
    scene.reserve()
    scene.release(number, failed=True)
    assert only_row(scene).status == 1
    assert scene.survivors.lost == {"failures": 1}


def test_what_it_was_a_row_of_is_lost_too() -> None:
    scene = Scene()
    scene.publish(origin=origin(mark=b"list", row=1))
    assert only_row(scene).status == 0
    assert scene.survivors.lost == {"mark": 1}


def test_every_loss_has_a_test() -> None:
    assert {*SAID, "failures", "endless lease", "mark"} == set(LOST)


def test_nothing_of_a_message_is_forgotten_in_the_table_of_losses() -> None:
    """What an origin may say is either in a row or counted."""
    kept = {"deliveries", "first_leased_us"}  # the row's status; no dialect shows the time without the count
    counted = {"dedup_id", "foreign_id", "trace", "principal", "notify", "poster", "label", "dead_of", "dead_from"}
    assert set(fields(Origin)) == kept | counted | {"mark", "row"}


@given(
    st.lists(
        st.tuples(
            st.sampled_from((b"a", b"a-b", b"")),
            st.binary(max_size=20),
            st.integers(0, 9 * S),
            st.integers(1, 9 * S) | st.just(-1),
            st.integers(-1, 9 * S),
            st.integers(0, 400),
        ),
        max_size=8,
    ),
    st.integers(0, 9 * S),
)
def test_no_row_hands_out_or_ends_a_message_too_early_or_a_second_late(
    published: list[tuple[bytes, bytes, int, int, int, int]], later_us: int
) -> None:
    scene = Scene()
    expected = {}
    for queue, body, delay_us, ttl_us, lease_us, deliveries in published:
        past = origin(deliveries=deliveries)
        number = scene.publish(body, queue, delay_us, ttl_us=ttl_us, lease_us=lease_us, origin=past)
        expected[uid(IDS, number)] = (queue, body, delay_us, ttl_us, lease_us, deliveries)
    scene.tell()
    for row in scene.rows(later_us=later_us):
        queue, body, delay_us, ttl_us, lease_us, deliveries = expected.pop(row.uid)
        assert (row.queue, row.item, row.status) == (queue, body, min(deliveries, 255))
        assert 0 <= later_us + row.delay_s * S - delay_us < S or row.delay_s == 0 <= later_us - delay_us
        assert row.expires_s == 0 if ttl_us < 0 else 0 <= later_us + row.expires_s * S - ttl_us < S
        assert row.timeout_s == 0 if lease_us < 0 else 0 <= row.timeout_s * S - lease_us <= S
    assert all(0 < ttl_us <= later_us for _, _, _, ttl_us, _, _ in expected.values())
