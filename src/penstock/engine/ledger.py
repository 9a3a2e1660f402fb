"""Live messages by number. Numbers come in order, so they stand in pages: a quarter of a dict in size, and quicker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy_extensions import i64

from penstock.model.message import Message

# Sixteen to a page: a page that one straggler keeps alive costs no more than the straggler.
_BITS: Final[i64] = 4
_SIZE: Final = 16
_MASK: Final[i64] = 15


class Page:
    __slots__ = ("count", "messages")

    def __init__(self) -> None:
        self.count: i64 = 0
        self.messages: list[Message | None] = [None] * _SIZE


_NOTHING: Final = Page()  # of no number; nobody adds to it


class Ledger:
    """Law: no page is empty but the newest."""

    def __init__(self) -> None:
        self._pages: dict[int, Page] = {}
        self._newest: i64 = -1
        self._newest_page: Page = Page()
        self._last: i64 = -1  # the one that was last looked up: its messages tend to be finished one after the other
        self._last_page: Page = _NOTHING
        self.count: i64 = 0

    def __len__(self) -> int:
        return int(self.count)

    def pages(self) -> int:
        return len(self._pages)

    def get(self, seq: i64) -> Message | None:
        page = self._page(seq >> _BITS)
        return None if page is None else page.messages[seq & _MASK]

    def __getitem__(self, seq: i64) -> Message:
        found = self.get(seq)
        if found is None:
            raise KeyError(seq)
        return found

    def values(self) -> Iterator[Message]:
        """All of them; in the order of their numbers as far as they came in that order."""
        for page in self._pages.values():
            for message in page.messages:
                if message is not None:
                    yield message

    def add(self, message: Message) -> None:
        """One whose number is not in here."""
        number: i64 = message.order >> _BITS
        page = self._page(number)
        if page is None:
            page = self._turn(number)
        page.messages[message.order & _MASK] = message
        page.count += 1
        self.count += 1

    def remove(self, message: Message) -> None:
        """One that is in here; another is a KeyError."""
        number: i64 = message.order >> _BITS
        page = self._page(number)
        if page is None or page.messages[message.order & _MASK] is None:
            raise KeyError(message.order)
        page.messages[message.order & _MASK] = None
        page.count -= 1
        self.count -= 1
        if page.count == 0 and number != self._newest:
            del self._pages[number]
            self._last = -1
            self._last_page = _NOTHING

    def _page(self, number: i64) -> Page | None:
        if number == self._newest:
            return self._newest_page
        if number == self._last:
            return self._last_page
        page = self._pages.get(number)
        if page is not None:
            self._last = number
            self._last_page = page
        return page

    def _turn(self, number: i64) -> Page:
        """A new page; the newest so far goes if nothing is on it."""
        page = self._pages[number] = Page()
        if number > self._newest:
            if self._newest_page.count == 0:
                self._pages.pop(self._newest, None)
            self._newest = number
            self._newest_page = page
        return page
