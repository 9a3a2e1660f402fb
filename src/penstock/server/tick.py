"""The heart: one tick gathers what the sockets of one loop iteration brought, commits it once, then answers.

Order within a tick: time moves, verbs run, the journal is written, answers go out; in a long one, time moves again
before what is read then. Any failure of the store is final: nothing is answered after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from mypy_extensions import i64, mypyc_attr

from penstock.broker.driven import Driven
from penstock.model.contract import Wire
from penstock.model.limits import MILLISECOND_US, NEVER_US, SECOND_US
from penstock.server.alert import Alert, Gathering
from penstock.server.clock import HEARTBEAT_US, Clock, PauseWatch

_TIMER_MAX_US: Final[i64] = 3_600 * SECOND_US
_QUIET_US: Final[i64] = 15  # a tick that gathers ends when nothing has come for so long
_GATHER_MAX_US: Final[i64] = 150  # or so long after it began
_STALE_US: Final[i64] = MILLISECOND_US  # so much later than what it knows, the store is told the time within a tick


@mypyc_attr(allow_interpreted_subclasses=True)
class Guest(Wire):
    """A connection, as the heart knows it."""

    def flush(self) -> None:
        """The tick is committed: say what there is to say."""
        raise NotImplementedError

    def resume(self) -> None:
        """Go on with input that was held back."""
        raise NotImplementedError


class Heart:
    """Beats only where there is something to do. `open`: a tick is under way, verbs may be called."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        store: Driven,
        clock: Clock,
        sync_interval_us: int,
        on_death: Callable[[BaseException], None],
        spin_us: int = 0,
    ) -> None:
        self.open: bool = False
        self.dead: bool = False
        self.looking: bool = False  # awake, though there is nothing to do
        self.now_us: i64 = clock.now_us()
        self.ticks: i64 = 0
        self._loop = loop
        self._call_soon = loop.call_soon
        self._store: Driven = store
        self._clock: Clock = clock
        self._sync_interval_us = sync_interval_us
        self._on_death = on_death
        self._told_us: i64 = self.now_us  # when it was, for the store
        self._watch = PauseWatch(self.now_us)
        self._alert = Alert(spin_us)
        self._gathering = Gathering(_QUIET_US if spin_us else 0, _GATHER_MAX_US)
        self._gathers: bool = False  # the tick could be committed, and waits for more
        self._another_piece: bool = False  # of what was heard before in this tick has come
        self._woken: list[Guest] = []
        self._held: list[Guest] = []
        self._beats: list[Callable[[int], None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._timer_us: i64 = NEVER_US
        self._sync_thread = ThreadPoolExecutor(1, "sync")
        self._spare_thread = ThreadPoolExecutor(1, "spare")
        self._beat_timer: asyncio.TimerHandle | None = None
        self._sync_timer: asyncio.TimerHandle | None = None
        self._syncing: bool = False
        self._overdue: bool = False  # what nobody waits for has not been synced for long enough
        self._preparing: bool = False
        self._quiet: asyncio.Future[None] | None = None

    # -- the tick

    def begin(self) -> bool:
        """To be called before any verb. False: the store is dead, and nothing may be asked of it."""
        if self.dead:
            return False
        now_us = self._clock.now_us()
        if not self.open:
            self.open = True
            self.ticks += 1
            self._call_soon(self._end)
            self._tell_time(now_us, begins=True)
        elif now_us - self._told_us >= _STALE_US:
            # What is read now may have been sent long after the tick began, or while the process stood still in it:
            # done at that moment, its delay or its lease would be over too soon.
            self._tell_time(now_us, begins=False)
        return not self.dead

    def heard(self, last_tick: i64) -> i64:
        """A guest has said something, and did so last in that tick. Gives the present one."""
        if last_tick == self.ticks:
            self._another_piece = True
        return self.ticks

    def _tell_time(self, now_us: i64, begins: bool) -> None:
        self.now_us = self._told_us = now_us
        try:
            if self._watch.noticed(now_us):
                self._store.woken()
            if begins:
                self._store.begin(now_us)
            else:
                self._store.move(now_us)
        except Exception as error:
            self.die(error)

    def wake(self, guest: Guest) -> None:
        """The guest has something to say at the end of the tick."""
        self._woken.append(guest)
        if not self.open:
            self.begin()

    def hold(self, guest: Guest) -> None:
        """The guest goes on with held-back input in the next tick."""
        self._held.append(guest)
        if not self.open:
            self.begin()

    def _end(self) -> None:
        if self.dead:
            return
        if self._waits_for_more():
            self._call_soon(self._end)
            return
        try:
            self._store.commit()
            self.open = False
            self._answer()
            self._arm()
            self._hand_out()
        except Exception as error:
            self.die(error)
            return
        if self._held:
            self._go_on()
            return
        if self._quiet is not None and not self.busy():
            self._tell_quiet()
        # Whoever waits for the disk is woken from that anyway, and the later for having looked before.
        if not self.looking and not self._store.waited() and self._alert.begins(self._clock.now_us()):
            self.looking = True
            self._call_soon(self._look)

    def _waits_for_more(self) -> bool:
        """Where a client sends piece by piece, more of them are answered at once: each answer disturbs its sending."""
        if self._gathers:
            self._gathers = self._gathering.goes_on(self._clock.now_us(), self._another_piece)
        else:
            self._gathers = self._gathering.begins(self._told_us)
        self._another_piece = False
        return self._gathers

    def _look(self) -> None:
        """While this is called again and again, the loop does not sleep."""
        self.looking = False
        if self.open:
            self._alert.rewarded()
        elif not self.dead and self._alert.goes_on(self._clock.now_us()):
            self.looking = True
            self._call_soon(self._look)

    def _tell_quiet(self) -> None:
        quiet, self._quiet = self._quiet, None
        if quiet is not None and not quiet.done():
            quiet.set_result(None)

    def _answer(self) -> None:
        woken = self._woken
        self._woken = []
        for guest in woken:
            guest.flush()

    def _go_on(self) -> None:
        held = self._held
        self._held = []
        if self.begin():
            for guest in held:
                guest.resume()

    def _survives(self, step: Callable[[], None]) -> bool:
        try:
            step()
        except Exception as error:
            self.die(error)
        return not self.dead

    def die(self, error: BaseException) -> None:
        """Not one answer more: what was not answered was not promised."""
        if not self.dead:
            self.dead = True
            self._on_death(error)
            self._tell_quiet()

    # -- time

    def start(self) -> None:
        self._beat()
        self.begin()

    def on_beat(self, call: Callable[[int], None]) -> None:
        """`call` is told the time at every beat, twice a second."""
        self._beats.append(call)

    def _beat(self) -> None:
        if self.dead:
            return
        now_us = self._clock.now_us()
        self.now_us = now_us
        if self._watch.late(now_us):
            self._loop.call_soon(self.begin)  # a tick may be open that began before the pause
        else:
            self._watch.beat(now_us)
        try:
            for call in self._beats:
                call(now_us)
            self._look_ahead()
        except Exception as error:
            self.die(error)
            return
        self._beat_timer = self._loop.call_later(int(HEARTBEAT_US) / int(SECOND_US), self._beat)

    def _arm(self) -> None:
        """One timer. One that fires too early only makes an empty tick, so it is not moved back."""
        due_us = self._store.next_due_us()
        if due_us >= self._timer_us:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_us = due_us
        wait_us = min(max(due_us - self._clock.now_us(), 0), _TIMER_MAX_US)
        # The loop's timers have whole milliseconds: rounded down, the last before a due time would be spent spinning.
        self._timer = self._loop.call_later(-(-wait_us // MILLISECOND_US) / 1_000, self._due)

    def _due(self) -> None:
        self._timer = None
        self._timer_us = NEVER_US
        self.begin()

    # -- threads

    def busy(self) -> bool:
        return not self.dead and (self.open or self._syncing or self._store.wants_sync())

    async def quiet(self) -> None:
        """Returns once every answer that waited for the journal has been given."""
        while self.busy():
            if self._quiet is None or self._quiet.done():
                self._quiet = self._loop.create_future()
            await self._quiet

    def _hand_out(self) -> None:
        store = self._store
        overdue, self._overdue = self._overdue, False
        if not self._syncing and (store.wants_sync() or (overdue and store.unsynced())):
            self._sync()
        elif self._sync_timer is None and store.unsynced():
            self._sync_timer = self._loop.call_later(self._sync_interval_us / SECOND_US, self._sync_unasked)
        self._look_ahead()

    def _look_ahead(self) -> None:
        """With every tick and beat: room for what is to be prepared may come while nobody asks for anything."""
        if not self._preparing and self._store.wants_spare():
            self._prepare()

    def _sync_unasked(self) -> None:
        """Not within a tick: the sync would cover its answers, and not its facts, which are yet to be written."""
        self._sync_timer = None
        self._overdue = True
        if not self.dead and not self.open:
            self._survives(self._hand_out)

    def _sync(self) -> None:
        """Its answers go out in the tick in which it is done."""
        run = self._store.start_sync()
        self._syncing = True
        self._loop.run_in_executor(self._sync_thread, run).add_done_callback(self._synced)

    def _synced(self, done: asyncio.Future[None]) -> None:
        self._syncing = False
        if self.begin() and self._survives(done.result):
            self._survives(self._store.finish_sync)

    def _prepare(self) -> None:
        self._preparing = True
        self._loop.run_in_executor(self._spare_thread, self._store.prepare_spare).add_done_callback(self._prepared)

    def _prepared(self, done: asyncio.Future[None]) -> None:
        self._preparing = False
        self._survives(done.result)

    def close(self, wait: bool) -> None:
        """Nothing begins any more; `wait` for what the threads are at."""
        self.dead = True
        for timer in (self._timer, self._sync_timer, self._beat_timer):
            if timer is not None:
                timer.cancel()
        self._sync_thread.shutdown(wait)
        self._spare_thread.shutdown(wait)
