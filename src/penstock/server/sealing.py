"""Sealing on demand: the segment in use is ended, and what each queue counts at that very fact is told with it, for
whoever compares what the archive says with what the server counts."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from penstock.broker.embedded import Embedded
from penstock.model.views import Counts
from penstock.server.asking import StoreIsDead
from penstock.server.tick import Heart

_TRIES: Final = 40
_AGAIN_S: Final = 0.05


class NotReady(Exception):
    """The next segment cannot be begun quickly: its zeros are not written, or the disk has no room for them."""


class Sealed(NamedTuple):
    """Everything up to `last_fact` is sealed, and counted so."""

    last_fact: int
    counts: dict[bytes, Counts]


async def seal(embedded: Embedded, heart: Heart) -> Sealed:
    """Raises NotReady, StoreIsDead."""
    for _ in range(_TRIES):
        found = await _at_commit(embedded, heart)
        if found is not None:
            return found
        await asyncio.sleep(_AGAIN_S)
    raise NotReady


async def _at_commit(embedded: Embedded, heart: Heart) -> Sealed | None:
    """Between two ticks nothing is true that is not in the journal. None: not now."""
    if not heart.begin():
        raise StoreIsDead
    done: asyncio.Future[Sealed | None] = asyncio.get_running_loop().create_future()

    def settle() -> None:
        sealed = _seal(embedded)
        if not done.done():
            done.set_result(sealed)

    embedded.asked.append(settle)
    return await done


def _seal(embedded: Embedded) -> Sealed | None:
    journal, now_us = embedded.journal, embedded.now_us()
    if journal.is_ripe(now_us, 0):
        journal.rotate(int(now_us))
    if not journal.is_fresh():
        return None
    return Sealed(int(journal.next_fact) - 1, embedded.counts())
