"""A producer in packets. A push has no answer; a pop behind it, of a queue that is always empty, tells it is in."""

from __future__ import annotations

import struct
from typing import Final

from demo.actors.producer import Producer, Refused
from demo.actors.stream import Stream
from demo.orders import ORDERS, Order

PUSH: Final = 0x70
POP: Final = 0x50
NOWHERE: Final = b"nowhere"
FOR_EVER: Final = 0
# As said here: 1 is the highest, 255 the lowest that is handed out.
PRIORITY: Final = {"urgent": 1}
LOWEST: Final = 255


class Pinpriq(Producer):
    voice = "pinpriq"

    async def connect(self) -> None:
        self._stream = await Stream.open(self.port)

    async def publish(self, order: Order) -> None:
        self._stream.write(push(ORDERS.encode(), PRIORITY.get(order.kind, LOWEST), b"", order.body.encode()))
        self._stream.write(pop(NOWHERE))
        (count,) = struct.unpack(">H", await self._stream.exactly(2))
        if count:
            raise Refused("something came from nowhere")

    async def close(self) -> None:
        self._stream.close()


def push(queue: bytes, priority: int, key: bytes, payload: bytes) -> bytes:
    head = struct.pack(">BHHBHH", PUSH, len(queue), FOR_EVER, priority, len(key), len(payload))
    return head + key + payload + queue


def pop(queue: bytes) -> bytes:
    return struct.pack(">BH", POP, len(queue)) + queue
