"""A producer in lines: `ADD <delay in ms> <body>`, answered with the id."""

from __future__ import annotations

from demo.actors.producer import Producer, Refused
from demo.actors.stream import Stream
from demo.orders import DELAY_S, Order


class Deferred(Producer):
    voice = "deferred"

    async def connect(self) -> None:
        self._stream = await Stream.open(self.port)

    async def publish(self, order: Order) -> None:
        delay_ms = DELAY_S * 1_000 if order.kind == "later" else 0
        self._stream.write(f"ADD {delay_ms} {order.body}\n".encode())
        word, _, rest = (await self._stream.line()).partition(" ")
        if word != "TASK":
            raise Refused(f"{word} {rest}")

    async def close(self) -> None:
        self._stream.close()
