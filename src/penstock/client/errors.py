"""What can go wrong, as exceptions: the server's codes become these, and so does the network."""

from __future__ import annotations

from typing import Final


class PenstockError(Exception):
    """Everything a client raises by itself."""


class NoQueue(PenstockError):
    """There is no queue of that name."""


class QueueExists(PenstockError):
    """There is a queue of that name already."""


class Full(PenstockError):
    """The queue, or the server, has no room for more. Nothing was published."""


class Denied(PenstockError):
    """Not permitted: the token, or what it may do."""


class BadRequest(PenstockError):
    """The server could not make sense of it, or a value was out of range. Nothing was changed."""


class Disconnected(PenstockError):
    """There is no connection. What was sent and not answered may have happened, or not."""


class Timeout(PenstockError, TimeoutError):
    """No answer came in time. What was asked may have happened, or not."""


class LeaseLost(PenstockError):
    """The message is no longer held: its lease had run out, so somebody else may get it, or has."""


_ERRORS: Final[dict[str, type[PenstockError]]] = {
    "NoObject": NoQueue,
    "ObjectAlreadyExists": QueueExists,
    "PermissionDenied": Denied,
    "BadRequest": BadRequest,
}
_NO_ROOM: Final = "full"  # the key of a PermissionDenied that means a lack of room


def refusal(code: str, key: str, queue: str) -> PenstockError:
    """The exception for an answer of the server's."""
    if code == "PermissionDenied" and key == _NO_ROOM != queue:
        return Full(f"{queue!r} has no room")
    return _ERRORS.get(code, BadRequest)(key)
