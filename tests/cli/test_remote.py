"""The client of the API: what it sends, and what it says when there is no answer."""

from __future__ import annotations

import errno
import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.cli.program import Failure
from penstock.cli.remote import Refused, Remote, failure
from penstock.server import door


@contextmanager
def answering(data: Path, answer: bytes) -> Iterator[list[bytes]]:
    """Something on the directory's socket that takes one request and gives this answer; the request is noted."""
    data.mkdir(parents=True, exist_ok=True)
    requests: list[bytes] = []
    with door.bind(data) as listening:
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                requests.append(whole_request(connection))
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield requests
        thread.join(10)


def whole_request(connection: socket.socket) -> bytes:
    """Head and content may come in pieces; closing before all is read would take the answer away again."""
    data = connection.recv(65_536)
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, content = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    while length is not None and len(content) < int(length[1]):
        content += connection.recv(65_536)
    return head + b"\r\n\r\n" + content


def http(status: int, content: bytes) -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%b" % (status, len(content), content)


def refusal_of(data: Path, status: int, content: bytes, about: str = "") -> Failure:
    with answering(data, http(status, content)), pytest.raises(Failure) as refused:
        Remote(str(data), about).get("/queues")
    return refused.value


def test_a_get_gives_the_value(tmp_path: Path) -> None:
    with answering(tmp_path, http(200, b'{"queues": []}')) as requests:
        assert Remote(str(tmp_path)).get("/queues") == {"queues": []}
    assert requests[0].startswith(b"GET /api/v1/queues HTTP/1.1\r\n")


def test_a_post_sends_what_is_said_as_json(tmp_path: Path) -> None:
    with answering(tmp_path, http(201, b'{"id": "x"}')) as requests:
        assert Remote(str(tmp_path)).post("/queues/q/messages", {"body": "ü", "delay_s": None}) == {"id": "x"}
    head, _, content = requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /api/v1/queues/q/messages HTTP/1.1\r\n")
    assert json.loads(content) == {"body": "ü"}


def test_a_patch_sends_what_is_taken_back_too(tmp_path: Path) -> None:
    with answering(tmp_path, http(200, b"{}")) as requests:
        Remote(str(tmp_path)).patch("/queues/q", {"lease_s": 1.5, "ttl_s": None})
    head, _, content = requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"PATCH /api/v1/queues/q HTTP/1.1\r\n")
    assert json.loads(content) == {"lease_s": 1.5, "ttl_s": None}


def test_a_delete_says_nothing(tmp_path: Path) -> None:
    with answering(tmp_path, http(200, b"{}")) as requests:
        Remote(str(tmp_path)).delete("/queues/q")
    assert requests[0].startswith(b"DELETE /api/v1/queues/q HTTP/1.1\r\n")


def test_a_directory_deeper_than_a_socket_path_may_be_is_reached(tmp_path: Path) -> None:
    deep = tmp_path.joinpath("d" * 100, "e" * 100)
    with answering(deep, http(200, b"{}")):
        assert Remote(str(deep)).get("/status") == {}


def test_a_refusal_has_the_servers_words_and_what_it_is_about(tmp_path: Path) -> None:
    refused = refusal_of(tmp_path, 404, b'{"error": "no_queue", "message": "no such queue"}', "orders")
    assert isinstance(refused, Refused)
    assert (refused.code, refused.message) == ("no_queue", "orders: no such queue")


def test_a_server_that_cannot_answer_now_is_told_apart(tmp_path: Path) -> None:
    refused = refusal_of(tmp_path, 503, b'{"error": "dead", "message": "the journal has failed"}')
    assert refused.message == f"the server on {tmp_path} cannot answer now: the journal has failed"


@pytest.mark.parametrize(("status", "content"), [(200, b"hello"), (500, b"oops"), (404, b"{}"), (404, b"[]")])
def test_something_else_on_the_socket_is_not_taken_for_a_server(tmp_path: Path, status: int, content: bytes) -> None:
    assert refusal_of(tmp_path, status, content).message.endswith("is not a penstock server.")


def test_no_directory_means_no_server(tmp_path: Path) -> None:
    with pytest.raises(Failure) as nobody:
        Remote(str(tmp_path / "data")).get("/queues")
    assert nobody.value.message == f"no server is running on {tmp_path / 'data'}, which is no directory."
    assert nobody.value.advice.startswith(f"Start one with `penstock serve --data {tmp_path / 'data'}`")


def test_a_directory_without_a_socket_means_no_server(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no server is running on"):
        Remote(str(tmp_path)).get("/queues")


def test_a_socket_left_by_a_dead_server_means_no_server(tmp_path: Path) -> None:
    door.bind(tmp_path).close()
    with pytest.raises(Failure, match="no server is running on"):
        Remote(str(tmp_path)).get("/queues")


def test_a_server_that_does_not_answer_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with door.bind(tmp_path) as listening:
        listening.listen()
        with pytest.raises(Failure, match=r"did not answer within 50ms"):
            Remote(str(tmp_path)).get("/queues", timeout_s=0.05)


def test_a_server_with_too_many_callers_is_called_busy(tmp_path: Path) -> None:
    with door.bind(tmp_path) as listening, socket.socket(socket.AF_UNIX) as first:
        listening.listen(0)
        first.connect(str(tmp_path / door.SOCKET_NAME))
        with pytest.raises(Failure, match="is too busy"):
            Remote(str(tmp_path)).get("/queues")


def test_a_connection_that_is_cut_leaves_it_open_what_happened(tmp_path: Path) -> None:
    with answering(tmp_path, b""), pytest.raises(Failure, match="closed the connection before it answered") as cut:
        Remote(str(tmp_path)).get("/queues")
    assert "may or may not have happened" in cut.value.advice


def test_a_socket_of_somebody_else_is_forbidden() -> None:
    forbidden = failure("data", PermissionError(errno.EACCES, "Permission denied"), 1.0)
    assert forbidden.message == "you may not speak to the server on data: permission denied on penstock.sock."
