"""The dialect `etzel` as its page says it, in the plainest way: sessions are compared with it, and share no code."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.dialects.websocket_model import CLOSE, PONG, TEXT, WebSocketModel, frames, is_text

DEPTH_MAX = 64
RANGES = {"delay": (0, 31_536_000), "expires": (0, 3_153_600_000), "timeout": (5, 315_360_000)}
BAD_REQUEST = {"cmd": "nok", "err": "BAD_REQUEST"}
NEVER_MS = 1 << 60


@dataclass
class Held:
    number: int
    queue: str
    body: bytes
    ready_ms: int
    expires_ms: int
    timeout_ms: int
    deliveries: int = 0
    until_ms: int = 0  # 0: nobody has it


class Model(WebSocketModel):
    """One connection to an empty server. `uids` are what the server will call its messages, in order."""

    def __init__(self, uids: Sequence[str]) -> None:
        super().__init__()
        self.now_ms = 0
        self.answers: list[bytes] = []
        self._uids = uids
        self._published = 0
        self._held: dict[str, Held] = {}  # by uid
        self._queues: set[str] = set()
        self._subscribed: set[str] = set()

    def state(self) -> object:
        return {
            uid: (one.queue, one.body, one.ready_ms, one.expires_ms, one.deliveries, one.until_ms)
            for uid, one in self._held.items()
        }

    # -- time

    def pass_time(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        while (due_ms := min([end_ms, *self._dues()])) < end_ms or self._dues(end_ms):
            self.now_ms = due_ms
            self._happen()
        self.now_ms = end_ms

    def _dues(self, until_ms: int = NEVER_MS) -> list[int]:
        dues = [one.until_ms or one.expires_ms for one in self._held.values()]
        return [due for due in dues if due <= until_ms]

    def _happen(self) -> None:
        for uid, one in list(self._held.items()):
            if (one.until_ms or one.expires_ms) > self.now_ms:
                continue
            if one.expires_ms <= self.now_ms:
                del self._held[uid]
            else:
                one.ready_ms, one.until_ms = one.until_ms, 0

    # -- requests

    def message(self, kind: int, payload: bytes) -> None:
        asked = request(payload) if kind == TEXT else None
        said = BAD_REQUEST if asked is None else getattr(self, "_" + asked["cmd"].lower())(asked)
        self.answers.append(written(said))

    def _sub(self, asked: dict[str, Any]) -> object:
        self._subscribed.add(asked["qname"])
        return {"cmd": "oksub", "qname": asked["qname"]}

    def _islp(self, asked: dict[str, Any]) -> object:
        return {"cmd": "okslp", "qname": asked["qname"]}

    def _pub(self, asked: dict[str, Any]) -> object:
        said = {name: int(asked[name]) if name in asked else None for name in RANGES}
        for name, (least, most) in RANGES.items():
            value = said[name]
            if value is not None and not least <= value <= most:
                return {"cmd": "nok", "err": f"BAD_{name.upper()}"}
        body = asked["msg"] if "msg" in asked else asked["message"]
        expires_s = said["expires"]
        self._held[self._uids[self._published]] = Held(
            self._published,
            asked["qname"],
            body.encode() if isinstance(body, str) else bytes(body),
            self.now_ms + 1_000 * (said["delay"] or 0),
            self.now_ms + 1_000 * expires_s if expires_s else NEVER_MS,
            1_000 * (said["timeout"] or 60),
        )
        self._published += 1
        self._queues.add(asked["qname"])
        return {"cmd": "ok"}

    def _fet(self, asked: dict[str, Any]) -> object:
        name = asked["qname"]
        ready = self.ready(name)
        if not ready:
            known = name in self._queues | self._subscribed
            return {"cmd": "nomsg", "qname": name} if known else {"cmd": "nok", "err": "Q_NOT_FOUND"}
        _, _, uid = min(ready)
        one = self._held[uid]
        one.deliveries += 1
        one.until_ms = self.now_ms + one.timeout_ms
        body = one.body.decode() if is_text(one.body) else list(one.body)
        return {"cmd": "msg", "qname": name, "uid": uid, "error_count": one.deliveries - 1, "msg": body}

    def ready(self, name: str) -> list[tuple[int, int, str]]:
        return [
            (one.ready_ms, one.number, uid)
            for uid, one in self._held.items()
            if one.queue == name and not one.until_ms and one.ready_ms <= self.now_ms
        ]

    def _ack(self, asked: dict[str, Any]) -> object:
        if asked["uid"] in self._held and self._held[asked["uid"]].queue == asked["qname"]:
            del self._held[asked["uid"]]
        return {"cmd": "okack", "uid": asked["uid"], "qname": asked["qname"]}

    _del = _ack

    # -- what was heard

    def agrees(self, heard: bytes) -> bool:
        found = frames(heard)
        if self.farewell is not None and (not found or found.pop() != (0x80 | CLOSE, self.farewell)):
            return False
        texts = [payload for first, payload in found if first == 0x80 | TEXT]
        pongs = [payload for first, payload in found if first == 0x80 | PONG]
        answers = [payload for payload in texts if not is_awk(payload)]
        if len(texts) + len(pongs) != len(found) or pongs != self.pongs or answers != self.answers:
            return False
        return self._slept_well([json.loads(payload) for payload in texts])

    def _slept_well(self, said: list[dict[str, Any]]) -> bool:
        """One wake-up at most for each sleep, of those who are subscribed; and nobody sleeps beside a message."""
        asleep: set[str] = set()
        for one in said:
            if one["cmd"] == "okslp":
                asleep.add(one["qname"])
            elif one["cmd"] == "awk":
                if one["qname"] not in asleep & self._subscribed & self._queues:
                    return False
                asleep.discard(one["qname"])
        return self.closed or not any(self.ready(name) for name in asleep & self._subscribed)


def is_awk(payload: bytes) -> bool:
    return payload.startswith(b'{"cmd":"awk",')


def written(said: object) -> bytes:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()


# -- requests


def request(payload: bytes) -> dict[str, Any] | None:
    """As far as it is one."""
    try:
        said = json.loads(payload.decode(), object_pairs_hook=distinct, parse_constant=refused)
        if depth(said) > DEPTH_MAX or not isinstance(said, dict):
            return None
        json.dumps(said, ensure_ascii=False).encode()  # half a pair of surrogates cannot be written
    except (ValueError, RecursionError):
        return None
    return said if is_request(said) else None


def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def refused(word: str) -> object:
    raise ValueError(word)


def depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def is_request(said: dict[str, Any]) -> bool:
    cmd = said.get("cmd")
    if cmd not in ("SUB", "PUB", "FET", "ACK", "DEL", "ISLP") or not isinstance(said.get("qname"), str):
        return False
    if cmd in ("ACK", "DEL"):
        return isinstance(said.get("uid"), str)
    return cmd != "PUB" or is_publish(said)


def is_publish(said: dict[str, Any]) -> bool:
    bodies = [said[name] for name in ("msg", "message") if name in said]
    numbers = [said[name] for name in RANGES if name in said]
    return bool(bodies) and all(map(is_body, bodies)) and all(map(is_number, numbers))


def is_body(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(map(is_byte, value)))


def is_byte(value: object) -> bool:
    return type(value) is int and 0 <= value < 256


def is_number(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and re.fullmatch("-?[0-9]+", value) is not None)
