"""Requests as JSON text: from typed structs to what the session asks for. Bad ones are answered and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mypy_extensions import i64

from penstock.codecs.bincode import U32_MAX, U64_MAX
from penstock.codecs.glovebox_shapes import (
    DECODER,
    LABELLED,
    Create,
    Draft,
    Extend,
    Fetch,
    Finish,
    Pop,
    Post,
    Publish,
    Release,
    Reserve,
)
from penstock.codecs.strict import is_sound
from penstock.dialects.glovebox_asking import (
    EXTEND_ALL,
    FINISH_ALL,
    RELEASE_ALL,
    UNLABELLED,
    AskingSession,
)
from penstock.dialects.glovebox_words import BAD_REQUEST
from penstock.model import contract, stages
from penstock.model.contract import Call
from penstock.model.limits import NEVER_US, PRIORITY_MAX, PRIORITY_MIN, SECOND_US, TTL_MAX_US
from penstock.model.message import Origin
from penstock.model.options import Publishing
from penstock.model.stages import CONFIRMS, STAGES

BAD_FRAME: Final = b"not a request"
_NOTIFY: Final = {name: 1 << stage for stage, name in enumerate(STAGES)}
_NEITHER: Final = -2  # of a shard and a sequence, each of them -1
_LONG_S: Final = float(TTL_MAX_US // SECOND_US)  # longer than that is as good as for ever


class Reading:
    """One request on its way in: counts the members that are understood, for whoever looks for one too many."""

    __slots__ = ("colons", "label", "members", "payload")

    def __init__(self, payload: bytes) -> None:
        self.payload: bytes = payload
        self.members: i64 = 1  # its type
        self.colons: i64 = 0  # inside of texts
        self.label: int = 0

    def is_sound(self) -> bool:
        """A colon for each member and no other: nothing is said twice, and nothing that is not understood."""
        payload = self.payload
        if self.label > U64_MAX:
            return False
        if payload.count(b":") == self.members + self.colons and (self.colons == 0 or b"\\u" not in payload):
            return True
        return is_sound(payload, self.members)

    def text(self, said: str) -> bytes:
        self.members += 1
        self.colons += said.count(":")
        return said.encode()

    def labelled(self, said: object) -> int:
        self.label = self.number(said, 0)
        return self.label

    def number(self, said: object, unsaid: int) -> int:
        """A member that may be missing or null."""
        if isinstance(said, int):
            self.members += 1
            return said
        if said is None:
            self.members += 1
        return unsaid

    def stage(self, said: object, unsaid: i64) -> i64:
        if isinstance(said, str):
            self.members += 1
            return CONFIRMS[said]
        if said is None:
            self.members += 1
        return unsaid

    def duration_us(self, said: object, unsaid: i64) -> i64:
        if isinstance(said, float):
            self.members += 1
            return us(said)
        if said is None:
            self.members += 1
        return unsaid


def us(seconds: float) -> i64:
    if seconds >= _LONG_S:
        return NEVER_US
    return int(seconds * 1_000_000.0 + 0.5) if seconds > 0.0 else 0


def read(session: AskingSession, payload: bytes) -> None:
    try:
        request = DECODER.decode(payload)
    except (ValueError, RecursionError):
        session.error(label_of(payload), BAD_REQUEST, BAD_FRAME)
        return
    reading = Reading(payload)
    if not READERS[type(request)](session, request, reading):
        session.error(reading.label if reading.label <= U64_MAX else 0, BAD_REQUEST, BAD_FRAME)


def label_of(payload: bytes) -> int:
    """Of something that is no request of ours, but may have one."""
    try:
        label = LABELLED.decode(payload).label
    except (ValueError, RecursionError):
        return 0
    return label if isinstance(label, int) and label <= U64_MAX else 0


# -- the five requests that have a binary form; False: it is none after all


def _create(session: AskingSession, request: Create, reading: Reading) -> bool:
    label = reading.labelled(request.label)
    retries = reading.number(request.retries, -1)
    entries = reading.number(request.shard_max_entries, 0)
    shard_bytes = reading.number(request.shard_max_bytes, 0)
    stage = reading.stage(request.sync, session.context.confirm)
    queue = reading.text(request.queue)
    if retries > U32_MAX or entries > U64_MAX or shard_bytes > U64_MAX or not reading.is_sound():
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
        return _finish_all(session, request, reading)
    label = reading.number(request.label, UNLABELLED)
    reading.label = max(label, 0)
    stage = reading.stage(request.response, stages.READY)
    sequence = reading.number(request.sequence, -1)
    shard = reading.number(request.shard, -1)
    queue = reading.text(request.queue)
    if not 0 <= sequence <= U64_MAX or not 0 <= shard <= U32_MAX or not reading.is_sound():
        return False
    session.finish(queue, shard, sequence, label, stage)
    return True


# -- the requests of our own


def _publish(session: AskingSession, request: Publish, reading: Reading) -> bool:
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
    call.body = body
    call.options = Publishing(ttl_us=ttl_us, priority=priority, key=key, create=create)
    if isinstance(draft.dedup_id, str):
        call.options.origin = Origin()
        call.options.origin.dedup_id = reading.text(draft.dedup_id)
    return call


_TWO: Final = b"said twice, as text and as bytes"


def _bytes(text: object, data: object, reading: Reading) -> bytes | None:
    """Said as text, or in base 64, or not at all."""
    if isinstance(data, bytes):
        reading.members += 1
        return _TWO if isinstance(text, str) else data
    return reading.text(text) if isinstance(text, str) else None


def _reserve(session: AskingSession, request: Reserve, reading: Reading) -> bool:
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


def _finish_all(session: AskingSession, request: Finish, reading: Reading) -> bool:
    reading.labelled(request.label)
    single = reading.number(request.sequence, -1) + reading.number(request.shard, -1)
    stage = reading.stage(request.sync, reading.stage(request.response, session.context.confirm))
    return single == _NEITHER and _end_all(session, request, reading, contract.FINISH, FINISH_ALL, -1, False, stage)


def _release(session: AskingSession, request: Release, reading: Reading) -> bool:
    reading.labelled(request.label)
    stage = reading.stage(request.sync, session.context.confirm)
    delay_us = reading.duration_us(request.delay, -1)
    failed = False
    if isinstance(request.failed, bool):
        reading.members += 1
        failed = request.failed
    return _end_all(session, request, reading, contract.RELEASE, RELEASE_ALL, delay_us, failed, stage)


def _extend(session: AskingSession, request: Extend, reading: Reading) -> bool:
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


READERS: Final[dict[type, Callable[[AskingSession, Any, Reading], bool]]] = {
    Create: _create,
    Post: _post,
    Pop: _pop,
    Fetch: _fetch,
    Finish: _finish,
    Publish: _publish,
    Reserve: _reserve,
    Release: _release,
    Extend: _extend,
}
