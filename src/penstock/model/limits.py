"""Every limit has a name, and they live together here. Nothing else in the project writes a bare maximum."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

# Times are integers in microseconds. A time that never comes still fits an i64 with room to add to it.
NEVER_US: Final[i64] = 1 << 61
SECOND_US: Final[i64] = 1_000_000
MILLISECOND_US: Final[i64] = 1_000
DAY_US: Final[i64] = 86_400 * 1_000_000

# Messages and names.
BODY_MAX: Final = 1 << 20
KEY_MAX: Final = 65_535
QUEUE_NAME_MAX: Final = 65_535
EXTRA_MAX: Final = 32_767
ORIGIN_FIXED: Final = 96  # of it, for the tags, lengths and numbers of an origin
DEDUP_ID_MAX: Final = 1_024
DEDUP_IDS_MAX: Final = 1 << 20  # that a queue remembers, however long its window
MARK_MAX: Final = 255
MARKS_MAX: Final = 65_536  # that a store remembers; beyond, the one that was moved longest ago is forgotten
DELIVERIES_MAX: Final = (1 << 31) - 1  # that a message may bring along
PRIORITY_MIN: Final = -32_768
PRIORITY_MAX: Final = 4_294_967_295
DELAY_MAX_US: Final[i64] = 3_650 * 86_400 * 1_000_000
LEASE_MAX_US: Final[i64] = 3_650 * 86_400 * 1_000_000
TTL_MAX_US: Final[i64] = 36_500 * 86_400 * 1_000_000

# A message whose key or body does not fit 16 bits is wide: some takers cannot be given it.
NARROW_MAX: Final = 65_535

# One answer to a take with key mates.
TAKE_MESSAGES_MAX: Final = 65_535
TAKE_BYTES_MAX: Final = 4 << 20

# Waiting.
SUBSCRIPTIONS_MAX: Final = 1_024
CREDITS_MAX: Final = 1 << 20

# Clients that come back under their name: how many of those that are gone are remembered, and what is kept for each.
ABSENT_MAX: Final = 512
KEPT_MAX: Final = 4_096
KEPT_BYTES_MAX: Final = 2 << 20
SUBSCRIBED_BYTES_MAX: Final = 64 << 20  # names that the connections of one listener keep
SUBSCRIPTION_OVERHEAD: Final = 256  # what each of them counts for, beside its bytes

# Leases that survive a restart or a pause of the process get at least this much more (or their own length).
GRACE_US: Final[i64] = 10 * 1_000_000
PAUSE_NOTICED_US: Final[i64] = 1_000_000

# Each start jumps the message numbers by this much, so that numbers lost in a crash never return.
START_JUMP: Final[i64] = 1 << 32
SEQ_BITS: Final = 58

# The journal.
SEGMENT_BYTES: Final = 64 << 20
SNAPSHOT_BYTES: Final = 256 << 20  # sealed since the last snapshot: time for the next, if not more than that lives
ENDING_BYTES: Final = 256  # that a live message may still need in it: to be handed out, to come back, to end
BATCH_BYTES_MAX: Final = 1 << 31

# The server.
MESSAGE_MEMORY: Final = 300  # bytes that a message takes beside its body
LINE_MAX: Final = (1 << 20) + 64
HEAD_MAX: Final = 4 << 10  # of the HTTP request that opens a WebSocket
FRAME_MAX: Final = (8 << 20) + 4_096  # of one WebSocket message: a body of 1 MiB as an array of numbers, and its fields
ANSWER_MAX: Final = 2_000 << 20  # of one answer, as a client takes it: a thousand bodies of 1 MiB, however written
FRAME_MESSAGES_MAX: Final = 1_000  # that one request may speak of
FRAGMENTS_MAX: Final = 4_096  # frames of one WebSocket message
JSON_DEPTH_MAX: Final = 64
COMMAND_MAX: Final = 8 << 20  # of one RESP command, or of one MULTI, with all its arguments
COMMAND_WORDS_MAX: Final = 16_384  # arguments of one RESP command, or commands of one MULTI
WORD_MAX: Final = 2 << 20  # of one argument
STRANGER_WORDS_MAX: Final = 10  # arguments of a command before AUTH, and the bytes of one
STRANGER_WORD_MAX: Final = 16 << 10
INLINE_MAX: Final = 64 << 10
OUTPUT_CAP_BYTES: Final = 8 << 20
STALLED_READER_US: Final[i64] = 3 * 1_000_000  # without reading a byte: no longer waited for
OWED_BYTES_MAX: Final = 1 << 20
MESSAGE_OVERHEAD: Final = 64  # what each message of a list counts for, beside its body
IN_FLIGHT_MAX: Final = 16_384  # requests of one connection that wait for their answers
ROOM_WAIT_US: Final[i64] = 30 * 1_000_000  # a publisher without answers waits so long for room
CONNECTIONS_MAX: Final = 10_000
SPIN_US: Final = 100
DRAIN_S: Final = 10.0
LINGER_S: Final = 0.5
PEEK_MAX: Final = 1_000
LISTED_MAX: Final = 100_000  # messages of one queue that one answer may list
RESERVE_MAX: Final = 1_000
PAGE_BYTES_MAX: Final = 4 << 20  # of bodies
REDRIVE_MAX: Final = 1_000
IMPORT_MAX: Final = 1_000
IMPORT_BYTES_MAX: Final = 4 << 20  # of bodies, at once
ADMIN_REQUEST_MAX: Final = 8 << 20
ADMIN_LINE_MAX: Final = 3 * 65_535 + 1_024
WAIT_MAX_S: Final = 600
