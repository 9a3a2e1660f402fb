"""penstock's `glovebox`, as JSON and as bincode: post, fetch and finish, each answered at the stage it asks for."""

from __future__ import annotations

import socket
import struct
from typing import Final

from mypy_extensions import i64

from bench.tongues.frames import BINARY, TEXT, TextTongue, answered, asked, behind, opened
from bench.tongues.tongue import BODY, StepTongue, UnexpectedAnswer, slices

STAGES: Final = (b"ready", b"write", b"sync")
LABEL: Final = 5
WORK_S: Final = 600.0

_CREATE: Final = b'{"type":"create","queue":"q","label":%d}' % LABEL
_POST: Final = b'{"type":"post","queue":"q","message":"%s","priority":0,"label":%d,"notify":["%s"]}'
_FETCH: Final = b'{"type":"fetch","queue":"q","work_timeout":%.1f,"sync":"%s","label":%d}'
_FINISH: Final = b'{"type":"finish","queue":"q","label":%d,"response":"%s","shard":'
_NOTICE: Final = b'{"type":"notice","label":%d,"notice":"%s"}'
_SHARD: Final = b'"shard":'  # what names a message: from behind this to the body
_BODY: Final = b',"body":'


def _noticed(stage: bytes) -> bytes:
    words = _NOTICE % (LABEL, stage)
    return answered(TEXT, len(words)) + words


class GloveboxJson(TextTongue):
    """A message is `…"shard":<number>,"sequence":<number>,"body":…`, and finished in these same words."""

    def __init__(self, number: i64, in_flight: i64, stage: bytes) -> None:
        starts = [_noticed(stage), answered(TEXT, 256)[:3], _noticed(b"finish")]
        super().__init__(number, in_flight, [1, 1, 1], starts)
        self._post: bytes = asked(TEXT, _POST % (BODY, LABEL, stage))
        self._fetch: bytes = asked(TEXT, _FETCH % (WORK_S, stage, LABEL))
        self._finish: bytes = _FINISH % (LABEL, stage)

    def greet(self, sock: socket.socket) -> None:
        """`hello` comes first. Only one connection makes the queue; the others are told that it exists."""
        rest = behind(sock, opened(sock))
        sock.sendall(asked(TEXT, _CREATE))
        behind(sock, rest)

    def publish(self) -> bytes:
        return self._post * self.in_flight

    def reserve(self) -> bytes:
        return self._fetch * self.in_flight

    def finish(self, given: bytes) -> bytes:
        said = given.split(_SHARD)[1:]
        if len(said) != self.in_flight:
            raise UnexpectedAnswer(given[:200])
        head = self._finish
        return b"".join([asked(TEXT, head + one[: one.index(_BODY)] + b"}") for one in said])


_QUEUE: Final = struct.pack("<Q", 1) + b"q"
_TAGS: Final = struct.Struct("<II")  # the version, and what it is
_POST_TAG: Final = 0
_FETCH_TAG: Final = 1
_FINISH_TAG: Final = 2
_CREATE_TAG: Final = 4
_MESSAGE_BYTES: Final = 37 + len(BODY)
_NOTICE_BYTES: Final = 20
_SHARD_AT: Final[i64] = 4 + 8 + 8  # behind the head, the tags, and the label: four bytes; then eight of the sequence


def _request(tag: int, fields: bytes) -> bytes:
    return asked(BINARY, _TAGS.pack(0, tag) + _QUEUE + fields)


def _noticed_binary(stage: int) -> bytes:
    return answered(BINARY, _NOTICE_BYTES) + _TAGS.pack(0, 1) + struct.pack("<QI", LABEL, stage)


class GloveboxBincode(StepTongue):
    """Fields of fixed widths, so that answers are all of one length."""

    def __init__(self, number: i64, in_flight: i64, stage: bytes) -> None:
        at = STAGES.index(stage)
        starts = [_noticed_binary(at), answered(BINARY, _MESSAGE_BYTES) + _TAGS.pack(0, 0), _noticed_binary(4)]
        super().__init__(number, in_flight, [2 + _NOTICE_BYTES, 4 + _MESSAGE_BYTES, 2 + _NOTICE_BYTES], starts)
        posted = struct.pack("<Q256shQQI", len(BODY), BODY, 0, LABEL, 1, at)
        finish = _request(_FINISH_TAG, bytes(12) + struct.pack("<BQBI", 1, LABEL, 1, at))
        self._post: bytes = _request(_POST_TAG, posted)
        self._fetch: bytes = _request(_FETCH_TAG, struct.pack("<BfIQ", 0, WORK_S, at, LABEL))
        self._finish: bytes = finish[: -14 - 12]
        self._finish_rest: bytes = finish[-14:]

    def greet(self, sock: socket.socket) -> None:
        rest = behind(sock, opened(sock, b"Binary: 1\r\n"))
        sock.sendall(_request(_CREATE_TAG, struct.pack("<QBBB", LABEL, 0, 0, 0)))
        behind(sock, rest)

    def publish(self) -> bytes:
        return self._post * self.in_flight

    def reserve(self) -> bytes:
        return self._fetch * self.in_flight

    def finish(self, given: bytes) -> bytes:
        """A finish says the sequence first, a message the shard."""
        shards = slices(given, self.in_flight, _SHARD_AT, _SHARD_AT + 4)
        sequences = slices(given, self.in_flight, _SHARD_AT + 4, _SHARD_AT + 12)
        head, rest = self._finish, self._finish_rest
        return b"".join([head + sequences[at] + shards[at] + rest for at in range(self.in_flight)])
