"""What a listener gives to each of its sessions. One per listener; a session changes nothing in it but what it has
subscribed to."""

from __future__ import annotations

from collections.abc import Mapping

from mypy_extensions import i64, mypyc_attr

from penstock.codecs.clients import ClientIds
from penstock.codecs.ids import Ids
from penstock.dialects.subscriptions import Subscriptions
from penstock.model.contract import Broker


@mypyc_attr(allow_interpreted_subclasses=True)
class Context:
    """The broker, how durable an answer must be, the listener's options, and what it knows of itself."""

    def __init__(
        self, broker: Broker, ids: Ids, clients: ClientIds, confirm: i64, options: Mapping[str, object]
    ) -> None:
        self.broker: Broker = broker
        self.ids: Ids = ids
        self.clients: ClientIds = clients
        self.confirm: i64 = confirm
        self.options: Mapping[str, object] = options
        self.subscriptions: Subscriptions = Subscriptions()

    def connections(self) -> int:
        """Open connections of this listener."""
        raise NotImplementedError

    def resident_bytes(self) -> int:
        """Memory of the whole server."""
        raise NotImplementedError
