"""The admin API: HTTP and JSON, served on the unix socket in the data directory. What it does is in its routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from penstock.codecs.ids import Ids
from penstock.journal.disk import Disk
from penstock.model.contract import Broker
from penstock.model.limits import ADMIN_LINE_MAX, ADMIN_REQUEST_MAX
from penstock.server import shapes
from penstock.server.dead_routes import DeadRoutes
from penstock.server.import_routes import ImportRoutes
from penstock.server.message_routes import MessageRoutes
from penstock.server.queue_routes import QueueRoutes
from penstock.server.routes import PREFIX, Refusal, Routes, answer, ok, words
from penstock.server.sealing import NotReady, Sealed
from penstock.server.tick import Heart


class Admin(Routes):
    """The server as a whole, and all routes. `status`, `is_ready` and `seal` are asked of whoever runs the server."""

    def __init__(
        self,
        broker: Broker,
        heart: Heart,
        ids: Ids,
        confirm: int,
        journal: Disk,
        status: Callable[[], dict[str, object]],
        is_ready: Callable[[], bool],
        seal: Callable[[], Awaitable[Sealed]],
    ) -> None:
        super().__init__(broker, heart, ids, confirm)
        self._status = status
        self._is_ready = is_ready
        self._seal = seal
        self._parts: tuple[Routes, ...] = (
            self,
            QueueRoutes(broker, heart, ids, confirm),
            MessageRoutes(broker, heart, ids, confirm, journal),
            DeadRoutes(broker, heart, ids, confirm),
            ImportRoutes(broker, heart, ids, confirm),
        )

    def application(self) -> web.Application:
        application = web.Application(middlewares=[words], client_max_size=ADMIN_REQUEST_MAX)
        for part in self._parts:
            application.add_routes(part.rows())
        return application

    def rows(self) -> list[web.RouteDef]:
        return [
            web.get("/health/live", self.alive),
            web.get("/health/ready", self.ready),
            web.get(f"{PREFIX}/status", self.status),
            web.post(f"{PREFIX}/journal/seal", self.seal),
        ]

    async def alive(self, request: web.Request) -> web.Response:
        return answer({"live": True})

    async def ready(self, request: web.Request) -> web.Response:
        ready = self._is_ready()
        return answer({"ready": ready}, 200 if ready else 503)

    async def status(self, request: web.Request) -> web.Response:
        stats = ok(await self.ask(self.broker.stats)).value
        told = {"now_us": stats.now_us, "queues": stats.queues, "waiting": stats.waiting}
        return answer({**self._status(), **told, "counts": shapes.counts_shape(stats.counts)})

    async def seal(self, request: web.Request) -> web.Response:
        try:
            return answer(shapes.sealed_shape(*await self._seal()))
        except NotReady:
            raise Refusal(503, "not_ready", "the next segment is not ready; try again") from None


def runner(admin: Admin) -> web.AppRunner:
    return web.AppRunner(
        admin.application(),
        access_log=None,
        handle_signals=False,
        handler_cancellation=True,
        shutdown_timeout=1.0,
        max_line_size=ADMIN_LINE_MAX,
    )
