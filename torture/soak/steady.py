"""Crowds that come and go at a steady rate for as long as one likes: what has ended is forgotten, and what is left over
is worked off, so that neither the server nor those who ask have more to keep than a minute ago."""

from __future__ import annotations

import random
import selectors
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from torture.crowd.clients import Client, Driven
from torture.crowd.fetchers import Fetcher
from torture.crowd.history import History, Life
from torture.crowd.mix import crowd
from torture.crowd.pushers import Subscriber

CROWDS = 2  # at once
CUT = (Client, Fetcher)  # may be cut off with answers under way: nobody of them takes for good
CUT_SHARE = 0.25
SWEEP_S = 0.1
SWEEP_MAX = 200
FORGET_S = 1.0
SHORTEST_S = 1.0  # of all leases
GONE_S = 10.0  # after that nobody who asked before is still to be answered
LATE_S = 1.0  # further behind, the rate is not made up for
QUIET_S = 10.0


@dataclass(frozen=True)
class Pace:
    """How much there is to do, and how long anything lasts."""

    turns: float = 100.0  # a second; in each, one client sends up to a batch
    backlog: int = 5_000  # messages that live, about
    lease_s: float = 60.0
    stay_s: float = 25.0  # of a crowd: shorter than a lease, so that only what was left behind runs out


class Passing(History):
    """Of what has ended it forgets. Should any of that come back after all, then nobody has published it, and that is a
    law broken, too."""

    def delivered(self, id: bytes, body: bytes, sent_s: float, now_s: float) -> Life | None:
        """An answer that took longer than a lease may be older than one that was heard before it."""
        life = self.lives.get(body)
        if life is not None and life.told_s and life.told_s[-1] > sent_s + SHORTEST_S:
            life.held_until_s = 0.0
        return super().delivered(id, body, sent_s, now_s)

    def finished(self, life: Life) -> None:
        """A lease that has run out may still be finished, beside one who was given the message meanwhile: only what is
        asked for from now on cannot be answered with it any more."""
        self.answers += 1
        life.gone_s = min(life.gone_s, time.monotonic())

    def forget(self, now_s: float, after_s: float) -> None:
        """`after_s` the last that was heard of it, whatever lives has come back."""
        for life in [life for life in self.lives.values() if self._is_over(life, now_s, after_s)]:
            del self.lives[life.body]
            for dialect, id in life.ids.items():
                self.by_id.pop(b"%s %s" % (dialect.encode(), id), None)

    def _is_over(self, life: Life, now_s: float, after_s: float) -> bool:
        if now_s > life.gone_s + GONE_S:
            return True
        last_s = max(life.due_s, life.held_until_s, *life.told_s[-1:])
        in_doubt = life.finish_sent or not life.published or now_s > life.may_expire_s
        return in_doubt and now_s > last_s + after_s


class Sweeper(Client):
    """Works off what is above the backlog."""

    def sweep(self, count: int) -> None:
        """What it holds is finished first."""
        now_s = time.monotonic()
        lives = [life for _ in range(len(self.held)) if (life := self.done()) is not None]
        requests = [self._finish(life) for life in lives] or [self._reserve(now_s) for _ in range(count)]
        if requests:
            self.send(b"".join(requests))


class Steady:
    """One thread drives them all."""

    def __init__(self, ports: Mapping[str, int], history: Passing, chance: random.Random, pace: Pace) -> None:
        self.turns = 0
        self.crowds = 0
        self._ports = ports
        self.history = history
        self._chance = chance
        self._pace = pace
        self._selector = selectors.DefaultSelector()
        self._present: deque[list[Driven]] = deque()
        self._leaving: set[Driven] = set()
        self._sweeper = Sweeper(ports["deferred"], history, "sweeper", chance)
        self._selector.register(self._sweeper.socket, selectors.EVENT_READ, self._sweeper)
        self._due_s = self._renew_s = self._sweep_s = self._forget_s = time.monotonic()

    def run(self, until_s: float) -> None:
        while (now_s := time.monotonic()) < until_s and not self.history.broken:
            self._keep_up(now_s)
            wake_s = min(self._due_s, self._sweep_s, until_s)
            for key, _ in self._selector.select(max(wake_s - time.monotonic(), 0)):
                self._hear(key.data)

    def end(self) -> None:
        """Nobody goes on; whoever has been answered goes."""
        for present in self._present:
            self._leaving.update(client for client in present if not client.closed)
        self._leaving.add(self._sweeper)
        deadline_s = time.monotonic() + QUIET_S
        while self._leaving and time.monotonic() < deadline_s:
            for client in [client for client in self._leaving if not client.waiting]:
                self._close(client)
            for key, _ in self._selector.select(SWEEP_S):
                self._hear(key.data)
        for client in [*self._leaving]:
            if not isinstance(client, Subscriber):
                self.history.broken.append(f"a {type(client).__name__} was never answered")
            self._close(client)
        self._selector.close()

    def _keep_up(self, now_s: float) -> None:
        if now_s >= self._renew_s:
            self._renew_s = now_s + self._pace.stay_s / CROWDS
            self._renew()
        if now_s >= self._sweep_s:
            self._sweep_s = now_s + SWEEP_S
            if not self._sweeper.waiting:
                self._sweeper.sweep(min(max(len(self.history.lives) - self._pace.backlog, 0), SWEEP_MAX))
        if now_s >= self._forget_s:
            self._forget_s = now_s + FORGET_S
            self.history.forget(now_s, 4 * self._pace.lease_s)
        self._take_turns(now_s)

    def _take_turns(self, now_s: float) -> None:
        self._due_s = max(self._due_s, now_s - LATE_S)
        clients = [client for present in self._present for client in present]
        while self._due_s <= now_s:
            self._due_s += self._chance.expovariate(self._pace.turns)
            client = self._chance.choice(clients)
            if not client.waiting and not client.closed:
                client.go_on()
                self.turns += 1

    # -- coming and going

    def _renew(self) -> None:
        self.crowds += 1
        arrived = crowd(self._ports, self.history, self._chance, f"crowd{self.crowds}")
        for client in arrived:
            self._selector.register(client.socket, selectors.EVENT_READ, client)
            client.go_on()
        self._present.append(arrived)
        if len(self._present) > CROWDS:
            self._leave(self._present.popleft())

    def _leave(self, clients: list[Driven]) -> None:
        for client in clients:
            if not client.waiting or (isinstance(client, CUT) and self._chance.random() < CUT_SHARE):
                self._close(client)
            else:
                self._leaving.add(client)

    def _hear(self, client: Driven) -> None:
        client.readable()
        if client.closed:
            self.history.broken.append(f"a {type(client).__name__} was closed by the server")
            self._close(client)
        elif client in self._leaving and not client.waiting:
            self._close(client)

    def _close(self, client: Driven) -> None:
        self._leaving.discard(client)
        self._selector.unregister(client.socket)
        client.socket.close()
        client.closed = True
