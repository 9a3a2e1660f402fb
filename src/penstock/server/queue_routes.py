"""Whole queues in the admin API: list, show, create, set, pause, resume, purge, delete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aiohttp import web

from penstock.codecs import names
from penstock.model import codes
from penstock.server import shapes
from penstock.server.policies import Said, read_said
from penstock.server.problems import Problem
from penstock.server.routes import QUEUE, QUEUES, Refusal, Routes, answer, ok, queue_name, read_form


class QueueRoutes(Routes):
    """Whoever changes a queue is answered with it, as it is now; whoever empties it, with how many messages went."""

    def rows(self) -> list[web.RouteDef]:
        return [
            web.get(QUEUES, self.list),
            web.get(QUEUE, self.show),
            web.put(QUEUE, self.create),
            web.patch(QUEUE, self.set),
            web.delete(QUEUE, self.remove),
            web.post(f"{QUEUE}/pause", self.pause),
            web.post(f"{QUEUE}/resume", self.resume),
            web.post(f"{QUEUE}/purge", self.purge),
        ]

    async def list(self, request: web.Request) -> web.Response:
        outcome = ok(await self.ask(self.broker.list_queues))
        return answer({"queues": [shapes.queue_shape(view) for view in outcome.value]})

    async def show(self, request: web.Request) -> web.Response:
        return await self._shown(queue_name(request))

    async def create(self, request: web.Request) -> web.Response:
        name = queue_name(request)
        said = await _said(request, name)
        ok(await self.ask(self.broker.declare, name, said.policy, self.confirm))
        return await self._shown(name, 201)

    async def set(self, request: web.Request) -> web.Response:
        """A field that is null is said no longer."""
        name = queue_name(request)
        said = await _said(request, name)
        ok(await self.ask(self.broker.set, name, said.policy, self.confirm, said.unsaid))
        return await self._shown(name)

    async def pause(self, request: web.Request) -> web.Response:
        return await self._changed(request, self.broker.pause)

    async def resume(self, request: web.Request) -> web.Response:
        return await self._changed(request, self.broker.resume)

    async def purge(self, request: web.Request) -> web.Response:
        return await self._emptied(request, self.broker.purge)

    async def remove(self, request: web.Request) -> web.Response:
        return await self._emptied(request, self.broker.remove)

    async def _changed(self, request: web.Request, verb: Callable[..., None]) -> web.Response:
        await read_form(request, shapes.NothingForm)
        ok(await self.ask(verb, queue_name(request), self.confirm))
        return await self._shown(queue_name(request))

    async def _emptied(self, request: web.Request, verb: Callable[..., None]) -> web.Response:
        await read_form(request, shapes.NothingForm)
        name = queue_name(request)
        outcome = ok(await self.ask(verb, name, self.confirm))
        return answer({"name": names.show(name), "deleted": outcome.number})

    async def _shown(self, name: bytes, status: int = 200) -> web.Response:
        view = ok(await self.ask(self.broker.show_queue, name)).value
        return answer({**shapes.queue_shape(view), "sources": shapes.sources_shape(view)}, status)


async def _said(request: web.Request, name: bytes) -> Said:
    problems: list[Problem] = []
    said = read_said(await read_form(request, dict[str, Any]), name, problems)
    if problems:
        raise Refusal(400, codes.CODES[codes.BAD_POLICY][0], "; ".join(map(str, problems)))
    return said
