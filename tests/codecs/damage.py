"""Requests that are almost what they were: most are no longer plain, some no longer JSON, some mean something else."""

from __future__ import annotations

from random import Random

MARKS = b'"{}[],:. \\0159eqx\n\xc3'


def damaged(payload: bytes, chance: Random) -> bytes:
    """With a piece of it cut out, doubled, or another character in it; or as it was."""
    for _ in range(chance.randrange(3)):
        at, length = chance.randrange(len(payload) + 1), chance.randrange(4)
        piece = chance.choice([b"", payload[at : at + 2 * length], bytes([chance.choice(MARKS)])])
        payload = payload[:at] + piece + payload[at + length :]
    return payload
