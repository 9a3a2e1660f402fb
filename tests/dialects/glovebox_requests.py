"""What is a request in `glovebox`, in JSON or in bincode, in the plainest way. It shares no code with the sessions."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

from tests.dialects.etzel_model import depth, distinct, is_body, refused
from tests.dialects.websocket_model import is_text

DEPTH_MAX = 64
LIST_MAX = 1_000
STAGES = ("ready", "write", "sync", "assign", "finish", "retry", "drop")
BASE64 = re.compile(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")

Asked = dict[str, Any]
Check = Callable[[Any], bool]


# -- JSON


def in_json(payload: bytes) -> Asked | None:
    """As far as it is one. Members that are null are as good as unsaid."""
    try:
        said = json.loads(payload.decode(), object_pairs_hook=distinct, parse_constant=refused)
        if depth(said) > DEPTH_MAX or not isinstance(said, dict):
            return None
        json.dumps(said, ensure_ascii=False).encode()  # half a pair of surrogates cannot be written
    except (ValueError, RecursionError):
        return None
    if not is_request(said):
        return None
    return {name: value for name, value in said.items() if value is not None}


def whole(least: int, most: int) -> Check:
    return lambda value: type(value) is int and least <= value <= most


def is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def is_duration(value: Any) -> bool:
    return is_number(value) and value >= 0


def is_string(value: object) -> bool:
    return isinstance(value, str)


def is_flag(value: object) -> bool:
    return isinstance(value, bool)


def is_base64(value: object) -> bool:
    return isinstance(value, str) and BASE64.fullmatch(value) is not None


def is_stage(value: object) -> bool:
    return value in STAGES[:3]


def or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def are_stages(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one in STAGES for one in value)


def are_places(value: object) -> bool:
    return isinstance(value, list) and len(value) <= LIST_MAX and all(map(is_place, value))


def is_place(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(one) is int and one >= 0 for one in value)


def are_drafts(value: object) -> bool:
    return isinstance(value, list) and len(value) <= LIST_MAX and all(map(is_draft, value))


def is_draft(value: object) -> bool:
    if not isinstance(value, dict) or not all(check(value[name]) for name, check in DRAFT.items() if name in value):
        return False
    if ("mark" in value) != ("row" in value):
        return False
    return ("body" in value) != ("body64" in value) and not {"key", "key64"} <= set(value)


U32, U64 = whole(0, (1 << 32) - 1), whole(0, (1 << 64) - 1)
PRIORITY = whole(-32_768, (1 << 32) - 1)
DRAFT: dict[str, Check] = {
    "body": is_string,
    "body64": is_base64,
    "delay": is_duration,
    "ttl": is_duration,
    "key": is_string,
    "key64": is_base64,
    "priority": PRIORITY,
    "dedup_id": is_string,
    "mark": is_string,
    "row": lambda value: type(value) is int and value >= 1,
}

# By type: the members that must be there, and those that may.
MUST: dict[str, dict[str, Check]] = {
    "create": {},
    "post": {"message": is_body},
    "pop": {},
    "fetch": {"work_timeout": is_number},
    "finish": {"sequence": U64, "shard": U32},
    "finish all": {"messages": are_places},
    "publish": {"messages": are_drafts},
    "reserve": {},
    "release": {"messages": are_places},
    "extend": {"messages": are_places, "lease": is_duration},
}
MAY: dict[str, dict[str, Check]] = {
    "create": {
        "retries": or_null(U32),
        "shard_max_entries": or_null(U64),
        "shard_max_bytes": or_null(U64),
        "sync": is_stage,
    },
    "post": {"priority": PRIORITY, "notify": are_stages},
    "pop": {"sync": is_stage, "timeout": or_null(is_number)},
    "fetch": {"sync": is_stage, "block_timeout": or_null(is_number)},
    "finish": {"label": or_null(U64), "response": or_null(is_stage), "sync": is_stage},
    "finish all": {"label": or_null(U64), "response": or_null(is_stage), "sync": is_stage},
    "publish": {"sync": is_stage, "create": is_flag},
    "reserve": {"sync": is_stage, "max": whole(1, LIST_MAX), "lease": is_duration, "wait": is_duration},
    "release": {"sync": is_stage, "delay": is_duration, "failed": is_flag},
    "extend": {"sync": is_stage},
}


def is_request(said: Asked) -> bool:
    kind = said.get("type")
    if kind == "finish" and "messages" in said:
        if {"shard", "sequence"} & set(said):
            return False
        kind = "finish all"
    if not isinstance(kind, str) or kind not in MUST or not is_string(said.get("queue")):
        return False
    must, may = MUST[kind], {"label": U64, **MAY[kind]}
    if not all(name in said and check(said[name]) for name, check in must.items()):
        return False
    return all(check(said[name]) for name, check in may.items() if name in said)


def bytes_of(draft: Asked, name: str) -> bytes | None:
    if f"{name}64" in draft:
        return base64.b64decode(draft[f"{name}64"])
    return draft[name].encode() if name in draft else None


# -- bincode


class Cut(Exception):
    """It ends before it should, or has no meaning."""


class Fields:
    """Read from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self, size: int) -> bytes:
        if size > len(self._data):
            raise Cut
        found, self._data = self._data[:size], self._data[size:]
        return found

    def number(self, layout: str) -> Any:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))[0]

    def data(self) -> bytes:
        return self.take(self.number("Q"))

    def name(self) -> str:
        found = self.data()
        if not is_text(found):
            raise Cut
        return found.decode()

    def option(self, layout: str) -> Any:
        tag = self.number("B")
        if tag > 1:
            raise Cut
        return self.number(layout) if tag else None

    def stages(self) -> list[str]:
        count = self.number("Q")
        if count * 4 > len(self._data):
            raise Cut
        return [self.stage(self.number("I"), 7) for _ in range(count)]

    def stage(self, number: int | None, most: int) -> Any:
        if number is None:
            return None
        if number >= most:
            raise Cut
        return STAGES[number]

    def end(self) -> None:
        if self._data:
            raise Cut


