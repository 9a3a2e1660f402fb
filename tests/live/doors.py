"""Clients of all dialects on real sockets, alike: a message is published, and how that was answered told; some end."""

from __future__ import annotations

import socket
import time
from typing import Any, ClassVar

from tests.dialects import redis_model as redis
from tests.live.gloves import Gloves
from tests.live.lines import Lines
from tests.live.packets import Packets
from tests.live.texts import Texts

BODY = "a body of some length"


class Door:
    """`refusal`: what it is told where there is no room."""

    dialect: ClassVar[str] = ""
    refusal: ClassVar[Any] = None  # pinpriq has no words for it

    def publish(self) -> Any:
        """The answer."""
        raise NotImplementedError

    def end(self) -> None:
        """Of the messages that wait, one is reserved, given back where the dialect can, and finished; one is taken."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class DeferredDoor(Door):
    dialect = "deferred"
    refusal = b"queue full"

    def __init__(self, port: int) -> None:
        self._client = Lines(port)

    def publish(self) -> bytes:
        return self._client.ask(b"ADD 0 " + BODY.encode())

    def end(self) -> None:
        for verb in (b"RETURN %b 0", b"DELETE %b"):
            assert self._client.ask(verb % self._client.ask(b"RESERVE").split(b" ")[1]) == b"ok"

    def close(self) -> None:
        self._client.close()


class EtzelDoor(Door):
    dialect = "etzel"
    refusal: ClassVar = {"cmd": "nok", "err": "FULL"}

    def __init__(self, port: int) -> None:
        self._client = Texts(port)

    def publish(self) -> dict[str, Any]:
        return self._client.ask("PUB", "letters", msg=BODY)

    def end(self) -> None:
        found = self._client.ask("FET", "letters")
        assert self._client.ask("ACK", "letters", uid=found["uid"])["cmd"] == "okack"

    def close(self) -> None:
        self._client.close()


class GloveboxDoor(Door):
    dialect = "glovebox"
    refusal: ClassVar = {"type": "error", "label": 7, "code": "PermissionDenied", "key": "full"}

    def __init__(self, port: int) -> None:
        self._client = Gloves(port)
        self._client.ask("create", queue="gloves", label=1)

    def publish(self) -> dict[str, Any]:
        return self._client.ask("post", queue="gloves", message=BODY, label=7, notify=["write"])

    def end(self) -> None:
        found = self._client.ask("fetch", queue="gloves", work_timeout=30, label=2)
        self._client.send("finish", queue="gloves", sequence=found["sequence"], shard=found["shard"])
        assert self._client.ask("pop", queue="gloves", label=3)["finished"] is True

    def close(self) -> None:
        self._client.close()


class RsmqDoor(Door):
    dialect = "rsmq"
    refusal = "OOM the queue has reached its limit"

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 20)
        self._count = 0
        self._ask(redis.command(b"HSET", b"rsmq:mail:Q", b"vt", 30))

    def publish(self) -> Any:
        self._count += 1
        name = b"%032d" % self._count
        add = redis.command(b"ZADD", b"rsmq:mail", 0, name)
        return self._ask(redis.multi(add, redis.command(b"HSET", b"rsmq:mail:Q", name, BODY.encode())))[-1]

    def end(self) -> None:
        now_ms = time.time_ns() // 1_000_000
        receive = redis.command(b"EVALSHA", redis.RECEIVE, 3, b"rsmq:mail", now_ms, now_ms + 30_000)
        [[name, *_]] = self._ask(receive)
        assert self._ask(redis.command(b"EVALSHA", redis.VISIBILITY, 3, b"rsmq:mail", name, now_ms)) == [1]
        assert self._ask(redis.command(b"ZREM", b"rsmq:mail", name)) == [1]
        [[_, body, *_]] = self._ask(redis.command(b"EVALSHA", redis.POP, 2, b"rsmq:mail", now_ms))
        assert body == BODY.encode()

    def close(self) -> None:
        self._socket.close()

    def _ask(self, asked: bytes) -> list[Any]:
        """The answer to an ECHO behind it is the end of what it answers."""
        self._socket.sendall(asked + redis.command(b"ECHO", b"that is all"))
        heard = b""
        while not heard.endswith(b"that is all\r\n"):
            heard += self._socket.recv(65_536)
        return redis.answers(heard)[:-1]


class PinpriqDoor(Door):
    """A push has no answer: whether it is in shows in what the server counts."""

    dialect = "pinpriq"

    def __init__(self, port: int) -> None:
        self._pushing, self._popping = Packets(port), Packets(port)
        self._count = 0

    def publish(self) -> None:
        self._count += 1
        self._pushing.push(BODY.encode(), b"packets", key=b"%d" % self._count)

    def end(self) -> None:
        assert len(self._popping.pop(b"packets")) == 1

    def close(self) -> None:
        self._pushing.close()
        self._popping.close()


DOORS: tuple[type[Any], ...] = (EtzelDoor, PinpriqDoor, DeferredDoor, GloveboxDoor, RsmqDoor)
