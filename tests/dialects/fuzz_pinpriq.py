"""Random conversations in `pinpriq`, for fuzzing.py."""

from __future__ import annotations

from random import Random
from struct import pack

from penstock.engine.state import State
from penstock.model.limits import NEVER_US
from tests.dialects.fuzzing import Fuzzer, Rig, since_start_ms
from tests.dialects.pinpriq_model import Model, value


class PinpriqRig(Rig):
    dialect = "pinpriq"

    def told(self, state: State) -> object:
        return [
            (
                state.by_id[message.queue_id].name,
                message.key,
                message.body,
                0 if message.parked else 256 - message.priority,
                None if message.expires_us == NEVER_US else since_start_ms(message.expires_us),
            )
            for message in sorted(state.messages.values(), key=lambda message: int(message.order))
        ]


NAMES = (b"q", b"q", b"q", b"r", b"", b"\xff\0", b"Q" * 300)
KEYS = (b"k", b"k", b"l", b"", b"kk", b"\0")
PAYLOADS = (b"a", b"b", b"", b"\0\0", b"A", b"p" * 300)
PRIORITIES = (0, 0, 1, 1, 2, 3, 255)
TTLS_MS = (0, 0, 0, 1, 20, 1_000, 65_535)
NO_OPCODES = (b"\0", b"\xff", b"P\n", b"p", b"s", b"\x40", b"\x42")
SPICE = (b"\0", b"\0\0", b"\0\1", b"\xff", b"\xff\xff", b"p", b"P", b"A", b"s", b"u", b"P\0\1q", b"AAAA", b"\0\x0a")


def push(name: bytes, ttl_ms: int, priority: int, key: bytes, payload: bytes) -> bytes:
    return pack(">BHHBHH", 0x70, len(name), ttl_ms, priority, len(key), len(payload)) + key + payload + name


def pop(name: bytes) -> bytes:
    return pack(">BH", 0x50, len(name)) + name


def subscribe(name: bytes) -> bytes:
    return pack(">BH", 0x73, len(name)) + name


def unsubscribe(name: bytes) -> bytes:
    return pack(">BH", 0x75, len(name)) + name


READY = b"\x41"


def answers(heard: bytes) -> list[list[tuple[bytes, bytes]]]:
    """Of each the packets, key and payload; a reader of its own."""
    found = []
    while heard:
        packets = []
        count, heard = value(heard[:2]), heard[2:]
        for _ in range(count):
            key, payload = value(heard[:2]), value(heard[2:4])
            assert len(heard) >= 4 + key + payload
            packets.append((heard[4 : 4 + key], heard[4 + key : 4 + key + payload]))
            heard = heard[4 + key + payload :]
        found.append(packets)
    return found


SESSIONS = (
    push(b"q", 1_000, 1, b"k", b"hi") + pop(b"q") + pop(b"q"),
    push(b"q", 0, 0, b"k", b"a") + push(b"q", 0, 2, b"k", b"b") + push(b"q", 0, 1, b"", b"") + pop(b"q") + pop(b"q"),
    READY + subscribe(b"") + push(b"", 5, 1, b"", b"") + 2 * READY + push(b"", 0, 9, b"\0", b"A") + unsubscribe(b""),
    push(b"\xff\0", 0, 3, b"kk", b"P\0\1q") + subscribe(b"\xff\0") + READY + pop(b"\xff\0") + b"?" + pop(b"q"),
)


def random_requests(chance: Random) -> bytes:
    return b"".join([random_request(chance) for _ in range(chance.randint(1, 12))])


def random_request(chance: Random) -> bytes:
    kind = chance.randrange(32)
    name = chance.choice(NAMES)
    if kind < 14:
        fields = chance.choice(TTLS_MS), chance.choice(PRIORITIES), chance.choice(KEYS), chance.choice(PAYLOADS)
        return push(name, *fields)
    if kind < 22:
        return pop(name)
    if kind < 27:
        return READY
    if kind < 30:
        return subscribe(name)
    return unsubscribe(name) if kind == 30 else chance.choice(NO_OPCODES)


EXCHANGE = (push(b"of my own", 0, 1, b"k", b"hi") + pop(b"of my own"), bytes.fromhex("0001 0001 0002 6b 6869"))

FUZZER = Fuzzer(PinpriqRig, Model, random_requests, SPICE, SESSIONS, EXCHANGE)
