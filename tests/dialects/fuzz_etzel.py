"""Random conversations in `etzel`, for fuzzing.py."""

from __future__ import annotations

import json
from random import Random

from penstock.engine.state import State
from penstock.model.limits import NEVER_US
from penstock.model.message import LEASED
from tests.dialects.etzel_model import NEVER_MS, Model
from tests.dialects.fuzz_deferred import first_ids
from tests.dialects.fuzzing import Fuzzer, Rig, mutated, since_start_ms
from tests.dialects.websocket_model import BINARY, CLOSE, OPENING, PING, PONG, TEXT, WELCOME, frame, text

UIDS_KNOWN = 256
FIN = 0x80


class EtzelRig(Rig):
    """Open before it is asked anything."""

    dialect = "etzel"

    def __init__(self, late: int = 0) -> None:
        super().__init__(late)
        self.receive(OPENING)
        assert self.connection.heard == WELCOME
        self.connection.heard = b""

    def told(self, state: State) -> object:
        return {
            "etzl" + self.ids.show(message.order).decode(): (
                state.by_id[message.queue_id].name.decode(),
                message.body,
                since_start_ms(message.ready_us),
                NEVER_MS if message.expires_us == NEVER_US else since_start_ms(message.expires_us),
                message.deliveries,
                since_start_ms(message.until_us) if message.place == LEASED else 0,
            )
            for message in state.messages.values()
        }


UIDS = ["etzl" + shown.decode() for shown in first_ids(UIDS_KNOWN)]

NAMES = ("q", "q", "q", "r", "", 'ü:\n"', "Q" * 200)
BODIES: tuple[object, ...] = ("a", "b", "", "€", 'x"\\\n\0:{}[]', [0, 255], [104, 105], [], "p" * 300)
NO_BODIES: tuple[object, ...] = (None, 1, [256], [-1], {}, [""], True)
NUMBERS = (0, 0, 1, 5, 5, 60, "0", "5", "60", 4, -1, 31_536_001, "x", "", 1.5, None, True, 1 << 70, "9" * 30)
NOT_UIDS = ("", "etzl0000000000", "x", "etzl", "\0" * 14, "ETZL" + UIDS[0][4:], UIDS[0] + " ")
WORDS = ("POP", "sub", "", "PUB ", 1, None)
NO_REQUESTS = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b"\xff",
    b'{"cmd":"SUB","qname":"q","qname":"q"}',
    b'{"cmd":"FET"}',
    b'{"cmd":"PUB","qname":"q","msg":"\\ud800"}',
    b'{"cmd":"SUB","qname":"q","x":' + b"[" * 64 + b"]" * 64 + b"}",
    b'{"cmd":"PUB","qname":"q","msg":"a","delay":NaN}',
)
SPICE = (
    b"\0",
    b"\x80",
    b"\x81\x80\0\0\0\0",
    b"\x89\x80\0\0\0\0",
    b"\x88\x80\0\0\0\0",
    b"\xff",
    b'"',
    b'"cmd":',
    b"\\u0041",
    b"\\ud800",
    b"{",
    b"}",
    b":",
    b"[[",
    b"1e5",
    b" ",
    text(b'{"cmd":"FET","qname":"q"}'),
)


def said(**members: object) -> bytes:
    return json.dumps(members, ensure_ascii=False).encode()


def asked(**members: object) -> bytes:
    return text(said(**members))


SESSIONS = (
    asked(cmd="PUB", qname="q", msg="a") + asked(cmd="FET", qname="q") + asked(cmd="ACK", qname="q", uid=UIDS[0]),
    asked(cmd="SUB", qname="q")
    + asked(cmd="PUB", qname="q", message=[0, 255], timeout="5", delay=0)
    + asked(cmd="ISLP", qname="q")
    + asked(cmd="FET", qname="q")
    + asked(cmd="DEL", qname="q", uid=UIDS[0]),
    frame(TEXT, b'{"cmd":"PUB","qname"') + frame(FIN | PING, b"?") + frame(0, b':"q",') + frame(FIN, b'"msg":"b"}'),
    text(b"no") + asked(cmd="PUB", qname="q", msg="c", expires=9) + frame(FIN | CLOSE, b"\3\xe8") + asked(cmd="FET"),
)


def random_frames(chance: Random) -> bytes:
    return b"".join([random_frame(chance) for _ in range(chance.randint(1, 8))])


def random_frame(chance: Random) -> bytes:
    kind = chance.randrange(24)
    mask = bytes(4) if kind % 2 else chance.randbytes(4)
    if kind < 16:
        return text(random_request(chance), mask)
    if kind < 19:
        return in_pieces(random_request(chance), chance)
    if kind < 20:
        return text(mutated(random_request(chance), chance, SPICE), mask)
    if kind < 21:
        return text(chance.choice(NO_REQUESTS), mask)
    if kind < 23:
        return frame(FIN | chance.choice((PING, PONG, BINARY)), chance.randbytes(chance.randrange(8)), mask)
    return frame(FIN | CLOSE, chance.choice((b"", b"\3\xe8", b"\3\xe8bye", b"\x0f\xa0", b"\3\xed", b"\3")), mask)


def in_pieces(payload: bytes, chance: Random) -> bytes:
    at = chance.randint(0, len(payload))
    between = frame(FIN | PING, b"between") if chance.random() < 0.3 else b""
    return frame(TEXT, payload[:at]) + between + frame(FIN, payload[at:])


def random_request(chance: Random) -> bytes:
    kind, name = chance.randrange(20), chance.choice(NAMES)
    if kind < 6:
        return random_publish(chance, name)
    if kind < 12:
        return said(cmd="FET", qname=name)
    if kind < 15:
        return said(cmd=chance.choice(("ACK", "DEL")), qname=name, uid=random_uid(chance))
    if kind < 19:
        return said(cmd=chance.choice(("SUB", "ISLP")), qname=name)
    return said(cmd=chance.choice(WORDS), qname=name)


def random_publish(chance: Random, name: str) -> bytes:
    body = chance.choice(NO_BODIES if chance.random() < 0.05 else BODIES)
    numbers = {field: chance.choice(NUMBERS) for field in ("delay", "expires", "timeout") if chance.random() < 0.2}
    return said(cmd="PUB", qname=name, **{chance.choice(("msg", "message")): body}, **numbers)


def random_uid(chance: Random) -> str:
    return chance.choice(NOT_UIDS) if chance.random() < 0.2 else UIDS[chance.randrange(4)]


EXCHANGE = (
    asked(cmd="ACK", qname="of my own", uid="none"),
    b'\x81\x30{"cmd":"okack","uid":"none","qname":"of my own"}',
)

FUZZER = Fuzzer(EtzelRig, lambda: Model(UIDS), random_frames, SPICE, SESSIONS, EXCHANGE, (OPENING, WELCOME))
