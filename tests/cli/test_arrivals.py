"""Which rows a store has had already, and how the others are put into batches."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.arrivals import Arrivals, batches
from penstock.cli.import_etzel import form_of, own_number
from penstock.codecs.etzel import uid
from penstock.codecs.etzel_store import Row
from penstock.codecs.ids import Ids
from penstock.model.limits import IMPORT_BYTES_MAX, IMPORT_MAX
from penstock.model.policy import Policy
from tests.engine.desk import Desk, S, origin

IDS = Ids(b"secret")
UID = b"etzl0pCk2X9LqZ"
ROW = Row(b"q", UID, 0, 0, 0, 0, b"body")


def known(desk: Desk, *rows: Row) -> int:
    """How many of the rows the journal tells of."""
    arrivals = Arrivals([row.uid for row in rows], lambda uid: own_number(IDS, uid))
    for fact in desk.facts():
        arrivals.learn(fact)
    fresh = list(arrivals.fresh(rows))
    assert arrivals.known == len(rows) - len(fresh)
    return arrivals.known


def imported(desk: Desk, row: Row = ROW) -> int:
    return desk.publish(row.item, row.queue, origin=origin(foreign_id=row.uid))


def test_into_a_new_store_everything_is_fresh() -> None:
    assert known(Desk(), ROW) == 0


def test_what_was_imported_is_known() -> None:
    desk = Desk()
    imported(desk)
    assert known(desk, ROW, ROW._replace(uid=b"another uid...")) == 1


def test_what_is_said_beside_the_body_makes_no_other_message() -> None:
    desk = Desk()
    imported(desk)
    assert known(desk, ROW._replace(status=9, timeout_s=9, delay_s=9, expires_s=9)) == 1


@pytest.mark.parametrize(
    "row", [ROW._replace(queue=b"other"), ROW._replace(item=b"other"), ROW._replace(uid=b"etzl0000000000")]
)
def test_another_queue_body_or_uid_makes_another_message(row: Row) -> None:
    desk = Desk()
    imported(desk)
    assert known(desk, row) == 0


def test_what_never_was_elsewhere_is_known_by_its_own_uid() -> None:
    desk = Desk()
    number = desk.publish(b"body")
    assert known(desk, ROW._replace(uid=uid(IDS, number))) == 1


@pytest.mark.parametrize("end", ["finish", "take", "expire", "drop"])
def test_what_was_done_with_is_known_for_ever(end: str) -> None:
    desk = Desk(Policy(attempts=1))
    number = desk.publish(b"body", ttl_us=9 * S, origin=origin(foreign_id=UID))
    if end == "finish":
        desk.finish(number)
    elif end == "take":
        desk.take()
    elif end == "drop":
        desk.reserve()
        desk.release(number, failed=True)
    else:
        desk.pass_time(9 * S)
    assert desk.place(number) == "ended"
    assert known(desk, ROW) == 1


@pytest.mark.parametrize("end", ["delete", "purge", "remove"])
def test_what_was_deleted_may_come_back(end: str) -> None:
    desk = Desk()
    number = imported(desk)
    desk.ask(end, b"q", *([number] if end == "delete" else []), 0)
    assert len(desk.engine.state().messages) == 0
    assert known(desk, ROW) == 0


def test_of_rows_that_are_alike_as_many_are_known_as_have_come() -> None:
    for came in range(4):
        desk = Desk()
        for _ in range(came):
            imported(desk)
        assert known(desk, ROW, ROW, ROW) == min(came, 3)


def test_an_import_that_was_exported_and_imported_again_is_known_by_both_its_uids() -> None:
    desk = Desk()
    number = imported(desk)
    assert known(desk, ROW, ROW._replace(uid=uid(IDS, number))) == 2


# -- batches


@given(st.lists(st.tuples(st.sampled_from((b"a", b"b")), st.integers(0, 3)), max_size=30))
def test_batches_keep_the_order_and_are_of_one_queue_each(drawn: list[tuple[bytes, int]]) -> None:
    rows = [ROW._replace(queue=queue, item=bytes(size)) for queue, size in drawn]
    found = list(batches(rows))
    assert [row for batch in found for row in batch] == rows
    assert all(len({row.queue for row in batch}) == 1 for batch in found)


def test_a_batch_holds_so_many_messages_and_no_more() -> None:
    assert [len(batch) for batch in batches([ROW] * (2 * IMPORT_MAX + 1))] == [IMPORT_MAX, IMPORT_MAX, 1]


def test_a_batch_holds_so_many_bytes_and_no_more() -> None:
    row = ROW._replace(item=bytes(IMPORT_BYTES_MAX // 4))
    assert [len(batch) for batch in batches([row] * 9)] == [4, 4, 1]


def test_a_row_is_told_to_the_server_with_all_it_says() -> None:
    form = form_of(Row(b"q", UID, 7, 60, 5, 3_600, b"\xff"))
    assert form == {
        "body64": base64.b64encode(b"\xff").decode(),
        "foreign_id": UID.decode(),
        "delay_s": 5,
        "ttl_s": 3_600,
        "lease_s": 60,
        "deliveries": 7,
    }
    assert form_of(ROW)["lease_s"] is None
