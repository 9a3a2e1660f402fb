"""The admin API on the real store, with a caller at its unix socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from penstock.model.stages import CONFIRMS
from penstock.server import admin, door
from penstock.server.clock import Clock
from penstock.server.config import load
from penstock.server.options import CONFIRM
from penstock.server.sealing import seal
from penstock.server.store import Store, claim, open_store
from penstock.server.tick import Heart
from tests.server.fakes import run

Answer = tuple[int, Any]


class Desk:
    """A caller of the API, and what is behind it."""

    def __init__(self, session: aiohttp.ClientSession, store: Store, heart: Heart) -> None:
        self._session = session
        self.store = store
        self.heart = heart
        self.ready = True
        self.routes: set[tuple[str, str]] = set()

    async def get(self, path: str) -> Answer:
        return await self._call("GET", path)

    async def post(self, path: str, said: object = None) -> Answer:
        return await self.post_raw(path, b"" if said is None else json.dumps(said).encode())

    async def put(self, path: str, said: object) -> Answer:
        return await self._call("PUT", path, data=json.dumps(said).encode())

    async def patch(self, path: str, said: object) -> Answer:
        return await self._call("PATCH", path, data=json.dumps(said).encode())

    async def delete(self, path: str) -> Answer:
        return await self._call("DELETE", path)

    async def post_raw(self, path: str, data: bytes) -> Answer:
        return await self._call("POST", path, data=BytesIO(data))

    async def publish(self, queue: str, **said: object) -> str:
        status, answer = await self.post(f"/api/v1/queues/{queue}/messages", said)
        assert status == 201, answer
        return str(answer["id"])

    async def reserve(self, queue: str, **said: object) -> list[dict[str, Any]]:
        status, answer = await self.post(f"/api/v1/queues/{queue}/reserve", said)
        assert status == 200, answer
        return list(answer["messages"])

    async def _call(self, method: str, path: str, **said: Any) -> Answer:
        async with self._session.request(method, URL(f"http://penstock{path}", encoded=True), **said) as response:
            assert response.content_type == "application/json"
            return response.status, await response.json()


def routes(application: web.Application) -> set[tuple[str, str]]:
    """Methods and paths, as the documentation writes them."""
    found = {(route.method, route.resource.canonical) for route in application.router.routes() if route.resource}
    plain = {(method, path.replace("{name}", "NAME").replace("{id}", "ID")) for method, path in found}
    return {(method, path) for method, path in plain if method != "HEAD"}


@asynccontextmanager
async def open_desk(data: Path, clock: Clock, text: str = "") -> AsyncIterator[Desk]:
    file = data / "penstock.toml"
    file.write_text(text)
    config = load({"data": str(data), "limits.segment_bytes": 65_536}, {}, file)
    lock = claim(str(data))
    store = open_store(config, clock)
    deaths: list[BaseException] = []
    heart = Heart(asyncio.get_running_loop(), store.embedded, clock, 50_000, deaths.append)
    with door.socket_path(data) as path:
        async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(path)) as session:
            desk = Desk(session, store, heart)
            api = admin.Admin(
                store.embedded.broker,
                heart,
                store.ids,
                CONFIRMS[config[CONFIRM]],
                store.journal_disk,
                lambda: {"version": "test"},
                lambda: desk.ready,
                partial(seal, store.embedded, heart),
            )
            desk.routes = routes(api.application())
            runner = admin.runner(api)
            await runner.setup()
            await web.SockSite(runner, door.bind(data)).start()
            try:
                yield desk
            finally:
                await runner.cleanup()
                heart.close(wait=True)
                store.embedded.close()
                lock.release()
    assert deaths == []


def with_desk(
    data: Path, scenario: Callable[[Desk], Coroutine[Any, Any, None]], clock: Clock | None = None, text: str = ""
) -> None:
    async def opened() -> None:
        async with open_desk(data, clock or Clock(), text) as desk:
            await scenario(desk)

    run(opened())
