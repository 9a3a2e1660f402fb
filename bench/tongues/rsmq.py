"""RSMQ on a Redis: the commands its clients send, the receive as a script by its hash.

Before a send and a receive every client looks up the queue's attributes and the server's time, and waits for them: no
score can be told without. `Bare` leaves that out: what RSMQ would be with a client that knew both.
"""

from __future__ import annotations

import hashlib
import socket
import time
from typing import Final

from mypy_extensions import i64

from bench.tongues.tongue import BODY, RESERVE, LineTongue, UnexpectedAnswer, ask, slices

# The receive of RSMQ: hide the first that is due, count it, and give id, body, count and time of the first receive.
RECEIVE: Final = b"""
local due = redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", KEYS[2], "LIMIT", "0", "1")
if #due == 0 then return {} end
local id, hash = due[1], KEYS[1] .. ":Q"
redis.call("ZADD", KEYS[1], KEYS[3], id)
redis.call("HINCRBY", hash, "totalrecv", 1)
local body = redis.call("HGET", hash, id)
local rc = redis.call("HINCRBY", hash, id .. ":rc", 1)
if rc == 1 then
  redis.call("HSET", hash, id .. ":fr", KEYS[2])
  return {id, body, rc, KEYS[2]}
end
return {id, body, rc, redis.call("HGET", hash, id .. ":fr")}
"""

_MULTI: Final = b"*1\r\n$5\r\nMULTI\r\n"
_EXEC: Final = b"*1\r\n$4\r\nEXEC\r\n"
_CREATE: Final = (
    b"*8\r\n$4\r\nHSET\r\n$8\r\nrsmq:q:Q\r\n"
    b"$2\r\nvt\r\n$3\r\n600\r\n$5\r\ndelay\r\n$1\r\n0\r\n$7\r\nmaxsize\r\n$5\r\n65536\r\n"
)
_LOOKUP: Final = (
    _MULTI
    + b"*5\r\n$5\r\nHMGET\r\n$8\r\nrsmq:q:Q\r\n$2\r\nvt\r\n$5\r\ndelay\r\n$7\r\nmaxsize\r\n"
    + b"*1\r\n$4\r\nTIME\r\n"
    + _EXEC
)
_LOOKUP_LINES: Final[i64] = 16  # OK, QUEUED twice, an array of three attributes and of two numbers of the time
_ZADD: Final = b"*4\r\n$4\r\nZADD\r\n$6\r\nrsmq:q\r\n$13\r\n"
_HSET: Final = b"*4\r\n$4\r\nHSET\r\n$8\r\nrsmq:q:Q\r\n$32\r\n"
_SENT: Final = b"*4\r\n$7\r\nHINCRBY\r\n$8\r\nrsmq:q:Q\r\n$9\r\ntotalsent\r\n$1\r\n1\r\n"
_EVALSHA: Final = b"*6\r\n$7\r\nEVALSHA\r\n$40\r\n" + hashlib.sha1(RECEIVE).hexdigest().encode() + b"\r\n$1\r\n3\r\n"
# The facade knows RSMQ's receive by the hash that node rsmq loads; it does the same.
_KNOWN: Final = b"*6\r\n$7\r\nEVALSHA\r\n$40\r\n937bb26841b123886255ef3956a57c83e829ab3e\r\n$1\r\n3\r\n"
_KEY: Final = b"$6\r\nrsmq:q\r\n$13\r\n"
_ZREM: Final = b"*3\r\n$4\r\nZREM\r\n$6\r\nrsmq:q\r\n$32\r\n"
_HDEL: Final = b"*5\r\n$4\r\nHDEL\r\n$8\r\nrsmq:q:Q\r\n$32\r\n"
_BODY: Final = b"$256\r\n" + BODY + b"\r\n"
_VT_MS: Final = 600_000


class Bare(LineTongue):
    """Ids of 32 characters, unique by connection and count."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        # Send: OK, QUEUED for each of 3, an array of 3. Receive: an array of id, body, count, time. Delete: of 2.
        super().__init__(number, in_flight, [8, 8, 6], [b"+OK\r\n+QUEUED", b"*4\r\n", b"+OK\r\n+QUEUED"])
        self._receive: bytes = _EVALSHA
        self._rest: bytes = b"%022d" % number
        self._count: i64 = 0

    def greet(self, sock: socket.socket) -> None:
        ask(sock, b"*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%d\r\n%s\r\n" % (len(RECEIVE), RECEIVE), 2)

    def publish(self) -> bytes:
        due = b"%d\r\n" % int(time.time() * 1000)
        return b"".join([self._send(due) for _ in range(self.in_flight)])

    def _send(self, due: bytes) -> bytes:
        self._count += 1
        member = b"%010d%s\r\n" % (self._count, self._rest)
        return b"".join([_MULTI, _ZADD, due, b"$32\r\n", member, _HSET, member, _BODY, _SENT, _EXEC])

    def reserve(self) -> bytes:
        now = int(time.time() * 1000)
        return (self._receive + _KEY + b"%d\r\n$13\r\n%d\r\n" % (now, now + _VT_MS)) * self.in_flight

    def finish(self, given: bytes) -> bytes:
        return b"".join([_delete(member) for member in slices(given, self.in_flight, 9, 41)])


class Rsmq(Bare):
    """With a turn of lookups before each turn of sends and of receives."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        super().__init__(number, in_flight)
        self._looking: bool = False
        self._looked: i64 = 0  # lines of the answers

    def greet(self, sock: socket.socket) -> None:
        super().greet(sock)
        ask(sock, _CREATE, 1)

    def say(self) -> bytes:
        if self._looking or self._step == RESERVE:
            self._looking = False
            return super().say()
        self._looking = True
        self._looked = 0
        return _LOOKUP * self.in_flight

    def operations(self) -> i64:
        return 0 if self._looking else 1

    def hear(self, data: bytes) -> i64:
        if not self._looking:
            return super().hear(data)
        if self._looked == 0 and not data.startswith(b"+OK\r\n+QUEUED"):
            raise UnexpectedAnswer(data[:200])
        before = self._looked // _LOOKUP_LINES
        self._looked += self.size(data)
        return self._looked // _LOOKUP_LINES - before


class Facade(Rsmq):
    """The same, said to penstock."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        super().__init__(number, in_flight)
        self._receive = _KNOWN

    def greet(self, sock: socket.socket) -> None:
        ask(sock, _CREATE, 1)


def _delete(member: bytes) -> bytes:
    fields = [member, b"\r\n$35\r\n", member, b":rc\r\n$35\r\n", member, b":fr\r\n"]
    return b"".join([_MULTI, _ZREM, member, b"\r\n", _HDEL, *fields, _EXEC])
