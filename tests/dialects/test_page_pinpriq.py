"""The page of `pinpriq` is true: its layouts are what the session reads, its numbers are the limits."""

from __future__ import annotations

import re

import pytest

from penstock.dialects import pinpriq
from penstock.model import limits
from tests.dialects.folders import transcript, transcripts
from tests.dialects.fuzz_pinpriq import READY, pop, push, subscribe, unsubscribe
from tests.dialects.test_pages import page, section

PAGE = page("pinpriq")
LAYOUTS = dict(re.findall(r"^    ([0-9a-f]{2})(?:  (.+))?$", section(PAGE, "Requests"), re.MULTILINE))
PACKET = "key length u16 · payload length u16 · key · payload"

# what stands in the layouts, once
FIELDS = {
    "name length u16": b"\0\5",
    "TTL u16": b"\3\xe8",
    "priority u8": b"\7",
    "key length u16": b"\0\3",
    "payload length u16": b"\0\2",
    "key": b"key",
    "payload": b"hi",
    "name": b"queue",
}

REQUESTS = {
    "70": push(b"queue", 1_000, 7, b"key", b"hi"),
    "50": pop(b"queue"),
    "73": subscribe(b"queue"),
    "75": unsubscribe(b"queue"),
    "41": READY,
}


def test_the_requests_on_the_page_are_the_requests() -> None:
    opcodes = (pinpriq.PUSH, pinpriq.POP, pinpriq.SUBSCRIBE, pinpriq.UNSUBSCRIBE, pinpriq.CREDIT)
    assert set(LAYOUTS) == set(REQUESTS) == {f"{opcode:02x}" for opcode in opcodes}
    assert f"`{PACKET}`" in PAGE


@pytest.mark.parametrize("opcode", LAYOUTS)
def test_a_request_is_laid_out_as_the_page_says(opcode: str) -> None:
    layout = LAYOUTS[opcode].replace("packet", PACKET)
    fields = [FIELDS[field] for field in layout.split(" · ")] if layout else []
    assert bytes.fromhex(opcode) + b"".join(fields) == REQUESTS[opcode]


def test_every_request_on_the_page_is_made_in_a_transcript() -> None:
    made = {
        step.text[0][:1].hex()
        for dialect, name in transcripts()
        if dialect == "pinpriq"
        for step in transcript(dialect, name).steps
        if step.kind == "C" and isinstance(step.text[0], bytes)
    }
    assert set(LAYOUTS) <= made


@pytest.mark.parametrize(
    "number",
    [
        str(limits.NARROW_MAX),
        str(limits.TAKE_MESSAGES_MAX),
        str(limits.TAKE_BYTES_MAX),
        str(limits.SUBSCRIPTIONS_MAX),
        str(limits.CREDITS_MAX),
        f"{limits.ROOM_WAIT_US // limits.SECOND_US} seconds",
        f"{pinpriq.BEST} less",
    ],
)
def test_the_numbers_on_the_page_are_the_limits(number: str) -> None:
    assert number in PAGE
