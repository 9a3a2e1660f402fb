"""One queue: its messages that could be taken, in rank and by key, and its ledger. It changes only through State."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from penstock.engine.dedup import Dedup
from penstock.engine.ranked import Aged, Ranked
from penstock.engine.rules import Rules
from penstock.model.limits import NARROW_MAX
from penstock.model.message import Message
from penstock.model.policy import Policy

_NOTHING: Final = Ranked()  # what is wide in queues that never had such a message; nobody adds to it
_NO_KEYS: Final[dict[bytes, Message | Aged]] = {}  # the index of queues that need none; so here
_FEW: Final[i64] = 8  # so many ready messages are looked through for a key


class Queue:
    """Law: published = delayed + ready + parked + leased + finished + dropped + expired + deleted."""

    __slots__ = (
        "body_bytes",
        "by_foreign_id",
        "by_key",
        "changes",
        "created_us",
        "dedup",
        "delayed",
        "deleted",
        "delivered",
        "dialect",
        "dropped",
        "expired",
        "failed",
        "finished",
        "id",
        "keyed",
        "leased",
        "modified_us",
        "name",
        "parked",
        "paused",
        "policy",
        "published",
        "ready",
        "rules",
        "watched",
        "wide",
    )

    def __init__(self, id: i64, name: bytes, dialect: i64, policy: Policy, rules: Rules, now_us: i64) -> None:
        # What most operations touch stands together: of many queues, few are in the processor's cache.
        self.id: i64 = id
        self.rules: Rules = rules
        self.ready: Ranked = Ranked()
        self.wide: Ranked = _NOTHING  # ready too, but not for takers who need it narrow
        self.keyed: i64 = 0  # ready or parked, narrow, and with a key
        self.by_key: dict[bytes, Message | Aged] = _NO_KEYS  # the same, if there is an index; most keys have one
        self.paused: bool = False
        self.watched: bool = True  # somebody may wait for its messages: the engine's mark, not part of what is true
        self.changes: i64 = id << 32  # one more at every change, and never the same in another queue of this name
        self.body_bytes: i64 = 0
        self.published: i64 = 0
        self.delivered: i64 = 0
        self.finished: i64 = 0
        self.leased: i64 = 0
        self.name: bytes = name
        self.dialect: i64 = dialect
        self.policy: Policy = policy
        self.created_us: i64 = now_us
        self.modified_us: i64 = now_us
        self.by_foreign_id: dict[bytes, Message] = {}  # of the live ones that have one, the last of each
        self.dedup: Dedup | None = None  # none was ever said
        self.delayed: i64 = 0
        self.parked: i64 = 0
        self.dropped: i64 = 0
        self.expired: i64 = 0
        self.deleted: i64 = 0
        self.failed: i64 = 0

    def available(self) -> bool:
        """Something could be handed out now."""
        return not self.paused and (self.ready.count != 0 or self.wide.count != 0)

    def length(self) -> i64:
        return self.delayed + self.ready.count + self.wide.count + self.parked + self.leased

    def oldest(self) -> Message | None:
        """First in rank among what is ready."""
        if self.wide.count == 0:
            return self.ready.first()
        narrow = self.ready.first()
        wide = self.wide.first()
        if narrow is None or wide is None:
            return wide if narrow is None else narrow
        return narrow if self.ready.before(narrow, wide) else wide

    def newest(self) -> Message | None:
        """The last within the best priority, among what is ready and narrow."""
        return self.ready.newest()

    def put_in(self, message: Message) -> None:
        """The message is ready (or parked, then only its key leads to it)."""
        if len(message.body) > NARROW_MAX:
            if not message.parked:
                self._own_wide().add(message)
            return
        if not message.parked:
            self.ready.add(message)
        if message.key is not None:
            self.keyed += 1
            if self.by_key is not _NO_KEYS:
                self._index(message.key, message)
                return
        if self.keyed != 0 and self.by_key is _NO_KEYS and (message.parked or self.ready.count > _FEW):
            self._begin_index(message)

    def take_out(self, message: Message) -> None:
        if len(message.body) > NARROW_MAX:
            if not message.parked:
                self.wide.remove(message)
            return
        if not message.parked:
            self.ready.remove(message)
        if message.key is not None:
            self.keyed -= 1
            if self.by_key is not _NO_KEYS:
                self._unindex(message.key, message)

    def mate(self, key: bytes) -> Message | None:
        """The newest narrow message with this key that is ready or parked."""
        if self.keyed == 0:
            return None
        if self.by_key is _NO_KEYS:
            return self.ready.newest_of(key)
        found = self.by_key.get(key)
        if found is None or isinstance(found, Message):
            return found
        return found.last()

    def _own_wide(self) -> Ranked:
        if self.wide is _NOTHING:
            self.wide = Ranked()
        return self.wide

    # -- the index of keys. Law: where there is none, none is parked, and few are ready or none of them has a key.

    def _begin_index(self, newest: Message) -> None:
        """Of the many that may be ready without a key none is looked at."""
        self.by_key = {}
        if newest.key is not None and (self.keyed == 1 or newest.parked):
            self._index(newest.key, newest)
            if self.keyed == 1:
                return
        for message in self.ready:
            if message.key is not None:
                self._index(message.key, message)

    def _index(self, key: bytes, message: Message) -> None:
        found = self.by_key.setdefault(key, message)
        if found is message:
            return
        if isinstance(found, Message):
            pair = self.by_key[key] = Aged()
            pair.add(found)
            pair.add(message)
        else:
            found.add(message)

    def _unindex(self, key: bytes, message: Message) -> None:
        if self.keyed == 0 and self.ready.count <= _FEW:
            self.by_key = _NO_KEYS
            return
        found = self.by_key[key]
        if isinstance(found, Message):
            del self.by_key[key]
            return
        found.remove(message)
        if found.count == 1:
            last = found.last()
            assert last is not None
            self.by_key[key] = last
