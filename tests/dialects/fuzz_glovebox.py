"""Random conversations in `glovebox`, for fuzzing.py."""

from __future__ import annotations

import json
import struct
from random import Random

from penstock.codecs.ids import Ids, high, low
from penstock.engine.rules import PolicyBook
from penstock.engine.state import State
from penstock.model import limits
from penstock.model.message import LEASED
from penstock.model.stages import STAGES
from tests.broker.client import Client
from tests.broker.desks import EngineDesk
from tests.dialects.fuzz_etzel import in_pieces
from tests.dialects.fuzzing import Fuzzer, Rig, mutated
from tests.dialects.glovebox_model import NEVER_US, Model, Place
from tests.dialects.runner import SECRET
from tests.dialects.websocket_model import BINARY, CLOSE, OPENING, PING, PONG, WELCOME, frame, frames, text

PLACES_KNOWN = 4_096
FIN = 0x80
BINARY_OPENING = OPENING.removesuffix(b"\r\n") + b"Binary: 1\r\n\r\n"
BINARY_HELLO_BYTES = 2 + 16


class GloveboxRig(Rig):
    """Open and greeted before it is asked anything."""

    dialect = "glovebox"

    def __init__(self, late: int = 0) -> None:
        super().__init__(late)
        self.receive(OPENING)
        hello = self.settle().removeprefix(WELCOME)
        assert json.loads(frames(hello)[0][1])["type"] == "hello"
        self.connection.heard = b""

    def told(self, state: State) -> object:
        queues = {queue.name.decode(): queue.policy.attempts or 0 for queue in state.queues.values()}
        return queues, [
            (
                state.by_id[message.queue_id].name.decode(),
                message.body,
                message.key,
                message.priority,
                message.ready_us,
                min(message.expires_us, NEVER_US),
                until_us(message.until_us) if message.place == LEASED else 0,
                message.deliveries,
                message.failures,
                0 if message.origin is None or not message.origin.notify else message.origin.label,
                [] if message.origin is None else asked_for(message.origin.notify),
            )
            for message in sorted(state.messages.values(), key=lambda message: message.order)
        ]


def until_us(at_us: int) -> int:
    """A lease without end ends in the model as well, but not in anybody's time."""
    return NEVER_US if at_us >= limits.NEVER_US else at_us


def asked_for(notify: int) -> list[str]:
    return sorted(name for stage, name in enumerate(STAGES) if notify >> stage & 1)


def first_places(count: int) -> list[Place]:
    """What a fresh engine calls the first messages of its first client."""
    desk, ids = EngineDesk(PolicyBook()), Ids(SECRET)
    client = Client(desk)
    client.meet()
    first = client.publish(b"q", b"").number
    pairs = [ids.pair(first + at) for at in range(count)]
    return [(int(high(pair)), int(low(pair))) for pair in pairs]


PLACES = first_places(PLACES_KNOWN)

NAMES = ("q", "q", "q", "q", "r", "", 'ü:\n"', "Q" * 200)
BODIES: tuple[object, ...] = ("a", "b", "", "€", 'x"\\\n\0:{}[]', [0, 255], [104, 105], [], "p" * 300)
NO_BODIES: tuple[object, ...] = (None, 1, [256], [-1], {}, [""], True)
LABELS = (0, 1, 2, 3, 4, 5, (1 << 64) - 1)
NO_LABELS: tuple[object, ...] = (-1, 1 << 64, 1.0, "1", True, [], None)
SECONDS = (0, 0.001, 0.02, 0.02, 1, 1, 60, 1e10, -1)
NO_SECONDS: tuple[object, ...] = ("1", True, [], 1 << 2_000, {})
PRIORITIES = (0, 1, -1, 5, -32_768, 4_294_967_295)
NO_PRIORITIES = (-32_769, 1 << 32, 1.5, "1", None)
NO_REQUESTS = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b"\xff",
    b'{"type":"pop","queue":"q","queue":"q"}',
    b'{"type":"nonsense","queue":"q","label":1}',
    b'{"type":"post","queue":"q","message":"\\ud800"}',
    b'{"type":"create","queue":"q","x":' + b"[" * 64 + b"]" * 64 + b"}",
    b'{"type":"pop","queue":"q","timeout":NaN}',
    b'{"type":"post","queue":"q","message":"\\u003a","label":1,"label":1}',
)
SPICE = (
    b"\0",
    b"\x80",
    b"\x81\x80\0\0\0\0",
    b"\x82\x80\0\0\0\0",
    b"\x88\x80\0\0\0\0",
    b"\xff",
    b'"',
    b'"label":',
    b"\\u003a",
    b"\\ud800",
    b"{",
    b"}",
    b":",
    b"[[",
    b"1e5",
    b"null",
    b",",
    b"\1\0\0\0",
    text(b'{"type":"pop","queue":"q"}'),
)


