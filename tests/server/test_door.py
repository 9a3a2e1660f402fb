"""The unix socket: for its owner only, reachable however long the path is, and replaced after a crash."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from penstock.server import door


@pytest.fixture(params=["short", "long"])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path if request.param == "short" else tmp_path.joinpath(*["x" * 60] * 3)
    path.mkdir(parents=True, exist_ok=True)
    return path


def test_what_binds_can_be_reached(data: Path) -> None:
    with door.bind(data) as bound, socket.socket(socket.AF_UNIX) as client:
        bound.listen()
        with door.socket_path(data) as path:
            client.connect(path)
        accepted, _ = bound.accept()
        accepted.close()


def test_only_its_owner_may_come_in(data: Path) -> None:
    with door.bind(data):
        assert (data / door.SOCKET_NAME).stat().st_mode & 0o777 == 0o600


def test_a_socket_that_was_left_behind_is_replaced(data: Path) -> None:
    door.bind(data).close()
    door.bind(data).close()
    door.remove(data)
    assert list(data.iterdir()) == []
    door.remove(data)
