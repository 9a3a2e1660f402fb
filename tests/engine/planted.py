"""Bugs to be planted in the real engine and broker, each in one or two methods, to see whether the tests notice.

Every one is a mistake somebody could make. What has to notice it is a World with nothing but chance to go by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.broker.embedded import Embedded
from penstock.broker.outbox import Outbox, say
from penstock.codecs.facts import Fact, FactBatch, decode_origin
from penstock.engine import batches, messages, replay
from penstock.engine.agenda import Agenda
from penstock.engine.endings import Endings
from penstock.engine.engine import Engine
from penstock.engine.marks import Marks
from penstock.engine.queue import Queue
from penstock.engine.ranked import Ranked
from penstock.engine.replay import Silence
from penstock.engine.state import State
from penstock.engine.waiting import Line, Waiting
from penstock.journal.journal import SyncTicket
from penstock.model import facts, stages
from penstock.model.limits import NEVER_US, SECOND_US
from penstock.model.message import DELAY_OVER, LEASED, Message, Origin


class Bug(NamedTuple):
    """Patches are (owner, name, what stands there instead)."""

    name: str
    patches: tuple[tuple[Any, str, Callable[..., Any]], ...]
    needs_disk: bool = False


# The methods as they are, for those that wrap them.
_leased, _settle = State.leased, State._settle
_replay, _advance, _release = Engine.replay, Engine.advance, Endings.release
_moved, _put_in = FactBatch.moved, Queue.put_in
_answer, _remember, _publish_dead = Outbox.answer, State._remember, Endings._publish_dead
_next_due, _rouse, _due = Agenda.next_due, Waiting.rouse, Engine._due
_passed = Marks.passed


# -- promises


def _answer_synced_when_written(self: Outbox, session: Any, token: int, stage: int, *rest: Any) -> None:
    _answer(self, session, token, min(stage, stages.WRITE), *rest)


def _say_before_writing(self: Embedded) -> None:
    self._outbox.say_written()
    self._write()
    self.journal.sync()
    say(self._outbox.take_synced())


def _sync_nothing(self: SyncTicket) -> None:
    self._done = True


# -- leases and time


def _leased_a_second_short(
    self: State, message: Message, queue: Queue, dialect: int, holder: int, until_us: int, old_place: bool
) -> None:
    if self.now_us + SECOND_US < until_us < NEVER_US:
        until_us -= SECOND_US
    _leased(self, message, queue, dialect, holder, until_us, old_place)


def _settle_a_second_early(self: State, message: Message, queue: Queue) -> None:
    if message.ready_us <= self.now_us + SECOND_US:
        self._ready(message, queue)
    else:
        _settle(self, message, queue)


def _due_whatever_has_expired(self: Engine, message: Message) -> None:
    queue = self._state.by_id[message.queue_id]
    if message.due_kind == DELAY_OVER:
        self._state.became_due(message, queue)
        self._hands.serve(queue)
    elif message.place == LEASED:
        self._endings.lease_over(message, queue)
    else:
        self._state.expired(message, queue)


def _due_unnoticed(self: Engine, message: Message) -> None:
    queue = self._state.by_id[message.queue_id]
    if message.due_kind != DELAY_OVER or message.expires_us <= self._state.now_us:
        _due(self, message)
    else:
        self._state.became_due(message, queue)


def _woken_before_the_time_has_moved(self: Engine, now_us: int) -> None:
    self._state.woken()


def _next_due_late(self: Agenda) -> int:
    due_us = _next_due(self)
    return due_us if due_us >= NEVER_US else due_us + SECOND_US


def _no_grace(self: State) -> None:
    pass


# -- replay


def _replay_without_extended(self: Engine, fact: Fact) -> None:
    if fact.kind != facts.EXTENDED:
        _replay(self, fact)


def _replay_without_holder(self: Engine, fact: Fact) -> None:
    fact.holder = 0
    _replay(self, fact)


def _replay_without_back_place(self: Engine, fact: Fact) -> None:
    fact.flags &= ~facts.OLD_PLACE_FLAG
    _replay(self, fact)


def _origin_without_its_past(extra: bytes) -> Origin | None:
    origin = decode_origin(extra)
    if origin is not None:
        origin.deliveries = origin.first_leased_us = 0
    return origin


def _remember_only_while_running(self: State, queue: Queue, dedup_id: bytes, message: Message) -> None:
    if not isinstance(self.record, Silence):
        _remember(self, queue, dedup_id, message)


def _origin_without_its_mark(extra: bytes) -> Origin | None:
    origin = decode_origin(extra)
    if origin is not None:
        origin.mark, origin.row = b"", 0
    return origin


def _mark_that_may_be_met_twice(self: Marks, origin: Origin) -> bool:
    return 0 < origin.row < self.row(origin.mark)


def _mark_set_when_asked(self: Marks, origin: Origin) -> bool:
    passed = _passed(self, origin)
    if origin.mark and not passed:
        self.move(origin.mark, origin.row)
    return passed


def _finish_unrecorded(self: FactBatch, kind: int, message: Message, dialect: int, reason: int, *rest: Any) -> None:
    if reason != facts.ACKNOWLEDGED:
        _moved(self, kind, message, dialect, reason, *rest)


def _same_numbers_again(self: State) -> int:
    return self.next_seq


# -- order and choice


def _put_in_parked_as_ready(self: Queue, message: Message) -> None:
    if message.parked:
        self.ready.add(message)
    _put_in(self, message)


def _oldest_for_newest(self: Ranked) -> Message | None:
    return self.first()


def _lower_priority_first(self: Ranked, one: Message, other: Message) -> bool:
    if one.priority != other.priority:
        return one.priority < other.priority
    return (one.ready_us, one.order) < (other.ready_us, other.order)


_MATE = Queue.mate


def _mates_without_parked(self: Queue, key: bytes) -> Message | None:
    mate = _MATE(self, key)
    return None if mate is None or mate.parked else mate


def _tail_for_old_place(self: Endings, *arguments: Any) -> int:
    return self._state.now_us


# -- endings


def _release_as_failure(self: Endings, message: Message, queue: Queue, dialect: int, delay_us: int, _: bool) -> None:
    _release(self, message, queue, dialect, delay_us, True)


def _anyone_may(message: Message, rule: int, holder: int) -> bool:
    return True


_dead: list[tuple[Endings, Message, Queue]] = []


def forget() -> None:
    """What a bug planted before has left."""
    _dead.clear()


def _dead_letter_later(self: Endings, message: Message, queue: Queue) -> None:
    _dead.append((self, message, queue))


def _advance_with_dead_letters(self: Engine, now_us: int) -> None:
    _advance(self, now_us)
    while _dead:
        _publish_dead(*_dead.pop())


def _no_dead_letter(self: Endings, message: Message, queue: Queue) -> None:
    pass


def _admit_anything(*arguments: Any) -> int:
    return 0


# -- waiting


def _last_comes_first(self: Line) -> Any:
    return next(reversed(self.in_order()), None)


def _rouse_for_ever(self: Waiting, line: Line) -> list[Any]:
    return list(line.sleepers.items())


def _rouse_all_but_one(self: Waiting, line: Line) -> list[Any]:
    return _rouse(self, line)[:-1]


def _available_though_paused(self: Queue) -> bool:
    return self.ready.count != 0 or self.wide.count != 0


BUGS = (
    Bug("an answer for `sync` is given after the write", ((Outbox, "answer", _answer_synced_when_written),), True),
    Bug("answers are given before the write", ((Embedded, "commit", _say_before_writing),), True),
    Bug("a sync does nothing", ((SyncTicket, "run", _sync_nothing),), True),
    Bug("a lease is a second short", ((State, "leased", _leased_a_second_short),)),
    Bug("a delay is a second short", ((State, "_settle", _settle_a_second_early),)),
    Bug("an expired message is delivered after a jump in time", ((Engine, "_due", _due_whatever_has_expired),)),
    Bug("nobody is served when a delay is over", ((Engine, "_due", _due_unnoticed),)),
    Bug("grace is counted from before the pause", ((Engine, "woken", _woken_before_the_time_has_moved),)),
    Bug("no grace is granted", ((State, "_grant_grace", _no_grace),)),
    Bug("the engine asks to be asked too late", ((Agenda, "next_due", _next_due_late),)),
    Bug("replay ignores a kind of fact", ((Engine, "replay", _replay_without_extended),)),
    Bug("replay loses the holder", ((Engine, "replay", _replay_without_holder),)),
    Bug("replay loses the old place", ((Engine, "replay", _replay_without_back_place),)),
    Bug("a message's past is forgotten at a restart", ((replay, "decode_origin", _origin_without_its_past),)),
    Bug("dedup ids are forgotten at a restart", ((State, "_remember", _remember_only_while_running),)),
    Bug("marks are forgotten at a restart", ((replay, "decode_origin", _origin_without_its_mark),)),
    Bug("a row is published twice", ((Marks, "passed", _mark_that_may_be_met_twice),)),
    Bug("a refused publish moves its mark", ((Marks, "passed", _mark_set_when_asked),)),
    Bug("a finish is not recorded", ((FactBatch, "moved", _finish_unrecorded),)),
    Bug("numbers are given out again after a crash", ((State, "first_seq_after_start", _same_numbers_again),)),
    Bug("a parked message is chosen", ((Queue, "put_in", _put_in_parked_as_ready),)),
    Bug("newest is oldest", ((Ranked, "newest", _oldest_for_newest),)),
    Bug("lower priority comes first", ((Ranked, "before", _lower_priority_first),)),
    Bug("parked key mates are left behind", ((Queue, "mate", _mates_without_parked),)),
    Bug("the old place is lost", ((Endings, "_retry_at", _tail_for_old_place),)),
    Bug("a plain release counts as a failure", ((Endings, "release", _release_as_failure),)),
    Bug("a stale finish is accepted", ((messages, "may_end", _anyone_may),)),
    Bug("a stale finish is accepted in a batch", ((batches, "may_end", _anyone_may),)),
    Bug("a dead letter comes a commit later", (
        (Endings, "_publish_dead", _dead_letter_later), (Engine, "advance", _advance_with_dead_letters),
    )),
    Bug("a dead letter is lost", ((Endings, "_publish_dead", _no_dead_letter),)),
    Bug("a batch is admitted by its parts", ((batches, "admit", _admit_anything),)),
    Bug("the last who waits is served first", ((Line, "first", _last_comes_first),)),
    Bug("a sleeper is woken again and again", ((Waiting, "rouse", _rouse_for_ever),)),
    Bug("a wake-up is lost", ((Waiting, "rouse", _rouse_all_but_one),)),
    Bug("a paused queue wakes sleepers", ((Queue, "available", _available_though_paused),)),
)  # fmt: skip
