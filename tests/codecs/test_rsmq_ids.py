"""RSMQ's ids: 32 characters that begin with the time; ours lead back to their number, and nobody else's do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.ids import Ids
from penstock.codecs.rsmq_ids import RsmqIds
from penstock.model.limits import SEQ_BITS
from penstock.model.message import Origin

IDS = RsmqIds(Ids(b"secret"))
NOW_US = 1_645_020_200_667_123

numbers = st.integers(1, (1 << SEQ_BITS) - 1)
times = st.integers(0, 36**10 - 1)


def origin(foreign_id: bytes) -> Origin:
    made = Origin()
    made.foreign_id = foreign_id
    return made


@given(numbers, times)
def test_an_id_that_was_made_leads_back_to_its_number(number: int, published_us: int) -> None:
    shown = IDS.made(number, published_us)
    assert len(shown) == 32
    assert shown.isalnum()
    assert int(shown[:10], 36) == published_us
    assert IDS.seq(shown) == number


@given(numbers, times, st.integers(0, 31), st.integers(0, 255))
def test_one_letter_changed_leads_nowhere(number: int, published_us: int, place: int, letter: int) -> None:
    shown = IDS.made(number, published_us)
    other = shown[:place] + bytes((letter,)) + shown[place + 1 :]
    assert other == shown or IDS.seq(other) == 0


@given(st.binary(max_size=40) | st.binary(min_size=32, max_size=32))
def test_any_bytes_lead_nowhere(shown: bytes) -> None:
    assert IDS.seq(shown) == 0


def test_ids_are_in_the_order_of_time() -> None:
    shown = [IDS.made(number, NOW_US + number) for number in range(1, 100)]
    assert shown == sorted(shown)


def test_another_store_knows_none_of_them() -> None:
    assert RsmqIds(Ids(b"another")).seq(IDS.made(7, NOW_US)) == 0


def test_ids_stay_what_they_are_from_version_to_version() -> None:
    assert IDS.made(1, NOW_US) == b"g73zuibbarJWJ7KTUURP9VtteAPNgZDv"


def test_an_id_that_a_client_chose_is_kept_as_it_is() -> None:
    chosen = b"g73zkl38qzSBNq2NcnVVlCldqwqFXRJd"
    assert IDS.of(1, NOW_US, origin(chosen), True) == chosen
    assert IDS.of(1, NOW_US, origin(chosen), False) == chosen
    assert IDS.of(1, NOW_US, origin(b"short"), True) == b"short"


def test_another_name_from_elsewhere_is_not_shown_for_one() -> None:
    made = IDS.made(1, NOW_US)
    for foreign_id in (b"", b"a name from elsewhere", b"x" * 31 + b"-"):
        assert IDS.of(1, NOW_US, origin(foreign_id), False) == made
    assert IDS.of(1, NOW_US, None, True) == made
