"""What writes to RSMQ's hash of a queue: attributes are the queue's policy, fields of messages publish and end them.

Times and totals are the server's own: whoever writes them is believed to, and they stay what they are.
"""

from __future__ import annotations

import math
from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.codecs import resp
from penstock.codecs.rsmq_keys import HASH, due_us, may_create, number
from penstock.dialects.rsmq_hashes import (
    ATTRIBUTES,
    CREATED,
    DELAY,
    MAXSIZE,
    MODIFIED,
    TOTALSENT,
    VT,
    hash_of,
    parted,
)
from penstock.dialects.rsmq_plan import NO_QUEUE, WRONG_TYPE, Plan, Refused, Speech, Step, Words, message_call
from penstock.model import codes
from penstock.model.contract import DECLARE, FINISH, MOVE, PUBLISH, SET, Call
from penstock.model.limits import SECOND_US
from penstock.model.message import Message, Origin
from penstock.model.options import ANY_LIVE, Publishing
from penstock.model.policy import Policy

BAD_NAME: Final = b"ERR a queue's name is 1 to 256 bytes"
BAD_KEY: Final = b"ERR only the keys of RSMQ's queues are here"
BAD_NUMBER: Final = b"ERR value is not a number or out of range"
ODD_FIELDS: Final = b"ERR wrong number of arguments for 'hset' command"
COUNTED_BY_SERVER: Final = b"ERR the server counts totals, deliveries and first receives itself"
NO_SCORE: Final = b"ERR a message needs its score first: ZADD, then HSET of the same id"
HALF_DELETED: Final = b"ERR a message's counters go with it: HDEL its id too"

_VALUE_MAX: Final = 1 << 31


# -- attributes


class Made(Step):
    """HSETNX: 1 for every field of a queue that was made by it."""

    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, 1 if plan.code(self._at) == codes.OK else 0)


class Written(Step):
    """HSET: how many fields are new."""

    def __init__(self) -> None:
        self.attributes: i64 = 0
        self.made: i64 = -1  # where the queue was declared, if it might be
        self.set: i64 = -1
        self.published: list[int] = []
        self.plainly: bool = False  # HMSET: just OK

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        if self.set >= 0 and plan.code(self.set) != codes.OK:
            resp.write_error(out, NO_QUEUE)
        elif self.plainly:
            out.write(b"+OK\r\n")
        else:
            new = self.attributes if self.made >= 0 and plan.code(self.made) == codes.OK else 0
            for at in self.published:
                if plan.code(at) == codes.OK:
                    new += 1
            resp.write_number(out, new)


