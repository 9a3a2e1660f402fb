"""Short scenes in every dialect, each on queues and connections of its own: ends of every kind, waiting, coming and
going. Each knows exactly what it must hear, and so breaks a law if it hears anything else.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.cli.program import Failure
from penstock.cli.resp_client import RespClient
from penstock.cli.rsmq_store import Lookup, RsmqStore
from tests.dialects.fuzz_pinpriq import READY, push, subscribe, unsubscribe
from tests.live.gloves import Gloves
from tests.live.lines import Lines
from tests.live.packets import Packets
from tests.live.texts import Texts

DROPS, DEAD = "drops", "dead letters"
POLICY = f"""
[[policy]]
match = "{DROPS}"
dead_letter = "{DEAD}"
"""
SHORT_S = 0.05  # a lease that is meant to run out
TTL_MS = 30
NOWHERE = b"nowhere"  # a pop of it takes nothing, and its answer says that all before it has come
GAP_S = 0.5  # between two scenes of a player
STAGES = ["write", "assign", "retry", "drop"]


@dataclass
class Stage:
    """Where scenes are played; `queue` is the name of one that nobody else uses."""

    ports: Mapping[str, int]
    chance: random.Random
    queue: str = ""

    def etzel(self) -> Texts:
        return Texts(self.ports["etzel"])

    def pinpriq(self) -> Packets:
        return Packets(self.ports["pinpriq"])

    def glovebox(self, **headers: object) -> Gloves:
        return Gloves(self.ports["glovebox"], **headers)

    def rsmq(self) -> RespClient:
        return RespClient(f"redis://127.0.0.1:{self.ports['rsmq']}")

    def remove(self) -> None:
        """The queue, whatever is in it."""
        with self.rsmq() as client:
            RsmqStore(client).drop(self.queue)


def a_sleeper_is_woken_when_a_delay_is_over(stage: Stage) -> None:
    with stage.etzel() as sleeper, stage.etzel() as publisher:
        law(sleeper.ask("SUB", stage.queue)["cmd"], "oksub")
        law(sleeper.ask("ISLP", stage.queue)["cmd"], "okslp")
        began_s = time.monotonic()
        law(publisher.ask("PUB", stage.queue, msg="later", delay=1), {"cmd": "ok"})
        law(sleeper.heard(), {"cmd": "awk", "qname": stage.queue})
        law(time.monotonic() - began_s >= 1.0, True)
        found = sleeper.ask("FET", stage.queue)
        law((found["msg"], found["error_count"]), ("later", 0))
        law(sleeper.ask("ACK", stage.queue, uid=found["uid"])["cmd"], "okack")
    stage.remove()


def what_has_expired_is_gone(stage: Stage) -> None:
    name = stage.queue.encode()
    with stage.pinpriq() as client:
        client.send(push(name, TTL_MS, 1, b"k", b"short") + push(name, 0, 2, b"k", b"long"))
        law(client.pop(NOWHERE), [])
        time.sleep(TTL_MS / 1_000 + SHORT_S)
        law(client.pop(name), [(b"k", b"long")])
        law(client.pop(name), [])
    stage.remove()


def mates_go_together_and_subscribers_are_served(stage: Stage) -> None:
    name = stage.queue.encode()
    with stage.pinpriq() as subscriber, stage.pinpriq() as client:
        client.send(push(name, 0, 0, b"k", b"parked") + push(name, 0, 5, b"k", b"1") + push(name, 0, 1, b"l", b"2"))
        law(client.pop(name), [(b"l", b"2")])
        law(client.pop(name), [(b"k", b"1"), (b"k", b"parked")])
        subscriber.send(subscribe(name) + READY)
        client.push(b"pushed", name)
        law(subscriber.answer(), [(b"k", b"pushed")])
        subscriber.send(unsubscribe(name) + READY)
        law(subscriber.pop(name), [])
        client.push(b"kept", name)
        law(client.pop(name), [(b"k", b"kept")])
    stage.remove()


def what_fails_too_often_becomes_a_dead_letter(stage: Stage) -> None:
    with stage.glovebox() as poster, stage.glovebox() as worker:
        poster.ask("create", queue=DROPS, label=1, retries=2)
        law(poster.ask("post", queue=DROPS, message=stage.queue, label=2, notify=STAGES)["notice"], "write")
        for end in ("retry", "drop"):
            found = worker.ask("fetch", queue=DROPS, block_timeout=10, work_timeout=SHORT_S, label=3)
            law(found["body"], stage.queue)
            law([poster.hear()["notice"], poster.hear()["notice"]], ["assign", end])
    with stage.etzel() as undertaker:
        letter = undertaker.ask("FET", DEAD)
        law(letter["msg"], stage.queue)
        law(undertaker.ask("ACK", DEAD, uid=letter["uid"])["cmd"], "okack")


def a_durable_session_comes_back(stage: Stage) -> None:
    with stage.glovebox(durable_session=1) as poster, stage.glovebox() as worker:
        law(poster.ask("create", queue=stage.queue, label=1)["notice"], "ready")
        posted = poster.ask("post", queue=stage.queue, message="x", label=2, notify=["write", "finish"])
        law(posted["notice"], "write")
        poster.say_goodbye()
        law(ended(poster), "closed with 1000")
        law(worker.ask("pop", queue=stage.queue, label=1, timeout=10)["body"], "x")
        with stage.glovebox(reconnect_as=poster.id) as again:
            law(again.id, poster.id)
            law(again.hear()["notice"], "finish")
    stage.remove()


def ended(client: Gloves) -> str:
    try:
        return str(client.hear())
    except EOFError as end:
        return str(end)


def a_queue_of_rsmq_is_made_and_removed(stage: Stage) -> None:
    with stage.rsmq() as client:
        store = RsmqStore(client)
        law(store.create(stage.queue, 30, 0, 65_536), True)
        law(store.create(stage.queue, 30, 0, 65_536), False)
        id = store.send(stage.queue, looked_up(store, stage.queue), b"body", 0)
        for rc in (1, 2):
            given = store.receive(stage.queue, looked_up(store, stage.queue), 30_000)
            law(given is not None and (given.id, given.body, given.rc), (id.encode(), b"body", rc))
            law(store.receive(stage.queue, looked_up(store, stage.queue), 30_000), None)
            law(store.hide(stage.queue, looked_up(store, stage.queue), id, 0), True)
        law(store.delete(stage.queue, id), True)
        for _ in range(stage.chance.randint(1, 20)):
            store.send(stage.queue, looked_up(store, stage.queue), b"left behind", stage.chance.choice((0, 60_000)))
        law(store.drop(stage.queue), True)
        law(store.lookup(stage.queue), None)


def connections_are_cut_in_the_middle_of_a_request(stage: Stage) -> None:
    for _ in range(5):
        with Lines(stage.ports["deferred"]) as client:
            client.send(b"STATS\nADD 0 never")
            law(client.line().startswith(b"TASKS "), True)
        with stage.pinpriq() as packets:
            packets.send(push(stage.queue.encode(), 0, 1, b"k", b"x" * 500)[: stage.chance.randint(1, 500)])
        with stage.etzel() as texts:
            texts.send(b"\x81\xfe")
        with stage.glovebox() as gloves:
            gloves.send("fetch", queue=stage.queue, block_timeout=60, work_timeout=1)


def looked_up(store: RsmqStore, queue: str) -> Lookup:
    found = store.lookup(queue)
    if found is None:
        raise AssertionError(f"{queue} is not there")
    return found


def law(heard: object, expected: object) -> None:
    if heard != expected:
        raise AssertionError(f"{heard!r} instead of {expected!r}")


Scene = Callable[[Stage], None]
# Each row is played by one player: dead letters are taken by whoever made them.
SCENES: tuple[tuple[Scene, ...], ...] = (
    (a_sleeper_is_woken_when_a_delay_is_over, connections_are_cut_in_the_middle_of_a_request),
    (what_has_expired_is_gone, mates_go_together_and_subscribers_are_served),
    (what_fails_too_often_becomes_a_dead_letter, a_durable_session_comes_back),
    (a_queue_of_rsmq_is_made_and_removed,),
)


@dataclass
class Players:
    """A thread for each row, until they are told to stop."""

    ports: Mapping[str, int]
    seed: int
    played: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._over = threading.Event()
        rows = enumerate(SCENES)
        self._threads = [threading.Thread(target=self._play, args=row, daemon=True) for row in rows]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _play(self, row: int, scenes: tuple[Scene, ...]) -> None:
        chance = random.Random(f"{self.seed} {row}")
        number = 0
        while not self._over.wait(chance.uniform(0, 2 * GAP_S)):
            scene = scenes[number % len(scenes)]
            number += 1
            try:
                scene(Stage(self.ports, chance, f"scene-{row}-{number}"))
            except (AssertionError, EOFError, OSError, KeyError, Failure) as error:
                self.broken.append(f"{scene.__name__}: {error!r}")
            self.played[scene.__name__] += 1