def said(**members: object) -> bytes:
    return json.dumps(members, ensure_ascii=False).encode()


def asked(**members: object) -> bytes:
    return text(said(**members))


# -- JSON


def random_request(chance: Random) -> bytes:
    kind = chance.choice(KINDS)
    members: dict[str, object] = {"type": kind, "queue": chance.choice(NAMES)}
    if chance.random() < 0.7:
        members["label"] = chance.choice(LABELS if chance.random() < 0.95 else NO_LABELS)
    members |= MAKERS[kind](chance)
    if chance.random() < 0.1:
        members["sync"] = chance.choice((*STAGES, None, 1))
    if chance.random() < 0.05:
        members[chance.choice(("x", "a:b", "body"))] = chance.choice((1, "a:b", {"type": "pop"}, [[]]))
    return said(**members)


KINDS = (
    *("create", "create", "post", "post", "post", "post", "pop", "pop", "fetch", "fetch", "fetch", "finish", "finish"),
    *("publish", "publish", "reserve", "reserve", "finish", "release", "release", "extend"),
)


def some(chance: Random, share: float, **choices: tuple[object, ...]) -> dict[str, object]:
    return {name: chance.choice(values) for name, values in choices.items() if chance.random() < share}


def seconds(chance: Random) -> tuple[object, ...]:
    return SECONDS if chance.random() < 0.97 else NO_SECONDS


def random_create(chance: Random) -> dict[str, object]:
    return {
        **some(chance, 0.6, retries=(1, 1, 1, 0, 2, 3, None, -1, 1 << 32)),
        **some(chance, 0.1, shard_max_entries=(80, None, "x")),
    }


def random_post(chance: Random) -> dict[str, object]:
    notify = chance.sample(STAGES, chance.randrange(8)) if chance.random() < 0.95 else ["nonsense"]
    body = chance.choice(BODIES if chance.random() < 0.95 else NO_BODIES)
    priorities = PRIORITIES if chance.random() < 0.9 else NO_PRIORITIES
    return {"message": body, **some(chance, 0.3, priority=priorities), **some(chance, 0.6, notify=(notify,))}


def random_pop(chance: Random) -> dict[str, object]:
    return some(chance, 0.4, timeout=(*seconds(chance), None))


def random_fetch(chance: Random) -> dict[str, object]:
    work = chance.choice(seconds(chance))
    return {"work_timeout": work, **some(chance, 0.4, block_timeout=(*seconds(chance), None))}


def random_finish(chance: Random) -> dict[str, object]:
    if chance.random() < 0.4:
        return {"messages": random_places(chance)}
    shard, sequence = random_place(chance)
    return {"shard": shard, "sequence": sequence, **some(chance, 0.2, response=(*STAGES[:4], None, 1))}


def random_places(chance: Random) -> list[Place]:
    return [random_place(chance) for _ in range(chance.randrange(4))]


def random_place(chance: Random) -> Place:
    strange = ((0, 0), (1 << 29, 1), (1, 1 << 40), (-1, 0), (1 << 32, 0), (0, 1 << 64))
    return chance.choice(strange) if chance.random() < 0.1 else PLACES[chance.randrange(6)]


def random_publish(chance: Random) -> dict[str, object]:
    drafts = [random_draft(chance) for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))]
    return {"messages": drafts, **some(chance, 0.2, create=(True, False, False, 1))}


def random_draft(chance: Random) -> dict[str, object]:
    bodies: tuple[dict[str, object], ...] = (
        {"body": "a"},
        {"body": "b:"},
        {"body": "€"},
        {"body64": "/wA="},
        {"body64": ""},
    )
    odd: tuple[dict[str, object], ...] = ({}, {"body": "a", "body64": "YQ=="}, {"body64": "?"}, {"body": [1]})
    keys = some(chance, 0.1, key=("k", "", 1), key64=("/w==", "a"), dedup_id=("x", 1))
    often = 0.95 if chance.random() < 0.08 else 0.0
    marks = some(chance, often, mark=("m", "m", "n", ""), row=(1, 2, 3, 4, 5, 0, 1 << 61))
    numbers = some(chance, 0.2, delay=seconds(chance), ttl=seconds(chance), priority=PRIORITIES)
    return {**chance.choice(bodies if chance.random() < 0.95 else odd), **keys, **marks, **numbers}


def random_reserve(chance: Random) -> dict[str, object]:
    return some(chance, 0.4, max=(1, 2, 3, 1_000, 0, 1_001), lease=seconds(chance), wait=seconds(chance))


def random_release(chance: Random) -> dict[str, object]:
    said = some(chance, 0.4, delay=seconds(chance), failed=(True, True, False, 1))
    return {"messages": random_places(chance), **said}


def random_extend(chance: Random) -> dict[str, object]:
    return {"messages": random_places(chance), "lease": chance.choice(seconds(chance))}


