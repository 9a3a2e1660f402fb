"""Which policy holds: precedence field by field, what the fields mean, and which values are acceptable."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.engine.rules import PolicyBook, Rules, acceptable, merged, without
from penstock.model.limits import BODY_MAX, NEVER_US, QUEUE_NAME_MAX
from penstock.model.policy import INTEGER_FIELDS, POLICY_FIELDS, Past, Policy
from penstock.model.views import DEFAULT, MATCHED, SAID
from tests.engine.clients import plain_policy
from tests.engine.desk import Desk, S


def effective(book: PolicyBook, name: bytes, said: Policy | None = None, dialect: int = 1) -> dict[str, object]:
    return plain_policy(book.effective(name, said or Policy(), dialect))


def test_the_queue_goes_before_the_exact_name_before_the_longer_prefix_before_the_shorter_before_the_dialect() -> None:
    patterns = [
        (b"*", Policy(lease_us=3, delay_us=3, ttl_us=3, attempts=3, max_length=3)),
        (b"orders.*", Policy(lease_us=2, delay_us=2, ttl_us=2, attempts=2)),
        (b"orders.new", Policy(lease_us=1, delay_us=1, ttl_us=1)),
    ]
    book = PolicyBook(patterns, {1: Policy(max_bytes=4, max_length=4)})
    assert effective(book, b"orders.new", Policy(lease_us=0, delay_us=0)) == {
        "lease_us": 0,
        "delay_us": 0,
        "ttl_us": 1,
        "attempts": 2,
        "max_length": 3,
        "max_bytes": 4,
    }


def test_patterns_count_by_length_and_not_by_their_place_in_the_file() -> None:
    patterns = [(b"a*", Policy(lease_us=1)), (b"a.b.c*", Policy(lease_us=3)), (b"a.b*", Policy(lease_us=2))]
    for shuffled in (patterns, patterns[::-1]):
        assert effective(PolicyBook(shuffled), b"a.b.c") == {"lease_us": 3}
        assert effective(PolicyBook(shuffled), b"a.b") == {"lease_us": 2}
        assert effective(PolicyBook(shuffled), b"a") == {"lease_us": 1}
        assert effective(PolicyBook(shuffled), b"b") == {}


def test_a_name_without_a_star_is_no_prefix() -> None:
    assert effective(PolicyBook([(b"a", Policy(lease_us=1))]), b"ab") == {}


def test_the_defaults_are_those_of_the_dialect_that_made_the_queue() -> None:
    book = PolicyBook((), {1: Policy(lease_us=1), 2: Policy(lease_us=2)})
    assert [effective(book, b"q", dialect=dialect) for dialect in (1, 2, 3)] == [{"lease_us": 1}, {"lease_us": 2}, {}]


@pytest.mark.parametrize("field", POLICY_FIELDS)
def test_every_field_has_its_own_precedence(field: str) -> None:
    configured: dict[str, Any] = {field: {"dead_letter": b"dead", "backoff_us": (1,)}.get(field, 1)}
    said: dict[str, Any] = {field: {"dead_letter": b"", "backoff_us": ()}.get(field, 0)}
    book = PolicyBook([(b"*", Policy(**configured))])
    assert effective(book, b"q") == configured
    assert effective(book, b"q", Policy(**said)) == said


def test_each_field_that_holds_tells_its_source() -> None:
    patterns = [(b"a*", Policy(lease_us=1, ttl_us=1, attempts=1)), (b"ab", Policy(lease_us=2, ttl_us=2))]
    book = PolicyBook(patterns, {1: Policy(lease_us=3, max_body=3)})
    assert book.sources(b"ab", Policy(lease_us=0), 1) == {
        "lease_us": (SAID, b""),
        "ttl_us": (MATCHED, b"ab"),
        "attempts": (MATCHED, b"a*"),
        "max_body": (DEFAULT, b""),
    }


def test_what_is_unsaid_is_gone_and_the_rest_stays() -> None:
    policy = Policy(lease_us=1, ttl_us=2, dead_letter=b"dead")
    assert plain_policy(without(policy, ("lease_us", "attempts"))) == {"ttl_us": 2, "dead_letter": b"dead"}
    assert policy.lease_us == 1


def test_merging_takes_the_first_that_says_it() -> None:
    layers = [Policy(lease_us=1), Policy(lease_us=2, ttl_us=2), Policy(attempts=3)]
    assert plain_policy(merged(layers)) == {"lease_us": 1, "ttl_us": 2, "attempts": 3}


def test_unsaid_and_zero_mean_no_limit() -> None:
    for policy in (Policy(), Policy(ttl_us=0, attempts=0, max_length=0, max_bytes=0, max_body=0)):
        rules = Rules(policy)
        assert (rules.ttl_us, rules.attempts, rules.max_length, rules.max_bytes) == (0, 0, 0, 0)
        assert rules.max_body == BODY_MAX


def test_a_lease_of_zero_never_ends_and_an_unsaid_one_is_left_to_whoever_reserves() -> None:
    assert Rules(Policy(lease_us=0)).lease_us == NEVER_US
    assert Rules(Policy()).lease_us == -1


def test_no_policy_lifts_the_servers_limit_for_a_body() -> None:
    assert Rules(Policy(max_body=1 << 31)).max_body == BODY_MAX


def test_back_off_goes_step_by_step_and_the_last_step_repeats() -> None:
    rules = Rules(Policy(backoff_us=(1, 5, 25)))
    assert [rules.backoff_after(failures) for failures in (1, 2, 3, 4, 100)] == [1, 5, 25, 25, 25]
    assert Rules(Policy()).backoff_after(3) == 0


def test_queues_of_a_dialect_share_rules_that_are_the_same() -> None:
    book = PolicyBook([(b"slow.*", Policy(lease_us=9))], {1: Policy(attempts=3)})
    shared = book.rules(b"a", Policy(), 1)
    assert book.rules(b"b", Policy(attempts=3), 1) is shared
    assert (book.rules(b"slow.a", Policy(), 1).lease_us, book.rules(b"c", Policy(), 2).attempts) == (9, 0)


@pytest.mark.parametrize(
    "said", [{field: 7} for field in INTEGER_FIELDS] + [{"backoff_us": (7,)}, {"dead_letter": b"dead"}]
)
def test_rules_that_differ_in_anything_are_not_shared(said: dict[str, Any]) -> None:
    book = PolicyBook()
    plain, other = book.rules(b"a", Policy(), 1), book.rules(b"a", Policy(**said), 1)
    assert not plain.same_as(other)
    assert other is not plain


@pytest.mark.parametrize("field", list(INTEGER_FIELDS))
def test_numbers_have_to_be_within_their_range(field: str) -> None:
    _, smallest, largest = INTEGER_FIELDS[field]
    for value, fine in ((smallest, True), (largest, True), (smallest - 1, False), (largest + 1, False)):
        said: dict[str, Any] = {field: value}
        assert acceptable(b"q", Policy(**said)) is fine


def test_every_back_off_step_has_to_be_a_possible_delay() -> None:
    assert acceptable(b"q", Policy(backoff_us=(0, 1)))
    assert not acceptable(b"q", Policy(backoff_us=(0, -1)))


@pytest.mark.parametrize(
    ("name", "dead_letter", "fine"),
    [
        (b"q", b"dead", True),
        (b"q", b"q", False),
        (b"q", b"", True),
        (b"", b"", True),
        (b"q", bytes(QUEUE_NAME_MAX), True),
        (b"q", bytes(QUEUE_NAME_MAX + 1), False),
    ],
)
def test_the_dead_letter_queue_is_another_one_that_can_be_made(name: bytes, dead_letter: bytes, fine: bool) -> None:
    assert acceptable(name, Policy(dead_letter=dead_letter)) is fine


def test_another_book_holds_at_once_for_queues_that_are_there() -> None:
    desk = Desk(Policy(lease_us=S))
    desk.publish()
    desk.engine.rebook(PolicyBook([(b"q", Policy(lease_us=5 * S))]))
    number = desk.reserve()
    assert desk.message(number).until_us == desk.now_us() + 5 * S


def test_the_past_of_a_queue_stays_whatever_is_said_later() -> None:
    said = Policy(lease_us=1, past=Past(1, 2, 3, 4))
    assert merged([Policy(lease_us=2), without(said, ("lease_us",))]).past == Past(1, 2, 3, 4)
    assert PolicyBook().effective(b"q", said, 1).past == Past(1, 2, 3, 4)
