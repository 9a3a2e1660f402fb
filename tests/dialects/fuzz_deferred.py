"""Random conversations in `deferred`, right and wrong ones, compared with the model: answers, state, and that neither
depends on how the bytes were cut. `fuzz` tries any number of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from random import Random

from penstock.codecs.ids import Ids
from penstock.dialects.deferred import DeferredSession
from penstock.engine.rules import PolicyBook
from penstock.model.limits import MILLISECOND_US
from penstock.model.message import LEASED
from tests.broker.client import Client
from tests.broker.desks import START_US, EngineDesk, LateDesk
from tests.dialects.deferred_model import Model
from tests.dialects.runner import SECRET, Connection, FakeContext

Script = Sequence[bytes | int]  # what is sent, and between it the milliseconds that pass

STATS_TAIL = b"CONNECTIONS 1 HEAP 12.50m"
QUEUE = "default"
IDS_KNOWN = 256
LATE_SHARE = 0.125
INPUTS_PER_CHECK = 2  # the same script, cut in two ways

_BOOK = PolicyBook()


class Rig:
    """One connection to an engine of its own; `late`: through a broker that answers late."""

    def __init__(self, late: int = 0) -> None:
        self.engine_desk = EngineDesk(_BOOK)
        self.desk = LateDesk(self.engine_desk, late) if late else self.engine_desk
        context = FakeContext(self.desk, {"queue": QUEUE})
        context.open = 1
        self.connection = Connection(DeferredSession(context))
        self._ids = context.ids

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

    def state(self) -> dict[bytes, tuple[bytes, int, bool]]:
        """As the model tells it."""
        return {
            self._ids.show(message.order): (message.body, due_ms(message.ready_us), message.place == LEASED)
            for message in self.engine_desk.engine.state().messages.values()
        }


def due_ms(ready_us: int) -> int:
    return (ready_us - START_US) // MILLISECOND_US


def first_ids(count: int) -> list[bytes]:
    """What a fresh engine calls its first messages."""
    desk, ids = EngineDesk(_BOOK), Ids(SECRET)
    client = Client(desk)
    return [ids.show(client.publish(b"q", b"").number) for _ in range(count)]


IDS = first_ids(IDS_KNOWN)


def expected(script: Script) -> tuple[bytes, Model]:
    model = Model(IDS, STATS_TAIL)
    heard = b""
    for part in script:
        if isinstance(part, int):
            model.now_ms += part
        else:
            heard += model.receive(part)
    return heard, model


def check(script: Script, chance: Random, late: int = 0, make: Callable[[int], Rig] = Rig) -> None:
    """Cut whole and at random, the server says what the model says, and knows what the model knows."""
    heard, model = expected(script)
    for cuts in (0, chance.randint(1, 8)):
        rig = make(late)
        for part in script:
            if isinstance(part, int):
                rig.pass_time(part)
            else:
                for segment in cut(part, cuts, chance):
                    rig.receive(segment)
        assert rig.settle() == heard, script
        assert rig.state() == model.state(), script
        assert rig.connection.closed == model.closed, script
        assert rig.connection.session.owed == 0, script


def cut(data: bytes, cuts: int, chance: Random) -> Iterator[bytes]:
    places = sorted(chance.randint(0, len(data)) for _ in range(cuts))
    for begin, end in zip([0, *places], [*places, len(data)], strict=True):
        yield data[begin:end]


def fuzz(*, count: int = 0, seconds: float = 0.0, seed: int = 0, make: Callable[[int], Rig] = Rig) -> int:
    """Tries `count` inputs, or as many as fit into `seconds`, and returns how many. A failure shows its script."""
    chance = Random(seed)
    tried = 0
    ends = time.monotonic() + seconds
    while tried < count or (seconds and time.monotonic() < ends):
        late = chance.getrandbits(16) + 1 if chance.random() < LATE_SHARE else 0
        check(random_script(chance), chance, late, make)
        tried += INPUTS_PER_CHECK
    return tried


# -- making conversations

DELAYS = (b"0", b"0", b"0", b"1", b"20", b"007", b"2147483647", b"2147483648", b"-1", b"", b"x", b"1 ", b"99999999999")
BODIES = (b"a", b"two words", b"", b" ", b"\r", b"x\r", "ü".encode(), b"\xff", b"\xc3", b"nil", b"\0", b"b" * 300)
NOT_IDS = (b"", b"0000000000", b"x", b"zzzzzzzzzz", b"\0" * 10, b"id with spaces", b"\xff" * 10)
LINES = (b"", b" ", b"STATS ", b"reserve", b"RESERVE 1", b"ADD", b"DELETE", b"RETURN", b"QUIT", b"ADD\t0\tx", b"\r")
ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r\r\n", b"\r", b"")
SPICE = (
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b"  ",
    b"\0",
    b"\xff",
    b"\xc3",
    b"ADD 0 ",
    b"RESERVE\n",
    b"9" * 11,
    b"BODY64",
    b"-",
)


def random_script(chance: Random) -> Script:
    script: list[bytes | int] = []
    for _ in range(chance.randint(1, 3)):
        sent = b"".join([random_line(chance) for _ in range(chance.randint(1, 8))])
        if chance.random() < 0.4:
            sent = mutated(sent, chance)
        script += [sent, chance.choice((0, 1, 20, 1_000))]
    return script[:-1]


def random_line(chance: Random) -> bytes:
    kind = chance.randrange(10)
    if kind < 3:
        line = b"ADD %b %b" % (chance.choice(DELAYS), chance.choice(BODIES))
    elif kind < 6:
        line = b"RESERVE"
    elif kind == 6:
        line = b"DELETE %b" % random_id(chance)
    elif kind == 7:
        line = b"RETURN %b %b" % (random_id(chance), chance.choice(DELAYS))
    else:
        line = b"STATS" if kind == 8 else chance.choice(LINES)
    return line + chance.choice(ENDS)


def random_id(chance: Random) -> bytes:
    return chance.choice(NOT_IDS) if chance.random() < 0.2 else IDS[chance.randrange(6)]


def mutated(data: bytes, chance: Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        begin = chance.randint(0, len(data))
        end = min(len(data), begin + chance.randint(0, 6))
        middle = (b"", bytes([chance.randrange(256)]), chance.choice(SPICE), data[begin:end] * 2)[chance.randrange(4)]
        data = data[:begin] + middle + data[end:]
    return data
