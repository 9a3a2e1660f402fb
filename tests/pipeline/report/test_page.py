"""The page: everything that is told is in it, nothing in it comes from outside, and no name can be markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from penstock.pipeline.report.numbers import Report
from penstock.pipeline.report.page import page
from penstock.pipeline.report.series import in_html
from tests.pipeline.report.samples import NASTY, lively, nothing

VOID = {"meta", "link", "rect"}


class Reader(HTMLParser):
    """Every tag must be closed; `texts` is what is between them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(report: Report) -> Reader:
    reader = Reader()
    reader.feed(page(report))
    reader.close()
    return reader


@pytest.mark.parametrize("report", [lively(), nothing()], ids=["lively", "nothing"])
def test_every_tag_is_closed_and_nothing_comes_from_elsewhere(report: Report) -> None:
    reader = read(report)
    assert reader.open == []
    assert reader.addresses == ["data:,"]
    assert reader.tags.count("script") == 2
    assert "default-src 'none'" in page(report)
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page(report)) == []


def test_no_name_is_ever_markup() -> None:
    reader = read(lively())
    assert "img" not in reader.tags
    assert NASTY in reader.texts
    assert "(no name)" in reader.texts
    assert "a\\u202eb\\u0000c" in reader.texts


def test_what_the_script_draws_is_json_without_a_tag() -> None:
    content = page(lively())
    found = re.search(r'<script type="application/json" id="series">(.*?)</script>', content, re.DOTALL)
    assert found is not None
    told = json.loads(found[1])
    assert [group["name"] for group in told["groups"]][3] == NASTY
    assert len(told["groups"][0]["published"]) == told["slots"] == 144
    assert len(told["groups"][0]["wait"]) == 3
    assert in_html("<!-- & -->") == "\\u003c!-- \\u0026 --\\u003e"


def test_the_figures_on_top_add_up() -> None:
    report = lively()
    texts = read(report).texts
    place = texts.index("Published")
    assert texts[place + 1] == f"{report.whole.total('published'):,}"
    assert texts[place + 2] == "118 MiB of bodies"


def test_a_time_without_anything_says_so_everywhere() -> None:
    texts = read(nothing()).texts
    for words in ("There was no queue.", "Everything went well at the first try.", "No message ended."):
        assert words in texts
    assert any("Nothing is stuck" in text for text in texts)
    assert "orders" in texts


def test_of_many_rows_some_are_shown_and_the_others_counted() -> None:
    texts = read(lively()).texts
    assert "and 12 more: select * from gold.stuck" in texts
    assert "and 2 more" in texts
    assert any("35 more deliveries" in text for text in texts)


def test_the_page_is_small() -> None:
    assert len(page(lively()).encode()) < 400_000
