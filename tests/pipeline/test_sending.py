"""Sending a plan: every row once, in order, however often it is begun; and how far it came is told truly."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client.drafts import Draft
from penstock.client.errors import BadRequest, Full, PenstockError
from penstock.client.frames import Published
from penstock.pipeline.plan import Row
from penstock.pipeline.sending import REQUEST_BYTES, RefusedRow, Sender, Sent, requests
from tests.pipeline.test_plan import a_row


class FakeServer:
    """Remembers a mark as a server does; `breaks` before or after it has done what it was asked."""

    def __init__(self, largest: int = 1 << 20) -> None:
        self.rows: list[int] = []
        self.bodies: list[bytes] = []
        self.asked: list[int] = []
        self.largest = largest
        self.breaks: dict[int, tuple[bool, PenstockError]] = {}  # by request: whether it was done, and what is heard

    def publish_many(self, queue: str, messages: Iterable[Draft], *, create: bool) -> list[Published]:
        drafts = list(messages)
        assert (queue, create) == ("orders", False)
        self.asked.append(len(drafts))
        done, error = self.breaks.pop(len(self.asked), (True, None))
        if any(len(draft.body or b"") > self.largest for draft in drafts):
            raise BadRequest("too large")
        told = [self._publish(draft) for draft in drafts] if done else []
        if error is not None:
            raise error
        return told

    def _publish(self, draft: Draft) -> Published:
        assert draft.mark == "mark"
        assert draft.row is not None
        assert isinstance(draft.body, bytes)
        if self.rows and draft.row <= self.rows[-1]:
            return Published(already=self.rows[-1])
        self.rows.append(draft.row)
        self.bodies.append(draft.body)
        return Published(1, draft.row)


def send(server: FakeServer, rows: list[Row], most: int = 2) -> Sent:
    sent = Sent()
    for _ in Sender(server, "orders", "mark", sent).send(rows, most, lambda count: None):
        pass
    return sent


ROWS = [a_row(number, b"%d" % number) for number in (3, 4, 10, 11, 40)]


def test_rows_are_published_in_order_and_a_repeat_publishes_none() -> None:
    server = FakeServer()
    first = send(server, ROWS)
    assert (first.published, first.before, first.bytes, server.rows) == (5, 0, 8, [3, 4, 10, 11, 40])
    again = send(server, ROWS)
    assert (again.published, again.before, again.bytes, server.rows) == (0, 5, 0, [3, 4, 10, 11, 40])
    assert server.asked == [2, 2, 1, 2, 1]  # what is known to be there is not sent again, but for one that was at hand


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("request_number", [1, 2, 3])
def test_a_replay_that_broke_off_goes_on(request_number: int, done: bool) -> None:
    server = FakeServer()
    server.breaks[request_number] = (done, Full("orders has no room"))
    with pytest.raises(Full):
        send(server, ROWS)
    again = send(server, ROWS)
    assert server.bodies == [row.body for row in ROWS]
    assert again.published + again.before == len(ROWS)


@given(st.sets(st.integers(1, 60)), st.integers(1, 5), st.lists(st.tuples(st.integers(1, 9), st.booleans())))
def test_however_often_it_breaks_every_row_is_there_once(
    numbers: set[int], most: int, breaks: list[tuple[int, bool]]
) -> None:
    server = FakeServer()
    rows = [a_row(number) for number in sorted(numbers)]
    for after, done in breaks:
        server.breaks = {len(server.asked) + after: (done, Full("no room"))}
        try:
            send(server, rows, most)
        except Full:
            continue
    server.breaks = {}
    assert send(server, rows, most).done() == len(rows)
    assert server.rows == sorted(numbers)


def test_a_row_that_is_refused_stops_it_and_those_before_it_are_there() -> None:
    server = FakeServer(largest=2)
    rows = [a_row(1, b"ok"), a_row(2, b"too long"), a_row(3, b"ok")]
    with pytest.raises(RefusedRow, match="too large") as refused:
        send(server, rows, most=3)
    assert refused.value.row == rows[1]
    assert server.rows == [1]
    server.largest = 100
    assert (send(server, rows, most=3).published, server.rows) == (2, [1, 2, 3])


def test_it_waits_for_its_turn_before_each_request() -> None:
    asked: list[int] = []
    for _ in Sender(FakeServer(), "orders", "mark", Sent()).send(ROWS, 2, asked.append):
        pass
    assert asked == [2, 2, 1]


def test_a_request_has_no_more_rows_and_bytes_than_it_may() -> None:
    half = bytes(REQUEST_BYTES // 2)
    rows = [a_row(1, half), a_row(2, half), a_row(3), a_row(4, bytes(REQUEST_BYTES + 1)), a_row(5), a_row(6), a_row(7)]
    found = [[row.message_seq for row in request] for request in requests(rows, 2)]
    assert found == [[1, 2], [3], [4], [5, 6], [7]]
