"""RESP as a client has it, in the plainest way: commands to bytes, bytes to answers. No code shared with the codec."""

from __future__ import annotations

from typing import Any

RECEIVE = b"937bb26841b123886255ef3956a57c83e829ab3e"
POP = b"70a940e88769e808900bf46f3e0c089bb3601884"
VISIBILITY = b"776ef84d345918f8c59aea092c4833b12d17a83b"


class Error(str):
    """An answer that begins with a minus."""


def command(*words: bytes | int) -> bytes:
    texts = [b"%d" % word if isinstance(word, int) else word for word in words]
    return b"*%d\r\n" % len(texts) + b"".join([b"$%d\r\n%b\r\n" % (len(text), text) for text in texts])


def multi(*commands: bytes) -> bytes:
    return command(b"MULTI") + b"".join(commands) + command(b"EXEC")


def answers(heard: bytes) -> list[Any]:
    found = []
    while heard:
        answer, heard = _answer(heard)
        found.append(answer)
    return found


def _answer(heard: bytes) -> tuple[Any, bytes]:
    line, rest = heard.split(b"\r\n", 1)
    kind, said = line[:1], line[1:]
    if kind == b"-":
        return Error(said.decode("latin-1")), rest
    if kind == b"+":
        return said.decode("latin-1"), rest
    if kind == b":":
        return int(said), rest
    if kind == b"_" or said == b"-1":
        return None, rest
    if kind == b"$":
        assert rest[int(said) : int(said) + 2] == b"\r\n"
        return rest[: int(said)], rest[int(said) + 2 :]
    assert kind == b"*", heard
    found = []
    for _ in range(int(said)):
        answer, rest = _answer(rest)
        found.append(answer)
    return found, rest
