"""One engine behind all doors: what comes in through one can be worked on through every other, and means the same."""

from __future__ import annotations

from itertools import product

import pytest

from penstock.dialects.table import DIALECTS
from penstock.model.options import Publishing
from penstock.model.policy import Policy
from penstock.model.views import QueueView, StatsView
from tests.broker.desks import EmbeddedDesk
from tests.dialects.doors import DOORS, HASH, QUEUE, ZSET, Door, RsmqDoor, Wish, World
from tests.dialects.redis_model import answers, command
from tests.dialects.test_transcripts import BROKERS
from tests.journal.simdisk import SimDisk

BODIES = {
    "empty": b"",
    "text": "Müller & Söhne".encode(),
    "spaces": b"  two  words ",
    "lines": b"one\ntwo\r\n",
    "a carriage return": b"x\r",
    "binary": bytes(range(256)),
    "large": b"x" * 65_535,
}
Kind = type[Door]


def each(doors: list[Kind]) -> list[object]:
    return [pytest.param(door, id=door.name) for door in doors]


def pairs(ones: list[Kind], others: list[Kind]) -> list[object]:
    return [pytest.param(one, other, id=f"{one.name} {other.name}") for one, other in product(ones, others)]


def wishing(*names: str) -> list[Kind]:
    return [door for door in DOORS if set(names) <= door.wishes]


def able(*names: str) -> list[Kind]:
    return [door for door in DOORS if set(names) <= door.can]


def silent_of(name: str) -> list[Kind]:
    """Those that can publish without saying it."""
    return [door for door in DOORS if name not in door.always]


ALL = list(DOORS)
BORNE = [
    pytest.param(door, body, id=f"{door.name} {name}")
    for door in ALL
    for name, body in BODIES.items()
    if door.bears(body)
]


@pytest.fixture(params=["prompt", "eager", "late 1"])
def world(request: pytest.FixtureRequest) -> World:
    return World(BROKERS[request.param])


def test_every_dialect_has_a_door() -> None:
    assert {row.name for row in DIALECTS} <= {door.name for door in DOORS}


# -- in at one door, out at another


@pytest.mark.parametrize("taker", each(ALL))
@pytest.mark.parametrize(("giver", "body"), BORNE)
def test_a_body_comes_out_as_it_went_in(world: World, giver: Kind, body: bytes, taker: Kind) -> None:
    giver(world).publish(body)
    door = taker(world)
    given = door.get()
    assert given is not None
    assert given.body == body
    door.end(given)
    assert world.counts() == {"published": 1, "delivered": 1, "finished": 1}
    assert door.get() is None


@pytest.mark.parametrize(("giver", "taker"), pairs(ALL, ALL))
def test_many_come_out_once_each(world: World, giver: Kind, taker: Kind) -> None:
    for number in range(20):
        giver(world).publish(b"%d" % number, giver.fitting(key=b"%d" % number))
    door = taker(world)
    found = []
    while (given := door.get()) is not None:
        found.append(given.body)
        door.end(given)
    assert sorted(found) == sorted(b"%d" % number for number in range(20))
    assert world.counts() == {"published": 20, "delivered": 20, "finished": 20}


# -- leases


@pytest.mark.parametrize(("holder", "other"), pairs(able("reserve"), ALL))
def test_what_one_has_reserved_no_other_is_given(world: World, holder: Kind, other: Kind) -> None:
    other(world).publish(b"x")
    assert holder(world).get() is not None
    assert other(world).get() is None
    assert world.counts()["leased"] == 1


@pytest.mark.parametrize(("holder", "other"), pairs(able("reserve"), able("finish")))
def test_what_one_has_reserved_another_may_finish(world: World, holder: Kind, other: Kind) -> None:
    other(world).publish(b"x")
    given = holder(world).get()
    assert given is not None
    assert other(world).finish(given.seq)
    assert not holder(world).finish(given.seq)
    assert world.counts() == {"published": 1, "delivered": 1, "finished": 1}


@pytest.mark.parametrize("taker", each(ALL))
@pytest.mark.parametrize(("holder", "other"), pairs(able("reserve"), able("release")))
def test_what_one_has_reserved_another_may_release_for_a_third(
    world: World, holder: Kind, other: Kind, taker: Kind
) -> None:
    other(world).publish(b"x")
    given = holder(world).get()
    assert given is not None
    assert other(world).release(given.seq, 100)
    assert taker(world).get() is None
    world.pass_ms(100)
    again = taker(world).get()
    assert again is not None
    assert again.body == b"x"
    assert "failed" not in world.counts()


