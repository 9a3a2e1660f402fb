"""A client of a Redis, or of what speaks like one, with the standard library alone: commands out, replies in.

It knows no command. Whatever goes wrong on the way becomes a Failure in words; what the server refuses, a ServerError.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import IO, Any, Final, NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from penstock.cli.output import printable
from penstock.cli.program import BadUsage, Failure, told

PORT: Final = 6379
TIMEOUT_S: Final = 30.0

_END: Final = b"\r\n"
_DEPTH_MAX: Final = 16

Word = bytes | str | int
Command = tuple[Word, ...]


class ServerError(Failure):
    """The server understood and said no; `code` is the first word of what it said."""

    def __init__(self, said: str) -> None:
        super().__init__(f"the server said: {printable(said)}")
        self.code = said.partition(" ")[0]


class Place(NamedTuple):
    """What a URL says: where, over what, as whom, which database."""

    host: str
    port: int
    path: str  # of a unix socket
    tls: bool
    user: str
    password: str
    database: str

    def shown(self) -> str:
        """Without the password."""
        return printable(self.path or f"{self.host}:{self.port}")


# -- urls


def place_of(url: str) -> Place:
    """Raises BadUsage. redis://[[user]:password@]host[:port][/database], rediss:// the same over TLS, unix://path."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
    except ValueError as error:
        raise _bad(url, str(error)) from None
    if parts.scheme == "unix":
        path, database = unquote(parts.path), parse_qs(parts.query).get("db", [""])[0]
    elif parts.scheme in ("redis", "rediss"):
        path, database = "", parts.path.strip("/")
    else:
        raise _bad(url, "it begins with none of redis://, rediss:// and unix://")
    if database and not (database.isascii() and database.isdigit()):
        raise _bad(url, f"{printable(database)} is no number of a database")
    return Place(parts.hostname or "localhost", port, path, parts.scheme == "rediss", *_principal(parts), database)


def _principal(parts: SplitResult) -> tuple[str, str]:
    return unquote(parts.username or ""), unquote(parts.password or "")


def _bad(url: str, why: str) -> BadUsage:
    shown = url if "@" not in url else f"{url.partition('://')[0]}://…@{url.rpartition('@')[2]}"
    return BadUsage(f"{printable(shown)} is no address of a Redis: {why}.")


# -- speaking


class RespClient:
    """One connection, opened at once. Many commands may go out before the first reply is read."""

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        self.place = place_of(url)
        try:
            self._socket = _connected(self.place, timeout_s)
        except OSError as error:
            raise self._failure("cannot connect", error) from None
        self._replies: IO[bytes] = self._socket.makefile("rb")
        try:
            self._enter()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RespClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._replies.close()
        self._socket.close()

    def call(self, *command: Word) -> Any:
        """The reply: None, int, bytes or a list of such. Raises ServerError."""
        return self.calls([command])[0]

    def calls(self, commands: Iterable[Command]) -> list[Any]:
        """The replies of several; the first that was refused is raised, after all were read."""
        encoded = [_encoded(command) for command in commands]
        try:
            self._socket.sendall(b"".join(encoded))
            replies = [_reply(self._replies) for _ in encoded]
        except (OSError, EOFError, ValueError) as error:
            raise self._failure("lost the connection", error) from None
        return [_good(reply) for reply in replies]

    def atomically(self, *commands: Command) -> list[Any]:
        """All in one transaction."""
        *_, replies = self.calls([("MULTI",), *commands, ("EXEC",)])
        return [_good(reply) for reply in replies]

    def _enter(self) -> None:
        place = self.place
        if place.password:
            self.call("AUTH", *([place.user] if place.user else []), place.password)
        if place.database.strip("0"):
            self.call("SELECT", place.database)

    def _failure(self, what: str, error: Exception) -> Failure:
        why = told(error) if isinstance(error, OSError) else str(error)
        return Failure(f"{what} to {self.place.shown()}: {printable(why)}.")


def _connected(place: Place, timeout_s: float) -> socket.socket:
    if place.path:
        plain = socket.socket(socket.AF_UNIX)
        plain.settimeout(timeout_s)
        plain.connect(place.path)
        return plain
    plain = socket.create_connection((place.host, place.port), timeout_s)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not place.tls:
        return plain
    import ssl

    return ssl.create_default_context().wrap_socket(plain, server_hostname=place.host)


# -- bytes


def _encoded(command: Command) -> bytes:
    words = [word if isinstance(word, bytes) else str(word).encode() for word in command]
    return b"*%d\r\n" % len(words) + b"".join([b"$%d\r\n%b\r\n" % (len(word), word) for word in words])


def _reply(replies: IO[bytes], depth: int = 0) -> Any:
    """One reply; one that is an error is given, not raised."""
    line = replies.readline()
    if not line.endswith(_END):
        raise EOFError("the server closed it")
    read = _KINDS.get(line[:1])
    if read is None or depth > _DEPTH_MAX:
        raise ValueError("what answers there is no Redis")
    return read(replies, line[1:-2], depth)


def _bulk(replies: IO[bytes], head: bytes, depth: int) -> bytes | None:
    size = int(head)
    if size < 0:
        return None
    body = replies.read(size + 2)
    if len(body) != size + 2:
        raise EOFError("the server closed it")
    return body[:-2]


def _array(replies: IO[bytes], head: bytes, depth: int) -> list[Any] | None:
    return None if head.startswith(b"-") else [_reply(replies, depth + 1) for _ in range(int(head))]


_KINDS: Final[dict[bytes, Callable[[IO[bytes], bytes, int], Any]]] = {
    b"+": lambda replies, head, depth: head,
    b"-": lambda replies, head, depth: ServerError(head.decode("utf-8", "replace")),
    b":": lambda replies, head, depth: int(head),
    b"$": _bulk,
    b"*": _array,
}


def _good(reply: Any) -> Any:
    if isinstance(reply, ServerError):
        raise reply
    return reply
