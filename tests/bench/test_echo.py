"""The peer of the WebSocket dialects: a tongue takes its answers for penstock's."""

from __future__ import annotations

from typing import Any

import pytest
from picows import WSMsgType

from bench import echo
from bench.tongues import frames
from bench.tongues.table import tongue
from penstock.codecs.websocket import MORE, FrameReader

ASKED = 3


class Transport:
    """Keeps what is sent, framed."""

    def __init__(self) -> None:
        self.sent = b""
        self.open = True

    def send(self, kind: WSMsgType, payload: bytes) -> None:
        assert kind == WSMsgType.TEXT
        self.sent += frames.answered(frames.TEXT, len(payload)) + payload

    def disconnect(self) -> None:
        self.open = False


class Frame:
    def __init__(self, msg_type: WSMsgType, payload: bytes) -> None:
        self.msg_type = msg_type
        self._payload = payload

    def get_payload_as_memoryview(self) -> memoryview:
        return memoryview(self._payload)


def answers(listener: Any, requests: bytes) -> bytes:
    transport = Transport()
    reader = FrameReader(1 << 20, True)
    reader.feed(requests)
    while reader.take() != MORE:
        listener.on_ws_frame(transport, Frame(WSMsgType.TEXT, reader.payload))
    return transport.sent


@pytest.mark.parametrize("name", ["etzel", "glovebox:ready", "glovebox:write"])
def test_every_request_is_answered_as_penstock_answers_it(name: str) -> None:
    listener = echo.DIALECTS[name.partition(":")[0]](None)
    spoken = tongue(name, 0, ASKED, 1)
    for _ in range(3):
        assert spoken.hear(answers(listener, spoken.say())) == ASKED


def test_glovebox_says_hello_first_and_makes_any_queue() -> None:
    transport = Transport()
    listener: Any = echo.glovebox(None)
    listener.on_ws_connected(transport)
    assert b'"type":"hello"' in transport.sent
    create = b'{"type":"create","queue":"q","label":5}'
    assert b'"label":5' in answers(listener, frames.asked(frames.TEXT, create))


def test_whoever_says_goodbye_is_let_go() -> None:
    transport = Transport()
    listener: Any = echo.etzel(None)
    listener.on_ws_frame(transport, Frame(WSMsgType.CLOSE, b""))
    assert not transport.open
