"""The `[[policy]]` tables of the configuration file: what may stand in one, and the Policy it makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from penstock.model.policy import INTEGER_FIELDS, Policy
from penstock.server.kinds import NAME, SECONDS_LIST, BadValue, Kind, seconds, whole
from penstock.server.problems import Problem, suggestion

MATCH: Final = "match"

Pattern = tuple[bytes, Policy]  # a name, or a prefix with a trailing *


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


def _read_policy(table: dict[str, object], place: str, patterns: dict[bytes, Policy], problems: list[Problem]) -> None:
    said = {key: value for key, value in table.items() if key != MATCH}
    policy = Policy()
    for key, value in said.items():
        if key in POLICY_KEYS:
            field, kind, _ = POLICY_KEYS[key]
            setattr(policy, field, _read(kind, value, f"{place}, {key}", problems))
        else:
            problems.append(Problem(f"{place}, {key}", f"no such key{suggestion(key, [MATCH, *POLICY_KEYS])}"))
    match = _read(NAME, table.get(MATCH, ""), f"{place}, {MATCH}", problems)
    if not match:
        problems.append(Problem(place, 'needs `match`, a queue name or a prefix with a trailing *, such as "orders*"'))
    elif match in patterns:
        problems.append(Problem(f"{place}, {MATCH}", "has a policy above already"))
    elif policy.dead_letter == match:
        problems.append(Problem(f"{place}, dead_letter", "a queue cannot be its own dead-letter queue"))
    else:
        patterns[match] = policy


def _read(kind: Kind[Any], value: object, place: str, problems: list[Problem]) -> Any:
    try:
        return kind.read(value)
    except BadValue as wrong:
        problems.append(Problem(place, str(wrong)))
        return None
