"""Every table, and every column with its type, its unit and what it means: docs/tables.md is made from this.

`TABLES` are what people ask. `PARTS` are the files below them, which only the pipeline reads. It must not know Spark.
"""

from __future__ import annotations

from typing import Final, NamedTuple

MINUTE_US: Final = 60_000_000


class Column(NamedTuple):
    name: str
    type: str  # as Spark's DDL has it
    unit: str
    about: str


class Table(NamedTuple):
    name: str
    row: str  # what one row is
    columns: tuple[Column, ...]


MESSAGE: Final = Column("message_seq", "bigint", "number", "the message, for ever")
QUEUE_ID: Final = Column("queue_id", "bigint", "number", "the queue; a queue that is made again has another")
QUEUE: Final = Column("queue", "string", "name", "its name, as `penstock queue list` shows it")
DATE: Final = Column("date", "date", "day, UTC", "")
LINEAGE: Final = (
    Column("_segment", "bigint", "number", "the journal's segment with the last fact in this row"),
    Column("_batch", "int", "number", "the pipeline's batch that wrote it"),
    Column("_run", "string", "id", "the run that wrote that batch"),
)

SEGMENTS: Final = Table(
    "bronze.segments",
    "one segment of the journal that has been taken in",
    (
        Column("segment", "bigint", "number", "the segment"),
        Column("first_seq", "bigint", "fact number", "its first fact"),
        Column("last_seq", "bigint", "fact number", "its last fact"),
        Column("first_at_us", "bigint", "µs since 1970", "when its first fact happened"),
        Column("last_at_us", "bigint", "µs since 1970", "when its last fact happened"),
        Column("path", "string", "path", "its file below the archive"),
        Column("_batch", "int", "number", "the batch that took it in"),
        Column("_run", "string", "id", "the run of that batch"),
    ),
)

_FACT: Final = (
    Column("seq", "bigint", "fact number", "its place in the journal; there are no gaps"),
    Column("at_us", "bigint", "µs since 1970", "when it happened"),
    Column("fact_code", "tinyint", "code", "what happened, as a number of the journal"),
    Column("fact", "string", "word", "what happened: `published`, `leased`, `finished`, …"),
    Column("message_seq", "bigint", "number", "the message; 0 where it is about none"),
    Column("queue_id", "bigint", "number", "the queue; 0 where it is about none"),
    QUEUE,
    Column("dialect_code", "smallint", "code", "who caused it, as a number of the journal"),
    Column("dialect", "string", "word", "the dialect that caused it; `server`: time did"),
    Column("reason_code", "tinyint", "code", "why, as a number of the journal"),
    Column("reason", "string", "word", "why: `acknowledged`, `taken`, `timed out`, …; empty where there is one way"),
    Column("attempt", "int", "count", "deliveries so far, this one included"),
    Column("due_at_us", "bigint", "µs since 1970", "when it becomes ready; null where that does not change"),
    Column("until_us", "bigint", "µs since 1970", "when the lease ends; null where it never does or does not change"),
    Column("expires_at_us", "bigint", "µs since 1970", "published: when it expires; null: never"),
    Column("lease_us", "bigint", "µs", "how long the lease is"),
    Column("priority", "bigint", "number", "published: higher is handed out first"),
    Column("parked", "boolean", "", "published: only taken along with its key"),
    Column("failure", "boolean", "", "it counts against the limit of attempts"),
    Column("old_place", "boolean", "", "leased: comes back to its old place"),
    Column("key", "binary", "bytes", "published: its key; null: none"),
    Column("body", "binary", "bytes", "published: its body; null where the archive leaves bodies out"),
    Column("size", "int", "bytes", "published: how long the body is, be it there or not"),
    Column("holder", "bigint", "number", "who was handed it, where the dialect has names for clients; else 0"),
    Column("principal", "string", "name", "published: who was logged in"),
    Column("poster", "bigint", "number", "published: the client"),
    Column("label", "bigint", "number", "published: what notices to the poster carry"),
    Column("notify", "smallint", "bits", "published: the stages it asked to be told of"),
    Column("dedup_id", "string", "id", "published: what makes two publishes one"),
    Column("foreign_id", "string", "id", "published: its name elsewhere"),
    Column("trace", "string", "id", "published: the trace it belongs to"),
    Column("dead_of", "bigint", "message number", "published: the dropped message it is the dead letter of"),
    Column("dead_from", "string", "queue name", "published: the queue that message was dropped from"),
    Column("note", "string", "JSON", "what a fact about a queue or the server says beyond this: a policy, a note"),
    Column("journal_bytes", "int", "bytes", "what it takes in the journal"),
)
ARCHIVE_COLUMNS: Final = (*_FACT, Column("segment", "bigint", "number", "the segment it is in"))

