"""The client's ground floor: its link, opened and closed, and a call with its time-out."""

from __future__ import annotations

import ssl as tls
from types import TracebackType
from typing import Final, Literal, Self, TypeVar

from penstock.client.errors import BadRequest
from penstock.client.frames import Answer
from penstock.client.handshake import DEFAULT_URL, parse_url
from penstock.client.link import Link
from penstock.client.outside import Network, Outside

Stage = Literal["ready", "write", "sync"]
AnswerT = TypeVar("AnswerT", bound=Answer)


class Asking:
    """What every verb needs."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        token: str | None = None,
        stage: Stage = "sync",
        timeout: float = 30.0,
        in_flight: int = 1_000,
        ssl: tls.SSLContext | None = None,
        outside: Outside | None = None,
    ) -> None:
        address = parse_url(url)
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ValueError("a token is of printable ASCII characters")
        if address.secure and ssl is None:
            ssl = tls.create_default_context()
        self.outside: Final = outside or Network(address.host, address.port, ssl if address.secure else None)
        self._link = Link(self.outside, address, token, in_flight)
        self._stage: Stage = stage
        self._timeout = timeout
        self._prepare()

    def _prepare(self) -> None:
        """What a floor above adds to a new client."""

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Connects. Raises Disconnected where that does not succeed within the time-out, Denied at once."""
        await self._link.open(self._timeout)

    async def close(self) -> None:
        """Says goodbye. Calls under way fail with Disconnected."""
        await self._link.close()

    @property
    def id(self) -> int:
        """Who the server takes this client for: only under this id it can finish what it holds."""
        return self._link.id

    def _patience(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else timeout


def expected(answer: Answer, kind: type[AnswerT]) -> AnswerT:
    if not isinstance(answer, kind):
        raise BadRequest(f"the server gave an answer of another kind: {answer}")
    return answer
