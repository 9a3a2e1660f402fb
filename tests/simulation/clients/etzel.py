"""A client of `etzel`: fetches and acknowledges, sleeps and is woken."""

from __future__ import annotations

from typing import Any

from tests.engine.audit import Broken
from tests.simulation.clients.client import Asked, S, World
from tests.simulation.clients.frames import FramesClient, said_body, shown_body
from tests.simulation.judge import Wish
from tests.simulation.laws import Shown
from tests.simulation.lives import Life
from tests.simulation.network import Mark
from tests.simulation.server import IDS

DELAYS_S = (0, 0, 0, 1, 3)
EXPIRES_S = (0, 0, 0, 2, 30)
TIMEOUTS_S = (5, 5, 8)
ANSWERS = {"ok": ("PUB",), "msg": ("FET",), "nomsg": ("FET",), "okack": ("ACK",), "oksub": ("SUB",), "okslp": ("ISLP",)}


class EtzelClient(FramesClient):
    dialect = "etzel"

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self._subscribed: set[str] = set()
        self._asleep: set[str] = set()

    def greet(self) -> None:
        self._subscribed, self._asleep = set(), set()
        super().greet()

    def act(self) -> None:
        choice = self.dice.random()
        queue = self.queue()
        held = self.one_held()
        if held is not None:
            self._ask("ACK", held[1].queue, life=held[1], uid=held[0].decode())
        elif choice < 0.35:
            self._publish(queue)
        elif choice < 0.75:
            self._ask("FET", queue)
        elif choice < 0.87:
            self._ask("SUB", queue)
        else:
            self._ask("ISLP", queue)

    def id_of(self, life: Life) -> bytes:
        return b"etzl" + IDS.show(life.seq)

    def _ask(self, cmd: str, queue: bytes, life: Any = None, **members: object) -> None:
        self.ask(cmd, queue, self.request(cmd=cmd, qname=queue.decode(), **members), life=life)

    def _publish(self, queue: bytes) -> None:
        delay, expires = self.dice.choice(DELAYS_S), self.dice.choice(EXPIRES_S)
        timeout = self.dice.choice(TIMEOUTS_S)
        wish = Wish(queue, self.body(), delay_us=delay * S, ttl_us=expires * S, lease_us=timeout * S)
        said = {"msg": said_body(wish.body), "delay": delay, "expires": expires, "timeout": timeout}
        data = self.request(cmd="PUB", qname=queue.decode(), **said)
        self.ask("PUB", queue, data, wish=self.wish(wish))

    # -- answers

    def told(self, answer: dict[str, Any], mark: Mark) -> None:
        cmd = answer["cmd"]
        if cmd == "awk":
            self._woken(answer["qname"])
            return
        asked = self.next_asked(*ANSWERS.get(cmd, ("PUB", "FET")))
        if cmd not in ("ok", "nok") and answer["qname"] != asked.queue.decode():
            raise self.broken(answer)
        if cmd == "nok":
            self._refused(asked, answer, mark)
        elif cmd == "oksub":
            self._subscribed.add(answer["qname"])
        elif cmd == "okslp":
            self._asleep.add(answer["qname"])
        elif cmd == "okack" and asked.life is not None:
            self.laws.gone_or_finished(asked.life, asked.since, mark, self.world.confirm, self.number)
        elif cmd == "ok" and asked.wish is not None:
            self.laws.published(asked.wish, asked.since, mark, self.world.confirm, None)
        elif cmd == "msg":
            self._fetched(asked, answer, mark)
        elif cmd == "nomsg":
            self.laws.nothing(asked.queue, asked.since, mark, self.world.now_us())

    def _refused(self, asked: Asked, answer: dict[str, Any], mark: Mark) -> None:
        if answer["err"] == "FULL" and asked.kind == "PUB":
            self.refused(asked)
        elif answer["err"] == "Q_NOT_FOUND" and asked.kind == "FET":
            self.laws.nothing(asked.queue, asked.since, mark, self.world.now_us())
        else:
            raise self.broken(answer)

    def _fetched(self, asked: Asked, answer: dict[str, Any], mark: Mark) -> None:
        uid = answer["uid"].encode()
        body = shown_body(answer["msg"])
        count = answer["error_count"] + 1
        asking = asked.queue, body, asked.since, mark, self.world.confirm
        shown = Shown(self.number, uid, int(IDS.seq(uid.removeprefix(b"etzl"))))
        life = self.laws.delivered(*asking, dialect=self.number, taken=False, seq=shown.seq, deliveries=count)
        self.laws.shown(shown, life)
        self.laws.best(life, asked.since, mark, self.world.now_us(), newest=False)
        self.held.append((uid, life))

    def _woken(self, name: str) -> None:
        if name not in self._asleep or name not in self._subscribed:
            raise Broken(5, f"{self.name} is woken for {name}, and does not sleep")
        self._asleep.discard(name)

    def waits_for(self) -> list[bytes]:
        return [name.encode() for name in sorted(self._asleep & self._subscribed)]
