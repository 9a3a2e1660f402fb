"""A server with clients of all five dialects, in one thread and from one seed: its starts, its time and its ends.

The same seed gives the same life, byte for byte: nothing here asks a clock, an address or the order of a set.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from penstock.codecs.facts import Fact
from penstock.dialects.table import DIALECTS
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.journal import check
from penstock.journal.journal import JournalDead
from penstock.journal.segment import JournalDamaged
from penstock.model import facts
from penstock.model.policy import Policy
from tests.engine.clients import Recorder
from tests.engine.dumps import differences, dump_state, settled
from tests.engine.world import replay
from tests.journal.simdisk import SimDisk
from tests.simulation.breaking import Broken, law
from tests.simulation.clients.client import Client
from tests.simulation.clients.deferred import DeferredClient
from tests.simulation.clients.etzel import EtzelClient
from tests.simulation.clients.glovebox import GloveboxClient
from tests.simulation.clients.pinpriq import PinpriqClient
from tests.simulation.clients.rsmq import RsmqClient
from tests.simulation.laws import Laws
from tests.simulation.network import Link
from tests.simulation.server import Server
from tests.simulation.timeline import Timeline

S = 1_000_000
START_US = 1_700_000_000 * S
DEAD = b"dead"
QUEUES = ((b"default",), (b"default", b"default", b"other"), (b"default", b"default", DEAD))
CLIENTS: tuple[type[Client], ...] = (EtzelClient, PinpriqClient, DeferredClient, GloveboxClient, RsmqClient)
QUIET_US = S
TIMERS_US = 2_000  # a timer may come so late
DEFAULTS = {dialect.number: dialect.defaults for dialect in DIALECTS}

KILLED, POWER_CUT, STOPPED = "killed", "power cut", "stopped"


def policies(dice: Random) -> list[tuple[bytes, Policy]]:
    """Of the queues that all clients share. Leases end by themselves, so that everything can be drained."""
    return [(name, _policy(dice)) for name in (b"default", b"other")] + [(DEAD, Policy(lease_us=5 * S))]


def _policy(dice: Random) -> Policy:
    return Policy(
        lease_us=dice.choice((S, 3 * S, 8 * S)),
        attempts=dice.choice((None, None, 1, 2, 3)),
        dead_letter=dice.choice((None, DEAD)),
        delay_us=dice.choice((None, None, S)),
        ttl_us=dice.choice((None, None, None, 20 * S)),
        dedup_us=dice.choice((None, 2 * S, 60 * S)),
        backoff_us=dice.choice((None, None, (S,), (0, 3 * S))),
        max_length=dice.choice((None, None, None, 6)),
    )


class DiskDied(Exception):
    """And the server with it."""


class World:
    server: Server

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.trace: list[object] = []
        self.timeline = Timeline(START_US)
        self.disk = SimDisk()
        self.confirm = self.dice.choice((0, 1, 2, 2))
        self.patterns = policies(self.dice)
        self.book = PolicyBook(self.patterns, DEFAULTS)
        self.laws = Laws(self.patterns, DEFAULTS)
        self.queues: tuple[bytes, ...] = self.dice.choice(QUEUES)
        self.bodies = 0
        self.full = False
        self.woken_us = 0
        self._segment_bytes = self.dice.choice((2_048, 4_096, 8_192))
        self._output_cap_bytes = self.dice.choice((2_048, 1 << 20))
        self._fold: Iterator[None] | None = None
        self._stood_still = False
        self.crashes = 0
        self.snapshots = 0
        self._start()
        kinds = [*CLIENTS, *self.dice.choices(CLIENTS, k=self.dice.randint(0, 3))]
        self.clients = [kind(self, f"{kind.dialect}-{at}") for at, kind in enumerate(kinds)]

    # -- for clients

    def now_us(self) -> int:
        return self.server.now_us()

    def decided(self) -> int:
        return len(self.laws.facts)

    def connect(self, client: Client) -> Link:
        self.note(client.name, "connects")
        return self.server.connect(client.dialect, client)

    def note(self, who: str, what: object) -> None:
        self.trace.append((self.timeline.now_us, who, what))

    # -- time

    def run(self, for_us: int) -> None:
        self.timeline.run(for_us)
        for death in self.server.deaths:
            if isinstance(death, Broken):
                raise death
            if not isinstance(death, JournalDead) or not self.disk.fail_at:
                raise Broken(0, f"the server died: {death!r}") from death
            law(8, not self.server.late, "said after the disk has died:", self.server.late)
            raise DiskDied

    def quiet(self) -> None:
        """Everybody reads, and all is said: nobody may wait for an answer, or beside a message."""
        for link in self.server.links:
            link.read_on()
        self.run(QUIET_US)
        now_us = self.now_us() - TIMERS_US
        self.laws.nothing_overdue(now_us)
        for client in self.clients:
            if client.link is None:
                continue
            if client.owes_answers():
                raise Broken(0, f"{client.name} is not answered: {list(client.asked)}")
            for queue in client.waits_for():
                beside = self.laws.ready(queue, now_us)
                law(5, not beside, client.name, "waits for", queue, "beside", [life.fact.body for life in beside])

    def _decided(self, batch: list[Fact]) -> None:
        """Facts have the time of the server, which is what has elapsed since its start."""
        at_us = self._base_us + self.timeline.now_us
        law(3, batch[0].at_us == at_us, "a fact of", batch[0].at_us, "at", at_us)
        if self._stood_still:
            self._stood_still = False
            law(4, batch[0].kind == facts.WOKEN, "the server stood still, and has not noticed")
        self.laws.decided(batch)

    # -- crashes

    def crash(self, how: str) -> None:
        self.note("world", how)
        self.crashes += 1
        if how == STOPPED:
            self._stop()
        mark = self.server.mark()
        if how == POWER_CUT:
            self.disk = self.disk.crash_state(self.dice)
        self.disk = self.disk.after_kill()
        self.timeline.forget()
        for client in self.clients:
            client.crash()
        self._fold = None
        self._stood_still = False
        self.timeline.stand_still(self.dice.choice((0, S, 100 * S)))
        self._start(how, mark.synced if how == POWER_CUT else mark.written)

    def _stop(self) -> None:
        """A clean one: all is said, written and sealed."""
        self.disk.cut_before = 0
        self.quiet()
        self.server.embedded.close()
        law(10, self.server.mark().synced == self.decided(), "a clean stop has left facts unsynced")

    def _start(self, how: str = STOPPED, least: int = 0) -> None:
        expected_us = self.timeline.wall()
        try:
            settings = self.book, self.confirm, self._segment_bytes, self._output_cap_bytes, self.dice
            self.server = Server(self.timeline, self.disk, *settings)
            found = list(check.read(self.disk))
        except JournalDamaged as damage:
            raise Broken(10, f"{how}, and the journal is damaged: {damage}") from damage
        survived = self.server.recovery.next_fact - 1
        law(10, survived >= least, how, "with", survived, "facts left, and", least, "were there")
        self.laws.crashed([fact for fact in found if fact.seq <= survived], survived, how == POWER_CUT)
        last_us = self.laws.facts[-1].at_us if survived else 0
        self._base_us = max(expected_us, int(last_us)) - self.timeline.now_us
        self.laws.decided([fact for fact in found if fact.seq > survived])
        law(3, self.now_us() == self._base_us + self.timeline.now_us, "the server's time is not what it should be")
        self.laws.promised = [self.decided()] * 3
        self.server.start(self._decided)
        self.note("world", f"started with {survived} facts")
        self.run(0)
        self.compare()

    def compare(self) -> None:
        """The state, however it came about, is what the facts make of it, from the first to the last."""
        engine = Engine(self.book, Recorder())
        replay(engine, self.laws.facts)
        live = self.server.embedded.broker
        assert isinstance(live, Engine)
        settled(engine.state(), live.state().now_us)
        one, other = dump_state(live.state()), dump_state(engine.state())
        other["next_seq"] = max(one["next_seq"], other["next_seq"])  # clients have drawn numbers, which is no fact
        found = differences(one, other)
        law(1, not found, "live | replayed: " + "\n    ".join(found))
        self.laws.agree({int(message.order): message for message in live.state().messages.values()})
