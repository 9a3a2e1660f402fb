"""A door for each dialect, and for callers without any, all to the same queue: what test_across.py goes through."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.codecs.ids import Ids, high, low
from penstock.codecs.rsmq_ids import RsmqIds
from penstock.dialects.rsmq import NUMBER as RSMQ
from penstock.dialects.table import DIALECTS
from penstock.engine.rules import PolicyBook
from penstock.model import codes
from penstock.model.contract import FIND, Call
from penstock.model.options import ANY_LIVE, LEASED_ONLY, Publishing, Reserving, Taking
from penstock.model.views import COUNTS, MessageView, QueueView
from penstock.server.context import dialect_options
from tests.broker.client import Client
from tests.broker.desks import Desk, MakeDesk
from tests.dialects import redis_model as redis
from tests.dialects.fuzz_pinpriq import READY, answers, pop, push, subscribe
from tests.dialects.runner import SECRET, Connection, FakeContext, configured
from tests.dialects.websocket_model import OPENING, WELCOME, frames, is_text, text

QUEUE = b"default"
ZSET, HASH = b"rsmq:default", b"rsmq:default:Q"
MILLISECOND_US = 1_000


@dataclass(frozen=True)
class Given:
    """What was handed out. `seq`: its number, as far as the dialect tells it; `mates`: bodies that came along."""

    body: bytes
    seq: int = 0
    key: bytes | None = None
    mates: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Wish:
    """What may be said of a message when it is published. Priorities are the engine's: higher is better."""

    delay_ms: int = 0
    ttl_ms: int = 0
    priority: int = 0
    key: bytes | None = None
    parked: bool = False


PLAIN = Wish()


class World:
    """A broker with all its doors, and the eyes of somebody who only looks."""

    def __init__(self, make_desk: MakeDesk) -> None:
        self.desk: Desk = make_desk(PolicyBook())
        self.ids = Ids(SECRET)
        self.looker = Client(self.desk)
        self.sent = 0  # messages whose ids a client chose

    def session(self, dialect: str) -> Connection:
        row = next(row for row in DIALECTS if row.name == dialect)
        context = FakeContext(self.desk, dialect_options(configured(dialect, {}), dialect))
        return Connection(row.make(context))

    def pass_ms(self, ms: int) -> None:
        self.desk.pass_time(ms * MILLISECOND_US)

    def counts(self) -> dict[str, int]:
        """Of the queue, as far as they are not 0."""
        view = self.looker.ask(self.desk.broker.show_queue, QUEUE).value
        if not isinstance(view, QueueView):
            return {}
        return {name: getattr(view.counts, name) for name in COUNTS if getattr(view.counts, name)}

    def live(self) -> int:
        return sum(self.counts().get(place, 0) for place in ("delayed", "ready", "parked", "leased"))


class Door:
    """A dialect's way in. What it cannot do is not in `wishes` and `can`, and is not asked of it."""

    name: str
    wishes: frozenset[str] = frozenset()  # fields of a Wish
    always: frozenset[str] = frozenset()  # of them, those that it cannot leave unsaid
    can: frozenset[str] = frozenset()  # reserve, take, mates, finish, release, stats, wait

    def __init__(self, world: World) -> None:
        self.world = world

    @classmethod
    def bears(cls, body: bytes) -> bool:
        """This body can be published here."""
        return True

    @classmethod
    def fitting(cls, **said: Any) -> Wish:
        """So much of a wish as can be said here."""
        return Wish(**{name: value for name, value in said.items() if name in cls.wishes})

    def publish(self, body: bytes, wish: Wish = PLAIN) -> None:
        raise NotImplementedError

    def get(self) -> Given | None:
        """Hand out one message, in the dialect's own way: reserved or taken."""
        raise NotImplementedError

    def finish(self, seq: int) -> bool:
        raise NotImplementedError

    def release(self, seq: int, delay_ms: int) -> bool:
        raise NotImplementedError

    def stats(self) -> tuple[int, int]:
        """How many wait, how many are reserved."""
        raise NotImplementedError

    def wait(self) -> None:
        """For one message."""
        raise NotImplementedError

    def heard(self) -> list[Given]:
        """What the waiting has brought."""
        raise NotImplementedError

    def end(self, given: Given) -> None:
        """The message is done, however it was handed out."""
        if "reserve" in self.can:
            assert self.finish(given.seq)