@pytest.mark.parametrize(("holder", "taker"), pairs(able("reserve"), ALL))
def test_a_lease_that_runs_out_is_over_for_everybody(world: World, holder: Kind, taker: Kind) -> None:
    assert world.looker.declare(QUEUE, Policy(lease_us=1_000_000)).code == 0
    taker(world).publish(b"x")
    assert holder(world).get() is not None
    world.pass_ms(999)
    assert taker(world).get() is None
    world.pass_ms(1)
    given = taker(world).get()
    assert given is not None
    assert given.body == b"x"
    assert world.counts()["failed"] == 1


# -- what is said when publishing holds for everybody


@pytest.mark.parametrize(("giver", "taker"), pairs(wishing("delay_ms"), ALL))
def test_a_delay(world: World, giver: Kind, taker: Kind) -> None:
    giver(world).publish(b"x", Wish(delay_ms=500))
    assert taker(world).get() is None
    world.pass_ms(499)
    assert taker(world).get() is None
    assert world.counts()["delayed"] == 1
    world.pass_ms(1)
    assert taker(world).get() is not None


@pytest.mark.parametrize(("giver", "taker"), pairs(wishing("ttl_ms"), ALL))
def test_a_ttl(world: World, giver: Kind, taker: Kind) -> None:
    giver(world).publish(b"in time", Wish(ttl_ms=500))
    giver(world).publish(b"too late", giver.fitting(ttl_ms=499, priority=9))
    world.pass_ms(499)
    given = taker(world).get()
    assert given is not None
    assert (given.body, given.mates) == (b"in time", ())
    world.pass_ms(1)
    assert taker(world).get() is None
    assert world.counts()["expired"] == 1


@pytest.mark.parametrize(("giver", "taker"), pairs(wishing("priority"), ALL))
def test_a_priority(world: World, giver: Kind, taker: Kind) -> None:
    for priority in (100, 1, 255, 2):
        giver(world).publish(b"%d" % priority, giver.fitting(priority=priority, key=b"%d" % priority))
    found = [taker(world).get() for _ in range(4)]
    assert [given and given.body for given in found] == [b"255", b"100", b"2", b"1"]


@pytest.mark.parametrize("taker", each(ALL))
@pytest.mark.parametrize(("low", "high"), pairs(silent_of("priority"), wishing("priority")))
def test_any_priority_goes_before_none(world: World, low: Kind, high: Kind, taker: Kind) -> None:
    low(world).publish(b"none")
    high(world).publish(b"some", Wish(priority=1))
    low(world).publish(b"none either")
    given = taker(world).get()
    assert given is not None
    assert given.body == b"some"


@pytest.mark.parametrize(("giver", "taker"), pairs(wishing("parked", "key"), ALL))
def test_what_is_parked_is_given_to_nobody(world: World, giver: Kind, taker: Kind) -> None:
    giver(world).publish(b"x", Wish(parked=True, key=b"k"))
    assert taker(world).get() is None
    assert world.counts() == {"published": 1, "parked": 1, "body_bytes": 1}


# -- keys


@pytest.mark.parametrize("taker", each(able("mates")))
@pytest.mark.parametrize(("one", "other"), pairs(wishing("key", "parked"), wishing("key")))
def test_mates_leave_together_whoever_published_them(world: World, one: Kind, other: Kind, taker: Kind) -> None:
    one(world).publish(b"parked", Wish(parked=True, key=b"k"))
    other(world).publish(b"older", Wish(key=b"k"))
    one(world).publish(b"apart", Wish(key=b"l"))
    other(world).publish(b"chosen", Wish(priority=9, key=b"k"))
    given = taker(world).get()
    assert given is not None
    assert (given.body, given.mates) == (b"chosen", (b"older", b"parked"))


@pytest.mark.parametrize(("giver", "taker"), pairs(silent_of("key"), able("mates")))
def test_a_message_without_a_key_has_no_mates(world: World, giver: Kind, taker: Kind) -> None:
    giver(world).publish(b"one")
    giver(world).publish(b"two")
    world.looker.publish(QUEUE, b"of the empty key", options=Publishing(key=b"", parked=True))
    given = taker(world).get()
    assert given is not None
    assert (given.body, given.key, given.mates) == (b"two", b"", ())


# -- waiting


@pytest.mark.parametrize(("waiter", "giver"), pairs(able("wait"), ALL))
def test_whoever_waits_is_given_what_any_other_publishes(world: World, waiter: Kind, giver: Kind) -> None:
    giver(world).publish(b"first")  # the queue has to be there for some to wait
    first = giver(world).get()
    assert first is not None
    door = waiter(world)
    door.wait()
    assert door.heard() == []
    giver(world).publish(b"x")
    assert [given.body for given in door.heard()] == [b"x"]
    giver(world).publish(b"y")
    assert door.heard() == []


