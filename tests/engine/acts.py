"""What may happen in a World, with every argument left to chance: a dice for long runs, hypothesis for short ones.

Values come from small sets, so that times coincide, keys meet and queues fill; the plainest value stands first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from penstock.model import stages
from penstock.model.contract import CLEAR, DELETE, EXTEND, FINISH, MOVE, PUBLISH, RELEASE, REMOVE, Call
from penstock.model.limits import BODY_MAX, DELAY_MAX_US, KEY_MAX, NARROW_MAX, NEVER_US, PRIORITY_MAX, QUEUE_NAME_MAX
from penstock.model.message import LEASED, READY, Origin
from penstock.model.options import ANY_LIVE, HOLDER_ONLY, LEASED_ONLY, WAITING_ONLY, Publishing, Reserving, Taking
from penstock.model.policy import POLICY_FIELDS, Policy
from penstock.model.views import Rank
from tests.engine.clients import Client
from tests.engine.spec.truth import Message
from tests.engine.world import Configuration, World

T = TypeVar("T")

S = 1_000_000
QUEUES = (b"a", b"a", b"a", b"a.b", b"z", b"")
KEYS = (None, b"k", b"k", b"l", b"")
PRIORITIES = (0, 0, 0, 1, 5, -3)
BODIES = (b"", b"body", b"another body")
WIDE = bytes(NARROW_MAX + 1)
DELAYS = (-1, -1, 0, 1, S, 2 * S, 5 * S)
LEASES = (-1, -1, 0, 1, S, 2 * S, 5 * S, 20 * S, NEVER_US)
TTLS = (-1, -1, -1, -1, -1, -1, 0, 1, S, 2 * S, 5 * S, 20 * S)
WAITS = (0, 0, 1, S, 2 * S, 5 * S, 20 * S, NEVER_US)
JUMPS = (0, 1, 1000, S // 2, S, S, 2 * S, 2 * S, 5 * S, 20 * S, 20 * S, 90_000 * S)
HOLDERS = (0, 100, 101)
FOREIGN_IDS = (b"", b"", b"theirs", b"another")
DUES = (-20 * S, -1, 0, 0, 1, S, 5 * S)
DEDUP_IDS = (b"", b"", b"once", b"twice")
MARKS = ((b"", 0), (b"", 0), (b"m", 1), (b"m", 2), (b"m", 3), (b"m", 7), (b"n", 1), (b"n", 1 << 40))
PASTS = ((0, 0), (0, 0), (3, 0), (1, 1_600_000_000 * S))
STAGES = (stages.READY, stages.WRITE, stages.SYNC)
RULES = (ANY_LIVE, LEASED_ONLY, HOLDER_ONLY, WAITING_ONLY)

# Configurations: patterns, and defaults of the dialects 1 to 3.
CONFIGURATIONS: tuple[Configuration, ...] = (
    ((), {}),
    (
        (
            (b"a*", Policy(lease_us=2 * S, max_length=12)),
            (b"a.b", Policy(attempts=2, dead_letter=b"z", max_bytes=40)),
            (b"*", Policy(lease_us=5 * S, dedup_us=2 * S)),
        ),
        {1: Policy(lease_us=S, backoff_us=(0, S)), 2: Policy(delay_us=S, dedup_us=5 * S)},
    ),
    (
        ((b"a.b", Policy(max_length=2)), (b"a*", Policy(attempts=1, dead_letter=b"z")), (b"", Policy(max_length=1))),
        {1: Policy(ttl_us=5 * S, lease_us=2 * S), 3: Policy(backoff_us=(2 * S, 0), attempts=3)},
    ),
)

# a change of policy, as fields
CHANGES: tuple[dict[str, object], ...] = (
    {},
    {"lease_us": 0},
    {"lease_us": S},
    {"delay_us": 0},
    {"delay_us": 2 * S},
    {"ttl_us": 0},
    {"ttl_us": 5 * S},
    {"attempts": 0},
    {"attempts": 1},
    {"attempts": 2, "dead_letter": b"z"},
    {"attempts": 3, "dead_letter": b"a.b"},
    {"dead_letter": b""},
    {"dead_letter": b"new", "attempts": 1},
    {"max_length": 3},
    {"max_length": 0},
    {"max_bytes": 30},
    {"max_bytes": 0},
    {"max_body": 5},
    {"max_body": 0},
    {"dedup_us": 0},
    {"dedup_us": S},
    {"dedup_us": 20 * S},
    {"backoff_us": ()},
    {"backoff_us": (S,)},
    {"backoff_us": (0, S, 5 * S)},
    {"lease_us": -1},
    {"backoff_us": (-1,)},
    {"dead_letter": bytes(QUEUE_NAME_MAX + 1)},
)


class Chance(Protocol):
    def choice(self, options: Sequence[T], /) -> T: ...


class Acts:
    def __init__(self, world: World, chance: Chance) -> None:
        self.world = world
        self.chance = chance
        self.labels = 0

    # -- choices

    def _pick(self, options: Sequence[T]) -> T:
        return self.chance.choice(options)

    def _rarely(self) -> bool:
        return self._pick(range(12)) == 11

    def _client(self) -> Client:
        return self._pick(self.world.clients)

    def _queue(self, place: int) -> bytes:
        """A queue; one with messages in that place, rather, if there is one."""
        with_some = sorted({message.queue for message in self.world.model.truth.messages if message.place == place})
        return self._pick(with_some if with_some and not self._rarely() else QUEUES)

    def _message(self) -> Message | None:
        """A live one; a leased one, rather, if there is one."""
        live = self.world.model.truth.messages
        leased = [message for message in live if message.place == LEASED]
        among = leased if leased and not self._rarely() else live
        return self._pick(among) if among else None

    def _target(self) -> tuple[bytes, int]:
        """A queue and a number that usually belong together."""
        message = self._message()
        number = message.order if message else 0
        if self._rarely() and self.world.given:
            number = self._pick(sorted(self.world.given)[-50:])
        if message is None or self._rarely():
            return self._pick(QUEUES), number
        return message.queue, number

    def _holder(self, number: int) -> int:
        for message in self.world.model.truth.messages:
            if message.order == number and not self._rarely():
                return message.holder
        return self._pick(HOLDERS)

    def _origin(self) -> Origin | None:
        """Labels are given out once; an even one asks for every notice."""
        if self._pick(range(3)) == 0:
            return None
        origin = Origin()
        origin.dedup_id = self._pick(DEDUP_IDS)
        origin.deliveries, origin.first_leased_us = self._pick(PASTS) if not self._rarely() else (-1, 0)
        origin.mark, origin.row = self._pick(MARKS) if not self._rarely() else self._pick(((b"m", 0), (b"", 1)))
        if self._pick((False, True)):
            self.labels += 1
            origin.poster = self._client().client_id
            origin.label = self.labels
            origin.notify = 127 if origin.label % 2 == 0 else self._pick((1, 16, 17, 3, 6, 96))
            origin.trace = self._pick((b"", b"trace"))
            origin.principal = self._pick((b"", b"who"))
        return origin

    def _publishing(self) -> Publishing:
        return Publishing(
            ttl_us=self._pick(TTLS),
            lease_us=self._pick(LEASES[:-1]),
            priority=self._pick(PRIORITIES) if not self._rarely() else self._pick((PRIORITY_MAX, PRIORITY_MAX + 1)),
            parked=self._pick(range(5)) == 4,
            key=self._pick(KEYS) if self._pick(range(40)) != 39 else bytes(KEY_MAX + 1),
            create=self._pick(range(6)) != 5,
            origin=self._origin(),
        )

    def _body(self) -> bytes:
        return self._pick(BODIES) if self._pick(range(40)) != 39 else self._pick((WIDE, WIDE, bytes(BODY_MAX + 1)))

    def _policy(self) -> Policy:
        said = {**self._pick(CHANGES), **self._pick(CHANGES)}
        return Policy(**said)  # type: ignore[arg-type]

    # -- verbs

    def publish(self) -> None:
        delay_us = self._pick(DELAYS) if self._pick(range(40)) != 39 else DELAY_MAX_US + 1
        name = self._pick(QUEUES)
        options = self._publishing()
        self.world.do("publish", self._client(), name, self._body(), delay_us, options, self._pick(STAGES))

    def reserve(self) -> None:
        options = Reserving(
            lease_us=self._pick(LEASES),
            holder=self._pick(HOLDERS),
            old_place=self._pick((False, True)),
            wait_us=self._pick(WAITS),
            max=self._pick((0, 0, 1, 2, 5)),
            unsaid_us=self._pick((NEVER_US, S)),
        )
        self.world.do("reserve", self._client(), self._queue(READY), options, self._pick(STAGES))

    def take(self) -> None:
        options = Taking(newest=self._pick((False, True)), mates=self._pick((False, True)), wait_us=self._pick(WAITS))
        self.world.do("take", self._client(), self._queue(READY), options, self._pick(STAGES))

    def finish(self) -> None:
        name, number = self._target()
        holder = self._holder(number)
        self.world.do("finish", self._client(), name, number, self._pick(RULES), holder, self._pick(STAGES))

    def release(self) -> None:
        name, number = self._target()
        holder, delay_us, failed = self._holder(number), self._pick(DELAYS), self._pick((False, True))
        rule, stage = self._pick(RULES), self._pick(STAGES)
        self.world.do("release", self._client(), name, number, delay_us, failed, rule, holder, stage)

    def extend(self) -> None:
        name, number = self._target()
        holder, lease_us, rule = self._holder(number), self._pick(LEASES), self._pick(RULES)
        self.world.do("extend", self._client(), name, number, lease_us, rule, holder, self._pick(STAGES))

    def delete(self) -> None:
        name, number = self._target()
        self.world.do("delete", self._client(), name, number, self._pick(STAGES))

    def batch(self) -> None:
        name = self._pick(QUEUES)
        calls = [self._call(name) for _ in range(self._pick((0, 1, 2, 2, 3, 5)))]
        self.world.do("batch", self._client(), calls, self._pick(STAGES))

    def _call(self, name: bytes) -> Call:
        verb = self._pick((PUBLISH, PUBLISH, PUBLISH, FINISH, RELEASE, EXTEND, MOVE, DELETE, CLEAR, REMOVE))
        if verb in (CLEAR, REMOVE) and not self._rarely():
            verb = MOVE
        if verb == PUBLISH:
            call = Call(verb, name if not self._rarely() else self._pick(QUEUES))
            call.body, call.delay_us, call.options = self._body(), self._pick(DELAYS), self._publishing()
            call.foreign_id = self._pick(FOREIGN_IDS)
            if call.foreign_id:
                self._sent(call, call.options)
            return call
        name, number = self._target()
        call = Call(verb, name)
        call.seq, call.rule, call.holder = number, self._pick(RULES), self._holder(number)
        call.delay_us, call.failed = self._pick(DELAYS), self._pick((False, True))
        call.needed = self._pick((False, False, True)) and verb not in (CLEAR, REMOVE)
        call.due_us = self.world.model.now_us + self._pick(DUES)
        if self._pick((False, True)):
            call.seq, call.foreign_id = 0, self._pick(FOREIGN_IDS)
        return call

    def _sent(self, call: Call, options: Publishing) -> None:
        """As a client does that chooses ids and due times."""
        options.origin = options.origin or Origin()
        options.origin.foreign_id = call.foreign_id
        options.parked = False
        call.due_us = self.world.model.now_us + self._pick(DUES)

    # -- waiting

    def subscribe(self) -> None:
        self.world.do_at_once("subscribe", self._client(), self._pick(QUEUES))

    def unsubscribe(self) -> None:
        self.world.do_at_once("unsubscribe", self._client(), self._pick(QUEUES))

    def credit(self) -> None:
        self.world.do_at_once("credit", self._client(), self._pick(STAGES))

    def wait(self) -> None:
        self.world.do("wait", self._client(), self._pick(QUEUES))

    def cancel(self) -> None:
        self.world.do_at_once("cancel", self._client())

    # -- queues

    def declare(self) -> None:
        self.world.do("declare", self._client(), self._pick(QUEUES), self._policy(), self._pick(STAGES))

    def set(self) -> None:
        unsaid = (self._pick((*POLICY_FIELDS, "nothing")),) if self._pick((False, False, True)) else ()
        self.world.do("set", self._client(), self._pick(QUEUES), self._policy(), self._pick(STAGES), unsaid)

    def remove(self) -> None:
        self._whole_queue("remove")

    def purge(self) -> None:
        self._whole_queue("purge")

    def pause(self) -> None:
        self._whole_queue("pause")

    def resume(self) -> None:
        paused = [name for name, queue in self.world.model.truth.queues.items() if queue.paused]
        self.world.do("resume", self._client(), self._pick(paused or QUEUES), self._pick(STAGES))

    def _whole_queue(self, verb: str) -> None:
        self.world.do(verb, self._client(), self._pick(QUEUES), self._pick(STAGES))

    def look(self) -> None:
        client, name = self._client(), self._pick(QUEUES)
        verb, *arguments = self._pick(
            (
                ("stats",),
                ("list_queues",),
                ("show_queue", name),
                ("peek", name, 3),
                ("peek", name, 3, self._rank()),
                ("show_message", self._target()[1]),
            )
        )
        self.world.do(str(verb), client, *arguments)

    def _rank(self) -> Rank:
        """Of a live message, or of none."""
        live = self.world.model.truth.messages
        if not live or self._rarely():
            return Rank(self._pick(PRIORITIES), self.world.model.now_us, self._pick((0, 1 << 50)))
        message = self._pick(live)
        return Rank(message.priority, message.ready_us, message.order)

    # -- time

    def time_passes(self) -> None:
        """By a little, by much; to the very moment of the next due time, and to the moment before it."""
        now_us, due_us = self.world.model.now_us, self.world.model.next_due()
        wanted_us = now_us + self._pick(JUMPS)
        if due_us < NEVER_US:
            wanted_us = self._pick((wanted_us, due_us, due_us, due_us - 1))
        self.world.tick(max(wanted_us, now_us))

    def process_stands_still(self) -> None:
        self.world.tick(self.world.model.now_us + self._pick(JUMPS), woken=True)

    def crash(self) -> None:
        """The wall clock may have stepped either way meanwhile."""
        step_us = self._pick((0, S, 20 * S, 90_000 * S, -20 * S))
        self.world.crash(self._pick(self.world.crashes), self.world.model.now_us + step_us)


# How often each happens in a long run.
WEIGHTS = {
    "publish": 40,
    "reserve": 25,
    "take": 14,
    "finish": 9,
    "release": 10,
    "extend": 8,
    "delete": 2,
    "batch": 6,
    "subscribe": 3,
    "unsubscribe": 1,
    "credit": 5,
    "wait": 7,
    "cancel": 1,
    "declare": 2,
    "set": 5,
    "remove": 0.5,
    "purge": 0.5,
    "pause": 2,
    "resume": 3,
    "look": 4,
    "time_passes": 28,
    "process_stands_still": 2,
    "crash": 2,
}
# Each run has a mood: what happens more often in it than otherwise.
MOODS: tuple[dict[str, float], ...] = (
    {},
    {"take": 30, "credit": 15, "subscribe": 10, "reserve": 5},
    {"reserve": 40, "extend": 20, "release": 20, "process_stands_still": 6, "crash": 6},
    {"wait": 20, "reserve": 30, "pause": 6, "resume": 6, "remove": 2},
    {"batch": 40, "set": 12, "remove": 6, "purge": 2},
)
