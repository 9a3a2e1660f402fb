"""What may happen to a server and its clients: requests, time, broken connections, crashes; and how it all ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from penstock.engine.rules import PolicyBook
from penstock.history.folding import Folder, Keeping
from penstock.journal.segment import JournalDamaged
from penstock.model.limits import PAUSE_NOTICED_US
from penstock.model.views import COUNTS
from penstock.testing.looking import Looking
from tests.journal.simdisk import PowerCut
from tests.simulation.breaking import Broken, law
from tests.simulation.clients.draining import Mate, Taker
from tests.simulation.world import DEFAULTS, KILLED, POWER_CUT, QUIET_US, STOPPED, DiskDied, S, World

DAY = 86_400 * S
PASSING_US = (0, 0, 0, 0, 500, 5_000, 100_000)
JUMPS_US = (S // 2, S, 2 * S, 5 * S, 11 * S)
PAUSES_US = (S, 2 * S, 8 * S, 150 * S)
WALL_US = (-10 * DAY, -S, S, 10 * DAY)
LONGEST_US = 13 * S  # no lease or delay lasts longer
ROUNDS = 4


class Acts(World):
    """Each act is followed by as much time as it needs; everything is left to chance."""

    def live(self, steps: int) -> None:
        names, weights = list(ACTS), list(ACTS.values())
        for name in self.dice.choices(names, weights, k=steps):
            getattr(self, name)()
        self.drain()

    def act(self) -> None:
        self.dice.choice(self.clients).step()
        self.run(self.dice.choice(PASSING_US))

    def pass_time(self) -> None:
        self.run(self.dice.choice(JUMPS_US))

    def cut(self) -> None:
        client = self.dice.choice(self.clients)
        if client.link is not None:
            self.note("world", f"cuts {client.name}")
            client.link.cut()
        self.run(0)

    def half_close(self) -> None:
        client = self.dice.choice(self.clients)
        if client.link is not None:
            self.note("world", f"half closes {client.name}")
            client.link.finish()
        self.run(QUIET_US)
        if client.link is not None and not client.link.slow and not client.stuck():
            raise Broken(0, f"{client.name} has half closed its connection, and it is not ended")

    def slow_down(self) -> None:
        client = self.dice.choice(self.clients)
        if client.link is not None:
            client.link.slow = True

    def stand_still(self) -> None:
        """SIGSTOP, or a machine that sleeps. Beyond a second it has to be noticed."""
        for_us = self.dice.choice(PAUSES_US)
        self.note("world", f"stands still for {for_us}")
        self.timeline.stand_still(for_us)
        self.woken_us = self.now_us()
        self._stood_still = for_us > PAUSE_NOTICED_US
        self.run(0)

    def set_clock(self) -> None:
        self.timeline.wall_us += self.dice.choice(WALL_US)

    def fill(self) -> None:
        """The disk has no room, and then again."""
        self.full = True
        self.note("world", "full")
        self.server.embedded.refuse(True)
        for _ in range(self.dice.randint(1, 4)):
            self.act()
        self.server.embedded.refuse(False)
        self.quiet()
        self.full = False

    def fold(self) -> None:
        """Some steps of the archivist's, which has the disk but not the server."""
        try:
            if self._fold is None:
                folder = Folder(self.disk, self.book, Keeping(snapshot_bytes=1), 1, self._tell)
                self._fold = self._folding(folder, self.server.embedded.journal.segment)
            for _ in range(self.dice.randint(1, 4)):
                if next(self._fold, self) is self:
                    self._fold = None
                    break
        except JournalDamaged as damage:
            raise Broken(10, f"the archivist finds the journal damaged: {damage}") from damage
        except OSError as error:
            self.note("archivist", error)
            self._fold = None
        self.run(0)

    def _folding(self, folder: Folder, sealed_below: int) -> Iterator[None]:
        yield from folder.fold(sealed_below)
        yield
        folder.sweep(sealed_below - self.dice.choice((0, 0, 1, 3)))

    def _tell(self, event: str, fields: object) -> None:
        self.snapshots += 1
        self.note("archivist", event)

    # -- crashes

    def kill(self) -> None:
        self.compare()
        self.crash(KILLED)

    def cut_power(self) -> None:
        self.compare()
        self.crash(POWER_CUT)

    def stop(self) -> None:
        self.compare()
        self.crash(STOPPED)

    def cut_power_in_commit(self) -> None:
        """At some operation of the disk that is yet to come."""
        self._until_death(POWER_CUT)

    def kill_in_commit(self) -> None:
        self._until_death(KILLED)

    def fail_disk(self) -> None:
        """An operation fails, or all from then on: the server says nothing more, and is gone."""
        self.disk.fail_at = len(self.disk.operations) + self.dice.randint(1, 20)
        self.disk.fails_for_good = self.dice.random() < 0.5
        self._act_until(DiskDied)
        self.crash(self.dice.choice((KILLED, POWER_CUT)))

    def _until_death(self, how: str) -> None:
        self.disk.cut_before = len(self.disk.operations) + self.dice.randint(1, 30)
        self._act_until(PowerCut)
        self.crash(how)

    def _act_until(self, end: type[BaseException]) -> None:
        with suppress(end):
            for _ in range(6):
                self.act() if self.dice.random() < 0.85 else self.fold()

    # -- the end

    def drain(self) -> None:
        """The crowd goes, and whoever comes then gets everything that is left, until there is nothing."""
        self.quiet()
        for client in self.clients:
            if client.link is not None:
                client.link.cut()
        self._lift_limits()
        taker, mate = Taker(self, "taker"), Mate(self, "mate")
        for _ in range(ROUNDS):
            if not any(self.laws.lives.live.values()):
                break
            self.run(LONGEST_US)
            mate.come()
            self.run(2 * QUIET_US)
            mate.take_all()
            self.run(QUIET_US)
            taker.take_all()
            self.run(QUIET_US)
        self._nothing_left()

    def _lift_limits(self) -> None:
        """As a reload does: a queue full of what is parked lets nobody in to take it along."""
        for _, policy in self.patterns:
            policy.max_length = None
        self.book = PolicyBook(self.patterns, DEFAULTS)
        self.server.embedded.rebook(self.book)

    def _nothing_left(self) -> None:
        left = [life for queue in self.laws.lives.live.values() for life in queue.values()]
        law(3, not left, "cannot be had:", left[:3])
        self.compare()
        for name in self.laws.lives.policies:
            self.laws.audit.check_counts(self.laws.lives.ids[name], self._counts(name))

    def _counts(self, name: bytes) -> dict[str, int]:
        looking = Looking()
        self.server.heart.begin()
        self.server.embedded.broker.show_queue(looking, 0, name)
        self.run(0)
        counts = looking.view(name.decode()).counts
        return {each: getattr(counts, each) for each in COUNTS}


ACTS: dict[str, int] = {
    "act": 100,
    "pass_time": 12,
    "quiet": 6,
    "cut": 4,
    "half_close": 1,
    "slow_down": 3,
    "stand_still": 2,
    "set_clock": 2,
    "fold": 8,
    "fill": 1,
    "kill": 1,
    "cut_power": 1,
    "stop": 1,
    "kill_in_commit": 1,
    "cut_power_in_commit": 1,
    "fail_disk": 1,
}
