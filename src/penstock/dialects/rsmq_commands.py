"""The table of commands: how many words each has, and who plans it. What is not in it is unknown here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.codecs import resp
from penstock.dialects import rsmq_hashes, rsmq_ranges, rsmq_sets, rsmq_setting, rsmq_zsets
from penstock.dialects.rsmq_plan import Plan, Refused, Speech, Step, Words
from penstock.model.limits import SECOND_US

Make = Callable[[Speech, Plan, list[bytes]], Step]

# Commands that are about the connection: the session's own.
PLANNED: Final[i64] = 0
MULTI: Final[i64] = 1
EXEC: Final[i64] = 2
DISCARD: Final[i64] = 3
EVALSHA: Final[i64] = 4
EVAL: Final[i64] = 5
SCRIPT: Final[i64] = 6
WATCH: Final[i64] = 7
UNWATCH: Final[i64] = 8
SUBSCRIBE: Final[i64] = 9
UNSUBSCRIBE: Final[i64] = 10
PUBLISH: Final[i64] = 11
HELLO: Final[i64] = 12
AUTH: Final[i64] = 13
QUIT: Final[i64] = 14
RESET: Final[i64] = 15
CLIENT: Final[i64] = 16
COMMAND: Final[i64] = 17
INFO: Final[i64] = 18
PING: Final[i64] = 19


class Command:
    """One row."""

    def __init__(self, name: bytes, own: i64, make: Make | None, fewest: i64, most: i64) -> None:
        self.name: bytes = name
        self.own: i64 = own  # of the session
        self.make: Make | None = make
        self.fewest: i64 = fewest  # words, the name included
        self.most: i64 = most  # -1: as many as there may be


class Time(Step):
    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        now_us = plan.seen(self._at).now_us
        resp.write_array(out, 2)
        resp.write_decimal(out, now_us // SECOND_US)
        resp.write_decimal(out, now_us % SECOND_US)


def time(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return Time(plan.time())


def echo(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    out = BytesWriter()
    resp.write_bulk(out, words[1])
    return Words(out.getvalue())


def select(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    if words[1] != b"0":
        raise Refused(b"ERR DB index is out of range")
    return Words(b"+OK\r\n")


def refuse(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    """What Redis could do to any key, and would break a queue."""
    raise Refused(
        b"ERR %s is not possible here: keys are RSMQ's queues, and change by RSMQ's commands" % words[0].upper()
    )


def _own(name: bytes, own: i64, fewest: i64, most: i64) -> Command:
    return Command(name, own, None, fewest, most)


def _plan(name: bytes, make: Make, fewest: i64, most: i64) -> Command:
    return Command(name, PLANNED, make, fewest, most)


_ROWS: Final = (
    _own(b"multi", MULTI, 1, 1),
    _own(b"exec", EXEC, 1, 1),
    _own(b"discard", DISCARD, 1, 1),
    _own(b"watch", WATCH, 2, -1),
    _own(b"unwatch", UNWATCH, 1, 1),
    _own(b"evalsha", EVALSHA, 3, -1),
    _own(b"eval", EVAL, 3, -1),
    _own(b"script", SCRIPT, 2, -1),
    _own(b"subscribe", SUBSCRIBE, 2, -1),
    _own(b"unsubscribe", UNSUBSCRIBE, 1, -1),
    _own(b"publish", PUBLISH, 3, 3),
    _own(b"hello", HELLO, 1, -1),
    _own(b"auth", AUTH, 2, 3),
    _own(b"quit", QUIT, 1, -1),
    _own(b"reset", RESET, 1, 1),
    _own(b"client", CLIENT, 2, -1),
    _own(b"command", COMMAND, 1, -1),
    _own(b"info", INFO, 1, -1),
    _own(b"ping", PING, 1, 2),
    _plan(b"time", time, 1, 1),
    _plan(b"echo", echo, 2, 2),
    _plan(b"select", select, 2, 2),
    _plan(b"hmget", rsmq_hashes.hmget, 3, -1),
    _plan(b"hget", rsmq_hashes.hget, 3, 3),
    _plan(b"hexists", rsmq_hashes.hexists, 3, 3),
    _plan(b"hstrlen", rsmq_hashes.hstrlen, 3, 3),
    _plan(b"hgetall", rsmq_hashes.hgetall, 2, 2),
    _plan(b"hkeys", rsmq_hashes.hkeys, 2, 2),
    _plan(b"hvals", rsmq_hashes.hvals, 2, 2),
    _plan(b"hlen", rsmq_hashes.hlen, 2, 2),
    _plan(b"hscan", rsmq_hashes.hscan, 3, -1),
    _plan(b"hset", rsmq_setting.hset, 4, -1),
    _plan(b"hmset", rsmq_setting.hmset, 4, -1),
    _plan(b"hsetnx", rsmq_setting.hsetnx, 4, 4),
    _plan(b"hincrby", rsmq_setting.hincrby, 4, 4),
    _plan(b"hdel", rsmq_setting.hdel, 3, -1),
    _plan(b"zadd", rsmq_zsets.zadd, 4, -1),
    _plan(b"zrem", rsmq_zsets.zrem, 3, -1),
    _plan(b"zscore", rsmq_zsets.zscore, 3, 3),
    _plan(b"zmscore", rsmq_zsets.zmscore, 3, -1),
    _plan(b"zcard", rsmq_zsets.zcard, 2, 2),
    _plan(b"zcount", rsmq_ranges.zcount, 4, 4),
    _plan(b"zrank", rsmq_ranges.zrank, 3, 3),
    _plan(b"zrange", rsmq_ranges.zrange, 4, -1),
    _plan(b"zrevrange", rsmq_ranges.zrevrange, 4, 5),
    _plan(b"zrangebyscore", rsmq_ranges.zrangebyscore, 4, -1),
    _plan(b"zrevrangebyscore", rsmq_ranges.zrevrangebyscore, 4, -1),
    _plan(b"zscan", rsmq_ranges.zscan, 3, -1),
    _plan(b"smembers", rsmq_sets.smembers, 2, 2),
    _plan(b"sismember", rsmq_sets.sismember, 3, 3),
    _plan(b"smismember", rsmq_sets.smismember, 3, -1),
    _plan(b"scard", rsmq_sets.scard, 2, 2),
    _plan(b"sscan", rsmq_sets.sscan, 3, -1),
    _plan(b"sadd", rsmq_sets.sadd, 3, -1),
    _plan(b"srem", rsmq_sets.srem, 3, -1),
    _plan(b"del", rsmq_sets.delete, 2, -1),
    _plan(b"unlink", rsmq_sets.delete, 2, -1),
    _plan(b"exists", rsmq_sets.exists, 2, -1),
    _plan(b"type", rsmq_sets.type_of, 2, 2),
    _plan(b"ttl", rsmq_sets.ttl, 2, 2),
    _plan(b"pttl", rsmq_sets.ttl, 2, 2),
    _plan(b"get", rsmq_sets.get, 2, 2),
    _plan(b"keys", rsmq_sets.keys, 2, 2),
    _plan(b"scan", rsmq_sets.scan, 2, -1),
    _plan(b"dbsize", rsmq_sets.dbsize, 1, 1),
)

# Writes that RSMQ has no use for: known, so that they can be told from a slip of the pen.
_REFUSED: Final = (
    b"append", b"bitfield", b"copy", b"decr", b"decrby", b"expire", b"expireat", b"flushall", b"flushdb", b"getdel",
    b"getset", b"hincrbyfloat", b"incr", b"incrby", b"incrbyfloat", b"lpush", b"lpop", b"migrate", b"move", b"mset",
    b"msetnx", b"persist", b"pexpire", b"pexpireat", b"psetex", b"rename", b"renamenx", b"restore", b"rpop", b"rpush",
    b"sdiffstore", b"set", b"setbit", b"setex", b"setnx", b"setrange", b"sinterstore", b"smove", b"spop",
    b"sunionstore", b"swapdb", b"zdiffstore", b"zincrby", b"zinterstore", b"zpopmax", b"zpopmin", b"zrangestore",
    b"zremrangebylex", b"zremrangebyrank", b"zremrangebyscore", b"zunionstore",
)  # fmt: skip


def _table() -> dict[bytes, Command]:
    """As most clients write them, in small letters or in large."""
    rows = [*_ROWS, *[_plan(name, refuse, 1, -1) for name in _REFUSED]]
    return {name: row for row in rows for name in (row.name, row.name.upper())}


_COMMANDS: Final = _table()
NAMES: Final = tuple([row.name.upper() for row in _ROWS])


def command_of(name: bytes) -> Command | None:
    """In whatever letters."""
    found = _COMMANDS.get(name)
    return found if found is not None else _COMMANDS.get(name.upper())
