"""The admin API: HTTP and JSON, served on the unix socket in the data directory.

It uses the same verbs as any dialect and knows nothing that is behind them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import msgspec
from aiohttp import web

from penstock.codecs import names
from penstock.codecs.ids import Ids
from penstock.dialects.table import ADMIN
from penstock.journal.disk import Disk
from penstock.journal.segment import JournalDamaged
from penstock.model import codes
from penstock.model.contract import Broker
from penstock.model.limits import ADMIN_LINE_MAX, ADMIN_REQUEST_MAX, PEEK_MAX
from penstock.model.message import Message, Origin
from penstock.model.options import ANY_LIVE, LEASED_ONLY, Publishing, Reserving
from penstock.model.views import MessageView
from penstock.server import shapes
from penstock.server.asking import AskingSession, Outcome, StoreIsDead
from penstock.server.tick import Heart
from penstock.server.timeline import timeline

FormT = TypeVar("FormT", bound=msgspec.Struct)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_LOG: Final = logging.getLogger(__name__)

_PREFIX: Final = "/api/v1"
_NAME: Final = "{name:[^/]*}"  # the empty name is a name
_NAME_AT: Final = 4  # where the name stands in /api/v1/queues/NAME/…
_PEEK_LIMIT: Final = 10

# code -> HTTP status; any other is a bad request
_STATUSES: Final = {
    codes.NO_QUEUE: 404,
    codes.NO_MESSAGE: 404,
    codes.FULL: 507,
    codes.QUEUE_EXISTS: 409,
    codes.TOO_LARGE: 413,
    codes.DENIED: 403,
    codes.CANCELLED: 503,
}


class Refusal(Exception):
    """What the caller is told instead of an answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Admin:
    """The handlers. `status` and `is_ready` are asked of whoever runs the server."""

    def __init__(
        self,
        broker: Broker,
        heart: Heart[Any],
        ids: Ids,
        confirm: int,
        journal: Disk,
        status: Callable[[], dict[str, object]],
        is_ready: Callable[[], bool],
    ) -> None:
        self._broker = broker
        self._heart = heart
        self._ids = ids
        self._confirm = confirm
        self._journal = journal
        self._status = status
        self._is_ready = is_ready

    def application(self) -> web.Application:
        application = web.Application(middlewares=[_words], client_max_size=ADMIN_REQUEST_MAX)
        application.add_routes(
            [
                web.get("/health/live", self.live),
                web.get("/health/ready", self.ready),
                web.get(f"{_PREFIX}/status", self.status),
                web.get(f"{_PREFIX}/queues", self.queues),
                web.get(f"{_PREFIX}/queues/{_NAME}", self.queue),
                web.get(f"{_PREFIX}/queues/{_NAME}/messages", self.peek),
                web.post(f"{_PREFIX}/queues/{_NAME}/messages", self.publish),
                web.post(f"{_PREFIX}/queues/{_NAME}/reserve", self.reserve),
                web.get(f"{_PREFIX}/messages/{{id}}", self.message),
                web.post(f"{_PREFIX}/messages/{{id}}/finish", self.finish),
                web.post(f"{_PREFIX}/messages/{{id}}/release", self.release),
            ]
        )
        return application

    # -- the server

    async def live(self, request: web.Request) -> web.Response:
        return _json({"live": True})

    async def ready(self, request: web.Request) -> web.Response:
        ready = self._is_ready()
        return _json({"ready": ready}, 200 if ready else 503)

    async def status(self, request: web.Request) -> web.Response:
        stats = _ok(await self._ask(self._broker.stats)).value
        told = {"now_us": stats.now_us, "queues": stats.queues, "waiting": stats.waiting}
        return _json({**self._status(), **told, "counts": shapes.counts_shape(stats.counts)})

    # -- queues

    async def queues(self, request: web.Request) -> web.Response:
        outcome = _ok(await self._ask(self._broker.list_queues))
        return _json({"queues": [shapes.queue_shape(view) for view in outcome.value]})

    async def queue(self, request: web.Request) -> web.Response:
        outcome = _ok(await self._ask(self._broker.show_queue, _queue_name(request)))
        return _json(shapes.queue_shape(outcome.value))

    async def peek(self, request: web.Request) -> web.Response:
        limit = request.query.get("limit", str(_PEEK_LIMIT))
        if not (limit.isascii() and limit.isdigit() and 1 <= int(limit) <= PEEK_MAX):
            raise Refusal(400, "bad_request", f"limit must be between 1 and {PEEK_MAX}")
        outcome = _ok(await self._ask(self._broker.peek, _queue_name(request), int(limit)))
        return _json({"messages": [shapes.message_shape(view, self._ids) for view in outcome.value]})

    async def publish(self, request: web.Request) -> web.Response:
        form = await _form(request, shapes.PublishForm)
        queue, body, delay_us = _queue_name(request), _body(form), shapes.microseconds(form.delay_s)
        outcome = await self._ask(self._broker.publish, queue, body, delay_us, _publishing(form), self._confirm)
        duplicate = outcome.code == codes.DUPLICATE
        number = outcome.number if duplicate else _ok(outcome).number
        return _json({"id": self._ids.show(number).decode(), "duplicate": duplicate}, 200 if duplicate else 201)

    async def reserve(self, request: web.Request) -> web.Response:
        form = await _form(request, shapes.ReserveForm)
        queue = _queue_name(request)
        options = Reserving(
            lease_us=shapes.microseconds(form.lease_s), wait_us=shapes.microseconds(form.wait_s), max=form.max
        )
        outcome = await self._ask(self._broker.reserve, queue, options, self._confirm)
        messages: list[Message] = []
        if outcome.code != codes.EMPTY:
            found = _ok(outcome)
            messages = found.value if found.message is None else [found.message]
        return _json({"messages": [shapes.leased_shape(message, queue, self._ids) for message in messages]})

    # -- messages

    async def message(self, request: web.Request) -> web.Response:
        seq = self._seq(request)
        outcome = await self._ask(self._broker.show_message, seq)
        facts = await asyncio.get_running_loop().run_in_executor(None, timeline, self._journal, seq)
        if outcome.code != codes.OK and not facts:
            raise _refused(codes.NO_MESSAGE)
        live = None if outcome.value is None else shapes.message_shape(outcome.value, self._ids)
        return _json({"id": request.match_info["id"], "live": live, "timeline": facts})

    async def finish(self, request: web.Request) -> web.Response:
        await _form(request, shapes.FinishForm)
        view = await self._live(request)
        _ok(await self._ask(self._broker.finish, view.queue, view.seq, ANY_LIVE, 0, self._confirm))
        return _json({"id": request.match_info["id"]})

    async def release(self, request: web.Request) -> web.Response:
        form = await _form(request, shapes.ReleaseForm)
        view = await self._live(request)
        delay_us = shapes.microseconds(form.delay_s)
        _ok(
            await self._ask(
                self._broker.release, view.queue, view.seq, delay_us, form.failed, LEASED_ONLY, 0, self._confirm
            )
        )
        return _json({"id": request.match_info["id"]})

    async def _live(self, request: web.Request) -> MessageView:
        """The message, wherever it is: ids here need no queue."""
        outcome = _ok(await self._ask(self._broker.show_message, self._seq(request)))
        assert isinstance(outcome.value, MessageView)
        return outcome.value

    def _seq(self, request: web.Request) -> int:
        seq = self._ids.seq(request.match_info["id"].encode())
        if seq < 0:
            raise _refused(codes.NO_MESSAGE)
        return seq

    async def _ask(self, verb: Callable[..., None], *arguments: object) -> Outcome:
        session = AskingSession(ADMIN, self._heart)
        try:
            return await session.ask(verb, *arguments)
        finally:
            session.leave(self._broker)


