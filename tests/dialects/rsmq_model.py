"""The dialect `rsmq` as its page says it, in the plainest way: sessions are compared with it, and share no code.

It knows the commands of RSMQ's clients on queues that they have made. Where an error is due, any error will do; of
other commands it knows that they change nothing.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.dialects.redis_model import Error, answers

MS = 1_000
START_MS = 1_700_000_000_000
NEVER_MS = 9_999_999_999_999
NEVER_US = 1 << 61
LONGEST_US = 3_650 * 86_400 * 1_000_000
VT, DELAY, MAXSIZE, CREATED, MODIFIED = ATTRIBUTES = (b"vt", b"delay", b"maxsize", b"created", b"modified")
TOTALS = (b"totalsent", b"totalrecv")
SCRIPTS = {
    b"937bb26841b123886255ef3956a57c83e829ab3e": "receive",
    b"70a940e88769e808900bf46f3e0c089bb3601884": "pop",
    b"776ef84d345918f8c59aea092c4833b12d17a83b": "visibility",
}
ERROR = Error("any")
OTHERS = (
    b"append bitfield client command copy dbsize decr decrby eval exists expire expireat flushall flushdb get getdel "
    b"getset hello hexists hgetall hincrbyfloat hkeys hlen hmset hscan hstrlen hvals incr incrby incrbyfloat info keys "
    b"lpop lpush migrate move mset msetnx persist pexpire pexpireat psetex pttl publish rename renamenx reset restore "
    b"rpop rpush scan scard script sdiffstore set setbit setex setnx setrange sinterstore sismember smismember smove "
    b"spop sscan subscribe sunionstore swapdb ttl type unlink unsubscribe unwatch watch zdiffstore zincrby zinterstore "
    b"zmscore zpopmax zpopmin zrange zrangebyscore zrangestore zrank zremrangebylex zremrangebyrank zremrangebyscore "
    b"zrevrange zrevrangebyscore zscan zunionstore"
).split()


class Refused(Exception):
    pass


@dataclass
class Message:
    number: int
    body: bytes
    seen_us: int
    leased: bool = False
    deliveries: int = 0
    first_ms: int = 0


@dataclass
class Queue:
    lease_us: int = 30_000_000
    delay_us: int = 0
    max_body: int = 65_536
    made_ms: int = 0
    changed_ms: int = 0
    sent: int = 0
    received: int = 0
    messages: dict[bytes, Message] = field(default_factory=dict)


Act = Callable[[], Any]


class Model:
    """One connection to an empty store."""

    def __init__(self) -> None:
        self.closed = False
        self.now_us = START_MS * MS
        self._queues: dict[bytes, Queue] = {}
        self._numbers = 0
        self._text = b""
        self._said: list[Any] = []
        self._multi: list[Act] | None = None
        self._spoilt = False
        self._made = b""  # the queue that this connection has last asked to make
        self._begin({})

    def _begin(self, scores: dict[tuple[bytes, bytes], int]) -> None:
        """A new batch. First what it plans, then what it has done."""
        self._scores = scores
        self._sends: dict[tuple[bytes, bytes], bytes] = {}
        self._ends: set[tuple[bytes, bytes]] = set()
        self._drops: set[bytes] = set()
        self._sent: dict[tuple[bytes, bytes], int] = {}
        self._ended: dict[tuple[bytes, bytes], int] = {}  # how often each had been delivered
        self._dropped: dict[bytes, int] = {}  # how many messages each had; -1: it was not there
        self._new: set[bytes] = set()

    def state(self) -> object:
        return {
            name: (queue.lease_us, queue.delay_us, queue.max_body, queue.sent, queue.received, {
                shown: (one.body, one.leased, one.seen_us, one.deliveries) for shown, one in queue.messages.items()
            })
            for name, queue in self._queues.items()
        }  # fmt: skip

    def agrees(self, heard: bytes) -> bool:
        found = answers(heard)
        return len(found) == len(self._said) and all(map(_alike, self._said, found))

    def pass_time(self, ms: int) -> None:
        end_us = self.now_us + ms * MS
        for one in [one for queue in self._queues.values() for one in queue.messages.values()]:
            if one.leased and one.seen_us <= end_us:
                one.leased, one.seen_us = False, max(one.seen_us, self.now_us)
        self.now_us = end_us

    # -- bytes

    def receive(self, data: bytes) -> None:
        self._text += data
        while self._text and not self.closed:
            try:
                words, used = _read(self._text)
            except Refused:
                self._said.append(ERROR)
                self.closed = True
                return
            if not used:
                return
            self._text = self._text[used:]
            if words:
                self._command(words)

    def _command(self, words: list[bytes]) -> None:
        name = words[0].upper()
        scores = self._scores if name == b"HSET" and len(words) > 2 else {}
        if name == b"QUIT" and self._multi is None:
            self._said.append("OK")
            self.closed = True
        elif name in (b"MULTI", b"EXEC", b"DISCARD"):
            self._spoilt |= len(words) > 1
            self._said.append(ERROR if len(words) > 1 else self._batch(name))
        elif name.lower() in OTHERS:
            self._said.append(...)
            self._spoilt = True
        elif self._multi is not None:
            self._queue(words)
        else:
            self._begin({key: due_us for key, due_us in scores.items() if key[1] == words[2]})
            self._said.append(self._tried(partial(self._alone, words)))
            self._scores = self._scores if name == b"ZADD" and len(words) == 4 else {}

    def _alone(self, words: list[bytes]) -> Any:
        return self._planned(words)()

    def _queue(self, words: list[bytes]) -> None:
        assert self._multi is not None
        try:
            self._multi.append(self._planned(words))
            self._said.append("QUEUED")
        except Refused:
            self._said.append(ERROR)
            self._spoilt = True

    def _batch(self, name: bytes) -> Any:
        acts = self._multi
        if name == b"MULTI":
            if acts is not None:
                return ERROR
            self._begin({})
            self._multi, self._spoilt = [], False
            return "OK"
        self._multi = None
        self._scores = {}
        if acts is None or (name == b"EXEC" and self._spoilt):
            return ERROR
        return "OK" if name == b"DISCARD" else self._tried(lambda: [act() for act in acts])

    def _tried(self, act: Act) -> Any:
        """All of it or nothing."""
        before = copy.deepcopy((self._queues, self._numbers))
        try:
            return act()
        except Refused:
            self._queues, self._numbers = before
            return ERROR

    # -- commands: refused when they are planned, or done when their turn comes

    def _planned(self, words: list[bytes]) -> Act:
        name, *rest = words
        fewest = {b"PING": 0, b"TIME": 0, b"ECHO": 1, b"SMEMBERS": 1, b"ZCARD": 1, b"DEL": 1, b"SELECT": 1}
        most = {b"PING": 1, b"TIME": 0, b"ECHO": 1, b"SMEMBERS": 1, b"ZCARD": 1, b"SELECT": 1, b"HSETNX": 3}
        most |= {b"HINCRBY": 3, b"ZSCORE": 2, b"ZCOUNT": 3, b"HGET": 2}
        fewest |= {b"HSETNX": 3, b"HSET": 3, b"HINCRBY": 3, b"ZADD": 3, b"ZCOUNT": 3}
        upper = name.upper()
        method = getattr(self, "_" + upper.decode("latin-1").lower(), None)
        if not upper.isalpha() or method is None or not fewest.get(upper, 2) <= len(rest) <= most.get(upper, 1 << 20):
            raise Refused
        act: Act = method(*rest)
        return act

    def _ping(self, said: bytes | None = None) -> Act:
        return lambda: "PONG" if said is None else said

    def _echo(self, said: bytes) -> Act:
        return lambda: said

    def _select(self, number: bytes) -> Act:
        check(number == b"0")
        return lambda: "OK"

    def _time(self) -> Act:
        return lambda: [b"%d" % (self.now_us // 1_000_000), b"%d" % (self.now_us % 1_000_000)]

    def _hsetnx(self, key: bytes, name: bytes, value: bytes) -> Act:
        queue = self._of(key, b":Q")
        check(name in ATTRIBUTES and may_create(queue))
        self._made = queue
        change = setting(name, value)

        def act() -> int:
            change(Queue())
            if queue not in self._queues:
                self._queues[queue] = Queue(made_ms=self.now_us // MS, changed_ms=self.now_us // MS)
                self._new.add(queue)
            if queue in self._new:
                change(self._queues[queue])
            return int(queue in self._new)

        return act

    def _hset(self, key: bytes, *pairs: bytes) -> Act:
        queue = self._of(key, b":Q")
        check(len(pairs) % 2 == 0)
        acts = []
        for name, value in zip(pairs[::2], pairs[1::2], strict=True):
            check(name not in TOTALS)
            if name in ATTRIBUTES:
                acts.append(self._setting(queue, name, value))
            else:
                check((queue, name) in self._scores and (queue, name) not in self._sends)
                self._sends[queue, name] = value
                acts.append(self._sending(queue, name))
        return lambda: total([act() for act in acts])

    def _setting(self, queue: bytes, name: bytes, value: bytes) -> Act:
        change = setting(name, value)

        def act() -> int | Error:
            change(Queue())
            if queue not in self._queues and not may_create(queue):
                return ERROR
            if queue not in self._queues:
                self._queues[queue] = Queue(made_ms=self.now_us // MS)
                self._new.add(queue)
            change(self._queues[queue])
            self._queues[queue].changed_ms = self.now_us // MS
            return int(queue in self._new)

        return act

    def _sending(self, queue: bytes, name: bytes) -> Act:
        """Sent with its score, where that stands in the same batch."""

        def act() -> int:
            if (queue, name) not in self._sent:
                self._sent[queue, name] = self._send(queue, name, self._scores[queue, name])
            return self._sent[queue, name]

        return act

    def _send(self, queue: bytes, name: bytes, due_us: int) -> int:
        body = self._sends[queue, name]
        check(queue in self._queues)
        found = self._queues[queue]
        if name in found.messages:
            check(found.messages[name].body == body)
            self._move(found.messages[name], due_us)
            return 0
        check(len(body) <= min(found.max_body or 1 << 20, 1 << 20) and due_us - self.now_us <= LONGEST_US)
        self._numbers += 1
        found.sent += 1
        found.messages[name] = Message(self._numbers, body, due_us)
        return 1

    def _zadd(self, key: bytes, *pairs: bytes) -> Act:
        queue = self._of(key, b"")
        check(len(pairs) % 2 == 0)
        names = []
        for score, name in zip(pairs[::2], pairs[1::2], strict=True):
            bad = name in (*ATTRIBUTES, *TOTALS) or name[-3:] in (b":rc", b":fr")
            check(not bad and 0 < len(name) <= 255)
            names.append((name, due(score)))
        self._scores |= {(queue, name): due_us for name, due_us in names}
        lone = self._multi is not None and len(names) == 1

        def act() -> int | Error:
            new = sum(self._added(queue, name, due_us) for name, due_us in names)
            return new if lone or queue in self._queues else ERROR

        return act

    def _added(self, queue: bytes, name: bytes, due_us: int) -> int:
        if (queue, name) in self._sends:
            self._sent[queue, name] = self._send(queue, name, due_us)
            return self._sent[queue, name]
        message = self._queues.get(queue, Queue()).messages.get(name)
        if message is not None:
            self._move(message, due_us)
        return int(message is None)

    def _hincrby(self, key: bytes, name: bytes, by: bytes) -> Act:
        queue = self._of(key, b":Q")
        check(name == b"totalsent" and by == b"1" and any(sent == queue for sent, _ in self._sends))
        return lambda: self._queues[queue].sent

    def _zrem(self, key: bytes, *names: bytes) -> Act:
        queue = self._of(key, b"", True)
        self._ends |= {(queue, name) for name in names}
        return lambda: sum(self._end(queue, name) for name in names)

    def _end(self, queue: bytes, name: bytes) -> int:
        """1: this batch has ended it."""
        found = self._queues.get(queue, Queue()).messages.pop(name, None)
        if found is not None:
            self._ended[queue, name] = found.deliveries
        return int((queue, name) in self._ended)

    def _hdel(self, key: bytes, *names: bytes) -> Act:
        queue = self._of(key, b":Q", True)
        if queue == b":":
            return lambda: 0
        for name in names:
            check(name not in (*ATTRIBUTES, *TOTALS))
            if plain(name) == name:
                self._ends.add((queue, name))
            check((queue, plain(name)) in self._ends)

        def act() -> int:
            count = 0
            for name in names:
                ended = self._end(queue, plain(name))
                count += ended if plain(name) == name else int(self._ended.get((queue, plain(name)), 0) > 0)
            return count

        return act

    def _zcard(self, key: bytes) -> Act:
        queue = self._of(key, b"", True)
        return lambda: len(self._queues.get(queue, Queue()).messages)

    def _zscore(self, key: bytes, name: bytes) -> Act:
        queue = self._of(key, b"", True)

        def act() -> bytes | None:
            message = self._queues.get(queue, Queue()).messages.get(name)
            return None if message is None else b"%d" % shown_ms(message.seen_us)

        return act

    def _hget(self, key: bytes, name: bytes) -> Act:
        act = self._hmget(key, name)
        return lambda: act()[0]

    def _hmget(self, key: bytes, *names: bytes) -> Act:
        queue = self._of(key, b":Q", True)
        return lambda: [self._field(self._queues.get(queue), name) for name in names]

    def _field(self, queue: Queue | None, name: bytes) -> bytes | None:
        if queue is None:
            return None
        numbers = {
            VT: queue.lease_us // 1_000_000, DELAY: queue.delay_us // 1_000_000, MAXSIZE: queue.max_body or -1,
            CREATED: queue.made_ms // 1_000, MODIFIED: queue.changed_ms // 1_000,
            b"totalsent": queue.sent, b"totalrecv": queue.received,
        }  # fmt: skip
        if name in numbers:
            return None if name in TOTALS and not numbers[name] else b"%d" % numbers[name]
        message = queue.messages.get(plain(name))
        if message is None:
            return None
        if plain(name) != name:
            number = message.deliveries if name.endswith(b":rc") else message.first_ms
            return b"%d" % number if number else None
        return message.body

    def _smembers(self, key: bytes) -> Act:
        check(key == b"rsmq:QUEUES" or not is_key(key))
        return lambda: sorted(self._queues) if key == b"rsmq:QUEUES" else []

    def _sadd(self, key: bytes, *names: bytes) -> Act:
        check(key == b"rsmq:QUEUES" and all(b":" not in name and name != b"QUEUES" for name in names))
        new = 0
        for name in names:
            if self._made == name:
                self._made = b""
                new += 1
        return lambda: new if all(name in self._queues for name in names) else ERROR

    def _del(self, *keys: bytes) -> Act:
        check(b"rsmq:QUEUES" not in keys)
        acts = [self._dropping(key) for key in keys if is_key(key)]
        return lambda: sum(act() for act in acts)

    def _dropping(self, key: bytes) -> Callable[[], int]:
        queue = key[5:].removesuffix(b":Q") if key.endswith(b":Q") else key[5:]
        if key.endswith(b":Q"):
            self._drops.add(queue)
            return lambda: self._drop(queue)
        if queue in self._drops:
            return lambda: int(self._dropped[queue] > 0)
        return lambda: self._clear(queue)

    def _drop(self, queue: bytes) -> int:
        found = self._queues.pop(queue, None)
        if queue not in self._dropped or found is not None:
            self._dropped[queue] = -1 if found is None else len(found.messages)
        return int(found is not None)

    def _clear(self, queue: bytes) -> int:
        found = self._queues.get(queue, Queue()).messages
        gone = len(found)
        found.clear()
        return int(gone > 0)

    def _srem(self, key: bytes, *names: bytes) -> Act:
        check(key == b"rsmq:QUEUES" or not is_key(key))
        if key != b"rsmq:QUEUES":
            return lambda: 0
        others = [name for name in names if name not in self._drops]

        def act() -> int | Error:
            if any(name in self._queues for name in others):
                return ERROR
            return sum(1 for name in names if self._dropped.get(name, -1) >= 0)

        return act

    def _evalsha(self, name: bytes, count: bytes, *keys: bytes) -> Act:
        kind = SCRIPTS.get(name.lower())
        check(kind is not None and count.isdigit() and len(keys) == int(count[:5]) == (2 if kind == "pop" else 3))
        check(is_key(keys[0]) and keys[0] != b"rsmq:QUEUES" and not keys[0].endswith(b":Q"))
        queue = keys[0][5:]
        if kind == "visibility":
            due_us = due(keys[2])

            def move() -> int:
                message = self._queues.get(queue, Queue()).messages.get(keys[1])
                if message is not None:
                    self._move(message, due_us)
                return int(message is not None)

            return move
        check(self._multi is None)
        if kind == "pop":
            return lambda: self._pop(queue, keys[1])
        lease_us = min(max(due(keys[2]) - due(keys[1]), 0), LONGEST_US)
        return lambda: self._receive(queue, lease_us)

    def _first(self, queue: bytes) -> tuple[bytes, Message] | None:
        found = self._queues.get(queue, Queue()).messages.items()
        ready = [
            (one.seen_us, one.number, name) for name, one in found if not one.leased and one.seen_us <= self.now_us
        ]
        if not ready:
            return None
        name = min(ready)[2]
        return name, self._queues[queue].messages[name]

    def _receive(self, queue: bytes, lease_us: int) -> list[Any]:
        first = self._first(queue)
        if first is None:
            return []
        name, message = first
        self._queues[queue].received += 1
        message.deliveries += 1
        message.first_ms = message.first_ms or self.now_us // MS
        message.leased, message.seen_us = True, self.now_us + lease_us
        return [name, message.body, message.deliveries, b"%d" % message.first_ms]

    def _pop(self, queue: bytes, now: bytes) -> list[Any]:
        first = self._first(queue)
        if first is None:
            return []
        name, message = first
        self._queues[queue].received += 1
        del self._queues[queue].messages[name]
        seen = b"%d" % message.first_ms if message.first_ms else now
        return [name, message.body, message.deliveries + 1, seen]

    def _move(self, message: Message, due_us: int) -> None:
        message.leased = message.leased and due_us > self.now_us
        message.seen_us = due_us

    def _of(self, key: bytes, ending: bytes, reading: bool = False) -> bytes:
        """The queue that a key of this kind stands for; one that reads nothing has none."""
        if not is_key(key):
            check(reading)
            return b":"
        check(key != b"rsmq:QUEUES" and key.endswith(b":Q") == bool(ending))
        return key[5:-2] if ending else key[5:]


def plain(name: bytes) -> bytes:
    """The id in the name of a message's field."""
    return name[:-3] if name[-3:] in (b":rc", b":fr") else name


