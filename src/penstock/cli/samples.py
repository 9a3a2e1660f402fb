"""What commands print as JSON, by example: docs/commands.md shows these, and the tests hold the commands to them."""

from __future__ import annotations

from typing import Any, Final

from penstock.cli.facts import TIMES
from penstock.cli.looking import MESSAGE_TIMES
from penstock.cli.output import iso, with_iso
from penstock.cli.surveying import QUEUE_TIMES

_AT: Final = 1_767_323_045_678_901
_SOON: Final = _AT + 30_000_000

# Fields that are left out where there is nothing to say.
OPTIONAL: Final = frozenset(
    (
        "body", "body64", "dead_from", "dead_of", "dedup_id", "error", "first_leased", "first_leased_us", "foreign_id",
        "key", "key64", "message", "principal", "trace",
    )
)  # fmt: skip

_QUEUE: Final = with_iso(
    {
        "name": "orders",
        "paused": False,
        "dialect": "deferred",
        "created_us": _AT,
        "modified_us": _AT,
        "oldest_ready_us": _AT,
        "waiting": 0,
        "counts": {
            "body_bytes": 5,
            "delayed": 0,
            "deleted": 0,
            "delivered": 0,
            "dropped": 0,
            "expired": 0,
            "failed": 0,
            "finished": 0,
            "leased": 0,
            "parked": 0,
            "published": 1,
            "ready": 1,
        },
        "policy": {"lease_s": 30},
        "effective": {"lease_s": 30, "attempts": 5},
    },
    *QUEUE_TIMES,
)
_ONE_QUEUE: Final = _QUEUE | {"sources": {"lease_s": "queue", "attempts": "config orders*"}}
_LETTER: Final = with_iso(
    {
        "id": "4ZkY0aB3xQ",
        "dead_of": "0pCk2X9LqZ",
        "dead_from": "orders",
        "died_us": _AT,
        "priority": 0,
        "key": "k",
        "body": "hello",
    },
    "died_us",
)
_SWEPT: Final = {
    "dry_run": False,
    "messages": 142,
    "bytes": 38_912,
    "gone": 0,
    "refused": [{"error": "full", "message": "orders: the queue has reached its limit", "messages": 58}],
    "sample": [_LETTER],
}
_LEASED: Final = with_iso(
    {
        "id": "0pCk2X9LqZ",
        "queue": "orders",
        "body": "hello",
        "key": "k",
        "priority": 0,
        "until_us": _SOON,
        "deliveries": 1,
        "failures": 0,
    },
    "until_us",
)
_MESSAGE: Final = with_iso(
    {
        "id": "0pCk2X9LqZ",
        "queue": "orders",
        "state": "leased",
        "body": "hello",
        "key": "k",
        "priority": 0,
        "dialect": "deferred",
        "published_us": _AT,
        "ready_us": _AT,
        "expires_us": None,
        "leased_us": _AT,
        "until_us": _SOON,
        "deliveries": 1,
        "failures": 0,
        "dedup_id": "order 7",
    },
    *MESSAGE_TIMES,
)
_UNTOUCHED: Final = {
    "state": "ready",
    "leased": None,
    "leased_us": None,
    "until": None,
    "until_us": None,
    "deliveries": 0,
}


def _fact(number: int, kind: str, reason: str, failure: bool, **columns: int | None) -> dict[str, Any]:
    who = {"kind": kind, "reason": reason, "dialect": "deferred", "queue": "orders", "failure": failure}
    return with_iso({"fact": number, "at_us": _AT, **who, **columns}, *TIMES)


_TIMELINE: Final = [
    _fact(3, "published", "", False, ready_us=_AT, expires_us=None, priority=0),
    _fact(4, "leased", "", False, until_us=_SOON, deliveries=1, holder=0),
    _fact(5, "released", "timed out", True, ready_us=_AT, deliveries=1),
    _fact(6, "leased", "", False, until_us=_SOON, deliveries=2, holder=0),
    _fact(7, "extended", "", False, due_us=_SOON, deliveries=2),
    _fact(8, "finished", "acknowledged", False, deliveries=2, holder=0),
]
_DAMAGE: Final = {
    "file": "00000000000000000001.journal",
    "offset": 464,
    "expected": 4,
    "reason": "the checksum of the batch is wrong",
}

