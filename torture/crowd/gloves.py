"""What `glovebox` says and is said, in its two notations: requests to frames, and payloads to dictionaries of JSON's
names, bodies as bytes."""

from __future__ import annotations

import json
import struct
from typing import Any, Protocol

from tests.dialects.websocket_model import is_text
from torture.crowd.frames import framed

QUEUE = "default"
STAGES = ("ready", "write", "sync", "assign", "finish", "retry", "drop")
CODES = ("NoObject", "ObjectAlreadyExists", "PermissionDenied")

_TAGS = struct.Struct("<II")  # the version, and what it is
_QUEUE = struct.pack("<Q", len(QUEUE)) + QUEUE.encode()
_POST, _FETCH, _FINISH, _POP, _CREATE = range(5)


class Notation(Protocol):
    headers: bytes

    def create(self, label: int) -> bytes: ...
    def post(self, label: int, body: bytes, priority: int, notify: list[str]) -> bytes: ...
    def fetch(self, label: int, work_s: float, sync: str) -> bytes: ...
    def pop(self, label: int, sync: str) -> bytes: ...
    def finish(self, label: int, shard: int, sequence: int, response: str) -> bytes: ...
    def read(self, payload: bytes) -> dict[str, Any]: ...


class Json:
    headers = b""

    def create(self, label: int) -> bytes:
        return self._asked("create", label=label)

    def post(self, label: int, body: bytes, priority: int, notify: list[str]) -> bytes:
        message = body.decode() if is_text(body) else list(body)
        return self._asked("post", label=label, message=message, priority=priority, notify=notify)

    def fetch(self, label: int, work_s: float, sync: str) -> bytes:
        return self._asked("fetch", label=label, work_timeout=work_s, sync=sync)

    def pop(self, label: int, sync: str) -> bytes:
        return self._asked("pop", label=label, sync=sync)

    def finish(self, label: int, shard: int, sequence: int, response: str) -> bytes:
        return self._asked("finish", label=label, shard=shard, sequence=sequence, response=response)

    def _asked(self, type: str, **members: object) -> bytes:
        return framed(json.dumps({"type": type, "queue": QUEUE, **members}).encode())

    def read(self, payload: bytes) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(payload)
        if "body" in said:
            said["body"] = said["body"].encode() if isinstance(said["body"], str) else bytes(said["body"])
        return said


class Bincode:
    headers = b"Binary: 1\r\n"

    def create(self, label: int) -> bytes:
        return self._asked(_CREATE, struct.pack("<QBBB", label, 0, 0, 0))

    def post(self, label: int, body: bytes, priority: int, notify: list[str]) -> bytes:
        stages = [STAGES.index(stage) for stage in notify]
        fields = struct.pack(f"<hQQ{len(stages)}I", priority, label, len(stages), *stages)
        return self._asked(_POST, struct.pack("<Q", len(body)) + body + fields)

    def fetch(self, label: int, work_s: float, sync: str) -> bytes:
        return self._asked(_FETCH, struct.pack("<BfIQ", 0, work_s, STAGES.index(sync), label))

    def pop(self, label: int, sync: str) -> bytes:
        return self._asked(_POP, struct.pack("<IBQ", STAGES.index(sync), 0, label))

    def finish(self, label: int, shard: int, sequence: int, response: str) -> bytes:
        return self._asked(_FINISH, struct.pack("<QIBQBI", sequence, shard, 1, label, 1, STAGES.index(response)))

    def _asked(self, tag: int, fields: bytes) -> bytes:
        return framed(_TAGS.pack(0, tag) + _QUEUE + fields, binary=True)

    def read(self, payload: bytes) -> dict[str, Any]:
        _, tag = _TAGS.unpack_from(payload)
        return _READERS[tag](payload[_TAGS.size :])


def _message(fields: bytes) -> dict[str, Any]:
    label, shard, sequence, length = struct.unpack_from("<QIQQ", fields)
    body = fields[28 : 28 + length]
    finished = fields[28 + length :] == b"\1"
    said = {"shard": shard, "sequence": sequence, "body": body, "finished": finished}
    return {"type": "message", "label": label, **said}


def _notice(fields: bytes) -> dict[str, Any]:
    label, stage = struct.unpack("<QI", fields)
    return {"type": "notice", "label": label, "notice": STAGES[stage]}


def _hello(fields: bytes) -> dict[str, Any]:
    return {"type": "hello", "id": int.from_bytes(fields, "little")}


def _no_message(fields: bytes) -> dict[str, Any]:
    return {"type": "nomessage", "label": int.from_bytes(fields, "little")}


def _error(fields: bytes) -> dict[str, Any]:
    label, code, _ = struct.unpack_from("<QIQ", fields)
    return {"type": "error", "label": label, "code": CODES[code], "key": fields[20:].decode()}


_READERS = (_message, _notice, _hello, _no_message, _error)
