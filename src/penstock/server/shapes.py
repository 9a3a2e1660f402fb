"""The shapes of the admin API: what requests may say, and how messages, queues and facts look in JSON.

Times that never come are null. Bodies and keys that are not UTF-8 are given as base64 under another name.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from penstock.codecs import names
from penstock.codecs.facts import Fact
from penstock.codecs.ids import Ids
from penstock.dialects import table
from penstock.model import facts
from penstock.model.limits import (
    DEDUP_ID_MAX,
    DELAY_MAX_US,
    DELIVERIES_MAX,
    IMPORT_MAX,
    LEASE_MAX_US,
    NEVER_US,
    PRIORITY_MAX,
    PRIORITY_MIN,
    REDRIVE_MAX,
    RESERVE_MAX,
    SECOND_US,
    TTL_MAX_US,
    WAIT_MAX_S,
)
from penstock.model.message import PLACE_NAMES, Lease
from penstock.model.policy import Policy
from penstock.model.views import COUNTS, DEFAULT, MATCHED, SAID, Counts, MessageView, QueueView, Source
from penstock.server.policies import POLICY_KEYS

DelayS = Annotated[float, Meta(ge=0, le=DELAY_MAX_US // SECOND_US)]
LeaseS = Annotated[float, Meta(ge=0, le=LEASE_MAX_US // SECOND_US)]
TimeUs = Annotated[int, Meta(ge=0, lt=NEVER_US)]
Count = Annotated[int, Meta(ge=0, lt=1 << 53)]
TtlS = Annotated[float, Meta(ge=0, le=TTL_MAX_US // SECOND_US)]


class PublishForm(Struct, forbid_unknown_fields=True):
    """One of `body` and `body64`, at most one of `key` and `key64`. What is unsaid, the queue decides."""

    body: str | None = None
    body64: bytes | None = None
    delay_s: DelayS | None = None
    ttl_s: TtlS | None = None
    lease_s: LeaseS | None = None
    priority: Annotated[int, Meta(ge=PRIORITY_MIN, le=PRIORITY_MAX)] = 0
    key: str | None = None
    key64: bytes | None = None
    dedup_id: str = ""


class ReserveForm(Struct, forbid_unknown_fields=True):
    lease_s: LeaseS | None = None
    wait_s: Annotated[float, Meta(ge=0, le=WAIT_MAX_S)] = 0.0
    max: Annotated[int, Meta(ge=1, le=RESERVE_MAX)] = 1


class ReleaseForm(Struct, forbid_unknown_fields=True):
    delay_s: DelayS | None = None
    failed: bool = False


class NothingForm(Struct, forbid_unknown_fields=True):
    """Nothing to say, so far."""


class PurgeForm(Struct, forbid_unknown_fields=True):
    ids: Annotated[list[str], Meta(max_length=REDRIVE_MAX)]


class RedriveForm(PurgeForm, forbid_unknown_fields=True):
    """`to`: into this queue, and not each into the one it was dropped from."""

    to: str | None = None


class ImportedForm(Struct, forbid_unknown_fields=True):
    """A message with a past. What is unsaid, it does not have: the queue decides nothing but its lease.

    `ready_us`: when it is, or was, ready, instead of the delay.
    """

    body64: bytes
    foreign_id: Annotated[str, Meta(min_length=1, max_length=DEDUP_ID_MAX)]
    delay_s: DelayS = 0.0
    ready_us: TimeUs | None = None
    ttl_s: TtlS = 0.0
    lease_s: LeaseS | None = None
    deliveries: Annotated[int, Meta(ge=0, le=DELIVERIES_MAX)] = 0
    first_leased_us: TimeUs = 0


class ImportedQueueForm(Struct, forbid_unknown_fields=True):
    """A queue with a past: what held for it, when it was made and changed, and how much went through it before."""

    lease_us: Count
    delay_us: Count
    max_body: Count
    published: Count
    delivered: Count
    created_us: TimeUs
    modified_us: TimeUs


class ImportForm(Struct, forbid_unknown_fields=True):
    """`import_id`: what beginning the import was answered with. `dialect`: the one that the messages were sent in.

    `queue`: as which it is made, if it is not there.
    """

    import_id: str
    messages: Annotated[list[ImportedForm], Meta(max_length=IMPORT_MAX)]
    dialect: str = table.NAMES[table.ADMIN]
    queue: ImportedQueueForm | None = None


def microseconds(seconds: float | None) -> int:
    """-1: unsaid."""
    return -1 if seconds is None else round(seconds * int(SECOND_US))


# -- answers


def message_shape(view: MessageView, ids: Ids) -> dict[str, object]:
    return {
        "id": ids.show(view.seq).decode(),
        "queue": names.show(view.queue),
        "state": PLACE_NAMES[view.place],
        **_bytes("body", view.body),
        **({} if view.key is None else _bytes("key", view.key)),
        "priority": view.priority,
        "dialect": table.NAMES.get(view.dialect, str(view.dialect)),
        "published_us": view.published_us,
        "ready_us": _time(view.ready_us),
        "expires_us": _time(view.expires_us),
        "leased_us": _time(view.leased_us),
        "until_us": _time(view.until_us),
        "deliveries": view.deliveries,
        "failures": view.failures,
        **_origin(view, ids),
    }


def _origin(view: MessageView, ids: Ids) -> dict[str, object]:
    origin = view.origin
    if origin is None:
        return {}
    said = {field: getattr(origin, field) for field in ("dedup_id", "foreign_id", "trace", "principal")}
    if origin.dead_of:
        said["dead_of"] = ids.show(origin.dead_of)
    if origin.dead_from is not None:
        said["dead_from"] = names.show(origin.dead_from).encode()
    return {name: told for field, value in said.items() if value for name, told in _bytes(field, value).items()}


def dead_shape(view: MessageView, ids: Ids) -> dict[str, object]:
    """A dead letter: of which message, dropped from which queue (null: not known), when."""
    assert view.origin is not None
    dead_from = view.origin.dead_from
    return {
        "id": ids.show(view.seq).decode(),
        "dead_of": ids.show(view.origin.dead_of).decode(),
        "dead_from": None if dead_from is None else names.show(dead_from),
        "died_us": view.published_us,
        "priority": view.priority,
        **({} if view.key is None else _bytes("key", view.key)),
        **_bytes("body", view.body),
    }


def leased_shape(lease: Lease, queue: bytes, ids: Ids) -> dict[str, object]:
    """What a reservation gave."""
    message = lease.message
    return {
        "id": ids.show(message.order).decode(),
        "queue": names.show(queue),
        **_bytes("body", message.body),
        **({} if message.key is None else _bytes("key", message.key)),
        "priority": message.priority,
        "until_us": _time(lease.until_us),
        "deliveries": lease.deliveries,
        "failures": lease.failures,
    }


def queue_shape(view: QueueView) -> dict[str, object]:
    return {
        "name": names.show(view.name),
        "paused": view.paused,
        "dialect": table.NAMES.get(view.dialect, str(view.dialect)),
        "created_us": view.created_us,
        "modified_us": view.modified_us,
        "oldest_ready_us": _time(view.oldest_ready_us),
        "waiting": view.waiting,
        "counts": counts_shape(view.counts),
        "policy": policy_shape(view.policy),
        "effective": policy_shape(view.effective),
    }


def sources_shape(view: QueueView) -> dict[str, str]:
    """Where each effective field comes from: the queue itself, the config's pattern, the dialect that made it."""
    keys = {field: key for key, (field, _, _) in POLICY_KEYS.items()}
    dialect = table.NAMES.get(view.dialect, str(view.dialect))
    return {keys[field]: _source(source, dialect) for field, source in view.sources.items()}


