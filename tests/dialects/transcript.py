"""Transcripts as data: reads the notation of README.md. Playing them is the runner's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OPTION = re.compile(r"([a-z_]+): (.*)")
STEP = re.compile(r"([CS])(\d?):(?: (.*))?")
TIME = re.compile(r"@\+(\d+)(us|ms|s|m|h|d)")
OTHER = re.compile(r"([BA]): (.*)")
SPECIAL = re.compile(r"<id:(\w+)>|<(.)\*(\d+)>|\\(x[0-9a-f]{2}|[nrt0s\\])")

UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "s": b" ", "\\": b"\\"}


class BadTranscript(Exception):
    """A line that is no step."""


@dataclass(frozen=True)
class Id:
    """A place where an id stands."""

    name: str


Text = tuple[bytes | Id, ...]


@dataclass(frozen=True)
class Step:
    """`kind`: C, S, B, A, @ or one of the events `open`, `eof`, `close`, `closed`."""

    line: int
    kind: str
    connection: int = 0
    text: Text = ()
    time_us: int = 0

    def ids(self) -> set[str]:
        return {part.name for part in self.text if isinstance(part, Id)}


@dataclass(frozen=True)
class Transcript:
    options: Mapping[str, str]
    steps: tuple[Step, ...]


def read(path: Path) -> Transcript:
    return parse(path.read_text("utf-8"))


def parse(source: str) -> Transcript:
    options: dict[str, str] = {}
    steps: list[Step] = []
    for number, line in enumerate(source.split("\n"), start=1):
        if not line or line.startswith("#"):
            continue
        option = OPTION.fullmatch(line)
        if option is not None and not steps:
            options[option[1]] = option[2]
        else:
            steps.append(_step(number, line))
    return Transcript(options, tuple(steps))


def _step(number: int, line: str) -> Step:
    if (time := TIME.fullmatch(line)) is not None:
        return Step(number, "@", time_us=int(time[1]) * UNITS_US[time[2]])
    if (other := OTHER.fullmatch(line)) is not None:
        return Step(number, other[1], text=text(other[2]))
    said = STEP.fullmatch(line)
    if said is None:
        raise BadTranscript(f"line {number} is no step: {line}")
    side, connection, words = said[1], int(said[2] or 1), said[3] or ""
    if words.startswith("!"):
        return Step(number, _event(number, side, words[1:]), connection)
    return Step(number, side, connection, _whole_line(side, words))


def _event(number: int, side: str, name: str) -> str:
    events = {("C", "open"): "open", ("C", "eof"): "eof", ("C", "close"): "close", ("S", "close"): "closed"}
    if (side, name) not in events:
        raise BadTranscript(f"line {number}: there is no event {side}: !{name}")
    return events[side, name]


def _whole_line(side: str, words: str) -> Text:
    goes_on = side == "C" and re.search(r"(?<!\\)(?:\\\\)*\\$", words) is not None
    return text(words[:-1]) if goes_on else (*text(words), b"\n")


def text(words: str) -> Text:
    return tuple(_parts(words))


def _parts(words: str) -> Iterator[bytes | Id]:
    at = 0
    for special in SPECIAL.finditer(words):
        if at < special.start():
            yield words[at : special.start()].encode()
        at = special.end()
        name, letter, times, escape = special.groups()
        if name is not None:
            yield Id(name)
        elif letter is not None:
            yield letter.encode() * int(times)
        else:
            yield bytes.fromhex(escape[1:]) if escape.startswith("x") else ESCAPES[escape]
    if at < len(words):
        yield words[at:].encode()
