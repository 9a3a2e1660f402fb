"""A snapshot is worth all facts before it: restored, and the rest replayed, the state is the same in every part."""

from __future__ import annotations

from random import Random

import pytest

from penstock.codecs.facts import BadFact, Fact
from penstock.codecs.snapshots import MARKS, MESSAGES, NUMBERS, QUEUES, ROW_BYTES, BadBlock, Rows
from penstock.engine.agenda import Agenda
from penstock.engine.engine import Engine
from penstock.engine.queue import Queue
from penstock.engine.replay import Silence, apply
from penstock.engine.rules import PolicyBook
from penstock.engine.snapshots import BLOCK_BYTES, blocks_of, restore
from penstock.engine.state import State
from penstock.model.message import Message, Origin
from penstock.model.policy import Policy
from tests.engine.clients import Recorder
from tests.engine.driver import run, seeds
from tests.engine.dumps import QUEUE_FIELDS, differences, dump_state, settled
from tests.engine.world import World
from tests.fields import fields

START_US = 1_700_000_000_000_000


def empty(book: PolicyBook | None = None) -> State:
    return State(book or PolicyBook(), Silence())


def replayed(facts: list[Fact], book: PolicyBook, upon: State | None = None) -> State:
    state = upon or empty(book)
    for fact in facts:
        apply(state, fact)
    return state


def through_a_snapshot(state: State) -> State:
    made = empty(state.book)
    for rows in blocks_of(state):
        if rows.count:
            restore(made, rows.kind, int(rows.count), rows.payload())
    return made


def assert_same(one: State, other: State) -> None:
    now_us = int(max(one.now_us, other.now_us))
    for state in (one, other):
        settled(state, now_us)
        for queue in state.by_id.values():
            state.forget(queue)  # when what is over leaves memory is nobody's business
    assert differences(dump_state(one), dump_state(other)) == []
    assert [*one.marks.rows().items()] == [*other.marks.rows().items()]
    assert agenda_of(one) == agenda_of(other)
    assert one.live_bytes() == other.live_bytes() == live_bytes(one)
    assert {queue.id: derived(queue) for queue in one.by_id.values()} == {
        queue.id: derived(queue) for queue in other.by_id.values()
    }


def live_bytes(state: State) -> int:
    return sum(ROW_BYTES[MESSAGES] + len(message.body) for message in state.messages.values())


def agenda_of(state: State) -> tuple[int, dict[int, tuple[int, int]]]:
    wanted = {
        message.order: (message.due_us, message.due_kind) for message in state.messages.values() if message.slot != 0
    }
    return len(state.agenda), wanted


def derived(queue: Queue) -> tuple[object, ...]:
    """What is not in a snapshot, for it follows from the rest; and the dedup ids in their order."""
    orders = {key: [message.order for message in found] for key, found in by_key(queue).items()}
    assert queue.keyed == sum(map(len, orders.values()))
    entries = [] if queue.dedup is None else [*queue.dedup.entries()]
    named = {foreign_id: message.order for foreign_id, message in queue.by_foreign_id.items()}
    return queue.delayed, queue.parked, queue.leased, queue.body_bytes, queue.length(), orders, entries, named


def by_key(queue: Queue) -> dict[bytes, list[Message]]:
    """What the index says, or would: whether there is one follows from what there once was."""
    if queue.by_key:
        return {key: [found] if isinstance(found, Message) else [*found] for key, found in queue.by_key.items()}
    found: dict[bytes, list[Message]] = {}
    for message in sorted(queue.ready, key=lambda one: (one.ready_us, one.order)):
        if message.key is not None:
            found.setdefault(message.key, []).append(message)
    return found


def facts_of(world: World) -> list[Fact]:
    return [fact for batch in world.batches for fact in batch]


@pytest.mark.parametrize("lane", range(2))
def test_a_snapshot_and_the_rest_of_the_facts_are_worth_all_of_them(lane: int) -> None:
    """Over lives by chance, cut between any two facts: a snapshot need not know where batches end."""
    for seed in seeds(24)[lane::2]:
        world = run(seed)
        facts = facts_of(world)
        whole = replayed(facts, world.book)
        for cut in Random(seed).sample(range(len(facts) + 1), 6):
            before = through_a_snapshot(replayed(facts[:cut], world.book))
            assert_same(replayed(facts[cut:], world.book, before), whole)


def test_a_snapshot_of_a_snapshot_is_the_same_snapshot() -> None:
    for seed in seeds(8):
        world = run(seed)
        state = through_a_snapshot(replayed(facts_of(world), world.book))
        again = through_a_snapshot(state)
        assert [rows.payload() for rows in blocks_of(state)] == [rows.payload() for rows in blocks_of(again)]


def test_an_engine_goes_on_from_a_snapshot_as_from_the_facts() -> None:
    for seed in seeds(8):
        world = run(seed)
        engines = [Engine(world.book, Recorder()) for _ in range(2)]
        for fact in facts_of(world):
            engines[0].replay(fact)
        for rows in blocks_of(replayed(facts_of(world), world.book)):
            if rows.count:
                engines[1].restore(rows.kind, int(rows.count), rows.payload())
        later_us = int(engines[0].now_us()) + 3_600_000_000
        for engine in engines:
            engine.start(later_us, b"")
            engine.advance(later_us + 20_000_000)
        assert engines[0].record.payload() == engines[1].record.payload()
        assert_same(engines[0].state(), engines[1].state())


