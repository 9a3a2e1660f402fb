"""A client of `deferred`: lines."""

from __future__ import annotations

import base64

from penstock.model import facts
from tests.simulation.clients.client import TEXT_TAILS, Asked, Client
from tests.simulation.judge import Wish
from tests.simulation.laws import Shown
from tests.simulation.lives import Life
from tests.simulation.network import Mark
from tests.simulation.server import IDS

QUEUE = b"default"
DELAYS_MS = (0, 0, 0, 1, 400, 3_000)
MS = 1_000


class DeferredClient(Client):
    dialect = "deferred"

    def act(self) -> None:
        choice = self.dice.random()
        held = self.one_held()
        if held is not None:
            self._end(*held, choice)
        elif choice < 0.45:
            self._add()
        elif choice < 0.95:
            self.ask("reserve", QUEUE, b"RESERVE\n")
        else:
            self.ask("stats", QUEUE, b"STATS\n")

    def id_of(self, life: Life) -> bytes:
        return IDS.show(life.seq) if life.queue == QUEUE else b""

    def _end(self, id: bytes, life: Life, choice: float) -> None:
        if choice < 0.7:
            self.ask("delete", QUEUE, b"DELETE %b\r\n" % id, life=life)
        else:
            ms = self.dice.choice(DELAYS_MS)
            self.ask("return", QUEUE, b"RETURN %b %d\n" % (id, ms), life=life, ms=ms)

    def _add(self) -> None:
        ms = self.dice.choice(DELAYS_MS)
        wish = self.wish(Wish(QUEUE, self.body(TEXT_TAILS), delay_us=ms * MS))
        self.ask("add", QUEUE, b"ADD %d %b\n" % (ms, wish.body), wish=wish, ms=ms)

    def read(self, mark: Mark) -> bool:
        line, newline, rest = self.data.partition(b"\n")
        if not newline:
            return False
        self.data = rest
        asked = self.next_asked("add", "reserve", "delete", "return", "stats")
        if asked.kind == "add":
            self._added(asked, line, mark)
        elif asked.kind == "reserve":
            self._reserved(asked, line, mark)
        elif asked.kind != "stats":
            self._ended(asked, line, mark)
        elif not line.startswith(b"TASKS "):
            raise self.broken(line)
        return True

    def _added(self, asked: Asked, line: bytes, mark: Mark) -> None:
        if line == b"queue full":
            self.refused(asked)
            return
        word, shown, _, told = line.split(b" ")
        if word != b"TASK" or told != b"%dms" % asked.rest["ms"] or asked.wish is None:
            raise self.broken(line)
        self.laws.published(asked.wish, asked.since, mark, self.world.confirm, self._shown(shown))

    def _reserved(self, asked: Asked, line: bytes, mark: Mark) -> None:
        if line == b"nil":
            self.laws.nothing(QUEUE, asked.since, mark, self.world.now_us())
            return
        word, shown, how, text = line.split(b" ", 3)
        if word != b"TASK":
            raise self.broken(line)
        body = base64.b64decode(text) if how == b"BODY64" else text
        asking = QUEUE, body, asked.since, mark, self.world.confirm
        known = self._shown(shown)
        life = self.laws.delivered(*asking, dialect=self.number, taken=False, in_order=True, seq=known.seq)
        self.laws.shown(known, life)
        self.laws.best(life, asked.since, mark, self.world.now_us(), newest=False)
        self.held.append((shown, life))

    def _shown(self, id: bytes) -> Shown:
        return Shown(self.number, id, int(IDS.seq(id)))

    def _ended(self, asked: Asked, line: bytes, mark: Mark) -> None:
        assert asked.life is not None
        if line == b"unknown TASK_ID":
            self.laws.not_held(asked.life, asked.since, mark, self.world.now_us())
        elif line != b"ok":
            raise self.broken(line)
        elif asked.kind == "delete":
            self.laws.finished(asked.life, asked.since, mark, self.world.confirm, self.number)
        else:
            delay_us = asked.rest["ms"] * MS
            due_us = range(asked.since.at_us + delay_us, self.world.now_us() + delay_us + 1)
            kinds = (int(facts.RELEASED),)
            self.laws.moved(asked.life, kinds, due_us, asked.since, mark, self.world.confirm, dialect=self.number)
