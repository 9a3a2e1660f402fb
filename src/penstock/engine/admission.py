"""Whether a publish may enter: names, ranges, sizes, limits. Asked before anything changes."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.engine.queue import Queue
from penstock.engine.rules import PolicyBook
from penstock.model import codes
from penstock.model.limits import (
    BODY_MAX,
    DEDUP_ID_MAX,
    DELAY_MAX_US,
    DELIVERIES_MAX,
    EXTRA_MAX,
    KEY_MAX,
    LEASE_MAX_US,
    MARK_MAX,
    NEVER_US,
    ORIGIN_FIXED,
    PRIORITY_MAX,
    PRIORITY_MIN,
    QUEUE_NAME_MAX,
    TTL_MAX_US,
)
from penstock.model.message import Origin
from penstock.model.options import Publishing
from penstock.model.policy import Policy


def admit(
    queue: Queue | None,
    name: bytes,
    dialect: i64,
    body: bytes,
    delay_us: i64,
    options: Publishing,
    ahead: i64,
    ahead_bytes: i64,
    book: PolicyBook,
) -> i64:
    """OK, or why not. `ahead`: what the same batch has put before it."""
    if queue is None:
        return _admit_first(name, dialect, body, delay_us, options, ahead, ahead_bytes, book)
    rules = queue.rules
    if len(body) > rules.max_body and not (options.moved and len(body) <= BODY_MAX):
        return codes.TOO_LARGE
    if rules.max_length != 0 and queue.length() + ahead >= rules.max_length:
        return codes.FULL
    if rules.max_bytes != 0 and queue.body_bytes + ahead_bytes + len(body) > rules.max_bytes:
        return codes.FULL
    return _bad_option(delay_us, options)


def _admit_first(
    name: bytes,
    dialect: i64,
    body: bytes,
    delay_us: i64,
    options: Publishing,
    ahead: i64,
    ahead_bytes: i64,
    book: PolicyBook,
) -> i64:
    """Into a queue that is not there yet."""
    if not options.create:
        return codes.NO_QUEUE
    if len(name) > QUEUE_NAME_MAX:
        return codes.BAD_NAME
    rules = book.rules(name, Policy(), int(dialect))
    if len(body) > rules.max_body and not (options.moved and len(body) <= BODY_MAX):
        return codes.TOO_LARGE
    if rules.max_length != 0 and ahead >= rules.max_length:
        return codes.FULL
    if rules.max_bytes != 0 and ahead_bytes + len(body) > rules.max_bytes:
        return codes.FULL
    return _bad_option(delay_us, options)


def _bad_option(delay_us: i64, options: Publishing) -> i64:
    if delay_us > DELAY_MAX_US or options.ttl_us > TTL_MAX_US or options.lease_us > LEASE_MAX_US:
        return codes.BAD_OPTION
    if options.priority < PRIORITY_MIN or options.priority > PRIORITY_MAX:
        return codes.BAD_OPTION
    if options.key is not None and len(options.key) > KEY_MAX:
        return codes.TOO_LARGE
    return codes.OK if options.origin is None else _bad_origin(options.origin)


def _bad_origin(origin: Origin) -> i64:
    if not 0 <= origin.deliveries <= DELIVERIES_MAX or not 0 <= origin.first_leased_us < NEVER_US:
        return codes.BAD_OPTION
    if (origin.row < 1 if origin.mark else origin.row != 0) or origin.row >= NEVER_US:
        return codes.BAD_OPTION
    if len(origin.dedup_id) > DEDUP_ID_MAX or len(origin.mark) > MARK_MAX:
        return codes.TOO_LARGE
    named = len(origin.mark) + len(origin.dedup_id) + len(origin.foreign_id) + len(origin.trace) + len(origin.principal)
    return codes.TOO_LARGE if named + ORIGIN_FIXED > EXTRA_MAX else codes.OK
