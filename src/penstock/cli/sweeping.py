"""Going through many dead letters: counted beforehand, or worked off chunk by chunk, at a pace, until done or stopped.

Each letter is done or not, never half: a sweep that was stopped is simply begun again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from penstock.cli.output import counted, size_cell
from penstock.cli.program import FAILED, INTERRUPTED, Failure
from penstock.cli.progress import progress
from penstock.cli.rates import Pace
from penstock.cli.sieving import Letter, Letters
from penstock.server import exits

SAMPLE: Final = 5
TIMEOUT_S: Final = 60.0
# What the server says of a letter that somebody else has taken, and of a queue that takes no more.
GONE: Final = "no_message"
FULL: Final = "full"


class Tally:
    """What was, or would be, done. `to` names the queue a letter goes to, if there is one."""

    def __init__(self, to: Callable[[Letter], str | None]) -> None:
        self.messages = 0
        self.bytes = 0
        self.targets: Counter[str | None] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()  # by the server's code and words
        self.gone = 0
        self.interrupted = False
        self.sample: list[dict[str, Any]] = []
        self._to = to

    def add(self, letter: Letter) -> None:
        self.messages += 1
        self.bytes += len(letter.body)
        self.targets[self._to(letter)] += 1

    def note(self, letter: Letter, result: Mapping[str, Any]) -> None:
        """What the server made of it."""
        if "error" not in result:
            self.add(letter)
        elif result["error"] == GONE:
            self.gone += 1
        else:
            target = self._to(letter)
            words = result["message"] if target is None else f"{target}: {result['message']}"
            self.refused[result["error"], words] += 1

    def seen(self) -> int:
        return self.messages + self.gone + self.refused.total()

    def full(self) -> bool:
        return any(code == FULL for code, _ in self.refused)

    def exit_code(self) -> int:
        if self.interrupted:
            return INTERRUPTED
        return FAILED if self.refused else exits.CLEAN

    def words(self) -> str:
        """142 messages, 38 KiB."""
        return f"{counted(self.messages, 'message')}, {size_cell(self.bytes)}"


def surveyed(letters: Iterable[Letter], to: Callable[[Letter], str | None]) -> Tally:
    """What a sweep would do now."""
    tally = Tally(to)
    for letter in letters:
        tally.add(letter)
        if len(tally.sample) < SAMPLE:
            tally.sample.append(letter.shape)
    return tally


def swept(
    letters: Letters, verb: str, form: Mapping[str, object], pace: Pace, to: Callable[[Letter], str | None]
) -> Tally:
    """Ends early where a queue is full, or at Ctrl-C."""
    tally = Tally(to)
    try:
        with progress(letters.name) as tell:
            for chunk in _chunks(letters, pace.chunk):
                tell(tally.seen() + 1, letters.most())
                pace.wait(len(chunk))
                _ask(letters, verb, form, chunk, tally)
                if tally.full():
                    break
    except KeyboardInterrupt:
        tally.interrupted = True
    except Failure as failure:
        done = f"Before that, {tally.words()} were done; begin again for the rest."
        raise Failure(failure.message, f"{failure.advice}\n{done}".lstrip()) from None
    return tally


def _ask(letters: Letters, verb: str, form: Mapping[str, object], chunk: list[Letter], tally: Tally) -> None:
    said = {"ids": [letter.id for letter in chunk], **form}
    answer = letters.remote.post(f"{letters.path}/{verb}", said, TIMEOUT_S)
    for letter, result in zip(chunk, answer["messages"], strict=True):
        tally.note(letter, result)


def _chunks(letters: Iterable[Letter], size: int) -> Iterator[list[Letter]]:
    rest = iter(letters)
    while chunk := list(islice(rest, size)):
        yield chunk
