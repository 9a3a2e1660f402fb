"""Random conversations in `deferred`, for fuzzing.py."""

from __future__ import annotations

from random import Random

from penstock.codecs.ids import Ids
from penstock.engine.rules import PolicyBook
from penstock.engine.state import State
from penstock.model.message import LEASED
from tests.broker.client import Client
from tests.broker.desks import EngineDesk
from tests.dialects.deferred_model import Model
from tests.dialects.fuzzing import Fuzzer, Rig, since_start_ms
from tests.dialects.runner import SECRET

STATS_TAIL = b"CONNECTIONS 1 HEAP 12.50m"
IDS_KNOWN = 256


class DeferredRig(Rig):
    dialect = "deferred"

    def told(self, state: State) -> object:
        return {
            self.ids.show(message.order): (message.body, since_start_ms(message.ready_us), message.place == LEASED)
            for message in state.messages.values()
        }


def first_ids(count: int) -> list[bytes]:
    """What a fresh engine calls its first messages."""
    desk, ids = EngineDesk(PolicyBook()), Ids(SECRET)
    client = Client(desk)
    return [ids.show(client.publish(b"q", b"").number) for _ in range(count)]


IDS = first_ids(IDS_KNOWN)

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
SESSIONS = (
    b"ADD 0 a\nRESERVE\nDELETE %b\n" % IDS[0],
    b"ADD 0 a\r\nADD 0 b\r\nRESERVE\r\nRETURN %b 0\r\nRESERVE\r\nDELETE %b\r\n" % (IDS[0], IDS[1]),
    b"ADD 0 \nADD 0 \xc3\xbc\nADD 0 \xff\nRESERVE\nRESERVE\nRETURN %b 5\nSTATS\nDELETE %b\nADD 0 z" % (IDS[1], IDS[0]),
    b"ADD 10 later\nADD 0 x\r\r\nRESERVE\nwhat\n\nRETURN %b 00\nRESERVE\nDELETE %b\nSTATS\n" % (IDS[1], IDS[1]),
)


def random_lines(chance: Random) -> bytes:
    return b"".join([random_line(chance) for _ in range(chance.randint(1, 8))])


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


EXCHANGE = (b"DELETE 0\nwhat\n", b"unknown TASK_ID\nunknown command\n")

FUZZER = Fuzzer(DeferredRig, lambda: Model(IDS, STATS_TAIL), random_lines, SPICE, SESSIONS, EXCHANGE)
