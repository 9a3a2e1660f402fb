"""Random conversations in `rsmq`, for fuzzing.py."""

from __future__ import annotations

from random import Random

from penstock.engine.state import State
from penstock.model.message import LEASED
from tests.dialects.fuzzing import Fuzzer, Rig
from tests.dialects.redis_model import POP, RECEIVE, VISIBILITY, command, multi
from tests.dialects.rsmq_model import START_MS, Model


class RsmqRig(Rig):
    dialect = "rsmq"

    def told(self, state: State) -> object:
        found = {}
        for name, queue in state.queues.items():
            messages = [message for message in state.messages.values() if message.queue_id == queue.id]
            shown = {}
            for message in messages:
                assert message.origin is not None
                leased = message.place == LEASED
                seen_us = message.until_us if leased else message.ready_us
                shown[message.origin.foreign_id] = (message.body, leased, seen_us, message.deliveries)
            rules = queue.rules
            settings = (rules.lease_us, rules.delay_us, rules.said_body)
            found[name] = (*settings, queue.published, queue.delivered, shown)
        return found


IDS = (b"m1", b"m2", b"m3", b"gqll7vatq8BooQOUuP8KQDWNYxhHAjR0")
NAMES = (b"q", b"q", b"q", b"r", b"a/b", b"QUEUES", b"a:b", b"")
BODIES = (b"a", b"", b"two words", b"\r\n", b"\0\xff", b"$3\r\nabc\r\n", b"b" * 300)
SCORES = (b"0", b"%d" % START_MS, b"%d" % START_MS, b"%d" % (START_MS + 20), b"1e3", b"inf", b"-5", b"x", b"nan", b"")
NUMBERS = (b"30", b"0", b"1.5", b"-1", b"9999999", b"65536", b"1e15", b"x", b"400000000")
FIELDS = (b"vt", b"delay", b"maxsize", b"created", b"modified", b"totalsent", b"totalrecv")
SPICE = (
    b"\r\n",
    b"*",
    b"$",
    b"-",
    b"*1\r\n",
    b"$0\r\n\r\n",
    b"*0\r\n",
    b":1\r\n",
    b'"',
    b"'",
    b"\\",
    b"\0",
    b" ",
    b"9" * 9,
)


def random_commands(chance: Random) -> bytes:
    return b"".join([random_commands_of_one_kind(chance) for _ in range(chance.randint(1, 6))])


def random_commands_of_one_kind(chance: Random) -> bytes:
    name = chance.choice(NAMES)
    return chance.choice(KINDS)(chance, b"rsmq:" + name, b"rsmq:" + name + b":Q")


def create(chance: Random, zset: bytes, hash: bytes) -> bytes:
    fields = [command(b"HSETNX", hash, field, chance.choice(NUMBERS[:6])) for field in FIELDS[:5]]
    return multi(*fields) + command(b"sadd", b"rsmq:QUEUES", zset[5:])


def look(chance: Random, zset: bytes, hash: bytes) -> bytes:
    name = chance.choice(IDS)
    fields = [*FIELDS, name, name + b":rc", name + b":fr", b"nothing"]
    wanted = [chance.choice(fields) for _ in range(chance.randint(1, 4))]
    commands = [
        command(b"hmget", hash, *wanted),
        command(b"TIME"),
        command(b"ZCARD", zset),
        command(b"ZSCORE", zset, name),
        command(b"HGET", hash, chance.choice(fields)),
        command(b"SMEMBERS", b"rsmq:QUEUES"),
    ]
    chosen = [chance.choice(commands) for _ in range(chance.randint(1, 3))]
    return multi(*chosen) if chance.random() < 0.5 else b"".join(chosen)


