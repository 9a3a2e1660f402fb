"""`penstock message` against a real server: the whole life of a message by hand."""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Server, Shell, hearing_ctrl_c, program

DEADLINE_S = 10


@pytest.fixture
def queue(fresh: Callable[[], str]) -> str:
    return fresh()


def publish(shell: Shell, queue: str, *words: str) -> str:
    return shell.text("message", "publish", queue, *words).strip()


def first(shell: Shell, queue: str) -> Any:
    return shell.json("message", "peek", queue)["messages"][0]


# -- publish


def test_publish_prints_the_id(shell: Shell, queue: str) -> None:
    message_id = publish(shell, queue, "hello")
    assert len(message_id) == 10
    assert first(shell, queue)["id"] == message_id


def test_publish_as_json(shell: Shell, queue: str) -> None:
    assert shell.json("message", "publish", queue, "hello")["duplicate"] is False


def test_a_body_comes_from_the_argument_stdin_or_a_file(shell: Shell, queue: str, tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_bytes(b"from a file")
    shell.text("message", "publish", queue, "from the argument")
    shell.text("message", "publish", queue, "-", stdin=b"from stdin\n")
    shell.text("message", "publish", queue, "--file", str(file))
    bodies = [message["body"] for message in shell.json("message", "peek", queue)["messages"]]
    assert bodies == ["from the argument", "from stdin\n", "from a file"]


@pytest.mark.parametrize("body", [b"", b"\xff\0\xfe", bytes(range(256))])
def test_a_body_may_be_any_bytes(shell: Shell, queue: str, body: bytes) -> None:
    shell.text("message", "publish", queue, "-", stdin=body)
    shell.text("message", "publish", queue, base64.b64encode(body).decode(), "--body64")
    for message in shell.json("message", "peek", queue)["messages"]:
        assert (base64.b64decode(message["body64"]) if "body64" in message else message["body"].encode()) == body


def test_an_argument_that_is_not_utf_8_is_kept(shell: Shell, queue: str) -> None:
    publish(shell, queue, os.fsdecode(b"a\xffb"), "--key", os.fsdecode(b"k\xff"))
    assert (first(shell, queue)["body64"], first(shell, queue)["key64"]) == ("Yf9i", "a/8=")


def test_what_is_said_of_a_message_is_kept(shell: Shell, queue: str) -> None:
    words = ("hello", "--ttl", "1h", "--priority", "7", "--key", "k", "--dedup-id", "d", "--lease", "90s")
    message_id = publish(shell, queue, *words)
    message = first(shell, queue)
    assert (message["priority"], message["key"], message["dedup_id"]) == (7, "k", "d")
    assert message["expires_us"] - message["published_us"] == 3_600_000_000
    leased = shell.json("message", "reserve", queue)["messages"][0]
    live = shell.json("message", "show", message_id)["live"]
    assert leased["until_us"] - live["leased_us"] == 90_000_000


def test_a_delayed_message_is_not_ready_yet(shell: Shell, queue: str) -> None:
    message_id = publish(shell, queue, "later", "--delay", "1.5h")
    assert shell.json("message", "peek", queue)["messages"] == []
    live = shell.json("message", "show", message_id)["live"]
    assert live["state"] == "delayed"
    assert live["ready_us"] - live["published_us"] == 5_400_000_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say the body once: as BODY, as - for stdin, or with --file."),
        (("body", "--file", __file__), "Say the body once"),
        (("--file", "nowhere"), "File 'nowhere' does not exist"),
        (("not base64!", "--body64"), "With --body64 the body must be base64"),
        (("x", "--delay", "5"), "'5' has no unit; for seconds write 5s"),
        (("x", "--ttl", "99999999d"), "is too long; at most 36500d"),
        (("x", "--priority", "-40000"), "-40000 is not in the range"),
    ],
)
def test_wrong_usage_is_told_and_publishes_nothing(shell: Shell, queue: str, words: tuple[str, ...], said: str) -> None:
    result = shell("message", "publish", queue, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert shell("queue", "show", queue).exit_code == 1


# -- peek


def test_peek_shows_what_comes_next_and_changes_nothing(shell: Shell, queue: str) -> None:
    publish(shell, queue, "second")
    publish(shell, queue, "first " + "x" * 100, "--priority", "5")
    for _ in range(2):
        head, *rows = shell.text("message", "peek", queue).splitlines()
        assert head.split() == ["id", "priority", "published", "deliveries", "key", "body"]
        assert rows[0].endswith("xxx…")
        assert rows[1].endswith("second")
    assert len(shell.text("message", "peek", queue, "--limit", "1").splitlines()) == 2


# -- reserve, finish, release


def test_reserve_prints_the_id_and_the_whole_body(shell: Shell, queue: str) -> None:
    message_id = publish(shell, queue, "y" * 200)
    head, row = shell.text("message", "reserve", queue, "--lease", "1m").splitlines()
    assert head.split() == ["id", "until", "delivery", "key", "body"]
    assert row.startswith(message_id)
    assert row.endswith("y" * 200)


def test_several_are_reserved_at_once(shell: Shell, queue: str) -> None:
    ids = [publish(shell, queue, str(number)) for number in range(3)]
    assert [message["id"] for message in shell.json("message", "reserve", queue, "--max", "9")["messages"]] == ids


def test_an_empty_queue_gives_nothing_and_exit_code_1(shell: Shell, queue: str) -> None:
    shell.text("message", "finish", publish(shell, queue, "gone"))
    result = shell("message", "reserve", queue, "--wait", "20ms")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "Nothing is ready.\n")