# command -> what it prints; a dump prints one such object a line
SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "config show": {
        "options": [{"option": "confirm", "value": "write", "source": "environment PENSTOCK_CONFIRM"}],
        "policies": [{"match": "orders*", "lease_s": 30, "backoff_s": [1, 5, 30]}],
    },
    "queue list": {"queues": [_QUEUE]},
    "queue show": _ONE_QUEUE,
    "queue create": _ONE_QUEUE,
    "queue set": _ONE_QUEUE,
    "queue pause": _ONE_QUEUE | {"paused": True},
    "queue resume": _ONE_QUEUE,
    "queue purge": {"name": "orders", "deleted": 142},
    "queue delete": {"name": "orders", "deleted": 142},
    "message publish": {"id": "0pCk2X9LqZ", "duplicate": False},
    "message peek": {"messages": [_MESSAGE | _UNTOUCHED]},
    "message reserve": {"messages": [_LEASED]},
    "message finish": {
        "messages": [
            {"id": "0pCk2X9LqZ", "finished": True},
            {"id": "4ZkY0aB3xQ", "finished": False, "error": "no_message", "message": "no such message"},
        ]
    },
    "message release": {"messages": [{"id": "0pCk2X9LqZ", "released": True}]},
    "message show": {
        "id": "0pCk2X9LqZ",
        "live": _MESSAGE,
        "timeline": _TIMELINE,
    },
    "dead list": {"messages": [_LETTER]},
    "dead redrive": _SWEPT | {"targets": [{"queue": "orders", "messages": 142}]},
    "dead purge": _SWEPT | {"dry_run": True, "refused": []},
    "journal info": {
        "snapshots": [
            with_iso(
                {
                    "number": 3,
                    "name": "00000000000000000003.snapshot",
                    "state": "whole",
                    "bytes": 52_104,
                    "messages": 142,
                    "queues": 2,
                    "last": 1_207,
                    "last_at_us": _AT,
                },
                "last_at_us",
            )
        ],
        "segments": [
            with_iso(
                {
                    "number": 1,
                    "name": "00000000000000000001.journal",
                    "state": "sealed",
                    "bytes": 1_208,
                    "facts": 9,
                    "first": 1,
                    "last": 9,
                    "first_at_us": _AT,
                    "last_at_us": _SOON,
                },
                "first_at_us",
                "last_at_us",
            )
        ],
    },
    "journal verify": {"sound": False, "bytes": 1_208, "problems": [_DAMAGE | {"torn": False}]},
    "journal dump": {
        **_TIMELINE[0],
        "message": "0pCk2X9LqZ",
        "message_number": 4_294_967_297,
        "lease_us": None,
        "parked": False,
        "key": "k",
        "body": "hello",
    },
    "journal repair": {
        "repaired": True,
        "damages": [_DAMAGE],
        "losses": [
            {"file": _DAMAGE["file"], "offset": 464, "bytes": 744, "first": 4, "last": 9, "facts": 5, "messages": 0},
        ],
    },
    "archive status": with_iso(
        {
            "days": 3,
            "files": 212,
            "bytes": 48_302_114,
            "segment": 214,
            "last_fact": 9_120_331,
            "last_at_us": _AT,
            "behind_segments": 0,
            "behind_facts": 1_204,
            "unreadable": [],
        },
        "last_at_us",
    ),
    "pipeline run": {
        "batches": [
            {
                "batch": 12,
                "run": "5f0c8e5b1c5d4c0e9d3f1f8f6f3f7a51",
                "started": iso(_AT),
                "started_us": _AT,
                "seconds": 3.218,
                "segments": 2,
                "facts": 48_211,
                "quarantined": 0,
                "compared_queues": 14,
            }
        ],
    },
    "pipeline sql": {"queue": "orders", "outcome": "dropped", "lives": 12},
    "pipeline status": with_iso(
        {
            "archive": "penstock-data/archive",
            "archived_segments": 212,
            "lake": "penstock-data/lake",
            "batch": 12,
            "last_fact": 9_120_331,
            "last_at_us": _AT,
            "facts": 9_120_331,
            "quarantined": 0,
            "missing": [{"first": 401, "last": 900}],
            "behind_segments": 1,
            "behind_facts": 1_204,
            "parts": [{"table": "lives", "parts": 3}],
            "last_run": {"batch": 12, "seconds": 3.218, "facts": 48_211},
        },
        "last_at_us",
    ),
    "pipeline report": {
        "file": "report.html",
        "bytes": 104_322,
        "from_us": 1_767_312_000_000_000,
        "to_us": 1_767_398_400_000_000,
        "queues": 6,
        "published": 5_981,
        "delivered": 6_254,
        "finished": 5_940,
        "retried": 289,
        "dropped": 24,
        "expired": 0,
        "deleted": 0,
        "stuck": 1,
    },
    "pipeline replay": {
        "replay": "9c1b0f6a2d3e",
        "where": "queue = 'orders' and outcome = 'dropped'",
        "to": "orders",
        "dry_run": False,
        **with_iso({"planned_us": _AT}, "planned_us"),
        "messages": 142,
        "bytes": 38_912,
        "published": 142,
        "before": 0,
        "without_body": [{"queue": "orders", "messages": 3, "before_archive": False}],
        "sample": [
            with_iso(
                {
                    "message_seq": 4_294_967_297,
                    "queue": "orders",
                    "outcome": "dropped",
                    "published_at_us": _AT,
                    "priority": 0,
                    "key": "k",
                    "body": "hello",
                },
                "published_at_us",
            )
        ],
    },
    "export": {
        "format": "etzel",
        "file": "orders.etzel",
        "messages": 142,
        "bytes": 38_912,
        "expired": 0,
        "queues": [{"queue": "orders", "messages": 142}],
        "lost": [{"what": "priority", "messages": 12}],
    },
    "import etzel": {
        "format": "etzel",
        "file": "orders.etzel",
        "dry_run": False,
        "messages": 100,
        "bytes": 27_400,
        "known": 42,
        "queues": [{"queue": "orders", "messages": 100}],
    },
    "import rsmq": {
        "format": "rsmq",
        "place": "localhost:6379",
        "dry_run": False,
        "messages": 100,
        "bytes": 27_400,
        "known": 42,
        "gone": 0,
        "queues": [{"queue": "orders", "messages": 100, "created": True}],
    },
    "doctor": {
        "failed": 0,
        "checks": [{"name": "lock", "verdict": "ok", "found": "held by process 4711", "advice": ""}],
    },
}