class SocketDoor(Door):
    """One through a session's bytes."""

    dialect = ""  # by another name than its own

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._connection = world.session(self.dialect or self.name)

    def ask(self, data: bytes) -> bytes:
        self._connection.session.received(data)
        return self.listen()

    def listen(self) -> bytes:
        self.world.desk.settle()
        while self._connection.flush():
            self.world.desk.settle()
        heard, self._connection.heard = self._connection.heard, b""
        return heard


class DeferredDoor(SocketDoor):
    name = "deferred"
    wishes = frozenset({"delay_ms"})
    can = frozenset({"reserve", "finish", "release", "stats"})

    @classmethod
    def bears(cls, body: bytes) -> bool:
        return b"\n" not in body and not body.endswith(b"\r") and body.decode(errors="replace").encode() == body

    def publish(self, body: bytes, wish: Wish = PLAIN) -> None:
        assert self.ask(b"ADD %d %b\n" % (wish.delay_ms, body)).startswith(b"TASK ")

    def get(self) -> Given | None:
        line = self.ask(b"RESERVE\n").removesuffix(b"\n")
        if line == b"nil":
            return None
        _, shown, word, body = line.split(b" ", 3)
        return Given(base64.b64decode(body) if word == b"BODY64" else body, int(self.world.ids.seq(shown)))

    def finish(self, seq: int) -> bool:
        return self.ask(b"DELETE %b\n" % self.world.ids.show(seq)) == b"ok\n"

    def release(self, seq: int, delay_ms: int) -> bool:
        return self.ask(b"RETURN %b %d\n" % (self.world.ids.show(seq), delay_ms)) == b"ok\n"

    def stats(self) -> tuple[int, int]:
        _, waiting, _, reserved, *_ = self.ask(b"STATS\n").split(b" ")
        return int(waiting), int(reserved)


class PinpriqDoor(SocketDoor):
    name = "pinpriq"
    wishes = frozenset({"ttl_ms", "priority", "key", "parked"})
    always = frozenset({"priority", "key"})
    can = frozenset({"take", "mates", "wait"})

    def publish(self, body: bytes, wish: Wish = PLAIN) -> None:
        priority = 0 if wish.parked else 256 - max(wish.priority, 1)
        assert self.ask(push(QUEUE, wish.ttl_ms, priority, wish.key or b"", body)) == b""

    def get(self) -> Given | None:
        return (*self._given(self.ask(pop(QUEUE))), None)[0]

    def wait(self) -> None:
        assert self.ask(subscribe(QUEUE) + READY) == b""

    def heard(self) -> list[Given]:
        return self._given(self.listen())

    def _given(self, heard: bytes) -> list[Given]:
        groups = [group for group in answers(heard) if group]
        return [Given(body, key=key, mates=tuple(mate for _, mate in mates)) for (key, body), *mates in groups]


class EtzelDoor(SocketDoor):
    name = "etzel"
    can = frozenset({"reserve", "finish"})

    def __init__(self, world: World) -> None:
        super().__init__(world)
        assert self.ask(OPENING) == WELCOME

    def _asked(self, **members: object) -> dict[str, Any]:
        [(_, payload)] = frames(self.ask(text(json.dumps({**members, "qname": QUEUE.decode()}).encode())))
        answer: dict[str, Any] = json.loads(payload)
        return answer

    def publish(self, body: bytes, wish: Wish = PLAIN) -> None:
        msg = body.decode() if is_text(body) else list(body)
        assert self._asked(cmd="PUB", msg=msg) == {"cmd": "ok"}

    def get(self) -> Given | None:
        answer = self._asked(cmd="FET")
        if answer["cmd"] != "msg":
            return None
        seq = int(self.world.ids.seq(answer["uid"].removeprefix("etzl").encode()))
        return Given(answer["msg"].encode() if isinstance(answer["msg"], str) else bytes(answer["msg"]), seq)

    def finish(self, seq: int) -> bool:
        """The answer is the same for a message that is gone."""
        before = self.world.counts()
        assert self._asked(cmd="ACK", uid="etzl" + self.world.ids.show(seq).decode())["cmd"] == "okack"
        return self.world.counts() != before