def test_several_are_finished_and_one_that_cannot_be_stops_no_other(shell: Shell, queue: str) -> None:
    ids = [publish(shell, queue, str(number)) for number in range(2)]
    result = shell("message", "finish", ids[0], "nonsense", ids[1])
    assert result.exit_code == 1
    assert result.stdout == f"finished {ids[0]}\nfinished {ids[1]}\n"
    assert result.stderr.startswith("nonsense: no such message")
    assert shell.json("queue", "show", queue)["counts"]["finished"] == 2


def test_finish_and_release_as_json(shell: Shell, queue: str) -> None:
    message_id = publish(shell, queue, "x")
    shell.text("message", "reserve", queue)
    assert shell.json("message", "release", message_id) == {"messages": [{"id": message_id, "released": True}]}
    assert shell.json("message", "finish", message_id) == {"messages": [{"id": message_id, "finished": True}]}


def test_a_released_message_comes_back_after_its_delay(shell: Shell, queue: str) -> None:
    message_id = publish(shell, queue, "x")
    shell.text("message", "reserve", queue)
    assert shell.text("message", "release", message_id, "--delay", "1h", "--failed") == f"released {message_id}\n"
    live = shell.json("message", "show", message_id)["live"]
    assert (live["state"], live["failures"], live["deliveries"]) == ("delayed", 1, 1)


def test_what_is_not_reserved_cannot_be_released(shell: Shell, queue: str) -> None:
    message_id = publish(shell, queue, "x")
    result = shell("message", "release", message_id)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{message_id}: ")


def test_ctrl_c_ends_the_waiting_quietly(shell: Shell, server: Server, queue: str) -> None:
    shell.text("message", "finish", publish(shell, queue, "makes the queue"))
    words = program("message", "reserve", queue, "--wait", "1m", "--data", str(server.data))
    with hearing_ctrl_c():
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + DEADLINE_S
    while not shell.json("queue", "show", queue)["waiting"]:
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, "".join(said).strip()) == (130, "")


# -- show


def test_show_tells_the_whole_life(shell: Shell, queue: str) -> None:
    message_id = publish(shell, queue, "hello\nworld", "--key", "k")
    shell.text("message", "reserve", queue, "--lease", "30s")
    shell.text("message", "release", message_id, "--failed", "--delay", "5m")
    state, timeline = shell.text("message", "show", message_id).split("\n\n")
    fields = dict(line.split(maxsplit=1) for line in state.splitlines())
    assert (fields["id"], fields["queue"], fields["state"], fields["failures"]) == (message_id, queue, "delayed", "1")
    assert (fields["key"], fields["body"]) == ("k", "hello\\nworld")
    head, *rows = timeline.splitlines()
    assert head.split() == ["time", "after", "fact", "by", "reason", "details"]
    assert [next(word for word in row.split() if word in KINDS) for row in rows] == ["published", "leased", "released"]
    assert "for 30s, delivery 1" in rows[1]
    assert "failed  ready after 5m, delivery 1, counted as a failure" in rows[2]
    assert all(re.match(r"\S+  +\+\d", row) for row in rows[1:])


KINDS = {"published", "leased", "released", "finished"}


def test_show_works_for_a_message_that_has_ended(shell: Shell, queue: str) -> None:
    message_id = publish(shell, queue, "x")
    shell.text("message", "finish", message_id)
    assert "state  finished" in shell.text("message", "show", message_id)
    shown = shell.json("message", "show", message_id)
    assert shown["live"] is None
    assert [fact["kind"] for fact in shown["timeline"]] == ["published", "finished"]


@pytest.mark.parametrize("message_id", ["0123456789", "x", "../queues", "a/b?c"])
def test_an_id_that_is_none_is_named(shell: Shell, message_id: str) -> None:
    result = shell("message", "show", message_id)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: {message_id}: no such message")
