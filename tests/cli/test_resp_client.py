"""The client of a Redis: what it sends, what it makes of replies, and what it says where there is no Redis."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.cli.program import BadUsage, Failure
from penstock.cli.resp_client import Place, RespClient, ServerError, place_of

PATIENCE_S = 10.0


class Parrot:
    """A server that says what it was told to say, whatever it hears, then closes."""

    def __init__(self, says: bytes, path: Path | None = None) -> None:
        self._listener = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self._listener.bind(str(path) if path else ("127.0.0.1", 0))
        self._listener.listen()
        self.url = f"unix://{path}" if path else f"redis://127.0.0.1:{self._listener.getsockname()[1]}"
        self.heard = b""
        self._says = says
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        with client:
            client.settimeout(PATIENCE_S)
            self.heard += client.recv(1 << 16)
            client.sendall(self._says)
            client.shutdown(socket.SHUT_WR)
            while more := client.recv(1 << 16):
                self.heard += more

    def close(self) -> None:
        self._thread.join(PATIENCE_S)
        self._listener.close()


Parrots = Callable[..., Parrot]


@pytest.fixture
def saying() -> Iterator[Parrots]:
    made: list[Parrot] = []

    def make(says: bytes, path: Path | None = None) -> Parrot:
        made.append(Parrot(says, path))
        return made[-1]

    yield make
    for parrot in made:
        parrot.close()


def test_words_go_out_as_they_are_and_come_back_as_they_are(saying: Parrots) -> None:
    parrot = saying(b"+OK\r\n:-7\r\n$4\r\n\x00\r\n\xff\r\n$-1\r\n*-1\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n")
    with RespClient(parrot.url) as client:
        assert client.calls([("SET", b"k\xff", 5)] * 6) == [b"OK", -7, b"\x00\r\n\xff", None, None, [b"a", [1]]]
    parrot.close()
    assert parrot.heard == b"*3\r\n$3\r\nSET\r\n$2\r\nk\xff\r\n$1\r\n5\r\n" * 6


def test_a_refusal_is_told_in_the_servers_words_after_all_was_read(saying: Parrots) -> None:
    with RespClient(saying(b"-NOSCRIPT no\x1b such\r\n:1\r\n:2\r\n").url) as client:
        with pytest.raises(ServerError) as refused:
            client.calls([("A",), ("B",)])
        assert (refused.value.code, refused.value.message) == ("NOSCRIPT", "the server said: NOSCRIPT no\\x1b such")
        assert client.call("C") == 2


def test_what_is_refused_in_a_transaction_is_raised(saying: Parrots) -> None:
    parrot = saying(b"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n-ERR so not\r\n")
    with RespClient(parrot.url) as client, pytest.raises(ServerError, match="so not"):
        client.atomically(("A",), ("B",))


@pytest.mark.parametrize("said", [b"", b":1", b"$5\r\nabc", b"*2\r\n:1\r\n"])
def test_a_reply_that_is_cut_off_is_told(saying: Parrots, said: bytes) -> None:
    with RespClient(saying(said).url) as client, pytest.raises(Failure, match="lost the connection to 127"):
        client.call("PING")


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n", b":x\r\n", b"*1\r\n" * 40])
def test_what_is_no_redis_is_told(saying: Parrots, said: bytes) -> None:
    with RespClient(saying(said).url) as client, pytest.raises(Failure, match="lost the connection"):
        client.call("PING")


def test_a_password_and_a_database_come_first(saying: Parrots) -> None:
    parrot = saying(b"+OK\r\n+OK\r\n:1\r\n")
    url = parrot.url.replace("redis://", "redis://me:p%40ss@") + "/3"
    with RespClient(url) as client:
        assert client.call("DBSIZE") == 1
        assert "p@ss" not in client.place.shown()
    parrot.close()
    assert parrot.heard.startswith(b"*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$4\r\np@ss\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n")


def test_a_wrong_password_is_told(saying: Parrots) -> None:
    with pytest.raises(ServerError, match="WRONGPASS"):
        RespClient(saying(b"-WRONGPASS invalid\r\n").url.replace("redis://", "redis://:no@"))


def test_a_unix_socket_will_do(saying: Parrots, tmp_path: Path) -> None:
    with RespClient(saying(b"+PONG\r\n", tmp_path / "socket").url) as client:
        assert client.call("PING") == b"PONG"


def test_nobody_there_is_told() -> None:
    with pytest.raises(Failure, match="Connection refused"):
        RespClient("redis://127.0.0.1:1")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://", Place("localhost", 6379, "", False, "", "", "")),
        ("redis://h:1/2", Place("h", 1, "", False, "", "", "2")),
        ("rediss://:p@h", Place("h", 6379, "", True, "", "p", "")),
        ("redis://[::1]:7", Place("::1", 7, "", False, "", "", "")),
        ("unix:///run/a%20b?db=4", Place("localhost", 6379, "/run/a b", False, "", "", "4")),
    ],
)
def test_a_url_says_where(url: str, place: Place) -> None:
    assert place_of(url) == place


@pytest.mark.parametrize("url", ["", "localhost:6379", "http://h", "redis://h:port", "redis://h/one", "redis://[h"])
def test_what_is_no_url_of_a_redis_is_bad_usage(url: str) -> None:
    with pytest.raises(BadUsage):
        place_of(url)


def test_a_password_is_not_shown_even_in_a_bad_url() -> None:
    with pytest.raises(BadUsage) as bad:
        place_of("redis://me:secret@h:port")
    assert "secret" not in bad.value.message
