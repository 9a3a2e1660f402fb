"""The frames of the client's dialect as typed structs. What is not said is left out; bytes travel as base 64."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

FRAME_MESSAGES_MAX: Final = 1_000


class Request(Struct, tag_field="type"):
    queue: str
    sync: str
    label: int = 0


class Create(Request, tag="create"):
    retries: int | UnsetType = UNSET


class Entry(Struct, kw_only=True):
    """One message of a publish."""

    body: str | UnsetType = UNSET
    body64: bytes | UnsetType = UNSET
    key: str | UnsetType = UNSET
    key64: bytes | UnsetType = UNSET
    delay: float | UnsetType = UNSET
    ttl: float | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    dedup_id: str | UnsetType = UNSET
    mark: str | UnsetType = UNSET
    row: int | UnsetType = UNSET


class Publish(Request, kw_only=True, tag="publish"):
    create: bool
    messages: list[Entry]


class Reserve(Request, kw_only=True, tag="reserve"):
    max: int
    lease: float
    wait: float


Place: TypeAlias = tuple[int, int]  # shard, sequence


class Finish(Request, kw_only=True, tag="finish"):
    messages: list[Place]


class Release(Request, kw_only=True, tag="release"):
    messages: list[Place]
    delay: float | UnsetType
    failed: bool


class Extend(Request, kw_only=True, tag="extend"):
    messages: list[Place]
    lease: float


class Hello(Struct, tag_field="type", tag="hello"):
    id: int


class Answer(Struct, tag_field="type"):
    label: int


class Published(Struct, frozen=True):
    """Where a message went. `duplicate`: another of the same dedup id was there before, and this is its id.

    `already` above 0: nowhere, for its mark had come to this row before.
    """

    shard: int = 0
    sequence: int = 0
    duplicate: bool = False
    already: int = 0

    @property
    def id(self) -> str:
        return f"{self.shard}/{self.sequence}"


class PublishedAll(Answer, tag="published"):
    messages: list[Published]


class Given(Struct, kw_only=True):
    """One message of a reserve."""

    shard: int
    sequence: int
    body: str = ""
    body64: bytes = b""
    key: str | None = None
    key64: bytes | None = None
    priority: int = 0
    deliveries: int = 1
    failures: int = 0
    published_us: int = 0


class Reserved(Answer, tag="reserved"):
    messages: list[Given]


class Ended(Answer):
    """Of each message whether it was done. One that is not held, or no longer, is left as it is."""

    messages: list[bool]


class Finished(Ended, tag="finished"):
    pass


class Released(Ended, tag="released"):
    pass


class Extended(Ended, tag="extended"):
    pass


class Notice(Answer, tag="notice"):
    notice: str


class Error(Answer, tag="error"):
    code: str
    key: str = ""


Said: TypeAlias = Hello | PublishedAll | Reserved | Finished | Released | Extended | Notice | Error

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[Said]] = msgspec.json.Decoder(Said)


def encode(request: Request) -> bytes:
    return _ENCODER.encode(request)


def decode(payload: bytes) -> Said:
    """Raises msgspec.DecodeError for what no server of ours says."""
    return _DECODER.decode(payload)
