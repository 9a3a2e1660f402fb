"""Imports in the admin API: messages that have a past elsewhere, published in batches, all of one or none.

Which messages were imported before, the importer reads from the journal; here it is seen to that what it has read
stays true.
"""

from __future__ import annotations

import secrets

from aiohttp import web

from penstock.codecs import names
from penstock.codecs.ids import Ids
from penstock.model import stages
from penstock.model.contract import PUBLISH, Broker, Call
from penstock.model.message import Origin
from penstock.model.options import Publishing
from penstock.server import shapes
from penstock.server.routes import PREFIX, QUEUE, Refusal, Routes, answer, ok, queue_name, read_form
from penstock.server.tick import Heart


class ImportRoutes(Routes):
    """Law: once an import has begun, what earlier ones have published stands in the journal, and no more will."""

    def __init__(self, broker: Broker, heart: Heart, ids: Ids, confirm: int) -> None:
        super().__init__(broker, heart, ids, confirm)
        self._present: str | None = None

    def rows(self) -> list[web.RouteDef]:
        return [web.post(f"{PREFIX}/imports", self.begin), web.post(f"{QUEUE}/import", self.publish)]

    async def begin(self, request: web.Request) -> web.Response:
        await read_form(request, shapes.NothingForm)
        import_id = self._present = secrets.token_hex(8)
        nothing: list[Call] = []
        ok(await self.ask(self.broker.batch, nothing, max(self.confirm, int(stages.WRITE))))
        return answer({"import_id": import_id}, 201)

    async def publish(self, request: web.Request) -> web.Response:
        form = await read_form(request, shapes.ImportForm)
        if form.import_id != self._present:
            raise Refusal(409, "superseded", "another import has begun since, or the server was started again")
        queue = queue_name(request)
        ok(await self.ask(self.broker.batch, [_call(queue, message) for message in form.messages], self.confirm))
        return answer({"name": names.show(queue), "imported": len(form.messages)})


def _call(queue: bytes, form: shapes.ImportedForm) -> Call:
    origin = Origin()
    origin.foreign_id = form.foreign_id.encode()
    origin.deliveries = form.deliveries
    origin.first_leased_us = form.first_leased_us
    call = Call(PUBLISH, queue)
    call.body = form.body64
    call.delay_us = shapes.microseconds(form.delay_s)
    call.options = Publishing(
        ttl_us=shapes.microseconds(form.ttl_s), lease_us=shapes.microseconds(form.lease_s), origin=origin
    )
    return call
