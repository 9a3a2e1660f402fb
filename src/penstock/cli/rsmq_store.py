"""RSMQ's verbs on any store that holds RSMQ's keys, a Redis or penstock's facade, by the commands of its stock clients.

It prints nothing and refuses nothing.
"""

from __future__ import annotations

import secrets
import string
from typing import Any, Final, NamedTuple

from penstock.cli.resp_client import Command, RespClient, ServerError

NAMESPACE: Final = "rsmq"
SECONDS_MAX: Final = 9_999_999
SIZE_MIN: Final = 1_024
SIZE_MAX: Final = 65_536
NO_LIMIT: Final = -1

_ID_RANDOM: Final = 22
_BASE36: Final = string.digits + string.ascii_lowercase
_ALPHABET: Final = string.ascii_letters + string.digits
_NO_SCRIPT: Final = "NOSCRIPT"
_SHOWN: Final = ("vt", "delay", "maxsize", "totalrecv", "totalsent", "created", "modified")


class Script(NamedTuple):
    """A script by the hash that RSMQ's clients load it under, and words of ours for a Redis that has not seen them."""

    sha1: str
    text: str


_COUNT: Final = """
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', KEYS[2], 'LIMIT', 0, 1)
local id, hash = found[1], KEYS[1] .. ':Q'
if not id then return {} end
redis.call('HINCRBY', hash, 'totalrecv', 1)
local rc = redis.call('HINCRBY', hash, id .. ':rc', 1)
if rc == 1 then redis.call('HSET', hash, id .. ':fr', KEYS[2]) end
local given = {id, redis.call('HGET', hash, id), rc, redis.call('HGET', hash, id .. ':fr')}
"""
RECEIVE: Final = Script(
    "937bb26841b123886255ef3956a57c83e829ab3e",
    _COUNT + "redis.call('ZADD', KEYS[1], KEYS[3], id)\nreturn given",
)
POP: Final = Script(
    "70a940e88769e808900bf46f3e0c089bb3601884",
    _COUNT + "redis.call('ZREM', KEYS[1], id)\nredis.call('HDEL', hash, id, id .. ':rc', id .. ':fr')\nreturn given",
)
VISIBILITY: Final = Script(
    "776ef84d345918f8c59aea092c4833b12d17a83b",
    "if not redis.call('ZSCORE', KEYS[1], KEYS[2]) then return 0 end\n"
    "redis.call('ZADD', KEYS[1], KEYS[3], KEYS[2])\nreturn 1",
)


class Lookup(NamedTuple):
    """A queue's attributes, and the time by the store's clock."""

    vt_ms: int
    delay_ms: int
    maxsize: int
    now_us: int

    @property
    def now_ms(self) -> int:
        return self.now_us // 1_000


class Received(NamedTuple):
    id: bytes
    body: bytes
    rc: int
    fr_ms: int


class RsmqStore:
    """Queues are named as RSMQ names them, without the namespace. None or False: there is no such queue or message."""

    def __init__(self, client: RespClient, namespace: str = NAMESPACE) -> None:
        self._client = client
        self._namespace = namespace
        self._names = f"{namespace}:QUEUES"

    def queues(self) -> list[bytes]:
        return sorted(self._client.call("SMEMBERS", self._names))

    def create(self, queue: str, vt_s: int, delay_s: int, maxsize: int) -> bool:
        """False: it is there already."""
        now_s = int(self._client.call("TIME")[0])
        said = {"vt": vt_s, "delay": delay_s, "maxsize": maxsize, "created": now_s, "modified": now_s}
        made = self._client.atomically(*[("HSETNX", self._hash(queue), *field) for field in said.items()])
        if not made[0]:
            return False
        self._client.call("SADD", self._names, queue)
        return True

    def describe(self, queue: str) -> dict[str, float | int] | None:
        seconds, micros = self._client.call("TIME")
        now_ms = int(seconds) * 1_000 + int(micros) // 1_000
        key = self._key(queue)
        fields, length, hidden = self._client.atomically(
            ("HMGET", self._hash(queue), *_SHOWN), ("ZCARD", key), ("ZCOUNT", key, now_ms, "+inf")
        )
        if fields[0] is None:
            return None
        vt, delay, *whole = fields
        shown = {"vt": float(vt), "delay": float(delay or 0)}
        return shown | dict(zip(_SHOWN[2:], map(_whole, whole), strict=True)) | {"msgs": length, "hiddenmsgs": hidden}

    def drop(self, queue: str) -> bool:
        key = self._key(queue)
        gone, _ = self._client.atomically(("DEL", self._hash(queue), key), ("SREM", self._names, queue))
        return bool(gone)

    def send(self, queue: str, found: Lookup, body: bytes, delay_ms: int) -> str:
        """The id."""
        id = new_id(found.now_us)
        self._client.atomically(
            ("ZADD", self._key(queue), found.now_ms + delay_ms, id),
            ("HSET", self._hash(queue), id, body),
            ("HINCRBY", self._hash(queue), "totalsent", 1),
        )
        return id

    def receive(self, queue: str, found: Lookup, vt_ms: int) -> Received | None:
        return self._given(RECEIVE, self._key(queue), found.now_ms, found.now_ms + vt_ms)

    def pop(self, queue: str, found: Lookup) -> Received | None:
        return self._given(POP, self._key(queue), found.now_ms)

    def delete(self, queue: str, id: str) -> bool:
        removed, fields = self._client.atomically(
            ("ZREM", self._key(queue), id), ("HDEL", self._hash(queue), id, f"{id}:rc", f"{id}:fr")
        )
        return bool(removed and fields)

    def hide(self, queue: str, found: Lookup, id: str, vt_ms: int) -> bool:
        """Until now + vt."""
        return bool(self._run(VISIBILITY, self._key(queue), id, found.now_ms + vt_ms))

    def lookup(self, queue: str) -> Lookup | None:
        fields, (seconds, micros) = self._client.atomically(
            ("HMGET", self._hash(queue), "vt", "delay", "maxsize"), ("TIME",)
        )
        vt, delay, maxsize = fields
        if vt is None:
            return None
        limit = NO_LIMIT if maxsize is None else _whole(maxsize)
        return Lookup(_milliseconds(vt), _milliseconds(delay), limit, int(seconds) * 1_000_000 + int(micros))

    def _given(self, script: Script, *keys: str | int) -> Received | None:
        row = self._run(script, *keys)
        if not row:
            return None
        id, body, rc, fr = row
        return Received(id, body or b"", rc, _whole(fr))

    def _run(self, script: Script, *keys: str | int) -> Any:
        command: Command = (len(keys), *keys)
        try:
            return self._client.call("EVALSHA", script.sha1, *command)
        except ServerError as error:
            if error.code != _NO_SCRIPT:
                raise
        return self._client.call("EVAL", script.text, *command)

    def _key(self, queue: str) -> str:
        return f"{self._namespace}:{queue}"

    def _hash(self, queue: str) -> str:
        return f"{self._namespace}:{queue}:Q"


def new_id(now_us: int) -> str:
    """The time in base 36, then what nobody can guess."""
    return _base36(now_us) + "".join([secrets.choice(_ALPHABET) for _ in range(_ID_RANDOM)])


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _BASE36[digit] + digits
    return digits


def _whole(text: bytes | None) -> int:
    """Whoever wrote it may have written a fraction."""
    return int(float(text or 0))


def _milliseconds(seconds: bytes | None) -> int:
    return round(float(seconds or 0) * 1_000)
