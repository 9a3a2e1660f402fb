"""Who waits for messages, and in which order they came. Kept by queue name, also for queues that are not there yet,
and never journalled: waiting ends with the connection. It hands out nothing itself."""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from typing import Final

from mypy_extensions import i64

from penstock.model.contract import Session
from penstock.model.limits import CREDITS_MAX, SUBSCRIPTIONS_MAX
from penstock.model.message import Due
from penstock.model.options import Reserving, Taking

TRIM_SLACK: Final = 64


class Waiter(Due):
    """A reserve or take that found nothing. Its `order` is its turn; 0 once it is served or gone."""

    __slots__ = ("line", "reserving", "session", "stage", "taking", "token", "turn")

    def __init__(self, turn: i64, session: Session, token: i64, stage: i64, line: Line) -> None:
        super().__init__(turn)
        self.turn: i64 = turn
        self.session: Session = session
        self.token: i64 = token
        self.stage: i64 = stage
        self.line: Line = line
        self.reserving: Reserving | None = None
        self.taking: Taking | None = None

    def wants_list(self) -> bool:
        if self.reserving is not None:
            return self.reserving.max > 0
        return self.taking is not None and self.taking.mates


class Subscriber:
    """A session with subscriptions and counted credits; its oldest credit is its turn."""

    __slots__ = ("credits", "lines", "session", "stage", "turn")

    def __init__(self, session: Session) -> None:
        self.session: Session = session
        self.stage: i64 = 0
        self.turn: i64 = 0  # of the oldest credit; 0: none left
        self.credits: deque[int] = deque()  # turns of the others
        self.lines: dict[bytes, Line] = {}

    def spend(self) -> None:
        self.turn = self.credits.popleft() if self.credits else 0


class Line:
    """Those who wait for one queue name."""

    __slots__ = ("_heap", "listeners", "name", "sleepers", "subscribers", "waiters")

    def __init__(self, name: bytes) -> None:
        self.name: bytes = name
        self.waiters: i64 = 0
        self.subscribers: dict[Session, Subscriber] = {}
        self.sleepers: dict[Session, int] = {}  # token of the wake-up
        self.listeners: dict[Session, None] = {}  # hear of every publish, in the order they came
        self._heap: list[tuple[int, int, Waiter | Subscriber]] = []  # turn, tie, who: lazily kept

    def empty(self) -> bool:
        return self.waiters == 0 and not self.subscribers and not self.sleepers and not self.listeners

    def waiting(self) -> int:
        return int(self.waiters) + sum(1 for one in self.subscribers.values() if one.turn)

    def join(self, one: Waiter | Subscriber) -> None:
        heappush(self._heap, (one.turn, id(one), one))
        if len(self._heap) > 2 * (int(self.waiters) + len(self.subscribers)) + TRIM_SLACK:
            self._trim()

    def first(self) -> Waiter | Subscriber | None:
        """The oldest who still waits."""
        heap = self._heap
        while heap:
            turn, _, one = heap[0]
            if one.turn == turn and self._has(one):
                return one
            heappop(heap)
        return None

    def in_order(self) -> list[Waiter | Subscriber]:
        return [one for turn, _, one in sorted(self._heap) if one.turn == turn and self._has(one)]

    def _has(self, one: Waiter | Subscriber) -> bool:
        return isinstance(one, Waiter) or self.subscribers.get(one.session) is one

    def _trim(self) -> None:
        valid = {entry[:2]: entry for entry in self._heap if entry[2].turn == entry[0] and self._has(entry[2])}
        self._heap = list(valid.values())
        heapify(self._heap)


class Presence:
    """All that one session waits for."""

    __slots__ = ("listening", "sleeping", "subscriber", "waiters")

    def __init__(self) -> None:
        self.waiters: dict[int, Waiter] = {}
        self.sleeping: dict[bytes, Line] = {}
        self.listening: dict[bytes, Line] = {}
        self.subscriber: Subscriber | None = None


