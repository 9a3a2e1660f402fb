"""Dead letters in the admin API: look through those of a queue, page by page; redrive or purge them by their ids.

Only what is ready is looked at and touched: a dead letter that somebody holds is theirs.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from aiohttp import web

from penstock.codecs import names
from penstock.model import codes
from penstock.model.contract import DELETE, PUBLISH, Call
from penstock.model.limits import NEVER_US, PAGE_BYTES_MAX, PEEK_MAX, PRIORITY_MAX, PRIORITY_MIN
from penstock.model.message import Origin
from penstock.model.options import WAITING_ONLY, Publishing
from penstock.model.views import MessageView, Rank
from penstock.server import shapes
from penstock.server.routes import (
    QUEUE,
    Refusal,
    Routes,
    answer,
    bad_request,
    each,
    ok,
    query_number,
    queue_name,
    read_form,
    refused,
)

_PAGE: Final = 100


class DeadRoutes(Routes):
    """Dead letters are messages of an ordinary queue that are copies of dropped ones; others in it are passed over."""

    def rows(self) -> list[web.RouteDef]:
        return [
            web.get(f"{QUEUE}/dead", self.page),
            web.post(f"{QUEUE}/dead/redrive", self.redrive),
            web.post(f"{QUEUE}/dead/purge", self.purge),
        ]

    async def page(self, request: web.Request) -> web.Response:
        """`next`, if there is more, is what to say as `after` for the next page."""
        limit = query_number(request, "limit", _PAGE, PEEK_MAX)
        after = self._rank(request.query["after"]) if "after" in request.query else None
        views = ok(await self.ask(self.broker.peek, queue_name(request), limit, after)).value
        page = _as_many_as_fit(views)
        more = len(page) < len(views) or len(views) == limit
        letters = [shapes.dead_shape(view, self.ids) for view in page if _is_dead(view)]
        return answer({"messages": letters, "next": self._cursor(page[-1]) if more else None})

    async def redrive(self, request: web.Request) -> web.Response:
        form = await read_form(request, shapes.RedriveForm)
        queue, to = queue_name(request), None if form.to is None else names.parse(form.to)
        if to == queue:
            raise bad_request("the dead letters are in that queue already")
        return await each(form.ids, "redriven", partial(self._redrive, queue, to))

    async def purge(self, request: web.Request) -> web.Response:
        form = await read_form(request, shapes.PurgeForm)
        return await each(form.ids, "purged", partial(self._purge, queue_name(request)))

    async def _redrive(self, queue: bytes, to: bytes | None, message_id: str) -> dict[str, object]:
        view = await self._letter(queue, message_id)
        target = to if to is not None else view.origin.dead_from if view.origin else None
        if target is None:
            raise Refusal(400, "unknown_queue", "the queue it was dropped from is not known; say `to`")
        outcome = ok(await self.ask(self.broker.batch, [_end(view), _begin_again(view, target)], self.confirm))
        _, (_, number) = outcome.value
        return {"queue": names.show(target), "new_id": self.ids.show(number).decode()}

    async def _purge(self, queue: bytes, message_id: str) -> dict[str, object]:
        view = await self._letter(queue, message_id)
        ok(await self.ask(self.broker.batch, [_end(view)], self.confirm))
        return {}

    async def _letter(self, queue: bytes, message_id: str) -> MessageView:
        view = await self.live(message_id)
        if view.queue != queue or not _is_dead(view):
            raise refused(codes.NO_MESSAGE)
        return view

    # -- where a page ends

    def _cursor(self, view: MessageView) -> str:
        return f"{view.priority}.{view.ready_us}.{self.ids.show(view.seq).decode()}"

    def _rank(self, cursor: str) -> Rank:
        try:
            priority, ready_us, message_id = cursor.split(".")
            rank = Rank(int(priority), int(ready_us), self.seq(message_id))
        except (ValueError, Refusal):
            raise bad_request("after must be what another page gave as `next`") from None
        if not (PRIORITY_MIN <= rank.priority <= PRIORITY_MAX and 0 <= rank.ready_us <= NEVER_US):
            raise bad_request("after must be what another page gave as `next`")
        return rank


def _is_dead(view: MessageView) -> bool:
    return view.origin is not None and view.origin.dead_of != 0


def _as_many_as_fit(views: list[MessageView]) -> list[MessageView]:
    """The first, and as many more as one answer holds."""
    room = PAGE_BYTES_MAX
    for at, view in enumerate(views):
        room -= len(view.body)
        if room < 0 and at > 0:
            return views[:at]
    return views


def _end(view: MessageView) -> Call:
    """Law: what is redriven or purged is there and in nobody's hands at that very moment, or nothing happens."""
    call = Call(DELETE, view.queue)
    call.seq = view.seq
    call.rule = WAITING_ONLY
    call.needed = True
    return call


def _begin_again(view: MessageView, queue: bytes) -> Call:
    """What it carries stays; how long it waits and lives, its queue decides anew."""
    call = Call(PUBLISH, queue)
    call.body = view.body
    call.options = Publishing(
        key=view.key, priority=view.priority, lease_us=view.lease_us, create=False, origin=_kept(view.origin)
    )
    return call


def _kept(origin: Origin | None) -> Origin | None:
    if origin is None or not (origin.principal or origin.trace):
        return None
    kept = Origin()
    kept.principal = origin.principal
    kept.trace = origin.trace
    return kept