def hsetnx(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = _queue(speech, words)
    which = ATTRIBUTES.get(words[2], 0)
    if which == 0 or which > MODIFIED:
        raise Refused(COUNTED_BY_SERVER if which else NO_SCORE)
    if not may_create(queue):
        raise Refused(BAD_NAME)
    at = plan.find(DECLARE, queue)
    if at < 0:
        call = Call(DECLARE, queue)
        call.policy = Policy()
        at = plan.change(call)
    speech.making = queue
    _say(plan.calls[at], which, words[3])
    return Made(at)


def hset(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = _queue(speech, words)
    if len(words) % 2:
        raise Refused(ODD_FIELDS)
    step = Written()
    for at in range(2, len(words), 2):
        which = ATTRIBUTES.get(words[at], 0)
        if which == 0:
            step.published.append(int(_publish(plan, queue, words[at], words[at + 1])))
        elif which > MODIFIED:
            raise Refused(COUNTED_BY_SERVER)
        else:
            _set(plan, step, queue, which, words[at + 1])
    return step


def hmset(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    step = hset(speech, plan, words)
    assert isinstance(step, Written)
    step.plainly = True
    return step


def _queue(speech: Speech, words: list[bytes]) -> bytes:
    key = speech.keys.read(words[1])
    if key.kind != HASH:
        raise Refused(WRONG_TYPE if key.kind else BAD_KEY)
    return key.queue


def _set(plan: Plan, step: Written, queue: bytes, which: i64, value: bytes) -> None:
    """One attribute; those of one plan are one change. A queue that is not there is made, if it may be."""
    step.attributes += 1
    step.made = plan.find(DECLARE, queue)
    if step.made < 0 and may_create(queue):
        declaring = Call(DECLARE, queue)
        declaring.policy = Policy()
        step.made = plan.change(declaring)
    step.set = plan.find(SET, queue)
    if step.set < 0:
        setting = Call(SET, queue)
        setting.policy = Policy()
        step.set = plan.change(setting)
    _say(plan.calls[step.set], which, value)


def _say(call: Call, which: i64, value: bytes) -> None:
    """An attribute as a field of the policy. `created` and `modified` are told by the server's clock."""
    policy = call.policy
    assert policy is not None
    said = number(value)
    if math.isnan(said) or abs(said) > _VALUE_MAX:
        raise Refused(BAD_NUMBER)
    if which == MAXSIZE:
        policy.max_body = max(int(said), 0)
    elif which in (VT, DELAY) and said < 0:
        raise Refused(BAD_NUMBER)
    elif which == VT:
        policy.lease_us = max(round(said * int(SECOND_US)), 1)  # a policy's 0 is a lease without end
    elif which == DELAY:
        policy.delay_us = round(said * int(SECOND_US))
    else:
        assert which in (CREATED, MODIFIED)


# -- messages


def _publish(plan: Plan, queue: bytes, name: bytes, body: bytes) -> i64:
    """The body of a message whose score was said before it: now it is one."""
    at = plan.find(MOVE, queue, name)
    if at < 0:
        raise Refused(NO_SCORE)
    origin = Origin()
    origin.foreign_id = name
    call = plan.calls[at]
    call.verb = PUBLISH
    call.body = body
    call.options = Publishing(create=False, origin=origin)
    return at


class Total(Step):
    """HINCRBY totalsent: what the server has counted by then."""

    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, plan.seen(self._at).published)


def hincrby(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = _queue(speech, words)
    if ATTRIBUTES.get(words[2], 0) != TOTALSENT or words[3] != b"1":
        raise Refused(COUNTED_BY_SERVER)
    for call in plan.calls:
        if call.verb == PUBLISH and call.queue == queue:
            return Total(plan.glance(queue))
    raise Refused(COUNTED_BY_SERVER)


class Deleted(Step):
    """HDEL: how many fields of messages there were."""

    def __init__(self) -> None:
        self.bodies: list[int] = []  # where they were ended
        self.others: list[int] = []  # once for each counter

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        count = 0
        for at in self.bodies:
            count += plan.code(at) == codes.OK
        for at in self.others:
            ended = plan.calls[at].seen
            count += isinstance(ended, Message) and ended.deliveries > 0
        resp.write_number(out, count)


def hdel(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = hash_of(speech, words)
    if queue is None:
        return Words(b":0\r\n")
    step = Deleted()
    for at in range(2, len(words)):
        if words[at] in ATTRIBUTES:
            raise Refused(b"ERR a queue keeps its attributes: DEL removes it")
        name, ending = parted(words[at])
        if not ending:
            step.bodies.append(int(finishing(speech, plan, queue, name)))
            continue
        where = plan.find(FINISH, queue, name)
        if where < 0:
            raise Refused(HALF_DELETED)
        step.others.append(int(where))
    return step


def finishing(speech: Speech, plan: Plan, queue: bytes, name: bytes) -> i64:
    """Where the plan ends that message."""
    at = plan.find(FINISH, queue, name)
    if at < 0:
        call = message_call(FINISH, queue, name, speech)
        call.rule = int(ANY_LIVE)
        at = plan.change(call)
    return at


# -- scores


def moving(speech: Speech, plan: Plan, queue: bytes, score: bytes, name: bytes) -> i64:
    """Where the plan moves that message, or publishes it once its body is said."""
    due = due_us(score)
    if due < 0:
        raise Refused(b"ERR value is not a valid float")
    call = message_call(MOVE, queue, name, speech)
    call.due_us = int(due)
    return plan.change(call)
