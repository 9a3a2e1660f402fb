"""The dialect `pinpriq`: packets over TCP, priorities, key mates and credits. docs/dialects/pinpriq.md specifies it.

A push has no answer. One that finds no room is kept and tried again at every beat; nothing behind it is read until it
is in, and a connection that waits too long for room is closed.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter, read_i16_be, write_i16_be
from mypy_extensions import i16, i64

from penstock.dialects.context import Context
from penstock.dialects.gathering import GatheringSession
from penstock.model import codes
from penstock.model.contract import owed_for
from penstock.model.limits import MILLISECOND_US, ROOM_WAIT_US
from penstock.model.message import Message
from penstock.model.options import Publishing, Taking

NUMBER: Final[i64] = 2

PUSH: Final[i64] = 0x70
POP: Final[i64] = 0x50
SUBSCRIBE: Final[i64] = 0x73
UNSUBSCRIBE: Final[i64] = 0x75
CREDIT: Final[i64] = 0x41

# After the opcode: lengths of queue name, ttl in ms, priority, lengths of key and payload; or the name's length alone.
_NAME_AT: Final[i64] = 1
_TTL_AT: Final[i64] = 3
_PRIORITY_AT: Final[i64] = 5
_KEY_AT: Final[i64] = 6
_BODY_AT: Final[i64] = 8
_PUSH_BYTES: Final[i64] = 10
_NAME_BYTES: Final[i64] = 3

BEST: Final[i64] = 256  # priority p of 1…255 counts as this less p; 0 is parked

_TAKING: Final = Taking(newest=True, mates=True)

# Instead of the turn of a push: there is none, or it has just been refused.
_NO_TURN: Final[i64] = -1
_REFUSED: Final[i64] = -2


class Push:
    """A packet on its way in."""

    __slots__ = ("body", "options", "queue", "stuck")

    def __init__(self, queue: bytes, body: bytes, options: Publishing) -> None:
        self.queue: bytes = queue
        self.body: bytes = body
        self.options: Publishing = options
        self.stuck: bool = False  # it has found no room


class PinpriqSession(GatheringSession):
    """One connection. Pops are answered in their order; what credits bring stands between them as it comes."""

    def __init__(self, context: Context) -> None:
        super().__init__(NUMBER, context)
        self._pushes: dict[int, Push] = {}  # by turn: not in yet, as far as is known
        self._pushing: i64 = _NO_TURN  # the turn of a push that is being published
        self._stuck: i64 = 0  # of them, those that have found no room
        self._refused: i64 = 0  # of those, the ones that wait for the next beat
        self._refused_us: i64 = 0  # since when nothing came in; 0: there is room

    # -- the connection's side

    def enough(self) -> bool:
        return self._stuck != 0 or super().enough()

    def beat(self, now_us: i64) -> None:
        """Packets without room try again, in their order, once all that is under way has been answered."""
        if self._refused == 0 or self._refused != len(self._pushes):
            return
        if self._refused_us == 0:
            self._refused_us = now_us
        if now_us - self._refused_us > ROOM_WAIT_US:
            self._give_up()
            return
        self._refused = 0
        for turn, push in list(self._pushes.items()):
            self._publish(turn, push)

    def _give_up(self) -> None:
        """Closed with packets that never came in: nothing said they had."""
        turns = list(self._pushes)
        self._pushes.clear()
        self._stuck = self._refused = 0
        for turn in turns:
            self.say(turn, b"")
        self.held = False
        self.close()

    # -- requests: each gives the bytes it used; 0: it is not all there

    def request(self, data: bytes, at: i64) -> i64:
        opcode: i64 = data[at]
        if opcode == PUSH:
            return self._push(data, at)
        if opcode == CREDIT:
            return 1 if self._credit() else self._unreadable(data, at)
        if opcode in (POP, SUBSCRIBE, UNSUBSCRIBE):
            return self._on_queue(opcode, data, at)
        return self._unreadable(data, at)

    def _unreadable(self, data: bytes, at: i64) -> i64:
        """Here it ends: all that follows counts as used."""
        self.close()
        return len(data) - at

    def _lacks(self, data: bytes, at: i64, end: i64) -> bool:
        """The request that would end there is not all there."""
        self.needed = end - at
        return end > len(data)

    def _credit(self) -> bool:
        """A client that will send no more may be gone: nothing is pushed to it."""
        return self.ended or self.context.broker.credit(self, self.context.confirm)

    def _subscribe(self, queue: bytes) -> bool:
        return self.ended or self.context.broker.subscribe(self, queue)

    def _push(self, data: bytes, at: i64) -> i64:
        if self._lacks(data, at, at + _PUSH_BYTES):
            return 0
        key_at: i64 = at + _PUSH_BYTES
        body_at: i64 = key_at + _number(data, at + _KEY_AT)
        name_at: i64 = body_at + _number(data, at + _BODY_AT)
        end: i64 = name_at + _number(data, at + _NAME_AT)
        if self._lacks(data, at, end):
            return 0
        priority: i64 = data[at + _PRIORITY_AT]
        options = Publishing(
            ttl_us=_number(data, at + _TTL_AT) * MILLISECOND_US,
            priority=BEST - priority if priority != 0 else 0,
            parked=priority == 0,
            key=data[key_at:body_at],
        )
        self._begin(data[name_at:end], data[body_at:name_at], options)
        return end - at

    def _begin(self, queue: bytes, body: bytes, options: Publishing) -> None:
        """Most are in before the verb returns; only one that is not has to be kept."""
        turn = self.next_turn()
        self._pushing = turn
        self.context.broker.publish(self, turn, queue, body, -1, options, self.context.confirm)
        refused = self._pushing == _REFUSED
        if refused or self._pushing == turn:
            push = self._pushes[turn] = Push(queue, body, options)
            if refused:
                self._keep(push)
        self._pushing = _NO_TURN

    def _publish(self, turn: i64, push: Push) -> None:
        self.context.broker.publish(self, turn, push.queue, push.body, -1, push.options, self.context.confirm)

    def _on_queue(self, opcode: i64, data: bytes, at: i64) -> i64:
        name_at = at + _NAME_BYTES
        if self._lacks(data, at, name_at):
            return 0
        end = name_at + _number(data, at + _NAME_AT)
        if self._lacks(data, at, end):
            return 0
        queue = data[name_at:end]
        broker = self.context.broker
        if opcode == POP:
            broker.take(self, self.next_turn(), queue, _TAKING, self.context.confirm)
        elif opcode == UNSUBSCRIBE:
            broker.unsubscribe(self, queue)
        elif not self._subscribe(queue):
            return self._unreadable(data, at)
        return end - at

    # -- answers

    def answered(self, token: i64, code: i64, message: Message | None, number: i64) -> None:
        """Of a push: silence, whatever it is; one without room is kept, one that never fits ends the connection."""
        if token == self._pushing:
            self._pushing = _REFUSED if code == codes.FULL else _NO_TURN
        elif code == codes.FULL:
            self._keep(self._pushes[token])
        elif self._pushes.pop(token).stuck:
            self._stuck -= 1
        if code == codes.FULL:
            return
        self._refused_us = 0
        if code != codes.OK:
            self.close()
        self.answer(token)

    def _keep(self, push: Push) -> None:
        self._refused += 1
        if not push.stuck:
            push.stuck = True
            self._stuck += 1
        self.held = True
        self.rouse()

    def answered_with(self, token: i64, code: i64, value: object) -> None:
        assert isinstance(value, list)
        self.owed -= owed_for(value)
        _write_packets(self.answer(token), value)

    def pushed(self, queue: bytes, messages: list[Message]) -> None:
        self.owed -= owed_for(messages)
        out = BytesWriter()
        _write_packets(out, messages)
        self.put(out.getvalue())


def _write_packets(out: BytesWriter, messages: list[Message]) -> None:
    _write_number(out, len(messages))
    for message in messages:
        key = message.key or b""
        _write_number(out, len(key))
        _write_number(out, len(message.body))
        out.write(key)
        out.write(message.body)


def _number(data: bytes, at: i64) -> i64:
    """Sixteen bits without a sign."""
    return i64(read_i16_be(data, at)) & 0xFFFF


def _write_number(out: BytesWriter, number: i64) -> None:
    write_i16_be(out, i16(number if number < 32_768 else number - 65_536))