FACTS: Final = Table(
    "bronze.facts",
    "one fact that keeps the laws, as the archive has it",
    (*_FACT, DATE._replace(about="when it happened"), *LINEAGE),
)
QUARANTINE: Final = Table(
    "bronze.quarantine",
    "one fact that breaks a law by itself, and is in no other table",
    (*_FACT, Column("broken", "string", "words", "the law it breaks"), *LINEAGE),
)
QUEUES: Final = Table(
    "silver.queues",
    "one queue that ever was",
    (
        QUEUE_ID,
        QUEUE,
        Column("declared_at_us", "bigint", "µs since 1970", "when it came to be; null: before the archive begins"),
        Column("removed_at_us", "bigint", "µs since 1970", "when it was removed; null: it is there"),
    ),
)
LIVES: Final = Table(
    "silver.lives",
    "one message's whole life, ended or not",
    (
        MESSAGE,
        QUEUE_ID,
        QUEUE,
        Column("outcome", "string", "word", "`open`, `finished`, `dropped`, `expired` or `deleted`"),
        Column("reason", "string", "word", "why it ended so: `acknowledged`, `taken`, `timed out`, `purged`, …"),
        Column("published_at_us", "bigint", "µs since 1970", "when it was published; null: before the archive begins"),
        Column("first_ready_at_us", "bigint", "µs since 1970", "when it could first be handed out"),
        Column("first_leased_at_us", "bigint", "µs since 1970", "when it was first handed out"),
        Column("last_leased_at_us", "bigint", "µs since 1970", "when it was last handed out"),
        Column("ended_at_us", "bigint", "µs since 1970", "when it ended; null: it has not"),
        Column("expires_at_us", "bigint", "µs since 1970", "when it expires; null: never"),
        Column("deliveries", "int", "count", "how often it was handed out"),
        Column("retries", "int", "count", "how often it came back"),
        Column("failures", "int", "count", "how often that counted against the limit of attempts"),
        Column("extensions", "int", "count", "how often a lease or a due time was moved"),
        Column("wait_us", "bigint", "µs", "from ready to handed out, over all deliveries"),
        Column("work_us", "bigint", "µs", "from handed out to given back or ended, over all deliveries that are over"),
        Column("life_us", "bigint", "µs", "from publish to end"),
        Column("dialect", "string", "word", "the dialect that published it"),
        Column("dialects", "array<string>", "words", "all that touched it, the server included, by their codes"),
        Column("principal", "string", "name", "who was logged in when it was published"),
        Column("priority", "bigint", "number", "higher is handed out first"),
        Column("parked", "boolean", "", "only taken along with its key"),
        Column("dead_of", "bigint", "message number", "the dropped message that this is the dead letter of"),
        Column("dead_letter", "bigint", "message number", "the dead letter that this left"),
        Column("size", "int", "bytes", "its body"),
        Column("journal_bytes", "bigint", "bytes", "what all its facts take in the journal"),
        Column("facts", "int", "count", "its facts"),
        DATE._replace(about="when it was published, else when it ended"),
        *LINEAGE,
    ),
)
ATTEMPTS: Final = Table(
    "silver.attempts",
    "one delivery, over or not",
    (
        MESSAGE,
        Column("attempt", "int", "count", "which of its deliveries"),
        QUEUE_ID,
        QUEUE,
        Column("dialect", "string", "word", "the dialect it was handed out in"),
        Column("holder", "bigint", "number", "who was handed it, where the dialect has names for clients; else 0"),
        Column("ready_at_us", "bigint", "µs since 1970", "since when it could have been handed out"),
        Column("leased_at_us", "bigint", "µs since 1970", "when it was"),
        Column("until_us", "bigint", "µs since 1970", "when the lease was to end, as last said; null: never, or none"),
        Column("ended_at_us", "bigint", "µs since 1970", "when it was given back or the message ended; null: not yet"),
        Column("ended", "string", "word", "how: `released`, `finished`, `dropped`, `expired`, `deleted`; null: not"),
        Column("reason", "string", "word", "why: `acknowledged`, `taken`, `returned`, `timed out`, `failed`, …"),
        Column("wait_us", "bigint", "µs", "from ready to handed out"),
        Column("work_us", "bigint", "µs", "from handed out to its end"),
        Column("extensions", "int", "count", "how often the lease was moved"),
        DATE._replace(about="when it was handed out"),
        *LINEAGE,
    ),
)
_HISTOGRAM: Final = "map<int,bigint>"
QUEUE_MINUTE: Final = Table(
    "gold.queue_minute",
    "one queue in one minute in which something happened or something waited",
    (
        QUEUE_ID,
        QUEUE,
        Column("minute", "timestamp", "UTC", "the minute's beginning"),
        Column("minute_us", "bigint", "µs since 1970", "the same as a number"),
        Column("published", "bigint", "count", "messages published"),
        Column("delivered", "bigint", "count", "messages handed out"),
        Column("finished", "bigint", "count", "messages that ended well"),
        Column("retried", "bigint", "count", "messages that came back"),
        Column("failed", "bigint", "count", "failures: what counts against the limit of attempts"),
        Column("dropped", "bigint", "count", "messages that failed too often"),
        Column("expired", "bigint", "count", "messages that lived too long"),
        Column("deleted", "bigint", "count", "messages deleted, purged or removed with their queue"),
        Column("published_bytes", "bigint", "bytes", "bodies published"),
        Column("wait_p50_us", "bigint", "µs", "half of what was handed out had waited no longer (within 2.5 %)"),
        Column("wait_p95_us", "bigint", "µs", "19 of 20 had waited no longer"),
        Column("wait_p99_us", "bigint", "µs", "99 of 100 had waited no longer"),
        Column("work_p50_us", "bigint", "µs", "half of the deliveries that ended had taken no longer"),
        Column("work_p95_us", "bigint", "µs", "19 of 20 had taken no longer"),
        Column("work_p99_us", "bigint", "µs", "99 of 100 had taken no longer"),
        Column("wait_histogram", _HISTOGRAM, "bucket → count", "waits of what was handed out"),
        Column("work_histogram", _HISTOGRAM, "bucket → count", "work times of deliveries that ended"),
        Column("backlog", "bigint", "count", "live messages at the minute's end"),
        Column("oldest_ready_age_us", "bigint", "µs", "how long the longest ready had been, at the minute's end"),
        Column("_batch", "int", "number", "the last batch that added to this row"),
    ),
)
STUCK: Final = Table(
    "gold.stuck",
    "one thing that does not move, at the last fact of the last batch",
    (
        Column("kind", "string", "word", "`lease`, `queue` or `holder`"),
        QUEUE_ID,
        QUEUE,
        Column("message_seq", "bigint", "number", "lease: the message; queue: the one that waits longest"),
        Column("holder", "bigint", "number", "lease, holder: who was handed it; else null"),
        Column("since_us", "bigint", "µs since 1970", "handed out; ready; first seen"),
        Column("age_us", "bigint", "µs", "how long that is"),
        Column("usual_us", "bigint", "µs", "what 19 of 20 take in this queue; null: not known"),
        Column("deliveries", "bigint", "count", "lease: of this message; holder: none of which it finished"),
    ),
)
COST: Final = Table(
    "gold.cost",
    "one queue, one dialect, one day",
    (
        DATE._replace(about="when it happened"),
        QUEUE_ID,
        QUEUE,
        Column("dialect", "string", "word", "the dialect that caused it; `server`: time did"),
        Column("messages", "bigint", "count", "messages published"),
        Column("body_bytes", "bigint", "bytes", "their bodies"),
        Column("deliveries", "bigint", "count", "messages handed out"),
        Column("redeliveries", "bigint", "count", "of those, not for the first time"),
        Column("retries_share", "double", "share", "redeliveries of deliveries, 0 to 1; null: no deliveries"),
        Column("facts", "bigint", "count", "facts of any kind"),
        Column("journal_bytes", "bigint", "bytes", "what they take in the journal"),
        Column("_batch", "int", "number", "the last batch that added to this row"),
    ),
)