# Every attribute, by where it comes from after a snapshot. Whoever adds one decides here.
KEPT, DERIVED, OF_THE_PROCESS = "kept", "derived", "of the process"
STATE = {
    "now_us": KEPT,
    "next_seq": KEPT,
    "next_queue_id": KEPT,
    "queues": KEPT,
    "by_id": KEPT,
    "messages": KEPT,
    "marks": KEPT,
    "agenda": DERIVED,
    "body_bytes": DERIVED,
    "book": OF_THE_PROCESS,
    "record": OF_THE_PROCESS,
}
QUEUE = {
    **dict.fromkeys(["id", "name", "dialect", "policy", "created_us", "modified_us", "paused", "dedup"], KEPT),
    **dict.fromkeys(["published", "finished", "dropped", "expired", "deleted", "delivered", "failed"], KEPT),
    **dict.fromkeys(["ready", "wide", "keyed", "by_key", "by_foreign_id"], DERIVED),
    **dict.fromkeys(["delayed", "parked", "leased", "body_bytes"], DERIVED),
    **dict.fromkeys(["rules", "watched", "changes"], OF_THE_PROCESS),
}
MESSAGE = {
    **dict.fromkeys(["order", "queue_id", "body", "key", "priority", "parked", "dialect", "published_us"], KEPT),
    **dict.fromkeys(["ready_us", "expires_us", "lease_us", "leased_us", "first_leased_us", "until_us"], KEPT),
    **dict.fromkeys(["holder", "old_place", "deliveries", "failures", "origin", "place"], KEPT),
    **dict.fromkeys(["due_us", "due_kind", "slot"], DERIVED),
}


def test_every_attribute_of_the_state_is_kept_or_follows() -> None:
    state = empty()
    queue = state.declared(1, b"q", 4, Policy())
    message = Message(1, 1, b"", START_US, START_US)
    assert attributes(state) == set(STATE)
    assert attributes(queue) == set(QUEUE)
    assert attributes(message) == set(MESSAGE)
    assert set(QUEUE_FIELDS) <= set(QUEUE)


def attributes(thing: object) -> set[str]:
    """Slotted, compiled or neither."""
    return {*fields(thing), *getattr(thing, "__dict__", {})}


def full_message(queue_id: int = 1) -> Message:
    """Every field at its widest."""
    message = Message((1 << 58) - 1, queue_id, bytes(range(256)) * 5, START_US, START_US + 1)
    message.key = b"k" * 65_535
    message.priority = -32_768
    message.parked = True
    message.dialect = 255
    message.expires_us = 1 << 61
    message.lease_us = -1
    message.leased_us = START_US + 2
    message.first_leased_us = START_US + 3
    message.until_us = 1 << 61
    message.holder = -(1 << 63)
    message.old_place = True
    message.deliveries = message.failures = (1 << 31) - 1
    message.origin = Origin()
    message.origin.trace = b"t" * 32_000
    message.origin.label = (1 << 64) - 1
    message.place = 4
    return message


def test_the_widest_values_come_back() -> None:
    state = empty()
    state.now_us = START_US
    queue = state.declared((1 << 31) - 1, b"n" * 65_535, 255, Policy())
    state.restored(full_message((1 << 31) - 1), queue)
    state.paused(queue, 1)
    assert_same(through_a_snapshot(state), state)


def test_a_foreign_id_leads_to_the_message_that_it_led_to() -> None:
    """Of two with the same one it is the later; once that has ended, it is neither."""
    state = empty()
    state.now_us = START_US
    queue = state.declared(1, b"q", 4, Policy())
    for number in (1, 2, 3):
        message = Message(number, 1, b"", START_US, START_US)
        message.origin = Origin()
        message.origin.foreign_id = b"other" if number == 3 else b"same"
        state.published(message, queue)
    again = through_a_snapshot(state)
    assert {name: found.order for name, found in again.by_id[1].by_foreign_id.items()} == {b"same": 2, b"other": 3}
    state.finished(state.messages[2], queue, 4, 1, 0)
    assert_same(through_a_snapshot(state), state)


def test_blocks_are_of_a_size_that_fits_in_memory() -> None:
    state = empty()
    state.now_us = START_US
    queue = state.declared(1, b"q", 4, Policy())
    for number in range(1, 2_001):
        state.restored(Message(number, 1, bytes(5_000), START_US, START_US), queue)
    blocks = [rows for rows in blocks_of(state) if rows.kind == MESSAGES]
    assert len(blocks) > 8
    assert all(len(rows) < BLOCK_BYTES + 6_000 for rows in blocks)
    assert_same(through_a_snapshot(state), state)


@pytest.mark.parametrize(
    ("kind", "count", "payload", "words"),
    [
        (99, 1, b"", "unknown kind 99"),
        (MESSAGES, 1, bytes(103), "cannot hold 1 rows"),
        (NUMBERS, 1, bytes(25), "do not fill it"),
        (QUEUES, 0, b"x", "do not fill it"),
        (MESSAGES, 1, bytes(104), "is in queue 0, which is not there"),
        (4, 1, bytes(24), "is of queue 0, which is not there"),
        (MARKS, 1, (7).to_bytes(8, "little") + bytes(8), "do not fill it"),
    ],
)
def test_what_cannot_be_a_block_is_refused(kind: int, count: int, payload: bytes, words: str) -> None:
    with pytest.raises(BadBlock, match=words):
        restore(empty(), kind, count, payload)


def test_a_policy_of_a_later_version_is_refused() -> None:
    rows = Rows(QUEUES)
    rows.queue(1, b"q", b'{"colour":1}', [0] * 9)
    with pytest.raises(BadFact, match="colour"):
        restore(empty(), QUEUES, 1, rows.payload())


def test_every_kind_of_block_has_its_width() -> None:
    assert set(ROW_BYTES) == {1, 2, 3, 4, 5}
    assert isinstance(empty().agenda, Agenda)
