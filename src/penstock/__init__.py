"""penstock: one durable queue engine, five wire dialects, one history."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = [
    "Backoff",
    "BadRequest",
    "Client",
    "Denied",
    "Disconnected",
    "Draft",
    "Drop",
    "Full",
    "LeaseLost",
    "Message",
    "NoQueue",
    "PenstockError",
    "Published",
    "Retry",
    "Timeout",
    "Worker",
]

if TYPE_CHECKING:
    from penstock.client.exports import (
        Backoff,
        BadRequest,
        Client,
        Denied,
        Disconnected,
        Draft,
        Drop,
        Full,
        LeaseLost,
        Message,
        NoQueue,
        PenstockError,
        Published,
        Retry,
        Timeout,
        Worker,
    )
else:

    def __getattr__(name: str) -> object:
        """The client comes when it is asked for: `import penstock` alone costs nothing."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from penstock.client import exports

        return getattr(exports, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
