"""The binary form of `glovebox` as a client has it: requests to bytes, and answers to the members they have in JSON."""

from __future__ import annotations

from struct import pack, unpack_from
from typing import Any

from penstock.model.stages import STAGES

CODES = ("NoObject", "ObjectAlreadyExists", "PermissionDenied")
POST, FETCH, FINISH, POP, CREATE = range(5)


def encoded(kind: str, said: dict[str, Any]) -> bytes | None:
    """None: there is no binary form of it."""
    if "messages" in said:
        return None
    make = {"post": _post, "fetch": _fetch, "finish": _finish, "pop": _pop, "create": _create}.get(kind)
    return None if make is None else make(said)


def _post(said: dict[str, Any]) -> bytes:
    message = said["message"]
    body = message.encode() if isinstance(message, str) else bytes(message)
    notify = [STAGES.index(name) for name in said["notify"]]
    tail = pack(f"<hQQ{len(notify)}I", said["priority"], said["label"], len(notify), *notify)
    return _head(POST, said) + pack("<Q", len(body)) + body + tail


def _fetch(said: dict[str, Any]) -> bytes:
    tail = pack("<fIQ", said["work_timeout"], STAGES.index(said.get("sync", "ready")), said["label"])
    return _head(FETCH, said) + _maybe("f", said.get("block_timeout")) + tail


def _finish(said: dict[str, Any]) -> bytes:
    stage = None if "response" not in said else STAGES.index(said["response"])
    tail = _maybe("Q", said["label"]) + _maybe("I", stage)
    return _head(FINISH, said) + pack("<QI", said["sequence"], said["shard"]) + tail


def _pop(said: dict[str, Any]) -> bytes:
    stage = STAGES.index(said.get("sync", "ready"))
    return _head(POP, said) + pack("<I", stage) + _maybe("f", said.get("timeout")) + pack("<Q", said["label"])


def _create(said: dict[str, Any]) -> bytes:
    return _head(CREATE, said) + pack("<Q", said["label"]) + bytes(3)


def _head(tag: int, said: dict[str, Any]) -> bytes:
    queue: bytes = said["queue"].encode()
    return pack("<IIQ", 0, tag, len(queue)) + queue


def _maybe(form: str, value: float | None) -> bytes:
    return b"\0" if value is None else pack(f"<B{form}", 1, value)


def decoded(payload: bytes) -> dict[str, Any]:
    _, tag, number = unpack_from("<IIQ", payload)
    if tag == 0:
        shard, sequence, length = unpack_from("<IQQ", payload, 16)
        body = list(payload[36 : 36 + length])
        finished = bool(payload[36 + length])
        return _answer("message", number, shard=shard, sequence=sequence, body=body, finished=finished)
    if tag == 1:
        return _answer("notice", number, notice=STAGES[unpack_from("<I", payload, 16)[0]])
    if tag == 4:
        code, length = unpack_from("<IQ", payload, 16)
        return _answer("error", number, code=CODES[code], key=payload[28 : 28 + length].decode())
    return {"type": "hello", "id": number} if tag == 2 else _answer("nomessage", number)


def _answer(kind: str, label: int, **members: object) -> dict[str, Any]:
    return {"type": kind, "label": label, **members}
