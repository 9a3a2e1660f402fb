"""The laws of facts alone, whatever clients were told: that each message is what its publisher wished, that lives go by
their policies, and that what a crash leaves is the beginning of what was decided.

It knows no engine: facts are read as they are decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from penstock.codecs.facts import Fact
from penstock.dialects import deferred, glovebox
from penstock.model import facts, stages
from penstock.model.limits import NEVER_US
from penstock.model.message import LEASED, Message
from penstock.model.policy import Policy
from tests.engine.audit import Audit
from tests.fields import fields
from tests.simulation.breaking import law
from tests.simulation.lives import Life, Lives, Standing
from tests.simulation.network import Link

DEFERRED, GLOVEBOX = int(deferred.NUMBER), int(glovebox.NUMBER)
_content = attrgetter(*fields(Fact))


@dataclass(eq=False, slots=True)
class Wish:
    """A message as its publisher wants it. Times in microseconds; `due_us` beats the delay, -1 leaves it unsaid."""

    queue: bytes
    body: bytes
    delay_us: int = -1
    due_us: int = -1
    ttl_us: int = -1
    lease_us: int = -1
    priority: int = 0
    key: bytes | None = None
    parked: bool = False
    dedup_id: bytes = b""
    link: Link | None = field(default=None, repr=False)  # it was last sent on, and where its bytes end there
    end: int = 0

    def sent(self, link: Link, end: int) -> None:
        """Of what is sent twice on one connection, the first counts."""
        if self.link is not link:
            self.link, self.end = link, end

    def arrived(self) -> bool:
        """The server was given all of it."""
        return self.link is not None and self.link.received >= self.end


class Judge:
    """`patterns` and `defaults` are the configuration that the server was started with."""

    def __init__(self, patterns: Sequence[tuple[bytes, Policy]], defaults: dict[int, Policy]) -> None:
        self._patterns = dict(patterns)
        self._defaults = defaults
        self.facts: list[Fact] = []
        self.lives = Lives()
        self.audit = Audit(set())
        self.promised = [0, 0, 0]  # by stage: the last fact that something was told at it for
        self._wishes: dict[tuple[bytes, bytes], Wish] = {}

    def wish(self, wish: Wish) -> None:
        """Somebody is about to publish it."""
        self._wishes[(wish.queue, wish.body)] = wish

    def decided(self, batch: list[Fact]) -> None:
        """One commit."""
        self.facts += batch
        self.audit.read(batch)
        for at, fact in enumerate(batch):
            life = self.lives.read(fact)
            if life is not None:
                self._judge(life, fact, batch[at + 1 :])

    def _judge(self, life: Life, fact: Fact, rest: list[Fact]) -> None:
        if fact.kind == facts.PUBLISHED:
            self._judge_published(life)
        elif fact.kind == facts.DROPPED:
            limit = self.rule(life.queue, "attempts")
            reached = limit != 0 and life.failures >= limit
            law(6, reached, life.fact.body, "is dropped after", life.failures, "failures")
            self._judge_dead(life, rest)
        elif fact.kind == facts.RELEASED:
            self._judge_released(life, fact)
        if fact.reason in (facts.ACKNOWLEDGED, facts.RETURNED, facts.FAILED) and fact.dialect in (DEFERRED, GLOVEBOX):
            self._judge_holder(life, fact)

    def _judge_holder(self, life: Life, fact: Fact) -> None:
        """In these dialects only what is leased can be ended, in one of them only by its holder."""
        holder = life.holder_before(int(fact.seq))
        law(7, holder >= 0, life.fact.body, "was ended by", fact.dialect, "and not leased")
        mine = fact.dialect == DEFERRED or fact.kind != facts.FINISHED or fact.holder == holder
        law(7, mine, life.fact.body, "was finished by", fact.holder, "and held by", holder)

    def _judge_released(self, life: Life, fact: Fact) -> None:
        failure, body = life.events[-1].failure, life.fact.body
        law(6, failure == (fact.reason != facts.RETURNED), body, "has failed, or not, by", fact.reason)
        limit = self.rule(life.queue, "attempts")
        law(6, not failure or limit == 0 or life.failures < limit, body, "is kept after", life.failures, "failures")
        if fact.reason == facts.TIMED_OUT:
            due_us = self._retry_at(life, int(fact.at_us))
            law(3, fact.due_us == due_us, body, "comes back at", fact.due_us, "instead of", due_us)

    def _retry_at(self, life: Life, now_us: int) -> int:
        """After the back-off of its policy; without one at the tail, or where it stood, as its taker chose."""
        backoff_us = self._said(life.queue, "backoff_us") or (0,)
        assert isinstance(backoff_us, tuple)
        wait_us: int = backoff_us[min(life.failures, len(backoff_us)) - 1]
        lease = life.lease_at(life.events[-1].number)
        dialect = next(event.dialect for event in life.events if event.number == lease)
        return life.due_at(lease - 1) if dialect == GLOVEBOX and wait_us == 0 else now_us + wait_us

    def _judge_published(self, life: Life) -> None:
        if life.dead_of:
            return
        wish = self._wishes.get((life.queue, life.fact.body))
        law(11, wish is not None, "nobody published", life.fact.body, "to", life.queue)
        assert wish is not None
        law(11, wish.arrived(), wish, "is published, and was cut off")
        twins = [twin for twin in self.lives.by_body[(life.queue, life.fact.body)] if twin is not life]
        window_us = self.rule(life.queue, "dedup_us")
        for twin in twins:
            law(11, bool(wish.dedup_id), wish.body, "is published twice")
            law(11, life.fact.at_us - twin.fact.at_us >= window_us, wish.body, "is published again in its window")
        self._compare(wish, life.fact)

    def _compare(self, wish: Wish, fact: Fact) -> None:
        delay_us = self.rule(wish.queue, "delay_us") if wish.delay_us < 0 else wish.delay_us
        ttl_us = self.rule(wish.queue, "ttl_us") if wish.ttl_us < 0 else wish.ttl_us
        expected = {
            "due_us": wish.due_us if wish.due_us >= 0 else fact.at_us + delay_us,
            "expires_us": fact.at_us + ttl_us if ttl_us else int(NEVER_US),
            "lease_us": wish.lease_us,
            "number": wish.priority,
            "key": wish.key,
        }
        for name, value in expected.items():
            law(3, getattr(fact, name) == value, wish, "has", name, getattr(fact, name), "instead of", value)
        law(3, bool(fact.flags & facts.PARKED_FLAG) == wish.parked, wish, "is parked, or not, against its wish")

    def _judge_dead(self, life: Life, rest: list[Fact]) -> None:
        """Where the policy names a dead-letter queue, the copy is in the same commit."""
        dead = self._said(life.queue, "dead_letter")
        copies = [fact for fact in rest if fact.kind == facts.PUBLISHED and fact.body == life.fact.body]
        wanted = bool(dead) and dead != life.queue
        law(6, bool(copies) == wanted, life.fact.body, "is dropped with", len(copies), "dead letters")

    def rule(self, queue: bytes, name: str) -> int:
        """What holds for a queue; 0 where nobody says it. Of a lease: -1."""
        value = self._said(queue, name)
        if value is None:
            return -1 if name == "lease_us" else 0
        assert isinstance(value, int)
        return value if value or name != "lease_us" else int(NEVER_US)

    def _said(self, queue: bytes, name: str) -> object:
        maker, said = self.lives.policies.get(queue, (0, Policy()))
        layers = (said, self._patterns.get(queue, Policy()), self._defaults.get(maker, Policy()))
        return next((found for layer in layers if (found := getattr(layer, name)) is not None), None)

    def agree(self, found: dict[int, Message]) -> None:
        """The state is what the facts make of it, whoever reads them: here nobody that has to do with the engine."""
        live = {seq: life for lives in self.lives.live.values() for seq, life in lives.items()}
        law(1, found.keys() == live.keys(), "there are", sorted(found), "and the facts have", sorted(live))
        for seq, life in live.items():
            message = found[seq]
            law(1, _standing(message) == life.standing(), "live", _standing(message), "by facts", life.standing(), life)

    # -- crashes

    def crashed(self, found: list[Fact], survived: int, without_power: bool) -> None:
        """`found`: facts that the disk still has, the last of them number `survived`."""
        promised = max(self.promised[stages.SYNC], 0 if without_power else self.promised[stages.WRITE])
        law(10, survived >= promised, survived, "facts are left,", promised, "were promised")
        law(10, survived <= len(self.facts), survived, "facts are left,", len(self.facts), "were ever decided")
        for fact in found:
            decided, kept = _content(self.facts[fact.seq - 1]), _content(fact)
            law(10, decided == kept, "fact", fact.seq, "was", decided, "and is", kept)
        del self.facts[survived:]
        self._read_again()
        self.promised = [survived] * 3

    def _read_again(self) -> None:
        """Lives as they are without what was lost."""
        self.lives = Lives()
        self.audit = Audit(self.audit.given)
        for fact in self.facts:
            self.lives.read(fact)
        self.audit.read(self.facts, again=True)


def _standing(message: Message) -> Standing:
    leased = message.place == LEASED
    at_us = message.until_us if leased else message.ready_us
    return Standing(leased, int(at_us), int(message.holder), int(message.deliveries), int(message.failures))
