"""Whoever speaks to RSMQ's keys is tested on two stores by the same assertions: penstock's facade and a real Redis."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interop.targets import STORES, Target


@pytest.fixture(scope="session", params=STORES)
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """One for all tests: they keep apart by the names of their queues."""
    with STORES[request.param](tmp_path_factory.mktemp(request.param)) as running:
        yield running


@pytest.fixture(params=STORES)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """One of its own, without a queue."""
    with STORES[request.param](tmp_path) as running:
        yield running


_NUMBERS = itertools.count(1)


@pytest.fixture
def fresh() -> Callable[[], str]:
    """Names of queues that no other test uses."""
    return lambda: f"queue-{next(_NUMBERS)}"
