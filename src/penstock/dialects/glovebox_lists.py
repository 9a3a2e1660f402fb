"""Requests of our own, which speak of several messages at once: from typed structs to what the session asks for.

Each says whether it is a request at all; one that is not has asked for nothing.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from penstock.codecs.glovebox_shapes import Draft, Extend, Finish, Publish, Release, Reserve
from penstock.dialects.glovebox_asking import EXTEND_ALL, FINISH_ALL, RELEASE_ALL, AskingSession
from penstock.dialects.glovebox_reading import Reading
from penstock.model import contract
from penstock.model.contract import Call
from penstock.model.limits import NEVER_US, PRIORITY_MAX, PRIORITY_MIN
from penstock.model.message import Origin
from penstock.model.options import Publishing

_ROW_MAX: Final = int(NEVER_US)  # compiled, a number beyond 64 bits cannot be compared with an i64
_NEITHER: Final = -2  # of a shard and a sequence, each of them -1
_TWO: Final = b"said twice, as text and as bytes"


def publish(session: AskingSession, request: Publish, reading: Reading) -> bool:
    label = reading.labelled(request.label)
    stage = reading.stage(request.sync, session.context.confirm)
    create = True
    if isinstance(request.create, bool):
        reading.members += 1
        create = request.create
    queue = reading.text(request.queue)
    reading.members += 1
    calls: list[Call] = []
    for draft in request.messages:
        call = _call(queue, draft, create and session.may_create, reading)
        if call is None:
            return False
        calls.append(call)
    if not reading.is_sound():
        return False
    session.publish(queue, label, calls, create and not session.may_create, stage)
    return True


def _call(queue: bytes, draft: Draft, create: bool, reading: Reading) -> Call | None:
    """None: it has no body, or two, or says something else that cannot be."""
    body = _bytes(draft.body, draft.body64, reading)
    key = _bytes(draft.key, draft.key64, reading)
    priority = reading.number(draft.priority, 0)
    ttl_us = reading.duration_us(draft.ttl, -1)
    call = Call(contract.PUBLISH, queue)
    call.delay_us = reading.duration_us(draft.delay, -1)
    if body is None or body is _TWO or key is _TWO or priority < PRIORITY_MIN or priority > PRIORITY_MAX:
        return None
    if isinstance(draft.mark, str) != isinstance(draft.row, int):
        return None
    call.body = body
    call.options = Publishing(ttl_us=ttl_us, priority=priority, key=key, create=create)
    call.options.origin = _origin(draft, reading)
    return call


def _origin(draft: Draft, reading: Reading) -> Origin | None:
    if not isinstance(draft.dedup_id, str) and not isinstance(draft.mark, str):
        return None
    origin = Origin()
    if isinstance(draft.dedup_id, str):
        origin.dedup_id = reading.text(draft.dedup_id)
    if isinstance(draft.mark, str):
        origin.mark = reading.text(draft.mark)
        origin.row = min(reading.number(draft.row, 0), _ROW_MAX)
    return origin


def _bytes(text: object, data: object, reading: Reading) -> bytes | None:
    """Said as text, or in base 64, or not at all."""
    if isinstance(data, bytes):
        reading.members += 1
        return _TWO if isinstance(text, str) else data
    return reading.text(text) if isinstance(text, str) else None


def reserve(session: AskingSession, request: Reserve, reading: Reading) -> bool:
    label = reading.labelled(request.label)
    stage = reading.stage(request.sync, session.context.confirm)
    most = reading.number(request.max, 1)
    lease_us = reading.duration_us(request.lease, -1)
    wait_us = reading.duration_us(request.wait, 0)
    queue = reading.text(request.queue)
    if not reading.is_sound():
        return False
    session.reserve(queue, label, most, lease_us, wait_us, stage)
    return True


def finish_all(session: AskingSession, request: Finish, reading: Reading) -> bool:
    reading.labelled(request.label)
    single = reading.number(request.sequence, -1) + reading.number(request.shard, -1)
    stage = reading.stage(request.sync, reading.stage(request.response, session.context.confirm))
    return single == _NEITHER and _end_all(session, request, reading, contract.FINISH, FINISH_ALL, -1, False, stage)


def release(session: AskingSession, request: Release, reading: Reading) -> bool:
    reading.labelled(request.label)
    stage = reading.stage(request.sync, session.context.confirm)
    delay_us = reading.duration_us(request.delay, -1)
    failed = False
    if isinstance(request.failed, bool):
        reading.members += 1
        failed = request.failed
    return _end_all(session, request, reading, contract.RELEASE, RELEASE_ALL, delay_us, failed, stage)


def extend(session: AskingSession, request: Extend, reading: Reading) -> bool:
    reading.labelled(request.label)
    stage = reading.stage(request.sync, session.context.confirm)
    lease_us = reading.duration_us(request.lease, 0)
    return _end_all(session, request, reading, contract.EXTEND, EXTEND_ALL, lease_us, False, stage)


def _end_all(
    session: AskingSession,
    request: Finish | Release | Extend,
    reading: Reading,
    verb: int,
    kind: i64,
    delay_us: i64,
    failed: bool,
    stage: i64,
) -> bool:
    queue = reading.text(request.queue)
    reading.members += 1
    if not reading.is_sound():
        return False
    calls: list[Call] = []
    places: Any = request.messages
    for shard, sequence in places:
        call = Call(verb, queue)
        call.seq = session.seq_of(shard, sequence)
        call.delay_us = delay_us
        call.failed = failed
        calls.append(call)
    session.end_all(kind, queue, reading.label, calls, stage)
    return True
