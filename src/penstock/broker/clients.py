"""Who bears which name: the sessions that are told notices, and those kept for clients who may come back.

Nothing here is written down. After a restart the name of a durable client has no session; a mailbox takes its place.
"""

from __future__ import annotations

from collections import deque

from mypy_extensions import i64

from penstock.model.contract import Session
from penstock.model.limits import ABSENT_MAX, KEPT_MAX


class Mailbox(Session):
    """Keeps the notices for a name that nobody bears, the newest of them; once somebody does, it passes them on."""

    def __init__(self) -> None:
        super().__init__(0)
        self.durable = True
        self._kept: deque[tuple[int, int]] = deque()  # stage, label
        self._heir: Session | None = None
        self._dropped: int = 0

    def told(self, stage: i64, label: int) -> None:
        if self._heir is not None:
            self._heir.told(stage, label)
            return
        self._kept.append((stage, label))
        if len(self._kept) > KEPT_MAX:
            self._kept.popleft()
            self._dropped += 1

    def dropped(self) -> int:
        return self._dropped

    def pass_on(self, heir: Session) -> None:
        self._heir = heir
        for stage, label in self._kept:
            heir.told(stage, label)


class Clients:
    """Law: a name is borne by one session at most."""

    def __init__(self) -> None:
        self._present: dict[int, Session] = {}
        self._absent: dict[int, Session] = {}  # those who went first stand first
        self._forgotten: int = 0
        self._dropped: int = 0  # by those that are neither present nor absent any more

    def counts(self) -> dict[str, int]:
        """Of names, and of what could not be kept for them."""
        known = [*self._present.values(), *self._absent.values()]
        return {
            "present": len(self._present),
            "absent": len(self._absent),
            "forgotten": self._forgotten,
            "dropped": self._dropped + sum([session.dropped() for session in known]),
        }

    def whom(self, client_id: int) -> Session | None:
        """Whom to tell what is for this name. A durable one, by its last bit, is never told in vain."""
        session = self._present.get(client_id)
        if session is None:
            session = self._absent.get(client_id)
            if session is None and client_id & 1:
                session = Mailbox()
                self._keep(client_id, session)
        return session

    def is_present(self, client_id: int) -> bool:
        return client_id in self._present

    def enter(self, session: Session) -> None:
        client_id = int(session.client_id)
        self._present[client_id] = session
        old = self._absent.pop(client_id, None)
        if old is None:
            return
        session.durable = True
        if isinstance(old, Mailbox):
            self._dropped += old.dropped()
            old.pass_on(session)
        else:
            session.inherit(old)

    def leave(self, session: Session) -> None:
        client_id = int(session.client_id)
        if self._present.get(client_id) is session:
            del self._present[client_id]
            if session.durable:
                self._keep(client_id, session)

    def _keep(self, client_id: int, session: Session) -> None:
        self._absent[client_id] = session
        if len(self._absent) > ABSENT_MAX:
            first = next(iter(self._absent))
            self._dropped += self._absent.pop(first).dropped()
            self._forgotten += 1
