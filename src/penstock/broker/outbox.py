"""Hold the answers, not the state: what was decided is said once the journal has come as far as was asked.

Within a stage the order is the order of the deciding. A `prompt` session, whose words leave only after the tick's
commit, is told at once what that commit will cover. The outbox never decides, and after the journal has died it is
never asked again.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from penstock.broker.clients import Clients
from penstock.model import stages
from penstock.model.contract import Out, Session, owed_for
from penstock.model.message import Message


class Said:
    """Something other than the plain outcome of a call."""

    def say(self, session: Session, token: i64, code: i64) -> None:
        raise NotImplementedError


class Value(Said):
    def __init__(self, value: object) -> None:
        self._value = value

    def say(self, session: Session, token: i64, code: i64) -> None:
        session.answered_with(token, code, self._value)


class Push(Said):
    def __init__(self, queue: bytes, messages: list[Message]) -> None:
        self._queue = queue
        self._messages = messages

    def say(self, session: Session, token: i64, code: i64) -> None:
        session.pushed(self._queue, self._messages)


class Wake(Said):
    def say(self, session: Session, token: i64, code: i64) -> None:
        session.woken(token)


class Announcement(Said):
    """The token is the queue's length."""

    def __init__(self, queue: bytes) -> None:
        self._queue = queue

    def say(self, session: Session, token: i64, code: i64) -> None:
        session.heard(self._queue, token)


class Notice(Said):
    """The token is the stage, for a notice is no answer."""

    def __init__(self, label: int) -> None:
        self._label = label

    def say(self, session: Session, token: i64, code: i64) -> None:
        session.told(token, self._label)


# session, token, code, message, number; and what to say instead, if anything
Entry = tuple[Session, int, int, Message | None, int, Said | None]

_WAKE: Final = Wake()


class Outbox(Out):
    """Three lists: for what waits for nothing, for the write, for the sync."""

    def __init__(self, confirm: i64) -> None:
        self._confirm: i64 = confirm
        self._ready: list[Entry] = []
        self._written: list[Entry] = []
        self._synced: list[Entry] = []
        self._clients: Clients = Clients()
        self.reach: i64 = -1  # the stage that this tick's commit is sure to reach
        self.promised: i64 = stages.READY  # the stage that this tick's commit must reach for what was said already

    # -- what the engine says

    def answer(self, session: Session, token: i64, stage: i64, code: i64, message: Message | None, number: i64) -> None:
        if message is not None:
            session.owed += len(message.body)
        if session.prompt and stage <= self.reach:
            if stage > self.promised:
                self.promised = stage
            try:
                session.answered(token, code, message, number)
            except Exception as error:
                session.wire.fail(error)
            return
        self._list(stage).append((session, token, code, message, number, None))

    def answer_with(self, session: Session, token: i64, stage: i64, code: i64, value: object) -> None:
        session.owed += owed_for(value)
        if session.prompt and stage <= self.reach:
            if stage > self.promised:
                self.promised = stage
            try:
                session.answered_with(token, code, value)
            except Exception as error:
                session.wire.fail(error)
            return
        self._list(stage).append((session, token, code, None, 0, Value(value)))

    def push(self, session: Session, stage: i64, queue: bytes, messages: list[Message]) -> None:
        session.owed += owed_for(messages)
        self._later(session, 0, stage, 0, Push(queue, messages))

    def wake(self, session: Session, token: i64) -> None:
        self._later(session, token, self._confirm, 0, _WAKE)

    def announce(self, session: Session, queue: bytes, length: i64) -> None:
        self._later(session, length, self._confirm, 0, Announcement(queue))

    def notice(self, client_id: int, stage: i64, label: int, after: i64) -> None:
        """Stages of durability come when they are reached, turns of a life when they are confirmed, and not before."""
        session = self._clients.whom(client_id)
        if session is None:
            return
        if stage > stages.SYNC and after < self._confirm:
            after = self._confirm
        if session.prompt and after <= self.reach:
            if after > self.promised:
                self.promised = after
            try:
                session.told(stage, label)
            except Exception as error:
                session.wire.fail(error)
            return
        self._list(after).append((session, stage, 0, None, 0, Notice(label)))

    def _later(self, session: Session, token: i64, stage: i64, code: i64, said: Said) -> None:
        entry: Entry = (session, token, code, None, 0, said)
        if session.prompt and stage <= self.reach:
            self.promised = max(self.promised, stage)
            say([entry])
        else:
            self._list(stage).append(entry)

    # -- who is told notices

    def client_counts(self) -> dict[str, int]:
        return self._clients.counts()

    def is_present(self, client_id: int) -> bool:
        return self._clients.is_present(client_id)

    def enter(self, session: Session) -> None:
        self._clients.enter(session)

    def leave(self, session: Session) -> None:
        self._clients.leave(session)

    # -- when it is said

    def waits_for_sync(self) -> bool:
        return bool(self._synced)

    def waits_for_write(self) -> bool:
        """Something is said, or was said already, that must have been written by then."""
        return self.promised >= stages.WRITE or bool(self._written) or bool(self._synced)

    def say_written(self) -> None:
        """The journal has written all there is: everything but what waits for a sync."""
        ready, self._ready = self._ready, []
        written, self._written = self._written, []
        say(ready)
        say(written)

    def take_synced(self) -> list[Entry]:
        """What the sync that begins now will cover."""
        entries, self._synced = self._synced, []
        return entries

    def _list(self, stage: i64) -> list[Entry]:
        if stage == stages.SYNC:
            return self._synced
        return self._written if stage == stages.WRITE else self._ready


def say(entries: list[Entry]) -> None:
    """A session that fails over what it is told fails alone: the others are told all the same."""
    for session, token, code, message, number, said in entries:
        try:
            if said is None:
                session.answered(token, code, message, number)
            else:
                said.say(session, token, code)
        except Exception as error:
            session.wire.fail(error)
