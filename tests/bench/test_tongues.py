"""A tongue counts the answers of its turn however they are cut, and finishes exactly what it was given."""

from __future__ import annotations

import struct

import pytest

from bench.tongues import frames
from bench.tongues.amqp import frame, method
from bench.tongues.table import tongue
from bench.tongues.tongue import BODY, Tongue, UnexpectedAnswer
from penstock.codecs.websocket import BINARY, TEXT, FrameReader

PINPRIQ = struct.pack(">HHHq", 1, 8, 256, 7) + BODY
CONTENT = frame(2, 1, struct.pack(">HHQHB", 60, 0, 256, 0x1000, 2)) + frame(3, 1, BODY)


def confirmed(tag: int, multiple: int = 0) -> bytes:
    return method(1, 60, 80, struct.pack(">QB", tag, multiple))


def got(tag: int) -> bytes:
    return method(1, 60, 71, struct.pack(">QB", tag, 0) + b"\0\x05bench\0\0\0\0") + CONTENT


def task(number: bytes) -> bytes:
    return b"TASK %s BODY %s\n" % (number, BODY)


def job(number: bytes) -> bytes:
    return b"RESERVED %s 256\r\n%s\r\n" % (number, BODY)


def pulled(reply: bytes) -> bytes:
    return b"MSG work 1 %s 256\r\n%s\r\n" % (reply, BODY)


def rsmq_message(member: bytes) -> bytes:
    return b"*4\r\n$32\r\n%s\r\n$256\r\n%s\r\n:1\r\n$13\r\n1700000000000\r\n" % (member, BODY)


def text(payload: bytes) -> bytes:
    """A frame from a server."""
    return frames.answered(frames.TEXT, len(payload)) + payload


def binary(payload: bytes) -> bytes:
    return frames.answered(frames.BINARY, len(payload)) + payload


def etzel_message(uid: bytes) -> bytes:
    return text(b'{"cmd":"msg","qname":"q","uid":"%s","error_count":0,"msg":"%s"}' % (uid, BODY))


def etzel_done(uid: bytes) -> bytes:
    return text(b'{"cmd":"okack","uid":"%s","qname":"q"}' % uid)


def glovebox_message(shard: int, sequence: int) -> bytes:
    place = b'"shard":%d,"sequence":%d' % (shard, sequence)
    return text(b'{"type":"message","label":5,%s,"body":"%s","finished":false}' % (place, BODY))


def glovebox_notice(stage: bytes) -> bytes:
    return text(b'{"type":"notice","label":5,"notice":"%s"}' % stage)


def bincode_message(shard: int, sequence: int) -> bytes:
    return binary(struct.pack("<IIQIQQ256sB", 0, 0, 5, shard, sequence, len(BODY), BODY, 0))


def bincode_notice(stage: int) -> bytes:
    return binary(struct.pack("<IIQI", 0, 1, 5, stage))


LOOKED_UP = (
    b"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n"
    b"*3\r\n$3\r\n600\r\n$1\r\n0\r\n$5\r\n65536\r\n*2\r\n$10\r\n1700000000\r\n$6\r\n123456\r\n"
)
SENT = b"+OK\r\n" + b"+QUEUED\r\n" * 3 + b"*3\r\n:1\r\n:1\r\n:1\r\n"
DELETED = b"+OK\r\n" + b"+QUEUED\r\n" * 2 + b"*2\r\n:1\r\n:3\r\n"
ONE, TWO = b"1" * 32, b"2" * 32
UID_ONE, UID_TWO = b"etzl1111111111", b"etzl2222222222"

