"""Requests as bincode: bytes to what the session asks for. Bad ones are answered and change nothing."""

from __future__ import annotations

import math
from typing import Final

from mypy_extensions import i64

from penstock.codecs.bincode import Reader
from penstock.dialects.glovebox_asking import UNLABELLED, AskingSession
from penstock.dialects.glovebox_json import BAD_FRAME
from penstock.dialects.glovebox_reading import us
from penstock.dialects.glovebox_words import BAD_REQUEST
from penstock.model import stages

_VERSION: Final[i64] = 0

_POST: Final[i64] = 0
_FETCH: Final[i64] = 1
_FINISH: Final[i64] = 2
_POP: Final[i64] = 3
_CREATE: Final[i64] = 4


def read(session: AskingSession, payload: bytes) -> None:
    reader = Reader(payload)
    version = reader.u32()
    tag = reader.u32()
    if version != _VERSION or not _read(session, reader, tag):
        session.error(0, BAD_REQUEST, BAD_FRAME)


def _read(session: AskingSession, reader: Reader, tag: i64) -> bool:
    """By name and not through a table: compiled, that is a call of C, and the other one of Python."""
    if tag == _POST:
        return _post(session, reader)
    if tag == _FETCH:
        return _fetch(session, reader)
    if tag == _FINISH:
        return _finish(session, reader)
    if tag == _POP:
        return _pop(session, reader)
    return tag == _CREATE and _create(session, reader)


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
