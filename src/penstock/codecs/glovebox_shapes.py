"""Requests of the dialect `glovebox` as typed structs, one for each `type`, and what is given out in a list.

What they mean is not known here. Not compiled: mypyc drops how a struct is tagged.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from penstock.model.limits import FRAME_MESSAGES_MAX

Bytes = str | list[Annotated[int, Meta(ge=0, le=255)]]
Number = Annotated[int, Meta(ge=0)] | UnsetType
Option = Annotated[int, Meta(ge=0)] | None | UnsetType
Stage = Literal["ready", "write", "sync"] | UnsetType
Seconds = float | None | UnsetType
Duration = Annotated[float, Meta(ge=0)]
Place = tuple[Annotated[int, Meta(ge=0)], Annotated[int, Meta(ge=0)]]  # shard, sequence
Places = Annotated[list[Place], Meta(max_length=FRAME_MESSAGES_MAX)]


class Create(Struct, tag="create"):
    queue: str
    label: Number = UNSET
    retries: Option = UNSET
    shard_max_entries: Option = UNSET
    shard_max_bytes: Option = UNSET
    sync: Stage = UNSET


class Post(Struct, tag="post"):
    queue: str
    message: Bytes
    priority: int | UnsetType = UNSET
    label: Number = UNSET
    notify: list[Literal["ready", "write", "sync", "assign", "finish", "retry", "drop"]] | UnsetType = UNSET


class Pop(Struct, tag="pop"):
    queue: str
    sync: Stage = UNSET
    timeout: Seconds = UNSET
    label: Number = UNSET


class Fetch(Struct, tag="fetch"):
    queue: str
    work_timeout: float
    block_timeout: Seconds = UNSET
    sync: Stage = UNSET
    label: Number = UNSET


class Finish(Struct, tag="finish"):
    """Of one message, or, with `messages`, of several."""

    queue: str
    sequence: Number = UNSET
    shard: Number = UNSET
    label: Option = UNSET
    response: Literal["ready", "write", "sync"] | UnsetType | None = UNSET
    messages: Places | UnsetType = UNSET
    sync: Stage = UNSET


class Draft(Struct):
    """A message to be published."""

    body: str | UnsetType = UNSET
    body64: bytes | UnsetType = UNSET
    delay: Duration | UnsetType = UNSET
    ttl: Duration | UnsetType = UNSET
    key: str | UnsetType = UNSET
    key64: bytes | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    dedup_id: str | UnsetType = UNSET
    mark: str | UnsetType = UNSET
    row: Annotated[int, Meta(ge=1)] | UnsetType = UNSET


class Publish(Struct, tag="publish"):
    queue: str
    messages: Annotated[list[Draft], Meta(max_length=FRAME_MESSAGES_MAX)]
    label: Number = UNSET
    sync: Stage = UNSET
    create: bool | UnsetType = UNSET


class Reserve(Struct, tag="reserve"):
    queue: str
    label: Number = UNSET
    max: Annotated[int, Meta(ge=1, le=FRAME_MESSAGES_MAX)] | UnsetType = UNSET
    lease: Duration | UnsetType = UNSET
    wait: Duration | UnsetType = UNSET
    sync: Stage = UNSET


class Release(Struct, tag="release"):
    queue: str
    messages: Places
    label: Number = UNSET
    sync: Stage = UNSET
    delay: Duration | UnsetType = UNSET
    failed: bool | UnsetType = UNSET


class Extend(Struct, tag="extend"):
    queue: str
    messages: Places
    lease: Duration
    label: Number = UNSET
    sync: Stage = UNSET


class Given(Struct):
    """A message as it is given out in a list. Bytes that are no text are in the fields that say so."""

    shard: int
    sequence: int
    priority: int
    deliveries: int
    failures: int
    published_us: int
    body: str | UnsetType = UNSET
    body64: bytes | UnsetType = UNSET
    key: str | UnsetType = UNSET
    key64: bytes | UnsetType = UNSET


class Labelled(Struct):
    """Whatever it is: what an answer to it is labelled with."""

    label: Number = UNSET


Request = Create | Post | Pop | Fetch | Finish | Publish | Reserve | Release | Extend
DECODER: Final = msgspec.json.Decoder(Request)
LABELLED: Final = msgspec.json.Decoder(Labelled)
