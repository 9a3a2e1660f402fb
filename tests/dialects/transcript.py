"""Transcripts as data: reads the notation of README.md. Playing them is the runner's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

OPTION = re.compile(r"([a-z_]+): (.*)")
STEP = re.compile(r"([CS])(\d?):(?: (.*))?")
TIME = re.compile(r"@\+(\d+)(us|ms|s|m|h|d)")
OTHER = re.compile(r"([BA]): (.*)")
OPEN_END = re.compile(r"(?<!\\)(?:\\\\)*\\$")
SPECIAL = re.compile(r"<id:(\w+)>|<(.)\*(\d+)>|\\(x[0-9a-f]{2}|[nrt0s\\])")
BYTES = re.compile(r'"([^"]*)"|((?:[0-9a-f]{2})+)(?!\S)')

UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "s": b" ", "\\": b"\\"}


class BadTranscript(Exception):
    """A line that is no step."""


@dataclass(frozen=True)
class Id:
    """A place where an id stands."""

    name: str


Text = tuple[bytes | Id, ...]
Notation = Callable[[str, bool], Text]  # what is written, and whether it is whole


@dataclass(frozen=True)
class Step:
    """`kind`: C, S, B, A, @ or one of the events `open`, `eof`, `close`, `closed`. `whole`: no request is left open."""

    line: int
    kind: str
    connection: int = 0
    text: Text = ()
    time_us: int = 0
    whole: bool = True

    def ids(self) -> set[str]:
        return {part.name for part in self.text if isinstance(part, Id)}


@dataclass(frozen=True)
class Transcript:
    options: Mapping[str, str]
    steps: tuple[Step, ...]


def parse(source: str, notation: str = "lines") -> Transcript:
    options: dict[str, str] = {}
    steps: list[Step] = []
    for number, line in enumerate(source.split("\n"), start=1):
        if not line or line.startswith("#"):
            continue
        option = OPTION.fullmatch(line)
        if option is not None and not steps:
            options[option[1]] = option[2]
        else:
            steps.append(_step(number, line, NOTATIONS[notation]))
    return Transcript(options, tuple(steps))


def _step(number: int, line: str, spoken: Notation) -> Step:
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
    whole = side == "S" or OPEN_END.search(words) is None
    try:
        return Step(number, side, connection, spoken(words if whole else words[:-1], whole), whole=whole)
    except ValueError as error:
        raise BadTranscript(f"line {number}: {error}") from None


def _event(number: int, side: str, name: str) -> str:
    events = {("C", "open"): "open", ("C", "eof"): "eof", ("C", "close"): "close", ("S", "close"): "closed"}
    if (side, name) not in events:
        raise BadTranscript(f"line {number}: there is no event {side}: !{name}")
    return events[side, name]


def in_lines(words: str, whole: bool) -> Text:
    return (*text(words), b"\n") if whole else text(words)


def in_bytes(words: str, whole: bool) -> Text:
    """Bytes that follow each other are one part."""
    unread = BYTES.sub("", words).strip()
    if unread or not words.strip():
        raise ValueError(f"neither hex digits in pairs nor a quoted text: {unread!r}")
    parts: list[bytes | Id] = []
    for found in BYTES.finditer(words):
        for part in text(found[1]) if found[2] is None else (bytes.fromhex(found[2]),):
            if parts and isinstance(part, bytes) and isinstance(last := parts[-1], bytes):
                parts[-1] = last + part
            else:
                parts.append(part)
    return tuple(parts)


NOTATIONS: Mapping[str, Notation] = {"lines": in_lines, "bytes": in_bytes}


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
