"""Sealing on demand: what is told is what was true at the last sealed fact, whatever goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.journal import check
from penstock.journal.segment import segment_readers
from penstock.model import facts
from tests.server.desk import Desk, with_desk

SEAL = "/api/v1/journal/seal"


async def publish_many(desk: Desk, queue: str, count: int) -> None:
    for number in range(count):
        await desk.publish(queue, body=str(number))


async def seal_many(desk: Desk, count: int) -> list[dict[str, Any]]:
    told = []
    for _ in range(count):
        status, answer = await desk.post(SEAL)
        assert status == 200, answer
        told.append(answer)
    return told


def published(told: dict[str, Any]) -> int:
    return sum(queue["counts"]["published"] for queue in told["queues"])


def test_counts_are_those_of_the_last_sealed_fact(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        told, *_ = await asyncio.gather(
            seal_many(desk, 10), *[publish_many(desk, queue, 30) for queue in ("a", "b", "%FF")]
        )
        told += await seal_many(desk, 1)
        kinds = [fact.kind for fact in check.read(desk.store.journal_disk)]
        ends = set(sealed_facts(desk))
        for answer in told:
            assert published(answer) == kinds[: answer["last_fact"]].count(facts.PUBLISHED)
            assert answer["last_fact"] in ends
        assert [queue["name"] for queue in told[-1]["queues"]] == ["%FF", "a", "b"]
        assert published(told[-1]) == 90

    with_desk(tmp_path, scenario)


def sealed_facts(desk: Desk) -> Iterator[int]:
    """The last of each sealed segment."""
    for reader in segment_readers(desk.store.journal_disk, b"", shared=False, after=0, first=1):
        for _ in reader.batches():
            pass
        if reader.footer is not None:
            yield reader.next_fact - 1


def test_where_nothing_has_happened_since_nothing_is_sealed(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.publish("q", body="x")
        first, again = await seal_many(desk, 2)
        assert first == again
        assert desk.store.embedded.journal.segment == 2

    with_desk(tmp_path, scenario)


def test_while_the_next_segment_is_not_ready_it_is_refused(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.store.embedded.journal.full = True  # as on a disk without room for another
        await desk.publish("q", body="x")
        status, answer = await desk.post(SEAL)
        assert (status, answer["error"]) == (503, "not_ready")

    with_desk(tmp_path, scenario)
