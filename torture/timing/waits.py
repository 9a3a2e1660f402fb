"""Clients of each dialect who have a delay, a lease that they keep, one that they leave, a time to live or a wait under
way when something happens to time, and then see to all of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from penstock.cli.resp_client import RespClient
from penstock.cli.rsmq_store import Received, RsmqStore
from tests.dialects.fuzz_pinpriq import READY, push, subscribe
from tests.live.gloves import Gloves
from tests.live.lines import Lines
from tests.live.packets import Packets
from tests.live.texts import Texts
from torture.soak.scenes import looked_up
from torture.timing.events import SLACK_S, Waiting

LEASE_S = 4.0  # long enough for a busy machine to come to what was kept, shorter than a standstill
ETZEL_S = 5  # no lease of etzel is shorter
DELAY_S = 1
WAIT_S = 0.5
TTL_S = 60
POLL_S = 0.01
PATIENCE_S = 30.0
LEFT = 3  # leases that are left to run out: each is a failure, and there is no other
CONFIG = f"[dialect.deferred]\nstuck_timeout_s = {LEASE_S}\nstuck_attempts = 100\n"

T = TypeVar("T")


def deferred(place: Waiting) -> None:
    event = place.event
    with Lines(place.ports["deferred"]) as client:
        for body in (b"kept", b"left"):
            client.publish(body)
        held_s = time.monotonic()
        kept, left = (client.ask(b"RESERVE").split(b" ")[1] for _ in range(2))
        sent_s = time.monotonic()
        client.publish(b"delayed", DELAY_S * 1_000)
        event.wait()
        event.law(client.ask(b"DELETE " + kept) == b"ok", "deferred: what was kept was not held any more")
        event.law(polled(lambda: taken(client)) == b"delayed", "deferred: not what was delayed")
        event.due("deferred: a delay", sent_s, DELAY_S)
        polled(lambda: b" RESERVED 0 " in client.ask(b"STATS"))
        event.lapsed("deferred: a reservation", held_s, LEASE_S)
        event.law(client.ask(b"DELETE " + left) != b"ok", "deferred: what was left was still held")
        event.law(client.ask(b"STATS").startswith(b"TASKS 1 "), "deferred: what was left is lost")


def taken(client: Lines) -> bytes:
    """The body of what was reserved and finished; empty if there was nothing."""
    words = client.ask(b"RESERVE").split(b" ", 3)
    if len(words) < 4:
        return b""
    client.ask(b"DELETE " + words[1])
    return words[3]


def etzel(place: Waiting) -> None:
    event, queue = place.event, place.queue
    with Texts(place.ports["etzel"]) as worker, Texts(place.ports["etzel"]) as sleeper:
        worker.ask("PUB", queue, msg="kept", timeout=ETZEL_S)
        kept = worker.ask("FET", queue)
        sleeper.ask("SUB", queue)
        sleeper.ask("ISLP", queue)
        sent_s = time.monotonic()
        worker.ask("PUB", queue, msg="delayed", delay=DELAY_S)
        worker.ask("PUB", f"{queue}-ttl", msg="mortal", expires=TTL_S)
        event.wait()
        event.law(sleeper.heard() == {"cmd": "awk", "qname": queue}, "etzel: something else than a wake-up")
        event.due("etzel: a delay", sent_s, DELAY_S)
        found = sleeper.ask("FET", queue)
        event.law(found.get("msg") == "delayed", f"etzel: woken for {found}")
        event.law(found.get("error_count") == 0, f"etzel: it was delivered before: {found}")
        event.law(sleeper.ask("FET", queue)["cmd"] == "nomsg", "etzel: what was held was given to another")
        for uid in (kept["uid"], found["uid"]):
            worker.ask("ACK", queue, uid=uid)
        is_there = worker.ask("FET", f"{queue}-ttl")["cmd"] == "msg"
        event.law(is_there != event.is_over(sent_s, TTL_S), f"etzel: its time is over, or not; it is there: {is_there}")


def pinpriq(place: Waiting) -> None:
    event, name = place.event, place.queue.encode()
    with Packets(place.ports["pinpriq"]) as client, Packets(place.ports["pinpriq"]) as subscriber:
        subscriber.send(subscribe(name + b"-wait") + READY)
        client.send(push(name + b"-ttl", TTL_S * 1_000, 1, b"", b"mortal"))
        client.send(push(name, DELAY_S * 1_000, 1, b"", b"short") + push(name, 0, 2, b"", b"immortal"))
        event.law(client.pop(b"") == [], "pinpriq: something in the queue without a name")
        sent_s = time.monotonic()  # all of it has come
        event.wait()
        while not event.is_over(sent_s, DELAY_S + SLACK_S):
            time.sleep(POLL_S)
        event.law(client.pop(name) == [(b"", b"immortal")], "pinpriq: not what has no end")
        event.law(client.pop(name) == [], "pinpriq: what has expired was given out")
        is_there = client.pop(name + b"-ttl") == [(b"", b"mortal")]
        event.law(is_there != event.is_over(sent_s, TTL_S), f"pinpriq: its time is over, or not: there: {is_there}")
        client.push(b"now", name + b"-wait")
        event.law(subscriber.answer() == [(b"k", b"now")], "pinpriq: a subscriber was forgotten")


def glovebox(place: Waiting) -> None:
    event, queue = place.event, place.queue
    with Gloves(place.ports["glovebox"]) as client, Gloves(place.ports["glovebox"]) as waiter:
        client.ask("create", queue=queue, label=1)
        for label, body in ((2, "kept"), (3, "left")):
            client.ask("post", queue=queue, message=body, label=label, notify=["write", "retry"])
        held_s = time.monotonic()
        kept, _ = (client.ask("fetch", queue=queue, work_timeout=LEASE_S, label=4) for _ in range(2))
        sent_s = time.monotonic()
        mortal = {"body": "mortal", "ttl": TTL_S, "delay": DELAY_S}
        client.ask("publish", queue=f"{queue}-later", label=5, messages=[mortal])
        waiter.send("fetch", queue=queue, work_timeout=60, block_timeout=WAIT_S, label=6)
        event.wait()
        event.law(waiter.hear() == {"type": "nomessage", "label": 6}, "glovebox: a wait did not end with nothing")
        event.due("glovebox: a wait", sent_s, WAIT_S)
        place_of = {"queue": queue, "shard": kept["shard"], "sequence": kept["sequence"]}
        told = client.ask("finish", label=7, **place_of)
        event.law(told.get("notice") == "finish", f"glovebox: what was kept was not held any more: {told}")
        event.law(client.hear() == {"type": "notice", "label": 3, "notice": "retry"}, "glovebox: no retry")
        event.lapsed("glovebox: a lease", held_s, LEASE_S)
        later = waiter.ask("reserve", queue=f"{queue}-later", label=8, lease=60, wait=DELAY_S)["messages"]
        if not event.is_over(sent_s, TTL_S):
            event.law([row["body"] for row in later] == ["mortal"], f"glovebox: what was delayed is lost: {later}")
            event.due("glovebox: a delay", sent_s, DELAY_S)
        else:
            event.law(not later, f"glovebox: what has expired was given out: {later}")


def rsmq(place: Waiting) -> None:
    event, queue = place.event, place.queue
    with RespClient(f"redis://127.0.0.1:{place.ports['rsmq']}") as client:
        store = RsmqStore(client)
        store.create(queue, round(LEASE_S), 0, 65_536)
        kept, left = (store.send(queue, looked_up(store, queue), body, 0).encode() for body in (b"kept", b"left"))
        held_s, begun_us = time.monotonic(), looked_up(store, queue).now_us
        for id in (kept, left):
            given = store.receive(queue, looked_up(store, queue), round(LEASE_S * 1_000))
            event.law(given is not None and given.id == id, f"rsmq: {given} instead of {id!r}")
        sent_s = time.monotonic()
        store.send(queue, looked_up(store, queue), b"delayed", DELAY_S * 1_000)
        event.wait()
        passed_s = (looked_up(store, queue).now_us - begun_us) / 1e6
        strays_s = passed_s - (time.monotonic() - held_s) - event.slept_s
        event.law(abs(strays_s) < 1.0, f"rsmq: TIME is off by {strays_s:.3f} s")
        event.law(store.delete(queue, kept.decode()), "rsmq: what was kept is gone")
        event.law(given_again(store, queue) == (b"delayed", 1), "rsmq: not what was delayed")
        event.due("rsmq: a delay", sent_s, DELAY_S)
        event.law(given_again(store, queue) == (b"left", 2), "rsmq: not what was left")
        event.lapsed("rsmq: vt", held_s, LEASE_S)


def given_again(store: RsmqStore, queue: str) -> tuple[bytes, int]:
    """The body of the next message, and how often it has been received."""
    given: Received | None = polled(lambda: store.receive(queue, looked_up(store, queue), TTL_S * 1_000))
    return (given.body, given.rc) if given is not None else (b"", 0)


def polled(ask: Callable[[], T]) -> T:
    """The first answer that says something, or the last."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not (answer := ask()) and time.monotonic() < deadline_s:
        time.sleep(POLL_S)
    return answer


WAITS: dict[str, Callable[[Waiting], None]] = {
    "deferred": deferred,
    "etzel": etzel,
    "pinpriq": pinpriq,
    "glovebox": glovebox,
    "rsmq": rsmq,
}