def _source(source: Source, dialect: str) -> str:
    words = {SAID: "queue", MATCHED: f"config {names.show(source.match)}", DEFAULT: f"dialect {dialect}"}
    return words[source.layer]


def counts_shape(counts: Counts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in COUNTS}


def sealed_shape(last_fact: int, counts: Mapping[bytes, Counts]) -> dict[str, object]:
    shown = {names.show(name): counts_shape(counted) for name, counted in counts.items()}
    return {"last_fact": last_fact, "queues": [{"name": name, "counts": shown[name]} for name in sorted(shown)]}


def policy_shape(policy: Policy) -> dict[str, object]:
    """The fields that are said, named as in the configuration file."""
    said = {key: getattr(policy, field) for key, (field, _, _) in POLICY_KEYS.items()}
    return {key: _policy_value(key, value) for key, value in said.items() if value is not None}


def _policy_value(key: str, value: Any) -> object:
    if isinstance(value, bytes):
        return names.show(value)
    if isinstance(value, tuple):
        return [_seconds(item) for item in value]
    return _seconds(value) if key.endswith("_s") else value


def _seconds(us: int) -> float | int:
    return us // SECOND_US if us % SECOND_US == 0 else us / SECOND_US


# kind of fact -> what its columns are called in a timeline
_COLUMNS: Final = {
    facts.PUBLISHED: {"ready_us": "due_us", "expires_us": "expires_us", "priority": "number"},
    facts.LEASED: {"until_us": "due_us", "deliveries": "number", "holder": "holder"},
    facts.FINISHED: {"deliveries": "number", "holder": "holder"},
    facts.RELEASED: {"ready_us": "due_us", "deliveries": "number"},
    facts.EXTENDED: {"due_us": "due_us", "deliveries": "number"},
    facts.DROPPED: {"deliveries": "number"},
    facts.EXPIRED: {"deliveries": "number"},
    facts.DELETED: {"deliveries": "number"},
}


def fact_shape(fact: Fact, queue: bytes) -> dict[str, object]:
    columns = {name: getattr(fact, column) for name, column in _COLUMNS[fact.kind].items()}
    return {
        "fact": fact.seq,
        "at_us": fact.at_us,
        "kind": facts.FACT_NAMES[fact.kind],
        "reason": facts.REASON_NAMES.get(fact.reason, ""),
        "dialect": table.NAMES.get(fact.dialect, str(fact.dialect)),
        "queue": names.show(queue),
        "failure": bool(fact.flags & facts.FAILURE_FLAG),
        **{name: _time(value) if name.endswith("_us") else value for name, value in columns.items()},
    }


def _bytes(name: str, value: bytes) -> dict[str, object]:
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {f"{name}64": base64.b64encode(value).decode()}


def _time(us: int) -> int | None:
    return us if 0 < us < NEVER_US else None