PLACES: Final = ("delayed", "ready", "parked", "leased")
MESSAGES_THEN: Final = Table(
    "asof.messages",
    "one message that was live at a moment of the past",
    (
        MESSAGE,
        QUEUE_ID,
        QUEUE,
        Column("place", "string", "word", "`delayed`, `ready`, `parked` or `leased`"),
        Column("deliveries", "int", "count", "how often it had been handed out"),
        Column("due_at_us", "bigint", "µs since 1970", "when it was to become, or had become, ready"),
        Column("until_us", "bigint", "µs since 1970", "when its lease was to end; null: never, or not leased"),
        Column("size", "int", "bytes", "its body"),
    ),
)
QUEUES_THEN: Final = Table(
    "asof.queues",
    "one queue that was there at a moment of the past, with the counts that `penstock queue show` gave then",
    (
        QUEUE_ID,
        QUEUE,
        *[Column(place, "bigint", "count", f"messages that were {place}") for place in PLACES],
        Column("published", "bigint", "count", "messages published until then"),
        Column("delivered", "bigint", "count", "messages handed out until then"),
        Column("failed", "bigint", "count", "failures until then"),
        Column("retried", "bigint", "count", "messages that had come back until then"),
        *[
            Column(end, "bigint", "count", f"messages {end} until then")
            for end in ("finished", "dropped", "expired", "deleted")
        ],
        Column("body_bytes", "bigint", "bytes", "bodies of the messages that were live"),
    ),
)

