"""Outcomes are codes inside and words at the edge: each dialect has its own words for these rows."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

OK: Final[i64] = 0
EMPTY: Final[i64] = 1
NO_QUEUE: Final[i64] = 2
NO_MESSAGE: Final[i64] = 3
FULL: Final[i64] = 4
QUEUE_EXISTS: Final[i64] = 5
DUPLICATE: Final[i64] = 6
TOO_LARGE: Final[i64] = 7
BAD_NAME: Final[i64] = 8
BAD_POLICY: Final[i64] = 9
BAD_OPTION: Final[i64] = 10
DENIED: Final[i64] = 11
CANCELLED: Final[i64] = 12
ALREADY: Final[i64] = 13
CHANGED: Final[i64] = 14

# code -> (name, sentence for people)
CODES: Final = {
    OK: ("ok", "done"),
    EMPTY: ("empty", "nothing is ready"),
    NO_QUEUE: ("no_queue", "no such queue"),
    NO_MESSAGE: ("no_message", "no such message, or not in a state that allows this"),
    FULL: ("full", "the queue has reached its limit"),
    QUEUE_EXISTS: ("queue_exists", "the queue exists already"),
    DUPLICATE: ("duplicate", "a message with this dedup id was published within the window"),
    TOO_LARGE: ("too_large", "the body or key is larger than allowed"),
    BAD_NAME: ("bad_name", "the queue name is too long"),
    BAD_POLICY: ("bad_policy", "the policy is not acceptable"),
    BAD_OPTION: ("bad_option", "an option is out of range"),
    DENIED: ("denied", "not permitted"),
    CANCELLED: ("cancelled", "the wait was cancelled"),
    ALREADY: ("already", "this row of its mark, or a later one, was published before"),
    CHANGED: ("changed", "the queue is not as it was"),
}
