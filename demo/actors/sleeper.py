"""A worker of etzel's kind, on the receipts: it fetches until there is nothing, goes to sleep, and is woken."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from demo.actors.producer import AGAIN_S, LOST, Refused
from demo.actors.talk import Talk
from demo.orders import RECEIPTS

Said = dict[str, Any]


class Sleeper:
    """Law: each of `sleeps` has ended with one of `wakes`, or was `cut` short by a broken connection, or lasts."""

    def __init__(self, url: str) -> None:
        self.receipts: set[str] = set()
        self.sleeps = self.wakes = self.cut = 0
        self.asleep = False
        self._url = url
        self._reactions: dict[str, Callable[[Said], Awaitable[None]]] = {
            "oksub": self._go_on,
            "okslp": self._sleep,
            "awk": self._wake,
            "msg": self._work,
            "okack": self._fetch,
            "nomsg": self._rest,
        }
        self._running = asyncio.create_task(self._run())

    def adds_up(self) -> bool:
        return self.sleeps == self.wakes + self.cut + self.asleep

    async def stop(self) -> None:
        self._running.cancel()
        await asyncio.wait([self._running])

    async def _run(self) -> None:
        while True:
            try:
                self._talk = await Talk.open(self._url)
                await self._session()
            except LOST:
                self.cut += self.asleep
                self.asleep = False
                await asyncio.sleep(AGAIN_S)

    async def _session(self) -> None:
        try:
            await self._say("SUB")
            await self._say("FET")
            while True:
                await self._react(await self._talk.hear())
        finally:
            await self._talk.close()

    async def _react(self, said: Said) -> None:
        if said["cmd"] not in self._reactions:
            raise Refused(str(said))
        await self._reactions[said["cmd"]](said)

    async def _say(self, cmd: str, **members: object) -> None:
        await self._talk.say(cmd=cmd, qname=RECEIPTS, **members)

    # -- what it does about what it hears

    async def _go_on(self, said: Said) -> None:
        return

    async def _rest(self, said: Said) -> None:
        await self._say("ISLP")

    async def _sleep(self, said: Said) -> None:
        self.sleeps += 1
        self.asleep = True

    async def _wake(self, said: Said) -> None:
        self.wakes += 1
        self.asleep = False
        await self._say("FET")

    async def _work(self, said: Said) -> None:
        self.receipts.add(said["msg"].removeprefix("receipt for "))
        await self._say("ACK", uid=said["uid"])

    async def _fetch(self, said: Said) -> None:
        await self._say("FET")
