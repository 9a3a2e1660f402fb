"""How what is sent and said is written in a transcript: lines, bytes or WebSocket frames. README.md beside this file
specifies all three; transcript.py reads the rest."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(r"<(id|long|shard|sequence|client):(\w+)>")
SPECIAL = re.compile(rf"{TOKEN.pattern}|<(.)\*(\d+)>|\\(x[0-9a-f]{{2}}|[nrt0s\\])")
BYTES = re.compile(rf'"([^"]*)"|((?:[0-9a-f]{{2}})+)(?!\S)|{TOKEN.pattern}(?!\S)')

ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "s": b" ", "\\": b"\\"}
CLIENT = "client"
LONG = "long"
LONG_BYTES = 32
EVENTS = {("C", "open"): "open", ("C", "eof"): "eof", ("C", "close"): "close", ("S", "close"): "closed"}

# The first byte of a frame, by what is written for it; a message of several frames: the first, those between, the last.
FRAMES = {"": 0x81, "bin": 0x82, "close": 0x88, "ping": 0x89, "pong": 0x8A}
FIN = 0x80
MASKED = 0x80

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="  # and what must be said to it, both from RFC 6455
WELCOME = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)
HEAD = b"GET /connect HTTP/1.1\r\nHost: penstock\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
KEYS = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + b"\r\n"


@dataclass(frozen=True)
class Token:
    """A place where something stands that only the server knows. `binary`: as an integer, little endian."""

    kind: str
    name: str
    binary: bool = False

    def subject(self) -> tuple[bool, str]:
        """The message or the client it belongs to. A long id does not follow from another form of the same number."""
        return self.kind == CLIENT, f"long {self.name}" if self.kind == LONG else self.name


@dataclass(frozen=True)
class Framed:
    """A frame from its second byte on: its length, and what is in it."""

    text: tuple[bytes | Token, ...]


Words = tuple[bytes | Token, ...]
Text = tuple[bytes | Token | Framed, ...]
Spoken = Iterator[tuple[str, Text]]  # a step's kind, and what is sent or said


def text(words: str) -> Words:
    return tuple(_parts(words))


def _parts(words: str) -> Iterator[bytes | Token]:
    at = 0
    for special in SPECIAL.finditer(words):
        if at < special.start():
            yield words[at : special.start()].encode()
        at = special.end()
        kind, name, letter, times, escape = special.groups()
        if kind is not None:
            yield Token(kind, name)
        elif letter is not None:
            yield letter.encode() * int(times)
        else:
            yield bytes.fromhex(escape[1:]) if escape.startswith("x") else ESCAPES[escape]
    if at < len(words):
        yield words[at:].encode()


def in_bytes(words: str) -> Words:
    """Bytes that follow each other are one part."""
    unread = BYTES.sub("", words).strip()
    if unread or not words.strip():
        raise ValueError(f"neither hex digits in pairs nor a quoted text: {unread!r}")
    return _joined([part for found in BYTES.finditer(words) for part in _piece(found)])


def _piece(found: re.Match[str]) -> Words:
    quoted, digits, kind, name = found.groups()
    if kind is not None:
        return (Token(kind, name, binary=True),)
    return text(quoted) if digits is None else (bytes.fromhex(digits),)


def _joined(parts: list[bytes | Token]) -> Words:
    out: list[bytes | Token] = []
    for part in parts:
        if out and isinstance(part, bytes) and isinstance(last := out[-1], bytes):
            out[-1] = last + part
        else:
            out.append(part)
    return tuple(out)


class Notation:
    """Reads what stands behind `C:` and `S:`. One for each transcript."""

    def steps(self, side: str, connection: int, words: str, whole: bool) -> Spoken:
        if words.startswith("!"):
            yield from self.event(side, connection, *words[1:].partition(" ")[::2])
        else:
            yield side, self.said(words, whole)

    def event(self, side: str, connection: int, name: str, rest: str) -> Spoken:
        if rest or (side, name) not in EVENTS:
            raise ValueError(f"there is no event {side}: !{name} {rest}".strip())
        yield EVENTS[side, name], ()

    def said(self, words: str, whole: bool) -> Text:
        raise NotImplementedError


class Lines(Notation):
    def said(self, words: str, whole: bool) -> Text:
        return (*text(words), b"\n") if whole else text(words)


class Bytes(Notation):
    def said(self, words: str, whole: bool) -> Text:
        return in_bytes(words)


class Frames(Notation):
    """A connection is upgraded before its first frame; one that begins with raw bytes is not."""

    def __init__(self) -> None:
        self._connected: set[int] = set()
        self._going_on: set[int] = set()  # connections with a message that is not whole

    def steps(self, side: str, connection: int, words: str, whole: bool) -> Spoken:
        if words.startswith("!"):
            yield from super().steps(side, connection, words, whole)
        elif words.startswith("raw "):
            self._connected.add(connection)
            yield side, (b"", *in_bytes(words[4:]))  # may be refused before its last byte: none of it goes ahead
        elif side == "S":
            yield "S", expected(*_payload(words))
        else:
            yield from self._connect(connection, "")
            name, payload = _payload(words)
            yield "C", sent(self._first(connection, FRAMES[name], whole), payload)

    def event(self, side: str, connection: int, name: str, rest: str) -> Spoken:
        if (side, name) == ("C", "open"):
            yield from self._connect(connection, rest)
        elif name in ("ping", "pong") or (name == "close" and rest):
            payload = (int(rest).to_bytes(2, "big"),) if name == "close" else text(rest)
            yield from self._control(side, connection, name, payload)
        else:
            if name == "close":
                self._forget(connection)
            yield from super().event(side, connection, name, rest)

    def said(self, words: str, whole: bool) -> Text:
        name, payload = _payload(words)
        return sent(FRAMES[name] if whole else FRAMES[name] - FIN, payload)

    def _control(self, side: str, connection: int, name: str, payload: Words) -> Spoken:
        if side == "C":
            yield from self._connect(connection, "")
            yield "C", sent(FRAMES[name], payload)
        elif name == "close":
            self._forget(connection)
            yield "closed", expected(name, payload)
        else:
            yield "S", expected(name, payload)

    def _connect(self, connection: int, headers: str) -> Spoken:
        if connection not in self._connected:
            self._connected.add(connection)
            extra = (*text(headers.replace("; ", r"\r\n")), b"\r\n") if headers else ()
            yield "C", (HEAD, *extra, KEYS + b"\r\n")
            yield "S", (WELCOME,)

    def _forget(self, connection: int) -> None:
        self._connected.discard(connection)
        self._going_on.discard(connection)

    def _first(self, connection: int, first: int, whole: bool) -> int:
        """The first byte of a frame that begins a message, or goes on with it, or ends it."""
        if connection in self._going_on:
            first = FIN
        if whole:
            self._going_on.discard(connection)
            return first
        self._going_on.add(connection)
        return first - FIN


def _payload(words: str) -> tuple[str, Words]:
    return ("bin", in_bytes(words[4:])) if words.startswith("bin ") else ("", text(words))


def expected(name: str, payload: Words) -> Text:
    return bytes((FRAMES[name],)), Framed(payload)


def sent(first: int, payload: Words) -> Text:
    """Bytes where all of it is known beforehand: those can be cut anywhere."""
    head = bytes((first,))
    whole = b"".join([part for part in payload if isinstance(part, bytes)])
    if any(isinstance(part, Token) for part in payload):
        return head, Framed(payload)
    return (head + masked(whole),)


def masked(payload: bytes) -> bytes:
    """A client's frame from its second byte on."""
    mask = zlib.crc32(payload).to_bytes(4, "big")
    masks = (mask * (len(payload) // 4 + 1))[: len(payload)]
    hidden = int.from_bytes(payload, "big") ^ int.from_bytes(masks, "big")
    return _length(len(payload)) + mask + hidden.to_bytes(len(payload), "big")


def _length(length: int) -> bytes:
    if length < 126:
        return bytes((MASKED | length,))
    if length < 65_536:
        return bytes((MASKED | 126,)) + length.to_bytes(2, "big")
    return bytes((MASKED | 127,)) + length.to_bytes(8, "big")


def unframed(data: bytes) -> tuple[bytes, int]:
    """What is in a server's frame, of which this is all but the first byte; and how long that is, 0 where it is cut."""
    size = {126: 2, 127: 8}.get(data[0], 0) if data else 0
    begin = 1 + size
    length = int.from_bytes(data[1:begin], "big") if size else data[0] if data else 0
    end = begin + length
    return (data[begin:end], end) if data and len(data) >= end else (b"", 0)


ANSWER = re.compile(r'"((?:[^"\\]|\\.)*)"|([][~>%*]+)|(\+\S+|-.*)|([:,]\S+)|(nil|null)|(\S)')
HEADS = {"[": b"*", "~[": b"~", ">[": b">", "%[": b"%"}
NOTHING = {"nil": b"$-1\r\n", "null": b"_\r\n"}


class Commands(Notation):
    """RESP: a command is its words, an answer is written as README.md says."""

    def steps(self, side: str, connection: int, words: str, whole: bool) -> Spoken:
        if words.startswith("raw "):
            yield side, in_bytes(words[4:])
        elif side == "S" and not words.startswith("!"):
            yield "S", answer(words)
        else:
            yield from super().steps(side, connection, words, whole)

    def said(self, words: str, whole: bool) -> Text:
        found = [text(quoted or plain) for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', words)]
        parts = _joined([b"*%d\r\n" % len(found), *[part for word in found for part in bulk(word)]])
        last = parts[-1]
        assert isinstance(last, bytes)
        return parts if whole else (*parts[:-1], last[:-1])


def bulk(word: Words) -> Words:
    length = sum(LONG_BYTES if isinstance(part, Token) else len(part) for part in word)
    return b"$%d\r\n" % length, *word, b"\r\n"


def answer(words: str) -> Text:
    """Arrays are counted, so that only what is in them is written."""
    opened: list[tuple[bytes, list[bytes | Token], int]] = [(b"", [], 0)]
    for string, bracket, line, number, nothing, other in ANSWER.findall(words):
        if other:
            raise ValueError(f"this is no answer: {other!r}")
        if bracket in HEADS:
            opened.append((HEADS[bracket], [], 0))
            continue
        if bracket:
            head, inside, count = opened.pop()
            parts: Words = (b"%b%d\r\n" % (head, count // 2 if head == b"%" else count), *inside)
        elif line or number:
            parts = (*text(line or number), b"\r\n")
        else:
            parts = (NOTHING[nothing],) if nothing else bulk(text(string))
        head, inside, count = opened.pop()
        opened.append((head, [*inside, *parts], count + 1))
    return _joined(opened[0][1])


NOTATIONS: dict[str, type[Notation]] = {"lines": Lines, "bytes": Bytes, "frames": Frames, "commands": Commands}
