"""Every name can be shown and read back; what is shown can be seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs import names


@given(st.binary())
def test_what_is_shown_reads_back_as_the_same_bytes(name: bytes) -> None:
    assert names.parse(names.show(name)) == name


@given(st.binary())
def test_what_is_shown_is_printable(name: bytes) -> None:
    assert names.show(name).isprintable()


@given(st.text(alphabet="%0123456789abcdefABCDEF"))
def test_names_that_look_like_escapes_read_back(name: str) -> None:
    assert names.parse(names.show(name.encode())) == name.encode()


@given(st.binary())
def test_a_name_in_a_url_is_plain_ascii_without_a_slash_and_reads_back(name: bytes) -> None:
    segment = names.in_url(name)
    assert segment.isascii()
    assert "/" not in segment
    assert names.parse(segment) == name


def test_utf_8_is_shown_as_it_is() -> None:
    assert names.show("börse.neu/ß".encode()) == "börse.neu/ß"


def test_other_bytes_are_percent_encoded_one_by_one() -> None:
    assert names.show(b"a\xffb\x00") == "a%FFb%00"


def test_a_percent_sign_is_escaped_so_that_it_means_itself() -> None:
    assert names.show(b"50%25") == "50%2525"


def test_a_line_break_or_escape_sequence_cannot_reach_a_terminal() -> None:
    assert names.show(b"\x1b[2J\n") == "%1B[2J%0A"


def test_a_lone_percent_sign_is_read_leniently() -> None:
    assert names.parse("100%") == b"100%"
