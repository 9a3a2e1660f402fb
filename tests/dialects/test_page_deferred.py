"""The page of `deferred` is true: numbers are the limits, and no answer is missing."""

from __future__ import annotations

import re

from penstock.dialects import deferred
from penstock.model.limits import BODY_MAX, LINE_MAX
from tests.dialects.folders import transcript, transcripts
from tests.dialects.test_pages import page, section
from tests.dialects.transcript import Step

PAGE = page("deferred")
PLACE = re.compile(r"<[A-Za-z_0-9.]+>")


def test_the_numbers_on_the_page_are_the_limits() -> None:
    for number in (BODY_MAX, LINE_MAX, deferred.DELAY_MAX_MS):
        assert str(number) in PAGE


# -- every answer of the page is heard in a transcript, and every answer in a transcript is on the page


def documented() -> set[str]:
    """The answers of the table of errors and of the commands, with a place for whatever may stand there."""
    items = "".join(re.findall(r"^- (`[^:(\n]+)", section(PAGE, "Commands"), re.MULTILINE))
    errors = re.findall(r"^\| `([^`]+)` \|", section(PAGE, "Errors"), re.MULTILINE)
    return {*errors, *re.findall("`([^`]+)`", items)}


def heard() -> list[bytes]:
    found = [
        step for dialect, name in transcripts() if dialect == "deferred" for step in transcript(dialect, name).steps
    ]
    return [spoken(step) for step in found if step.kind == "S"]


def spoken(step: Step) -> bytes:
    return b"".join([part if isinstance(part, bytes) else b"0123456789" for part in step.text]).removesuffix(b"\n")


def pattern(answer: str) -> re.Pattern[bytes]:
    pieces = [re.escape(piece) for piece in PLACE.split(answer)]
    return re.compile("(?s:.*)".join(pieces).encode())


# Said by brokers that know who is asking; test_deferred.py has it.
NOT_YET_HEARD = {"permission denied"}


def test_every_answer_on_the_page_is_heard_in_a_transcript() -> None:
    answers = documented()
    assert len(answers) == 13
    lines = heard()
    silent = {answer for answer in answers if not any(pattern(answer).fullmatch(line) for line in lines)}
    assert silent == NOT_YET_HEARD


def test_every_answer_in_a_transcript_is_on_the_page() -> None:
    patterns = [pattern(answer) for answer in documented()]
    assert [line for line in heard() if not any(known.fullmatch(line) for known in patterns)] == []


def test_every_word_of_the_session_is_on_the_page() -> None:
    words = {value for name, value in vars(deferred).items() if isinstance(value, bytes) and value.endswith(b"\n")}
    words |= set(deferred.REFUSALS.values())
    assert {word.decode().removesuffix("\n") for word in words} <= documented()


def test_every_request_on_the_page_is_made_in_a_transcript() -> None:
    requests = re.findall(r"^    ([A-Z]+)", PAGE, re.MULTILINE)
    assert set(requests) == {verb.decode() for verb in deferred.VERBS}
