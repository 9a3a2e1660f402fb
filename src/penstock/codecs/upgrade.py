"""The HTTP at the beginning of a WebSocket: one request head, and what is answered to it. One request a connection."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from penstock.model.limits import HEAD_MAX

HEAD_END: Final = b"\r\n\r\n"
_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_KEY_BYTES: Final = 16
_STATUS: Final = {
    101: "Switching Protocols",
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    426: "Upgrade Required",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


class Head:
    """A request's head. Names of headers are in lower case; one that is repeated is one list with commas."""

    __slots__ = ("headers", "method", "path")

    def __init__(self, method: str, path: bytes, headers: Mapping[str, str]) -> None:
        self.method: str = method
        self.path: bytes = path  # percent-decoded, without the query
        self.headers: Mapping[str, str] = headers

    def wants_upgrade(self) -> bool:
        words = self.headers.get("connection", "").lower().replace(" ", "").split(",")
        return self.headers.get("upgrade", "").lower() == "websocket" and "upgrade" in words

    def key(self) -> bytes:
        """Empty where there is none of sixteen bytes."""
        said = self.headers.get("sec-websocket-key", "").encode("latin-1")
        try:
            return said if len(base64.b64decode(said, validate=True)) == _KEY_BYTES else b""
        except binascii.Error:
            return b""

    def said(self, name: str) -> bool:
        """A header that is a switch: `1` or `true`, in any case."""
        return self.headers.get(name, "").strip().lower() in ("1", "true")


def head_length(data: bytes) -> int:
    """Bytes of the head at the beginning, 0 where more must come, -1 where it is longer than allowed."""
    end = data.find(HEAD_END, 0, HEAD_MAX)
    if end >= 0:
        return end + len(HEAD_END)
    return -1 if len(data) >= HEAD_MAX else 0


def parse_head(data: bytes) -> Head | None:
    """None: it is no HTTP/1.1 request."""
    lines = data.removesuffix(HEAD_END).decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0") or not words[1].startswith("/"):
        return None
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            return None
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Head(words[0], unquote_to_bytes(words[1].partition("?")[0]), headers)


def accepted(key: bytes) -> bytes:
    """What a server says to the key it was sent."""
    return base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest())


def welcome(key: bytes) -> bytes:
    return response_head(101, {"Upgrade": "websocket", "Connection": "Upgrade"}) + (
        b"Sec-WebSocket-Accept: " + accepted(key) + HEAD_END
    )


def response(status: int, kind: str, body: bytes, extra: Mapping[str, str] | None = None) -> bytes:
    """A whole answer, after which the connection ends."""
    headers = {"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close", **(extra or {})}
    return response_head(status, headers) + b"\r\n" + body


def response_head(status: int, headers: Mapping[str, str]) -> bytes:
    """Without the empty line at its end."""
    lines = [f"HTTP/1.1 {status} {_STATUS[status]}\r\n"]
    lines += [f"{name}: {value}\r\n" for name, value in headers.items()]
    return "".join(lines).encode("latin-1")
