"""One contract, every broker: the laws of `contract.py` on each of them, and on each of them answering late."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.engine.rules import PolicyBook
from penstock.journal.disk import OsDisk
from penstock.model.contract import Broker
from tests.broker.client import Client
from tests.broker.contract import LAWS, Law
from tests.broker.desks import Desk, EmbeddedDesk, EngineDesk, LateDesk
from tests.broker.late import LateBroker
from tests.journal.simdisk import SimDisk

DESKS: dict[str, Callable[[PolicyBook, Path], Desk]] = {
    "engine and outbox": lambda book, _: EngineDesk(book),
    "embedded, on a simulated disk": lambda book, _: EmbeddedDesk(book, SimDisk()),
    "embedded, on a real disk": lambda book, path: EmbeddedDesk(book, OsDisk(str(path))),
    "engine and outbox, late": lambda book, _: LateDesk(EngineDesk(book), seed=1),
    "embedded, late": lambda book, _: LateDesk(EmbeddedDesk(book, SimDisk()), seed=2),
}


@pytest.fixture(params=DESKS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    return DESKS[request.param](PolicyBook(), tmp_path)


@pytest.mark.parametrize("law", LAWS, ids=[law.__name__ for law in LAWS])
def test_every_broker_keeps_the_law(law: Law, desk: Desk) -> None:
    law(desk)


def test_the_laws_use_every_verb() -> None:
    used = {name for law in LAWS for name in law.__code__.co_names}
    used |= {name for value in vars(Client).values() if hasattr(value, "__code__") for name in value.__code__.co_names}
    assert {name for name in vars(Broker) if not name.startswith("_")} <= used


def test_a_late_broker_passes_on_every_verb() -> None:
    verbs = {name for name in vars(Broker) if not name.startswith("_")}
    assert verbs <= set(vars(LateBroker))
