"""Laws whose words are put together only once they are broken: they are asked thousands of times a life."""

from __future__ import annotations

from tests.engine.audit import Broken

__all__ = ["Broken", "law"]


def law(number: int, holds: bool, *what: object) -> None:
    if not holds:
        raise Broken(number, " ".join([one if isinstance(one, str) else repr(one) for one in what]))