def send(chance: Random, zset: bytes, hash: bytes) -> bytes:
    name = chance.choice(IDS)
    score = command(b"ZADD", zset, chance.choice(SCORES), name)
    body = command(b"HSET", hash, name if chance.random() < 0.9 else chance.choice(IDS), chance.choice(BODIES))
    counted = command(b"HINCRBY", hash, b"totalsent", 1)
    if chance.random() < 0.8:
        return multi(score, body, counted)
    return score + body


def receive(chance: Random, zset: bytes, hash: bytes) -> bytes:
    now, name = chance.choice(SCORES), chance.choice(IDS)
    return chance.choice(
        (
            command(b"EVALSHA", RECEIVE, 3, zset, START_MS, START_MS + chance.choice((0, 1, 20, 5_000))),
            command(b"evalsha", RECEIVE, 3, zset, now, chance.choice(SCORES)),
            command(b"EVALSHA", POP, 2, zset, now),
            command(b"EVALSHA", VISIBILITY, 3, zset, name, chance.choice(SCORES)),
            multi(command(b"EVALSHA", VISIBILITY, 3, zset, name, chance.choice(SCORES))),
        )
    )


def delete(chance: Random, zset: bytes, hash: bytes) -> bytes:
    name = chance.choice(IDS)
    commands = command(b"ZREM", zset, name), command(b"HDEL", hash, name, name + b":rc", name + b":fr")
    return multi(*commands) if chance.random() < 0.8 else b"".join(commands)


def drop(chance: Random, zset: bytes, hash: bytes) -> bytes:
    gone = (command(b"DEL", hash, zset),) if chance.random() < 0.5 else (command(b"DEL", hash), command(b"DEL", zset))
    return multi(*gone, command(b"SREM", b"rsmq:QUEUES", zset[5:]))


def set_attributes(chance: Random, zset: bytes, hash: bytes) -> bytes:
    return command(b"HSET", hash, chance.choice(FIELDS), chance.choice(NUMBERS))


def odd(chance: Random, zset: bytes, hash: bytes) -> bytes:
    return chance.choice(
        (
            command(b"PING"),
            command(b"ECHO", chance.choice(BODIES)),
            b"PING hello\r\n",
            b"echo \"a b\" 'c'\n",
            command(b"MULTI") + command(b"ZREM", zset, b"m1") + command(b"DISCARD"),
            command(b"MULTI") + command(b"NONSENSE") + command(b"ZREM", zset, b"m1") + command(b"EXEC"),
            command(b"EXEC"),
            command(b"ZADD", hash, 1, b"m1"),
            command(b"HMGET", zset, b"vt"),
            command(b"DEL", zset),
            command(b"SELECT", chance.choice((0, 1))),
            command(b"QUIT"),
        )
    )


KINDS = (
    create,
    create,
    look,
    look,
    send,
    send,
    send,
    send,
    receive,
    receive,
    receive,
    delete,
    drop,
    set_attributes,
    odd,
)

SESSIONS = (
    create(Random(0), b"rsmq:q", b"rsmq:q:Q")
    + multi(command(b"ZADD", b"rsmq:q", START_MS, b"m1"), command(b"HSET", b"rsmq:q:Q", b"m1", b"one"))
    + command(b"EVALSHA", RECEIVE, 3, b"rsmq:q", START_MS, START_MS + 100)
    + multi(command(b"ZREM", b"rsmq:q", b"m1"), command(b"HDEL", b"rsmq:q:Q", b"m1", b"m1:rc", b"m1:fr")),
    command(b"HSETNX", b"rsmq:q:Q", b"vt", 5)
    + command(b"ZADD", b"rsmq:q", 0, b"m1")
    + command(b"HSET", b"rsmq:q:Q", b"m1", b"one")
    + command(b"DEL", b"rsmq:q"),
)

EXCHANGE = (command(b"ECHO", b"what") + command(b"NONSENSE"), b"$4\r\nwhat\r\n-ERR unknown command 'NONSENSE'\r\n")

FUZZER = Fuzzer(RsmqRig, Model, random_commands, SPICE, SESSIONS, EXCHANGE)
