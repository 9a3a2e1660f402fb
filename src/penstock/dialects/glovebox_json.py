"""Requests as JSON text: from plain ones or typed structs to what the session asks for. Bad ones are answered and
change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mypy_extensions import i64

from penstock.codecs import glovebox_plain
from penstock.codecs.bincode import U32_MAX, is_u64
from penstock.codecs.glovebox_plain import PlainRequest
from penstock.codecs.glovebox_shapes import (
    DECODER,
    LABELLED,
    Create,
    Extend,
    Fetch,
    Finish,
    Pop,
    Post,
    Publish,
    Release,
    Reserve,
)
from penstock.codecs.plain import COMPILED
from penstock.dialects import glovebox_lists
from penstock.dialects.glovebox_asking import UNLABELLED, AskingSession
from penstock.dialects.glovebox_reading import Reading
from penstock.dialects.glovebox_words import BAD_REQUEST
from penstock.model import stages
from penstock.model.limits import PRIORITY_MAX, PRIORITY_MIN
from penstock.model.stages import STAGES

BAD_FRAME: Final = b"not a request"
_DECODE: Final = DECODER.decode
_NOTIFY: Final = {name: 1 << stage for stage, name in enumerate(STAGES)}


def read(session: AskingSession, plain: PlainRequest, payload: bytes) -> None:
    if not COMPILED or not _read_plain(session, plain, payload):
        read_any(session, payload)


def _read_plain(session: AskingSession, plain: PlainRequest, payload: bytes) -> bool:
    kind = plain.kind_of(payload)
    if kind == glovebox_plain.POST:
        session.post(plain.queue, plain.message, plain.priority, plain.label, plain.notify)
    elif kind == glovebox_plain.FETCH:
        session.fetch(plain.queue, plain.wait_us, plain.work_us, plain.stage, plain.label)
    elif kind == glovebox_plain.FINISH:
        label = plain.label if plain.said & glovebox_plain.LABEL != 0 else UNLABELLED
        session.finish(plain.queue, plain.shard, plain.sequence, label, plain.stage)
    elif kind == glovebox_plain.POP:
        session.pop(plain.queue, plain.stage, plain.wait_us, plain.label)
    return kind != glovebox_plain.NONE


def read_any(session: AskingSession, payload: bytes) -> None:
    try:
        request = _DECODE(payload)
    except (ValueError, RecursionError):
        session.error(label_of(payload), BAD_REQUEST, BAD_FRAME)
        return
    reading = Reading(payload)
    if not READERS[type(request)](session, request, reading):
        session.error(reading.label if is_u64(reading.label) else 0, BAD_REQUEST, BAD_FRAME)


def label_of(payload: bytes) -> int:
    """Of something that is no request of ours, but may have one."""
    try:
        label = LABELLED.decode(payload).label
    except (ValueError, RecursionError):
        return 0
    return label if isinstance(label, int) and is_u64(label) else 0


# -- the five requests that have a binary form; False: it is none after all


def _create(session: AskingSession, request: Create, reading: Reading) -> bool:
    label = reading.labelled(request.label)
    retries = reading.number(request.retries, -1)
    entries = reading.number(request.shard_max_entries, 0)
    shard_bytes = reading.number(request.shard_max_bytes, 0)
    stage = reading.stage(request.sync, session.context.confirm)
    queue = reading.text(request.queue)
    if retries > U32_MAX or not is_u64(entries) or not is_u64(shard_bytes) or not reading.is_sound():
        return False
    session.create(queue, label, retries, stage)
    return True


def _post(session: AskingSession, request: Post, reading: Reading) -> bool:
    label = reading.labelled(request.label)
    priority = reading.number(request.priority, 0)
    queue = reading.text(request.queue)
    message = request.message
    if isinstance(message, str):
        body = reading.text(message)
    else:
        reading.members += 1
        body = bytes(message)
    notify: i64 = 0
    asked: Any = request.notify
    if isinstance(asked, list):
        reading.members += 1
        for name in asked:
            notify |= _NOTIFY[name]
    if priority < PRIORITY_MIN or priority > PRIORITY_MAX or not reading.is_sound():
        return False
    session.post(queue, body, priority, label, notify)
    return True


def _pop(session: AskingSession, request: Pop, reading: Reading) -> bool:
    label = reading.labelled(request.label)
    stage = reading.stage(request.sync, stages.READY)
    wait_us = reading.duration_us(request.timeout, 0)
    queue = reading.text(request.queue)
    if not reading.is_sound():
        return False
    session.pop(queue, stage, wait_us, label)
    return True


def _fetch(session: AskingSession, request: Fetch, reading: Reading) -> bool:
    label = reading.labelled(request.label)
    stage = reading.stage(request.sync, stages.READY)
    wait_us = reading.duration_us(request.block_timeout, 0)
    work_us = reading.duration_us(request.work_timeout, 0)
    queue = reading.text(request.queue)
    if not reading.is_sound():
        return False
    session.fetch(queue, wait_us, work_us, stage, label)
    return True


def _finish(session: AskingSession, request: Finish, reading: Reading) -> bool:
    if isinstance(request.messages, list):
        return glovebox_lists.finish_all(session, request, reading)
    label = reading.number(request.label, UNLABELLED)
    reading.label = max(label, 0)
    stage = reading.stage(request.response, stages.READY)
    sequence = reading.number(request.sequence, -1)
    shard = reading.number(request.shard, -1)
    queue = reading.text(request.queue)
    if not is_u64(sequence) or not 0 <= shard <= U32_MAX or not reading.is_sound():
        return False
    session.finish(queue, shard, sequence, label, stage)
    return True


READERS: Final[dict[type, Callable[[AskingSession, Any, Reading], bool]]] = {
    Create: _create,
    Post: _post,
    Pop: _pop,
    Fetch: _fetch,
    Finish: _finish,
    Publish: glovebox_lists.publish,
    Reserve: glovebox_lists.reserve,
    Release: glovebox_lists.release,
    Extend: glovebox_lists.extend,
}
