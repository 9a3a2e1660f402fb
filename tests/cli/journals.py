"""Data directories with a journal that no server wrote: a few facts, in segments of a few."""

from __future__ import annotations

from pathlib import Path

from penstock.codecs.facts import FactBatch
from penstock.codecs.ids import Ids
from penstock.journal.disk import OsDisk, make_directory
from penstock.journal.journal import Journal
from penstock.model import facts
from penstock.model.limits import NEVER_US
from penstock.model.message import Message
from penstock.server.identity import open_identity
from penstock.server.store import JOURNAL_NAME

AT_US = 1_767_323_045_678_901
DEFERRED = 3


class Written:
    """A journal with the queue `orders`; `publish` makes a batch, `rotate` a segment."""

    def __init__(self, data: Path) -> None:
        self.folder = data / JOURNAL_NAME
        make_directory(str(self.folder))
        identity = open_identity(OsDisk(str(data)), journal_exists=False)
        self.ids = Ids(identity.secret_bytes)
        self._at_us = AT_US
        self._journal = Journal(OsDisk(str(self.folder)), identity.store_id, 1, 1, AT_US, segment_bytes=64 << 10)
        batch = FactBatch()
        batch.server_changed(facts.STARTED, 1, b'{"clean":true}')
        batch.queue_changed(facts.DECLARED, 1, DEFERRED, b"orders", b'{"lease_us":5000000}')
        self._append(batch)

    def publish(self, seq: int, body: bytes, expires_us: int = NEVER_US) -> Message:
        message = Message(seq, 1, body, self._at_us, self._at_us)
        message.expires_us = expires_us
        message.dialect = DEFERRED
        batch = FactBatch()
        batch.published(message)
        self._append(batch)
        return message

    def finish(self, message: Message) -> None:
        message.deliveries = 1
        batch = FactBatch()
        batch.moved(facts.FINISHED, message, DEFERRED, facts.TAKEN, 0, 0, 0, 0)
        self._append(batch)

    def rotate(self) -> None:
        self._journal.rotate(self._at_us)

    def close(self) -> None:
        self._journal.close(self._at_us)

    def segment(self, number: int) -> Path:
        return self.folder / f"{number:020}.journal"

    def _append(self, batch: FactBatch) -> None:
        self._journal.append(batch, self._at_us)
        self._journal.sync()
        self._at_us += 1_000_000


def three_segments(data: Path) -> Written:
    """Facts 1 to 4 in the first segment, 5 and 6 in the second, 7 in the third."""
    written = Written(data)
    first = written.publish(101, b"hello")
    written.finish(first)
    written.rotate()
    written.publish(102, b"\xff\0")
    written.publish(103, b"[red]two\nlines\x1b[31m")
    written.rotate()
    written.publish(104, b"x" * 500)
    written.close()
    return written


def flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)
