"""How a client comes through the door: the address it is given, and the HTTP that opens a WebSocket."""

from __future__ import annotations

import base64
import os
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from penstock.client.errors import Denied, Disconnected, PenstockError
from penstock.codecs.upgrade import HEAD_END, accepted
from penstock.model.limits import HEAD_MAX

DEFAULT_URL: Final = "ws://127.0.0.1:8081"
_PORT: Final = 8081
_PATH: Final = "/connect"
_SWITCHED: Final = "101"
_DENIED: Final = ("401", "403")


class Address(NamedTuple):
    host: str
    port: int
    path: str
    secure: bool

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_url(url: str) -> Address:
    """`ws://host:port`, or `wss://` for TLS. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"not an address such as {DEFAULT_URL}: {url!r}")
    path = parts.path if parts.path.strip("/") else _PATH
    return Address(parts.hostname, parts.port or _PORT, path, parts.scheme == "wss")


def new_key() -> bytes:
    return base64.b64encode(os.urandom(16))


def request(address: Address, key: bytes, token: str | None, reconnect_as: int) -> bytes:
    """A session that outlives its connection, under the id it had; 0: a new one."""
    headers = {
        "Host": address.authority,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key.decode(),
        "DURABLE-SESSION": "1",
    }
    if reconnect_as:
        headers["RECONNECT-AS"] = str(reconnect_as)
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    lines = [f"GET {address.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode("latin-1") + HEAD_END


def response_length(data: bytes) -> int:
    """Bytes of the answer's head, 0 where more must come. Raises Disconnected where it is none."""
    end = data.find(HEAD_END)
    if end >= 0:
        return end + len(HEAD_END)
    if len(data) > HEAD_MAX:
        raise Disconnected("the answer is no HTTP")
    return 0


def check_response(head: bytes, key: bytes) -> None:
    """Raises Denied or Disconnected where the WebSocket is not open now."""
    lines = head.decode("latin-1").split("\r\n")
    status = lines[0].split(" ")[1:2]
    if status != [_SWITCHED]:
        raise _refused(lines[0], status)
    fields = [line.partition(":") for line in lines[1:]]
    said = {name.strip().lower(): value.strip() for name, _, value in fields}
    if said.get("sec-websocket-accept") != accepted(key).decode():
        raise Disconnected("the answer is not one to this WebSocket")


def _refused(line: str, status: list[str]) -> PenstockError:
    kind = Denied if status and status[0] in _DENIED else Disconnected
    return kind(f"the server answered {line!r}")
