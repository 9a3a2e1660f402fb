"""RSMQ's key names, scores and scripts: what stands for a queue, a time or a verb in a Redis.

A queue's name that holds a colon, or is QUEUES, has no keys: they would be another's.
"""

from __future__ import annotations

import hashlib
import math
from typing import Final

from mypy_extensions import i64

from penstock.model.limits import MILLISECOND_US, NEVER_US

# Kinds of key.
NO_KEY: Final[i64] = 0
QUEUES: Final[i64] = 1  # the set of names
ZSET: Final[i64] = 2
HASH: Final[i64] = 3
TYPES: Final = {QUEUES: b"set", ZSET: b"zset", HASH: b"hash"}

_QUEUES_NAME: Final = b"QUEUES"
_HASH_ENDING: Final = b":Q"
_KNOWN_MAX: Final = 1_024

NAME_MAX: Final = 256  # no client makes a longer one

NEVER_MS: Final[i64] = 9_999_999_999_999  # parked, or leased without end
NO_SCORE: Final[i64] = -1
_SCORE_DIGITS: Final = 13

# The scripts, whatever white space their clients write them with, by the hash of their words.
NO_SCRIPT: Final[i64] = 0
RECEIVE: Final[i64] = 1
POP: Final[i64] = 2
VISIBILITY: Final[i64] = 3
_BY_WORDS: Final = {
    b"0a0ce6e36abe3097ce5213b68dd6c11d218cdca9": RECEIVE,
    b"1fe7e10e846fd2ab0f177193910cf618fa192bd7": POP,
    b"d24c1e38ed61226da00d6825f5e90648e43aa5b1": VISIBILITY,
}
# And by the hash of their text, as the clients that are known write them.
SCRIPTS: Final = _BY_WORDS | {
    b"937bb26841b123886255ef3956a57c83e829ab3e": RECEIVE,
    b"70a940e88769e808900bf46f3e0c089bb3601884": POP,
    b"776ef84d345918f8c59aea092c4833b12d17a83b": VISIBILITY,
    b"d3fed253697484b00648a47616c61f59c74f18b8": RECEIVE,
    b"f9966a2fce8d7449844eef2f859d4d6efd9f0d58": POP,
    b"ce977d9555ad860fc60d952c04f4805ff23f0020": VISIBILITY,
    b"f6dad2c3ef8293ae6c1434f1f0e191acc7e21014": RECEIVE,
    b"deca086e31ed05eb0ffee5b92b52c2c4c7d22ce7": POP,
    b"86ebd39545e5a2ac5c2c3c2c80b4b4d0b8eaf6c0": VISIBILITY,
}
_LOADED: Final[dict[bytes, i64]] = {}
_LOADED_MAX: Final = 1_024


class Key:
    """What a key's name means. `queue` is empty where there is no queue in it."""

    __slots__ = ("kind", "queue")

    def __init__(self, kind: i64, queue: bytes) -> None:
        self.kind: i64 = kind
        self.queue: bytes = queue


class Keys:
    """The names of one namespace."""

    def __init__(self, namespace: bytes) -> None:
        self._prefix: bytes = namespace + b":"
        self._channel: bytes = namespace + b":rt:"
        self._known: dict[bytes, Key] = {}  # clients say the same few again and again

    def read(self, name: bytes) -> Key:
        key = self._known.get(name)
        if key is None:
            key = self._read(name)
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            if len(name) <= _KNOWN_MAX:
                self._known[name] = key
        return key

    def _read(self, name: bytes) -> Key:
        if not name.startswith(self._prefix):
            return Key(NO_KEY, b"")
        rest = name[len(self._prefix) :]
        if rest == _QUEUES_NAME:
            return Key(QUEUES, b"")
        kind = HASH if rest.endswith(_HASH_ENDING) else ZSET
        queue = rest[: -len(_HASH_ENDING)] if kind == HASH else rest
        return Key(kind, queue) if has_keys(queue) else Key(NO_KEY, b"")

    def queues(self) -> bytes:
        return self._prefix + _QUEUES_NAME

    def zset(self, queue: bytes) -> bytes:
        return self._prefix + queue

    def hash(self, queue: bytes) -> bytes:
        return self._prefix + queue + _HASH_ENDING

    def channel(self, queue: bytes) -> bytes:
        return self._channel + queue

    def channel_queue(self, channel: bytes) -> bytes | None:
        """The queue whose publishes are told there; None: no such channel."""
        return channel[len(self._channel) :] if channel.startswith(self._channel) else None


def has_keys(queue: bytes) -> bool:
    return b":" not in queue and queue != _QUEUES_NAME


def may_create(queue: bytes) -> bool:
    """Clients differ in what they allow; none allows a colon."""
    return 0 < len(queue) <= NAME_MAX and has_keys(queue)


def score_ms(due_us: i64) -> i64:
    """When a message can be seen, in whole milliseconds, rounded up."""
    return NEVER_MS if due_us >= NEVER_MS * MILLISECOND_US else -(-due_us // MILLISECOND_US)


def due_us(score: bytes) -> i64:
    """The time that a score stands for; NO_SCORE: it is none. What lies beyond all times is never."""
    plain = digits(score)
    if plain < 0:
        value = number(score)
        if math.isnan(value):
            return NO_SCORE
        plain = NEVER_MS if value >= int(NEVER_MS) else 0 if value <= 0 else math.ceil(value)
    return NEVER_US if plain >= NEVER_MS else plain * MILLISECOND_US


def digits(text: bytes) -> i64:
    """A number of few digits and nothing else; -1: something else."""
    value: i64 = 0
    if not 0 < len(text) <= _SCORE_DIGITS:
        return -1
    for letter in text:
        digit: i64 = letter - 0x30
        if digit < 0 or digit > 9:
            return -1
        value = value * 10 + digit
    return value


def number(text: bytes) -> float:
    """Any number, as leniently as clients write them; not a number: NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def script_of(text: bytes) -> i64:
    """The verb that a script is the text of; NO_SCRIPT: it is none of RSMQ's."""
    return _BY_WORDS.get(sha1(b" ".join(text.split())), NO_SCRIPT)


def script(name: bytes) -> i64:
    """The verb behind the hash of a script: of one that every client knows, or that was loaded here."""
    found = SCRIPTS.get(name)
    if found is None:
        found = SCRIPTS.get(name.lower()) or _LOADED.get(name.lower(), NO_SCRIPT)
    return found


def load(text: bytes) -> i64:
    """`script_of`, and from now on its hash is known: to everybody, for it follows from the text alone."""
    kind = script_of(text)
    name = sha1(text)
    if kind != NO_SCRIPT and name not in SCRIPTS:
        if len(_LOADED) >= _LOADED_MAX:
            _LOADED.clear()
        _LOADED[name] = kind
    return kind


def sha1(text: bytes) -> bytes:
    return hashlib.sha1(text, usedforsecurity=False).hexdigest().encode()
