"""The HTTP at the beginning of a WebSocket: heads however long, requests that are none, and the handshake's answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.upgrade import Head, accepted, head_length, parse_head, response, welcome
from penstock.model.limits import HEAD_MAX

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="


def parsed(*lines: str) -> Head:
    found = parse_head("\r\n".join([*lines, "", ""]).encode("latin-1"))
    assert found is not None
    return found


# -- how long it is


def test_a_head_ends_with_an_empty_line() -> None:
    head = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    assert head_length(head) == len(head)
    assert head_length(head + b"\x81\x80 and more") == len(head)


@given(st.integers(0, 26))
def test_one_that_is_not_all_there_needs_more(end: int) -> None:
    assert head_length(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[:end]) == 0


def test_one_that_is_too_long_is_refused_before_it_ends() -> None:
    fits = b"GET / HTTP/1.1\r\n".ljust(HEAD_MAX - 4, b"x") + b"\r\n\r\n"
    assert head_length(fits) == HEAD_MAX
    assert head_length(b"x" + fits) == -1
    assert head_length(b"x" * (HEAD_MAX - 1)) == 0
    assert head_length(b"x" * HEAD_MAX) == -1


# -- what is in it


def test_a_request() -> None:
    head = parsed("GET /connect HTTP/1.1", "Host: penstock:8080", "X-One:  with spaces  ", "x-two:", "X-One: again")
    assert (head.method, head.path) == ("GET", b"/connect")
    assert head.headers == {"host": "penstock:8080", "x-one": "with spaces, again", "x-two": ""}


@pytest.mark.parametrize(
    ("target", "path"),
    [("/", b"/"), ("/a?b=c", b"/a"), ("/status/%C3%BC%2F", "/status/ü/".encode()), ("/%ff%zz", b"/\xff%zz")],
)
def test_a_path_is_decoded_and_has_no_query(target: str, path: bytes) -> None:
    assert parsed(f"GET {target} HTTP/1.1").path == path


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GET",
        b"GET /",
        b"GET / HTTP/2",
        b"GET  / HTTP/1.1",
        b"GET / HTTP/1.1 ",
        b"GET http://x/ HTTP/1.1",
        b"* HTTP/1.1",
        b"GET / HTTP/1.1\r\nno colon",
        b"GET / HTTP/1.1\r\n: no name",
        b"GET / HTTP/1.1\r\nX : a space before the colon",
        b"GET / HTTP/1.1\r\nX: y\r\n folded",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_what_is_no_request(head: bytes) -> None:
    assert parse_head(head + b"\r\n\r\n") is None


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_none(data: bytes) -> None:
    found = parse_head(data + b"\r\n\r\n")
    assert found is None or found.path.startswith(b"/")


# -- the handshake


@pytest.mark.parametrize(
    ("upgrade", "connection", "wants"),
    [
        ("websocket", "Upgrade", True),
        ("WebSocket", "keep-alive, UPGRADE", True),
        ("websocket", "keep-alive", False),
        ("websocket", "upgraded", False),
        ("h2c", "Upgrade", False),
        ("", "", False),
    ],
)
def test_who_wants_a_websocket(upgrade: str, connection: str, wants: bool) -> None:
    head = parsed("GET / HTTP/1.1", f"Upgrade: {upgrade}", f"Connection: {connection}")
    assert head.wants_upgrade() is wants


@pytest.mark.parametrize(
    ("said", "key"),
    [(KEY.decode(), KEY), ("", b""), ("short", b""), ("c2hvcnQ=", b""), (KEY.decode() + "=", b""), ("é" * 24, b"")],
)
def test_a_key_has_sixteen_bytes(said: str, key: bytes) -> None:
    assert parsed("GET / HTTP/1.1", f"Sec-WebSocket-Key: {said}").key() == key


def test_the_answer_to_the_example_of_the_rfc() -> None:
    assert accepted(KEY) == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    assert welcome(KEY) == (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("said", "on"),
    [("1", True), ("true", True), ("TRUE", True), ("True", True), ("0", False), ("yes", False), ("", False)],
)
def test_a_header_that_is_a_switch(said: str, on: bool) -> None:
    assert parsed("GET / HTTP/1.1", f"Binary: {said}").said("binary") is on
    assert not parsed("GET / HTTP/1.1").said("binary")


def test_an_answer_says_how_long_it_is_and_that_it_is_the_last() -> None:
    assert response(404, "text/plain", b"not found\n", {"X": "y"}) == (
        b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 10\r\nConnection: close\r\nX: y\r\n\r\n"
        b"not found\n"
    )
