"""The journal's codes as SQL: numbers for conditions, and words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.dialects.table import NAMES as DIALECT_NAMES
from penstock.model import facts
from penstock.model.facts import FACT_NAMES, REASON_NAMES

_LAST_BIT: Final = 62  # of a bigint, below its sign


def _among(*codes: int) -> str:
    return f"fact_code IN ({', '.join(str(int(code)) for code in codes)})"


# What a fact is, as a condition on a row of facts.
PUBLISHED: Final = _among(facts.PUBLISHED)
RELEASED: Final = _among(facts.RELEASED)
EXTENDED: Final = _among(facts.EXTENDED)
LEASED: Final = _among(facts.LEASED)
TAKEN: Final = f"({_among(facts.FINISHED)} AND reason_code = {int(facts.TAKEN)})"
DELIVERED: Final = f"({LEASED} OR {TAKEN})"
ENDED: Final = _among(facts.FINISHED, facts.DROPPED, facts.EXPIRED, facts.DELETED)
OF_MESSAGE: Final = f"fact_code BETWEEN {int(facts.PUBLISHED)} AND {int(facts.DELETED)}"
OF_QUEUE: Final = f"fact_code BETWEEN {int(facts.DECLARED)} AND {int(facts.DELETED)}"
WAITS_ANEW: Final = f"({PUBLISHED} OR ({EXTENDED} AND due_at_us IS NOT NULL))"
MOVES_LEASE: Final = f"({LEASED} OR ({EXTENDED} AND due_at_us IS NULL))"

# What is counted of a queue, and which facts count.
COUNTS: Final = {
    "published": PUBLISHED,
    "delivered": DELIVERED,
    "finished": _among(facts.FINISHED),
    "retried": RELEASED,
    "failed": "failure",
    "dropped": _among(facts.DROPPED),
    "expired": _among(facts.EXPIRED),
    "deleted": _among(facts.DELETED),
}
ENDS: Final = ("finished", "dropped", "expired", "deleted")


def counts(number: str) -> str:
    """One sum for each; `number`: of facts in a row."""
    return ", ".join(f"sum(if({on}, {number}, 0L)) AS {name}" for name, on in COUNTS.items())


def word(column: str, names: Mapping[int, str]) -> str:
    """What a code is called; a code without a word, as it is."""
    known = ", ".join(f"{int(code)}, '{name}'" for code, name in names.items())
    return f"coalesce(element_at(map({known}), int({column})), string({column}))"


def fact_word(column: str) -> str:
    return word(column, FACT_NAMES)


def reason_word(column: str) -> str:
    return word(column, REASON_NAMES)


def dialect_word(column: str) -> str:
    return word(column, DIALECT_NAMES)


def dialect_bit(code: str) -> str:
    """Dialects as a set: one bit each. People (`admin`, by far the highest code) have the last one."""
    return f"shiftleft(1L, int(least({code}, {_LAST_BIT})))"


def dialect_words(mask: str) -> str:
    known = sorted(DIALECT_NAMES.items())
    each = ", ".join(f"if({mask} & {dialect_bit(str(code))} != 0, '{name}', NULL)" for code, name in known)
    return f"array_compact(array({each}))"
