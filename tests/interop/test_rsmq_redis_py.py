"""RSMQ's command streams by `redis-py`, in both protocols: kinds of answers, transactions, scripts, channels."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import NoScriptError, ResponseError, WatchError

from harness.node import MODULES
from tests.interop.targets import Target

SOURCE = (MODULES / "rsmq" / "index.js").read_text("utf-8")
SCRIPTS = dict(re.findall(r"const script_(\w+) = `(.*?)`", SOURCE, re.DOTALL))
PATIENCE_S = 30.0


@pytest.fixture(params=[2, 3])
def client(request: pytest.FixtureRequest, target: Target) -> Iterator[Any]:
    with Redis(port=target.port, protocol=request.param, socket_timeout=PATIENCE_S) as connected:
        yield connected


@pytest.fixture
def queue(client: Any, fresh: Callable[[], str]) -> str:
    """Made as clients make one."""
    name = fresh()
    created = int(client.time()[0])
    with client.pipeline() as together:
        for field, value in {"vt": 30, "delay": 0, "maxsize": 65_536, "created": created, "modified": created}.items():
            together.hsetnx(f"rsmq:{name}:Q", field, value)
        assert together.execute() == [1] * 5
    assert client.sadd("rsmq:QUEUES", name) in (0, 1)
    return name


def now_ms(client: Any) -> int:
    seconds, micros = client.time()
    return int(seconds) * 1_000 + int(micros) // 1_000


def send(client: Any, queue: str, id: str, body: bytes, due_ms: int) -> list[Any]:
    with client.pipeline() as together:
        together.zadd(f"rsmq:{queue}", {id: due_ms})
        together.hset(f"rsmq:{queue}:Q", id, body)
        together.hincrby(f"rsmq:{queue}:Q", "totalsent", 1)
        together.zcard(f"rsmq:{queue}")
        return list(together.execute())


def test_sets_are_sets_and_hashes_are_hashes(client: Any, queue: str) -> None:
    assert queue.encode() in client.smembers("rsmq:QUEUES")
    assert client.sismember("rsmq:QUEUES", queue) == 1
    assert client.hgetall(f"rsmq:{queue}:Q")[b"maxsize"] == b"65536"
    assert client.hmget(f"rsmq:{queue}:Q", "vt", "none", "delay") == [b"30", None, b"0"]


def test_a_queue_that_is_there_is_not_made_again(client: Any, queue: str) -> None:
    with client.pipeline() as together:
        for field in ("vt", "delay", "maxsize", "created", "modified"):
            together.hsetnx(f"rsmq:{queue}:Q", field, 1)
        assert together.execute() == [0] * 5
    assert client.hget(f"rsmq:{queue}:Q", "vt") == b"30"


def test_a_message_walks_through_all_its_keys(client: Any, queue: str) -> None:
    key, fields, due_ms = f"rsmq:{queue}", f"rsmq:{queue}:Q", now_ms(client)
    assert send(client, queue, "first", b"\x00\xff\r\n", due_ms) == [1, 1, 1, 1]
    assert send(client, queue, "second", b"", due_ms + 60_000) == [1, 1, 2, 2]
    assert client.zrange(key, 0, -1, withscores=True)[0][1] == due_ms
    assert [name for name, _ in client.zrange(key, 0, -1, withscores=True)] == [b"first", b"second"]
    assert client.zscore(key, "second") == due_ms + 60_000
    assert client.zcount(key, due_ms + 1, "+inf") == 1
    assert client.hget(fields, "first") == b"\x00\xff\r\n"
    receive = client.register_script(SCRIPTS["receiveMessage"])
    later_ms = due_ms + 5_000
    id, body, count, first_ms = receive(keys=[key, now_ms(client), later_ms])
    assert (id, body, count) == (b"first", b"\x00\xff\r\n", 1)
    assert abs(client.zscore(key, "first") - later_ms) < 1_000
    assert client.hget(fields, "first:fr") == first_ms
    assert client.hmget(fields, "first:rc", "totalrecv", "totalsent") == [b"1", b"1", b"2"]
    with client.pipeline() as together:
        together.zrem(key, "first").hdel(fields, "first", "first:rc", "first:fr")
        assert together.execute() == [1, 3]
    assert client.hmget(fields, "first", "first:rc", "first:fr") == [None] * 3
    assert client.zcard(key) == 1


def test_the_three_scripts_run_by_text_and_by_hash(client: Any, queue: str) -> None:
    key = f"rsmq:{queue}"
    hashes = {name: client.script_load(text) for name, text in SCRIPTS.items()}
    assert hashes["receiveMessage"] == "937bb26841b123886255ef3956a57c83e829ab3e"
    assert client.script_exists(hashes["popMessage"], "0" * 40) == [True, False]
    now = now_ms(client)
    assert client.evalsha(hashes["receiveMessage"], 3, key, now, now + 10) == []
    assert client.eval(SCRIPTS["popMessage"], 2, key, now) == []
    assert client.evalsha(hashes["changeMessageVisibility"], 3, key, "none", now) == 0
    send(client, queue, "one", b"body", now)
    assert client.evalsha(hashes["changeMessageVisibility"], 3, key, "one", now + 60_000) == 1
    assert client.evalsha(hashes["popMessage"], 2, key, now_ms(client)) == []
    assert client.evalsha(hashes["changeMessageVisibility"], 3, key, "one", now_ms(client)) == 1
    assert client.eval(SCRIPTS["popMessage"], 2, key, now_ms(client))[:3] == [b"one", b"body", 1]
    with pytest.raises(NoScriptError):
        client.evalsha("0" * 40, 2, key, now)


def test_a_transaction_is_all_or_nothing(client: Any, queue: str) -> None:
    key = f"rsmq:{queue}"
    with client.pipeline() as together:
        together.zadd(key, {"gone": 1})
        together.reset()
    assert client.zcard(key) == 0
    with client.pipeline() as together:
        together.watch(key)
        send(client, queue, "other", b"x", now_ms(client))
        together.multi()
        together.zrem(key, "other")
        with pytest.raises(WatchError):
            together.execute()
    assert client.zcard(key) == 1
    with client.pipeline() as together:
        together.execute_command("ZADD", key)
        together.zrem(key, "other")
        with pytest.raises(ResponseError):
            together.execute()
    assert client.zcard(key) == 1


def test_a_thousand_commands_go_out_at_once(client: Any, queue: str) -> None:
    due_ms = now_ms(client)
    with client.pipeline(transaction=False) as many:
        for number in range(1_000):
            many.zadd(f"rsmq:{queue}", {f"id{number:04}": due_ms})
            many.hset(f"rsmq:{queue}:Q", f"id{number:04}", str(number))
        assert set(many.execute()) == {1}
    assert client.zcard(f"rsmq:{queue}") == 1_000
    assert client.zrange(f"rsmq:{queue}", 0, 2) == [b"id0000", b"id0001", b"id0002"]


def test_a_queue_is_dropped_with_its_keys(client: Any, queue: str) -> None:
    send(client, queue, "one", b"x", now_ms(client))
    with client.pipeline() as together:
        together.delete(f"rsmq:{queue}:Q", f"rsmq:{queue}").srem("rsmq:QUEUES", queue)
        assert together.execute()[0] == 2
    assert client.exists(f"rsmq:{queue}:Q", f"rsmq:{queue}") == 0
    assert queue.encode() not in client.smembers("rsmq:QUEUES")


def test_attributes_are_set(client: Any, queue: str) -> None:
    with client.pipeline() as together:
        together.hset(f"rsmq:{queue}:Q", "modified", int(time.time()))
        together.hset(f"rsmq:{queue}:Q", "vt", 5).hset(f"rsmq:{queue}:Q", "maxsize", 65_565)
        assert together.execute() == [0, 0, 0]
    assert client.hmget(f"rsmq:{queue}:Q", "vt", "delay", "maxsize") == [b"5", b"0", b"65565"]


def test_a_subscriber_hears_of_each_message_once(client: Any, queue: str) -> None:
    """A client of RSMQ says so itself, after it has sent the message; penstock knows without."""
    channel = f"rsmq:rt:{queue}"
    with client.pubsub(ignore_subscribe_messages=True) as ear:
        ear.subscribe(channel)
        assert ear.get_message(timeout=PATIENCE_S) is None
        for count in (1, 2):
            assert send(client, queue, f"id{count}", b"x", now_ms(client))[-1] == count
            assert client.publish(channel, count) == 1
            heard = ear.get_message(timeout=PATIENCE_S)
            assert (heard["channel"], heard["data"]) == (channel.encode(), b"%d" % count)
        ear.unsubscribe(channel)
        assert ear.get_message(timeout=PATIENCE_S) is None
    assert client.publish(f"{channel}-nobody", "7") == 0


def test_a_curious_operator_looks_around(client: Any, queue: str) -> None:
    send(client, queue, "one", b"x", now_ms(client))
    names = {f"rsmq:{queue}".encode(), f"rsmq:{queue}:Q".encode()}
    assert client.ping() is True
    assert client.echo("hello") == b"hello"
    assert client.type(f"rsmq:{queue}") == b"zset"
    assert client.type(f"rsmq:{queue}:Q") == b"hash"
    assert client.type("rsmq:QUEUES") == b"set"
    assert client.type("none") == b"none"
    assert client.ttl(f"rsmq:{queue}") == -1
    assert client.ttl("none") == -2
    assert set(client.keys(f"rsmq:{queue}*")) == names
    assert set(client.scan_iter(f"rsmq:{queue}*")) == names
    assert client.dbsize() >= 3
    assert client.exists(f"rsmq:{queue}", "none") == 1
    assert "redis_version" in client.info()
    assert client.hlen(f"rsmq:{queue}:Q") >= 6
    assert client.hexists(f"rsmq:{queue}:Q", "one") == 1
    assert client.zrangebyscore(f"rsmq:{queue}", "-inf", "+inf", start=0, num=1) == [b"one"]


def test_what_nobody_knows_is_an_error_and_the_connection_goes_on(client: Any, queue: str) -> None:
    with pytest.raises(ResponseError, match="unknown command"):
        client.execute_command("NONSENSE", "x")
    with pytest.raises(ResponseError, match="wrong number of arguments"):
        client.execute_command("ZADD", f"rsmq:{queue}")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        client.hgetall(f"rsmq:{queue}" if send(client, queue, "one", b"x", now_ms(client)) else "")
    assert client.ping() is True