def in_bincode(payload: bytes) -> Asked | None:
    fields = Fields(payload)
    try:
        version, tag = fields.number("I"), fields.number("I")
        if version != 0 or tag >= len(READERS):
            return None
        asked = READERS[tag](fields)
        fields.end()
    except Cut:
        return None
    times = [asked[name] for name in ("timeout", "block_timeout", "work_timeout") if asked.get(name) is not None]
    if not all(map(math.isfinite, times)):
        return None
    return {name: value for name, value in asked.items() if value is not None}


def _post(fields: Fields) -> Asked:
    queue, message = fields.name(), list(fields.data())
    priority, label, notify = fields.number("h"), fields.number("Q"), fields.stages()
    return {"type": "post", "queue": queue, "message": message, "priority": priority, "label": label, "notify": notify}


def _fetch(fields: Fields) -> Asked:
    queue, block, work = fields.name(), fields.option("f"), fields.number("f")
    sync, label = fields.stage(fields.number("I"), 3), fields.number("Q")
    return {"type": "fetch", "queue": queue, "block_timeout": block, "work_timeout": work, "sync": sync, "label": label}


def _finish(fields: Fields) -> Asked:
    queue, sequence, shard = fields.name(), fields.number("Q"), fields.number("I")
    label, response = fields.option("Q"), fields.stage(fields.option("I"), 3)
    asked = {"type": "finish", "queue": queue, "sequence": sequence, "shard": shard}
    return {**asked, "label": label, "response": response}


def _pop(fields: Fields) -> Asked:
    queue, sync = fields.name(), fields.stage(fields.number("I"), 3)
    timeout, label = fields.option("f"), fields.number("Q")
    return {"type": "pop", "queue": queue, "sync": sync, "timeout": timeout, "label": label}


def _create(fields: Fields) -> Asked:
    queue, label, retries = fields.name(), fields.number("Q"), fields.option("I")
    fields.option("Q"), fields.option("Q")
    return {"type": "create", "queue": queue, "label": label, "retries": retries}


READERS = (_post, _fetch, _finish, _pop, _create)
