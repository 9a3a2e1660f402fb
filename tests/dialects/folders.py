"""The folder of each dialect's transcripts: `dialect.toml` says how they are written, then come the transcripts."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from tests.dialects.notations import NOTATIONS
from tests.dialects.transcript import Transcript, parse

FOLDER = Path(__file__).parent / "transcripts"


def source(dialect: str, name: str) -> str:
    return (FOLDER / dialect / f"{name}.txt").read_text("utf-8")


@cache
def transcript(dialect: str, name: str) -> Transcript:
    return parse(source(dialect, name), notation(dialect))


def transcripts() -> list[tuple[str, str]]:
    return [(path.parent.name, path.stem) for path in sorted(FOLDER.glob("*/*.txt"))]


def notation(dialect: str) -> str:
    return str(_about(dialect)["notation"])


def labelled(dialect: str) -> bool:
    """Answers say what they are for, and have no order among them."""
    return bool(_about(dialect).get("labelled", False))


def cut_off(dialect: str) -> bytes:
    """The beginning of a request that would change something if it were whole."""
    parts = NOTATIONS[notation(dialect)]().said(str(_about(dialect)["cut_off"]), False)
    return b"".join([part for part in parts if isinstance(part, bytes)])


@cache
def _about(dialect: str) -> dict[str, str | bool]:
    return tomllib.loads((FOLDER / dialect / "dialect.toml").read_text("utf-8"))
