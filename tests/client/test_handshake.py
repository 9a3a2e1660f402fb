"""Addresses, and the HTTP at the beginning."""

from __future__ import annotations

import pytest

from penstock import Client, Denied, Disconnected
from penstock.client import handshake
from penstock.codecs.upgrade import parse_head, welcome


@pytest.mark.parametrize(
    ("url", "host", "port", "path", "secure"),
    [
        ("ws://127.0.0.1:8081", "127.0.0.1", 8081, "/connect", False),
        ("ws://queue.example/", "queue.example", 8081, "/connect", False),
        ("wss://queue.example:443/penstock/connect", "queue.example", 443, "/penstock/connect", True),
        ("ws://[::1]:9", "::1", 9, "/connect", False),
    ],
)
def test_an_address_is_read(url: str, host: str, port: int, path: str, secure: bool) -> None:
    assert handshake.parse_url(url) == (host, port, path, secure)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8081", "http://a", "ws://", "ws://a?b=c", "ws://a:b"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"address|[Pp]ort"):
        handshake.parse_url(url)


def test_the_server_understands_the_request() -> None:
    address = handshake.parse_url("ws://[::1]:9")
    head = parse_head(handshake.request(address, handshake.new_key(), "t", 12))
    assert head is not None
    assert head.wants_upgrade()
    assert head.key()
    assert head.headers["host"] == "[::1]:9"
    assert (head.headers["reconnect-as"], head.headers["authorization"]) == ("12", "Bearer t")


@pytest.mark.parametrize("token", ["a\r\nb: c", "tökén…"])
def test_a_token_that_no_header_can_carry_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        Client(token=token)


def test_a_welcome_is_for_one_key_only() -> None:
    key = handshake.new_key()
    handshake.check_response(welcome(key), key)
    with pytest.raises(Disconnected):
        handshake.check_response(welcome(handshake.new_key()), key)


@pytest.mark.parametrize(
    ("line", "error"), [("HTTP/1.1 401 No", Denied), ("HTTP/1.1 500 No", Disconnected), ("", Disconnected)]
)
def test_another_answer_is_none(line: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        handshake.check_response(f"{line}\r\n\r\n".encode(), handshake.new_key())


def test_an_endless_answer_is_none() -> None:
    assert handshake.response_length(b"x" * 100) == 0
    with pytest.raises(Disconnected):
        handshake.response_length(b"x" * 10_000)
