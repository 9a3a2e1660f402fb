"""kill -9 in the middle of an import from a Redis, of the command and of the server: in the end all is as it was."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import servers
from harness.server import Server, serving
from penstock.cli.resp_client import Command, RespClient
from tests.live.imports import Import, published, wait_until

COUNT = 4_000
CHUNK = 1_000
QUEUES = ("one", "two")
LATER_MS = 3_600_000


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis with two queues: every third message was received before, every fifth is hidden."""
    with servers.redis("--appendonly", "no")(tmp_path_factory.mktemp("redis")) as running:
        url = f"redis://127.0.0.1:{running.port}"
        with RespClient(url) as client:
            for queue in QUEUES:
                client.calls(filling(queue, time.time_ns() // 1_000_000))
        yield url


def filling(queue: str, now_ms: int) -> Iterator[Command]:
    key, fields = f"rsmq:{queue}", f"rsmq:{queue}:Q"
    yield ("HSET", fields, "vt", 30, "delay", 0, "maxsize", 65_536, "created", 1_645_018_248, "modified", 1_645_018_248)
    yield ("HSET", fields, "totalsent", COUNT, "totalrecv", 99)
    yield ("SADD", "rsmq:QUEUES", queue)
    for number in range(COUNT // 2):
        id = f"{queue}{number:06}"
        yield ("ZADD", key, now_ms - COUNT + number + (LATER_MS if number % 5 == 0 else 0), id)
        yield ("HSET", fields, id, f"body {number}")
        if number % 3 == 0:
            yield ("HSET", fields, f"{id}:rc", 2, f"{id}:fr", now_ms - number)


def kept(url: str, queue: str) -> tuple[list[bytes], list[bytes | None]]:
    """Everything of a queue: its ids with their scores, its attributes and totals, and all fields of its messages."""
    with RespClient(url) as client:
        pairs: list[bytes] = client.call("ZRANGE", f"rsmq:{queue}", 0, -1, "WITHSCORES")
        said = ["vt", "delay", "maxsize", "created", "modified", "totalsent", "totalrecv"]
        fields: list[bytes | None] = client.call("HMGET", f"rsmq:{queue}:Q", *said)
        for at in range(0, len(pairs), 2 * CHUNK):
            ids = pairs[at : at + 2 * CHUNK : 2]
            fields += client.call(
                "HMGET", f"rsmq:{queue}:Q", *[id + end for id in ids for end in (b"", b":rc", b":fr")]
            )
    return pairs, fields


def assert_all_is_as_it_was(source: str, server: Server) -> None:
    for queue in QUEUES:
        pairs, fields = kept(f"redis://127.0.0.1:{server.port}", queue)
        expected_pairs, expected_fields = kept(source, queue)
        assert pairs == expected_pairs
        assert fields == expected_fields


def popped(server: Server, queue: str, count: int) -> list[bytes]:
    """Ids, taken as clients of RSMQ take them."""
    with RespClient(f"redis://127.0.0.1:{server.port}") as client:
        now_ms = time.time_ns() // 1_000_000
        pop: Command = ("EVALSHA", "70a940e88769e808900bf46f3e0c089bb3601884", 2, f"rsmq:{queue}", now_ms)
        return [row[0] for row in client.calls([pop] * count) if row]


def test_an_import_that_is_killed_at_several_points_is_completed(source: str, data: Path) -> None:
    with serving(data, "--confirm", "write", listen=("rsmq",)) as server:
        for point in (0, 1, COUNT // 2, COUNT - CHUNK // 2):
            running = Import(data, "rsmq", source)
            wait_until(lambda point=point: published(data) >= point)  # type: ignore[misc]
            running.kill()
        assert Import(data, "rsmq", source).wait() == 0
        assert published(data) == COUNT
        assert_all_is_as_it_was(source, server)


def test_a_server_that_is_killed_under_an_import_gets_the_rest_afterwards(source: str, data: Path) -> None:
    for point in (1, COUNT // 2):
        with serving(data, "--confirm", "write", listen=("rsmq",)) as server:
            running = Import(data, "rsmq", source)
            wait_until(lambda point=point: published(data) >= point)  # type: ignore[misc]
            server.kill()
            server.wait()
            running.wait()
    with serving(data, "--confirm", "write", listen=("rsmq",)) as server:
        assert Import(data, "rsmq", source).wait() == 0
        assert published(data) == COUNT
        assert_all_is_as_it_was(source, server)


def test_what_clients_have_worked_off_meanwhile_does_not_come_again(source: str, data: Path) -> None:
    with serving(data, "--confirm", "write", listen=("rsmq",)) as server:
        running = Import(data, "rsmq", source)
        wait_until(lambda: published(data) >= COUNT // 4)
        running.kill()
        done = popped(server, "one", 500)
        assert Import(data, "rsmq", source).wait() == 0
        assert published(data) == COUNT
        while more := popped(server, "one", CHUNK):
            done += more
        ready = [f"one{number:06}".encode() for number in range(COUNT // 2) if number % 5]
        assert sorted(done) == ready
        assert Import(data, "rsmq", source).wait() == 0
        assert published(data) == COUNT


def test_imports_side_by_side_double_nothing(source: str, data: Path) -> None:
    with serving(data, "--confirm", "write", listen=("rsmq",)) as server:
        together = [Import(data, "rsmq", source) for _ in range(3)]
        codes = [running.wait() for running in together]
        assert codes.count(0) >= 1
        assert set(codes) <= {0, 1}
        assert_all_is_as_it_was(source, server)