TABLES: Final = (
    *(SEGMENTS, FACTS, QUARANTINE, QUEUES, LIVES, ATTEMPTS, QUEUE_MINUTE, STUCK, COST),
    *(MESSAGES_THEN, QUEUES_THEN),
)

# -- the files below

_LINEAGE: Final = "_segment bigint, _batch int, _run string"
_SLOT: Final = """
    message_seq bigint, attempt int, queue_id bigint, segment bigint,
    published_at_us bigint, dialect_code smallint, priority bigint, size int, parked boolean, expires_at_us bigint,
    principal_code bigint, dead_of bigint, ready_seq bigint, ready_at_us bigint,
    leased_seq bigint, leased_at_us bigint, holder bigint, lease_dialect smallint, until_seq bigint, until_us bigint,
    released_seq bigint, released_at_us bigint, released_reason tinyint,
    end_seq bigint, end_at_us bigint, end_fact tinyint, end_reason tinyint, moved int,
    dialects bigint, facts bigint, journal_bytes bigint, deliveries int, releases int, failures int, extensions int,
    ends int, _batch int, _run string
"""
_LIFE: Final = f"""
    message_seq bigint, queue_id bigint, published_at_us bigint, dialect_code smallint, priority bigint, size int,
    parked boolean, expires_at_us bigint, principal_code bigint, dead_of bigint, dead_letter bigint,
    first_ready_seq bigint, first_ready_at_us bigint, first_leased_at_us bigint, last_leased_at_us bigint,
    end_at_us bigint, end_fact tinyint, end_reason tinyint, wait_us bigint, work_us bigint,
    dialects bigint, facts bigint, journal_bytes bigint, deliveries int, releases int, failures int, extensions int,
    ends int, {_LINEAGE}
"""


def _ddl(columns: tuple[Column, ...]) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in columns)


# part -> its columns
PARTS: Final = {
    "facts": _ddl(ARCHIVE_COLUMNS),
    "segments": _ddl(SEGMENTS.columns),
    "quarantine": _ddl(QUARANTINE.columns),
    "names": "kind string, code bigint, name string, declared_at_us bigint, removed_at_us bigint",
    "attempts": _SLOT,
    "leased": _SLOT,
    "waiting": _SLOT,
    "pending": _SLOT,
    "echo": _SLOT,
    "lives": _LIFE,
    "open_lives": _LIFE,
    "tally": "minute_us bigint, queue_id bigint, dialect_code smallint, fact_code tinyint, reason_code tinyint, "
    "failure boolean, again boolean, facts bigint, body_bytes bigint, journal_bytes bigint, _batch int",
    "times": "queue_id bigint, minute_us bigint, work boolean, bucket int, n bigint, _batch int",
    "oldest": "queue_id bigint, first_minute bigint, last_minute bigint, ready_at_us bigint, _batch int",
    "holders": "queue_id bigint, holder bigint, delivered bigint, finished bigint, first_at_us bigint, "
    "last_at_us bigint",
}
