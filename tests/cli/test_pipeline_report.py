"""`penstock pipeline report` where there is nothing to report: in words, and before Spark is started."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from penstock.cli.main import main


def report(folder: Path, *flags: str) -> Result:
    file = str(folder / "report.html")
    return CliRunner().invoke(main, ["pipeline", "report", "--data", str(folder), "-o", file, *flags])


def test_without_tables_it_says_how_to_make_them(tmp_path: Path) -> None:
    result = report(tmp_path)
    assert result.exit_code == 1
    assert "`penstock pipeline run` makes them." in result.stderr
    assert not (tmp_path / "report.html").exists()


def test_a_time_that_ends_before_it_begins_is_refused(tmp_path: Path) -> None:
    result = report(tmp_path, "--from", "2026-01-02", "--to", "2026-01-02T00:00Z")
    assert result.exit_code == 2
    assert "--from is not before --to" in result.stderr
