"""What may be said of queues, in the `[[policy]]` tables of the configuration file and in the admin API, and the Policy
it makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from penstock.model.policy import INTEGER_FIELDS, Policy
from penstock.server.kinds import NAME, SECONDS_LIST, BadValue, Kind, seconds, whole
from penstock.server.problems import Problem, suggestion

MATCH: Final = "match"
OWN_DEAD_LETTERS: Final = "a queue cannot be its own dead-letter queue"

Pattern = tuple[bytes, Policy]  # a name, or a prefix with a trailing *


class Said(NamedTuple):
    """A change of what is said of a queue."""

    policy: Policy
    unsaid: tuple[str, ...]  # names of fields


def _field_kinds() -> Iterator[tuple[str, tuple[str, Kind[Any], str]]]:
    for field, (about, smallest, largest) in INTEGER_FIELDS.items():
        if field.endswith("_us"):
            yield field.removesuffix("us") + "s", (field, seconds(largest), about)
        else:
            yield field, (field, whole(smallest, largest), about)
    yield "backoff_s", ("backoff_us", SECONDS_LIST, "pauses before the second, third … try; the last one repeats")
    yield "dead_letter", ("dead_letter", NAME, "the queue that gets a copy of what is dropped; empty: none")


# key in the file -> (field of Policy, kind, what it is)
POLICY_KEYS: Final[Mapping[str, tuple[str, Kind[Any], str]]] = dict(_field_kinds())


def read_policies(value: object, place: str, problems: list[Problem]) -> tuple[Pattern, ...]:
    """All tables that are right; what is wrong with the others is added to `problems`."""
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        problems.append(Problem(place, "must be tables, each beginning with [[policy]]"))
        return ()
    patterns: dict[bytes, Policy] = {}
    for at, table in enumerate(value, start=1):
        _read_policy(table, f"{place} {at}", patterns, problems)
    return tuple(patterns.items())


def read_said(said: Mapping[str, object], queue: bytes, problems: list[Problem]) -> Said:
    """What is said of one queue; a field that is null is unsaid."""
    fields = {key: value for key, value in said.items() if value is not None or key not in POLICY_KEYS}
    policy = _read_fields(fields, "", POLICY_KEYS, problems)
    if policy.dead_letter and policy.dead_letter == queue:
        problems.append(Problem("dead_letter", OWN_DEAD_LETTERS))
    return Said(policy, tuple([POLICY_KEYS[key][0] for key in said if key not in fields]))


def _read_policy(table: dict[str, object], place: str, patterns: dict[bytes, Policy], problems: list[Problem]) -> None:
    said = {key: value for key, value in table.items() if key != MATCH}
    policy = _read_fields(said, f"{place}, ", (MATCH, *POLICY_KEYS), problems)
    match = _read(NAME, table.get(MATCH, ""), f"{place}, {MATCH}", problems)
    if not match:
        problems.append(Problem(place, 'needs `match`, a queue name or a prefix with a trailing *, such as "orders*"'))
    elif match in patterns:
        problems.append(Problem(f"{place}, {MATCH}", "has a policy above already"))
    elif policy.dead_letter == match:
        problems.append(Problem(f"{place}, dead_letter", OWN_DEAD_LETTERS))
    else:
        patterns[match] = policy


def _read_fields(said: Mapping[str, object], place: str, known: Iterable[str], problems: list[Problem]) -> Policy:
    policy = Policy()
    for key, value in said.items():
        if key in POLICY_KEYS:
            field, kind, _ = POLICY_KEYS[key]
            setattr(policy, field, _read(kind, value, f"{place}{key}", problems))
        else:
            problems.append(Problem(f"{place}{key}", f"no such key{suggestion(key, known)}"))
    return policy


def _read(kind: Kind[Any], value: object, place: str, problems: list[Problem]) -> Any:
    try:
        return kind.read(value)
    except BadValue as wrong:
        problems.append(Problem(place, str(wrong)))
        return None
