"""What a queue's owner may say about it. Every field may be left unsaid; who wins over whom is the engine's rule."""

from __future__ import annotations

from typing import Final, NamedTuple

# field -> (what it is, smallest, largest); durations in microseconds
INTEGER_FIELDS: Final = {
    "lease_us": ("how long a reservation lasts; 0: it does not end by itself", 0, 315_360_000_000_000),
    "delay_us": ("how long a new message waits before it is ready", 0, 315_360_000_000_000),
    "ttl_us": ("how long a message lives, from publish; 0: for ever", 0, 3_153_600_000_000_000),
    "attempts": ("failures at which a message is dropped; 0: never", 0, 4_294_967_295),
    "max_length": ("live messages the queue may hold; 0: no limit", 0, 1 << 53),
    "max_bytes": ("bytes of live bodies the queue may hold; 0: no limit", 0, 1 << 53),
    "max_body": ("bytes one body may have; 0: the server's limit", 0, 1 << 31),
    "dedup_us": ("how long a dedup id is remembered; 0: not at all", 0, 315_360_000_000_000),
}


class Past(NamedTuple):
    """What a queue has behind it elsewhere: it counts nowhere but where such totals are asked for."""

    published: int  # beside those that were brought along
    delivered: int
    created_us: int
    modified_us: int


class Policy:
    """A set of fields, each said or None."""

    __slots__ = (
        "attempts",
        "backoff_us",
        "dead_letter",
        "dedup_us",
        "delay_us",
        "lease_us",
        "max_body",
        "max_bytes",
        "max_length",
        "past",
        "ttl_us",
    )

    def __init__(
        self,
        *,
        lease_us: int | None = None,
        delay_us: int | None = None,
        ttl_us: int | None = None,
        attempts: int | None = None,
        max_length: int | None = None,
        max_bytes: int | None = None,
        max_body: int | None = None,
        dedup_us: int | None = None,
        backoff_us: tuple[int, ...] | None = None,
        dead_letter: bytes | None = None,
        past: Past | None = None,
    ) -> None:
        self.lease_us = lease_us
        self.delay_us = delay_us
        self.ttl_us = ttl_us
        self.attempts = attempts
        self.max_length = max_length
        self.max_bytes = max_bytes
        self.max_body = max_body
        self.dedup_us = dedup_us
        self.backoff_us = backoff_us
        self.dead_letter = dead_letter  # the queue's name; b"": none
        self.past = past  # said once, when a queue is brought from elsewhere


POLICY_FIELDS: Final = (*INTEGER_FIELDS, "backoff_us", "dead_letter")
