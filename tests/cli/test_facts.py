"""Facts in words."""

from __future__ import annotations

import pytest

from penstock.cli.facts import FactShapes, details
from penstock.codecs.facts import FactBatch, read_facts
from penstock.model import facts
from penstock.model.message import Message, Origin

SECOND = 1_000_000
AT = 1_000 * SECOND


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ({}, ""),
        ({"ready_us": AT, "priority": 0, "expires_us": None}, ""),
        ({"ready_us": AT + 5 * SECOND, "expires_us": AT + 60 * SECOND}, "ready after 5s, expires after 1m"),
        ({"until_us": AT + 30 * SECOND, "deliveries": 2, "holder": 7}, "for 30s, delivery 2, holder 7"),
        ({"due_us": AT + SECOND}, "due after 1s"),
        ({"failure": True, "deliveries": 1}, "delivery 1, counted as a failure"),
        ({"parked": True, "key": "", "body": "a\nb"}, "parked, key , body a\\nb"),
        ({"body64": "/wA="}, "body base64:/wA="),
        ({"policy": {"attempts": 3}}, '{"attempts": 3}'),
        ({"policy": {}, "note": None}, ""),
    ],
)
def test_details_tell_what_is_worth_knowing(shape: dict[str, object], words: str) -> None:
    assert details({"at_us": AT, **shape}) == words


def test_what_came_with_a_publish_is_in_its_shape() -> None:
    message = Message(7, 1, b"body", AT, AT)
    message.key = b""
    message.parked = True
    message.origin = Origin()
    message.origin.dedup_id = b"\xff"
    message.origin.dead_of = 3
    message.origin.mark, message.origin.row = b"list", 9
    message.origin.dead_from = b"a\xff"
    batch = FactBatch()
    batch.queue_changed(facts.DECLARED, 1, 3, b"orders", b"")
    batch.published(message)
    known = FactShapes(None)
    found = read_facts(batch.payload(), 2, batch.heap_bytes(), 1, AT)
    for fact in found:
        known.learn(fact)
    shape = known.shape(found[1])
    assert (shape["queue"], shape["key"], shape["parked"], shape["dedup_id64"]) == ("orders", "", True, "/w==")
    assert (shape["message"], shape["message_number"], shape["dead_of"]) == (None, 7, "3")
    assert (shape["mark"], shape["row"]) == ("list", 9)
    words = "row 9, parked, key , dedup id base64:/w==, of list, dead of 3, dropped from a%FF, body body"
    assert details(shape) == words
