"""A client of the server's API over the unix socket in its data directory, with the standard library alone.

Whatever goes wrong on the way becomes a Failure in words; what the server refuses, a Refused.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from typing import Any, Final

from penstock.cli import durations
from penstock.cli.durations import UNITS
from penstock.cli.output import printable
from penstock.cli.program import Failure
from penstock.server.door import SOCKET_NAME, socket_path

TIMEOUT_S: Final = 10.0
PREFIX: Final = "/api/v1"

# HTTP statuses: from here on it is an error; this one may pass.
_BAD_REQUEST: Final = 400
_UNAVAILABLE: Final = 503


class Refused(Failure):
    """The server understood and said no; `code` is its word for why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Remote:
    """The server on a data directory. One connection a request: commands make few.

    `about` is what is asked about: a refusal begins with it.
    """

    def __init__(self, data: str, about: str = "") -> None:
        self._data = data
        self._about = about

    def get(self, path: str, timeout_s: float = TIMEOUT_S) -> Any:
        return self._ask("GET", path, None, timeout_s)

    def post(self, path: str, form: Mapping[str, object], timeout_s: float = TIMEOUT_S) -> Any:
        return self._ask("POST", path, _content(_said(form)), timeout_s)

    def put(self, path: str, form: Mapping[str, object]) -> Any:
        return self._ask("PUT", path, _content(_said(form)), TIMEOUT_S)

    def patch(self, path: str, form: Mapping[str, object]) -> Any:
        """Here None is said, and takes back what was."""
        return self._ask("PATCH", path, _content(form), TIMEOUT_S)

    def delete(self, path: str, timeout_s: float = TIMEOUT_S) -> Any:
        return self._ask("DELETE", path, None, timeout_s)

    def _ask(self, method: str, path: str, content: bytes | None, timeout_s: float) -> Any:
        from http.client import HTTPConnection, HTTPException

        connection = HTTPConnection("localhost")
        try:
            connection.sock = _connected(self._data, timeout_s)
            connection.request(method, PREFIX + path, content, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return self._read(answer.status, answer.read())
        except (OSError, HTTPException) as error:
            raise failure(self._data, error, timeout_s) from None
        finally:
            connection.close()

    def _read(self, status: int, content: bytes) -> Any:
        try:
            value = json.loads(content)
            if status >= _BAD_REQUEST:
                raise Refused(value["error"], self._refusal(status, printable(value["message"])))
        except (ValueError, KeyError, TypeError):
            raise Failure(f"what answers on {SOCKET_NAME} in {self._data} is not a penstock server.") from None
        return value

    def _refusal(self, status: int, message: str) -> str:
        if status == _UNAVAILABLE:
            return f"the server on {self._data} cannot answer now: {message}"
        return f"{self._about}: {message}" if self._about else message


def _said(form: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in form.items() if value is not None}


def _content(form: Mapping[str, object]) -> bytes:
    return json.dumps(form).encode()


def _connected(data: str, timeout_s: float) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(timeout_s)
    try:
        with socket_path(data) as path:
            client.connect(path)
    except OSError:
        client.close()
        raise
    return client


def failure(data: str, error: Exception, timeout_s: float) -> Failure:
    """The first row that fits, from the special to the general."""
    for kind, words in (
        (FileNotFoundError, _nobody),
        (NotADirectoryError, _nobody),
        (ConnectionRefusedError, _nobody),
        (PermissionError, _forbidden),
        (TimeoutError, _late),
        (BlockingIOError, _busy),
        (Exception, _cut_off),
    ):
        if isinstance(error, kind):
            return words(data, timeout_s)
    raise AssertionError(error)


def _nobody(data: str, timeout_s: float) -> Failure:
    where = data if os.path.isdir(data) else f"{data}, which is no directory"
    return Failure(
        f"no server is running on {where}.",
        f"Start one with `penstock serve --data {data}`, or say where it is with --data or PENSTOCK_DATA.",
    )


def _forbidden(data: str, timeout_s: float) -> Failure:
    return Failure(
        f"you may not speak to the server on {data}: permission denied on {SOCKET_NAME}.",
        "Only the user who runs the server may; run the command as that user.",
    )


def _late(data: str, timeout_s: float) -> Failure:
    waited = durations.show(int(timeout_s * UNITS["s"]))
    return Failure(
        f"the server on {data} did not answer within {waited}.",
        "It may be reading its journal, be stopped, or be very busy; what was asked may still happen.",
    )


def _busy(data: str, timeout_s: float) -> Failure:
    return Failure(f"the server on {data} is too busy to accept another connection.", "Try again in a moment.")


def _cut_off(data: str, timeout_s: float) -> Failure:
    return Failure(
        f"the server on {data} closed the connection before it answered.",
        "It may be stopping; what was asked may or may not have happened.",
    )
