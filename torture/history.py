"""What clients asked and were told, and what must follow from it whatever happened to the server.

Times are the client's own monotonic clock. A request that was sent may have taken effect; one that was answered has.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CLOCK_SLACK_S = 0.002  # the server's time has microseconds, its clock starts from another source


@dataclass
class Life:
    """One message, as its clients know it."""

    body: bytes
    due_s: float  # not to be seen before
    id: bytes = b""
    published: bool = False  # told so
    finish_sent: bool = False
    finished: bool = False  # told so
    held_until_s: float = 0.0  # nobody else may have it before
    deliveries: int = 0


@dataclass
class History:
    """All lives, and every law that was broken."""

    lease_s: float
    lives: dict[bytes, Life] = field(default_factory=dict)
    by_id: dict[bytes, Life] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    answers: int = 0
    posts: int = 0  # told to be written, by posters

    # -- what was asked

    def publishing(self, body: bytes, delay_s: float, now_s: float) -> Life:
        life = self.lives[body] = Life(body, now_s + delay_s)
        return life

    def finishing(self, life: Life) -> None:
        life.finish_sent = True

    def releasing(self, life: Life, delay_s: float, now_s: float) -> None:
        life.held_until_s = 0.0
        life.due_s = now_s + delay_s

    # -- what was told

    def published(self, life: Life, id: bytes) -> None:
        self.answers += 1
        known = self.by_id.get(id)
        if known is not None and known is not life:
            self.broken.append(f"id {id!r} given to {known.body!r} and to {life.body!r}")
        if life.id and life.id != id:
            self.broken.append(f"{life.body!r} has two ids: {life.id!r}, {id!r}")
        life.published = True
        life.id = id
        self.by_id[id] = life

    def posted(self, life: Life) -> None:
        """Told that it is written, and not by which id it will go."""
        self.answers += 1
        self.posts += not life.published
        life.published = True

    def delivered(self, id: bytes, body: bytes, sent_s: float, now_s: float) -> Life | None:
        """A reserve, sent at `sent_s`, was answered with this message."""
        self.answers += 1
        life = self.lives.get(body)
        if life is None:
            self.broken.append(f"a body nobody published: {body[:60]!r}")
            return None
        if life.id and life.id != id:
            self.broken.append(f"{body!r} delivered as {id!r}, published as {life.id!r}")
        life.id = id
        self.by_id.setdefault(id, life)
        if life.finished:
            self.broken.append(f"resurrected: {body!r} was finished")
        if now_s < life.due_s - CLOCK_SLACK_S:
            self.broken.append(f"early: {body!r} by {life.due_s - now_s:.4f} s")
        if now_s < life.held_until_s - CLOCK_SLACK_S:
            self.broken.append(f"twice at once: {body!r}, {life.held_until_s - now_s:.3f} s before its lease ended")
        life.deliveries += 1
        life.held_until_s = sent_s + self.lease_s
        return life

    def finished(self, life: Life) -> None:
        self.answers += 1
        life.finished = True

    def finish_refused(self, life: Life, now_s: float) -> None:
        """Told `unknown`: legal only once the lease may have ended, or an earlier finish may have counted."""
        self.answers += 1
        if now_s < life.held_until_s - CLOCK_SLACK_S and not life.finished:
            self.broken.append(f"a held message was unknown: {life.body!r}")

    # -- the end

    def outstanding(self) -> list[Life]:
        """Told published, and nobody ever asked to finish it: these must still be there."""
        return [life for life in self.lives.values() if life.published and not life.finish_sent]

    def drained(self, seen: set[bytes]) -> None:
        """Everything that was left has been delivered and finished; `seen` are their bodies."""
        lost = [life for life in self.outstanding() if life.body not in seen]
        self.broken += [f"lost: {life.body!r}" for life in lost]
