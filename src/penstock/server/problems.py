"""What is wrong with a configuration: every problem with its place, all told at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Problem:
    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.place}: {self.words}"


class ConfigError(Exception):
    """Why the server does not start; `problems` in the order they were found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def suggestion(key: str, known: Iterable[str], prefix: str = "") -> str:
    near = get_close_matches(key, list(known), n=1)
    return f"; did you mean `{prefix}{near[0]}`?" if near else ""