class Waiting:
    """Every line, and every session in one."""

    def __init__(self) -> None:
        self.lines: dict[bytes, Line] = {}
        self._presences: dict[Session, Presence] = {}
        self._turns: i64 = 0

    def count(self) -> int:
        return sum(line.waiting() for line in self.lines.values())

    def enqueue(self, session: Session, token: i64, stage: i64, queue: bytes) -> Waiter:
        line = self._line(queue)
        waiter = Waiter(self._next_turn(), session, token, stage, line)
        line.waiters += 1
        line.join(waiter)
        self._presence(session).waiters[waiter.turn] = waiter
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Served, timed out or gone."""
        presence = self._presences[waiter.session]
        del presence.waiters[waiter.turn]
        waiter.turn = 0
        waiter.line.waiters -= 1
        self._tidy(waiter.line)
        self._tidy_presence(waiter.session, presence)

    def subscribe(self, session: Session, queue: bytes) -> bool:
        presence = self._presence(session)
        subscriber = presence.subscriber
        if subscriber is None:
            subscriber = presence.subscriber = Subscriber(session)
        if queue in subscriber.lines:
            return True
        if len(subscriber.lines) >= SUBSCRIPTIONS_MAX:
            return False
        line = subscriber.lines[queue] = self._line(queue)
        line.subscribers[session] = subscriber
        if subscriber.turn:
            line.join(subscriber)
        return True

    def unsubscribe(self, session: Session, queue: bytes) -> None:
        subscriber = self.subscriber(session)
        line = subscriber.lines.pop(queue, None) if subscriber is not None else None
        if line is not None:
            del line.subscribers[session]
            self._tidy(line)

    def subscriber(self, session: Session) -> Subscriber | None:
        presence = self._presences.get(session)
        return None if presence is None else presence.subscriber

    def credit(self, session: Session, stage: i64) -> Subscriber | None:
        """None: too many of them."""
        presence = self._presence(session)
        subscriber = presence.subscriber
        if subscriber is None:
            subscriber = presence.subscriber = Subscriber(session)
        subscriber.stage = stage
        turn = self._next_turn()
        if subscriber.turn:
            if len(subscriber.credits) + 1 >= CREDITS_MAX:
                return None
            subscriber.credits.append(turn)
        else:
            subscriber.turn = turn
            self.rejoin(subscriber)
        return subscriber

    def rejoin(self, subscriber: Subscriber) -> None:
        """Its turn is another now: stand in every line with it."""
        if subscriber.turn:
            for line in subscriber.lines.values():
                line.join(subscriber)

    def sleep(self, session: Session, token: i64, queue: bytes) -> None:
        """A second sleep of the same session on the same queue is the first one."""
        line = self._line(queue)
        if session not in line.sleepers:
            line.sleepers[session] = token
            self._presence(session).sleeping[queue] = line

    def rouse(self, line: Line) -> list[tuple[Session, int]]:
        """Everyone asleep in this line; nobody is, afterwards."""
        roused = list(line.sleepers.items())
        line.sleepers.clear()
        for session, _ in roused:
            presence = self._presences[session]
            del presence.sleeping[line.name]
            self._tidy_presence(session, presence)
        self._tidy(line)
        return roused

    def listen(self, session: Session, queue: bytes) -> bool:
        presence = self._presence(session)
        if len(presence.listening) >= SUBSCRIPTIONS_MAX and queue not in presence.listening:
            return False
        line = presence.listening[queue] = self._line(queue)
        line.listeners[session] = None
        return True

    def unlisten(self, session: Session, queue: bytes) -> None:
        presence = self._presences.get(session)
        line = presence.listening.pop(queue, None) if presence is not None else None
        if presence is not None and line is not None:
            del line.listeners[session]
            self._tidy(line)
            self._tidy_presence(session, presence)

    def depart(self, session: Session) -> list[Waiter]:
        """The session is gone; its waiters, for the agenda to forget."""
        presence = self._presences.pop(session, None)
        if presence is None:
            return []
        waiters = list(presence.waiters.values())
        for waiter in waiters:
            waiter.turn = 0
            waiter.line.waiters -= 1
            self._tidy(waiter.line)
        for line in presence.sleeping.values():
            del line.sleepers[session]
            self._tidy(line)
        for line in presence.listening.values():
            del line.listeners[session]
            self._tidy(line)
        if presence.subscriber is not None:
            presence.subscriber.turn = 0
            for line in presence.subscriber.lines.values():
                del line.subscribers[session]
                self._tidy(line)
        return waiters

    def _next_turn(self) -> i64:
        self._turns += 1
        return self._turns

    def _line(self, queue: bytes) -> Line:
        line = self.lines.get(queue)
        if line is None:
            line = self.lines[queue] = Line(queue)
        return line

    def _presence(self, session: Session) -> Presence:
        presence = self._presences.get(session)
        if presence is None:
            presence = self._presences[session] = Presence()
        return presence

    def _tidy(self, line: Line) -> None:
        if line.empty():
            self.lines.pop(line.name, None)

    def _tidy_presence(self, session: Session, presence: Presence) -> None:
        if presence.waiters or presence.sleeping or presence.listening or presence.subscriber is not None:
            return
        self._presences.pop(session, None)
