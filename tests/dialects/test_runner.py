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


def play(source: str, way: str, broker: str) -> None:
    Runner("deferred", parse(source), WAYS[way], BROKERS[broker]).play()


@pytest.mark.parametrize("broker", BROKERS)
@pytest.mark.parametrize("way", WAYS)
def test_a_right_transcript_passes(way: str, broker: str) -> None:
    play(RIGHT, way, broker)


@pytest.mark.parametrize("broker", ["prompt", "late 0"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_one_does_not(wrong: str, way: str, broker: str) -> None:
    right, planted = WRONG[wrong]
    assert right in RIGHT
    with pytest.raises(Disagreement):
        play(RIGHT.replace(right, planted, 1), way, broker)


def test_a_disagreement_says_where_and_what() -> None:
    with pytest.raises(Disagreement, match=r"line 2: heard b'nil\\n'"):
        play("C: RESERVE\nS: ok", "whole", "prompt")
