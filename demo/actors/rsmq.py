"""A producer in somebody else's words: npm's `rsmq`, unmodified, in a node of its own. There is no Redis anywhere."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Final

from demo.actors.producer import AGAIN_S, Producer, Refused
from demo.orders import DELAY_S, ORDERS, Order
from harness.node import command, environment

SCRIPT: Final = Path(__file__).with_name("rsmq.js")


class Rsmq(Producer):
    """The client comes back by itself when the server does: only what was under way is sent again."""

    voice = "rsmq"

    async def connect(self) -> None:
        pipe = asyncio.subprocess.PIPE
        self._node = await asyncio.create_subprocess_exec(
            *command(SCRIPT, self.port, ORDERS), env=environment(), stdin=pipe, stdout=pipe
        )
        await self._hear()

    async def reconnect(self) -> None:
        await asyncio.sleep(AGAIN_S)

    async def publish(self, order: Order) -> None:
        delay_s = DELAY_S if order.kind == "later" else 0
        await self._say(qname=ORDERS, message=order.body, delay=delay_s)
        said = await self._hear()
        if said.get("refused"):
            raise Refused(said["error"])
        if "error" in said:
            raise EOFError(said["error"])

    async def close(self) -> None:
        """At the end of its input it goes."""
        assert self._node.stdin is not None
        self._node.stdin.close()
        await self._node.wait()

    async def _say(self, **order: object) -> None:
        assert self._node.stdin is not None
        self._node.stdin.write(json.dumps(order).encode() + b"\n")
        await self._node.stdin.drain()

    async def _hear(self) -> dict[str, Any]:
        assert self._node.stdout is not None
        found: dict[str, Any] = json.loads(await self._node.stdout.readuntil(b"\n"))
        return found