class GloveboxDoor(SocketDoor):
    """Through our own requests. What it holds nobody else can finish through it."""

    name = "glovebox"
    wishes = frozenset({"delay_ms", "ttl_ms", "priority", "key"})
    can = frozenset({"reserve", "wait"})

    def __init__(self, world: World) -> None:
        super().__init__(world)
        assert self.ask(OPENING).startswith(WELCOME)

    def _asked(self, type: str, **members: object) -> list[dict[str, Any]]:
        return self._read(self.ask(text(json.dumps({"type": type, "queue": QUEUE.decode(), **members}).encode())))

    def _read(self, heard: bytes) -> list[dict[str, Any]]:
        return [json.loads(payload) for _, payload in frames(heard)]

    def publish(self, body: bytes, wish: Wish = PLAIN) -> None:
        said: dict[str, object] = {"body": body.decode()} if is_text(body) else {"body64": b64(body)}
        if wish.key is not None:
            said["key64"] = b64(wish.key)
        numbers = {"delay": wish.delay_ms / 1_000, "ttl": wish.ttl_ms / 1_000, "priority": wish.priority}
        said |= {name: value for name, value in numbers.items() if value}
        [answer] = self._asked("publish", messages=[said])
        assert answer["type"] == "published"

    def get(self) -> Given | None:
        return (*self._given(self._asked("reserve")), None)[0]

    def finish(self, seq: int) -> bool:
        pair = self.world.ids.pair(seq)
        [answer] = self._asked("finish", messages=[[high(pair), low(pair)]])
        return bool(answer["messages"][0])

    def wait(self) -> None:
        assert self._asked("reserve", wait=3_600) == []

    def heard(self) -> list[Given]:
        return self._given(self._read(self.listen()))

    def _given(self, answers: list[dict[str, Any]]) -> list[Given]:
        found = [one for answer in answers for one in answer.get("messages", ())]
        return [Given(self._bytes(one, "body") or b"", self._seq(one), self._bytes(one, "key")) for one in found]

    def _seq(self, one: dict[str, Any]) -> int:
        return int(self.world.ids.seq_of(one["shard"], one["sequence"]))

    def _bytes(self, one: dict[str, Any], name: str) -> bytes | None:
        if f"{name}64" in one:
            return base64.b64decode(one[f"{name}64"])
        return one[name].encode() if name in one else None


class PopDoor(GloveboxDoor):
    """Through the requests of the seed: posting into a queue that is there, and popping."""

    name = "glovebox pop"
    dialect = "glovebox"
    wishes = frozenset({"priority"})
    can = frozenset({"take", "wait"})

    def publish(self, body: bytes, wish: Wish = PLAIN) -> None:
        self._asked("create")
        message = body.decode() if is_text(body) else list(body)
        told = self._asked("post", message=message, priority=wish.priority, notify=["ready", "write"])
        assert [one["notice"] for one in told] in (["ready", "write"], ["finish"])

    def get(self) -> Given | None:
        return (*self._given(self._asked("pop")), None)[0]

    def wait(self) -> None:
        assert self._asked("pop", timeout=3_600) == []

    def _given(self, answers: list[dict[str, Any]]) -> list[Given]:
        bodies = [answer["body"] for answer in answers if answer["type"] == "message"]
        return [Given(body.encode() if isinstance(body, str) else bytes(body)) for body in bodies]


