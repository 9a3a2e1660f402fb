"""The page of `etzel` is true: every answer on it is heard, every error too, and its numbers are the limits."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from penstock.dialects import etzel
from penstock.model import limits
from tests.dialects.folders import source, transcript, transcripts
from tests.dialects.notations import Framed
from tests.dialects.test_pages import page, section
from tests.dialects.transcript import Step

PAGE = page("etzel")
STEPS = [step for dialect, name in transcripts() if dialect == "etzel" for step in transcript(dialect, name).steps]


def spoken(step: Step) -> dict[str, Any] | None:
    """What is in a frame, if it is an object."""
    words = [word for part in step.text if isinstance(part, Framed) for word in part.text]
    payload = b"".join([word if isinstance(word, bytes) else b"0" for word in words])
    try:
        found = json.loads(payload)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


HEARD = [said for step in STEPS if step.kind == "S" and (said := spoken(step)) is not None]


def shape(said: dict[str, Any]) -> tuple[object, ...]:
    return said["cmd"], *said


def documented() -> list[dict[str, Any]]:
    """Whole answers, on the page of requests."""
    answers = re.findall(r"^- `(\{.+?\})`", section(PAGE, "Requests"), re.MULTILINE)
    return [json.loads(answer) for answer in answers]


def test_every_answer_on_the_page_is_heard_in_a_transcript_and_none_is_heard_that_is_not_there() -> None:
    pushed = {"cmd": "awk", "qname": "q"}
    assert {shape(said) for said in [*documented(), pushed]} == {shape(said) for said in HEARD}


def test_every_error_on_the_page_is_heard_and_none_is_heard_that_is_not_there() -> None:
    listed = re.findall(r"^\| `([A-Z_]+)` \|", section(PAGE, "Errors"), re.MULTILINE)
    heard = {said["err"] for said in HEARD if said["cmd"] == "nok"}
    assert set(listed) == {*heard, "DENIED"}
    assert f'"{listed[0]}"'.encode() in etzel.BAD_REQUEST


def test_every_request_on_the_page_is_one() -> None:
    asked = re.findall(r"^    (\{.+\})$", section(PAGE, "Requests"), re.MULTILINE)
    words = [json.loads(text)["cmd"] for text in asked]
    assert words == ["PUB", "FET", "ACK", "SUB", "ISLP", "awk"]


@pytest.mark.parametrize(
    "number",
    [
        limits.BODY_MAX,
        limits.QUEUE_NAME_MAX,
        limits.FRAME_MAX,
        limits.FRAGMENTS_MAX,
        limits.HEAD_MAX,
        limits.SUBSCRIPTIONS_MAX,
        limits.SUBSCRIBED_BYTES_MAX,
        limits.SUBSCRIPTION_OVERHEAD,
        limits.JSON_DEPTH_MAX,
        etzel.DELAY_MAX_S,
        etzel.EXPIRES_MAX_S,
        etzel.TIMEOUT_MAX_S,
        etzel.TIMEOUT_MIN_S,
        etzel.TIMEOUT_DEFAULT_S,
    ],
)
def test_the_numbers_on_the_page_are_the_limits(number: int) -> None:
    assert re.search(rf"\b{number}\b", PAGE)


def test_the_close_codes_on_the_page_are_those_that_are_said_unasked() -> None:
    """1001, the server's own end, is not in the language of the transcripts: a live test hears it."""
    listed = set(re.findall(r"^\| (1\d{3}) \|", PAGE, re.MULTILINE))
    text = "".join(source(dialect, name) for dialect, name in transcripts() if dialect == "etzel")
    answered = set(re.findall(r"^C\d?: !close (\d+)$", text, re.MULTILINE))
    heard = set(re.findall(r"^S\d?: !close (\d+)$", text, re.MULTILINE))
    assert listed == heard - answered | {"1001"}
