"""The dialect `glovebox`: JSON or bincode over WebSocket, notices, and sessions that outlive their connections.
docs/dialects/glovebox.md specifies it.

Law: `hello` is said before anything else, and nothing is read before it.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from penstock.codecs.glovebox_plain import PlainRequest
from penstock.codecs.upgrade import Head
from penstock.dialects import glovebox_binary, glovebox_json
from penstock.dialects.context import Context
from penstock.dialects.glovebox_asking import MEET, NUMBER, PAGE, Asked, AskingSession
from penstock.dialects.glovebox_words import BinaryWords, JsonWords, Words
from penstock.dialects.settings import FLAG, Setting
from penstock.model.contract import NO_WIRE, Session
from penstock.model.limits import SECOND_US
from penstock.model.policy import Policy
from penstock.model.views import QueueView

__all__ = ["DEFAULTS", "NUMBER", "SETTINGS", "GloveboxSession"]

SETTINGS: Final[tuple[Setting, ...]] = (Setting("runtime_create", FLAG, True, "Clients may make queues."),)

# A client that repeats a publish after a broken connection does so within this.
DEFAULTS: Final[Policy] = Policy(dedup_us=60 * int(SECOND_US))

_STATUS: Final = b"/status/"
_ID_DIGITS_MAX: Final = 16


class GloveboxSession(AskingSession):
    """One connection, and, if it is durable, what is left of it when that has ended."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._greeted: bool = False
        self._plain: PlainRequest = PlainRequest()
        self._spoken: Words = JsonWords(self._output)

    # -- the connection's side

    def opened(self, head: Head) -> None:
        if head.said("binary"):
            self._spoken = BinaryWords(self._output)
        number = self.context.clients.number(_id(head.headers.get("reconnect-as", "")))
        token = self.ask(MEET, 0, b"").token
        self.context.broker.meet(self, token, number, head.said("durable-session"))

    def text(self, payload: bytes) -> None:
        glovebox_json.read(self, self._plain, payload)

    def binary(self, payload: bytes) -> None:
        glovebox_binary.read(self, payload)

    def enough(self) -> bool:
        return not self._greeted or super().enough()

    def output(self) -> bytes:
        if self.keeper is not None and self._greeted:
            self.keeper.tell(self._spoken)
        return super().output()

    def lost(self) -> None:
        super().lost()
        self.wire = NO_WIRE
        if self.keeper is not None:
            self.keeper.forsake(self)

    # -- names

    def greet(self, number: i64) -> None:
        self._spoken.hello(self.context.clients.show(number))
        self._greeted = True
        if not self.durable:
            self.keeper = None
            self.words = self._spoken

    def inherit(self, old: Session) -> None:
        assert isinstance(old, GloveboxSession)
        keeper = old.keeper
        if keeper is not None:
            keeper.owner = self
            self.keeper = keeper
            self.words = keeper

    def dropped(self) -> int:
        return 0 if self.keeper is None else self.keeper.dropped

    # -- the page

    def page(self, turn: i64, path: bytes) -> None:
        if not path.startswith(_STATUS):
            self.not_found(turn)
            return
        queue = path.removeprefix(_STATUS)
        asked = self.ask(PAGE, 0, queue)
        asked.number = turn
        self.context.broker.show_queue(self, asked.token, queue)

    def respond_status(self, asked: Asked, view: object) -> None:
        if isinstance(view, QueueView):
            self.respond_json(asked.number, 200, _status(view))
        else:
            name = asked.queue.decode("utf-8", "replace")
            self.respond_json(asked.number, 404, _NOT_FOUND | {"name": name})


_NOT_FOUND: Final[dict[str, object]] = {
    "type": "Error",
    "name": "",
    "code": "QueueNotFound",
    "message": "Named queue not found",
}


def _status(view: QueueView) -> dict[str, object]:
    """All messages of a queue count as one shard here."""
    return {
        "type": "Status",
        "length": view.counts.ready,
        "readers_waiting": view.waiting,
        "shards_read_write": 1,
        "shards_read_only": 0,
        "shards_finished": 0,
    }


def _id(said: str) -> int:
    """-1: it is none."""
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _ID_DIGITS_MAX else -1