class RsmqDoor(SocketDoor):
    """As an RSMQ client does it: look up, then send or receive; ids of its own."""

    name = "rsmq"
    wishes = frozenset({"delay_ms"})
    can = frozenset({"reserve", "finish"})

    def _multi(self, *commands: bytes) -> list[Any]:
        *queued, answer = redis.answers(self.ask(redis.multi(*commands)))
        assert queued == ["OK", *["QUEUED"] * len(commands)]
        assert isinstance(answer, list)
        return answer

    def _lookup(self) -> tuple[int, int, int]:
        """Visibility, delay and time in milliseconds. The queue is made if it is not there."""
        self._multi(redis.command(b"HSETNX", HASH, b"vt", 30), redis.command(b"HSETNX", HASH, b"delay", 0))
        fields, (seconds, us) = self._multi(redis.command(b"HMGET", HASH, b"vt", b"delay"), redis.command(b"TIME"))
        vt, delay = (int(field) * 1_000 for field in fields)
        return vt, delay, int(seconds) * 1_000 + int(us) // 1_000

    def publish(self, body: bytes, wish: Wish = PLAIN) -> None:
        _, delay_ms, now_ms = self._lookup()
        self.world.sent += 1
        name = b"gqll7vatq8%022d" % self.world.sent
        answer = self._multi(
            redis.command(b"ZADD", ZSET, now_ms + (wish.delay_ms or delay_ms), name),
            redis.command(b"HSET", HASH, name, body),
            redis.command(b"HINCRBY", HASH, b"totalsent", 1),
        )
        assert answer[:2] == [1, 1]

    def get(self) -> Given | None:
        vt_ms, _, now_ms = self._lookup()
        return self._given(redis.command(b"EVALSHA", redis.RECEIVE, 3, ZSET, now_ms, now_ms + vt_ms))

    def _given(self, asked: bytes) -> Given | None:
        [answer] = redis.answers(self.ask(asked))
        return Given(answer[1], self._view(answer[0]).seq) if answer else None

    def _view(self, name: bytes = b"", seq: int = 0) -> MessageView:
        """As whoever only looks sees it: gone or not, what it was."""
        call = Call(FIND, QUEUE)
        call.foreign_id, call.seq = name, seq or int(RsmqIds(self.world.ids).seq(name))
        self.world.looker.ask(self.world.desk.broker.batch, [call], 0)
        return call.seen if isinstance(call.seen, MessageView) else MessageView(0, QUEUE, 0, b"", None)

    def finish(self, seq: int) -> bool:
        view = self._view(seq=seq)
        name = RsmqIds(self.world.ids).of(view.seq, view.published_us, view.origin, view.dialect == RSMQ)
        fields = [name, name + b":rc", name + b":fr"]
        removed, deleted = self._multi(redis.command(b"ZREM", ZSET, name), redis.command(b"HDEL", HASH, *fields))
        assert deleted == 3 * removed
        return bool(removed)


class RsmqPopDoor(RsmqDoor):
    name = "rsmq pop"
    dialect = "rsmq"
    can = frozenset({"take"})

    def get(self) -> Given | None:
        _, _, now_ms = self._lookup()
        [answer] = redis.answers(self.ask(redis.command(b"EVALSHA", redis.POP, 2, ZSET, now_ms)))
        return Given(answer[1]) if answer else None


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


class CallerDoor(Door):
    """Whoever calls the broker's verbs: the admin routes, and dialects to come."""

    name = "caller"
    wishes = frozenset(vars(PLAIN))
    can = frozenset({"reserve", "finish", "release", "stats", "wait"})

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._client = Client(world.desk)

    def publish(self, body: bytes, wish: Wish = PLAIN) -> None:
        options = Publishing(
            ttl_us=wish.ttl_ms * MILLISECOND_US or -1, priority=wish.priority, parked=wish.parked, key=wish.key
        )
        assert self._client.publish(QUEUE, body, wish.delay_ms * MILLISECOND_US, options).code == codes.OK

    def get(self) -> Given | None:
        message = self._client.reserve(QUEUE).message
        return None if message is None else Given(message.body, int(message.order), message.key)

    def finish(self, seq: int) -> bool:
        return self._client.finish(QUEUE, seq, ANY_LIVE).code == codes.OK

    def release(self, seq: int, delay_ms: int) -> bool:
        return self._client.release(QUEUE, seq, delay_ms * MILLISECOND_US, rule=LEASED_ONLY).code == codes.OK

    def stats(self) -> tuple[int, int]:
        counts = self.world.counts()
        return counts.get("delayed", 0) + counts.get("ready", 0), counts.get("leased", 0)

    def wait(self) -> None:
        broker, options = self.world.desk.broker, Reserving(wait_us=3_600_000_000)
        self._client.call(broker.reserve, QUEUE, options, self.world.desk.confirm)
        self.world.desk.settle()

    def heard(self) -> list[Given]:
        self.world.desk.settle()
        found = [outcome.message for outcome in self._client.outcomes.values()]
        self._client.outcomes.clear()
        return [Given(message.body, int(message.order), message.key) for message in found if message is not None]


class TakerDoor(CallerDoor):
    """A caller who takes for good: the oldest, alone."""

    name = "taker"
    can = frozenset({"take"})

    def get(self) -> Given | None:
        message = self._client.take(QUEUE, Taking()).message
        return None if message is None else Given(message.body, key=message.key)


DOORS: Sequence[type[Door]] = (
    DeferredDoor,
    PinpriqDoor,
    EtzelDoor,
    GloveboxDoor,
    PopDoor,
    RsmqDoor,
    RsmqPopDoor,
    CallerDoor,
    TakerDoor,
)
