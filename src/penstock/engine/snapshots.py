"""State into the blocks of a snapshot, and back. Law: what is restored is what a replay of the same facts would give.

What follows from the rest is not written: where a waiting message stands, the agenda, ranks, keys, sums of what lives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from librt.strings import read_i64_le
from mypy_extensions import i64

from penstock.codecs import snapshots
from penstock.codecs.policies import decode_policy, encode_policy
from penstock.codecs.snapshots import BadBlock, Rows, read_messages
from penstock.engine.dedup import Dedup
from penstock.engine.queue import Queue
from penstock.engine.state import State
from penstock.model.message import Message

BLOCK_BYTES: Final = 1 << 20  # at which a block is full

_PAUSED: Final[i64] = 1
_U16: Final[i64] = 0xFFFF
_U32: Final[i64] = 0xFFFFFFFF


def blocks_of(state: State) -> Iterator[Rows]:
    """All that is true, in blocks: numbers, queues, messages by their numbers, dedup ids, marks."""
    numbers = Rows(snapshots.NUMBERS)
    numbers.numbers(state.now_us, state.next_seq, state.next_queue_id)
    yield numbers
    yield from _queues(state)
    yield from _messages(state)
    yield from _dedup_ids(state)
    yield from _marks(state)


def _queues(state: State) -> Iterator[Rows]:
    rows = Rows(snapshots.QUEUES)
    for queue in state.by_id.values():
        what = queue.id | queue.dialect << 32 | (_PAUSED if queue.paused else 0) << 40
        rows.queue(what, queue.name, encode_policy(queue.policy), _counts(queue))
        if len(rows) >= BLOCK_BYTES:
            yield rows
            rows = Rows(snapshots.QUEUES)
    yield rows


def _counts(queue: Queue) -> list[int]:
    return [
        queue.created_us,
        queue.modified_us,
        queue.published,
        queue.finished,
        queue.dropped,
        queue.expired,
        queue.deleted,
        queue.delivered,
        queue.failed,
    ]


def _messages(state: State) -> Iterator[Rows]:
    rows = Rows(snapshots.MESSAGES)
    for message in state.messages.values():
        rows.message(message, _is_named(state, message))
        if len(rows) >= BLOCK_BYTES:
            yield rows
            rows = Rows(snapshots.MESSAGES)
    yield rows


def _is_named(state: State, message: Message) -> bool:
    origin = message.origin
    if origin is None or not origin.foreign_id:
        return False
    return state.by_id[message.queue_id].by_foreign_id.get(origin.foreign_id) is message


def _dedup_ids(state: State) -> Iterator[Rows]:
    """Those whose window is over are not true any more."""
    rows = Rows(snapshots.DEDUP_IDS)
    for queue in state.by_id.values():
        state.forget(queue)
        if queue.dedup is None:
            continue
        for dedup_id, seq, published_us in queue.dedup.entries():
            rows.dedup_id(queue.id, dedup_id, seq, published_us)
            if len(rows) >= BLOCK_BYTES:
                yield rows
                rows = Rows(snapshots.DEDUP_IDS)
    yield rows


def _marks(state: State) -> Iterator[Rows]:
    rows = Rows(snapshots.MARKS)
    for name, row in state.marks.rows().items():
        rows.mark(name, row)
    yield rows


def restore(state: State, kind: int, count: int, payload: bytes) -> None:
    """One block, in the order in which they were written, into a State that has seen nothing else.

    Raises BadBlock, or BadFact where a policy or an origin cannot be read.
    """
    width = snapshots.ROW_BYTES.get(kind)
    if width is None:
        raise BadBlock(f"a block is of the unknown kind {kind}")
    if count * width > len(payload):
        raise BadBlock(f"a block of {len(payload)} bytes cannot hold {count} rows")
    if kind == snapshots.NUMBERS:
        end = _restore_numbers(state, payload)
    elif kind == snapshots.QUEUES:
        end = _restore_queues(state, count, payload)
    elif kind == snapshots.MESSAGES:
        end = _restore_messages(state, count, payload)
    elif kind == snapshots.DEDUP_IDS:
        end = _restore_dedup_ids(state, count, payload)
    else:
        end = _restore_marks(state, count, payload)
    if end != len(payload):
        raise BadBlock("a block's rows do not fill it")


def _restore_numbers(state: State, payload: bytes) -> i64:
    state.now_us = read_i64_le(payload, 0)
    state.next_seq = read_i64_le(payload, 8)
    state.next_queue_id = read_i64_le(payload, 16)
    return 24


def _restore_queues(state: State, count: i64, payload: bytes) -> i64:
    heap_at: i64 = count * 88
    for number in range(count):
        at: i64 = i64(number) * 88
        what = read_i64_le(payload, at)
        sizes = read_i64_le(payload, at + 8)
        policy_at = heap_at + (sizes >> 32 & _U16)
        end = policy_at + (sizes & _U32)
        name = payload[heap_at:policy_at]
        policy = decode_policy(payload[policy_at:end])
        dialect = what >> 32 & 0xFF
        rules = state.book.rules(name, policy, int(dialect))
        queue = Queue(what & _U32, name, dialect, policy, rules, read_i64_le(payload, at + 16))
        queue.paused = what >> 40 & _PAUSED != 0
        _count(queue, payload, at + 24)
        state.queues[name] = queue
        state.by_id[queue.id] = queue
        heap_at = end
    return heap_at


def _count(queue: Queue, payload: bytes, at: i64) -> None:
    queue.modified_us = read_i64_le(payload, at)
    queue.published = read_i64_le(payload, at + 8)
    queue.finished = read_i64_le(payload, at + 16)
    queue.dropped = read_i64_le(payload, at + 24)
    queue.expired = read_i64_le(payload, at + 32)
    queue.deleted = read_i64_le(payload, at + 40)
    queue.delivered = read_i64_le(payload, at + 48)
    queue.failed = read_i64_le(payload, at + 56)


def _restore_messages(state: State, count: i64, payload: bytes) -> i64:
    for message, named in read_messages(count, payload):
        queue = state.by_id.get(message.queue_id)
        if queue is None:
            raise BadBlock(f"message {message.order} is in queue {message.queue_id}, which is not there")
        if named and message.origin is not None:
            queue.by_foreign_id[message.origin.foreign_id] = message
        state.restored(message, queue)
    return len(payload)


def _restore_dedup_ids(state: State, count: i64, payload: bytes) -> i64:
    heap_at: i64 = count * 24
    for number in range(count):
        at: i64 = i64(number) * 24
        what = read_i64_le(payload, at)
        queue = state.by_id.get(what & _U32)
        if queue is None:
            raise BadBlock(f"a dedup id is of queue {what & _U32}, which is not there")
        if queue.dedup is None:
            queue.dedup = Dedup()
        end = heap_at + (what >> 32 & _U16)
        queue.dedup.restored(payload[heap_at:end], read_i64_le(payload, at + 8), read_i64_le(payload, at + 16))
        heap_at = end
    return heap_at


def _restore_marks(state: State, count: i64, payload: bytes) -> i64:
    heap_at: i64 = count * 16
    for number in range(count):
        at: i64 = i64(number) * 16
        end = heap_at + read_i64_le(payload, at)
        state.marks.move(payload[heap_at:end], read_i64_le(payload, at + 8))
        heap_at = end
    return heap_at
