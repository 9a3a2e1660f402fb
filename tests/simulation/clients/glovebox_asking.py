"""What a client of `glovebox` asks for, in JSON or bincode: labels, waits, a name that it may come back under."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

from penstock.codecs.ids import high, low
from penstock.model import stages
from tests.simulation.clients.bincode import decoded, encoded
from tests.simulation.clients.client import Asked, S, World
from tests.simulation.clients.frames import BINARY, FramesClient, framed, said_body
from tests.simulation.judge import Wish
from tests.simulation.laws import Since
from tests.simulation.lives import Life
from tests.simulation.server import IDS

KEYS = (None, None, b"k", b"\xff")
PRIORITIES = (0, 0, 0, 1, 255, -7)
DELAYS_S = (None, None, 0, 0.25, 3)
TTLS_S = (None, None, None, 1.5, 40)
LEASES_S = (None, 0.001, 0.001, 2, 8)  # some are over before they are told
WAITS_S = (0, 0, 0.5, 4, 30)
NOTIFY = ((), ("ready",), ("write", "finish"), ("sync",), tuple(stages.STAGES), ("assign", "retry", "drop"))
DURABLE = ("ready", "write", "sync")


@dataclass(slots=True)
class Post:
    wish: Wish
    since: Since
    notify: tuple[str, ...]
    told: list[str] = field(default_factory=list)
    in_doubt: int = 0  # of its notices, how many may have been on their way when a connection was lost


class AskingClient(FramesClient):
    """What is left to add: what becomes of the answers."""

    dialect = "glovebox"

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.durable = self.dice.random() < 0.3
        self.binary = self.dice.random() < 0.3
        self.id = 0
        self.known_as = 0  # in the last connection
        self.labels = 0
        self.under_way: dict[int, Asked] = {}  # all that is under way, by label
        self.old: set[int] = set()  # asked on connections that are gone: answered or not
        self.posts: dict[int, Post] = {}
        self.forgotten: set[int] = set()  # posts whose notices nobody can account for any more
        self.leases: dict[int, int] = {}  # by message: the fact of the last lease that was its own
        self._repeated: list[tuple[Wish, dict[str, object]]] = []

    # -- the connection

    def headers(self) -> bytes:
        lines = b"DURABLE-SESSION: 1\r\n" if self.durable else b""
        lines += b"Binary: 1\r\n" if self.binary else b""
        self.known_as, self.id = self.id, 0
        if self.known_as and self.dice.random() < 0.7:
            lines += b"RECONNECT-AS: %d\r\n" % self.known_as
        return lines

    def understood(self, first: int, payload: bytes) -> dict[str, Any]:
        return decoded(payload) if first == BINARY and self.binary else super().understood(first, payload)

    def lost(self) -> None:
        super().lost()
        self.id = self.id or self.known_as
        self.old |= self.under_way.keys()
        if not self.durable:
            self.forget()
        for post in self.posts.values():
            post.in_doubt = self.laws.in_doubt(post.wish, post.notify)

    def crash(self) -> None:
        super().crash()
        self.id = self.id or self.known_as
        self.leases.clear()  # facts that were lost give their numbers to others
        self.forget()

    def forget(self) -> None:
        """What was under way is not heard of again, or may be."""
        self.old |= self.under_way.keys()
        self.under_way.clear()
        self.forgotten |= self.posts.keys()
        self.posts.clear()

    # -- requests

    def act(self) -> None:
        choice = self.dice.random()
        queue = self.queue()
        held = self.one_held()
        if held is not None:
            self._end(*held, choice)
        elif choice < 0.25:
            self._publish(queue)
        elif choice < 0.4:
            self._post(queue)
        elif choice < 0.63:
            self._reserve(queue)
        elif choice < 0.85:
            self._fetch(queue)
        elif choice < 0.95:
            self.pop(queue, self.dice.choice(WAITS_S))
        else:
            self._request("create", queue)

    def _request(
        self,
        kind: str,
        queue: bytes,
        *,
        wish: Wish | None = None,
        life: Life | None = None,
        wait_s: float = 0,
        stage: str = "",
        lease_us: int = -1,
        **said: object,
    ) -> None:
        """`stage` is that of an answer where none is said; empty: the server's own."""
        self.labels += 1
        if kind not in ("post", "create") and self.dice.random() < 0.3:
            stage = self.dice.choice(DURABLE)
            said["response" if kind == "finish" else "sync"] = stage
        members = {name: value for name, value in said.items() if value is not None}
        data = self._encoded(kind, {"queue": queue.decode(), "label": self.labels, **members})
        asked = Asked(kind, self.since(), queue, wish, life)
        number = DURABLE.index(stage) if stage else self.world.confirm
        asked.rest = {"stage": number, "wait_us": int(wait_s * S), "lease_us": lease_us, "mine": self.id}
        asked.rest["failed"] = said.get("failed", False)
        if kind != "post":
            self.under_way[self.labels] = asked
        self.say(data, wish)

    def _encoded(self, kind: str, members: dict[str, Any]) -> bytes:
        payload = encoded(kind, members) if self.binary and self.dice.random() < 0.8 else None
        return self.request(type=kind, **members) if payload is None else framed(BINARY, payload)

    def pop(self, queue: bytes, wait: float) -> None:
        self._request("pop", queue, wait_s=wait, stage="ready", timeout=wait or None)

    def _publish(self, queue: bytes) -> None:
        if self._repeated and self.dice.random() < 0.3:
            wish, draft = self.dice.choice(self._repeated)
        else:
            wish, draft = self._draft(queue)
        self._request("publish", wish.queue, wish=wish, messages=[draft])

    def _draft(self, queue: bytes) -> tuple[Wish, dict[str, object]]:
        delay, ttl = self.dice.choice(DELAYS_S), self.dice.choice(TTLS_S)
        wish = Wish(queue, self.body(), key=self.dice.choice(KEYS), priority=self.dice.choice(PRIORITIES))
        wish.delay_us = -1 if delay is None else int(delay * S)
        wish.ttl_us = -1 if ttl is None else int(ttl * S)
        said = {"body64": _b64(wish.body), "priority": wish.priority, "delay": delay, "ttl": ttl}
        if wish.key is not None:
            said["key64"] = _b64(wish.key)
        if self.dice.random() < 0.3:
            wish.dedup_id = b"once-%d" % self.world.bodies
            said["dedup_id"] = wish.dedup_id.decode()
        draft = {name: value for name, value in said.items() if value is not None}
        if wish.dedup_id:
            self._repeated.append((wish, draft))
        return self.wish(wish), draft

    def _post(self, queue: bytes) -> None:
        wish = self.wish(Wish(queue, self.body(), priority=self.dice.choice(PRIORITIES)))
        notify = self.dice.choice(NOTIFY)
        since = self.since()
        message = said_body(wish.body)
        self._request("post", queue, wish=wish, message=message, priority=wish.priority, notify=list(notify))
        self.posts[self.labels] = Post(wish, since, notify)

    def _reserve(self, queue: bytes) -> None:
        wait, lease = self.dice.choice(WAITS_S), self.dice.choice(LEASES_S)
        lease_us = -1 if lease is None else int(lease * S)
        most = self.dice.choice((1, 3))
        self._request("reserve", queue, wait_s=wait, lease_us=lease_us, max=most, lease=lease, wait=wait)

    def _fetch(self, queue: bytes) -> None:
        wait, work = self.dice.choice(WAITS_S), self.dice.choice((0.5, 2, 8))
        self._request(
            "fetch", queue, wait_s=wait, stage="ready", lease_us=int(work * S), work_timeout=work, block_timeout=wait
        )

    def id_of(self, life: Life) -> bytes:
        pair = IDS.pair(life.seq)
        return b"%d/%d" % (high(pair), low(pair))

    def _end(self, id: bytes, life: Life, choice: float) -> None:
        shard, sequence = map(int, id.split(b"/"))
        if choice < 0.4:
            self._request("finish", life.queue, life=life, stage="ready", shard=shard, sequence=sequence)
        elif choice < 0.6:
            self._request("finish", life.queue, life=life, messages=[[shard, sequence]])
        elif choice < 0.8:
            delay = self.dice.choice((None, 0, 2))
            failed = self.dice.random() < 0.5
            self._request("release", life.queue, life=life, delay=delay, failed=failed, messages=[[shard, sequence]])
        else:
            lease = self.dice.choice((1, 9))
            self._request(
                "extend", life.queue, life=life, lease_us=lease * S, lease=lease, messages=[[shard, sequence]]
            )


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()