def may_create(queue: bytes) -> bool:
    return 1 <= len(queue) <= 256 and b":" not in queue and queue != b"QUEUES"


def total(numbers: list[Any]) -> Any:
    return ERROR if ERROR in numbers else sum(numbers)


def check(holds: bool) -> None:
    if not holds:
        raise Refused


def is_key(key: bytes) -> bool:
    return key.startswith(b"rsmq:") and b":" not in key[5:].removesuffix(b":Q") and key != b"rsmq:QUEUES:Q"


def due(score: bytes) -> int:
    try:
        value = float(score)
    except ValueError:
        raise Refused from None
    check(not math.isnan(value))
    return NEVER_US if value >= NEVER_MS else max(math.ceil(value), 0) * MS


def shown_ms(seen_us: int) -> int:
    return NEVER_MS if seen_us >= NEVER_MS * MS else -(-seen_us // MS)


def setting(name: bytes, value: bytes) -> Callable[[Queue], None]:
    try:
        number = float(value)
    except ValueError:
        raise Refused from None
    check(not math.isnan(number) and abs(number) <= 1 << 31)
    check(name not in (VT, DELAY) or number >= 0)

    def change(queue: Queue) -> None:
        check(name not in (VT, DELAY) or number * 1_000_000 <= LONGEST_US)
        if name == VT:
            queue.lease_us = max(round(number * 1_000_000), 1)
        elif name == DELAY:
            queue.delay_us = round(number * 1_000_000)
        elif name == MAXSIZE:
            queue.max_body = max(int(number), 0)

    return change


NUMBER = re.compile(rb"(-?)([0-9]*)")
WORD = re.compile(
    rb"""\s*((?:[^\s"']|"(?:\\x[0-9a-fA-F]{2}|\\.|[^"\\])*"(?=\s|\Z)|'(?:\\'|[^'])*'(?=\s|\Z))+)""", re.DOTALL
)
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"a": b"\a"}
WORDS_MAX, WORD_MAX, LINE_MAX = 16_384, 2 << 20, 64 << 10


