"""Publishing and going to sleep at the same time, in every order there is: no wake-up is lost, and none comes twice.

Workers do what etzel's own client does: SUB and FET at first, ISLP on `nomsg`, FET on `awk`, ACK and FET on `msg`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.dialects.etzel import EtzelSession
from penstock.engine.rules import PolicyBook
from penstock.model.options import Publishing, Taking
from tests.broker.client import Client
from tests.broker.desks import Desk, EagerDesk, EngineDesk, LateDesk
from tests.dialects.fuzz_etzel import asked
from tests.dialects.runner import Connection, FakeContext
from tests.dialects.websocket_model import OPENING, WELCOME, frames

QUEUE = "q"
SECOND_US = 1_000_000
LONG_S = 10  # longer than any delay
PLAIN = Publishing()
TAKING = Taking()


class Worker:
    """One connection. What it was told lies there until it reacts to it."""

    def __init__(self, session: EtzelSession) -> None:
        self.connection = Connection(session)
        self.asleep = False
        self.fetched: list[bytes] = []
        self._unread = b""
        session.received(OPENING)
        self.send(cmd="SUB")
        self.send(cmd="FET")

    def send(self, **members: object) -> None:
        self.connection.session.received(asked(qname=QUEUE, **members))

    def react(self) -> bool:
        """To the next thing it was told; False: there is none."""
        self._unread += self.connection.heard.removeprefix(WELCOME)
        self.connection.heard = b""
        if not self._unread:
            return False
        _, payload = frames(self._unread)[0]
        self._unread = self._unread[2 + len(payload) :]
        self._heed(json.loads(payload))
        return True

    def _heed(self, said: dict[str, str]) -> None:
        if said["cmd"] == "msg":
            self.fetched.append(said["msg"].encode())
            self.send(cmd="ACK", uid=said["uid"])
            self.send(cmd="FET")
        elif said["cmd"] == "nomsg":
            self.send(cmd="ISLP")
        elif said["cmd"] == "okslp":
            assert not self.asleep, "it sleeps again, and its last sleep was never ended"
            self.asleep = True
        elif said["cmd"] == "awk":
            assert self.asleep, "woken out of no sleep"
            self.asleep = False
            self.send(cmd="FET")
        else:
            assert said["cmd"] in ("ok", "oksub", "okack"), said


class Race:
    """Workers, and somebody else who publishes, and takes messages away from under their hands. Nobody waits."""

    def __init__(self, workers: int, late: int, kind: type[Worker] = Worker) -> None:
        self.desk = desk(late)
        self.other = Client(self.desk)
        self.published = 0
        context = FakeContext(self.desk, {})
        self.workers = [kind(EtzelSession(context)) for _ in range(workers)]

    def publish(self, delay_s: int) -> None:
        broker, confirm = self.desk.broker, self.desk.confirm
        self.other.call(broker.publish, QUEUE.encode(), self._body(), delay_s * SECOND_US, PLAIN, confirm)

    def publish_from(self, worker: int) -> None:
        self._worker(worker).send(cmd="PUB", msg=self._body().decode())

    def take(self) -> None:
        self.other.call(self.desk.broker.take, QUEUE.encode(), TAKING, self.desk.confirm)

    def react(self, worker: int) -> None:
        self._worker(worker).react()

    def tick(self) -> None:
        self.desk.tick()
        for worker in self.workers:
            worker.connection.flush()

    def pass_time(self, s: int) -> None:
        self.desk.pass_time(s * SECOND_US)

    def _worker(self, number: int) -> Worker:
        return self.workers[number % len(self.workers)]

    def _body(self) -> bytes:
        self.published += 1
        return b"%d" % self.published

    def finish(self) -> None:
        """Everybody reacts to everything, until nobody has anything to do; then everything must be done."""
        self.pass_time(LONG_S)
        self._settle()
        bodies = [body for worker in self.workers for body in worker.fetched]
        bodies += [one.message.body for one in self.other.outcomes.values() if one.message is not None]
        assert sorted(bodies) == sorted(b"%d" % number for number in range(1, self.published + 1))
        assert all(worker.asleep for worker in self.workers)

    def _settle(self) -> None:
        while True:
            self.desk.settle()
            busy = [worker.connection.flush() for worker in self.workers]
            busy += [worker.react() for worker in self.workers]
            if not any(busy):
                return


def desk(late: int) -> Desk:
    """0: answers at the end of the tick, -1: during the call, else late and out of order."""
    if late < 0:
        return EagerDesk(PolicyBook())
    return LateDesk(EngineDesk(PolicyBook()), late) if late else EngineDesk(PolicyBook())


numbers = st.integers(0, 2)
steps = st.one_of(
    st.tuples(st.just("publish"), st.sampled_from([0, 0, 1, 2])),
    st.tuples(st.just("publish_from"), numbers),
    st.tuples(st.just("react"), numbers),
    st.tuples(st.just("react"), numbers),
    st.tuples(st.just("tick")),
    st.tuples(st.just("tick")),
    st.tuples(st.just("take")),
    st.tuples(st.just("pass_time"), st.sampled_from([0, 1, 1])),
)
Steps = list[tuple[str, *tuple[int, ...]]]


def run(race: Race, script: Steps) -> None:
    for name, *arguments in script:
        getattr(race, name)(*arguments)
    race.finish()


@given(st.integers(1, 3), st.integers(-1, 1 << 16), st.lists(steps, max_size=40))
def test_no_wake_up_is_lost_and_none_comes_twice(workers: int, late: int, script: Steps) -> None:
    run(Race(workers, late), script)


# -- the tests of the test


class Deaf(Worker):
    """Every third wake-up is lost."""

    wakes = 0

    def _heed(self, said: dict[str, str]) -> None:
        self.wakes += said["cmd"] == "awk"
        if said["cmd"] != "awk" or self.wakes % 3:
            super()._heed(said)


class Restless(Worker):
    """It is woken twice."""

    def _heed(self, said: dict[str, str]) -> None:
        super()._heed(said)
        if said["cmd"] == "awk":
            super()._heed(said)


class Hasty(Worker):
    """It is told that it is woken before it is told that it may sleep."""

    def _heed(self, said: dict[str, str]) -> None:
        if said["cmd"] != "okslp":
            super()._heed(said)


@pytest.mark.parametrize("planted", [Deaf, Restless, Hasty])
@pytest.mark.parametrize("late", [-1, 0, 1, 2])
def test_a_planted_bug_is_found(planted: type[Worker], late: int) -> None:
    race = Race(2, late, planted)
    script: Steps = [("publish", 0), ("tick",), ("react", 0), ("react", 1), ("publish", 1), ("tick",), ("react", 0)]
    with pytest.raises(AssertionError):
        for _ in range(30):
            run(race, script)
