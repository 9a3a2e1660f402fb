"""Random conversations in any dialect, right and wrong ones, compared with a model of it: answers, state, and that
neither depends on how the bytes were cut. Models and conversations are each dialect's own; here they are compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from random import Random
from typing import ClassVar, Protocol

from penstock.dialects.table import DIALECTS, Dialect
from penstock.engine.rules import PolicyBook
from penstock.engine.state import State
from penstock.model.limits import MILLISECOND_US
from penstock.server.context import dialect_options
from tests.broker.desks import START_US, Desk, EagerDesk, EngineDesk, LateDesk
from tests.dialects.runner import Connection, FakeContext, configured

Script = Sequence[bytes | int]  # what is sent, and between it the milliseconds that pass

EAGER = -1
MUTATED_SHARE = 0.4
PAUSES_MS = (0, 1, 20, 1_000)
INPUTS_PER_CHECK = 2  # the same script, cut in two ways

_BOOK = PolicyBook([], {row.number: row.defaults for row in DIALECTS})


class Model(Protocol):
    """One connection of the dialect as its page says it, in the plainest way; it shares no code with the session."""

    closed: bool

    def receive(self, data: bytes) -> None: ...
    def pass_time(self, ms: int) -> None: ...
    def agrees(self, heard: bytes) -> bool: ...
    def state(self) -> object: ...


class Rig:
    """One connection to an engine of its own. `late`: the seed of a broker that answers late, or EAGER."""

    dialect: ClassVar[str]

    def __init__(self, late: int = 0) -> None:
        row, options = _listener(self.dialect)
        engine_desk = EagerDesk(_BOOK) if late == EAGER else EngineDesk(_BOOK)
        self._engine = engine_desk.engine
        self.desk: Desk = LateDesk(engine_desk, late) if late > 0 else engine_desk
        context = FakeContext(self.desk, options)
        context.open = 1
        self.connection = Connection(row.make(context))
        self.ids = context.ids

    def receive(self, data: bytes) -> None:
        self.connection.session.received(data)
        self.desk.tick()
        self.connection.flush()

    def settle(self) -> bytes:
        """All that was heard so far."""
        self.desk.settle()
        while self.connection.flush():
            self.desk.settle()
        return self.connection.heard

    def pass_time(self, ms: int) -> None:
        self.desk.pass_time(ms * MILLISECOND_US)

    def state(self) -> object:
        """As the model tells it."""
        return self.told(self._engine.state())

    def told(self, state: State) -> object:
        raise NotImplementedError


@cache
def _listener(dialect: str) -> tuple[Dialect, dict[str, object]]:
    row = next(row for row in DIALECTS if row.name == dialect)
    return row, dialect_options(configured(dialect, {}), dialect)


def since_start_ms(at_us: int) -> int:
    return (at_us - START_US) // MILLISECOND_US


@dataclass(frozen=True)
class Fuzzer:
    """What a dialect brings. `sent`: some requests in one segment, of which every one may do something."""

    rig: Callable[[int], Rig]
    model: Callable[[], Model]
    sent: Callable[[Random], bytes]
    spice: Sequence[bytes]
    sessions: Sequence[bytes]  # in which every request does something, to be cut off anywhere
    exchange: tuple[bytes, bytes]  # a request, and the answer that it always gets, whatever others do
    opening: tuple[bytes, bytes] = (b"", b"")  # what a client says first, and is answered; a rig has done it
    greeting: int = 0  # how many bytes follow that answer, other ones each time

    def script(self, chance: Random) -> Script:
        script: list[bytes | int] = []
        for _ in range(chance.randint(1, 3)):
            sent = self.sent(chance)
            if chance.random() < MUTATED_SHARE:
                sent = mutated(sent, chance, self.spice)
            script += [sent, chance.choice(PAUSES_MS)]
        return script[:-1]


def fuzzer(dialect: str) -> Fuzzer:
    found = import_module(f"tests.dialects.fuzz_{dialect}").FUZZER
    assert isinstance(found, Fuzzer)
    return found


def expected(fuzzer: Fuzzer, script: Script) -> Model:
    model = fuzzer.model()
    for part in script:
        if isinstance(part, int):
            model.pass_time(part)
        else:
            model.receive(part)
    return model


def check(fuzzer: Fuzzer, script: Script, chance: Random, late: int = 0) -> None:
    """Cut whole and at random, the server says what the model says, and knows what the model knows."""
    model = expected(fuzzer, script)
    for cuts in (0, chance.randint(1, 8)):
        rig = fuzzer.rig(late)
        for part in script:
            if isinstance(part, int):
                rig.pass_time(part)
            else:
                for segment in cut(part, cuts, chance):
                    rig.receive(segment)
        heard = rig.settle()
        assert model.agrees(heard), (script, heard)
        assert rig.state() == model.state(), script
        assert rig.connection.closed == model.closed, script
        assert rig.connection.session.owed == 0, script


def cut(data: bytes, cuts: int, chance: Random) -> Iterator[bytes]:
    places = sorted(chance.randint(0, len(data)) for _ in range(cuts))
    for begin, end in zip([0, *places], [*places, len(data)], strict=True):
        yield data[begin:end]


def fuzz(fuzzer: Fuzzer, *, count: int = 0, seconds: float = 0.0, seed: int = 0) -> int:
    """Tries `count` inputs, or as many as fit into `seconds`, and returns how many. A failure shows its script."""
    chance = Random(seed)
    tried = 0
    ends = time.monotonic() + seconds
    while tried < count or (seconds and time.monotonic() < ends):
        late = chance.choice((0, 0, 0, EAGER, EAGER, EAGER, EAGER, chance.getrandbits(16) + 1))
        check(fuzzer, fuzzer.script(chance), chance, late)
        tried += INPUTS_PER_CHECK
    return tried


def mutated(data: bytes, chance: Random, spice: Sequence[bytes]) -> bytes:
    for _ in range(chance.randint(1, 4)):
        begin = chance.randint(0, len(data))
        end = min(len(data), begin + chance.randint(0, 6))
        middle = (b"", bytes([chance.randrange(256)]), chance.choice(spice), data[begin:end] * 2)[chance.randrange(4)]
        data = data[:begin] + middle + data[end:]
    return data
