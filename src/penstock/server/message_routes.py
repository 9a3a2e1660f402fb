"""Messages in the admin API: publish, peek, reserve, and by their id: show, finish, release."""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import web

from penstock.codecs.ids import Ids
from penstock.journal.disk import Disk
from penstock.model import codes
from penstock.model.contract import Broker
from penstock.model.limits import PEEK_MAX
from penstock.model.message import Lease, Origin
from penstock.model.options import ANY_LIVE, LEASED_ONLY, Publishing, Reserving
from penstock.server import shapes
from penstock.server.routes import (
    MESSAGE,
    QUEUE,
    Routes,
    answer,
    bad_request,
    ok,
    query_number,
    queue_name,
    read_form,
    refused,
)
from penstock.server.tick import Heart
from penstock.server.timeline import timeline

_PEEK_LIMIT: Final = 10


class MessageRoutes(Routes):
    """`journal` is where the lives of messages are read from."""

    def __init__(self, broker: Broker, heart: Heart, ids: Ids, confirm: int, journal: Disk) -> None:
        super().__init__(broker, heart, ids, confirm)
        self._journal = journal

    def rows(self) -> list[web.RouteDef]:
        return [
            web.get(f"{QUEUE}/messages", self.peek),
            web.post(f"{QUEUE}/messages", self.publish),
            web.post(f"{QUEUE}/reserve", self.reserve),
            web.get(MESSAGE, self.show),
            web.post(f"{MESSAGE}/finish", self.finish),
            web.post(f"{MESSAGE}/release", self.release),
        ]

    # -- by their queue

    async def peek(self, request: web.Request) -> web.Response:
        limit = query_number(request, "limit", _PEEK_LIMIT, PEEK_MAX)
        outcome = ok(await self.ask(self.broker.peek, queue_name(request), limit))
        return answer({"messages": [shapes.message_shape(view, self.ids) for view in outcome.value]})

    async def publish(self, request: web.Request) -> web.Response:
        form = await read_form(request, shapes.PublishForm)
        queue, body, delay_us = queue_name(request), _body(form), shapes.microseconds(form.delay_s)
        outcome = await self.ask(self.broker.publish, queue, body, delay_us, _publishing(form), self.confirm)
        duplicate = outcome.code == codes.DUPLICATE
        number = outcome.number if duplicate else ok(outcome).number
        return answer({"id": self.ids.show(number).decode(), "duplicate": duplicate}, 200 if duplicate else 201)

    async def reserve(self, request: web.Request) -> web.Response:
        form = await read_form(request, shapes.ReserveForm)
        queue = queue_name(request)
        options = Reserving(
            lease_us=shapes.microseconds(form.lease_s), wait_us=shapes.microseconds(form.wait_s), max=form.max
        )
        outcome = await self.ask(self.broker.reserve, queue, options, self.confirm)
        leases: list[Lease] = outcome.value if outcome.code == codes.EMPTY else ok(outcome).value
        return answer({"messages": [shapes.leased_shape(lease, queue, self.ids) for lease in leases]})

    # -- by their id

    async def show(self, request: web.Request) -> web.Response:
        message_id = request.match_info["id"]
        seq = self.seq(message_id)
        outcome = await self.ask(self.broker.show_message, seq)
        facts = await asyncio.get_running_loop().run_in_executor(None, timeline, self._journal, seq)
        if outcome.code != codes.OK and not facts:
            raise refused(codes.NO_MESSAGE)
        live = None if outcome.value is None else shapes.message_shape(outcome.value, self.ids)
        return answer({"id": message_id, "live": live, "timeline": facts})

    async def finish(self, request: web.Request) -> web.Response:
        await read_form(request, shapes.NothingForm)
        message_id = request.match_info["id"]
        view = await self.live(message_id)
        ok(await self.ask(self.broker.finish, view.queue, view.seq, ANY_LIVE, 0, self.confirm))
        return answer({"id": message_id})

    async def release(self, request: web.Request) -> web.Response:
        form = await read_form(request, shapes.ReleaseForm)
        message_id = request.match_info["id"]
        view = await self.live(message_id)
        delay_us = shapes.microseconds(form.delay_s)
        ok(
            await self.ask(
                self.broker.release, view.queue, view.seq, delay_us, form.failed, LEASED_ONLY, 0, self.confirm
            )
        )
        return answer({"id": message_id})


def _body(form: shapes.PublishForm) -> bytes:
    body = _one_of("body", form.body, form.body64)
    if body is None:
        raise bad_request("say `body` or `body64`")
    return body


def _one_of(name: str, text: str | None, data: bytes | None) -> bytes | None:
    if text is not None and data is not None:
        raise bad_request(f"say only one of `{name}` and `{name}64`")
    return data if text is None else text.encode()


def _publishing(form: shapes.PublishForm) -> Publishing:
    origin = Origin()
    origin.dedup_id = form.dedup_id.encode()
    return Publishing(
        ttl_us=shapes.microseconds(form.ttl_s),
        lease_us=shapes.microseconds(form.lease_s),
        priority=form.priority,
        key=_one_of("key", form.key, form.key64),
        origin=origin if form.dedup_id else None,
    )
