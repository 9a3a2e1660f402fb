"""Class data: made once for a Java and a Spark, read from then on, and never in the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from penstock.pipeline.classdata import making, place, reading


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_it_is_made_where_it_is_missing_and_read_where_it_is(cache: Path) -> None:
    file = place()
    assert file is not None
    assert file.is_relative_to(cache)
    assert reading() == ""
    assert making().startswith(f"-XX:ArchiveClassesAtExit={file} ")
    assert making() == "", "it is being made"
    file.touch()
    assert making() == ""
    assert reading().startswith(f"-XX:SharedArchiveFile={file} ")


def test_a_claim_that_came_to_nothing_runs_out(cache: Path) -> None:
    assert making()
    (mark,) = (cache / "penstock").iterdir()
    os.utime(mark, (1, 1))
    assert making()


def test_what_nobody_has_read_for_a_month_goes_when_another_is_made(cache: Path) -> None:
    (cache / "penstock").mkdir(parents=True)
    for name, days in (("spark-old.jsa", 31), ("spark-old.making", 31), ("spark-used.jsa", 29)):
        then = time.time() - days * 86_400
        (cache / "penstock" / name).touch()
        os.utime(cache / "penstock" / name, (then, then))
    assert making()
    file = place()
    assert file is not None
    assert {found.name for found in (cache / "penstock").iterdir()} == {"spark-used.jsa", f"{file.stem}.making"}


def test_to_read_it_keeps_it(cache: Path) -> None:
    file = place()
    assert file is not None
    file.parent.mkdir(parents=True)
    file.touch()
    os.utime(file, (1, 1))
    assert reading()
    assert time.time() - file.stat().st_mtime < 60


def test_another_java_has_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = place()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert place() not in (None, before)


def test_without_java_or_a_place_for_it_there_is_none(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    cache.touch()
    assert (reading(), making()) == ("", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(cache))
    assert place() is None
