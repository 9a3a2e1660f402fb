"""`penstock import rsmq` out of a real Redis into a real server: what comes, what is passed over, what is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import servers
from harness.server import Server, serving
from penstock.cli.resp_client import RespClient, ServerError
from penstock.model.limits import BODY_MAX
from tests.cli.conftest import Shell
from tests.cli.shapes import assert_documented

HOUR_MS = 3_600_000


class Redis:
    """One of the stores; words in, what it answers out."""

    def __init__(self, port: int) -> None:
        self.place = f"127.0.0.1:{port}"
        self.url = f"redis://{self.place}"

    def __call__(self, *words: Any) -> Any:
        with RespClient(self.url) as client:
            return client.call(*words)

    def fields(self, queue: str) -> dict[bytes, bytes]:
        flat = self("HGETALL", f"rsmq:{queue}:Q")
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def scores(self, queue: str) -> list[tuple[bytes, bytes]]:
        flat = self("ZRANGE", f"rsmq:{queue}", 0, -1, "WITHSCORES")
        return list(zip(flat[::2], flat[1::2], strict=True))

    def fill(self, queue: str, *messages: tuple[str, int, bytes], **attributes: int) -> None:
        """Messages are id, score and body."""
        said = {"vt": 30, "delay": 0, "maxsize": 65_536, "created": 1_645_018_248, "modified": 1_645_018_300}
        self("HSET", f"rsmq:{queue}:Q", *[word for field in (said | attributes).items() for word in field])
        self("SADD", "rsmq:QUEUES", queue)
        for id, score, body in messages:
            self("ZADD", f"rsmq:{queue}", score, id)
            self("HSET", f"rsmq:{queue}:Q", id, body)
            self("HINCRBY", f"rsmq:{queue}:Q", "totalsent", 1)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    with servers.redis("--appendonly", "no")(tmp_path_factory.mktemp("redis")) as running:
        yield Redis(running.port)


@pytest.fixture(autouse=True)
def _from_scratch(source: Redis) -> None:
    source("FLUSHALL")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server") / "data", "--confirm", "write", listen=("rsmq",)) as server:
        yield server


@pytest.fixture
def shell(running: Server) -> Shell:
    return Shell(running.data)


@pytest.fixture(scope="module")
def facade(running: Server) -> Redis:
    return Redis(running.port)


@pytest.fixture
def queue(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


def bring(shell: Shell, source: Redis, *words: str) -> dict[str, Any]:
    result = shell("import", "rsmq", source.url, "--output", "json", *words)
    assert (result.exit_code, result.stderr) == (0, ""), result.exception
    shape = json.loads(result.stdout)
    assert_documented("import rsmq", shape)
    return dict(shape)


def refusal(shell: Shell, *words: str) -> str:
    result = shell("import", "rsmq", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    return str(result.stderr)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


# -- what comes


def test_every_key_shows_the_same_as_before(shell: Shell, source: Redis, facade: Redis, queue: str) -> None:
    late_ms = now_ms() + HOUR_MS
    source.fill(
        queue,
        ("g73zkl38qzSBNq2NcnVVlCldqwqFXRJd", 1_645_020_200_667, b"Hello, World"),
        ("chosen-by-a-client", 1_645_020_200_668, b"\x00\xff"),
        ("g73zkl38qzSBNq2NcnVVlCldqwqFXRJe", late_ms, b""),
        vt=40,
        delay=5,
        maxsize=2_048,
        totalrecv=17,
    )
    source("HSET", f"rsmq:{queue}:Q", "chosen-by-a-client:rc", 3, "chosen-by-a-client:fr", 1_645_021_703_008)
    source("HSET", f"rsmq:{queue}:Q", "totalsent", 99)
    shape = bring(shell, source)
    assert (shape["messages"], shape["bytes"], shape["known"], shape["gone"]) == (3, 14, 0, 0)
    assert shape["queues"] == [{"queue": queue, "messages": 3, "created": True}]
    assert facade.scores(queue) == source.scores(queue)
    assert facade.fields(queue) == source.fields(queue)


def test_a_client_goes_on_with_the_same_ids(shell: Shell, source: Redis, facade: Redis, queue: str) -> None:
    source.fill(queue, ("first", 1_000, b"a"), ("second", 2_000, b"b"), ("hidden", now_ms() + HOUR_MS, b"c"))
    source("HSET", f"rsmq:{queue}:Q", "first:rc", 2, "first:fr", 1_645_021_703_008)
    bring(shell, source)
    words = ["-r", facade.url, "message"]
    assert json.loads(shell.text("rsmq", *words, "receive", "-n", queue)) == {
        "id": "first",
        "message": "a",
        "rc": 3,
        "ts": 1_645_021_703_008,
    }
    assert json.loads(shell.text("rsmq", *words, "pop", "-n", queue))["id"] == "second"
    assert shell.text("rsmq", *words, "pop", "-n", queue) == f"No messages on queue: {queue}\n"
    shell.text("rsmq", *words, "visibility", "-n", queue, "-i", "hidden", "-t", "0")
    assert json.loads(shell.text("rsmq", *words, "pop", "-n", queue))["id"] == "hidden"
    shell.text("rsmq", *words, "delete", "-n", queue, "-i", "first")
    assert shell.json("queue", "show", queue)["counts"]["finished"] == 3


def test_totals_go_on_from_where_they_were(shell: Shell, source: Redis, facade: Redis, queue: str) -> None:
    source.fill(queue, ("one", 1_000, b"a"), totalrecv=50, totalsent=41)
    bring(shell, source)
    words = ["rsmq", "-r", facade.url]
    shell.text(*words, "message", "send", "-n", queue, "-m", "x")
    shell.text(*words, "message", "pop", "-n", queue)
    described = json.loads(shell.text(*words, "queue", "describe", "-n", queue))
    assert (described["totalsent"], described["totalrecv"]) == (43, 51)
    assert (described["created"], described["modified"]) == (1_645_018_248, 1_645_018_300)


def test_the_past_of_a_queue_outlives_a_restart(source: Redis, tmp_path: Path, queue: str) -> None:
    source.fill(queue, ("one", 1_000, b"a"), vt=7, totalsent=40)
    with serving(tmp_path / "data", "--confirm", "write", listen=("rsmq",)) as server:
        bring(Shell(server.data), source)
        before = Redis(server.port).fields(queue)
        server.kill()
        server.wait()
    with serving(tmp_path / "data", "--confirm", "write", listen=("rsmq",)) as server:
        assert Redis(server.port).fields(queue) == before == source.fields(queue)


def test_attributes_that_are_changed_here_are_new(shell: Shell, source: Redis, facade: Redis, queue: str) -> None:
    source.fill(queue, totalsent=5)
    bring(shell, source)
    facade("HSET", f"rsmq:{queue}:Q", "vt", 12)
    fields = facade.fields(queue)
    assert (fields[b"vt"], fields[b"totalsent"], fields[b"created"]) == (b"12", b"5", b"1645018248")
    assert int(fields[b"modified"]) > 1_645_018_300


def test_queues_without_messages_come_too(shell: Shell, source: Redis, facade: Redis, queue: str) -> None:
    source.fill(queue, vt=0, maxsize=-1)
    assert bring(shell, source)["queues"] == [{"queue": queue, "messages": 0, "created": True}]
    assert facade("HMGET", f"rsmq:{queue}:Q", "vt", "delay", "maxsize") == [b"0", b"0", b"-1"]


def test_one_queue_of_several_and_another_namespace(shell: Shell, source: Redis, facade: Redis, queue: str) -> None:
    for name in ("a", "b", "c"):
        source.fill(queue + name, ("id", 1_000, name.encode()))
    assert [row["queue"] for row in bring(shell, source, "--queue", queue + "b")["queues"]] == [queue + "b"]
    assert refusal(shell, source.url, "--queue", "none").endswith("has no queue none.\n")
    assert bring(shell, source, "--namespace", "other")["queues"] == []


def test_what_was_larger_than_its_queue_allows_comes_all_the_same(shell: Shell, source: Redis, queue: str) -> None:
    """Some clients do not look at the maximum, and it may have been lowered since."""
    messages = [(f"id{number}", 1_000, bytes(3_000)) for number in range(3)]
    source.fill(queue, *messages, maxsize=1_024)
    bring(shell, source)
    assert shell.json("queue", "show", queue)["counts"]["ready"] == 3


def test_what_nobody_could_mean_is_read_as_well_as_can_be(
    shell: Shell, source: Redis, facade: Redis, queue: str
) -> None:
    source.fill(queue, ("late", 10**15, b"a"), ("fraction", 5, b"b"))
    source("HSET", f"rsmq:{queue}:Q", "vt", "7.5", "delay", "soon", "fraction:rc", "many", "fraction:fr", "-3")
    source("HDEL", f"rsmq:{queue}:Q", "maxsize", "created", "modified", "totalsent")
    source("ZADD", f"rsmq:{queue}", "1000.5", "fraction")
    bring(shell, source)
    assert facade("HMGET", f"rsmq:{queue}:Q", "vt", "delay", "maxsize", "fraction:rc") == [b"7", b"0", b"65536", None]
    assert facade("ZSCORE", f"rsmq:{queue}", "fraction") == b"1001"


def test_ids_without_a_body_are_left_out_and_told(shell: Shell, source: Redis, queue: str) -> None:
    source.fill(queue, ("whole", 1_000, b"a"))
    source("ZADD", f"rsmq:{queue}", 1, "hollow")
    result = shell("import", "rsmq", source.url)
    assert result.stdout.endswith(f"\n  1 into {queue}\n")
    assert result.stderr == "Left out: 1 id without a body.\n"


def test_from_one_penstock_to_another(shell: Shell, facade: Redis, source: Redis, tmp_path: Path, queue: str) -> None:
    shell.text("queue", "create", queue, "--lease", "7s")
    for body in ("a", "b"):
        shell.text("message", "publish", queue, body)
    shell.text("message", "reserve", queue, "--lease", "1h")
    with serving(tmp_path / "other", "--confirm", "write", listen=("rsmq",)) as other:
        assert bring(Shell(other.data), facade, "--queue", queue)["messages"] == 2
        copy = Redis(other.port)
        assert copy.scores(queue) == facade.scores(queue)
        assert copy.fields(queue) == facade.fields(queue)
    assert bring(shell, facade, "--queue", queue)["known"] == 2


# -- again


def test_a_second_run_adds_nothing_even_where_messages_are_done_with(
    shell: Shell, source: Redis, facade: Redis, queue: str
) -> None:
    source.fill(queue, *[(f"id{number}", 1_000 + number, b"%d" % number) for number in range(5)])
    bring(shell, source)
    words = ["rsmq", "-r", facade.url, "message"]
    shell.text(*words, "pop", "-n", queue)
    shell.text(*words, "delete", "-n", queue, "-i", "id3")
    shell.text(*words, "receive", "-n", queue)
    before = (facade.scores(queue), facade.fields(queue))
    shape = bring(shell, source)
    assert (shape["messages"], shape["known"]) == (0, 5)
    assert shape["queues"] == [{"queue": queue, "messages": 0, "created": False}]
    assert (facade.scores(queue), facade.fields(queue)) == before


def test_what_came_since_is_added(shell: Shell, source: Redis, facade: Redis, queue: str) -> None:
    source.fill(queue, ("one", 1_000, b"a"))
    bring(shell, source)
    source.fill(queue, ("two", 2_000, b"b"))
    result = shell("import", "rsmq", source.url)
    assert result.stdout == f"imported 1 message, 1 B, from {source.place}\n  1 into {queue}\n"
    assert result.stderr == (
        f"Passed over: 1 message that had been there before.\nThere already, with their own attributes: {queue}.\n"
    )
    assert facade.fields(queue) == source.fields(queue)


def test_a_dry_run_changes_nothing(shell: Shell, source: Redis, facade: Redis, queue: str) -> None:
    source.fill(queue, ("one", 1_000, b"a"))
    shape = bring(shell, source, "--dry-run")
    assert (shape["messages"], shape["queues"][0]["created"], facade("EXISTS", f"rsmq:{queue}:Q")) == (1, True, 0)
    bring(shell, source)
    shape = bring(shell, source, "--dry-run")
    assert (shape["messages"], shape["known"], shape["queues"][0]["created"]) == (0, 1, False)
    assert source.scores(queue) == [(b"one", b"1000")]


# -- what is refused


@pytest.mark.parametrize(
    ("id", "body", "told"),
    [
        ("large", bytes(BODY_MAX + 1), "has 1,048,577 bytes, and a message here may have 1,048,576.\n"),
        ("x" * 256, b"", "has an id that is no text of 1 to 255 bytes.\n"),
        ("\x1b[31m", b"", "has an id that is no text of 1 to 255 bytes.\n"),
    ],
)
def test_what_cannot_be_moved_is_told_before_anything_is(
    shell: Shell, source: Redis, facade: Redis, queue: str, id: str, body: bytes, told: str
) -> None:
    name = f"refused-{len(id)}"
    source.fill(name, ("good", 1_000, b"a"), (id, 2_000, body))
    found = refusal(shell, source.url)
    assert told in found
    assert "\x1b" not in found
    assert facade("EXISTS", f"rsmq:{name}:Q") == 0


def test_a_place_that_is_no_redis_is_told_in_words(shell: Shell, running: Server) -> None:
    assert refusal(shell, "redis://127.0.0.1:1") == "Error: cannot connect to 127.0.0.1:1: Connection refused.\n"
    assert shell("import", "rsmq", "http://localhost").exit_code == 2
    assert shell("import", "rsmq").exit_code == 2


def test_without_a_server_it_says_so(away: Shell, source: Redis) -> None:
    assert refusal(away, source.url).startswith("Error: no server is running on ")


def test_the_source_is_only_read(shell: Shell, source: Redis, queue: str) -> None:
    source.fill(queue, ("one", 1_000, b"a"))
    before = [source.fields(queue), source.scores(queue), source("DBSIZE")]
    source("CONFIG", "RESETSTAT")
    bring(shell, source)
    used = {line.split(":")[0] for line in source("INFO", "commandstats").decode().splitlines() if ":" in line}
    assert used <= {
        f"cmdstat_{name}" for name in ("smembers", "multi", "exec", "hmget", "zrange", "hstrlen", "hexists", "info")
    } | {"cmdstat_config|resetstat"}
    assert [source.fields(queue), source.scores(queue), source("DBSIZE")] == before


def test_a_refusal_of_the_redis_is_told_in_its_words(shell: Shell, source: Redis) -> None:
    source("SET", "rsmq:QUEUES", "x")
    assert refusal(shell, source.url).startswith("Error: the server said: WRONGTYPE ")
    with pytest.raises(ServerError):
        source("SMEMBERS", "rsmq:QUEUES")
