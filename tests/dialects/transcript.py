"""Transcripts as data: reads the notation of README.md. Playing them is the runner's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.dialects.notations import NOTATIONS, Framed, Notation, Text, Token, text

OPTION = re.compile(r"([a-z_]+): (.*)")
STEP = re.compile(r"([CS])(\d?):(?: (.*))?")
TIME = re.compile(r"@\+(\d+)(us|ms|s|m|h|d)")
OTHER = re.compile(r"([BA]): (.*)")
OPEN_END = re.compile(r"(?<!\\)(?:\\\\)*\\$")

UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}


class BadTranscript(Exception):
    """A line that is no step."""


@dataclass(frozen=True)
class Step:
    """`kind`: C, S, B, A, @ or one of the events `open`, `eof`, `close`, `closed`. `whole`: no request is left open."""

    line: int
    kind: str
    connection: int = 0
    text: Text = ()
    time_us: int = 0
    whole: bool = True

    def tokens(self) -> Iterator[Token]:
        for part in self.text:
            for inner in part.text if isinstance(part, Framed) else (part,):
                if isinstance(inner, Token):
                    yield inner

    def subjects(self) -> set[tuple[bool, str]]:
        """The messages and clients that must be known before this is sent."""
        return {token.subject() for token in self.tokens()}


@dataclass(frozen=True)
class Transcript:
    options: Mapping[str, str]
    steps: tuple[Step, ...]


def parse(source: str, notation: str = "lines") -> Transcript:
    options: dict[str, str] = {}
    steps: list[Step] = []
    spoken = NOTATIONS[notation]()
    for number, line in enumerate(source.split("\n"), start=1):
        if not line or line.startswith("#"):
            continue
        option = OPTION.fullmatch(line)
        if option is not None and not steps:
            options[option[1]] = option[2]
        else:
            steps += _steps(number, line, spoken)
    return Transcript(options, tuple(steps))


def _steps(number: int, line: str, spoken: Notation) -> list[Step]:
    if (time := TIME.fullmatch(line)) is not None:
        return [Step(number, "@", time_us=int(time[1]) * UNITS_US[time[2]])]
    if (other := OTHER.fullmatch(line)) is not None:
        return [Step(number, other[1], text=text(other[2]))]
    said = STEP.fullmatch(line)
    if said is None:
        raise BadTranscript(f"line {number} is no step: {line}")
    side, connection, words = said[1], int(said[2] or 1), said[3] or ""
    whole = side == "S" or OPEN_END.search(words) is None
    try:
        found = list(spoken.steps(side, connection, words if whole else words[:-1], whole))
    except ValueError as error:
        raise BadTranscript(f"line {number}: {error}") from None
    return [Step(number, kind, connection, said, whole=whole) for kind, said in found]
