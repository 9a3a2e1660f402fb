"""Requests as bincode: bytes to what the session asks for. Bad ones are answered and change nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from penstock.codecs.bincode import Reader
from penstock.dialects.glovebox_asking import UNLABELLED, AskingSession
from penstock.dialects.glovebox_json import BAD_FRAME
from penstock.dialects.glovebox_reading import us
from penstock.dialects.glovebox_words import BAD_REQUEST
from penstock.model import stages

_VERSION: Final[i64] = 0


def read(session: AskingSession, payload: bytes) -> None:
    reader = Reader(payload)
    version = reader.u32()
    tag = reader.u32()
    if version != _VERSION or tag >= len(READERS) or not READERS[tag](session, reader):
        session.error(0, BAD_REQUEST, BAD_FRAME)


# -- requests; False: it is none


def _post(session: AskingSession, reader: Reader) -> bool:
    queue = reader.text()
    body = reader.blob()
    priority = reader.i16()
    label = reader.u64()
    notify: i64 = 0
    for _ in range(reader.count(4)):
        notify |= 1 << _stage(reader, stages.DROP)
    if not reader.done():
        return False
    session.post(queue, body, priority, label, notify)
    return True


def _fetch(session: AskingSession, reader: Reader) -> bool:
    queue = reader.text()
    wait_us = _duration_us(reader) if reader.some() else 0
    work_us = _duration_us(reader)
    stage = _stage(reader, stages.SYNC)
    label = reader.u64()
    if not reader.done():
        return False
    session.fetch(queue, wait_us, work_us, stage, label)
    return True


def _finish(session: AskingSession, reader: Reader) -> bool:
    queue = reader.text()
    sequence = reader.u64()
    shard = reader.u32()
    label = reader.u64() if reader.some() else UNLABELLED
    stage = _stage(reader, stages.SYNC) if reader.some() else stages.READY
    if not reader.done():
        return False
    session.finish(queue, shard, sequence, label, stage)
    return True


def _pop(session: AskingSession, reader: Reader) -> bool:
    queue = reader.text()
    stage = _stage(reader, stages.SYNC)
    wait_us = _duration_us(reader) if reader.some() else 0
    label = reader.u64()
    if not reader.done():
        return False
    session.pop(queue, stage, wait_us, label)
    return True


def _create(session: AskingSession, reader: Reader) -> bool:
    """Shards are not what this server keeps its messages in, so their sizes mean nothing to it."""
    queue = reader.text()
    label = reader.u64()
    retries = reader.u32() if reader.some() else -1
    for _ in ("shard_max_entries", "shard_max_bytes"):
        if reader.some():
            reader.u64()
    if not reader.done():
        return False
    session.create(queue, label, retries, session.context.confirm)
    return True


# -- values


def _stage(reader: Reader, last: i64) -> i64:
    stage = reader.u32()
    if stage > last:
        reader.fail()
        return stages.READY
    return stage


def _duration_us(reader: Reader) -> i64:
    seconds = reader.f32()
    if not math.isfinite(seconds):
        reader.fail()
        return 0
    return us(seconds)


READERS: Final[tuple[Callable[[AskingSession, Reader], bool], ...]] = (_post, _fetch, _finish, _pop, _create)
