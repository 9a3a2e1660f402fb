"""A WebSocket for dialects in JSON, on somebody else's client library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType


class Talk:
    def __init__(self, session: ClientSession, socket: ClientWebSocketResponse) -> None:
        self._session = session
        self._socket = socket

    @classmethod
    async def open(cls, url: str, headers: Mapping[str, str] | None = None) -> Talk:
        session = ClientSession()
        try:
            return cls(session, await session.ws_connect(url, headers=headers))
        except BaseException:
            await session.close()
            raise

    async def say(self, **members: object) -> None:
        await self._socket.send_json(members)

    async def hear(self) -> dict[str, Any]:
        """Raises EOFError where the server is gone."""
        said = await self._socket.receive()
        if said.type is not WSMsgType.TEXT:
            raise EOFError("the server is gone")
        found: dict[str, Any] = said.json()
        return found

    async def close(self) -> None:
        await self._socket.close()
        await self._session.close()
