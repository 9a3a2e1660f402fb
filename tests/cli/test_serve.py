"""`penstock serve`: the lines it prints, and why it does not start."""

from __future__ import annotations

import re

from tests.cli.conftest import Server, Shell


def test_it_tells_its_listeners_and_that_it_is_ready(server: Server) -> None:
    assert re.fullmatch(r"listening deferred 127\.0\.0\.1:[1-9]\d*\nready\n", "".join(server.lines))


def test_a_wrong_configuration_starts_nothing(away: Shell) -> None:
    result = away("serve", "--listen", "deferred")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "must be NAME=HOST:PORT" in result.stderr
    assert not away.data.exists()


def test_an_address_for_all_the_world_is_refused(away: Shell) -> None:
    result = away("serve", "--listen", "deferred=0.0.0.0:0")
    assert result.exit_code == 2
    assert "--insecure" in result.stderr
