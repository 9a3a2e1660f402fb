"""An engine and the model, side by side: every verb goes to both, and everything they say and hold is compared.

Facts are committed as batches, replayed into a standby that must stay the same, audited, and survive crashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.codecs.facts import BadFact, Fact, read_facts
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.model.policy import Policy
from tests.engine.audit import Audit, Broken, law
from tests.engine.clients import Client, Event, Recorder
from tests.engine.dumps import differences, dump_model, dump_state, settled
from tests.engine.model import Model
from tests.fields import fields

START_US = 1_700_000_000_000_000
CLIENTS = 4

Configuration = tuple[Sequence[tuple[bytes, Policy]], dict[int, Policy]]  # patterns, and defaults by dialect


class World:
    """`log` tells what was done, for whoever has to understand a failure."""

    engine: Engine
    crashes: Sequence[int] = (0, 0, 1, 2, 5)

    def __init__(self, configuration: Configuration = ((), {})) -> None:
        self.book = PolicyBook(*configuration)
        self.model = Model(*configuration)
        self.clients = [self._client(f"c{n}", 1 + n % 3, 100 + n) for n in range(CLIENTS)]
        self.token = 0
        self.log: list[str] = []
        self.batches: list[list[Fact]] = []
        self.facts = 0  # in all batches
        self.snapshots: dict[int, bytes] = {0: self.model.snapshot()}  # by the number of facts before them
        self.given: set[int] = set()
        self._begin_life(START_US)

    def _client(self, name: str, dialect: int, client_id: int) -> Client:
        return Client(name, dialect, client_id)

    # -- time and commits

    def tick(self, now_us: int, woken: bool = False) -> None:
        """One instant is over: its facts are committed. Another begins; `woken`: the process stood still between."""
        self.commit()
        self.log.append(f"{'woken' if woken else 'tick'} +{now_us - self.model.now_us}")
        self._move_time(now_us, woken)
        if woken:
            self.model.woken(now_us)
        self.model.advance(now_us)
        self._compare()
        law(0, self.engine.next_due() > self.model.now_us, "something is due, and nothing happened")

    def _move_time(self, now_us: int, woken: bool) -> None:
        if woken:
            self.engine.woken(now_us)
        self.engine.advance(now_us)

    def commit(self) -> None:
        self._note_pending()
        self._write()

    def _write(self) -> None:
        self.engine.record.clear()

    def _note_pending(self) -> None:
        """The facts of this instant: to be replayed, audited, and perhaps to be found again after a crash."""
        record = self.engine.record
        if record.count:
            at_us = int(self.engine.now_us())
            self._keep(read_facts(record.payload(), int(record.count), record.heap_bytes(), self.facts + 1, at_us))
            self._compare_standby()
            for queue in self.engine.state().queues.values():
                self.audit.check_counts(queue.id, self.model.counts([queue.name]))

    def _keep(self, batch: list[Fact]) -> None:
        self.batches.append(batch)
        self.facts += len(batch)
        self.snapshots[self.facts] = self.model.snapshot()
        replay(self.standby, batch)
        self.audit.read(batch)

    def _compare_standby(self) -> None:
        live, standby = self.engine.state(), self.standby.state()
        settled(standby, live.now_us)
        found = differences(dump_state(live), dump_state(standby))
        law(1, not found, "live | replayed: " + "\n    ".join(found))

    # -- crashes

    def crash(self, how: int, now_us: int) -> None:
        """The process is gone, with what it had not committed and `how` many commits; another starts on the rest."""
        for _ in range(min(how, len(self.batches) - self.started_batches)):
            self._lose_batch()
        self.log.append(f"crash, {self.facts} facts left, started at +{now_us - self.model.now_us}")
        self._begin_life(now_us)

    def _lose_batch(self) -> None:
        self.facts -= len(self.batches.pop())

    def _begin_life(self, now_us: int) -> None:
        self.audit = Audit(self.given)
        self.standby = Engine(self.book, Recorder())
        for batch in self.batches:
            replay(self.standby, batch)
            self.audit.read(batch, again=True)
        self._start(now_us)
        next_seq = int(self.engine.state().next_seq)
        law(12, next_seq > max(self.given, default=0), f"numbers go on at {next_seq}, which was given out")
        self.model.restart(self.snapshots[self.facts], now_us, next_seq)
        self._after_start(now_us)
        self.started_batches = len(self.batches)  # a start is synced before anybody is answered

    def _start(self, now_us: int) -> None:
        self.recorder = Recorder()
        self.engine = Engine(self.book, self.recorder)
        for batch in self.batches:
            replay(self.engine, batch)
        self.engine.start(now_us, b"{}")

    def _after_start(self, now_us: int) -> None:
        self.engine.advance(now_us)
        self.model.advance(now_us)
        self._compare()
        self.commit()

    # -- verbs

    def do(self, verb: str, client: Client, *arguments: Any) -> None:
        """A verb that is answered by token."""
        self.token += 1
        self._both(verb, client, self.token, *arguments)

    def do_at_once(self, verb: str, client: Client, *arguments: Any) -> None:
        """A verb without a token."""
        self._both(verb, client, *arguments)

    def _both(self, verb: str, *arguments: Any) -> None:
        self.log.append(f"{verb} {' '.join(map(shown, arguments))}")
        recorded = self.engine.record.count
        given = getattr(self.engine, verb)(*arguments)
        expected = getattr(self.model, verb)(*arguments)
        law(0, given == expected, f"{verb} gives {given}, not {expected}")
        refused = all(event[3] for _, event in self.model.said if event[0] != "notice")
        law(11, not refused or self.engine.record.count == recorded, f"{verb} was refused, and changed something")
        self._compare()

    # -- comparing

    def _compare(self) -> None:
        self._compare_said()
        found = differences(dump_state(self.engine.state()), dump_model(self.model))
        law(0, not found, "engine | model: " + "\n    ".join(found))
        law(0, self.engine.next_due() <= self.model.next_due(), "the engine does not want to be asked in time")

    def _compare_said(self) -> None:
        said, self.recorder.said = self.recorder.said, []
        expected, self.model.said = self.model.said, []
        for told in {event[1] for _, event in [*said, *expected]}:
            here = in_order([one for one in said if one[1][1] == told])
            there = in_order([one for one in expected if one[1][1] == told])
            law(0, here == there, f"{told} is told\n    {here}\ninstead of\n    {there}")
        for _, event in said:
            self._hear(event)

    def _hear(self, event: Event) -> None:
        """Even labels have asked for every notice."""
        if event[0] == "notice" and event[3] % 2 == 0:
            self.audit.hear(*event[1:])


def replay(engine: Engine, batch: list[Fact]) -> None:
    try:
        for fact in batch:
            engine.replay(fact)
    except BadFact as error:
        raise Broken(1, f"a fact cannot be replayed: {error}") from error


def in_order(said: list[tuple[int, Event]]) -> list[tuple[int, Event]]:
    """Notices and wake-ups of one step have no order among themselves; answers and pushes of one client do."""
    loose = [one for one in said if one[1][0] in ("notice", "wake")]
    return [one for one in said if one not in loose] + sorted(loose)


def shown(argument: object) -> str:
    if isinstance(argument, Client):
        return argument.name
    if isinstance(argument, list):
        return f"[{', '.join(map(shown, argument))}]"
    if isinstance(argument, bytes | int | str):
        text = repr(argument)
        return text if len(text) < 100 else f"<{text[:20]}… {len(text)}>"
    said = {slot: getattr(argument, slot) for slot in fields(argument)}
    return f"({', '.join(f'{slot}={shown(value)}' for slot, value in said.items() if value not in (None, -1, 0, b''))})"
