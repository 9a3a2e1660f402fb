"""The peer of the WebSocket dialects: a bare picows server on uvloop that decodes the same JSON into the same structs,
and encodes answers of the same kinds and sizes. It keeps nothing: no queue, no journal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import msgspec
import uvloop
from msgspec import Struct
from picows import WSFrame, WSListener, WSMsgType, WSTransport, WSUpgradeRequest, ws_create_server

from bench.tongues.tongue import BODY
from penstock.codecs import etzel_shapes, glovebox_shapes
from penstock.codecs.etzel_shapes import Ack, Fet, Pub
from penstock.codecs.glovebox_shapes import Create, Fetch, Finish, Post

TEXT: Final = BODY.decode()
UID: Final = "etzl0123456789"
NUMBER: Final = 123_456_789  # as long as most shards and sequences are
ENCODER: Final = msgspec.json.Encoder()


class Ok(Struct, tag_field="cmd", tag="ok"):
    """Of a PUB."""


class Msg(Struct, tag_field="cmd", tag="msg"):
    qname: str
    uid: str
    error_count: int
    msg: str


class OkAck(Struct, tag_field="cmd", tag="okack"):
    uid: str
    qname: str


class Hello(Struct, tag="hello"):
    id: int


class Notice(Struct, tag="notice"):
    label: int
    notice: str


class Message(Struct, tag="message"):
    label: int
    shard: int
    sequence: int
    body: str
    finished: bool


Answers = dict[type, Callable[[Any], Struct]]

ETZEL: Final[Answers] = {
    Pub: lambda _: Ok(),
    Fet: lambda said: Msg(said.qname, UID, 0, TEXT),
    Ack: lambda said: OkAck(said.uid, said.qname),
}
GLOVEBOX: Final[Answers] = {
    Create: lambda said: Notice(said.label, "ready"),
    Post: lambda said: Notice(said.label, said.notify[0]),
    Fetch: lambda said: Message(said.label, NUMBER, NUMBER, TEXT, False),
    Finish: lambda said: Notice(said.label, "finish"),
}


class Echo(WSListener):
    """One connection: an answer for every frame."""

    def __init__(self, decoder: msgspec.json.Decoder[Any], answers: Answers, hello: Struct | None) -> None:
        super().__init__()
        self._decode = decoder.decode
        self._answers = answers
        self._hello = hello

    def on_ws_connected(self, transport: WSTransport) -> None:
        if self._hello is not None:
            transport.send(WSMsgType.TEXT, ENCODER.encode(self._hello))

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.TEXT:
            request = self._decode(frame.get_payload_as_memoryview())
            transport.send(WSMsgType.TEXT, ENCODER.encode(self._answers[type(request)](request)))
        else:
            transport.disconnect()


def etzel(_request: WSUpgradeRequest | None) -> Echo:
    return Echo(etzel_shapes.DECODER, ETZEL, None)


def glovebox(_request: WSUpgradeRequest | None) -> Echo:
    return Echo(glovebox_shapes.DECODER, GLOVEBOX, Hello(NUMBER))


DIALECTS: Final = {"etzel": etzel, "glovebox": glovebox}


async def serve(dialect: str, port: int) -> None:
    server = await ws_create_server(DIALECTS[dialect], "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], int(sys.argv[2])))
