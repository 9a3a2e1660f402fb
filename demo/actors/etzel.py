"""A producer over WebSocket: `PUB`, answered with `ok`."""

from __future__ import annotations

from demo.actors.producer import Producer, Refused
from demo.actors.talk import Talk
from demo.orders import DELAY_S, ORDERS, Order
from demo.premises import HOST


class Etzel(Producer):
    voice = "etzel"

    async def connect(self) -> None:
        self._talk = await Talk.open(f"ws://{HOST}:{self.port}/connect")

    async def publish(self, order: Order) -> None:
        delay_s = DELAY_S if order.kind == "later" else 0
        await self._talk.say(cmd="PUB", qname=ORDERS, msg=order.body, delay=delay_s, timeout=60)
        said = await self._talk.hear()
        if said["cmd"] != "ok":
            raise Refused(str(said))

    async def close(self) -> None:
        await self._talk.close()
