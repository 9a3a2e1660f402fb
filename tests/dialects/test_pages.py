"""The pages of the dialects are true, whichever they are: sessions are transcripts, options are the options."""

from __future__ import annotations

import re

import pytest

from penstock.dialects.table import DIALECTS, Dialect
from penstock.server.options import OPTIONS
from tests.dialects.folders import FOLDER, source

PAGES = FOLDER.parents[2] / "docs" / "dialects"
SESSION = re.compile(r"^```transcript ([a-z0-9-]+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.name for dialect in DIALECTS])


def page(dialect: str) -> str:
    return (PAGES / f"{dialect}.md").read_text("utf-8")


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@every_dialect
def test_every_session_on_a_page_is_a_transcript_word_for_word(dialect: Dialect) -> None:
    sessions = SESSION.findall(page(dialect.name))
    assert sessions
    for name, shown in sessions:
        assert source(dialect.name, name) == shown, name


@every_dialect
def test_a_page_says_where_the_server_listens(dialect: Dialect) -> None:
    assert re.search(rf"\b{dialect.port}\b", page(dialect.name))
    assert f"`listen.{dialect.name}`" in page(dialect.name)


@every_dialect
def test_the_options_on_a_page_are_the_options(dialect: Dialect) -> None:
    shown = re.findall(r"^\| `([a-z_]+)` \|", section(page(dialect.name), "Options"), re.MULTILINE)
    table = f"dialect.{dialect.name}."
    assert {table + name for name in shown} == {key for key in OPTIONS if key.startswith(table)}


@every_dialect
def test_a_page_tells_of_its_place_among_the_others_and_of_its_ancestor(dialect: Dialect) -> None:
    assert section(page(dialect.name), "Together with other dialects")
    assert re.search(r"^## Where it differs from \w+$", page(dialect.name), re.MULTILINE)
