"""No room, on the disk or in memory, as clients of each dialect meet it: publishing is refused in its own words, while
everything that ends a message goes on; and when there is room again, they are taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from harness.server import Server, serving
from tests.live.doors import DOORS, Door
from tests.live.small_disk import fill, small_disk
from tests.live.texts import Texts

RESUMES_S = 5.0
MEMORY = 600_000
FLAGS = ("--limits-segment-bytes", "262144", "--confirm", "write", "--no-archive-enabled")
LISTEN = tuple(door.dialect for door in DOORS)
AHEAD = 4  # messages of each dialect, before there is no room


def room(server: Server) -> str:
    lacks: str = server.get("/api/v1/status")["room"]["refusing"]
    return lacks


def ready(server: Server, queue: str) -> int:
    count: int = server.get(f"/api/v1/queues/{queue}")["counts"]["ready"]
    return count


def within(seconds: float, condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@contextmanager
def doors(server: Server) -> Iterator[list[Door]]:
    with ExitStack() as stack:
        opened = [door(server.ports[door.dialect]) for door in DOORS]
        for door in opened:
            stack.callback(door.close)
        yield opened


def is_taken(door: Door) -> bool:
    """One that does not answer does not say no."""
    return door.publish() != door.refusal or door.refusal is None


def refused_and_resumed(server: Server, lack: str, take: Callable[[], object], give_back: Callable[[], object]) -> None:
    """Takes all room there is and gives it back, and holds each dialect to its words meanwhile."""
    with doors(server) as opened:
        for door in opened:
            assert all(is_taken(door) for _ in range(AHEAD)), door.dialect
        within(RESUMES_S, lambda: ready(server, "packets") == AHEAD)
        take()
        within(RESUMES_S, lambda: room(server) == lack)
        for door in opened:
            assert door.publish() == door.refusal, door.dialect
            door.end()
        assert ready(server, "packets") == AHEAD - 1, "what was pushed is not in"
        give_back()
        within(RESUMES_S, lambda: ready(server, "packets") == AHEAD)
        assert all(is_taken(door) for door in opened)


def test_a_disk_without_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as place, serving(place / "data", *FLAGS, listen=LISTEN) as server:
        refused_and_resumed(server, "disk", lambda: fill(place), (place / "other").unlink)
        assert server.stop() == 0


def test_memory_without_room(data: Path) -> None:
    flags = (*FLAGS, "--limits-memory-bytes", str(MEMORY))
    with serving(data, *flags, listen=LISTEN) as server, Texts(server.ports["etzel"]) as client:
        refused_and_resumed(server, "memory", partial(publish_all, client), partial(finish_all, client))
        assert server.stop() == 0


def publish_all(client: Texts) -> None:
    """As much as there is room for."""
    while client.ask("PUB", "large", msg="x" * 10_000)["cmd"] == "ok":
        pass


def finish_all(client: Texts) -> None:
    while (found := client.ask("FET", "large"))["cmd"] == "msg":
        assert client.ask("ACK", "large", uid=found["uid"])["cmd"] == "okack"
