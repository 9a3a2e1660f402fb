"""The names of queues by their number, as the facts of queues tell them. Numbers are never given twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from penstock.codecs import names
from penstock.model import facts


class QueueNames:
    """Told of each fact of a queue, in order. `known` keeps those that are gone, for their last facts."""

    def __init__(self, live: Mapping[int, bytes] | None = None) -> None:
        self.known: dict[int, bytes] = dict(live or {})
        self._gone: set[int] = set()

    def tell(self, kind: int, queue_id: int, name: bytes) -> None:
        if kind == facts.DECLARED:
            self.known[queue_id] = name
        elif kind == facts.REMOVED:
            self._gone.add(queue_id)

    def live(self) -> dict[int, bytes]:
        return {queue_id: name for queue_id, name in self.known.items() if queue_id not in self._gone}


def encode_queues(live: Mapping[int, bytes]) -> bytes:
    return msgspec.json.encode({str(queue_id): names.show(name) for queue_id, name in live.items()})


def decode_queues(data: bytes) -> dict[int, bytes]:
    """Raises msgspec.DecodeError."""
    return {queue_id: names.parse(name) for queue_id, name in msgspec.json.decode(data, type=dict[int, str]).items()}


def matches(name: bytes, patterns: Sequence[bytes]) -> bool:
    """A pattern is a name, or a prefix with a trailing `*`."""
    return any(name.startswith(match[:-1]) if match.endswith(b"*") else name == match for match in patterns)
