"""The data of an object of penstock's, whether its class is compiled (which has no `__slots__`) or not."""

from __future__ import annotations


def fields(of: object) -> tuple[str, ...]:
    """Names of the fields of a slotted class or of one of its objects, in alphabetical order."""
    kind = of if isinstance(of, type) else type(of)
    return tuple(name for name in dir(kind) if not name.startswith("_") and not callable(getattr(kind, name)))
