"""The story is told from beginning to end, as `make demo` tells it, and would end badly if a number did not add up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from demo.chapters import CHAPTERS
from demo.telling import Story

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0


@pytest.mark.timeout(PATIENCE_S + 10)
def test_it_comes_to_a_good_end(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "demo", str(tmp_path / "data")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert [f"\n{number}. " in told.stdout for number in range(1, len(CHAPTERS) + 1)] == [True] * len(CHAPTERS)
    assert "Nothing was lost." in told.stdout
    assert told.stderr == ""


def test_what_does_not_hold_ends_it_with_a_code_that_is_not_0() -> None:
    with pytest.raises(SystemExit) as ended:
        Story("a short one").check("one and one is three", holds=False)
    assert ended.value.code == 1
