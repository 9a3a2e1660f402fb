"""The stage: the premises, everybody who appears, and what they remember together."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from demo import accounts, orders
from demo.accounts import Accounts
from demo.actors.deferred import Deferred
from demo.actors.etzel import Etzel
from demo.actors.glovebox import Glovebox
from demo.actors.library import Library
from demo.actors.pinpriq import Pinpriq
from demo.actors.producer import Producer
from demo.actors.rsmq import Rsmq
from demo.actors.sleeper import Sleeper
from demo.actors.worker import OrderWorker
from demo.orders import Order
from demo.premises import Premises
from demo.telling import Story, penstock


class Stage:
    """Set on a fresh directory; whoever works or sleeps is there once a chapter has called them."""

    def __init__(self, root: Path) -> None:
        self.story = Story("penstock: one durable queue server, five languages, and a journal that remembers")
        self.premises = Premises(root)
        self.report = root.parent / "report.html"
        ports = self.premises.ports
        self.poster = Glovebox(ports["glovebox"])
        self.producers: list[Producer] = [
            Deferred(ports["deferred"]),
            Pinpriq(ports["pinpriq"]),
            Etzel(ports["etzel"]),
            self.poster,
            Rsmq(ports["rsmq"]),
            Library(ports["glovebox"]),
        ]
        self.worker: OrderWorker
        self.sleeper: Sleeper
        self.traffic: list[asyncio.Task[None]] = []
        self.moment: tuple[str, dict[str, int]]  # a moment of the past, and the counts of the orders then

    def hire(self, *, mended: bool = False) -> None:
        self.worker = OrderWorker(self.premises.url("glovebox"), mended=mended)

    def begin_traffic(self) -> None:
        self.traffic = [
            asyncio.create_task(producer.produce(orders.meanwhile(producer.voice))) for producer in self.producers
        ]

    @property
    def told(self) -> list[Order]:
        return [order for producer in self.producers for order in producer.told]

    @property
    def repeated(self) -> list[Order]:
        return [order for producer in self.producers for order in producer.repeated]

    @property
    def asked_s(self) -> dict[Order, float]:
        return {order: at_s for producer in self.producers for order, at_s in producer.asked_s.items()}

    def remember(self) -> None:
        """This moment, and what the server says of the orders."""
        counts = self.premises.counts(orders.ORDERS)
        self.moment = (datetime.now(UTC).isoformat(), counts)

    async def keep_counters(self) -> Path:
        """What the server counts, in a file."""
        file = self.premises.data.parent / "counters.json"
        told = await penstock(self.premises.data, "queue", "list", "--output", "json")
        file.write_text(told.stdout, encoding="utf-8")
        return file

    def all_ended(self) -> bool:
        """By the server's ledger: nothing is left to be worked on."""
        count = self.premises.count
        return count(orders.ORDERS, "published") == count(orders.ORDERS, "finished") + count(orders.ORDERS, "dropped")

    async def send_home(self) -> None:
        """Everybody but the server."""
        await self.worker.stop()
        await self.sleeper.stop()
        for task in self.traffic:
            task.cancel()
        await asyncio.wait(self.traffic)
        for producer in self.producers:
            await producer.close()

    async def accounts(self) -> Accounts:
        """By the journal's facts, whether a server runs or not."""
        dump = await penstock(self.premises.data, "journal", "dump", "--output", "json")
        return accounts.read(dump.stdout)
