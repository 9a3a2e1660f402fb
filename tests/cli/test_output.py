"""Tables, JSON, times and bytes, as commands print them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli import output
from penstock.cli.output import Column, Styled, bytes_fields, field_cell, printable, shortened, with_iso
from penstock.model.limits import NEVER_US

COLUMNS = [Column("name"), Column("count", right=True), Column("text", folds=True)]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich takes these for a terminal of 40 columns with colours."""
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "40", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_piped_table_is_plain_and_as_wide_as_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table(COLUMNS, [("a", "1", "x" * 300), ("long name", "1,000", "y")])
    assert capsys.readouterr().out.splitlines() == [
        "name       count  text",
        "a              1  " + "x" * 300,
        "long name  1,000  y",
    ]


def test_what_looks_like_markup_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table([Column("body")], [("[red]no[/red] :smile:",), (Styled("[b]", "red"),)])
    assert capsys.readouterr().out == "body\n[red]no[/red] :smile:\n[b]\n"


@pytest.mark.usefixtures("terminal")
def test_a_table_on_a_terminal_has_colours_and_folds_long_text(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table(COLUMNS, [("a", Styled("1", "red"), "word " * 20)])
    # click takes the colours away again where stdout is no terminal: what is left is the shape.
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert len(lines) > 4


def test_fields_have_no_head(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_fields([("id", "x"), ("a long name", Styled("y", "green"))])
    assert capsys.readouterr().out == "id           x\na long name  y\n"


def test_json_keeps_letters_and_order(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"b": "ü", "a": None})
    output.print_json_line({"b": "ü", "a": [1]})
    said = capsys.readouterr().out
    assert said == '{\n  "b": "ü",\n  "a": null\n}\n{"b": "ü", "a": [1]}\n'
    assert json.loads(said.splitlines()[-1]) == {"b": "ü", "a": [1]}


def test_a_time_is_iso_8601_to_the_microsecond() -> None:
    assert output.iso(1_767_323_045_678_901) == "2026-01-02T03:04:05.678901Z"
    assert output.iso(1_767_323_045_000_000) == "2026-01-02T03:04:05.000000Z"


@pytest.mark.parametrize(
    ("us", "cell"), [(1_767_323_045_678_901, "2026-01-02T03:04:05.678Z"), (0, "-"), (None, "-"), (NEVER_US, "-")]
)
def test_a_time_in_a_table_may_be_none(us: int | None, cell: str) -> None:
    assert output.time_cell(us) == cell


def test_each_named_time_is_given_twice_and_a_duration_once() -> None:
    shape = with_iso({"a": 1, "due_us": 1_767_323_045_678_901, "lease_us": 5, "until_us": None}, "due_us", "until_us")
    assert list(shape.items()) == [
        ("a", 1),
        ("due", "2026-01-02T03:04:05.678901Z"),
        ("due_us", 1_767_323_045_678_901),
        ("lease_us", 5),
        ("until", None),
        ("until_us", None),
    ]


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (1_023, "1023 B"), (1_024, "1 KiB"), (4_300, "4.2 KiB"), (64 << 20, "64 MiB"), (5 << 40, "5 TiB")],
)
def test_sizes_are_shown_for_people(count: int, shown: str) -> None:
    assert output.size_cell(count) == shown


def test_one_is_not_plural() -> None:
    assert [output.counted(number, "fact") for number in (0, 1, 2_000)] == ["0 facts", "1 fact", "2,000 facts"]


@given(st.text())
def test_no_text_can_play_with_a_terminal(text: str) -> None:
    assert printable(text).isprintable()


def test_what_cannot_be_seen_is_escaped() -> None:
    assert printable("two\nlines\t\x1b[31m\u202e ü") == "two\\nlines\\t\\x1b[31m\\u{202e} ü"


def test_long_text_is_cut_with_a_mark() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"


def test_bytes_are_text_or_base64() -> None:
    assert bytes_fields("body", "ü".encode()) == {"body": "ü"}
    assert bytes_fields("body", b"\xff\0") == {"body64": "/wA="}
    assert field_cell({"body": "a\nb"}, "body") == "a\\nb"
    assert field_cell({"body64": "/wA="}, "body") == "base64:/wA="
    assert field_cell({}, "key") == "-"