# -- requests and answers


def _queue_name(request: web.Request) -> bytes:
    return names.parse(request.rel_url.raw_path.split("/")[_NAME_AT])


async def _form(request: web.Request, form: type[FormT]) -> FormT:
    return msgspec.json.decode(await request.read() or b"{}", type=form)


def _body(form: shapes.PublishForm) -> bytes:
    body = _one_of("body", form.body, form.body64)
    if body is None:
        raise Refusal(400, "bad_request", "say `body` or `body64`")
    return body


def _one_of(name: str, text: str | None, data: bytes | None) -> bytes | None:
    if text is not None and data is not None:
        raise Refusal(400, "bad_request", f"say only one of `{name}` and `{name}64`")
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


def _ok(outcome: Outcome) -> Outcome:
    if outcome.code != codes.OK:
        raise _refused(outcome.code)
    return outcome


def _refused(code: int) -> Refusal:
    name, words = codes.CODES[code]
    return Refusal(_STATUSES.get(code, 400), name, words)


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


@web.middleware
async def _words(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error as JSON, in words."""
    try:
        return await handler(request)
    except Refusal as refusal:
        return _error(refusal.status, refusal.code, str(refusal))
    except msgspec.MsgspecError as error:
        return _error(400, "bad_request", str(error))
    except StoreIsDead:
        return _error(503, "dead", "the journal has failed; the server is stopping")
    except JournalDamaged as damage:
        return _error(500, "damaged", str(damage))
    except web.HTTPException as error:
        return _error(error.status, error.reason.lower().replace(" ", "_"), error.text or error.reason)
    except Exception:
        _LOG.exception("admin request failed")
        return _error(500, "failed", "an error of the server; its log says which")


def _error(status: int, code: str, message: str) -> web.Response:
    return _json({"error": code, "message": message}, status)


def runner(admin: Admin) -> web.AppRunner:
    return web.AppRunner(
        admin.application(),
        access_log=None,
        handle_signals=False,
        handler_cancellation=True,
        shutdown_timeout=1.0,
        max_line_size=ADMIN_LINE_MAX,
    )
