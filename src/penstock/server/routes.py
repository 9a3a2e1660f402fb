"""What the routes of the admin API have in common: how a request is read, the broker asked, an answer given.

It uses the same verbs as any dialect and knows nothing that is behind them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec
from aiohttp import web

from penstock.codecs import names
from penstock.codecs.ids import Ids
from penstock.dialects.table import ADMIN
from penstock.journal.segment import JournalDamaged
from penstock.model import codes
from penstock.model.contract import Broker
from penstock.model.views import MessageView
from penstock.server.asking import AskingSession, Outcome, StoreIsDead
from penstock.server.tick import Heart

FormT = TypeVar("FormT")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

PREFIX: Final = "/api/v1"
QUEUES: Final = f"{PREFIX}/queues"
QUEUE: Final = QUEUES + "/{name:[^/]*}"  # the empty name is a name
MESSAGE: Final = PREFIX + "/messages/{id}"
_NAME_AT: Final = 4  # where the name stands in /api/v1/queues/NAME/…

_LOG: Final = logging.getLogger(__name__)

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


def bad_request(message: str) -> Refusal:
    return Refusal(400, "bad_request", message)


def refused(code: int) -> Refusal:
    name, words = codes.CODES[code]
    return Refusal(_STATUSES.get(code, 400), name, words)


def ok(outcome: Outcome) -> Outcome:
    if outcome.code != codes.OK:
        raise refused(outcome.code)
    return outcome


class Routes:
    """Handlers of one kind of thing. Changes are answered at `confirm`."""

    def __init__(self, broker: Broker, heart: Heart, ids: Ids, confirm: int) -> None:
        self.broker = broker
        self.ids = ids
        self.confirm = confirm
        self._heart = heart

    def rows(self) -> list[web.RouteDef]:
        raise NotImplementedError

    async def ask(self, verb: Callable[..., None], *arguments: object) -> Outcome:
        return await self.ask_as(ADMIN, verb, *arguments)

    async def ask_as(self, dialect: int, verb: Callable[..., None], *arguments: object) -> Outcome:
        session = AskingSession(dialect, self._heart)
        try:
            return await session.ask(verb, *arguments)
        finally:
            session.leave(self.broker)

    async def live(self, message_id: str) -> MessageView:
        """The message, wherever it is: ids here need no queue."""
        outcome = ok(await self.ask(self.broker.show_message, self.seq(message_id)))
        assert isinstance(outcome.value, MessageView)
        return outcome.value

    def seq(self, message_id: str) -> int:
        seq = self.ids.seq(message_id.encode())
        if seq < 0:
            raise refused(codes.NO_MESSAGE)
        return seq


# -- requests


def queue_name(request: web.Request) -> bytes:
    return names.parse(request.rel_url.raw_path.split("/")[_NAME_AT])


async def read_form(request: web.Request, form: type[FormT]) -> FormT:
    return msgspec.json.decode(await request.read() or b"{}", type=form)


def query_number(request: web.Request, name: str, unsaid: int, most: int) -> int:
    text = request.query.get(name, str(unsaid))
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= most):
        raise bad_request(f"{name} must be between 1 and {most}")
    return int(text)


# -- answers


def answer(value: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


def error_answer(status: int, code: str, message: str) -> web.Response:
    return answer({"error": code, "message": message}, status)


@web.middleware
async def words(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error as JSON, in words."""
    try:
        return await handler(request)
    except Refusal as refusal:
        return error_answer(refusal.status, refusal.code, str(refusal))
    except msgspec.MsgspecError as error:
        return error_answer(400, "bad_request", str(error))
    except StoreIsDead:
        return error_answer(503, "dead", "the journal has failed; the server is stopping")
    except JournalDamaged as damage:
        return error_answer(500, "damaged", str(damage))
    except web.HTTPException as error:
        return error_answer(error.status, error.reason.lower().replace(" ", "_"), error.text or error.reason)
    except Exception:
        _LOG.exception("admin request failed")
        return error_answer(500, "failed", "an error of the server; its log says which")


async def each(ids: list[str], done: str, act: Callable[[str], Awaitable[dict[str, object]]]) -> web.Response:
    """The same for several messages, each by itself: one that is refused stops no other."""
    return answer({"messages": await asyncio.gather(*[_one(message_id, done, act) for message_id in ids])})


async def _one(message_id: str, done: str, act: Callable[[str], Awaitable[dict[str, object]]]) -> dict[str, object]:
    try:
        return {"id": message_id, done: True, **await act(message_id)}
    except Refusal as refusal:
        return {"id": message_id, done: False, "error": refusal.code, "message": str(refusal)}