MAKERS = {
    "create": random_create,
    "post": random_post,
    "pop": random_pop,
    "fetch": random_fetch,
    "finish": random_finish,
    "publish": random_publish,
    "reserve": random_reserve,
    "release": random_release,
    "extend": random_extend,
}


# -- bincode


def string(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def option(layout: str, value: object) -> bytes:
    return b"\0" if value is None else b"\1" + struct.pack("<" + layout, value)


def random_binary(chance: Random) -> bytes:
    tag = chance.choice((0, 0, 1, 1, 2, 3, 4, 4, 5))
    head = struct.pack("<II", chance.random() < 0.02, tag) + string(chance.choice(NAMES).encode())
    label = struct.pack("<Q", chance.choice(LABELS))
    stage = struct.pack("<I", chance.choice((0, 1, 2, 2, 3)))
    wait = option("f", chance.choice((None, 0.0, 0.5, 2.0, -1.0, float("nan"))))
    if tag == 0:
        body, priority = string(chance.randbytes(chance.randrange(4))), struct.pack("<h", chance.choice((0, 1, -2)))
        return head + body + priority + label + random_stages(chance)
    if tag == 1:
        return head + wait + struct.pack("<f", chance.choice((0.5, 0.0, 60.0, float("inf")))) + stage + label
    if tag == 2:
        shard, sequence = PLACES[chance.randrange(6)]
        answered = option("Q", chance.choice((None, 7))) + option("I", chance.choice((None, 2, 3)))
        return head + struct.pack("<QI", sequence, shard) + answered
    if tag == 3:
        return head + stage + wait + label
    return head + label + option("I", chance.choice((None, 0, 2))) + option("Q", None) + option("Q", 80)


def random_stages(chance: Random) -> bytes:
    stages = [chance.choice((0, 1, 2, 3, 4, 5, 6)) for _ in range(chance.randrange(4))]
    return struct.pack(f"<Q{len(stages)}I", len(stages), *stages)


# -- frames


def random_frames(chance: Random) -> bytes:
    return b"".join([random_frame(chance) for _ in range(chance.randint(1, 8))])


def random_frame(chance: Random) -> bytes:
    kind = chance.randrange(32)
    mask = bytes(4) if kind % 2 else chance.randbytes(4)
    if kind < 18:
        return text(random_request(chance), mask)
    if kind < 24:
        return frame(FIN | BINARY, random_binary(chance), mask)
    if kind < 26:
        return in_pieces(random_request(chance), chance)
    if kind < 28:
        return text(mutated(random_request(chance), chance, SPICE), mask)
    if kind < 29:
        return frame(FIN | BINARY, mutated(random_binary(chance), chance, SPICE), mask)
    if kind < 30:
        return text(chance.choice(NO_REQUESTS), mask)
    if kind < 31:
        return frame(FIN | chance.choice((PING, PONG)), chance.randbytes(chance.randrange(8)), mask)
    return frame(FIN | CLOSE, chance.choice((b"", b"\3\xe8", b"\3\xe8bye", b"\x0f\xa0", b"\3\xed", b"\3")), mask)


SHARD, SEQUENCE = PLACES[0]
SESSIONS = (
    asked(type="create", queue="q", retries=2)
    + asked(type="post", queue="q", message="a", label=1, notify=["ready", "assign", "finish"])
    + asked(type="fetch", queue="q", work_timeout=1)
    + asked(type="finish", queue="q", shard=SHARD, sequence=SEQUENCE, label=2),
    asked(type="publish", queue="q", messages=[{"body": "a"}, {"body64": "/w=="}])
    + asked(type="reserve", queue="q", max=2, lease=5)
    + asked(type="release", queue="q", failed=True, messages=[[SHARD, SEQUENCE]]),
    frame(FIN | BINARY, bytes.fromhex("00000000 04000000 0100000000000000 71 0100000000000000 00 00 00"))
    + frame(FIN | BINARY, bytes.fromhex("00000000 03000000 0100000000000000 71 00000000 01 0000803f 0700000000000000"))
    + frame(
        FIN | BINARY, bytes.fromhex("00000000 00000000 0100000000000000 71 0100000000000000 78 0000 05") + bytes(15)
    ),
    text(b"no") + asked(type="create", queue="q") + frame(FIN | CLOSE, b"\3\xe8") + asked(type="create", queue="r"),
)

# Of a queue that nobody makes.
EXCHANGE = (
    frame(FIN | BINARY, struct.pack("<II", 0, 3) + string(b"nobody's!") + struct.pack("<IBQ", 0, 0, 7)),
    b"\x82\x25" + struct.pack("<IIQI", 0, 4, 7, 0) + string(b"nobody's!"),
)

FUZZER = Fuzzer(
    GloveboxRig,
    lambda: Model(PLACES),
    random_frames,
    SPICE,
    SESSIONS,
    EXCHANGE,
    (BINARY_OPENING, WELCOME),
    BINARY_HELLO_BYTES,
)
