"""The runner notices: a transcript that is wrong anywhere does not pass, in any way, on any broker."""

from __future__ import annotations

import pytest

from tests.dialects.runner import Disagreement, Runner
from tests.dialects.test_transcripts import BROKERS
from tests.dialects.transcript import parse
from tests.dialects.ways import WAYS

RIGHT = """\
C: ADD 0 a
S: TASK <id:a> DELAY 0ms
C: ADD 1000 b
S: TASK <id:b> DELAY 1000ms
C2: RESERVE
C2: STATS
S2: TASK <id:a> BODY a
S2: TASKS 1 RESERVED 1 CONNECTIONS 2 HEAP 12.50m
@+1s
B: reserve default
A: ok <id:b> b
C2: !close
C: DELETE <id:a>
C: !eof
S: ok
S: !close
"""

WRONG = {
    "another answer": ("S: ok", "S: nil"),
    "an answer with more behind it": ("S: ok", "S: ok "),
    "an answer that is cut short": ("S2: TASK <id:a> BODY a", "S2: TASK <id:a> BODY"),
    "an answer that nobody expects": ("S: ok\n", ""),
    "an answer that does not come": ("S: ok\n", "S: ok\nS: ok\n"),
    "answers in another order": (
        "S2: TASK <id:a> BODY a\nS2: TASKS 1 RESERVED 1 CONNECTIONS 2 HEAP 12.50m",
        "S2: TASKS 1 RESERVED 1 CONNECTIONS 2 HEAP 12.50m\nS2: TASK <id:a> BODY a",
    ),
    "an answer on another connection": ("S2: TASK <id:a> BODY a", "S: TASK <id:a> BODY a"),
    "two names for one id": ("S2: TASK <id:a>", "S2: TASK <id:c>"),
    "one name for two ids": ("S: TASK <id:b>", "S: TASK <id:a>"),
    "an id that is no id": ("S: ok", "S: <id:c>"),
    "less time": ("@+1s", "@+999ms"),
    "another outcome for somebody else": ("A: ok <id:b> b", "A: empty"),
    "an outcome that nobody reads": ("A: ok <id:b> b\n", ""),
    "an end that nobody expects": ("S: !close\n", ""),
    "an end that does not come": ("C: !eof\n", ""),
}


RIGHT_BYTES = """\
B: declare q max_length=2
A: ok
C: 70 0001 0000 01 0001 0001 "k" "a" "q"
C: 70 0001 0000 00 0001 0002 "k" "bb" "q"
C: 70 0001 0000 01 0001 0001 "l" "c" "q"
C2: 50 0001 "q"
S2: 0002
S2: 0001 0001 "k" "a"
S2: 0001 0002 "k" "bb"
C2: 73 0001 "q"
C2: 41
@+500ms
S2: 0001
S2: 0001 0001 "l" "c"
C: 00
S: !close
"""

WRONG_BYTES = {
    "another byte": ('"k" "a"\nS2', '"k" "b"\nS2'),
    "another length": ("S2: 0001 0002", "S2: 0001 0001"),
    "a packet that nobody expects": ('S2: 0001 0001 "l" "c"\n', ""),
    "a packet that does not come": ('S2: 0001 0002 "k" "bb"\n', 'S2: 0001 0002 "k" "bb"\nS2: 0000\n'),
    "packets in another order": (
        'S2: 0001 0001 "k" "a"\nS2: 0001 0002 "k" "bb"',
        'S2: 0001 0002 "k" "bb"\nS2: 0001 0001 "k" "a"',
    ),
    "no beat": ("@+500ms", "@+499ms"),
    "an end that does not come": ("C: 00", "C: 41"),
}

RIGHT_FRAMES = """\
C: {"cmd":"PUB","qname":"q","msg":"a","timeout":5}
S: {"cmd":"ok"}
C2: !open
C2: {"cmd":"FET",\\
C2: !ping there?
C2: "qname":"q"}
S2: !pong there?
S2: {"cmd":"msg","qname":"q","uid":"etzl<id:a>","error_count":0,"msg":"a"}
@+5s
B: take q
A: ok <id:a> a
C: {"cmd":"ACK","qname":"q","uid":"etzl<id:a>"}
C: !close 1000
S: {"cmd":"okack","uid":"etzl<id:a>","qname":"q"}
S: !close 1000
C3: raw "GET /none HTTP/1.0\\r\\n\\r\\n"
S3: raw "HTTP/1.1 404 Not Found\\r\\nContent-Type: text/plain\\r\\nContent-Length: 10\\r\\n"
S3: raw "Connection: close\\r\\n\\r\\nnot found\\n"
S3: !close
C2: !close
"""

WRONG_FRAMES = {
    "another text": ('S: {"cmd":"ok"}', 'S: {"cmd":"OK"}'),
    "a text with more behind it": ('"msg":"a"}\n@', '"msg":"a"} \n@'),
    "a text that is cut short": ('"error_count":0,"msg":"a"}', '"error_count":0'),
    "another kind of frame": ('S: {"cmd":"ok"}', 'S: bin 7b 22 "cmd" 22 3a 22 "ok" 22 7d'),
    "a frame that nobody expects": ('S: {"cmd":"ok"}\n', ""),
    "a frame that does not come": ('S: {"cmd":"ok"}\n', 'S: {"cmd":"ok"}\nS: {"cmd":"ok"}\n'),
    "another pong": ("S2: !pong there?", "S2: !pong here"),
    "another code": ("S: !close 1000", "S: !close 1001"),
    "no code": ("S: !close 1000", "S: !close"),
    "an end that nobody expects": ("S: !close 1000\n", ""),
    "another id": ("A: ok <id:a> a", "A: ok <id:b> a"),
    "an id that is none": ('"uid":"etzl<id:a>","error_count"', '"uid":"<id:a>","error_count"'),
    "less time": ("@+5s", "@+4s"),
    "other bytes": ("Content-Length: 10", "Content-Length: 11"),
}

# of each notation: a dialect, a transcript that is right, and what may be wrong in it
CASES = {
    "lines": ("deferred", RIGHT, WRONG),
    "bytes": ("pinpriq", RIGHT_BYTES, WRONG_BYTES),
    "frames": ("etzel", RIGHT_FRAMES, WRONG_FRAMES),
}
MISTAKES = [(notation, wrong) for notation, (_, _, planted) in CASES.items() for wrong in planted]


def play(source: str, way: str, broker: str, notation: str = "lines") -> None:
    Runner(CASES[notation][0], parse(source, notation), WAYS[way], BROKERS[broker]).play()


@pytest.mark.parametrize("broker", BROKERS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("notation", CASES)
def test_a_right_transcript_passes(notation: str, way: str, broker: str) -> None:
    play(CASES[notation][1], way, broker, notation)


@pytest.mark.parametrize("broker", ["prompt", "late 0"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("notation", "wrong"), MISTAKES)
def test_a_wrong_one_does_not(notation: str, wrong: str, way: str, broker: str) -> None:
    _, source, planted = CASES[notation]
    right, mistake = planted[wrong]
    assert right in source
    with pytest.raises(Disagreement):
        play(source.replace(right, mistake, 1), way, broker, notation)


def test_a_disagreement_says_where_and_what() -> None:
    with pytest.raises(Disagreement, match=r"line 2: heard b'nil\\n'"):
        play("C: RESERVE\nS: ok", "whole", "prompt")
