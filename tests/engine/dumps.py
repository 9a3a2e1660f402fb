"""Whole states as plain data, from the engine and from the model, so that they can be laid side by side."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from penstock.engine.looking import counts, first_ready
from penstock.engine.queue import Queue
from penstock.engine.state import State
from penstock.model.message import DELAYED
from tests.engine.clients import plain, plain_origin, plain_policy
from tests.engine.model import Model

MESSAGE_FIELDS = (
    "body", "key", "priority", "parked", "place", "dialect", "published_us", "ready_us", "expires_us", "lease_us",
    "leased_us", "first_leased_us", "until_us", "holder", "old_place", "deliveries", "failures",
)  # fmt: skip
QUEUE_FIELDS = ("id", "dialect", "created_us", "modified_us", "paused")

_message = attrgetter(*MESSAGE_FIELDS)
_queue = attrgetter(*QUEUE_FIELDS)
_PLACE = MESSAGE_FIELDS.index("place")

Dump = dict[str, Any]


def remembered(queue: Queue) -> dict[bytes, tuple[int, int]]:
    return {} if queue.dedup is None else queue.dedup.numbers()


def dump_state(state: State) -> Dump:
    """All that is true. Dedup ids whose window is over are not: when they leave memory is nobody's business."""
    messages = {
        message.order: (state.by_id[message.queue_id].name, *_message(message), plain_origin(message.origin))
        for message in state.messages.values()
    }
    queues = {}
    for name, queue in state.queues.items():
        over_us = state.now_us - queue.rules.dedup_us
        known = {dedup_id: one for dedup_id, one in remembered(queue).items() if one[1] > over_us}
        ranked = [message.order for message in first_ready(queue, len(messages) + 1)]
        queues[name] = (_queue(queue), plain_policy(queue.policy), plain(counts([queue])), known, ranked)
    return {
        "now_us": state.now_us,
        "next_seq": state.next_seq,
        "next_queue_id": state.next_queue_id,
        "marks": state.marks.rows(),
        "queues": queues,
        "messages": messages,
    }


def dump_model(model: Model) -> Dump:
    truth = model.truth
    messages = {
        message.order: (message.queue, *_message(message), plain_origin(message.origin)) for message in truth.messages
    }
    queues = {}
    for name, queue in truth.queues.items():
        window_us = model.rule(queue, "dedup_us")
        known = {row[0]: row[1:] for row in queue.known if row[2] + window_us > truth.now_us}
        ranked = [message.order for message in model.ranked(name)]
        queues[name] = (_queue(queue), plain_policy(queue.policy), model.counts([name]), known, ranked)
    return {
        "now_us": truth.now_us,
        "next_seq": truth.next_seq,
        "next_queue_id": truth.next_queue_id,
        "marks": truth.marks,
        "queues": queues,
        "messages": messages,
    }


def settled(state: State, now_us: int) -> None:
    """Replay does not watch delays end, for no fact says so: what is due by now is put where it belongs."""
    state.now_us = now_us
    for message in list(state.messages.values()):
        if message.place == DELAYED and message.ready_us <= now_us:
            state.became_due(message, state.by_id[message.queue_id])


def differences(one: Dump, other: Dump) -> list[str]:
    """Where two dumps are not the same, in words."""
    found = [f"{part}: {one[part]} | {other[part]}" for part in one if part not in PARTS and one[part] != other[part]]
    for part in PARTS:
        for key in sorted({*one[part], *other[part]}):
            here, there = one[part].get(key), other[part].get(key)
            if here != there:
                found.append(f"{part[:-1]} {key!r}: {_difference(part, here, there)}")
    return found


PARTS = ("queues", "messages")
_NAMES = {
    "messages": ("queue", *MESSAGE_FIELDS, "origin"),
    "queues": (", ".join(QUEUE_FIELDS), "policy", "counts", "dedup", "in rank"),
}


def _difference(part: str, here: tuple[Any, ...] | None, there: tuple[Any, ...] | None) -> str:
    if here is None or there is None:
        return f"{'absent' if here is None else 'there'} | {'absent' if there is None else 'there'}"
    rows = zip(_NAMES[part], here, there, strict=True)
    return "; ".join(f"{name} {_short(left)} | {_short(right)}" for name, left, right in rows if left != right)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 400 else f"{text[:400]}…"
