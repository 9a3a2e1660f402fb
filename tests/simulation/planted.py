"""Bugs to be planted for the simulation to notice: those of tests/engine/planted.py that show in what clients are told,
in facts or after a crash, and some of rooms that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.broker.outbox import Outbox
from penstock.codecs import glovebox
from penstock.codecs.ids import Ids
from penstock.codecs.snapshots import Rows
from penstock.engine.batches import BatchVerbs
from penstock.engine.snapshots import blocks_of
from penstock.engine.state import State
from penstock.history import folding
from penstock.model import codes, stages
from penstock.model.contract import EXTEND, RELEASE, Call
from penstock.model.message import Lease, Message
from penstock.server.clock import PauseWatch
from penstock.server.tick import Heart
from tests.engine import planted
from tests.engine.planted import Bug

_answer, _given, _batch = Outbox.answer, glovebox._given, BatchVerbs.batch


def _sync_within_a_tick(self: Heart) -> None:
    self._sync_timer = None
    if not self.dead and not self._syncing and self._store.unsynced():
        self._survives(self._sync)


def _finish_told_when_written(self: Outbox, session: Any, token: int, stage: int, *rest: Any) -> None:
    _, message, number = rest
    finish = message is None and number != 0
    _answer(self, session, token, min(stage, stages.WRITE) if finish else stage, *rest)


def _blocks_without_a_message(state: State) -> Iterator[Rows]:
    """The first that lives is forgotten."""
    first: Message | None = next(iter(state.messages.values()), None)
    if first is not None:
        state.messages.remove(first)
    return blocks_of(state)


def _given_as_it_is_by_now(lease: Lease, ids: Ids) -> bytes:
    return _given(Lease(lease.message), ids)


def _gone_told_at_once(self: Outbox, session: Any, token: int, stage: int, code: int, *rest: Any) -> None:
    _answer(self, session, token, stages.READY if code == codes.NO_MESSAGE else stage, code, *rest)


def _moves_told_when_written(self: BatchVerbs, session: Any, token: int, calls: list[Call], stage: int) -> None:
    moves = all(call.verb in (RELEASE, EXTEND) for call in calls)
    _batch(self, session, token, calls, min(stage, stages.WRITE) if moves else stage)


def _never_late(self: PauseWatch, now_us: int) -> bool:
    return False


OURS = (
    Bug("a sync that is due within a tick covers it", ((Heart, "_sync_unasked", _sync_within_a_tick),)),
    Bug("a finish is told before its sync", ((Outbox, "answer", _finish_told_when_written),)),
    Bug("a snapshot forgets a message", ((folding, "blocks_of", _blocks_without_a_message),)),
    Bug("a list tells of messages as they are by now", ((glovebox, "_given", _given_as_it_is_by_now),)),
    Bug("a list of moves is told before its sync", ((BatchVerbs, "batch", _moves_told_when_written),)),
    Bug("a message is told to be gone before that is safe", ((Outbox, "answer", _gone_told_at_once),)),
    Bug("nobody notices that the process stood still", ((PauseWatch, "late", _never_late),)),
)
THEIRS = (
    "an answer for `sync` is given after the write",
    "answers are given before the write",
    "a sync does nothing",
    "a lease is a second short",
    "a delay is a second short",
    "nobody is served when a delay is over",
    "no grace is granted",
    "the engine asks to be asked too late",
    "dedup ids are forgotten at a restart",
    "a finish is not recorded",
    "numbers are given out again after a crash",
    "replay ignores a kind of fact",
    "replay loses the holder",
    "replay loses the old place",
    "grace is counted from before the pause",
    "a plain release counts as a failure",
    "a stale finish is accepted in a batch",
    "a parked message is chosen",
    "newest is oldest",
    "lower priority comes first",
    "parked key mates are left behind",
    "the old place is lost",
    "a stale finish is accepted",
    "a dead letter is lost",
    "a sleeper is woken again and again",
    "a wake-up is lost",
)
BUGS = (*OURS, *[bug for bug in planted.BUGS if bug.name in THEIRS])
