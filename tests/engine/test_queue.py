"""One queue: what could be taken, in rank and by key."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.engine.queue import Queue
from penstock.engine.rules import Rules
from penstock.model.limits import NARROW_MAX
from penstock.model.message import Message
from penstock.model.policy import Policy


def a_queue() -> Queue:
    return Queue(1, b"q", 1, Policy(), Rules(Policy()), 0)


def a_message(number: int, key: bytes | None = None, parked: bool = False, size: int = 0, ready_us: int = 0) -> Message:
    message = Message(number, 1, bytes(size), 0, ready_us)
    message.key, message.parked = key, parked
    return message


def has_keys(queue: Queue) -> bool:
    return queue.keyed != 0 or bool(queue.by_key)


def test_a_new_queue_has_nothing_to_give() -> None:
    queue = a_queue()
    assert (queue.oldest(), queue.newest(), queue.mate(b"k")) == (None, None, None)
    assert not queue.available()
    assert queue.length() == 0


def test_what_is_put_in_is_available_unless_it_is_parked_or_the_queue_paused() -> None:
    queue = a_queue()
    queue.put_in(a_message(1, b"k", parked=True))
    assert not queue.available()
    queue.put_in(a_message(2))
    assert queue.available()
    queue.paused = True
    assert not queue.available()


@pytest.mark.parametrize("count", [1, 2, 3, 10, 40])
def test_a_key_leads_to_its_newest_message_however_many_there_are(count: int) -> None:
    queue = a_queue()
    messages = [a_message(number, b"k", parked=number % 2 == 0, ready_us=number) for number in range(count)]
    for message in messages:
        queue.put_in(message)
    for message in reversed(messages):
        assert queue.mate(b"k") is message
        queue.take_out(message)
    assert not has_keys(queue)


Draft = tuple[bytes | None, bool, bool, int]  # key, parked, wide, ready_us

mostly_not = st.sampled_from([False, False, False, True])
drafts = st.tuples(st.sampled_from([None, b"k", b"l"]), mostly_not, mostly_not, st.integers(0, 3))


@settings(max_examples=300)
@given(st.lists(st.one_of(drafts, drafts, st.integers(0, 30)), max_size=80))
def test_keys_lead_to_the_newest_whatever_else_there_is(steps: list[Draft | int]) -> None:
    """A draft puts a message in, a number takes out one of those that are there."""
    queue = a_queue()
    there: list[Message] = []
    for number, step in enumerate(steps):
        if isinstance(step, tuple):
            key, parked, wide, ready_us = step
            there.append(a_message(number, key, parked, NARROW_MAX + 1 if wide else 0, ready_us))
            there[-1].priority = number % 3
            queue.put_in(there[-1])
        elif there:
            queue.take_out(there.pop(step % len(there)))
        for key in (b"k", b"l"):
            mates = [one for one in there if one.key == key and len(one.body) <= NARROW_MAX]
            assert queue.mate(key) is max(mates, key=lambda one: (one.ready_us, one.order), default=None)
    for message in there:
        queue.take_out(message)
    assert not has_keys(queue)


def test_few_keys_need_no_index_and_many_have_one_until_the_last_is_gone() -> None:
    queue = a_queue()
    messages = [a_message(number, b"%d" % number) for number in range(30)]
    for message in messages[:5]:
        queue.put_in(message)
    assert not queue.by_key
    for message in messages[5:]:
        queue.put_in(message)
    assert len(queue.by_key) == 30
    for message in messages:
        queue.take_out(message)
    assert not queue.by_key


@pytest.mark.parametrize("at", [0, 20])
def test_a_key_among_many_messages_without_one_is_not_looked_for(at: int) -> None:
    queue = a_queue()
    messages = [a_message(number, b"k" if number == at else None) for number in range(21)]
    for message in messages:
        queue.put_in(message)
    assert queue.by_key == {b"k": messages[at]}


def test_messages_of_a_key_leave_in_any_order() -> None:
    queue = a_queue()
    first, second, third = (a_message(number, b"k") for number in range(3))
    for message in (first, second, third):
        queue.put_in(message)
    for gone, mate in ((second, third), (third, first), (first, None)):
        queue.take_out(gone)
        assert queue.mate(b"k") is mate
    assert queue.oldest() is None


def test_a_key_leads_to_its_own_messages_alone() -> None:
    queue = a_queue()
    one, other = a_message(1, b"k"), a_message(2, b"l")
    for first, second in ((one, other), (other, one)):  # the second time there have been two at once before
        queue.put_in(first)
        assert (queue.mate(first.key or b""), queue.mate(second.key or b"")) == (first, None)
        queue.put_in(second)
        assert (queue.mate(b"k"), queue.mate(b"l")) == (one, other)
        queue.take_out(first)
        assert (queue.mate(first.key or b""), queue.mate(second.key or b"")) == (None, second)
        queue.take_out(second)
        assert not has_keys(queue)


def test_queues_do_not_share_their_keys() -> None:
    one, other = a_queue(), a_queue()
    for number in range(2):
        one.put_in(a_message(number, b"k"))
    assert one.mate(b"k") is not None
    assert other.mate(b"k") is None
    assert not has_keys(other)
    assert not has_keys(a_queue())


def test_no_key_leads_nowhere() -> None:
    queue = a_queue()
    queue.put_in(a_message(1))
    assert not has_keys(queue)


def test_a_wide_message_is_no_mate_and_not_newest_but_may_be_oldest() -> None:
    queue = a_queue()
    wide = a_message(1, b"k", size=NARROW_MAX + 1)
    queue.put_in(wide)
    assert (queue.oldest(), queue.newest(), queue.mate(b"k")) == (wide, None, None)
    queue.take_out(wide)
    assert not queue.available()


def test_a_wide_message_is_in_its_own_queue_alone() -> None:
    one, other = a_queue(), a_queue()
    one.put_in(a_message(1, size=NARROW_MAX + 1))
    assert (one.length(), other.length(), a_queue().length()) == (1, 0, 0)
    other.put_in(a_message(2, size=NARROW_MAX + 1))
    assert (one.length(), other.length()) == (1, 1)
