"""Which policy holds for a queue. Precedence, field by field: what was said of the queue, the config's patterns
(an exact name before a longer prefix before a shorter one), the defaults of the dialect that created it."""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import i64

from penstock.model.limits import BODY_MAX, NEVER_US, QUEUE_NAME_MAX
from penstock.model.policy import INTEGER_FIELDS, POLICY_FIELDS, Policy
from penstock.model.views import DEFAULT, MATCHED, SAID, Source


class Rules:
    """The effective policy of one queue, as plain numbers for the hot path."""

    __slots__ = (
        "attempts",
        "backoff_us",
        "dead_letter",
        "dedup_us",
        "delay_us",
        "lease_us",
        "max_body",
        "max_bytes",
        "max_length",
        "said_body",
        "ttl_us",
    )

    def __init__(self, policy: Policy) -> None:
        self.lease_us: i64 = -1 if policy.lease_us is None else policy.lease_us or NEVER_US
        self.delay_us: i64 = policy.delay_us or 0
        self.ttl_us: i64 = policy.ttl_us or 0
        self.attempts: i64 = policy.attempts or 0
        self.max_length: i64 = policy.max_length or 0
        self.max_bytes: i64 = policy.max_bytes or 0
        self.max_body: i64 = min(policy.max_body or BODY_MAX, BODY_MAX)
        self.said_body: i64 = -1 if policy.max_body is None else policy.max_body
        self.dedup_us: i64 = policy.dedup_us or 0
        self.backoff_us: tuple[int, ...] = policy.backoff_us or ()
        self.dead_letter: bytes = policy.dead_letter or b""

    def same_as(self, other: Rules) -> bool:
        return self._numbers() == other._numbers() and self.dead_letter == other.dead_letter

    def _numbers(self) -> tuple[int, ...]:
        sizes = (self.max_length, self.max_bytes, self.max_body, self.said_body)
        return (self.lease_us, self.delay_us, self.ttl_us, self.dedup_us, self.attempts, *sizes, *self.backoff_us)

    def backoff_after(self, failures: int) -> int:
        """The pause before the next try, after so many failures; the last step repeats."""
        if not self.backoff_us:
            return 0
        return self.backoff_us[min(failures, len(self.backoff_us)) - 1]


class PolicyBook:
    """The configured part: patterns by name, defaults by dialect."""

    def __init__(
        self, patterns: Sequence[tuple[bytes, Policy]] = (), defaults: dict[int, Policy] | None = None
    ) -> None:
        self._exact = [(match, policy) for match, policy in patterns if not match.endswith(b"*")]
        prefixes = [(match, policy) for match, policy in patterns if match.endswith(b"*")]
        self._prefixes = sorted(prefixes, key=lambda row: -len(row[0]))
        self._defaults = defaults or {}
        self._last_rules: dict[int, Rules] = {}

    def rules(self, name: bytes, said: Policy, dialect: int) -> Rules:
        """Queues of a dialect mostly have the same: then they share them, and they are in the processor's cache."""
        rules = Rules(self.effective(name, said, dialect))
        last = self._last_rules.get(dialect)
        if last is not None and last.same_as(rules):
            return last
        self._last_rules[dialect] = rules
        return rules

    def effective(self, name: bytes, said: Policy, dialect: int) -> Policy:
        return merged([policy for _, policy in self._layers(name, said, dialect)])

    def sources(self, name: bytes, said: Policy, dialect: int) -> dict[str, Source]:
        """Of each field that holds, who said it."""
        found: dict[str, Source] = {}
        for source, policy in self._layers(name, said, dialect):
            for field in POLICY_FIELDS:
                if field not in found and getattr(policy, field) is not None:
                    found[field] = source
        return found

    def _layers(self, name: bytes, said: Policy, dialect: int) -> list[tuple[Source, Policy]]:
        matching = [(match, policy) for match, policy in self._exact if match == name]
        matching += [(match, policy) for match, policy in self._prefixes if name.startswith(match[:-1])]
        layers = [(Source(SAID, b""), said)]
        layers += [(Source(MATCHED, match), policy) for match, policy in matching]
        if dialect in self._defaults:
            layers.append((Source(DEFAULT, b""), self._defaults[dialect]))
        return layers


def merged(layers: list[Policy]) -> Policy:
    """Field by field, the first layer that says it."""
    policy = Policy()
    for field in POLICY_FIELDS:
        for layer in layers:
            value = getattr(layer, field)
            if value is not None:
                setattr(policy, field, value)
                break
    for layer in layers:
        if layer.past is not None:
            policy.past = layer.past
            break
    return policy


def without(policy: Policy, fields: tuple[str, ...]) -> Policy:
    """The same, with these fields unsaid."""
    rest = merged([policy])
    for field in fields:
        setattr(rest, field, None)
    return rest


def acceptable(name: bytes, policy: Policy) -> bool:
    """Within range; the dead-letter queue can be made, and is another one."""
    for field, (_, smallest, largest) in INTEGER_FIELDS.items():
        value = getattr(policy, field)
        if value is not None and not smallest <= value <= largest:
            return False
    _, _, longest = INTEGER_FIELDS["delay_us"]
    if any(not 0 <= step <= longest for step in policy.backoff_us or ()):
        return False
    dead_letter = policy.dead_letter
    return not dead_letter or (dead_letter != name and len(dead_letter) <= QUEUE_NAME_MAX)
