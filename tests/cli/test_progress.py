"""The bar of a long check: there on a terminal, nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from penstock.cli.progress import WORTH_A_BAR, progress
from tests.cli.conftest import Shell, program
from tests.cli.journals import Written


def test_away_from_a_terminal_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("verifying") as tell:
        tell(1, 100)
    assert capsys.readouterr() == ("", "")


def on_a_terminal(*words: str) -> bytes:
    """What a command says on stderr, if that is a terminal."""
    ours, theirs = pty.openpty()
    subprocess.run(program(*words), stdout=subprocess.DEVNULL, stderr=theirs, check=True, timeout=20)
    os.close(theirs)
    said = os.read(ours, 65_536)
    os.close(ours)
    return said


@pytest.mark.parametrize(("segments", "shown"), [(WORTH_A_BAR, True), (1, False)])
def test_on_a_terminal_a_big_journal_has_a_bar(away: Shell, segments: int, shown: bool) -> None:
    written = Written(away.data)
    for number in range(1, segments):
        written.rotate()
        written.publish(number, b"x")
    written.close()
    assert (b"verifying" in on_a_terminal("journal", "verify", "--data", str(away.data))) is shown
