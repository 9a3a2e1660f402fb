"""`penstock rsmq` without a store: where it looks for one, names, ids. What it says to one is tested with the stock
programs beside it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from penstock.cli.main import main
from penstock.cli.rsmq import rsmq
from penstock.cli.rsmq_door import default_url, is_name
from penstock.cli.rsmq_store import new_id


def test_it_looks_for_penstock_where_the_configuration_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_url() == "redis://127.0.0.1:6380"
    monkeypatch.setenv("PENSTOCK_LISTEN_RSMQ", "127.0.0.1:7777")
    assert default_url() == "redis://127.0.0.1:7777"
    monkeypatch.delenv("PENSTOCK_LISTEN_RSMQ")
    monkeypatch.setenv("PENSTOCK_LISTEN_ETZEL", "127.0.0.1:7777")
    assert default_url() == "redis://127.0.0.1:6380"


@pytest.mark.parametrize(("flags", "variable", "place"), [(("-r", "redis://127.0.0.1:1"), "2", 1), ((), "3", 3)])
def test_a_flag_goes_before_the_variable(flags: tuple[str, ...], variable: str, place: int) -> None:
    environment = {"REDIS_URL": f"redis://127.0.0.1:{variable}"}
    result = CliRunner().invoke(rsmq, [*flags, "queue", "list"], env=environment)
    assert result.stderr == f"Error: cannot connect to 127.0.0.1:{place}: Connection refused.\n"
    assert CliRunner().invoke(main, ["rsmq", *flags, "queue", "list"], env=environment).stderr == result.stderr


@pytest.mark.parametrize(
    ("name", "good"),
    [("orders", True), ("x" * 256, True), ("x" * 257, False), ("", False), ("a:b", False), ("QUEUES", False)],
)
def test_names_that_a_queue_of_rsmq_can_have(name: str, good: bool) -> None:
    assert is_name(name) is good


def test_ids_begin_with_the_time_and_are_never_the_same() -> None:
    made = {new_id(1_645_020_200_667_000) for _ in range(1_000)}
    assert len(made) == 1_000
    assert all(re.fullmatch("[0-9a-z]{10}[A-Za-z0-9]{22}", id) for id in made)
    assert int(next(iter(made))[:10], 36) == 1_645_020_200_667_000


def test_it_is_a_program_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.rsmq", "queue", "nonsense"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: rsmqctl queue ")
