"""Going through many dead letters: chunks, what stops a sweep, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from penstock.cli.program import FAILED, INTERRUPTED, Failure
from penstock.cli.rates import CHUNK, Pace
from penstock.cli.remote import Remote
from penstock.cli.sieving import Letter, Letters
from penstock.cli.sweeping import SAMPLE, Tally, surveyed, swept


class Server(Remote):
    """Answers as it is told, by the letter's number; an exception instead of an answer is raised."""

    def __init__(self, answers: Mapping[int, str | BaseException]) -> None:
        self.asked: list[list[str]] = []
        self._answers = answers

    def post(self, path: str, form: Mapping[str, Any], timeout_s: float = 0) -> Any:
        assert path == "/dead/redrive"
        self.asked.append(form["ids"])
        return {"messages": [self._result(message_id) for message_id in form["ids"]]}

    def _result(self, message_id: str) -> dict[str, object]:
        answer = self._answers.get(int(message_id))
        if isinstance(answer, BaseException):
            raise answer
        return {"id": message_id, **({"error": answer, "message": f"it is {answer}"} if answer else {})}


class Some(Letters):
    """So many letters, numbered, of two bytes each."""

    def __init__(self, count: int, answers: Mapping[int, str | BaseException]) -> None:
        self.remote = self.server = Server(answers)
        self.path = "/dead"
        self.name = "orders.dead"
        self._count = count

    def __iter__(self) -> Iterator[Letter]:
        for number in range(self._count):
            yield Letter({"id": str(number), "died_us": 0, "dead_from": "orders", "body": "xy"})

    def most(self) -> int:
        return self._count


def sweep(letters: Some, pace: Pace | None = None) -> Tally:
    return swept(letters, "redrive", {"to": None}, pace or Pace(None), lambda letter: letter.dead_from)


def test_they_are_asked_for_in_chunks_and_counted() -> None:
    letters = Some(2 * CHUNK + 1, {})
    tally = sweep(letters)
    assert [len(ids) for ids in letters.server.asked] == [CHUNK, CHUNK, 1]
    assert (tally.messages, tally.bytes, dict(tally.targets)) == (
        2 * CHUNK + 1,
        4 * CHUNK + 2,
        {"orders": 2 * CHUNK + 1},
    )
    assert (tally.exit_code(), tally.words()) == (0, "401 messages, 802 B")


def test_a_full_queue_ends_the_sweep_after_its_chunk() -> None:
    letters = Some(5, {1: "full"})
    tally = sweep(letters, Pace(20.0, now_s=lambda: 0.0, sleep=lambda seconds: None))
    assert letters.server.asked == [["0", "1"]]
    assert (tally.messages, dict(tally.refused)) == (1, {("full", "orders: it is full"): 1})
    assert tally.exit_code() == FAILED


def test_what_is_gone_is_counted_and_no_failure() -> None:
    tally = sweep(Some(3, {1: "no_message"}))
    assert (tally.messages, tally.gone, tally.exit_code()) == (2, 1, 0)


def test_any_other_refusal_stops_no_other_letter() -> None:
    tally = sweep(Some(3, {0: "no_queue", 1: "no_queue"}))
    assert (tally.messages, tally.refused.total(), tally.exit_code()) == (1, 2, FAILED)


def test_an_interruption_keeps_what_is_known_to_be_done() -> None:
    tally = sweep(Some(CHUNK + 5, {CHUNK + 1: KeyboardInterrupt()}))
    assert (tally.messages, tally.interrupted, tally.exit_code()) == (CHUNK, True, INTERRUPTED)


def test_a_server_that_is_gone_in_the_middle_leaves_word_of_what_was_done() -> None:
    with pytest.raises(Failure) as failed:
        sweep(Some(CHUNK + 5, {CHUNK: Failure("it went away.", "Look for it.")}))
    assert failed.value.message == "it went away."
    assert failed.value.advice == "Look for it.\nBefore that, 200 messages, 400 B were done; begin again for the rest."


def test_a_survey_counts_all_and_keeps_a_few() -> None:
    letters = Some(SAMPLE + 2, {})
    tally = surveyed(letters, lambda letter: None)
    assert (tally.messages, len(tally.sample), dict(tally.targets)) == (SAMPLE + 2, SAMPLE, {None: SAMPLE + 2})
    assert letters.server.asked == []