@pytest.mark.parametrize(("first", "second"), pairs(able("wait"), able("wait")))
def test_the_oldest_waiter_of_any_dialect_is_served_first(world: World, first: Kind, second: Kind) -> None:
    assert world.looker.declare(QUEUE).code == 0
    doors = first(world), second(world), first(world)
    for door in doors:
        door.wait()
    for number, body in enumerate([b"a", b"b", b"c"]):
        world.looker.publish(QUEUE, body)
        assert [[given.body for given in door.heard()] for door in doors] == [
            [body] if at == number else [] for at in range(3)
        ]


@pytest.mark.parametrize("taker", each(ALL))
def test_a_paused_queue_gives_nothing_through_any_door(world: World, taker: Kind) -> None:
    taker(world).publish(b"x")
    world.looker.on_queue(world.desk.broker.pause, QUEUE)
    assert taker(world).get() is None
    world.looker.on_queue(world.desk.broker.resume, QUEUE)
    assert taker(world).get() is not None


# -- what is seen


@pytest.mark.parametrize("teller", each(able("stats")))
def test_everybody_counts_alike(world: World, teller: Kind) -> None:
    """One message for each thing that a publisher may say, one that is taken, and one that is held."""
    for giver in ALL:
        giver(world).publish(b"plain", giver.fitting(key=giver.name.encode()))
    for giver in wishing("delay_ms"):
        giver(world).publish(b"delayed", Wish(delay_ms=1_000))
    for giver in wishing("parked", "key"):
        giver(world).publish(b"parked", Wish(parked=True, key=b"parked"))
    for giver in wishing("ttl_ms", "key"):
        giver(world).publish(b"expired", Wish(ttl_ms=1, key=b"expired"))
    world.pass_ms(1)
    for taker in (*able("take"), *able("reserve")):
        assert taker(world).get() is not None
    counts = world.counts()
    delayed, parked, expired = (len(wishing(*names)) for names in (["delay_ms"], ["parked", "key"], ["ttl_ms", "key"]))
    assert (counts["delayed"], counts["parked"], counts["expired"]) == (delayed, parked, expired)
    assert (counts["leased"], counts["finished"]) == (len(able("reserve")), len(able("take")))
    assert teller(world).stats() == (counts["delayed"] + counts.get("ready", 0), counts["leased"])
    assert counts["published"] == world.live() + counts["finished"] + counts["expired"]
    listed = world.looker.ask(world.desk.broker.list_queues).value
    total = world.looker.ask(world.desk.broker.stats).value
    assert isinstance(listed, list)
    assert isinstance(listed[0], QueueView)
    assert isinstance(total, StatsView)
    for name, count in counts.items():
        assert getattr(listed[0].counts, name) == getattr(total.counts, name) == count


def test_the_attributes_of_rsmq_count_what_everybody_counts(world: World) -> None:
    for giver in ALL:
        giver(world).publish(b"plain", giver.fitting(key=giver.name.encode()))
    for giver in wishing("delay_ms"):
        giver(world).publish(b"delayed", Wish(delay_ms=1_000))
    for giver in wishing("parked", "key"):
        giver(world).publish(b"parked", Wish(parked=True, key=b"parked"))
    for taker in (*able("take"), *able("reserve")):
        assert taker(world).get() is not None
    world.pass_ms(1)
    counts = world.counts()
    seconds, us = divmod(world.desk.now_us, 1_000_000)
    asked = command(b"HMGET", HASH, b"totalsent", b"totalrecv") + command(b"ZCARD", ZSET)
    asked += command(b"ZCOUNT", ZSET, seconds * 1_000 + us // 1_000, b"+inf")
    totals, length, hidden = answers(RsmqDoor(world).ask(asked))
    assert totals == [b"%d" % counts["published"], b"%d" % counts["delivered"]]
    assert length == world.live()
    assert hidden == counts["delayed"] + counts["parked"] + counts["leased"]


# -- after a restart


@pytest.mark.parametrize(("giver", "taker"), pairs(ALL, ALL))
def test_what_one_published_another_is_given_after_a_restart(giver: Kind, taker: Kind) -> None:
    disk = SimDisk()
    before = World(lambda book: EmbeddedDesk(book, disk))
    for body, key in ((b"a", b""), (b"b", b"k"), (b"c", b"l")):
        giver(before).publish(body, giver.fitting(key=key))
    counts = before.counts()
    disk = disk.after_kill()
    after = World(lambda book: EmbeddedDesk(book, disk))
    assert after.counts() == counts
    door = taker(after)
    found = [door.get() for _ in range(3)]
    assert sorted(given.body for given in found if given) == [b"a", b"b", b"c"]
    for given in found:
        assert given is not None
        door.end(given)
    assert after.counts() == {"published": 3, "delivered": 3, "finished": 3}
