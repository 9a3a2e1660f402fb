"""Class data: made once for a Java and a Spark, read from then on, and never in the way."""

from __future__ import annotations

import os
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
