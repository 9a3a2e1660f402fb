"""Sending the rows of a plan to a server, each exactly once: the server remembers how far it came, and says so.

Law: one request after the other, rows in rising order. A row counts as published when the server has said so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

from penstock.client.drafts import Draft
from penstock.client.errors import BadRequest
from penstock.client.frames import Published
from penstock.pipeline.plan import Row

REQUEST_BYTES: Final = 1 << 20  # of bodies; as JSON they may be six times as much


class RefusedRow(Exception):
    """The server does not take it, in these words. To go on without it would be to lose it."""

    def __init__(self, row: Row, words: str) -> None:
        super().__init__(words)
        self.row = row


class Publisher(Protocol):
    """What is needed of a client."""

    def publish_many(self, queue: str, messages: Iterable[Draft], *, create: bool) -> list[Published]: ...


class Sent:
    """How far it came. `before`: rows that an earlier run had published."""

    def __init__(self) -> None:
        self.published = 0
        self.bytes = 0
        self.before = 0

    def done(self) -> int:
        return self.published + self.before


class Sender:
    def __init__(self, client: Publisher, queue: str, mark: str, sent: Sent) -> None:
        self._client = client
        self._queue = queue
        self._mark = mark
        self._sent = sent
        self._come = -1  # the row that the mark had come to before this run; -1: not known yet

    def send(self, rows: Iterable[Row], most: int, wait: Callable[[int], None]) -> Iterator[Sent]:
        """Gives how far it came, again and again. `most`: rows of one request; `wait`: until so many may go.

        Raises RefusedRow, and what the client raises.
        """
        for request in requests(self._ahead(rows), most):
            wait(len(request))
            self._ask(request)
            yield self._sent

    def _ahead(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Those that an earlier run had published are passed over, once it is known which."""
        for row in rows:
            if row.message_seq <= self._come:
                self._sent.before += 1
            else:
                yield row

    def _ask(self, rows: Sequence[Row]) -> None:
        try:
            told = self._client.publish_many(self._queue, [self._draft(row) for row in rows], create=False)
        except BadRequest as refusal:
            self._ask_each(rows, refusal)
            return
        if self._come < 0:
            self._come = max(one.already for one in told)
        for row in rows:
            self._note(row)

    def _ask_each(self, rows: Sequence[Row], refusal: BadRequest) -> None:
        """A request is all or none: those before the row that cannot go are sent, and nothing after it."""
        if len(rows) == 1:
            raise RefusedRow(rows[0], str(refusal)) from None
        for row in rows:
            self._ask([row])

    def _note(self, row: Row) -> None:
        if row.message_seq <= self._come:
            self._sent.before += 1
        else:
            self._sent.published += 1
            self._sent.bytes += len(row.body)

    def _draft(self, row: Row) -> Draft:
        return Draft(row.body, key=row.key, priority=row.priority, mark=self._mark, row=row.message_seq)


def requests(rows: Iterable[Row], most: int) -> Iterator[list[Row]]:
    """As many rows at once as may be, and as fit; one in any case."""
    request: list[Row] = []
    room = REQUEST_BYTES
    for row in rows:
        room -= len(row.body) + len(row.key or b"")
        if request and (room < 0 or len(request) >= most):
            yield request
            request, room = [], REQUEST_BYTES - len(row.body) - len(row.key or b"")
        request.append(row)
    if request:
        yield request
