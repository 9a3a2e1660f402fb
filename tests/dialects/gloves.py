"""A client of `glovebox` without a socket, for tests: requests as dictionaries, and what it hears, read back."""

from __future__ import annotations

import json
from typing import Any

from penstock.dialects.glovebox import GloveboxSession
from tests.broker.desks import Desk
from tests.dialects.runner import Connection, FakeContext
from tests.dialects.websocket_model import BINARY, OPENING, TEXT, WELCOME, frame, frames, text

FIN = 0x80
Heard = dict[str, Any]


def opening(**headers: object) -> bytes:
    """With `durable_session=1` the header DURABLE-SESSION has that value."""
    lines = [f"{name.replace('_', '-').upper()}: {value}\r\n".encode() for name, value in headers.items()]
    return OPENING.removesuffix(b"\r\n") + b"".join(lines) + b"\r\n"


def request(type: str, **members: object) -> bytes:
    return text(json.dumps({"type": type, **members}).encode())


class Glove:
    """One connection, open; `told` is what it was told after `hello`."""

    def __init__(self, desk: Desk, **headers: object) -> None:
        self.desk = desk
        self.context = FakeContext(desk, {"runtime_create": True})
        self.session = GloveboxSession(self.context)
        self.connection = Connection(self.session)
        self.session.received(opening(**headers))
        hello, *self.told = self.hear()
        self.id: int = hello["id"] if "id" in hello else int.from_bytes(hello["bytes"][8:], "little")

    def send(self, type: str, **members: object) -> None:
        self.session.received(request(type, **members))

    def send_bytes(self, payload: bytes) -> None:
        self.session.received(frame(FIN | BINARY, payload))

    def ask(self, type: str, **members: object) -> list[Heard]:
        self.send(type, **members)
        return self.hear()

    def hear(self) -> list[Heard]:
        """All that is said once nothing more happens."""
        self.desk.settle()
        while self.connection.flush():
            self.desk.settle()
        return self.heard()

    def heard(self) -> list[Heard]:
        """What has been said so far. Binary frames are `{"bytes": …}`."""
        data, self.connection.heard = self.connection.heard.removeprefix(WELCOME), b""
        return [json.loads(payload) if first == FIN | TEXT else {"bytes": payload} for first, payload in frames(data)]

    def lose(self) -> None:
        self.connection.lose()
        self.desk.settle()


def notices(heard: list[Heard], label: int) -> list[str]:
    return [one["notice"] for one in heard if one["type"] == "notice" and one["label"] == label]
