"""The page of `rsmq` is true: numbers are the limits, commands are the commands, and no error is missing."""

from __future__ import annotations

import re

from penstock.dialects import rsmq_commands
from penstock.dialects.rsmq_plan import NO_QUEUE, REFUSALS, TOO_MANY, WRONG_TYPE
from penstock.model.limits import (
    BODY_MAX,
    COMMAND_MAX,
    COMMAND_WORDS_MAX,
    INLINE_MAX,
    LISTED_MAX,
    STRANGER_WORD_MAX,
    WORD_MAX,
)
from tests.dialects.folders import transcript, transcripts
from tests.dialects.test_pages import page, section

PAGE = page("rsmq")


def test_the_numbers_on_the_page_are_the_limits() -> None:
    for number in (BODY_MAX, COMMAND_MAX, COMMAND_WORDS_MAX, INLINE_MAX, LISTED_MAX, STRANGER_WORD_MAX, WORD_MAX):
        assert f"{number}" in section(PAGE, "Connection")


def test_every_command_is_on_the_page_and_in_a_transcript() -> None:
    names = {name.decode() for name in rsmq_commands.NAMES}
    told = set(re.findall(r"[A-Z]{3,}", section(PAGE, "Commands")))
    assert names - told == set()
    asked = set()
    for dialect, name in transcripts():
        if dialect == "rsmq":
            for step in transcript(dialect, name).steps:
                sent = b"".join([part for part in step.text if isinstance(part, bytes)])
                asked |= {word.upper().decode() for word in re.findall(rb"\*\d+\r\n\$\d+\r\n([A-Za-z]+)\r\n", sent)}
    assert names - asked == {"INFO"}  # test_rsmq.py has it: it tells of memory


def test_every_refusal_is_on_the_page() -> None:
    shown = section(PAGE, "Errors")
    unshown = {b"ERR no such message", b"ERR the name of the queue is too long"}  # nobody can be told these here
    for words in {*REFUSALS.values(), NO_QUEUE, TOO_MANY, WRONG_TYPE} - unshown:
        assert f"`-{words.decode()}`" in shown
