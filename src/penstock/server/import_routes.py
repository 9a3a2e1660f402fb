"""Imports in the admin API: messages that have a past elsewhere, published in batches, all of one or none.

Which messages were imported before, the importer reads from the journal; here it is seen to that what it has read
stays true.
"""

from __future__ import annotations

import secrets
from typing import Final

from aiohttp import web

from penstock.codecs import names
from penstock.codecs.ids import Ids
from penstock.dialects import table
from penstock.model import codes, stages
from penstock.model.contract import DECLARE, PUBLISH, Broker, Call
from penstock.model.message import Origin
from penstock.model.options import Publishing
from penstock.model.policy import Past, Policy
from penstock.server import shapes
from penstock.server.routes import PREFIX, QUEUE, Refusal, Routes, answer, bad_request, ok, queue_name, read_form
from penstock.server.tick import Heart

RSMQ: Final = "rsmq"  # whose ids are names: a queue never holds two messages of the same

_NUMBERS: Final = {name: number for number, name in table.NAMES.items()}


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
        calls = [_declaring(queue, form.queue)] if form.queue else []
        calls += [_publishing(queue, message, form.dialect) for message in form.messages]
        outcome = ok(await self.ask_as(_dialect(form.dialect), self.broker.batch, calls, self.confirm))
        made = {"created": outcome.value[0][0] == codes.OK} if form.queue else {}
        return answer({"name": names.show(queue), "imported": len(form.messages), **made})


def _dialect(name: str) -> int:
    if name not in _NUMBERS:
        raise bad_request(f"there is no dialect {name}")
    return _NUMBERS[name]


def _declaring(queue: bytes, form: shapes.ImportedQueueForm) -> Call:
    past = Past(form.published, form.delivered, form.created_us, form.modified_us)
    call = Call(DECLARE, queue)
    call.policy = Policy(lease_us=form.lease_us, delay_us=form.delay_us, max_body=form.max_body, past=past)
    return call


def _publishing(queue: bytes, form: shapes.ImportedForm, dialect: str) -> Call:
    origin = Origin()
    origin.foreign_id = form.foreign_id.encode()
    origin.deliveries = form.deliveries
    origin.first_leased_us = form.first_leased_us
    call = Call(PUBLISH, queue)
    call.body = form.body64
    call.delay_us = shapes.microseconds(form.delay_s)
    call.due_us = -1 if form.ready_us is None else form.ready_us
    call.foreign_id = origin.foreign_id if dialect == RSMQ else b""
    call.options = Publishing(
        ttl_us=shapes.microseconds(form.ttl_s), lease_us=shapes.microseconds(form.lease_s), moved=True, origin=origin
    )
    return call