# The answers to two requests in each turn, and what the turn behind the reserves must hold.
CONVERSATIONS: dict[str, tuple[list[bytes], list[bytes]]] = {
    "deferred": (
        [b"TASK 0000000001 DELAY 0ms\n" * 2, task(b"a" * 10) + task(b"b" * 10), b"ok\n" * 2],
        [b"DELETE aaaaaaaaaa\nDELETE bbbbbbbbbb\n"],
    ),
    "beanstalkd": (
        [b"INSERTED 9\r\nINSERTED 10\r\n", job(b"9") + job(b"10"), b"DELETED\r\n" * 2],
        [b"delete 9\r\ndelete 10\r\n"],
    ),
    "rsmq": (
        [LOOKED_UP * 2, SENT * 2, LOOKED_UP * 2, rsmq_message(ONE) + rsmq_message(TWO), DELETED * 2],
        [b"ZREM\r\n$6\r\nrsmq:q\r\n$32\r\n" + ONE, TWO + b":rc\r\n$35\r\n" + TWO + b":fr\r\n"],
    ),
    "rsmq facade": (
        [LOOKED_UP * 2, SENT * 2, LOOKED_UP * 2, rsmq_message(ONE) + rsmq_message(TWO), DELETED * 2],
        [b"ZREM\r\n$6\r\nrsmq:q\r\n$32\r\n" + ONE, TWO + b":rc\r\n$35\r\n" + TWO + b":fr\r\n"],
    ),
    "rsmq bare": (
        [SENT * 2, rsmq_message(ONE) + rsmq_message(TWO), DELETED * 2],
        [b"ZREM\r\n$6\r\nrsmq:q\r\n$32\r\n" + ONE, TWO + b":rc\r\n$35\r\n" + TWO + b":fr\r\n"],
    ),
    "nats": (
        [b'MSG in.0 1 4\r\n{"":1}\r\n' * 2, pulled(b"$JS.ACK.1") + pulled(b"$JS.ACK.2"), b"MSG in.0 1 0\r\n\r\n" * 2],
        [b"PUB $JS.ACK.1 in.0 4\r\n+ACK\r\nPUB $JS.ACK.2 in.0 4\r\n+ACK\r\n"],
    ),
    "amqp": (
        [confirmed(2) + confirmed(1), got(1) + got(2), confirmed(4, 1)],
        [method(1, 60, 80, struct.pack(">QB", 1, 0)) + method(1, 60, 80, struct.pack(">QB", 2, 0)), BODY],
    ),
    "etzel": (
        [text(b'{"cmd":"ok"}') * 2, etzel_message(UID_ONE) + etzel_message(UID_TWO), etzel_done(UID_ONE) * 2],
        [frames.asked(frames.TEXT, b'{"cmd":"ACK","qname":"q","uid":"%s"}' % uid) for uid in (UID_ONE, UID_TWO)],
    ),
    "glovebox:write": (
        [
            glovebox_notice(b"write") * 2,
            glovebox_message(7, 123) + glovebox_message(89, 4),
            glovebox_notice(b"finish") * 2,
        ],
        [b'"response":"write","shard":7,"sequence":123}', b'"response":"write","shard":89,"sequence":4}'],
    ),
    "bincode:write": (
        [bincode_notice(1) * 2, bincode_message(7, 123) + bincode_message(89, 4), bincode_notice(4) * 2],
        [struct.pack("<QIBQBI", sequence, shard, 1, 5, 1, 1) for shard, sequence in ((7, 123), (89, 4))],
    ),
    "pinpriq": ([PINPRIQ * 2, PINPRIQ * 2, PINPRIQ * 2], [BODY]),
}


WEBSOCKET = ("etzel", "glovebox:write", "bincode:write")


def heard(spoken: Tongue, answer: bytes, cut: int) -> int:
    return sum(spoken.hear(answer[at : at + cut]) for at in range(0, len(answer), cut))


@pytest.mark.parametrize("cut", [64, 100, 1 << 16])
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_every_answer_is_counted_once_however_it_is_cut(name: str, cut: int) -> None:
    answers, expected = CONVERSATIONS[name]
    spoken = tongue(name, 0, 2, 1)
    for answer in answers:
        said = spoken.say()
        assert heard(spoken, answer, cut) == 2
    assert all(part in said for part in expected)


@pytest.mark.parametrize(
    "name", ["deferred", "beanstalkd", "rsmq", "rsmq bare", "rsmq facade", "nats", "pinpriq", *WEBSOCKET]
)
def test_an_error_is_never_counted_as_an_answer(name: str) -> None:
    spoken = tongue(name, 0, 1, 1)
    spoken.say()
    with pytest.raises(UnexpectedAnswer):
        spoken.hear(b"-ERR something else entirely\r\n")


def test_rabbitmq_without_a_message_is_an_error() -> None:
    spoken = tongue("amqp", 0, 1, 1)
    spoken.say()
    with pytest.raises(UnexpectedAnswer):
        spoken.hear(method(1, 60, 72, b"\0"))


def test_what_has_no_answer_counts_with_the_next_that_has() -> None:
    assert tongue("pinpriq", 0, 1, 1).operations() == 2
    amqp = tongue("amqp", 0, 1, 1)
    operations = []
    for answer in (confirmed(1), got(1), confirmed(2), got(2)):
        amqp.say()
        operations.append(amqp.operations())
        amqp.hear(answer)
    assert operations == [1, 1, 2, 1]


def test_a_lookup_is_no_operation_of_its_own() -> None:
    rsmq = tongue("rsmq", 0, 1, 1)
    operations = []
    for answer in CONVERSATIONS["rsmq bare"][0]:
        for turn in (answer,) if answer.startswith(DELETED) else (LOOKED_UP, answer):
            rsmq.say()
            operations.append(rsmq.operations())
            rsmq.hear(turn)
    assert operations == [0, 1, 0, 1, 1]


def test_nats_asks_whether_anybody_is_there_and_it_is_no_answer() -> None:
    nats = tongue("nats", 0, 1, 1)
    nats.say()
    assert nats.hear(b"PING\r\n") == 0
    assert nats.hear(b"MSG in.0 1 2\r\n{}\r\nPING\r\n") == 1


def test_pinpriq_pops_the_queues_it_pushed_to_in_turn() -> None:
    said = tongue("pinpriq", 0, 3, 2).say()
    assert [said.count(name) for name in (b"q000000", b"q000001")] == [2, 4]


@pytest.mark.parametrize("length", [0, 125, 126, 65_535])
def test_a_frame_says_how_long_it_is_and_masks_with_zeros(length: int) -> None:
    """The server's own reader takes it, and gives the same bytes."""
    reader = FrameReader(1 << 20, True)
    reader.feed(frames.asked(frames.TEXT, b"x" * length))
    assert (reader.take(), reader.payload) == (TEXT, b"x" * length)
    reader = FrameReader(1 << 20, False)
    reader.feed(frames.answered(frames.BINARY, length) + b"x" * length)
    assert (reader.take(), reader.payload) == (BINARY, b"x" * length)
