"""`penstock dead redrive` and `purge` against a real server: no dead letter is lost or doubled."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from penstock.cli import sieving
from tests.cli.conftest import Scene, Shell, hearing_ctrl_c, program

DEADLINE_S = 10


# -- redrive


def test_all_go_back_to_where_they_came_from_page_by_page(
    shell: Shell, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sieving, "PAGE", 2)
    bodies = [f"body {number}" for number in range(7)]
    scene.kill(*bodies)
    told = shell.text("dead", "redrive", scene.dead)
    assert told == f"redriven 7 messages, 42 B: 7 to {scene.queue}\n"
    assert scene.ready(scene.queue) == bodies
    assert scene.ready(scene.dead) == []


def test_only_those_that_are_meant_go_and_only_where_they_are_sent(
    shell: Shell, scene: Scene, fresh: Callable[[], str]
) -> None:
    other = fresh()
    shell.text("queue", "create", other)
    scene.kill("a1", "a2", "a3", "b1")
    told = shell.json(
        "dead", "redrive", scene.dead, "--contains", "a", "--limit", "2", "--to", other, "--rate", "1000/s"
    )
    assert told["targets"] == [{"queue": other, "messages": 2}]
    assert (told["messages"], told["bytes"], told["refused"], told["sample"]) == (2, 4, [], [])
    assert (scene.ready(other), scene.ready(scene.dead)) == (["a1", "a2"], ["a3", "b1"])


def test_a_dry_run_changes_nothing_and_shows_what_would_be(shell: Shell, scene: Scene) -> None:
    scene.kill(*"abcdefg")
    first, *rows = shell.text("dead", "redrive", scene.dead, "--dry-run").splitlines()
    assert first == f"would redrive 7 messages, 7 B: 7 to {scene.queue}"
    assert len(rows) == 1 + 5
    told = shell.json("dead", "redrive", scene.dead, "--dry-run", "--limit", "2")
    assert (told["dry_run"], told["messages"], len(told["sample"])) == (True, 2, 2)
    assert scene.ready(scene.dead) == list("abcdefg")


def test_where_a_queue_is_full_it_stops_and_says_how_many_went(shell: Shell, scene: Scene) -> None:
    scene.kill("a", "b", "c")
    shell.text("queue", "set", scene.queue, "--max-length", "2")
    result = shell("dead", "redrive", scene.dead)
    assert (result.exit_code, result.stdout) == (1, f"redriven 2 messages, 2 B: 2 to {scene.queue}\n")
    assert result.stderr == (
        f"1 not redriven: {scene.queue}: the queue has reached its limit\n"
        "Stopped there; the others are still dead letters.\n"
    )
    shell.text("queue", "set", scene.queue, "--unset", "max-length")
    assert shell.text("dead", "redrive", scene.dead).startswith("redriven 1 message")
    assert scene.ready(scene.queue) == ["a", "b", "c"]


def test_where_its_queue_is_gone_a_letter_stays(shell: Shell, scene: Scene) -> None:
    scene.kill("a")
    shell.text("queue", "delete", scene.queue, "--yes")
    result = shell("dead", "redrive", scene.dead)
    assert (result.exit_code, result.stdout) == (1, "redriven 0 messages, 0 B\n")
    assert result.stderr == f"1 not redriven: {scene.queue}: no such queue\n"
    assert scene.ready(scene.dead) == ["a"]


def test_what_dies_again_meanwhile_is_not_redriven_again(shell: Shell, scene: Scene, monkeypatch: Any) -> None:
    monkeypatch.setattr(sieving, "PAGE", 1)
    scene.kill("a", "b")
    letters = iter(sieving.Letters(str(shell.data), scene.dead.encode(), {}, None))
    first = next(letters)
    shell.text("dead", "redrive", scene.dead, "--limit", "1")
    shell.text("message", "release", reserved(shell, scene.queue), "--failed")
    assert [first.body, *[letter.body for letter in letters]] == [b"a", b"b"]
    assert scene.ready(scene.dead) == ["b", "a"]


def reserved(shell: Shell, queue: str) -> str:
    return str(shell.json("message", "reserve", queue)["messages"][0]["id"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--rate", "500"), 2, "'500' is no rate; write it like 500/s, 30/m or 1000/h."),
        (("--matches", "("), 2, "'(' is no regular expression"),
        (("--to", "nowhere"), 1, "Error: nowhere: no such queue\n"),
    ],
)
def test_what_cannot_be_meant_is_told_first(
    shell: Shell, scene: Scene, words: tuple[str, ...], code: int, said: str
) -> None:
    scene.kill("a")
    result = shell("dead", "redrive", scene.dead, *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr
    assert scene.ready(scene.dead) == ["a"]


def test_they_cannot_go_where_they_are(shell: Shell, scene: Scene) -> None:
    scene.kill("a")
    result = shell("dead", "redrive", scene.dead, "--to", scene.dead)
    assert result.exit_code == 2
    assert "--to names the queue that the dead letters are in." in result.stderr


def test_nothing_to_redrive_is_no_failure(shell: Shell, scene: Scene) -> None:
    scene.kill("a")
    result = shell("dead", "redrive", scene.dead, "--contains", "b")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No such dead letters.\n")


def test_it_can_be_interrupted_and_begun_again(shell: Shell, scene: Scene) -> None:
    scene.kill("a", "b", "c")
    words = program("dead", "redrive", scene.dead, "--rate", "6/m", "--data", str(shell.data))
    with hearing_ctrl_c():
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: scene.ready(scene.queue) == ["a"])
    process.send_signal(signal.SIGINT)
    told, troubles = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, told) == (130, f"redriven 1 message, 1 B: 1 to {scene.queue}\n")
    assert troubles == "Interrupted; what was just under way may be redriven too. Begin again for the rest.\n"
    assert shell.text("dead", "redrive", scene.dead).startswith("redriven 2 messages")
    assert (scene.ready(scene.queue), scene.ready(scene.dead)) == (["a", "b", "c"], [])


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def test_on_a_terminal_there_is_a_bar(shell: Shell, scene: Scene) -> None:
    scene.kill(*"abcdef")
    ours, theirs = pty.openpty()
    words = program("dead", "redrive", scene.dead, "--rate", "20/s", "--data", str(shell.data))
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=theirs, check=True, timeout=20)
    os.close(theirs)
    said = os.read(ours, 65_536)
    os.close(ours)
    assert scene.dead.encode()[:20] in said


# -- purge


def test_a_purge_asks_with_the_number_that_are_meant(shell: Shell, scene: Scene) -> None:
    scene.kill("a1", "a2", "b")
    shell.text("message", "publish", scene.dead, "a, but no dead letter")
    result = shell("dead", "purge", scene.dead, "--contains", "a", stdin="y\n")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Delete 2 messages, 4 B, of the dead letters in {scene.dead} for ever? [y/N]: ")
    assert result.stdout.endswith("purged 2 messages, 4 B\n")
    assert scene.ready(scene.dead) == ["b", "a, but no dead letter"]


def test_without_a_yes_nothing_is_purged(shell: Shell, scene: Scene) -> None:
    scene.kill("a")
    assert shell("dead", "purge", scene.dead, stdin="n\n").exit_code == 1
    result = shell("dead", "purge", scene.dead, "--output", "json")
    assert (result.exit_code, result.stderr) == (2, "Error: with --output json nobody is asked; say --yes to go on.\n")
    assert shell.json("dead", "purge", scene.dead, "--dry-run")["messages"] == 1
    assert scene.ready(scene.dead) == ["a"]
    assert shell.json("dead", "purge", scene.dead, "--yes")["messages"] == 1
    assert scene.ready(scene.dead) == []


def test_nothing_to_purge_is_no_question(shell: Shell, scene: Scene) -> None:
    scene.kill("a")
    result = shell("dead", "purge", scene.dead, "--older-than", "1h")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No such dead letters.\n")