def _read(text: bytes) -> tuple[list[bytes], int]:
    """A command, and how long it was; 0: it is not all there."""
    if not text.startswith(b"*"):
        return _typed(text)
    count, at = _number(text, 1)
    check(count <= WORDS_MAX)
    words: list[bytes] = []
    while at and len(words) < count:
        if at == len(text):
            return [], 0
        check(text[at : at + 1] == b"$")
        length, at = _number(text, at + 1)
        check(0 <= length <= WORD_MAX)
        end = at + length
        if not at or len(text) < end + 2:
            return [], 0
        check(text[end : end + 2] == b"\r\n")
        words.append(text[at:end])
        at = end + 2
    return words, at


def _number(text: bytes, at: int) -> tuple[int, int]:
    """And where the next line begins; 0: this one has no end yet."""
    found = NUMBER.match(text, at, at + 10)
    assert found is not None
    end = text[found.end() : found.end() + 2]
    if end == b"" or (end == b"\r" and found.end() + 1 == len(text)):
        return 0, 0
    check(end == b"\r\n" and found[2] != b"")
    return -1 if found[1] else int(found[2]), found.end() + 2


def _typed(text: bytes) -> tuple[list[bytes], int]:
    line, feed, _ = text.partition(b"\n")
    check(len(line) <= LINE_MAX)
    if not feed:
        return [], 0
    words, at = [], 0
    while line[at:].strip():
        word = WORD.match(line, at)
        check(word is not None)
        assert word is not None
        words.append(_unquoted(word[1]))
        at = word.end()
    return words, len(line) + 1


def _unquoted(word: bytes) -> bytes:
    quote = min([place for place in (word.find(b'"'), word.find(b"'")) if place >= 0], default=-1)
    if quote < 0:
        return word
    head, inside = word[:quote], word[quote + 1 : -1]
    if word[quote : quote + 1] == b"'":
        return head + inside.replace(b"\\'", b"'")
    return head + ESCAPE.sub(_meant, inside)


def _meant(found: re.Match[bytes]) -> bytes:
    if len(found[1]) == 3:
        return bytes.fromhex(found[1][1:].decode())
    return LETTERS.get(found[1], found[1])


def _alike(said: Any, heard: Any) -> bool:
    if said is ...:
        return True
    if isinstance(said, Error) or isinstance(heard, Error):
        return isinstance(said, Error) and isinstance(heard, Error)
    if isinstance(said, list) and isinstance(heard, list):
        return len(said) == len(heard) and all(map(_alike, said, heard))
    return bool(said == heard)
