"""A TCP connection for dialects in lines and bytes."""

from __future__ import annotations

import asyncio

from demo.premises import HOST


class Stream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> Stream:
        return cls(*await asyncio.open_connection(HOST, port))

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    async def line(self) -> str:
        """Raises EOFError where the server is gone."""
        return (await self._reader.readuntil(b"\n")).decode().rstrip("\n")

    async def exactly(self, count: int) -> bytes:
        """Raises EOFError where the server is gone."""
        return await self._reader.readexactly(count)

    def close(self) -> None:
        self._writer.close()
