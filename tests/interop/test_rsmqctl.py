"""Our `rsmqctl` beside PyPI's: the same words, the same output and the same exit code, on either store."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable

import pytest
from redis import Redis

from tests.interop.nodes import FOLDER, PATIENCE_S
from tests.interop.targets import Outcome, Target, venv

# What differs from run to run, and what the stock one lets slip of its insides.
CHANGING = [
    (re.compile(r"\b[0-9a-z]{10}[A-Za-z0-9]{22}\b"), "<id>"),
    (re.compile(r"\b1[0-9]{9}(?:[0-9]{3})?\b"), "<time>"),
    (re.compile(r"^NoMessageInQueue: Exception while .*\n|^Detected :\n", re.MULTILINE), ""),
]

SCRIPT = """
queue list
queue create -n Q
queue create -n Q
queue list
queue describe -n Q
queue describe -n none
message send -n Q -m héllo
message receive -n Q
message receive -n Q
queue describe -n Q
message pop -n Q
message delete -n Q -i ID
message delete -n Q -i ID
message send -n Q -m later -d 100
message send -n Q -m now
message receive -n Q -t 50
message visibility -n Q -i ID -t 0
message pop -n Q
queue describe -n Q
message send -n none -m x
message receive -n none
message pop -n none
message delete -n none -i x
message visibility -n none -i x -t 2
message visibility -n Q -i none -t 2
message visibility -n Q -i none
message delete -n Q
message send -n Q
message receive -n Q -t soon
queue create -n a:b
queue create -n X -t abc
queue create -n R -t 5 -d 7 -m 2048
queue describe -n R
queue delete -n R
queue delete -n R
queue delete -n Q
queue list
nonsense
queue nonsense
"""


class Stock:
    """PyPI's program, in its own environment."""

    def __init__(self, target: Target) -> None:
        command = [str(venv("rsmqctl") / "python"), str(FOLDER / "rsmq" / "stock.py")]
        environment = {**os.environ, "REDIS_URL": target.url}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, encoding="utf-8"
        )

    def __enter__(self) -> Stock:
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.communicate(timeout=PATIENCE_S)

    def __call__(self, *words: str) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return Outcome(*json.loads(self._process.stdout.readline()))


def outcomes(program: Callable[..., Outcome], queue: str) -> list[tuple[str, Outcome]]:
    """Of every line; ID is the one that was told last."""
    found: list[tuple[str, Outcome]] = []
    known = "none"
    for line in SCRIPT.strip().splitlines():
        words = [{"Q": queue, "R": f"{queue}-other", "ID": known}.get(word, word) for word in line.split()]
        outcome = program(*words)
        told = re.search(CHANGING[0][0], outcome.stdout)
        known = told.group() if told else known
        found.append((line, outcome))
    return found


def settled(outcome: Outcome, queue: str) -> Outcome:
    code, *texts = outcome
    for changing, instead in CHANGING:
        texts = [changing.sub(instead, text) for text in texts]
    return Outcome(code, *[text.replace(queue, "Q") for text in texts])


def test_every_command_says_what_the_stock_program_says(empty: Target) -> None:
    with Stock(empty) as stock:
        theirs = outcomes(stock, "queue-theirs")
    found = outcomes(empty.ours, "queue-ours")
    for (line, expected), (_, outcome) in zip(theirs, found, strict=True):
        assert settled(outcome, "queue-ours") == settled(expected, "queue-theirs"), line


def test_what_one_of_them_begins_the_other_goes_on_with(target: Target, fresh: Callable[[], str]) -> None:
    name = fresh()
    with Stock(target) as stock:
        ours = target.ours
        assert stock("queue", "create", "-n", name) == Outcome(0, "", "")
        assert ours("queue", "create", "-n", name).stderr == f"Queue already exists: {name}\n"
        id = stock("message", "send", "-n", name, "-m", "x").stdout.strip()
        assert json.loads(ours("message", "receive", "-n", name).stdout)["id"] == id
        assert stock("message", "visibility", "-n", name, "-i", id, "-t", "0").code == 0
        assert json.loads(stock("message", "receive", "-n", name).stdout)["rc"] == 2
        assert stock("queue", "describe", "-n", name) == ours("queue", "describe", "-n", name)
        assert ours("message", "delete", "-n", name, "-i", id) == Outcome(0, "", "")
        assert stock("message", "delete", "-n", name, "-i", id).code == 1


# -- where ours does better


@pytest.fixture
def queue(target: Target, fresh: Callable[[], str]) -> str:
    name = fresh()
    assert target.ours("queue", "create", "-n", name, "-d", "100", "-m", "1024") == Outcome(0, "", "")
    return name


def test_a_message_without_a_delay_of_its_own_has_the_queues(target: Target, queue: str) -> None:
    assert target.ours("message", "send", "-n", queue, "-m", "x").code == 0
    assert target.ours("message", "pop", "-n", queue).stdout == f"No messages on queue: {queue}\n"
    assert target.ours("message", "send", "-n", queue, "-m", "y", "-d", "0").code == 0
    assert '"message": "y"' in target.ours("message", "pop", "-n", queue).stdout


def test_a_timeout_of_0_is_0(target: Target, queue: str) -> None:
    target.ours("message", "send", "-n", queue, "-m", "x", "-d", "0")
    for count in (1, 2):
        assert f'"rc": {count}' in target.ours("message", "receive", "-n", queue, "-t", "0").stdout


def test_what_is_larger_than_the_queue_allows_is_not_sent(target: Target, queue: str) -> None:
    large = "x" * 1_025
    assert target.ours("message", "send", "-n", queue, "-m", large) == Outcome(
        1, "", f"Failed to send message: {large}\n"
    )


def test_bytes_that_are_no_text_are_shown_as_such(target: Target, queue: str) -> None:
    with Redis(port=target.port) as client, client.pipeline() as together:
        together.zadd(f"rsmq:{queue}", {"odd": 1_000})
        together.hset(f"rsmq:{queue}:Q", "odd", b"\xff")
        together.execute()
    assert target.ours("message", "pop", "-n", queue).stdout.startswith('{"id": "odd", "message": "\\udcff", "rc": 1,')


def test_numbers_out_of_range_are_refused_before_anything_is_asked(target: Target) -> None:
    for words in (("-t", "10000000"), ("-d", "-1"), ("-m", "1023"), ("-m", "65537")):
        assert target.ours("queue", "create", "-n", "never", *words).code == 2
    assert target.ours("queue", "describe", "-n", "never").code == 1


def test_a_store_that_is_not_there_is_told_in_words(target: Target) -> None:
    away = Target(1)
    told = "Error: cannot connect to 127.0.0.1:1: Connection refused.\n"
    assert away.ours("queue", "list") == Outcome(1, "", told)
    assert away.ours("-v", "queue", "list").stderr.startswith("Traceback")
    assert target.ours("-r", "http://x", "queue", "list").code == 2
